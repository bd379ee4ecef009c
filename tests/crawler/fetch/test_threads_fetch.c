/* Threads: others wake the one that waits, the pool answers while requests are on their way. */
#include "crawler/fetch/fetching.h"

enum { REQUESTS = 500, CONNECTIONS = 64, HOSTS = 20, WAKES = 2000 };

static const play_page pages[] = {
    {NULL, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", 0, PLAY_KEEP, NULL},
};

static void *wake_often(void *context)
{
    for (int i = 0; i < WAKES; i++)
        fetch_wake(context);
    return NULL;
}

static void start(downloader *f, const play_server *server, int i, fetch_address address)
{
    char url[100];
    snprintf(url, sizeof url, "http://h%d.test:%d/%d", i % HOSTS, server->port, i);
    fetch_request request = {.url = str_of(url), .address = address};
    assert_int_equal(fetch_start(f, &request), VIDI_OK);
}

static void requests_and_names_go_on_while_others_wake(void **state)
{
    (void)state;
    play_server *server = play_begin(AF_INET, pages, 1);
    downloader *f = open_fetcher(&(fetch_options){.connections = CONNECTIONS, .resolver = resolve_here});
    pthread_t threads[2];
    int items[REQUESTS], named = 0, done = 0;
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, wake_often, f), 0);
    for (int i = 0; i < REQUESTS; i++) {
        char host[16];
        items[i] = i;
        snprintf(host, sizeof host, "h%d.test", i % HOSTS);
        assert_int_equal(fetch_resolve(f, str_of(host), &items[i]), VIDI_OK);
    }
    while (done < REQUESTS) {
        fetch_event event;
        int got = fetch_wait(f, PATIENCE_MS, &event);
        assert_true(got >= 0);
        if (got == 0)
            continue; /* woken */
        if (event.kind == FETCH_RESOLVED) {
            assert_int_equal(event.failure, FETCH_FINE);
            start(f, server, *(int *)event.item, event.address);
            named++;
        } else {
            check_fine(event.response, 200, "hello");
            fetch_response_free(event.response);
            done++;
        }
    }
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(named, REQUESTS);
    assert_int_equal(play_requests(server), REQUESTS);
    assert_in_range(play_connections(server), 1, REQUESTS);
    fetch_close(f);
    play_end(server);
}

/* Responses on their way to a thread that frees them. */
typedef struct heap {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    fetch_response *responses[REQUESTS];
    int count;
    bool is_last; /* nothing more will come */
} heap;

static void *free_responses(void *context)
{
    heap *h = context;
    pthread_mutex_lock(&h->lock);
    while (h->count > 0 || !h->is_last) {
        if (h->count == 0) {
            pthread_cond_wait(&h->changed, &h->lock);
            continue;
        }
        fetch_response *one = h->responses[--h->count];
        pthread_mutex_unlock(&h->lock);
        fetch_response_free(one);
        pthread_mutex_lock(&h->lock);
    }
    pthread_mutex_unlock(&h->lock);
    return NULL;
}

static void put_on_heap(heap *h, fetch_response *one)
{
    pthread_mutex_lock(&h->lock);
    if (one)
        h->responses[h->count++] = one;
    else
        h->is_last = true;
    pthread_cond_broadcast(&h->changed);
    pthread_mutex_unlock(&h->lock);
}

/* While the downloader works, while it is being closed, and afterwards. */
static void responses_are_freed_by_any_thread_at_any_time(void **state)
{
    (void)state;
    play_server *server = play_begin(AF_INET, pages, 1);
    for (int round = 0; round < 5; round++) {
        downloader *f = open_fetcher(&(fetch_options){.connections = CONNECTIONS});
        fetch_response *late[REQUESTS / 2];
        heap h = {.count = 0};
        pthread_t threads[2];
        pthread_mutex_init(&h.lock, NULL);
        pthread_cond_init(&h.changed, NULL);
        for (int i = 0; i < 2; i++)
            assert_int_equal(pthread_create(&threads[i], NULL, free_responses, &h), 0);
        for (int i = 0; i < REQUESTS; i++)
            start(f, server, i, address_of("127.0.0.1"));
        for (int i = 0; i < REQUESTS; i++) {
            fetch_response *got = next_response(f);
            check_fine(got, 200, "hello");
            if (i < REQUESTS / 2)
                late[i] = got;
            else
                put_on_heap(&h, got);
            if (i < REQUESTS / 4) /* those are made of what has been freed */
                start(f, server, i, address_of("127.0.0.1"));
        }
        for (int i = 0; i < REQUESTS / 2; i++)
            put_on_heap(&h, late[i]);
        fetch_close(f);
        put_on_heap(&h, NULL);
        for (int i = 0; i < 2; i++)
            pthread_join(threads[i], NULL);
        pthread_cond_destroy(&h.changed);
        pthread_mutex_destroy(&h.lock);
    }
    play_end(server);
}

typedef struct baton {
    downloader *f;
    pthread_mutex_t lock;
    int passed;
} baton;

static void *pass_on(void *context)
{
    baton *b = context;
    for (int i = 0; i < WAKES; i++) {
        pthread_mutex_lock(&b->lock);
        b->passed++;
        pthread_mutex_unlock(&b->lock);
        fetch_wake(b->f);
    }
    return NULL;
}

/* Waits without a limit: a wake that got lost would be a test that never ends. */
static void no_wake_is_lost(void **state)
{
    (void)state;
    baton b = {.f = open_fetcher(NULL)};
    pthread_t thread;
    fetch_event event;
    pthread_mutex_init(&b.lock, NULL);
    assert_int_equal(pthread_create(&thread, NULL, pass_on, &b), 0);
    for (int seen = 0; seen < WAKES;) {
        assert_int_equal(fetch_wait(b.f, -1, &event), 0);
        pthread_mutex_lock(&b.lock);
        seen = b.passed;
        pthread_mutex_unlock(&b.lock);
    }
    pthread_join(thread, NULL);
    fetch_close(b.f);
    pthread_mutex_destroy(&b.lock);
}

/* Fetchers share nothing. */
static void *fetch_alone(void *context)
{
    const play_server *server = context;
    downloader *f = NULL;
    fetch_net loopback;
    fetch_net_parse("127.0.0.0/8", &loopback);
    if (fetch_open(&f, &(fetch_options){.allowed = &loopback, .allowed_count = 1}) != VIDI_OK)
        return NULL;
    size_t fine = 0;
    for (int i = 0; i < 20; i++) {
        char url[100];
        fetch_event event;
        snprintf(url, sizeof url, "http://127.0.0.1:%d/%d", server->port, i);
        fetch_request request = {.url = str_of(url), .address = loopback.address};
        request.address.bytes[3] = 1;
        if (fetch_start(f, &request) || fetch_wait(f, PATIENCE_MS, &event) != 1)
            continue;
        fine += event.response->status == 200;
        fetch_response_free(event.response);
    }
    fetch_close(f);
    return fine == 20 ? context : NULL;
}

static void several_fetchers_work_at_once(void **state)
{
    (void)state;
    play_server *server = play_begin(AF_INET, pages, 1);
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, fetch_alone, server), 0);
    for (int i = 0; i < 4; i++) {
        void *result;
        pthread_join(threads[i], &result);
        assert_ptr_equal(result, server);
    }
    play_end(server);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_and_names_go_on_while_others_wake),
        cmocka_unit_test(responses_are_freed_by_any_thread_at_any_time),
        cmocka_unit_test(no_wake_is_lost),
        cmocka_unit_test(several_fetchers_work_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
