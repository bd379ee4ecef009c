/*
 * scalable: a series of filters, each larger and with a tighter error rate than the last, so the number of URLs need
 * not be known (Almeida, Baquero, Preguiça, Hutchison 2007; the thesis, sections 3.4.1 and 7.2.1).
 *
 *     stage 0  | n0 URLs at P(1-r)   |
 *     stage 1  | n0·s URLs at P(1-r)r           |
 *     stage 2  | n0·s² URLs at P(1-r)r²                              |   <- adds go here
 *
 * With growth s (parameter `growth`) and tightening ratio r (`tighten`), the rates of any number of stages add up to
 * less than P, the requested rate. After some 30 halvings the rates fall more slowly, but still add up to less than P
 * (share_of_error): a series of many small stages, as `growth=1` makes it, would otherwise need ever more bits a URL.
 *
 *     ends=rate   A stage ends when it has its number of URLs, or when its own fp_now reaches its share of P. It is
 *                 sized for a little less than its share (SLACK), so that bits that happen to fill faster do not end it
 *                 early. fp_now is looked at after each 4096th part of the stage's URLs, or after each URL of a small
 *                 stage. Looking at fixed numbers of URLs makes batches end stages where single adds do.
 *     ends=count  A stage ends when it has its number of URLs, and never otherwise. It is sized for its share.
 *
 * A URL is seen if any stage has it; it is added to the last stage only. Growing allocates one stage, whose memory the
 * system zeroes as it is touched. No add waits for more than that, and `step` allocates the next stage ahead of time.
 *
 * Promises: no false negatives. With ends=rate the compound rate stays below the requested one, except that the URL
 * that ends a stage may lift it above its share, which shows in stages of a few dozen URLs. With ends=count it is below
 * in the mean over all keys: chance fills the bits of one filter faster than those of another, so that its rate
 * may be above, by some tens of percent if its stages have 100 URLs. Either way fp_now = 1 - Π(1 - p_i) is right.
 */
#include <math.h>

#include "filters/bloom.h"
#include "filters/pieces.h"

#define FIRST_CAPACITY 4096
#define STAGES_MAX 1024
#define STAGES_ROOM 1 /* of the first array of stages */
#define GROWTH_MAX 32768
#define SLACK 1.05
/* ends=rate: how many times a stage's fp_now is looked at. */
#define LOOKS 4096
/* Rates are multiplied by `tighten` until they have fallen by this factor. */
#define TIGHTEN_UNTIL 0x1p-32
/* When the last stage is this full, step() creates the next. */
#define AHEAD 0.9

typedef struct scalable {
    vidi__filter base;
    const vidi__kind *inner;
    char *inner_params; /* for future stages; NULL: none */
    uint64_t inner_params_bytes;
    double growth, tighten;
    bool by_count;  /* ends=count */
    double error;   /* compound rate, as requested */
    uint64_t first; /* capacity of stage 0 */
    vidi__seed seed;
    unsigned depth;
    unsigned stages;        /* in use; stage[stages] may already exist */
    bool touch_later;       /* as in vidi__config */
    unsigned room;          /* of the array; those beyond the stages that exist are NULL */
    double older_fp;        /* probability of a false positive in any stage before the last; these no longer change */
    uint64_t last_capacity; /* of the last stage */
    uint64_t stride;        /* ends=rate: its fp_now is looked at again after this many URLs */
    double enough;          /* ends=rate: the fp_now at which it ends */
    vidi__filter **stage;
} scalable;

static void scalable_destroy(vidi__filter *filter)
{
    scalable *self = (scalable *)filter;
    for (unsigned i = 0; i < self->room; i++)
        vidi__filter_destroy(self->stage[i]);
    vidi__release(filter->memory, self->stage, self->room * sizeof *self->stage, _Alignof(vidi__filter *));
    vidi__release(filter->memory, self->inner_params, self->inner_params_bytes, 1);
    vidi__release(filter->memory, self, sizeof *self, VIDI__CACHE_LINE);
}

static const char *inner_params(const scalable *self)
{
    return self->inner_params ? self->inner_params : "";
}

static vidi__filter *last_of(const scalable *self)
{
    return self->stage[self->stages - 1];
}

/*
 * P(1-r)r^i. When r^i has become tiny, at stage t, what is left of P is P·r^t. It is divided in the proportions
 * a/((j+a)(j+a+1)) for j = 0, 1, 2 …, which add up to 1; with a = r/(1-r) the first of these is 1-r, too.
 */
static double share_of_error(const scalable *self, unsigned index)
{
    double r = self->tighten, t = ceil(log(TIGHTEN_UNTIL) / log(r));
    if (index <= t)
        return self->error * (1 - r) * vidi__power(r, index);
    double a = r / (1 - r), j = index - t;
    return self->error * vidi__power(r, (unsigned)t) * a / ((j + a) * (j + a + 1));
}

static vidi__config stage_config(const scalable *self, unsigned index)
{
    return (vidi__config){
        .memory = self->base.memory,
        .error = share_of_error(self, index) / (self->by_count ? 1 : SLACK),
        .seed = vidi__seed_child(&self->seed, "stage", index, 1),
        .item_hash = self->base.item_hash,
        .depth = self->depth + 1,
        .is_member = self->base.is_member,
        .touch_later = self->touch_later || (index == 0 && !self->base.capacity), /* it may stay empty, or nearly so */
    };
}

/* Capacities of the stages: n0, multiplied by s each time. */
static uint64_t stage_capacity(const scalable *self, unsigned index)
{
    double capacity = (double)self->first * vidi__power(self->growth, index);
    return capacity < (double)VIDI__CAPACITY_MAX ? (uint64_t)capacity : VIDI__CAPACITY_MAX;
}

/* Makes room for one more stage in the array. */
static int make_room(scalable *self, unsigned index)
{
    if (index < self->room)
        return VIDI_OK;
    if (index >= STAGES_MAX)
        return vidi__fail(VIDI_ELIMIT, "scalable: all %d stages are full; create the set with a larger capacity",
                          STAGES_MAX);
    unsigned room = self->room ? 2 * self->room : STAGES_ROOM;
    VIDI__TRY(vidi__regrow(self->base.memory, &self->stage, self->room * sizeof *self->stage,
                           room * sizeof *self->stage, _Alignof(vidi__filter *)));
    memset(self->stage + self->room, 0, (room - self->room) * sizeof *self->stage);
    self->room = room;
    return VIDI_OK;
}

static int make_stage(scalable *self, unsigned index)
{
    VIDI__TRY(make_room(self, index));
    if (self->stage[index])
        return VIDI_OK;
    vidi__params params;
    vidi__config config = stage_config(self, index);
    VIDI__TRY(vidi__params_parse(&params, inner_params(self)));
    config.params = &params;
    config.capacity = stage_capacity(self, index);
    return vidi__filter_create(&self->stage[index], self->inner, &config);
}

static double stage_fp(const vidi__filter *stage)
{
    return stage->kind->fp_now(stage);
}

/*
 * There is another last stage: decides when it ends. In a Bloom filter of n URLs that is half full, each URL raises the
 * rate p by ln(1/p)/n of it on average, and by twice that if it sets as many bits as it can. If not every URL is looked
 * at, the stage ends that much below its share, so that it is not above at the next look.
 */
static void note_last(scalable *self)
{
    uint64_t own = last_of(self)->capacity; /* 0 if the inner kind does not care */
    double share = share_of_error(self, self->stages - 1);
    self->last_capacity = own ? own : stage_capacity(self, self->stages - 1);
    self->stride = self->last_capacity > LOOKS ? self->last_capacity / LOOKS : 1;
    double unseen = (double)(self->stride - 1) / (double)self->last_capacity;
    self->enough = share * (1 - fmin(-2 * log(share) * unseen, 0.5));
}

/* The last stage is complete: it joins the older ones, and the next takes over. */
static void advance(scalable *self)
{
    self->older_fp += (1 - self->older_fp) * stage_fp(last_of(self));
    self->stages++;
    note_last(self);
}

static int load_stages(scalable *self, const vidi__config *whole)
{
    vidi__reader *reader = whole->reader;
    uint64_t stages;
    VIDI__TRY(vidi__read_u64(reader, &stages));
    if (stages < 1 || stages > STAGES_MAX)
        return vidi__damaged("a scalable filter has no stages, or too many");
    for (unsigned i = 0; i < stages; i++) {
        vidi__config config = stage_config(self, i);
        config.reader = reader;
        config.item_key = whole->item_key;
        VIDI__TRY(make_room(self, i));
        VIDI__TRY(vidi__filter_load(&self->stage[i], &config));
        if (self->stage[i]->kind != self->inner)
            return vidi__damaged("a stage is not of the kind that the set says");
        VIDI__TRY(vidi__filter_alike(self->stage[0], self->stage[i]));
        if (i > 0)
            advance(self);
    }
    return VIDI_OK;
}

/* Keeps the parameters of the inner kind. */
static int keep_params(scalable *self, const vidi__params *rest)
{
    char buffer[VIDI__DESCRIPTION];
    vidi__text text = vidi__text_in(buffer, sizeof buffer);
    vidi__params_format(rest, &text);
    if (text.cut)
        return vidi__fail(VIDI_EOPTION, "the parameters of the inner kind are too long");
    if (!text.len)
        return VIDI_OK;
    VIDI__TRY(vidi__alloc(self->base.memory, &self->inner_params, text.len + 1, 1));
    self->inner_params_bytes = text.len + 1;
    memcpy(self->inner_params, buffer, text.len);
    self->inner_params[text.len] = 0;
    return VIDI_OK;
}

/* The parameters that set the series: of a set, and of a plan. */
typedef struct series {
    double growth, tighten;
    unsigned by_count;
    const vidi__kind *inner;
    vidi__params rest; /* for the inner kind */
} series;

static int read_series(series *read, vidi__params *params)
{
    read->growth = 2;
    read->tighten = 0.5;
    read->by_count = 0;
    VIDI__TRY(vidi__params_double(params, "growth", 1, GROWTH_MAX, &read->growth));
    VIDI__TRY(vidi__params_double(params, "tighten", 0.01, 0.99, &read->tighten));
    VIDI__TRY(vidi__params_choice(params, "ends", "rate|count", &read->by_count));
    VIDI__TRY(vidi__filter_inner(&read->inner, params));
    vidi__params_rest(params, &read->rest);
    return VIDI_OK;
}

static int configure(scalable *self, const vidi__config *config)
{
    series read;
    self->error = config->error > 0 ? config->error : VIDI__DEFAULT_ERROR;
    self->first = config->capacity ? config->capacity : FIRST_CAPACITY;
    self->seed = config->seed;
    self->touch_later = config->touch_later;
    self->depth = config->depth;
    self->stages = 1;
    VIDI__TRY(read_series(&read, config->params));
    self->growth = read.growth;
    self->tighten = read.tighten;
    self->by_count = read.by_count == 1;
    self->inner = read.inner;
    if (vidi__params_has(&read.rest, "m") || vidi__params_has(&read.rest, "M"))
        return vidi__fail(VIDI_EOPTION, "m and M would make all stages the same size: give capacity and error instead");
    return keep_params(self, &read.rest);
}

static int scalable_create(vidi__filter **filter, const vidi__config *config)
{
    scalable *self;
    VIDI__TRY(vidi__filter_alloc(&self, sizeof *self, &vidi__kind_scalable, config));
    *filter = &self->base;
    VIDI__TRY(configure(self, config));
    VIDI__TRY(config->reader ? load_stages(self, config) : make_stage(self, 0));
    note_last(self);
    self->base.capacity = config->capacity;
    self->base.error = self->error;
    self->base.needs = self->stage[0]->needs;
    self->base.keyed = self->stage[0]->keyed;
    self->base.combination = self->stage[0]->combination;
    self->base.fp_meaning = self->stage[0]->fp_meaning;
    return VIDI_OK;
}

/* ---- adding ---- */

/* How many URLs the last stage takes for certain before it may end; 0: it has ended. */
static uint64_t room_left(const scalable *self)
{
    const vidi__filter *last = last_of(self);
    uint64_t capacity = self->last_capacity, count = vidi__filter_count(last);
    if (count >= capacity)
        return 0;
    if (self->by_count)
        return capacity - count;
    uint64_t since = count % self->stride, until = self->stride - since;
    if (since == 0 && stage_fp(last) >= self->enough)
        return 0;
    return until < capacity - count ? until : capacity - count;
}

/* The last stage has ended, and there is a URL that it does not have. */
static int begin_stage(scalable *self)
{
    VIDI__TRY(make_stage(self, self->stages));
    advance(self);
    return VIDI_OK;
}

/* Searches the largest stage first, since it holds most of the URLs. */
static bool in_older(const scalable *self, const vidi__item *item)
{
    for (unsigned i = self->stages - 1; i-- > 0;)
        if (self->stage[i]->kind->has(self->stage[i], item) == VIDI_SEEN)
            return true;
    return false;
}

static int scalable_add(vidi__filter *filter, const vidi__item *item)
{
    scalable *self = (scalable *)filter;
    vidi__filter *last = last_of(self);
    if (in_older(self, item))
        return VIDI_SEEN;
    if (room_left(self) == 0) {
        if (last->kind->has(last, item) == VIDI_SEEN)
            return VIDI_SEEN;
        VIDI__TRY(begin_stage(self));
        last = last_of(self);
    }
    int verdict = last->kind->add(last, item);
    if (verdict == VIDI_NEW)
        vidi__filter_add_count(filter, 1);
    return verdict;
}

static int scalable_has(const vidi__filter *filter, const vidi__item *item)
{
    const scalable *self = (const scalable *)filter;
    const vidi__filter *last = last_of(self);
    return in_older(self, item) ? VIDI_SEEN : last->kind->has(last, item);
}

/* ---- one hash ---- */

/* What a stage answers for a hash. */
static int look_in(const vidi__filter *stage, vidi__u128 hash)
{
    if (VIDI__LIKELY(stage->kind->has_hash))
        return stage->kind->has_hash(stage, hash);
    uint8_t answer = VIDI_UNTRIED;
    int code = vidi__filter_has_hashes(stage, &hash, 1, &answer);
    return code < 0 ? code : answer;
}

/* VIDI_NEW if none of the older stages has the hash. */
static int look_in_older(const scalable *self, vidi__u128 hash)
{
    int code = VIDI_NEW;
    for (unsigned i = self->stages - 1; i-- > 0 && code == VIDI_NEW;)
        code = look_in(self->stage[i], hash);
    return code;
}

/* Adds a hash to a stage that has room for it. */
static vidi__added add_to(vidi__filter *stage, vidi__u128 hash)
{
    if (VIDI__LIKELY(stage->kind->add_hash))
        return stage->kind->add_hash(stage, hash);
    uint8_t answer = VIDI_UNTRIED;
    vidi__tally tally = {0};
    int code = vidi__filter_add_hashes(stage, &hash, 1, &answer, &tally);
    return (vidi__added){code < 0 ? code : answer, tally.lost};
}

/*
 * The losses that a stage has counted by its own rate q, as the sum of q/(1-q) over `fresh` URLs, become those of the
 * whole filter: with the older stages' rate p that is 1/((1-p)(1-q)) - 1 for a URL.
 */
static double lost_in_all(const scalable *self, double lost, uint64_t fresh)
{
    return (lost + self->older_fp * (double)fresh) / (1 - self->older_fp);
}

static vidi__added scalable_add_hash(vidi__filter *filter, vidi__u128 hash)
{
    scalable *self = (scalable *)filter;
    int code = look_in_older(self, hash);
    if (code == VIDI_NEW && room_left(self) == 0) {
        code = look_in(last_of(self), hash);
        int begun = code == VIDI_NEW ? begin_stage(self) : VIDI_OK;
        code = begun < 0 ? begun : code;
    }
    if (code != VIDI_NEW)
        return (vidi__added){.code = code};
    vidi__added added = add_to(last_of(self), hash);
    if (added.code == VIDI_NEW) {
        vidi__filter_add_count(filter, 1);
        added.lost = lost_in_all(self, added.lost, 1);
    }
    return added;
}

static int scalable_has_hash(const vidi__filter *filter, vidi__u128 hash)
{
    const scalable *self = (const scalable *)filter;
    int code = look_in(last_of(self), hash);
    return code == VIDI_NEW ? look_in_older(self, hash) : code;
}

/* ---- batches: each stage is asked for all hashes that no stage so far has ---- */

#define CHUNK 512

typedef struct unsettled {
    size_t count;
    vidi__u128 hashes[CHUNK];
    uint16_t places[CHUNK]; /* of the hashes in the batch */
    uint8_t answers[CHUNK]; /* of a stage */
} unsettled;

static void begin_chunk(unsettled *left, const vidi__u128 *hashes, size_t n)
{
    left->count = n;
    memcpy(left->hashes, hashes, n * sizeof *hashes);
    for (size_t i = 0; i < n; i++)
        left->places[i] = (uint16_t)i;
}

/* Answers SEEN for all hashes from `from` on that the stage has, and takes them out. Tells how many. */
static int settle_seen(const vidi__filter *stage, unsettled *left, size_t from, uint8_t *verdicts, size_t *seen)
{
    size_t kept = from;
    VIDI__TRY(vidi__filter_has_hashes(stage, left->hashes + from, left->count - from, left->answers + from));
    for (size_t i = from; i < left->count; i++) {
        if (left->answers[i] == VIDI_SEEN)
            verdicts[left->places[i]] = VIDI_SEEN;
        left->hashes[kept] = left->hashes[i];
        left->places[kept] = left->places[i];
        kept += left->answers[i] != VIDI_SEEN;
    }
    *seen += left->count - kept;
    left->count = kept;
    return VIDI_OK;
}

static int settle_in_older(const scalable *self, unsettled *left, uint8_t *verdicts, size_t *seen)
{
    for (unsigned i = self->stages - 1; i-- > 0 && left->count;)
        VIDI__TRY(settle_seen(self->stage[i], left, 0, verdicts, seen));
    return VIDI_OK;
}

/* Adds `count` hashes to the last stage, which has room for them. */
static int add_to_last(scalable *self, unsettled *left, size_t from, size_t count, uint8_t *verdicts,
                       vidi__tally *tally)
{
    vidi__tally own = {0};
    memset(left->answers + from, VIDI_UNTRIED, count);
    int code = vidi__filter_add_hashes(last_of(self), left->hashes + from, count, left->answers + from, &own);
    for (size_t i = from; i < from + count; i++)
        if (left->answers[i] != VIDI_UNTRIED)
            verdicts[left->places[i]] = left->answers[i];
    vidi__filter_add_count(&self->base, (int64_t)own.fresh);
    tally->fresh += own.fresh;
    tally->seen += own.seen;
    tally->lost += lost_in_all(self, own.lost, own.fresh);
    return code;
}

static int add_chunk(scalable *self, const vidi__u128 *hashes, size_t n, uint8_t *verdicts, vidi__tally *tally)
{
    unsettled left;
    size_t seen = 0;
    begin_chunk(&left, hashes, n);
    int code = settle_in_older(self, &left, verdicts, &seen);
    for (size_t done = 0; code == VIDI_OK && done < left.count;) {
        uint64_t room = room_left(self);
        size_t count = left.count - done < room ? left.count - done : (size_t)room;
        if (count) {
            code = add_to_last(self, &left, done, count, verdicts, tally);
            done += count;
        } else {
            code = settle_seen(last_of(self), &left, done, verdicts, &seen);
            if (code == VIDI_OK && done < left.count)
                code = begin_stage(self);
        }
    }
    tally->seen += seen;
    return code;
}

static int scalable_add_hashes(vidi__filter *filter, const vidi__u128 *hashes, size_t n, uint8_t *verdicts,
                               vidi__tally *tally)
{
    for (size_t done = 0; done < n; done += CHUNK)
        VIDI__TRY(
            add_chunk((scalable *)filter, hashes + done, n - done < CHUNK ? n - done : CHUNK, verdicts + done, tally));
    return VIDI_OK;
}

static int has_chunk(const scalable *self, const vidi__u128 *hashes, size_t n, uint8_t *verdicts)
{
    unsettled left;
    size_t seen = 0;
    begin_chunk(&left, hashes, n);
    VIDI__TRY(settle_seen(last_of(self), &left, 0, verdicts, &seen));
    VIDI__TRY(settle_in_older(self, &left, verdicts, &seen));
    for (size_t i = 0; i < left.count; i++)
        verdicts[left.places[i]] = VIDI_NEW;
    return VIDI_OK;
}

static int scalable_has_hashes(const vidi__filter *filter, const vidi__u128 *hashes, size_t n, uint8_t *verdicts)
{
    for (size_t done = 0; done < n; done += CHUNK)
        VIDI__TRY(
            has_chunk((const scalable *)filter, hashes + done, n - done < CHUNK ? n - done : CHUNK, verdicts + done));
    return VIDI_OK;
}

/* ---- the kind's other functions ---- */

static double scalable_fp_now(const vidi__filter *filter)
{
    const scalable *self = (const scalable *)filter;
    return self->older_fp + (1 - self->older_fp) * stage_fp(last_of(self));
}

static void scalable_stat(const vidi__filter *filter, vidi__filter_stats *stats)
{
    const scalable *self = (const scalable *)filter;
    stats->stages = 0;
    for (unsigned i = 0; i < self->room && self->stage[i]; i++) {
        vidi__filter_stats stage = {.stages = 1};
        self->stage[i]->kind->stat(self->stage[i], &stage);
        stats->bytes += stage.bytes;
        stats->ambiguous += stage.ambiguous;
        if (i < self->stages) {
            stats->stages += stage.stages;
            stats->lines_touched += stage.lines_touched;
            stats->fill = stage.fill;
        }
    }
}

static void scalable_stage(const vidi__filter *filter, uint64_t index, vidi_stage_stats *stats)
{
    const scalable *self = (const scalable *)filter;
    vidi__filter_stage_of(self->stage, self->stages, index, stats);
}

/* ends=rate, the default, is not written. */
static void scalable_describe(const vidi__filter *filter, vidi__text *text)
{
    const scalable *self = (const scalable *)filter;
    vidi__params params;
    vidi__text_add(text, "growth=%.17g,tighten=%.17g,%sinner=%s", self->growth, self->tighten,
                   self->by_count ? "ends=count," : "", self->inner->name);
    if (vidi__params_parse(&params, inner_params(self)) == VIDI_OK)
        vidi__params_hand_on(&params, "growth|tighten|ends|inner", text);
}

static void scalable_hash_names(const vidi__filter *filter, vidi__text *text)
{
    const scalable *self = (const scalable *)filter;
    vidi__filter_hash_names(self->stage[0], text);
}

static int scalable_save(const vidi__filter *filter, vidi__writer *writer)
{
    const scalable *self = (const scalable *)filter;
    VIDI__TRY(vidi__write_u64(writer, self->stages));
    for (unsigned i = 0; i < self->stages; i++)
        VIDI__TRY(vidi__filter_save(self->stage[i], writer));
    return VIDI_OK;
}

static int scalable_save_run(const vidi__filter *filter, vidi__run_out *run)
{
    const scalable *self = (const scalable *)filter;
    uint64_t index;
    vidi__run_out inner = vidi__run_part(run, VIDI__STAGE_BITS, &index);
    if (index >= self->stages)
        return vidi__run_position_unknown();
    VIDI__TRY(vidi__write_u64(run->writer, index));
    inner.room -= 8;
    VIDI__TRY(vidi__filter_save_run(self->stage[index], &inner));
    vidi__run_part_done(run, &inner, index, self->stages);
    return VIDI_OK;
}

/* The older stages have got more than they had when the next one took over. */
static void sum_older(scalable *self)
{
    self->older_fp = 0;
    for (unsigned i = 0; i + 1 < self->stages; i++)
        self->older_fp += (1 - self->older_fp) * stage_fp(self->stage[i]);
}

static int scalable_load_run(vidi__filter *filter, vidi__run_in *run)
{
    scalable *self = (scalable *)filter;
    uint64_t index;
    VIDI__TRY(vidi__read_u64(run->reader, &index));
    if (index > self->stages || index >= STAGES_MAX)
        return vidi__damaged("a stage is missing, or there are too many");
    VIDI__TRY(make_stage(self, (unsigned)index)); /* the next one may be there before it is in use */
    VIDI__TRY(vidi__filter_load_run(self->stage[index], run));
    if (run->apply && index == self->stages)
        advance(self);
    if (run->apply)
        sum_older(self);
    return VIDI_OK;
}

static int scalable_verify(const vidi__filter *filter)
{
    const scalable *self = (const scalable *)filter;
    for (unsigned i = 0; i < self->stages; i++)
        VIDI__TRY(vidi__filter_verify(self->stage[i]));
    return VIDI_OK;
}

/* Creates the next stage before it is needed, so that no add has to wait for it, and lets the last one do its step. */
static int scalable_step(vidi__filter *filter, uint64_t budget_ns)
{
    scalable *self = (scalable *)filter;
    double count = (double)vidi__filter_count(last_of(self));
    if (budget_ns && self->stages < STAGES_MAX && count >= AHEAD * (double)self->last_capacity)
        VIDI__TRY(make_stage(self, self->stages));
    vidi__filter *last = last_of(self);
    return last->kind->step ? last->kind->step(last, budget_ns) : 0;
}

/*
 * Fits the error rate of the first stage. A stage finds its own shape from its number of URLs and its error rate alone.
 * That is close to the best shape, but may lose slightly more or need slightly more memory. So the rate, or the number
 * of URLs, is lowered until the request is met.
 */
static int fit_first_stage(const vidi__want *want, const vidi__kind *inner, const vidi__params *rest,
                           vidi__planned *planned)
{
    vidi__want stage = {
        .urls = planned->urls, .error = planned->error, .k = want->k, .members = want->members, .bound = want->bound};
    for (int tries = 0; tries < 100; tries++) {
        vidi__params params = *rest;
        stage.params = &params;
        VIDI__TRY(inner->plan(&stage, planned));
        if (want->lost > 0 && planned->lost > want->lost)
            stage.error *= fmin(0.97, 0.999 * want->lost / planned->lost);
        else if (want->memory && planned->bytes > want->memory && !want->urls)
            stage.urls -= stage.urls / 500 + 1;
        else if (want->memory && planned->bytes > want->memory)
            break;
        else
            return VIDI_OK;
    }
    return vidi__fail(VIDI_EOPTION, "no first stage keeps the demand within the memory; allow more memory or losses");
}

/* Plans one stage that takes all URLs, which is what a set with this capacity and error rate has. */
static int scalable_plan(const vidi__want *want, vidi__planned *planned)
{
    series read;
    VIDI__TRY(read_series(&read, want->params));
    if (want->multiplier > 0)
        return vidi__fail(VIDI_EOPTION, "scalable has no M: it is sized by URLs and error rate");
    double whole = (read.by_count ? 1 : SLACK) / (1 - read.tighten); /* compound rate for a rate of the first stage */
    vidi__params params = read.rest;
    vidi__want stage = *want;
    stage.params = &params;
    stage.error = want->error / whole;
    VIDI__TRY(read.inner->plan(&stage, planned));
    bool exact = planned->error == 0;
    if (!exact)
        VIDI__TRY(fit_first_stage(want, read.inner, &read.rest, planned));
    double error = planned->error * whole;
    if (error >= 1)
        return vidi__fail(VIDI_EOPTION, "scalable keeps error rates below 1 only");
    vidi__text text = vidi__text_in(planned->params, sizeof planned->params);
    vidi__text_add(&text, "capacity=%llu", (unsigned long long)planned->urls);
    if (!exact)
        vidi__text_add(&text, ",error=%.17g", error);
    if (want->k)
        vidi__text_add(&text, ",k=%u", want->k);
    return VIDI_OK;
}

const vidi__kind vidi__kind_scalable = {
    .name = "scalable",
    .summary = "a growing series of filters that keeps the error rate for any number of URLs",
    .can = VIDI_CAN_GROW,
    .create = scalable_create,
    .destroy = scalable_destroy,
    .add = scalable_add,
    .has = scalable_has,
    .add_hashes = scalable_add_hashes,
    .has_hashes = scalable_has_hashes,
    .add_hash = scalable_add_hash,
    .has_hash = scalable_has_hash,
    .fp_now = scalable_fp_now,
    .stat = scalable_stat,
    .stage = scalable_stage,
    .describe = scalable_describe,
    .hash_names = scalable_hash_names,
    .save = scalable_save,
    .save_run = scalable_save_run,
    .load_run = scalable_load_run,
    .verify = scalable_verify,
    .plan = scalable_plan,
    .step = scalable_step,
};
