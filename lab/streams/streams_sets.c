/*
 * Sets of all kinds in equal memory, and a stream's way through one of them. See streams.h.
 *
 * We count what a set allocates (byte_meter.h): its arrays, and a constant part of 1 to 20 kB for its tables, hash
 * functions, and the parts of the URLs that it reads. vidi_plan knows the arrays only. So we plan, make the set,
 * measure the constant part, and plan again with that much less. For small streams this matters: a thousand URLs with 8
 * bits each have one kilobyte.
 */
#include <stdlib.h>
#include <string.h>

#include "lab/engine/byte_meter.h"
#include "lab/kinds/kinds.h"
#include "lab/streams/streams.h"

enum { BATCH = 256, TRIES = 8, SMALL = 10000 };

const char *const lab_stream_kinds[LAB_STREAM_KINDS + 1] = {
    "classic", "blocked", "scalable", "spatial", "multilayer", "eigen", "counting", "fingerprint", NULL};
const double lab_stream_bits[LAB_STREAM_SIZES] = {8, 16, 64};

/* ---- memory ---- */

static int make_set(vidi_set **set, const lab_meter *meter, const vidi_plan_entry *plan, const unsigned char *key)
{
    vidi_access access = VIDI_ACCESS_INIT;
    vidi_options options = VIDI_OPTIONS_INIT;
    access.allocator = &meter->allocator;
    options.access = &access;
    options.kind = plan->kind;
    options.params = plan->params;
    options.capacity = plan->urls;
    options.key = key;
    options.canon = "none";
    return vidi_create(set, &options);
}

/* How many URLs are added at once. Sets that take URLs apart need memory for the parts of all of them. */
static size_t batch_of(const vidi_plan_entry *plan)
{
    return plan->fp_meaning == VIDI_FP_AT_MOST ? 1 : BATCH;
}

/* Adds the URLs for which a set needs the most memory beside its arrays; of a small stream, all. */
static int add_demanding(vidi_set *set, const lab_stream *stream)
{
    for (size_t i = 0; i < sizeof stream->extremes / sizeof *stream->extremes; i++)
        LAB_TRY(vidi_add(set, lab_stream_url(stream, stream->extremes[i])));
    for (uint64_t i = 0; i < stream->count && stream->count <= SMALL; i++)
        LAB_TRY(vidi_add(set, lab_stream_url(stream, i)));
    return VIDI_OK;
}

/* What a set allocates beside its arrays. */
static int measure_constant(const vidi_plan_entry *plan, const lab_stream *stream, uint64_t *constant)
{
    static const unsigned char any_key[VIDI_KEY_BYTES];
    lab_meter meter;
    vidi_stats stats = {.size = sizeof stats};
    LAB_OWN(lab_close) vidi_set *set = NULL;
    lab_meter_init(&meter);
    LAB_TRY(make_set(&set, &meter, plan, any_key));
    LAB_TRY(add_demanding(set, stream));
    LAB_TRY(vidi_stat(set, &stats));
    *constant = meter.peak > stats.bytes ? meter.peak - stats.bytes : 0;
    return VIDI_OK;
}

int lab_stream_fit(lab_fitted *fitted, const lab_stream *stream, const char *kind, double bits)
{
    uint64_t urls = stream->count, budget = (uint64_t)((double)urls * bits / 8), arrays = budget, constant;
    fitted->fits = false;
    fitted->budget = budget;
    for (int i = 0; i < TRIES && arrays > 0; i++) {
        LAB_TRY(lab_kind_plan(&fitted->plan, &fitted->fits, kind, urls, (double)arrays * 8 / (double)urls));
        if (!fitted->fits)
            return VIDI_OK;
        LAB_TRY(measure_constant(&fitted->plan, stream, &constant));
        uint64_t bytes = fitted->plan.bytes + constant;
        if (bytes <= budget)
            return VIDI_OK;
        fitted->fits = false;
        arrays = bytes - budget < fitted->plan.bytes ? fitted->plan.bytes - (bytes - budget) : 0;
    }
    return VIDI_OK;
}

/* ---- sequences ---- */

int lab_sequence_make(lab_sequence *sequence, const lab_stream *stream, lab_stream_order order,
                      const lab_settings *settings, uint64_t run)
{
    *sequence = (lab_sequence){stream->urls, stream->lines, NULL};
    if (order == LAB_FILE_ORDER)
        return VIDI_OK;
    sequence->own = malloc((stream->lines + 1) * sizeof *sequence->own);
    if (!sequence->own)
        return lab_fail(VIDI_EMEMORY, "no memory for %llu lines", (unsigned long long)stream->lines);
    sequence->urls = sequence->own;
    if (order == LAB_EACH_ONCE) {
        sequence->lines = stream->count;
        for (uint64_t i = 0; i < stream->count; i++)
            sequence->own[i] = (uint32_t)i;
        return VIDI_OK;
    }
    lab_stream_shuffle(sequence->own, stream, settings->seed, run);
    for (uint64_t i = 0; i < stream->lines; i++)
        sequence->own[i] = stream->urls[sequence->own[i]];
    return VIDI_OK;
}

void lab_sequence_free(lab_sequence *sequence)
{
    free(sequence->own);
    memset(sequence, 0, sizeof *sequence);
}

/* ---- a pass ---- */

static unsigned tenth_of(uint64_t line, uint64_t lines)
{
    unsigned tenth = 0;
    while (line >= lines * (tenth + 1) / LAB_TENTHS)
        tenth++;
    return tenth;
}

/* Counts the losses among some lines, from `first` on. met[url]: whether a line had it before. */
static int count_lost(lab_pass *pass, const lab_sequence *sequence, uint64_t first, size_t some,
                      const uint8_t *verdicts, bool *met)
{
    for (size_t i = 0; i < some; i++) {
        uint32_t url = sequence->urls[first + i];
        if (met[url] && verdicts[i] != VIDI_SEEN)
            return lab_fail(VIDI_EDIFFERS, "a repeated URL was answered as new");
        if (!met[url] && verdicts[i] == VIDI_SEEN) {
            pass->lost++;
            pass->lost_in[tenth_of(first + i, sequence->lines)]++;
        }
        met[url] = true;
    }
    return VIDI_OK;
}

static int add_all(vidi_set *set, lab_pass *pass, const lab_stream *stream, const lab_sequence *sequence, size_t batch,
                   bool *met)
{
    vidi_str lines[BATCH];
    uint8_t verdicts[BATCH];
    for (uint64_t first = 0; first < sequence->lines; first += batch) {
        size_t some = sequence->lines - first < batch ? (size_t)(sequence->lines - first) : batch;
        for (size_t i = 0; i < some; i++)
            lines[i] = lab_stream_url(stream, sequence->urls[first + i]);
        LAB_TRY(vidi_add_batch(set, lines, some, verdicts, NULL));
        LAB_TRY(count_lost(pass, sequence, first, some, verdicts, met));
    }
    return VIDI_OK;
}

int lab_stream_pass(lab_pass *pass, const lab_stream *stream, const lab_sequence *sequence, const lab_fitted *fitted,
                    const lab_settings *settings, uint64_t run)
{
    unsigned char key[VIDI_KEY_BYTES];
    lab_meter meter;
    LAB_OWN(lab_close) vidi_set *set = NULL;
    memset(pass, 0, sizeof *pass);
    if (lab_stopped(settings))
        return LAB_STOPPED;
    LAB_OWN(lab_release) bool *met = calloc(stream->count + 1, sizeof *met);
    if (!met)
        return lab_fail(VIDI_EMEMORY, "no memory for %llu URLs", (unsigned long long)stream->count);
    lab_stream_key(key, stream, settings->seed, run);
    lab_meter_init(&meter);
    LAB_TRY(make_set(&set, &meter, &fitted->plan, key));
    LAB_TRY(add_all(set, pass, stream, sequence, batch_of(&fitted->plan), met));
    pass->peak = meter.peak;
    pass->exceeds = lab_stream_exceeds((double)pass->peak, (double)fitted->budget);
    return VIDI_OK;
}
