/*
 * A claim is one allocation: the struct, then the bytes of its key, URL and payload. Three trees order the claims:
 *
 *   by_key       finds the claim of a URL, and lists claims in an order that renewals do not change
 *   by_deadline  by (epoch, deadline, token, key): hands out what expired first, and counts what has expired
 *   of_owner     one tree per owner, by token: finds the claim of a token, and lists the claims of the owner in an order
 *                that renewals do not change; claims that were given up are in none
 *
 * Tokens that ascend, as the module draws them, go to the end of the owner's tree, where the last ones were. A tree of
 * random tokens would cost several cache misses for each insertion and removal.
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

#include <stddef.h>
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
    tree_node of_owner;
    uint64_t token;
    tree_node by_deadline;
    uint64_t epoch;
    int64_t deadline;
    int64_t lease;
    owner *owner;  /* NULL: given up */
    uint64_t loss; /* in units of 1 / LOSS_UNIT, so that sums are exact */
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
    tree by_key, by_deadline, owners;
    uint64_t epoch; /* from 1 */
    unsigned __int128 loss;
    claim *last; /* the end of the chain, while claims are appended */
};

/* ---- orders ---- */

typedef struct deadline_key {
    uint64_t epoch;
    int64_t deadline;
    uint64_t token;
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
    uint64_t token = *(const uint64_t *)key, other = claim_of(node, of_owner)->token;
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
    if (a->token != b->token)
        return a->token > b->token ? 1 : -1;
    return compare_bytes(a->key, key_of(b));
}

static int order_owners(const void *key, const tree_node *node)
{
    const owner *owner = tree_entry((tree_node *)node, struct owner, node);
    return compare_bytes(*(const vidi_str *)key, (vidi_str){owner->name, owner->name_len});
}

static deadline_key deadline_key_of(const claim *claim)
{
    return (deadline_key){claim->epoch, claim->deadline, claim->token, key_of(claim)};
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

static owner *owner_find(const claims *claims, vidi_str name)
{
    return tree_entry(tree_find(&claims->owners, &name), struct owner, node);
}

/* Finds an owner or makes one; NULL if there is no memory. One without claims must be passed to owner_drop_idle. */
static owner *owner_get(claims *claims, vidi_str name)
{
    owner *found = owner_find(claims, name);
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
    /* Nothing is before token 0 and the empty key, so this counts the deadlines up to `now`. */
    return tree_rank(&claims->by_deadline, &(deadline_key){claims->epoch, now + 1, 0, {NULL, 0}});
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

claim *claims_find(claims *claims, vidi_str key, tree_place *place)
{
    return claim_of(tree_find_place(&claims->by_key, &key, place), by_key);
}

claim *claims_of_token(const claims *claims, vidi_str owner, uint64_t token)
{
    const struct owner *holder = owner_find(claims, owner);
    claim *found = holder ? claim_of(tree_find(&holder->held, &token), of_owner) : NULL;
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

claim *claims_list_of(const claims *claims, vidi_str owner, uint64_t after)
{
    const struct owner *found = owner_find(claims, owner);
    claim *next = found ? claim_of(tree_after(&found->held, &after), of_owner) : NULL;
    while (next && is_void(claims, next))
        next = claim_of(tree_after(&found->held, &next->token), of_owner);
    return next;
}

/* ---- changing ---- */

/*
 * Puts a claim with its deadline, token and owner into the trees for these. False, and nothing has changed, if another
 * claim of the owner has the token.
 */
static bool enlist(claims *claims, claim *claim)
{
    if (claim->owner && tree_insert(&claim->owner->held, &claim->token, &claim->of_owner))
        return false;
    deadline_key deadline = deadline_key_of(claim);
    tree_insert(&claims->by_deadline, &deadline, &claim->by_deadline);
    return true;
}

/* Takes it out of these trees, before one of them changes. Its owner may be left without claims. */
static void strike(claims *claims, claim *claim)
{
    deadline_key deadline = deadline_key_of(claim);
    tree_remove(&claims->by_deadline, &deadline);
    if (claim->owner)
        tree_remove(&claim->owner->held, &claim->token);
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

/* True if the owner uses the token for any claim but this one. */
static bool token_taken(const claims *claims, vidi_str owner, uint64_t token, const claim *by_other_than)
{
    const struct owner *holder = token ? owner_find(claims, owner) : NULL;
    const claim *found = holder ? claim_of(tree_find(&holder->held, &token), of_owner) : NULL;
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

int claims_add(claims *claims, tree_place *place, const claim_terms *terms)
{
    if (!terms_in_range(terms))
        return VIDI_ELIMIT;
    claim *made = claim_make(claims, terms);
    if (!made)
        return VIDI_EMEMORY;
    if (!enlist(claims, made)) {
        owner_drop_idle(claims, made->owner);
        release(claims, made, claim_bytes(made));
        return VIDI_EEXIST;
    }
    tree_insert_at(place, &made->by_key);
    claims->loss += made->loss;
    return VIDI_OK;
}

int claims_put(claims *claims, const claim_terms *terms)
{
    tree_place place;
    claim *old = claims_find(claims, terms->key, &place);
    if (!old)
        return claims_add(claims, &place, terms);
    if (!terms_in_range(terms))
        return VIDI_ELIMIT;
    if (token_taken(claims, terms->owner, terms->token, old))
        return VIDI_EEXIST;
    claim *made = claim_make(claims, terms);
    if (!made)
        return VIDI_EMEMORY;
    owner *before = old->owner;
    forget(claims, old);
    vidi_str key = key_of(made);
    tree_insert(&claims->by_key, &key, &made->by_key);
    (void)enlist(claims, made); /* only the old one may have had its token */
    claims->loss += made->loss;
    owner_drop_idle(claims, before);
    return VIDI_OK;
}

int claims_pass(claims *claims, claim *claim, vidi_str owner, uint64_t token, int64_t deadline, int64_t lease)
{
    if (!token || !holding_in_range(owner, token, deadline, lease))
        return VIDI_ELIMIT;
    if (token_taken(claims, owner, token, NULL))
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
    (void)enlist(claims, claim);
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
    (void)enlist(claims, claim); /* in the tree of deadlines alone */
    owner_drop_idle(claims, before);
}

uint64_t claims_give_up_all(claims *claims, vidi_str owner, int64_t at)
{
    uint64_t count = 0, token = 0;
    for (claim *claim; (claim = claims_list_of(claims, owner, token)); count++) {
        token = claim->token;
        claims_give_up(claims, claim, at);
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
    uint64_t renewed = 0, token = 0;
    for (claim *claim; (claim = claims_list_of(claims, owner, token)); renewed++) {
        token = claim->token;
        claims_extend(claims, claim, lease ? lease : claim->lease, now);
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

/* Lists the claims of the chain, or those of them that have an owner, by their nodes at this place. Returns how many. */
static size_t list_chain(const claims *claims, size_t place, bool owned, tree_item *items)
{
    size_t count = 0;
    for (const tree_node *node = claims->by_key.root; node; node = node->child[1]) {
        claim *claim = claim_of(node, by_key);
        if (!owned || claim->owner)
            items[count++] = (tree_item){0, (tree_node *)((char *)claim + place)};
    }
    return count;
}

static void sort_claims(tree_item *items, tree_item *room, size_t count, size_t place,
                        uint64_t (*number)(const claim *))
{
    for (size_t i = 0; i < count; i++)
        items[i].number = number((const claim *)((const char *)items[i].node - place));
    tree_sort(items, room, count);
}

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
    return (uint64_t)(claim->epoch != 0) << 63 | (uint64_t)claim->deadline;
}

/* Lists claims in the order of one of the trees: sorted by a number, then by token, then by key. Returns how many. */
static size_t list_sorted(const claims *claims, size_t place, uint64_t (*number)(const claim *), tree_item *items,
                          tree_item *room)
{
    size_t count = list_chain(claims, place, number == owner_number, items);
    sort_claims(items, room, count, place, token_number);
    sort_claims(items, room, count, place, number);
    return count;
}

/* Whether an owner has two claims with one token. */
static bool has_twice(const tree_item *items, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (items[i].number == items[i - 1].number &&
            claim_of(items[i].node, of_owner)->token == claim_of(items[i - 1].node, of_owner)->token)
            return true;
    return false;
}

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
    size_t count = list_sorted(claims, offsetof(claim, of_owner), owner_number, items, room);
    int error = has_twice(items, count) ? VIDI_EEXIST : VIDI_OK;
    if (error == VIDI_OK) {
        build_owners(items, count);
        count = list_sorted(claims, offsetof(claim, by_deadline), deadline_number, items, room);
        tree_build(&claims->by_deadline, items, count);
        count = list_chain(claims, offsetof(claim, by_key), false, items);
        tree_build(&claims->by_key, items, count); /* the end of the chain */
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
    if (text.len != TOKEN_DIGITS)
        return false;
    for (size_t i = 0; i < TOKEN_DIGITS; i++) {
        char c = text.ptr[i];
        bool digit = c >= '0' && c <= '9';
        if (!digit && !(c >= 'a' && c <= 'f'))
            return false;
        number = number << 4 | (unsigned)(digit ? c - '0' : c - 'a' + 10);
    }
    *token = number;
    return true;
}

void token_print(uint64_t token, char text[TOKEN_DIGITS + 1])
{
    for (size_t i = TOKEN_DIGITS; i-- > 0; token >>= 4)
        text[i] = "0123456789abcdef"[token & 15];
    text[TOKEN_DIGITS] = 0;
}
