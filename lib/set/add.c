/*
 * The questions and answers that sets are for: URLs are added, asked for, removed and counted.
 *
 * Each first gets its canonical form, without a lock (canonicalize.c). What is to be done with forms is then done in groups,
 * each under the lock: as hashes alone if the kind takes them, otherwise as items (items.c).
 */
#include "durable/durable.h"

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

/* How many of n URLs are dealt with at a time. */
static size_t group_of(const vidi__filter *filter, size_t n)
{
    size_t most = vidi__takes_hashes(filter, n) ? VIDI__HASHES_MAX : VIDI__GROUP;
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

/* A group of URLs, or of hashes that are known, under the lock. */
static int add_group(vidi_set *set, const vidi_str *urls, const vidi__u128 *known, size_t n, uint8_t *verdicts)
{
    vidi__tally tally = {0};
    vidi__epoch *now = &set->now;
    int code = known ? vidi__steps_apply(set, VIDI__STEP_ADD, known, NULL, n, verdicts, &tally)
               : vidi__takes_hashes(now->filter, n) ? add_hashed(now, urls, n, verdicts, &tally)
                                                    : add_items(&set->memory, now, urls, n, verdicts, &tally);
    atomic_fetch_add_explicit(&now->answered_new, tally.fresh, memory_order_relaxed);
    atomic_fetch_add_explicit(&now->answered_seen, tally.seen, memory_order_relaxed);
    vidi__epoch_lose(now, tally.lost);
    return code;
}

int vidi__epoch_has(vidi__memory *memory, const vidi__epoch *epoch, const vidi_str *urls, size_t n, uint8_t *verdicts)
{
    return vidi__takes_hashes(epoch->filter, n) ? has_hashed(epoch, urls, n, verdicts)
                                                : has_items(memory, epoch, urls, n, verdicts);
}

static int has_group(vidi_set *set, vidi__epoch *epoch, const vidi_str *urls, size_t n, uint8_t *verdicts)
{
    int code = vidi__epoch_has(&set->memory, epoch, urls, n, verdicts);
    if (code == VIDI_OK && set->durable && epoch == &set->now)
        code = vidi__durable_has(set, urls, n, verdicts);
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

/* What is done with URLs that are in their form: add_forms or has_forms. */
typedef int deal_fn(vidi_set *set, const vidi_str *urls, size_t n, uint8_t *verdicts);

/* The next group of what there is to add, under the lock. */
static int add_next(vidi_set *set, const vidi__adds *adds, size_t done, size_t group, vidi__pending *pending)
{
    const vidi_str *urls = adds->known ? NULL : adds->urls + done;
    const vidi__u128 *known = adds->known ? adds->known + done : NULL;
    if (known && adds->epoch != set->now.number)
        return vidi__fail(VIDI_ECANNOT, "the digests are of epoch %llu, and the set is in epoch %llu",
                          (unsigned long long)adds->epoch, (unsigned long long)set->now.number);
    return set->durable ? vidi__durable_add(set, urls, known, group, adds->verdicts + done, pending)
                        : add_group(set, urls, known, group, adds->verdicts + done);
}

int vidi__set_add(vidi_set *set, const vidi__adds *adds)
{
    size_t n = adds->count;
    VIDI__TRY(vidi__set_writable(set));
    for (size_t done = 0; done < n;) {
        vidi__pending pending = {0};
        lock_to_add(set);
        size_t group = group_of(set->now.filter, n - done);
        int code = add_next(set, adds, done, group, &pending);
        uint8_t *verdicts = adds->verdicts;
        vidi__unlock(set);
        int settled = set->durable ? vidi__durable_settle(set, &pending, group, verdicts + done) : VIDI_OK;
        VIDI__TRY(code);
        VIDI__TRY(settled);
        done += group;
    }
    if (set->durable)
        vidi__snapshot_if_due(set);
    return VIDI_OK;
}

static int add_forms(vidi_set *set, const vidi_str *urls, size_t n, uint8_t *verdicts)
{
    return vidi__set_add(set, &(vidi__adds){.urls = urls, .count = n, .verdicts = verdicts});
}

static int has_forms(vidi_set *set, const vidi_str *urls, size_t n, uint8_t *verdicts)
{
    for (size_t done = 0; done < n;) {
        vidi__lock_shared(set);
        size_t group = group_of(set->now.filter, n - done);
        int code = has_group(set, &set->now, urls + done, group, verdicts + done);
        vidi__unlock(set);
        VIDI__TRY(code);
        done += group;
    }
    return VIDI_OK;
}

/* Of what is no URL in the chunk, counts what was dealt with; questions about what is kept are counted already. */
static void count_invalid(vidi_set *set, const vidi__forms *forms, deal_fn *deal, const uint8_t *verdicts)
{
    uint64_t tried = 0;
    for (size_t i = 0; i < forms->invalid; i++)
        tried += verdicts[forms->places[i]] != VIDI_UNTRIED;
    if (!tried || (deal == has_forms && set->invalid == VIDI_KEEP_INVALID))
        return;
    vidi__lock_shared(set);
    atomic_fetch_add_explicit(deal == add_forms ? &set->now.answered_invalid : &set->now.asked, tried,
                              memory_order_relaxed);
    vidi__unlock(set);
}

/* A chunk in which not all are in their form. Not inlined: it has a large frame, and most chunks do without. */
static __attribute__((noinline)) int deal_with_mixed(vidi_set *set, deal_fn *deal, const vidi_str *urls, size_t *n,
                                                     size_t ready, uint8_t *verdicts)
{
    vidi__forms forms;
    int code = vidi__forms_make(&forms, set, urls, *n, ready);
    if (code == VIDI_OK && forms.count == forms.taken) {
        code = deal(set, forms.list, forms.count, verdicts);
    } else if (code == VIDI_OK) {
        uint8_t some[VIDI__HASHES_MAX] = {VIDI_UNTRIED};
        code = deal(set, forms.list, forms.count, some);
        vidi__forms_scatter(&forms, some, verdicts);
    }
    count_invalid(set, &forms, deal, verdicts);
    *n = forms.taken;
    vidi__forms_free(&forms);
    return code;
}

static int deal_with(vidi_set *set, deal_fn *deal, const vidi_str *urls, size_t n, uint8_t *verdicts)
{
    if (set->output == VIDI__OUTPUT_BYTES)
        return deal(set, urls, n, verdicts);
    for (size_t done = 0; done < n;) {
        size_t chunk = n - done < VIDI__HASHES_MAX ? n - done : VIDI__HASHES_MAX;
        size_t ready = vidi__forms_ready(set, urls + done, chunk);
        if (ready == chunk)
            VIDI__TRY(deal(set, urls + done, chunk, verdicts + done));
        else
            VIDI__TRY(deal_with_mixed(set, deal, urls + done, &chunk, ready, verdicts + done));
        done += chunk;
    }
    return VIDI_OK;
}

int vidi_add_batch(vidi_set *set, const vidi_str *urls, size_t n, uint8_t *verdicts)
{
    VIDI__TRY(check_batch(set, urls, n, verdicts));
    return vidi__answer(deal_with(set, add_forms, urls, n, verdicts));
}

int vidi_has_batch(const vidi_set *set, const vidi_str *urls, size_t n, uint8_t *verdicts)
{
    VIDI__TRY(check_batch(set, urls, n, verdicts));
    return vidi__answer(deal_with((vidi_set *)set, has_forms, urls, n, verdicts)); /* lookups are counted */
}

int vidi_add(vidi_set *set, vidi_str url)
{
    uint8_t verdict;
    int code = vidi_add_batch(set, &url, 1, &verdict);
    return code == VIDI_OK ? verdict : code;
}

int vidi_has(const vidi_set *set, vidi_str url)
{
    uint8_t verdict;
    int code = vidi_has_batch(set, &url, 1, &verdict);
    return code == VIDI_OK ? verdict : code;
}

static int ask_previous(vidi_set *set, vidi_str form, uint64_t *answer)
{
    uint8_t verdict = VIDI_UNTRIED;
    vidi__lock_shared(set);
    int code;
    if (set->previous.filter)
        code = has_group(set, &set->previous, &form, 1, &verdict);
    else if (set->durable && set->durable->previous)
        code = has_group(set->durable->previous, &set->durable->previous->now, &form, 1, &verdict);
    else
        code = vidi__fail(VIDI_ECANNOT, "no previous epoch is kept; rotate with VIDI_KEEP_PREVIOUS");
    vidi__unlock(set);
    *answer = verdict;
    return code;
}

static int remove_locked(vidi_set *set, vidi_str form, vidi__pending *pending)
{
    vidi__items items;
    vidi__filter *filter = set->now.filter;
    if (!(filter->can & VIDI_CAN_DELETE))
        return vidi__cannot(set, "remove URLs");
    if (set->durable)
        return vidi__durable_remove(set, form, pending);
    int code = vidi__items_make(&items, &set->memory, &set->now, &form, 1);
    if (code == VIDI_OK)
        code = filter->kind->remove(filter, items.list);
    vidi__items_free(&items);
    if (code == VIDI_OK)
        atomic_fetch_add_explicit(&set->now.removed, 1, memory_order_relaxed);
    return code;
}

static int remove_form(vidi_set *set, vidi_str form, uint64_t *unused)
{
    vidi__pending pending = {0};
    (void)unused;
    VIDI__TRY(vidi__set_writable(set));
    vidi__lock_alone(set);
    int code = remove_locked(set, form, &pending);
    vidi__unlock(set);
    int settled = set->durable ? vidi__durable_settle(set, &pending, 0, NULL) : VIDI_OK;
    return code < 0 ? code : settled;
}

static int count_locked(vidi_set *set, vidi_str form, uint64_t *times)
{
    vidi__items items;
    const vidi__filter *filter = set->now.filter;
    if (!(filter->can & VIDI_CAN_COUNT))
        return vidi__cannot(set, "count");
    int code = vidi__items_make(&items, &set->memory, &set->now, &form, 1);
    if (code == VIDI_OK)
        code = filter->kind->times(filter, items.list, times);
    vidi__items_free(&items);
    return code == VIDI_OK && set->durable ? vidi__durable_count(set, form, times) : code;
}

static int count_form(vidi_set *set, vidi_str form, uint64_t *times)
{
    vidi__lock_shared(set);
    int code = count_locked(set, form, times);
    vidi__unlock(set);
    return code;
}

/* What is done with one URL that is in its form. */
typedef int one_fn(vidi_set *set, vidi_str form, uint64_t *answer);

static __attribute__((noinline)) int deal_with_mixed_one(vidi_set *set, one_fn *deal, vidi_str url, uint64_t *answer)
{
    vidi__forms forms;
    int code = vidi__forms_make(&forms, set, &url, 1, 0);
    if (code == VIDI_OK)
        code = forms.count ? deal(set, forms.list[0], answer) : VIDI_INVALID;
    vidi__forms_free(&forms);
    return code;
}

/* VIDI_INVALID, with a sentence, for bytes that are not a URL and would be left out. */
static int deal_with_one(const vidi_set *set, one_fn *deal, vidi_str url, uint64_t *answer)
{
    vidi_set *self = (vidi_set *)set;
    return vidi__forms_ready(set, &url, 1) ? deal(self, url, answer) : deal_with_mixed_one(self, deal, url, answer);
}

int vidi_has_previous(const vidi_set *set, vidi_str url)
{
    uint64_t verdict = VIDI_UNTRIED;
    if (!set)
        return vidi__fail(VIDI_EARGUMENT, "set is NULL");
    int code = deal_with_one(set, ask_previous, url, &verdict);
    return code ? vidi__answer(code) : (int)verdict;
}

int vidi_remove(vidi_set *set, vidi_str url)
{
    if (!set)
        return vidi__fail(VIDI_EARGUMENT, "set is NULL");
    return vidi__answer(deal_with_one(set, remove_form, url, NULL));
}

int vidi_count(const vidi_set *set, vidi_str url, uint64_t *times)
{
    if (!set || !times)
        return vidi__fail(VIDI_EARGUMENT, "set or times is NULL");
    return vidi__answer(deal_with_one(set, count_form, url, times));
}
