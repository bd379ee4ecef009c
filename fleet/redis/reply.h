/*
 * Reads replies of a server (RESP, version 2), however they are cut into pieces.
 *
 * Nothing that comes in is trusted: depth, length and number of elements are bounded, and memory grows with what has
 * arrived, not with what a header announces. Replies lie in an arena, which several readers may share; they are good
 * until the arena is emptied.
 */
#ifndef VIDI_FLEET_REDIS_REPLY_H
#define VIDI_FLEET_REDIS_REPLY_H

#include "common/bytes.h"
#include "fleet/redis/redis.h"

enum {
    REPLY_DEPTH = 8,                /* arrays in arrays */
    REPLY_ITEMS = 16 << 20,         /* elements of one reply, at all depths together */
    REPLY_LINE = 64 << 10,          /* bytes of a status or an error */
    REPLY_TEXT = (512 << 20) + 1024 /* bytes of one string; servers send at most 512 MiB */
};

typedef struct reply_block reply_block;

typedef struct reply_arena {
    reply_block *blocks; /* the newest first */
    size_t room;         /* bytes that are free at the end of `at` */
    char *at;
} reply_arena;

/* n bytes, aligned for anything; NULL if there is no memory. */
void *reply_arena_take(reply_arena *arena, size_t n);
/* Frees all replies, except one block of the usual size that is kept for the next ones. */
void reply_arena_empty(reply_arena *arena);
void reply_arena_free(reply_arena *arena);

/* An array that is being read. */
typedef struct reply_frame {
    redis_reply *items;
    size_t filled, room, count;
} reply_frame;

typedef struct reply_reader {
    reply_arena *arena;
    bytes line;             /* the part of a line that has arrived */
    reply_block *long_text; /* a long string that is being read; belongs to the reader until it is complete */
    char *text;             /* any string that is being read; NULL: a line */
    size_t want, got, text_room;
    size_t items; /* of this reply, so far */
    int depth;
    reply_frame frames[REPLY_DEPTH];
    redis_reply root;
} reply_reader;

void reply_reader_begin(reply_reader *reader, reply_arena *arena);
void reply_reader_end(reply_reader *reader);

/*
 * Reads from *at up to `end` and moves *at. 1: *reply is complete; 0: more bytes are needed; VIDI_EFORMAT: this is no
 * reply; VIDI_ELIMIT: it is greater than the bounds above; VIDI_EMEMORY. After an error the reader must begin anew.
 */
int reply_read(reply_reader *reader, const char **at, const char *end, const redis_reply **reply);

#endif
