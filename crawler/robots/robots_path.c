/*
 * Paths made comparable: see robots_rules.h.
 *
 * RFC 9309 (section 2.2.2) compares octets after making the percent-encoding of URL and rule uniform. It also says that
 * reserved characters must be encoded before comparing, which would make "/" and "%2F" the same. No parser does that,
 * because they are different URLs (RFC 3986, section 2.2). The exceptions are '*' and '$': a rule can only write them
 * as %2A and %24, so they are the same as the plain characters in a URL (RFC 9309, section 2.2.3).
 */
#include "crawler/robots/robots_rules.h"

#include <string.h>

#include "common/ascii.h"

/* ---- from a URL to its path ---- */

static size_t find_any(vidi_str text, size_t from, const char *bytes)
{
    while (from < text.len && (text.ptr[from] == 0 || !strchr(bytes, text.ptr[from])))
        from++;
    return from;
}

/* Where the host begins. An address like "example.com/a", without a scheme, is taken as one that begins with a host. */
static size_t host_start(vidi_str url)
{
    size_t start = url.len >= 2 && memcmp(url.ptr, "//", 2) == 0 ? 2 : 0;
    size_t end = find_any(url, start, "/?;#");

    if (end > start && url.ptr[end - 1] == ':' && url.len - end >= 2 && memcmp(url.ptr + end, "//", 2) == 0)
        return end + 2;
    return start;
}

vidi_str robots_path_of(vidi_str url)
{
    size_t from = find_any(url, host_start(url), "/?;#");
    size_t to = find_any(url, from, "#");

    return (vidi_str){url.ptr + from, to - from};
}

/* ---- the comparable form ---- */

/* The byte that the three characters at `at` stand for; -1 if they are not a percent-encoding. */
static int encoded_byte(vidi_str path, size_t at)
{
    if (path.ptr[at] != '%' || path.len - at < 3)
        return -1;
    int high = ascii_hex(path.ptr[at + 1]), low = ascii_hex(path.ptr[at + 2]);
    return high < 0 || low < 0 ? -1 : high << 4 | low;
}

/* Characters whose percent-encoding means the same as the plain character. */
static bool is_decoded(int byte)
{
    return (byte >= '0' && byte <= '9') || ((byte | 0x20) >= 'a' && (byte | 0x20) <= 'z') ||
           (byte > 0 && byte < 0x80 && strchr("-._~*$", byte));
}

static size_t comparable(char *to, vidi_str path, int star)
{
    const char *start = to;

    for (size_t i = 0; i < path.len; i++) {
        int byte = encoded_byte(path, i);
        if (byte >= 0) {
            i += 2;
            if (is_decoded(byte))
                *to++ = (char)byte;
            else
                to += ascii_put_percent(to, (char)byte);
        } else if (path.ptr[i] & 0x80) {
            to += ascii_put_percent(to, (char)(unsigned char)path.ptr[i]);
        } else {
            *to++ = (char)(path.ptr[i] == '*' ? star : path.ptr[i]);
        }
    }
    return (size_t)(to - start);
}

size_t robots_comparable(char *to, vidi_str path)
{
    return comparable(to, path, '*');
}

size_t robots_comparable_pattern(char *to, vidi_str path)
{
    return comparable(to, path, ROBOTS_WILDCARD);
}
