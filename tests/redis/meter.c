/*
 * A module for the tests: how much memory the server has allocated, and the most that it had at a time, by the hooks of
 * the address sanitizer. The server's own figures only look between commands, and miss what a command allocates and
 * frees again.
 *
 *   METER.RESET   the peak begins again at what is allocated now
 *   METER.PEAK    the most since then beyond what was allocated at that time
 *   METER.LIVE    what is allocated now
 *   METER.ECHO    replies 1, whatever its arguments are: the cost of a command that does nothing
 */
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

typedef struct context context;
typedef struct string string;
typedef int (*command)(context *ctx, string **arguments, int count);

static int (*set_attributes)(context *ctx, const char *name, int version, int api);
static int (*create_command)(context *ctx, const char *name, command function, const char *flags, int first, int last,
                             int step);
static int (*reply_number)(context *ctx, long long number);

int __sanitizer_install_malloc_and_free_hooks(void (*on_malloc)(const volatile void *, size_t),
                                              void (*on_free)(const volatile void *)) __attribute__((weak));
size_t __sanitizer_get_allocated_size(const volatile void *pointer) __attribute__((weak));

static atomic_llong live;
static atomic_llong peak;
static long long base;

static void on_malloc(const volatile void *pointer, size_t size)
{
    (void)pointer;
    long long now = atomic_fetch_add(&live, (long long)size) + (long long)size;
    long long most = atomic_load(&peak);
    while (now > most && !atomic_compare_exchange_weak(&peak, &most, now))
        ;
}

static void on_free(const volatile void *pointer)
{
    if (pointer)
        atomic_fetch_sub(&live, (long long)__sanitizer_get_allocated_size(pointer));
}

static int meter_reset(context *ctx, string **arguments, int count)
{
    (void)arguments, (void)count;
    base = atomic_load(&live);
    atomic_store(&peak, base);
    return reply_number(ctx, 0);
}

static int meter_peak(context *ctx, string **arguments, int count)
{
    (void)arguments, (void)count;
    return reply_number(ctx, atomic_load(&peak) - base);
}

static int meter_live(context *ctx, string **arguments, int count)
{
    (void)arguments, (void)count;
    return reply_number(ctx, atomic_load(&live));
}

static int meter_echo(context *ctx, string **arguments, int count)
{
    (void)arguments, (void)count;
    return reply_number(ctx, 1);
}

/* The server's functions are found by name; the function that finds them is the first thing in the context. */
static int find(context *ctx, const char *name, void *function)
{
    int (*get)(const char *, void *) = *(int (**)(const char *, void *))ctx;
    return get(name, function);
}

int RedisModule_OnLoad(context *ctx, string **arguments, int count)
{
    (void)arguments, (void)count;
    find(ctx, "RedisModule_SetModuleAttribs", &set_attributes);
    find(ctx, "RedisModule_CreateCommand", &create_command);
    find(ctx, "RedisModule_ReplyWithLongLong", &reply_number);
    set_attributes(ctx, "meter", 1, 1);
    if (__sanitizer_install_malloc_and_free_hooks && !__sanitizer_install_malloc_and_free_hooks(on_malloc, on_free))
        return 1;
    return create_command(ctx, "meter.reset", meter_reset, "readonly fast", 0, 0, 0) ||
           create_command(ctx, "meter.peak", meter_peak, "readonly fast", 0, 0, 0) ||
           create_command(ctx, "meter.live", meter_live, "readonly fast", 0, 0, 0) ||
           create_command(ctx, "meter.echo", meter_echo, "write fast", 0, 0, 0);
}
