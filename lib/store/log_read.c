/*
 * Reads a log after whatever has happened to it.
 *
 * The reader goes through the file once, from the front, with a window as large as the largest record. Where a record
 * was expected and there is none, it looks for the next at every eighth byte. A head only counts if its check value
 * fits its position in this very log, so the checksum of a payload is hardly ever computed in vain. A forged file can
 * still arrange for that, hence the limit on bytes with wrong checksums.
 */
#include <fcntl.h>

#include "store/log_format.h"

/* Bytes that are read at once, unless a record is larger; at most this share of the memory limit. */
#define WINDOW (UINT64_C(256) << 10)
#define WINDOW_SHARE 128

/* Limit on bytes with wrong checksums: this many times the file's size, plus a constant. */
#define ALLOWANCE_TIMES 4
#define ALLOWANCE_MORE (UINT64_C(1) << 20)

typedef struct reader {
    vidi__memory *memory;
    vidi__file file;
    uint64_t size;  /* of the file when reading began, or where it has to end */
    uint64_t links; /* names that the file has */
    uint64_t known; /* length that was on disk, or VIDI__LOG_UNKNOWN */
    vidi__log_head head;
    uint64_t allowance; /* bytes that may still be checksummed in vain */
    uint64_t least;     /* size of the first window */
    unsigned char *window;
    uint64_t room;  /* size of the window */
    uint64_t start; /* offset in the file of the window's first byte */
    uint64_t fill;  /* bytes in the window */
} reader;

/* Does not use vidi__file_close, whose message would replace the one that says why reading ended. */
static void close_reader(reader *self)
{
    vidi__release(self->memory, self->window, self->room, 8);
    (void)vidi__system_now->close(self->file.handle);
}

/*
 * Makes room for this many bytes, which the file has. The contents of the window are lost. Never exceeds the file's
 * size.
 */
static int make_room(reader *self, uint64_t bytes)
{
    uint64_t room = 2 * self->room < self->least ? self->least : 2 * self->room;
    room = room < bytes ? bytes : room;
    room = room < self->size ? room : self->size;
    self->fill = 0;
    vidi__release(self->memory, self->window, self->room, 8);
    self->window = NULL;
    self->room = 0;
    VIDI__TRY(vidi__alloc(self->memory, &self->window, room, 8));
    self->room = room;
    return VIDI_OK;
}

/*
 * Points *at to this many bytes of the file, which must exist. Reads at most `least` bytes beyond them. So looking at a
 * record costs its own length, or is paid for by the bytes on the way to it, however large the window has become.
 */
static int look(reader *self, uint64_t offset, uint64_t bytes, const unsigned char **at)
{
    if (offset < self->start || offset + bytes > self->start + self->fill) {
        if (bytes > self->room || !self->window)
            VIDI__TRY(make_room(self, bytes));
        uint64_t piece = bytes < self->least ? self->least : bytes;
        piece = piece < self->size - offset ? piece : self->size - offset;
        self->fill = 0;
        VIDI__TRY(vidi__file_read(&self->file, self->window, (size_t)piece, offset));
        self->start = offset;
        self->fill = piece;
    }
    *at = self->window + (offset - self->start);
    return VIDI_OK;
}

static int open_reader(reader *self, vidi__memory *memory, int folder, const vidi__log_id *id)
{
    char name[40];
    vidi__log_name(name, id->number);
    *self = (reader){.memory = memory, .file.handle = -1, .least = memory->limit / WINDOW_SHARE};
    self->least = self->least < WINDOW ? self->least : WINDOW;
    VIDI__TRY(vidi__file_open(&self->file, folder, name, O_RDONLY));
    vidi__file_state state = {0};
    int code = vidi__file_stat(&self->file, &state);
    if (code < 0)
        close_reader(self);
    self->size = state.bytes;
    self->links = state.links;
    self->allowance = self->size > (UINT64_MAX - ALLOWANCE_MORE) / ALLOWANCE_TIMES
                          ? UINT64_MAX
                          : self->size * ALLOWANCE_TIMES + ALLOWANCE_MORE;
    return code;
}

/* A single flipped bit in the head must not cost all records: it is found, and counted as damage. */
static int read_mended_head(reader *self, const vidi__log_id *id, const unsigned char *head, vidi__log_found *found)
{
    unsigned char mended[VIDI__LOG_HEAD];
    memcpy(mended, head, sizeof mended);
    if (!vidi__log_head_mend(mended))
        return VIDI_EDAMAGED;
    VIDI__TRY(vidi__log_head_read(mended, id, self->file.name, &self->head));
    found->damaged = VIDI__LOG_HEAD;
    found->stretches = 1;
    return VIDI_OK;
}

/*
 * Reads the head. A file no longer than a head, without a valid head, is what a crash left of a log to which nothing
 * was ever appended. A longer file once had a head: it is synced before the first record.
 */
static int read_head(reader *self, const vidi__log_id *id, vidi__log_found *found)
{
    const unsigned char *head;
    found->headless = self->size < VIDI__LOG_HEAD;
    if (found->headless)
        return VIDI_OK;
    VIDI__TRY(look(self, 0, VIDI__LOG_HEAD, &head));
    int code = vidi__log_head_read(head, id, self->file.name, &self->head);
    if (code != VIDI_EDAMAGED)
        return code;
    found->headless = self->size == VIDI__LOG_HEAD;
    return found->headless ? VIDI_OK : read_mended_head(self, id, head, found);
}

static int use_allowance(reader *self, uint64_t bytes)
{
    if (bytes > self->allowance)
        return vidi__fail(VIDI_EFORMAT,
                          "%s was forged to be slow to read: it holds too many record heads whose "
                          "checksums are wrong",
                          self->file.name);
    self->allowance -= bytes;
    return VIDI_OK;
}

/* The record at this offset: *bytes is its length in the file, or 0 if there is none. */
static int record_at(reader *self, uint64_t offset, uint32_t *type, vidi_str *payload, uint64_t *bytes)
{
    const unsigned char *at;
    *bytes = 0;
    VIDI__TRY(look(self, offset, VIDI__LOG_RECORD_HEAD, &at));
    uint64_t length = vidi__load64(at + 8), left = self->size - offset;
    if (length > VIDI__LOG_RECORD_MAX || vidi__log_record_bytes(length) > left)
        return VIDI_OK;
    *type = vidi__load32(at + 4);
    if (vidi__load32(at) != vidi__log_check_value(self->head.generation, offset, *type, length))
        return VIDI_OK;
    uint64_t whole = vidi__log_record_bytes(length), body = whole - VIDI__LOG_CHECK;
    VIDI__TRY(look(self, offset, whole, &at));
    if (vidi__load64(at + body) != vidi__log_checksum(self->head.generation, offset, at, body))
        return use_allowance(self, body);
    *payload = (vidi_str){(const char *)at + VIDI__LOG_RECORD_HEAD, (size_t)length};
    *bytes = whole;
    return VIDI_OK;
}

/*
 * Counts bytes that are not part of a valid record: those below the known length as damage, the others as unfinished.
 * Where the length is unknown, `followed` decides: it is true if a valid record comes after them.
 */
static void count_skipped(const reader *self, uint64_t from, uint64_t to, bool followed, vidi__log_found *found)
{
    uint64_t known = self->known != VIDI__LOG_UNKNOWN ? self->known : followed ? to : from;
    uint64_t limit = known < from ? from : known < to ? known : to;
    if (limit > from) {
        if (!found->damaged)
            found->damaged_at = from;
        found->damaged += limit - from;
        found->stretches++;
    }
    found->unfinished += to - limit;
}

/* Counts what follows the last valid record, also if the file is shorter than what was on disk. */
static void count_rest(const reader *self, vidi__log_found *found)
{
    bool shorter = self->known != VIDI__LOG_UNKNOWN && self->known > self->size;
    uint64_t end = shorter ? self->known : self->size;
    count_skipped(self, found->bytes, end, false, found);
}

/* found->bytes is always the end of the last valid record. */
static int read_records(reader *self, uint64_t from, vidi__log_visit *visit, void *context, vidi__log_found *found)
{
    uint64_t offset = from;
    found->bytes = found->intact = offset;
    while (self->size - offset >= VIDI__LOG_RECORD_HEAD + VIDI__LOG_CHECK) {
        uint32_t type;
        vidi_str payload;
        uint64_t bytes;
        VIDI__TRY(record_at(self, offset, &type, &payload, &bytes));
        if (bytes == 0) {
            offset += 8;
            continue;
        }
        int code = visit(context, type, payload);
        if (code != VIDI_OK)
            return code;
        found->records++;
        if (offset != found->bytes)
            count_skipped(self, found->bytes, offset, true, found);
        else if (found->intact == offset)
            found->intact += bytes;
        offset += bytes;
        found->bytes = offset;
    }
    count_rest(self, found);
    return VIDI_OK;
}

int vidi__log_read_part(vidi__memory *memory, int folder, const vidi__log_id *id, const vidi__log_part *part,
                        vidi__log_visit *visit, void *context, vidi__log_found *found)
{
    reader self;
    *found = (vidi__log_found){0};
    VIDI__TRY(open_reader(&self, memory, folder, id));
    self.known = part->known;
    int code = read_head(&self, id, found);
    if (code == VIDI_OK && !found->headless) {
        found->generation = self.head.generation;
        found->links = self.links;
        if (part->from > self.size)
            code = vidi__fail(VIDI_EFORMAT, "%s is shorter than it was", self.file.name);
        self.size = part->to < self.size ? part->to : self.size;
        if (code == VIDI_OK)
            code = read_records(&self, part->from, visit, context, found);
    }
    close_reader(&self);
    return code;
}

int vidi__log_read(vidi__memory *memory, int folder, const vidi__log_id *id, uint64_t known, vidi__log_visit *visit,
                   void *context, vidi__log_found *found)
{
    vidi__log_part all = {.from = VIDI__LOG_HEAD, .to = UINT64_MAX, .known = known};
    return vidi__log_read_part(memory, folder, id, &all, visit, context, found);
}

uint64_t vidi__log_length_before(int folder, const vidi__log_id *id)
{
    unsigned char bytes[VIDI__LOG_HEAD];
    char name[40];
    vidi__file file;
    vidi__log_head head = {0};
    vidi__quiet quiet;
    vidi__quiet_begin(&quiet);
    vidi__log_name(name, id->number);
    int code = vidi__file_open(&file, folder, name, O_RDONLY);
    if (code == VIDI_OK) {
        code = vidi__file_read(&file, bytes, sizeof bytes, 0);
        (void)vidi__file_close(&file);
    }
    if (code == VIDI_OK && vidi__log_head_read(bytes, id, name, &head) == VIDI_EDAMAGED && vidi__log_head_mend(bytes))
        (void)vidi__log_head_read(bytes, id, name, &head);
    vidi__quiet_end(&quiet, VIDI_OK);
    return code == VIDI_OK ? head.previous : 0;
}
