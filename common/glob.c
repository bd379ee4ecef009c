/*
 * Patterns: see glob.h.
 *
 * A pattern is a series of pieces with wildcards between them. The first piece must stand at the beginning of the text,
 * and the last at its end, unless a prefix is enough. Of every other piece the first occurrence after the previous one
 * is as good as any: a later one only leaves less of the text for the rest. So matching never backtracks.
 *
 * A piece is searched with memmem, in linear time. Only a piece that has a wildcard for single bytes is tried at every
 * place, which takes time in proportion to the text times the piece.
 */
#include "common/glob.h"

#include <string.h>

typedef struct span {
    const char *at;
    size_t n;
} span;

static span after(span text, size_t n)
{
    return (span){text.at + n, text.n - n};
}

static const char *find_byte(span text, char byte)
{
    return text.n ? memchr(text.at, byte, text.n) : NULL;
}

/* Takes the piece up to the next wildcard off the pattern. Returns true if there is a wildcard. */
static bool next_piece(const glob_pattern *glob, span *pattern, span *piece)
{
    const char *wildcard = find_byte(*pattern, glob->many);

    *piece = (span){pattern->at, wildcard ? (size_t)(wildcard - pattern->at) : pattern->n};
    *pattern = after(*pattern, piece->n + (wildcard != NULL));
    return wildcard != NULL;
}

static bool begins_with(const glob_pattern *glob, span text, span piece)
{
    if (text.n < piece.n)
        return false;
    for (size_t i = 0; i < piece.n; i++)
        if (piece.at[i] != text.at[i] && piece.at[i] != glob->single)
            return false;
    return true;
}

/* Moves the text to the end of the first occurrence of the piece. False if there is none. */
static bool find(const glob_pattern *glob, span *text, span piece)
{
    if (!find_byte(piece, glob->single)) {
        const char *found = piece.n ? memmem(text->at, text->n, piece.at, piece.n) : text->at;
        if (found)
            *text = after(*text, (size_t)(found - text->at) + piece.n);
        return found;
    }
    while (text->n >= piece.n && !begins_with(glob, *text, piece))
        *text = after(*text, 1);
    if (text->n < piece.n)
        return false;
    *text = after(*text, piece.n);
    return true;
}

bool glob_matches(const glob_pattern *glob, const char *text, size_t n)
{
    span pattern = {glob->ptr, glob->len}, rest = {text, n}, piece;
    bool more = next_piece(glob, &pattern, &piece);

    if (!begins_with(glob, rest, piece))
        return false;
    rest = after(rest, piece.n);
    if (!more)
        return glob->prefix || rest.n == 0;
    while (next_piece(glob, &pattern, &piece))
        if (!find(glob, &rest, piece))
            return false;
    if (glob->prefix)
        return find(glob, &rest, piece);
    return rest.n >= piece.n && begins_with(glob, after(rest, rest.n - piece.n), piece);
}
