/*
 * The experiments: the list of tables, and what each cell measures. The published figures are elsewhere (published/),
 * so nothing here depends on them.
 *
 * The thesis leaves some details open. We assume that its hash functions are lookup2 (Jenkins) and MurmurHash2, that a
 * seed is a salt of 24 random bytes before the URL, that m is rounded up to a whole bit, and that a single hash
 * function is salted too, so that runs differ in more than their URLs. Functions of 32 bits find their bit by
 * remainder, MD5 and SHA-1 by multiply-shift.
 */
#include "lab/engine/lab.h"

#include <stdio.h>
#include <string.h>

static const lab_line functions[] = {
    {"Jenkins", {.functions = "jenkins"}},
    {"MurmurHash", {.functions = "murmur2"}},
    {"MD5", {.functions = "md5"}},
    {"SHA-1", {.functions = "sha1"}},
    {.name = NULL},
};

static const lab_line two_functions[] = {
    {"Jenkins and MurmurHash", {.functions = "jenkins+murmur2"}},
    {"Jenkins (seeded)", {.functions = "jenkins"}},
    {"MurmurHash (seeded)", {.functions = "murmur2"}},
    {"MD5 (seeded)", {.functions = "md5"}},
    {"SHA-1 (seeded)", {.functions = "sha1"}},
    {.name = NULL},
};
static const lab_line three_functions[] = {
    {"Jenkins and MurmurHash and SHA-1", {.functions = "jenkins+murmur2+sha1"}},
    {"Jenkins (seeded)", {.functions = "jenkins"}},
    {"MurmurHash (seeded)", {.functions = "murmur2"}},
    {"MD5 (seeded)", {.functions = "md5"}},
    {"SHA-1 (seeded)", {.functions = "sha1"}},
    {.name = NULL},
};

static const lab_line rate[] = {{"FP", {0}}, {.name = NULL}};
static const lab_line one_to_three[] = {{"1 HF", {.k = 1}}, {"2 HF", {.k = 2}}, {"3 HF", {.k = 3}}, {.name = NULL}};
static const lab_line two_and_three[] = {{"2 HF", {.k = 2}}, {"3 HF", {.k = 3}}, {.name = NULL}};
static const lab_line two_to_four[] = {{"2 HF", {.k = 2}}, {"3 HF", {.k = 3}}, {"4 HF", {.k = 4}}, {.name = NULL}};
static const lab_line three_to_six[] = {
    {"3 HF", {.k = 3}}, {"4 HF", {.k = 4}}, {"5 HF", {.k = 5}}, {"6 HF", {.k = 6}}, {.name = NULL}};
static const lab_line three_to_ten[] = {
    {"3 HF", {.k = 3}}, {"4 HF", {.k = 4}}, {"5 HF", {.k = 5}},   {"6 HF", {.k = 6}}, {"7 HF", {.k = 7}},
    {"8 HF", {.k = 8}}, {"9 HF", {.k = 9}}, {"10 HF", {.k = 10}}, {.name = NULL},
};

static const lab_line four_multipliers[] = {
    {"1.7 M", {.multiplier = 1.7}},
    {"2.0 M", {.multiplier = 2.0}},
    {"2.5 M", {.multiplier = 2.5}},
    {"3.0 M", {.multiplier = 3.0}},
    {.name = NULL},
};
static const lab_line multipliers[] = {
    {"1.7 M", {.multiplier = 1.7}},
    {"2.0 M", {.multiplier = 2.0}},
    {"2.5 M", {.multiplier = 2.5}},
    {"3.0 M", {.multiplier = 3.0}},
    {"4.0 M", {.multiplier = 4.0}},
    {"5.0 M", {.multiplier = 5.0}},
    {.name = NULL},
};
static const lab_line filters_and_multipliers[] = {
    {"1 filter 1.7 M", {.members = 1, .multiplier = 1.7}},
    {"1 filter 2.0 M", {.members = 1, .multiplier = 2.0}},
    {"2 filters 1.7 M", {.members = 2, .multiplier = 1.7}},
    {"2 filters 2.0 M", {.members = 2, .multiplier = 2.0}},
    {"3 filters 1.7 M", {.members = 3, .multiplier = 1.7}},
    {"3 filters 2.0 M", {.members = 3, .multiplier = 2.0}},
    {.name = NULL},
};
static const lab_line orders[] = {{"same order", {0}}, {"other order", {.shuffled = true}}, {.name = NULL}};
static const double percents[] = {10, 20, 30, 40, 50, 60, 70, 80, 90, 100};
static const lab_line tenths[] = {
    {"first 10 %", {.tenths = 1}},
    {"first 20 %", {.tenths = 2}},
    {"first 30 %", {.tenths = 3}},
    {"first 40 %", {.tenths = 4}},
    {"first 50 %", {.tenths = 5}},
    {"first 60 %", {.tenths = 6}},
    {"first 70 %", {.tenths = 7}},
    {"first 80 %", {.tenths = 8}},
    {"first 90 %", {.tenths = 9}},
    {"all", {.tenths = 10}},
    {.name = NULL},
};

static const lab_line one_to_twelve[] = {
    {"k = 1", {.k = 1}},   {"k = 2", {.k = 2}},   {"k = 3", {.k = 3}}, {"k = 4", {.k = 4}}, {"k = 5", {.k = 5}},
    {"k = 6", {.k = 6}},   {"k = 7", {.k = 7}},   {"k = 8", {.k = 8}}, {"k = 9", {.k = 9}}, {"k = 10", {.k = 10}},
    {"k = 11", {.k = 11}}, {"k = 12", {.k = 12}}, {.name = NULL},
};
static const lab_line bits_a_url[] = {
    {"4 bits", {.bits = 4}}, {"8 bits", {.bits = 8}}, {"12 bits", {.bits = 12}}, {.name = NULL}};
static const lab_line bits_or_counters[] = {
    {"bits", {0}},
    {"counters", {.kind = "counting"}},
    {"counters after deleting", {.kind = "counting", .deletes = true}},
    {.name = NULL},
};

/* A list with '|' gives the functions of the first crawl or filter, then those of the next. */
static const lab_line functions_of_crawls[] = {
    {"2 HF: Jenkins, new salts", {.k = 2, .functions = "jenkins"}},
    {"2 HF: Jenkins, then MurmurHash", {.k = 2, .functions = "jenkins|murmur2"}},
    {"2 HF: Jenkins and MurmurHash, then MD5 and SHA-1", {.k = 2, .functions = "jenkins+murmur2|md5+sha1"}},
    {"3 HF: Jenkins, new salts", {.k = 3, .functions = "jenkins"}},
    {"3 HF: Jenkins, then MurmurHash", {.k = 3, .functions = "jenkins|murmur2"}},
    {.name = NULL},
};
static const lab_line functions_of_filters[] = {
    {"2 filters: Jenkins, new salts", {.members = 2, .functions = "jenkins"}},
    {"2 filters: Jenkins, MurmurHash", {.members = 2, .functions = "jenkins|murmur2"}},
    {"3 filters: Jenkins, new salts", {.members = 3, .functions = "jenkins"}},
    {"3 filters: Jenkins, MurmurHash, SHA-1", {.members = 3, .functions = "jenkins|murmur2|sha1"}},
    {.name = NULL},
};
static const lab_line kept_functions[] = {
    {"2 HF: none kept", {.k = 2, .functions = "jenkins+murmur2|oaat+sip13"}},
    {"2 HF: one kept", {.k = 2, .functions = "jenkins+murmur2|jenkins+oaat"}},
    {"3 HF: one kept", {.k = 3, .functions = "jenkins+murmur2+oaat|jenkins+md5+sip13"}},
    {"3 HF: two kept", {.k = 3, .functions = "jenkins+murmur2+oaat|jenkins+murmur2+sip13"}},
    {.name = NULL},
};
static const lab_line both_approaches[] = {
    {"non-incremental", {0}}, {"incremental", {.incremental = true}}, {.name = NULL}};

#define JENKINS .functions = "jenkins"

/* One curve for each column, drawn against the number of hash functions of the rows. */
#define AGAINST_K(what) .plot = {.x = "hash functions k", .y = what " (%)", .columns = true, .log_y = true}
#define FIGURE_A(number, filters, m, title_filters)                                                                    \
    {                                                                                                                  \
        .id = "thesis-fig-A." number, .title = title_filters ", incremental, M = " #m ", as a curve",                  \
        .source = "the thesis, figure A." number, .note = "The thesis prints the curve without its numbers.",          \
        .base = {JENKINS, .members = (filters), .multiplier = (m), .incremental = true},                               \
        .plot = {.x = "URLs inserted (% of all)", .y = "pages lost so far (%)", .log_y = true, .along = percents},     \
        .rows = three_to_six, .columns = tenths                                                                        \
    }

static const lab_experiment all[] = {
    {"thesis-5.1", "One hash function, incremental", "the thesis, section 5.4.1", "M = 2.0.", functions, rate,
     .base = {.k = 1, .multiplier = 2.0, .incremental = true}},
    {"thesis-5.2", "Two hash functions, incremental", "the thesis, section 5.4.1",
     "M = 2.0. Two different functions, compared with one function and two salts.", two_functions, rate,
     .base = {.k = 2, .multiplier = 2.0, .incremental = true}},
    {"thesis-5.3", "Three hash functions, incremental", "the thesis, section 5.4.1",
     "M = 2.0. Three different functions, compared with one function and three salts.", three_functions, rate,
     .base = {.k = 3, .multiplier = 2.0, .incremental = true}},
    {"thesis-5.4", "Seeded hash functions, incremental: overview", "the thesis, section 5.4.1",
     "M = 2.0. The same cells as in tables 5.1 to 5.3.", functions, one_to_three,
     .base = {.multiplier = 2.0, .incremental = true}, .repeats = true},
    {"thesis-5.5", "One hash function, non-incremental", "the thesis, section 5.4.2", "M = 2.0.", functions, rate,
     .base = {.k = 1, .multiplier = 2.0}},
    {"thesis-5.6", "Two hash functions, non-incremental", "the thesis, section 5.4.2",
     "M = 2.0. Two different functions, compared with one function and two salts.", two_functions, rate,
     .base = {.k = 2, .multiplier = 2.0}},
    {"thesis-5.7", "Three hash functions, non-incremental", "the thesis, section 5.4.2",
     "M = 2.0. Three different functions, compared with one function and three salts.", three_functions, rate,
     .base = {.k = 3, .multiplier = 2.0}},
    {"thesis-5.8", "Seeded hash functions, non-incremental: overview", "the thesis, section 5.4.2",
     "M = 2.0. The same cells as in tables 5.6 and 5.7.", functions, two_and_three, .base = {.multiplier = 2.0},
     .repeats = true},
    {"thesis-5.9", "One filter, non-incremental", "the thesis, section 5.4.2", "Jenkins, salted.", three_to_ten,
     multipliers, AGAINST_K("false positives"), .base = {JENKINS}},
    {"thesis-fig-5.1", "Temporal strategy, incremental", "the thesis, section 5.7.1",
     "Jenkins, salted, M = 2.0. The published figures are for crawls in the same order, and come from the text.",
     three_to_six, orders, AGAINST_K("pages lost"),
     .base = {JENKINS, .multiplier = 2.0, .epochs = 2, .incremental = true}},
    {"thesis-5.16", "Temporal strategy, non-incremental", "the thesis, section 5.7.2",
     "Jenkins, salted. URLs that both of two crawls falsely see.", three_to_ten, multipliers,
     AGAINST_K("false positives"), .base = {JENKINS, .epochs = 2}},
    {"thesis-5.17", "Spatial strategy, incremental", "the thesis, section 5.8.1", "Jenkins, salted.", three_to_six,
     filters_and_multipliers, AGAINST_K("pages lost"), .base = {JENKINS, .incremental = true}},
    {"thesis-5.18", "Spatial strategy, two filters, non-incremental", "the thesis, section 5.8.2", "Jenkins, salted.",
     three_to_ten, multipliers, AGAINST_K("false positives"), .base = {JENKINS, .members = 2}},
    {"thesis-5.19", "Spatial strategy, three filters, non-incremental", "the thesis, section 5.8.2", "Jenkins, salted.",
     three_to_ten, multipliers, AGAINST_K("false positives"), .base = {JENKINS, .members = 3}},
    {"thesis-5.20", "Spatio-temporal strategy, two filters, non-incremental", "the thesis, section 5.9",
     "Jenkins, salted. URLs that both filters falsely see in both of two crawls.", two_to_four, four_multipliers,
     AGAINST_K("false positives"), .base = {JENKINS, .members = 2, .epochs = 2}},
    {"thesis-5.21", "Spatio-temporal strategy, three filters, non-incremental", "the thesis, section 5.9",
     "Jenkins, salted. URLs that all three filters falsely see in both of two crawls.", two_to_four, four_multipliers,
     AGAINST_K("false positives"), .base = {JENKINS, .members = 3, .epochs = 2}},
    {"thesis-temporal-functions", "Temporal strategy with other hash functions in the second crawl",
     "the thesis, sections 1.5 and 4.2",
     "M = 2.0. Pages that both of two crawls lose. One function is salted, and its salts are new in the second "
     "crawl; several functions have no salts.",
     functions_of_crawls, both_approaches, .base = {.multiplier = 2.0, .epochs = 2}},
    {"thesis-spatial-functions", "Spatial strategy with other hash functions in each filter",
     "the thesis, sections 1.5 and 4.3", "2 HF, M = 2.0, salted.", functions_of_filters, both_approaches,
     .base = {.k = 2, .multiplier = 2.0}},
    {"thesis-kept-functions", "Temporal strategy, non-incremental, if some hash functions are kept",
     "the thesis, section 1.5",
     "M = 2.0. Two crawls with different combinations of functions without salts: a function that both have "
     "gives a URL the same place in both filters.",
     kept_functions, rate, .base = {.multiplier = 2.0, .epochs = 2}},
    FIGURE_A("1", 1, 1.7, "One filter"),
    FIGURE_A("2", 1, 2.0, "One filter"),
    FIGURE_A("3", 2, 1.7, "Two filters"),
    FIGURE_A("4", 2, 2.0, "Two filters"),
    FIGURE_A("5", 3, 1.7, "Three filters"),
    FIGURE_A("6", 3, 2.0, "Three filters"),
    {"counting-k", "False positives against k, for a given number of bits per URL", "the counting notes",
     "Jenkins, salted. \"Larger k, fewer false positives\" holds up to (m/n) ln 2: 2.8, 5.5 and 8.3.", one_to_twelve,
     bits_a_url, AGAINST_K("false positives"), .base = {JENKINS}},
    {"counting-errors", "Counters instead of bits, with and without deleting", "the counting notes",
     "Jenkins, salted, M = 2.0. All use the same salts, so the three counts of a row must be exactly equal.",
     two_to_four, bits_or_counters, .base = {JENKINS, .multiplier = 2.0}},
};

const lab_experiment *lab_experiment_at(size_t index)
{
    return index < sizeof all / sizeof *all ? &all[index] : NULL;
}

const lab_experiment *lab_experiment_find(const char *id)
{
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strcmp(all[i].id, id) == 0)
            return &all[i];
    return NULL;
}

size_t lab_lines(const lab_line *lines)
{
    size_t count = 0;
    while (lines[count].name)
        count++;
    return count;
}

/* Fields that `part` sets replace those of *config. */
static void overlay(lab_config *config, const lab_config *part)
{
    if (part->functions)
        config->functions = part->functions;
    if (part->k)
        config->k = part->k;
    if (part->multiplier > 0)
        config->multiplier = part->multiplier;
    if (part->members)
        config->members = part->members;
    if (part->epochs)
        config->epochs = part->epochs;
    if (part->tenths)
        config->tenths = part->tenths;
    if (part->kind)
        config->kind = part->kind;
    if (part->bits > 0)
        config->bits = part->bits;
    config->deletes |= part->deletes;
    config->incremental |= part->incremental;
    config->shuffled |= part->shuffled;
}

lab_config lab_cell_config(const lab_experiment *experiment, size_t row, size_t column)
{
    lab_config config = {.members = 1, .epochs = 1, .tenths = LAB_TENTHS};
    overlay(&config, &experiment->base);
    overlay(&config, &experiment->rows[row].part);
    overlay(&config, &experiment->columns[column].part);
    if (config.bits > 0)
        config.multiplier = config.bits / config.k;
    config.bits = 0;
    return config;
}

bool lab_config_same(const lab_config *a, const lab_config *b)
{
    return strcmp(a->functions, b->functions) == 0 && a->k == b->k && a->multiplier <= b->multiplier &&
           a->multiplier >= b->multiplier && a->members == b->members && a->epochs == b->epochs &&
           a->incremental == b->incremental && a->shuffled == b->shuffled && a->tenths == b->tenths &&
           a->deletes == b->deletes && strcmp(a->kind ? a->kind : "", b->kind ? b->kind : "") == 0;
}

/* The parameters of one filter's set; `used` characters of the buffer are taken. */
static int put_params(char *params, size_t room, int used, const lab_config *config, const char *functions)
{
    const char *mode = lab_functions_unsalted(functions) ? "mode=different,functions=" : "mode=salted,hash=";
    if (used < 0 || (size_t)used >= room)
        return used;
    int more = snprintf(params + used, room - (size_t)used, "k=%u,M=%.17g,%s%s", config->k, config->multiplier, mode,
                        functions);
    return more < 0 ? more : used + more;
}

const char *lab_config_set(const lab_config *config, char *params, size_t room)
{
    char names[LAB_FUNCTIONS_ROOM];
    unsigned lists = lab_functions_lists(config->functions);
    bool spatial = config->members > 1 && lists == 1;
    int used = spatial ? snprintf(params, room, "F=%u,", config->members) : 0;
    for (unsigned i = 0; i < lists; i++) {
        if (i > 0 && used > 0 && (size_t)used + 1 < room)
            params[used++] = '|';
        used = put_params(params, room, used, config, lab_functions_of(config, i, names));
    }
    return config->kind ? config->kind : spatial ? "spatial" : "classic";
}
