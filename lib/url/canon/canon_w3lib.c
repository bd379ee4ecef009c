/*
 * The rule of `w3lib`: what canonicalize_url of the Python package w3lib does, by which Scrapy compares requests. It is
 * applied to http, https and ftp URLs as the URL Standard serialises them; all others stay as they are.
 *
 *   path        escapes are decoded, except those of '/' and '?', and whatever must not be in a path is escaped again;
 *               a ';' at the end goes. What follows the first ';' of the last segment ("parameters" in RFC 1808) is
 *               left alone.
 *   query       parameters are decoded, sorted by name and value, and escaped again: a space is '+', and every
 *               parameter gets a '='. Empty ones go.
 *
 * Only '&' separates parameters: w3lib up to version 2.4 takes ';' for another '&', later versions do not. User name
 * and password are not changed; w3lib before 2.2.1 writes them in lower case.
 *
 * One difference makes the form of a form the form itself: w3lib writes "%25" in a path as a bare '%', so that "%2541"
 * becomes "%41" and, the next time, "A". Here '%' is written "%25" in every case. tests/python/test_w3lib.py compares
 * the two.
 */
#include "url/canon/canon_rules.h"
#include "url/parse/percent.h"

static bool concerns(const vidi__canon_work *work)
{
    vidi__scheme scheme = work->url.scheme;
    return scheme == VIDI__SCHEME_HTTP || scheme == VIDI__SCHEME_HTTPS || scheme == VIDI__SCHEME_FTP;
}

/* ---- path ---- */

/* The bytes that w3lib decodes in a path and does not escape again. The URL parser escapes none of them either. */
static bool is_safe(unsigned char c)
{
    return vidi__is_unreserved(c) || (c && strchr(":[]@!$&'()*+,;=|", c));
}

static size_t normalise(char *to, char *from, size_t len)
{
    return vidi__normalise_escapes(to, from, len, is_safe);
}

static const char *last_slash(const char *text, size_t begin, size_t end)
{
    return memrchr(text + begin, '/', end - begin); /* every path of these schemes begins with one */
}

/* Returns true if the last segment is "." or "..". */
static bool is_dots(const char *text, size_t begin, size_t end)
{
    const char *segment = last_slash(text, begin, end) + 1;
    return vidi__url_dots((vidi_str){segment, (size_t)(text + end - segment)}) != 0;
}

/* The first ';' of the last segment; the end of the path if there is none. */
static size_t find_params(const char *text, size_t begin, size_t end)
{
    const char *slash = last_slash(text, begin, end);
    const char *found = memchr(slash, ';', (size_t)(text + end - slash));
    return found ? (size_t)(found - text) : end;
}

/* Removes the last byte of the path, unless that would leave a segment that the parser removes. */
static void drop_last(vidi__canon_work *work)
{
    vidi__buffer *out = work->out;
    size_t end = work->url.path_end;
    if (is_dots(out->at, work->url.path_begin, end - 1))
        return;
    memmove(out->at + end - 1, out->at + end, out->len - end);
    out->len--;
    work->url.path_end--;
}

static void rewrite_path(vidi__canon_work *work)
{
    const vidi__buffer *out = work->out;
    vidi__url *url = &work->url;
    size_t end = find_params(out->at, url->path_begin, url->path_end);
    size_t more = vidi__canon_work_percents(work, url->path_begin, end);
    bool empty = end + 1 == url->path_end;
    url->path_end += vidi__canon_work_rewrite(work, url->path_begin, end, more, normalise) - end;
    if (empty)
        drop_last(work);
    if (find_params(out->at, url->path_begin, url->path_end) + 1 == url->path_end) /* it was "%3B" */
        drop_last(work);
}

/* ---- query ---- */

/* Escapes a name or a value again. The first '=' separates the two. */
static size_t escape_query(char *to, char *from, size_t len)
{
    char *at = to;
    bool is_value = false;
    for (size_t i = 0; i <= len; i++) {
        if (i == len || from[i] == '&') {
            if (!is_value)
                *at++ = '=';
            if (i < len)
                *at++ = '&';
            is_value = false;
        } else if (from[i] == '=' && !is_value) {
            *at++ = '=';
            is_value = true;
        } else {
            int escaped = vidi__unescape(from + i, len - i);
            unsigned char byte = escaped >= 0 ? (unsigned char)escaped : (unsigned char)from[i];
            i += escaped >= 0 ? 2 : 0;
            if (byte == ' ' || (byte == '+' && escaped < 0))
                *at++ = '+';
            else if (vidi__is_unreserved(byte))
                *at++ = (char)byte;
            else
                at = vidi__escape(at, byte);
        }
    }
    return (size_t)(at - to);
}

/* How many bytes the query may grow by: 2 for each byte that may have to be escaped, 1 for each '=' that is added. */
static size_t growth(const char *query, size_t len)
{
    size_t more = 1;
    for (size_t i = 0; i < len; i++)
        more += vidi__is_unreserved((unsigned char)query[i]) ? 0 : 2;
    return more;
}

static void rewrite_query(vidi__canon_work *work)
{
    vidi__canon_work_drop_empty(work);
    if (!work->url.has_query)
        return;
    size_t begin = work->url.path_end + 1, end = work->out->len;
    vidi__canon_work_rewrite(work, begin, end, growth(work->out->at + begin, end - begin), escape_query);
    vidi__canon_work_sort(work, VIDI__BY_MEANING);
}

static void canonicalize(vidi__canon_work *work)
{
    rewrite_path(work);
    if (!work->out->error)
        rewrite_query(work);
}

/* Whether the rule may change the URL; it looks at every query itself. */
static uint32_t needed(const vidi__form *form, const vidi__url *url)
{
    size_t len = url->path_end - url->path_begin;
    (void)form;
    return url->has_query || url->text[url->path_end - 1] == ';' || memchr(url->text + url->path_begin, '%', len);
}

static const vidi__rule rules[] = {
    {"w3lib", "sorts and escapes the query and decodes the path, as w3lib and Scrapy do", canonicalize, false, true},
};

const vidi__profile vidi__profile_w3lib = {"w3lib", 1, VIDI__OUTPUT_URL, rules, 1, concerns, needed};
