/*
 * Memory that is touched before anything is timed. The first touch of a page costs more than everything a filter does
 * in it. So the memory of reserved subjects, vidi's and the peers' alike, is touched when they are created. Growing
 * subjects pay for it as they grow. The table shows what the first touch costs alone.
 */
#include "subjects.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define MAP_FROM ((size_t)1 << 20)
#define HUGE_PAGE ((size_t)2 << 20)
#define SMALL_PAGE ((size_t)4096)
#define ARENA_FROM ((size_t)16 << 10) /* what the arena gives out at least: a table grows through blocks of all sizes */

static size_t rounded(size_t bytes)
{
    return (bytes + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
}

void bench_touch(void *ptr, size_t bytes)
{
    volatile char *at = ptr;
    for (size_t i = 0; i < bytes; i += SMALL_PAGE) {
        char was = at[i];
        at[i] = was;
    }
}

/* Maps memory aligned to large pages, and unmaps the excess before and after it. */
void *bench_map(size_t bytes, bool huge, bool populate)
{
    size_t whole = rounded(bytes);
    char *start = mmap(NULL, whole + HUGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (start == MAP_FAILED)
        return NULL;
    size_t before = (HUGE_PAGE - (uintptr_t)start % HUGE_PAGE) % HUGE_PAGE;
    if (before)
        munmap(start, before);
    munmap(start + before + whole, HUGE_PAGE - before);
    if (huge)
        (void)madvise(start + before, whole, MADV_HUGEPAGE);
    if (populate)
        bench_touch(start + before, bytes);
    return start + before;
}

void bench_unmap(void *ptr, size_t bytes)
{
    if (ptr)
        munmap(ptr, rounded(bytes));
}

static void *allocate(void *context, size_t bytes, size_t alignment)
{
    (void)context;
    if (bytes >= MAP_FROM)
        return bench_map(bytes, true, true);
    size_t least = alignment < sizeof(void *) ? sizeof(void *) : alignment;
    return aligned_alloc(least, (bytes + least - 1) / least * least);
}

static void *allocate_zeroed(void *context, size_t bytes, size_t alignment)
{
    void *ptr = allocate(context, bytes, alignment);
    if (ptr && bytes < MAP_FROM)
        memset(ptr, 0, bytes);
    return ptr;
}

static void release(void *context, void *ptr, size_t bytes, size_t alignment)
{
    (void)context;
    (void)alignment;
    if (bytes >= MAP_FROM)
        bench_unmap(ptr, bytes);
    else
        free(ptr);
}

/* ---- an arena ---- */

static struct {
    char *bytes;
    size_t size, used;
} arena;

int bench_arena_open(size_t bytes)
{
    arena.bytes = bench_map(bytes, true, true);
    arena.size = arena.bytes ? bytes : 0;
    arena.used = 0;
    return arena.bytes ? 0 : -1;
}

void bench_arena_close(void)
{
    bench_unmap(arena.bytes, arena.size);
    arena.bytes = NULL;
    arena.size = 0;
}

static bool is_in_arena(const void *ptr)
{
    return (const char *)ptr >= arena.bytes && (const char *)ptr < arena.bytes + arena.size;
}

/* Small blocks, and large ones for which there is no room any more, come from the heap. */
static void *take(void *context, size_t bytes, size_t alignment)
{
    size_t start = bytes < HUGE_PAGE ? arena.used : rounded(arena.used);
    size_t whole = (bytes + ARENA_FROM - 1) / ARENA_FROM * ARENA_FROM;
    if (bytes < ARENA_FROM || start > arena.size || whole > arena.size - start)
        return allocate(context, bytes, alignment);
    arena.used = start + whole;
    return arena.bytes + start;
}

/* Memory of the arena is given out once, so it is still zero. */
static void *take_zeroed(void *context, size_t bytes, size_t alignment)
{
    void *ptr = take(context, bytes, alignment);
    if (ptr && bytes < MAP_FROM && !is_in_arena(ptr))
        memset(ptr, 0, bytes);
    return ptr;
}

static void give_back(void *context, void *ptr, size_t bytes, size_t alignment)
{
    if (!is_in_arena(ptr))
        release(context, ptr, bytes, alignment);
}

const vidi_allocator bench_arena = {sizeof bench_arena, take, take_zeroed, give_back, NULL};

const vidi_allocator bench_allocator = {sizeof bench_allocator, allocate, allocate_zeroed, release, NULL};
