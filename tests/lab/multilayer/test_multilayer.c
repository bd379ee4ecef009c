/*
 * The experiments of the multi-layer paper: that they fit theory, that theory fits a filter made of nothing but arrays,
 * and that a wrong filter is noticed.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/engine/run_memory.h"
#include "lab/multilayer/multilayer.h"
#include "lab/tables.h"
#include "support/runner.h"

static const char *const counted[] = {"multilayer-comparisons", "multilayer-false",   "multilayer-original",
                                      "multilayer-quarter",     "multilayer-formula", "multilayer-addresses",
                                      "multilayer-equal",       "multilayer-cross",   "multilayer-own",
                                      "multilayer-program",     "multilayer-space",   NULL};
static const char *const timed[] = {"multilayer-query", "multilayer-insert", "multilayer-slower",
                                    "multilayer-program-time", NULL};

static void measure(lab_book *book, const char *const *ids, lab_settings settings)
{
    size_t count = 0;
    while (ids[count]) {
        study_of(ids[count]);
        count++;
    }
    int code = lab_book_measure(book, ids, count, &settings);
    check(code == VIDI_OK, "measuring: %s", vidi_message());
}

/* ---- against theory ---- */

static void every_cell_fits_theory(void **state)
{
    lab_book book;
    size_t tested = 0;
    (void)state;
    measure(&book, counted, (lab_settings){.urls = 30000, .runs = 3, .seed = 4, .threads = 2});
    assert_int_equal(book.count, 11);
    for (size_t i = 0; i < book.count; i++) {
        none_fails(&book.tables[i]);
        for (size_t j = 0; j < book.tables[i].rows * book.tables[i].columns; j++)
            tested += isnan(book.tables[i].entries[j].z) ? 0 : 1;
    }
    check(tested >= 120, "only %zu cells were tested", tested);
    lab_book_free(&book);
}

/* The same seed gives the same numbers, whatever the number of threads. */
static void numbers_follow_from_the_seed(void **state)
{
    lab_book one, two;
    (void)state;
    measure(&one, counted, (lab_settings){.urls = 5000, .runs = 3, .seed = 9, .threads = 1});
    measure(&two, counted, (lab_settings){.urls = 5000, .runs = 3, .seed = 9, .threads = 3});
    for (size_t i = 0; i < one.study_count; i++) {
        const lab_study *study = one.numbers[i].study;
        size_t bytes = sizeof(double) * one.numbers[i].settings.runs * cells_of(study);
        check(memcmp(one.numbers[i].numbers, two.numbers[i].numbers, bytes) == 0, "%s differs", study->id);
    }
    lab_book_free(&one);
    lab_book_free(&two);
}

static void few_urls_will_do(void **state)
{
    static const uint64_t sizes[] = {1, 100, 1000};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        lab_settings settings = {.urls = sizes[i], .runs = 1, .seed = 2, .threads = 1};
        lab_book book;
        measure(&book, counted, settings);
        lab_book_free(&book);
        measure(&book, timed, settings);
        for (size_t j = 0; j < book.count; j++)
            for (size_t k = 0; k < book.tables[j].rows * book.tables[j].columns; k++)
                check(book.tables[j].entries[k].measured > 0, "%s takes no time", book.tables[j].id);
        lab_book_free(&book);
    }
}

/* One directory, and one host: classes as large as can be, and no URL that could be crossed with another. */
static void a_corpus_of_one_site_will_do(void **state)
{
    static const char *const ids[] = {"multilayer-comparisons", "multilayer-false", "multilayer-original",
                                      "multilayer-equal",       "multilayer-own",   NULL};
    const char *files[] = {"urls"};
    lab_corpus *corpus;
    lab_book book;
    (void)state;
    assert_int_equal(lab_corpus_make(&corpus, files, 1), VIDI_OK);
    for (int i = 0; i < 100000; i++) {
        char line[64];
        int length = snprintf(line, sizeof line, "http://one.example/folder/page%d.html", i);
        assert_int_equal(lab_corpus_add(corpus, (vidi_str){line, (size_t)length}), VIDI_OK);
    }
    assert_int_equal(lab_corpus_end(corpus), VIDI_OK);
    measure(&book, ids, (lab_settings){.urls = 40000, .runs = 2, .seed = 3, .threads = 2, .corpus = corpus});
    for (size_t i = 0; i < book.count; i++)
        none_fails(&book.tables[i]);
    assert_true(isnan(lab_book_measured(&book, "multilayer-equal", "m = 4.8 n, known segments", "classic, m")));
    lab_book_free(&book);
    lab_corpus_free(corpus);
}

/* ---- theory against arrays ---- */

static uint64_t draw(uint64_t *state)
{
    *state = lab_run_start(*state, 77);
    return *state;
}

enum { PLACES = 3000, PAGES = 300, K = 3, TRIALS = 400, QUESTIONS = 500 };

static size_t place_of(uint64_t hash)
{
    return (size_t)((unsigned __int128)hash * PLACES >> 64);
}

/* PAGES of one directory whose hashes XOR to `other`, then new ones: how many hit marks in both layers. */
static double directory(uint64_t *state, bool alone)
{
    static unsigned char layer[PLACES], last[PLACES];
    uint64_t other[K];
    double seen = 0;
    memset(layer, 0, sizeof layer);
    memset(last, 0, sizeof last);
    for (int j = 0; j < K; j++)
        other[j] = alone ? 0 : draw(state);
    for (int i = 0; i < PAGES + QUESTIONS; i++) {
        bool hit = true;
        for (int j = 0; j < K; j++) {
            uint64_t hash = draw(state);
            if (i < PAGES)
                layer[place_of(hash)] = last[place_of(hash ^ other[j])] = 1;
            hit &= layer[place_of(hash)] && last[place_of(hash ^ other[j])];
        }
        seen += i >= PAGES && hit;
    }
    return seen / QUESTIONS;
}

static void must_meet(const char *what, bool alone, double common)
{
    uint64_t state = 5;
    double sum = 0, squares = 0,
           wanted = lab_multilayer_both((lab_multilayer_pair){PAGES, PAGES, PAGES, common}, PLACES, K);
    for (int i = 0; i < TRIALS; i++) {
        double share = directory(&state, alone);
        sum += share;
        squares += share * share;
    }
    double mean = sum / TRIALS, spread = sqrt((squares / TRIALS - mean * mean) / TRIALS);
    check(fabs(mean - wanted) < 4.1 * spread + 0.02 * wanted, "%s: %g, not %g (%g)", what, mean, wanted, spread);
    check(spread < 0.1 * wanted, "%s: too few to tell", what);
}

static void one_directory_couples_the_layers(void **state)
{
    (void)state;
    must_meet("a directory", false, lab_multilayer_kept(PLACES));
    must_meet("hosts", true, K);
    double apart = lab_multilayer_both((lab_multilayer_pair){PAGES, PAGES, 0, 1}, PLACES, K);
    double coupled =
        lab_multilayer_both((lab_multilayer_pair){PAGES, PAGES, PAGES, lab_multilayer_kept(PLACES)}, PLACES, K);
    check(coupled > 1.2 * apart, "%g is not above %g", coupled, apart);
    check(lab_multilayer_kept(4096) >= 1, "a power of two loses some");
    check(lab_multilayer_kept(PLACES) > 0.3 && lab_multilayer_kept(PLACES) < 0.95, "%g", lab_multilayer_kept(PLACES));
}

static vidi_str text(const char *string)
{
    return (vidi_str){string, strlen(string)};
}

static void tallies_count_what_is_there(void **state)
{
    LAB_BLOCK;
    static const char *const urls[] = {"h/a/b/c", "h/a/b/c", "h/a/b/d/e", "i/a", "h/b/a/c", "h", "h/x?y=a/b"};
    lab_multilayer_tally tally = {.salted = false};
    (void)state;
    for (size_t i = 0; i < sizeof urls / sizeof *urls; i++)
        assert_int_equal(lab_multilayer_tally_add(&tally, text(urls[i])), VIDI_OK);
    assert_int_equal(tally.segments[0].used, 2); /* h i */
    assert_int_equal(tally.segments[1].used, 3); /* a b x?y=a/b */
    assert_int_equal(tally.segments[2].used, 2); /* b a */
    assert_int_equal(tally.segments[3].used, 2); /* c d/e */
    assert_int_equal(tally.urls.used, 5);        /* h/b/a/c has the XOR of h/a/b/c */
    assert_int_equal(tally.classes.used, 4);     /* h^a^b before the fourth; i; nothing; h */
    lab_multilayer_view view = lab_multilayer_view_of(&tally, 1000, 3);
    assert_true(lab_multilayer_expect(&view, text("h/b/a/c")) >= 1);
    assert_true(lab_multilayer_expect(&view, text("i/b")) < 0.01);
    assert_true(lab_multilayer_expect(&view, text("i/new")) < lab_multilayer_expect(&view, text("i/b")));
    assert_true(lab_multilayer_strip(text("https://h/a")).len == 3);
}

/* Of hosts alone both layers are the same: what is expected is what one of them lets through. */
static void hosts_meet_one_layer(void **state)
{
    LAB_BLOCK;
    lab_multilayer_tally tally = {.salted = false};
    char host[32];
    (void)state;
    for (int i = 0; i < 200; i++) {
        snprintf(host, sizeof host, "host%d", i);
        assert_int_equal(lab_multilayer_tally_add(&tally, text(host)), VIDI_OK);
    }
    double one = lab_fill_power(lab_fill_after(3 * 200, 1500), 3),
           two = lab_multilayer_expect_appended(&tally, 1500, 3) / 200;
    check(fabs(two - one) < 0.01 * one, "%g, not %g", two, one);
}

/* ---- the same count in another way, and with a wrong filter ---- */

/* multilayer-original, 3.5 M, multilayer, through the public interface, with k functions. */
static double count_again(const lab_settings *settings, uint64_t run, unsigned k)
{
    uint64_t unit = settings->urls / 20, n = unit * 7 / 2;
    char url[LAB_URL_ROOM + 24], params[128];
    vidi_set *set;
    double count = 0;
    snprintf(params, sizeof params, "m=%.0f,k=%u,L=4,layersalt=off,scheme=strip", ceil(16.829152 * (double)unit), k);
    assert_int_equal(lab_set_make(&set, settings, run, "multilayer", params, 0), VIDI_OK);
    for (uint64_t i = 0; i < n; i++)
        assert_true(vidi_add(set, (vidi_str){url, lab_url(url, settings, run, i)}) >= 0);
    for (uint64_t i = 0; i < n; i++) {
        size_t length = lab_url(url, settings, run, i);
        length += (size_t)snprintf(url + length, 24, "%llu", (unsigned long long)i);
        count += vidi_has(set, (vidi_str){url, length}) == VIDI_SEEN;
    }
    vidi_close(set);
    return count;
}

static void a_wrong_filter_is_noticed(void **state)
{
    lab_settings settings = {.urls = 60000, .runs = 2, .seed = 3, .threads = 2};
    lab_numbers numbers = numbers_of("multilayer-original", &settings);
    size_t cells = cells_of(numbers.study), cell = 5 * 3 + 1; /* 3.5 M, multilayer */
    (void)state;
    for (uint64_t run = 0; run < settings.runs; run++) {
        double *number = &numbers.numbers[run * cells + cell], again = count_again(&settings, run, 3);
        check(fabs(*number - again) < 0.5, "run %llu: %g, and again %g", (unsigned long long)run, *number, again);
        check(again > 5, "only %g to compare", again);
        *number = count_again(&settings, run, 2); /* a function dropped */
    }
    lab_table table = table_from(&numbers);
    check(table.entries[cell].verdict == LAB_FAILS, "z = %g", table.entries[cell].z);
    check(table.entries[cell - 1].verdict == LAB_AGREES, "classic: z = %g", table.entries[cell - 1].z);
    lab_table_free(&table);
    lab_numbers_free(&numbers);
}

/* multilayer-equal has five times the bits of a layer in its last two columns: recounted with sets of that size. */
static void equal_memory_is_equal(void **state)
{
    lab_settings settings = {.urls = 40000, .runs = 1, .seed = 8, .threads = 1};
    uint64_t n = settings.urls / 20;
    char url[LAB_LAYERS_ROOM], params[64];
    double numbers[6 * 5], layer = ceil(16829152 / 3.5e6 * (double)n), count = 0;
    vidi_set *set;
    (void)state;
    assert_int_equal(lab_study_find("multilayer-equal")->measure(&settings, 0, numbers), VIDI_OK);
    snprintf(params, sizeof params, "m=%.0f,k=3", 5 * layer);
    assert_int_equal(lab_set_make(&set, &settings, 0, "classic", params, 0), VIDI_OK);
    for (uint64_t i = 0; i < n; i++)
        assert_true(vidi_add(set, lab_multilayer_strip(lab_url_text(url, &settings, 0, i))) >= 0);
    for (uint64_t i = n; i < 2 * n; i++)
        count += vidi_has(set, lab_multilayer_strip(lab_url_text(url, &settings, 0, i))) == VIDI_SEEN;
    vidi_close(set);
    check(fabs(numbers[4 * 5 + 3] - count) < 0.5, "%g, and again %g", numbers[4 * 5 + 3], count);
    check(count > 0, "nothing to compare");
}

/* ---- what was published ---- */

static void every_figure_has_its_cell(void **state)
{
    size_t figures = 0;
    (void)state;
    for (const lab_published *list = lab_published_all; list->experiment; list++) {
        if (strncmp(list->experiment, "multilayer-", strlen("multilayer-")) != 0)
            continue;
        const lab_study *study = lab_study_find(list->experiment);
        size_t row = 0, column = 0;
        check(study != NULL && lab_figure_read(list->printed).given, "%s", list->experiment);
        while (study->rows[row] && strcmp(study->rows[row], list->row) != 0)
            row++;
        while (study->columns[column] && strcmp(study->columns[column], list->column) != 0)
            column++;
        check(study->rows[row] && study->columns[column], "%s has no %s, %s", study->id, list->row, list->column);
        figures++;
    }
    assert_int_equal(figures, 56);
}

static void published_counts_are_judged_by_theory(void **state)
{
    static const char *const ids[] = {"multilayer-original", "multilayer-quarter", NULL};
    lab_book book;
    size_t differing = 0;
    (void)state;
    measure(&book, ids, (lab_settings){.urls = 2000, .runs = 1, .seed = 1, .threads = 1});
    for (size_t i = 0; i < LAB_LAYERS_SIZES; i++) {
        const char *size = lab_multilayer_sizes[i];
        const lab_entry *classic = lab_table_find(&book.tables[0], size, "classic");
        const lab_entry *quarter = lab_table_find(&book.tables[1], size, "multilayer");
        check(classic->published > 0 && classic->verdict == LAB_AGREES, "classic, %s", size);
        check(quarter->verdict == LAB_AGREES, "multilayer, %s: %g, theory %g", size, quarter->published,
              quarter->theory);
        differing += lab_table_find(&book.tables[1], size, "the paper's formula")->verdict == LAB_DIFFERS;
    }
    assert_int_equal(differing, 5);
    lab_book_free(&book);
}

int main(int argc, char **argv)
{
    test_add_once("every cell fits theory", every_cell_fits_theory, NULL);
    test_add("numbers follow from the seed", numbers_follow_from_the_seed, NULL);
    test_add("few URLs will do", few_urls_will_do, NULL);
    test_add("a corpus of one site will do", a_corpus_of_one_site_will_do, NULL);
    test_add("one directory couples the layers", one_directory_couples_the_layers, NULL);
    test_add("tallies count what is there", tallies_count_what_is_there, NULL);
    test_add("hosts meet one layer", hosts_meet_one_layer, NULL);
    test_add("equal memory is equal", equal_memory_is_equal, NULL);
    test_add("a wrong filter is noticed", a_wrong_filter_is_noticed, NULL);
    test_add("every figure has its cell", every_figure_has_its_cell, NULL);
    test_add("published counts are judged by theory", published_counts_are_judged_by_theory, NULL);
    return test_run("lab/multilayer", argc, argv);
}
