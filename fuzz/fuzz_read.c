/*
 * Reads arbitrary bytes as a stream. vidi_read must refuse them or make a set that works like any other: it answers
 * lookups, stays within its memory limit, and writes a stream that can be read again. Each input is tried unchanged,
 * then with correct checksums.
 */
#include "fuzz_stream.h"
#include "vidi/transfer.h"

#define MEMORY_LIMIT (UINT64_C(64) << 20)

static int visit(void *context, const vidi_entry *entry)
{
    uint64_t *left = context;
    (void)entry;
    return --*left == 0;
}

static int read_from(vidi_set **set, fuzz_stream *stream, uint64_t stream_bytes)
{
    vidi_access access = VIDI_ACCESS_INIT;
    access.memory_limit = MEMORY_LIMIT;
    stream->at = 0;
    return vidi_read(set, fuzz_take, stream, stream_bytes, NULL, &access);
}

static void read_and_use(fuzz_stream *stream, uint64_t stream_bytes)
{
    vidi_set *set = NULL;
    if (read_from(&set, stream, stream_bytes) != VIDI_OK) {
        FUZZ_CHECK(!set);
        return;
    }
    uint64_t entries = 1000;
    vidi_iterate(set, visit, &entries);
    fuzz_use(set);

    fuzz_stream written = {0};
    vidi_set *again = NULL;
    FUZZ_CHECK(vidi_write(set, fuzz_put, &written, VIDI_WRITE_PREVIOUS) == VIDI_OK);
    FUZZ_CHECK(read_from(&again, &written, written.size) == VIDI_OK);
    fuzz_use(again);
    vidi_close(again);
    vidi_close(set);
    free(written.bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_stream stream = {0};
    if (!size || fuzz_put(&stream, data, size) != 0)
        return 0;
    read_and_use(&stream, size);
    read_and_use(&stream, 0); /* streams of unknown length take a different path in the code */
    if (fuzz_seal(&stream)) {
        read_and_use(&stream, size);
        read_and_use(&stream, 0);
    }
    free(stream.bytes);
    return 0;
}
