/*
 * Text that grows: it starts in room of the caller's, usually on the stack, and moves to a set's memory only when that
 * is full. Typical URLs therefore never allocate.
 *
 * An addition that finds no memory leaves the text as it was and is remembered in `error`; all later ones do nothing.
 * Whoever puts a text together asks once, at the end.
 */
#ifndef VIDI_BASE_BUFFER_H
#define VIDI_BASE_BUFFER_H

#include "base/memory.h"

typedef struct vidi__buffer {
    char *at;
    size_t len, room;
    vidi__memory *memory;
    bool grown; /* `at` comes from the memory and is no longer the caller's */
    int error;
} vidi__buffer;

/* Nothing so far; memory must outlive it, and vidi__buffer_free must follow. */
static inline vidi__buffer vidi__buffer_in(char *room, size_t bytes, vidi__memory *memory)
{
    return (vidi__buffer){.at = room, .room = bytes, .memory = memory};
}

void vidi__buffer_free(vidi__buffer *buffer);

/* Slow path of vidi__buffer_reserve: at least doubles the room. */
bool vidi__buffer_grow(vidi__buffer *buffer, size_t more);

/* Is there room for so many bytes more? False only after an error. */
static inline bool vidi__buffer_reserve(vidi__buffer *buffer, size_t more)
{
    return VIDI__LIKELY(more <= buffer->room - buffer->len) || vidi__buffer_grow(buffer, more);
}

static inline void vidi__buffer_add(vidi__buffer *buffer, const char *bytes, size_t len)
{
    if (len && vidi__buffer_reserve(buffer, len)) {
        memcpy(buffer->at + buffer->len, bytes, len);
        buffer->len += len;
    }
}

static inline void vidi__buffer_add_char(vidi__buffer *buffer, char c)
{
    if (vidi__buffer_reserve(buffer, 1))
        buffer->at[buffer->len++] = c;
}

/* Puts bytes in before those at `place`, which must not be beyond the end. */
void vidi__buffer_insert(vidi__buffer *buffer, size_t place, const char *bytes, size_t len);

#endif
