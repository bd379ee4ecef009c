/*
 * Matches rules and URLs: see robots.h.
 *
 * A pattern is a series of pieces with wildcards between them. The first piece must stand at the beginning of the path.
 * Of every other piece the first occurrence after the one before is as good as any: a later one only leaves less of
 * the path for the rest. So there is nothing to try twice, and with a search in linear time (memmem) a match takes time
 * in proportion to the pattern plus the path.
 */
#include "crawler/robots/robots_rules.h"

#include <stdlib.h>
#include <string.h>

/* ---- one pattern ---- */

/* Takes the piece up to the next wildcard off the pattern, and tells whether a wildcard follows. */
static bool next_piece(vidi_str *pattern, vidi_str *piece)
{
    const char *wildcard = pattern->len ? memchr(pattern->ptr, ROBOTS_WILDCARD, pattern->len) : NULL;

    *piece = (vidi_str){pattern->ptr, wildcard ? (size_t)(wildcard - pattern->ptr) : pattern->len};
    pattern->ptr += piece->len + (wildcard != NULL);
    pattern->len -= piece->len + (wildcard != NULL);
    return wildcard != NULL;
}

static bool begins_with(vidi_str path, vidi_str piece)
{
    return path.len >= piece.len && memcmp(path.ptr, piece.ptr, piece.len) == 0;
}

static bool ends_with(vidi_str path, vidi_str piece)
{
    return path.len >= piece.len && memcmp(path.ptr + path.len - piece.len, piece.ptr, piece.len) == 0;
}

static bool matches(vidi_str pattern, bool anchored, vidi_str path)
{
    vidi_str piece;
    bool more = next_piece(&pattern, &piece);

    if (!begins_with(path, piece))
        return false;
    path = (vidi_str){path.ptr + piece.len, path.len - piece.len};
    if (!more)
        return !anchored || path.len == 0;
    while ((more = next_piece(&pattern, &piece)) || !anchored) {
        const char *found = memmem(path.ptr, path.len, piece.ptr, piece.len);
        if (!found)
            return false;
        path.len -= (size_t)(found - path.ptr) + piece.len;
        path.ptr = found + piece.len;
        if (!more)
            return true;
    }
    return ends_with(path, piece);
}

/* ---- a URL ---- */

enum { ROOM = 4096 };

/* A path in its comparable form, which begins with '/'. */
typedef struct comparable_path {
    vidi_str text;
    char *heap; /* to be freed */
    char room[ROOM];
} comparable_path;

static bool is_comparable(vidi_str path)
{
    if (path.len == 0 || path.ptr[0] != '/')
        return false;
    for (size_t i = 0; i < path.len; i++)
        if (path.ptr[i] == '%' || (path.ptr[i] & 0x80))
            return false;
    return true;
}

static int make_comparable(comparable_path *out, vidi_str url)
{
    vidi_str path = robots_path_of(url);
    char *to = out->room;

    out->heap = NULL;
    out->text = path;
    if (is_comparable(path))
        return VIDI_OK;
    if (path.len >= ROOM / 3) {
        if (path.len > SIZE_MAX / 3 - 1)
            return VIDI_EMEMORY;
        to = out->heap = malloc(3 * path.len + 1);
        if (!to)
            return VIDI_EMEMORY;
    }
    bool slash = path.len == 0 || path.ptr[0] != '/';
    to[0] = '/';
    out->text = (vidi_str){to, slash + robots_comparable(to + slash, path)};
    return VIDI_OK;
}

static const robots_pattern *deciding(const robots *rules, vidi_str path)
{
    const char *text = robots_text(rules);

    for (uint32_t i = 0; i < rules->count; i++) {
        const robots_pattern *pattern = &rules->patterns[i];
        if (matches((vidi_str){text + pattern->at, pattern->length}, pattern->anchored, path))
            return pattern;
    }
    return NULL;
}

/* Fills in `why` with a pattern as people write it. */
static void explain(robots_rule *why, const robots *rules, const robots_pattern *pattern)
{
    *why = (robots_rule){.allows = true, .path = {why->text, 0}};
    if (!pattern)
        return;
    why->line = pattern->line;
    why->allows = pattern->allows;
    size_t len = 0;
    for (size_t i = 0; i < pattern->length && len < sizeof why->text; i++) {
        char c = robots_text(rules)[pattern->at + i];
        why->text[len++] = (char)((unsigned char)c == ROBOTS_WILDCARD ? '*' : c);
    }
    if (pattern->anchored && len < sizeof why->text)
        why->text[len++] = '$';
    why->path.len = len;
}

int robots_check(const robots *rules, vidi_str url, robots_rule *why)
{
    static const char file[] = "/robots.txt";
    comparable_path path;
    int error = make_comparable(&path, url);

    if (error)
        return error;
    const robots_pattern *pattern = NULL;
    if (path.text.len != sizeof file - 1 || memcmp(path.text.ptr, file, sizeof file - 1) != 0)
        pattern = deciding(rules, path.text);
    free(path.heap);
    if (why)
        explain(why, rules, pattern);
    return !pattern || pattern->allows ? ROBOTS_ALLOWED : ROBOTS_DENIED;
}
