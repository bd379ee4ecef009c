/*
 * Hash functions found by genetic search (the thesis, section 7.2.2).
 *
 * A function is a program of a few steps that change a state of 64 bits. The state starts as a salt. The program runs
 * once for every 8 bytes of the URL (the last word is padded with zeros) and once for its length; the final state is
 * the hash value.
 *
 * Programs are bred: those of a population that lose fewer pages of a crawl have children, which take their first steps
 * from one parent and the last from the other, and mutate a little. Everything follows from one starting number.
 */
#ifndef VIDI_LAB_THESIS_GENETIC_H
#define VIDI_LAB_THESIS_GENETIC_H

#include "lab/engine/lab.h"

enum { LAB_STEPS_MAX = 10, LAB_SALTS_MAX = 8 };

/* w is the current word of the URL, h the state. */
enum lab_operation {
    LAB_XOR_WORD,    /* h ^= w */
    LAB_ADD_WORD,    /* h += w */
    LAB_MULTIPLY,    /* h *= constant, made odd */
    LAB_XOR_NUMBER,  /* h ^= constant */
    LAB_ADD_NUMBER,  /* h += constant */
    LAB_ROTATE,      /* h = h <<< shift */
    LAB_XOR_SHIFTED, /* h ^= h >> shift */
    LAB_ADD_SHIFTED, /* h += h << shift */
    LAB_OPERATIONS
};

typedef struct lab_step {
    enum lab_operation operation;
    unsigned shift; /* 1 to 63 */
    uint64_t constant;
} lab_step;

typedef struct lab_program {
    unsigned count;
    lab_step steps[LAB_STEPS_MAX];
} lab_program;

/* The hash value that a program gives to one URL. */
uint64_t lab_program_value(const lab_program *program, uint64_t salt, vidi_str url);

/*
 * URLs as words of 8 bytes. URLs with the same number of words are stored together, word by word, so that a step runs
 * for many URLs at once. They belong to the innermost block (run_memory.h).
 */
typedef struct lab_words {
    size_t count;
    size_t *index;   /* numbers of the URLs, ordered by their number of words */
    size_t *starts;  /* [words]: where URLs of that many words begin in `index`; one more at the end */
    size_t *columns; /* [words]: where their words begin in `words` */
    size_t most;     /* the largest number of words */
    uint64_t *words, *lengths, *states;
} lab_words;

int lab_words_make(lab_words *words, const vidi_str *urls, size_t count);

/* The hash values of all URLs, in their original order. */
void lab_program_values(const lab_program *program, uint64_t salt, lab_words *words, uint64_t *values);

/* The search: for a function with which a Bloom filter with these salts loses few pages of a crawl. */
typedef struct lab_breeding {
    unsigned population, generations;
    unsigned k;
    uint64_t salts[LAB_SALTS_MAX];
    uint64_t start; /* where everything random starts from */
} lab_breeding;

typedef struct lab_bred {
    lab_program first, last;        /* the best of the first generation, and of all */
    uint64_t first_lost, last_lost; /* pages of the crawl that they lose */
} lab_bred;

/* Breeds functions for a filter of m bits. */
int lab_breed(lab_bred *bred, const lab_breeding *breeding, lab_words *words, uint64_t m);

/*
 * Pages that a filter of m bits loses while it fills with URLs that have k hash values each, values[i * count + url].
 */
int64_t lab_lost(const uint64_t *values, size_t count, unsigned k, uint64_t m);

#endif
