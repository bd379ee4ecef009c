/*
 * The path of a URL: segments, dots in all their spellings, drive letters of Windows.
 *
 * The path stands in the buffer as it will be in the end: a slash and a segment, a slash and a segment. ".." cuts off
 * the last slash and what follows, which costs no more than was spent on writing it.
 */
#include "url/percent.h"
#include "url/url.h"

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
        return; /* a drive stays */
    const char *slash = len ? memrchr(path, '/', len) : NULL;
    if (slash)
        out->len = (size_t)(slash - out->at);
}

/* The number of bytes that spell a dot at the beginning of the text: 1, 3 ("%2e") or 0. */
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

static void add_segment(vidi__buffer *out, size_t begin, vidi__scheme scheme, vidi_str segment, bool last)
{
    unsigned n = vidi__url_dots(segment);
    if (n == 2)
        vidi__url_path_shorten(out, begin, scheme);
    if (n) {
        if (last)
            vidi__buffer_add_char(out, '/');
        return;
    }
    bool first = out->len == begin;
    vidi__buffer_add_char(out, '/');
    if (first && scheme == VIDI__SCHEME_FILE && vidi__url_is_drive(segment)) {
        const char drive[2] = {segment.ptr[0], ':'};
        vidi__buffer_add(out, drive, 2);
    } else {
        vidi__percent_encode(out, segment.ptr, segment.len, VIDI__SET_PATH);
    }
}

void vidi__url_path(vidi__buffer *out, size_t begin, vidi__scheme scheme, vidi_str text)
{
    if (scheme != VIDI__SCHEME_FILE && vidi__url_path_is_plain(text.ptr, text.len)) {
        vidi__buffer_add_char(out, '/');
        vidi__buffer_add(out, text.ptr, text.len);
        return;
    }
    char other = scheme == VIDI__SCHEME_OTHER ? '/' : '\\';
    for (bool last = false; !last;) {
        size_t end = vidi__url_find2(text.ptr, text.len, '/', other);
        last = end == text.len;
        add_segment(out, begin, scheme, (vidi_str){text.ptr, end}, last);
        if (!last) {
            text.ptr += end + 1;
            text.len -= end + 1;
        }
    }
}
