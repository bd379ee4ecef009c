/*
 * Texts that are kept once and numbered 0, 1, 2 … in the order in which they come. A hash table that compares all bytes
 * finds them, so no two different texts are ever taken for one.
 */
#ifndef VIDI_LAB_URLS_TEXT_POOL_H
#define VIDI_LAB_URLS_TEXT_POOL_H

#include "lab/engine/lab.h"

/* Begin with {.count = 0}, and call lab_pool_free in every case. */
typedef struct lab_pool {
    char *bytes; /* the texts, one after the other */
    size_t used, room;
    size_t *starts; /* [count + 1]: where each text begins; NULL while there are none */
    uint64_t count, starts_room;
    uint32_t *table; /* numbers of texts plus 1; 0: an empty slot */
    uint64_t slots;  /* a power of two, at least twice the number of texts */
} lab_pool;

#define LAB_POOL_MOST (UINT32_MAX - 1) /* texts */

/* The number of a text, which is `count` if the text is new, or an error. */
int64_t lab_pool_number(lab_pool *pool, vidi_str text);

static inline vidi_str lab_pool_text(const lab_pool *pool, uint64_t number)
{
    return (vidi_str){pool->bytes + pool->starts[number], pool->starts[number + 1] - pool->starts[number]};
}

/* Frees the hash table: no further text can be numbered. */
void lab_pool_close(lab_pool *pool);
void lab_pool_free(lab_pool *pool);

#endif
