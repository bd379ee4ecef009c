/*
 * Shared by commands that use canonical forms: the help texts of their options, what happens to lines that aren't URLs,
 * lists of tracking parameters, and the version of a form.
 */
#ifndef VIDI_CLI_PIPELINE_OPTIONS_CANON_OPTIONS_H
#define VIDI_CLI_PIPELINE_OPTIONS_CANON_OPTIONS_H

#include "cli.h"

#define CLI_CANON_SUMMARY "Canonical form [whatwg]"
#define CLI_CANON_DETAILS                                                                                              \
    "One of 'none', 'whatwg' (as the URL Standard writes URLs, without the fragment), 'crawl' (the same, without "     \
    "parts that seldom change the page), 'w3lib' (as Scrapy compares URLs), 'surt' (the key of web archives), "        \
    "'key=host' and 'key=site'. Rules are switched off and on by name, such as 'crawl,-sort' and 'crawl,+www,"         \
    "+scheme'; 'vidi canon --rules' lists them."
#define CLI_TRACKING_SUMMARY "List of tracking parameters for --canon crawl"
#define CLI_TRACKING_DETAILS                                                                                           \
    "The file has one pattern per line; '*' matches any run of characters, and '#' starts a comment. It replaces the " \
    "built-in list; the line '@builtin' includes that list."
#define CLI_INVALID_SUMMARY "Lines that are not URLs: keep, drop or fail [keep]"

/* Checks that the value of --base is a URL; NULL: not given. CLI_OK, or CLI_ERROR with a message. */
int cli_base_check(const char *base);

/* Reads "keep", "drop" or "fail"; NULL means "keep". CLI_OK, or CLI_ERROR with a message. */
int cli_invalid_parse(const char *word, uint32_t *policy);

/*
 * Reads the file as a text for vidi_canon_create and vidi_options.tracking, which the caller frees. path NULL: *text is
 * NULL, which stands for the list that is compiled in. CLI_OK, or CLI_ERROR with *text NULL and the message printed.
 */
int cli_tracking_read(const char *path, char **text);

#endif
