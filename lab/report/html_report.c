/* The report as a whole: its head, abstract and contents, and the order of its parts. See report.h. */
#include <string.h>

#include "lab/report/html.h"
#include "lab/report/report.h"
#include "lab/report/svg.h"

/* ---- parts ---- */

static bool has_tables(const lab_book *book, const lab_paper *paper)
{
    for (size_t i = 0; i < book->count; i++)
        if (lab_paper_of_table(&book->tables[i]) == paper)
            return true;
    return false;
}

typedef void put_table(FILE *to, const lab_book *book, const lab_table *table);

static void each_table(FILE *to, const lab_book *book, const lab_paper *paper, put_table *put)
{
    for (size_t i = 0; i < book->count; i++)
        if (lab_paper_of_table(&book->tables[i]) == paper)
            put(to, book, &book->tables[i]);
}

/* ---- abstract ---- */

static void put_sentence(FILE *to, const char *before, const char *sentence, const char *after)
{
    fputs(before, to);
    lab_html_sentence(to, sentence);
    fputs(after, to);
}

static void put_claims(FILE *to, const lab_book *book)
{
    fputs("<h3>The claims</h3>\n<p>Each claim states its margin before anything is measured, and is judged by ratios "
          "with 99&nbsp;% intervals. <a href=\"#claims\">All claims</a>, each with its figures:</p>\n",
          to);
    lab_report_claim_counts(to, book);
}

static void put_abstract(FILE *to, const lab_book *book)
{
    lab_score score = lab_score_of(book);
    char text[LAB_REMARK_ROOM];
    fputs(
        "<h2 id=\"summary\">Abstract</h2>\n"
        "<p>Crawlers remember in Bloom filters which URLs they have seen, and lose the pages that a filter falsely "
        "reports as seen. This report repeats published experiments on such filters with one program, and adds studies "
        "of its own. Each cell of a table is compared with theory, which the lab derives itself, and with the "
        "published figure, which plays no part in measuring.</p>\n",
        to);
    fprintf(to,
            "<h3>Our figures against theory</h3>\n"
            "<p>%zu cells were measured. Theory predicts %zu of them, and %zu of these fit.",
            score.cells - score.verdicts[LAB_NOT_BUILT], score.tested, score.tested - score.verdicts[LAB_FAILS]);
    if (lab_together_text(book, text)[0])
        put_sentence(to, " ", text, "");
    fprintf(
        to,
        "</p>\n<h3>The published figures</h3>\n<p>%zu published figures, each counted once: %s. What they say:</p>\n",
        lab_score_published(&score), lab_bases_text(&score, text));
    lab_report_verdicts(to, book, &score);
    if (lab_report_has_claims(book))
        put_claims(to, book);
    fputs("<h3>Paper by paper, study by study</h3>\n", to);
    lab_report_overview(to, book);
}

/* ---- contents ---- */

static void put_link(FILE *to, const lab_book *book, const lab_table *table)
{
    lab_score score = {.cells = 0};
    (void)book;
    lab_score_add(&score, table);
    fputs("<li>", to);
    lab_html_link(to, table->id, table->title);
    fputs(" <span class=\"source\"><code>", to);
    lab_html_text(to, table->id);
    fputs("</code> · ", to);
    lab_report_score(to, &score);
    fputs("</span></li>\n", to);
}

static void put_contents(FILE *to, const lab_book *book)
{
    const lab_paper *paper;
    fputs("<h2 id=\"contents\">Contents</h2>\n", to);
    for (size_t i = 0; (paper = lab_paper_at(i)); i++) {
        if (!has_tables(book, paper))
            continue;
        fprintf(to, "<h3><a href=\"#tables-%s\">", paper->key);
        lab_html_title(to, paper->title);
        fputs("</a></h3>\n<ul class=\"contents\">\n", to);
        each_table(to, book, paper, put_link);
        fputs("</ul>\n", to);
    }
}

/* The links at the side of the page, or above it if it is narrow; `anchor` is the part's, and its papers follow. */
static void put_papers(FILE *to, const lab_book *book, const char *anchor,
                       bool (*has)(const lab_book *book, const lab_paper *paper))
{
    const lab_paper *paper;
    fputs("\n<ul>\n", to);
    for (size_t i = 0; (paper = lab_paper_at(i)); i++) {
        if (!has(book, paper))
            continue;
        fprintf(to, "<li><a href=\"#%s-%s\">", anchor, paper->key);
        lab_html_title(to, paper->title);
        fputs("</a></li>\n", to);
    }
    fputs("</ul>", to);
}

static void put_navigation(FILE *to, const lab_book *book)
{
    fputs("<nav class=\"side\" aria-label=\"Parts of this page\">\n<ul>\n<li><a href=\"#summary\">Abstract</a></li>\n",
          to);
    if (lab_report_has_claims(book)) {
        fputs("<li><a href=\"#claims\">Claims</a>", to);
        put_papers(to, book, "claims", lab_report_has_claims_of);
        fputs("</li>\n", to);
    }
    fputs("<li><a href=\"#contents\">Contents</a></li>\n<li><a href=\"#reading\">How to read</a></li>\n"
          "<li><a href=\"#tables\">Tables</a>",
          to);
    put_papers(to, book, "tables", has_tables);
    fputs(
        "</li>\n<li><a href=\"#glossary\">Glossary</a></li>\n<li><a href=\"#origin\">How it was made</a></li>\n</ul>\n"
        "</nav>\n",
        to);
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
            "<style>\n%s%s%s</style>\n</head>\n<body>\n",
            lab_svg_colours, lab_svg_rules, lab_report_style);
    fputs("<header id=\"top\">\n<h1>URL caches with Bloom filters: the published experiments, run again</h1>\n", to);
    fputs("<p class=\"lead\">What <code>vidi lab</code> measured with vidi’s own filters, compared with the papers’ "
          "figures and with theory. ",
          to);
    lab_html_sentence(to, lab_report_runs(book, text));
    fputs(" <a href=\"#repeat\">How to repeat it</a>, <a href=\"#cite\">how to cite it</a>.</p>\n</header>\n", to);
}

static void put_tables(FILE *to, const lab_book *book)
{
    const lab_paper *paper;
    fputs("<h2 id=\"tables\">Tables</h2>\n", to);
    for (size_t i = 0; (paper = lab_paper_at(i)); i++)
        if (has_tables(book, paper)) {
            lab_report_paper(to, paper, "tables");
            each_table(to, book, paper, lab_report_table);
        }
}

void lab_report_write(FILE *to, const lab_book *book, const lab_origin *origin)
{
    put_head(to, book);
    put_navigation(to, book);
    fputs("<main>\n", to);
    put_abstract(to, book);
    lab_report_claims(to, book);
    put_contents(to, book);
    lab_report_legend(to);
    put_tables(to, book);
    lab_report_glossary(to);
    lab_report_origin(to, book, origin);
    fputs("</main>\n<a class=\"up\" href=\"#top\" aria-label=\"back to the top\">↑ top</a>\n</body>\n</html>\n", to);
}
