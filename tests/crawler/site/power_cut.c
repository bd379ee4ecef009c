/*
 * What a power cut leaves: see power.h. Files keep their inodes, as they do when the power fails: they are moved out of
 * the way, and then to the names that are left.
 */
#include "power.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/folder.h"
#include "support/random.h"
#include "text.h"

enum { BLOCK = 4096, NAME_ROOM = 256, MOST_FILES = 4096 };

/* A file or folder as it is now, by its number. */
typedef struct present {
    unsigned long long file;
    char *path;
    bool is_folder;
    site_text names; /* of a folder, in the form of the mirror */
    bool placed;     /* the file has got a name that is left */
} present;

typedef struct cut {
    const char *mirror;
    test_random random;
    bool strict;
    present *files;
    size_t count;
} cut;

static char *join(const char *folder, const char *name)
{
    site_text path = {0};
    site_text_put(&path, "%s/%s", folder, name);
    return path.at;
}

static void fail(const char *what, const char *path)
{
    fprintf(stderr, "power_cut: cannot %s %s\n", what, path);
    exit(2);
}

/* ---- what is there ---- */

static bool is_entry(const struct dirent *entry)
{
    return strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
}

static void list_present(cut *self, const char *path)
{
    struct stat about;
    if (self->count == MOST_FILES || lstat(path, &about) != 0)
        return;
    present *entry = &self->files[self->count++];
    *entry = (present){.file = about.st_ino, .path = site_copy(path), .is_folder = S_ISDIR(about.st_mode)};
    DIR *list = entry->is_folder ? opendir(path) : NULL;
    for (struct dirent *each; list && (each = readdir(list));) {
        if (!is_entry(each) || fstatat(dirfd(list), each->d_name, &about, AT_SYMLINK_NOFOLLOW) != 0)
            continue;
        site_text_put(&entry->names, "%c %llu %s\n", S_ISDIR(about.st_mode) ? 'd' : 'f',
                      (unsigned long long)about.st_ino, each->d_name);
        char *below = join(path, each->d_name);
        list_present(self, below);
        free(below);
    }
    if (list)
        closedir(list);
}

static void cut_begin(cut *self, const char *folder, const char *mirror, uint64_t seed)
{
    *self = (cut){
        .mirror = mirror, .random = {seed}, .strict = seed == 0, .files = site_memory(MOST_FILES * sizeof(present))};
    list_present(self, folder);
    if (self->count == 0)
        fail("read", folder);
}

static void cut_end(cut *self)
{
    for (size_t i = 0; i < self->count; i++) {
        free(self->files[i].path);
        site_text_free(&self->files[i].names);
    }
    free(self->files);
}

static present *find_present(const cut *self, unsigned long long file)
{
    for (size_t i = 0; i < self->count; i++) {
        if (self->files[i].file == file)
            return &self->files[i];
    }
    return NULL;
}

/* Into the file if it exists, so that its inode stays. */
static void save(const char *path, const site_text *text)
{
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(text->length ? text->at : "", 1, text->length, file) != text->length || fclose(file) != 0)
        fail("write", path);
}

/* ---- the mirror ---- */

static char *mirror_path(const cut *self, char kind, unsigned long long file)
{
    site_text path = {0};
    site_text_put(&path, "%s/%c%llu", self->mirror, kind, file);
    return path.at;
}

void power_begin(const char *folder, const char *mirror)
{
    cut self;
    test_folder_remove(mirror);
    if (mkdir(mirror, 0700) != 0)
        fail("make", mirror);
    cut_begin(&self, folder, mirror, 0);
    for (size_t i = 0; i < self.count; i++) {
        const present *entry = &self.files[i];
        char *path = mirror_path(&self, entry->is_folder ? 'd' : 'i', entry->file);
        site_text text = {0};
        if (!entry->is_folder)
            site_text_load(&text, entry->path);
        save(path, entry->is_folder ? &entry->names : &text);
        site_text_free(&text);
        free(path);
    }
    cut_end(&self);
}

/* ---- what is left ---- */

static bool coin(cut *self)
{
    return !self->strict && test_below(&self->random, 2) == 1;
}

/* Of each block, and of the length, either what was synced or what is there now. */
static void mix(cut *self, site_text *synced, const site_text *now)
{
    size_t length = coin(self) ? now->length : synced->length;
    site_text mixed = {0};
    for (size_t at = 0; at < length; at += BLOCK) {
        bool new_one = coin(self) || at >= synced->length;
        const site_text *from = new_one && at < now->length ? now : synced;
        size_t end = length < at + BLOCK ? length : at + BLOCK;
        size_t has = from->length > at ? from->length - at : 0, want = end - at;
        site_text_add(&mixed, from->length > at ? from->at + at : "", has < want ? has : want);
        while (mixed.length < end) /* a length without its bytes */
            site_text_add(&mixed, "", 1);
    }
    site_text_free(synced);
    *synced = mixed;
}

static void leave_file(cut *self, unsigned long long file, const char *to)
{
    present *entry = find_present(self, file);
    char *path = mirror_path(self, 'i', file);
    site_text text = {0}, now = {0};
    site_text_load(&text, path);
    if (entry && !entry->placed) {
        site_text_load(&now, entry->path);
        if (!self->strict)
            mix(self, &text, &now);
        if (rename(entry->path, to) != 0)
            fail("move", to);
        entry->placed = true;
    }
    save(to, &text);
    site_text_free(&text);
    site_text_free(&now);
    free(path);
}

static void leave_folder(cut *self, unsigned long long folder, const char *to)
{
    char kind, name[NAME_ROOM], *mirrored = mirror_path(self, 'd', folder);
    unsigned long long file;
    int length;
    const present *entry = find_present(self, folder);
    site_text names = {0};
    if (entry && coin(self))
        site_text_add(&names, entry->names.at, entry->names.length);
    else
        site_text_load(&names, mirrored);
    if (mkdir(to, 0700) != 0)
        fail("make", to);
    for (size_t at = 0; at < names.length; at += (size_t)length) {
        length = 0;
        if (sscanf(names.at + at, "%c %llu %255[^\n]\n%n", &kind, &file, name, &length) != 3 || length == 0)
            break;
        char *path = join(to, name);
        if (kind == 'd')
            leave_folder(self, file, path);
        else
            leave_file(self, file, path);
        free(path);
    }
    site_text_free(&names);
    free(mirrored);
}

/* Moves all files out of the way, so that they can get other names. */
static void move_aside(cut *self, const char *aside)
{
    if (mkdir(aside, 0700) != 0)
        fail("make", aside);
    for (size_t i = 0; i < self->count; i++) {
        site_text path = {0};
        if (self->files[i].is_folder)
            continue;
        site_text_put(&path, "%s/%llu", aside, self->files[i].file);
        if (rename(self->files[i].path, path.at) != 0)
            fail("move", path.at);
        free(self->files[i].path);
        self->files[i].path = path.at;
    }
}

void power_cut(const char *folder, const char *mirror, uint64_t seed)
{
    cut self;
    site_text left = {0}, aside = {0};
    site_text_put(&left, "%s.left", folder);
    site_text_put(&aside, "%s.aside", folder);
    cut_begin(&self, folder, mirror, seed);
    move_aside(&self, aside.at);
    leave_folder(&self, self.files[0].file, left.at);
    test_folder_remove(folder);
    test_folder_remove(aside.at);
    if (rename(left.at, folder) != 0)
        fail("rename", left.at);
    cut_end(&self);
    site_text_free(&left);
    site_text_free(&aside);
    power_begin(folder, mirror);
}
