/*
 * The folder of a durable set.
 *
 *     lock                      held by the writer as long as its process lives; contains its process id
 *     set.<number>              a snapshot: the stream that vidi_write writes (docs/FORMAT.md)
 *     set.<number>.new          a snapshot that is being written, or that a crash has left behind
 *     log.<number>              what was committed after the snapshot of that number was begun
 *     index.<number>.<serial>   a part of the index of the log of that number (segment.h); nothing depends on it
 *     manifest                  which of these files must be there, and how much of each log is on disk (manifest.h)
 *     manifest.new              the next one, or what a crash has left of it
 *     merge.new                 as long as there is no snapshot: everything here is what an interrupted merge has left
 *
 * Numbers are 16 hexadecimal digits and increase by one. A snapshot contains everything up to the beginning of the log
 * with the same number. So the set is the snapshot with the highest number plus all logs from that number on, in order.
 * A snapshot gets its name by renaming, after it is complete and on disk; from that moment on it replaces the previous
 * one. Everything older is then removed, except what a snapshot names as its previous epoch.
 *
 * A new set is made in this order: set.1.new, log.1, manifest; last, set.1.new is renamed to set.1. Each is on disk
 * before the next is begun. So if there is no snapshot, set.1.new tells an interrupted creation, where nothing is lost,
 * from an interrupted copy or a deleted snapshot. A set that is made of others on disk (vidi_merge_stored) has records
 * in its first log before it gets its snapshot; merge.new, which is made before them and removed after set.1 has got
 * its name, tells that nothing is lost there, either.
 */
#ifndef VIDI_STORE_FOLDER_H
#define VIDI_STORE_FOLDER_H

#include "store/file.h"

typedef struct vidi__folder {
    int handle; /* -1: closed */
    vidi__file lock;
} vidi__folder;

/* What is in a folder. */
typedef struct vidi__folder_contents {
    uint64_t snapshot; /* the highest number of a snapshot; 0 if there is none */
    uint64_t last_log; /* the highest number of a log; 0 if there is none */
    uint64_t last_new; /* the highest number of an unfinished snapshot; 0 if there is none */
    bool has_manifest; /* the manifest is there */
    bool is_merge;     /* merge.new is there */
    bool has_others;   /* files that a set does not have when it is made */
} vidi__folder_contents;

/* What a folder is, judged by its contents. */
typedef enum vidi__folder_sort {
    VIDI__FOLDER_BARE,   /* no file of a set */
    VIDI__FOLDER_BEGUN,  /* what an interrupted creation has left */
    VIDI__FOLDER_SET,    /* a set, maybe a damaged one */
    VIDI__FOLDER_REMAINS /* part of a set: the snapshot is missing */
} vidi__folder_sort;

/*
 * Creates the folder, or takes an existing one that is empty or holds what an interrupted creation has left; locks it,
 * and syncs its parent. Otherwise VIDI_EEXIST, and nothing in the folder has changed.
 */
int vidi__folder_create(vidi__folder *folder, const char *path);
/* VIDI_EEXIST if vidi__folder_create would return that now, otherwise VIDI_OK. */
int vidi__folder_check_free(const char *path);
/*
 * Removes what an interrupted creation has left, in an order that a crash cannot turn into damage. Nothing else may be
 * in the folder.
 */
int vidi__folder_clear(const vidi__folder *folder);

/* Make merge.new, synced, and remove it. */
int vidi__folder_merge_begin(const vidi__folder *folder);
void vidi__folder_merge_end(const vidi__folder *folder);

/* VIDI_EABSENT if there is no such folder. */
int vidi__folder_open(vidi__folder *folder, const char *path);
void vidi__folder_close(vidi__folder *folder);

/* Takes the writer's lock. VIDI_EBUSY, with the process id of the holder in the message, if another process has it. */
int vidi__folder_lock(vidi__folder *folder);

/* Lists the folder, and tells what it is. */
int vidi__folder_look(const vidi__folder *folder, vidi__folder_contents *contents, vidi__folder_sort *sort);
int vidi__folder_sync(const vidi__folder *folder);

/*
 * Removes what is no longer needed: unfinished snapshots, and snapshots, logs and their indexes below `keep`, except
 * those from `also_first` to `also_last`. What cannot be removed stays until the next time.
 */
void vidi__folder_tidy(const vidi__folder *folder, uint64_t keep, uint64_t also_first, uint64_t also_last);

/* "set.000000000000002a" */
void vidi__folder_snapshot_name(char name[40], uint64_t number);

/* A snapshot that is being written. */
typedef struct vidi__folder_snapshot {
    const vidi__folder *folder;
    uint64_t number;
    vidi__file file;
    uint64_t bytes;  /* written so far */
    uint64_t synced; /* synced so far, so that the last sync need not wait for all of it */
    bool renamed;    /* it has its final name, so it may be in force */
    int error;       /* error of the sink, or VIDI_OK */
    char why[200];   /* message of that error, which frame.c replaces by its own */
} vidi__folder_snapshot;

/* Creates "set.<number>.new", empty. */
int vidi__folder_snapshot_begin(vidi__folder_snapshot *snapshot, const vidi__folder *folder, uint64_t number);
/* A vidi_sink; its context is the snapshot. */
int vidi__folder_snapshot_sink(void *context, const void *data, size_t bytes);
/* Syncs the file and closes it. On error it is removed. */
int vidi__folder_snapshot_seal(vidi__folder_snapshot *snapshot);
/*
 * Renames a sealed file and syncs the folder. After VIDI_OK the snapshot is in force and survives any crash. On error
 * the file may have either name.
 */
int vidi__folder_snapshot_finish(vidi__folder_snapshot *snapshot);
/* Gives up, and removes what was written. */
void vidi__folder_snapshot_abandon(vidi__folder_snapshot *snapshot);

#endif
