/*
 * 'vidi top' for the folder of a crawl. This header does without the crawler's, so that a build without the crawler has
 * it, too.
 */
#ifndef VIDI_CLI_COMMANDS_CRAWL_CRAWL_TOP_H
#define VIDI_CLI_COMMANDS_CRAWL_CRAWL_TOP_H

#include <stdbool.h>

/* Shows one view, as JSON if that is wanted; or again and again. Returns the exit status. */
int cli_crawl_top_once(const char *folder, bool json, bool color);
int cli_crawl_top(const char *folder, bool color);

#endif
