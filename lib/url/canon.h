/*
 * Canonical forms as a set uses them: made with the set's memory, copied, written to streams, and applied without
 * copying URLs that are in their form already. canon_rules.h has what is behind it.
 */
#ifndef VIDI_URL_CANON_H
#define VIDI_URL_CANON_H

#include "base/buffer.h"

/* Room for the name of a form, which is always shorter. */
#define VIDI__CANON_NAME 160

/*
 * The same as vidi_canon_create with memory that is somebody else's: it comes from there and counts there. Nobody else
 * may use that memory meanwhile. vidi_canon_close gives it back to the allocator without telling the account, so that
 * it is for those who close both.
 */
int vidi__canon_create(vidi_canon **canon, vidi__memory *memory, const char *profile, const char *tracking);

/* The same form once more, with patterns of its own. */
int vidi__canon_copy(vidi_canon **canon, vidi__memory *memory, const vidi_canon *of);

/*
 * Adds the patterns that were given for it to out, a line each; nothing if it has the compiled-in ones. Made from its
 * name and this text, if the name has a digest of one, a form is the same again. No such text is longer than
 * VIDI__PATTERNS_BYTES: 10,000 patterns of 200 bytes, each with its line feed (glob.c).
 */
void vidi__canon_patterns(const vidi_canon *canon, vidi__buffer *out);
#define VIDI__PATTERNS_BYTES (10000 * 201)

/* What comes out of a form. */
typedef enum vidi__canon_output {
    VIDI__OUTPUT_BYTES,    /* what went in */
    VIDI__OUTPUT_STANDARD, /* URLs as the parser writes them, without the fragment: vidi__url_is_canonical knows most */
    VIDI__OUTPUT_URL,      /* other URLs, which the parser leaves as they are */
    VIDI__OUTPUT_KEY       /* text that need not be a URL */
} vidi__canon_output;
vidi__canon_output vidi__canon_output_of(const vidi_canon *canon);

/* Is the input its own canonical form, as can be seen without making it? False if that takes more than a look. */
bool vidi__canon_keeps(const vidi_canon *canon, vidi_str input);

/*
 * The canonical form of the input: VIDI_OK, VIDI_INVALID or an error. *form is the input itself if it can be told in
 * passing that it is in its form; else it lies in out, which must be empty before.
 */
int vidi__canon_form(const vidi_canon *canon, vidi_str input, vidi__buffer *out, vidi_str *form);

#endif
