/*
 * The data type: how a value is saved, loaded, copied, measured and freed.
 */
#ifndef REDIS_TYPE_H
#define REDIS_TYPE_H

#include <stdbool.h>

#include "redis/server/server.h"

enum { TYPE_ENCODING = 2 };

extern server_type *value_type;

/* Registers the type. */
bool type_start(server_context *ctx);

/* How often a value, or a piece of one, was read since the module was loaded, whether that worked or not. */
void type_count_load(void);
uint64_t type_loads(void);

/* Its methods: rdb.c and aof.c. */
void rdb_save(server_io *io, void *data);
void *rdb_load(server_io *io, int version);
void aof_rewrite(server_io *io, server_string *key, void *data);

/*
 * After a value could not be saved: logs the library's message. A child that saves ends here, so that the server
 * reports the failure and keeps its old file, instead of a new one that cannot be read.
 */
void type_give_up(server_io *io);

#endif
