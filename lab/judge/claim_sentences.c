/* The sentence of a claim, and the expressions in it. See claim_rules.h. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/judge/claim_rules.h"

/* ---- expressions ---- */

static double cell_field(const lab_entry *cell, const char **at)
{
    static const char *const names[] = {".theory", ".published", ".high", ".spread"};
    bool exact = cell->high <= cell->measured * (1 + 1e-11); /* lab_exact_entry */
    const double fields[] = {cell->theory, cell->published, cell->high, exact ? 0 : cell->high - cell->measured};
    for (size_t i = 0; i < 4; i++)
        if (strncmp(*at, names[i], strlen(names[i])) == 0) {
            *at += strlen(names[i]);
            return fields[i];
        }
    return cell->measured;
}

static bool take(const char **at, const char *word)
{
    size_t length = strlen(word);
    bool there = strncmp(*at, word, length) == 0;
    *at += there ? length : 0;
    return there;
}

static double factor(const lab_judgement *judgement, const char **at)
{
    static const char *const functions[] = {"abs(", "log2(", "min(", "max("};
    for (size_t i = 0; i < 4; i++) {
        if (!take(at, functions[i]))
            continue;
        double value = lab_expression(judgement, at);
        while (take(at, ",")) {
            double other = lab_expression(judgement, at);
            value = i == 2 ? fmin(value, other) : fmax(value, other);
        }
        take(at, ")");
        return i == 0 ? fabs(value) : i == 1 ? log2(value) : value;
    }
    if (take(at, "(")) {
        double value = lab_expression(judgement, at);
        take(at, ")");
        return value;
    }
    if (take(at, "n"))
        return (double)judgement->book->settings.urls;
    if (isupper((unsigned char)**at))
        return cell_field(&judgement->cells[*(*at)++ - 'A'], at);
    char *end;
    double number = strtod(*at, &end);
    *at = end;
    return number;
}

static double product(const lab_judgement *judgement, const char **at)
{
    double value = factor(judgement, at);
    for (;;)
        if (take(at, "*"))
            value *= factor(judgement, at);
        else if (take(at, "/"))
            value /= factor(judgement, at);
        else
            return value;
}

static double sum(const lab_judgement *judgement, const char **at)
{
    double value = product(judgement, at);
    for (;;)
        if (take(at, "+"))
            value += product(judgement, at);
        else if (take(at, "-"))
            value -= product(judgement, at);
        else
            return value;
}

double lab_expression(const lab_judgement *judgement, const char **at)
{
    double value = sum(judgement, at);
    if (take(at, "<="))
        return value <= sum(judgement, at);
    if (take(at, ">="))
        return value >= sum(judgement, at);
    if (take(at, "<"))
        return value < sum(judgement, at);
    return take(at, ">") ? value > sum(judgement, at) : value;
}

bool lab_outcomes_met(const lab_judgement *judgement, const char *from, const char *to)
{
    for (; from < to; from++)
        if (*from != ' ') {
            const lab_test_result *test = &judgement->tests[*from++ - 'a'];
            if (!strchr(test->outcomes, *from))
                return false;
        }
    return true;
}

/* ---- sentences ---- */

typedef struct writer {
    const lab_judgement *judgement;
    char *text;
    size_t used, room;
} writer;

static void put_bytes(writer *to, const char *text, size_t length)
{
    if (to->used + 1 >= to->room)
        return;
    length = length < to->room - to->used - 1 ? length : to->room - to->used - 1;
    memcpy(to->text + to->used, text, length);
    to->used += length;
    to->text[to->used] = 0;
}

static void put(writer *to, const char *text)
{
    put_bytes(to, text, strlen(text));
}

/* `format` is "3g", "1f" or "auto". */
static void put_number(writer *to, double value, const char *format)
{
    char text[512]; /* the largest double has 309 digits */
    int digits = *format == 'a' ? (value < 10 ? 2 : 0) : (*format - '0') % 10;
    if (format[1] == 'g')
        snprintf(text, sizeof text, "%.*g", digits, value);
    else
        snprintf(text, sizeof text, "%.*f", digits, value);
    put(to, text);
}

static void put_contest(writer *to, const lab_contest *contest, const char *what)
{
    static const char *const names[] = {"count}", "judged}", "equal}", "above}", "below}"};
    const size_t counts[] = {contest->count, contest->judged, contest->equal, contest->above, contest->below};
    char text[LAB_RATIO_ROOM];
    for (size_t i = 0; i < 5; i++)
        if (strncmp(what, names[i], strlen(names[i])) == 0)
            put_number(to, (double)counts[i], "0f");
    if (strncmp(what, "farthest}", 9) == 0)
        put(to, lab_ratio_text(contest->farthest, text));
    if (strncmp(what, "left_out}", 9) == 0)
        put(to, contest->left_out);
}

/* What stands between braces. */
static void put_figure(writer *to, const char *at)
{
    if (!strchr("abcd", at[0]) || !strchr("}. 0123456789", at[1])) {
        double value = lab_expression(to->judgement, &at);
        put_number(to, value, at + 1);
        return;
    }
    const lab_test_result *test = &to->judgement->tests[at[0] - 'a'];
    if (at[1] == '.') {
        put_contest(to, &test->contest, at + 2);
        return;
    }
    char text[LAB_RATIO_ROOM];
    size_t index = isdigit((unsigned char)at[1]) ? (size_t)(at[1] - '0') : 0;
    const char *format = at + strcspn(at, " }");
    lab_ratio ratio = test->ratios[index];
    if (*format == ' ')
        put_number(to, ratio.value, format + 1);
    else
        put(to, lab_ratio_text(ratio, text));
}

/* Writes up to one of `ends` and returns its place. Without `wanted` the text is skipped. */
static const char *put_text(writer *to, const char *at, const char *ends, bool wanted)
{
    while (!strchr(ends, *at)) {
        size_t plain = strcspn(at, "{[|]");
        if (wanted)
            put_bytes(to, at, plain);
        at += plain;
        if (*at == '{') {
            if (wanted)
                put_figure(to, at + 1);
            at += strcspn(at, "}") + 1;
        } else if (*at == '[') {
            const char *text = at + strcspn(at, "|");
            bool met = lab_outcomes_met(to->judgement, at + 1, text);
            at = put_text(to, text + 1, "|]", wanted && met);
            if (*at == '|')
                at = put_text(to, at + 1, "]", wanted && !met);
            at++;
        } else if (!strchr(ends, *at)) {
            put_bytes(to, at++, wanted);
        }
    }
    return at;
}

void lab_sentence_write(const lab_judgement *judgement, char *sentence, size_t room)
{
    writer to = {judgement, sentence, 0, room};
    put_text(&to, judgement->claim->sentence, "", true);
}
