/* The default allocator, and the accounting that every allocation of a set passes through. */
#include "base/memory.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* Blocks of this size and larger come directly from the kernel: zeroed at no cost, page by page as they are touched. */
#define MAP_FROM ((size_t)1 << 20)
/* Blocks of this size and larger use large pages and are aligned to them, which saves walks through page tables. */
#define HUGE_PAGE ((size_t)2 << 20)

static size_t whole_pages(size_t bytes)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    return (bytes + page - 1) / page * page;
}

/* Allocates page-aligned memory. What alignment leaves over in front and behind is released at once. */
static void *map(size_t bytes, size_t alignment)
{
    size_t spare = alignment > 4096 ? whole_pages(alignment) : 0;
    if (bytes > SIZE_MAX / 2 - spare)
        return NULL;
    size_t whole = whole_pages(bytes);
    char *start = mmap(NULL, whole + spare, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (start == MAP_FAILED)
        return NULL;
    size_t before = spare ? (spare - (uintptr_t)start % spare) % spare : 0;
    if (before)
        munmap(start, before);
    if (spare > before)
        munmap(start + before + whole, spare - before);
    return start + before;
}

static void *default_allocate(void *context, size_t bytes, size_t alignment)
{
    (void)context;
    if (bytes >= MAP_FROM) {
        bool huge = bytes >= HUGE_PAGE;
        void *ptr = map(bytes, huge && alignment < HUGE_PAGE ? HUGE_PAGE : alignment);
        if (ptr && huge)
            (void)madvise(ptr, bytes, MADV_HUGEPAGE); /* a hint: a kernel without large pages uses small ones */
        return ptr;
    }
    if (alignment <= _Alignof(max_align_t))
        return malloc(bytes);
    size_t whole = (bytes + alignment - 1) / alignment * alignment;
    return aligned_alloc(alignment, whole);
}

static void *default_allocate_zeroed(void *context, size_t bytes, size_t alignment)
{
    void *ptr = default_allocate(context, bytes, alignment);
    if (ptr && bytes < MAP_FROM)
        memset(ptr, 0, bytes);
    return ptr;
}

static void default_release(void *context, void *ptr, size_t bytes, size_t alignment)
{
    (void)context;
    (void)alignment;
    if (bytes >= MAP_FROM)
        munmap(ptr, whole_pages(bytes));
    else
        free(ptr);
}

static uint64_t machine_memory(void)
{
    long pages = sysconf(_SC_PHYS_PAGES);
    long page = sysconf(_SC_PAGESIZE);
    if (pages <= 0 || page <= 0)
        return UINT64_MAX / 2;
    return (uint64_t)pages * (uint64_t)page;
}

int vidi__memory_init(vidi__memory *memory, const vidi_allocator *allocator, uint64_t limit)
{
    static const vidi_allocator standard = {sizeof standard, default_allocate, default_allocate_zeroed, default_release,
                                            NULL};
    VIDI__TRY(vidi__struct_in(&memory->hook, sizeof memory->hook, allocator ? allocator : &standard, "vidi_allocator"));
    if (!memory->hook.allocate || !memory->hook.release)
        return vidi__fail(VIDI_EARGUMENT, "an allocator needs both allocate and release");
    memory->limit = limit ? limit : machine_memory();
    memory->borrowed = NULL;
    memory->borrowed_bytes = 0;
    memory->promised = 0;
    atomic_init(&memory->aside, 0);
    atomic_init(&memory->used, 0);
    return VIDI_OK;
}

static int over_limit(const vidi__memory *memory, uint64_t used, uint64_t bytes)
{
    uint64_t aside = atomic_load_explicit(&memory->aside, memory_order_relaxed);
    return vidi__fail(VIDI_ELIMIT, "another %s would exceed the memory limit of %s (in use: %s%s%s)",
                      vidi__human_bytes(bytes).text, vidi__human_bytes(memory->limit).text,
                      vidi__human_bytes(used).text, aside ? ", kept free: " : "",
                      aside ? vidi__human_bytes(aside).text : "");
}

void vidi__memory_put_aside(vidi__memory *memory, uint64_t bytes)
{
    atomic_store_explicit(&memory->aside, bytes, memory_order_relaxed);
}

static bool fits(const vidi__memory *memory, uint64_t used, uint64_t bytes)
{
    uint64_t most = memory->limit - atomic_load_explicit(&memory->aside, memory_order_relaxed);
    return used <= most && bytes <= most - used;
}

int vidi__memory_check(const vidi__memory *memory, uint64_t bytes)
{
    uint64_t used = vidi__memory_used(memory);
    if (!fits(memory, used, bytes))
        return over_limit(memory, used, bytes);
    return VIDI_OK;
}

int vidi__promise(vidi__memory *memory, uint64_t words)
{
    uint64_t machine = machine_memory(), most = (machine > memory->limit ? machine : memory->limit) / 8;
    if (words > most || memory->promised > most - words)
        return vidi__fail(VIDI_ELIMIT, "an array of %s is more than this machine's memory of %s can ever hold",
                          vidi__human_bytes(words < UINT64_MAX / 8 ? words * 8 : UINT64_MAX).text,
                          vidi__human_bytes(machine).text);
    memory->promised += words;
    return VIDI_OK;
}

void vidi__promise_end(vidi__memory *memory, uint64_t words)
{
    memory->promised -= words;
}

/* Accounts for the bytes, or fails. Several threads may do so at once and together never exceed the limit. */
static int book(vidi__memory *memory, uint64_t bytes)
{
    uint64_t used = vidi__memory_used(memory);
    do {
        if (!fits(memory, used, bytes) || bytes > SIZE_MAX / 2)
            return over_limit(memory, used, bytes);
    } while (!atomic_compare_exchange_weak_explicit(&memory->used, &used, used + bytes, memory_order_relaxed,
                                                    memory_order_relaxed));
    return VIDI_OK;
}

/* The user's allocator is never asked for more than a cache line: larger alignments only serve large pages. */
static size_t alignment_for(const vidi__memory *memory, size_t alignment)
{
    bool ours = memory->hook.allocate == default_allocate;
    return ours || alignment < VIDI__CACHE_LINE ? alignment : VIDI__CACHE_LINE;
}

static int take(vidi__memory *memory, void *out, uint64_t bytes, size_t alignment, bool zeroed)
{
    void *ptr = NULL;
    memcpy(out, &ptr, sizeof ptr);
    if (bytes == 0)
        return VIDI_OK;
    VIDI__TRY(book(memory, bytes));
    const vidi_allocator *hook = &memory->hook;
    alignment = alignment_for(memory, alignment);
    if (zeroed && hook->allocate_zeroed) {
        ptr = hook->allocate_zeroed(hook->context, (size_t)bytes, alignment);
    } else {
        ptr = hook->allocate(hook->context, (size_t)bytes, alignment);
        if (ptr && zeroed)
            memset(ptr, 0, (size_t)bytes);
    }
    if (!ptr) {
        atomic_fetch_sub_explicit(&memory->used, bytes, memory_order_relaxed);
        return vidi__fail(VIDI_EMEMORY, "cannot allocate another %s", vidi__human_bytes(bytes).text);
    }
    memcpy(out, &ptr, sizeof ptr);
    return VIDI_OK;
}

int vidi__alloc(vidi__memory *memory, void *out, uint64_t bytes, size_t alignment)
{
    return take(memory, out, bytes, alignment, false);
}

int vidi__alloc_zeroed(vidi__memory *memory, void *out, uint64_t bytes, size_t alignment)
{
    return take(memory, out, bytes, alignment, true);
}

void *vidi__alloc_if_possible(vidi__memory *memory, uint64_t bytes)
{
    void *ptr;
    vidi__quiet quiet;
    vidi__quiet_begin(&quiet);
    (void)vidi__alloc_zeroed(memory, &ptr, bytes, VIDI__CACHE_LINE);
    vidi__quiet_end(&quiet, VIDI_OK);
    return ptr;
}

void vidi__release(vidi__memory *memory, void *ptr, uint64_t bytes, size_t alignment)
{
    if (!ptr || vidi__memory_is_borrowed(memory, ptr))
        return;
    memory->hook.release(memory->hook.context, ptr, (size_t)bytes, alignment_for(memory, alignment));
    atomic_fetch_sub_explicit(&memory->used, bytes, memory_order_relaxed);
}

int vidi__regrow(vidi__memory *memory, void *ptr, uint64_t old_bytes, uint64_t new_bytes, size_t alignment)
{
    void *old, *grown;
    memcpy(&old, ptr, sizeof old);
    VIDI__TRY(vidi__alloc(memory, &grown, new_bytes, alignment));
    if (old_bytes)
        memcpy(grown, old, (size_t)old_bytes);
    vidi__release(memory, old, old_bytes, alignment);
    memcpy(ptr, &grown, sizeof grown);
    return VIDI_OK;
}
