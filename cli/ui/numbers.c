/*
 * Numbers that people type: see numbers.h.
 */
#include "ui/numbers.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/ascii.h"

enum {
    MOST_CHARACTERS = 100,  /* of a mantissa; a longer one is not a number */
    MOST_EXPONENT = 1000000 /* larger exponents are cut off here: every such value is too large, or not whole */
};

/* The number 0.DIGITS times 10^point, where DIGITS are those in the first `length` characters of text. */
typedef struct decimal {
    const char *text;
    size_t length;
    int64_t point;
} decimal;

/* Length of the run of digits at text, with single underscores between them. */
static size_t digits_length(const char *text)
{
    size_t at = 0;

    while (ascii_is_digit(text[at]) ||
           (at > 0 && text[at] == '_' && ascii_is_digit(text[at - 1]) && ascii_is_digit(text[at + 1])))
        at++;
    return at;
}

static int64_t count_digits(const char *text, size_t length)
{
    int64_t count = 0;

    for (size_t i = 0; i < length; i++)
        count += ascii_is_digit(text[i]);
    return count;
}

/* Length of the exponent at text, 0 if there is none. */
static size_t scan_exponent(const char *text, int64_t *exponent)
{
    *exponent = 0;
    if (*text != 'e' && *text != 'E')
        return 0;
    size_t sign = text[1] == '-' || text[1] == '+';
    size_t digits = strspn(text + 1 + sign, "0123456789");
    if (digits == 0)
        return 0;
    int64_t value = strtoll(text + 1 + sign, NULL, 10);
    value = value < MOST_EXPONENT ? value : MOST_EXPONENT;
    *exponent = text[1] == '-' ? -value : value;
    return 1 + sign + digits;
}

/* Reads the number that text begins with. Returns how many characters it has, 0 if there is none. */
static size_t scan(const char *text, decimal *number)
{
    size_t whole = digits_length(text), length = whole;
    int64_t exponent;

    if (text[whole] == '.') {
        size_t fraction = digits_length(text + whole + 1);
        if (fraction == 0)
            return 0;
        length += 1 + fraction;
    }
    if (length == 0 || length > MOST_CHARACTERS)
        return 0;
    size_t end = length + scan_exponent(text + length, &exponent);
    *number = (decimal){text, length, count_digits(text, whole) + exponent};
    return end;
}

/* ---- suffixes ---- */

/* What a suffix multiplies by: 10^tens times 2^twos. */
typedef struct suffix {
    const char *text;
    int tens, twos;
} suffix;

static const suffix count_suffixes[] = {{"", 0, 0},  {"K", 3, 0},  {"M", 6, 0}, {"G", 9, 0},
                                        {"B", 9, 0}, {"T", 12, 0}, {NULL, 0, 0}};

static const suffix size_suffixes[] = {{"", 0, 0},   {"B", 0, 0},    {"K", 0, 10},   {"KiB", 0, 10}, {"KB", 3, 0},
                                       {"M", 0, 20}, {"MiB", 0, 20}, {"MB", 6, 0},   {"G", 0, 30},   {"GiB", 0, 30},
                                       {"GB", 9, 0}, {"T", 0, 40},   {"TiB", 0, 40}, {"TB", 12, 0},  {NULL, 0, 0}};

/* Reads all of text as a number and one of the suffixes. Returns the suffix's entry, NULL if text is something else. */
static const suffix *scan_all(const char *text, const suffix *suffixes, decimal *number)
{
    size_t length = scan(text, number);

    if (length == 0)
        return NULL;
    while (suffixes->text && strcasecmp(suffixes->text, text + length) != 0)
        suffixes++;
    number->point += suffixes->tens;
    return suffixes->text ? suffixes : NULL;
}

/* ---- values ---- */

static bool append_digit(uint64_t *value, unsigned digit)
{
    return !__builtin_mul_overflow(*value, 10, value) && !__builtin_add_overflow(*value, digit, value);
}

/* The number without its fraction. CLI_NOT_WHOLE if it has one. */
static cli_parsed whole_value(const decimal *number, uint64_t *value)
{
    int64_t left = number->point; /* digits before the decimal point that are still to come */
    cli_parsed result = CLI_PARSED;

    *value = 0;
    for (size_t i = 0; i < number->length; i++) {
        if (!ascii_is_digit(number->text[i]))
            continue;
        unsigned digit = (unsigned)(number->text[i] - '0');
        if (left <= 0 && digit > 0)
            result = CLI_NOT_WHOLE;
        if (left > 0 && !append_digit(value, digit))
            return CLI_TOO_LARGE;
        left--;
    }
    for (; left > 0 && *value > 0; left--)
        if (!append_digit(value, 0))
            return CLI_TOO_LARGE;
    return result;
}

/* The nearest double; infinite if the number is too large for one. */
static double real_value(const decimal *number)
{
    char text[MOST_CHARACTERS + 32] = "0.";
    size_t used = 2;

    for (size_t i = 0; i < number->length; i++)
        if (ascii_is_digit(number->text[i]))
            text[used++] = number->text[i];
    snprintf(text + used, sizeof text - used, "e%lld", (long long)number->point);
    return strtod(text, NULL);
}

cli_parsed cli_parse_count(const char *text, uint64_t *count)
{
    decimal number;

    return scan_all(text, count_suffixes, &number) ? whole_value(&number, count) : CLI_NOT_A_NUMBER;
}

cli_parsed cli_parse_size(const char *text, uint64_t *bytes)
{
    decimal number;
    const suffix *unit = scan_all(text, size_suffixes, &number);

    if (!unit)
        return CLI_NOT_A_NUMBER;
    cli_parsed result = whole_value(&number, bytes);
    if (result == CLI_NOT_WHOLE && unit->twos > 0) {
        double exact = ldexp(real_value(&number), unit->twos);
        if (exact >= 0x1p64)
            return CLI_TOO_LARGE;
        *bytes = (uint64_t)exact;
        return CLI_PARSED;
    }
    if (result == CLI_PARSED && *bytes > UINT64_MAX >> unit->twos)
        return CLI_TOO_LARGE;
    if (result == CLI_PARSED)
        *bytes <<= unit->twos;
    return result == CLI_NOT_WHOLE && unit->tens > 0 ? CLI_PARSED : result;
}

cli_parsed cli_parse_real(const char *text, double *value)
{
    decimal number;

    if (!scan_all(text, count_suffixes, &number))
        return CLI_NOT_A_NUMBER;
    *value = real_value(&number);
    return isfinite(*value) ? CLI_PARSED : CLI_TOO_LARGE;
}
