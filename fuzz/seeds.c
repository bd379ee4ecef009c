/*
 * Writes streams of each kind to a folder, without and with the previous epoch, and its pieces to another, a file for
 * each. fuzz_read, fuzz_map, fuzz_piece and their replays start from these inputs. They are made again each time, so
 * they always match the format. Prints TAP.
 */
#include <errno.h>
#include <sys/stat.h>

#include "fuzz_stream.h"
#include "vidi/transfer.h"

/* What is written of a set. */
typedef enum what { WHOLE, WITH_PREVIOUS, PIECES } what;

/* Each piece follows its length, as fuzz_piece reads them. */
static int write_pieces(const vidi_set *set, fuzz_stream *stream)
{
    uint64_t cursor = 0;
    int error = VIDI_OK;
    do {
        fuzz_stream piece = {0};
        uint8_t length[4];
        error = vidi_piece_write(set, &cursor, 4096, fuzz_put, &piece);
        fuzz_store(length, piece.size, sizeof length);
        if (error >= 0 && (fuzz_put(stream, length, sizeof length) || fuzz_put(stream, piece.bytes, piece.size)))
            error = VIDI_EMEMORY;
        free(piece.bytes);
    } while (cursor && error >= 0);
    return error;
}

/* Small, so that a changed byte is likely to matter. The kinds use the canonical forms in turn. */
static int make(const char *kind, size_t turn, what what, fuzz_stream *stream)
{
    static const char *const forms[] = {NULL, "crawl,-sort", "none", "surt,+scheme", "key=host", "whatwg,+fragment"};
    static const unsigned char key[VIDI_KEY_BYTES] = "the same always";
    vidi_options options = VIDI_OPTIONS_INIT;
    options.kind = kind;
    options.capacity = 40;
    options.error = 0.01;
    options.key = key;
    options.canon = forms[turn % FUZZ_COUNT(forms)];
    options.tracking = turn % FUZZ_COUNT(forms) == 1 ? "mine\nfrom_*\n" : NULL;
    options.flags = what == WHOLE ? 0 : VIDI_KEEP_PREVIOUS;
    vidi_set *set;
    int error = vidi_create(&set, &options);
    if (error)
        return error;
    for (int i = 0; i < 20 && error >= 0; i++) {
        char url[64];
        int len = snprintf(url, sizeof url, "http://www%d.example.com/%d/page/%d.html", i, i % 3, i);
        error = vidi_add(set, (vidi_str){url, (size_t)len});
        if (what != WHOLE && i == 9 && error >= 0)
            error = vidi_rotate(set, NULL);
    }
    if (error >= 0)
        error = what == PIECES ? write_pieces(set, stream) : vidi_write(set, fuzz_put, stream, VIDI_WRITE_PREVIOUS);
    vidi_close(set);
    return error;
}

static bool save(const char *path, const fuzz_stream *stream)
{
    FILE *file = fopen(path, "wb");
    if (!file)
        return false;
    bool good = fwrite(stream->bytes, 1, stream->size, file) == stream->size;
    return fclose(file) == 0 && good;
}

/* Sealing a stream that the library wrote must not change it. */
static bool same_seal(const fuzz_stream *stream)
{
    fuzz_stream copy = {0};
    bool same = fuzz_put(&copy, stream->bytes, stream->size) == 0 && fuzz_seal(&copy) &&
                memcmp(copy.bytes, stream->bytes, stream->size) == 0;
    free(copy.bytes);
    return same;
}

static bool seed(const char *folder, const char *kind, size_t turn, what what)
{
    static const char *const endings[] = {"", ".previous", ""};
    char path[4096];
    snprintf(path, sizeof path, "%s%s/%s%s", folder, what == PIECES ? "-pieces" : "", kind, endings[what]);
    fuzz_stream stream = {0};
    const char *wrong = NULL;
    if (make(kind, turn, what, &stream) < 0)
        wrong = vidi_message();
    else if (what != PIECES && !same_seal(&stream))
        wrong = "fuzz_seal differs from the library";
    else if (!save(path, &stream))
        wrong = strerror(errno);
    if (wrong)
        printf("# %s\n", wrong);
    free(stream.bytes);
    return !wrong;
}

static bool make_folder(const char *path)
{
    return mkdir(path, 0777) == 0 || errno == EEXIST;
}

int main(int argc, char **argv)
{
    char pieces[4096];
    snprintf(pieces, sizeof pieces, "%s-pieces", argc == 2 ? argv[1] : "");
    if (argc != 2 || !make_folder(argv[1]) || !make_folder(pieces)) {
        fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
        return 2;
    }
    vidi_kind_info info = {.size = sizeof info};
    size_t n = 0, failed = 0;
    for (; vidi_kind(n, &info) == VIDI_OK; n++) {
        bool good = true;
        for (int i = WHOLE; i <= PIECES; i++)
            good &= seed(argv[1], info.name, n, (what)i);
        printf("%s %zu - streams of kind %s\n", good ? "ok" : "not ok", n + 1, info.name);
        failed += !good;
    }
    printf("1..%zu\n", n);
    return failed || !n;
}
