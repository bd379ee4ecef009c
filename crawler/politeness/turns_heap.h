/*
 * A binary heap of things that wait for a time: the earliest is on top; of two with the same time, the one with the
 * lower order. A thing holds its node and so knows its place, which makes changing and removing as fast as adding.
 */
#ifndef VIDI_CRAWLER_POLITENESS_TURNS_HEAP_H
#define VIDI_CRAWLER_POLITENESS_TURNS_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct turns_node {
    int64_t time;
    uint64_t order;
    size_t place; /* in the heap's array, from 1; 0: in no heap */
} turns_node;

typedef struct turns_heap {
    turns_node **nodes;
    size_t count, room;
} turns_heap;

/* Makes sure that `count` nodes can be in the heap, so that turns_set never needs memory. False: there is none. */
bool turns_reserve(turns_heap *heap, size_t count);
void turns_free(turns_heap *heap);

/* The earliest node; NULL: the heap is empty. */
turns_node *turns_top(const turns_heap *heap);

/* Puts the node into the heap, or moves it to where it belongs with its new time and order. */
void turns_set(turns_heap *heap, turns_node *node, int64_t time, uint64_t order);

/* Does nothing if the node is in no heap. */
void turns_remove(turns_heap *heap, turns_node *node);

#endif
