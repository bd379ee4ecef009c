/*
 * The canonical form of a canonical form is itself, for w3lib, and whatwg and crawl in every version and with any rules;
 * and URLs with the same whatwg form have the same surt and key. Checked on random messy URLs, and on real ones where there are
 * some.
 */
#include <stdlib.h>

#include "url/canonical.h"
#include "support/env.h"
#include "support/random.h"

#define ROOM ((size_t)1 << 16)

typedef struct forms {
    vidi_canon *whatwg, *crawl, *w3lib, *surt, *host;
    char *once, *twice, *plain;
    uint64_t urls, invalid, changed, left; /* left: how many to read still */
} forms;

/* One version for all, "" for the newest; `rules` are those of crawl. */
static void open_forms(forms *f, const char *version, const char *rules)
{
    char crawl[100], whatwg[100], surt[100], host[100];
    bool fragments = strstr(rules, "+fragment") != NULL; /* whatwg must keep what crawl keeps */
    snprintf(crawl, sizeof crawl, "crawl%s%s", version, rules);
    snprintf(whatwg, sizeof whatwg, "whatwg%s%s", version, fragments ? ",+fragment" : "");
    snprintf(surt, sizeof surt, "surt%s", version);
    snprintf(host, sizeof host, "key=host%s", version);
    *f = (forms){canon_with(whatwg, NULL),
                 canon_with(crawl, NULL),
                 canon_with("w3lib", NULL),
                 canon_with(surt, NULL),
                 canon_with(host, NULL),
                 malloc(ROOM),
                 malloc(ROOM),
                 malloc(ROOM),
                 0,
                 0,
                 0,
                 UINT64_MAX};
    assert_true(f->once && f->twice && f->plain);
}

static void close_forms(forms *f)
{
    vidi_canon_close(f->whatwg);
    vidi_canon_close(f->crawl);
    vidi_canon_close(f->w3lib);
    vidi_canon_close(f->surt);
    vidi_canon_close(f->host);
    free(f->once);
    free(f->twice);
    free(f->plain);
}

static vidi_str canonical(const vidi_canon *canon, vidi_str input, char *room)
{
    size_t len = ROOM;
    int result = vidi_url_canon(canon, input, NULL, room, &len);
    check(result == VIDI_OK || result == VIDI_INVALID, "%s: <%.*s>: %s", vidi_canon_name(canon), (int)input.len,
          input.ptr, vidi_message());
    return (vidi_str){result ? NULL : room, len};
}

static bool same(vidi_str a, vidi_str b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

static void check_same(const vidi_canon *canon, vidi_str input, vidi_str once, vidi_str twice)
{
    check(same(once, twice), "%s: <%.*s> became <%.*s> and then <%.*s>", vidi_canon_name(canon), (int)input.len,
          input.ptr, (int)once.len, once.ptr, (int)twice.len, twice.ptr ? twice.ptr : "");
}

static void check_url(forms *f, vidi_str url)
{
    f->urls++;
    vidi_str plain = canonical(f->whatwg, url, f->plain);
    if (!plain.ptr) {
        f->invalid++;
        return;
    }
    check_same(f->whatwg, url, plain, canonical(f->whatwg, plain, f->twice));
    vidi_str once = canonical(f->crawl, url, f->once);
    f->changed += !same(once, plain);
    check_same(f->crawl, url, once, canonical(f->crawl, once, f->twice));
    check_same(f->whatwg, url, once, canonical(f->whatwg, once, f->twice));
    once = canonical(f->w3lib, url, f->once);
    check_same(f->w3lib, url, once, canonical(f->w3lib, once, f->twice));
    check_same(f->whatwg, url, once, canonical(f->whatwg, once, f->twice));
    vidi_str key = canonical(f->surt, url, f->once);
    check_same(f->surt, url, key, canonical(f->surt, plain, f->twice));
    key = canonical(f->host, url, f->once);
    if (key.ptr)
        check_same(f->host, url, key, canonical(f->host, plain, f->twice));
}

/* ---- messy URLs ---- */

/* Up to a dozen pieces that mean something, and now and then any byte. */
static size_t mess(char *to, test_random *random)
{
    static const char *const starts[] = {"http://h/",
                                         "HTTPS://Www.EXAMPLE.com:443",
                                         "ftp://a.b//",
                                         "ws://h/?",
                                         "file:///",
                                         "x://h/",
                                         "mailto:",
                                         "a:/",
                                         "http://1.2.3/",
                                         "http://www.",
                                         "http://www.www.a.b:443",
                                         "https://www.a.b:80",
                                         "http://u\xe9@www.a.b/",
                                         "x://\xe9/"};
    static const char *const pieces[] = {"/",
                                         "//",
                                         "?",
                                         "&",
                                         "&&",
                                         "=",
                                         ";",
                                         "#",
                                         "%",
                                         "%%",
                                         "25",
                                         "41",
                                         "%2e",
                                         "%2E.",
                                         ".",
                                         "..",
                                         "/../",
                                         "/./",
                                         "index.html",
                                         "/index.php",
                                         "%7e",
                                         "%2f",
                                         "%3F",
                                         "%26",
                                         "%3d",
                                         "%c3%a9",
                                         "utm_x",
                                         "utm_x=1&",
                                         "a=1",
                                         "b=2&a=3",
                                         "a",
                                         "B",
                                         " ",
                                         "\t",
                                         "\\",
                                         "|",
                                         "C:",
                                         "jsessionid",
                                         ";jsessionid=12",
                                         "sid=0123456789abcdef",
                                         "#!",
                                         "#/",
                                         "\xe9",
                                         "\xc3",
                                         "\xa9",
                                         "/index.html/",
                                         "&sid=0123456789abcdef0123456789abcdef",
                                         "/(S(4hqa0555fwsecu455xqckv45))",
                                         "\xc3\xa9",
                                         "'",
                                         "\"",
                                         "^",
                                         "%5C",
                                         "www."};
    const char *start = starts[test_below(random, sizeof starts / sizeof starts[0])];
    size_t len = strlen(start);
    memcpy(to, start, len);
    for (uint64_t n = test_below(random, 13); n; n--) {
        const char *piece = pieces[test_below(random, sizeof pieces / sizeof pieces[0])];
        if (test_below(random, 40) == 0) {
            to[len++] = (char)test_below(random, 256);
            continue;
        }
        memcpy(to + len, piece, strlen(piece));
        len += strlen(piece);
    }
    return len;
}

static void canonical_of_canonical_is_itself_for_messy_urls(void **state)
{
    (void)state;
    static const char *const rules[] = {"",
                                        ",-percent",
                                        ",-empty",
                                        ",-slashes",
                                        ",-session",
                                        ",-index",
                                        ",-sort,-tracking",
                                        ",+www,+scheme,+slash,+fragment",
                                        ",+slash,-slashes",
                                        ",+slash,-index",
                                        ",+slash,+www,-percent",
                                        ",+scheme,+fragment,-session"};
    test_random random = {7};
    for (size_t i = 0; i < sizeof rules / sizeof rules[0] * 2; i++) {
        const char *version = i % 2 ? "/1" : "";
        if (i % 2 && strchr(rules[i / 2], '+'))
            continue; /* version 1 has no optional rules */
        forms f;
        open_forms(&f, version, rules[i / 2]);
        for (uint64_t n = test_urls_at_most(test_long() ? 1000000 : 60000); n; n--) {
            char url[1024];
            check_url(&f, (vidi_str){url, mess(url, &random)});
        }
        check(f.changed > f.urls / 10 && f.invalid < f.urls / 2, "the URLs are not messy: %d of %d changed, %d invalid",
              (int)f.changed, (int)f.urls, (int)f.invalid);
        close_forms(&f);
    }
}

/* ---- real URLs ---- */

static int read_url(void *context, vidi_str line)
{
    forms *f = context;
    if (line.len < ROOM / 4)
        check_url(f, line);
    return --f->left == 0;
}

static void canonical_of_canonical_is_itself_for_real_urls(void **state)
{
    (void)state;
    char path[4096];
    size_t files = 0;
    forms f;
    open_forms(&f, "", ",+www,+scheme,+slash,+fragment");
    for (; test_corpus_path(files, path, sizeof path); files++) {
        f.left = test_long() ? UINT64_MAX : test_urls_at_most(20000);
        check(test_corpus_read(path, read_url, &f) >= 0, "%s cannot be read", path);
    }
    if (files)
        print_message("# %llu URLs, %llu of them changed by crawl, %llu invalid\n", (unsigned long long)f.urls,
                      (unsigned long long)f.changed, (unsigned long long)f.invalid);
    close_forms(&f);
    if (!files)
        skip();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(canonical_of_canonical_is_itself_for_messy_urls),
        cmocka_unit_test(canonical_of_canonical_is_itself_for_real_urls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
