/* What is counted in a book: cells, verdicts, and what the verdicts rest on. See report.h. */
#include <math.h>
#include <string.h>

#include "lab/report/html.h"
#include "lab/report/report.h"

bool lab_entry_tells(const lab_entry *entry)
{
    return lab_entry_exists(entry) || entry->verdict == LAB_NOT_BUILT;
}

/* Whether the verdict on a published figure counts in this table. */
static bool counts_here(const lab_entry *entry)
{
    return entry->basis != LAB_COUNTERFACTUAL && entry->basis != LAB_REPEATED;
}

void lab_score_add(lab_score *score, const lab_table *table)
{
    for (size_t i = 0; i < table->rows * table->columns; i++) {
        const lab_entry *entry = &table->entries[i];
        if (!lab_entry_tells(entry))
            continue;
        score->cells++;
        if (counts_here(entry) || entry->verdict == LAB_FAILS)
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

size_t lab_score_published(const lab_score *score)
{
    const size_t *bases = score->bases;
    return bases[LAB_BY_CHANCE] + bases[LAB_BY_TOLERANCE] + bases[LAB_FITTED] + bases[LAB_NOT_JUDGED];
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

/* ---- published figures ---- */

static void put_count(FILE *to, const char *class, size_t count, const char *what)
{
    fprintf(to, "<span class=\"%s\"><b>%zu</b> %s</span>\n", class, count, what);
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
            if (!counts_here(entry) || (entry->verdict != LAB_DOUBTFUL && entry->verdict != LAB_ANOMALOUS))
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

void lab_report_verdicts(FILE *to, const lab_book *book, const lab_score *score)
{
    const size_t *verdicts = score->verdicts;
    fputs("<p class=\"tally\">", to);
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
                  "were left out because this build lacks a hash function or library that they need");
    fputs("</p>\n", to);
    put_doubtful(to, book, score);
}
