/*
 * vidi merge: merges the sets of several machines into one. Before the first set is merged, all of them are checked:
 * whether each exists, is undamaged, and fits.
 *
 * Only vidi_merge can tell whether two sets fit, because it compares their secret keys. So it is first tried with empty
 * sets, each created like one of the real ones.
 *
 * A new OUT is merged on disk if the others are folders and their kind can do it (vidi_merge_stored). Otherwise it is
 * merged in memory, and its folder is made when it is whole. If OUT exists, its set is loaded and the others are merged
 * into it. merge_server.c merges into a set on a server. Of one that is merged from a server, one shard after the other
 * is read; its first shard stands for it where sets are compared.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "commands/merge_server.h"
#include "ui/options.h"
#include "pipeline/state.h"
#include "vidi/transfer.h"

typedef struct merging {
    const char *path; /* of the set that the others are merged into */
    bool fresh;       /* it is not there yet, or was not completed */
    bool told;        /* the message that it waits has been printed */
    bool raced;       /* another process has made OUT since this one first looked */
    cli_write_options write;
    unsigned flags; /* for vidi_merge */
    vidi_set *into;
    cli_words from; /* the paths of the others */
    vidi_set **sets;
    vidi_cluster **clusters; /* those of them that are on servers; the others are NULL */
    const cli_server_options *server;
} merging;

/* What is added to an error code of vidi/cluster.h. */
enum { AWAY = -1000 };

static const vidi_access reading = {.size = sizeof reading, .flags = VIDI_READ_ONLY};
static const vidi_access loading = {.size = sizeof loading, .flags = VIDI_READ_ONLY | VIDI_NO_MAP};

static bool same_place(const char *a, const char *b)
{
    struct stat one, other;
    return stat(a, &one) == 0 && stat(b, &other) == 0 && one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

static int check_places(const merging *job)
{
    for (size_t i = 0; i < job->from.count; i++) {
        if (same_place(job->path, job->from.list[i]))
            return cli_error("%s is both OUT and IN, and a set cannot be merged into itself", job->path);
        for (size_t j = 0; j < i; j++)
            if (same_place(job->from.list[j], job->from.list[i]))
                return cli_error("%s is given twice", job->from.list[i]);
    }
    return CLI_OK;
}

static int open_first_shard(merging *job, size_t i)
{
    const char *address = job->from.list[i];

    CLI_TRY(cli_server_open(&job->clusters[i], address, job->server, &(cli_server_use){.flags = VIDI_READ_ONLY}));
    int error = vidi_cluster_read_shard(job->clusters[i], 0, &job->sets[i]);
    return error < 0 ? cli_server_error(address, error) : CLI_OK;
}

/* Opens the sets to be merged and verifies them, because opening does not verify a mapped set. */
static int open_all(merging *job)
{
    cli_opening opening = {.flags = VIDI_READ_ONLY, .damage = job->write.accepts ? CLI_DAMAGE_WARNS : CLI_DAMAGE_FAILS};
    for (size_t i = 0; i < job->from.count && !job->sets[i]; i++) {
        if (cli_is_address(job->from.list[i])) {
            CLI_TRY(open_first_shard(job, i));
            continue;
        }
        CLI_TRY(cli_state_open(&job->sets[i], job->from.list[i], &opening));
        int error = vidi_verify(job->sets[i]);
        if (error < 0)
            return cli_state_error(job->from.list[i], error);
    }
    return CLI_OK;
}

/* Returns true if there is no set at path. An interrupted merge may have left a folder without one. */
static bool is_fresh(const char *path)
{
    struct stat about;
    vidi_set *set = NULL;

    if (stat(path, &about) != 0 || !S_ISDIR(about.st_mode))
        return access(path, F_OK) != 0;
    int error = vidi_open(&set, path, &reading);
    vidi_close(set);
    return error == VIDI_EABSENT;
}

static int open_target(merging *job)
{
    job->fresh = is_fresh(job->path);
    if (job->fresh)
        return CLI_OK;
    return cli_state_open_to_write(&job->into, job->path, &job->write, (cli_opening){0});
}

static int empty_like(vidi_set **set, const vidi_set *like)
{
    vidi_options options = VIDI_OPTIONS_INIT;

    options.like = like;
    return vidi_create(set, &options);
}

static const char *advice(int error)
{
    switch (error) {
    case VIDI_EDIFFERS:
        return "; 'vidi --state STATE --like OTHER' makes a set that fits";
    case VIDI_ERATE:
        return "; --force merges them all the same";
    default:
        return "";
    }
}

static int cannot_be_merged(const merging *job, size_t i, int error, const char *message)
{
    cli_shown other, this;
    bool alone = job->fresh && i == 0;

    cli_shown_path(&other, job->fresh ? job->from.list[0] : job->path);
    return cli_error("%s%s%s cannot be merged: %s%s", alone ? "" : other.path, alone ? "" : " and ",
                     cli_shown_path(&this, job->from.list[i]), *message ? message : vidi_strerror(error),
                     advice(error));
}

static int does_not_fit(const merging *job, size_t i, int error)
{
    return cannot_be_merged(job, i, error, vidi_message());
}

/* Without memory for the trial, the merge itself will report what is wrong. */
static int try_fit(const merging *job)
{
    vidi_set *into, *from;
    int status = CLI_OK;

    if (empty_like(&into, job->fresh ? job->sets[0] : job->into) < 0)
        return CLI_OK;
    for (size_t i = 0; i < job->from.count && status == CLI_OK; i++) {
        if (empty_like(&from, job->sets[i]) < 0)
            break;
        int error = vidi_merge(into, from, 0);
        if (error == VIDI_EDIFFERS || error == VIDI_ECANNOT)
            status = does_not_fit(job, i, error);
        vidi_close(from);
    }
    vidi_close(into);
    return status;
}

/* Returns true if the sets can lose pages: sets that keep whole URLs cannot, so there is no rate to try. */
static bool can_lose(const merging *job)
{
    vidi_stats stats = {.size = sizeof stats};

    return vidi_stat(job->sets[0], &stats) != VIDI_OK || !(stats.can & VIDI_KEEPS_URLS);
}

static int merge_shards(const merging *job, vidi_set *into, size_t i)
{
    vidi_stats stats = {.size = sizeof stats};
    vidi_cluster_stats more = {.size = sizeof more};
    int error = vidi_cluster_stat(job->clusters[i], &stats, &more);

    for (uint32_t at = 0; error == VIDI_OK && at < more.shards; at++) {
        vidi_set *shard;
        error = vidi_cluster_read_shard(job->clusters[i], at, &shard);
        if (error < 0)
            break;
        error = vidi_merge(into, shard, job->flags);
        vidi_close(shard);
        if (error < 0)
            return error;
    }
    return error < 0 ? AWAY + error : VIDI_OK;
}

/* A set whose log has removals cannot be merged while it is mapped, so it is read into memory. */
static int merge_one(const merging *job, vidi_set *into, size_t i)
{
    vidi_set *copy;

    if (job->clusters[i])
        return merge_shards(job, into, i);
    int error = vidi_merge(into, job->sets[i], job->flags);

    if (error != VIDI_ECANNOT || vidi_open(&copy, job->from.list[i], &loading) < 0)
        return error;
    error = vidi_merge(into, copy, job->flags);
    vidi_close(copy);
    return error;
}

/*
 * Checks whether OUT and all sets together would lose far more pages than was asked for. The library refuses a single
 * merge before anything changes. Several are tried in memory, so that OUT is not left with some of them. A new OUT is
 * there only when all are merged.
 */
static int try_rate(const merging *job)
{
    vidi_set *all;
    int status = CLI_OK, error;

    if (job->fresh || job->flags & VIDI_MERGE_FORCE || job->from.count < 2 || !can_lose(job) ||
        empty_like(&all, job->into) < 0)
        return CLI_OK;
    error = vidi_merge(all, job->into, 0);
    for (size_t i = 0; i < job->from.count && error == VIDI_OK; i++) {
        error = merge_one(job, all, i);
        if (error == VIDI_ERATE)
            status = does_not_fit(job, i, error);
    }
    vidi_close(all);
    return status;
}

/* ---- a new set, on disk ---- */

/*
 * After OUT could not be made. CLI_GO_ON if another process is making it, or has made it since this one looked: then
 * that set is opened, and merged into.
 */
static int not_made(merging *job, int error)
{
    vidi_close(job->into);
    job->into = NULL;
    if (error == VIDI_EBUSY)
        return cli_state_locked(job->path, job->write.wait, &job->told, "wait for it with --wait");
    if (error != VIDI_EEXIST || job->raced)
        return cli_state_error(job->path, error);
    job->raced = true;
    return CLI_GO_ON;
}

static bool are_folders(const merging *job)
{
    for (size_t i = 0; i < job->from.count; i++)
        if (!cli_state_is_folder(job->from.list[i]))
            return false;
    return true;
}

/* vidi_merge_stored begins its message with the path of the set that is to blame. */
static int blame(merging *job, int error)
{
    const char *message = vidi_message();
    size_t longest = 0, which = 0;

    for (size_t i = 0; i < job->from.count; i++) {
        size_t len = strlen(job->from.list[i]);
        if (len > longest && strncmp(message, job->from.list[i], len) == 0 && strncmp(message + len, ": ", 2) == 0) {
            longest = len;
            which = i;
        }
    }
    if (!longest)
        return not_made(job, error);
    if (error == VIDI_ERATE)
        return cannot_be_merged(job, which, error, message + longest + 2);
    return cli_error("%s", message);
}

/* *done tells whether OUT is there now; if not, the sets must be merged in memory. */
static int merge_on_disk(merging *job, bool *done)
{
    vidi_access access = VIDI_ACCESS_INIT;
    *done = false;

    if (!job->fresh || !are_folders(job))
        return CLI_OK;
    access.flags = job->write.accepts ? VIDI_ACCEPT_DAMAGE : 0;
    int error = vidi_merge_stored(job->path, (const char *const *)job->from.list, job->from.count, job->flags, &access);
    if (error == VIDI_ECANNOT)
        return CLI_OK;
    if (error < 0)
        return blame(job, error);
    *done = true;
    error = vidi_open(&job->into, job->path, &reading);
    return error < 0 ? cli_state_error(job->path, error) : CLI_OK;
}

/* ---- in memory ---- */

static int create_target(merging *job)
{
    int error = job->fresh ? empty_like(&job->into, job->sets[0]) : VIDI_OK;
    return error < 0 ? cli_state_error(job->path, error) : CLI_OK;
}

/* Makes the folder of a new set, which is whole now. */
static int attach_target(merging *job)
{
    int error = job->fresh ? vidi_attach(job->into, job->path, NULL) : VIDI_OK;
    return error < 0 ? not_made(job, error) : CLI_OK;
}

static int merge_all(const merging *job)
{
    for (size_t i = 0; i < job->from.count; i++) {
        int error = merge_one(job, job->into, i);
        if (error < 0) {
            if (error < AWAY)
                cli_server_error(job->from.list[i], error - AWAY);
            else
                does_not_fit(job, i, error);
            if (job->fresh || (error == VIDI_ERATE && i == 0))
                return CLI_ERROR;
            return cli_error("%s may hold a part of them now; run the same command again%s to complete it", job->path,
                             error == VIDI_ERATE ? " with --force" : "");
        }
    }
    return CLI_OK;
}

static int print(const merging *job)
{
    vidi_stats stats;
    cli_number urls;

    CLI_TRY(cli_state_stat(job->into, job->path, &stats));
    return cli_print_result("%s: %s after merging %zu %s\n", job->path, cli_human_urls(&urls, stats.count),
                            job->from.count, job->from.count == 1 ? "set" : "sets");
}

static int merge_in_memory(merging *job)
{
    int status = try_rate(job);

    if (status == CLI_OK)
        status = create_target(job);
    if (status == CLI_OK)
        status = merge_all(job);
    return status == CLI_OK ? attach_target(job) : status;
}

static int try_merge(merging *job)
{
    int status = open_target(job);
    bool done = false;

    if (status == CLI_OK)
        status = open_all(job);
    if (status == CLI_OK)
        status = try_fit(job);
    if (status == CLI_OK)
        status = merge_on_disk(job, &done);
    if (status == CLI_OK && !done)
        status = merge_in_memory(job);
    return status;
}

static int merge(merging *job)
{
    int status = check_places(job);

    if (status == CLI_OK)
        while ((status = try_merge(job)) == CLI_GO_ON)
            continue;
    return status == CLI_OK ? print(job) : status;
}

typedef struct merge_options {
    cli_write_options write;
    bool force;
    cli_server_options server;
} merge_options;

static int run(void *values, cli_words words)
{
    const merge_options *options = values;
    merging job = {.path = words.list[0],
                   .write = options->write,
                   .flags = options->force ? VIDI_MERGE_FORCE : 0,
                   .from = {words.list + 1, words.count - 1},
                   .server = &options->server};

    CLI_TRY(cli_server_check_any(words, &options->server));
    if (cli_is_address(job.path))
        return cli_merge_into_server(job.path, job.from, &options->write, &options->server);
    job.sets = calloc(job.from.count, sizeof *job.sets);
    job.clusters = calloc(job.from.count, sizeof *job.clusters);
    int status = job.sets && job.clusters ? merge(&job) : cli_error("out of memory");
    vidi_close(job.into);
    for (size_t i = 0; job.sets && i < job.from.count; i++)
        vidi_close(job.sets[i]);
    for (size_t i = 0; job.clusters && i < job.from.count; i++)
        vidi_cluster_close(job.clusters[i]);
    free(job.sets);
    free(job.clusters);
    return status;
}

static const cli_option options_table[] = {
    {"force", 0, CLI_FLAG, offsetof(merge_options, force), NULL, "Merge even if the error rate becomes too high",
     "Without it, a merge is refused if it would raise the error rate to more than twice what the sets were made for.",
     0},
    {"wait", 0, CLI_FLAG, offsetof(merge_options, write.wait), NULL, "Wait while another process has OUT locked",
     CLI_WAIT_DETAILS, 0},
    {"accept-damage", 0, CLI_FLAG, offsetof(merge_options, write.accepts), NULL,
     "Go on although part of a set is damaged",
     "Without this option, a set that is damaged or lacks a file is an error, and OUT is not changed. URLs that are "
     "gone will be new again.",
     0},
    CLI_REPLICA_OPTION(offsetof(merge_options, server)),
    CLI_SERVER_OPTIONS(offsetof(merge_options, server)),
    CLI_OPTIONS_END,
};

const cli_command cli_merge = {
    .name = "merge",
    .summary = "Merge saved sets into one",
    .usage = "vidi merge [OPTION]... OUT IN...",
    .about = "Adds the URLs of the saved sets IN to the saved set OUT.",
    .details =
        "If OUT does not exist, it is created with the settings of the first IN. Each IN is a folder, which "
        "may be in use, or a file that 'vidi export' wrote; they are not changed.\n"
        "Sets can be merged only if they have the same canonical form. Sets of the kinds hashset, sorted "
        "and list keep their URLs, so nothing else needs to be the same. Sets of the other kinds keep only "
        "hashes, so they must also agree in kind, parameters, key, hash function and epoch: make each with "
        "'vidi --state STATE --like OTHER', or 'vidi export' one set and 'vidi import' the file on each "
        "machine.\n"
        "All sets are opened, verified and compared before the first one is merged. If two do not fit "
        "together, an error says what differs. A new OUT appears only when it is complete.\n"
        "Pages that one of the sets lost stay lost: its expected losses are added, in proportion to how "
        "many of its URLs are new. So merging a set again adds nothing.\n"
        "A set made for n URLs loses far more pages when it holds the URLs of two such sets. If the error "
        "rate would become more than twice the one that was asked for, the merge is refused. Make the sets "
        "with a capacity for all URLs together, or merge them with --force.\n"
        "OUT and IN may also be addresses of sets on servers, such as redis://localhost/crawl. From a server, one "
        "shard after the other is read. A set can be merged into one on a server only if it keeps its URLs, "
        "because it must be known which shard each URL belongs to; OUT must exist ('vidi init').\n"
        "The exit status is 0, or 2 after an error.",
    .examples = "  vidi merge all.state one.state two.state three.state\n"
                "  vidi merge all.state from-other-machines/*.vidi\n"
                "  vidi merge all.state redis://localhost/crawl\n",
    .options = options_table,
    .size = sizeof(merge_options),
    .common = "force wait accept-damage help",
    .operand = "STATE",
    .least = 2,
    .run = run,
};
