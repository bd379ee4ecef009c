#include "support/history.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "support/random.h"
#include "vidi/vidi.h"

/*
 * The exchanges are full barriers. The first lets no earlier write wait in the processor; the second stores the time
 * itself, so no later read can be made before the clock was read.
 */
uint64_t history_now(void)
{
    static _Thread_local _Atomic uint64_t barrier;
    struct timespec now;
    atomic_exchange(&barrier, 0);
    clock_gettime(CLOCK_MONOTONIC, &now);
    uint64_t nanoseconds = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
    atomic_exchange(&barrier, nanoseconds);
    return nanoseconds;
}

/* ---- rules ---- */

/*
 * Without removals a URL's history has three parts: answers that say "absent" (lookups that are NEW), then the one add
 * that is NEW, then answers that say "there" (all that are SEEN). An order of all calls exists if and only if no call of
 * a later part had to come before one of an earlier part. Such a pair clearly makes an order impossible. If there is
 * none, take the parts one after the other, and within a part order by beginning: that respects everything that had to
 * come first.
 *
 * A call had to come before another one if it ended before that began, or if it stands before it in a lane. (Taken
 * together these two give nothing more: members of one batch have the same times.) So it is enough to compare the
 * earliest end of one part with the latest beginning of the part before, and to see that no lane goes back.
 */
typedef enum part { ABSENT, ADDED, THERE, PARTS } part;

static part part_of(const history_op *op)
{
    return op->answer == VIDI_SEEN ? THERE : op->what == HISTORY_ADD ? ADDED : ABSENT;
}

const char *history_break_rule(const history_url *of)
{
    uint64_t earliest_end[PARTS] = {UINT64_MAX, UINT64_MAX, UINT64_MAX}, latest_begin[PARTS] = {0};
    size_t n[PARTS] = {0};
    for (size_t lane = 0; lane < of->n_lanes; lane++) {
        part reached = ABSENT;
        for (size_t i = 0; i < of->lanes[lane].n; i++) {
            const history_op *op = &of->lanes[lane].ops[i];
            part now = part_of(op);
            if (now < reached)
                return reached == THERE ? "a thread is told NEW after it was told SEEN"
                                        : "a thread's lookup misses what the thread has added";
            reached = now;
            n[now]++;
            if (op->end < earliest_end[now])
                earliest_end[now] = op->end;
            if (op->begin > latest_begin[now])
                latest_begin[now] = op->begin;
        }
    }
    if (n[ADDED] > 1)
        return "several adds are told NEW";
    if (n[THERE] && !n[ADDED])
        return "SEEN, but no add was told NEW";
    if (n[ADDED] && earliest_end[THERE] < latest_begin[ADDED])
        return "SEEN before the add that is told NEW began";
    if (n[ABSENT] && earliest_end[ADDED] < latest_begin[ABSENT])
        return "a lookup misses an add that had ended";
    if (n[ABSENT] && earliest_end[THERE] < latest_begin[ABSENT])
        return "a lookup is told NEW after another call was told SEEN";
    return NULL;
}

/* ---- search ---- */

/* How far each lane has been put into order, and how often the URL is there then. */
typedef struct place {
    uint32_t at[HISTORY_LANES];
    uint32_t times;
} place;

typedef struct branch {
    place here;
    size_t next; /* the next lane to try */
} branch;

enum { MOST_PLACES = 1 << 21 };

typedef struct search {
    const history_url *of;
    branch *path;
    size_t depth, path_room;
    place *known; /* places that the search has been at: a hash table, where all bits set mean none */
    size_t n_known, known_room;
} search;

static void *must_get(void *block)
{
    if (block)
        return block;
    fputs("no memory for a history\n", stderr);
    exit(1);
}

static bool is_there(const place *known, const place *here)
{
    return memcmp(known, here, sizeof *here) == 0;
}

static uint64_t hash_of(const place *here)
{
    uint64_t hash = here->times;
    for (size_t i = 0; i < HISTORY_LANES; i++)
        hash = test_mix(hash * 31 + here->at[i]);
    return hash;
}

static void make_known(search *of, size_t room)
{
    of->known_room = room;
    of->known = must_get(malloc(room * sizeof *of->known));
    memset(of->known, 0xff, room * sizeof *of->known);
}

/* True if the place is not known yet. */
static bool learn(search *of, const place *here)
{
    if (2 * of->n_known >= of->known_room) {
        place *old = of->known;
        size_t room = of->known_room;
        of->n_known = 0;
        make_known(of, 2 * room);
        for (size_t i = 0; i < room; i++)
            if (old[i].times != UINT32_MAX)
                learn(of, &old[i]);
        free(old);
    }
    size_t i = hash_of(here) & (of->known_room - 1);
    for (; of->known[i].times != UINT32_MAX; i = (i + 1) & (of->known_room - 1))
        if (is_there(&of->known[i], here))
            return false;
    of->known[i] = *here;
    of->n_known++;
    return true;
}

/* Could a set that has one thread answer this? */
static bool is_right(const history_op *op, uint32_t times)
{
    switch ((history_what)op->what) {
    case HISTORY_ADD:
    case HISTORY_HAS:
        return op->answer == (times ? VIDI_SEEN : VIDI_NEW);
    case HISTORY_REMOVE:
        return op->answer == (times > 0);
    case HISTORY_COUNT:
        return op->answer == times;
    default:
        return true;
    }
}

static uint32_t times_after(const history_url *of, const history_op *op, uint32_t times)
{
    switch ((history_what)op->what) {
    case HISTORY_ADD:
    case HISTORY_MERGE:
        return of->every_add ? times + 1 : 1;
    case HISTORY_REMOVE:
        return times ? times - 1 : 0;
    case HISTORY_FORGET:
        return 0;
    default:
        return times;
    }
}

/* Calls that, if they are answered like this, change nothing. (Merges and rotations may change something elsewhere.) */
static bool only_looks(const history_url *of, const history_op *op)
{
    return op->what == HISTORY_HAS || op->what == HISTORY_COUNT || (op->what == HISTORY_REMOVE && !op->answer) ||
           (op->what == HISTORY_ADD && op->answer == VIDI_SEEN && !of->every_add);
}

static const history_op *head(const history_url *of, const place *here, size_t lane)
{
    return here->at[lane] < of->lanes[lane].n ? &of->lanes[lane].ops[here->at[lane]] : NULL;
}

/* The earliest end of all calls that are left; whatever begins later cannot be next. */
static uint64_t next_end(const history_url *of, const place *here)
{
    uint64_t earliest = UINT64_MAX;
    for (size_t i = 0; i < of->n_lanes; i++) {
        const history_op *op = head(of, here, i);
        if (op && op->end < earliest)
            earliest = op->end;
    }
    return earliest;
}

/* A call that only looks, may be next and is right here may as well be next: in any order it can be moved to here. */
static void take_looks(const history_url *of, place *here)
{
    for (bool more = true; more;) {
        uint64_t earliest = next_end(of, here);
        more = false;
        for (size_t i = 0; i < of->n_lanes; i++) {
            const history_op *op = head(of, here, i);
            if (op && op->begin <= earliest && only_looks(of, op) && is_right(op, here->times)) {
                here->at[i]++;
                more = true;
            }
        }
    }
}

static bool is_end(const history_url *of, const place *here)
{
    for (size_t i = 0; i < of->n_lanes; i++)
        if (head(of, here, i))
            return false;
    return true;
}

static void go_to(search *self, place here)
{
    take_looks(self->of, &here);
    if (!learn(self, &here))
        return;
    if (self->depth == self->path_room) {
        self->path_room *= 2;
        self->path = must_get(realloc(self->path, self->path_room * sizeof *self->path));
    }
    self->path[self->depth++] = (branch){here, 0};
}

/* One step on from the last place, or one back. */
static void step(search *self)
{
    branch *last = &self->path[self->depth - 1];
    uint64_t earliest = next_end(self->of, &last->here);
    while (last->next < self->of->n_lanes) {
        size_t lane = last->next++;
        const history_op *op = head(self->of, &last->here, lane);
        if (!op || op->begin > earliest || !is_right(op, last->here.times))
            continue;
        place there = last->here;
        there.at[lane]++;
        there.times = times_after(self->of, op, there.times);
        go_to(self, there);
        return;
    }
    self->depth--;
}

history_verdict history_explain(const history_url *of)
{
    search self = {.of = of, .path_room = 64};
    place start = {.times = of->before};
    history_verdict verdict = HISTORY_WRONG;
    self.path = must_get(malloc(self.path_room * sizeof *self.path));
    make_known(&self, 256);
    for (go_to(&self, start); self.depth && verdict == HISTORY_WRONG;) {
        if (is_end(of, &self.path[self.depth - 1].here))
            verdict = HISTORY_FINE;
        else if (self.n_known > MOST_PLACES)
            verdict = HISTORY_TOO_LONG;
        else
            step(&self);
    }
    free(self.path);
    free(self.known);
    return verdict;
}

/* ---- all URLs ---- */

/* A thread's calls, ordered by URL: those of URL u end before ops[end[u]], and begin where those of u - 1 end. */
typedef struct by_url {
    history_op *ops;
    size_t *end;
} by_url;

static void sort(by_url *sorted, const history_lane *lane, uint32_t urls)
{
    sorted->ops = must_get(malloc((lane->n + 1) * sizeof *sorted->ops));
    sorted->end = must_get(calloc((size_t)urls + 1, sizeof *sorted->end));
    for (size_t i = 0; i < lane->n; i++)
        sorted->end[lane->ops[i].url + 1]++;
    for (uint32_t u = 0; u < urls; u++)
        sorted->end[u + 1] += sorted->end[u];
    for (size_t i = 0; i < lane->n; i++) /* end[u] is where the next one of u goes; it was the end of u - 1 */
        sorted->ops[sorted->end[lane->ops[i].url]++] = lane->ops[i];
}

static history_lane lane_of(const by_url *sorted, uint32_t url)
{
    size_t first = url ? sorted->end[url - 1] : 0;
    return (history_lane){sorted->ops + first, sorted->end[url] - first};
}

static bool has_only_adds_and_looks(const history_url *of)
{
    for (size_t lane = 0; lane < of->n_lanes; lane++)
        for (size_t i = 0; i < of->lanes[lane].n; i++)
            if (of->lanes[lane].ops[i].what > HISTORY_HAS)
                return false;
    return of->before == 0;
}

static const char *fault_of(const history_url *of)
{
    if (has_only_adds_and_looks(of))
        return history_break_rule(of);
    switch (history_explain(of)) {
    case HISTORY_FINE:
        return NULL;
    case HISTORY_WRONG:
        return "no order explains the answers";
    default:
        return "the history is too long for the search";
    }
}

static void describe(const history_url *of, uint32_t url, const char *what, char fault[HISTORY_FAULT])
{
    static const char *const names[] = {"add", "has", "remove", "count", "merge", "forget"};
    size_t at = (size_t)snprintf(fault, HISTORY_FAULT, "URL %u: %s", url, what);
    uint64_t zero = UINT64_MAX;
    for (size_t lane = 0; lane < of->n_lanes; lane++)
        if (of->lanes[lane].n && of->lanes[lane].ops[0].begin < zero)
            zero = of->lanes[lane].ops[0].begin;
    for (size_t lane = 0; lane < of->n_lanes; lane++) {
        for (size_t i = 0; i < of->lanes[lane].n && i < 12 && at < HISTORY_FAULT - 100; i++) {
            const history_op *op = &of->lanes[lane].ops[i];
            at += (size_t)snprintf(fault + at, HISTORY_FAULT - at, "%s%s %u [%llu, %llu]",
                                   i ? ", " : "\n#   thread: ", names[op->what], (unsigned)op->answer,
                                   (unsigned long long)(op->begin - zero), (unsigned long long)(op->end - zero));
        }
    }
}

bool history_check(const history_lane *threads, size_t n, const history_lane *common, uint32_t urls, bool every_add,
                   char fault[HISTORY_FAULT])
{
    by_url sorted[HISTORY_LANES];
    const char *what = NULL;
    *fault = 0;
    if (n >= HISTORY_LANES) {
        snprintf(fault, HISTORY_FAULT, "%zu threads are too many", n);
        return false;
    }
    for (size_t i = 0; i < n; i++)
        sort(&sorted[i], &threads[i], urls);
    for (uint32_t u = 0; u < urls && !what; u++) {
        history_url of = {.n_lanes = n, .every_add = every_add};
        for (size_t i = 0; i < n; i++)
            of.lanes[i] = lane_of(&sorted[i], u);
        if (common && common->n)
            of.lanes[of.n_lanes++] = *common;
        what = fault_of(&of);
        if (what)
            describe(&of, u, what, fault);
    }
    for (size_t i = 0; i < n; i++) {
        free(sorted[i].ops);
        free(sorted[i].end);
    }
    return !what;
}
