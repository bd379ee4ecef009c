#include "model/truth.h"

#include <stdlib.h>
#include <string.h>

static uint64_t bit(uint8_t times)
{
    return UINT64_C(1) << times;
}

static uint8_t applied(const model_truth *truth, uint8_t times, bool removes)
{
    if (!truth->stores_every_add)
        return !removes;
    return removes ? (uint8_t)(times ? times - 1 : 0) : (uint8_t)(times + 1);
}

/* The counts that are possible after an operation, given those before it. */
static uint64_t applied_to_all(const model_truth *truth, uint64_t counts, bool removes)
{
    if (!truth->stores_every_add)
        return removes ? 1 : 2;
    return removes ? counts >> 1 | (counts & 1) : counts << 1;
}

void model_truth_begin(model_truth *truth, bool stores_every_add, bool one_sided)
{
    memset(truth, 0, sizeof *truth);
    truth->stores_every_add = stores_every_add;
    truth->one_sided = one_sided;
    truth->note_on_disk[0] = true;
    for (size_t i = 0; i < MODEL_URLS; i++)
        truth->disk.counts[i] = truth->previous.counts[i] = truth->previous_disk.counts[i] = bit(0);
}

/* ---- what must be seen ---- */

typedef enum share { NEVER, PERHAPS, ALWAYS } share;

static void go_through(const model_truth *truth, share (*takes)(const model_op *op, uint32_t note), uint32_t note,
                       model_view *view)
{
    for (size_t i = 0; i < truth->n_ops; i++) {
        const model_op *op = &truth->ops[i];
        uint64_t *counts = &view->counts[op->url], after = applied_to_all(truth, *counts, op->removes);
        share taken = takes(op, note);
        *counts = taken == ALWAYS ? after : taken == PERHAPS ? *counts | after : *counts;
    }
}

static void begin_with_base(const model_truth *truth, model_view *view)
{
    for (size_t i = 0; i < MODEL_URLS; i++)
        view->counts[i] = bit(truth->base[i]);
}

static share in_the_set(const model_op *op, uint32_t note)
{
    (void)note;
    return op->fate == MODEL_GHOST ? NEVER : ALWAYS;
}

void model_truth_live(const model_truth *truth, model_view *view)
{
    begin_with_base(truth, view);
    go_through(truth, in_the_set, 0, view);
}

static share is_committed(const model_op *op, uint32_t note)
{
    (void)note;
    switch ((model_fate)op->fate) {
    case MODEL_COMMITTED:
    case MODEL_MERGED:
        return ALWAYS;
    case MODEL_MAYBE:
        return PERHAPS;
    default:
        return NEVER;
    }
}

void model_truth_committed(const model_truth *truth, model_view *view)
{
    begin_with_base(truth, view);
    go_through(truth, is_committed, 0, view);
}

static share is_written(const model_op *op, uint32_t note)
{
    (void)note;
    return op->fate == MODEL_COMMITTED ? ALWAYS : op->fate == MODEL_STAGED ? NEVER : PERHAPS;
}

void model_truth_written(const model_truth *truth, model_view *view)
{
    *view = truth->disk;
    go_through(truth, is_written, 0, view);
}

static share is_in_folder(const model_op *op, uint32_t note)
{
    if (op->fate == MODEL_STAGED || op->note > note)
        return NEVER;
    return op->note && (op->note == note || op->last_note == note) ? ALWAYS : PERHAPS;
}

void model_truth_found(const model_truth *truth, uint32_t note, model_view *view)
{
    *view = truth->disk;
    go_through(truth, is_in_folder, note, view);
}

static bool is_plain(const model_truth *truth)
{
    for (size_t i = 0; i < MODEL_URLS; i++)
        if (truth->disk.counts[i] != bit(truth->base[i]))
            return false;
    for (size_t i = 0; i < truth->n_ops; i++)
        if (truth->ops[i].fate != MODEL_COMMITTED && truth->ops[i].fate != MODEL_STAGED)
            return false;
    return !truth->one_sided;
}

bool model_truth_is_tainted(const model_truth *truth)
{
    return truth->tainted || (truth->previous_tainted && truth->previous_on_disk != MODEL_NO);
}

bool model_truth_is_prefix(const model_truth *truth, const uint8_t times[MODEL_URLS])
{
    uint8_t now[MODEL_URLS];
    size_t wrong = 0;
    if (!is_plain(truth))
        return true;
    memcpy(now, truth->base, sizeof now);
    for (size_t i = 0; i < MODEL_URLS; i++)
        wrong += now[i] != times[i];
    for (size_t i = 0; i < truth->n_ops && wrong; i++) {
        const model_op *op = &truth->ops[i];
        if (op->fate != MODEL_COMMITTED)
            continue;
        wrong -= now[op->url] != times[op->url];
        now[op->url] = applied(truth, now[op->url], op->removes);
        wrong += now[op->url] != times[op->url];
    }
    return !wrong;
}

/* ---- what happens ---- */

void model_truth_push(model_truth *truth, size_t url, bool removes, model_fate fate)
{
    if (truth->n_ops == MODEL_OPS)
        abort();
    truth->ops[truth->n_ops++] =
        (model_op){.url = (uint16_t)url, .removes = removes, .fate = (uint8_t)fate, .serial = truth->next_serial++};
}

void model_truth_commit_begins(model_truth *truth, uint64_t to, uint32_t note)
{
    for (size_t i = 0; i < truth->n_ops && truth->ops[i].serial < to; i++) {
        model_op *op = &truth->ops[i];
        if (op->fate == MODEL_STAGED) {
            op->fate = MODEL_MAYBE;
            op->note = op->last_note = note;
        } else if (op->fate == MODEL_MAYBE) { /* if it had a note, it may now be there without it */
            op->note = note && op->note ? op->note : 0;
            op->last_note = op->note ? note : 0;
        }
    }
    if (note)
        truth->note_on_disk[note] = true;
}

void model_truth_commit_ends(model_truth *truth, uint64_t to, uint32_t note)
{
    for (size_t i = 0; i < truth->n_ops && truth->ops[i].serial < to; i++)
        if (truth->ops[i].fate == MODEL_MAYBE)
            truth->ops[i].fate = MODEL_COMMITTED;
    if (note)
        truth->note = note;
}

/* Only the set's own note is in the folder. */
static void settle_note(model_truth *truth)
{
    memset(truth->note_on_disk, 0, sizeof truth->note_on_disk);
    truth->note_on_disk[truth->note] = true;
}

void model_truth_synced(model_truth *truth)
{
    size_t kept = 0;
    for (size_t i = 0; i < truth->n_ops; i++) {
        model_op *op = &truth->ops[i];
        uint64_t *counts = &truth->disk.counts[op->url], after = applied_to_all(truth, *counts, op->removes);
        bool done = op->fate == MODEL_COMMITTED;
        if (op->fate == MODEL_STAGED || op->fate == MODEL_MAYBE) {
            truth->ops[kept++] = *op;
            continue;
        }
        *counts = done ? after : *counts | after;
        if (op->fate != MODEL_GHOST)
            truth->base[op->url] = applied(truth, truth->base[op->url], op->removes);
    }
    truth->n_ops = kept;
    for (uint32_t i = 0; i < truth->note && !truth->tainted; i++) /* later ones were tried, and may be there */
        truth->note_on_disk[i] = false;
}

void model_truth_snapshot_taken(model_truth *truth)
{
    truth->tainted = false;
    model_truth_synced(truth);
    for (size_t i = 0; i < MODEL_URLS; i++)
        truth->disk.counts[i] = bit(truth->base[i]);
    truth->epoch_unsure = false;
    if (truth->previous_live == MODEL_NO)
        truth->previous_on_disk = MODEL_NO;
}

static void empty(model_truth *truth)
{
    truth->n_ops = 0;
    memset(truth->base, 0, sizeof truth->base);
    for (size_t i = 0; i < MODEL_URLS; i++)
        truth->disk.counts[i] = bit(0);
}

static void begin_next(model_truth *truth)
{
    truth->previous_live = truth->previous_on_disk = truth->next_keeps ? MODEL_MUST : MODEL_NO;
    truth->previous_one_sided = truth->one_sided;
    truth->stores_every_add = truth->next_stores_every_add;
    truth->one_sided = truth->next_one_sided;
    truth->previous_tainted = truth->tainted && truth->next_keeps;
    truth->epoch++;
    truth->epoch_unsure = truth->tainted = false;
    empty(truth);
}

void model_truth_rotation_begins(model_truth *truth, bool keeps, bool stores_every_add, bool one_sided)
{
    truth->epoch_unsure = true;
    truth->next_keeps = keeps;
    truth->next_stores_every_add = stores_every_add;
    truth->next_one_sided = one_sided;
}

void model_truth_rotated(model_truth *truth, bool broken)
{
    bool keeps = truth->next_keeps && !broken;
    model_truth_committed(truth, &truth->previous);
    model_truth_found(truth, UINT32_MAX, &truth->previous_disk);
    for (size_t i = 0; i < MODEL_URLS && keeps; i++) { /* its log was synced */
        bool merged = false;
        for (size_t k = 0; k < truth->n_ops; k++)
            merged |= truth->ops[k].url == i && truth->ops[k].fate == MODEL_MERGED;
        if (!merged && truth->disk.counts[i] == bit(truth->base[i]))
            truth->previous_disk.counts[i] = truth->previous.counts[i];
    }
    settle_note(truth);
    begin_next(truth);
}

void model_truth_drop_staged(model_truth *truth)
{
    size_t kept = 0;
    for (size_t i = 0; i < truth->n_ops; i++)
        if (truth->ops[i].fate != MODEL_STAGED)
            truth->ops[kept++] = truth->ops[i];
    truth->n_ops = kept;
}

void model_truth_next_found(model_truth *truth)
{
    model_truth_found(truth, UINT32_MAX, &truth->previous_disk);
    truth->previous = truth->previous_disk;
    begin_next(truth);
}

void model_truth_opened(model_truth *truth, const uint8_t times[MODEL_URLS], uint32_t note, bool certain)
{
    model_view possible;
    model_truth_found(truth, UINT32_MAX, &possible);
    truth->n_ops = 0;
    for (size_t i = 0; i < MODEL_URLS; i++) {
        bool known = certain && !(truth->one_sided && times[i] == 0 && possible.counts[i] != bit(0));
        truth->base[i] = times[i];
        truth->disk.counts[i] = known ? bit(times[i]) : possible.counts[i] | bit(times[i]);
    }
    truth->note = note;
    truth->tainted = !certain;
    if (certain)
        settle_note(truth);
}
