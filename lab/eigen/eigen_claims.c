/*
 * Judges the claims of the eigenvalue paper by our measurements. Rates of several depths are combined, because the
 * cells of one depth have small counts.
 */
#include <math.h>
#include <stdio.h>

#include "lab/eigen/eigen.h"
#include "lab/judge/judging.h"
#include "lab/counting/notes.h"

enum {
    TIMED_LEAST = 100000,     /* with fewer URLs, times are dominated by the cold start */
    COLLISIONS_LEAST = 300000 /* fewer URLs have hardly any pair with equal 32-bit values */
};

#define MUCH_LONGER 5.0 /* times the classic filter's time: no longer "not much more" under any condition */

typedef struct rate {
    double mean, error; /* NAN: there is none */
} rate;

static rate rate_of(const lab_entry *entry)
{
    if (!entry)
        return (rate){(double)NAN, (double)NAN};
    return (rate){entry->measured, lab_entry_spread(entry)};
}

static rate rate_at(const lab_book *book, const char *id, const char *row, const char *column)
{
    return rate_of(lab_book_entry(book, id, row, column));
}

/* The mean rate of all rows. */
static rate rate_over(const lab_book *book, const char *id, const char *column)
{
    const lab_table *table = lab_book_find(book, id);
    if (!table)
        return rate_of(NULL);
    double sum = 0, squares = 0, rows = (double)table->rows;
    for (size_t i = 0; i < table->rows; i++) {
        rate one = rate_of(lab_table_find(table, table->entries[i * table->columns].row, column));
        sum += one.mean;
        squares += one.error * one.error;
    }
    return (rate){sum / rows, sqrt(squares) / rows};
}

/* A combined rate as an entry; a formula has no error. */
static lab_entry entry_of(rate rate)
{
    if (!(rate.error > 0))
        return lab_exact_entry(rate.mean);
    double spread = LAB_INTERVAL_Z * rate.error;
    return (lab_entry){.measured = rate.mean, .low = fmax(0, rate.mean - spread), .high = rate.mean + spread};
}

/* Whether b is more than a. */
static lab_comparison is_less(const lab_claim *claim, rate a, rate b)
{
    lab_entry less = entry_of(a), more = entry_of(b);
    return lab_compare(lab_ratio_of_rates(&more, &less), claim->margin);
}

/* Collisions and times of few URLs tell nothing. */
static lab_holding too_few(char *sentence, size_t room)
{
    snprintf(sentence, room, "Too few URLs or runs to tell");
    return LAB_UNJUDGED;
}

/* ---- depth ---- */

static lab_holding judge_depth(const lab_claim *claim, const lab_book *book, char *sentence, size_t room)
{
    rate classic = rate_over(book, "eigen-fig-5", "classic"), labels = rate_over(book, "eigen-fig-5", "labels");
    rate tail = rate_over(book, "eigen-fig-5", "tail");
    if (isnan(classic.mean) || isnan(labels.mean) || isnan(tail.mean))
        return LAB_UNJUDGED;
    snprintf(
        sentence, room,
        "Of further pages of the same sites %.3g %% are falsely seen without and %.3g %% with the features of the "
        "paper's table 1, which all pages of a site share, and %.2g %% with features that differ from page to page",
        classic.mean, labels.mean, tail.mean);
    return lab_holds_if_more(is_less(claim, labels, classic));
}

static lab_holding judge_other_sites(const lab_claim *claim, const lab_book *book, char *sentence, size_t room)
{
    rate classic = rate_over(book, "eigen-asked", "classic"), many = rate_at(book, "eigen-asked", "depth 1", "labels");
    rate few = rate_at(book, "eigen-asked", "depth 10000", "labels");
    rate more = rate_over(book, "eigen-asked", "4 functions"), same = rate_over(book, "eigen-fig-5", "labels");
    if (isnan(classic.mean) || isnan(many.mean) || isnan(few.mean) || isnan(more.mean) || isnan(same.mean))
        return LAB_UNJUDGED;
    snprintf(
        sentence, room,
        "Of pages of other sites the paper's filter falsely sees %.2g %% after few sites and %.2g %% after many, the "
        "classic filter %.3g %%, and with the same bits and one more function %.2g %%; of pages of the same sites the "
        "paper's filter falsely sees %.3g %%",
        few.mean, many.mean, classic.mean, more.mean, same.mean);
    lab_comparison better = is_less(claim, few, classic);
    if (better != LAB_MORE)
        return lab_holds_if_more(better);
    lab_comparison than_more = is_less(claim, many, more), on_same = is_less(claim, same, classic);
    if (than_more == LAB_NOT_MORE || on_same == LAB_NOT_MORE)
        return LAB_CONDITIONS;
    return than_more == LAB_OPEN || on_same == LAB_OPEN ? LAB_UNJUDGED : LAB_HOLDS;
}

/* A claim that fails with the paper's features holds with conditions if better features are shown to help. */
static lab_holding with_better_features(lab_comparison papers, lab_comparison best)
{
    return papers == LAB_NOT_MORE && best == LAB_MORE ? LAB_CONDITIONS : lab_holds_if_more(papers);
}

static lab_holding judge_more_functions(const lab_claim *claim, const lab_book *book, char *sentence, size_t room)
{
    rate labels = rate_over(book, "eigen-fig-5", "labels"), tail = rate_over(book, "eigen-fig-5", "tail");
    rate more = rate_over(book, "eigen-fig-5", "4 functions");
    if (isnan(labels.mean) || isnan(tail.mean) || isnan(more.mean))
        return LAB_UNJUDGED;
    snprintf(
        sentence, room,
        "With the same bits, a fourth function of the URL itself gives %.2g %%, of the best features, which differ "
        "on every page, %.2g %%, and of the paper's features %.2g %%",
        more.mean, tail.mean, labels.mean);
    return with_better_features(is_less(claim, labels, more), is_less(claim, tail, more));
}

static lab_holding judge_equal_bits(const lab_claim *claim, const lab_book *book, char *sentence, size_t room)
{
    rate classic = rate_over(book, "eigen-fig-5", "classic");
    rate labels = rate_over(book, "eigen-fig-5", "labels, equal bits");
    rate tail = rate_over(book, "eigen-fig-5", "tail, equal bits");
    rate more = rate_over(book, "eigen-fig-5", "4 functions, equal bits");
    if (isnan(classic.mean) || isnan(labels.mean) || isnan(tail.mean) || isnan(more.mean))
        return LAB_UNJUDGED;
    snprintf(
        sentence, room,
        "Without the extra third of bits the paper's filter gives %.3g %% and the classic filter %.3g %%; the best "
        "features give %.2g %%, and so does a fourth function (%.2g %%)",
        labels.mean, classic.mean, tail.mean, more.mean);
    return with_better_features(is_less(claim, labels, classic), is_less(claim, tail, more));
}

/* The mean of two rates. */
static rate both(rate a, rate b)
{
    return (rate){(a.mean + b.mean) / 2, hypot(a.error, b.error) / 2};
}

static lab_holding judge_deeper(const lab_claim *claim, const lab_book *book, char *sentence, size_t room)
{
    rate shallow =
        both(rate_at(book, "eigen-fig-5", "depth 1", "classic"), rate_at(book, "eigen-fig-5", "depth 10", "classic"));
    rate deep = both(rate_at(book, "eigen-fig-5", "depth 1000", "classic"),
                     rate_at(book, "eigen-fig-5", "depth 10000", "classic"));
    rate shallow_oaat = rate_at(book, "eigen-fig-5-oaat", "depth 1", "classic");
    rate deep_oaat = rate_at(book, "eigen-fig-5-oaat", "depth 10000", "classic");
    if (isnan(shallow.mean) || isnan(deep.mean) || isnan(shallow_oaat.mean) || isnan(deep_oaat.mean))
        return LAB_UNJUDGED;
    lab_comparison rises = is_less(claim, shallow, deep), rises_oaat = is_less(claim, shallow_oaat, deep_oaat);
    bool neither = rises == LAB_NOT_MORE && rises_oaat == LAB_NOT_MORE;
    snprintf(sentence, room,
             "Depths of 1 and 10 give %.3f %%, depths of 1,000 and 10,000 %.3f %%, plus or minus %.3f; with "
             "one-at-a-time depth 1 gives %.3f %% and depth 10,000 %.3f %%, plus or minus %.3f%s",
             shallow.mean, deep.mean, LAB_INTERVAL_Z * shallow.error, shallow_oaat.mean, deep_oaat.mean,
             LAB_INTERVAL_Z * shallow_oaat.error,
             neither ? ": the rate depends on the number of URLs, not on where they come from" : "");
    if (rises == LAB_OPEN || rises_oaat == LAB_OPEN)
        return LAB_UNJUDGED;
    return neither ? LAB_DOES_NOT_HOLD : rises == rises_oaat ? LAB_HOLDS : LAB_CONDITIONS;
}

/* ---- hash functions ---- */

static lab_holding judge_cause(const lab_claim *claim, const lab_book *book, char *sentence, size_t room)
{
    rate others = rate_over(book, "eigen-similar", "many sites"),
         similar = rate_over(book, "eigen-similar", "one site");
    if (isnan(others.mean) || isnan(similar.mean))
        return LAB_UNJUDGED;
    snprintf(sentence, room,
             "Over four hash functions, %.3g %% of similar URLs are falsely seen among similar URLs, and %.3g %% of "
             "other URLs among others (plus or minus %.1g)",
             similar.mean, others.mean, LAB_INTERVAL_Z * similar.error);
    return lab_holds_if_more(is_less(claim, others, similar));
}

/*
 * Whether URLs of one site have more equal hash values than chance gives, which is 1 in this table. Without any
 * collision in all runs there is no interval.
 */
static lab_comparison collides(const lab_claim *claim, const lab_entry *entry)
{
    lab_entry chance = lab_exact_entry(1);
    if (!(entry->high > entry->low))
        return lab_compare(lab_exact_ratio(entry->measured), claim->margin);
    return lab_compare(lab_ratio_of_rates_among(entry, &chance, 3), claim->margin);
}

static lab_holding judge_shifts(const lab_claim *claim, const lab_book *book, char *sentence, size_t room)
{
    const lab_entry *oaat = lab_book_entry(book, "eigen-shifts", "one-at-a-time", "one site");
    const lab_entry *lookup2 = lab_book_entry(book, "eigen-shifts", "Jenkins's lookup2", "one site");
    const lab_entry *murmur2 = lab_book_entry(book, "eigen-shifts", "MurmurHash2", "one site");
    rate filter = rate_at(book, "eigen-similar", "one-at-a-time", "one site");
    if (!oaat || !lookup2 || !murmur2 || isnan(oaat->measured + lookup2->measured + murmur2->measured + filter.mean))
        return LAB_UNJUDGED;
    if (book->settings.urls < COLLISIONS_LEAST)
        return too_few(sentence, room);
    snprintf(
        sentence, room,
        "Each step of one-at-a-time can be undone, so no shift loses information; URLs of one site collide %.2g times "
        "as often as by chance with it, %.2g times with lookup2 and %.2g times with MurmurHash2, which also "
        "shift; in a filter, where chance collisions are far more likely, %.2g %% are falsely seen as usual",
        oaat->measured, lookup2->measured, murmur2->measured, filter.mean);
    lab_comparison first = collides(claim, oaat);
    lab_comparison others[] = {collides(claim, lookup2), collides(claim, murmur2)};
    if (first != LAB_MORE)
        return first == LAB_OPEN ? LAB_UNJUDGED : LAB_DOES_NOT_HOLD;
    if (others[0] == LAB_NOT_MORE || others[1] == LAB_NOT_MORE)
        return LAB_CONDITIONS;
    return others[0] == LAB_OPEN || others[1] == LAB_OPEN ? LAB_UNJUDGED : LAB_HOLDS;
}

/* ---- growth ---- */

/* How many times as many URLs of other sites the classic filter falsely sees. */
static lab_ratio advantage(const lab_book *book, const char *row)
{
    return lab_ratio_of_rates_among(lab_book_entry(book, "eigen-growth", row, "classic, other sites"),
                                    lab_book_entry(book, "eigen-growth", row, "labels, other sites"), 4);
}

/* The quotient of two ratios; their intervals are independent. */
static lab_ratio quotient(lab_ratio a, lab_ratio b)
{
    double value = a.value / b.value;
    if (!a.known || !b.known || !(b.low > 0) || !(a.low > 0))
        return (lab_ratio){value, 0, INFINITY, false};
    return (lab_ratio){value, value * exp(-hypot(log(a.value / a.low), log(b.high / b.value))),
                       value * exp(hypot(log(a.high / a.value), log(b.value / b.low))), true};
}

static lab_holding judge_growth(const lab_claim *claim, const lab_book *book, char *sentence, size_t room)
{
    lab_ratio few = advantage(book, "n/4 in one filter"), all = advantage(book, "n in one filter");
    lab_ratio few_in_proportion = advantage(book, "n/4 in proportion");
    double same = lab_book_measured(book, "eigen-growth", "n in one filter", "labels, same sites");
    double same_classic = lab_book_measured(book, "eigen-growth", "n in one filter", "classic, same sites");
    char texts[3][LAB_RATIO_ROOM];
    if (isnan(few.value + all.value + few_in_proportion.value + same + same_classic))
        return LAB_UNJUDGED;
    snprintf(sentence, room,
             "Of pages of other sites the classic filter falsely sees %s times as many as the paper's after n/4 URLs, "
             "%s times if the filter is in proportion, and %s times after n: the more sites, the more features are "
             "known; of pages of the same sites both see %.3g and %.3g %%",
             lab_ratio_text(few, texts[0]), lab_ratio_text(few_in_proportion, texts[1]), lab_ratio_text(all, texts[2]),
             same_classic, same);
    lab_comparison filling = lab_compare(quotient(all, few), claim->margin);
    lab_comparison growing = lab_compare(quotient(all, few_in_proportion), claim->margin);
    if (filling == LAB_OPEN || growing == LAB_OPEN)
        return LAB_UNJUDGED;
    return filling != growing ? LAB_CONDITIONS : lab_holds_if_more(filling);
}

/* ---- formulas and costs ---- */

static lab_holding judge_product(const lab_claim *claim, const lab_book *book, char *sentence, size_t room)
{
    rate printed = rate_at(book, "eigen-formulas", "(5) product, known sites", "as printed");
    rate measured = rate_at(book, "eigen-formulas", "(5) product, known sites", "measured");
    rate fresh = rate_at(book, "eigen-formulas", "(5) product, all features new", "measured");
    if (isnan(printed.mean) || isnan(measured.mean) || isnan(fresh.mean))
        return LAB_UNJUDGED;
    snprintf(sentence, room,
             "Formula (5) gives %.2g; the rate is %.2g if features are new and %.2g if they are known, because a known "
             "feature always passes",
             printed.mean, fresh.mean, measured.mean);
    lab_comparison known_higher = is_less(claim, printed, measured), new_higher = is_less(claim, printed, fresh);
    if (known_higher == LAB_OPEN || (known_higher == LAB_NOT_MORE && new_higher == LAB_OPEN))
        return LAB_UNJUDGED;
    return known_higher == LAB_MORE ? LAB_DOES_NOT_HOLD : new_higher == LAB_MORE ? LAB_CONDITIONS : LAB_HOLDS;
}

static lab_holding judge_formulas(const lab_claim *claim, const lab_book *book, char *sentence, size_t room)
{
    const lab_table *table = lab_book_find(book, "eigen-formulas");
    double highest = 0;
    size_t agree = 0, rows = table ? table->rows : 0;
    (void)claim;
    for (size_t i = 0; i < rows; i++) {
        const lab_entry *entry = lab_table_find(table, table->entries[i * table->columns].row, "as printed");
        if (!entry)
            return LAB_UNJUDGED;
        agree += entry->verdict == LAB_AGREES;
        highest = fmax(highest, entry->measured);
    }
    if (!(highest > 0))
        return LAB_UNJUDGED;
    snprintf(sentence, room, "%zu of %zu values are right; the highest \"probability\" is %.2g", agree, rows, highest);
    return agree == rows ? LAB_HOLDS : 2 * agree >= rows ? LAB_CONDITIONS : LAB_DOES_NOT_HOLD;
}

static lab_holding judge_time(const lab_claim *claim, const lab_book *book, char *sentence, size_t room)
{
    double classic = lab_book_measured(book, "eigen-time", "classic", "look up");
    double more = lab_book_measured(book, "eigen-time", "4 functions", "look up");
    double labels = lab_book_measured(book, "eigen-time", "labels", "look up");
    if (isnan(classic) || isnan(more) || isnan(labels))
        return LAB_UNJUDGED;
    if (book->settings.urls < TIMED_LEAST)
        return too_few(sentence, room);
    static const lab_cell_name labels_cell = {"eigen-time", "labels", "look up"};
    static const lab_cell_name classic_cell = {"eigen-time", "classic", "look up"};
    lab_ratio ratio = lab_ratio_of_times(book, &labels_cell, &classic_cell);
    lab_comparison longer = lab_compare(ratio, claim->margin), far_longer = lab_compare(ratio, MUCH_LONGER - 1);
    char text[LAB_RATIO_ROOM];
    snprintf(
        sentence, room,
        "A lookup takes %.0f ns, with the classic filter %.0f: a ratio of %s; with four functions it is %.1f: features "
        "have to be found and hashed first",
        labels, classic, lab_ratio_text(ratio, text), more / classic);
    if (longer == LAB_OPEN || far_longer == LAB_OPEN)
        return LAB_UNJUDGED;
    return longer == LAB_NOT_MORE ? LAB_HOLDS : far_longer == LAB_NOT_MORE ? LAB_CONDITIONS : LAB_DOES_NOT_HOLD;
}

/* ---- a database ---- */

static const char *const sizes[] = {"3.125 k", "12.5 k", "50 k"};
enum { SIZES = 3 };

/* At every size, the database in memory or in a file compared with the paper's filter. */
static lab_holding judge_database(const lab_claim *claim, const lab_book *book, char *sentence, size_t room)
{
    static const char *const id = "eigen-database", *const last = "50 k";
    static const char *const databases[] = {"SQLite in memory", "SQLite in a file"};
    double table = lab_book_measured(book, id, "hash table", last),
           labels = lab_book_measured(book, id, "labels", last);
    double in_memory = lab_book_measured(book, id, databases[0], last);
    double in_file = lab_book_measured(book, id, databases[1], last);
    size_t more = 0, open = 0;
    char text[LAB_RATIO_ROOM] = "";
    if (isnan(table + labels + in_memory + in_file))
        return LAB_UNJUDGED;
    for (size_t i = 0; i < 2 * SIZES; i++) {
        lab_cell_name database = {id, databases[i / SIZES], sizes[i % SIZES]},
                      filter = {id, "labels", sizes[i % SIZES]};
        lab_ratio ratio = lab_ratio_of_times(book, &database, &filter);
        lab_comparison comparison = lab_compare(ratio, claim->margin);
        more += comparison == LAB_MORE;
        open += comparison == LAB_OPEN;
        lab_ratio_text(ratio, text);
    }
    snprintf(sentence, room,
             "For 50,000 URLs a step takes %.0f ns with SQLite in memory, %.0f in a file without waiting for the disk, "
             "%.0f with a hash table, which is as exact, and %.0f with the paper's filter: a ratio of %s for the file",
             in_memory, in_file, table, labels, text);
    if (open)
        return LAB_UNJUDGED;
    return more == 2 * SIZES ? LAB_HOLDS : more ? LAB_CONDITIONS : LAB_DOES_NOT_HOLD;
}

static lab_holding judge_database_space(const lab_claim *claim, const lab_book *book, char *sentence, size_t room)
{
    static const char *const id = "eigen-database-space";
    double database = lab_book_measured(book, id, "SQLite", "50 k"),
           table = lab_book_measured(book, id, "hash table", "50 k");
    double labels = lab_book_measured(book, id, "labels", "50 k");
    if (isnan(database + table + labels))
        return LAB_UNJUDGED;
    snprintf(sentence, room, "SQLite takes %.0f bytes per URL, a hash table %.0f and the paper's filter %.3g", database,
             table, labels);
    return lab_compare(lab_exact_ratio(database / labels), claim->margin) == LAB_MORE ? LAB_HOLDS : LAB_DOES_NOT_HOLD;
}

const lab_claim lab_eigen_claims[] = {
    {.id = "eigen-depth",
     .source = "the eigenvalue paper, section 3 and figure 5",
     .text = "Deep in a site, features of the host reduce the rate of false positives",
     .evidence = "eigen-fig-5 eigen-fig-5-oaat eigen-features",
     .judge = judge_depth,
     .margin = 0.05,
     .margin_reason = "these tables have a twentieth of the URLs"},
    {.id = "eigen-lower",
     .source = "the eigenvalue paper, section 4",
     .text = "The eigenvalue extension reduces false positives in general",
     .evidence = "eigen-asked eigen-fig-5",
     .judge = judge_other_sites,
     .margin = 0.05,
     .margin_reason = "these tables have a twentieth of the URLs"},
    {.id = "eigen-more-functions",
     .source = "the eigenvalue paper, section 2.3",
     .text = "Among similar URLs, features do more than as many further hash functions",
     .evidence = "eigen-fig-5",
     .judge = judge_more_functions,
     .margin = 0.05,
     .margin_reason = "these tables have a twentieth of the URLs"},
    {.id = "eigen-equal-bits",
     .source = "the eigenvalue paper, section 2.3",
     .text = "The gain comes from the algorithm, and it costs little space",
     .evidence = "eigen-fig-5",
     .judge = judge_equal_bits,
     .margin = 0.05,
     .margin_reason = "these tables have a twentieth of the URLs"},
    {.id = "eigen-deeper",
     .source = "the eigenvalue paper, section 3",
     .text = "The deeper the crawl of a site, the more URLs the classic filter falsely sees",
     .evidence = "eigen-fig-5 eigen-fig-5-oaat",
     .judge = judge_deeper,
     .margin = 0.1,
     .margin_reason = "it compares single depths, which have few counts"},
    {.id = "eigen-cause",
     .source = "the eigenvalue paper, section 3",
     .text = "False positives are mostly caused by similar URLs",
     .evidence = "eigen-similar",
     .judge = judge_cause,
     .margin = 0.05,
     .margin_reason = "these tables have a twentieth of the URLs"},
    {.id = "eigen-shifts",
     .source = "the eigenvalue paper, section 3",
     .text = "Shifts lose bits, so hash functions ignore small differences",
     .evidence = "eigen-shifts eigen-similar",
     .judge = judge_shifts,
     .margin = 1,
     .margin_reason = "our reading of \"likely\": at least twice as many collisions as by chance"},
    {.id = "eigen-product",
     .source = "the eigenvalue paper, formula (5)",
     .text = "The rate is that of the classic filter times that of the features, so it is never higher",
     .evidence = "eigen-formulas eigen-features",
     .judge = judge_product,
     .margin = 0.05,
     .margin_reason = "these tables have a twentieth of the URLs"},
    {.id = "eigen-formulas",
     .source = "the eigenvalue paper, section 2.3",
     .text = "Formulas (1) to (6) describe the two filters",
     .evidence = "eigen-formulas",
     .judge = judge_formulas},
    {.id = "eigen-best-k",
     .source = "the eigenvalue paper, section 2.3",
     .text = "More hash functions help up to k = (m/n) ln 2 and no further",
     .evidence = "notes-k",
     .judge = lab_claim_best_k,
     .margin = LAB_RATE_MARGIN},
    {.id = "eigen-time",
     .source = "the eigenvalue paper, section 2.3",
     .text = "A URL still takes constant time, and not much more than before",
     .evidence = "eigen-time",
     .judge = judge_time,
     .margin = 0.5,
     .margin_reason = "our reading of \"not much more\""},
    {.id = "eigen-growth",
     .source = "the eigenvalue paper, section 3",
     .text = "The more data, the more obvious is the advantage of the eigenvalue extension",
     .evidence = "eigen-growth",
     .judge = judge_growth,
     .margin = 0.05,
     .margin_reason = "this table has a twentieth of the URLs"},
    {.id = "eigen-database",
     .source = "the eigenvalue paper, section 3",
     .text = "To find out whether a URL was met, a database takes much longer than the filter",
     .evidence = "eigen-database",
     .judge = judge_database,
     .margin = LAB_TIME_MARGIN},
    {.id = "eigen-database-space",
     .source = "the eigenvalue paper, section 3",
     .text = "A database takes much more space than the filter",
     .evidence = "eigen-database-space",
     .judge = judge_database_space,
     .margin = LAB_RATE_MARGIN},
    {.id = NULL},
};
