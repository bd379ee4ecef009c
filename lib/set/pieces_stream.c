/*
 * A stream that holds a set in pieces, one after the other (pieces.c), for vidi_read.
 *
 * Each piece says its length in its head. That is believed as far as the stream can hold it; if nobody knows how long
 * the stream is, memory for a piece grows with the bytes that have come. A piece is taken when all of it is there.
 */
#include <stdio.h>

#include "set/serialize.h"

#define ROOM 65536 /* bytes of memory to begin with, if the length of the stream is not known */

/* Where a piece is put together. */
typedef struct inbox {
    vidi__memory *memory;
    unsigned char *bytes;
    uint64_t size, room;
} inbox;

static int make_room(inbox *self, uint64_t room)
{
    if (room <= self->room)
        return VIDI_OK;
    VIDI__TRY(vidi__regrow(self->memory, &self->bytes, self->room, room, VIDI__CACHE_LINE));
    self->room = room;
    return VIDI_OK;
}

/* Adds bytes of the stream until there are this many. */
static int fill_up(inbox *self, vidi__frame_reader *frame, uint64_t size)
{
    VIDI__TRY(vidi__frame_take(frame, self->bytes + self->size, (size_t)(size - self->size)));
    self->size = size;
    return VIDI_OK;
}

static int receive(inbox *self, vidi__frame_reader *frame)
{
    uint64_t length = frame->head.length, left = frame->stream_left; /* the head was taken */
    if (length < VIDI__HEAD_BYTES)
        return vidi__damaged("a piece says a length that it cannot have");
    if (length - VIDI__HEAD_BYTES > left)
        return vidi__damaged("the stream ends before the piece does");
    while (self->size < length) {
        uint64_t most = left != UINT64_MAX ? length : self->size < ROOM / 2 ? ROOM : 2 * self->size;
        uint64_t size = length < most ? length : most;
        VIDI__TRY(make_room(self, size));
        VIDI__TRY(fill_up(self, frame, size));
    }
    return VIDI_OK;
}

static int next_head(inbox *self, vidi__frame_reader *frame)
{
    self->size = 0;
    VIDI__TRY(fill_up(self, frame, VIDI__HEAD_BYTES));
    VIDI__TRY(vidi__frame_check_head(self->bytes, &frame->head));
    return frame->head.length ? VIDI_OK : vidi__damaged("a whole set follows where a piece is missing");
}

/* Takes a piece whose head was read: 1 if more follow. */
static int take_next(vidi_set *set, inbox *self, vidi__frame_reader *frame, uint64_t number)
{
    char where[40];
    int code = number ? next_head(self, frame) : VIDI_OK;
    if (code == VIDI_OK)
        code = receive(self, frame);
    if (code == VIDI_OK)
        code = vidi__piece_take(set, self->bytes, (size_t)self->size);
    snprintf(where, sizeof where, "piece %llu", (unsigned long long)number + 1);
    return code < 0 ? vidi__fail_in(where, code) : code;
}

int vidi__set_read_pieces(vidi_set *set, vidi__frame_reader *frame)
{
    inbox self = {.memory = &set->memory, .size = VIDI__HEAD_BYTES};
    int code = make_room(&self, VIDI__HEAD_BYTES);
    if (code == VIDI_OK) {
        memcpy(self.bytes, frame->block, VIDI__HEAD_BYTES);
        code = 1;
    }
    for (uint64_t number = 0; code > 0; number++)
        code = take_next(set, &self, frame, number);
    vidi__release(self.memory, self.bytes, self.room, VIDI__CACHE_LINE);
    if (code == VIDI_OK && frame->stream_left != UINT64_MAX && frame->stream_left)
        return vidi__damaged("there is unexpected data at the end");
    return code;
}
