/*
 * The rules of `surt`, the Internet Archive's Sort-friendly URI Reordering Transform. It is the key of the Wayback
 * Machine's index: the labels of the host are reversed, so that the pages of a domain and its subdomains sort together.
 *
 *   http://www.Example.com:8080/A/b/?z=1&a=2   ->   com,example:8080)/a/b?a=2&z=1
 *
 * The result is a key, not a URL. URLs are parsed by the URL Standard, which refuses some text that the archive's own
 * parser accepts; tests/conformance/canon_exceptions.txt lists the differences. URLs without a host and those of the
 * archive's file formats (filedesc:, warcinfo:) stay as the standard serialises them.
 *
 * Versions 1 and 2 have the same rules. They differ in how bytes that are not UTF-8 are read.
 */
#include "url/canon/canon_rules.h"
#include "url/parse/percent.h"

enum { PERCENT, SESSION, PATH, LOWER_PATH, LOWER_QUERY, SORT, WWW, REORDER, REVERSE_IP, SCHEME, COMMA };

static bool is_scheme(const vidi__canon_work *work, const char *name)
{
    return vidi__str_is((vidi_str){work->out->at, work->url.scheme_end}, name);
}

static bool concerns(const vidi__canon_work *work)
{
    const vidi__url *url = &work->url;
    return url->has_host && url->host_end > url->host_begin && !is_scheme(work, "filedesc") &&
           !is_scheme(work, "warcinfo");
}

/* ---- percent ---- */

/*
 * Decodes until no escape is left ("%2541" becomes "A"), in one pass: after each digit, it checks whether the text
 * written so far ends in an escape. The order of decoding makes no difference, because escapes do not overlap.
 */
static size_t unescape(char *text, size_t len)
{
    size_t to = 0;
    for (size_t i = 0; i < len; i++) {
        text[to++] = text[i];
        while (to >= 3 && text[to - 3] == '%') {
            unsigned high = vidi__hex_value(text[to - 2]), low = vidi__hex_value(text[to - 1]);
            if (high > 15 || low > 15)
                break;
            to -= 2;
            text[to - 1] = (char)(high << 4 | low);
        }
    }
    return to;
}

/* Decodes completely, then encodes as little as possible. Every byte that is encoded comes from an escape or is '%'. */
static size_t escape_least(char *to, char *from, size_t len)
{
    static const char digits[] = "0123456789abcdef";
    char *at = to;
    len = unescape(from, len);
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)from[i];
        if (c > 0x20 && c < 0x7f && c != '#' && c != '%') {
            *at++ = (char)c;
        } else {
            *at++ = '%';
            *at++ = digits[c >> 4];
            *at++ = digits[c & 15];
        }
    }
    return (size_t)(at - to);
}

static void unescape_all(vidi__canon_work *work)
{
    vidi__canon_work_rewrite_both(work, escape_least);
}

/* ---- path ---- */

static void replace_path(vidi__canon_work *work, size_t end)
{
    vidi__buffer *out = work->out;
    size_t old = work->url.path_end;
    memmove(out->at + end, out->at + old, out->len - old);
    out->len = out->len - old + end;
    work->url.path_end = end;
}

/* Removes empty segments, the dot segments that decoding may have made, and the slash at the end. */
static void simplify_path(vidi__canon_work *work)
{
    char *text = work->out->at;
    size_t begin = work->url.path_begin, end = work->url.path_end, to = begin;
    for (size_t i = begin, next; i < end; i = next + 1) {
        for (next = i; next < end && text[next] != '/';)
            next++;
        vidi_str segment = {text + i, next - i};
        if (vidi__str_is(segment, "..")) {
            while (to > begin && text[--to] != '/')
                ;
        } else if (segment.len && !vidi__str_is(segment, ".")) {
            text[to++] = '/';
            memmove(text + to, segment.ptr, segment.len);
            to += segment.len;
        }
    }
    replace_path(work, to);
    if (to == begin) {
        vidi__buffer_insert(work->out, begin, "/", 1);
        work->url.path_end += !work->out->error;
    }
}

/* ---- session ---- */

static bool is_id(const vidi_str *value, size_t len)
{
    return value && value->len == len && vidi__all_alnum(*value);
}

static bool is_no_session(const vidi__canon_work *work, vidi_str name, const vidi_str *value)
{
    (void)work;
    if (vidi__is_nocase(name, "jsessionid") || vidi__is_nocase(name, "phpsessid") || vidi__is_nocase(name, "sid"))
        return !is_id(value, 32);
    if (name.len == 20 && vidi__is_nocase((vidi_str){name.ptr, 12}, "aspsessionid"))
        return !is_id(value, 24);
    return !(value && value->len && (vidi__is_nocase(name, "cfid") || vidi__is_nocase(name, "cftoken")));
}

/* Removes ";jsessionid=" and 32 letters and digits from the end of segments, and ASP.NET's segments unless last. */
static void drop_path_sessions(vidi__canon_work *work)
{
    static const char mark[] = ";jsessionid=";
    const size_t id = sizeof mark - 1 + 32;
    char *text = work->out->at;
    size_t to = work->url.path_begin, end = work->url.path_end;
    for (size_t i = to, next; i < end; i = next) {
        for (next = i + 1; next < end && text[next] != '/';)
            next++;
        vidi_str segment = {text + i + 1, next - i - 1};
        if (next < end && vidi__is_asp_session(segment))
            continue;
        if (segment.len >= id) {
            const char *tail = segment.ptr + segment.len - id;
            if (vidi__is_nocase((vidi_str){tail, sizeof mark - 1}, mark) &&
                vidi__all_alnum((vidi_str){tail + sizeof mark - 1, 32}))
                segment.len -= id;
        }
        text[to] = '/';
        memmove(text + to + 1, segment.ptr, segment.len);
        to += 1 + segment.len;
    }
    replace_path(work, to);
}

static void drop_sessions(vidi__canon_work *work)
{
    drop_path_sessions(work);
    vidi__canon_work_filter(work, is_no_session, true);
}

/* ---- lower-path, lower-query, sort ---- */

static void lower(char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        text[i] = vidi__lower(text[i]);
}

static void lower_path(vidi__canon_work *work)
{
    lower(work->out->at + work->url.path_begin, work->url.path_end - work->url.path_begin);
}

static void lower_query(vidi__canon_work *work)
{
    lower(work->out->at + work->url.path_end, work->out->len - work->url.path_end);
}

static void sort(vidi__canon_work *work)
{
    vidi__canon_work_sort(work, VIDI__BY_BOTH);
}

/* ---- www ---- */

static void drop_www(vidi__canon_work *work)
{
    size_t i = work->url.host_begin, end = work->url.host_end;
    const char *text = work->out->at;
    if (end - i < 5 || !vidi__is_nocase((vidi_str){text + i, 3}, "www"))
        return;
    for (i += 3; i < end && vidi__is_digit(text[i]);)
        i++;
    if (i + 1 < end && text[i] == '.')
        vidi__canon_work_cut_host(work, i + 1 - work->url.host_begin);
}

/* ---- reorder ---- */

/* Adds the labels from last to first, without empty ones. */
static void add_reversed(vidi__buffer *to, const char *host, size_t len)
{
    bool first = true;
    for (size_t end = len, begin;; end = begin - 1) {
        for (begin = end; begin && host[begin - 1] != '.';)
            begin--;
        if (end > begin) {
            if (!first)
                vidi__buffer_add_char(to, ',');
            vidi__buffer_add(to, host + begin, end - begin);
            first = false;
        }
        if (!begin)
            return;
    }
}

static void reorder(vidi__canon_work *work)
{
    const vidi__url *url = &work->url;
    vidi__buffer *out = work->out;
    char room[1024];
    room[0] = 0;
    vidi__buffer key = vidi__buffer_in(room, sizeof room, out->memory);
    lower(out->at + url->host_begin, url->host_end - url->host_begin);
    if (vidi__rule_is_on(work->form, SCHEME)) {
        vidi__buffer_add(&key, out->at, url->scheme_end);
        vidi__buffer_add(&key, "://(", 4);
    }
    bool as_it_is = url->host_kind == VIDI_URL_IPV6 ||
                    (url->host_kind == VIDI_URL_IPV4 && !vidi__rule_is_on(work->form, REVERSE_IP));
    if (as_it_is)
        vidi__buffer_add(&key, out->at + url->host_begin, url->host_end - url->host_begin);
    else
        add_reversed(&key, out->at + url->host_begin, url->host_end - url->host_begin);
    if (url->has_port)
        vidi__buffer_add(&key, out->at + url->host_end, url->authority_end - url->host_end);
    if (vidi__rule_is_on(work->form, COMMA))
        vidi__buffer_add_char(&key, ',');
    vidi__buffer_add_char(&key, ')');
    vidi__buffer_add(&key, out->at + url->path_begin, out->len - url->path_begin);
    out->len = 0;
    vidi__buffer_add(out, key.at, key.len);
    out->error = out->error ? out->error : key.error;
    vidi__buffer_free(&key);
}

/* The rule `path`. It also removes an empty query, so that no later rule sees one. */
static void simplify(vidi__canon_work *work)
{
    simplify_path(work);
    if (work->url.has_query && work->url.path_end + 1 == work->out->len)
        vidi__canon_work_drop_query(work);
}

static const vidi__rule rules[] = {
    [PERCENT] = {"percent", "decodes escapes until none is left, then makes as few as possible", unescape_all, false,
                 false},
    [SESSION] = {"session", "removes the session identifiers that the archive knows", drop_sessions, false, false},
    [PATH] = {"path", "removes empty and dot segments, the slash at the end, and an empty query", simplify, false,
              false},
    [LOWER_PATH] = {"lower-path", "writes the path in lower case", lower_path, false, false},
    [LOWER_QUERY] = {"lower-query", "writes the query in lower case", lower_query, false, false},
    [SORT] = {"sort", "sorts parameters by name and value", sort, false, false},
    [WWW] = {"www", "removes \"www.\", \"www2.\" and the like from the beginning of the host", drop_www, false, false},
    [REORDER] = {"reorder", "reverses the labels of the host, then adds ')' and the path", reorder, false, true},
    [REVERSE_IP] = {"reverse-ip", "reverses the numbers of an IPv4 address too", NULL, false, false},
    [SCHEME] = {"scheme", "begins the key with the scheme: http://(org,example)/", NULL, true, false},
    [COMMA] = {"comma", "adds a comma after the host: org,example,)/", NULL, true, false},
};

const vidi__profile vidi__profile_surt = {"surt", 1, VIDI__OUTPUT_KEY, rules, VIDI__COUNT(rules), concerns, NULL};
