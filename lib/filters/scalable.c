/*
 * scalable: a series of filters, each larger and with a tighter error rate than the last, so the number of URLs need
 * not be known (Almeida, Baquero, Preguiça, Hutchison 2007; the thesis, sections 3.4.1 and 7.2.1).
 *
 *     stage 0  | n0 URLs at P(1-r)   |
 *     stage 1  | n0·s URLs at P(1-r)r           |
 *     stage 2  | n0·s² URLs at P(1-r)r²                              |   <- adds go here
 *
 * With growth s (parameter `growth`) and tightening ratio r (`tighten`), the rates of any number of stages add up to
 * less than P, the requested rate. A stage ends when it has its number of URLs, or when its own fp_now reaches its
 * share of P. It is sized for a little less than its share (SLACK), so that bits that happen to fill faster do not end
 * it early.
 *
 * A URL is seen if any stage has it; it is added to the last stage only. Growing allocates one stage, whose memory the
 * system zeroes as it is touched. No add waits for more than that, and `step` allocates the next stage ahead of time.
 *
 * Promises: no false negatives; the compound rate stays below the requested one. fp_now = 1 - Π(1 - p_i).
 */
#include <math.h>

#include "filters/bloom.h"

#define FIRST_CAPACITY 4096
#define STAGES_MAX 64
#define SLACK 1.05
/* When the last stage is this full, step() creates the next. */
#define AHEAD 0.9

typedef struct scalable {
    vidi__filter base;
    const vidi__kind *inner;
    char inner_params[VIDI__DESCRIPTION]; /* for future stages */
    double growth, tighten;
    double error;   /* compound rate, as requested */
    uint64_t first; /* capacity of stage 0 */
    vidi__seed seed;
    unsigned depth;
    bool is_member;
    unsigned stages; /* in use; stage[stages] may already exist */
    double older_fp; /* probability of a false positive in any stage before the last; these no longer change */
    vidi__filter *stage[STAGES_MAX + 1];
} scalable;

static void scalable_destroy(vidi__filter *filter)
{
    scalable *self = (scalable *)filter;
    for (unsigned i = 0; i <= STAGES_MAX; i++)
        vidi__filter_destroy(self->stage[i]);
    vidi__release(filter->memory, self, sizeof *self, VIDI__CACHE_LINE);
}

static double share_of_error(const scalable *self, unsigned index)
{
    return self->error * (1 - self->tighten) * vidi__power(self->tighten, index);
}

static vidi__config stage_config(const scalable *self, unsigned index)
{
    return (vidi__config){
        .memory = self->base.memory,
        .error = share_of_error(self, index) / SLACK,
        .seed = vidi__seed_child(&self->seed, "stage", index, 1),
        .item_hash = self->base.item_hash,
        .depth = self->depth + 1,
        .is_member = self->is_member,
        .alone = self->base.alone,
    };
}

/* Capacities of the stages: n0, multiplied by s each time. */
static uint64_t stage_capacity(const scalable *self, unsigned index)
{
    double capacity = (double)self->first * vidi__power(self->growth, index);
    return capacity < (double)VIDI__CAPACITY_MAX ? (uint64_t)capacity : VIDI__CAPACITY_MAX;
}

static int make_stage(scalable *self, unsigned index)
{
    if (self->stage[index])
        return VIDI_OK;
    if (index >= STAGES_MAX)
        return vidi__fail(VIDI_ELIMIT, "scalable: all %d stages are full; create the set with a larger capacity",
                          STAGES_MAX);
    vidi__params params;
    vidi__config config = stage_config(self, index);
    VIDI__TRY(vidi__params_parse(&params, self->inner_params));
    config.params = &params;
    config.capacity = stage_capacity(self, index);
    return vidi__filter_create(&self->stage[index], self->inner, &config);
}

static double stage_fp(const vidi__filter *stage)
{
    return stage->kind->fp_now(stage);
}

/* The last stage is complete: it joins the older ones, and the next takes over. */
static void advance(scalable *self)
{
    self->older_fp += (1 - self->older_fp) * stage_fp(self->stage[self->stages - 1]);
    self->stages++;
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
        VIDI__TRY(vidi__filter_load(&self->stage[i], &config));
        if (self->stage[i]->kind != self->inner)
            return vidi__damaged("a stage is not of the kind that the set says");
        VIDI__TRY(vidi__filter_alike(self->stage[0], self->stage[i]));
        if (i > 0)
            advance(self);
    }
    return VIDI_OK;
}

static int configure(scalable *self, const vidi__config *config)
{
    vidi__params rest;
    self->growth = 2;
    self->tighten = 0.5;
    self->error = config->error > 0 ? config->error : VIDI__DEFAULT_ERROR;
    self->first = config->capacity ? config->capacity : FIRST_CAPACITY;
    self->seed = config->seed;
    self->depth = config->depth;
    self->is_member = config->is_member;
    self->stages = 1;
    VIDI__TRY(vidi__params_double(config->params, "growth", 1, 64, &self->growth));
    VIDI__TRY(vidi__params_double(config->params, "tighten", 0.01, 0.99, &self->tighten));
    VIDI__TRY(vidi__filter_inner(&self->inner, config->params));
    vidi__params_rest(config->params, &rest);
    if (vidi__params_has(&rest, "m") || vidi__params_has(&rest, "M"))
        return vidi__fail(VIDI_EOPTION, "m and M would make all stages the same size: give capacity and error instead");
    vidi__text text = vidi__text_in(self->inner_params, sizeof self->inner_params);
    vidi__params_format(&rest, &text);
    return text.cut ? vidi__fail(VIDI_EOPTION, "the parameters of the inner kind are too long") : VIDI_OK;
}

static int scalable_create(vidi__filter **filter, const vidi__config *config)
{
    scalable *self;
    VIDI__TRY(vidi__filter_alloc(&self, sizeof *self, &vidi__kind_scalable, config));
    *filter = &self->base;
    VIDI__TRY(configure(self, config));
    VIDI__TRY(config->reader ? load_stages(self, config) : make_stage(self, 0));
    self->base.capacity = config->capacity;
    self->base.error = self->error;
    self->base.needs = self->stage[0]->needs;
    self->base.keyed = self->stage[0]->keyed;
    self->base.combination = self->stage[0]->combination;
    self->base.fp_meaning = self->stage[0]->fp_meaning;
    return VIDI_OK;
}

static bool full(const scalable *self)
{
    const vidi__filter *last = self->stage[self->stages - 1];
    return (last->capacity && vidi__filter_count(last) >= last->capacity) ||
           stage_fp(last) >= share_of_error(self, self->stages - 1);
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
    if (in_older(self, item))
        return VIDI_SEEN;
    vidi__filter *last = self->stage[self->stages - 1];
    if (full(self)) {
        if (last->kind->has(last, item) == VIDI_SEEN)
            return VIDI_SEEN;
        VIDI__TRY(make_stage(self, self->stages));
        advance(self);
        last = self->stage[self->stages - 1];
    }
    int verdict = last->kind->add(last, item);
    if (verdict == VIDI_NEW)
        vidi__filter_add_count(filter, 1);
    return verdict;
}

static int scalable_has(const vidi__filter *filter, const vidi__item *item)
{
    const scalable *self = (const scalable *)filter;
    const vidi__filter *last = self->stage[self->stages - 1];
    return in_older(self, item) ? VIDI_SEEN : last->kind->has(last, item);
}

static double scalable_fp_now(const vidi__filter *filter)
{
    const scalable *self = (const scalable *)filter;
    return self->older_fp + (1 - self->older_fp) * stage_fp(self->stage[self->stages - 1]);
}

static void scalable_stat(const vidi__filter *filter, vidi__filter_stats *stats)
{
    const scalable *self = (const scalable *)filter;
    stats->stages = 0;
    for (unsigned i = 0; i <= self->stages && self->stage[i]; i++) {
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

static void scalable_describe(const vidi__filter *filter, vidi__text *text)
{
    const scalable *self = (const scalable *)filter;
    vidi__params params;
    vidi__text_add(text, "growth=%.17g,tighten=%.17g,inner=%s", self->growth, self->tighten, self->inner->name);
    if (vidi__params_parse(&params, self->inner_params) == VIDI_OK)
        vidi__params_hand_on(&params, "growth|tighten|inner", text);
}

static void scalable_hash_names(const vidi__filter *filter, vidi__text *text)
{
    const scalable *self = (const scalable *)filter;
    self->inner->hash_names(self->stage[0], text);
}

static int scalable_save(const vidi__filter *filter, vidi__writer *writer)
{
    const scalable *self = (const scalable *)filter;
    VIDI__TRY(vidi__write_u64(writer, self->stages));
    for (unsigned i = 0; i < self->stages; i++)
        VIDI__TRY(vidi__filter_save(self->stage[i], writer));
    return VIDI_OK;
}

static int scalable_verify(const vidi__filter *filter)
{
    const scalable *self = (const scalable *)filter;
    for (unsigned i = 0; i < self->stages; i++)
        VIDI__TRY(vidi__filter_verify(self->stage[i]));
    return VIDI_OK;
}

/* Creates the next stage before it is needed, so that no add has to wait for it. */
static int scalable_step(vidi__filter *filter, uint64_t budget_ns)
{
    scalable *self = (scalable *)filter;
    const vidi__filter *last = self->stage[self->stages - 1];
    if (budget_ns && last->capacity && self->stages < STAGES_MAX &&
        (double)vidi__filter_count(last) >= AHEAD * (double)last->capacity)
        VIDI__TRY(make_stage(self, self->stages));
    return 0;
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
    const vidi__kind *inner;
    double tighten = 0.5, growth = 2;
    vidi__params rest;
    VIDI__TRY(vidi__params_double(want->params, "growth", 1, 64, &growth));
    VIDI__TRY(vidi__params_double(want->params, "tighten", 0.01, 0.99, &tighten));
    VIDI__TRY(vidi__filter_inner(&inner, want->params));
    vidi__params_rest(want->params, &rest);
    if (want->multiplier > 0)
        return vidi__fail(VIDI_EOPTION, "scalable has no M: it is sized by URLs and error rate");
    vidi__params params = rest;
    vidi__want stage = *want;
    stage.params = &params;
    stage.error = want->error * (1 - tighten) / SLACK;
    VIDI__TRY(inner->plan(&stage, planned));
    bool exact = planned->error == 0;
    if (!exact)
        VIDI__TRY(fit_first_stage(want, inner, &rest, planned));
    double error = planned->error / (1 - tighten) * SLACK;
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
    .fp_now = scalable_fp_now,
    .stat = scalable_stat,
    .describe = scalable_describe,
    .hash_names = scalable_hash_names,
    .save = scalable_save,
    .verify = scalable_verify,
    .plan = scalable_plan,
    .step = scalable_step,
};
