/*
 * Matches rules and URLs: see robots.h. Patterns are matched by common/glob.h, in time in proportion to the pattern plus
 * the path.
 */
#include "crawler/robots/robots_rules.h"

#include <stdlib.h>
#include <string.h>

#include "common/glob.h"

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
    const char *text = robots_text(rules), wildcard = (char)ROBOTS_WILDCARD;

    for (uint32_t i = 0; i < rules->count; i++) {
        const robots_pattern *pattern = &rules->patterns[i];
        glob_pattern glob = {text + pattern->at, pattern->length, wildcard, wildcard, !pattern->anchored};
        if (glob_matches(&glob, path.ptr, path.len))
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
