/*
 * See checker.h. Faults are noted one by one; what can still be read after a fault is read.
 */
#include "checker.h"

#include <dirent.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/fnv.h"
#include "crawler/archive/warc_reader.h"
#include "text.h"

/* A response of the archive, or a revisit record. */
typedef struct stored {
    char *file, *url, *digest, *id, *date;
    char *refers_to, *refers_url, *refers_date; /* of a revisit record */
    uint64_t offset, length;
    bool is_revisit, claimed;
    int64_t row, payload; /* of the outcome that claims it */
} stored;

typedef struct check {
    checker_report *report;
    stored *responses;
    size_t count, room;
    int64_t first[CHECKER_VISITS]; /* rows of the visits */
    checker_visit *visit;
    void *context;
} check;

static void fault(check *self, uint64_t *counter, const char *format, ...)
{
    va_list arguments;
    ++*counter;
    if (self->report->first[0])
        return;
    va_start(arguments, format);
    vsnprintf(self->report->first, sizeof self->report->first, format, arguments);
    va_end(arguments);
}

uint64_t checker_faults(const checker_report *report)
{
    return report->repeated + report->unanswered + report->answered_twice + report->strays + report->misattributed +
           report->miscounts + report->bad_records + report->bad_digests + report->misplaced + report->unclaimed +
           report->bad_lines + report->repeated_lines + report->missing_lines;
}

/* ---- the archive ---- */

/* A record: fields, an empty line, the block, two empty lines. */
typedef struct record {
    const char *file;
    uint64_t offset;
    size_t length; /* as packed */
    site_text text;
    const char *block; /* inside of the text */
    size_t block_length;
} record;

/* The value of a field in the lines before `end`; the caller frees. NULL: there is none. */
static char *field_of(const char *from, const char *end, const char *name)
{
    size_t length = strlen(name);
    for (const char *line = from, *stop; line < end; line = stop + 2) {
        stop = memmem(line, (size_t)(end - line), "\r\n", 2);
        if (!stop)
            return NULL;
        if ((size_t)(stop - line) > length && strncasecmp(line, name, length) == 0 && line[length] == ':') {
            const char *value = line + length + 1;
            value += strspn(value, " ");
            return strndup(value, (size_t)(stop - value));
        }
    }
    return NULL;
}

/* Finds the block; says what is wrong with the record, or NULL. */
static const char *read_record(record *record)
{
    const char *text = record->text.at,
               *end = record->text.length ? memmem(text, record->text.length, "\r\n\r\n", 4) : NULL;
    if (!end || strncmp(text, "WARC/1.1\r\n", 10) != 0)
        return "it does not begin like a record";
    record->block = end + 4;
    char *length = field_of(text, end + 2, "Content-Length");
    record->block_length = length ? strtoull(length, NULL, 10) : 0;
    bool is_whole = length && record->text.length == (size_t)(record->block - text) + record->block_length + 4 &&
                    memcmp(record->block + record->block_length, "\r\n\r\n", 4) == 0;
    free(length);
    return is_whole ? NULL : "its block is not as long as it says";
}

static void keep_record(check *self, const record *record, const char *end, bool is_revisit, const char *digest)
{
    if (self->count == self->room) {
        self->room = self->room * 2 + 256;
        self->responses = realloc(self->responses, self->room * sizeof *self->responses);
        if (!self->responses)
            exit(2);
    }
    const char *from = record->text.at;
    self->responses[self->count++] = (stored){.file = site_copy(record->file),
                                              .url = field_of(from, end, "WARC-Target-URI"),
                                              .digest = site_copy(digest),
                                              .id = field_of(from, end, "WARC-Record-ID"),
                                              .date = field_of(from, end, "WARC-Date"),
                                              .refers_to = field_of(from, end, "WARC-Refers-To"),
                                              .refers_url = field_of(from, end, "WARC-Refers-To-Target-URI"),
                                              .refers_date = field_of(from, end, "WARC-Refers-To-Date"),
                                              .offset = record->offset,
                                              .length = record->length,
                                              .is_revisit = is_revisit};
}

static void forget(stored *one)
{
    char *const texts[] = {one->file, one->url,       one->digest,     one->id,
                           one->date, one->refers_to, one->refers_url, one->refers_date};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        free(texts[i]);
}

/* Has all fields, and of the response the head only, if anything. What it refers to is compared when all is read. */
static void check_revisit(check *self, const record *record, const char *end)
{
    static const char profiles[] = "http://netpreserve.org/warc/1.1/revisit/";
    char *profile = field_of(record->text.at, end, "WARC-Profile");
    char *url = field_of(record->text.at, end, "WARC-Target-URI");
    char *said = field_of(record->text.at, end, "WARC-Payload-Digest");
    bool same_payload = record->block_length > 0;
    const char *kind =
        profile && strncmp(profile, profiles, sizeof profiles - 1) == 0 ? profile + sizeof profiles - 1 : "";
    const char *head_end = memmem(record->block, record->block_length, "\r\n\r\n", 4);
    bool fits = !same_payload || (head_end && head_end + 4 == record->block + record->block_length);
    self->report->revisits++;
    if (!url || !said || !fits || strcmp(kind, same_payload ? "identical-payload-digest" : "server-not-modified") != 0)
        fault(self, &self->report->bad_records, "%s at %llu is not a revisit", record->file,
              (unsigned long long)record->offset);
    else
        keep_record(self, record, end, true, said);
    free(profile), free(url), free(said);
}

static int by_id(const void *a, const void *b)
{
    const stored *left = *(stored *const *)a, *right = *(stored *const *)b;
    return strcmp(left->id ? left->id : "", right->id ? right->id : "");
}

/* "2026-11-18T20:00:00Z" of "2026-11-18T20:00:00.123Z" */
static bool is_second_of(const char *second, const char *date)
{
    size_t length = strcspn(date, ".Z");
    return strncmp(second, date, length) == 0 && strcmp(second + length, "Z") == 0;
}

/* A revisit record is as good as the response that it refers to: that is there, and has the payload. */
static void check_revisits(check *self)
{
    const stored **sorted = site_memory((self->count + 1) * sizeof *sorted);
    for (size_t i = 0; i < self->count; i++)
        sorted[i] = &self->responses[i];
    if (self->count)
        qsort(sorted, self->count, sizeof *sorted, by_id);
    for (size_t i = 0; i < self->count; i++) {
        const stored *one = &self->responses[i], key = {.id = one->refers_to}, *wanted = &key;
        if (!one->is_revisit)
            continue;
        const stored **found = bsearch(&wanted, sorted, self->count, sizeof *sorted, by_id),
                     *original = found ? *found : NULL;
        if (!original || original->is_revisit || !one->refers_url || !one->refers_date ||
            strcmp(original->url, one->refers_url) != 0 || !is_second_of(one->refers_date, original->date) ||
            strcmp(original->digest, one->digest) != 0)
            fault(self, &self->report->bad_records, "%s in %s at %llu refers to another response than it says",
                  one->url, one->file, (unsigned long long)one->offset);
        else if (one->payload && one->payload != original->row)
            fault(self, &self->report->misplaced, "%s has its body in row %lld, not in row %lld", one->url,
                  (long long)original->row, (long long)one->payload);
    }
    free(sorted);
}

/* Compares what the record says of its payload with its bytes. */
static void check_response(check *self, const record *record, const char *fields_end)
{
    checker_report *report = self->report;
    const char *end = memmem(record->block, record->block_length, "\r\n\r\n", 4);
    char *url = field_of(record->text.at, fields_end, "WARC-Target-URI");
    char *said = field_of(record->text.at, fields_end, "WARC-Payload-Digest");
    char real[38] = "";
    report->responses++;
    if (!end || !url || strncmp(record->block, "HTTP/1.", 7) != 0) {
        fault(self, &report->bad_records, "%s at %llu is not a response", record->file,
              (unsigned long long)record->offset);
        free(url);
        free(said);
        return;
    }
    const char *body = end + 4;
    size_t length = record->block_length - (size_t)(body - record->block);
    warc_sha1((const unsigned char *)body, length, real);
    if (!said || strcmp(said, real) != 0)
        fault(self, &report->bad_digests, "%s at %llu has the digest %s, not %s", record->file,
              (unsigned long long)record->offset, real, said ? said : "none");
    char *given = field_of(record->block, end + 2, "Content-Length");
    char *framing = field_of(record->block, end + 2, "Transfer-Encoding");
    if (!given || strtoull(given, NULL, 10) != length || framing)
        fault(self, &report->bad_records, "%s at %llu: the response's head does not fit its body", record->file,
              (unsigned long long)record->offset);
    free(given), free(framing), free(said), free(url);
    keep_record(self, record, fields_end, false, real);
}

static void check_record(check *self, record *record)
{
    checker_report *report = self->report;
    const char *wrong = read_record(record);
    report->records++;
    if (wrong) {
        fault(self, &report->bad_records, "%s at %llu: %s", record->file, (unsigned long long)record->offset, wrong);
        return;
    }
    const char *end = record->block - 2;
    char *type = field_of(record->text.at, end, "WARC-Type"), *id = field_of(record->text.at, end, "WARC-Record-ID");
    char *date = field_of(record->text.at, end, "WARC-Date"),
         *said = field_of(record->text.at, end, "WARC-Block-Digest");
    char real[38];
    warc_sha1((const unsigned char *)record->block, record->block_length, real);
    if (!type || !id || !date)
        fault(self, &report->bad_records, "%s at %llu lacks a field", record->file, (unsigned long long)record->offset);
    else if (record->offset == 0 && strcmp(type, "warcinfo") != 0)
        fault(self, &report->bad_records, "%s begins with a %s", record->file, type);
    if (said && strcmp(said, real) != 0)
        fault(self, &report->bad_digests, "%s at %llu: the block's digest is wrong", record->file,
              (unsigned long long)record->offset);
    if (type && strcmp(type, "response") == 0)
        check_response(self, record, end);
    else if (type && strcmp(type, "revisit") == 0)
        check_revisit(self, record, end);
    free(type), free(id), free(date), free(said);
}

static void check_file(check *self, const char *folder, const char *name)
{
    site_text path = {0}, packed = {0};
    site_text_put(&path, "%s/%s", folder, name);
    site_text_load(&packed, path.at);
    site_text_free(&path);
    for (uint64_t at = 0; at < packed.length;) {
        record each = {.file = name, .offset = at};
        each.text.at =
            (char *)warc_member((unsigned char *)packed.at + at, packed.length - at, &each.length, &each.text.length);
        if (!each.text.at) {
            fault(self, &self->report->bad_records, "%s cannot be unpacked at %llu", name, (unsigned long long)at);
            break;
        }
        check_record(self, &each);
        at += each.length;
        site_text_free(&each.text);
    }
    site_text_free(&packed);
}

static int by_place(const void *a, const void *b)
{
    const stored *left = a, *right = b;
    int order = strcmp(left->file, right->file);
    return order ? order : (left->offset > right->offset) - (left->offset < right->offset);
}

static void check_archive(check *self, const char *state)
{
    char folder[1024];
    snprintf(folder, sizeof folder, "%s/archive", state);
    DIR *list = opendir(folder);
    for (struct dirent *entry; list && (entry = readdir(list));) {
        const char *end = strstr(entry->d_name, ".warc.gz");
        if (end && strcmp(end, ".warc.gz") == 0)
            check_file(self, folder, entry->d_name);
    }
    if (list)
        closedir(list);
    if (self->count)
        qsort(self->responses, self->count, sizeof *self->responses, by_place);
}

/* ---- the database ---- */

static sqlite3_stmt *ask(check *self, sqlite3 *db, const char *query)
{
    sqlite3_stmt *statement = NULL;
    if (sqlite3_prepare_v2(db, query, -1, &statement, NULL) != SQLITE_OK)
        fault(self, &self->report->strays, "crawl.db: %s", sqlite3_errmsg(db));
    return statement;
}

/* The one number that a query gives. */
static uint64_t count_of(check *self, sqlite3 *db, const char *query)
{
    sqlite3_stmt *statement = ask(self, db, query);
    uint64_t count =
        statement && sqlite3_step(statement) == SQLITE_ROW ? (uint64_t)sqlite3_column_int64(statement, 0) : 0;
    sqlite3_finalize(statement);
    return count;
}

static void check_place(check *self, const checker_row *row)
{
    stored key = {.file = (char *)(size_t)row->file, .offset = (uint64_t)row->offset};
    stored *found = self->count ? bsearch(&key, self->responses, self->count, sizeof *self->responses, by_place) : NULL;
    bool fits = found && strcmp(found->url, row->url) == 0 && found->length == (uint64_t)row->length && row->digest &&
                strcmp(found->digest, row->digest) == 0 && !found->claimed && found->is_revisit == (row->payload != 0);
    if (!fits)
        fault(self, &self->report->misplaced, "%s says that it is in %s at %lld", row->url, row->file,
              (long long)row->offset);
    if (found) {
        found->claimed = true;
        found->row = row->id;
        found->payload = row->payload;
    }
}

/* ---- visits ---- */

/* The first rows of all visits; a row belongs to the last visit that begins with it or before it. */
static void read_visits(check *self, sqlite3 *db)
{
    sqlite3_stmt *rows = ask(self, db, "SELECT visit, first FROM epochs ORDER BY visit");
    while (rows && sqlite3_step(rows) == SQLITE_ROW && self->report->visits < CHECKER_VISITS) {
        self->first[self->report->visits++] = sqlite3_column_int64(rows, 1);
        if (sqlite3_column_int64(rows, 0) != (int64_t)self->report->visits)
            fault(self, &self->report->misattributed, "visit %llu has another number",
                  (unsigned long long)self->report->visits);
    }
    sqlite3_finalize(rows);
}

static int64_t visit_of(const check *self, int64_t id)
{
    int64_t visit = (int64_t)self->report->visits;
    while (visit > 1 && self->first[visit - 1] > id)
        visit--;
    return visit;
}

/* Adds what a row says, in all its columns, to the history of its visit. */
static void add_to_history(check *self, sqlite3_stmt *row, int64_t visit)
{
    if (visit < 1 || visit > CHECKER_VISITS)
        return;
    uint64_t *history = &self->report->histories[visit - 1];
    for (int i = 0; i + 1 < sqlite3_column_count(row); i++) { /* the last column depends on other rows */
        const char *value = (const char *)sqlite3_column_text(row, i);
        *history = fnv_bytes(*history, value ? value : "", (size_t)sqlite3_column_bytes(row, i) + (value != NULL));
    }
}

static const char *text_of(sqlite3_stmt *statement, int column)
{
    return (const char *)sqlite3_column_text(statement, column);
}

static checker_row row_of(sqlite3_stmt *from)
{
    return (checker_row){.id = sqlite3_column_int64(from, 0),
                         .url = text_of(from, 1),
                         .depth = sqlite3_column_int64(from, 2),
                         .hops = sqlite3_column_int64(from, 3),
                         .kind = sqlite3_column_int64(from, 4),
                         .referrer = sqlite3_column_int64(from, 5),
                         .outcomes = sqlite3_column_type(from, 6) != SQLITE_NULL,
                         .status = sqlite3_column_int64(from, 7),
                         .reason = text_of(from, 8),
                         .digest = text_of(from, 9),
                         .redirect = text_of(from, 10),
                         .file = text_of(from, 11),
                         .bytes = sqlite3_column_int64(from, 12),
                         .offset = sqlite3_column_int64(from, 13),
                         .length = sqlite3_column_int64(from, 14),
                         .links = sqlite3_column_int64(from, 15),
                         .page = sqlite3_column_int64(from, 16),
                         .body = sqlite3_column_int64(from, 17),
                         .compared = sqlite3_column_int64(from, 18),
                         .change = text_of(from, 19),
                         .visit = sqlite3_column_int64(from, 20),
                         .payload = sqlite3_column_int64(from, 26)};
}

static void check_rows(check *self, sqlite3 *db)
{
    checker_report *report = self->report;
    int64_t last = 0;
    sqlite3_stmt *rows = ask(self, db,
                             "SELECT u.id, u.url, u.depth, u.hops, u.kind, u.referrer, o.id, o.status, o.reason, "
                             "o.digest, o.redirect, o.file, o.bytes, o.offset, o.length, o.links, v.page, v.body, "
                             "v.compared, v.change, v.visit, o.error, o.type, o.date, o.seconds, o.content, "
                             "(SELECT ifnull(b.body, b.id) FROM outcomes b WHERE b.id = o.body) "
                             "FROM urls u LEFT JOIN outcomes o ON o.id = u.id LEFT JOIN visits v ON v.id = u.id "
                             "ORDER BY u.id");
    while (rows && sqlite3_step(rows) == SQLITE_ROW) {
        checker_row row = row_of(rows);
        if (row.id == last) {
            fault(self, &report->answered_twice, "%s has two outcomes", row.url);
            continue;
        }
        last = row.id;
        row.is_old = row.visit < (int64_t)report->visits;
        add_to_history(self, rows, row.visit);
        if (row.visit != visit_of(self, row.id))
            fault(self, &report->misattributed, "%s is in visit %lld", row.url, (long long)row.visit);
        if (row.outcomes == 0)
            fault(self, &report->unanswered, "%s has no outcome", row.url);
        if (row.file)
            check_place(self, &row);
        if (self->visit)
            self->visit(self->context, &row);
    }
    sqlite3_finalize(rows);
}

/* What the crawl has counted in passing, through all its crashes, and what the rows say: of the newest visit. */
static void check_counters(check *self, sqlite3 *db)
{
#define NEWEST "id >= (SELECT max(first) FROM epochs)"
    static const struct {
        const char *name, *counted, *rows;
    } list[] = {
        {"urls", "SELECT value FROM meta WHERE name = 'urls'", "SELECT count(*) FROM urls WHERE " NEWEST},
        {"outcomes", "SELECT value FROM meta WHERE name = 'outcomes'", "SELECT count(*) FROM outcomes WHERE " NEWEST},
        {"pages", "SELECT value FROM meta WHERE name = 'pages'",
         "SELECT count(*) FROM outcomes WHERE status > 0 AND " NEWEST},
        {"bytes", "SELECT value FROM meta WHERE name = 'bytes'", "SELECT sum(bytes) FROM outcomes WHERE " NEWEST},
        {"pages of hosts", "SELECT sum(pages) FROM hosts",
         "SELECT count(*) FROM outcomes WHERE status > 0 AND " NEWEST},
        {"fetched", "SELECT fetched FROM totals", "SELECT count(*) FROM outcomes WHERE reason IS NULL AND " NEWEST},
        {"failed", "SELECT failed FROM totals", "SELECT count(*) FROM outcomes WHERE reason IS NOT NULL AND " NEWEST},
        {"bytes in all", "SELECT bytes FROM totals", "SELECT sum(bytes) FROM outcomes WHERE " NEWEST},
        {"archived", "SELECT archived FROM totals", "SELECT count(*) FROM outcomes WHERE file IS NOT NULL AND " NEWEST},
    };
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        uint64_t counted = count_of(self, db, list[i].counted), rows = count_of(self, db, list[i].rows);
        if (counted != rows)
            fault(self, &self->report->miscounts, "the counter of %s says %llu, the rows %llu", list[i].name,
                  (unsigned long long)counted, (unsigned long long)rows);
    }
}

/* Rows that refer to other rows. */
static void check_references(check *self, sqlite3 *db)
{
    static const struct {
        const char *wrong, *count;
    } list[] = {
        {"URLs belong to two pages",
         "SELECT count(*) FROM (SELECT url FROM visits GROUP BY url HAVING count(DISTINCT page) > 1)"},
        {"pages are not older than their rows", "SELECT count(*) FROM visits WHERE page > id"},
        {"rows are compared with another page, or with a row that is not older",
         "SELECT count(*) FROM visits v LEFT JOIN visits o ON o.id = v.compared WHERE v.compared > 0 "
         "AND (o.page IS NULL OR o.page <> v.page OR o.visit >= v.visit)"},
        {"rows have their bodies where none is stored",
         "SELECT count(*) FROM visits v LEFT JOIN visits o ON o.id = v.body WHERE v.body > 0 "
         "AND (o.file IS NULL OR (v.status = 304 AND (o.id >= v.id OR o.status <> 200)))"},
        {"rows of the view 'pages' are not the newest of their pages",
         "SELECT count(*) FROM (SELECT id FROM pages EXCEPT SELECT max(id) FROM visits GROUP BY page)"},
        {"pages are missing in the view 'pages'",
         "SELECT count(*) FROM (SELECT max(id) FROM visits GROUP BY page EXCEPT SELECT id FROM pages)"},
    };
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        uint64_t count = count_of(self, db, list[i].count);
        if (count)
            fault(self, &self->report->misattributed, "%llu %s", (unsigned long long)count, list[i].wrong);
    }
}

static void check_database(check *self, sqlite3 *db)
{
    checker_report *report = self->report;
    report->urls = count_of(self, db, "SELECT count(*) FROM urls");
    report->outcomes = count_of(self, db, "SELECT count(*) FROM outcomes");
    read_visits(self, db);
    check_rows(self, db);
    check_references(self, db);
    check_counters(self, db);
    uint64_t strays = count_of(self, db, "SELECT count(*) FROM outcomes WHERE id NOT IN (SELECT id FROM urls)");
    uint64_t repeated = count_of(self, db, "SELECT count(*) - count(DISTINCT visit || ' ' || url) FROM visits");
    if (strays)
        fault(self, &report->strays, "%llu outcomes are of no URL", (unsigned long long)strays);
    if (repeated)
        fault(self, &report->repeated, "%llu URLs have two rows in a visit", (unsigned long long)repeated);
    for (size_t i = 0; i < self->count; i++) {
        if (!self->responses[i].claimed)
            fault(self, &report->unclaimed, "nobody claims %s in %s at %llu", self->responses[i].url,
                  self->responses[i].file, (unsigned long long)self->responses[i].offset);
    }
}

/* ---- the output ---- */

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The value of "url" in a line that is a whole object; NULL: it is not. The URLs of test sites need no escapes. */
static char *line_url(const char *line, size_t length)
{
    static const char name[] = "\"url\":";
    if (length < 2 || line[0] != '{' || line[length - 1] != '}')
        return NULL;
    const char *at = memmem(line, length, name, sizeof name - 1);
    if (!at)
        return NULL;
    at += sizeof name - 1;
    at += *at == ' ';
    const char *end = *at == '"' ? memchr(at + 1, '"', length - (size_t)(at + 1 - line)) : NULL;
    return end ? strndup(at + 1, (size_t)(end - at - 1)) : NULL;
}

static char **read_lines(check *self, const site_text *text, size_t *count)
{
    char **urls = site_memory((text->length / 8 + 1) * sizeof *urls);
    for (size_t at = 0; at < text->length;) {
        const char *line = text->at + at, *end = memchr(line, '\n', text->length - at);
        char *url = end ? line_url(line, (size_t)(end - line)) : NULL;
        self->report->lines++;
        if (url)
            urls[(*count)++] = url;
        else
            fault(self, &self->report->bad_lines, "line %llu of the output is not whole",
                  (unsigned long long)self->report->lines);
        at = end ? (size_t)(end + 1 - text->at) : text->length;
    }
    qsort(urls, *count, sizeof *urls, by_text);
    return urls;
}

static char **read_rows(check *self, sqlite3 *db, size_t *count)
{
    char **urls = site_memory((self->report->urls + 1) * sizeof *urls);
    sqlite3_stmt *rows = ask(self, db, "SELECT url FROM urls WHERE id IN (SELECT id FROM outcomes)");
    while (rows && *count < self->report->urls && sqlite3_step(rows) == SQLITE_ROW)
        urls[(*count)++] = site_copy(text_of(rows, 0));
    sqlite3_finalize(rows);
    qsort(urls, *count, sizeof *urls, by_text);
    return urls;
}

static void free_all(char **urls, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(urls[i]);
    free(urls);
}

/* Each outcome has a line, and each line an outcome. */
static void check_lines(check *self, sqlite3 *db, const char *output)
{
    site_text text = {0};
    size_t lines = 0, rows = 0, line = 0, row = 0;
    checker_report *report = self->report;
    site_text_load(&text, output);
    char **said = read_lines(self, &text, &lines), **known = read_rows(self, db, &rows);
    while (line < lines || row < rows) {
        int order = line == lines ? 1 : row == rows ? -1 : strcmp(said[line], known[row]);
        bool again = order < 0 && line > 0 && strcmp(said[line], said[line - 1]) == 0;
        if (order > 0)
            fault(self, &report->missing_lines, "%s has no line in the output", known[row]);
        else if (again)
            fault(self, &report->repeated_lines, "%s has one line too many in the output", said[line]);
        else if (order < 0)
            fault(self, &report->bad_lines, "a line of the output is about %s, which has no outcome", said[line]);
        line += order <= 0;
        row += order >= 0;
    }
    free_all(said, lines);
    free_all(known, rows);
    site_text_free(&text);
}

void checker_look(checker_report *report, const char *folder, const char *output, checker_visit *visit, void *context)
{
    check self = {.report = report, .visit = visit, .context = context};
    char path[1024];
    sqlite3 *db = NULL;
    memset(report, 0, sizeof *report);
    check_archive(&self, folder);
    snprintf(path, sizeof path, "%s/crawl.db", folder);
    if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK) {
        check_database(&self, db);
        if (output)
            check_lines(&self, db, output);
    } else {
        fault(&self, &report->strays, "crawl.db cannot be opened");
    }
    sqlite3_close(db);
    check_revisits(&self);
    for (size_t i = 0; i < self.count; i++)
        forget(&self.responses[i]);
    free(self.responses);
}
