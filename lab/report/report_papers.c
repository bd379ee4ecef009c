/*
 * The papers and studies that tables and claims belong to: the parts of the report. This list alone decides what a part
 * is called and where a table or claim goes; docs/PAPERS.md has the same references.
 */
#include <string.h>

#include "lab/report/html.h"
#include "lab/report/report.h"

/* In the order of the report. The last one takes whatever belongs to no other. */
static const lab_paper papers[] = {
    {"thesis", "the thesis", "thesis- further-", "The thesis",
     "Thomas Hansen Gøytil, Andreas Lundberg: A novel spatio-temporal scheme for reducing the rate of false "
     "positives in Bloom Filter based URL-caching. Master's thesis, University of Agder, 2010"},
    {"multilayer", "the multi-layer paper", "multilayer-", "The multi-layer paper",
     "A study, with its own implementation, of: Cen Zhiwang, Xu Jungang, Sun Jian: A Multi-Layer Bloom "
     "Filter for Duplicated URL Detection. 3rd International Conference on Advanced Computer Theory and "
     "Engineering (ICACTE), 2010, which the tables call the original"},
    {"counting", "the counting notes", "counting-", "The counting notes",
     "Lecture notes on Bloom filters and counting Bloom filters in crawlers"},
    {"eigen", "the eigenvalue paper", "eigen-", "The eigenvalue paper",
     "Mai Jiang, Xiang Gao, Zaifeng Mo: A Study of URL Deduplication Policy Based on Eigenvalue Extension "
     "Bloom Filter. Sichuan University of Science and Engineering"},
    {"kinds", NULL, "kinds-", "Our study: all kinds of filters",
     "Every kind of set that vidi has, with the same memory, and over ten crawls"},
    {"streams", NULL, "streams-", "Our study: real URLs",
     "The links of real crawls in the order in which they were found, with their repeats. Only totals are "
     "shown"},
    {"peers", NULL, "peers-", "Our study: the filters people use now",
     "Cuckoo, binary fuse and blocked Bloom filters and hash sets beside those of vidi: bits, losses and "
     "times"},
    {"graph", NULL, "graph-", "Our study: when and where pages are lost",
     "Simulated crawls over link graphs: a lost page's links are never found"},
    {"revisits", NULL, "revisits-", "Our study: what new salts are worth",
     "Policies for crawls that visit the same pages again, at equal memory"},
    {"large", NULL, "large-", "Our study: very many URLs",
     "Filters of a hundred million URLs, which are made on the fly"},
    {"others", NULL, "", "Other tables", ""},
};

enum { PAPERS = sizeof papers / sizeof *papers };

const lab_paper *lab_paper_at(size_t index)
{
    return index < PAPERS ? &papers[index] : NULL;
}

static bool has_prefix(const char *prefixes, const char *id)
{
    for (size_t length; (length = strcspn(prefixes, " ")) > 0; prefixes += length, prefixes += strspn(prefixes, " "))
        if (strncmp(id, prefixes, length) == 0)
            return true;
    return false;
}

static const lab_paper *paper_of_id(const char *id)
{
    for (size_t i = 0; i < PAPERS; i++)
        if (has_prefix(papers[i].prefixes, id))
            return &papers[i];
    return &papers[PAPERS - 1];
}

const lab_paper *lab_paper_of_table(const lab_table *table)
{
    return paper_of_id(table->id);
}

/* A claim belongs to the paper that its source names, or where its first table belongs. */
const lab_paper *lab_paper_of_claim(const lab_claim *claim)
{
    size_t length = strcspn(claim->source, ",");
    for (size_t i = 0; i < PAPERS; i++)
        if (papers[i].source && strlen(papers[i].source) == length &&
            strncmp(papers[i].source, claim->source, length) == 0)
            return &papers[i];
    return paper_of_id(claim->evidence);
}

void lab_report_paper(FILE *to, const lab_paper *paper, const char *anchor)
{
    fprintf(to, "<h3 id=\"%s-%s\">", anchor, paper->key);
    lab_html_title(to, paper->title);
    fputs(" <a class=\"back\" href=\"#contents\">contents</a></h3>\n", to);
    if (!paper->reference[0])
        return;
    fputs("<p class=\"reference\">", to);
    lab_html_sentence(to, paper->reference);
    fputs("</p>\n", to);
}
