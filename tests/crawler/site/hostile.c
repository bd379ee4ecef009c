#include "hostile.h"

#include <stdlib.h>
#include <string.h>

#include "support/random.h"

#define OK "HTTP/1.1 200 OK\r\n"

/* What the changes begin with. */
static const char *const correct[] = {
    OK "Content-Length: 5\r\nContent-Type: text/html\r\n\r\nhello",
    OK "Content-Type: text/html\r\nX-A: 1\r\nX-B: 2\r\n\r\nuntil the end",
    OK "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;x=y\r\nde\r\n0\r\nX-Trailer: t\r\n\r\n",
    OK "Transfer-Encoding: chunked\r\nTrailer: a, b\r\n\r\n1\r\na\r\n0\r\na: 1\r\n  folded\r\nb: 2\r\n\r\n",
    "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n" OK "Content-Length: 2\r\n\r\nok",
    "HTTP/1.1 301 Moved\r\nLocation: /elsewhere\r\nContent-Length: 0\r\n\r\n",
    "HTTP/1.1 401 No\r\nWWW-Authenticate: Basic realm=x\r\nContent-Length: 2\r\n\r\nno",
    "HTTP/1.1 204 No Content\r\n\r\n",
    "HTTP/1.1 304 Not Modified\r\nContent-Length: 1000\r\n\r\n",
    "HTTP/1.0 404 Not Found\r\n\r\nold",
    "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n\x81\x05hello",
    "HTTP/1.1 206 Part\r\nContent-Range: bytes 1-2/3\r\nContent-Length: 2\r\n\r\nok",
};

/* Lines to put somewhere. The first few continue the line before, if there is one. */
enum { FOLDED = 4 };
static const char *const lines[] = {
    "   x: y\r\n",
    "\tfolded: 1\r\n",
    " \r\n",
    "  no colon\r\n",
    "Content-Length: 5\r\n",
    "Content-Length: 0\r\n",
    "Content-Length: 70000\r\n",
    "Content-Length: -1\r\n",
    "Content-Length: 99999999999999999999\r\n",
    "Content-Length: 5, 5\r\n",
    "Transfer-Encoding: chunked\r\n",
    "Transfer-Encoding: gzip, chunked\r\n",
    "Transfer-Encoding: deflate, gzip, br, zstd, gzip, gzip, gzip\r\n",
    "Transfer-Encoding: nothing\r\n",
    "Content-Encoding: gzip\r\n",
    "Content-Encoding: br\r\n",
    "Connection: close\r\n",
    "Connection: keep-alive\r\n",
    "Connection: Upgrade\r\nUpgrade: h2c\r\n",
    "Keep-Alive: timeout=-1, max=x\r\n",
    "Proxy-Connection: close\r\n",
    "Location: http://[::1:0/\r\n",
    "Location:\r\n",
    "Set-Cookie: a=b; domain=..; expires=Thu, 99 Foo 99999 99:99:99\r\n",
    "Strict-Transport-Security: max-age=99999999999999999999; includeSubDomains\r\n",
    "Alt-Svc: h3=\":443\"; ma=1, h2=\"[::1]:\"\r\n",
    "WWW-Authenticate: Digest realm=\"a\\\", nonce=\r\n",
    "WWW-Authenticate: NTLM TlRMTVNTUAACAAAA\r\n",
    "WWW-Authenticate: Negotiate ////\r\n",
    "Proxy-Authenticate: Basic\r\n",
    "Last-Modified: Thu, 01 Jan 999999999 00:00:00 GMT\r\n",
    "Retry-After: -99999999999999999999\r\n",
    "Content-Range: bytes 99999999999999999999-/*\r\n",
    "X-Robots-Tag: none\r\n",
    "Content-Type: \r\n",
    ":\r\n",
    "no colon\r\n",
    "\r\n",
    "ffffffffffffffff\r\n",
    "0\r\n",
    "-1\r\n",
    OK,
    "HTTP/2 200\r\n",
    "HTTP/1.1 100\r\n\r\n",
    "HTTP/1.1 103 Hints\r\n  x: y\r\n\r\n",
};

/* A place in the text, its end included. */
static size_t somewhere(const site_text *in, test_random *random)
{
    return (size_t)test_below(random, in->length + 1);
}

/* The beginning of a line: of the second one half of the time, where a folded line has nothing to continue. */
static size_t some_line(const site_text *in, test_random *random)
{
    size_t from = test_below(random, 2) ? 0 : somewhere(in, random);
    const char *end = in->length > from ? memchr(in->at + from, '\n', in->length - from) : NULL;

    return end ? (size_t)(end - in->at) + 1 : 0;
}

static void insert(site_text *in, size_t at, const char *what, size_t length)
{
    site_text_add(in, what, length); /* for the room; `what` may not be part of the text */
    memmove(in->at + at + length, in->at + at, in->length - length - at);
    memcpy(in->at + at, what, length);
}

static void leave_out(site_text *in, size_t at, size_t length)
{
    memmove(in->at + at, in->at + at + length, in->length - at - length);
    in->length -= length;
}

static void repeat(site_text *in, size_t at, size_t length, size_t times)
{
    site_text copy = {0}, all = {0};

    site_text_add(&copy, in->at + at, length);
    for (size_t i = 0; i < times; i++)
        site_text_add(&all, copy.at, length);
    if (all.length)
        insert(in, at, all.at, all.length);
    site_text_free(&copy);
    site_text_free(&all);
}

static void end_lines_otherwise(site_text *in, test_random *random)
{
    static const char *const ends[] = {"\n", "\r", "", "\r\r\n", "\n\r", " \r\n", "\r\n\r\n"};
    const char *end = ends[test_below(random, 7)];
    bool all = test_below(random, 2);

    for (size_t at = somewhere(in, random); at + 1 < in->length; at++) {
        if (memcmp(in->at + at, "\r\n", 2) != 0)
            continue;
        leave_out(in, at, 2);
        insert(in, at, end, strlen(end));
        at += strlen(end);
        if (!all)
            return;
    }
}

static void change(site_text *in, test_random *random)
{
    static const char bytes[] = "\0\r\n \t:;,0-\x7f\x80\xff";
    size_t at = somewhere(in, random), line = some_line(in, random), rest = in->length - line;
    size_t length = rest ? strcspn(in->at + line, "\n") + 1 : 0;
    const char *what;

    length = length < rest ? length : rest;
    switch (test_below(random, 12)) {
    case 0:
        what = lines[test_below(random, FOLDED)];
        insert(in, line, what, strlen(what));
        break;
    case 1:
    case 2:
    case 3:
        what = lines[test_below(random, sizeof lines / sizeof *lines)];
        insert(in, line, what, strlen(what));
        break;
    case 4:
        leave_out(in, line, length);
        break;
    case 5:
        end_lines_otherwise(in, random);
        break;
    case 6:
        if (at < in->length)
            in->at[at] = bytes[test_below(random, sizeof bytes - 1)];
        break;
    case 7:
        insert(in, at, &bytes[test_below(random, sizeof bytes - 1)], 1);
        break;
    case 8:
        in->length = at;
        break;
    case 9: /* many lines, now and then more than a head may have */
        repeat(in, line, length, (size_t)1 << test_below(random, 12));
        break;
    case 10: /* a long line or body */
        if (at < in->length)
            repeat(in, at, 1, (size_t)1 << test_below(random, 18));
        break;
    default:
        what = correct[test_below(random, sizeof correct / sizeof *correct)];
        insert(in, test_below(random, 2) ? 0 : in->length, what, strlen(what));
    }
}

bool hostile_answer(void *context, const site *site, const char *host, const char *target, site_answer *answer)
{
    static const char path[] = "/hostile/";
    static const site_manner ends[] = {SITE_RAW_CLOSE, SITE_RAW_RESET};
    const uint64_t *seed = context;
    site_text text = {0};

    (void)site;
    (void)host;
    if (strncmp(target, path, sizeof path - 1) != 0)
        return false;
    test_random random = {test_mix(*seed) + strtoull(target + sizeof path - 1, NULL, 10)};
    const char *begin = correct[test_below(&random, sizeof correct / sizeof *correct)];
    site_text_add(&text, begin, strlen(begin));
    for (uint64_t changes = test_below(&random, 1 + test_below(&random, 5)); changes > 0; changes--)
        change(&text, &random);
    *answer = (site_answer){.manner = test_below(&random, 8) ? SITE_RAW : ends[test_below(&random, 2)],
                            .body = text.at,
                            .length = text.length,
                            .piece = test_below(&random, 3) ? 0 : 1 + (size_t)test_below(&random, 40),
                            .owned = text.at};
    if (text.length > 4096) /* in pieces it would take too long */
        answer->piece = 0;
    return true;
}
