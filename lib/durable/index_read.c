/*
 * The reader's side of the logs' indexes: a mapped set looks hashes up in the segments, besides the filter and the
 * staging area. See log_index.h.
 *
 * A block of a segment is checked when it is used for the first time. If that finds damage, the hashes of the segment's
 * stretch are read from the log, and stand for the file from then on. So a damaged index costs time, and never an
 * answer.
 */
#include "durable/log_index.h"

static vidi__durable *durable_of(const vidi_set *set)
{
    return set->durable;
}

/* ---- opening ---- */

/* Such a set logs hashes alone, and adds each at most once: then an index is all that is needed of the log. */
static bool can_use(const vidi_set *set)
{
    return set->mapped && set->durable->hash_only && !set->now.filter->stores_every_add;
}

static int keep(vidi_set *set, vidi__segment *const *segments, size_t count)
{
    vidi__durable *durable = set->durable;
    uint64_t before = durable->segment_count * sizeof *durable->segments;
    VIDI__TRY(vidi__regrow(&set->memory, &durable->segments, before, before + count * sizeof *segments,
                           _Alignof(vidi__segment *)));
    memcpy(durable->segments + durable->segment_count, segments, count * sizeof *segments);
    durable->segment_count += count;
    return VIDI_OK;
}

int vidi__index_use(vidi_set *set, int folder, const vidi__log_id *id, vidi__replay *replay, uint64_t *from,
                    uint64_t *records)
{
    vidi__segment *segments[VIDI__SEGMENTS_MOST];
    size_t count = 0;
    if (!can_use(set))
        return VIDI_OK;
    if (vidi__index_open(&set->memory, folder, id, segments, &count) < 0 || !count)
        return VIDI_OK;
    int code = keep(set, segments, count);
    if (code < 0) {
        for (size_t i = 0; i < count; i++)
            vidi__segment_close(segments[i], &set->memory);
        return code;
    }
    set->durable->index_folder = folder;
    *from = segments[count - 1]->stretch.to;
    for (size_t i = 0; i < count; i++) {
        set->durable->recovery.urls += segments[i]->stretch.hashes;
        *records += segments[i]->stretch.records;
    }
    return vidi__replay_resume(replay, segments, count);
}

void vidi__index_close(vidi_set *set)
{
    vidi__durable *durable = set->durable;
    for (size_t i = 0; i < durable->segment_count; i++)
        vidi__segment_close(durable->segments[i], &set->memory);
    vidi__release(&set->memory, durable->segments, durable->segment_count * sizeof *durable->segments,
                  _Alignof(vidi__segment *));
    durable->segments = NULL;
    durable->segment_count = 0;
}

uint64_t vidi__index_count(const vidi_set *set)
{
    uint64_t n = 0;
    for (size_t i = 0; i < set->durable->segment_count; i++)
        n += set->durable->segments[i]->stretch.hashes;
    return n;
}

/* ---- mending ---- */

/* Reads the hashes of the segment's stretch from the log, which must have as many. */
static int read_again(const vidi_set *set, vidi__segment *segment, vidi__u128 *hashes, vidi__u128 *room)
{
    vidi__memory *memory = (vidi__memory *)&set->memory;
    const vidi__stretch *old = &segment->stretch;
    vidi__stretch stretch = {.log = old->log, .from = old->from, .bundles_before = old->bundles_before};
    vidi__gather gather = {.stretch = &stretch, .hashes = hashes, .room = old->hashes + 1, .most = UINT64_MAX};
    VIDI__TRY(vidi__gather_read(&gather, memory, set->durable->index_folder, old->to));
    if (stretch.to != old->to || stretch.hashes != old->hashes || stretch.generation != old->generation)
        return vidi__fail(VIDI_EDAMAGED, "the log does not have what its index says");
    vidi__segment_sort(hashes, stretch.hashes, room);
    return VIDI_OK;
}

static int mend(const vidi_set *set, vidi__segment *segment)
{
    vidi__memory *memory = (vidi__memory *)&set->memory;
    vidi__u128 *hashes, *room;
    uint64_t bytes = segment->stretch.hashes * sizeof *hashes;
    VIDI__TRY(vidi__alloc(memory, &room, bytes + sizeof *room, _Alignof(vidi__u128)));
    int code = vidi__alloc(memory, &hashes, bytes, _Alignof(vidi__u128));
    if (code == VIDI_OK)
        code = read_again(set, segment, room, hashes);
    if (code == VIDI_OK) {
        memcpy(hashes, room, (size_t)bytes);
        vidi__segment_mend(segment, hashes);
    } else {
        vidi__release(memory, hashes, bytes, _Alignof(vidi__u128));
    }
    vidi__release(memory, room, bytes + sizeof *room, _Alignof(vidi__u128));
    return code;
}

/* Mends a segment unless another thread has just done so. */
static int mend_once(const vidi_set *set, vidi__segment *segment)
{
    vidi__durable *durable = durable_of(set);
    int code = VIDI_OK;
    pthread_mutex_lock(&durable->staging_lock);
    if (!atomic_load_explicit(&segment->mended, memory_order_relaxed))
        code = mend(set, segment);
    pthread_mutex_unlock(&durable->staging_lock);
    if (code == VIDI_EABSENT)
        return vidi__fail(VIDI_EIO, "the index of a log is damaged, and a newer snapshot has replaced the log; open "
                                    "the set again, or run the command again");
    return code < 0 ? vidi__fail_in("the index of a log is damaged, and so is the log", code) : VIDI_OK;
}

/* ---- lookups and lists ---- */

static int ask_segment(vidi_set *set, vidi__segment *segment, const vidi__u128 *hashes, size_t n, bool *has)
{
    int code = vidi__segment_has(segment, hashes, n, has);
    if (VIDI__LIKELY(code != VIDI_EDAMAGED))
        return code;
    VIDI__TRY(mend_once(set, segment));
    return vidi__segment_has(segment, hashes, n, has);
}

int vidi__index_has(vidi_set *set, const vidi__u128 *hashes, size_t n, bool *has)
{
    const vidi__durable *durable = set->durable;
    bool here[VIDI__SEGMENT_GROUP];
    memset(has, 0, n * sizeof *has);
    for (size_t i = 0; i < durable->segment_count; i++) {
        VIDI__TRY(ask_segment(set, durable->segments[i], hashes, n, here));
        for (size_t j = 0; j < n; j++)
            has[j] |= here[j];
    }
    return VIDI_OK;
}

static int visit_block(const vidi_set *set, vidi__segment *segment, uint64_t block, vidi__index_visit *visit,
                       void *context)
{
    vidi__u128 copy[VIDI__SEGMENT_BLOCK]; /* so that nobody sees hashes of a file that is being truncated */
    const vidi__u128 *hashes;
    uint64_t n;
    for (int tries = 0;; tries++) {
        int code = vidi__segment_block(segment, block, &hashes, &n);
        if (code == VIDI_OK) {
            memcpy(copy, hashes, (size_t)n * sizeof *copy);
            code = vidi__segment_intact(segment);
        }
        if (code == VIDI_OK)
            return visit(context, copy, n);
        if (code != VIDI_EDAMAGED || tries)
            return code;
        VIDI__TRY(mend_once(set, segment));
    }
}

int vidi__index_iterate(const vidi_set *set, vidi__index_visit *visit, void *context)
{
    vidi__durable *durable = durable_of(set);
    for (size_t i = 0; i < durable->segment_count; i++)
        for (uint64_t block = 0; block < durable->segments[i]->blocks; block++) {
            int code = visit_block(set, durable->segments[i], block, visit, context);
            if (code)
                return code;
        }
    return VIDI_OK;
}

/* ---- verifying ---- */

/* The hashes of the log's records are counted and looked up in the segment; those of bundles are only counted. */
typedef struct comparison {
    vidi__segment *segment;
    uint64_t records;
} comparison;

static int compare_hashes(vidi__segment *segment, const char *list, size_t n)
{
    vidi__u128 hashes[VIDI__SEGMENT_GROUP];
    bool has[VIDI__SEGMENT_GROUP];
    memcpy(hashes, list, n * sizeof *hashes);
    VIDI__TRY(vidi__segment_has(segment, hashes, n, has));
    for (size_t i = 0; i < n; i++)
        if (!has[i])
            return vidi__fail(VIDI_EDAMAGED, "its index lacks a URL");
    return VIDI_OK;
}

static int compare(void *context, uint32_t type, vidi_str payload)
{
    comparison *self = context;
    size_t begin = type == VIDI__RECORD_ADD_HASHES + (uint32_t)VIDI__RECORD_WITH_TALLY ? VIDI__RECORD_TALLY : 0;
    self->records++;
    if (!begin && type != VIDI__RECORD_ADD_HASHES + (uint32_t)VIDI__RECORD_WITHOUT_TALLY)
        return VIDI_OK;
    size_t left = payload.len < begin ? 0 : (payload.len - begin) / sizeof(vidi__u128);
    for (const char *at = payload.ptr + begin; left;) {
        size_t n = left < VIDI__SEGMENT_GROUP ? left : VIDI__SEGMENT_GROUP;
        VIDI__TRY(compare_hashes(self->segment, at, n));
        at += n * sizeof(vidi__u128);
        left -= n;
    }
    return VIDI_OK;
}

static int verify_stretch(const vidi_set *set, vidi__segment *segment)
{
    const vidi__stretch *stretch = &segment->stretch;
    vidi__log_part part = {.from = stretch->from, .to = stretch->to, .known = stretch->to};
    comparison self = {.segment = segment};
    vidi__log_found found;
    VIDI__TRY(vidi__segment_verify(segment));
    VIDI__TRY(vidi__log_read_part((vidi__memory *)&set->memory, set->durable->index_folder, &stretch->log, &part,
                                  compare, &self, &found));
    if (found.damaged || found.bytes != stretch->to || self.records != stretch->records)
        return vidi__fail(VIDI_EDAMAGED, "it is damaged, or does not have what its index says");
    return VIDI_OK;
}

/* A log that is gone was replaced by a newer snapshot, after this set was opened. */
int vidi__index_verify(const vidi_set *set)
{
    for (size_t i = 0; i < set->durable->segment_count; i++) {
        char name[40];
        vidi__segment *segment = set->durable->segments[i];
        int code = verify_stretch(set, segment);
        vidi__log_name(name, segment->stretch.log.number);
        if (code == VIDI_EABSENT)
            code = VIDI_OK;
        if (code < 0)
            return vidi__fail_in(name, code == VIDI_EDAMAGED ? VIDI_EFORMAT : code);
    }
    return VIDI_OK;
}
