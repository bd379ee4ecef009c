/*
 * Pages in tests: reads a page and writes its links as text.
 */
#ifndef TESTS_CRAWLER_HTML_PAGES_H
#define TESTS_CRAWLER_HTML_PAGES_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "crawler/html/html.h"
#include "support/check.h"

enum { ALL_LINKS = HTML_LINKS | HTML_RESOURCES | HTML_FORMS };

static inline vidi_str text_of(const char *text)
{
    return (vidi_str){text, strlen(text)};
}

static inline int write_url(void *context, const html_link *link)
{
    FILE *to = context;
    if (link->url.ptr)
        fprintf(to, "%.*s\n", (int)link->url.len, link->url.ptr);
    else
        fprintf(to, "not a URL: %.*s\n", (int)link->value.len, link->value.ptr);
    return 0;
}

static inline html_page *open_page(vidi_str bytes, const html_options *options)
{
    html_page *page;
    assert_int_equal(html_page_open(&page, bytes, options), VIDI_OK);
    return page;
}

/* The URLs of these groups, one a line, in a buffer that the caller frees. */
static inline char *urls_of(vidi_str bytes, const html_options *options, uint32_t groups)
{
    char *text = NULL;
    size_t len = 0;
    FILE *to = open_memstream(&text, &len);
    html_page *page = open_page(bytes, options);
    assert_int_equal(html_page_links(page, groups, write_url, to), VIDI_OK);
    html_page_close(page);
    fclose(to);
    return text;
}

/* A page at http://h/d/p has exactly these URLs of all groups. */
static inline void check_urls(const char *html, const char *want)
{
    html_options options = {.url = text_of("http://h/d/p")};
    char *got = urls_of(text_of(html), &options, ALL_LINKS);
    check(strcmp(got, want) == 0, "%s: got\n%sinstead of\n%s", html, got, want);
    free(got);
}

#endif
