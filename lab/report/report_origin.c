/* How the book was made, how to repeat and how to cite it, and all its figures. See report.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lab/urls/line_streams.h"
#include "lab/report/html.h"
#include "lab/report/report.h"

const char *lab_report_runs(const lab_book *book, char text[LAB_REMARK_ROOM])
{
    const lab_settings *settings = &book->settings;
    char number[LAB_NUMBER_ROOM], runs[LAB_RUNS_ROOM];
    snprintf(text, LAB_REMARK_ROOM, "%s of %s URL%s, seed %llu", lab_runs_text(settings, runs),
             lab_number(number, (double)settings->urls, 1), settings->urls == 1 ? "" : "s",
             (unsigned long long)settings->seed);
    return text;
}

/* ---- data ---- */

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

static void put_data_link(FILE *to, const lab_book *book, const lab_origin *origin)
{
    char *text = NULL;
    size_t length = 0;
    FILE *csv = open_memstream(&text, &length);
    if (csv)
        lab_report_figures(csv, book, origin);
    if (csv && fclose(csv) == 0) {
        fputs("<dt>Data</dt><dd><a download=\"vidi-lab-tables.csv\" href=\"data:text/csv;charset=utf-8,", to);
        put_escaped(to, text);
        fputs("\">all figures as one CSV file</a>; "
              "below each table are the numbers of every run</dd>\n",
              to);
    }
    free(text);
}

/* ---- facts ---- */

static void put_fact(FILE *to, const char *name, const char *open, const char *value, const char *close)
{
    if (!value[0])
        return;
    fprintf(to, "<dt>%s</dt><dd>%s", name, open);
    lab_html_text(to, value);
    fprintf(to, "%s</dd>\n", close);
}

static void put_duration(FILE *to, const lab_origin *origin)
{
    char text[LAB_REMARK_ROOM];
    if (isnan(origin->seconds))
        return;
    bool long_time = origin->seconds >= 120;
    snprintf(text, sizeof text, "%s%.0f %s", origin->continued ? "continued an interrupted command, which took " : "",
             long_time ? origin->seconds / 60 : origin->seconds, long_time ? "minutes" : "seconds");
    put_fact(to, "Duration", "", text, "");
}

static void put_urls(FILE *to, const lab_settings *settings)
{
    const lab_corpus *corpus = settings->corpus;
    char text[LAB_REMARK_ROOM] =
        "synthetic: hosts by Zipf's law, paths and queries; determined by the seed and the number "
        "of the run ('vidi lab urls' prints them)";
    if (corpus)
        snprintf(text, sizeof text, "from files: %llu different ones", (unsigned long long)lab_corpus_count(corpus));
    put_fact(to, "URLs", "", text, "");
    if (!settings->streams)
        return;
    snprintf(text, sizeof text, "%zu files with the first %llu lines of each at most",
             lab_streams_count(settings->streams), (unsigned long long)settings->urls);
    put_fact(to, "Streams", "", text, "");
}

/* "vidi 0.1.0, commit 1234". */
static const char *text_of_program(const lab_origin *origin, char text[LAB_REMARK_ROOM])
{
    snprintf(text, LAB_REMARK_ROOM, "vidi %s%s%.80s", vidi_version(), origin->commit[0] ? ", commit " : "",
             origin->commit);
    return text;
}

static void put_facts(FILE *to, const lab_book *book, const lab_origin *origin)
{
    char text[LAB_REMARK_ROOM];
    fputs("<dl class=\"facts\">\n", to);
    put_fact(to, "Runs", "", lab_report_runs(book, text), "");
    put_urls(to, &book->settings);
    put_fact(to, "Program", "", text_of_program(origin, text), "");
    put_fact(to, "Compiler", "", origin->compiler, "");
    put_fact(to, "Libraries", "", origin->libraries, "");
    snprintf(text, sizeof text, "%.160s%s%s", origin->processor, origin->processor[0] ? "; vidi uses " : "vidi uses ",
             vidi_cpu());
    put_fact(to, "Processor", "", text, "");
    put_fact(to, "Cores", "", origin->cores, "");
    put_fact(to, "Memory", "", origin->memory, "");
    put_fact(to, "System", "", origin->system, "");
    put_duration(to, origin);
    put_data_link(to, book, origin);
    fputs("</dl>\n", to);
}

/* ---- how to repeat and cite it ---- */

static void put_repeat(FILE *to, const lab_origin *origin)
{
    fputs("<h3 id=\"repeat\">How to repeat it</h3>\n<p>", to);
    if (origin->commit[0]) {
        fputs("Build vidi from commit <code>", to);
        lab_html_text(to, origin->commit);
        fputs("</code> with <code>make</code>. ", to);
    }
    fputs("This command gives the same numbers, except for times, however many threads it has:</p>\n"
          "<pre tabindex=\"0\"><code>",
          to);
    lab_html_text(to, origin->command);
    fputs("</code></pre>\n", to);
}

static void put_citation(FILE *to, const lab_book *book, const lab_origin *origin)
{
    char text[LAB_REMARK_ROOM];
    fputs("<h3 id=\"cite\">How to cite it</h3>\n<p>Name the program with its commit, the runs and the table, because "
          "figures of other runs differ by chance:</p>\n<blockquote>",
          to);
    lab_html_text(to, "“URL caches with Bloom filters: the published experiments, run again.” Report of ");
    lab_html_text(to, text_of_program(origin, text));
    fputs(", ", to);
    lab_html_text(to, lab_report_runs(book, text));
    fputs(".</blockquote>\n<p>Papers are cited at the head of their tables. Where a figure is theirs, cite them.</p>\n",
          to);
}

void lab_report_origin(FILE *to, const lab_book *book, const lab_origin *origin)
{
    fputs("<h2 id=\"origin\">How this was made</h2>\n", to);
    put_facts(to, book, origin);
    put_repeat(to, origin);
    put_citation(to, book, origin);
}
