/*
 * Input: see input.h. Plain text is read straight into the caller's buffer; only the first bytes of a file are looked
 * at.
 */
#include "pipeline/input/input.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pipeline/server.h"
#include "ui/output.h"

static bool is_stdin(const char *path)
{
    return strcmp(path, "-") == 0;
}

/* The number of bytes left to read of a regular file; 0 of anything else. */
static uint64_t size_of(int fd, const struct stat *about)
{
    off_t from = fd >= 0 ? lseek(fd, 0, SEEK_CUR) : 0;

    from = from > 0 ? from : 0;
    return S_ISREG(about->st_mode) && about->st_size > from ? (uint64_t)(about->st_size - from) : 0;
}

int cli_input_check(const char *path, uint64_t *size)
{
    struct stat about;

    *size = 0;
    if (cli_is_address(path))
        return cli_server_refuse(path, "input is read from files; give the set of a run with --state");
    if (is_stdin(path)) {
        *size = fstat(STDIN_FILENO, &about) == 0 ? size_of(STDIN_FILENO, &about) : 0;
        return CLI_OK;
    }
    if (stat(path, &about) != 0 || access(path, R_OK) != 0)
        return cli_error("cannot read %s: %s", *path ? path : "''", strerror(errno));
    if (S_ISDIR(about.st_mode))
        return cli_error("cannot read %s: %s; name the files in it", path, strerror(EISDIR));
    *size = size_of(-1, &about);
    return CLI_OK;
}

int cli_input_check_all(cli_words *files, uint64_t *size)
{
    static char dash[] = "-", *standard_input[] = {dash};
    int status = CLI_OK;
    bool sized = true;

    *size = 0;
    if (files->count == 0)
        *files = (cli_words){standard_input, 1};
    for (size_t i = 0; i < files->count; i++) {
        uint64_t one;
        if (cli_input_check(files->list[i], &one) != CLI_OK)
            status = CLI_ERROR;
        sized = sized && one > 0;
        *size = sized ? *size + one : 0;
    }
    return status;
}

int cli_input_open(cli_input *in, const char *path)
{
    struct stat about;

    *in = (cli_input){.fd = -1, .name = is_stdin(path) ? "standard input" : path};
    in->fd = is_stdin(path) ? STDIN_FILENO : (int)TEMP_FAILURE_RETRY(open(path, O_RDONLY | O_CLOEXEC));
    if (in->fd < 0)
        return cli_error("cannot read %s: %s", in->name, strerror(errno));
    if (fstat(in->fd, &about) == 0 && S_ISREG(about.st_mode)) {
        in->regular = true;
        (void)posix_fadvise(in->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
    } else {
        (void)fcntl(in->fd, F_SETPIPE_SZ, CLI_PIPE_ROOM); /* fails if it is not a pipe */
    }
    return CLI_OK;
}

void cli_input_close(cli_input *in)
{
    cli_unpacker_close(&in->unpacker);
    if (in->fd > STDIN_FILENO)
        close(in->fd);
    in->fd = -1;
}

/* ---- reading ---- */

static int read_file(cli_input *in, char *bytes, size_t room, size_t *got)
{
    ssize_t result;

    while ((result = read(in->fd, bytes, room)) < 0) {
        struct pollfd wait = {.fd = in->fd, .events = POLLIN};
        if (errno == EAGAIN)
            (void)poll(&wait, 1, -1);
        else if (errno != EINTR)
            return cli_error("cannot read %s: %s", in->name, strerror(errno));
    }
    in->at_end = result == 0;
    in->taken += (uint64_t)result;
    *got = (size_t)result;
    return CLI_OK;
}

static int read_packed(cli_input *in, char *bytes, size_t room, size_t *got)
{
    cli_unpacker *unpacker = &in->unpacker;

    for (;;) {
        /* Even without new packed bytes: the codec may have kept some of the text back for want of room. */
        CLI_TRY(cli_unpack(unpacker, bytes, room, got));
        if (*got > 0)
            return CLI_OK;
        if (unpacker->at < unpacker->end)
            continue;
        if (in->at_end)
            return cli_unpacker_end(unpacker);
        unpacker->at = 0;
        CLI_TRY(read_file(in, unpacker->packed, CLI_PACKED_ROOM, &unpacker->end));
    }
}

static int read_text(cli_input *in, char *bytes, size_t room, size_t *got)
{
    *got = 0;
    if (in->unpacker.codec)
        return read_packed(in, bytes, room, got);
    return in->at_end ? CLI_OK : read_file(in, bytes, room, got);
}

/* ---- the beginning of a file ---- */

static const char utf8_mark[] = "\xef\xbb\xbf", utf16_marks[][3] = {"\xff\xfe", "\xfe\xff"};

static bool packing_undecided(const char *bytes, size_t n)
{
    bool undecided;

    (void)cli_codec_of(bytes, n, &undecided);
    return undecided;
}

static bool mark_undecided(const char *bytes, size_t n)
{
    return (n < 3 && memcmp(bytes, utf8_mark, n) == 0) ||
           (n < 2 && (memcmp(bytes, utf16_marks[0], n) == 0 || memcmp(bytes, utf16_marks[1], n) == 0));
}

/* Adds to the n bytes that are there until they are enough to decide by, or the file ends. */
static int gather(cli_input *in, char *bytes, size_t room, size_t *n, bool (*undecided)(const char *, size_t))
{
    size_t more = 1;

    while (more > 0 && undecided(bytes, *n)) {
        CLI_TRY(read_text(in, bytes + *n, room - *n, &more));
        *n += more;
    }
    return CLI_OK;
}

/* Skips the mark that some programs put before text in UTF-8. */
static int skip_mark(const cli_input *in, char *bytes, size_t *n)
{
    if (*n >= 3 && memcmp(bytes, utf8_mark, 3) == 0) {
        *n -= 3;
        memmove(bytes, bytes + 3, *n);
    }
    if (*n >= 2 && (memcmp(bytes, utf16_marks[0], 2) == 0 || memcmp(bytes, utf16_marks[1], 2) == 0))
        return cli_error("cannot read %s: it is in UTF-16; convert it with 'iconv -f UTF-16 -t UTF-8'", in->name);
    return CLI_OK;
}

/* The first read of a file. It waits for more bytes only as long as those that are there could begin a packed file. */
static int read_first(cli_input *in, char *bytes, size_t room, size_t *got)
{
    size_t n = 0;
    bool undecided;

    room = room < CLI_PACKED_ROOM ? room : CLI_PACKED_ROOM;
    in->looked = true;
    CLI_TRY(gather(in, bytes, room, &n, packing_undecided));
    const cli_codec *codec = cli_codec_of(bytes, n, &undecided);
    if (codec) {
        CLI_TRY(cli_unpacker_open(&in->unpacker, codec, in->name, bytes, n));
        n = 0;
    }
    if (!in->any_bytes && (gather(in, bytes, room, &n, mark_undecided) != CLI_OK || skip_mark(in, bytes, &n) != CLI_OK))
        return CLI_ERROR;
    *got = n;
    return n > 0 ? CLI_OK : read_text(in, bytes, room, got);
}

int cli_input_read(cli_input *in, char *bytes, size_t room, size_t *got)
{
    return in->looked ? read_text(in, bytes, room, got) : read_first(in, bytes, room, got);
}

void cli_input_raw(cli_input *in)
{
    in->looked = true;
}

static int too_large(const cli_input *in, size_t most)
{
    cli_number size;
    return cli_error("%s is too large: it has more than %s", in->name, cli_human_bytes(&size, most));
}

/* Makes room for at least one more read. */
static int grow(const cli_input *in, size_t most, char **bytes, size_t *room, size_t used)
{
    enum { FIRST = 64 * 1024, LEAST = 4096 };

    if (*room - used >= LEAST)
        return CLI_OK;
    if (used > most)
        return too_large(in, most);
    size_t more = *room ? 2 * *room : FIRST;
    char *moved = realloc(*bytes, more);
    if (!moved)
        return cli_error("there is not enough memory to read %s", in->name);
    *bytes = moved;
    *room = more;
    return CLI_OK;
}

int cli_input_read_whole(const char *path, size_t most, bool text, char **bytes, size_t *len)
{
    cli_input in;
    size_t room = 0, got = 1;
    int status = cli_input_open(&in, path);

    *bytes = NULL;
    *len = 0;
    in.any_bytes = !text;
    while (status == CLI_OK && got > 0) {
        status = grow(&in, most, bytes, &room, *len);
        if (status == CLI_OK)
            status = cli_input_read(&in, *bytes + *len, room - *len, &got);
        *len += status == CLI_OK ? got : 0;
    }
    if (status == CLI_OK && *len > most)
        status = too_large(&in, most);
    cli_input_close(&in);
    if (status == CLI_OK) {
        (*bytes)[*len] = 0; /* the last read, which got nothing, had room */
        return CLI_OK;
    }
    free(*bytes);
    *bytes = NULL;
    return status;
}

bool cli_input_ready(const cli_input *in)
{
    struct pollfd input = {.fd = in->fd, .events = POLLIN};
    const cli_unpacker *unpacker = &in->unpacker;

    return in->regular || in->at_end || unpacker->pending || unpacker->at < unpacker->end || poll(&input, 1, 0) != 0;
}
