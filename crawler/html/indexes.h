/*
 * The Encoding Standard's indexes of Chinese, Japanese and Korean (section 5): which character has which number
 * ("pointer") in a table of rows and columns. They are taken from ICU's converters when they are first needed, in a few
 * milliseconds, pair of bytes by pair of bytes; how bytes are read and what is an error, ICU has no say in.
 *
 * Any thread may ask at any time.
 */
#ifndef VIDI_CRAWLER_HTML_INDEXES_H
#define VIDI_CRAWLER_HTML_INDEXES_H

#include <stddef.h>
#include <stdint.h>

enum html_index_name {
    HTML_INDEX_JIS0208,
    HTML_INDEX_JIS0212,
    HTML_INDEX_BIG5,
    HTML_INDEX_EUC_KR,
    HTML_INDEX_GB18030,
    HTML_INDEX_GB18030_FOUR, /* of four bytes, for characters below 0x10000: the standard's ranges */
    HTML_INDEX_COUNT
};

enum { HTML_INDEX_SIZE_MAX = 39420 };

typedef struct html_index {
    size_t size;
    uint32_t codes[HTML_INDEX_SIZE_MAX]; /* the character of a pointer; 0: none */
    uint16_t pointers[0x10000];          /* the first pointer of a character, plus 1; 0: none */
} html_index;

/* NULL if this build has no ICU, or ICU no such converter. */
const html_index *html_index_get(enum html_index_name name);

#endif
