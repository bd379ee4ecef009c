/*
 * A log that is being written: two buffers, one lock, one thread. Shared by log.c (opening and closing), log_thread.c
 * and log_append.c.
 *
 *     appenders -> filling -+ swap +-> writing -> write(2) -> fsync(2)
 *                           +------+              `written`    `synced`
 *
 * Appenders write into `filling` under the lock and return. The thread swaps it with the empty `writing` and works on
 * that without the lock: it computes check values and checksums, writes and syncs. Records that arrive meanwhile share
 * the next round; that is the group commit. Until the swap a record is not sealed, so more entries can be added to the
 * last one (`open_record`).
 *
 * Invariants, under the lock:
 *
 * - synced <= written <= end, and all are lengths of the file at ends of records
 * - end - written is the number of bytes in the two buffers
 * - filling.room >= filling.used + reserved, so an append needs no memory
 * - each buffer has at least BUFFER_MIN bytes
 * - `writing` and the file belong to the thread, and `writing` is empty whenever the thread holds the lock
 * - after `error` is set it never changes, and the file is no longer written to
 */
#ifndef VIDI_STORE_LOG_STATE_H
#define VIDI_STORE_LOG_STATE_H

#include <pthread.h>
#include <stdatomic.h>

#include "store/clock.h"
#include "store/manifest.h"
#include "store/log_format.h"

/* Initial buffer size. */
#define VIDI__LOG_BUFFER_MIN (UINT64_C(64) << 10)

/* The thread writes when this many bytes have accumulated, if it is not time to write before. */
#define VIDI__LOG_WRITE_FROM (UINT64_C(256) << 10)

typedef struct vidi__log_buffer {
    unsigned char *at;
    uint64_t room, used;
} vidi__log_buffer;

struct vidi__log {
    vidi__memory *memory;
    vidi__file file;
    uint64_t number;
    uint64_t generation;
    vidi__manifest *reports_to;                      /* learns how much is on disk; may be NULL */
    void (*watcher)(void *context, uint64_t length); /* called with the length on disk; may be NULL */
    void *watching;
    void (*gather)(void *context); /* called before a write if records were promised; may be NULL */
    void *gathering;
    vidi__log_policy policy;
    uint64_t pending_most; /* with more bytes pending than this, appenders wait for the disk */
    uint64_t buffer_keep;  /* buffers that are larger shrink to the initial size again after a burst */

    pthread_t thread;
    _Atomic bool failed; /* there is an error; read without the lock */

    _Alignas(VIDI__CACHE_LINE) pthread_mutex_t lock; /* protects everything below */
    pthread_cond_t work; /* signalled when the thread has something to do, or must recompute its deadline */
    pthread_cond_t done; /* signalled when written, synced or error has changed */
    vidi__log_buffer filling, writing;
    uint64_t open_record;  /* where in `filling` the last record is, if entries can be added to it; else UINT64_MAX */
    uint32_t open_entries; /* how many it has */
    uint64_t reserved;     /* bytes of records that were reserved and not yet appended */
    uint64_t end, written, synced;
    uint64_t wanted;        /* a thread waits until this position is synced */
    bool promised;          /* records are being gathered, for which room was reserved */
    uint64_t filling_since; /* time of the first append to `filling` or promise, if there was one */
    uint64_t dirty_since;   /* time of the first append that is written and not synced */
    unsigned blocked;       /* number of threads that wait in vidi__log_reserve */
    bool starved;           /* the thread found no memory for the other buffer; it tries again after the next append */
    bool stopping;
    int error;
    char sentence[256];
};

/* Grows a buffer to this many bytes in all and keeps its contents. Doubles, but not beyond what may be pending. */
int vidi__log_grow(vidi__log *log, vidi__log_buffer *buffer, uint64_t bytes);

/* Returns the log's error to the caller, whose thread does not have the message yet. The caller holds the lock. */
int vidi__log_error(const vidi__log *log);
/* Stores this thread's error, whose message is vidi__sentence(), if it is the first. The caller holds the lock. */
void vidi__log_fail(vidi__log *log, int code);

/* The thread: a function for pthread_create, whose argument is the log. */
void *vidi__log_run(void *context);

#endif
