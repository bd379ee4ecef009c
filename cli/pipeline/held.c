/*
 * Lines that wait for another client: see held.h.
 */
#include "pipeline/held.h"

#include <stdlib.h>
#include <string.h>

#include "common/clock.h"

#define SECOND UINT64_C(1000000000)
#define MOST_BYTES (UINT64_C(64) << 20)

/* What stands before the bytes of a line, which follow with the end that they had. */
typedef struct held_line {
    uint64_t due; /* nanoseconds, as clock_now */
    uint64_t field;
    size_t text, length; /* bytes without and with the end */
} held_line;

void cli_held_init(cli_held *held)
{
    *held = (cli_held){.most = MOST_BYTES};
    pthread_mutex_init(&held->lock, NULL);
}

void cli_held_free(cli_held *held)
{
    for (size_t i = 0; i < CLI_HELD_ROUNDS; i++)
        free(held->queues[i].bytes);
    pthread_mutex_destroy(&held->lock);
}

/* ---- queues ---- */

static bool is_empty(const cli_held_queue *queue)
{
    return queue->first == queue->end;
}

static held_line first_of(const cli_held_queue *queue)
{
    held_line line;

    memcpy(&line, queue->bytes + queue->first, sizeof line);
    return line;
}

static uint64_t room_of_all(const cli_held *held)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < CLI_HELD_ROUNDS; i++)
        sum += held->queues[i].room;
    return sum;
}

/* Makes room for more bytes at the end, by moving the lines to the front or by growing. */
static bool make_room(cli_held *held, cli_held_queue *queue, size_t more)
{
    size_t used = queue->end - queue->first, room = queue->room;

    if (queue->room - queue->end >= more)
        return true;
    while (room - used < more + used / 2) /* so that moving costs each byte a constant time */
        room = room ? 2 * room : 1 << 16;
    if (room_of_all(held) - queue->room + room > held->most)
        return false;
    char *bytes = malloc(room);
    if (!bytes)
        return false;
    if (used > 0)
        memcpy(bytes, queue->bytes + queue->first, used);
    free(queue->bytes);
    *queue = (cli_held_queue){bytes, 0, used, room};
    return true;
}

static bool put(cli_held *held, unsigned round, vidi_str line, uint64_t field)
{
    cli_held_queue *queue = &held->queues[round];
    held_line about = {.due = clock_now() + (SECOND << round), .field = field, .text = line.len};

    about.length = (size_t)(cli_line_end(line) - line.ptr);
    if (about.length > held->most || !make_room(held, queue, sizeof about + about.length))
        return false;
    memcpy(queue->bytes + queue->end, &about, sizeof about);
    memcpy(queue->bytes + queue->end + sizeof about, line.ptr, about.length);
    queue->end += sizeof about + about.length;
    held->lines++;
    return true;
}

bool cli_held_put(cli_held *held, unsigned round, vidi_str line, uint64_t field)
{
    if (round >= CLI_HELD_ROUNDS)
        return false;
    pthread_mutex_lock(&held->lock);
    bool done = put(held, round, line, field);
    pthread_mutex_unlock(&held->lock);
    return done;
}

/* ---- what is due ---- */

/* The queue whose first line is due first; NULL: all are empty. */
static cli_held_queue *next_queue(cli_held *held, uint64_t *due)
{
    cli_held_queue *next = NULL;

    for (size_t i = 0; i < CLI_HELD_ROUNDS; i++) {
        cli_held_queue *queue = &held->queues[i];
        if (is_empty(queue) || (next && first_of(queue).due >= *due))
            continue;
        next = queue;
        *due = first_of(queue).due;
    }
    return next;
}

uint64_t cli_held_lines(cli_held *held)
{
    pthread_mutex_lock(&held->lock);
    uint64_t lines = held->lines;
    pthread_mutex_unlock(&held->lock);
    return lines;
}

int64_t cli_held_due(cli_held *held)
{
    uint64_t due, now = clock_now();

    pthread_mutex_lock(&held->lock);
    bool some = next_queue(held, &due) != NULL;
    pthread_mutex_unlock(&held->lock);
    if (!some)
        return -1;
    return due > now ? (int64_t)(due - now) : 0;
}

/* Lengthens a block that has no line yet, for a long one. */
static bool fits(cli_block *block, size_t length)
{
    if (block->room - block->used >= length)
        return true;
    if (block->count > 0)
        return false;
    char *bytes = realloc(block->bytes, length + CLI_BLOCK_SLACK);
    if (!bytes)
        return false;
    block->bytes = bytes;
    block->room = length;
    return true;
}

/* Moves the first line of the queue to the block. False if there is no room. The lock is held. */
static bool move_line(cli_held_queue *queue, cli_block *block)
{
    held_line line = first_of(queue);

    if (block->count == CLI_BLOCK_LINES || !fits(block, line.length))
        return false;
    char *to = block->bytes + block->used;
    memcpy(to, queue->bytes + queue->first + sizeof line, line.length);
    block->lines[block->count++] = (vidi_str){to, line.text};
    block->used += line.length;
    queue->first += sizeof line + line.length;
    return true;
}

int cli_held_fill(cli_held *held, cli_block *block, unsigned *round, uint64_t *field)
{
    uint64_t due, now = clock_now();

    block->count = block->used = 0;
    block->counted = block->full = false;
    block->waits = true;
    block->name = "a line that another client had claimed";
    block->first = 1;
    pthread_mutex_lock(&held->lock);
    cli_held_queue *queue = next_queue(held, &due);
    if (queue && due <= now) {
        *round = (unsigned)(queue - held->queues) + 1;
        *field = first_of(queue).field;
        while (!is_empty(queue) && first_of(queue).due <= now && first_of(queue).field == *field)
            if (!move_line(queue, block))
                break;
        held->lines -= block->count;
    }
    pthread_mutex_unlock(&held->lock);
    return queue && due <= now && block->count == 0 ? cli_error("out of memory") : CLI_OK;
}
