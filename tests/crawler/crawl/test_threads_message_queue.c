/*
 * What the threads of a crawl hand to each other arrives once and in order, and a message queue that is closed says so.
 */
#include <pthread.h>
#include <stdlib.h>

#include "crawler/crawl/message_queue.h"
#include "support/check.h"
#include "vidi/vidi.h"

enum { MESSAGES = 20000, TAKERS = 3 };

static message *make(int kind)
{
    message *one = calloc(1, sizeof *one);
    check(one, "no memory");
    one->kind = kind;
    return one;
}

static void put(message_queue *box, int from, int n)
{
    messages list = {0};
    for (int i = 0; i < n; i++)
        messages_add(&list, make(from + i));
    check(message_queue_put(box, &list), "the message queue is open");
    check(!list.first && list.count == 0, "the list was handed over");
}

static void messages_come_in_order_and_as_many_as_asked_for(void **state)
{
    (void)state;
    message_queue box;
    messages taken = {0};
    check(message_queue_open(&box) == VIDI_OK, "a message queue");
    put(&box, 0, 5);
    put(&box, 5, 5);
    check(message_queue_take(&box, &taken, 7, 0) && taken.count == 7, "7 of 10, not %zu", taken.count);
    check(message_queue_take(&box, &taken, 7, 0) && taken.count == 10, "the rest, not %zu", taken.count);
    check(message_queue_take(&box, &taken, 7, 0) && taken.count == 10, "there is nothing, but it is open");
    for (int i = 0; i < 10; i++) {
        message *one = messages_remove(&taken);
        check(one && one->kind == i, "in order");
        free(one);
    }
    check(!messages_remove(&taken), "no more");
    message_queue_destroy(&box);
}

static void what_was_put_in_can_be_taken_after_closing(void **state)
{
    (void)state;
    message_queue box;
    messages taken = {0}, late = {0};
    check(message_queue_open(&box) == VIDI_OK, "a message queue");
    put(&box, 0, 1);
    message_queue_close(&box);
    messages_add(&late, make(9));
    check(!message_queue_put(&box, &late) && late.count == 1, "nothing more goes in, and it stays the caller's");
    check(message_queue_take(&box, &taken, 10, -1) && taken.count == 1, "what was in it");
    check(!message_queue_take(&box, &taken, 10, -1), "and that was all");
    free(messages_remove(&taken));
    free(messages_remove(&late));
    message_queue_destroy(&box);
}

static void a_poke_ends_the_next_wait(void **state)
{
    (void)state;
    message_queue box;
    messages taken = {0};
    check(message_queue_open(&box) == VIDI_OK, "a message queue");
    message_queue_wake(&box);
    check(message_queue_take(&box, &taken, 1, -1) && !taken.first, "it does not wait for good");
    message_queue_destroy(&box);
}

typedef struct tally {
    message_queue box;
    pthread_mutex_t lock;
    unsigned char seen[MESSAGES];
    long taken;
} tally;

static void *take_all(void *context)
{
    tally *count = context;
    messages taken = {0};
    message *one;
    while (message_queue_take(&count->box, &taken, 16, -1))
        while ((one = messages_remove(&taken))) {
            pthread_mutex_lock(&count->lock);
            count->seen[one->kind]++;
            count->taken++;
            pthread_mutex_unlock(&count->lock);
            free(one);
        }
    return NULL;
}

static void many_threads_take_each_message_once(void **state)
{
    (void)state;
    static tally count;
    pthread_t threads[TAKERS];
    check(message_queue_open(&count.box) == VIDI_OK && pthread_mutex_init(&count.lock, NULL) == 0, "a message queue");
    for (int i = 0; i < TAKERS; i++)
        check(pthread_create(&threads[i], NULL, take_all, &count) == 0, "a thread");
    for (int i = 0; i < MESSAGES; i += 10)
        put(&count.box, i, 10);
    message_queue_close(&count.box);
    for (int i = 0; i < TAKERS; i++)
        pthread_join(threads[i], NULL);
    check(count.taken == MESSAGES, "%ld messages", count.taken);
    for (int i = 0; i < MESSAGES; i++)
        check(count.seen[i] == 1, "message %d comes %d times", i, count.seen[i]);
    message_queue_destroy(&count.box);
    pthread_mutex_destroy(&count.lock);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_come_in_order_and_as_many_as_asked_for),
        cmocka_unit_test(what_was_put_in_can_be_taken_after_closing),
        cmocka_unit_test(a_poke_ends_the_next_wait),
        cmocka_unit_test(many_threads_take_each_message_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
