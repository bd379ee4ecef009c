/*
 * A client of a single server: what it sends, what it makes of the answers, and what becomes of commands when connections
 * are lost. The server is a script (fake_server.h).
 */
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "fleet/fake_server.h"
#include "support/check.h"

static fake_server servers[FAKES];
static const redis_options usual;

#define SCRIPT(...) ((const char *const[]){__VA_ARGS__, NULL})

/* Without MSG_NOSIGNAL a server that has gone would end the program. */
ssize_t __real_send(int socket, const void *from, size_t n, int flags);
ssize_t __wrap_send(int socket, const void *from, size_t n, int flags);
ssize_t __wrap_send(int socket, const void *from, size_t n, int flags)
{
    check(flags & MSG_NOSIGNAL, "send without MSG_NOSIGNAL");
    return __real_send(socket, from, n, flags);
}

static int begin(void **state)
{
    (void)state;
    fake_listen(servers);
    return 0;
}

static int end(void **state)
{
    (void)state;
    fake_end(servers);
    return 0;
}

static redis_client *open_first(redis_options options)
{
    return fake_open(servers, "redis://127.0.0.1:{0}/x", options);
}

static void replies_belong_to_their_commands(void **state)
{
    (void)state;
    fake_play(&servers[0], SCRIPT("< SET a 1", "< GET a", "< LIST", "< GET b", "> +OK|$1|1|",
                                  "~ *3|:1|*2|$-1|$3|a||-E e|", "> $-1|", "< BAD", "> -WRONGSET no|", "end"));
    redis_client *client = open_first(usual);
    assert_false(redis_is_cluster(client));
    assert_int_equal(redis_nodes(client), 1);
    assert_int_equal(redis_node_of(client, 7), 0);
    fake_talk(client, "r SET a 1;r GET a;ra LIST;r GET b", "OK;1;[1 [nil a\r\n] -E e];nil = 0");
    fake_talk(client, "- BAD", "-WRONGSET no = 0");
    redis_close(client);
}

static void user_and_password_come_first_on_each_connection(void **state)
{
    (void)state;
    fake_play(&servers[0], SCRIPT("< AUTH me s/ecret", "> +OK|", "< GET a", "close", "< AUTH me s/ecret", "~ +OK|",
                                  "< GET a", "> $1|1|", "end"));
    redis_client *client = fake_open(servers, "redis://me:s%2Fecret@127.0.0.1:{0}/x", usual);
    fake_talk(client, "r GET a", "REPEATED 1 = 0");
    redis_close(client);
}

static void a_refused_password_is_an_error_at_once_and_not_shown(void **state)
{
    redis_client *client;
    char why[REDIS_WHY], address[100];

    (void)state;
    fake_play(&servers[0], SCRIPT("< AUTH sekret", "> -WRONGPASS invalid|", "end"));
    snprintf(address, sizeof address, "redis://:sekret@127.0.0.1:%u/x", (unsigned)servers[0].port);
    assert_int_equal(redis_open(&client, address, &usual, NULL, why), VIDI_EIO);
    assert_null(client);
    assert_non_null(strstr(why, "does not accept user or password: WRONGPASS"));
    assert_null(strstr(why, "sekret"));
}

static void hosts_are_tried_in_turn(void **state)
{
    redis_client *client;
    char why[REDIS_WHY], address[100];

    (void)state;
    fake_play(&servers[0], SCRIPT("gone"));
    fake_await(&servers[0], 1);
    fake_play(&servers[1], SCRIPT("< GET a", "> $1|1|", "end"));
    client = fake_open(servers, "redis://127.0.0.1:{0},127.0.0.1:{1}/x", usual);
    fake_talk(client, "r GET a", "1 = 0");
    redis_close(client);
    snprintf(address, sizeof address, "redis://127.0.0.1:%u/x", (unsigned)servers[0].port);
    assert_int_equal(redis_open(&client, address, &usual, NULL, why), VIDI_EIO); /* does not wait for one to come */
    assert_non_null(strstr(why, "Connection refused"));
}

static void a_server_that_is_loading_is_waited_for(void **state)
{
    (void)state;
    fake_play(&servers[0], SCRIPT("slots -LOADING Redis is loading|", "< AUTH p", "> +OK|", "loaded", "< GET a",
                                  "> -LOADING Redis is loading|", "< GET a", "> $1|1|", "end"));
    redis_client *client = fake_open(servers, "redis://:p@127.0.0.1:{0}/x", usual);
    fake_talk(client, "- GET a", "1 = 0");
    redis_close(client);
}

static void what_heals_is_waited_for_and_sent_again(void **state)
{
    (void)state;
    fake_play(&servers[0],
              SCRIPT("< GET a", "> -TRYAGAIN Multiple keys|", "< GET a", "> -BUSY a script|", "< GET a",
                     "> -CLUSTERDOWN x|", "< GET a", "> -NOREPLICAS Not enough|", "< GET a", "> -MASTERDOWN Link|",
                     "< GET a", "> -UNBLOCKED force|", "< GET a", "> $1|1|", "end"));
    redis_client *client = open_first(usual);
    fake_talk(client, "- GET a", "1 = 0"); /* none of them has executed it, so it need not be repeatable */
    redis_close(client);
}

static void patience_ends_with_the_reason(void **state)
{
    (void)state;
    fake_play(&servers[0], SCRIPT("< GET a", "< GET b", "> -BUSY a script runs|$1|2|", "< GET a",
                                  "> -BUSY a script runs|", "< GET c", "> $1|3|", "end"));
    redis_client *client = open_first((redis_options){.patience_ms = 1});
    fake_talk(client, "- GET a;- GET b", "none;2 = -12");
    assert_non_null(strstr(redis_why(client), "BUSY a script runs"));
    fake_talk(client, "- GET c", "3 = 0"); /* the client can still be used */
    redis_close(client);
}

static void a_command_whose_reply_is_lost_is_sent_again_if_it_may_be(void **state)
{
    (void)state;
    fake_play(&servers[0], SCRIPT("< GET a", "< GET b", "> $1|1|$1|", "close", "< GET b", "~ $1|2|", "< GET c", "reset",
                                  "< GET c", "> *2|:1|*2|:1|", "close", "< GET c", "> $1|3|", "end"));
    redis_client *client = open_first(usual);
    fake_talk(client, "r GET a;r GET b", "1;REPEATED 2 = 0");
    fake_talk(client, "r GET c", "REPEATED 3 = 0");
    redis_close(client);
}

static void a_command_that_may_not_be_repeated_ends_without_a_reply(void **state)
{
    (void)state;
    fake_play(&servers[0], SCRIPT("< DO a", "< DO b", "< DO c", "> +first|", "close", "< DO d", "> +fourth|", "end"));
    redis_client *client = open_first(usual);
    fake_talk(client, "r DO a;- DO b;r DO c", "first;none;none = -9");
    assert_non_null(strstr(redis_why(client), "whether DO was executed is not known"));
    fake_talk(client, "- DO d", "fourth = 0");
    redis_close(client);
}

/* The system cannot have taken all of the long command, so the server cannot have executed it. */
static void what_was_not_handed_over_was_not_executed(void **state)
{
    (void)state;
    fake_play(&servers[0], SCRIPT("< GET a", "> $1|1|", "reset", "< SET b (33554432)", "> +OK|", "end"));
    redis_client *client = open_first(usual);
    fake_talk(client, "r GET a;- SET b (33554432)", "1;OK = 0");
    redis_close(client);
}

static void a_connection_that_was_closed_meanwhile_is_not_used(void **state)
{
    (void)state;
    fake_play(&servers[0], SCRIPT("< DO a", "> +1|", "close", "< DO b", "> +2|", "end"));
    redis_client *client = open_first(usual);
    fake_talk(client, "- DO a", "1 = 0");
    fake_await(&servers[0], 3);
    fake_talk(client, "- DO b", "2 = 0");
    redis_close(client);
}

static void what_nobody_asked_for_ends_the_connection(void **state)
{
    (void)state;
    fake_play(&servers[0], SCRIPT("< DO a", "> +1|+unasked|", "end", "< DO b", "> +2|", "end"));
    redis_client *client = open_first(usual);
    fake_talk(client, "- DO a", "1 = 0");
    fake_talk(client, "- DO b", "2 = 0"); /* not "unasked" */
    redis_close(client);
}

static void what_is_not_a_reply_ends_the_connection(void **state)
{
    static const char *const wrong[] = {
        "> hello|",
        "> $99999999999|",
        "> *1000000000|",
        "> :99999999999999999999|",
        "> *1|*1|*1|*1|*1|*1|*1|*1|*1|:1|",
        "> %1|+a|+b|",
        "> $1|xyz|",
    };
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        if (i > 0)
            fake_listen(servers);
        fake_play(&servers[0], SCRIPT("< GET a", wrong[i], "hang", "< GET a", "> $1|1|", "end"));
        redis_client *client = open_first(usual);
        fake_talk(client, "r GET a", "REPEATED 1 = 0");
        redis_close(client);
        if (i + 1 < sizeof wrong / sizeof *wrong)
            fake_end(servers);
    }
}

static void a_server_that_is_silent_for_too_long_is_given_up(void **state)
{
    (void)state;
    fake_play(&servers[0], SCRIPT("< GET a", "> $100|part", "hang", "< GET a", "> $1|1|", "end"));
    redis_client *client = open_first((redis_options){.reply_ms = 100});
    fake_talk(client, "r GET a", "REPEATED 1 = 0");
    redis_close(client);
}

static void a_replica_makes_the_client_try_the_next_host(void **state)
{
    (void)state;
    fake_play(&servers[0], SCRIPT("< SET a 1", "> -READONLY You can't write|", "< SET a 2", "> +OK|", "end"));
    fake_play(&servers[1], SCRIPT("< SET a 1", "> +OK|", "close", "gone"));
    redis_client *client = fake_open(servers, "redis://127.0.0.1:{0},127.0.0.1:{1}/x", usual);
    fake_talk(client, "- SET a 1", "OK = 0");
    fake_await(&servers[1], 4);
    fake_talk(client, "- SET a 2", "OK = 0");
    redis_close(client);
}

static void many_commands_go_both_ways_at_once(void **state)
{
    enum { COMMANDS = 20000 };
    static const char *lines[2 * COMMANDS + 2];
    talk talk = {0};
    bytes replies = {0};

    (void)state;
    for (int i = 0; i < COMMANDS; i++) { /* more than a window of replies, each with more bytes than its command */
        lines[2 * i] = "< GET (100)";
        lines[2 * i + 1] = "> $10|0123456789|";
        talk_add(&talk, "r GET (100)");
    }
    lines[2 * COMMANDS] = "end";
    fake_play(&servers[0], lines);
    redis_client *client = open_first(usual);
    assert_int_equal(talk_run(&talk, client, &replies, "|"), VIDI_OK);
    assert_int_equal(replies.len, 11 * COMMANDS);
    bytes_free(&replies);
    redis_close(client);
}

static void *hurry(void *client)
{
    fake_await(&servers[0], 1);
    redis_hurry(client, 100);
    return NULL;
}

static void whoever_is_told_to_hurry_does_not_wait_for_long(void **state)
{
    pthread_t thread;
    (void)state;
    fake_play(&servers[0], SCRIPT("< GET a", "hang", "gone"));
    redis_client *client = open_first(usual); /* ten minutes of patience */
    assert_int_equal(pthread_create(&thread, NULL, hurry, client), 0);
    fake_talk(client, "r GET a", "REPEATED none = -9");
    pthread_join(thread, NULL);
    redis_close(client);
}

static void what_makes_no_sense_is_refused(void **state)
{
    redis_call call = {0};
    vidi_str word = {"PING", 8423};
    (void)state;
    fake_play(&servers[0], SCRIPT("end"));
    redis_client *client = open_first(usual);
    assert_int_equal(redis_run(client, &call, 1), VIDI_EARGUMENT);
    call = (redis_call){.words = &word, .count = 1, .slot = REDIS_SLOTS};
    assert_int_equal(redis_run(client, &call, 1), VIDI_EARGUMENT);
    assert_int_equal(redis_run(client, NULL, 0), VIDI_OK);
    assert_int_equal(redis_node_of(client, -1), VIDI_EARGUMENT);
    assert_int_equal(redis_node_of(client, REDIS_SLOTS), VIDI_EARGUMENT);
    redis_close(client);
    redis_close(NULL);
}

static void slots_are_those_of_the_servers(void **state)
{
    static const struct {
        const char *key;
        int slot;
    } cases[] = {
        /* CLUSTER KEYSLOT of Redis 7.0 */
        {"", 0},         {"123456789", 12739}, {"foo", 12182},     {"{foo}", 12182}, {"a{foo}b{bar}", 12182},
        {"a{}b", 13694}, {"{}", 15257},        {"a{{foo}", 13308}, {"{foo", 13308},  {"}{foo}", 12182},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check(redis_slot((vidi_str){cases[i].key, strlen(cases[i].key)}) == cases[i].slot, "%s: %d", cases[i].key,
              redis_slot((vidi_str){cases[i].key, strlen(cases[i].key)}));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(replies_belong_to_their_commands, begin, end),
        cmocka_unit_test_setup_teardown(user_and_password_come_first_on_each_connection, begin, end),
        cmocka_unit_test_setup_teardown(a_refused_password_is_an_error_at_once_and_not_shown, begin, end),
        cmocka_unit_test_setup_teardown(hosts_are_tried_in_turn, begin, end),
        cmocka_unit_test_setup_teardown(a_server_that_is_loading_is_waited_for, begin, end),
        cmocka_unit_test_setup_teardown(what_heals_is_waited_for_and_sent_again, begin, end),
        cmocka_unit_test_setup_teardown(patience_ends_with_the_reason, begin, end),
        cmocka_unit_test_setup_teardown(a_command_whose_reply_is_lost_is_sent_again_if_it_may_be, begin, end),
        cmocka_unit_test_setup_teardown(a_command_that_may_not_be_repeated_ends_without_a_reply, begin, end),
        cmocka_unit_test_setup_teardown(what_was_not_handed_over_was_not_executed, begin, end),
        cmocka_unit_test_setup_teardown(a_connection_that_was_closed_meanwhile_is_not_used, begin, end),
        cmocka_unit_test_setup_teardown(what_nobody_asked_for_ends_the_connection, begin, end),
        cmocka_unit_test_setup_teardown(what_is_not_a_reply_ends_the_connection, begin, end),
        cmocka_unit_test_setup_teardown(a_server_that_is_silent_for_too_long_is_given_up, begin, end),
        cmocka_unit_test_setup_teardown(a_replica_makes_the_client_try_the_next_host, begin, end),
        cmocka_unit_test_setup_teardown(many_commands_go_both_ways_at_once, begin, end),
        cmocka_unit_test_setup_teardown(whoever_is_told_to_hurry_does_not_wait_for_long, begin, end),
        cmocka_unit_test_setup_teardown(what_makes_no_sense_is_refused, begin, end),
        cmocka_unit_test(slots_are_those_of_the_servers),
    };
    return cmocka_run_group_tests_name("a client of one server", tests, NULL, NULL);
}
