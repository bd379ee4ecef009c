/* Sitemaps written down in a test, and what is read of them, as text. */
#ifndef TESTS_CRAWLER_SITEMAP_SITEMAP_CASES_H
#define TESTS_CRAWLER_SITEMAP_SITEMAP_CASES_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "crawler/sitemap/sitemap.h"
#include "support/check.h"

#define XML_HEAD "<?xml version='1.0' encoding='UTF-8'?>\n"
#define URLSET "<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>"

typedef struct sitemap_seen {
    char text[4096]; /* "URL lastmod changefreq priority" of each entry, with '|' behind it and '+' before sitemaps */
    uint64_t count;
    size_t shortest;  /* of the URLs, in bytes */
    uint64_t stop_at; /* 0: never */
    int stop_with;
} sitemap_seen;

static inline int see(void *context, const sitemap_entry *entry)
{
    sitemap_seen *seen = context;
    const vidi_str parts[] = {entry->url, entry->lastmod, entry->changefreq, entry->priority};
    size_t used = strlen(seen->text), room = sizeof seen->text - used;
    if (entry->is_sitemap && room > 1)
        used += (size_t)snprintf(seen->text + used, room, "+");
    for (size_t i = 0; i < 4; i++)
        if (parts[i].len > 0 && used + parts[i].len + 3 < sizeof seen->text)
            used += (size_t)sprintf(seen->text + used, "%s%.*s", i ? " " : "", (int)parts[i].len, parts[i].ptr);
    if (used + 2 < sizeof seen->text)
        strcpy(seen->text + used, "|");
    if (seen->count == 0 || entry->url.len < seen->shortest)
        seen->shortest = entry->url.len;
    return ++seen->count == seen->stop_at ? seen->stop_with : 0;
}

/* Reads bytes in pieces of this size. */
static inline int read_pieces(vidi_str bytes, size_t piece, const sitemap_options *options, sitemap_report *report)
{
    sitemap *reader;
    assert_int_equal(sitemap_open(&reader, options), VIDI_OK);
    for (size_t i = 0; i < bytes.len; i += piece) {
        /* A block of just this size, so that the sanitizer detects overruns. */
        size_t n = bytes.len - i < piece ? bytes.len - i : piece;
        char *copy = malloc(n);
        memcpy(copy, bytes.ptr + i, n);
        int result = sitemap_feed(reader, copy, n);
        free(copy);
        if (result != SITEMAP_GO_ON)
            break;
    }
    return sitemap_close(reader, report);
}

/* The entries must be the same however the bytes come. `expected` is as in sitemap_seen. */
static inline sitemap_report check_read(vidi_str bytes, const char *base, const char *expected)
{
    static const size_t pieces[] = {1, 2, 3, 7, 64, 1 << 20};
    sitemap_report report = {0}, first = {0};
    for (size_t i = 0; i < sizeof pieces / sizeof pieces[0]; i++) {
        sitemap_seen seen = {.count = 0};
        sitemap_options options = {.visit = see, .context = &seen, .base = {base, base ? strlen(base) : 0}};
        assert_int_equal(read_pieces(bytes, pieces[i], &options, &report), VIDI_OK);
        check(strcmp(seen.text, expected) == 0, "pieces of %zu bytes: %s instead of %s", pieces[i], seen.text,
              expected);
        assert_int_equal(report.pages + report.sitemaps, seen.count);
        if (i > 0)
            assert_memory_equal(&report, &first, sizeof report);
        first = report;
    }
    return report;
}

static inline vidi_str text_of(const char *text)
{
    return (vidi_str){text, strlen(text)};
}

/* The only problem is this one; -1: there is none. */
static inline void check_problem(const sitemap_report *report, int problem, const char *text)
{
    for (int i = 0; i < SITEMAP_PROBLEMS; i++)
        check((report->problems[i].count > 0) == (i == problem), "%s: %s: %llu times", text,
              sitemap_problem_text((sitemap_problem)i), (unsigned long long)report->problems[i].count);
}

static inline void check_whole(const char *text, sitemap_format format, const char *expected)
{
    sitemap_report report = check_read(text_of(text), NULL, expected);
    check_problem(&report, -1, text);
    assert_int_equal(report.format, format);
    assert_false(sitemap_is_incomplete(&report));
}

static inline void check_broken(const char *text, sitemap_problem problem, const char *expected)
{
    sitemap_report report = check_read(text_of(text), NULL, expected);
    check_problem(&report, (int)problem, text);
    check(sitemap_is_incomplete(&report) == (problem <= SITEMAP_LONG_URL), "%s", text);
}

#endif
