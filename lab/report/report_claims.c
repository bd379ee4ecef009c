/* The papers' claims, and what the tables of the report show about them. */
#include "lab/report/html.h"
#include "lab/report/report.h"

enum { SENTENCE_ROOM = 2048 };

/* Whether the book has one of the claim's tables. */
static bool has_evidence(const lab_book *book, const lab_claim *claim)
{
    char id[LAB_ID_ROOM];
    for (const char *rest = claim->evidence; lab_evidence_next(&rest, id);)
        if (lab_book_find(book, id))
            return true;
    return false;
}

lab_holding lab_report_judge(const lab_claim *claim, const lab_book *book, char *sentence, size_t room)
{
    sentence[0] = 0;
    return has_evidence(book, claim) ? lab_claim_judged(claim, book, sentence, room) : LAB_UNJUDGED;
}

static void put_evidence(FILE *to, const lab_book *book, const lab_claim *claim)
{
    const char *between = "";
    char id[LAB_ID_ROOM];
    for (const char *rest = claim->evidence; lab_evidence_next(&rest, id); between = ", ") {
        fputs(between, to);
        if (lab_book_find(book, id))
            lab_html_link(to, id, id);
        else
            fprintf(to, "%s (not measured)", id);
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
    lab_holding holding = lab_report_judge(claim, book, sentence, sizeof sentence);
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

void lab_report_claim_counts(FILE *to, const lab_book *book)
{
    size_t counts[LAB_DOES_NOT_HOLD + 1] = {0};
    char sentence[SENTENCE_ROOM];
    const lab_claim *claim;
    for (size_t i = 0; (claim = lab_claim_at(i)); i++)
        counts[lab_report_judge(claim, book, sentence, sizeof sentence)]++;
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

static bool is_shown(const lab_book *book, const lab_claim *claim, const lab_paper *paper)
{
    return has_evidence(book, claim) && (!paper || lab_paper_of_claim(claim) == paper);
}

bool lab_report_has_claims_of(const lab_book *book, const lab_paper *paper)
{
    const lab_claim *claim;
    for (size_t i = 0; (claim = lab_claim_at(i)); i++)
        if (is_shown(book, claim, paper))
            return true;
    return false;
}

bool lab_report_has_claims(const lab_book *book)
{
    return lab_report_has_claims_of(book, NULL);
}

static void put_claims_of(FILE *to, const lab_book *book, const lab_paper *paper)
{
    const lab_claim *claim;
    lab_report_paper(to, paper, "claims");
    fputs("<ul class=\"claims\">\n", to);
    for (size_t i = 0; (claim = lab_claim_at(i)); i++)
        if (is_shown(book, claim, paper))
            put_claim(to, book, claim);
    fputs("</ul>\n", to);
}

void lab_report_claims(FILE *to, const lab_book *book)
{
    const lab_paper *paper;
    if (!lab_report_has_claims(book))
        return;
    fputs("<h2 id=\"claims\">What is claimed, and what holds</h2>\n", to);
    for (size_t i = 0; (paper = lab_paper_at(i)); i++)
        if (lab_report_has_claims_of(book, paper))
            put_claims_of(to, book, paper);
}
