/* The abstract's table: what was found in each paper and each study, in numbers. */
#include "lab/report/html.h"
#include "lab/report/report.h"

enum { SENTENCE_ROOM = 2048 };

typedef struct part_score {
    size_t tables, published, agree, holdings[LAB_DOES_NOT_HOLD + 1];
    lab_score score;
} part_score;

static part_score score_of_part(const lab_book *book, const lab_paper *paper)
{
    part_score part = {.tables = 0};
    char sentence[SENTENCE_ROOM];
    const lab_claim *claim;
    for (size_t i = 0; i < book->count; i++)
        if (lab_paper_of_table(&book->tables[i]) == paper) {
            part.tables++;
            lab_score_add(&part.score, &book->tables[i]);
        }
    for (size_t i = 0; (claim = lab_claim_at(i)); i++)
        if (lab_paper_of_claim(claim) == paper)
            part.holdings[lab_report_judge(claim, book, sentence, sizeof sentence)]++;
    part.published = lab_score_published(&part.score);
    part.agree = part.score.verdicts[LAB_AGREES];
    return part;
}

/* An empty cell stands for 0. */
static void put_number(FILE *to, size_t number)
{
    char text[LAB_NUMBER_ROOM];
    fprintf(to, "<td>%s</td>", number ? lab_number(text, (double)number, 1) : "");
}

static void put_part(FILE *to, const lab_paper *paper, const part_score *part)
{
    const size_t *holdings = part->holdings;
    fprintf(to, "<tr><th scope=\"row\"><span><a href=\"#tables-%s\">", paper->key);
    lab_html_title(to, paper->title);
    fputs("</a></span></th>", to);
    put_number(to, part->tables);
    put_number(to, part->score.cells);
    put_number(to, part->score.tested);
    put_number(to, part->published);
    put_number(to, part->agree);
    put_number(to, holdings[LAB_HOLDS]);
    put_number(to, holdings[LAB_CONDITIONS]);
    put_number(to, holdings[LAB_DOES_NOT_HOLD]);
    put_number(to, holdings[LAB_UNJUDGED]);
    fputs("</tr>\n", to);
}

void lab_report_overview(FILE *to, const lab_book *book)
{
    const lab_paper *paper;
    fputs("<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"overview\">\n"
          "<table class=\"list overview\">\n<thead>\n"
          "<tr><th></th><th></th><th colspan=\"2\">cells</th><th colspan=\"2\">published figures</th>"
          "<th colspan=\"4\">claims</th></tr>\n"
          "<tr><th scope=\"col\"><span>part</span></th><th scope=\"col\">tables</th><th scope=\"col\">all</th>"
          "<th scope=\"col\">predicted by theory</th><th scope=\"col\">all</th><th scope=\"col\">agree</th>"
          "<th scope=\"col\">hold</th><th scope=\"col\">with conditions</th><th scope=\"col\">do not hold</th>"
          "<th scope=\"col\">too little measured</th></tr>\n</thead>\n<tbody>\n",
          to);
    for (size_t i = 0; (paper = lab_paper_at(i)); i++) {
        part_score part = score_of_part(book, paper);
        if (part.tables)
            put_part(to, paper, &part);
    }
    fputs("</tbody>\n</table>\n</div>\n", to);
}
