/*
 * The Encoding Standard's indexes of Chinese, Japanese and Korean (section 5). An index maps numbers, which the
 * standard calls pointers, to characters. The first use of an index fills it from one of ICU's converters, pair of
 * bytes by pair of bytes, which takes a few milliseconds.
 *
 * Any thread may call this at any time.
 */
#ifndef VIDI_CRAWLER_ENCODING_INDEXES_H
#define VIDI_CRAWLER_ENCODING_INDEXES_H

#include <stddef.h>
#include <stdint.h>

enum encoding_index_name {
    ENCODING_INDEX_JIS0208,
    ENCODING_INDEX_JIS0212,
    ENCODING_INDEX_BIG5,
    ENCODING_INDEX_EUC_KR,
    ENCODING_INDEX_GB18030,
    ENCODING_INDEX_GB18030_FOUR, /* of four bytes, for characters below 0x10000: the standard's ranges */
    ENCODING_INDEX_COUNT
};

enum { ENCODING_INDEX_SIZE_MAX = 39420 };

typedef struct encoding_index {
    size_t size;
    uint32_t codes[ENCODING_INDEX_SIZE_MAX]; /* the character of a pointer; 0: none */
    uint16_t pointers[0x10000];              /* the first pointer of a character, plus 1; 0: none */
} encoding_index;

/* Writes the bytes, at most 4, that a pointer stands for, and returns their number. JIS 0208: as in Shift_JIS. */
size_t encoding_index_bytes(enum encoding_index_name name, uint32_t pointer, uint8_t *bytes);

/* NULL if this build has no ICU, or ICU no such converter. */
const encoding_index *encoding_index_get(enum encoding_index_name name);

#endif
