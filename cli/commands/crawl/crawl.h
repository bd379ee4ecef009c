/*
 * vidi crawl: what its files share.
 *
 *   crawl.c          the command, its options and their help
 *   crawl_options.c  checks the options and turns them into those of the crawl
 *   crawl_seeds.c    the URLs to begin with
 *   crawl_remembered.c  seeds and options of an earlier command on the same state
 *   crawl_network.c  --allow-net, --resolve, --proxy, --header, --agent, --contact
 *   crawl_run.c      runs the crawl: progress, signals, exit status
 *   crawl_lines.c    --jsonl: a line for each URL
 *   crawl_top.c      what a crawl is doing: 'vidi top'
 *   crawl_report.c   what became of a crawl, as text and JSON
 *   crawl_broken.c   its broken links, as text and JSON
 *   crawl_junit.c    the links that were checked, for CI systems
 *   crawl_changes.c  what a visit has found to be different
 *   crawl_cdxj.c     the index of its archive
 *   crawl_fleet.c    --fleet; what a fleet is doing, and telling it to pause, resume or stop
 *   crawl_joined.c   what became of a crawl that several folders share
 *   crawl_check.c    verifies everything that it has kept
 *   crawl_export.c   its archive as one file or as a folder of files
 */
#ifndef VIDI_CLI_COMMANDS_CRAWL_CRAWL_H
#define VIDI_CLI_COMMANDS_CRAWL_CRAWL_H

#include "cli.h"
#include "crawler/crawl/crawl.h"
#include "crawler/report/report.h"
#include "fleet/links/fleet.h"
#include "pipeline/options/set_options.h"
#include "ui/output.h"

/* The command line. */
typedef struct cli_crawl_options {
    cli_set_options set; /* its `state` is the folder of the crawl, which has more in it than the set */
    cli_words seed_files, include, exclude, headers, allow_net, resolve;
    const char *scope, *order, *site_budget, *jsonl, *contact, *agent, *user_agent, *ca_file, *proxy, *color, *accept,
        *junit, *ignore_changes;
    const char *fleet, *fleet_ca, *fleet_cert, *fleet_key;
    uint64_t wait_replicas;
    double lease;            /* seconds; 0: not given */
    const char *output, *to; /* of the actions wacz; extract and changes */
    uint64_t from_visit;     /* of the action changes, whose last visit is `to` */
    uint64_t depth;          /* CLI_CRAWL_ANY_DEPTH: no limit */
    uint64_t max_pages, max_bytes, max_host_pages, max_queries, max_url, max_repeat, max_redirects, max_body,
        max_unpacked;
    uint64_t max_sites, max_address_sites;
    uint64_t per_host, retries, connections, threads, budget;
    double max_time, connect_timeout, silence_timeout, total_timeout; /* seconds; 0: not given */
    double delay;                                                     /* negative: not given */
    cli_words given;     /* names and values of the options on the command line, for crawl_remembered.c */
    bool rewrite, watch; /* of extract, of report */
    bool ignore_robots, cookies;
    bool resources, pages_only, check, json, revisit, continuous, rebuild_seen, no_store, no_sitemaps, quiet, progress;
    bool fragments, internal; /* of --check */
} cli_crawl_options;

#define CLI_CRAWL_ANY_DEPTH UINT64_MAX

/* ---- seeds ---- */

/* Serialised URLs; may have a user name and a password. Begins as {0}. */
typedef struct cli_crawl_seeds {
    vidi_str *urls;
    size_t count, room;
    uint64_t bad; /* lines of files that were left out, each with a message */
    bool secret;  /* one of them has a user name or a password */
} cli_crawl_seeds;

/*
 * Reads the words, "-" for standard input, then the files. CLI_OK, or CLI_ERROR with a message. Lines of a file that are
 * blank or begin with '#' are skipped, and those that cannot be crawled are left out.
 */
int cli_crawl_seeds_read(cli_crawl_seeds *seeds, cli_words words, cli_words files);
/* Adds a copy of a serialised URL. CLI_OK, or CLI_ERROR with a message. */
int cli_crawl_seeds_keep(cli_crawl_seeds *seeds, vidi_str url);
void cli_crawl_seeds_free(cli_crawl_seeds *seeds);

/* ---- network ---- */

/* A name whose addresses the user has given. */
typedef struct cli_crawl_host {
    const char *name;
    size_t length;
    const char *addresses; /* with commas between */
} cli_crawl_host;

/* Begins as {0}. */
typedef struct cli_crawl_network {
    fetch_net *nets;
    size_t net_count;
    cli_crawl_host *hosts;
    size_t host_count;
} cli_crawl_network;

/* Checks the options about the network. CLI_OK, or CLI_ERROR with a message. */
int cli_crawl_network_read(cli_crawl_network *network, const cli_crawl_options *options);
void cli_crawl_network_free(cli_crawl_network *network);

/* A fetch_resolver: knows the names of --resolve and asks the system for all others. The context is the network. */
int cli_crawl_resolve(void *context, const char *host, fetch_address *addresses, int room);

/* ---- lines ---- */

typedef struct cli_crawl_lines {
    cli_out out; /* every line is built here */
} cli_crawl_lines;

void cli_crawl_lines_open(cli_crawl_lines *lines);
void cli_crawl_lines_close(cli_crawl_lines *lines);

/* A field of an object; null if there is no text, or the number is not known. */
void cli_crawl_text_or_null(json_writer *json, const char *key, vidi_str text);
void cli_crawl_count_or_null(json_writer *json, const char *key, uint64_t count, bool known);

/* For crawl_options.line. The context is the cli_crawl_lines. */
int cli_crawl_line(void *context, const crawl_outcome *outcome, bytes *to);

/* ---- everything together ---- */

/* The options of the crawl, and all that they point to. Begins as {0}. */
typedef struct cli_crawl_request {
    crawl_options crawl;
    cli_crawl_seeds seeds;
    cli_crawl_network network;
    cli_crawl_lines lines;
    char *tracking;
    vidi_plan_entry chosen;
    bytes recalled;                        /* options of an earlier command; those that are taken point into it */
    bytes taken;                           /* for a message: " --depth 2 --check" */
    bytes remember;                        /* crawl_options.remember */
    char fleet[VIDI_CLUSTER_ADDRESS_ROOM]; /* the address of --fleet as it may be shown */
    char *temporary;                       /* a folder to remove at the end; NULL: the user has named one */
} cli_crawl_request;

/* CLI_OK, or CLI_ERROR with a message. Call cli_crawl_request_free in either case. */
int cli_crawl_request_make(cli_crawl_request *request, cli_crawl_options *options, cli_words words);
void cli_crawl_request_free(cli_crawl_request *request);

/* Takes from the state what the command does not say, if it names no seed. CLI_OK, or CLI_ERROR with a message. */
int cli_crawl_recall(cli_crawl_request *request, cli_crawl_options *options, cli_words words);
/* Fills in crawl_options.remember. The seeds have been read. CLI_OK, or CLI_ERROR with a message. */
int cli_crawl_remember(cli_crawl_request *request, const cli_crawl_options *options);

/* Returns the exit status. */
int cli_crawl_run(cli_crawl_request *request, const cli_crawl_options *options);

/* ---- fleets ---- */

/* Checks the options of a fleet, and fills in those of the crawl. CLI_OK, or CLI_ERROR with a message. */
int cli_crawl_fleet_read(cli_crawl_request *request, const cli_crawl_options *options);
/* 'vidi crawl status ADDRESS', and pause, resume or stop. Return the exit status. */
int cli_crawl_fleet_status(const char *address, const cli_crawl_options *options);
int cli_crawl_fleet_change(const char *address, const cli_crawl_options *options, const char *action);

/* ---- what became of a crawl ---- */

enum { CLI_CRAWL_REASONS = 32 };

/* Numbers by reason. */
typedef struct cli_crawl_reasons {
    struct {
        char name[24];
        uint64_t count;
    } list[CLI_CRAWL_REASONS];
    size_t count;
} cli_crawl_reasons;

/* Those of the URLs that were not fetched. VIDI_OK, or an error of the database. */
int cli_crawl_reasons_read(cli_crawl_reasons *reasons, crawl_db *from);
/* As a row "12: robots 10, timeout 2" of a table, if there are any; or as a field of a JSON object that is open. */
void cli_crawl_reasons_row(cli_table *table, const char *label, const cli_crawl_reasons *reasons);
void cli_crawl_reasons_json(json_writer *json, const char *key, const cli_crawl_reasons *reasons);

uint64_t cli_crawl_reason_count(const cli_crawl_reasons *reasons, const char *name);

typedef struct cli_crawl_account {
    report *report;
    report_totals totals;
    cli_crawl_reasons statuses; /* responses by status */
    cli_crawl_reasons urls;     /* URLs that got no response */
    cli_crawl_reasons links;    /* links that never became URLs of the crawl */
    report_visit *visits;       /* `visit_count` of them */
    size_t visit_count, visit_room;
    report_schedule schedule; /* now */
    bool checked;             /* a run was made with --check */
    bool at_host_limit;       /* a host is parked because of --max-host-pages */
} cli_crawl_account;

/* Opens the folder of a crawl. CLI_OK, or CLI_ERROR with a message. */
int cli_crawl_report_open(report **made, const char *folder);

/* The same, and reads its numbers. Call cli_crawl_account_close in either case. */
int cli_crawl_account_open(cli_crawl_account *account, const char *folder);
void cli_crawl_account_close(cli_crawl_account *account);

/* Prints why seeds could not be fetched, and warns of those that were answered with an error: a few of them. */
void cli_crawl_explain_seeds(const cli_crawl_account *account);
void cli_crawl_warn_of_seeds(const cli_crawl_account *account);

/* Adds the numbers of other reasons to these. Both are in alphabetical order. */
cli_crawl_reasons cli_crawl_reasons_together(const cli_crawl_reasons *a, const cli_crawl_reasons *b);

/* The table of `vidi crawl report` and of the end of a crawl; `left` says how to continue. */
int cli_crawl_account_table(const cli_crawl_account *account, cli_out *out, const char *left);
/* One object, with the broken links in it. CLI_OK, or CLI_ERROR with a message. */
int cli_crawl_account_json(const cli_crawl_account *account, cli_out *out);

/* Broken links and the pages that have them: as text, or as a field of a JSON object that is open. */
int cli_crawl_broken_text(const cli_crawl_account *account, cli_out *out);
int cli_crawl_broken_json(const cli_crawl_account *account, json_writer *json);

/* Writes what --check has found as JUnit's XML. cli_crawl_junit_check tells beforehand if that cannot be done. */
int cli_crawl_junit(const cli_crawl_account *account, const char *name);
int cli_crawl_junit_check(const char *name);

/* 'vidi crawl report FOLDER', 'vidi crawl cdxj FOLDER', 'vidi crawl check FOLDER'. Return the exit status. */
int cli_crawl_report(const char *folder, bool json, const char *junit); /* NULL: not wanted */
/* Prints the report again whenever it has changed, until the crawl ends. */
int cli_crawl_report_watch(const char *folder, bool json);
/* 'vidi crawl report FOLDER...', of more than one. */
int cli_crawl_report_joined(cli_words folders, bool json);
int cli_crawl_cdxj(cli_words folders);
int cli_crawl_check(const char *folder);
/* 'vidi crawl changes FOLDER --from FROM --to TO'. FROM is 0, or TO is NULL, if it was not given. */
int cli_crawl_changes(const char *folder, uint64_t from, const char *to_text);
/* 'vidi crawl wacz FOLDER -o TO', 'vidi crawl extract FOLDER --to TO'; TO is NULL if it was not given. */
int cli_crawl_wacz(const char *folder, const char *to);
int cli_crawl_extract(const char *folder, const char *to, bool rewrite);

#endif
