/*
 * The parts of a URL that is serialised already. The parser has encoded every byte that could be mistaken for a
 * delimiter, so the delimiters are where they are first met: nothing is decoded, and nothing is written.
 */
#include "url/parse/percent.h"
#include "url/parse/url.h"

/* The two schemes that nearly all URLs have are compared as a whole. */
static bool view_scheme(vidi__url *url)
{
    const char *text = url->text;
    size_t i = 0;
    if (url->len >= 6 && memcmp(text, "https:", 6) == 0) {
        url->scheme_end = 5;
        url->scheme = VIDI__SCHEME_HTTPS;
        return true;
    }
    if (url->len >= 5 && memcmp(text, "http:", 5) == 0) {
        url->scheme_end = 4;
        url->scheme = VIDI__SCHEME_HTTP;
        return true;
    }
    while (i < url->len && vidi__in_set(text[i], VIDI__SET_SCHEME) && (text[i] & 0x20)) /* that bit: no capital */
        i++;
    if (i == 0 || i == url->len || text[i] != ':' || !vidi__is_alpha(text[0]))
        return false;
    url->scheme_end = i;
    url->scheme = vidi__url_scheme((vidi_str){text, i});
    return true;
}

/* In a special URL, a host whose last label is a number can only be an IPv4 address. */
static uint32_t kind_of_host(const vidi__url *url)
{
    const char *host = url->text + url->host_begin, *end = url->text + url->host_end, *number = end;
    if (host == end)
        return VIDI_URL_EMPTY_HOST;
    if (*host == '[')
        return VIDI_URL_IPV6;
    if (!vidi__url_is_special(url))
        return VIDI_URL_OPAQUE_HOST;
    while (number > host && vidi__is_digit(number[-1]))
        number--;
    return number < end && (number == host || number[-1] == '.') ? VIDI_URL_IPV4 : VIDI_URL_DOMAIN;
}

/* The port between the colon and the end of the authority. */
static bool view_port(vidi__url *url, size_t colon)
{
    size_t digits = url->authority_end - colon - 1;
    if (digits < 1 || digits > 5)
        return false;
    url->has_port = true;
    for (size_t i = colon + 1; i < url->authority_end; i++) {
        if (!vidi__is_digit(url->text[i]))
            return false;
        url->port = url->port * 10 + (uint32_t)(url->text[i] - '0');
    }
    return url->port <= 65535;
}

/* User name, password, host and port. Colons before a ']' belong to an IPv6 address. */
static bool view_authority(vidi__url *url, vidi_str text)
{
    size_t begin = url->scheme_end + 3, end = vidi__url_find(text, begin, url->path_end, '/');
    size_t at = vidi__url_find(text, begin, end, '@'), host = at < end ? at + 1 : begin;
    size_t address = host < end && text.ptr[host] == '[' ? vidi__url_find(text, host, end, ']') : host;
    size_t colon = vidi__url_find(text, address, end, ':');
    url->has_host = true;
    url->username_end = at < end ? vidi__url_find(text, begin, at, ':') : begin;
    url->host_begin = host;
    url->host_end = colon;
    url->authority_end = url->path_begin = end;
    url->host_kind = kind_of_host(url);
    if (colon == host && (colon < end || at < end || (vidi__url_is_special(url) && url->scheme != VIDI__SCHEME_FILE)))
        return false;
    return (colon == end || view_port(url, colon)) && (end < url->path_end || !vidi__url_is_special(url));
}

static bool view_before_query(vidi__url *url, vidi_str text)
{
    size_t begin = url->scheme_end + 1, left = url->path_end - begin;
    if (left >= 2 && memcmp(text.ptr + begin, "//", 2) == 0)
        return view_authority(url, text);
    bool dot = left >= 4 && memcmp(text.ptr + begin, "/.//", 4) == 0;
    url->authority_end = begin;
    url->path_begin = begin + (dot ? 2 : 0);
    url->opaque_path = left == 0 || text.ptr[begin] != '/';
    return !vidi__url_is_special(url);
}

int vidi__url_view(vidi__url *url, vidi_str text)
{
    url->text = text.ptr;
    url->len = text.len;
    url->username_end = url->host_begin = url->host_end = 0;
    url->host_kind = VIDI_URL_NO_HOST;
    url->port = 0;
    url->has_host = url->has_port = url->opaque_path = false;
    if (view_scheme(url)) {
        url->query_end = vidi__url_find(text, url->scheme_end + 1, text.len, '#');
        url->path_end = vidi__url_find(text, url->scheme_end + 1, url->query_end, '?');
        url->has_query = url->path_end < url->query_end;
        url->has_fragment = url->query_end < text.len;
        if (view_before_query(url, text))
            return VIDI_OK;
    }
    return vidi__fail(VIDI__NOT_URL, "\"%.*s\" is not a serialised URL", VIDI__QUOTE(text));
}
