/*
 * Sets from options: see set_options.h. Options that say how to make a set have no effect on a state that exists
 * already, so the same command line can be used again and again. But a kind or a canonical form that differs is an
 * error.
 */
#include "pipeline/options/set_options.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pipeline/options/canon_options.h"
#include "pipeline/state.h"
#include "ui/options.h"
#include "vidi/url.h"

enum { PLANS = 64 };

#define WORST_ERROR 0.25 /* a plan that loses more pages when the set is full was hardly meant */

/* ---- options that exclude each other ---- */

static int check_like(const cli_set_options *options)
{
    if (!options->like)
        return CLI_OK;
    if (!options->state)
        return cli_error("--like needs --state, the state to create");
    if (options->kind || options->params || options->canon || options->key || options->capacity || options->error > 0)
        return cli_error("--like takes kind, size and canonical form from %s; leave out --kind, --param, --capacity, "
                         "--error, --canon and --key",
                         options->like);
    return CLI_OK;
}

static int check_key(const cli_set_options *options)
{
    const char *name = options->key_file ? "--key-file" : "--key-from";

    if (!options->key_file && !options->key_from)
        return CLI_OK;
    if (!options->state)
        return cli_error("%s needs --state, the state to create", name);
    if (options->like || (options->key_file && options->key_from))
        return cli_error("--like, --key-file and --key-from exclude each other: each decides the key");
    return CLI_OK;
}

static int check(const cli_set_options *options)
{
    if (options->epoch && strcmp(options->epoch, "new") != 0)
        return cli_error("--epoch is 'new', not '%s'", options->epoch);
    if (options->epoch && !options->state)
        return cli_error("--epoch new needs --state, the set that begins a new epoch");
    if (options->epoch && options->dry_run)
        return cli_error("--epoch new and --dry-run exclude each other");
    if (options->wait && !options->state)
        return cli_error("--wait needs --state, the state to wait for");
    if (options->wait && options->dry_run)
        return cli_error("--wait and --dry-run exclude each other: a dry run locks nothing");
    if (options->sync && !options->state)
        return cli_error("--sync needs --state: there is nothing to sync in memory");
    if (options->counts && options->state)
        return cli_error("--count and --state exclude each other: a state does not keep lines");
    if (options->key && options->canon)
        return cli_error("--key and --canon exclude each other: --key host is --canon key=host");
    return check_key(options) == CLI_OK ? check_like(options) : CLI_ERROR;
}

/* ---- values of options ---- */

/* --key as a canonical form; NULL: the default. */
static int canon_of(const cli_set_options *options, const char **canon)
{
    static const char *const words[] = {"url", "host", "site", NULL}, *const forms[] = {NULL, "key=host", "key=site"};
    uint32_t place;

    CLI_TRY(cli_option_choose("key", options->key, words, &place));
    *canon = place > 0 ? forms[place] : options->canon;
    return CLI_OK;
}

/* How the set is used, but for its memory: --sync and --invalid. */
static int access_of(const cli_set_options *options, vidi_access *access)
{
    static const char *const words[] = {"everysec", "always", "never", NULL};
    static const uint32_t policies[] = {VIDI_SYNC_EVERY_SECOND, VIDI_SYNC_ALWAYS, VIDI_SYNC_NEVER};
    uint32_t place;

    access->flags = VIDI_MANUAL_COMMIT | (options->accepts ? VIDI_ACCEPT_DAMAGE : 0);
    CLI_TRY(cli_option_choose("sync", options->sync, words, &place));
    access->sync = policies[place];
    return cli_invalid_parse(options->invalid, &access->invalid);
}

/* ---- the planner ---- */

const vidi_plan_entry *cli_plan_choice(const vidi_plan_request *want, const vidi_plan_entry *plans, size_t n)
{
    bool limited = want->error > 0 || want->lost > 0;

    return n > 0 && (limited || plans[0].error <= WORST_ERROR) ? &plans[0] : NULL;
}

/*
 * Returns true if the options say what the set is for, so the planner chooses kind and parameters. --memory alone is a
 * limit, and --lost alone a budget. --capacity and --error make a set of the --kind that is given; without one they are
 * a task for the planner, too.
 */
bool cli_set_is_planned(const cli_set_options *options)
{
    bool lost = options->lost >= 0, error = options->error > 0;

    if (options->counts)
        return false;
    if (options->capacity)
        return lost || options->memory || (error && !options->kind && !options->params);
    return options->memory && (lost || error);
}

void cli_set_request(const cli_set_options *options, vidi_plan_request *want)
{
    *want = (vidi_plan_request)VIDI_PLAN_REQUEST_INIT;
    want->kind = options->kind;
    want->params = options->params;
    want->urls = options->capacity;
    want->memory = options->memory;
    want->error = options->error;
    want->lost = options->lost > 0 ? options->lost : 0;
    want->exact = options->lost == 0;
}

static int plan(const cli_set_options *options, vidi_options *set, vidi_access *access, vidi_plan_entry *chosen)
{
    vidi_plan_request want;
    vidi_plan_entry plans[PLANS];
    size_t n = PLANS;

    access->memory_limit = options->memory;
    if (!cli_set_is_planned(options))
        return CLI_OK;
    cli_set_request(options, &want);
    int error = vidi_plan(&want, plans, &n);
    if (error < 0)
        return cli_error("%s; 'vidi plan' shows what is possible", vidi_message());
    const vidi_plan_entry *best = cli_plan_choice(&want, plans, n);
    if (!best)
        return cli_error(
            "with so little memory, about %.0f %% of the pages would be lost when the set is full; give more "
            "--memory, or a smaller --capacity",
            100 * plans[0].error);
    *chosen = *best;
    set->kind = chosen->kind;
    set->params = chosen->params;
    set->capacity = 0; /* the parameters contain it, and the error rate */
    set->error = 0;
    access->memory_limit = 0; /* the plan fits, except for what a batch takes for a moment */
    return CLI_OK;
}

/* ---- creating ---- */

static int counts_exactly(const vidi_set *set)
{
    vidi_stats stats = {.size = sizeof stats};
    CLI_TRY(cli_library_status(vidi_stat(set, &stats)));
    const uint32_t needs = VIDI_CAN_COUNT | VIDI_CAN_ITERATE | VIDI_KEEPS_URLS | VIDI_STORES_EVERY_ADD;
    if ((stats.can & needs) != needs || stats.fp_now > 0)
        return cli_error("--count needs a set that keeps every URL and counts: leave out --kind, or give --kind "
                         "hashset --param multiset=on");
    return CLI_OK;
}

int cli_set_describe_alone(const cli_set_options *options, const char *tracking, vidi_options *set)
{
    set->kind = options->kind;
    set->params = options->params;
    set->capacity = options->capacity;
    set->error = options->error;
    set->tracking = tracking;
    if (options->counts && !options->kind) {
        if (options->params)
            return cli_error("--count chooses the kind, so --param needs --kind too");
        set->kind = "hashset";
        set->params = "multiset=on";
    }
    return canon_of(options, &set->canon);
}

int cli_set_describe(const cli_set_options *options, const char *tracking, vidi_options *set, vidi_access *access,
                     vidi_plan_entry *chosen)
{
    CLI_TRY(cli_set_describe_alone(options, tracking, set));
    CLI_TRY(access_of(options, access));
    return plan(options, set, access, chosen);
}

/* What a new set takes from elsewhere. */
typedef struct cli_models {
    vidi_set *like, *key_from; /* NULL: not given */
    bool has_key;
    unsigned char key[VIDI_KEY_BYTES];
} cli_models;

static const cli_models nothing;

bool cli_key_read(const char *path, unsigned char key[VIDI_KEY_BYTES])
{
    char text[2 * VIDI_KEY_BYTES + 2];
    FILE *file = fopen(path, "re");

    if (!file)
        return false;
    size_t size = fread(text, 1, sizeof text, file);
    fclose(file);
    bool good = size == 2 * VIDI_KEY_BYTES || (size == 2 * VIDI_KEY_BYTES + 1 && text[size - 1] == '\n');
    for (size_t i = 0; good && i < VIDI_KEY_BYTES; i++) {
        char digits[3] = {text[2 * i], text[2 * i + 1], 0};
        good = isxdigit((unsigned char)digits[0]) && isxdigit((unsigned char)digits[1]);
        key[i] = (unsigned char)strtoul(digits, NULL, 16);
    }
    errno = good ? errno : 0;
    return good;
}

int cli_key_take(const char *path, unsigned char key[VIDI_KEY_BYTES])
{
    if (cli_key_read(path, key))
        return CLI_OK;
    if (errno)
        return cli_error("cannot read %s: %s", path, strerror(errno));
    return cli_error("%s is not a key: it must have %d hexadecimal digits, as 'openssl rand -hex %d' prints", path,
                     2 * VIDI_KEY_BYTES, VIDI_KEY_BYTES);
}

/*
 * CLI_OK, CLI_ERROR with a message, or CLI_GO_ON if another process is making a state at that path (*error is
 * VIDI_EBUSY) or has made one (VIDI_EEXIST).
 */
static int create(cli_sets *sets, const cli_set_options *options, const char *path, const cli_models *models,
                  int *error)
{
    vidi_options set = VIDI_OPTIONS_INIT;
    vidi_access access = VIDI_ACCESS_INIT;
    vidi_plan_entry chosen;

    if (cli_set_describe(options, models->like ? NULL : sets->tracking, &set, &access, &chosen) != CLI_OK)
        return CLI_ERROR;
    set.path = path;
    set.like = models->like;
    set.key = models->has_key ? models->key : NULL;
    set.key_from = models->key_from;
    set.access = &access;
    *error = vidi_create(&sets->target.here, &set);
    if (*error == VIDI_EBUSY || *error == VIDI_EEXIST)
        return CLI_GO_ON;
    if (*error < 0)
        return path ? cli_state_error(path, *error) : cli_library_error(*error);
    return options->counts ? counts_exactly(sets->target.here) : CLI_OK;
}

/* ---- states ---- */

int cli_state_ask(vidi_set **set, const char *path, const char *invalid)
{
    cli_opening reading = {.flags = VIDI_READ_ONLY};

    *set = NULL;
    CLI_TRY(cli_invalid_parse(invalid, &reading.invalid));
    return cli_state_open(set, path, &reading);
}

int cli_set_check_stats(const vidi_stats *stats, const cli_set_options *options, const char *tracking)
{
    cli_shown shown;
    const char *canon, *path = cli_shown_path(&shown, options->state);
    vidi_canon *form;

    if (options->kind && strcmp(options->kind, stats->kind) != 0)
        return cli_error("%s is of kind %s, not %s; leave out --kind, or name another --state", path, stats->kind,
                         options->kind);
    CLI_TRY(canon_of(options, &canon));
    if (!canon && !tracking)
        return CLI_OK;
    int error = vidi_canon_create(&form, canon, tracking, NULL);
    if (error < 0)
        return cli_library_error(error);
    bool same = strcmp(vidi_canon_name(form), stats->canon) == 0;
    int status = same ? CLI_OK
                      : cli_error("%s has the canonical form %s, not %s; leave out --canon, or name another --state",
                                  path, stats->canon, vidi_canon_name(form));
    vidi_canon_close(form);
    return status;
}

int cli_set_check(const vidi_set *state, const cli_set_options *options, const char *tracking)
{
    vidi_stats stats = {.size = sizeof stats};
    int error = vidi_stat(state, &stats);

    return error < 0 ? cli_library_error(error) : cli_set_check_stats(&stats, options, tracking);
}

static int create_state(cli_sets *sets, const cli_set_options *options, int *error)
{
    cli_models models = {.has_key = options->key_file != NULL};
    int status = models.has_key ? cli_key_take(options->key_file, models.key) : CLI_OK;

    if (status == CLI_OK && options->like)
        status = cli_state_ask(&models.like, options->like, NULL);
    if (status == CLI_OK && options->key_from)
        status = cli_state_ask(&models.key_from, options->key_from, NULL);
    if (status == CLI_OK)
        status = create(sets, options, options->state, &models, error);
    vidi_close(models.like);
    vidi_close(models.key_from);
    return status;
}

/* Returns true for the name of a file that an interrupted creation of a state can leave behind. */
static bool is_remains(const char *name)
{
    size_t length = strlen(name);

    return strcmp(name, "lock") == 0 || strcmp(name, "manifest") == 0 || strcmp(name, "manifest.new") == 0 ||
           strncmp(name, "log.", 4) == 0 ||
           (strncmp(name, "set.", 4) == 0 && length > 4 && strcmp(name + length - 4, ".new") == 0);
}

/*
 * A state may be made where there is nothing, or in a folder that holds nothing but such files. Must be called before
 * the state is opened: a state that another process makes in between is then found by opening it.
 */
static bool is_vacant(const char *path)
{
    DIR *folder = opendir(path);
    const struct dirent *entry;
    bool bare = folder || errno == ENOENT;

    while (folder && bare && (entry = readdir(folder)) != NULL)
        bare = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 || is_remains(entry->d_name);
    if (folder)
        closedir(folder);
    return bare;
}

static int not_vacant(const char *path)
{
    return cli_error("%s is not a vidi set, and other files are in it; name another --state", path);
}

/* Checks that an existing state fits the options, and begins its next epoch if that was asked for. */
static int take_state(cli_sets *sets, const cli_set_options *options)
{
    vidi_set *set = sets->target.here;
    int status = cli_set_check(set, options, sets->tracking);

    cli_state_warn_of_damage(set, options->state);
    if (status == CLI_OK)
        cli_warn_no_effect(options, set);
    if (status != CLI_OK || !options->epoch)
        return status;
    int error = vidi_rotate(set, NULL);
    return error < 0 ? cli_state_error(options->state, error) : CLI_OK;
}

/* Opens the state, or creates it. CLI_OK, CLI_ERROR with a message, or CLI_GO_ON if it is locked. */
static int try_state(cli_sets *sets, const cli_set_options *options, const vidi_access *access)
{
    int made = VIDI_OK, status = CLI_OK;

    do {
        bool vacant = is_vacant(options->state) && made != VIDI_EEXIST;
        int error = vidi_open(&sets->target.here, options->state, access);
        if (error == VIDI_EBUSY)
            return CLI_GO_ON;
        if (error == VIDI_EFORMAT)
            return cli_error("%s: %s; look closer with 'vidi check', or name another --state", options->state,
                             vidi_message());
        if (error == VIDI_ELIMIT && options->memory)
            return cli_error("%s: %s; it needs a larger --memory", options->state, vidi_message());
        if (error != VIDI_EABSENT)
            return error < 0 ? cli_state_error(options->state, error) : take_state(sets, options);
        status = vacant ? create_state(sets, options, &made) : not_vacant(options->state);
    } while (status == CLI_GO_ON && made == VIDI_EEXIST); /* another process has just made it, so it can be opened */
    return status;
}

static int open_state(cli_sets *sets, const cli_set_options *options)
{
    vidi_access access = VIDI_ACCESS_INIT;
    bool told = false;
    int status;

    sets->durable = true;
    CLI_TRY(access_of(options, &access));
    access.memory_limit = cli_set_is_planned(options) ? 0 : options->memory;
    while ((status = try_state(sets, options, &access)) == CLI_GO_ON) {
        status = cli_state_locked(options->state, options->wait, &told,
                                  "look at it with --dry-run or 'vidi has', or wait for it with --wait");
        if (status != CLI_GO_ON)
            break;
    }
    return status;
}

/*
 * A dry run: the state is opened for lookups only, so another process may be writing to it. The URLs of this run go
 * into a second set, in memory.
 */
static int open_dry(cli_sets *sets, const cli_set_options *options)
{
    vidi_access reading = VIDI_ACCESS_INIT;
    vidi_set **also = &sets->also.here;
    vidi_stats stats = {.size = sizeof stats};

    reading.flags = VIDI_READ_ONLY;
    CLI_TRY(cli_invalid_parse(options->invalid, &reading.invalid));
    bool vacant = is_vacant(options->state);
    int error = vidi_open(also, options->state, &reading);
    if (error == VIDI_EABSENT)
        return vacant ? create(sets, options, NULL, &nothing, &error) : not_vacant(options->state);
    if (error < 0)
        return cli_state_error(options->state, error);
    cli_state_warn_of_damage(*also, options->state);
    CLI_TRY(cli_set_check(*also, options, sets->tracking));
    cli_warn_no_effect(options, *also);
    if ((error = vidi_stat(*also, &stats)) < 0)
        return cli_library_error(error);
    return cli_sets_create_beside(sets, stats.canon, reading.invalid);
}

int cli_sets_create_beside(cli_sets *sets, const char *canon, uint32_t invalid)
{
    vidi_options beside = VIDI_OPTIONS_INIT;
    vidi_access access = VIDI_ACCESS_INIT;

    access.invalid = invalid;
    beside.canon = canon;
    beside.tracking = sets->tracking;
    beside.access = &access;
    return cli_library_status(vidi_create(&sets->target.here, &beside));
}

int cli_set_create(vidi_set **set, const cli_set_options *options)
{
    cli_sets sets = {0};
    int error = VIDI_OK, status = check(options);

    *set = NULL;
    if (status == CLI_OK)
        status = cli_state_check_folder(options->state);
    if (status == CLI_OK)
        status = cli_tracking_read(options->tracking, &sets.tracking);
    if (status == CLI_OK)
        status = create_state(&sets, options, &error);
    if (status == CLI_GO_ON)
        status = cli_state_error(options->state, error);
    if (status == CLI_OK) {
        *set = sets.target.here;
        sets.target.here = NULL;
    }
    cli_sets_close(&sets);
    return status;
}

int cli_sets_open(cli_sets *sets, const cli_set_options *options)
{
    *sets = (cli_sets){0};
    CLI_TRY(check(options));
    CLI_TRY(cli_tracking_read(options->tracking, &sets->tracking));
    CLI_TRY(cli_server_check(options->state, &options->server));
    if (!options->state)
        return create(sets, options, NULL, &nothing, &(int){0});
    if (cli_is_address(options->state))
        return cli_sets_open_server(sets, options);
    CLI_TRY(cli_state_check_folder(options->state));
    return options->dry_run ? open_dry(sets, options) : open_state(sets, options);
}

void cli_sets_close(cli_sets *sets)
{
    cli_target_close(&sets->target);
    cli_target_close(&sets->also);
    free(sets->tracking);
    *sets = (cli_sets){0};
}
