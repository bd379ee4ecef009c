/*
 * Reads arbitrary bytes as pieces of a set. vidi_piece_read must refuse them and leave the set as it was, or take them
 * and have a set that works like any other after each piece: it answers lookups, stays within its memory limit, and
 * writes a stream that can be read again.
 *
 * The input is several pieces, each after its length as four bytes. Each is tried unchanged, and with correct
 * checksums.
 */
#include "fuzz_stream.h"
#include "vidi/transfer.h"

#define MEMORY_LIMIT (UINT64_C(64) << 20)

static void must_be_sound(vidi_set *set)
{
    fuzz_stream written = {0};
    vidi_set *again = NULL;
    FUZZ_CHECK(vidi_write(set, fuzz_put, &written, VIDI_WRITE_PREVIOUS) == VIDI_OK);
    FUZZ_CHECK(vidi_read(&again, fuzz_take, &written, written.size, NULL, NULL) == VIDI_OK);
    vidi_close(again);
    free(written.bytes);
}

static uint64_t count_of(const vidi_set *set)
{
    vidi_stats stats = {.size = sizeof stats};
    return set && vidi_stat(set, &stats) == VIDI_OK ? stats.count : 0;
}

static void take_piece(vidi_set **set, const uint8_t *data, size_t size)
{
    vidi_access access = VIDI_ACCESS_INIT;
    vidi_set *before = *set;
    uint64_t count = count_of(before);
    access.memory_limit = MEMORY_LIMIT;
    int result = vidi_piece_read(set, data, size, &access, NULL);
    if (result == VIDI_EFORMAT)
        FUZZ_CHECK(*set == before && count_of(*set) == count);
    if (*set)
        must_be_sound(*set);
}

static void take_all(const uint8_t *data, size_t size, bool seal, bool use)
{
    vidi_set *set = NULL;
    while (size >= 4) {
        size_t length = (size_t)fuzz_load(data, 4), left = size - 4;
        fuzz_stream piece = {0};
        length = length < left ? length : left;
        if (length && fuzz_put(&piece, data + 4, length) == 0) {
            if (seal)
                fuzz_seal(&piece);
            take_piece(&set, piece.bytes, length);
        }
        free(piece.bytes);
        data += 4 + length;
        size = left - length;
        if (set && use)
            fuzz_use(set);
    }
    vidi_close(set);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    take_all(data, size, false, true);
    take_all(data, size, true, true);
    take_all(data, size, true, false);
    return 0;
}
