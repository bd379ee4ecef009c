/*
 * Trees stay in order and in balance after every operation, whatever the order of the keys. A sorted array is the model.
 */
#include <stdbool.h>
#include <string.h>

#include "support/check.h"
#include "support/random.h"

#include "redis/claims/tree.h"

typedef struct thing {
    uint64_t key;
    tree_node node;
} thing;

#define KEYS 600

static thing things[KEYS];  /* things[k] has key k */
static bool present[KEYS];  /* the model */
static uint64_t steps_most; /* comparisons that one call took */
static uint64_t steps;

static int order(const void *key, const tree_node *node)
{
    const thing *other = tree_entry((tree_node *)node, thing, node);
    uint64_t mine = *(const uint64_t *)key;
    steps++;
    return (mine > other->key) - (mine < other->key);
}

/* Number of nodes below `node`, all of whose keys must be at least `low` and below `high`. Recursive: for tests alone. */
static uint64_t inspect(const tree_node *node, uint64_t low, uint64_t high)
{
    if (!node)
        return 0;
    uint64_t key = tree_entry((tree_node *)node, thing, node)->key;
    check(key >= low && key < high, "key %lu is not in [%lu, %lu)", key, low, high);
    uint64_t left = inspect(node->child[0], low, key);
    uint64_t right = inspect(node->child[1], key + 1, high);
    assert_int_equal(node->size, left + right + 1);
    check(left + 1 <= 3 * (right + 1) && right + 1 <= 3 * (left + 1), "%lu and %lu nodes below %lu", left, right, key);
    return left + right + 1;
}

/* Compares every answer with the model. */
static void compare(const tree *tree)
{
    uint64_t before = 0;
    int64_t next = -1; /* the first present key after k */
    assert_int_equal(inspect(tree->root, 0, KEYS), tree_size(tree));
    for (uint64_t k = 0; k < KEYS; k++) {
        assert_ptr_equal(tree_find(tree, &k), present[k] ? &things[k].node : NULL);
        assert_int_equal(tree_rank(tree, &k), before);
        before += present[k];
    }
    assert_int_equal(tree_size(tree), before);
    for (uint64_t k = KEYS; k-- > 0;) {
        assert_ptr_equal(tree_after(tree, &k), next < 0 ? NULL : &things[next].node);
        next = present[k] ? (int64_t)k : next;
    }
    assert_ptr_equal(tree_first(tree), next < 0 ? NULL : &things[next].node);
}

static void toggle(tree *tree, uint64_t key)
{
    steps = 0;
    if (present[key]) {
        tree_remove(tree, &key);
    } else {
        memset(&things[key].node, 0xee, sizeof(tree_node));
        assert_null(tree_insert(tree, &key, &things[key].node));
    }
    present[key] = !present[key];
    steps_most = steps > steps_most ? steps : steps_most;
}

static void begin(tree *tree)
{
    *tree = (struct tree){NULL, order};
    memset(present, 0, sizeof present);
    steps_most = 0;
    for (uint64_t k = 0; k < KEYS; k++)
        things[k].key = k;
}

static void a_tree_answers_as_a_sorted_array_does(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 6; seed++) {
        test_random random = {seed};
        uint64_t range = seed <= 3 ? 20 : KEYS; /* small trees meet the rare shapes more often */
        tree tree;
        begin(&tree);
        compare(&tree);
        for (int i = 0; i < 1500; i++) {
            toggle(&tree, test_below(&random, range));
            if (range == 20 || i % 16 == 0)
                compare(&tree);
            else
                inspect(tree.root, 0, KEYS);
        }
    }
}

static void keys_in_any_order_leave_it_in_balance(void **state)
{
    (void)state;
    for (int way = 0; way < 4; way++) {
        tree tree;
        begin(&tree);
        for (uint64_t i = 0; i < 2 * (uint64_t)KEYS; i++) { /* all in, then all out */
            uint64_t k = i % KEYS;
            uint64_t key = way == 0   ? k
                           : way == 1 ? KEYS - 1 - k
                           : way == 2 ? (k % 2 ? k / 2 : KEYS - 1 - k / 2)
                                      : k * 7 % KEYS;
            toggle(&tree, key);
            inspect(tree.root, 0, KEYS);
        }
        assert_null(tree.root);
        assert_in_range(steps_most, 1, 20); /* log2(600) / log2(4/3) is 22.2, which no real sequence comes near */
    }
}

static void dismantling_returns_each_node_once(void **state)
{
    (void)state;
    test_random random = {1};
    tree tree;
    begin(&tree);
    assert_null(tree_dismantle(&tree));
    for (int i = 0; i < 1000; i++)
        toggle(&tree, test_below(&random, KEYS));
    uint64_t left = tree_size(&tree);
    assert_true(left > 100);
    for (tree_node *node; (node = tree_dismantle(&tree)); left--) {
        thing *thing = tree_entry(node, struct thing, node);
        assert_true(present[thing->key]);
        present[thing->key] = false;
        memset(node, 0xee, sizeof *node); /* as if it were freed */
    }
    assert_int_equal(left, 0);
    assert_null(tree.root);
}

typedef struct visits {
    uint64_t next, stop; /* the key that is expected, and the one after which to stop */
} visits;

static int visit(void *context, tree_node *node)
{
    visits *visits = context;
    while (visits->next < KEYS && !present[visits->next])
        visits->next++;
    uint64_t key = tree_entry(node, thing, node)->key;
    assert_int_equal(key, visits->next++);
    return key == visits->stop ? 7 : 0;
}

static void trees_of_any_size_are_built_at_once(void **state)
{
    (void)state;
    tree_item items[KEYS];
    for (uint64_t n = 0; n <= KEYS; n += n < 40 ? 1 : 37) {
        tree tree;
        begin(&tree);
        for (uint64_t i = 0; i < n; i++) {
            uint64_t k = i * KEYS / n;
            present[k] = true;
            memset(&things[k].node, 0xee, sizeof(tree_node));
            items[i] = (tree_item){0, &things[k].node};
        }
        tree_build(&tree, items, n);
        compare(&tree);
        visits all = {0, KEYS};
        assert_int_equal(tree_visit(&tree, visit, &all), 0);
        uint64_t left = 0;
        for (uint64_t k = all.next; k < KEYS; k++)
            left += present[k];
        assert_int_equal(left, 0);
        test_random random = {n + 1};
        for (int i = 0; i < 200; i++)
            toggle(&tree, test_below(&random, KEYS));
        compare(&tree);
    }
    visits some = {0, 100};
    tree tree;
    begin(&tree);
    for (uint64_t k = 0; k < 200; k++)
        toggle(&tree, k);
    assert_int_equal(tree_visit(&tree, visit, &some), 7);
    assert_int_equal(some.next, 101);
}

static void sorting_keeps_equal_numbers_in_their_order(void **state)
{
    (void)state;
    tree_item items[KEYS], room[KEYS];
    for (uint64_t seed = 1; seed <= 64; seed++) {
        test_random random = {seed};
        uint64_t n = test_below(&random, KEYS + 1);
        for (uint64_t i = 0; i < n; i++) /* from numbers that differ in one byte to those that differ in all */
            items[i] = (tree_item){test_below(&random, 256) << (seed - 1) ^ (seed % 2 ? 0 : test_next(&random)),
                                   &things[i].node};
        uint64_t sum = 0, sorted = 0;
        for (uint64_t i = 0; i < n; i++)
            sum += items[i].number;
        tree_sort(items, room, n);
        for (uint64_t i = 0; i < n; i++)
            sorted += items[i].number;
        assert_int_equal(sorted, sum);
        for (uint64_t i = 1; i < n; i++)
            assert_true(items[i - 1].number < items[i].number ||
                        (items[i - 1].number == items[i].number && items[i - 1].node < items[i].node));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tree_answers_as_a_sorted_array_does),
        cmocka_unit_test(keys_in_any_order_leave_it_in_balance),
        cmocka_unit_test(dismantling_returns_each_node_once),
        cmocka_unit_test(trees_of_any_size_are_built_at_once),
        cmocka_unit_test(sorting_keeps_equal_numbers_in_their_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
