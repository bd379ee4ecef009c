/* Reports about crawls whose databases are made by hand. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "crawler/base/fragments.h"
#include "crawler/base/url_keys.h"
#include "crawler/report/report.h"
#include "support/check.h"
#include "support/scratch.h"

static const char secret[] = "000102030405060708090a0b0c0d0e0f";

static vidi_str str(const char *text)
{
    return (vidi_str){text, text ? strlen(text) : 0};
}

/* ---- a crawl ---- */

typedef struct made {
    test_scratch folder;
    crawl_db *db;
    url_keys *keys;
} made;

static void make(made *crawl)
{
    unsigned char key[VIDI_KEY_BYTES];
    char path[TEST_PATH], why[256];

    for (size_t i = 0; i < VIDI_KEY_BYTES; i++)
        key[i] = (unsigned char)i;
    test_scratch_make(&crawl->folder);
    test_path(path, crawl->folder.path, "crawl.db");
    int error = db_open(&crawl->db, path, DB_WRITE, false, why);
    check(error == VIDI_OK, "%s", why);
    assert_int_equal(url_keys_open(&crawl->keys, key, "whatwg"), VIDI_OK);
    assert_int_equal(db_begin(crawl->db), VIDI_OK);
    assert_int_equal(db_set_text(crawl->db, "secret", str(secret)), VIDI_OK);
    assert_int_equal(db_set_text(crawl->db, "canon", str("whatwg")), VIDI_OK);
}

static void commit(made *crawl)
{
    assert_int_equal(db_commit(crawl->db), VIDI_OK);
    assert_int_equal(db_begin(crawl->db), VIDI_OK);
}

static void destroy(made *crawl)
{
    url_keys_close(crawl->keys);
    db_rollback(crawl->db);
    db_close(crawl->db);
    test_folder_remove(crawl->folder.path);
}

static uint64_t add_url(made *crawl, const char *url, uint64_t referrer, uint32_t hops)
{
    frontier_url row = {.host = 1, .url = str(url), .hops = hops, .referrer = referrer};
    assert_int_equal(frontier_add(db_frontier(crawl->db), &row), VIDI_OK);
    return row.id;
}

static void add_outcome(made *crawl, uint64_t id, int status, const char *reason, const char *redirect)
{
    db_outcome row = {.id = id,
                      .status = status,
                      .reason = reason,
                      .error = reason ? "a sentence" : NULL,
                      .type = str("text/html"),
                      .date = 1700000000000,
                      .redirect = str(redirect)};
    assert_int_equal(db_outcome_add(crawl->db, &row), VIDI_OK);
}

/* A URL and what became of it. */
static uint64_t add(made *crawl, const char *url, uint64_t referrer, int status, const char *reason)
{
    uint64_t id = add_url(crawl, url, referrer, 0);
    add_outcome(crawl, id, status, reason, NULL);
    return id;
}

static uint64_t add_redirect(made *crawl, const char *url, uint64_t referrer, const char *to)
{
    uint64_t id = add_url(crawl, url, referrer, 0);
    add_outcome(crawl, id, 301, NULL, to);
    return id;
}

static void add_edge(made *crawl, uint64_t page, const char *url, const char *text)
{
    vidi_str target = str(url);
    uint64_t key;
    assert_int_equal(url_keys_make(crawl->keys, &target, 1, &key), VIDI_OK);
    assert_int_equal(db_edge(crawl->db, key, page, str(text)), VIDI_OK);
}

static report *look(const made *crawl)
{
    char why[512];
    report *report;
    int error = report_open(&report, crawl->folder.path, why);
    check(error == VIDI_OK, "%s", error ? why : "");
    return report;
}

/* ---- what is broken, as text ---- */

static int put_broken(void *context, const report_broken *url)
{
    return bytes_append_format(context, "%.*s %d %s\n", (int)url->url.len, url->url.ptr, url->status,
                               url->reason ? url->reason : "-");
}

static int put_referrer(void *context, const report_referrer *from)
{
    int error = bytes_append_format(context, "  %.*s '%.*s'", (int)from->page.len, from->page.ptr, (int)from->text.len,
                                    from->text.ptr);
    if (!error && from->through.ptr)
        error = bytes_append_format(context, " through %.*s", (int)from->through.len, from->through.ptr);
    return error ? error : bytes_append_text(context, "\n");
}

static void check_broken(const made *crawl, const char *expected)
{
    bytes text = {0};
    report *report = look(crawl);
    report_visitor visitor = {put_broken, put_referrer, &text, false};

    for (int again = 0; again < 2; again++) { /* it can be asked twice */
        text.len = 0;
        int error = report_broken_links(report, &visitor);
        check(error == VIDI_OK, "%s", report_error(report));
        assert_int_equal(bytes_append(&text, "", 1), VIDI_OK);
        assert_string_equal(text.ptr, expected);
    }
    bytes_free(&text);
    report_close(report);
}

/* ---- judging ---- */

static void a_link_is_fine_or_broken_or_nobody_knows(void **state)
{
    (void)state;
    static const struct {
        int status;
        const char *reason;
        report_state state;
    } cases[] = {
        {200, NULL, REPORT_FINE},        {204, NULL, REPORT_FINE},       {301, NULL, REPORT_FINE},
        {399, NULL, REPORT_FINE},        {400, NULL, REPORT_BROKEN},     {401, NULL, REPORT_UNKNOWN},
        {403, NULL, REPORT_UNKNOWN},     {404, NULL, REPORT_BROKEN},     {410, NULL, REPORT_BROKEN},
        {429, NULL, REPORT_UNKNOWN},     {500, NULL, REPORT_BROKEN},     {503, NULL, REPORT_BROKEN},
        {999, NULL, REPORT_UNKNOWN},     {0, NULL, REPORT_UNKNOWN},      {0, "robots", REPORT_UNKNOWN},
        {0, "name", REPORT_BROKEN},      {0, "connect", REPORT_BROKEN},  {0, "tls", REPORT_BROKEN},
        {0, "timeout", REPORT_BROKEN},   {0, "broken", REPORT_BROKEN},   {200, "broken", REPORT_BROKEN},
        {0, "address", REPORT_UNKNOWN},  {0, "limit", REPORT_UNKNOWN},   {200, "limit", REPORT_FINE},
        {404, "limit", REPORT_BROKEN},   {301, "limit", REPORT_UNKNOWN}, {0, "trap", REPORT_UNKNOWN},
        {200, "memory", REPORT_UNKNOWN}, {0, "new one", REPORT_UNKNOWN},
    };
    static const report_accepted none;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        check(report_judge(&none, cases[i].status, cases[i].reason) == cases[i].state, "%d %s", cases[i].status,
              cases[i].reason ? cases[i].reason : "");
}

static void accepted_statuses_are_fine(void **state)
{
    (void)state;
    static const char *const bad[] = {",",    "403,",    ",403", "40",      "4033",    "099",    "403-",
                                      "-403", "499-400", "403 ", "403;404", "403-4-5", "four03", "403,,404"};
    report_accepted accepted;

    assert_true(report_accepted_read(&accepted, "403,500-502,999"));
    static const int in[] = {403, 500, 501, 502, 999}, out[] = {402, 404, 499, 503, 998, 1000, 0, -1, 64 + 403};
    for (size_t i = 0; i < sizeof in / sizeof *in; i++)
        check(report_judge(&accepted, in[i], NULL) == REPORT_FINE, "%d", in[i]);
    for (size_t i = 0; i < sizeof out / sizeof *out; i++)
        check(!report_accepts(&accepted, out[i]), "%d", out[i]);
    assert_int_equal(report_judge(&accepted, 500, "limit"), REPORT_FINE);
    assert_int_equal(report_judge(&accepted, 500, "timeout"), REPORT_BROKEN); /* the status is not the answer */
    assert_true(report_accepted_read(&accepted, ""));
    assert_int_equal(report_judge(&accepted, 404, NULL), REPORT_BROKEN);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        check(!report_accepted_read(&accepted, bad[i]), "%s", bad[i]);
}

/* ---- totals ---- */

static void totals_are_those_of_the_rows(void **state)
{
    (void)state;
    made crawl;
    report_totals totals;

    make(&crawl);
    db_visit first = {.number = 1, .first = 1};
    assert_int_equal(db_visit_begin(crawl.db, &first), VIDI_OK);
    add(&crawl, "http://h/", 0, 200, NULL);
    add(&crawl, "http://h/404", 1, 404, NULL);
    add(&crawl, "http://h/500", 1, 500, NULL);
    add(&crawl, "http://h/403", 1, 403, NULL);
    add(&crawl, "http://h/robots", 1, 0, "robots");
    add(&crawl, "http://gone/", 1, 0, "name");
    add_url(&crawl, "http://h/queued", 1, 0);
    db_outcome half = {.id = add_url(&crawl, "http://h/half", 1, 0), .status = 200, .error = "a sentence"};
    assert_int_equal(db_outcome_add(crawl.db, &half), VIDI_OK);
    db_host host = {.id = 7, .origin = str("http://h"), .parked = "Crawl-delay", .robots_outcome = -1};
    assert_int_equal(db_host_write(crawl.db, &host), VIDI_OK);
    assert_int_equal(db_set(crawl.db, "seconds_ms", 12345), VIDI_OK);
    assert_int_equal(db_visit_lost(crawl.db, 0.12345678901234568, 2), VIDI_OK);
    assert_int_equal(db_set_text(crawl.db, "kind", str("fingerprint")), VIDI_OK);
    commit(&crawl);

    report *report = look(&crawl);
    assert_int_equal(report_total(report, &totals), VIDI_OK);
    assert_int_equal(totals.rows.urls, 8);
    assert_int_equal(totals.rows.queue, 1);
    assert_int_equal(totals.broken, 3);
    assert_int_equal(totals.unknown, 2);
    assert_int_equal(totals.parked, 1);
    assert_int_equal(totals.partial, 1);
    assert_true(totals.seconds == 12.345 && totals.expected_lost == 0.12345678901234568);
    assert_int_equal(totals.fp_meaning, 2);
    assert_string_equal(totals.kind, "fingerprint");
    assert_string_equal(totals.canon, "whatwg");

    /* The crawl goes on; the next look sees what it has committed, and nothing else. */
    add(&crawl, "http://h/new", 1, 404, NULL);
    assert_int_equal(report_total(report, &totals), VIDI_OK);
    assert_int_equal(totals.broken, 3);
    commit(&crawl);
    assert_int_equal(report_total(report, &totals), VIDI_OK);
    assert_int_equal(totals.broken, 4);
    assert_int_equal(totals.rows.urls, 9);
    report_close(report);
    destroy(&crawl);
}

static void what_the_crawl_has_not_written_yet_is_nothing(void **state)
{
    (void)state;
    made crawl;
    report_totals totals;

    make(&crawl);
    commit(&crawl);
    report *report = look(&crawl);
    assert_int_equal(report_total(report, &totals), VIDI_OK);
    assert_int_equal(totals.rows.urls, 0);
    assert_true(totals.seconds == 0 && totals.expected_lost == 0);
    assert_string_equal(totals.kind, "");
    report_close(report);
    check_broken(&crawl, "");
    destroy(&crawl);
}

static void a_folder_without_a_crawl_is_an_error(void **state)
{
    (void)state;
    test_scratch folder;
    char why[512];
    report *report;

    test_scratch_make(&folder);
    assert_int_not_equal(report_open(&report, folder.path, why), VIDI_OK);
    assert_null(report);
    assert_non_null(strstr(why, "crawl.db"));
    assert_false(test_file_exists(&folder, "crawl.db"));
    test_file_save(&folder, "crawl.db", "not a database, but long enough to be taken for one", 50);
    assert_int_not_equal(report_open(&report, folder.path, why), VIDI_OK);
    assert_non_null(strstr(why, "crawl.db"));
    test_scratch_remove(&folder);
}

static void a_damaged_secret_is_an_error(void **state)
{
    (void)state;
    static const char *const bad[] = {"12", "000102030405060708090a0b0c0d0e0g", "000102030405060708090a0b0c0d0e0f0"};
    report_visitor visitor = {0};

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        made crawl;
        make(&crawl);
        assert_int_equal(db_set_text(crawl.db, "secret", str(bad[i])), VIDI_OK);
        commit(&crawl);
        report *report = look(&crawl);
        assert_int_equal(report_broken_links(report, &visitor), VIDI_EDAMAGED);
        assert_non_null(strstr(report_error(report), "secret"));
        report_close(report);
        destroy(&crawl);
    }
}

/* ---- broken links ---- */

static void every_page_that_links_to_it_is_told(void **state)
{
    (void)state;
    made crawl;

    make(&crawl);
    uint64_t home = add(&crawl, "http://h/", 0, 200, NULL), other = add(&crawl, "http://h/other", home, 200, NULL);
    add(&crawl, "http://h/gone", home, 404, NULL);
    add(&crawl, "http://h/fine", home, 200, NULL);
    add(&crawl, "http://nowhere/", other, 0, "name");
    add(&crawl, "http://h/secret", other, 403, NULL);
    add_edge(&crawl, home, "http://h/gone", "first");
    add_edge(&crawl, home, "http://h/gone", "second");
    add_edge(&crawl, home, "http://h/gone", "first");
    add_edge(&crawl, home, "http://h/fine", "fine");
    add_edge(&crawl, other, "http://H:80/gone#part", "other spelling");
    add_edge(&crawl, other, "http://nowhere/", "");
    add_edge(&crawl, other, "http://h/secret", "secret");
    commit(&crawl);
    check_broken(&crawl, "http://h/gone 404 -\n"
                         "  http://h/ 'first'\n"
                         "  http://h/ 'second'\n"
                         "  http://h/other 'other spelling'\n"
                         "http://nowhere/ 0 name\n"
                         "  http://h/other ''\n");
    destroy(&crawl);
}

static void pages_that_link_to_a_redirect_are_told_too(void **state)
{
    (void)state;
    made crawl;

    make(&crawl);
    uint64_t home = add(&crawl, "http://h/", 0, 200, NULL), other = add(&crawl, "http://h/other", home, 200, NULL);
    uint64_t one = add_redirect(&crawl, "http://h/1", home, "http://h/2");
    uint64_t two = add_url(&crawl, "http://h/2", one, 1);
    add_outcome(&crawl, two, 302, NULL, "http://h/3");
    uint64_t three = add_url(&crawl, "http://h/3", two, 2);
    add_outcome(&crawl, three, 410, NULL, NULL);
    add_redirect(&crawl, "http://h/elsewhere", home, "http://h/other");
    add_edge(&crawl, home, "http://h/1", "one");
    add_edge(&crawl, home, "http://h/elsewhere", "fine");
    add_edge(&crawl, other, "http://h/2", "two");
    add_edge(&crawl, other, "http://h/3", "three");
    commit(&crawl);
    check_broken(&crawl, "http://h/3 410 -\n"
                         "  http://h/ 'one' through http://h/1\n"
                         "  http://h/other 'two' through http://h/2\n"
                         "  http://h/other 'three'\n");
    destroy(&crawl);
}

static void redirects_in_a_circle_end(void **state)
{
    (void)state;
    made crawl;

    make(&crawl);
    uint64_t home = add(&crawl, "http://h/", 0, 200, NULL);
    add_redirect(&crawl, "http://h/self", home, "http://h/self");
    add_redirect(&crawl, "http://h/a", home, "http://h/b");
    add_redirect(&crawl, "http://h/b", home, "http://h/c");
    add_redirect(&crawl, "http://h/c", home, "http://h/a");
    add_redirect(&crawl, "http://h/into", home, "http://h/b");
    add_redirect(&crawl, "http://h/unknown", home, "http://never-met/");
    add(&crawl, "http://h/gone", home, 404, NULL);
    add_edge(&crawl, home, "http://h/a", "");
    add_edge(&crawl, home, "http://h/gone", "");
    commit(&crawl);
    check_broken(&crawl, "http://h/gone 404 -\n  http://h/ ''\n");
    destroy(&crawl);
}

static void without_edges_the_page_that_it_was_found_on_is_told(void **state)
{
    (void)state;
    made crawl;

    make(&crawl);
    uint64_t home = add(&crawl, "http://h/", 0, 200, NULL);
    add(&crawl, "http://h/gone", home, 404, NULL);
    uint64_t moved = add_redirect(&crawl, "http://h/moved", home, "http://h/away");
    uint64_t away = add_url(&crawl, "http://h/away", moved, 1);
    add_outcome(&crawl, away, 0, "timeout", NULL);
    add(&crawl, "http://seed/", 0, 0, "connect");
    commit(&crawl);
    check_broken(&crawl, "http://h/gone 404 -\n"
                         "  http://h/ ''\n"
                         "http://h/away 0 timeout\n"
                         "  http://h/ '' through http://h/moved\n"
                         "http://seed/ 0 connect\n");
    destroy(&crawl);
}

static int put_any(void *context, const report_broken *url)
{
    return bytes_append_format(context, "%d %.1f ", (int)url->state, url->seconds) ? 1 : put_broken(context, url);
}

static void all_urls_can_be_told_with_their_states(void **state)
{
    (void)state;
    made crawl;
    bytes text = {0};

    make(&crawl);
    uint64_t home = add(&crawl, "http://h/", 0, 200, NULL);
    add(&crawl, "http://h/gone", home, 404, NULL);
    add(&crawl, "http://h/not-for-us", home, 403, NULL);
    add_url(&crawl, "http://h/queued", home, 0);
    db_outcome slow = {.id = add_url(&crawl, "http://h/slow", home, 0), .status = 200, .seconds = 2.5};
    assert_int_equal(db_outcome_add(crawl.db, &slow), VIDI_OK);
    add_edge(&crawl, home, "http://h/gone", "text");
    add_edge(&crawl, home, "http://h/slow", "text");
    commit(&crawl);
    report *report = look(&crawl);
    report_visitor visitor = {put_any, put_referrer, &text, true};
    assert_int_equal(report_broken_links(report, &visitor), VIDI_OK);
    assert_int_equal(bytes_append(&text, "", 1), VIDI_OK);
    assert_string_equal(text.ptr, "0 0.0 http://h/ 200 -\n"
                                  "2 0.0 http://h/gone 404 -\n"
                                  "  http://h/ 'text'\n"
                                  "1 0.0 http://h/not-for-us 403 -\n"
                                  "0 2.5 http://h/slow 200 -\n");
    bytes_free(&text);
    report_close(report);
    destroy(&crawl);
}

/* ---- fragments ---- */

/* A page that was read to its end; names end with NULL. */
static void add_names(made *crawl, uint64_t page, const char *const *names)
{
    bytes list = {0};
    for (; *names; names++)
        assert_int_equal(fragment_names_add(&list, str(*names)), VIDI_OK);
    fragment_names_sort(&list);
    assert_int_equal(db_names(crawl->db, page, list.len ? bytes_str(&list) : str("")), VIDI_OK);
    bytes_free(&list);
}
#define ADD_NAMES(crawl, page, ...) add_names(crawl, page, (const char *const[]){__VA_ARGS__, NULL})

static void add_fragment(made *crawl, uint64_t page, const char *url, const char *text, const char *fragment)
{
    vidi_str target = str(url);
    uint64_t key;
    assert_int_equal(url_keys_make(crawl->keys, &target, 1, &key), VIDI_OK);
    assert_int_equal(db_fragment(crawl->db, key, page, str(text), str(fragment)), VIDI_OK);
}

static void check_fragments(made *crawl, uint64_t count, const char *expected)
{
    report_totals totals;

    commit(crawl);
    report *report = look(crawl);
    assert_int_equal(report_total(report, &totals), VIDI_OK);
    assert_int_equal(totals.fragments, count);
    assert_true(totals.has_fragments);
    assert_int_equal(totals.broken, 0);
    report_close(report);
    check_broken(crawl, expected);
}

static void fragments_that_lead_nowhere_are_told_with_all_referrers(void **state)
{
    (void)state;
    made crawl;
    report_totals totals;

    make(&crawl);
    uint64_t home = add(&crawl, "http://h/", 0, 200, NULL), a = add(&crawl, "http://h/a", home, 200, NULL);
    uint64_t plain = add(&crawl, "http://h/plain", home, 200, NULL);
    ADD_NAMES(&crawl, home, "x", "\xC3\xBC");
    ADD_NAMES(&crawl, a, NULL);
    add_fragment(&crawl, a, "http://h:80/", "good", "x");
    add_fragment(&crawl, a, "http://h/", "good", "%C3%BC");
    add_fragment(&crawl, a, "http://h/", "good", "TOP");
    add_fragment(&crawl, a, "http://h/", "bad", "X");
    add_fragment(&crawl, home, "http://h/", "bad, too", "X");
    add_fragment(&crawl, plain, "http://h:80/", "bad, too", "X");
    add_fragment(&crawl, home, "http://h/a", "bad", "x");
    add_fragment(&crawl, home, "http://h/a", "bad", "x");
    add_fragment(&crawl, home, "http://h/plain", "not a page of HTML", "x");
    add_fragment(&crawl, home, "http://elsewhere/", "not in the crawl", "x");
    commit(&crawl);
    report *report = look(&crawl);
    assert_int_equal(report_total(report, &totals), VIDI_OK);
    assert_false(totals.has_fragments); /* nobody asked for them */
    assert_int_equal(totals.fragments, 0);
    report_close(report);
    check_broken(&crawl, "");
    assert_int_equal(db_set(crawl.db, "fragments", 1), VIDI_OK);
    check_fragments(&crawl, 2,
                    "http://h/#X 200 fragment\n"
                    "  http://h/ 'bad, too'\n"
                    "  http://h/a 'bad'\n"
                    "  http://h/plain 'bad, too'\n"
                    "http://h/a#x 200 fragment\n"
                    "  http://h/ 'bad'\n");
    destroy(&crawl);
}

static void a_redirect_keeps_the_fragment_unless_it_has_its_own(void **state)
{
    (void)state;
    made crawl;

    make(&crawl);
    uint64_t home = add(&crawl, "http://h/", 0, 200, NULL);
    ADD_NAMES(&crawl, home, "x");
    add_redirect(&crawl, "http://h/1", home, "http://h/2");
    add_redirect(&crawl, "http://h/2", home, "http://h/");
    uint64_t own = add_redirect(&crawl, "http://h/own", home, "http://h/1");
    uint64_t top = add_redirect(&crawl, "http://h/to-the-top", home, "http://h/1");
    add_redirect(&crawl, "http://h/before-own", home, "http://h/own");
    add_redirect(&crawl, "http://h/around", home, "http://h/again");
    add_redirect(&crawl, "http://h/again", home, "http://h/around");
    add_fragment(&crawl, own, "http://h/1", "(redirect)", "q");
    add_fragment(&crawl, top, "http://h/1", "(redirect)", "");
    add_fragment(&crawl, home, "http://h/1", "good", "x");
    add_fragment(&crawl, home, "http://h/1", "bad", "y");
    add_fragment(&crawl, home, "http://h/2", "bad", "y");
    add_fragment(&crawl, home, "http://h/own", "counts no longer", "z");
    add_fragment(&crawl, home, "http://h/before-own", "counts no longer", "z");
    add_fragment(&crawl, home, "http://h/to-the-top", "counts no longer", "z");
    add_fragment(&crawl, home, "http://h/around", "leads nowhere", "z");
    assert_int_equal(db_set(crawl.db, "fragments", 1), VIDI_OK);
    check_fragments(&crawl, 2,
                    "http://h/#q 200 fragment\n"
                    "  http://h/own '(redirect)' through http://h/1\n"
                    "http://h/#y 200 fragment\n"
                    "  http://h/ 'bad' through http://h/1\n"
                    "  http://h/ 'bad' through http://h/2\n");
    destroy(&crawl);
}

typedef struct ending {
    int calls, end_at;
} ending;

static int end_broken(void *context, const report_broken *url)
{
    ending *ending = context;
    (void)url;
    return ++ending->calls == ending->end_at ? 42 : 0;
}

static int end_referrer(void *context, const report_referrer *from)
{
    (void)from;
    return end_broken(context, NULL);
}

static int end_line(void *context, vidi_str text)
{
    (void)text;
    return end_broken(context, NULL);
}

static void a_visitor_can_end_the_walk(void **state)
{
    (void)state;
    made crawl;

    make(&crawl);
    uint64_t home = add(&crawl, "http://h/", 0, 200, NULL);
    add(&crawl, "http://h/gone", home, 404, NULL);
    add(&crawl, "http://h/gone2", home, 404, NULL);
    commit(&crawl);
    report *report = look(&crawl);
    for (int at = 1; at <= 4; at++) {
        ending end = {0, at};
        report_visitor visitor = {end_broken, end_referrer, &end, false};
        assert_int_equal(report_broken_links(report, &visitor), 42);
        assert_int_equal(end.calls, at);
    }
    report_close(report);
    destroy(&crawl);
}

static int count_broken(void *context, const report_broken *url)
{
    (void)url;
    ((uint64_t *)context)[0]++;
    return 0;
}

static int count_referrer(void *context, const report_referrer *from)
{
    (void)from;
    ((uint64_t *)context)[1]++;
    return 0;
}

static int count_steps(void *context)
{
    *(uint64_t *)context += 1000;
    return 0;
}

/* A long chain of redirects, many broken URLs, many edges and fragments: quadratic work would be 10^9 steps of SQLite's machine. */
static void a_large_report_takes_linear_time(void **state)
{
    (void)state;
    enum { BROKEN = 30000, CHAIN = 30000 };
    made crawl;
    char url[40], next[40];
    uint64_t counts[2] = {0}, steps = 0;

    make(&crawl);
    uint64_t home = add(&crawl, "http://h/", 0, 200, NULL);
    for (unsigned i = 0; i < BROKEN; i++) {
        snprintf(url, sizeof url, "http://h/gone/%u", i);
        add(&crawl, url, home, 404, NULL);
        add_edge(&crawl, home, url, "x");
        snprintf(next, sizeof next, "name-%u", i);
        add_fragment(&crawl, home, "http://h/", "z", next);
    }
    ADD_NAMES(&crawl, home, "name-0");
    assert_int_equal(db_set(crawl.db, "fragments", 1), VIDI_OK);
    for (unsigned i = 0; i < CHAIN; i++) {
        snprintf(url, sizeof url, "http://h/chain/%u", i);
        snprintf(next, sizeof next, i + 1 < CHAIN ? "http://h/chain/%u" : "http://h/gone/0", i + 1);
        add_redirect(&crawl, url, 0, next);
        add_edge(&crawl, home, url, "y");
    }
    commit(&crawl);
    report *report = look(&crawl);
    report_visitor visitor = {count_broken, count_referrer, counts, false};
    sqlite3_progress_handler(db_sqlite(report_db(report)), 1000, count_steps, &steps);
    assert_int_equal(report_broken_links(report, &visitor), VIDI_OK);
    assert_int_equal(counts[0], BROKEN + BROKEN - 1); /* one fragment leads somewhere */
    assert_int_equal(counts[1], BROKEN + CHAIN + BROKEN - 1);
    check(steps > 0 && steps < 300 * (uint64_t)(BROKEN + CHAIN), "%llu steps", (unsigned long long)steps);
    report_close(report);
    destroy(&crawl);
}

/* ---- CDXJ ---- */

static void add_stored(made *crawl, const char *url, const char *type, int status, int64_t date, const char *file)
{
    uint64_t id = add_url(crawl, url, 0, 0);
    db_outcome row = {.id = id,
                      .status = status,
                      .type = str(type),
                      .digest = "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ",
                      .date = date,
                      .file = file,
                      .offset = 100 * id,
                      .length = 10 + id};
    assert_int_equal(db_outcome_add(crawl->db, &row), VIDI_OK);
}

static int put_line(void *context, vidi_str text)
{
    return bytes_append_str(context, text);
}

static void the_index_has_a_line_for_each_stored_page_sorted(void **state)
{
    (void)state;
    made crawl;
    bytes text = {0};

    make(&crawl);
    add_stored(&crawl, "http://www.example.org/b?x=1&a=2", "text/html", 200, 1700000000123, "vidi-00000.warc.gz");
    add_stored(&crawl, "https://example.org/b", NULL, 404, 1700000001000, "vidi-00001.warc.gz");
    add_stored(&crawl, "https://example.com/not-stored", "text/html", 200, 1700000001000, NULL);
    add_stored(&crawl, "http://example.org/", "a\"b\\c\n\xFF", 301, 1700000002000, "vidi-00000.warc.gz");
    add_stored(&crawl, "http://example.org/b", "image/png", 200, 1700000000000, "vidi-00000.warc.gz");
    add_url(&crawl, "http://example.org/queued", 0, 0);
    commit(&crawl);
    report *report = look(&crawl);
    assert_int_equal(report_cdxj(report, put_line, &text), VIDI_OK);
    assert_int_equal(bytes_append(&text, "", 1), VIDI_OK);
#define DIGEST "\"digest\": \"3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ\""
    assert_string_equal(
        text.ptr,
        "org,example)/ 20231114221322 {\"url\": \"http://example.org/\", \"mime\": \"a\\\"b\\\\c\\ufffd\\ufffd\", "
        "\"status\": \"301\", " DIGEST
        ", \"length\": \"14\", \"offset\": \"400\", \"filename\": \"vidi-00000.warc.gz\"}\n"
        "org,example)/b 20231114221320 {\"url\": \"http://example.org/b\", \"mime\": \"image/png\", "
        "\"status\": \"200\", " DIGEST
        ", \"length\": \"15\", \"offset\": \"500\", \"filename\": \"vidi-00000.warc.gz\"}\n"
        "org,example)/b 20231114221321 {\"url\": \"https://example.org/b\", \"mime\": \"unk\", "
        "\"status\": \"404\", " DIGEST
        ", \"length\": \"12\", \"offset\": \"200\", \"filename\": \"vidi-00001.warc.gz\"}\n"
        "org,example)/b?a=2&x=1 20231114221320 {\"url\": \"http://www.example.org/b?x=1&a=2\", "
        "\"mime\": \"text/html\", \"status\": \"200\", " DIGEST
        ", \"length\": \"11\", \"offset\": \"100\", \"filename\": \"vidi-00000.warc.gz\"}\n");
    bytes_free(&text);
    ending end = {0, 2};
    assert_int_equal(report_cdxj(report, end_line, &end), 42);
    assert_int_equal(end.calls, 2);
    report_close(report);
    destroy(&crawl);
}

typedef struct sorted {
    char last[2000];
    uint64_t lines;
} sorted;

static int compare_line(void *context, vidi_str text)
{
    sorted *sorted = context;

    assert_true(text.len < sizeof sorted->last && text.ptr[text.len - 1] == '\n');
    assert_null(memchr(text.ptr, '\n', text.len - 1));
    assert_true(strcmp(sorted->last, text.ptr) <= 0);
    memcpy(sorted->last, text.ptr, text.len);
    sorted->last[text.len] = 0;
    sorted->lines++;
    return 0;
}

/* Bytes decide, as for LC_ALL=C sort; no letter case, no language. */
static void lines_are_sorted_by_their_bytes(void **state)
{
    (void)state;
    enum { PAGES = 5000 };
    made crawl;
    char url[100];
    sorted sorted = {0};

    make(&crawl);
    for (unsigned i = 0; i < PAGES; i++) {
        unsigned x = i * 2654435761u;
        snprintf(url, sizeof url, "http://%c%u.example/%c%%%02X~%u", 'a' + (int)(x % 26), x >> 8 & 7,
                 "aBz-_.~!(9"[x >> 11 & 7], x >> 14 & 255, i);
        add_stored(&crawl, url, "text/html", 200, 1700000000000 + (int64_t)(x & 0xFFFFFF), "vidi-00000.warc.gz");
    }
    add_stored(&crawl, "not a URL\n\xFF", "text/html", 200, 0, "vidi-00000.warc.gz");
    commit(&crawl);
    report *from = look(&crawl);
    assert_int_equal(report_cdxj(from, compare_line, &sorted), VIDI_OK);
    assert_int_equal(sorted.lines, PAGES + 1);
    report_close(from);
    destroy(&crawl);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_link_is_fine_or_broken_or_nobody_knows),
        cmocka_unit_test(accepted_statuses_are_fine),
        cmocka_unit_test(totals_are_those_of_the_rows),
        cmocka_unit_test(what_the_crawl_has_not_written_yet_is_nothing),
        cmocka_unit_test(a_folder_without_a_crawl_is_an_error),
        cmocka_unit_test(a_damaged_secret_is_an_error),
        cmocka_unit_test(every_page_that_links_to_it_is_told),
        cmocka_unit_test(pages_that_link_to_a_redirect_are_told_too),
        cmocka_unit_test(redirects_in_a_circle_end),
        cmocka_unit_test(without_edges_the_page_that_it_was_found_on_is_told),
        cmocka_unit_test(all_urls_can_be_told_with_their_states),
        cmocka_unit_test(fragments_that_lead_nowhere_are_told_with_all_referrers),
        cmocka_unit_test(a_redirect_keeps_the_fragment_unless_it_has_its_own),
        cmocka_unit_test(a_visitor_can_end_the_walk),
        cmocka_unit_test(a_large_report_takes_linear_time),
        cmocka_unit_test(the_index_has_a_line_for_each_stored_page_sorted),
        cmocka_unit_test(lines_are_sorted_by_their_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
