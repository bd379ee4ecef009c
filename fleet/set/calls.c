/*
 * Commands that go out together. See calls.h.
 */
#include "calls.h"

#include <stdint.h>
#include <stdlib.h>

/* The list with room for n elements of this size, *room of them from now on; NULL if there is no memory. */
static void *grown(void *list, size_t size, size_t *room, size_t n)
{
    size_t more = *room > 32 ? *room : 32;
    if (n <= *room)
        return list;
    while (more < n)
        if (__builtin_mul_overflow(more, (size_t)2, &more))
            return NULL;
    list = more > SIZE_MAX / size ? NULL : realloc(list, more * size);
    if (list)
        *room = more;
    return list;
}

void calls_clear(calls *calls)
{
    calls->count = calls->used = 0;
    calls->failed = false;
}

/* Room for another call. */
static bool make_room(calls *calls)
{
    size_t room = calls->room;
    redis_call *list = grown(calls->list, sizeof *list, &room, calls->count + 1);
    if (list)
        calls->list = list;
    size_t *starts = list ? grown(calls->starts, sizeof *starts, &calls->room, calls->count + 1) : NULL;
    if (starts)
        calls->starts = starts;
    calls->failed |= !starts;
    return starts;
}

size_t calls_begin(calls *calls, int slot, unsigned how)
{
    if (!make_room(calls))
        return 0;
    calls->list[calls->count] =
        (redis_call){.slot = slot, .repeatable = !(how & CALL_ONCE), .writes = how & CALL_WRITES};
    calls->starts[calls->count] = calls->used;
    return calls->count++;
}

vidi_str *calls_words(calls *calls, size_t n)
{
    vidi_str *words =
        n > SIZE_MAX - calls->used ? NULL : grown(calls->words, sizeof *words, &calls->words_room, calls->used + n);
    if (!words) {
        calls->failed = true;
        return NULL;
    }
    calls->words = words;
    return words + calls->used;
}

void calls_add(calls *calls, vidi_str word)
{
    vidi_str *at = calls_words(calls, 1);
    if (!at)
        return;
    *at = word;
    calls->used++;
}

size_t calls_begin_shard(calls *calls, const shard *shard, vidi_str name, unsigned how)
{
    size_t number = calls_begin(calls, shard->slot, how);
    calls_add(calls, name);
    calls_add(calls, shard_key(shard));
    return number;
}

void calls_guard(calls *calls, const shard *shard)
{
    calls_add(calls, WORD("IF"));
    calls_add(calls, shard_id(shard));
}

bool calls_finish(calls *calls)
{
    for (size_t i = 0; i < calls->count && !calls->failed; i++) {
        size_t end = i + 1 < calls->count ? calls->starts[i + 1] : calls->used;
        calls->list[i].words = calls->words + calls->starts[i];
        calls->list[i].count = end - calls->starts[i];
        calls->list[i].reply = NULL;
        calls->list[i].repeated = false;
    }
    return !calls->failed;
}

void calls_free(calls *calls)
{
    free(calls->list);
    free(calls->starts);
    free(calls->words);
    *calls = (struct calls){0};
}
