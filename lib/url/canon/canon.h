/*
 * Canonical forms as a set uses them: created in the set's memory, copied, written to streams, and applied without
 * copying URLs that are canonical already. canon_rules.h shows how they work.
 */
#ifndef VIDI_URL_CANON_CANON_H
#define VIDI_URL_CANON_CANON_H

#include "base/buffer.h"

/* Room for the name of a canonical form; all names are shorter. */
#define VIDI__CANON_NAME 160

/*
 * vidi_canon_create with memory of the caller's, which is charged for it. A plain form (a profile as it is) is shared
 * and takes a few dozen bytes. vidi_canon_close returns the bytes to the allocator without crediting the caller's
 * account, so use this only if both are closed together.
 */
int vidi__canon_create(vidi_canon **canon, vidi__memory *memory, const char *profile, const char *tracking);

/* A copy of a canonical form, with patterns of its own. */
int vidi__canon_copy(vidi_canon **canon, vidi__memory *memory, const vidi_canon *original);

/*
 * Adds the user's tracking patterns to out, one per line; nothing if the form has the compiled-in list. A form created
 * from its name and this text is the same form. The text is never longer than VIDI__PATTERNS_BYTES: 10,000 patterns of
 * 200 bytes, each with its line feed (tracking_list.c).
 */
void vidi__canon_patterns(const vidi_canon *canon, vidi__buffer *out);
#define VIDI__PATTERNS_BYTES (10000 * 201)

/* What a canonical form produces. */
typedef enum vidi__canon_output {
    VIDI__OUTPUT_BYTES,    /* none: the input */
    VIDI__OUTPUT_STANDARD, /* whatwg: URLs as the parser writes them; vidi__url_is_canonical recognises most of them */
    VIDI__OUTPUT_URL,      /* crawl and w3lib: URLs that the parser leaves unchanged */
    VIDI__OUTPUT_KEY       /* surt and the keys: text that need not be a URL */
} vidi__canon_output;
vidi__canon_output vidi__canon_output_of(const vidi_canon *canon);

/* A quick test whether the input is its own canonical form. May return false for input that is. */
bool vidi__canon_keeps(const vidi_canon *canon, vidi_str input);

/*
 * Finds the canonical form of the input: VIDI_OK, VIDI_INVALID or an error. *form is the input itself if the quick test
 * recognises it; otherwise it is in out, which must be empty before the call.
 */
int vidi__canon_form(const vidi_canon *canon, vidi_str input, vidi__buffer *out, vidi_str *form);

#endif
