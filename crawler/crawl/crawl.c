/*
 * A crawl as its caller sees it: see crawl.h. Opening, running, stopping, progress, closing; and how a run ends.
 */
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "crawler/crawl/crawl_state.h"

enum { MAX_HEAD = 256 << 10 }; /* bytes of the head of a response */

/* ---- the clock ---- */

int64_t crawl_now(const crawl *crawl)
{
    return crawl->clock.now(crawl->clock.context);
}

int64_t crawl_date(const crawl *crawl)
{
    return crawl->clock.date(crawl->clock.context);
}

/* ---- how it ends ---- */

crawl_ending crawl_ends(const crawl *crawl)
{
    return (crawl_ending)atomic_load_explicit(&crawl->ending, memory_order_acquire);
}

static bool has_ended_as(crawl *crawl, crawl_ending ending)
{
    int expected = ENDING_NOT;

    return atomic_compare_exchange_strong(&crawl->ending, &expected, (int)ending);
}

static void wake_all(crawl *crawl)
{
    if (crawl->downloader)
        fetch_wake(crawl->downloader);
    message_queue_wake(&crawl->to_storage);
}

void crawl_end_as(crawl *crawl, crawl_ending ending)
{
    has_ended_as(crawl, ending);
    wake_all(crawl);
}

void crawl_end_at(crawl *crawl, const char *what)
{
    pthread_mutex_lock(&crawl->about);
    if (crawl_ends(crawl) == ENDING_NOT)
        snprintf(crawl->limit, sizeof crawl->limit, "%s", what);
    pthread_mutex_unlock(&crawl->about);
    crawl_end_as(crawl, ENDING_LIMIT);
}

void crawl_fail(crawl *crawl, const char *format, ...)
{
    va_list arguments;

    pthread_mutex_lock(&crawl->about);
    if (!*crawl->error) {
        va_start(arguments, format);
        vsnprintf(crawl->error, sizeof crawl->error, format, arguments);
        va_end(arguments);
    }
    pthread_mutex_unlock(&crawl->about);
    atomic_store(&crawl->ending, ENDING_FAIL);
    wake_all(crawl);
}

void crawl_no_memory(crawl *crawl)
{
    crawl_fail(crawl, "out of memory");
}

void crawl_stop(crawl *crawl)
{
    if (crawl->fleet)
        fleet_hurry(crawl->fleet);
    crawl_end_as(crawl, ENDING_STOP);
}

const char *crawl_error(const crawl *crawl)
{
    return crawl->error;
}

const char *crawl_limit(const crawl *crawl)
{
    return crawl->limit;
}

void crawl_warn(const crawl *crawl, const char *format, ...)
{
    char sentence[CRAWL_WHY];
    va_list arguments;

    if (!crawl->options.warn)
        return;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    crawl->options.warn(crawl->options.warn_context, sentence);
}

int crawl_explain(char *why, int error, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(why, CRAWL_WHY, format, arguments);
    va_end(arguments);
    return error;
}

/* ---- messages ---- */

void crawl_to_storage(crawl *crawl, messages *list)
{
    if (list->first && !message_queue_put(&crawl->to_storage, list))
        messages_free(list);
}

void crawl_handled(crawl *crawl, size_t messages)
{
    if (messages == 0 || atomic_fetch_sub(&crawl->busy, (long)messages) != (long)messages)
        return;
    if (crawl->clock.skip)
        fetch_wake(crawl->downloader); /* the clock may jump now */
}

/* ---- opening ---- */

static bool has_line_end(const char *text)
{
    return strpbrk(text, "\r\n") != NULL;
}

static bool is_token(const char *text)
{
    if (!*text)
        return false;
    for (; *text; text++)
        if (!isalnum((unsigned char)*text) && *text != '-' && *text != '_')
            return false;
    return true;
}

static int check_options(const crawl_options *options, char *why)
{
    if (!options->folder || options->seed_count == 0)
        return crawl_explain(why, VIDI_EOPTION, "a crawl needs a folder and a URL to begin with");
    if (options->fleet && (options->continuous || options->check || (options->clock && options->clock->skip)))
        return crawl_explain(why, VIDI_EOPTION, "--fleet cannot be used together with %s",
                             options->continuous ? "--continuous"
                             : options->check    ? "--check"
                                                 : "another clock");
    if (options->agent && !is_token(options->agent))
        return crawl_explain(
            why, VIDI_EOPTION,
            "'%.60s' cannot be the name of a crawler: robots.txt knows letters, digits, '-' and '_' only",
            options->agent);
    if (options->contact && has_line_end(options->contact))
        return crawl_explain(why, VIDI_EOPTION, "the contact has a line end in it");
    for (size_t i = 0; i < options->header_count; i++) {
        const char *header = options->headers[i], *colon = strchr(header, ':');
        if (has_line_end(header))
            return crawl_explain(why, VIDI_EOPTION, "a header has a line end in it");
        if (!colon || colon == header)
            return crawl_explain(why, VIDI_EOPTION, "header %zu is not of the form 'Name: value'", i + 1);
    }
    return VIDI_OK;
}

static unsigned processors(void)
{
    long n = sysconf(_SC_NPROCESSORS_ONLN);

    return n < 1 ? 1 : n > 4 ? 4 : (unsigned)n;
}

#define DEFAULT(field, value)                                                                                          \
    do {                                                                                                               \
        if (!o->field)                                                                                                 \
            o->field = (value);                                                                                        \
    } while (0)

static void fill_in_defaults(crawl_options *o)
{
    DEFAULT(agent, "vidi");
    DEFAULT(max_host_pages, 1000000);
    DEFAULT(max_queries, 10000);
    DEFAULT(site_least, 10);
    DEFAULT(site_most, 10000);
    DEFAULT(max_address_sites, 1000);
    DEFAULT(max_url, 2048);
    DEFAULT(max_repeat, 3);
    DEFAULT(max_hops, 20);
    DEFAULT(max_body, FETCH_MAX_BODY);
    DEFAULT(max_unpacked, 64 << 20);
    DEFAULT(per_host, 1);
    DEFAULT(max_delay, 60000);
    DEFAULT(connections, FETCH_CONNECTIONS);
    DEFAULT(connect_ms, FETCH_CONNECT_MS);
    DEFAULT(silence_ms, FETCH_SILENCE_MS);
    DEFAULT(total_ms, FETCH_TOTAL_MS);
    DEFAULT(threads, processors());
    DEFAULT(clock, &crawl_clock_real);
}

static int open_scope(crawl *crawl, char *why)
{
    const crawl_options *o = &crawl->options;
    scope_options wanted = {.reach = o->reach,
                            .seeds = crawl->seeds,
                            .seed_count = crawl->seed_count,
                            .include = o->include,
                            .include_count = o->include_count,
                            .exclude = o->exclude,
                            .exclude_count = o->exclude_count,
                            .max_url = o->max_url,
                            .max_repeat = o->max_repeat};
    int error = scope_open(&crawl->scope, &wanted);

    if (error == VIDI_EOPTION)
        return crawl_explain(why, error, "--scope %s needs libpsl, which this build of vidi lacks: use --scope host",
                             o->reach == SCOPE_ANY ? "any" : "site");
    if (error == VIDI_ECANNOT)
        return crawl_explain(why, error,
                             "--scope %s needs the Public Suffix List, which this machine lacks: install the package "
                             "publicsuffix, or use --scope host",
                             o->reach == SCOPE_ANY ? "any" : "site");
    if (error)
        return crawl_explain(why, error, "%s", vidi_strerror(error));
    crawl->rules = (harvest_rules){.scope = crawl->scope,
                                   .agent = {o->agent, strlen(o->agent)},
                                   .resources = o->resources,
                                   .requisites = o->requisites,
                                   .check = o->check,
                                   .fragments = o->check && o->fragments,
                                   .internal = o->internal,
                                   .by_text = o->by_text,
                                   .store = !o->no_store,
                                   .max_depth = o->max_depth,
                                   .max_hops = o->max_hops,
                                   .max_unpacked = o->max_unpacked};
    return VIDI_OK;
}

static int open_fetcher(crawl *crawl, char *why)
{
    const crawl_options *o = &crawl->options;

    if ((o->user_agent ? asprintf(&crawl->agent, "%s", o->user_agent)
                       : asprintf(&crawl->agent, o->contact ? "%s/%s (+%s)" : "%s/%s", o->agent, vidi_version(),
                                  o->contact)) < 0) {
        crawl->agent = NULL;
        return VIDI_EMEMORY;
    }
    fetch_options wanted = {.agent = crawl->agent,
                            .ca_file = o->ca_file,
                            .max_body = o->max_body,
                            .max_head = MAX_HEAD,
                            .connect_ms = o->connect_ms,
                            .silence_ms = o->silence_ms,
                            .total_ms = o->total_ms,
                            .connections = o->connections,
                            .allowed = o->nets,
                            .allowed_count = o->net_count,
                            .allow_public = o->contact != NULL,
                            .proxy = o->proxy,
                            .resolver = o->resolver,
                            .resolver_context = o->resolver_context,
                            .clock = &crawl->clock};
    int error = fetch_open(&crawl->downloader, &wanted);
    if (error == VIDI_EIO && o->ca_file)
        return crawl_explain(why, error, "--ca-file: no certificates can be read from %s", o->ca_file);
    if (error == VIDI_ECANNOT)
        return crawl_explain(why, error, "libcurl cannot be loaded: install it (Debian's package is libcurl4)");
    return error ? crawl_explain(why, error, "cannot start the downloader: %s", vidi_strerror(error)) : VIDI_OK;
}

/* Locks and message queues: all or none. */
static int open_threads(crawl *crawl)
{
    if (pthread_mutex_init(&crawl->about, NULL) != 0)
        return VIDI_ESYSTEM;
    if (message_queue_open(&crawl->to_parsers) == VIDI_OK) {
        if (message_queue_open(&crawl->to_storage) == VIDI_OK) {
            if (message_queue_open(&crawl->to_fetcher) == VIDI_OK)
                return VIDI_OK;
            message_queue_destroy(&crawl->to_storage);
        }
        message_queue_destroy(&crawl->to_parsers);
    }
    pthread_mutex_destroy(&crawl->about);
    return VIDI_ESYSTEM;
}

static int open_all(crawl *crawl, char *why)
{
    int error = seeds_read(crawl, why);

    if (error == VIDI_OK)
        error = open_scope(crawl, why);
    if (error == VIDI_OK && crawl->options.order == CRAWL_BEST && !(crawl->link_counts = link_counts_open()))
        error = VIDI_EMEMORY;
    if (error == VIDI_OK)
        error = resume_open(crawl, why);
    return error ? error : open_fetcher(crawl, why);
}

int crawl_open(crawl **made, const crawl_options *options, char *why)
{
    *made = NULL;
    *why = 0;
    int error = check_options(options, why);
    if (error)
        return error;
    crawl *crawl = calloc(1, sizeof *crawl);
    error = crawl ? open_threads(crawl) : VIDI_EMEMORY;
    if (error) {
        free(crawl);
        return crawl_explain(why, error, "%s", vidi_strerror(error));
    }
    crawl->options = *options;
    fill_in_defaults(&crawl->options);
    crawl->clock = *crawl->options.clock;
    crawl->output.file.fd = crawl->lock = -1;
    atomic_store(&crawl->next_turn, INT64_MAX);
    crawl->began = crawl_now(crawl);
    crawl->fleet_returns = true; /* if it cannot be opened */
    error = open_all(crawl, why);
    if (error) {
        if (!*why)
            crawl_explain(why, error, "%s", vidi_strerror(error));
        crawl_close(crawl);
        return error;
    }
    *made = crawl;
    return VIDI_OK;
}

void crawl_close(crawl *crawl)
{
    if (!crawl)
        return;
    fleet_leave(crawl->fleet, crawl->fleet_returns);
    fetch_close(crawl->downloader);
    cookie_jar_close(crawl->jar);
    resume_close(crawl);
    scope_close(crawl->scope);
    seeds_free(crawl);
    messages_free(&crawl->to_parsers.list);
    messages_free(&crawl->to_storage.list);
    messages_free(&crawl->to_fetcher.list);
    message_queue_destroy(&crawl->to_parsers);
    message_queue_destroy(&crawl->to_storage);
    message_queue_destroy(&crawl->to_fetcher);
    pthread_mutex_destroy(&crawl->about);
    link_counts_close(crawl->link_counts);
    free(crawl->agent);
    free(crawl);
}

/* ---- running ---- */

static crawl_end result_of(crawl *crawl)
{
    crawl_ending ending = crawl_ends(crawl);

    if (ending == ENDING_FAIL)
        return CRAWL_FAILED;
    if (ending == ENDING_STOP)
        return CRAWL_STOPPED;
    if (crawl->fleet && ending == ENDING_LIMIT) /* the others may have URLs left */
        return CRAWL_LIMIT;
    if (crawl->progress.queue == 0 && (ending == ENDING_DONE || !crawl->options.continuous))
        return CRAWL_DONE;
    if (ending == ENDING_DONE && crawl->parked == 0 && crawl->waits_for)
        snprintf(crawl->limit, sizeof crawl->limit, "%s", crawl->waits_for);
    else if (ending == ENDING_DONE)
        snprintf(crawl->limit, sizeof crawl->limit,
                 crawl->parked == 1 ? "%llu host is parked" : "%llu hosts are parked",
                 (unsigned long long)crawl->parked);
    return CRAWL_LIMIT;
}

static void run_threads(crawl *crawl)
{
    parsers *reading = NULL;
    pthread_t storage;

    crawl->fleet_returns = false;
    atomic_store(&crawl->busy, 1); /* the storage thread's first look at the frontier */
    if (parsers_start(&reading, crawl) != VIDI_OK || pthread_create(&storage, NULL, storage_run, crawl) != 0) {
        crawl_fail(crawl, "cannot start threads: the machine's limits do not allow it");
        message_queue_close(&crawl->to_parsers);
        parsers_join(reading);
        return;
    }
    fetcher_run(crawl);
    message_queue_close(&crawl->to_parsers);
    parsers_join(reading);
    message_queue_close(&crawl->to_storage);
    pthread_join(storage, NULL);
}

crawl_end crawl_run(crawl *crawl)
{
    if (atomic_exchange(&crawl->ran, true))
        crawl_fail(crawl, "a crawl runs once; open it again to continue");
    else
        run_threads(crawl);
    return result_of(crawl);
}

void crawl_look(crawl *crawl, crawl_progress *progress)
{
    pthread_mutex_lock(&crawl->about);
    *progress = crawl->progress;
    progress->seconds = (double)(crawl_now(crawl) - crawl->began) / 1000;
    pthread_mutex_unlock(&crawl->about);
}

int crawl_set_stat(crawl *crawl, vidi_stats *stats)
{
    stats->size = sizeof *stats;
    return vidi_stat(crawl->set, stats);
}
