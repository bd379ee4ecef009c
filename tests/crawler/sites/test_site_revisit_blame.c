/*
 * A visit calls a page recovered only if the set had lost it. Pages that the visit before did not meet for another
 * reason are not: a limit, the scope, robots.txt, nofollow, a page that could not be read, a site that was down.
 */
#include <stdio.h>
#include <string.h>

#include "crawler/site/scene.h"
#include "support/runner.h"

/* ---- the site ---- */

/* The seed, a page, and one behind it. */
typedef struct way {
    scene scene;
    site_page *page, *behind;
} way;

static void way_begin(way *self)
{
    scene_begin(&self->scene);
    self->page = scene_link(&self->scene, self->scene.seed, "/page");
    self->behind = scene_link(&self->scene, self->page, "/behind");
    scene_link(&self->scene, self->behind, "/far");
    scene_expect(&self->scene, "new");
}

static void way_end(way *self)
{
    assert_int_equal(scene_number(&self->scene, "SELECT count(*) FROM visits WHERE change = 'recovered'"), 0);
    scene_end(&self->scene);
}

static void spoil(site_page *page, site_manner manner)
{
    page->answer.manner = manner;
    page->status = SITE_ANY_STATUS;
    page->reason = "broken";
    page->change = "failed";
    page->barren = true;
}

static void heal(site_page *page)
{
    page->answer.manner = SITE_WHOLE;
    page->status = 200;
    page->reason = NULL;
    page->barren = false;
}

static void what_a_failed_page_hid_is_not_recovered(void **state)
{
    way way;
    (void)state;
    way_begin(&way);
    scene_visit(&way.scene);
    scene_expect(&way.scene, "unchanged");
    spoil(way.page, SITE_CUT_OFF);
    scene_visit(&way.scene);
    scene_expect(&way.scene, "unchanged");
    heal(way.page);
    scene_visit(&way.scene);
    way_end(&way);
}

/* The same, with a page that nobody has read before: what is behind it is new. */
static void what_was_never_reached_is_new(void **state)
{
    way way;
    (void)state;
    way_begin(&way);
    spoil(way.page, SITE_CUT_OFF);
    scene_visit(&way.scene);
    scene_expect(&way.scene, "new");
    way.scene.seed->change = "unchanged";
    heal(way.page);
    scene_visit(&way.scene);
    way_end(&way);
}

static void a_seed_may_be_gone_and_come_back(void **state)
{
    way way;
    (void)state;
    way_begin(&way);
    scene_visit(&way.scene);
    way.scene.seed->answer.status = way.scene.seed->status = 404;
    way.scene.seed->barren = true;
    way.scene.seed->change = "gone";
    scene_visit(&way.scene);
    scene_expect(&way.scene, "unchanged");
    way.scene.seed->answer.status = way.scene.seed->status = 200;
    way.scene.seed->barren = false;
    way.scene.seed->change = "back";
    scene_visit(&way.scene);
    way_end(&way);
}

/* ---- the whole site is down ---- */

static int resolve(void *context, const char *host, fetch_address *addresses, int room)
{
    const bool *is_down = context;
    if (room < 1 || strcmp(host, "moving.test") != 0)
        return -1;
    addresses[0] = (fetch_address){{127, 0, 1, *is_down ? 77 : 1}, 4}; /* nobody listens there */
    return 1;
}

static void a_site_may_be_down_for_a_visit(void **state)
{
    scene scene;
    bool is_down = false;
    (void)state;
    scene_begin(&scene);
    site_page *seed = scene.seed = site_page_on(scene.web, "moving.test", "/");
    site_page *page = site_page_on(scene.web, "moving.test", "/page");
    site_link_to(seed, page);
    scene.self.seeds[0] = (vidi_str){seed->url, strlen(seed->url)};
    scene.self.options.resolver = resolve;
    scene.self.options.resolver_context = &is_down;
    scene_expect(&scene, "new");
    scene_visit(&scene);

    is_down = true;
    scene.self.options.revisit = true;
    scene_run(&scene, CRAWL_LIMIT); /* the host is parked */
    is_down = false;
    scene_expect(&scene, "unchanged");
    scene_visit(&scene);
    assert_int_equal(scene_number(&scene, "SELECT count(*) FROM visits WHERE visit = 2 AND change = 'failed'"), 1);
    assert_int_equal(scene_number(&scene, "SELECT max(visit) FROM epochs"), 3);
    assert_int_equal(scene_number(&scene, "SELECT count(*) FROM visits WHERE change = 'recovered'"), 0);
    scene_end(&scene);
}

/* ---- rules of the site ---- */

static void what_robots_txt_had_forbidden_is_not_recovered(void **state)
{
    way way;
    (void)state;
    way_begin(&way);
    site_page *robots = site_robots(way.scene.web, 1, "User-agent: *\nAllow: /\n");
    scene_visit(&way.scene);
    scene_expect(&way.scene, "unchanged");
    site_text_free(&robots->text);
    site_say(robots, "User-agent: *\nDisallow: /page\n");
    way.page->status = 0;
    way.page->reason = "robots";
    way.page->change = "failed";
    way.page->barren = way.page->unstored = true;
    scene_visit(&way.scene);
    assert_int_equal(way.page->requests, 0);
    scene_expect(&way.scene, "unchanged");
    site_text_free(&robots->text);
    site_say(robots, "User-agent: *\nAllow: /\n");
    way.page->unstored = false;
    heal(way.page);
    scene_visit(&way.scene);
    way_end(&way);
}

/* Links of a page may come and go although its body stays: nofollow and the media type are in the head. */
static void what_a_head_had_hidden_is_not_recovered(void **state)
{
    const site_answer *hides = *state;
    way way;
    way_begin(&way);
    way.page->answer.fields = hides->fields;
    way.page->answer.type = hides->type;
    way.page->barren = true;
    scene_visit(&way.scene);
    scene_expect(&way.scene, "new");
    way.scene.seed->change = way.page->change = "unchanged";
    way.page->answer.fields = NULL;
    way.page->answer.type = "text/html";
    way.page->barren = false;
    scene_visit(&way.scene);
    way_end(&way);
}

/* ---- rules of the crawl ---- */

/* A link was too deep in the last visit, and is not now, because its page is linked from the seed. */
static void what_the_depth_had_left_out_is_not_recovered(void **state)
{
    way way;
    (void)state;
    way_begin(&way);
    way.scene.self.options.max_depth = 2;
    scene_run(&way.scene, CRAWL_DONE);
    scene_judge(&way.scene, 2, 0);
    way.scene.visits = 1;
    scene_expect(&way.scene, "unchanged");
    site_link_to(way.scene.seed, way.behind);
    way.scene.seed->change = "changed";
    site_find(way.scene.web, "127.0.1.1", "/far")->change = "new";
    scene_visit(&way.scene);
    way_end(&way);
}

/* The same with redirects: a link leads into a chain that was too long. */
static void what_too_many_redirects_had_hidden_is_not_recovered(void **state)
{
    enum { CHAIN = 8, HOPS = 5 };
    scene scene;
    site_page *chain[CHAIN];
    (void)state;
    scene_begin(&scene);
    for (int i = 0; i < CHAIN; i++)
        chain[i] = site_page_add(scene.web, 1, "/%d", i);
    for (int i = 0; i + 1 < CHAIN; i++)
        site_redirect(chain[i], 301, i < HOPS ? chain[i + 1] : NULL, chain[i + 1]->url);
    site_link_to(scene.seed, chain[0]);
    scene.self.options.max_hops = HOPS;
    scene_expect(&scene, "new");
    scene_visit(&scene);
    scene_expect(&scene, "unchanged");
    site_link_to(scene.seed, chain[HOPS]);
    scene.seed->change = "changed";
    for (int i = HOPS; i + 1 < CHAIN; i++) {
        site_edge_add(chain[i], chain[i + 1], true);
        chain[i + 1]->change = "new";
    }
    scene_visit(&scene);
    assert_int_equal(scene_number(&scene, "SELECT count(*) FROM visits WHERE change = 'recovered'"), 0);
    scene_end(&scene);
}

/* What other options would have kept is not comparable: it is new, and nothing is said of what was lost. */
static void what_other_options_had_left_out_is_not_recovered(void **state)
{
    static const char *const exclude[] = {"*/behind"};
    bool by_depth = *state != NULL;
    way way;
    way_begin(&way);
    way.scene.self.options.max_depth = by_depth ? 1 : -1;
    way.scene.self.options.exclude = exclude;
    way.scene.self.options.exclude_count = by_depth ? 0 : 1;
    way.page->barren = true;
    scene_visit(&way.scene);
    scene_expect(&way.scene, "new");
    way.scene.self.options.max_depth = -1;
    way.scene.self.options.exclude_count = 0;
    way.page->barren = false;
    way.scene.seed->change = way.page->change = "unchanged";
    scene_visit(&way.scene);
    assert_int_equal(scene_number(&way.scene, "SELECT comparable FROM epochs WHERE visit = 2"), 0);
    scene_expect(&way.scene, "unchanged");
    scene_visit(&way.scene);
    assert_int_equal(scene_number(&way.scene, "SELECT comparable FROM epochs WHERE visit = 3"), 1);
    way_end(&way);
}

static void what_max_pages_had_left_out_is_not_recovered(void **state)
{
    way way;
    (void)state;
    way_begin(&way);
    for (uint64_t pages = 1; pages < 4; pages++) {
        way.scene.self.options.max_pages = pages;
        scene_run(&way.scene, CRAWL_LIMIT);
        way.scene.self.options.revisit = true; /* goes on with the first visit */
    }
    way.scene.self.options.max_pages = 0;
    scene_run(&way.scene, CRAWL_DONE);
    scene_judge(&way.scene, -1, 0);
    assert_int_equal(scene_number(&way.scene, "SELECT max(visit) FROM epochs"), 1);
    way.scene.visits = 1;
    scene_expect(&way.scene, "unchanged");
    way.scene.self.options.max_pages = 2;
    way.scene.self.options.revisit = true;
    scene_run(&way.scene, CRAWL_LIMIT);
    assert_int_equal(scene_number(&way.scene, "SELECT count(*) FROM visits WHERE visit = 2 AND change IS NOT NULL"), 2);
    way.scene.self.options.max_pages = 0;
    scene_visit(&way.scene);
    assert_int_equal(scene_number(&way.scene, "SELECT max(visit) FROM epochs"), 2);
    way_end(&way);
}

/* Pages beyond the limit of a host are closed when the next visit begins. */
static void what_a_host_had_too_many_of_is_not_recovered(void **state)
{
    scene scene;
    (void)state;
    scene_begin(&scene);
    for (int n = 0; n < 6; n++) {
        char target[16], behind[32];
        snprintf(target, sizeof target, "/%d", n);
        snprintf(behind, sizeof behind, "%s/behind", target);
        scene_link(&scene, scene_link(&scene, scene.seed, target), behind);
    }
    scene.self.options.max_host_pages = 3;
    scene_expect(&scene, "new");
    scene_run(&scene, CRAWL_LIMIT);
    scene.self.options.max_host_pages = 0;
    scene.self.options.revisit = true;
    scene_run(&scene, CRAWL_DONE);
    assert_int_equal(scene_number(&scene, "SELECT max(visit) FROM epochs"), 2);
    assert_int_equal(scene_number(&scene, "SELECT count(*) FROM visits WHERE visit = 2 AND change = 'unchanged'"), 3);
    assert_int_equal(scene_number(&scene, "SELECT count(*) FROM visits WHERE visit = 2 AND change = 'new'"), 10);
    scene_end(&scene);
}

static void a_seed_that_is_added_is_new(void **state)
{
    way way;
    (void)state;
    way_begin(&way);
    scene_visit(&way.scene);
    scene_expect(&way.scene, "unchanged");
    site_page *later = site_page_add(way.scene.web, 2, "/");
    site_edge_add(way.scene.seed, later, true);
    way.scene.self.seeds[way.scene.self.options.seed_count++] = (vidi_str){later->url, strlen(later->url)};
    later->change = "new";
    scene_visit(&way.scene);
    way_end(&way);
}

/* With the host of another seed, links of pages that have not changed come into scope. */
static void what_another_seed_brings_into_scope_is_not_recovered(void **state)
{
    way way;
    (void)state;
    way_begin(&way);
    site_page *later = site_page_add(way.scene.web, 2, "/"), *other = site_page_add(way.scene.web, 2, "/other");
    site_say(way.page, "<a href='%s'>", other->url);
    scene_visit(&way.scene);
    scene_expect(&way.scene, "unchanged");
    site_edge_add(way.scene.seed, later, true);
    site_edge_add(way.page, other, false);
    way.scene.self.seeds[way.scene.self.options.seed_count++] = (vidi_str){later->url, strlen(later->url)};
    later->change = other->change = "new";
    scene_visit(&way.scene);
    way_end(&way);
}

int main(int argc, char **argv)
{
    static const site_answer nofollow = {.type = "text/html", .fields = "X-Robots-Tag: nofollow\r\n"},
                             plain = {.type = "text/plain"};
    test_add("what a failed page hid is not recovered", what_a_failed_page_hid_is_not_recovered, NULL);
    test_add("what was never reached is new", what_was_never_reached_is_new, NULL);
    test_add("a seed may be gone and come back", a_seed_may_be_gone_and_come_back, NULL);
    test_add("a site may be down for a visit", a_site_may_be_down_for_a_visit, NULL);
    test_add("what robots.txt had forbidden is not recovered", what_robots_txt_had_forbidden_is_not_recovered, NULL);
    test_add("what a head had hidden is not recovered: nofollow", what_a_head_had_hidden_is_not_recovered, &nofollow);
    test_add("what a head had hidden is not recovered: text", what_a_head_had_hidden_is_not_recovered, &plain);
    test_add("what the depth had left out is not recovered", what_the_depth_had_left_out_is_not_recovered, NULL);
    test_add("what too many redirects had hidden is not recovered", what_too_many_redirects_had_hidden_is_not_recovered,
             NULL);
    test_add("what other options had left out is not recovered: --depth",
             what_other_options_had_left_out_is_not_recovered, "depth");
    test_add("what other options had left out is not recovered: --exclude",
             what_other_options_had_left_out_is_not_recovered, NULL);
    test_add("what --max-pages had left out is not recovered", what_max_pages_had_left_out_is_not_recovered, NULL);
    test_add("what a host had too many of is not recovered", what_a_host_had_too_many_of_is_not_recovered, NULL);
    test_add("a seed that is added is new", a_seed_that_is_added_is_new, NULL);
    test_add("what another seed brings into scope is not recovered",
             what_another_seed_brings_into_scope_is_not_recovered, NULL);
    return test_run("crawler/sites/site_revisit_blame", argc, argv);
}
