/*
 * What fetcher and storage thread know of each other's URLs. A host may leave the fetcher's memory while URLs of it are
 * on their way there, and while pages of it are still being read: it is forgotten when all of them are accounted for,
 * not before.
 */
#include <stdlib.h>
#include <string.h>

#include "crawler/crawl/storage/storage.h"
#include "crawler/crawl/fetcher/fetcher.h"
#include "support/check.h"

enum { HOST = 77 };

static void urls_of_a_host_that_has_left_go_back(void **state)
{
    (void)state;
    static crawl c;
    fetcher fetcher = {.crawl = &c};
    url_block *late = calloc(1, sizeof *late);
    late->message.kind = MESSAGE_URL_BLOCK;
    late->host = HOST;
    late->count = 3;
    late->urls = calloc(3, sizeof *late->urls);
    host_take_block(&fetcher, late);
    host_request *told = (host_request *)messages_remove(&fetcher.to_storage);
    check(told && told->message.kind == MESSAGE_HOST_LEFT && told->host == HOST && told->count == 3,
          "the storage thread gets a message");
    check(fetcher.hosts.count == 0 && !fetcher.to_storage.first, "and nothing is kept");
    free(told);
}

/* A storage thread whose fetcher has one host with this many URLs. */
static void begin(storage *thread, crawl *c, uint64_t out)
{
    *thread = (storage){.crawl = c, .out = out};
    host_entry *host = calloc(1, sizeof *host);
    thread->list = calloc(1, sizeof *thread->list);
    thread->list_room = 1;
    *host = (host_entry){.id = HOST, .out = out, .wanted = 9};
    thread->list[0] = host;
    check(id_map_put(&thread->hosts, HOST, host) == VIDI_OK, "no memory");
}

static void leave(storage *storage, uint64_t count)
{
    host_request left = {.message = {.kind = MESSAGE_HOST_LEFT}, .host = HOST, .count = count};
    check(host_table_leave(storage, &left) == VIDI_OK, "it leaves");
}

static void a_host_is_forgotten_when_all_its_urls_are_accounted_for(void **state)
{
    (void)state;
    static crawl c;
    storage storage;
    fetch_job page = {.url = {.host = HOST}};
    c.committed_to = 40;
    begin(&storage, &c, 10);
    leave(&storage, 4);
    check(host_table_find(&storage, HOST) && storage.out == 10, "6 are on their way");
    leave(&storage, 5);
    check(host_table_find(&storage, HOST), "one page is being read");
    host_table_done(&storage, &page);
    check(!host_table_find(&storage, HOST) && storage.out == 0 && storage.hosts.count == 0,
          "it is forgotten, and nothing is out");
    check(storage.more_hosts && storage.filter_until == 40,
          "its blocks are looked for again, without what is dealt with");
    host_table_free(&storage);
}

static void a_host_that_leaves_gets_nothing_more(void **state)
{
    (void)state;
    static crawl c;
    storage storage;
    begin(&storage, &c, 10);
    leave(&storage, 4);
    host_request wanted = {.message = {.kind = MESSAGE_WANT_URLS}, .host = HOST, .count = 50};
    check(host_table_want(&storage, &wanted) == VIDI_OK && storage.list[0]->wanted == 0, "it wants nothing");
    host_table_free(&storage);
}

/* Otherwise its last rows would wait for somebody to sort them, and the crawl for them. */
static void rows_of_a_host_that_leaves_are_sorted(void **state)
{
    (void)state;
    static crawl c;
    storage storage;
    begin(&storage, &c, 10);
    leave(&storage, 4);
    host_table_appended(&storage, HOST);
    check(storage.sort_helps, "nobody sorts them");
    host_table_free(&storage);
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
