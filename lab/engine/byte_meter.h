/* An allocator for sets that counts the bytes they have allocated, now and at most. */
#ifndef VIDI_LAB_ENGINE_BYTE_METER_H
#define VIDI_LAB_ENGINE_BYTE_METER_H

#include "vidi/vidi.h"

typedef struct lab_meter {
    size_t now, peak;
    vidi_allocator allocator; /* its context is this struct, which must not move and must outlive the sets */
} lab_meter;

void lab_meter_init(lab_meter *meter);

#endif
