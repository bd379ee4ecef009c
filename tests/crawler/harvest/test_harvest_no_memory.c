/*
 * When memory runs out, scope, heads and harvest say so, free what they have, and lose no link in silence. Every
 * allocation fails once: first the first, then the second, and so on, until a run needs none that fails.
 */
#include "crawler/base/url_keys.h"
#include "crawler/harvest/responses.h"
#include "crawler/http/http.h"
#include "crawler/packed.h"
#include "crawler/scarce_memory.h"

static void a_scope_without_memory_is_an_error(void **state)
{
    (void)state;
    const char *patterns[] = {"*\xc3\xbc*", "/x*"};
    vidi_str seeds[] = {text_of("http://h.org/a"), text_of("https://www.i.org/b")};
    for (int reach = SCOPE_HOST; reach <= SCOPE_PREFIX; reach++) {
        scope_options options = {.reach = (scope_reach)reach,
                                 .seeds = seeds,
                                 .seed_count = 2,
                                 .include = patterns,
                                 .include_count = 2,
                                 .exclude = patterns,
                                 .exclude_count = 1};
        long failed = 0;
        for (long at = 0, error = VIDI_EMEMORY; error && error != VIDI_EOPTION; at++) {
            scope *scope;
            countdown = at;
            error = scope_open(&scope, &options);
            countdown = -1;
            assert_true(error == 0 || error == VIDI_EMEMORY || error == VIDI_EOPTION || error == VIDI_ECANNOT);
            assert_true((scope != NULL) == (error == 0));
            failed += error != 0;
            scope_close(scope);
        }
        assert_true(failed >= 8 || reach == SCOPE_SITE);
    }
}

static void keys_without_memory_are_an_error(void **state)
{
    (void)state;
    static const unsigned char secret[VIDI_KEY_BYTES] = {1};
    long failed = 0;
    for (long at = 0, error = VIDI_EMEMORY; error; at++) {
        url_keys *keys;
        countdown = at;
        error = url_keys_open(&keys, secret, "whatwg");
        countdown = -1;
        assert_true(error == 0 || error == VIDI_EMEMORY);
        assert_true((keys != NULL) == (error == 0));
        failed += error != 0;
        url_keys_close(keys);
    }
    assert_true(failed >= 2);
}

/* A response that takes all ways at once; all of its links are in a run that has memory enough. */
typedef struct memory_case {
    const char *name;
    frontier_kind kind;
    int status;
    const char *fields, *body;
    bool is_packed;
    size_t links;
} memory_case;

static const memory_case cases[] = {
    {"page", FRONTIER_PAGE, 200, HTML_TYPE,
     "<base href=/b/><a href='a&amp;b'>x</a><a href=http://me@h.org/c#d>y</a><a href='?q=\xc3\xbc'><a "
     "href=http://o.org>",
     false, 4},
    {"packed page", FRONTIER_PAGE, 200, HTML_TYPE "Content-Encoding: gzip\r\n", "<a href=a>x</a><a href=b>y</a>", true,
     2},
    {"redirect", FRONTIER_PAGE, 301, "Location: http://me@h.org/\xc3\xbc\r\n", "", false, 1},
    {"sitemap", FRONTIER_SITEMAP, 200, "", "<urlset><url><loc>/a</loc></url><url><loc>/b</loc></url></urlset>", false,
     2},
    {"feed", FRONTIER_SEED, 200, "Content-Type: text/xml\r\n",
     "<rss><channel><item><link>http://h.org/i</link></item></channel></rss>", false, 1},
    {"page in EUC-KR", FRONTIER_PAGE, 200, "Content-Type: text/html; charset=euc-kr\r\n",
     "<a href='?q=\xb0\xa1'>x</a><a href=b>y</a>", false, 2},
};

static void check_case(const memory_case *c, const harvest_rules *rules, archive_packer *packer)
{
    fetch_response response = response_of(c->status, c->fields, text_of(c->body));
    frontier_url url = page_at("http://h.org/d");
    long failed = 0;

    url.kind = c->kind;
    if (c->is_packed) {
        bytes content = response.body;
        response.body = packed(bytes_str(&content), GZIP);
        bytes_free(&content);
    }
    for (long at = 0, error = VIDI_EMEMORY; error; at++) {
        harvest got;
        countdown = at;
        error = harvest_read(&got, rules, packer, &url, &response);
        countdown = -1;
        check(error == 0 || error == VIDI_EMEMORY, "%s: error %ld at %ld", c->name, error, at);
        if (!error) {
            check(got.link_count == c->links && !got.incomplete && got.records.len > got.response_length,
                  "%s: %zu links after %ld failures", c->name, got.link_count, failed);
            assert_string_equal(skipped_of(&got), "");
        }
        failed += error != 0;
        harvest_free(&got);
    }
    check(failed >= 4, "%s: %ld failures", c->name, failed);
    end_response(&response);
}

static void a_response_without_memory_is_an_error(void **state)
{
    (void)state;
    harvest_rules rules = usual_rules(NULL);
    archive_packer *packer = archive_packer_open();
    assert_non_null(packer);
    rules.check = rules.fragments = rules.store = true;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        check_case(&cases[i], &rules, packer);
    archive_packer_close(packer);
    end_rules(&rules);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_scope_without_memory_is_an_error),
        cmocka_unit_test(keys_without_memory_are_an_error),
        cmocka_unit_test(a_response_without_memory_is_an_error),
    };
    return cmocka_run_group_tests_name("harvest_no_memory", tests, NULL, NULL);
}
