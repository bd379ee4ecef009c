/*
 * A set as commands that load it into a Redis or Valkey server with vidi's module, in the protocol that
 * `redis-cli --pipe` sends: VIDI.LOAD KEY POSITION PIECE for each piece, positions 0, 1, 2 and so on.
 */
#ifndef VIDI_CLI_PIPELINE_OUTPUT_REDIS_LOAD_H
#define VIDI_CLI_PIPELINE_OUTPUT_REDIS_LOAD_H

#include "cli.h"
#include "ui/output.h"

/* Writes all commands. VIDI_OK or a negative code; VIDI_EIO if the output failed, which `out` knows. */
int cli_redis_load(const vidi_set *set, const char *key, cli_out *out);

#endif
