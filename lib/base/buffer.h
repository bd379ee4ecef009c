/*
 * Text that grows. It starts in a buffer of the caller's, usually on the stack, and moves to a set's memory only if
 * that is full. So typical URLs never allocate.
 *
 * An addition that cannot allocate leaves the text unchanged and sets `error`; all later additions do nothing. So
 * callers check once, at the end.
 */
#ifndef VIDI_BASE_BUFFER_H
#define VIDI_BASE_BUFFER_H

#include "base/memory.h"

typedef struct vidi__buffer {
    char *at;
    size_t len, room;
    vidi__memory *memory;
    bool grown; /* `at` was allocated and is no longer the caller's buffer */
    int error;
} vidi__buffer;

/* An empty text. `memory` must outlive it; call vidi__buffer_free at the end. */
static inline vidi__buffer vidi__buffer_in(char *room, size_t bytes, vidi__memory *memory)
{
    return (vidi__buffer){.at = room, .room = bytes, .memory = memory};
}

void vidi__buffer_free(vidi__buffer *buffer);

/* Slow path of vidi__buffer_reserve: at least doubles the size. */
bool vidi__buffer_grow(vidi__buffer *buffer, size_t more);

/* Makes room for this many more bytes. False only after an error. */
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

/* Inserts bytes before position `place`, which must not be beyond the end. */
void vidi__buffer_insert(vidi__buffer *buffer, size_t place, const char *bytes, size_t len);

#endif
