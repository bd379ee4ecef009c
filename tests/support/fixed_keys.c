/*
 * A getrandom(2) that gives sets the same keys in every run, for programs under test.
 *
 * A filter takes an item for seen by chance, and which item depends on the set's key. With keys that are always the
 * same, a test that passes once always passes. Keys of one process differ from each other. Those of two processes
 * differ if the variable VIDI_TEST_KEYS does or, where it is not set, the arguments.
 *
 * Requests of another length than a key's are answered by the kernel: whatever makes a file unlike the one before must
 * do so here as well. Loaded with LD_PRELOAD.
 */
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <vidi/vidi.h>

#include "common/fnv.h"

/* The arguments of this process, without the program's name, each followed by a zero byte. */
static uint64_t hash_arguments(void)
{
    static char text[65536];
    int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    ssize_t len = fd < 0 ? 0 : read(fd, text, sizeof text);
    close(fd);
    const char *first = len > 0 ? memchr(text, 0, (size_t)len) : NULL;
    return first ? fnv_bytes(FNV_START, first, (size_t)(text + len - first)) : FNV_START;
}

static uint64_t seed(void)
{
    const char *text = getenv("VIDI_TEST_KEYS");
    return text ? fnv_bytes(FNV_START, text, strlen(text)) : hash_arguments();
}

/* splitmix64 */
static uint64_t draw(void)
{
    static _Atomic uint64_t draws;
    uint64_t mixed = seed() + 0x9e3779b97f4a7c15 * (1 + atomic_fetch_add(&draws, 1));
    mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9;
    mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111eb;
    return mixed ^ mixed >> 31;
}

ssize_t getrandom(void *to, size_t size, unsigned flags)
{
    if (size != VIDI_KEY_BYTES)
        return syscall(SYS_getrandom, to, size, flags);
    const uint64_t key[] = {draw(), draw()};
    _Static_assert(sizeof key == VIDI_KEY_BYTES, "a key has two words");
    memcpy(to, key, sizeof key);
    return (ssize_t)size;
}
