/* See mapped.h. */
#include "frame/mapped.h"

static const void *lend(vidi__reader *reader, uint64_t bytes)
{
    const vidi__mapped *self = (const vidi__mapped *)reader;
    reader->left -= bytes;
    return self->bytes + reader->at;
}

static int mapped_read(vidi__reader *reader, void *data, uint64_t bytes)
{
    if (bytes > reader->left)
        return vidi__damaged("a length exceeds the data");
    if (bytes)
        memcpy(data, lend(reader, bytes), (size_t)bytes);
    return VIDI_OK;
}

/* Number of bytes before the table. */
static uint64_t covered(const vidi__mapped *self)
{
    return VIDI__HEAD_BYTES + self->payload;
}

int vidi__frame_map(vidi__mapped *mapped, const void *bytes, uint64_t size)
{
    *mapped = (vidi__mapped){.bytes = bytes};
    if (!bytes || (uintptr_t)bytes % VIDI__CACHE_LINE)
        return vidi__fail(VIDI_EARGUMENT, "a mapping must be aligned to %d bytes", VIDI__CACHE_LINE);
    return vidi__frame_over(mapped, bytes, size);
}

int vidi__frame_over(vidi__mapped *mapped, const void *bytes, uint64_t size)
{
    *mapped = (vidi__mapped){.base = {.read = mapped_read, .at = VIDI__HEAD_BYTES, .lend = lend}, .bytes = bytes};
    VIDI__TRY(vidi__frame_check_magic(bytes, size));
    if (size >= VIDI__HEAD_BYTES)
        VIDI__TRY(vidi__frame_check_head(bytes, &mapped->head));
    VIDI__TRY(vidi__frame_shape(size, &mapped->payload, &mapped->blocks));
    if (mapped->head.length && mapped->head.length != size)
        return vidi__damaged("the piece has another length than it says");
    mapped->base.left = mapped->payload;
    const unsigned char *table = mapped->bytes + covered(mapped), *foot = table + mapped->blocks * 8;
    return vidi__frame_check_foot(foot, mapped->head.generation, table, mapped->payload, mapped->blocks);
}

int vidi__mapped_close(const vidi__mapped *mapped)
{
    return mapped->base.left ? vidi__damaged("there is unexpected data at the end") : VIDI_OK;
}

int vidi__mapped_verify(const vidi__mapped *mapped, uint64_t from, uint64_t count)
{
    const unsigned char *table = mapped->bytes + covered(mapped);
    if (from > mapped->blocks || count > mapped->blocks - from)
        return vidi__fail(VIDI_EARGUMENT, "there are only %llu blocks", (unsigned long long)mapped->blocks);
    for (uint64_t block = from; block < from + count; block++) {
        uint64_t begin = block * VIDI__BLOCK_BYTES, left = covered(mapped) - begin;
        size_t bytes = left < VIDI__BLOCK_BYTES ? (size_t)left : VIDI__BLOCK_BYTES;
        uint64_t sum = vidi__frame_sum(mapped->head.generation, block, mapped->bytes + begin, bytes);
        if (sum != vidi__load64(table + 8 * block))
            return vidi__frame_damaged(block);
    }
    return VIDI_OK;
}
