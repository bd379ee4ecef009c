/* See thread.h. */
#include "base/thread.h"

#include <signal.h>

int vidi__thread_start(pthread_t *thread, void *(*run)(void *), void *context)
{
    sigset_t all, before;
    sigfillset(&all);
    sigdelset(&all, SIGBUS);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failed = pthread_create(thread, NULL, run, context);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return failed ? vidi__fail(VIDI_ESYSTEM, "cannot start a thread: %s", strerror(failed)) : VIDI_OK;
}
