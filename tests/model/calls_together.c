/*
 * Up to four threads that call at the same time. What they are told must be explained by some order of their calls
 * (support/history.h), which begins with what the model says. They meet no faults. Afterwards everything is committed and
 * brought to disk, so the model needs to know no more than how often each URL is there: not in which order the calls
 * came into the log.
 */
#include <pthread.h>
#include <string.h>

#include "model/views.h"
#include "support/access.h"
#include "support/history.h"
#include "support/streams.h"

enum { MOST_THREADS = 4, MOST_CALLS = 8, MOST_URLS = 12 };

typedef enum turn {
    TURN_ADD,
    TURN_ADD_BATCH,
    TURN_ADD_DIGESTS,
    TURN_HAS,
    TURN_HAS_BATCH,
    TURN_REMOVE,
    TURN_COUNT,
    TURN_COMMIT,
    TURN_SYNC,
    TURN_SNAPSHOT,
    TURN_LOOK, /* statistics, growth, a stream */
    TURNS
} turn;

/* One call, and what came of it. */
typedef struct planned {
    turn what;
    size_t n;
    uint16_t urls[MOST_URLS];
    vidi_str texts[MOST_URLS];
    uint8_t verdicts[MOST_URLS];
    uint64_t times;
    int code;
    uint64_t begin, end;
} planned;

typedef struct player {
    vidi_set *set;
    pthread_t id;
    pthread_barrier_t *start;
    planned calls[MOST_CALLS];
    size_t n;
    char message[200]; /* of the last call that failed */
} player;

typedef struct phase {
    player players[MOST_THREADS];
    size_t n;
    uint32_t can;
    uint8_t before[MODEL_URLS];
    uint64_t adds[MODEL_URLS]; /* planned */
} phase;

/* ---- the plan ---- */

static bool is_single(turn what)
{
    return what == TURN_ADD || what == TURN_HAS || what == TURN_REMOVE || what == TURN_COUNT;
}

static turn draw_turn(model_world *world, uint32_t can)
{
    turn what = (turn)model_below(world, model_chance(world, 70) ? TURN_HAS : TURNS);
    bool cannot = (what == TURN_REMOVE && !(can & VIDI_CAN_DELETE)) ||
                  (what == TURN_COUNT && !(can & VIDI_CAN_COUNT)) ||
                  ((what == TURN_SYNC || what == TURN_SNAPSHOT) && world->config.in_memory);
    return cannot ? TURN_HAS_BATCH : what;
}

/* From a few URLs, so that the threads meet. */
static void draw_urls(model_world *world, phase *of, planned *call, size_t from)
{
    size_t wanted = is_single(call->what) ? 1 : call->what < TURN_COMMIT ? 1 + model_below(world, MOST_URLS) : 0;
    bool adds = call->what <= TURN_ADD_DIGESTS;
    for (size_t i = 0; i < wanted; i++) {
        size_t url = (from + model_below(world, 6)) % MODEL_URLS;
        if (!model_is_taken(world, url) || (adds && of->before[url] + of->adds[url] >= MODEL_MOST_TIMES))
            continue;
        of->adds[url] += adds;
        call->urls[call->n] = (uint16_t)url;
        call->texts[call->n++] = model_spelling(world, url);
    }
    if (wanted && !call->n)
        call->what = TURN_LOOK;
}

static void plan(model_world *world, phase *of)
{
    size_t from = model_below(world, MODEL_URLS);
    memset(of, 0, sizeof *of);
    of->can = model_stat(world, world->set, "the set").can;
    of->n = 2 + model_below(world, MOST_THREADS - 1);
    for (size_t i = 0; i < MODEL_URLS; i++)
        of->before[i] = model_times(world, i);
    for (size_t t = 0; t < of->n; t++) {
        player *self = &of->players[t];
        self->set = world->set;
        self->n = 1 + model_below(world, MOST_CALLS);
        for (size_t i = 0; i < self->n; i++) {
            self->calls[i].what = draw_turn(world, of->can);
            draw_urls(world, of, &self->calls[i], from);
        }
    }
}

/* ---- the calls ---- */

static int add_digests(vidi_set *set, planned *call)
{
    vidi_digest digests[MOST_URLS];
    uint64_t epoch;
    int code = vidi_digest_batch(set, call->texts, call->n, digests, call->verdicts, &epoch);
    if (code == VIDI_ECANNOT) /* kinds that need more than a hash */
        return vidi_add_batch(set, call->texts, call->n, call->verdicts, NULL);
    return code < 0 ? code : vidi_add_digests(set, epoch, digests, call->n, call->verdicts, NULL);
}

static int swallow(void *context, const void *data, size_t size)
{
    (void)data;
    *(uint64_t *)context += size;
    return 0;
}

static int look(vidi_set *set)
{
    vidi_stats stats = {.size = sizeof stats};
    uint64_t bytes = 0;
    int code = vidi_stat(set, &stats);
    code = code < 0 ? code : test_step(set, 10000);
    return code < 0 ? code : vidi_write(set, swallow, &bytes, 0);
}

static int make(vidi_set *set, planned *call)
{
    switch (call->what) {
    case TURN_ADD:
        return vidi_add(set, call->texts[0]);
    case TURN_ADD_BATCH:
        return vidi_add_batch(set, call->texts, call->n, call->verdicts, NULL);
    case TURN_ADD_DIGESTS:
        return add_digests(set, call);
    case TURN_HAS:
        return vidi_has(set, call->texts[0]);
    case TURN_HAS_BATCH:
        return vidi_has_batch(set, call->texts, call->n, call->verdicts);
    case TURN_REMOVE:
        return vidi_remove(set, call->texts[0]);
    case TURN_COUNT:
        return vidi_count(set, call->texts[0], &call->times);
    case TURN_COMMIT:
        return vidi_commit(set);
    case TURN_SYNC:
        return vidi_sync(set);
    case TURN_SNAPSHOT:
        return vidi_snapshot(set);
    default:
        return look(set);
    }
}

static void *play(void *context)
{
    player *self = context;
    pthread_barrier_wait(self->start);
    for (size_t i = 0; i < self->n; i++) {
        planned *call = &self->calls[i];
        call->begin = history_now();
        call->code = make(self->set, call);
        call->end = history_now();
        if (call->code < 0 && strlen(vidi_message()) < sizeof self->message)
            strcpy(self->message, vidi_message());
    }
    return NULL;
}

static void run(model_world *world, phase *of)
{
    pthread_barrier_t start;
    pthread_barrier_init(&start, NULL, (unsigned)of->n);
    for (size_t t = 0; t < of->n; t++) {
        of->players[t].start = &start;
        model_check(world, pthread_create(&of->players[t].id, NULL, play, &of->players[t]) == 0, "no thread");
    }
    for (size_t t = 0; t < of->n; t++)
        pthread_join(of->players[t].id, NULL);
    pthread_barrier_destroy(&start);
}

/* ---- what they were told ---- */

static history_op op_of(const planned *call, size_t i)
{
    static const history_what whats[] = {
        [TURN_ADD] = HISTORY_ADD,    [TURN_ADD_BATCH] = HISTORY_ADD, [TURN_ADD_DIGESTS] = HISTORY_ADD,
        [TURN_HAS] = HISTORY_HAS,    [TURN_HAS_BATCH] = HISTORY_HAS, [TURN_REMOVE] = HISTORY_REMOVE,
        [TURN_COUNT] = HISTORY_COUNT};
    history_op op = {.begin = call->begin, .end = call->end, .url = call->urls[i], .what = whats[call->what] & 0xff};
    uint64_t answer = call->what == TURN_REMOVE  ? call->code == VIDI_OK
                      : call->what == TURN_COUNT ? call->times
                      : is_single(call->what)    ? (uint64_t)call->code
                                                 : call->verdicts[i];
    op.answer = answer & 0xffffff;
    return op;
}

/* How often one URL is there now; what was told about it must have an explanation. */
static uint8_t explain(model_world *world, const phase *of, uint16_t url)
{
    history_op ops[MOST_THREADS][MOST_CALLS * MOST_URLS];
    history_url told = {.n_lanes = of->n, .every_add = world->truth.stores_every_add, .before = of->before[url]};
    int after = of->before[url];
    for (size_t t = 0; t < of->n; t++) {
        size_t n = 0;
        for (size_t k = 0; k < of->players[t].n; k++) {
            const planned *call = &of->players[t].calls[k];
            for (size_t i = 0; i < call->n; i++) {
                if (call->urls[i] != url)
                    continue;
                history_op op = op_of(call, i);
                after += op.what == HISTORY_ADD && (told.every_add || op.answer == VIDI_NEW);
                after -= op.what == HISTORY_REMOVE && op.answer;
                ops[t][n++] = op;
            }
        }
        told.lanes[t] = (history_lane){ops[t], n};
    }
    model_check(world, history_explain(&told) == HISTORY_FINE,
                "no order explains what %zu threads are told about URL %d", of->n, url);
    return (uint8_t)after;
}

static void check_codes(model_world *world, const phase *of)
{
    for (size_t t = 0; t < of->n; t++) {
        for (size_t k = 0; k < of->players[t].n; k++) {
            const planned *call = &of->players[t].calls[k];
            bool absent = call->what == TURN_REMOVE && call->code == VIDI_EABSENT;
            model_say(world, "thread %zu, call %d of %zu URLs = %d", t, (int)call->what, call->n, call->code);
            model_check(world, call->code >= 0 || absent, "thread %zu: call %d fails with %d without a cause: %s", t,
                        (int)call->what, call->code, of->players[t].message);
        }
    }
}

static void count(model_world *world, const phase *of)
{
    model_counters *counters = &world->counters;
    bool has_forms = strcmp(world->config.canon, "none") != 0;
    for (size_t t = 0; t < of->n; t++)
        for (size_t k = 0; k < of->players[t].n; k++)
            for (size_t i = 0; i < of->players[t].calls[k].n; i++) {
                history_op op = op_of(&of->players[t].calls[k], i);
                counters->fresh += op.what == HISTORY_ADD && op.answer == VIDI_NEW;
                counters->seen += op.what == HISTORY_ADD && op.answer == VIDI_SEEN;
                counters->invalid += op.what == HISTORY_ADD && has_forms && model_url_is_invalid(op.url);
                counters->asked += op.what == HISTORY_HAS;
                counters->removed += op.what == HISTORY_REMOVE && op.answer;
            }
    counters->lost = model_stat(world, world->set, "the set").expected_lost;
}

/* Everything is committed, and on disk. */
static void bring_to_disk(model_world *world)
{
    model_truth_commit_begins(&world->truth, UINT64_MAX, 0);
    int code = vidi_commit(world->set);
    model_check(world, code == VIDI_OK, "vidi_commit after threads: %d, %s", code, vidi_message());
    model_truth_commit_ends(&world->truth, UINT64_MAX, 0);
    code = world->config.in_memory ? VIDI_OK : vidi_snapshot(world->set);
    model_check(world, code == VIDI_OK, "vidi_snapshot after threads: %d, %s", code, vidi_message());
    if (world->config.in_memory)
        model_truth_synced(&world->truth);
    else
        model_truth_snapshot_taken(&world->truth);
}

void model_call_together(model_world *world)
{
    static phase of;
    model_truth *truth = &world->truth;
    /* Refused adds and false answers would need a model of their own; other calls have them. */
    if (truth->one_sided || world->config.memory_limit || world->broken || world->sync_failed || truth->epoch_unsure)
        return;
    world->incident = (model_incident){0};
    plan(world, &of);
    model_say(world, "%zu threads", of.n);
    world->threads_met = true;
    run(world, &of);
    model_settle();
    check_codes(world, &of);
    for (uint16_t url = 0; url < MODEL_URLS; url++) {
        uint8_t after = explain(world, &of, url);
        for (uint8_t times = of.before[url]; times != after; times = (uint8_t)(times + (times < after ? 1 : -1)))
            model_truth_push(truth, url, times > after, world->config.manual ? MODEL_STAGED : MODEL_COMMITTED);
    }
    count(world, &of);
    bring_to_disk(world);
}
