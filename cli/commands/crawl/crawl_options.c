/*
 * From the command line to the options of a crawl: checks that the options make sense together, chooses the set, and
 * finds or makes the folder.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "commands/crawl/crawl.h"
#include "pipeline/options/canon_options.h"
#include "ui/numbers.h"
#include "ui/options.h"

#define MOST_SECONDS 1e9

/* ---- values ---- */

static int milliseconds(const char *option, double seconds, int64_t *result)
{
    if (seconds > MOST_SECONDS)
        return cli_error("--%s is too large: at most %.0f seconds", option, MOST_SECONDS);
    *result = llround(seconds * 1000);
    if (*result == 0 && seconds > 0)
        *result = 1;
    return CLI_OK;
}

static int read_times(crawl_options *into, const cli_crawl_options *options)
{
    if (milliseconds("max-time", options->max_time, &into->max_time) != CLI_OK ||
        milliseconds("connect-timeout", options->connect_timeout, &into->connect_ms) != CLI_OK ||
        milliseconds("silence-timeout", options->silence_timeout, &into->silence_ms) != CLI_OK ||
        milliseconds("total-timeout", options->total_timeout, &into->total_ms) != CLI_OK)
        return CLI_ERROR;
    into->delay = -1;
    return options->delay < 0 ? CLI_OK : milliseconds("delay", options->delay, &into->delay);
}

static int read_scope(crawl_options *into, const char *word)
{
    static const char *const words[] = {
        [SCOPE_HOST] = "host", [SCOPE_SITE] = "site", [SCOPE_PREFIX] = "prefix", [SCOPE_ANY] = "any", NULL};
    uint32_t place;
    int status = cli_option_choose("scope", word, words, &place);

    into->reach = (scope_reach)place;
    return status;
}

static int read_order(crawl_options *into, const char *word)
{
    static const char *const words[] = {
        [CRAWL_BREADTH] = "breadth", [CRAWL_DEPTH] = "depth", [CRAWL_BEST] = "best", [CRAWL_SITEMAP] = "sitemap", NULL};
    uint32_t place;
    int status = cli_option_choose("order", word, words, &place);

    into->order = (crawl_order)place;
    return status;
}

/* "10..10000", or one number. */
static int read_budget(crawl_options *into, const cli_crawl_options *options)
{
    const char *text = options->site_budget, *dots = text ? strstr(text, "..") : NULL;
    char least[32];

    if (into->reach != SCOPE_ANY && (text || options->max_sites || options->max_address_sites))
        return cli_error("--%s is for --scope any only", text                 ? "site-budget"
                                                         : options->max_sites ? "max-sites"
                                                                              : "max-address-sites");
    into->max_sites = options->max_sites;
    into->max_address_sites = options->max_address_sites;
    if (!text)
        return CLI_OK;
    snprintf(least, sizeof least, "%.*s", dots ? (int)(dots - text) : (int)sizeof least - 1, text);
    if (cli_parse_count(least, &into->site_least) != CLI_PARSED ||
        cli_parse_count(dots ? dots + 2 : text, &into->site_most) != CLI_PARSED || into->site_least == 0 ||
        into->site_least > into->site_most)
        return cli_error("--site-budget needs two numbers from 1, the lower one first, like 10..10000, not '%s'", text);
    return CLI_OK;
}

static int read_ignored(crawl_options *into, const char *word)
{
    static const char *const words[] = {"text", NULL};
    uint32_t place;

    into->by_text = word != NULL;
    return word ? cli_option_choose("ignore-changes", word, words, &place) : CLI_OK;
}

static void read_limits(crawl_options *into, const cli_crawl_options *options)
{
    into->max_depth = options->depth == CLI_CRAWL_ANY_DEPTH ? -1 : (int64_t)options->depth;
    into->max_pages = options->max_pages;
    into->max_bytes = options->max_bytes;
    into->max_host_pages = options->max_host_pages;
    into->max_queries = options->max_queries;
    into->max_url = options->max_url;
    into->max_repeat = (unsigned)options->max_repeat;
    into->max_hops = (uint32_t)options->max_redirects;
    into->max_body = options->max_body;
    into->max_unpacked = options->max_unpacked;
}

static void read_rest(crawl_options *into, const cli_crawl_options *options)
{
    into->include = (const char *const *)options->include.list;
    into->include_count = options->include.count;
    into->exclude = (const char *const *)options->exclude.list;
    into->exclude_count = options->exclude.count;
    bool archives = options->set.state && !options->no_store;
    into->requisites = archives && !options->pages_only;
    into->resources = options->resources || into->requisites;
    into->check = options->check;
    into->fragments = options->fragments;
    into->internal = options->internal;
    into->accept = options->accept;
    into->no_store = options->no_store || !options->set.state;
    into->no_sitemaps = options->no_sitemaps;
    into->agent = options->agent;
    into->user_agent = options->user_agent;
    into->ignore_robots = options->ignore_robots;
    into->contact = options->contact;
    into->per_host = (unsigned)options->per_host;
    into->retries = (unsigned)options->retries;
    into->headers = (const char *const *)options->headers.list;
    into->header_count = options->headers.count;
    into->ca_file = options->ca_file;
    into->proxy = options->proxy;
    into->cookies = options->cookies;
    into->connections = (unsigned)options->connections;
    into->threads = (unsigned)options->threads;
    into->output = options->jsonl;
    into->revisit = options->revisit;
    into->continuous = options->continuous;
    into->budget = (double)options->budget;
    into->rebuild_seen = options->rebuild_seen;
}

/* ---- combinations ---- */

static int check_checking(const cli_crawl_options *options)
{
    report_accepted accepted;
    const char *given = options->internal    ? "internal"
                        : options->accept    ? "accept"
                        : options->fragments ? "fragments"
                        : options->junit     ? "junit"
                                             : NULL;

    if (given && !options->check)
        return cli_error("--%s is for --check, which is missing", given);
    if (options->accept && !report_accepted_read(&accepted, options->accept))
        return cli_error("--accept needs statuses like 403,999,500-599, not '%s'", options->accept);
    return options->junit ? cli_crawl_junit_check(options->junit) : CLI_OK;
}

static int check(const cli_crawl_options *options)
{
    bool lines = options->jsonl && strcmp(options->jsonl, "-") == 0;

    if (lines && options->json)
        return cli_error("--jsonl - and --json both write to standard output; give --jsonl a FILE");
    if ((options->revisit || options->continuous) && !options->set.state)
        return cli_error("--%s needs the --state DIR of a crawl to come back to",
                         options->revisit ? "revisit" : "continuous");
    if (options->revisit && options->continuous)
        return cli_error("--revisit visits all pages once more, --continuous one by one: give one of them");
    if (options->fleet && !options->set.state)
        return cli_error("--fleet needs the --state DIR of this process");
    if (options->budget && !options->continuous)
        return cli_error("--budget is for --continuous");
    if (options->resources && options->pages_only)
        return cli_error("--resources and --pages-only exclude each other");
    if (check_checking(options) != CLI_OK)
        return CLI_ERROR;
    if (options->ca_file && access(options->ca_file, R_OK) != 0)
        return cli_error("--ca-file: cannot read %s: %s", options->ca_file, strerror(errno));
    return CLI_OK;
}

/* ---- the set ---- */

/*
 * The set of a crawl that has begun already stays as it is. If the options ask for another kind or form, the crawl is
 * refused here, and a warning names options that have no effect. A set that cannot be opened is left to the crawl.
 */
static int check_set(const cli_crawl_options *options, const char *tracking)
{
    vidi_access reading = VIDI_ACCESS_INIT;
    vidi_set *set;
    char *path;
    int status = CLI_OK;

    if (options->rebuild_seen) /* whatever it is, it will be replaced */
        return CLI_OK;
    if (asprintf(&path, "%s/seen", options->set.state) < 0)
        return cli_error("out of memory");
    reading.flags = VIDI_READ_ONLY;
    if (vidi_open(&set, path, &reading) == VIDI_OK) {
        status = cli_set_check(set, &options->set, tracking);
        if (status == CLI_OK)
            cli_warn_no_effect(&options->set, set);
        vidi_close(set);
    }
    free(path);
    return status;
}

static int choose_set(cli_crawl_request *request, const cli_crawl_options *options, bool exists)
{
    crawl_options *into = &request->crawl;
    vidi_access access = VIDI_ACCESS_INIT;

    into->set = (vidi_options)VIDI_OPTIONS_INIT;
    if (cli_tracking_read(options->set.tracking, &request->tracking) != CLI_OK)
        return CLI_ERROR;
    if (options->fleet) { /* the process's own set has no say */
        into->set.canon = options->set.canon;
        into->set.tracking = request->tracking;
        return CLI_OK;
    }
    if (exists) {
        into->set.kind = options->set.kind;
        into->set.canon = options->set.canon;
        into->set.tracking = request->tracking;
        into->set_memory = options->set.memory;
        return check_set(options, request->tracking);
    }
    if (cli_set_describe(&options->set, request->tracking, &into->set, &access, &request->chosen) != CLI_OK)
        return CLI_ERROR;
    into->set_memory = access.memory_limit;
    return options->set.state ? check_set(options, request->tracking) : CLI_OK; /* a kill may have left a set alone */
}

/* ---- the folder ---- */

static bool is_of_a_crawl(const char *name)
{
    return strncmp(name, "crawl.db", strlen("crawl.db")) == 0 || strcmp(name, "seen") == 0 ||
           strcmp(name, "archive") == 0;
}

/*
 * *begun: the crawl has begun, so its set stays as it is. The transaction that begins a crawl writes that; a crawl that
 * was refused or killed before leaves an empty file, or a database without it. If the database cannot be read, the
 * crawl itself will say what is wrong with it.
 */
static int has_begun(const char *folder, bool *begun)
{
    crawl_db *rows;
    bytes kind = {0};
    char *path, why[512];

    if (asprintf(&path, "%s/crawl.db", folder) < 0)
        return cli_error("out of memory");
    int error = db_open(&rows, path, DB_READ_ONLY, false, why);
    free(path);
    if (error < 0)
        return CLI_OK;
    *begun = db_get_text(rows, "kind", &kind) == VIDI_OK;
    bytes_free(&kind);
    db_close(rows);
    return CLI_OK;
}

/* *exists: the folder has a crawl that has begun. A folder with other files in it is an error. */
static int look_at_folder(const char *path, bool *exists)
{
    DIR *folder = opendir(path);
    const struct dirent *entry;
    bool others = false, database = false;

    *exists = false;
    if (!folder && errno == ENOENT)
        return CLI_OK;
    if (!folder)
        return cli_error("cannot read the folder %s: %s", path, strerror(errno));
    while ((entry = readdir(folder)) != NULL) {
        database = database || strcmp(entry->d_name, "crawl.db") == 0;
        others = others ||
                 (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 && !is_of_a_crawl(entry->d_name));
    }
    closedir(folder);
    if (others && !database)
        return cli_error("%s is not the state of a crawl, and other files are in it; name another --state", path);
    return database ? has_begun(path, exists) : CLI_OK;
}

/* A folder for a crawl that is not kept. */
static int make_temporary(cli_crawl_request *request)
{
    const char *parent = getenv("TMPDIR");

    if (asprintf(&request->temporary, "%s/vidi-crawl.XXXXXX", parent && *parent ? parent : "/tmp") < 0) {
        request->temporary = NULL;
        return cli_error("out of memory");
    }
    if (!mkdtemp(request->temporary)) {
        cli_error("cannot make the folder %s: %s; --state names another", request->temporary, strerror(errno));
        free(request->temporary);
        request->temporary = NULL;
        return CLI_ERROR;
    }
    request->crawl.folder = request->temporary;
    return CLI_OK;
}

static int remove_one(const char *path, const struct stat *about, int sort, struct FTW *where)
{
    (void)about;
    (void)sort;
    (void)where;
    return remove(path);
}

static void remove_temporary(cli_crawl_request *request)
{
    if (request->temporary && nftw(request->temporary, remove_one, 16, FTW_DEPTH | FTW_PHYS) != 0)
        cli_warning("cannot remove %s: %s", request->temporary, strerror(errno));
    free(request->temporary);
    request->temporary = NULL;
}

static int find_folder(cli_crawl_request *request, const cli_crawl_options *options, bool *exists)
{
    *exists = false;
    request->crawl.folder = options->set.state;
    if (!options->set.state)
        return make_temporary(request);
    return look_at_folder(options->set.state, exists);
}

/*
 * The file of --jsonl begins together with the crawl. As with 'vidi --output', a crawl without a state empties it, and
 * a new state does not take over a file that has something in it.
 */
static int prepare_lines(const cli_crawl_options *options, bool exists)
{
    struct stat about;

    if (!options->jsonl || strcmp(options->jsonl, "-") == 0 || exists || stat(options->jsonl, &about) != 0 ||
        !S_ISREG(about.st_mode) || about.st_size == 0)
        return CLI_OK;
    if (options->set.state)
        return cli_error("%s has something in it, and the crawl in %s is new; remove the file or name another",
                         options->jsonl, options->set.state);
    if (truncate(options->jsonl, 0) != 0)
        return cli_error("cannot empty %s: %s", options->jsonl, strerror(errno));
    return CLI_OK;
}

/* ---- all of it ---- */

int cli_crawl_request_make(cli_crawl_request *request, cli_crawl_options *options, cli_words words)
{
    crawl_options *into = &request->crawl;
    bool exists;

    if (cli_crawl_recall(request, options, words) != CLI_OK || check(options) != CLI_OK ||
        read_scope(into, options->scope) != CLI_OK || read_budget(into, options) != CLI_OK ||
        read_order(into, options->order) != CLI_OK || read_ignored(into, options->ignore_changes) != CLI_OK ||
        read_times(into, options) != CLI_OK ||
        cli_crawl_seeds_read(&request->seeds, words, options->seed_files) != CLI_OK ||
        cli_crawl_network_read(&request->network, options) != CLI_OK ||
        cli_crawl_fleet_read(request, options) != CLI_OK || cli_crawl_remember(request, options) != CLI_OK)
        return CLI_ERROR;
    read_limits(into, options);
    read_rest(into, options);
    into->seeds = request->seeds.urls;
    into->seed_count = request->seeds.count;
    into->nets = request->network.nets;
    into->net_count = request->network.net_count;
    if (request->network.host_count > 0) {
        into->resolver = cli_crawl_resolve;
        into->resolver_context = &request->network;
    }
    if (into->output) {
        cli_crawl_lines_open(&request->lines);
        into->line = cli_crawl_line;
        into->line_context = &request->lines;
    }
    if (find_folder(request, options, &exists) != CLI_OK || choose_set(request, options, exists) != CLI_OK)
        return CLI_ERROR;
    return prepare_lines(options, exists);
}

void cli_crawl_request_free(cli_crawl_request *request)
{
    remove_temporary(request);
    cli_crawl_seeds_free(&request->seeds);
    cli_crawl_network_free(&request->network);
    cli_crawl_lines_close(&request->lines);
    free(request->tracking);
    bytes_free(&request->recalled);
    bytes_free(&request->taken);
    bytes_free(&request->remember);
}
