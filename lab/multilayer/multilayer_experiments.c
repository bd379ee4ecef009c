/*
 * The list of experiments on the multi-layer paper, a study of Cen, Xu, Sun 2010 ("the original"). multilayer_*.c
 * measure them; claims are in multilayer_claims.c.
 *
 * The paper leaves some details open. We use sip13 for its hash functions (for its own runs murmur3, as its program
 * did). We XOR hashes before they are reduced to addresses, except in layers-formula, where m is a power of two, and in
 * the program as its authors ran it. We join segments after the fourth into it, except in that program.
 */
#include "lab/multilayer/multilayer.h"

#define SCALED "Numbers of URLs are for --urls 1e6 and scale with it. "

const lab_study lab_multilayer_studies[] = {
    {"layers-comparisons", "Comparisons of linear and binary search", "the multi-layer paper, section 1.1",
     SCALED "50,000 URLs. The kinds list and sorted do not count comparisons, so the lab has its own searches. "
            "Linear search looks up 100 URLs.",
     "comparisons", lab_multilayer_comparisons_rows, lab_multilayer_comparisons_columns, .runs_most = 1,
     .measure = lab_multilayer_comparisons_measure, .judge = lab_multilayer_comparisons_judge},
    {"layers-false", "False positives against the number of URLs", "the multi-layer paper, figure 3",
     SCALED "The paper prints the plot without its numbers. k = 3, and m such that a tenth of the other URLs is "
            "falsely seen at 50,000 URLs; schemes are stripped. 'Of segments' is algorithms 1 and 2 as printed. "
            "The expected figures follow from the numbers of different segments, which are counted. Linear "
            "search has 2,000 URLs and looks up 100.",
     "%", lab_multilayer_false_rows, lab_multilayer_figure_columns,
     .plot = {.x = "URLs (thousands)", .y = "false positives (%)"}, .measure = lab_multilayer_false_measure,
     .judge = lab_multilayer_false_judge},
    {"layers-query", "Time of a lookup against the number of URLs", "the multi-layer paper, figure 4",
     SCALED "The paper prints the plot without its numbers. The URLs looked up were not inserted. Linear search "
            "is extrapolated from 2,000 URLs.",
     "ns per URL", lab_multilayer_times_rows, lab_multilayer_figure_columns, .timed = true, .runs_most = 9,
     .plot = {.x = "URLs (thousands)", .y = "ns per URL", .log_y = true}, .measure = lab_multilayer_query_measure},
    {"layers-insert", "Time of an insertion against the number of URLs", "the multi-layer paper, figure 5",
     SCALED "The paper prints the plot without its numbers. The mean over all URLs so far; every kind looks a URL "
            "up before it adds it. Linear search is extrapolated from 2,000 URLs.",
     "ns per URL", lab_multilayer_times_rows, lab_multilayer_figure_columns, .timed = true, .runs_most = 9,
     .plot = {.x = "URLs (thousands)", .y = "ns per URL", .log_y = true}, .measure = lab_multilayer_insert_measure},
    {"layers-original", "False positives as filters of a fixed size fill up: the original's table",
     "the multi-layer paper, figure 3, and the original that it studies",
     "k = 3, L = 4 and the XOR layer; schemes are stripped; each URL is looked up with a number appended. "
     "'1.0 M' is a twentieth of --urls, and m = 16,829,152 per layer scales with it; counts are converted to "
     "the original's number of URLs. The original does not name its hash functions: we use sip13, and the XOR "
     "of hashes, because m is not a power of two.",
     "false positives", lab_multilayer_sizes, lab_multilayer_original_columns,
     .plot = {.x = "URLs (millions)", .y = "false positives", .columns = true, .log_y = true},
     .measure = lab_multilayer_original_measure, .judge = lab_multilayer_original_judge},
    {"layers-quarter", "The original's counts, and one unknown segment in a layer with n/4 different ones",
     "the multi-layer paper, analysis, and the original that it studies",
     "As layers-original, with URLs host/a/b/page of which four each share their last segment, so that the "
     "layer has a quarter as many different segments as there are URLs. The quarter was chosen to fit, one "
     "number for six published counts, as the original does not give its numbers of segments. The paper's "
     "formula (1-e^(-kn/m))^(kL) is computed, not measured.",
     "false positives", lab_multilayer_sizes, lab_multilayer_quarter_columns,
     .plot = {.x = "URLs (millions)", .y = "false positives", .columns = true, .log_y = true},
     .measure = lab_multilayer_quarter_measure, .judge = lab_multilayer_quarter_judge},
    {"layers-slower", "Seconds of the original, multilayer and classic",
     "the multi-layer paper, figures 4 and 5, and the original that it studies",
     "'1.0 M' is a twentieth of --urls, and m scales with it; our seconds are extrapolated to the original's "
     "number of URLs. Its machine and language were different, so only ratios can be compared.",
     "s", lab_multilayer_sizes, lab_multilayer_slower_columns, .timed = true, .runs_most = 9,
     .measure = lab_multilayer_slower_measure, .judge = lab_multilayer_slower_judge},
    {"layers-formula", "The paper's formula compared with five sorts of URLs", "the multi-layer paper, analysis",
     "k = 3, L = 4, XOR of addresses, m a power of two near --urls / 20 times m/n. The formula is "
     "(1-e^(-kn/m))^(kL).",
     "%", lab_multilayer_formula_rows, lab_multilayer_formula_columns, .measure = lab_multilayer_formula_measure,
     .judge = lab_multilayer_formula_judge},
    {"layers-addresses", "XOR of four addresses below m: how many leave the array",
     "the multi-layer paper, algorithm 3",
     "k = 3, random addresses. The study's runs are the paper's own, with 6.235 bits for each of 781,489 URLs.", "%",
     lab_multilayer_addresses_rows, lab_multilayer_addresses_columns, .measure = lab_multilayer_addresses_measure,
     .judge = lab_multilayer_addresses_judge},
    {"layers-equal", "Multilayer and classic with the bits of one layer, and with those of all",
     "the multi-layer paper, conclusion",
     SCALED "50,000 URLs; k = 3, L = 4: multilayer has 5 m bits in all. Best k: 5 (m/n) ln 2, at most 32. "
            "Known segments: the path of one URL after the host of another.",
     "%", lab_multilayer_equal_rows, lab_multilayer_equal_columns, .measure = lab_multilayer_equal_measure,
     .judge = lab_multilayer_equal_judge},
    {"layers-space", "Memory per URL", "the multi-layer paper, section 1.1 and conclusion",
     SCALED "50,000 URLs, 2,000 for linear search; k = 3, m = 4.8 n per layer. Theory is the bits alone.",
     "bytes per URL", lab_multilayer_space_rows, lab_multilayer_space_columns, .runs_most = 3, .work = 0.1,
     .measure = lab_multilayer_space_measure, .judge = lab_multilayer_space_judge},
    {"layers-cross", "URLs that were never inserted, made of segments that were",
     "the multi-layer paper, introduction of the multi-layer filter",
     SCALED "50,000 URLs inserted, k = 3, m = 4.8 n per layer. As the paper: schemes are stripped, and all layers "
            "have the same functions. Salted: each layer has its own, and schemes are kept. Without the XOR: "
            "four classic filters, one for each layer, because the kind has no such parameter.",
     "%", lab_multilayer_cross_rows, lab_multilayer_cross_columns, .measure = lab_multilayer_cross_measure,
     .judge = lab_multilayer_cross_judge},
    {"layers-own", "The paper's own runs: how much of its counts theory explains",
     "the multi-layer paper, experiment and results",
     "p = 0.05, m = 6.235 n, k = 4; n is a twentieth of --urls, and counts are converted to the paper's "
     "1,562,978 rows, half of which are inserted. Its data are not available: our URLs are synthetic, 1.52 % "
     "of the lookups are of inserted URLs. MurmurHash3 with salts, and the XOR of hashes.",
     "URLs", lab_multilayer_own_rows, lab_multilayer_own_columns, .measure = lab_multilayer_own_measure,
     .judge = lab_multilayer_own_judge},
    {"layers-program", "The paper's own program: rows that two filters of one half each have both seen",
     "the multi-layer paper, experiment and results, figure 3, and its authors' program",
     "Rows are for --urls 1e6 and scale with it; counts are converted back. Each half of the rows is inserted "
     "into filters of its own, and a random half of all rows is looked up in both. p = 0.05, m = 6.235 n, "
     "k = 4, MurmurHash3 with the seeds 0 to 3; as many layers as the longest URL has segments; the XOR of the "
     "addresses modulo m. Our rows are all different. Home pages: rows http://host/ alone.",
     "false positives", lab_multilayer_program_rows, lab_multilayer_program_columns, .runs_most = 2, .work = 3,
     .measure = lab_multilayer_program_measure, .judge = lab_multilayer_program_judge},
    {"layers-program-time", "The paper's own program: seconds for all insertions, and for lookups of half of the rows",
     "the multi-layer paper, figures 4 and 5, and its authors' program",
     "A twentieth of the rows; seconds are extrapolated. The filters are made for half of the rows that are "
     "inserted, and every URL that is looked up is there. The paper's program is in Python, ours in C, so only "
     "ratios can be compared.",
     "s", lab_multilayer_program_rows, lab_multilayer_slower_columns, .timed = true, .runs_most = 9,
     .measure = lab_multilayer_program_time_measure, .judge = lab_multilayer_slower_judge},
    {.id = NULL},
};
