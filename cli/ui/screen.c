/*
 * A view that is shown again and again: see screen.h.
 */
#include "ui/screen.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <termios.h>
#include <unistd.h>

#include "common/bytes.h"
#include "common/clock.h"
#include "ui/terminal.h"

/* What is on the screen. */
typedef struct shown {
    bool terminal, any;
    bytes view; /* the last one */
    size_t lines;
} shown;

/* Draws over the previous view. What is too wide or too long for the terminal is cut off. */
static void draw(cli_out *out, shown *shown, const bytes *view, bool color)
{
    size_t columns = cli_terminal_columns(STDOUT_FILENO), rows = cli_terminal_rows(STDOUT_FILENO);

    if (shown->lines > 0)
        cli_out_format(out, "\033[%zuA\r", shown->lines);
    shown->lines = 0;
    for (size_t at = 0; at < view->len && shown->lines + 1 < rows; shown->lines++) {
        const char *line = view->ptr + at, *end = memchr(line, '\n', view->len - at);
        size_t length = end ? (size_t)(end - line) : view->len - at;
        cli_out_bytes(out, line, cli_terminal_fit(line, length, columns));
        cli_out_text(out, color ? "\033[0m\033[K\n" : "\033[K\n");
        at += length + 1;
    }
    cli_out_text(out, "\033[J");
}

static void print_if_changed(cli_out *out, const shown *shown, const bytes *view)
{
    if (shown->any && shown->view.len == view->len && memcmp(shown->view.ptr, view->ptr, view->len) == 0)
        return;
    if (shown->any)
        cli_out_text(out, "\n");
    cli_out_bytes(out, view->ptr, view->len);
}

/* For cli_out.send: the view stays in memory. */
static int collect(cli_out *out, const char *text, size_t length)
{
    if (bytes_append(out->context, text, length) != 0)
        return ENOMEM;
    out->written += length;
    return 0;
}

static int show_view(const cli_screen *screen, shown *shown)
{
    bytes view = {0};
    cli_out to, out;

    cli_out_init(&to, -1);
    to.send = collect;
    to.context = &view;
    cli_out_init(&out, STDOUT_FILENO);
    int status = cli_out_end(&to, screen->put(&to, screen->context));
    if (status == CLI_OK && shown->terminal)
        draw(&out, shown, &view, screen->color);
    else if (status == CLI_OK)
        print_if_changed(&out, shown, &view);
    bytes_free(&shown->view);
    shown->view = view;
    shown->any = true;
    return cli_out_end(&out, status);
}

/* Keys without Enter and without an echo, if there is a keyboard. */
static bool keys_begin(struct termios *before)
{
    if (!isatty(STDIN_FILENO) || tcgetattr(STDIN_FILENO, before) != 0)
        return false;
    struct termios now = *before;
    now.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    return tcsetattr(STDIN_FILENO, TCSANOW, &now) == 0;
}

/* Waits until it is time to look again. CLI_GO_ON, or the exit status if the user wants to quit. */
static int wait_a_while(int signals, bool keys, int milliseconds)
{
    struct pollfd fds[2] = {{.fd = signals, .events = POLLIN}, {.fd = keys ? STDIN_FILENO : -1, .events = POLLIN}};
    struct signalfd_siginfo about;
    char key = 0;

    if (poll(fds, 2, milliseconds) <= 0)
        return CLI_GO_ON;
    if (fds[0].revents != 0 && read(signals, &about, sizeof about) == sizeof about)
        return CLI_SIGNAL + (int)about.ssi_signo;
    if (fds[1].revents != 0 && (read(STDIN_FILENO, &key, 1) <= 0 || key == 'q' || key == 'Q'))
        return CLI_OK;
    return CLI_GO_ON;
}

/* Views and looks until one of them ends it. */
static int show_all(const cli_screen *screen, shown *shown, int signals, bool keys)
{
    int next = CLI_GO_ON;

    for (uint64_t began = clock_now();; began = clock_now()) {
        if (shown->any)
            next = screen->look(screen->context);
        if (next != CLI_GO_ON && next != CLI_OK)
            return next;
        int status = show_view(screen, shown);
        if (status != CLI_OK || next == CLI_OK)
            return status;
        uint64_t took = (clock_now() - began) / 1000000;
        int end = wait_a_while(signals, keys, took > (uint64_t)screen->wait_ms / 9 ? (int)took * 9 : screen->wait_ms);
        if (end != CLI_GO_ON)
            return end;
    }
}

int cli_screen_show(const cli_screen *screen)
{
    struct shown shown = {.terminal = isatty(STDOUT_FILENO)};
    sigset_t ends, before;
    struct termios keys_before;

    sigemptyset(&ends);
    sigaddset(&ends, SIGINT);
    sigaddset(&ends, SIGTERM);
    sigprocmask(SIG_BLOCK, &ends, &before);
    int signals = signalfd(-1, &ends, SFD_CLOEXEC);
    if (signals < 0) {
        sigprocmask(SIG_SETMASK, &before, NULL);
        return cli_error("cannot wait for signals: %s", strerror(errno));
    }
    bool keys = shown.terminal && keys_begin(&keys_before);
    int status = show_all(screen, &shown, signals, keys);
    if (keys)
        tcsetattr(STDIN_FILENO, TCSANOW, &keys_before);
    bytes_free(&shown.view);
    close(signals);
    sigprocmask(SIG_SETMASK, &before, NULL);
    return status;
}
