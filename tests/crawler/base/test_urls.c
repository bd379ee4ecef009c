/*
 * Parts and keys of serialised URLs.
 */
#include <stdio.h>
#include <string.h>

#include "crawler/base/crawl_clock.h"
#include "crawler/base/url_keys.h"
#include "crawler/base/web_url.h"
#include "support/check.h"

static vidi_str text_of(const char *text)
{
    return (vidi_str){text, strlen(text)};
}

static bool is(vidi_str text, const char *expected)
{
    return text.len == strlen(expected) && memcmp(text.ptr, expected, text.len) == 0;
}

static void a_url_is_cut_into_its_parts(void **state)
{
    (void)state;
    static const struct {
        const char *url, *origin, *scheme, *host;
        int port;
        const char *path, *query, *target; /* query NULL: none */
    } cases[] = {
        {"http://a.org/", "http://a.org", "http", "a.org", 80, "/", NULL, "/"},
        {"https://a.org/b/c?d=/e?f#g", "https://a.org", "https", "a.org", 443, "/b/c", "d=/e?f", "/b/c?d=/e?f"},
        {"http://a.org:8080/?", "http://a.org:8080", "http", "a.org", 8080, "/", "", "/?"},
        {"http://a.org:65535/#?x", "http://a.org:65535", "http", "a.org", 65535, "/", NULL, "/"},
        {"http://[::1]/@:", "http://[::1]", "http", "[::1]", 80, "/@:", NULL, "/@:"},
        {"https://[2001:db8::1]:81/", "https://[2001:db8::1]:81", "https", "[2001:db8::1]", 81, "/", NULL, "/"},
        {"http://a.org//b", "http://a.org", "http", "a.org", 80, "//b", NULL, "//b"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        vidi_url parts;
        check(web_url_view(text_of(cases[i].url), &parts), "%s is refused", cases[i].url);
        check(is(web_url_origin(&parts), cases[i].origin) && is(parts.scheme, cases[i].scheme) &&
                  is(parts.host, cases[i].host) && web_url_port(&parts) == cases[i].port &&
                  is(parts.path, cases[i].path) && is(web_url_target(&parts), cases[i].target),
              "%s", cases[i].url);
        check(cases[i].query ? parts.query.ptr && is(parts.query, cases[i].query) : !parts.query.ptr, "%s",
              cases[i].url);
    }
}

static void other_schemes_user_names_and_missing_hosts_are_refused(void **state)
{
    (void)state;
    static const char *const urls[] = {"",
                                       "http:",
                                       "http://",
                                       "ftp://a.org/",
                                       "mailto:a@b",
                                       "HTTP://a.org/",
                                       "http:///x",
                                       "http://:80/",
                                       "http://me@a.org/",
                                       "http://a:b@a.org/x",
                                       "http://a.org:123456789/",
                                       "http://a.org",
                                       "http://a.org#/x"};
    for (size_t i = 0; i < sizeof urls / sizeof urls[0]; i++) {
        vidi_url parts;
        check(!web_url_view(text_of(urls[i]), &parts), "%s is taken", urls[i]);
    }
}

static void keys_are_equal_just_if_the_canonical_forms_are(void **state)
{
    (void)state;
    enum { URLS = 1000 };
    static const unsigned char secret[VIDI_KEY_BYTES] = {1, 2, 3}, other_secret[VIDI_KEY_BYTES] = {1, 2, 4};
    static char texts[URLS][40];
    static vidi_str urls[URLS];
    static uint64_t keys[URLS], again[URLS], others[URLS];
    for (int i = 0; i < URLS; i++) {
        sprintf(texts[i], i % 2 ? "http://a.org/%d#x" : "http://A.org:80/%d", i / 2);
        urls[i] = text_of(texts[i]);
    }
    url_keys *maker, *other;
    assert_int_equal(url_keys_open(&maker, secret, "whatwg"), VIDI_OK);
    assert_int_equal(url_keys_open(&other, other_secret, "whatwg"), VIDI_OK);
    assert_int_equal(url_keys_make(maker, urls, URLS, keys), VIDI_OK);
    assert_int_equal(url_keys_make(other, urls, URLS, others), VIDI_OK);
    for (int i = 0; i < URLS; i++) {
        assert_true(keys[i] >= 1 && keys[i] <= INT64_MAX && keys[i] != others[i]);
        assert_int_equal(url_keys_make(maker, &urls[i], 1, &again[i]), VIDI_OK);
        assert_true(again[i] == keys[i] && keys[i] == keys[i ^ 1]);
        for (int j = 0; j < (i & ~1); j++)
            assert_true(keys[i] != keys[j]);
    }
    url_keys_close(maker);
    url_keys_close(other);
    url_keys_close(NULL);
}

static void text_without_a_canonical_form_has_a_key_of_its_own(void **state)
{
    (void)state;
    static const unsigned char secret[VIDI_KEY_BYTES] = {5};
    static char longer[5000];
    memset(longer, 'a', sizeof longer);
    memcpy(longer, "http://a.org/", 13);
    vidi_str texts[] = {text_of("http://a.org/x"), text_of("a.org"), text_of("b.org"), {longer, sizeof longer}};
    uint64_t keys[4];
    url_keys *maker;
    assert_int_equal(url_keys_open(&maker, secret, "key=host"), VIDI_OK);
    assert_int_equal(url_keys_make(maker, texts, 4, keys), VIDI_OK);
    assert_true(keys[0] != keys[1] && keys[1] != keys[2] && keys[0] == keys[3]);
    url_keys_close(maker);
    assert_int_equal(url_keys_open(&maker, secret, "whatwg"), VIDI_OK);
    longer[sizeof longer - 1] = '#';
    assert_int_equal(url_keys_make(maker, &texts[3], 1, &keys[0]), VIDI_OK);
    texts[3].len--;
    assert_int_equal(url_keys_make(maker, &texts[3], 1, &keys[1]), VIDI_OK);
    texts[3].len--;
    assert_int_equal(url_keys_make(maker, &texts[3], 1, &keys[2]), VIDI_OK);
    assert_true(keys[0] == keys[1] && keys[1] != keys[2]);
    url_keys_close(maker);
}

static void keys_without_a_form_tell_all_bytes_apart(void **state)
{
    (void)state;
    static const unsigned char secret[VIDI_KEY_BYTES] = {9};
    vidi_str texts[] = {text_of("http://a.org"), text_of("http://A.org"), text_of("not a URL"), {"", 0}};
    uint64_t keys[4];
    url_keys *maker;
    assert_int_equal(url_keys_open(&maker, secret, "none"), VIDI_OK);
    assert_int_equal(url_keys_make(maker, texts, 4, keys), VIDI_OK);
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < i; j++)
            assert_true(keys[i] != keys[j]);
    url_keys_close(maker);
    assert_int_equal(url_keys_open(&maker, secret, "no such form"), VIDI_EOPTION);
    assert_null(maker);
}

static void the_machines_clock_never_goes_back(void **state)
{
    (void)state;
    const crawl_clock *clock = &crawl_clock_real;
    int64_t before = clock->now(clock->context);
    assert_true(clock->now(clock->context) >= before);
    assert_true(clock->date(clock->context) > INT64_C(1500000000000));
    assert_null(clock->skip);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_url_is_cut_into_its_parts),
        cmocka_unit_test(other_schemes_user_names_and_missing_hosts_are_refused),
        cmocka_unit_test(keys_are_equal_just_if_the_canonical_forms_are),
        cmocka_unit_test(text_without_a_canonical_form_has_a_key_of_its_own),
        cmocka_unit_test(keys_without_a_form_tell_all_bytes_apart),
        cmocka_unit_test(the_machines_clock_never_goes_back),
    };
    return cmocka_run_group_tests_name("urls", tests, NULL, NULL);
}
