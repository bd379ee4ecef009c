/*
 * A process that may open few files: connections are kept within that, and a socket that cannot be opened is not blamed
 * on the server. The downloader runs in a process of its own, because its server has sockets, too.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "crawler/fetch/fetching.h"

enum { FILES = 48, HOSTS = 200 };

static const play_page pages[] = {{"/", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", 0, PLAY_KEEP, NULL}};

static bool allow_files(rlim_t most)
{
    struct rlimit files = {.rlim_cur = most, .rlim_max = most};

    return setrlimit(RLIMIT_NOFILE, &files) == 0;
}

static bool start(downloader *f, int port, int host)
{
    char url[100];

    snprintf(url, sizeof url, "http://h%d.example:%d/", host, port);
    fetch_request request = {.url = str_of(url), .address = {{127, 0, 0, 1}, 4}};
    return fetch_start(f, &request) == VIDI_OK;
}

static fetch_failure await(downloader *f)
{
    fetch_event event;

    if (fetch_wait(f, PATIENCE_MS, &event) != 1)
        return FETCH_TIMEOUT;
    fetch_failure failure = event.response->failure;
    if (failure != FETCH_FINE)
        fprintf(stderr, "# %s: %s\n", fetch_reason(failure), event.response->why);
    fetch_response_free(event.response);
    return failure;
}

/* ---- what the other process does; true: all is well ---- */

/* One host after the other, each with a connection that could be kept. */
static bool ask_in_turn(int port)
{
    if (!allow_files(FILES))
        return false;
    downloader *f = open_fetcher(NULL);
    bool fine = true;
    for (int i = 0; i < HOSTS && fine; i++)
        fine = start(f, port, i) && await(f) == FETCH_FINE;
    fetch_close(f);
    return fine;
}

static bool ask_at_once(int port)
{
    if (!allow_files(FILES))
        return false;
    downloader *f = open_fetcher(&(fetch_options){.connections = HOSTS});
    bool fine = true;
    for (int i = 0; i < HOSTS && fine; i++)
        fine = start(f, port, i);
    for (int i = 0; i < HOSTS && fine; i++)
        fine = await(f) == FETCH_FINE;
    fetch_close(f);
    return fine;
}

/* The files are used up by others. */
static bool ask_without_sockets(int port)
{
    downloader *f = open_fetcher(NULL);
    int next = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (next < 0 || !allow_files((rlim_t)next + 1))
        return false;
    bool fine = start(f, port, 1) && await(f) == FETCH_MEMORY;
    close(next); /* now there is one */
    fine = fine && start(f, port, 1) && await(f) == FETCH_FINE;
    fetch_close(f);
    return fine;
}

/*
 * The test runs in a child, which is forked before the server's threads begin: a thread that allocates at that moment
 * would leave the child with a locked allocator. The port comes through a pipe.
 */
static void run_elsewhere(bool (*test)(int port))
{
    int status, port, ends[2];

    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        close(ends[1]);
        bool known = read(ends[0], &port, sizeof port) == sizeof port;
        close(ends[0]);
        _exit(known && test(port) ? 0 : 1);
    }
    play_server *server = play_begin(AF_INET, pages, sizeof pages / sizeof pages[0]);
    assert_non_null(server);
    assert_int_equal(write(ends[1], &server->port, sizeof server->port), sizeof server->port);
    close(ends[0]);
    close(ends[1]);
    while (waitpid(child, &status, 0) < 0)
        assert_int_equal(errno, EINTR);
    play_end(server);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* ---- the tests ---- */

static void kept_connections_leave_room_for_others(void **state)
{
    (void)state;
    run_elsewhere(ask_in_turn);
}

static void no_more_requests_run_than_there_are_sockets(void **state)
{
    (void)state;
    run_elsewhere(ask_at_once);
}

static void a_missing_socket_is_not_the_servers_fault(void **state)
{
    (void)state;
    run_elsewhere(ask_without_sockets);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kept_connections_leave_room_for_others),
        cmocka_unit_test(no_more_requests_run_than_there_are_sockets),
        cmocka_unit_test(a_missing_socket_is_not_the_servers_fault),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
