/*
 * The rules of `crawl`: spellings that nearly always lead to the same page become one. They are for URLs of the web and
 * of ftp; all others are left as the URL Standard serialises them.
 *
 * Each rule leaves text that the rules before it would not change again and that the parser reads as it is, so that the
 * canonical form of a canonical form is itself:
 *
 *   - Behind `percent` every % begins an escape that stands; one that began none became "%25", since a digit that is
 *     decoded behind it would make one.
 *   - `session` takes a segment that becomes empty away with its slash, and leaves one alone that would become "." or
 *     "..".
 *   - Whoever removes the last parameter removes the '?'.
 */
#include "url/canon_rules.h"
#include "url/percent.h"

/* Session identifiers of at least so many characters, for names that other things have too. */
#define SESSION_MIN 16

static bool concerns(const vidi__work *work)
{
    return vidi__url_is_special(&work->url) && work->url.scheme != VIDI__SCHEME_FILE;
}

/* ---- empty ---- */

static bool is_not_empty(const vidi__work *work, vidi_str name, const vidi_str *value)
{
    (void)work;
    return name.len || value;
}

static void drop_empty(vidi__work *work)
{
    vidi__work_filter(work, is_not_empty, false);
}

/* ---- percent ---- */

static bool is_unreserved(unsigned char c)
{
    return vidi__is_alpha((char)c) || vidi__is_digit((char)c) || c == '-' || c == '.' || c == '_' || c == '~';
}

static size_t normalise(char *to, char *from, size_t len)
{
    static const char digits[] = "0123456789ABCDEF";
    char *at = to;
    for (size_t i = 0; i < len; i++) {
        if (from[i] != '%') {
            *at++ = from[i];
            continue;
        }
        unsigned high = len - i > 2 ? vidi__hex_value(from[i + 1]) : 16;
        unsigned low = high < 16 ? vidi__hex_value(from[i + 2]) : 16;
        unsigned char byte = low < 16 ? (unsigned char)(high << 4 | low) : '%';
        if (low < 16)
            i += 2;
        if (is_unreserved(byte)) {
            *at++ = (char)byte;
        } else {
            *at++ = '%';
            *at++ = digits[byte >> 4];
            *at++ = digits[byte & 15];
        }
    }
    return (size_t)(at - to);
}

static void normalise_percent(vidi__work *work)
{
    vidi__work_rewrite_both(work, normalise);
}

/* ---- slashes ---- */

/* Moves what is behind the path to its new end. */
static void end_path(vidi__work *work, size_t end)
{
    vidi__buffer *out = work->out;
    size_t old = work->url.path_end;
    if (end == old)
        return;
    memmove(out->at + end, out->at + old, out->len - old);
    out->len -= old - end;
    work->url.path_end = end;
}

static void fold_slashes(vidi__work *work)
{
    char *text = work->out->at;
    size_t to = work->url.path_begin;
    for (size_t i = to; i < work->url.path_end; i++)
        if (text[i] != '/' || i == work->url.path_begin || text[i - 1] != '/')
            text[to++] = text[i];
    end_path(work, to);
}

/* ---- session ---- */

/* At least 16 letters and digits, or hexadecimal digits and '-'; at least one digit. Words of a title are neither. */
static bool looks_like_session(vidi_str value)
{
    bool digit = false, dash = false, hex = true;
    for (size_t i = 0; i < value.len; i++) {
        char c = value.ptr[i];
        if (!vidi__is_alpha(c) && !vidi__is_digit(c) && c != '-')
            return false;
        digit = digit || vidi__is_digit(c);
        dash = dash || c == '-';
        hex = hex && (c == '-' || vidi__hex_value(c) < 16);
    }
    return digit && (hex || !dash) && value.len >= SESSION_MIN;
}

static bool is_session(vidi_str name, const vidi_str *value)
{
    static const struct {
        char name[13];
        unsigned char len;
        bool any; /* value; otherwise one that looks like a session's */
    } sessions[] = {
        {"jsessionid", 10, true},  {"phpsessid", 9, true},    {"aspsessionid", 12, true}, {"oscsid", 6, true},
        {"zenid", 5, true},        {"cfid", 4, true},         {"cftoken", 7, true},       {"sid", 3, false},
        {"sessid", 6, false},      {"sess_id", 7, false},     {"session", 7, false},      {"sessionid", 9, false},
        {"session_id", 10, false}, {"session-id", 10, false},
    };
    if (!value || !name.len)
        return false;
    char first = vidi__lower(name.ptr[0]);
    if (first == 'a' && name.len > 12) /* more may follow this one */
        name.len = 12;
    for (size_t i = 0; i < VIDI__COUNT(sessions); i++)
        if (sessions[i].name[0] == first && sessions[i].len == name.len && vidi__is_nocase(name, sessions[i].name))
            return sessions[i].any || looks_like_session(*value);
    return false;
}

static bool is_no_session(const vidi__work *work, vidi_str name, const vidi_str *value)
{
    (void)work;
    return !is_session(name, value);
}

/* Is ";name=value", without its ';', a session? */
static bool is_session_piece(vidi_str piece)
{
    const char *equals = piece.len ? memchr(piece.ptr, '=', piece.len) : NULL;
    if (!equals)
        return false;
    size_t len = (size_t)(equals - piece.ptr);
    vidi_str value = {equals + 1, piece.len - len - 1};
    return is_session((vidi_str){piece.ptr, len}, &value);
}

/* Copies the segment without its sessions to where it may already lie; returns the length. */
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

/* The length of a dot at i, which may be an escape; 0 if there is none. */
static size_t dot_at(vidi_str segment, size_t i)
{
    if (i < segment.len && segment.ptr[i] == '.')
        return 1;
    return segment.len - i >= 3 && vidi__is_nocase((vidi_str){segment.ptr + i, 3}, "%2e") ? 3 : 0;
}

/* Would the segment become "." or "..", which mean something else? */
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

/* Every segment with the slash before it; the path begins with one. */
static void drop_path_sessions(vidi__work *work)
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

static void drop_sessions(vidi__work *work)
{
    const char *path = work->out->at + work->url.path_begin;
    size_t len = work->url.path_end - work->url.path_begin;
    if (vidi__url_find2(path, len, ';', '(') < len)
        drop_path_sessions(work);
    vidi__work_filter(work, is_no_session, false);
}

/* ---- tracking ---- */

static bool is_no_tracking(const vidi__work *work, vidi_str name, const vidi_str *value)
{
    (void)value;
    return !vidi__globs_match(&work->canon->tracking, name);
}

static void drop_tracking(vidi__work *work)
{
    vidi__work_filter(work, is_no_tracking, false);
}

/* ---- index ---- */

/* Where in the path its last segment begins if that is a default document; otherwise the end. */
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

static void drop_index(vidi__work *work)
{
    size_t begin = work->url.path_begin;
    end_path(work, begin + find_index((vidi_str){work->out->at + begin, work->url.path_end - begin}));
}

/* ---- sort ---- */

static void sort(vidi__work *work)
{
    vidi__work_sort(work, false);
}

/* ---- which rules there is work for ---- */

enum { EMPTY = 0, TRACKING = VIDI__CRAWL_TRACKING, INDEX = 5, SORT = 6 }; /* places in `rules`, below */
#define ALL ((1u << VIDI__CRAWL_RULES) - 1)

/* Does `percent` leave what is at i: an escape in capital letters, of a character that must be one? */
static bool is_settled(vidi_str text, size_t i)
{
    if (text.ptr[i] != '%' || text.len - i < 3 || vidi__hex_value(text.ptr[i + 1]) > 15 ||
        vidi__hex_value(text.ptr[i + 2]) > 15)
        return false;
    unsigned byte = vidi__hex_value(text.ptr[i + 1]) << 4 | vidi__hex_value(text.ptr[i + 2]);
    return !is_unreserved((unsigned char)byte) && text.ptr[i + 1] < 'a' && text.ptr[i + 2] < 'a';
}

/* Is there no work for `percent`, and in a path none for `slashes` and `session` either? */
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

static uint32_t query_needs(const vidi_canon *canon, vidi_str query)
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
        rules |= (uint32_t)vidi__globs_match(&canon->tracking, name) << TRACKING;
        rules |= (uint32_t)(vidi__compare_bytes(last, name) > 0) << SORT;
        last = name;
        i += len + has_value + value.len + 1;
    }
    return rules;
}

/*
 * What `percent` and `session` change may be of interest to all others: then all are needed. The rest do not touch what
 * others look at: those that remove parameters leave the order of what remains, and `index` is alone with the path.
 */
static uint32_t needed(const vidi_canon *canon, const vidi__url *url)
{
    vidi_str path = {url->text + url->path_begin, url->path_end - url->path_begin};
    vidi_str query = {path.ptr + path.len, 0};
    if (!all_settled(path, true))
        return ALL;
    uint32_t rules = (uint32_t)(find_index(path) < path.len) << INDEX;
    if (url->has_query) {
        query = (vidi_str){query.ptr + 1, url->query_end - url->path_end - 1};
        rules |= all_settled(query, false) ? query_needs(canon, query) : ALL;
    }
    return rules;
}

static const vidi__rule rules[VIDI__CRAWL_RULES] = {
    {"empty", "empty parameters go, and a '?' with nothing behind it", drop_empty, false},
    {"percent", "escapes of letters, digits and -._~ are decoded, all others in upper case", normalise_percent, false},
    {"slashes", "slashes that follow one another in the path become one", fold_slashes, false},
    {"session", "session identifiers in path and query go", drop_sessions, false},
    {"tracking", "parameters of the tracking list go", drop_tracking, false},
    {"index", "default documents (index.html and the like) go", drop_index, false},
    {"sort", "parameters are sorted by name; those of one name stay in order", sort, false},
};

const vidi__profile vidi__profile_crawl = {"crawl", 1, rules, VIDI__COUNT(rules), concerns, needed};
