/* A text that grows, for pages and messages. Begins as {0}; running out of memory ends the test program. */
#ifndef TESTS_CRAWLER_SITE_TEXT_H
#define TESTS_CRAWLER_SITE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

typedef struct site_text {
    char *at; /* ends in a zero byte that does not count, once something was added */
    size_t length, room;
} site_text;

void site_text_add(site_text *to, const void *bytes, size_t length);
void site_text_put(site_text *to, const char *format, ...) __attribute__((format(printf, 2, 3)));
void site_text_free(site_text *text);

/* Appends a file. False: it cannot be read. */
bool site_text_load(site_text *to, const char *path);

/* Memory that is filled with zeros, or the end of the program. */
void *site_memory(size_t bytes);
char *site_copy(const char *text);

/* Packs bytes with gzip; the caller frees. */
void site_gzip(site_text *to, const void *bytes, size_t length);
/* In the form of brotli, without making it shorter; 1 to 65,536 bytes. */
void site_brotli(site_text *to, const void *bytes, size_t length);

#endif
