/*
 * See guard.h.
 *
 * A signal handler may interrupt any code, so it takes no lock. The ranges are in chunks that are never freed; a range
 * that is no longer used is taken for the next mapping. Each has a version, odd while the range changes, so the handler
 * never combines the start of one mapping with the length of another. A range cannot be removed while a thread faults
 * in it, because vidi_close must be the last call on a set.
 */
#include "store/guard.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/base.h"

typedef struct range {
    _Atomic unsigned version;
    _Atomic uintptr_t start; /* 0: free */
    _Atomic size_t bytes;
    _Atomic bool lost;
} range;

typedef struct chunk chunk;
struct chunk {
    range ranges[127];
    _Atomic(chunk *) next;
};

static chunk first_chunk;
static pthread_mutex_t changing = PTHREAD_MUTEX_INITIALIZER; /* for adding and removing */
static bool installed;
static struct sigaction previous;

/* ---- the handler ---- */

static bool contains(range *at, uintptr_t address, uintptr_t *end)
{
    unsigned before = atomic_load(&at->version);
    uintptr_t start = atomic_load(&at->start);
    size_t bytes = atomic_load(&at->bytes);
    if (before % 2 || before != atomic_load(&at->version))
        return false;
    *end = start + bytes;
    return start && address >= start && address - start < bytes;
}

static range *find(uintptr_t address, uintptr_t *end)
{
    for (chunk *in = &first_chunk; in; in = atomic_load_explicit(&in->next, memory_order_acquire))
        for (size_t i = 0; i < VIDI__COUNT(in->ranges); i++)
            if (contains(&in->ranges[i], address, end))
                return &in->ranges[i];
    return NULL;
}

/*
 * Maps zero pages from the fault to the end of the range. It is the bare system call, because libraries that wrap mmap
 * do not expect to be called from a signal handler.
 */
static bool mend(uintptr_t address)
{
    uintptr_t end, page = address & ~((uintptr_t)sysconf(_SC_PAGESIZE) - 1);
    range *at = find(address, &end);
    if (!at)
        return false;
    atomic_store(&at->lost, true);
    long mapped = syscall(SYS_mmap, page, end - page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    return mapped != -1;
}

/* Gives the signal to the handler that was there before, with the signals blocked that it asked for. */
static void pass_on(int number, siginfo_t *info, void *context)
{
    sigset_t own;
    sigemptyset(&own);
    sigaddset(&own, number);
    pthread_sigmask(SIG_BLOCK, &previous.sa_mask, NULL);
    if (previous.sa_flags & SA_NODEFER)
        pthread_sigmask(SIG_UNBLOCK, &own, NULL);
    if (previous.sa_flags & SA_SIGINFO)
        previous.sa_sigaction(number, info, context);
    else
        previous.sa_handler(number);
}

/* Ends the process as if there were no handler: by the same fault once more, or by the signal sent once more. */
static void end_process(int number, const siginfo_t *info)
{
    struct sigaction standard = {.sa_handler = SIG_DFL};
    sigaction(number, &standard, NULL);
    if (info->si_code <= 0)
        raise(number); /* it is blocked until the handler returns */
}

static void handle(int number, siginfo_t *info, void *context)
{
    int error = errno;
    bool sent = info->si_code <= 0; /* by kill(2) and the like; the kernel's own codes are positive */
    bool has_handler =
        previous.sa_flags & SA_SIGINFO || (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN);
    if (sent || info->si_code == BUS_MCEERR_AO || !mend((uintptr_t)info->si_addr)) {
        if (has_handler)
            pass_on(number, info, context);
        else if (!sent || previous.sa_handler == SIG_DFL) /* the kernel does not let a fault be ignored */
            end_process(number, info);
    }
    errno = error;
}

static int install(void)
{
    struct sigaction action = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART};
    if (installed)
        return VIDI_OK;
    sigemptyset(&action.sa_mask);
    if (sigaction(SIGBUS, NULL, &previous) != 0 || sigaction(SIGBUS, &action, NULL) != 0)
        return vidi__fail(VIDI_ESYSTEM, "the handler of SIGBUS cannot be installed: %s", strerror(errno));
    installed = true;
    return VIDI_OK;
}

/* When the library is unloaded, its code goes, so its handler must go first. */
__attribute__((destructor)) static void uninstall(void)
{
    struct sigaction now;
    if (installed && sigaction(SIGBUS, NULL, &now) == 0 && now.sa_flags & SA_SIGINFO && now.sa_sigaction == handle)
        sigaction(SIGBUS, &previous, NULL);
}

/* ---- ranges ---- */

static void set_range(range *at, uintptr_t start, size_t bytes)
{
    atomic_fetch_add(&at->version, 1);
    atomic_store(&at->start, start);
    atomic_store(&at->bytes, bytes);
    atomic_store(&at->lost, false);
    atomic_fetch_add(&at->version, 1);
}

/* The range that starts there, or with 0 a free one; NULL if there is none. */
static range *range_at(uintptr_t start, chunk **last)
{
    for (chunk *in = &first_chunk; in; in = atomic_load_explicit(&in->next, memory_order_relaxed)) {
        for (size_t i = 0; i < VIDI__COUNT(in->ranges); i++)
            if (atomic_load_explicit(&in->ranges[i].start, memory_order_relaxed) == start)
                return &in->ranges[i];
        *last = in;
    }
    return NULL;
}

static int free_range(range **found)
{
    chunk *last = NULL;
    *found = range_at(0, &last);
    if (*found)
        return VIDI_OK;
    chunk *more = mmap(NULL, sizeof *more, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (more == MAP_FAILED)
        return vidi__fail(VIDI_EMEMORY, "there is no memory to guard another mapping");
    *found = &more->ranges[0];
    atomic_store_explicit(&last->next, more, memory_order_release);
    return VIDI_OK;
}

int vidi__guard_add(const void *start, size_t bytes, const _Atomic bool **lost)
{
    range *at;
    pthread_mutex_lock(&changing);
    int code = install();
    if (code == VIDI_OK)
        code = free_range(&at);
    if (code == VIDI_OK) {
        set_range(at, (uintptr_t)start, bytes);
        *lost = &at->lost;
    }
    pthread_mutex_unlock(&changing);
    return code;
}

void vidi__guard_remove(const void *start)
{
    chunk *last;
    pthread_mutex_lock(&changing);
    range *at = start ? range_at((uintptr_t)start, &last) : NULL;
    if (at)
        set_range(at, 0, 0);
    pthread_mutex_unlock(&changing);
}
