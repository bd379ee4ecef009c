/*
 * The names of elements and attributes that mean something to the reader of links.
 */
#ifndef VIDI_CRAWLER_HTML_TAG_NAMES_H
#define VIDI_CRAWLER_HTML_TAG_NAMES_H

#include "vidi/vidi.h"

/* X(enumerator, name), in the order of the names' bytes. */
#define HTML_ELEMENTS(X)                                                                                               \
    X(A, "a")                                                                                                          \
    X(ANNOTATION_XML, "annotation-xml")                                                                                \
    X(AREA, "area")                                                                                                    \
    X(AUDIO, "audio")                                                                                                  \
    X(BASE, "base")                                                                                                    \
    X(BGSOUND, "bgsound")                                                                                              \
    X(BODY, "body")                                                                                                    \
    X(BUTTON, "button")                                                                                                \
    X(DESC, "desc")                                                                                                    \
    X(EMBED, "embed")                                                                                                  \
    X(FEIMAGE, "feimage")                                                                                              \
    X(FONT, "font")                                                                                                    \
    X(FOREIGNOBJECT, "foreignobject")                                                                                  \
    X(FORM, "form")                                                                                                    \
    X(FRAME, "frame")                                                                                                  \
    X(IFRAME, "iframe")                                                                                                \
    X(IMAGE, "image")                                                                                                  \
    X(IMG, "img")                                                                                                      \
    X(INPUT, "input")                                                                                                  \
    X(LINK, "link")                                                                                                    \
    X(MALIGNMARK, "malignmark")                                                                                        \
    X(MATH, "math")                                                                                                    \
    X(META, "meta")                                                                                                    \
    X(MGLYPH, "mglyph")                                                                                                \
    X(MI, "mi")                                                                                                        \
    X(MN, "mn")                                                                                                        \
    X(MO, "mo")                                                                                                        \
    X(MS, "ms")                                                                                                        \
    X(MTEXT, "mtext")                                                                                                  \
    X(NOEMBED, "noembed")                                                                                              \
    X(NOFRAMES, "noframes")                                                                                            \
    X(OBJECT, "object")                                                                                                \
    X(PLAINTEXT, "plaintext")                                                                                          \
    X(SCRIPT, "script")                                                                                                \
    X(SOURCE, "source")                                                                                                \
    X(STYLE, "style")                                                                                                  \
    X(SVG, "svg")                                                                                                      \
    X(TABLE, "table")                                                                                                  \
    X(TBODY, "tbody")                                                                                                  \
    X(TD, "td")                                                                                                        \
    X(TEMPLATE, "template")                                                                                            \
    X(TEXTAREA, "textarea")                                                                                            \
    X(TFOOT, "tfoot")                                                                                                  \
    X(TH, "th")                                                                                                        \
    X(THEAD, "thead")                                                                                                  \
    X(TITLE, "title")                                                                                                  \
    X(TR, "tr")                                                                                                        \
    X(TRACK, "track")                                                                                                  \
    X(USE, "use")                                                                                                      \
    X(VIDEO, "video")                                                                                                  \
    X(XMP, "xmp")

#define HTML_ATTRIBUTES(X)                                                                                             \
    X(ACTION, "action")                                                                                                \
    X(ALT, "alt")                                                                                                      \
    X(BACKGROUND, "background")                                                                                        \
    X(COLOR, "color")                                                                                                  \
    X(CONTENT, "content")                                                                                              \
    X(DATA, "data")                                                                                                    \
    X(ENCODING, "encoding")                                                                                            \
    X(FACE, "face")                                                                                                    \
    X(FORMACTION, "formaction")                                                                                        \
    X(HREF, "href")                                                                                                    \
    X(HTTP_EQUIV, "http-equiv")                                                                                        \
    X(IMAGESRCSET, "imagesrcset")                                                                                      \
    X(NAME, "name")                                                                                                    \
    X(POSTER, "poster")                                                                                                \
    X(REL, "rel")                                                                                                      \
    X(SIZE, "size")                                                                                                    \
    X(SRC, "src")                                                                                                      \
    X(SRCDOC, "srcdoc")                                                                                                \
    X(SRCSET, "srcset")                                                                                                \
    X(STYLE, "style")                                                                                                  \
    X(TYPE, "type")                                                                                                    \
    X(XLINK_HREF, "xlink:href")

#define HTML_ELEMENT_ENUMERATOR(id, name) HTML_ELEMENT_##id,
#define HTML_ATTRIBUTE_ENUMERATOR(id, name) HTML_ATTRIBUTE_##id,

enum html_element {
    HTML_ELEMENTS(HTML_ELEMENT_ENUMERATOR) HTML_ELEMENT_COUNT,
    HTML_ELEMENT_OTHER = HTML_ELEMENT_COUNT
};

enum html_attribute_name {
    HTML_ATTRIBUTES(HTML_ATTRIBUTE_ENUMERATOR) HTML_ATTRIBUTE_COUNT,
    HTML_ATTRIBUTE_OTHER = HTML_ATTRIBUTE_COUNT
};

/* What a raw name stands for, in any case of letters. */
enum html_element html_element_of(vidi_str raw);
enum html_attribute_name html_attribute_of(vidi_str raw);

/* The place of a raw name in a list of lower-case names that is sorted by bytes; count: it is not there. */
size_t html_name_find(const char *const *names, size_t count, vidi_str raw);

const char *html_element_name(enum html_element element);
const char *html_attribute_text(enum html_attribute_name attribute);

#endif
