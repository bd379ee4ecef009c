/*
 * How the kind blocked grows: the next layer is made ahead and touched in order, a reserved set takes no more than it
 * was given until that is full, what is refused ahead of time is no failure, and merged layers hold what both held.
 */
#include <stdio.h>
#include <sys/mman.h>

#include "filters/blocked/blocked_cases.h"
#include "support/access.h"
#include "support/alloc.h"
#include "support/env.h"
#include "support/streams.h"
#include "support/urls.h"

/* ---- an allocator that knows which pages of its large blocks have been touched ---- */

enum { BLOCKS = 64, PAGE = 4096, LARGE = 64 << 10 };

typedef struct watched {
    vidi_allocator hook;
    struct {
        char *at;
        size_t bytes;
    } blocks[BLOCKS]; /* of LARGE bytes and more, in the order in which they were asked for */
    size_t count;
} watched;

static void *watched_allocate(void *context, size_t bytes, size_t alignment)
{
    watched *self = context;
    if (bytes < LARGE)
        return aligned_alloc(alignment < 64 ? 64 : alignment, (bytes + 63) / 64 * 64);
    void *ptr = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (ptr == MAP_FAILED || self->count == BLOCKS)
        return NULL;
    self->blocks[self->count].at = ptr;
    self->blocks[self->count++].bytes = bytes;
    return ptr;
}

static void *watched_zeroed(void *context, size_t bytes, size_t alignment)
{
    void *ptr = watched_allocate(context, bytes, alignment);
    if (ptr && bytes < LARGE)
        memset(ptr, 0, bytes);
    return ptr;
}

static void watched_release(void *context, void *ptr, size_t bytes, size_t alignment)
{
    (void)context;
    (void)alignment;
    if (bytes >= LARGE)
        munmap(ptr, bytes);
    else
        free(ptr);
}

static void watched_init(watched *self)
{
    memset(self, 0, sizeof *self);
    self->hook = (vidi_allocator){sizeof(vidi_allocator), watched_allocate, watched_zeroed, watched_release, self};
}

/* Touched pages of a block; fails the test unless they are the first ones. */
static size_t touched_pages(const watched *self, size_t block)
{
    static unsigned char resident[1 << 16];
    size_t pages = (self->blocks[block].bytes + PAGE - 1) / PAGE, count = 0;
    assert_true(block < self->count && pages <= sizeof resident);
    assert_int_equal(mincore(self->blocks[block].at, self->blocks[block].bytes, resident), 0);
    while (count < pages && resident[count] & 1)
        count++;
    for (size_t i = count; i < pages; i++)
        check(!(resident[i] & 1), "page %zu of %zu is touched, %zu is not", i, pages, count);
    return count;
}

static size_t all_pages(const watched *self, size_t block)
{
    return (self->blocks[block].bytes + PAGE - 1) / PAGE;
}

static vidi_set *set_with(const char *params, uint64_t capacity, double error, const vidi_allocator *allocator,
                          uint64_t limit)
{
    vidi_access access = VIDI_ACCESS_INIT;
    vidi_options options = {.params = params, .capacity = capacity, .error = error, .access = &access};
    access.allocator = allocator;
    access.memory_limit = limit;
    return blocked_set(options, 21);
}

/* Adds URLs until there are so many, a hundred at a time or fewer; returns the first that has not come. */
static uint64_t add_until(vidi_set *set, uint64_t next, uint64_t count)
{
    static test_batch batch;
    uint8_t verdicts[100];
    if (!batch.room)
        test_batch_init(&batch, 100);
    for (uint64_t now = test_stat(set).count; now < count; now = test_stat(set).count) {
        size_t n = count - now < 100 ? (size_t)(count - now) : 100;
        test_batch_fill(&batch, test_url, 21, next, n);
        assert_int_equal(vidi_add_batch(set, batch.urls, n, verdicts, NULL), VIDI_OK);
        next += n;
    }
    return next;
}

static void a_reserved_layer_is_touched_when_it_is_made(void **state)
{
    watched memory;
    (void)state;
    watched_init(&memory);
    vidi_set *set = set_with(NULL, 1000000, 0.01, &memory.hook, 0);
    assert_int_equal(memory.count, 1);
    assert_int_equal(touched_pages(&memory, 0), all_pages(&memory, 0));
    assert_int_equal(test_step(set, 1000000000), 0);
    assert_int_equal(memory.count, 1);
    vidi_close(set);
}

/* From half on; a little with each batch, in order; all when the layer is full, and not before half has been added. */
static void the_next_layer_is_touched_while_the_last_one_fills(void **state)
{
    watched memory;
    size_t before = 0;
    (void)state;
    watched_init(&memory);
    vidi_set *set = set_with(NULL, 0, 0.01, &memory.hook, 0);
    uint64_t first = 8192, second = 65536, next = add_until(set, 0, first + second / 2);
    assert_int_equal(test_stat(set).stages, 2);
    size_t have = memory.count;
    next = add_until(set, next, first + second / 2 + 1);
    assert_int_equal(memory.count, have + 1);
    size_t pages = all_pages(&memory, have);
    assert_true(pages > 80);
    for (uint64_t count = first + second / 2; count < first + second; count += 100) {
        next = add_until(set, next, count);
        size_t now = touched_pages(&memory, have);
        double share = (double)(count - first - second / 2) / (double)(second / 2);
        check(now >= before && now <= before + pages / 100 + 1, "from %zu to %zu of %zu pages", before, now, pages);
        check((double)now >= share * (double)pages - 1, "%zu of %zu pages at %g", now, pages, share);
        before = now;
    }
    assert_int_equal(before, pages);
    assert_int_equal(test_stat(set).stages, 2);
    add_until(set, next, first + second + 1);
    assert_int_equal(test_stat(set).stages, 3);
    assert_int_equal(memory.count, have + 1);
    vidi_close(set);
}

static void step_touches_it_within_its_budget(void **state)
{
    watched memory;
    (void)state;
    watched_init(&memory);
    vidi_set *set = set_with(NULL, 0, 1e-4, &memory.hook, 0);
    uint64_t half = 8192 + 65536 + 262144 / 2, next = add_until(set, 0, half);
    size_t have = memory.count;
    assert_int_equal(test_step(set, 1000000000), 0); /* nothing is pending yet */
    assert_int_equal(memory.count, have);
    add_until(set, next, half + 1);
    assert_int_equal(memory.count, have + 1);
    assert_true(touched_pages(&memory, have) <= 2 && all_pages(&memory, have) > 700);
    assert_int_equal(test_step(set, 0), 1);
    assert_true(touched_pages(&memory, have) <= 2);
    assert_int_equal(test_step(set, 1), 1); /* one piece in any case */
    size_t some = touched_pages(&memory, have);
    assert_true(some > 2 && some < all_pages(&memory, have));
    assert_int_equal(test_step(set, 10000000000), 0);
    assert_int_equal(touched_pages(&memory, have), all_pages(&memory, have));
    assert_int_equal(test_step(set, 1000000), 0);
    vidi_close(set);
}

/* What was reserved is all that is taken until it is full; then the next layer comes, within 1/800 of the capacity. */
static void a_reserved_set_takes_no_more_until_it_is_full(void **state)
{
    enum { N = 400000 };
    watched memory;
    (void)state;
    watched_init(&memory);
    vidi_set *set = set_with(NULL, N, 0.01, &memory.hook, 0);
    uint64_t bytes = test_stat(set).memory_bytes, next = add_until(set, 0, N);
    assert_int_equal(test_stat(set).memory_bytes, bytes);
    assert_int_equal(test_step(set, 1000000000), 0);
    assert_int_equal(test_stat(set).memory_bytes, bytes);
    next = add_until(set, next, N + 1);
    assert_int_equal(memory.count, 2);
    assert_true(touched_pages(&memory, 1) <= 2 && all_pages(&memory, 1) > 60);
    next = add_until(set, next, N + N / 800);
    assert_int_equal(touched_pages(&memory, 1), all_pages(&memory, 1));
    assert_int_equal(test_stat(set).stages, 1);
    assert_true(test_stat(set).fp_now <= 0.01);
    add_until(set, next, N + N / 800 + 1);
    assert_int_equal(test_stat(set).stages, 2);
    assert_true(test_stat(set).bytes < 2 * bytes);
    vidi_close(set);
}

/* ---- refusals ---- */

/* There is memory for the first layer only: it is filled, and only then something has failed. */
static void what_is_refused_ahead_of_time_is_no_failure(void **state)
{
    enum { N = 8192 };
    char before[256];
    uint8_t verdicts[200];
    test_batch batch;
    (void)state;
    vidi_set *set = set_with(NULL, 0, 1e-6, NULL, 100000);
    assert_int_equal(vidi_create(NULL, NULL), VIDI_EARGUMENT);
    snprintf(before, sizeof before, "%s", vidi_message());
    uint64_t next = add_until(set, 0, N);
    assert_string_equal(vidi_message(), before);
    assert_int_equal(test_stat(set).stages, 1);
    test_batch_init(&batch, 200);
    test_batch_fill(&batch, test_url, 21, next - 100, 200);
    assert_int_equal(test_step(set, 1000000), VIDI_ELIMIT);
    assert_int_equal(vidi_add_batch(set, batch.urls, 200, verdicts, NULL), VIDI_ELIMIT);
    for (size_t i = 0; i < 200; i++)
        assert_int_equal(verdicts[i], i < 100 ? VIDI_SEEN : VIDI_UNTRIED); /* what it has can still be said */
    assert_int_equal(vidi_add_batch(set, batch.urls, 100, verdicts, NULL), VIDI_OK);
    assert_int_equal(vidi_add(set, batch.urls[150]), VIDI_ELIMIT);
    assert_int_equal(vidi_add(set, batch.urls[50]), VIDI_SEEN);
    assert_int_equal(vidi_has(set, batch.urls[150]), VIDI_NEW);
    vidi_stats stats = test_stat(set);
    assert_true(stats.count == N && stats.answered_new == N && stats.memory_bytes <= 100000);
    test_batch_free(&batch);
    vidi_close(set);
}

/* The allocator refuses for a while: as soon as it does not, adds go on, and nothing is missing or twice. */
static void adds_go_on_when_there_is_memory_again(void **state)
{
    test_allocator allocator;
    test_batch batch;
    uint8_t verdicts[500];
    uint64_t fresh = 0;
    (void)state;
    test_allocator_init(&allocator);
    vidi_set *set = set_with(NULL, 2000, 0.01, &allocator.hook, 0);
    test_batch_init(&batch, 500);
    for (uint64_t at = 0; at < 30000; at += 500) {
        test_batch_fill(&batch, test_url, 22, at, 500);
        vidi_str *left = batch.urls;
        size_t n = 500;
        for (uint64_t fail = 1; n; fail++) {
            test_allocator_fail(&allocator, fail, true);
            int code = vidi_add_batch(set, left, n, verdicts, NULL);
            test_allocator_fail(&allocator, 0, false);
            size_t untried = 0;
            for (size_t i = 0; i < n; i++) {
                fresh += verdicts[i] == VIDI_NEW;
                assert_true(verdicts[i] == VIDI_UNTRIED || vidi_has(set, left[i]) == VIDI_SEEN);
                if (verdicts[i] == VIDI_UNTRIED)
                    left[untried++] = left[i];
            }
            assert_int_equal(code, untried ? VIDI_EMEMORY : VIDI_OK);
            n = untried;
        }
    }
    assert_true(test_stat(set).stages >= 3);
    assert_int_equal(test_stat(set).count, fresh);
    assert_true(fresh >= 29000);
    test_batch_free(&batch);
    vidi_close(set);
    test_allocator_finish(&allocator);
}

/* ---- merging ---- */

static void merge_tables(table *into, const table *from)
{
    int code = into->filter->kind->merge(into->filter, from->filter);
    check(code == VIDI_OK, "%d: %s", code, vidi_message());
}

/* Behind the number of layers and the head of the first. */
enum { WORDS_AT = 8 + 32 };

/* In one layer the marks of both are those of a filter that has met all. */
static void merged_marks_are_those_of_all_urls(void **state)
{
    static const char *const params[] = {"lines=1", "lines=2", "lines=4"};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        table a, b, all;
        table_make(&a, params[i], 20000, 0.01, 23);
        table_alone(&a);
        table_make(&b, params[i], 20000, 0.01, 23);
        table_alone(&b);
        table_make(&all, params[i], 20000, 0.01, 23);
        table_alone(&all);
        add_urls(&a, 23, 0, 9000);
        add_urls(&b, 23, 6000, 10000);
        add_urls(&all, 23, 0, 16000);
        merge_tables(&a, &b);
        saved one = save_of(&a), two = save_of(&all);
        assert_int_equal(one.size, two.size);
        assert_memory_equal(one.bytes + WORDS_AT, two.bytes + WORDS_AT, one.size - WORDS_AT);
        assert_true(table_fp(&a) == table_fp(&all));
        uint64_t count = vidi__filter_count(a.filter);
        check(count >= 15800 && count <= 16200, "%llu URLs, not 16000", (unsigned long long)count);
        merge_tables(&a, &b); /* once more changes nothing */
        assert_int_equal(vidi__filter_count(a.filter), count);
        assert_true(table_fp(&a) == table_fp(&all));
        free(one.bytes);
        free(two.bytes);
        table_free(&a);
        table_free(&b);
        table_free(&all);
    }
}

/* Sets that have grown differently: the one with fewer layers gets copies of those that it lacks. */
static void layers_that_one_lacks_are_copied(void **state)
{
    static const uint64_t sizes[][2] = {{500, 40000}, {40000, 500}, {0, 20000}, {100000, 90000}, {70000, 0}};
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (uint64_t capacity = 0; capacity <= 3000; capacity += 3000) {
            table a, b;
            table_make(&a, "", capacity, 0.01, 24);
            table_alone(&a);
            table_make(&b, "", capacity, 0.01, 24);
            table_alone(&b);
            add_urls(&a, 24, 0, sizes[i][0]);
            uint64_t fresh_b = add_urls(&b, 24, 1000000, sizes[i][1]);
            unsigned most =
                table_stat(&a).stages > table_stat(&b).stages ? table_stat(&a).stages : table_stat(&b).stages;
            double before = table_fp(&b);
            uint64_t least = vidi__filter_count(a.filter) > fresh_b ? vidi__filter_count(a.filter) : fresh_b;
            uint64_t sum = vidi__filter_count(a.filter) + fresh_b;
            merge_tables(&a, &b);
            assert_int_equal(table_stat(&a).stages, most);
            assert_int_equal(seen_urls(&a, 24, 0, sizes[i][0]), sizes[i][0]);
            assert_int_equal(seen_urls(&a, 24, 1000000, sizes[i][1]), sizes[i][1]);
            uint64_t count = vidi__filter_count(a.filter);
            check(count >= least && count <= sum && (double)count >= 0.97 * (double)sum, "%llu and %llu: %llu",
                  (unsigned long long)sizes[i][0], (unsigned long long)sizes[i][1], (unsigned long long)count);
            assert_true(table_fp(&b) == before && vidi__filter_count(b.filter) == fresh_b);
            /* and it goes on as any other */
            double fp = table_fp(&a);
            uint64_t more = add_urls(&a, 24, 2000000, 30000);
            assert_true((double)more > 30000 * (1 - 1.1 * fp) - 300);
            assert_int_equal(seen_urls(&a, 24, 2000000, 30000), 30000);
            assert_int_equal(vidi__filter_count(a.filter), count + more);
            uint64_t seen = seen_urls(&a, 25, 0, 20000);
            assert_true(test_inside(test_binomial_interval(20000, table_fp(&a), TEST_ALPHA), seen));
            table_free(&a);
            table_free(&b);
        }
}

static void what_does_not_fit_is_not_merged(void **state)
{
    static const struct {
        const char *params;
        uint64_t capacity;
        double error;
    } others[] = {
        {"", 2000, 0.01}, {"", 0, 0.01}, {"", 1000, 0.02}, {"lines=2", 1000, 0.01}, {"hash=xxh3", 1000, 0.01}};
    table a;
    (void)state;
    table_make(&a, "", 1000, 0.01, 26);
    table_alone(&a);
    add_urls(&a, 26, 0, 500);
    saved before = save_of(&a);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        table b;
        table_make(&b, others[i].params, others[i].capacity, others[i].error, 26);
        table_alone(&b);
        add_urls(&b, 26, 0, 1500);
        int code = a.filter->kind->merge(a.filter, b.filter);
        check(code == VIDI_EDIFFERS && strlen(vidi_message()) > 20, "%zu: %d, %s", i, code, vidi_message());
        saved after = save_of(&a);
        assert_int_equal(before.size, after.size);
        assert_memory_equal(before.bytes, after.bytes, before.size);
        free(after.bytes);
        table_free(&b);
    }
    free(before.bytes);
    table_free(&a);
}

/* Refused at every allocation in turn, a merge loses nothing, and is complete when called again. */
static void merging_survives_any_refusal(void **state)
{
    char room[TEST_URL_ROOM];
    (void)state;
    for (uint64_t fail = 1, refused = 1; refused; fail++) {
        test_allocator allocator;
        test_allocator_init(&allocator);
        vidi_set *into = set_with(NULL, 1000, 0.01, &allocator.hook, 0), *from = set_with(NULL, 1000, 0.01, NULL, 0);
        add_until(into, 0, 900);
        add_until(from, 100000, 90000);
        test_allocator_fail(&allocator, fail, false);
        int code = vidi_merge(into, from, 0);
        refused = test_allocator_refused(&allocator);
        test_allocator_fail(&allocator, 0, false);
        assert_int_equal(code, refused ? VIDI_EMEMORY : VIDI_OK);
        for (uint64_t i = 0; i < 900; i += 7)
            assert_int_equal(vidi_has(into, (vidi_str){room, test_url(room, sizeof room, 21, i)}), VIDI_SEEN);
        assert_int_equal(vidi_merge(into, from, 0), VIDI_OK);
        for (uint64_t i = 100000; i < 190000; i += 100)
            assert_int_equal(vidi_has(into, (vidi_str){room, test_url(room, sizeof room, 21, i)}), VIDI_SEEN);
        assert_int_equal(test_stat(into).stages, test_stat(from).stages);
        vidi_close(into);
        vidi_close(from);
        test_allocator_finish(&allocator);
        assert_true(fail < 20);
    }
}

/* ---- streams ---- */

/* A set that was read goes on as the one that was written, also from the middle of preparing a layer. */
static void a_set_goes_on_growing_after_it_was_read(void **state)
{
    (void)state;
    vidi_set *set = set_with(NULL, 3000, 0.05, NULL, 0);
    for (uint64_t count = 2000, next = 0; count < 300000; count = count * 3 / 2) {
        test_stream stream;
        vidi_set *copy = NULL;
        next = add_until(set, next, count);
        test_stream_write(&stream, set);
        assert_int_equal(test_stream_read(&stream, &copy, stream.size, NULL), VIDI_OK);
        vidi_stats a = test_stat(set), b = test_stat(copy);
        assert_true(a.fp_now == b.fp_now && a.count == b.count && a.stages == b.stages && a.fill == b.fill);
        assert_int_equal(a.lines_touched, b.lines_touched);
        next = add_until(set, next, count + 300);
        add_until(copy, next - 300 - (test_stat(set).answered_seen - a.answered_seen), count + 300);
        a = test_stat(set);
        b = test_stat(copy);
        assert_true(a.fp_now == b.fp_now && a.count == b.count && a.stages == b.stages && a.bytes == b.bytes);
        vidi_close(set);
        set = copy;
        test_stream_free(&stream);
    }
    assert_true(test_stat(set).stages >= 4);
    vidi_close(set);
}

/* ---- plans ---- */

/* The set that a plan names has the size that it promises, to the byte, and loses no more than it says. */
static void a_plan_is_kept_to_the_byte(void **state)
{
    static const double errors[] = {0, 0.3, 1e-2, 1e-3, 1e-4, 1e-7}, losses[] = {0, 0.01, 5, 1000};
    static const uint64_t urls[] = {0, 7, 1000, 54321, 400000}, memories[] = {0, 5000, 80000, 2000000};
    static const char *const params[] = {NULL, "lines=1", "lines=3"};
    unsigned served = 0;
    (void)state;
    for (unsigned i = 0; i < 6 * 4 * 5 * 4 * 3; i += test_long() ? 1 : 7) {
        vidi_plan_request want = VIDI_PLAN_REQUEST_INIT;
        vidi_plan_entry plan;
        size_t n = 1;
        want.kind = "blocked";
        want.error = errors[i % 6];
        want.lost = losses[i / 6 % 4];
        want.urls = urls[i / 24 % 5];
        want.memory = memories[i / 120 % 4];
        want.params = params[i / 480];
        if (vidi_plan(&want, &plan, &n) != VIDI_OK || plan.bytes > 8 << 20)
            continue;
        served++;
        check((!want.urls || plan.urls == want.urls) && (!want.memory || plan.bytes <= want.memory) &&
                  (want.error <= 0 || plan.error <= want.error) && (want.lost <= 0 || plan.expected_lost <= want.lost),
              "request %u: %s: %llu URLs, %llu bytes, %g, %g", i, plan.params, (unsigned long long)plan.urls,
              (unsigned long long)plan.bytes, plan.error, plan.expected_lost);
        vidi_set *set = set_with(plan.params, 0, 0, NULL, 0);
        vidi_stats stats = test_stat(set);
        check(stats.bytes == plan.bytes && stats.capacity == plan.urls, "request %u: %s: %llu bytes, promised %llu", i,
              plan.params, (unsigned long long)stats.bytes, (unsigned long long)plan.bytes);
        assert_int_equal(stats.can, plan.can);
        vidi_close(set);
        /* memory that was offered is used, where nothing else was asked for */
        bool all = want.memory && (!want.urls || (want.error <= 0 && want.lost <= 0));
        check(!all || plan.bytes + 64 * 4 > want.memory || plan.urls >= 1, "request %u: %llu of %llu bytes", i,
              (unsigned long long)plan.bytes, (unsigned long long)want.memory);
    }
    check(served > 60, "only %u requests were served", served);
}

static void positions_are_not_planned_for(void **state)
{
    vidi_plan_request want = VIDI_PLAN_REQUEST_INIT;
    vidi_plan_entry plan;
    size_t n = 1;
    (void)state;
    want.kind = "blocked";
    want.urls = 1000;
    want.error = 0.01;
    want.k = 8;
    assert_int_equal(vidi_plan(&want, &plan, &n), VIDI_EOPTION);
    assert_non_null(strstr(vidi_message(), "lines"));
    want.k = 0;
    want.multiplier = 2;
    assert_int_equal(vidi_plan(&want, &plan, &n), VIDI_EOPTION);
}

int main(int argc, char **argv)
{
    test_add("a reserved layer is touched when it is made", a_reserved_layer_is_touched_when_it_is_made, NULL);
    test_add("the next layer is touched while the last one fills", the_next_layer_is_touched_while_the_last_one_fills,
             NULL);
    test_add("step touches it within its budget", step_touches_it_within_its_budget, NULL);
    test_add("a reserved set takes no more until it is full", a_reserved_set_takes_no_more_until_it_is_full, NULL);
    test_add("what is refused ahead of time is no failure", what_is_refused_ahead_of_time_is_no_failure, NULL);
    test_add("adds go on when there is memory again", adds_go_on_when_there_is_memory_again, NULL);
    test_add("merged marks are those of all URLs", merged_marks_are_those_of_all_urls, NULL);
    test_add("layers that one lacks are copied", layers_that_one_lacks_are_copied, NULL);
    test_add("what does not fit is not merged", what_does_not_fit_is_not_merged, NULL);
    test_add("merging survives any refusal", merging_survives_any_refusal, NULL);
    test_add("a set goes on growing after it was read", a_set_goes_on_growing_after_it_was_read, NULL);
    test_add("a plan is kept to the byte", a_plan_is_kept_to_the_byte, NULL);
    test_add("positions are not planned for", positions_are_not_planned_for, NULL);
    return test_run("blocked growth", argc, argv);
}
