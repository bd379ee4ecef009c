/*
 * The clocks that a server under test sees. Loaded with LD_PRELOAD; the file that the variable VIDI_TEST_CLOCK names has
 * two numbers of 64 bits: microseconds by which the time of day is off, and by which the monotonic clock is. The test
 * changes them while the server runs.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { OF_DAY, MONOTONIC, CLOCKS };

static int64_t off_by(int clock)
{
    static const volatile int64_t *file;
    static int64_t none[CLOCKS];
    if (!file) {
        const char *path = getenv("VIDI_TEST_CLOCK");
        int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
        void *mapped = fd < 0 ? MAP_FAILED : mmap(NULL, sizeof none, PROT_READ, MAP_SHARED, fd, 0);
        file = mapped == MAP_FAILED ? none : mapped;
        if (fd >= 0)
            close(fd);
    }
    return file[clock];
}

int clock_gettime(clockid_t clock, struct timespec *time)
{
    int error = (int)syscall(SYS_clock_gettime, clock, time);
    int64_t off = clock == CLOCK_REALTIME ? off_by(OF_DAY) : clock == CLOCK_MONOTONIC ? off_by(MONOTONIC) : 0;
    int64_t micro = time->tv_sec * INT64_C(1000000) + time->tv_nsec / 1000 + off;
    *time = (struct timespec){micro / 1000000, micro % 1000000 * 1000 + time->tv_nsec % 1000};
    return error;
}

int gettimeofday(struct timeval *restrict time, void *restrict zone)
{
    struct timespec now;
    (void)zone;
    int error = clock_gettime(CLOCK_REALTIME, &now);
    *time = (struct timeval){now.tv_sec, now.tv_nsec / 1000};
    return error;
}
