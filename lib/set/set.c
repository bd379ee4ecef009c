/* Making and closing sets, and the questions and answers that they are for. */
#include "set/set.h"

#include "base/random.h"

#define HEADROOM 1.25

/*
 * Everybody passes the gate on the way to the lock. Who waits for the lock waits inside the gate, so that neither questions
 * that never pause keep adds out, nor adds questions. The set is const for its readers; its locks are not.
 */
void vidi__lock_shared(const vidi_set *set)
{
    vidi_set *self = (vidi_set *)set;
    pthread_mutex_lock(&self->gate);
    pthread_rwlock_rdlock(&self->lock);
    pthread_mutex_unlock(&self->gate);
}

void vidi__lock_alone(const vidi_set *set)
{
    vidi_set *self = (vidi_set *)set;
    pthread_mutex_lock(&self->gate);
    pthread_rwlock_wrlock(&self->lock);
    pthread_mutex_unlock(&self->gate);
}

void vidi__unlock(const vidi_set *set)
{
    pthread_rwlock_unlock(&((vidi_set *)set)->lock);
}

void vidi__lock_still(const vidi_set *set)
{
    vidi__lock_shared(set);
    if (!(set->now.filter->can & VIDI_IS_CONCURRENT))
        return;
    vidi__unlock(set);
    vidi__lock_alone(set);
}

static int init_locks(vidi_set *set)
{
    int code = pthread_mutex_init(&set->gate, NULL);
    if (code == 0 && (code = pthread_rwlock_init(&set->lock, NULL)) != 0)
        pthread_mutex_destroy(&set->gate);
    return code ? vidi__fail(VIDI_ESYSTEM, "no lock for the set: %s", strerror(code)) : VIDI_OK;
}

int vidi__set_alloc(vidi_set **set, const vidi_allocator *allocator, uint64_t memory_limit)
{
    vidi__memory memory;
    VIDI__TRY(vidi__memory_init(&memory, allocator, memory_limit));
    VIDI__TRY(vidi__alloc_zeroed(&memory, set, sizeof **set, VIDI__CACHE_LINE));
    (*set)->memory.hook = memory.hook;
    (*set)->memory.limit = memory.limit;
    atomic_init(&(*set)->memory.used, vidi__memory_used(&memory));
    int code = init_locks(*set);
    if (code < 0) {
        vidi__release(&memory, *set, sizeof **set, VIDI__CACHE_LINE);
        *set = NULL;
    }
    return code;
}

void vidi_close(vidi_set *set)
{
    if (!set)
        return;
    vidi__epoch_free(&set->now);
    vidi__epoch_free(&set->previous);
    vidi__release(&set->memory, set->history, set->history_room * sizeof *set->history, _Alignof(vidi_epoch_stats));
    pthread_rwlock_destroy(&set->lock);
    pthread_mutex_destroy(&set->gate);
    vidi_allocator hook = set->memory.hook;
    hook.release(hook.context, set, sizeof *set, VIDI__CACHE_LINE);
}

/*
 * capacity and error may also stand among the parameters, as vidi_plan writes them; there they go before the options.
 */
static int take_params(vidi__recipe *recipe, const char *user)
{
    vidi__params params, rest;
    VIDI__TRY(vidi__params_parse(&params, user));
    VIDI__TRY(vidi__params_u64(&params, "capacity", 1, VIDI__CAPACITY_MAX, &recipe->capacity));
    VIDI__TRY(vidi__params_double(&params, "error", 1e-300, 1, &recipe->error));
    vidi__params_left(&params, &rest);
    vidi__text text = vidi__text_in(recipe->params, sizeof recipe->params);
    vidi__params_format(&rest, &text);
    if (text.cut)
        return vidi__fail(VIDI_EOPTION, "params are longer than %zu characters", sizeof recipe->params - 1);
    return VIDI_OK;
}

int vidi__recipe_take(vidi__recipe *recipe, const vidi_options *options)
{
    if (options->kind) {
        vidi_str name = {options->kind, strlen(options->kind)};
        recipe->kind = vidi__kind_find(name);
        if (!recipe->kind)
            return vidi__kind_unknown(name);
    }
    if (options->capacity)
        recipe->capacity = options->capacity;
    if (options->error != 0)
        recipe->error = options->error;
    if (options->params)
        VIDI__TRY(take_params(recipe, options->params));
    if (options->headroom != 0)
        recipe->headroom = options->headroom;
    if (options->flags)
        recipe->flags = options->flags;
    if (!(recipe->error >= 0 && recipe->error < 1))
        return vidi__fail(VIDI_EOPTION, "error must be between 0 and 1, not %g", recipe->error);
    if (!(recipe->headroom >= 1 && recipe->headroom <= 1000))
        return vidi__fail(VIDI_EOPTION, "headroom must be a factor from 1 to 1000, not %g", recipe->headroom);
    if (recipe->flags & ~(uint32_t)VIDI_KEEP_PREVIOUS)
        return vidi__fail(VIDI_EOPTION, "flags 0x%x are not known", recipe->flags);
    return VIDI_OK;
}

void vidi__set_ready(vidi_set *set)
{
    atomic_store_explicit(&set->concurrent, set->now.filter->can & VIDI_IS_CONCURRENT, memory_order_relaxed);
}

/* Everything of another set but its contents. */
static int take_likeness(vidi_set *set, const vidi_options *options, uint64_t *epoch)
{
    const vidi_set *like = options->like;
    if (options->kind || options->params || options->capacity || options->error != 0 || options->key || options->member)
        return vidi__fail(VIDI_EOPTION,
                          "like says it all: kind, params, capacity, error, key and member must be unset");
    vidi__lock_shared(like);
    set->recipe = like->recipe;
    set->member = like->member;
    memcpy(set->key, like->key, sizeof set->key);
    *epoch = like->now.number;
    vidi__unlock(like);
    return VIDI_OK;
}

static int make(vidi_set *set, const vidi_options *options)
{
    uint64_t epoch = 0;
    set->recipe.kind = vidi__kind_at(0);
    set->recipe.headroom = HEADROOM;
    if (options->like) {
        VIDI__TRY(take_likeness(set, options, &epoch));
    } else {
        set->member = options->member;
        if (options->key)
            memcpy(set->key, options->key, sizeof set->key);
        else
            VIDI__TRY(vidi__random(set->key, sizeof set->key));
    }
    VIDI__TRY(vidi__recipe_take(&set->recipe, options));
    VIDI__TRY(vidi__epoch_make(set, &set->recipe, epoch, NULL, &set->now));
    vidi__set_ready(set);
    return VIDI_OK;
}

int vidi_create(vidi_set **set, const vidi_options *options)
{
    vidi_options mine = VIDI_OPTIONS_INIT;
    if (!set)
        return vidi__fail(VIDI_EARGUMENT, "there is no place for the set");
    *set = NULL;
    if (options)
        VIDI__TRY(vidi__struct_in(&mine, sizeof mine, options, "vidi_options"));
    VIDI__TRY(vidi__set_alloc(set, mine.allocator, mine.memory_limit));
    int code = make(*set, &mine);
    if (code < 0) {
        vidi_close(*set);
        *set = NULL;
    }
    return code;
}

/* `concurrent` is only a hint until the lock is held: a rotation may change the kind. */
static void lock_to_add(vidi_set *set)
{
    if (atomic_load_explicit(&set->concurrent, memory_order_relaxed)) {
        vidi__lock_shared(set);
        if (set->now.filter->can & VIDI_IS_CONCURRENT)
            return;
        vidi__unlock(set);
    }
    vidi__lock_alone(set);
}

/* From so many URLs on a kind that takes hashes is given hashes: fewer are not worth sorting. */
#define HASHES_FROM 16

static bool takes_hashes(const vidi__filter *filter, size_t n)
{
    return filter->kind->add_hashes && n >= HASHES_FROM;
}

/* How many of n URLs are dealt with at a time. */
static size_t group_of(const vidi__filter *filter, size_t n)
{
    size_t most = takes_hashes(filter, n) ? VIDI__HASHES_MAX : VIDI__GROUP;
    return n < most ? n : most;
}

static int hash_group(const vidi__epoch *epoch, const vidi_str *urls, size_t n, vidi__u128 *hashes)
{
    for (size_t i = 0; i < n; i++)
        VIDI__TRY(vidi__items_check(urls[i]));
    vidi__hash_batch(epoch->hash, &epoch->key, urls, n, hashes);
    return VIDI_OK;
}

static int add_hashed(vidi__epoch *epoch, const vidi_str *urls, size_t n, uint8_t *verdicts, vidi__tally *tally)
{
    vidi__u128 hashes[VIDI__HASHES_MAX];
    VIDI__TRY(hash_group(epoch, urls, n, hashes));
    return epoch->filter->kind->add_hashes(epoch->filter, hashes, n, verdicts, tally);
}

static int has_hashed(const vidi__epoch *epoch, const vidi_str *urls, size_t n, uint8_t *verdicts)
{
    vidi__u128 hashes[VIDI__HASHES_MAX];
    VIDI__TRY(hash_group(epoch, urls, n, hashes));
    return epoch->filter->kind->has_hashes(epoch->filter, hashes, n, verdicts);
}

static int add_items(vidi__memory *memory, vidi__epoch *epoch, const vidi_str *urls, size_t n, uint8_t *verdicts,
                     vidi__tally *tally)
{
    vidi__items items;
    int code = vidi__items_make(&items, memory, epoch, urls, n);
    if (code == VIDI_OK)
        code = vidi__filter_add(epoch->filter, items.list, n, verdicts, tally);
    vidi__items_free(&items);
    return code;
}

static int has_items(vidi__memory *memory, const vidi__epoch *epoch, const vidi_str *urls, size_t n, uint8_t *verdicts)
{
    vidi__items items;
    int code = vidi__items_make(&items, memory, epoch, urls, n);
    if (code == VIDI_OK)
        code = vidi__filter_has(epoch->filter, items.list, n, verdicts);
    vidi__items_free(&items);
    return code;
}

/* A group of URLs, under the lock. */
static int add_group(vidi_set *set, const vidi_str *urls, size_t n, uint8_t *verdicts)
{
    vidi__tally tally = {0};
    vidi__epoch *now = &set->now;
    int code = takes_hashes(now->filter, n) ? add_hashed(now, urls, n, verdicts, &tally)
                                            : add_items(&set->memory, now, urls, n, verdicts, &tally);
    atomic_fetch_add_explicit(&now->answered_new, tally.fresh, memory_order_relaxed);
    atomic_fetch_add_explicit(&now->answered_seen, tally.seen, memory_order_relaxed);
    vidi__epoch_lose(now, tally.lost);
    return code;
}

static int has_group(vidi_set *set, vidi__epoch *epoch, const vidi_str *urls, size_t n, uint8_t *verdicts)
{
    int code = takes_hashes(epoch->filter, n) ? has_hashed(epoch, urls, n, verdicts)
                                              : has_items(&set->memory, epoch, urls, n, verdicts);
    if (code == VIDI_OK)
        atomic_fetch_add_explicit(&epoch->asked, n, memory_order_relaxed);
    return code;
}

static int check_batch(const vidi_set *set, const vidi_str *urls, size_t n, uint8_t *verdicts)
{
    if (!set || (n && (!urls || !verdicts)))
        return vidi__fail(VIDI_EARGUMENT, "set, urls or verdicts is NULL");
    if (n)
        memset(verdicts, VIDI_UNTRIED, n);
    return VIDI_OK;
}

int vidi_add_batch(vidi_set *set, const vidi_str *urls, size_t n, uint8_t *verdicts)
{
    VIDI__TRY(check_batch(set, urls, n, verdicts));
    for (size_t done = 0; done < n;) {
        lock_to_add(set);
        size_t group = group_of(set->now.filter, n - done);
        int code = add_group(set, urls + done, group, verdicts + done);
        vidi__unlock(set);
        VIDI__TRY(code);
        done += group;
    }
    return VIDI_OK;
}

int vidi_has_batch(const vidi_set *set, const vidi_str *urls, size_t n, uint8_t *verdicts)
{
    VIDI__TRY(check_batch(set, urls, n, verdicts));
    vidi_set *self = (vidi_set *)set; /* questions are counted */
    for (size_t done = 0; done < n;) {
        vidi__lock_shared(set);
        size_t group = group_of(set->now.filter, n - done);
        int code = has_group(self, &self->now, urls + done, group, verdicts + done);
        vidi__unlock(set);
        VIDI__TRY(code);
        done += group;
    }
    return VIDI_OK;
}

int vidi_add(vidi_set *set, vidi_str url)
{
    uint8_t verdict;
    VIDI__TRY(vidi_add_batch(set, &url, 1, &verdict));
    return verdict;
}

int vidi_has(const vidi_set *set, vidi_str url)
{
    uint8_t verdict;
    VIDI__TRY(vidi_has_batch(set, &url, 1, &verdict));
    return verdict;
}

int vidi_has_previous(const vidi_set *set, vidi_str url)
{
    uint8_t verdict;
    VIDI__TRY(check_batch(set, &url, 1, &verdict));
    vidi_set *self = (vidi_set *)set;
    vidi__lock_shared(set);
    int code;
    if (self->previous.filter)
        code = has_group(self, &self->previous, &url, 1, &verdict);
    else
        code = vidi__fail(VIDI_ECANNOT, "no previous epoch is kept; rotate with VIDI_KEEP_PREVIOUS");
    vidi__unlock(set);
    return code < 0 ? code : verdict;
}

static int cannot(const vidi_set *set, const char *what)
{
    const vidi__filter *filter = set->now.filter;
    return vidi__fail(VIDI_ECANNOT, "kind %s cannot %s", filter->kind->name, what);
}

static int remove_locked(vidi_set *set, vidi_str url)
{
    vidi__items items;
    vidi__filter *filter = set->now.filter;
    if (!(filter->can & VIDI_CAN_DELETE))
        return cannot(set, "remove URLs");
    int code = vidi__items_make(&items, &set->memory, &set->now, &url, 1);
    if (code == VIDI_OK)
        code = filter->kind->remove(filter, items.list);
    vidi__items_free(&items);
    if (code == VIDI_OK)
        atomic_fetch_add_explicit(&set->now.removed, 1, memory_order_relaxed);
    return code;
}

int vidi_remove(vidi_set *set, vidi_str url)
{
    if (!set)
        return vidi__fail(VIDI_EARGUMENT, "set is NULL");
    vidi__lock_alone(set);
    int code = remove_locked(set, url);
    vidi__unlock(set);
    return code;
}

static int count_locked(vidi_set *set, vidi_str url, uint64_t *times)
{
    vidi__items items;
    const vidi__filter *filter = set->now.filter;
    if (!(filter->can & VIDI_CAN_COUNT))
        return cannot(set, "count");
    int code = vidi__items_make(&items, &set->memory, &set->now, &url, 1);
    if (code == VIDI_OK)
        code = filter->kind->times(filter, items.list, times);
    vidi__items_free(&items);
    return code;
}

int vidi_count(const vidi_set *set, vidi_str url, uint64_t *times)
{
    if (!set || !times)
        return vidi__fail(VIDI_EARGUMENT, "set or times is NULL");
    vidi__lock_shared(set);
    int code = count_locked((vidi_set *)set, url, times);
    vidi__unlock(set);
    return code;
}

/* A visitor, and what its entries lack. */
typedef struct visit {
    const vidi__epoch *epoch;
    vidi_visitor visitor;
    void *context;
} visit;

/* For kinds that keep URLs but no hashes. */
static int visit_hashed(void *context, const vidi_entry *entry)
{
    const visit *self = context;
    vidi__u128 hash = vidi__hash(self->epoch->hash, &self->epoch->key, entry->url);
    vidi_entry whole = {entry->url, {hash.lo, hash.hi}, entry->times};
    return self->visitor(self->context, &whole);
}

int vidi_iterate(const vidi_set *set, vidi_visitor visitor, void *context)
{
    int code;
    if (!set || !visitor)
        return vidi__fail(VIDI_EARGUMENT, "set or visitor is NULL");
    vidi__lock_still(set);
    const vidi__filter *filter = set->now.filter;
    visit hashing = {&set->now, visitor, context};
    if (!(filter->can & VIDI_CAN_ITERATE))
        code = cannot(set, "list what it holds");
    else if (filter->needs.what & VIDI__NEED_HASH)
        code = filter->kind->iterate(filter, visitor, context);
    else
        code = filter->kind->iterate(filter, visit_hashed, &hashing);
    vidi__unlock(set);
    return code;
}

int vidi_step(vidi_set *set, uint64_t budget_ns)
{
    if (!set)
        return vidi__fail(VIDI_EARGUMENT, "set is NULL");
    vidi__lock_alone(set);
    vidi__filter *filter = set->now.filter;
    int code = filter->kind->step ? filter->kind->step(filter, budget_ns) : 0;
    vidi__unlock(set);
    return code;
}

int vidi_decide(const uint8_t *answers, size_t members, int *ambiguous)
{
    size_t fresh = 0, seen = 0;
    if (members && !answers)
        return vidi__fail(VIDI_EARGUMENT, "answers is NULL");
    if (ambiguous)
        *ambiguous = 0;
    for (size_t i = 0; i < members; i++) {
        if (answers[i] == VIDI_NEW)
            fresh++;
        else if (answers[i] == VIDI_SEEN)
            seen++;
        else if (answers[i] == VIDI_INVALID)
            return VIDI_INVALID;
        else if (answers[i] != VIDI_UNTRIED)
            return vidi__fail(VIDI_EARGUMENT, "answer %zu is %u, which is no verdict", i, answers[i]);
    }
    if (ambiguous)
        *ambiguous = fresh && seen;
    return fresh ? VIDI_NEW : seen ? VIDI_SEEN : VIDI_UNTRIED;
}
