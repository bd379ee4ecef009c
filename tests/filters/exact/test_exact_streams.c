/* The exact kinds and streams: what is saved is loaded, and what is damaged or forged is refused or harmless. */
#include "filters/exact/exact_cases.h"

static void put(stream *s, uint64_t number)
{
    assert_int_equal(vidi__write_u64(&s->writer, number), VIDI_OK);
}

/* One URL in the saved form of the kind. */
static void put_url(stream *s, const fixture *f, const variant *v, uint64_t i, uint64_t times)
{
    vidi__item what = item(f, i);
    if (v->kind == &vidi__kind_hashset) {
        put(s, what.url.hash.lo);
        put(s, what.url.hash.hi);
    }
    put(s, times);
    assert_int_equal(vidi__write_str(&s->writer, what.url.str), VIDI_OK);
}

static void what_is_saved_is_loaded(void **state)
{
    const variant *v = *state;
    static model m;
    static char long_url[300000];
    fixture f;
    begin(&f);
    m = (model){.multiset = v->multiset};
    vidi__filter *filter = create(&f, v);
    vidi__item longest = {.url = {.str = {long_url, sizeof long_url}}};
    longest.url.hash = vidi__hash(f.hash, &f.key, longest.url.str);
    save_and_load(&f, v, &filter, true);
    assert_int_equal(vidi__filter_count(filter), 0);
    for (int known = 0; known < 2; known++) {
        for (uint64_t i = 0; i < 500; i += 1 + (uint64_t)known)
            model_add(&f, filter, &m, i);
        save_and_load(&f, v, &filter, known);
        check_all(&f, filter, &m);
        assert_int_equal(filter->kind->add(filter, &longest), VIDI_NEW);
        save_and_load(&f, v, &filter, known);
        assert_int_equal(filter->kind->has(filter, &longest), VIDI_SEEN);
        assert_int_equal(filter->kind->remove(filter, &longest), VIDI_OK);
        check_all(&f, filter, &m);
    }
    vidi__filter_destroy(filter);
    end(&f);
}

static void loading_survives_every_refused_allocation(void **state)
{
    const variant *v = *state;
    fixture f;
    begin(&f);
    stream s = stream_new();
    vidi__filter *filter = create(&f, v);
    for (uint64_t i = 0; i < 300; i++)
        assert_int_equal(add(&f, filter, i), VIDI_NEW);
    stream_save(&s, filter);
    vidi__filter_destroy(filter);
    for (uint64_t n = 1, refused = 1; refused; n++) {
        test_allocator_fail(&f.allocator, n, false);
        int code = stream_load(&s, &f, v, n % 2, &filter);
        refused = test_allocator_refused(&f.allocator);
        assert_int_equal(code, refused ? VIDI_EMEMORY : VIDI_OK);
        vidi__filter_destroy(filter);
        assert_int_equal(vidi__memory_used(&f.memory), 0);
    }
    test_allocator_fail(&f.allocator, 0, false);
    free(s.data);
    end(&f);
}

/* ---- forged streams ---- */

static void a_stream_cut_off_anywhere_is_refused(void **state)
{
    const variant *v = *state;
    fixture f;
    begin(&f);
    stream s = stream_new();
    vidi__filter *filter = create(&f, v);
    for (uint64_t i = 0; i < 60; i++)
        assert_int_equal(add(&f, filter, i), VIDI_NEW);
    stream_save(&s, filter);
    vidi__filter_destroy(filter);
    uint64_t whole = s.size;
    for (s.size = 0; s.size < whole; s.size++)
        for (int known = 0; known < 2; known++) {
            assert_int_equal(stream_load(&s, &f, v, known, &filter), VIDI_EFORMAT);
            assert_null(filter);
        }
    free(s.data);
    end(&f);
}

static void a_stream_that_lies_is_refused(void **state)
{
    const variant *v = *state;
    fixture f;
    begin(&f);
    for (int lie = 0; lie < 7; lie++)
        for (int known = 0; known < 2; known++) {
            stream s = stream_new();
            vidi__filter *filter;
            put(&s, lie == 0 ? UINT64_MAX : lie == 1 ? 4 : 3);
            put_url(&s, &f, v, 100, lie == 2 ? 0 : 1);
            put_url(&s, &f, v, 50, lie == 3 && !v->multiset ? 2 : 1);
            put_url(&s, &f, v, lie == 4 ? 100 : lie == 5 ? 50 : 200, lie == 6 && !v->multiset ? UINT64_MAX : 1);
            bool fine = v->multiset && (lie == 3 || lie == 6);
            assert_int_equal(stream_load(&s, &f, v, known, &filter), fine ? VIDI_OK : VIDI_EFORMAT);
            if (lie == 0 && known)
                assert_int_equal(s.at, sizeof(uint64_t)); /* refused before the first URL */
            vidi__filter_destroy(filter);
            free(s.data);
        }
    end(&f);
}

static void a_hash_that_is_not_the_urls_is_refused(void **state)
{
    const variant *v = *state;
    fixture f;
    begin(&f);
    for (int wrong = 0; wrong < 4; wrong++) {
        stream s = stream_new();
        vidi__filter *filter;
        put(&s, 2);
        put_url(&s, &f, v, 100, 1);
        vidi__item what = item(&f, 50);
        what.url.hash.lo ^= wrong == 1;
        what.url.hash.hi ^= wrong == 2 ? (uint64_t)1 << 63 : 0;
        put(&s, wrong == 3 ? what.url.hash.hi : what.url.hash.lo);
        put(&s, wrong == 3 ? what.url.hash.lo : what.url.hash.hi);
        put(&s, 1);
        assert_int_equal(vidi__write_str(&s.writer, what.url.str), VIDI_OK);
        assert_int_equal(stream_load(&s, &f, v, wrong % 2, &filter), wrong ? VIDI_EFORMAT : VIDI_OK);
        vidi__filter_destroy(filter);
        free(s.data);
    }
    end(&f);
}

static void a_lie_about_a_length_costs_no_memory(void **state)
{
    const variant *v = *state;
    fixture f;
    begin(&f);
    for (int known = 0; known < 2; known++) {
        stream s = stream_new();
        vidi__filter *filter;
        put(&s, (uint64_t)1 << (known ? 1 : 50));
        put_url(&s, &f, v, 100, 1);
        for (int i = 0; i < (v->kind == &vidi__kind_hashset ? 3 : 1); i++)
            put(&s, 1);
        put(&s, (uint64_t)1 << 50);
        put_url(&s, &f, v, 101, 1);
        assert_int_equal(stream_load(&s, &f, v, known, &filter), VIDI_EFORMAT);
        assert_null(filter);
        assert_true(f.allocator.largest < 1 << 20);
        free(s.data);
    }
    end(&f);
}

/* Whatever a damaged stream still gives must be a filter that works. */
static void use(fixture *f, vidi__filter *filter)
{
    for (uint64_t i = 0; i < 100; i++) {
        int verdict = add(f, filter, i);
        assert_true(verdict == VIDI_NEW || verdict == VIDI_SEEN || verdict == VIDI_ELIMIT);
    }
    for (uint64_t i = 0; i < 100; i++)
        assert_int_equal(drop(f, filter, i), VIDI_OK);
    assert_true(filter->kind->fp_now(filter) == 0);
}

static void flipped_bits_are_refused_or_harmless(void **state)
{
    const variant *v = *state;
    test_random random = {11};
    fixture f;
    begin(&f);
    stream s = stream_new();
    vidi__filter *filter = create(&f, v);
    uint64_t refused = 0;
    for (uint64_t i = 0; i < 30; i++)
        assert_int_equal(add(&f, filter, i), VIDI_NEW);
    stream_save(&s, filter);
    vidi__filter_destroy(filter);
    for (int n = 0; n < 2000; n++) {
        uint64_t at = test_below(&random, s.size);
        unsigned char flip = (unsigned char)(1 << test_below(&random, 8));
        s.data[at] ^= flip;
        int code = stream_load(&s, &f, v, n % 2, &filter);
        if (code == VIDI_OK)
            use(&f, filter);
        else
            assert_int_equal(code, VIDI_EFORMAT);
        refused += code != VIDI_OK;
        vidi__filter_destroy(filter);
        s.data[at] ^= flip;
    }
    assert_true(refused > 100);
    free(s.data);
    end(&f);
}

static void a_url_is_counted_no_further_than_the_counter_goes(void **state)
{
    const variant *v = *state;
    fixture f;
    begin(&f);
    static model m;
    m = (model){.multiset = true};
    stream s = stream_new();
    vidi__filter *filter, *other = create(&f, v);
    put(&s, 1);
    put_url(&s, &f, v, 9, UINT64_MAX);
    assert_int_equal(stream_load(&s, &f, v, true, &filter), VIDI_OK);
    m.times[9] = UINT64_MAX;
    assert_int_equal(add(&f, filter, 9), VIDI_ELIMIT);
    for (uint64_t i = 0; i < 12; i++)
        assert_int_equal(add(&f, other, i), VIDI_NEW);
    assert_int_equal(filter->kind->merge(filter, other), VIDI_ELIMIT);
    check_all(&f, filter, &m);
    model_remove(&f, filter, &m, 9);
    assert_int_equal(filter->kind->merge(filter, other), VIDI_OK);
    for (uint64_t i = 0; i < 12; i++)
        m.times[i]++;
    check_all(&f, filter, &m);
    vidi__filter_destroy(filter);
    vidi__filter_destroy(other);
    free(s.data);
    end(&f);
}

static int refuse_write(vidi__writer *writer, const void *data, uint64_t bytes)
{
    stream *s = stream_of_writer(writer);
    return s->size + bytes > s->room ? vidi__fail(VIDI_EIO, "full") : stream_write(writer, data, bytes);
}

static void a_sink_that_fails_ends_the_saving(void **state)
{
    const variant *v = *state;
    static unsigned char place[100000];
    fixture f;
    begin(&f);
    stream s = stream_new();
    vidi__filter *filter = create(&f, v);
    for (uint64_t i = 0; i < 5; i++)
        assert_int_equal(add(&f, filter, i), VIDI_NEW);
    stream_save(&s, filter);
    stream small = {.writer = {refuse_write}, .data = place};
    for (; small.room < s.size; small.room++) {
        small.size = 0;
        assert_int_equal(filter->kind->save(filter, &small.writer), VIDI_EIO);
    }
    small.size = 0;
    assert_int_equal(filter->kind->save(filter, &small.writer), VIDI_OK);
    assert_memory_equal(place, s.data, s.size);
    vidi__filter_destroy(filter);
    free(s.data);
    end(&f);
}

int main(int argc, char **argv)
{
    test_variants("what is saved is loaded", what_is_saved_is_loaded, false);
    test_variants("loading survives every refused allocation", loading_survives_every_refused_allocation, false);
    test_variants("a stream cut off anywhere is refused", a_stream_cut_off_anywhere_is_refused, false);
    test_variants("a stream that lies is refused", a_stream_that_lies_is_refused, false);
    test_add("a hash that is not the URL's is refused", a_hash_that_is_not_the_urls_is_refused, (void *)&variants[4]);
    test_variants("a lie about a length costs no memory", a_lie_about_a_length_costs_no_memory, false);
    test_variants("flipped bits are refused or harmless", flipped_bits_are_refused_or_harmless, false);
    test_variants("a url is counted no further than the counter goes",
                  a_url_is_counted_no_further_than_the_counter_goes, true);
    test_variants("a sink that fails ends the saving", a_sink_that_fails_ends_the_saving, false);
    return test_run("exact streams", argc, argv);
}
