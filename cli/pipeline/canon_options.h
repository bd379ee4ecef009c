/*
 * What commands share that bring URLs into canonical forms: the texts of their options, what becomes of lines that are
 * no URLs, and lists of tracking parameters.
 */
#ifndef VIDI_CLI_PIPELINE_CANON_OPTIONS_H
#define VIDI_CLI_PIPELINE_CANON_OPTIONS_H

#include "cli.h"

#define CLI_CANON_SUMMARY "Canonical form [whatwg]"
#define CLI_CANON_DETAILS                                                                                              \
    "One of 'none', 'whatwg' (as the URL Standard writes URLs, without the fragment), 'crawl' (the same, without "     \
    "what "                                                                                                            \
    "seldom makes a difference to the page), 'surt' (the key of web archives), 'key=host' and 'key=site'. Rules are "  \
    "switched off and on by name: 'crawl,-sort'."
#define CLI_TRACKING_SUMMARY "List of tracking parameters for --canon crawl"
#define CLI_TRACKING_DETAILS                                                                                           \
    "A pattern a line, '*' for any run of characters, '#' before remarks. It replaces the list that is compiled in; "  \
    "a "                                                                                                               \
    "line '@builtin' in it stands for all of that."
#define CLI_INVALID_SUMMARY "Lines that are no URLs: keep, drop or fail [keep]"

/* "keep", "drop" or "fail"; NULL is the first. CLI_OK, or CLI_ERROR with a message. */
int cli_invalid_parse(const char *word, uint32_t *policy);

/*
 * Reads the file as a text for vidi_canon_create and vidi_options.tracking, which the caller frees. path NULL: *text is
 * NULL, which stands for the list that is compiled in. CLI_OK, or CLI_ERROR with *text NULL and the message printed.
 */
int cli_tracking_read(const char *path, char **text);

#endif
