/*
 * The path of a URL: segments, dot segments in all their spellings, and Windows drive letters.
 *
 * The buffer always holds the final path of the segments read so far, each with the slash before it. A ".." cuts off
 * the last slash and what follows it; that costs no more than writing it did. Text that needs no change is copied in
 * one piece, across segments.
 */
#include "url/parse/percent.h"
#include "url/parse/url.h"

bool vidi__url_is_drive(vidi_str text)
{
    return text.len == 2 && vidi__is_alpha(text.ptr[0]) && (text.ptr[1] == ':' || text.ptr[1] == '|');
}

bool vidi__url_begins_with_drive(vidi_str text)
{
    return text.len >= 2 && vidi__url_is_drive((vidi_str){text.ptr, 2}) &&
           (text.len == 2 || text.ptr[2] == '/' || text.ptr[2] == '\\');
}

void vidi__url_path_shorten(vidi__buffer *out, size_t begin, vidi__scheme scheme)
{
    if (out->error)
        return;
    const char *path = out->at + begin;
    size_t len = out->len - begin;
    if (scheme == VIDI__SCHEME_FILE && len == 3 && vidi__is_alpha(path[1]) && path[2] == ':')
        return; /* a drive letter is never removed */
    const char *slash = len ? memrchr(path, '/', len) : NULL;
    if (slash)
        out->len = (size_t)(slash - out->at);
}

/* The length of the dot that the text begins with: 1, 3 for "%2e", or 0 if there is none. */
static size_t dot(vidi_str text)
{
    if (text.len >= 1 && text.ptr[0] == '.')
        return 1;
    return text.len >= 3 && text.ptr[0] == '%' && text.ptr[1] == '2' && (text.ptr[2] | 0x20) == 'e' ? 3 : 0;
}

unsigned vidi__url_dots(vidi_str segment)
{
    size_t first = dot(segment);
    if (!first || first == segment.len)
        return first ? 1 : 0;
    size_t second = dot((vidi_str){segment.ptr + first, segment.len - first});
    return second && first + second == segment.len ? 2 : 0;
}

/* The text being added, and its destination. */
typedef struct adder {
    vidi__buffer *out;
    size_t begin; /* of the path in out */
    vidi__scheme scheme;
    vidi_str text;
    bool raw;
} adder;

static bool is_slash(const adder *a, char c)
{
    return c == '/' || (c == '\\' && a->scheme != VIDI__SCHEME_OTHER);
}

static bool ends_path(char c)
{
    return c == '?' || c == '#' || c == '\t' || c == '\n' || c == '\r';
}

/* The segment that begins at i. Only spellings of ".." matter: longer segments are cut off after 7 bytes. */
static vidi_str short_segment(const adder *a, size_t i)
{
    const size_t longest = 6; /* "%2e%2e" */
    size_t end = i;
    while (end < a->text.len && end - i <= longest && !is_slash(a, a->text.ptr[end]) && !ends_path(a->text.ptr[end]))
        end++;
    return (vidi_str){a->text.ptr + i, end - i};
}

/* Applies the dot segments that begin at i, and returns the position of the first other segment. */
static size_t fold_dots(adder *a, size_t i)
{
    for (;;) {
        vidi_str segment = short_segment(a, i);
        unsigned n = vidi__url_dots(segment);
        if (!n)
            return i;
        if (n == 2 && !a->out->error) {
            a->out->len--; /* remove the slash; it is added again below */
            vidi__url_path_shorten(a->out, a->begin, a->scheme);
            vidi__buffer_add_char(a->out, '/');
        }
        i += segment.len;
        if (i == a->text.len || !is_slash(a, a->text.ptr[i]))
            return i;
        i++;
    }
}

/* Handles dot segments and drive letters at i, after the slash has been added. Returns where the copying goes on. */
static size_t begin_segment(adder *a, size_t i)
{
    if (i < a->text.len && (a->text.ptr[i] == '.' || a->text.ptr[i] == '%'))
        i = fold_dots(a, i);
    if (a->scheme == VIDI__SCHEME_FILE && a->out->len == a->begin + 1) {
        vidi_str segment = short_segment(a, i);
        if (vidi__url_is_drive(segment)) {
            const char drive[2] = {segment.ptr[0], ':'};
            vidi__buffer_add(a->out, drive, 2);
            return i + 2;
        }
    }
    return i;
}

/* Encodes a run of bytes: bytes that need encoding seldom come alone. */
static size_t encode_several(adder *a, size_t i)
{
    do
        i += vidi__percent_encode_one(a->out, a->text.ptr + i, a->text.len - i, a->raw);
    while (i < a->text.len && vidi__in_set(a->text.ptr[i], VIDI__SET_PATH) && !ends_path(a->text.ptr[i]));
    return i;
}

size_t vidi__url_path(vidi__buffer *out, size_t begin, vidi__scheme scheme, vidi_str text, bool raw)
{
    adder a = {out, begin, scheme, text, raw};
    char other = scheme == VIDI__SCHEME_OTHER ? '?' : '\\'; /* the scan stops at '?' in any case */
    vidi__buffer_add_char(out, '/');
    size_t i = begin_segment(&a, 0);
    for (;;) {
        size_t run = vidi__url_path_run(text.ptr + i, text.len - i, other);
        vidi__buffer_add(out, text.ptr + i, run);
        i += run;
        if (i == text.len || ends_path(text.ptr[i]))
            return i;
        if (text.ptr[i] == '\\') {
            vidi__buffer_add_char(out, '/');
            i = begin_segment(&a, i + 1);
        } else if (text.ptr[i] == '.' || text.ptr[i] == '%') {
            i = begin_segment(&a, i);
        } else {
            i = encode_several(&a, i);
        }
    }
}
