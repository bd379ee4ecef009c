/*
 * The planner: asks every kind for a plan and puts the answers in order, the best first. The mathematics belong to the
 * kinds (most use lib/filters/bloom.h); the order is the planner's alone and does not depend on the list of kinds.
 *
 * Parameters are checked by making a small filter with them, so a plan never proposes what vidi_create would refuse.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "filters/bloom.h"
#include "set/set.h"

#define URL_BYTES 80   /* average length of a URL, unless the request says otherwise */
#define MINIATURE 1000 /* URLs that the small filter is made for */
#define KINDS_MAX 64   /* there are eleven */
#define LOST_DEFAULT 1 /* pages lost at most, if the request neither limits nor determines the losses */
#define CACHED 1048576 /* smaller sets lie in the processor's cache, and saving more memory gains nothing */
#define MESSAGE_ROOM 512

/* Size of vidi_plan_entry in version 0.1. Programs rely on it by passing entry_size 0: new fields go after `can`. */
#define ENTRY_SIZE 592

_Static_assert(offsetof(vidi_plan_entry, can) + sizeof(uint32_t) == ENTRY_SIZE,
               "the fields of version 0.1 keep their places");
_Static_assert(VIDI__USER_PARAMS_MAX == VIDI_PARAMS_ROOM, "what a plan can name, vidi_create can take");

/* ---- the request ---- */

static int check_numbers(const vidi_plan_request *want)
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
    if (want->exact > 1)
        return vidi__fail(VIDI_EOPTION, "exact must be 0 or 1, not %u", want->exact);
    if (want->urls > VIDI__PLACES_MAX || want->memory > VIDI__PLACES_MAX)
        return vidi__fail(VIDI_EOPTION, "2^48 is the most for the number of URLs and for the bytes of memory");
    return VIDI_OK;
}

static int check_request(const vidi_plan_request *want)
{
    VIDI__TRY(check_numbers(want));
    bool rate = want->error > 0 || (want->k && want->multiplier > 0);
    if (!want->urls && !want->memory && !(want->lost > 0 && rate))
        return vidi__fail(VIDI_EOPTION,
                          "the request says too little: give the number of URLs or the memory, or pages lost "
                          "together with an error rate or k and M");
    if (want->params && !want->kind)
        return vidi__fail(VIDI_EOPTION, "parameters belong to a kind; name the kind too");
    if (want->entry_size > 65536)
        return vidi__fail(VIDI_EARGUMENT, "entry_size must be sizeof(vidi_plan_entry)");
    return VIDI_OK;
}

/* Returns true if the numbers determine how many pages are lost, without any limit of losses. */
static bool determines_losses(const vidi_plan_request *want)
{
    return (want->urls && want->memory) || (want->k && want->multiplier > 0);
}

static bool limits_losses(const vidi_plan_request *want)
{
    return want->error > 0 || want->lost > 0 || want->exact || !determines_losses(want);
}

/* ---- one kind ---- */

/*
 * Checks the user's parameters by making a small filter with them, and with the k of the plan. The filter also tells
 * what a set of this kind can do.
 */
static int try_params(const vidi__kind *kind, const vidi_plan_request *request, unsigned k, vidi_plan_entry *entry)
{
    char room[VIDI_PARAMS_ROOM];
    vidi__memory memory;
    vidi__params params;
    vidi__filter *filter;
    vidi__config config = {.memory = &memory, .params = &params, .capacity = MINIATURE};
    vidi__text text = vidi__text_in(room, sizeof room);
    if (k)
        vidi__text_add(&text, "k=%u,", k);
    vidi__text_add(&text, "%s", request->params ? request->params : "");
    if (text.cut)
        return vidi__fail(VIDI_EOPTION, "the parameters are too long");
    VIDI__TRY(vidi__memory_init(&memory, request->allocator, 0));
    VIDI__TRY(vidi__params_parse(&params, room));
    VIDI__TRY(vidi__positions_item_hash(&params, &config.item_hash));
    VIDI__TRY(vidi__filter_create(&filter, kind, &config));
    entry->can = vidi__filter_can(filter);
    entry->fp_meaning = filter->fp_meaning;
    bool feature = !(filter->needs.what & VIDI__NEED_FEATURE) || vidi__url_feature(filter->needs.feature);
    int code = feature ? VIDI_OK : vidi__url_feature_unknown(filter->needs.feature);
    vidi__filter_destroy(filter);
    return code;
}

/* A parameter that the plan determines cannot be the user's, too. */
static int check_apart(const vidi__params *planned, const vidi__params *user)
{
    for (size_t i = 0; i < planned->count; i++)
        for (size_t j = 0; j < user->count; j++) {
            vidi_str a = planned->list[i].name, b = user->list[j].name;
            if (a.len == b.len && memcmp(a.ptr, b.ptr, a.len) == 0)
                return vidi__fail(VIDI_EOPTION, "'%.*s' follows from the plan; leave it out of the parameters",
                                  VIDI__QUOTE(a));
        }
    return VIDI_OK;
}

/* The parameters to make the set with: the plan's and then the user's. */
static int join_params(const char *planned, const char *user, vidi_plan_entry *entry)
{
    vidi__params first, second;
    VIDI__TRY(vidi__params_parse(&first, planned));
    VIDI__TRY(vidi__params_parse(&second, user));
    VIDI__TRY(check_apart(&first, &second));
    vidi__text text = vidi__text_in(entry->params, sizeof entry->params);
    vidi__text_add(&text, "%s%s%s", planned, *planned && *user ? "," : "", user);
    if (text.cut)
        return vidi__fail(VIDI_EOPTION,
                          "the parameters of the plan are too long: all of them together may have %d "
                          "characters",
                          VIDI_PARAMS_ROOM - 1);
    return VIDI_OK;
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

/* Neither URLs nor memory are given: finds the most URLs of which no more pages than allowed are lost. */
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

/* The kind's plan for the numbers of the request, with the default loss if the kind needs a limit and there is none. */
static int solve(const vidi__kind *kind, const vidi_plan_request *request, const char *user, vidi__planned *planned)
{
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
    bool limited = want.error > 0 || want.lost > 0 || determines_losses(request);
    if (!want.urls && !want.memory)
        VIDI__TRY(find_urls(kind, &want, user));
    int code = ask_kind(kind, &want, user, planned);
    if (code == VIDI_EOPTION && !limited) {
        want.lost = LOST_DEFAULT;
        code = ask_kind(kind, &want, user, planned);
    }
    if (code == VIDI_OK && request->exact && (planned->error > 0 || planned->lost > 0))
        return vidi__fail(VIDI_EOPTION, "%s is not exact: it would lose pages", kind->name);
    return code;
}

static int plan_kind(const vidi__kind *kind, const vidi_plan_request *request, vidi_plan_entry *entry)
{
    const char *user = request->params ? request->params : "";
    vidi__planned planned;
    memset(entry, 0, sizeof *entry);
    VIDI__TRY(solve(kind, request, user, &planned));
    VIDI__TRY(join_params(planned.params, user, entry));
    VIDI__TRY(try_params(kind, request, planned.k, entry));
    snprintf(entry->kind, sizeof entry->kind, "%s", kind->name);
    entry->urls = planned.urls;
    entry->bytes = planned.bytes;
    entry->bytes_per_url = (double)planned.bytes / (double)planned.urls;
    entry->error = planned.error;
    entry->expected_lost = fmin(planned.lost, (double)planned.urls); /* a bound may be higher, but not the truth */
    entry->lines_per_url = planned.lines;
    return VIDI_OK;
}

/* ---- all kinds, in order ---- */

typedef struct ranked {
    double cost;
    vidi_plan_entry entry;
} ranked;

/* The order that vidi.h documents. */
static double cost_of(const vidi_plan_request *want, const vidi_plan_entry *entry)
{
    double bytes = fmax((double)entry->bytes, CACHED) / (double)entry->urls;
    double lines = fmax(1, round(entry->lines_per_url));
    return bytes * lines * (limits_losses(want) ? 1 : 1 + entry->expected_lost);
}

/* Ties end with the name, so that the order is complete whatever the order of the list of kinds. */
static int compare(const void *a, const void *b)
{
    const ranked *x = a, *y = b;
    const uint32_t abilities =
        ~(uint32_t)(VIDI_STORES_EVERY_ADD | VIDI_KEEPS_URLS); /* these are neither better nor worse */
    int more = __builtin_popcount(y->entry.can & abilities) - __builtin_popcount(x->entry.can & abilities);
    if (x->cost != y->cost)
        return x->cost < y->cost ? -1 : 1;
    if (more)
        return more;
    if (x->entry.bytes != y->entry.bytes)
        return x->entry.bytes < y->entry.bytes ? -1 : 1;
    return strcmp(x->entry.kind, y->entry.kind);
}

/* Plans of all kinds that can serve, or of the one that is asked for; those that cannot are no failure of the call. */
static int plan_all(const vidi_plan_request *want, ranked *answers, size_t *count)
{
    const vidi__kind *kind;
    *count = 0;
    for (size_t i = 0; (kind = vidi__kind_at(i)) != NULL && *count < KINDS_MAX; i++) {
        if (want->kind && strcmp(want->kind, kind->name) != 0)
            continue;
        int code = plan_kind(kind, want, &answers[*count].entry);
        if (code == VIDI_OK) {
            answers[*count].cost = cost_of(want, &answers[*count].entry);
            ++*count;
        } else if (code != VIDI_EOPTION || want->kind) {
            return code;
        }
    }
    return *count ? VIDI_OK
                  : vidi__fail(VIDI_EOPTION, "no kind can serve: allow more memory, more losses or fewer URLs, or name "
                                             "a kind to learn its reason");
}

/* Entries of the caller's size: fields that only the caller knows become zero. */
static void copy_entry(char *to, size_t size, const vidi_plan_entry *entry)
{
    memset(to, 0, size);
    memcpy(to, entry, size < sizeof *entry ? size : sizeof *entry);
}

int vidi_plan(const vidi_plan_request *want, vidi_plan_entry *plans, size_t *n)
{
    vidi_plan_request mine;
    ranked answers[KINDS_MAX];
    char before[MESSAGE_ROOM]; /* a call that succeeds leaves the last message as it was */
    size_t count;
    if (!want || !n || (*n && !plans))
        return vidi__fail(VIDI_EARGUMENT, "want, plans or n is NULL");
    VIDI__TRY(vidi__struct_in(&mine, sizeof mine, want, "vidi_plan_request"));
    VIDI__TRY(check_request(&mine));
    vidi_str name = {mine.kind, mine.kind ? strlen(mine.kind) : 0};
    if (mine.kind && !vidi__kind_find(name))
        return vidi__kind_unknown(name);
    snprintf(before, sizeof before, "%s", vidi_message());
    VIDI__TRY(plan_all(&mine, answers, &count));
    vidi__fail(VIDI_OK, "%s", before);
    qsort(answers, count, sizeof answers[0], compare);
    size_t size = mine.entry_size ? mine.entry_size : ENTRY_SIZE;
    if (*n > count)
        *n = count;
    for (size_t i = 0; i < *n; i++)
        copy_entry((char *)plans + i * size, size, &answers[i].entry);
    return VIDI_OK;
}
