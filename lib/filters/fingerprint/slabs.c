/* See slabs.h. The pool is a free list, plus blocks from which new slabs are cut. */
#include "filters/fingerprint/slabs.h"

#define HUGE_PAGE (UINT64_C(2) << 20)
#define PAGE 4096 /* or more */
#define AHEAD_MAX 8
#define AHEAD_SHARE 64

void vidi__slabs_init(vidi__slabs *slabs, vidi__memory *memory)
{
    memset(slabs, 0, sizeof *slabs);
    slabs->memory = memory;
}

void vidi__slabs_close(vidi__slabs *slabs)
{
    if (!slabs->memory)
        return;
    for (uint64_t i = 0; i < slabs->block_count; i++)
        vidi__release(slabs->memory, slabs->blocks[i].bytes, slabs->blocks[i].size, slabs->blocks[i].alignment);
    vidi__release(slabs->memory, slabs->blocks, slabs->block_room * sizeof *slabs->blocks, _Alignof(vidi__slab_block));
    slabs->memory = NULL;
}

/*
 * The largest multiple of a slab that is at most this size, at least one slab, and a size that jemalloc has: it has
 * four for each power of two, and rounds all others up, which would waste up to a fifth.
 */
static uint64_t size_without_waste(uint64_t size)
{
    uint64_t step = VIDI__SLAB_BYTES;
    while (size / step >= 8)
        step *= 2;
    return size < VIDI__SLAB_BYTES ? VIDI__SLAB_BYTES : size / step * step;
}

/*
 * Block size: about 1/128 of the total, so that little memory is allocated ahead, and blocks are few. From 64 MiB on,
 * blocks are large pages.
 */
static uint64_t next_block(const vidi__slabs *slabs)
{
    uint64_t total = slabs->total * VIDI__SLAB_BYTES;
    return total >= 32 * HUGE_PAGE ? HUGE_PAGE : size_without_waste(total / 128);
}

/* Allocates a block of this size. */
static int alloc_block(vidi__slabs *slabs, uint64_t size, unsigned char **bytes)
{
    if (slabs->block_count == slabs->block_room) {
        uint64_t room = slabs->block_room ? slabs->block_room * 2 : 8;
        VIDI__TRY(vidi__regrow(slabs->memory, &slabs->blocks, slabs->block_room * sizeof *slabs->blocks,
                               room * sizeof *slabs->blocks, _Alignof(vidi__slab_block)));
        slabs->block_room = room;
    }
    vidi__slab_block block = {.size = size};
    block.alignment = block.size >= HUGE_PAGE ? HUGE_PAGE : VIDI__CACHE_LINE;
    VIDI__TRY(vidi__alloc(slabs->memory, &block.bytes, block.size, block.alignment));
    slabs->blocks[slabs->block_count++] = block;
    *bytes = block.bytes;
    return VIDI_OK;
}

/* Allocates a block to cut slabs from. The previous one is used up. */
static int new_block(vidi__slabs *slabs, uint64_t size)
{
    VIDI__TRY(alloc_block(slabs, size, &slabs->cut_from));
    slabs->cut_left = size;
    return VIDI_OK;
}

int vidi__slabs_reserve(vidi__slabs *slabs, uint64_t bytes)
{
    bytes = bytes / VIDI__SLAB_BYTES * VIDI__SLAB_BYTES;
    return bytes ? new_block(slabs, bytes) : VIDI_OK;
}

/* ---- blocks ahead ---- */

static bool wants_more(const vidi__slabs *slabs)
{
    uint64_t most = slabs->total * VIDI__SLAB_BYTES / AHEAD_SHARE / HUGE_PAGE + 1;
    return next_block(slabs) == HUGE_PAGE && slabs->ahead_count < (most < AHEAD_MAX ? most : AHEAD_MAX);
}

bool vidi__slabs_want_more(vidi__slabs *slabs)
{
    vidi__mutex_lock(&slabs->lock);
    bool more = wants_more(slabs);
    vidi__mutex_unlock(&slabs->lock);
    return more;
}

/* Touching takes long, so nobody waits for it. */
int vidi__slabs_prepare(vidi__slabs *slabs)
{
    unsigned char *block = NULL;
    vidi__quiet quiet;
    vidi__quiet_begin(&quiet);
    vidi__mutex_lock(&slabs->lock);
    int code = wants_more(slabs) ? alloc_block(slabs, HUGE_PAGE, &block) : VIDI_OK;
    vidi__mutex_unlock(&slabs->lock);
    vidi__quiet_end(&quiet, VIDI_OK);
    if (code < 0 || !block)
        return 0;
    for (uint64_t at = 0; at < HUGE_PAGE; at += PAGE)
        *(volatile unsigned char *)(block + at) = 0;
    vidi__mutex_lock(&slabs->lock);
    memcpy(block, &slabs->ahead, sizeof slabs->ahead);
    slabs->ahead = block;
    slabs->ahead_count++;
    bool more = wants_more(slabs);
    vidi__mutex_unlock(&slabs->lock);
    return more;
}

/* A block to cut slabs from: one that was prepared, or a new one. */
static int next_to_cut(vidi__slabs *slabs)
{
    if (!slabs->ahead)
        return new_block(slabs, next_block(slabs));
    slabs->cut_from = slabs->ahead;
    slabs->cut_left = HUGE_PAGE;
    memcpy(&slabs->ahead, slabs->cut_from, sizeof slabs->ahead);
    slabs->ahead_count--;
    return VIDI_OK;
}

/* ---- slabs ---- */

static int take(vidi__slabs *slabs, unsigned char **slab)
{
    if (slabs->free) {
        *slab = slabs->free;
        memcpy(&slabs->free, *slab, sizeof slabs->free);
        slabs->free_count--;
        return VIDI_OK;
    }
    if (!slabs->cut_left)
        VIDI__TRY(next_to_cut(slabs));
    *slab = slabs->cut_from;
    slabs->cut_from += VIDI__SLAB_BYTES;
    slabs->cut_left -= VIDI__SLAB_BYTES;
    slabs->total++;
    return VIDI_OK;
}

/* Takes `count` slabs, or as many as there is memory for. */
static int take_all(vidi__slabs *slabs, unsigned char **list, uint64_t count)
{
    int code = VIDI_OK;
    vidi__mutex_lock(&slabs->lock);
    for (uint64_t i = 0; i < count && code == VIDI_OK; i++)
        code = take(slabs, &list[i]);
    vidi__mutex_unlock(&slabs->lock);
    return code;
}

/* Gives slabs back, up to the first NULL. */
static void give_all(vidi__slabs *slabs, unsigned char **list, uint64_t count)
{
    if (slabs->closing)
        return;
    vidi__mutex_lock(&slabs->lock);
    for (uint64_t i = 0; i < count && list[i]; i++) {
        memcpy(list[i], &slabs->free, sizeof slabs->free);
        slabs->free = list[i];
        slabs->free_count++;
    }
    vidi__mutex_unlock(&slabs->lock);
}

int vidi__slabs_take(vidi__slabs *slabs, unsigned char **slab)
{
    *slab = NULL;
    return take_all(slabs, slab, 1);
}

void vidi__slabs_give(vidi__slabs *slabs, unsigned char *slab)
{
    give_all(slabs, &slab, 1);
}

/* ---- arrays ---- */

/* Number of whole slabs in an array, and the bytes after them. */
static uint64_t whole_of(uint64_t bytes)
{
    return bytes / VIDI__SLAB_BYTES;
}

static uint64_t rest_of(uint64_t bytes)
{
    return bytes % VIDI__SLAB_BYTES;
}

static uint64_t count_of(uint64_t bytes)
{
    return whole_of(bytes) + (rest_of(bytes) > 0);
}

uint64_t vidi__slabs_array_bytes(uint64_t bytes)
{
    return count_of(bytes) * sizeof(void *) + bytes;
}

static int fill(vidi__slabs *slabs, unsigned char **array, uint64_t bytes)
{
    uint64_t whole = whole_of(bytes);
    if (whole)
        VIDI__TRY(take_all(slabs, array, whole));
    return rest_of(bytes) ? vidi__alloc(slabs->memory, &array[whole], rest_of(bytes), VIDI__CACHE_LINE) : VIDI_OK;
}

int vidi__slabs_array(vidi__slabs *slabs, void *blocks, uint64_t bytes)
{
    unsigned char **array = NULL;
    int code = vidi__alloc_zeroed(slabs->memory, &array, count_of(bytes) * sizeof *array, _Alignof(void *));
    if (code == VIDI_OK && array && (code = fill(slabs, array, bytes)) < 0) {
        vidi__slabs_array_free(slabs, array, bytes);
        array = NULL;
    }
    memcpy(blocks, &array, sizeof array);
    return code;
}

int vidi__slabs_array_over(vidi__slabs *slabs, void *blocks, const void *lent, uint64_t bytes)
{
    unsigned char **array;
    VIDI__TRY(vidi__alloc(slabs->memory, &array, count_of(bytes) * sizeof *array, _Alignof(void *)));
    for (uint64_t i = 0; i < count_of(bytes); i++)
        array[i] = (unsigned char *)lent + i * VIDI__SLAB_BYTES; /* nobody writes to borrowed memory */
    memcpy(blocks, &array, sizeof array);
    return VIDI_OK;
}

void vidi__slabs_array_free(vidi__slabs *slabs, void *blocks, uint64_t bytes)
{
    unsigned char **array = blocks;
    if (!array)
        return;
    bool lent = vidi__memory_is_borrowed(slabs->memory, array[0]);
    if (whole_of(bytes) && !lent)
        give_all(slabs, array, whole_of(bytes));
    if (rest_of(bytes))
        vidi__release(slabs->memory, array[whole_of(bytes)], rest_of(bytes), VIDI__CACHE_LINE);
    vidi__release(slabs->memory, array, count_of(bytes) * sizeof *array, _Alignof(void *));
}
