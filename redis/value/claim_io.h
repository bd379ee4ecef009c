/*
 * Claims in snapshots, in the append-only file and in digests. All functions take values without claims as well.
 */
#ifndef REDIS_CLAIM_IO_H
#define REDIS_CLAIM_IO_H

#include "value.h"

void claims_save(server_io *io, const value *value);

/* Loads what claims_save wrote into a value that has its set already. False if it is damaged; the log says how. */
bool claims_load(server_io *io, value *value);

/* A VIDI.HOLD for each claim. */
void claims_rewrite(server_io *io, server_string *key, const value *value);

/* Claims that have not expired: a claim that has may have been removed elsewhere. */
void claims_digest(server_digest *digest, const value *value);

#endif
