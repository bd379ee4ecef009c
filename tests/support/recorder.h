/*
 * Threads that add and ask at random, through all ways into a set, and record what they were told (history.h). All of
 * them meet at the same URLs: a few hot ones, and a front of fresh ones that moves on as the work is done. The rest of
 * their calls goes to URLs anywhere. A timer interrupts them in the middle of their calls.
 *
 * What they talk to is a table of one function, so a set with a planted fault can stand in for the library.
 */
#ifndef TESTS_SUPPORT_RECORDER_H
#define TESTS_SUPPORT_RECORDER_H

#include <pthread.h>
#include <stdatomic.h>

#include "support/history.h"

enum { RECORDER_THREADS = 8, RECORDER_MOST = 300 };

typedef enum recorder_way {
    RECORDER_ADD,
    RECORDER_HAS,
    RECORDER_ADD_BATCH,
    RECORDER_ADD_DIGESTS,
    RECORDER_HAS_BATCH,
    RECORDER_HAS_DIGESTS,
    RECORDER_REMOVE,
    RECORDER_COUNT,
    RECORDER_WAYS
} recorder_way;

/* Instead of VIDI_OK: the call could not be made now, and has done nothing. */
#define RECORDER_SKIPPED 1

/*
 * Makes one call for `n` URLs, or for one. Fills in an answer for each, as history_op has them. VIDI_OK,
 * RECORDER_SKIPPED, or an error.
 */
typedef int recorder_call(void *set, unsigned thread, recorder_way way, const uint32_t *urls, size_t n,
                          uint32_t *answers);

typedef struct recorder recorder;

typedef struct recorder_log {
    recorder *of;
    unsigned number;
    pthread_t thread;
    history_op *ops;
    size_t n, room;
} recorder_log;

struct recorder {
    /* Filled in by the test. */
    recorder_call *call;
    void *set;
    unsigned threads;                /* at most RECORDER_THREADS */
    unsigned calls;                  /* of each thread */
    unsigned weights[RECORDER_WAYS]; /* how often each way is taken */
    uint32_t hot, urls;              /* the first `hot` of the URLs come up all the time */
    bool every_add;
    uint64_t seed;
    void (*beside)(recorder *of, recorder_log *log); /* runs in a thread of its own until `over`; or NULL */
    void *context;                                   /* its */
    /* The rest is the recorder's. */
    recorder_log logs[RECORDER_THREADS + 1]; /* the last one is for `beside`, and for the test itself */
    recorder_log rotations;                  /* calls of `beside` that concern every URL */
    pthread_barrier_t start;
    atomic_uint_fast64_t begun; /* calls, which move the front on */
    atomic_bool over;
    atomic_int failed; /* the first error of a call */
};

/* For `beside`: a URL that the others are about to add. */
uint32_t recorder_front(const recorder *of);

/* Runs all threads to their ends. */
void recorder_run(recorder *of);

/*
 * After that, from the test's own thread: asks for every URL once, so that what is there in the end has to be explained,
 * too. `way` is RECORDER_HAS or RECORDER_COUNT.
 */
void recorder_ask_all(recorder *of, recorder_way way);

/* True if all answers can be explained. Otherwise `fault` has a sentence. */
bool recorder_check(const recorder *of, char fault[HISTORY_FAULT]);

/* The number of answers of a kind, such as HISTORY_ADD and VIDI_NEW; answer UINT32_MAX: any. */
uint64_t recorder_answers(const recorder *of, history_what what, uint32_t answer);

void recorder_free(recorder *of);

/* For `beside`: adds a call to its log, or to that of the rotations. */
void recorder_note(recorder_log *log, history_op op);

#endif
