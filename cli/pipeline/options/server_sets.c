/*
 * The set of a run if it is on a server: see set_options.h. Such a set is there already, because `vidi init` makes it, so
 * options that say how to make one are errors. URLs are claimed in the name of this run.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "pipeline/options/canon_options.h"
#include "pipeline/options/set_options.h"

/* ---- options that do not fit ---- */

static int refuse_making(const char *option)
{
    return cli_error("%s says how to make a set, and a set on a server is made by 'vidi init': give it there", option);
}

static int check_making(const cli_set_options *options)
{
    const struct {
        const char *option;
        bool given;
    } making[] = {
        {"--capacity", options->capacity != 0},    {"--error", options->error > 0},
        {"--memory", options->memory != 0},        {"--param", options->params != NULL},
        {"--like", options->like != NULL},         {"--key-from", options->key_from != NULL},
        {"--key-file", options->key_file != NULL},
    };

    for (size_t i = 0; i < sizeof making / sizeof *making; i++)
        if (making[i].given)
            return refuse_making(making[i].option);
    return CLI_OK;
}

static int check(const cli_set_options *options)
{
    if (options->epoch)
        return cli_error("--epoch new is for folders; 'vidi rotate' begins a new epoch of a set on a server, for all "
                         "who use it");
    if (options->wait)
        return cli_error("--wait is for folders; nobody locks a set on a server");
    if (options->accepts)
        return cli_error("--accept-damage is for folders");
    return check_making(options);
}

/* ---- opening ---- */

/* Tells this run from every other one, and people who list claims where it runs. */
static int draw_owner(char owner[CLI_OWNER_ROOM])
{
    char host[HOST_NAME_MAX + 1] = "";
    uint64_t number;

    if (getrandom(&number, sizeof number, 0) != (ssize_t)sizeof number)
        return cli_error("cannot draw a random name: %s", strerror(errno));
    (void)gethostname(host, sizeof host - 1);
    snprintf(owner, CLI_OWNER_ROOM, "vidi.%.64s.%016llx", host, (unsigned long long)number);
    return CLI_OK;
}

static int open_dry(cli_sets *sets, const cli_set_options *options, const cli_server_use *use)
{
    vidi_stats stats;
    cli_server_use reading = {.flags = VIDI_READ_ONLY, .invalid = use->invalid};

    CLI_TRY(cli_server_open(&sets->also.away, options->state, &options->server, &reading));
    CLI_TRY(cli_server_stat(sets->also.away, options->state, &stats, NULL));
    CLI_TRY(cli_set_check_stats(&stats, options, sets->tracking));
    return cli_sets_create_beside(sets, stats.canon, use->invalid);
}

int cli_sets_open_server(cli_sets *sets, const cli_set_options *options)
{
    cli_server_use use = {.flags = VIDI_MANUAL_COMMIT | VIDI_TELL_HELD, .owner = sets->owner};
    vidi_stats stats;

    CLI_TRY(check(options));
    CLI_TRY(cli_invalid_parse(options->invalid, &use.invalid));
    if (options->dry_run)
        return open_dry(sets, options, &use);
    sets->durable = true;
    CLI_TRY(draw_owner(sets->owner));
    CLI_TRY(cli_server_open(&sets->target.away, options->state, &options->server, &use));
    CLI_TRY(cli_server_stat(sets->target.away, options->state, &stats, NULL));
    return cli_set_check_stats(&stats, options, sets->tracking);
}
