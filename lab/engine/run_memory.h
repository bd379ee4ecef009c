/*
 * Memory and sets of a run, which nobody has to free.
 *
 * Whatever a function takes from here belongs to the innermost block of its thread and is released when that block ends,
 * however it ends, in the reverse order. The engine makes each run a block. So a function that measures may return an
 * error at any time, with LAB_TRY, and needs no path that cleans up. Functions that are called many times in a run, and
 * take much memory, begin with a block of their own.
 */
#ifndef VIDI_LAB_ENGINE_RUN_MEMORY_H
#define VIDI_LAB_ENGINE_RUN_MEMORY_H

#include "lab/engine/lab.h"

/* How many things the thread had when the block began. */
typedef size_t lab_block;

lab_block lab_block_begin(void);
void lab_block_end(const lab_block *block);

/* The first statement of a function or loop: a block that ends where the braces end. */
#define LAB_BLOCK LAB_OWN(lab_block_end) const lab_block lab_block_here = lab_block_begin()

/* Makes an array of `count` zeroed elements; `pointer` is the address of the pointer to it. */
int lab_new(void *pointer, size_t count, size_t size);
#define LAB_NEW(pointer, count) lab_new(&(pointer), count, sizeof *(pointer))

/* Gives a thing to the block, which calls `release` with it. If there is no memory for that, releases it at once. */
int lab_own(void *thing, void (*release)(void *thing));

/* A set with the run's key and canon "none"; `params` is a format for printf. */
int lab_set(vidi_set **set, const lab_settings *settings, uint64_t run, const char *kind, uint64_t capacity,
            const char *params, ...) __attribute__((format(printf, 6, 7)));

/* The same with the caller's options, of which it replaces key and canon. */
int lab_set_with(vidi_set **set, const lab_settings *settings, uint64_t run, vidi_options options);

#endif
