/*
 * What spider and keeper know of each other's URLs. A host may leave the spider's memory while URLs of it are on their way
 * there, and while pages of it are still being read: it is forgotten when all of them are accounted for, not before.
 */
#include <stdlib.h>
#include <string.h>

#include "crawler/crawl/keeper.h"
#include "crawler/crawl/spider.h"
#include "support/check.h"

enum { HOST = 77 };

static void urls_of_a_host_that_has_left_go_back(void **state)
{
    (void)state;
    static crawl c;
    spider of = {.crawl = &c};
    load *late = calloc(1, sizeof *late);
    late->parcel.kind = PARCEL_LOAD;
    late->host = HOST;
    late->count = 3;
    late->urls = calloc(3, sizeof *late->urls);
    host_take_load(&of, late);
    request *told = (request *)parcels_remove(&of.to_keeper);
    check(told && told->parcel.kind == PARCEL_LEAVE && told->host == HOST && told->count == 3, "the keeper is told");
    check(of.hosts.count == 0 && !of.to_keeper.first, "and nothing is kept");
    free(told);
}

/* A keeper whose spider has one host with so many URLs. */
static void begin(keeper *of, crawl *c, uint64_t out)
{
    *of = (keeper){.crawl = c, .out = out};
    member *host = calloc(1, sizeof *host);
    of->list = calloc(1, sizeof *of->list);
    of->list_room = 1;
    *host = (member){.id = HOST, .out = out, .wanted = 9};
    of->list[0] = host;
    check(id_map_put(&of->members, HOST, host) == VIDI_OK, "no memory");
}

static void leave(keeper *of, uint64_t count)
{
    request left = {.parcel = {.kind = PARCEL_LEAVE}, .host = HOST, .count = count};
    check(roster_leave(of, &left) == VIDI_OK, "it leaves");
}

static void a_host_is_forgotten_when_all_its_urls_are_accounted_for(void **state)
{
    (void)state;
    static crawl c;
    keeper of;
    errand page = {.url = {.host = HOST}};
    c.committed_to = 40;
    begin(&of, &c, 10);
    leave(&of, 4);
    check(roster_find(&of, HOST) && of.out == 10, "6 are on their way");
    leave(&of, 5);
    check(roster_find(&of, HOST), "one page is being read");
    roster_done(&of, &page);
    check(!roster_find(&of, HOST) && of.out == 0 && of.members.count == 0, "it is forgotten, and nothing is out");
    check(of.strangers && of.filter_until == 40, "its blocks are looked for again, without what is dealt with");
    roster_free(&of);
}

static void a_host_that_leaves_gets_nothing_more(void **state)
{
    (void)state;
    static crawl c;
    keeper of;
    begin(&of, &c, 10);
    leave(&of, 4);
    request wanted = {.parcel = {.kind = PARCEL_WANT}, .host = HOST, .count = 50};
    check(roster_want(&of, &wanted) == VIDI_OK && of.list[0]->wanted == 0, "it wants nothing");
    roster_free(&of);
}

/* Otherwise its last rows would wait for somebody to sort them, and the crawl for them. */
static void rows_of_a_host_that_leaves_are_sorted(void **state)
{
    (void)state;
    static crawl c;
    keeper of;
    begin(&of, &c, 10);
    leave(&of, 4);
    roster_appended(&of, HOST);
    check(of.sort_helps, "nobody sorts them");
    roster_free(&of);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(urls_of_a_host_that_has_left_go_back),
        cmocka_unit_test(a_host_is_forgotten_when_all_its_urls_are_accounted_for),
        cmocka_unit_test(a_host_that_leaves_gets_nothing_more),
        cmocka_unit_test(rows_of_a_host_that_leaves_are_sorted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
