/*
 * Sitemaps: the URLs that a site lists for crawlers (https://www.sitemaps.org/protocol.html).
 *
 * Reads XML sitemaps and sitemap indexes, text files with a URL per line, and RSS and Atom feeds; plain or packed with
 * gzip. The bytes tell the format. Bytes go in piece by piece, and entries come out as soon as they are complete,
 * so the memory needed does not grow with the file.
 *
 *     sitemap *reader;
 *     sitemap_report report;
 *     sitemap_options options = {.visit = take_url};
 *     if (sitemap_open(&reader, &options) == VIDI_OK) {
 *         while (more bytes && sitemap_feed(reader, bytes, n) == SITEMAP_GO_ON)
 *             ;
 *         sitemap_close(reader, &report);
 *     }
 *
 * Many sitemaps are broken. All that can be read of them is read, and the report says what was wrong. There is no DTD,
 * and there are no entities but the five of XML: an entity that a file declares is never expanded. Time and memory are
 * bounded for every input: each byte is looked at a fixed number of times, nothing recurses, and all buffers have a
 * fixed size.
 */
#ifndef VIDI_CRAWLER_SITEMAP_SITEMAP_H
#define VIDI_CRAWLER_SITEMAP_SITEMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vidi/vidi.h"

enum {
    SITEMAP_BYTES = 50 << 20, /* the protocol's limit of bytes, after unpacking */
    SITEMAP_URLS = 50000,     /* the protocol's limit of entries */
    SITEMAP_URL_BYTES = 8192  /* longer URLs are left out; the protocol allows 2,047 */
};

typedef struct sitemap_entry {
    bool is_sitemap;                        /* names another sitemap, not a page */
    vidi_str url;                           /* absolute, http or https; otherwise as it was written */
    vidi_str lastmod, changefreq, priority; /* as written, without blanks around; empty if not given */
    uint64_t line;                          /* where it was complete, from 1 */
} sitemap_entry;

/* The strings are valid only during the call. A result other than 0 ends the reading; SITEMAP_ENOUGH is no error. */
typedef int sitemap_visit(void *context, const sitemap_entry *entry);

typedef struct sitemap_options {
    sitemap_visit *visit;
    void *context;
    vidi_str base;      /* the sitemap's own URL, to resolve relative ones; empty: these are left out */
    uint64_t max_bytes; /* 0: SITEMAP_BYTES */
    uint64_t max_urls;  /* 0: SITEMAP_URLS */
} sitemap_options;

typedef enum sitemap_format {
    SITEMAP_UNKNOWN, /* it is not a sitemap, or nothing of it could be read */
    SITEMAP_URLSET,
    SITEMAP_INDEX,
    SITEMAP_TEXT,
    SITEMAP_RSS,
    SITEMAP_ATOM
} sitemap_format;

/* What can be wrong. Up to SITEMAP_LONG_URL, URLs may be missing because of it. */
typedef enum sitemap_problem {
    SITEMAP_CUT_OFF,
    SITEMAP_DAMAGED,
    SITEMAP_NO_GZIP,
    SITEMAP_TOO_LARGE,
    SITEMAP_TOO_MANY,
    SITEMAP_LONG_URL,
    SITEMAP_NOT_A_URL,
    SITEMAP_NO_URL,
    SITEMAP_BARE_AMPERSAND,
    SITEMAP_UNKNOWN_ENTITY,
    SITEMAP_BAD_MARKUP,
    SITEMAP_GARBAGE,
    SITEMAP_NOT_UTF8,
    SITEMAP_WRONG_ENCODING,
    SITEMAP_PROBLEMS
} sitemap_problem;

typedef struct sitemap_report {
    sitemap_format format;
    uint64_t pages, sitemaps; /* entries passed on */
    uint64_t bytes;           /* read, after unpacking */
    bool packed;              /* it was packed with gzip */
    struct {
        uint64_t count, line; /* how often, and the first line */
    } problems[SITEMAP_PROBLEMS];
} sitemap_report;

typedef struct sitemap sitemap;

/* The options' strings must stay valid until the reader is closed. VIDI_OK or VIDI_EMEMORY. */
int sitemap_open(sitemap **reader, const sitemap_options *options);

enum { SITEMAP_GO_ON = 0, SITEMAP_ENOUGH = 1 };

/*
 * SITEMAP_GO_ON, SITEMAP_ENOUGH if more bytes will not be looked at (a limit was reached, or the packed data is
 * damaged), VIDI_EMEMORY, or the visitor's result. After anything but SITEMAP_GO_ON, the same comes again.
 */
int sitemap_feed(sitemap *reader, const char *bytes, size_t n);

/*
 * The file has ended. Frees the reader; `report` may be NULL. VIDI_OK, VIDI_EMEMORY, or the visitor's result: the last
 * entry may be complete only now.
 */
int sitemap_close(sitemap *reader, sitemap_report *report);

/* True if URLs may be missing. */
bool sitemap_is_incomplete(const sitemap_report *report);

/* A sentence without a full stop, such as "an '&' is not written as '&amp;'". */
const char *sitemap_problem_text(sitemap_problem problem);

#endif
