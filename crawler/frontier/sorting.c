/*
 * Puts URLs that were appended into blocks of their hosts: see frontier.h.
 *
 * The rows are read in the order of their ids into one piece of memory; what is sorted is their places, by level and
 * host. Places are ascending with the ids, so that the URLs of a host stay in the order in which they were found. Then
 * the blocks are written in ascending order of their keys: every page of the table is touched once.
 */
#include <stdlib.h>

#include "crawler/base/list.h"
#include "crawler/base/sql.h"
#include "crawler/frontier/frontier_blocks.h"
#include "crawler/frontier/frontier_state.h"

/* What one sort holds in memory at most; more URLs are sorted in several. */
enum { SORT_BYTES = 64 << 20, SORT_URLS = 1 << 20 };
enum { LOOK_AHEAD = 8 }; /* records are prefetched this many places before they are needed */

typedef struct place {
    uint64_t host;
    uint32_t level, at; /* where the record begins */
} place;

typedef struct sorting {
    bytes records;
    place *places;
    size_t count, room;
    uint64_t last; /* id */
    bytes block;
} sorting;

static void free_sorting(sorting *sorting)
{
    bytes_free(&sorting->records);
    bytes_free(&sorting->block);
    free(sorting->places);
}

/* ---- reading ---- */

static int add_place(sorting *to, const frontier_url *url, uint32_t level)
{
    if (list_reserve(&to->places, &to->room, to->count + 1) != VIDI_OK)
        return VIDI_EMEMORY;
    to->places[to->count++] = (place){.host = url->host, .level = level, .at = (uint32_t)to->records.len};
    return record_append(&to->records, url);
}

static frontier_url url_of(sqlite3_stmt *row)
{
    return (frontier_url){.id = sql_number(row, 0),
                          .url = sql_blob(row, 1),
                          .host = sql_number(row, 2),
                          .depth = (uint32_t)sql_number(row, 3),
                          .hops = (uint32_t)sql_number(row, 4),
                          .kind = (frontier_kind)sql_number(row, 5),
                          .referrer = sql_number(row, 6)};
}

/* Reads up to `most` of the rows that are not sorted yet. */
static int gather(frontier *frontier, uint64_t most, sorting *to)
{
    int error = frontier_ready(frontier, FRONTIER_UNSORTED), result = SQLITE_DONE;
    if (error)
        return error;
    sqlite3_stmt *ask = frontier->statements[FRONTIER_UNSORTED];
    sql_bind(ask, SQL_VALUES(SQL_NUMBER(frontier_sorted(frontier))));
    while (!error && to->count < most && to->count < SORT_URLS && to->records.len < SORT_BYTES &&
           (result = sqlite3_step(ask)) == SQLITE_ROW) {
        frontier_url url = url_of(ask);
        uint32_t level = frontier->by_level ? url.depth : 0;
        error = frontier->sites ? sites_file(frontier, &url, &level) : VIDI_OK;
        if (!error)
            error = add_place(to, &url, level);
        to->last = url.id;
    }
    error = error ? error : sql_code(result);
    if (error)
        frontier_fail(frontier, error);
    sqlite3_reset(ask);
    return error;
}

static int compare(const void *a, const void *b)
{
    const place *x = a, *y = b;
    if (x->level != y->level)
        return x->level < y->level ? -1 : 1;
    if (x->host != y->host)
        return x->host < y->host ? -1 : 1;
    return x->at < y->at ? -1 : x->at > y->at;
}

/* ---- writing ---- */

static int put_block(frontier *frontier, uint64_t segment, const place *host, uint64_t number, size_t count,
                     const bytes *urls)
{
    sqlite3_stmt *put = frontier->statements[FRONTIER_PUT];
    sql_bind(put, SQL_VALUES(SQL_NUMBER(segment), SQL_NUMBER(host->level), SQL_NUMBER(host->host), SQL_NUMBER(number),
                             SQL_NUMBER(count), SQL_BLOB(bytes_str(urls))));
    int error = sql_run(put);
    return error ? frontier_fail(frontier, error) : VIDI_OK;
}

/* Makes one block from the places at `from`, which are of the same host; *taken tells how many URLs it has. */
static int make_block(frontier *frontier, uint64_t segment, sorting *from, const place *places, size_t n, size_t *taken)
{
    frontier_url urls[2];
    uint64_t number = 0;
    size_t count = 0;

    from->block.len = 0;
    while (count < n && count < FRONTIER_BLOCK) {
        frontier_url *url = &urls[count % 2], *before = count ? &urls[(count + 1) % 2] : NULL;
        size_t length = from->block.len;
        if (places + count + LOOK_AHEAD < from->places + from->count)
            __builtin_prefetch(from->records.ptr + places[count + LOOK_AHEAD].at);
        record_read(from->records.ptr + places[count].at, url);
        if (!before)
            number = url->id;
        if (block_append(&from->block, number, before, url))
            return frontier_fail(frontier, VIDI_EMEMORY);
        if (before && from->block.len > frontier->block_bytes) {
            from->block.len = length;
            break;
        }
        count++;
    }
    *taken = count;
    return put_block(frontier, segment, places, number, count, &from->block);
}

static int put_host(frontier *frontier, uint64_t segment, sorting *from, const place *places, size_t n)
{
    size_t taken = 0;
    for (size_t done = 0; done < n; done += taken) {
        int error = make_block(frontier, segment, from, places + done, n - done, &taken);
        if (error)
            return error;
    }
    return VIDI_OK;
}

static int put_all(frontier *frontier, uint64_t segment, sorting *from)
{
    int error = frontier_ready(frontier, FRONTIER_PUT);
    for (size_t i = 0, n; !error && i < from->count; i += n) {
        const place *host = &from->places[i];
        n = 1;
        while (i + n < from->count && host[n].host == host->host && host[n].level == host->level)
            n++;
        error = put_host(frontier, segment, from, host, n);
    }
    return error;
}

/* ---- */

static int sort_some(frontier *frontier, uint64_t most, uint64_t *done)
{
    sorting some = {0};
    segment *to = NULL;
    int error = gather(frontier, most, &some);
    if (!error && some.count) {
        qsort(some.places, some.count, sizeof *some.places, compare);
        error = segments_open(frontier, some.count, &to);
        if (!error)
            error = put_all(frontier, to->first, &some);
        if (!error)
            error = segments_close(frontier, to, some.last);
    }
    *done = some.count;
    free_sorting(&some);
    return error;
}

int frontier_sort(frontier *frontier, uint64_t most)
{
    int error = frontier_flush(frontier);
    for (uint64_t done = 1; !error && done && most && frontier_unsorted(frontier); most -= done)
        error = frontier_wrote(frontier, sort_some(frontier, most, &done));
    return error;
}
