/*
 * A module whose commands do nothing and open no key: NOTHING.ADD key item answers 1, NOTHING.MADD key item… answers
 * an array of ones. NOTHING.CLAIM and NOTHING.COMMIT take the words of VIDI.CLAIM and VIDI.COMMIT and answer as these do,
 * with one token. What another command takes beyond these is its own work; the rest is the server's.
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
static int (*reply_text)(context *ctx, const char *text);

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

/* NOTHING.CLAIM key owner lease-ms URLS url payload [url payload ...] */
static int claim(context *ctx, string **argv, int argc)
{
    (void)argv;
    reply_array(ctx, (argc - 5) / 2);
    for (int i = 5; i + 1 < argc; i += 2) {
        reply_array(ctx, 2);
        reply_text(ctx, "claimed");
        reply_text(ctx, "0123456789abcdef");
    }
    return 0;
}

/* NOTHING.COMMIT key owner token [token ...] */
static int commit(context *ctx, string **argv, int argc)
{
    (void)argv;
    reply_array(ctx, argc - 3);
    for (int i = 3; i < argc; i++)
        reply_text(ctx, "committed");
    return 0;
}

int RedisModule_OnLoad(context *ctx, string **argv, int argc)
{
    int (*find)(const char *name, void *target);
    (void)argv;
    (void)argc;
    memcpy(&find, ctx, sizeof find); /* the first thing in a context */
    if (find("RedisModule_SetModuleAttribs", &set_attributes) || find("RedisModule_CreateCommand", &create_command) ||
        find("RedisModule_ReplyWithLongLong", &reply_number) || find("RedisModule_ReplyWithArray", &reply_array) ||
        find("RedisModule_ReplyWithCString", &reply_text))
        return 1;
    set_attributes(ctx, "nothing", 1, 1);
    return create_command(ctx, "nothing.add", add, "write deny-oom fast", 1, 1, 1) ||
           create_command(ctx, "nothing.madd", madd, "write deny-oom", 1, 1, 1) ||
           create_command(ctx, "nothing.claim", claim, "write deny-oom", 1, 1, 1) ||
           create_command(ctx, "nothing.commit", commit, "write deny-oom", 1, 1, 1);
}
