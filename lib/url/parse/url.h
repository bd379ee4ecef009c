/*
 * The parser of the WHATWG URL Standard (https://url.spec.whatwg.org/). A parsed URL is its serialisation plus the
 * offsets where its parts begin and end.
 *
 *   https://user:secret@example.com:8080/a/b?q=1#top
 *        |   |   |      |          |    |   |   |
 *        |   |   |      |          |    |   |   the fragment begins after query_end, if has_fragment
 *        |   |   |      |          |    |   query_end
 *        |   |   |      |          |    path_end; the query follows, if has_query
 *        |   |   |      |          host_end (8080 is the port); the path begins at authority_end
 *        |   |   |      host_begin
 *        |   |   username_end; the password, if any, is between ':' and '@'
 *        |   the user name begins at scheme_end + 3, if has_host
 *        scheme_end
 *
 * authority_end and path_begin are equal, except in a URL without a host whose path begins with two slashes: there "/."
 * is between them. All offsets are at most len.
 *
 * The parser works on whole parts instead of single characters. The fragment begins at the first '#' in every state of
 * the standard's state machine, and the query at the first '?' before it; only the rest depends on the state. Parsing
 * takes linear time for every input.
 */
#ifndef VIDI_URL_PARSE_URL_H
#define VIDI_URL_PARSE_URL_H

#include "base/buffer.h"

typedef enum vidi__scheme {
    VIDI__SCHEME_OTHER,
    VIDI__SCHEME_HTTP, /* this and all below: the standard's special schemes */
    VIDI__SCHEME_HTTPS,
    VIDI__SCHEME_WS,
    VIDI__SCHEME_WSS,
    VIDI__SCHEME_FTP,
    VIDI__SCHEME_FILE
} vidi__scheme;

typedef struct vidi__url {
    const char *text; /* the serialisation, in the buffer it was written to */
    size_t len;
    size_t scheme_end, username_end, host_begin, host_end, authority_end, path_begin, path_end, query_end;
    vidi__scheme scheme;
    uint32_t host_kind; /* vidi_url_host */
    uint32_t port;      /* 0 to 65535; only if has_port, which means a port other than the scheme's default */
    bool has_host, has_port, has_query, has_fragment;
    bool opaque_path; /* "mailto:…": the path has no segments, and nothing resolves against it */
} vidi__url;

static inline bool vidi__url_is_special(const vidi__url *url)
{
    return url->scheme != VIDI__SCHEME_OTHER;
}

/* The special scheme of that name, in lower case, or VIDI__SCHEME_OTHER. */
vidi__scheme vidi__url_scheme(vidi_str name);

/* The position of the first `stop` in [from, to); `to` if there is none. */
static inline size_t vidi__url_find(vidi_str url, size_t from, size_t to, char stop)
{
    const char *hit = from < to ? memchr(url.ptr + from, stop, to - from) : NULL;
    return hit ? (size_t)(hit - url.ptr) : to;
}

/*
 * Parses the input against the base (NULL: none) and writes the serialisation to out, which must be empty. url->text
 * is out->at, and stays valid until out is freed. Neither input nor base may lie in out. Returns VIDI__NOT_URL with a
 * message if the input is not a URL.
 *
 * raw decides what happens to bytes that are not UTF-8. The standard's parser (raw false) never sees them: its input is
 * decoded, and they have become U+FFFD. With raw they are percent-encoded as they are. A host with such bytes is
 * refused either way if the scheme is special.
 */
int vidi__url_parse(vidi__url *url, vidi_str input, const vidi__url *base, bool raw, vidi__buffer *out);

/*
 * The parts of a text that is a serialisation already. Returns VIDI__NOT_URL with a message if the text cannot be cut;
 * the parts of other text that is not a serialisation are unchecked, but lie in it.
 */
int vidi__url_view(vidi__url *url, vidi_str text);

/* The error of a public function whose base could not be parsed: a base that is not a URL is VIDI_EARGUMENT. */
int vidi__url_base_fails(int error);

/*
 * A shorter way to the same result for most URLs: http or https, an ASCII domain without escapes, no user name, no tab
 * or newline. Such URLs do not depend on the base. The input must be trimmed. Returns false, with out empty, for all
 * other URLs; returns true also when out has an error.
 */
bool vidi__url_parse_usual(vidi__url *url, vidi_str input, bool raw, vidi__buffer *out);

/* Adds the serialised host to out. special: the scheme is special; hosts of other schemes are only percent-encoded. */
int vidi__url_host(vidi__buffer *out, vidi_str host, bool special, bool raw, uint32_t *kind);

/* Adds an IPv6 address, given without its brackets, in its shortest form and in brackets. */
int vidi__url_ipv6(vidi__buffer *out, vidi_str text);

/* Returns true if the last label looks like a number: then the host must be an IPv4 address. */
bool vidi__url_ends_in_number(vidi_str host);
int vidi__url_ipv4(vidi_str host, uint32_t *address);
void vidi__url_ipv4_add(vidi__buffer *out, uint32_t address);

/* Adds the ASCII form of a domain in UTF-8, by Unicode's UTS 46. */
int vidi__url_idna(vidi__buffer *out, vidi_str domain);

/*
 * Adds a slash and the segments of the text to the path that begins at `begin` in out. The text begins after the slash.
 * Stops at '?', '#', a tab or a newline, and returns the number of bytes taken from the text.
 */
size_t vidi__url_path(vidi__buffer *out, size_t begin, vidi__scheme scheme, vidi_str text, bool raw);
/* Removes the path's last segment. */
void vidi__url_path_shorten(vidi__buffer *out, size_t begin, vidi__scheme scheme);

/* 1 for ".", 2 for "..", in any spelling; 0 for other segments. */
unsigned vidi__url_dots(vidi_str segment);

/* Return true if the text is a Windows drive, "C:" or "C|", or begins with one, as "C:/…" does. */
bool vidi__url_is_drive(vidi_str text);
bool vidi__url_begins_with_drive(vidi_str text);

#endif
