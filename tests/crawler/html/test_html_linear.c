/*
 * No page makes the reader work more than in proportion to its length, and a page of 10 MiB takes so little work for
 * each byte that it is read in a fraction of a second.
 *
 * Work is counted, not timed: this program has a copy of crawler/html and crawler/encoding of its own, in which the
 * compiler calls __sanitizer_cov_trace_pc at every branch (tests/CMakeLists.txt), and the linker puts our memcpy and
 * the like, which count the bytes, in place of the C library's.
 */
#include <stdlib.h>
#include <string.h>

#include "crawler/html/pages.h"
#include "support/env.h"
#include "support/work.h"

enum { SMALL = 32 << 10, LARGE = 8 * SMALL, HUGE = 10 << 20, WORK_FOR_A_BYTE = 300 };

/*
 * head, then the first piece again and again, and in the second half the other piece, if there is one. '@' in the first
 * piece stands for six digits, another number each time.
 */
typedef struct hostile {
    const char *head, *piece, *then, *encoding;
} hostile;

static const hostile list[] = {
    {"", "<", NULL, NULL},
    {"", "</", NULL, NULL},
    {"", "<!", NULL, NULL},
    {"", "<a ", NULL, NULL},
    {"", "<a href=x>", NULL, NULL},
    {"", "<a href=x", NULL, NULL},
    {"", "</>", NULL, NULL},
    {"", "&", NULL, NULL},
    {"", "&amp", NULL, NULL},
    {"", "&CounterClockwiseContourIntegra", NULL, NULL},
    {"<a href='", "&", NULL, NULL},
    {"<a href='", "&CounterClockwiseContourIntegra", "'>", NULL},
    {"<a href='&#", "0", "'>", NULL},
    {"<a href='", "x", "'>", NULL},
    {"<a href='", "../", "'>", NULL},
    {"<a href='", "?", "'>", NULL},
    {"<a href='", "\r", "'>", NULL},
    {"<a href='?", "\xE9", "'>", "latin1"},
    {"<a href='?", "&#x4E00;", "'>", "latin1"},
    {"<a href='?", "&#x4E00;", "'>", "shift_jis"},
    {"<a href='?", "&#x4E28;", "'>", "shift_jis"},
    {"<a href='?", "&#x4E00;a", "'>", "iso-2022-jp"},
    {"<a href='?", "&#x10000;", "'>", "gb18030"},
    {"", "<a href='?\xE9'>", NULL, "latin1"},
    {"<a ", "x ", NULL, NULL},
    {"<a ", "x ", ">", NULL},
    {"<a ", "x@ ", ">", NULL},
    {"<a x", "a@=@ ", NULL, NULL},
    {"<a ", "x=1 y=2 ", ">", NULL},
    {"<a ", "href ", ">", NULL},
    {"<font ", "color1 ", "><font ", NULL},
    {"<svg><font ", "x ", "><font x ", NULL},
    {"<a ", "\"", NULL, NULL},
    {"<a ", "'=", NULL, NULL},
    {"<a x=", "\"", NULL, NULL},
    {"<a x=", "\"\"", NULL, NULL},
    {"<a ", "/", NULL, NULL},
    {"<a ", "=", NULL, NULL},
    {"<a", "a", NULL, NULL},
    {"<a rel='", "nofollow ", "' href=x>", NULL},
    {"<!--", "-", NULL, NULL},
    {"<!--", "--!", NULL, NULL},
    {"<!--", "<!--", NULL, NULL},
    {"", "<!--", NULL, NULL},
    {"", "<!-- -", NULL, NULL},
    {"", "<!-->", NULL, NULL},
    {"", "<!doctype ", NULL, NULL},
    {"<!doctype html public '", "x", NULL, NULL},
    {"", "<!doctype a public ''>", NULL, NULL},
    {"<script>", "<!--<script>", NULL, NULL},
    {"<script><!--", "<script></script>", NULL, NULL},
    {"<script>", "</script", NULL, NULL},
    {"<script>", "-", NULL, NULL},
    {"", "<script></script>", NULL, NULL},
    {"<title>", "</title", NULL, NULL},
    {"<title>", "</titl", NULL, NULL},
    {"", "<title>", NULL, NULL},
    {"", "<title></title ", NULL, NULL},
    {"<svg>", "<![CDATA[", NULL, NULL},
    {"<svg>", "<![CDATA[]]>", NULL, NULL},
    {"<svg><![CDATA[", "]", NULL, NULL},
    {"", "<![CDATA[", NULL, NULL},
    {"", "<template>", NULL, NULL},
    {"", "<template>", "</template>", NULL},
    {"<svg><desc><template>", "<svg><desc>", "</title>", NULL},
    {"<svg><desc><template>", "<svg><title>", "</desc>", NULL},
    {"", "<svg>", "</svg>", NULL},
    {"", "<svg><desc>", "</p>", NULL},
    {"", "<svg><desc>", "</svg></desc>", NULL},
    {"", "<math><mi>", "</math>", NULL},
    {"<svg>", "<g>", "</g>", NULL},
    {"<math>", "<annotation-xml x y z>", NULL, NULL},
    {"", "<base href=/b/>", NULL, NULL},
    {"", "<style>url(a)</style>", NULL, NULL},
    {"<style>", "url(", NULL, NULL},
    {"<svg><style>", "<![CDATA[url(a)]]>", NULL, NULL},
    {"<a ", "style=url(a) ", ">", NULL},
    {"", "<a style='url(a)'>", NULL, NULL},
    {"<a style='", "&#92;0", "'>", NULL},
    {"", "<iframe srcdoc='<a href=b>'>", NULL, NULL},
    {"", "<iframe srcdoc=", NULL, NULL},
    {"<iframe srcdoc='", "&lt;a href=b>", "'>", NULL},
    {"<iframe srcdoc='", "<iframe srcdoc=&#39;", NULL, NULL},
    {"<iframe srcdoc='", "&amp;", "'>", NULL},
    {"<img srcset='", "a 1x, ", "'>", NULL},
    {"<img srcset='", ",", "'>", NULL},
    {"<img srcset='", "a,", "'>", NULL},
    {"<img srcset='a ", "(", "'>", NULL},
    {"<meta http-equiv=refresh content='", "0 ", "'>", NULL},
    {"<meta http-equiv=refresh content='0;\"", "x", "'>", NULL},
    {"<meta name=robots content='", "none,", "'>", NULL},
    {"", "<meta charset=x>", NULL, NULL},
    {"", "\xFF", NULL, "utf-8"},
    {"", "\xE2\x82", NULL, "utf-8"},
    {"", "\xE2\x82\xAC", NULL, "utf-8"},
    {"\xFF\xFE", "\xD8", NULL, NULL},
    {"", "\x81", NULL, "shift_jis"},
    {"", "\x8F\xA1", NULL, "euc-jp"},
    {"", "\x81\x30", NULL, "gb18030"},
    {"", "\x81\x30\x81\x30", NULL, "gb18030"},
    {"", "\x81\x40", NULL, "big5"},
    {"", "\x1B$B\x1B(B", NULL, "iso-2022-jp"},
};

static char *make_page(const hostile *what, size_t bytes)
{
    char *text = malloc(bytes);
    size_t len = strlen(what->head), n = strlen(what->piece);
    memcpy(text, what->head, len);
    size_t half = what->then ? bytes / 2 : bytes, number = 0;
    for (size_t i = 0; len < half; i++) {
        text[len++] = what->piece[i % n];
        if (what->piece[i % n] == '@' && len + 6 < half)
            len += (size_t)sprintf(text + len - 1, "%06zu", number++) - 1;
    }
    for (size_t i = 0; len < bytes; i++)
        text[len++] = what->then[i % strlen(what->then)];
    return text;
}

static int count_link(void *context, const html_link *link)
{
    *(uint64_t *)context += link->url.len;
    return 0;
}

static int count_name(void *context, vidi_str name)
{
    *(uint64_t *)context += name.len;
    return 0;
}

static uint64_t work_on(const hostile *what, size_t bytes)
{
    char *text = make_page(what, bytes);
    html_options options = {.url = text_of("http://h/d/p")};
    uint64_t written = 0;
    if (what->encoding)
        options.encoding = text_of(what->encoding);
    html_page *page;
    work = 0;
    assert_int_equal(html_page_open(&page, (vidi_str){text, bytes}, &options), VIDI_OK);
    assert_int_equal(html_page_links(page, ALL_LINKS, count_link, &written), VIDI_OK);
    assert_int_equal(html_page_names(page, count_name, &written), VIDI_OK);
    html_page_close(page);
    free(text);
    return work;
}

/* 8 times if it is linear, 64 times if it is quadratic. */
static void no_page_takes_more_than_linear_work(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
        work_on(&list[i], 100); /* the first page of an encoding fills its tables */
        uint64_t small = work_on(&list[i], SMALL), large = work_on(&list[i], LARGE);
        check(large < 9 * small + 10000, "%s%s…: %llu steps, and %llu for an eighth", list[i].head, list[i].piece,
              (unsigned long long)large, (unsigned long long)small);
        check(large < (uint64_t)WORK_FOR_A_BYTE * LARGE, "%s%s…: %llu steps for a byte", list[i].head, list[i].piece,
              (unsigned long long)large / LARGE);
    }
    assert_true(work > 0); /* else nobody counts */
}

static void ten_megabytes_of_anything_are_read(void **state)
{
    (void)state;
    if (!test_long())
        skip();
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++)
        check(work_on(&list[i], HUGE) < (uint64_t)WORK_FOR_A_BYTE * HUGE, "%s%s…", list[i].head, list[i].piece);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_page_takes_more_than_linear_work),
        cmocka_unit_test(ten_megabytes_of_anything_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
