/* See frame.h for the format. */
#include "store/frame.h"

#include "base/random.h"
#include "hash/sip.h"

#define HEAD_BYTES 32
#define BLOCK_HEAD 8
#define CHECK_BYTES 8
#define PAYLOAD_MAX (VIDI__BLOCK_BYTES - BLOCK_HEAD - CHECK_BYTES)
#define VERSION 1
#define BYTE_ORDER_MARK 0x01020304

static const char magic[8] = {'v', 'i', 'd', 'i', '\r', '\n', 0x1a, '\n'};

static uint64_t checksum(const void *place, size_t place_bytes, const void *data, size_t bytes)
{
    static const uint64_t no_key[2] = {0, 0};
    vidi_str pieces[] = {{place, place_bytes}, {data, bytes}};
    return vidi__siphash(no_key, pieces, 2, 1, 3).lo;
}

/* Over generation and number as well as over the block's head and payload. */
static uint64_t block_checksum(uint64_t generation, uint64_t index, const unsigned char *block, size_t payload)
{
    unsigned char place[16];
    vidi__store64(place, generation);
    vidi__store64(place + 8, index);
    return checksum(place, sizeof place, block, BLOCK_HEAD + payload);
}

static int give(vidi__frame_writer *self, const void *data, size_t bytes)
{
    if (self->sink(self->context, data, bytes) != 0)
        return vidi__fail(VIDI_EIO, "the sink refused %zu bytes", bytes);
    return VIDI_OK;
}

static int flush(vidi__frame_writer *self, bool last)
{
    vidi__store32(self->block, (uint32_t)self->fill);
    vidi__store32(self->block + 4, last);
    uint64_t sum = block_checksum(self->generation, self->index, self->block, self->fill);
    vidi__store64(self->block + BLOCK_HEAD + self->fill, sum);
    size_t bytes = BLOCK_HEAD + self->fill + CHECK_BYTES;
    self->fill = 0;
    self->index++;
    return give(self, self->block, bytes);
}

static int frame_write(vidi__writer *writer, const void *data, uint64_t bytes)
{
    vidi__frame_writer *self = (vidi__frame_writer *)writer;
    const unsigned char *at = data;
    while (bytes) {
        if (self->fill == PAYLOAD_MAX)
            VIDI__TRY(flush(self, false));
        size_t piece = PAYLOAD_MAX - self->fill;
        if (piece > bytes)
            piece = (size_t)bytes;
        memcpy(self->block + BLOCK_HEAD + self->fill, at, piece);
        self->fill += piece;
        at += piece;
        bytes -= piece;
    }
    return VIDI_OK;
}

int vidi__frame_begin(vidi__frame_writer *writer, vidi_sink sink, void *context)
{
    unsigned char head[HEAD_BYTES];
    writer->base.write = frame_write;
    writer->sink = sink;
    writer->context = context;
    writer->index = 0;
    writer->fill = 0;
    VIDI__TRY(vidi__random(&writer->generation, sizeof writer->generation));
    memcpy(head, magic, sizeof magic);
    vidi__store32(head + 8, VERSION);
    vidi__store32(head + 12, BYTE_ORDER_MARK);
    vidi__store64(head + 16, writer->generation);
    vidi__store64(head + 24, checksum(NULL, 0, head, 24));
    return give(writer, head, sizeof head);
}

int vidi__frame_end(vidi__frame_writer *writer)
{
    return flush(writer, true);
}

/* Exactly so many bytes from the source. */
static int take(vidi__frame_reader *self, void *data, size_t bytes)
{
    unsigned char *at = data;
    if (bytes > self->raw_left)
        return vidi__damaged("the stream ends too early");
    if (self->raw_left != UINT64_MAX)
        self->raw_left -= bytes;
    while (bytes) {
        int64_t got = self->source(self->context, at, bytes);
        if (got < 0 || (uint64_t)got > bytes)
            return vidi__fail(VIDI_EIO, "the source gave up");
        if (got == 0)
            return vidi__damaged("the stream ends too early");
        at += got;
        bytes -= (size_t)got;
    }
    return VIDI_OK;
}

static int next_block(vidi__frame_reader *self)
{
    if (self->last)
        return vidi__damaged("data is missing at the end");
    VIDI__TRY(take(self, self->block, BLOCK_HEAD));
    uint32_t payload = vidi__load32(self->block), last = vidi__load32(self->block + 4);
    if (payload > PAYLOAD_MAX || last > 1)
        return vidi__damaged("the head of a block makes no sense");
    VIDI__TRY(take(self, self->block + BLOCK_HEAD, payload + CHECK_BYTES));
    uint64_t sum = vidi__load64(self->block + BLOCK_HEAD + payload);
    if (sum != block_checksum(self->generation, self->index, self->block, payload))
        return vidi__fail(VIDI_EFORMAT, "damaged: the checksum of block %llu is wrong",
                          (unsigned long long)self->index);
    self->index++;
    self->fill = payload;
    self->used = 0;
    self->last = last == 1;
    return VIDI_OK;
}

static int frame_read(vidi__reader *reader, void *data, uint64_t bytes)
{
    vidi__frame_reader *self = (vidi__frame_reader *)reader;
    unsigned char *at = data;
    if (bytes > reader->left)
        return vidi__damaged("more is announced than there is");
    if (reader->left != UINT64_MAX)
        reader->left -= bytes;
    while (bytes) {
        if (self->used == self->fill) {
            VIDI__TRY(next_block(self));
            continue;
        }
        size_t piece = self->fill - self->used;
        if (piece > bytes)
            piece = (size_t)bytes;
        memcpy(at, self->block + BLOCK_HEAD + self->used, piece);
        self->used += piece;
        at += piece;
        bytes -= piece;
    }
    return VIDI_OK;
}

int vidi__frame_open(vidi__frame_reader *reader, vidi_source source, void *context, uint64_t stream_bytes)
{
    unsigned char head[HEAD_BYTES];
    reader->base.read = frame_read;
    reader->source = source;
    reader->context = context;
    reader->raw_left = stream_bytes ? stream_bytes : UINT64_MAX;
    reader->index = 0;
    reader->fill = reader->used = 0;
    reader->last = false;
    VIDI__TRY(take(reader, head, sizeof head));
    if (memcmp(head, magic, sizeof magic) != 0)
        return vidi__fail(VIDI_EFORMAT, "this was not written by vidi: it does not begin with its mark");
    if (vidi__load64(head + 24) != checksum(NULL, 0, head, 24))
        return vidi__damaged("the checksum of the head is wrong");
    if (vidi__load32(head + 8) != VERSION || vidi__load32(head + 12) != BYTE_ORDER_MARK)
        return vidi__fail(VIDI_EFORMAT, "version %u of the format is not known here", vidi__load32(head + 8));
    reader->generation = vidi__load64(head + 16);
    reader->base.left = reader->raw_left;
    return VIDI_OK;
}

int vidi__frame_close(vidi__frame_reader *reader)
{
    if (reader->used != reader->fill || (!reader->last && reader->fill))
        return vidi__damaged("there is more data than there should be");
    if (!reader->last)
        return vidi__damaged("the last block is missing");
    if (reader->raw_left != UINT64_MAX && reader->raw_left != 0)
        return vidi__damaged("something follows the last block");
    return VIDI_OK;
}
