/*
 * The one parser of numbers that people type.
 *
 *     number = digits ["." digits] | "." digits, then ["e" ["-" | "+"] digits]      1000000  2.5  .05  1e6  1e-3
 *     digits = a digit, then digits and single underscores between them            1_000_000
 *
 * A suffix may follow, in upper or lower case. Counts are decimal: K, M, G or B (10^9), T. Sizes are binary or decimal:
 * K and KiB are 1024 bytes, KB is 1000, and so on for M, G and T; B is one byte. Anything else that strtod would accept
 * (nan, inf, hexadecimal numbers, leading spaces) is not a number here.
 */
#ifndef VIDI_CLI_UI_NUMBERS_H
#define VIDI_CLI_UI_NUMBERS_H

#include "cli.h"

#define CLI_COUNT_EXAMPLES "1000000, 1_000_000, 1e6 or 100M"
#define CLI_SIZE_EXAMPLES "65536, 64K, 2.5GiB or 2GB"
#define CLI_REAL_EXAMPLES "0.001, .05 or 1e-3"

typedef enum cli_parsed {
    CLI_PARSED,
    CLI_NOT_A_NUMBER,
    CLI_NOT_WHOLE, /* the value is then rounded down */
    CLI_TOO_LARGE
} cli_parsed;

/* Whole numbers are computed in integers, so none is changed by rounding. A size with a suffix is rounded down. */
cli_parsed cli_parse_count(const char *text, uint64_t *count);
cli_parsed cli_parse_size(const char *text, uint64_t *bytes);

/* Takes the suffixes of counts. */
cli_parsed cli_parse_real(const char *text, double *value);

#endif
