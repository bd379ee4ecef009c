/*
 * Logs that nobody wrote. vidi__log_read must hand out what a plain search of the whole file finds, in order, account
 * for every byte, and keep to its memory; or say that the file was made to be slow. Each input is tried as it is, with
 * a correct head, and with records that are correct where the input says so. The file is in memory only.
 *
 * The one target that looks inside the library: nothing public reads a log yet.
 */
#include <errno.h>
#include <string.h>

#include "fuzz.h"
#include "store/log_format.h"

static const vidi__log_id id = {.number = 1, .epoch = 2, .identity = 3};

static const uint8_t *content;
static size_t content_size;

static int open_content(int folder, const char *name, int flags, mode_t mode)
{
    (void)folder;
    (void)flags;
    (void)mode;
    FUZZ_CHECK(strcmp(name, "log.0000000000000001") == 0);
    return 1000;
}

static int close_content(int file)
{
    FUZZ_CHECK(file == 1000);
    return 0;
}

static int size_content(int file, uint64_t *bytes)
{
    (void)file;
    *bytes = content_size;
    return 0;
}

/* In pieces of odd sizes. */
static ssize_t read_content(int file, void *data, size_t bytes, off_t offset)
{
    (void)file;
    FUZZ_CHECK(offset >= 0 && (size_t)offset + bytes <= content_size);
    size_t piece = 1 + bytes / 2;
    memcpy(data, content + offset, piece);
    return (ssize_t)piece;
}

/* The next valid record from this offset on, found the plain way; content_size if there is none. */
static size_t search(size_t offset, uint64_t generation)
{
    for (; content_size - offset >= VIDI__LOG_RECORD_HEAD + VIDI__LOG_CHECK; offset += 8) {
        const uint8_t *at = content + offset;
        uint64_t payload = vidi__load64(at + 8), left = content_size - offset;
        if (payload > left || vidi__log_record_bytes(payload) > left)
            continue;
        uint64_t body = vidi__log_record_bytes(payload) - VIDI__LOG_CHECK;
        if (vidi__load32(at) == vidi__log_mark(generation, offset, vidi__load32(at + 4), payload) &&
            vidi__load64(at + body) == vidi__log_checksum(generation, offset, at, body))
            return offset;
    }
    return content_size;
}

typedef struct seen {
    uint64_t generation;
    size_t end; /* of the last record */
    uint64_t records, damaged, stretches;
} seen;

static int visit(void *context, uint32_t type, vidi_str payload)
{
    seen *so_far = context;
    size_t offset = search(so_far->end, so_far->generation);
    FUZZ_CHECK(offset < content_size && vidi__load32(content + offset + 4) == type);
    FUZZ_CHECK(vidi__load64(content + offset + 8) == payload.len);
    FUZZ_CHECK(payload.len == 0 || memcmp(content + offset + VIDI__LOG_RECORD_HEAD, payload.ptr, payload.len) == 0);
    so_far->records++;
    so_far->damaged += offset - so_far->end;
    so_far->stretches += offset != so_far->end;
    so_far->end = offset + vidi__log_record_bytes(payload.len);
    return VIDI_OK;
}

static void read_log(const uint8_t *data, size_t size)
{
    vidi__memory memory;
    vidi__log_found found;
    seen so_far = {.end = VIDI__LOG_HEAD};
    content = data;
    content_size = size;
    if (size >= VIDI__LOG_HEAD)
        so_far.generation = vidi__load64(data + 16);
    FUZZ_CHECK(vidi__memory_init(&memory, NULL, size + (1 << 20)) == VIDI_OK);
    int code = vidi__log_read(&memory, -1, &id, visit, &so_far, &found);
    FUZZ_CHECK(vidi__memory_used(&memory) == 0);
    FUZZ_CHECK(code == VIDI_OK || code == VIDI_EFORMAT || code == VIDI_EDIFFERS);
    FUZZ_CHECK(found.records == so_far.records);
    if (code != VIDI_OK)
        return;
    if (found.headless) {
        FUZZ_CHECK(size <= VIDI__LOG_HEAD && !found.records && !found.bytes && !found.unfinished);
        return;
    }
    FUZZ_CHECK(found.bytes == so_far.end && found.bytes + found.unfinished == size);
    FUZZ_CHECK(found.damaged == so_far.damaged && found.stretches == so_far.stretches);
    FUZZ_CHECK(search(so_far.end, so_far.generation) == size);
}

/* Makes a record where the last one ends, and so on; the input's bytes say how long it is and whether it is right. */
static void seal(uint8_t *data, size_t size, uint64_t generation)
{
    size_t offset = VIDI__LOG_HEAD;
    while (size - offset >= VIDI__LOG_RECORD_HEAD + VIDI__LOG_CHECK) {
        uint8_t *at = data + offset;
        uint64_t most = (size - offset - VIDI__LOG_RECORD_HEAD - VIDI__LOG_CHECK) / 8 * 8;
        uint64_t payload = vidi__load32(at + 8) % (most + 1);
        uint64_t whole = vidi__log_record_bytes(payload), body = whole - VIDI__LOG_CHECK;
        uint8_t choice = at[15];
        vidi__store64(at + 8, payload);
        if (!(choice & 1))
            vidi__store32(at, vidi__log_mark(generation, offset, vidi__load32(at + 4), payload));
        if (!(choice & 2))
            vidi__store64(at + body, vidi__log_checksum(generation, offset, at, body));
        offset += choice & 4 ? 16 : whole;
        if (offset > size)
            break;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    vidi__system memory_only = vidi__system_real;
    memory_only.open = open_content;
    memory_only.close = close_content;
    memory_only.size = size_content;
    memory_only.pread = read_content;
    vidi__system_now = &memory_only;
    read_log(data, size);
    uint8_t *copy = size >= VIDI__LOG_HEAD ? malloc(size) : NULL;
    if (copy) {
        uint64_t generation = vidi__load64(data + 16);
        memcpy(copy, data, size);
        vidi__log_head_write(copy, &id, generation);
        read_log(copy, size);
        seal(copy, size, generation);
        read_log(copy, size);
        free(copy);
    }
    vidi__system_now = &vidi__system_real;
    return 0;
}
