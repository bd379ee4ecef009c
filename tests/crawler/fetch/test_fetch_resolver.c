/* Names: the cache, the pool, names that change their address. The resolver and the clock are the test's own. */
#include <netdb.h>
#include <stdatomic.h>

#include "crawler/fetch/fetching.h"
#include "crawler/fetch/dns_cache.h"

/* A resolver that knows a few hosts and counts its calls. It can be held up. */
typedef struct book {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool held_up;
    int calls, waiting;
    const char *address; /* of every host; NULL: there is none */
} book;

static void open_book(book *opened, const char *address)
{
    *opened = (book){.address = address};
    pthread_mutex_init(&opened->lock, NULL);
    pthread_cond_init(&opened->changed, NULL);
}

static void turn_page(book *book, const char *address)
{
    pthread_mutex_lock(&book->lock);
    book->address = address;
    book->held_up = false;
    pthread_cond_broadcast(&book->changed);
    pthread_mutex_unlock(&book->lock);
}

static int calls_of(book *book)
{
    pthread_mutex_lock(&book->lock);
    int calls = book->calls;
    pthread_mutex_unlock(&book->lock);
    return calls;
}

static int look(void *context, const char *host, fetch_address *addresses, int room)
{
    book *book = context;
    int count = -1;
    pthread_mutex_lock(&book->lock);
    book->calls++;
    book->waiting++;
    pthread_cond_broadcast(&book->changed);
    while (book->held_up)
        pthread_cond_wait(&book->changed, &book->lock);
    book->waiting--;
    if (strcmp(host, "mixed.test") == 0 && room >= 3) {
        fetch_net nets[3];
        fetch_net_parse("10.0.0.1", &nets[0]);
        fetch_net_parse("127.0.0.7", &nets[1]);
        fetch_net_parse("127.0.0.8", &nets[2]);
        for (count = 0; count < 3; count++)
            addresses[count] = nets[count].address;
    } else if (strcmp(host, "none.test") == 0) {
        count = 0;
    } else if (book->address) {
        fetch_net net;
        fetch_net_parse(book->address, &net);
        addresses[0] = net.address;
        count = 1;
    }
    pthread_mutex_unlock(&book->lock);
    return count;
}

static int64_t tell(void *context)
{
    return *(int64_t *)context;
}

typedef struct room {
    book book;
    int64_t time;
    crawl_clock clock;
    downloader *f;
} room;

static void enter(room *r, const char *address)
{
    *r = (room){.clock = {tell, tell, NULL, NULL}};
    r->clock.context = &r->time;
    open_book(&r->book, address);
    r->f = open_fetcher(&(fetch_options){.resolver = look, .resolver_context = &r->book, .clock = &r->clock});
}

static void leave(room *r)
{
    fetch_close(r->f);
    pthread_cond_destroy(&r->book.changed);
    pthread_mutex_destroy(&r->book.lock);
}

static fetch_event name(room *r, const char *host)
{
    fetch_event event;
    int item;
    assert_int_equal(fetch_resolve(r->f, str_of(host), &item), VIDI_OK);
    assert_int_equal(fetch_running(r->f), 1);
    next_event(r->f, &event);
    assert_int_equal(event.kind, FETCH_RESOLVED);
    assert_ptr_equal(event.item, &item);
    assert_null(event.response);
    assert_int_equal(fetch_running(r->f), 0);
    assert_true((event.failure == FETCH_FINE) == (event.why[0] == '\0'));
    assert_true((event.failure == FETCH_FINE) == (event.address.length != 0));
    return event;
}

static void check_name(room *r, const char *host, const char *address)
{
    char text[46];
    fetch_event event = name(r, host);
    check(event.failure == FETCH_FINE, "%s: %s", host, event.why);
    assert_string_equal(fetch_address_text(&event.address, text), address);
}

static void check_no_name(room *r, const char *host, fetch_failure failure)
{
    fetch_event event = name(r, host);
    check(event.failure == failure, "%s: \"%s\" %s", host, fetch_reason(event.failure), event.why);
}

static void answers_are_kept_for_five_minutes(void **state)
{
    (void)state;
    room r;
    enter(&r, "127.0.0.1");
    check_name(&r, "a.test", "127.0.0.1");
    turn_page(&r.book, "127.0.0.2");
    r.time += DNS_CACHE_GOOD_MS - 1;
    check_name(&r, "a.test", "127.0.0.1");
    check_name(&r, "b.test", "127.0.0.2");
    assert_int_equal(calls_of(&r.book), 2);
    r.time += 1;
    check_name(&r, "a.test", "127.0.0.2");
    check_name(&r, "a.test", "127.0.0.2");
    assert_int_equal(calls_of(&r.book), 3);
    leave(&r);
}

static void failures_are_kept_for_half_a_minute(void **state)
{
    (void)state;
    room r;
    enter(&r, NULL);
    check_no_name(&r, "a.test", FETCH_NAME);
    check_no_name(&r, "none.test", FETCH_NAME);
    turn_page(&r.book, "127.0.0.1");
    r.time += DNS_CACHE_BAD_MS - 1;
    check_no_name(&r, "a.test", FETCH_NAME);
    assert_int_equal(calls_of(&r.book), 2);
    r.time += 1;
    check_name(&r, "a.test", "127.0.0.1");
    assert_int_equal(calls_of(&r.book), 3);
    leave(&r);
}

static void the_first_permitted_address_is_used(void **state)
{
    (void)state;
    room r;
    enter(&r, "10.0.0.1");
    check_name(&r, "mixed.test", "127.0.0.7");
    check_no_name(&r, "private.test", FETCH_ADDRESS);
    fetch_event event = name(&r, "private.test");
    assert_string_equal(event.why, "10.0.0.1 is not a public address, and no allowed network has it");
    turn_page(&r.book, "8.8.8.8");
    event = name(&r, "public.test");
    assert_int_equal(event.failure, FETCH_ADDRESS);
    assert_string_equal(event.why, "8.8.8.8 is a public address, and only addresses of allowed networks may be asked");
    leave(&r);
}

/* DNS rebinding: the second answer must not lead inside, and neither must a socket to it. */
static void a_name_that_turns_inside_gains_nothing(void **state)
{
    (void)state;
    room r;
    enter(&r, "127.0.0.1");
    fetch_close(r.f);
    r.f = open_fetcher(&(fetch_options){.resolver = look,
                                        .resolver_context = &r.book,
                                        .clock = &r.clock,
                                        .allowed = &(fetch_net){{{127, 0, 0, 5}, 4}, 32},
                                        .allowed_count = 1,
                                        .allow_public = true});
    turn_page(&r.book, "8.8.8.8");
    check_name(&r, "evil.test", "8.8.8.8");
    turn_page(&r.book, "127.0.0.1");
    r.time += DNS_CACHE_GOOD_MS;
    check_no_name(&r, "evil.test", FETCH_ADDRESS);
    fetch_response *got = ask(r.f, (fetch_request){.address = address_of("127.0.0.1")}, "http://evil.test/");
    check_failure(got, FETCH_ADDRESS);
    fetch_response_free(got);
    leave(&r);
}

/* The first address of mixed.test is not permitted, the others are. */
static void where_nobody_answers_the_next_address_is_used(void **state)
{
    (void)state;
    static const char *const addresses[] = {"127.0.0.7", "127.0.0.8", "127.0.0.7"};
    room r;
    char url[100];
    int port = 0, fd = play_listen(AF_INET, &port);
    close(fd);
    enter(&r, "127.0.0.1");
    snprintf(url, sizeof url, "http://mixed.test:%d/", port);
    for (size_t i = 0; i < 3; i++) {
        check_name(&r, "mixed.test", addresses[i]);
        check_name(&r, "mixed.test", addresses[i]);
        fetch_response *got = ask(r.f, (fetch_request){.address = address_of(addresses[i])}, url);
        check_failure(got, FETCH_CONNECT);
        fetch_response_free(got);
    }
    check_name(&r, "mixed.test", "127.0.0.8");
    /* An address that is not used any more is not avoided again. */
    fetch_response_free(ask(r.f, (fetch_request){.address = address_of("127.0.0.7")}, url));
    check_name(&r, "mixed.test", "127.0.0.8");
    assert_int_equal(calls_of(&r.book), 1);
    /* A host with one address keeps it. */
    check_name(&r, "one.test", "127.0.0.1");
    snprintf(url, sizeof url, "http://one.test:%d/", port);
    fetch_response_free(ask(r.f, (fetch_request){0}, url));
    check_name(&r, "one.test", "127.0.0.1");
    leave(&r);
}

static void addresses_need_no_resolver(void **state)
{
    (void)state;
    room r;
    enter(&r, NULL);
    check_name(&r, "127.0.0.1", "127.0.0.1");
    check_name(&r, "[::1]", "::1");
    check_no_name(&r, "192.168.1.1", FETCH_ADDRESS);
    check_no_name(&r, "[::ffff:7f00:1]", FETCH_ADDRESS);
    check_no_name(&r, "[64:ff9b::7f00:1]", FETCH_ADDRESS);
    assert_int_equal(calls_of(&r.book), 0);
    leave(&r);
}

static void hosts_that_cannot_be_names_are_refused(void **state)
{
    (void)state;
    room r;
    char longest[300];
    enter(&r, "127.0.0.1");
    memset(longest, 'a', sizeof longest);
    longest[254] = '\0';
    check_no_name(&r, longest, FETCH_NAME);
    longest[253] = '\0';
    assert_int_equal(calls_of(&r.book), 0);
    check_name(&r, longest, "127.0.0.1");
    check_no_name(&r, "", FETCH_NAME);
    int item;
    fetch_event event;
    assert_int_equal(fetch_resolve(r.f, (vidi_str){"a\0b", 3}, &item), VIDI_OK);
    next_event(r.f, &event);
    assert_int_equal(event.failure, FETCH_NAME);
    leave(&r);
}

static void questions_about_one_host_are_one_lookup(void **state)
{
    (void)state;
    enum { MANY = 50 };
    room r;
    int items[MANY];
    fetch_event event;
    enter(&r, "127.0.0.1");
    r.book.held_up = true;
    for (int i = 0; i < MANY; i++)
        assert_int_equal(fetch_resolve(r.f, str_of(i % 2 ? "a.test" : "b.test"), &items[i]), VIDI_OK);
    assert_int_equal(fetch_running(r.f), MANY);
    assert_int_equal(fetch_wait(r.f, 0, &event), 0);
    turn_page(&r.book, "127.0.0.3");
    bool seen[MANY] = {false};
    for (int i = 0; i < MANY; i++) {
        next_event(r.f, &event);
        seen[(int *)event.item - items] = true;
    }
    for (int i = 0; i < MANY; i++)
        assert_true(seen[i]);
    assert_int_equal(calls_of(&r.book), 2);
    leave(&r);
}

static void four_names_are_looked_up_at_a_time(void **state)
{
    (void)state;
    room r;
    char hosts[8][16];
    fetch_event event;
    enter(&r, "127.0.0.1");
    r.book.held_up = true;
    for (int i = 0; i < 8; i++) {
        snprintf(hosts[i], sizeof hosts[i], "h%d.test", i);
        assert_int_equal(fetch_resolve(r.f, str_of(hosts[i]), NULL), VIDI_OK);
    }
    pthread_mutex_lock(&r.book.lock);
    while (r.book.waiting < 4)
        pthread_cond_wait(&r.book.changed, &r.book.lock);
    assert_int_equal(r.book.calls, 4);
    pthread_mutex_unlock(&r.book.lock);
    turn_page(&r.book, "127.0.0.1");
    for (int i = 0; i < 8; i++)
        next_event(r.f, &event);
    leave(&r);
}

static void the_cache_forgets_the_oldest(void **state)
{
    (void)state;
    room r;
    char host[32];
    enter(&r, "127.0.0.1");
    check_name(&r, "first.test", "127.0.0.1");
    for (int i = 0; i < DNS_CACHE_MOST - 1; i++) {
        snprintf(host, sizeof host, "h%d.test", i);
        check_name(&r, host, "127.0.0.1");
    }
    check_name(&r, "first.test", "127.0.0.1");
    assert_int_equal(calls_of(&r.book), DNS_CACHE_MOST);
    check_name(&r, "one-more.test", "127.0.0.1");
    check_name(&r, "h0.test", "127.0.0.1");
    assert_int_equal(calls_of(&r.book), DNS_CACHE_MOST + 1);
    check_name(&r, "first.test", "127.0.0.1");
    assert_int_equal(calls_of(&r.book), DNS_CACHE_MOST + 2);
    leave(&r);
}

static void closing_drops_questions(void **state)
{
    (void)state;
    room r;
    char host[16];
    enter(&r, "127.0.0.1");
    for (int i = 0; i < 20; i++) {
        snprintf(host, sizeof host, "h%d.test", i);
        assert_int_equal(fetch_resolve(r.f, str_of(host), NULL), VIDI_OK);
    }
    assert_int_equal(fetch_resolve(r.f, str_of("127.0.0.1"), NULL), VIDI_OK);
    leave(&r);
}

static void the_systems_resolver_knows_localhost(void **state)
{
    (void)state;
    fetch_event event;
    downloader *f = open_fetcher(NULL);
    assert_int_equal(fetch_resolve(f, str_of("localhost"), NULL), VIDI_OK);
    next_event(f, &event);
    check(event.failure == FETCH_FINE, "%s", event.why);
    fetch_close(f);
    fetch_address addresses[4];
    assert_true(fetch_resolve_system(NULL, "localhost", addresses, 4) > 0);
    assert_true(fetch_resolve_system(NULL, "not a name", addresses, 4) < 0);
}

/* The system's lookup of "slow.test" ends only when the downloader has been closed, or after half a minute. */
static atomic_bool slow_has_begun, is_closed, was_waited_for, slow_has_ended;

int __real_getaddrinfo(const char *host, const char *service, const struct addrinfo *hints, struct addrinfo **found);
int __wrap_getaddrinfo(const char *host, const char *service, const struct addrinfo *hints, struct addrinfo **found);
int __wrap_getaddrinfo(const char *host, const char *service, const struct addrinfo *hints, struct addrinfo **found)
{
    if (strcmp(host, "slow.test") != 0)
        return __real_getaddrinfo(host, service, hints, found);
    slow_has_begun = true;
    for (int i = 0; i < 3000 && !is_closed; i++)
        usleep(10000);
    was_waited_for = !is_closed;
    slow_has_ended = true;
    return EAI_AGAIN;
}

static void closing_does_not_wait_for_the_system(void **state)
{
    (void)state;
    downloader *f = open_fetcher(NULL);
    assert_int_equal(fetch_resolve(f, str_of("slow.test"), NULL), VIDI_OK);
    while (!slow_has_begun)
        usleep(1000);
    fetch_close(f);
    is_closed = true;
    while (!slow_has_ended)
        usleep(1000);
    assert_false(was_waited_for);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_are_kept_for_five_minutes),
        cmocka_unit_test(failures_are_kept_for_half_a_minute),
        cmocka_unit_test(the_first_permitted_address_is_used),
        cmocka_unit_test(a_name_that_turns_inside_gains_nothing),
        cmocka_unit_test(where_nobody_answers_the_next_address_is_used),
        cmocka_unit_test(addresses_need_no_resolver),
        cmocka_unit_test(hosts_that_cannot_be_names_are_refused),
        cmocka_unit_test(questions_about_one_host_are_one_lookup),
        cmocka_unit_test(four_names_are_looked_up_at_a_time),
        cmocka_unit_test(the_cache_forgets_the_oldest),
        cmocka_unit_test(closing_drops_questions),
        cmocka_unit_test(the_systems_resolver_knows_localhost),
        cmocka_unit_test(closing_does_not_wait_for_the_system),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
