/*
 * The rules of members.h one by one. test_members_model.c tries them together, in all orders.
 */
#include "fleet/members/members.h"

#include "fleet/members_tables.h"
#include "support/random.h"

enum { LEASE = 1000 };

static members *make(const char *name)
{
    members *made = NULL;
    assert_int_equal(members_make(&made, name, LEASE), VIDI_OK);
    return made;
}

/* The answer to a heartbeat that was sent at that time. */
static void answer_at(members *to, int64_t sent_ms, uint64_t version, const char *rows)
{
    planned_table table;
    assert_int_equal(members_update(to, table_of(&table, version, rows), sent_ms, sent_ms), VIDI_OK);
}

static void answer(members *to, uint64_t version, const char *rows)
{
    answer_at(to, 0, version, rows);
}

/* What it loses has ended, so it adopts. */
static void answer_and_adopt(members *to, uint64_t version, const char *rows)
{
    answer(to, version, rows);
    members_adopt(to, version);
}

static uint64_t first_a_then_b(void)
{
    return site_of((const char *const[]){"a", "b"}, 2, 0);
}

static uint64_t first_b_then_a(void)
{
    return site_of((const char *const[]){"b", "a"}, 2, 0);
}

/* ---- ownership ---- */

static void only_sites_that_a_member_gets_or_had_change_hands(void **context)
{
    planned_table before, after;
    (void)context;
    table_of(&before, 1, "a=1 b=1 d=1 e=1");
    table_of(&after, 2, "a=1 b=1 c=1 d=1 e=1");
    size_t gained = 0, sites = 100000;
    for (uint64_t site = 0; site < sites; site++) {
        uint64_t key = members_site((vidi_str){(const char *)&site, sizeof site});
        const member *old = &before.rows[member_table_owner(&before.table, key)];
        const member *new = &after.rows[member_table_owner(&after.table, key)];
        if (strcmp(new->name, "c") == 0)
            gained++;
        else
            assert_string_equal(old->name, new->name);
    }
    /* A binomial number of mean 20,000 and deviation 126; 7 deviations are 3e-12. */
    check(gained > 19115 && gained < 20885, "c owns %zu of %zu sites", gained, sites);
}

static void sites_are_shared_out_evenly(void **context)
{
    enum { MEMBERS = 10, SITES = 100000 };
    planned_table all;
    size_t owned[MEMBERS] = {0};
    (void)context;
    table_of(&all, 1, "f1.1=1 f1.10=1 f1.2=1 f1.3=1 f1.4=1 f2.1=1 f3.1=1 f4.1=1 f5.1=1 f6.1=1");
    for (uint64_t site = 0; site < SITES; site++)
        owned[member_table_owner(&all.table, members_site((vidi_str){(const char *)&site, sizeof site}))]++;
    for (size_t i = 0; i < MEMBERS; i++) /* deviation 95; ten times 7 deviations are 3e-11 */
        check(owned[i] > 9335 && owned[i] < 10665, "%s owns %zu sites", all.rows[i].name, owned[i]);
}

static void members_that_leave_own_nothing(void **context)
{
    planned_table all;
    uint64_t site = first_a_then_b();
    (void)context;
    assert_int_equal(member_table_owner(table_of(&all, 1, "a=1 b=1"), site), 0);
    assert_int_equal(member_table_owner(table_of(&all, 2, "a=1- b=1"), site), 1);
    assert_int_equal(member_table_owner(table_of(&all, 3, "a=1- b=1-"), site), 2);
    assert_int_equal(member_table_owner(table_of(&all, 4, ""), site), 0);
}

static void every_member_names_the_same_owner(void **context)
{
    char name[MEMBER_NAME];
    uint64_t site = first_a_then_b();
    members *a = make("a"), *b = make("b");
    (void)context;
    assert_null(members_owner(a, site, name));
    assert_false(members_is_mine(a, site));
    answer(a, 2, "a=0 b=0");
    answer(b, 2, "a=0 b=0");
    assert_string_equal(members_owner(a, site, name), "a");
    assert_string_equal(members_owner(b, site, name), "a");
    assert_true(members_is_mine(a, site));
    assert_false(members_is_mine(b, site));
    members_free(a);
    members_free(b);
}

/* ---- when a member may fetch ---- */

static void the_first_member_may_fetch_when_it_has_adopted(void **context)
{
    members *a = make("a");
    uint64_t site = first_a_then_b();
    (void)context;
    assert_false(members_may_fetch(a, site));
    answer(a, 1, "a=0");
    assert_false(members_may_fetch(a, site));
    members_adopt(a, 1);
    assert_true(members_may_fetch(a, site));
    assert_int_equal(members_adopted(a), 1);
    assert_int_equal(members_settled(a), 1);
    members_free(a);
}

static void a_gain_waits_until_everybody_has_adopted(void **context)
{
    members *b = make("b");
    uint64_t site = first_b_then_a(), other = first_a_then_b();
    (void)context;
    answer_and_adopt(b, 2, "a=1 b=0");
    assert_true(members_is_mine(b, site));
    assert_false(members_may_fetch(b, site));
    answer(b, 2, "a=1 b=2");
    assert_false(members_may_fetch(b, site));
    answer(b, 2, "a=2 b=2");
    assert_true(members_may_fetch(b, site));
    assert_false(members_may_fetch(b, other));
    members_free(b);
}

static void a_loss_counts_at_once(void **context)
{
    members *a = make("a");
    uint64_t lost = first_b_then_a(), kept = first_a_then_b();
    (void)context;
    answer_and_adopt(a, 1, "a=0");
    assert_true(members_may_fetch(a, lost) && members_may_fetch(a, kept));
    answer(a, 2, "a=1 b=0");
    assert_false(members_may_fetch(a, lost));
    assert_true(members_may_fetch(a, kept));
    assert_int_equal(members_adopted(a), 1);
    assert_int_equal(members_version(a), 2);
    members_free(a);
}

/* B has begun with the site in version 2, and has not given it back yet; A must remember that version. */
static void a_site_that_comes_back_is_a_gain(void **context)
{
    members *a = make("a");
    uint64_t site = first_b_then_a();
    (void)context;
    answer_and_adopt(a, 1, "a=0");
    answer_and_adopt(a, 2, "a=1 b=2");
    answer_and_adopt(a, 3, "a=2 b=2-");
    assert_true(members_is_mine(a, site));
    assert_false(members_may_fetch(a, site));
    answer(a, 3, "a=3 b=3-");
    assert_true(members_may_fetch(a, site));
    members_free(a);
}

/* The same with versions in between, in which others come. */
static void every_version_since_the_settled_one_counts(void **context)
{
    members *a = make("a");
    uint64_t site = site_of((const char *const[]){"b", "a", "c", "d"}, 4, 0);
    (void)context;
    answer_and_adopt(a, 1, "a=0");
    answer_and_adopt(a, 2, "a=1 b=0");
    answer_and_adopt(a, 3, "a=2 b=0 c=0");
    answer_and_adopt(a, 4, "a=3 b=3- c=0");
    answer_and_adopt(a, 5, "a=4 b=3- c=0 d=0");
    assert_false(members_may_fetch(a, site));
    answer(a, 5, "a=5 b=5- c=5 d=4");
    assert_true(members_may_fetch(a, site));
    members_free(a);
}

/* While one member after the other comes, versions settle one after the other, too. */
static void a_version_settles_although_a_newer_one_is_there(void **context)
{
    members *b = make("b");
    uint64_t site = site_of((const char *const[]){"b", "a", "c"}, 3, 0);
    uint64_t next = site_of((const char *const[]){"c", "b", "a"}, 3, 0);
    (void)context;
    answer_and_adopt(b, 2, "a=1 b=0");
    answer_and_adopt(b, 3, "a=2 b=2 c=2");
    assert_int_equal(members_settled(b), 2);
    assert_true(members_may_fetch(b, site));
    assert_false(members_may_fetch(b, next));
    members_free(b);
}

/* B has not seen version 3, in which C came. That all have adopted 3 says nothing about who was in it. */
static void a_version_that_was_not_seen_is_no_ground_to_begin(void **context)
{
    members *b = make("b");
    uint64_t site = site_of((const char *const[]){"c", "b", "a"}, 3, 0);
    (void)context;
    answer_and_adopt(b, 2, "a=2 b=0");
    assert_true(members_may_fetch(b, site));
    answer_and_adopt(b, 4, "a=3 b=2 c=3-");
    assert_int_equal(members_settled(b), 2);
    answer_and_adopt(b, 4, "a=4 b=2 c=4-");
    assert_int_equal(members_settled(b), 4);
    members_free(b);
}

static void a_member_that_leaves_begins_nothing(void **context)
{
    members *a = make("a");
    uint64_t site = first_a_then_b();
    (void)context;
    answer_and_adopt(a, 2, "a=2 b=2");
    assert_true(members_may_fetch(a, site));
    answer_and_adopt(a, 3, "a=2- b=2");
    assert_false(members_may_fetch(a, site));
    answer(a, 3, "a=3- b=3");
    assert_false(members_may_fetch(a, site));
    members_free(a);
}

/*
 * While A's lease was over, it may have been removed, C may have come, and the server may have forgotten both. So nothing
 * that was settled before counts any more.
 */
static void who_may_have_been_forgotten_begins_anew(void **context)
{
    planned_table table;
    members *a = make("a");
    uint64_t site = first_a_then_b();
    (void)context;
    answer_and_adopt(a, 2, "a=2 b=2");
    assert_true(members_may_fetch(a, site));
    table_of(&table, 9, "a=2 b=2 f=0-");
    table.table.history = 1;
    assert_int_equal(members_update(a, &table.table, 0, LEASE - LEASE / 4 - 1), VIDI_OK);
    assert_int_equal(members_settled(a), 2);
    assert_true(members_may_fetch(a, site));
    table_of(&table, 9, "a=2 b=2 f=0-");
    table.table.history = 2;
    assert_int_equal(members_update(a, &table.table, 0, LEASE - LEASE / 4), VIDI_OK);
    members_adopt(a, 9);
    assert_int_equal(members_settled(a), 0);
    assert_true(members_is_mine(a, site));
    assert_false(members_may_fetch(a, site));
    table_of(&table, 10, "a=9 b=9");
    table.table.history = 2;
    assert_int_equal(members_update(a, &table.table, 0, LEASE), VIDI_OK);
    assert_int_equal(members_settled(a), 9);
    assert_true(members_may_fetch(a, site));
    members_free(a);
}

/* ---- adopting ---- */

static void only_what_was_seen_is_adopted_and_nothing_is_taken_back(void **context)
{
    members *a = make("a");
    (void)context;
    members_adopt(a, 1);
    assert_int_equal(members_adopted(a), 0);
    answer(a, 5, "a=0");
    members_adopt(a, 6);
    assert_int_equal(members_adopted(a), 0);
    members_adopt(a, 5);
    members_adopt(a, 4);
    assert_int_equal(members_adopted(a), 5);
    members_free(a);
}

/* ---- the lease ---- */

static void fetching_ends_a_quarter_of_the_lease_before_it_is_over(void **context)
{
    members *a = make("a");
    (void)context;
    assert_int_equal(members_may_fetch_until(a), 0);
    answer_at(a, 5000, 1, "a=0");
    assert_int_equal(members_may_fetch_until(a), 5000 + LEASE - LEASE / 4);
    answer_at(a, 5200, 1, "a=0");
    assert_int_equal(members_may_fetch_until(a), 5200 + LEASE - LEASE / 4);
    members_free(a);
}

static void an_answer_that_comes_late_takes_nothing_back(void **context)
{
    members *a = make("a");
    uint64_t site = first_a_then_b();
    (void)context;
    answer_at(a, 5200, 3, "a=3 b=3");
    members_adopt(a, 3);
    answer_at(a, 5100, 2, "a=1");
    assert_int_equal(members_may_fetch_until(a), 5200 + LEASE - LEASE / 4);
    assert_int_equal(members_version(a), 3);
    assert_true(members_may_fetch(a, site));
    members_free(a);
}

static void a_member_without_a_row_is_out_for_good(void **context)
{
    char name[MEMBER_NAME];
    members *a = make("a");
    uint64_t site = first_a_then_b();
    (void)context;
    answer_and_adopt(a, 2, "a=2 b=2");
    assert_false(members_is_out(a));
    assert_true(members_may_fetch(a, site));
    for (int i = 0; i < 2; i++) {
        answer_at(a, 100, 3, i == 0 ? "b=2" : "a=3 b=3");
        assert_true(members_is_out(a));
        assert_int_equal(members_may_fetch_until(a), 0);
        assert_false(members_may_fetch(a, site));
        assert_false(members_is_mine(a, site));
        assert_null(members_owner(a, site, name));
    }
    members_free(a);
}

/* ---- the end ---- */

static bool is_quiet(const char *before, const char *now)
{
    planned_table first, second;
    table_of(&first, 3, before);
    return member_table_is_quiet(table_of(&second, 3, now), &first.table);
}

static void all_is_quiet_if_everybody_is_idle_and_did_nothing_since(void **context)
{
    planned_table first, second;
    (void)context;
    assert_true(is_quiet("a=1*5 b=1*6", "a=1*5 b=1*6"));
    assert_false(is_quiet("a=1*5 b=1", "a=1*5 b=1*0"));
    assert_false(is_quiet("a=1*5 b=1*6", "a=1*5 b=1"));
    assert_false(is_quiet("a=1*5 b=1*6", "a=1*5 b=1*7"));
    assert_false(is_quiet("a=1*5 b=1*6", "a=1*5 c=1*6"));
    assert_false(is_quiet("a=1*5 b=1*6", "a=1*5"));
    assert_false(is_quiet("a=1*5", "a=1*5 b=1*6"));
    assert_false(is_quiet("", ""));
    table_of(&first, 3, "a=1*5");
    assert_false(member_table_is_quiet(table_of(&second, 4, "a=1*5"), &first.table));
}

/* ---- arguments ---- */

static void what_is_not_a_table_changes_nothing(void **context)
{
    planned_table table;
    members *a = make("a");
    uint64_t site = first_a_then_b();
    (void)context;
    answer_and_adopt(a, 2, "a=2 b=2");
    assert_int_equal(members_update(a, table_of(&table, 0, "a=2"), 900, 900), VIDI_EARGUMENT);
    assert_int_equal(members_update(a, table_of(&table, 3, "b=2 a=2"), 900, 900), VIDI_EARGUMENT);
    assert_int_equal(members_update(a, table_of(&table, 3, "a=2 a=2"), 900, 900), VIDI_EARGUMENT);
    table_of(&table, 3, "a=2 b=2");
    memset(table.rows[1].name, 'x', MEMBER_NAME);
    assert_int_equal(members_update(a, &table.table, 900, 900), VIDI_EARGUMENT);
    table.rows[1].name[0] = 0;
    assert_int_equal(members_update(a, &table.table, 900, 900), VIDI_EARGUMENT);
    assert_int_equal(members_version(a), 2);
    assert_int_equal(members_may_fetch_until(a), LEASE - LEASE / 4);
    assert_true(members_may_fetch(a, site));
    members_free(a);
}

static void names_have_a_length(void **context)
{
    members *made;
    char name[MEMBER_NAME + 1];
    (void)context;
    memset(name, 'x', sizeof name);
    name[MEMBER_NAME] = 0;
    assert_int_equal(members_make(&made, name, LEASE), VIDI_EARGUMENT);
    assert_null(made);
    assert_int_equal(members_make(&made, "", LEASE), VIDI_EARGUMENT);
    assert_int_equal(members_make(&made, "a", 0), VIDI_EARGUMENT);
    name[MEMBER_NAME - 1] = 0;
    assert_int_equal(members_make(&made, name, LEASE), VIDI_OK);
    members_free(made);
    members_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_sites_that_a_member_gets_or_had_change_hands),
        cmocka_unit_test(sites_are_shared_out_evenly),
        cmocka_unit_test(members_that_leave_own_nothing),
        cmocka_unit_test(every_member_names_the_same_owner),
        cmocka_unit_test(the_first_member_may_fetch_when_it_has_adopted),
        cmocka_unit_test(a_gain_waits_until_everybody_has_adopted),
        cmocka_unit_test(a_loss_counts_at_once),
        cmocka_unit_test(a_site_that_comes_back_is_a_gain),
        cmocka_unit_test(every_version_since_the_settled_one_counts),
        cmocka_unit_test(a_version_settles_although_a_newer_one_is_there),
        cmocka_unit_test(a_version_that_was_not_seen_is_no_ground_to_begin),
        cmocka_unit_test(a_member_that_leaves_begins_nothing),
        cmocka_unit_test(who_may_have_been_forgotten_begins_anew),
        cmocka_unit_test(only_what_was_seen_is_adopted_and_nothing_is_taken_back),
        cmocka_unit_test(fetching_ends_a_quarter_of_the_lease_before_it_is_over),
        cmocka_unit_test(an_answer_that_comes_late_takes_nothing_back),
        cmocka_unit_test(a_member_without_a_row_is_out_for_good),
        cmocka_unit_test(all_is_quiet_if_everybody_is_idle_and_did_nothing_since),
        cmocka_unit_test(what_is_not_a_table_changes_nothing),
        cmocka_unit_test(names_have_a_length),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
