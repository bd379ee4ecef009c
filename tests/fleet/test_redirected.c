/*
 * A client of a cluster goes where the slots are, wherever servers send it. The servers are scripts (fake_server.h).
 */
#include <arpa/inet.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fleet/fake_server.h"
#include "support/check.h"

static fake_server servers[FAKES];
static const redis_options usual;

#define SCRIPT(...) ((const char *const[]){__VA_ARGS__, NULL})

/* Answers to CLUSTER SLOTS. The slot of "a" is 15495, that of "b" 3300. */
#define HOST(n) "*2|$9|127.0.0.1|:{" #n "}|"
#define ALL(n) "slots *1|*3|:0|:16383|" HOST(n)
#define HALVES(n, m) "slots *2|*3|:0|:8191|" HOST(n) "*3|:8192|:16383|" HOST(m)

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

static int node_of(redis_client *client, const char *key)
{
    return redis_node_of(client, redis_slot((vidi_str){key, strlen(key)}));
}

static void commands_go_where_their_slots_are(void **state)
{
    (void)state;
    fake_play(&servers[0], SCRIPT(HALVES(0, 1), "< GET b", "< GET {b}c", "> $1|1|$1|2|", "end"));
    fake_play(&servers[1], SCRIPT("< GET a", "> $1|3|", "end"));
    redis_client *client = open_first(usual);
    assert_true(redis_is_cluster(client));
    assert_int_equal(redis_nodes(client), 2);
    assert_int_equal(node_of(client, "b"), 0);
    assert_int_equal(node_of(client, "a"), 1);
    fake_talk(client, "r GET b;r GET a;r GET {b}c", "1;3;2 = 0");
    redis_close(client);
}

static void a_moved_slot_is_followed_and_remembered(void **state)
{
    (void)state;
    fake_play(&servers[0], SCRIPT(ALL(0), "< GET a", HALVES(0, 1), "> -MOVED 15495 127.0.0.1:{1}|", "end"));
    fake_play(&servers[1], SCRIPT(HALVES(0, 1), "< GET a", "> $1|1|", "< GET a", "> $1|2|", "end"));
    redis_client *client = open_first(usual);
    fake_talk(client, "- GET a", "1 = 0");
    assert_int_equal(redis_nodes(client), 2);
    fake_talk(client, "- GET a", "2 = 0");
    redis_close(client);
}

static void without_a_host_it_is_that_of_the_server_that_says_so(void **state)
{
    (void)state;
    fake_play(&servers[0],
              SCRIPT("slots *1|*3|:0|:16383|*2|$0||:{0}|", "< GET a", HALVES(0, 1), "> -MOVED 15495 :{1}|", "end"));
    fake_play(&servers[1], SCRIPT(HALVES(0, 1), "< GET a", "> $1|1|", "end"));
    redis_client *client = open_first(usual);
    fake_talk(client, "- GET a", "1 = 0");
    redis_close(client);
}

static void a_host_may_be_missing_or_unknown(void **state)
{
    (void)state;
    fake_play(&servers[0],
              SCRIPT("slots *2|*3|:0|:8191|*2|$-1|:{0}|*3|:8192|:16383|*4|$1|?|:{1}|$2|id|*2|$2|ip|$9|127.0.0.1|",
                     "< GET b", "> $1|1|", "end"));
    fake_play(&servers[1], SCRIPT("< GET a", "> $1|2|", "end"));
    redis_client *client = open_first(usual);
    fake_talk(client, "- GET b;- GET a", "1;2 = 0");
    redis_close(client);
}

static void a_slot_on_its_way_is_asked_for_once(void **state)
{
    (void)state;
    fake_play(&servers[0], SCRIPT(ALL(0), "< GET a", "< GET {a}b", "> -ASK 15495 127.0.0.1:{1}|$1|2|", "< GET {a}b",
                                  "> $1|3|", "end"));
    fake_play(&servers[1], SCRIPT("< ASKING", "< GET a", "> +OK|$1|1|", "end"));
    redis_client *client = open_first(usual);
    fake_talk(client, "- GET a;- GET {a}b", "1;2 = 0");
    fake_talk(client, "- GET {a}b", "3 = 0");
    redis_close(client);
}

static void whoever_is_told_to_try_again_begins_where_the_slot_is(void **state)
{
    (void)state;
    fake_play(&servers[0], SCRIPT(ALL(0), "< MGET a", "> -ASK 15495 127.0.0.1:{1}|", "< MGET a", "> $1|1|", "end"));
    fake_play(&servers[1], SCRIPT("< ASKING", "< MGET a", "> +OK|-TRYAGAIN Multiple keys|", "end"));
    redis_client *client = open_first(usual);
    fake_talk(client, "- MGET a", "1 = 0");
    redis_close(client);
}

static void servers_that_send_the_client_round_in_circles_do_not_keep_it(void **state)
{
    (void)state;
    fake_play(&servers[0], SCRIPT(ALL(0), "always -MOVED 15495 127.0.0.1:{1}|"));
    fake_play(&servers[1], SCRIPT(ALL(1), "always -MOVED 15495 127.0.0.1:{0}|"));
    redis_client *client = open_first((redis_options){.patience_ms = 50});
    fake_talk(client, "- GET a", "none = -12");
    assert_non_null(strstr(redis_why(client), "redirected again and again"));
    redis_close(client);
}

static void redirections_that_make_no_sense_lead_nowhere(void **state)
{
    (void)state;
    fake_play(&servers[0],
              SCRIPT(ALL(0), "< GET a", "> -MOVED|", "< GET a", "> -MOVED 99999 127.0.0.1:{1}|", "< GET a",
                     "> -MOVED 15495 127.0.0.1:0|", "< GET a", "> -MOVED 15495 127.0.0.1|", "< GET a",
                     "> -ASK 15495 a b:{1}|", "< GET a", "> -MOVED 15495 ?:{1}|", "< GET a", "> $1|1|", "end"));
    redis_client *client = open_first(usual);
    fake_talk(client, "- GET a", "1 = 0");
    redis_close(client);
}

static void what_a_dead_primary_was_asked_its_successor_is_asked_again(void **state)
{
    (void)state;
    fake_play(&servers[0], SCRIPT(HALVES(0, 1), "< GET b", ALL(0), "> $1|2|", "< GET a", "> $1|1|", "end"));
    fake_play(&servers[1], SCRIPT("< GET a", "gone"));
    redis_client *client = open_first(usual);
    fake_talk(client, "r GET a;r GET b", "REPEATED 1;2 = 0");
    redis_close(client);
}

/* It would be waited for ten minutes otherwise. */
static void a_silent_primary_is_given_up_when_it_is_replaced(void **state)
{
    (void)state;
    fake_play(&servers[0], SCRIPT(HALVES(0, 1), "< GET b", ALL(0), "> $1|2|", "< GET a", "> $1|1|", "end"));
    fake_play(&servers[1], SCRIPT(HALVES(0, 1), "< GET a", "hang"));
    redis_client *client = open_first(usual);
    fake_talk(client, "r GET a;r GET b", "REPEATED 1;2 = 0");
    redis_close(client);
}

/* The server has as many connections as it can take. Its system does not answer, as if the machine were gone. */
static void fill_up(const fake_server *server, int taken[2])
{
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK), .sin_port = htons(server->port)};
    assert_int_equal(listen(server->listener, 0), 0);
    for (int i = 0; i < 2; i++) {
        taken[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        (void)connect(taken[i], (struct sockaddr *)&address, sizeof address);
    }
}

static void a_primary_that_cannot_be_connected_to_is_given_up_when_it_is_replaced(void **state)
{
    int taken[2];
    (void)state;
    fill_up(&servers[1], taken);
    fake_play(&servers[0], SCRIPT(HALVES(0, 1), "< GET b", ALL(0), "> $1|2|", "< GET a", "> $1|1|", "end"));
    redis_client *client = open_first((redis_options){.connect_ms = 600000});
    fake_talk(client, "- GET a;- GET b", "1;2 = 0");
    redis_close(client);
    close(taken[0]);
    close(taken[1]);
}

static void a_primary_that_became_a_replica_makes_the_client_ask_for_slots(void **state)
{
    (void)state;
    fake_play(&servers[0], SCRIPT(HALVES(0, 1), "< SET b 1", ALL(0), "> +OK|", "< SET a 1", "> +OK|", "end"));
    fake_play(&servers[1], SCRIPT(ALL(0), "always -READONLY You can't write|"));
    redis_client *client = open_first(usual);
    fake_talk(client, "- SET b 1", "OK = 0");
    fake_talk(client, "- SET a 1", "OK = 0");
    redis_close(client);
}

static void a_slot_without_a_server_is_waited_for(void **state)
{
    (void)state;
    fake_play(&servers[0],
              SCRIPT("slots *1|*3|:0|:8191|" HOST(0), "< GET b", ALL(0), "> $1|2|", "< GET a", "> $1|1|", "end"));
    redis_client *client = open_first(usual);
    fake_talk(client, "- GET a;- GET b", "1;2 = 0");
    redis_close(client);
}

static void the_node_of_an_unknown_slot_is_asked_for(void **state)
{
    (void)state;
    fake_play(&servers[0], SCRIPT("slots *1|*3|:0|:8191|" HOST(0), "< GET b", ALL(0), "> $1|2|", "end"));
    redis_client *client = open_first(usual);
    fake_talk(client, "- GET b", "2 = 0");
    assert_int_equal(node_of(client, "a"), 0);
    redis_close(client);
}

static void what_is_wrong_about_slots_is_ignored(void **state)
{
    (void)state;
    fake_play(&servers[0], SCRIPT("slots *8|*0|:5|*3|:0|:99999|" HOST(1) "*3|:-1|:5|" HOST(1) "*3|:9|:5|" HOST(
                                      1) "*3|:0|:16383|*1|$1|h|*3|:0|:16383|*2|$3|a b|:70000|*3|:0|:8191|" HOST(0),
                                  "< GET b", ALL(0), "> $1|2|", "< GET a", "> $1|1|", "end"));
    redis_client *client = open_first(usual);
    assert_int_equal(redis_nodes(client), 1);
    fake_talk(client, "- GET a;- GET b", "1;2 = 0");
    redis_close(client);
}

static void commands_without_a_key_go_to_any_primary(void **state)
{
    (void)state;
    fake_play(&servers[0], SCRIPT("slots *1|*3|:0|:16383|" HOST(1), "end"));
    fake_play(&servers[1], SCRIPT("< PING", "> +PONG|", "end"));
    redis_client *client = open_first(usual);
    fake_talk(client, "ra PING", "PONG = 0");
    redis_close(client);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(commands_go_where_their_slots_are, begin, end),
        cmocka_unit_test_setup_teardown(a_moved_slot_is_followed_and_remembered, begin, end),
        cmocka_unit_test_setup_teardown(without_a_host_it_is_that_of_the_server_that_says_so, begin, end),
        cmocka_unit_test_setup_teardown(a_host_may_be_missing_or_unknown, begin, end),
        cmocka_unit_test_setup_teardown(a_slot_on_its_way_is_asked_for_once, begin, end),
        cmocka_unit_test_setup_teardown(whoever_is_told_to_try_again_begins_where_the_slot_is, begin, end),
        cmocka_unit_test_setup_teardown(servers_that_send_the_client_round_in_circles_do_not_keep_it, begin, end),
        cmocka_unit_test_setup_teardown(redirections_that_make_no_sense_lead_nowhere, begin, end),
        cmocka_unit_test_setup_teardown(what_a_dead_primary_was_asked_its_successor_is_asked_again, begin, end),
        cmocka_unit_test_setup_teardown(a_silent_primary_is_given_up_when_it_is_replaced, begin, end),
        cmocka_unit_test_setup_teardown(a_primary_that_cannot_be_connected_to_is_given_up_when_it_is_replaced, begin,
                                        end),
        cmocka_unit_test_setup_teardown(a_primary_that_became_a_replica_makes_the_client_ask_for_slots, begin, end),
        cmocka_unit_test_setup_teardown(a_slot_without_a_server_is_waited_for, begin, end),
        cmocka_unit_test_setup_teardown(the_node_of_an_unknown_slot_is_asked_for, begin, end),
        cmocka_unit_test_setup_teardown(what_is_wrong_about_slots_is_ignored, begin, end),
        cmocka_unit_test_setup_teardown(commands_without_a_key_go_to_any_primary, begin, end),
    };
    return cmocka_run_group_tests_name("a client of a cluster", tests, NULL, NULL);
}
