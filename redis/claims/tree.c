/*
 * Weight-balanced trees after Nievergelt and Reingold (1973), with the parameters 3 and 2, for which Hirai and Yamamoto
 * ("Balancing weight-balanced trees", Journal of Functional Programming 21, 2011) prove that one single or double
 * rotation at each level restores the balance after an insertion or removal.
 */
#include "tree.h"

#include <stdbool.h>
#include <string.h>

#define DELTA 3u /* a sibling weighs at most this many times as much as the other */
#define GAMMA 2u /* the inner grandchild must weigh less than this many times the outer for a single rotation */

static uint64_t weight(const tree_node *node)
{
    return node ? node->size + 1 : 1;
}

static void count(tree_node *node)
{
    node->size = weight(node->child[0]) + weight(node->child[1]) - 1;
}

/* Rotates: the child on this side takes the place of its parent. */
static void lift(tree_node **link, int side)
{
    tree_node *parent = *link;
    tree_node *child = parent->child[side];
    parent->child[side] = child->child[!side];
    child->child[!side] = parent;
    count(parent);
    count(child);
    *link = child;
}

/* Restores the balance of a node whose child on this side has become too heavy. */
static void rotate(tree_node **link, int heavy)
{
    tree_node *node = *link;
    const tree_node *child = node->child[heavy];
    if (weight(child->child[!heavy]) >= GAMMA * weight(child->child[heavy]))
        lift(&node->child[heavy], !heavy);
    lift(link, heavy);
}

/*
 * Goes back up a path after a node was inserted or removed at its lower end, `below`. What the sibling of a child
 * weighs follows from the sizes of the parent and the child, so that only nodes on the path are touched unless one
 * rotates.
 */
static void retrace(tree_node ***path, size_t depth, tree_node **below, bool inserted)
{
    while (depth > 0) {
        tree_node **link = path[--depth];
        tree_node *node = *link;
        int side = below == &node->child[1]; /* NOLINT(clang-analyzer-core.NullDereference): a node */
        node->size = inserted ? node->size + 1 : node->size - 1;
        uint64_t changed = weight(*below), other = node->size + 1 - changed;
        if (changed > DELTA * other)
            rotate(link, side);
        else if (other > DELTA * changed)
            rotate(link, !side);
        below = link;
    }
}

tree_node *tree_find_place(tree *tree, const void *key, tree_place *place)
{
    tree_node **link = &tree->root;
    place->depth = 0;
    while (*link) {
        int side = tree->order(key, *link);
        if (side == 0)
            return *link;
        place->path[place->depth++] = link;
        link = &(*link)->child[side > 0];
    }
    place->path[place->depth] = link;
    return NULL;
}

void tree_insert_at(tree_place *place, tree_node *node)
{
    tree_node **link = place->path[place->depth];
    *node = (tree_node){{NULL, NULL}, 1};
    *link = node;
    retrace(place->path, place->depth, link, true);
}

tree_node *tree_insert(tree *tree, const void *key, tree_node *node)
{
    tree_place place;
    tree_node *there = tree_find_place(tree, key, &place);
    if (!there)
        tree_insert_at(&place, node);
    return there;
}

void tree_remove(tree *tree, const void *key)
{
    tree_node **path[TREE_DEPTH_MOST];
    size_t depth = 0;
    tree_node **link = &tree->root;
    for (int side = tree->order(key, *link); side != 0; side = tree->order(key, *link)) {
        path[depth++] = link;
        link = &(*link)->child[side > 0];
    }
    tree_node *node = *link;
    if (!node->child[0] || !node->child[1]) {
        *link = node->child[node->child[0] == NULL];
        retrace(path, depth, link, false);
        return;
    }
    /* The next node in order takes its place. */
    size_t place = depth;
    tree_node **next = &node->child[1];
    path[depth++] = link;
    while ((*next)->child[0]) {
        path[depth++] = next;
        next = &(*next)->child[0];
    }
    tree_node *heir = *next;
    *next = heir->child[1];
    *heir = *node;
    *link = heir;
    if (depth > place + 1)
        path[place + 1] = &heir->child[1]; /* was &node->child[1] */
    else
        next = &heir->child[1];
    retrace(path, depth, next, false);
}

tree_node *tree_find(const tree *tree, const void *key)
{
    tree_node *node = tree->root;
    while (node) {
        int side = tree->order(key, node);
        if (side == 0)
            return node;
        node = node->child[side > 0];
    }
    return NULL;
}

tree_node *tree_first(const tree *tree)
{
    tree_node *node = tree->root;
    while (node && node->child[0])
        node = node->child[0];
    return node;
}

tree_node *tree_after(const tree *tree, const void *key)
{
    tree_node *best = NULL;
    tree_node *node = tree->root;
    while (node) {
        int side = tree->order(key, node);
        if (side < 0)
            best = node;
        node = node->child[side >= 0];
    }
    return best;
}

uint64_t tree_rank(const tree *tree, const void *key)
{
    uint64_t before = 0;
    const tree_node *node = tree->root;
    while (node) {
        int side = tree->order(key, node);
        if (side > 0)
            before += weight(node->child[0]);
        node = node->child[side > 0];
    }
    return before;
}

tree_node *tree_dismantle(tree *tree)
{
    tree_node *node = tree->root;
    while (node && node->child[0]) { /* hangs the nodes into a chain to the right, without regard for sizes */
        tree_node *child = node->child[0];
        node->child[0] = child->child[1];
        child->child[1] = node;
        node = child;
    }
    tree->root = node ? node->child[1] : NULL;
    return node;
}

int tree_visit(const tree *tree, int (*visit)(void *context, tree_node *node), void *context)
{
    tree_node *path[TREE_DEPTH_MOST];
    size_t depth = 0;
    int answer = 0;
    for (tree_node *node = tree->root; !answer && (node || depth); node = node->child[1]) {
        for (; node; node = node->child[0])
            path[depth++] = node;
        node = path[--depth];
        answer = visit(context, node);
    }
    return answer;
}

/* ---- many nodes at once ---- */

#define DIGIT_BITS 8
#define DIGITS 256

static size_t digit(const tree_item *item, unsigned shift)
{
    return item->number >> shift & (DIGITS - 1);
}

/* Moves items to where they belong by one digit, or returns false if all have the same one. */
static bool sort_by_digit(const tree_item *from, tree_item *to, size_t n, unsigned shift)
{
    size_t places[DIGITS] = {0}, next = 0;
    for (size_t i = 0; i < n; i++)
        places[digit(&from[i], shift)]++;
    if (n == 0 || places[digit(from, shift)] == n)
        return false;
    for (size_t d = 0; d < DIGITS; d++) {
        size_t count = places[d];
        places[d] = next;
        next += count;
    }
    for (size_t i = 0; i < n; i++)
        to[places[digit(&from[i], shift)]++] = from[i];
    return true;
}

void tree_sort(tree_item *items, tree_item *room, size_t n)
{
    tree_item *from = items, *to = room;
    for (unsigned shift = 0; shift < 64; shift += DIGIT_BITS) {
        if (sort_by_digit(from, to, n, shift)) {
            tree_item *sorted = to;
            to = from;
            from = sorted;
        }
    }
    if (from != items)
        memcpy(items, from, n * sizeof *items);
}

/* The node in the middle is the root; then the same for what is before it and what is after it. */
void tree_build(tree *tree, const tree_item *items, size_t n)
{
    struct {
        tree_node **link;
        size_t begin, end;
    } spans[66] = {{&tree->root, 0, n}}; /* each is at most half as long as the one two below it */
    size_t count = 1;
    while (count > 0) {
        tree_node **link = spans[--count].link;
        size_t begin = spans[count].begin, end = spans[count].end, middle = begin + (end - begin) / 2;
        *link = begin < end ? items[middle].node : NULL;
        if (!*link)
            continue;
        tree_node *node = *link;
        node->size = end - begin;
        spans[count].link = &node->child[1];
        spans[count].begin = middle + 1;
        spans[count++].end = end;
        spans[count].link = &node->child[0];
        spans[count].begin = begin;
        spans[count++].end = middle;
    }
}
