/*
 * The thesis's claims: judged by what is in a book, whichever way that goes, and not judged by what is not. The books
 * are made up; in the last test one is measured.
 */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lab/books.h"
#include "support/runner.h"

enum { CELLS = 12, SENTENCE = SENTENCE_ROOM };

/* Measurements have an interval of a thousandth to each side; where nothing can be told from them, of all of it. */
typedef struct verdict_case {
    const char *claim;
    lab_holding holding;
    made_figure cells[CELLS];
} verdict_case;

#define TIME "further-equal-bits-time"
#define EQUAL "further-equal-bits"
#define KNOWN "salted, look up known"
#define MORE_M "3 HF, 4.0 M: 12 bits"
#define MORE_K "6 HF, 2.0 M: 12 bits"
#define DELAY(one, two, three)                                                                                         \
    {                                                                                                                  \
        {"further-delay", "by 1 crawl or more", "same order", one},                                                    \
            {"further-delay", "by 2 crawls or more", "same order", two},                                               \
            {"further-delay", "by 2 crawls or more", "other order", (two) / 2},                                        \
            {"further-delay", "by 3 crawls or more", "same order", three},                                             \
        {                                                                                                              \
            "further-delay", "by 1 crawl or more", "last tenth, same order", 3 * (one)                                 \
        }                                                                                                              \
    }
#define MULTIPLIER(by_m, by_k, few, many)                                                                              \
    {                                                                                                                  \
        {EQUAL, MORE_M, "FP", by_m}, {EQUAL, MORE_K, "FP", by_k}, {TIME, MORE_M, KNOWN, few},                          \
            {TIME, MORE_K, KNOWN, many},                                                                               \
        {                                                                                                              \
            TIME, MORE_K, "derived, look up known", 40                                                                 \
        }                                                                                                              \
    }
#define SCALABLE(one, both, guessed, bits)                                                                             \
    {                                                                                                                  \
        {"further-scalable", "scalable, first stage n / 10", "first crawl", one},                                      \
            {"further-scalable", "scalable, first stage n / 10", "both crawls", both},                                 \
            {"further-scalable", "classic, for n URLs", "both crawls", 0.3},                                           \
            {"further-scalable", "classic, for a tenth of n", "both crawls", guessed},                                 \
            {"further-scalable-memory", "scalable, first stage n / 10", "bits per URL", bits},                         \
        {                                                                                                              \
            "further-scalable-memory", "classic, for n URLs", "bits per URL", 6                                        \
        }                                                                                                              \
    }
#define REVISIT(oversized, second)                                                                                     \
    {                                                                                                                  \
        {"further-revisit", "first for n, headroom 1", "crawl 1", 5.6},                                                \
            {"further-revisit", "first for 4 n, headroom 1", "crawl 2", oversized},                                    \
            {"further-revisit", "first for 0.25 n, headroom 1", "crawl 1", 75},                                        \
            {"further-revisit", "first for 0.25 n, headroom 1", "crawl 2", second},                                    \
        {                                                                                                              \
            "further-revisit", "first for 0.25 n, headroom 1", "crawl 3", 6                                            \
        }                                                                                                              \
    }
#define GENETIC(next)                                                                                                  \
    {                                                                                                                  \
        {"further-genetic", "found", "training crawl", 0.4}, {"further-genetic", "found", "next crawls", next},        \
            {"further-genetic", "sip13", "next crawls", 1.76}, {"further-genetic-time", "found", "a hash value", 50},  \
        {                                                                                                              \
            "further-genetic-time", "sip13", "a hash value", 15                                                        \
        }                                                                                                              \
    }
#define PROCESSES(differ, slow)                                                                                        \
    {                                                                                                                  \
        {"further-processes", "2 processes", "processes", 0.37},                                                       \
            {"further-processes", "2 processes", "answers that differ", differ},                                       \
            {"further-processes-time", "2 members", "processes, 1 URL at a time", slow},                               \
            {"further-processes-time", "2 members", "processes, 4096 URLs at a time", 0.3},                            \
            {"further-processes-time", "2 members", "one set, 4096 URLs at a time", 0.2},                              \
        {                                                                                                              \
            "further-processes-messages", "2 members", "processes, 1 URL at a time", 4                                 \
        }                                                                                                              \
    }

#define COMBINATION(none_kept, one_kept)                                                                               \
    {                                                                                                                  \
        {"thesis-5.6", "Jenkins and MurmurHash", "FP", 15.5},                                                          \
            {"thesis-kept-functions", "2 HF: none kept", "FP", none_kept},                                             \
            {"thesis-kept-functions", "2 HF: one kept", "FP", one_kept},                                               \
        {                                                                                                              \
            "thesis-kept-functions", "3 HF: two kept", "FP", 1.4                                                       \
        }                                                                                                              \
    }
#define HASHES(jenkins, murmur, md5, sha1)                                                                             \
    {                                                                                                                  \
        {"thesis-hash-time", "Jenkins", "salt and URL", jenkins},                                                      \
            {"thesis-hash-time", "MurmurHash", "salt and URL", murmur},                                                \
            {"thesis-hash-time", "MD5", "salt and URL", md5},                                                          \
        {                                                                                                              \
            "thesis-hash-time", "SHA-1", "salt and URL", sha1                                                          \
        }                                                                                                              \
    }
#define SALT_PLACE(before, after)                                                                                      \
    {                                                                                                                  \
        {"thesis-salt-place", "MurmurHash", "8 HF, 5.0 M, salt before", before},                                       \
            {"thesis-salt-place", "MurmurHash", "8 HF, 5.0 M, salt after", after},                                     \
        {                                                                                                              \
            "thesis-salt-place", "one-at-a-time", "8 HF, 5.0 M, salt after", 0.006                                     \
        }                                                                                                              \
    }
#define WORST(filling)                                                                                                 \
    {                                                                                                                  \
        {"thesis-5.9", "3 HF", "2.0 M", 6.09}, {"thesis-5.17", "3 HF", "1 filter 2.0 M", filling},                     \
            {"thesis-5.16", "3 HF", "2.0 M", 0.37}, {"thesis-fig-5.1", "3 HF", "same order", 0.064},                   \
            {"thesis-5.18", "3 HF", "2.0 M", 0.37},                                                                    \
        {                                                                                                              \
            "thesis-5.17", "3 HF", "2 filters 2.0 M", 0.064                                                            \
        }                                                                                                              \
    }
#define DOUBLING(two, two_full)                                                                                        \
    {                                                                                                                  \
        {"thesis-5.1", "Jenkins", "FP", 21.3}, {"thesis-5.2", "Jenkins (seeded)", "FP", two},                          \
            {"thesis-5.5", "Jenkins", "FP", 39.3},                                                                     \
        {                                                                                                              \
            "thesis-5.6", "Jenkins (seeded)", "FP", two_full                                                           \
        }                                                                                                              \
    }
#define LATE(early, early_more)                                                                                        \
    {                                                                                                                  \
        {"thesis-fig-A.1", "3 HF", "first 60 %", early}, {"thesis-fig-A.1", "3 HF", "all", 2.6},                       \
            {"thesis-fig-A.2", "3 HF", "first 60 %", 0.5}, {"thesis-fig-A.2", "3 HF", "all", 1.76},                    \
            {"thesis-fig-A.3", "3 HF", "first 60 %", 0.01}, {"thesis-fig-A.3", "3 HF", "all", 0.13},                   \
            {"thesis-fig-A.4", "3 HF", "first 60 %", 0.004}, {"thesis-fig-A.4", "3 HF", "all", 0.064},                 \
            {"thesis-fig-A.2", "6 HF", "first 60 %", early_more},                                                      \
        {                                                                                                              \
            "thesis-fig-A.2", "6 HF", "all", 0.064                                                                     \
        }                                                                                                              \
    }
#define EXIT(printed, said)                                                                                            \
    {                                                                                                                  \
        {"thesis-A-filters", "3 filters", "query, first zero bit of each filter", printed},                            \
        {                                                                                                              \
            "thesis-A-filters", "3 filters", "query, first zero bit", said                                             \
        }                                                                                                              \
    }
#define OTHER_FUNCTIONS "thesis-temporal-functions"
#define OTHER_FILTERS "thesis-spatial-functions"

static const verdict_case cases[] = {
    {"thesis-other-functions",
     LAB_HOLDS,
     {{OTHER_FUNCTIONS, "2 HF: Jenkins, new salts", "non-incremental", 2.4},
      {OTHER_FUNCTIONS, "2 HF: Jenkins, then MurmurHash", "non-incremental", 2.401}}},
    {"thesis-other-functions",
     LAB_DOES_NOT_HOLD,
     {{OTHER_FILTERS, "3 filters: Jenkins, new salts", "incremental", 0.064},
      {OTHER_FILTERS, "3 filters: Jenkins, MurmurHash, SHA-1", "incremental", 0.07}}},
    {"thesis-other-combination", LAB_CONDITIONS, COMBINATION(2.4, 4.0)},
    {"thesis-other-combination", LAB_HOLDS, COMBINATION(2.4, 2.4)},
    {"thesis-other-combination", LAB_DOES_NOT_HOLD, COMBINATION(2.4, 15.5)},
    {"thesis-other-combination", LAB_UNJUDGED, COMBINATION(2.4, 4.0)},
    {"thesis-imperfect", LAB_DOES_NOT_HOLD, {{"thesis-5.5", "MD5", "FP", 39.4}}},
    {"thesis-imperfect", LAB_DOES_NOT_HOLD, {{"thesis-5.9", "4 HF", "3.0 M", 0.646}}}, /* (1 - e^(-1/3))^4 = 0.6456 % */
    {"thesis-imperfect", LAB_HOLDS, {{"thesis-5.9", "4 HF", "3.0 M", 0.67}}},
    {"thesis-imperfect", LAB_HOLDS, {{"thesis-5.7", "SHA-1 (seeded)", "FP", 6.4}}},
    {"thesis-imperfect", LAB_UNJUDGED, {{"thesis-5.6", "SHA-1 (seeded)", "FP", 15.5}}},
    {"thesis-hash-time", LAB_HOLDS, HASHES(50, 40, 190, 100)},
    {"thesis-hash-time", LAB_DOES_NOT_HOLD, HASHES(50, 40, 190, 45)},
    {"thesis-hash-time", LAB_DOES_NOT_HOLD, HASHES(50, 40, 190, 55)}, /* within the margin */
    {"thesis-same-values", LAB_CONDITIONS, SALT_PLACE(0.0001, 0.0006)},
    {"thesis-same-values", LAB_DOES_NOT_HOLD, SALT_PLACE(0.0001, 0.0001)},
    {"thesis-same-values", LAB_HOLDS, SALT_PLACE(0.0006, 0.0006)},
    {"thesis-worst-case", LAB_HOLDS, WORST(1.76)},
    {"thesis-worst-case", LAB_DOES_NOT_HOLD, WORST(6.09)},
    {"thesis-worst-case", LAB_UNJUDGED, WORST(1.76)},
    {"thesis-doubling", LAB_HOLDS, DOUBLING(5.8, 15.5)},
    {"thesis-doubling", LAB_CONDITIONS, DOUBLING(11, 15.5)},
    {"thesis-doubling", LAB_DOES_NOT_HOLD, DOUBLING(11, 25)},
    {"thesis-late", LAB_CONDITIONS, LATE(0.8, 0.004)},
    {"thesis-late", LAB_HOLDS, LATE(0.8, 0.06)},
    {"thesis-late", LAB_DOES_NOT_HOLD, LATE(2.3, 0.004)},
    {"thesis-only-temporal",
     LAB_HOLDS,
     {{"thesis-5.16", "4 HF", "1.7 M", 0.153}, {"thesis-5.20", "2 HF", "1.7 M", 0.1532}}},
    {"thesis-only-temporal",
     LAB_DOES_NOT_HOLD,
     {{"thesis-5.16", "6 HF", "1.7 M", 0.006}, {"thesis-5.21", "2 HF", "1.7 M", 0.005}}},
    {"thesis-early-exit", LAB_DOES_NOT_HOLD, EXIT(2.9, 1.0)},
    {"thesis-early-exit", LAB_HOLDS, EXIT(1.05, 1.0)},
    {"thesis-temporal", LAB_HOLDS, {{"thesis-5.9", "3 HF", "1.7 M", 8.8}, {"thesis-5.16", "3 HF", "1.7 M", 0.77}}},
    {"thesis-temporal",
     LAB_DOES_NOT_HOLD,
     {{"thesis-5.9", "3 HF", "1.7 M", 8.8}, {"thesis-5.16", "3 HF", "1.7 M", 8.8}}},
    {"thesis-temporal",
     LAB_UNJUDGED, /* it looks so, but so little was measured */
     {{"thesis-5.9", "3 HF", "1.7 M", 8.8}, {"thesis-5.16", "3 HF", "1.7 M", 0.77}}},
    {"thesis-spatial",
     LAB_CONDITIONS,
     {{"thesis-5.9", "3 HF", "2.0 M", 6.1},
      {"thesis-5.18", "3 HF", "2.0 M", 0.37},
      {"thesis-5.9", "6 HF", "2.0 M", 0.37}}},
    {"thesis-spatial",
     LAB_HOLDS,
     {{"thesis-5.9", "3 HF", "2.0 M", 6.1},
      {"thesis-5.18", "3 HF", "2.0 M", 0.1},
      {"thesis-5.9", "6 HF", "2.0 M", 0.37}}},
    {"thesis-spatial",
     LAB_DOES_NOT_HOLD,
     {{"thesis-5.9", "3 HF", "2.0 M", 6.1},
      {"thesis-5.18", "3 HF", "2.0 M", 6.1},
      {"thesis-5.9", "6 HF", "2.0 M", 0.37}}},
    {"thesis-spatio-temporal",
     LAB_CONDITIONS,
     {{"thesis-5.16", "3 HF", "1.7 M", 0.77},
      {"thesis-5.18", "3 HF", "1.7 M", 0.77},
      {"thesis-5.20", "3 HF", "1.7 M", 0.006},
      {"thesis-5.16", "6 HF", "1.7 M", 0.006}}},
    {"thesis-spatio-temporal",
     LAB_DOES_NOT_HOLD,
     {{"thesis-5.16", "3 HF", "1.7 M", 0.77},
      {"thesis-5.18", "3 HF", "1.7 M", 0.006},
      {"thesis-5.20", "3 HF", "1.7 M", 0.006},
      {"thesis-5.16", "6 HF", "1.7 M", 0.006}}},
    {"thesis-salts",
     LAB_HOLDS,
     {{"thesis-5.2", "Jenkins and MurmurHash", "FP", 15.5}, {"thesis-5.2", "MD5 (seeded)", "FP", 15.51}}},
    {"thesis-salts",
     LAB_DOES_NOT_HOLD,
     {{"thesis-5.2", "Jenkins and MurmurHash", "FP", 15.5},
      {"thesis-5.2", "MD5 (seeded)", "FP", 15.51},
      {"thesis-5.2", "SHA-1 (seeded)", "FP", 18}}},
    {"thesis-filters-or-functions",
     LAB_HOLDS,
     {{"thesis-5.9", "6 HF", "2.0 M", 0.37}, {"thesis-5.18", "3 HF", "2.0 M", 0.371}}},
    {"thesis-filters-or-functions",
     LAB_DOES_NOT_HOLD,
     {{"thesis-5.17", "6 HF", "1 filter 2.0 M", 0.064}, {"thesis-5.17", "3 HF", "2 filters 2.0 M", 0.05}}},
    {"thesis-jenkins", LAB_DOES_NOT_HOLD, {{"thesis-5.1", "Jenkins", "FP", 21.3}, {"thesis-5.1", "MD5", "FP", 21.4}}},
    {"thesis-jenkins",
     LAB_HOLDS,
     {{"thesis-5.1", "Jenkins", "FP", 15}, {"thesis-5.1", "MD5", "FP", 21}, {"thesis-5.1", "SHA-1", "FP", 22}}},
    {"thesis-jenkins",
     LAB_DOES_NOT_HOLD,
     {{"thesis-5.1", "Jenkins", "FP", 15}, {"thesis-5.1", "MD5", "FP", 10}, {"thesis-5.1", "SHA-1", "FP", 22}}},
    {"thesis-pages-missed", /* theory says 0.08 here, and the printed 0.064 plays no part */
     LAB_CONDITIONS,
     {{"thesis-fig-5.1", "3 HF", "same order", 0.08}, {"thesis-fig-5.1", "3 HF", "other order", 0.031}}},
    {"thesis-pages-missed",
     LAB_HOLDS,
     {{"thesis-fig-5.1", "3 HF", "same order", 0.08}, {"thesis-fig-5.1", "3 HF", "other order", 0.08}}},
    {"thesis-pages-missed",
     LAB_DOES_NOT_HOLD,
     {{"thesis-fig-5.1", "3 HF", "same order", 0.064}, {"thesis-fig-5.1", "3 HF", "other order", 0.031}}},
    {"thesis-delay", LAB_HOLDS, DELAY(1.76, 0.06, 0.003)},
    {"thesis-delay", LAB_DOES_NOT_HOLD, DELAY(1.76, 1.76, 1.76)},
    {"thesis-multiplier", LAB_CONDITIONS, MULTIPLIER(1.08, 0.37, 100, 150)},
    {"thesis-multiplier", LAB_DOES_NOT_HOLD, MULTIPLIER(1.08, 0.37, 150, 100)},
    {"thesis-multiplier", LAB_HOLDS, MULTIPLIER(0.3, 0.37, 100, 150)},
    {"thesis-multiplier", LAB_DOES_NOT_HOLD, MULTIPLIER(1.08, 0.37, 119, 125)}, /* within the margin: no faster */
    {"thesis-memory",
     LAB_HOLDS,
     {{"thesis-5.10", "3 HF", "2.0 M", 733},
      {"thesis-5.10", "10 HF", "5.0 M", 6104},
      {"thesis-5.13", "ArrayList", "memory", 90000},
      {"thesis-5.13", "HashSet", "memory", 120000}}},
    {"thesis-memory",
     LAB_CONDITIONS,
     {{"thesis-5.10", "3 HF", "2.0 M", 733},
      {"thesis-5.10", "10 HF", "5.0 M", 6104},
      {"thesis-5.13", "ArrayList", "memory", 5000},
      {"thesis-5.13", "HashSet", "memory", 120000}}},
    {"thesis-memory",
     LAB_DOES_NOT_HOLD,
     {{"thesis-5.10", "3 HF", "2.0 M", 733},
      {"thesis-5.10", "10 HF", "5.0 M", 6104},
      {"thesis-5.13", "ArrayList", "memory", 500},
      {"thesis-5.13", "HashSet", "memory", 120000}}},
    {"thesis-memory-filters",
     LAB_HOLDS,
     {{"thesis-5.10", "3 HF", "2.0 M", 733},
      {"thesis-5.11", "3 HF", "2.0 M", 1466},
      {"thesis-5.12", "3 HF", "2.0 M", 2199}}},
    {"thesis-memory-filters",
     LAB_DOES_NOT_HOLD,
     {{"thesis-5.10", "3 HF", "2.0 M", 733},
      {"thesis-5.11", "3 HF", "2.0 M", 1466},
      {"thesis-5.12", "3 HF", "2.0 M", 1500}}},
    {"thesis-time-functions", LAB_HOLDS, {{"thesis-A.4", "3 HF", "2.0 M", 1}, {"thesis-A.4", "10 HF", "2.0 M", 3.2}}},
    {"thesis-time-functions",
     LAB_DOES_NOT_HOLD,
     {{"thesis-A.4", "3 HF", "2.0 M", 1}, {"thesis-A.4", "10 HF", "2.0 M", 1.5}}},
    {"thesis-time-query",
     LAB_CONDITIONS,
     {{"thesis-A.1", "3 HF", "2.0 M", 1},
      {"thesis-A.1", "10 HF", "2.0 M", 3.2},
      {"thesis-A.1-break", "3 HF", "2.0 M", 1},
      {"thesis-A.1-break", "10 HF", "2.0 M", 1.1}}},
    {"thesis-time-query",
     LAB_HOLDS,
     {{"thesis-A.1", "3 HF", "2.0 M", 1},
      {"thesis-A.1", "10 HF", "2.0 M", 3.2},
      {"thesis-A.1-break", "3 HF", "2.0 M", 1},
      {"thesis-A.1-break", "10 HF", "2.0 M", 3.1}}},
    {"thesis-time-query",
     LAB_DOES_NOT_HOLD,
     {{"thesis-A.1", "3 HF", "2.0 M", 1},
      {"thesis-A.1", "10 HF", "2.0 M", 1.2},
      {"thesis-A.1-break", "3 HF", "2.0 M", 1},
      {"thesis-A.1-break", "10 HF", "2.0 M", 1.1}}},
    {"thesis-time-multiplier", LAB_HOLDS, {{TIME, "3 HF, 2.0 M: 6 bits", KNOWN, 100}, {TIME, MORE_M, KNOWN, 110}}},
    {"thesis-time-multiplier",
     LAB_DOES_NOT_HOLD,
     {{TIME, "3 HF, 2.0 M: 6 bits", KNOWN, 100}, {TIME, MORE_M, KNOWN, 190}}},
    {"thesis-hashset-time",
     LAB_HOLDS,
     {{"thesis-5.14", "HashSet", "time", 0.3}, {"thesis-5.15", "HashSet", "time", 0.2}}},
    {"thesis-hashset-time",
     LAB_CONDITIONS,
     {{"thesis-5.14", "HashSet", "time", 1.3}, {"thesis-5.15", "HashSet", "time", 0.2}}},
    {"thesis-hashset-time",
     LAB_DOES_NOT_HOLD,
     {{"thesis-5.14", "HashSet", "time", 1.3}, {"thesis-5.15", "HashSet", "time", 1.2}}},
    {"thesis-hashset-time", /* within the margin: the filter is not slower to add to */
     LAB_CONDITIONS,
     {{"thesis-5.14", "HashSet", "time", 0.99}, {"thesis-5.15", "HashSet", "time", 0.2}}},
    {"thesis-list-time",
     LAB_HOLDS,
     {{"thesis-5.14", "ArrayList", "time", 0.1},
      {"thesis-5.14", "HashSet", "time", 0.3},
      {"thesis-5.14", "a list that looks up first", "time", 3500},
      {"thesis-5.15", "ArrayList", "time", 7000}}},
    {"thesis-list-time",
     LAB_CONDITIONS,
     {{"thesis-5.14", "ArrayList", "time", 0.4},
      {"thesis-5.14", "HashSet", "time", 0.3},
      {"thesis-5.14", "a list that looks up first", "time", 3500},
      {"thesis-5.15", "ArrayList", "time", 7000}}},
    {"thesis-scalable", LAB_CONDITIONS, SCALABLE(4.7, 0.2209, 99, 16)},
    {"thesis-scalable", LAB_HOLDS, SCALABLE(4.7, 0.2209, 99, 5)},
    {"thesis-scalable", LAB_DOES_NOT_HOLD, SCALABLE(4.7, 4.7, 99, 16)},
    {"thesis-scalable", LAB_DOES_NOT_HOLD, SCALABLE(4.7, 0.2209, 0.1, 16)},
    {"thesis-revisit", LAB_CONDITIONS, REVISIT(5.6, 15)},
    {"thesis-revisit", LAB_HOLDS, REVISIT(5.6, 5.6)},
    {"thesis-revisit", LAB_DOES_NOT_HOLD, REVISIT(7, 15)},
    {"thesis-genetic", LAB_DOES_NOT_HOLD, GENETIC(1.77)},
    {"thesis-genetic", LAB_DOES_NOT_HOLD, GENETIC(3.5)},
    {"thesis-genetic", LAB_CONDITIONS, GENETIC(1.0)},
    {"thesis-genetic", LAB_HOLDS, GENETIC(0.01)},
    {"thesis-genetic", LAB_UNJUDGED, GENETIC(1.0)},
    {"thesis-revisit", LAB_UNJUDGED, REVISIT(5.6, 15)},
    {"thesis-processes", LAB_CONDITIONS, PROCESSES(0, 40)},
    {"thesis-processes", LAB_HOLDS, PROCESSES(0, 0.3)},
    {"thesis-processes", LAB_DOES_NOT_HOLD, PROCESSES(0.01, 40)},
};
enum { CASES = sizeof cases / sizeof *cases };

/* ---- made-up books ---- */

/* What theory says of each cell, where a claim asks for it. */
static double theory_of(const char *claim)
{
    return strcmp(claim, "thesis-pages-missed") == 0 ? 0.08 : strcmp(claim, "thesis-same-values") == 0 ? 0.0001 : 1.76;
}

/* All cells but number `without`. */
static void fill_noisy(made_book *made, const verdict_case *from, size_t without, double noise)
{
    made_clear(made);
    made->noise = noise;
    for (size_t i = 0; i < CELLS && from->cells[i].table; i++) {
        if (i == without)
            continue;
        lab_entry *entry = made_put(made, &from->cells[i]);
        double spread = entry->measured / (from->holding == LAB_UNJUDGED ? 1 : 1000);
        entry->theory = theory_of(from->claim);
        entry->low -= spread;
        entry->high += spread;
    }
}

static void fill(made_book *made, const verdict_case *from, size_t without)
{
    fill_noisy(made, from, without, 0.01);
}

static lab_holding judge(const lab_claim *claim, const lab_book *book, char *sentence)
{
    memset(sentence, 0, SENTENCE);
    return lab_claim_judged(claim, book, sentence, SENTENCE);
}

static void the_verdict_follows_from_the_figures(void **state)
{
    const verdict_case *which = *state;
    const lab_claim *claim = claim_of(which->claim);
    static made_book made;
    char sentence[SENTENCE];
    fill(&made, which, CELLS);
    lab_holding holding = judge(claim, &made.book, sentence);
    check(holding == which->holding, "%s %s, not: %s. %s", claim->id, lab_holding_name(holding),
          lab_holding_name(which->holding), sentence);
    check(strpbrk(sentence, "0123456789") && !strstr(sentence, "nan"), "%s: %s", claim->id, sentence);
    check(strlen(sentence) < SENTENCE - 1, "%s: too long", claim->id);
}

/* Comparisons of many cells do with those that there are; all others need each of theirs. */
static void without_a_figure_there_is_no_verdict(void **state)
{
    const verdict_case *which = *state;
    const lab_claim *claim = claim_of(which->claim);
    static made_book made;
    char sentence[SENTENCE];
    size_t count = 0;
    while (count < CELLS && which->cells[count].table)
        count++;
    for (size_t i = 0; i < count; i++) {
        fill(&made, which, i);
        lab_holding holding = judge(claim, &made.book, sentence);
        bool many = count == 3 && (strcmp(claim->id, "thesis-salts") == 0 || strcmp(claim->id, "thesis-jenkins") == 0);
        check(many || holding == LAB_UNJUDGED, "%s without %s, %s: %s", claim->id, which->cells[i].row,
              which->cells[i].column, lab_holding_name(holding));
    }
}

/* Times that scatter by more than they differ decide nothing, whichever is ahead. */
static void a_coin_toss_is_no_verdict(void **state)
{
    static const verdict_case tosses[] = {
        {"thesis-multiplier", LAB_CONDITIONS, MULTIPLIER(1.08, 0.37, 119, 125)},
        {"thesis-multiplier", LAB_CONDITIONS, MULTIPLIER(1.08, 0.37, 125, 119)},
        {"thesis-hashset-time",
         LAB_CONDITIONS,
         {{"thesis-5.14", "HashSet", "time", 0.999}, {"thesis-5.15", "HashSet", "time", 0.2}}},
        {"thesis-hashset-time",
         LAB_CONDITIONS,
         {{"thesis-5.14", "HashSet", "time", 1.001}, {"thesis-5.15", "HashSet", "time", 0.2}}},
        {"thesis-time-multiplier",
         LAB_CONDITIONS,
         {{TIME, "3 HF, 2.0 M: 6 bits", KNOWN, 100}, {TIME, MORE_M, KNOWN, 110}}},
        {"thesis-hash-time", LAB_CONDITIONS, HASHES(50, 40, 58, 57)},
        {"thesis-early-exit", LAB_CONDITIONS, EXIT(1.2, 1.0)},
    };
    static made_book made;
    char sentence[SENTENCE];
    (void)state;
    for (size_t i = 0; i < sizeof tosses / sizeof *tosses; i++) {
        fill_noisy(&made, &tosses[i], CELLS, 0.5);
        lab_holding holding = judge(claim_of(tosses[i].claim), &made.book, sentence);
        check(holding == LAB_UNJUDGED, "%s: %s. %s", tosses[i].claim, lab_holding_name(holding), sentence);
        check(sentence[0], "%s does not say what was measured", tosses[i].claim);
    }
}

/* Margins are part of the claim, and an unusual one has a reason. */
static void every_unusual_margin_has_a_reason(void **state)
{
    const lab_claim *claim;
    (void)state;
    for (size_t i = 0; (claim = lab_claim_at(i)); i++)
        check(!(claim->margin > 0) || claim->margin_reason || fabs(claim->margin - LAB_RATE_MARGIN) < 1e-9 ||
                  fabs(claim->margin - LAB_TIME_MARGIN) < 1e-9,
              "%s: why %g?", claim->id, claim->margin);
}

static void every_claim_has_cases_and_evidence(void **state)
{
    lab_book empty = {.count = 0};
    char sentence[SENTENCE];
    (void)state;
    for (const lab_claim *claim = lab_thesis_claims; claim->id; claim++) {
        unsigned holds = 0, fails = 0;
        for (size_t i = 0; i < CASES; i++)
            if (strcmp(cases[i].claim, claim->id) == 0) {
                holds += cases[i].holding == LAB_HOLDS || cases[i].holding == LAB_CONDITIONS;
                fails += cases[i].holding == LAB_DOES_NOT_HOLD || cases[i].holding == LAB_CONDITIONS;
            }
        check(holds && fails, "%s is not judged both ways", claim->id);
        check(judge(claim, &empty, sentence) == LAB_UNJUDGED, "%s is judged by nothing", claim->id);
        check(claim->source[0] && claim->text[0] && claim->evidence[0], "%s says too little", claim->id);
    }
}

/* The report adds the full stop. */
static void every_claim_is_a_sentence_without_its_full_stop(void **state)
{
    const lab_claim *claim;
    (void)state;
    for (size_t i = 0; (claim = lab_claim_at(i)); i++) {
        check(isupper((unsigned char)claim->text[0]) && claim->text[strlen(claim->text) - 1] != '.', "%s: %s",
              claim->id, claim->text);
        check(claim_of(claim->id) == claim, "there are two claims %s", claim->id);
    }
}

/* ---- a book that is measured ---- */

static bool has_evidence(const lab_book *book, const lab_claim *claim)
{
    char ids[SENTENCE], *rest = NULL;
    snprintf(ids, sizeof ids, "%s", claim->evidence);
    for (char *id = strtok_r(ids, " ", &rest); id; id = strtok_r(NULL, " ", &rest))
        if (!lab_book_find(book, id) || (lab_study_find(id) && !lab_study_built(lab_study_find(id))))
            return false;
    return true;
}

/* Tables that claims of the thesis rest on. */
static const char *const tables_of_claims[] = {"thesis-5.1",
                                               "thesis-5.2",
                                               "thesis-5.3",
                                               "thesis-5.6",
                                               "thesis-5.7",
                                               "thesis-5.9",
                                               "thesis-5.16",
                                               "thesis-5.17",
                                               "thesis-5.18",
                                               "thesis-5.19",
                                               "thesis-5.5",
                                               "thesis-5.20",
                                               "thesis-5.21",
                                               "thesis-fig-5.1",
                                               "thesis-fig-A.1",
                                               "thesis-fig-A.2",
                                               "thesis-fig-A.3",
                                               "thesis-fig-A.4",
                                               "thesis-temporal-functions",
                                               "thesis-spatial-functions",
                                               "thesis-kept-functions",
                                               "thesis-hash-time",
                                               "thesis-salt-place",
                                               "further-delay",
                                               "further-scalable",
                                               "further-scalable-memory",
                                               "further-revisit",
                                               "further-genetic",
                                               "further-genetic-time",
                                               "further-processes",
                                               "further-processes-time",
                                               "further-processes-messages",
                                               "further-equal-bits",
                                               "further-equal-bits-time"};

/*
 * Each claim finds all the cells that it asks for in the tables that it names. So few URLs decide large differences;
 * equality stays open.
 */
static void a_measured_book_is_judged(void **state)
{
    lab_settings settings = {.urls = 20000, .runs = 3, .seed = 1, .threads = 2};
    lab_book book;
    char sentence[SENTENCE];
    unsigned judged = 0;
    (void)state;
    int code = lab_book_measure(&book, tables_of_claims, sizeof tables_of_claims / sizeof *tables_of_claims, &settings);
    check(code == 0, "measuring: %s", vidi_message());
    for (const lab_claim *claim = lab_thesis_claims; claim->id; claim++) {
        lab_holding holding = judge(claim, &book, sentence);
        check((sentence[0] != 0) == has_evidence(&book, claim), "%s: %s. %s", claim->id, lab_holding_name(holding),
              sentence);
        judged += holding != LAB_UNJUDGED;
    }
    check(judged >= 4, "only %u claims are judged", judged);
    assert_int_equal(judge(claim_of("thesis-temporal"), &book, sentence), LAB_HOLDS);
    assert_int_equal(judge(claim_of("thesis-spatial"), &book, sentence), LAB_CONDITIONS);
    assert_int_equal(judge(claim_of("thesis-filters-or-functions"), &book, sentence), LAB_UNJUDGED);
    check(strstr(sentence, "thesis-5.18 3 HF 5.0 M"), "pairs without power are not named: %s", sentence);
    assert_int_equal(judge(claim_of("thesis-delay"), &book, sentence), LAB_HOLDS);
    lab_book_free(&book);
}

int main(int argc, char **argv)
{
    for (size_t i = 0; i < CASES; i++) {
        test_add("the verdict follows from the figures", the_verdict_follows_from_the_figures, &cases[i]);
        test_add("without a figure there is no verdict", without_a_figure_there_is_no_verdict, &cases[i]);
    }
    test_add("every claim has cases and evidence", every_claim_has_cases_and_evidence, NULL);
    test_add("every claim is a sentence", every_claim_is_a_sentence_without_its_full_stop, NULL);
    test_add("a coin toss is no verdict", a_coin_toss_is_no_verdict, NULL);
    test_add("every unusual margin has a reason", every_unusual_margin_has_a_reason, NULL);
    test_add("a measured book is judged", a_measured_book_is_judged, NULL);
    return test_run("lab/claims", argc, argv);
}
