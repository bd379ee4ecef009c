/* See ahead.h. */
#include "frame/ahead.h"

#include <stdio.h>

#include "base/thread.h"

#define BLOCKS 8
#define HALF (BLOCKS / 2)

/*
 * The thread fills block number `read`, the caller has block number `taken`; the mutex guards these numbers and what
 * they count. Whoever has to wait is woken when half of the blocks are full or free, so that both sleep seldom.
 */
struct vidi__ahead {
    vidi_source source;
    void *context;
    uint64_t generation, left; /* bytes that are still to be read */
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t moved;
    uint64_t read, taken;
    bool lent; /* the caller has block number `taken` */
    bool ended, stopped;
    int code;
    char message[VIDI__MESSAGE];
    size_t bytes[BLOCKS];
    uint64_t sums[BLOCKS];
    unsigned char block[BLOCKS][VIDI__BLOCK_BYTES];
};

uint64_t vidi__ahead_bytes(void)
{
    return sizeof(vidi__ahead);
}

/* ---- the thread ---- */

/* Reads the rest of a block that has `have` bytes, and makes its checksum. */
static int read_block(vidi__ahead *self, uint64_t number, size_t have)
{
    unsigned char *block = self->block[number % BLOCKS];
    size_t room = VIDI__BLOCK_BYTES - have, more = self->left < room ? (size_t)self->left : room;
    VIDI__TRY(vidi__frame_pull(self->source, self->context, block + have, more));
    self->left -= more;
    self->bytes[number % BLOCKS] = have + more;
    self->sums[number % BLOCKS] = vidi__frame_sum(self->generation, number, block, have + more);
    return VIDI_OK;
}

/* Hands a block over and waits until another one is free. Returns false if nobody wants more. */
static bool hand_over(vidi__ahead *self)
{
    pthread_mutex_lock(&self->mutex);
    if (++self->read - self->taken == HALF)
        pthread_cond_signal(&self->moved);
    if (self->read - self->taken == BLOCKS)
        while (self->read - self->taken > HALF && !self->stopped)
            pthread_cond_wait(&self->moved, &self->mutex);
    bool stopped = self->stopped;
    pthread_mutex_unlock(&self->mutex);
    return !stopped;
}

static int read_all(vidi__ahead *self)
{
    size_t have = VIDI__HEAD_BYTES; /* of the first block */
    for (uint64_t number = 0; have || self->left; number++) {
        VIDI__TRY(read_block(self, number, have));
        if (!hand_over(self))
            return VIDI_OK;
        have = 0;
    }
    return VIDI_OK;
}

static void *run(void *context)
{
    vidi__ahead *self = context;
    vidi__quiet quiet;
    vidi__quiet_begin(&quiet);
    int code = read_all(self);
    if (code < 0)
        snprintf(self->message, sizeof self->message, "%s", vidi__sentence());
    vidi__quiet_end(&quiet, VIDI_OK);
    pthread_mutex_lock(&self->mutex);
    self->code = code;
    self->ended = true;
    pthread_cond_signal(&self->moved);
    pthread_mutex_unlock(&self->mutex);
    return NULL;
}

/* ---- the caller ---- */

int vidi__ahead_next(vidi__ahead *ahead, const unsigned char **block, size_t *bytes, uint64_t *sum)
{
    pthread_mutex_lock(&ahead->mutex);
    if (ahead->lent && ahead->read - ++ahead->taken == HALF)
        pthread_cond_signal(&ahead->moved);
    if (ahead->read == ahead->taken)
        while (ahead->read - ahead->taken < HALF && !ahead->ended)
            pthread_cond_wait(&ahead->moved, &ahead->mutex);
    ahead->lent = ahead->read != ahead->taken;
    pthread_mutex_unlock(&ahead->mutex);
    if (!ahead->lent)
        return ahead->code < 0 ? vidi__fail(ahead->code, "%s", ahead->message)
                               : vidi__damaged("the stream ends too early");
    *block = ahead->block[ahead->taken % BLOCKS];
    *bytes = ahead->bytes[ahead->taken % BLOCKS];
    *sum = ahead->sums[ahead->taken % BLOCKS];
    return VIDI_OK;
}

static int start(vidi__ahead *self)
{
    if (pthread_mutex_init(&self->mutex, NULL) != 0)
        return vidi__fail(VIDI_ESYSTEM, "cannot create a lock");
    if (pthread_cond_init(&self->moved, NULL) != 0) {
        pthread_mutex_destroy(&self->mutex);
        return vidi__fail(VIDI_ESYSTEM, "cannot create a condition");
    }
    int code = vidi__thread_start(&self->thread, run, self);
    if (code < 0) {
        pthread_cond_destroy(&self->moved);
        pthread_mutex_destroy(&self->mutex);
    }
    return code;
}

int vidi__ahead_begin(vidi__ahead **ahead, vidi__memory *memory, vidi_source source, void *context, uint64_t generation,
                      const unsigned char head[VIDI__HEAD_BYTES], uint64_t left)
{
    vidi__ahead *self;
    *ahead = NULL;
    VIDI__TRY(vidi__alloc(memory, &self, sizeof *self, _Alignof(vidi__ahead)));
    memset(self, 0, offsetof(vidi__ahead, block));
    self->source = source;
    self->context = context;
    self->generation = generation;
    self->left = left;
    memcpy(self->block[0], head, VIDI__HEAD_BYTES);
    int code = start(self);
    if (code < 0)
        vidi__release(memory, self, sizeof *self, _Alignof(vidi__ahead));
    else
        *ahead = self;
    return code;
}

void vidi__ahead_end(vidi__ahead *ahead, vidi__memory *memory)
{
    if (!ahead)
        return;
    pthread_mutex_lock(&ahead->mutex);
    ahead->stopped = true;
    pthread_cond_signal(&ahead->moved);
    pthread_mutex_unlock(&ahead->mutex);
    pthread_join(ahead->thread, NULL);
    pthread_cond_destroy(&ahead->moved);
    pthread_mutex_destroy(&ahead->mutex);
    vidi__release(memory, ahead, sizeof *ahead, _Alignof(vidi__ahead));
}
