/*
 * Reads arbitrary bytes as a log. The reader must return, in order, the records that a simple search of the whole file
 * finds, account for every byte, and stay within its memory; or report that the file was made to be slow. Each input is
 * tried unchanged, with a correct header, and with records that are correct where the input says so. The file exists in
 * memory only.
 */
#include <stdbool.h>
#include <string.h>

#include "fuzz.h"
#include "lib/inside/inside.h"

enum {
    HEAD = VIDI__INSIDE_LOG_HEAD,
    RECORD_HEAD = VIDI__INSIDE_LOG_RECORD_HEAD,
    CHECK = VIDI__INSIDE_LOG_CHECK,
};

static const uint8_t *content;
static size_t content_size;

/* Logs are little-endian, as are the machines that the library runs on. */
static uint32_t load32(const uint8_t *from)
{
    uint32_t x;
    memcpy(&x, from, sizeof x);
    return x;
}

static uint64_t load64(const uint8_t *from)
{
    uint64_t x;
    memcpy(&x, from, sizeof x);
    return x;
}

/* Finds the next valid record at or after this offset by a simple search; content_size if there is none. */
static size_t search(size_t offset, uint64_t generation)
{
    for (; content_size - offset >= RECORD_HEAD + CHECK; offset += 8) {
        const uint8_t *at = content + offset;
        uint64_t payload = load64(at + 8), left = content_size - offset;
        if (payload > left || vidi__inside_log_record_bytes(payload) > left)
            continue;
        uint64_t body = vidi__inside_log_record_bytes(payload) - CHECK;
        if (load32(at) == vidi__inside_log_mark(generation, offset, load32(at + 4), payload) &&
            load64(at + body) == vidi__inside_log_checksum(generation, offset, at, body))
            return offset;
    }
    return content_size;
}

typedef struct seen {
    uint64_t generation;
    size_t end; /* end of the last record */
    uint64_t records, damaged, stretches;
} seen;

/* The reader mends one wrong bit of the head, which may belong to the generation. */
static void mend_generation(seen *so_far)
{
    uint64_t read = so_far->generation;
    for (int bit = 0; bit < 64 && search(HEAD, so_far->generation) == content_size; bit++)
        so_far->generation = read ^ UINT64_C(1) << bit;
}

static int visit(void *context, uint32_t type, vidi_str payload)
{
    seen *so_far = context;
    if (so_far->records == 0)
        mend_generation(so_far);
    size_t offset = search(so_far->end, so_far->generation);
    FUZZ_CHECK(offset < content_size && load32(content + offset + 4) == type);
    FUZZ_CHECK(load64(content + offset + 8) == payload.len);
    FUZZ_CHECK(payload.len == 0 || memcmp(content + offset + RECORD_HEAD, payload.ptr, payload.len) == 0);
    so_far->records++;
    so_far->damaged += offset - so_far->end;
    so_far->stretches += offset != so_far->end;
    so_far->end = offset + vidi__inside_log_record_bytes(payload.len);
    return VIDI_OK;
}

static void read_log(const uint8_t *data, size_t size)
{
    vidi__inside_log_found found;
    seen so_far = {.end = HEAD};
    content = data;
    content_size = size;
    if (size >= HEAD)
        so_far.generation = load64(data + 16);
    int code = vidi__inside_log_read(data, size, visit, &so_far, &found);
    FUZZ_CHECK(found.memory_left == 0);
    FUZZ_CHECK(code == VIDI_OK || code == VIDI_EFORMAT || code == VIDI_EDAMAGED || code == VIDI_EDIFFERS);
    FUZZ_CHECK(found.records == so_far.records);
    if (code != VIDI_OK)
        return;
    if (found.headless) {
        FUZZ_CHECK(size <= HEAD && !found.records && !found.bytes && !found.unfinished);
        return;
    }
    FUZZ_CHECK(found.bytes == so_far.end && found.bytes + found.unfinished == size);
    bool mended = found.stretches == so_far.stretches + 1; /* then the head counts as damaged */
    FUZZ_CHECK(found.damaged == so_far.damaged + (mended ? HEAD : 0));
    FUZZ_CHECK(mended || found.stretches == so_far.stretches);
    FUZZ_CHECK(search(so_far.end, so_far.generation) == size);
}

/* Writes records one after the other; the input's bytes choose their lengths and whether they are correct. */
static void seal(uint8_t *data, size_t size, uint64_t generation)
{
    size_t offset = HEAD;
    while (size - offset >= RECORD_HEAD + CHECK) {
        uint8_t *at = data + offset;
        uint64_t most = (size - offset - RECORD_HEAD - CHECK) / 8 * 8;
        uint64_t payload = load32(at + 8) % (most + 1);
        uint64_t whole = vidi__inside_log_record_bytes(payload), body = whole - CHECK;
        uint8_t choice = at[15];
        memcpy(at + 8, &payload, sizeof payload);
        if (!(choice & 1)) {
            uint32_t mark = vidi__inside_log_mark(generation, offset, load32(at + 4), payload);
            memcpy(at, &mark, sizeof mark);
        }
        if (!(choice & 2)) {
            uint64_t checksum = vidi__inside_log_checksum(generation, offset, at, body);
            memcpy(at + body, &checksum, sizeof checksum);
        }
        offset += choice & 4 ? 16 : whole;
        if (offset > size)
            break;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    read_log(data, size);
    uint8_t *copy = size >= HEAD ? malloc(size) : NULL;
    if (copy) {
        uint64_t generation = load64(data + 16);
        memcpy(copy, data, size);
        vidi__inside_log_head(copy, generation);
        read_log(copy, size);
        seal(copy, size, generation);
        read_log(copy, size);
        free(copy);
    }
    return 0;
}
