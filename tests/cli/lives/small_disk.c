/*
 * A disk that is really full: see small_disk.h.
 */
#include "small_disk.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

static int write_text(const char *path, const char *text)
{
    int file = open(path, O_WRONLY | O_CLOEXEC);
    ssize_t wrote = file < 0 ? -1 : write(file, text, strlen(text));
    close(file);
    return wrote == (ssize_t)strlen(text) ? 0 : -1;
}

/* Users other than root may mount only in a user namespace, in which they are root. */
static int enter_namespace(void)
{
    char users[32], groups[32];
    if (unshare(CLONE_NEWNS) == 0)
        return 0;
    snprintf(users, sizeof users, "0 %u 1", (unsigned)geteuid());
    snprintf(groups, sizeof groups, "0 %u 1", (unsigned)getegid());
    if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0 || write_text("/proc/self/setgroups", "deny") != 0 ||
        write_text("/proc/self/gid_map", groups) != 0)
        return -1;
    return write_text("/proc/self/uid_map", users);
}

static int mount_disk(const char *folder, uint64_t bytes, unsigned long flags)
{
    char size[40];
    snprintf(size, sizeof size, "size=%llu", (unsigned long long)bytes);
    return mount("none", folder, "tmpfs", flags, size);
}

int small_disk_resize(const char *folder, uint64_t bytes)
{
    return mount_disk(folder, bytes, MS_REMOUNT);
}

int small_disk_run(const char *option, const char *folder, uint64_t bytes)
{
    int status;
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        setenv("CMOCKA_MESSAGE_OUTPUT", "STDOUT", 1); /* not TAP, which the caller prints */
        if (enter_namespace() == 0 && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
            mount_disk(folder, bytes, 0) == 0)
            execl("/proc/self/exe", "lives", option, folder, (char *)NULL);
        _exit(SMALL_DISK_FORBIDDEN);
    }
    return pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}
