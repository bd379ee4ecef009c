/* The byte format of a log, shared by its writer and its reader; log.h shows it. */
#ifndef VIDI_STORE_LOG_FORMAT_H
#define VIDI_STORE_LOG_FORMAT_H

#include "base/bits.h"
#include "store/log.h"

/* Bytes of a record with this payload in the file. The payload must not exceed VIDI__LOG_RECORD_MAX. */
static inline uint64_t vidi__log_record_bytes(uint64_t payload)
{
    return VIDI__LOG_RECORD_HEAD + vidi__round_up(payload, 8) + VIDI__LOG_CHECK;
}

/* What a head says beyond the identity of its log. */
typedef struct vidi__log_head {
    uint64_t generation;
    uint64_t previous; /* vidi__log_id.previous */
} vidi__log_head;

void vidi__log_head_write(unsigned char bytes[VIDI__LOG_HEAD], const vidi__log_id *id, uint64_t generation);

/*
 * VIDI_EDAMAGED if this is not a head, VIDI_EFORMAT if its version is unknown, VIDI_EDIFFERS if it belongs to another
 * log; `name` is for the message.
 */
int vidi__log_head_read(const unsigned char bytes[VIDI__LOG_HEAD], const vidi__log_id *id, const char *name,
                        vidi__log_head *head);

/* Finds the one bit whose change makes the head's checksum right, and changes it; false if there is none. */
bool vidi__log_head_mend(unsigned char bytes[VIDI__LOG_HEAD]);

/*
 * The check value of a record's type, length and position. When the reader searches for records after damage it tests
 * this first, so it need not compute the checksum of gigabytes for each eight bytes that might be a head.
 */
uint32_t vidi__log_check_value(uint64_t generation, uint64_t offset, uint32_t type, uint64_t payload);

/* Checksum of the record's position, head, payload and padding: `bytes` is the length of all before the checksum. */
uint64_t vidi__log_checksum(uint64_t generation, uint64_t offset, const unsigned char *record, uint64_t bytes);

#endif
