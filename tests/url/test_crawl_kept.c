/*
 * The shortcuts of crawl: it keeps some URLs after a quick test, and skips rules that it does not need. Applying all
 * rules one after the other must give the same text. vidi_url_explain applies all of them.
 */
#include "url/canon/canon_rules.h"
#include "url/canonical.h"
#include "support/env.h"
#include "support/random.h"

#define ROOM 8192

static const char *const profiles[] = {"crawl",
                                       "crawl,-percent",
                                       "crawl,-empty,-sort",
                                       "crawl,-session",
                                       "crawl,-index",
                                       "crawl,-slashes",
                                       "crawl,-tracking",
                                       "crawl,+www",
                                       "crawl,+scheme",
                                       "crawl,+slash",
                                       "crawl,+slash,-index",
                                       "crawl,+slash,-slashes",
                                       "crawl,+fragment",
                                       "crawl,+www,+scheme,+slash,+fragment"};
static vidi_canon *forms[VIDI__COUNT(profiles)];

static int open_forms(void **state)
{
    (void)state;
    for (size_t i = 0; i < VIDI__COUNT(profiles); i++)
        forms[i] = canon_with(profiles[i], NULL);
    return 0;
}

static int close_forms(void **state)
{
    (void)state;
    for (size_t i = 0; i < VIDI__COUNT(profiles); i++)
        vidi_canon_close(forms[i]);
    return 0;
}

typedef struct longhand {
    char text[ROOM];
    size_t len;
} longhand;

static int take_step(void *context, const vidi_canon_change *step)
{
    longhand *result = context;
    assert_true(step->after.len <= ROOM);
    memcpy(result->text, step->after.ptr, step->after.len);
    result->len = step->after.len;
    return 0;
}

/* Is it kept at a glance? */
static bool keeps(const vidi_canon *form, vidi_str url)
{
    static longhand slow;
    char text[ROOM];
    size_t len = sizeof text;
    memcpy(slow.text, url.ptr, url.len);
    slow.len = url.len;
    int result = vidi_url_explain(form, url, NULL, take_step, &slow);
    check(vidi_url_canon(form, url, NULL, text, &len) == result, "<%.*s>: %d", (int)url.len, url.ptr, result);
    bool kept = vidi__canon_keeps(form, url);
    if (result == VIDI_OK)
        check(len == slow.len && memcmp(text, slow.text, len) == 0, "%s: <%.*s> became <%.*s>, and <%.*s> by all rules",
              vidi_canon_name(form), (int)url.len, url.ptr, (int)len, text, (int)slow.len, slow.text);
    check(!kept || (result == VIDI_OK && len == url.len && memcmp(text, url.ptr, len) == 0),
          "%s: <%.*s> is kept, and becomes <%.*s>", vidi_canon_name(form), (int)url.len, url.ptr, (int)len, text);
    return kept;
}

static bool crawl_keeps(const char *text)
{
    return keeps(forms[0], test_str(text));
}

static bool keeps_with(const char *profile, const char *text)
{
    vidi_canon *form = canon_with(profile, NULL);
    bool kept = keeps(form, test_str(text));
    vidi_canon_close(form);
    return kept;
}

static void urls_without_work_are_kept(void **state)
{
    (void)state;
    static const char *const urls[] = {
        "http://h/",
        "https://www.example.org/a/b.html",
        "http://h/a/index",
        "http://h/index.html/a",
        "http://h/a/indexes.html",
        "http://h/a/defaults.htm",
        "http://h/%C3%A9/%2F?a=%26",
        "http://h/?a=1&b=2&b=1&c",
        "http://h/?a//b",
        "http://h/?=",
        "http://h/?session=short",
        "http://h/?sid=a1b2c3d4e5f6a7b8c9d0",
        "http://www.example.com/a/",
        "http://h:8080/sid=0123456789abcdef",
    };
    for (size_t i = 0; i < VIDI__COUNT(urls); i++)
        check(crawl_keeps(urls[i]), "<%s> is not kept", urls[i]);
}

static void urls_with_work_are_not(void **state)
{
    (void)state;
    static const char *const urls[] = {
        "http://h/?",
        "http://h/?a&",
        "http://h/?&a",
        "http://h/a//b",
        "http://h//",
        "http://h/a;jsessionid=1",
        "http://h/%7Ea",
        "http://h/%c3%A9",
        "http://h/%",
        "http://h/%4",
        "http://h/?%41",
        "http://h/?b&a",
        "http://h/?utm_source=x",
        "http://h/?a&PHPSESSID=1",
        "http://h/?a&sid=0123456789abcdef0123456789abcdef",
        "http://h/#!a",
        "http://h/a/INDEX.html",
        "http://h/Default.aspx?a",
        "http://h/(S(4hqa0555fwsecu455xqckv45))/a",
        "http://H/",
        "ftp://h/",
        "nothing",
    };
    for (size_t i = 0; i < VIDI__COUNT(urls); i++)
        check(!crawl_keeps(urls[i]), "<%s> is kept", urls[i]);
}

static void optional_rules_keep_what_they_do_not_change(void **state)
{
    (void)state;
    static const char *const all = "crawl,+www,+scheme,+slash,+fragment";
    static const char *const kept[] = {"https://h/",         "https://example.com/a?b/", "https://www.com/a",
                                       "http://h:443/a",     "https://h/index.html/",    "https://h:8080/a",
                                       "https://www.com./a", "https://wwwa.example.com/"};
    static const char *const changed[] = {"http://h/",      "https://www.example.com/", "https://h/a/",
                                          "https://h/a/?b", "http://h:8080/",           "https://h/index.html",
                                          "https://h/#/a"};
    for (size_t i = 0; i < VIDI__COUNT(kept); i++)
        check(keeps_with(all, kept[i]), "<%s> is not kept", kept[i]);
    for (size_t i = 0; i < VIDI__COUNT(changed); i++)
        check(!keeps_with(all, changed[i]), "<%s> is kept", changed[i]);
    assert_true(keeps_with("crawl,+slash", "http://www.example.com/a"));
    assert_true(keeps_with("crawl,+www", "http://h/a/"));
    assert_true(keeps_with("crawl,+scheme", "https://www.example.com/a/"));
    assert_true(keeps_with("crawl,+fragment", "http://www.example.com/a/"));
}

static void any_pieces_come_to_the_same_by_all_rules(void **state)
{
    (void)state;
    static const char *const pieces[] = {
        "/",           "a",
        "b",           "/index.html",
        "Default.asp", "%41",
        "%2F",         "%c3",
        "%",           ";",
        ";sid=1",      "(",
        "?",           "?",
        "&",           "&",
        "=",           "a=1",
        "b=2&",        "utm_x=1",
        "gclid=1",     "cfid=1",
        "session",     "=abcdef01234567890",
        "%26",         "%3D",
        "index",       ".php",
        "%69ndex.htm", "/;cfid=1",
        "#!",          "#/",
        "sid",         "=0123456789abcdef0123456789abcdef",
        "/",           "\xe9",
    };
    static const char *const starts[] = {"http://h/", "https://www.a.b/", "http://www.a:443/", "https://h:81/"};
    test_random random = {9};
    uint64_t kept = 0, rounds = test_urls_at_most(1000000);
    for (uint64_t n = rounds; n; n--) {
        const char *start = starts[test_below(&random, VIDI__COUNT(starts))];
        size_t len = strlen(start);
        char text[600];
        memcpy(text, start, len);
        for (uint64_t more = test_below(&random, 10); more; more--) {
            const char *piece = pieces[test_below(&random, VIDI__COUNT(pieces))];
            memcpy(text + len, piece, strlen(piece));
            len += strlen(piece);
        }
        kept += keeps(forms[n % VIDI__COUNT(forms)], (vidi_str){text, len});
    }
    check(kept > rounds / 20 && kept < rounds / 2, "%llu of %llu are kept", (unsigned long long)kept,
          (unsigned long long)rounds);
}

typedef struct tally {
    uint64_t seen, lines, kept, step;
    test_random random;
} tally;

/* The line, and the line with a byte of it changed. */
static int look(void *context, vidi_str line)
{
    static const char bytes[] = "/%;(?&=.siu_";
    tally *tally = context;
    if (tally->seen++ % tally->step || line.len > ROOM / 4 || !line.len)
        return 0;
    tally->lines++;
    tally->kept += keeps(forms[0], line);
    char text[ROOM / 4];
    memcpy(text, line.ptr, line.len);
    text[test_below(&tally->random, line.len)] = bytes[test_below(&tally->random, sizeof bytes - 1)];
    keeps(forms[tally->lines % VIDI__COUNT(forms)], (vidi_str){text, line.len});
    return 0;
}

static void real_urls_come_to_the_same_by_all_rules(void **state)
{
    (void)state;
    char path[1024];
    tally all = {.step = test_long() ? 1 : 23, .random = {3}};
    if (!test_corpus_path(0, path, sizeof path))
        skip();
    for (size_t i = 0; test_corpus_path(i, path, sizeof path); i++)
        check(test_corpus_read(path, look, &all) == 0, "%s cannot be read", path);
    print_message("# %llu real URLs, %.1f %% of them kept at a glance\n", (unsigned long long)all.lines,
                  100.0 * (double)all.kept / (double)all.lines);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(urls_without_work_are_kept),
        cmocka_unit_test(urls_with_work_are_not),
        cmocka_unit_test(optional_rules_keep_what_they_do_not_change),
        cmocka_unit_test(any_pieces_come_to_the_same_by_all_rules),
        cmocka_unit_test(real_urls_come_to_the_same_by_all_rules),
    };
    return cmocka_run_group_tests(tests, open_forms, close_forms);
}
