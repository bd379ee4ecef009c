/*
 * What a response yields: links, redirects, what it asks of robots, and whether it may be archived.
 */
#include "crawler/harvest/responses.h"
#include "crawler/packed.h"
#include "crawler/packed_newer.h"

static void links_of_a_page_that_are_in_scope_are_wanted(void **state)
{
    (void)state;
    harvest_rules rules = usual_rules(NULL);
    harvest got = harvested_page(&rules, "<a href=a>1</a><a href='/b?c=d&amp;e'>2</a><area href=../f><link href=g.css>"
                                         "<iframe src=i></iframe><meta http-equiv=refresh content='0;url=r'>"
                                         "<link rel=canonical href=http://h.org/canonical><img src=p.png>");
    assert_int_equal(got.found, 7);
    check_harvest(&got,
                  "http://h.org/d/a http://h.org/b?c=d&e http://h.org/f http://h.org/d/g.css http://h.org/d/i "
                  "http://h.org/d/r http://h.org/canonical",
                  "");
    end_rules(&rules);
}

static void resources_are_links_on_request(void **state)
{
    (void)state;
    const char *html = "<a href=a>x</a><img src=p.png srcset='q.png 1x, r.png 2x'><script src=s.js></script>";
    harvest_rules rules = usual_rules(NULL);
    harvest got = harvested_page(&rules, html);
    check_harvest(&got, "http://h.org/d/a", "");
    rules.resources = true;
    got = harvested_page(&rules, html);
    check_harvest(
        &got, "http://h.org/d/a +http://h.org/d/p.png +http://h.org/d/q.png +http://h.org/d/r.png +http://h.org/d/s.js",
        "");
    end_rules(&rules);
}

static void style_sheets_are_read_on_request(void **state)
{
    (void)state;
    static const char fields[] = "Content-Type: text/css\r\n";
    vidi_str sheet =
        text_of("@import 'i.css';a{b:url(c.png) url(//h.org/e) url(http://other.org/) url(http://[) url(\xC3\xA9)}");
    harvest_rules rules = usual_rules(NULL);
    frontier_url url = page_at("http://h.org/d/s.css");
    harvest got = harvested(&rules, &url, 200, fields, sheet);
    check_harvest(&got, "", "");
    rules.resources = true;
    got = harvested(&rules, &url, 200, fields, sheet);
    assert_int_equal(got.found, 6);
    check_harvest(&got, "+http://h.org/d/i.css +http://h.org/d/c.png +http://h.org/e +http://h.org/d/%C3%A9",
                  "scope=1 bad=1");
    got = harvested(&rules, &url, 404, fields, sheet);
    check_harvest(&got, "", "");
    got = harvested(&rules, &url, 200, "Content-Type: text/css;charset=latin1\r\n", text_of("url(\xE9)"));
    check_harvest(&got, "+http://h.org/d/%C3%A9", "");
    got = harvested(&rules, &url, 200, "Content-Type: text/css\r\nX-Robots-Tag: nofollow\r\n", text_of("url(a)"));
    check_harvest(&got, "", "nofollow=1");
    url.kind = FRONTIER_OUTSIDE;
    got = harvested(&rules, &url, 200, fields, sheet);
    check_harvest(&got, "", "");
    end_rules(&rules);
}

static void styles_and_srcdocs_of_a_page_are_read(void **state)
{
    (void)state;
    static const char html[] =
        "<style>url(a)</style><p style=url(b)><iframe srcdoc='<a href=c>x</a><img src=d>'></iframe>";
    harvest_rules rules = usual_rules(NULL);
    harvest got = harvested_page(&rules, html);
    check_harvest(&got, "http://h.org/d/c", "");
    rules.resources = true;
    got = harvested_page(&rules, html);
    check_harvest(&got, "+http://h.org/d/a +http://h.org/d/b http://h.org/d/c +http://h.org/d/d", "");
    end_rules(&rules);
}

static void links_in_the_head_are_those_of_link_elements(void **state)
{
    (void)state;
    static const char fields[] =
        "Link: <s.css>; rel=stylesheet, </n>; rel=next\r\n"
        "link: <i>; rel=icon, <p>; rel=preload, <http://h.org>; rel=preconnect\r\n"
        "Link: <x>; rel=next; anchor=y, <no-rel>, <f>; rel='nofollow', <g>; rel=\"nofollow next\"\r\n"
        "Refresh: 5; url=r\r\n";
    harvest_rules rules = usual_rules(NULL);
    frontier_url url = page_at("http://h.org/d/page");
    harvest got = harvested(&rules, &url, 200, fields, text_of("any content"));
    check_harvest(&got, "http://h.org/n http://h.org/d/f http://h.org/d/r", "nofollow=1");
    rules.resources = true;
    got = harvested(&rules, &url, 200, fields, text_of(""));
    check_harvest(&got,
                  "+http://h.org/d/s.css http://h.org/n +http://h.org/d/i +http://h.org/d/p http://h.org/d/f "
                  "http://h.org/d/r",
                  "nofollow=1");
    got = harvested(&rules, &url, 200, HTML_TYPE "Link: <a>; rel=next\r\nRefresh: 0;http://[\r\n",
                    text_of("<base href=/e/><a href=b>"));
    check_harvest(&got, "http://h.org/e/b http://h.org/d/a", "bad=1");
    got = harvested(&rules, &url, 200, HTML_TYPE "Link: <a>; rel=next\r\n",
                    text_of("<meta name=robots content=nofollow><a href=b>"));
    check_harvest(&got, "", "nofollow=2");
    got = harvested(&rules, &url, 404, fields, text_of(""));
    check_harvest(&got, "", "");
    got = harvested(&rules, &url, 200, "Link: <\xE9>; rel=next\r\n", text_of(""));
    check_harvest(&got, "http://h.org/d/%E9", "");
    url.kind = FRONTIER_SITEMAP;
    got = harvested(&rules, &url, 200, fields, text_of(""));
    check_harvest(&got, "", "");
    end_rules(&rules);
}

static void the_last_content_type_decides_what_is_read(void **state)
{
    (void)state;
    harvest_rules rules = usual_rules(NULL);
    frontier_url url = page_at("http://h.org/d/page");
    vidi_str page = text_of("<a href='?\xE9'>");
    harvest got = harvested(&rules, &url, 200, "Content-Type: text/plain\r\nContent-Type: text/html\r\n", page);
    assert_string_equal(got.type, "text/html");
    check_harvest(&got, "http://h.org/d/page?%E9", "");
    got = harvested(&rules, &url, 200, "Content-Type: text/html\r\nContent-Type: text/plain\r\n", page);
    assert_string_equal(got.type, "text/plain");
    check_harvest(&got, "", "");
    got = harvested(&rules, &url, 200, "Content-Type: text/html;charset=koi8-r, text/html\r\n", page);
    check_harvest(&got, "http://h.org/d/page?%E9", "");
    got = harvested(&rules, &url, 200, "Content-Type: text/html;charset=utf-8, text/html\r\n",
                    text_of("<a href='?\xC3\xA9'>"));
    check_harvest(&got, "http://h.org/d/page?%C3%A9", "");
    end_rules(&rules);
}

static void fragments_and_user_names_are_dropped(void **state)
{
    (void)state;
    harvest_rules rules = usual_rules(NULL);
    harvest got = harvested_page(&rules, "<a href=a#b><a href='#c'><a href='http://me:secret@h.org/e#f'>"
                                         "<a href='http://me@h.org/@g'><a href='/h/@i?j@k'>");
    check_harvest(&got, "http://h.org/d/a http://h.org/d/page http://h.org/e http://h.org/@g http://h.org/h/@i?j@k",
                  "");
    got = harvested_page(&rules, "<a href='http://h.org:x@evil.org/'><a href='http://h.org@evil.org'>");
    check_harvest(&got, "", "scope=2");
    end_rules(&rules);
}

static void what_is_not_wanted_is_counted_by_its_reason(void **state)
{
    (void)state;
    const char *exclude[] = {"/private/*"};
    scope_options options = {.max_url = 100, .max_repeat = 3, .exclude = exclude, .exclude_count = 1};
    harvest_rules rules = usual_rules(&options);
    char html[1000], path[200];
    memset(path, 'x', sizeof path);
    path[sizeof path - 1] = 0;
    sprintf(html,
            "<a href=http://other.org/><a href=mailto:me@h.org><a href=javascript:x><a href=ftp://h.org/>"
            "<a href=http://h.org:22/><a href=/private/a><a href=/private/b><a rel=nofollow href=c>"
            "<a rel='x UGC' href=c><a rel=sponsored href=c><a href=/e/e/e/e><a href=%s><a href=http://[><a href=f>",
            path);
    harvest got = harvested_page(&rules, html);
    assert_int_equal(got.found, 14);
    check_harvest(&got, "http://h.org/d/f", "scope=5 excluded=2 nofollow=3 trap=1 limit=1 bad=1");
    end_rules(&rules);
}

static void links_that_would_be_too_deep_are_counted(void **state)
{
    (void)state;
    harvest_rules rules = usual_rules(NULL);
    frontier_url url = page_at("http://h.org/");
    rules.max_depth = 3;
    url.depth = 2;
    harvest got = harvested(&rules, &url, 200, HTML_TYPE, text_of("<a href=a><a href=http://o.org/>"));
    check_harvest(&got, "http://h.org/a", "scope=1");
    url.depth = 3;
    got = harvested(&rules, &url, 200, HTML_TYPE, text_of("<a href=a><a href=http://o.org/>"));
    check_harvest(&got, "", "scope=1 depth=1");
    rules.max_depth = 0;
    url.depth = UINT32_MAX;
    got = harvested(&rules, &url, 200, HTML_TYPE, text_of("<a href=a>"));
    check_harvest(&got, "", "depth=1");
    end_rules(&rules);
}

static void a_link_that_is_repeated_comes_once(void **state)
{
    (void)state;
    harvest_rules rules = usual_rules(NULL);
    harvest got = harvested_page(&rules, "<a href=a><a href=b><a href=a><a href=a#x><a href=b>");
    assert_int_equal(got.found, 5);
    check_harvest(&got, "http://h.org/d/a http://h.org/d/b", "");
    got = harvested_page(&rules, "<a rel=nofollow href=a><a href=a>");
    check_harvest(&got, "http://h.org/d/a", "nofollow=1");
    end_rules(&rules);
}

static void checking_wants_links_out_of_scope_and_each_text(void **state)
{
    (void)state;
    harvest_rules rules = usual_rules(NULL);
    rules.check = true;
    frontier_url url = page_at("http://h.org/");
    harvest got = harvested(&rules, &url, 200, HTML_TYPE,
                            text_of("<a href=a>one</a><a href=a>two <b>words</b></a><a href=http://o.org/x>out</a>"
                                    "<a href=http://o.org:25/>mail</a><a href=mailto:x>m</a><a href=/y></a>"));
    assert_int_equal(got.link_count, 4);
    static const char *const texts[] = {"one", "two words", "out", ""};
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(got.links[i].text.len, strlen(texts[i]));
        assert_memory_equal(got.links[i].text.ptr, texts[i], strlen(texts[i]));
    }
    check_harvest(&got, "http://h.org/a http://h.org/a !http://o.org/x http://h.org/y", "scope=2");
    end_rules(&rules);
}

static void excluded_links_are_not_checked_wherever_they_lead(void **state)
{
    (void)state;
    static const char *const patterns[] = {"http://o.org/p/*", "/private/*"};
    scope_options options = {.exclude = patterns, .exclude_count = 2};
    static const char page[] = "<a href=http://o.org/p/a><a href=http://o.org/q><a href=http://q.org/private/b#c>"
                               "<a href=/private/d>";
    harvest_rules rules = usual_rules(&options);
    harvest got = harvested_page(&rules, page);
    check_harvest(&got, "", "scope=3 excluded=1");
    rules.check = true;
    got = harvested_page(&rules, page);
    check_harvest(&got, "!http://o.org/q", "excluded=3");
    frontier_url url = page_at("http://h.org/");
    got = harvested(&rules, &url, 301, "Location: http://o.org/p/a\r\n", text_of(""));
    check_harvest(&got, "", "excluded=1");
    rules.internal = true;
    got = harvested_page(&rules, page);
    check_harvest(&got, "", "scope=3 excluded=1");
    end_rules(&rules);
}

static void links_that_must_not_be_followed_are_checked_as_if_they_led_outside(void **state)
{
    (void)state;
    static const char page[] = "<a rel=nofollow href=a><a rel=ugc href=http://o.org/><a href=b>";
    harvest_rules rules = usual_rules(NULL);
    rules.check = true;
    harvest got = harvested_page(&rules, page);
    assert_true(got.links[0].nofollow);
    assert_false(got.links[1].nofollow); /* nobody follows it: it need not wait for links that are followed */
    assert_false(got.links[2].nofollow);
    check_harvest(&got, "!http://h.org/d/a !http://o.org/ http://h.org/d/b", "");
    frontier_url url = page_at("http://h.org/d/a");
    url.kind = FRONTIER_OUTSIDE;
    got = harvested(&rules, &url, 302, "Location: /x\r\n", text_of(""));
    check_harvest(&got, ">!http://h.org/x", "");
    url.kind = FRONTIER_SITEMAP;
    got = harvested(&rules, &url, 200, "Content-Type: text/xml\r\nX-Robots-Tag: nofollow\r\n",
                    text_of("<sitemapindex><sitemap><loc>http://h.org/s</loc></sitemap></sitemapindex>"));
    assert_true(got.links[0].nofollow);
    check_harvest(&got, "!http://h.org/s", "");
    rules.internal = true;
    got = harvested_page(&rules, page);
    check_harvest(&got, "!http://h.org/d/a http://h.org/d/b", "scope=1");
    rules.max_depth = 0;
    got = harvested_page(&rules, page);
    check_harvest(&got, "", "scope=1 depth=2");
    end_rules(&rules);
}

/* "fragment fragment" of all links; "-" if there is none to check, "0" if it is empty. */
static const char *fragments_of(const harvest *got)
{
    static char all[1000];
    all[0] = 0;
    for (size_t i = 0; i < got->link_count; i++) {
        const harvest_link *link = &got->links[i];
        sprintf(all + strlen(all), "%s%.*s", i ? " " : "", (int)link->fragment.len, link->fragment.ptr);
        if (link->fragment.len == 0)
            strcat(all, link->has_fragment ? "0" : "-");
    }
    return all;
}

static void fragments_and_names_are_taken_on_request(void **state)
{
    (void)state;
    static const char *const patterns[] = {"*#L*"};
    scope_options options = {.exclude = patterns, .exclude_count = 1};
    static const char html[] = "<p id=x><a href=a#b>one</a><a href='#x y'>two</a><a href=c#>c</a><a href='#TOP'>t</a>"
                               "<a href='#:~:text=q'>q</a><a href='d#e:~:text=q'>q</a><a href=l#L12>l</a>"
                               "<a href=http://o.org/#f>o</a><a href=n#m rel=nofollow>n</a><a name=z></a>";
    harvest_rules rules = usual_rules(&options);
    rules.check = true;
    harvest got = harvested_page(&rules, html);
    assert_string_equal(fragments_of(&got), "- - - - - - - - -");
    assert_false(got.has_names);
    harvest_free(&got);
    rules.fragments = true;
    got = harvested_page(&rules, html);
    assert_string_equal(fragments_of(&got), "b x%20y - - - e - - m");
    assert_int_equal(got.links[1].text.len, 3);
    assert_memory_equal(got.links[1].text.ptr, "two", 3);
    assert_true(got.has_names);
    assert_int_equal(got.names.len, 16);
    check_harvest(&got,
                  "http://h.org/d/a http://h.org/d/page http://h.org/d/c http://h.org/d/page http://h.org/d/page "
                  "http://h.org/d/d http://h.org/d/l !http://o.org/ !http://h.org/d/n",
                  "");
    got = harvested_page(&rules, "<p>no names");
    assert_true(got.has_names);
    harvest_free(&got);
    end_rules(&rules);
}

static void names_are_unknown_unless_a_page_was_read_to_its_end(void **state)
{
    (void)state;
    harvest_rules rules = usual_rules(NULL);
    rules.check = rules.fragments = true;
    frontier_url url = page_at("http://h.org/a");
    vidi_str text = text_of("<p id=a>"), many;
    harvest got = harvested(&rules, &url, 200, HTML_TYPE "Content-Encoding: unheard-of\r\n", text);
    assert_false(got.has_names);
    harvest_free(&got);
    bytes cut = packed(text, GZIP);
    for (size_t missing = 0; missing < 2; missing++) {
        got = harvested(&rules, &url, 200, HTML_TYPE "Content-Encoding: gzip\r\n",
                        (vidi_str){cut.ptr, cut.len - missing});
        assert_int_equal(got.names.len, 8);
        assert_int_equal(got.has_names, missing == 0);
        harvest_free(&got);
    }
    bytes_free(&cut);
    got = harvested(&rules, &url, 404, HTML_TYPE, text);
    assert_false(got.has_names);
    harvest_free(&got);
    got = harvested(&rules, &url, 200, "Content-Type: text/plain\r\n", text);
    assert_false(got.has_names);
    harvest_free(&got);
    bytes page = {0};
    for (int i = 0; i < (1 << 20) + 1; i++)
        assert_int_equal(bytes_append_text(&page, "<a id=x>"), VIDI_OK);
    many = bytes_str(&page);
    got = harvested(&rules, &url, 200, HTML_TYPE, many);
    assert_false(got.has_names);
    assert_int_equal(got.names.len, 0);
    harvest_free(&got);
    many.len -= 8;
    got = harvested(&rules, &url, 200, HTML_TYPE, many);
    assert_true(got.has_names);
    harvest_free(&got);
    bytes_free(&page);
    end_rules(&rules);
}

static void the_fragment_of_a_redirect_is_kept_even_if_it_is_empty(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"/x", "-"}, {"/x#", "0"}, {"/x#a", "a"}, {"/x#:~:text=a", "0"}, {"/x#top", "top"}};
    harvest_rules rules = usual_rules(NULL);
    rules.check = rules.fragments = true;
    frontier_url url = page_at("http://h.org/");
    char field[64];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sprintf(field, "Location: %s\r\n", cases[i][0]);
        harvest got = harvested(&rules, &url, 301, field, text_of(""));
        assert_string_equal(fragments_of(&got), cases[i][1]);
        assert_int_equal(got.redirect.len, 14);
        check_harvest(&got, ">http://h.org/x", "");
    }
    end_rules(&rules);
}

static void hosts_that_a_page_will_need_are_not_links(void **state)
{
    (void)state;
    harvest_rules rules = usual_rules(NULL);
    harvest got = harvested_page(&rules, "<link rel=preconnect href=//o.org><link rel=DNS-Prefetch href=//p.org>"
                                         "<link rel=prefetch href=a>");
    assert_int_equal(got.found, 1);
    check_harvest(&got, "http://h.org/d/a", "");
    end_rules(&rules);
}

static void nofollow_of_page_or_head_is_obeyed(void **state)
{
    (void)state;
    harvest_rules rules = usual_rules(NULL);
    frontier_url url = page_at("http://h.org/");
    harvest got = harvested_page(&rules, "<meta name=robots content=nofollow><a href=a><a href=b>");
    check_harvest(&got, "", "nofollow=2");
    got = harvested_page(&rules, "<a href=a><meta name=Robots content='None'>");
    check_harvest(&got, "", "nofollow=1");
    got = harvested_page(&rules, "<a href=a><meta name=robots content=noindex>");
    check_harvest(&got, "http://h.org/d/a", "");
    got = harvested(&rules, &url, 200, HTML_TYPE "X-Robots-Tag: nofollow\r\n", text_of("<a href=a>"));
    check_harvest(&got, "", "nofollow=1");
    got = harvested(&rules, &url, 200, HTML_TYPE "X-Robots-Tag: otherbot: nofollow\r\n", text_of("<a href=a>"));
    check_harvest(&got, "http://h.org/a", "");
    url.kind = FRONTIER_SITEMAP;
    got = harvested(&rules, &url, 200, "X-Robots-Tag: none\r\n", text_of("<urlset><url><loc>/a</loc></url></urlset>"));
    check_harvest(&got, "", "nofollow=1");
    end_rules(&rules);
}

static void redirects_lead_on_with_their_status_and_location(void **state)
{
    (void)state;
    static const struct {
        int status;
        const char *fields, *redirect, *links, *skipped;
    } cases[] = {
        {301, "Location: http://h.org/x\r\n", "http://h.org/x", ">http://h.org/x", ""},
        {302, "Location: /x\r\n", "http://h.org/x", ">http://h.org/x", ""},
        {303, "location: x?y#z\r\n", "http://h.org/d/x?y", ">http://h.org/d/x?y", ""},
        {307, "Location: //h.org:80/\r\n", "http://h.org/", ">http://h.org/", ""},
        {308, "Location: https://h.org/\r\n", "https://h.org/", ">https://h.org/", ""},
        {300, "Location: /x\r\n", NULL, "", ""},
        {304, "Location: /x\r\n", NULL, "", ""},
        {201, "Location: /x\r\n", NULL, "", ""},
        {200, "Location: /x\r\n", NULL, "", ""},
        {301, "", NULL, "", ""},
        {301, "Location:\r\n", NULL, "", ""},
        {301, "Location: http://[\r\n", NULL, "", "bad=1"},
        {301, "Location: http://o.org/\r\n", "http://o.org/", "", "scope=1"},
        {301, "Location: ftp://h.org/\r\n", "ftp://h.org/", "", "scope=1"},
        {301, "Location: javascript:alert(1)\r\n", "javascript:alert(1)", "", "scope=1"},
        {301, "Location: http://me:secret@h.org/x\r\n", "http://h.org/x", ">http://h.org/x", ""},
        {301, "Location: /\xc3\xbc?\xc3\xbc\r\n", "http://h.org/%C3%BC?%C3%BC", ">http://h.org/%C3%BC?%C3%BC", ""},
        {301, "Location: /\xfc?\xfc\r\n", "http://h.org/%FC?%FC", ">http://h.org/%FC?%FC", ""},
        {301, "Location: /a\r\n b\r\n", "http://h.org/a%20b", ">http://h.org/a%20b", ""},
        {301, "Location: /a/a/a/a\r\n", "http://h.org/a/a/a/a", "", "trap=1"},
        {301, "X-Robots-Tag: nofollow\r\nLocation: /x\r\n", "http://h.org/x", ">http://h.org/x", ""},
    };
    harvest_rules rules = usual_rules(NULL);
    frontier_url url = page_at("http://h.org/d/page");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        harvest got = harvested(&rules, &url, cases[i].status, cases[i].fields, text_of("moved"));
        const char *expected = cases[i].redirect ? cases[i].redirect : "";
        check((got.redirect.ptr != NULL) == (cases[i].redirect != NULL) && got.redirect.len == strlen(expected) &&
                  memcmp(got.redirect.ptr ? got.redirect.ptr : "", expected, got.redirect.len) == 0,
              "%d %s leads to %.*s", cases[i].status, cases[i].fields, (int)got.redirect.len, got.redirect.ptr);
        check_harvest(&got, cases[i].links, cases[i].skipped);
    }
    end_rules(&rules);
}

static void redirects_in_a_row_are_limited(void **state)
{
    (void)state;
    harvest_rules rules = usual_rules(NULL);
    frontier_url url = page_at("http://h.org/");
    rules.max_hops = 2;
    rules.max_depth = 0;
    url.hops = 1;
    harvest got = harvested(&rules, &url, 301, "Location: /x\r\n", text_of(""));
    check_harvest(&got, ">http://h.org/x", "");
    url.hops = 2;
    got = harvested(&rules, &url, 301, "Location: /x\r\n", text_of(""));
    assert_int_equal(got.redirect.len, 14);
    check_harvest(&got, "", "limit=1");
    end_rules(&rules);
}

static void a_redirect_keeps_what_the_url_is_to_the_crawl(void **state)
{
    (void)state;
    harvest_rules rules = usual_rules(NULL);
    frontier_url url = page_at("http://h.org/");
    url.kind = FRONTIER_SITEMAP;
    harvest got = harvested(&rules, &url, 301, "Location: /x\r\n", text_of(""));
    check_harvest(&got, ">$http://h.org/x", "");
    rules.check = true;
    url.kind = FRONTIER_SEED;
    got = harvested(&rules, &url, 301, "Location: http://o.org/\r\n", text_of(""));
    check_harvest(&got, ">!http://o.org/", "");
    url = page_at("http://o.org/");
    url.kind = FRONTIER_OUTSIDE;
    got = harvested(&rules, &url, 301, "Location: /x\r\n", text_of(""));
    check_harvest(&got, ">!http://o.org/x", "");
    got = harvested(&rules, &url, 301, "Location: http://h.org/x\r\n", text_of(""));
    check_harvest(&got, ">http://h.org/x", "");
    end_rules(&rules);
}

static void nothing_is_taken_from_outside_but_redirects(void **state)
{
    (void)state;
    harvest_rules rules = usual_rules(NULL);
    rules.check = rules.store = true;
    archive_packer *packer = archive_packer_open();
    frontier_url url = page_at("http://o.org/");
    url.kind = FRONTIER_OUTSIDE;
    fetch_response response = response_of(200, HTML_TYPE, text_of("<a href=http://h.org/>"));
    harvest got;
    assert_int_equal(harvest_read(&got, &rules, packer, &url, &response), VIDI_OK);
    assert_string_equal(got.type, "text/html");
    assert_false(got.may_store);
    assert_int_equal(got.records.len, 0);
    check_harvest(&got, "", "");
    end_response(&response);
    archive_packer_close(packer);
    end_rules(&rules);
}

static void pages_that_say_an_error_have_no_links(void **state)
{
    (void)state;
    static const int statuses[] = {300, 301, 304, 400, 401, 403, 404, 410, 429, 500, 503, 999};
    harvest_rules rules = usual_rules(NULL);
    frontier_url url = page_at("http://h.org/");
    for (size_t i = 0; i < sizeof statuses / sizeof statuses[0]; i++) {
        harvest got = harvested(&rules, &url, statuses[i], HTML_TYPE, text_of("<a href=a>"));
        assert_true(got.may_store);
        check_harvest(&got, "", "");
        got = harvested(&rules, &url, statuses[i], HTML_TYPE, text_of("<meta name=robots content=noarchive>"));
        assert_false(got.may_store);
        harvest_free(&got);
    }
    end_rules(&rules);
}

static void the_type_decides_what_is_read_as_html(void **state)
{
    (void)state;
    static const struct {
        const char *type, *body;
        bool is_html;
    } cases[] = {
        {"text/html", "<a href=/x>", true},
        {"TEXT/HTML;charset=latin1", "<a href=/x>", true},
        {"application/xhtml+xml", "<a href=/x>", true},
        {"text/plain", "<html><a href=/x>", false},
        {"application/xml", "<html><a href=/x>", false},
        {"image/png", "<html><a href=/x>", false},
        {"text/htmlx", "<html><a href=/x>", false},
        {NULL, " \n<!doctype html><a href=/x>", true},
        {NULL, "<a href=/x>", true},
        {NULL, "\xEF\xBB\xBF<HTML ><a href=/x>", true},
        {NULL, "<!--x--><a href=/x>", true},
        {NULL, "<article><a href=/x>", false},
        {NULL, "text <a href=/x>", false},
        {NULL, "<a", false},
        {NULL, "", false},
        {"", "<p><a href=/x>", true},
        {"html", "<p><a href=/x>", true},
        {"*/*", "<p><a href=/x>", true},
    };
    harvest_rules rules = usual_rules(NULL);
    frontier_url url = page_at("http://h.org/");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char fields[100] = "";
        if (cases[i].type)
            sprintf(fields, "Content-Type: %s\r\n", cases[i].type);
        harvest got = harvested(&rules, &url, 200, fields, text_of(cases[i].body));
        check((got.link_count == 1) == cases[i].is_html, "%s %s", cases[i].type ? cases[i].type : "-", cases[i].body);
        harvest_free(&got);
    }
    end_rules(&rules);
}

static void the_query_of_a_link_is_in_the_encoding_of_the_page(void **state)
{
    (void)state;
    harvest_rules rules = usual_rules(NULL);
    frontier_url url = page_at("http://h.org/");
    harvest got = harvested(&rules, &url, 200, "Content-Type: text/html; charset=windows-1251\r\n",
                            text_of("<a href='?q=\xef'>"));
    check_harvest(&got, "http://h.org/?q=%EF", "");
    end_rules(&rules);
}

#define URLSET                                                                                                         \
    "<urlset><url><loc>http://h.org/a</loc></url><url><loc>/b#c</loc></url><url><loc>http://o.org/</loc></url></"      \
    "urlset>"

static void entries_of_sitemaps_are_links(void **state)
{
    (void)state;
    harvest_rules rules = usual_rules(NULL);
    frontier_url url = page_at("http://h.org/sitemap.xml");
    url.kind = FRONTIER_SITEMAP;
    harvest got = harvested(&rules, &url, 200, "Content-Type: text/xml\r\n", text_of(URLSET));
    assert_int_equal(got.found, 3);
    check_harvest(&got, "http://h.org/a http://h.org/b", "scope=1");
    got = harvested(&rules, &url, 200, "",
                    text_of("<sitemapindex><sitemap><loc>http://h.org/2.xml</loc></sitemap></sitemapindex>"));
    check_harvest(&got, "$http://h.org/2.xml", "");
    got = harvested(&rules, &url, 200, "Content-Type: text/plain\r\n", text_of("http://h.org/1\nhttp://h.org/2\n"));
    check_harvest(&got, "http://h.org/1 http://h.org/2", "");
    got = harvested(&rules, &url, 404, "Content-Type: text/plain\r\n", text_of("http://h.org/1\nhttp://h.org/2\n"));
    check_harvest(&got, "", "");
    got = harvested(&rules, &url, 200, "", text_of("<urlset><url><loc>http://h.org/a</loc></url><url><loc>/b"));
    assert_true(got.incomplete && got.problem[0]);
    check_harvest(&got, "http://h.org/a", "");
    end_rules(&rules);
}

static void a_seed_can_be_a_sitemap_or_a_feed(void **state)
{
    (void)state;
    static const struct {
        const char *type, *body, *links;
    } cases[] = {
        {"application/xml", URLSET, "http://h.org/a http://h.org/b"},
        {"text/xml; charset=utf-8", "<?xml version='1.0'?>" URLSET, "http://h.org/a http://h.org/b"},
        {"application/rss+xml", "<rss><channel><item><link>http://h.org/i</link></item></channel></rss>",
         "http://h.org/i"},
        {"", "<?xml version='1.0'?>" URLSET, "http://h.org/a http://h.org/b"},
        {"", URLSET, "http://h.org/a http://h.org/b"},
        {"text/plain", URLSET, ""},
        {"text/plain", "http://h.org/1\n", ""},
        {"application/xml", "http://h.org/1\nhttp://h.org/2\n", ""},
        {"application/octet-stream", "http://h.org/1\nhttp://o.org/2\n", ""},
        {"application/octet-stream", URLSET, "http://h.org/a http://h.org/b"},
        {"text/html", "<a href=/x>", "http://h.org/x"},
    };
    harvest_rules rules = usual_rules(NULL);
    frontier_url url = page_at("http://h.org/");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char fields[100];
        sprintf(fields, "Content-Type: %s\r\n", cases[i].type);
        url.kind = FRONTIER_SEED;
        harvest got = harvested(&rules, &url, 200, fields, text_of(cases[i].body));
        check(strcmp(links_of(&got), cases[i].links) == 0, "%s %s: %s", cases[i].type, cases[i].body, links_of(&got));
        check((got.found > 0) == (got.link_count > 0), "%s: %d links were counted", cases[i].body, (int)got.found);
        harvest_free(&got);
        if (strcmp(cases[i].type, "text/html") == 0)
            continue;
        url.kind = FRONTIER_PAGE;
        got = harvested(&rules, &url, 200, fields, text_of(cases[i].body));
        assert_int_equal(got.found, 0);
        harvest_free(&got);
    }
    end_rules(&rules);
}

static void a_seed_can_be_a_sitemap_in_a_gzip_file(void **state)
{
    (void)state;
    static const char *const types[] = {"application/gzip", "application/x-gzip", "application/octet-stream"};
    harvest_rules rules = usual_rules(NULL);
    frontier_url url = {.url = text_of("http://h.org/sitemap.xml.gz"), .kind = FRONTIER_SEED};
    bytes body = packed(text_of(URLSET), GZIP);
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        char fields[100];
        sprintf(fields, "Content-Type: %s\r\n", types[i]);
        harvest got = harvested(&rules, &url, 200, fields, bytes_str(&body));
        check_harvest(&got, "http://h.org/a http://h.org/b", "scope=1");
    }
    rules.max_unpacked = 50; /* the first entry is complete within these */
    harvest got = harvested(&rules, &url, 200, "Content-Type: application/gzip\r\n", bytes_str(&body));
    assert_true(got.incomplete && got.problem[0]);
    check_harvest(&got, "http://h.org/a", "");
    bytes_free(&body);
    end_rules(&rules);
}

static void packed_pages_are_unpacked_as_far_as_that_goes(void **state)
{
    (void)state;
    harvest_rules rules = usual_rules(NULL);
    frontier_url url = page_at("http://h.org/");
    bytes body = packed(text_of("<a href=a>"), GZIP);
    const char *fields = HTML_TYPE "Content-Encoding: gzip\r\n";
    harvest got = harvested(&rules, &url, 200, fields, bytes_str(&body));
    assert_false(got.incomplete);
    check_harvest(&got, "http://h.org/a", "");
    got = harvested(&rules, &url, 200, fields, (vidi_str){body.ptr, body.len - 4});
    assert_true(got.incomplete && got.problem[0]);
    check_harvest(&got, "http://h.org/a", "");
    got = harvested(&rules, &url, 200, HTML_TYPE "Content-Encoding: compress\r\n", bytes_str(&body));
    assert_true(got.incomplete && got.problem[0]);
    check_harvest(&got, "", "");
    rules.max_unpacked = 5;
    got = harvested(&rules, &url, 200, fields, bytes_str(&body));
    assert_true(got.incomplete && got.problem[0] && got.may_store);
    check_harvest(&got, "", "");
    bytes_free(&body);
    end_rules(&rules);
}

#if VIDI_HAVE_BROTLI
static void pages_and_sitemaps_in_brotli_are_read(void **state)
{
    (void)state;
    harvest_rules rules = usual_rules(NULL);
    frontier_url page = page_at("http://h.org/"),
                 sitemap = {.url = text_of("http://h.org/m"), .kind = FRONTIER_SITEMAP};
    bytes body = packed_brotli(text_of("<a href=a>"));
    harvest got = harvested(&rules, &page, 200, HTML_TYPE "Content-Encoding: br\r\n", bytes_str(&body));
    assert_false(got.incomplete);
    check_harvest(&got, "http://h.org/a", "");
    bytes_free(&body);
    body = packed_brotli(text_of("<urlset><url><loc>http://h.org/b</loc></url></urlset>"));
    got = harvested(&rules, &sitemap, 200, "Content-Encoding: br\r\n", bytes_str(&body));
    check_harvest(&got, "http://h.org/b", "");
    bytes_free(&body);
    end_rules(&rules);
}
#endif

#if VIDI_HAVE_ZSTD
static void pages_and_sitemaps_in_zstd_are_read(void **state)
{
    (void)state;
    harvest_rules rules = usual_rules(NULL);
    frontier_url page = page_at("http://h.org/"),
                 sitemap = {.url = text_of("http://h.org/m"), .kind = FRONTIER_SITEMAP};
    bytes body = packed_zstd(text_of("<a href=a>"), 0);
    harvest got = harvested(&rules, &page, 200, HTML_TYPE "Content-Encoding: zstd\r\n", bytes_str(&body));
    assert_false(got.incomplete);
    check_harvest(&got, "http://h.org/a", "");
    bytes_free(&body);
    body = packed_zstd(text_of("<urlset><url><loc>http://h.org/b</loc></url></urlset>"), 0);
    got = harvested(&rules, &sitemap, 200, "Content-Encoding: zstd\r\n", bytes_str(&body));
    check_harvest(&got, "http://h.org/b", "");
    bytes_free(&body);
    end_rules(&rules);
}
#endif

static void a_response_that_failed_tells_its_type_alone(void **state)
{
    (void)state;
    harvest_rules rules = usual_rules(NULL);
    rules.store = true;
    archive_packer *packer = archive_packer_open();
    frontier_url url = page_at("http://h.org/");
    fetch_response response = response_of(200, HTML_TYPE, text_of("<a href=a>"));
    response.failure = FETCH_LIMIT;
    strcpy(response.why, "the body has more than 5 bytes");
    harvest got;
    assert_int_equal(harvest_read(&got, &rules, packer, &url, &response), VIDI_OK);
    assert_string_equal(got.type, "text/html");
    assert_string_equal(got.problem, response.why);
    assert_true(got.incomplete && !got.may_store && got.records.len == 0 && got.digest[0] == 0);
    check_harvest(&got, "", "");
    end_response(&response);
    archive_packer_close(packer);
    end_rules(&rules);
}

static void a_page_of_links_without_end_is_cut_off(void **state)
{
    (void)state;
    enum { PIECE = 1000, TIMES = 20000 };
    harvest_rules rules = usual_rules(NULL);
    frontier_url url = page_at("http://h.org/");
    bytes html = {0};
    for (int i = 0; i < TIMES; i++)
        assert_int_equal(bytes_append_format(&html, "<a href=/%d/%0*d>", i, PIECE - 20, i), VIDI_OK);
    harvest got = harvested(&rules, &url, 200, HTML_TYPE, bytes_str(&html));
    assert_true(got.incomplete && got.problem[0]);
    assert_true(got.link_count < got.found && got.found < TIMES && got.text.len <= 16 << 20);
    harvest_free(&got);
    bytes_free(&html);
    end_rules(&rules);
}

/* ---- what pages load from other hosts ---- */

static const char loading[] = "<a href=http://o.org/a>x</a><iframe src=http://o.org/f></iframe><img src=http://o.org/p>"
                              "<link rel='alternate stylesheet' href=//o.org/s><link rel=next href=//o.org/n>"
                              "<img src=http://o.org/r/r/r/r/r><img src=http://o.org/no><img src=http://o.org:22/>"
                              "<img src=ftp://o.org/>";

static harvest_rules archiving_rules(void)
{
    static const char *const no[] = {"*/no"}, *const yes[] = {"*/page*"};
    scope_options options = {
        .max_url = 2048, .max_repeat = 3, .exclude = no, .exclude_count = 1, .include = yes, .include_count = 1};
    harvest_rules rules = usual_rules(&options);

    rules.resources = rules.requisites = true;
    return rules;
}

static void what_a_page_loads_is_taken_from_anywhere(void **state)
{
    (void)state;
    harvest_rules rules = archiving_rules();
    harvest got = harvested_page(&rules, loading);
    check_harvest(&got, "+http://o.org/p +http://o.org/s", "scope=5 excluded=1 trap=1");
    rules.max_depth = 0; /* it belongs to its page */
    got = harvested_page(&rules, "<img src=a><a href=page2></a>");
    check_harvest(&got, "+http://h.org/d/a", "depth=1");
    rules.requisites = false;
    got = harvested_page(&rules, loading);
    check_harvest(&got, "", "scope=9");
    end_rules(&rules);
}

static void of_what_is_loaded_only_style_sheets_load_more(void **state)
{
    (void)state;
    static const char css[] = "Content-Type: text/css\r\nLink: <l>; rel=stylesheet\r\n";
    harvest_rules rules = archiving_rules();
    frontier_url url = {.url = text_of("http://o.org/d/s"), .kind = FRONTIER_RESOURCE, .hops = 19};
    harvest got = harvested(&rules, &url, 200, css, text_of("@import 'i'; a{b:url(//q.org/u)}"));
    check_harvest(&got, "+http://o.org/d/i +http://q.org/u", "");
    got = harvested(&rules, &url, 200, HTML_TYPE, text_of("<a href=http://h.org/page3>x</a><img src=p>"));
    assert_true(got.may_store);
    check_harvest(&got, "", "");
    got = harvested(&rules, &url, 200, HTML_TYPE, text_of("<meta name=robots content=noarchive>"));
    assert_false(got.may_store);
    check_harvest(&got, "", "");
    got = harvested(&rules, &url, 302, "Location: //q.org/x\r\n", text_of(""));
    check_harvest(&got, ">+http://q.org/x", "");
    url.hops = 20; /* style sheets that import each other come to an end */
    got = harvested(&rules, &url, 200, css, text_of("url(u)"));
    check_harvest(&got, "", "limit=1");
    url.url = text_of("http://h.org/page4"); /* in scope it is a page like any other */
    got = harvested(&rules, &url, 200, HTML_TYPE, text_of("<a href=page5>x</a>"));
    check_harvest(&got, "http://h.org/page5", "");
    end_rules(&rules);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(links_of_a_page_that_are_in_scope_are_wanted),
        cmocka_unit_test(resources_are_links_on_request),
        cmocka_unit_test(style_sheets_are_read_on_request),
        cmocka_unit_test(styles_and_srcdocs_of_a_page_are_read),
        cmocka_unit_test(links_in_the_head_are_those_of_link_elements),
        cmocka_unit_test(what_a_page_loads_is_taken_from_anywhere),
        cmocka_unit_test(of_what_is_loaded_only_style_sheets_load_more),
        cmocka_unit_test(the_last_content_type_decides_what_is_read),
        cmocka_unit_test(fragments_and_user_names_are_dropped),
        cmocka_unit_test(what_is_not_wanted_is_counted_by_its_reason),
        cmocka_unit_test(links_that_would_be_too_deep_are_counted),
        cmocka_unit_test(a_link_that_is_repeated_comes_once),
        cmocka_unit_test(checking_wants_links_out_of_scope_and_each_text),
        cmocka_unit_test(excluded_links_are_not_checked_wherever_they_lead),
        cmocka_unit_test(links_that_must_not_be_followed_are_checked_as_if_they_led_outside),
        cmocka_unit_test(fragments_and_names_are_taken_on_request),
        cmocka_unit_test(names_are_unknown_unless_a_page_was_read_to_its_end),
        cmocka_unit_test(the_fragment_of_a_redirect_is_kept_even_if_it_is_empty),
        cmocka_unit_test(hosts_that_a_page_will_need_are_not_links),
        cmocka_unit_test(nofollow_of_page_or_head_is_obeyed),
        cmocka_unit_test(redirects_lead_on_with_their_status_and_location),
        cmocka_unit_test(redirects_in_a_row_are_limited),
        cmocka_unit_test(a_redirect_keeps_what_the_url_is_to_the_crawl),
        cmocka_unit_test(nothing_is_taken_from_outside_but_redirects),
        cmocka_unit_test(pages_that_say_an_error_have_no_links),
        cmocka_unit_test(the_type_decides_what_is_read_as_html),
        cmocka_unit_test(the_query_of_a_link_is_in_the_encoding_of_the_page),
        cmocka_unit_test(entries_of_sitemaps_are_links),
        cmocka_unit_test(a_seed_can_be_a_sitemap_or_a_feed),
        cmocka_unit_test(a_seed_can_be_a_sitemap_in_a_gzip_file),
        cmocka_unit_test(packed_pages_are_unpacked_as_far_as_that_goes),
#if VIDI_HAVE_BROTLI
        cmocka_unit_test(pages_and_sitemaps_in_brotli_are_read),
#endif
#if VIDI_HAVE_ZSTD
        cmocka_unit_test(pages_and_sitemaps_in_zstd_are_read),
#endif
        cmocka_unit_test(a_response_that_failed_tells_its_type_alone),
        cmocka_unit_test(a_page_of_links_without_end_is_cut_off),
    };
    return cmocka_run_group_tests_name("harvest", tests, NULL, NULL);
}
