/* Text that grows from the caller's buffer into a set's memory. */
#include "base/buffer.h"

#define FIRST_BYTES 512

void vidi__buffer_free(vidi__buffer *buffer)
{
    if (buffer->grown)
        vidi__release(buffer->memory, buffer->at, buffer->room, 1);
    buffer->at = NULL;
    buffer->len = buffer->room = 0;
    buffer->grown = false;
}

bool vidi__buffer_grow(vidi__buffer *buffer, size_t more)
{
    if (buffer->error)
        return false;
    size_t room = buffer->room < FIRST_BYTES ? FIRST_BYTES : buffer->room;
    if (more > SIZE_MAX / 4 || room > SIZE_MAX / 4) {
        buffer->error = vidi__fail(VIDI_ELIMIT, "a text of %zu bytes cannot grow by %zu", buffer->len, more);
        return false;
    }
    room = 2 * (room + more);
    char *at = NULL;
    buffer->error = vidi__alloc(buffer->memory, &at, room, 1);
    if (buffer->error)
        return false;
    if (buffer->len)
        memcpy(at, buffer->at, buffer->len);
    if (buffer->grown)
        vidi__release(buffer->memory, buffer->at, buffer->room, 1);
    buffer->at = at;
    buffer->room = room;
    buffer->grown = true;
    return true;
}

void vidi__buffer_insert(vidi__buffer *buffer, size_t place, const char *bytes, size_t len)
{
    if (!len || !vidi__buffer_reserve(buffer, len))
        return;
    char *at = buffer->at + place;
    memmove(at + len, at, buffer->len - place);
    memcpy(at, bytes, len);
    buffer->len += len;
}
