/*
 * A write counts only when enough replicas have it, whatever happens before that is known. The servers are scripts
 * (fake_server.h).
 */
#include <string.h>

#include "fleet/fake_server.h"
#include "support/check.h"

static fake_server servers[FAKES];
static const redis_options one = {.wait_replicas = 1};

#define SCRIPT(...) ((const char *const[]){__VA_ARGS__, NULL})
#define HOST(n) "*2|$9|127.0.0.1|:{" #n "}|"
#define ALL(n) "slots *1|*3|:0|:16383|" HOST(n)
#define HALVES(n, m) "slots *2|*3|:0|:8191|" HOST(n) "*3|:8192|:16383|" HOST(m)

/* What INFO replication says when the primary is at one offset and its replicas are at others. */
#define INFO(primary, first, second)                                                                                   \
    "info # Replication|role:master|slave0:ip=h,port=1,state=online,offset=" #first ",lag=0|"                          \
    "slave1:ip=h,port=2,state=online,offset=" #second ",lag=1|master_repl_offset:" #primary "|"

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

static void writes_are_followed_by_one_question_and_reads_by_none(void **state)
{
    (void)state;
    fake_play(&servers[0], SCRIPT("< SET a 1", "< GET b", "< SET c 1", "< WAIT 1 1000", "> +OK|$-1|+OK|:1|", "< GET a",
                                  "> $1|1|", "< SET d 1", "< WAIT 1 1000", "> +OK|:3|", "end"));
    redis_client *client = open_first(one);
    fake_talk(client, "rw SET a 1;r GET b;rw SET c 1", "OK;nil;OK = 0");
    fake_talk(client, "r GET a", "1 = 0");
    fake_talk(client, "rw SET d 1", "OK = 0");
    redis_close(client);
}

static void the_question_is_asked_until_enough_replicas_have_it(void **state)
{
    (void)state;
    fake_play(&servers[0], SCRIPT("< SET a 1", "< WAIT 2 1000", "> +OK|:0|", "< WAIT 2 1000", "> :1|", "< WAIT 2 1000",
                                  "> :2|", "end"));
    redis_client *client = open_first((redis_options){.wait_replicas = 2});
    fake_talk(client, "w SET a 1", "OK = 0");
    redis_close(client);
}

static void a_write_that_does_not_reach_replicas_has_no_reply(void **state)
{
    (void)state;
    fake_play(&servers[0], SCRIPT("< SET a 1", "< WAIT 1 1000", "> +OK|:0|", "always :0|"));
    redis_client *client = open_first((redis_options){.wait_replicas = 1, .patience_ms = 1});
    fake_talk(client, "rw SET a 1", "none = -12");
    assert_non_null(strstr(redis_why(client), "0 of 1 replicas"));
    redis_close(client);
}

static void an_error_is_an_answer_without_replicas(void **state)
{
    (void)state;
    fake_play(&servers[0], SCRIPT("< SET a 1", "< WAIT 1 1000", "> -OOM no room|", "hang"));
    redis_client *client = open_first(one);
    fake_talk(client, "rw SET a 1", "-OOM no room = 0");
    redis_close(client);
}

/*
 * WAIT on the new connection is content at once, because the second SET may have changed nothing. So the offset after it
 * counts, 50; what the primary writes later, up to 70, need not be waited for.
 */
static void a_write_sent_again_is_confirmed_by_offsets(void **state)
{
    (void)state;
    fake_play(&servers[0],
              SCRIPT("< SET a 1", "< WAIT 1 1000", "> +OK|", "close", "< SET a 1", "< WAIT 1 1000",
                     "< INFO replication", "> +OK|:2|", INFO(50, 49, 10), "< WAIT 1 1000", "< INFO replication",
                     "> :2|", INFO(60, 10, 49), "< WAIT 1 1000", "< INFO replication", "> :2|", INFO(70, 49, 50),
                     "< SET b 1", "< WAIT 1 1000", "> +OK|:1|", "end"));
    redis_client *client = open_first(one);
    fake_talk(client, "rw SET a 1", "REPEATED OK = 0");
    fake_talk(client, "rw SET b 1", "OK = 0");
    redis_close(client);
}

static void replicas_that_are_not_online_do_not_count(void **state)
{
    (void)state;
    fake_play(&servers[0], SCRIPT("< SET a 1", "close", "< SET a 1", "< WAIT 2 1000", "< INFO replication", "> +OK|:2|",
                                  "info role:master|slave0:ip=h,port=1,state=wait_bgsave,offset=50,lag=0|"
                                  "slave1:ip=h,port=1,state=online,offset=50,lag=0|master_repl_offset:50|",
                                  "< WAIT 2 1000", "< INFO replication", "> :2|", INFO(50, 51, 50), "end"));
    redis_client *client = open_first((redis_options){.wait_replicas = 2});
    fake_talk(client, "rw SET a 1", "REPEATED OK = 0");
    redis_close(client);
}

static void a_user_who_may_not_ask_for_offsets_gets_what_wait_says(void **state)
{
    (void)state;
    fake_play(&servers[0],
              SCRIPT("< SET a 1", "close", "< SET a 1", "< WAIT 1 1000", "< INFO replication", "> +OK|:0|-NOPERM no|",
                     "< WAIT 1 1000", "< INFO replication", "> :1|-NOPERM no|", "end"));
    redis_client *client = open_first(one);
    fake_talk(client, "rw SET a 1", "REPEATED OK = 0");
    redis_close(client);
}

static void a_write_that_may_not_be_repeated_ends_without_a_reply(void **state)
{
    (void)state;
    fake_play(&servers[0], SCRIPT("< DO a", "< WAIT 1 1000", "> +OK|", "close", "< GET a", "> $1|1|", "end"));
    redis_client *client = open_first(one);
    fake_talk(client, "w DO a", "none = -9");
    fake_talk(client, "r GET a", "1 = 0");
    redis_close(client);
}

static void a_primary_that_cannot_wait_any_more_is_left(void **state)
{
    (void)state;
    fake_play(&servers[0],
              SCRIPT("< SET a 1", "< WAIT 1 1000", "> +OK|-UNBLOCKED became a replica|", "end", "< SET a 1",
                     "< WAIT 1 1000", "< INFO replication", "> +OK|:1|", INFO(5, 5, 5), "end"));
    redis_client *client = open_first(one);
    fake_talk(client, "rw SET a 1", "REPEATED OK = 0");
    redis_close(client);
}

/* The old primary still answers, but nobody follows it. */
static void what_a_primary_was_told_is_told_its_successor(void **state)
{
    (void)state;
    fake_play(&servers[0], SCRIPT(HALVES(0, 1), "< GET b", ALL(0), "> $1|2|", "< SET a 1", "< WAIT 1 1000",
                                  "< INFO replication", "> +OK|:1|", INFO(5, 5, 5), "end"));
    fake_play(&servers[1], SCRIPT(ALL(0), "< SET a 1", "< WAIT 1 1000", "> +OK|:0|", "always :0|"));
    redis_client *client = open_first(one);
    fake_talk(client, "rw SET a 1;r GET b", "REPEATED OK;2 = 0");
    redis_close(client);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(writes_are_followed_by_one_question_and_reads_by_none, begin, end),
        cmocka_unit_test_setup_teardown(the_question_is_asked_until_enough_replicas_have_it, begin, end),
        cmocka_unit_test_setup_teardown(a_write_that_does_not_reach_replicas_has_no_reply, begin, end),
        cmocka_unit_test_setup_teardown(an_error_is_an_answer_without_replicas, begin, end),
        cmocka_unit_test_setup_teardown(a_write_sent_again_is_confirmed_by_offsets, begin, end),
        cmocka_unit_test_setup_teardown(replicas_that_are_not_online_do_not_count, begin, end),
        cmocka_unit_test_setup_teardown(a_user_who_may_not_ask_for_offsets_gets_what_wait_says, begin, end),
        cmocka_unit_test_setup_teardown(a_write_that_may_not_be_repeated_ends_without_a_reply, begin, end),
        cmocka_unit_test_setup_teardown(a_primary_that_cannot_wait_any_more_is_left, begin, end),
        cmocka_unit_test_setup_teardown(what_a_primary_was_told_is_told_its_successor, begin, end),
    };
    return cmocka_run_group_tests_name("writes that replicas must have", tests, NULL, NULL);
}
