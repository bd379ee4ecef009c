/*
 * Unpacking: see unpack.h. Each codec is three functions around its library; the walk from member to member is common
 * to all of them. A build without a library still knows the format, and says how to unpack it.
 */
#include "pipeline/input/unpack.h"

#include <stdlib.h>
#include <string.h>

#include "common/inflate.h"

#if VIDI_HAVE_ZSTD
#include <zstd.h>
#endif
#if VIDI_HAVE_LZMA
#include <lzma.h>
#endif
#if VIDI_HAVE_BZIP2
#include <bzlib.h>
#endif

enum { MAGIC_ROOM = 10 };

/* xz -9 needs 65 MiB to unpack; a file that needs more than this was made to take memory. */
#define XZ_MEMORY (UINT64_C(1) << 30)

/* Every codec works in the steps of common/inflate.h. */
typedef inflate_window window;
typedef inflate_result outcome;

struct cli_codec {
    const char *name;
    const char *program; /* that unpacks to standard output */
    /* NULL in a build without the library. begin starts a member, and makes *state first if it is NULL. */
    bool (*begin)(void **state);
    outcome (*step)(void *state, window *window);
    void (*end)(void *state);
};

#if VIDI_HAVE_ZLIB
static bool gzip_begin(void **state)
{
    if (*state)
        inflater_reset(*state);
    else
        *state = inflater_open(INFLATE_GZIP);
    return *state;
}

static outcome gzip_step(void *state, window *window)
{
    return inflater_step(state, window);
}

static void gzip_end(void *state)
{
    inflater_close(state);
}
#endif

#if VIDI_HAVE_ZSTD
static bool zstd_begin(void **state)
{
    *state = *state ? *state : ZSTD_createDStream();
    return *state && !ZSTD_isError(ZSTD_initDStream(*state));
}

static outcome zstd_step(void *state, window *window)
{
    ZSTD_inBuffer from = {window->from, window->from_left, 0};
    ZSTD_outBuffer to = {window->to, window->to_left, 0};
    size_t result = ZSTD_decompressStream(state, &to, &from);

    window->from_left -= from.pos;
    window->to_left -= to.pos;
    if (ZSTD_isError(result)) {
        window->why = ZSTD_getErrorName(result);
        return INFLATE_DAMAGED;
    }
    return result == 0 ? INFLATE_ENDS : INFLATE_GOES_ON;
}

static void zstd_end(void *state)
{
    ZSTD_freeDStream(state);
}
#endif

#if VIDI_HAVE_LZMA
static bool xz_begin(void **state)
{
    static const lzma_stream empty = LZMA_STREAM_INIT;

    if (!*state) {
        lzma_stream *stream = malloc(sizeof *stream);
        if (!stream)
            return false;
        *stream = empty;
        *state = stream;
    }
    return lzma_stream_decoder(*state, XZ_MEMORY, 0) == LZMA_OK;
}

static outcome xz_step(void *state, window *window)
{
    lzma_stream *stream = state;

    stream->next_in = (const uint8_t *)window->from;
    stream->avail_in = window->from_left;
    stream->next_out = (uint8_t *)window->to;
    stream->avail_out = window->to_left;
    lzma_ret result = lzma_code(stream, LZMA_RUN);
    window->from_left = stream->avail_in;
    window->to_left = stream->avail_out;
    if (result == LZMA_MEMLIMIT_ERROR)
        window->why = "it needs more than 1 GiB of memory";
    return result == LZMA_STREAM_END                       ? INFLATE_ENDS
           : result == LZMA_OK || result == LZMA_BUF_ERROR ? INFLATE_GOES_ON
           : result == LZMA_MEM_ERROR                      ? INFLATE_NO_MEMORY
                                                           : INFLATE_DAMAGED;
}

static void xz_end(void *state)
{
    lzma_end(state);
    free(state);
}
#endif

#if VIDI_HAVE_BZIP2
static bool bzip2_begin(void **state)
{
    if (*state)
        (void)BZ2_bzDecompressEnd(*state);
    else
        *state = malloc(sizeof(bz_stream));
    if (!*state)
        return false;
    memset(*state, 0, sizeof(bz_stream));
    return BZ2_bzDecompressInit(*state, 0, 0) == BZ_OK;
}

static outcome bzip2_step(void *state, window *window)
{
    bz_stream *stream = state;
    unsigned room = window->to_left < UINT32_MAX ? (unsigned)window->to_left : UINT32_MAX;

    stream->next_in = (char *)window->from;
    stream->avail_in = (unsigned)window->from_left;
    stream->next_out = window->to;
    stream->avail_out = room;
    int result = BZ2_bzDecompress(stream);
    window->from_left = stream->avail_in;
    window->to_left -= room - stream->avail_out;
    return result == BZ_STREAM_END  ? INFLATE_ENDS
           : result == BZ_OK        ? INFLATE_GOES_ON
           : result == BZ_MEM_ERROR ? INFLATE_NO_MEMORY
                                    : INFLATE_DAMAGED;
}

static void bzip2_end(void *state)
{
    (void)BZ2_bzDecompressEnd(state);
    free(state);
}
#endif

/* ---- which codec ---- */

static const cli_codec gzip_codec = {.name = "gzip",
                                     .program = "gzip -dc",
#if VIDI_HAVE_ZLIB
                                     .begin = gzip_begin,
                                     .step = gzip_step,
                                     .end = gzip_end
#endif
};

static const cli_codec zstd_codec = {.name = "zstd",
                                     .program = "zstd -dc",
#if VIDI_HAVE_ZSTD
                                     .begin = zstd_begin,
                                     .step = zstd_step,
                                     .end = zstd_end
#endif
};

static const cli_codec xz_codec = {.name = "xz",
                                   .program = "xz -dc",
#if VIDI_HAVE_LZMA
                                   .begin = xz_begin,
                                   .step = xz_step,
                                   .end = xz_end
#endif
};

static const cli_codec bzip2_codec = {.name = "bzip2",
                                      .program = "bzip2 -dc",
#if VIDI_HAVE_BZIP2
                                      .begin = bzip2_begin,
                                      .step = bzip2_step,
                                      .end = bzip2_end
#endif
};

/* bzip2 has two entries: a member begins with a block, or ends at once if it is empty. */
static const struct {
    const cli_codec *codec;
    unsigned char bytes[MAGIC_ROOM];
    size_t length;
    size_t digit; /* the place of a digit from 1 to 9; 0: none */
} magics[] = {
    {&gzip_codec, {0x1f, 0x8b, 0x08}, 3, 0},
    {&zstd_codec, {0x28, 0xb5, 0x2f, 0xfd}, 4, 0},
    {&xz_codec, {0xfd, '7', 'z', 'X', 'Z', 0}, 6, 0},
    {&bzip2_codec, {'B', 'Z', 'h', '9', 0x31, 0x41, 0x59, 0x26, 0x53, 0x59}, 10, 3},
    {&bzip2_codec, {'B', 'Z', 'h', '9', 0x17, 0x72, 0x45, 0x38, 0x50, 0x90}, 10, 3},
};

const cli_codec *cli_codec_of(const char *bytes, size_t n, bool *undecided)
{
    *undecided = false;
    for (size_t i = 0; i < sizeof magics / sizeof *magics; i++) {
        const unsigned char *magic = magics[i].bytes;
        size_t at = 0, digit = magics[i].digit;
        while (
            at < n && at < magics[i].length &&
            (digit > 0 && at == digit ? bytes[at] >= '1' && bytes[at] <= '9' : (unsigned char)bytes[at] == magic[at]))
            at++;
        if (at == magics[i].length)
            return magics[i].codec;
        *undecided |= at == n;
    }
    return NULL;
}

/* ---- unpacking ---- */

int cli_unpacker_open(cli_unpacker *unpacker, const cli_codec *codec, const char *name, const char *bytes, size_t n)
{
    *unpacker = (cli_unpacker){.codec = codec, .name = name, .end = n};
    if (!codec->begin)
        return cli_error("cannot read %s: it is packed with %s, which this build cannot unpack; use '%s'", name,
                         codec->name, codec->program);
    unpacker->packed = malloc(CLI_PACKED_ROOM);
    if (!unpacker->packed)
        return cli_error("out of memory");
    memcpy(unpacker->packed, bytes, n);
    return CLI_OK;
}

static int damaged(const cli_unpacker *unpacker, const char *why)
{
    return cli_error("cannot read %s: its %s data is damaged (%s); unpack it by hand, or fetch it again",
                     unpacker->name, unpacker->codec->name, why ? why : "it cannot be unpacked");
}

/* Begins the next member and sets unpacker->within, if bytes of it are there. */
static int begin_member(cli_unpacker *unpacker)
{
    while (unpacker->at < unpacker->end && unpacker->packed[unpacker->at] == 0)
        unpacker->at++;
    if (unpacker->at == unpacker->end)
        return CLI_OK;
    unpacker->within = true;
    return unpacker->codec->begin(&unpacker->state) ? CLI_OK : cli_error("out of memory");
}

int cli_unpack(cli_unpacker *unpacker, char *bytes, size_t room, size_t *got)
{
    *got = 0;
    if (!unpacker->within && begin_member(unpacker) != CLI_OK)
        return CLI_ERROR;
    if (!unpacker->within)
        return CLI_OK;
    window window = {.from = unpacker->packed + unpacker->at,
                     .from_left = unpacker->end - unpacker->at,
                     .to = bytes,
                     .to_left = room};
    outcome outcome = unpacker->codec->step(unpacker->state, &window);
    unpacker->at = unpacker->end - window.from_left;
    *got = room - window.to_left;
    unpacker->pending = *got == room;
    unpacker->within = outcome != INFLATE_ENDS;
    return outcome == INFLATE_NO_MEMORY ? cli_error("out of memory")
           : outcome == INFLATE_DAMAGED ? damaged(unpacker, window.why)
                                        : CLI_OK;
}

int cli_unpacker_end(const cli_unpacker *unpacker)
{
    return unpacker->within ? damaged(unpacker, "it ends too early") : CLI_OK;
}

void cli_unpacker_close(cli_unpacker *unpacker)
{
    if (unpacker->state)
        unpacker->codec->end(unpacker->state);
    free(unpacker->packed);
    *unpacker = (cli_unpacker){0};
}
