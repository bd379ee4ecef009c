/*
 * What is a link of a page, what it leads to, and what the page says about it.
 */
#include "crawler/html/pages.h"

static void every_linking_attribute_is_found(void **state)
{
    (void)state;
    check_urls("<a href=1><area href=2><link href=3><frame src=4><iframe src=5></iframe>",
               "http://h/d/1\nhttp://h/d/2\nhttp://h/d/3\nhttp://h/d/4\nhttp://h/d/5\n");
    check_urls("<img src=1 srcset='2 1x, 3 2x'><source src=4 srcset=5><script src=6></script><video src=7 poster=8>"
               "<audio src=9><track src=10><embed src=11><object data=12><input src=13><body background=14>",
               "http://h/d/1\nhttp://h/d/2\nhttp://h/d/3\nhttp://h/d/4\nhttp://h/d/5\nhttp://h/d/6\nhttp://h/d/7\n"
               "http://h/d/8\nhttp://h/d/9\nhttp://h/d/10\nhttp://h/d/11\nhttp://h/d/12\nhttp://h/d/13\n"
               "http://h/d/14\n");
    check_urls("<form action=1><button formaction=2><input formaction=3>",
               "http://h/d/1\nhttp://h/d/2\nhttp://h/d/3\n");
    check_urls("<image src=1>", "http://h/d/1\n"); /* is img */
    check_urls("<A HREF=1><a hReF='2'><a\nhref\n=\n\"3\"><a/href=4/>", "http://h/d/1\nhttp://h/d/2\nhttp://h/d/3\n"
                                                                       "http://h/d/4/\n");
}

static void groups_are_told_apart(void **state)
{
    (void)state;
    static const char html[] = "<a href=1><img src=2><form action=3><meta http-equiv=refresh content='0;4'>";
    html_options options = {.url = text_of("http://h/")};
    static const char *const want[] = {"http://h/1\nhttp://h/4\n", "http://h/2\n", "http://h/3\n"};
    for (uint32_t i = 0; i < 3; i++) {
        char *got = urls_of(text_of(html), &options, 1u << i);
        assert_string_equal(got, want[i]);
        free(got);
    }
}

static void the_first_of_two_attributes_counts(void **state)
{
    (void)state;
    check_urls("<a href=1 href=2 HREF=3>", "http://h/d/1\n");
}

static void empty_attributes_load_nothing(void **state)
{
    (void)state;
    check_urls("<img src=''><script src></script><link href=' '><iframe src=\"\"></iframe><img srcset=' , '>", "");
    check_urls("<a href=''><form action=''>", "http://h/d/p\nhttp://h/d/p\n");
}

static void styles_are_read(void **state)
{
    (void)state;
    check_urls("<style>@import '1';a{b:url(2) url('3')}</style>", "http://h/d/1\nhttp://h/d/2\nhttp://h/d/3\n");
    check_urls("<p style='b:url(1)'><x-y STYLE=b:url(&quot;2&quot;)><a href=4 style=url&lpar;3)>",
               "http://h/d/1\nhttp://h/d/2\nhttp://h/d/3\nhttp://h/d/4\n");
    check_urls("<p style='b:url(1)' style='b:url(2)'><p style=color:red><p style>", "http://h/d/1\n");
    check_urls("<style type=''>url(1)</style><style type=Text/CSS>url(2)</style><style type=text/less>url(3)</style>",
               "http://h/d/1\nhttp://h/d/2\n");
    check_urls("<style>a>b{c:url(d&amp;e)}</style>", "http://h/d/d&amp;e\n");
    check_urls("<svg><style>url(&#49;)<![CDATA[url(2)]]></style><g style=url(3)></svg>",
               "http://h/d/1\nhttp://h/d/2\nhttp://h/d/3\n");
    check_urls("<template><style>url(1)</style><p style=url(2)></template><style></style>url(3)<style>", "");
    check_urls("<base href=/e/><style>url(1) url(#x) url(data:,y)</style>", "http://h/e/1\n");
    html_options options = {.url = text_of("http://h/")};
    char *got = urls_of(text_of("<style>url(1)</style><p style=url(2)>"), &options, HTML_LINKS | HTML_FORMS);
    assert_string_equal(got, "");
    free(got);
}

static void a_srcdoc_is_a_page_inside(void **state)
{
    (void)state;
    check_urls("<base href=/e/><iframe src=1 srcdoc='<a href=2>&lt;img src=\"3\">'></iframe><a href=4>",
               "http://h/e/1\nhttp://h/e/2\nhttp://h/e/3\nhttp://h/e/4\n");
    check_urls("<iframe srcdoc='<a href=1><base href=/f/>'></iframe><a href=2>", "http://h/f/1\nhttp://h/d/2\n");
    check_urls("<iframe srcdoc='<iframe src=1 srcdoc=\"<a href=2>\"></iframe>'></iframe>", "http://h/d/1\n");
    check_urls("<iframe srcdoc='<style>url(1)</style>'></iframe><iframe srcdoc></iframe>", "http://h/d/1\n");
    check_urls("<iframe srcdoc='<meta name=robots content=nofollow>'></iframe>", "");
    html_options options = {.url = text_of("http://h/"), .encoding = text_of("latin1")};
    char *got = urls_of(text_of("<a href='?\xE9'><iframe srcdoc='<a href=?\xE9><img src=1>'>"), &options, HTML_LINKS);
    assert_string_equal(got, "http://h/?%E9\nhttp://h/?%C3%A9\n");
    free(got);
}

static void text_that_looks_like_tags_has_no_links(void **state)
{
    (void)state;
    check_urls("<!-- <a href=1> --><title><a href=2></title><textarea><a href=3></textarea><style><a href=4></style>"
               "<script>'<a href=5>'</script><xmp><a href=6></xmp><iframe><a href=7></iframe><noembed><a href=8>"
               "</noembed><noframes><a href=9></noframes><a title='<a href=10>'></a>",
               "");
    check_urls("<script><!-- <script> </script> <a href=1> --></script><a href=2>", "http://h/d/2\n");
    check_urls("<a href=1><plaintext><a href=2></plaintext>", "http://h/d/1\n");
    check_urls("<a href=1", "");
    check_urls("<? <a href=1> ><a href=2>", "http://h/d/2\n");
}

static void noscript_counts_because_scripts_do_not_run(void **state)
{
    (void)state;
    check_urls("<noscript><a href=1></noscript>", "http://h/d/1\n");
}

static void the_contents_of_templates_are_no_part_of_the_page(void **state)
{
    (void)state;
    check_urls("<template><a href=1><template><a href=2></template><a href=3></template><a href=4>", "http://h/d/4\n");
    check_urls("<template><base href=/b/></template><a href=1>", "http://h/d/1\n");
    check_urls("<template><svg></template><a href=1>", "http://h/d/1\n");
    check_urls("</template><a href=1>", "http://h/d/1\n");
    check_urls("<svg><desc><template></desc></svg><a href=1></template><a href=2>", "http://h/d/2\n");
    check_urls("<svg><template></svg><a href=1>", "http://h/d/1\n"); /* SVG has no such element */
    check_urls("<template><meta http-equiv=refresh content='0; url=1'></template>", "");
}

static void svg_and_mathml_have_links_and_rules_of_their_own(void **state)
{
    (void)state;
    check_urls("<svg><a href=1><a xlink:href=2><a href=3 xlink:href=4></svg>",
               "http://h/d/1\nhttp://h/d/2\nhttp://h/d/3\n");
    check_urls("<svg><image xlink:href=1 /><use href='#s'/></svg>", "http://h/d/1\nhttp://h/d/p#s\n");
    check_urls("<svg><image src=1 /></svg><a xlink:href=2>", "");
    check_urls("<math><mi><a href=1></mi></math>", "http://h/d/1\n");
    /* Names whose contents are text in HTML are nothing special here. */
    check_urls("<svg><style><a href=1></style><script><a href=2></script></svg>", "http://h/d/1\nhttp://h/d/2\n");
    /* title contains HTML again, so style is text in it. */
    check_urls("<svg><title><style><a href=1></style><a href=2></title></svg>", "http://h/d/2\n");
    check_urls("<svg><desc><style><a href=1></style></desc></svg>", "");
    check_urls("<svg><![CDATA[ > <a href=1>]]><a href=2></svg><![CDATA[ > <a href=3>]]>",
               "http://h/d/2\nhttp://h/d/3\n");
    check_urls("<svg><![CDATA[]]><![CDATA[]]></></><a href=2></svg>", "http://h/d/2\n");
    /* HTML ends SVG that was left open. */
    check_urls("<svg><p><style><a href=1></style>", "");
    check_urls("<svg><g></div><style><a href=1></style>", "");
    check_urls("<svg><font color=red><style><a href=1></style>", "");
    check_urls("<svg><font><style><a href=1></style>", "http://h/d/1\n");
    check_urls("<svg><foreignObject><style><a href=1></style></foreignObject><style><a href=2></style></svg>",
               "http://h/d/2\n");
    check_urls("<math><annotation-xml encoding=text/html><style><a href=1></style>", "");
    check_urls("<math><annotation-xml><style><a href=1></style>", "http://h/d/1\n");
    check_urls("<math><annotation-xml><svg><title><style><a href=1></style></title><a href=2>", "http://h/d/2\n");
    check_urls("<math><mi><mglyph><style><a href=1></style></mglyph><style><a href=2></style>", "http://h/d/1\n");
    check_urls("<math><mi><mglyph/><style><a href=1></style>", "");
    check_urls("<svg/><style><a href=1></style>", "");
}

static void references_in_values_are_replaced(void **state)
{
    (void)state;
    check_urls("<a href='?a=1&amp;b=2&copy=3&copy;&#x41;&#66;'>", "http://h/d/p?a=1&b=2&copy=3%A9AB\n");
    check_urls("<a href='a\r\nb'><a href=' c '>", "http://h/d/ab\nhttp://h/d/c\n");
}

static void base_changes_what_links_are_relative_to(void **state)
{
    (void)state;
    check_urls("<a href=1><base href=/b/><a href=2>", "http://h/b/1\nhttp://h/b/2\n"); /* also links before it */
    check_urls("<base target=x><base href=/b/><base href=/c/><a href=1>", "http://h/b/1\n");
    check_urls("<base href=data:x><a href=1>", "http://h/d/1\n");
    check_urls("<base href=javascript:x><a href=1>", "http://h/d/1\n");
    check_urls("<base href='http://['><base href=/b/><a href=1>", "http://h/d/1\n"); /* the first counts, and is bad */
}

/* A base of so many bytes, as a link relative to it comes out. */
static bool base_is_taken(size_t bytes)
{
    char *html = malloc(bytes + 100);
    size_t head = (size_t)sprintf(html, "<base href='http://h/");
    size_t rest = bytes - strlen("http://h/") - 1;
    memset(html + head, 'b', rest);
    sprintf(html + head + rest, "/'><a href=1>");
    html_options options = {.url = text_of("http://p/")};
    char *got = urls_of(text_of(html), &options, HTML_LINKS);
    bool taken = strcmp(got, "http://p/1\n") != 0;
    check(!taken || strlen(got) == bytes + 2, "%zu: %zu", bytes, strlen(got));
    free(got);
    free(html);
    return taken;
}

static void a_base_of_more_than_8_kib_is_ignored(void **state)
{
    (void)state;
    assert_true(base_is_taken(HTML_BASE_MAX));
    assert_false(base_is_taken(HTML_BASE_MAX + 1));
}

static void without_a_base_only_absolute_links_are_urls(void **state)
{
    (void)state;
    html_options options = {.url = {NULL, 0}};
    char *got = urls_of(text_of("<a href=1><a href=http://x/2>"), &options, HTML_LINKS);
    assert_string_equal(got, "not a URL: 1\nhttp://x/2\n");
    free(got);
    got = urls_of(text_of("<a href=1><base href=http://b/>"), &options, HTML_LINKS);
    assert_string_equal(got, "http://b/1\n");
    free(got);
}

static void srcset_is_a_list(void **state)
{
    (void)state;
    check_urls("<img srcset='1'>", "http://h/d/1\n");
    check_urls("<img srcset=' , 1,, 2 100w,3,4 2x , 5'>", "http://h/d/1\nhttp://h/d/2\nhttp://h/d/3,4\nhttp://h/d/5\n");
    check_urls("<img srcset='1 (a,b) 2x, 2'>", "http://h/d/1\nhttp://h/d/2\n");
    check_urls("<img srcset='data:,a 1x, 2'>", "data:,a\nhttp://h/d/2\n");
}

static void refresh_leads_on(void **state)
{
    (void)state;
    static const struct {
        const char *content, *want;
    } cases[] = {{"5; url=1", "1"},
                 {"5;URL=1", "1"},
                 {"5,1", "1"},
                 {"5 1", "1"},
                 {" 5 ; url = '1' 2", "1"},
                 {"5; url=\"1", "1"},
                 {".5; url=1", "1"},
                 {"5.5.5; url=1", "1"},
                 {"5; ur1", "ur1"},
                 {"0;url 1", "url%201"},
                 {"5", NULL},
                 {"x; url=1", NULL},
                 {"", NULL},
                 {"5x; url=1", NULL},
                 {"5;", NULL}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char html[200], want[100] = "";
        snprintf(html, sizeof html, "<meta http-equiv=Refresh content=\"%s\">", cases[i].content);
        if (strchr(cases[i].content, '"'))
            snprintf(html, sizeof html, "<meta http-equiv=Refresh content='%s'>", cases[i].content);
        if (cases[i].want)
            snprintf(want, sizeof want, "http://h/d/%s\n", cases[i].want);
        check_urls(html, want);
    }
}

static void robots_are_asked_for_what_they_should_not_do(void **state)
{
    (void)state;
    static const struct {
        const char *html;
        uint32_t want;
    } cases[] = {
        {"<meta name=robots content=nofollow>", HTML_ROBOTS_NOFOLLOW},
        {"<META NAME='ROBOTS' CONTENT='NoIndex,NOARCHIVE'>", HTML_ROBOTS_NOINDEX | HTML_ROBOTS_NOARCHIVE},
        {"<meta name=robots content=' none '>", HTML_ROBOTS_NOINDEX | HTML_ROBOTS_NOFOLLOW},
        {"<meta name=robots content=noindex><meta name=robots content=nofollow>",
         HTML_ROBOTS_NOINDEX | HTML_ROBOTS_NOFOLLOW},
        {"<meta name=robots content='index,follow,nofollows'>", 0},
        {"<meta name=other content=nofollow>", 0},
        {"<!-- <meta name=robots content=nofollow> -->", 0},
        {"<template><meta name=robots content=nofollow></template>", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        html_options options = {.url = {NULL, 0}};
        html_page *page = open_page(text_of(cases[i].html), &options);
        check(html_page_about(page).robots == cases[i].want, "%s", cases[i].html);
        html_page_close(page);
    }
}

typedef struct seen {
    uint32_t flags[8];
    uint64_t positions[8];
    char rel[8][40];
    size_t count;
} seen;

static int see(void *context, const html_link *link)
{
    seen *s = context;
    assert_true(s->count < 8);
    s->flags[s->count] = link->flags;
    s->positions[s->count] = link->position;
    snprintf(s->rel[s->count++], sizeof s->rel[0], "%.*s", (int)link->rel.len, link->rel.ptr);
    return 0;
}

static void rel_and_position_are_told(void **state)
{
    (void)state;
    static const char html[] = "<a href=1 rel='NoFollow ugc'><a rel=sponsored href='2'><link rel=canonical href=3>"
                               "<a rel=canonical href=4><a href=5>";
    html_options options = {.url = {NULL, 0}};
    html_page *page = open_page(text_of(html), &options);
    seen s = {.count = 0};
    assert_int_equal(html_page_links(page, HTML_LINKS, see, &s), VIDI_OK);
    html_page_close(page);
    static const uint32_t want[] = {HTML_NOFOLLOW | HTML_UGC, HTML_SPONSORED, HTML_CANONICAL, 0, 0};
    assert_int_equal(s.count, 5);
    for (size_t i = 0; i < s.count; i++) {
        assert_int_equal(s.flags[i], want[i]);
        assert_int_equal(html[s.positions[i]], '1' + (char)i);
    }
    assert_string_equal(s.rel[0], "NoFollow ugc");
    assert_string_equal(s.rel[4], "");
}

typedef struct texts {
    html_page *page;
    char list[8][31];
    size_t count;
} texts;

static int take_text(void *context, const html_link *link)
{
    texts *t = context;
    assert_true(t->count < 8);
    char *text = t->list[t->count++], *exact = malloc(30);
    size_t len = html_link_text(t->page, link, exact, 30);
    memcpy(text, exact, len);
    text[len] = 0;
    free(exact);
    return 0;
}

static void links_have_the_text_that_readers_see(void **state)
{
    (void)state;
    static const char html[] =
        "<a href=1> Some \n<b>bold</b>&nbsp;text &amp;<!-- no --> more<script>no</script> </a> not this"
        "<a href=2><img src=3 alt='A  picture'></a><a href=4>not closed<a href=5></a><link href=6>not text"
        "<a href=7>123456789 123456789 1234567\xC3\xA4\xC3\xB6</a><a href=8>x";
    static const char *const want[] = {"Some bold\xC2\xA0text & more",        "A picture", "not closed", "", "",
                                       "123456789 123456789 1234567\xC3\xA4", "x"};
    html_options options = {.encoding = text_of("utf-8")};
    texts t = {.page = open_page(text_of(html), &options)};
    assert_int_equal(html_page_links(t.page, HTML_LINKS, take_text, &t), VIDI_OK);
    html_page_close(t.page);
    assert_int_equal(t.count, 7);
    for (size_t i = 0; i < t.count; i++)
        assert_string_equal(t.list[i], want[i]);
}

static int stop_at_second(void *context, const html_link *link)
{
    (void)link;
    return ++*(int *)context == 2 ? 7 : 0;
}

static void a_visitor_can_stop(void **state)
{
    (void)state;
    html_options options = {.url = {NULL, 0}};
    html_page *page = open_page(text_of("<a href=1><a href=2><a href=3>"), &options);
    int calls = 0;
    assert_int_equal(html_page_links(page, HTML_LINKS, stop_at_second, &calls), 7);
    assert_int_equal(calls, 2);
    html_page_close(page);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_linking_attribute_is_found),
        cmocka_unit_test(groups_are_told_apart),
        cmocka_unit_test(the_first_of_two_attributes_counts),
        cmocka_unit_test(empty_attributes_load_nothing),
        cmocka_unit_test(styles_are_read),
        cmocka_unit_test(a_srcdoc_is_a_page_inside),
        cmocka_unit_test(text_that_looks_like_tags_has_no_links),
        cmocka_unit_test(noscript_counts_because_scripts_do_not_run),
        cmocka_unit_test(the_contents_of_templates_are_no_part_of_the_page),
        cmocka_unit_test(svg_and_mathml_have_links_and_rules_of_their_own),
        cmocka_unit_test(references_in_values_are_replaced),
        cmocka_unit_test(base_changes_what_links_are_relative_to),
        cmocka_unit_test(a_base_of_more_than_8_kib_is_ignored),
        cmocka_unit_test(without_a_base_only_absolute_links_are_urls),
        cmocka_unit_test(srcset_is_a_list),
        cmocka_unit_test(refresh_leads_on),
        cmocka_unit_test(robots_are_asked_for_what_they_should_not_do),
        cmocka_unit_test(rel_and_position_are_told),
        cmocka_unit_test(links_have_the_text_that_readers_see),
        cmocka_unit_test(a_visitor_can_stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
