/*
 * One life of the program: see life.h. The driver itself is the consumer, so it knows what was taken, byte for byte.
 */
#include "life.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/check.h"

enum { ACK_FD = 3, ARGUMENTS = 40 };

/* ---- texts ---- */

void text_add(text *to, const char *bytes, size_t length)
{
    if (to->room - to->length < length) {
        to->room = (to->length + length) * 2;
        to->at = realloc(to->at, to->room);
        assert_non_null(to->at);
    }
    if (length > 0)
        memcpy(to->at + to->length, bytes, length);
    to->length += length;
}

static void text_read(text *to, int fd)
{
    static char piece[1 << 16];
    ssize_t got;
    while ((got = read(fd, piece, sizeof piece)) > 0)
        text_add(to, piece, (size_t)got);
    assert_int_equal(got, 0);
}

void text_read_file(text *to, const char *path)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return;
    text_read(to, file);
    close(file);
}

size_t text_whole_lines(const text *of)
{
    size_t length = of->length;
    while (length > 0 && of->at[length - 1] != '\n')
        length--;
    return length;
}

void text_free(text *of)
{
    free(of->at);
    *of = (text){0};
}

/* ---- the program ---- */

void life_place_new(life_place *place, bool on_disk)
{
    static const fate_tally none;
    test_folder_new(place->folder, on_disk);
    test_path(place->state, place->folder, "state");
    test_path(place->output, place->folder, "output");
    test_path(place->acks, place->folder, "acks");
    assert_int_equal(mkfifo(place->acks, 0600), 0);
    test_path(place->tally, place->folder, "tally");
    test_path(place->messages, place->folder, "messages");
    for (size_t i = 0; i < LIFE_FILES; i++) {
        char name[24];
        snprintf(name, sizeof name, "input.%zu", i);
        test_path(place->files[i], place->folder, name);
    }
    test_file_write(place->folder, "tally", &none, sizeof none);
}

static const char *built(char path[TEST_PATH], const char *name)
{
    const char *build = getenv("VIDI_BUILD");
    test_path(path, build ? build : "build", name);
    return path;
}

typedef struct words {
    const char *list[ARGUMENTS];
    size_t count;
} words;

static void say(words *to, const char *word)
{
    assert_true(to->count + 1 < ARGUMENTS);
    to->list[to->count++] = word;
}

static void say_pair(words *to, const char *option, const char *value)
{
    say(to, option);
    say(to, value);
}

static void say_files(words *to, const life_place *place)
{
    for (size_t i = 0; i < LIFE_FILES; i++)
        say(to, place->files[i]);
}

/* In the child. Nothing returns from here. */
static void become(const words *command, int input, int output, const char *messages)
{
    char program[TEST_PATH];
    int file = open(messages, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    signal(SIGPIPE, SIG_DFL);
    if (file < 0 || dup2(input, STDIN_FILENO) < 0 || dup2(file, STDERR_FILENO) < 0 || dup2(output, STDOUT_FILENO) < 0)
        _exit(126);
    execv(built(program, "vidi"), (char **)(uintptr_t)command->list);
    _exit(127);
}

static pid_t fork_child(void)
{
    fflush(NULL);
    pid_t pid = fork();
    assert_true(pid >= 0);
    return pid;
}

static int wait_for(pid_t pid)
{
    int status;
    while (waitpid(pid, &status, 0) != pid)
        assert_int_equal(errno, EINTR);
    return status;
}

/* ---- input ---- */

typedef struct feeder {
    pid_t pid;
    int input; /* what the program reads */
} feeder;

static void pour(const life_place *place, size_t at_once, int into)
{
    text all = {0};
    signal(SIGPIPE, SIG_DFL); /* it ends with the program */
    for (size_t i = 0; i < LIFE_FILES; i++)
        text_read_file(&all, place->files[i]);
    for (size_t done = 0; done < all.length;) {
        ssize_t wrote = write(into, all.at + done, all.length - done < at_once ? all.length - done : at_once);
        if (wrote < 0)
            _exit(1);
        done += (size_t)wrote;
    }
    _exit(0);
}

/* To be called before other pipes are made: the feeder would keep them open. */
static feeder feed(const life *self)
{
    int ends[2] = {-1, -1};
    if (self->poured == 0 || self->takes_snapshot) {
        int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
        assert_true(nothing >= 0);
        return (feeder){0, nothing};
    }
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    pid_t pid = fork_child();
    if (pid == 0) {
        close(ends[0]);
        pour(self->place, self->poured, ends[1]);
    }
    close(ends[1]);
    return (feeder){pid, ends[0]};
}

/* ---- fates and limits, in the child ---- */

static void set_number(const char *name, unsigned long long value)
{
    char number[24];
    snprintf(number, sizeof number, "%llu", value);
    setenv(name, number, 1);
}

static void take_fate(const life *self)
{
    char path[TEST_PATH], fated[64];
    snprintf(fated, sizeof fated, "%d %d %llu", (int)self->fate.how, (int)self->fate.where,
             (unsigned long long)self->fate.number);
    setenv("LD_PRELOAD", built(path, "tests/libfate.so"), 1);
    setenv(FATE_VARIABLE, fated, 1);
    setenv(FATE_TALLY_VARIABLE, self->place->tally, 1);
    setenv(FATE_OUTPUT_VARIABLE, self->way == LIFE_OUTPUT ? self->place->output : "", 1);
    set_number(FATE_LEAP_VARIABLE, self->leap_ms);
}

static void take_limit(const life *self)
{
    struct rlimit limit = {self->file_limit, self->file_limit}, none = {0, 0};
    if (self->file_limit == 0)
        return;
    signal(SIGXFSZ, self->limit_kills ? SIG_DFL : SIG_IGN);
    setrlimit(RLIMIT_CORE, &none);
    setrlimit(RLIMIT_FSIZE, &limit);
}

/* ---- the consumer ---- */

typedef struct consuming {
    const consumer *plan;
    pid_t program;
    int from, ack; /* ack: -1 without acknowledgements */
    text taken;
    size_t done;    /* bytes of lines that it has done */
    uint64_t whole; /* lines that it has taken */
    uint64_t lines; /* lines that it has done */
    uint64_t acknowledged;
} consuming;

static void acknowledge(consuming *self, uint64_t lines)
{
    char line[24];
    int length = snprintf(line, sizeof line, "%llu\n", (unsigned long long)lines);
    if (self->ack < 0 || self->acknowledged == lines)
        return;
    self->acknowledged = lines;
    ssize_t wrote = write(self->ack, line, (size_t)length); /* fails if the program is dead */
    assert_true(wrote == length || errno == EPIPE);
}

/* Does lines until no more than `lag` are left. */
static void do_lines(consuming *self, uint64_t lag)
{
    while (self->whole - self->lines > lag) {
        const char *from = self->taken.at + self->done;
        self->done += (size_t)((const char *)memchr(from, '\n', self->taken.length - self->done) + 1 - from);
        self->lines++;
        if (self->lines - self->acknowledged >= self->plan->batch)
            acknowledge(self, self->lines);
    }
}

static bool something_waits(int fd)
{
    struct pollfd look = {.fd = fd, .events = POLLIN};
    return poll(&look, 1, 0) > 0;
}

/* Takes up to so many bytes, or all until the end; true at the end. */
static bool take(consuming *self, uint64_t bytes)
{
    static char piece[1 << 16];
    while (self->taken.length < bytes) {
        size_t room = self->plan->piece < sizeof piece ? self->plan->piece : sizeof piece;
        if (!self->plan->lies && !something_waits(self->from)) {
            do_lines(self, 0);
            acknowledge(self, self->lines);
        }
        uint64_t left = bytes - self->taken.length;
        ssize_t got = read(self->from, piece, left < room ? (size_t)left : room);
        assert_true(got >= 0);
        if (got == 0)
            return true;
        text_add(&self->taken, piece, (size_t)got);
        for (ssize_t i = 0; i < got; i++)
            self->whole += piece[i] == '\n';
        do_lines(self, self->plan->lies ? UINT64_MAX : self->plan->lag);
    }
    return false;
}

static void consume(consuming *self)
{
    consumer_end end = self->plan->end;
    if (end == CONSUMER_STAYS) {
        (void)take(self, UINT64_MAX);
    } else if (!take(self, self->plan->bytes)) {
        if (end == CONSUMER_OUTLIVES || end == CONSUMER_DIES_TOO)
            kill(self->program, SIGKILL);
        if (end == CONSUMER_TERMINATES)
            kill(self->program, SIGTERM);
        if (end == CONSUMER_OUTLIVES || end == CONSUMER_TERMINATES)
            (void)take(self, UINT64_MAX);
    }
    if (end != CONSUMER_DIES && end != CONSUMER_DIES_TOO) {
        do_lines(self, 0);
        acknowledge(self, self->lines);
    }
    if (self->plan->lies)
        acknowledge(self, self->whole);
    close(self->from);
    if (self->ack >= 0)
        close(self->ack);
    self->taken.length = self->done;
}

/* ---- a life ---- */

static void say_command(words *command, const life *self)
{
    say(command, "vidi");
    if (self->takes_snapshot) {
        say_pair(command, "snapshot", self->place->state);
        return;
    }
    say_pair(command, "--state", self->place->state);
    say_pair(command, "--kind", self->kind);
    say_pair(command, "--error", "1e-12");
    say_pair(command, "--sync", self->sync);
    say_pair(command, "--threads", self->threads == 1 ? "1" : "3");
    if (self->way == LIFE_OUTPUT)
        say_pair(command, "--output", self->place->output);
    if (self->way == LIFE_ACK)
        say_pair(command, "--ack", self->acks_to_fifo ? self->place->acks : "3");
    if (self->poured == 0)
        say_files(command, self->place);
}

static void begin_tally(const life *self)
{
    static const fate_tally none;
    test_file_write(self->place->folder, "tally", &none, sizeof none);
}

static void end_tally(const life *self, life_end *end)
{
    fate_tally tally;
    int file = open(self->place->tally, O_RDONLY | O_CLOEXEC);
    assert_true(file >= 0);
    assert_int_equal(read(file, &tally, sizeof tally), sizeof tally);
    close(file);
    for (size_t i = 0; i < FATE_PLACES; i++)
        end->calls[i] = tally.calls[i];
    end->struck = tally.struck;
}

static void run_with_file(const life *self, const words *command, feeder *input, life_end *end)
{
    bool appends = self->way == LIFE_APPENDS && !self->takes_snapshot;
    const char *path = self->device ? self->device : appends ? self->place->output : "/dev/null";
    int file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    assert_true(file >= 0);
    pid_t pid = fork_child();
    if (pid == 0) {
        take_fate(self);
        take_limit(self);
        become(command, input->input, file, self->place->messages);
    }
    close(file);
    close(input->input);
    end->status = wait_for(pid);
}

/* Sets both ends of the way for acknowledgements. ends[0]: what the program inherits, or -1. */
static void open_acks(const life *self, int ends[2])
{
    ends[0] = ends[1] = -1;
    if (self->way != LIFE_ACK)
        return;
    if (!self->acks_to_fifo) {
        assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
        return;
    }
    ends[1] = open(self->place->acks, O_RDWR | O_CLOEXEC); /* to write to; it waits for nobody */
    assert_true(ends[1] >= 0);
}

/* In the child: the pipe for acknowledgements gets its number. */
static void inherit_acks(int acks)
{
    int kept = acks >= 0 ? fcntl(acks, F_DUPFD_CLOEXEC, 64) : -1;
    if (kept >= 0 && dup2(kept, ACK_FD) < 0)
        _exit(126);
}

static void run_with_consumer(const life *self, const words *command, feeder *input, life_end *end)
{
    int out[2], acks[2];
    assert_int_equal(pipe2(out, O_CLOEXEC), 0);
    open_acks(self, acks);
    pid_t pid = fork_child();
    if (pid == 0) {
        take_fate(self);
        take_limit(self);
        int kept = fcntl(input->input, F_DUPFD_CLOEXEC, 64), output = fcntl(out[1], F_DUPFD_CLOEXEC, 64);
        inherit_acks(acks[0]);
        become(command, kept, output, self->place->messages);
    }
    close(out[1]);
    close(input->input);
    if (acks[0] >= 0)
        close(acks[0]);
    consuming consumer = {.plan = &self->consumer, .program = pid, .from = out[0], .ack = acks[1]};
    consume(&consumer);
    end->status = wait_for(pid);
    end->done = consumer.taken;
}

void life_run(const life *self, life_end *end)
{
    words command = {0};
    *end = (life_end){0};
    say_command(&command, self);
    begin_tally(self);
    feeder input = feed(self);
    if (!self->takes_snapshot && (self->way == LIFE_PIPE || self->way == LIFE_ACK))
        run_with_consumer(self, &command, &input, end);
    else
        run_with_file(self, &command, &input, end);
    if (input.pid > 0)
        (void)wait_for(input.pid);
    end_tally(self, end);
}

/* ---- looking ---- */

/* Starts a command without a fate; closes `output`, where it writes to. */
static pid_t start(const words *command, int output, const char *messages)
{
    int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    assert_true(nothing >= 0);
    pid_t pid = fork_child();
    if (pid == 0)
        become(command, nothing, output, messages);
    close(nothing);
    close(output);
    return pid;
}

void life_fresh(const life *self, text *fresh)
{
    words command = {0};
    int out[2];
    say(&command, "vidi");
    say_pair(&command, "--state", self->place->state);
    say_pair(&command, "--kind", self->kind);
    say_pair(&command, "--error", "1e-12");
    say(&command, "--dry-run");
    say_files(&command, self->place);
    assert_int_equal(pipe2(out, O_CLOEXEC), 0);
    pid_t pid = start(&command, out[1], self->place->messages);
    text_read(fresh, out[0]);
    close(out[0]);
    int status = wait_for(pid);
    check(WIFEXITED(status) && WEXITSTATUS(status) == 0, "vidi --dry-run ends with status %d; look at %s", status,
          self->place->folder);
}

int life_command(const life_place *place, const char *command)
{
    words all = {0};
    int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    assert_true(nowhere >= 0);
    say_pair(&all, "vidi", command);
    say(&all, place->state);
    int status = wait_for(start(&all, nowhere, place->messages));
    return WIFEXITED(status) ? WEXITSTATUS(status) : 256 + status;
}
