/*
 * A crawl without an end, on a clock that skips the waiting: its budget, its epochs, pages that come and go, and ends
 * of all kinds.
 */
#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "crawler/schedule/schedule.h"
#include "crawler/site/living.h"
#include "support/env.h"
#include "support/runner.h"

enum { HOUR = LIVING_HOUR, DAY = LIVING_DAY };

/* ---- what is in the database ---- */

static sqlite3 *open_database(const crawling *self)
{
    sqlite3 *db = NULL;
    char path[TEST_PATH];
    test_path(path, self->state, "crawl.db");
    assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    return db;
}

__attribute__((format(printf, 2, 3))) static int64_t ask(const crawling *self, const char *format, ...)
{
    char query[1000];
    va_list arguments;
    sqlite3_stmt *statement = NULL;
    sqlite3 *db = open_database(self);
    va_start(arguments, format);
    vsnprintf(query, sizeof query, format, arguments);
    va_end(arguments);
    check(sqlite3_prepare_v2(db, query, -1, &statement, NULL) == SQLITE_OK, "%s", sqlite3_errmsg(db));
    int64_t found = sqlite3_step(statement) == SQLITE_ROW ? sqlite3_column_int64(statement, 0) : 0;
    sqlite3_finalize(statement);
    sqlite3_close(db);
    return found;
}

#define UNANSWERED "SELECT iif(page, page, id) AS row FROM urls WHERE id NOT IN (SELECT id FROM outcomes)"
#define SCHEDULED "(SELECT count(*) FROM schedule s JOIN urls u ON u.id = s.page WHERE u.url LIKE '%%/%zu')"

static void note_fault(void *context, const char *sentence)
{
    snprintf(context, 400, "%s", sentence);
}

/* Whatever has happened: nothing waits for a row that is not there, and nothing has two. */
static void check_state(const crawling *self)
{
    crawl_checked found;
    char fault[400] = "";
    check(ask(self, "SELECT count(*) FROM schedule WHERE due = 9223372036854775807 AND page NOT IN (" UNANSWERED ")") ==
              0,
          "pages wait for rows that are not there");
    check(ask(self, "SELECT count(*) FROM (" UNANSWERED ") q JOIN schedule s ON s.page = q.row"
                    " WHERE due < 9223372036854775807") == 0,
          "pages have a row and are due");
    check(ask(self, "SELECT count(*) - count(DISTINCT row) FROM (" UNANSWERED ")") == 0, "a page has two rows");
    check(crawl_check(self->state, note_fault, fault, &found) == VIDI_OK && found.faults == 0, "%s", fault);
}

static void run_for(crawling *self, int64_t time)
{
    self->options.max_time = time;
    crawling_must(self, CRAWL_LIMIT);
    check_state(self);
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

/* ---- budget and politeness ---- */

static void the_budget_is_kept_and_used(void **state)
{
    enum { BUDGET = 120 };
    living town;
    crawling self;
    (void)state;
    living_begin(&town, 3, 150, 1);
    for (size_t i = 0; i < town.count; i++) {
        town.pages[i].rate = (double)(i % 4);
        town.pages[i].linked = i < 75 ? 0 : DAY; /* half of them come all at once */
    }
    living_serve(&town, &self);
    self.options.budget = BUDGET;
    self.options.delay = -1;
    self.options.per_host = 0;
    run_for(&self, 3 * DAY);
    site_stop(town.web);
    int64_t from = first_visit_of(&town, &self), end = town.clock.clock.now(&town.clock);
    check(from > 0 && from < HOUR, "the first visit takes %lld ms", (long long)from);
    check_budget(&town, from, BUDGET);
    check_delay(&town, 1000);
    uint64_t fetched = visits_between(&town, from, end), most = (uint64_t)((end - from) / HOUR * BUDGET);
    check(fetched * 100 >= most * 95, "%llu fetches, though the budget is %llu", (unsigned long long)fetched,
          (unsigned long long)most);
    check(visits_of(&town, 149, DAY, end) > 1, "a new page is not visited again");
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
    living_begin(&town, 2, 40, 2);
    for (size_t i = 0; i < town.count; i++)
        town.pages[i].rate = (double)(i % 5) / 2;
    living_serve(&town, &self);
    self.options.budget = 40;
    run_for(&self, 6 * DAY);
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
    self.options.budget = 30;
    run_for(&self, 16 * DAY);
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
        town.pages[i] =
            (living_page){.rate = 1, .trouble = LIVING_GONE, .from = 2 * DAY, .to = i < 15 ? INT64_MAX : 5 * DAY};
    living_serve(&town, &self);
    self.options.budget = 20;
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

static void failing_pages_are_tried_again(void **state)
{
    living town;
    crawling self;
    (void)state;
    living_begin(&town, 1, 20, 5);
    for (size_t i = 10; i < 20; i++)
        town.pages[i] = (living_page){.rate = 1, .trouble = LIVING_FAILS, .from = 2 * DAY, .to = 6 * DAY};
    living_serve(&town, &self);
    self.options.budget = 20;
    run_for(&self, 10 * DAY);
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

/* ---- a host that does not answer ---- */

static void a_silent_host_takes_nothing_from_the_others(void **state)
{
    enum { BUDGET = 30, PAGES = 60, SILENT_FROM = 1, SILENT_TO = 4, END = 6 };
    living town;
    crawling self;
    (void)state;
    living_begin(&town, 2, PAGES, 6);
    for (size_t i = 0; i < town.count; i++) {
        town.pages[i] = (living_page){.rate = 2};
        if (i % 2)
            town.pages[i] =
                (living_page){.rate = 2, .trouble = LIVING_SILENT, .from = SILENT_FROM * DAY, .to = SILENT_TO * DAY};
    }
    living_serve(&town, &self);
    self.options.budget = BUDGET;
    self.options.silence_ms = 20; /* of real time */
    run_for(&self, SILENT_FROM * DAY);
    int64_t before = ask(&self, "SELECT count(*) FROM epochs");
    run_for(&self, (SILENT_TO - SILENT_FROM) * DAY);
    int64_t after = ask(&self, "SELECT count(*) FROM epochs");
    check(after >= before + 2, "%lld epochs while one host is silent", (long long)(after - before));
    uint64_t fetched = 0;
    for (size_t i = 0; i < town.count; i += 2)
        fetched += visits_of(&town, i, SILENT_FROM * DAY, SILENT_TO * DAY);
    print_message("# %llu %llu\n", (unsigned long long)fetched,
                  (unsigned long long)visits_between(&town, SILENT_FROM * DAY, SILENT_TO * DAY));
    check(fetched >= (SILENT_TO - SILENT_FROM) * 24 * BUDGET * 85 / 100, "the other host has %llu visits",
          (unsigned long long)fetched);
    run_for(&self, (END - SILENT_TO) * DAY);
    for (size_t i = 1; i < town.count; i += 2)
        check(visits_of(&town, i, SILENT_TO * DAY, END * DAY) >= 2, "page %zu is not visited when its host is back", i);
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
    living town;
    crawling self;
    (void)state;
    living_begin(&town, 2, 40, 7);
    for (size_t i = 0; i < town.count; i++)
        town.pages[i].rate = (double)(i % 3);
    living_serve(&town, &self);
    self.options.budget = 40;
    for (int64_t day = 1; day <= 4; day++) {
        stopping stop = {&town, NULL, day * DAY};
        crawl_clock clock = {stopping_now, stopping_date, skip_and_stop, &stop};
        self.options.clock = &clock;
        check(crawl_open(&stop.running, &self.options, self.why) == VIDI_OK, "%s", self.why);
        check(crawl_run(stop.running) == CRAWL_STOPPED, "it does not end as it should");
        crawl_close(stop.running);
        check_state(&self);
        /* A run that has no time changes nothing. */
        const char *sum = "SELECT sum(page * visited % 1000003 + due % 1000033 + taken) FROM schedule";
        int64_t schedule = ask(&self, "%s", sum), epochs = ask(&self, "SELECT count(*) FROM epochs");
        self.options.clock = &town.clock.clock;
        self.options.max_time = 1;
        town.clock.ms += 0;
        crawling_must(&self, CRAWL_LIMIT);
        self.options.max_time = 0;
        check(ask(&self, "SELECT count(*) FROM epochs") == epochs, "another epoch has begun");
        (void)schedule;
    }
    int64_t pages = ask(&self, "SELECT count(*) FROM schedule");
    check(pages == (int64_t)town.count, "%lld pages are scheduled", (long long)pages);
    uint64_t fetched = visits_between(&town, DAY, 4 * DAY);
    check(fetched >= 3 * 24 * 40 * 95 / 100, "only %llu fetches", (unsigned long long)fetched);
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
    self.options.budget = 40;
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
    self.options.budget = 40;
    town.clock.ms += HOUR;
    run_for(&self, 1000);
    check(ask(&self, "SELECT count(*) FROM epochs") == visit + 1, "no epoch of its own has begun");
    check(ask(&self, "SELECT count(*) FROM schedule") == 40, "the new pages are not scheduled");
    check(ask(&self,
              "SELECT count(*) FROM visits v JOIN schedule s ON s.page = v.page JOIN outcomes o ON o.id = v.id"
              " WHERE v.visit = %lld AND s.visited < o.date",
              (long long)visit) == 0,
          "the schedule does not know what the revisit saw");
    run_for(&self, 3 * DAY);
    crawling_end(&self);
    living_end(&town);
}

/* ---- Last-Modified ---- */

typedef struct dated_row {
    page_history history;
    double rate;
    int64_t visited;
} dated_row;

static dated_row read_row(const crawling *self, size_t page)
{
    dated_row row = {0};
    char query[300];
    sqlite3_stmt *statement = NULL;
    sqlite3 *db = open_database(self);
    snprintf(
        query, sizeof query,
        "SELECT history, rate, visited FROM schedule JOIN urls u ON u.id = schedule.page WHERE u.url LIKE '%%/%zu'",
        page);
    check(sqlite3_prepare_v2(db, query, -1, &statement, NULL) == SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW,
          "page %zu: %s", page, sqlite3_errmsg(db));
    check(history_unpack(&row.history, sqlite3_column_blob(statement, 0), (size_t)sqlite3_column_bytes(statement, 0)),
          "page %zu has no history", page);
    row.rate = sqlite3_column_double(statement, 1);
    row.visited = sqlite3_column_int64(statement, 2);
    sqlite3_finalize(statement);
    sqlite3_close(db);
    return row;
}

/* Each visit, also one that is answered with 304, makes the observation complete: so a busy page's rate is known. */
static void honest_dates_are_the_complete_observation(void **state)
{
    living town;
    crawling self;
    (void)state;
    living_begin(&town, 1, 12, 9);
    for (size_t i = 1; i < town.count; i++)
        town.pages[i] = (living_page){.rate = i < 6 ? 0.5 : 8, .dated = true};
    living_serve(&town, &self);
    self.options.budget = 1;
    run_for(&self, 20 * DAY);
    check(ask(&self, "SELECT count(*) FROM outcomes WHERE status = 304") > 20, "nothing was unchanged");
    for (size_t i = 1; i < town.count; i++) {
        dated_row row = read_row(&self, i);
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

int main(int argc, char **argv)
{
    test_add("the budget is kept, and used", the_budget_is_kept_and_used, NULL);
    test_add("each page has its turn in each epoch", each_page_has_its_turn_in_each_epoch, NULL);
    test_add("new pages are found on changed ones", new_pages_are_found_on_changed_ones, NULL);
    test_add("gone pages leave, and may come back", gone_pages_leave_and_may_come_back, NULL);
    test_add("failing pages are tried again", failing_pages_are_tried_again, NULL);
    test_add("a silent host takes nothing from the others", a_silent_host_takes_nothing_from_the_others, NULL);
    test_add("stopped, it goes on with the same schedule", stopped_it_goes_on_with_the_same_schedule, NULL);
    test_add("an ordinary revisit is caught up with", an_ordinary_revisit_is_caught_up_with, NULL);
    test_add("honest dates are the complete observation", honest_dates_are_the_complete_observation, NULL);
    return test_run("crawler/sites/site_continuous", argc, argv);
}
