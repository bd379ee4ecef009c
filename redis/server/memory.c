/*
 * The library's memory hook on the server's allocator. See memory.h.
 *
 * The library asks for alignments up to 64; the server's functions know none. jemalloc aligns requests that are a
 * multiple of 64 to 64, and those of 16 to 16 (the servers' own copy of it, which knows sizes of 24 and 40 bytes, does so
 * for no others), so rounding the size up is enough. libc's malloc does not: there, a request is larger by the
 * alignment, and the byte before the block says how far it was shifted:
 *
 *     from the server          returned
 *     v                        v
 *     | unused            | n | the block …
 *     |<------- n bytes ----->|
 *
 * Which of the two is needed is found out once, by asking for some blocks.
 */
#include "memory.h"

#include <string.h>

#include "background.h"

#define LARGE ((size_t)2 << 20) /* from here on a request may fail instead of ending the server */
#define NATURAL 16u             /* alignment that every allocator gives */

/* Blocks from here on are worth a thread. Sets that have only smaller ones take a few MB. */
#define FREE_LATER ((size_t)64 << 10)

static bool shifts;
static bool is_primary = true, is_loading, is_obeying;
static unsigned lifted;
static _Atomic uint64_t total;
static _Thread_local bool frees_later;

static bool is_aligned(const void *ptr, size_t alignment)
{
    return ((uintptr_t)ptr & (alignment - 1)) == 0;
}

/* Asks for blocks of a size, and tells whether one of them is not aligned. */
static bool find_misaligned(void **blocks, size_t count, size_t size)
{
    bool found = false;
    for (size_t i = 0; i < count; i++) {
        blocks[i] = server.Alloc(size);
        found = found || !is_aligned(blocks[i], 64);
    }
    return found;
}

/*
 * Asks for many blocks of each size and holds them all, so that no luck is involved: an allocator that puts blocks of a
 * size side by side with something in between shows it here.
 */
void memory_start(void)
{
    enum { SMALL_SIZES = 24, LARGE_SIZES = 4, MANY = 32, FEW = 4 };
    static const size_t large[LARGE_SIZES] = {(size_t)16 << 10, (size_t)256 << 10, (size_t)2 << 20, (size_t)4 << 20};
    void *blocks[SMALL_SIZES * MANY + LARGE_SIZES * FEW];
    size_t count = 0;
    shifts = false;
    for (size_t i = 0; i < SMALL_SIZES; i++, count += MANY)
        shifts = find_misaligned(blocks + count, MANY, 64 * (i + 1)) || shifts;
    for (size_t i = 0; i < LARGE_SIZES; i++, count += FEW)
        shifts = find_misaligned(blocks + count, FEW, large[i]) || shifts;
    while (count > 0)
        server.Free(blocks[--count]);
}

static void *from_server(size_t bytes, bool zeroed)
{
    if (bytes < LARGE || !server.TryAlloc)
        return zeroed ? server.Calloc(1, bytes) : server.Alloc(bytes);
    if (zeroed && server.TryCalloc)
        return server.TryCalloc(1, bytes);
    void *block = server.TryAlloc(bytes);
    return block && zeroed ? memset(block, 0, bytes) : block;
}

/* The block that the server gave, from what `allocate` returned. */
static void *block_of(void *ptr, size_t alignment)
{
    unsigned char *bytes = ptr;
    return shifts && alignment > NATURAL ? bytes - bytes[-1] : bytes;
}

/* How many bytes to ask the server for; 0 if that is no number. */
static size_t size_to_ask(size_t bytes, size_t alignment)
{
    bytes += bytes == 0;
    size_t more = shifts && alignment > NATURAL ? alignment : (0 - bytes) & (alignment - 1);
    return bytes <= SIZE_MAX / 2 ? bytes + more : 0;
}

/*
 * Asks the server. If blocks were aligned when the module was loaded but this one is not, it asks for more of them
 * until one is; those that are not are held meanwhile, or the same one would come again.
 */
static void *aligned_from_server(size_t bytes, size_t alignment, bool zeroed)
{
    enum { TRIES = 16 };
    void *held[TRIES], *block = NULL;
    size_t count = 0;
    while (count < TRIES) {
        block = from_server(bytes, zeroed);
        if (!block || shifts || is_aligned(block, alignment))
            break;
        held[count++] = block;
        block = NULL;
    }
    while (count > 0)
        server.Free(held[--count]);
    return block;
}

static bool exceeds(memory *memory, uint64_t bytes)
{
    if (memory->limit == 0 || !memory_enforces() || atomic_load(&memory->used) + bytes <= memory->limit)
        return false;
    atomic_store(&memory->refused, true);
    return true;
}

static void count_up(memory *memory, size_t bytes)
{
    atomic_fetch_add_explicit(&memory->used, bytes, memory_order_relaxed);
    atomic_fetch_add_explicit(&total, bytes, memory_order_relaxed);
}

static void count_down(memory *memory, size_t bytes)
{
    atomic_fetch_sub_explicit(&memory->used, bytes, memory_order_relaxed);
    atomic_fetch_sub_explicit(&total, bytes, memory_order_relaxed);
}

/* Checks the limit before allocating, so that nothing large is allocated in vain, and after: blocks are rounded up. */
static void *take(void *context, size_t bytes, size_t alignment, bool zeroed)
{
    memory *memory = context;
    size_t size = size_to_ask(bytes, alignment);
    if (size == 0 || exceeds(memory, size))
        return NULL;
    unsigned char *block = aligned_from_server(size, alignment, zeroed);
    if (!block)
        return NULL;
    size_t counted = server.MallocSize(block);
    if (exceeds(memory, counted)) {
        server.Free(block);
        return NULL;
    }
    count_up(memory, counted);
    if (!shifts || alignment <= NATURAL)
        return block;
    size_t shift = alignment - ((uintptr_t)block & (alignment - 1));
    block[shift - 1] = (unsigned char)shift;
    return block + shift;
}

static void give_back(void *context, void *ptr, size_t bytes, size_t alignment)
{
    (void)bytes;
    memory *memory = context;
    if (!ptr)
        return;
    void *block = block_of(ptr, alignment);
    size_t counted = server.MallocSize(block);
    count_down(memory, counted);
    if (frees_later && counted >= FREE_LATER)
        background_free(block, counted);
    else
        server.Free(block);
}

static void *allocate(void *context, size_t bytes, size_t alignment)
{
    return take(context, bytes, alignment, false);
}

static void *allocate_zeroed(void *context, size_t bytes, size_t alignment)
{
    return take(context, bytes, alignment, true);
}

void memory_init(memory *memory, uint64_t limit)
{
    atomic_init(&memory->used, 0);
    atomic_init(&memory->refused, false);
    memory->limit = limit;
    memory->allocator = (vidi_allocator){
        .size = sizeof memory->allocator,
        .allocate = allocate,
        .allocate_zeroed = allocate_zeroed,
        .release = give_back,
        .context = memory,
    };
}

void memory_add_owner(memory *memory, void *block)
{
    count_up(memory, server.MallocSize(block));
}

void memory_remove_owner(memory *memory, void *block)
{
    count_down(memory, server.MallocSize(block));
}

bool memory_enforces(void)
{
    return is_primary && !is_loading && !is_obeying && lifted == 0;
}

bool memory_is_loading(void)
{
    return is_loading;
}

void memory_lift_limits(void)
{
    lifted++;
}

void memory_restore_limits(void)
{
    lifted--;
}

void memory_free_in_background(void)
{
    frees_later = true;
}

void memory_free_at_once(void)
{
    frees_later = false;
    background_start();
}

void memory_set_primary(bool primary)
{
    is_primary = primary;
}

void memory_set_loading(bool loading)
{
    is_loading = loading;
}

void memory_set_obeying(bool obeying)
{
    is_obeying = obeying;
}

uint64_t memory_total(void)
{
    return atomic_load_explicit(&total, memory_order_relaxed);
}

void *memory_resize(void *block, size_t size)
{
    if (size)
        return server.Realloc(block, size);
    server.Free(block);
    return NULL;
}
