/*
 * vidi export: writes a saved set as one file that any machine can read. It is written under
 * a temporary name and renamed once it is complete and on disk, so an older file is not changed until then. The shards
 * of a set on a server are first merged into one set in memory.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/files.h"
#include "ui/options.h"
#include "pipeline/output/redis_load.h"
#include "pipeline/state.h"
#include "vidi/transfer.h"

#define NEW_SUFFIX ".new"

/* What is written. */
typedef struct exported {
    vidi_set *set;
    const char *path;  /* of the state, as it may be shown */
    const char *redis; /* the key to load it to, on a server; NULL: the set as it is */
} exported;

static int write_some(void *context, const void *data, size_t size)
{
    cli_out *out = context;
    cli_out_bytes(out, data, size);
    return out->error;
}

/* Writes the set to an open file; `name` is for messages. */
static int write_set(const exported *what, int fd, const char *name)
{
    cli_out out;

    cli_out_init(&out, fd);
    int error = what->redis ? cli_redis_load(what->set, what->redis, &out) : vidi_write(what->set, write_some, &out, 0);
    int status = cli_out_flush(&out);
    if (status == CLI_ERROR)
        cli_error("cannot write %s: %s", name, strerror(out.error));
    else if (status == CLI_OK && error < 0)
        status = cli_state_error(what->path, error);
    free(out.buffer);
    return status;
}

static int cannot_write(const char *name)
{
    return cli_error("cannot write %s: %s", name, strerror(errno));
}

/* Writes the file under a temporary name. Only its owner may read it, because the key is inside. */
static int write_new(const exported *what, const char *name, const char *new_name)
{
    if (unlink(new_name) != 0 && errno != ENOENT) /* left by a process that was killed */
        return cannot_write(name);
    int fd = (int)TEMP_FAILURE_RETRY(open(new_name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (fd < 0)
        return cannot_write(name);
    int status = write_set(what, fd, name);
    if (status == CLI_OK && TEMP_FAILURE_RETRY(fsync(fd)) != 0)
        status = cannot_write(name);
    if (close(fd) != 0 && status == CLI_OK)
        status = cannot_write(name);
    return status;
}

/* target: the file that `name` links to, or `name` itself. */
static int replace_file(const exported *what, const char *name, const char *target)
{
    char *new_name;

    if (asprintf(&new_name, "%s" NEW_SUFFIX, target) < 0)
        return cli_error("out of memory");
    int status = write_new(what, name, new_name);
    if (status == CLI_OK && rename(new_name, target) != 0)
        status = cannot_write(name);
    if (status == CLI_OK && (errno = file_sync_folder_of(target)) != 0)
        status = cannot_write(name);
    else if (status != CLI_OK)
        unlink(new_name);
    free(new_name);
    return status;
}

/* Anything but a regular file, such as a pipe, is written to and not replaced. */
static int write_device(const exported *what, const char *name)
{
    int fd = (int)TEMP_FAILURE_RETRY(open(name, O_WRONLY | O_CLOEXEC));

    if (fd < 0)
        return cannot_write(name);
    int status = write_set(what, fd, name);
    if (close(fd) != 0 && status == CLI_OK)
        status = cannot_write(name);
    return status;
}

/* The file of '> FILE' is made by the shell, with the mode that the user's umask gives. */
static void warn_of_readers(void)
{
    struct stat about;

    if (fstat(STDOUT_FILENO, &about) == 0 && S_ISREG(about.st_mode) && about.st_mode & (S_IRGRP | S_IROTH))
        cli_warning("others may read the file that standard output goes to (mode %03o), and it contains the set's key; "
                    "'vidi export STATE FILE' makes a file that only its owner may read",
                    (unsigned)about.st_mode & 0777);
}

static int write_file(const exported *what, const char *name)
{
    struct stat about;

    if (strcmp(name, "-") == 0) {
        warn_of_readers();
        return write_set(what, STDOUT_FILENO, "standard output");
    }
    if (stat(name, &about) != 0)
        return replace_file(what, name, name);
    if (!S_ISREG(about.st_mode))
        return write_device(what, name);
    char *real = realpath(name, NULL); /* a link stays a link */
    int status = real ? replace_file(what, name, real) : cannot_write(name);
    free(real);
    return status;
}

typedef struct export_options {
    bool accepts; /* that part of the set is damaged */
    bool force;
    const char *redis;
    cli_server_options server;
} export_options;

static int open_set(vidi_set **set, const char *state, const export_options *options)
{
    cli_opening opening = {.flags = VIDI_READ_ONLY | VIDI_NO_MAP,
                           .damage = options->accepts ? CLI_DAMAGE_WARNS : CLI_DAMAGE_FAILS};
    vidi_cluster *cluster;

    *set = NULL;
    CLI_TRY(cli_server_check(state, &options->server));
    if (!cli_is_address(state))
        return options->force ? cli_error("--force is for sets on servers, whose shards are merged")
                              : cli_state_open(set, state, &opening);
    CLI_TRY(cli_write_check_address(&(cli_write_options){.accepts = options->accepts}));
    CLI_TRY(cli_server_open(&cluster, state, &options->server, &(cli_server_use){.flags = VIDI_READ_ONLY}));
    int status = cli_server_read_whole(set, cluster, state, options->force ? VIDI_MERGE_FORCE : 0);
    vidi_cluster_close(cluster);
    return status;
}

static int run(void *values, cli_words words)
{
    const export_options *options = values;
    const char *name = words.count > 1 ? words.list[1] : "-";
    if (strcmp(name, "-") == 0 && isatty(STDOUT_FILENO))
        return cli_error(
            "standard output is a terminal, and an exported set is binary; name a file, or redirect the output");
    if (cli_state_is_folder(name))
        return cli_error("cannot write %s: %s; name a file in it", name, strerror(EISDIR));
    cli_shown shown;
    exported what = {.path = cli_shown_path(&shown, words.list[0]), .redis = options->redis};
    CLI_TRY(open_set(&what.set, words.list[0], options));
    int status = write_file(&what, name);
    vidi_close(what.set);
    return status;
}

static const cli_option options_table[] = {
    {"accept-damage", 0, CLI_FLAG, offsetof(export_options, accepts), NULL, "Go on although part of the set is damaged",
     "Without this option, a set that is damaged or lacks a file is an error, and nothing is written.", 0},
    {"force", 0, CLI_FLAG, offsetof(export_options, force), NULL, "Of a server: merge shards at any error rate",
     "Each shard is asked for its own URLs alone, and the exported set for all. Without this option, a set is not "
     "exported if that would raise the error rate to more than twice what it was made for.",
     0},
    {"redis", 0, CLI_TEXT, offsetof(export_options, redis), "KEY", "Write commands that load the set into Redis as KEY",
     "The output is for 'redis-cli --pipe': one VIDI.LOAD command for each 16 MiB of the set. The server, Redis or "
     "Valkey, must have loaded vidi's module, and KEY must not exist. A kept previous epoch is included.",
     0},
    CLI_SERVER_OPTIONS(offsetof(export_options, server)),
    CLI_OPTIONS_END,
};

const cli_command cli_export = {
    .name = "export",
    .summary = "Write a saved set as one file, for backups and other machines",
    .usage = "vidi export [OPTION]... STATE [FILE]",
    .about = "Writes a saved set as one file that any machine can read, to FILE or standard output.",
    .details =
        "The set may be in use: the output has what was committed when the command began. Everything is "
        "verified while it is read. This takes as much memory as the set.\n"
        "The set is written to FILE.new, which is renamed to FILE once it is complete and on disk; until "
        "then an existing FILE is not changed. Only its owner may read it (mode 0600), because it contains "
        "the set's key: whoever has the key can choose which pages you lose. You are warned if standard "
        "output is a file that others may read. An epoch that was kept with 'vidi rotate --keep-previous' "
        "is left out, except with --redis.\n"
        "STATE may also be the address of a set on a server, such as redis://localhost/crawl. One shard after the "
        "other is read and merged into one set in memory, so URLs that are added meanwhile may be missing. Its "
        "kind must be one that can be merged, such as fingerprint.\n"
        "'vidi import' turns the file into a saved set again. 'vidi info', 'vidi check' and 'vidi merge' "
        "read the file directly.\n"
        "The exit status is 0, or 2 after an error.",
    .examples = "  vidi export crawl.state crawl.vidi\n"
                "  vidi export crawl.state | zstd > crawl.vidi.zst\n"
                "  vidi export crawl.state --redis crawl | redis-cli --pipe\n",
    .options = options_table,
    .size = sizeof(export_options),
    .common = "redis accept-damage help",
    .operand = "STATE",
    .least = 1,
    .most = 2,
    .run = run,
};
