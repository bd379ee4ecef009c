/*
 * Eight threads that add to one set in a folder, commit and sync, until the process dies; and a witness, which knows what
 * may be found then. It lives in memory that outlasts the process.
 *
 * Threads do not write a journal, whose lock would put their calls in order; they keep times (history_now). An add that
 * was told NEW and had ended before a commit began is committed when that returns. An add that began after the last
 * commit had ended is not. In between either may be found.
 *
 *     must be found   in the folder already; or known to be on disk, by its own call or because it ended before `safe`
 *     may be found    was offered, and not after `reach`, the end of the last commit
 */
#ifndef TESTS_DURABLE_WITNESS_H
#define TESTS_DURABLE_WITNESS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "support/access.h"
#include "support/check.h"
#include "support/history.h"
#include "support/random.h"
#include "support/urls.h"

enum { WITNESS_THREADS = 8, WITNESS_URLS = 2500, WITNESS_BATCH = 100 };

typedef struct witness_url {
    bool there;                    /* when the process began */
    atomic_bool fresh;             /* told NEW */
    atomic_bool committed, synced; /* by a mark of its own, or by its own call */
    atomic_uint_fast64_t offered;  /* when its first add began; 0: never */
    atomic_uint_fast64_t answered; /* when the add that is NEW had ended */
} witness_url;

typedef struct witness {
    vidi_set *set;
    unsigned flags;
    uint64_t seed;
    unsigned calls;             /* of each thread, at most */
    bool (*is_over)(void);      /* has the process died? Then calls may fail. NULL: it cannot see that */
    atomic_uint_fast64_t made;  /* calls of all threads */
    atomic_uint_fast64_t clean; /* what ended before is committed */
    atomic_uint_fast64_t safe;  /* ... and on disk */
    atomic_uint_fast64_t reach; /* what began later is not committed, */
    atomic_uint pending;        /* unless a commit is under way */
    atomic_uint wrong;          /* what a thread has seen: a witness_fault */
    char message[200];
    witness_url urls[WITNESS_URLS];
} witness;

typedef enum witness_fault { WITNESS_FINE, WITNESS_ERROR, WITNESS_NEW_AGAIN, WITNESS_MISSING } witness_fault;

/* What has come up: without it the test would not be worth much. */
typedef struct witness_shown {
    uint64_t found, lost,
        withheld; /* URLs: found; not found, rightly; that could not be found, as nobody had committed */
} witness_shown;

static inline void witness_raise(atomic_uint_fast64_t *time, uint64_t to)
{
    uint64_t now = atomic_load(time);
    while (now < to && !atomic_compare_exchange_weak(time, &now, to))
        ;
}

static inline void witness_blame(witness *of, witness_fault fault)
{
    unsigned fine = WITNESS_FINE;
    if (atomic_compare_exchange_strong(&of->wrong, &fine, fault))
        snprintf(of->message, sizeof of->message, "%s", vidi_message());
}

/* True if the call has succeeded while the process was alive. Only after that may it fail, and then nobody hears of it. */
static inline bool witness_is_fine(witness *of, int code)
{
    bool over = of->is_over && of->is_over();
    if (code < 0 && !over)
        witness_blame(of, WITNESS_ERROR);
    return code >= 0 && !over;
}

/* ---- what the threads do ---- */

typedef struct witness_thread {
    witness *of;
    test_random random;
    pthread_t id;
    test_batch texts;
    uint32_t urls[WITNESS_BATCH]; /* of the last batch that has marks */
    uint8_t verdicts[WITNESS_BATCH];
    uint64_t marks[WITNESS_BATCH];
    size_t n;
    uint64_t begin, end; /* of that call */
} witness_thread;

static inline void witness_offer(witness *of, uint32_t url, uint64_t now)
{
    uint64_t never = 0;
    atomic_compare_exchange_strong(&of->urls[url].offered, &never, now);
}

static inline void witness_told(witness *of, uint32_t index, uint8_t verdict, uint64_t now, bool fine)
{
    witness_url *url = &of->urls[index];
    if (verdict != VIDI_NEW)
        return;
    if (url->there || atomic_exchange(&url->fresh, true))
        witness_blame(of, WITNESS_NEW_AGAIN);
    atomic_store(&url->answered, now);
    if (fine && (of->flags & TEST_SYNC_ALWAYS) && !(of->flags & VIDI_MANUAL_COMMIT))
        atomic_store(&url->synced, true);
}

/* Half of the URLs are few, so that threads meet. */
static inline uint32_t witness_draw(witness_thread *self)
{
    uint64_t few = test_below(&self->random, 2) ? 150 : WITNESS_URLS;
    return (uint32_t)((self->of->seed * 150 + test_below(&self->random, few)) % WITNESS_URLS);
}

static inline void witness_add(witness_thread *self, size_t n)
{
    witness *of = self->of;
    self->texts.n = 0;
    for (size_t i = 0; i < n; i++) {
        self->urls[i] = witness_draw(self);
        test_batch_push(&self->texts, test_url, 78, self->urls[i]);
    }
    self->begin = history_now();
    for (size_t i = 0; i < n; i++)
        witness_offer(of, self->urls[i], self->begin);
    int code = n == 1 ? vidi_add(of->set, self->texts.urls[0])
                      : vidi_add_batch(of->set, self->texts.urls, n, self->verdicts, self->marks);
    self->end = history_now();
    bool fine = witness_is_fine(of, code);
    if (n == 1)
        self->verdicts[0] = code < 0 ? VIDI_UNTRIED : (uint8_t)code;
    for (size_t i = 0; i < n; i++)
        witness_told(of, self->urls[i], self->verdicts[i], self->end, fine);
    self->n = n > 1 && code == VIDI_OK && (of->flags & VIDI_MANUAL_COMMIT) ? n : 0;
}

/* What is there, or was told NEW, is never missed. */
static inline void witness_look(witness_thread *self)
{
    uint32_t index = witness_draw(self);
    const witness_url *url = &self->of->urls[index];
    bool there = url->there || atomic_load(&url->answered);
    self->texts.n = 0;
    test_batch_push(&self->texts, test_url, 78, index);
    int verdict = vidi_has(self->of->set, self->texts.urls[0]);
    if (witness_is_fine(self->of, verdict) && there && verdict != VIDI_SEEN)
        witness_blame(self->of, WITNESS_MISSING);
}

static inline void witness_commit(witness_thread *self)
{
    witness *of = self->of;
    bool always = of->flags & TEST_SYNC_ALWAYS;
    uint64_t before = history_now();
    atomic_fetch_add(&of->pending, 1);
    if (!witness_is_fine(of, vidi_commit(of->set)))
        return; /* it may be committed or not */
    witness_raise(&of->clean, before);
    if (always)
        witness_raise(&of->safe, before);
    witness_raise(&of->reach, history_now());
    atomic_fetch_sub(&of->pending, 1);
}

/* Up to some URL of the last batch: what was answered before it, and nothing that was begun after it. */
static inline void witness_commit_to(witness_thread *self)
{
    witness *of = self->of;
    size_t last = test_below(&self->random, self->n);
    bool always = of->flags & TEST_SYNC_ALWAYS;
    witness_raise(&of->reach, self->end);
    if (!witness_is_fine(of, vidi_commit_to(of->set, self->marks[last])))
        return;
    for (size_t i = 0; i <= last; i++) {
        if (self->verdicts[i] != VIDI_NEW)
            continue;
        atomic_store(&of->urls[self->urls[i]].committed, true);
        if (always)
            atomic_store(&of->urls[self->urls[i]].synced, true);
    }
    witness_raise(&of->clean, self->begin);
    if (always)
        witness_raise(&of->safe, self->begin);
}

static inline void witness_sync(witness_thread *self)
{
    witness *of = self->of;
    const unsigned unsure = VIDI_MANUAL_COMMIT | TEST_SYNC_ALWAYS;
    bool committed[WITNESS_URLS], snapshot = test_below(&self->random, 5) == 0;
    /* Not while commits sync: a commit does not yet wait for the log that a snapshot has just ended. */
    if ((of->flags & unsure) == unsure)
        snapshot = false;
    for (size_t i = 0; i < WITNESS_URLS; i++)
        committed[i] = atomic_load(&of->urls[i].committed);
    uint64_t clean = of->flags & VIDI_MANUAL_COMMIT ? atomic_load(&of->clean) : history_now();
    if (!witness_is_fine(of, snapshot ? vidi_snapshot(of->set) : vidi_sync(of->set)))
        return;
    witness_raise(&of->safe, clean);
    for (size_t i = 0; i < WITNESS_URLS; i++)
        if (committed[i])
            atomic_store(&of->urls[i].synced, true);
}

static inline void *witness_work(void *context)
{
    witness_thread *self = context;
    witness *of = self->of;
    bool manual = of->flags & VIDI_MANUAL_COMMIT;
    for (unsigned i = 0; i < of->calls && !atomic_load(&of->wrong) && !(of->is_over && of->is_over()); i++) {
        uint64_t what = test_below(&self->random, 40);
        if (what < 16)
            witness_add(self, 1);
        else if (what < 26)
            witness_add(self, 2 + test_below(&self->random, WITNESS_BATCH - 2));
        else if (what < 32)
            witness_look(self);
        else if (what < 38 && manual && self->n)
            witness_commit_to(self);
        else if (what == 38 && manual && of->seed % 3) /* otherwise by marks alone */
            witness_commit(self);
        else if (what == 39)
            witness_sync(self);
        atomic_fetch_add(&of->made, 1);
    }
    return NULL;
}

static inline void witness_run(witness *of)
{
    static witness_thread threads[WITNESS_THREADS];
    for (size_t i = 0; i < WITNESS_THREADS; i++) {
        threads[i].of = of;
        threads[i].n = 0;
        threads[i].random = (test_random){of->seed * 100 + i};
        test_batch_init(&threads[i].texts, WITNESS_BATCH);
        assert_int_equal(pthread_create(&threads[i].id, NULL, witness_work, &threads[i]), 0);
    }
    for (size_t i = 0; i < WITNESS_THREADS; i++) {
        pthread_join(threads[i].id, NULL);
        test_batch_free(&threads[i].texts);
    }
}

/* ---- what is found ---- */

static inline void witness_check_threads(const witness *of, const char *what)
{
    static const char *const faults[] = {"", "a call fails", "NEW again", "a lookup misses what was told NEW"};
    unsigned wrong = atomic_load(&of->wrong);
    check(!wrong, "%s: %s: %s", what, faults[wrong], of->message);
}

static inline bool witness_must(const witness *of, const witness_url *url)
{
    uint64_t answered = atomic_load(&url->answered);
    return url->there || atomic_load(&url->synced) || (answered && answered < atomic_load(&of->safe));
}

static inline bool witness_may(const witness *of, const witness_url *url)
{
    uint64_t offered = atomic_load(&url->offered);
    bool manual = of->flags & VIDI_MANUAL_COMMIT;
    return url->there || (offered && (!manual || atomic_load(&of->pending) || offered <= atomic_load(&of->reach)));
}

static inline uint8_t witness_verdict(const vidi_set *set, uint32_t url)
{
    char room[TEST_URL_ROOM];
    return (uint8_t)vidi_has(set, (vidi_str){room, test_url(room, sizeof room, 78, url)});
}

/* Compares what was found with what may be found. */
static inline void witness_check(const witness *of, const vidi_set *set, const char *what, witness_shown *shown)
{
    for (uint32_t i = 0; i < WITNESS_URLS; i++) {
        const witness_url *url = &of->urls[i];
        bool found = witness_verdict(set, i) == VIDI_SEEN, may = witness_may(of, url);
        check(found || !witness_must(of, url), "%s, URL %u: is gone, though it was on disk", what, i);
        check(!found || may, "%s, URL %u: is found, though it was not committed", what, i);
        shown->found += found && !url->there;
        shown->lost += !found && atomic_load(&url->fresh);
        shown->withheld += !may && atomic_load(&url->fresh);
    }
}

/* The next process begins with what is found. */
static inline void witness_begin(witness *of, const vidi_set *found, unsigned flags, uint64_t seed)
{
    memset(of, 0, sizeof *of);
    of->flags = flags;
    of->seed = seed;
    for (uint32_t i = 0; i < WITNESS_URLS && found; i++)
        of->urls[i].there = witness_verdict(found, i) == VIDI_SEEN;
}

#endif
