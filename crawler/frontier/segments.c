/*
 * The queue: blocks of hosts, on segments. See frontier_state.h for what a segment is.
 *
 * The next host is the smallest among those that the segments have next. The blocks of a host are on all segments;
 * those on earlier ones come first, because their ids are smaller.
 */
#include <stdio.h>
#include <stdlib.h>

#include "crawler/base/list.h"
#include "crawler/base/sql.h"
#include "crawler/frontier/frontier_blocks.h"
#include "crawler/frontier/frontier_state.h"

/* ---- segments ---- */

static int add_segment(frontier *frontier, uint64_t first, uint64_t last)
{
    if (list_reserve(&frontier->segments, &frontier->segment_room, frontier->segment_count + 1) != VIDI_OK)
        return frontier_fail(frontier, VIDI_EMEMORY);
    frontier->segments[frontier->segment_count++] = (segment){.first = first, .last = last};
    return VIDI_OK;
}

void segments_free(frontier *frontier)
{
    for (size_t i = 0; i < frontier->segment_count; i++)
        window_forget(&frontier->segments[i]);
    frontier->segment_count = 0;
}

int segments_load(frontier *frontier)
{
    sqlite3_stmt *ask = frontier->statements[FRONTIER_SEGMENTS];
    int error = VIDI_OK, result = SQLITE_DONE;

    segments_free(frontier);
    while (!error && (result = sqlite3_step(ask)) == SQLITE_ROW)
        error = add_segment(frontier, sql_number(ask, 0), sql_number(ask, 1));
    if (!error && sql_code(result))
        error = frontier_fail(frontier, sql_code(result));
    sqlite3_reset(ask);
    return error;
}

uint64_t frontier_sorted(const frontier *frontier)
{
    return frontier->segment_count ? frontier->segments[frontier->segment_count - 1].last : 0;
}

static uint64_t size_of(const segment *segment)
{
    return segment->last - segment->first + 1;
}

int segments_open(frontier *frontier, uint64_t n, segment **found)
{
    uint64_t most = n > frontier->segment_least ? n : frontier->segment_least, all = 0;
    for (size_t i = 0; i < frontier->segment_count; i++)
        all += size_of(&frontier->segments[i]);
    if (most < all / SEGMENT_SHARE)
        most = all / SEGMENT_SHARE;
    int error = VIDI_OK;
    if (frontier->segment_count == 0 || size_of(&frontier->segments[frontier->segment_count - 1]) + n > most) {
        uint64_t sorted = frontier_sorted(frontier);
        error = add_segment(frontier, sorted + 1, sorted);
    }
    *found = error ? NULL : &frontier->segments[frontier->segment_count - 1];
    return error;
}

/* The lowest level of a segment, from `least` on. VIDI_EABSENT: there is none. */
static int level_of(frontier *frontier, const segment *segment, uint64_t least, uint32_t *level)
{
    sqlite3_stmt *ask = frontier->statements[FRONTIER_LEVEL];
    sql_bind(ask, SQL_VALUES(SQL_NUMBER(segment->first), SQL_NUMBER(least)));
    int result = sqlite3_step(ask);
    if (result == SQLITE_ROW)
        *level = (uint32_t)sql_number(ask, 0);
    else if (result != SQLITE_DONE)
        frontier_fail(frontier, sql_code(result));
    sqlite3_reset(ask);
    return result == SQLITE_DONE ? VIDI_EABSENT : sql_code(result);
}

/* Removes segments without blocks, but not the last one. */
static int remove_empty(frontier *frontier)
{
    int error = frontier_ready(frontier, FRONTIER_LEVEL);
    if (!error)
        error = frontier_ready(frontier, FRONTIER_SEGMENT_DROP);
    size_t kept = 0;
    for (size_t i = 0; i < frontier->segment_count; i++) {
        uint32_t level;
        int found =
            error || i + 1 == frontier->segment_count ? VIDI_OK : level_of(frontier, &frontier->segments[i], 0, &level);
        if (found == VIDI_EABSENT) {
            sql_bind(frontier->statements[FRONTIER_SEGMENT_DROP], SQL_VALUES(SQL_NUMBER(frontier->segments[i].first)));
            found = sql_run(frontier->statements[FRONTIER_SEGMENT_DROP]);
            if (!found) {
                window_forget(&frontier->segments[i]);
                continue;
            }
            frontier_fail(frontier, found);
        }
        error = error ? error : found;
        frontier->segments[kept++] = frontier->segments[i];
    }
    frontier->segment_count = kept;
    return error;
}

int segments_close(frontier *frontier, segment *last, uint64_t up_to)
{
    int error = frontier_ready(frontier, FRONTIER_SEGMENT_PUT);
    if (error)
        return error;
    sqlite3_stmt *put = frontier->statements[FRONTIER_SEGMENT_PUT];
    sql_bind(put, SQL_VALUES(SQL_NUMBER(last->first), SQL_NUMBER(up_to)));
    error = sql_run(put);
    if (error)
        return frontier_fail(frontier, error);
    last->last = up_to;
    window_forget(last);
    return remove_empty(frontier);
}

/* ---- hosts ---- */

int frontier_host(frontier *frontier, uint32_t level, uint64_t host, uint64_t *found)
{
    int error = frontier_refresh(frontier);
    uint64_t smallest = UINT64_MAX;
    for (size_t i = 0; !error && i < frontier->segment_count; i++) {
        struct window_block *next;
        error = window_find(frontier, &frontier->segments[i], level, (block_key){host, 0}, &next);
        if (!error && next && next->key.host < smallest)
            smallest = next->key.host;
    }
    if (!error && smallest != UINT64_MAX)
        *found = smallest;
    return error || smallest != UINT64_MAX ? error : VIDI_EABSENT;
}

static int lowest_level(frontier *frontier, uint64_t least, uint32_t *level)
{
    int error = frontier_ready(frontier, FRONTIER_LEVEL), found = VIDI_EABSENT;
    for (size_t i = 0; !error && i < frontier->segment_count; i++)
        error = segment_flush(frontier, &frontier->segments[i]);
    if (error)
        return error;
    for (size_t i = 0; i < frontier->segment_count; i++) {
        uint32_t lowest = 0;
        error = level_of(frontier, &frontier->segments[i], least, &lowest);
        if (error && error != VIDI_EABSENT)
            return error;
        if (!error && (found || lowest < *level)) {
            *level = lowest;
            found = VIDI_OK;
        }
    }
    return found;
}

int frontier_level(frontier *frontier, uint32_t *level)
{
    return lowest_level(frontier, 0, level);
}

int frontier_next_level(frontier *frontier, uint32_t after, uint32_t *level)
{
    return lowest_level(frontier, (uint64_t)after + 1, level);
}

/* ---- blocks ---- */

/* `next` is in the window of a segment. */
static int read_block(frontier *frontier, const segment *on, const struct window_block *next, frontier_block *block)
{
    block->host = next->key.host;
    block->number = next->key.number;
    block->level = on->ahead->level;
    int error = block_read(block, (vidi_str){on->ahead->text.ptr + next->at, next->length}, next->count);
    if (error == VIDI_EDAMAGED)
        snprintf(frontier->error, sizeof frontier->error, "a block of URLs is damaged");
    else if (error)
        frontier_fail(frontier, error);
    return error;
}

int frontier_take(frontier *frontier, uint32_t level, uint64_t host, uint64_t after, frontier_block *block)
{
    int error = frontier_refresh(frontier);
    for (size_t i = 0; !error && i < frontier->segment_count; i++) {
        segment *on = &frontier->segments[i];
        struct window_block *next = NULL;
        if (on->last > after)
            error = window_find(frontier, on, level, (block_key){host, after + 1}, &next);
        if (!error && next && next->key.host == host)
            return read_block(frontier, on, next, block);
    }
    return error ? error : VIDI_EABSENT;
}

/* Reads the last block of a segment below the number. VIDI_EABSENT: there is none. */
static int read_newest(frontier *frontier, segment *on, uint32_t level, uint64_t host, uint64_t before,
                       frontier_block *block)
{
    sqlite3_stmt *ask = frontier->statements[FRONTIER_NEWEST];
    int error = segment_flush(frontier, on); /* dropped blocks are still in the table */
    if (error)
        return error;
    sql_bind(ask, SQL_VALUES(SQL_NUMBER(on->first), SQL_NUMBER(level), SQL_NUMBER(host), SQL_NUMBER(before)));
    int result = sqlite3_step(ask);
    block->host = host;
    block->level = level;
    if (result == SQLITE_ROW) {
        block->number = sql_number(ask, 0);
        error = block_read(block, sql_blob(ask, 2), sql_number(ask, 1));
    }
    sqlite3_reset(ask);
    if (error == VIDI_EDAMAGED)
        snprintf(frontier->error, sizeof frontier->error, "a block of URLs is damaged");
    else if (error || sql_code(result))
        frontier_fail(frontier, error = error ? error : sql_code(result));
    return !error && result == SQLITE_DONE ? VIDI_EABSENT : error;
}

int frontier_take_newest(frontier *frontier, uint32_t level, uint64_t host, uint64_t before, frontier_block *block)
{
    int error = frontier_ready(frontier, FRONTIER_NEWEST), found = VIDI_EABSENT;
    for (size_t i = frontier->segment_count; !error && i-- > 0 && found == VIDI_EABSENT;)
        found = frontier->segments[i].first < before
                    ? read_newest(frontier, &frontier->segments[i], level, host, before, block)
                    : VIDI_EABSENT;
    return error ? error : found;
}

static int append_all(bytes *to, const frontier_url *urls, size_t count)
{
    int error = VIDI_OK;
    for (size_t i = 0; i < count && !error; i++)
        error = block_append(to, urls[0].id, i ? &urls[i - 1] : NULL, &urls[i]);
    return error;
}

static int put_into(frontier *frontier, segment *on, uint32_t level, const frontier_url *urls, size_t count)
{
    bytes block = {0};
    int error = segment_flush(frontier, on); /* its dropped range may be where the block belongs */
    if (!error && append_all(&block, urls, count))
        error = frontier_fail(frontier, VIDI_EMEMORY);
    if (!error) {
        window_forget(on);
        sqlite3_stmt *put = frontier->statements[FRONTIER_PUT];
        sql_bind(put, SQL_VALUES(SQL_NUMBER(on->first), SQL_NUMBER(level), SQL_NUMBER(urls[0].host),
                                 SQL_NUMBER(urls[0].id), SQL_NUMBER(count), SQL_BLOB(bytes_str(&block))));
        error = sql_run(put);
        if (error)
            frontier_fail(frontier, error);
    }
    bytes_free(&block);
    return error;
}

int segments_put(frontier *frontier, uint32_t level, const frontier_url *urls, size_t count)
{
    int error = frontier_ready_to_write(frontier, FRONTIER_PUT);
    for (size_t i = 0; !error && i < frontier->segment_count; i++) {
        segment *on = &frontier->segments[i];
        if (on->first <= urls[0].id && urls[0].id <= on->last)
            return frontier_wrote(frontier, put_into(frontier, on, level, urls, count));
    }
    return error;
}

int frontier_drop(frontier *frontier, uint32_t level, uint64_t host, uint64_t number)
{
    int error = frontier_ready_to_write(frontier, FRONTIER_DROP);
    if (error)
        return error;
    for (size_t i = 0; i < frontier->segment_count; i++) {
        segment *on = &frontier->segments[i];
        if (on->first <= number && number <= on->last)
            return frontier_wrote(frontier, window_drop(frontier, on, level, (block_key){host, number}));
    }
    return VIDI_OK; /* dropped before */
}

int frontier_flush(frontier *frontier)
{
    int error = frontier_ready_to_write(frontier, FRONTIER_DROP);
    for (size_t i = 0; !error && i < frontier->segment_count; i++)
        error = segment_flush(frontier, &frontier->segments[i]);
    return error;
}

/* ---- all of it ---- */

static int visit_block(sqlite3_stmt *row, frontier_block *block, int (*visit)(void *context, uint64_t id),
                       void *context)
{
    int stop = 0;
    block->number = sql_number(row, 0);
    int error = block_read(block, sql_blob(row, 2), sql_number(row, 1));
    for (size_t i = 0; !error && !stop && i < block->count; i++)
        stop = visit(context, block->urls[i].id);
    return error ? error : stop;
}

int frontier_queued(frontier *frontier, int (*visit)(void *context, uint64_t id), void *context)
{
    frontier_block *block = calloc(1, sizeof *block);
    int error = block ? frontier_ready(frontier, FRONTIER_QUEUED) : frontier_fail(frontier, VIDI_EMEMORY),
        result = SQLITE_DONE;
    sqlite3_stmt *ask = frontier->statements[FRONTIER_QUEUED];
    while (!error && (result = sqlite3_step(ask)) == SQLITE_ROW)
        error = visit_block(ask, block, visit, context);
    if (!error && sql_code(result))
        error = frontier_fail(frontier, sql_code(result));
    sqlite3_reset(ask);
    if (block)
        bytes_free(&block->text);
    free(block);
    return error;
}
