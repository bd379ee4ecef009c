/*
 * make_warc FOLDER: writes the state of a crawl, with an archive of a few files that has every sort of page and a
 * database that knows them, and prints the index of it (CDXJ). tests/conformance/warcio.sh compares that with what
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
static int add_rows(crawl_db *to, const archive_exchange *exchange, int status, const char *file, uint64_t offset,
                    uint64_t length)
{
    frontier_url url = {.host = 1, .url = exchange->url};
    int error = frontier_add(db_frontier(to), &url);
    db_outcome outcome = {.id = url.id,
                          .status = status,
                          .type = {"text/html", 9},
                          .digest = exchange->digest,
                          .date = exchange->date,
                          .file = file,
                          .offset = offset,
                          .length = length};

    return error ? error : db_outcome_add(to, &outcome);
}

static int store(state *in, const archive_exchange *exchange, int status)
{
    char name[ARCHIVE_NAME_ROOM];
    bytes packed = {0};
    uint32_t file;
    uint64_t offset;
    size_t response;
    int error = archive_pack(in->packer, exchange, &packed, &response);

    if (!error)
        error = archive_write(in->archive, bytes_str(&packed), &file, &offset);
    if (!error)
        error = add_rows(in->db, exchange, status, archive_name(file, name), offset, response);
    bytes_free(&packed);
    return error ? fail("cannot store a page") : 0;
}

static int store_page(state *in, unsigned number)
{
    static const int statuses[] = {200, 200, 301, 404, 500};
    static char body[70000];
    char url[100], head[200], digest[38];
    size_t length = make_body(number, body);
    int status = statuses[number % 5];

    snprintf(url, sizeof url, "https://%sexample.org/%u%s", number % 4 ? "" : "www.", number,
             number % 2 ? "?b=%C3%A4&a=1" : "");
    snprintf(head, sizeof head,
             "HTTP/1.1 %d Some Reason\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: %zu\r\n\r\n", status,
             length);
    if (archive_digest((vidi_str){body, length}, digest))
        return fail("no digest");
    archive_exchange exchange = {.url = {url, strlen(url)},
                                 .date = INT64_C(1700000000000) + 997 * number,
                                 .address = number % 7 ? "192.0.2.1" : "2001:db8::1",
                                 .request = {"GET / HTTP/1.1\r\nHost: example.org\r\n\r\n", 37},
                                 .head = {head, strlen(head)},
                                 .body = {body, length},
                                 .digest = digest};
    return store(in, &exchange, status);
}

static int store_all(state *in)
{
    int failed = db_begin(in->db) ? fail(db_error(in->db)) : 0;

    for (unsigned i = 0; i < PAGES && !failed; i++)
        failed = store_page(in, i);
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
