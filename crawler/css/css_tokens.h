/*
 * The tokenizer of CSS Syntax Level 3 (https://www.w3.org/TR/css-syntax-3/, section 4.3), over one buffer of UTF-8, as
 * far as it matters for URLs: names, numbers and other characters are not told apart.
 *
 * A token is a place in the buffer; nothing is copied. Line ends and zero bytes are not replaced beforehand, as the
 * standard does, but when a value is decoded.
 */
#ifndef VIDI_CRAWLER_CSS_CSS_TOKENS_H
#define VIDI_CRAWLER_CSS_CSS_TOKENS_H

#include <stdbool.h>
#include <stddef.h>

#include "common/bytes.h"
#include "vidi/vidi.h"

typedef enum css_type {
    CSS_END,
    CSS_SPACE,
    CSS_STRING,   /* its value is between the quotation marks */
    CSS_URL,      /* url(value) without quotation marks */
    CSS_FUNCTION, /* "name(": the value is the name */
    CSS_AT,       /* "@name": the value is the name */
    CSS_OPEN,     /* ( [ { */
    CSS_CLOSE,    /* ) ] } */
    CSS_SEMICOLON,
    CSS_OTHER /* anything else, and strings and URLs that the standard calls bad */
} css_type;

typedef struct css_token {
    css_type type;
    char first;     /* the character that it begins with */
    size_t at, len; /* of the value */
} css_token;

typedef struct css_tokenizer {
    const char *text;
    size_t len, at;
} css_tokenizer;

/* Reads the next token; comments are left out. */
void css_next(css_tokenizer *t, css_token *token);

/* True if a name is this one, in lower case, whatever its case and escapes. */
bool css_is_name(vidi_str name, const char *lower);

/* True if decoding changes the value. */
bool css_has_escapes(vidi_str value);

/* Appends a value to `to`, with escapes replaced. 0 or BYTES_NO_MEMORY. */
int css_append_decoded(bytes *to, vidi_str value);

#endif
