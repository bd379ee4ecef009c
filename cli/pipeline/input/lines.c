/*
 * Lines from files: see lines.h. Bytes are read into the block in slices, which are split while they are in the cache.
 * The bytes after the last whole line go to the front of the next block. A block grows only for a line that does not
 * fit, so lines may have any length unless the reader has a limit, and each byte is copied and scanned a constant
 * number of times on average.
 *
 * A reader that splits later only counts lines, in a third of the time. It splits at once what cannot be decided by a
 * count: when there are more lines than fit into the block, when they may be too long, and when there is a header.
 */
#include "common/clock.h"
#include "pipeline/input/lines.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ui/output.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

enum {
    SLICE = 256 * 1024,
    HOLD_NS = 5000000 /* a block is returned after this time, even if more input is ready */
};

int cli_block_init(cli_block *block)
{
    *block = (cli_block){.room = CLI_BLOCK_BYTES};
    block->bytes = malloc(block->room + CLI_BLOCK_SLACK);
    block->lines = malloc(CLI_BLOCK_LINES * sizeof *block->lines);
    return block->bytes && block->lines ? CLI_OK : cli_error("out of memory");
}

void cli_block_free(cli_block *block)
{
    free(block->bytes);
    free(block->lines);
    *block = (cli_block){0};
}

int cli_reader_init(cli_reader *reader, cli_words files, char end)
{
    *reader = (cli_reader){.files = files, .end = end, .in = {.fd = -1}, .block_lines = CLI_BLOCK_LINES, .wake = -1};
    return cli_input_check_all(&reader->files, &reader->size);
}

void cli_reader_free(cli_reader *reader)
{
    cli_input_close(&reader->in);
    free(reader->rest);
    reader->rest = NULL;
}

/* ---- splitting ---- */

/* How far a block is split: the next line starts at `begin`, and there is no end of a line from there to `scanned`. */
typedef struct split_state {
    cli_block *block;
    size_t begin, scanned;
    bool strips; /* '\r' at the end of lines */
} split_state;

static inline void take_line(split_state *split, size_t end)
{
    cli_block *block = split->block;
    const char *start = block->bytes + split->begin;
    size_t length = end - split->begin;

    length -= split->strips && length > 0 && start[length - 1] == '\r';
    block->lines[block->count++] = (vidi_str){start, length};
    split->begin = end + 1;
}

#ifdef __SSE2__
/* A bit for each of 64 bytes that is the end of a line. */
static inline uint64_t ends_in(const char *bytes, __m128i end)
{
    uint64_t mask = 0;
    for (int i = 0; i < 4; i++) {
        __m128i here = _mm_loadu_si128((const __m128i *)(const void *)(bytes + 16 * i));
        mask |= (uint64_t)(unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(here, end)) << (16 * i);
    }
    return mask;
}

/* Splits 64 bytes at a time, while there are 64 bytes and room for 64 lines. */
static void split_fast(split_state *split, char end)
{
    cli_block *block = split->block;
    __m128i ends = _mm_set1_epi8(end);

    while (split->scanned + 64 <= block->used && block->count + 64 <= block->most) {
        uint64_t mask = ends_in(block->bytes + split->scanned, ends);
        for (; mask != 0; mask &= mask - 1)
            take_line(split, split->scanned + (size_t)__builtin_ctzll(mask));
        split->scanned += 64;
    }
}
#else
static void split_fast(split_state *split, char end)
{
    (void)split;
    (void)end;
}
#endif

/* How often a byte occurs. */
static size_t occurrences(const char *bytes, size_t n, char byte)
{
    size_t sum = 0;

    while (n > 0) {
        uint8_t few = 0; /* so that the compiler compares many bytes at a time */
        size_t part = n < UINT8_MAX ? n : UINT8_MAX;
        for (size_t i = 0; i < part; i++)
            few = (uint8_t)(few + (bytes[i] == byte));
        sum += few;
        bytes += part;
        n -= part;
    }
    return sum;
}

/* Only counts the whole lines of the block. False if there is no room for all of them. */
static bool count_lines(split_state *split, char end)
{
    cli_block *block = split->block;
    const char *from = block->bytes + split->scanned;
    size_t count = occurrences(from, block->used - split->scanned, end);

    if (count > block->most - block->count)
        return false;
    if (count > 0) {
        const char *last = memrchr(from, end, block->used - split->scanned);
        split->begin = (size_t)(last - block->bytes) + 1;
    }
    block->count += count;
    split->scanned = block->used;
    return true;
}

/* Takes the whole lines of the block, as long as there is room for them. */
static void split_lines(split_state *split, char end)
{
    cli_block *block = split->block;

    split_fast(split, end);
    while (block->count < block->most && split->scanned < block->used) {
        const char *from = block->bytes + split->scanned;
        const char *found = memchr(from, end, block->used - split->scanned);
        if (!found) {
            split->scanned = block->used;
            return;
        }
        size_t at = (size_t)(found - block->bytes);
        take_line(split, at);
        split->scanned = at + 1;
    }
}

/* Splits what was only counted. */
static void split_counted(split_state *split, char end)
{
    split->block->counted = false;
    split->block->count = split->begin = split->scanned = 0;
    split_lines(split, end);
}

static void take_lines(split_state *split, char end)
{
    if (split->block->counted && count_lines(split, end))
        return;
    if (split->block->counted)
        split_counted(split, end);
    else
        split_lines(split, end);
}

void cli_block_split(cli_block *block)
{
    split_state split = {.block = block, .strips = block->end == '\n'};

    if (block->counted)
        split_counted(&split, block->end);
}

/* ---- filling ---- */

static int resize(cli_block *block, size_t room)
{
    char *bytes = room > SIZE_MAX - CLI_BLOCK_SLACK ? NULL : realloc(block->bytes, room + CLI_BLOCK_SLACK);
    if (!bytes)
        return CLI_ERROR;
    block->bytes = bytes;
    block->room = room;
    return CLI_OK;
}

static int too_long(const cli_reader *reader, size_t length)
{
    return cli_error("%s: line %llu: out of memory: it has more than %zu bytes", reader->in.name,
                     (unsigned long long)reader->line + 1, length);
}

/* ---- the limit ---- */

/*
 * Each of some ten blocks may hold one line, with as much room again. So this share keeps all of them below the memory
 * that the user allows for the set.
 */
enum { MEMORY_SHARE = 16 };

cli_line_limit cli_line_limit_of(uint64_t max_line, uint64_t memory)
{
    uint64_t share = memory / MEMORY_SHARE > CLI_BLOCK_BYTES ? memory / MEMORY_SHARE : CLI_BLOCK_BYTES;

    if (max_line || !memory)
        return (cli_line_limit){.bytes = max_line};
    return (cli_line_limit){.bytes = share, .from_memory = true};
}

/* Refuses the line after those in the block. */
static int refuse_line(const cli_reader *reader, const cli_block *block)
{
    cli_number most;

    return cli_error("%s: line %llu is longer than %s, the limit %s", reader->in.name,
                     (unsigned long long)(reader->line + block->count + 1), cli_human_bytes(&most, reader->limit.bytes),
                     reader->limit.from_memory ? "that follows from --memory; --max-line SIZE sets another"
                                               : "of --max-line");
}

/* Checks that the lines of the block, and the one that was begun, are short enough; otherwise ends the block before. */
static int check_lengths(const cli_reader *reader, split_state *split)
{
    cli_block *block = split->block;
    uint64_t most = reader->limit.bytes;

    if (!most || most >= block->used)
        return CLI_OK;
    if (block->counted)
        split_counted(split, reader->end);
    for (size_t i = 0; i < block->count; i++)
        if (block->lines[i].len > most) {
            block->count = i;
            return refuse_line(reader, block);
        }
    return block->used - split->begin > most + 1 && split->scanned == block->used ? refuse_line(reader, block) : CLI_OK;
}

/* ---- blocks ---- */

/* Begins the block with the rest of the one before. */
static int take_rest(cli_reader *reader, cli_block *block, split_state *split)
{
    size_t room = CLI_BLOCK_BYTES;

    while (room / 2 < reader->rest_used)
        room *= 2;
    if (room != block->room && resize(block, room) != CLI_OK)
        return too_long(reader, reader->rest_used);
    if (reader->rest_used > 0)
        memcpy(block->bytes, reader->rest, reader->rest_used);
    block->used = reader->rest_used;
    split->scanned = reader->rest_scanned;
    reader->rest_used = reader->rest_scanned = 0;
    return CLI_OK;
}

/* Keeps the bytes after the last line for the next block. */
static int keep_rest(cli_reader *reader, split_state *split)
{
    cli_block *block = split->block;
    size_t left = block->used - split->begin;

    if (left > reader->rest_room) {
        char *rest = realloc(reader->rest, left);
        if (!rest)
            return too_long(reader, left);
        reader->rest = rest;
        reader->rest_room = left;
    }
    if (left > 0)
        memcpy(reader->rest, block->bytes + split->begin, left);
    reader->rest_used = left;
    reader->rest_scanned = split->scanned > split->begin ? split->scanned - split->begin : 0;
    block->used = split->begin;
    return CLI_OK;
}

/* Waits until there is something to read; false if the reader must stop or pause. */
static bool wait_for_input(cli_reader *reader)
{
    struct pollfd fds[2] = {{.fd = reader->in.fd, .events = POLLIN}, {.fd = reader->wake, .events = POLLIN}};

    while (!reader->stop && !cli_input_ready(&reader->in)) {
        int got = poll(fds, reader->wake >= 0 ? 2 : 1, reader->lull ? reader->lull_ms : -1);
        if (got == 0 && reader->lull)
            reader->lull(reader->context);
        reader->paused = got == 0 && reader->pause && reader->pause(reader->context);
        if (reader->paused)
            return false;
        if (got > 0 && fds[0].revents != 0)
            break;
    }
    return !reader->stop;
}

static int read_slice(cli_reader *reader, cli_block *block, size_t *got)
{
    size_t room = block->room - block->used;
    uint64_t before = reader->in.taken;

    int status = cli_input_read(&reader->in, block->bytes + block->used, room < SLICE ? room : SLICE, got);
    if (status == CLI_OK) {
        block->used += *got;
        reader->bytes += *got;
        reader->taken += reader->in.taken - before;
    }
    return status;
}

/* Returns true if the block should be returned now, and sets `full` or `waits`. */
static bool is_enough(const cli_reader *reader, split_state *split, uint64_t *since)
{
    cli_block *block = split->block;

    if (block->count == 0)
        return false;
    if (block->count == block->most || block->room - block->used < CLI_BLOCK_BYTES / 16) {
        block->full = true;
        return true;
    }
    if (reader->in.regular)
        return false;
    block->waits = !cli_input_ready(&reader->in);
    uint64_t now = clock_now();
    *since = *since ? *since : now;
    return block->waits || now - *since > HOLD_NS;
}

/*
 * Returns true if a signal cut off the last line of a pipe. ^C goes to all programs of a pipeline at once, and the
 * writer may die of it in the middle of a line. The same signal has then reached this process too, but may not have
 * been handled yet.
 */
static bool is_cut_off(const cli_reader *reader)
{
    const struct timespec moment = {.tv_nsec = 2000000};
    sigset_t pending;

    if (reader->in.regular || reader->wake < 0)
        return false;
    if (sigpending(&pending) == 0 && (sigismember(&pending, SIGINT) == 1 || sigismember(&pending, SIGTERM) == 1))
        return true;
    nanosleep(&moment, NULL);
    return reader->stop;
}

/* Ends the last line of a file, which may lack its newline. */
static void end_last_line(cli_reader *reader, split_state *split)
{
    cli_block *block = split->block;

    if (block->used == split->begin || block->bytes[block->used - 1] == reader->end)
        return;
    if (is_cut_off(reader))
        block->used = split->begin;
    else
        block->bytes[block->used++] = reader->end;
}

/* Reads lines of the open file. */
static int fill_from_file(cli_reader *reader, cli_block *block, split_state *split)
{
    uint64_t since = 0;

    for (;;) {
        size_t got = 1;
        take_lines(split, reader->end);
        CLI_TRY(check_lengths(reader, split));
        if (is_enough(reader, split, &since))
            return keep_rest(reader, split);
        if (block->count == 0 && block->room - block->used < CLI_BLOCK_BYTES / 16 &&
            (block->room > SIZE_MAX / 4 || resize(block, block->room * 2) != CLI_OK))
            return too_long(reader, block->used);
        if (!wait_for_input(reader)) {
            if (reader->paused)
                return keep_rest(reader, split);
            block->used = split->begin; /* the line that was begun is dropped: its end is unknown */
            return CLI_OK;
        }
        int status = read_slice(reader, block, &got);
        if (status != CLI_OK || got == 0) {
            if (status == CLI_OK)
                end_last_line(reader, split);
            take_lines(split, reader->end);
            if (status == CLI_OK)
                status = check_lengths(reader, split);
            if (status == CLI_OK && split->begin < block->used)
                return keep_rest(reader, split); /* no room for all lines: the end of the file is met again */
            cli_input_close(&reader->in);
            return status;
        }
    }
}

/* Takes the first line of a file out of the block. */
static int take_header(cli_reader *reader, cli_block *block)
{
    int status = reader->header(reader->context, reader->in.name, block->lines[0]);

    block->count = status == CLI_OK ? block->count - 1 : 0;
    memmove(block->lines, block->lines + 1, block->count * sizeof *block->lines);
    reader->line = 1;
    return status;
}

int cli_reader_fill(cli_reader *reader, cli_block *block)
{
    int status = CLI_OK;

    block->count = block->used = 0;
    block->most = reader->block_lines;
    block->end = reader->end;
    block->full = block->waits = reader->paused = false;
    while (block->count == 0 && status == CLI_OK && !reader->stop && !reader->paused) {
        split_state split = {.block = block, .strips = reader->end == '\n'};
        if (reader->in.fd < 0) {
            if (reader->files.count == 0)
                break;
            reader->line = 0;
            status = cli_input_open(&reader->in, reader->files.list[0]);
            reader->files = (cli_words){reader->files.list + 1, reader->files.count - 1};
        }
        block->counted = reader->splits_later && !(reader->header && reader->line == 0);
        if (status == CLI_OK)
            status = take_rest(reader, block, &split);
        if (status == CLI_OK)
            status = fill_from_file(reader, block, &split);
        if (reader->header && reader->line == 0 && block->count > 0) {
            int taken = take_header(reader, block);
            status = status != CLI_OK ? status : taken;
        }
    }
    block->name = reader->in.name;
    block->first = reader->line + 1;
    reader->line += block->count;
    return status;
}

int cli_lines_each(cli_words files, int (*take)(void *context, const cli_block *block), void *context)
{
    cli_reader reader;
    cli_block block;
    int status = cli_reader_init(&reader, files, '\n'), filled = CLI_OK;

    if (status != CLI_OK)
        return status;
    status = cli_block_init(&block);
    while (status == CLI_OK && filled == CLI_OK) {
        filled = cli_reader_fill(&reader, &block);
        if (block.count == 0)
            break;
        status = take(context, &block);
    }
    cli_reader_free(&reader);
    cli_block_free(&block);
    return status != CLI_OK ? status : filled;
}
