/*
 * The claims of the multi-layer paper, judged by our measurements. A claim whose tables were not measured stays
 * unjudged.
 */
#include "lab/counting/counting.h"
#include "lab/judge/judging.h"
#include "lab/multilayer/multilayer.h"

#define PAPER "the multi-layer paper, "

const lab_claim lab_multilayer_claims[] = {
    {"multilayer-search", PAPER "section 1.1",
     "Linear search takes as many comparisons as there are URLs, binary search the logarithm of that",
     "multilayer-comparisons", .margin = 0.1,
     .margin_reason = "a search ends after a whole number of comparisons, next to the logarithm",
     .cells = "multilayer-comparisons @ linear search @ URLs that are not; @ binary search",
     .tests = {"equal (B/log2(A))"},
     .sentence = "A lookup of a missing URL takes {A 0f} comparisons by linear search and {B 1f} by binary search"},
    {"multilayer-algorithms", PAPER "algorithms 1 and 2",
     "The algorithms are a Bloom filter's, with false positives of (1-e^(-kn/m))^k",
     "multilayer-cross multilayer-false", .margin = 0.05, .margin_reason = "these tables have a twentieth of the URLs",
     .cells =
         "multilayer-cross @ a segment of another @ classic of segments; @ new page; @ a segment of another @ classic "
         "of URLs",
     .tests = {"equal A~C"},
     .sentence = "As printed they insert segments: {A 0f} % of the URLs made of known segments are lost, and {B 1f} % "
                 "of those with one new segment, where a filter of URLs loses {C 1f} %"},
    {"multilayer-xor", PAPER "multi-layer introduction",
     "The last layer, with the XOR of the segments' positions, solves the problem of URLs made of others' segments",
     "multilayer-cross", .margin = 1,
     .margin_reason = "our reading of \"solves\": more than a half of them is no longer lost",
     .cells =
         "multilayer-cross @ a segment of another @ layers without the XOR; @@ multilayer, as the paper; @ permuted; "
         "@ shortened by an equal pair; @ permuted @ multilayer, layers salted",
     .tests = {"more A~B of 3", "more C~B D~B of 3"}, .rule = "a- fails; a? open; b+ conditions; b? open; holds",
     .sentence =
         "Of URLs with a segment of another URL, {A 0f} % are lost without that layer and {B 1f} % with it; but "
         "{C 0f} % of permuted and {D 0f} % of shortened URLs are lost, unless each layer has its own salt "
         "({E 1f} %)"},
    {"multilayer-addresses", PAPER "algorithm 3",
     "The positions in the last layer, of m bits as well, are the XOR of the positions in the others",
     "multilayer-addresses",
     .cells =
         "multilayer-addresses @ m = 16829152, the original @ URLs with such an address; @ m = 4872584, the study's "
         "runs; @ m = 16777216, a power of two",
     .tests = {"true C>0", "true A>0 B>0"}, .rule = "a+ fails; b+ conditions; holds",
     .sentence = "{A 1f} % of the URLs get an address beyond the array with the original's m, {B 0f} % with the m of "
                 "the paper's runs, and {C 0f} % with a power of two"},
    {"multilayer-larger-m", PAPER "analysis", "The larger m, the fewer false positives", "multilayer-equal",
     .margin = LAB_RATE_MARGIN,
     /* the larger m is 3.5 times the smaller */
     .cells =
         "multilayer-equal @ m = 4.8 n, other URLs @ classic, m; @ m = 16.8 n, other URLs; @ m = 4.8 n, other URLs @ "
         "multilayer, m per layer; @ m = 16.8 n, other URLs",
     .tests = {"more A~B C~D"}, .rule = LAB_ALL_OR_SOME,
     .sentence =
         "With 4.8 and 16.8 bits per URL (multilayer: in each layer) classic loses {A 3g} and {B 2g} % of other "
         "URLs, and multilayer {C 2g} and {D 1g} %"},
    {"multilayer-best-k", PAPER "analysis", "The best number of hash functions is k = (m/n) ln 2", "counting-k",
     .judge = lab_claim_best_k, .margin = LAB_RATE_MARGIN},
    {"multilayer-formula", PAPER "analysis", "Multilayer's false positives are (1-e^(-kn/m))^(kL)",
     "multilayer-formula multilayer-quarter", .margin = 0.2, .margin_reason = "the formula is called an approximation",
     .cells =
         "multilayer-formula @ the paper's formula @ m = 2.4 n; @ all segments new; @ last segment new; @ new page of "
         "one directory; @ new host alone; @ all segments known",
     .tests = {"equal B~=A C~=A D~=A E~=A F~=A"},
     .sentence = "With 2.4 bits per URL the formula gives {A 2f} %; the rate is {B 2f} % if all segments are new, {C "
                 "1f} % if only the last one is, {D 1f} % in one directory, {E 1f} % for hosts alone, and {F 1f} % if "
                 "all are known"},
    {"multilayer-fewer", PAPER "results, figure 3",
     "Multilayer has far fewer false positives than a classic filter of as many bits as a layer",
     "multilayer-original multilayer-false multilayer-equal", .margin = 1,
     .margin_reason = "our reading of \"far fewer\": less than half",
     .cells = "multilayer-original @ 3.5 M @ classic; @@ multilayer; multilayer-equal @ m = 4.8 n, known segments @ "
              "classic, "
              "m; @@ multilayer, m per layer",
     .tests = {"more A~B of 2", "more C~D of 2"}, .rule = "a- fails; a? open; b? open; b- conditions; holds",
     .sentence = "Of URLs with a number appended multilayer loses {B 0f} where classic loses {A 0f}, with five times "
                 "the bits; of URLs whose segments are all known it loses {D 2f} %, classic {C 2f} %"},
    {"multilayer-slower", PAPER "results, figures 4 and 5",
     "Insertions and lookups take longer with multilayer, because it computes more hash functions",
     "multilayer-slower multilayer-query multilayer-insert", .margin = LAB_TIME_MARGIN,
     .cells = "multilayer-slower @ 3.5 M @ insert ratio; @@ lookup ratio", .tests = {"equal A", "equal B"},
     .rule = "a? open; b? open; a> b> holds; a> conditions; b> conditions; fails",
     .sentence = "The time of an insertion, divided by that of classic, is {a}, and of a lookup {b}"},
    {"multilayer-same-time", PAPER "conclusion", "Multilayer and classic take the same time for insertions and lookups",
     "multilayer-slower multilayer-query multilayer-insert", .margin = LAB_TIME_MARGIN,
     .cells = "multilayer-slower @ 3.5 M @ insert ratio; @@ lookup ratio", .tests = {"equal A B"},
     .sentence = "[a-|The paper's own results contradict this, and so do ours: t|T]he time of an insertion, divided by "
                 "that of classic, is {a}, and of a lookup {a1}"},
    {"multilayer-traditional", PAPER "conclusion",
     "Lookups in both sorts of Bloom filters are faster than the traditional searches", "multilayer-query",
     .margin = LAB_TIME_MARGIN,
     .cells = "multilayer-query @ linear search @ 50 k; @ binary search; @ hash table; @ classic; @ multilayer",
     .tests = {"more A:D A:E", "more B:D B:E", "more C:D C:E"},
     .rule = "a- fails; a? open; b- conditions; c- conditions; b? open; c? open; holds",
     .sentence = "A lookup takes {A 0f} ns by linear search, {B 0f} by binary search, {C 0f} with a hash table, {D 0f} "
                 "with classic and {E 0f} with multilayer"},
    {"multilayer-less-space", PAPER "conclusion",
     "Both sorts of Bloom filters take less space than the traditional searches", "multilayer-space",
     .margin = LAB_RATE_MARGIN,
     .cells = "multilayer-space @ linear search @ bytes; @ binary search; @ hash table; @ classic; @ multilayer",
     .tests = {"more (A/max(D,E)) (B/max(D,E)) (C/max(D,E))"}, .rule = LAB_ALL_OR_SOME,
     .sentence = "A URL takes {A 0f} bytes in a list, {B 0f} sorted and {C 0f} in a hash table, {D 2g} in a classic "
                 "filter and {E 2g} in multilayer, where a tenth of other URLs is lost by the former"},
    {"multilayer-more-space", PAPER "conclusion", "Multilayer takes more space than classic", "multilayer-space",
     .margin = LAB_RATE_MARGIN, .cells = "multilayer-space @ classic @ bytes; @ multilayer", .tests = {"more (B/A)"},
     .sentence = "Four layers of m bits and the XOR layer take {B 3g} bytes per URL, a classic filter of m bits {A "
                 "3g}"},
    {"multilayer-best", PAPER "conclusion",
     "Multilayer, having the fewest false positives, is the most effective algorithm for URLs", "multilayer-equal",
     .margin = LAB_RATE_MARGIN,
     .cells =
         "multilayer-equal @ m = 4.8 n, number appended @ multilayer, m per layer; @ m = 4.8 n, other URLs; @ m = 4.8 "
         "n, known segments; @ m = 4.8 n, number appended @ classic, 5 m; @ m = 4.8 n, other URLs; @ m = 4.8 n, "
         "known segments; @ m = 4.8 n, number appended @ classic, 5 m, best k; @ m = 4.8 n, other URLs; @ m = 4.8 "
         "n, known segments",
     /* It holds if multilayer is no worse than a classic filter with the same memory and the best k. */
     .tests = {"no-more A/G B/H C/I"}, .rule = LAB_ALL_OR_SOME,
     .sentence =
         "With 24 bits per URL multilayer loses {A 3f} % of URLs with a number appended, {B 3f} % of others and "
         "{C 2f} % of URLs with known segments; classic loses {D 3f}, {E 3f} and {F 3f} % with three "
         "functions, and {G 4f}, {H 4f} and {I 4f} % with the best number of functions"},
    {"multilayer-own", PAPER "experiment and results",
     "Of 1,562,978 rows about 50,600 are false positives of the classic filter", "multilayer-program multilayer-own",
     .margin = 0.05, .margin_reason = "the published counts of its runs differ by up to 2 %",
     .cells = "multilayer-program @ 1562978 rows @ classic", .provided = "A.published>0",
     .tests = {"equal (A.published)~A"},
     .sentence = "Of 781,489 lookups of different URLs the program loses {A 0f}; the rest of the {A.published 0f} must "
                 "be URLs that occur in both halves of the paper's file, and as a share of the lookups it is twice "
                 "that of the rows"},
    {.id = NULL},
};
