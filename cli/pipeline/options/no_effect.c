/*
 * Options without effect: see set_options.h. A state keeps the size, the error rate and the parameters that it was made
 * with. A command line that is used again and again must not warn every time, so it warns of an option only if the
 * state was made with something else.
 *
 * A state does not store the error rate it was made for. But its parameters follow from that: if the planner wants more
 * bits for what is asked now than the state has, then it was made for a higher error rate.
 */
#include <stdlib.h>
#include <string.h>

#include "pipeline/options/set_options.h"
#include "ui/output.h"
#include "vidi/transfer.h"

#define HINT " does not change that; %s"

/* What can change it. */
static const char *remedy(const cli_set_options *options)
{
    return options->fixed ? "only a new --state can" : "'vidi rotate' can, for the next epoch";
}

/* The next parameter of a list like "m=100,k=3"; NULL after the last. */
static const char *next_param(const char *param)
{
    const char *comma = strchr(param, ',');
    return comma ? comma + 1 : NULL;
}

/* Where the value of a parameter begins in the list; NULL if it is not in the list. */
static const char *find_param(const char *params, const char *name, size_t length)
{
    for (const char *at = params; at; at = next_param(at))
        if (strncmp(at, name, length) == 0 && at[length] == '=')
            return at + length + 1;
    return NULL;
}

static double number_of(const char *params, const char *name)
{
    const char *value = find_param(params, name, strlen(name));
    return value ? strtod(value, NULL) : 0;
}

/* Returns true if two values, which end at a comma or with the text, are the same word or the same number. */
static bool same_value(const char *a, const char *b)
{
    size_t a_length = strcspn(a, ","), b_length = strcspn(b, ",");
    char *a_end, *b_end;
    double a_number = strtod(a, &a_end), b_number = strtod(b, &b_end);

    if (a_length > 0 && a_end == a + a_length && b_end == b + b_length)
        return a_number == b_number;
    return a_length == b_length && strncmp(a, b, a_length) == 0;
}

/* Exact kinds have no capacity: they take what comes. */
static void warn_capacity(const cli_set_options *options, const vidi_stats *stats)
{
    cli_number urls;
    bool exact = stats->capacity == 0 && stats->fp_now == 0;

    if (!options->capacity || options->capacity == stats->capacity || exact)
        return;
    if (stats->capacity)
        cli_warning("%s was made for %s URLs, and --capacity" HINT, options->state,
                    cli_human_count(&urls, stats->capacity), remedy(options));
    else
        cli_warning("%s was made without --capacity, and giving it now" HINT, options->state, remedy(options));
}

static void warn_params(const cli_set_options *options, const vidi_stats *stats)
{
    for (const char *at = options->params; at; at = next_param(at)) {
        size_t length = strcspn(at, "=");
        const char *had = find_param(stats->params, at, length);
        if (had && !same_value(had, at + length + 1))
            cli_warning("%s has %.*s=%.*s, and --param %.*s" HINT, options->state, (int)length, at,
                        (int)strcspn(had, ","), had, (int)strcspn(at, ","), at, remedy(options));
    }
}

/* Returns true if the options ask for more bits than the state has. */
static bool needs_more(const vidi_plan_request *want, const vidi_stats *stats)
{
    vidi_plan_entry plan;
    size_t n = 1;

    if (vidi_plan(want, &plan, &n) < 0 || n == 0)
        return false;
    double m = number_of(stats->params, "m"), bits = number_of(stats->params, "bits");
    return (m > 0 && number_of(plan.params, "m") > m) || (bits > 0 && number_of(plan.params, "bits") > bits);
}

static void warn_losses(const cli_set_options *options, const vidi_stats *stats)
{
    vidi_plan_request want = VIDI_PLAN_REQUEST_INIT;
    cli_number number;

    want.kind = stats->kind;
    want.urls = stats->capacity ? stats->capacity : options->capacity;
    if (!want.urls || options->memory)
        return;
    want.error = options->error;
    if (want.error > 0 && needs_more(&want, stats))
        cli_warning("%s was made for an error rate of more than %s, and --error" HINT, options->state,
                    cli_human_real(&number, options->error), remedy(options));
    want.error = 0;
    want.lost = options->lost;
    if (want.lost > 0 && needs_more(&want, stats))
        cli_warning("%s was made to lose more than %s pages, and --lost" HINT, options->state,
                    cli_human_real(&number, options->lost), remedy(options));
}

/* Hashes a text under a key or under that of a set. False if it fails. */
static bool hash_under(const unsigned char *key, const vidi_set *key_from, vidi_digest *digest)
{
    vidi_options options = VIDI_OPTIONS_INIT;
    vidi_set *set;
    uint8_t verdict;
    uint64_t epoch;

    options.key = key;
    options.key_from = key_from;
    options.canon = "none";
    if (vidi_create(&set, &options) < 0)
        return false;
    int error = vidi_digest_batch(set, &(vidi_str){"", 0}, 1, digest, &verdict, &epoch);
    vidi_close(set);
    return error == VIDI_OK;
}

/* Returns true if the options name the key that the state has. Keys cannot be compared, but what they make of a text can. */
static bool has_that_key(const cli_set_options *options, const vidi_set *state)
{
    unsigned char key[VIDI_KEY_BYTES];
    vidi_access reading = VIDI_ACCESS_INIT;
    vidi_set *other = NULL;
    vidi_digest had, asked;

    reading.flags = VIDI_READ_ONLY;
    if (options->key_file ? !cli_key_read(options->key_file, key) : vidi_open(&other, options->key_from, &reading) < 0)
        return false;
    bool hashed = hash_under(NULL, state, &had) && hash_under(options->key_file ? key : NULL, other, &asked);
    vidi_close(other);
    return hashed && had.lo == asked.lo && had.hi == asked.hi;
}

static void warn_key(const cli_set_options *options, const vidi_set *state)
{
    if ((options->key_file || options->key_from) && !has_that_key(options, state))
        cli_warning("%s keeps the key that it was made with, and %s" HINT, options->state,
                    options->key_file ? "--key-file" : "--key-from", "only a new --state can");
}

void cli_warn_no_effect(const cli_set_options *options, const vidi_set *state)
{
    vidi_stats stats = {.size = sizeof stats};

    if (vidi_stat(state, &stats) < 0)
        return;
    warn_capacity(options, &stats);
    warn_params(options, &stats);
    warn_losses(options, &stats);
    warn_key(options, state);
}
