/*
 * Inflating step by step, with counts of 64 bits: gzip, zlib's own format and the raw stream. A gzip file may have
 * several members; what follows one is for the caller to judge.
 *
 * This and nothing else here needs zlib, so it is a target of its own.
 */
#ifndef VIDI_COMMON_INFLATE_H
#define VIDI_COMMON_INFLATE_H

#include <stdbool.h>
#include <stddef.h>

typedef struct inflater inflater;

typedef enum inflate_format { INFLATE_GZIP, INFLATE_ZLIB, INFLATE_RAW } inflate_format;

typedef enum inflate_result {
    INFLATE_GOES_ON,
    INFLATE_WAITS, /* nothing could be done without more input, or more room */
    INFLATE_ENDS,  /* the end of a member; `from` stands after it */
    INFLATE_DAMAGED,
    INFLATE_NO_MEMORY
} inflate_result;

/* What a step reads from and writes to. The step moves both on. */
typedef struct inflate_window {
    const char *from;
    size_t from_left;
    char *to;
    size_t to_left;
    const char *why; /* zlib's words for damage; NULL: it has none */
} inflate_window;

/* False in a build without zlib, in which inflater_open returns NULL. */
bool inflate_is_built(void);

/* Begins a member. NULL: no memory. */
inflater *inflater_open(inflate_format format);
/* Begins another member. */
void inflater_reset(inflater *self);
void inflater_close(inflater *self); /* NULL is allowed */

inflate_result inflater_step(inflater *self, inflate_window *window);

#endif
