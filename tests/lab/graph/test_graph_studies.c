/* Synthetic graphs, and the studies of crawls over them: counted again by code written apart, and judged both ways. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/engine/run_memory.h"
#include "lab/books.h"
#include "lab/graph/graph.h"
#include "lab/tables.h"
#include "support/check.h"
#include "support/runner.h"

static const lab_graph_form usual = {7.6, 0.75, 2.1};

static lab_graph made_graph(const lab_graph_form *form, uint64_t pages, uint64_t seed, uint64_t run)
{
    lab_settings settings = {.urls = pages, .seed = seed};
    lab_graph graph;
    check(lab_graph_synthetic(&graph, form, pages, &settings, run) == VIDI_OK, "%s", vidi_message());
    return graph;
}

/* ---- synthetic graphs ---- */

static bool same_graph(const lab_graph *a, const lab_graph *b)
{
    return a->pages == b->pages && memcmp(a->first, b->first, (a->pages + 1) * sizeof *a->first) == 0 &&
           memcmp(a->to, b->to, lab_graph_links(a) * sizeof *a->to) == 0 &&
           memcmp(a->host, b->host, a->pages * sizeof *a->host) == 0;
}

static void a_graph_follows_from_seed_and_run(void **state)
{
    LAB_BLOCK;
    lab_graph one = made_graph(&usual, 2000, 4, 1), again = made_graph(&usual, 2000, 4, 1);
    lab_graph other_seed = made_graph(&usual, 2000, 5, 1), other_run = made_graph(&usual, 2000, 4, 2);
    (void)state;
    assert_true(same_graph(&one, &again));
    assert_false(same_graph(&one, &other_seed));
    assert_false(same_graph(&one, &other_run));
}

static void all_pages_are_in_reach_of_the_seeds(void **state)
{
    LAB_BLOCK;
    static const lab_graph_form forms[] = {{1.7, 0.5, 2.1}, {1.7, 0.95, 2.1}, {7.6, 0.75, 2.7}, {3, 0.95, 0}};
    uint8_t *reached = malloc(5000);
    uint32_t *queue = malloc(5000 * sizeof *queue);
    (void)state;
    assert_non_null(reached);
    assert_non_null(queue);
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        for (uint64_t run = 0; run < 5; run++) {
            lab_graph graph = made_graph(&forms[i], 5000, 1, run);
            assert_int_equal(lab_graph_reached(&graph, reached, queue), 5000);
        }
    free(reached);
    free(queue);
}

static void graphs_are_what_was_asked_for(void **state)
{
    lab_settings settings = {.urls = 500000, .runs = 2, .seed = 3, .threads = 1};
    lab_table table = table_of("graph-properties", &settings);
    (void)state;
    for (size_t row = 0; lab_graph_names[row]; row++) {
        const lab_entry *links = entry_of(&table, lab_graph_names[row], "links per page");
        const lab_entry *local = entry_of(&table, lab_graph_names[row], "links within the host, %");
        if (strcmp(lab_graph_names[row], "from files") == 0) {
            assert_true(isnan(links->measured));
            continue;
        }
        check(fabs(links->measured / links->theory - 1) < 0.03, "%s: %g links", links->row, links->measured);
        check(fabs(local->measured - local->theory) < 1, "%s: %g %% local", local->row, local->measured);
    }
    const char *fact = "exponent of the links to a page";
    double steep = entry_of(&table, "equally popular", fact)->measured;
    double middle = entry_of(&table, "exponent 2.7", fact)->measured,
           flat = entry_of(&table, "50 % local", fact)->measured;
    check(flat < middle && middle < steep, "exponents %g, %g and %g", flat, middle, steep);
    lab_table_free(&table);
}

static void graphs_without_room_for_seeds_are_refused(void **state)
{
    LAB_BLOCK;
    lab_settings settings = {.urls = 10, .seed = 1};
    lab_graph graph;
    (void)state;
    assert_int_equal(lab_graph_synthetic(&graph, &usual, LAB_GRAPH_SEEDS, &settings, 0), VIDI_EARGUMENT);
}

/* ---- studies ---- */

/* Counts losses by tenths with single calls, a plain queue and a table of what was met. */
static void count_apart(const lab_graph *graph, const lab_settings *settings, double tenths[LAB_TENTHS], double *met)
{
    uint32_t *queue = malloc(graph->pages * sizeof *queue), head = 0, tail = 0, count = 0;
    uint8_t *known = calloc(graph->pages, 1), *lost = calloc(graph->pages, 1);
    vidi_set *set;
    char params[64];
    snprintf(params, sizeof params, "k=3,m=%llu", 6 * (unsigned long long)graph->pages);
    assert_true(queue && known && lost);
    assert_int_equal(lab_set_make(&set, settings, 0, "classic", params, graph->pages), VIDI_OK);
    for (uint32_t seed = 0; seed < LAB_GRAPH_SEEDS; seed++) {
        lost[count++] = vidi_add(set, graph->texts.urls[seed]) == VIDI_SEEN;
        known[seed] = 1;
        if (!lost[count - 1])
            queue[tail++] = seed;
    }
    for (; head < tail; head++)
        for (uint64_t i = graph->first[queue[head]]; i < graph->first[queue[head] + 1]; i++) {
            uint32_t page = graph->to[i];
            bool seen = vidi_add(set, graph->texts.urls[page]) == VIDI_SEEN;
            if (known[page]) {
                assert_true(seen);
                continue;
            }
            known[page] = 1;
            lost[count++] = seen;
            if (!seen)
                queue[tail++] = page;
        }
    for (uint32_t i = 0; i < LAB_TENTHS; i++) {
        tenths[i] = 0;
        for (uint32_t j = count * i / 10; j < count * (i + 1) / 10; j++)
            tenths[i] += lost[j];
    }
    *met = count;
    vidi_close(set);
    free(queue);
    free(known);
    free(lost);
}

static void losses_are_those_that_single_calls_lose(void **state)
{
    LAB_BLOCK;
    lab_settings settings = {.urls = 100000, .runs = 1, .seed = 8, .threads = 1};
    lab_numbers numbers = numbers_of("graph-by-tenth", &settings), told = numbers_of("graph-expected", &settings);
    lab_graph graph = made_graph(&usual, 4000, 8, 0);
    double tenths[LAB_TENTHS], met, sum = 0;
    (void)state;
    count_apart(&graph, &settings, tenths, &met);
    for (size_t i = 0; i < LAB_TENTHS; i++) {
        sum += tenths[i];
        check(fabs(numbers.numbers[i * LAB_ORDERS] - tenths[i]) < 0.5, "tenth %zu: %g, not %g", i,
              numbers.numbers[i * LAB_ORDERS], tenths[i]);
    }
    check(sum > 20, "only %g pages are lost", sum);
    check(fabs(numbers.numbers[LAB_TENTHS * LAB_ORDERS] - met) < 0.5, "%g pages met, not %g",
          numbers.numbers[LAB_TENTHS * LAB_ORDERS], met);
    check(fabs(told.numbers[2 * 3] - sum) < 0.5, "%g lost, not %g", told.numbers[2 * 3], sum);
    check(fabs(told.numbers[2 * 3 + 2] - (4000 - met)) < 0.5, "%g lost with them", told.numbers[2 * 3 + 2]);
    lab_numbers_free(&numbers);
    lab_numbers_free(&told);
}

static void crawls_come_out_as_theory_says(void **state)
{
    static const char *const ids[] = {"graph-by-tenth", "graph-expected"};
    lab_settings settings = {.urls = 100000, .runs = 12, .seed = 2, .threads = 2};
    (void)state;
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
        lab_table table = table_of(ids[i], &settings);
        none_fails(&table);
        lab_table_free(&table);
    }
}

/* What is measured is the ratio of the raw figures; rows of raw figures are not shown; theory is near. */
static void pages_missing_are_divided_by_pages_lost(void **state)
{
    lab_settings settings = {.urls = 100000, .runs = 6, .seed = 2, .threads = 2};
    lab_numbers numbers = numbers_of("graph-order", &settings);
    lab_table table = table_from(&numbers);
    size_t columns = lab_study_columns(numbers.study), cells = cells_of(numbers.study), column = 1;
    double missing = 0, lost = 0;
    (void)state;
    assert_string_equal(numbers.study->rows[3], "breadth first: lost directly");
    for (size_t run = 0; run < settings.runs; run++) {
        missing += numbers.numbers[run * cells + column];
        lost += numbers.numbers[run * cells + 3 * columns + column];
    }
    const lab_entry *entry = entry_of(&table, "breadth first", "3 links");
    check(lost > 0 && fabs(entry->measured - missing / lost) < 1e-9, "%g, not %g", entry->measured, missing / lost);
    assert_true(entry->low < entry->measured && entry->measured < entry->high);
    check(fabs(entry->measured / entry->theory - 1) < 0.25, "%g, theory %g", entry->measured, entry->theory);
    for (size_t row = 3; row < table.rows; row++)
        for (size_t i = 0; i < columns; i++)
            assert_true(isnan(table.entries[row * columns + i].measured));
    assert_true(isnan(entry_of(&table, "per host", "from files")->measured));
    lab_table_free(&table);
    lab_numbers_free(&numbers);
}

/* Classes by depth divide all pages, and so do the others; their average is 1. */
static void classes_divide_all_pages(void **state)
{
    static const size_t begins[] = {0, 6, 10, 14};
    lab_settings settings = {.urls = 100000, .runs = 3, .seed = 2, .threads = 2};
    lab_numbers numbers = numbers_of("graph-by-page", &settings);
    lab_table table = table_from(&numbers);
    size_t classes = cells_of(numbers.study) / LAB_ORDERS / 3;
    (void)state;
    assert_int_equal(classes, begins[3]);
    for (size_t order = 0; order < LAB_ORDERS; order++)
        for (size_t sort = 0; sort < 3; sort++) {
            double pages = 0, average = 0, expected = 0;
            for (size_t i = begins[sort]; i < begins[sort + 1]; i++) {
                double share = numbers.numbers[(2 * classes + i) * LAB_ORDERS + order] / 4000;
                const lab_entry *entry = &table.entries[i * LAB_ORDERS + order];
                double of_all = 0;
                for (size_t run = 0; run < settings.runs; run++)
                    of_all += numbers.numbers[run * cells_of(numbers.study) + (2 * classes + i) * LAB_ORDERS + order];
                pages += share;
                average += of_all > 0 ? entry->measured * of_all / 12000 : 0;
                expected += of_all > 0 ? entry->theory * of_all / 12000 : 0;
            }
            check(fabs(pages - 1) < 1e-9, "sort %zu: %g of the pages", sort, pages);
            check(fabs(average - 1) < 1e-9, "sort %zu: average %g", sort, average);
            check(fabs(expected - 1) < 1e-9, "sort %zu: expected average %g", sort, expected);
        }
    lab_table_free(&table);
    lab_numbers_free(&numbers);
}

static void a_graph_from_files_fills_its_columns(void **state)
{
    static const char *const lines[] = {"http://a/\t/b", "http://a/\t/c", "http://a/b\thttp://d/", "http://a/x\t/c"};
    static const char *const file = "made";
    lab_graph *graph;
    (void)state;
    assert_int_equal(lab_graph_make(&graph, &file, 1), VIDI_OK);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        assert_int_equal(lab_graph_add(graph, (vidi_str){lines[i], strlen(lines[i])}), VIDI_OK);
    assert_int_equal(lab_graph_end(graph), VIDI_OK);
    lab_settings settings = {.urls = 2500, .runs = 2, .seed = 2, .threads = 1, .graph = graph};
    lab_table table = table_of("graph-properties", &settings);
    check(fabs(entry_of(&table, "from files", "pages in reach")->measured - 5) < 1e-9, "not all pages are in reach");
    check(fabs(entry_of(&table, "from files", "greatest depth")->measured - 2) < 1e-9, "depth is wrong");
    lab_table_free(&table);
    lab_graph_free(graph);
}

/* Two graphs of the same form in one process: the second scene is not the first one's graph. */
static void a_scene_changes_with_its_form(void **state)
{
    LAB_BLOCK;
    static const lab_graph_form other = {3, 0.75, 2.1};
    lab_settings settings = {.urls = 25000, .runs = 1, .seed = 2};
    lab_scene scene = {.graph = NULL};
    (void)state;
    assert_int_equal(lab_scene_set(&scene, &usual, &settings, 0), VIDI_OK);
    uint64_t links = lab_graph_links(scene.graph);
    const uint32_t *to = scene.graph->to;
    assert_int_equal(lab_scene_set(&scene, &usual, &settings, 0), VIDI_OK);
    assert_ptr_equal(scene.graph->to, to);
    assert_int_equal(lab_scene_set(&scene, &other, &settings, 0), VIDI_OK);
    assert_true(lab_graph_links(scene.graph) < links);
}

/* ---- claims ---- */

static void claims_without_tables_stay_unjudged(void **state)
{
    lab_book empty = {.count = 0};
    char sentence[SENTENCE_ROOM];
    (void)state;
    for (const lab_claim *claim = lab_graph_claims; claim->id; claim++)
        assert_int_equal(lab_claim_judged(claim, &empty, sentence, sizeof sentence), LAB_UNJUDGED);
}

static void claims_on_when_and_whose_follow_the_figures(void **state)
{
    static const char *const ids[] = {"graph-by-tenth", "graph-by-page"};
    lab_book book = book_of(ids, 2);
    (void)state;
    book_set(&book, "graph-by-tenth", NULL, NULL, 8000);
    book_set(&book, "graph-by-tenth", "last tenth", NULL, 54000);
    must_hold(&book, "graph-late", LAB_HOLDS);
    book_set(&book, "graph-by-tenth", "last tenth", "per host", 20000);
    must_hold(&book, "graph-late", LAB_DOES_NOT_HOLD);
    book_set(&book, "graph-by-page", NULL, NULL, 1);
    must_hold(&book, "graph-by-page", LAB_DOES_NOT_HOLD);
    must_hold(&book, "graph-rare", LAB_DOES_NOT_HOLD);
    book_set(&book, "graph-by-page", "2 or more above the mean depth", NULL, 3);
    book_set(&book, "graph-by-page", "sites of 1 to 9 pages", "breadth first", 1.4);
    book_set(&book, "graph-by-page", "sites of 1,000 pages or more", "per host", 2);
    book_set(&book, "graph-by-page", "sites of 1 to 9 pages", "per host", 0.7);
    book_set(&book, "graph-by-page", "1 link to the page", NULL, 2.4);
    must_hold(&book, "graph-by-page", LAB_HOLDS);
    must_hold(&book, "graph-rare", LAB_HOLDS);
    book_set(&book, "graph-by-page", "sites of 1,000 pages or more", "per host", 1.2);
    book_set(&book, "graph-by-page", "1 link to the page", "best first", 1.9);
    must_hold(&book, "graph-by-page", LAB_DOES_NOT_HOLD);
    must_hold(&book, "graph-rare", LAB_DOES_NOT_HOLD);
    lab_book_free(&book);
}

static void set_theory(lab_book *book, const char *id, double theory)
{
    const lab_table *table = lab_book_find(book, id);
    for (size_t i = 0; i < table->rows * table->columns; i++)
        table->entries[i].theory = theory;
}

/* Widens the interval of a cell, so that nothing follows from it. */
static void blur(lab_book *book, const char *id, const char *row, const char *column)
{
    const lab_table *table = lab_book_find(book, id);
    for (size_t i = 0; i < table->rows * table->columns; i++)
        if (strcmp(table->entries[i].row, row) == 0 && strcmp(table->entries[i].column, column) == 0) {
            table->entries[i].low = 0.3 * table->entries[i].measured;
            table->entries[i].high = 3 * table->entries[i].measured;
        }
}

static void claims_on_compounding_follow_the_figures(void **state)
{
    static const char *const ids[] = {"graph-order", "graph-locality", "graph-errors", "graph-expected"};
    lab_book book = book_of(ids, 4);
    (void)state;
    book_set(&book, "graph-order", NULL, NULL, 1.02);
    book_set(&book, "graph-locality", NULL, NULL, 1.02);
    must_hold(&book, "graph-few", LAB_DOES_NOT_HOLD);
    must_hold(&book, "graph-many", LAB_HOLDS);
    must_hold(&book, "graph-order", LAB_HOLDS);
    book_set(&book, "graph-order", NULL, "1.7 links", 3.8);
    book_set(&book, "graph-order", "per host", "1.7 links", 4.3);
    book_set(&book, "graph-locality", "95 % local", "15 links", 1.14);
    must_hold(&book, "graph-few", LAB_HOLDS);
    must_hold(&book, "graph-many", LAB_CONDITIONS);
    must_hold(&book, "graph-order", LAB_CONDITIONS);
    blur(&book, "graph-order", "per host", "1.7 links");
    must_hold(&book, "graph-few", LAB_UNJUDGED);
    must_hold(&book, "graph-order", LAB_UNJUDGED);
    book_set(&book, "graph-order", "best first", "15 links", 1.12);
    must_hold(&book, "graph-many", LAB_DOES_NOT_HOLD);
    must_hold(&book, "graph-order", LAB_DOES_NOT_HOLD);
    book_set(&book, "graph-errors", NULL, NULL, 1.5);
    set_theory(&book, "graph-errors", 1.45);
    must_hold(&book, "graph-dominators", LAB_HOLDS);
    set_theory(&book, "graph-errors", 1.2);
    must_hold(&book, "graph-dominators", LAB_DOES_NOT_HOLD);
    book_set(&book, "graph-expected", NULL, NULL, 15000);
    book_set(&book, "graph-expected", "1.7 links", "lost with them", 42000);
    must_hold(&book, "graph-expected", LAB_HOLDS);
    book_set(&book, "graph-expected", "1.7 links", "lost with them", 10000);
    must_hold(&book, "graph-expected", LAB_DOES_NOT_HOLD);
    book_set(&book, "graph-expected", "1.7 links", "lost with them", 42000);
    book_set(&book, "graph-expected", "7.6 links", "reported", 18000);
    must_hold(&book, "graph-expected", LAB_DOES_NOT_HOLD);
    lab_book_free(&book);
}

int main(int argc, char **argv)
{
    test_add("a graph follows from seed and run", a_graph_follows_from_seed_and_run, NULL);
    test_add("all pages are in reach of the seeds", all_pages_are_in_reach_of_the_seeds, NULL);
    test_add("graphs are what was asked for", graphs_are_what_was_asked_for, NULL);
    test_add("graphs without room for seeds are refused", graphs_without_room_for_seeds_are_refused, NULL);
    test_add("losses are those that single calls lose", losses_are_those_that_single_calls_lose, NULL);
    test_add_once("crawls come out as theory says", crawls_come_out_as_theory_says, NULL);
    test_add("pages missing are divided by pages lost", pages_missing_are_divided_by_pages_lost, NULL);
    test_add("classes divide all pages", classes_divide_all_pages, NULL);
    test_add("a graph from files fills its columns", a_graph_from_files_fills_its_columns, NULL);
    test_add("a scene changes with its form", a_scene_changes_with_its_form, NULL);
    test_add("claims without tables stay unjudged", claims_without_tables_stay_unjudged, NULL);
    test_add("claims on when and whose follow the figures", claims_on_when_and_whose_follow_the_figures, NULL);
    test_add("claims on compounding follow the figures", claims_on_compounding_follow_the_figures, NULL);
    return test_run("lab/graph/studies", argc, argv);
}
