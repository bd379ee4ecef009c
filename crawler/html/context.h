/*
 * Where a tag stands, as far as that decides what it means: inside `template`, whose contents are no part of the page;
 * inside SVG or MathML, where names have other meanings and no element's text is raw; and inside the elements of those
 * two that contain HTML again.
 *
 * Only the elements that matter are kept on a stack. The standard's whole stack of open elements is needed for one
 * question only, which this answers by a rule of thumb: the end tag of an HTML element that cannot stand in SVG closes
 * the SVG that was left open in it.
 */
#ifndef VIDI_CRAWLER_HTML_CONTEXT_H
#define VIDI_CRAWLER_HTML_CONTEXT_H

#include <stdbool.h>

#include "crawler/html/names.h"
#include "crawler/html/tokenizer.h"

/* An open element. */
typedef struct html_open {
    uint8_t element;   /* enum html_element */
    uint8_t space;     /* enum html_space: what its contents are */
    uint32_t previous; /* the place in the stack, plus 1, of the next one out of the same element; 0: none */
} html_open;

enum html_space { HTML_SPACE_HTML, HTML_SPACE_SVG, HTML_SPACE_MATH };

typedef struct html_context {
    html_open *stack;
    size_t depth, room;
    uint32_t last[HTML_ELEMENT_COUNT]; /* place plus 1 of the innermost open one; 0: none */
} html_context;

void html_context_close(html_context *context);

/* What is read now. */
enum html_space html_context_space(const html_context *context);

/* Is this inside a template? */
bool html_context_inert(const html_context *context);

/*
 * Follows a start or end tag, tells the tokenizer what comes next, and says in *element what it is and, of a start tag,
 * in *space what sort of element it makes. VIDI_OK or VIDI_EMEMORY.
 */
int html_context_follow(html_context *context, html_tokenizer *tokenizer, const html_token *tag,
                        enum html_element *element, enum html_space *space);

#endif
