/* Sitemaps as they should be: formats, fields, namespaces, references, encodings, limits. Broken ones are in another file. */
#if VIDI_HAVE_ZLIB
#include <zlib.h>
#endif

#include "crawler/sitemap/sitemap_cases.h"

static void a_urlset_lists_pages(void **state)
{
    (void)state;
    check_whole(XML_HEAD URLSET "<url><loc>http://h/1</loc></url>\n"
                                "<url> <loc>\n http://h/2 \n</loc> <lastmod> 2026-01-02 </lastmod>"
                                "<changefreq>daily</changefreq><priority>0.8</priority></url>"
                                "<url><priority>1</priority><loc>https://h/3</loc></url></urlset>\n",
                SITEMAP_URLSET, "http://h/1|http://h/2 2026-01-02 daily 0.8|https://h/3 1|");
    check_whole("<urlset/>", SITEMAP_URLSET, "");
    check_whole("<urlset></urlset>", SITEMAP_URLSET, "");
}

static void an_index_lists_sitemaps(void **state)
{
    (void)state;
    check_whole(XML_HEAD "<sitemapindex><sitemap><loc>http://h/1.xml.gz</loc><lastmod>2026</lastmod></sitemap>"
                         "<sitemap><loc>http://h/2.xml</loc></sitemap></sitemapindex>",
                SITEMAP_INDEX, "+http://h/1.xml.gz 2026|+http://h/2.xml|");
    /* Some forget <loc>. */
    check_whole("<sitemapindex><sitemap>\nhttp://h/1.xml\n</sitemap></sitemapindex>", SITEMAP_INDEX,
                "+http://h/1.xml|");
}

static void a_text_file_has_a_url_per_line(void **state)
{
    (void)state;
    check_whole("http://h/1\nhttps://h/2\r\n\n  http://h/3  \nHTTP://h/4", SITEMAP_TEXT,
                "http://h/1|https://h/2|http://h/3|HTTP://h/4|");
    check_whole("\xef\xbb\xbfhttp://h/1?a=1&b=2\rhttp://h/<2>\r", SITEMAP_TEXT, "http://h/1?a=1&b=2|http://h/<2>|");
    check_whole("\n \nhttp://h/1\n", SITEMAP_TEXT, "http://h/1|");
}

static void feeds_list_their_items(void **state)
{
    (void)state;
    check_whole("<rss version='2.0'><channel><title>t</title><link>http://h/</link>"
                "<item><title>http://no/</title><link>http://h/1</link><pubDate>Mon</pubDate></item>"
                "<item><guid>x</guid><atom:link href='http://no/'/><link>http://h/2</link></item></channel></rss>",
                SITEMAP_RSS, "http://h/1 Mon|http://h/2|");
    check_whole("<rdf:RDF xmlns='http://purl.org/rss/1.0/'><item><link>http://h/1</link></item></rdf:RDF>", SITEMAP_RSS,
                "http://h/1|");
    check_whole("<feed><link href='http://no/'/><entry><link rel='edit' href='http://no/1'/>"
                "<link href='http://no/2' rel='self'/><link rel='alternate' href='http://h/1?a&amp;b'/>"
                "<link href='http://no/3'/><updated>2026</updated></entry></feed>",
                SITEMAP_ATOM, "http://h/1?a&b 2026|");
}

static void only_own_children_of_an_entry_count(void **state)
{
    (void)state;
    check_whole(URLSET "<url><image:image><image:loc>http://no/</image:loc><loc>http://no/</loc></image:image>"
                       "<image:loc>http://no/</image:loc><loc>http://h/1</loc></url></urlset>",
                SITEMAP_URLSET, "http://h/1|");
    check_whole(
        "<urlset><loc>http://no/</loc><url><loc>http://h/1</loc><more><lastmod>2026</lastmod></more></url></urlset>",
        SITEMAP_URLSET, "http://h/1|");
    /* Text beside a loc is not a URL. */
    check_whole("<urlset><url> new: <loc>http://h/1</loc></url></urlset>", SITEMAP_URLSET, "http://h/1|");
}

static void prefixes_and_case_do_not_matter(void **state)
{
    (void)state;
    check_whole(
        "<s:urlset xmlns:s='x'><s:url><s:loc>http://h/1</s:loc></s:url><url><loc>http://no/</loc></url></s:urlset>",
        SITEMAP_URLSET, "http://h/1|");
    check_whole("<URLSET><Url><LOC>http://h/1</LOC></Url></URLSET>", SITEMAP_URLSET, "http://h/1|");
}

static void references_and_cdata_are_decoded(void **state)
{
    (void)state;
    check_whole(URLSET "<url><loc>http://h/?a=1&amp;b=&lt;&gt;&quot;&apos;&#65;&#x42;&#xe4;</loc></url></urlset>",
                SITEMAP_URLSET, "http://h/?a=1&b=<>\"'AB\xc3\xa4|");
    check_whole(URLSET "<url><loc><![CDATA[http://h/?a&b]]&amp;]]]>c</loc></url></urlset>", SITEMAP_URLSET,
                "http://h/?a&b]]&amp;]c|");
    check_whole(URLSET "<url><loc>http://h/?&amp;amp;</loc></url></urlset>", SITEMAP_URLSET, "http://h/?&amp;|");
}

static void comments_instructions_and_doctypes_are_skipped(void **state)
{
    (void)state;
    check_whole("<?xml version='1.0'?><?x <urlset> ?><!-- <urlset> -- > --->"
                "<!DOCTYPE urlset [ <!ENTITY e '<url>'> <!ELEMENT a (b)> ]>" URLSET
                "<url><loc>http://<!-- not here -->h/1<?no?></loc></url></urlset><!-- end -->",
                SITEMAP_URLSET, "http://h/1|");
}

static void attributes_of_every_form_are_skipped(void **state)
{
    (void)state;
    check_whole("<urlset a='>' b=\">'\" c = '/>'\n><url ><loc\tx='1' >http://h/1</loc\n></url></urlset>",
                SITEMAP_URLSET, "http://h/1|");
}

static void a_url_is_one_line_without_control_characters(void **state)
{
    (void)state;
    check_whole("<urlset><url><loc>http://h/a\n\tb c\x1b[31m</loc><lastmod>a\nb\x1b</lastmod></url></urlset>",
                SITEMAP_URLSET, "http://h/ab c%1B[31m ab|");
    check_whole("<urlset><url><loc>http://h/&#10;&#x1b;&#127;</loc></url></urlset>", SITEMAP_URLSET,
                "http://h/%1B%7F|");
}

static void relative_urls_are_resolved_if_there_is_a_base(void **state)
{
    (void)state;
    static const char text[] =
        "<urlset><url><loc>/a</loc></url><url><loc>b</loc></url><url><loc>http://h/../c</loc></url>"
        "<url><loc>mailto:x</loc></url></urlset>";
    sitemap_report report =
        check_read(text_of(text), "http://h/x/sitemap.xml", "http://h/a|http://h/x/b|http://h/../c|");
    check_problem(&report, SITEMAP_NOT_A_URL, text);
    assert_int_equal(report.problems[SITEMAP_NOT_A_URL].count, 1);
    report = check_read(text_of(text), NULL, "http://h/../c|");
    assert_int_equal(report.problems[SITEMAP_NOT_A_URL].count, 3);
    /* Lines of a text file are no references. */
    report = check_read(text_of("http://h/1\nfoo\n"), "http://h/", "http://h/1|");
    check_problem(&report, SITEMAP_NOT_A_URL, "text");
}

/* ---- encodings ---- */

static size_t to_utf16(char *to, const char *text, bool little, bool mark)
{
    size_t len = 0;
    uint32_t units[600], n = 0;
    if (mark)
        units[n++] = 0xfeff;
    for (const unsigned char *s = (const unsigned char *)text; *s;) {
        uint32_t c = *s++;
        if (c >= 0xf0) {
            c = (c & 7) << 18 | (s[0] & 0x3fu) << 12 | (s[1] & 0x3fu) << 6 | (s[2] & 0x3fu);
            s += 3;
            units[n++] = 0xd800 + ((c - 0x10000) >> 10);
            c = 0xdc00 + ((c - 0x10000) & 0x3ff);
        } else if (c >= 0xc0) {
            c = (c & 0x1f) << 6 | (*s++ & 0x3fu);
        }
        units[n++] = c;
    }
    for (uint32_t i = 0; i < n; i++) {
        to[len++] = (char)(little ? units[i] : units[i] >> 8);
        to[len++] = (char)(little ? units[i] >> 8 : units[i]);
    }
    return len;
}

static void utf16_is_read(void **state)
{
    (void)state;
    static const char text[] =
        "<?xml version='1.0' encoding='UTF-16'?><urlset><url><loc>http://h/\xc3\xa4\xf0\x9f\x98\x80"
        "</loc></url></urlset>";
    char bytes[2000];
    for (int i = 0; i < 4; i++) {
        size_t len = to_utf16(bytes, text, i & 1, i & 2);
        sitemap_report report = check_read((vidi_str){bytes, len}, NULL, "http://h/\xc3\xa4\xf0\x9f\x98\x80|");
        check_problem(&report, -1, "UTF-16");
    }
    size_t len = to_utf16(bytes, "http://h/1\n", true, true);
    check_read((vidi_str){bytes, len}, NULL, "http://h/1|");
    /* Half a unit. */
    sitemap_report report = check_read((vidi_str){bytes, len - 1}, NULL, "");
    check_problem(&report, SITEMAP_CUT_OFF, "half a unit");
    /* Half a pair, twice. */
    check_read((vidi_str){"\xff\xfeh\0t\0t\0p\0:\0/\0/\0h\0/\0\x01\xd8\x01\xd8\x61\0", 26}, NULL,
               "http://h/\xef\xbf\xbd\xef\xbf\xbd\x61|");
}

static void declared_encodings_are_heeded(void **state)
{
    (void)state;
    static const char head[] = "<?xml version='1.0' encoding=\"ISO-8859-1\"?><urlset><url><loc>http://h/";
    char text[300];
    snprintf(text, sizeof text, "%s\xe4</loc></url></urlset>", head);
    sitemap_report report = check_read(text_of(text), NULL, "http://h/\xc3\xa4|");
    assert_true(report.problems[SITEMAP_NOT_UTF8].count == 1 && report.problems[SITEMAP_WRONG_ENCODING].count == 1);
    /* What is UTF-8 is taken as that, whatever is declared. */
    snprintf(text, sizeof text, "%s\xc3\xa4</loc></url></urlset>", head);
    report = check_read(text_of(text), NULL, "http://h/\xc3\xa4|");
    check_problem(&report, SITEMAP_WRONG_ENCODING, text);
    check_broken("<?xml encoding='utf-16'?><urlset><url><loc>http://h/1</loc></url></urlset>", SITEMAP_WRONG_ENCODING,
                 "http://h/1|");
    check_broken("<urlset><url><loc>http://h/\xe4</loc></url></urlset>", SITEMAP_NOT_UTF8, "http://h/\xe4|");
}

/* ---- gzip ---- */

#if VIDI_HAVE_ZLIB
static size_t pack(char *to, size_t room, const char *bytes, size_t n)
{
    z_stream stream = {.next_in = (unsigned char *)(uintptr_t)bytes, .avail_in = (unsigned)n};
    stream.next_out = (unsigned char *)to;
    stream.avail_out = (unsigned)room;
    assert_int_equal(deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
    deflateEnd(&stream);
    return room - stream.avail_out;
}

static void gzip_is_unpacked(void **state)
{
    (void)state;
    static const char text[] = "<urlset><url><loc>http://h/1</loc></url></urlset>";
    char packed[1000];
    size_t n = pack(packed, sizeof packed, text, sizeof text - 1);
    sitemap_report report = check_read((vidi_str){packed, n}, NULL, "http://h/1|");
    check_problem(&report, -1, "packed");
    assert_true(report.packed && report.bytes == sizeof text - 1);
    /* Several members are one text; zeros behind them are nothing. */
    n = pack(packed, sizeof packed, text, 20);
    n += pack(packed + n, sizeof packed - n, text + 20, sizeof text - 21);
    memset(packed + n, 0, 100);
    report = check_read((vidi_str){packed, n + 100}, NULL, "http://h/1|");
    check_problem(&report, -1, "two members");
}

static void what_can_be_unpacked_of_damaged_gzip_is_read(void **state)
{
    (void)state;
    char text[20000], packed[20000];
    size_t len = 0;
    for (int i = 0; i < 500; i++)
        len += (size_t)sprintf(text + len, "http://h/%08x\n", (unsigned)i * 2654435761u);
    size_t n = pack(packed, sizeof packed, text, len);
    sitemap_seen seen = {.count = 0};
    sitemap_options options = {.visit = see, .context = &seen};
    sitemap_report report;
    assert_int_equal(read_pieces((vidi_str){packed, n / 2}, 100, &options, &report), VIDI_OK);
    assert_true(report.pages > 100 && report.pages < 400 && report.problems[SITEMAP_CUT_OFF].count == 1);
    assert_int_equal(seen.shortest, 17); /* no URL that was cut through */
    assert_true(sitemap_is_incomplete(&report));
    packed[n / 2] ^= 1;
    packed[n / 2 + 1] ^= 1;
    assert_int_equal(read_pieces((vidi_str){packed, n}, 100, &options, &report), VIDI_OK);
    assert_true(report.pages > 100 && report.problems[SITEMAP_DAMAGED].count == 1);
    assert_true(sitemap_is_incomplete(&report));
}

static void a_gzip_bomb_ends_at_the_limit(void **state)
{
    (void)state;
    enum { LARGE = 60 << 20 };
    char *zeros = calloc(1, LARGE), *packed = malloc(1 << 20);
    memcpy(zeros, "<urlset>", 8);
    size_t n = pack(packed, 1 << 20, zeros, LARGE);
    sitemap_seen seen = {.count = 0};
    sitemap_options options = {.visit = see, .context = &seen};
    sitemap_report report;
    assert_int_equal(read_pieces((vidi_str){packed, n}, n, &options, &report), VIDI_OK);
    assert_int_equal(report.bytes, SITEMAP_BYTES);
    assert_int_equal(report.problems[SITEMAP_TOO_LARGE].count, 1);
    free(zeros);
    free(packed);
}

#endif

/* ---- limits ---- */

static void no_more_entries_are_read_than_allowed(void **state)
{
    (void)state;
    static const char text[] = "<urlset><url><loc>http://h/1</loc></url><url><loc>http://h/2</loc></url>"
                               "<url><loc>http://h/3</loc></url></urlset>";
    for (uint64_t most = 1; most <= 4; most++) {
        sitemap_seen seen = {.count = 0};
        sitemap_options options = {.visit = see, .context = &seen, .max_urls = most};
        sitemap_report report;
        assert_int_equal(read_pieces(text_of(text), 10, &options, &report), VIDI_OK);
        assert_int_equal(seen.count, most < 3 ? most : 3);
        assert_int_equal(report.problems[SITEMAP_TOO_MANY].count, most < 3);
    }
}

static void the_protocol_allows_50000_urls(void **state)
{
    (void)state;
    enum { LINES = 50001, WIDTH = 16 };
    char *text = malloc(LINES * WIDTH + 1);
    for (size_t i = 0; i < LINES; i++)
        sprintf(text + i * WIDTH, "http://h/%06zu\n", i);
    sitemap_seen seen = {.count = 0};
    sitemap_options options = {.visit = see, .context = &seen};
    sitemap_report report;
    assert_int_equal(read_pieces((vidi_str){text, (LINES - 1) * WIDTH}, 5000, &options, &report), VIDI_OK);
    assert_true(report.pages == 50000 && !sitemap_is_incomplete(&report));
    assert_int_equal(read_pieces((vidi_str){text, LINES * WIDTH}, 5000, &options, &report), VIDI_OK);
    assert_true(report.pages == 50000 && report.problems[SITEMAP_TOO_MANY].count == 1);
    free(text);
}

static void no_more_bytes_are_read_than_allowed(void **state)
{
    (void)state;
    static const char text[] = "http://h/1\nhttp://h/2\nhttp://h/3\n";
    for (uint64_t most = 1; most <= sizeof text; most++) {
        sitemap_seen seen = {.count = 0};
        sitemap_options options = {.visit = see, .context = &seen, .max_bytes = most};
        sitemap_report report;
        assert_int_equal(read_pieces(text_of(text), 4, &options, &report), VIDI_OK);
        check(seen.count == most / 11, "%llu bytes: %s", (unsigned long long)most, seen.text);
        assert_int_equal(report.problems[SITEMAP_TOO_LARGE].count, most < sizeof text - 1);
    }
}

static void urls_that_are_too_long_are_left_out(void **state)
{
    (void)state;
    static char text[3 * SITEMAP_URL_BYTES];
    for (size_t extra = 0; extra < 2; extra++) {
        size_t len = (size_t)sprintf(text, "<urlset><url><loc>http://h/");
        memset(text + len, 'a', SITEMAP_URL_BYTES - 9 + extra);
        strcpy(text + len + SITEMAP_URL_BYTES - 9 + extra, "  </loc></url><url><loc>http://h/2</loc></url></urlset>");
        sitemap_seen seen = {.count = 0};
        sitemap_options options = {.visit = see, .context = &seen};
        sitemap_report report;
        assert_int_equal(read_pieces(text_of(text), 1000, &options, &report), VIDI_OK);
        assert_int_equal(report.pages, 2 - extra);
        check_problem(&report, extra ? SITEMAP_LONG_URL : -1, "a long URL");
    }
}

static void the_visitor_can_end_it(void **state)
{
    (void)state;
    static const char text[] = "http://h/1\nhttp://h/2\nhttp://h/3";
    for (uint64_t at = 1; at <= 3; at++) {
        sitemap_seen seen = {.stop_at = at, .stop_with = -77};
        sitemap_options options = {.visit = see, .context = &seen};
        assert_int_equal(read_pieces(text_of(text), 100, &options, NULL), -77);
        assert_int_equal(seen.count, at);
        seen = (sitemap_seen){.stop_at = at, .stop_with = SITEMAP_ENOUGH};
        assert_int_equal(read_pieces(text_of(text), 100, &options, NULL), VIDI_OK);
        assert_int_equal(seen.count, at);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_urlset_lists_pages),
        cmocka_unit_test(an_index_lists_sitemaps),
        cmocka_unit_test(a_text_file_has_a_url_per_line),
        cmocka_unit_test(feeds_list_their_items),
        cmocka_unit_test(only_own_children_of_an_entry_count),
        cmocka_unit_test(prefixes_and_case_do_not_matter),
        cmocka_unit_test(references_and_cdata_are_decoded),
        cmocka_unit_test(comments_instructions_and_doctypes_are_skipped),
        cmocka_unit_test(attributes_of_every_form_are_skipped),
        cmocka_unit_test(a_url_is_one_line_without_control_characters),
        cmocka_unit_test(relative_urls_are_resolved_if_there_is_a_base),
        cmocka_unit_test(utf16_is_read),
        cmocka_unit_test(declared_encodings_are_heeded),
#if VIDI_HAVE_ZLIB
        cmocka_unit_test(gzip_is_unpacked),
        cmocka_unit_test(what_can_be_unpacked_of_damaged_gzip_is_read),
        cmocka_unit_test(a_gzip_bomb_ends_at_the_limit),
#endif
        cmocka_unit_test(no_more_entries_are_read_than_allowed),
        cmocka_unit_test(the_protocol_allows_50000_urls),
        cmocka_unit_test(no_more_bytes_are_read_than_allowed),
        cmocka_unit_test(urls_that_are_too_long_are_left_out),
        cmocka_unit_test(the_visitor_can_end_it),
    };
    return cmocka_run_group_tests_name("sitemap", tests, NULL, NULL);
}
