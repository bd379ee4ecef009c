/*
 * A module whose commands do nothing and open no key: NOTHING.ADD key item answers 1, NOTHING.MADD key item… answers
 * an array of ones. What another command takes beyond these is its own work; the rest is the server's.
 */
#include <string.h>

typedef struct context context;
typedef struct string string;
typedef int (*command_function)(context *ctx, string **argv, int argc);

/* The functions of the server that are used, found by name. */
static void (*set_attributes)(context *ctx, const char *name, int version, int interface);
static int (*create_command)(context *ctx, const char *name, command_function function, const char *flags, int first,
                             int last, int step);
static int (*reply_number)(context *ctx, long long number);
static int (*reply_array)(context *ctx, long len);

__attribute__((visibility("default"))) int RedisModule_OnLoad(context *ctx, string **argv, int argc);

static int add(context *ctx, string **argv, int argc)
{
    (void)argv;
    (void)argc;
    return reply_number(ctx, 1);
}

static int madd(context *ctx, string **argv, int argc)
{
    (void)argv;
    reply_array(ctx, argc - 2);
    for (int i = 2; i < argc; i++)
        reply_number(ctx, 1);
    return 0;
}

int RedisModule_OnLoad(context *ctx, string **argv, int argc)
{
    int (*find)(const char *name, void *target);
    (void)argv;
    (void)argc;
    memcpy(&find, ctx, sizeof find); /* the first thing in a context */
    if (find("RedisModule_SetModuleAttribs", &set_attributes) || find("RedisModule_CreateCommand", &create_command) ||
        find("RedisModule_ReplyWithLongLong", &reply_number) || find("RedisModule_ReplyWithArray", &reply_array))
        return 1;
    set_attributes(ctx, "nothing", 1, 1);
    return create_command(ctx, "nothing.add", add, "write deny-oom fast", 1, 1, 1) ||
           create_command(ctx, "nothing.madd", madd, "write deny-oom", 1, 1, 1);
}
