/*
 * A tolerant tokenizer for XML: bytes go in, tags and text come out. It builds no tree and checks no nesting, knows no
 * DTD, and expands only the five predefined entities and character references. What is not well-formed is passed on in
 * the way that makes most sense:
 *
 *     an '&' that begins no reference       text, as it is
 *     an entity that XML does not define    text, as it is
 *     a '<' that begins no tag              text
 *     a '<' inside a tag                    ends the tag; a new one begins
 *
 * The state between two bytes is this struct and nothing else, so bytes may come in pieces of any size.
 */
#ifndef VIDI_CRAWLER_SITEMAP_SITEMAP_XML_H
#define VIDI_CRAWLER_SITEMAP_SITEMAP_XML_H

#include "crawler/sitemap/sitemap.h"

enum { XML_NAME_MOST = 64, XML_REFERENCE_MOST = 10, XML_DECLARATION_MOST = 128 };

/* A name in two parts; prefix is empty if it has none. Names that are too long for the tokenizer are empty. */
typedef struct xml_name {
    vidi_str prefix, local;
} xml_name;

typedef struct xml_handler {
    void (*start)(void *context, xml_name name);
    void (*attribute)(void *context, xml_name name, vidi_str value); /* of the tag that has just started */
    void (*started)(void *context, bool empty);                      /* the tag ends here; empty: as in <a/> */
    void (*end)(void *context, xml_name name);
    void (*text)(void *context, const char *bytes, size_t n); /* in pieces of any size */
    void (*declaration)(void *context, vidi_str text);        /* what stands between "<?xml" and "?>" */
    void (*problem)(void *context, sitemap_problem problem);
} xml_handler;

typedef enum xml_state {
    XML_TEXT,
    XML_OPEN,        /* after '<' */
    XML_NAME,        /* of a tag that starts */
    XML_IN_TAG,      /* between attributes */
    XML_SLASH,       /* after a '/' in a tag */
    XML_ATTRIBUTE,   /* its name */
    XML_EQUALS,      /* after its name */
    XML_VALUE_BEGIN, /* after '=' */
    XML_VALUE,
    XML_END_NAME, /* of a tag that ends */
    XML_END_REST,
    XML_BANG, /* after "<!" */
    XML_COMMENT,
    XML_CDATA,
    XML_DOCTYPE,
    XML_INSTRUCTION, /* after "<?" */
    XML_REFERENCE,   /* after '&', in text or in a value */
    XML_STATES
} xml_state;

typedef struct xml {
    const xml_handler *handler;
    void *context;
    uint64_t line; /* from 1 */
    xml_state state, after_reference;
    char quote;        /* of a value or in a doctype; 0: none */
    unsigned tail;     /* how much of "-->" or "]]>" or "?>" has been met */
    uint64_t brackets; /* open in a doctype */
    char name[XML_NAME_MOST + 1];
    size_t name_len; /* XML_NAME_MOST + 1: too long */
    char attribute[XML_NAME_MOST + 1];
    size_t attribute_len;
    char value[SITEMAP_URL_BYTES + 1];
    size_t value_len; /* the rest of a longer value is dropped */
    char reference[XML_REFERENCE_MOST];
    size_t reference_len;
    char declaration[XML_DECLARATION_MOST];
    size_t declaration_len;
} xml;

void xml_init(xml *x, const xml_handler *handler, void *context);

void xml_feed(xml *x, const char *bytes, size_t n);

/* The text has ended. False if that is inside of a tag, a comment or the like. */
bool xml_end(xml *x);

#endif
