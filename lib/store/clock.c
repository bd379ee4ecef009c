#include "store/clock.h"

#include "base/clock.h"

#define SECOND UINT64_C(1000000000)

static void real_wait(pthread_cond_t *condition, pthread_mutex_t *lock, uint64_t until)
{
    if (until == VIDI__NEVER) {
        pthread_cond_wait(condition, lock);
        return;
    }
    struct timespec time = {.tv_sec = (time_t)(until / SECOND), .tv_nsec = (long)(until % SECOND)};
    pthread_cond_timedwait(condition, lock, &time);
}

const vidi__clock vidi__clock_real = {.now = vidi__clock_ns, .wait = real_wait};
const vidi__clock *vidi__clock_now = &vidi__clock_real;

int vidi__clock_condition(pthread_cond_t *condition)
{
    pthread_condattr_t monotonic;
    int failed = pthread_condattr_init(&monotonic);
    if (failed)
        return failed;
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    failed = pthread_cond_init(condition, &monotonic);
    pthread_condattr_destroy(&monotonic);
    return failed;
}
