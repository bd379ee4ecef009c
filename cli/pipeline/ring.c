/*
 * The ring: see ring.h. A slot is about a millisecond of work, so one lock and three conditions are enough.
 */
#include "pipeline/ring.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SLOTS = 6 };

typedef struct ring {
    cli_stream *stream;
    cli_slot slots[SLOTS];
    size_t ready; /* slots with memory */
    pthread_mutex_t lock;
    pthread_cond_t filled_more, asked_more, written_more;
    uint64_t filled, asked, written; /* numbers of slots */
    bool fill_ended, ask_ended, put_failed;
    int fill_status, ask_status, put_status;
} ring;

static int slot_init(cli_slot *slot)
{
    slot->verdicts = malloc(CLI_BLOCK_LINES);
    int status = cli_block_init(&slot->block);
    slot->urls = slot->block.lines;
    return status != CLI_OK ? status : slot->verdicts ? CLI_OK : cli_error("out of memory");
}

static void slot_free(cli_slot *slot)
{
    cli_block_free(&slot->block);
    free(slot->taken);
    free(slot->unquoted.bytes);
    free(slot->why);
    free(slot->verdicts);
    free(slot->digests);
    free(slot->marks);
}

/* The slot for a turn; its memory is allocated when it is first needed. */
static cli_slot *slot_at(ring *ring, uint64_t turn)
{
    size_t index = (size_t)(turn % SLOTS);

    if (index >= ring->ready) {
        if (slot_init(&ring->slots[index]) != CLI_OK)
            return NULL;
        ring->ready = index + 1;
    }
    return &ring->slots[index];
}

/* ---- one thread ---- */

/* Runs until the end, or, if more threads are allowed, until a slot comes back full: then *go_on is true. */
static void run_alone(ring *ring, bool *go_on)
{
    cli_stream *stream = ring->stream;
    bool well = true;

    *go_on = false;
    while (well && !*go_on) {
        cli_slot *slot = slot_at(ring, 0);
        ring->fill_status = slot ? stream->fill(stream->context, slot) : CLI_ERROR;
        if (!slot || slot->block.count == 0)
            return;
        ring->ask_status = stream->ask(stream->context, slot);
        ring->put_status = stream->put(stream->context, slot);
        well = ring->fill_status == CLI_OK && ring->ask_status == CLI_OK && ring->put_status == CLI_OK;
        *go_on = well && stream->threads > 1 && slot->block.full;
    }
}

/* ---- three threads ---- */

static void *fill_all(void *context)
{
    ring *ring = context;
    cli_stream *stream = ring->stream;
    int status = CLI_OK;
    bool last = false;

    while (!last) {
        pthread_mutex_lock(&ring->lock);
        while (ring->filled - ring->written == SLOTS && !ring->put_failed && !ring->ask_ended)
            pthread_cond_wait(&ring->written_more, &ring->lock);
        last = ring->put_failed || ring->ask_ended;
        pthread_mutex_unlock(&ring->lock);
        if (last)
            break;
        cli_slot *slot = slot_at(ring, ring->filled);
        status = slot ? stream->fill(stream->context, slot) : CLI_ERROR;
        last = status != CLI_OK || slot->block.count == 0;
        pthread_mutex_lock(&ring->lock);
        ring->filled += slot && slot->block.count > 0;
        pthread_cond_signal(&ring->filled_more);
        pthread_mutex_unlock(&ring->lock);
    }
    pthread_mutex_lock(&ring->lock);
    ring->fill_ended = true;
    ring->fill_status = status;
    pthread_cond_signal(&ring->filled_more);
    pthread_mutex_unlock(&ring->lock);
    return NULL;
}

static void ask_all(ring *ring)
{
    cli_stream *stream = ring->stream;
    int status = CLI_OK;

    while (status == CLI_OK) {
        pthread_mutex_lock(&ring->lock);
        while (ring->filled == ring->asked && !ring->fill_ended && !ring->put_failed)
            pthread_cond_wait(&ring->filled_more, &ring->lock);
        bool more = ring->filled > ring->asked && !ring->put_failed;
        pthread_mutex_unlock(&ring->lock);
        if (!more)
            break;
        status = stream->ask(stream->context, &ring->slots[ring->asked % SLOTS]);
        pthread_mutex_lock(&ring->lock);
        ring->asked++;
        pthread_cond_signal(&ring->asked_more);
        pthread_mutex_unlock(&ring->lock);
    }
    pthread_mutex_lock(&ring->lock);
    ring->ask_ended = true;
    ring->ask_status = status;
    pthread_cond_signal(&ring->asked_more);
    pthread_cond_signal(&ring->written_more);
    pthread_mutex_unlock(&ring->lock);
    stream->quit(stream->context);
}

static void in_a_while(struct timespec *when, int ms)
{
    clock_gettime(CLOCK_MONOTONIC, when);
    when->tv_sec += ms / 1000;
    when->tv_nsec += (long)(ms % 1000) * 1000000;
    if (when->tv_nsec >= 1000000000) {
        when->tv_sec++;
        when->tv_nsec -= 1000000000;
    }
}

/* Waits for a slot to put: true if there is one or none will come, false after lull_ms. */
static bool wait_for_asked(ring *ring)
{
    struct timespec until;
    int late = 0;

    if (ring->stream->lull_ms > 0)
        in_a_while(&until, ring->stream->lull_ms);
    while (ring->asked == ring->written && !ring->ask_ended && late == 0) {
        if (ring->stream->lull_ms > 0)
            late = pthread_cond_timedwait(&ring->asked_more, &ring->lock, &until);
        else
            pthread_cond_wait(&ring->asked_more, &ring->lock);
    }
    return ring->asked > ring->written || ring->ask_ended;
}

static void *put_all(void *context)
{
    ring *ring = context;
    cli_stream *stream = ring->stream;
    int status = CLI_OK;

    for (;;) {
        pthread_mutex_lock(&ring->lock);
        bool come = wait_for_asked(ring), more = ring->asked > ring->written;
        pthread_mutex_unlock(&ring->lock);
        if (come && !more)
            break;
        status =
            more ? stream->put(stream->context, &ring->slots[ring->written % SLOTS]) : stream->lull(stream->context);
        pthread_mutex_lock(&ring->lock);
        ring->written += more;
        ring->put_failed = status != CLI_OK;
        pthread_cond_signal(&ring->written_more);
        if (ring->put_failed)
            pthread_cond_signal(&ring->filled_more);
        pthread_mutex_unlock(&ring->lock);
        if (status != CLI_OK) {
            stream->quit(stream->context);
            break;
        }
    }
    ring->put_status = status;
    return NULL;
}

static void ring_init(ring *ring, cli_stream *stream)
{
    pthread_condattr_t monotonic;

    memset(ring, 0, sizeof *ring);
    ring->stream = stream;
    pthread_mutex_init(&ring->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&ring->filled_more, &monotonic);
    pthread_cond_init(&ring->asked_more, &monotonic);
    pthread_cond_init(&ring->written_more, &monotonic);
    pthread_condattr_destroy(&monotonic);
}

static void ring_free(ring *ring)
{
    for (size_t i = 0; i < SLOTS; i++)
        slot_free(&ring->slots[i]);
    pthread_mutex_destroy(&ring->lock);
    pthread_cond_destroy(&ring->filled_more);
    pthread_cond_destroy(&ring->asked_more);
    pthread_cond_destroy(&ring->written_more);
}

/* false: no thread could be started, and nothing was done. */
static bool run_together(ring *ring)
{
    pthread_t filler, putter;

    ring->stream->together = true;
    if (pthread_create(&putter, NULL, put_all, ring) != 0)
        return false;
    if (pthread_create(&filler, NULL, fill_all, ring) != 0) {
        pthread_mutex_lock(&ring->lock);
        ring->ask_ended = true;
        pthread_cond_signal(&ring->asked_more);
        pthread_mutex_unlock(&ring->lock);
        pthread_join(putter, NULL);
        ring->ask_ended = false;
        return false;
    }
    ask_all(ring);
    pthread_join(filler, NULL);
    pthread_join(putter, NULL);
    return true;
}

int cli_stream_run(cli_stream *stream)
{
    ring ring;
    bool go_on;

    ring_init(&ring, stream);
    run_alone(&ring, &go_on);
    if (go_on && !run_together(&ring)) {
        stream->threads = 1;
        stream->together = false;
        run_alone(&ring, &go_on);
    }
    stream->put_failed = ring.put_status != CLI_OK;
    ring_free(&ring);
    return ring.put_status != CLI_OK ? ring.put_status : ring.ask_status != CLI_OK ? ring.ask_status : ring.fill_status;
}
