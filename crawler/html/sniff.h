/*
 * How a page's encoding is found (the HTML Standard, section 13.2.3.2).
 */
#ifndef VIDI_CRAWLER_HTML_SNIFF_H
#define VIDI_CRAWLER_HTML_SNIFF_H

#include "crawler/encoding/encoding.h"

/* Where the encoding was found. */
enum html_encoding_source { HTML_FROM_BOM, HTML_FROM_OPTION, HTML_FROM_HEADER, HTML_FROM_META, HTML_FROM_DEFAULT };

/* Never NULL. option and charset are labels; ptr NULL: none. *bom is the length of the byte order mark. */
const text_encoding *html_encoding_sniff(vidi_str bytes, vidi_str option, vidi_str charset,
                                         enum html_encoding_source *source, size_t *bom);

/* What <meta> in the first 1,024 bytes, or an XML declaration, says; NULL: nothing. */
const text_encoding *html_encoding_prescan(vidi_str bytes);

#endif
