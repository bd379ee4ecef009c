#include "support/oracle.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/random.h"

typedef struct entry {
    uint64_t hash;
    char *text; /* NULL: free */
    size_t length;
    uint64_t times;
} entry;

struct test_oracle {
    entry *entries; /* open addressing, at most half full */
    size_t size;    /* a power of two */
    size_t used;
    uint64_t count;
};

static void *must(void *ptr)
{
    if (!ptr) {
        fprintf(stderr, "tests: no memory for the oracle\n");
        exit(2);
    }
    return ptr;
}

static uint64_t hash_of(vidi_str url)
{
    uint64_t hash = url.len;
    for (size_t i = 0; i < url.len; i++) {
        hash = (hash ^ (unsigned char)url.ptr[i]) * 0x100000001b3u;
    }
    return test_mix(hash);
}

static bool same(const entry *one, uint64_t hash, vidi_str url)
{
    return one->hash == hash && one->length == url.len && memcmp(one->text, url.ptr, url.len) == 0;
}

/* The entry where url is, or where it would be inserted. */
static entry *find(const test_oracle *oracle, uint64_t hash, vidi_str url)
{
    size_t i = hash & (oracle->size - 1);
    while (oracle->entries[i].text && !same(&oracle->entries[i], hash, url)) {
        i = (i + 1) & (oracle->size - 1);
    }
    return &oracle->entries[i];
}

static void grow(test_oracle *oracle)
{
    test_oracle larger = *oracle;
    larger.size = oracle->size * 2;
    larger.entries = must(calloc(larger.size, sizeof(entry)));
    for (size_t i = 0; i < oracle->size; i++) {
        entry *old = &oracle->entries[i];
        if (old->text) {
            *find(&larger, old->hash, (vidi_str){old->text, old->length}) = *old;
        }
    }
    free(oracle->entries);
    *oracle = larger;
}

test_oracle *test_oracle_new(void)
{
    test_oracle *oracle = must(calloc(1, sizeof *oracle));
    oracle->size = 1024;
    oracle->entries = must(calloc(oracle->size, sizeof(entry)));
    return oracle;
}

void test_oracle_free(test_oracle *oracle)
{
    for (size_t i = 0; i < oracle->size; i++) {
        free(oracle->entries[i].text);
    }
    free(oracle->entries);
    free(oracle);
}

bool test_oracle_add(test_oracle *oracle, vidi_str url)
{
    uint64_t hash = hash_of(url);
    entry *place = find(oracle, hash, url);
    if (!place->text) {
        place->hash = hash;
        place->text = must(malloc(url.len + 1));
        place->length = url.len;
        memcpy(place->text, url.ptr, url.len);
        place->times = 0;
        oracle->used++;
    }
    bool fresh = place->times++ == 0;
    oracle->count += fresh;
    if (oracle->used * 2 > oracle->size) {
        grow(oracle);
    }
    return fresh;
}

bool test_oracle_remove(test_oracle *oracle, vidi_str url)
{
    entry *place = find(oracle, hash_of(url), url);
    if (!place->text || place->times == 0) {
        return false;
    }
    oracle->count -= --place->times == 0;
    return true;
}

uint64_t test_oracle_times(const test_oracle *oracle, vidi_str url)
{
    const entry *place = find(oracle, hash_of(url), url);
    return place->text ? place->times : 0;
}

uint64_t test_oracle_count(const test_oracle *oracle)
{
    return oracle->count;
}
