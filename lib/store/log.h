/*
 * The log: what was committed since the last snapshot, in the order of the commits.
 *
 *     head    0  "vidilog\n"             8  u32 version (1)          12  u32 0x01020304, the byte order
 *            16  u64 generation, random 24  u64 number of the log    32  u64 epoch
 *            40  u64 identity of the set 48  u64 length of the log before this one that was on disk when this one began
 *            56  u64 checksum of the 56 bytes before
 *     record  0  u32 check value         4  u32 type                   8  u64 bytes of payload
 *            16  payload, and zeros up to a multiple of 8
 *             …  u64 checksum of generation, the record's offset in the file, and all of the record before
 *
 * The check value is the low half of a checksum of generation, offset, type and bytes: it lets a head be recognised
 * without its payload. Numbers are little-endian. A checksum is the low half of SipHash-1-3-128 with a zero key.
 *
 * Records begin at multiples of 8. Writing only appends. A file that ends in the middle of a record is never written to
 * again: a new one, with the next number, takes over.
 *
 * Reading hands out every record whose checksum is right, in order, even after a damaged stretch: no valid record is
 * discarded. Skipped bytes are counted. Below the length that is known to have been on disk (manifest.h) they are
 * damage. Above it they are what a crash has left of the last writes, which the disk may have reordered.
 *
 * Appending never waits for the disk: records go to a buffer in memory. The log's thread writes the buffer at least
 * every 100 ms and syncs according to the policy; vidi__log_wait waits for that. After the first error nothing more is
 * written to this file, and every later call returns that error. A failed sync is not repeated. With VIDI__SYNC_ALWAYS
 * the file is then truncated to what was synced, if possible, so that records that no caller knows of are not found
 * later.
 *
 * All functions may be called from any thread.
 */
#ifndef VIDI_STORE_LOG_H
#define VIDI_STORE_LOG_H

#include "base/memory.h"
#include "store/file.h"

enum { VIDI__LOG_HEAD = 64, VIDI__LOG_RECORD_HEAD = 16, VIDI__LOG_CHECK = 8 };

/* The largest record; callers split what is larger. */
#define VIDI__LOG_RECORD_MAX (UINT64_C(1) << 30)

/* What identifies a log as one of this set. */
typedef struct vidi__log_id {
    uint64_t number;
    uint64_t epoch;
    uint64_t identity;
    uint64_t previous; /* of a new log: how much of the previous log is on disk; not compared when it is read */
} vidi__log_id;

typedef enum vidi__log_policy {
    VIDI__SYNC_EVERYSEC, /* at most a second after the first record that is not synced */
    VIDI__SYNC_ALWAYS,   /* as soon as there are records; those that arrive meanwhile share the next sync */
    VIDI__SYNC_NO        /* only when a caller waits for it */
} vidi__log_policy;

typedef struct vidi__log vidi__log;

/*
 * Creates the file "log.<number as 16 hexadecimal digits>" in the folder, writes and syncs its head, syncs the folder,
 * and starts the thread. An existing file of that name is replaced if it holds no more than a head, which a crash has
 * left; otherwise VIDI_EIO. The folder's handle must stay open as long as the log. The thread uses `memory`, too.
 */
int vidi__log_create(vidi__log **log, vidi__memory *memory, int folder, const vidi__log_id *id,
                     vidi__log_policy policy);

/*
 * Makes the log tell this manifest how much of it is on disk, and if it has got a second name. Before the first append.
 */
struct vidi__manifest;
void vidi__log_report_to(vidi__log *log, struct vidi__manifest *manifest);
/* Makes the log call `synced` after each sync, from its thread and without a lock. Before the first append. */
void vidi__log_watch(vidi__log *log, void (*synced)(void *context, uint64_t length), void *context);

/*
 * Continues at the end of a log that vidi__log_read found intact. `bytes` is the size that it reported; VIDI_EFORMAT if
 * the file has another size. The contents are synced first, since the process that wrote them may not have done so.
 */
int vidi__log_continue(vidi__log **log, vidi__memory *memory, int folder, const vidi__log_id *id,
                       vidi__log_policy policy, uint64_t bytes);

/*
 * Writes what is left, syncs it unless the policy is VIDI__SYNC_NO, stops the thread and closes the log. NULL is
 * allowed.
 */
int vidi__log_close(vidi__log *log);

/*
 * Reserves room for a record with this many bytes of payload, so that the following append cannot fail. Each successful
 * reserve must be followed by one append or one unreserve of the same size. Waits while the buffer holds more than 64
 * MiB, or a 16th of the memory limit, that are not yet on disk, and while there is no memory for a larger buffer. Fails
 * if the log has failed.
 */
int vidi__log_reserve(vidi__log *log, uint64_t payload_bytes);
void vidi__log_unreserve(vidi__log *log, uint64_t payload_bytes);

/*
 * The same for records that are gathered elsewhere first; false if it would have to wait, or fails. Such a record must
 * be appended, or given back, by the function that vidi__log_gather_by has set, or before. That is called from the
 * log's thread, without a lock, whenever it is about to write: at most 100 ms after such a reservation.
 */
bool vidi__log_reserve_now(vidi__log *log, uint64_t payload_bytes);
/* Before the first append. */
void vidi__log_gather_by(vidi__log *log, void (*gather)(void *context), void *context);

/* Returns true if the log has failed, without a lock: it may have failed a moment ago. */
bool vidi__log_has_failed(const vidi__log *log);

/*
 * Appends a record whose payload consists of the pieces. They must not exceed `reserved`, the payload_bytes of the
 * reservation. *position becomes the log's length including the record, for vidi__log_wait.
 */
void vidi__log_append(vidi__log *log, uint32_t type, const vidi_str *pieces, size_t count, uint64_t reserved,
                      uint64_t *position);

/*
 * Entries, which may share a record with others: until the thread takes a record to write it, further entries of the
 * same type are added to it, and what comes before them is written anew. A record has at most VIDI__LOG_ENTRIES_MOST
 * entries, and more than one only up to VIDI__LOG_SHARED_BYTES of payload.
 */
#define VIDI__LOG_ENTRIES_MOST 64
#define VIDI__LOG_SHARED_BYTES (UINT64_C(64) << 10)

typedef struct vidi__log_entries {
    uint32_t type;
    uint32_t count;
    uint64_t begin; /* bytes that come before the first entry; the same for all records of a type */
    uint64_t bytes; /* of these entries */
    bool shares;    /* they may be added to the last record, and others to theirs */
} vidi__log_entries;

/* Where the caller writes them; NULL if the log has failed. */
typedef struct vidi__log_place {
    unsigned char *begin;   /* `begin` bytes, which may have contents of earlier entries; all must be written */
    unsigned char *entries; /* `bytes` bytes */
    uint64_t position;      /* the log's length including them, for vidi__log_wait */
    uint64_t grown;         /* bytes by which the log has grown */
    uint64_t reserved;
} vidi__log_place;

/* Locks the log and makes a place for entries. The caller writes to it, soon, and then calls vidi__log_leave. */
void vidi__log_enter(vidi__log *log, const vidi__log_entries *entries, uint64_t reserved, vidi__log_place *place);
void vidi__log_leave(vidi__log *log, const vidi__log_place *place);

/*
 * Returns when everything before the position is synced, whatever the policy; or returns the log's error, if it has
 * one, even if the position was synced before. A position beyond the end means everything that was appended so far.
 */
int vidi__log_wait(vidi__log *log, uint64_t position);

/* The log's length including everything appended, and the error that has ended it, with its message, or VIDI_OK. */
uint64_t vidi__log_end(vidi__log *log);
int vidi__log_state(vidi__log *log);

/* ---- reading ---- */

/* For logs of which nobody knows how much was on disk: only bytes between records count as damage. */
#define VIDI__LOG_UNKNOWN UINT64_MAX

typedef struct vidi__log_found {
    uint64_t generation; /* random, one for each log */
    uint64_t records;
    uint64_t intact;     /* length of the file up to the first byte that is not part of a valid record */
    uint64_t bytes;      /* length of the file up to the end of the last valid record */
    uint64_t damaged;    /* bytes that were on disk and are not part of a valid record, or are missing from the file */
    uint64_t damaged_at; /* where the first of them is */
    uint64_t stretches;  /* number of places where there are such bytes */
    uint64_t unfinished; /* other bytes that are not part of a valid record: what a crash has left of the last writes */
    uint64_t links;      /* names that the file has */
    /*
     * not longer than a head, and without a valid one: what a crash in vidi__log_create leaves; the other fields are 0
     */
    bool headless;
} vidi__log_found;

/* Called for each record. A result other than VIDI_OK ends the reading and is returned. */
typedef int vidi__log_visit(void *context, uint32_t type, vidi_str payload);

/*
 * Reads a log from the first to the last valid record. `known` is the length that was on disk, or VIDI__LOG_UNKNOWN.
 * VIDI_EABSENT if there is no such file, VIDI_EDIFFERS if it has another id, VIDI_EDAMAGED if the head is damaged in
 * more than one bit and something follows it. Allocates memory for the largest record in the file, never more than the
 * length of the file plus 1 MiB. A log that is being written to is read up to some record. The search for records
 * after damage takes time linear in the file's size. A file that was forged to take longer is VIDI_EFORMAT, after the
 * records before that point have been handed out.
 */
int vidi__log_read(vidi__memory *memory, int folder, const vidi__log_id *id, uint64_t known, vidi__log_visit *visit,
                   void *context, vidi__log_found *found);

/* The same for part of a log, from `from`, the end of a record, to `to`: whatever begins there or later is ignored. */
typedef struct vidi__log_part {
    uint64_t from, to;
    uint64_t known;
} vidi__log_part;
int vidi__log_read_part(vidi__memory *memory, int folder, const vidi__log_id *id, const vidi__log_part *part,
                        vidi__log_visit *visit, void *context, vidi__log_found *found);

/* How much of the log before this one was on disk, as this one's head tells; 0 if it is unreadable. */
uint64_t vidi__log_length_before(int folder, const vidi__log_id *id);

/* "log.000000000000002a" */
void vidi__log_name(char name[40], uint64_t number);

#endif
