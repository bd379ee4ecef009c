/*
 * A small site that is visited again and again, with a clock that skips the waiting. What changes between two visits,
 * the test writes down, and what must be said of it.
 *
 *     scene_begin(&scene);
 *     … pages …
 *     scene_visit(&scene);                  everything is new
 *     scene_expect(&scene, "unchanged");    of all pages
 *     … changes, and what must be said of those pages: page->change, page->status …
 *     scene_visit(&scene);
 *     scene_end(&scene);
 */
#ifndef TESTS_CRAWLER_SITE_SCENE_H
#define TESTS_CRAWLER_SITE_SCENE_H

#include "crawling.h"

typedef struct scene {
    site *web;
    site_clock clock;
    crawling self;
    site_page *seed;
    unsigned visits;
} scene;

/* Two hosts; the seed is the entrance of the first. The set loses nothing. */
void scene_begin(scene *self);
void scene_end(scene *self);

/* A page of the first host that another one links to. */
site_page *scene_link(scene *self, site_page *from, const char *target);
/* What must be said of all pages in the visits to come. */
void scene_expect(const scene *self, const char *change);

/* Serves the site and runs the crawl, two days after the last run. */
void scene_run(scene *self, crawl_end end);
/* Judges by the truth of the site, in which nothing is deeper than this; negative: no limit. */
void scene_judge(scene *self, int64_t depth, unsigned flags);
/* The next visit, judged by the truth of the whole site. */
void scene_visit(scene *self);

/* The number that a query gives. */
int64_t scene_number(const scene *self, const char *query);

#endif
