/*
 * Calls that add and remove URLs.
 */
#include <math.h>
#include <string.h>

#include "model/views.h"

enum { MOST = 2100, FEW = 40 };

/* URLs of one call. Few are chosen from a small part of the universe, so that repeats are frequent. */
typedef struct batch {
    size_t n;
    uint16_t urls[MOST];
    vidi_str texts[MOST];
    uint8_t verdicts[MOST];
    uint64_t marks[MOST];
    uint64_t serials[MOST]; /* of the next operation after each */
    size_t first_op;        /* operations of the model before the call */
    double rate;            /* fp_now before the call */
} batch;

static void draw(model_world *world, batch *of, size_t n)
{
    size_t from = model_below(world, MODEL_URLS), width = model_chance(world, 50) ? 12 : MODEL_URLS;
    model_view live;
    model_truth_live(&world->truth, &live);
    of->n = 0;
    for (size_t i = 0; i < n; i++) {
        size_t url = (from + model_below(world, width)) % MODEL_URLS;
        if (world->truth.stores_every_add && live.counts[url] >> MODEL_MOST_TIMES)
            continue;
        live.counts[url] <<= 1;
        of->urls[of->n] = (uint16_t)url;
        of->texts[of->n++] = model_spelling(world, url);
    }
    memset(of->verdicts, VIDI_UNTRIED, sizeof of->verdicts);
}

static model_fate fate_of(const model_world *world)
{
    return world->config.manual ? MODEL_STAGED : MODEL_COMMITTED;
}

/* From now on a crash may find them, unless they have to be committed first. */
static void expect_adds(model_world *world, batch *of)
{
    of->rate = model_stat(world, world->set, "the set").fp_now;
    of->first_op = world->truth.n_ops;
    for (size_t i = 0; i < of->n && !world->config.manual; i++)
        if (model_is_taken(world, of->urls[i]))
            model_truth_push(&world->truth, of->urls[i], false, MODEL_GHOST);
}

/* What a call has added since operation `from` is in a set in memory at once, and on disk under VIDI_SYNC_ALWAYS. */
static void settle(model_world *world, size_t from)
{
    const model_config *config = &world->config;
    bool changed = false;
    for (size_t i = from; i < world->truth.n_ops; i++)
        changed |= world->truth.ops[i].fate == MODEL_COMMITTED;
    if (changed && (config->in_memory || config->sync == VIDI_SYNC_ALWAYS))
        model_truth_synced(&world->truth);
}

static void take_answer(model_world *world, const batch *of, size_t i, uint8_t times[MODEL_URLS])
{
    size_t url = of->urls[i];
    uint8_t verdict = of->verdicts[i];
    bool seen = times[url] > 0;
    if (!seen && verdict == VIDI_SEEN)
        model_check(world, world->truth.one_sided, "URL %zu is answered as seen, but must be new", url);
    else
        model_check(world, verdict == (seen ? VIDI_SEEN : VIDI_NEW), "URL %zu is answered %d, but is %s", url, verdict,
                    seen ? "seen" : "new");
    world->counters.fresh += verdict == VIDI_NEW;
    world->counters.seen += verdict == VIDI_SEEN;
    if (verdict == VIDI_SEEN && !world->truth.stores_every_add)
        return;
    times[url] = world->truth.stores_every_add ? (uint8_t)(times[url] + 1) : 1;
    model_truth_push(&world->truth, url, false, fate_of(world));
    world->truth.epoch_unsure &= world->config.manual; /* nothing is committed while another epoch may be found */
}

/*
 * Each new URL costs p/(1-p) pages, where p is about the rate before the call, the one after it, or in between. Among
 * threads, `blocked` charges the rate of the URL's own partition, of which there are 64: the mean of all is the rate.
 */
static void charge(model_world *world, const batch *of, uint64_t fresh, bool whole)
{
    vidi_stats stats = model_stat(world, world->set, "the set");
    double low = fmin(of->rate, stats.fp_now), high = fmax(of->rate, stats.fp_now);
    double more = stats.expected_lost - world->counters.lost;
    double least = 0.5 * (double)fresh * low / (1 - low), most = 2 * (double)fresh * high / (1 - high);
    double rounding = 1e-12 * stats.expected_lost;
    if (world->threads_met && strcmp(world->config.kind->kind, "blocked") == 0) {
        least = 0;
        most *= 64;
    }
    if (whole && high < 0.9)
        model_check(world, more >= least - rounding && more <= most + rounding,
                    "%d new URLs cost %g pages, which is not between %g and %g", (int)fresh, more, least, most);
    world->counters.lost = stats.expected_lost;
}

/* Tells the model which URLs were answered. `untried`: the verdict of those that the call has not reached. */
static void tell(model_world *world, batch *of, uint8_t untried, bool may_leave)
{
    model_view live;
    uint8_t times[MODEL_URLS];
    uint64_t fresh = world->counters.fresh;
    world->truth.n_ops = of->first_op;
    model_truth_live(&world->truth, &live);
    for (size_t i = 0; i < MODEL_URLS; i++)
        times[i] = (uint8_t)__builtin_ctzll(live.counts[i]);
    for (size_t i = 0; i < of->n; i++) {
        size_t url = of->urls[i];
        if (of->verdicts[i] == untried) {
            model_check(world, may_leave, "URL %zu is left untried", url);
            if (!world->config.manual && world->incident.failed) /* its record may have been written */
                model_truth_push(&world->truth, url, false, MODEL_GHOST);
        } else if (!model_is_taken(world, url)) {
            model_check(world, of->verdicts[i] == VIDI_INVALID, "URL %zu is answered %d, but is invalid", url,
                        of->verdicts[i]);
        } else {
            take_answer(world, of, i, times);
        }
        of->serials[i] = world->truth.next_serial;
    }
    settle(world, of->first_op);
    charge(world, of, world->counters.fresh - fresh, !may_leave);
}

static bool is_invalid(const model_world *world, size_t url)
{
    return model_url_is_invalid(url) && strcmp(world->config.canon, "none") != 0;
}

/* Counts the invalid lines of a call that succeeded; otherwise asks how far it came. */
static void count_invalid(model_world *world, const batch *of, int code)
{
    vidi_stats stats = {.size = sizeof stats};
    if (code >= 0 && world->config.invalid != VIDI_FAIL_INVALID) {
        for (size_t i = 0; i < of->n; i++)
            world->counters.invalid += is_invalid(world, of->urls[i]);
    } else if (vidi_stat(world->set, &stats) == VIDI_OK) {
        model_check(world, stats.answered_invalid >= world->counters.invalid, "answered_invalid has become less");
        world->counters.invalid = stats.answered_invalid;
    }
}

void model_call_add(model_world *world)
{
    static batch of;
    draw(world, &of, 1);
    if (!of.n)
        return;
    expect_adds(world, &of);
    model_say(world, "URL %d", of.urls[0]);
    int code = MODEL_CALL(world, vidi_add(world->set, of.texts[0]));
    if (world->incident.killed)
        return;
    model_check_excuse(world, "vidi_add", code);
    of.verdicts[0] = code < 0 ? VIDI_UNTRIED : (uint8_t)code;
    tell(world, &of, VIDI_UNTRIED, code < 0);
    count_invalid(world, &of, code);
}

/* Marks of sets that need none are 0. Some of the others are kept for model_call_commit_to. */
static void keep_marks(model_world *world, const batch *of)
{
    for (size_t i = 0; i < of->n; i++)
        model_check(world, world->config.manual || of->marks[i] == 0, "URL %d has mark %llu", of->urls[i],
                    (unsigned long long)of->marks[i]);
    for (size_t k = 0; k < 3 && of->n && world->config.manual; k++) {
        size_t i = model_below(world, of->n);
        size_t at = world->n_marks < MODEL_MARKS ? world->n_marks++ : model_below(world, MODEL_MARKS);
        world->marks[at] = (model_mark){of->marks[i], of->serials[i]};
    }
}

/* Under VIDI_FAIL_INVALID the first URL that is untried is the invalid one, and so are all behind it. */
static void check_stop(const model_world *world, const batch *of)
{
    size_t i = 0;
    model_check(world, world->config.invalid == VIDI_FAIL_INVALID, "a batch stops at an invalid line");
    while (i < of->n && of->verdicts[i] != VIDI_UNTRIED)
        i++;
    model_check(world, i < of->n && is_invalid(world, of->urls[i]), "a batch stops before a line that is not invalid");
    for (; i < of->n; i++)
        model_check(world, of->verdicts[i] == VIDI_UNTRIED, "a batch goes on behind an invalid line");
}

static void say_urls(model_world *world, const batch *of)
{
    char text[FEW * 4 + 1] = "";
    for (size_t i = 0, at = 0; i < of->n && i < FEW; i++) {
        unsigned url = of->urls[i];
        text[at++] = ' ';
        if (url > 9)
            text[at++] = (char)('0' + url / 10);
        text[at++] = (char)('0' + url % 10);
        text[at] = 0;
    }
    model_say(world, "%zu URLs:%s%s", of->n, text, of->n > FEW ? " ..." : "");
}

static size_t size_of_batch(model_world *world)
{
    static const size_t sizes[] = {1, 2, 3, 5, 9, 17, FEW, 150};
    if (model_chance(world, 2) && world->truth.n_ops < MODEL_OPS / 4)
        return MOST;
    return sizes[model_below(world, sizeof sizes / sizeof *sizes)];
}

void model_call_add_batch(model_world *world)
{
    static batch of;
    draw(world, &of, size_of_batch(world));
    say_urls(world, &of);
    expect_adds(world, &of);
    bool marked = model_chance(world, 50);
    int code = marked ? MODEL_CALL(world, vidi_add_batch(world->set, of.texts, of.n, of.verdicts, of.marks))
                      : MODEL_CALL(world, vidi_add_batch(world->set, of.texts, of.n, of.verdicts, NULL));
    if (world->incident.killed)
        return;
    model_check_excuse(world, "vidi_add_batch", code);
    if (code == VIDI_INVALID)
        check_stop(world, &of);
    else
        model_check(world, code <= 0, "vidi_add_batch returns %d", code);
    tell(world, &of, VIDI_UNTRIED, code != VIDI_OK);
    count_invalid(world, &of, code);
    if (marked)
        keep_marks(world, &of);
}

/* ---- digests ---- */

/* Makes digests, which a later call uses, maybe in another epoch. */
void model_call_digest(model_world *world)
{
    static batch of;
    draw(world, &of, 1 + model_below(world, MODEL_DIGESTS - 1));
    world->n_digests = 0;
    int code = MODEL_CALL(
        world, vidi_digest_batch(world->set, of.texts, of.n, world->digests, of.verdicts, &world->digest_epoch));
    if (world->incident.killed || code == VIDI_ECANNOT)
        return;
    model_check_excuse(world, "vidi_digest_batch", code);
    if (code == VIDI_INVALID)
        check_stop(world, &of);
    count_invalid(world, &of, code);
    for (size_t i = 0; i < of.n; i++) {
        bool taken = model_is_taken(world, of.urls[i]);
        uint8_t verdict = of.verdicts[i];
        model_check(world, verdict == (taken ? VIDI_DIGESTED : VIDI_INVALID) || (code != VIDI_OK && !verdict),
                    "URL %d has verdict %d, not a digest", of.urls[i], verdict);
        world->digest_urls[i] = of.urls[i];
        world->digest_verdicts[i] = verdict;
    }
    world->n_digests = of.n;
}

void model_call_add_digests(model_world *world)
{
    static batch of;
    of.n = world->n_digests;
    if (!of.n)
        return;
    uint64_t n = of.n;
    for (size_t i = 0; i < of.n; i++)
        if (world->truth.stores_every_add && model_times(world, world->digest_urls[i]) + n >= MODEL_MOST_TIMES)
            return;
    memcpy(of.urls, world->digest_urls, sizeof world->digest_urls);
    memcpy(of.verdicts, world->digest_verdicts, sizeof world->digest_verdicts);
    say_urls(world, &of);
    if (world->digest_epoch != world->truth.epoch) {
        int code = MODEL_CALL(
            world, vidi_add_digests(world->set, world->digest_epoch, world->digests, of.n, of.verdicts, NULL));
        model_check(world, world->incident.killed || code == VIDI_ECANNOT || model_is_excused(world, code),
                    "digests of another epoch: %d", code);
        model_check(world, memcmp(of.verdicts, world->digest_verdicts, of.n) == 0, "their verdicts have changed");
        return;
    }
    size_t kept = 0; /* without those that have no digest */
    vidi_digest digests[MODEL_DIGESTS];
    for (size_t i = 0; i < of.n; i++)
        if (of.verdicts[i] == VIDI_DIGESTED) {
            digests[kept] = world->digests[i];
            of.urls[kept] = of.urls[i];
            of.verdicts[kept++] = VIDI_DIGESTED;
        }
    of.n = kept;
    expect_adds(world, &of);
    uint64_t epoch = world->digest_epoch;
    bool marked = model_chance(world, 50);
    int code = marked ? MODEL_CALL(world, vidi_add_digests(world->set, epoch, digests, of.n, of.verdicts, of.marks))
                      : MODEL_CALL(world, vidi_add_digests(world->set, epoch, digests, of.n, of.verdicts, NULL));
    if (world->incident.killed)
        return;
    model_check_excuse(world, "vidi_add_digests", code);
    model_check(world, code <= 0, "vidi_add_digests returns %d", code);
    tell(world, &of, VIDI_DIGESTED, code < 0);
    if (marked)
        keep_marks(world, &of);
}

/* ---- removing ---- */

static size_t draw_for_removal(model_world *world)
{
    model_view live;
    model_truth_live(&world->truth, &live);
    size_t url = model_below(world, MODEL_URLS);
    for (size_t i = 0; i < MODEL_URLS && model_below(world, 8); i++) /* mostly one that is there */
        if (live.counts[(url + i) % MODEL_URLS] != 1)
            return (url + i) % MODEL_URLS;
    return url;
}

void model_call_remove(model_world *world)
{
    vidi_stats stats = {.size = sizeof stats};
    size_t url = draw_for_removal(world), before = world->truth.n_ops;
    uint8_t times = model_times(world, url);
    bool can = vidi_stat(world->set, &stats) == VIDI_OK && (stats.can & VIDI_CAN_DELETE);
    if (can && !times && world->truth.one_sided)
        return; /* the header forbids it: the URL may be falsely seen */
    if (can && times && !world->config.manual)
        model_truth_push(&world->truth, url, true, MODEL_GHOST);
    model_say(world, "URL %zu", url);
    int code = MODEL_CALL(world, vidi_remove(world->set, model_spelling(world, url)));
    if (world->incident.killed)
        return;
    if (!can || !model_is_taken(world, url)) {
        int expected = model_is_taken(world, url) ? VIDI_ECANNOT : VIDI_INVALID;
        model_check(world,
                    code == expected || (!can && code == VIDI_ECANNOT) || (code < 0 && model_is_excused(world, code)),
                    "vidi_remove returns %d, not %d", code, expected);
        return;
    }
    if (!times && code == VIDI_EABSENT)
        return;
    model_check_excuse(world, "vidi_remove", code);
    model_check(world, times || code < 0, "URL %zu is removed, but was not there", url);
    if (code < 0 && world->incident.failed)
        return; /* its record may have been written */
    world->truth.n_ops = before;
    if (code < 0)
        return;
    world->counters.removed++;
    model_truth_push(&world->truth, url, true, fate_of(world));
    settle(world, before);
}
