/*
 * Canonical forms in general: names and versions, whatwg, surt and keys, bytes that are not UTF-8, explanations, buffers
 * and arguments.
 */
#include <stdbool.h>
#include <stdlib.h>

#include "url/canonical.h"

static void whatwg_drops_the_fragment_and_nothing_else(void **state)
{
    (void)state;
    CHECK_CANONICAL({NULL, "HTTP://H:80/a/../%7e?#f", "http://h/%7e?"}, {"whatwg", "a:b#c", "a:b"},
                    {"whatwg", "//h/", NULL}, {"whatwg/1", "http://h", "http://h/"},
                    {"none", "HTTP://H #f", "HTTP://H #f"}, {"none", "", ""}, {"none/1", "x y", "x y"});
}

static void whatwg_keeps_fragments_that_name_pages_if_asked(void **state)
{
    (void)state;
    CHECK_CANONICAL({"whatwg", "http://h/#!a", "http://h/"}, {"whatwg", "http://h/#/a", "http://h/"},
                    {"whatwg,+fragment", "http://H/#!a b", "http://h/#!a%20b"},
                    {"whatwg,+fragment", "http://h/a?b#/c?d#e", "http://h/a?b#/c?d#e"},
                    {"whatwg,+fragment", "http://h/#!", "http://h/#!"}, {"whatwg,+fragment", "http://h/#", "http://h/"},
                    {"whatwg,+fragment", "http://h/#top", "http://h/"},
                    {"whatwg,+fragment", "http://h/#%21a", "http://h/"}, {"whatwg,+fragment", "x:y #!z", "x:y%20#!z"},
                    {"whatwg,+fragment,-fragment", "http://h/#!a", "http://h/"});
}

static void bytes_that_are_not_utf8_stay_different(void **state)
{
    (void)state;
    CHECK_CANONICAL(
        {"whatwg", "http://h/caf\xe9", "http://h/caf%E9"}, {"whatwg", "http://h/caf\xe8", "http://h/caf%E8"},
        {"whatwg", "http://h/caf\xc3\xa9", "http://h/caf%C3%A9"}, {"whatwg", "http://h/?\xff\xc3", "http://h/?%FF%C3"},
        {"whatwg", "http://\xe9:\xe8@h/", "http://%E9:%E8@h/"}, {"whatwg", "http://h/\xe2\x82", "http://h/%E2%82"},
        {"whatwg", "mailto:\xe9?\xe8", "mailto:%E9?%E8"}, {"whatwg", "x://\xe9/", "x://%E9/"},
        {"whatwg", "http://h/\xc3\t\xa9", "http://h/%C3%A9"}, {"whatwg", "http://h\t/\xe9", "http://h/%E9"},
        {"whatwg,+fragment", "http://h/#!\xe9", "http://h/#!%E9"},
        {"crawl", "http://h/caf\xe9?\xe8", "http://h/caf%E9?%E8"}, {"surt", "http://h/caf\xe9?\xe8", "h)/caf%e9?%e8"},
        {"key=host", "x://\xe9/a", "%E9"}, {"none", "http://h/caf\xe9", "http://h/caf\xe9"});
}

static void hosts_that_are_not_utf8_are_invalid(void **state)
{
    (void)state;
    CHECK_CANONICAL({"whatwg", "http://caf\xe9.example/", NULL}, {"crawl", "https://\xff/", NULL},
                    {"surt", "ftp://h\xc3/", NULL}, {"key=host", "http://\xe9/", NULL}, {"whatwg", "http://%E9/", NULL},
                    {"whatwg", "file://\xe9/a", NULL});
}

static void a_base_that_is_not_utf8_is_read_the_same_way(void **state)
{
    (void)state;
    vidi_str base = test_str("http://h/caf\xe9/x");
    char out[100];
    size_t len = sizeof out;
    vidi_canon *canon = canon_with("whatwg", NULL);
    assert_int_equal(vidi_url_canon(canon, test_str("y"), &base, out, &len), VIDI_OK);
    assert_int_equal(len, strlen("http://h/caf%E9/y"));
    assert_memory_equal(out, "http://h/caf%E9/y", len);
    vidi_canon_close(canon);
}

/* tests/python/test_w3lib.py compares with w3lib itself. */
static void w3lib_is_scrapys_form(void **state)
{
    (void)state;
    CHECK_CANONICAL(
        {"w3lib", "http://H:80/do?c=3&b=5&b=2&a=50#f", "http://h/do?a=50&b=2&b=5&c=3"},
        {"w3lib", "http://h?", "http://h/"}, {"w3lib", "http://h/?a&&b=", "http://h/?a=&b="},
        {"w3lib", "http://h/?=", "http://h/?="}, {"w3lib", "http://h/?&", "http://h/"},
        {"w3lib", "http://h/?q=a+b%20c%2B", "http://h/?q=a+b+c%2B"},
        {"w3lib", "http://h/?a=%7e!/%c3%a9%", "http://h/?a=~%21%2F%C3%A9%25"},
        {"w3lib", "http://h/?a;b=c=d", "http://h/?a%3Bb=c%3Dd"},
        /* sorted by the bytes that are meant, not by those of the escapes */
        {"w3lib", "http://h/?%C3%A9=1&z=2", "http://h/?z=2&%C3%A9=1"},
        {"w3lib", "http://h/?a=%C3&a=z", "http://h/?a=z&a=%C3"},
        {"w3lib", "http://h/?a%00=1&a=2&a%00%00", "http://h/?a=2&a%00=1&a%00%00="},
        {"w3lib", "http://h/?a!=1&a+=2", "http://h/?a+=2&a%21=1"},
        {"w3lib", "http://h/?12345678b=1&12345678a=1&1234567%38", "http://h/?12345678=&12345678a=1&12345678b=1"},
        {"w3lib", "http://h/%7Eu%2f%3f%23%3a%5b%c3%a9%5C", "http://h/~u%2F%3F%23:[%C3%A9%5C"},
        {"w3lib", "http://h/100%/%2541/%252F", "http://h/100%25/%2541/%252F"},
        {"w3lib", "http://h/%41;%41/b;x=%7e;y", "http://h/A;A/b;x=%7e;y"}, {"w3lib", "http://h/a;", "http://h/a"},
        {"w3lib", "http://h/a%3B", "http://h/a"}, {"w3lib", "http://h/a%3B;", "http://h/a"},
        {"w3lib", "http://h/a%3Bb;?c", "http://h/a;b?c="}, {"w3lib", "http://h/a;;", "http://h/a;;"},
        {"w3lib", "http://h/..;", "http://h/..;"}, {"w3lib", "http://h/a.;?b", "http://h/a.?b="},
        {"w3lib", "http://Us;er:P@h/", "http://Us%3Ber:P@h/"}, {"w3lib", "ftp://h/%41?b&a", "ftp://h/A?a=&b="},
        {"w3lib", "ws://h/%41?b&a", "ws://h/%41?b&a"}, {"w3lib", "mailto:%41?b&a", "mailto:%41?b&a"},
        {"w3lib", "http://h/\xe9?\xe8", "http://h/%E9?%E8="}, {"w3lib", "x", NULL});
}

static void surt_is_the_archives_key(void **state)
{
    (void)state;
    CHECK_CANONICAL(
        {"surt", "http://www.Example.com:8080/A/b/?z=1&a=2#f", "com,example:8080)/a/b?a=2&z=1"},
        {"surt", "https://u:p@h/", "h)/"}, {"surt", "http://h", "h)/"}, {"surt", "http://h/?", "h)/"},
        {"surt", "http://www23.a.b/", "b,a)/"}, {"surt", "http://www/", "www)/"}, {"surt", "http://www./", "www)/"},
        {"surt", "http://wwwx.a/", "a,wwwx)/"}, {"surt,-www", "http://www.a/", "a,www)/"},
        {"surt", "http://a..b.../", "b,a)/"}, {"surt", "http://1.2.3.4/", "4,3,2,1)/"},
        {"surt,-reverse-ip", "http://1.2.3.4/", "1.2.3.4)/"}, {"surt", "http://[::1]:81/", "[::1]:81)/"},
        {"surt,+scheme", "https://a.b/", "https://(b,a)/"}, {"surt,+comma", "https://a.b:1/", "b,a:1,)/"},
        {"surt", "http://h/%2525%2541//x/./y%2f..%2Fz/", "h)/%25a/x/z"}, {"surt", "http://h/%", "h)/%25"},
        {"surt", "http://h/a%20%23%e9?%2B%3D", "h)/a%20%23%e9?+="}, {"surt,-percent", "http://h/%41", "h)/%41"},
        {"surt,-lower-path,-lower-query", "http://h/A?B", "h)/A?B"}, {"surt", "http://h/A?B", "h)/a?b"},
        {"surt", "http://h/?a=2&a-b&a=1&a", "h)/?a&a=1&a=2&a-b"}, {"surt,-sort", "http://h/?b&a", "h)/?b&a"},
        {"surt", "http://h/a;jsessionid=0123456789abcdef0123456789abcdef/?x", "h)/a?x"},
        {"surt,-session", "http://h/?sid=0123456789abcdef0123456789abcdef", "h)/?sid=0123456789abcdef0123456789abcdef"},
        {"surt", "mailto:a@b", "mailto:a@b"}, {"surt", "file:///A", "file:///A"},
        {"surt", "whois://Whois.a/B", "a,whois)/b"}, {"surt", "warcinfo://A", "warcinfo://A"}, {"surt", "x", NULL});
}

static void keys_are_hosts_and_sites(void **state)
{
    (void)state;
    CHECK_CANONICAL({"key=host", "http://u@WWW.Example.com:81/a", "www.example.com"}, {"key=host", "mailto:a", NULL},
                    {"key=host", "file:///a", NULL}, {"key=host", "http://[::1]/", "[::1]"}, {"key=host", "x", NULL},
                    {"key=host/1", "http://1/", "0.0.0.1"});
    vidi_canon *canon = NULL;
    int result = vidi_canon_create(&canon, "key=site", NULL, NULL);
    vidi_canon_close(canon);
    if (result) {
        assert_int_equal(result, VIDI_EOPTION);
        assert_non_null(strstr(vidi_message(), "libpsl"));
        return;
    }
    CHECK_CANONICAL(
        {"key=site", "http://www.example.co.uk/a", "example.co.uk"}, {"key=site", "http://co.uk/", "co.uk"},
        {"key=site", "http://a.b.example.com./", "example.com"}, {"key=site", "http://1.2.3.4/", "1.2.3.4"},
        {"key=site", "http://localhost/", "localhost"}, {"key=site", "http://a.b.unheardof/", "b.unheardof"},
        {"key=site", "http://a.a.a.a.a.a.a.a.a.a.a.a.a.a.b.com/", "b.com"}, {"key=site", "mailto:a", NULL},
        {"key=site", "http://x.xn--fiqs8s/", "x.xn--fiqs8s"}, {"key=site", "http://y.x.xn--fiqs8s/", "x.xn--fiqs8s"});
}

static void names_have_versions_and_differences(void **state)
{
    (void)state;
    static const char *const names[][2] = {
        {NULL, "whatwg/1"},
        {"whatwg,+fragment", "whatwg/1,+fragment"},
        {"none", "none/1"},
        {"crawl", "crawl/1"},
        {"crawl,-sort,-index", "crawl/1,-index,-sort"},
        {"crawl,-sort,+sort", "crawl/1"},
        {"crawl,+slash,+fragment,+scheme,+www", "crawl/1,+www,+scheme,+slash,+fragment"},
        {"w3lib", "w3lib/1"},
        {"surt,+scheme,-www", "surt/1,-www,+scheme"},
        {"key=host", "key=host/1"},
        {"crawl/1,-sort", "crawl/1,-sort"}};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        vidi_canon *canon = canon_with(names[i][0], NULL), *again = canon_with(names[i][1], NULL);
        assert_string_equal(vidi_canon_name(canon), names[i][1]);
        assert_string_equal(vidi_canon_name(again), names[i][1]);
        vidi_canon_close(canon);
        vidi_canon_close(again);
    }
}

static void unknown_forms_are_refused_with_a_list(void **state)
{
    (void)state;
    static const char *const bad[] = {"",           "crawl/2",     "crawl/",    "Crawl",          "crawl,",
                                      "crawl,sort", "crawl,-what", "whatwg,-x", "surt,+",         "w3lib,-w3lib",
                                      "w3lib/2",    "key=page",    "key",       "surt,-reorder",  "key=host,-host",
                                      "none,-",     "none/2",      "whatwg/0",  "whatwg,-whatwg", "whatwg/01",
                                      "none,-none"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        vidi_canon *canon = (vidi_canon *)&canon;
        check(vidi_canon_create(&canon, bad[i], NULL, NULL) == VIDI_EOPTION, "\"%s\" was taken", bad[i]);
        assert_null(canon);
    }
    vidi_canon *canon;
    vidi_canon_create(&canon, "crawl,-what", NULL, NULL);
    assert_non_null(strstr(vidi_message(), "tracking, index, sort, www, scheme, slash, fragment"));
    vidi_canon_create(&canon, "crawl/2", NULL, NULL);
    assert_non_null(strstr(vidi_message(), "only crawl/1"));
}

static void every_rule_is_listed_and_can_be_switched(void **state)
{
    (void)state;
    vidi_canon_info info = {.size = sizeof info};
    size_t n = 0, switched = 0;
    for (; vidi_canon_rule(n, &info) == VIDI_OK; n++) {
        assert_non_null(info.summary);
        assert_int_equal(info.version, 1);
        if (!info.rule)
            continue;
        char text[100], name[100];
        snprintf(text, sizeof text, "%s,%c%s", info.profile, info.is_on ? '-' : '+', info.rule);
        snprintf(name, sizeof name, "%s/%u,%c%s", info.profile, info.version, info.is_on ? '-' : '+', info.rule);
        vidi_canon *canon = canon_with(text, NULL);
        assert_string_equal(vidi_canon_name(canon), name);
        vidi_canon_close(canon);
        switched++;
    }
    assert_int_equal(switched, 1 + 11 + 10);
    assert_int_equal(vidi_canon_rule(n, &info), VIDI_EABSENT);
    assert_int_equal(vidi_canon_rule(0, NULL), VIDI_EARGUMENT);
}

/* Adds "rule: after\n" and checks that each step begins where the last ended. */
typedef struct told {
    char text[2000], last[500];
    int stop_at, steps;
} told;

static int hear(void *context, const vidi_canon_change *step)
{
    told *t = context;
    size_t len = strlen(t->text);
    snprintf(t->text + len, sizeof t->text - len, "%s: %.*s\n", step->rule, (int)step->after.len, step->after.ptr);
    if (t->steps++)
        assert_memory_equal(step->before.ptr, t->last, step->before.len);
    snprintf(t->last, sizeof t->last, "%.*s", (int)step->after.len, step->after.ptr);
    return t->steps == t->stop_at ? 77 : 0;
}

static void check_explained(const char *profile, const char *input, const char *want)
{
    told t = {.stop_at = -1};
    vidi_canon *canon = canon_with(profile, NULL);
    assert_int_equal(vidi_url_explain(canon, test_str(input), NULL, hear, &t), VIDI_OK);
    assert_string_equal(t.text, want);
    vidi_canon_close(canon);
}

static void changes_are_explained_in_their_order(void **state)
{
    (void)state;
    check_explained("crawl", "http://h/a?b", "");
    check_explained("none", "what ever", "");
    check_explained("crawl", "HTTP://h//a;jsessionid=1/index.html?c&&b&utm_x=%7e&%61#f",
                    "whatwg: http://h//a;jsessionid=1/index.html?c&&b&utm_x=%7e&%61#f\n"
                    "fragment: http://h//a;jsessionid=1/index.html?c&&b&utm_x=%7e&%61\n"
                    "empty: http://h//a;jsessionid=1/index.html?c&b&utm_x=%7e&%61\n"
                    "percent: http://h//a;jsessionid=1/index.html?c&b&utm_x=~&a\n"
                    "slashes: http://h/a;jsessionid=1/index.html?c&b&utm_x=~&a\n"
                    "session: http://h/a/index.html?c&b&utm_x=~&a\n"
                    "tracking: http://h/a/index.html?c&b&a\n"
                    "index: http://h/a/?c&b&a\n"
                    "sort: http://h/a/?a&b&c\n");
    check_explained("crawl,-sort,-index", "http://h/index.html?b&a&fbclid", "tracking: http://h/index.html?b&a\n");
    check_explained("surt", "http://www.h/A/",
                    "path: http://www.h/A\nlower-path: http://www.h/a\nwww: http://h/a\nreorder: h)/a\n");
    check_explained("key=host", "http://h/", "host: h\n");
    check_explained("whatwg", "http://h/caf\xe9", "whatwg: http://h/caf%E9\n");
    check_explained("crawl,+www,+scheme,+slash", "http://www.h.de/a/index.html#!f",
                    "fragment: http://www.h.de/a/index.html\n"
                    "index: http://www.h.de/a/\n"
                    "www: http://h.de/a/\n"
                    "scheme: https://h.de/a/\n"
                    "slash: https://h.de/a\n");
    check_explained("crawl,+fragment", "http://h/?b&a#!f", "sort: http://h/?a&b#!f\n");
    check_explained("crawl,+fragment", "HTTP://h/index.html#/f",
                    "whatwg: http://h/index.html#/f\nindex: http://h/#/f\n");
    check_explained("whatwg,+fragment", "http://h/#!f", "");
    check_explained("whatwg,+fragment", "http://h/#f", "fragment: http://h/\n");
}

static void an_explanation_can_be_ended(void **state)
{
    (void)state;
    told t = {.stop_at = 2};
    vidi_str base = test_str("http://h/a"), bad = test_str("x");
    vidi_canon *canon = canon_with("crawl", NULL), *host = canon_with("key=host", NULL);
    assert_int_equal(vidi_url_explain(canon, test_str("?#"), &base, hear, &t), 77);
    assert_string_equal(t.text, "whatwg: http://h/a?#\nfragment: http://h/a?\n");
    assert_int_equal(vidi_url_explain(canon, test_str("?#"), NULL, hear, &t), VIDI_INVALID);
    assert_int_equal(vidi_url_explain(canon, test_str("?#"), &bad, hear, &t), VIDI_EARGUMENT);
    assert_int_equal(vidi_url_explain(host, test_str("mailto:x"), NULL, hear, &t), VIDI_INVALID);
    assert_int_equal(vidi_url_explain(NULL, base, NULL, hear, &t), VIDI_EARGUMENT);
    assert_int_equal(vidi_url_explain(canon, base, NULL, NULL, &t), VIDI_EARGUMENT);
    vidi_canon_close(canon);
    vidi_canon_close(host);
}

static void the_length_needed_is_told_for_every_size_of_buffer(void **state)
{
    (void)state;
    static const char *const profiles[] = {"crawl",
                                           "surt,+scheme",
                                           "whatwg",
                                           "none",
                                           "key=host",
                                           "whatwg,+fragment",
                                           "crawl,+www,+scheme,+slash,+fragment"};
    vidi_str input = test_str("http://www.example.com//a/b;jsessionid=12/index.html?q=%&p=%7e&utm_source=x#!f");
    for (size_t i = 0; i < sizeof profiles / sizeof profiles[0]; i++) {
        vidi_canon *canon = canon_with(profiles[i], NULL);
        char want[200];
        size_t need = sizeof want;
        assert_int_equal(vidi_url_canon(canon, input, NULL, want, &need), VIDI_OK);
        for (size_t room = 0; room < 120; room++) {
            char *out = malloc(room + !room);
            size_t len = room;
            assert_int_equal(vidi_url_canon(canon, input, NULL, out, &len), room < need ? VIDI_ELIMIT : VIDI_OK);
            assert_int_equal(len, need);
            if (room >= need)
                assert_memory_equal(out, want, need);
            free(out);
        }
        vidi_canon_close(canon);
    }
}

/* Every run of URLs in which the form visibly changes nothing is counted to its end, and no further. */
static void urls_in_canonical_form_are_counted(void **state)
{
    static const char *const forms[] = {"whatwg", "crawl", "w3lib", "surt", "key=host", "none"};
    static const char *const texts[] = {"http://h/",
                                        "http://h/a?b=1",
                                        "https://h.example/x/y/z?q=%20",
                                        "HTTP://h/",
                                        "http://h",
                                        "http://h/a?b=2&a=1",
                                        "http://h/#f",
                                        "no url",
                                        "h",
                                        "http://h/?utm_source=x",
                                        "example,h)/"};
    enum { TEXTS = sizeof texts / sizeof *texts };
    (void)state;
    for (size_t f = 0; f < sizeof forms / sizeof *forms; f++) {
        vidi_canon *canon = canon_with(forms[f], NULL);
        bool kept[TEXTS];
        vidi_str urls[3 * TEXTS];
        for (size_t i = 0; i < TEXTS; i++) {
            char out[100];
            size_t len = sizeof out;
            vidi_str url = test_str(texts[i]);
            int code = vidi_url_canon(canon, url, NULL, out, &len);
            kept[i] = vidi_canon_count(canon, &url, 1) == 1;
            bool same = code == VIDI_OK && len == url.len && memcmp(out, url.ptr, len) == 0;
            check(!kept[i] || same, "%s: '%s' is not in this form", forms[f], texts[i]);
            check(kept[i] || !same || (strcmp(forms[f], "whatwg") != 0 && strcmp(forms[f], "none") != 0),
                  "%s: '%s' is in this form", forms[f], texts[i]);
        }
        for (size_t bad = 0; bad < TEXTS; bad++) { /* the one at the end of the run */
            size_t n = 0;
            for (size_t i = 0; i < 2 * TEXTS; i++)
                if (kept[i % TEXTS])
                    urls[n++] = test_str(texts[i % TEXTS]);
            urls[n] = test_str(texts[bad]);
            assert_int_equal(vidi_canon_count(canon, urls, n + 1), n + (kept[bad] ? 1 : 0));
            assert_int_equal(vidi_canon_count(canon, urls, n), n);
        }
        assert_int_equal(vidi_canon_count(canon, &(vidi_str){NULL, 0}, 1), 0);
        assert_int_equal(vidi_canon_count(canon, NULL, 0), 0);
        vidi_canon_close(canon);
    }
    assert_int_equal(vidi_canon_count(NULL, &(vidi_str){"http://h/", 9}, 1), 0);
}

static void references_are_resolved_first(void **state)
{
    (void)state;
    char out[100];
    size_t len = sizeof out;
    vidi_str base = test_str("HTTP://h/a/b"), bad = test_str("b");
    vidi_canon *canon = canon_with("crawl", NULL), *none = canon_with("none", NULL);
    assert_int_equal(vidi_url_canon(canon, test_str("../index.html"), &base, out, &len), VIDI_OK);
    assert_memory_equal(out, "http://h/", len);
    len = sizeof out;
    assert_int_equal(vidi_url_canon(canon, test_str("x"), &bad, out, &len), VIDI_EARGUMENT);
    assert_int_equal(len, 0);
    len = sizeof out;
    assert_int_equal(vidi_url_canon(none, test_str("x"), &bad, out, &len), VIDI_OK);
    assert_memory_equal(out, "x", len);
    vidi_canon_close(canon);
    vidi_canon_close(none);
}

static void absurd_arguments_are_refused(void **state)
{
    (void)state;
    char out[100];
    size_t len = sizeof out;
    vidi_str good = test_str("http://h/"), nowhere = {NULL, 5};
    vidi_canon *canon = canon_with("whatwg", NULL);
    assert_int_equal(vidi_url_canon(NULL, good, NULL, out, &len), VIDI_EARGUMENT);
    assert_int_equal(vidi_url_canon(canon, nowhere, NULL, out, &len), VIDI_EARGUMENT);
    assert_int_equal(vidi_url_canon(canon, good, &nowhere, out, &len), VIDI_EARGUMENT);
    assert_int_equal(vidi_url_canon(canon, good, NULL, out, NULL), VIDI_EARGUMENT);
    assert_int_equal(vidi_url_canon(canon, good, NULL, NULL, &len), VIDI_ELIMIT);
    assert_int_equal(vidi_canon_create(NULL, NULL, NULL, NULL), VIDI_EARGUMENT);
    assert_string_equal(vidi_canon_name(NULL), "");
    vidi_canon_close(canon);
    vidi_canon_close(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whatwg_drops_the_fragment_and_nothing_else),
        cmocka_unit_test(whatwg_keeps_fragments_that_name_pages_if_asked),
        cmocka_unit_test(bytes_that_are_not_utf8_stay_different),
        cmocka_unit_test(hosts_that_are_not_utf8_are_invalid),
        cmocka_unit_test(a_base_that_is_not_utf8_is_read_the_same_way),
        cmocka_unit_test(w3lib_is_scrapys_form),
        cmocka_unit_test(surt_is_the_archives_key),
        cmocka_unit_test(keys_are_hosts_and_sites),
        cmocka_unit_test(names_have_versions_and_differences),
        cmocka_unit_test(unknown_forms_are_refused_with_a_list),
        cmocka_unit_test(every_rule_is_listed_and_can_be_switched),
        cmocka_unit_test(changes_are_explained_in_their_order),
        cmocka_unit_test(an_explanation_can_be_ended),
        cmocka_unit_test(the_length_needed_is_told_for_every_size_of_buffer),
        cmocka_unit_test(urls_in_canonical_form_are_counted),
        cmocka_unit_test(references_are_resolved_first),
        cmocka_unit_test(absurd_arguments_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
