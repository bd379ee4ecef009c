/*
 * The data type: how a value is saved, loaded, copied, measured and freed.
 */
#ifndef REDIS_TYPE_H
#define REDIS_TYPE_H

#include "server.h"

extern server_type *value_type;

/* Registers the type. */
bool type_start(server_context *ctx);

/* How often a value was loaded from a snapshot or RESTORE since the module was loaded, whether that worked or not. */
uint64_t type_loads(void);

#endif
