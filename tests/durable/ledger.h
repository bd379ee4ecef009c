/*
 * A ledger of what a durable set has promised: it makes the calls on a set, keeps for every URL what may be found after
 * a crash, and compares that with what is found.
 *
 *     live   what vidi_has must say now
 *     want   what of it is committed
 *     can    what may be found after a crash: one of the two verdicts, or either
 *
 * A commit, or an add with autocommit, makes its URLs possible; when a call has said that they are on disk, nothing else
 * is possible any more. A call that fails leaves both possible, as its record may have reached the disk or not.
 */
#ifndef TESTS_DURABLE_LEDGER_H
#define TESTS_DURABLE_LEDGER_H

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "support/access.h"
#include "support/alloc.h"
#include "support/check.h"
#include "support/disk.h"
#include "support/scratch.h"

enum { LEDGER_URLS = 128, CAN_NEW = 1, CAN_SEEN = 2 };

/* How a run uses the library. */
typedef struct ledger_mode {
    const char *kind;
    const char *params;
    unsigned flags;
} ledger_mode;

typedef struct ledger_url {
    uint8_t live, want; /* VIDI_NEW or VIDI_SEEN */
    uint8_t can;        /* CAN_NEW, CAN_SEEN, or both */
    bool passed;        /* a commit of it has failed: it may be committed all the same */
    bool vague;         /* a merge with it has failed: it may be there or not */
} ledger_url;

typedef enum ledger_previous { PREVIOUS_NONE, PREVIOUS_MAY, PREVIOUS_MUST } ledger_previous;

typedef struct ledger {
    const ledger_mode *mode;
    test_allocator *allocator;
    const test_scratch *folder;
    vidi_set *set;
    bool created;      /* vidi_create has said so */
    bool keeps;        /* the last rotation that was tried keeps the previous epoch, */
    uint64_t epoch;    /* as the caller knows it */
    bool epoch_unsure; /* a rotation has failed: the next one may be found */
    bool tainted;      /* a sync has failed before this process: what it left is not known to be on disk */
    ledger_url urls[LEDGER_URLS];
    ledger_previous previous_state;
    uint8_t previous[LEDGER_URLS]; /* can */
    size_t next;                   /* the first URL that was never used */
    uint64_t errors;               /* calls that have failed */
    const char *what;              /* for sentences: the run */
    const char *cause;             /* what every error's sentence must say; NULL: nothing in particular */
} ledger;

static inline bool ledger_is_manual(const ledger *of)
{
    return of->mode->flags & VIDI_MANUAL_COMMIT;
}

static inline bool ledger_is_always(const ledger *of)
{
    return of->mode->flags & TEST_SYNC_ALWAYS;
}

/* Of 30 bytes, and some of more than a sector. Good for 64 calls. */
static inline vidi_str ledger_str(size_t i)
{
    static _Thread_local char ring[64][640];
    static _Thread_local size_t turn;
    char *text = ring[turn++ % 64];
    int len = snprintf(text, 640, "https://h%zu.example/%zu/%0*d", i % 7, i, i % 9 == 4 ? 590 : 6, 7);
    return (vidi_str){text, (size_t)len};
}

static inline uint8_t ledger_can(uint8_t verdict)
{
    return verdict == VIDI_SEEN ? CAN_SEEN : CAN_NEW;
}

static inline void ledger_begin(ledger *of, const ledger_mode *mode, test_allocator *allocator,
                                const test_scratch *folder, const char *what)
{
    memset(of, 0, sizeof *of);
    of->mode = mode;
    of->allocator = allocator;
    of->folder = folder;
    of->what = what;
    for (size_t i = 0; i < LEDGER_URLS; i++)
        of->urls[i] = (ledger_url){.live = VIDI_NEW, .want = VIDI_NEW, .can = CAN_NEW};
}

/* Every error has a sentence. */
static inline int ledger_note(ledger *of, const char *call, int code)
{
    if (code >= 0)
        return code;
    of->errors++;
    check(strlen(vidi_message()) > 4, "%s: %s fails with %d and says nothing", of->what, call, code);
    if (of->cause)
        check(strstr(vidi_message(), of->cause) || strstr(vidi_message(), "already"),
              "%s: %s fails for another reason: %s", of->what, call, vidi_message());
    return code;
}

/* Everything that is committed is on disk: what was asked for, and nothing else. */
static inline void ledger_acknowledge(ledger *of, bool snapshot)
{
    for (size_t i = 0; i < LEDGER_URLS; i++) {
        ledger_url *url = &of->urls[i];
        if (url->vague && snapshot) {
            int verdict = vidi_has(of->set, ledger_str(i));
            if (verdict < 0)
                continue;
            url->vague = false;
            url->live = url->want = (uint8_t)verdict;
        }
        bool unknown = url->passed || url->vague || (of->tainted && !snapshot && url->can == (CAN_NEW | CAN_SEEN));
        if (!unknown)
            url->can = ledger_can(url->want);
    }
    of->epoch_unsure = false;
    if (snapshot && of->previous_state == PREVIOUS_MAY)
        of->previous_state = PREVIOUS_NONE;
}

/* ---- the calls ---- */

static inline int ledger_create(ledger *of)
{
    static const unsigned char key[VIDI_KEY_BYTES] = "ledger";
    vidi_options options = VIDI_OPTIONS_INIT;
    vidi_access access = VIDI_ACCESS_INIT;
    options.kind = of->mode->kind;
    options.params = of->mode->params;
    options.capacity = 2 * LEDGER_URLS;
    options.key = key;
    options.access = &access;
    access.allocator = of->allocator ? &of->allocator->hook : NULL;
    test_use(&options, &access, of->mode->flags);
    options.path = of->folder->path;
    int code = ledger_note(of, "vidi_create", vidi_create(&of->set, &options));
    check((code == VIDI_OK) == (of->set != NULL), "%s: vidi_create and its set disagree", of->what);
    of->created |= code == VIDI_OK;
    return code;
}

static inline void ledger_added(ledger *of, size_t i, uint8_t verdict)
{
    ledger_url *url = &of->urls[i];
    if (verdict == VIDI_UNTRIED) {
        if (!ledger_is_manual(of))
            url->can |= CAN_SEEN; /* its record may have been written */
        return;
    }
    if (!url->vague)
        check(verdict == url->live, "%s: URL %zu was answered %d, not %d", of->what, i, verdict, url->live);
    if (verdict != VIDI_NEW)
        return;
    url->live = VIDI_SEEN;
    url->vague = false;
    if (ledger_is_manual(of))
        return;
    url->want = VIDI_SEEN;
    url->can = ledger_is_always(of) ? CAN_SEEN : url->can | CAN_SEEN;
}

static inline int ledger_add(ledger *of, size_t i)
{
    int code = ledger_note(of, "vidi_add", vidi_add(of->set, ledger_str(i)));
    ledger_added(of, i, code < 0 ? VIDI_UNTRIED : (uint8_t)code);
    return code;
}

static inline int ledger_add_batch(ledger *of, size_t first, size_t n)
{
    vidi_str urls[64];
    uint8_t verdicts[64];
    assert_true(n <= 64);
    for (size_t i = 0; i < n; i++)
        urls[i] = ledger_str(first + i);
    int code = ledger_note(of, "vidi_add_batch", vidi_add_batch(of->set, urls, n, verdicts, NULL));
    for (size_t i = 0; i < n; i++) {
        check(code < 0 || verdicts[i] != VIDI_UNTRIED, "%s: URL %zu is untried", of->what, first + i);
        ledger_added(of, first + i, verdicts[i]);
    }
    return code;
}

/* One that was added once. */
static inline int ledger_remove(ledger *of, size_t i)
{
    ledger_url *url = &of->urls[i];
    int code = ledger_note(of, "vidi_remove", vidi_remove(of->set, ledger_str(i)));
    if (!ledger_is_manual(of))
        url->can |= CAN_NEW;
    if (code < 0)
        return code;
    url->live = VIDI_NEW;
    if (!ledger_is_manual(of)) {
        url->want = VIDI_NEW;
        if (ledger_is_always(of))
            url->can = CAN_NEW;
    }
    return code;
}

static inline int ledger_commit(ledger *of)
{
    bool manual = ledger_is_manual(of);
    for (size_t i = 0; manual && i < LEDGER_URLS; i++)
        if (of->urls[i].live != of->urls[i].want)
            of->urls[i].can |= ledger_can(of->urls[i].live);
    int code = ledger_note(of, "vidi_commit", vidi_commit(of->set));
    for (size_t i = 0; manual && i < LEDGER_URLS; i++) {
        ledger_url *url = &of->urls[i];
        bool staged = url->live != url->want;
        if (code < 0) {
            url->passed |= staged;
            continue;
        }
        url->passed = false;
        url->want = url->live;
        if (staged && ledger_is_always(of))
            url->can = ledger_can(url->want);
    }
    return code;
}

static inline int ledger_sync(ledger *of)
{
    int code = ledger_note(of, "vidi_sync", vidi_sync(of->set));
    if (code == VIDI_OK)
        ledger_acknowledge(of, false);
    return code;
}

static inline int ledger_snapshot(ledger *of)
{
    int code = ledger_note(of, "vidi_snapshot", vidi_snapshot(of->set));
    if (code == VIDI_OK)
        ledger_acknowledge(of, true);
    return code;
}

/* The set is in its next epoch. */
static inline void ledger_next_epoch(ledger *of)
{
    of->previous_state = of->keeps ? PREVIOUS_MUST : PREVIOUS_NONE;
    of->epoch++;
    of->epoch_unsure = false;
    for (size_t i = 0; i < LEDGER_URLS; i++) {
        of->previous[i] = of->urls[i].can;
        of->urls[i] = (ledger_url){.live = VIDI_NEW, .want = VIDI_NEW, .can = CAN_NEW};
    }
}

static inline int ledger_rotate(ledger *of, bool keep)
{
    vidi_options next = VIDI_OPTIONS_INIT;
    next.flags = keep ? VIDI_KEEP_PREVIOUS : 0;
    next.capacity = 2 * LEDGER_URLS;
    of->keeps = keep;
    int code = ledger_note(of, "vidi_rotate", vidi_rotate(of->set, &next));
    if (code < 0) {
        of->epoch_unsure = true;
        return code;
    }
    if (of->keeps) /* it is on disk as it was */
        for (size_t i = 0; i < LEDGER_URLS; i++)
            if (!of->urls[i].passed && !of->urls[i].vague && !of->tainted)
                of->urls[i].can = ledger_can(of->urls[i].want);
    ledger_next_epoch(of);
    return code;
}

static inline int ledger_drop_previous(ledger *of)
{
    int code = ledger_note(of, "vidi_drop_previous", vidi_drop_previous(of->set));
    if (of->previous_state == PREVIOUS_MUST)
        of->previous_state = PREVIOUS_MAY;
    return code;
}

static inline int ledger_merge(ledger *of, size_t first, size_t n)
{
    vidi_options options = VIDI_OPTIONS_INIT;
    vidi_access access = VIDI_ACCESS_INIT;
    vidi_set *from;
    options.like = of->set;
    options.access = &access;
    access.allocator = of->allocator ? &of->allocator->hook : NULL;
    int code = ledger_note(of, "vidi_create", vidi_create(&from, &options));
    for (size_t i = first; code >= 0 && i < first + n; i++)
        code = ledger_note(of, "vidi_add", vidi_add(from, ledger_str(i)));
    if (code >= 0) {
        code = ledger_note(of, "vidi_merge", vidi_merge(of->set, from, 0));
        for (size_t i = first; i < first + n; i++) {
            ledger_url *url = &of->urls[i];
            *url = (ledger_url){VIDI_SEEN, VIDI_SEEN, code < 0 ? url->can | CAN_SEEN : CAN_SEEN, false, code < 0};
        }
        if (code == VIDI_OK)
            ledger_acknowledge(of, true);
    }
    vidi_close(from);
    return code;
}

/* What is asked of an open set is what was told to it. */
static inline void ledger_check_live(ledger *of)
{
    for (size_t i = 0; i < LEDGER_URLS; i++) {
        int verdict = vidi_has(of->set, ledger_str(i));
        if (verdict > 0 && !of->urls[i].vague)
            check(verdict == of->urls[i].live, "%s: URL %zu is %d in memory, not %d", of->what, i, verdict,
                  of->urls[i].live);
    }
}

static inline void ledger_close(ledger *of)
{
    vidi_close(of->set);
    of->set = NULL;
}

/* ---- what is found ---- */

static inline bool ledger_allows(uint8_t can, int verdict)
{
    return verdict == VIDI_NEW || verdict == VIDI_SEEN ? (can & ledger_can((uint8_t)verdict)) != 0 : false;
}

static inline uint64_t ledger_epoch(const vidi_set *set)
{
    vidi_stats stats = {.size = sizeof stats};
    assert_int_equal(vidi_stat(set, &stats), VIDI_OK);
    return stats.epoch;
}

/* Is it what the ledger allows? Faults must be off. */
static inline void ledger_check_found(const ledger *of, const vidi_set *set, const char *how)
{
    uint64_t epoch = ledger_epoch(set);
    bool next = of->epoch_unsure && epoch == of->epoch + 1;
    check(next || epoch == of->epoch, "%s, %s: epoch %d, not %d", of->what, how, (int)epoch, (int)of->epoch);
    ledger_previous state = next ? of->keeps ? PREVIOUS_MUST : PREVIOUS_NONE : of->previous_state;
    for (size_t i = 0; i < LEDGER_URLS; i++) {
        int verdict = vidi_has(set, ledger_str(i)), before = vidi_has_previous(set, ledger_str(i));
        uint8_t can = next ? CAN_NEW : of->urls[i].can, can_before = next ? of->urls[i].can : of->previous[i];
        check(ledger_allows(can, verdict), "%s, %s: URL %zu is %d: %s", of->what, how, i, verdict,
              verdict == VIDI_NEW    ? "it was acknowledged"
              : verdict == VIDI_SEEN ? "it was not committed"
                                     : vidi_message());
        bool none = before == VIDI_ECANNOT && state != PREVIOUS_MUST;
        bool there = state != PREVIOUS_NONE && ledger_allows(can_before, before);
        check(none || there, "%s, %s: URL %zu is %d in the previous epoch, %d possible, state %d", of->what, how, i,
              before, can_before, state);
    }
}

static inline int ledger_open_any(const ledger *of, const char *path, unsigned flags, vidi_set **set)
{
    vidi_access access = VIDI_ACCESS_INIT;
    test_access(&access, flags);
    access.allocator = of->allocator ? &of->allocator->hook : NULL;
    int code = vidi_open(set, path, &access);
    check((code == VIDI_OK) == (*set != NULL), "%s: vidi_open and its set disagree", of->what);
    if (code < 0)
        check(strlen(vidi_message()) > 4, "%s: vidi_open fails with %d and says nothing", of->what, code);
    return code;
}

/* The folder is opened in one way, and closed again. A set that was never made may be missing. */
static inline void ledger_check_folder(const ledger *of, const char *path, unsigned flags, const char *how)
{
    vidi_set *set;
    int code = ledger_open_any(of, path, flags, &set);
    if (code < 0 && !of->created) {
        check(code == VIDI_EFORMAT || code == VIDI_EABSENT, "%s, %s: %d, %s", of->what, how, code, vidi_message());
        return;
    }
    check(code == VIDI_OK, "%s, %s: %d, %s", of->what, how, code, vidi_message());
    ledger_check_found(of, set, how);
    check(vidi_verify(set) == VIDI_OK, "%s, %s: %s", of->what, how, vidi_message());
    vidi_close(set);
}

/* Goes on after an opening: what was found is what there is. */
static inline void ledger_take_over(ledger *of)
{
    if (of->epoch_unsure && ledger_epoch(of->set) == of->epoch + 1)
        ledger_next_epoch(of);
    of->epoch_unsure = of->tainted && of->epoch_unsure;
    if (of->previous_state == PREVIOUS_MAY) { /* whoever was about to drop it has done so or not */
        int before = vidi_has_previous(of->set, ledger_str(0));
        of->previous_state = before > 0 ? PREVIOUS_MUST : before == VIDI_ECANNOT ? PREVIOUS_NONE : PREVIOUS_MAY;
    }
    for (size_t i = 0; i < LEDGER_URLS; i++) {
        int verdict = vidi_has(of->set, ledger_str(i));
        ledger_url *url = &of->urls[i];
        if (verdict < 0) { /* no memory to ask */
            url->vague = true;
            continue;
        }
        check(ledger_allows(url->can, verdict), "%s, opened again: URL %zu is %d", of->what, i, verdict);
        url->live = url->want = (uint8_t)verdict;
        url->passed = url->vague = false;
    }
}

/* Opens the set again for writing. */
static inline int ledger_open(ledger *of)
{
    int code = ledger_note(of, "vidi_open", ledger_open_any(of, of->folder->path, of->mode->flags, &of->set));
    if (code == VIDI_OK)
        ledger_take_over(of);
    return code;
}

#endif
