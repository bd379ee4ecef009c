/*
 * Words of a command: comparing them, and reading numbers as users write them.
 *
 * The functions that read numbers return false if the text is something else or out of range.
 */
#ifndef REDIS_WORDS_H
#define REDIS_WORDS_H

#include <vidi/vidi.h>

#include "server.h"

/* The bytes of a string of the server, which live as long as the string. */
vidi_str text_of(const server_string *text);

/* Whether a text is this word, in upper or lower case. */
bool word_is(vidi_str text, const char *word);

/*
 * Records that option number `which`, below 32, was given. False if it was given before. No option may be given twice:
 * the server, a proxy and a client find keys by options, and must not find another one than the module does.
 */
bool give_once(uint32_t *given, unsigned which);

/* The index of the word in `names`, which NULL ends, in whatever case; or one of these. */
enum { OPTION_UNKNOWN = -1, OPTION_TWICE = -2 };
int option_of(vidi_str word, const char *const *names, uint32_t *given);
#define GIVEN_TWICE "an option is given twice"

bool parse_count(vidi_str text, uint64_t *number);   /* decimal digits */
bool parse_u32(vidi_str text, uint32_t *number);     /* the same, below 2^32 */
bool parse_signed(vidi_str text, long long *number); /* decimal digits, with or without a minus in front */
bool parse_bytes(vidi_str text, uint64_t *number);   /* "100", "100k", "100kb", … as in the server's configuration */
bool parse_double(vidi_str text, double *number);    /* finite */

#endif
