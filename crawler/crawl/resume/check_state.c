/*
 * Checks everything that a crawl keeps: see crawl.h.
 *
 *   crawl.db    the checksum of each page; the trees, counts and queue (db_verify)
 *   seen        each byte; where it stands, compared with the database (consistency.c); the URL of each row of this
 *               visit must be in it
 *   archive     each record; and for each page that the database says is stored, a record at its place, with its digest;
 *               if the body is that of another page, a revisit record that names the record of that one
 *   --jsonl     the digest of all committed lines
 *
 * A crawl may be running meanwhile. So the set is read before the database, and is then older, which is not a fault.
 * How far it must have come at least is asked before it is read.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/files.h"
#include "crawler/base/sql.h"
#include "crawler/crawl/crawl_state.h"

enum { CHUNK = 1024, PIECE = 1 << 16, SENTENCE = 1024 };

typedef struct checking {
    crawl_fault *fault;
    void *context;
    crawl_checked *found;
    const char *folder;
    crawl_db *db;
    vidi_set *set;
    uint64_t unfinished;        /* bytes at the end of the set's log */
    uint64_t row;               /* the last one whose URL the set must have */
    consistency_entries before; /* what the database knew before the set was read */
    bool was_closed;            /* no run was at work then */
    /* the chunk of rows that the set is asked about */
    bytes text;
    size_t ends[CHUNK], count;
    uint64_t first, missing;
} checking;

__attribute__((format(printf, 2, 3))) static void tell(checking *check, const char *format, ...)
{
    char sentence[SENTENCE];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    check->found->faults++;
    check->fault(check->context, sentence);
}

/* Reports an error as a fault, unless it says nothing about the crawl: such an error is returned. */
static int take(checking *check, int error, const char *what, const char *said)
{
    if (error == VIDI_OK || error == VIDI_EMEMORY || error == VIDI_EBUSY)
        return error;
    tell(check, "%s: %s", what, said && *said ? said : vidi_strerror(error));
    return VIDI_OK;
}

/* ---- the database ---- */

static int database_fault(void *context, const char *sentence)
{
    tell(context, "crawl.db: %s", sentence);
    return 0;
}

static int check_pages(checking *check, const char *path)
{
    int error = db_pages(path, &check->found->database_pages, &check->found->unchecked_pages, database_fault, check);

    return take(check, error, "crawl.db", error == VIDI_EIO ? strerrordesc_np(errno) : NULL);
}

/* Where the set must be, and whether a run is at work, or was killed. */
static int read_entries(checking *check, consistency_entries *known, bool *closed)
{
    int64_t value = 0;
    int error = consistency_read(check->db, known);

    if (!error)
        error = db_get(check->db, "closed", &value);
    *closed = value != 0;
    return error == VIDI_EABSENT ? VIDI_OK : error;
}

/* Its pages are read first: to close a file takes back the locks that SQLite has on it in this process. */
static int open_database(checking *check, const char *path)
{
    char why[256];
    int error = check_pages(check, path);

    if (error)
        return error;
    error = db_open(&check->db, path, DB_READ_ONLY, false, why);
    if (error)
        return take(check, error, "crawl.db cannot be read", why);
    error = read_entries(check, &check->before, &check->was_closed);
    return take(check, error, "crawl.db", db_error(check->db));
}

static int check_database(checking *check)
{
    int error = db_verify(check->db, true, database_fault, check);

    return error ? take(check, error, "crawl.db", db_error(check->db)) : VIDI_OK;
}

/* ---- the set ---- */

static int open_set(checking *check, const char *path)
{
    vidi_recovery found = {.size = sizeof found};
    vidi_access access = VIDI_ACCESS_INIT;
    access.flags = VIDI_READ_ONLY | VIDI_NO_MAP;
    int error = vidi_open(&check->set, path, &access);

    if (error)
        return take(check, error, "seen", vidi_message());
    error = vidi_recovered(check->set, &found);
    if (!error && found.missing_files)
        tell(check, "seen: %s is missing or damaged", found.missing_file);
    if (!error && found.damaged_bytes)
        tell(check, "seen: %s is damaged from byte %" PRIu64 " on", found.damaged_log, found.damaged_at);
    check->unfinished = found.unfinished_bytes;
    return take(check, error, "seen", vidi_message());
}

static int ask_chunk(checking *check)
{
    vidi_str urls[CHUNK];
    uint8_t verdicts[CHUNK];
    size_t begin = 0;

    for (size_t i = 0; i < check->count; i++) {
        urls[i] = (vidi_str){check->text.ptr + begin, check->ends[i] - begin};
        begin = check->ends[i];
    }
    int error = check->count ? vidi_has_batch(check->set, urls, check->count, verdicts) : VIDI_OK;
    for (size_t i = 0; i < check->count && !error; i++)
        check->missing += verdicts[i] != VIDI_SEEN;
    check->count = 0;
    check->text.len = 0;
    return error;
}

static int ask_row(void *context, uint64_t id, vidi_str url)
{
    checking *check = context;

    if (id > check->row)
        return 1;
    check->found->urls++;
    if (bytes_append_str(&check->text, url) != VIDI_OK)
        return VIDI_EMEMORY;
    check->ends[check->count++] = check->text.len;
    return check->count == CHUNK ? ask_chunk(check) : 0;
}

static int check_set(checking *check)
{
    char why[CRAWL_WHY];
    consistency_entries known;
    vidi_stats stats = {.size = sizeof stats};
    bool closed;
    int error = read_entries(check, &known, &closed);

    if (error)
        return take(check, error, "crawl.db", db_error(check->db));
    if (!check->set)
        return VIDI_OK;
    bool at_rest = check->was_closed && closed && known.run == check->before.run;
    if (at_rest && check->unfinished) /* what a crash leaves, but there was none */
        tell(check, "seen: the last %" PRIu64 " bytes of its log cannot be read", check->unfinished);
    known.synced_to = check->before.synced_to;
    known.first = check->before.first;
    known.epoch = check->before.epoch;
    known.next_epoch = check->before.next_epoch ? check->before.next_epoch : known.next_epoch;
    error = consistency_compare(&known, check->set, &check->row, why);
    if (error == VIDI_EDIFFERS) {
        tell(check, "%s", why);
        return VIDI_OK;
    }
    if (error)
        return take(check, error, "seen", why);
    error = vidi_stat(check->set, &stats);
    if (!error && stats.epoch != known.epoch) /* killed while a visit began: it has forgotten the last one already */
        return VIDI_OK;
    if (!error)
        error = frontier_since(db_frontier(check->db), known.first - 1, ask_row, check);
    error = error < 0 ? error : ask_chunk(check);
    if (!error && check->missing)
        tell(check, "seen: the URLs of %" PRIu64 " rows are not in it", check->missing);
    if (!error && !known.is_continuous && stats.count > check->row - (known.first - 1))
        tell(check, "seen: it has %" PRIu64 " URLs, but the database has %" PRIu64 " rows for them", stats.count,
             check->row - (known.first - 1));
    return take(check, error, "seen", vidi_message());
}

/* ---- the archive ---- */

static const char stored[] =
    "SELECT o.file, o.offset, o.length, o.digest, u.url, o.record, o.body, p.record FROM outcomes o"
    " JOIN urls u ON u.id = o.id LEFT JOIN outcomes b ON b.id = o.body LEFT JOIN outcomes p ON p.id = ifnull(b.body, "
    "b.id)"
    " AND p.body IS NULL AND p.file IS NOT NULL AND p.digest = o.digest"
    " WHERE o.file IS NOT NULL ORDER BY o.file, o.offset";

static bool is_same(vidi_str a, vidi_str b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

/* Compares where a row says its page is with where the record is: negative, 0 or positive. */
static int order_of(sqlite3_stmt *row, const archive_record *record)
{
    char name[ARCHIVE_NAME_ROOM];
    int order = strcmp(sql_text(row, 0).ptr ? sql_text(row, 0).ptr : "", archive_name(record->file, name));

    if (order == 0)
        order = sql_number(row, 1) < record->offset ? -1 : sql_number(row, 1) > record->offset;
    return order;
}

static bool is_id(vidi_str text, vidi_str id)
{
    char expected[ARCHIVE_ID_ROOM];

    if (id.len != ARCHIVE_ID)
        return false;
    archive_id_text((const unsigned char *)id.ptr, expected);
    return is_same(text, (vidi_str){expected, strlen(expected)});
}

/* A body is in the record of the page, or in the one that its revisit record names. */
static bool has_body(sqlite3_stmt *row, const archive_record *record)
{
    if (sqlite3_column_type(row, 6) == SQLITE_NULL)
        return is_same(record->type, (vidi_str){"response", 8});
    return is_same(record->type, (vidi_str){"revisit", 7}) && is_id(record->refers_to, sql_blob(row, 7));
}

static int compare_record(checking *check, sqlite3_stmt *row, const archive_record *record)
{
    bytes url = {0};
    int error = archive_url(sql_blob(row, 4), &url);
    vidi_str digest = sql_blob(row, 3);

    if (!error &&
        (record->length != sql_number(row, 2) || !has_body(row, record) || !is_id(record->id, sql_blob(row, 5)) ||
         !is_same(record->url, bytes_str(&url)) || !is_same(record->digest, digest)))
        tell(check, "archive/%s: the record at byte %" PRIu64 " is not the one of %.300s", sql_text(row, 0).ptr,
             record->offset, url.len ? sql_text(row, 4).ptr : "");
    bytes_free(&url);
    return error;
}

/* Steps to the next row. */
static int step(checking *check, sqlite3_stmt *row, bool *more)
{
    int result = sqlite3_step(row);

    *more = result == SQLITE_ROW;
    return take(check, sql_code(result), "crawl.db", sql_message(db_sqlite(check->db)));
}

static void tell_missing(checking *check, sqlite3_stmt *row, uint64_t *missing)
{
    if ((*missing)++ == 0)
        tell(check, "archive/%s: there is no record at byte %" PRIu64 ", which is that of %.300s", sql_text(row, 0).ptr,
             sql_number(row, 1), sql_text(row, 4).ptr);
}

/* Goes through rows and records side by side. */
static int compare_all(checking *check, sqlite3_stmt *row, archive_reader *from)
{
    archive_record record;
    uint64_t missing = 0;
    bool more;
    int error = step(check, row, &more), got = 1;

    while (!error && (got = archive_reader_next(from, &record)) != 0) {
        if (got < 0) {
            error = take(check, got, "archive", archive_reader_error(from));
            continue;
        }
        check->found->records++;
        for (; !error && more && order_of(row, &record) < 0; error = step(check, row, &more))
            tell_missing(check, row, &missing);
        if (!error && more && order_of(row, &record) == 0) {
            error = compare_record(check, row, &record);
            if (!error)
                error = step(check, row, &more);
        } else if (!error &&
                   (is_same(record.type, (vidi_str){"response", 8}) || is_same(record.type, (vidi_str){"revisit", 7})))
            tell(check, "archive: a %.*s at byte %" PRIu64 " of file %" PRIu32 " is not in the database",
                 (int)record.type.len, record.type.ptr, record.offset, record.file);
    }
    for (; !error && more; error = step(check, row, &more))
        tell_missing(check, row, &missing);
    if (missing > 1)
        tell(check, "archive: the records of %" PRIu64 " pages are missing", missing);
    return error;
}

static int check_archive(checking *check, const char *path)
{
    archive_reader *from = NULL;
    sqlite3_stmt *row = NULL;
    int64_t file = 0, length = 0;
    int error = db_get(check->db, "archive_file", &file);

    if (!error)
        error = db_get(check->db, "archive_length", &length);
    if (error == VIDI_EABSENT) /* nothing was stored */
        error = VIDI_OK;
    if (!error)
        error = archive_reader_open(&from, path, (archive_place){(uint32_t)file, (uint64_t)length});
    if (!error)
        error = sql_prepare(db_sqlite(check->db), &row, stored);
    if (error)
        error = take(check, error, "crawl.db", db_error(check->db));
    else
        error = compare_all(check, row, from);
    sqlite3_finalize(row);
    archive_reader_close(from);
    return error;
}

/* ---- the lines ---- */

static int check_bytes(checking *check, int file, const char *path, uint64_t length, uint64_t expected)
{
    char *piece = malloc(PIECE);
    uint64_t digest = 0, at = 0;
    ssize_t got = 1;

    if (!piece)
        return VIDI_EMEMORY;
    while (at < length && got > 0) {
        uint64_t left = length - at;
        got = file_read_at(file, piece, left < PIECE ? (size_t)left : PIECE, at);
        if (got > 0)
            digest = output_checksum(digest, piece, (size_t)got);
        at += got > 0 ? (uint64_t)got : 0;
    }
    free(piece);
    if (got < 0)
        tell(check, "%s cannot be read: %s", path, strerrordesc_np(errno));
    else if (at < length)
        tell(check, "%s has %" PRIu64 " bytes, but the crawl has written %" PRIu64, path, at, length);
    else if (digest != expected)
        tell(check, "%s has changed since the crawl wrote to it", path);
    check->found->line_bytes = at;
    return VIDI_OK;
}

static int check_file(checking *check, const char *path, uint64_t length, uint64_t digest)
{
    int file = (int)TEMP_FAILURE_RETRY(open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK));

    if (file < 0) {
        tell(check, "the lines of --jsonl, %s, cannot be read: %s", path, strerrordesc_np(errno));
        return VIDI_OK;
    }
    int error = check_bytes(check, file, path, length, digest);
    close(file);
    return error;
}

static int check_lines(checking *check)
{
    output_note note;
    uint64_t digest;
    char *inside;
    int error = output_note_read(check->db, &note, &digest);

    if (error)
        return take(check, error, "crawl.db", db_error(check->db));
    if (!note.present || note.length == 0)
        return VIDI_OK;
    if (*note.path == '/')
        return check_file(check, note.path, note.length, digest);
    if (asprintf(&inside, "%s/%s", check->folder, note.path) < 0)
        return VIDI_EMEMORY;
    error = check_file(check, inside, note.length, digest);
    free(inside);
    return error;
}

/* ---- all of it ---- */

static int check_parts(checking *check, const char *seen, const char *database, const char *stores)
{
    int error = open_database(check, database);

    if (!error)
        error = open_set(check, seen);
    if (error || !check->db)
        return error;
    error = check_database(check);
    if (error)
        return error;
    /* All that follows is of one moment, whatever a running crawl commits meanwhile. */
    sql_execute(db_sqlite(check->db), "SAVEPOINT checking");
    error = check_set(check);
    if (!error)
        error = check_archive(check, stores);
    return error ? error : check_lines(check);
}

int crawl_check(const char *folder, crawl_fault *fault, void *context, crawl_checked *found)
{
    char *seen = NULL, *database = NULL, *stores = NULL;
    checking *check = calloc(1, sizeof *check);
    int error = check && asprintf(&seen, "%s/seen", folder) >= 0 && asprintf(&database, "%s/crawl.db", folder) >= 0 &&
                        asprintf(&stores, "%s/archive", folder) >= 0
                    ? VIDI_OK
                    : VIDI_EMEMORY;

    *found = (crawl_checked){0};
    if (!error) {
        *check = (checking){.fault = fault, .context = context, .found = found, .folder = folder};
        error = check_parts(check, seen, database, stores);
        db_close(check->db);
        vidi_close(check->set);
        bytes_free(&check->text);
    }
    free(seen);
    free(database);
    free(stores);
    free(check);
    return error;
}
