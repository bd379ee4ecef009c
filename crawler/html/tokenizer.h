/*
 * The tokenizer of the HTML Standard (https://html.spec.whatwg.org/, section 13.2.5), over one buffer of UTF-8.
 *
 * A token is a set of places in the buffer: nothing is copied while reading. That works because no state of the
 * standard's tokenizer depends on what a character reference stands for, and every name, value, comment or text is one
 * piece of the input. html_text_decode turns such a piece into what the standard says it is: references replaced, line
 * ends normalised, names in lower case.
 *
 * The standard drops an attribute if the tag already has one of that name. Here it stays in the list, and callers use
 * the first of a name. So a tag with a million attributes needs no search at all.
 *
 * Time is linear in the length of the input for every input. The tokenizer allocates nothing but the list of attributes
 * of one tag, 16 bytes each.
 */
#ifndef VIDI_CRAWLER_HTML_TOKENIZER_H
#define VIDI_CRAWLER_HTML_TOKENIZER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "crawler/encoding/encoding.h"
#include "vidi/vidi.h"

/* The largest input: places in it, and a few bytes after it, have 32 bits. */
#define HTML_INPUT_MAX (UINT32_MAX - 16)

/* What the text at the current place is: a tag can begin in all but HTML_PLAINTEXT. */
enum html_content {
    HTML_DATA,
    HTML_RCDATA,     /* in title and textarea: references, and no tag but the end tag */
    HTML_RAWTEXT,    /* in style and the like: no references */
    HTML_SCRIPT,     /* the same, but "<!--" and a "<script" in it hide the end tag */
    HTML_PLAINTEXT,  /* all the rest of the input is text */
    HTML_CDATA,      /* after "<![CDATA[" in SVG and MathML, up to "]]>" */
    HTML_ATTRIBUTE,  /* html_text_decode only: the value of an attribute */
    HTML_COMMENTARY, /* html_text_decode only: a comment, or what a doctype quotes */
    HTML_NAME        /* html_text_decode only: the name of a tag, attribute or doctype */
};

enum html_token_type {
    HTML_END,
    HTML_TEXT,
    HTML_START_TAG,
    HTML_END_TAG,
    HTML_COMMENT,
    HTML_DOCTYPE,
    HTML_NOTHING /* inside the tokenizer only */
};

/* A piece of the input. */
typedef struct html_piece {
    uint32_t at, len;
} html_piece;

typedef struct html_attribute {
    html_piece name, value;
} html_attribute;

typedef struct html_token {
    enum html_token_type type;
    enum html_content content;        /* HTML_TEXT: how to decode it */
    uint32_t at;                      /* where the token begins: '<' of a tag */
    html_piece text;                  /* the text, the comment, or the name of a tag or doctype */
    const html_attribute *attributes; /* HTML_START_TAG and HTML_END_TAG; good until the next token */
    size_t attribute_count;
    bool self_closing;
    bool has_name, has_public, has_system, quirks; /* HTML_DOCTYPE */
    html_piece public_id, system_id;
} html_token;

typedef struct html_tokenizer {
    const char *input;
    uint32_t len, at;
    enum html_content content;
    vidi_str end_name;          /* in HTML_RCDATA, HTML_RAWTEXT and HTML_SCRIPT: the tag that ends it, in lower case */
    bool foreign;               /* the caller is in SVG or MathML: "<![CDATA[" begins a section, not a comment */
    html_attribute *attributes; /* of the last tag */
    size_t attribute_count, attribute_room;
} html_tokenizer;

/* The input stays the caller's. VIDI_OK, or VIDI_ELIMIT if it is longer than HTML_INPUT_MAX. */
int html_tokenizer_open(html_tokenizer *tokenizer, vidi_str input);
void html_tokenizer_close(html_tokenizer *tokenizer);

/*
 * Sets what the following text is, up to the end tag with this name (in lower case; not copied). Callers do this after
 * a start tag: they know where it stands, and so whether it has its usual meaning.
 */
void html_tokenizer_expect(html_tokenizer *tokenizer, enum html_content content, vidi_str end_name);

/* Reads the next token. VIDI_OK or VIDI_EMEMORY. At the end of the input, every call gives HTML_END. */
int html_tokenizer_next(html_tokenizer *tokenizer, html_token *token);

/* For tokenizer.c only: reads the rest of a doctype after "<!DOCTYPE". */
void html_doctype_read(html_tokenizer *tokenizer, html_token *token);

/* ---- the meaning of a piece ---- */

/* Decoding makes a text at most this many times longer: a NUL becomes U+FFFD. */
enum { HTML_DECODED_GROWTH = 3 };

/* True if the decoded text is the same as the raw text. */
bool html_text_is_plain(enum html_content content, vidi_str raw);

/* Writes the decoded text to `to`, which has room for HTML_DECODED_GROWTH times raw.len bytes. Returns its length. */
size_t html_text_decode(enum html_content content, vidi_str raw, char *to);

static inline vidi_str html_piece_raw(const html_tokenizer *tokenizer, html_piece piece)
{
    return (vidi_str){tokenizer->input + piece.at, piece.len};
}

#endif
