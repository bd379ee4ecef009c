/*
 * Sets on servers: what commands do that take an address, such as redis://example.org/crawl, where they take a folder.
 * Every command opens such sets here, so all commands have the same options and print the same messages about them.
 *
 * An address may contain a password, so messages and results never show an address as it was given: cli_shown_path is
 * for that.
 */
#ifndef VIDI_CLI_PIPELINE_SERVER_H
#define VIDI_CLI_PIPELINE_SERVER_H

#include "ui/options.h"
#include "vidi/cluster.h"

/* How a command connects. `at` is where the command's struct has this one. */
typedef struct cli_server_options {
    const char *ca_file, *cert_file, *cert_key;
    uint64_t wait_replicas;
} cli_server_options;

#define CLI_CA_SUMMARY "Certificates to trust, for rediss:// [the system's]"
#define CLI_CERT_SUMMARY "Own certificate, for rediss:// if the server asks"
#define CLI_CERT_KEY_SUMMARY "Private key of --cert-file"
#define CLI_SERVER_OPTIONS(at)                                                                                         \
    {"ca-file", 0, CLI_TEXT, (at) + offsetof(cli_server_options, ca_file), "FILE", CLI_CA_SUMMARY, NULL, 0},           \
        {"cert-file", 0, CLI_TEXT, (at) + offsetof(cli_server_options, cert_file), "FILE", CLI_CERT_SUMMARY, NULL, 0}, \
    {                                                                                                                  \
        "cert-key", 0, CLI_TEXT, (at) + offsetof(cli_server_options, cert_key), "FILE", CLI_CERT_KEY_SUMMARY, NULL, 0  \
    }

#define CLI_REPLICAS_SUMMARY "Wait until N replicas have it, on a server [0]"
#define CLI_REPLICAS_DETAILS                                                                                           \
    "Without it, what a failing server had not yet passed to a replica is forgotten, and those URLs are new again."
#define CLI_REPLICA_OPTION(at)                                                                                         \
    {                                                                                                                  \
        "wait-replicas", 0, CLI_WHOLE, (at) + offsetof(cli_server_options, wait_replicas), "N", CLI_REPLICAS_SUMMARY,  \
            CLI_REPLICAS_DETAILS, 1000                                                                                 \
    }

/* Returns true if a state is an address. */
bool cli_is_address(const char *state);

/* A state as it may be shown: an address without its password, any other path as it is. */
typedef struct cli_shown {
    char address[VIDI_CLUSTER_ADDRESS_ROOM];
    const char *path;
} cli_shown;
const char *cli_shown_path(cli_shown *shown, const char *state);

/* Checks options against the state that they come with, or against several. CLI_OK, or CLI_ERROR with a message. */
int cli_server_check(const char *state, const cli_server_options *options);
int cli_server_check_any(cli_words states, const cli_server_options *options);

/* How the set is used; all but `flags` may be 0. */
typedef struct cli_server_use {
    uint32_t flags;    /* of vidi_cluster_access */
    uint32_t invalid;  /* vidi_invalid_policy */
    const char *owner; /* of claims */
} cli_server_use;

/* The access to a set; it points into the options. */
vidi_cluster_access cli_server_access(const cli_server_options *options, const cli_server_use *use);

/* Opens the set at an address. CLI_OK, or CLI_ERROR with a message; then *cluster is NULL. Signals end the program. */
int cli_server_open(vidi_cluster **cluster, const char *address, const cli_server_options *options,
                    const cli_server_use *use);

/* Prints the message of the last failure of vidi/cluster.h, which returned `error`, about the set at the address. */
int cli_server_error(const char *address, int error);

/* The statistics of a set: CLI_OK, or CLI_ERROR with a message. `more` may be NULL. */
int cli_server_stat(vidi_cluster *cluster, const char *address, vidi_stats *stats, vidi_cluster_stats *more);

/*
 * Says that a command cannot take the address that it was given; `instead`, a part of a sentence, says what to do.
 * CLI_ERROR.
 */
int cli_server_refuse(const char *address, const char *instead);

/*
 * Reads all shards into one set in memory, which the caller closes; flags are those of vidi_merge. CLI_OK, or CLI_ERROR
 * with a message; then *set is NULL.
 */
int cli_server_read_whole(vidi_set **set, vidi_cluster *cluster, const char *address, unsigned flags);

/* Calls `visit` with one shard after the other, each read into memory, until it returns anything but CLI_OK. */
int cli_server_each_shard(vidi_cluster *cluster, const char *address,
                          int (*visit)(void *context, const vidi_set *shard), void *context);

#endif
