/*
 * make_warc FOLDER: writes an archive of a few files that has every sort of page, and prints a line per page: the file's
 * name, offset and length of the response, its status, its digest and its URL. tests/conformance/warcio.sh compares
 * these lines with what another reader finds.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "crawler/archive/archive.h"

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

static int write_page(archive *into, archive_packer *packer, unsigned number)
{
    static const int statuses[] = {200, 200, 301, 404, 500};
    static char body[70000];
    char url[100], head[200], digest[38], name[ARCHIVE_NAME_ROOM];
    size_t length = make_body(number, body), response;
    int status = statuses[number % 5];
    bytes packed = {0};
    uint32_t file;
    uint64_t offset;

    snprintf(url, sizeof url, "https://example.org/%u%s", number, number % 2 ? "/?a=1&b=%C3%A4" : "");
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
                                 .digest = digest,
                                 .truncated = number % 50 == 49 ? "length" : NULL};
    int error = archive_pack(packer, &exchange, &packed, &response);
    if (!error)
        error = archive_write(into, bytes_str(&packed), &file, &offset);
    bytes_free(&packed);
    if (error)
        return fail(archive_error(into));
    printf("%s %" PRIu64 " %zu %d %s %s\n", archive_name(file, name), offset, response, status, digest, url);
    return 0;
}

int main(int argc, char **argv)
{
    char why[256];
    archive *made;

    if (argc != 2)
        return fail("name a folder");
    archive_options options = {.folder = argv[1],
                               .agent = "vidi/0 (+mailto:me@example.org)",
                               .contact = "mailto:me@example.org",
                               .max_bytes = MOST,
                               .date = INT64_C(1700000000000)};
    archive_packer *packer = archive_packer_open();
    if (!packer || archive_open(&made, &options, why))
        return fail(packer ? why : "no memory");
    int failed = 0;
    for (unsigned i = 0; i < PAGES && !failed; i++)
        failed = write_page(made, packer, i);
    if (!failed && archive_sync(made))
        failed = fail(archive_error(made));
    archive_close(made);
    archive_packer_close(packer);
    return failed;
}
