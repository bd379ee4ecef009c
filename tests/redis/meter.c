/*
 * A module for the tests: how much memory the server has allocated, and the most that it had at a time, by the hooks of
 * the address sanitizer. The server's own figures only look between commands, and miss what a command allocates and
 * frees again.
 *
 *   METER.RESET   the peak begins again at what is allocated now
 *   METER.PEAK    the most since then beyond what was allocated at that time
 *   METER.LARGEST the largest single allocation since then
 *   METER.LIVE    what is allocated now
 *
 * Arguments of the module are names of commands that it creates as well, which reply 1 whatever they are asked: names
 * that another module has taken.
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
static const char *(*text_of)(const string *argument, size_t *size);
static int (*reply_number)(context *ctx, long long number);

int __sanitizer_install_malloc_and_free_hooks(void (*on_malloc)(const volatile void *, size_t),
                                              void (*on_free)(const volatile void *)) __attribute__((weak));
size_t __sanitizer_get_allocated_size(const volatile void *pointer) __attribute__((weak));

static atomic_llong live;
static atomic_llong peak;
static atomic_llong largest;
static long long base;

static void raise_to(atomic_llong *most, long long now)
{
    long long before = atomic_load(most);
    while (now > before && !atomic_compare_exchange_weak(most, &before, now))
        ;
}

static void on_malloc(const volatile void *pointer, size_t size)
{
    (void)pointer;
    long long now = atomic_fetch_add(&live, (long long)size) + (long long)size;
    raise_to(&peak, now);
    raise_to(&largest, (long long)size);
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
    atomic_store(&largest, 0);
    return reply_number(ctx, 0);
}

static int meter_peak(context *ctx, string **arguments, int count)
{
    (void)arguments, (void)count;
    return reply_number(ctx, atomic_load(&peak) - base);
}

static int meter_largest(context *ctx, string **arguments, int count)
{
    (void)arguments, (void)count;
    return reply_number(ctx, atomic_load(&largest));
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
    find(ctx, "RedisModule_SetModuleAttribs", &set_attributes);
    find(ctx, "RedisModule_StringPtrLen", &text_of);
    find(ctx, "RedisModule_CreateCommand", &create_command);
    find(ctx, "RedisModule_ReplyWithLongLong", &reply_number);
    set_attributes(ctx, "meter", 1, 1);
    if (__sanitizer_install_malloc_and_free_hooks && !__sanitizer_install_malloc_and_free_hooks(on_malloc, on_free))
        return 1;
    for (int i = 0; i < count; i++) {
        if (create_command(ctx, text_of(arguments[i], NULL), meter_echo, "write fast", 0, 0, 0))
            return 1;
    }
    return create_command(ctx, "meter.reset", meter_reset, "readonly fast", 0, 0, 0) ||
           create_command(ctx, "meter.peak", meter_peak, "readonly fast", 0, 0, 0) ||
           create_command(ctx, "meter.live", meter_live, "readonly fast", 0, 0, 0) ||
           create_command(ctx, "meter.largest", meter_largest, "readonly fast", 0, 0, 0);
}
