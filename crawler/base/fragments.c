/*
 * Fragments: see fragments.h.
 */
#include "crawler/base/fragments.h"

#include <stdlib.h>
#include <string.h>

#include "common/ascii.h"
#include "common/fnv.h"

static const char directive[] = ":~:";

bool fragment_of(vidi_str url, vidi_str *fragment)
{
    const char *hash = url.len ? memchr(url.ptr, '#', url.len) : NULL;

    if (!hash)
        return false;
    *fragment = (vidi_str){hash + 1, (size_t)(url.ptr + url.len - hash - 1)};
    const char *end = memmem(fragment->ptr, fragment->len, directive, strlen(directive));
    if (end)
        fragment->len = (size_t)(end - fragment->ptr);
    return true;
}

/* ---- the names of a page ---- */

static int compare(const void *left, const void *right)
{
    uint64_t a, b;

    memcpy(&a, left, sizeof a);
    memcpy(&b, right, sizeof b);
    return (a > b) - (a < b);
}

int fragment_names_add(bytes *names, vidi_str name)
{
    uint64_t hash = fnv_bytes(FNV_START, name.ptr, name.len);

    return bytes_append(names, &hash, sizeof hash);
}

void fragment_names_sort(bytes *names)
{
    if (names->len > 0)
        qsort(names->ptr, names->len / sizeof(uint64_t), sizeof(uint64_t), compare);
}

static bool has_name(vidi_str names, vidi_str name)
{
    uint64_t hash = fnv_bytes(FNV_START, name.ptr, name.len);

    return names.len > 0 && bsearch(&hash, names.ptr, names.len / sizeof hash, sizeof hash, compare);
}

int fragment_leads(vidi_str names, vidi_str fragment, bytes *decoded, bool *leads)
{
    *leads = fragment.len == 0 || has_name(names, fragment);
    if (*leads)
        return VIDI_OK;
    decoded->len = 0;
    int error = bytes_append_decoded(decoded, fragment.ptr, fragment.len);
    *leads = !error && (has_name(names, bytes_str(decoded)) || ASCII_IS(*decoded, "top"));
    return error;
}
