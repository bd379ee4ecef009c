/* The claims about streams, on made-up figures. */
#include "lab/books.h"
#include "lab/urls/line_streams.h"
#include "support/runner.h"

static const char *const studies[] = {"streams-properties", "streams-canon",   "streams-8",       "streams-64",
                                      "streams-8-shuffled", "streams-repeats", "streams-by-tenth"};

enum { STUDIES = sizeof studies / sizeof *studies };

/* All kinds lose what theory says, and the same when shuffled. */
static lab_book sound_book(void)
{
    lab_book book = book_of(studies, STUDIES);
    book_set(&book, "streams-8", NULL, NULL, 4000);
    book_set(&book, "streams-8-shuffled", NULL, NULL, 4010);
    const lab_table *table = lab_book_find(&book, "streams-8");
    for (size_t i = 0; i < table->rows * table->columns; i++)
        table->entries[i].theory = 4001;
    return book;
}

static lab_entry *cell(const lab_book *book, const char *id, const char *row, const char *column)
{
    lab_entry *entry = (lab_entry *)lab_book_entry(book, id, row, column);
    check(entry != NULL, "%s has no figure for %s, %s", id, row, column);
    return entry;
}

static void widen(lab_entry *entry, double share)
{
    entry->low = (1 - share) * entry->measured;
    entry->high = (1 + share) * entry->measured;
}

static void nothing_is_judged_without_figures(void **state)
{
    lab_book book = book_of(studies, STUDIES);
    (void)state;
    for (const lab_claim *claim = lab_streams_claims; claim->id; claim++)
        must_hold(&book, claim->id, LAB_UNJUDGED);
    lab_book_free(&book);
}

static void theory_and_order_follow_the_figures(void **state)
{
    static const char *const kinds[] = {"classic", "blocked", "scalable", "spatial", "counting"};
    lab_book book = sound_book();
    (void)state;
    must_hold(&book, "streams-theory", LAB_HOLDS);
    must_hold(&book, "streams-order", LAB_HOLDS);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        book_set(&book, "streams-8-shuffled", LAB_ALL_STREAMS, kinds[i], 4400);
        must_hold(&book, "streams-order", LAB_DOES_NOT_HOLD);
        book_set(&book, "streams-8-shuffled", LAB_ALL_STREAMS, kinds[i], 4000);
        cell(&book, "streams-8", LAB_ALL_STREAMS, kinds[i])->theory = 4400;
        must_hold(&book, "streams-theory", LAB_DOES_NOT_HOLD);
        cell(&book, "streams-8", LAB_ALL_STREAMS, kinds[i])->theory = 4000;
    }
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        widen(cell(&book, "streams-8", LAB_ALL_STREAMS, kinds[i]), 0.05);
    must_hold(&book, "streams-theory", LAB_UNJUDGED);
    must_hold(&book, "streams-order", LAB_UNJUDGED);
    lab_book_free(&book);
}

static void repeats_follow_the_figures(void **state)
{
    lab_book book = sound_book();
    (void)state;
    book_set(&book, "streams-repeats", NULL, NULL, 0);
    book_set(&book, "streams-properties", NULL, NULL, 1000);
    must_hold(&book, "streams-repeats", LAB_HOLDS);
    cell(&book, "streams-repeats", "each stream", "eigen")->measured = -1;
    must_hold(&book, "streams-repeats", LAB_DOES_NOT_HOLD);
    lab_book_free(&book);
}

static void kinds_that_take_urls_apart_follow_the_figures(void **state)
{
    lab_book book = sound_book();
    (void)state;
    must_hold(&book, "streams-multilayer", LAB_DOES_NOT_HOLD);
    book_set(&book, "streams-8", NULL, "multilayer", 24000);
    must_hold(&book, "streams-multilayer", LAB_HOLDS);
    widen(cell(&book, "streams-8", "each stream", "multilayer"), 0.2);
    must_hold(&book, "streams-multilayer", LAB_UNJUDGED);

    book_set(&book, "streams-8", NULL, "multilayer", 24000);
    book_set(&book, "streams-8-shuffled", NULL, "multilayer", 24000);
    must_hold(&book, "streams-apart", LAB_DOES_NOT_HOLD);
    book_set(&book, "streams-8-shuffled", "each stream", "multilayer", 30000);
    must_hold(&book, "streams-apart", LAB_CONDITIONS);
    book_set(&book, "streams-8-shuffled", "each stream", "eigen", 3700);
    must_hold(&book, "streams-apart", LAB_HOLDS);
    widen(cell(&book, "streams-8", "each stream", "eigen"), 0.2);
    must_hold(&book, "streams-apart", LAB_UNJUDGED);
    lab_book_free(&book);
}

static void the_choice_of_a_kind_follows_the_figures(void **state)
{
    lab_book book = sound_book();
    (void)state;
    must_hold(&book, "streams-papers", LAB_HOLDS);
    book_set(&book, "streams-8", NULL, "spatial", 3500);
    must_hold(&book, "streams-papers", LAB_DOES_NOT_HOLD);
    widen(cell(&book, "streams-8", LAB_ALL_STREAMS, "spatial"), 0.2);
    must_hold(&book, "streams-papers", LAB_UNJUDGED);

    book_set(&book, "streams-64", NULL, NULL, 0.1);
    must_hold(&book, "streams-default", LAB_HOLDS);
    book_set(&book, "streams-64", NULL, NULL, 20);
    must_hold(&book, "streams-default", LAB_DOES_NOT_HOLD);
    widen(cell(&book, "streams-64", LAB_ALL_STREAMS, "fingerprint"), 0.9);
    must_hold(&book, "streams-default", LAB_UNJUDGED);
    lab_book_free(&book);
}

static void spellings_and_late_losses_follow_the_figures(void **state)
{
    lab_book book = sound_book();
    (void)state;
    book_set(&book, "streams-properties", NULL, "lines", 2000000);
    book_set(&book, "streams-properties", NULL, "different URLs", 1000000);
    book_set(&book, "streams-canon", NULL, "none", 50);
    book_set(&book, "streams-canon", NULL, "crawl", 51);
    book_set(&book, "streams-canon", NULL, "whatwg", 50.3);
    must_hold(&book, "streams-spellings", LAB_HOLDS); /* 6000 of a million URLs, and 4000 lost pages */
    book_set(&book, "streams-canon", NULL, "whatwg", 50.1);
    must_hold(&book, "streams-spellings", LAB_DOES_NOT_HOLD);
    book_set(&book, "streams-canon", NULL, "whatwg", 50.2);
    must_hold(&book, "streams-spellings", LAB_UNJUDGED);

    book_set(&book, "streams-by-tenth", NULL, NULL, 100);
    must_hold(&book, "streams-late", LAB_DOES_NOT_HOLD);
    book_set(&book, "streams-by-tenth", NULL, "last tenth", 800);
    must_hold(&book, "streams-late", LAB_HOLDS);
    book_set(&book, "streams-by-tenth", NULL, "last tenth", 700);
    must_hold(&book, "streams-late", LAB_UNJUDGED);
    lab_book_free(&book);
}

int main(int argc, char **argv)
{
    test_add("nothing is judged without figures", nothing_is_judged_without_figures, NULL);
    test_add("theory and order follow the figures", theory_and_order_follow_the_figures, NULL);
    test_add("repeats follow the figures", repeats_follow_the_figures, NULL);
    test_add("kinds that take URLs apart follow the figures", kinds_that_take_urls_apart_follow_the_figures, NULL);
    test_add("the choice of a kind follows the figures", the_choice_of_a_kind_follows_the_figures, NULL);
    test_add("spellings and late losses follow the figures", spellings_and_late_losses_follow_the_figures, NULL);
    return test_run("lab/streams_claims", argc, argv);
}
