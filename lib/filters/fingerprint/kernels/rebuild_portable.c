/* The pass of a rebuilding (rebuild.h) in plain C. */
#include "filters/fingerprint/kernels/rebuild.h"

#define INLINE static VIDI__INLINE
#define PASS vidi__rebuild_pass_portable

INLINE void decode(uint64_t *hashes, const unsigned char *line, unsigned width, uint32_t own, uint64_t first)
{
    const unsigned slots = vidi__line_slots(width);
    for (unsigned i = 0; i < slots; i++)
        hashes[i] = own >> i & 1 ? first + vidi__line_get(line, width, i) : VIDI__REBUILD_NOWHERE;
    for (unsigned i = slots; i % 4; i++)
        hashes[i] = VIDI__REBUILD_NOWHERE;
}

/* Every distance is written, and the next one writes over it if it does not belong here: no branch to mispredict. */
INLINE unsigned append(uint64_t *stage, unsigned count, const uint64_t *hashes, unsigned n, uint64_t start,
                       uint64_t length)
{
    for (unsigned i = 0; i < n; i++) {
        stage[count] = hashes[i] - start;
        count += stage[count] < length;
    }
    return count;
}

INLINE void encode(unsigned char *line, unsigned width, const uint64_t *stage, uint32_t head)
{
    for (unsigned i = 0; i < vidi__line_slots(width); i++)
        vidi__line_put(line, width, i, stage[i]);
    vidi__line_set_head(line, head);
}

#include "filters/fingerprint/kernels/rebuild_pass.h"
