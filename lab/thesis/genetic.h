/*
 * Hash functions found by genetic search (the thesis, section 7.2.2).
 *
 * A function is a program of a few steps on a state of 64 bits. The state begins with a salt; the steps are done for
 * each 8 bytes of the URL, the last ones filled up with zeros, and once more for its length; what is left is the value.
 *
 * Programs are bred: of a population, the ones that lose fewer pages of a crawl have children, which take their
 * first steps from one parent and the others from the other, and change a little. All of it follows from one number.
 */
#ifndef VIDI_LAB_THESIS_GENETIC_H
#define VIDI_LAB_THESIS_GENETIC_H

#include "lab/engine/lab.h"

enum { LAB_STEPS_MAX = 10, LAB_SALTS_MAX = 8 };

/* w is the word at hand, h the state. */
enum lab_operation {
    LAB_XOR_WORD,    /* h ^= w */
    LAB_ADD_WORD,    /* h += w */
    LAB_MULTIPLY,    /* h *= constant, which is odd */
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

/* The value of one URL: what a program means. */
uint64_t lab_program_value(const lab_program *program, uint64_t salt, vidi_str url);

/*
 * URLs as words, those of one length together and word by word, so that each step is done for many URLs at once.
 * lab_words_free in every case.
 */
typedef struct lab_words {
    size_t count;
    size_t *index;   /* the URLs in the order of their lengths */
    size_t *starts;  /* [words]: where those of so many words begin in `index`; one more at the end */
    size_t *columns; /* [words]: where their words begin in `words` */
    size_t most;     /* words of the longest */
    uint64_t *words, *lengths, *states;
} lab_words;

int lab_words_make(lab_words *words, const vidi_str *urls, size_t count);
void lab_words_free(lab_words *words);

/* The values of all of them, in the order in which they were given. */
void lab_program_values(const lab_program *program, uint64_t salt, lab_words *words, uint64_t *values);

/* What is sought for: a function for a Bloom filter with these salts that loses few pages of this crawl. */
typedef struct lab_breeding {
    unsigned population, generations;
    unsigned k;
    uint64_t salts[LAB_SALTS_MAX];
    uint64_t start; /* everything random */
} lab_breeding;

typedef struct lab_bred {
    lab_program first, last;        /* the best of the first generation, and of all */
    uint64_t first_lost, last_lost; /* pages of the crawl */
} lab_bred;

/* m: bits of the filter. */
int lab_breed(lab_bred *bred, const lab_breeding *breeding, lab_words *words, uint64_t m);

/* Pages of a crawl that k values each, values[i * count + url], lose in a filter of m bits that fills up. */
int64_t lab_lost(const uint64_t *values, size_t count, unsigned k, uint64_t m);

#endif
