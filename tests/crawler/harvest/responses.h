/* Responses written down in a test, and what was harvested from them. */
#ifndef TESTS_CRAWLER_HARVEST_RESPONSES_H
#define TESTS_CRAWLER_HARVEST_RESPONSES_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "crawler/harvest/harvest.h"
#include "support/check.h"

static inline vidi_str text_of(const char *text)
{
    return (vidi_str){text, strlen(text)};
}

/* The rules of most tests: the host h.org, everything else at its default. */
static inline harvest_rules usual_rules(const scope_options *options)
{
    static const vidi_str seed = {"http://h.org/", 13};
    scope_options with_seed = options ? *options : (scope_options){.max_url = 2048, .max_repeat = 3};
    scope *made;

    with_seed.seeds = &seed;
    with_seed.seed_count = 1;
    assert_int_equal(scope_open(&made, &with_seed), VIDI_OK);
    return (harvest_rules){
        .scope = made, .agent = {"vidi", 4}, .max_depth = -1, .max_hops = 20, .max_unpacked = 1 << 24};
}

static inline void end_rules(const harvest_rules *rules)
{
    scope_close((scope *)(uintptr_t)rules->scope);
}

/* A response with this head and body to a GET. `fields` have line ends. */
static inline fetch_response response_of(int status, const char *fields, vidi_str body)
{
    fetch_response response = {.status = status, .date = 1700000000000};

    assert_int_equal(bytes_append_text(&response.sent, "GET / HTTP/1.1\r\nHost: h.org\r\n\r\n"), VIDI_OK);
    assert_int_equal(bytes_append_format(&response.head, "HTTP/1.1 %d X\r\n%s\r\n", status, fields), VIDI_OK);
    assert_int_equal(bytes_append_str(&response.body, body), VIDI_OK);
    return response;
}

static inline void end_response(fetch_response *response)
{
    bytes_free(&response->sent);
    bytes_free(&response->head);
    bytes_free(&response->body);
}

static inline harvest harvested(const harvest_rules *rules, const frontier_url *url, int status, const char *fields,
                                vidi_str body)
{
    fetch_response response = response_of(status, fields, body);
    harvest got;

    assert_int_equal(harvest_read(&got, rules, NULL, url, &response), VIDI_OK);
    end_response(&response);
    return got;
}

static inline frontier_url page_at(const char *url)
{
    return (frontier_url){.url = text_of(url), .kind = FRONTIER_PAGE};
}

#define HTML_TYPE "Content-Type: text/html; charset=utf-8\r\n"

/* A page of h.org in HTML. */
static inline harvest harvested_page(const harvest_rules *rules, const char *html)
{
    frontier_url url = page_at("http://h.org/d/page");
    return harvested(rules, &url, 200, HTML_TYPE, text_of(html));
}

/* All links as "url url", with '>' before where a redirect leads, '$' before sitemaps, '!' before what is outside,
 * '+' before what is loaded. */
static inline const char *links_of(const harvest *got)
{
    static char all[10000];
    all[0] = 0;
    for (size_t i = 0; i < got->link_count; i++) {
        const harvest_link *link = &got->links[i];
        sprintf(all + strlen(all), "%s%s%s%s%.*s", i ? " " : "", link->is_redirect ? ">" : "",
                link->kind == FRONTIER_SITEMAP ? "$" : "",
                link->kind == FRONTIER_OUTSIDE    ? "!"
                : link->kind == FRONTIER_RESOURCE ? "+"
                                                  : "",
                (int)link->url.len, link->url.ptr);
    }
    return all;
}

/* All that was not wanted as "scope=1 bad=2". */
static inline const char *skipped_of(const harvest *got)
{
    static char all[1000];
    all[0] = 0;
    for (int i = 0; i < HARVEST_SKIPS; i++)
        if (got->skipped[i])
            sprintf(all + strlen(all), "%s%s=%d", all[0] ? " " : "", harvest_skip_name((harvest_skip)i),
                    (int)got->skipped[i]);
    return all;
}

#define check_harvest(got, links, skipped)                                                                             \
    do {                                                                                                               \
        assert_string_equal(links_of(got), links);                                                                     \
        assert_string_equal(skipped_of(got), skipped);                                                                 \
        harvest_free(got);                                                                                             \
    } while (0)

#endif
