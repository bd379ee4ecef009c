/*
 * Responses that were made to hurt, on connections that are used again: each request gets one answer, limits hold, and
 * requests to another server do not notice. Under the address sanitizer this also looks at the memory that libcurl
 * frees.
 *
 *   VIDI_TEST_SEED   the seed that a failure has printed
 */
#include "crawler/fetch/fetching.h"
#include "crawler/site/hostile.h"
#include "support/env.h"
#include "support/random.h"

enum { AT_ONCE = 64, MAX_BODY = 64 << 10, MAX_HEAD = 16 << 10, GOOD_EVERY = 16 };

static const play_page pages[] = {{NULL, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", 0, PLAY_KEEP, NULL}};

static void start(downloader *f, int port, uint64_t number, unsigned char *answers)
{
    char url[100];
    test_random random = {number};
    snprintf(url, sizeof url, "http://127.0.1.1:%d/hostile/%llu", port, (unsigned long long)number);
    fetch_request request = {.item = answers,
                             .url = str_of(url),
                             .address = address_of("127.0.1.1"),
                             .head = test_below(&random, 8) == 0,
                             .may_cut = test_below(&random, 4) == 0,
                             .is_fresh = test_below(&random, 16) == 0};
    assert_int_equal(fetch_start(f, &request), VIDI_OK);
}

static void start_good(downloader *f, int port)
{
    char url[100];
    snprintf(url, sizeof url, "http://127.0.0.1:%d/", port);
    assert_int_equal(fetch_start(f, &(fetch_request){.url = str_of(url), .address = address_of("127.0.0.1")}), VIDI_OK);
}

static void take_answer(downloader *f)
{
    fetch_response *got = next_response(f);
    if (got->item)
        ++*(unsigned char *)got->item;
    else
        check_fine(got, 200, "hello");
    assert_true(got->body.len <= MAX_BODY && got->head.len <= MAX_HEAD);
    if (got->failure == FETCH_FINE)
        check(got->status > 0 && got->status / 100 != 1 && got->head.len > 0, "status %d after \"%.*s\"", got->status,
              (int)got->head.len, got->head.ptr);
    else
        assert_true(got->why[0] && !got->is_cut);
    fetch_response_free(got);
}

static void each_request_gets_one_answer(void **state)
{
    (void)state;
    const char *given = getenv("VIDI_TEST_SEED");
    uint64_t seed = given ? strtoull(given, NULL, 10) : 1, count = test_long() ? 100000 : 3000;
    unsigned char *answers = calloc(count, 1);
    site *web = site_open(1);
    play_server *good = play_begin(AF_INET, pages, 1);
    downloader *f = open_fetcher(&(fetch_options){
        .connections = AT_ONCE, .max_body = MAX_BODY, .max_head = MAX_HEAD, .max_held = AT_ONCE * MAX_BODY / 8});
    print_message("# VIDI_TEST_SEED=%llu\n", (unsigned long long)seed);
    web->maker = hostile_answer;
    web->maker_context = &seed;
    site_serve(web);
    for (uint64_t i = 0; i < count; i++) {
        start(f, web->port, i, &answers[i]);
        if (i % GOOD_EVERY == 0)
            start_good(f, good->port);
        while (fetch_running(f) > AT_ONCE)
            take_answer(f);
    }
    while (fetch_running(f) > 0)
        take_answer(f);
    fetch_close(f);
    site_stop(web);
    for (uint64_t i = 0; i < count; i++)
        check(answers[i] == 1, "request %llu got %u answers", (unsigned long long)i, answers[i]);
    print_message("# %zu requests on %llu connections\n", web->log_count, (unsigned long long)web->accepted);
    check(web->accepted < web->log_count, "no connection was used again");
    play_end(good);
    site_close(web);
    free(answers);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_request_gets_one_answer)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
