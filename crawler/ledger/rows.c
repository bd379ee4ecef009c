/*
 * The rows of the ledger's tables: see ledger.h.
 */
#include <stdio.h>

#include "crawler/base/sql.h"
#include "crawler/ledger/ledger_state.h"

/* ---- meta ---- */

/* Steps to the entry. VIDI_OK: its statement stands on it. The caller resets it, also after errors. */
static int find_meta(ledger *of, const char *name)
{
    int error = ledger_ready(of, LEDGER_GET);
    if (error)
        return error;
    sqlite3_stmt *ask = of->statements[LEDGER_GET];
    sql_bind_string(ask, 1, name);
    int result = sqlite3_step(ask);
    if (sql_code(result))
        return ledger_fail(of, sql_code(result));
    return result == SQLITE_ROW ? VIDI_OK : VIDI_EABSENT;
}

int ledger_get(ledger *of, const char *name, int64_t *value)
{
    int error = find_meta(of, name);
    if (!error)
        *value = sqlite3_column_int64(of->statements[LEDGER_GET], 0);
    sqlite3_reset(of->statements[LEDGER_GET]);
    return error;
}

int ledger_get_text(ledger *of, const char *name, bytes *value)
{
    int error = find_meta(of, name);
    if (!error && bytes_append_str(value, sql_blob(of->statements[LEDGER_GET], 0)))
        error = ledger_fail(of, VIDI_EMEMORY);
    sqlite3_reset(of->statements[LEDGER_GET]);
    return error;
}

int ledger_set(ledger *of, const char *name, int64_t value)
{
    int error = ledger_ready_to_write(of, LEDGER_SET);
    if (error)
        return error;
    sql_bind_string(of->statements[LEDGER_SET], 1, name);
    sqlite3_bind_int64(of->statements[LEDGER_SET], 2, value);
    return ledger_write(of, LEDGER_SET);
}

int ledger_set_text(ledger *of, const char *name, vidi_str value)
{
    int error = ledger_ready_to_write(of, LEDGER_SET);
    if (error)
        return error;
    sql_bind_string(of->statements[LEDGER_SET], 1, name);
    sql_bind_text(of->statements[LEDGER_SET], 2, value);
    return ledger_write(of, LEDGER_SET);
}

/* ---- outcomes ---- */

static void bind_outcome(sqlite3_stmt *add, const ledger_outcome *outcome)
{
    sql_bind(add, 1, outcome->id);
    sqlite3_bind_int(add, 2, outcome->status);
    sql_bind_string(add, 3, outcome->reason);
    sql_bind_string(add, 4, outcome->error);
    sql_bind_text(add, 5, outcome->type);
    sql_bind(add, 6, outcome->bytes);
    sql_bind_string(add, 7, outcome->digest);
    sqlite3_bind_int64(add, 8, outcome->date);
    sqlite3_bind_double(add, 9, outcome->seconds);
    sql_bind_text(add, 10, outcome->redirect);
    sql_bind(add, 11, outcome->links);
    sql_bind_string(add, 12, outcome->file);
    if (outcome->file) {
        sql_bind(add, 13, outcome->offset);
        sql_bind(add, 14, outcome->length);
    } else {
        sqlite3_bind_null(add, 13);
        sqlite3_bind_null(add, 14);
    }
}

int ledger_outcome_add(ledger *of, const ledger_outcome *outcome)
{
    int error = ledger_ready_to_write(of, LEDGER_OUTCOME_ADD);
    if (error)
        return error;
    if (outcome->id == 0 || outcome->id > frontier_last(of->urls)) {
        snprintf(of->error, sizeof of->error, "an outcome for a URL that is not in the table");
        return VIDI_EARGUMENT;
    }
    bind_outcome(of->statements[LEDGER_OUTCOME_ADD], outcome);
    error = ledger_write(of, LEDGER_OUTCOME_ADD);
    if (error)
        return error;
    if (sqlite3_changes(of->db) == 0)
        return VIDI_EEXIST;
    of->totals.fetched += outcome->reason == NULL;
    of->totals.failed += outcome->reason != NULL;
    of->totals.bytes += outcome->bytes;
    of->totals.archived += outcome->file != NULL;
    of->totals_changed = true;
    return VIDI_OK;
}

int ledger_is_done(ledger *of, uint64_t id)
{
    int error = ledger_ready(of, LEDGER_OUTCOME_HAS);
    if (error)
        return error;
    sqlite3_stmt *ask = of->statements[LEDGER_OUTCOME_HAS];
    sql_bind(ask, 1, id);
    int result = sqlite3_step(ask);
    error = sql_code(result);
    if (error)
        ledger_fail(of, error);
    sqlite3_reset(ask);
    return error ? error : result == SQLITE_ROW;
}

/* ---- hosts ---- */

/* Appends a text and a zero byte; *at is where it begins, because the memory may still move. */
static int keep(bytes *in, vidi_str text, size_t *at)
{
    *at = in->len;
    int error = bytes_append_str(in, text);
    return error ? error : bytes_append(in, "", 1);
}

/* Reads robots.txt of the host behind the other texts. */
static int read_robots(ledger *of, ledger_host *host, size_t *at)
{
    int error = ledger_ready(of, LEDGER_ROBOTS_READ);
    if (error)
        return error;
    sqlite3_stmt *ask = of->statements[LEDGER_ROBOTS_READ];
    sql_bind(ask, 1, host->id);
    int result = sqlite3_step(ask);
    error = sql_code(result);
    if (result == SQLITE_ROW) {
        host->robots = sql_blob(ask, 0);
        error = keep(&of->host, host->robots, at);
    }
    if (error)
        ledger_fail(of, error);
    sqlite3_reset(ask);
    return error;
}

static int read_host(ledger *of, uint64_t id, ledger_host *host, size_t at[2])
{
    sqlite3_stmt *ask = of->statements[LEDGER_HOST_READ];
    sql_bind(ask, 1, id);
    int result = sqlite3_step(ask), error = result == SQLITE_DONE ? VIDI_EABSENT : sql_code(result);
    if (!error) {
        *host = (ledger_host){.id = id,
                              .origin = sql_blob(ask, 0),
                              .pages = sql_number(ask, 1),
                              .not_before = sqlite3_column_int64(ask, 2),
                              .parked = sql_blob(ask, 3).ptr,
                              .robots_outcome = sqlite3_column_int(ask, 4),
                              .robots_date = sqlite3_column_int64(ask, 5),
                              .robots_reached = sqlite3_column_int64(ask, 6)};
        of->host.len = 0;
        error = keep(&of->host, host->origin, &at[0]);
        if (!error && host->parked)
            error = keep(&of->host, sql_blob(ask, 3), &at[1]);
    }
    if (error && error != VIDI_EABSENT)
        ledger_fail(of, error);
    sqlite3_reset(ask);
    return error;
}

int ledger_host_read(ledger *of, uint64_t id, ledger_host *host)
{
    size_t at[2] = {0}, robots = 0;
    int error = ledger_ready(of, LEDGER_HOST_READ);
    if (!error)
        error = read_host(of, id, host, at);
    if (!error)
        error = read_robots(of, host, &robots);
    if (error)
        return error;
    host->origin.ptr = of->host.ptr + at[0];
    if (host->parked)
        host->parked = of->host.ptr + at[1];
    if (host->robots.ptr)
        host->robots.ptr = of->host.ptr + robots;
    return VIDI_OK;
}

static void bind_host(sqlite3_stmt *statement, const ledger_host *host)
{
    sql_bind(statement, 1, host->id);
    sql_bind_text(statement, 2, host->origin);
    sql_bind(statement, 3, host->pages);
    sqlite3_bind_int64(statement, 4, host->not_before);
    sql_bind_string(statement, 5, host->parked);
    sqlite3_bind_int(statement, 6, host->robots_outcome);
    sqlite3_bind_int64(statement, 7, host->robots_date);
    sqlite3_bind_int64(statement, 8, host->robots_reached);
}

static int write_robots(ledger *of, const ledger_host *host)
{
    int error = host->robots.ptr ? ledger_ready_to_write(of, LEDGER_ROBOTS_WRITE) : VIDI_OK;
    if (error || !host->robots.ptr)
        return error;
    sql_bind(of->statements[LEDGER_ROBOTS_WRITE], 1, host->id);
    sql_bind_blob(of->statements[LEDGER_ROBOTS_WRITE], 2, host->robots);
    return ledger_write(of, LEDGER_ROBOTS_WRITE);
}

int ledger_host_write(ledger *of, const ledger_host *host)
{
    int error = ledger_ready_to_write(of, LEDGER_HOST_CHANGE);
    if (error)
        return error;
    bind_host(of->statements[LEDGER_HOST_CHANGE], host);
    error = ledger_write(of, LEDGER_HOST_CHANGE);
    if (!error && sqlite3_changes(of->db) == 0) {
        error = ledger_ready_to_write(of, LEDGER_HOST_ADD);
        if (error)
            return error;
        bind_host(of->statements[LEDGER_HOST_ADD], host);
        error = ledger_write(of, LEDGER_HOST_ADD);
        of->totals.hosts += error == VIDI_OK;
        of->totals_changed = true;
    }
    return error ? error : write_robots(of, host);
}

int ledger_host_pages(ledger *of, uint64_t id, uint64_t pages)
{
    int error = ledger_ready_to_write(of, LEDGER_HOST_PAGES);
    if (error)
        return error;
    sql_bind(of->statements[LEDGER_HOST_PAGES], 1, id);
    sql_bind(of->statements[LEDGER_HOST_PAGES], 2, pages);
    error = ledger_write(of, LEDGER_HOST_PAGES);
    return error || sqlite3_changes(of->db) ? error : VIDI_EABSENT;
}

/* ---- the rest ---- */

int ledger_seed(ledger *of, vidi_str url)
{
    int error = ledger_ready_to_write(of, LEDGER_SEED);
    if (error)
        return error;
    sql_bind_text(of->statements[LEDGER_SEED], 1, url);
    error = ledger_write(of, LEDGER_SEED);
    return error ? error : sqlite3_changes(of->db) > 0;
}

int ledger_seeds_again(ledger *of, frontier_visit *visit, void *context)
{
    int result = SQLITE_DONE, stop = 0, error = ledger_ready_to_write(of, LEDGER_SEEDS_FAILED);
    if (!error)
        error = ledger_ready_to_write(of, LEDGER_SEEDS_AGAIN);
    if (error)
        return error;
    sqlite3_stmt *ask = of->statements[LEDGER_SEEDS_FAILED];
    sql_bind(ask, 1, FRONTIER_SEED);
    while (!stop && (result = sqlite3_step(ask)) == SQLITE_ROW)
        stop = visit(context, sql_number(ask, 0), sql_blob(ask, 1));
    error = sql_code(result);
    if (error)
        ledger_fail(of, error);
    sqlite3_reset(ask);
    if (stop || error)
        return stop ? stop : error;
    sql_bind(of->statements[LEDGER_SEEDS_AGAIN], 1, FRONTIER_SEED);
    return ledger_write(of, LEDGER_SEEDS_AGAIN);
}

int ledger_skip(ledger *of, const char *reason, uint64_t links)
{
    int error = links ? ledger_ready_to_write(of, LEDGER_SKIP) : VIDI_OK;
    if (error || links == 0)
        return error;
    sql_bind_string(of->statements[LEDGER_SKIP], 1, reason);
    sql_bind(of->statements[LEDGER_SKIP], 2, links);
    return ledger_write(of, LEDGER_SKIP);
}

int ledger_edge(ledger *of, uint64_t target, uint64_t page, vidi_str text)
{
    int error = ledger_ready_to_write(of, LEDGER_EDGE);
    if (error)
        return error;
    sql_bind(of->statements[LEDGER_EDGE], 1, target);
    sql_bind(of->statements[LEDGER_EDGE], 2, page);
    sql_bind_text(of->statements[LEDGER_EDGE], 3, text);
    return ledger_write(of, LEDGER_EDGE);
}

int ledger_path(ledger *of, uint64_t path, uint64_t *count)
{
    int error = ledger_ready_to_write(of, LEDGER_PATH);
    if (error)
        return error;
    sqlite3_stmt *add = of->statements[LEDGER_PATH];
    sql_bind(add, 1, path);
    int result = sqlite3_step(add);
    if (result == SQLITE_ROW) {
        *count = sql_number(add, 0);
        result = sqlite3_step(add); /* the change is complete when the last row has been given */
    }
    error = sql_code(result);
    if (error)
        of->spoiled = ledger_fail(of, error);
    sqlite3_reset(add);
    return error;
}

/* ---- reports ---- */

static int visit_counts(ledger *of, enum ledger_statement which, ledger_visit_count *visit, void *context)
{
    int error = ledger_ready(of, which), result = SQLITE_DONE, stop = 0;
    if (error)
        return error;
    sqlite3_stmt *ask = of->statements[which];
    while (!stop && (result = sqlite3_step(ask)) == SQLITE_ROW) {
        const char *reason = sql_text(ask, 0).ptr;
        if (!reason)
            break;
        stop = visit(context, reason, sql_number(ask, 1));
    }
    error = result == SQLITE_ROW && !stop ? VIDI_EMEMORY : sql_code(result);
    if (error)
        ledger_fail(of, error);
    sqlite3_reset(ask);
    return stop ? stop : error;
}

int ledger_reasons(ledger *of, ledger_visit_count *visit, void *context)
{
    return visit_counts(of, LEDGER_REASONS, visit, context);
}

int ledger_skipped(ledger *of, ledger_visit_count *visit, void *context)
{
    return visit_counts(of, LEDGER_SKIPPED, visit, context);
}
