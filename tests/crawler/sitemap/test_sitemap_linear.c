/*
 * No sitemap makes the reader work more than in proportion to its length, or take more memory for it.
 *
 * Work is counted, not timed: this program has a copy of crawler/sitemap of its own, see crawler/counted.h. zlib's work is
 * not counted.
 */
#include "crawler/counted.h"
#include "crawler/sitemap/sitemap_cases.h"
#include "support/env.h"

enum { SMALL = 4 << 10, LARGE = 8 * SMALL };

static uint64_t taken; /* the most memory that was asked for at once, above what the reader itself takes */

void *__wrap_malloc(size_t bytes);
void *__real_malloc(size_t bytes);
void *__wrap_realloc(void *old, size_t bytes);
void *__real_realloc(void *old, size_t bytes);

void *__wrap_malloc(size_t bytes)
{
    taken = bytes > taken ? bytes : taken;
    return __real_malloc(bytes);
}

void *__wrap_realloc(void *old, size_t bytes)
{
    taken = bytes > taken ? bytes : taken;
    return __real_realloc(old, bytes);
}

static const struct {
    const char *head, *piece;
} hostile[] = {
    {"", "<"},
    {"", "&"},
    {"", "\n"},
    {"", " "},
    {"", "x"},
    {"", "http://"},
    {"", "http://h/\n"},
    {"http://h/", "a"},
    {"http://h/", " "},
    {"http://h/a\n", "x\n"},
    {"<urlset>", "<"},
    {"<urlset>", "&"},
    {"<urlset>", "<url>"},
    {"<urlset>", "</url>"},
    {"<urlset>", "<a>"},
    {"<urlset>", "</a>"},
    {"<urlset>", "<a "},
    {"<urlset>", "<a/>"},
    {"<urlset>", "<!--"},
    {"<urlset><!--", "-"},
    {"<urlset><![CDATA[", "]"},
    {"<urlset>", "<![CDATA["},
    {"<urlset>", "<!"},
    {"<urlset>", "<?"},
    {"<urlset><?", "?"},
    {"<!DOCTYPE ", "["},
    {"<!DOCTYPE ", "'"},
    {"<!DOCTYPE a [", "<!ENTITY a '&a;&a;'>"},
    {"<urlset><url><loc>", "&amp;"},
    {"<urlset><url><loc>", "&a;"},
    {"<urlset><url><loc>", "&#"},
    {"<urlset><url><loc>", "a"},
    {"<urlset><url><loc>http://h/", " "},
    {"<urlset><url><loc>http://h/", "a "},
    {"<urlset><url><loc>http://h/", "\x01"},
    {"<urlset><url><loc>http://h/", "\xc3\xa4"},
    {"<urlset><url>", "<loc>http://h/</loc>"},
    {"<urlset>", "<url><loc>http://h/</loc></url>"},
    {"<urlset>", "<url><loc>a</loc></url>"},
    {"<urlset><url ", "a=b "},
    {"<urlset><url a='", "&"},
    {"<urlset><url a='", "x"},
    {"<urlset><", "a"},
    {"<urlset></", "a"},
    {"<feed><entry>", "<link href='http://h/'/>"},
    {"<feed><entry><link href='", "h"},
    {"\xff\xfe<", "\0\xd8"},
};

static vidi_str repeat(size_t which, size_t bytes)
{
    const char *head = hostile[which].head, *piece = hostile[which].piece;
    size_t len = strlen(head), n = *piece ? strlen(piece) : 2;
    char *text = malloc(bytes + len);
    memcpy(text, head, len);
    for (size_t i = 0; i < bytes; i++)
        text[len + i] = piece[i % n];
    return (vidi_str){text, bytes + len};
}

static int ignore(void *context, const sitemap_entry *entry)
{
    (void)context;
    (void)entry;
    return 0;
}

static uint64_t work_on(size_t which, size_t bytes)
{
    vidi_str text = repeat(which, bytes);
    sitemap_options options = {.visit = ignore, .base = {"http://base/", 12}, .max_urls = UINT64_MAX};
    sitemap *reader;
    work = taken = 0;
    assert_int_equal(sitemap_open(&reader, &options), VIDI_OK);
    assert_int_equal(sitemap_feed(reader, text.ptr, text.len), SITEMAP_GO_ON);
    assert_int_equal(sitemap_close(reader, NULL), VIDI_OK);
    free((char *)(uintptr_t)text.ptr);
    return work;
}

static void no_sitemap_takes_more_than_linear_work(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof hostile / sizeof hostile[0]; i++) {
        uint64_t small = work_on(i, SMALL), large = work_on(i, LARGE);
        check(large < 9 * small + 1000, "%s%s…: %llu steps, and %llu for an eighth", hostile[i].head, hostile[i].piece,
              (unsigned long long)large, (unsigned long long)small);
        check(large < 200ull * LARGE, "%s%s…: %llu steps", hostile[i].head, hostile[i].piece,
              (unsigned long long)large);
    }
    assert_true(work > 0); /* else nobody counts */
}

static void memory_does_not_grow_with_the_file(void **state)
{
    (void)state;
    static const size_t some[] = {0 /* '<' */, 1 /* '&' */, 7 /* one URL */, 14 /* nested elements */};
    size_t bytes = test_long() ? 10 << 20 : 2 << 20;
    for (size_t i = 0; i < sizeof some / sizeof some[0]; i++) {
        uint64_t done = work_on(some[i], bytes);
        check(done < 200 * (uint64_t)bytes, "%s%s…: %llu steps", hostile[some[i]].head, hostile[some[i]].piece,
              (unsigned long long)done);
        check(taken < 64 << 10, "%s%s…: %llu bytes", hostile[some[i]].head, hostile[some[i]].piece,
              (unsigned long long)taken);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_sitemap_takes_more_than_linear_work),
        cmocka_unit_test(memory_does_not_grow_with_the_file),
    };
    return cmocka_run_group_tests_name("sitemap_linear", tests, NULL, NULL);
}
