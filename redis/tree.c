/*
 * Weight-balanced trees after Nievergelt and Reingold (1973), with the parameters 3 and 2, for which Hirai and Yamamoto
 * ("Balancing weight-balanced trees", Journal of Functional Programming 21, 2011) prove that one single or double
 * rotation at each level restores the balance after an insertion or removal.
 */
#include "tree.h"

#define DELTA 3u /* a sibling weighs at most this many times as much as the other */
#define GAMMA 2u /* the inner grandchild must weigh less than this many times the outer for a single rotation */

/*
 * No path is longer: each level has at most 3/4 of the weight of the one above, and 2^58 nodes would fill the memory of
 * any machine: 58 / log2(4/3) < 140.
 */
#define DEPTH_MOST 160

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

/* Restores size and balance of a node whose children are in order, one of them having gained or lost one node. */
static void mend(tree_node **link)
{
    tree_node *node = *link;
    int heavy = weight(node->child[1]) > weight(node->child[0]);
    count(node);
    if (weight(node->child[heavy]) <= DELTA * weight(node->child[!heavy]))
        return;
    const tree_node *child = node->child[heavy];
    if (weight(child->child[!heavy]) >= GAMMA * weight(child->child[heavy]))
        lift(&node->child[heavy], !heavy);
    lift(link, heavy);
}

void tree_insert(tree *tree, const void *key, tree_node *node)
{
    tree_node **path[DEPTH_MOST];
    size_t depth = 0;
    tree_node **link = &tree->root;
    while (*link) {
        path[depth++] = link;
        link = &(*link)->child[tree->order(key, *link) > 0];
    }
    *node = (tree_node){{NULL, NULL}, 1};
    *link = node;
    while (depth > 0)
        mend(path[--depth]);
}

void tree_remove(tree *tree, const void *key)
{
    tree_node **path[DEPTH_MOST];
    size_t depth = 0;
    tree_node **link = &tree->root;
    for (int side = tree->order(key, *link); side != 0; side = tree->order(key, *link)) {
        path[depth++] = link;
        link = &(*link)->child[side > 0];
    }
    tree_node *node = *link;
    if (!node->child[0] || !node->child[1]) {
        *link = node->child[node->child[0] == NULL];
    } else { /* the next node in order takes its place */
        size_t place = depth;
        path[depth++] = link;
        tree_node **next = &node->child[1];
        while ((*next)->child[0]) {
            path[depth++] = next;
            next = &(*next)->child[0];
        }
        tree_node *heir = *next;
        *next = heir->child[1];
        heir->child[0] = node->child[0];
        heir->child[1] = node->child[1];
        *link = heir;
        if (depth > place + 1)
            path[place + 1] = &heir->child[1]; /* was &node->child[1] */
    }
    while (depth > 0)
        mend(path[--depth]);
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
