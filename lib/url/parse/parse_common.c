/*
 * The parser's short path, which nearly all URLs take: http or https, an ASCII domain, maybe a port, path, query and
 * fragment. It reads each byte once, from left to right, and copies text that needs no change in one piece.
 *
 * It gives up on everything else (user names, addresses, '%' and non-ASCII characters in the host, tabs and newlines
 * anywhere), and parse.c starts again. So it never has to report an invalid URL. tests/url/test_parse_common.c checks
 * that both give the same result.
 */
#include "base/bits.h"
#include "url/parse/percent.h"
#include "url/parse/url.h"

/* The length of "http://" or "https://", in upper or lower case; 0 for other schemes. */
static size_t scheme_length(vidi_str input)
{
    if (input.len < 9)
        return 0;
    uint64_t begin = vidi__load64((const unsigned char *)input.ptr); /* the first byte is the lowest */
    if ((begin | UINT64_C(0x2020202020)) == UINT64_C(0x2f2f3a7370747468))
        return 8;
    return (begin | UINT64_C(0x20202020)) << 8 == UINT64_C(0x2f2f3a7074746800) ? 7 : 0;
}

/* Returns true if the authority ends at i. */
static bool ends_authority(vidi_str input, size_t i)
{
    return i == input.len || input.ptr[i] == '/' || input.ptr[i] == '\\' || input.ptr[i] == '?' || input.ptr[i] == '#';
}

/* Adds the port whose digits begin at i, unless it is the scheme's default. Returns where it ends; 0 to give up. */
static size_t take_port(vidi__url *url, vidi_str input, size_t i, vidi__buffer *out)
{
    size_t begin = i;
    uint32_t port = 0;
    while (i < input.len && i - begin < 5 && vidi__is_digit(input.ptr[i]))
        port = port * 10 + (uint32_t)(input.ptr[i++] - '0');
    if (!ends_authority(input, i) || port > 65535 || (i - begin > 1 && input.ptr[begin] == '0'))
        return 0;
    if (i == begin || port == (url->scheme == VIDI__SCHEME_HTTP ? 80 : 443))
        return i;
    url->has_port = true;
    url->port = port;
    vidi__buffer_add(out, input.ptr + begin - 1, i - begin + 1);
    return i;
}

/* Adds scheme, host and port; out has room for them. Returns where the path begins in the input; 0 to give up. */
static size_t take_authority(vidi__url *url, vidi_str input, vidi__buffer *out)
{
    size_t i = scheme_length(input);
    if (!i)
        return 0;
    memcpy(out->at, "https://", 8);
    if (i == 7)
        memcpy(out->at, "http://", 7);
    size_t host = vidi__url_copy_domain(out->at + i, input.ptr + i, input.len - i);
    vidi_str domain = {out->at + i, host};
    url->scheme = i == 7 ? VIDI__SCHEME_HTTP : VIDI__SCHEME_HTTPS;
    url->scheme_end = i - 3;
    url->username_end = url->host_begin = i;
    i += host;
    url->host_end = out->len = i;
    if (!host || vidi__url_ends_in_number(domain))
        return 0;
    if (i < input.len && input.ptr[i] == ':')
        return take_port(url, input, i + 1, out);
    return ends_authority(input, i) ? i : 0;
}

/* Adds the query or fragment that begins at i. Returns where it ends: at '#', at a tab or newline, or at the end. */
static size_t take_part(vidi_str input, size_t i, unsigned set, bool raw, vidi__buffer *out)
{
    vidi__buffer_add_char(out, input.ptr[i++]);
    for (;;) {
        if (i < input.len && !vidi__in_set(input.ptr[i], set)) {
            size_t run = vidi__url_run(input.ptr + i, input.len - i, set);
            vidi__buffer_add(out, input.ptr + i, run);
            i += run;
        }
        if (i == input.len || input.ptr[i] == '#' || input.ptr[i] == '\t' || input.ptr[i] == '\n' ||
            input.ptr[i] == '\r')
            return i;
        i += vidi__percent_encode_one(out, input.ptr + i, input.len - i, raw);
    }
}

/* Adds path, query and fragment. Returns where it stopped: at the end, or at a tab or newline. */
static size_t take_rest(vidi__url *url, vidi_str input, size_t i, bool raw, vidi__buffer *out)
{
    url->authority_end = url->path_begin = out->len;
    if (i < input.len && (input.ptr[i] == '/' || input.ptr[i] == '\\'))
        i++;
    i += vidi__url_path(out, url->path_begin, url->scheme, (vidi_str){input.ptr + i, input.len - i}, raw);
    url->path_end = out->len;
    if (i < input.len && input.ptr[i] == '?') {
        url->has_query = true;
        i = take_part(input, i, VIDI__SET_SPECIAL_QUERY, raw, out);
    }
    url->query_end = out->len;
    if (i < input.len && input.ptr[i] == '#') {
        url->has_fragment = true;
        i = take_part(input, i, VIDI__SET_FRAGMENT, raw, out);
    }
    return i;
}

bool vidi__url_parse_usual(vidi__url *url, vidi_str input, bool raw, vidi__buffer *out)
{
    if (out->room < VIDI__URL_SLACK || input.len > out->room - VIDI__URL_SLACK)
        return false;
    *url = (vidi__url){.has_host = true, .host_kind = VIDI_URL_DOMAIN};
    size_t i = take_authority(url, input, out);
    if (VIDI__LIKELY(i) && VIDI__LIKELY(take_rest(url, input, i, raw, out) == input.len)) {
        url->text = out->at;
        url->len = out->len;
        return true;
    }
    out->len = 0;
    return out->error;
}
