/*
 * Memory may run out at any allocation of a client: then opening or a run fails with VIDI_EMEMORY, or the connection is lost
 * and the command is sent again; and the client can be used afterwards. The sanitizer sees what is not freed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fleet/fake_server.h"
#include "support/check.h"

static fake_server servers[FAKES];

/* Allocations of this thread, the client's, until one fails; those of the server do not count. */
static _Thread_local long left = -1; /* negative: all succeed */

static bool may_allocate(void)
{
    return left < 0 || left-- > 0;
}

#define WRAP(result, name, parameters, arguments)                                                                      \
    result __real_##name parameters;                                                                                   \
    result __wrap_##name parameters;                                                                                   \
    result __wrap_##name parameters                                                                                    \
    {                                                                                                                  \
        return may_allocate() ? __real_##name arguments : NULL;                                                        \
    }

WRAP(void *, malloc, (size_t size), (size))
WRAP(void *, calloc, (size_t count, size_t size), (count, size))
WRAP(void *, realloc, (void *block, size_t size), (block, size))
WRAP(char *, strdup, (const char *text), (text))
WRAP(char *, strndup, (const char *text, size_t n), (text, n))

/* Opens a client and runs commands, a long one among them, without the n-th allocation. False if there are not so many. */
static bool run_without(const char *address, long n)
{
    static char value[300000];
    vidi_str get[] = {{"GET", 3}, {"a", 1}}, set[] = {{"SET", 3}, {"b", 1}, {value, sizeof value}};
    redis_call calls[] = {{.words = get, .count = 2, .slot = 15495, .repeatable = true},
                          {.words = set, .count = 3, .slot = 3300, .repeatable = true, .writes = true}};
    redis_options options = {.wait_replicas = 1};
    redis_client *client;
    char why[REDIS_WHY] = "", *name;

    left = n;
    int error = redis_open(&client, address, &options, &name, why);
    if (error) {
        check((error == VIDI_EMEMORY || error == VIDI_EIO) && why[0] && left < 0, "without allocation %ld: %d %s", n,
              error, why);
        return true;
    }
    free(name);
    error = redis_run(client, calls, 2);
    bool was_missed = left < 0;
    left = -1;
    check(error == VIDI_OK ? calls[0].reply && calls[1].reply : error == VIDI_EMEMORY && was_missed,
          "without allocation %ld: %d %s", n, error, redis_why(client));
    error = redis_run(client, calls, 2);
    check(error == VIDI_OK && calls[0].reply && calls[1].reply, "after allocation %ld: %d %s", n, error,
          redis_why(client));
    redis_close(client);
    return was_missed;
}

static void any_allocation_may_fail(void **state)
{
    static const char *const script[] = {
        "slots *2|*3|:0|:8191|*2|$9|127.0.0.1|:{0}|*3|:8192|:16383|*2|$9|127.0.0.1|:{0}|", "always :1|", NULL};
    char address[100];
    long n = 0;

    (void)state;
    fake_listen(servers);
    fake_play(&servers[0], script);
    snprintf(address, sizeof address, "redis://:p@127.0.0.1:%u/x", (unsigned)servers[0].port);
    while (run_without(address, n))
        n++;
    check(n > 10, "%ld allocations", n);
    fake_end(servers);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(any_allocation_may_fail)};
    return cmocka_run_group_tests_name("a client without memory", tests, NULL, NULL);
}
