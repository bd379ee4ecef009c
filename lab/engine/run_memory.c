/* A stack of things for each thread, which blocks cut back to where they began. See run_memory.h. */
#include "lab/engine/run_memory.h"

#include <stdarg.h>
#include <stdio.h>

#include "lab/engine/study.h"

typedef struct thing {
    void *thing;
    void (*release)(void *thing);
} thing;

static _Thread_local struct {
    thing *things;
    size_t count, room;
} stack;

lab_block lab_block_begin(void)
{
    return stack.count;
}

void lab_block_end(const lab_block *block)
{
    while (stack.count > *block) {
        stack.count--;
        stack.things[stack.count].release(stack.things[stack.count].thing);
    }
    if (stack.count > 0)
        return;
    free(stack.things);
    stack.things = NULL;
    stack.room = 0;
}

int lab_own(void *thing, void (*release)(void *thing))
{
    if (stack.count == stack.room) {
        size_t room = 2 * stack.room + 16;
        struct thing *things = realloc(stack.things, room * sizeof *things);
        if (!things) {
            release(thing);
            return lab_fail(VIDI_EMEMORY, "no memory for what a run needs");
        }
        stack.things = things;
        stack.room = room;
    }
    stack.things[stack.count++] = (struct thing){thing, release};
    return VIDI_OK;
}

int lab_new(void *pointer, size_t count, size_t size)
{
    void *array = calloc(count + 1, size);
    *(void **)pointer = NULL;
    if (!array)
        return lab_fail(VIDI_EMEMORY, "no memory for %zu elements of %zu bytes", count, size);
    LAB_TRY(lab_own(array, free));
    *(void **)pointer = array;
    return VIDI_OK;
}

static void close_set(void *set)
{
    vidi_close(set);
}

int lab_set_with(vidi_set **set, const lab_settings *settings, uint64_t run, vidi_options options)
{
    LAB_TRY(lab_set_make_with(set, settings, run, options));
    return lab_own(*set, close_set);
}

int lab_set(vidi_set **set, const lab_settings *settings, uint64_t run, const char *kind, uint64_t capacity,
            const char *params, ...)
{
    char text[256];
    va_list rest;
    va_start(rest, params);
    vsnprintf(text, sizeof text, params, rest);
    va_end(rest);
    vidi_options options = VIDI_OPTIONS_INIT;
    options.kind = kind;
    options.params = text;
    options.capacity = capacity;
    return lab_set_with(set, settings, run, options);
}
