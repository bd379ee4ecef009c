/*
 * A binary heap of things that wait for a time: the earliest is on top; of two with the same time, the one with the
 * lower order. A thing holds its node and so knows its place, which makes changing and removing as fast as adding.
 */
#ifndef VIDI_CRAWLER_POLITENESS_TIMER_HEAP_H
#define VIDI_CRAWLER_POLITENESS_TIMER_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct timer_node {
    int64_t time;
    uint64_t order;
    size_t place; /* in the heap's array, from 1; 0: in no heap */
} timer_node;

typedef struct timer_heap {
    timer_node **nodes;
    size_t count, room;
} timer_heap;

/* Makes sure that `count` nodes can be in the heap, so that timer_set never needs memory. False: there is none. */
bool timer_reserve(timer_heap *heap, size_t count);
void timer_free(timer_heap *heap);

/* The earliest node; NULL: the heap is empty. */
timer_node *timer_top(const timer_heap *heap);

/* Puts the node into the heap, or moves it to where it belongs with its new time and order. */
void timer_set(timer_heap *heap, timer_node *node, int64_t time, uint64_t order);

/* Does nothing if the node is in no heap. */
void timer_remove(timer_heap *heap, timer_node *node);

#endif
