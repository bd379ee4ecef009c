/*
 * From the staging area to the log and to the filter: how operations are hashed, logged and applied.
 */
#include "durable/log_index.h"

/* ---- hashes ---- */

/* The staging area of kinds that need more than hashes finds URLs by a hash of its own. */
static const vidi__hash_fn *url_hash(void)
{
    return vidi__hash_find(VIDI__STR("sip13"));
}

vidi__u128 vidi__durable_url_hash(const vidi__epoch *epoch, vidi_str url)
{
    return vidi__hash(url_hash(), vidi__epoch_key(epoch), url);
}

void vidi__durable_hash(const vidi_set *set, const vidi__work *work, vidi__u128 *hashes)
{
    const vidi__hash_fn *fn = set->durable->hash_only ? set->now.hash : url_hash();
    if (work->hashes)
        memcpy(hashes, work->hashes, work->count * sizeof *hashes);
    else
        vidi__hash_batch(fn, vidi__epoch_key(&set->now), work->urls, work->count, hashes);
}

/* ---- to the filter ---- */

/* Removes the i-th URL of the work if it is there. */
static int remove_one(vidi_set *set, const vidi__work *work, size_t i)
{
    vidi_str url = work->urls ? work->urls[i] : (vidi_str){NULL, 0};
    const vidi__u128 *hash = work->hashes ? &work->hashes[i] : NULL;
    vidi__quiet quiet;
    vidi__quiet_begin(&quiet);
    int code = vidi__epoch_remove(&set->memory, &set->now, url, hash);
    return vidi__quiet_end(&quiet, code == VIDI_EABSENT ? VIDI_OK : code);
}

static int remove_all(vidi_set *set, const vidi__work *work)
{
    for (size_t i = 0; i < work->count; i++) {
        if (set->now.filter->can & VIDI_CAN_DELETE)
            VIDI__TRY(remove_one(set, work, i));
        work->verdicts[i] = VIDI_SEEN;
    }
    return VIDI_OK;
}

int vidi__durable_operate(vidi_set *set, vidi__operation operation, const vidi__work *work, vidi__tally *tally)
{
    memset(work->verdicts, VIDI_UNTRIED, work->count);
    return operation == VIDI__OP_ADD ? vidi__epoch_add(&set->memory, &set->now, work, tally) : remove_all(set, work);
}

/* The number of operations from `at` on that are of one sort; at most `most`. */
static size_t run_of(const vidi__staging *staging, uint64_t at, uint64_t end, uint64_t most)
{
    uint64_t n = 1;
    while (at + n < end && n < most && staging->kind[at + n] == staging->kind[at])
        n++;
    return (size_t)n;
}

/* Drops the operations that the filter took before an error stopped it. */
static void forget_done(vidi__staging *staging, uint64_t at, const uint8_t *verdicts, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (verdicts[i] != VIDI_UNTRIED)
            vidi__staging_undo(staging, staging->first + at + i, staging->first + at + i + 1);
}

static int apply(vidi_set *set, uint64_t to)
{
    vidi__staging *staging = &set->durable->staging;
    uint64_t end = to - staging->first < staging->logged ? to - staging->first : staging->logged, at = 0;
    vidi__tally tally = {0}; /* not used: the answers were counted when they were given */
    int code = VIDI_OK;
    if (to <= staging->first)
        return VIDI_OK;
    while (at < end && code == VIDI_OK) {
        vidi_str urls[VIDI__HASHES_MAX];
        uint8_t verdicts[VIDI__HASHES_MAX];
        size_t n = run_of(staging, at, end, VIDI__HASHES_MAX);
        if (staging->kind[at] != VIDI__OP_NONE) {
            vidi__work work = {.count = n, .verdicts = verdicts};
            if (staging->keeps_bytes)
                vidi__staging_urls(staging, at, n, urls);
            work.urls = staging->keeps_bytes ? urls : NULL;
            work.hashes = staging->keeps_bytes ? NULL : staging->hash + at;
            code = vidi__durable_operate(set, staging->kind[at], &work, &tally);
            if (code < 0) {
                forget_done(staging, at, verdicts, n);
                break;
            }
        }
        at += n;
    }
    vidi__staging_drop(staging, at);
    vidi__durable_ready(set);
    return code;
}

/* Tries again as long as applying frees memory of the staging area: the filter may need just that for the rest. */
int vidi__durable_apply(vidi_set *set, uint64_t to)
{
    uint64_t held;
    int code;
    do {
        held = vidi__staging_bytes(&set->durable->staging);
        code = apply(set, to);
    } while ((code == VIDI_ELIMIT || code == VIDI_EMEMORY) && vidi__staging_bytes(&set->durable->staging) < held);
    set->durable->full = code == VIDI_ELIMIT;
    return code;
}

void vidi__durable_try_apply(vidi_set *set, uint64_t to)
{
    vidi__quiet quiet;
    vidi__quiet_begin(&quiet);
    (void)vidi__durable_apply(set, to);
    vidi__quiet_end(&quiet, VIDI_OK);
}

/* ---- to the log ---- */

/* A record is not larger than this, unless a single URL is. */
#define RECORD_BYTES (UINT64_C(4) << 20)

/* Logs a record of operations of one sort, at most n, from the i-th on. Tells how many they are. */
static int log_run(vidi_set *set, uint64_t i, size_t *n, vidi__record_form form, uint64_t *position)
{
    vidi__staging *staging = &set->durable->staging;
    vidi_str urls[VIDI__RECORD_MOST] = {{NULL, 0}};
    uint64_t bytes = 0;
    if (staging->kind[i] == VIDI__OP_NONE)
        return VIDI_OK;
    if (staging->keeps_bytes) {
        vidi__staging_urls(staging, i, *n, urls);
        for (size_t j = 0; j < *n; j++)
            if ((bytes += urls[j].len) > RECORD_BYTES && j)
                *n = j;
    }
    vidi__record record = {staging->kind[i], staging->hash + i, urls, *n};
    return vidi__record_append(set, form, &record, position);
}

/* Where in the staging area the operations before number `to` end. */
static uint64_t end_of(const vidi__staging *staging, uint64_t to)
{
    uint64_t here = to > staging->first ? to - staging->first : 0;
    return here < staging->count ? here : staging->count;
}

/*
 * Logs the operations from *at up to `end`; *at is how far it came. `last` is the form of the last record, and `form`
 * that of the others.
 */
static int log_operations(vidi_set *set, uint64_t *at, uint64_t end, vidi__record_form form, vidi__record_form last,
                          uint64_t *position)
{
    const vidi__staging *staging = &set->durable->staging;
    *position = vidi__log_end(set->durable->log->log);
    while (*at < end) {
        size_t n = run_of(staging, *at, end, VIDI__RECORD_MOST);
        VIDI__TRY(log_run(set, *at, &n, *at + n < end ? form : last, position));
        *at += n;
    }
    return VIDI_OK;
}

int vidi__durable_log_operations(vidi_set *set, uint64_t to, uint64_t *position)
{
    vidi__staging *staging = &set->durable->staging;
    vidi__quiet quiet;
    vidi__quiet_begin(&quiet);
    return vidi__quiet_end(&quiet, log_operations(set, &staging->logged, end_of(staging, to),
                                                  VIDI__RECORD_WITHOUT_TALLY, VIDI__RECORD_WITH_TALLY, position));
}

/* Operations that were taken back are still numbered, but not logged. */
static uint64_t count_real(const vidi__staging *staging, uint64_t from, uint64_t to)
{
    uint64_t n = 0;
    for (uint64_t i = from; i < to; i++)
        n += staging->kind[i] != VIDI__OP_NONE;
    return n;
}

int vidi__durable_log_bundle(vidi_set *set, uint64_t to, uint64_t *operations, uint64_t *position)
{
    vidi__staging *staging = &set->durable->staging;
    uint64_t from = staging->logged, at = from, end = end_of(staging, to);
    vidi__quiet quiet;
    vidi__quiet_begin(&quiet);
    int code = vidi__quiet_end(&quiet,
                               log_operations(set, &at, end, VIDI__RECORD_IN_BUNDLE, VIDI__RECORD_IN_BUNDLE, position));
    *operations = code == VIDI_OK && end > from ? count_real(staging, from, end) : 0;
    if (code == VIDI_OK && end > from)
        staging->logged = end;
    return code;
}

/* ---- to another set ---- */

/* The i-th operation as work on another set. */
static vidi__work work_at(const vidi_set *from, uint64_t i, const vidi_str *url, uint8_t *verdict)
{
    bool hash_only = from->durable->hash_only;
    return (vidi__work){.urls = hash_only ? NULL : url,
                        .hashes = hash_only ? &from->durable->staging.hash[i] : NULL,
                        .count = 1,
                        .verdicts = verdict};
}

static int merge_hashes(void *into, const vidi__u128 *hashes, uint64_t n)
{
    vidi__tally tally = {0};
    uint8_t verdicts[VIDI__SEGMENT_BLOCK];
    vidi__work work = {.hashes = hashes, .count = (size_t)n, .verdicts = verdicts};
    return vidi__durable_operate(into, VIDI__OP_ADD, &work, &tally);
}

static int insert_rest(vidi_set *into, const vidi_set *from)
{
    const vidi__staging *staging = &from->durable->staging;
    vidi__tally tally = {0};
    for (uint64_t i = 0; i < staging->logged; i++) {
        vidi_str url = vidi__staging_url(staging, i);
        uint8_t verdict;
        vidi__work work = work_at(from, i, &url, &verdict);
        if (staging->kind[i] != VIDI__OP_NONE)
            VIDI__TRY(vidi__durable_operate(into, staging->kind[i], &work, &tally));
    }
    return vidi__index_iterate(from, merge_hashes, into);
}

/* A set, and how many hashes it lacks. */
typedef struct counting {
    vidi_set *into;
    uint64_t *missing;
} counting;

static int count_hashes(void *context, const vidi__u128 *hashes, uint64_t n)
{
    counting *self = context;
    uint8_t verdicts[VIDI__SEGMENT_BLOCK];
    vidi__work work = {.hashes = hashes, .count = (size_t)n, .verdicts = verdicts};
    memset(verdicts, VIDI_UNTRIED, sizeof verdicts);
    VIDI__TRY(vidi__epoch_lookup(&self->into->memory, &self->into->now, &work));
    for (uint64_t i = 0; i < n; i++)
        *self->missing += verdicts[i] == VIDI_NEW;
    return VIDI_OK;
}

/* A URL that was added several times is one URL. */
static int count_missing(vidi_set *into, const vidi_set *from, uint64_t *missing)
{
    const vidi__staging *staging = &from->durable->staging;
    for (uint64_t i = 0; i < staging->logged; i++) {
        vidi_str url = vidi__staging_url(staging, i);
        uint8_t verdict;
        vidi__work work = work_at(from, i, &url, &verdict);
        if (staging->kind[i] != VIDI__OP_ADD || vidi__staging_find(staging, staging->hash[i])->operation != i + 1)
            continue;
        VIDI__TRY(vidi__epoch_lookup(&into->memory, &into->now, &work));
        *missing += verdict == VIDI_NEW;
    }
    return vidi__index_iterate(from, count_hashes, &(counting){into, missing});
}

int vidi__durable_merge_into(vidi_set *into, const vidi_set *from, uint64_t *missing)
{
    return missing ? count_missing(into, from, missing) : insert_rest(into, from);
}
