/* The table of hosts does what a list would do, also when ids share their low bits. */
#include <stdlib.h>

#include "crawler/crawl/id_map.h"
#include "support/check.h"
#include "support/random.h"
#include "vidi/vidi.h"

enum { IDS = 300, STEPS = 200000 };

static void it_agrees_with_a_list(void **state)
{
    (void)state;
    id_map map = {0};
    static void *list[IDS];
    static char values[IDS];
    test_random random = {4};
    size_t count = 0;

    for (int step = 0; step < STEPS; step++) {
        size_t i = (size_t)test_below(&random, IDS);
        uint64_t id = (i % 7) + 1 + (uint64_t)(i / 7) * 4096; /* long runs in the table */
        if (test_below(&random, 2)) {
            check(id_map_put(&map, id, &values[i]) == VIDI_OK, "no memory");
            count += !list[i];
            list[i] = &values[i];
        } else {
            id_map_remove(&map, id);
            count -= list[i] != NULL;
            list[i] = NULL;
        }
        check(map.count == count, "it has %zu entries, not %zu", map.count, count);
        size_t other = (size_t)test_below(&random, IDS);
        check(id_map_get(&map, (other % 7) + 1 + (uint64_t)(other / 7) * 4096) == list[other], "step %d", step);
    }
    id_map_free(&map);
    check(!id_map_get(&map, 1), "an empty table has nothing");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(it_agrees_with_a_list)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
