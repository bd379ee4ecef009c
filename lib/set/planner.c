/*
 * The planner: asks every kind what it makes of the request and puts the answers in order. The mathematics is the
 * kinds' own (lib/filters/bloom.h for most).
 *
 * Parameters are checked by making a miniature filter with them: what create refuses, the plan does not propose.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "filters/bloom.h"
#include "set/set.h"

#define URL_BYTES 80
#define MINIATURE 1000
#define KINDS_MAX 64
#define ENTRY_SIZE sizeof(vidi_plan_entry) /* of version 0.1 */

static int check_request(const vidi_plan_request *want)
{
    const struct {
        const char *name;
        double value, most;
    } numbers[] = {{"error", want->error, 1},
                   {"lost", want->lost, 1e18},
                   {"multiplier", want->multiplier, 1e6},
                   {"url_bytes", want->url_bytes, 1e9}};
    for (size_t i = 0; i < VIDI__COUNT(numbers); i++)
        if (!(numbers[i].value >= 0 && numbers[i].value < numbers[i].most))
            return vidi__fail(VIDI_EOPTION, "%s must be a number between 0 and %g, not %g", numbers[i].name,
                              numbers[i].most, numbers[i].value);
    if (want->k > VIDI__K_MAX)
        return vidi__fail(VIDI_EOPTION, "k must be a number from 1 to %d, not %u", VIDI__K_MAX, want->k);
    bool rate = want->error > 0 || (want->k && want->multiplier > 0);
    if (!want->urls && !want->memory && !(want->lost > 0 && rate))
        return vidi__fail(VIDI_EOPTION,
                          "the request says too little: give the number of URLs or the memory, or pages lost "
                          "together with an error rate or k and M");
    if (want->params && !want->kind)
        return vidi__fail(VIDI_EOPTION, "params belong to a kind; name the kind too");
    if (want->entry_size > 65536)
        return vidi__fail(VIDI_EARGUMENT, "entry_size must be sizeof(vidi_plan_entry)");
    if (want->urls > VIDI__PLACES_MAX || want->memory > VIDI__PLACES_MAX)
        return vidi__fail(VIDI_EOPTION, "urls and memory can be 2^48 at most");
    return VIDI_OK;
}

/* Would create take these parameters, with this k? Then it also knows what the filter can do. */
static int miniature(const vidi__kind *kind, const char *user, unsigned k, vidi_plan_entry *entry)
{
    char text[VIDI__USER_PARAMS_MAX];
    vidi__memory memory;
    vidi__params params;
    vidi__filter *filter;
    vidi__config config = {.memory = &memory, .params = &params, .capacity = MINIATURE};
    VIDI__TRY(vidi__memory_init(&memory, NULL, 0));
    if (k)
        snprintf(text, sizeof text, "k=%u,%s", k, user);
    else
        snprintf(text, sizeof text, "%s", user);
    VIDI__TRY(vidi__params_parse(&params, text));
    VIDI__TRY(vidi__scheme_item_hash(&params, &config.item_hash));
    VIDI__TRY(vidi__filter_create(&filter, kind, &config));
    entry->can = filter->can;
    entry->fp_meaning = filter->fp_meaning;
    bool feature = !(filter->needs.what & VIDI__NEED_FEATURE) || vidi__url_feature(filter->needs.feature);
    int code = feature ? VIDI_OK : vidi__url_feature_unknown(filter->needs.feature);
    vidi__filter_destroy(filter);
    return code;
}

/* What the kind makes of the numbers of a request, with the user's parameters. */
static int ask_kind(const vidi__kind *kind, const vidi__want *want, const char *user, vidi__planned *planned)
{
    vidi__params params;
    vidi__want own = *want;
    own.params = &params;
    memset(planned, 0, sizeof *planned);
    VIDI__TRY(vidi__params_parse(&params, user));
    return kind->plan(&own, planned);
}

/* Neither URLs nor memory are given: the most URLs of which no more pages than allowed are lost at the given rate. */
static int find_urls(const vidi__kind *kind, vidi__want *want, const char *user)
{
    vidi__planned planned;
    vidi__want trial = *want;
    uint64_t low = 0, high = VIDI__PLACES_MAX;
    trial.lost = 0;
    while (high - low > 1) {
        trial.urls = low + (high - low) / 2;
        int code = ask_kind(kind, &trial, user, &planned);
        if (code < 0 && code != VIDI_EOPTION)
            return code;
        if (code == VIDI_OK && planned.lost <= want->lost)
            low = trial.urls;
        else
            high = trial.urls;
    }
    want->urls = low;
    if (!low || low + 1 == VIDI__PLACES_MAX)
        return vidi__fail(VIDI_EOPTION, "%s: the number of URLs does not follow from the request", kind->name);
    return VIDI_OK;
}

static int plan_kind(const vidi__kind *kind, const vidi_plan_request *request, vidi_plan_entry *entry)
{
    const char *user = request->params ? request->params : "";
    vidi__planned planned;
    vidi__want want = {
        .urls = request->urls,
        .memory = request->memory,
        .error = request->error,
        .lost = request->lost,
        .k = request->k,
        .multiplier = request->multiplier,
        .url_bytes = request->url_bytes > 0 ? request->url_bytes : URL_BYTES,
        .members = 1,
    };
    if (!want.urls && !want.memory)
        VIDI__TRY(find_urls(kind, &want, user));
    VIDI__TRY(ask_kind(kind, &want, user, &planned));
    VIDI__TRY(miniature(kind, user, planned.k, entry));
    vidi__text text = vidi__text_in(entry->params, sizeof entry->params);
    vidi__text_add(&text, "%s%s%s", planned.params, *planned.params && *user ? "," : "", user);
    if (text.cut)
        return vidi__fail(VIDI_EOPTION, "the parameters are too long");
    snprintf(entry->kind, sizeof entry->kind, "%s", kind->name);
    entry->urls = planned.urls;
    entry->bytes = planned.bytes;
    entry->bytes_per_url = (double)planned.bytes / (double)planned.urls;
    entry->error = planned.error;
    entry->expected_lost = planned.lost;
    return VIDI_OK;
}

/* An entry with what decides its place. */
typedef struct ranked {
    double first, second;
    vidi_plan_entry entry;
} ranked;

static int compare(const void *a, const void *b)
{
    const ranked *x = a, *y = b;
    if (x->first != y->first)
        return x->first < y->first ? -1 : 1;
    return x->second < y->second ? -1 : x->second > y->second;
}

static void rank(const vidi_plan_request *want, ranked *answer)
{
    const vidi_plan_entry *entry = &answer->entry;
    double bytes = (double)entry->bytes, lost = entry->expected_lost;
    answer->first = !want->memory ? bytes : !want->urls ? -(double)entry->urls : lost;
    answer->second = want->memory ? bytes : lost;
}

int vidi_plan(const vidi_plan_request *want, vidi_plan_entry *plans, size_t *n)
{
    vidi_plan_request mine;
    ranked answers[KINDS_MAX];
    size_t count = 0;
    if (!want || !n || (*n && !plans))
        return vidi__fail(VIDI_EARGUMENT, "want, plans or n is NULL");
    VIDI__TRY(vidi__struct_in(&mine, sizeof mine, want, "vidi_plan_request"));
    VIDI__TRY(check_request(&mine));
    size_t stride = mine.entry_size ? mine.entry_size : ENTRY_SIZE;
    vidi_str name = {mine.kind, mine.kind ? strlen(mine.kind) : 0};
    if (mine.kind && !vidi__kind_find(name))
        return vidi__kind_unknown(name);
    char reason[256] = "", before[512]; /* kinds that cannot serve are no failure of the call */
    snprintf(before, sizeof before, "%s", vidi_message());
    for (size_t i = 0; vidi__kind_at(i); i++) {
        if (mine.kind && vidi__kind_at(i) != vidi__kind_find(name))
            continue;
        int code = plan_kind(vidi__kind_at(i), &mine, &answers[count].entry);
        if (code == VIDI_OK)
            rank(&mine, &answers[count++]);
        else if (code != VIDI_EOPTION)
            return code;
        else if (!*reason) /* the first one's: the kinds that plan with all the numbers come first */
            snprintf(reason, sizeof reason, "%s", vidi_message());
    }
    if (!count)
        return vidi__fail(VIDI_EOPTION, "%s%s", mine.kind ? "" : "no kind can serve: ", reason);
    vidi__fail(VIDI_OK, "%s", before);
    qsort(answers, count, sizeof answers[0], compare);
    if (*n > count)
        *n = count;
    for (size_t i = 0; i < *n; i++)
        memcpy((char *)plans + i * stride, &answers[i].entry, stride < ENTRY_SIZE ? stride : ENTRY_SIZE);
    return VIDI_OK;
}
