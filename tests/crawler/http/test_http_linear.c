/*
 * No head makes the reader of responses work more than in proportion to its length.
 *
 * Work is counted, not timed: this program has a copy of crawler/http of its own, in which the compiler calls
 * __sanitizer_cov_trace_pc at every branch (tests/CMakeLists.txt).
 */
#include <stdlib.h>
#include <string.h>

#include "crawler/counted.h"
#include "crawler/http/http.h"
#include "support/check.h"

enum { SMALL = 8 << 10, LARGE = 8 * SMALL };

/* Everything that can be asked of a head. */
static uint64_t work_of(const char *begin, const char *piece, size_t bytes)
{
    size_t first = strlen(begin), n = strlen(piece);
    char *text = malloc(first + bytes), type[64];
    struct bytes to = {0};
    memcpy(text, begin, first);
    for (size_t i = 0; i < bytes; i++)
        text[first + i] = piece[i % n];
    vidi_str head = {text, first + bytes};
    work = 0;
    vidi_str charset, value = http_content_type(head, &charset);
    http_link link;
    for (vidi_str links = head; http_next_link(&links, &link);)
        continue;
    for (vidi_str links = http_value(head, "link"); http_next_link(&links, &link);)
        continue;
    http_lengths_agree(head);
    http_value(head, "no such field");
    http_type(value, type, sizeof type);
    http_retry_after(http_value(head, "retry-after"), 0);
    http_date(head);
    http_robots(head, (vidi_str){"vidi", 4});
    http_unpack(head, (vidi_str){"\x1f\x8b", 2}, 100, &to);
    bytes_free(&to);
    assert_int_equal(http_archived_head(head, 5, &to), VIDI_OK);
    uint64_t done = work;
    assert_true(to.len < 3 * head.len + 100);
    bytes_free(&to);
    free(text);
    return done;
}

static void no_head_takes_more_than_linear_work(void **state)
{
    (void)state;
    static const char *const begins[] = {
        "",
        "HTTP/1.1 200 OK\r\n",
        "HTTP/1.1 200 OK\r\nX-Robots-Tag: ",
        "HTTP/1.1 200 OK\r\nContent-Encoding: gzip",
        "HTTP/1.1 200 OK\r\nRetry-After: ",
        "HTTP/1.1 200 OK\r\nContent-Type: ",
        "HTTP/1.1 200 OK\r\nContent-Length: ",
        "HTTP/1.1 200 OK\r\nLink: <a>",
    };
    static const char *const pieces[] = {"\n",
                                         "\r",
                                         "\r\n ",
                                         " ",
                                         ":",
                                         "a",
                                         "a:\n",
                                         "a: b\r\n",
                                         "\t\n",
                                         ",",
                                         "vidi:",
                                         "nofollow,",
                                         "a: ,",
                                         "\n a:",
                                         "1",
                                         "1:",
                                         "gzip,",
                                         ",identity",
                                         " , ",
                                         "\nX-Robots-Tag: none, ",
                                         "\nContent-Length: 5",
                                         "\nContent-Type: a/b;charset=\"",
                                         "\nTransfer-Encoding: chunked",
                                         "\nContent-Encoding: identity",
                                         "<",
                                         "<a>",
                                         "<a>,",
                                         ";a=",
                                         ";rel=\"",
                                         "Sun, "};
    for (size_t i = 0; i < sizeof begins / sizeof begins[0]; i++)
        for (size_t j = 0; j < sizeof pieces / sizeof pieces[0]; j++) {
            uint64_t less = work_of(begins[i], pieces[j], SMALL), more = work_of(begins[i], pieces[j], LARGE);
            check(more < 12 * less + 1000, "%s%s…: %llu steps, and %llu for an eighth", begins[i], pieces[j],
                  (unsigned long long)more, (unsigned long long)less);
        }
    assert_true(work > 0); /* else nobody counts */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_head_takes_more_than_linear_work),
    };
    return cmocka_run_group_tests_name("http_linear", tests, NULL, NULL);
}
