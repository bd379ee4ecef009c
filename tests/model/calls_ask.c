/*
 * Calls that change nothing, with faults: what they answer is right, or they fail.
 */
#include <string.h>

#include "model/world.h"
#include "support/access.h"
#include "vidi/url.h"

static void adopt_asked(model_world *world)
{
    vidi_stats stats = {.size = sizeof stats};
    if (vidi_stat(world->set, &stats) == VIDI_OK) {
        model_check(world, stats.asked >= world->counters.asked, "asked has become less");
        world->counters.asked = stats.asked;
    }
}

static void check_answer(const model_world *world, size_t url, int verdict)
{
    if (!model_is_taken(world, url)) {
        model_check(world, verdict == VIDI_INVALID, "URL %zu is answered %d, but is invalid", url, verdict);
        return;
    }
    int expected = model_times(world, url) ? VIDI_SEEN : VIDI_NEW;
    model_check(world, verdict == expected || (world->truth.one_sided && verdict == VIDI_SEEN),
                "URL %zu is answered %d, not %d", url, verdict, expected);
}

static void look_one(model_world *world, size_t url)
{
    int code = MODEL_CALL(world, vidi_has(world->set, model_spelling(world, url)));
    model_check_excuse(world, "vidi_has", code);
    if (code > 0 && !world->incident.killed)
        check_answer(world, url, code);
}

static void look_batch(model_world *world)
{
    enum { MANY = 20 };
    vidi_str texts[MANY];
    uint16_t urls[MANY];
    uint8_t verdicts[MANY];
    for (size_t i = 0; i < MANY; i++) {
        urls[i] = (uint16_t)model_below(world, MODEL_URLS);
        texts[i] = model_spelling(world, urls[i]);
    }
    int code = MODEL_CALL(world, vidi_has_batch(world->set, texts, MANY, verdicts));
    model_check_excuse(world, "vidi_has_batch", code);
    model_check(world, code != VIDI_INVALID || world->config.invalid == VIDI_FAIL_INVALID, "vidi_has_batch stops");
    for (size_t i = 0; i < MANY; i++) {
        model_check(world, verdicts[i] || code != VIDI_OK, "URL %d is left untried", urls[i]);
        if (verdicts[i])
            check_answer(world, urls[i], verdicts[i]);
    }
}

static void look_digests(model_world *world)
{
    uint8_t verdicts[MODEL_DIGESTS];
    if (!world->n_digests)
        return;
    memcpy(verdicts, world->digest_verdicts, sizeof verdicts);
    int code = MODEL_CALL(
        world, vidi_has_digests(world->set, world->digest_epoch, world->digests, world->n_digests, verdicts));
    if (world->digest_epoch != world->truth.epoch) {
        model_check(world, code < 0 || world->n_digests == 0 || !memchr(verdicts, VIDI_SEEN, world->n_digests),
                    "digests of another epoch: %d", code);
        return;
    }
    model_check_excuse(world, "vidi_has_digests", code);
    for (size_t i = 0; i < world->n_digests; i++)
        if (verdicts[i] == VIDI_NEW || verdicts[i] == VIDI_SEEN)
            check_answer(world, world->digest_urls[i], verdicts[i]);
        else
            model_check(world, verdicts[i] == world->digest_verdicts[i] && (verdicts[i] != VIDI_DIGESTED || code < 0),
                        "digest of URL %d: %d", world->digest_urls[i], verdicts[i]);
}

static void count_one(model_world *world, size_t url)
{
    uint64_t times = 0;
    vidi_stats stats = {.size = sizeof stats};
    bool can = vidi_stat(world->set, &stats) == VIDI_OK && (stats.can & VIDI_CAN_COUNT);
    int code = MODEL_CALL(world, vidi_count(world->set, model_spelling(world, url), &times));
    if (world->incident.killed || (!can && code == VIDI_ECANNOT) ||
        (!model_is_taken(world, url) && code == VIDI_INVALID))
        return;
    model_check_excuse(world, "vidi_count", code);
    if (code < 0)
        return;
    uint64_t expected = model_times(world, url);
    model_check(world, can && (times == expected || (world->truth.one_sided && times > expected)),
                "URL %zu is there %d times, not %d", url, (int)times, (int)expected);
}

void model_call_look(model_world *world)
{
    size_t url = model_below(world, MODEL_URLS);
    switch (model_below(world, 4)) {
    case 0:
        look_one(world, url);
        break;
    case 1:
        look_batch(world);
        break;
    case 2:
        look_digests(world);
        break;
    default:
        count_one(world, url);
    }
    if (!world->incident.killed)
        adopt_asked(world);
}

static int stop_listing(void *context, const vidi_entry *entry)
{
    (void)entry;
    return --*(int *)context ? 0 : 77;
}

void model_call_inspect(model_world *world)
{
    vidi_epoch_stats past = {.size = sizeof past};
    vidi_recovery recovery = {.size = sizeof recovery};
    vidi_stats stats = {.size = sizeof stats};
    uint64_t epoch = world->truth.epoch, index = model_below(world, epoch + 2);
    int left = 2, code;
    (void)vidi_stat(world->set, &stats);
    switch (model_below(world, 6)) {
    case 0:
        code = MODEL_CALL(world, vidi_epoch_stat(world->set, index, &past));
        model_check(world, code == (index < epoch ? VIDI_OK : VIDI_EABSENT), "record of epoch %d: %d", (int)index,
                    code);
        model_check(world, code < 0 || past.epoch == index, "record %d is of epoch %d", (int)index, (int)past.epoch);
        break;
    case 1:
        code = MODEL_CALL(world, vidi_recovered(world->set, &recovery));
        model_check(world, code == (world->config.in_memory ? VIDI_ECANNOT : VIDI_OK), "vidi_recovered: %d", code);
        break;
    case 2:
        code = MODEL_CALL(world, vidi_verify(world->set));
        model_check_excuse(world, "vidi_verify", code);
        break;
    case 3:
        model_check(world, strcmp(vidi_canon_name(vidi_canon_of(world->set)), stats.canon) == 0, "two canonical forms");
        model_check(world, strncmp(stats.canon, world->config.canon, strlen(world->config.canon)) == 0,
                    "the canonical form is %s", stats.canon);
        break;
    case 4:
        code = MODEL_CALL(world, vidi_iterate(world->set, stop_listing, &left));
        model_check(world, code == 77 || code == VIDI_OK || code == VIDI_ECANNOT || model_is_excused(world, code),
                    "vidi_iterate: %d", code);
        break;
    default:
        code = MODEL_CALL(world, vidi_has_previous(world->set, model_url(0, 0)));
        model_check(world,
                    (code == VIDI_ECANNOT) == (world->truth.previous_live == MODEL_NO) ||
                        (code < 0 && model_is_excused(world, code)),
                    "vidi_has_previous: %d", code);
    }
}

/* Opens a reader that stays, instead of the one before. */
void model_call_read_beside(model_world *world)
{
    vidi_access access = VIDI_ACCESS_INIT;
    uint64_t times[MODEL_URLS];
    if (world->config.in_memory)
        return;
    model_close_reader(world);
    access.invalid = world->config.invalid;
    access.flags = VIDI_READ_ONLY | (model_chance(world, 30) ? VIDI_NO_MAP : 0);
    int code = MODEL_CALL(world, vidi_open(&world->reader, world->folder.path, &access));
    if (world->incident.killed) { /* it was the reader that died; its files do no harm */
        model_close_reader(world);
        return;
    }
    model_check_excuse(world, "vidi_open", code);
    if (code == VIDI_OK)
        model_look(world, world->reader, "a reader", world->reader_saw, times);
}

/* Growth ahead of time, and hints. */
void model_call_tend(model_world *world)
{
    int code = model_chance(world, 50) ? MODEL_CALL(world, test_step(world->set, model_below(world, 100000)))
                                       : MODEL_CALL(world, vidi_expect(world->set, model_below(world, 5000)));
    if (!world->incident.killed && code < 0)
        model_check_excuse(world, "vidi_step or vidi_expect", code);
}
