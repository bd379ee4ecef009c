/*
 * Maps arbitrary bytes as a set. Mapping must refuse them or make a set that can be looked up in, listed, written and
 * merged from, whatever its arrays hold. Nothing may be read outside the mapping, nothing may be written into it, and
 * every call must return. What verification then accepts, vidi_read must accept too. Each input is tried unchanged,
 * then with correct checksums.
 */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz_stream.h"
#include "lib/inside/inside.h"

#define MEMORY_LIMIT (UINT64_C(64) << 20)

static int visit(void *context, const vidi_entry *entry)
{
    uint64_t *left = context;
    (void)entry;
    return --*left == 0;
}

/* Puts the bytes into read-only pages, followed by one that cannot be read, so that overruns crash. */
static uint8_t *map(const fuzz_stream *stream, size_t *whole)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), pages = (stream->size + page - 1) / page * page;
    *whole = pages + page;
    uint8_t *bytes = mmap(NULL, *whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    FUZZ_CHECK(bytes != MAP_FAILED);
    memcpy(bytes, stream->bytes, stream->size);
    FUZZ_CHECK(mprotect(bytes, pages, PROT_READ) == 0 && mprotect(bytes + pages, page, PROT_NONE) == 0);
    return bytes;
}

static void ask(const vidi_set *set)
{
    enum { MANY = 200 };
    char text[MANY][48];
    vidi_str urls[MANY];
    uint8_t verdicts[MANY];
    for (int i = 0; i < MANY; i++) {
        uint64_t times;
        int len = snprintf(text[i], sizeof text[i], "http://www.example.com/%d/page/%d.html", i % 3, i);
        urls[i] = (vidi_str){text[i], (size_t)len};
        int verdict = vidi_has(set, urls[i]);
        FUZZ_CHECK(verdict == VIDI_NEW || verdict == VIDI_SEEN);
        vidi_count(set, urls[i], &times);
    }
    FUZZ_CHECK(vidi_has_batch(set, urls, MANY, verdicts) == VIDI_OK);
    vidi_stats stats = {.size = sizeof stats};
    FUZZ_CHECK(vidi_stat(set, &stats) == VIDI_OK);
    FUZZ_CHECK(stats.memory_bytes <= stats.memory_limit);
    FUZZ_CHECK(stats.fp_now >= 0 && stats.fp_now <= 1);
}

static void use(vidi_set *set, fuzz_stream *stream)
{
    uint64_t entries = 1000;
    fuzz_stream written = {0};
    vidi_options options = VIDI_OPTIONS_INIT;
    vidi_access access = VIDI_ACCESS_INIT;
    vidi_set *other = NULL;
    ask(set);
    FUZZ_CHECK(vidi_add(set, (vidi_str)FUZZ_STR("http://example.com/")) == VIDI_ECANNOT);
    vidi_iterate(set, visit, &entries);
    FUZZ_CHECK(vidi_write(set, fuzz_put, &written, 0) == VIDI_OK);
    free(written.bytes);
    options.like = set;
    options.access = &access;
    access.memory_limit = MEMORY_LIMIT;
    if (vidi_create(&other, &options) == VIDI_OK)
        vidi_merge(other, set, 0);
    vidi_close(other);
    if (vidi_verify(set) != VIDI_OK)
        return;
    access.memory_limit = 2 * MEMORY_LIMIT;
    stream->at = 0;
    FUZZ_CHECK(vidi_read(&other, fuzz_take, stream, stream->size, NULL, &access) == VIDI_OK);
    vidi_close(other);
}

static void map_and_use(fuzz_stream *stream)
{
    size_t whole;
    vidi_set *set;
    vidi_access access = VIDI_ACCESS_INIT;
    uint8_t *bytes = map(stream, &whole);
    access.memory_limit = MEMORY_LIMIT;
    if (vidi__inside_map(&set, bytes, stream->size, &access) == VIDI_OK)
        use(set, stream);
    else
        FUZZ_CHECK(!set);
    vidi_close(set);
    munmap(bytes, whole);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_stream stream = {0};
    if (!size || fuzz_put(&stream, data, size) != 0)
        return 0;
    map_and_use(&stream);
    if (fuzz_seal(&stream))
        map_and_use(&stream);
    free(stream.bytes);
    return 0;
}
