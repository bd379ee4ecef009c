/* The exact kinds against a model: verdicts, counts, growth, memory, plans and parameters. */
#include "filters/exact/exact_cases.h"

#include "support/env.h"

/* ---- against the model ---- */

static void merge_another(fixture *f, const variant *v, vidi__filter *filter, model *m, test_random *random)
{
    vidi__filter *other = create(f, v);
    model theirs = {.multiset = v->multiset};
    uint64_t urls = test_below(random, 60), first = test_below(random, universe_of(v->kind) - 200);
    for (uint64_t n = 0; n < urls; n++)
        model_add(f, other, &theirs, first + test_below(random, 200));
    assert_int_equal(filter->kind->merge(filter, other), VIDI_OK);
    check_some(f, other, &theirs, first, 7);
    for (uint64_t i = 0; i < UNIVERSE; i++)
        m->times[i] = v->multiset ? m->times[i] + theirs.times[i] : m->times[i] || theirs.times[i];
    vidi__filter_destroy(other);
}

/* Many adds, then many removes, in turn: so that tables grow, tails fold, and most of the pool dies. */
static void random_operations(fixture *f, const variant *v, uint64_t operations, uint64_t universe, uint64_t seed)
{
    test_random random = {seed};
    vidi__filter *filter = create(f, v);
    static model m;
    m = (model){.multiset = v->multiset};
    for (uint64_t n = 0; n < operations; n++) {
        bool growing = n / (operations / 6) % 2 == 0;
        uint64_t i = test_below(&random, universe), what = test_below(&random, 100);
        if (what < (growing ? 70 : 20))
            model_add(f, filter, &m, i);
        else if (what < 95)
            model_remove(f, filter, &m, i);
        else if (filter->kind->step && what < 97)
            assert_true(filter->kind->step(filter, 0) >= 0);
        else
            check_some(f, filter, &m, i, universe);
        if (n % (operations / 7) == 5)
            save_and_load(f, v, &filter, n % 2);
        if (n % (operations / 11) == 3)
            merge_another(f, v, filter, &m, &random);
        if (n % (operations / 24) == 0)
            check_all(f, filter, &m);
    }
    check_all(f, filter, &m);
    for (uint64_t i = 0; i < UNIVERSE; i++)
        while (m.times[i])
            model_remove(f, filter, &m, i);
    check_all(f, filter, &m);
    vidi__filter_destroy(filter);
}

static void any_sequence_of_operations_does_what_the_model_does(void **state)
{
    const variant *v = *state;
    fixture f;
    begin(&f);
    bool slow = v->kind == &vidi__kind_list;
    random_operations(&f, v, slow ? 3000 : 20000, 60, 1);
    random_operations(&f, v, slow ? 3000 : 20000, slow ? 300 : 1000, 2);
    if (!slow)
        random_operations(&f, v, 40000, UNIVERSE, 3);
    end(&f);
}

static void growing_loses_nothing_at_any_moment(void **state)
{
    const variant *v = *state;
    fixture f;
    begin(&f);
    uint64_t n = v->kind == &vidi__kind_list ? 250 : 1600;
    vidi__filter *filter = create(&f, v);
    for (uint64_t i = 0; i < n; i++) {
        assert_int_equal(add(&f, filter, i), VIDI_NEW);
        uint64_t stride = i < 400 ? 1 : 7;
        for (uint64_t j = i % stride; j <= i; j += stride) {
            vidi__item what = item(&f, j);
            check(filter->kind->has(filter, &what) == VIDI_SEEN, "%s: %d after %d", v->kind->name, (int)j, (int)i);
        }
        vidi__item absent = item(&f, i + 1);
        assert_int_equal(filter->kind->has(filter, &absent), VIDI_NEW);
    }
    assert_int_equal(vidi__filter_count(filter), n);
    vidi__filter_destroy(filter);
    end(&f);
}

static void merging_takes_all_of_either_size_and_leaves_the_other_as_it_is(void **state)
{
    const variant *v = *state;
    static const uint64_t sizes[] = {0, 1, 50, 1000};
    static model mine, theirs;
    fixture f;
    begin(&f);
    for (size_t a = 0; a < VIDI__COUNT(sizes); a++)
        for (size_t b = 0; b < VIDI__COUNT(sizes); b++) {
            uint64_t most = universe_of(v->kind) / 3;
            uint64_t ours = sizes[a] < most ? sizes[a] : most, others = sizes[b] < most ? sizes[b] : most;
            vidi__filter *into = create(&f, v), *from = create(&f, v);
            mine = theirs = (model){.multiset = v->multiset};
            for (uint64_t i = 0; i < ours; i++)
                model_add(&f, into, &mine, i);
            for (uint64_t i = 0; i < 2 * others; i++)
                model_add(&f, from, &theirs, ours / 2 + i / 2);
            assert_int_equal(into->kind->merge(into, from), VIDI_OK);
            for (uint64_t i = 0; i < UNIVERSE; i++)
                mine.times[i] = v->multiset ? mine.times[i] + theirs.times[i] : mine.times[i] || theirs.times[i];
            check_some(&f, into, &mine, 0, 3);
            check_some(&f, from, &theirs, 0, 3);
            assert_int_equal(into->kind->merge(into, into), VIDI_OK);
            check_some(&f, into, &mine, 1, 3);
            vidi__filter_destroy(into);
            vidi__filter_destroy(from);
        }
    end(&f);
}

static void sets_that_count_and_sets_that_do_not_are_not_merged(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    for (size_t i = 0; i < VIDI__COUNT(variants); i += 2) {
        vidi__filter *plain = create(&f, &variants[i]), *counting = create(&f, &variants[i + 1]);
        assert_int_equal(plain->kind->merge(plain, counting), VIDI_EDIFFERS);
        assert_int_equal(plain->kind->merge(counting, plain), VIDI_EDIFFERS);
        vidi__filter_destroy(plain);
        vidi__filter_destroy(counting);
    }
    end(&f);
}

typedef struct visited {
    const fixture *f;
    const vidi__filter *filter;
    model seen;
    uint64_t calls, stop_after;
} visited;

static int visit(void *context, const vidi_entry *entry)
{
    visited *v = context;
    if (++v->calls == v->stop_after)
        return 77;
    vidi__item what = {.url = {.str = entry->url}};
    what.url.hash = vidi__hash(v->f->hash, &v->f->key, entry->url);
    bool hashed = v->filter->kind == &vidi__kind_hashset;
    assert_int_equal(entry->hash[0], hashed ? what.url.hash.lo : 0);
    assert_int_equal(entry->hash[1], hashed ? what.url.hash.hi : 0);
    for (uint64_t i = 0; i < 500; i++) {
        vidi_str str = string(i);
        if (str.len == entry->url.len && (!str.len || memcmp(str.ptr, entry->url.ptr, str.len) == 0))
            v->seen.times[i] += entry->times;
    }
    return 0;
}

static void iterating_gives_each_url_once_with_its_times(void **state)
{
    const variant *v = *state;
    fixture f;
    begin(&f);
    vidi__filter *filter = create(&f, v);
    model m = {.multiset = v->multiset};
    for (uint64_t i = 0; i < 500; i++)
        for (uint64_t n = 0; n <= i % 3; n++)
            model_add(&f, filter, &m, i);
    for (uint64_t i = 0; i < 500; i += 3)
        model_remove(&f, filter, &m, i);
    static visited all, part;
    all = (visited){.f = &f, .filter = filter};
    part = (visited){.f = &f, .filter = filter, .stop_after = 10};
    assert_int_equal(filter->kind->iterate(filter, visit, &all), 0);
    assert_int_equal(all.calls, vidi__filter_count(filter));
    assert_memory_equal(all.seen.times, m.times, sizeof m.times);
    assert_int_equal(filter->kind->iterate(filter, visit, &part), 77);
    assert_int_equal(part.calls, 10);
    vidi__filter_destroy(filter);
    end(&f);
}

/* ---- the hash table's growth ---- */

static uint64_t bytes_of(const vidi__filter *filter)
{
    vidi__filter_stats stats = {0};
    filter->kind->stat(filter, &stats);
    assert_int_equal(stats.stages, 1);
    return stats.bytes;
}

/* Adds strings until a second table stands beside the first, which is then almost as full as it was: how many. */
static uint64_t fill_until_growth(fixture *f, vidi__filter *filter, model *m, uint64_t at_least)
{
    uint64_t i = 0;
    while (i < at_least || filter->kind->step(filter, 0) == 0) {
        assert_true(i < UNIVERSE);
        model_add(f, filter, m, i++);
    }
    return i;
}

static void removing_and_asking_is_right_while_two_tables_stand_side_by_side(void **state)
{
    (void)state;
    static model m;
    fixture f;
    begin(&f);
    for (uint64_t seed = 0; seed < 12; seed++) {
        vidi__filter *filter = create(&f, &variants[4 + seed % 2]);
        m = (model){.multiset = seed % 2};
        uint64_t urls = fill_until_growth(&f, filter, &m, 2000);
        test_random random = {seed};
        for (uint64_t n = 0; n < urls; n++) {
            uint64_t i = test_below(&random, urls);
            model_remove(&f, filter, &m, i);
            if (n % 3 == seed % 3 && test_below(&random, 2))
                model_add(&f, filter, &m, test_below(&random, UNIVERSE));
            if (n % 500 == 0) {
                check_all(&f, filter, &m);
                assert_true(filter->kind->step(filter, 0) >= 0);
            }
        }
        check_all(&f, filter, &m);
        assert_int_equal(filter->kind->step(filter, UINT64_MAX), 0);
        check_all(&f, filter, &m);
        vidi__filter_destroy(filter);
    }
    end(&f);
}

static void no_add_moves_the_whole_table_and_step_finishes_it(void **state)
{
    (void)state;
    static model m;
    fixture f;
    begin(&f);
    vidi__filter *filter = create(&f, &variants[4]);
    m = (model){0};
    uint64_t urls = fill_until_growth(&f, filter, &m, 1000), adds = 0, before, after = bytes_of(filter);
    do {
        before = after;
        model_add(&f, filter, &m, urls + adds++);
        after = bytes_of(filter);
    } while (after >= before);
    check(adds > urls / 16, "the old table was gone after %d adds of %d", (int)adds, (int)urls);
    check(adds < urls / 2, "the old table still stood after %d adds of %d", (int)adds, (int)urls);
    assert_int_equal(filter->kind->step(filter, UINT64_MAX), 0);
    uint64_t settled = bytes_of(filter);
    fill_until_growth(&f, filter, &m, urls + adds + 1);
    assert_true(bytes_of(filter) > settled * 3 / 2);
    assert_int_equal(filter->kind->step(filter, 0), 1);
    uint64_t both = bytes_of(filter);
    assert_int_equal(filter->kind->step(filter, (uint64_t)60 * 1000000000), 0);
    assert_true(bytes_of(filter) < both);
    check_all(&f, filter, &m);
    vidi__filter_destroy(filter);
    end(&f);
}

/* Each growth step at a size at which tables have several parts; also with the memory for them refused. */
static void large_tables_grow_move_and_go_in_parts(void **state)
{
    (void)state;
    enum { N = 60000, PART = 1 << 20 };
    fixture f;
    begin(&f);
    vidi__filter *filter;
    assert_int_equal(create_with(&f, &filter, &vidi__kind_hashset, NULL, N, NULL), VIDI_OK);
    uint64_t n = 0, reserved = bytes_of(filter), parts = 0;
    while (filter->kind->step(filter, 0) == 0)
        assert_int_equal(add(&f, filter, n++), VIDI_NEW);
    assert_true(n > N && n < N + 10 && reserved > PART);
    for (uint64_t i = 0; i < n; i += 3)
        assert_int_equal(drop(&f, filter, i), VIDI_OK);
    for (uint64_t i = 0; i < n; i++) {
        vidi__item what = item(&f, i);
        assert_int_equal(filter->kind->has(filter, &what), i % 3 ? VIDI_SEEN : VIDI_NEW);
    }
    for (uint64_t before = bytes_of(filter), after; filter->kind->step(filter, 0); before = after) {
        after = bytes_of(filter);
        parts += after < before;
        check(before - after <= PART, "%d bytes at once", (int)(before - after));
    }
    assert_true(parts > 0);
    for (uint64_t i = 0; i < n; i++)
        assert_int_equal(add(&f, filter, i), i % 3 ? VIDI_SEEN : VIDI_NEW);
    assert_int_equal(vidi__filter_count(filter), n);
    vidi__filter_destroy(filter);
    for (uint64_t refused = 1; refused < 5; refused++) {
        test_allocator_fail(&f.allocator, refused, false);
        assert_int_equal(create_with(&f, &filter, &vidi__kind_hashset, NULL, N, NULL), VIDI_EMEMORY);
        assert_int_equal(vidi__memory_used(&f.memory), 0);
    }
    end(&f);
}

static void urls_with_the_same_hash_stay_apart(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    vidi__filter *filter = create(&f, &variants[5]);
    for (int round = 0; round < 3; round++) {
        for (uint64_t i = 0; i < 300; i++) {
            vidi__item what = item(&f, i);
            what.url.hash = (vidi__u128){i % 2 ? UINT64_MAX : UINT64_MAX - 1, 5};
            assert_int_equal(filter->kind->has(filter, &what), VIDI_NEW);
            assert_int_equal(filter->kind->add(filter, &what), VIDI_NEW);
            assert_int_equal(filter->kind->add(filter, &what), VIDI_SEEN);
        }
        for (uint64_t i = 0; i < 600; i++) {
            vidi__item what = item(&f, i * 7 % 300);
            what.url.hash = (vidi__u128){i * 7 % 300 % 2 ? UINT64_MAX : UINT64_MAX - 1, 5};
            assert_int_equal(filter->kind->remove(filter, &what), VIDI_OK);
        }
        assert_int_equal(vidi__filter_count(filter), 0);
    }
    vidi__filter_destroy(filter);
    end(&f);
}

/* ---- memory ---- */

static void an_empty_default_set_is_small(void **state)
{
    const variant *v = *state;
    fixture f;
    begin(&f);
    vidi__filter *filter = create(&f, v);
    assert_true(vidi__memory_used(&f.memory) < 8 << 10);
    assert_int_equal(filter->capacity, 0);
    vidi__filter_destroy(filter);
    end(&f);
}

static void a_capacity_beyond_memory_is_refused_before_anything_is_allocated_for_it(void **state)
{
    const variant *v = *state;
    static const uint64_t capacities[] = {UINT64_MAX,      UINT64_MAX / 2,  UINT64_MAX / 16,
                                          UINT64_MAX / 22, UINT64_MAX / 40, (uint64_t)1 << 50};
    fixture f;
    begin(&f);
    for (size_t i = 0; i < VIDI__COUNT(capacities); i++) {
        vidi__filter *filter;
        assert_int_equal(create_with(&f, &filter, v->kind, v->params, capacities[i], NULL), VIDI_ELIMIT);
        assert_null(filter);
        assert_true(f.allocator.largest < 4096);
    }
    end(&f);
}

static void a_memory_limit_is_kept_and_the_set_goes_on_answering(void **state)
{
    const variant *v = *state;
    static model m;
    fixture f;
    begin(&f);
    f.memory.limit = 100000;
    vidi__filter *filter = create(&f, v);
    m = (model){.multiset = v->multiset};
    uint64_t i = 0;
    for (int code; (code = add(&f, filter, i)) != VIDI_ELIMIT; i++) {
        assert_int_equal(code, VIDI_NEW);
        m.times[i] = 1;
    }
    assert_true(i > 100);
    assert_true(vidi__memory_used(&f.memory) <= f.memory.limit);
    check_all(&f, filter, &m);
    while (i--)
        model_remove(&f, filter, &m, i);
    model_add(&f, filter, &m, 300);
    check_all(&f, filter, &m);
    vidi__filter_destroy(filter);
    end(&f);
}

static void removing_gives_memory_back(void **state)
{
    const variant *v = *state;
    static model m;
    fixture f;
    begin(&f);
    vidi__filter *filter = create(&f, v);
    m = (model){.multiset = v->multiset};
    for (uint64_t i = 0; i < 2000; i++)
        model_add(&f, filter, &m, i);
    uint64_t full = bytes_of(filter);
    for (uint64_t i = 0; i < 1900; i++)
        model_remove(&f, filter, &m, (i * 7 + 3) % 2000);
    check_all(&f, filter, &m);
    uint64_t left = bytes_of(filter);
    check(left < full / 2, "%s: %d bytes of %d", v->kind->name, (int)left, (int)full);
    vidi__filter_destroy(filter);
    end(&f);
}

static void a_url_that_comes_and_goes_does_not_make_the_set_grow(void **state)
{
    const variant *v = *state;
    fixture f;
    begin(&f);
    vidi__filter *filter = create(&f, v);
    for (uint64_t i = 0; i < 20; i++)
        assert_int_equal(add(&f, filter, i), VIDI_NEW);
    for (uint64_t n = 0; n < 3000; n++) {
        assert_int_equal(add(&f, filter, 50 + n % 4), VIDI_NEW);
        assert_int_equal(drop(&f, filter, 50 + n % 4), VIDI_OK);
    }
    assert_int_equal(vidi__filter_count(filter), 20);
    assert_true(bytes_of(filter) < 20000);
    vidi__filter_destroy(filter);
    end(&f);
}

static void a_plan_says_what_a_set_takes(void **state)
{
    const variant *v = *state;
    fixture f;
    begin(&f);
    vidi__params params;
    vidi__planned planned;
    vidi__filter *filter;
    enum { N = 4000 };
    double total = 0;
    for (uint64_t i = 40; i < 40 + N; i++)
        total += (double)string(i).len;
    assert_int_equal(vidi__params_parse(&params, v->params), VIDI_OK);
    vidi__want want = {.urls = N, .url_bytes = total / N, .params = &params};
    assert_int_equal(v->kind->plan(&want, &planned), VIDI_OK);
    assert_int_equal(planned.urls, N);
    assert_true(planned.error == 0 && planned.lost == 0 && planned.k == 0);
    assert_string_equal(planned.params, "capacity=4000");
    assert_int_equal(create_with(&f, &filter, v->kind, v->params, N, NULL), VIDI_OK);
    assert_int_equal(filter->capacity, 0);
    for (uint64_t i = 40; i < 40 + N; i++)
        assert_int_equal(add(&f, filter, i), VIDI_NEW);
    uint64_t bytes = bytes_of(filter);
    uint64_t page = 4096; /* more or less, for what does not depend on the number of URLs */
    check(bytes <= planned.bytes + page && bytes > planned.bytes * 8 / 10, "%s takes %d, planned were %d",
          v->kind->name, (int)bytes, (int)planned.bytes);
    want = (vidi__want){.memory = planned.bytes, .error = 1e-9, .url_bytes = total / N, .params = &params};
    assert_int_equal(v->kind->plan(&want, &planned), VIDI_OK);
    assert_true(planned.urls >= N - 1 && planned.urls <= N);
    assert_true(planned.bytes <= want.memory);
    vidi__filter_destroy(filter);
    end(&f);
}

static void a_plan_that_cannot_be_met_is_refused(void **state)
{
    const variant *v = *state;
    vidi__params params;
    vidi__planned planned;
    static const vidi__want wants[] = {
        {.error = 0.1},
        {.lost = 1},
        {.urls = 1000, .k = 3},
        {.urls = 1000, .multiplier = 2},
        {.urls = 1000, .memory = 50000},
        {.memory = 50},
        {.urls = UINT64_MAX},
        {.urls = 10, .url_bytes = -1},
        {.urls = 10, .url_bytes = __builtin_inf()},
        {.urls = 10, .url_bytes = __builtin_nan("")},
    };
    for (size_t i = 0; i < VIDI__COUNT(wants); i++) {
        assert_int_equal(vidi__params_parse(&params, v->params), VIDI_OK);
        vidi__want want = wants[i];
        want.params = &params;
        check(v->kind->plan(&want, &planned) == VIDI_EOPTION, "%s: request %d", v->kind->name, (int)i);
    }
    assert_int_equal(vidi__params_parse(&params, "multiset=perhaps"), VIDI_OK);
    vidi__want want = {.urls = 10, .params = &params};
    assert_int_equal(vidi__kind_list.plan(&want, &planned), VIDI_EOPTION);
}

static void eighty_bytes_are_planned_for_a_url_of_unknown_length(void **state)
{
    (void)state;
    vidi__params params = {.count = 0};
    vidi__planned given, assumed;
    vidi__want want = {.urls = 1000000, .params = &params};
    assert_int_equal(vidi__kind_hashset.plan(&want, &assumed), VIDI_OK);
    want.url_bytes = 80;
    assert_int_equal(vidi__kind_hashset.plan(&want, &given), VIDI_OK);
    assert_int_equal(given.bytes, assumed.bytes);
}

/* ---- refused allocations ---- */

/* Runs `call`; if an allocation was refused in it, the filter must be what it was, and it is run again. */
#define UNDISTURBED(call, wanted)                                                                                      \
    do {                                                                                                               \
        int code_ = (call);                                                                                            \
        if (code_ == VIDI_EMEMORY) {                                                                                   \
            assert_true(test_allocator_refused(&f->allocator) == 1);                                                   \
            check_some(f, filter, m, 0, 1);                                                                            \
            code_ = (call);                                                                                            \
        }                                                                                                              \
        assert_int_equal(code_, wanted);                                                                               \
    } while (0)

static void life_of_a_filter(fixture *f, const variant *v, model *m, vidi__filter *other, const model *theirs)
{
    vidi__filter *filter;
    int code = create_with(f, &filter, v->kind, v->params, 0, NULL);
    if (code == VIDI_EMEMORY) {
        assert_null(filter);
        code = create_with(f, &filter, v->kind, v->params, 0, NULL);
    }
    assert_int_equal(code, VIDI_OK);
    for (uint64_t i = 0; i < 200; i++) {
        UNDISTURBED(add(f, filter, i), VIDI_NEW);
        m->times[i] = 1;
    }
    UNDISTURBED(filter->kind->merge(filter, other), VIDI_OK);
    for (uint64_t i = 0; i < UNIVERSE; i++)
        m->times[i] = v->multiset ? m->times[i] + theirs->times[i] : m->times[i] || theirs->times[i];
    for (uint64_t i = 0; i < 180; i++)
        model_remove(f, filter, m, i);
    check_all(f, filter, m);
    vidi__filter_destroy(filter);
}

static void every_refused_allocation_leaves_the_filter_as_it_was(void **state)
{
    const variant *v = *state;
    fixture f;
    begin(&f);
    static model theirs, m;
    theirs = (model){.multiset = v->multiset};
    vidi__filter *other = create(&f, v);
    for (uint64_t i = 0; i < 400; i++)
        model_add(&f, other, &theirs, 150 + i / 2);
    uint64_t before = vidi__memory_used(&f.memory), n = 0;
    do {
        m = (model){.multiset = v->multiset};
        test_allocator_fail(&f.allocator, ++n, false);
        life_of_a_filter(&f, v, &m, other, &theirs);
        assert_int_equal(vidi__memory_used(&f.memory), before);
    } while (test_allocator_refused(&f.allocator));
    test_allocator_fail(&f.allocator, 0, false);
    check(n > 8, "%s made only %d allocations", v->kind->name, (int)n);
    vidi__filter_destroy(other);
    end(&f);
}

/* ---- parameters and statistics ---- */

static void parameters_are_described_as_they_are_read(void **state)
{
    const variant *v = *state;
    static const char *const described[] = {
        "multiset=off",          "multiset=on", "multiset=off", "multiset=on", "multiset=off,hash=sip13",
        "multiset=on,hash=sip13"};
    fixture f;
    begin(&f);
    char buffer[100];
    vidi__filter *filter = create(&f, v), *again;
    vidi__text text = vidi__text_in(buffer, sizeof buffer);
    filter->kind->describe(filter, &text);
    assert_string_equal(buffer, described[v - variants]);
    assert_int_equal(create_with(&f, &again, v->kind, buffer, 0, NULL), VIDI_OK);
    vidi__filter_destroy(again);
    text = vidi__text_in(buffer, sizeof buffer);
    filter->kind->hash_names(filter, &text);
    bool hashed = v->kind == &vidi__kind_hashset;
    assert_string_equal(buffer, hashed ? "sip13" : "none");
    assert_int_equal(filter->needs.what, hashed ? VIDI__NEED_HASH | VIDI__NEED_BYTES : VIDI__NEED_BYTES);
    assert_true(filter->keyed);
    assert_int_equal(filter->fp_meaning, VIDI_FP_EXACT);
    assert_int_equal(filter->can, VIDI_CAN_DELETE | VIDI_CAN_COUNT | VIDI_CAN_MERGE | VIDI_CAN_ITERATE | VIDI_CAN_GROW |
                                      VIDI_KEEPS_URLS);
    vidi__filter_destroy(filter);
    end(&f);
}

static void a_hash_set_trusts_its_input_as_far_as_its_hash(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    vidi__hash_fn weak = *f.hash;
    weak.keyed = false;
    f.hash = &weak;
    vidi__filter *filter = create(&f, &variants[4]);
    assert_false(filter->keyed);
    vidi__filter_destroy(filter);
    filter = create(&f, &variants[0]);
    assert_true(filter->keyed);
    vidi__filter_destroy(filter);
    end(&f);
}

static void bad_parameters_are_refused(void **state)
{
    const variant *v = *state;
    static const char *const bad[] = {"multiset=maybe", "multiset=", "hash=jenkins", "hash=", "k=3"};
    fixture f;
    begin(&f);
    for (size_t i = 0; i < VIDI__COUNT(bad); i++) {
        vidi__filter *filter;
        assert_int_equal(create_with(&f, &filter, v->kind, bad[i], 0, NULL), VIDI_EOPTION);
        assert_null(filter);
    }
    end(&f);
}

static void the_fill_is_between_nothing_and_full(void **state)
{
    const variant *v = *state;
    fixture f;
    begin(&f);
    vidi__filter_stats stats;
    vidi__filter *filter = create(&f, v);
    filter->kind->stat(filter, &stats);
    assert_true(stats.fill == 0);
    for (uint64_t i = 0; i < 500; i++) {
        assert_int_equal(add(&f, filter, i), VIDI_NEW);
        filter->kind->stat(filter, &stats);
        assert_true(stats.fill > 0 && stats.fill <= 1);
        assert_true(v->kind != &vidi__kind_hashset || stats.fill <= 0.75);
        assert_true(v->kind == &vidi__kind_hashset || stats.fill == 1);
    }
    vidi__filter_destroy(filter);
    end(&f);
}

/* ---- size ---- */

static void many_urls_are_all_found_and_no_others(void **state)
{
    (void)state;
    static const uint64_t most[] = {20000, 200000, 300000};
    fixture f;
    begin(&f);
    vidi__memory_init(&f.memory, NULL, 0);
    for (size_t k = 0; k < VIDI__COUNT(most); k++) {
        const variant *v = &variants[2 * k];
        vidi__filter *filter = create(&f, v);
        uint64_t n = test_sanitized() ? most[k] / 10 : most[k], stride = k ? 1 : 100;
        for (uint64_t i = 0; i < n; i++)
            assert_int_equal(add(&f, filter, i), VIDI_NEW);
        for (uint64_t i = 0; i < 2 * n; i += stride) {
            vidi__item what = item(&f, i);
            check(filter->kind->has(filter, &what) == (i < n ? VIDI_SEEN : VIDI_NEW), "%s: %d", v->kind->name, (int)i);
        }
        assert_int_equal(vidi__filter_count(filter), n);
        save_and_load(&f, v, &filter, true);
        for (uint64_t i = 0; i < n; i += k ? 1 : 10)
            assert_int_equal(drop(&f, filter, i), VIDI_OK);
        assert_int_equal(vidi__filter_count(filter), k ? 0 : n - n / 10);
        vidi__filter_destroy(filter);
    }
    end(&f);
}

int main(int argc, char **argv)
{
    test_variants("any sequence of operations does what the model does",
                  any_sequence_of_operations_does_what_the_model_does, false);
    test_variants("growing loses nothing at any moment", growing_loses_nothing_at_any_moment, false);
    test_variants("merging takes all of either size and leaves the other as it is",
                  merging_takes_all_of_either_size_and_leaves_the_other_as_it_is, false);
    test_add("sets that count and sets that do not are not merged", sets_that_count_and_sets_that_do_not_are_not_merged,
             NULL);
    test_variants("iterating gives each url once with its times", iterating_gives_each_url_once_with_its_times, false);
    test_add("removing and asking is right while two tables stand side by side",
             removing_and_asking_is_right_while_two_tables_stand_side_by_side, NULL);
    test_add("no add moves the whole table and step finishes it", no_add_moves_the_whole_table_and_step_finishes_it,
             NULL);
    test_add("large tables grow, move and go in parts", large_tables_grow_move_and_go_in_parts, NULL);
    test_add("urls with the same hash stay apart", urls_with_the_same_hash_stay_apart, NULL);
    test_variants("an empty default set is small", an_empty_default_set_is_small, false);
    test_variants("a capacity beyond memory is refused before anything is allocated for it",
                  a_capacity_beyond_memory_is_refused_before_anything_is_allocated_for_it, false);
    test_variants("a memory limit is kept and the set goes on answering",
                  a_memory_limit_is_kept_and_the_set_goes_on_answering, false);
    test_variants("removing gives memory back", removing_gives_memory_back, false);
    test_variants("a url that comes and goes does not make the set grow",
                  a_url_that_comes_and_goes_does_not_make_the_set_grow, false);
    test_variants("a plan says what a set takes", a_plan_says_what_a_set_takes, false);
    test_variants("a plan that cannot be met is refused", a_plan_that_cannot_be_met_is_refused, false);
    test_add("eighty bytes are planned for a url of unknown length",
             eighty_bytes_are_planned_for_a_url_of_unknown_length, NULL);
    test_variants("every refused allocation leaves the filter as it was",
                  every_refused_allocation_leaves_the_filter_as_it_was, false);
    test_variants("parameters are described as they are read", parameters_are_described_as_they_are_read, false);
    test_add("a hash set trusts its input as far as its hash", a_hash_set_trusts_its_input_as_far_as_its_hash, NULL);
    test_variants("bad parameters are refused", bad_parameters_are_refused, false);
    test_variants("the fill is between nothing and full", the_fill_is_between_nothing_and_full, false);
    test_add("many urls are all found and no others", many_urls_are_all_found_and_no_others, NULL);
    return test_run("exact", argc, argv);
}
