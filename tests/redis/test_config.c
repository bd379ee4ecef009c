/*
 * Which names the configuration is registered under, on servers of several ages and beside another module.
 */
#include <string.h>

#include "support/check.h"

#include "redis/server/config.h"
#include "redis/server/server.h"

enum { SHARED = 8 }; /* names that RedisBloom has, too */

static unsigned prefixed, unprefixed, logged;
static struct size { /* a name of the initial size */
    server_set_number set;
    void *data;
    long long standard;
} sizes[2];
static unsigned sizes_known;
static unsigned said;     /* 1 more than the one of them that a file says */
static const char *taken; /* a name without the module's that another module has */

static int take(const char *name, unsigned flags)
{
    if (flags & SERVER_CONFIG_UNPREFIXED && taken && strcmp(name, taken) == 0)
        return SERVER_ERR;
    *(flags & SERVER_CONFIG_UNPREFIXED ? &unprefixed : &prefixed) += 1;
    return SERVER_OK;
}

static int take_string(server_context *ctx, const char *name, const char *value, unsigned flags, server_get_string get,
                       server_set_string set, server_apply apply, void *data)
{
    (void)ctx, (void)value, (void)get, (void)set, (void)apply, (void)data;
    return take(name, flags);
}

static int take_number(server_context *ctx, const char *name, long long value, unsigned flags, long long least,
                       long long most, server_get_number get, server_set_number set, server_apply apply, void *data)
{
    (void)ctx, (void)least, (void)most, (void)get, (void)apply;
    if (strcmp(name, "bf-initial-size") == 0)
        sizes[sizes_known++] = (struct size){set, data, value};
    return take(name, flags);
}

static int take_enum(server_context *ctx, const char *name, int value, unsigned flags, const char **names,
                     const int *values, int count, server_get_choice get, server_set_choice set, server_apply apply,
                     void *data)
{
    (void)ctx, (void)value, (void)names, (void)values, (void)count, (void)get, (void)set, (void)apply, (void)data;
    return take(name, flags);
}

/* As a server applies what a file says, and the default of what it does not. */
static int load(server_context *ctx)
{
    (void)ctx;
    for (unsigned i = 0; i < sizes_known; i++)
        sizes[i].set("bf-initial-size", said == i + 1 ? 700 : sizes[i].standard, sizes[i].data, NULL);
    return SERVER_OK;
}

static void count_log(server_context *ctx, const char *level, const char *format, ...)
{
    (void)ctx, (void)level, (void)format;
    logged++;
}

static void start(bool allows, compatibility compat, const char *other)
{
    prefixed = unprefixed = logged = sizes_known = 0;
    taken = other;
    config.bf_compat = compat;
    server.RegisterStringConfig = take_string;
    server.RegisterNumericConfig = take_number;
    server.RegisterEnumConfig = take_enum;
    server.LoadConfigs = load;
    server.LoadDefaultConfigs = allows ? load : NULL;
    server.Log = count_log;
    assert_true(config_start(NULL, NULL, 0));
    assert_int_equal(prefixed, SHARED + 1);
}

static void names_of_redisbloom_are_registered_where_the_server_allows_it(void **state)
{
    (void)state;
    start(false, COMPAT_AUTO, NULL);
    assert_int_equal(unprefixed, 0);
    start(true, COMPAT_NO, NULL);
    assert_int_equal(unprefixed, 0);
    start(true, COMPAT_AUTO, NULL);
    assert_int_equal(unprefixed, SHARED);
    start(true, COMPAT_YES, NULL);
    assert_int_equal(unprefixed, SHARED);
    assert_int_equal(logged, 0);
}

static void names_that_another_module_has_are_left_to_it(void **state)
{
    (void)state;
    start(true, COMPAT_AUTO, "bf-error-rate");
    assert_int_equal(unprefixed, 0);
    assert_int_equal(logged, 1);
}

static void either_name_of_a_number_may_be_said_in_a_file(void **state)
{
    (void)state;
    for (said = 1; said <= 2; said++) {
        config.bf_initial_size = 100;
        start(true, COMPAT_AUTO, NULL);
        assert_int_equal(sizes_known, 2);
        assert_int_equal(config.bf_initial_size, 700);
    }
    said = 0;
    config.bf_initial_size = 300; /* an argument of the module */
    start(true, COMPAT_AUTO, NULL);
    assert_int_equal(config.bf_initial_size, 300);
    sizes[1].set("bf-initial-size", 300, sizes[1].data, NULL);
    sizes[0].set("bf-initial-size", 5, sizes[0].data, NULL);
    sizes[1].set("bf-initial-size", 300, sizes[1].data, NULL); /* CONFIG SET, later */
    assert_int_equal(config.bf_initial_size, 300);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_of_redisbloom_are_registered_where_the_server_allows_it),
        cmocka_unit_test(names_that_another_module_has_are_left_to_it),
        cmocka_unit_test(either_name_of_a_number_may_be_said_in_a_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
