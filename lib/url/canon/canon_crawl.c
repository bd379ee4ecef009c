/*
 * The rules of `crawl`, which merge spellings that nearly always lead to the same page. They apply to URLs of http,
 * https, ws, wss and ftp; all others stay as the URL Standard serialises them.
 *
 * The canonical form of a canonical form is itself. To that end each rule leaves text that the parser and the rules
 * before it do not change again:
 *
 *   - After `percent`, every '%' begins an escape. A '%' that did not has become "%25"; otherwise decoding the digits
 *     after it could make an escape of it.
 *   - `session` removes a segment that becomes empty together with its slash, and does not touch a segment that would
 *     become "." or "..".
 *   - A rule that removes the last parameter removes the '?' too.
 *   - `slash` keeps the slash after a default document, which `index` would otherwise remove the next time.
 *   - `www` removes every "www." at the beginning, not just the first.
 *   - `scheme` leaves http URLs alone whose port is that of https, because the parser would remove the port.
 */
#include "url/canon/canon_rules.h"
#include "url/parse/percent.h"

/* Positions in `rules`. */
enum { EMPTY, PERCENT, SLASHES, SESSION, TRACKING, INDEX, SORT, WWW, SCHEME, SLASH, FRAGMENT, RULES };

static bool concerns(const vidi__canon_work *work)
{
    return vidi__url_is_special(&work->url) && work->url.scheme != VIDI__SCHEME_FILE;
}

/* ---- percent ---- */

static size_t normalise(char *to, char *from, size_t len)
{
    return vidi__normalise_escapes(to, from, len, vidi__is_unreserved);
}

static void normalise_percent(vidi__canon_work *work)
{
    vidi__canon_work_rewrite_both(work, normalise);
}

/* ---- slashes ---- */

/* Ends the path at `end`, and moves the query there. */
static void end_path(vidi__canon_work *work, size_t end)
{
    vidi__buffer *out = work->out;
    size_t old = work->url.path_end;
    if (end == old)
        return;
    memmove(out->at + end, out->at + old, out->len - old);
    out->len -= old - end;
    work->url.path_end = end;
}

static void fold_slashes(vidi__canon_work *work)
{
    char *text = work->out->at;
    size_t to = work->url.path_begin;
    for (size_t i = to; i < work->url.path_end; i++)
        if (text[i] != '/' || i == work->url.path_begin || text[i - 1] != '/')
            text[to++] = text[i];
    end_path(work, to);
}

/* ---- session ---- */

/* 32 hexadecimal digits, or a UUID: 8, 4, 4, 4 and 12 of them with '-' between. */
static bool looks_like_session(vidi_str value)
{
    bool uuid = value.len == 36;
    if (!uuid && value.len != 32)
        return false;
    for (size_t i = 0; i < value.len; i++) {
        bool dash = uuid && (i == 8 || i == 13 || i == 18 || i == 23);
        if (dash ? value.ptr[i] != '-' : vidi__hex_value(value.ptr[i]) > 15)
            return false;
    }
    return true;
}

static bool is_session(vidi_str name, const vidi_str *value)
{
    static const struct {
        char name[13];
        unsigned char len;
        bool any; /* the name alone is enough; otherwise the value must look like a session */
    } sessions[] = {
        {"jsessionid", 10, true},  {"phpsessid", 9, true},    {"aspsessionid", 12, true}, {"oscsid", 6, true},
        {"zenid", 5, true},        {"cfid", 4, true},         {"cftoken", 7, true},       {"sid", 3, false},
        {"sessid", 6, false},      {"sess_id", 7, false},     {"session", 7, false},      {"sessionid", 9, false},
        {"session_id", 10, false}, {"session-id", 10, false},
    };
    if (!value || !name.len)
        return false;
    char first = vidi__lower(name.ptr[0]);
    if (first == 'a' && name.len > 12) /* "aspsessionid" may have a suffix */
        name.len = 12;
    for (size_t i = 0; i < VIDI__COUNT(sessions); i++)
        if (sessions[i].name[0] == first && sessions[i].len == name.len && vidi__is_nocase(name, sessions[i].name))
            return sessions[i].any || looks_like_session(*value);
    return false;
}

static bool is_no_session(const vidi__canon_work *work, vidi_str name, const vidi_str *value)
{
    (void)work;
    return !is_session(name, value);
}

/* Returns true if "name=value", a piece of a segment after ';', is a session. */
static bool is_session_piece(vidi_str piece)
{
    const char *equals = piece.len ? memchr(piece.ptr, '=', piece.len) : NULL;
    if (!equals)
        return false;
    size_t len = (size_t)(equals - piece.ptr);
    vidi_str value = {equals + 1, piece.len - len - 1};
    return is_session((vidi_str){piece.ptr, len}, &value);
}

/* Copies the segment without its sessions to `to`, which may overlap it. Returns the new length. */
static size_t copy_segment(char *to, vidi_str segment)
{
    size_t len = 0;
    for (size_t i = 0, end; i < segment.len; i = end) {
        for (end = i + 1; end < segment.len && segment.ptr[end] != ';';)
            end++;
        vidi_str piece = {segment.ptr + i, end - i};
        if (piece.ptr[0] == ';' && is_session_piece((vidi_str){piece.ptr + 1, piece.len - 1}))
            continue;
        memmove(to + len, piece.ptr, piece.len);
        len += piece.len;
    }
    return len;
}

/* The length of the dot at i, which may be an escape; 0 if there is none. */
static size_t dot_at(vidi_str segment, size_t i)
{
    if (i < segment.len && segment.ptr[i] == '.')
        return 1;
    return segment.len - i >= 3 && vidi__is_nocase((vidi_str){segment.ptr + i, 3}, "%2e") ? 3 : 0;
}

/* Returns true if the segment would become "." or ".." without its sessions. */
static bool becomes_dots(vidi_str segment)
{
    size_t dots = 0, begin = 0;
    for (size_t len; (len = dot_at(segment, begin)) != 0; begin += len)
        dots++;
    if (dots < 1 || dots > 2 || begin == segment.len || segment.ptr[begin] != ';')
        return false;
    for (size_t i = begin, end; i < segment.len; i = end) {
        for (end = i + 1; end < segment.len && segment.ptr[end] != ';';)
            end++;
        if (!is_session_piece((vidi_str){segment.ptr + i + 1, end - i - 1}))
            return false;
    }
    return true;
}

/* Goes through the segments, each with the slash before it. */
static void drop_path_sessions(vidi__canon_work *work)
{
    char *text = work->out->at;
    size_t to = work->url.path_begin, end = work->url.path_end;
    for (size_t i = to, next; i < end; i = next) {
        for (next = i + 1; next < end && text[next] != '/';)
            next++;
        vidi_str segment = {text + i + 1, next - i - 1};
        size_t len = segment.len;
        bool keep = becomes_dots(segment);
        text[to] = '/';
        if (keep)
            memmove(text + to + 1, segment.ptr, len);
        else
            len = copy_segment(text + to + 1, segment);
        if (vidi__is_asp_session((vidi_str){text + to + 1, len}))
            len = 0;
        if (len || !segment.len || next == end)
            to += 1 + len;
    }
    end_path(work, to);
}

static void drop_sessions(vidi__canon_work *work)
{
    const char *path = work->out->at + work->url.path_begin;
    size_t len = work->url.path_end - work->url.path_begin;
    if (vidi__url_find2(path, len, ';', '(') < len)
        drop_path_sessions(work);
    vidi__canon_work_filter(work, is_no_session, false);
}

/* ---- tracking ---- */

static bool is_no_tracking(const vidi__canon_work *work, vidi_str name, const vidi_str *value)
{
    (void)value;
    return !vidi__globs_match(&work->form->tracking, name);
}

static void drop_tracking(vidi__canon_work *work)
{
    vidi__canon_work_filter(work, is_no_tracking, false);
}

/* ---- index ---- */

/* Where the last segment of the path begins if it is a default document; otherwise the end of the path. */
static size_t find_index(vidi_str path)
{
    static const char *const ends[] = {"html", "htm",  "xhtml", "shtml", "php", "php3", "php4", "php5",
                                       "asp",  "aspx", "jsp",   "jspx",  "cgi", "cfm",  "pl"};
    static const char *const default_ends[] = {"html", "htm", "asp", "aspx"};
    const char *slash = path.len ? memrchr(path.ptr, '/', path.len) : NULL;
    size_t begin = slash ? (size_t)(slash - path.ptr) + 1 : 0;
    vidi_str name = {path.ptr + begin, path.len - begin};
    if (!name.len)
        return path.len;
    char first = vidi__lower(name.ptr[0]);
    const char *dot = first == 'i' || first == 'd' ? memchr(name.ptr, '.', name.len) : NULL;
    if (!dot)
        return path.len;
    vidi_str stem = {name.ptr, (size_t)(dot - name.ptr)}, ending = {dot + 1, name.len - stem.len - 1};
    bool found = false;
    if (vidi__is_nocase(stem, "index"))
        for (size_t i = 0; i < VIDI__COUNT(ends); i++)
            found = found || vidi__is_nocase(ending, ends[i]);
    else if (vidi__is_nocase(stem, "default"))
        for (size_t i = 0; i < VIDI__COUNT(default_ends); i++)
            found = found || vidi__is_nocase(ending, default_ends[i]);
    return found ? begin : path.len;
}

static void drop_index(vidi__canon_work *work)
{
    size_t begin = work->url.path_begin;
    end_path(work, begin + find_index((vidi_str){work->out->at + begin, work->url.path_end - begin}));
}

/* ---- sort ---- */

static void sort(vidi__canon_work *work)
{
    vidi__canon_work_sort(work, VIDI__BY_NAME);
}

/* ---- www, scheme ---- */

/*
 * The length of all "www." at the beginning of the host. What follows must still be a domain of two labels: "www.com"
 * is a domain of its own.
 */
static size_t www_length(vidi_str host)
{
    size_t len = 0;
    host.len = vidi__url_find2(host.ptr, host.len, ':', ':');
    while (host.len - len > 4 && memcmp(host.ptr + len, "www.", 4) == 0) {
        const char *rest = host.ptr + len + 4;
        const char *dot = memchr(rest, '.', host.len - len - 4);
        if (!dot || dot == rest || dot + 1 == host.ptr + host.len)
            break;
        len += 4;
    }
    return len;
}

/* The host and the port, if there is one. */
static vidi_str host_of(const vidi__url *url, const char *text)
{
    return (vidi_str){text + url->host_begin, url->path_begin - url->host_begin};
}

static void drop_www(vidi__canon_work *work)
{
    vidi__canon_work_cut_host(work, www_length(host_of(&work->url, work->out->at)));
}

/* Returns true for an http URL that would still be canonical as https. */
static bool becomes_https(const vidi__url *url, const char *text)
{
    vidi_str host = host_of(url, text);
    return url->scheme == VIDI__SCHEME_HTTP && !(host.len > 4 && memcmp(host.ptr + host.len - 4, ":443", 4) == 0);
}

static void join_schemes(vidi__canon_work *work)
{
    vidi__url *url = &work->url;
    if (!becomes_https(url, work->out->at))
        return;
    vidi__buffer_insert(work->out, 4, "s", 1);
    if (work->out->error)
        return;
    url->scheme = VIDI__SCHEME_HTTPS;
    url->host_begin++;
    url->host_end++;
    url->authority_end++;
    url->path_begin++;
    url->path_end++;
}

/* ---- slash ---- */

/* The length of the path without the slashes at its end. Those of "/" and after a default document stay. */
static size_t unslashed(const vidi__form *form, vidi_str path)
{
    size_t len = path.len;
    while (len > 1 && path.ptr[len - 1] == '/')
        len--;
    bool index = vidi__rule_is_on(form, INDEX) && find_index((vidi_str){path.ptr, len}) < len;
    return index ? path.len : len;
}

static void drop_last_slash(vidi__canon_work *work)
{
    size_t begin = work->url.path_begin;
    vidi_str path = {work->out->at + begin, work->url.path_end - begin};
    end_path(work, begin + unslashed(work->form, path));
}

/* ---- which rules are needed ---- */

#define ALL ((1u << RULES) - 1)
#define OPTIONAL (1u << WWW | 1u << SCHEME | 1u << SLASH)

/* Returns true if `percent` leaves the character at i alone: an escape, in capitals, that must be one. */
static bool is_settled(vidi_str text, size_t i)
{
    int byte = vidi__unescape(text.ptr + i, text.len - i);
    return byte >= 0 && !vidi__is_unreserved((unsigned char)byte) && text.ptr[i + 1] < 'a' && text.ptr[i + 2] < 'a';
}

/* Returns true if `percent` leaves the text alone, and in a path `slashes` and `session` do too. */
static bool all_settled(vidi_str text, bool path)
{
    for (size_t i = 0; i < text.len; i += 3) {
        if (text.ptr[i] != '%')
            i += vidi__url_crawl_run(text.ptr + i, text.len - i, path);
        if (i < text.len && !is_settled(text, i))
            return false;
    }
    return true;
}

static uint32_t query_needs(const vidi__form *form, vidi_str query)
{
    uint32_t rules = 0;
    vidi_str last = {NULL, 0};
    for (size_t i = 0; i <= query.len;) {
        const char *at = query.ptr + i;
        size_t len = vidi__url_find2(at, query.len - i, '=', '&');
        vidi_str name = {at, len}, value = {at + len, 0};
        bool has_value = i + len < query.len && at[len] == '=';
        if (has_value) {
            value.ptr++;
            value.len = vidi__url_find2(value.ptr, query.len - i - len - 1, '&', '&');
            if (is_session(name, &value))
                return ALL;
        }
        rules |= (uint32_t)(!len && !has_value) << EMPTY;
        rules |= (uint32_t)vidi__globs_match(&form->tracking, name) << TRACKING;
        rules |= (uint32_t)(vidi__compare_bytes(last, name) > 0) << SORT;
        last = name;
        i += len + has_value + value.len + 1;
    }
    return rules;
}

/* The same for rules that are off by default; only called if one of them is on. */
static uint32_t optional_needs(const vidi__form *form, const vidi__url *url, vidi_str path)
{
    uint32_t rules = (uint32_t)(www_length(host_of(url, url->text)) > 0) << WWW;
    rules |= (uint32_t)becomes_https(url, url->text) << SCHEME;
    return rules | (uint32_t)(unslashed(form, path) < path.len) << SLASH;
}

/*
 * If `percent` or `session` changes anything, all rules are needed, because any of them may depend on the result. The
 * others do not affect each other, except that `index` leaves a slash for `slash`: rules that remove parameters keep
 * the order of the rest.
 */
static uint32_t needed(const vidi__form *form, const vidi__url *url)
{
    vidi_str path = {url->text + url->path_begin, url->path_end - url->path_begin};
    vidi_str query = {path.ptr + path.len, 0};
    if (!all_settled(path, true))
        return ALL;
    uint32_t rules = find_index(path) < path.len ? 1u << INDEX | 1u << SLASH : 0;
    if (VIDI__UNLIKELY(form->rules & OPTIONAL))
        rules |= optional_needs(form, url, path);
    if (url->has_query) {
        query = (vidi_str){query.ptr + 1, url->query_end - url->path_end - 1};
        rules |= all_settled(query, false) ? query_needs(form, query) : ALL;
    }
    return rules;
}

static const vidi__rule rules[RULES] = {
    [EMPTY] = {"empty", "removes empty parameters, and a '?' with nothing after it", vidi__canon_work_drop_empty, false,
               false},
    [PERCENT] = {"percent", "decodes escapes of letters, digits and -._~; writes the others in upper case",
                 normalise_percent, false, false},
    [SLASHES] = {"slashes", "replaces several slashes in a row in the path by one", fold_slashes, false, false},
    [SESSION] = {"session", "removes session identifiers from path and query", drop_sessions, false, false},
    [TRACKING] = {"tracking", "removes parameters on the tracking list", drop_tracking, false, false},
    [INDEX] = {"index", "removes default documents such as index.html", drop_index, false, false},
    [SORT] = {"sort", "sorts parameters by name, keeping the order of equal names", sort, false, false},
    [WWW] = {"www", "removes \"www.\" from the beginning of the host", drop_www, true, false},
    [SCHEME] = {"scheme", "writes http as https", join_schemes, true, false},
    [SLASH] = {"slash", "removes the slash at the end of the path", drop_last_slash, true, false},
    [FRAGMENT] = {"fragment", "keeps fragments that begin with #! or #/", NULL, true, false},
};

const vidi__profile vidi__profile_crawl = {"crawl", 1, VIDI__OUTPUT_URL, rules, RULES, concerns, needed};
