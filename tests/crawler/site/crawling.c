#include "crawling.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/check.h"

/* ---- the clock ---- */

static int64_t clock_now(void *context)
{
    site_clock *self = context;
    return atomic_load(&self->ms);
}

static int64_t clock_date(void *context)
{
    return INT64_C(1767225600000) + clock_now(context); /* from 2026 on */
}

static void clock_skip(void *context, int64_t until)
{
    site_clock *self = context;
    int64_t now = atomic_load(&self->ms);
    while (now < until && !atomic_compare_exchange_weak(&self->ms, &now, until))
        ;
}

void site_clock_begin(site_clock *clock)
{
    atomic_store(&clock->ms, 1000);
    clock->clock = (crawl_clock){clock_now, clock_date, clock_skip, clock};
}

/* ---- the crawl ---- */

static void warned(void *context, const char *sentence)
{
    crawling *self = context;
    __atomic_fetch_add(&self->warnings, 1, __ATOMIC_RELAXED);
    snprintf(self->warned, sizeof self->warned, "%s", sentence);
}

void crawling_begin(crawling *self, site_page *const *seeds, size_t count)
{
    memset(self, 0, sizeof *self);
    check(count <= CRAWLING_SEEDS, "too many seeds");
    test_folder_new(self->folder, false);
    test_path(self->state, self->folder, "state");
    for (size_t i = 0; i < count; i++)
        self->seeds[i] = (vidi_str){seeds[i]->url, strlen(seeds[i]->url)};
    check(fetch_net_parse("127.0.1.0/24", &self->net), "a network");
    self->options = (crawl_options){.folder = self->state,
                                    .seeds = self->seeds,
                                    .seed_count = count,
                                    .set = VIDI_OPTIONS_INIT,
                                    .max_depth = -1,
                                    .delay = 0,
                                    .per_host = 8,
                                    .nets = &self->net,
                                    .net_count = 1,
                                    .warn = warned,
                                    .warn_context = self};
}

crawl_end crawling_run(crawling *self)
{
    crawl *running = NULL;
    self->why[0] = 0;
    int code = crawl_open(&running, &self->options, self->why);
    if (code != VIDI_OK)
        return CRAWL_FAILED;
    crawl_end end = crawl_run(running);
    if (end == CRAWL_FAILED)
        snprintf(self->why, sizeof self->why, "%s", crawl_error(running));
    else if (end == CRAWL_LIMIT)
        snprintf(self->why, sizeof self->why, "%s", crawl_limit(running));
    crawl_look(running, &self->progress);
    crawl_close(running);
    return end;
}

void crawling_must(crawling *self, crawl_end end)
{
    static const char *const names[] = {"done", "at a limit", "stopped", "failed"};
    crawl_end real = crawling_run(self);
    check(real == end, "the crawl ends %s, not %s: %s (last warning: %s)", names[real], names[end], self->why,
          self->warned);
}

void crawling_end(crawling *self)
{
    test_folder_remove(self->folder);
}

void crawling_judge(const crawling *self, site *web, unsigned flags, judge_stranger *stranger, void *context)
{
    judgement result;
    judge_crawl(&result, web, self->state, self->options.output, flags, stranger, context);
    uint64_t faults = judge_faults(&result, flags);
    check(faults == 0,
          "%llu faults (%llu of %llu right, %llu wrong, %llu missing, %llu unexpected, %llu repeated, %llu without "
          "outcome): %s; %s",
          (unsigned long long)faults, (unsigned long long)result.right, (unsigned long long)result.expected,
          (unsigned long long)result.wrong, (unsigned long long)result.missing, (unsigned long long)result.unexpected,
          (unsigned long long)result.repeated, (unsigned long long)result.check.unanswered, result.first,
          result.check.first);
}

pid_t crawling_serve_apart(site *web)
{
    pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* it ends with the test, however that ends */
        site_serve(web);
        for (;;)
            pause();
    }
    check(child > 0, "no process");
    return child;
}

void crawling_end_server(pid_t server)
{
    check(kill(server, SIGKILL) == 0 && waitpid(server, NULL, 0) == server, "the server has ended before");
}
