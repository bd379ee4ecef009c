/*
 * Fills a text with the figures of a run. A placeholder stands between {{ and }}:
 *
 *   {{ID|ROW|COLUMN}}                the measured value with three significant digits
 *   {{ID|ROW|COLUMN|FIELD|FORMAT}}   another field: measured, theory, published, low, high, runs, z or verdict
 *   {{ratio CELL : CELL|FORMAT}}     the quotient of two cells
 *   {{count WHAT PATTERN...}}        how many cells of the experiments that match a pattern: WHAT is a verdict,
 *                                    "cells", "tested" (against theory), "published", "chance", "tolerance",
 *                                    "fitted" or "unjudged"
 *   {{claims HOLDING PATTERN...}}    how many claims: "holds", "does not hold", "all" ...; without a pattern, of all
 *   {{about FACT|FORMAT}}            a fact about the run; figures.c lists them
 *
 * A format is ".2" (two decimals), "3" (significant digits) or "," (a whole number with commas between thousands). A
 * placeholder may continue on the next line. Cells that show what a paper did not do, or that repeat another table's
 * figure, count only as cells and as tested.
 */
#include <float.h>
#include <fnmatch.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "lab/fill/figures.h"

enum { TEXT_ROOM = 512, SENTENCE_ROOM = 1024, PARTS_MOST = 6, DIGITS_USUAL = 3 };

#define LARGEST 1e12 /* larger and smaller numbers are written with an exponent */
#define SMALLEST 1e-9

typedef struct filler {
    FILE *to;
    const lab_figures *figures;
    lab_fill_problem *problem;
    void *context;
    size_t line, problems;
} filler;

__attribute__((format(printf, 2, 3))) static void complain(filler *filler, const char *format, ...)
{
    char sentence[SENTENCE_ROOM];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    filler->problems++;
    if (filler->problem)
        filler->problem(filler->context, filler->line, sentence);
}

/* ---- numbers ---- */

static void put_digits(FILE *to, double value, int decimals)
{
    char digits[DBL_MAX_10_EXP + 16]; /* with a sign, a point and nine decimals */
    snprintf(digits, sizeof digits, "%.*f", decimals, value);
    size_t sign = digits[0] == '-', whole = strspn(digits + sign, "0123456789");
    for (size_t i = 0; digits[i]; i++) {
        if (i > sign && i < sign + whole && (sign + whole - i) % 3 == 0)
            fputc(',', to);
        fputc(digits[i], to);
    }
}

/* "1.6e13". */
static void put_exponent(FILE *to, double value, int digits)
{
    char text[64];
    snprintf(text, sizeof text, "%.*e", digits - 1, value);
    const char *letter = strchr(text, 'e');
    fprintf(to, "%.*se%ld", (int)(letter - text), text, strtol(letter + 1, NULL, 10));
}

static void put_significant(FILE *to, double value, int digits)
{
    char text[64];
    double size = fabs(value);
    if (!(size > 0)) {
        fputc('0', to);
        return;
    }
    if (size < SMALLEST || size >= LARGEST) {
        put_exponent(to, value, digits);
        return;
    }
    snprintf(text, sizeof text, "%.*e", digits - 1, value); /* rounds, which may add a digit */
    int exponent = (int)strtol(strchr(text, 'e') + 1, NULL, 10);
    put_digits(to, strtod(text, NULL), exponent < digits - 1 ? digits - 1 - exponent : 0);
}

/* Whether the format is one of those that are explained above. */
static bool is_format(const char *format)
{
    bool point = format[0] == '.';
    char digit = format[point];
    return strcmp(format, ",") == 0 || (digit >= (point ? '0' : '1') && digit <= '9' && !format[point + 1]);
}

/* An empty format stands for the usual one. */
static void put_number(FILE *to, double value, const char *format)
{
    if (format[0] == ',')
        put_digits(to, round(value), 0);
    else if (format[0] == '.')
        put_digits(to, value, format[1] - '0');
    else
        put_significant(to, value, format[0] ? format[0] - '0' : DIGITS_USUAL);
}

/* ---- cells ---- */

/* The parts of a placeholder, which it is cut into. */
typedef struct parts {
    const char *list[PARTS_MOST];
    size_t count;
} parts;

static char *trim(char *text)
{
    text += strspn(text, " ");
    size_t length = strlen(text);
    while (length > 0 && text[length - 1] == ' ')
        text[--length] = 0;
    return text;
}

static parts cut(char *text)
{
    parts parts = {.count = 0};
    char *next = text;
    while (next && parts.count < PARTS_MOST) {
        char *bar = strchr(next, '|');
        if (bar)
            *bar = 0;
        parts.list[parts.count++] = trim(next);
        next = bar ? bar + 1 : NULL;
    }
    return parts;
}

static const lab_record *find_cell(filler *filler, const parts *parts)
{
    if (parts->count < 3 || parts->count > 5) {
        complain(filler, "'%s' is not ID|ROW|COLUMN, with a field and a format if necessary", parts->list[0]);
        return NULL;
    }
    const lab_record *record = lab_figures_find(filler->figures, parts->list[0], parts->list[1], parts->list[2]);
    if (!record)
        complain(filler, "there is no cell %s|%s|%s", parts->list[0], parts->list[1], parts->list[2]);
    return record;
}

static bool number_of(const lab_record *record, const char *field, double *number)
{
    const struct {
        const char *name;
        double number;
    } fields[] = {
        {"measured", record->measured},
        {"theory", record->theory},
        {"low", record->low},
        {"high", record->high},
        {"runs", record->runs},
        {"z", record->z},
        {"published", record->published[0] ? strtod(record->published, NULL) : (double)NAN},
    };
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (strcmp(field, fields[i].name) == 0) {
            *number = fields[i].number;
            return true;
        }
    return false;
}

/* The number of a cell that the parts name, with its format; says why not. */
static bool take_number(filler *filler, const parts *parts, double *number, const char **format)
{
    const lab_record *record = find_cell(filler, parts);
    if (!record)
        return false;
    const char *field = parts->count > 3 ? parts->list[3] : "measured";
    *format = parts->count > 4 ? parts->list[4] : "";
    if (parts->count == 4 && is_format(field)) {
        *format = field;
        field = "measured";
    }
    if (!number_of(record, field, number))
        complain(filler, "there is no field '%s'", field);
    else if (*format[0] && !is_format(*format))
        complain(filler, "'%s' is not a format: .2, 3 or a comma", *format);
    else if (isnan(*number))
        complain(filler, "%s|%s|%s has no %s value", parts->list[0], parts->list[1], parts->list[2], field);
    else
        return true;
    return false;
}

static void fill_cell(filler *filler, char *text)
{
    parts parts = cut(text);
    bool named = parts.count == 4; /* a field without a format */
    double number;
    const char *format;
    if (named && (strcmp(parts.list[3], "verdict") == 0 || strcmp(parts.list[3], "published") == 0)) {
        const lab_record *record = find_cell(filler, &parts);
        const char *value = !record ? "" : parts.list[3][0] == 'v' ? record->verdict : record->published;
        if (record && !value[0])
            complain(filler, "%s|%s|%s has no %s", parts.list[0], parts.list[1], parts.list[2], parts.list[3]);
        fputs(value, filler->to);
        return;
    }
    if (take_number(filler, &parts, &number, &format))
        put_number(filler->to, number, format[0] || !named || strcmp(parts.list[3], "runs") != 0 ? format : ",");
}

static void fill_ratio(filler *filler, char *text)
{
    char *colon = strstr(text, " : ");
    double above, below;
    const char *unused, *format;
    if (!colon) {
        complain(filler, "a ratio is 'ratio CELL : CELL', not '%s'", text);
        return;
    }
    *colon = 0;
    parts first = cut(text), second = cut(colon + 3);
    if (!take_number(filler, &first, &above, &unused) || !take_number(filler, &second, &below, &format))
        return;
    if (!(fabs(below) > 0))
        complain(filler, "%s|%s|%s is 0: there is no ratio", second.list[0], second.list[1], second.list[2]);
    else
        put_number(filler->to, above / below, format);
}

/* ---- counts ---- */

/* Whether a name matches one of the patterns, which spaces separate. */
static bool matches(const char *patterns, const char *name)
{
    char pattern[TEXT_ROOM];
    for (size_t length; patterns += strspn(patterns, " "), (length = strcspn(patterns, " ")) > 0; patterns += length) {
        snprintf(pattern, sizeof pattern, "%.*s", (int)length, patterns);
        if (fnmatch(pattern, name, 0) == 0)
            return true;
    }
    return false;
}

static bool is_cell(const lab_record *record)
{
    return strcmp(record->experiment, LAB_ABOUT) != 0 && strcmp(record->experiment, LAB_CLAIM) != 0 &&
           !isnan(record->measured);
}

static bool is_tested(const lab_record *record)
{
    return is_cell(record) && (!isnan(record->z) || strcmp(record->verdict, "fails") == 0);
}

/* Whether the published figure of a cell is counted here. */
static bool is_published(const lab_record *record)
{
    return record->basis[0] && strcmp(record->basis, "counterfactual") != 0 && strcmp(record->basis, "repeated") != 0;
}

static bool is_counted(const lab_record *record, const char *what)
{
    if (strcmp(what, "cells") == 0)
        return is_cell(record);
    if (strcmp(what, "tested") == 0)
        return is_tested(record);
    if (strcmp(what, "published") == 0)
        return is_published(record);
    if (strcmp(what, "chance") == 0 || strcmp(what, "tolerance") == 0 || strcmp(what, "fitted") == 0 ||
        strcmp(what, "unjudged") == 0)
        return is_published(record) && strcmp(record->basis, what) == 0;
    bool elsewhere = record->basis[0] && !is_published(record) && strcmp(what, "fails") != 0;
    return strcmp(record->verdict, what) == 0 && strcmp(record->experiment, LAB_CLAIM) != 0 && !elsewhere;
}

/* The length of the first of these names that the text begins with, as whole words; 0: none. */
static size_t leading_name(const char *text, const char *const *names)
{
    for (; *names; names++) {
        size_t length = strlen(*names);
        if (strncmp(text, *names, length) == 0 && (!text[length] || text[length] == ' '))
            return length;
    }
    return 0;
}

static void fill_count(filler *filler, char *text)
{
    static const char *const names[] = {"cells",    "tested",   "published", "chance",    "tolerance", "fitted",
                                        "unjudged", "measured", "agrees",    "dependent", "doubtful",  "anomalous",
                                        "misprint", "differs",  "not built", "fails",     NULL};
    char what[TEXT_ROOM];
    size_t length = leading_name(text, names), count = 0, known = 0;
    snprintf(what, sizeof what, "%.*s", (int)length, text);
    for (size_t i = 0; i < filler->figures->count && length; i++) {
        const lab_record *record = &filler->figures->records[i];
        bool match = matches(text + length, record->experiment);
        known += match;
        count += match && is_counted(record, what);
    }
    if (!known)
        complain(filler, length ? "no experiment matches 'count %s'" : "nothing is counted by 'count %s'", text);
    else
        put_digits(filler->to, (double)count, 0);
}

static void fill_claims(filler *filler, char *text)
{
    static const char *const names[] = {"all",           "holds with conditions",   "holds",
                                        "does not hold", "too little was measured", NULL};
    char what[TEXT_ROOM];
    size_t length = leading_name(text, names), count = 0, known = 0;
    const char *patterns = text[length + strspn(text + length, " ")] ? text + length : "*";
    snprintf(what, sizeof what, "%.*s", (int)length, text);
    for (size_t i = 0; i < filler->figures->count && length; i++) {
        const lab_record *record = &filler->figures->records[i];
        bool match = strcmp(record->experiment, LAB_CLAIM) == 0 && matches(patterns, record->row);
        known += match;
        count += match && (strcmp(what, "all") == 0 || strcmp(what, record->verdict) == 0);
    }
    if (!known)
        complain(filler, "there is no 'claims %s'", text);
    else
        put_digits(filler->to, (double)count, 0);
}

/* ---- facts ---- */

static void put_duration(FILE *to, const lab_record *record)
{
    double minutes = record->measured / 60;
    fputs(record->column[0] ? "more than " : "", to); /* it continued from kept runs */
    if (minutes < 2)
        fprintf(to, "%.0f seconds", record->measured);
    else if (minutes < 120)
        fprintf(to, "%.0f minutes", minutes);
    else
        fprintf(to, "%.1f hours", minutes / 60);
}

static void fill_about(filler *filler, char *text)
{
    parts parts = cut(text);
    const lab_record *record = NULL;
    const char *format = parts.count > 1 ? parts.list[1] : "";
    for (size_t i = 0; i < filler->figures->count && !record; i++)
        if (strcmp(filler->figures->records[i].experiment, LAB_ABOUT) == 0 &&
            strcmp(filler->figures->records[i].row, parts.list[0]) == 0)
            record = &filler->figures->records[i];
    if (!record)
        complain(filler, "nothing is known about '%s'", parts.list[0]);
    else if (format[0] && !is_format(format))
        complain(filler, "'%s' is not a format: .2, 3 or a comma", format);
    else if (strcmp(record->row, "duration") == 0)
        put_duration(filler->to, record);
    else if (isnan(record->measured))
        fputs(record->column, filler->to);
    else
        put_number(filler->to, record->measured, format[0] ? format : ",");
}

/* ---- the text ---- */

typedef void fill_sort(filler *filler, char *text);

static void fill_one(filler *filler, char *text)
{
    static const struct {
        const char *word;
        fill_sort *fill;
    } sorts[] = {{"ratio ", fill_ratio}, {"count ", fill_count}, {"claims ", fill_claims}, {"about ", fill_about}};
    text = trim(text);
    for (size_t i = 0; i < sizeof sorts / sizeof *sorts; i++)
        if (strncmp(text, sorts[i].word, strlen(sorts[i].word)) == 0) {
            sorts[i].fill(filler, text + strlen(sorts[i].word));
            return;
        }
    fill_cell(filler, text);
}

/* Copies a placeholder, with one space for each sequence of blanks; false: it is too long. */
static bool copy_placeholder(char text[TEXT_ROOM], const char *from, size_t length)
{
    size_t used = 0;
    for (size_t i = 0; i < length; i++) {
        bool blank = from[i] == ' ' || from[i] == '\n';
        if (blank && used > 0 && text[used - 1] == ' ')
            continue;
        if (used + 1 == TEXT_ROOM)
            return false;
        text[used++] = from[i];
        if (blank)
            text[used - 1] = ' ';
    }
    text[used] = 0;
    return true;
}

static size_t lines_in(const char *from, size_t length)
{
    size_t lines = 0;
    for (size_t i = 0; i < length; i++)
        lines += from[i] == '\n';
    return lines;
}

static void fill_text(filler *filler, const char *template)
{
    char text[TEXT_ROOM];
    const char *open;
    while ((open = strstr(template, "{{"))) {
        fwrite(template, 1, (size_t)(open - template), filler->to);
        filler->line += lines_in(template, (size_t)(open - template));
        const char *close = strstr(open + 2, "}}");
        if (!close) { /* nor does any after it */
            complain(filler, "a placeholder does not end");
            return;
        }
        if (copy_placeholder(text, open + 2, (size_t)(close - open - 2)))
            fill_one(filler, text);
        else
            complain(filler, "the placeholder is too long");
        filler->line += lines_in(open, (size_t)(close - open));
        template = close + 2;
    }
    fputs(template, filler->to);
}

size_t lab_fill_text(FILE *to, const char *template, const lab_figures *figures, lab_fill_problem *problem,
                     void *context)
{
    char *filled = NULL;
    size_t length = 0;
    filler filler = {open_memstream(&filled, &length), figures, problem, context, 1, 0};
    if (!filler.to) {
        complain(&filler, "no memory for the text");
        return filler.problems;
    }
    fill_text(&filler, template);
    if (fclose(filler.to) != 0)
        complain(&filler, "no memory for the text");
    else
        lab_wrap(to, filled);
    free(filled);
    return filler.problems;
}
