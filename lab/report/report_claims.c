/* The papers' claims, and what the tables of the report show about them. */
#include <string.h>

#include "lab/report/html.h"
#include "lab/report/report.h"

enum { SENTENCE_ROOM = 2048 };

/* Advances *list to the next identifier, which spaces separate, and returns its length; 0 after the last. */
static size_t next_word(const char **list)
{
    *list += strspn(*list, " ");
    return strcspn(*list, " ");
}

static const lab_table *find_table(const lab_book *book, const char *id, size_t length)
{
    for (size_t i = 0; i < book->count; i++)
        if (strlen(book->tables[i].id) == length && memcmp(book->tables[i].id, id, length) == 0)
            return &book->tables[i];
    return NULL;
}

/* Whether the book has one of the claim's tables. */
static bool has_evidence(const lab_book *book, const lab_claim *claim)
{
    size_t length;
    for (const char *id = claim->evidence; (length = next_word(&id)) > 0; id += length)
        if (find_table(book, id, length))
            return true;
    return false;
}

static void put_evidence(FILE *to, const lab_book *book, const lab_claim *claim)
{
    const char *between = "";
    size_t length;
    for (const char *id = claim->evidence; (length = next_word(&id)) > 0; id += length) {
        const lab_table *table = find_table(book, id, length);
        fputs(between, to);
        between = ", ";
        if (!table) {
            fprintf(to, "%.*s (not measured)", (int)length, id);
            continue;
        }
        lab_html_link(to, table->id, table->id);
    }
}

static const char *class_of(lab_holding holding)
{
    static const char *const classes[] = {"unjudged", "holds", "conditions", "not"};
    return classes[holding];
}

/* The margin was stated before anything was measured. */
static void put_margin(FILE *to, const lab_claim *claim)
{
    if (!(claim->margin > 0) && !claim->margin_reason)
        return;
    fprintf(to, "<span class=\"margin\">margin %.3g %%", 100 * claim->margin);
    if (claim->margin_reason) {
        fputs(" (", to);
        lab_html_text(to, claim->margin_reason);
        fputs(")", to);
    }
    fputs("</span> · ", to);
}

static void put_claim(FILE *to, const lab_book *book, const lab_claim *claim)
{
    char sentence[SENTENCE_ROOM] = "";
    lab_holding holding = lab_claim_judged(claim, book, sentence, sizeof sentence);
    fprintf(to, "<li class=\"h-%s\" id=\"claim-", class_of(holding));
    lab_html_text(to, claim->id);
    fprintf(to, "\"><b class=\"holding\">%s</b> <q>", lab_holding_name(holding));
    lab_html_sentence(to, claim->text);
    fputs("</q>\n<p>", to);
    lab_html_sentence(to, sentence[0] ? sentence : "cells that it needs are missing");
    fputs("</p>\n<p class=\"source\">", to);
    lab_html_title(to, claim->source);
    fputs(" · ", to);
    put_margin(to, claim);
    put_evidence(to, book, claim);
    fputs("</p></li>\n", to);
}

static void put_counts(FILE *to, const lab_book *book)
{
    size_t counts[LAB_DOES_NOT_HOLD + 1] = {0};
    char sentence[SENTENCE_ROOM];
    const lab_claim *claim;
    for (size_t i = 0; (claim = lab_claim_at(i)); i++)
        counts[has_evidence(book, claim) ? lab_claim_judged(claim, book, sentence, sizeof sentence) : LAB_UNJUDGED]++;
    fputs("<p class=\"tally\">", to);
    for (lab_holding holding = LAB_HOLDS; holding <= LAB_DOES_NOT_HOLD; holding++)
        fprintf(to, "<span class=\"h-%s\"><b>%zu</b> %s</span>\n", class_of(holding), counts[holding],
                holding == LAB_HOLDS        ? "hold"
                : holding == LAB_CONDITIONS ? "hold with conditions"
                                            : "do not hold");
    if (counts[LAB_UNJUDGED])
        fprintf(to, "<span class=\"h-unjudged\"><b>%zu</b> with too little measured</span>\n", counts[LAB_UNJUDGED]);
    fputs("</p>\n", to);
}

bool lab_report_has_claims(const lab_book *book)
{
    const lab_claim *claim;
    for (size_t i = 0; (claim = lab_claim_at(i)); i++)
        if (has_evidence(book, claim))
            return true;
    return false;
}

void lab_report_claims(FILE *to, const lab_book *book)
{
    const lab_claim *claim, *last = NULL;
    for (size_t i = 0; (claim = lab_claim_at(i)); i++) {
        if (!has_evidence(book, claim))
            continue;
        if (!last) {
            fputs("<h2 id=\"claims\">What the papers claim</h2>\n", to);
            put_counts(to, book);
        }
        if (!last || !lab_same_paper(last->source, claim->source)) {
            fputs(last ? "</ul>\n<h3>" : "<h3>", to);
            lab_report_paper(to, claim->source);
            fputs("</h3>\n<ul class=\"claims\">\n", to);
        }
        put_claim(to, book, claim);
        last = claim;
    }
    if (last)
        fputs("</ul>\n", to);
}
