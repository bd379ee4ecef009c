/*
 * See buffer.h.
 */
#include "buffer.h"

#include <string.h>

#include "server.h"

int buffer_collect(void *context, const void *data, size_t size)
{
    buffer *buffer = context;
    if (size > buffer->room - buffer->len) {
        size_t room = 2 * (buffer->len + size);
        char *bytes = server.Alloc(room);
        if (buffer->len)
            memcpy(bytes, buffer->bytes, buffer->len);
        server.Free(buffer->bytes);
        *buffer = (struct buffer){bytes, buffer->len, room};
    }
    if (size)
        memcpy(buffer->bytes + buffer->len, data, size);
    buffer->len += size;
    return 0;
}

void buffer_free(buffer *buffer)
{
    server.Free(buffer->bytes);
    *buffer = (struct buffer){0};
}
