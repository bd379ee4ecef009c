/*
 * Experiments: the multi-layer paper (a study of Cen, Xu, Sun 2010, here "the original"). What is measured is in the
 * files layers_*.c; claims are in layers_claims.c.
 *
 * What the paper leaves open and is taken so here: its hash functions are sip13 (its own runs: murmur2 with salts,
 * since the library has no MurmurHash3); the XOR is of hashes before they are reduced to addresses, except in
 * layers-formula, where m is a power of two; segments beyond the fourth are joined into it.
 */
#include "lab/multilayer/layers.h"

#define SCALED "Numbers of URLs are for --urls 1e6 and scaled with it. "

const lab_study lab_layers[] = {
    {.id = "layers-comparisons",
     .title = "Comparisons of linear and binary search",
     .source = "the multi-layer paper, section 1.1",
     .note = SCALED "50,000 URLs. The kinds list and sorted do not count comparisons: the lab searches by itself. "
                    "Linear search is asked for 100 URLs.",
     .unit = "comparisons",
     .rows = lab_layers_comparisons_rows,
     .columns = lab_layers_comparisons_columns,
     .runs_most = 1,
     .measure = lab_layers_comparisons_measure,
     .judge = lab_layers_comparisons_judge},
    {.id = "layers-false",
     .title = "False positives against the number of URLs",
     .source = "the multi-layer paper, figure 3",
     .note = SCALED "Its numbers are not in the text. k = 3, and m such that a tenth of as many others is falsely "
                    "seen at 50,000 URLs; schemes are stripped. 'Of segments' is what algorithms 1 and 2 say to the "
                    "letter. What is expected follows from the numbers of different segments, which are counted. "
                    "Linear search has 2,000 URLs and is asked for 100.",
     .unit = "%",
     .rows = lab_layers_false_rows,
     .columns = lab_layers_figure_columns,
     .plot = {.x = "URLs (thousands)", .y = "false positives (%)"},
     .measure = lab_layers_false_measure,
     .judge_beside = lab_layers_false_judge},
    {.id = "layers-query",
     .title = "Time of a question against the number of URLs",
     .source = "the multi-layer paper, figure 4",
     .note = SCALED "Its numbers are not in the text. Asked are URLs that are not there. Linear search is reckoned in "
                    "proportion from 2,000 URLs.",
     .unit = "ns a URL",
     .rows = lab_layers_times_rows,
     .columns = lab_layers_figure_columns,
     .timed = true,
     .runs_most = 9,
     .plot = {.x = "URLs (thousands)", .y = "ns a URL", .log_y = true},
     .measure = lab_layers_query_measure},
    {.id = "layers-insert",
     .title = "Time of an insertion against the number of URLs",
     .source = "the multi-layer paper, figure 5",
     .note = SCALED "Its numbers are not in the text. The mean over all URLs so far; every kind looks before it adds. "
                    "Linear search is reckoned in proportion from 2,000 URLs.",
     .unit = "ns a URL",
     .rows = lab_layers_times_rows,
     .columns = lab_layers_figure_columns,
     .timed = true,
     .runs_most = 9,
     .plot = {.x = "URLs (thousands)", .y = "ns a URL", .log_y = true},
     .measure = lab_layers_insert_measure},
    {.id = "layers-original",
     .title = "False positives of growing numbers of URLs in filters of one size: the original's table",
     .source = "the multi-layer paper, figure 3, and the original that it studies",
     .note = "k = 3, L = 4 and the XOR layer; schemes are stripped; asked is each URL with a number behind it. '1.0 "
             "M' is a twentieth of --urls, and m = 16,829,152 a layer is scaled with it; counts are told for the "
             "original's number of URLs. The original does not name its hash functions: sip13 here, and the XOR of "
             "hashes, since m is no power of two.",
     .unit = "false positives",
     .rows = lab_layers_sizes,
     .columns = lab_layers_original_columns,
     .plot = {.x = "URLs (millions)", .y = "false positives", .columns = true, .log_y = true},
     .measure = lab_layers_original_measure,
     .judge_beside = lab_layers_original_judge},
    {.id = "layers-quarter",
     .title = "The original's counts, and what one unknown segment in a layer of n/4 different ones gives",
     .source = "the multi-layer paper, analysis, and the original that it studies",
     .note = "As layers-original, with URLs host/a/b/page of which each four have their last segment in common, so "
             "that the layer has a quarter as many different segments as there are URLs. The quarter was chosen to "
             "fit: one number for six published counts; the original does not tell its segments. Beside it the "
             "paper's formula (1-e^(-kn/m))^(kL), which is computed, not measured.",
     .unit = "false positives",
     .rows = lab_layers_sizes,
     .columns = lab_layers_quarter_columns,
     .plot = {.x = "URLs (millions)", .y = "false positives", .columns = true, .log_y = true},
     .measure = lab_layers_quarter_measure,
     .judge = lab_layers_quarter_judge},
    {.id = "layers-slower",
     .title = "Seconds of the original, multilayer beside classic",
     .source = "the multi-layer paper, figures 4 and 5, and the original that it studies",
     .note = "'1.0 M' is a twentieth of --urls, and m is scaled with it; our seconds are reckoned for the original's "
             "number of URLs. Its seconds are another machine's and another language's: only the ratios say something.",
     .unit = "s",
     .rows = lab_layers_sizes,
     .columns = lab_layers_slower_columns,
     .timed = true,
     .runs_most = 9,
     .measure = lab_layers_slower_measure,
     .judge = lab_layers_slower_judge},
    {.id = "layers-formula",
     .title = "The paper's formula against five sorts of URLs",
     .source = "the multi-layer paper, analysis",
     .note = "k = 3, L = 4, XOR of addresses, m a power of two near --urls / 20 times m/n. The formula is "
             "(1-e^(-kn/m))^(kL).",
     .unit = "%",
     .rows = lab_layers_formula_rows,
     .columns = lab_layers_formula_columns,
     .measure = lab_layers_formula_measure,
     .judge = lab_layers_formula_judge},
    {.id = "layers-addresses",
     .title = "XOR of four addresses below m: how many leave the array",
     .source = "the multi-layer paper, algorithm 3",
     .note = "k = 3, random addresses. The study's runs are the paper's own, with 6.235 bits for each of 781,489 URLs.",
     .unit = "%",
     .rows = lab_layers_addresses_rows,
     .columns = lab_layers_addresses_columns,
     .measure = lab_layers_addresses_measure,
     .judge = lab_layers_addresses_judge},
    {.id = "layers-equal",
     .title = "Multilayer and classic with the bits of one layer, and with those of all",
     .source = "the multi-layer paper, conclusion",
     .note = SCALED "50,000 URLs; k = 3, L = 4: multilayer has 5 m bits in all. Best k: 5 (m/n) ln 2, at most 32. "
                    "Known segments: the path of one URL behind the host of another.",
     .unit = "%",
     .rows = lab_layers_equal_rows,
     .columns = lab_layers_equal_columns,
     .measure = lab_layers_equal_measure,
     .judge_beside = lab_layers_equal_judge},
    {.id = "layers-cross",
     .title = "URLs that never went in, made of segments that did",
     .source = "the multi-layer paper, introduction of the multi-layer filter",
     .note = SCALED "50,000 URLs go in, k = 3, m = 4.8 n a layer. As the paper: schemes are stripped, and all layers "
                    "have the same functions. Salted: each layer has its own, and schemes are kept. Without the XOR: "
                    "four classic filters, one a layer, since the kind has no such parameter.",
     .unit = "%",
     .rows = lab_layers_cross_rows,
     .columns = lab_layers_cross_columns,
     .measure = lab_layers_cross_measure,
     .judge = lab_layers_cross_judge},
    {.id = "layers-own",
     .title = "The paper's own runs: how much of its counts theory explains",
     .source = "the multi-layer paper, experiment and results",
     .note = "p = 0.05, m = 6.235 n, k = 4; n is a twentieth of --urls, counts are told for the paper's 1,562,978 "
             "rows, half of which go in. Its data are not to be had: URLs are synthetic, 1.52 % of the questions went "
             "in before, and murmur2 with salts stands for MurmurHash3 with seeds.",
     .unit = "URLs",
     .rows = lab_layers_own_rows,
     .columns = lab_layers_own_columns,
     .measure = lab_layers_own_measure,
     .judge_beside = lab_layers_own_judge},
    {.id = NULL},
};
