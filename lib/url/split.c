/* Where a URL's parts begin and end, and what is taken from them as features (the eigenvalue paper, section 3). */
#include "url/split.h"

static bool is_scheme_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '+' || c == '-' ||
           c == '.';
}

size_t vidi__url_scheme_end(vidi_str url)
{
    size_t i = 0;
    while (i < url.len && is_scheme_char(url.ptr[i]))
        i++;
    return i && url.len - i >= 3 && memcmp(url.ptr + i, "://", 3) == 0 ? i + 3 : 0;
}

/* The first '?' or '#' from `from` on, or the end. */
static size_t path_end(vidi_str url, size_t from)
{
    while (from < url.len && url.ptr[from] != '?' && url.ptr[from] != '#')
        from++;
    return from;
}

/* The next of `stop` in [from, to), or `to`. */
static size_t find(vidi_str url, size_t from, size_t to, char stop)
{
    const char *hit = from < to ? memchr(url.ptr + from, stop, to - from) : NULL;
    return hit ? (size_t)(hit - url.ptr) : to;
}

static vidi_str slice(vidi_str url, size_t from, size_t to)
{
    return (vidi_str){url.ptr + from, to - from};
}

bool vidi__url_segment(vidi__url_segments *walk, vidi_str *segment)
{
    if (walk->ended)
        return false;
    vidi_str url = walk->url;
    size_t begin = walk->at, from = begin;
    if (walk->count == 0) {
        from = vidi__url_scheme_end(url);
        begin = walk->strip_scheme ? from : 0;
    }
    size_t end = url.len;
    if (++walk->count != walk->most) {
        size_t slash = from;
        while (slash < url.len && url.ptr[slash] != '/' && url.ptr[slash] != '?' && url.ptr[slash] != '#')
            slash++;
        if (slash < url.len && url.ptr[slash] == '/')
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
static vidi_str labels(vidi_str url, char *buffer)
{
    size_t begin = vidi__url_scheme_end(url), len = 0;
    size_t end = find(url, begin, path_end(url, begin), '/');
    size_t at = find(url, begin, end, '@');
    if (at < end)
        begin = at + 1;
    end = find(url, begin, end, ':');
    if (end - begin >= 4 && memcmp(url.ptr + begin, "www.", 4) == 0)
        begin += 4;
    while (begin < end) {
        size_t dot = find(url, begin, end, '.');
        if (dot == end && len)
            break; /* the top-level domain */
        if (dot > begin)
            buffer[len++] = url.ptr[begin];
        begin = dot + 1;
    }
    return (vidi_str){buffer, len};
}

/* tail: behind the last '/' of the path, query included; of a URL without a path, nothing. */
static vidi_str tail(vidi_str url, char *buffer)
{
    (void)buffer;
    size_t host = vidi__url_scheme_end(url), end = path_end(url, host), last = url.len;
    for (size_t slash = find(url, host, end, '/'); slash < end; slash = find(url, slash + 1, end, '/'))
        last = slash + 1;
    return slice(url, last, url.len);
}

static bool separates(char c)
{
    return c == '/' || c == '?' || c == '#' || c == '&' || c == '=' || c == ';';
}

/* ends: the last two characters of every path segment, query name, query value and fragment, one after the other. */
static vidi_str ends(vidi_str url, char *buffer)
{
    size_t host = vidi__url_scheme_end(url), len = 0;
    size_t begin = find(url, host, path_end(url, host), '/');
    for (size_t i = begin; i < url.len; i++) {
        bool last = i + 1 == url.len || separates(url.ptr[i + 1]);
        bool last_but_one = !last && (i + 2 == url.len || separates(url.ptr[i + 2]));
        if ((last || last_but_one) && !separates(url.ptr[i]))
            buffer[len++] = url.ptr[i];
    }
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
