/*
 * Replies of a server: see reply.h. A reader is a machine with two states, in a line and in a string, and a stack of the
 * arrays that are open. An array grows as its elements arrive; a long string lies in a block of its own, which grows
 * likewise and joins the arena when it is complete.
 */
#include "fleet/redis/reply.h"

#include <stdlib.h>
#include <string.h>

#include "common/ascii.h"

enum { BLOCK = 64 << 10, LONG_TEXT = 16 << 10, FIRST_ITEMS = 16, ALIGN = 16 };

struct reply_block {
    struct reply_block *next;
    size_t size; /* of the bytes */
    _Alignas(ALIGN) char bytes[];
};

/* ---- the arena ---- */

static reply_block *make_block(size_t size)
{
    reply_block *block = size <= SIZE_MAX - sizeof *block ? malloc(sizeof *block + size) : NULL;
    if (block) {
        block->next = NULL;
        block->size = size;
    }
    return block;
}

/* Adds a block of its own, which nothing else will share. */
static void add_full(reply_arena *arena, reply_block *block)
{
    reply_block **after = arena->blocks ? &arena->blocks->next : &arena->blocks;
    block->next = *after;
    *after = block;
}

void *reply_arena_take(reply_arena *arena, size_t n)
{
    if (n > SIZE_MAX / 2)
        return NULL;
    n = (n + ALIGN - 1) & ~(size_t)(ALIGN - 1);
    if (n > BLOCK / 4) {
        reply_block *own = make_block(n);
        if (own)
            add_full(arena, own);
        return own ? own->bytes : NULL;
    }
    if (n > arena->room) {
        reply_block *block = make_block(BLOCK);
        if (!block)
            return NULL;
        block->next = arena->blocks;
        arena->blocks = block;
        arena->at = block->bytes;
        arena->room = BLOCK;
    }
    void *taken = arena->at;
    arena->at += n;
    arena->room -= n;
    return taken;
}

void reply_arena_empty(reply_arena *arena)
{
    reply_block *kept = NULL;
    while (arena->blocks) {
        reply_block *block = arena->blocks;
        arena->blocks = block->next;
        if (!kept && block->size == BLOCK) {
            kept = block;
            kept->next = NULL;
        } else {
            free(block);
        }
    }
    *arena = (reply_arena){kept, kept ? BLOCK : 0, kept ? kept->bytes : NULL};
}

void reply_arena_free(reply_arena *arena)
{
    reply_arena_empty(arena);
    free(arena->blocks);
    *arena = (reply_arena){0};
}

/* ---- the reader ---- */

static void begin_reply(reply_reader *reader)
{
    free(reader->long_text);
    reader->long_text = NULL;
    reader->text = NULL;
    reader->line.len = 0;
    reader->items = 0;
    reader->depth = 0;
}

void reply_reader_begin(reply_reader *reader, reply_arena *arena)
{
    *reader = (reply_reader){.arena = arena};
}

void reply_reader_end(reply_reader *reader)
{
    begin_reply(reader);
    bytes_free(&reader->line);
}

static int push(reply_reader *reader, reply_frame *frame, const redis_reply *value)
{
    if (frame->filled == frame->room) {
        size_t room = frame->room > frame->count / 2 ? frame->count : 2 * frame->room;
        redis_reply *grown = reply_arena_take(reader->arena, room * sizeof *grown);
        if (!grown)
            return VIDI_EMEMORY;
        memcpy(grown, frame->items, frame->filled * sizeof *grown);
        frame->items = grown;
        frame->room = room;
    }
    frame->items[frame->filled++] = *value;
    return 0;
}

/* A value is complete: puts it into the innermost open array, and closes the arrays that are full. 1: all is complete. */
static int deliver(reply_reader *reader, redis_reply value)
{
    while (reader->depth > 0) {
        reply_frame *frame = &reader->frames[reader->depth - 1];
        int error = push(reader, frame, &value);
        if (error || frame->filled < frame->count)
            return error;
        value = (redis_reply){.type = REDIS_ARRAY, .items = frame->items, .count = frame->count};
        reader->depth--;
    }
    reader->root = value;
    return 1;
}

/* The digits of an integer, all of the text; false if it is none or needs more than 63 bits. */
static bool read_integer(const char *text, size_t n, int64_t *number)
{
    bool negative = n > 0 && text[0] == '-';
    uint64_t most = (uint64_t)INT64_MAX + negative, value = 0;
    size_t first = negative;

    if (n == first || n > 20)
        return false;
    for (size_t i = first; i < n; i++) {
        uint64_t digit = (uint64_t)(unsigned char)text[i] - '0';
        if (digit > 9 || value > (most - digit) / 10)
            return false;
        value = 10 * value + digit;
    }
    *number = negative ? (int64_t)(0 - value) : (int64_t)value;
    return true;
}

static int begin_array(reply_reader *reader, int64_t count)
{
    if (count == 0)
        return deliver(reader, (redis_reply){.type = REDIS_ARRAY});
    if (reader->depth == REPLY_DEPTH || count > REPLY_ITEMS || reader->items + (size_t)count > REPLY_ITEMS)
        return VIDI_ELIMIT;
    size_t room = count < FIRST_ITEMS ? (size_t)count : FIRST_ITEMS;
    reply_frame frame = {
        .items = reply_arena_take(reader->arena, room * sizeof(redis_reply)), .room = room, .count = (size_t)count};
    if (!frame.items)
        return VIDI_EMEMORY;
    reader->items += (size_t)count;
    reader->frames[reader->depth++] = frame;
    return 0;
}

static int begin_text(reply_reader *reader, int64_t length)
{
    if (length > REPLY_TEXT)
        return VIDI_ELIMIT;
    reader->want = (size_t)length;
    reader->got = 0;
    if (length <= LONG_TEXT) {
        reader->text_room = reader->want + 1;
        reader->text = reply_arena_take(reader->arena, reader->text_room);
    } else {
        reader->text_room = LONG_TEXT;
        reader->long_text = make_block(reader->text_room);
        reader->text = reader->long_text ? reader->long_text->bytes : NULL;
    }
    return reader->text ? 0 : VIDI_EMEMORY;
}

static int copy_line(reply_reader *reader, redis_type type, const char *text, size_t n)
{
    char *copy = reply_arena_take(reader->arena, n + 1);
    if (!copy)
        return VIDI_EMEMORY;
    memcpy(copy, text, n);
    copy[n] = 0;
    return deliver(reader, (redis_reply){.type = type, .text = {copy, n}});
}

/* A line without its end. */
static int take_line(reply_reader *reader, const char *line, size_t n)
{
    int64_t number = 0;
    if (n == 0)
        return VIDI_EFORMAT;
    const char *rest = line + 1;
    size_t length = n - 1;
    if (line[0] == '+')
        return copy_line(reader, REDIS_TEXT, rest, length);
    if (line[0] == '-')
        return copy_line(reader, REDIS_ERROR, rest, length);
    if ((line[0] != ':' && line[0] != '$' && line[0] != '*') || !read_integer(rest, length, &number))
        return VIDI_EFORMAT;
    if (line[0] == ':')
        return deliver(reader, (redis_reply){.type = REDIS_INTEGER, .integer = number});
    if (number < 0)
        return number == -1 ? deliver(reader, (redis_reply){.type = REDIS_NIL}) : VIDI_EFORMAT;
    return line[0] == '$' ? begin_text(reader, number) : begin_array(reader, number);
}

/* Reads a line, or keeps the part of it that is there. */
static int read_line(reply_reader *reader, const char **at, const char *end)
{
    const char *from = *at, *feed = memchr(from, '\n', (size_t)(end - from));
    size_t n = (size_t)((feed ? feed : end) - from);
    int result;

    if (n > REPLY_LINE || reader->line.len > REPLY_LINE - n)
        return VIDI_ELIMIT;
    *at = feed ? feed + 1 : end;
    if (!feed || reader->line.len) {
        if (bytes_append(&reader->line, from, n))
            return VIDI_EMEMORY;
        if (!feed)
            return 0;
        from = reader->line.ptr;
        n = reader->line.len;
    }
    if (n == 0 || from[n - 1] != '\r')
        return VIDI_EFORMAT;
    result = take_line(reader, from, n - 1);
    reader->line.len = 0;
    return result;
}

/* Makes room for more of a long string: twice as much, but not more than all of it. */
static int grow_text(reply_reader *reader)
{
    size_t all = reader->want + 1;
    size_t room = reader->text_room > all / 2 ? all : 2 * reader->text_room;
    reply_block *grown = realloc(reader->long_text, sizeof *grown + room);
    if (!grown)
        return VIDI_EMEMORY;
    grown->size = room;
    reader->long_text = grown;
    reader->text = grown->bytes;
    reader->text_room = room;
    return 0;
}

/* Reads bytes of a string and the line end after it, whose bytes are counted by `got`, too. */
static int read_text(reply_reader *reader, const char **at, const char *end)
{
    while (reader->got < reader->want) {
        size_t n = (size_t)(end - *at), left = reader->want - reader->got;
        if (n == 0)
            return 0;
        if (reader->got + 1 >= reader->text_room) {
            int error = grow_text(reader);
            if (error)
                return error;
        }
        size_t free_room = reader->text_room - 1 - reader->got;
        n = n < left ? n : left;
        n = n < free_room ? n : free_room;
        memcpy(reader->text + reader->got, *at, n);
        *at += n;
        reader->got += n;
    }
    for (; reader->got < reader->want + 2; reader->got++) {
        if (*at == end)
            return 0;
        if (*(*at)++ != "\r\n"[reader->got - reader->want])
            return VIDI_EFORMAT;
    }
    redis_reply value = {.type = REDIS_TEXT, .text = {reader->text, reader->want}};
    reader->text[reader->want] = 0;
    if (reader->long_text)
        add_full(reader->arena, reader->long_text);
    reader->long_text = NULL;
    reader->text = NULL;
    return deliver(reader, value);
}

int reply_read(reply_reader *reader, const char **at, const char *end, const redis_reply **reply)
{
    int result = 0;
    while (result == 0 && *at < end)
        result = reader->text ? read_text(reader, at, end) : read_line(reader, at, end);
    if (result == 1) {
        redis_reply *root = reply_arena_take(reader->arena, sizeof *root);
        if (!root)
            return VIDI_EMEMORY;
        *root = reader->root;
        *reply = root;
        begin_reply(reader);
    }
    return result;
}
