/*
 * The judge of the crash tests. It knows nothing of the library or of the program: only texts, and what was promised.
 *
 *   input    all lines that the program was ever given, each life from the beginning
 *   handed   what users hold: a text per consumer or output file, of which whole lines count
 *   fresh    what a run of the program, which remembers nothing, calls new now
 *
 * A line of the input that is neither fresh nor handed over is lost: the state has seen it, and nobody has it.
 */
#ifndef TESTS_CLI_LIVES_CHECKER_H
#define TESTS_CLI_LIVES_CHECKER_H

#include <stddef.h>
#include <stdint.h>

typedef struct checker_text {
    const char *at;
    size_t length;
} checker_text;

typedef struct checker_report {
    uint64_t lines;      /* distinct ones in the input */
    uint64_t handed;     /* of these: somebody holds it */
    uint64_t fresh;      /* of these: would be handed out by the next run */
    uint64_t lost;       /* of these: neither */
    uint64_t again;      /* of these: both, so it will be handed out twice */
    uint64_t twice;      /* handed over more than once: copies beyond the first */
    uint64_t strange;    /* whole lines that are handed over, or fresh, and not in the input: torn, glued, damaged */
    uint64_t unfinished; /* texts that do not end with a line */
    char example[160];   /* the first lost or strange line, as far as there is room */
} checker_report;

/* 0, or -1 without memory. */
int checker_judge(checker_text input, const checker_text *handed, size_t texts, checker_text fresh,
                  checker_report *report);

#endif
