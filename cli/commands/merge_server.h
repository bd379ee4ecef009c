/*
 * Merging into a set on a server, for `vidi merge`.
 */
#ifndef VIDI_CLI_COMMANDS_MERGE_SERVER_H
#define VIDI_CLI_COMMANDS_MERGE_SERVER_H

#include "pipeline/state.h"

/* Adds the URLs of the sets `from`, folders, files or addresses, to the set at the address. Returns the exit status. */
int cli_merge_into_server(const char *address, cli_words from, const cli_write_options *write,
                          const cli_server_options *options);

#endif
