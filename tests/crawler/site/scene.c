/* See scene.h. */
#include "scene.h"

#include <sqlite3.h>
#include <string.h>

#include "support/check.h"

enum { DAY = 24 * 60 * 60 * 1000 };

void scene_begin(scene *self)
{
    self->visits = 0;
    self->web = site_open(2);
    site_clock_begin(&self->clock);
    self->web->now = self->clock.clock.now;
    self->web->now_context = &self->clock;
    self->seed = site_page_add(self->web, 1, "/");
    crawling_begin(&self->self, &self->seed, 1);
    self->self.options.clock = &self->clock.clock;
    self->self.options.set.kind = "hashset";
}

void scene_end(scene *self)
{
    crawling_end(&self->self);
    site_close(self->web);
}

site_page *scene_link(scene *self, site_page *from, const char *target)
{
    site_page *page = site_page_add(self->web, 1, "%s", target);
    site_link_to(from, page);
    return page;
}

void scene_expect(const scene *self, const char *change)
{
    for (size_t i = 0; i < self->web->page_count; i++)
        self->web->pages[i]->change = change;
}

void scene_run(scene *self, crawl_end end)
{
    self->clock.ms += 2 * DAY;
    site_forget(self->web);
    site_serve(self->web);
    crawling_must(&self->self, end);
    site_stop(self->web);
}

void scene_judge(scene *self, int64_t depth, unsigned flags)
{
    site_walk(self->web, &self->seed, 1, depth);
    crawling_judge(&self->self, self->web, JUDGE_STORED | flags, NULL, NULL);
}

void scene_visit(scene *self)
{
    self->self.options.revisit = self->visits++ > 0;
    scene_run(self, CRAWL_DONE);
    scene_judge(self, -1, 0);
}

int64_t scene_number(const scene *self, const char *query)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *row = NULL;
    char path[TEST_PATH];
    test_path(path, self->self.state, "crawl.db");
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    check(sqlite3_prepare_v2(db, query, -1, &row, NULL) == SQLITE_OK && sqlite3_step(row) == SQLITE_ROW, "%s: %s",
          query, sqlite3_errmsg(db));
    int64_t number = sqlite3_column_int64(row, 0);
    sqlite3_finalize(row);
    sqlite3_close(db);
    return number;
}
