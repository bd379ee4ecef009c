/*
 * Reads a style sheet for a crawler: its encoding, and the URLs that it makes a browser fetch.
 *
 * The sheet is read token by token (css_tokens.h), by CSS Syntax Level 3; no tree is built and nothing is known of
 * properties. URLs come in the order of the source:
 *
 *     @import "a.css";  @import url(a.css) print;
 *     url(b.png)  url("b.png")
 *     image-set("c.png" 1x, "d.png" 2x)
 *
 * Left out are what only names something (@namespace, the conditions of @supports and the like), URLs of data, empty
 * ones, and "#name", which is a place in the page itself. An @import counts wherever it stands; browsers ignore it
 * after other rules.
 *
 * Time is linear in the length of the text for every text; memory is what the longest URL with escapes takes.
 */
#ifndef VIDI_CRAWLER_CSS_CSS_H
#define VIDI_CRAWLER_CSS_CSS_H

#include <stdbool.h>
#include <stddef.h>

#include "crawler/encoding/encoding.h"
#include "vidi/vidi.h"

typedef struct css_link {
    size_t position; /* of the value in the text */
    vidi_str value;  /* with escapes replaced; valid during the call */
    bool is_import;  /* another style sheet */
} css_link;

/* A result other than 0 ends the walk and is returned: use positive numbers. */
typedef int (*css_link_visitor)(void *context, const css_link *link);

/* Calls the visitor for each URL of a style sheet, or of the value of a `style` attribute, in UTF-8. VIDI_OK, VIDI_EMEMORY, or
 * what the visitor returned. */
int css_links(vidi_str text, css_link_visitor visitor, void *context);

/*
 * Decodes a style sheet to UTF-8: by its byte order mark, the charset of the header Content-Type (ptr NULL: none), an
 * @charset at its very beginning, or as UTF-8. VIDI_OK, VIDI_EMEMORY, or VIDI_ELIMIT for 1 GiB and more.
 */
int css_decode(vidi_str sheet, vidi_str charset, encoding_text *text);

#endif
