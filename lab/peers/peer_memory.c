/* Memory for the filters: from the caller's allocator, or from malloc. See peer_filters.h. */
#include <stdlib.h>
#include <string.h>

#include "lab/peers/peer_filters.h"

void *lab_peer_allocate(const vidi_allocator *memory, size_t bytes)
{
    if (memory)
        return memory->allocate_zeroed(memory->context, bytes, LAB_PEER_LINE);
    void *ptr = NULL;
    if (posix_memalign(&ptr, LAB_PEER_LINE, bytes) != 0)
        return NULL;
    memset(ptr, 0, bytes);
    return ptr;
}

void lab_peer_release(const vidi_allocator *memory, void *ptr, size_t bytes)
{
    if (!ptr)
        return;
    if (memory)
        memory->release(memory->context, ptr, bytes, LAB_PEER_LINE);
    else
        free(ptr);
}
