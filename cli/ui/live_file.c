/*
 * The file STATE/live: see live_file.h.
 */
#include "ui/live_file.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { TRIES = 10, TRY_NS = 1000000 };

#define SECOND 0.95 /* timers are never exact */
#define HALF_SECOND 0.45

static char *path_of(const char *folder, const char *name)
{
    char *path;
    return asprintf(&path, "%s/%s", folder, name) < 0 ? NULL : path;
}

/* ---- writing ---- */

static bool write_record(cli_live *live, const cli_report *report)
{
    cli_out text;
    json_writer json = cli_json_to(&text);
    char record[CLI_LIVE_BYTES];

    cli_out_init(&text, -1); /* it stays in the buffer */
    live->sequence++;
    json_open(&json, NULL, '{');
    json_add_count(&json, "sequence", live->sequence);
    json_add_count(&json, "pid", (uint64_t)getpid());
    cli_report_fields(&json, report);
    json_add_real(&json, "fill", report->set.fill);
    json_add_count(&json, "expected_lost_meaning", report->set.fp_meaning);
    json_open(&json, "lines_each_second", '[');
    for (size_t i = 0; i < live->rates.count; i++)
        json_add_count(&json, NULL, live->rates.lines[i]);
    json_close(&json, ']');
    json_add_count(&json, "again", live->sequence);
    json_close(&json, '}');
    bool fits = text.error == 0 && text.used < sizeof record;
    if (fits) {
        memset(record, ' ', sizeof record);
        memcpy(record, text.buffer, text.used);
        record[sizeof record - 1] = '\n';
    }
    free(text.buffer);
    return fits && pwrite(live->fd, record, sizeof record, 0) == (ssize_t)sizeof record;
}

/* Makes the file under another name, and renames it when it is locked and complete. */
static bool make_file(cli_live *live, const cli_report *report)
{
    char *fresh = path_of(live->path, "live.new"), *path = path_of(live->path, "live");

    live->fd = fresh ? open(fresh, O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600) : -1;
    bool made = live->fd >= 0 && path && flock(live->fd, LOCK_EX | LOCK_NB) == 0 && write_record(live, report) &&
                rename(fresh, path) == 0;
    if (live->fd >= 0 && !made)
        unlink(fresh);
    free(fresh);
    free(path);
    return made;
}

static void note_rate(cli_live *live, const cli_report *report)
{
    cli_live_rates *rates = &live->rates;
    double passed = report->seconds - live->second_began;

    if (passed < SECOND)
        return;
    if (rates->count == CLI_LIVE_RATES)
        memmove(rates->lines, rates->lines + 1, --rates->count * sizeof *rates->lines);
    rates->lines[rates->count++] = (uint64_t)((double)(report->read - live->second_read) / passed);
    live->second_began = report->seconds;
    live->second_read = report->read;
}

void cli_live_publish(cli_live *live, const cli_report *report)
{
    if (live->failed || (live->fd >= 0 && report->seconds - live->published < HALF_SECOND))
        return;
    live->published = report->seconds;
    note_rate(live, report);
    live->failed = live->fd < 0 ? !make_file(live, report) : !write_record(live, report);
}

void cli_live_end(cli_live *live)
{
    char *path = live->path ? path_of(live->path, "live") : NULL;

    if (path)
        unlink(path); /* also what a process that was killed has left */
    free(path);
    if (live->fd >= 0)
        close(live->fd);
    live->fd = -1;
}

/* ---- reading ---- */

/*
 * Where the value of a name begins; NULL if it is not there. A quotation mark inside a text has a backslash before it,
 * so that the name cannot be found there.
 */
static const char *value_of(const char *line, const char *name)
{
    char key[40];
    int length = snprintf(key, sizeof key, "\"%s\":", name);
    const char *found = strstr(line, key);
    return found ? found + length : NULL;
}

static uint64_t count_of(const char *line, const char *name)
{
    const char *value = value_of(line, name);
    return value ? strtoull(value, NULL, 10) : 0;
}

/* A null in JSON stands for a number that was too large. */
static double real_of(const char *line, const char *name)
{
    const char *value = value_of(line, name);
    if (value && *value == 'n')
        return INFINITY;
    return value ? strtod(value, NULL) : 0;
}

/* Texts of the library, which have nothing to escape; what a terminal would act on becomes '?'. */
static void text_of(const char *line, const char *name, char *text, size_t room)
{
    const char *value = value_of(line, name);
    size_t used = 0;

    if (value && *value == '"')
        for (value++; *value && *value != '"' && used + 1 < room; value++)
            text[used++] = *value;
    for (size_t i = 0; i < used; i++)
        if ((unsigned char)text[i] < 0x20 || text[i] == 0x7f)
            text[i] = '?';
    text[used] = 0;
}

static void rates_of(const char *line, cli_live_rates *rates)
{
    const char *at = value_of(line, "lines_each_second");

    rates->count = 0;
    while (at && (*at == '[' || *at == ',') && at[1] != ']' && rates->count < CLI_LIVE_RATES) {
        char *end;
        rates->lines[rates->count++] = strtoull(at + 1, &end, 10);
        at = end;
    }
}

static void parse(const char *line, cli_live_view *view)
{
    cli_report *report = &view->report;
    vidi_stats *set = &report->set;

    *view = (cli_live_view){.pid = count_of(line, "pid")};
    rates_of(line, &view->rates);
    report->read = count_of(line, "read");
    report->fresh = count_of(line, "new");
    report->seen = count_of(line, "seen");
    report->invalid = count_of(line, "invalid");
    report->bytes = count_of(line, "bytes_in");
    report->seconds = real_of(line, "seconds");
    set->size = sizeof *set;
    set->memory_bytes = count_of(line, "memory_bytes");
    set->expected_lost = real_of(line, "expected_lost");
    set->fp_meaning = (uint32_t)(count_of(line, "expected_lost_meaning") % 3);
    set->fp_now = real_of(line, "error_now");
    set->lines_touched = count_of(line, "lines_touched");
    set->epoch = count_of(line, "epoch");
    set->count = count_of(line, "count");
    set->capacity = count_of(line, "capacity");
    set->fill = real_of(line, "fill");
    text_of(line, "kind", set->kind, sizeof set->kind);
    text_of(line, "params", set->params, sizeof set->params);
    text_of(line, "hash", set->hash, sizeof set->hash);
    text_of(line, "canon", set->canon, sizeof set->canon);
}

/* Returns true if another process has it locked. */
static bool is_held(int fd)
{
    struct stat about;

    if (fstat(fd, &about) != 0 || !S_ISREG(about.st_mode))
        return false;
    return flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

static bool read_record(int fd, char line[CLI_LIVE_BYTES + 1])
{
    const struct timespec pause = {.tv_nsec = TRY_NS};

    for (int i = 0; i < TRIES; i++) {
        ssize_t got = pread(fd, line, CLI_LIVE_BYTES, 0);
        if (got < 0)
            return false;
        line[got] = 0;
        uint64_t sequence = count_of(line, "sequence");
        if (got == CLI_LIVE_BYTES && sequence > 0 && sequence == count_of(line, "again"))
            return true;
        nanosleep(&pause, NULL);
    }
    return false;
}

bool cli_live_read(const char *path, cli_live_view *view)
{
    char line[CLI_LIVE_BYTES + 1];
    char *name = path_of(path, "live");
    int fd = name ? open(name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC) : -1;

    free(name);
    if (fd < 0)
        return false;
    bool runs = is_held(fd) && read_record(fd, line);
    close(fd);
    if (runs)
        parse(line, view);
    return runs;
}
