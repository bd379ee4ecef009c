/*
 * Delivery: see delivery.h. First what is delivered, then committing it, then writing with patience, and the end.
 */
#include "common/clock.h"
#include "pipeline/output/delivery.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    COMMIT_URLS = 1 << 18,
    COMMIT_AWAY = 1 << 14,   /* the fewer URLs are claimed, the faster a server finds them */
    COMMIT_SYNCED = 1 << 16, /* the same, if the output must be synced before each commit */
    SHORTEST_WAIT_US = 100,  /* between two looks into the pipe at the end; doubled each time */
    LONGEST_WAIT_US = 100000
};

/* ---- what is delivered ---- */

/* The bytes in the pipe; -1 if the kernel does not tell. */
static int bytes_in_pipe(const cli_delivery *delivery)
{
    int unread;
    return ioctl(delivery->out->fd, FIONREAD, &unread) == 0 ? unread : -1;
}

/* Everything before the first line that was not delivered is safe. */
static void remember_safe(cli_delivery *delivery)
{
    delivery->safe_mark = cli_undelivered_mark(&delivery->lines);
    delivery->safe_end = delivery->lines.end;
}

/* The lines that lie wholly in the first `length` bytes of the output are delivered. */
static void take_lines_in(cli_delivery *delivery, uint64_t length)
{
    uint64_t end;

    while (cli_undelivered_first(&delivery->lines, &end) && end <= length)
        cli_undelivered_take(&delivery->lines);
    remember_safe(delivery);
}

static void take_what_left_the_pipe(cli_delivery *delivery)
{
    int unread = bytes_in_pipe(delivery);
    uint64_t written = delivery->out->written;

    if (unread >= 0 && (uint64_t)unread <= written && written - (uint64_t)unread > delivery->taken)
        delivery->taken = written - (uint64_t)unread;
    take_lines_in(delivery, delivery->taken);
}

/* Takes the lines that were acknowledged. Acknowledging a line that was not written yet is an error. */
static int take_acknowledged(cli_delivery *delivery)
{
    cli_undelivered *lines = &delivery->lines;
    uint64_t end;

    while (lines->delivered < delivery->acks.count) {
        if (!cli_undelivered_first(lines, &end) || end > delivery->out->written)
            return cli_error("--ack: %llu lines were acknowledged, but only %llu were written",
                             (unsigned long long)delivery->acks.count, (unsigned long long)lines->delivered);
        cli_undelivered_take(lines);
    }
    return CLI_OK;
}

static int tell_unacked(const cli_delivery *delivery)
{
    cli_error(
        "only %llu lines were acknowledged before the consumer ended; the rest of the output is not committed, and "
        "its URLs will be new again",
        (unsigned long long)delivery->lines.delivered);
    return CLI_UNACKED;
}

/* Reads the acknowledgements that have come. After a wrong one, those before it still count. */
static int look_at_acks(cli_delivery *delivery)
{
    int status = CLI_OK;
    bool got = true;
    uint64_t end;

    while (status == CLI_OK && got) {
        remember_safe(delivery);
        status = cli_acks_next(&delivery->acks, &got);
        if (status == CLI_OK && got)
            status = take_acknowledged(delivery);
    }
    if (status == CLI_OK && delivery->acks.ended && cli_undelivered_first(&delivery->lines, &end))
        status = tell_unacked(delivery);
    return status;
}

/* Finds out what has been delivered. */
static int look(cli_delivery *delivery)
{
    if (delivery->status != CLI_OK)
        return delivery->status;
    if (delivery->acks.fd >= 0) {
        delivery->status = look_at_acks(delivery);
    } else if (delivery->to == CLI_TO_PIPE && delivery->tracks) {
        take_what_left_the_pipe(delivery);
    } else if (delivery->tracks) {
        take_lines_in(delivery, delivery->out->written);
    } else {
        delivery->safe_mark = delivery->lines.mark;
        delivery->safe_end = delivery->out->written;
    }
    return delivery->status;
}

/* ---- committing ---- */

static bool has_uncommitted_output(const cli_delivery *delivery)
{
    const cli_output_file *file = &delivery->file;
    return file->noted && file->base.start + delivery->safe_end != file->base.length;
}

/* Commits what is known to be delivered. With `tracks` that may be less than was written. */
static int commit_safe(cli_delivery *delivery)
{
    cli_out *out = delivery->out;

    delivery->committed_at = clock_now();
    if (delivery->safe_mark == delivery->mark && !has_uncommitted_output(delivery))
        return CLI_OK;
    if (delivery->syncs && delivery->to == CLI_TO_FILE && TEMP_FAILURE_RETRY(fsync(out->fd)) != 0) {
        out->error = errno; /* another sync that succeeds would prove nothing, so no more is committed */
        delivery->broken = true;
        return CLI_ERROR;
    }
    int status = CLI_OK;
    if (delivery->file.noted) {
        status =
            cli_output_commit(&delivery->file, delivery->target, delivery->safe_mark, delivery->safe_end, out->written);
    } else {
        status = cli_output_commit_without(delivery->target, delivery->safe_mark);
    }
    delivery->broken = status != CLI_OK;
    if (status != CLI_OK)
        return status;
    delivery->mark = delivery->safe_mark;
    delivery->changes = 0; /* with `tracks` some may be left; they are committed after the next second */
    return CLI_OK;
}

bool cli_delivery_is_behind(const cli_delivery *delivery)
{
    return delivery->target && (delivery->lines.mark != delivery->mark || has_uncommitted_output(delivery));
}

static bool is_due(const cli_delivery *delivery)
{
    if (!cli_delivery_is_behind(delivery))
        return false;
    return delivery->changes >= delivery->most_changes ||
           clock_now() - delivery->committed_at >= CLI_COMMIT_MS * UINT64_C(1000000);
}

int cli_delivery_commit(cli_delivery *delivery)
{
    int status = cli_out_flush(delivery->out);

    if (status != CLI_OK || !delivery->target)
        return delivery->status != CLI_OK ? delivery->status : status;
    status = look(delivery);
    return status == CLI_OK ? commit_safe(delivery) : status;
}

int cli_delivery_put(cli_delivery *delivery, uint64_t changes, uint64_t mark)
{
    if (!delivery->target)
        return CLI_OK;
    delivery->changes += changes;
    delivery->lines.mark = mark;
    if (is_due(delivery))
        return cli_delivery_commit(delivery);
    return delivery->acks.fd >= 0 ? look(delivery) : CLI_OK;
}

/* ---- writing with patience ---- */

/* While the program waits: reads acknowledgements, and once a second commits what is delivered. */
static int attend(cli_delivery *delivery)
{
    int status = look(delivery);
    return status == CLI_OK && is_due(delivery) ? commit_safe(delivery) : status;
}

/*
 * Waits until something can be written without blocking. 0, and *room is how many bytes certainly can; or ECANCELED
 * after a signal, unless a line is half-written.
 */
static int wait_for_room(cli_delivery *delivery, size_t *room)
{
    const int fd = delivery->out->fd;

    *room = PIPE_BUF;
    if (delivery->to == CLI_TO_PIPE && bytes_in_pipe(delivery) == 0) {
        int size = fcntl(fd, F_GETPIPE_SZ);
        *room = size > PIPE_BUF ? (size_t)size : PIPE_BUF;
    }
    for (;;) {
        struct pollfd fds[3] = {{.fd = fd, .events = POLLOUT},
                                {.fd = delivery->acks.ended ? -1 : delivery->acks.fd, .events = POLLIN},
                                {.fd = *delivery->caught ? -1 : delivery->wake, .events = POLLIN}};
        int ready = poll(fds, 3, CLI_COMMIT_MS);
        if (ready > 0 && fds[0].revents != 0)
            return 0;
        if (attend(delivery) != CLI_OK || (*delivery->caught && !delivery->mid_line))
            return ECANCELED;
    }
}

/* A piece of at most `room` bytes that ends with a line, if a line ends in it. */
static size_t piece_of(const cli_delivery *delivery, const char *bytes, size_t length, size_t room)
{
    size_t most = length < room ? length : room;
    const char *last = memrchr(bytes, delivery->end, most);
    return last ? (size_t)(last - bytes) + 1 : most;
}

static int send_patiently(cli_out *out, const char *bytes, size_t length)
{
    cli_delivery *delivery = out->context;

    while (length > 0) {
        size_t room;
        int error = wait_for_room(delivery, &room);
        if (error != 0)
            return error;
        size_t n = piece_of(delivery, bytes, length, room);
        ssize_t wrote = delivery->to == CLI_TO_SOCKET ? send(out->fd, bytes, n, MSG_DONTWAIT | MSG_NOSIGNAL)
                                                      : write(out->fd, bytes, n);
        if (wrote < 0 && errno != EINTR && errno != EAGAIN)
            return errno;
        if (wrote <= 0)
            continue;
        delivery->mid_line = bytes[wrote - 1] != delivery->end;
        out->written += (uint64_t)wrote;
        bytes += wrote;
        length -= (size_t)wrote;
    }
    return 0;
}

/* ---- the beginning ---- */

void cli_delivery_init(cli_delivery *delivery)
{
    *delivery = (cli_delivery){.acks = {.fd = -1}, .file = {.base = {.fd = -1}}, .wake = -1};
}

/*
 * The last line of a file that is appended to with >> may be torn: its writer was killed, or the disk was full. The URL
 * of the next line would then be seen although no line holds it alone. So the output begins on a new line.
 */
static void begin_on_new_line(const cli_delivery *delivery, const struct stat *about)
{
    cli_out *out = delivery->out;
    int flags = fcntl(out->fd, F_GETFL), fd = open("/proc/self/fd/1", O_RDONLY | O_CLOEXEC | O_NOCTTY);
    off_t at = flags >= 0 && (flags & O_APPEND) ? about->st_size : lseek(out->fd, 0, SEEK_CUR);
    char last = delivery->end;

    if (fd >= 0 && at > 0 && pread(fd, &last, 1, at - 1) == 1 && last != delivery->end) {
        cli_warning(
            "the last line of standard output was incomplete, so a newline was added; --output FILE cuts off what "
            "a crash has left");
        cli_out_bytes(out, &delivery->end, 1);
    }
    if (fd >= 0)
        close(fd);
}

static uint64_t most_changes(const cli_delivery *delivery, bool to_file)
{
    if (!delivery->target->away)
        return COMMIT_URLS;
    return to_file && delivery->syncs ? COMMIT_SYNCED : COMMIT_AWAY;
}

int cli_delivery_begin(cli_delivery *delivery, cli_out *out)
{
    struct stat about = {0};
    bool known = fstat(out->fd, &about) == 0;

    delivery->out = out;
    delivery->committed_at = clock_now();
    if (!delivery->target)
        return CLI_OK;
    delivery->most_changes = most_changes(delivery, S_ISREG(about.st_mode));
    CLI_TRY(cli_target_status(delivery->target, cli_target_mark(delivery->target, &delivery->mark)));
    delivery->lines.mark = delivery->safe_mark = delivery->mark;
    if (!delivery->prints)
        return CLI_OK;
    if (known)
        delivery->to = S_ISREG(about.st_mode)    ? CLI_TO_FILE
                       : S_ISFIFO(about.st_mode) ? CLI_TO_PIPE
                       : S_ISSOCK(about.st_mode) ? CLI_TO_SOCKET
                                                 : CLI_TO_OTHER;
    delivery->tracks =
        delivery->acks.fd >= 0 || delivery->file.noted || (delivery->to == CLI_TO_PIPE && bytes_in_pipe(delivery) >= 0);
    if (delivery->tracks && delivery->to != CLI_TO_FILE) {
        out->send = send_patiently;
        out->context = delivery;
    }
    if (delivery->to == CLI_TO_FILE && out->fd == STDOUT_FILENO)
        begin_on_new_line(delivery, &about);
    return CLI_OK;
}

/* ---- the end ---- */

static bool all_delivered(const cli_delivery *delivery)
{
    uint64_t end;
    return !cli_undelivered_first(&delivery->lines, &end);
}

/*
 * Waits until something happens; true if the reader of the pipe has gone. No event tells that it has read, so the wait
 * ends after `us` microseconds, and the caller looks.
 */
static bool wait_for_change(const cli_delivery *delivery, long us)
{
    bool to_reader = delivery->acks.fd < 0;
    struct pollfd fds[3] = {{.fd = to_reader ? delivery->out->fd : -1},
                            {.fd = delivery->acks.ended ? -1 : delivery->acks.fd, .events = POLLIN},
                            {.fd = delivery->wake, .events = POLLIN}};
    struct timespec time = {to_reader ? 0 : CLI_COMMIT_MS / 1000, to_reader ? us * 1000 : 0};

    return ppoll(fds, 3, &time, NULL) > 0 && fds[0].revents != 0;
}

/* A consumer that acknowledges only when it has everything must see that the output has ended. */
static void end_output(const cli_delivery *delivery)
{
    int fd = delivery->out->fd, nowhere = -1;

    if (delivery->to == CLI_TO_SOCKET)
        (void)shutdown(fd, SHUT_WR);
    else if (delivery->to == CLI_TO_PIPE && delivery->acks.fd != fd)
        nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (nowhere >= 0) {
        (void)dup2(nowhere, fd);
        close(nowhere);
    }
}

/* Waits until all lines are delivered, the reader has gone, or a signal comes. */
static int wait_for_delivery(cli_delivery *delivery)
{
    int status = look(delivery);
    bool gone = false;

    if (delivery->acks.fd >= 0)
        end_output(delivery);
    for (long us = SHORTEST_WAIT_US; status == CLI_OK && !all_delivered(delivery) && !gone && !*delivery->caught;) {
        gone = wait_for_change(delivery, us);
        us = us < LONGEST_WAIT_US ? 2 * us : us;
        status = attend(delivery);
    }
    return status == CLI_OK && gone && !all_delivered(delivery) ? CLI_PIPE : status;
}

static int end_in_order(cli_delivery *delivery)
{
    int status = cli_out_flush(delivery->out);

    if (status != CLI_OK || !delivery->target)
        return status;
    status = delivery->tracks ? wait_for_delivery(delivery) : look(delivery);
    return status == CLI_OK ? commit_safe(delivery) : status;
}

/*
 * After a full disk: keeps whole lines that were written, as many as the state can remember. To remember them the log
 * needs room, perhaps on the same disk, and some kinds log more bytes than a line has. So only a quarter of the output
 * that is not committed yet is kept.
 */
static void keep_what_fits(cli_delivery *delivery)
{
    cli_out *out = delivery->out;
    cli_output_file *file = &delivery->file;
    uint64_t done = file->base.length - file->base.start, rest = out->written - done;

    take_lines_in(delivery, out->error == EFBIG ? out->written : done + rest / 4);
    if (!cli_output_cut(file, delivery->safe_end, out->written))
        return;
    out->written = delivery->safe_end;
    (void)commit_safe(delivery);
}

/* After a failure, commits what is known to be delivered; nothing if lines are not tracked. */
static void commit_after_failure(cli_delivery *delivery)
{
    int error = delivery->out->error;

    if (!delivery->tracks || delivery->broken)
        return;
    if (delivery->file.noted && delivery->acks.fd < 0 && error != 0) {
        if (error == ENOSPC || error == EDQUOT || error == EFBIG)
            keep_what_fits(delivery);
    } else {
        (void)look(delivery);
        (void)commit_safe(delivery);
    }
}

static void end_after_failure(cli_delivery *delivery)
{
    cli_out *out = delivery->out;
    cli_output_file *file = &delivery->file;

    if (delivery->status == CLI_OK)
        (void)cli_out_flush(out);
    commit_after_failure(delivery);
    if (delivery->acks.fd >= 0 && delivery->status == CLI_OK && out->error == EPIPE)
        delivery->status = tell_unacked(delivery);
    if (out->error != 0 && file->noted && !delivery->broken)
        (void)cli_output_cut(file, file->base.length - file->base.start, out->written);
    if (delivery->status != CLI_OK ||
        out->error == ECANCELED) { /* drops the rest; a message said so, or the user sent a signal */
        out->error = 0;
        out->used = 0;
    }
}

int cli_delivery_end(cli_delivery *delivery, bool failed)
{
    int status = failed ? CLI_OK : end_in_order(delivery);

    if (failed || status != CLI_OK)
        end_after_failure(delivery);
    status = delivery->status != CLI_OK ? delivery->status : status;
    if (!delivery->target || delivery->broken)
        return status;
    if (delivery->file.noted && cli_output_finish(&delivery->file, delivery->target, delivery->mark) != CLI_OK)
        return CLI_ERROR;
    int error = cli_target_sync(delivery->target);
    return error < 0 ? cli_target_status(delivery->target, error) : status;
}

void cli_delivery_free(cli_delivery *delivery)
{
    cli_undelivered_free(&delivery->lines);
    cli_acks_close(&delivery->acks);
    cli_output_close(&delivery->file);
    if (delivery->wake > STDERR_FILENO)
        close(delivery->wake);
    delivery->wake = -1;
}
