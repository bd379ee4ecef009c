/*
 * The list of experiments on the multi-layer paper, a study of Cen, Xu, Sun 2010 ("the original"). layers_*.c measure
 * them; claims are in layers_claims.c.
 *
 * The paper leaves some details open. We use sip13 for its hash functions (for its own runs murmur3, as its program
 * did). We XOR hashes before they are reduced to addresses, except in layers-formula, where m is a power of two, and in
 * the program as its authors ran it. We join segments after the fourth into it, except in that program.
 */
#include "lab/multilayer/layers.h"

#define SCALED "Numbers of URLs are for --urls 1e6 and scale with it. "

const lab_study lab_layers_studies[] = {
    {.id = "layers-comparisons",
     .title = "Comparisons of linear and binary search",
     .source = "the multi-layer paper, section 1.1",
     .note = SCALED "50,000 URLs. The kinds list and sorted do not count comparisons, so the lab has its own searches. "
                    "Linear search looks up 100 URLs.",
     .unit = "comparisons",
     .rows = lab_layers_comparisons_rows,
     .columns = lab_layers_comparisons_columns,
     .runs_most = 1,
     .measure = lab_layers_comparisons_measure,
     .judge = lab_layers_comparisons_judge},
    {.id = "layers-false",
     .title = "False positives against the number of URLs",
     .source = "the multi-layer paper, figure 3",
     .note =
         SCALED "The paper prints the plot without its numbers. k = 3, and m such that a tenth of the other URLs is "
                "falsely seen at 50,000 URLs; schemes are stripped. 'Of segments' is algorithms 1 and 2 as printed. "
                "The expected figures follow from the numbers of different segments, which are counted. Linear "
                "search has 2,000 URLs and looks up 100.",
     .unit = "%",
     .rows = lab_layers_false_rows,
     .columns = lab_layers_figure_columns,
     .plot = {.x = "URLs (thousands)", .y = "false positives (%)"},
     .measure = lab_layers_false_measure,
     .judge_beside = lab_layers_false_judge},
    {.id = "layers-query",
     .title = "Time of a lookup against the number of URLs",
     .source = "the multi-layer paper, figure 4",
     .note =
         SCALED "The paper prints the plot without its numbers. The URLs looked up were not inserted. Linear search "
                "is extrapolated from 2,000 URLs.",
     .unit = "ns per URL",
     .rows = lab_layers_times_rows,
     .columns = lab_layers_figure_columns,
     .timed = true,
     .runs_most = 9,
     .plot = {.x = "URLs (thousands)", .y = "ns per URL", .log_y = true},
     .measure = lab_layers_query_measure},
    {.id = "layers-insert",
     .title = "Time of an insertion against the number of URLs",
     .source = "the multi-layer paper, figure 5",
     .note =
         SCALED "The paper prints the plot without its numbers. The mean over all URLs so far; every kind looks a URL "
                "up before it adds it. Linear search is extrapolated from 2,000 URLs.",
     .unit = "ns per URL",
     .rows = lab_layers_times_rows,
     .columns = lab_layers_figure_columns,
     .timed = true,
     .runs_most = 9,
     .plot = {.x = "URLs (thousands)", .y = "ns per URL", .log_y = true},
     .measure = lab_layers_insert_measure},
    {.id = "layers-original",
     .title = "False positives as filters of a fixed size fill up: the original's table",
     .source = "the multi-layer paper, figure 3, and the original that it studies",
     .note = "k = 3, L = 4 and the XOR layer; schemes are stripped; each URL is looked up with a number appended. "
             "'1.0 M' is a twentieth of --urls, and m = 16,829,152 per layer scales with it; counts are converted to "
             "the original's number of URLs. The original does not name its hash functions: we use sip13, and the XOR "
             "of hashes, because m is not a power of two.",
     .unit = "false positives",
     .rows = lab_layers_sizes,
     .columns = lab_layers_original_columns,
     .plot = {.x = "URLs (millions)", .y = "false positives", .columns = true, .log_y = true},
     .measure = lab_layers_original_measure,
     .judge_beside = lab_layers_original_judge},
    {.id = "layers-quarter",
     .title = "The original's counts, and one unknown segment in a layer with n/4 different ones",
     .source = "the multi-layer paper, analysis, and the original that it studies",
     .note = "As layers-original, with URLs host/a/b/page of which four each share their last segment, so that the "
             "layer has a quarter as many different segments as there are URLs. The quarter was chosen to fit, one "
             "number for six published counts, as the original does not give its numbers of segments. The paper's "
             "formula (1-e^(-kn/m))^(kL) is computed, not measured.",
     .unit = "false positives",
     .rows = lab_layers_sizes,
     .columns = lab_layers_quarter_columns,
     .plot = {.x = "URLs (millions)", .y = "false positives", .columns = true, .log_y = true},
     .measure = lab_layers_quarter_measure,
     .judge = lab_layers_quarter_judge},
    {.id = "layers-slower",
     .title = "Seconds of the original, multilayer and classic",
     .source = "the multi-layer paper, figures 4 and 5, and the original that it studies",
     .note = "'1.0 M' is a twentieth of --urls, and m scales with it; our seconds are extrapolated to the original's "
             "number of URLs. Its machine and language were different, so only ratios can be compared.",
     .unit = "s",
     .rows = lab_layers_sizes,
     .columns = lab_layers_slower_columns,
     .timed = true,
     .runs_most = 9,
     .measure = lab_layers_slower_measure,
     .judge = lab_layers_slower_judge},
    {.id = "layers-formula",
     .title = "The paper's formula compared with five sorts of URLs",
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
                    "Known segments: the path of one URL after the host of another.",
     .unit = "%",
     .rows = lab_layers_equal_rows,
     .columns = lab_layers_equal_columns,
     .measure = lab_layers_equal_measure,
     .judge_beside = lab_layers_equal_judge},
    {.id = "layers-space",
     .title = "Memory per URL",
     .source = "the multi-layer paper, section 1.1 and conclusion",
     .note = SCALED "50,000 URLs, 2,000 for linear search; k = 3, m = 4.8 n per layer. Theory is the bits alone.",
     .unit = "bytes per URL",
     .rows = lab_layers_space_rows,
     .columns = lab_layers_space_columns,
     .runs_most = 3,
     .work = 0.1,
     .measure = lab_layers_space_measure,
     .judge = lab_layers_space_judge},
    {.id = "layers-cross",
     .title = "URLs that were never inserted, made of segments that were",
     .source = "the multi-layer paper, introduction of the multi-layer filter",
     .note =
         SCALED "50,000 URLs inserted, k = 3, m = 4.8 n per layer. As the paper: schemes are stripped, and all layers "
                "have the same functions. Salted: each layer has its own, and schemes are kept. Without the XOR: "
                "four classic filters, one for each layer, because the kind has no such parameter.",
     .unit = "%",
     .rows = lab_layers_cross_rows,
     .columns = lab_layers_cross_columns,
     .measure = lab_layers_cross_measure,
     .judge = lab_layers_cross_judge},
    {.id = "layers-own",
     .title = "The paper's own runs: how much of its counts theory explains",
     .source = "the multi-layer paper, experiment and results",
     .note = "p = 0.05, m = 6.235 n, k = 4; n is a twentieth of --urls, and counts are converted to the paper's "
             "1,562,978 rows, half of which are inserted. Its data are not available: our URLs are synthetic, 1.52 % "
             "of the lookups are of inserted URLs. MurmurHash3 with salts, and the XOR of hashes.",
     .unit = "URLs",
     .rows = lab_layers_own_rows,
     .columns = lab_layers_own_columns,
     .measure = lab_layers_own_measure,
     .judge_beside = lab_layers_own_judge},
    {.id = "layers-program",
     .title = "The paper's own program: rows that two filters of one half each have both seen",
     .source = "the multi-layer paper, experiment and results, figure 3, and its authors' program",
     .note = "Rows are for --urls 1e6 and scale with it; counts are converted back. Each half of the rows is inserted "
             "into filters of its own, and a random half of all rows is looked up in both. p = 0.05, m = 6.235 n, "
             "k = 4, MurmurHash3 with the seeds 0 to 3; as many layers as the longest URL has segments; the XOR of the "
             "addresses modulo m. Our rows are all different. Home pages: rows http://host/ alone.",
     .unit = "false positives",
     .rows = lab_layers_program_rows,
     .columns = lab_layers_program_columns,
     .runs_most = 2,
     .work = 3,
     .measure = lab_layers_program_measure,
     .judge_beside = lab_layers_program_judge},
    {.id = "layers-program-time",
     .title = "The paper's own program: seconds for all insertions, and for lookups of half of the rows",
     .source = "the multi-layer paper, figures 4 and 5, and its authors' program",
     .note = "A twentieth of the rows; seconds are extrapolated. The filters are made for half of the rows that are "
             "inserted, and every URL that is looked up is there. The paper's program is in Python, ours in C, so only "
             "ratios can be compared.",
     .unit = "s",
     .rows = lab_layers_program_rows,
     .columns = lab_layers_slower_columns,
     .timed = true,
     .runs_most = 9,
     .measure = lab_layers_program_time_measure,
     .judge = lab_layers_slower_judge},
    {.id = NULL},
};
