/*
 * Plans of cluster sets. See plan.h.
 */
#include "plan.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "message.h"

enum { TRIAL_URLS = 1000000 };
#define SHARD_BYTES (UINT64_C(8) << 20)

uint64_t plan_share(uint64_t urls, uint32_t shards)
{
    double mean = (double)urls / shards;
    return shards == 1 ? urls : (uint64_t)ceil(mean + 6 * sqrt(mean));
}

/* ---- the record ---- */

static int draw(void *bytes, size_t n)
{
    if (getrandom(bytes, n, 0) != (ssize_t)n)
        return cluster_fail(VIDI_ESYSTEM, "the operating system gave no random numbers for the set's secrets");
    return VIDI_OK;
}

/* The options that count, which may come from an older and shorter struct. */
static int read_options(vidi_options *options, const vidi_options *given)
{
    *options = (vidi_options)VIDI_OPTIONS_INIT;
    if (!given)
        return VIDI_OK;
    if (given->size < sizeof given->size)
        return cluster_fail(VIDI_EARGUMENT, "vidi_options.size is not set: begin with VIDI_OPTIONS_INIT");
    memcpy(options, given, given->size < sizeof *options ? given->size : sizeof *options);
    options->size = sizeof *options;
    if (options->like || options->key_from || options->path || options->access || options->member)
        return cluster_fail(VIDI_EOPTION, "like, key_from, path, access and member are not for a set over a cluster");
    if (options->tracking)
        return cluster_fail(VIDI_ECANNOT, "a set over a cluster cannot have a list of tracking parameters of its own: "
                                          "the servers do not know it");
    return VIDI_OK;
}

/* A shard in memory, which takes room only for what is added. It is small: what this machine can hold does not matter. */
static int make_trial(vidi_set **set, const vidi_options *options)
{
    vidi_options trial = *options;
    vidi_access access = VIDI_ACCESS_INIT;
    access.flags = VIDI_TOUCH_LATER;
    trial.capacity = options->capacity < TRIAL_URLS ? options->capacity : TRIAL_URLS;
    trial.access = &access;
    int code = vidi_create(set, &trial);
    return code == VIDI_OK ? code : cluster_fail_as_set(code);
}

static bool plan_bytes(const vidi_stats *trial, const char *params, uint64_t urls, double error, uint64_t *bytes)
{
    vidi_plan_request want = VIDI_PLAN_REQUEST_INIT;
    vidi_plan_entry plan;
    size_t count = 1;
    want.kind = trial->kind;
    want.params = params;
    want.urls = urls;
    want.error = error;
    bool good = vidi_plan(&want, &plan, &count) == VIDI_OK && count;
    *bytes = good ? plan.bytes : 0;
    return good;
}

/*
 * Bytes of the whole set when it is full. Plans do not take all parameters. Of a kind that grows, those that are in force
 * say how large a URL is; for others, those that were given, if any, may say how many bits it sets.
 */
static uint64_t planned_bytes(const vidi_options *options, const vidi_stats *trial)
{
    uint64_t bytes, urls = options->capacity;
    double error = options->error > 0 ? options->error : 1e-6;
    if (!(trial->can & VIDI_CAN_GROW) || !plan_bytes(trial, trial->params, urls, 0, &bytes))
        if (!plan_bytes(trial, options->params, urls, error, &bytes))
            (void)plan_bytes(trial, NULL, urls, error, &bytes);
    return bytes;
}

static uint32_t choose_shards(const vidi_options *options, const vidi_stats *trial, uint32_t without)
{
    uint64_t bytes = options->capacity ? planned_bytes(options, trial) : 0, shards = bytes / SHARD_BYTES + 1;
    if (!bytes)
        return without;
    return shards < RECORD_SHARDS ? (uint32_t)shards : RECORD_SHARDS;
}

/* Copies what the set in memory says of itself, so that later versions with other defaults make the same shards. */
static int take_names(record *record, const vidi_options *options, const vidi_stats *trial)
{
    const char *params = options->params ? options->params : "";
    if (strlen(params) >= sizeof record->params)
        return cluster_fail(VIDI_EOPTION, "the parameters have more than %zu characters", sizeof record->params - 1);
    memcpy(record->params, params, strlen(params) + 1);
    snprintf(record->kind, sizeof record->kind, "%s", trial->kind);
    snprintf(record->canon, sizeof record->canon, "%s", trial->canon);
    return VIDI_OK;
}

static int check_text(const record *record)
{
    char text[RECORD_ROOM];
    const char *wrong;
    struct record again;
    size_t len = set_record_write(record, text);
    bool good = set_record_read(&again, (vidi_str){text, len}, &wrong);
    return good ? VIDI_OK : cluster_fail(VIDI_EOPTION, "the options cannot be written down: %s", wrong);
}

static int take_secrets(record *record, const unsigned char *key)
{
    CLUSTER_TRY(draw(record->route, sizeof record->route));
    CLUSTER_TRY(draw(record->key, sizeof record->key));
    if (key)
        memcpy(record->key, key, sizeof record->key);
    do
        CLUSTER_TRY(draw(&record->id, sizeof record->id));
    while (!record->id);
    return VIDI_OK;
}

int plan_record(record *record, const vidi_options *options, uint32_t shards, uint32_t without)
{
    vidi_options wanted;
    vidi_set *set;
    vidi_stats trial = {.size = sizeof trial};
    if (shards > RECORD_SHARDS)
        return cluster_fail(VIDI_EOPTION, "a set has at most %d shards", RECORD_SHARDS);
    CLUSTER_TRY(read_options(&wanted, options));
    CLUSTER_TRY(make_trial(&set, &wanted));
    int code = vidi_stat(set, &trial);
    vidi_close(set);
    if (code != VIDI_OK)
        return cluster_fail_as_set(code);
    *record = (struct record){
        .shards = shards ? shards : choose_shards(&wanted, &trial, without),
        .capacity = wanted.capacity,
        .error = wanted.error,
        .headroom = wanted.headroom,
        .flags = wanted.flags,
    };
    CLUSTER_TRY(take_names(record, &wanted, &trial));
    CLUSTER_TRY(take_secrets(record, wanted.key));
    return check_text(record);
}

/* ---- VIDI.RESERVE ---- */

static void add_pair(plan_words *words, const char *name, const char *text)
{
    words->words[words->count++] = (vidi_str){name, strlen(name)};
    words->words[words->count++] = (vidi_str){text, strlen(text)};
}

static void add_params(plan_words *words, const char *params)
{
    while (*params) {
        size_t len = strcspn(params, ","), name = strcspn(params, "=,");
        size_t value = name < len ? name + 1 : len;
        if (len) {
            words->words[words->count++] = WORD("PARAM");
            words->words[words->count++] = (vidi_str){params, name};
            words->words[words->count++] = (vidi_str){params + value, len - value};
        }
        params += len + (params[len] == ',');
    }
}

void plan_reserve(plan_words *words, const record *record)
{
    words->count = 0;
    set_print_hex(record->key, sizeof record->key, words->key);
    add_pair(words, "KEY", words->key);
    add_pair(words, "KIND", record->kind);
    add_pair(words, "CANON", record->canon);
    if (record->capacity) {
        snprintf(words->capacity, sizeof words->capacity, "%" PRIu64, plan_share(record->capacity, record->shards));
        add_pair(words, "CAPACITY", words->capacity);
    }
    if (record->error > 0) {
        set_print_real(record->error, words->error);
        add_pair(words, "ERROR", words->error);
    }
    add_params(words, record->params);
}
