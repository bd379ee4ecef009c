/* See frame.h for the format. */
#include "frame/ahead.h"

#include "hash/sip.h"

#define VERSION 1
#define AHEAD_LEAST (UINT64_C(4) << 20) /* bytes that are worth a thread */
#define HEAD_SUM 56
#define FOOT_MARK 16
#define FOOT_SUM 24
#define FOOT_NUMBER UINT64_MAX /* stands in for a block number */

static const char magic[8] = {'v', 'i', 'd', 'i', '\r', '\n', 0x1a, '\n'};
static const char end_magic[8] = {'\n', 'v', 'i', 'd', 'i', 'e', 'n', 'd'};

/* ---- checksums ---- */

static uint64_t checksum(uint64_t generation, uint64_t number, const vidi_str *pieces, size_t count)
{
    const uint64_t key[2] = {generation, number};
    return vidi__siphash(key, pieces, count, 1, 3).lo;
}

uint64_t vidi__frame_sum(uint64_t generation, uint64_t block, const void *data, size_t bytes)
{
    return checksum(generation, block, &(vidi_str){data, bytes}, 1);
}

static uint64_t foot_sum(uint64_t generation, const void *table, uint64_t blocks, const unsigned char *foot)
{
    const vidi_str pieces[] = {{table, (size_t)blocks * 8}, {(const char *)foot, FOOT_SUM}};
    return checksum(generation, FOOT_NUMBER, pieces, 2);
}

int vidi__frame_damaged(uint64_t block)
{
    return vidi__fail(VIDI_EFORMAT, "damaged: the checksum of block %llu is wrong", (unsigned long long)block);
}

static int keep_sum(vidi__sums *self, uint64_t sum)
{
    if (self->count == self->room) {
        uint64_t room = self->room ? self->room * 2 : 16;
        VIDI__TRY(vidi__regrow(self->memory, &self->sums, self->room * 8, room * 8, _Alignof(uint64_t)));
        self->room = room;
    }
    self->sums[self->count++] = sum;
    return VIDI_OK;
}

static int add_sum(vidi__sums *self, uint64_t generation, const void *data, size_t bytes)
{
    return keep_sum(self, vidi__frame_sum(generation, self->count, data, bytes));
}

static void free_sums(vidi__sums *self)
{
    vidi__release(self->memory, self->sums, self->room * 8, _Alignof(uint64_t));
    self->sums = NULL;
}

/* ---- head, foot, and the length of everything ---- */

static void make_head(unsigned char bytes[VIDI__HEAD_BYTES], const vidi__frame_head *head)
{
    memset(bytes, 0, VIDI__HEAD_BYTES);
    memcpy(bytes, magic, sizeof magic);
    vidi__version_store(bytes, VERSION);
    vidi__store64(bytes + 16, head->generation);
    vidi__store64(bytes + 24, head->length);
    vidi__store64(bytes + HEAD_SUM, vidi__frame_sum(0, 0, bytes, HEAD_SUM));
}

int vidi__frame_check_magic(const void *bytes, uint64_t size)
{
    bool begins = size >= sizeof magic && memcmp(bytes, magic, sizeof magic) == 0;
    return begins ? VIDI_OK : vidi__fail(VIDI_EFORMAT, VIDI__NOT_A_SET);
}

int vidi__frame_check_head(const unsigned char bytes[VIDI__HEAD_BYTES], vidi__frame_head *head)
{
    unsigned char expected[VIDI__HEAD_BYTES];
    VIDI__TRY(vidi__frame_check_magic(bytes, VIDI__HEAD_BYTES));
    if (vidi__load64(bytes + HEAD_SUM) != vidi__frame_sum(0, 0, bytes, HEAD_SUM))
        return vidi__damaged("the checksum of the head is wrong");
    VIDI__TRY(vidi__version_check(bytes, VERSION, "the set"));
    *head = (vidi__frame_head){.generation = vidi__load64(bytes + 16), .length = vidi__load64(bytes + 24)};
    make_head(expected, head);
    return memcmp(bytes, expected, sizeof expected) == 0 ? VIDI_OK : vidi__damaged("the head is invalid");
}

static void make_foot(unsigned char foot[VIDI__FOOT_BYTES], uint64_t generation, const void *table, uint64_t payload,
                      uint64_t blocks)
{
    vidi__store64(foot, payload);
    vidi__store64(foot + 8, blocks);
    memcpy(foot + FOOT_MARK, end_magic, sizeof end_magic);
    vidi__store64(foot + FOOT_SUM, foot_sum(generation, table, blocks, foot));
}

int vidi__frame_check_foot(const unsigned char foot[VIDI__FOOT_BYTES], uint64_t generation, const void *table,
                           uint64_t payload, uint64_t blocks)
{
    if (memcmp(foot + FOOT_MARK, end_magic, sizeof end_magic) != 0)
        return vidi__damaged("its end is missing or invalid");
    if (vidi__load64(foot) != payload || vidi__load64(foot + 8) != blocks)
        return vidi__damaged("the amount of data is wrong");
    if (vidi__load64(foot + FOOT_SUM) != foot_sum(generation, table, blocks, foot))
        return vidi__damaged("the checksum of the foot is wrong");
    return VIDI_OK;
}

/* With n bytes before it, the table has one entry for each full or partial block of 64 KiB. */
int vidi__frame_shape(uint64_t stream_bytes, uint64_t *payload, uint64_t *blocks)
{
    const uint64_t each = VIDI__BLOCK_BYTES + 8, least = VIDI__HEAD_BYTES + 8 + VIDI__FOOT_BYTES;
    if (stream_bytes < least)
        return vidi__damaged("the stream ends too early");
    uint64_t rest = stream_bytes - VIDI__FOOT_BYTES;
    *blocks = rest / each + (rest % each != 0);
    uint64_t before = rest - *blocks * 8;
    if (before < VIDI__HEAD_BYTES || before <= (*blocks - 1) * VIDI__BLOCK_BYTES)
        return vidi__damaged("a stream cannot have this length");
    *payload = before - VIDI__HEAD_BYTES;
    return VIDI_OK;
}

uint64_t vidi__frame_length(uint64_t payload)
{
    uint64_t before = VIDI__HEAD_BYTES + payload;
    return before + (before + VIDI__BLOCK_BYTES - 1) / VIDI__BLOCK_BYTES * 8 + VIDI__FOOT_BYTES;
}

/* ---- writing ---- */

static int give(vidi__frame_writer *self, const void *data, size_t bytes)
{
    if (self->sink(self->context, data, bytes) != 0)
        return vidi__fail(VIDI_EIO, "the sink refused %zu bytes", bytes);
    return VIDI_OK;
}

static int give_block(vidi__frame_writer *self, const void *data, size_t bytes)
{
    VIDI__TRY(add_sum(&self->blocks, self->head.generation, data, bytes));
    return give(self, data, bytes);
}

static int frame_write(vidi__writer *writer, const void *data, uint64_t bytes)
{
    vidi__frame_writer *self = (vidi__frame_writer *)writer;
    const unsigned char *at = data;
    while (bytes) {
        if (!self->fill && bytes >= VIDI__BLOCK_BYTES) { /* write a whole block directly, without copying it */
            VIDI__TRY(give_block(self, at, VIDI__BLOCK_BYTES));
            at += VIDI__BLOCK_BYTES;
            bytes -= VIDI__BLOCK_BYTES;
            continue;
        }
        size_t piece = VIDI__BLOCK_BYTES - self->fill;
        if (piece > bytes)
            piece = (size_t)bytes;
        memcpy(self->block + self->fill, at, piece);
        self->fill += piece;
        at += piece;
        bytes -= piece;
        if (self->fill == VIDI__BLOCK_BYTES) {
            VIDI__TRY(give_block(self, self->block, VIDI__BLOCK_BYTES));
            self->fill = 0;
        }
    }
    return VIDI_OK;
}

int vidi__frame_begin(vidi__frame_writer *writer, vidi__memory *memory, vidi_sink sink, void *context,
                      vidi__frame_head head)
{
    writer->base = (vidi__writer){.write = frame_write, .at = VIDI__HEAD_BYTES};
    writer->sink = sink;
    writer->context = context;
    writer->head = head;
    writer->blocks = (vidi__sums){.memory = memory};
    make_head(writer->block, &head);
    writer->fill = VIDI__HEAD_BYTES;
    return VIDI_OK;
}

int vidi__frame_end(vidi__frame_writer *writer)
{
    unsigned char foot[VIDI__FOOT_BYTES];
    const vidi__sums *blocks = &writer->blocks;
    uint64_t payload = writer->base.at - VIDI__HEAD_BYTES;
    if (writer->head.length && writer->head.length != vidi__frame_length(payload))
        return vidi__fail(VIDI_EIO, "the set has changed while it was written"); /* its file was overwritten */
    if (writer->fill)
        VIDI__TRY(give_block(writer, writer->block, writer->fill));
    for (uint64_t done = 0, piece; done < blocks->count; done += piece) {
        piece = blocks->count - done < VIDI__BLOCK_BYTES / 8 ? blocks->count - done : VIDI__BLOCK_BYTES / 8;
        VIDI__TRY(give(writer, blocks->sums + done, (size_t)piece * 8));
    }
    make_foot(foot, writer->head.generation, blocks->sums, payload, blocks->count);
    return give(writer, foot, sizeof foot);
}

void vidi__frame_writer_free(vidi__frame_writer *writer)
{
    free_sums(&writer->blocks);
}

/* ---- reading ---- */

int vidi__frame_pull(vidi_source source, void *context, void *data, size_t bytes)
{
    unsigned char *at = data;
    while (bytes) {
        int64_t got = source(context, at, bytes);
        if (got < 0 || (uint64_t)got > bytes)
            return vidi__fail(VIDI_EIO, "the source reported an error");
        if (got == 0)
            return vidi__damaged("the stream ends too early");
        at += got;
        bytes -= (size_t)got;
    }
    return VIDI_OK;
}

int vidi__frame_take(vidi__frame_reader *reader, void *data, size_t bytes)
{
    if (bytes > reader->stream_left)
        return vidi__damaged("the stream ends too early");
    if (reader->stream_left != UINT64_MAX)
        reader->stream_left -= bytes;
    return vidi__frame_pull(reader->source, reader->context, data, bytes);
}

/* Called when a block has been handed out completely: verifies its checksum. */
static int finish_block(vidi__frame_reader *self)
{
    VIDI__TRY(add_sum(&self->blocks, self->head.generation, self->block, self->used));
    self->fill = self->used = 0;
    return VIDI_OK;
}

/*
 * Reads more of the block. If the end of the payload is known (`ahead` bytes from here), reads all of the block;
 * otherwise only what is wanted, since the bytes after it may not belong to the stream.
 */
static int fill_block(vidi__frame_reader *self, uint64_t wanted, uint64_t ahead)
{
    uint64_t more = ahead == UINT64_MAX ? wanted : ahead;
    if (more > VIDI__BLOCK_BYTES - self->fill)
        more = VIDI__BLOCK_BYTES - self->fill;
    VIDI__TRY(vidi__frame_take(self, self->block + self->fill, (size_t)more));
    self->fill += (size_t)more;
    return VIDI_OK;
}

static int frame_read(vidi__reader *reader, void *data, uint64_t bytes)
{
    vidi__frame_reader *self = (vidi__frame_reader *)reader;
    unsigned char *at = data;
    if (bytes > reader->left)
        return vidi__damaged("a length exceeds the data");
    while (bytes) {
        uint64_t piece = VIDI__BLOCK_BYTES;
        if (!self->fill && bytes >= VIDI__BLOCK_BYTES) { /* read a whole block directly into its destination */
            VIDI__TRY(vidi__frame_take(self, at, VIDI__BLOCK_BYTES));
            VIDI__TRY(add_sum(&self->blocks, self->head.generation, at, VIDI__BLOCK_BYTES));
        } else {
            if (self->used == self->fill)
                VIDI__TRY(fill_block(self, bytes, reader->left));
            piece = self->fill - self->used < bytes ? self->fill - self->used : bytes;
            memcpy(at, self->block + self->used, (size_t)piece);
            self->used += (size_t)piece;
            if (self->used == VIDI__BLOCK_BYTES)
                VIDI__TRY(finish_block(self));
        }
        at += piece;
        bytes -= piece;
        if (reader->left != UINT64_MAX)
            reader->left -= piece;
    }
    return VIDI_OK;
}

/* Takes the next block that a thread has read. Its checksum is compared in the end, like all others. */
static int next_ahead(vidi__frame_reader *self)
{
    uint64_t sum;
    self->used = 0;
    VIDI__TRY(vidi__ahead_next(self->ahead, &self->lent, &self->fill, &sum));
    return keep_sum(&self->blocks, sum);
}

static int ahead_read(vidi__reader *reader, void *data, uint64_t bytes)
{
    vidi__frame_reader *self = (vidi__frame_reader *)reader;
    unsigned char *at = data;
    if (bytes > reader->left)
        return vidi__damaged("a length exceeds the data");
    reader->left -= bytes;
    for (uint64_t piece; bytes; bytes -= piece) {
        if (self->used == self->fill)
            VIDI__TRY(next_ahead(self));
        piece = self->fill - self->used < bytes ? self->fill - self->used : bytes;
        memcpy(at, self->lent + self->used, (size_t)piece);
        self->used += (size_t)piece;
        at += piece;
    }
    return VIDI_OK;
}

/* Reads the head. Bytes that do not begin like a frame, however few, are not damaged: they were never a set. */
static int take_head(vidi__frame_reader *self)
{
    size_t rest = VIDI__HEAD_BYTES - sizeof magic;
    int code = vidi__frame_take(self, self->block, sizeof magic);
    if (code == VIDI_EFORMAT)
        return vidi__frame_check_magic(NULL, 0);
    VIDI__TRY(code);
    VIDI__TRY(vidi__frame_check_magic(self->block, sizeof magic));
    VIDI__TRY(vidi__frame_take(self, self->block + sizeof magic, rest));
    return vidi__frame_check_head(self->block, &self->head);
}

int vidi__frame_open(vidi__frame_reader *reader, vidi__memory *memory, vidi_source source, void *context,
                     uint64_t stream_bytes)
{
    uint64_t payload = UINT64_MAX, blocks;
    reader->base = (vidi__reader){.read = frame_read, .at = VIDI__HEAD_BYTES};
    reader->source = source;
    reader->context = context;
    reader->stream_left = stream_bytes ? stream_bytes : UINT64_MAX;
    reader->blocks = (vidi__sums){.memory = memory};
    reader->ahead = NULL;
    reader->fill = reader->used = VIDI__HEAD_BYTES;
    VIDI__TRY(take_head(reader));
    if (stream_bytes && !reader->head.length)
        VIDI__TRY(vidi__frame_shape(stream_bytes, &payload, &blocks));
    reader->base.left = payload;
    return VIDI_OK;
}

/* What is read takes about as much memory as its bytes, so the thread's blocks must fit beside that. */
static int begin_ahead(vidi__frame_reader *self)
{
    vidi__memory *memory = self->blocks.memory;
    uint64_t left = self->base.left;
    VIDI__TRY(vidi__memory_check(memory, left + left / 8 + vidi__ahead_bytes()));
    return vidi__ahead_begin(&self->ahead, memory, self->source, self->context, self->head.generation, self->block,
                             left);
}

int vidi__frame_read_ahead(vidi__frame_reader *reader)
{
    vidi__quiet quiet;
    if (reader->head.length || reader->base.left == UINT64_MAX || reader->base.left < AHEAD_LEAST)
        return VIDI_OK;
    vidi__quiet_begin(&quiet);
    int code = begin_ahead(reader);
    vidi__quiet_end(&quiet, VIDI_OK);
    if (code < 0)
        return VIDI_OK;
    reader->base.read = ahead_read;
    reader->stream_left -= reader->base.left;
    VIDI__TRY(next_ahead(reader));
    reader->used = VIDI__HEAD_BYTES;
    return VIDI_OK;
}

static void end_ahead(vidi__frame_reader *self)
{
    vidi__ahead_end(self->ahead, self->blocks.memory);
    self->ahead = NULL;
}

static int check_table(vidi__frame_reader *self)
{
    const vidi__sums *blocks = &self->blocks;
    for (uint64_t done = 0, piece; done < blocks->count; done += piece) {
        piece = blocks->count - done < VIDI__BLOCK_BYTES / 8 ? blocks->count - done : VIDI__BLOCK_BYTES / 8;
        VIDI__TRY(vidi__frame_take(self, self->block, (size_t)piece * 8));
        for (uint64_t i = 0; i < piece; i++)
            if (vidi__load64(self->block + 8 * i) != blocks->sums[done + i])
                return vidi__frame_damaged(done + i);
    }
    return VIDI_OK;
}

int vidi__frame_close(vidi__frame_reader *reader)
{
    unsigned char foot[VIDI__FOOT_BYTES];
    const vidi__sums *blocks = &reader->blocks;
    uint64_t payload = reader->base.at - VIDI__HEAD_BYTES;
    if (reader->base.left != UINT64_MAX && reader->base.left != 0)
        return vidi__damaged("there is unexpected data at the end");
    if (reader->used && !reader->ahead)
        VIDI__TRY(finish_block(reader));
    end_ahead(reader);
    VIDI__TRY(check_table(reader));
    VIDI__TRY(vidi__frame_take(reader, foot, sizeof foot));
    return vidi__frame_check_foot(foot, reader->head.generation, blocks->sums, payload, blocks->count);
}

void vidi__frame_reader_free(vidi__frame_reader *reader)
{
    end_ahead(reader);
    free_sums(&reader->blocks);
}
