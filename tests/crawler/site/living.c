#include "living.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "support/check.h"

double living_uniform(test_random *random)
{
    return ((double)(test_next(random) >> 11) + 0.5) / 9007199254740992.0;
}

double living_normal(test_random *random)
{
    double radius = sqrt(-2 * log(living_uniform(random)));
    return radius * cos(2 * M_PI * living_uniform(random));
}

/* ---- change ---- */

static int64_t gap(living *self, double rate)
{
    double days = rate > 0 ? -log(living_uniform(&self->random)) / rate : INFINITY;
    return days < 1e6 ? (int64_t)(days * LIVING_DAY) + 1 : INT64_MAX / 2;
}

static void age(living *self, living_page *page, int64_t now)
{
    if (page->next == 0)
        page->next = gap(self, page->rate);
    while (page->next <= now) {
        page->version++;
        page->changed = page->next;
        page->next += gap(self, page->rate);
    }
}

/* ---- answers ---- */

static void put_links(const living *self, site_text *to, size_t first, int64_t now)
{
    for (size_t i = first + self->hosts; i < self->count; i += self->hosts)
        if (self->pages[i].linked <= now)
            site_text_put(to, "<a href='/%zu'>%zu</a>\n", i, i);
}

static void put_date(char *text, size_t room, int64_t ms)
{
    time_t seconds = (time_t)(ms / 1000);
    struct tm parts;
    strftime(text, room, "%a, %d %b %Y %H:%M:%S GMT", gmtime_r(&seconds, &parts));
}

static bool is_in_trouble(const living_page *page, int64_t now, site_answer *answer)
{
    if (page->trouble == LIVING_FINE || now < page->from || now >= page->to)
        return false;
    if (page->trouble == LIVING_FAILS)
        *answer = (site_answer){.status = 500, .type = "text/plain", .body = "broken\n", .length = 7};
    if (page->trouble == LIVING_SILENT)
        *answer = (site_answer){.manner = SITE_SILENT, .body = ""};
    return true; /* GONE: the answer is 404 already */
}

static bool answer_page(void *context, const site *web, const char *host, const char *target, site_answer *answer)
{
    living *self = context;
    char *end;
    unsigned number = 0;
    size_t i = strtoul(target + 1, &end, 10);
    int64_t now = web->now(web->now_context);
    if (sscanf(host, "127.0.1.%u", &number) != 1 || end == target + 1 || *end || i >= self->count ||
        i % self->hosts + 1 != number)
        return false;
    living_page *page = &self->pages[i];
    site_text text = {0};
    if (is_in_trouble(page, now, answer))
        return true;
    age(self, page, now);
    site_text_put(&text, "<html><script>var answer = %llu;</script><p>page %zu, version %llu</p>\n",
                  page->clock ? (unsigned long long)self->answers++ : 0, i, (unsigned long long)page->version);
    if (i < self->hosts)
        put_links(self, &text, i, now);
    *answer = (site_answer){.status = 200, .type = "text/html", .length = text.length};
    if (page->dated) { /* kept behind the text, which ends in a zero byte */
        char date[64];
        put_date(date, sizeof date, self->clock.clock.date(&self->clock) - now + page->changed);
        site_text_add(&text, "", 1);
        site_text_add(&text, date, strlen(date) + 1);
        answer->modified = text.at + answer->length + 1;
    }
    answer->body = answer->owned = text.at;
    return true;
}

int64_t living_number(const living *self, const site_request *request)
{
    char *end;
    size_t i = strtoul(request->target + 1, &end, 10);
    return end == request->target + 1 || *end || i >= self->count ? -1 : (int64_t)i;
}

/* ---- the whole ---- */

void living_begin(living *self, unsigned hosts, size_t pages, uint64_t seed)
{
    *self = (living){.web = site_open(hosts), .random = {seed}, .hosts = hosts, .count = pages};
    check(hosts <= LIVING_HOSTS && pages >= hosts, "too many hosts");
    self->pages = site_memory(pages * sizeof *self->pages);
    site_clock_begin(&self->clock);
    self->web->now = self->clock.clock.now;
    self->web->now_context = &self->clock;
    self->web->maker = answer_page;
    self->web->maker_context = self;
}

void living_serve(living *self, crawling *crawl)
{
    /* Only for their URLs: a target that the site does not look up. */
    for (unsigned host = 0; host < self->hosts; host++) {
        self->seeds[host] = site_memory(sizeof **self->seeds);
        check(asprintf(&self->seeds[host]->url, "http://127.0.1.%u:%d/%u", host + 1, self->web->port, host) > 0,
              "no memory");
    }
    crawling_begin(crawl, self->seeds, self->hosts);
    crawl->options.clock = &self->clock.clock;
    crawl->options.set.kind = "hashset"; /* loses nothing */
    crawl->options.continuous = true;
    site_serve(self->web);
}

void living_end(living *self)
{
    for (unsigned host = 0; host < self->hosts; host++) {
        free(self->seeds[host]->url);
        free(self->seeds[host]);
    }
    free(self->pages);
    site_close(self->web);
}
