/* Members of a spatial set in processes of their own: they answer as one set does, and none is left behind. */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include "lab/engine/run_memory.h"
#include "lab/thesis/further.h"
#include "support/runner.h"

static const lab_settings usual = {.urls = 8000, .runs = 1, .seed = 3, .threads = 1};

#define PARAMS "k=3,M=2.0,mode=salted,hash=jenkins"
enum { MEMBERS = 2, URLS = 2000 };

static void no_child_is_left(void)
{
    errno = 0;
    check(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD, "a process is left behind");
}

/* How many of URLS adds and as many questions one set of run 0 answers otherwise than members of `run`. */
static uint64_t count_differences(uint64_t run)
{
    LAB_BLOCK;
    lab_texts texts;
    lab_members members;
    vidi_set *set;
    uint8_t here[URLS], there[URLS];
    uint64_t differ = 0;
    assert_int_equal(lab_texts_make(&texts, &usual, 0, 0, 2 * URLS), 0);
    assert_int_equal(lab_members_start(&members, &usual, run, MEMBERS, PARAMS, URLS / 2), 0);
    assert_int_equal(lab_set_make(&set, &usual, 0, "spatial", "F=2," PARAMS, URLS / 2), 0);
    for (int asks = 0; asks < 2; asks++) {
        const vidi_str *urls = texts.urls + (size_t)asks * URLS;
        assert_int_equal((asks ? lab_members_ask : lab_members_add)(&members, urls, URLS, there), 0);
        for (size_t i = 0; i < URLS; i++) {
            here[i] = (uint8_t)(asks ? vidi_has(set, urls[i]) : vidi_add(set, urls[i]));
            differ += here[i] != there[i];
        }
    }
    assert_int_equal(lab_members_stop(&members), 0);
    vidi_close(set);
    return differ;
}

static void processes_answer_as_one_set(void **state)
{
    (void)state;
    assert_int_equal(count_differences(0), 0);
    check(count_differences(1) > URLS / 100, "members with other salts give the same answers");
    no_child_is_left();
}

static void a_member_that_dies_is_an_error(void **state)
{
    LAB_BLOCK;
    lab_members members;
    lab_texts texts;
    uint8_t verdicts[LAB_BATCH_MAX];
    (void)state;
    assert_int_equal(lab_texts_make(&texts, &usual, 0, 0, LAB_BATCH_MAX), 0);
    assert_int_equal(lab_members_start(&members, &usual, 0, 3, PARAMS, 1000), 0);
    assert_int_equal(lab_members_add(&members, texts.urls, 10, verdicts), 0);
    kill(members.processes[1], SIGKILL);
    int code = VIDI_OK;
    for (int i = 0; i < 3 && code == VIDI_OK; i++) /* it may just have been able to answer once more */
        code = lab_members_ask(&members, texts.urls, LAB_BATCH_MAX, verdicts);
    assert_int_equal(code, VIDI_ESYSTEM);
    assert_int_equal(lab_members_stop(&members), VIDI_ESYSTEM);
    no_child_is_left();
}

static void a_member_that_cannot_start_says_why(void **state)
{
    lab_members members;
    (void)state;
    assert_int_equal(lab_members_start(&members, &usual, 0, 3, "k=3,colour=red", 1000), VIDI_EOPTION);
    check(strstr(vidi_message(), "colour") != NULL, "the message is: %s", vidi_message());
    assert_true(lab_members_stop(&members) < 0);
    no_child_is_left();
    assert_int_equal(lab_members_start(&members, &usual, 0, LAB_MEMBERS_MAX + 1, PARAMS, 1000), VIDI_EARGUMENT);
    assert_int_equal(lab_members_stop(&members), 0);
}

static void a_batch_that_is_too_large_is_refused(void **state)
{
    static vidi_str many[LAB_BATCH_MAX + 1];
    static uint8_t verdicts[LAB_BATCH_MAX + 1];
    lab_members members;
    (void)state;
    assert_int_equal(lab_members_start(&members, &usual, 0, 1, PARAMS, 1000), 0);
    assert_int_equal(lab_members_ask(&members, many, LAB_BATCH_MAX + 1, verdicts), VIDI_EARGUMENT);
    many[0] = (vidi_str){(const char *)many, LAB_URL_ROOM + 1};
    assert_int_equal(lab_members_ask(&members, many, 1, verdicts), VIDI_EARGUMENT);
    assert_int_equal(lab_members_stop(&members), 0);
    no_child_is_left();
}

int main(int argc, char **argv)
{
    test_add("processes answer as one set", processes_answer_as_one_set, NULL);
    test_add("a member that dies is an error", a_member_that_dies_is_an_error, NULL);
    test_add("a member that cannot start says why", a_member_that_cannot_start_says_why, NULL);
    test_add("a batch that is too large is refused", a_batch_that_is_too_large_is_refused, NULL);
    return test_run("lab/members", argc, argv);
}
