/* Finds the parts of a URL, its segments, and its features (the eigenvalue paper, section 3). */
#include "url/parse/split.h"

#include "url/parse/url.h"

static bool is_scheme_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '+' || c == '-' ||
           c == '.';
}

/* The end of "http://", "https://" or any other "scheme://"; 0 if there is none. */
static size_t scheme_end(vidi_str url)
{
    size_t i = 0;
    while (i < url.len && is_scheme_char(url.ptr[i]))
        i++;
    return i && url.len - i >= 3 && memcmp(url.ptr + i, "://", 3) == 0 ? i + 3 : 0;
}

/* The position of the first '?' or '#' from `from` on; the end if there is none. */
static size_t path_end(vidi_str url, size_t from)
{
    while (from < url.len && url.ptr[from] != '?' && url.ptr[from] != '#')
        from++;
    return from;
}

static vidi_str slice(vidi_str url, size_t from, size_t to)
{
    return (vidi_str){url.ptr + from, to - from};
}

static void split_bytes(vidi__url_parts *parts, vidi_str url)
{
    size_t scheme = scheme_end(url), end = path_end(url, scheme), path = vidi__url_find(url, scheme, end, '/');
    size_t at = vidi__url_find(url, scheme, path, '@'), host = at < path ? at + 1 : scheme;
    *parts = (vidi__url_parts){
        .url = url,
        .scheme = scheme,
        .host_begin = host,
        .host_end = vidi__url_find(url, host, path, ':'),
        .path_begin = path,
        .path_end = end,
    };
}

static void split_parsed(vidi__url_parts *parts, vidi_str url, const vidi__url *parsed)
{
    *parts = (vidi__url_parts){
        .url = url,
        .scheme = parsed->has_host ? parsed->scheme_end + 3 : 0,
        .host_begin = parsed->host_begin,
        .host_end = parsed->has_host ? parsed->host_end : parsed->host_begin,
        .path_begin = parsed->path_begin,
        .path_end = parsed->path_end,
        .opaque = parsed->opaque_path,
    };
}

int vidi__url_split(vidi__url_parts *parts, vidi_str url, vidi__buffer *room)
{
    vidi__url parsed;
    vidi__quiet quiet;
    vidi__quiet_begin(&quiet);
    int code = vidi__url_parse(&parsed, url, NULL, false, room);
    bool itself = code == VIDI_OK && parsed.len == url.len && memcmp(parsed.text, url.ptr, url.len) == 0;
    if (itself)
        split_parsed(parts, url, &parsed);
    else
        split_bytes(parts, url);
    room->len = 0;
    return vidi__quiet_end(&quiet, code == VIDI__NOT_URL ? VIDI_OK : code);
}

bool vidi__url_segment(vidi__url_segments *walk, vidi_str *segment)
{
    const vidi__url_parts *parts = walk->parts;
    vidi_str url = parts->url;
    if (walk->ended)
        return false;
    size_t begin = walk->at, from = begin, end = url.len;
    if (walk->count == 0) {
        begin = walk->strip_scheme ? parts->scheme : 0;
        from = parts->path_begin;
    }
    if (++walk->count != walk->most && !parts->opaque) {
        size_t slash = vidi__url_find(url, from, parts->path_end, '/');
        if (slash < parts->path_end)
            end = slash;
    }
    *segment = slice(url, begin, end);
    walk->ended = end == url.len;
    walk->at = end + 1;
    return true;
}

/*
 * labels: x1, x4, x7 of http://www.x1x2x3.x4x5x6.x7x8x9.com; of a host with one label only, that label's first
 * character.
 */
static vidi_str labels(const vidi__url_parts *parts, char *buffer)
{
    vidi_str url = parts->url;
    size_t begin = parts->host_begin, end = parts->host_end, len = 0;
    if (end - begin >= 4 && memcmp(url.ptr + begin, "www.", 4) == 0)
        begin += 4;
    while (begin < end) {
        size_t dot = vidi__url_find(url, begin, end, '.');
        if (dot == end && len)
            break; /* the top-level domain */
        if (dot > begin)
            buffer[len++] = url.ptr[begin];
        begin = dot + 1;
    }
    return (vidi_str){buffer, len};
}

/* tail: the text after the last '/' of the path, with the query; nothing if the path has no segments. */
static vidi_str tail(const vidi__url_parts *parts, char *buffer)
{
    (void)buffer;
    vidi_str url = parts->url;
    size_t path = parts->path_end - parts->path_begin;
    const char *slash = path && !parts->opaque ? memrchr(url.ptr + parts->path_begin, '/', path) : NULL;
    return slice(url, slash ? (size_t)(slash - url.ptr) + 1 : url.len, url.len);
}

static bool separates(char c)
{
    return c == '/' || c == '?' || c == '#' || c == '&' || c == '=' || c == ';';
}

/* Adds the last two characters of each piece between separators. */
static size_t add_ends(vidi_str text, char *buffer)
{
    size_t len = 0;
    for (size_t i = 0; i < text.len; i++) {
        bool last = i + 1 == text.len || separates(text.ptr[i + 1]);
        bool last_but_one = !last && (i + 2 == text.len || separates(text.ptr[i + 2]));
        if ((last || last_but_one) && !separates(text.ptr[i]))
            buffer[len++] = text.ptr[i];
    }
    return len;
}

/* ends: the last two characters of every path segment, query name, query value and fragment, one after the other. */
static vidi_str ends(const vidi__url_parts *parts, char *buffer)
{
    vidi_str url = parts->url;
    size_t begin = parts->path_begin, len = 0;
    if (parts->opaque) {
        size_t piece = parts->path_end - begin;
        begin = parts->path_end;
        len = piece < 2 ? piece : 2;
        memcpy(buffer, url.ptr + begin - len, len);
    }
    len += add_ends(slice(url, begin, url.len), buffer + len);
    return (vidi_str){buffer, len};
}

static const struct {
    const char *name;
    vidi__url_feature_fn *function;
} features[] = {{"labels", labels}, {"tail", tail}, {"ends", ends}};

vidi__url_feature_fn *vidi__url_feature(const char *name)
{
    for (size_t i = 0; i < VIDI__COUNT(features); i++)
        if (strcmp(features[i].name, name) == 0)
            return features[i].function;
    return NULL;
}

int vidi__url_feature_unknown(const char *name)
{
    char list[64];
    vidi__text text = vidi__text_in(list, sizeof list);
    for (size_t i = 0; i < VIDI__COUNT(features); i++)
        vidi__text_add(&text, "%s%s", i ? ", " : "", features[i].name);
    return vidi__fail(VIDI_EOPTION, "there is no feature function g=%s; there are %s", name, list);
}
