/*
 * Patterns: see scope_glob.h.
 *
 * A pattern is a series of pieces with '*' between them. The first piece must stand at the beginning of the text and
 * the last at its end. Of every other piece the first occurrence after the piece before is as good as any: a later one
 * only leaves less of the text for the rest. So matching never backtracks.
 *
 * A piece is searched with memmem, in linear time. Only a piece that has a '?' is tried at every place, which takes
 * time in proportion to the text times the piece.
 */
#include "crawler/scope/scope_glob.h"

#include <string.h>

int scope_glob_open(scope_glob *glob, const char *pattern)
{
    int error = bytes_reserve(&glob->text, 1); /* so that an empty one has a pointer */

    glob->of_target = pattern[0] == '/';
    for (; *pattern && !error; pattern++) {
        unsigned char byte = (unsigned char)*pattern;
        if (byte <= ' ' || byte >= 0x7F)
            error = bytes_append_format(&glob->text, "%%%02X", byte);
        else
            error = bytes_append(&glob->text, pattern, 1);
    }
    return error;
}

void scope_glob_close(scope_glob *glob)
{
    bytes_free(&glob->text);
}

static vidi_str behind(vidi_str text, size_t n)
{
    return (vidi_str){text.ptr + n, text.len - n};
}

/* Takes the piece up to the next '*' off the pattern, and tells whether there is a '*'. */
static bool next_piece(vidi_str *pattern, vidi_str *piece)
{
    const char *star = memchr(pattern->ptr, '*', pattern->len);

    *piece = (vidi_str){pattern->ptr, star ? (size_t)(star - pattern->ptr) : pattern->len};
    *pattern = behind(*pattern, piece->len + (star != NULL));
    return star != NULL;
}

/* Does the text, which is as long as the piece at least, begin with it? */
static bool begins_with(vidi_str text, vidi_str piece)
{
    for (size_t i = 0; i < piece.len; i++)
        if (piece.ptr[i] != text.ptr[i] && piece.ptr[i] != '?')
            return false;
    return true;
}

/* Moves the text to the end of the first occurrence of the piece. False if there is none. */
static bool find(vidi_str *text, vidi_str piece)
{
    if (!memchr(piece.ptr, '?', piece.len)) {
        const char *found = memmem(text->ptr, text->len, piece.ptr, piece.len);
        if (found)
            *text = behind(*text, (size_t)(found - text->ptr) + piece.len);
        return found;
    }
    for (; text->len >= piece.len; *text = behind(*text, 1))
        if (begins_with(*text, piece)) {
            *text = behind(*text, piece.len);
            return true;
        }
    return false;
}

bool scope_glob_matches(const scope_glob *glob, vidi_str text)
{
    vidi_str pattern = bytes_str(&glob->text), piece;
    bool star = next_piece(&pattern, &piece);

    if (text.len < piece.len || !begins_with(text, piece))
        return false;
    text = behind(text, piece.len);
    if (!star)
        return text.len == 0;
    while (next_piece(&pattern, &piece))
        if (!find(&text, piece))
            return false;
    return text.len >= piece.len && begins_with(behind(text, text.len - piece.len), piece);
}
