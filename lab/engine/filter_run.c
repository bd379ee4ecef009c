/*
 * One run, family after family of filters.
 *
 *   URLs of the run ── family's salts ── values ──┬── k = 3, M = 1.7   fill: who was seen; ask: who was seen
 *   (n to go in, n to ask)             (once)     ├── k = 3, M = 2.0
 *                                                 └── …
 *
 * Every job has a bit for each URL: falsely seen by all filters so far. Each filter of the job takes bits away; what is
 * left in the end is counted. Filters after the first are asked only for what is left, as a spatial set with its early
 * end does; so few of the others' hashes are needed.
 *
 * Shapes, schemes, hash values, places, marking and looking are the library's. The only thing that is not as in a set
 * is that a value, once hashed, serves filters of several sizes. tests/lab counts every cell again through the public
 * interface and finds the same numbers.
 */
#include "lab/engine/filter_run.h"

#include <stdlib.h>
#include <string.h>

#include "filters/bloom.h"
#include "filters/bloom_bits.h"
#include "lab/engine/buckets.h"

/*
 * The values of n URLs, `slots` each, in groups of URLs: first the group's values of the first slot, then of the second
 * and so on. So filters of small k read little, and all read in one direction. Functions of 32 bits take half the room.
 */
enum { GROUP = 16 };

typedef struct values {
    void *data;
    unsigned slots;
    bool wide;
} values;

struct lab_bench {
    const lab_plan *plan;
    const lab_settings *settings;
    vidi__memory memory;
    uint64_t n;
    size_t words; /* of a bit a URL */
    uint64_t run;
    char *text; /* the URLs of the run, one behind the other */
    size_t text_room;
    size_t *ends;        /* [2n + 1]: where each begins; the first n go in */
    uint32_t *order;     /* the second order */
    values in, out;      /* of the URLs that go in, and of those that are asked */
    lab_buckets buckets; /* those that go in, for filters that nobody asks meanwhile */
    uint64_t *left;      /* [job * words] */
    uint64_t *wanted;    /* [words]: asked of this family or filter */
    uint64_t *seen;      /* [words] */
};

static bool bit_at(const uint64_t *bits, uint64_t i)
{
    return bits[i / 64] >> (i % 64) & 1;
}

static void set_bit(uint64_t *bits, uint64_t i)
{
    bits[i / 64] |= UINT64_C(1) << (i % 64);
}

int lab_bench_make(lab_bench **made, const lab_plan *plan, const lab_settings *settings)
{
    lab_bench *bench = *made = calloc(1, sizeof *bench);
    if (!bench)
        return lab_fail(VIDI_EMEMORY, "no memory for a run");
    bench->plan = plan;
    bench->settings = settings;
    bench->n = settings->urls;
    bench->words = (size_t)(settings->urls / 64 + 1);
    unsigned k = 1;
    for (size_t i = 0; i < plan->family_count; i++)
        k = plan->families[i].k > k ? plan->families[i].k : k;
    bench->ends = malloc((2 * bench->n + 1) * sizeof *bench->ends);
    bench->order = malloc(bench->n * sizeof *bench->order);
    bench->in.data = malloc((bench->n + GROUP) * k * sizeof(uint64_t));
    bench->out.data = malloc((bench->n + GROUP) * k * sizeof(uint64_t));
    bench->left = malloc((plan->job_count + 1) * bench->words * sizeof *bench->left);
    bench->wanted = malloc(bench->words * sizeof *bench->wanted);
    bench->seen = malloc(bench->words * sizeof *bench->seen);
    if (!bench->ends || !bench->order || !bench->in.data || !bench->out.data || !bench->left || !bench->wanted ||
        !bench->seen)
        return lab_fail(VIDI_EMEMORY, "no memory for runs of %llu URLs", (unsigned long long)bench->n);
    LAB_TRY(lab_buckets_make(&bench->buckets, bench->n, k));
    return vidi__memory_init(&bench->memory, NULL, 0);
}

void lab_bench_free(lab_bench *bench)
{
    if (!bench)
        return;
    free(bench->text);
    free(bench->ends);
    free(bench->order);
    free(bench->in.data);
    free(bench->out.data);
    lab_buckets_free(&bench->buckets);
    free(bench->left);
    free(bench->wanted);
    free(bench->seen);
    free(bench);
}

static int make_urls(lab_bench *bench)
{
    size_t used = 0;
    for (uint64_t i = 0; i < 2 * bench->n; i++) {
        if (bench->text_room - used < LAB_URL_ROOM) {
            size_t room = bench->text_room + bench->text_room / 2 + (1 << 20);
            char *text = realloc(bench->text, room);
            if (!text)
                return lab_fail(VIDI_EMEMORY, "no memory for %llu URLs", (unsigned long long)(2 * bench->n));
            bench->text = text;
            bench->text_room = room;
        }
        bench->ends[i] = used;
        used += lab_url(bench->text + used, bench->settings, bench->run, i);
    }
    bench->ends[2 * bench->n] = used;
    return VIDI_OK;
}

/* The seed that the filter of a set with the run's key has: lib/set/epoch.c, lib/filters/spatial.c. */
static vidi__seed seed_of(const lab_bench *bench, const lab_family *family)
{
    bool same = bench->settings->fault == LAB_SAME_SALTS;
    unsigned char key[VIDI_KEY_BYTES];
    vidi__seed seed = {.turn = family->epoch};
    lab_key(key, bench->settings->seed, bench->run);
    vidi__derive_key(seed.key, key, "epoch", same ? 0 : family->epoch);
    return family->spatial ? vidi__seed_child(&seed, "member", same ? 1 : family->member + 1, 1) : seed;
}

/* Shape and scheme as `classic` reads them. */
static int read_shape(const lab_bench *bench, const lab_family *family, unsigned k, double multiplier,
                      vidi__bloom *shape, vidi__scheme *scheme)
{
    char text[256];
    lab_config config = {.functions = family->functions, .k = k, .multiplier = multiplier, .members = 1};
    vidi__params params;
    lab_config_set(&config, text, sizeof text);
    LAB_TRY(vidi__params_parse(&params, text));
    vidi__config made = {.params = &params, .capacity = bench->n, .seed = seed_of(bench, family)};
    LAB_TRY(vidi__bloom_read(shape, &made));
    LAB_TRY(vidi__scheme_init(scheme, &params, &made.seed, k));
    return vidi__scheme_check(scheme, shape->m);
}

static size_t value_at(const values *of, uint64_t at, unsigned slot)
{
    return (size_t)(at / GROUP * GROUP * of->slots + slot * GROUP + at % GROUP);
}

static void hash_url(const lab_bench *bench, const vidi__scheme *scheme, uint64_t index, const values *to, uint64_t at)
{
    uint64_t each[VIDI__K_MAX];
    size_t begin = bench->ends[index];
    vidi__part part = {.str = {bench->text + begin, bench->ends[index + 1] - begin}};
    vidi__scheme_values(scheme, &part, each);
    for (unsigned slot = 0; slot < scheme->k; slot++) {
        uint64_t value = bench->settings->fault == LAB_WEAK_HASH ? each[slot] & ~UINT64_C(1) : each[slot];
        if (to->wide)
            ((uint64_t *)to->data)[value_at(to, at, slot)] = value;
        else
            ((uint32_t *)to->data)[value_at(to, at, slot)] = (uint32_t)value;
    }
}

static inline void gather(uint64_t *each, const values *from, uint64_t at, unsigned k)
{
    for (unsigned slot = 0; slot < k; slot++)
        each[slot] = from->wide ? ((const uint64_t *)from->data)[value_at(from, at, slot)]
                                : ((const uint32_t *)from->data)[value_at(from, at, slot)];
}

static bool is_wide(const vidi__scheme *scheme)
{
    bool wide = false;
    for (unsigned i = 0; i < scheme->k && scheme->functions[i]; i++)
        wide |= scheme->functions[i]->bits > 32;
    return wide;
}

static void sort_values(lab_bench *bench)
{
    const uint32_t *data = bench->in.data;
    for (unsigned slot = 0; slot < bench->in.slots; slot++) {
        for (uint64_t i = 0; i < bench->n; i++)
            bench->buckets.spare[i] = data[value_at(&bench->in, i, slot)];
        lab_buckets_sort(&bench->buckets, slot);
    }
}

/* What of the questions is left for a job that has come to its step-th filter. */
static void want_left(lab_bench *bench, size_t job, unsigned step)
{
    const uint64_t *left = bench->left + job * bench->words;
    if (step == 0)
        memset(bench->wanted, 0xff, bench->words * sizeof *bench->wanted);
    else
        for (size_t i = 0; i < bench->words; i++)
            bench->wanted[i] |= left[i];
}

/* Who is asked of the arrays first to last - 1, together. */
static void want(lab_bench *bench, size_t first, size_t last)
{
    const lab_plan *plan = bench->plan;
    memset(bench->wanted, 0, bench->words * sizeof *bench->wanted);
    for (size_t i = 0; i < plan->job_count; i++)
        for (size_t array = first; array < last && !plan->jobs[i].config.incremental; array++) {
            unsigned step = lab_job_step(&plan->jobs[i], array);
            if (step < plan->jobs[i].count)
                want_left(bench, i, step);
        }
}

static int hash_family(lab_bench *bench, const lab_family *family)
{
    vidi__bloom shape;
    vidi__scheme scheme;
    LAB_TRY(read_shape(bench, family, family->k, family->multiplier, &shape, &scheme));
    bench->in.slots = bench->out.slots = scheme.k;
    bench->in.wide = bench->out.wide = is_wide(&scheme);
    for (uint64_t i = 0; i < bench->n; i++)
        hash_url(bench, &scheme, i, &bench->in, i);
    if (!bench->in.wide)
        sort_values(bench);
    want(bench, family->first, family->last);
    for (uint64_t i = 0; i < bench->n; i++)
        if (bit_at(bench->wanted, i))
            hash_url(bench, &scheme, bench->n + i, &bench->out, i);
    return VIDI_OK;
}

/* All URLs go in: who was seen although it was new. A group's places are fetched before the first is marked. */
static void fill(lab_bench *bench, vidi__bitmap *bits, const vidi__scheme *scheme, bool shuffled)
{
    const vidi__placing placing = vidi__scheme_placing(scheme, bits->m);
    const unsigned k = scheme->k;
    uint64_t each[GROUP][VIDI__K_MAX], at[GROUP];
    memset(bench->seen, 0, bench->words * sizeof *bench->seen);
    for (uint64_t first = 0; first < bench->n; first += GROUP) {
        uint64_t size = bench->n - first < GROUP ? bench->n - first : GROUP;
        for (uint64_t i = 0; i < size; i++) {
            at[i] = shuffled ? bench->order[first + i] : first + i;
            gather(each[i], &bench->in, at[i], k);
            vidi__marks_fetch(bits, &placing, each[i], k);
        }
        for (uint64_t i = 0; i < size; i++)
            if (vidi__marks_add(bits, each[i], k, false))
                set_bit(bench->seen, at[i]);
    }
}

/* Does a job ask while this array fills? */
static bool is_asked_meanwhile(const lab_plan *plan, size_t array)
{
    for (size_t i = 0; i < plan->job_count; i++)
        if (plan->jobs[i].config.incremental && lab_job_step(&plan->jobs[i], array) < plan->jobs[i].count)
            return true;
    return false;
}

/* Those that are wanted of the others are asked: who was seen. Most are out after the first place. */
static void ask(lab_bench *bench, const vidi__bitmap *bits, const vidi__scheme *scheme)
{
    const vidi__placing placing = vidi__scheme_placing(scheme, bits->m);
    unsigned k = scheme->k - (bench->settings->fault == LAB_DROPPED_BIT && scheme->k > 1);
    uint64_t each[VIDI__K_MAX], first[GROUP], at[GROUP];
    memset(bench->seen, 0, bench->words * sizeof *bench->seen);
    for (uint64_t next = 0; next < bench->n;) {
        unsigned size = 0;
        for (; next < bench->n && size < GROUP; next++)
            if (bit_at(bench->wanted, next)) {
                gather(&first[size], &bench->out, next, 1);
                vidi__bitmap_prefetch(bits, vidi__placing_of(&placing, first[size]));
                at[size++] = next;
            }
        for (unsigned i = 0; i < size; i++) {
            if (!vidi__marks_has(bits, &placing, &first[i], 1))
                continue;
            gather(each, &bench->out, at[i], k);
            if (vidi__marks_has(bits, &placing, each, k))
                set_bit(bench->seen, at[i]);
        }
    }
}

/* Hands what was seen of an array to the jobs that look at it. */
static void take(lab_bench *bench, size_t array, bool incremental)
{
    const lab_plan *plan = bench->plan;
    for (size_t i = 0; i < plan->job_count; i++) {
        unsigned step = lab_job_step(&plan->jobs[i], array);
        uint64_t *left = bench->left + i * bench->words;
        if (plan->jobs[i].config.incremental != incremental || step == plan->jobs[i].count)
            continue;
        for (size_t j = 0; j < bench->words; j++)
            left[j] = step ? left[j] & bench->seen[j] : bench->seen[j];
    }
}

static int run_array(lab_bench *bench, const lab_family *family, size_t index, uint64_t *marked)
{
    const lab_array *array = &bench->plan->arrays[index];
    vidi__bloom shape;
    vidi__scheme scheme;
    vidi__bitmap bits;
    LAB_TRY(read_shape(bench, family, array->k, array->multiplier, &shape, &scheme));
    LAB_TRY(vidi__bitmap_init(&bits, &bench->memory, shape.m, NULL));
    if (bench->in.wide || is_asked_meanwhile(bench->plan, index)) {
        fill(bench, &bits, &scheme, family->shuffled);
        take(bench, index, true);
    } else {
        lab_buckets_fill(&bench->buckets, &bits, &scheme);
    }
    want(bench, index, index + 1);
    ask(bench, &bits, &scheme);
    take(bench, index, false);
    *marked = bits.set;
    vidi__bitmap_free(&bits, &bench->memory);
    return VIDI_OK;
}

/* Of the first `tenths` of the URLs. */
static uint64_t count_left(const lab_bench *bench, size_t job)
{
    const uint64_t *left = bench->left + job * bench->words;
    uint64_t end = bench->n * bench->plan->jobs[job].config.tenths / LAB_TENTHS;
    uint64_t count = vidi__popcount(left, end / 64);
    for (uint64_t i = end / 64 * 64; i < end; i++)
        count += bit_at(left, i);
    return count;
}

int lab_bench_run(lab_bench *bench, uint64_t run, uint64_t *counts, uint64_t *marked)
{
    const lab_plan *plan = bench->plan;
    bench->run = run;
    LAB_TRY(make_urls(bench));
    lab_shuffle(bench->order, bench->n, bench->settings->seed, run);
    for (size_t i = 0; i < plan->family_count; i++) {
        const lab_family *family = &plan->families[i];
        LAB_TRY(hash_family(bench, family));
        for (size_t array = family->first; array < family->last; array++) {
            if (lab_stopped(bench->settings))
                return LAB_STOPPED;
            LAB_TRY(run_array(bench, family, array, &marked[array]));
        }
    }
    for (size_t i = 0; i < plan->job_count; i++)
        if (plan->jobs[i].config.kind)
            LAB_TRY(lab_set_run(&plan->jobs[i].config, bench->settings, run, &counts[i]));
        else
            counts[i] = count_left(bench, i);
    return VIDI_OK;
}
