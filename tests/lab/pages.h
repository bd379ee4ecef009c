/* Texts that a test writes to memory as if to a file, and files of the source that it reads. */
#ifndef TESTS_LAB_PAGES_H
#define TESTS_LAB_PAGES_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/check.h"

typedef struct page {
    FILE *to;
    char *text;
    size_t length;
} page;

/* The page stays where it is until its end. */
static inline void start(page *page)
{
    page->to = open_memstream(&page->text, &page->length);
    check(page->to != NULL, "no memory");
}

/* The text, which the caller frees. */
static inline char *end(page *page)
{
    check(fclose(page->to) == 0, "no memory");
    check(strlen(page->text) == page->length, "a zero byte at %zu of %zu", strlen(page->text), page->length);
    return page->text;
}

/* A file of the source, which the caller frees; NULL: there is none. */
static inline char *source_file(const char *name)
{
    const char *source = getenv("VIDI_SOURCE");
    char path[4096], bytes[4096];
    size_t count;
    page page;
    snprintf(path, sizeof path, "%s/%s", source ? source : ".", name);
    FILE *from = fopen(path, "re");
    if (!from)
        return NULL;
    start(&page);
    while ((count = fread(bytes, 1, sizeof bytes, from)) > 0)
        fwrite(bytes, 1, count, page.to);
    fclose(from);
    return end(&page);
}

static inline size_t occurrences(const char *text, const char *what)
{
    size_t count = 0;
    for (; (text = strstr(text, what)); text += strlen(what))
        count++;
    return count;
}

#endif
