/*
 * Threads ask who owns a site while another one brings new tables: each answer is that of one table, and nothing is
 * read while it is written (the thread sanitizer runs this).
 */
#include <pthread.h>
#include <stdatomic.h>

#include "fleet/members_tables.h"
#include "support/check.h"

enum { THREADS = 3, VERSIONS = 3000 };

static members *self;
static uint64_t site; /* b's as long as b is there; then a's */
static atomic_bool is_over;
static atomic_int begun;

static void *ask(void *wrong)
{
    char name[MEMBER_NAME];
    uint64_t last = 0;
    begun++;
    while (!is_over) {
        bool may = members_may_fetch(self, site), mine = members_is_mine(self, site);
        const char *owner = members_owner(self, site, name);
        uint64_t settled = members_settled(self), adopted = members_adopted(self), version = members_version(self);
        bool known = owner && (strcmp(owner, "a") == 0 || strcmp(owner, "b") == 0);
        *(bool *)wrong |= may || !known || version < last || settled > version || adopted > version ||
                          members_is_out(self) || members_may_fetch_until(self) != 750;
        last = version;
        (void)mine;
    }
    return NULL;
}

static void answers_are_those_of_one_table(void **context)
{
    pthread_t threads[THREADS];
    bool wrong[THREADS] = {false};
    planned_table table;
    (void)context;
    site = site_of((const char *const[]){"b", "a", "c"}, 3, 0);
    assert_int_equal(members_make(&self, "a", 1000), VIDI_OK);
    assert_int_equal(members_update(self, table_of(&table, 1, "a=0 b=1"), 0, 0), VIDI_OK);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, ask, &wrong[i]), 0);
    while (begun < THREADS)
        continue;
    /* a owns the site in every third version, and b never adopts that it is gone. */
    for (uint64_t version = 2; version < VERSIONS; version++) {
        const char *rows = version % 3 == 0 ? "a=1 b=1-" : version % 3 == 1 ? "a=1 b=1" : "a=1 b=1 c=1";
        assert_int_equal(members_update(self, table_of(&table, version, rows), 0, 0), VIDI_OK);
        members_adopt(self, version);
    }
    is_over = true;
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_false(wrong[i]);
    }
    members_free(self);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(answers_are_those_of_one_table)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
