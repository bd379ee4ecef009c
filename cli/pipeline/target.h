/*
 * The target of a job: the set that its lines are added to, looked up in or removed from. It is a set of this process,
 * in memory or in a folder, or one on a server (vidi/cluster.h), which other processes use at the same time.
 *
 * What both can do stands here. What only a set of this process can do, such as taking digests of URLs instead of the
 * URLs, or keeping a note, callers do with `here`.
 */
#ifndef VIDI_CLI_PIPELINE_TARGET_H
#define VIDI_CLI_PIPELINE_TARGET_H

#include "cli.h"
#include "vidi/cluster.h"

/* One of the two, or neither: there is no set. It belongs to the caller. */
typedef struct cli_target {
    vidi_set *here;
    vidi_cluster *away;
} cli_target;

static inline bool cli_target_is_there(const cli_target *target)
{
    return target->here || target->away;
}

/* As the functions of vidi.h. */
int cli_target_add_batch(const cli_target *target, const vidi_str *urls, size_t n, uint8_t *verdicts, uint64_t *marks);
int cli_target_has_batch(const cli_target *target, const vidi_str *urls, size_t n, uint8_t *verdicts);
int cli_target_remove(const cli_target *target, vidi_str url);
int cli_target_mark(const cli_target *target, uint64_t *mark);
int cli_target_commit_to(const cli_target *target, uint64_t mark);
int cli_target_sync(const cli_target *target);

/* *more is all 0 for a set of this process; it may be NULL. */
int cli_target_stat(const cli_target *target, vidi_stats *stats, vidi_cluster_stats *more);

const struct vidi_canon *cli_target_canon(const cli_target *target);

/* What was wrong in this thread's last call that failed with `error`. */
const char *cli_target_message(const cli_target *target, int error);

/* CLI_OK; or, for a negative code, CLI_ERROR after printing that message. */
int cli_target_status(const cli_target *target, int error);

/* A signal has come: from now on, calls wait for a server for some seconds at most, also one that runs in another thread. */
void cli_target_hurry(const cli_target *target);

void cli_target_close(cli_target *target);

#endif
