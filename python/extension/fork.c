/*
 * Sets that a child inherits by fork(). The child has a copy of the parent's memory, maybe taken in the middle of a
 * call, and none of its threads: such a set can be neither used nor closed there. It is noticed by a number that every
 * fork raises in the child, because asking for the process id at every call would take a system call.
 */
#include "extension.h"

#include <pthread.h>

unsigned vp_generation = 1;

static void in_the_child(void)
{
    vp_generation++;
    vp_lifetime_forked();
}

bool vp_fork_init(void)
{
    static bool is_registered;
    if (is_registered)
        return true;
    if (pthread_atfork(NULL, NULL, in_the_child) != 0) {
        PyErr_NoMemory();
        return false;
    }
    is_registered = true;
    return true;
}
