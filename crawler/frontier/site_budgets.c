/*
 * Budgets of sites: see site_budgets.h. The statements are in frontier.c.
 */
#include "crawler/frontier/site_budgets.h"

#include <stdlib.h>
#include <string.h>

#include "crawler/base/sql.h"
#include "crawler/frontier/frontier_state.h"

enum { HOSTS = 4096, PAIRS = 1 << 16, FARM_FIRST = 1, FARM_CUT = 2 };

struct sites {
    site_budgets budgets;
    bool counted;
    uint64_t count; /* if counted: sites that have a number */
    struct {
        uint64_t host, site;
    } hosts[HOSTS];        /* of URLs that were filed lately, by their keys */
    uint64_t pairs[PAIRS]; /* pairs that are in the table, mixed into one number, by that number */
};

void sites_forget(frontier *frontier)
{
    struct sites *sites = frontier->sites;

    if (!sites)
        return;
    sites->counted = false;
    memset(sites->hosts, 0, sizeof sites->hosts);
    memset(sites->pairs, 0, sizeof sites->pairs);
}

/* ---- statements ---- */

/* The first row of a question of one value. VIDI_EABSENT: there is none. */
static int ask_once(frontier *frontier, const char *question, uint64_t *value)
{
    sqlite3_stmt *ask = NULL;
    int error = sql_prepare(frontier->db, &ask, question), result = error ? SQLITE_DONE : sqlite3_step(ask);

    if (result == SQLITE_ROW)
        *value = sql_number(ask, 0);
    else if (!error)
        error = result == SQLITE_DONE ? VIDI_EABSENT : sql_code(result);
    sqlite3_finalize(ask);
    return error && error != VIDI_EABSENT ? frontier_fail(frontier, error) : error;
}

/* Runs a statement that changes something, and gives what it returns, if it returns two numbers or one. */
static int change(frontier *frontier, enum frontier_statement which, const sql_value *values, int count,
                  uint64_t *first, uint64_t *second)
{
    int error = frontier_ready_to_write(frontier, which);
    if (error)
        return error;
    sqlite3_stmt *run = frontier->statements[which];
    sql_bind(run, values, count);
    int result = sqlite3_step(run);
    if (result == SQLITE_ROW) {
        *first = sql_number(run, 0);
        if (second)
            *second = sql_number(run, 1);
        result = sqlite3_step(run);
    }
    sqlite3_reset(run);
    error = sql_code(result);
    return error ? frontier_wrote(frontier, frontier_fail(frontier, error)) : VIDI_OK;
}
#define CHANGE(frontier, which, first, second, ...) change(frontier, which, SQL_VALUES(__VA_ARGS__), first, second)

/* ?4, ?5 and ?6 of the statements. */
#define LIMITS(budgets) SQL_NUMBER((budgets)->least), SQL_NUMBER((budgets)->most), SQL_NUMBER((budgets)->max_sites)

/* ---- beginning ---- */

int sites_are_known(frontier *frontier)
{
    uint64_t one = 0;
    int error = ask_once(frontier, "SELECT 1 FROM sites LIMIT 1", &one);

    return error == VIDI_EABSENT ? 0 : error ? error : 1;
}

static int count_sites(frontier *frontier)
{
    struct sites *sites = frontier->sites;
    int error = sites->counted ? VIDI_OK : ask_once(frontier, "SELECT max(number) FROM sites", &sites->count);

    sites->counted = error == VIDI_OK;
    return error;
}

static uint64_t budget_of_new(const struct sites *sites)
{
    return sites->count < sites->budgets.max_sites ? sites->budgets.least : 0;
}

int sites_begin(frontier *frontier, const site_budgets *budgets)
{
    struct sites *sites = frontier->sites ? frontier->sites : calloc(1, sizeof *sites);

    if (!sites)
        return frontier_fail(frontier, VIDI_EMEMORY);
    frontier->sites = sites;
    sites->budgets = *budgets;
    if (!budgets->max_sites)
        sites->budgets.max_sites = INT64_MAX;
    sites_forget(frontier);
    uint64_t ignored;
    return CHANGE(frontier, FRONTIER_SITE_BEGIN, &ignored, NULL, SQL_NULL, SQL_NULL, SQL_NULL, LIMITS(&sites->budgets));
}

/* ---- sorting ---- */

int sites_file(frontier *frontier, frontier_url *url, uint32_t *level)
{
    struct sites *sites = frontier->sites;
    const site_budgets *budgets = &sites->budgets;
    size_t slot = url->host % HOSTS;
    char room[SITE_NAME];
    vidi_str name = {NULL, 0};
    uint64_t site = sites->hosts[slot].site, waiting = 0, number = 0;
    int error = count_sites(frontier);

    if (!error && sites->hosts[slot].host != url->host)
        error = budgets->site(budgets->context, url->url, room, &name, &site);
    if (!error)
        error = CHANGE(frontier, FRONTIER_SITE_FILE, &waiting, &number, SQL_NUMBER(site), SQL_TEXT(name),
                       SQL_NUMBER(sites->count + 1), LIMITS(budgets), SQL_NUMBER(url->kind == FRONTIER_SEED),
                       SQL_NUMBER(budget_of_new(sites)));
    if (error)
        return error;
    sites->hosts[slot].host = url->host;
    sites->hosts[slot].site = site;
    sites->count += number > sites->count;
    if (waiting > 0 && url->kind != FRONTIER_SEED) {
        url->host = site;
        *level = FRONTIER_WAITING;
    }
    return VIDI_OK;
}

/* ---- links ---- */

/* The number of a pair, not 0. Both keys are keyed hashes. */
static uint64_t pair_of(uint64_t site, uint64_t by)
{
    return (site * 0x9E3779B97F4A7C15u ^ by) | 1;
}

int sites_link(frontier *frontier, uint64_t site, uint64_t by)
{
    struct sites *sites = frontier->sites;
    uint64_t pair = pair_of(site, by), number = 0, *known = &sites->pairs[pair >> 32 & (PAIRS - 1)];

    if (site == by || *known == pair)
        return VIDI_OK;
    int error = CHANGE(frontier, FRONTIER_SITE_PAIR, &number, NULL, SQL_NUMBER(site), SQL_NUMBER(by));
    if (error)
        return error;
    *known = pair;
    if (sqlite3_changes(frontier->db) == 0)
        return VIDI_OK;
    error = count_sites(frontier);
    if (!error)
        error =
            CHANGE(frontier, FRONTIER_SITE_LINK, &number, NULL, SQL_NUMBER(site), SQL_NULL,
                   SQL_NUMBER(sites->count + 1), LIMITS(&sites->budgets), SQL_NULL, SQL_NUMBER(budget_of_new(sites)));
    sites->count += !error && number > sites->count;
    return error;
}

/* ---- addresses ---- */

static int read_place(frontier *frontier, uint64_t site, uint64_t *address, uint64_t *farm)
{
    int error = frontier_ready(frontier, FRONTIER_SITE_READ);
    if (error)
        return error;
    sqlite3_stmt *ask = frontier->statements[FRONTIER_SITE_READ];
    sql_bind(ask, SQL_VALUES(SQL_NUMBER(site)));
    int result = sqlite3_step(ask);
    *address = result == SQLITE_ROW ? sql_number(ask, 0) : 1; /* a site without a row is of an older crawl */
    *farm = result == SQLITE_ROW ? sql_number(ask, 1) : 0;
    sqlite3_reset(ask);
    return sql_code(result) ? frontier_fail(frontier, sql_code(result)) : VIDI_OK;
}

int sites_note_address(frontier *frontier, uint64_t site, uint64_t address, bool *cut)
{
    const site_budgets *budgets = &frontier->sites->budgets;
    uint64_t known = 0, farm = 0, count = 0, ignored;
    int error = read_place(frontier, site, &known, &farm);

    *cut = farm == FARM_CUT;
    if (error || known)
        return error;
    error = CHANGE(frontier, FRONTIER_ADDRESS, &count, NULL, SQL_NUMBER(address));
    *cut = budgets->max_address_sites && count > budgets->max_address_sites;
    if (!error)
        error = CHANGE(frontier, FRONTIER_SITE_PLACE, &ignored, NULL, SQL_NUMBER(site), SQL_NUMBER(address),
                       SQL_NUMBER(*cut ? FARM_CUT : 0));
    if (!error && *cut && count == budgets->max_address_sites + 1)
        error = CHANGE(frontier, FRONTIER_SITE_FARM, &ignored, NULL, SQL_NULL, SQL_NUMBER(address),
                       SQL_NUMBER(FARM_FIRST), SQL_NUMBER(budgets->least));
    return error;
}

/* ---- releasing ---- */

/* Puts the first n URLs of a block that has waited into blocks of their hosts. */
static int put_by_host(frontier *frontier, const frontier_block *block, size_t n)
{
    const site_budgets *budgets = &frontier->sites->budgets;
    uint64_t hosts[FRONTIER_BLOCK];
    frontier_url urls[FRONTIER_BLOCK];
    int error = VIDI_OK;

    for (size_t i = 0; i < n && !error; i++)
        error = budgets->host(budgets->context, block->urls[i].url, &hosts[i]);
    for (size_t i = 0; i < n && !error; i++) {
        uint64_t host = hosts[i];
        uint32_t level = frontier->by_level ? block->urls[i].depth : 0;
        size_t count = 0;
        if (!host) /* it went with an earlier one */
            continue;
        for (size_t j = i; j < n; j++) {
            if (hosts[j] != host || (frontier->by_level && block->urls[j].depth != level))
                continue;
            urls[count] = block->urls[j];
            urls[count++].host = host;
            hosts[j] = 0;
        }
        error = segments_put(frontier, level, urls, count);
    }
    return error;
}

/* Moves up to `room` URLs of a site. */
static int release_site(frontier *frontier, uint64_t site, uint64_t room, frontier_block *block, uint64_t *moved)
{
    int error = VIDI_OK;

    *moved = 0;
    while (*moved < room && !error) {
        error = frontier_take(frontier, FRONTIER_WAITING, site, 0, block);
        if (error)
            break;
        size_t n = block->count < room - *moved ? block->count : (size_t)(room - *moved);
        error = frontier_drop(frontier, FRONTIER_WAITING, site, block->number);
        if (!error)
            error = put_by_host(frontier, block, n);
        if (!error && n < block->count)
            error = segments_put(frontier, FRONTIER_WAITING, block->urls + n, block->count - n);
        *moved += n;
    }
    return error;
}

/* Up to `most` sites that may have more: *found of them. */
static int find_ripe(frontier *frontier, size_t most, uint64_t (*ripe)[2], size_t *found)
{
    int error = frontier_ready(frontier, FRONTIER_SITE_RIPE), result = SQLITE_DONE;
    if (error)
        return error;
    sqlite3_stmt *ask = frontier->statements[FRONTIER_SITE_RIPE];
    sql_bind(ask, SQL_VALUES(SQL_NUMBER(most)));
    for (*found = 0; *found < most && (result = sqlite3_step(ask)) == SQLITE_ROW; ++*found) {
        ripe[*found][0] = sql_number(ask, 0);
        ripe[*found][1] = sql_number(ask, 1);
    }
    sqlite3_reset(ask);
    return sql_code(result) ? frontier_fail(frontier, sql_code(result)) : VIDI_OK;
}

static int release_all(frontier *frontier, uint64_t (*ripe)[2], size_t count, frontier_block *block, uint64_t *moved)
{
    int error = VIDI_OK;

    for (size_t i = 0; i < count && !error; i++) {
        uint64_t n = 0, ignored;
        int end = release_site(frontier, ripe[i][0], ripe[i][1], block, &n);
        error = end == VIDI_EABSENT ? VIDI_OK : end;
        if (!error) /* when no block is left, nothing waits */
            error = CHANGE(frontier, FRONTIER_SITE_GIVE, &ignored, NULL, SQL_NUMBER(ripe[i][0]), SQL_NUMBER(n),
                           SQL_NUMBER(end == VIDI_OK));
        *moved += n;
    }
    return error;
}

int sites_release(frontier *frontier, size_t most, uint64_t *moved, bool *more)
{
    frontier_block *block = calloc(1, sizeof *block);
    uint64_t(*ripe)[2] = calloc(most, sizeof *ripe);
    size_t count = 0;
    int error = block && ripe ? find_ripe(frontier, most, ripe, &count) : frontier_fail(frontier, VIDI_EMEMORY);

    *moved = 0;
    if (!error)
        error = release_all(frontier, ripe, count, block, moved);
    *more = count == most;
    if (block)
        bytes_free(&block->text);
    free(block);
    free(ripe);
    return frontier_wrote(frontier, error);
}

int sites_waiting(frontier *frontier, const char **limit)
{
    uint64_t most = 0;
    int error = ask_once(frontier, "SELECT max(budget) FROM sites WHERE waiting > 0 HAVING count(*) > 0", &most);

    *limit = error ? NULL : most > 0 ? "--site-budget" : "--max-sites";
    return error == VIDI_EABSENT ? VIDI_OK : error;
}
