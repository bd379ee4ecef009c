/* What the threads of a crawl hand to each other arrives once and in order, and a mailbox that is closed says so. */
#include <pthread.h>
#include <stdlib.h>

#include "crawler/crawl/mailbox.h"
#include "support/check.h"
#include "vidi/vidi.h"

enum { PARCELS = 20000, TAKERS = 3 };

static parcel *make(int kind)
{
    parcel *one = calloc(1, sizeof *one);
    check(one, "no memory");
    one->kind = kind;
    return one;
}

static void put(mailbox *box, int from, int n)
{
    parcels list = {0};
    for (int i = 0; i < n; i++)
        parcels_add(&list, make(from + i));
    check(mailbox_put(box, &list), "the mailbox is open");
    check(!list.first && list.count == 0, "the list was handed over");
}

static void parcels_come_in_order_and_as_many_as_asked_for(void **state)
{
    (void)state;
    mailbox box;
    parcels taken = {0};
    check(mailbox_open(&box) == VIDI_OK, "a mailbox");
    put(&box, 0, 5);
    put(&box, 5, 5);
    check(mailbox_take(&box, &taken, 7, 0) && taken.count == 7, "7 of 10, not %zu", taken.count);
    check(mailbox_take(&box, &taken, 7, 0) && taken.count == 10, "the rest, not %zu", taken.count);
    check(mailbox_take(&box, &taken, 7, 0) && taken.count == 10, "there is nothing, but it is open");
    for (int i = 0; i < 10; i++) {
        parcel *one = parcels_remove(&taken);
        check(one && one->kind == i, "in order");
        free(one);
    }
    check(!parcels_remove(&taken), "no more");
    mailbox_destroy(&box);
}

static void what_was_put_in_can_be_taken_after_closing(void **state)
{
    (void)state;
    mailbox box;
    parcels taken = {0}, late = {0};
    check(mailbox_open(&box) == VIDI_OK, "a mailbox");
    put(&box, 0, 1);
    mailbox_close(&box);
    parcels_add(&late, make(9));
    check(!mailbox_put(&box, &late) && late.count == 1, "nothing more goes in, and it stays the caller's");
    check(mailbox_take(&box, &taken, 10, -1) && taken.count == 1, "what was in it");
    check(!mailbox_take(&box, &taken, 10, -1), "and that was all");
    free(parcels_remove(&taken));
    free(parcels_remove(&late));
    mailbox_destroy(&box);
}

static void a_poke_ends_the_next_wait(void **state)
{
    (void)state;
    mailbox box;
    parcels taken = {0};
    check(mailbox_open(&box) == VIDI_OK, "a mailbox");
    mailbox_poke(&box);
    check(mailbox_take(&box, &taken, 1, -1) && !taken.first, "it does not wait for good");
    mailbox_destroy(&box);
}

typedef struct tally {
    mailbox box;
    pthread_mutex_t lock;
    unsigned char seen[PARCELS];
    long taken;
} tally;

static void *take_all(void *context)
{
    tally *of = context;
    parcels taken = {0};
    parcel *one;
    while (mailbox_take(&of->box, &taken, 16, -1))
        while ((one = parcels_remove(&taken))) {
            pthread_mutex_lock(&of->lock);
            of->seen[one->kind]++;
            of->taken++;
            pthread_mutex_unlock(&of->lock);
            free(one);
        }
    return NULL;
}

static void many_threads_take_each_parcel_once(void **state)
{
    (void)state;
    static tally of;
    pthread_t threads[TAKERS];
    check(mailbox_open(&of.box) == VIDI_OK && pthread_mutex_init(&of.lock, NULL) == 0, "a mailbox");
    for (int i = 0; i < TAKERS; i++)
        check(pthread_create(&threads[i], NULL, take_all, &of) == 0, "a thread");
    for (int i = 0; i < PARCELS; i += 10)
        put(&of.box, i, 10);
    mailbox_close(&of.box);
    for (int i = 0; i < TAKERS; i++)
        pthread_join(threads[i], NULL);
    check(of.taken == PARCELS, "%ld parcels", of.taken);
    for (int i = 0; i < PARCELS; i++)
        check(of.seen[i] == 1, "parcel %d comes %d times", i, of.seen[i]);
    mailbox_destroy(&of.box);
    pthread_mutex_destroy(&of.lock);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parcels_come_in_order_and_as_many_as_asked_for),
        cmocka_unit_test(what_was_put_in_can_be_taken_after_closing),
        cmocka_unit_test(a_poke_ends_the_next_wait),
        cmocka_unit_test(many_threads_take_each_parcel_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
