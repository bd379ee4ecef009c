/*
 * Ordered trees of nodes that lie inside the caller's structs. A tree allocates nothing and never fails, so a struct
 * can be in several orders at once, and inserting or removing it cannot stop half-way.
 *
 * They are weight-balanced: the sizes of two siblings, each plus one, differ by at most a factor of three. A node
 * therefore needs no balance beside its size, and the size also answers "how many are before this key?" in logarithmic
 * time. There is no hashing, so no sequence of keys makes it slow, and there is no moment at which everything is
 * rebuilt.
 *
 * No two nodes of a tree may have equal keys.
 */
#ifndef REDIS_TREE_H
#define REDIS_TREE_H

#include <stddef.h>
#include <stdint.h>

typedef struct tree_node {
    struct tree_node *child[2]; /* what is before this node, what is after it */
    uint64_t size;              /* nodes below and including this one */
} tree_node;

/* Below 0 if the key is before the node, 0 if it is the node's own, above 0 if it is after it. */
typedef int (*tree_order)(const void *key, const tree_node *node);

typedef struct tree {
    tree_node *root;
    tree_order order;
} tree;

/* The struct of this type whose member is the node; NULL for no node. */
#define tree_entry(node, type, member) ((type *)tree_entry_at((node), offsetof(type, member)))

static inline void *tree_entry_at(tree_node *node, size_t offset)
{
    return node ? (char *)node - offset : NULL;
}

static inline uint64_t tree_size(const tree *tree)
{
    return tree->root ? tree->root->size : 0;
}

/*
 * No path is longer: each level has at most 3/4 of the weight of the one above, and 2^58 nodes would fill the memory of
 * any machine: 58 / log2(4/3) < 140.
 */
#define TREE_DEPTH_MOST 160

/* Where a node with some key would be: the links on the way there. Good until the tree changes. */
typedef struct tree_place {
    tree_node **path[TREE_DEPTH_MOST + 1];
    size_t depth;
} tree_place;

/* The node with this key; or NULL, and the place where one would be, for tree_insert_at. */
tree_node *tree_find_place(tree *tree, const void *key, tree_place *place);
void tree_insert_at(tree_place *place, tree_node *node);

/* Inserts a node with this key: NULL; or returns the node that has the key already, and changes nothing. */
tree_node *tree_insert(tree *tree, const void *key, tree_node *node);

/* Removes the node with this key, which must be there. */
void tree_remove(tree *tree, const void *key);

/* The node with this key, or NULL. */
tree_node *tree_find(const tree *tree, const void *key);

/* The first node in order, or NULL. */
tree_node *tree_first(const tree *tree);

/* The first node after this key, which need not be in the tree; NULL if there is none. */
tree_node *tree_after(const tree *tree, const void *key);

/* Number of nodes before this key, which need not be in the tree. */
uint64_t tree_rank(const tree *tree, const void *key);

/*
 * Takes a tree apart: returns its nodes one by one, then NULL. The caller may free each node at once. Linear in total.
 * The tree must not be used for anything else until it is empty.
 */
tree_node *tree_dismantle(tree *tree);

/* Calls `visit` with each node in order, until it returns something other than 0; returns that, or 0. */
int tree_visit(const tree *tree, int (*visit)(void *context, tree_node *node), void *context);

/* ---- many nodes at once ---- */

/* A node, and a number that nodes are sorted by. */
typedef struct tree_item {
    uint64_t number;
    tree_node *node;
} tree_item;

/* Sorts items by their numbers, and leaves equal ones in their order. `room` is for n more. Linear. */
void tree_sort(tree_item *items, tree_item *room, size_t n);

/* Makes the tree of n nodes, which are in its order, instead of what it was. Linear. */
void tree_build(tree *tree, const tree_item *items, size_t n);

#endif
