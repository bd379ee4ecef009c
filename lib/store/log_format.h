/* The bytes of a log, which its writer and its reader agree on; log.h draws them. */
#ifndef VIDI_STORE_LOG_FORMAT_H
#define VIDI_STORE_LOG_FORMAT_H

#include "base/bits.h"
#include "store/log.h"

/* What a record with so many bytes of payload takes in the file. The payload must not pass VIDI__LOG_RECORD_MAX. */
static inline uint64_t vidi__log_record_bytes(uint64_t payload)
{
    return VIDI__LOG_RECORD_HEAD + vidi__round_up(payload, 8) + VIDI__LOG_CHECK;
}

void vidi__log_head_write(unsigned char head[VIDI__LOG_HEAD], const vidi__log_id *id, uint64_t generation);

/* VIDI_EFORMAT if this is no head, VIDI_EDIFFERS if it is that of another log; name is for the sentence. */
int vidi__log_head_read(const unsigned char head[VIDI__LOG_HEAD], const vidi__log_id *id, const char *name,
                        uint64_t *generation);

/*
 * Of a record's type and length, and of its place. Whoever searches for records behind damage asks it first, and so
 * need not compute the checksum of gigabytes for each eight bytes that might be a head.
 */
uint32_t vidi__log_mark(uint64_t generation, uint64_t offset, uint32_t type, uint64_t payload);

/* Of the record's place, its head, its payload and the zeros behind it: `bytes` of all that is before the checksum. */
uint64_t vidi__log_checksum(uint64_t generation, uint64_t offset, const unsigned char *record, uint64_t bytes);

#endif
