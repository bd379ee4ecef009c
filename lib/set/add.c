/*
 * Adding and removing. vidi_add, vidi_add_batch and vidi_add_digests meet in add_work: the one way into a set.
 *
 *     URLs ── canonicalize.c ──┐
 *                              ├── add_work ── filter (work.c), or staging area, log and filter (lib/durable)
 *     digests of URLs ─────────┘
 *
 * Digests let callers add in two halves. The first half, canonical form and hash, needs nothing of the set's contents,
 * so one thread can do it for the next batch while another inserts the last one. A digest is good for the epoch that it
 * was made in.
 */
#include "set/set.h"

static int add_group(vidi_set *set, const vidi__work *rest, size_t *size)
{
    vidi__tally tally = {0};
    vidi__slot *slot = vidi__lock_to_add(set);
    *size = vidi__work_group(&set->now, rest);
    vidi__work group = vidi__work_part(rest, 0, *size);
    int code = vidi__work_check(&set->now, rest);
    if (code == VIDI_OK)
        code = vidi__epoch_add(&set->memory, &set->now, &group, &tally);
    vidi__slot_count(slot, &tally);
    vidi__unlock_slot(set, slot, *size);
    return code;
}

static int add_work(vidi_set *set, const vidi__work *work)
{
    VIDI__TRY(vidi__set_writable(set));
    if (set->persistence)
        return set->persistence->add(set, work);
    for (size_t done = 0, size; done < work->count; done += size) {
        vidi__work rest = vidi__work_part(work, done, SIZE_MAX);
        VIDI__TRY(add_group(set, &rest, &size));
    }
    return VIDI_OK;
}

static int add_batch(vidi_set *set, const vidi__work *batch)
{
    if (!set || (batch->count && (!batch->urls || !batch->verdicts)))
        return vidi__fail(VIDI_EARGUMENT, "set, urls or verdicts is NULL");
    if (batch->count)
        memset(batch->verdicts, VIDI_UNTRIED, batch->count);
    return vidi__answer(vidi__for_chunks(set, batch, add_work, &set->now.answered_invalid));
}

/* Returns true if entry i is answered. Before a call only digests can be, if an earlier call has failed. */
static bool is_answered(const vidi__work *batch, size_t i)
{
    return batch->verdicts[i] == VIDI_NEW || batch->verdicts[i] == VIDI_SEEN;
}

/* Sets that commit by themselves write no marks. */
static void clear_marks(const vidi__work *batch)
{
    for (size_t i = 0; i < batch->count; i++)
        if (batch->urls || !is_answered(batch, i))
            batch->marks[i] = 0;
}

/* The mark of the entries before the first answered one: what was answered before, also if that was an earlier call. */
static uint64_t first_mark(const vidi__work *batch, uint64_t before)
{
    size_t i = 0;
    while (i < batch->count && !is_answered(batch, i))
        i++;
    return i < batch->count && batch->marks[i] < before ? batch->marks[i] - 1 : before;
}

/* Runs `fn`, which adds a batch with marks, and gives each entry that was not added the mark of the one before it. */
static int run_marked(vidi_set *set, const vidi__work *batch, vidi__chunk_fn *fn)
{
    if (!set || (batch->count && (!(batch->urls || batch->hashes) || !batch->verdicts)))
        return vidi__fail(VIDI_EARGUMENT, "set, URLs, digests or verdicts is NULL");
    uint64_t before = set->persistence ? set->persistence->mark(set) : 0;
    clear_marks(batch);
    int code = fn(set, batch);
    uint64_t mark = first_mark(batch, before);
    for (size_t i = 0; i < batch->count; i++) {
        if (is_answered(batch, i))
            mark = batch->marks[i];
        else
            batch->marks[i] = mark;
    }
    return code;
}

int vidi_add_batch(vidi_set *set, const vidi_str *urls, size_t n, uint8_t *verdicts, uint64_t *marks)
{
    vidi__work batch = {.urls = urls, .count = n, .verdicts = verdicts, .marks = marks};
    return marks ? run_marked(set, &batch, add_batch) : add_batch(set, &batch);
}

/* Not inlined, so that the short way needs none of its frame. */
static __attribute__((noinline)) int add_as_batch(vidi_set *set, vidi_str url)
{
    uint8_t verdict = VIDI_UNTRIED;
    int code = add_batch(set, &(vidi__work){.urls = &url, .count = 1, .verdicts = &verdict, .single = true});
    return code == VIDI_OK ? verdict : code;
}

/*
 * Adds one URL to a filter that needs more than the hash, or has no short way for it. The caller holds the lock, which
 * this releases.
 */
static __attribute__((noinline)) int add_item_and_unlock(vidi_set *set, vidi__slot *slot, vidi_str url)
{
    uint8_t verdict = VIDI_UNTRIED;
    vidi__tally tally = {0};
    vidi__work work = {.urls = &url, .count = 1, .verdicts = &verdict};
    bool canonical = vidi__is_canonical(set, url);
    int code = canonical ? vidi__epoch_add(&set->memory, &set->now, &work, &tally) : VIDI_OK;
    if (canonical)
        vidi__slot_count_one(slot, (vidi__added){code < 0 ? code : verdict, tally.lost});
    vidi__unlock_slot(set, slot, 1);
    if (!canonical)
        return add_as_batch(set, url);
    return code < 0 ? code : verdict;
}

/*
 * Adds one URL to a set in memory: the same as add_work, without what batches and logs need. The hash comes
 * first, so that the filter's line is on its way while the URL is checked.
 */
static int add_one(vidi_set *set, vidi_str url)
{
    VIDI__TRY(vidi__set_writable(set));
    vidi__slot *slot = vidi__lock_to_add(set);
    vidi__filter *filter = set->now.filter;
    if (VIDI__UNLIKELY(!vidi__filter_takes_one(filter)))
        return add_item_and_unlock(set, slot, url);
    vidi__u128 hash = vidi__epoch_fetch(&set->now, url, !slot->repeats);
    if (VIDI__UNLIKELY(!vidi__is_canonical(set, url))) {
        vidi__unlock_slot(set, slot, 1);
        return add_as_batch(set, url);
    }
    vidi__added added = filter->kind->add_hash(filter, hash);
    vidi__slot_count_one(slot, added);
    vidi__unlock_slot(set, slot, 1);
    return added.code;
}

/* The same for a set in a folder, which goes the long way if it has to wait for the disk, or stages what it adds. */
static int add_one_to_folder(vidi_set *set, vidi_str url)
{
    if (VIDI__UNLIKELY(!vidi__is_canonical(set, url)))
        return add_as_batch(set, url);
    VIDI__TRY(vidi__set_writable(set));
    int code = set->persistence->add_one(set, url);
    return VIDI__UNLIKELY(code == VIDI_UNTRIED) ? add_as_batch(set, url) : code;
}

int vidi_add(vidi_set *set, vidi_str url)
{
    if (VIDI__UNLIKELY(!set || !url.ptr))
        return add_as_batch(set, url);
    return set->persistence ? add_one_to_folder(set, url) : add_one(set, url);
}

/* ---- removing ---- */

static int remove_locked(vidi_set *set, vidi_str url)
{
    if (!(set->now.filter->can & VIDI_CAN_DELETE))
        return vidi__cannot(set, "remove URLs");
    VIDI__TRY(vidi__epoch_remove(&set->memory, &set->now, url, NULL));
    atomic_fetch_add_explicit(&set->now.removed, 1, memory_order_relaxed);
    return VIDI_OK;
}

static int remove_url(vidi_set *set, vidi_str url, uint64_t *unused)
{
    (void)unused;
    VIDI__TRY(vidi__set_writable(set));
    if (set->persistence)
        return set->persistence->remove(set, url);
    vidi__lock_alone(set);
    int code = remove_locked(set, url);
    vidi__unlock(set);
    return code;
}

int vidi_remove(vidi_set *set, vidi_str url)
{
    if (!set)
        return vidi__fail(VIDI_EARGUMENT, "set is NULL");
    return vidi__answer(vidi__for_single(set, url, remove_url, NULL));
}

/* ---- making digests ---- */

/*
 * Copies what hashing needs of the current epoch, which may end before the digests are used. Without the set's lock:
 * threads that make digests would wait for those that add, and adds that have the set alone would no longer have it.
 */
static int copy_epoch(vidi_set *set, vidi__epoch *epoch, vidi__hash_key *key)
{
    vidi__mutex_lock(&set->renewal);
    bool suits = vidi__epoch_needs_hash_only(&set->now);
    epoch->number = set->now.number;
    epoch->hash = set->now.hash;
    memcpy(epoch->key, set->now.key, sizeof epoch->key);
    epoch->whole_key = set->now.whole_key ? memcpy(key, set->now.whole_key, sizeof *key) : NULL;
    int code = suits ? VIDI_OK : vidi__cannot(set, "make digests: it needs more of a URL than its hash");
    vidi__mutex_unlock(&set->renewal);
    return code;
}

static int hash_work(vidi_set *set, const vidi__work *work)
{
    (void)set;
    vidi__hash_batch(work->hashing->hash, vidi__epoch_key(work->hashing), work->urls, work->count, work->digests);
    if (work->count)
        memset(work->verdicts, VIDI_DIGESTED, work->count);
    return VIDI_OK;
}

static int hash_canonical(vidi_set *set, const vidi__work *work)
{
    for (size_t i = 0; i < work->count; i++)
        if (work->urls[i].len && !work->urls[i].ptr)
            return vidi__fail(VIDI_EARGUMENT, "text %zu is NULL", i);
    return hash_work(set, work);
}

static int make_digests(const vidi_set *set, const vidi_str *urls, size_t n, vidi_digest *digests, uint8_t *verdicts,
                        uint64_t *epoch, bool canonical)
{
    vidi_set *self = (vidi_set *)set; /* invalid lines are counted */
    vidi__epoch copy;
    vidi__hash_key key;
    if (!set || !epoch || (n && (!urls || !digests || !verdicts)))
        return vidi__fail(VIDI_EARGUMENT, "set, urls, digests, verdicts or epoch is NULL");
    VIDI__TRY(vidi__set_here(set));
    if (n)
        memset(verdicts, VIDI_UNTRIED, n);
    VIDI__TRY(copy_epoch(self, &copy, &key));
    *epoch = copy.number;
    vidi__work batch = {.urls = urls, .count = n, .verdicts = verdicts, .digests = digests, .hashing = &copy};
    return canonical ? hash_canonical(self, &batch)
                     : vidi__answer(vidi__for_chunks(self, &batch, hash_work, &self->now.answered_invalid));
}

int vidi_digest_batch(const vidi_set *set, const vidi_str *urls, size_t n, vidi_digest *digests, uint8_t *verdicts,
                      uint64_t *epoch)
{
    return make_digests(set, urls, n, digests, verdicts, epoch, false);
}

int vidi_digest_canonical(const vidi_set *set, const vidi_str *texts, size_t n, vidi_digest *digests, uint8_t *verdicts,
                          uint64_t *epoch)
{
    return make_digests(set, texts, n, digests, verdicts, epoch, true);
}

/* ---- adding digests, and looking them up ---- */

/* What fn did not get to can be tried again. */
static void untried_again(uint8_t *verdicts, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (verdicts[i] == VIDI_UNTRIED)
            verdicts[i] = VIDI_DIGESTED;
}

static int run_chunk(vidi_set *set, const vidi__work *chunk, vidi__chunk_fn *fn)
{
    memset(chunk->verdicts, VIDI_UNTRIED, chunk->count);
    int code = fn(set, chunk);
    if (code < 0)
        untried_again(chunk->verdicts, chunk->count);
    return code;
}

/* What the entries left out of a chunk keep. */
typedef struct kept {
    uint8_t verdicts[VIDI__HASHES_MAX];
    uint64_t marks[VIDI__HASHES_MAX];
} kept;

static void keep(kept *self, const vidi__work *chunk, size_t at, size_t i)
{
    self->verdicts[at] = chunk->verdicts[i];
    if (chunk->marks)
        self->marks[at] = chunk->marks[i];
}

static void restore(const kept *self, const vidi__work *chunk, const vidi__selection *selection)
{
    for (size_t at = 0; at < selection->left_out; at++) {
        size_t i = selection->places[at];
        chunk->verdicts[i] = self->verdicts[at];
        if (chunk->marks)
            chunk->marks[i] = self->marks[at];
    }
}

/* Not inlined: its frame is large, and it is for the rare chunk in which some entries have no digest. */
static __attribute__((noinline)) int run_selected(vidi_set *set, const vidi__work *chunk, vidi__chunk_fn *fn)
{
    vidi_digest list[VIDI__HASHES_MAX];
    kept left_out;
    vidi__selection selection;
    selection.taken = chunk->count;
    selection.left_out = 0;
    size_t count = 0;
    for (size_t i = 0; i < chunk->count; i++) {
        if (chunk->verdicts[i] == VIDI_DIGESTED) {
            list[count++] = chunk->hashes[i];
        } else {
            keep(&left_out, chunk, selection.left_out, i);
            selection.places[selection.left_out++] = (uint16_t)i;
        }
    }
    vidi__work work = *chunk;
    work.hashes = list;
    work.count = count;
    int code = run_chunk(set, &work, fn);
    vidi__put_back(&selection, chunk);
    restore(&left_out, chunk, &selection);
    return code;
}

static bool all_digested(const vidi__work *chunk)
{
    size_t i = 0;
    while (i < chunk->count && chunk->verdicts[i] == VIDI_DIGESTED)
        i++;
    return i == chunk->count;
}

static int for_digests(vidi_set *set, const vidi__work *batch, vidi__chunk_fn *fn)
{
    if (!set || (batch->count && (!batch->hashes || !batch->verdicts)))
        return vidi__fail(VIDI_EARGUMENT, "set, digests or verdicts is NULL");
    VIDI__TRY(vidi__set_here(set));
    for (size_t done = 0; done < batch->count; done += VIDI__HASHES_MAX) {
        vidi__work chunk = vidi__work_part(batch, done, VIDI__HASHES_MAX);
        VIDI__TRY(all_digested(&chunk) ? run_chunk(set, &chunk, fn) : run_selected(set, &chunk, fn));
    }
    return VIDI_OK;
}

static int add_digests(vidi_set *set, const vidi__work *batch)
{
    return for_digests(set, batch, add_work);
}

int vidi_add_digests(vidi_set *set, uint64_t epoch, const vidi_digest *digests, size_t n, uint8_t *verdicts,
                     uint64_t *marks)
{
    vidi__work batch = {.hashes = digests, .epoch = epoch, .count = n, .verdicts = verdicts, .marks = marks};
    return marks ? run_marked(set, &batch, add_digests) : add_digests(set, &batch);
}

int vidi_has_digests(const vidi_set *set, uint64_t epoch, const vidi_digest *digests, size_t n, uint8_t *verdicts)
{
    vidi__work batch = {.hashes = digests, .epoch = epoch, .count = n, .verdicts = verdicts};
    return for_digests((vidi_set *)set, &batch, vidi__lookup_work); /* lookups are counted */
}
