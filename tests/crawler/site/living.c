#include "living.h"

#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "costs.h"
#include "support/check.h"

/* ---- change ---- */

static int64_t gap(living_page *page)
{
    double days = page->rate > 0 ? -log(costs_uniform(&page->random)) / page->rate : INFINITY;
    return days < 1e6 ? (int64_t)(days * LIVING_DAY) + 1 : INT64_MAX / 2;
}

static void age(living_page *page, int64_t now)
{
    if (page->next == 0)
        page->next = gap(page);
    while (page->next <= now) {
        page->version++;
        page->changed = page->next;
        page->next += gap(page);
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
    age(page, now);
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
    *self = (living){.web = site_open(hosts), .hosts = hosts, .count = pages};
    check(hosts <= LIVING_HOSTS && pages >= hosts, "too many hosts");
    self->pages = site_memory(pages * sizeof *self->pages);
    for (size_t i = 0; i < pages; i++)
        self->pages[i].random.state = test_mix(seed * 1000003 + i);
    site_clock_begin(&self->clock);
    self->web->now = self->clock.clock.now;
    self->web->now_context = &self->clock;
    self->web->maker = answer_page;
    self->web->maker_context = self;
    /* Only for their URLs: a target that the site does not look up. */
    for (unsigned host = 0; host < self->hosts; host++) {
        self->seeds[host] = site_memory(sizeof **self->seeds);
        check(asprintf(&self->seeds[host]->url, "http://127.0.1.%u:%d/%u", host + 1, self->web->port, host) > 0,
              "no memory");
    }
}

void living_serve(living *self, crawling *crawl)
{
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

/* ---- the database ---- */

sqlite3 *living_database(const char *folder)
{
    sqlite3 *db = NULL;
    char path[TEST_PATH];
    test_path(path, folder, "crawl.db");
    check(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK, "cannot open %s", path);
    return db;
}

int64_t living_ask(const char *folder, const char *format, ...)
{
    char query[1000];
    va_list arguments;
    sqlite3_stmt *statement = NULL;
    sqlite3 *db = living_database(folder);
    va_start(arguments, format);
    vsnprintf(query, sizeof query, format, arguments);
    va_end(arguments);
    check(sqlite3_prepare_v2(db, query, -1, &statement, NULL) == SQLITE_OK, "%s", sqlite3_errmsg(db));
    int64_t found = sqlite3_step(statement) == SQLITE_ROW ? sqlite3_column_int64(statement, 0) : 0;
    sqlite3_finalize(statement);
    sqlite3_close(db);
    return found;
}

static void note_fault(void *context, const char *sentence)
{
    snprintf(context, 400, "%s", sentence);
}

void living_must_be_whole(const char *folder)
{
    crawl_checked found;
    char fault[400] = "";
    check(living_ask(folder, "SELECT count(*) FROM schedule WHERE due = 9223372036854775807"
                             " AND page NOT IN (" LIVING_UNANSWERED ")") == 0,
          "pages wait for rows that are not there");
    check(living_ask(folder, "SELECT count(*) FROM (" LIVING_UNANSWERED ") q JOIN schedule s ON s.page = q.row"
                             " WHERE due < 9223372036854775807") == 0,
          "pages have a row, and are due as well");
    check(living_ask(folder, "SELECT count(*) - count(DISTINCT row) FROM (" LIVING_UNANSWERED ")") == 0,
          "a page has two rows");
    check(crawl_check(folder, note_fault, fault, &found) == VIDI_OK && found.faults == 0, "%s", fault);
}
