/*
 * Bytes that grow (common/bytes.h) beside the library's strings.
 */
#ifndef VIDI_CRAWLER_BASE_BYTES_H
#define VIDI_CRAWLER_BASE_BYTES_H

#include "common/bytes.h"
#include "vidi/vidi.h"

_Static_assert(BYTES_NO_MEMORY == (int)VIDI_EMEMORY, "callers return it as an error of the library");

static inline vidi_str bytes_str(const bytes *all)
{
    return (vidi_str){all->ptr, all->len};
}

static inline int bytes_append_str(bytes *to, vidi_str text)
{
    return bytes_append(to, text.ptr, text.len);
}

#endif
