/*
 * Adding in two halves: see vidi_digest_batch in vidi.h. The first half takes no part in the set's contents, so that it
 * can run beside the second half of what came before.
 */
#include "durable/durable.h"

/* What hashing needs of an epoch, which may end meanwhile: then the digests are refused. */
static int begin(vidi_set *set, vidi__epoch *epoch)
{
    vidi__lock_shared(set);
    bool suits = vidi__hash_only(set);
    epoch->number = set->now.number;
    epoch->hash = set->now.hash;
    epoch->key = set->now.key;
    int code = suits ? VIDI_OK : vidi__cannot(set, "make digests: it needs more of a URL than its hash");
    vidi__unlock(set);
    return code;
}

/* As many of n URLs as are before the first one that is nowhere; if that is the first, an error. */
static int hash_sound(const vidi__epoch *epoch, const vidi_str *urls, size_t *n, vidi_digest *digests)
{
    for (size_t i = 0; i < *n; i++) {
        int code = vidi__items_check(urls[i]);
        if (code < 0 && i == 0)
            return code;
        if (code < 0)
            *n = i; /* what is wrong with it comes up again at the head of a chunk */
    }
    vidi__hash_batch(epoch->hash, &epoch->key, urls, *n, digests);
    return VIDI_OK;
}

/* From the places in a list that some were left out of to those in the whole: from the last to the first. */
static void spread(const vidi__forms *forms, vidi_digest *digests, uint8_t *verdicts)
{
    size_t from = forms->count, place = forms->invalid;
    for (size_t i = forms->taken; i-- > 0;) {
        bool left_out = place > 0 && forms->places[place - 1] == i;
        place -= left_out;
        verdicts[i] = left_out ? VIDI_INVALID : VIDI_UNTRIED;
        digests[i] = left_out ? (vidi_digest){0, 0} : digests[--from];
    }
}

/* A chunk in which not all are in their form. Not inlined: it has a large frame, and most chunks do without. */
static __attribute__((noinline)) int digest_mixed(vidi_set *set, const vidi__epoch *epoch, const vidi_str *urls,
                                                  size_t *n, size_t ready, vidi_digest *digests, uint8_t *verdicts)
{
    vidi__forms forms;
    int code = vidi__forms_make(&forms, set, urls, *n, ready);
    *n = forms.taken;
    if (code == VIDI_OK)
        vidi__hash_batch(epoch->hash, &epoch->key, forms.list, forms.count, digests);
    if (code == VIDI_OK && forms.count < forms.taken)
        spread(&forms, digests, verdicts);
    if (code == VIDI_OK && forms.invalid) {
        vidi__lock_shared(set);
        atomic_fetch_add_explicit(&set->now.answered_invalid, forms.invalid, memory_order_relaxed);
        vidi__unlock(set);
    }
    vidi__forms_free(&forms);
    return code;
}

static int digest_chunk(vidi_set *set, const vidi__epoch *epoch, const vidi_str *urls, size_t *n, vidi_digest *digests,
                        uint8_t *verdicts)
{
    size_t ready = vidi__forms_ready(set, urls, *n);
    return ready == *n ? hash_sound(epoch, urls, n, digests)
                       : digest_mixed(set, epoch, urls, n, ready, digests, verdicts);
}

int vidi_digest_batch(const vidi_set *set, const vidi_str *urls, size_t *n, vidi_digest *digests, uint8_t *verdicts,
                      uint64_t *number)
{
    vidi_set *self = (vidi_set *)set; /* what is no URL is counted */
    vidi__epoch epoch;
    if (!set || !n || !number || (*n && (!urls || !digests || !verdicts)))
        return vidi__fail(VIDI_EARGUMENT, "set, urls, n, digests, verdicts or epoch is NULL");
    size_t wanted = *n;
    *n = 0;
    VIDI__TRY(begin(self, &epoch));
    *number = epoch.number;
    if (wanted)
        memset(verdicts, VIDI_UNTRIED, wanted);
    while (*n < wanted) {
        size_t chunk = wanted - *n < VIDI__HASHES_MAX ? wanted - *n : VIDI__HASHES_MAX;
        int code = digest_chunk(self, &epoch, urls + *n, &chunk, digests + *n, verdicts + *n);
        if (code < 0)
            return vidi__answer(code);
        *n += chunk;
    }
    return VIDI_OK;
}

static int add_chunk(vidi_set *set, uint64_t epoch, const vidi_digest *digests, size_t n, uint8_t *verdicts)
{
    return vidi__set_add(set, &(vidi__adds){.known = digests, .epoch = epoch, .count = n, .verdicts = verdicts});
}

/* A chunk of which some are left out. Not inlined: it has a large frame. */
static __attribute__((noinline)) int add_some(vidi_set *set, uint64_t epoch, const vidi_digest *digests, size_t n,
                                              uint8_t *verdicts)
{
    vidi_digest some[VIDI__HASHES_MAX];
    uint8_t answers[VIDI__HASHES_MAX];
    size_t count = 0, next = 0;
    for (size_t i = 0; i < n; i++)
        if (verdicts[i] != VIDI_INVALID)
            some[count++] = digests[i];
    memset(answers, VIDI_UNTRIED, sizeof answers);
    int code = add_chunk(set, epoch, some, count, answers);
    for (size_t i = 0; i < n; i++)
        if (verdicts[i] != VIDI_INVALID)
            verdicts[i] = answers[next++];
    return code;
}

int vidi_add_digests(vidi_set *set, uint64_t epoch, const vidi_digest *digests, size_t n, uint8_t *verdicts)
{
    int code = VIDI_OK;
    if (!set || (n && (!digests || !verdicts)))
        return vidi__fail(VIDI_EARGUMENT, "set, digests or verdicts is NULL");
    for (size_t i = 0; i < n; i++)
        verdicts[i] = verdicts[i] == VIDI_INVALID ? VIDI_INVALID : VIDI_UNTRIED;
    for (size_t done = 0, chunk; done < n && code == VIDI_OK; done += chunk) {
        chunk = n - done < VIDI__HASHES_MAX ? n - done : VIDI__HASHES_MAX;
        bool whole = !memchr(verdicts + done, VIDI_INVALID, chunk);
        code = whole ? add_chunk(set, epoch, digests + done, chunk, verdicts + done)
                     : add_some(set, epoch, digests + done, chunk, verdicts + done);
    }
    return code;
}
