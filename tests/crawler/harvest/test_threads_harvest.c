/*
 * Any number of threads can read responses with the same rules: each has a packer of its own, and all share the scope.
 */
#include <pthread.h>

#include "crawler/harvest/responses.h"
#include "vidi/url.h"

enum { THREADS = 4, TIMES = 200 };

static const char page[] =
    "<meta charset=euc-kr><a href=a>x</a><a href='?q=\xb0\xa1'>y</a><a href=http://www.h.org/z>z</a>"
    "<a href=http://o.org/>o</a><a href=/e/e/e/e><a rel=nofollow href=n>";
static const char expected[] =
    "http://h.org/a http://h.org/?q=%B0%A1 http://www.h.org/z !http://o.org/ !http://h.org/n";

typedef struct worker {
    const harvest_rules *rules;
    pthread_t thread;
    unsigned right;
} worker;

/* Joins the URLs without the static memory of links_of. */
static bool links_are(const harvest *got, const char *links)
{
    for (size_t i = 0; i < got->link_count; i++) {
        const harvest_link *link = &got->links[i];
        links += i > 0 && *links == ' ';
        links += link->kind == FRONTIER_OUTSIDE && *links == '!';
        if (strncmp(links, link->url.ptr, link->url.len) != 0)
            return false;
        links += link->url.len;
    }
    return *links == 0;
}

static void *work(void *context)
{
    worker *worker = context;
    archive_packer *packer = archive_packer_open();
    fetch_response response = {.status = 200};
    frontier_url url = page_at("http://h.org/");

    if (packer && bytes_append_text(&response.head, "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n") == VIDI_OK &&
        bytes_append_text(&response.body, page) == VIDI_OK)
        for (int i = 0; i < TIMES; i++) {
            harvest got;
            worker->right += harvest_read(&got, worker->rules, packer, &url, &response) == VIDI_OK &&
                             got.records.len > 0 && got.skipped[HARVEST_TRAP] == 1 && got.found == 6 &&
                             links_are(&got, expected);
            harvest_free(&got);
        }
    bytes_free(&response.head);
    bytes_free(&response.body);
    archive_packer_close(packer);
    return NULL;
}

static void threads_share_rules(void **state)
{
    (void)state;
    const char *patterns[] = {"*.zip"};
    scope_options options = {
        .reach = SCOPE_SITE, .exclude = patterns, .exclude_count = 1, .max_url = 2048, .max_repeat = 3};
    vidi_canon *sites;
    if (vidi_canon_create(&sites, "key=site", NULL, NULL) != VIDI_OK)
        skip();
    vidi_canon_close(sites);
    harvest_rules rules = usual_rules(&options);
    rules.check = rules.store = true;
    worker workers[THREADS] = {0};
    for (int i = 0; i < THREADS; i++) {
        workers[i].rules = &rules;
        assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(workers[i].thread, NULL), 0);
        assert_int_equal(workers[i].right, TIMES);
    }
    end_rules(&rules);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_share_rules),
    };
    return cmocka_run_group_tests_name("threads_harvest", tests, NULL, NULL);
}
