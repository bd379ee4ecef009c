#include "support/scratch.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/check.h"

void test_scratch_make(test_scratch *folder)
{
    test_folder_new(folder->path, false);
    folder->handle = open(folder->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    check(folder->handle >= 0, "%s cannot be opened", folder->path);
}

void test_scratch_empty(const test_scratch *folder)
{
    DIR *names = opendir(folder->path);
    check(names != NULL, "%s cannot be listed", folder->path);
    for (struct dirent *entry; (entry = readdir(names));)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            unlinkat(folder->handle, entry->d_name, 0);
    closedir(names);
}

void test_scratch_remove(test_scratch *folder)
{
    close(folder->handle);
    test_folder_remove(folder->path);
}

bool test_file_exists(const test_scratch *folder, const char *name)
{
    return faccessat(folder->handle, name, F_OK, 0) == 0;
}

void test_file_save(const test_scratch *folder, const char *name, const void *data, size_t bytes)
{
    test_file_write(folder->path, name, data, bytes);
}

unsigned char *test_file_load(const test_scratch *folder, const char *name, size_t *bytes)
{
    struct stat is;
    int file = openat(folder->handle, name, O_RDONLY | O_CLOEXEC);
    check(file >= 0 && fstat(file, &is) == 0, "%s/%s cannot be opened", folder->path, name);
    unsigned char *data = malloc((size_t)is.st_size + 1);
    check(data && read(file, data, (size_t)is.st_size) == is.st_size, "%s/%s cannot be read", folder->path, name);
    close(file);
    *bytes = (size_t)is.st_size;
    return data;
}

size_t test_open_files(void)
{
    size_t count = 0;
    DIR *names = opendir("/proc/self/fd");
    if (!names)
        return 0;
    while (readdir(names))
        count++;
    closedir(names);
    return count;
}
