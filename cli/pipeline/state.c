/*
 * Opens states: see state.h.
 */
#include "pipeline/state.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "vidi/transfer.h"

enum { WAIT_MS = 50 }; /* between two tries to lock a state */

#define READ_BYTES (UINT64_C(64) << 20) /* snapshots up to this size are read if there is a log */

/* Returns true if the library's message already names the set. */
static bool names(const char *message, const char *path)
{
    static const char *const forms[][2] = {{"", " is not a vidi set"},
                                           {"", " holds "},
                                           {"there is a set at ", " already"},
                                           {"cannot open the set ", ": "},
                                           {"cannot make the folder ", ": "}};
    size_t length = strlen(path);

    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        size_t before = strlen(forms[i][0]), after = strlen(forms[i][1]);
        if (strncmp(message, forms[i][0], before) == 0 && strncmp(message + before, path, length) == 0 &&
            strncmp(message + before + length, forms[i][1], after) == 0)
            return true;
    }
    return false;
}

/* The library's message about a set, or what follows the words "the set" in it, which the path can stand for. */
static const char *about_set(int error, bool *begins_with_set)
{
    static const char words[] = "the set";
    const char *message = vidi_message();

    if (!message || !*message)
        message = vidi_strerror(error);
    *begins_with_set = strncmp(message, words, sizeof words - 1) == 0 && message[sizeof words - 1] == ' ';
    return *begins_with_set ? message + sizeof words - 1 : message;
}

int cli_state_error(const char *path, int error)
{
    bool begins_with_set;
    const char *message = about_set(error, &begins_with_set);

    if (cli_state_is_none(error))
        return cli_error("%s is not a vidi set", path);
    if (error == VIDI_EDAMAGED)
        return cli_error("%s: %s; restore a backup, or use --accept-damage to go on without what is gone", path,
                         message);
    if (begins_with_set)
        return cli_error("%s%s", path, message);
    return names(message, path) ? cli_error("%s", message) : cli_error("%s: %s", path, message);
}

bool cli_state_is_none(int error)
{
    return error == VIDI_EFORMAT && strcmp(vidi_message(), "not a vidi set") == 0;
}

bool cli_state_is_folder(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 && S_ISDIR(about.st_mode);
}

/* ---- exported files ---- */

typedef struct source {
    int fd;
    int error; /* errno of a read that failed; 0: none */
} source;

static int64_t read_some(void *context, void *data, size_t size)
{
    source *self = context;

    for (;;) {
        ssize_t got = read(self->fd, data, size);
        if (got >= 0)
            return got;
        if (errno != EINTR) {
            self->error = errno;
            return -1;
        }
    }
}

/* The number of bytes left to read; 0 if it is unknown. */
static uint64_t bytes_left(int fd)
{
    struct stat about;

    if (fstat(fd, &about) != 0 || !S_ISREG(about.st_mode))
        return 0;
    off_t at = lseek(fd, 0, SEEK_CUR);
    return at >= 0 && at < about.st_size ? (uint64_t)(about.st_size - at) : 0;
}

int cli_state_read(vidi_set **set, const char *path, const char *folder, const vidi_access *access, int *error)
{
    int ignored = 0;
    bool standard = strcmp(path, "-") == 0;
    const char *name = standard ? "standard input" : path;
    source from = {.fd = standard ? STDIN_FILENO : (int)TEMP_FAILURE_RETRY(open(path, O_RDONLY | O_CLOEXEC))};
    vidi_access mine = access ? *access : (vidi_access)VIDI_ACCESS_INIT;

    mine.flags |= VIDI_READ_TO_END; /* two exported sets in one file are a mistake that must not go unnoticed */
    error = error ? error : &ignored;
    *error = VIDI_OK;
    *set = NULL;
    if (from.fd < 0)
        return cli_error("cannot open %s: %s", name, strerror(errno));
    if (isatty(from.fd)) {
        int status = cli_error("%s is a terminal; name a file with a set, or redirect one", name);
        if (!standard)
            close(from.fd);
        return status;
    }
    *error = vidi_read(set, read_some, &from, bytes_left(from.fd), folder, &mine);
    if (!standard)
        close(from.fd);
    if (from.error != 0)
        return cli_error("cannot read %s: %s", name, strerror(from.error));
    if (*error == VIDI_OK)
        return CLI_OK;
    bool stream = *error == VIDI_EFORMAT || !folder; /* otherwise the folder is to blame */
    return cli_state_error(stream ? name : folder, *error);
}

/* Gives the first bytes of a file, and no more: enough to see whether they begin a set. */
static int64_t read_beginning(void *context, void *data, size_t size)
{
    source *self = context;
    int64_t got = self->error ? 0 : read_some(self, data, size);

    self->error = -1;
    return got;
}

/* Why a file cannot be opened for writing: it is not a set, or it is an exported one. */
static int refuse_file(const char *path)
{
    vidi_set *set;
    source from = {.fd = (int)TEMP_FAILURE_RETRY(open(path, O_RDONLY | O_CLOEXEC))};

    if (from.fd < 0)
        return cli_error("cannot open %s: %s", path, strerror(errno));
    int error = vidi_read(&set, read_beginning, &from, 0, NULL, NULL);
    vidi_close(set);
    close(from.fd);
    if (cli_state_is_none(error))
        return cli_state_error(path, error);
    return cli_error("%s is an exported set, which cannot be changed; make a folder of it with 'vidi import'", path);
}

int cli_state_check_folder(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 && !S_ISDIR(about.st_mode) ? refuse_file(path) : CLI_OK;
}

/* ---- locks ---- */

int cli_wait_a_moment(void)
{
    static const int numbers[] = {SIGINT, SIGTERM};
    const struct timespec moment = {.tv_nsec = WAIT_MS * 1000000L};
    sigset_t signals;

    sigemptyset(&signals);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        struct sigaction now;
        if (sigaction(numbers[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN)
            sigaddset(&signals, numbers[i]);
    }
    int number = sigtimedwait(&signals, NULL, &moment);
    return number > 0 ? CLI_SIGNAL + number : CLI_GO_ON;
}

int cli_state_locked(const char *path, bool wait, bool *told, const char *advice)
{
    bool begins_with_set;
    const char *message = about_set(VIDI_EBUSY, &begins_with_set), *between = begins_with_set ? "" : ": ";

    if (!wait)
        return cli_error("%s%s%s; %s", path, between, message, advice);
    if (!*told)
        cli_warning("%s%s%s; waiting until it is free", path, between, message);
    *told = true;
    return cli_wait_a_moment();
}

/* ---- folders ---- */

static int open_folder(vidi_set **set, const char *path, const vidi_access *access, bool wait, int *error)
{
    bool told = false;
    int status = CLI_GO_ON;

    if (faccessat(AT_FDCWD, path, R_OK | X_OK, 0) != 0)
        return cli_error("cannot open %s: %s", path, strerror(errno));
    while (status == CLI_GO_ON) {
        *error = vidi_open(set, path, access);
        status = *error == VIDI_EBUSY ? cli_state_locked(path, wait, &told, "wait for it with --wait")
                 : *error < 0         ? cli_state_error(path, *error)
                                      : CLI_OK;
    }
    return status;
}

vidi_recovery cli_state_recovered(const vidi_set *set)
{
    vidi_recovery recovery = {.size = sizeof recovery};

    if (vidi_recovered(set, &recovery) < 0)
        recovery = (vidi_recovery){.size = sizeof recovery};
    return recovery;
}

cli_damage cli_state_damage(const vidi_recovery *found)
{
    cli_damage damage = {""};
    cli_number files, bytes, places, at;
    size_t used = 0;

    if (found->missing_files == 1)
        snprintf(damage.text, sizeof damage.text, "%s is missing or unreadable", found->missing_file);
    else if (found->missing_files)
        snprintf(damage.text, sizeof damage.text, "%s files are missing or unreadable, the first is %s",
                 cli_human_count(&files, found->missing_files), found->missing_file);
    used = strlen(damage.text);
    if (found->damaged_bytes)
        snprintf(damage.text + used, sizeof damage.text - used, "%s%s is damaged: %s bytes in %s %s, from byte %s on",
                 used ? "; " : "", found->damaged_log, cli_human_count(&bytes, found->damaged_bytes),
                 cli_human_count(&places, found->damaged_places), found->damaged_places == 1 ? "place" : "places",
                 cli_human_count(&at, found->damaged_at));
    return damage;
}

void cli_state_warn_of_damage(const vidi_set *set, const char *path)
{
    vidi_recovery found = cli_state_recovered(set);
    cli_damage damage = cli_state_damage(&found);

    if (*damage.text)
        cli_warning("%s: %s; URLs that are gone with it will be new again", path, damage.text);
}

static int open_any(vidi_set **set, const char *path, const vidi_access *access, bool wait, int *error)
{
    vidi_access for_file = VIDI_ACCESS_INIT;
    struct stat about;

    for_file.invalid = access->invalid;
    if ((access->flags & VIDI_READ_ONLY) && strcmp(path, "-") == 0)
        return cli_state_read(set, path, NULL, &for_file, error);
    if (stat(path, &about) != 0)
        return cli_error("cannot open %s: %s", *path ? path : "''", strerror(errno));
    if (S_ISDIR(about.st_mode))
        return open_folder(set, path, access, wait, error);
    return access->flags & VIDI_READ_ONLY ? cli_state_read(set, path, NULL, &for_file, error) : refuse_file(path);
}

int cli_write_check_address(const cli_write_options *options)
{
    if (options->wait)
        return cli_error("--wait is for folders; nobody locks a set on a server");
    return options->accepts ? cli_error("--accept-damage is for folders") : CLI_OK;
}

int cli_state_open(vidi_set **set, const char *path, const cli_opening *how)
{
    vidi_access access = VIDI_ACCESS_INIT;
    int ignored = VIDI_OK;
    int *error = how->error ? how->error : &ignored;

    *error = VIDI_OK;
    *set = NULL;
    if (cli_is_address(path))
        return cli_server_refuse(path, "name a folder with a set");
    access.flags = how->flags;
    access.invalid = how->invalid;
    int status = open_any(set, path, &access, how->wait, error);
    if (status != CLI_OK || how->damage == CLI_DAMAGE_PASSES)
        return status;
    vidi_recovery found = cli_state_recovered(*set);
    cli_damage damage = cli_state_damage(&found);
    if (!*damage.text || how->damage == CLI_DAMAGE_WARNS) {
        cli_state_warn_of_damage(*set, path);
        return CLI_OK;
    }
    vidi_close(*set);
    *set = NULL;
    return cli_error("%s: %s; restore a backup, or use --accept-damage to go on without what is gone", path,
                     damage.text);
}

int cli_state_open_to_write(vidi_set **set, const char *path, const cli_write_options *options, cli_opening how)
{
    how.flags |= options->accepts ? VIDI_ACCEPT_DAMAGE : 0;
    how.wait = options->wait;
    return cli_state_open(set, path, &how);
}

int cli_state_stat(const vidi_set *set, const char *path, vidi_stats *stats)
{
    *stats = (vidi_stats){.size = sizeof *stats};
    int error = vidi_stat(set, stats);
    return error < 0 ? cli_state_error(path, error) : CLI_OK;
}

static int look(const char *path, cli_state_view *view, unsigned flags)
{
    int status =
        cli_state_open(&view->set, path, &(cli_opening){.flags = VIDI_READ_ONLY | flags, .damage = CLI_DAMAGE_PASSES});

    if (status != CLI_OK)
        return status;
    view->found = cli_state_recovered(view->set);
    view->without_log = view->found.urls > 0 && !(flags & VIDI_NO_MAP);
    return cli_state_stat(view->set, path, &view->stats);
}

int cli_state_look(const char *path, cli_state_view *view)
{
    *view = (cli_state_view){0};
    int status = look(path, view, 0);
    if (status != CLI_OK || !view->without_log || view->stats.snapshot_bytes > READ_BYTES)
        return status;
    vidi_close(view->set);
    return look(path, view, VIDI_NO_MAP);
}

const char *cli_human_urls(cli_number *number, uint64_t urls)
{
    size_t length = strlen(cli_human_count(number, urls));
    snprintf(number->text + length, sizeof number->text - length, urls == 1 ? " URL" : " URLs");
    return number->text;
}

int cli_state_cannot(const char *path, const vidi_stats *stats, uint32_t can, const char *what)
{
    vidi_kind_info info = {.size = sizeof info};
    char kinds[256] = "";
    cli_shown shown;

    for (size_t i = 0; vidi_kind(i, &info) == VIDI_OK; i++) {
        size_t used = strlen(kinds);
        if (info.can & can)
            snprintf(kinds + used, sizeof kinds - used, "%s%s", used ? ", " : "", info.name);
    }
    return cli_error("%s is of kind %s, which cannot %s; these kinds can: %s", cli_shown_path(&shown, path),
                     stats->kind, what, kinds);
}
