/*
 * Files, as the store sees them: every call to the operating system that could fail goes through one table of
 * functions, which a test may replace by one that fails at the n-th call, loses what was not synced, or tears a write
 * in two. Above the table, the functions that the store uses: they go on after EINTR and after writing or reading less
 * than was asked for, and turn errors into sentences with the name of the file.
 *
 * Nothing here retries an fsync, not even after EINTR: when one has failed, nobody knows what is on the disk.
 */
#ifndef VIDI_STORE_FILE_H
#define VIDI_STORE_FILE_H

#include <sys/types.h>

#include "base/base.h"

/* As in POSIX: -1 and errno on error. */
typedef struct vidi__system {
    int (*open)(int folder, const char *name, int flags, mode_t mode); /* openat */
    int (*close)(int file);
    ssize_t (*write)(int file, const void *data, size_t bytes);
    ssize_t (*pread)(int file, void *data, size_t bytes, off_t offset);
    int (*fsync)(int file);
    int (*rename)(int folder, const char *from, const char *to); /* renameat within one folder */
    int (*unlink)(int folder, const char *name);                 /* unlinkat */
    int (*mkdir)(const char *path, mode_t mode);
    int (*size)(int file, uint64_t *bytes);    /* fstat */
    int (*lock)(int file);                     /* flock, exclusive, without waiting */
    int (*truncate)(int file, uint64_t bytes); /* ftruncate */
    void *(*map)(int file, size_t bytes);      /* mmap, for reading, shared; MAP_FAILED */
    int (*unmap)(void *start, size_t bytes);
    /* Calls visit for each name in the folder but "." and ".."; ends when that returns other than 0, and returns it. */
    int (*list)(int folder, int (*visit)(void *context, const char *name), void *context);
} vidi__system;

/* The operating system's own; and the one in force, which only tests change. */
extern const vidi__system vidi__system_real;
extern const vidi__system *vidi__system_now;

/* What files of a set may be read and written by: the owner alone, because the key is inside. */
#define VIDI__FILE_MODE 0600
#define VIDI__FOLDER_MODE 0700

/* An open file and the name that sentences call it by. */
typedef struct vidi__file {
    int handle; /* -1: closed */
    char name[40];
} vidi__file;

/* All return VIDI_OK or VIDI_EIO with a sentence, but where something else is said. */

/* flags as for open(2), O_CLOEXEC is added. VIDI_EABSENT if there is no such file. */
int vidi__file_open(vidi__file *file, int folder, const char *name, int flags);
/* Closed is fine. Only for files that were written is the result of interest. */
int vidi__file_close(vidi__file *file);
int vidi__file_write(const vidi__file *file, const void *data, size_t bytes);
/* Exactly so many bytes; VIDI_EFORMAT if the file ends before. */
int vidi__file_read(const vidi__file *file, void *data, size_t bytes, uint64_t offset);
int vidi__file_sync(const vidi__file *file);
int vidi__file_size(const vidi__file *file, uint64_t *bytes);
int vidi__file_truncate(const vidi__file *file, uint64_t bytes);
/* VIDI_ELIMIT if the machine has no such addresses. 0 bytes are NULL. */
int vidi__file_map(const vidi__file *file, uint64_t bytes, const void **start);
void vidi__file_unmap(const void *start, uint64_t bytes);
int vidi__file_rename(int folder, const char *from, const char *to);
/* A file that is not there is fine. */
int vidi__file_unlink(int folder, const char *name);

#endif
