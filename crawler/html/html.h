/*
 * Reads an HTML page for a crawler: its encoding, its base URL, what it asks of robots, and its links.
 *
 * Links are taken from tags (tokenizer.h); no tree is built. So links come in the order of the source, and badly nested
 * elements are not copied as the standard's tree copies them. The reader keeps track of where a tag stands (context.h):
 * a `template` has no links, SVG and MathML have rules of their own, and text in a script is not a tag. Scripts are not
 * run, so links in `noscript` count. URLs in `style` elements and attributes are resources (css.h). A `srcdoc` is read as
 * a page of its own, relative to this one, but a `srcdoc` in it is not.
 *
 * Functions that return int return VIDI_OK or a negative code: VIDI_EMEMORY, or VIDI_ELIMIT for pages of 1 GiB and
 * more. One thread at a time may use a page. Time and memory are linear in the page's length. URLs of relative links
 * contain the base, so a `base` of more than HTML_BASE_MAX bytes is ignored.
 */
#ifndef VIDI_CRAWLER_HTML_HTML_H
#define VIDI_CRAWLER_HTML_HTML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vidi/vidi.h"

enum { HTML_BASE_MAX = 8192 };

/* What a link is for. */
enum html_group {
    HTML_LINKS = 1,     /* a, area, link, frame, iframe, and where meta refresh leads */
    HTML_RESOURCES = 2, /* images, scripts, media and the like, which are shown or run as part of the page */
    HTML_FORMS = 4      /* where forms are sent to */
};

/* What rel says about a link. */
enum html_rel {
    HTML_NOFOLLOW = 1,
    HTML_UGC = 2,
    HTML_SPONSORED = 4,
    HTML_CANONICAL = 8, /* only of a `link` */
    HTML_ALTERNATE = 16,
    HTML_STYLESHEET = 32,
    HTML_ICON = 64,
    HTML_NEXT = 128,
    HTML_PREV = 256
};

/* What <meta name=robots> asks; "none" is HTML_ROBOTS_NOINDEX and HTML_ROBOTS_NOFOLLOW. */
enum html_robots { HTML_ROBOTS_NOINDEX = 1, HTML_ROBOTS_NOFOLLOW = 2, HTML_ROBOTS_NOARCHIVE = 4 };

typedef struct html_options {
    vidi_str url;      /* the page's own; ptr NULL: unknown */
    vidi_str encoding; /* a label that overrides what header and page say; ptr NULL: none */
    vidi_str charset;  /* the label in the header Content-Type; ptr NULL: none */
} html_options;

typedef struct html_link {
    uint64_t position; /* of the attribute's value, in bytes of the page as UTF-8: html_page_info.text */
    uint32_t group;    /* html_group, one of them */
    uint32_t flags;    /* html_rel */
    /* `element` is empty for a `style` attribute of an element without links, `attribute` for the text of `style` */
    const char *element, *attribute;
    vidi_str value; /* what the attribute says: of srcset, meta refresh, CSS and srcdoc, the URL in it */
    vidi_str rel;
    vidi_str url; /* absolute; ptr NULL if the value is not a URL, or is relative and no base is known */
    uint64_t end; /* after the tag, in the same bytes as the position; 0: the link stands in a srcdoc */
    /* For rewriting: the length of the attribute's value as the page has it, and all of it decoded; `value` points
     * into `whole`. Of CSS and srcdoc, `whole` has ptr NULL. */
    uint64_t length;
    vidi_str whole;
} html_link;

typedef struct html_page_info {
    const char *encoding; /* the Encoding Standard's name */
    const char *source;   /* what it was taken from: "bom", "option", "header", "meta" or "default" */
    bool readable;        /* false: this build cannot convert the encoding, and took the page as windows-1252 */
    uint32_t robots;      /* html_robots */
    vidi_str base;        /* what links are relative to; ptr NULL: unknown */
    vidi_str text;        /* the page as UTF-8, without a byte order mark */
    bool has_base;        /* there is a <base href>; its value, in bytes of `text`: */
    uint64_t base_position, base_length;
} html_page_info;

typedef struct html_page html_page;

/*
 * Reads a page. The bytes must not change until html_page_close; the options need not stay. Unknown labels are ignored.
 * On error *page is NULL.
 */
int html_page_open(html_page **page, vidi_str bytes, const html_options *options);
void html_page_close(html_page *page);

html_page_info html_page_about(const html_page *page);

/* A result other than 0 ends the walk and is returned: use positive numbers. The link is valid during the call. */
typedef int (*html_link_visitor)(void *context, const html_link *link);

/* Calls the visitor for each link of these groups (html_group), in the order of the source. */
int html_page_links(html_page *page, uint32_t groups, html_link_visitor visitor, void *context);

/*
 * Writes what a reader sees of an `a` element: its text and the alternative text of its images, with single spaces, cut
 * off at `room` bytes or after HTML_TEXT_SCANNED bytes of the page. Other elements have none. Returns the length; it is
 * UTF-8, without a zero byte.
 */
enum { HTML_TEXT_SCANNED = 8192 };
size_t html_link_text(const html_page *page, const html_link *link, char *to, size_t room);

/*
 * Calls the visitor with each name that a fragment can have on this page: ids of elements, and names of `a` elements. A
 * result other than 0 ends the walk and is returned: use positive numbers. The name is valid during the call. The whole
 * page is read again for that.
 */
typedef int (*html_name_visitor)(void *context, vidi_str name);
int html_page_names(html_page *page, html_name_visitor visitor, void *context);

/* The page's title, in the same form as the text of a link, of the first `title` that is not part of SVG. */
size_t html_page_title(const html_page *page, char *to, size_t room);

/*
 * All text of the page that a reader sees, in the same form; what is in `script`, `style` and `template` is not. VIDI_OK
 * or VIDI_EMEMORY. The text is the page's, until html_page_close.
 */
int html_page_text(html_page *page, vidi_str *text);

/* The URL in the value of a meta refresh or a header Refresh, "5; url=page.html". False if there is none. */
bool html_refresh_url(vidi_str value, vidi_str *url);

/* The label in a header Content-Type, "text/html; charset=utf-8"; ptr NULL: there is none. */
vidi_str html_header_charset(vidi_str content_type);

/* The Encoding Standard's name for a label, or NULL: `get an encoding`. */
const char *html_encoding_name(vidi_str label);

#endif
