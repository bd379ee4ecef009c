/*
 * Keeps track of where a tag stands, as far as that changes its meaning: inside `template`, whose contents are not part
 * of the page; inside SVG or MathML, where names have other meanings and no element contains raw text; and inside those
 * elements of SVG and MathML that contain HTML again.
 *
 * The stack has only the elements that matter. One question would need the standard's whole stack of open elements:
 * whether an end tag of HTML closes SVG that was left open. Here it does if SVG and MathML have no such element.
 */
#ifndef VIDI_CRAWLER_HTML_CONTEXT_H
#define VIDI_CRAWLER_HTML_CONTEXT_H

#include <stdbool.h>

#include "crawler/html/tag_names.h"
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

/* What the contents of the innermost open element are. */
enum html_space html_context_space(const html_context *context);

/* True inside a template. */
bool html_context_inert(const html_context *context);

/*
 * Takes a start or end tag into account, and tells the tokenizer what to expect next. *element is the tag's name;
 * *space says whether a start tag makes an element of HTML, SVG or MathML. VIDI_OK or VIDI_EMEMORY.
 */
int html_context_follow(html_context *context, html_tokenizer *tokenizer, const html_token *tag,
                        enum html_element *element, enum html_space *space);

#endif
