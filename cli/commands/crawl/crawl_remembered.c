/*
 * What a command takes from an earlier one on the same state, so that `vidi crawl --state DIR` goes on as before: if it
 * names no seed, all seeds that were ever named, and each option that it does not name itself. A command that names a seed takes nothing.
 *
 * The database has the options of the last command, those that it took included: a line for each, "name" or
 * "name=value". Secrets are not stored. Their lines are "name=***", and the next command must give them again.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands/crawl/crawl.h"
#include "crawler/database/database.h"
#include "ui/options.h"

#define MASK "***"

/* True for an option that a later command takes. Any other belongs to one run, or to the set, which keeps its own. */
static bool is_remembered(const char *name)
{
    static const char *const others[] = {
        "state",        "seeds",   "max-pages", "max-time", "max-bytes", "json",  "junit",   "jsonl", "output",
        "to",           "rewrite", "watch",     "progress", "quiet",     "color", "kind",    "param", "capacity",
        "rebuild-seen", "revisit", "lost",      "error",    "memory",    "canon", "tracking"};

    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strcmp(others[i], name) == 0)
            return false;
    return true;
}

/* The URL of a proxy or a fleet may have a password. */
static bool is_secret(const char *name, const char *value)
{
    bool is_address = strcmp(name, "proxy") == 0 || strcmp(name, "fleet") == 0;

    return strcmp(name, "header") == 0 || (is_address && strchr(value, '@'));
}

/* A file is used in another folder, too. */
static bool is_file(const char *name)
{
    return strcmp(name, "ca-file") == 0 || (strncmp(name, "fleet-", 6) == 0);
}

static int no_memory(void)
{
    return cli_error("out of memory");
}

/* ---- taking ---- */

/* Options that an option of this command makes void. */
static const struct {
    const char *remembered, *named;
} void_with[] = {
    {"resources", "pages-only"}, {"pages-only", "resources"}, {"continuous", "revisit"}, {"budget", "revisit"}};

static bool is_named(const cli_crawl_options *options, const char *name)
{
    for (size_t i = 0; i < options->given.count; i += 2)
        if (strcmp(options->given.list[i], name) == 0)
            return true;
    return false;
}

/* True if the command names the option, or one that makes it void. */
static bool is_replaced(const cli_crawl_options *options, const char *name)
{
    for (size_t i = 0; i < sizeof void_with / sizeof *void_with; i++)
        if (strcmp(void_with[i].remembered, name) == 0 && is_named(options, void_with[i].named))
            return true;
    return is_named(options, name);
}

static int ask_for_secret(const char *state, const char *name)
{
    if (strcmp(name, "seeds") == 0)
        return cli_error("the crawl in %s began at seeds with a user name or password, which is not stored: name the "
                         "seeds again",
                         state);
    return cli_error(
        "the crawl in %s was given --%s, whose value is not stored: give it again, or name the seeds to go "
        "on without it",
        state, name);
}

/* Sets the option of a line, unless this command names it. The line has no '\n', and becomes name and value. */
static int take_line(cli_crawl_request *request, cli_crawl_options *options, char *line)
{
    char *value = strchr(line, '=');
    const cli_option *option = cli_crawl.options;

    if (value)
        *value++ = 0;
    if (is_replaced(options, line))
        return CLI_OK;
    if (value && strcmp(value, MASK) == 0)
        return ask_for_secret(options->set.state, line);
    while (option->name && strcmp(option->name, line) != 0)
        option++;
    if (!option->name || (option->type == CLI_FLAG) != !value)
        return cli_error("%s/crawl.db remembers --%s, which this vidi does not know: name the seeds, and the options",
                         options->set.state, line);
    if (bytes_append_format(&request->remember, value ? "%s=%s\n" : "%s\n", line, value) != VIDI_OK ||
        bytes_append_format(&request->taken, value ? " --%s %s" : " --%s", line, value) != VIDI_OK)
        return no_memory();
    return cli_option_set(option, value, options) == CLI_GO_ON ? CLI_OK : CLI_ERROR;
}

static int take_options(cli_crawl_request *request, cli_crawl_options *options)
{
    char *end;
    int status = CLI_OK;

    for (char *line = request->recalled.ptr; status == CLI_OK && line && (end = strchr(line, '\n')); line = end + 1) {
        *end = 0;
        status = take_line(request, options, line);
    }
    return status;
}

/* Says what is taken, if that is more than the seeds. */
static int tell(cli_crawl_request *request, const char *state)
{
    const cli_crawl_seeds *seeds = &request->seeds;
    char more[48] = "", *text;

    if (request->taken.len == 0)
        return CLI_OK;
    if (seeds->count > 1)
        snprintf(more, sizeof more, " and %zu other seed%s", seeds->count - 1, seeds->count == 2 ? "" : "s");
    if (asprintf(&text, "%s: as before, from %.*s%s, with%.*s", state, (int)seeds->urls[0].len, seeds->urls[0].ptr,
                 more, (int)request->taken.len, request->taken.ptr) < 0)
        return no_memory();
    cli_clean(text);
    fprintf(stderr, "%s\n", text);
    free(text);
    return CLI_OK;
}

static int keep_seed(void *context, uint64_t number, vidi_str url)
{
    (void)number;
    return cli_crawl_seeds_keep(context, url) == CLI_OK ? VIDI_OK : VIDI_EMEMORY;
}

static int read_state(cli_crawl_request *request, crawl_db *from)
{
    int error = db_get_text(from, "options", &request->recalled);

    if (error == VIDI_EABSENT) /* no crawl has begun */
        return CLI_OK;
    if (error == VIDI_OK)
        error = bytes_append(&request->recalled, "", 1);
    if (error == VIDI_OK)
        error = db_seeds(from, keep_seed, &request->seeds);
    return error == VIDI_OK ? CLI_OK : cli_error("crawl.db: %s", db_error(from));
}

int cli_crawl_recall(cli_crawl_request *request, cli_crawl_options *options, cli_words words)
{
    crawl_db *from;
    char *path, why[256];

    if (!options->set.state || words.count > 0 || options->seed_files.count > 0)
        return CLI_OK;
    if (asprintf(&path, "%s/crawl.db", options->set.state) < 0)
        return no_memory();
    int error = db_open(&from, path, DB_READ_ONLY, false, why);
    free(path);
    if (error == VIDI_EABSENT)
        return CLI_OK;
    if (error)
        return cli_error("%s", why);
    int status = read_state(request, from);
    db_close(from);
    if (status == CLI_OK)
        status = take_options(request, options);
    return status == CLI_OK && !options->quiet ? tell(request, options->set.state) : status;
}

/* ---- remembering ---- */

static int remember_one(bytes *to, const char *name, const char *value)
{
    char *path = is_file(name) ? realpath(value, NULL) : NULL;
    const char *kept = is_secret(name, value) ? MASK : path ? path : value;

    if (kept && strchr(kept, '\n')) {
        free(path);
        return cli_error("--%s must not have a line end in it", name);
    }
    int error = bytes_append_format(to, kept ? "%s=%s\n" : "%s\n", name, kept);
    free(path);
    return error ? no_memory() : CLI_OK;
}

int cli_crawl_remember(cli_crawl_request *request, const cli_crawl_options *options)
{
    int status = CLI_OK;

    if (!options->set.state)
        return CLI_OK;
    for (size_t i = 0; i < options->given.count && status == CLI_OK; i += 2)
        if (is_remembered(options->given.list[i]))
            status = remember_one(&request->remember, options->given.list[i], options->given.list[i + 1]);
    if (status == CLI_OK && request->seeds.secret)
        status = remember_one(&request->remember, "seeds", MASK);
    if (status == CLI_OK && bytes_append(&request->remember, "", 1) != VIDI_OK)
        status = no_memory();
    request->crawl.remember = request->remember.ptr;
    return status;
}
