/* See pipe.h. */
#include "base/pipe.h"

#include <stdio.h>

#include "base/thread.h"

#define BLOCKS 4
#define BLOCK_BYTES ((size_t)32 << 10)
#define LEFT (UINT64_MAX / 2) /* more than there is, but not "unknown" */

/*
 * Blocks are handed over whole: the writer fills number `written`, the reader empties number `taken`, and the mutex
 * guards these two numbers and everything that they count.
 */
typedef struct channel {
    vidi__writer writer;
    vidi__reader reader;
    vidi__pipe_fill *fill;
    void *context;
    bool threaded;
    size_t filled; /* bytes in the block that is being written */
    size_t used;   /* bytes of the block that is being read which were handed out */
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t moved;
    uint64_t written, taken;
    bool ended, stopped; /* the writer has written everything or failed; the reader has failed */
    int code;            /* of the writer */
    char message[VIDI__MESSAGE];
    size_t bytes[BLOCKS];
    unsigned char block[BLOCKS][BLOCK_BYTES];
} channel;

/* ---- the writing side ---- */

/* Hands the block over and waits for a free one. Without a thread, VIDI_EIO if there is none. */
static int next_block(channel *self)
{
    if (!self->threaded && self->written == BLOCKS - 1)
        return VIDI_EIO;
    self->bytes[self->written % BLOCKS] = self->filled;
    self->filled = 0;
    if (!self->threaded) {
        self->written++;
        return VIDI_OK;
    }
    pthread_mutex_lock(&self->mutex);
    self->written++;
    pthread_cond_signal(&self->moved);
    while (self->written - self->taken == BLOCKS && !self->stopped)
        pthread_cond_wait(&self->moved, &self->mutex);
    bool stopped = self->stopped;
    pthread_mutex_unlock(&self->mutex);
    return stopped ? vidi__fail(VIDI_EIO, "nobody reads any more") : VIDI_OK;
}

static int pipe_write(vidi__writer *writer, const void *data, uint64_t bytes)
{
    channel *self = (channel *)writer;
    const unsigned char *at = data;
    while (bytes) {
        if (self->filled == BLOCK_BYTES)
            VIDI__TRY(next_block(self));
        size_t room = BLOCK_BYTES - self->filled, piece = bytes < room ? (size_t)bytes : room;
        memcpy(self->block[self->written % BLOCKS] + self->filled, at, piece);
        self->filled += piece;
        at += piece;
        bytes -= piece;
    }
    return VIDI_OK;
}

static void *run(void *context)
{
    channel *self = context;
    vidi__quiet quiet;
    vidi__quiet_begin(&quiet);
    int code = self->fill(self->context, &self->writer);
    if (code < 0)
        snprintf(self->message, sizeof self->message, "%s", vidi__sentence());
    vidi__quiet_end(&quiet, VIDI_OK);
    pthread_mutex_lock(&self->mutex);
    self->bytes[self->written++ % BLOCKS] = self->filled;
    self->code = code;
    self->ended = true;
    pthread_cond_signal(&self->moved);
    pthread_mutex_unlock(&self->mutex);
    return NULL;
}

/* ---- the reading side ---- */

/* Waits until there is a block to read. VIDI_EFORMAT at the end, or the error of the writer. */
static int await_block(channel *self)
{
    if (self->threaded)
        pthread_mutex_lock(&self->mutex);
    while (self->threaded && self->taken == self->written && !self->ended)
        pthread_cond_wait(&self->moved, &self->mutex);
    int code = self->code;
    bool nothing = self->taken == self->written;
    if (self->threaded)
        pthread_mutex_unlock(&self->mutex);
    if (code < 0)
        return vidi__fail(code, "%s", self->message);
    return nothing ? vidi__damaged("the stream ends too early") : VIDI_OK;
}

static void release_block(channel *self)
{
    self->used = 0;
    if (self->threaded)
        pthread_mutex_lock(&self->mutex);
    self->taken++;
    if (self->threaded) {
        pthread_cond_signal(&self->moved);
        pthread_mutex_unlock(&self->mutex);
    }
}

static int pipe_read(vidi__reader *reader, void *data, uint64_t bytes)
{
    channel *self = (channel *)((char *)reader - offsetof(channel, reader));
    unsigned char *at = data;
    while (bytes) {
        if (!self->used)
            VIDI__TRY(await_block(self));
        const unsigned char *block = self->block[self->taken % BLOCKS];
        size_t left = self->bytes[self->taken % BLOCKS] - self->used, piece = bytes < left ? (size_t)bytes : left;
        memcpy(at, block + self->used, piece);
        self->used += piece;
        at += piece;
        bytes -= piece;
        if (piece == left)
            release_block(self);
    }
    return VIDI_OK;
}

/* ---- both ---- */

static int drain_all(channel *self, vidi__pipe_drain *drain)
{
    int code = drain(self->context, &self->reader);
    if (self->threaded) {
        pthread_mutex_lock(&self->mutex);
        self->stopped = true;
        pthread_cond_signal(&self->moved);
        pthread_mutex_unlock(&self->mutex);
        pthread_join(self->thread, NULL);
    }
    return code == VIDI_OK && self->code < 0 ? vidi__fail(self->code, "%s", self->message) : code;
}

static int run_threaded(channel *self, vidi__pipe_drain *drain)
{
    self->threaded = true;
    self->writer.at = self->filled = self->written = 0;
    if (pthread_mutex_init(&self->mutex, NULL) != 0)
        return vidi__fail(VIDI_ESYSTEM, "cannot create a lock");
    int code = VIDI_ESYSTEM;
    if (pthread_cond_init(&self->moved, NULL) == 0) {
        code = vidi__thread_start(&self->thread, run, self);
        if (code == VIDI_OK)
            code = drain_all(self, drain);
        pthread_cond_destroy(&self->moved);
    } else {
        vidi__fail(VIDI_ESYSTEM, "cannot create a condition");
    }
    pthread_mutex_destroy(&self->mutex);
    return code;
}

/* Most sets are small. Theirs goes through the buffer at once, which spares the thread. */
static int try_at_once(channel *self, bool *fits)
{
    vidi__quiet quiet;
    vidi__quiet_begin(&quiet);
    int code = self->fill(self->context, &self->writer);
    *fits = self->written < BLOCKS - 1 || self->filled < BLOCK_BYTES;
    return vidi__quiet_end(&quiet, *fits ? code : VIDI_OK);
}

int vidi__pipe_run(vidi__memory *memory, vidi__pipe_fill *fill, vidi__pipe_drain *drain, void *context)
{
    channel *self;
    bool fits;
    VIDI__TRY(vidi__alloc(memory, &self, sizeof *self, _Alignof(channel)));
    memset(self, 0, offsetof(channel, block));
    self->writer.write = pipe_write;
    self->reader = (vidi__reader){.read = pipe_read, .left = LEFT, .trusted = true};
    self->fill = fill;
    self->context = context;
    int code = try_at_once(self, &fits);
    if (code == VIDI_OK && fits) {
        self->bytes[self->written++] = self->filled;
        code = drain_all(self, drain);
    } else if (code == VIDI_OK) {
        code = run_threaded(self, drain);
    }
    vidi__release(memory, self, sizeof *self, _Alignof(channel));
    return code;
}
