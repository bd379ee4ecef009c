/*
 * A set of short texts: see scope_strings.h.
 */
#include "crawler/scope/scope_strings.h"

#include <stdlib.h>
#include <string.h>

int scope_strings_open(scope_strings *names, size_t n)
{
    size_t room = 2;

    *names = (scope_strings){0};
    if (n > SIZE_MAX / 8 / sizeof(vidi_str))
        return VIDI_EMEMORY;
    while (room < 2 * n)
        room *= 2;
    names->slots = calloc(room, sizeof *names->slots);
    names->mask = room - 1;
    return names->slots ? VIDI_OK : VIDI_EMEMORY;
}

void scope_strings_close(scope_strings *names)
{
    free(names->slots);
    *names = (scope_strings){0};
}

/* The slot that has the text, or the free one where it belongs. The low bits of FNV-1a are its best. */
static vidi_str *slot_of(const scope_strings *names, uint64_t hash, vidi_str text)
{
    for (size_t at = hash & names->mask;; at = (at + 1) & names->mask) {
        vidi_str *slot = &names->slots[at];
        if (!slot->ptr || (slot->len == text.len && memcmp(slot->ptr, text.ptr, text.len) == 0))
            return slot;
    }
}

void scope_strings_add(scope_strings *names, uint64_t hash, vidi_str text)
{
    *slot_of(names, hash, text) = text;
    if (text.len > names->longest)
        names->longest = text.len;
}

bool scope_strings_have(const scope_strings *names, uint64_t hash, vidi_str text)
{
    return text.len <= names->longest && slot_of(names, hash, text)->ptr;
}
