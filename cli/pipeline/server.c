/*
 * Sets on servers: see server.h.
 */
#include "pipeline/server.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "ui/output.h"
#include "vidi/transfer.h"

bool cli_is_address(const char *state)
{
    return state && vidi_cluster_is_address(state);
}

const char *cli_shown_path(cli_shown *shown, const char *state)
{
    shown->path = state;
    if (cli_is_address(state)) {
        vidi_cluster_show_address(state, shown->address);
        shown->path = shown->address;
    }
    return shown->path;
}

/* ---- messages ---- */

int cli_server_error(const char *address, int error)
{
    cli_shown shown;
    const char *message = vidi_cluster_message(), *path = cli_shown_path(&shown, address);
    bool names_it = strncmp(message, path, strlen(path)) == 0;

    return cli_error("%s%s%s", names_it ? "" : path, names_it ? "" : ": ", *message ? message : vidi_strerror(error));
}

int cli_server_refuse(const char *address, const char *instead)
{
    cli_shown shown;

    return cli_error("%s is the address of a set on a server, which this command cannot take; %s",
                     cli_shown_path(&shown, address), instead);
}

/* ---- options ---- */

static int check_file(const char *option, const char *path)
{
    return !path || access(path, R_OK) == 0 ? CLI_OK
                                            : cli_error("--%s: cannot read %s: %s", option, path, strerror(errno));
}

int cli_server_check(const char *state, const cli_server_options *options)
{
    char *list[] = {(char *)(uintptr_t)state};

    return cli_server_check_any((cli_words){list, 1}, options);
}

int cli_server_check_any(cli_words states, const cli_server_options *options)
{
    bool tls = options->ca_file || options->cert_file || options->cert_key, addresses = false, encrypted = false;

    for (size_t i = 0; i < states.count; i++) {
        bool is = cli_is_address(states.list[i]);
        addresses = addresses || is;
        encrypted = encrypted || (is && strncmp(states.list[i], "rediss:", 7) == 0);
    }
    if (options->wait_replicas && !addresses)
        return cli_error("--wait-replicas is for sets on servers, whose addresses begin with redis://, rediss:// or "
                         "redis+unix://");
    if (tls && !encrypted)
        return cli_error("--ca-file, --cert-file and --cert-key are for addresses that begin with rediss://");
    if (!options->cert_file != !options->cert_key)
        return cli_error("--cert-file and --cert-key belong together; give both");
    CLI_TRY(check_file("ca-file", options->ca_file));
    CLI_TRY(check_file("cert-file", options->cert_file));
    return check_file("cert-key", options->cert_key);
}

vidi_cluster_access cli_server_access(const cli_server_options *options, const cli_server_use *use)
{
    vidi_cluster_access access = VIDI_CLUSTER_ACCESS_INIT;

    access.flags = use->flags;
    access.invalid = use->invalid;
    access.owner = use->owner;
    access.wait_replicas = (uint32_t)options->wait_replicas;
    access.ca_file = options->ca_file;
    access.cert_file = options->cert_file;
    access.key_file = options->cert_key;
    return access;
}

/* ---- opening ---- */

/*
 * A server that does not answer keeps the program waiting for a minute. Commands that hold signals back, to end in good
 * order, have nothing to put in order yet, so meanwhile a signal ends the program.
 */
static int open_interruptibly(vidi_cluster **cluster, const char *address, const vidi_cluster_access *access)
{
    sigset_t signals, before;

    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    pthread_sigmask(SIG_UNBLOCK, &signals, &before);
    int error = vidi_cluster_open(cluster, address, access);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}

int cli_server_open(vidi_cluster **cluster, const char *address, const cli_server_options *options,
                    const cli_server_use *use)
{
    vidi_cluster_access access = cli_server_access(options, use);
    cli_shown shown;

    *cluster = NULL;
    int error = open_interruptibly(cluster, address, &access);
    if (error == VIDI_EABSENT)
        return cli_error("there is no set at %s; make one with 'vidi init'", cli_shown_path(&shown, address));
    return error < 0 ? cli_server_error(address, error) : CLI_OK;
}

int cli_server_stat(vidi_cluster *cluster, const char *address, vidi_stats *stats, vidi_cluster_stats *more)
{
    vidi_cluster_stats ignored = {0};

    more = more ? more : &ignored;
    *stats = (vidi_stats){.size = sizeof *stats};
    *more = (vidi_cluster_stats){.size = sizeof *more};
    int error = vidi_cluster_stat(cluster, stats, more);
    return error < 0 ? cli_server_error(address, error) : CLI_OK;
}

int cli_server_each_shard(vidi_cluster *cluster, const char *address,
                          int (*visit)(void *context, const vidi_set *shard), void *context)
{
    vidi_stats stats;
    vidi_cluster_stats more;
    vidi_set *shard;
    int status = cli_server_stat(cluster, address, &stats, &more);

    for (uint32_t i = 0; status == CLI_OK && i < more.shards; i++) {
        int error = vidi_cluster_read_shard(cluster, i, &shard);
        if (error < 0)
            return cli_server_error(address, error);
        status = visit(context, shard);
        vidi_close(shard);
    }
    return status;
}

/* ---- all shards in one set ---- */

typedef struct joining {
    vidi_set *into; /* NULL: nothing was read yet */
    const char *address;
    unsigned flags;
} joining;

/* Why the next shard cannot be merged with those before it. */
static int cannot_join(const char *address, const vidi_set *shard, int error)
{
    cli_shown shown;
    vidi_stats stats = {.size = sizeof stats};
    const char *path = cli_shown_path(&shown, address);

    if (error == VIDI_ERATE)
        return cli_error("%s: one set with the URLs of all shards would mistake new URLs for seen ones far more often "
                         "than the shards do (%s); --force merges them all the same",
                         path, vidi_message());
    if (error == VIDI_ECANNOT && vidi_stat(shard, &stats) == VIDI_OK)
        return cli_error("%s is of kind %s, and sets of that kind cannot be merged; its shards stay where they are",
                         path, stats.kind);
    return cli_error("%s: its shards cannot be merged: %s", path, vidi_message());
}

/* The first shard is copied, with its key and its history. */
static int join(void *context, const vidi_set *shard)
{
    joining *all = context;
    int error = all->into ? vidi_merge(all->into, shard, all->flags) : vidi_copy(&all->into, shard, NULL);

    return error < 0 ? cannot_join(all->address, shard, error) : CLI_OK;
}

int cli_server_read_whole(vidi_set **set, vidi_cluster *cluster, const char *address, unsigned flags)
{
    joining all = {.address = address, .flags = flags};
    int status = cli_server_each_shard(cluster, address, join, &all);

    if (status != CLI_OK) {
        vidi_close(all.into);
        all.into = NULL;
    }
    *set = all.into;
    return status;
}
