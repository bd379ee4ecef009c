/*
 * The encodings of Chinese, Japanese and Korean, for decode.c and query.c.
 */
#ifndef VIDI_CRAWLER_ENCODING_CJK_H
#define VIDI_CRAWLER_ENCODING_CJK_H

#include "crawler/encoding/encoding.h"

/* Decodes to `to`, which has room for three times bytes.len. False if there are no tables. */
bool encoding_cjk_decode(const text_encoding *encoding, vidi_str bytes, char *to, size_t *len);

/*
 * Writes one character that is not ASCII. Returns the number of bytes, at most 8, or 0 if the encoding has no such
 * character. *state must be 0 at first. Only ISO-2022-JP changes it; code point 0 writes what brings it back to 0.
 */
size_t encoding_cjk_encode(const text_encoding *encoding, uint32_t code, unsigned *state, uint8_t *bytes);

#endif
