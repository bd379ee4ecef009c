/*
 * Digests: adding and looking up in two halves.
 *
 * The first half, canonical form and hash, needs nothing of the set's contents, so one thread can do it for the next
 * batch while another inserts the last one. A digest is good for the epoch that it was made in.
 */
#include "set/set.h"

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

int vidi_digest_batch(const vidi_set *set, const vidi_str *urls, size_t n, vidi_digest *digests, uint8_t *verdicts,
                      uint64_t *epoch)
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
    return vidi__answer(vidi__for_chunks(self, &batch, hash_work, &self->now.answered_invalid));
}

/* ---- using them ---- */

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
    return for_digests(set, batch, vidi__add_work);
}

int vidi_add_digests(vidi_set *set, uint64_t epoch, const vidi_digest *digests, size_t n, uint8_t *verdicts,
                     uint64_t *marks)
{
    vidi__work batch = {.hashes = digests, .epoch = epoch, .count = n, .verdicts = verdicts, .marks = marks};
    return marks ? vidi__run_marked(set, &batch, add_digests) : add_digests(set, &batch);
}

int vidi_has_digests(const vidi_set *set, uint64_t epoch, const vidi_digest *digests, size_t n, uint8_t *verdicts)
{
    vidi__work batch = {.hashes = digests, .epoch = epoch, .count = n, .verdicts = verdicts};
    return for_digests((vidi_set *)set, &batch, vidi__lookup_work); /* lookups are counted */
}
