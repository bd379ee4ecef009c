/*
 * The set of a job: see target.h.
 */
#include "pipeline/target.h"

#include "vidi/url.h"

enum {
    HURRY_MS = 5000, /* after a signal */
    GIVEN_UP_MS = 1000
};

/*
 * A server that was asked in vain for as long as calls are patient is given up, and the run ends. What is done on the
 * way out does not wait as long again.
 */
static int give_up(const cli_target *target, int error)
{
    if (error == VIDI_EIO)
        vidi_cluster_hurry(target->away, GIVEN_UP_MS);
    return error;
}

int cli_target_add_batch(const cli_target *target, const vidi_str *urls, size_t n, uint8_t *verdicts, uint64_t *marks)
{
    return target->away ? give_up(target, vidi_cluster_add_batch(target->away, urls, n, verdicts, marks))
                        : vidi_add_batch(target->here, urls, n, verdicts, marks);
}

int cli_target_has_batch(const cli_target *target, const vidi_str *urls, size_t n, uint8_t *verdicts)
{
    return target->away ? give_up(target, vidi_cluster_has_batch(target->away, urls, n, verdicts))
                        : vidi_has_batch(target->here, urls, n, verdicts);
}

int cli_target_remove(const cli_target *target, vidi_str url)
{
    return target->away ? give_up(target, vidi_cluster_remove(target->away, url)) : vidi_remove(target->here, url);
}

int cli_target_mark(const cli_target *target, uint64_t *mark)
{
    return target->away ? vidi_cluster_mark(target->away, mark) : vidi_mark(target->here, mark);
}

int cli_target_commit_to(const cli_target *target, uint64_t mark)
{
    return target->away ? give_up(target, vidi_cluster_commit_to(target->away, mark))
                        : vidi_commit_to(target->here, mark);
}

/* A server syncs as it is configured. What is committed has reached it. */
int cli_target_sync(const cli_target *target)
{
    return target->away ? VIDI_OK : vidi_sync(target->here);
}

int cli_target_stat(const cli_target *target, vidi_stats *stats, vidi_cluster_stats *more)
{
    vidi_cluster_stats ignored = {0};

    more = more ? more : &ignored;
    *more = (vidi_cluster_stats){.size = sizeof *more};
    return target->away ? give_up(target, vidi_cluster_stat(target->away, stats, more))
                        : vidi_stat(target->here, stats);
}

const struct vidi_canon *cli_target_canon(const cli_target *target)
{
    return target->away ? vidi_cluster_canon_of(target->away) : vidi_canon_of(target->here);
}

const char *cli_target_message(const cli_target *target, int error)
{
    const char *message = target->away ? vidi_cluster_message() : vidi_message();
    return message && *message ? message : vidi_strerror(error);
}

int cli_target_status(const cli_target *target, int error)
{
    return error < 0 ? cli_error("%s", cli_target_message(target, error)) : CLI_OK;
}

void cli_target_hurry(const cli_target *target)
{
    if (target->away)
        vidi_cluster_hurry(target->away, HURRY_MS);
}

void cli_target_close(cli_target *target)
{
    vidi_close(target->here);
    vidi_cluster_close(target->away);
    *target = (cli_target){0};
}
