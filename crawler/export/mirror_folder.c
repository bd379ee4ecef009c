/*
 * Writes the files of a mirror: see mirror_folder.h.
 *
 * A path is walked folder by folder, and links are never followed. A file is written under one name at the top and
 * renamed to its place, so that a process that is killed leaves whole files only.
 */
#include "crawler/export/mirror_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/files.h"

#define MARKER ".vidi-mirror"
#define PART ".vidi-part"

enum { MARKER_ROOM = 128 };

static int failed(const mirror_folder *folder, const char *verb, const char *name)
{
    int error = errno == ENOSPC || errno == EDQUOT ? VIDI_ELIMIT : VIDI_EIO;

    return export_fail(folder->source, error, "cannot %s %s/%s: %s", verb, folder->path, name,
                       errno == ELOOP || errno == ENOTDIR ? "it is a link, or not a folder" : strerror(errno));
}

/* ---- files ---- */

/* Opens the folder called by the component, and makes it if it is missing. A descriptor or -1. */
static int enter(int at, const char *component)
{
    if (mkdirat(at, component, 0777) != 0 && errno != EEXIST)
        return -1;
    return (int)TEMP_FAILURE_RETRY(openat(at, component, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

static int rename_part(const mirror_folder *folder, const char *path)
{
    int at = folder->root, error = VIDI_OK;
    const char *slash;
    char component[256];

    for (; !error && (slash = strchr(path, '/')); path = slash + 1) {
        snprintf(component, sizeof component, "%.*s", (int)(slash - path), path);
        int next = enter(at, component);
        if (next < 0)
            error = failed(folder, "open", component);
        if (at != folder->root)
            close(at);
        at = next;
    }
    if (!error && renameat(folder->root, PART, at, path) != 0)
        error = failed(folder, "write", path);
    if (at >= 0 && at != folder->root)
        close(at);
    return error;
}

int mirror_folder_write(const mirror_folder *folder, const char *path, vidi_str content)
{
    unlinkat(folder->root, PART, 0); /* left by a process that was killed */
    int fd =
        (int)TEMP_FAILURE_RETRY(openat(folder->root, PART, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666));
    if (fd < 0)
        return failed(folder, "make", PART);
    bool written = file_write(fd, content.ptr, content.len) == content.len;
    int why = errno;
    bool closed = close(fd) == 0;
    int error = VIDI_OK;
    if (!written || !closed) {
        errno = written ? errno : why;
        error = failed(folder, "write", path);
    }
    if (!error)
        error = rename_part(folder, path);
    if (error)
        unlinkat(folder->root, PART, 0);
    return error;
}

int mirror_folder_sync(const mirror_folder *folder)
{
    return syncfs(folder->root) == 0 ? VIDI_OK : failed(folder, "sync", "");
}

/* ---- whose it is ---- */

/* A line that names the crawl by a digest of its secret, which stays one. */
static int make_marker(const mirror_folder *folder, char *to)
{
    static const char what[] = "vidi mirror: ";
    unsigned char digest[EVP_MAX_MD_SIZE];
    bytes secret = {0};
    crawl_db *db = report_db(folder->source->options->report);
    int error = bytes_append_text(&secret, what);

    if (!error)
        error = db_get_text(db, "secret", &secret);
    if (error == VIDI_EABSENT)
        error = VIDI_OK;
    if (!error && !EVP_Digest(secret.ptr, secret.len, digest, NULL, EVP_sha256(), NULL))
        error = VIDI_EMEMORY;
    bytes_free(&secret);
    if (error)
        return export_fail(folder->source, error, "%s", vidi_strerror(error));
    int at = snprintf(to, MARKER_ROOM, "%s", what);
    for (int i = 0; i < 16; i++)
        at += snprintf(to + at, (size_t)(MARKER_ROOM - at), "%02x", digest[i]);
    snprintf(to + at, (size_t)(MARKER_ROOM - at), "\n");
    return VIDI_OK;
}

/* True if nothing is in it but what a killed process may have left. */
static bool is_empty(int root)
{
    int again = openat(root, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *list = again < 0 ? NULL : fdopendir(again);
    struct dirent *entry;
    bool empty = list;

    while (list && (entry = readdir(list)))
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 && strcmp(entry->d_name, PART) != 0)
            empty = false;
    if (list)
        closedir(list);
    else if (again >= 0)
        close(again);
    return empty;
}

static int claim(const mirror_folder *folder)
{
    char ours[MARKER_ROOM], found[MARKER_ROOM] = "";
    int error = make_marker(folder, ours);

    if (error)
        return error;
    int fd = (int)TEMP_FAILURE_RETRY(openat(folder->root, MARKER, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (fd >= 0) {
        ssize_t got = file_read_at(fd, found, sizeof found - 1, 0);
        close(fd);
        if (got == (ssize_t)strlen(ours) && strcmp(found, ours) == 0)
            return VIDI_OK;
        return export_fail(folder->source, VIDI_EEXIST, "%s has the files of another crawl", folder->path);
    }
    if (!is_empty(folder->root))
        return export_fail(folder->source, VIDI_EEXIST,
                           "%s is not empty, and was not made by 'vidi crawl extract'; name another folder",
                           folder->path);
    return mirror_folder_write(folder, MARKER, (vidi_str){ours, strlen(ours)});
}

int mirror_folder_open(mirror_folder *folder, const export_source *source, const char *path)
{
    *folder = (mirror_folder){.source = source, .path = path, .root = -1};
    if (mkdir(path, 0700) != 0 && errno != EEXIST)
        return export_fail(source, VIDI_EIO, "cannot make %s: %s", path, strerror(errno));
    folder->root = (int)TEMP_FAILURE_RETRY(open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (folder->root < 0)
        return export_fail(source, VIDI_EIO, "cannot open %s: %s", path, strerror(errno));
    if (flock(folder->root, LOCK_EX | LOCK_NB) != 0)
        return export_fail(source, VIDI_EIO, "another process is writing to %s", path);
    return claim(folder);
}

void mirror_folder_close(mirror_folder *folder)
{
    if (folder->root >= 0)
        close(folder->root);
    folder->root = -1;
}
