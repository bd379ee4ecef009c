/*
 * Politeness keeps its promises: at most per_host requests at a time for a name and for an address, the delay between
 * them, back-offs, nobody overtaken, and no waiting without need. Random crawls on a clock of their own are logged, and
 * the checker in polite_log.c judges the log; logs with planted faults show that it would notice.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "crawler/politeness/polite_log.h"
#include "crawler/scarce_memory.h"
#include "support/check.h"
#include "support/random.h"
#include "vidi/vidi.h"

static polite *open_polite(int64_t delay, unsigned per_host)
{
    polite *polite;
    assert_int_equal(polite_open(&polite, &(polite_options){.delay = delay, .per_host = per_host}), VIDI_OK);
    return polite;
}

static polite_queue *add_wanting(polite *polite, uint64_t name, uint64_t address, const char *item)
{
    polite_queue *queue = polite_add(polite, name, address, (void *)(uintptr_t)item);
    assert_non_null(queue);
    polite_want(polite, queue, true);
    return queue;
}

/* The item of the next turn; "-": none. */
static const char *next(polite *polite, int64_t now)
{
    const char *item = polite_next(polite, now);
    return item ? item : "-";
}

/* ---- the rules, one by one ---- */

static void a_queue_gets_turns_only_while_it_wants_them(void **state)
{
    (void)state;
    polite *polite = open_polite(-1, 1);
    assert_string_equal(next(polite, 0), "-");
    assert_true(polite_when(polite) == INT64_MAX);
    static char item[] = "a";
    polite_queue *a = polite_add(polite, 1, 1, item);
    assert_string_equal(next(polite, 0), "-");
    assert_true(polite_when(polite) == INT64_MAX);
    polite_want(polite, a, true);
    polite_want(polite, a, true);
    assert_int_equal(polite_wanting(polite), 1);
    assert_int_equal(polite_waiting(polite), 1);
    assert_int_equal(polite_when(polite), 0);
    assert_string_equal(next(polite, 5), "a");
    assert_int_equal(polite_wanting(polite), 1);
    assert_int_equal(polite_waiting(polite), 0);
    assert_string_equal(next(polite, 5000), "-");
    assert_true(polite_when(polite) == INT64_MAX);
    polite_want(polite, a, false);
    polite_done(polite, a, 5000, 4995);
    assert_string_equal(next(polite, 1000000), "-");
    assert_int_equal(polite_wanting(polite), 0);
    polite_close(polite);
    polite_close(NULL);
}

static void the_delay_is_a_second_or_five_times_the_response_time(void **state)
{
    (void)state;
    static const struct {
        int64_t delay, crawl_delay, took, gap;
    } cases[] = {
        {-1, 0, 0, 1000},       {-1, 0, 200, 1000},        {-1, 0, 201, 1005},   {-1, 0, 5999, 29995},
        {-1, 0, 6000, 30000},   {-1, 0, 1000000, 30000},   {-1, 1500, 10, 1500}, {-1, 1500, 1000, 5000},
        {-1, 60000, 10, 60000}, {-1, 0, INT64_MAX, 30000}, {0, 0, 9000, 0},      {0, 700, 9000, 700},
        {20, 0, 9000, 20},      {20, 10, 9000, 20},        {-1, 0, -5, 1000},    {-1, -7, 0, 1000},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        polite *polite = open_polite(cases[i].delay, 0);
        polite_queue *a = add_wanting(polite, 1, 1, "a");
        polite_crawl_delay(polite, a, cases[i].crawl_delay);
        assert_string_equal(next(polite, 100), "a");
        polite_done(polite, a, 400, cases[i].took);
        check(polite_when(polite) == 400 + cases[i].gap, "case %zu: %lld", i, (long long)polite_when(polite));
        if (cases[i].gap)
            assert_string_equal(next(polite, 400 + cases[i].gap - 1), "-");
        assert_string_equal(next(polite, 400 + cases[i].gap), "a");
        polite_close(polite);
    }
}

static void a_crawl_delay_that_comes_with_robots_txt_counts_at_once(void **state)
{
    (void)state;
    polite *polite = open_polite(-1, 1);
    polite_queue *a = add_wanting(polite, 1, 1, "a");
    assert_string_equal(next(polite, 0), "a");
    polite_done(polite, a, 100, 100);
    polite_crawl_delay(polite, a, 7000);
    assert_int_equal(polite_when(polite), 7100);
    assert_int_equal(polite_when_queue(polite, a), 7100);
    polite_close(polite);
}

static void names_and_addresses_share_their_turns(void **state)
{
    (void)state;
    polite *polite = open_polite(-1, 1);
    polite_queue *a = add_wanting(polite, 1, 1, "name 1, address 1");
    add_wanting(polite, 1, 2, "name 1, address 2");
    add_wanting(polite, 2, 1, "name 2, address 1");
    polite_queue *d = add_wanting(polite, 2, 2, "name 2, address 2");
    assert_string_equal(next(polite, 0), "name 1, address 1");
    assert_string_equal(next(polite, 0), "name 2, address 2");
    assert_string_equal(next(polite, 0), "-");
    polite_done(polite, a, 10, 10);
    polite_want(polite, a, false);
    assert_string_equal(next(polite, 9999), "-");
    assert_true(polite_when(polite) == INT64_MAX);
    polite_done(polite, d, 10000, 0);
    assert_int_equal(polite_when(polite), 11000);
    assert_string_equal(next(polite, 11000), "name 1, address 2");
    assert_string_equal(next(polite, 11000), "name 2, address 1");
    polite_close(polite);
}

static void a_back_off_holds_name_and_address_and_is_never_shortened(void **state)
{
    (void)state;
    polite *polite = open_polite(0, 1);
    polite_queue *a = add_wanting(polite, 1, 1, "a");
    add_wanting(polite, 1, 2, "same name");
    add_wanting(polite, 2, 1, "same address");
    polite_back_off(polite, a, 50000);
    polite_back_off(polite, a, 30000);
    assert_string_equal(next(polite, 49999), "-");
    assert_int_equal(polite_when(polite), 50000);
    assert_string_equal(next(polite, 50000), "same name");
    assert_string_equal(next(polite, 50000), "same address");
    assert_string_equal(next(polite, 50000), "-");
    polite_close(polite);
    polite = open_polite(0, 1);
    polite_back_off(polite, add_wanting(polite, 1, 1, "a"), INT64_MAX);
    assert_true(polite_when(polite) == INT64_MAX);
    assert_string_equal(next(polite, INT64_MAX - 1), "-");
    polite_close(polite);
}

static void several_at_a_time_begin_one_after_the_other(void **state)
{
    (void)state;
    polite *polite = open_polite(200, 2);
    polite_queue *a = add_wanting(polite, 1, 1, "a");
    assert_string_equal(next(polite, 0), "a");
    assert_string_equal(next(polite, 199), "-");
    assert_int_equal(polite_when(polite), 200);
    assert_string_equal(next(polite, 200), "a");
    assert_true(polite_when(polite) == INT64_MAX);
    polite_done(polite, a, 300, 300);
    assert_int_equal(polite_when(polite), 500);
    polite_close(polite);
    polite = open_polite(0, 3);
    add_wanting(polite, 1, 1, "a");
    for (int i = 0; i < 3; i++)
        assert_string_equal(next(polite, 0), "a");
    assert_string_equal(next(polite, 0), "-");
    polite_close(polite);
}

static void a_turn_that_is_returned_leaves_no_trace(void **state)
{
    (void)state;
    polite *polite = open_polite(1000, 2);
    polite_queue *a = add_wanting(polite, 1, 1, "a");
    assert_string_equal(next(polite, 0), "a");
    polite_return(polite, a);
    assert_int_equal(polite_waiting(polite), 1);
    assert_string_equal(next(polite, 0), "a");
    assert_string_equal(next(polite, 0), "-");
    assert_int_equal(polite_when(polite), 1000);
    polite_close(polite);
}

static void the_longest_waiting_goes_first(void **state)
{
    (void)state;
    enum { NAMES = 100 };
    static char items[NAMES][8];
    polite *polite = open_polite(-1, 1);
    polite_queue *queues[NAMES];
    for (size_t i = 0; i < NAMES; i++) {
        sprintf(items[i], "%zu", i);
        queues[i] = add_wanting(polite, i % 50, 7, items[i]);
    }
    int64_t now = 0;
    for (size_t i = 0; i < 5 * NAMES; i++) {
        assert_string_equal(next(polite, now), items[i % NAMES]);
        polite_done(polite, queues[i % NAMES], now, 0);
        now = polite_when(polite);
    }
    polite_close(polite);
}

/* At each turn a name that was never asked before joins those that wait for an address. Each gets its turn after those that
 * were there before it, and after one more at most: the newcomer of the second for which its own name has to rest. */
static void newcomers_do_not_overtake(void **state)
{
    (void)state;
    enum { TURNS = 200 };
    struct {
        polite_queue *queue;
        size_t joined, before;
    } line[TURNS];
    polite *polite = open_polite(-1, 1);
    int64_t now = 0;
    for (size_t turn = 0; turn < TURNS; turn++) {
        line[turn].queue = polite_add(polite, turn, 7, &line[turn]);
        polite_want(polite, line[turn].queue, true);
        line[turn].joined = turn;
        line[turn].before = turn;
        size_t served = (size_t)((char *)polite_next(polite, now) - (char *)line) / sizeof line[0];
        size_t waited = turn - line[served].joined;
        check(waited <= line[served].before + 1, "waited for %zu turns, not %zu", waited, line[served].before);
        line[served].joined = turn;
        line[served].before = turn + 1;
        polite_done(polite, line[served].queue, now, 0);
        now = polite_when(polite);
    }
    polite_close(polite);
}

/* ---- memory ---- */

static void what_has_to_be_waited_for_outlives_its_queues_and_not_longer(void **state)
{
    (void)state;
    polite *polite = open_polite(-1, 1);
    polite_queue *a = add_wanting(polite, 1, 1, "a");
    assert_string_equal(next(polite, 0), "a");
    polite_done(polite, a, 0, 0);
    polite_back_off(polite, a, 60000);
    polite_remove(polite, a);
    assert_int_equal(polite_known(polite), 2);
    assert_true(polite_when(polite) == INT64_MAX);
    a = add_wanting(polite, 1, 2, "a");
    assert_int_equal(polite_when(polite), 60000);
    polite_remove(polite, a);
    assert_string_equal(next(polite, 59999), "-");
    assert_int_equal(polite_known(polite), 2);
    assert_string_equal(next(polite, 60000), "-");
    assert_int_equal(polite_known(polite), 0);
    for (uint64_t i = 0; i < 10000; i++) {
        int64_t now = 60000 + (int64_t)i;
        a = add_wanting(polite, i, i, "a");
        assert_string_equal(next(polite, now), "a");
        polite_done(polite, a, now, 0);
        polite_remove(polite, a);
        assert_true(polite_known(polite) <= 2 * 1001);
    }
    polite_close(polite);
}

static void without_memory_nothing_is_added_and_nothing_changes(void **state)
{
    (void)state;
    polite *polite;
    countdown = 0;
    assert_int_equal(polite_open(&polite, &(polite_options){0}), VIDI_EMEMORY);
    assert_null(polite);
    polite = open_polite(-1, 1);
    polite_queue *a = add_wanting(polite, 1, 1, "a"), *b = NULL;
    polite_back_off(polite, a, 1000);
    polite_remove(polite, a);
    long failed = 0;
    for (uint64_t i = 0; i < 64; i++) {
        size_t known = polite_known(polite);
        for (long at = 0; !b; at++) {
            countdown = at;
            b = polite_add(polite, i, 1000 - i / 2, &polite);
            failed += !b;
            if (!b)
                assert_int_equal(polite_known(polite), known);
        }
        countdown = -1;
        polite_want(polite, b, true);
        b = NULL;
    }
    assert_true(failed > 64 * 2);
    polite_close(polite);
}

/* ---- random crawls ---- */

enum { MOST_RUNNING = 512 };

typedef struct crawl {
    polite *polite;
    polite_log log;
    test_random random;
    int64_t now;
    size_t names, addresses, slow; /* `slow`: one response of so many takes up to 20 s */
    struct {
        polite_queue *queue; /* NULL: removed */
        unsigned running;
        bool wants;
    } queues[LOG_QUEUES];
    size_t queue_count;
    struct {
        size_t queue;
        int64_t begin, end;
    } running[MOST_RUNNING];
    size_t running_count;
} crawl;

static void note(crawl *c, log_kind kind, size_t queue, int64_t value)
{
    log_append(&c->log, (log_event){.kind = kind, .time = c->now, .queue = queue, .value = value});
}

static void add(crawl *c)
{
    size_t name = test_below(&c->random, c->names);
    size_t address = test_below(&c->random, 10) ? name % c->addresses : test_below(&c->random, c->addresses);
    size_t queue = c->queue_count;
    if (queue == LOG_QUEUES)
        return;
    c->queues[queue].queue = polite_add(c->polite, name, 1000 + address, &c->queues[queue]);
    assert_non_null(c->queues[queue].queue);
    c->queue_count++;
    log_append(&c->log, (log_event){LOG_ADD, c->now, queue, name, address, 0});
}

static void want(crawl *c, size_t queue, bool wants)
{
    polite_want(c->polite, c->queues[queue].queue, wants);
    c->queues[queue].wants = wants;
    note(c, LOG_WANT, queue, wants);
}

/* Something happens to a queue. */
static void happen(crawl *c, size_t queue)
{
    polite_queue *it = c->queues[queue].queue;
    int64_t span;

    switch (it ? test_below(&c->random, 8) : 0) {
    case 1:
        if (c->queues[queue].running || test_below(&c->random, 3))
            break;
        polite_remove(c->polite, it);
        c->queues[queue].queue = NULL;
        c->queues[queue].wants = false;
        note(c, LOG_REMOVE, queue, 0);
        break;
    case 2:
        span = test_below(&c->random, 4) ? 0 : (int64_t)test_below(&c->random, 4000);
        polite_crawl_delay(c->polite, it, span);
        note(c, LOG_CRAWL_DELAY, queue, span);
        break;
    case 3:
        if (test_below(&c->random, 10))
            break;
        span = c->now + (int64_t)test_below(&c->random, 20000);
        polite_back_off(c->polite, it, span);
        note(c, LOG_BACK_OFF, queue, span);
        break;
    case 4:
        note(c, LOG_LOOK, queue, polite_when_queue(c->polite, it));
        break;
    case 0:
        add(c);
        break;
    default:
        want(c, queue, test_below(&c->random, 5) != 0);
    }
}

static void start(crawl *c, size_t queue)
{
    int64_t took = (int64_t)test_below(&c->random, test_below(&c->random, c->slow) ? 300 : 20000);

    note(c, LOG_START, queue, 0);
    if (c->running_count == MOST_RUNNING || !test_below(&c->random, 20)) {
        polite_return(c->polite, c->queues[queue].queue);
        note(c, LOG_RETURN, queue, 0);
        want(c, queue, false);
        return;
    }
    c->queues[queue].running++;
    c->running[c->running_count].queue = queue;
    c->running[c->running_count].begin = c->now;
    c->running[c->running_count++].end = c->now + took;
}

static void end_those_that_are_over(crawl *c)
{
    for (size_t i = 0; i < c->running_count;) {
        if (c->running[i].end > c->now) {
            i++;
            continue;
        }
        size_t queue = c->running[i].queue;
        int64_t took = c->now - c->running[i].begin;
        polite_done(c->polite, c->queues[queue].queue, c->now, took);
        note(c, LOG_END, queue, took);
        c->queues[queue].running--;
        c->running[i] = c->running[--c->running_count];
    }
}

/* To the next moment at which something can change, or not quite so far. */
static void let_time_pass(crawl *c)
{
    int64_t to = polite_when(c->polite);
    for (size_t i = 0; i < c->running_count; i++)
        if (c->running[i].end < to)
            to = c->running[i].end;
    if (to == INT64_MAX || (to > c->now && !test_below(&c->random, 4)))
        to = c->now + (int64_t)test_below(&c->random, 50);
    c->now = to;
}

static void check_counts(const crawl *c)
{
    size_t wanting = 0, waiting = 0;
    for (size_t i = 0; i < c->queue_count; i++) {
        wanting += c->queues[i].wants;
        waiting += c->queues[i].wants && c->queues[i].running == 0;
    }
    assert_int_equal(polite_wanting(c->polite), wanting);
    assert_int_equal(polite_waiting(c->polite), waiting);
}

/* The caller frees the log. */
static polite_log run(uint64_t seed, polite_options options, size_t names, size_t addresses, size_t steps)
{
    crawl *c = calloc(1, sizeof *c);
    c->polite = open_polite(options.delay, options.per_host);
    c->log.options = options;
    c->random.state = seed;
    c->names = names;
    c->addresses = addresses;
    c->slow = 10;
    c->now = (int64_t)test_below(&c->random, 1000000);
    for (size_t step = 0; step < steps; step++) {
        for (size_t i = test_below(&c->random, 3); i > 0; i--)
            happen(c, c->queue_count ? test_below(&c->random, c->queue_count) : 0);
        for (char *item; (item = polite_next(c->polite, c->now));)
            start(c, (size_t)(item - (char *)c->queues) / sizeof c->queues[0]);
        note(c, LOG_IDLE, 0, polite_when(c->polite));
        check_counts(c);
        let_time_pass(c);
        end_those_that_are_over(c);
    }
    polite_close(c->polite);
    polite_log log = c->log;
    free(c);
    return log;
}

static const struct {
    polite_options options;
    size_t names, addresses;
} crawls[] = {
    {{-1, 1}, 60, 20}, {{-1, 1}, 100, 3},  {{-1, 1}, 5, 100}, {{-1, 3}, 60, 20},    {{0, 1}, 60, 20}, {{0, 4}, 100, 7},
    {{100, 1}, 60, 1}, {{100, 2}, 60, 20}, {{700, 5}, 9, 9},  {{3000, 1}, 200, 50}, {{1, 1}, 20, 20}, {{1, 8}, 3, 3},
};
enum { CRAWLS = sizeof crawls / sizeof crawls[0], STEPS = 3000 };

static void random_crawls_obey_all_rules(void **state)
{
    (void)state;
    for (size_t i = 0; i < CRAWLS; i++)
        for (uint64_t seed = 0; seed < 3; seed++) {
            polite_log log = run(100 * i + seed, crawls[i].options, crawls[i].names, crawls[i].addresses, STEPS);
            char why[200];
            size_t starts = 0;
            for (size_t e = 0; e < log.count; e++)
                starts += log.events[e].kind == LOG_START;
            check(starts > STEPS / 20, "crawl %zu: only %zu turns", i, starts);
            check(log_check(&log, why), "crawl %zu, seed %d: %s", i, (int)seed, why);
            log_free(&log);
        }
}

/* ---- the checker ---- */

/*
 * Appends events that are written like this: "s0@10 e0@30=20": queue 0 starts at 10 and ends at 30 after 20. The letters
 * stand for Start, End, Back off, Crawl-delay, Want, Idle and Look.
 */
static void append_events(polite_log *log, const char *text)
{
    static const char letters[] = "sebcwil";
    static const log_kind kinds[] = {LOG_START, LOG_END, LOG_BACK_OFF, LOG_CRAWL_DELAY, LOG_WANT, LOG_IDLE, LOG_LOOK};
    for (int used; *text; text += used + (text[used] == ' ')) {
        log_event event = {0};
        char letter;
        long long time, value = 0;
        used = 0;
        assert_true(sscanf(text, "%c%zu@%lld%n=%lld%n", &letter, &event.queue, &time, &used, &value, &used) >= 3);
        event.kind = kinds[strchr(letters, letter) - letters];
        event.time = time;
        event.value = value < 0 ? INT64_MAX : value;
        log_append(log, event);
    }
}

static void the_checker_finds_planted_faults(void **state)
{
    (void)state;
    static const struct {
        int64_t delay;
        unsigned per_host;
        const char *events; /* the fault is in the last */
        const char *why;    /* "": there is no fault */
    } cases[] = {
        {-1, 1, "s0@0 s2@0 s3@0 i0@0=-1", ""},
        {-1, 1, "s0@0 s1@0", "in flight at name 0"},
        {-1, 1, "s0@0 e0@0 w1@0=0 s2@0 w1@0=1 s1@1000", "in flight at address 1"},
        {-1, 1, "s0@0 e0@10 s1@1009", "too early for name 0"},
        {-1, 1, "s0@0 e0@400=400 s1@2399", "too early for name 0"},
        {-1, 1, "s0@0 s2@0 e0@10 e2@20 s1@1019", "too early for address 1"},
        {0, 1, "b0@0=500 s0@499", "too early for name 0"},
        {0, 1, "b1@0=500 s2@499", "too early for address 1"},
        {0, 1, "c0@0=50 s0@0 e0@0 s0@49", "too early for name 0"},
        {0, 1, "s0@0 e0@0 c0@0=50 s0@49", "too early for name 0"},
        {100, 2, "s0@0 s0@99", "too early for name 0"},
        {-1, 1, "s0@0 s2@0 i0@0=-1", "could have gone"},
        {-1, 1, "s0@0 s2@0 s3@0 e0@10 i0@10=1011", "the next turn is at 1010"},
        {-1, 1, "s0@0 s2@0 s3@0 e0@10 i0@10=-1", "the next turn is at 1010"},
        {0, 1, "s0@3 e0@7 s0@7", "has waited longer"},
        {0, 1, "w3@0=0 s3@0", "does not want"},
        {-1, 1, "s0@0 e0@10 l1@10=1000", "may be asked at 1010"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        polite_log log = {.options = {cases[i].delay, cases[i].per_host}};
        /* Queues 0 and 1 share name 0, queues 1 and 2 address 1; 3 is alone. All want turns. */
        for (size_t queue = 0; queue < 4; queue++)
            log_append(&log, (log_event){LOG_ADD, 0, queue, queue / 2 + queue / 3, (queue + 1) / 2, 0});
        append_events(&log, "w0@0=1 w1@0=1 w2@0=1 w3@0=1");
        append_events(&log, cases[i].events);
        char why[200];
        check(log_check(&log, why) == !cases[i].why[0], "%s: %s", cases[i].events, why);
        check(strstr(why, cases[i].why), "%s: %s", cases[i].events, why);
        log_free(&log);
    }
}

/* In the logs of random crawls, too: a turn a millisecond earlier, one that is left out, one that another queue gets. */
static void the_checker_finds_small_changes_in_long_logs(void **state)
{
    (void)state;
    size_t found[3] = {0}, tried[3] = {0};
    polite_log log = run(1, crawls[0].options, crawls[0].names, crawls[0].addresses, 400);
    char why[200];
    assert_true(log_check(&log, why));
    for (size_t e = 1; e < log.count; e++) {
        log_event kept = log.events[e];
        if (kept.kind != LOG_START)
            continue;
        if (e + 1 < log.count && log.events[e + 1].kind == LOG_RETURN)
            continue;
        for (size_t fault = 0; fault < 3; fault++) {
            if (fault == 0)
                log.events[e].time = 0;
            else if (fault == 1)
                log.events[e] = (log_event){LOG_IDLE, kept.time, 0, 0, 0, INT64_MAX};
            else
                log.events[e].queue = (kept.queue + 1) % 30;
            tried[fault]++;
            found[fault] += !log_check(&log, why);
            log.events[e] = kept;
        }
    }
    log_free(&log);
    assert_true(tried[0] > 100);
    assert_int_equal(found[1], tried[1]);
    assert_int_equal(found[2], tried[2]);
    check(found[0] > tried[0] / 2, "%zu of %zu", found[0], tried[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_queue_gets_turns_only_while_it_wants_them),
        cmocka_unit_test(the_delay_is_a_second_or_five_times_the_response_time),
        cmocka_unit_test(a_crawl_delay_that_comes_with_robots_txt_counts_at_once),
        cmocka_unit_test(names_and_addresses_share_their_turns),
        cmocka_unit_test(a_back_off_holds_name_and_address_and_is_never_shortened),
        cmocka_unit_test(several_at_a_time_begin_one_after_the_other),
        cmocka_unit_test(a_turn_that_is_returned_leaves_no_trace),
        cmocka_unit_test(the_longest_waiting_goes_first),
        cmocka_unit_test(newcomers_do_not_overtake),
        cmocka_unit_test(what_has_to_be_waited_for_outlives_its_queues_and_not_longer),
        cmocka_unit_test(without_memory_nothing_is_added_and_nothing_changes),
        cmocka_unit_test(random_crawls_obey_all_rules),
        cmocka_unit_test(the_checker_finds_planted_faults),
        cmocka_unit_test(the_checker_finds_small_changes_in_long_logs),
    };
    return cmocka_run_group_tests_name("politeness", tests, NULL, NULL);
}
