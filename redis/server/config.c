/*
 * Configuration and module arguments. See config.h.
 *
 * Arguments after `loadmodule` have RedisBloom's names, so that a line of a configuration file can stay as it is:
 * ERROR_RATE, INITIAL_SIZE, CF_MAX_EXPANSIONS; and bf-compat. They are the defaults of the configuration then.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "words.h"

configuration config = {
    .bf_compat = COMPAT_AUTO,
    .bf_error_rate = 0.01,
    .bf_initial_size = 100,
    .bf_expansion = 2,
    .cf_initial_size = 1024,
    .cf_bucket_size = 2,
    .cf_max_iterations = 20,
    .cf_expansion = 1,
    .cf_max_expansions = 32,
};

static const char *compat_names[] = {"no", "yes", "auto"};
static const int compat_values[] = {COMPAT_NO, COMPAT_YES, COMPAT_AUTO};
enum { COMPAT_COUNT = 3 };

/*
 * What the configuration was before lines of a file were applied. A server applies a default for each name that no line
 * has, and there may be two names for a number: while it does, a default changes nothing.
 */
static configuration before;
static bool is_loading;

/* ---- numbers ---- */

static const struct number {
    const char *name;
    const char *argument; /* its name as an argument of the module; NULL: none */
    long long *place;
    long long least, most;
} numbers[] = {
    {"bf-initial-size", "INITIAL_SIZE", &config.bf_initial_size, 1, INT64_MAX},
    {"bf-expansion-factor", NULL, &config.bf_expansion, 0, 32768},
    {"cf-initial-size", NULL, &config.cf_initial_size, 1, INT64_MAX},
    {"cf-bucket-size", NULL, &config.cf_bucket_size, 1, 255},
    {"cf-max-iterations", NULL, &config.cf_max_iterations, 1, 65535},
    {"cf-expansion-factor", NULL, &config.cf_expansion, 0, 32768},
    {"cf-max-expansions", "CF_MAX_EXPANSIONS", &config.cf_max_expansions, 1, 65535},
};
enum { NUMBERS = sizeof numbers / sizeof *numbers };

static long long get_number(const char *name, void *data)
{
    (void)name;
    return *((const struct number *)data)->place;
}

static int set_number(const char *name, long long number, void *data, server_string **error)
{
    (void)name;
    (void)error;
    long long *place = ((const struct number *)data)->place;
    size_t at = (size_t)((char *)place - (char *)&config);
    if (!is_loading || number != *(long long *)(void *)((char *)&before + at))
        *place = number;
    return SERVER_OK;
}

/* ---- the error rate: the server knows no configuration that is a fraction ---- */

#define RATE_ROOM 40

static void print_rate(double rate, char text[RATE_ROOM])
{
    snprintf(text, RATE_ROOM, "%.6g", rate);
}

static bool take_error_rate(vidi_str text)
{
    double rate;
    char unchanged[RATE_ROOM];
    if (!parse_double(text, &rate) || rate <= 0 || rate >= 1)
        return false;
    print_rate(before.bf_error_rate, unchanged);
    if (!is_loading || !word_is(text, unchanged))
        config.bf_error_rate = rate;
    return true;
}

static server_string *error_rate_text;

static server_string *get_error_rate(const char *name, void *data)
{
    (void)name;
    (void)data;
    char text[RATE_ROOM];
    print_rate(config.bf_error_rate, text);
    if (error_rate_text)
        server.FreeString(NULL, error_rate_text);
    error_rate_text = server.CreateString(NULL, text, strlen(text)); /* stays ours */
    return error_rate_text;
}

static int set_error_rate(const char *name, server_string *text, void *data, server_string **error)
{
    (void)name;
    (void)data;
    static const char sentence[] = "the error rate must be between 0 and 1";
    if (take_error_rate(text_of(text)))
        return SERVER_OK;
    *error = server.CreateString(NULL, sentence, sizeof sentence - 1);
    return SERVER_ERR;
}

/* ---- bf-compat ---- */

static int get_compat(const char *name, void *data)
{
    (void)name;
    (void)data;
    return (int)config.bf_compat;
}

static int set_compat(const char *name, int choice, void *data, server_string **error)
{
    (void)name;
    (void)data;
    (void)error;
    config.bf_compat = (compatibility)choice;
    return SERVER_OK;
}

/* ---- arguments ---- */

static bool take_compat(vidi_str text)
{
    for (int i = 0; i < COMPAT_COUNT; i++) {
        if (word_is(text, compat_names[i])) {
            config.bf_compat = (compatibility)compat_values[i];
            return true;
        }
    }
    return false;
}

static bool take_argument(vidi_str name, vidi_str text)
{
    if (word_is(name, "bf-compat"))
        return take_compat(text);
    if (word_is(name, "ERROR_RATE"))
        return take_error_rate(text);
    for (size_t i = 0; i < NUMBERS; i++) {
        uint64_t number;
        if (!numbers[i].argument || !word_is(name, numbers[i].argument))
            continue;
        if (!parse_count(text, &number) || number < (uint64_t)numbers[i].least || number > (uint64_t)numbers[i].most)
            return false;
        *numbers[i].place = (long long)number;
        return true;
    }
    return false;
}

static bool take_arguments(server_context *ctx, server_string **argv, int argc)
{
    for (int i = 0; i < argc; i += 2) {
        vidi_str name = text_of(argv[i]), text = i + 1 < argc ? text_of(argv[i + 1]) : (vidi_str){"", 0};
        if (take_argument(name, text))
            continue;
        server.Log(ctx, "warning",
                   "vidi does not understand its arguments from '%.*s %.*s' on; it takes bf-compat yes|no|auto, "
                   "ERROR_RATE rate, INITIAL_SIZE items and CF_MAX_EXPANSIONS filters",
                   (int)name.len, name.ptr, (int)text.len, text.ptr);
        return false;
    }
    return true;
}

/*
 * Registers everything that RedisBloom has as well: with the module's name in front, or as RedisBloom names it. False
 * if the server refuses one.
 */
static bool register_shared(server_context *ctx, unsigned flags)
{
    char rate[RATE_ROOM];
    print_rate(config.bf_error_rate, rate);
    bool good = server.RegisterStringConfig(ctx, "bf-error-rate", rate, flags, get_error_rate, set_error_rate, NULL,
                                            NULL) == SERVER_OK;
    for (size_t i = 0; i < NUMBERS && good; i++)
        good = server.RegisterNumericConfig(ctx, numbers[i].name, *numbers[i].place, flags, numbers[i].least,
                                            numbers[i].most, get_number, set_number, NULL,
                                            (void *)(uintptr_t)&numbers[i]) == SERVER_OK;
    return good;
}

/* Arguments come first: they are the defaults of what is registered, which CONFIG lines then override. */
bool config_start(server_context *ctx, server_string **argv, int argc)
{
    if (!take_arguments(ctx, argv, argc))
        return false;
    if (!server.RegisterStringConfig || !server.RegisterNumericConfig || !server.RegisterEnumConfig ||
        !server.LoadConfigs)
        return true;
    bool good =
        server.RegisterEnumConfig(ctx, "bf-compat", (int)config.bf_compat, SERVER_CONFIG_IMMUTABLE, compat_names,
                                  compat_values, COMPAT_COUNT, get_compat, set_compat, NULL, NULL) == SERVER_OK &&
        register_shared(ctx, SERVER_CONFIG_DEFAULT);
    if (good && server.LoadDefaultConfigs && config.bf_compat != COMPAT_NO &&
        !register_shared(ctx, SERVER_CONFIG_UNPREFIXED))
        server.Log(ctx, "notice", "another module has bf-error-rate or a name like it; vidi.bf-error-rate is ours");
    before = config;
    is_loading = true;
    good = good && server.LoadConfigs(ctx) == SERVER_OK;
    is_loading = false;
    return good;
}
