/*
 * Logs in memory, for the fuzzer. The reader of logs calls the system through a table of functions (store/file.h);
 * while it reads a log for us, the calls that it needs go to the bytes in memory instead.
 */
#include "inside/inside.h"

#include <errno.h>

#include "store/log_format.h"

_Static_assert((int)VIDI__INSIDE_LOG_HEAD == (int)VIDI__LOG_HEAD, "the door knows the lengths");
_Static_assert((int)VIDI__INSIDE_LOG_RECORD_HEAD == (int)VIDI__LOG_RECORD_HEAD, "the door knows the lengths");
_Static_assert((int)VIDI__INSIDE_LOG_CHECK == (int)VIDI__LOG_CHECK, "the door knows the lengths");

static const vidi__log_id id = {.number = 1, .epoch = 2, .identity = 3};

enum { HANDLE = 1000, MEMORY_MORE = 1 << 20 };

static const unsigned char *content;
static size_t content_size;
static bool strayed; /* the reader has called for something that is not there */

static int refuse(void)
{
    strayed = true;
    errno = EINVAL;
    return -1;
}

static int open_content(int folder, const char *name, int flags, mode_t mode)
{
    char expected[40];
    (void)folder;
    (void)flags;
    (void)mode;
    vidi__log_name(expected, id.number);
    return strcmp(name, expected) == 0 ? HANDLE : refuse();
}

static int close_content(int file)
{
    return file == HANDLE ? 0 : refuse();
}

static int stat_content(int file, vidi__file_state *state)
{
    *state = (vidi__file_state){.bytes = content_size, .links = 1, .regular = true};
    return file == HANDLE ? 0 : refuse();
}

/* Gives half of what was asked for, as a system may, so that the reader has to go on where it stopped. */
static ssize_t read_content(int file, void *data, size_t bytes, off_t offset)
{
    if (file != HANDLE || offset < 0 || (size_t)offset > content_size || bytes > content_size - (size_t)offset)
        return refuse();
    size_t piece = bytes - bytes / 2;
    memcpy(data, content + offset, piece);
    return (ssize_t)piece;
}

uint64_t vidi__inside_log_record_bytes(uint64_t payload)
{
    return vidi__log_record_bytes(payload);
}

uint32_t vidi__inside_log_mark(uint64_t generation, uint64_t offset, uint32_t type, uint64_t payload)
{
    return vidi__log_check_value(generation, offset, type, payload);
}

uint64_t vidi__inside_log_checksum(uint64_t generation, uint64_t offset, const unsigned char *record, uint64_t bytes)
{
    return vidi__log_checksum(generation, offset, record, bytes);
}

void vidi__inside_log_head(unsigned char head[VIDI__INSIDE_LOG_HEAD], uint64_t generation)
{
    vidi__log_head_write(head, &id, generation);
}

int vidi__inside_log_read(const void *bytes, size_t size, int (*visit)(void *context, uint32_t type, vidi_str payload),
                          void *context, vidi__inside_log_found *found)
{
    vidi__system in_memory = vidi__system_real;
    vidi__memory memory;
    vidi__log_found inner = {0};
    VIDI__TRY(vidi__memory_init(&memory, NULL, size + MEMORY_MORE));
    in_memory.open = open_content;
    in_memory.close = close_content;
    in_memory.stat = stat_content;
    in_memory.pread = read_content;
    content = bytes;
    content_size = size;
    strayed = false;
    vidi__system_now = &in_memory;
    int code = vidi__log_read(&memory, -1, &id, VIDI__LOG_UNKNOWN, visit, context, &inner);
    vidi__system_now = &vidi__system_real;
    *found = (vidi__inside_log_found){
        .records = inner.records,
        .bytes = inner.bytes,
        .damaged = inner.damaged,
        .stretches = inner.stretches,
        .unfinished = inner.unfinished,
        .headless = inner.headless,
        .memory_left = vidi__memory_used(&memory),
    };
    return strayed ? vidi__fail(VIDI_EIO, "the reader of a log has called for what is not in it") : code;
}
