/*
 * The judge of the recorded histories (support/history.h) is judged: by histories written by hand, by trying all orders of
 * small histories, and by a set with planted faults, each of which must be found by the calls of one round.
 *
 * The planted faults do not wait for a race: they answer as a set would that had lost one, and only where the calls
 * surely came one after the other, or whatever the other threads do. So each is found in every run.
 */
#include <stdio.h>
#include <string.h>

#include "support/check.h"
#include "support/env.h"
#include "support/random.h"
#include "support/recorder.h"
#include "support/runner.h"
#include "vidi/vidi.h"

/* ---- by hand ---- */

/* A call of a thread, written short. A thread's calls stand one after the other. */
typedef struct line {
    unsigned thread, begin, end;
    history_what what;
    uint32_t answer;
} line;

typedef struct story {
    const char *name;
    const char *rule; /* that is broken; NULL: none */
    bool every_add;
    bool searched_only; /* rules do not cover it: the search must find `rule` broken, whatever it is called */
    line lines[10];
} story;

#define ADD(thread, begin, end, answer)                                                                                \
    {                                                                                                                  \
        thread, begin, end, HISTORY_ADD, VIDI_##answer                                                                 \
    }
#define HAS(thread, begin, end, answer)                                                                                \
    {                                                                                                                  \
        thread, begin, end, HISTORY_HAS, VIDI_##answer                                                                 \
    }
#define REMOVE(thread, begin, end, answer)                                                                             \
    {                                                                                                                  \
        thread, begin, end, HISTORY_REMOVE, answer                                                                     \
    }
#define COUNT(thread, begin, end, answer)                                                                              \
    {                                                                                                                  \
        thread, begin, end, HISTORY_COUNT, answer                                                                      \
    }
#define MERGE(thread, begin, end)                                                                                      \
    {                                                                                                                  \
        thread, begin, end, HISTORY_MERGE, 0                                                                           \
    }
#define FORGET(thread, begin, end)                                                                                     \
    {                                                                                                                  \
        thread, begin, end, HISTORY_FORGET, 0                                                                          \
    }

static const story stories[] = {
    {"one thread", NULL, false, false, {HAS(1, 1, 2, NEW), ADD(1, 3, 4, NEW), ADD(1, 5, 6, SEEN), HAS(1, 7, 8, SEEN)}},
    {"two adds at once", NULL, false, false, {ADD(1, 1, 5, NEW), ADD(2, 2, 4, SEEN)}},
    {"seen inside a long add", NULL, false, false, {ADD(1, 1, 9, NEW), HAS(2, 2, 3, SEEN), HAS(3, 3, 4, SEEN)}},
    {"missed beside a long add", NULL, false, false, {ADD(1, 1, 9, NEW), HAS(2, 2, 3, NEW), HAS(3, 4, 5, SEEN)}},
    {"a shared moment is no order", NULL, false, false, {ADD(1, 1, 3, NEW), HAS(2, 3, 4, NEW), HAS(3, 4, 5, SEEN)}},
    {"repeats in a batch", NULL, false, false, {ADD(1, 1, 5, NEW), ADD(1, 1, 5, SEEN), ADD(2, 2, 3, SEEN)}},

    {"two are NEW at once", "several adds are told NEW", false, false, {ADD(1, 1, 5, NEW), ADD(2, 2, 4, NEW)}},
    {"NEW again much later", "several adds are told NEW", false, false, {ADD(1, 1, 2, NEW), ADD(2, 7, 8, NEW)}},
    {"NEW twice in a batch", "several adds are told NEW", false, false, {ADD(1, 1, 2, NEW), ADD(1, 1, 2, NEW)}},
    {"nobody is NEW", "SEEN, but no add was told NEW", false, false, {ADD(1, 1, 2, SEEN)}},
    {"nobody has added", "SEEN, but no add was told NEW", false, false, {HAS(1, 1, 2, SEEN)}},
    {"an add missed", "a lookup misses an add that had ended", false, false, {ADD(1, 1, 2, NEW), HAS(2, 3, 4, NEW)}},
    {"an own add missed",
     "a thread's lookup misses what the thread has added",
     false,
     false,
     {ADD(1, 1, 2, NEW), HAS(1, 3, 4, NEW)}},
    {"SEEN and then NEW",
     "a lookup is told NEW after another call was told SEEN",
     false,
     false,
     {ADD(1, 1, 9, NEW), HAS(2, 2, 3, SEEN), HAS(3, 4, 5, NEW)}},
    {"an add SEEN and then NEW",
     "a lookup is told NEW after another call was told SEEN",
     false,
     false,
     {ADD(1, 1, 9, NEW), ADD(2, 2, 3, SEEN), HAS(3, 4, 5, NEW)}},
    {"SEEN and then NEW, one thread",
     "a thread is told NEW after it was told SEEN",
     false,
     false,
     {ADD(1, 1, 9, NEW), HAS(2, 2, 3, SEEN), HAS(2, 4, 5, NEW)}},
    {"SEEN before NEW in a batch",
     "a thread is told NEW after it was told SEEN",
     false,
     false,
     {ADD(1, 1, 2, SEEN), ADD(1, 1, 2, NEW)}},
    {"seen too early",
     "SEEN before the add that is told NEW began",
     false,
     false,
     {HAS(1, 1, 2, SEEN), ADD(2, 3, 4, NEW)}},

    {"removed and NEW again",
     NULL,
     false,
     true,
     {ADD(1, 1, 2, NEW), REMOVE(1, 3, 4, 1), ADD(2, 5, 6, NEW), HAS(1, 7, 8, SEEN)}},
    {"removed meanwhile", NULL, false, true, {ADD(1, 1, 9, NEW), REMOVE(2, 2, 8, 1), ADD(3, 3, 7, NEW)}},
    {"one of two removals", NULL, false, true, {ADD(1, 1, 2, NEW), REMOVE(2, 3, 6, 0), REMOVE(3, 4, 5, 1)}},
    {"three times there",
     NULL,
     true,
     true,
     {ADD(1, 1, 2, NEW), ADD(2, 1, 9, SEEN), COUNT(3, 3, 4, 2), ADD(3, 5, 6, SEEN), COUNT(3, 7, 8, 3)}},
    {"forgotten in between",
     NULL,
     false,
     true,
     {ADD(1, 1, 2, NEW), FORGET(4, 2, 8), HAS(2, 3, 4, SEEN), ADD(1, 5, 6, NEW)}},
    {"merged in between",
     NULL,
     false,
     true,
     {HAS(1, 1, 2, NEW), MERGE(2, 1, 8), HAS(1, 3, 4, SEEN), ADD(3, 1, 3, SEEN)}},

    {"removed and still there", "!", false, true, {ADD(1, 1, 2, NEW), REMOVE(1, 3, 4, 1), HAS(2, 5, 6, SEEN)}},
    {"removed twice", "!", false, true, {ADD(1, 1, 2, NEW), REMOVE(2, 3, 6, 1), REMOVE(3, 4, 5, 1)}},
    {"NEW twice, one removal too late", "!", false, true, {ADD(1, 1, 2, NEW), ADD(2, 3, 4, NEW), REMOVE(1, 5, 6, 1)}},
    {"one add is not counted", "!", true, true, {ADD(1, 1, 2, NEW), ADD(2, 1, 3, SEEN), COUNT(3, 4, 5, 1)}},
    {"counts go back", "!", true, true, {ADD(1, 1, 2, NEW), ADD(2, 1, 9, SEEN), COUNT(3, 3, 4, 2), COUNT(3, 5, 6, 1)}},
    {"forgotten too early", "!", false, true, {ADD(1, 1, 2, NEW), ADD(1, 3, 4, NEW), FORGET(4, 5, 6)}},
    {"forgotten once, NEW three times",
     "!",
     false,
     true,
     {ADD(1, 1, 9, NEW), ADD(2, 1, 9, NEW), ADD(3, 1, 9, NEW), FORGET(4, 1, 9)}},
    {"not forgotten", "!", false, true, {ADD(1, 1, 2, NEW), FORGET(4, 3, 4), HAS(1, 5, 6, SEEN)}},
    {"merged and missed", "!", false, true, {MERGE(1, 1, 2), HAS(2, 3, 4, NEW)}},
};

enum { THREADS = 4 };

static void lanes_of(history_url *of, const line *lines, size_t n, history_op ops[THREADS][16])
{
    of->n_lanes = THREADS;
    for (unsigned t = 0; t < THREADS; t++)
        of->lanes[t] = (history_lane){ops[t], 0};
    for (size_t i = 0; i < n && lines[i].thread; i++) {
        const line *from = &lines[i];
        history_lane *lane = &of->lanes[from->thread - 1];
        ops[from->thread - 1][lane->n++] =
            (history_op){from->begin, from->end, 0, from->what & 0xff, from->answer & 0xff};
    }
}

static void stories_are_judged(void **state)
{
    history_op ops[THREADS][16];
    (void)state;
    for (size_t i = 0; i < sizeof stories / sizeof *stories; i++) {
        const story *which = &stories[i];
        history_url of = {.every_add = which->every_add};
        lanes_of(&of, which->lines, sizeof which->lines / sizeof *which->lines, ops);
        history_verdict verdict = history_explain(&of);
        check(verdict == (which->rule ? HISTORY_WRONG : HISTORY_FINE), "%s: the search says %d", which->name, verdict);
        if (which->searched_only)
            continue;
        const char *rule = history_break_rule(&of);
        check(rule == which->rule || (rule && which->rule && strcmp(rule, which->rule) == 0), "%s: %s", which->name,
              rule ? rule : "no rule is broken");
    }
}

/* ---- all orders ---- */

enum { SMALL = 6 };

/* Tries every order of the lines, by trying each that may come next. At most SMALL deep. */
static bool some_order_explains(const line *lines, size_t n, unsigned done, uint32_t times, bool every_add)
{
    if (done == (1u << n) - 1)
        return true;
    for (size_t i = 0; i < n; i++) {
        const line *op = &lines[i];
        bool next = !(done >> i & 1);
        for (size_t k = 0; k < n && next; k++)
            next = (done >> k & 1) || k == i || !(lines[k].end < op->begin || (lines[k].thread == op->thread && k < i));
        bool there = times > 0;
        bool right = op->what == HISTORY_COUNT    ? op->answer == times
                     : op->what == HISTORY_REMOVE ? op->answer == there
                     : op->what <= HISTORY_HAS    ? op->answer == (there ? VIDI_SEEN : VIDI_NEW)
                                                  : true;
        uint32_t after = times;
        if (op->what == HISTORY_ADD || op->what == HISTORY_MERGE)
            after = every_add || !times ? times + 1 : times;
        else if (op->what == HISTORY_REMOVE && times)
            after = times - 1;
        else if (op->what == HISTORY_FORGET)
            after = 0;
        if (next && right && some_order_explains(lines, n, done | 1u << i, after, every_add))
            return true;
    }
    return false;
}

static uint32_t draw_answer(history_what what, test_random *random)
{
    if (what <= HISTORY_HAS)
        return test_below(random, 2) ? VIDI_SEEN : VIDI_NEW;
    return (uint32_t)test_below(random, what == HISTORY_COUNT ? 4 : 2);
}

/* Each thread's calls one after the other, at times so few that many are shared; some calls are one batch. */
static size_t draw_lines(line *lines, bool plain, test_random *random)
{
    unsigned clock[THREADS + 1] = {0};
    size_t n = 1 + test_below(random, SMALL);
    for (size_t i = 0; i < n; i++) {
        line *op = &lines[i];
        op->thread = 1 + (unsigned)test_below(random, 3);
        op->what = (history_what)test_below(random, plain ? HISTORY_HAS + 1 : HISTORY_FORGET + 1);
        op->answer = draw_answer(op->what, random);
        op->begin = clock[op->thread] + 1 + (unsigned)test_below(random, 3);
        op->end = op->begin + (unsigned)test_below(random, 6);
        for (size_t k = 0; k < i; k++) /* joins the thread's last call */
            if (lines[k].thread == op->thread && lines[k].end == clock[op->thread] && test_below(random, 5) == 0) {
                op->begin = lines[k].begin;
                op->end = lines[k].end;
            }
        clock[op->thread] = op->end;
    }
    return n;
}

static void the_search_finds_an_order_if_there_is_one(void **state)
{
    test_random random = {1};
    history_op ops[THREADS][16];
    size_t fine = 0, wrong = 0, plain_fine = 0, plain_wrong = 0;
    (void)state;
    for (int i = 0; i < (test_sanitized() ? 40000 : 400000); i++) {
        line lines[SMALL];
        history_url of = {.every_add = test_below(&random, 2)};
        bool plain = test_below(&random, 2);
        size_t n = draw_lines(lines, plain, &random);
        lanes_of(&of, lines, n, ops);
        bool right = some_order_explains(lines, n, 0, 0, of.every_add);
        check(history_explain(&of) == (right ? HISTORY_FINE : HISTORY_WRONG), "history %d: the search is wrong", i);
        if (plain)
            check(!history_break_rule(&of) == right, "history %d: the rules are wrong", i);
        *(plain ? right ? &plain_fine : &plain_wrong : right ? &fine : &wrong) += 1;
    }
    assert_true(fine > 1000 && wrong > 1000 && plain_fine > 1000 && plain_wrong > 1000);
}

/* ---- planted faults ---- */

enum { URLS = 4000, HOT = 8 };

typedef enum fault {
    NO_FAULT,
    TWO_ARE_NEW,       /* a thread does not see another one's add until its own add has been NEW, too */
    LOOKUP_MISSES,     /* a thread's lookups never see what another one has added */
    LOOKUP_MISSES_OWN, /* ... or what the thread itself has added */
    NEW_AFTER_SEEN,    /* an add is NEW again after the adding thread was told SEEN */
    LOOKUP_GOES_BACK,  /* a thread is told SEEN and then NEW */
    SEEN_FROM_NOWHERE, /* of a URL that nobody has offered yet */
    REPEATED_IN_BATCH, /* NEW twice within one batch */
    LOST_BY_GROWTH,    /* growing forgets a URL */
    STALE_DIGESTS,     /* adds in two halves say what was right at the first half */
    NOT_COUNTED,       /* an add of a URL that is there is not counted */
    REMOVAL_IS_LOST,
    REMOVED_TWICE,
    FAULTS
} fault;

static const char *const fault_names[FAULTS] = {
    [NO_FAULT] = "none",
    [TWO_ARE_NEW] = "two are NEW",
    [LOOKUP_MISSES] = "a lookup misses",
    [LOOKUP_MISSES_OWN] = "a lookup misses its own",
    [NEW_AFTER_SEEN] = "NEW after SEEN",
    [LOOKUP_GOES_BACK] = "a lookup goes back",
    [SEEN_FROM_NOWHERE] = "seen from nowhere",
    [REPEATED_IN_BATCH] = "NEW twice in a batch",
    [LOST_BY_GROWTH] = "lost by growth",
    [STALE_DIGESTS] = "stale digests",
    [NOT_COUNTED] = "not counted",
    [REMOVAL_IS_LOST] = "a removal is lost",
    [REMOVED_TWICE] = "removed twice",
};

/* A set of numbers with a mutex, which is right but for the fault. */
typedef struct fake {
    pthread_mutex_t lock;
    fault planted;
    bool every_add;
    uint32_t times[URLS];
    uint16_t adder[URLS];                      /* thread that was told NEW, plus 1 */
    bool told_new[RECORDER_THREADS + 1][URLS]; /* what each thread was told */
    bool told_seen[RECORDER_THREADS + 1][URLS];
    size_t added;
} fake;

/* Every fault shows at the hot URLs, which each thread adds and asks for all the time. */
static bool is_missed(const fake *of, unsigned thread, uint32_t url)
{
    switch (of->planted) {
    case LOOKUP_MISSES:
        return of->adder[url] != thread + 1;
    case LOOKUP_MISSES_OWN:
        return of->adder[url] == thread + 1;
    case LOOKUP_GOES_BACK:
        return of->told_seen[thread][url] && !of->told_new[thread][url];
    default:
        return false;
    }
}

static uint32_t fake_add(fake *of, unsigned thread, uint32_t url, const uint32_t *before, bool in_halves)
{
    bool fresh = of->times[url] == 0;
    if (of->planted == TWO_ARE_NEW && !of->told_new[thread][url] && url % 3 == 0)
        fresh = true;
    if (of->planted == NEW_AFTER_SEEN && of->told_seen[thread][url] && !of->told_new[thread][url])
        fresh = true;
    if (of->planted == STALE_DIGESTS && in_halves && before)
        fresh = *before == 0;
    bool counts = of->planted != NOT_COUNTED || of->times[url] != 2;
    if (fresh && !of->times[url])
        of->times[url] = 1;
    else if (of->every_add && counts)
        of->times[url]++;
    if (fresh) {
        of->told_new[thread][url] = true;
        of->adder[url] = (uint16_t)(thread + 1);
        if (of->planted == LOST_BY_GROWTH && ++of->added == URLS / 4)
            of->times[0] = 0;
    }
    return fresh ? VIDI_NEW : VIDI_SEEN;
}

static uint32_t fake_look(const fake *of, unsigned thread, uint32_t url)
{
    if (of->planted == SEEN_FROM_NOWHERE && !of->times[url] && url >= HOT)
        return url % 5 ? VIDI_NEW : VIDI_SEEN;
    return of->times[url] && !is_missed(of, thread, url) ? VIDI_SEEN : VIDI_NEW;
}

static uint32_t fake_remove(fake *of, uint32_t url)
{
    uint32_t there = of->times[url] > 0;
    if (of->planted == REMOVED_TWICE && !there)
        return 1;
    if (of->planted != REMOVAL_IS_LOST || url % 2)
        of->times[url] -= there;
    return there;
}

static uint32_t fake_answer(fake *of, unsigned thread, recorder_way way, uint32_t url, const uint32_t *before)
{
    uint32_t answer;
    switch (way) {
    case RECORDER_COUNT:
        return of->times[url];
    case RECORDER_REMOVE:
        return fake_remove(of, url);
    case RECORDER_ADD:
    case RECORDER_ADD_BATCH:
    case RECORDER_ADD_DIGESTS:
        answer = fake_add(of, thread, url, before, way == RECORDER_ADD_DIGESTS);
        break;
    default:
        answer = fake_look(of, thread, url);
    }
    of->told_seen[thread][url] |= answer == VIDI_SEEN;
    return answer;
}

static int fake_call(void *set, unsigned thread, recorder_way way, const uint32_t *urls, size_t n, uint32_t *answers)
{
    fake *of = set;
    uint32_t before[RECORDER_MOST];
    pthread_mutex_lock(&of->lock);
    for (size_t i = 0; i < n; i++)
        before[i] = of->times[urls[i]];
    for (size_t i = 0; i < n; i++)
        answers[i] = fake_answer(of, thread, way, urls[i], &before[i]);
    for (size_t i = 1; i < n && of->planted == REPEATED_IN_BATCH && way == RECORDER_ADD_BATCH; i++)
        for (size_t k = 0; k < i; k++)
            if (urls[i] == urls[k] && answers[k] == VIDI_NEW)
                answers[i] = VIDI_NEW;
    pthread_mutex_unlock(&of->lock);
    return VIDI_OK;
}

static bool holds(fault planted, bool every_add, char text[HISTORY_FAULT])
{
    static fake of;
    static recorder all;
    memset(&of, 0, sizeof of);
    pthread_mutex_init(&of.lock, NULL);
    of.planted = planted;
    of.every_add = every_add;
    all = (recorder){.call = fake_call, .set = &of, .threads = RECORDER_THREADS, .hot = HOT, .urls = URLS, .seed = 1};
    all.calls = 300;
    for (size_t way = 0; way < RECORDER_WAYS; way++)
        all.weights[way] = way < RECORDER_REMOVE || every_add ? 4 : 0;
    all.every_add = every_add;
    recorder_run(&all);
    recorder_ask_all(&all, every_add ? RECORDER_COUNT : RECORDER_HAS);
    bool fine = recorder_check(&all, text);
    recorder_free(&all);
    pthread_mutex_destroy(&of.lock);
    return fine;
}

static void planted_faults_are_found(void **state)
{
    char text[HISTORY_FAULT];
    (void)state;
    for (unsigned every_add = 0; every_add < 2; every_add++) {
        check(holds(NO_FAULT, every_add, text), "without a fault: %s", text);
        for (fault planted = NO_FAULT + 1; planted < FAULTS; planted++) {
            if (planted >= NOT_COUNTED && !every_add)
                continue;
            check(!holds(planted, every_add, text), "%s (%u): is not found", fault_names[planted], every_add);
            check(strncmp(text, "URL", 3) == 0 && !strstr(text, "too long"), "%s: %s", fault_names[planted], text);
        }
    }
}

int main(int argc, char **argv)
{
    test_add("stories are judged", stories_are_judged, NULL);
    test_add("the search finds an order if there is one", the_search_finds_an_order_if_there_is_one, NULL);
    test_add("planted faults are found", planted_faults_are_found, NULL);
    return test_run("threads_history", argc, argv);
}
