/*
 * The watching thread: see watch.h.
 */
#include "ui/watch.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

static void see_to(cli_watch *watch, int number)
{
    if (number == SIGUSR1) {
        watch->tell(watch->context);
    } else if (watch->caught == 0) {
        watch->caught = number;
        watch->stop(watch->context);
    } else {
        signal(number, SIG_DFL);
        pthread_sigmask(SIG_UNBLOCK, &watch->signals, NULL);
        raise(number);
    }
}

static void *run(void *context)
{
    cli_watch *watch = context;
    struct pollfd fds[2] = {{.fd = watch->end_fd, .events = POLLIN}, {.fd = watch->signal_fd, .events = POLLIN}};

    while (fds[0].revents == 0) {
        int got = poll(fds, 2, watch->tick ? watch->tick_ms : -1);
        struct signalfd_siginfo about;
        if (got > 0 && fds[1].revents != 0 && read(watch->signal_fd, &about, sizeof about) == sizeof about)
            see_to(watch, (int)about.ssi_signo);
        if (got == 0 && watch->tick)
            watch->tick(watch->context);
    }
    return NULL;
}

void cli_watch_hold(cli_watch *watch)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGUSR1};

    sigemptyset(&watch->signals);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        struct sigaction now;
        if (sigaction(numbers[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN)
            sigaddset(&watch->signals, numbers[i]);
    }
    watch->holds = pthread_sigmask(SIG_BLOCK, &watch->signals, &watch->before) == 0;
    watch->signal_fd = watch->end_fd = -1;
}

static void let_go(cli_watch *watch)
{
    if (watch->holds)
        pthread_sigmask(SIG_SETMASK, &watch->before, NULL);
    watch->holds = false;
}

void cli_watch_begin(cli_watch *watch)
{
    watch->signal_fd = signalfd(-1, &watch->signals, SFD_CLOEXEC);
    watch->end_fd = eventfd(0, EFD_CLOEXEC);
    watch->runs = watch->signal_fd >= 0 && watch->end_fd >= 0 && pthread_create(&watch->thread, NULL, run, watch) == 0;
    if (!watch->runs)
        let_go(watch);
}

void cli_watch_end(cli_watch *watch)
{
    const uint64_t one = 1;

    if (watch->runs && write(watch->end_fd, &one, sizeof one) == sizeof one)
        pthread_join(watch->thread, NULL);
    watch->runs = false;
    let_go(watch);
    if (watch->signal_fd > STDERR_FILENO)
        close(watch->signal_fd);
    if (watch->end_fd > STDERR_FILENO)
        close(watch->end_fd);
    watch->signal_fd = watch->end_fd = -1;
}
