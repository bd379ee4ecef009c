#include "support/cases.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/check.h"
#include "support/env.h"
#include "support/random.h"

#define THESIS 1, 0

static const test_case table[] = {
    {"list", "multiset=on", 0, 0, TEST_EXACT | TEST_MULTISET},
    {"sorted", "multiset=on", 0, 0, TEST_EXACT | TEST_MULTISET},
    {"hashset", "multiset=on", 0, 0, TEST_EXACT | TEST_MULTISET},
    {"classic", NULL, 1, 0.01, TEST_FULL},
    {"classic", "k=3,M=2.0", THESIS, 0},
    {"classic", "m=@8,k=4", 0, 0, 0},
    {"classic", "k=1,M=2.0", THESIS, 0},
    {"classic", "k=20,M=1.44", THESIS, 0},
    {"classic", "hash=xxh3", 1, 0.01, 0},
    {"classic", "hash=sip13,mode=salted,k=3,M=2.0", THESIS, 0},
    {"classic", "hash=sip13,mode=salted,salt=suffix,k=3,M=2.0", THESIS, 0},
    {"classic", "hash=jenkins,mode=salted,k=3,M=2.0", THESIS, TEST_WEAK},
    {"classic", "hash=oaat,mode=salted,k=3,M=2.0", THESIS, TEST_WEAK},
    {"classic", "hash=murmur2,mode=salted,k=3,M=2.0", THESIS, TEST_WEAK},
    {"classic", "hash=murmur3,mode=salted,k=3,M=2.0", THESIS, TEST_WEAK},
    {"classic", "hash=md5,mode=salted,k=3,M=2.0", THESIS, TEST_WEAK | TEST_LIBCRYPTO},
    {"classic", "hash=sha1,mode=salted,k=3,M=2.0", THESIS, TEST_WEAK | TEST_LIBCRYPTO},
    {"classic", "mode=different,functions=jenkins+murmur2+sha1,k=3,M=2.0", THESIS, TEST_WEAK | TEST_LIBCRYPTO},
    {"classic", "mode=different,functions=sip13+xxh3+jenkins+murmur2,k=2,M=2.0", THESIS, TEST_WEAK},
    {"classic", "of=segments,scheme=strip,k=3,M=4.0", THESIS, 0},
    {"classic", "of=segments,scheme=keep,k=3,M=4.0", THESIS, 0},
    {"counting", NULL, 1, 0.01, TEST_FULL | TEST_MULTISET},
    {"counting", "k=3,M=2.0,width=2", THESIS, TEST_MULTISET},
    {"counting", "m=@8,k=4,width=16", 0, 0, TEST_MULTISET},
    {"counting", "hash=jenkins,mode=salted,k=3,M=2.0,width=5", THESIS, TEST_WEAK | TEST_MULTISET},
    {"multilayer", NULL, 1, 0.01, TEST_FULL},
    {"multilayer", "k=3,M=2.0,L=4,layersalt=off,scheme=strip", THESIS, 0},
    {"multilayer", "k=3,M=2.0,L=2,xor=address", THESIS, 0},
    {"multilayer", "k=3,M=2.0,L=3,xor=address,layersalt=off", THESIS, 0},
    {"multilayer", "k=2,M=2.0,L=16,hash=murmur2,mode=salted", THESIS, TEST_WEAK},
    {"multilayer", "m=@6,k=3,L=1", 0, 0, 0},
    {"eigen", NULL, 1, 0.01, TEST_FULL},
    {"eigen", "k=3,M=2.0,d=1,g=labels", THESIS, 0},
    {"eigen", "k=4,M=2.0,d=2,g=tail", THESIS, 0},
    {"eigen", "k=6,M=2.0,g=ends,hash=jenkins,mode=salted", THESIS, TEST_WEAK},
    {"eigen", "m=@10,m1=@8,k=3,d=1", 0, 0, 0},
    {"spatial", NULL, 1, 0.01, TEST_FULL},
    {"spatial", "F=3,k=3,M=2.0", THESIS, 0},
    {"spatial", "F=2,k=2,M=2.0,eager=on", THESIS, 0},
    {"spatial", "F=2,k=3,M=2.0,inner=counting,width=8", THESIS, TEST_MULTISET},
    {"spatial", "F=2,k=3,M=2.0,inner=eigen", THESIS, 0},
    {"spatial", "F=2,k=3,M=2.0,hash=jenkins,mode=salted", THESIS, TEST_WEAK},
    {"spatial", "F=1,k=3,M=2.0", THESIS, 0},
    {"scalable", NULL, 0.02, 0.01, TEST_FULL},
    {"scalable", "growth=4,tighten=0.8", 0.01, 0.05, 0},
    {"scalable", "ends=count,growth=3", 0.02, 0.01, 0},
    {"scalable", "inner=counting", 0.1, 0.01, TEST_MULTISET},
    {"scalable", "inner=eigen", 0.1, 0.01, 0},
    {"fingerprint", NULL, 1, 1e-6, TEST_FULL},
    {"fingerprint", "bits=32", 0, 0, TEST_FULL | TEST_ANY_SIZE},
    {"fingerprint", "bits=47", 0.01, 0, TEST_ANY_SIZE},
    {"fingerprint", "growth=1.5", 0, 0, TEST_ANY_SIZE},
    {"fingerprint", "multiset=on", 0, 0, TEST_MULTISET | TEST_ANY_SIZE},
    {"fingerprint", "multiset=on,bits=32", 0, 0, TEST_MULTISET | TEST_ANY_SIZE},
    {"fingerprint", "hash=xxh3", 0, 0, TEST_ANY_SIZE},
    {"blocked", NULL, 1, 0.01, TEST_FULL},
    {"blocked", NULL, 0.001, 0.01, TEST_FULL},
    {"blocked", NULL, 1, 1e-4, 0},
    {"blocked", "lines=1", 0, 0.1, TEST_ANY_SIZE},
    {"blocked", "lines=3", 0.1, 0.05, 0},
    {"blocked", "lines=4", 0, 0.2, TEST_ANY_SIZE},
    {"blocked", "hash=xxh3", 0, 0.001, TEST_ANY_SIZE},
    {"spatial", "F=2,inner=blocked", 1, 0.01, 0},
    {"scalable", "inner=blocked", 0.1, 0.01, 0},
};

static bool is_exact(const char *kind)
{
    return strcmp(kind, "list") == 0 || strcmp(kind, "sorted") == 0 || strcmp(kind, "hashset") == 0;
}

/* A kind without parameters. Kinds that cannot grow still need the number of URLs. */
static test_case plain_case(const vidi_kind_info *info)
{
    test_case made = {info->name, NULL, info->can & VIDI_CAN_GROW ? 0 : 1, 0, TEST_FULL};
    if (is_exact(info->name)) {
        made.traits |= TEST_EXACT;
    }
    if (strcmp(info->name, "fingerprint") == 0 || strcmp(info->name, "blocked") == 0) {
        made.traits |= TEST_ANY_SIZE;
    }
    if (strcmp(info->name, "counting") == 0) {
        made.traits |= TEST_MULTISET;
    }
    return made;
}

static size_t kinds(void)
{
    size_t n = 0;
    vidi_kind_info info = {.size = sizeof info};
    while (vidi_kind(n, &info) == VIDI_OK) {
        n++;
    }
    return n;
}

bool test_kind_exists(const char *name)
{
    vidi_kind_info info = {.size = sizeof info};
    for (size_t i = 0; vidi_kind(i, &info) == VIDI_OK; i++) {
        if (strcmp(info.name, name) == 0) {
            return true;
        }
    }
    return false;
}

bool test_case_at(size_t index, test_case *found)
{
    vidi_kind_info info = {.size = sizeof info};
    size_t plain = kinds();
    if (index < plain) {
        vidi_kind(index, &info);
        *found = plain_case(&info);
        return true;
    }
    if (index - plain < sizeof table / sizeof *table) {
        *found = table[index - plain];
        return true;
    }
    return false;
}

const char *test_case_name(const test_case *which)
{
    static char name[320];
    size_t used = (size_t)snprintf(name, sizeof name, "%s[%s", which->kind, which->params ? which->params : "");
    if (which->error > 0) {
        used += (size_t)snprintf(name + used, sizeof name - used, " error %g", which->error);
    }
    snprintf(name + used, sizeof name - used, "]");
    return name;
}

static uint64_t clamp(uint64_t n, uint64_t least, uint64_t most)
{
    return n < least ? least : n > most ? most : n;
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

uint64_t test_case_urls(const test_case *which, uint64_t n)
{
    if (strcmp(which->kind, "list") == 0) {
        return smaller(n, clamp(n / 50, 1000, 20000));
    }
    if (strcmp(which->kind, "sorted") == 0) {
        return smaller(n, clamp(n / 5, 10000, 200000));
    }
    return n;
}

size_t test_case_stride(const test_case *which)
{
    size_t stride = which->params ? 7 : 1;
    if (test_long()) {
        return 1;
    }
    return test_sanitized() ? 11 * stride : stride;
}

uint64_t test_case_few(const test_case *which, uint64_t n)
{
    uint64_t most = strcmp(which->kind, "list") == 0 ? 2000 : strcmp(which->kind, "sorted") == 0 ? 20000 : n;
    return smaller(n, most);
}

void test_key(unsigned char key[VIDI_KEY_BYTES], uint64_t seed)
{
    test_random random = {seed};
    for (int i = 0; i < VIDI_KEY_BYTES; i++) {
        key[i] = (unsigned char)(test_next(&random) >> 56);
    }
}

/* Copies the parameters, replacing each "@x" with n times x. */
static void expand(char *to, size_t room, const char *params, uint64_t n)
{
    size_t used = 0;
    while (*params && used + 24 < room) {
        if (*params == '@') {
            char *end;
            double times = strtod(params + 1, &end);
            used += (size_t)snprintf(to + used, room - used, "%.0f", times * (double)n);
            params = end;
        } else {
            to[used++] = *params++;
        }
    }
    to[used] = 0;
}

void test_case_options(test_options *made, const test_case *which, uint64_t n, uint64_t seed)
{
    vidi_options plain = VIDI_OPTIONS_INIT;
    vidi_access defaults = VIDI_ACCESS_INIT;
    double capacity = which->capacity * (double)n;
    made->options = plain;
    made->access = defaults;
    made->options.access = &made->access;
    made->options.kind = which->kind;
    if (which->params) {
        expand(made->params, sizeof made->params, which->params, n);
        made->options.params = made->params;
    }
    made->options.capacity = which->capacity > 0 && capacity < 1 ? 1 : (uint64_t)capacity;
    made->options.error = which->error;
    test_key(made->key, seed);
    made->options.key = made->key;
}

static vidi_set *make_set(const test_case *which, uint64_t n, uint64_t seed, const vidi_allocator *allocator,
                          const char *canon)
{
    test_options made;
    vidi_set *set = NULL;
    test_case_options(&made, which, n, seed);
    made.access.allocator = allocator;
    made.options.canon = canon;
    int result = vidi_create(&set, &made.options);
    check(result == VIDI_OK && set, "%s for %llu URLs: %d, %s", test_case_name(which), (unsigned long long)n, result,
          vidi_message());
    return set;
}

vidi_set *test_case_set(const test_case *which, uint64_t n, uint64_t seed, const vidi_allocator *allocator)
{
    return make_set(which, n, seed, allocator, NULL);
}

vidi_set *test_case_bytes_set(const test_case *which, uint64_t n, uint64_t seed, const vidi_allocator *allocator)
{
    return make_set(which, n, seed, allocator, "none");
}

vidi_stats test_stat(const vidi_set *set)
{
    vidi_stats stats;
    memset(&stats, 0, sizeof stats);
    stats.size = sizeof stats;
    assert_int_equal(vidi_stat(set, &stats), VIDI_OK);
    return stats;
}

bool test_case_can(const test_case *which, uint32_t can)
{
    test_options made;
    vidi_set *set = NULL;
    vidi_stats stats = {.size = sizeof stats};
    test_case_options(&made, which, 100, 1);
    bool can_all =
        vidi_create(&set, &made.options) == VIDI_OK && vidi_stat(set, &stats) == VIDI_OK && (stats.can & can) == can;
    vidi_close(set);
    return can_all;
}

bool test_case_rotates(const test_case *which)
{
    return !which->params || !strstr(which->params, "functions=jenkins+murmur2+sha1,k=3");
}
