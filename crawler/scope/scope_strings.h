/*
 * A set of short texts that is filled once and then only searched: hosts, sites, prefixes, URLs. Open addressing, at
 * most half full. The texts come from the user, so a site cannot make the chains long.
 */
#ifndef VIDI_CRAWLER_SCOPE_SCOPE_STRINGS_H
#define VIDI_CRAWLER_SCOPE_SCOPE_STRINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/fnv.h"
#include "vidi/vidi.h"

typedef struct scope_strings {
    vidi_str *slots; /* ptr NULL: free */
    size_t mask;
    size_t longest; /* bytes of the longest text */
} scope_strings;

/* The hash of every beginning of a text is known on the way to its end. */
static inline uint64_t scope_hash(vidi_str text)
{
    return fnv_bytes(FNV_START, text.ptr, text.len);
}

/* From the last byte to the first, so that the hash of every end of the text is known on the way. */
static inline uint64_t scope_hash_backwards(vidi_str text)
{
    uint64_t hash = FNV_START;

    for (size_t i = text.len; i > 0; i--)
        hash = fnv_byte(hash, text.ptr[i - 1]);
    return hash;
}

/* Makes room for n texts. VIDI_OK or VIDI_EMEMORY. */
int scope_strings_open(scope_strings *names, size_t n);
void scope_strings_close(scope_strings *names);

/* The text is not copied. No more than scope_strings_open made room for. */
void scope_strings_add(scope_strings *names, uint64_t hash, vidi_str text);

/* With the hash that the text was added with. */
bool scope_strings_have(const scope_strings *names, uint64_t hash, vidi_str text);

#endif
