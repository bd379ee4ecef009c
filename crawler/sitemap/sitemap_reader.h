/*
 * What the files of this folder share: the reader, and the stages that bytes pass through. Each stage takes a few bytes
 * and hands its result to the next:
 *
 *     sitemap_feed     bytes of the file      (sitemap_unpack.c)
 *     sitemap_decode   unpacked bytes         (sitemap_decode.c)
 *     sitemap_parse    text in UTF-8          (sitemap_parse.c)
 *     sitemap_emit     an entry               (sitemap_entry.c)
 */
#ifndef VIDI_CRAWLER_SITEMAP_SITEMAP_READER_H
#define VIDI_CRAWLER_SITEMAP_SITEMAP_READER_H

#include "crawler/sitemap/sitemap_xml.h"

/* Text that is being collected. Blanks at the beginning and the end are left out. */
typedef struct sitemap_field {
    char *bytes;
    size_t room, len;
    size_t blanks; /* met since the last other byte */
    bool is_url, too_long;
} sitemap_field;

enum { SITEMAP_DATE_BYTES = 64 };

typedef enum sitemap_container {
    SITEMAP_OUTSIDE,
    SITEMAP_PAGE,      /* <url> in <urlset> */
    SITEMAP_SITEMAP,   /* <sitemap> in <sitemapindex> */
    SITEMAP_ITEM,      /* <item> in RSS */
    SITEMAP_FEED_ENTRY /* <entry> in Atom */
} sitemap_container;

/* Where in the tree of elements the tokenizer is; only depths are kept. */
typedef struct sitemap_elements {
    char prefix[XML_NAME_MOST]; /* of the root; elements with another one are not ours */
    size_t prefix_len;
    bool has_root, root_ended;
    uint64_t depth; /* of the current element; the root's is 1 */
    sitemap_container container;
    uint64_t container_depth;
    sitemap_field *field; /* what text belongs to; NULL: nothing */
    bool own_text;        /* the field is the URL, and its text stands in the container itself, without <loc> */
    bool in_link;         /* in Atom's <link>, which has its URL in an attribute */
    bool link_is_other;   /* its rel says that it does not lead to the page */
    bool link_taken;      /* its URL has become the entry's */
} sitemap_elements;

typedef enum sitemap_mode { SITEMAP_UNDECIDED, SITEMAP_LINES, SITEMAP_XML } sitemap_mode;
typedef enum sitemap_encoding { SITEMAP_UTF8, SITEMAP_UTF16LE, SITEMAP_UTF16BE } sitemap_encoding;

struct sitemap {
    sitemap_options options;
    sitemap_report report;
    int result; /* SITEMAP_GO_ON, or what ended the reading */

    /* unpacking */
    bool looked; /* at the first bytes of the file */
    char first;  /* the first byte, if it alone has come so far */
    bool has_first;
    struct inflater *inflater; /* NULL: it is not packed */
    bool within;               /* a gzip member has begun and not ended */
    bool ended;                /* the last member has ended: what follows is ignored */

    /* decoding */
    char head[4]; /* the first bytes of the text, until they are enough to tell the encoding */
    size_t head_len;
    bool decided;
    sitemap_encoding encoding;
    bool latin1; /* the XML declaration says so */
    char half;   /* of a unit of UTF-16 */
    bool has_half;
    uint32_t surrogate; /* the first of a pair; 0: none */

    /* parsing */
    sitemap_mode mode;
    uint64_t line;     /* unless mode is SITEMAP_XML */
    bool garbage;      /* something that is not a sitemap came first */
    bool line_is_text; /* while undecided: the current line does not begin with a URL */
    char scheme[8];    /* while undecided: the beginning of the line */
    size_t scheme_len;
    xml tokens;
    sitemap_elements at;

    /* the entry */
    sitemap_field url, lastmod, changefreq, priority;
    char url_bytes[SITEMAP_URL_BYTES];
    char dates[3][SITEMAP_DATE_BYTES];
    char *scratch; /* for URLs that are changed */
    size_t scratch_room;
};

void sitemap_note(sitemap *reader, sitemap_problem problem);

void sitemap_unpack_end(sitemap *reader);

void sitemap_decode(sitemap *reader, const char *bytes, size_t n);
void sitemap_decode_end(sitemap *reader);

void sitemap_parse(sitemap *reader, const char *bytes, size_t n);
void sitemap_parse_end(sitemap *reader);

void sitemap_entry_init(sitemap *reader);
void sitemap_field_add(sitemap_field *field, const char *bytes, size_t n);
bool sitemap_field_begun(const sitemap_field *field);
void sitemap_field_clear(sitemap_field *field);
/* Forgets the entry's fields. */
void sitemap_entry_clear(sitemap *reader);
/* Passes the entry on if it has a URL, and clears it. The problem is noted if it has none. */
void sitemap_emit(sitemap *reader, bool is_sitemap);

#endif
