/*
 * Hashes from records of the log, for its index. replay.c explains bundles; what would make it drop or distrust
 * something ends the index here.
 */
#include "durable/log_index.h"

/* Results that end the reading of the log; positive, because they are no errors. */
enum { ENOUGH = 1, UNFIT };

/* ---- hashes ---- */

static int make_room(const vidi__gather *self, uint64_t n)
{
    return n > self->room - self->n - self->held ? UNFIT : VIDI_OK;
}

/* Hashes of an open bundle make way; their order does not matter. */
static void take(vidi__gather *self, const char *list, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++) {
        self->hashes[self->n + self->held] = self->hashes[self->n];
        memcpy(&self->hashes[self->n++], list + i * sizeof(vidi__u128), sizeof(vidi__u128));
    }
}

static void hold(vidi__gather *self, const char *list, uint64_t n)
{
    memcpy(self->hashes + self->n + self->held, list, (size_t)n * sizeof(vidi__u128));
    self->held += n;
}

/* ---- records ---- */

/* The larger tally counts; its losses are not negative, so their bits are in the order of the numbers. */
static void take_tally(vidi__gather *self, const char *tally)
{
    unsigned char *mine = self->stretch->tally;
    for (size_t at = 0; at < VIDI__RECORD_TALLY; at += 8)
        if (vidi__load64(tally + at) > vidi__load64(mine + at))
            memcpy(mine + at, tally + at, 8);
}

static int take_plain(vidi__gather *self, vidi_str payload, bool with_tally)
{
    size_t begin = with_tally ? VIDI__RECORD_TALLY : 0;
    if (payload.len < begin || (payload.len - begin) % sizeof(vidi__u128))
        return UNFIT;
    uint64_t n = (payload.len - begin) / sizeof(vidi__u128);
    int code = make_room(self, n + 1);
    if (code != VIDI_OK)
        return code;
    take(self, payload.ptr + begin, n);
    if (with_tally)
        take_tally(self, payload.ptr);
    return VIDI_OK;
}

/* Enters the bundle of these numbers. Another attempt at the same bundle replaces what was held of the first. */
static int enter_bundle(vidi__gather *self, const char *numbers)
{
    uint64_t bundle = vidi__load64(numbers), attempt = vidi__load64(numbers + 8);
    if (bundle != self->taken + 1)
        return UNFIT;
    if (!self->open || attempt != self->attempt)
        self->held = 0;
    self->open = true;
    self->attempt = attempt;
    return VIDI_OK;
}

static int take_bundled(vidi__gather *self, vidi_str payload)
{
    if (payload.len < VIDI__RECORD_NUMBERS || (payload.len - VIDI__RECORD_NUMBERS) % sizeof(vidi__u128))
        return UNFIT;
    uint64_t n = (payload.len - VIDI__RECORD_NUMBERS) / sizeof(vidi__u128);
    int code = enter_bundle(self, payload.ptr);
    if (code == VIDI_OK)
        code = make_room(self, n + 1);
    if (code == VIDI_OK)
        hold(self, payload.ptr + VIDI__RECORD_NUMBERS, n);
    return code;
}

static int take_note(vidi__gather *self, vidi_str payload)
{
    vidi__stretch *stretch = self->stretch;
    if (payload.len < VIDI__NOTE_HEAD || payload.len > VIDI__NOTE_HEAD + VIDI__SEGMENT_NOTE)
        return UNFIT;
    int code = enter_bundle(self, payload.ptr);
    if (code != VIDI_OK || self->held != vidi__load64(payload.ptr + VIDI__RECORD_NUMBERS))
        return UNFIT;
    self->n += self->held;
    self->held = 0;
    self->open = false;
    self->taken++;
    take_tally(self, payload.ptr + VIDI__NOTE_HEAD - VIDI__RECORD_TALLY);
    stretch->has_note = true;
    stretch->note_bytes = payload.len - VIDI__NOTE_HEAD;
    memcpy(stretch->note, payload.ptr + VIDI__NOTE_HEAD, (size_t)stretch->note_bytes);
    return VIDI_OK;
}

/* A place where the stretch could end: no bundle is open. */
static void reach(vidi__gather *self)
{
    if (self->open)
        return;
    self->stretch->to = self->found.bytes;
    self->stretch->hashes = self->n;
    self->stretch->records = self->records;
    self->stretch->bundles = self->taken;
}

static int visit(void *context, uint32_t type, vidi_str payload)
{
    vidi__gather *self = context;
    int code = UNFIT;
    reach(self);
    if (!self->open && self->n >= self->most)
        return ENOUGH;
    if (type == VIDI__RECORD_ADD_HASHES + (uint32_t)VIDI__RECORD_WITH_TALLY)
        code = take_plain(self, payload, true);
    else if (type == VIDI__RECORD_ADD_HASHES + (uint32_t)VIDI__RECORD_WITHOUT_TALLY)
        code = take_plain(self, payload, false);
    else if (type == VIDI__RECORD_ADD_HASHES + (uint32_t)VIDI__RECORD_IN_BUNDLE)
        code = take_bundled(self, payload);
    else if (type == VIDI__RECORD_NOTE)
        code = take_note(self, payload);
    self->records++;
    return code;
}

int vidi__gather_read(vidi__gather *self, vidi__memory *memory, int folder, uint64_t to)
{
    vidi__stretch *stretch = self->stretch;
    vidi__log_part part = {.from = stretch->from, .to = to, .known = VIDI__LOG_UNKNOWN};
    self->taken = stretch->bundles_before;
    stretch->to = stretch->from;
    int code = vidi__log_read_part(memory, folder, &stretch->log, &part, visit, self, &self->found);
    VIDI__TRY(code);
    if (code == VIDI_OK)
        reach(self);
    stretch->generation = self->found.generation;
    if (self->found.headless || self->found.intact != self->found.bytes)
        return vidi__fail(VIDI_EDAMAGED, "the log is damaged");
    return code == UNFIT ? vidi__fail(VIDI_ECANNOT, "the log has records that cannot be indexed") : VIDI_OK;
}
