/*
 * Measures how long it takes to read an HTML page: its tokens alone, and its links as absolute URLs. The page is made
 * up: 1 MiB of paragraphs, lists and tables with a link for each 250 bytes or so, as on pages with many links. It is
 * compared with finding every '<' by memchr, the least that any reader must do, and with copying the page.
 */
#include "subjects.h"

#include <stdlib.h>
#include <string.h>

#include "crawler/html/html.h"
#include "crawler/html/tokenizer.h"

#define PAGE_BYTES ((size_t)1 << 20)
#define ROUNDS 21

static volatile uint64_t sink; /* takes the results, so that nothing is optimised away */

/* Makes the page, and counts its links. */
static size_t make_page(char *page, size_t *links)
{
    size_t len = 0;

    for (size_t i = 0; len + 1024 < PAGE_BYTES; i++, ++*links) {
        char *to = page + len;
        if (i % 3 == 0)
            len += (size_t)snprintf(
                to, 1024,
                "<p class=\"text\">A paragraph with <b>bold</b> and <i>other</i> words &amp; signs, as "
                "pages have them, and a <a class=\"internal\" href=\"/wiki/%zu?x=1&amp;y=2\" "
                "title=\"A title\">link</a> in it.</p>\n",
                i);
        else if (i % 3 == 1)
            len +=
                (size_t)snprintf(to, 1024,
                                 "<li id=\"item-%zu\"><a href=\"../section/%zu.html#top\">An item</a> of a list, with "
                                 "some text behind it</li>\n",
                                 i, i);
        else
            len += (size_t)snprintf(to, 1024,
                                    "<!-- a comment --><tr><td>%zu</td><td align=right>12.5</td><td><a "
                                    "href='https://example.org/%zu'>x</a></td></tr>\n<script>if (a < b && b > c) "
                                    "document.write('<a href=\"no\">');</script>\n",
                                    i, i);
    }
    return len;
}

typedef struct method {
    const char *name, *note;
    bool (*pass)(vidi_str page, size_t links);
} method;

static bool pass_tokens(vidi_str page, size_t links)
{
    html_tokenizer tokenizer;
    html_token token = {.type = HTML_TEXT};
    uint64_t sum = 0;
    bool fine = html_tokenizer_open(&tokenizer, page) == VIDI_OK;
    (void)links;
    while (fine && token.type != HTML_END) {
        fine = html_tokenizer_next(&tokenizer, &token) == VIDI_OK;
        sum += token.text.len;
    }
    html_tokenizer_close(&tokenizer);
    sink += sum;
    return fine;
}

static int count(void *context, const html_link *link)
{
    *(size_t *)context += link->url.ptr != NULL;
    return 0;
}

static bool pass_links(vidi_str page, size_t links)
{
    html_options options = {.url = {"https://example.org/a/b.html", 28}, .charset = {"utf-8", 5}};
    html_page *read;
    size_t found = 0;
    bool fine = html_page_open(&read, page, &options) == VIDI_OK;
    fine = fine && html_page_links(read, HTML_LINKS, count, &found) == VIDI_OK && found == links;
    html_page_close(read);
    return fine;
}

static bool pass_memchr(vidi_str page, size_t links)
{
    uint64_t sum = 0;
    (void)links;
    for (const char *at = page.ptr, *end = at + page.len; (at = memchr(at, '<', (size_t)(end - at))); at++)
        sum++;
    sink += sum;
    return true;
}

static bool pass_memcpy(vidi_str page, size_t links)
{
    static char copy[PAGE_BYTES];
    (void)links;
    memcpy(copy, page.ptr, page.len);
    __asm__ volatile("" : : "r"(copy) : "memory");
    return true;
}

static const method methods[BENCH_HTML_METHODS] = {
    {"vidi links", "every link, resolved against the page's URL", pass_links},
    {"vidi tokens", "the tokenizer of the HTML Standard alone", pass_tokens},
    {"memchr", "finds every '<'", pass_memchr},
    {"memcpy", "of the page", pass_memcpy},
};

static void measure(const method *method, vidi_str page, size_t links, bench_canon *result)
{
    double cpu = bench_cpu_now(), start = bench_now();
    if (!method->pass(page, links))
        snprintf(result->why, sizeof result->why, "it failed");
    else
        bench_record(&result->series, bench_now() - start, bench_cpu_now() - cpu);
}

void bench_html_measure(bench_run *run)
{
    char *page = malloc(PAGE_BYTES);
    size_t links = 0;
    if (!page)
        return;
    vidi_str text = {page, make_page(page, &links)};
    for (size_t i = 0; i < BENCH_HTML_METHODS; i++)
        run->html[i] = (bench_canon){.name = "html, a page of 1 MiB",
                                     .subject = methods[i].name,
                                     .note = methods[i].note,
                                     .n = 1,
                                     .bytes = (double)text.len};
    for (int round = 0; round < ROUNDS; round++) /* in turns, so that disturbances affect all of them */
        for (size_t i = 0; i < BENCH_HTML_METHODS; i++)
            if (!run->html[i].why[0])
                measure(&methods[i], text, links, &run->html[i]);
    free(page);
}

void bench_html_table(const bench_run *run, FILE *out)
{
    if (!run->html[0].name)
        return;
    fprintf(out, "\nHTML, MB/s, best (median): a page of 1 MiB\n\n");
    for (size_t i = 0; i < BENCH_HTML_METHODS; i++) {
        const bench_canon *result = &run->html[i];
        if (result->series.rounds)
            fprintf(out, "| %-11s | %6.0f (%.0f) |\n", result->subject,
                    1e3 * result->bytes / bench_best(&result->series),
                    1e3 * result->bytes / bench_median(&result->series));
        else
            fprintf(out, "Left out: %s: %s\n", result->subject, result->why);
    }
}
