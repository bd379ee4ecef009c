/*
 * Turns: which queue gets the next one, and what that means for the others. slots.h has the data.
 *
 * A queue may go when its name and its address both have room for a request and their times have come. The heaps keep
 *
 *     time of a pair      the later of: the name's time; since when its first queue has waited
 *     time of an address  the later of: the address's time; the earliest time of its pairs
 *
 * so the top of the heap of addresses is the queue that could go first and, among those that can go now, the one that
 * has been kept waiting longest. Since when a queue has waited is never in the future: it decides whose turn comes
 * first, not when it comes.
 */
#include "crawler/politeness/politeness.h"

#include <stdlib.h>

#include "crawler/politeness/slots.h"
#include "vidi/vidi.h"

static int64_t later_of(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t add_times(int64_t time, int64_t span)
{
    return time > INT64_MAX - span ? INT64_MAX : time + span;
}

/* ---- keeping the heaps right ---- */

static void address_changed(polite *polite, polite_slot *address)
{
    const timer_node *first = timer_top(&address->waiting);

    if (first && address->running < polite->options.per_host)
        timer_set(&polite->due, &address->node, later_of(first->time, polite_slot_time(address)), first->order);
    else
        timer_remove(&polite->due, &address->node);
}

static void pair_changed(polite *polite, polite_pair *pair)
{
    const polite_queue *first = TAILQ_FIRST(&pair->wanting);
    polite_slot *name = pair->name, *address = pair->address;

    if (first && name->running < polite->options.per_host)
        timer_set(&address->waiting, &pair->node, later_of(first->since, polite_slot_time(name)), first->turn);
    else
        timer_remove(&address->waiting, &pair->node);
    address_changed(polite, address);
}

/* The name of the pair has changed, and perhaps the address and the pair itself. */
static void name_changed(polite *polite, const polite_pair *pair)
{
    for (polite_pair *one = pair->name->pairs; one; one = one->next)
        pair_changed(polite, one);
}

/* Nothing goes to the name and the address before `until`. */
static void hold(polite_pair *pair, int64_t until)
{
    pair->name->not_before = later_of(pair->name->not_before, until);
    pair->address->not_before = later_of(pair->address->not_before, until);
}

/* ---- queues ---- */

int polite_open(polite **made, const polite_options *options)
{
    polite *polite = *made = calloc(1, sizeof *polite);

    if (!polite)
        return VIDI_EMEMORY;
    polite->options = *options;
    if (!polite->options.per_host)
        polite->options.per_host = 1;
    return VIDI_OK;
}

void polite_close(polite *polite)
{
    if (!polite)
        return;
    polite_free_slots(polite);
    free(polite);
}

polite_queue *polite_add(polite *polite, uint64_t name, uint64_t address, void *item)
{
    polite_queue *queue = calloc(1, sizeof *queue);
    polite_pair *pair = queue ? polite_pair_get(polite, name, address) : NULL;

    if (!pair) {
        free(queue);
        return NULL;
    }
    queue->pair = pair;
    queue->item = item;
    TAILQ_INSERT_TAIL(&pair->resting, queue, link);
    return queue;
}

void polite_remove(polite *polite, polite_queue *queue)
{
    polite_pair *pair = queue->pair;

    polite_want(polite, queue, false);
    TAILQ_REMOVE(&pair->resting, queue, link);
    free(queue);
    polite_pair_release(polite, pair);
}

void polite_crawl_delay(polite *polite, polite_queue *queue, int64_t delay)
{
    queue->crawl_delay = later_of(delay, 0);
    if (queue->asked && delay > 0) {
        hold(queue->pair, add_times(queue->ended, delay));
        name_changed(polite, queue->pair);
    }
}

/* The queue goes to the end of the line. */
static void wait_from_now(polite *polite, polite_queue *queue)
{
    queue->since = polite->now;
    queue->turn = ++polite->turns;
    TAILQ_INSERT_TAIL(&queue->pair->wanting, queue, link);
}

void polite_want(polite *polite, polite_queue *queue, bool wants)
{
    polite_pair *pair = queue->pair;

    if (queue->wants == wants)
        return;
    queue->wants = wants;
    TAILQ_REMOVE(wants ? &pair->resting : &pair->wanting, queue, link);
    if (wants) {
        wait_from_now(polite, queue);
        polite->wanting++;
        polite->waiting += queue->running == 0;
    } else {
        TAILQ_INSERT_TAIL(&pair->resting, queue, link);
        polite->wanting--;
        polite->waiting -= queue->running == 0;
    }
    pair_changed(polite, pair);
}

/* ---- turns ---- */

/* What lies between the beginnings of two requests, whatever the first takes. */
static int64_t least_delay(const polite *polite, const polite_queue *queue)
{
    return later_of(polite->options.delay < 0 ? POLITE_DELAY : polite->options.delay, queue->crawl_delay);
}

/* What lies between the end of a request and the beginning of the next. */
static int64_t delay_after(const polite *polite, const polite_queue *queue, int64_t took)
{
    int64_t least = least_delay(polite, queue);

    if (polite->options.delay >= 0 || took <= 0)
        return least;
    return later_of(least, took < POLITE_FACTOR_TOP / POLITE_FACTOR ? POLITE_FACTOR * took : POLITE_FACTOR_TOP);
}

static void slot_take(const polite *polite, polite_slot *slot, const polite_queue *queue)
{
    slot->running++;
    if (polite->options.per_host > 1 && least_delay(polite, queue) > 0) {
        slot->spaced = add_times(polite->now, least_delay(polite, queue));
        slot->latest = queue->turn;
    }
}

void *polite_next(polite *polite, int64_t now)
{
    polite->now = later_of(polite->now, now);
    polite_forget(polite);
    const timer_node *top = timer_top(&polite->due);
    if (!top || top->time > polite->now)
        return NULL;
    polite_pair *pair = (polite_pair *)timer_top(&((const polite_slot *)top)->waiting);
    polite_queue *queue = TAILQ_FIRST(&pair->wanting);
    TAILQ_REMOVE(&pair->wanting, queue, link);
    wait_from_now(polite, queue);
    polite->waiting -= queue->running == 0;
    queue->running++;
    slot_take(polite, pair->name, queue);
    slot_take(polite, pair->address, queue);
    name_changed(polite, pair);
    return queue->item;
}

static void give_back(polite *polite, polite_queue *queue)
{
    queue->running--;
    polite->waiting += queue->wants && queue->running == 0;
    queue->pair->name->running--;
    queue->pair->address->running--;
}

void polite_done(polite *polite, polite_queue *queue, int64_t now, int64_t took)
{
    int64_t delay = delay_after(polite, queue, took);

    polite->now = later_of(polite->now, now);
    give_back(polite, queue);
    queue->asked = true;
    queue->ended = now;
    if (delay > 0)
        hold(queue->pair, add_times(now, delay));
    name_changed(polite, queue->pair);
}

/* The turn before the latest lies further back than the delay, or the latest would not have been given. */
static void slot_untake(polite_slot *slot, const polite_queue *queue)
{
    if (slot->latest == queue->turn)
        slot->spaced = 0;
}

void polite_return(polite *polite, polite_queue *queue)
{
    give_back(polite, queue);
    slot_untake(queue->pair->name, queue);
    slot_untake(queue->pair->address, queue);
    name_changed(polite, queue->pair);
}

void polite_back_off(polite *polite, polite_queue *queue, int64_t until)
{
    hold(queue->pair, until);
    name_changed(polite, queue->pair);
}

/* ---- looking ---- */

int64_t polite_when(const polite *polite)
{
    const timer_node *top = timer_top(&polite->due);
    return top ? later_of(top->time, polite->now) : INT64_MAX;
}

int64_t polite_when_queue(const polite *polite, const polite_queue *queue)
{
    (void)polite;
    return later_of(polite_slot_time(queue->pair->name), polite_slot_time(queue->pair->address));
}

size_t polite_wanting(const polite *polite)
{
    return polite->wanting;
}

size_t polite_waiting(const polite *polite)
{
    return polite->waiting;
}

size_t polite_known(const polite *polite)
{
    return polite->slot_count;
}
