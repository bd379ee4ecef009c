/*
 * The module's configuration, vidi.* in CONFIG GET and CONFIG SET, and its arguments after `loadmodule`: mostly how
 * new BF and CF keys are made if a command does not say.
 */
#ifndef REDIS_CONFIG_H
#define REDIS_CONFIG_H

#include "server.h"

typedef enum compatibility { COMPAT_NO, COMPAT_YES, COMPAT_AUTO } compatibility;

typedef struct configuration {
    compatibility bf_compat; /* whether BF.* and CF.* exist; auto: if the names are free */
    double bf_error_rate;
    long long bf_initial_size;
    long long bf_expansion;
    long long cf_initial_size;
    long long cf_bucket_size;
    long long cf_max_iterations;
    long long cf_expansion;
    long long cf_max_expansions;
} configuration;

extern configuration config;

/* Registers the configuration and takes the module's arguments. False if something is wrong; the log says what. */
bool config_start(server_context *ctx, server_string **argv, int argc);

#endif
