/*
 * The queue: blocks of hosts, on shelves. See frontier_state.h for what a shelf is.
 *
 * The next host is the smallest among those that the shelves have next. Each shelf remembers what it has found last
 * (shelf_gap), so that going through all hosts in order takes one look at the table for each shelf that has the host, not
 * one for each shelf there is.
 */
#include <stdlib.h>

#include "crawler/base/sql.h"
#include "crawler/frontier/blocks.h"
#include "crawler/frontier/frontier_state.h"

/* A sort goes to the last shelf until that has so many URLs, or a sixteenth of all: so there are few shelves. */
enum { SHELF_LEAST = 65536, SHELF_SHARE = 16 };

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

int shelves_load(frontier *of)
{
    sqlite3_stmt *ask = of->statements[FRONTIER_SHELVES];
    int error = VIDI_OK, result = SQLITE_DONE;

    of->shelf_count = 0;
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
    uint64_t most = n > SHELF_LEAST ? n : SHELF_LEAST, all = 0;
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
            if (found)
                frontier_fail(of, found);
            else
                continue;
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
    last->gap.known = false;
    return remove_empty(of);
}

/* ---- hosts ---- */

static bool gap_has(const shelf_gap *gap, uint32_t level, uint64_t host)
{
    return gap->known && gap->level == level && gap->from <= host && host <= gap->next;
}

/* Looks for the first host at or after `host` on one shelf, and remembers it. */
static int look(frontier *of, shelf *on, uint32_t level, uint64_t host)
{
    sqlite3_stmt *ask = of->statements[FRONTIER_HOST];
    sql_bind(ask, 1, on->first);
    sql_bind(ask, 2, level);
    sql_bind(ask, 3, host);
    int result = sqlite3_step(ask);
    uint64_t next = result == SQLITE_ROW ? sql_number(ask, 0) : NO_HOST;
    if (sql_code(result))
        frontier_fail(of, sql_code(result));
    sqlite3_reset(ask);
    on->gap = (shelf_gap){.level = level, .known = sql_code(result) == VIDI_OK, .from = host, .next = next};
    return sql_code(result);
}

/* The shelf whose next host is the smallest; `looked` tells whether that host was seen in the table just now. */
static int smallest(frontier *of, uint32_t level, uint64_t host, shelf **found, bool *looked)
{
    *found = NULL;
    for (size_t i = 0; i < of->shelf_count; i++) {
        shelf *on = &of->shelves[i];
        bool known = gap_has(&on->gap, level, host);
        int error = known ? VIDI_OK : look(of, on, level, host);
        if (error)
            return error;
        if (!*found || on->gap.next < (*found)->gap.next || (on->gap.next == (*found)->gap.next && !known)) {
            *found = on;
            *looked = !known;
        }
    }
    return VIDI_OK;
}

int frontier_host(frontier *of, uint32_t level, uint64_t host, uint64_t *found)
{
    int error = frontier_ready(of, FRONTIER_HOST);
    if (error)
        return error;
    for (;;) {
        shelf *on;
        bool looked = false;
        error = smallest(of, level, host, &on, &looked);
        if (error)
            return error;
        if (!on || on->gap.next == NO_HOST)
            return VIDI_EABSENT;
        uint64_t next = on->gap.next;
        if (!looked) { /* its blocks may have been dropped since */
            uint64_t from = on->gap.from;
            error = look(of, on, level, next);
            if (error)
                return error;
            on->gap.from = from;
        }
        if (on->gap.next == next) {
            *found = next;
            return VIDI_OK;
        }
    }
}

static int lowest_level(frontier *of, uint64_t least, uint32_t *level)
{
    int error = frontier_ready(of, FRONTIER_LEVEL), found = VIDI_EABSENT;
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

static int take_from(frontier *of, const shelf *on, uint32_t level, uint64_t host, uint64_t after,
                     frontier_block *block)
{
    sqlite3_stmt *ask = of->statements[FRONTIER_TAKE];
    sql_bind(ask, 1, on->first);
    sql_bind(ask, 2, level);
    sql_bind(ask, 3, host);
    sql_bind(ask, 4, after);
    int result = sqlite3_step(ask), error = result == SQLITE_DONE ? VIDI_EABSENT : sql_code(result);
    if (result == SQLITE_ROW) {
        block->host = host;
        block->level = level;
        block->number = sql_number(ask, 0);
        error = block_read(block, sql_blob(ask, 2), sql_number(ask, 1));
    }
    if (error && error != VIDI_EABSENT)
        frontier_fail(of, error);
    sqlite3_reset(ask);
    return error;
}

int frontier_take(frontier *of, uint32_t level, uint64_t host, uint64_t after, frontier_block *block)
{
    int error = frontier_ready(of, FRONTIER_TAKE);
    if (error)
        return error;
    for (size_t i = 0; i < of->shelf_count; i++) {
        const shelf *on = &of->shelves[i];
        bool nothing = on->last <= after || (gap_has(&on->gap, level, host) && on->gap.next != host);
        error = nothing ? VIDI_EABSENT : take_from(of, on, level, host, after, block);
        if (error != VIDI_EABSENT)
            return error;
    }
    return VIDI_EABSENT;
}

int frontier_drop(frontier *of, uint32_t level, uint64_t host, uint64_t number)
{
    int error = frontier_ready_to_write(of, FRONTIER_DROP);
    if (error)
        return error;
    sqlite3_stmt *drop = of->statements[FRONTIER_DROP];
    for (size_t i = 0; i < of->shelf_count; i++)
        if (of->shelves[i].first <= number && number <= of->shelves[i].last) {
            sql_bind(drop, 1, of->shelves[i].first);
            sql_bind(drop, 2, level);
            sql_bind(drop, 3, host);
            sql_bind(drop, 4, number);
            error = sql_run(drop);
            return frontier_wrote(of, error ? frontier_fail(of, error) : VIDI_OK);
        }
    return VIDI_OK; /* dropped before */
}
