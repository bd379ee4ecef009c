/*
 * Patterns of the user: see scope_glob.h.
 */
#include "crawler/scope/scope_glob.h"

#include <string.h>

#include "common/glob.h"

static bool is_kept(char c)
{
    return c > ' ' && c < 0x7F;
}

int scope_glob_open(scope_glob *glob, const char *pattern)
{
    glob->of_target = pattern[0] == '/';
    return bytes_append_percent(&glob->text, pattern, strlen(pattern), is_kept);
}

void scope_glob_close(scope_glob *glob)
{
    bytes_free(&glob->text);
}

bool scope_glob_matches(const scope_glob *glob, vidi_str text)
{
    glob_pattern pattern = {glob->text.ptr, glob->text.len, '*', '?', false};

    return glob_matches(&pattern, text.ptr, text.len);
}
