/*
 * A page that has been read: what page.c notes down and links.c turns into links. The base may come after the links
 * that it applies to, so links are resolved only when all tags have been seen.
 */
#ifndef VIDI_CRAWLER_HTML_PAGE_H
#define VIDI_CRAWLER_HTML_PAGE_H

#include "crawler/html/html.h"
#include "crawler/html/tag_names.h"
#include "crawler/html/sniff.h"
#include "crawler/html/tokenizer.h"

/* How an attribute contains URLs. */
enum html_shape { HTML_URL, HTML_URL_UNLESS_EMPTY, HTML_SRCSET, HTML_REFRESH, HTML_CSS, HTML_SRCDOC };

/* An attribute that is a link or contains some, or the text of a `style` element. */
typedef struct html_record {
    html_piece value, rel;
    uint32_t end;               /* after the tag */
    uint8_t element, attribute; /* enum html_element, enum html_attribute_name */
    uint8_t group, shape;       /* enum html_group, enum html_shape */
    uint8_t content;            /* enum html_content: how to decode the value */
    uint16_t flags;             /* enum html_rel */
} html_record;

/* Memory that grows to what the longest value needs. */
typedef struct html_room {
    char *at;
    size_t size;
} html_room;

struct html_page {
    encoding_text text; /* the page as UTF-8 */
    enum html_encoding_source source;
    const text_encoding *encoding;
    html_record *records;
    size_t count, room;
    html_piece title, base_value;
    bool has_title, has_base;
    uint32_t robots;
    bool is_srcdoc;                       /* of another page: a srcdoc in it is not read */
    vidi_str base;                        /* points to base_room; ptr NULL: unknown */
    html_room base_room, value, rel, url; /* of the link that is being reported */
    html_room visible;                    /* the text that a reader sees */
    html_room query;                      /* its value with the query in the page's encoding */
};

/* Makes room for n bytes; what was there is lost. VIDI_OK or VIDI_EMEMORY. */
int html_room_take(html_room *room, size_t size);

/* A piece of the page, decoded, either in place or in the room. VIDI_OK or VIDI_EMEMORY. */
int html_page_decode(const html_page *page, enum html_content content, html_piece piece, html_room *room,
                     vidi_str *text);

/* Makes a reference absolute. VIDI_OK, VIDI_INVALID or an error. */
int html_page_resolve(html_page *page, vidi_str base, vidi_str reference, html_room *room, vidi_str *url);

/* ---- values that contain URLs (values.c) ---- */

/* The next URL of a srcset, from *at on. False if there is none. */
bool html_srcset_next(vidi_str value, size_t *at, vidi_str *url);

/* The next word of a list, words being separated by spaces or bytes of `separators`. False if there is none. */
bool html_next_word(vidi_str list, const char *separators, size_t *at, vidi_str *word);

#endif
