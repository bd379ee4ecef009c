/*
 * A claim is one allocation: the struct, then the bytes of its key, URL and payload. Four trees order the claims:
 *
 *   by_key       finds the claim of a URL, and lists claims in an order that renewals do not change
 *   by_token     finds the claim of a token; claims that were given up are not in it
 *   by_deadline  by (epoch, deadline, key): hands out what expired first, and counts what has expired
 *   of_owner     one tree per owner, by key; claims that were given up are in none
 *
 * The epoch comes first in by_deadline, so that a rotation need not touch a single claim: everything of an earlier
 * epoch is before everything of the current one, and counts as expired. Claims that were loaded with a void token
 * belong to epoch 0. A claim that is given up stays in its epoch with a deadline of its own. Otherwise a page that is
 * given up again and again would always be handed out before the pages of workers that died.
 *
 * An owner is kept as long as it has claims.
 *
 * Claims that are loaded or copied come in the order of their keys. Until the last one is there, they hang in by_key in
 * a chain to the right, whose first node counts them; then all trees are built at once from sorted lists, in linear
 * time. One insertion after the other would take several cache misses in each of the trees.
 */
#include "claims.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "tree.h"

typedef struct owner {
    tree_node node; /* in claims.owners */
    tree held;
    uint32_t name_len;
    char name[];
} owner;

/* What a comparison reads lies next to the node that led there: a descent costs little but cache misses. */
struct claim {
    tree_node by_token;
    uint64_t token;
    tree_node by_deadline;
    uint64_t epoch;
    int64_t deadline;
    int64_t lease;
    owner *owner;  /* NULL: given up */
    uint64_t loss; /* in units of 1 / LOSS_UNIT, so that sums are exact */
    tree_node of_owner;
    tree_node by_key;
    uint32_t payload_len;
    uint32_t url_len; /* ALIKE: the key is the URL, and is kept once */
    uint32_t key_len;
    char bytes[]; /* key, URL, payload */
};

#define ALIKE UINT32_MAX
#define LOSS_UNIT 0x1p60
#define LOSS_MOST 8.0

struct claims {
    vidi_allocator allocator;
    tree by_key, by_token, by_deadline, owners;
    uint64_t epoch; /* from 1 */
    unsigned __int128 loss;
    claim *last; /* the end of the chain, while claims are appended */
};

/* ---- orders ---- */

typedef struct deadline_key {
    uint64_t epoch;
    int64_t deadline;
    vidi_str key;
} deadline_key;

static int compare_bytes(vidi_str a, vidi_str b)
{
    size_t common = a.len < b.len ? a.len : b.len;
    int order = common ? memcmp(a.ptr, b.ptr, common) : 0;
    return order ? order : (a.len > b.len) - (a.len < b.len);
}

static vidi_str key_of(const claim *claim)
{
    return (vidi_str){claim->bytes, claim->key_len};
}

#define claim_of(node, member) tree_entry((tree_node *)(node), struct claim, member)

static int order_by_key(const void *key, const tree_node *node)
{
    return compare_bytes(*(const vidi_str *)key, key_of(claim_of(node, by_key)));
}

static int order_of_owner(const void *key, const tree_node *node)
{
    return compare_bytes(*(const vidi_str *)key, key_of(claim_of(node, of_owner)));
}

static int order_by_token(const void *key, const tree_node *node)
{
    uint64_t token = *(const uint64_t *)key, other = claim_of(node, by_token)->token;
    return (token > other) - (token < other);
}

static int order_by_deadline(const void *key, const tree_node *node)
{
    const deadline_key *a = key;
    const claim *b = claim_of(node, by_deadline);
    if (a->epoch != b->epoch)
        return a->epoch > b->epoch ? 1 : -1;
    if (a->deadline != b->deadline)
        return a->deadline > b->deadline ? 1 : -1;
    return compare_bytes(a->key, key_of(b));
}

static int order_owners(const void *key, const tree_node *node)
{
    const owner *owner = tree_entry((tree_node *)node, struct owner, node);
    return compare_bytes(*(const vidi_str *)key, (vidi_str){owner->name, owner->name_len});
}

static deadline_key deadline_key_of(const claim *claim)
{
    return (deadline_key){claim->epoch, claim->deadline, key_of(claim)};
}

/* ---- memory ---- */

static void *allocate(const claims *claims, size_t bytes)
{
    return claims->allocator.allocate(claims->allocator.context, bytes, _Alignof(max_align_t));
}

static void release(const claims *claims, void *ptr, size_t bytes)
{
    claims->allocator.release(claims->allocator.context, ptr, bytes, _Alignof(max_align_t));
}

static uint32_t url_bytes(const claim *claim)
{
    return claim->url_len == ALIKE ? 0 : claim->url_len;
}

static size_t claim_bytes(const claim *claim)
{
    return sizeof(struct claim) + claim->key_len + (size_t)url_bytes(claim) + claim->payload_len;
}

static void owner_free(const claims *claims, owner *owner)
{
    release(claims, owner, sizeof *owner + owner->name_len);
}

/* Finds an owner or makes one; NULL if there is no memory. One without claims must be passed to owner_drop_idle. */
static owner *owner_get(claims *claims, vidi_str name)
{
    owner *found = tree_entry(tree_find(&claims->owners, &name), struct owner, node);
    if (found)
        return found;
    owner *made = allocate(claims, sizeof *made + name.len);
    if (made) {
        made->held = (tree){NULL, order_of_owner};
        made->name_len = (uint32_t)name.len;
        memcpy(made->name, name.ptr, name.len);
        tree_insert(&claims->owners, &name, &made->node);
    }
    return made;
}

static void owner_drop_idle(claims *claims, owner *owner)
{
    if (owner && tree_size(&owner->held) == 0) {
        tree_remove(&claims->owners, &(vidi_str){owner->name, owner->name_len});
        owner_free(claims, owner);
    }
}

claims *claims_create(const vidi_allocator *allocator)
{
    claims *made = allocator->allocate(allocator->context, sizeof *made, _Alignof(max_align_t));
    if (made) {
        *made = (claims){.allocator = *allocator, .epoch = 1};
        made->by_key.order = order_by_key;
        made->by_token.order = order_by_token;
        made->by_deadline.order = order_by_deadline;
        made->owners.order = order_owners;
    }
    return made;
}

void claims_free(claims *claims)
{
    if (!claims)
        return;
    tree_node *node;
    while ((node = tree_dismantle(&claims->by_key))) {
        claim *claim = claim_of(node, by_key);
        release(claims, claim, claim_bytes(claim));
    }
    while ((node = tree_dismantle(&claims->owners)))
        owner_free(claims, tree_entry(node, struct owner, node));
    claims->allocator.release(claims->allocator.context, claims, sizeof *claims, _Alignof(max_align_t));
}

/* ---- asking ---- */

static bool is_void(const claims *claims, const claim *claim)
{
    return claim->token == 0 || claim->epoch < claims->epoch;
}

uint64_t claims_count(const claims *claims)
{
    return claims ? tree_size(&claims->by_key) : 0;
}

uint64_t claims_expired(const claims *claims, int64_t now)
{
    if (!claims)
        return 0;
    /* No key is before the empty one, so this counts the deadlines up to `now`. */
    return tree_rank(&claims->by_deadline, &(deadline_key){claims->epoch, now + 1, {NULL, 0}});
}

double claims_loss(const claims *claims)
{
    return claims ? (double)claims->loss / LOSS_UNIT : 0;
}

bool claim_is_expired(const claims *claims, const claim *claim, int64_t now)
{
    return claim->epoch < claims->epoch || claim->deadline <= now;
}

claim_terms claim_read(const claims *claims, const claim *claim)
{
    bool alike = claim->url_len == ALIKE;
    const char *url = claim->bytes + (alike ? 0 : claim->key_len);
    bool owned = claim->owner && !is_void(claims, claim);
    return (claim_terms){
        .key = key_of(claim),
        .url = {url, alike ? claim->key_len : claim->url_len},
        .payload = {claim->bytes + claim->key_len + url_bytes(claim), claim->payload_len},
        .owner = owned ? (vidi_str){claim->owner->name, claim->owner->name_len} : (vidi_str){NULL, 0},
        .token = owned ? claim->token : 0,
        .deadline = claim->deadline,
        .lease = claim->lease,
        .loss = (double)claim->loss / LOSS_UNIT,
    };
}

claim *claims_of_url(const claims *claims, vidi_str key)
{
    return claim_of(tree_find(&claims->by_key, &key), by_key);
}

claim *claims_of_token(const claims *claims, uint64_t token)
{
    claim *found = claim_of(tree_find(&claims->by_token, &token), by_token);
    return found && !is_void(claims, found) ? found : NULL;
}

claim *claims_first_expired(const claims *claims, int64_t now)
{
    claim *first = claim_of(tree_first(&claims->by_deadline), by_deadline);
    return first && claim_is_expired(claims, first, now) ? first : NULL;
}

claim *claims_next(const claims *claims, const claim *after)
{
    if (!claims)
        return NULL;
    if (!after)
        return claim_of(tree_first(&claims->by_deadline), by_deadline);
    deadline_key key = deadline_key_of(after);
    return claim_of(tree_after(&claims->by_deadline, &key), by_deadline);
}

typedef struct visitor {
    const claims *claims;
    int (*visit)(void *context, const claim_terms *terms);
    void *context;
} visitor;

static int visit_node(void *context, tree_node *node)
{
    const visitor *visitor = context;
    claim_terms terms = claim_read(visitor->claims, claim_of(node, by_key));
    return visitor->visit(visitor->context, &terms);
}

int claims_visit(const claims *claims, int (*visit)(void *context, const claim_terms *terms), void *context)
{
    visitor visitor = {claims, visit, context};
    return claims ? tree_visit(&claims->by_key, visit_node, &visitor) : 0;
}

claim *claims_list(const claims *claims, const vidi_str *after)
{
    return claim_of(after ? tree_after(&claims->by_key, after) : tree_first(&claims->by_key), by_key);
}

claim *claims_list_of(const claims *claims, vidi_str owner, const vidi_str *after)
{
    const struct owner *found = tree_entry(tree_find(&claims->owners, &owner), struct owner, node);
    if (!found)
        return NULL;
    return claim_of(after ? tree_after(&found->held, after) : tree_first(&found->held), of_owner);
}

/* ---- changing ---- */

/* Puts a claim with its deadline, token and owner into the trees for these. */
static void enlist(claims *claims, claim *claim)
{
    deadline_key deadline = deadline_key_of(claim);
    tree_insert(&claims->by_deadline, &deadline, &claim->by_deadline);
    if (claim->token)
        tree_insert(&claims->by_token, &claim->token, &claim->by_token);
    if (claim->owner) {
        vidi_str key = key_of(claim);
        tree_insert(&claim->owner->held, &key, &claim->of_owner);
    }
}

/* Takes it out of these trees, before one of them changes. Its owner may be left without claims. */
static void strike(claims *claims, claim *claim)
{
    deadline_key deadline = deadline_key_of(claim);
    tree_remove(&claims->by_deadline, &deadline);
    if (claim->token)
        tree_remove(&claims->by_token, &claim->token);
    if (claim->owner) {
        vidi_str key = key_of(claim);
        tree_remove(&claim->owner->held, &key);
    }
}

/* Removes a claim from everything and frees it. Its owner may be left without claims. */
static void forget(claims *claims, claim *claim)
{
    vidi_str key = key_of(claim);
    strike(claims, claim);
    tree_remove(&claims->by_key, &key);
    claims->loss -= claim->loss;
    release(claims, claim, claim_bytes(claim));
}

static bool holding_in_range(vidi_str owner, uint64_t token, int64_t deadline, int64_t lease)
{
    return owner.len <= CLAIM_OWNER_MOST && (owner.len == 0) == (token == 0) && deadline >= 0 &&
           deadline <= CLAIM_DEADLINE_MOST && lease >= 1 && lease <= CLAIM_LEASE_MOST;
}

static bool terms_in_range(const claim_terms *terms)
{
    return terms->key.len < ALIKE && terms->url.len < ALIKE && terms->payload.len < ALIKE &&
           holding_in_range(terms->owner, terms->token, terms->deadline, terms->lease);
}

/* True if the token is in use, by any claim but this one. */
static bool token_taken(const claims *claims, uint64_t token, const claim *by_other_than)
{
    const claim *found = token ? claim_of(tree_find(&claims->by_token, &token), by_token) : NULL;
    return found && found != by_other_than;
}

static uint64_t loss_units(double loss)
{
    if (!(loss > 0)) /* also if it is no number */
        return 0;
    return (uint64_t)((loss < LOSS_MOST ? loss : LOSS_MOST) * LOSS_UNIT);
}

/* A claim with these terms, in no tree yet; NULL if there is no memory. */
static claim *claim_make(claims *claims, const claim_terms *terms)
{
    bool alike = compare_bytes(terms->key, terms->url) == 0;
    struct claim lengths = {.key_len = (uint32_t)terms->key.len,
                            .url_len = alike ? ALIKE : (uint32_t)terms->url.len,
                            .payload_len = (uint32_t)terms->payload.len};
    claim *made = allocate(claims, claim_bytes(&lengths));
    if (!made)
        return NULL;
    *made = lengths;
    made->token = terms->token;
    made->epoch = terms->token ? claims->epoch : 0;
    made->deadline = terms->deadline;
    made->lease = terms->lease;
    made->loss = loss_units(terms->loss);
    const vidi_str parts[] = {terms->key, alike ? (vidi_str){NULL, 0} : terms->url, terms->payload};
    char *at = made->bytes;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (parts[i].len) {
            memcpy(at, parts[i].ptr, parts[i].len);
            at += parts[i].len;
        }
    }
    if (!terms->owner.len || (made->owner = owner_get(claims, terms->owner)))
        return made;
    release(claims, made, claim_bytes(made));
    return NULL;
}

int claims_put(claims *claims, const claim_terms *terms)
{
    if (!terms_in_range(terms))
        return VIDI_ELIMIT;
    claim *old = claims_of_url(claims, terms->key);
    if (token_taken(claims, terms->token, old))
        return VIDI_EEXIST;
    claim *made = claim_make(claims, terms);
    if (!made)
        return VIDI_EMEMORY;
    owner *before = old ? old->owner : NULL;
    if (old)
        forget(claims, old);
    vidi_str key = key_of(made);
    tree_insert(&claims->by_key, &key, &made->by_key);
    enlist(claims, made);
    claims->loss += made->loss;
    owner_drop_idle(claims, before);
    return VIDI_OK;
}

int claims_pass(claims *claims, claim *claim, vidi_str owner, uint64_t token, int64_t deadline, int64_t lease)
{
    if (!token || !holding_in_range(owner, token, deadline, lease))
        return VIDI_ELIMIT;
    if (token_taken(claims, token, NULL))
        return VIDI_EEXIST;
    struct owner *before = claim->owner, *after = owner_get(claims, owner);
    if (!after)
        return VIDI_EMEMORY;
    strike(claims, claim);
    claim->owner = after;
    claim->token = token;
    claim->epoch = claims->epoch;
    claim->deadline = deadline;
    claim->lease = lease;
    enlist(claims, claim);
    owner_drop_idle(claims, before);
    return VIDI_OK;
}

void claims_give_up(claims *claims, claim *claim, int64_t at)
{
    owner *before = claim->owner;
    strike(claims, claim);
    claim->owner = NULL;
    claim->token = 0;
    claim->deadline = at;
    enlist(claims, claim);
    owner_drop_idle(claims, before);
}

/*
 * The first claim of an owner after this key (NULL: of all) whose token is not void. Those of earlier epochs stay with
 * their owner until somebody takes them over.
 */
static claim *next_good(const claims *claims, vidi_str owner, const vidi_str *after)
{
    claim *found = claims_list_of(claims, owner, after);
    while (found && is_void(claims, found)) {
        vidi_str key = key_of(found);
        found = claims_list_of(claims, owner, &key);
    }
    return found;
}

uint64_t claims_give_up_all(claims *claims, vidi_str owner, int64_t at)
{
    uint64_t count = 0;
    vidi_str key;
    for (claim *claim = next_good(claims, owner, NULL); claim; claim = next_good(claims, owner, &key)) {
        key = key_of(claim);
        claims_give_up(claims, claim, at);
        count++;
    }
    return count;
}

void claims_remove(claims *claims, claim *claim)
{
    owner *before = claim->owner;
    forget(claims, claim);
    owner_drop_idle(claims, before);
}

void claims_extend(claims *claims, claim *claim, int64_t lease, int64_t now)
{
    deadline_key before = deadline_key_of(claim);
    tree_remove(&claims->by_deadline, &before);
    claim->lease = lease;
    claim->deadline = now + lease;
    deadline_key after = deadline_key_of(claim);
    tree_insert(&claims->by_deadline, &after, &claim->by_deadline);
}

uint64_t claims_renew(claims *claims, vidi_str owner, int64_t lease, int64_t now)
{
    uint64_t renewed = 0;
    vidi_str key;
    for (claim *claim = next_good(claims, owner, NULL); claim; claim = next_good(claims, owner, &key)) {
        key = key_of(claim);
        claims_extend(claims, claim, lease ? lease : claim->lease, now);
        renewed++;
    }
    return renewed;
}

void claims_rotate(claims *claims)
{
    claims->epoch++;
}

/* ---- many at once ---- */

int claims_append(claims *claims, const claim_terms *terms)
{
    claim *last = claims->last;
    if (!terms_in_range(terms))
        return VIDI_ELIMIT;
    if (last && compare_bytes(terms->key, key_of(last)) <= 0)
        return VIDI_EEXIST;
    claim *made = claim_make(claims, terms);
    if (!made)
        return VIDI_EMEMORY;
    made->by_key = (tree_node){{NULL, NULL}, 0};
    *(last ? &last->by_key.child[1] : &claims->by_key.root) = &made->by_key;
    claims->by_key.root->size++;
    claims->last = made;
    claims->loss += made->loss;
    return VIDI_OK;
}

/* One of the four trees: where a claim's node for it is, and the number that claims are sorted by; 0: not in it. */
typedef struct sorting {
    size_t node;
    uint64_t (*number)(const claim *claim);
} sorting;

static uint64_t token_number(const claim *claim)
{
    return claim->token;
}

static uint64_t owner_number(const claim *claim)
{
    return (uintptr_t)claim->owner;
}

/* Claims without token are of epoch 0, those with one of the current epoch. */
static uint64_t deadline_number(const claim *claim)
{
    return (uint64_t)(claim->epoch != 0) << 63 | ((uint64_t)claim->deadline + 1);
}

static uint64_t key_number(const claim *claim)
{
    (void)claim;
    return 1;
}

static const sorting into_tokens = {offsetof(claim, by_token), token_number},
                     into_owners = {offsetof(claim, of_owner), owner_number},
                     into_deadlines = {offsetof(claim, by_deadline), deadline_number},
                     into_keys = {offsetof(claim, by_key), key_number};

/* Lists the claims of the chain that belong into a tree, sorted by their numbers, then by key. Returns how many. */
static size_t sort_chain(const claims *claims, const sorting *by, tree_item *items, tree_item *room)
{
    size_t count = 0;
    for (const tree_node *node = claims->by_key.root; node; node = node->child[1]) {
        claim *claim = claim_of(node, by_key);
        uint64_t number = by->number(claim);
        if (number)
            items[count++] = (tree_item){number, (tree_node *)((char *)claim + by->node)};
    }
    tree_sort(items, room, count);
    return count;
}

static bool has_twice(const tree_item *items, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (items[i].number == items[i - 1].number)
            return true;
    return false;
}

/* Claims of one owner stand side by side, in the order of their keys. */
static void build_owners(const tree_item *items, size_t count)
{
    for (size_t begin = 0, end; begin < count; begin = end) {
        for (end = begin; end < count && items[end].number == items[begin].number; end++)
            ;
        tree_build(&claim_of(items[begin].node, of_owner)->owner->held, items + begin, end - begin);
    }
}

int claims_finish(claims *claims)
{
    size_t most = tree_size(&claims->by_key);
    tree_item *items = most ? allocate(claims, 2 * most * sizeof *items) : NULL;
    if (!items)
        return most ? VIDI_EMEMORY : VIDI_OK;
    tree_item *room = items + most;
    size_t count = sort_chain(claims, &into_tokens, items, room);
    int error = has_twice(items, count) ? VIDI_EEXIST : VIDI_OK;
    if (error == VIDI_OK) {
        tree_build(&claims->by_token, items, count);
        build_owners(items, sort_chain(claims, &into_owners, items, room));
        tree_build(&claims->by_deadline, items, sort_chain(claims, &into_deadlines, items, room));
        tree_build(&claims->by_key, items, sort_chain(claims, &into_keys, items, room)); /* the end of the chain */
        claims->last = NULL;
    }
    release(claims, items, 2 * most * sizeof *items);
    return error;
}

static int append_visited(void *context, const claim_terms *terms)
{
    return claims_append(context, terms);
}

int claims_copy(claims **copy, const claims *from, const vidi_allocator *allocator)
{
    claims *made = claims_create(allocator);
    int error = made ? claims_visit(from, append_visited, made) : VIDI_EMEMORY;
    if (error == VIDI_OK)
        error = claims_finish(made);
    if (error) {
        claims_free(made);
        made = NULL;
    }
    *copy = made;
    return error;
}

/* ---- tokens as text ---- */

bool parse_token(vidi_str text, uint64_t *token)
{
    uint64_t number = 0;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        bool digit = c >= '0' && c <= '9';
        if (!digit && !(c >= 'a' && c <= 'f'))
            return false;
        number = number << 4 | (unsigned)(digit ? c - '0' : c - 'a' + 10);
    }
    *token = number;
    return text.len == TOKEN_DIGITS;
}

void token_print(uint64_t token, char text[TOKEN_DIGITS + 1])
{
    snprintf(text, TOKEN_DIGITS + 1, "%016" PRIx64, token);
}
