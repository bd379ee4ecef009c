/*
 * The heap: see turns_heap.h. Node i (from 1) is in nodes[i - 1]; its parent is node i / 2.
 */
#include "crawler/politeness/turns_heap.h"

#include <stdlib.h>

enum { FIRST_ROOM = 4 };

bool turns_reserve(turns_heap *heap, size_t count)
{
    if (count <= heap->room)
        return true;
    if (count > SIZE_MAX / sizeof *heap->nodes / 2)
        return false;
    size_t room = heap->room < FIRST_ROOM ? FIRST_ROOM : 2 * heap->room;
    if (room < count)
        room = count;
    turns_node **grown = realloc(heap->nodes, room * sizeof *grown);
    if (!grown)
        return false;
    heap->nodes = grown;
    heap->room = room;
    return true;
}

void turns_free(turns_heap *heap)
{
    free(heap->nodes);
    *heap = (turns_heap){0};
}

turns_node *turns_top(const turns_heap *heap)
{
    return heap->count ? heap->nodes[0] : NULL;
}

static bool is_before(const turns_node *a, const turns_node *b)
{
    return a->time != b->time ? a->time < b->time : a->order < b->order;
}

static void put(turns_heap *heap, turns_node *node, size_t place)
{
    heap->nodes[place - 1] = node;
    node->place = place;
}

/* Lets the node rise from `place`, which is free, and then sink from where it got to. */
static void settle(turns_heap *heap, turns_node *node, size_t place)
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

void turns_set(turns_heap *heap, turns_node *node, int64_t time, uint64_t order)
{
    node->time = time;
    node->order = order;
    settle(heap, node, node->place ? node->place : ++heap->count);
}

void turns_remove(turns_heap *heap, turns_node *node)
{
    size_t place = node->place;

    if (!place)
        return;
    node->place = 0;
    turns_node *last = heap->nodes[--heap->count];
    if (last != node)
        settle(heap, last, place);
}
