/* --cookies: each cookie goes where it belongs and nowhere else, survives the run, and is not in the archive. */
#include <stdio.h>
#include <string.h>

#include "crawler/crawl/crawl.h"
#include "crawler/crawl/cookie_jar.h"
#include "crawler/fetch/play_server.h"
#include "crawler/http/http.h"
#include "support/scratch.h"

static const int64_t NOW = INT64_C(1700000000000);

typedef struct shelf {
    cookie_jar *jar;
    bytes line;
    cookie_change *changes;
} shelf;

static vidi_str str(const char *text)
{
    return (vidi_str){text, strlen(text)};
}

/* A response from a URL sets a cookie. */
static void set_at(shelf *s, int64_t date, const char *url, const char *field)
{
    bytes head = {0};
    assert_int_equal(bytes_append_format(&head, "HTTP/1.1 200 OK\r\nSet-Cookie: %s\r\n\r\n", field), VIDI_OK);
    assert_int_equal(cookie_jar_take(s->jar, str(url), date, &head, &s->changes), VIDI_OK);
    bytes_free(&head);
}

static void set(shelf *s, const char *url, const char *field)
{
    set_at(s, NOW, url, field);
}

static const char *sent_at(shelf *s, int64_t date, const char *url)
{
    s->line.len = 0;
    assert_int_equal(cookie_jar_line(s->jar, str(url), date, &s->line), VIDI_OK);
    return s->line.len ? s->line.ptr : "";
}

static void sends(shelf *s, const char *url, const char *line)
{
    assert_string_equal(sent_at(s, NOW, url), line);
}

static void begin(shelf *s)
{
    *s = (shelf){0};
    assert_int_equal(cookie_jar_open(&s->jar), VIDI_OK);
}

static void end(shelf *s)
{
    cookie_jar_close(s->jar);
    cookie_changes_free(s->changes);
    bytes_free(&s->line);
}

/* One cookie, set by one URL, for a request to another. */
static void check_one(const char *from, const char *field, const char *to, bool goes)
{
    shelf s;
    begin(&s);
    set(&s, from, field);
    bool went = strcmp(sent_at(&s, NOW, to), "") != 0;
    if (went != goes)
        fail_msg("'%s' of %s is %ssent to %s", field, from, went ? "" : "not ", to);
    end(&s);
}

static void cookies_go_where_they_belong(void **state)
{
    (void)state;
    static const struct {
        const char *from, *field, *to;
        bool goes;
    } cases[] = {
        {"http://a.example.org/", "x=1", "http://a.example.org/b", true},
        {"http://a.example.org/", "x=1", "http://a.example.org:8080/", true}, /* ports do not count */
        {"http://a.example.org/", "x=1", "http://example.org/", false},
        {"http://a.example.org/", "x=1", "http://b.a.example.org/", false},
        {"http://a.example.org/", "x=1; Domain=example.org", "http://b.example.org/", true},
        {"http://a.example.org/", "x=1; Domain=.EXAMPLE.org", "http://b.example.org/", true},
        {"http://a.example.org/", "x=1; Domain=example.org", "http://badexample.org/", false},
        {"http://a.example.org/", "x=1; Domain=b.example.org", "http://b.example.org/", false},
        {"http://a.example.org/", "x=1; Domain=b.example.org", "http://a.example.org/", false},
        {"http://a.example.org/", "x=1; Domain=evil.test", "http://evil.test/", false},
        /* supercookies */
        {"http://a.example.org/", "x=1; Domain=org", "http://b.org/", false},
        {"http://a.co.uk/", "x=1; Domain=co.uk", "http://b.co.uk/", false},
        {"http://a.github.io/", "x=1; Domain=github.io", "http://b.github.io/", false},
        {"http://github.io/", "x=1; Domain=github.io", "http://github.io/", true},
        {"http://github.io/", "x=1; Domain=github.io", "http://b.github.io/", false},
        {"http://a.example.org/", "x=1; Domain=.", "http://b.example.org/", false},
        {"http://localhost/", "x=1; Domain=localhost", "http://localhost/", true},
        {"http://a.intern/", "x=1; Domain=intern", "http://b.intern/", false},
        /* addresses */
        {"http://192.0.2.1/", "x=1; Domain=192.0.2.1", "http://192.0.2.1/", true},
        {"http://192.0.2.1/", "x=1; Domain=0.2.1", "http://192.0.2.1/", false},
        {"http://192.0.2.1/", "x=1; Domain=2.1", "http://9.9.2.1/", false},
        {"http://[::1]/", "x=1", "http://[::1]/", true},
        /* paths */
        {"http://h.test/a/b", "x=1", "http://h.test/a/c", true},
        {"http://h.test/a/b", "x=1", "http://h.test/", false},
        {"http://h.test/", "x=1; Path=/a", "http://h.test/a/b?c", true},
        {"http://h.test/", "x=1; Path=/a", "http://h.test/ab", false},
        {"http://h.test/", "x=1; Path=a", "http://h.test/b", true},
        /* https */
        {"https://h.test/", "x=1; Secure", "https://h.test/", true},
        {"https://h.test/", "x=1; Secure", "http://h.test/", false},
        {"http://h.test/", "x=1; Secure", "https://h.test/", false},
        {"https://h.test/", "__Secure-x=1", "https://h.test/", false},
        {"https://h.test/", "__Host-x=1; Secure; Path=/", "https://h.test/", true},
        {"https://h.test/", "__Host-x=1; Secure; Path=/; Domain=h.test", "https://h.test/", false},
        {"https://h.test/", "__host-x=1; Secure; Path=/a", "https://h.test/a", false},
        /* time */
        {"http://h.test/", "x=1; Max-Age=1", "http://h.test/", true},
        {"http://h.test/", "x=1; Max-Age=0", "http://h.test/", false},
        {"http://h.test/", "x=1; Max-Age=-5; Expires=Wed, 01-Jan-2070 00:00:00 GMT", "http://h.test/", false},
        {"http://h.test/", "x=1; Max-Age=99999999999999999999", "http://h.test/", true},
        {"http://h.test/", "x=1; Max-Age=nonsense", "http://h.test/", true},
        {"http://h.test/", "x=1; Expires=Thu, 01 Jan 1970 00:00:00 GMT", "http://h.test/", false},
        {"http://h.test/", "x=1; Expires=Wed, 09-Jun-2032 10:18:14 GMT", "http://h.test/", true},
        /* what is no cookie, or would be a line of its own */
        {"http://h.test/", "x", "http://h.test/", false},
        {"http://h.test/", "=1", "http://h.test/", false},
        {"http://h.test/", "x=1\x01", "http://h.test/", false},
        {"http://h.test/", "x=1\r\n y: 2", "http://h.test/", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        check_one(cases[i].from, cases[i].field, cases[i].to, cases[i].goes);
}

static void cookies_are_replaced_and_ordered(void **state)
{
    (void)state;
    shelf s;
    begin(&s);
    set(&s, "http://h.test/", "a=1");
    set(&s, "http://h.test/", "b=\"2 3\"; Path=/p");
    set(&s, "http://h.test/", "c=3");
    set(&s, "http://h.test/", "a=4");
    sends(&s, "http://h.test/p", "Cookie: b=\"2 3\"; a=4; c=3");
    set(&s, "http://h.test/", "a=; Max-Age=0");
    sends(&s, "http://h.test/", "Cookie: c=3");
    set(&s, "http://h.test/", "d=5; Max-Age=10");
    assert_string_equal(sent_at(&s, NOW + 9999, "http://h.test/"), "Cookie: c=3; d=5");
    assert_string_equal(sent_at(&s, NOW + 10000, "http://h.test/"), "Cookie: c=3");
    end(&s);
}

static void http_does_not_replace_what_https_has_set(void **state)
{
    (void)state;
    shelf s;
    begin(&s);
    set(&s, "https://a.h.test/", "x=good; Secure; Domain=h.test");
    set(&s, "http://a.h.test/", "x=bad");
    set(&s, "http://a.h.test/", "x=bad; Domain=h.test");
    sends(&s, "https://a.h.test/", "Cookie: x=good");
    end(&s);
}

static void dates_are_read_in_any_order(void **state)
{
    (void)state;
    static const int64_t want = INT64_C(923301497000);
    static const char *const dates[] = {"Mon, 05 Apr 1999 08:38:17 GMT", "05-Apr-99 8:38:17",
                                        "1999 apr 5 08:38:17 +0200", "08:38:17 5 Aprilfool 1999th",
                                        "Mon Apr  5 08:38:17 1999"};
    static const char *const bad[] = {
        "",         "05 Apr 1999",         "31 Feb 1999 08:38:17", "05 Apr 1600 08:38:17", "05 Apr 1999 24:00:00",
        "08:38:17", "05 Abc 1999 08:38:17"};
    for (size_t i = 0; i < sizeof dates / sizeof dates[0]; i++)
        if (http_cookie_date(str(dates[i])) != want)
            fail_msg("'%s' is %lld", dates[i], (long long)http_cookie_date(str(dates[i])));
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        if (http_cookie_date(str(bad[i])) >= 0)
            fail_msg("'%s' is taken for a date", bad[i]);
}

static void a_jar_has_limits(void **state)
{
    (void)state;
    char field[5000], url[100];
    shelf s;
    begin(&s);
    memset(field, 'v', sizeof field);
    memcpy(field, "x=", 2);
    field[1 + 4096] = 0;
    set(&s, "http://h.test/", field); /* name and value have 4096 bytes */
    assert_int_equal(strlen(sent_at(&s, NOW, "http://h.test/")), strlen("Cookie: ") + 4097);
    field[1 + 4096] = 'v';
    field[2 + 4096] = 0;
    set(&s, "http://g.test/", field);
    sends(&s, "http://g.test/", "");
    for (int i = 0; i < 200; i++) { /* those set last stay; one that is used stays, too */
        snprintf(field, sizeof field, "n%03d=1", i);
        set(&s, "http://h.test/p", field);
        sent_at(&s, NOW, "http://h.test/");
    }
    const char *line = sent_at(&s, NOW, "http://h.test/");
    size_t count = 0;
    for (const char *at = line; (at = strchr(at, '=')); at++)
        count++;
    assert_true(count <= COOKIES_PER_DOMAIN && count > COOKIES_PER_DOMAIN - 5);
    assert_true(strstr(line, "n199=1") != NULL);
    for (int i = 0; i < 2 * COOKIES_MOST; i++) {
        snprintf(url, sizeof url, "http://h%d.test/", i);
        set(&s, url, "y=1");
    }
    sends(&s, "http://h.test/", "");
    sends(&s, "http://h5999.test/", "Cookie: y=1");
    sends(&s, "http://h2999.test/", "");
    sends(&s, "http://h3000.test/", "Cookie: y=1");
    for (int i = 0; i < 20; i++) { /* a request has a limit, too */
        memset(field, 'v', 1000);
        field[1000] = 0;
        field[snprintf(field, 10, "z%02d", i)] = '=';
        set(&s, "http://z.test/", field);
    }
    assert_true(strlen(sent_at(&s, NOW, "http://z.test/")) <= COOKIE_LINE + 30);
    end(&s);
}

/* Values are gone from the head, attributes are not. */
static void values_are_masked(void **state)
{
    (void)state;
    shelf s;
    bytes head = {0};
    begin(&s);
    assert_int_equal(bytes_append_text(&head, "HTTP/1.1 200 OK\r\nset-cookie: a=secret; Path=/\r\nSet-Cookie: b=\r\n"
                                              "Set-Cookie: nameless\r\nSet-Cookie:\r\nX: a=secret\r\n\r\n"),
                     VIDI_OK);
    assert_int_equal(cookie_jar_take(s.jar, str("http://h.test/"), NOW, &head, &s.changes), VIDI_OK);
    bytes_append(&head, "", 1);
    assert_string_equal(head.ptr, "HTTP/1.1 200 OK\r\nset-cookie: a=******; Path=/\r\nSet-Cookie: b=\r\n"
                                  "Set-Cookie: ********\r\nSet-Cookie:\r\nX: a=secret\r\n\r\n");
    sends(&s, "http://h.test/", "Cookie: a=secret; b=");
    bytes_free(&head);
    end(&s);
}

/* ---- a crawl ---- */

#define PAGE(sets, body) "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\n" sets "\r\n" body
#define COOKIE "Set-Cookie: sid=s3cret; HttpOnly\r\n"

static void run(const char *folder, play_server *server, bool cookies, uint64_t max_pages)
{
    char url[100], why[CRAWL_WHY];
    fetch_net loopback;
    vidi_str seed = {url, (size_t)snprintf(url, sizeof url, "http://127.0.0.1:%d/", server->port)};
    crawl *made;
    assert_true(fetch_net_parse("127.0.0.0/8", &loopback));
    crawl_options options = {.folder = folder,
                             .seeds = &seed,
                             .seed_count = 1,
                             .max_depth = -1,
                             .max_pages = max_pages,
                             .cookies = cookies,
                             .nets = &loopback,
                             .net_count = 1};
    if (crawl_open(&made, &options, why) != VIDI_OK)
        fail_msg("%s", why);
    assert_true(crawl_run(made) <= CRAWL_LIMIT);
    crawl_close(made);
}

static const char *request_for(const play_server *server, const char *target)
{
    char line[100];
    snprintf(line, sizeof line, "GET %s HTTP/1.1\r\n", target);
    for (size_t i = 0; i < server->request_count; i++)
        if (strncmp(server->requests[i], line, strlen(line)) == 0)
            return server->requests[i];
    fail_msg("%s was not requested", target);
    return "";
}

/* How often a text is in the archive. */
static size_t count_archived(const char *folder, const char *text)
{
    char command[1200], line[4096];
    size_t n = 0;
    snprintf(command, sizeof command, "gzip -dc '%s'/archive/*.warc.gz", folder);
    FILE *from = popen(command, "r");
    while (fgets(line, sizeof line, from))
        n += strstr(line, text) != NULL;
    assert_int_equal(pclose(from), 0);
    return n;
}

static void cookies_survive_the_run_and_are_not_archived(void **state)
{
    (void)state;
    static const play_page pages[] = {
        {"/robots.txt", "HTTP/1.1 404 No\r\nSet-Cookie: robots=1\r\nContent-Length: 0\r\n\r\n", 0, PLAY_CLOSE, NULL},
        {"/", PAGE(COOKIE, "<a href=/a>"), 0, PLAY_CLOSE, NULL},
        {"/a", PAGE("", "<a href=/b>"), 0, PLAY_CLOSE, NULL},
        {"/b", PAGE("", ""), 0, PLAY_CLOSE, NULL}};
    test_scratch scratch;
    char folder[1100];
    test_scratch_make(&scratch);
    for (int cookies = 0; cookies < 2; cookies++) {
        play_server *server = play_begin(AF_INET, pages, 4);
        snprintf(folder, sizeof folder, "%s/%d", scratch.path, cookies);
        run(folder, server, cookies, 1);
        run(folder, server, cookies, 2);
        run(folder, server, cookies, 0);
        assert_null(strstr(request_for(server, "/robots.txt"), "Cookie"));
        assert_null(strstr(request_for(server, "/"), "Cookie"));
        assert_int_equal(strstr(request_for(server, "/a"), "Cookie: sid=s3cret\r\n") != NULL, cookies);
        assert_int_equal(strstr(request_for(server, "/b"), "Cookie: sid=s3cret\r\n") != NULL, cookies);
        assert_int_equal(count_archived(folder, "Cookie: ***"), cookies ? 2 : 0);
        assert_int_equal(count_archived(folder, "Set-Cookie: sid=******; HttpOnly"), cookies);
        assert_int_equal(count_archived(folder, "s3cret"), !cookies);
        play_end(server);
    }
    char command[1200];
    snprintf(command, sizeof command, "rm -r '%s/0' '%s/1'", scratch.path, scratch.path);
    assert_int_equal(system(command), 0);
    test_scratch_remove(&scratch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cookies_go_where_they_belong),
        cmocka_unit_test(cookies_are_replaced_and_ordered),
        cmocka_unit_test(http_does_not_replace_what_https_has_set),
        cmocka_unit_test(dates_are_read_in_any_order),
        cmocka_unit_test(a_jar_has_limits),
        cmocka_unit_test(values_are_masked),
        cmocka_unit_test(cookies_survive_the_run_and_are_not_archived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
