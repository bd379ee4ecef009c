/*
 * A canonical form belongs to its set: it goes with copies, epochs, streams and merges, and its memory is the set's.
 */
#include "set/canon_cases.h"
#include "support/forge.h"

static const char *const tracked = "http://example.com/?a=1&mine=3&FROM_here=4";

static vidi_set *crawl_set(const vidi_allocator *allocator, uint64_t limit)
{
    canon_options made;
    canon_options_init(&made, "fingerprint", "crawl,-sort", VIDI_KEEP_INVALID);
    made.options.tracking = own_list;
    made.access.allocator = allocator;
    made.access.memory_limit = limit;
    return must_create(&made.options);
}

/* It removes what is in our list, and nothing of the compiled-in one. */
static void must_track(vidi_set *set)
{
    vidi_stats stats = test_stat(set);
    check(strncmp(stats.canon, "crawl/1,-sort,tracking=", 23) == 0, "%s", stats.canon);
    assert_int_equal(vidi_add(set, test_str(tracked)), VIDI_NEW);
    assert_int_equal(vidi_add(set, test_str("http://example.com/?a=1")), VIDI_SEEN);
    assert_int_equal(vidi_add(set, test_str("http://example.com/?a=1&utm_source=x")), VIDI_NEW);
    assert_int_equal(vidi_add(set, test_str("http://example.com/?utm_source=x&a=1")), VIDI_NEW);
}

static void like_takes_the_form_over(void **state)
{
    vidi_set *first = crawl_set(NULL, 0), *second;
    vidi_options options = VIDI_OPTIONS_INIT;
    vidi_access access = VIDI_ACCESS_INIT;
    (void)state;
    options.like = first;
    options.canon = "crawl";
    assert_int_equal(vidi_create(&second, &options), VIDI_EOPTION);
    options.canon = NULL;
    options.tracking = own_list;
    assert_int_equal(vidi_create(&second, &options), VIDI_EOPTION);
    options.tracking = NULL;
    options.access = &access;
    access.invalid = VIDI_DROP_INVALID; /* of the handle */
    second = must_create(&options);
    must_track(first);
    assert_int_equal(vidi_merge(second, first, 0), VIDI_OK);
    assert_int_equal(vidi_has(second, test_str("http://example.com/?a=1&mine=4")), VIDI_SEEN);
    assert_int_equal(vidi_rotate(second, NULL), VIDI_OK);
    vidi_close(first);
    must_track(second);
    assert_int_equal(vidi_add(second, test_str("no url")), VIDI_INVALID);
    options.like = second;
    access.invalid = 0; /* not taken over */
    first = must_create(&options);
    assert_int_equal(vidi_add(first, test_str("no url")), VIDI_NEW);
    vidi_close(first);
    vidi_close(second);
}

static void a_rotation_keeps_the_form(void **state)
{
    vidi_set *set = crawl_set(NULL, 0);
    vidi_options next = VIDI_OPTIONS_INIT;
    vidi_access access = VIDI_ACCESS_INIT;
    (void)state;
    must_track(set);
    next.canon = "crawl,-sort";
    assert_int_equal(vidi_rotate(set, &next), VIDI_EOPTION);
    next.canon = NULL;
    next.tracking = own_list;
    assert_int_equal(vidi_rotate(set, &next), VIDI_EOPTION);
    next.tracking = NULL;
    next.access = &access;
    access.invalid = VIDI_DROP_INVALID;
    assert_int_equal(vidi_rotate(set, &next), VIDI_EOPTION);
    next.access = NULL;
    next.kind = "hashset";
    assert_int_equal(vidi_rotate(set, &next), VIDI_OK);
    must_track(set);
    vidi_close(set);
}

static void sets_of_different_forms_are_not_merged(void **state)
{
    static const char *const others[] = {"none", "crawl,-sort", "crawl", "surt", "key=host", "whatwg,+fragment"};
    (void)state;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        vidi_set *one = canon_set("fingerprint", NULL, 0), *other = canon_set("fingerprint", others[i], 0);
        assert_int_equal(vidi_merge(one, other, 0), VIDI_EDIFFERS);
        check(strstr(vidi_message(), "whatwg/1,") && strstr(vidi_message(), test_stat(other).canon), "%s",
              vidi_message());
        vidi_close(one);
        vidi_close(other);
    }
    vidi_set *one = crawl_set(NULL, 0), *other = canon_set("fingerprint", "crawl,-sort", 0);
    assert_int_equal(vidi_merge(one, other, 0), VIDI_EDIFFERS); /* the same but for the list */
    vidi_close(one);
    vidi_close(other);
}

/* Copies, epochs and streams keep the form with its version, and it merges with itself. */
static void a_set_keeps_the_version_of_its_form(void **state)
{
    static const char *const all[] = {"whatwg/1", "crawl/1", "crawl/1,-sort", "surt/1", "key=host/1"};
    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        canon_options made;
        canon_options_init(&made, "fingerprint", all[i], VIDI_KEEP_INVALID);
        vidi_set *set = must_create(&made.options), *again = NULL;
        vidi_options like = VIDI_OPTIONS_INIT;
        test_stream stream;
        assert_int_equal(vidi_add(set, test_str("http://example.com/caf\xe9")), VIDI_NEW);
        test_stream_write(&stream, set);
        assert_int_equal(test_stream_read(&stream, &again, stream.size, NULL), VIDI_OK);
        like.like = set;
        vidi_set *copy = must_create(&like);
        assert_int_equal(vidi_rotate(set, NULL), VIDI_OK);
        vidi_set *const sets[] = {set, again, copy};
        for (size_t j = 0; j < 3; j++) {
            assert_string_equal(test_stat(sets[j]).canon, all[i]);
            assert_int_equal(vidi_add(sets[j], test_str("http://example.com/caf\xe8")),
                             j == 1 && strchr(all[i], '=') ? VIDI_SEEN : VIDI_NEW);
            assert_int_equal(vidi_add(sets[j], test_str("http://example.com/caf%E8")), VIDI_SEEN);
        }
        assert_int_equal(vidi_merge(again, copy, 0), VIDI_OK);
        vidi_close(set);
        vidi_close(again);
        vidi_close(copy);
        test_stream_free(&stream);
    }
}

static vidi_set *must_read(test_stream *stream, bool length_known, const vidi_access *access)
{
    vidi_set *set = NULL;
    int result = test_stream_read(stream, &set, length_known ? stream->size : 0, access);
    check(result == VIDI_OK, "%d: %s", result, vidi_message());
    return set;
}

static void a_stream_brings_the_form_back(void **state)
{
    static const char *const all[] = {
        NULL, "none", "crawl", "crawl,-sort,-index", "surt,+scheme", "key=host", "crawl,+www,+fragment"};
    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof *all * 2; i++) {
        vidi_set *set = canon_set("fingerprint", all[i / 2], VIDI_DROP_INVALID);
        vidi_add(set, test_str("http://example.com/a?b"));
        vidi_add(set, test_str("HTTP://example.com/a?b#c"));
        vidi_add(set, test_str("no url"));
        test_stream stream;
        test_stream_write(&stream, set);
        vidi_set *again = must_read(&stream, i % 2, NULL);
        assert_string_equal(test_stat(again).canon, test_stat(set).canon);
        assert_int_equal(test_stat(again).answered_invalid, test_stat(set).answered_invalid);
        assert_int_equal(vidi_has(again, test_str("HTTP://EXAMPLE.com/a?b#d")),
                         all[i / 2] && i / 2 == 1 ? VIDI_NEW : VIDI_SEEN);
        assert_int_equal(vidi_merge(again, set, 0), VIDI_OK);
        assert_int_equal(vidi_add(again, test_str("no url at all")), VIDI_NEW); /* the policy is the handle's */
        vidi_close(again);
        vidi_close(set);
        test_stream_free(&stream);
    }
}

static void a_stream_brings_the_list_back(void **state)
{
    vidi_set *set = crawl_set(NULL, 0);
    vidi_access access = VIDI_ACCESS_INIT;
    test_stream stream;
    (void)state;
    test_stream_write(&stream, set);
    access.invalid = VIDI_FAIL_INVALID;
    for (int i = 0; i < 2; i++) {
        vidi_set *again = must_read(&stream, i, &access);
        must_track(again);
        assert_int_equal(vidi_add(again, test_str("no url")), VIDI_INVALID);
        vidi_close(again);
    }
    vidi_set *again = NULL;
    access.invalid = VIDI_FAIL_INVALID + 1;
    assert_int_equal(test_stream_read(&stream, &again, 0, &access), VIDI_EOPTION);
    assert_null(again);
    test_stream_free(&stream);
    vidi_close(set);
}

/* The longest list that a form takes, the empty one, and the compiled-in one with more. */
static void lists_of_any_length_are_brought_back(void **state)
{
    enum { PATTERNS = 10000, BYTES = 200 };
    char *list = malloc((size_t)PATTERNS * (BYTES + 1) + 1);
    check(list != NULL, "no memory");
    (void)state;
    memset(list, 'p', (size_t)PATTERNS * (BYTES + 1));
    for (size_t i = 0; i < PATTERNS; i++) {
        char number[16];
        int digits = snprintf(number, sizeof number, "%05zu", i);
        memcpy(list + i * (BYTES + 1), number, (size_t)digits);
        list[i * (BYTES + 1) + BYTES] = '\n';
    }
    list[(size_t)PATTERNS * (BYTES + 1)] = 0;
    const char *const lists[] = {list, "# nothing\n", "@builtin\nmine\n"};
    for (size_t i = 0; i < 6; i++) {
        canon_options made;
        canon_options_init(&made, NULL, "crawl", 0);
        made.options.tracking = lists[i / 2];
        vidi_set *set = must_create(&made.options);
        test_stream stream;
        test_stream_write(&stream, set);
        vidi_set *again = must_read(&stream, i % 2, NULL);
        assert_string_equal(test_stat(again).canon, test_stat(set).canon);
        assert_int_equal(vidi_add(again, test_str("http://h.example/?utm_source=x")), VIDI_NEW);
        assert_int_equal(vidi_has(again, test_str("http://h.example/")), i / 2 == 2 ? VIDI_SEEN : VIDI_NEW);
        vidi_close(again);
        vidi_close(set);
        test_stream_free(&stream);
    }
    free(list);
}

/* Puts another name and list into a stream and reads that. */
static void must_be_refused(const vidi_set *set, const char *name, const char *list, const char *why)
{
    test_forge forge, changed = {0};
    test_stream stream;
    vidi_set *again = NULL;
    test_forge_take(&forge, set);
    size_t lists = 8 + test_forge_get(&forge, 0), rest = lists + 8 + test_forge_get(&forge, lists);
    test_forge_append_text(&changed, name);
    test_forge_append_text(&changed, list);
    test_forge_append(&changed, forge.bytes + rest, forge.size - rest);
    test_forge_seal(&changed, &stream);
    for (int i = 0; i < 2; i++) {
        int result = test_stream_read(&stream, &again, i ? stream.size : 0, NULL);
        check(result == VIDI_EFORMAT && !again, "%s: %d", name, result);
        check(strstr(vidi_message(), why) != NULL, "%s: %s", name, vidi_message());
    }
    test_stream_free(&stream);
    test_forge_free(&changed);
    test_forge_free(&forge);
}

static void unknown_forms_in_streams_are_refused(void **state)
{
    vidi_set *set = crawl_set(NULL, 0);
    char name[160], other[160];
    (void)state;
    snprintf(name, sizeof name, "%s", test_stat(set).canon);
    snprintf(other, sizeof other, "%s", name);
    other[strlen(other) - 1] = (char)(other[strlen(other) - 1] == '0' ? '1' : '0');
    must_be_refused(set, "crawl/2", "", "crawl/2"); /* a version that a later vidi may have: both are named */
    must_be_refused(set, "crawl/2", "", "only crawl/1");
    must_be_refused(set, "crawl/2", "", "not known here");
    must_be_refused(set, "nose/1", "", "nose/1");
    must_be_refused(set, "crawl/1,-nose", "", "not known here");
    must_be_refused(set, "", "", "not known here");
    must_be_refused(set, "whatwg", "", "another name"); /* as nobody writes it */
    must_be_refused(set, "crawl/1,+sort", "", "another name");
    must_be_refused(set, "crawl/1", "mine\n", "does not know");
    must_be_refused(set, "whatwg/1", "mine\n", "does not know");
    must_be_refused(set, name, "mine\n", "is not the one");
    must_be_refused(set, name, "", "is not the one");
    must_be_refused(set, other, "mine\nfrom_*\n", "is not the one");
    must_be_refused(set, name, "mine\nfrom_*\n=\n", "=");
    vidi_close(set);
}

/* A length that lies costs no memory. */
static void hostile_lengths_cost_nothing(void **state)
{
    static const uint64_t lengths[] = {2000000, 2010000, 2010001, UINT64_C(1) << 32, UINT64_MAX};
    vidi_set *set = crawl_set(NULL, 0), *again = NULL;
    test_forge forge;
    (void)state;
    test_forge_take(&forge, set);
    size_t list = 8 + test_forge_get(&forge, 0);
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths * 2; i++) {
        test_allocator watch;
        test_stream stream;
        vidi_access access = VIDI_ACCESS_INIT;
        test_allocator_init(&watch);
        access.allocator = &watch.hook;
        test_forge_put(&forge, list, lengths[i / 2]);
        test_forge_seal(&forge, &stream);
        assert_int_equal(test_stream_read(&stream, &again, i % 2 ? stream.size : 0, &access), VIDI_EFORMAT);
        check(watch.largest < stream.size + (1 << 20), "%llu bytes at once", (unsigned long long)watch.largest);
        test_allocator_finish(&watch);
        test_stream_free(&stream);
    }
    test_forge_put(&forge, list, 5); /* and a zero byte among the patterns */
    forge.bytes[list + 8 + 2] = 0;
    test_stream stream;
    test_forge_seal(&forge, &stream);
    assert_int_equal(test_stream_read(&stream, &again, 0, NULL), VIDI_EFORMAT);
    test_stream_free(&stream);
    test_forge_free(&forge);
    vidi_close(set);
}

/* Everything that the form takes counts, and the limit holds for it. */
static void the_forms_memory_is_the_sets(void **state)
{
    test_allocator watch;
    vidi_options options = VIDI_OPTIONS_INIT;
    vidi_access access = VIDI_ACCESS_INIT;
    (void)state;
    test_allocator_init(&watch);
    vidi_set *set = crawl_set(&watch.hook, 0), *second;
    must_track(set);
    assert_int_equal(test_stat(set).memory_bytes, test_allocator_live(&watch));
    uint64_t first_bytes = test_allocator_live(&watch);
    options.like = set;
    options.access = &access;
    access.allocator = &watch.hook;
    second = must_create(&options);
    assert_int_equal(test_stat(second).memory_bytes, test_allocator_live(&watch) - first_bytes);
    vidi_close(second);
    access.memory_limit = 5000; /* the set fits and its form does not */
    assert_int_equal(vidi_create(&second, &options), VIDI_ELIMIT);
    assert_int_equal(test_allocator_live(&watch), first_bytes);
    vidi_close(set);
    test_allocator_finish(&watch);
}

/* Typical URLs in any spelling need no memory for it; those that do give it back. */
static void spelling_out_allocates_nothing(void **state)
{
    test_allocator watch;
    canon_options made;
    uint8_t verdicts[5000];
    mixture mixed = mixture_of(5000, 77);
    (void)state;
    for (size_t i = 0; i < mixed.n; i++) {
        mixed.urls[i].len = mixed.urls[i].len > 150 ? 150 : mixed.urls[i].len;
    }
    test_allocator_init(&watch);
    for (int i = 0; i < 3; i++) {
        static const char *const all[] = {NULL, "crawl", "surt"};
        canon_options_init(&made, "classic", all[i], VIDI_KEEP_INVALID);
        made.access.allocator = &watch.hook;
        vidi_set *set = must_create(&made.options);
        uint64_t calls = watch.calls;
        assert_int_equal(vidi_add_batch(set, mixed.urls, mixed.n, verdicts, NULL), VIDI_OK);
        check(watch.calls == calls, "%s: %llu allocations", all[i] ? all[i] : "whatwg",
              (unsigned long long)(watch.calls - calls));
        char *text = long_text("http://example.com/", ' ', 100000);
        uint64_t bytes = test_allocator_live(&watch);
        assert_int_equal(vidi_add(set, test_str(text)), VIDI_NEW);
        assert_int_equal(vidi_has(set, test_str(text)), VIDI_SEEN);
        assert_int_equal(test_allocator_live(&watch), bytes);
        free(text);
        vidi_close(set);
    }
    test_allocator_finish(&watch);
    mixture_free(&mixed);
}

/* Adds the URLs in one batch or one by one; how many bytes more than before were live at once. */
static uint64_t peak_of(test_allocator *watch, const char *canon, const mixture *all, bool batched, uint8_t *verdicts)
{
    canon_options made;
    canon_options_init(&made, "classic", canon, VIDI_KEEP_INVALID);
    made.access.allocator = &watch->hook;
    vidi_set *set = must_create(&made.options);
    uint64_t before = watch->peak_bytes = test_allocator_live(watch);
    if (batched) {
        assert_int_equal(vidi_add_batch(set, all->urls, all->n, verdicts, NULL), VIDI_OK);
    }
    for (size_t i = 0; i < all->n && !batched; i++) {
        verdicts[i] = (uint8_t)vidi_add(set, all->urls[i]);
    }
    assert_int_equal(test_allocator_live(watch), before);
    uint64_t peak = test_allocator_peak(watch) - before;
    vidi_close(set);
    return peak;
}

/* Long URLs behind each other, each of them in need of memory, take no more than the longest alone. */
static void long_urls_need_memory_one_at_a_time(void **state)
{
    static const char *const all[] = {NULL, "crawl", "surt", "key=host"};
    enum { URLS = 120 };
    uint8_t batched[URLS], looped[URLS];
    test_allocator watch;
    mixture mixed = {malloc(URLS * sizeof(vidi_str)), URLS};
    (void)state;
    check(mixed.urls != NULL, "no memory");
    for (size_t i = 0; i < URLS; i++) {
        char *text = long_text(i % 7 == 6 ? "none:// [" : "http://example.com/", i % 3 ? ' ' : 'y', i % 60 * 700 + 1);
        mixed.urls[i] = (vidi_str){text, strlen(text)};
    }
    test_allocator_init(&watch);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        uint64_t one = peak_of(&watch, all[i], &mixed, false, looped);
        uint64_t together = peak_of(&watch, all[i], &mixed, true, batched);
        check(together <= one && one > 0, "%llu bytes for a batch, %llu for one", (unsigned long long)together,
              (unsigned long long)one);
        assert_memory_equal(batched, looped, URLS);
    }
    test_allocator_finish(&watch);
    mixture_free(&mixed);
}

/* One pass over everything that a form's memory is asked for in; true if no call was refused. */
static bool try_all(test_allocator *watch, uint64_t fail_at, const mixture *mixed)
{
    canon_options made;
    vidi_set *set = NULL, *twin = NULL, *again = NULL;
    vidi_options options = VIDI_OPTIONS_INIT;
    vidi_access access = VIDI_ACCESS_INIT;
    static uint8_t verdicts[3000];
    canon_options_init(&made, "hashset", "crawl", VIDI_KEEP_INVALID);
    made.options.capacity = 0;
    made.options.tracking = "@builtin\nmine\n";
    options.access = &access;
    made.access.allocator = access.allocator = &watch->hook;
    test_allocator_fail(watch, fail_at, false);
    if (vidi_create(&set, &made.options) == VIDI_OK) {
        int result = vidi_add_batch(set, mixed->urls, mixed->n, verdicts, NULL);
        for (size_t i = 0; i < mixed->n; i++) {
            check((verdicts[i] != VIDI_UNTRIED) == (vidi_has(set, mixed->urls[i]) == VIDI_SEEN) || result != VIDI_OK,
                  "URL %zu", i);
        }
        options.like = set;
        vidi_create(&twin, &options);
        options.like = NULL;
        test_stream stream = {0};
        if (vidi_write(set, test_stream_sink, &stream, 0) == VIDI_OK) {
            test_stream_read(&stream, &again, stream.size, &access);
        }
        test_stream_free(&stream);
    }
    uint64_t refused = test_allocator_refused(watch);
    test_allocator_fail(watch, 0, false);
    for (vidi_set **one = (vidi_set *[]){set, twin, again, NULL}; *one; one++) {
        check(test_stat(*one).memory_bytes > 0, "no memory at all");
    }
    vidi_close(set);
    vidi_close(twin);
    vidi_close(again);
    return refused == 0;
}

static void nothing_leaks_when_memory_is_refused(void **state)
{
    test_allocator watch;
    mixture mixed = mixture_of(300, 5);
    (void)state;
    test_allocator_init(&watch);
    uint64_t n = 1;
    while (!try_all(&watch, n, &mixed)) {
        check(test_allocator_live(&watch) == 0, "call %llu: something is left", (unsigned long long)n);
        n++;
    }
    check(n > 10, "only %llu calls", (unsigned long long)n);
    test_allocator_finish(&watch);
    mixture_free(&mixed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(like_takes_the_form_over),
        cmocka_unit_test(a_rotation_keeps_the_form),
        cmocka_unit_test(sets_of_different_forms_are_not_merged),
        cmocka_unit_test(a_set_keeps_the_version_of_its_form),
        cmocka_unit_test(a_stream_brings_the_form_back),
        cmocka_unit_test(a_stream_brings_the_list_back),
        cmocka_unit_test(lists_of_any_length_are_brought_back),
        cmocka_unit_test(unknown_forms_in_streams_are_refused),
        cmocka_unit_test(hostile_lengths_cost_nothing),
        cmocka_unit_test(the_forms_memory_is_the_sets),
        cmocka_unit_test(spelling_out_allocates_nothing),
        cmocka_unit_test(long_urls_need_memory_one_at_a_time),
        cmocka_unit_test(nothing_leaks_when_memory_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
