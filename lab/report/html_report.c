/* The report as a whole. See report.h. */
#include "lab/report/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lab/engine/line_streams.h"
#include "lab/report/html.h"
#include "lab/report/svg.h"

/* ---- papers ---- */

static size_t paper_length(const char *source)
{
    return strcspn(source, ",");
}

bool lab_same_paper(const char *a, const char *b)
{
    size_t length = paper_length(a);
    return length == paper_length(b) && memcmp(a, b, length) == 0;
}

void lab_report_paper(FILE *to, const char *source)
{
    char name[LAB_REMARK_ROOM];
    size_t length = paper_length(source);
    snprintf(name, sizeof name, "%.*s", (int)(length < sizeof name ? length : sizeof name - 1), source);
    lab_html_title(to, name);
}

/* Whether this is the first table of its paper. */
static bool is_first_of_paper(const lab_book *book, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (lab_same_paper(book->tables[i].source, book->tables[index].source))
            return false;
    return true;
}

typedef void put_table(FILE *to, const lab_table *table);

/* Writes all tables, paper by paper, with `before` and `after` around those of each paper. */
static void each_paper(FILE *to, const lab_book *book, const char *before, put_table *put, const char *after)
{
    for (size_t i = 0; i < book->count; i++) {
        if (!is_first_of_paper(book, i))
            continue;
        fputs("<h3>", to);
        lab_report_paper(to, book->tables[i].source);
        fprintf(to, "</h3>\n%s", before);
        for (size_t j = i; j < book->count; j++)
            if (lab_same_paper(book->tables[j].source, book->tables[i].source))
                put(to, &book->tables[j]);
        fputs(after, to);
    }
}

/* "3 runs of 1000 URLs, seed 1". */
static const char *text_of_runs(const lab_book *book, char text[LAB_REMARK_ROOM])
{
    const lab_settings *settings = &book->settings;
    char number[LAB_NUMBER_ROOM], runs[LAB_RUNS_ROOM];
    snprintf(text, LAB_REMARK_ROOM, "%s of %s URL%s, seed %llu", lab_runs_text(settings, runs),
             lab_number(number, (double)settings->urls, 1), settings->urls == 1 ? "" : "s",
             (unsigned long long)settings->seed);
    return text;
}

/* ---- counts ---- */

bool lab_entry_tells(const lab_entry *entry)
{
    return lab_entry_exists(entry) || entry->verdict == LAB_NOT_BUILT;
}

void lab_score_add(lab_score *score, const lab_table *table)
{
    for (size_t i = 0; i < table->rows * table->columns; i++) {
        const lab_entry *entry = &table->entries[i];
        if (!lab_entry_tells(entry))
            continue;
        score->cells++;
        if (entry->basis != LAB_COUNTERFACTUAL || entry->verdict == LAB_FAILS)
            score->verdicts[entry->verdict]++;
        if (entry->printed || entry->basis != LAB_NOT_JUDGED)
            score->bases[entry->basis]++;
        score->tested +=
            !isnan(entry->z) || entry->verdict == LAB_FAILS; /* some cells fail without a statistical test */
    }
}

lab_score lab_score_of(const lab_book *book)
{
    lab_score score = {.cells = 0};
    for (size_t i = 0; i < book->count; i++)
        lab_score_add(&score, &book->tables[i]);
    return score;
}

const char *lab_bases_text(const lab_score *score, char text[LAB_REMARK_ROOM])
{
    snprintf(text, LAB_REMARK_ROOM, "%zu judged by chance, %zu within a stated tolerance, %zu fitted, %zu not judged",
             score->bases[LAB_BY_CHANCE], score->bases[LAB_BY_TOLERANCE], score->bases[LAB_FITTED],
             score->bases[LAB_NOT_JUDGED]);
    return text;
}

static const char *word_for_many(lab_verdict verdict)
{
    switch (verdict) {
    case LAB_AGREES:
        return "agree";
    case LAB_MISPRINT:
        return "misprinted";
    case LAB_DIFFERS:
        return "differ";
    case LAB_FAILS:
        return "fail";
    default:
        return lab_verdict_name(verdict);
    }
}

/* A verdict of two words becomes one class with a hyphen. */
void lab_report_verdict(FILE *to, lab_verdict verdict, const char *text)
{
    fputs("<b class=\"v-", to);
    for (const char *name = lab_verdict_name(verdict); *name; name++)
        fputc(*name == ' ' ? '-' : *name, to);
    fprintf(to, "\">%s</b>", text);
}

void lab_report_score(FILE *to, const lab_score *score)
{
    const char *between = ": ";
    char text[64];
    fprintf(to, "%zu cell%s", score->cells, score->cells == 1 ? "" : "s");
    for (lab_verdict verdict = LAB_AGREES; verdict <= LAB_FAILS; verdict++) {
        if (!score->verdicts[verdict])
            continue;
        fputs(between, to);
        snprintf(text, sizeof text, "%zu %s", score->verdicts[verdict], word_for_many(verdict));
        lab_report_verdict(to, verdict, text);
        between = ", ";
    }
}

static void put_count(FILE *to, const char *class, size_t count, const char *what)
{
    fprintf(to, "<span class=\"%s\"><b>%zu</b> %s</span>\n", class, count, what);
}

const char *lab_together_text(const lab_book *book, char text[LAB_REMARK_ROOM])
{
    lab_family_test test = lab_book_judge(book);
    text[0] = 0;
    if (test.cells == 0)
        return text;
    int used = snprintf(text, LAB_REMARK_ROOM,
                        "All together: the largest |z| of %zu different cell%s is %.2f; by chance it exceeds %.2f at "
                        "most once in a hundred times",
                        test.cells, test.cells == 1 ? "" : "s", test.largest, test.bound);
    if (test.beyond && used > 0 && used < LAB_REMARK_ROOM)
        snprintf(text + used, (size_t)(LAB_REMARK_ROOM - used), "; %zu cell%s theory", test.beyond,
                 test.beyond == 1 ? " contradicts" : "s contradict");
    return text;
}

static void put_together(FILE *to, const lab_book *book)
{
    char text[LAB_REMARK_ROOM];
    if (!lab_together_text(book, text)[0])
        return;
    fputs("<p>", to);
    lab_html_sentence(to, text);
    fputs("</p>\n", to);
}

/* The figures that are doubtful or anomalous by name, and how many doubtful ones chance would give. */
static void put_doubtful(FILE *to, const lab_book *book, const lab_score *score)
{
    if (score->verdicts[LAB_DOUBTFUL] + score->verdicts[LAB_ANOMALOUS] == 0)
        return;
    fprintf(to, "<p>Of %zu figures judged by chance, about %.1f would be doubtful by chance alone. Doubtful or worse:",
            score->bases[LAB_BY_CHANCE], lab_doubtful_by_chance((double)score->bases[LAB_BY_CHANCE]));
    const char *between = " ";
    for (size_t i = 0; i < book->count; i++)
        for (size_t j = 0; j < book->tables[i].rows * book->tables[i].columns; j++) {
            const lab_table *table = &book->tables[i];
            const lab_entry *entry = &table->entries[j];
            if (entry->verdict != LAB_DOUBTFUL && entry->verdict != LAB_ANOMALOUS)
                continue;
            fputs(between, to);
            lab_html_link(to, table->id, table->id);
            fputs(" ", to);
            lab_html_text(to, entry->row);
            fputs(", ", to);
            lab_html_text(to, entry->column);
            fprintf(to, " (%s)", lab_verdict_name(entry->verdict));
            between = "; ";
        }
    fputs(".</p>\n", to);
}

static void put_summary(FILE *to, const lab_book *book)
{
    lab_score score = lab_score_of(book);
    const size_t *verdicts = score.verdicts;
    char text[LAB_REMARK_ROOM];
    fputs("<h2 id=\"summary\">Results</h2>\n", to);
    fprintf(to,
            "<p>%zu cells were measured. Theory predicts %zu of them, and %zu of these fit. The published figures, "
            "cell by cell: %s. What they say:</p>\n<p class=\"tally\">",
            score.cells - verdicts[LAB_NOT_BUILT], score.tested, score.tested - verdicts[LAB_FAILS],
            lab_bases_text(&score, text));
    put_count(to, "v-agrees", verdicts[LAB_AGREES], "agree");
    put_count(to, "v-dependent", verdicts[LAB_DEPENDENT], "agree only if runs were not independent");
    put_count(to, "v-doubtful", verdicts[LAB_DOUBTFUL], "are doubtful");
    put_count(to, "v-anomalous", verdicts[LAB_ANOMALOUS], "are anomalous");
    put_count(to, "v-misprint", verdicts[LAB_MISPRINT], "are misprinted");
    put_count(to, "v-differs", verdicts[LAB_DIFFERS], "differ from ours");
    if (verdicts[LAB_FAILS])
        put_count(to, "v-fails", verdicts[LAB_FAILS], "of our cells contradict theory");
    if (verdicts[LAB_NOT_BUILT])
        put_count(to, "v-not-built", verdicts[LAB_NOT_BUILT],
                  "were left out because this build lacks their hash functions");
    fputs("</p>\n", to);
    put_doubtful(to, book, &score);
    put_together(to, book);
}

/* ---- contents ---- */

static void put_link(FILE *to, const lab_table *table)
{
    lab_score score = {.cells = 0};
    lab_score_add(&score, table);
    fputs("<li>", to);
    lab_html_link(to, table->id, table->title);
    fputs(" <span class=\"source\"><code>", to);
    lab_html_text(to, table->id);
    fputs("</code> · ", to);
    lab_report_score(to, &score);
    fputs("</span></li>\n", to);
}

static void put_legend(FILE *to)
{
    fputs("<h2 id=\"reading\">How to read the tables</h2>\n"
          "<p><b>Published</b> is the figure exactly as a paper prints it; if ratios are compared, it follows them in "
          "brackets. <b>Theory</b> is the result of the right formula for our numbers. <b>Ours</b> is the mean of all "
          "runs, or the median if times are measured. The <b>interval</b> covers 95 %, or for times the range from "
          "the minimum to the maximum. In plots, symbols that would overlap are drawn side by side. The verdict is "
          "about the published figure:</p>\n<dl class=\"words\">\n"
          "<dt class=\"v-agrees\">agrees</dt><dd>It agrees with theory, up to rounding and the chance of its runs; or "
          "it is close to ours, where chance plays no part.</dd>\n"
          "<dt class=\"v-dependent\">dependent</dt><dd>It agrees only if the runs behind it were not independent of "
          "one another, which is possible because its hash functions had no salts.</dd>\n"
          "<dt class=\"v-doubtful\">doubtful</dt><dd>It is 3 to 4.1 standard deviations from theory, for as many "
          "independent runs as the scatter of the table’s other figures suggests.</dd>\n"
          "<dt class=\"v-anomalous\">anomalous</dt><dd>It is farther than that from theory.</dd>\n"
          "<dt class=\"v-misprint\">misprint</dt><dd>It is in an overview and differs from the table that the "
          "overview repeats.</dd>\n"
          "<dt class=\"v-differs\">differs</dt><dd>It differs from our measurement, and no statistical test says how "
          "large the difference may be.</dd>\n"
          "<dt class=\"v-not-built\">not built</dt><dd>The cell needs a hash function that this build of vidi lacks, "
          "and was not measured.</dd>\n"
          "<dt class=\"v-fails\">fails</dt><dd>Our own measurement contradicts theory: something is wrong with "
          "vidi.</dd>\n</dl>\n",
          to);
}

/* ---- how it was made ---- */

static void put_fact(FILE *to, const char *name, const char *open, const char *value, const char *close)
{
    fprintf(to, "<dt>%s</dt><dd>%s", name, open);
    lab_html_text(to, value);
    fprintf(to, "%s</dd>\n", close);
}

/* For a data URL (RFC 2397): unreserved characters and others that need no quoting in a link are kept. */
static void put_escaped(FILE *to, const char *text)
{
    for (; *text; text++) {
        unsigned char byte = (unsigned char)*text;
        bool plain = (byte >= '0' && byte <= '9') || (byte >= 'A' && byte <= 'Z') || (byte >= 'a' && byte <= 'z') ||
                     strchr("-._~,/:()=+", byte);
        if (plain)
            fputc(byte, to);
        else
            fprintf(to, "%%%02X", byte);
    }
}

static void put_data_link(FILE *to, const lab_book *book)
{
    char *text = NULL;
    size_t length = 0;
    FILE *csv = open_memstream(&text, &length);
    if (csv)
        lab_csv_book(csv, book);
    if (csv && fclose(csv) == 0) {
        fputs("<dt>Data</dt><dd><a download=\"vidi-lab.csv\" href=\"data:text/csv;charset=utf-8,", to);
        put_escaped(to, text);
        fputs("\">all tables as one CSV file</a></dd>\n", to);
    }
    free(text);
}

static void put_origin(FILE *to, const lab_book *book, const lab_origin *origin)
{
    char text[LAB_REMARK_ROOM];
    fputs("<h2 id=\"origin\">How this was made</h2>\n<dl class=\"facts\">\n", to);
    put_fact(to, "Command", "<code>", origin->command, "</code>");
    put_fact(to, "Runs", "", text_of_runs(book, text), "");
    snprintf(text, sizeof text, "vidi %s%s%.80s", vidi_version(), origin->commit[0] ? ", commit " : "", origin->commit);
    put_fact(to, "Program", "", text, "");
    snprintf(text, sizeof text, "%.160s%s%s", origin->processor, origin->processor[0] ? "; vidi uses " : "vidi uses ",
             vidi_cpu());
    put_fact(to, "Processor", "", text, "");
    const lab_corpus *corpus = book->settings.corpus;
    snprintf(text, sizeof text, "from files: %llu different ones",
             corpus ? (unsigned long long)lab_corpus_count(corpus) : 0);
    put_fact(
        to, "URLs", "",
        corpus ? text
               : "synthetic: hosts by Zipf's law, paths and queries; determined by the seed and the number of the run "
                 "('vidi lab urls' prints them)",
        "");
    if (book->settings.streams) {
        snprintf(text, sizeof text, "%zu files with the first %llu lines of each at most",
                 lab_streams_count(book->settings.streams), (unsigned long long)book->settings.urls);
        put_fact(to, "Streams", "", text, "");
    }
    put_data_link(to, book);
    fputs("</dl>\n", to);
}

/* ---- the page ---- */

static void put_head(FILE *to, const lab_book *book)
{
    char text[LAB_REMARK_ROOM];
    fprintf(to,
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
            "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
            "img-src data:\">\n"
            "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
            "<meta name=\"color-scheme\" content=\"light dark\">\n"
            "<link rel=\"icon\" href=\"data:,\">\n<title>vidi lab: the papers' experiments, run again</title>\n"
            "<style>\n%s%s%s</style>\n</head>\n<body>\n<header>\n"
            "<h1>The papers’ experiments, run again</h1>\n"
            "<p>What <code>vidi lab</code> measured with vidi’s own filters, compared with the papers’ figures and "
            "with theory. %s.</p>\n",
            lab_svg_colours, lab_svg_rules, lab_report_style, text_of_runs(book, text));
    fprintf(
        to,
        "<nav><a href=\"#summary\">Summary</a> %s<a href=\"#contents\">Contents</a> <a href=\"#reading\">How to "
        "read</a> <a href=\"#tables\">Tables</a> <a href=\"#origin\">How it was made</a></nav>\n</header>\n<main>\n",
        lab_report_has_claims(book) ? "<a href=\"#claims\">Claims</a> " : "");
}

void lab_report_write(FILE *to, const lab_book *book, const lab_origin *origin)
{
    put_head(to, book);
    put_summary(to, book);
    lab_report_claims(to, book);
    fputs("<h2 id=\"contents\">Contents</h2>\n", to);
    each_paper(to, book, "<ul class=\"contents\">\n", put_link, "</ul>\n");
    put_legend(to);
    fputs("<h2 id=\"tables\">Tables</h2>\n", to);
    each_paper(to, book, "", lab_report_table, "");
    put_origin(to, book, origin);
    fputs("</main>\n</body>\n</html>\n", to);
}
