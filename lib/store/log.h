/*
 * The log: what was committed since the last snapshot, in the order in which it was committed.
 *
 *     head    0  "vidilog\n"             8  u32 version (1)          12  u32 0x01020304, the byte order
 *            16  u64 generation, random 24  u64 number of the log    32  u64 epoch
 *            40  u64 identity of the set 48  u64 0                    56  u64 checksum of the 56 bytes before
 *     record  0  u32 mark                4  u32 type                   8  u64 bytes of payload
 *            16  payload, and zeros up to a multiple of 8
 *             …  u64 checksum of generation, the record's offset in the file, and all of the record before
 *
 * The mark is the low half of a checksum of generation, offset, type and bytes: a head is recognised without its
 * payload. Numbers are little-endian. A checksum is the low half of SipHash-1-3-128 with a zero key.
 *
 * Records begin at multiples of 8. Writing appends only; a file that was found to end in the middle of a record is
 * never written to again: a new one, with the next number, takes over.
 *
 * Reading hands out every record whose checksum is right, in order, also those behind a damaged stretch: nothing valid
 * is thrown away. What is skipped is counted: a stretch that reaches to the end of the file is what a crash leaves of
 * the last write; one with records behind it is damage, or writes that the disk had reordered when the power failed.
 *
 * Appending never waits for the disk: records go to a buffer in memory, and a thread of the log's own writes the buffer
 * out at least every 100 ms and syncs as the policy says. vidi__log_wait waits for that. After the first error nothing
 * more is written to this file: every later call returns that error. A failed sync is not repeated. With
 * VIDI__SYNC_ALWAYS the file is then cut back to what was synced, if that is possible: what nobody was told of should
 * not be found either.
 *
 * All functions may be called from any thread.
 */
#ifndef VIDI_STORE_LOG_H
#define VIDI_STORE_LOG_H

#include "base/memory.h"
#include "store/file.h"

enum { VIDI__LOG_HEAD = 64, VIDI__LOG_RECORD_HEAD = 16, VIDI__LOG_CHECK = 8 };

/* No record is larger; what is, is cut by those who append. */
#define VIDI__LOG_RECORD_MAX (UINT64_C(1) << 30)

/* What makes a log one of this set, and of no other. */
typedef struct vidi__log_id {
    uint64_t number;
    uint64_t epoch;
    uint64_t identity;
} vidi__log_id;

typedef enum vidi__log_policy {
    VIDI__SYNC_EVERYSEC, /* at most a second after the first record that is not synced */
    VIDI__SYNC_ALWAYS,   /* as soon as there are records; those that come meanwhile share the next sync */
    VIDI__SYNC_NO        /* only when somebody waits for it */
} vidi__log_policy;

typedef struct vidi__log vidi__log;

/*
 * Makes the file "log.<number as 16 hexadecimal digits>" in the folder, writes and syncs its head, syncs the folder,
 * and starts the thread. An existing file of that name that holds no more than a head, which a crash has left, is
 * replaced; otherwise VIDI_EIO. The folder's handle must stay open as long as the log. The thread takes and gives back
 * memory, too.
 */
int vidi__log_create(vidi__log **log, vidi__memory *memory, int folder, const vidi__log_id *id,
                     vidi__log_policy policy);

/*
 * Goes on at the end of a log that vidi__log_read has found whole: `bytes` is what it said of its size; VIDI_EFORMAT if
 * the file has another. What is in it is synced first, as the process that wrote it may not have come to that.
 */
int vidi__log_continue(vidi__log **log, vidi__memory *memory, int folder, const vidi__log_id *id,
                       vidi__log_policy policy, uint64_t bytes);

/* Writes out what is left, syncs it unless the policy is VIDI__SYNC_NO, stops the thread, closes. NULL is fine. */
int vidi__log_close(vidi__log *log);

/*
 * Room for a record with so many bytes of payload, so that the append that follows cannot fail for want of memory; each
 * successful reserve must be followed by one append or one unreserve of the same size. Waits while the buffer
 * holds more than 64 MiB that the disk has not taken. Fails if the log has failed.
 */
int vidi__log_reserve(vidi__log *log, uint64_t payload_bytes);
void vidi__log_unreserve(vidi__log *log, uint64_t payload_bytes);

/*
 * Appends a record, the pieces of whose payload come to no more than what was reserved (`reserved`, the payload_bytes
 * of that call). *position becomes the log's length with it, for vidi__log_wait.
 */
void vidi__log_append(vidi__log *log, uint32_t type, const vidi_str *pieces, size_t count, uint64_t reserved,
                      uint64_t *position);

/*
 * Returns when everything before the position is on disk (synced), whatever the policy; or with the log's error, if it
 * has one, even if the position was on disk before. Beyond the end means all that was appended until now.
 */
int vidi__log_wait(vidi__log *log, uint64_t position);

/* The length with everything that was appended; and the error that has ended it, with its sentence, or VIDI_OK. */
uint64_t vidi__log_end(vidi__log *log);
int vidi__log_state(vidi__log *log);

/* ---- reading ---- */

typedef struct vidi__log_found {
    uint64_t records;
    uint64_t bytes;      /* of the file, up to the end of the last valid record */
    uint64_t damaged;    /* bytes skipped between valid records */
    uint64_t stretches;  /* in so many places */
    uint64_t unfinished; /* bytes behind the last valid record */
    bool headless;       /* no longer than a head, and none: what a crash in vidi__log_create leaves; all else is 0 */
} vidi__log_found;

/* One record. Anything but VIDI_OK ends the reading and is returned. */
typedef int vidi__log_visit(void *context, uint32_t type, vidi_str payload);

/*
 * Reads a log from the first to the last valid record. VIDI_EABSENT if there is no such file, VIDI_EDIFFERS if its id
 * is another, VIDI_EFORMAT if the head is damaged and something follows it. Takes memory for the largest record that is
 * in the file, never more than the file is long plus 1 MiB. A log that is being written to meanwhile is read up to some
 * record. Searching for records behind damage takes time that is linear in the file's size, whatever is in it: a file
 * that was forged to take more is VIDI_EFORMAT, after the records before that have been handed out.
 */
int vidi__log_read(vidi__memory *memory, int folder, const vidi__log_id *id, vidi__log_visit *visit, void *context,
                   vidi__log_found *found);

/* "log.000000000000002a" */
void vidi__log_name(char name[40], uint64_t number);

#endif
