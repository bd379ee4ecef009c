/*
 * Counts bytes. See byte_meter.h. Zeroed memory comes from calloc, so that large arrays take no time before they are
 * written to; the address that malloc or calloc gave stands in the bytes before the aligned ones.
 */
#include "lab/engine/byte_meter.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static void *take(lab_meter *meter, char *start, size_t bytes, size_t alignment)
{
    if (!start)
        return NULL;
    uintptr_t address = (uintptr_t)start + sizeof start;
    char *aligned = start + sizeof start + (-address & (alignment - 1));
    memcpy(aligned - sizeof start, &start, sizeof start);
    meter->now += bytes;
    meter->peak = meter->now > meter->peak ? meter->now : meter->peak;
    return aligned;
}

static void *allocate(void *context, size_t bytes, size_t alignment)
{
    return take(context, malloc(bytes + alignment + sizeof(char *)), bytes, alignment);
}

static void *allocate_zeroed(void *context, size_t bytes, size_t alignment)
{
    return take(context, calloc(1, bytes + alignment + sizeof(char *)), bytes, alignment);
}

static void release(void *context, void *ptr, size_t bytes, size_t alignment)
{
    lab_meter *meter = context;
    char *start;
    (void)alignment;
    if (!ptr)
        return;
    memcpy(&start, (char *)ptr - sizeof start, sizeof start);
    meter->now -= bytes;
    free(start);
}

void lab_meter_init(lab_meter *meter)
{
    *meter = (lab_meter){.now = 0};
    meter->allocator = (vidi_allocator){sizeof meter->allocator, allocate, allocate_zeroed, release, meter};
}
