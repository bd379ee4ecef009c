/*
 * A crawl by many processes: the options of one of them, and 'vidi crawl status', 'pause', 'resume' and 'stop', which
 * talk to the fleet's server and not to a process.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "commands/crawl/crawl.h"
#include "pipeline/state.h"
#include "ui/run_statistics.h"

enum { MOST_LEASE = 3600 /* seconds */ };

/* ---- options ---- */

/* An option that would choose the set; NULL: there is none. */
static const char *chooses_set(const cli_crawl_options *options)
{
    const cli_set_options *set = &options->set;

    return set->kind        ? "kind"
           : set->params    ? "param"
           : set->capacity  ? "capacity"
           : set->lost >= 0 ? "lost"
           : set->error > 0 ? "error"
           : set->memory    ? "memory"
                            : NULL;
}

static int check_address(const char *address)
{
    return vidi_cluster_is_address(address)
               ? CLI_OK
               : cli_error("'%.200s' is not the address of a fleet, such as redis://server/name", address);
}

static int check_files(const cli_crawl_options *options)
{
    const char *const files[][2] = {
        {"ca", options->fleet_ca}, {"cert", options->fleet_cert}, {"key", options->fleet_key}};

    if (!options->fleet_cert != !options->fleet_key)
        return cli_error("--fleet-cert and --fleet-key belong together; give both");
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (files[i][1] && access(files[i][1], R_OK) != 0)
            return cli_error("--fleet-%s: cannot read %s: %s", files[i][0], files[i][1], strerror(errno));
    return CLI_OK;
}

/* Options that belong to --fleet, or cannot be used with it. */
static int check_options(const cli_crawl_options *options)
{
    const char *alone = options->lease > 0       ? "lease"
                        : options->wait_replicas ? "wait-replicas"
                        : options->fleet_ca      ? "fleet-ca"
                        : options->fleet_cert    ? "fleet-cert"
                        : options->fleet_key     ? "fleet-key"
                                                 : NULL;
    const char *set = chooses_set(options);

    if (options->set.state && vidi_cluster_is_address(options->set.state))
        return cli_error("--state is a folder of this process; name the set that processes share with --fleet");
    if (!options->fleet)
        return alone ? cli_error("--%s is for --fleet", alone) : CLI_OK;
    if (set)
        return cli_error("--%s cannot be used with --fleet: 'vidi init' chooses the set of a fleet", set);
    if (options->continuous)
        return cli_error("--continuous cannot be used with --fleet; --revisit begins the next visit of all processes");
    if (options->check)
        return cli_error("--check cannot be used with --fleet: links and pages are in different folders");
    if (options->lease > 0 && (options->lease < 1 || options->lease > MOST_LEASE))
        return cli_error("--lease needs 1 to %d seconds", MOST_LEASE);
    if (options->depth != CLI_CRAWL_ANY_DEPTH && options->depth > 0)
        cli_warning(
            "--depth with --fleet: the depth of a page is that of the way on which it was found first, so pages "
            "may be left out that a shorter way leads to");
    return CLI_OK;
}

int cli_crawl_fleet_read(cli_crawl_request *request, const cli_crawl_options *options)
{
    crawl_options *into = &request->crawl;
    int status = check_options(options);

    if (status != CLI_OK || !options->fleet)
        return status;
    if (check_address(options->fleet) != CLI_OK || check_files(options) != CLI_OK)
        return CLI_ERROR;
    vidi_cluster_show_address(options->fleet, request->fleet);
    into->fleet = options->fleet;
    into->fleet_shown = request->fleet;
    into->fleet_replicas = (uint32_t)options->wait_replicas;
    into->fleet_lease = llround(options->lease * 1000);
    into->fleet_ca = options->fleet_ca;
    into->fleet_cert = options->fleet_cert;
    into->fleet_key = options->fleet_key;
    return CLI_OK;
}

/* ---- what it is doing ---- */

static const char *state_name(fleet_state state)
{
    static const char *const names[] = {"running", "paused", "stopping", "finished"};

    return (size_t)state < sizeof names / sizeof *names ? names[state] : "unknown";
}

static const char *doing(const fleet_member *member)
{
    return member->dead ? "dead" : member->leaving ? "leaving" : member->idle ? "idle" : "busy";
}

static fleet_member sum_of(const fleet_figures *figures)
{
    fleet_member sum = figures->gone;

    for (size_t i = 0; i < figures->member_count; i++) {
        const fleet_member *one = &figures->members[i];
        sum.done += one->done;
        sum.repeated += one->repeated;
        sum.sent += one->sent;
        sum.taken += one->taken;
        sum.forwarded += one->forwarded;
        sum.waiting += one->waiting;
    }
    return sum;
}

static void put_member(json_writer *json, const char *key, const fleet_member *member)
{
    json_open(json, key, '{');
    if (!key) {
        json_add_string(json, "name", member->name);
        json_add_string(json, "state", doing(member));
        json_add_count(json, "adopted", member->adopted);
        json_add_count(json, "waiting", member->waiting);
    }
    json_add_count(json, "done", member->done);
    json_add_count(json, "repeated", member->repeated);
    json_add_count(json, "sent", member->sent);
    json_add_count(json, "taken", member->taken);
    json_add_count(json, "forwarded", member->forwarded);
    json_close(json, '}');
}

static int put_json(const fleet_figures *figures, const char *shown, cli_out *out)
{
    json_writer json = cli_json_to(out);

    json_open(&json, NULL, '{');
    json_add_string(&json, "fleet", shown);
    json_add_string(&json, "state", state_name(figures->state));
    json_add_count(&json, "visit", figures->visit);
    json_add_count(&json, "version", figures->version);
    json_open(&json, "members", '[');
    for (size_t i = 0; i < figures->member_count; i++)
        put_member(&json, NULL, &figures->members[i]);
    json_close(&json, ']');
    put_member(&json, "gone", &figures->gone);
    json_add_count(&json, "claims", figures->cluster.claims);
    json_add_count(&json, "expired", figures->cluster.expired);
    json_add_count(&json, "urls", figures->set.count);
    json_add_count(&json, "shards", figures->cluster.shards);
    json_add_count(&json, "nodes", figures->cluster.nodes);
    json_add_count(&json, "memory_bytes", figures->set.bytes);
    json_add_string(&json, "kind", figures->set.kind);
    json_add_string(&json, "canon", figures->set.canon);
    json_add_real(&json, "expected_lost", figures->set.expected_lost);
    json_add_string(&json, "expected_lost_is", cli_meaning_name(figures->set.fp_meaning));
    json_close(&json, '}');
    cli_out_text(out, "\n");
    return CLI_OK;
}

static int put_summary(const fleet_figures *figures, const char *shown, cli_out *out)
{
    fleet_member sum = sum_of(figures);
    cli_table table = {.layout = "ll"};
    cli_number one, two, lost;

    cli_table_text(&table, "fleet", shown);
    cli_table_text(&table, "state", state_name(figures->state));
    cli_table_count(&table, "visit", figures->visit);
    cli_table_count(&table, "members", figures->member_count);
    cli_table_cell(&table, "done");
    cli_table_cell(&table, "%s, at least %s of them twice", cli_human_urls(&one, sum.done),
                   cli_human_count(&two, sum.repeated));
    cli_table_cell(&table, "to fetch");
    cli_table_cell(&table, "%s, %s of them by nobody yet", cli_human_urls(&one, figures->cluster.claims),
                   cli_human_count(&two, figures->cluster.expired));
    cli_table_cell(&table, "set");
    cli_table_cell(&table, "%s in %u shard%s on %u server%s", cli_human_urls(&one, figures->set.count),
                   figures->cluster.shards, figures->cluster.shards == 1 ? "" : "s", figures->cluster.nodes,
                   figures->cluster.nodes == 1 ? "" : "s");
    cli_table_text(&table, "expected pages lost",
                   cli_human_expected(&lost, figures->set.expected_lost, cli_meaning_name(figures->set.fp_meaning)));
    return cli_table_print(&table, out);
}

static int put_members(const fleet_figures *figures, cli_out *out)
{
    static const char *const heads[] = {"member", "", "done", "sent", "taken", "forwarded", "waiting", NULL};
    cli_table table = {.layout = "llrrrrr"};
    cli_number number;

    if (figures->member_count == 0)
        return CLI_OK;
    cli_out_text(out, "\n");
    cli_table_heads(&table, heads);
    for (size_t i = 0; i < figures->member_count; i++) {
        const fleet_member *member = &figures->members[i];
        const uint64_t counts[] = {member->done, member->sent, member->taken, member->forwarded, member->waiting};
        cli_table_cell(&table, "%s", member->name);
        cli_table_cell(&table, "%s", doing(member));
        for (size_t k = 0; k < sizeof counts / sizeof *counts; k++)
            cli_table_cell(&table, "%s", cli_human_count(&number, counts[k]));
    }
    return cli_table_print(&table, out);
}

static vidi_cluster_access access_of(const cli_crawl_options *options)
{
    vidi_cluster_access access = VIDI_CLUSTER_ACCESS_INIT;

    access.ca_file = options->fleet_ca;
    access.cert_file = options->fleet_cert;
    access.key_file = options->fleet_key;
    return access;
}

int cli_crawl_fleet_status(const char *address, const cli_crawl_options *options)
{
    char shown[VIDI_CLUSTER_ADDRESS_ROOM], why[FLEET_WHY];
    vidi_cluster_access access = access_of(options);
    fleet_figures figures;
    cli_out out;

    if (check_address(address) != CLI_OK || check_files(options) != CLI_OK)
        return CLI_ERROR;
    if (fleet_look(address, &access, &figures, why) < 0)
        return cli_error("%s", why);
    vidi_cluster_show_address(address, shown);
    cli_out_init(&out, STDOUT_FILENO);
    int status = options->json ? put_json(&figures, shown, &out) : put_summary(&figures, shown, &out);
    if (status == CLI_OK && !options->json)
        status = put_members(&figures, &out);
    fleet_figures_free(&figures);
    return cli_out_end(&out, status);
}

int cli_crawl_fleet_change(const char *address, const cli_crawl_options *options, const char *action)
{
    fleet_state state = strcmp(action, "pause") == 0    ? FLEET_PAUSED
                        : strcmp(action, "resume") == 0 ? FLEET_RUNNING
                                                        : FLEET_STOPPING;
    vidi_cluster_access access = access_of(options);
    char why[FLEET_WHY];

    if (check_address(address) != CLI_OK || check_files(options) != CLI_OK)
        return CLI_ERROR;
    return fleet_set_state(address, &access, state, why) < 0 ? cli_error("%s", why) : CLI_OK;
}
