/* How to read the report, and what its words mean. See report.h. */
#include "lab/report/report.h"

void lab_report_legend(FILE *to)
{
    fputs(
        "<h2 id=\"reading\">How to read the tables</h2>\n"
        "<p><b>Published</b> is the figure exactly as a paper prints it; if ratios are compared, it follows them in "
        "brackets. <b>Theory</b> is the result of the right formula for our numbers; <i>at most</i> marks an upper "
        "bound, and <i>planned</i> what vidi itself predicts, which shows that it is consistent and not that it is "
        "right. <b>Ours</b> is the mean of all runs, or the median if times are measured. The <b>interval</b> covers "
        "95 %, or for times the range from the minimum to the maximum.</p>\n"
        "<p>In plots, hollow symbols are published figures, full symbols with a bar are ours. A solid line is theory, "
        "a dashed line with arrows down is an upper bound, and a line of dashes and dots is what vidi planned. A "
        "dotted line joins our own figures where there is no theory. Symbols that would overlap are drawn side by "
        "side.</p>\n"
        "<p>The verdict is about the published figure:</p>\n<dl class=\"words\">\n"
        "<dt class=\"v-agrees\">agrees</dt><dd>It agrees with theory, up to rounding and the chance of its runs; or "
        "it is close to ours, where chance plays no part.</dd>\n"
        "<dt class=\"v-dependent\">dependent</dt><dd>It agrees only if its runs were not independent of "
        "one another, which is possible because its hash functions had no salts.</dd>\n"
        "<dt class=\"v-doubtful\">doubtful</dt><dd>It is 3 to 4.1 standard deviations from theory, for as many "
        "independent runs as the scatter of the table’s other figures suggests.</dd>\n"
        "<dt class=\"v-anomalous\">anomalous</dt><dd>It is farther than that from theory.</dd>\n"
        "<dt class=\"v-misprint\">misprint</dt><dd>It is in an overview and differs from the table that the "
        "overview repeats, or it is impossible beside its neighbours.</dd>\n"
        "<dt class=\"v-differs\">differs</dt><dd>It differs from our measurement, and no statistical test says how "
        "large the difference may be.</dd>\n"
        "<dt class=\"v-not-built\">not built</dt><dd>The cell needs a hash function or a library that this build of "
        "vidi lacks, "
        "and was not measured.</dd>\n"
        "<dt class=\"v-fails\">fails</dt><dd>Our own measurement contradicts theory: something is wrong with "
        "vidi.</dd>\n</dl>\n"
        "<p>Verdicts rest on chance (the distribution of the published runs), on a tolerance that the table’s note "
        "states, or on a number of ours that was fitted to the published figures, so that agreement proves little. A "
        "figure that a table shows again, or only to say what a paper did <em>not</em> do, is counted once, in its "
        "own table.</p>\n",
        to);
}

void lab_report_glossary(FILE *to)
{
    static const struct {
        const char *word, *meaning;
    } words[] = {
        {"HF, k", "Hash functions: as many bits are set in the filter for each URL, unless a table says otherwise."},
        {"M", "The multiplier of the thesis: a filter for n URLs has m = n·k·M bits. With a given number of bits, M = "
              "1/ln 2 = 1.44 loses the least."},
        {"n, m", "The number of URLs in a filter, and its number of bits."},
        {"false positive", "A new URL that a filter reports as seen. The crawler skips the page, so it is lost."},
        {"lost", "A page that is never fetched because its URL was falsely reported as seen."},
        {"incremental",
         "Each URL is looked up just before it is inserted, as a crawler does: the rate is an average over "
         "filters from empty to full. Non-incremental: other URLs are looked up when the filter is full."},
        {"crawl", "One pass over the pages; later crawls visit them again, in the same order or another."},
        {"salt", "Random bytes that are hashed with each URL. With other salts, other URLs are falsely seen."},
        {"epoch", "The time in which a set keeps its salts; vidi begins a new one when a set is rotated."},
        {"temporal", "Crawls have different salts. A page counts as lost if every crawl loses it."},
        {"spatial", "Several filters with different salts side by side. A URL is seen if all of them say so."},
        {"spatio-temporal", "Both at once."},
        {"z", "Distance from theory in standard deviations. By chance, |z| exceeds 3 once in 370 times."},
        {"Holm’s test",
         "One test of all cells together, at 1 %: the more cells there are, the larger the z that chance "
         "alone produces."},
        {"interval",
         "Where the true value lies with a confidence of 95 %. Claims are judged by ratios with 99 % intervals."},
        {"margin", "A difference that counts as none. Each claim states it before anything is measured."},
        {"bound, at most", "Theory that gives an upper limit: smaller measurements agree with it."},
        {"planned", "What the library itself predicts for such a set."},
        {"counterfactual", "What would have come out if a paper’s program had done something else."},
        {"run",
         "One repetition with new URLs and new salts, all of which follow from the seed and the number of the run."},
        {"cell", "One number of a table: a row and a column."},
        {"study", "A table that is not a list of filter configurations: times, memory, crawls, searches."},
    };
    fputs("<h2 id=\"glossary\">Glossary</h2>\n<dl class=\"words\">\n", to);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        fprintf(to, "<dt>%s</dt><dd>%s</dd>\n", words[i].word, words[i].meaning);
    fputs("</dl>\n", to);
}
