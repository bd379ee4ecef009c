/*
 * Names, addresses and pairs: finding, making and forgetting them. Heaps get their room here, when something is made,
 * so that nothing that happens later needs memory.
 */
#include "crawler/politeness/slots.h"

#include <search.h>
#include <stdlib.h>

/* ---- slots ---- */

static int compare(const void *a, const void *b)
{
    uint64_t x = ((const polite_slot *)a)->key, y = ((const polite_slot *)b)->key;
    return (x > y) - (x < y);
}

static void **tree_of(polite *polite, bool is_name)
{
    return is_name ? &polite->names : &polite->addresses;
}

static void slot_free(void *freed)
{
    polite_slot *slot = freed;
    timer_free(&slot->waiting);
    free(slot);
}

/* The slot must be in no heap. */
static void slot_forget(polite *polite, polite_slot *slot)
{
    tdelete(slot, tree_of(polite, slot->is_name), compare);
    polite->slot_count--;
    slot_free(slot);
}

static polite_slot *slot_make(polite *polite, bool is_name, uint64_t key)
{
    polite_slot *slot = calloc(1, sizeof *slot);

    if (!slot)
        return NULL;
    slot->key = key;
    slot->is_name = is_name;
    if (!timer_reserve(&polite->idle, polite->slot_count + 1) || !timer_reserve(&polite->due, polite->slot_count + 1) ||
        !tsearch(slot, tree_of(polite, is_name), compare)) {
        free(slot);
        return NULL;
    }
    polite->slot_count++;
    return slot;
}

static polite_slot *slot_get(polite *polite, bool is_name, uint64_t key)
{
    polite_slot sought = {.key = key};
    void *found = tfind(&sought, tree_of(polite, is_name), compare);

    return found ? *(polite_slot **)found : slot_make(polite, is_name, key);
}

/* Forgets the slot if it has no queues: now, or when what it has to wait for is over. */
static void slot_release(polite *polite, polite_slot *slot)
{
    if (slot->pair_count)
        return;
    timer_remove(&polite->idle, &slot->node);
    if (polite_slot_time(slot) > polite->now)
        timer_set(&polite->idle, &slot->node, polite_slot_time(slot), 0);
    else
        slot_forget(polite, slot);
}

void polite_forget(polite *polite)
{
    for (timer_node *node; (node = timer_top(&polite->idle)) && node->time <= polite->now;) {
        timer_remove(&polite->idle, node);
        slot_forget(polite, (polite_slot *)node);
    }
}

/* ---- pairs ---- */

static polite_pair *pair_make(polite *polite, polite_slot *name, polite_slot *address)
{
    polite_pair *pair = calloc(1, sizeof *pair);

    if (!pair || !timer_reserve(&address->waiting, address->pair_count + 1)) {
        free(pair);
        return NULL;
    }
    TAILQ_INIT(&pair->wanting);
    TAILQ_INIT(&pair->resting);
    pair->name = name;
    pair->address = address;
    pair->next = name->pairs;
    name->pairs = pair;
    name->pair_count++;
    address->pair_count++;
    timer_remove(&polite->idle, &name->node);
    if (address->pair_count == 1)
        timer_remove(&polite->idle, &address->node);
    return pair;
}

polite_pair *polite_pair_get(polite *polite, uint64_t name_key, uint64_t address_key)
{
    polite_slot *name = slot_get(polite, true, name_key);
    polite_slot *address = slot_get(polite, false, address_key);
    polite_pair *pair = NULL;

    if (name && address) {
        for (pair = name->pairs; pair && pair->address != address; pair = pair->next)
            ;
        if (!pair)
            pair = pair_make(polite, name, address);
    }
    if (!pair && name)
        slot_release(polite, name);
    if (!pair && address)
        slot_release(polite, address);
    return pair;
}

void polite_pair_release(polite *polite, polite_pair *pair)
{
    if (!TAILQ_EMPTY(&pair->wanting) || !TAILQ_EMPTY(&pair->resting))
        return;
    polite_pair **link = &pair->name->pairs;
    while (*link != pair)
        link = &(*link)->next;
    *link = pair->next;
    pair->name->pair_count--;
    pair->address->pair_count--;
    slot_release(polite, pair->name);
    slot_release(polite, pair->address);
    free(pair);
}

/* The tree's nodes end before its slots, and the slots of addresses after the pairs that name them. */
static void name_free(void *freed)
{
    polite_slot *name = freed;
    for (polite_pair *pair = name->pairs, *next; pair; pair = next) {
        next = pair->next;
        TAILQ_CONCAT(&pair->wanting, &pair->resting, link);
        for (polite_queue *queue; (queue = TAILQ_FIRST(&pair->wanting));) {
            TAILQ_REMOVE(&pair->wanting, queue, link);
            free(queue);
        }
        free(pair);
    }
    slot_free(name);
}

void polite_free_slots(polite *polite)
{
    tdestroy(polite->names, name_free);
    tdestroy(polite->addresses, slot_free);
    timer_free(&polite->due);
    timer_free(&polite->idle);
}
