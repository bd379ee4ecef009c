/*
 * URLs after the WHATWG URL Standard (https://url.spec.whatwg.org/): parsed once, kept as their serialisation and the
 * places in it where the parts begin and end.
 *
 *   https://user:secret@example.com:8080/a/b?q=1#top
 *        |   |   |      |          |    |   |   |
 *        |   |   |      |          |    |   |   fragment begins behind query_end, if has_fragment
 *        |   |   |      |          |    |   query_end
 *        |   |   |      |          |    path_end; query behind it, if has_query
 *        |   |   |      |          host_end (8080 is the port); authority_end is where the path begins
 *        |   |   |      host_begin
 *        |   |   username_end; the password, if any, between ':' and '@'
 *        |   username begins at scheme_end + 3, if has_host
 *        scheme_end
 *
 * Between authority_end and path_begin there is nothing, or "/." if the path begins with two slashes and there is no
 * host. All offsets are at most len.
 *
 * The parser works on whole parts, not character by character: a fragment begins at the first '#' wherever the
 * standard's machine stands, a query at the first '?' before it, and only the rest is a question of states. Every byte
 * of input is looked at a bounded number of times, whatever it is.
 */
#ifndef VIDI_URL_URL_H
#define VIDI_URL_URL_H

#include "base/buffer.h"

typedef enum vidi__scheme {
    VIDI__SCHEME_OTHER,
    VIDI__SCHEME_HTTP, /* from here on the standard's special ones */
    VIDI__SCHEME_HTTPS,
    VIDI__SCHEME_WS,
    VIDI__SCHEME_WSS,
    VIDI__SCHEME_FTP,
    VIDI__SCHEME_FILE
} vidi__scheme;

typedef struct vidi__url {
    const char *text; /* of the buffer that it was written to */
    size_t len;
    size_t scheme_end, username_end, host_begin, host_end, authority_end, path_begin, path_end, query_end;
    vidi__scheme scheme;
    uint32_t host_kind; /* vidi_url_host */
    uint32_t port;      /* 0 to 65535 if has_port, that is, if it is not the scheme's default */
    bool has_host, has_port, has_query, has_fragment;
    bool opaque_path; /* "mailto:…": no segments, nothing resolves against it */
} vidi__url;

static inline bool vidi__url_is_special(const vidi__url *url)
{
    return url->scheme != VIDI__SCHEME_OTHER;
}

/*
 * Parses the input, against the base if there is one (NULL: none), and writes the serialisation to out, which must be
 * empty. url->text is out->at, and stays good until out is freed. VIDI__NOT_URL with a sentence if it is not a URL.
 * Neither input nor base may lie in out.
 */
int vidi__url_parse(vidi__url *url, vidi_str input, const vidi__url *base, vidi__buffer *out);

/* The error of a public function whose base could not be parsed: a base that is not a URL is VIDI_EARGUMENT. */
int vidi__url_base_fails(int error);

/*
 * The same for what nearly all of them are: http or https, a domain in ASCII without anything to decode, no user name,
 * no tab or newline. In one go, and whatever the base is. The input must be trimmed. False, with out empty, for those
 * that are not so; true also after an error of out's.
 */
bool vidi__url_parse_usual(vidi__url *url, vidi_str input, vidi__buffer *out);

/* Adds the serialised host to out. special: of a special scheme; otherwise names stay as they are. */
int vidi__url_host(vidi__buffer *out, vidi_str host, bool special, uint32_t *kind);

/* "[::1]" without its brackets, in its shortest form with them. */
int vidi__url_ipv6(vidi__buffer *out, vidi_str text);

/* Does the last label look like a number, so that the host must be an IPv4 address? */
bool vidi__url_ends_in_number(vidi_str host);
int vidi__url_ipv4(vidi_str host, uint32_t *address);
void vidi__url_ipv4_add(vidi__buffer *out, uint32_t address);

/* Adds to out the ASCII form of a domain in UTF-8, as Unicode's UTS 46 has it. */
int vidi__url_idna(vidi__buffer *out, vidi_str domain);

/*
 * Adds the segments of the text, which does not begin with the slash before the first, to the path that begins at
 * `begin` in out. Stops at '?', '#', a tab or a newline; returns how much of the text was taken.
 */
size_t vidi__url_path(vidi__buffer *out, size_t begin, vidi__scheme scheme, vidi_str text);
/* Takes the path's last segment away. */
void vidi__url_path_shorten(vidi__buffer *out, size_t begin, vidi__scheme scheme);

/* 1 for ".", 2 for "..", in any spelling; 0 for other segments. */
unsigned vidi__url_dots(vidi_str segment);

/* "C:" or "C|"; and "C:/…" or the like at the beginning. */
bool vidi__url_is_drive(vidi_str text);
bool vidi__url_begins_with_drive(vidi_str text);

#endif
