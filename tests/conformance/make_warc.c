/*
 * make_warc FOLDER: writes the state of a crawl, with an archive of a few files that has every sort of page, some of them
 * again as revisit records of both kinds, and a database that knows them, and prints the index of it (CDXJ). tests/conformance/warcio.sh compares that with what
 * another reader finds in the archive.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "crawler/archive/archive.h"
#include "crawler/database/database.h"
#include "crawler/report/report.h"

enum { PAGES = 200, MOST = 200000 };

static int fail(const char *what)
{
    fprintf(stderr, "make_warc: %s\n", what);
    return 1;
}

/* Text, bytes that do not pack, blank lines that look like the end of a head, or nothing. */
static size_t make_body(unsigned number, char *body)
{
    static const size_t lengths[] = {0, 1, 2000, 70000};
    size_t length = lengths[number % 4];
    uint64_t x = number;

    for (size_t i = 0; i < length; i++) {
        x = x * 6364136223846793005u + 1442695040888963407u;
        body[i] = number % 3 == 0 ? (char)(x >> 56) : "<p>page\r\n\r\nWARC/1.1\r\n"[i % 21];
    }
    return length;
}

typedef struct state {
    crawl_db *db;
    archive *archive;
    archive_packer *packer;
} state;

/* The rows that a crawl keeps of a page. */
static int add_rows(crawl_db *to, const archive_exchange *exchange, db_outcome *outcome)
{
    frontier_url url = {.host = 1, .url = exchange->url};
    int error = frontier_add(db_frontier(to), &url);

    outcome->id = url.id;
    outcome->type = (vidi_str){"text/html", 9};
    outcome->digest = exchange->digest;
    outcome->bytes = exchange->body.len;
    outcome->date = exchange->date;
    return error ? error : db_outcome_add(to, outcome);
}

/* Packs the records; if the row refers to another one, a revisit record in place of the response. */
static int pack(state *in, const archive_exchange *exchange, const db_outcome *outcome, unsigned char *id, bytes *to,
                size_t *length)
{
    bytes packed = {0};
    db_payload stored = {0};
    size_t response;
    int error = archive_pack(in->packer, exchange, outcome->body ? &packed : to, length, id);

    if (error || !outcome->body)
        return error;
    response = *length;
    error = db_payload_find(in->db, outcome->body, exchange->digest, &stored);
    archive_original original = {.id = stored.record, .url = stored.url, .date = stored.date};
    if (!error)
        error = archive_pack_revisit(in->packer, exchange, id, &original, to);
    *length = to->len;
    if (!error && exchange->head.len)
        error = bytes_append(to, packed.ptr + response, packed.len - response);
    bytes_free(&packed);
    return error;
}

static int store(state *in, const archive_exchange *exchange, db_outcome outcome)
{
    char name[ARCHIVE_NAME_ROOM];
    unsigned char id[ARCHIVE_ID];
    bytes packed = {0};
    uint32_t file;
    size_t length;
    int error = pack(in, exchange, &outcome, id, &packed, &length);

    outcome.record = id;
    outcome.length = length;
    if (!error)
        error = archive_write(in->archive, bytes_str(&packed), &file, &outcome.offset);
    outcome.file = archive_name(file, name);
    if (!error)
        error = add_rows(in->db, exchange, &outcome);
    bytes_free(&packed);
    return error ? fail("cannot store a page") : 0;
}

typedef enum kind { RESPONSE, COPY, UNCHANGED } kind;

/* A page; the same body under another URL; or the page again, a day later, when the server says that it is unchanged. */
static int store_page(state *in, unsigned number, kind kind)
{
    static const int statuses[] = {200, 200, 301, 404, 500};
    static char body[70000];
    char url[100], head[200], digest[38];
    size_t length = make_body(number, body);
    int status = statuses[number % 5];

    snprintf(url, sizeof url, "https://%sexample.org/%u%s%s", number % 4 ? "" : "www.", number,
             kind == COPY ? "/copy" : "", number % 2 ? "?b=%C3%A4&a=1" : "");
    snprintf(head, sizeof head,
             "HTTP/1.1 %d Some Reason\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: %zu\r\n\r\n", status,
             length);
    if (archive_digest((vidi_str){body, length}, digest))
        return fail("no digest");
    archive_exchange exchange = {.url = {url, strlen(url)},
                                 .date = INT64_C(1700000000000) + 86400000 * kind + 997 * number,
                                 .address = number % 7 ? "192.0.2.1" : "2001:db8::1",
                                 .request = {"GET / HTTP/1.1\r\nHost: example.org\r\n\r\n", 37},
                                 .head = {head, kind == UNCHANGED ? 0 : strlen(head)},
                                 .body = {body, length},
                                 .digest = digest};
    return store(in, &exchange,
                 (db_outcome){.status = kind == UNCHANGED ? 304 : status, .body = kind == RESPONSE ? 0 : number + 1});
}

static int store_all(state *in)
{
    int failed = db_begin(in->db) ? fail(db_error(in->db)) : 0;

    for (unsigned i = 0; i < PAGES && !failed; i++)
        failed = store_page(in, i, RESPONSE);
    for (unsigned i = 0; i < PAGES && !failed; i += 5) /* with a status of 200 */
        failed = store_page(in, i, COPY) || store_page(in, i, UNCHANGED);
    if (!failed && archive_sync(in->archive))
        failed = fail(archive_error(in->archive));
    if (!failed && db_commit(in->db))
        failed = fail(db_error(in->db));
    return failed;
}

static int make_state(const char *folder)
{
    char path[4096], database[4096], why[256];
    state in = {.packer = archive_packer_open()};
    archive_options options = {.folder = path,
                               .agent = "vidi/0 (+mailto:me@example.org)",
                               .contact = "mailto:me@example.org",
                               .max_bytes = MOST,
                               .date = INT64_C(1700000000000)};

    snprintf(path, sizeof path, "%s/archive", folder);
    snprintf(database, sizeof database, "%s/crawl.db", folder);
    int failed = !in.packer ? fail("no memory") : 0;
    if (!failed && (archive_open(&in.archive, &options, why) || db_open(&in.db, database, DB_WRITE, false, why)))
        failed = fail(why);
    if (!failed)
        failed = store_all(&in);
    if (in.db)
        db_close(in.db);
    archive_close(in.archive);
    archive_packer_close(in.packer);
    return failed;
}

static int print_line(void *context, vidi_str text)
{
    return fwrite(text.ptr, 1, text.len, context) != text.len;
}

int main(int argc, char **argv)
{
    char why[512];
    report *of;

    if (argc != 2)
        return fail("name a folder");
    if (make_state(argv[1]))
        return 1;
    if (report_open(&of, argv[1], why))
        return fail(why);
    int failed = report_cdxj(of, print_line, stdout) ? fail(report_error(of)) : 0;
    report_close(of);
    return fflush(stdout) ? 1 : failed;
}
