/*
 * The test site itself: what the server sends, what its log says, and the truth about small webs that is known by hand.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/runner.h"
#include "worlds.h"

static int connect_to(const site *web, unsigned host)
{
    struct sockaddr_in name = {
        .sin_family = AF_INET, .sin_port = htons((uint16_t)web->port), .sin_addr.s_addr = htonl(0x7f000100u + host)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    check(fd >= 0 && connect(fd, (struct sockaddr *)&name, sizeof name) == 0, "cannot connect");
    return fd;
}

static void request(int fd, const char *method, const char *host, const char *target)
{
    check(dprintf(fd, "%s %s HTTP/1.1\r\nHost: %s:1\r\nX-Test: yes\r\n\r\n", method, target, host) > 0, "cannot write");
}

/* Reads until the text ends in this, or the connection is closed. */
static void receive(int fd, site_text *into, const char *end)
{
    char piece[4096];
    ssize_t got = 1;
    for (size_t length = strlen(end);
         got > 0 && (into->length < length || memcmp(into->at + into->length - length, end, length) != 0);) {
        got = read(fd, piece, sizeof piece);
        site_text_add(into, piece, got > 0 ? (size_t)got : 0);
    }
}

static char *ask(const site *web, const char *method, const char *target, const char *end)
{
    site_text text = {0};
    int fd = connect_to(web, 1);
    request(fd, method, "127.0.1.1", target);
    receive(fd, &text, end);
    close(fd);
    return text.at;
}

static void responses_come_as_they_should(void **state)
{
    site *web = site_open(1);
    site_page *page;
    (void)state;
    page = site_page_add(web, 1, "/whole");
    site_say(page, "0123456789");
    page = site_page_add(web, 1, "/chunked");
    site_say(page, "%01500d", 7);
    page->answer.manner = SITE_CHUNKED;
    page = site_page_add(web, 1, "/cut");
    site_say(page, "0123456789");
    page->answer.manner = SITE_CUT_OFF;
    page = site_page_add(web, 1, "/closes");
    page->answer.manner = SITE_CLOSES;
    page = site_page_add(web, 1, "/r");
    site_redirect(page, 302, NULL, "/there");
    page = site_page_add(web, 1, "/storm");
    site_say(page, "calm");
    page->early = (site_answer){.status = 429, .fields = "Retry-After: 7\r\n", .body = ""};
    page->early_times = 1;
    site_serve(web);

    static const struct {
        const char *method, *target, *end, *has;
    } list[] = {
        {"GET", "/whole", "0123456789",
         "HTTP/1.1 200 OK\r\nServer: vidi-test-site\r\nContent-Type: text/html\r\n"
         "Content-Length: 10\r\n\r\n0123456789"},
        {"HEAD", "/whole", "\r\n\r\n", "Content-Length: 10\r\n\r\n"},
        {"GET", "/chunked", "0\r\n\r\n", "\r\n\r\n3e8\r\n000"},
        {"GET", "/chunked", "0\r\n\r\n", "\r\n1f4\r\n000"},
        {"GET", "/cut", "never", "Content-Length: 10\r\nConnection: close\r\n\r\n01234"},
        {"GET", "/r", "\r\n\r\n", "HTTP/1.1 302 Elsewhere\r\nServer: vidi-test-site\r\nLocation: /there\r\n"},
        {"GET", "/nothing", "here\n", "HTTP/1.1 404 "},
        {"GET", "/storm", "\r\n\r\n", "HTTP/1.1 429 Refused\r\nServer: vidi-test-site\r\nRetry-After: 7\r\n"},
        {"GET", "/storm", "calm", "HTTP/1.1 200 OK"},
    };
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        char *text = ask(web, list[i].method, list[i].target, list[i].end);
        check(text && strstr(text, list[i].has), "%s %s: %s", list[i].method, list[i].target, text);
        check(strcmp(list[i].target, "/cut") != 0 || !strstr(text, "012345"), "not cut off");
        free(text);
    }
    char *nothing = ask(web, "GET", "/closes", "never");
    check(!nothing || !*nothing, "it answers before it closes: %s", nothing);
    free(nothing);
    site_close(web);
}

/* What If-None-Match and If-Modified-Since lead to. */
static void conditions_are_answered(void **state)
{
    static const struct {
        const char *target, *conditions, *has;
    } list[] = {
        {"/tag", "", "HTTP/1.1 200 OK\r\nServer: vidi-test-site\r\nContent-Type: text/html\r\nETag: \"a\"\r\n"},
        {"/tag", "If-None-Match: \"a\"\r\n", "HTTP/1.1 304 Elsewhere\r\nServer: vidi-test-site\r\nETag: \"a\"\r\n\r\n"},
        {"/tag", "If-None-Match: W/\"a\"\r\n", "HTTP/1.1 304 "},
        {"/tag", "If-None-Match: \"b\"\r\n", "HTTP/1.1 200 "},
        {"/tag", "If-Modified-Since: Thu, 15 Jan 2026 08:09:10 GMT\r\n", "HTTP/1.1 200 "},
        {"/date", "If-Modified-Since: Thu, 15 Jan 2026 08:09:10 GMT\r\n", "HTTP/1.1 304 "},
        {"/date", "If-Modified-Since: Thu, 15 Jan 2026 08:09:09 GMT\r\n", "HTTP/1.1 200 "},
        {"/both", "If-None-Match: \"b\"\r\nIf-Modified-Since: Thu, 15 Jan 2026 08:09:10 GMT\r\n", "HTTP/1.1 200 "},
        {"/ignored", "If-None-Match: \"a\"\r\n", "HTTP/1.1 200 "},
    };
    site *web = site_open(1);
    (void)state;
    for (const char *const *target = (const char *[]){"/tag", "/date", "/both", "/ignored", NULL}; *target; target++) {
        site_page *page = site_page_add(web, 1, "%s", *target);
        page->answer.etag = strcmp(*target, "/date") != 0 ? "\"a\"" : NULL;
        page->answer.modified = strcmp(*target, "/tag") != 0 ? "Thu, 15 Jan 2026 08:09:10 GMT" : NULL;
        page->answer.conditions = strcmp(*target, "/ignored") == 0 ? SITE_IGNORES : SITE_OBEYS;
        site_say(page, "0123456789");
    }
    site_serve(web);
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        site_text text = {0};
        int fd = connect_to(web, 1);
        check(dprintf(fd, "GET %s HTTP/1.1\r\nHost: 127.0.1.1\r\n%s\r\n", list[i].target, list[i].conditions) > 0,
              "sent");
        receive(fd, &text, strstr(list[i].has, "304") ? "\r\n\r\n" : "9");
        check(strncmp(text.at, list[i].has, strlen(list[i].has)) == 0, "%s with %s: %s", list[i].target,
              list[i].conditions, text.at);
        close(fd);
        site_text_free(&text);
    }
    site_stop(web);
    assert_int_equal(site_body_bytes(web), 60);
    site_close(web);
}

static int64_t seven(void *context)
{
    (void)context;
    return 7;
}

/* Two requests at once to one host, from two connections: the log shows that they overlap, and when they came. */
static void the_log_shows_what_overlaps(void **state)
{
    site *web = site_open(2);
    site_text text = {0};
    (void)state;
    site_say(site_page_add(web, 1, "/slow"), "slow");
    site_find(web, "127.0.1.1", "/slow")->answer.delay_ms = 100;
    site_say(site_page_on(web, "name.test", "/quick"), "quick");
    web->now = seven;
    site_serve(web);
    int first = connect_to(web, 1), second = connect_to(web, 1), third = connect_to(web, 2);
    request(first, "GET", "127.0.1.1", "/slow");
    for (bool logged = false; !logged;) {
        pthread_mutex_lock(&web->lock);
        logged = web->log_count > 0;
        pthread_mutex_unlock(&web->lock);
    }
    request(second, "GET", "name.test", "/quick");
    receive(second, &text, "quick");
    request(third, "GET", "127.0.1.1", "/nothing");
    receive(third, &text, "here\n");
    receive(first, &text, "slow");
    close(first), close(second), close(third);
    site_stop(web);
    assert_int_equal(web->log_count, 3);
    const site_request *log = web->log;
    assert_string_equal(log[0].target, "/slow");
    assert_string_equal(log[1].host, "name.test");
    assert_true(strstr(log[1].head, "X-Test: yes") != NULL);
    assert_true(log[0].began == 7 && log[0].ended == 7);
    assert_true(log[0].took_us >= 90000);
    assert_int_equal(log[0].with_host * 10 + log[0].with_address, 11);
    assert_int_equal(log[1].with_host * 10 + log[1].with_address, 12); /* the same address */
    assert_int_equal(log[2].with_host * 10 + log[2].with_address, 21); /* the same host */
    assert_int_equal(log[1].status * 1000 + log[2].status, 200404);
    site_text_free(&text);
    site_close(web);
}

static void the_walk_finds_shortest_paths_and_follows_redirects(void **state)
{
    site *web = site_open(2);
    (void)state;
    site_page *root = site_page_add(web, 1, "/"), *other = site_page_add(web, 2, "/");
    world_loops(web, 1, root);
    world_redirects(web, 1, 2, 9, root);
    static const struct {
        const char *target;
        int depth;
    } list[] = {
        {"/", 0},         {"/figure-1.2/A", 1}, {"/figure-1.2/G", 3}, {"/figure-1.2/D", 4}, {"/figure-2.2/B", 2},
        {"/r/301/to", 1}, {"/chain/5", 1},      {"/long/20", 1},      {"/long/21", -1},     {"/loop/2", 1}};
    site_walk(web, &root, 1, -1);
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        const site_page *page = site_find(web, "127.0.1.1", list[i].target);
        int depth = page->reached ? (int)page->depth : -1;
        check(depth == list[i].depth, "%s is at depth %d, not %d", list[i].target, depth, list[i].depth);
    }
    check(!other->reached, "nobody links to the other host");
    site_walk(web, &root, 1, 1);
    check(site_find(web, "127.0.1.1", "/chain/5")->reached, "a redirect is not a level");
    check(!site_find(web, "127.0.1.1", "/figure-1.2/B")->reached, "deeper than asked for");
    site_close(web);
}

int main(int argc, char **argv)
{
    test_add("responses come as they should", responses_come_as_they_should, NULL);
    test_add("conditions are answered", conditions_are_answered, NULL);
    test_add("the log shows what overlaps", the_log_shows_what_overlaps, NULL);
    test_add("the walk finds shortest paths and follows redirects", the_walk_finds_shortest_paths_and_follows_redirects,
             NULL);
    return test_run("crawler/site/site_server", argc, argv);
}
