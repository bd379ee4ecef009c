/*
 * The queue: blocks of hosts, on shelves. See frontier_state.h for what a shelf is.
 *
 * The next host is the smallest among those that the shelves have next. The blocks of a host are on all shelves; those
 * on earlier ones come first, because their ids are smaller.
 */
#include <stdio.h>
#include <stdlib.h>

#include "crawler/base/sql.h"
#include "crawler/frontier/blocks.h"
#include "crawler/frontier/frontier_state.h"

/* ---- shelves ---- */

static int add_shelf(frontier *of, uint64_t first, uint64_t last)
{
    if (of->shelf_count == of->shelf_room) {
        size_t room = of->shelf_room ? 2 * of->shelf_room : 16;
        shelf *grown = realloc(of->shelves, room * sizeof *grown);
        if (!grown)
            return frontier_fail(of, VIDI_EMEMORY);
        of->shelves = grown;
        of->shelf_room = room;
    }
    of->shelves[of->shelf_count++] = (shelf){.first = first, .last = last};
    return VIDI_OK;
}

void shelves_free(frontier *of)
{
    for (size_t i = 0; i < of->shelf_count; i++)
        window_forget(&of->shelves[i]);
    of->shelf_count = 0;
}

int shelves_load(frontier *of)
{
    sqlite3_stmt *ask = of->statements[FRONTIER_SHELVES];
    int error = VIDI_OK, result = SQLITE_DONE;

    shelves_free(of);
    while (!error && (result = sqlite3_step(ask)) == SQLITE_ROW)
        error = add_shelf(of, sql_number(ask, 0), sql_number(ask, 1));
    if (!error && sql_code(result))
        error = frontier_fail(of, sql_code(result));
    sqlite3_reset(ask);
    return error;
}

uint64_t frontier_sorted(const frontier *of)
{
    return of->shelf_count ? of->shelves[of->shelf_count - 1].last : 0;
}

static uint64_t size_of(const shelf *shelf)
{
    return shelf->last - shelf->first + 1;
}

int shelves_open(frontier *of, uint64_t n, shelf **found)
{
    uint64_t most = n > of->shelf_least ? n : of->shelf_least, all = 0;
    for (size_t i = 0; i < of->shelf_count; i++)
        all += size_of(&of->shelves[i]);
    if (most < all / SHELF_SHARE)
        most = all / SHELF_SHARE;
    int error = VIDI_OK;
    if (of->shelf_count == 0 || size_of(&of->shelves[of->shelf_count - 1]) + n > most) {
        uint64_t sorted = frontier_sorted(of);
        error = add_shelf(of, sorted + 1, sorted);
    }
    *found = error ? NULL : &of->shelves[of->shelf_count - 1];
    return error;
}

/* The lowest level of a shelf, from `least` on. VIDI_EABSENT: there is none. */
static int level_of(frontier *of, const shelf *shelf, uint64_t least, uint32_t *level)
{
    sqlite3_stmt *ask = of->statements[FRONTIER_LEVEL];
    sql_bind(ask, 1, shelf->first);
    sql_bind(ask, 2, least);
    int result = sqlite3_step(ask);
    if (result == SQLITE_ROW)
        *level = (uint32_t)sql_number(ask, 0);
    else if (result != SQLITE_DONE)
        frontier_fail(of, sql_code(result));
    sqlite3_reset(ask);
    return result == SQLITE_DONE ? VIDI_EABSENT : sql_code(result);
}

/* Removes shelves without blocks, but not the last one. */
static int remove_empty(frontier *of)
{
    int error = frontier_ready(of, FRONTIER_LEVEL);
    if (!error)
        error = frontier_ready(of, FRONTIER_SHELF_DROP);
    size_t kept = 0;
    for (size_t i = 0; i < of->shelf_count; i++) {
        uint32_t level;
        int found = error || i + 1 == of->shelf_count ? VIDI_OK : level_of(of, &of->shelves[i], 0, &level);
        if (found == VIDI_EABSENT) {
            sql_bind(of->statements[FRONTIER_SHELF_DROP], 1, of->shelves[i].first);
            found = sql_run(of->statements[FRONTIER_SHELF_DROP]);
            if (!found) {
                window_forget(&of->shelves[i]);
                continue;
            }
            frontier_fail(of, found);
        }
        error = error ? error : found;
        of->shelves[kept++] = of->shelves[i];
    }
    of->shelf_count = kept;
    return error;
}

int shelves_close(frontier *of, shelf *last, uint64_t up_to)
{
    int error = frontier_ready(of, FRONTIER_SHELF_PUT);
    if (error)
        return error;
    sqlite3_stmt *put = of->statements[FRONTIER_SHELF_PUT];
    sql_bind(put, 1, last->first);
    sql_bind(put, 2, up_to);
    error = sql_run(put);
    if (error)
        return frontier_fail(of, error);
    last->last = up_to;
    window_forget(last);
    return remove_empty(of);
}

/* ---- hosts ---- */

int frontier_host(frontier *of, uint32_t level, uint64_t host, uint64_t *found)
{
    int error = frontier_refresh(of);
    uint64_t smallest = UINT64_MAX;
    for (size_t i = 0; !error && i < of->shelf_count; i++) {
        struct window_block *next;
        error = window_find(of, &of->shelves[i], level, (block_key){host, 0}, &next);
        if (!error && next && next->key.host < smallest)
            smallest = next->key.host;
    }
    if (!error && smallest != UINT64_MAX)
        *found = smallest;
    return error || smallest != UINT64_MAX ? error : VIDI_EABSENT;
}

static int lowest_level(frontier *of, uint64_t least, uint32_t *level)
{
    int error = frontier_ready(of, FRONTIER_LEVEL), found = VIDI_EABSENT;
    for (size_t i = 0; !error && i < of->shelf_count; i++)
        error = shelf_flush(of, &of->shelves[i]);
    if (error)
        return error;
    for (size_t i = 0; i < of->shelf_count; i++) {
        uint32_t lowest = 0;
        error = level_of(of, &of->shelves[i], least, &lowest);
        if (error && error != VIDI_EABSENT)
            return error;
        if (!error && (found || lowest < *level)) {
            *level = lowest;
            found = VIDI_OK;
        }
    }
    return found;
}

int frontier_level(frontier *of, uint32_t *level)
{
    return lowest_level(of, 0, level);
}

int frontier_next_level(frontier *of, uint32_t after, uint32_t *level)
{
    return lowest_level(of, (uint64_t)after + 1, level);
}

/* ---- blocks ---- */

/* `next` is in the window of a shelf. */
static int read_block(frontier *of, const shelf *on, const struct window_block *next, frontier_block *block)
{
    block->host = next->key.host;
    block->number = next->key.number;
    block->level = on->ahead->level;
    int error = block_read(block, (vidi_str){on->ahead->text.ptr + next->at, next->length}, next->count);
    if (error == VIDI_EDAMAGED)
        snprintf(of->error, sizeof of->error, "a block of URLs is damaged");
    else if (error)
        frontier_fail(of, error);
    return error;
}

int frontier_take(frontier *of, uint32_t level, uint64_t host, uint64_t after, frontier_block *block)
{
    int error = frontier_refresh(of);
    for (size_t i = 0; !error && i < of->shelf_count; i++) {
        shelf *on = &of->shelves[i];
        struct window_block *next = NULL;
        if (on->last > after)
            error = window_find(of, on, level, (block_key){host, after + 1}, &next);
        if (!error && next && next->key.host == host)
            return read_block(of, on, next, block);
    }
    return error ? error : VIDI_EABSENT;
}

int frontier_drop(frontier *of, uint32_t level, uint64_t host, uint64_t number)
{
    int error = frontier_ready_to_write(of, FRONTIER_DROP);
    if (error)
        return error;
    for (size_t i = 0; i < of->shelf_count; i++) {
        shelf *on = &of->shelves[i];
        if (on->first <= number && number <= on->last)
            return frontier_wrote(of, window_drop(of, on, level, (block_key){host, number}));
    }
    return VIDI_OK; /* dropped before */
}

int frontier_flush(frontier *of)
{
    int error = frontier_ready_to_write(of, FRONTIER_DROP);
    for (size_t i = 0; !error && i < of->shelf_count; i++)
        error = shelf_flush(of, &of->shelves[i]);
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

int frontier_queued(frontier *of, int (*visit)(void *context, uint64_t id), void *context)
{
    frontier_block *block = calloc(1, sizeof *block);
    int error = block ? frontier_ready(of, FRONTIER_QUEUED) : frontier_fail(of, VIDI_EMEMORY), result = SQLITE_DONE;
    sqlite3_stmt *ask = of->statements[FRONTIER_QUEUED];
    while (!error && (result = sqlite3_step(ask)) == SQLITE_ROW)
        error = visit_block(ask, block, visit, context);
    if (!error && sql_code(result))
        error = frontier_fail(of, sql_code(result));
    sqlite3_reset(ask);
    if (block)
        bytes_free(&block->text);
    free(block);
    return error;
}
