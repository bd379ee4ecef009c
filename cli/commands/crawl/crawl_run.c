/*
 * Runs a crawl: shows how far it is, ends it in good order when a signal comes, and tells what became of it.
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands/crawl/crawl.h"
#include "ui/progress.h"
#include "ui/watch.h"

enum { DRAW_MS = 500, PROGRESS_ROOM = 256 };

typedef struct crawl_job {
    crawl *crawl;
    bool progress;
    bool drawn;             /* the progress line is on the screen */
    pthread_mutex_t screen; /* warnings come from any thread */
    /* what is known at the end */
    crawl_end end;
    crawl_progress reached;
    char limit[160];
} crawl_job;

/* ---- while it runs ---- */

/*
 * How long the URLs in the queue will take if the crawl goes on as in this run: its rate has the pauses between requests
 * in it. Pages that are not found yet come on top.
 */
static const char *forecast_text(const crawl_progress *now, char text[48])
{
    cli_number left;

    text[0] = 0;
    if (now->queue > 0 && now->pages_this_run > 0)
        snprintf(text, 48, ", %s left",
                 cli_human_time(&left, (double)now->queue * now->seconds / (double)now->pages_this_run));
    return text;
}

static const char *fresh_text(const crawl_progress *now, char text[64])
{
    cli_number age;

    text[0] = 0;
    if (now->scheduled > 0)
        snprintf(text, 64, "  %.1f %% fresh, mean age %s", 100 * now->fresh,
                 cli_human_time(&age, now->age_days * 86400));
    return text;
}

static void progress_text(crawl_job *job, char text[PROGRESS_ROOM])
{
    crawl_progress now;
    cli_number pages, rate, size, queue, waiting, errors, lost;
    char forecast[48], copies[64];

    crawl_look(job->crawl, &now);
    double seconds = now.seconds > 0 ? now.seconds : 1e-9;
    double fresh = now.links ? 100.0 * (double)now.links_new / (double)now.links : 0;
    snprintf(text, PROGRESS_ROOM,
             "%s pages  %s/s  %s  %.0f %% of links new  queue %s%s  %s hosts wait  %s errors  %s lost%s",
             cli_human_short(&pages, (double)now.pages), cli_human_real(&rate, (double)now.pages_this_run / seconds),
             cli_human_bytes(&size, now.bytes), fresh, cli_human_short(&queue, (double)now.queue),
             forecast_text(&now, forecast), cli_human_short(&waiting, (double)now.hosts_waiting),
             cli_human_short(&errors, (double)now.errors), cli_human_lost(&lost, now.expected_lost, VIDI_FP_EXACT),
             fresh_text(&now, copies));
}

static void clear_line(crawl_job *job)
{
    if (job->drawn)
        cli_progress_clear();
    job->drawn = false;
}

static void tick(void *context)
{
    crawl_job *job = context;
    char text[PROGRESS_ROOM];

    progress_text(job, text);
    pthread_mutex_lock(&job->screen);
    cli_progress_line("%s", text);
    job->drawn = true;
    pthread_mutex_unlock(&job->screen);
}

/* SIGUSR1 */
static void tell(void *context)
{
    crawl_job *job = context;
    char text[PROGRESS_ROOM];

    progress_text(job, text);
    pthread_mutex_lock(&job->screen);
    clear_line(job);
    fprintf(stderr, "%s\n", text);
    pthread_mutex_unlock(&job->screen);
}

static void warn(void *context, const char *sentence)
{
    crawl_job *job = context;

    pthread_mutex_lock(&job->screen);
    clear_line(job);
    cli_warning("%s", sentence);
    pthread_mutex_unlock(&job->screen);
}

static void stop(void *context)
{
    crawl_stop(((crawl_job *)context)->crawl);
}

/* Warns if the set has become too full for what it was made for. */
static void warn_of_set(crawl_job *job)
{
    cli_report about = {.set = {.size = sizeof about.set}};

    if (crawl_set_stat(job->crawl, &about.set) == VIDI_OK)
        cli_report_warn(&about);
}

/* True if lines were written to a pipe whose reader is gone. */
static bool reader_is_gone(const char *output)
{
    struct pollfd pipe = {.fd = STDOUT_FILENO, .events = POLLOUT};

    return strcmp(output, "-") == 0 && poll(&pipe, 1, 0) == 1 && (pipe.revents & POLLERR);
}

static int crawl_watched(crawl_job *job, cli_watch *watch, const cli_crawl_request *request)
{
    char why[CRAWL_WHY];
    int status = CLI_OK, error = crawl_open(&job->crawl, &request->crawl, why);

    if (error == VIDI_EBUSY)
        return cli_error("%s; 'vidi crawl report %s' tells how far it is", why, request->crawl.folder);
    if (error < 0)
        return cli_error("%s", why);
    cli_watch_begin(watch);
    job->end = crawl_run(job->crawl);
    cli_watch_end(watch);
    clear_line(job);
    crawl_look(job->crawl, &job->reached);
    snprintf(job->limit, sizeof job->limit, "%s", crawl_limit(job->crawl) ? crawl_limit(job->crawl) : "");
    if (job->end == CRAWL_FAILED && request->crawl.output && reader_is_gone(request->crawl.output))
        status = CLI_PIPE;
    else if (job->end == CRAWL_FAILED)
        status = cli_error("%s", crawl_error(job->crawl));
    else
        warn_of_set(job);
    crawl_close(job->crawl);
    return status;
}

/* ---- at the end ---- */

/* How to continue with the URLs that are left. */
static const char *go_on(const crawl_job *job, const cli_crawl_account *account, bool has_state)
{
    if (!has_state)
        return "nothing is kept without --state DIR";
    if (strcmp(job->limit, "--max-time") != 0 && strncmp(job->limit, "--", 2) == 0)
        return "the same command with a higher limit continues"; /* these count all runs */
    if (account->at_host_limit)
        return "the same command with a higher --max-host-pages continues";
    return "the same command continues";
}

static int print_summary(const crawl_job *job, const cli_crawl_account *account, bool has_state)
{
    char left[256];
    cli_out err;

    snprintf(left, sizeof left, " URL%s%s%s%s; %s", account->totals.rows.queue == 1 ? "" : "s", *job->limit ? " (" : "",
             job->limit, *job->limit ? ")" : "", go_on(job, account, has_state));
    cli_out_init(&err, STDERR_FILENO);
    int status = cli_crawl_account_table(account, &err, left);
    int closed = cli_out_close(&err);
    return status != CLI_OK ? status : closed;
}

static int print_result(const cli_crawl_account *account, bool json, bool lines)
{
    cli_out out;

    cli_out_init(&out, lines ? STDERR_FILENO : STDOUT_FILENO);
    int status = json ? cli_crawl_account_json(account, &out) : cli_crawl_broken_text(account, &out);
    int closed = cli_out_close(&out);
    return status != CLI_OK ? status : closed;
}

/* What lets the crawl connect to addresses that were refused. */
static const char *address_advice(const cli_crawl_account *account, const cli_crawl_options *options)
{
    if (cli_crawl_reason_count(&account->urls, "address") == 0)
        return "";
    return options->contact ? "; --allow-net NET allows addresses that are not public"
                            : "; public addresses need --contact WHO, others --allow-net NET";
}

static int nothing_fetched(const cli_crawl_account *account, const cli_crawl_options *options)
{
    cli_crawl_explain_seeds(account);
    return cli_error("no seed could be fetched%s", address_advice(account, options));
}

static int exit_status(const crawl_job *job, const cli_crawl_account *account, const cli_crawl_options *options)
{
    if (job->end == CRAWL_STOPPED)
        return CLI_OK; /* the signal says it */
    if (job->reached.seeds_fetched == 0 && job->end != CRAWL_LIMIT &&
        !options->fleet) /* others may have fetched them */
        return nothing_fetched(account, options);
    if (options->check && account->totals.broken + account->totals.fragments > 0)
        return CLI_BROKEN;
    return job->end == CRAWL_LIMIT ? CLI_LEFT : CLI_OK;
}

/* Unless nothing was fetched at all, which is an error that has the same advice. */
static void warn_of_addresses(const crawl_job *job, const cli_crawl_account *account, const cli_crawl_options *options)
{
    const char *advice = address_advice(account, options);

    if (*advice && job->reached.seeds_fetched > 0)
        cli_warning("some URLs were not fetched because of their addresses%s", advice);
}

/* The crawl is closed: everything is read from its folder again. */
static int tell_end(const crawl_job *job, const cli_crawl_request *request, const cli_crawl_options *options)
{
    cli_crawl_account account;
    int status = cli_crawl_account_open(&account, request->crawl.folder);

    if (status == CLI_OK && !options->quiet)
        status = print_summary(job, &account, options->set.state);
    if (status == CLI_OK && job->end != CRAWL_STOPPED && options->junit)
        status = cli_crawl_junit(&account, options->junit);
    if (status == CLI_OK && job->end != CRAWL_STOPPED && (options->check || options->json))
        status = print_result(&account, options->json, options->jsonl && strcmp(options->jsonl, "-") == 0);
    if (status == CLI_OK)
        warn_of_addresses(job, &account, options);
    if (status == CLI_OK)
        cli_crawl_warn_of_seeds(&account);
    if (status == CLI_OK)
        status = exit_status(job, &account, options);
    cli_crawl_account_close(&account);
    return status;
}

int cli_crawl_run(cli_crawl_request *request, const cli_crawl_options *options)
{
    crawl_job job = {.screen = PTHREAD_MUTEX_INITIALIZER};
    cli_watch watch = {.context = &job, .stop = stop, .tell = tell, .tick_ms = DRAW_MS};
    bool on_screen = isatty(STDERR_FILENO) && !(isatty(STDOUT_FILENO) && options->jsonl && *options->jsonl == '-');

    if (options->progress || (!options->quiet && on_screen))
        watch.tick = tick;
    request->crawl.warn = warn;
    request->crawl.warn_context = &job;
    cli_watch_hold(&watch);
    int status = crawl_watched(&job, &watch, request);
    if (status == CLI_OK)
        status = tell_end(&job, request, options);
    if (request->seeds.bad > 0 && (status == CLI_OK || status == CLI_LEFT || status == CLI_BROKEN))
        status = cli_error("%llu line%s of seeds %s left out", (unsigned long long)request->seeds.bad,
                           request->seeds.bad == 1 ? "" : "s", request->seeds.bad == 1 ? "was" : "were");
    cli_watch_end(&watch); /* in case it never began */
    return watch.caught ? CLI_SIGNAL + watch.caught : status;
}
