/*
 * A crawl without an end, on a clock that skips the waiting: its budget, its epochs, pages that come and go, and ends
 * of all kinds.
 */
#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "crawler/report/report.h"
#include "crawler/schedule/schedule.h"
#include "crawler/site/costs.h"
#include "crawler/site/living.h"
#include "support/env.h"
#include "support/runner.h"

enum { HOUR = LIVING_HOUR, DAY = LIVING_DAY };

/* ---- what is in the database ---- */

typedef struct scheduled_row {
    page_history history;
    double rate, alive;
    int64_t visited, due;
} scheduled_row;

static scheduled_row read_row(const crawling *self, size_t page)
{
    scheduled_row row = {0};
    char query[300];
    sqlite3_stmt *statement = NULL;
    sqlite3 *db = living_database(self->state);
    snprintf(
        query, sizeof query,
        "SELECT history, rate, visited, alive, due FROM schedule JOIN urls u ON u.id = schedule.page WHERE u.url LIKE "
        "'%%/%zu'",
        page);
    check(sqlite3_prepare_v2(db, query, -1, &statement, NULL) == SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW,
          "page %zu: %s", page, sqlite3_errmsg(db));
    check(history_unpack(&row.history, sqlite3_column_blob(statement, 0), (size_t)sqlite3_column_bytes(statement, 0)),
          "page %zu has no history", page);
    row.rate = sqlite3_column_double(statement, 1);
    row.visited = sqlite3_column_int64(statement, 2);
    row.alive = sqlite3_column_double(statement, 3);
    row.due = sqlite3_column_int64(statement, 4);
    sqlite3_finalize(statement);
    sqlite3_close(db);
    return row;
}

#define SCHEDULED "(SELECT count(*) FROM schedule s JOIN urls u ON u.id = s.page WHERE u.url LIKE '%%/%zu')"

#define ask(self, ...) living_ask((self)->state, __VA_ARGS__)

static void run_for(crawling *self, int64_t time)
{
    self->options.max_time = time;
    crawling_must(self, CRAWL_LIMIT);
    living_must_be_whole(self->state);
}

/* ---- what the server has seen ---- */

static uint64_t visits_of(const living *town, size_t page, int64_t from, int64_t to)
{
    uint64_t count = 0;
    for (size_t i = 0; i < town->web->log_count; i++) {
        const site_request *each = &town->web->log[i];
        count += living_number(town, each) == (int64_t)page && each->began >= from && each->began < to;
    }
    return count;
}

static uint64_t visits_between(const living *town, int64_t from, int64_t to)
{
    uint64_t count = 0;
    for (size_t i = 0; i < town->web->log_count; i++) {
        const site_request *each = &town->web->log[i];
        count += living_number(town, each) >= 0 && each->began >= from && each->began < to;
    }
    return count;
}

/* In no hour that begins after `from` are there more fetches than this. */
static void check_budget(const living *town, int64_t from, uint64_t budget)
{
    const site *web = town->web;
    uint64_t inside = 0;
    for (size_t i = 0, first = 0; i < web->log_count; i++) {
        if (living_number(town, &web->log[i]) < 0 || web->log[i].began < from)
            continue;
        inside++;
        for (; web->log[first].began <= web->log[i].began - HOUR; first++)
            inside -= living_number(town, &web->log[first]) >= 0 && web->log[first].began >= from;
        check(inside <= budget, "%llu fetches in the hour before %lld", (unsigned long long)inside,
              (long long)web->log[i].began);
    }
}

static void check_delay(const living *town, int64_t least)
{
    int64_t last[LIVING_HOSTS + 1] = {0};
    for (size_t i = 0; i < town->web->log_count; i++) {
        const site_request *each = &town->web->log[i];
        check(!last[each->address] || each->began - last[each->address] >= least, "%s%s came after %lld ms", each->host,
              each->target, (long long)(each->began - last[each->address]));
        last[each->address] = each->began;
    }
}

/* When the first visit was over. */
static int64_t first_visit_of(const living *town, const crawling *self)
{
    return ask(self, "SELECT began FROM epochs WHERE visit = 2") - town->clock.clock.date((void *)&town->clock) +
           town->clock.clock.now((void *)&town->clock);
}

static void trouble(living_page *page, double rate, living_trouble what, int64_t from, int64_t to)
{
    page->rate = rate;
    page->trouble = what;
    page->from = from;
    page->to = to;
}

/* ---- budget and politeness ---- */

static void the_budget_is_kept_and_used(void **state)
{
    enum { BUDGET = 70 };
    living town;
    crawling self;
    (void)state;
    living_begin(&town, 3, 90, 1);
    for (size_t i = 0; i < town.count; i++) {
        town.pages[i].rate = (double)(i % 4);
        town.pages[i].linked = i < 30 ? 0 : DAY; /* most come all at once */
    }
    living_serve(&town, &self);
    self.options.budget = BUDGET;
    self.options.delay = -1;
    self.options.per_host = 0;
    run_for(&self, 2 * DAY);
    site_stop(town.web);
    int64_t from = first_visit_of(&town, &self), end = town.clock.clock.now(&town.clock);
    check(from > 0 && from < HOUR, "the first visit takes %lld ms", (long long)from);
    check_budget(&town, from + 1, BUDGET); /* the clock stands still while the first visit ends and the next begins */
    check_delay(&town, 1000);
    uint64_t fetched = visits_between(&town, from, end), most = (uint64_t)((end - from) / HOUR * BUDGET);
    check(fetched * 100 >= most * 95, "%llu fetches, though the budget is %llu", (unsigned long long)fetched,
          (unsigned long long)most);
    check(visits_of(&town, 89, DAY, end) > 1, "a new page is not visited again");
    crawling_end(&self);
    living_end(&town);
}

static void the_first_visit_is_not_part_of_the_budget(void **state)
{
    living town;
    crawling self;
    (void)state;
    living_begin(&town, 1, 300, 9);
    living_serve(&town, &self);
    self.options.budget = 60;
    run_for(&self, 3 * HOUR);
    site_stop(town.web);
    int64_t from = first_visit_of(&town, &self);
    uint64_t fetched = visits_between(&town, from + 1, from + 2 * HOUR); /* the clock stood still until then */
    check(fetched > 110, "%llu fetches in the two hours after the first visit", (unsigned long long)fetched);
    crawling_end(&self);
    living_end(&town);
}

/* ---- epochs ---- */

/* In each visit that is over, each page that was there from the beginning has a row. */
static void each_page_has_its_turn_in_each_epoch(void **state)
{
    living town;
    crawling self;
    (void)state;
    living_begin(&town, 2, 24, 2);
    for (size_t i = 0; i < town.count; i++)
        town.pages[i].rate = (double)(i % 5) / 2;
    living_serve(&town, &self);
    self.options.budget = 24;
    run_for(&self, 4 * DAY);
    int64_t visits = ask(&self, "SELECT count(*) FROM epochs"),
            epoch = ask(&self, "SELECT value FROM meta WHERE name = 'epoch'");
    check(visits >= 4, "only %lld epochs", (long long)visits);
    check(epoch == visits - 1, "the set is in epoch %lld, and there are %lld visits", (long long)epoch,
          (long long)visits);
    for (int64_t visit = 1; visit < visits; visit++) {
        int64_t pages = ask(&self, "SELECT count(DISTINCT page) FROM visits WHERE visit = %lld", (long long)visit);
        check(pages == (int64_t)town.count, "visit %lld has %lld pages", (long long)visit, (long long)pages);
    }
    crawling_end(&self);
    living_end(&town);
}

/* ---- pages that come, go and fail ---- */

static void new_pages_are_found_on_changed_ones(void **state)
{
    living town;
    crawling self;
    (void)state;
    living_begin(&town, 1, 30, 3);
    for (size_t i = 20; i < 30; i++)
        town.pages[i].linked = (int64_t)(i - 18) * DAY;
    living_serve(&town, &self);
    self.options.budget = 8;
    run_for(&self, 18 * DAY);
    for (size_t i = 20; i < 30; i++) {
        check(ask(&self, "SELECT " SCHEDULED, i) == 1, "page %zu is not in the schedule", i);
        check(visits_of(&town, i, 0, town.pages[i].linked) == 0, "page %zu was visited too early", i);
        check(visits_of(&town, i, 0, INT64_MAX) >= 3, "page %zu is not visited again", i);
    }
    crawling_end(&self);
    living_end(&town);
}

static void gone_pages_leave_and_may_come_back(void **state)
{
    living town;
    crawling self;
    (void)state;
    living_begin(&town, 1, 20, 4);
    for (size_t i = 10; i < 20; i++)
        trouble(&town.pages[i], 1, LIVING_GONE, 2 * DAY, i < 15 ? INT64_MAX : 5 * DAY);
    living_serve(&town, &self);
    self.options.budget = 10;
    run_for(&self, 5 * DAY - HOUR);
    int64_t epochs = ask(&self, "SELECT count(*) FROM epochs");
    for (size_t i = 10; i < 20; i++) {
        uint64_t visits = visits_of(&town, i, 2 * DAY, 5 * DAY);
        check(ask(&self, "SELECT " SCHEDULED, i) == 0, "page %zu is gone, and still in the schedule", i);
        check(visits >= 1 && visits <= (uint64_t)epochs, "page %zu is gone, and was visited %llu times", i,
              (unsigned long long)visits);
    }
    run_for(&self, 12 * DAY);
    for (size_t i = 10; i < 20; i++) {
        bool back = i >= 15;
        check(ask(&self, "SELECT " SCHEDULED, i) == back, "page %zu: scheduled is not %d", i, back);
        check(ask(&self, "SELECT count(*) FROM visits WHERE url LIKE '%%/%zu' AND change = 'gone'", i) == 1, "page %zu",
              i);
        check(ask(&self, "SELECT count(*) FROM visits WHERE url LIKE '%%/%zu' AND change = 'back'", i) == back,
              "page %zu", i);
    }
    crawling_end(&self);
    living_end(&town);
}

static void a_seed_that_nobody_links_to_may_come_back(void **state)
{
    living town;
    crawling self;
    (void)state;
    living_begin(&town, 2, 8, 12);
    trouble(&town.pages[1], 0, LIVING_GONE, DAY, 3 * DAY);
    living_serve(&town, &self);
    self.options.budget = 2;
    run_for(&self, 3 * DAY);
    check(ask(&self, "SELECT " SCHEDULED, (size_t)1) == 0, "the seed is gone, and still in the schedule");
    run_for(&self, 6 * DAY);
    check(ask(&self, "SELECT " SCHEDULED, (size_t)1) == 1, "the seed is back, and not in the schedule");
    crawling_end(&self);
    living_end(&town);
}

static void failing_pages_are_tried_again(void **state)
{
    living town;
    crawling self;
    (void)state;
    living_begin(&town, 1, 20, 5);
    for (size_t i = 10; i < 20; i++)
        trouble(&town.pages[i], 1, LIVING_FAILS, 2 * DAY, 6 * DAY);
    living_serve(&town, &self);
    self.options.budget = 10;
    run_for(&self, 5 * DAY); /* it must be whole meanwhile */
    run_for(&self, 5 * DAY);
    for (size_t i = 10; i < 20; i++) {
        uint64_t during = visits_of(&town, i, 2 * DAY, 6 * DAY), after = visits_of(&town, i, 6 * DAY, INT64_MAX);
        check(during >= 3 && during <= 400, "page %zu is tried %llu times", i, (unsigned long long)during);
        check(after >= 3, "page %zu is visited %llu times afterwards", i, (unsigned long long)after);
        check(ask(&self, "SELECT count(*) FROM visits WHERE url LIKE '%%/%zu' AND change IN ('gone', 'new')", i) == 1,
              "page %zu was taken for gone", i);
    }
    crawling_end(&self);
    living_end(&town);
}

/* ---- hosts that do not answer ---- */

/* Milliseconds that a page waits at most: see schedule.h. A tenth more is by chance. */
static int64_t longest_wait(const living *town, double budget)
{
    return (int64_t)(1.1 * SCHEDULE_LONGEST * (double)town->count / budget * HOUR);
}

/*
 * When its host is parked, a page loses its turn as soon as it is due. So each page has a turn within the longest wait,
 * whatever the hosts do, and that ends an epoch. A parked host is asked again after a day at most.
 */
static void a_silent_host_takes_nothing_from_the_others(void **state)
{
    enum { BUDGET = 16, PAGES = 8, SILENT_FROM = 12 * HOUR, SILENT_TO = SILENT_FROM + 56 * HOUR };
    living town;
    crawling self;
    (void)state;
    living_begin(&town, 2, PAGES, 6);
    for (size_t i = 0; i < town.count; i++)
        trouble(&town.pages[i], 2, i % 2 ? LIVING_SILENT : LIVING_FINE, SILENT_FROM, SILENT_TO);
    int64_t longest = longest_wait(&town, BUDGET), end = SILENT_TO + DAY + longest + HOUR;
    living_serve(&town, &self);
    self.options.budget = BUDGET;
    self.options.silence_ms = 200; /* of real time */
    run_for(&self, SILENT_FROM);
    int64_t zero = town.clock.clock.date(&town.clock) - town.clock.clock.now(&town.clock);
    run_for(&self, end - SILENT_FROM);
    int64_t epochs = ask(&self, "SELECT count(*) FROM epochs WHERE began > %lld AND began < %lld",
                         (long long)(zero + SILENT_FROM), (long long)(zero + SILENT_TO));
    int64_t least = (SILENT_TO - SILENT_FROM) / longest;
    print_message("# %lld epochs end while one host is silent\n", (long long)epochs);
    check(least >= 3 && epochs >= least, "%lld epochs end while one host is silent, not %lld", (long long)epochs,
          (long long)least);
    uint64_t fetched = 0;
    for (size_t i = 0; i < town.count; i += 2)
        fetched += visits_of(&town, i, SILENT_FROM, SILENT_TO);
    check(fetched >= (SILENT_TO - SILENT_FROM) / HOUR * BUDGET * 85 / 100, "the other host has %llu visits",
          (unsigned long long)fetched);
    for (size_t i = 1; i < town.count; i += 2)
        check(visits_of(&town, i, SILENT_TO, end) >= 1, "page %zu is not visited when its host is back", i);
    crawling_end(&self);
    living_end(&town);
}

/* When the crawler itself is cut off from the network, all hosts are parked, and the crawl looks four times a second. */
static void no_page_waits_longer_because_nothing_answers(void **state)
{
    enum { BUDGET = 60, PAGES = 20, SILENT_FROM = 2 * HOUR, END = SILENT_FROM + HOUR / 2 };
    living town;
    crawling self;
    (void)state;
    living_begin(&town, 2, PAGES, 13);
    for (size_t i = 0; i < town.count; i++)
        trouble(&town.pages[i], 2, LIVING_SILENT, SILENT_FROM, END);
    living_serve(&town, &self);
    self.options.budget = BUDGET;
    self.options.silence_ms = 20;
    run_for(&self, END);
    int64_t parked = ask(&self, "SELECT count(*) FROM hosts WHERE parked IS NOT NULL");
    int64_t due = ask(&self, "SELECT max(due) FROM schedule WHERE due < 9223372036854775807");
    int64_t most = town.clock.clock.date(&town.clock) + longest_wait(&town, BUDGET);
    check(parked == 2, "%lld hosts are parked", (long long)parked);
    check(due <= most, "a page waits %lld ms too long", (long long)(due - most));
    crawling_end(&self);
    living_end(&town);
}

/* ---- ends, and going on ---- */

typedef struct stopping {
    living *town;
    crawl *running;
    int64_t at;
} stopping;

static void skip_and_stop(void *context, int64_t until)
{
    stopping *self = context;
    crawl_clock *real = &self->town->clock.clock;
    if (until >= self->at)
        crawl_stop(self->running);
    else
        (real->skip)(real->context, until);
}

static int64_t stopping_now(void *context)
{
    return ((stopping *)context)->town->clock.clock.now(&((stopping *)context)->town->clock);
}

static int64_t stopping_date(void *context)
{
    return ((stopping *)context)->town->clock.clock.date(&((stopping *)context)->town->clock);
}

static void stopped_it_goes_on_with_the_same_schedule(void **state)
{
    enum { STOPPED_PAGES = 24 };
    living town;
    crawling self;
    (void)state;
    living_begin(&town, 2, STOPPED_PAGES, 7);
    for (size_t i = 0; i < town.count; i++)
        town.pages[i].rate = (double)(i % 3);
    living_serve(&town, &self);
    self.options.budget = STOPPED_PAGES;
    for (int64_t day = 1; day <= 4; day++) {
        stopping stop = {&town, NULL, day * DAY};
        crawl_clock clock = {stopping_now, stopping_date, skip_and_stop, &stop};
        self.options.clock = &clock;
        check(crawl_open(&stop.running, &self.options, self.why) == VIDI_OK, "%s", self.why);
        check(crawl_run(stop.running) == CRAWL_STOPPED, "it does not end as it should");
        crawl_close(stop.running);
        living_must_be_whole(self.state);
        /* A run that has no time finishes at most what had begun. */
        scheduled_row before[STOPPED_PAGES];
        for (size_t i = 0; i < STOPPED_PAGES; i++)
            before[i] = read_row(&self, i);
        int64_t begun = ask(&self, "SELECT count(*) FROM (" LIVING_UNANSWERED ")"), others = 0;
        int64_t epochs = ask(&self, "SELECT count(*) FROM epochs");
        self.options.clock = &town.clock.clock;
        self.options.max_time = 1;
        crawling_must(&self, CRAWL_LIMIT);
        self.options.max_time = 0;
        for (size_t i = 0; i < STOPPED_PAGES; i++) {
            scheduled_row after = read_row(&self, i);
            others += after.visited != before[i].visited || after.due != before[i].due ||
                      after.rate != before[i].rate || after.alive != before[i].alive;
        }
        check(others <= begun, "%lld rows of the schedule are others, and %lld visits had begun", (long long)others,
              (long long)begun);
        check(ask(&self, "SELECT count(*) FROM epochs") == epochs, "another epoch has begun");
    }
    int64_t pages = ask(&self, "SELECT count(*) FROM schedule");
    check(pages == (int64_t)town.count, "%lld pages are scheduled", (long long)pages);
    uint64_t fetched = visits_between(&town, DAY, 4 * DAY);
    check(fetched >= 3 * 24 * STOPPED_PAGES * 95 / 100, "only %llu fetches", (unsigned long long)fetched);
    crawling_end(&self);
    living_end(&town);
}

static void an_ordinary_revisit_is_caught_up_with(void **state)
{
    living town;
    crawling self;
    (void)state;
    living_begin(&town, 2, 40, 8);
    for (size_t i = 0; i < town.count; i++) {
        town.pages[i].rate = 1;
        town.pages[i].linked = i < 38 ? 0 : 2 * DAY;
    }
    living_serve(&town, &self);
    self.options.budget = 20;
    run_for(&self, 2 * DAY);
    self.options.continuous = false;
    self.options.revisit = true;
    self.options.max_time = 0;
    town.clock.ms += HOUR;
    self.options.budget = 0;
    crawling_must(&self, CRAWL_DONE);
    int64_t visit = ask(&self, "SELECT max(visit) FROM epochs");
    self.options.revisit = false;
    self.options.continuous = true;
    self.options.budget = 20;
    town.clock.ms += HOUR;
    run_for(&self, 1000);
    check(ask(&self, "SELECT count(*) FROM epochs") == visit + 1, "no epoch of its own has begun");
    check(ask(&self, "SELECT count(*) FROM schedule") == 40, "the new pages are not scheduled");
    check(ask(&self,
              "SELECT count(*) FROM visits v JOIN schedule s ON s.page = v.page JOIN outcomes o ON o.id = v.id"
              " WHERE v.visit = %lld AND s.visited < o.date",
              (long long)visit) == 0,
          "the schedule does not know what the revisit saw");
    run_for(&self, DAY);
    crawling_end(&self);
    living_end(&town);
}

/* ---- pages that only look as if they changed ---- */

static void a_clock_on_a_page_is_no_change_of_its_text(void **state)
{
    (void)state;
    for (int by_text = 0; by_text < 2; by_text++) {
        living town;
        crawling self;
        living_begin(&town, 1, 20, 10);
        for (size_t i = 0; i < town.count; i++) {
            town.pages[i].clock = i < 15;
            town.pages[i].rate = i < 10 ? 0 : 2;
        }
        living_serve(&town, &self);
        self.options.budget = 20;
        self.options.by_text = by_text;
        run_for(&self, 4 * DAY);
        int64_t still = ask(&self, "SELECT count(*) FROM outcomes o JOIN urls u ON u.id = o.id WHERE change = 2"
                                   " AND CAST(substr(url, instr(substr(url, 8), '/') + 8) AS INTEGER) < 10");
        for (size_t i = 10; i < town.count; i++)
            check(ask(&self, "SELECT count(*) FROM visits WHERE change = 'changed' AND url LIKE '%%/%zu'", i) > 0,
                  "page %zu has other text, and is not called changed", i);
        check(by_text ? still == 0 : still > 10, "%lld changes of clocks are told", (long long)still);
        crawling_end(&self);
        living_end(&town);
    }
}

/* ---- what is shown ---- */

static void the_report_shows_what_the_schedule_expects(void **state)
{
    living town;
    crawling self;
    report *from;
    report_schedule told;
    char why[512];
    double fresh = 0, age = 0, changes[2] = {0};
    (void)state;
    living_begin(&town, 2, 20, 11);
    for (size_t i = 0; i < town.count; i++)
        town.pages[i].rate = (double)(i % 5);
    living_serve(&town, &self);
    self.options.budget = 20;
    run_for(&self, 4 * DAY);
    int64_t now = town.clock.clock.date(&town.clock) + 5 * HOUR;
    for (size_t i = 0; i < town.count; i++) {
        scheduled_row row = read_row(&self, i);
        double days = (double)(now - row.visited) / DAY, lacks = row.alive * -expm1(-row.rate * days);
        fresh += 1 - lacks;
        age += row.alive * days - lacks / row.rate;
        changes[i % 2] += row.rate * row.alive;
    }
    check(report_open(&from, self.state, why) == VIDI_OK, "%s", why);
    check(report_scheduled(from, now, &told) == VIDI_OK, "%s", report_error(from));
    report_close(from);
    check(told.pages == town.count && told.host_count == 2, "%llu pages", (unsigned long long)told.pages);
    check(fabs(told.fresh - fresh / 20) < 1e-6 && told.fresh > 0.1 && told.fresh < 0.95, "fresh %f, not %f", told.fresh,
          fresh / 20);
    check(fabs(told.age_days - age / 20) < 1e-3 * age, "age %f, not %f", told.age_days, age / 20);
    check(told.visits == (uint64_t)ask(&self, "SELECT count(*) FROM visits WHERE visit ="
                                              " (SELECT max(visit) FROM epochs) AND status > 0"),
          "%llu visits", (unsigned long long)told.visits);
    for (size_t i = 0; i < 2; i++) {
        unsigned host = 0;
        check(sscanf(told.hosts[i].origin, "http://127.0.1.%u", &host) == 1 && host - 1 < 2, "%s",
              told.hosts[i].origin);
        check(told.hosts[i].pages == 10 && fabs(told.hosts[i].changes_per_day - changes[host - 1]) < 1e-6,
              "%s has %f changes a day, not %f", told.hosts[i].origin, told.hosts[i].changes_per_day,
              changes[host - 1]);
    }
    check(self.progress.scheduled == town.count && self.progress.fresh > 0, "the progress does not know");
    crawling_end(&self);
    living_end(&town);
}

/* ---- Last-Modified ---- */

/* Each visit, also one that is answered with 304, makes the observation complete: so a busy page's rate is known. */
static void honest_dates_are_the_complete_observation(void **state)
{
    living town;
    crawling self;
    (void)state;
    living_begin(&town, 1, 12, 9);
    for (size_t i = 1; i < town.count; i++)
        trouble(&town.pages[i], i < 6 ? 0.5 : 8, LIVING_FINE, 0, 0);
    for (size_t i = 1; i < town.count; i++)
        town.pages[i].dated = true;
    living_serve(&town, &self);
    self.options.budget = 1;
    run_for(&self, 20 * DAY);
    check(ask(&self, "SELECT count(*) FROM outcomes WHERE status = 304") > 20, "nothing was unchanged");
    for (size_t i = 1; i < town.count; i++) {
        scheduled_row row = read_row(&self, i);
        uint64_t visits = visits_of(&town, i, 0, INT64_MAX) - 1;
        check(row.history.dates.wrong == 0, "page %zu: a date was taken for wrong", i);
        check(visits < 8 || date_trusted(&row.history.dates), "page %zu: its dates are not believed", i);
        double seen = history_changes(&row.history);
        check(fabs(seen - row.history.modified_count / (double)HISTORY_UNIT) < 1e-6,
              "page %zu: %.2f changes seen, %.2f by dates", i, seen, row.history.modified_count / (double)HISTORY_UNIT);
        check(row.history.exposed > 0 && row.history.exposed <= row.history.unchanged + row.history.changed + 1e-3,
              "page %zu: %f days", i, (double)row.history.exposed);
    }
    crawling_end(&self);
    living_end(&town);
}

/* ---- the whole, against the best ---- */

/* Cost and staleness of all changing pages between two moments, with the visits that the server has seen. */
static void measure(const living *town, int64_t from, int64_t to, double *cost, double *stale)
{
    int64_t *last = site_memory(town->count * sizeof *last);
    *cost = *stale = 0;
    for (size_t i = 0; i <= town->web->log_count; i++) { /* the last step adds up to the end */
        bool ends = i == town->web->log_count;
        int64_t one = ends ? 0 : living_number(town, &town->web->log[i]);
        int64_t most = ends ? (int64_t)town->count - 1 : one, now = ends ? to : town->web->log[i].began;
        for (int64_t page = one; page >= 0 && page <= most; page++) {
            double rate = town->pages[page].rate, days = (double)(now - last[page]) / DAY;
            double before = last[page] < from ? (double)(from - last[page]) / DAY : 0;
            if (rate > 0 && now > from && last[page] > 0 && now <= to) {
                *cost += (ein_sum(rate * days) - ein_sum(rate * before)) / rate;
                *stale += (stale_sum(rate * days) - stale_sum(rate * before)) / rate;
            }
            last[page] = now;
        }
    }
    free(last);
    *cost /= (double)(to - from) / DAY;
    *stale /= (double)(to - from) / DAY;
}

/* The same for the best visits at fixed intervals with known rates, and for equal visits, one a page and day. */
static void find_best(const living *town, double *cost, double *stale_equal)
{
    double low = -30, high = 30, sum;
    for (int step = 0; step < COSTS_STEPS; step++) {
        double between = (low + high) / 2;
        sum = *cost = *stale_equal = 0;
        for (size_t i = 0; i < town->count; i++) {
            double rate = town->pages[i].rate, visits = rate > 0 ? fixed_best(rate, exp2(between)) : 0;
            if (!(rate > 0))
                continue;
            sum += visits;
            *cost += fixed_cost(rate, visits);
            *stale_equal += fixed_stale(rate, 1);
        }
        if (sum > (double)town->count)
            low = between;
        else
            high = between;
    }
}

/*
 * The simulation of test_schedule_simulation.c as a crawl, with fewer pages. Over 24 seeds the cost was 1.024 times the
 * best, with a deviation of 0.015, and there were 0.692 times the stale copies, with one of 0.016. This seed gives the
 * same numbers each time, as the clock stands still while anything is going on.
 */
static void copies_are_nearly_as_fresh_as_they_can_be(void **state)
{
    enum { PAGES = 300, WARM = 11, END = 21 };
    living town;
    crawling self;
    const char *chosen = getenv("VIDI_TEST_SEED");
    test_random random = {chosen ? strtoull(chosen, NULL, 10) : 8};
    double cost, stale, best, equal;
    (void)state;
    living_begin(&town, 1, PAGES, random.state);
    for (size_t i = PAGES * 6 / 10; i < PAGES; i++)
        town.pages[i].rate = 3 * exp(costs_normal(&random));
    living_serve(&town, &self);
    self.options.budget = PAGES / 24.0;
    run_for(&self, END * DAY);
    measure(&town, WARM * DAY, END * DAY, &cost, &stale);
    find_best(&town, &best, &equal);
    print_message("# %.4f times the cost of the best schedule, %.4f times the stale copies of equal visits\n",
                  cost / best, stale / equal);
    check(cost / best <= 1.05 && cost / best >= 0.9, "%f times the best cost", cost / best);
    check(stale / equal <= 0.75, "%f times as many stale copies as with equal visits", stale / equal);
    crawling_end(&self);
    living_end(&town);
}

int main(int argc, char **argv)
{
    test_add_once("the budget is kept, and used", the_budget_is_kept_and_used, NULL);
    test_add_once("the first visit is not part of the budget", the_first_visit_is_not_part_of_the_budget, NULL);
    test_add_once("each page has its turn in each epoch", each_page_has_its_turn_in_each_epoch, NULL);
    test_add_once("new pages are found on changed ones", new_pages_are_found_on_changed_ones, NULL);
    test_add("gone pages leave, and may come back", gone_pages_leave_and_may_come_back, NULL);
    test_add("a seed that nobody links to may come back", a_seed_that_nobody_links_to_may_come_back, NULL);
    test_add_once("failing pages are tried again", failing_pages_are_tried_again, NULL);
    test_add_once("a silent host takes nothing from the others", a_silent_host_takes_nothing_from_the_others, NULL);
    test_add_once("no page waits longer because nothing answers", no_page_waits_longer_because_nothing_answers, NULL);
    test_add_once("stopped, it goes on with the same schedule", stopped_it_goes_on_with_the_same_schedule, NULL);
    test_add_once("an ordinary revisit is caught up with", an_ordinary_revisit_is_caught_up_with, NULL);
    test_add_once("a clock on a page is no change of its text", a_clock_on_a_page_is_no_change_of_its_text, NULL);
    test_add_once("the report shows what the schedule expects", the_report_shows_what_the_schedule_expects, NULL);
    test_add("honest dates are the complete observation", honest_dates_are_the_complete_observation, NULL);
    test_add_once("copies are nearly as fresh as they can be", copies_are_nearly_as_fresh_as_they_can_be, NULL);
    return test_run("crawler/sites/site_continuous", argc, argv);
}
