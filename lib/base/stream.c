/* Numbers, strings and arrays over a writer or a reader. */
#include "base/stream.h"

/* Words read at a time, and the first size of an array whose length is not proved: 1 MiB. */
#define PIECE ((uint64_t)1 << 17)

#define BYTE_ORDER_MARK 0x01020304

int vidi__damaged(const char *what)
{
    return vidi__fail(VIDI_EFORMAT, "damaged: %s", what);
}

void vidi__version_store(unsigned char *head, uint32_t version)
{
    vidi__store32(head + VIDI__VERSION_AT, version);
    vidi__store32(head + VIDI__VERSION_AT + 4, BYTE_ORDER_MARK);
}

int vidi__version_check(const unsigned char *head, uint32_t version, const char *name)
{
    uint32_t found = vidi__load32(head + VIDI__VERSION_AT);
    if (found != version)
        return vidi__fail(VIDI_EFORMAT, "%s has format version %u; this vidi (%s) knows version %u alone", name, found,
                          vidi_version(), version);
    if (vidi__load32(head + VIDI__VERSION_AT + 4) != BYTE_ORDER_MARK)
        return vidi__fail(VIDI_EFORMAT, "%s has another byte order", name);
    return VIDI_OK;
}

int vidi__write_u64(vidi__writer *writer, uint64_t value)
{
    unsigned char bytes[8];
    vidi__store64(bytes, value);
    return vidi__write(writer, bytes, sizeof bytes);
}

int vidi__write_double(vidi__writer *writer, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return vidi__write_u64(writer, bits);
}

int vidi__write_str(vidi__writer *writer, vidi_str str)
{
    VIDI__TRY(vidi__write_u64(writer, str.len));
    return vidi__write(writer, str.ptr, str.len);
}

int vidi__read_u64(vidi__reader *reader, uint64_t *value)
{
    unsigned char bytes[8];
    VIDI__TRY(vidi__read(reader, bytes, sizeof bytes));
    *value = vidi__load64(bytes);
    return VIDI_OK;
}

int vidi__read_double(vidi__reader *reader, double *value)
{
    uint64_t bits;
    VIDI__TRY(vidi__read_u64(reader, &bits));
    memcpy(value, &bits, sizeof bits);
    return VIDI_OK;
}

int vidi__read_text(vidi__reader *reader, char *buffer, size_t room)
{
    uint64_t len;
    VIDI__TRY(vidi__read_u64(reader, &len));
    if (len >= room)
        return vidi__damaged("a name is too long");
    VIDI__TRY(vidi__read(reader, buffer, len));
    buffer[len] = 0;
    if (memchr(buffer, 0, (size_t)len))
        return vidi__damaged("a name contains a zero byte");
    return VIDI_OK;
}

int vidi__write_words(vidi__writer *writer, const uint64_t *words, uint64_t count)
{
    return vidi__write(writer, words, count * 8);
}

/* Bytes from here to the next position at which an array may begin. */
static uint64_t gap(uint64_t at)
{
    return (VIDI__CACHE_LINE - at % VIDI__CACHE_LINE) % VIDI__CACHE_LINE;
}

int vidi__write_align(vidi__writer *writer)
{
    static const unsigned char zeros[VIDI__CACHE_LINE];
    uint64_t bytes = gap(writer->at);
    return bytes ? vidi__write(writer, zeros, bytes) : VIDI_OK;
}

int vidi__read_align(vidi__reader *reader)
{
    unsigned char bytes[VIDI__CACHE_LINE] = {0}, any = 0;
    uint64_t count = gap(reader->at);
    if (count)
        VIDI__TRY(vidi__read(reader, bytes, count));
    for (uint64_t i = 0; i < count; i++)
        any |= bytes[i];
    return any ? vidi__damaged("the padding before an array is not zero") : VIDI_OK;
}

int vidi__lend(vidi__reader *reader, uint64_t bytes, void *out)
{
    if (bytes > reader->left)
        return vidi__damaged("an array is larger than the data");
    const void *lent = reader->lend(reader, bytes);
    reader->at += bytes;
    memcpy(out, &lent, sizeof lent);
    return VIDI_OK;
}

static int read_piecewise(vidi__reader *reader, vidi__memory *memory, uint64_t count, uint64_t room, uint64_t **words,
                          uint64_t *have)
{
    for (uint64_t done = 0; done < count;) {
        if (done == *have) {
            uint64_t next = *have * 2 < room ? *have * 2 : room;
            VIDI__TRY(vidi__regrow(memory, words, *have * 8, next * 8, VIDI__CACHE_LINE));
            *have = next;
        }
        uint64_t piece = count - done < PIECE ? count - done : PIECE;
        if (piece > *have - done)
            piece = *have - done;
        VIDI__TRY(vidi__read(reader, *words + done, piece * 8));
        done += piece;
    }
    if (*have < room) {
        VIDI__TRY(vidi__regrow(memory, words, *have * 8, room * 8, VIDI__CACHE_LINE));
        *have = room;
    }
    memset(*words + count, 0, (size_t)(room - count) * 8);
    return VIDI_OK;
}

int vidi__read_array(vidi__reader *reader, vidi__memory *memory, uint64_t count, uint64_t room, uint64_t **words)
{
    *words = NULL;
    VIDI__TRY(vidi__read_align(reader));
    if (count > reader->left / 8)
        return vidi__damaged("an array is larger than the data");
    if (vidi__lends(reader))
        return vidi__lend(reader, count * 8, words);
    bool vouched = reader->left != UINT64_MAX;
    uint64_t have = vouched || room < PIECE ? room : PIECE;
    VIDI__TRY(vidi__alloc(memory, words, have * 8, VIDI__CACHE_LINE));
    int code = read_piecewise(reader, memory, count, room, words, &have);
    if (code < 0) {
        vidi__release(memory, *words, have * 8, VIDI__CACHE_LINE);
        *words = NULL;
    }
    return code;
}
