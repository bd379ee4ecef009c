/* See chunks.h. The pool is a free list, plus blocks from which new chunks are cut. */
#include "filters/fingerprint/slabs.h"

#define HUGE_PAGE (UINT64_C(2) << 20)

int vidi__chunks_init(vidi__chunks *chunks, vidi__memory *memory)
{
    memset(chunks, 0, sizeof *chunks);
    chunks->memory = memory;
    if (pthread_mutex_init(&chunks->lock, NULL))
        return vidi__fail(VIDI_ESYSTEM, "cannot create a lock: the system has no more of them");
    return VIDI_OK;
}

void vidi__chunks_close(vidi__chunks *chunks)
{
    if (!chunks->memory)
        return;
    for (uint64_t i = 0; i < chunks->block_count; i++)
        vidi__release(chunks->memory, chunks->blocks[i].bytes, chunks->blocks[i].size, chunks->blocks[i].alignment);
    vidi__release(chunks->memory, chunks->blocks, chunks->block_room * sizeof *chunks->blocks,
                  _Alignof(vidi__chunk_block));
    pthread_mutex_destroy(&chunks->lock);
    chunks->memory = NULL;
}

/* Block size: about 1/32 of the total. So little memory is allocated ahead, and blocks are few. */
static uint64_t next_block(const vidi__chunks *chunks)
{
    uint64_t size = chunks->total * VIDI__CHUNK_BYTES / 32;
    if (size >= HUGE_PAGE)
        return HUGE_PAGE;
    return size < VIDI__CHUNK_BYTES ? VIDI__CHUNK_BYTES : size / VIDI__CHUNK_BYTES * VIDI__CHUNK_BYTES;
}

/* Allocates a block of this size to cut chunks from. The previous one is used up. */
static int new_block(vidi__chunks *chunks, uint64_t size)
{
    if (chunks->block_count == chunks->block_room) {
        uint64_t room = chunks->block_room ? chunks->block_room * 2 : 8;
        VIDI__TRY(vidi__regrow(chunks->memory, &chunks->blocks, chunks->block_room * sizeof *chunks->blocks,
                               room * sizeof *chunks->blocks, _Alignof(vidi__chunk_block)));
        chunks->block_room = room;
    }
    vidi__chunk_block block = {.size = size};
    block.alignment = block.size >= HUGE_PAGE ? HUGE_PAGE : VIDI__CACHE_LINE;
    VIDI__TRY(vidi__alloc(chunks->memory, &block.bytes, block.size, block.alignment));
    chunks->blocks[chunks->block_count++] = block;
    chunks->cut_from = block.bytes;
    chunks->cut_left = block.size;
    return VIDI_OK;
}

int vidi__chunks_reserve(vidi__chunks *chunks, uint64_t bytes)
{
    bytes = bytes / VIDI__CHUNK_BYTES * VIDI__CHUNK_BYTES;
    return bytes ? new_block(chunks, bytes) : VIDI_OK;
}

static int take(vidi__chunks *chunks, unsigned char **chunk)
{
    if (chunks->free) {
        *chunk = chunks->free;
        memcpy(&chunks->free, *chunk, sizeof chunks->free);
        chunks->free_count--;
        return VIDI_OK;
    }
    if (!chunks->cut_left)
        VIDI__TRY(new_block(chunks, next_block(chunks)));
    *chunk = chunks->cut_from;
    chunks->cut_from += VIDI__CHUNK_BYTES;
    chunks->cut_left -= VIDI__CHUNK_BYTES;
    chunks->total++;
    return VIDI_OK;
}

int vidi__chunks_take(vidi__chunks *chunks, unsigned char **chunk)
{
    *chunk = NULL;
    pthread_mutex_lock(&chunks->lock);
    int code = take(chunks, chunk);
    pthread_mutex_unlock(&chunks->lock);
    return code;
}

void vidi__chunks_give(vidi__chunks *chunks, unsigned char *chunk)
{
    if (!chunk)
        return;
    pthread_mutex_lock(&chunks->lock);
    memcpy(chunk, &chunks->free, sizeof chunks->free);
    chunks->free = chunk;
    chunks->free_count++;
    pthread_mutex_unlock(&chunks->lock);
}

/* ---- arrays ---- */

/* Number of whole chunks in an array, and the bytes behind them. */
static uint64_t whole_of(uint64_t bytes)
{
    return bytes / VIDI__CHUNK_BYTES;
}

static uint64_t rest_of(uint64_t bytes)
{
    return bytes % VIDI__CHUNK_BYTES;
}

static uint64_t count_of(uint64_t bytes)
{
    return whole_of(bytes) + (rest_of(bytes) > 0);
}

uint64_t vidi__chunks_array_bytes(uint64_t bytes)
{
    return count_of(bytes) * sizeof(void *) + bytes;
}

static int fill(vidi__chunks *chunks, unsigned char **array, uint64_t bytes)
{
    uint64_t whole = whole_of(bytes);
    for (uint64_t i = 0; i < whole; i++)
        VIDI__TRY(vidi__chunks_take(chunks, &array[i]));
    return rest_of(bytes) ? vidi__alloc(chunks->memory, &array[whole], rest_of(bytes), VIDI__CACHE_LINE) : VIDI_OK;
}

int vidi__chunks_array(vidi__chunks *chunks, void *blocks, uint64_t bytes)
{
    unsigned char **array = NULL;
    int code = vidi__alloc_zeroed(chunks->memory, &array, count_of(bytes) * sizeof *array, _Alignof(void *));
    if (code == VIDI_OK && array && (code = fill(chunks, array, bytes)) < 0) {
        vidi__chunks_array_free(chunks, array, bytes);
        array = NULL;
    }
    memcpy(blocks, &array, sizeof array);
    return code;
}

int vidi__chunks_array_over(vidi__chunks *chunks, void *blocks, const void *lent, uint64_t bytes)
{
    unsigned char **array;
    VIDI__TRY(vidi__alloc(chunks->memory, &array, count_of(bytes) * sizeof *array, _Alignof(void *)));
    for (uint64_t i = 0; i < count_of(bytes); i++)
        array[i] = (unsigned char *)lent + i * VIDI__CHUNK_BYTES; /* nobody writes to borrowed memory */
    memcpy(blocks, &array, sizeof array);
    return VIDI_OK;
}

void vidi__chunks_array_free(vidi__chunks *chunks, void *blocks, uint64_t bytes)
{
    unsigned char **array = blocks;
    if (!array)
        return;
    bool lent = vidi__is_borrowed(chunks->memory, array[0]);
    for (uint64_t i = 0; i < whole_of(bytes) && !lent; i++)
        vidi__chunks_give(chunks, array[i]);
    if (rest_of(bytes))
        vidi__release(chunks->memory, array[whole_of(bytes)], rest_of(bytes), VIDI__CACHE_LINE);
    vidi__release(chunks->memory, array, count_of(bytes) * sizeof *array, _Alignof(void *));
}
