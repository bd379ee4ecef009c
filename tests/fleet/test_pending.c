/*
 * The queue of claims against a list that does the same slowly.
 */
#include "fleet/set/pending.h"

#include <stdlib.h>
#include <string.h>

#include "support/check.h"
#include "support/random.h"
#include "vidi/vidi.h"

enum { HASHES = 5000 };

typedef struct model {
    uint64_t tokens[HASHES];  /* of each hash that is pending; 0: it is not */
    uint64_t numbers[HASHES]; /* its number */
    uint64_t next;
} model;

/* Few different lower halves, so that the index has long runs. */
static void hash_of(uint64_t which, uint64_t hash[2])
{
    hash[0] = which % 97;
    hash[1] = test_mix(which);
}

static claim_token token_of(uint64_t number)
{
    claim_token token;
    memset(token.text, 'a', sizeof token.text);
    memcpy(token.text + 8, &number, sizeof number);
    return token;
}

static uint64_t number_of(const pending_entry *entry)
{
    uint64_t number;
    memcpy(&number, entry->token.text + 8, sizeof number);
    return number;
}

static void compare(const pending *pending, const model *model, uint64_t which)
{
    uint64_t hash[2];
    hash_of(which, hash);
    const pending_entry *found = pending_find(pending, hash);
    assert_int_equal(found ? number_of(found) : 0, model->tokens[which]);
    if (found)
        assert_ptr_equal(found, pending_at(pending, model->numbers[which]));
}

static void add(pending *pending, model *model, uint64_t which, uint64_t token)
{
    uint64_t hash[2];
    hash_of(which, hash);
    if (model->tokens[which])
        return;
    assert_int_equal(pending_reserve(pending, 1), VIDI_OK);
    assert_int_equal(pending_mark(pending), model->next);
    claim_token made = token_of(token);
    pending_add(pending, hash, &made);
    model->tokens[which] = token;
    model->numbers[which] = model->next++;
}

static void finish(pending *pending, model *model, uint64_t which)
{
    uint64_t hash[2];
    hash_of(which, hash);
    pending_entry *entry = pending_find(pending, hash);
    if (entry)
        pending_close(entry);
    model->tokens[which] = 0;
}

static void finds_what_is_there_and_nothing_else(void **context)
{
    pending pending = {0};
    static model model;
    test_random random = {11};
    (void)context;
    for (int step = 0; step < 60000; step++) {
        uint64_t which = test_below(&random, step % 7000 < 3500 ? HASHES : 50);
        if (test_below(&random, 3) < 2)
            add(&pending, &model, which, test_next(&random) | 1);
        else
            finish(&pending, &model, which);
        if (test_below(&random, 10) == 0)
            pending_trim(&pending);
        compare(&pending, &model, test_below(&random, HASHES));
        if (step % 9999 == 0) { /* everything is dealt with */
            for (uint64_t i = 0; i < HASHES; i++)
                finish(&pending, &model, i);
            pending_trim(&pending);
            assert_true(pending_is_empty(&pending));
            assert_int_equal(pending_mark(&pending), model.next);
        }
    }
    for (uint64_t i = 0; i < HASHES; i++)
        compare(&pending, &model, i);
    pending_free(&pending);
}

static void many_are_kept_and_given_back(void **context)
{
    enum { MANY = 300000 };
    pending pending = {0};
    (void)context;
    for (int round = 0; round < 2; round++) {
        uint64_t begin = pending_mark(&pending);
        for (uint64_t i = 0; i < MANY; i++) {
            uint64_t hash[2] = {test_mix(i), test_mix(~i)};
            assert_int_equal(pending_reserve(&pending, 1), VIDI_OK);
            claim_token token = token_of(i + 1);
            pending_add(&pending, hash, &token);
        }
        for (uint64_t i = 0; i < MANY; i += 7) {
            uint64_t hash[2] = {test_mix(i), test_mix(~i)};
            assert_int_equal(number_of(pending_find(&pending, hash)), i + 1);
        }
        for (uint64_t i = begin; i < begin + MANY; i++)
            pending_close(pending_at(&pending, i));
        pending_trim(&pending);
        assert_int_equal(pending_mark(&pending), begin + MANY);
        assert_null(pending.entries); /* so much memory is not kept for an empty queue */
    }
    pending_free(&pending);
}

static void what_does_not_fit_into_memory_is_refused(void **context)
{
    pending pending = {0};
    (void)context;
    assert_int_equal(pending_reserve(&pending, SIZE_MAX), VIDI_EMEMORY);
    assert_int_equal(pending_reserve(&pending, SIZE_MAX / 64), VIDI_EMEMORY);
    assert_int_equal(pending_reserve(&pending, 10), VIDI_OK);
    pending_free(&pending);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_what_is_there_and_nothing_else),
        cmocka_unit_test(many_are_kept_and_given_back),
        cmocka_unit_test(what_does_not_fit_into_memory_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
