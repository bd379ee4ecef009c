/*
 * A module whose command does nothing: NOTHING.ADD key item answers 1 and opens no key. What another command takes
 * beyond this one is its own work; the rest is the server's.
 */
#include <string.h>

typedef struct context context;
typedef struct string string;

/* The functions of the server that are used, found by name. */
static void (*set_attributes)(context *ctx, const char *name, int version, int interface);
static int (*create_command)(context *ctx, const char *name, int (*function)(context *, string **, int),
                             const char *flags, int first, int last, int step);
static int (*reply_number)(context *ctx, long long number);

__attribute__((visibility("default"))) int RedisModule_OnLoad(context *ctx, string **argv, int argc);

static int add(context *ctx, string **argv, int argc)
{
    (void)argv;
    (void)argc;
    return reply_number(ctx, 1);
}

int RedisModule_OnLoad(context *ctx, string **argv, int argc)
{
    int (*find)(const char *name, void *target);
    (void)argv;
    (void)argc;
    memcpy(&find, ctx, sizeof find); /* the first thing in a context */
    if (find("RedisModule_SetModuleAttribs", &set_attributes) || find("RedisModule_CreateCommand", &create_command) ||
        find("RedisModule_ReplyWithLongLong", &reply_number))
        return 1;
    set_attributes(ctx, "nothing", 1, 1);
    return create_command(ctx, "nothing.add", add, "write deny-oom fast", 1, 1, 1);
}
