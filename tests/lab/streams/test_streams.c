/*
 * Streams keep lines in their order and with their repeats, and what the tables say about them is what an independent
 * count finds: with a list of URLs that is searched from its beginning, and a set that gets one URL after the other.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/books.h"
#include "lab/urls/line_streams.h"
#include "lab/streams/streams.h"
#include "lab/tables.h"
#include "support/runner.h"

enum { URLS = 12000, LINES = 30000, FEW = 3000 };

static void add(lab_streams *streams, const char *line)
{
    int code = lab_streams_add(streams, (vidi_str){line, strlen(line)});
    check(code >= 0, "%s: %s", line, vidi_message());
}

static lab_streams *begin(uint64_t most)
{
    lab_streams *streams;
    assert_int_equal(lab_streams_make(&streams, most), VIDI_OK);
    return streams;
}

/* Which URL is on a line: many come again, some twice in a row, and new ones come until the end. */
static unsigned url_on(unsigned line, unsigned urls)
{
    unsigned newest = (unsigned)((uint64_t)line * urls / LINES);
    return line % 5 == 1 ? newest : line % 5 == 3 ? newest * 7919u % (newest + 1) / 2 : newest;
}

static void add_lines(lab_streams *streams, const char *host, unsigned urls)
{
    char line[100];
    for (unsigned i = 0; i < LINES; i++) {
        unsigned url = url_on(i, urls);
        snprintf(line, sizeof line, "http://%s%u.example/section-%u/page-%u.html", host, url % 40, url % 7, url);
        add(streams, line);
    }
}

static lab_streams *two_streams(void)
{
    lab_streams *streams = begin(1000000);
    assert_int_equal(lab_streams_begin(streams, "folder/first.txt.zst"), VIDI_OK);
    add_lines(streams, "a", URLS);
    assert_int_equal(lab_streams_begin(streams, "second.gz"), VIDI_OK);
    add_lines(streams, "b", FEW);
    assert_int_equal(lab_streams_end(streams), VIDI_OK);
    return streams;
}

static lab_settings settings_of(const lab_streams *streams, uint64_t runs)
{
    return (lab_settings){.urls = LINES, .runs = runs, .seed = 5, .threads = 2, .streams = streams};
}

/* ---- reading ---- */

static void lines_keep_their_order_and_their_repeats(void **state)
{
    static const char *const lines[] = {"http://a.example/", "http://a.example/", "http://b.example/", "", "not a URL",
                                        "http://a.example/", "not a URL",         "HTTP://A.example/"};
    static const uint32_t numbers[] = {0, 0, 1, 2, 0, 2, 3};
    lab_streams *streams = begin(1000);
    (void)state;
    assert_int_equal(lab_streams_begin(streams, "x"), VIDI_OK);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        add(streams, lines[i]);
    assert_int_equal(lab_streams_end(streams), VIDI_OK);
    const lab_stream *stream = lab_stream_at(streams, 0);
    assert_int_equal(stream->lines, 7);
    assert_int_equal(stream->count, 4);
    assert_memory_equal(stream->urls, numbers, sizeof numbers);
    vidi_str second = lab_stream_url(stream, 1), third = lab_stream_url(stream, 2);
    assert_int_equal(second.len, strlen(lines[2]));
    assert_memory_equal(second.ptr, lines[2], second.len);
    assert_int_equal(third.len, strlen("not a URL"));
    assert_null(lab_stream_at(streams, 1));
    lab_streams_free(streams);
}

static void a_stream_has_no_more_lines_than_asked_for(void **state)
{
    lab_streams *streams = begin(3);
    (void)state;
    for (unsigned file = 0; file < 2; file++) {
        assert_int_equal(lab_streams_begin(streams, "x"), VIDI_OK);
        assert_int_equal(lab_streams_add(streams, (vidi_str){"u", 1}), VIDI_OK);
        assert_int_equal(lab_streams_add(streams, (vidi_str){"", 0}), VIDI_OK);
        assert_int_equal(lab_streams_add(streams, (vidi_str){"v", 1}), VIDI_OK);
        assert_int_equal(lab_streams_add(streams, (vidi_str){"u", 1}), LAB_STREAM_FULL);
        assert_int_equal(lab_streams_add(streams, (vidi_str){"w", 1}), LAB_STREAM_FULL);
    }
    assert_int_equal(lab_streams_end(streams), VIDI_OK);
    for (unsigned file = 0; file < 2; file++) {
        assert_int_equal(lab_stream_at(streams, file)->lines, 3);
        assert_int_equal(lab_stream_at(streams, file)->count, 2);
    }
    lab_streams_free(streams);
}

static void rows_are_the_names_of_the_files(void **state)
{
    static const char *const files[] = {
        "/some/where/crawl.txt.zst", "crawl.gz", "-", "a.b.txt", "red \x1b[31m", LAB_ALL_STREAMS, ".txt"};
    static const char *const names[] = {"crawl", "crawl (2)",     "standard input",
                                        "a.b",   "red ?[31m",     LAB_ALL_STREAMS " (2)",
                                        ".txt",  LAB_ALL_STREAMS, NULL};
    lab_streams *streams = begin(10);
    (void)state;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        assert_int_equal(lab_streams_begin(streams, files[i]), VIDI_OK);
        add(streams, "u");
    }
    assert_int_equal(lab_streams_end(streams), VIDI_OK);
    for (size_t i = 0; names[i]; i++)
        assert_string_equal(lab_streams_rows(streams)[i], names[i]);
    assert_null(lab_streams_rows(streams)[8]);
    lab_streams_free(streams);
}

/* A name of characters of two bytes, with one byte before them or not. */
static void long_names_end_with_a_whole_character(void **state)
{
    (void)state;
    for (size_t before = 0; before < 2; before++) {
        char file[160] = "x";
        size_t length = before;
        lab_streams *streams = begin(10);
        for (; length < 140; length += 2)
            memcpy(file + length, "\xC3\xBC", 3);
        assert_int_equal(lab_streams_begin(streams, file), VIDI_OK);
        add(streams, "u");
        assert_int_equal(lab_streams_end(streams), VIDI_OK);
        const char *name = lab_streams_rows(streams)[0];
        length = strlen(name);
        check(length > 60 && length < 64 && length % 2 == before, "the name has %zu bytes", length);
        assert_memory_equal(name, file, length);
        lab_streams_free(streams);
    }
}

static uint64_t mark_of(const char *name, const char *first, const char *second)
{
    lab_streams *streams = begin(10);
    assert_int_equal(lab_streams_begin(streams, name), VIDI_OK);
    add(streams, first);
    add(streams, second);
    assert_int_equal(lab_streams_end(streams), VIDI_OK);
    uint64_t mark = lab_streams_mark(streams);
    lab_streams_free(streams);
    return mark;
}

static void kept_runs_belong_to_the_same_lines(void **state)
{
    uint64_t mark = mark_of("x", "u", "v");
    (void)state;
    assert_true(mark == mark_of("folder/x.txt", "u", "v"));
    assert_true(mark != mark_of("x", "v", "u"));
    assert_true(mark != mark_of("x", "u", "u"));
    assert_true(mark != mark_of("x", "uv", "v"));
    assert_true(mark != mark_of("y", "u", "v"));
}

static void runs_and_streams_have_keys_of_their_own(void **state)
{
    lab_streams *streams = two_streams();
    const lab_stream *first = lab_stream_at(streams, 0), *second = lab_stream_at(streams, 1);
    unsigned char key[4][VIDI_KEY_BYTES];
    (void)state;
    lab_stream_key(key[0], first, 5, 0);
    lab_stream_key(key[1], first, 5, 1);
    lab_stream_key(key[2], first, 6, 0);
    lab_stream_key(key[3], second, 5, 0);
    for (size_t i = 0; i < 4; i++)
        for (size_t j = 0; j < i; j++)
            assert_memory_not_equal(key[i], key[j], VIDI_KEY_BYTES);
    lab_streams_free(streams);
}

/* ---- an independent count ---- */

/* Adds the lines one by one and counts those that are "seen" although no line before had that URL. */
static double count_again(const lab_stream *stream, const char *kind, double bits, const uint32_t *order,
                          const lab_settings *settings, uint64_t run, double *in_tenths)
{
    unsigned char key[VIDI_KEY_BYTES];
    const char **before = calloc(stream->lines, sizeof *before);
    size_t lost = 0, known = 0;
    lab_fitted fitted;
    vidi_options options = VIDI_OPTIONS_INIT;
    vidi_set *set;
    assert_int_equal(lab_stream_fit(&fitted, stream, kind, bits), VIDI_OK);
    assert_true(fitted.fits);
    lab_stream_key(key, stream, settings->seed, run);
    options.kind = kind;
    options.params = fitted.plan.params;
    options.capacity = stream->count;
    options.key = key;
    options.canon = "none";
    assert_int_equal(vidi_create(&set, &options), VIDI_OK);
    for (uint64_t i = 0; i < stream->lines; i++) {
        vidi_str url = lab_stream_url(stream, stream->urls[order ? order[i] : i]);
        size_t at = 0;
        while (at < known && (strncmp(before[at], url.ptr, url.len) != 0 || before[at][url.len] != 0))
            at++;
        bool seen = vidi_add(set, url) == VIDI_SEEN;
        check(at == known || seen, "line %llu is a repeat and new", (unsigned long long)i);
        if (at < known)
            continue;
        before[known++] = strndup(url.ptr, url.len);
        lost += seen;
        if (in_tenths)
            in_tenths[i * LAB_TENTHS / stream->lines] += seen;
    }
    vidi_close(set);
    for (size_t i = 0; i < known; i++)
        free((char *)before[i]);
    free(before);
    return (double)lost;
}

/* The number of a cell in a run. */
static double number_at(const lab_numbers *numbers, uint64_t run, const char *row, const char *column)
{
    size_t at[2] = {0, 0}, columns = lab_study_columns(numbers->study);
    while (strcmp(numbers->study->rows[at[0]], row) != 0)
        at[0]++;
    while (strcmp(numbers->study->columns[at[1]], column) != 0)
        at[1]++;
    return numbers->numbers[(run * lab_study_rows(numbers->study) + at[0]) * columns + at[1]];
}

static void must_equal(double counted, double number, const char *what)
{
    check(fabs(counted - number) < 0.5, "%s: counted %g, in the table %g", what, counted, number);
}

static void lost_is_seen_at_the_first_line_of_a_url(void **state)
{
    lab_streams *streams = two_streams();
    lab_settings settings = settings_of(streams, 2);
    lab_numbers file = numbers_of("streams-8", &settings), shuffled = numbers_of("streams-8-shuffled", &settings);
    const lab_stream *stream = lab_stream_at(streams, 1);
    uint32_t *order = malloc(stream->lines * sizeof *order);
    (void)state;
    assert_int_equal(stream->lines, LINES);
    assert_int_equal(stream->count, FEW);
    for (uint64_t run = 0; run < 2; run++) {
        must_equal(count_again(stream, "classic", 8, NULL, &settings, run, NULL),
                   number_at(&file, run, "second", "classic"), "classic");
        must_equal(count_again(stream, "spatial", 8, NULL, &settings, run, NULL),
                   number_at(&file, run, "second", "spatial"), "spatial");
    }
    lab_stream_shuffle(order, stream, settings.seed, 1);
    must_equal(count_again(stream, "spatial", 8, order, &settings, 1, NULL),
               number_at(&shuffled, 1, "second", "spatial"), "shuffled");
    must_equal(number_at(&file, 1, "first", "classic") + number_at(&file, 1, "second", "classic"),
               number_at(&file, 1, LAB_ALL_STREAMS, "classic"), LAB_ALL_STREAMS);
    free(order);
    lab_numbers_free(&file);
    lab_numbers_free(&shuffled);
    lab_streams_free(streams);
}

static void tenths_add_up_to_what_is_lost(void **state)
{
    lab_streams *streams = two_streams();
    lab_settings settings = settings_of(streams, 1);
    lab_numbers when = numbers_of("streams-by-tenth", &settings), lost = numbers_of("streams-8", &settings);
    double counted[LAB_TENTHS] = {0}, sum = 0;
    (void)state;
    count_again(lab_stream_at(streams, 1), "classic", 8, NULL, &settings, 0, counted);
    for (size_t i = 0; i < LAB_TENTHS; i++) {
        must_equal(counted[i], number_at(&when, 0, "second", lab_streams_tenths[i]), lab_streams_tenths[i]);
        sum += number_at(&when, 0, LAB_ALL_STREAMS, lab_streams_tenths[i]);
    }
    must_equal(sum, number_at(&lost, 0, LAB_ALL_STREAMS, "classic"), "the sum");
    lab_numbers_free(&when);
    lab_numbers_free(&lost);
    lab_streams_free(streams);
}

/* ---- theory ---- */

static void every_cell_fits_theory(void **state)
{
    static const char *const ids[] = {"streams-8",       "streams-16",     "streams-64",       "streams-8-shuffled",
                                      "streams-repeats", "streams-memory", "streams-by-tenth", "streams-canon"};
    lab_streams *streams = two_streams();
    lab_settings settings = settings_of(streams, 3);
    (void)state;
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
        lab_table table = table_of(ids[i], &settings);
        none_fails(&table);
        if (strcmp(ids[i], "streams-8") == 0) {
            const lab_entry *entry = entry_of(&table, "first", "classic");
            double theory = lab_filling_theory(URLS, URLS * 8, 6, 1).mean / URLS * 1e6;
            check(entry->theory > theory && entry->theory < 1.5 * theory, "theory %g, without the constant part %g",
                  entry->theory, theory);
            check(!isnan(entry->z) && fabs(entry->z) < LAB_Z_MOST, "z = %g", entry->z);
            assert_int_equal(entry_of(&table, "first", "multilayer")->theory_sort, LAB_BOUND);
        }
        lab_table_free(&table);
    }
    lab_streams_free(streams);
}

static void sets_take_the_memory_that_they_were_given(void **state)
{
    lab_streams *streams = two_streams();
    lab_settings settings = settings_of(streams, 1);
    lab_table table = table_of("streams-memory", &settings);
    (void)state;
    for (size_t i = 0; lab_stream_kinds[i]; i++) {
        const lab_entry *entry = entry_of(&table, "first", lab_stream_kinds[i]);
        check(entry->measured > 0.9 * entry->theory && entry->measured <= 1.005 * entry->theory + 0.1,
              "%s: %g bits per URL of %g", entry->column, entry->measured, entry->theory);
    }
    lab_table_free(&table);
    lab_streams_free(streams);
}

static void a_set_that_takes_too_much_memory_is_noticed(void **state)
{
    lab_streams *streams = two_streams();
    lab_settings settings = settings_of(streams, 1);
    const lab_stream *stream = lab_stream_at(streams, 0);
    lab_sequence sequence;
    lab_fitted fitted;
    lab_pass pass;
    (void)state;
    assert_int_equal(lab_stream_fit(&fitted, stream, "classic", 8), VIDI_OK);
    assert_int_equal(lab_sequence_make(&sequence, stream, LAB_FILE_ORDER, &settings, 0), VIDI_OK);
    assert_int_equal(lab_stream_pass(&pass, stream, &sequence, &fitted, &settings, 0), VIDI_OK);
    assert_false(pass.exceeds);
    fitted.budget -= fitted.budget / 5;
    assert_int_equal(lab_stream_pass(&pass, stream, &sequence, &fitted, &settings, 0), VIDI_OK);
    assert_true(pass.exceeds);
    lab_sequence_free(&sequence);
    lab_streams_free(streams);
}

/* ---- what streams are ---- */

static lab_streams *odd_streams(void)
{
    static const char *const lines[] = {"http://a.example/",      "http://a.example/",
                                        "HTTP://A.example:80/",   "http://a.example",
                                        "http://u@b.example/",    "https://b.example:81/x?u=://c",
                                        "http://a.example/#part", "not a URL",
                                        "http://c.example/p",     "http://c.example/p?utm_source=x"};
    lab_streams *streams = begin(100);
    assert_int_equal(lab_streams_begin(streams, "empty"), VIDI_OK);
    assert_int_equal(lab_streams_begin(streams, "odd"), VIDI_OK);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        add(streams, lines[i]);
    assert_int_equal(lab_streams_end(streams), VIDI_OK);
    return streams;
}

static void lines_urls_and_hosts_are_counted(void **state)
{
    lab_streams *streams = odd_streams();
    lab_settings settings = settings_of(streams, 1);
    lab_table table = table_of("streams-properties", &settings);
    (void)state;
    must_equal(10, entry_of(&table, "odd", "lines")->measured, "lines");
    must_equal(9, entry_of(&table, "odd", "different URLs")->measured, "different URLs");
    must_equal(4, entry_of(&table, "odd", "hosts")->measured, "hosts: A.example, a, b and c");
    assert_true(fabs(entry_of(&table, "odd", "% of the URLs at the largest host")->measured - 300.0 / 9) < 1e-9);
    must_equal(0, entry_of(&table, "empty", "lines")->measured, "lines of the empty stream");
    must_equal(9, entry_of(&table, LAB_ALL_STREAMS, "different URLs")->measured, LAB_ALL_STREAMS);
    lab_table_free(&table);
    lab_streams_free(streams);
}

static void spellings_of_a_page_are_repeats_in_its_canonical_form(void **state)
{
    lab_streams *streams = odd_streams();
    lab_settings settings = settings_of(streams, 1);
    lab_table table = table_of("streams-canon", &settings);
    (void)state;
    none_fails(&table);
    must_equal(100 * 1.0 / 10, entry_of(&table, "odd", "none")->measured, "none");
    must_equal(100 * 4.0 / 10, entry_of(&table, "odd", "whatwg")->measured, "whatwg: port, case, empty path, part");
    must_equal(100 * 5.0 / 10, entry_of(&table, "odd", "crawl")->measured, "crawl: tracking as well");
    assert_true(isnan(entry_of(&table, "empty", "none")->measured));
    lab_table_free(&table);
    lab_streams_free(streams);
}

static void small_and_empty_streams_have_cells_without_numbers(void **state)
{
    lab_streams *streams = odd_streams();
    lab_settings settings = settings_of(streams, 2);
    const lab_study *study;
    (void)state;
    for (size_t i = 0; (study = lab_study_at(i)); i++)
        if (study->streams) {
            lab_table table = table_of(study->id, &settings);
            none_fails(&table);
            assert_int_equal(table.rows, 3);
            lab_table_free(&table);
        }
    lab_streams_free(streams);
}

/* ---- books ---- */

static void without_streams_the_studies_are_left_out_or_an_error(void **state)
{
    static const char *const named[] = {"streams-properties"};
    lab_settings settings = settings_of(NULL, 1);
    lab_book book;
    (void)state;
    assert_int_equal(lab_book_measure(&book, named, 1, &settings), VIDI_EOPTION);
    assert_non_null(strstr(vidi_message(), "--streams"));
    lab_book_free(&book);
    settings.streams = odd_streams();
    assert_int_equal(lab_book_measure(&book, named, 1, &settings), VIDI_OK);
    assert_int_equal(book.count, 1);
    assert_string_equal(book.tables[0].entries[0].row, "empty");
    lab_book_free(&book);
    lab_streams_free((lab_streams *)settings.streams);
}

static void runs_do_not_depend_on_threads(void **state)
{
    lab_streams *streams = two_streams();
    lab_settings settings = settings_of(streams, 3);
    lab_numbers two = numbers_of("streams-8-shuffled", &settings);
    settings.threads = 1;
    lab_numbers one = numbers_of("streams-8-shuffled", &settings);
    (void)state;
    for (size_t i = 0; i < 3 * cells_of(one.study); i++)
        assert_true(isnan(one.numbers[i]) ? isnan(two.numbers[i]) : fabs(one.numbers[i] - two.numbers[i]) < 0.5);
    check(fabs(number_at(&one, 0, "first", "counting") - number_at(&one, 1, "first", "counting")) > 0.5,
          "two runs lost the same number of pages");
    lab_numbers_free(&one);
    lab_numbers_free(&two);
    lab_streams_free(streams);
}

int main(int argc, char **argv)
{
    test_add("lines keep their order and their repeats", lines_keep_their_order_and_their_repeats, NULL);
    test_add("a stream has no more lines than asked for", a_stream_has_no_more_lines_than_asked_for, NULL);
    test_add("rows are the names of the files", rows_are_the_names_of_the_files, NULL);
    test_add("long names end with a whole character", long_names_end_with_a_whole_character, NULL);
    test_add("kept runs belong to the same lines", kept_runs_belong_to_the_same_lines, NULL);
    test_add("runs and streams have keys of their own", runs_and_streams_have_keys_of_their_own, NULL);
    test_add("lost is seen at the first line of a URL", lost_is_seen_at_the_first_line_of_a_url, NULL);
    test_add("tenths add up to what is lost", tenths_add_up_to_what_is_lost, NULL);
    test_add("every cell fits theory", every_cell_fits_theory, NULL);
    test_add("sets take the memory that they were given", sets_take_the_memory_that_they_were_given, NULL);
    test_add("a set that takes too much memory is noticed", a_set_that_takes_too_much_memory_is_noticed, NULL);
    test_add("lines, URLs and hosts are counted", lines_urls_and_hosts_are_counted, NULL);
    test_add("spellings of a page are repeats in its canonical form",
             spellings_of_a_page_are_repeats_in_its_canonical_form, NULL);
    test_add("small and empty streams have cells without numbers", small_and_empty_streams_have_cells_without_numbers,
             NULL);
    test_add("without streams the studies are left out or an error",
             without_streams_the_studies_are_left_out_or_an_error, NULL);
    test_add("runs do not depend on threads", runs_do_not_depend_on_threads, NULL);
    return test_run("lab/streams", argc, argv);
}
