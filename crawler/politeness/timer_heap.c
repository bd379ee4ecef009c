/*
 * The heap: see timer_heap.h. Node i (from 1) is in nodes[i - 1]; its parent is node i / 2.
 */
#include "crawler/politeness/timer_heap.h"

#include <stdlib.h>

enum { FIRST_ROOM = 4 };

bool timer_reserve(timer_heap *heap, size_t count)
{
    if (count <= heap->room)
        return true;
    if (count > SIZE_MAX / sizeof *heap->nodes / 2)
        return false;
    size_t room = heap->room < FIRST_ROOM ? FIRST_ROOM : 2 * heap->room;
    if (room < count)
        room = count;
    timer_node **grown = realloc(heap->nodes, room * sizeof *grown);
    if (!grown)
        return false;
    heap->nodes = grown;
    heap->room = room;
    return true;
}

void timer_free(timer_heap *heap)
{
    free(heap->nodes);
    *heap = (timer_heap){0};
}

timer_node *timer_top(const timer_heap *heap)
{
    return heap->count ? heap->nodes[0] : NULL;
}

static bool is_before(const timer_node *a, const timer_node *b)
{
    return a->time != b->time ? a->time < b->time : a->order < b->order;
}

static void put(timer_heap *heap, timer_node *node, size_t place)
{
    heap->nodes[place - 1] = node;
    node->place = place;
}

/* Lets the node rise from `place`, which is free, and then sink from where it got to. */
static void settle(timer_heap *heap, timer_node *node, size_t place)
{
    for (; place > 1 && is_before(node, heap->nodes[place / 2 - 1]); place /= 2)
        put(heap, heap->nodes[place / 2 - 1], place);
    for (size_t child; (child = 2 * place) <= heap->count; place = child) {
        if (child < heap->count && is_before(heap->nodes[child], heap->nodes[child - 1]))
            child++;
        if (!is_before(heap->nodes[child - 1], node))
            break;
        put(heap, heap->nodes[child - 1], place);
    }
    put(heap, node, place);
}

void timer_set(timer_heap *heap, timer_node *node, int64_t time, uint64_t order)
{
    node->time = time;
    node->order = order;
    settle(heap, node, node->place ? node->place : ++heap->count);
}

void timer_remove(timer_heap *heap, timer_node *node)
{
    size_t place = node->place;

    if (!place)
        return;
    node->place = 0;
    timer_node *last = heap->nodes[--heap->count];
    if (last != node)
        settle(heap, last, place);
}
