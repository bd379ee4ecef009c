/*
 * Reads blocks ahead, and drops many at once: see frontier_state.h.
 *
 * With a million hosts most blocks have one or two URLs, and a statement for each would take longer than all the rest.
 * A window has some 64 of them. A drop is noted in the window; the range of blocks that are dropped one after the
 * other grows, and one statement removes it, at the latest before the commit.
 */
#include <stdlib.h>

#include "crawler/base/sql.h"
#include "crawler/frontier/frontier_state.h"

static bool before(block_key a, block_key b)
{
    return a.host < b.host || (a.host == b.host && a.number < b.number);
}

static block_key next_key(block_key key)
{
    return (block_key){key.host, key.number + 1};
}

static bool covers(const window *window, uint32_t level, block_key key)
{
    return window && window->known && window->level == level && !before(key, window->from) && before(key, window->end);
}

/* ---- the table ---- */

static int delete_range(frontier *frontier, const segment *on, uint32_t level, block_key from, block_key end)
{
    int error = frontier_ready(frontier, FRONTIER_DROP);
    if (error)
        return error;
    sqlite3_stmt *drop = frontier->statements[FRONTIER_DROP];
    sql_bind(drop, SQL_VALUES(SQL_NUMBER(on->first), SQL_NUMBER(level), SQL_NUMBER(from.host), SQL_NUMBER(from.number),
                              SQL_NUMBER(end.host), SQL_NUMBER(end.number)));
    error = sql_run(drop);
    return error ? frontier_fail(frontier, error) : VIDI_OK;
}

int segment_flush(frontier *frontier, segment *on)
{
    if (!on->dropped.any)
        return VIDI_OK;
    on->dropped.any = false;
    return frontier_wrote(frontier, delete_range(frontier, on, on->dropped.level, on->dropped.from, on->dropped.end));
}

/* Adds the row that a statement stands on. */
static int add_row(window *to, sqlite3_stmt *row)
{
    vidi_str urls = sql_blob(row, 3);
    to->blocks[to->count++] = (struct window_block){.key = {sql_number(row, 0), sql_number(row, 1)},
                                                    .count = (uint32_t)sql_number(row, 2),
                                                    .at = to->text.len,
                                                    .length = urls.len};
    return bytes_append_str(&to->text, urls);
}

static int read_rows(frontier *frontier, window *to, sqlite3_stmt *ask)
{
    int error = VIDI_OK, result = SQLITE_ROW;
    while (!error && to->count < WINDOW_BLOCKS && to->text.len < WINDOW_BYTES &&
           (result = sqlite3_step(ask)) == SQLITE_ROW)
        error = add_row(to, ask);
    error = error ? error : sql_code(result);
    if (error)
        return frontier_fail(frontier, error);
    to->end = result == SQLITE_DONE ? KEY_END : next_key(to->blocks[to->count - 1].key);
    to->known = true;
    return VIDI_OK;
}

/* Reads the blocks from the key on. */
static int load(frontier *frontier, segment *on, uint32_t level, block_key key)
{
    const dropped_range *dropped = &on->dropped;
    int error = VIDI_OK;
    if (dropped->any && (dropped->level != level || before(key, dropped->end)))
        error = segment_flush(frontier, on);
    if (!error)
        error = frontier_ready(frontier, FRONTIER_AHEAD);
    if (error)
        return error;
    if (!on->ahead && !(on->ahead = calloc(1, sizeof *on->ahead)))
        return frontier_fail(frontier, VIDI_EMEMORY);
    window *to = on->ahead;
    to->known = false;
    to->level = level;
    to->from = key;
    to->count = to->live = to->text.len = 0;
    sqlite3_stmt *ask = frontier->statements[FRONTIER_AHEAD];
    sql_bind(ask, SQL_VALUES(SQL_NUMBER(on->first), SQL_NUMBER(level), SQL_NUMBER(key.host), SQL_NUMBER(key.number)));
    error = read_rows(frontier, to, ask);
    sqlite3_reset(ask);
    return error;
}

/* ---- in memory ---- */

void window_forget(segment *on)
{
    if (on->ahead)
        bytes_free(&on->ahead->text);
    free(on->ahead);
    on->ahead = NULL;
}

/* The place of the first block at or after the key, dropped or not. */
static size_t place_of(const window *in, block_key key)
{
    size_t low = in->live, high = in->count;
    if (low < high && !before(in->blocks[low].key, key))
        return low;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (before(in->blocks[middle].key, key))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

int window_find(frontier *frontier, segment *on, uint32_t level, block_key key, struct window_block **found)
{
    block_key asked = key;
    *found = NULL;
    while (before(key, KEY_END)) {
        if (!covers(on->ahead, level, key)) {
            int error = load(frontier, on, level, key);
            if (error)
                return error;
            on->ahead->from = asked; /* nothing was found between the two */
        }
        window *in = on->ahead;
        size_t i = place_of(in, key);
        while (i < in->count && in->blocks[i].dropped)
            i++;
        if (i < in->count) {
            *found = &in->blocks[i];
            return VIDI_OK;
        }
        key = in->end;
    }
    return VIDI_OK;
}

/* Everything around a dropped block that is gone, too, joins the range that the segment remembers. */
static int extend_range(frontier *frontier, segment *on, size_t i)
{
    window *in = on->ahead;
    size_t low = i, high = i + 1;
    while (low > in->live && in->blocks[low - 1].dropped)
        low--;
    while (high < in->count && in->blocks[high].dropped)
        high++;
    block_key from = low > in->live ? next_key(in->blocks[low - 1].key) : in->from;
    block_key end = high < in->count ? in->blocks[high].key : in->end;
    if (low == in->live)
        in->live = high;

    dropped_range *range = &on->dropped;
    if (range->any && (before(range->end, from) || before(end, range->from))) {
        int error = segment_flush(frontier, on);
        if (error)
            return error;
    }
    if (range->any && before(range->from, from))
        from = range->from;
    if (range->any && before(end, range->end))
        end = range->end;
    *range = (dropped_range){.any = true, .level = in->level, .from = from, .end = end};
    return VIDI_OK;
}

int window_drop(frontier *frontier, segment *on, uint32_t level, block_key key)
{
    window *in = on->ahead;
    size_t i = covers(in, level, key) ? place_of(in, key) : 0;
    if (!covers(in, level, key))
        return delete_range(frontier, on, level, key, next_key(key));
    bool found = i < in->count && in->blocks[i].key.host == key.host && in->blocks[i].key.number == key.number;
    if (!found || in->blocks[i].dropped)
        return VIDI_OK; /* dropped before */
    in->blocks[i].dropped = true;
    return extend_range(frontier, on, i);
}
