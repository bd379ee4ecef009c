/*
 * The output file: see output_file.h. First opening and locking, then the note, then what a state finds when it comes
 * back to its file.
 */
#include "pipeline/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pipeline/state.h"
#include "ui/output.h"

enum {
    CHECKED_BYTES = 4096,
    COPY_BYTES = 1 << 16,
    PATH_SHOWN = 1024 /* bytes of the path that the note keeps, for messages */
};

/* ---- before anything is opened ---- */

static bool is_same(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

int cli_output_check(const char *path, cli_words inputs)
{
    struct stat about, input;

    if (strcmp(path, "-") == 0)
        return cli_error("--output needs a file; leave it out to write to standard output");
    if (stat(path, &about) != 0) /* if it cannot be made, opening it will tell */
        return CLI_OK;
    if (S_ISDIR(about.st_mode))
        return cli_error("cannot write %s: it is a folder", path);
    if (!S_ISREG(about.st_mode))
        return cli_error("cannot write %s: --output takes regular files only; redirect with '> %s'", path, path);
    bool from_stdin = inputs.count == 0;
    for (size_t i = 0; i < inputs.count; i++) {
        bool dash = strcmp(inputs.list[i], "-") == 0;
        if (!dash && stat(inputs.list[i], &input) == 0 && is_same(&about, &input))
            return cli_error("cannot write %s: it is also an input file", path);
        from_stdin = from_stdin || dash;
    }
    if (from_stdin && fstat(STDIN_FILENO, &input) == 0 && is_same(&about, &input))
        return cli_error("cannot write %s: it is also standard input", path);
    return CLI_OK;
}

/* ---- opening and locking ---- */

static int cannot(const cli_output_file *file, const char *what)
{
    return cli_error("cannot %s %s: %s", what, *file->path ? file->path : "''", strerror(errno));
}

void cli_output_close(cli_output_file *file)
{
    if (file->fd >= 0)
        close(file->fd);
    file->fd = -1;
}

/* Opens the file. CLI_OK with a descriptor of -1 if it is not there and `create` is false. */
static int open_regular(cli_output_file *file, bool create, struct stat *about)
{
    int flags = O_RDWR | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | (create ? O_CREAT : 0);

    file->fd = open(file->path, flags, 0666);
    if (file->fd < 0)
        return errno == ENOENT && !create ? CLI_OK : cannot(file, "write");
    if (fstat(file->fd, about) != 0)
        return cannot(file, "write");
    return S_ISREG(about->st_mode) ? CLI_OK : cli_error("cannot write %s: it is not a regular file", file->path);
}

/* Locks the file. CLI_OK, CLI_GO_ON to try again after a moment's wait, or an exit status. */
static int try_lock(const cli_output_file *file, bool wait, bool *told)
{
    while (flock(file->fd, LOCK_EX | LOCK_NB) != 0) {
        if (errno == EINTR)
            continue;
        if (errno != EWOULDBLOCK)
            return cannot(file, "lock");
        if (!wait)
            return cli_error("%s is locked: another process writes to it; name another --output%s", file->path,
                             file->noted ? ", or wait for it with --wait" : "");
        if (!*told)
            cli_warning("%s is locked: another process writes to it; waiting until it is free", file->path);
        *told = true;
        return cli_wait_a_moment();
    }
    return CLI_OK;
}

/* Opens the file and locks it. If its name belongs to another file by then, starts again. */
static int open_locked(cli_output_file *file, bool create, bool wait, struct stat *about)
{
    bool told = false;
    int status = CLI_GO_ON;

    while (status == CLI_GO_ON) {
        struct stat now;
        cli_output_close(file);
        status = open_regular(file, create, about);
        if (status != CLI_OK || file->fd < 0)
            return status;
        status = try_lock(file, wait, &told);
        if (status == CLI_OK && (stat(file->path, &now) != 0 || !is_same(&now, about)))
            status = CLI_GO_ON;
    }
    if (status == CLI_OK && fstat(file->fd, about) != 0) /* it may have grown meanwhile */
        return cannot(file, "write");
    return status;
}

int cli_output_replace(cli_output_file *file, const char *path)
{
    struct stat about;

    *file = (cli_output_file){.path = path, .fd = -1};
    int status = open_locked(file, true, false, &about);
    if (status == CLI_OK && ftruncate(file->fd, 0) != 0)
        return cannot(file, "write");
    return status;
}

/* Reads up to n bytes at the offset; fewer only at the end of the file. -1 with errno after an error. */
static ssize_t read_at(int fd, void *bytes, size_t n, uint64_t offset)
{
    size_t have = 0;

    while (have < n) {
        ssize_t got = pread(fd, (char *)bytes + have, n - have, (off_t)(offset + have));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return got < 0 ? -1 : (ssize_t)have;
        have += (size_t)got;
    }
    return (ssize_t)have;
}

/* ---- the note ---- */

#define NOTE_BEGIN "vidi output 1 "
#define NOTE_OPEN "open "
#define NOTE_CLOSED "closed "
#define NOTE_FORM NOTE_BEGIN "%s%" PRIu64 " %" PRIu64 " %" PRIu64 " %016" PRIx64 " "

typedef struct note {
    bool present;
    bool closed; /* the last run ended in order: it left nothing behind the noted length */
    uint64_t device, inode, length, checksum;
    char path[PATH_SHOWN + 1]; /* as it was when the note was made, for messages */
} note;

/* 64-bit FNV-1a of the last bytes before `length`. */
static int checksum_before(const cli_output_file *file, uint64_t length, uint64_t *checksum)
{
    unsigned char bytes[CHECKED_BYTES];
    size_t n = length < CHECKED_BYTES ? (size_t)length : CHECKED_BYTES;
    ssize_t got = read_at(file->fd, bytes, n, length - n);

    *checksum = UINT64_C(0xcbf29ce484222325);
    if (got < 0)
        return cannot(file, "read");
    if ((size_t)got < n)
        return cli_error("cannot read %s: it became shorter", file->path);
    for (size_t i = 0; i < n; i++)
        *checksum = (*checksum ^ bytes[i]) * UINT64_C(0x100000001b3);
    return CLI_OK;
}

/* Takes a word if it comes next. */
static bool take_word(const char **at, const char *word)
{
    bool is = strncmp(*at, word, strlen(word)) == 0;

    *at += is ? strlen(word) : 0;
    return is;
}

/* Takes a number and the space behind it. */
static bool take_number(const char **at, int base, uint64_t *value)
{
    char *end;

    errno = 0;
    *value = strtoull(*at, &end, base);
    bool taken = errno == 0 && end > *at && *end == ' ';
    *at = end + taken;
    return taken;
}

static bool parse_note(const char *text, note *found)
{
    const char *at = text;
    bool ours = take_word(&at, NOTE_BEGIN);

    found->closed = ours && take_word(&at, NOTE_CLOSED);
    found->present = ours && (found->closed || take_word(&at, NOTE_OPEN)) && take_number(&at, 10, &found->device) &&
                     take_number(&at, 10, &found->inode) && take_number(&at, 10, &found->length) &&
                     take_number(&at, 16, &found->checksum);
    if (found->present)
        snprintf(found->path, sizeof found->path, "%s", at);
    return found->present;
}

static int read_note(const cli_output_terms *terms, note *found)
{
    char text[VIDI_NOTE_MAX + 1];
    size_t length = VIDI_NOTE_MAX;
    int error = vidi_note(terms->set, text, &length);

    *found = (note){0};
    if (error < 0)
        return cli_state_error(terms->state, error);
    text[length] = 0;
    if (length > 0 && !parse_note(text, found))
        return cli_error("%s has a note that is not about an output file; use it without --output", terms->state);
    return CLI_OK;
}

/* Is the file still as this run has left it? */
static int check_unchanged(const cli_output_file *file, uint64_t written, struct stat *about)
{
    if (fstat(file->fd, about) != 0)
        return cannot(file, "look at");
    if (about->st_nlink == 0)
        return cli_error("%s was deleted while it was being written; what was not committed yet will be new again",
                         file->path);
    if ((uint64_t)about->st_size != file->start + written)
        return cli_error(
            "%s was changed by another program while it was being written; what was not committed yet will "
            "be new again",
            file->path);
    return CLI_OK;
}

/* Commits the set up to the mark with a note of this length. `about` is what fstat says of the file. */
static int commit_note(const cli_output_file *file, vidi_set *set, uint64_t mark, uint64_t length, bool closed,
                       const struct stat *about)
{
    char text[PATH_SHOWN + 128], resolved[PATH_MAX];
    uint64_t checksum;

    if (checksum_before(file, length, &checksum) != CLI_OK)
        return CLI_ERROR;
    const char *path = realpath(file->path, resolved) ? resolved : file->path;
    int used = snprintf(text, sizeof text, NOTE_FORM "%.*s", closed ? NOTE_CLOSED : NOTE_OPEN, (uint64_t)about->st_dev,
                        (uint64_t)about->st_ino, length, checksum, PATH_SHOWN, path);
    int error = vidi_commit_note(set, mark, (vidi_str){text, (size_t)used});
    return error < 0 ? cli_library_error(error) : CLI_OK;
}

int cli_output_commit(cli_output_file *file, vidi_set *set, uint64_t mark, uint64_t covered, uint64_t written)
{
    uint64_t length = file->start + covered;
    struct stat about;

    if (check_unchanged(file, written, &about) != CLI_OK ||
        commit_note(file, set, mark, length, false, &about) != CLI_OK)
        return CLI_ERROR;
    file->length = length;
    return CLI_OK;
}

int cli_output_finish(const cli_output_file *file, vidi_set *set, uint64_t mark)
{
    struct stat about;

    if (fstat(file->fd, &about) != 0 || (uint64_t)about.st_size != file->length)
        return CLI_OK; /* lines that are not committed are left, and the next run will cut them off */
    return commit_note(file, set, mark, file->length, true, &about);
}

bool cli_output_cut(cli_output_file *file, uint64_t kept, uint64_t written)
{
    struct stat about;

    if (kept == written)
        return true;
    return fstat(file->fd, &about) == 0 && (uint64_t)about.st_size == file->start + written &&
           ftruncate(file->fd, (off_t)(file->start + kept)) == 0;
}

/* ---- coming back to a file ---- */

static int sync_folder(const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int error = fd < 0 || fsync(fd) != 0 ? errno : 0;

    if (fd >= 0)
        close(fd);
    return error == 0 ? CLI_OK : cli_error("cannot sync the folder %s: %s", path, strerror(error));
}

/* The folder of a file, in the caller's buffer. */
static char *folder_of(const char *path, char text[PATH_MAX])
{
    snprintf(text, PATH_MAX, "%s", path);
    return dirname(text);
}

static int check_outside(const char *path, const char *state)
{
    char text[PATH_MAX];
    struct stat folder, set;

    if (strlen(path) >= PATH_MAX)
        return cli_error("cannot write %s: %s", path, strerror(ENAMETOOLONG));
    if (stat(folder_of(path, text), &folder) == 0 && stat(state, &set) == 0 && is_same(&folder, &set))
        return cli_error("cannot write %s: it is in the folder of the state; name a file elsewhere", path);
    return CLI_OK;
}

/* Is the file from `offset` on the same as the cut file, as far as both go? *length is the cut file's. */
static bool begins_alike(int from, uint64_t offset, int cut, uint64_t *length)
{
    char ours[COPY_BYTES], kept[COPY_BYTES];
    ssize_t n, got;

    *length = 0;
    do {
        n = read_at(cut, kept, sizeof kept, *length);
        got = read_at(from, ours, sizeof ours, offset + *length);
        if (n < 0 || got < 0 || memcmp(ours, kept, (size_t)(n < got ? n : got)) != 0)
            return false;
        *length += (uint64_t)n;
    } while (n == COPY_BYTES);
    return true;
}

/* Copies everything from the offset on. 0 or errno. */
static int copy_tail(int from, uint64_t offset, int to)
{
    char bytes[COPY_BYTES];
    ssize_t got;

    while ((got = read_at(from, bytes, sizeof bytes, offset)) > 0) {
        for (ssize_t done = 0, wrote; done < got; done += wrote) {
            wrote = write(to, bytes + done, (size_t)(got - done));
            if (wrote < 0 && errno != EINTR)
                return errno;
            wrote = wrote < 0 ? 0 : wrote;
        }
        offset += (uint64_t)got;
    }
    return got < 0 ? errno : 0;
}

static void name_cut(char path[PATH_MAX], const char *state, unsigned number)
{
    if (snprintf(path, PATH_MAX, "%s/cut.%u", state, number) >= PATH_MAX)
        *path = 0; /* opening it will fail */
}

/*
 * Opens the last of the files cut.1, cut.2, … if it holds the beginning of what must be kept, and a new one otherwise.
 * A run that fails again and again over the same lines thus leaves one file. *have is how many bytes are in it already.
 * The lock on the state makes sure that nobody else does the same.
 */
static int open_cut(const cli_output_file *file, const char *state, char path[PATH_MAX], uint64_t *have)
{
    const int flags = O_RDWR | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
    unsigned number = 1;

    name_cut(path, state, number);
    while (faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
        name_cut(path, state, ++number);
    name_cut(path, state, number - 1);
    int last = open(path, flags); /* there is no cut.0 */
    if (last >= 0 && begins_alike(file->fd, file->length, last, have))
        return last;
    if (last >= 0)
        close(last);
    *have = 0;
    name_cut(path, state, number);
    return open(path, flags | O_CREAT | O_EXCL, 0600);
}

/* Copies what follows the noted length to the folder of the state. CLI_OK, or CLI_ERROR with a message. */
static int keep_tail(const cli_output_file *file, const cli_output_terms *terms, char path[PATH_MAX])
{
    uint64_t have = 0;
    int fd = open_cut(file, terms->state, path, &have);
    int error = fd < 0 ? errno : copy_tail(file->fd, file->length + have, fd);

    if (error == 0 && terms->syncs && fsync(fd) != 0)
        error = errno;
    if (fd >= 0 && close(fd) != 0 && error == 0)
        error = errno;
    if (error != 0)
        return cli_error("cannot keep what must be cut off %s in %s: %s", file->path, path, strerror(error));
    return terms->syncs ? sync_folder(terms->state) : CLI_OK;
}

/* Keeps a copy of what follows the noted length, and cuts it off. */
static int cut_tail(cli_output_file *file, const cli_output_terms *terms, uint64_t size)
{
    char path[PATH_MAX];
    cli_number bytes;

    if (keep_tail(file, terms, path) != CLI_OK)
        return CLI_ERROR;
    if (ftruncate(file->fd, (off_t)file->length) != 0 || (terms->syncs && fsync(file->fd) != 0))
        return cannot(file, "cut back");
    cli_warning("%s: the last %s bytes are from a run that ended before it had committed them; they were cut off and "
                "are in %s, and their URLs are new again",
                file->path, cli_human_count(&bytes, size - file->length), path);
    return CLI_OK;
}

#define WAY_OUT ", or move this one away and begin a new file with --output-new"

/* Finds the noted bytes in the file, and cuts off the rest. */
static int take_noted(cli_output_file *file, const cli_output_terms *terms, const note *had, const struct stat *about)
{
    uint64_t size = (uint64_t)about->st_size, checksum;
    cli_number is, was;

    if (about->st_ino != had->inode)
        return cli_error("%s is not the file that %s has written to (%s, %s bytes); put that one back" WAY_OUT,
                         file->path, terms->state, had->path, cli_human_count(&was, had->length));
    if (size < had->length)
        return cli_error("%s has %s bytes, but %s has committed %s: output is missing; put it back" WAY_OUT, file->path,
                         cli_human_count(&is, size), terms->state, cli_human_count(&was, had->length));
    if (checksum_before(file, had->length, &checksum) != CLI_OK)
        return CLI_ERROR;
    if (checksum != had->checksum)
        return cli_error("%s has changed since %s wrote to it; restore it" WAY_OUT, file->path, terms->state);
    file->length = had->length;
    if (size > had->length && had->closed)
        return cli_error("%s has %s bytes more than %s has written to it: somebody else has added them; take them "
                         "out" WAY_OUT,
                         file->path, cli_human_count(&is, size - had->length), terms->state);
    return size > had->length ? cut_tail(file, terms, size) : CLI_OK;
}

/*
 * A file that the state has not written to must be empty: what is in it may be another state's output, which that state
 * would cut off, together with ours, if its last run was killed.
 */
static int take_new(const cli_output_file *file, const cli_output_terms *terms, const struct stat *about)
{
    cli_number bytes;

    if (about->st_size == 0)
        return CLI_OK;
    cli_human_count(&bytes, (uint64_t)about->st_size);
    if (terms->fresh)
        return cli_error("--output-new begins a new file, but %s has %s bytes; move it away, or name another --output",
                         file->path, bytes.text);
    return cli_error("%s has %s bytes that %s has not written; move it away, or name another --output", file->path,
                     bytes.text, terms->state);
}

/*
 * The first note, as soon as the file is known: if the run is killed before its first commit, the next one knows what
 * to cut off. The set is synced even if the user wants no syncs, because the log keeps records in memory for a moment,
 * and the note must have left this process before the first byte of output.
 */
static int note_beginning(cli_output_file *file, const cli_output_terms *terms)
{
    char text[PATH_MAX];
    uint64_t mark;

    if (terms->syncs && fsync(file->fd) != 0)
        return cannot(file, "sync");
    if (terms->syncs && sync_folder(folder_of(file->path, text)) != CLI_OK)
        return CLI_ERROR;
    int error = vidi_mark(terms->set, &mark);
    if (error < 0)
        return cli_library_error(error);
    if (cli_output_commit(file, terms->set, mark, 0, 0) != CLI_OK)
        return CLI_ERROR;
    error = vidi_sync(terms->set);
    return error < 0 ? cli_library_error(error) : CLI_OK;
}

int cli_output_resume(cli_output_file *file, const char *path, const cli_output_terms *terms)
{
    note had;
    struct stat about;
    cli_number bytes;

    *file = (cli_output_file){.path = path, .fd = -1, .noted = true};
    if (check_outside(path, terms->state) != CLI_OK || read_note(terms, &had) != CLI_OK)
        return CLI_ERROR;
    int status = open_locked(file, terms->fresh || had.length == 0, terms->wait, &about);
    if (status != CLI_OK)
        return status;
    if (file->fd < 0)
        return cli_error(
            "%s is not there, but %s has committed %s bytes of output (%s); put it back, or begin a new file "
            "with --output-new",
            path, terms->state, cli_human_count(&bytes, had.length), had.path);
    bool known = had.present && !terms->fresh && (had.length > 0 || had.inode == about.st_ino);
    status = known ? take_noted(file, terms, &had, &about) : take_new(file, terms, &about);
    file->start = file->length;
    return status != CLI_OK || (known && !had.closed) ? status : note_beginning(file, terms);
}
