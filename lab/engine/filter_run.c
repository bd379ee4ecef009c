/*
 * One run, one family of filters after the other.
 *
 *   URLs of the run ────── family's salts ── values ──┬── k = 3, M = 1.7   insert n URLs, look up the n others
 *   (n to insert, n to look up)            (once)     ├── k = 3, M = 2.0
 *                                                     └── …
 *
 * Every job has one bit for each URL: all filters so far have falsely seen it. Each filter of the job clears bits, and
 * the remaining ones are counted at the end. Filters after the first look up only the remaining URLs, as a spatial set
 * does, so few of these URLs have to be hashed for them.
 *
 * Hash values, places and bits are the library's own (lib/inside/inside.h). The only difference from a set is that a
 * value is hashed once and serves filters of several sizes. tests/lab counts every cell again through the public
 * interface and finds the same numbers.
 */
#include "lab/engine/filter_run.h"

#include <stdlib.h>
#include <string.h>

#include "lab/engine/buckets.h"
#include "lab/engine/run_memory.h"
#include "lib/inside/inside.h"

/*
 * The values of n URLs, `slots` for each, in groups of URLs: first the group's values for the first slot, then for the
 * second, and so on. So filters with a small k read little, and all of them read in one direction. Values of 32 bits
 * take half the room.
 */
enum { GROUP = 16 };

typedef struct values {
    void *data;
    unsigned slots;
    bool wide;
} values;

_Static_assert(LAB_K_MAX == VIDI__INSIDE_K_MAX, "salts of every function have room");

struct lab_bench {
    const lab_plan *plan;
    const lab_settings *settings;
    uint64_t n;
    size_t words; /* of a bitmap with one bit for each URL */
    uint64_t run;
    char *text; /* the URLs of the run, one after the other */
    size_t text_room;
    size_t *ends;                              /* [2n + 1]: where each URL begins; the first n are inserted */
    uint32_t *order;                           /* in which a shuffled crawl inserts the URLs … */
    unsigned order_of;                         /* … and that crawl; 0: none yet */
    values in, out;                            /* of the URLs that are inserted, and of those that are looked up */
    lab_buckets buckets;                       /* the inserted values, for filters without lookups while they fill */
    uint64_t *left;                            /* [job * words] */
    uint64_t *wanted;                          /* [words]: the URLs to look up in this family or filter */
    uint64_t *seen;                            /* [words]: the URLs that the filter has seen */
    uint64_t each[GROUP * VIDI__INSIDE_K_MAX]; /* values of a group: k of its first URL, k of its second, … */
};

/* Whether this run measures the job. */
static bool is_due(const lab_bench *bench, const lab_job *job)
{
    return bench->run < job->runs;
}

static bool bit_at(const uint64_t *bits, uint64_t i)
{
    return bits[i / 64] >> (i % 64) & 1;
}

static void set_bit(uint64_t *bits, uint64_t i)
{
    bits[i / 64] |= UINT64_C(1) << (i % 64);
}

static void free_bench(void *bench)
{
    free(((lab_bench *)bench)->text);
    free(bench);
}

int lab_bench_make(lab_bench **made, const lab_plan *plan, const lab_settings *settings)
{
    lab_bench *bench = *made = calloc(1, sizeof *bench);
    if (!bench)
        return lab_fail(VIDI_EMEMORY, "no memory for a run");
    LAB_TRY(lab_own(bench, free_bench));
    bench->plan = plan;
    bench->settings = settings;
    bench->n = settings->urls;
    bench->words = (size_t)(settings->urls / 64 + 1);
    unsigned k = 1;
    for (size_t i = 0; i < plan->family_count; i++)
        k = plan->families[i].k > k ? plan->families[i].k : k;
    LAB_TRY(LAB_NEW(bench->ends, 2 * bench->n + 1));
    LAB_TRY(LAB_NEW(bench->order, bench->n));
    LAB_TRY(lab_new(&bench->in.data, (bench->n + GROUP) * k, sizeof(uint64_t)));
    LAB_TRY(lab_new(&bench->out.data, (bench->n + GROUP) * k, sizeof(uint64_t)));
    LAB_TRY(LAB_NEW(bench->left, plan->job_count * bench->words));
    LAB_TRY(LAB_NEW(bench->wanted, bench->words));
    LAB_TRY(LAB_NEW(bench->seen, bench->words));
    return lab_buckets_make(&bench->buckets, bench->n, k);
}

static int make_urls(lab_bench *bench)
{
    size_t used = 0;
    for (uint64_t i = 0; i < 2 * bench->n; i++) {
        LAB_TRY(lab_grow(&bench->text, used + LAB_URL_ROOM, &bench->text_room, 1));
        bench->ends[i] = used;
        used += lab_url(bench->text + used, bench->settings, bench->run, i);
    }
    bench->ends[2 * bench->n] = used;
    return VIDI_OK;
}

/* The seed of the filter in a set with the run's key. */
static vidi__inside_seed seed_of(const lab_settings *settings, uint64_t run, const lab_family *family)
{
    bool same = settings->fault == LAB_SAME_SALTS;
    unsigned char key[VIDI_KEY_BYTES];
    lab_key(key, settings->seed, run);
    vidi__inside_seed seed = vidi__inside_epoch_seed(key, same ? 0 : family->epoch);
    seed.turn = family->epoch; /* with the fault, salts are the same, but not functions */
    return family->spatial ? vidi__inside_member_seed(&seed, same ? 1 : family->member + 1, 1) : seed;
}

/* A filter for `urls` URLs. */
static int make_filter(const lab_settings *settings, uint64_t run, uint64_t urls, const lab_family *family,
                       lab_array shape, vidi__inside_bloom **filter)
{
    char params[256];
    lab_config config = {.functions = family->functions, .k = shape.k, .multiplier = shape.multiplier, .members = 1};
    vidi__inside_seed seed = seed_of(settings, run, family);
    lab_config_set(&config, params, sizeof params);
    return vidi__inside_bloom_make(filter, params, urls, &seed);
}

/* Salts do not depend on the size of the filter, so one for a single URL has them too. */
int lab_salts(const lab_config *config, const lab_settings *settings, uint64_t run, unsigned epoch, unsigned member,
              unsigned char (*salts)[LAB_SALT_BYTES])
{
    lab_family family = {.spatial = config->members > 1, .epoch = epoch, .member = member};
    vidi__inside_bloom *filter;
    int count = 0;
    lab_functions_of(config, epoch * config->members + member, family.functions);
    LAB_TRY(
        make_filter(settings, run, 1, &family, (lab_array){.k = config->k, .multiplier = config->multiplier}, &filter));
    for (unsigned i = 0; i < config->k; i++) {
        vidi_str salt = vidi__inside_bloom_salt(filter, i);
        if (salt.len == LAB_SALT_BYTES)
            memcpy(salts[count++], salt.ptr, LAB_SALT_BYTES);
    }
    vidi__inside_bloom_free(filter);
    return count;
}

static size_t value_at(const values *values, uint64_t at, unsigned slot)
{
    return (size_t)(at / GROUP * GROUP * values->slots + slot * GROUP + at % GROUP);
}

static vidi_str url_at(const lab_bench *bench, uint64_t index)
{
    size_t begin = bench->ends[index];
    return (vidi_str){bench->text + begin, bench->ends[index + 1] - begin};
}

static void scatter(const lab_bench *bench, const uint64_t *each, const values *to, uint64_t at)
{
    for (unsigned slot = 0; slot < to->slots; slot++) {
        uint64_t value = bench->settings->fault == LAB_WEAK_HASH ? each[slot] & ~UINT64_C(1) : each[slot];
        if (to->wide)
            ((uint64_t *)to->data)[value_at(to, at, slot)] = value;
        else
            ((uint32_t *)to->data)[value_at(to, at, slot)] = (uint32_t)value;
    }
}

/* Hashes n URLs of the run from `first` on, or those of them whose bit is set in `wanted`, if that is not NULL. */
static void hash_urls(lab_bench *bench, const vidi__inside_bloom *filter, uint64_t first, const uint64_t *wanted,
                      const values *to)
{
    uint64_t *each = bench->each, at[GROUP];
    vidi_str urls[GROUP];
    for (uint64_t next = 0; next < bench->n;) {
        unsigned size = 0;
        for (; next < bench->n && size < GROUP; next++)
            if (!wanted || bit_at(wanted, next)) {
                urls[size] = url_at(bench, first + next);
                at[size++] = next;
            }
        vidi__inside_bloom_hash(filter, urls, size, each);
        for (unsigned i = 0; i < size; i++)
            scatter(bench, each + i * to->slots, to, at[i]);
    }
}

static inline void gather(uint64_t *each, const values *from, uint64_t at, unsigned k)
{
    for (unsigned slot = 0; slot < k; slot++)
        each[slot] = from->wide ? ((const uint64_t *)from->data)[value_at(from, at, slot)]
                                : ((const uint32_t *)from->data)[value_at(from, at, slot)];
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

/* Adds the URLs that a job still has to look up in its filter number `step`. */
static void want_left(lab_bench *bench, size_t job, unsigned step)
{
    const uint64_t *left = bench->left + job * bench->words;
    if (step == 0)
        memset(bench->wanted, 0xff, bench->words * sizeof *bench->wanted);
    else
        for (size_t i = 0; i < bench->words; i++)
            bench->wanted[i] |= left[i];
}

/* Finds the URLs that have to be looked up in any of the arrays first to last - 1. */
static void want(lab_bench *bench, size_t first, size_t last)
{
    const lab_plan *plan = bench->plan;
    memset(bench->wanted, 0, bench->words * sizeof *bench->wanted);
    for (size_t i = 0; i < plan->job_count; i++)
        for (size_t array = first; array < last && !plan->jobs[i].config.incremental; array++) {
            unsigned step = lab_job_step(&plan->jobs[i], array);
            if (step < plan->jobs[i].count && is_due(bench, &plan->jobs[i]))
                want_left(bench, i, step);
        }
}

static int hash_family(lab_bench *bench, const lab_family *family)
{
    vidi__inside_bloom *filter;
    lab_array largest = {.k = family->k, .multiplier = family->multiplier};
    LAB_TRY(make_filter(bench->settings, bench->run, bench->n, family, largest, &filter));
    bench->in.slots = bench->out.slots = vidi__inside_bloom_k(filter);
    bench->in.wide = bench->out.wide = vidi__inside_bloom_wide(filter);
    hash_urls(bench, filter, 0, NULL, &bench->in);
    if (!bench->in.wide)
        sort_values(bench);
    want(bench, family->first, family->last);
    hash_urls(bench, filter, bench->n, bench->wanted, &bench->out);
    vidi__inside_bloom_free(filter);
    return VIDI_OK;
}

static void shuffle_for(lab_bench *bench, unsigned crawl)
{
    if (bench->order_of != crawl)
        lab_shuffle(bench->order, bench->n, bench->settings->seed, bench->run, crawl);
    bench->order_of = crawl;
}

/* Inserts all URLs, and finds those that are falsely seen while the filter fills. */
static void fill(lab_bench *bench, vidi__inside_bloom *filter, bool shuffled)
{
    const unsigned k = vidi__inside_bloom_k(filter);
    uint64_t *each = bench->each, at[GROUP];
    bool seen[GROUP];
    memset(bench->seen, 0, bench->words * sizeof *bench->seen);
    for (uint64_t first = 0; first < bench->n; first += GROUP) {
        uint64_t size = bench->n - first < GROUP ? bench->n - first : GROUP;
        for (uint64_t i = 0; i < size; i++) {
            at[i] = shuffled ? bench->order[first + i] : first + i;
            gather(each + i * k, &bench->in, at[i], k);
        }
        vidi__inside_bloom_insert(filter, each, size, seen);
        for (uint64_t i = 0; i < size; i++)
            if (seen[i])
                set_bit(bench->seen, at[i]);
    }
}

/* Whether a job counts lookups while this array fills. */
static bool is_asked_meanwhile(const lab_bench *bench, size_t array)
{
    for (size_t i = 0; i < bench->plan->job_count; i++) {
        const lab_job *job = &bench->plan->jobs[i];
        if (job->config.incremental && is_due(bench, job) && lab_job_step(job, array) < job->count)
            return true;
    }
    return false;
}

/*
 * Looks up a group of URLs. Most are not seen after their first bit, so that bit is looked up first, for all of them.
 */
static void ask_group(lab_bench *bench, const vidi__inside_bloom *filter, unsigned k, uint64_t *at, unsigned size)
{
    uint64_t *each = bench->each;
    bool seen[GROUP];
    unsigned left = 0;
    for (unsigned i = 0; i < size; i++)
        gather(&each[i], &bench->out, at[i], 1);
    vidi__inside_bloom_lookup_each(filter, each, size, seen);
    for (unsigned i = 0; i < size; i++) { /* without a branch, which could not be predicted */
        at[left] = at[i];
        left += seen[i];
    }
    for (unsigned i = 0; i < left; i++)
        gather(each + i * k, &bench->out, at[i], k);
    vidi__inside_bloom_lookup(filter, each, k, left, seen);
    for (unsigned i = 0; i < left; i++)
        if (seen[i])
            set_bit(bench->seen, at[i]);
}

/* Looks up the wanted URLs among the n others. */
static void ask(lab_bench *bench, const vidi__inside_bloom *filter)
{
    unsigned k = vidi__inside_bloom_k(filter);
    uint64_t at[GROUP];
    if (bench->settings->fault == LAB_DROPPED_BIT && k > 1)
        k--;
    memset(bench->seen, 0, bench->words * sizeof *bench->seen);
    for (uint64_t next = 0; next < bench->n;) {
        unsigned size = 0;
        for (; next < bench->n && size < GROUP; next++)
            if (bit_at(bench->wanted, next))
                at[size++] = next;
        ask_group(bench, filter, k, at, size);
    }
}

/* Passes what an array has seen to the jobs that use it. */
static void take(lab_bench *bench, size_t array, bool incremental)
{
    const lab_plan *plan = bench->plan;
    for (size_t i = 0; i < plan->job_count; i++) {
        unsigned step = lab_job_step(&plan->jobs[i], array);
        uint64_t *left = bench->left + i * bench->words;
        if (plan->jobs[i].config.incremental != incremental || step == plan->jobs[i].count ||
            !is_due(bench, &plan->jobs[i]))
            continue;
        for (size_t j = 0; j < bench->words; j++)
            left[j] = step ? left[j] & bench->seen[j] : bench->seen[j];
    }
}

static int run_array(lab_bench *bench, const lab_family *family, size_t index, uint64_t *marked)
{
    const lab_array *array = &bench->plan->arrays[index];
    vidi__inside_bloom *filter;
    LAB_TRY(make_filter(bench->settings, bench->run, bench->n, family, *array, &filter));
    if (bench->in.wide || is_asked_meanwhile(bench, index)) {
        if (family->shuffled)
            shuffle_for(bench, family->epoch);
        fill(bench, filter, family->shuffled);
        take(bench, index, true);
    } else {
        lab_buckets_fill(&bench->buckets, filter);
    }
    want(bench, index, index + 1);
    ask(bench, filter);
    take(bench, index, false);
    *marked = vidi__inside_bloom_bits_set(filter);
    vidi__inside_bloom_free(filter);
    return VIDI_OK;
}

static int run_family(lab_bench *bench, const lab_family *family, uint64_t *marked)
{
    LAB_TRY(hash_family(bench, family));
    for (size_t array = family->first; array < family->last; array++) {
        if (lab_stopped(bench->settings))
            return LAB_STOPPED;
        if (bench->run < bench->plan->arrays[array].runs)
            LAB_TRY(run_array(bench, family, array, &marked[array]));
    }
    return VIDI_OK;
}

/* Counts the remaining URLs of a job, among the tenths that count. */
static uint64_t count_left(const lab_bench *bench, size_t job)
{
    const uint64_t *left = bench->left + job * bench->words;
    uint64_t end = bench->n * bench->plan->jobs[job].config.tenths / LAB_TENTHS;
    uint64_t count = 0;
    for (uint64_t i = 0; i < end / 64; i++)
        count += (uint64_t)__builtin_popcountll(left[i]);
    for (uint64_t i = end / 64 * 64; i < end; i++)
        count += bit_at(left, i);
    return count;
}

int lab_bench_run(lab_bench *bench, uint64_t run, uint64_t *counts, uint64_t *marked)
{
    const lab_plan *plan = bench->plan;
    bench->run = run;
    LAB_TRY(make_urls(bench));
    bench->order_of = 0;
    for (size_t i = 0; i < plan->family_count; i++)
        if (run < plan->families[i].runs)
            LAB_TRY(run_family(bench, &plan->families[i], marked));
    for (size_t i = 0; i < plan->job_count; i++)
        if (!is_due(bench, &plan->jobs[i]))
            counts[i] = 0;
        else if (plan->jobs[i].config.kind)
            LAB_TRY(lab_set_run(&plan->jobs[i].config, bench->settings, run, &counts[i]));
        else
            counts[i] = count_left(bench, i);
    return VIDI_OK;
}
