/*
 * Input: see input.h. Text that is not packed is read straight to where the caller wants it; only its first read is
 * looked at.
 */
#include "pipeline/input.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#if VIDI_HAVE_ZLIB
#include <zlib.h>
#endif
#if VIDI_HAVE_ZSTD
#include <zstd.h>
#endif

enum { PACKED_ROOM = 256 * 1024, PIPE_ROOM = 1 << 20, MAGIC = 4 };

enum form { FORM_TEXT, FORM_GZIP, FORM_ZSTD };

static const struct {
    const char *name;
    unsigned char magic[MAGIC];
    size_t length;
} forms[] = {
    [FORM_TEXT] = {"text", {0}, 0},
    [FORM_GZIP] = {"gzip", {0x1f, 0x8b, 0x08}, 3},
    [FORM_ZSTD] = {"zstd", {0x28, 0xb5, 0x2f, 0xfd}, 4},
};

static bool is_stdin(const char *path)
{
    return strcmp(path, "-") == 0;
}

/* What is left to read of a regular file that is open. */
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

int cli_input_open(cli_input *in, const char *path)
{
    struct stat about;

    *in = (cli_input){.fd = -1, .name = is_stdin(path) ? "standard input" : path};
    in->fd = is_stdin(path) ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (in->fd < 0)
        return cli_error("cannot read %s: %s", in->name, strerror(errno));
    if (fstat(in->fd, &about) == 0 && S_ISREG(about.st_mode)) {
        in->regular = true;
        (void)posix_fadvise(in->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
    } else {
        (void)fcntl(in->fd, F_SETPIPE_SZ, PIPE_ROOM); /* fewer turns between two programs; what is no pipe refuses */
    }
    return CLI_OK;
}

/* ---- unpacking ---- */

static int damaged(const cli_input *in, const char *why)
{
    return cli_error("cannot read %s: its %s data is damaged (%s); unpack it by hand, or fetch it again", in->name,
                     forms[in->form].name, why);
}

#if VIDI_HAVE_ZLIB
static int gzip_open(cli_input *in)
{
    z_stream *stream = calloc(1, sizeof *stream);

    if (!stream || inflateInit2(stream, 15 + 16) != Z_OK) {
        free(stream);
        return cli_error("out of memory");
    }
    in->unpacker = stream;
    return CLI_OK;
}

static void gzip_close(cli_input *in)
{
    inflateEnd(in->unpacker);
    free(in->unpacker);
}

static int gzip_unpack(cli_input *in, char *bytes, size_t room, size_t *got)
{
    z_stream *stream = in->unpacker;

    if (!in->within) {
        while (in->packed_at < in->packed_end && in->packed[in->packed_at] == 0)
            in->packed_at++; /* tapes and some tools fill up with zeros */
        if (in->packed_at == in->packed_end)
            return CLI_OK;
        (void)inflateReset(stream);
        in->within = true;
    }
    stream->next_in = (unsigned char *)in->packed + in->packed_at;
    stream->avail_in = (unsigned)(in->packed_end - in->packed_at);
    stream->next_out = (unsigned char *)bytes;
    stream->avail_out = room < UINT32_MAX ? (unsigned)room : UINT32_MAX;
    unsigned before = stream->avail_out;
    int result = inflate(stream, Z_NO_FLUSH);
    in->packed_at = in->packed_end - stream->avail_in;
    *got = before - stream->avail_out;
    if (result == Z_MEM_ERROR)
        return cli_error("out of memory");
    if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR)
        return damaged(in, stream->msg ? stream->msg : "it cannot be unpacked");
    in->within = result != Z_STREAM_END;
    return CLI_OK;
}
#endif

#if VIDI_HAVE_ZSTD
static int zstd_open(cli_input *in)
{
    in->unpacker = ZSTD_createDStream();
    return in->unpacker ? CLI_OK : cli_error("out of memory");
}

static int zstd_unpack(cli_input *in, char *bytes, size_t room, size_t *got)
{
    ZSTD_inBuffer from = {in->packed, in->packed_end, in->packed_at};
    ZSTD_outBuffer to = {bytes, room, 0};
    size_t result = ZSTD_decompressStream(in->unpacker, &to, &from);

    if (ZSTD_isError(result))
        return damaged(in, ZSTD_getErrorName(result));
    if (from.pos > in->packed_at || to.pos > 0)
        in->within = result != 0;
    in->packed_at = from.pos;
    *got = to.pos;
    return CLI_OK;
}
#endif

static int unpack_open(cli_input *in)
{
#if VIDI_HAVE_ZLIB
    if (in->form == FORM_GZIP)
        return gzip_open(in);
#endif
#if VIDI_HAVE_ZSTD
    if (in->form == FORM_ZSTD)
        return zstd_open(in);
#endif
    return cli_error("cannot read %s: it is packed with %s, which this build cannot unpack; use '%s -dc'", in->name,
                     forms[in->form].name, forms[in->form].name);
}

static int unpack(cli_input *in, char *bytes, size_t room, size_t *got)
{
    *got = 0;
#if VIDI_HAVE_ZLIB
    if (in->form == FORM_GZIP)
        return gzip_unpack(in, bytes, room, got);
#endif
#if VIDI_HAVE_ZSTD
    if (in->form == FORM_ZSTD)
        return zstd_unpack(in, bytes, room, got);
#endif
    (void)in;
    (void)bytes;
    (void)room;
    return CLI_OK;
}

void cli_input_close(cli_input *in)
{
#if VIDI_HAVE_ZLIB
    if (in->form == FORM_GZIP && in->unpacker)
        gzip_close(in);
#endif
#if VIDI_HAVE_ZSTD
    if (in->form == FORM_ZSTD)
        ZSTD_freeDStream(in->unpacker);
#endif
    in->unpacker = NULL;
    free(in->packed);
    in->packed = NULL;
    if (in->fd > STDIN_FILENO)
        close(in->fd);
    in->fd = -1;
}

/* ---- reading ---- */

static int read_some(cli_input *in, char *bytes, size_t room, size_t *got)
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

/* The form that the bytes begin in, or could begin in if there were more of them. */
static int form_of(const char *bytes, size_t n)
{
    for (int form = FORM_GZIP; n > 0 && form <= FORM_ZSTD; form++)
        if (memcmp(bytes, forms[form].magic, n < forms[form].length ? n : forms[form].length) == 0)
            return form;
    return FORM_TEXT;
}

/* The first read of a file. More bytes than are there are waited for only if it begins as packed data does. */
static int read_first(cli_input *in, char *bytes, size_t room, size_t *got)
{
    size_t n = 0, more = 1;

    room = room < PACKED_ROOM ? room : PACKED_ROOM;
    while (more > 0 && (n == 0 || (form_of(bytes, n) != FORM_TEXT && n < MAGIC))) {
        if (read_some(in, bytes + n, room - n, &more) != CLI_OK)
            return CLI_ERROR;
        n += more;
    }
    in->looked = true;
    int form = form_of(bytes, n);
    if (form == FORM_TEXT || n < forms[form].length) {
        *got = n;
        return CLI_OK;
    }
    *got = 0;
    in->form = form;
    in->packed = malloc(PACKED_ROOM);
    if (!in->packed)
        return cli_error("out of memory");
    memcpy(in->packed, bytes, n);
    in->packed_end = n;
    return unpack_open(in);
}

static int read_packed(cli_input *in, char *bytes, size_t room, size_t *got)
{
    for (;;) {
        /* Also without more to unpack: the last bytes may have been kept back for want of room. */
        if (unpack(in, bytes, room, got) != CLI_OK)
            return CLI_ERROR;
        if (*got > 0)
            return CLI_OK;
        if (in->packed_at < in->packed_end)
            continue;
        if (in->at_end)
            return in->within ? damaged(in, "it ends too early") : CLI_OK;
        in->packed_at = 0;
        if (read_some(in, in->packed, PACKED_ROOM, &in->packed_end) != CLI_OK)
            return CLI_ERROR;
    }
}

int cli_input_read(cli_input *in, char *bytes, size_t room, size_t *got)
{
    if (!in->looked) {
        int status = read_first(in, bytes, room, got);
        if (status != CLI_OK || in->form == FORM_TEXT)
            return status;
    }
    if (in->form != FORM_TEXT)
        return read_packed(in, bytes, room, got);
    *got = 0;
    return in->at_end ? CLI_OK : read_some(in, bytes, room, got);
}

bool cli_input_ready(const cli_input *in)
{
    struct pollfd input = {.fd = in->fd, .events = POLLIN};
    return in->regular || in->at_end || in->packed_at < in->packed_end || poll(&input, 1, 0) != 0;
}
