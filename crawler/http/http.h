/*
 * Reads HTTP responses: header fields, dates, cookies, X-Robots-Tag, and packed bodies. Pure functions of bytes, in linear time
 * for every input.
 *
 * A head is the status line and the header fields of a response as they came, ended by an empty line or not.
 */
#ifndef VIDI_CRAWLER_HTTP_HTTP_H
#define VIDI_CRAWLER_HTTP_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "crawler/base/bytes.h"

/* A header field; name and value point into the head. */
typedef struct http_field {
    vidi_str name, value; /* without surrounding blanks */
    vidi_str line;        /* the whole field, with its line end */
} http_field;

/*
 * The next field at or after *at (0 at first; the status line is skipped). False at the end. A value that continues in
 * the next line (RFC 9112, section 5.2) contains line ends. Lines that are not fields are skipped.
 */
bool http_next(vidi_str head, size_t *at, http_field *field);

/* The value of the first field of that name, in upper or lower case; ptr NULL: there is none. */
vidi_str http_value(vidi_str head, const char *name);

/*
 * False if the head has Content-Length fields of different values, so where the body ends depends on who reads it. The
 * same value twice is fine, and with Transfer-Encoding no Content-Length counts (RFC 9112, section 6.3).
 */
bool http_lengths_agree(vidi_str head);

/*
 * How long the value of Retry-After (seconds or a date) asks to wait after `date` (milliseconds since 1970): 0 to
 * HTTP_RETRY_MOST milliseconds, a year. Negative if it cannot be read.
 */
#define HTTP_RETRY_MOST (365 * 24 * 60 * 60 * INT64_C(1000))
int64_t http_retry_after(vidi_str value, int64_t date);

/* Milliseconds since 1970 of a date in one of HTTP's three formats; 0 if before 1970, negative if it is not a date. */
int64_t http_date(vidi_str text);

/* The same of a date in Set-Cookie, whose parts may come in any order (RFC 6265, section 5.1.1). */
int64_t http_cookie_date(vidi_str text);

/* What a field Set-Cookie says; the texts point into it. */
typedef struct http_cookie {
    vidi_str name, value;
    vidi_str domain; /* without a dot before it, in upper or lower case; empty: none */
    vidi_str path;   /* begins with '/'; empty: none */
    int64_t expires; /* milliseconds since 1970; negative: with the session */
    bool secure;
} http_cookie;

/* Reads a field Set-Cookie that came at `date`. False if it sets nothing. */
bool http_read_cookie(vidi_str field, int64_t date, http_cookie *cookie);
/* The path of a cookie that has none, from the URL's. */
vidi_str http_cookie_path(vidi_str path);
/* True if a cookie with the first path is sent with requests for the second. */
bool http_cookie_path_has(vidi_str cookie, vidi_str path);

/* A link in a field Link; its parts point into the value. */
typedef struct http_link {
    vidi_str url;    /* a reference, between '<' and '>' */
    vidi_str rel;    /* words; ptr NULL: there are none */
    bool has_anchor; /* it says which page it is a link of, and that may be another one */
} http_link;

/* Takes the next link off the value of a field Link. False if there is none. */
bool http_next_link(vidi_str *value, http_link *link);

/* What X-Robots-Tag asks of this agent: html_robots flags (crawler/html/html.h). */
uint32_t http_robots(vidi_str head, vidi_str agent);

/*
 * "text/html" of "Text/HTML; charset=utf-8", in lower case, cut off at the room; a zero byte ends it. Returns the
 * length. The result has only characters that media types may have, so it can be printed.
 */
size_t http_type(vidi_str value, char *to, size_t room);

/*
 * The content type that counts if there are several: the last one that can be read, as browsers choose it (the Fetch
 * Standard, "extract a MIME type"). *charset is its label, or that of an earlier one of the same type; ptr NULL: none.
 * If none of them can be read, the first field as it is; ptr NULL: there is none.
 */
vidi_str http_content_type(vidi_str head, vidi_str *charset);

typedef enum http_unpacked {
    HTTP_UNPACKED,  /* `to` has the content */
    HTTP_AS_IT_IS,  /* there was nothing to unpack; `to` is empty */
    HTTP_UNKNOWN,   /* an encoding that this build cannot decode; `to` is empty */
    HTTP_DAMAGED,   /* in another format than announced, or cut off; `to` has what came before the damage */
    HTTP_TOO_LARGE, /* the output of all layers together is above the limit; `to` is empty */
    HTTP_NO_MEMORY  /* `to` is empty */
} http_unpacked;

/* The codings to ask for, as Accept-Encoding lists them; brotli and zstd are optional. */
#if VIDI_HAVE_BROTLI && VIDI_HAVE_ZSTD
#define HTTP_CODINGS "gzip, br, zstd"
#elif VIDI_HAVE_BROTLI
#define HTTP_CODINGS "gzip, br"
#elif VIDI_HAVE_ZSTD
#define HTTP_CODINGS "gzip, zstd"
#else
#define HTTP_CODINGS "gzip"
#endif

/* Undoes Content-Encoding: these codings, x-gzip, deflate and identity, in up to 3 layers. `to` is {0} before. */
http_unpacked http_unpack(vidi_str head, vidi_str body, size_t limit, bytes *to);

/*
 * The head that fits the body as we have it, for the archive: Transfer-Encoding and Content-Length are replaced by a
 * Content-Length of `body_bytes`, lines that are not fields are left out, lines end in CR LF, and an empty line ends
 * it. Content-Encoding stays, as the body does. VIDI_OK or VIDI_EMEMORY.
 */
int http_archived_head(vidi_str head, uint64_t body_bytes, bytes *to);

#endif
