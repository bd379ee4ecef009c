/*
 * Experiments: the multi-layer paper (a study of Cen, Xu, Sun 2010, here "the original"). What is measured is in the
 * files layers_*.c; claims are in layers_claims.c.
 *
 * What the paper leaves open and is taken so here: its hash functions are sip13 (its own runs: murmur2 with salts,
 * since the library has no MurmurHash3); the XOR is of hashes before they are reduced to addresses, except in
 * layers-formula, where m is a power of two; segments beyond the fourth are joined into it.
 */
#include "lab/layers.h"

#define SCALED "Numbers of URLs are for --urls 1e6 and scaled with it. "

const lab_study lab_layers[] = {
    {.id = "layers-comparisons",
     .title = "Comparisons of linear and binary search",
     .source = "the multi-layer paper, section 1.1",
     .note = SCALED "50,000 URLs. The kinds list and sorted do not count comparisons: counted by searches of the lab's "
                    "own. Linear search is asked 100 URLs.",
     .unit = "comparisons",
     .rows = layers_comparisons_rows,
     .columns = layers_comparisons_columns,
     .runs_most = 1,
     .measure = layers_comparisons_measure,
     .judge = layers_comparisons_judge},
    {.id = "layers-false",
     .title = "False positives against the number of URLs",
     .source = "the multi-layer paper, figure 3",
     .note =
         SCALED "Its numbers are not in the text. k = 3, m for a tenth at 50,000 URLs, as many others asked, scheme "
                "stripped. 'Of segments' is what algorithms 1 and 2 say to the letter. Expected: from the numbers "
                "of different segments, counted. Linear search has 2,000 URLs and is asked 100.",
     .unit = "%",
     .rows = layers_false_rows,
     .columns = layers_figure_columns,
     .plot = {.x = "URLs (thousands)", .y = "false positives (%)"},
     .measure = layers_false_measure,
     .judge_beside = layers_false_judge},
    {.id = "layers-query",
     .title = "Time of a question against the number of URLs",
     .source = "the multi-layer paper, figure 4",
     .note =
         SCALED "Its numbers are not in the text. URLs that are not there. Linear search is reckoned from 2,000 URLs "
                "in proportion.",
     .unit = "ns a URL",
     .rows = layers_times_rows,
     .columns = layers_figure_columns,
     .timed = true,
     .runs_most = 9,
     .plot = {.x = "URLs (thousands)", .y = "ns a URL", .log_y = true},
     .measure = layers_query_measure},
    {.id = "layers-insert",
     .title = "Time of an insertion against the number of URLs",
     .source = "the multi-layer paper, figure 5",
     .note = SCALED "Its numbers are not in the text. The mean over all URLs so far; every kind looks before it adds. "
                    "Linear search is reckoned from 2,000 URLs in proportion.",
     .unit = "ns a URL",
     .rows = layers_times_rows,
     .columns = layers_figure_columns,
     .timed = true,
     .runs_most = 9,
     .plot = {.x = "URLs (thousands)", .y = "ns a URL", .log_y = true},
     .measure = layers_insert_measure},
    {.id = "layers-original",
     .title = "False positives of growing numbers of URLs in filters of one size: the original's table",
     .source = "the multi-layer paper, figure 3, and the original that it studies",
     .note = "k = 3, L = 4 and the XOR layer, scheme stripped, asked: each URL with a number behind it. '1.0 M' is a "
             "twentieth of --urls, and m = 16,829,152 a layer is scaled with it; counts are told as of the original's "
             "number of URLs. The original does not name its hash functions: sip13 here, and the XOR of hashes, since "
             "m is no power of two.",
     .unit = "false positives",
     .rows = layers_sizes,
     .columns = layers_original_columns,
     .plot = {.x = "URLs (millions)", .y = "false positives", .columns = true, .log_y = true},
     .measure = layers_original_measure,
     .judge_beside = layers_original_judge},
    {.id = "layers-quarter",
     .title = "The original's counts, and what one unknown segment in a layer of n/4 different ones gives",
     .source = "the multi-layer paper, analysis, and the original that it studies",
     .note =
         "As layers-original, with URLs host/a/b/page of which each four have their last segment in common, so that "
         "the layer has a quarter as many different segments as there are URLs. The quarter was chosen to fit: one "
         "number for six published counts; the original does not tell its segments. Beside it the paper's formula "
         "(1-e^(-kn/m))^(kL), which is computed, not measured.",
     .unit = "false positives",
     .rows = layers_sizes,
     .columns = layers_quarter_columns,
     .plot = {.x = "URLs (millions)", .y = "false positives", .columns = true, .log_y = true},
     .measure = layers_quarter_measure,
     .judge = layers_quarter_judge},
    {.id = "layers-slower",
     .title = "Seconds of the original, multilayer beside classic",
     .source = "the multi-layer paper, figures 4 and 5, and the original that it studies",
     .note =
         "'1.0 M' is a twentieth of --urls, m scaled with it; ours are seconds as for the original's number of URLs. "
         "Its seconds are another machine's and another language's: only the ratios say something.",
     .unit = "s",
     .rows = layers_sizes,
     .columns = layers_slower_columns,
     .timed = true,
     .runs_most = 9,
     .measure = layers_slower_measure,
     .judge = layers_slower_judge},
    {.id = "layers-formula",
     .title = "The paper's formula against five sorts of URLs",
     .source = "the multi-layer paper, analysis",
     .note = "k = 3, L = 4, XOR of addresses, m a power of two near --urls / 20 times m/n. The formula is "
             "(1-e^(-kn/m))^(kL).",
     .unit = "%",
     .rows = layers_formula_rows,
     .columns = layers_formula_columns,
     .measure = layers_formula_measure,
     .judge = layers_formula_judge},
    {.id = "layers-addresses",
     .title = "XOR of four addresses below m: how many leave the array",
     .source = "the multi-layer paper, algorithm 3",
     .note = "k = 3, random addresses. The study's runs: 6.235 bits for each of 781,489 URLs.",
     .unit = "%",
     .rows = layers_addresses_rows,
     .columns = layers_addresses_columns,
     .measure = layers_addresses_measure,
     .judge = layers_addresses_judge},
    {.id = "layers-equal",
     .title = "Multilayer and classic with the bits of one layer, and with those of all",
     .source = "the multi-layer paper, conclusion",
     .note =
         SCALED "50,000 URLs; k = 3, L = 4: multilayer has 5 m bits in all. Best k: 5 (m/n) ln 2, at most 32. Known "
                "segments: the path of one URL behind the host of another.",
     .unit = "%",
     .rows = layers_equal_rows,
     .columns = layers_equal_columns,
     .measure = layers_equal_measure,
     .judge_beside = layers_equal_judge},
    {.id = "layers-cross",
     .title = "URLs that never went in, made of segments that did",
     .source = "the multi-layer paper, introduction of the multi-layer filter",
     .note =
         SCALED "50,000 URLs go in, k = 3, m = 4.8 n a layer. As the paper: scheme stripped, all layers with the same "
                "functions. Salted: each layer with its own, scheme kept. Without the XOR: four classic filters, "
                "one a layer, since the kind has no such parameter.",
     .unit = "%",
     .rows = layers_cross_rows,
     .columns = layers_cross_columns,
     .measure = layers_cross_measure,
     .judge = layers_cross_judge},
    {.id = "layers-own",
     .title = "The paper's own runs: how much of its counts theory explains",
     .source = "the multi-layer paper, experiment and results",
     .note =
         "p = 0.05, m = 6.235 n, k = 4; n is a twentieth of --urls, counts are told as of the paper's 1,562,978 rows, "
         "half of which go in. Its data are not to be had: made up URLs, of which 1.52 % of the questions went in "
         "before, and murmur2 with salts for MurmurHash3 with seeds.",
     .unit = "URLs",
     .rows = layers_own_rows,
     .columns = layers_own_columns,
     .measure = layers_own_measure,
     .judge_beside = layers_own_judge},
    {.id = NULL},
};
