#include "support/folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/check.h"

void test_path(char path[TEST_PATH], const char *folder, const char *name)
{
    int length = snprintf(path, TEST_PATH, "%s/%s", folder, name);
    check(length > 0 && length < TEST_PATH, "the path is too long: %s/%s", folder, name);
}

void test_folder_new(char path[TEST_PATH], bool on_disk)
{
    const char *above = getenv("TMPDIR");
    if (!above || !*above) {
        above = "/tmp";
    }
    if (!on_disk && access("/dev/shm", W_OK | X_OK) == 0) {
        above = "/dev/shm";
    }
    test_path(path, above, "vidi-test-XXXXXX");
    check(mkdtemp(path) != NULL, "no folder in %s", above);
}

void test_folder_remove(const char *path)
{
    DIR *folder = opendir(path);
    if (!folder) {
        return;
    }
    for (const struct dirent *entry = readdir(folder); entry; entry = readdir(folder)) {
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
            char name[TEST_PATH];
            test_path(name, path, entry->d_name);
            if (unlink(name) != 0) {
                test_folder_remove(name);
            }
        }
    }
    closedir(folder);
    rmdir(path);
}

static void copy_file(const char *from, const char *to)
{
    static char piece[65536];
    int source = open(from, O_RDONLY | O_CLOEXEC);
    if (source < 0) {
        return;
    }
    int target = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    check(target >= 0, "cannot make %s", to);
    ssize_t got;
    while ((got = read(source, piece, sizeof piece)) > 0) {
        assert_int_equal(write(target, piece, (size_t)got), got);
    }
    assert_int_equal(got, 0);
    close(source);
    close(target);
}

void test_folder_copy(const char *from, const char *to)
{
    DIR *folder = opendir(from);
    check(folder != NULL, "there is no %s", from);
    assert_int_equal(mkdir(to, 0700), 0);
    for (const struct dirent *entry = readdir(folder); entry; entry = readdir(folder)) {
        if (entry->d_name[0] != '.') {
            char source[TEST_PATH], target[TEST_PATH];
            test_path(source, from, entry->d_name);
            test_path(target, to, entry->d_name);
            copy_file(source, target);
        }
    }
    closedir(folder);
}

size_t test_folder_count(const char *path, const char *prefix)
{
    size_t n = 0;
    DIR *folder = opendir(path);
    check(folder != NULL, "there is no %s", path);
    for (const struct dirent *entry = readdir(folder); entry; entry = readdir(folder)) {
        n += strncmp(entry->d_name, prefix, strlen(prefix)) == 0;
    }
    closedir(folder);
    return n;
}

void test_file_write(const char *folder, const char *name, const void *data, size_t bytes)
{
    char path[TEST_PATH];
    test_path(path, folder, name);
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    check(file >= 0, "cannot make %s", path);
    check(bytes == 0 || write(file, data, bytes) == (ssize_t)bytes, "%s cannot be written", path);
    close(file);
}
