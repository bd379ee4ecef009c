/* Escaped text and readable numbers. See html.h. */
#include "lab/report/html.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/utf8.h"

#define REPLACEMENT "\xEF\xBF\xBD" /* U+FFFD */

static const char *entity(unsigned char byte)
{
    switch (byte) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    default:
        return byte == 0x7F || (byte < 0x20 && byte != '\n' && byte != '\t') ? REPLACEMENT : NULL;
    }
}

/* Writes one character and returns its length in bytes. */
static size_t put_character(FILE *to, const char *text)
{
    const char *instead = entity((unsigned char)*text);
    size_t length = utf8_length(text, strnlen(text, 4));
    if (length == 0)
        instead = REPLACEMENT;
    if (instead)
        fputs(instead, to);
    else
        fwrite(text, 1, length, to);
    return length ? length : 1;
}

void lab_html_text(FILE *to, const char *text)
{
    while (*text)
        text += put_character(to, text);
}

void lab_html_link(FILE *to, const char *id, const char *text)
{
    fputs("<a href=\"#", to);
    lab_html_text(to, id);
    fputs("\">", to);
    lab_html_text(to, text);
    fputs("</a>", to);
}

void lab_html_title(FILE *to, const char *text)
{
    if (islower((unsigned char)text[0]) && islower((unsigned char)text[1]))
        fputc(toupper((unsigned char)*text++), to);
    while (*text) {
        bool kept = text[0] == ' ' && text[1] == '%';
        text += kept ? 1 : put_character(to, text);
        if (kept)
            fputs("&nbsp;", to);
    }
}

void lab_html_sentence(FILE *to, const char *text)
{
    size_t length = strlen(text);
    lab_html_title(to, text);
    if (length > 0 && !strchr(".?!", text[length - 1]))
        fputc('.', to);
}

/* ---- numbers ---- */

bool lab_entry_exists(const lab_entry *entry)
{
    return !isnan(entry->measured) || !isnan(entry->theory) || entry->printed;
}

#define ROUNDING 1e-7 /* a narrower interval is rounding: all runs gave the same */
#define SMALL 1e-5    /* smaller numbers are written with a power of ten */
#define LARGE 9.9e8   /* larger ones too; less than 1e9, which numbers just below it are rounded to */
enum { DECIMALS_MOST = 9, DIGITS_MOST = 4, DIGITS_LEAST = 2, USUAL_DIGITS = 4 };

static int exponent_of(double value)
{
    return (int)floor(log10(fabs(value)) + 1e-9);
}

bool lab_entry_has_interval(const lab_entry *entry)
{
    double width = entry->high - entry->low;
    return isfinite(width) && width > ROUNDING * fabs(entry->measured);
}

double lab_step(const lab_entry *entry)
{
    if (lab_entry_has_interval(entry))
        return pow(10, exponent_of((entry->high - entry->low) / 2) - 1);
    double value = fabs(entry->measured);
    return value > 0 && isfinite(value) ? pow(10, exponent_of(value) - USUAL_DIGITS + 1) : 1;
}

double lab_theory_step(const lab_entry *entry)
{
    lab_figure figure = lab_figure_read(entry->printed);
    return figure.given && figure.percent > 0 ? fmin(lab_step(entry), pow(10, exponent_of(2 * figure.half_unit)))
                                              : lab_step(entry);
}

const char *lab_power_of_ten(char text[LAB_NUMBER_ROOM], int exponent)
{
    static const char *const raised[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
    char digits[16];
    int used = snprintf(text, LAB_NUMBER_ROOM, "10%s", exponent < 0 ? "⁻" : "");
    snprintf(digits, sizeof digits, "%u", exponent < 0 ? 0U - (unsigned)exponent : (unsigned)exponent);
    for (const char *digit = digits; *digit && used > 0 && used < LAB_NUMBER_ROOM; digit++)
        used += snprintf(text + used, (size_t)(LAB_NUMBER_ROOM - used), "%s", raised[*digit - '0']);
    return text;
}

static const char *with_power(char text[LAB_NUMBER_ROOM], double value, double step)
{
    char mantissa[LAB_NUMBER_ROOM], power[LAB_NUMBER_ROOM];
    int digits = exponent_of(value) - exponent_of(step);
    digits = digits > DIGITS_MOST ? DIGITS_MOST : digits < DIGITS_LEAST ? DIGITS_LEAST : digits;
    snprintf(mantissa, sizeof mantissa, "%.*e", digits, value);
    char *letter = strchr(mantissa, 'e');
    int exponent = letter ? (int)strtol(letter + 1, NULL, 10) : 0;
    if (letter)
        *letter = 0;
    snprintf(text, LAB_NUMBER_ROOM, "%.16s·%.32s", mantissa, lab_power_of_ten(power, exponent));
    return text;
}

/* Inserts commas between thousands into numbers of five or more digits. */
static void group_thousands(char text[LAB_NUMBER_ROOM])
{
    size_t sign = text[0] == '-', whole = strspn(text + sign, "0123456789");
    for (size_t at = whole; whole > 4 && at > 3; at -= 3) {
        char *place = text + sign + at - 3;
        size_t rest = strlen(place) + 1;
        if ((size_t)(place - text) + rest + 1 > LAB_NUMBER_ROOM)
            return;
        memmove(place + 1, place, rest);
        *place = ',';
    }
}

const char *lab_number(char text[LAB_NUMBER_ROOM], double value, double step)
{
    text[0] = 0;
    if (isnan(value))
        return text;
    int decimals = step > 0 && step < 1 ? -exponent_of(step) : 0;
    if (!isfinite(value)) {
        snprintf(text, LAB_NUMBER_ROOM, "%.4g", value);
        return text;
    }
    if (fabs(value) >= LARGE || (fabs(value) < SMALL && fabs(value) > 0))
        return with_power(text, value, step);
    if (!(value > 0 || value < 0))
        decimals = 0;
    snprintf(text, LAB_NUMBER_ROOM, "%.*f", decimals > DECIMALS_MOST ? DECIMALS_MOST : decimals, value);
    group_thousands(text);
    return text;
}

const char *lab_entry_number(char text[LAB_NUMBER_ROOM], double value, double step)
{
    if (value > 0 || value < 0)
        step = fmin(step, pow(10, exponent_of(value) - 1));
    return lab_number(text, value, step);
}
