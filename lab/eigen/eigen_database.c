/*
 * A database as the baseline (the eigenvalue paper, section 3: "its time efficiency is extremely low", and it takes
 * many resources). SQLite with a unique index, in memory and in a file, compared with an exact hash table and with
 * filters.
 *
 * A stream has every URL twice, in random order. Each step inserts its URL or finds that it is there: INSERT OR IGNORE
 * into an indexed table, or vidi_add, one at a time. The database is given every advantage: statements are prepared, a
 * thousand steps are one transaction, its cache holds all pages, and nothing waits for the disk.
 */
#include "lab/eigen/eigen.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lab/urls/run_urls.h"

#if VIDI_HAVE_SQLITE
#include <sqlite3.h>
#endif

enum { IN_MEMORY, IN_FILE, HASHSET, CLASSIC, LABELS, ROWS };
enum { SIZES = 3, PER_TRANSACTION = 1000, URLS_LEAST = 500 };

static const char *const database_rows[] = {"SQLite in memory", "SQLite in a file", "hash table",
                                            "classic",          "labels",           NULL};
static const char *const database_space_rows[] = {"SQLite", "hash table", "classic", "labels", NULL};
static const char *const database_columns[] = {"3.125 k", "12.5 k", "50 k", NULL};

static uint64_t urls_at(const lab_settings *settings, size_t column)
{
    static const uint64_t parts[SIZES] = {320, 80, 20};
    return lab_urls_part(settings, parts[column], URLS_LEAST);
}

/* ---- streams ---- */

/* Each of `count` URLs twice, in random order. */
typedef struct stream {
    lab_texts texts;
    vidi_str *steps;
    uint64_t count;
} stream;

static int make_stream(stream *stream, const lab_settings *settings, uint64_t run, uint64_t count)
{
    uint32_t *order;
    stream->count = count;
    LAB_TRY(LAB_NEW(order, 2 * count));
    LAB_TRY(LAB_NEW(stream->steps, 2 * count));
    LAB_TRY(lab_texts_make(&stream->texts, settings, run, 0, count));
    lab_shuffle(order, 2 * count, settings->seed, run, 1);
    for (uint64_t i = 0; i < 2 * count; i++)
        stream->steps[i] = stream->texts.urls[order[i] % count];
    return VIDI_OK;
}

/* ---- the database ---- */

bool lab_eigen_has_database(void)
{
    return VIDI_HAVE_SQLITE;
}

#if VIDI_HAVE_SQLITE

static const char schema[] = "PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY; PRAGMA cache_size = -262144;"
                             "CREATE TABLE urls (id INTEGER PRIMARY KEY, url TEXT NOT NULL);"
                             "CREATE UNIQUE INDEX by_url ON urls (url);";

static int complain(sqlite3 *database)
{
    return lab_fail(VIDI_EIO, "SQLite: %s", database ? sqlite3_errmsg(database) : "no memory");
}

/* Adds a URL unless it is there; *added counts those added. */
static int step(sqlite3 *database, sqlite3_stmt *insert, vidi_str url, uint64_t *added)
{
    if (sqlite3_bind_text(insert, 1, url.ptr, (int)url.len, SQLITE_STATIC) != SQLITE_OK ||
        sqlite3_step(insert) != SQLITE_DONE || sqlite3_reset(insert) != SQLITE_OK)
        return complain(database);
    *added += (uint64_t)sqlite3_changes(database);
    return VIDI_OK;
}

static int run_stream(sqlite3 *database, const stream *stream, double *time)
{
    sqlite3_stmt *insert = NULL;
    uint64_t added = 0, start = lab_thread_time();
    int code = VIDI_OK;
    if (sqlite3_prepare_v2(database, "INSERT OR IGNORE INTO urls (url) VALUES (?)", -1, &insert, NULL) != SQLITE_OK)
        return complain(database);
    for (uint64_t i = 0; i < 2 * stream->count && code == VIDI_OK; i++) {
        if (i % PER_TRANSACTION == 0 &&
            sqlite3_exec(database, i ? "COMMIT; BEGIN" : "BEGIN", NULL, NULL, NULL) != SQLITE_OK)
            code = complain(database);
        if (code == VIDI_OK)
            code = step(database, insert, stream->steps[i], &added);
    }
    sqlite3_finalize(insert);
    LAB_TRY(code);
    if (sqlite3_exec(database, "COMMIT", NULL, NULL, NULL) != SQLITE_OK)
        return complain(database);
    *time = (double)(lab_thread_time() - start) / (double)(2 * stream->count);
    return added == stream->count ? VIDI_OK
                                  : lab_fail(VIDI_EIO, "SQLite: %llu of %llu URLs were new", (unsigned long long)added,
                                             (unsigned long long)stream->count);
}

static int read_bytes(sqlite3 *database, double *bytes)
{
    sqlite3_stmt *size = NULL;
    if (sqlite3_prepare_v2(database, "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size", -1,
                           &size, NULL) != SQLITE_OK ||
        sqlite3_step(size) != SQLITE_ROW)
        return complain(database);
    *bytes = (double)sqlite3_column_int64(size, 0);
    sqlite3_finalize(size);
    return VIDI_OK;
}

static int use_database(const char *path, const stream *stream, double *time, double *bytes)
{
    sqlite3 *database = NULL;
    int code = VIDI_OK;
    if (sqlite3_open(path, &database) != SQLITE_OK || sqlite3_exec(database, schema, NULL, NULL, NULL) != SQLITE_OK)
        code = complain(database);
    if (code == VIDI_OK)
        code = run_stream(database, stream, time);
    if (code == VIDI_OK)
        code = read_bytes(database, bytes);
    sqlite3_close(database);
    return code;
}

static int measure_database(bool in_file, const stream *stream, double *time, double *bytes)
{
    const char *folder = getenv("TMPDIR");
    char path[512] = ":memory:";
    int file = -1;
    if (in_file) {
        snprintf(path, sizeof path, "%s/vidi-lab-XXXXXX", folder && *folder ? folder : "/tmp");
        file = mkstemp(path);
        if (file < 0)
            return lab_fail(VIDI_EIO, "cannot make a file %s", path);
    }
    int code = use_database(path, stream, time, bytes);
    if (in_file) {
        unlink(path);
        close(file);
    }
    return code;
}

#else

static int measure_database(bool in_file, const stream *stream, double *time, double *bytes)
{
    (void)in_file;
    (void)stream;
    (void)time;
    (void)bytes;
    return lab_fail(VIDI_ECANNOT, "this build has no SQLite");
}

#endif

/* ---- sets ---- */

static int make_set(vidi_set **set, const lab_settings *settings, uint64_t run, size_t row, uint64_t count)
{
    static const lab_eigen_filter classic = {"classic", NULL, LAB_EIGEN_K, 0, false};
    static const lab_eigen_filter labels = {"labels", "labels", LAB_EIGEN_K, LAB_EIGEN_D, true};
    if (row == HASHSET)
        return lab_set(set, settings, run, "hashset", 0, "%s", "");
    return lab_eigen_make(set, row == CLASSIC ? &classic : &labels, "sip13", settings, run, count);
}

static int measure_set(const lab_settings *settings, uint64_t run, size_t row, const stream *stream, double *time,
                       double *bytes)
{
    vidi_stats stats = {.size = sizeof stats};
    vidi_set *set;
    double adds = 0;
    LAB_BLOCK;
    LAB_TRY(make_set(&set, settings, run, row, stream->count));
    LAB_TRY(lab_texts_time_adds(set, stream->steps, 2 * stream->count, &adds));
    LAB_TRY(vidi_stat(set, &stats));
    *time = adds / (double)(2 * stream->count);
    *bytes = (double)stats.bytes;
    return VIDI_OK;
}

/* ---- tables ---- */

typedef struct cost {
    double time, bytes; /* nanoseconds per step, and bytes in all */
} cost;

/* The table of space begins with the file, because a database takes as many pages in memory as in a file. */
static int measure(const lab_settings *settings, uint64_t run, double *numbers)
{
    bool times = settings->study == &lab_study_eigen_database;
    size_t first = times ? IN_MEMORY : IN_FILE;
    for (size_t column = 0; column < SIZES; column++) {
        uint64_t count = urls_at(settings, column);
        stream stream;
        LAB_BLOCK;
        LAB_TRY(make_stream(&stream, settings, run, count));
        for (size_t row = first; row < ROWS; row++) {
            cost cost = {0};
            LAB_TRY(row <= IN_FILE ? measure_database(row == IN_FILE && times, &stream, &cost.time, &cost.bytes)
                                   : measure_set(settings, run, row, &stream, &cost.time, &cost.bytes));
            numbers[(row - first) * SIZES + column] = times ? cost.time : cost.bytes / (double)count;
        }
    }
    return VIDI_OK;
}

/* The filters' bits follow from their definition; what a set takes besides shows if there are few URLs. */
static void judge_database_space(const lab_cell *cell, lab_entry *entry)
{
    if (cell->row + IN_FILE >= CLASSIC)
        entry->theory = cell->row + IN_FILE == CLASSIC ? LAB_EIGEN_BITS / 8.0 : LAB_EIGEN_BITS / 6.0;
}

LAB_STUDY(eigen_database, "eigen-database", "Time to insert a URL or to find that it is there, with a database",
          "the eigenvalue paper, section 3",
          "Numbers of URLs are for --urls 1e6 and scale with it; each comes twice, in random order. SQLite with a "
          "unique index, a prepared statement, 1,000 URLs in a transaction, all pages in its cache, and without "
          "fsync. Hash table: the kind hashset, as exact as the database. Filters: m/n = 32, k = 3, d = 1.",
          "ns per URL", database_rows, database_columns,
          .plot = {.x = "URLs (thousands)", .y = "ns per URL", .log_x = true, .log_y = true}, .timed = true,
          .runs_most = 9, .has = lab_eigen_has_database, .measure = measure);

LAB_STUDY(eigen_database_space, "eigen-database-space", "Bytes per URL, with a database",
          "the eigenvalue paper, section 3",
          "The sets of eigen-database after all URLs. SQLite: the pages of table and index. Theory is the filters' "
          "bits alone.",
          "bytes per URL", database_space_rows, database_columns, .runs_most = 1, .has = lab_eigen_has_database,
          .measure = measure, .judge = judge_database_space);
