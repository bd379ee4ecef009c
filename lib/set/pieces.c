/*
 * A set in pieces: each is a frame of its own (frame/frame.h), made and read without anything being remembered between
 * two of them but a number, the cursor.
 *
 *     cursor    | 7 bits of the generation | 46 bits: position |       0: the first piece; less than 2^53
 *     position  | 2 bits: section | 44 bits: position in it |
 *     sections  0  the head: everything that an empty set is made from
 *               1  the previous epoch's filter, if it is kept        2  the filter, in runs (filters/pieces.h)
 *               3  records of past epochs; at the end, the counters
 *
 *     piece     u64 generation, u64 its position, what the section writes, u64 position of the next piece, 0 at the end
 *
 * The generation says whether the positions still hold: a random number of the set, plus one for everything that was
 * taken out, each rotation, and each previous epoch that was dropped. The writer compares its last 7 bits with the
 * cursor's; the reader, which would notice 128 removals as well, all of it with that of the piece before. The
 * checksums of a piece have generation and position in their key.
 */
#include "base/random.h"
#include "filters/pieces.h"
#include "set/serialize.h"

#define LEAST 4096 /* bytes of the smallest piece that may be asked for */
#define POSITION_BITS 46
#define SECTION_BITS 44
#define IN_SECTION ((UINT64_C(1) << SECTION_BITS) - 1)
#define TAG ((UINT64_C(1) << 7) - 1) /* the bits of the generation that are in a cursor */
#define FRAMING 24                   /* generation, position, next position */

#define NOT_A_PIECE "this is a whole set and not a piece of one"
#define NOT_THE_FIRST "this is not the first piece of a set"

_Static_assert(VIDI_PIECE_HEAD == VIDI__HEAD_BYTES, "the public header says how long a head is");

enum { HEAD, PREVIOUS, CONTENTS, RECORDS };

void vidi__arrival_free(vidi_set *set)
{
    vidi__release(&set->memory, set->arrival, sizeof *set->arrival, _Alignof(vidi__arrival));
    set->arrival = NULL;
}

static uint64_t position_at(unsigned section, uint64_t at)
{
    return (uint64_t)section << SECTION_BITS | at;
}

static unsigned section_of(uint64_t position)
{
    return (unsigned)(position >> SECTION_BITS);
}

/* The random number in a frame's head, which is in the keys of its checksums. */
static uint64_t frame_generation(uint64_t generation, uint64_t position)
{
    return vidi__mix(generation + vidi__mix(position + 1));
}

/* ---- writing ---- */

/* A piece that is being written. */
typedef struct outgoing {
    const vidi_set *set;
    const vidi__epoch *previous; /* NULL: none */
    const vidi_set *owner;       /* of `previous` */
    uint64_t generation;
    uint64_t position, next;
    uint64_t room; /* for what the section writes */
} outgoing;

static int draw_seed(vidi_set *set, uint64_t *seed)
{
    *seed = atomic_load(&set->piece_seed);
    while (!*seed) {
        uint64_t drawn;
        VIDI__TRY(vidi__random(&drawn, sizeof drawn));
        if (drawn && atomic_compare_exchange_strong(&set->piece_seed, seed, drawn))
            *seed = drawn;
    }
    return VIDI_OK;
}

static int find_generation(outgoing *self)
{
    uint64_t seed;
    VIDI__TRY(draw_seed((vidi_set *)self->set, &seed));
    self->generation = seed + self->set->earlier_moves + self->set->now.filter->moves;
    return VIDI_OK;
}

static uint64_t cursor_of(const outgoing *self, uint64_t position)
{
    return position ? (self->generation & TAG) << POSITION_BITS | position : 0;
}

static int write_shape(vidi__writer *writer, const vidi__filter *filter)
{
    vidi__recipe recipe;
    char params[VIDI__DESCRIPTION];
    VIDI__TRY(vidi__recipe_of_filter(&recipe, filter, params));
    return vidi__write_recipe(writer, &recipe);
}

static int write_head(outgoing *self, vidi__writer *writer)
{
    const vidi_set *set = self->set;
    VIDI__TRY(vidi__write_identity(writer, set));
    VIDI__TRY(vidi__write_recipe(writer, &set->recipe));
    VIDI__TRY(write_shape(writer, set->now.filter));
    VIDI__TRY(vidi__write_u64(writer, self->previous != NULL));
    if (self->previous) {
        VIDI__TRY(vidi__write_u64(writer, self->previous->number));
        VIDI__TRY(vidi__write_counters(writer, set, self->previous));
        VIDI__TRY(write_shape(writer, self->previous->filter));
    }
    self->next = position_at(self->previous ? PREVIOUS : CONTENTS, 0);
    return VIDI_OK;
}

/* The head cannot be divided. It is measured before anything of it goes out, as all sections are. */
static int write_fitting_head(outgoing *self, vidi__writer *writer)
{
    uint64_t begin = writer->at;
    VIDI__TRY(write_head(self, writer));
    return writer->at - begin <= self->room ? VIDI_OK : vidi__run_too_large(writer->at - begin);
}

static int write_run(outgoing *self, vidi__writer *writer, const vidi_set *owner, const vidi__filter *filter)
{
    unsigned section = section_of(self->position);
    vidi__run_out run = {.writer = writer, .room = self->room, .bits = SECTION_BITS, .at = self->position & IN_SECTION};
    VIDI__TRY(vidi__set_intact(owner, vidi__filter_save_run(filter, &run)));
    self->next = vidi__run_ended(&run) ? position_at(section + 1, 0) : position_at(section, run.at);
    return VIDI_OK;
}

static int write_records(outgoing *self, vidi__writer *writer)
{
    const vidi_set *set = self->set;
    uint64_t at = self->position & IN_SECTION, rest = set->history_count - at;
    uint64_t most = (self->room - 16 - VIDI__COUNTERS_BYTES) / VIDI__RECORD_BYTES;
    if (at > set->history_count)
        return vidi__run_position_unknown();
    uint64_t count = rest < most ? rest : most;
    VIDI__TRY(vidi__write_u64(writer, count));
    for (uint64_t i = at; i < at + count; i++)
        VIDI__TRY(vidi__write_record(writer, &set->history[i]));
    bool last = count == rest;
    VIDI__TRY(vidi__write_u64(writer, last));
    self->next = last ? 0 : position_at(RECORDS, at + count);
    return last ? vidi__write_counters(writer, set, &set->now) : VIDI_OK;
}

static int write_section(outgoing *self, vidi__writer *writer)
{
    switch (section_of(self->position)) {
    case HEAD:
        return self->position ? vidi__run_position_unknown() : write_fitting_head(self, writer);
    case PREVIOUS:
        return self->previous ? write_run(self, writer, self->owner, self->previous->filter)
                              : vidi__run_position_unknown();
    case CONTENTS:
        return write_run(self, writer, self->set, self->set->now.filter);
    default:
        return write_records(self, writer);
    }
}

static int write_payload(outgoing *self, vidi__writer *writer)
{
    VIDI__TRY(vidi__write_u64(writer, self->generation));
    VIDI__TRY(vidi__write_u64(writer, self->position));
    VIDI__TRY(write_section(self, writer));
    return vidi__write_u64(writer, self->next);
}

static int discard(vidi__writer *writer, const void *data, uint64_t bytes)
{
    (void)writer;
    (void)data;
    (void)bytes;
    return VIDI_OK;
}

/* What the frame's head says. Its length stands before the payload, which is therefore written to nowhere first. */
static int find_head(outgoing *self, vidi__frame_head *head)
{
    vidi__writer measure = {.write = discard, .at = VIDI__HEAD_BYTES, .measures = true};
    VIDI__TRY(write_payload(self, &measure));
    head->generation = frame_generation(self->generation, self->position);
    head->length = vidi__frame_length(measure.at - VIDI__HEAD_BYTES);
    return VIDI_OK;
}

static int write_frame(outgoing *self, vidi_sink sink, void *context)
{
    vidi__frame_writer *frame;
    vidi__frame_head head;
    vidi__memory *memory = &((vidi_set *)self->set)->memory;
    VIDI__TRY(find_head(self, &head));
    VIDI__TRY(vidi__alloc(memory, &frame, sizeof *frame, _Alignof(vidi__frame_writer)));
    int code = vidi__frame_begin(frame, memory, sink, context, head);
    if (code == VIDI_OK)
        code = write_payload(self, &frame->base);
    if (code == VIDI_OK)
        code = vidi__frame_end(frame);
    vidi__frame_writer_free(frame);
    vidi__release(memory, frame, sizeof *frame, _Alignof(vidi__frame_writer));
    return code;
}

/* Makes sure that everything is there and, if the cursor is not 0, that it still leads to the right place. */
static int begin_piece(outgoing *self, uint64_t cursor)
{
    const vidi_set *set = self->set;
    VIDI__TRY(vidi__set_whole(set));
    self->previous = vidi__set_previous(set, &self->owner);
    if (self->previous)
        VIDI__TRY(vidi__set_whole(self->owner));
    VIDI__TRY(find_generation(self));
    self->position = cursor & ((UINT64_C(1) << POSITION_BITS) - 1);
    if (cursor && cursor != cursor_of(self, self->position))
        return vidi__fail(VIDI_ECANNOT, "something was removed from the set, or it was rotated, since the first piece; "
                                        "begin again");
    return VIDI_OK;
}

int vidi_piece_write(const vidi_set *set, uint64_t *cursor, size_t most, vidi_sink sink, void *context)
{
    outgoing self = {.set = set};
    if (!set || !cursor || !sink)
        return vidi__fail(VIDI_EARGUMENT, "set, cursor or sink is NULL");
    if (most < LEAST)
        return vidi__fail(VIDI_EARGUMENT, "pieces of %zu bytes are too small; allow at least %d", most, LEAST);
    VIDI__TRY(vidi__set_here(set));
    uint64_t blocks = most / (VIDI__BLOCK_BYTES + 8) + 1;
    self.room = most - VIDI__HEAD_BYTES - VIDI__FOOT_BYTES - 8 * blocks - FRAMING;
    vidi__turn_begin(set);
    int code = vidi__lock_whole(set);
    if (code == VIDI_OK)
        code = begin_piece(&self, *cursor);
    if (code == VIDI_OK)
        code = write_frame(&self, sink, context);
    if (code == VIDI_OK)
        *cursor = cursor_of(&self, self.next);
    vidi__unlock(set);
    vidi__turn_end(set);
    return code;
}

/* ---- reading ---- */

/* A piece that was received. */
typedef struct incoming {
    vidi__mapped frame;
    uint64_t generation;
    uint64_t position, next;
    uint64_t sum; /* its last checksum, which tells it from every other piece */
} incoming;

static int open_piece(incoming *self, const unsigned char *bytes, size_t size)
{
    vidi__reader *reader = &self->frame.base;
    VIDI__TRY(vidi__frame_over(&self->frame, bytes, size));
    if (!self->frame.head.length)
        return vidi__fail(VIDI_EFORMAT, NOT_A_PIECE);
    VIDI__TRY(vidi__mapped_verify(&self->frame, 0, self->frame.blocks));
    if (self->frame.payload < FRAMING)
        return vidi__damaged("the piece is too short");
    reader->left -= 8;
    self->next = vidi__load64(bytes + VIDI__HEAD_BYTES + self->frame.payload - 8);
    self->sum = vidi__load64(bytes + size - 8);
    VIDI__TRY(vidi__read_u64(reader, &self->generation));
    VIDI__TRY(vidi__read_u64(reader, &self->position));
    bool forward = !self->next || (self->next > self->position && self->next >> POSITION_BITS == 0);
    if (!forward || self->frame.head.generation != frame_generation(self->generation, self->position))
        return vidi__damaged("the position of the piece is wrong");
    return VIDI_OK;
}

/* Makes an empty epoch of the shape that was written, as set->now. */
static int make_epoch(vidi_set *set, vidi__reader *reader, uint64_t number)
{
    vidi__recipe shape = {.kind = NULL};
    int code = vidi__read_recipe(reader, &set->memory, &shape);
    if (code == VIDI_OK)
        code = vidi__blame_data(vidi__epoch_make(set, &shape, number, NULL, &set->now));
    vidi__recipe_free(&shape, &set->memory);
    return code;
}

static int make_previous(vidi_set *set, vidi__reader *reader, uint64_t now)
{
    uint64_t number, tally[VIDI__COUNTERS];
    double lost;
    VIDI__TRY(vidi__read_u64(reader, &number));
    VIDI__TRY(vidi__read_counters(reader, tally, &lost));
    if (number >= now)
        return vidi__damaged("the previous epoch is not before the current one");
    VIDI__TRY(make_epoch(set, reader, number));
    vidi__take_counters(&set->now, tally, lost);
    return VIDI_OK;
}

/* The previous epoch follows the current one, but is made first, because an epoch is made as set->now. */
static int make_epochs(vidi_set *set, vidi__reader *reader, uint64_t number, bool *previous)
{
    vidi__epoch now;
    uint64_t there;
    VIDI__TRY(make_epoch(set, reader, number));
    VIDI__TRY(vidi__read_u64(reader, &there));
    *previous = there;
    if (there > 1)
        return vidi__damaged("there cannot be more than one previous epoch");
    if (!there)
        return VIDI_OK;
    now = set->now;
    memset(&set->now, 0, sizeof set->now);
    int code = make_previous(set, reader, number);
    if (code == VIDI_OK)
        code = vidi__set_keep_now(set);
    if (code < 0)
        vidi__epoch_free(&set->now, &set->memory);
    set->now = now;
    return code;
}

static int read_head(vidi_set *set, const incoming *piece, vidi__reader *reader)
{
    char hash[24];
    uint64_t epoch;
    bool previous;
    VIDI__TRY(vidi__read_identity(reader, set, hash, sizeof hash, &epoch));
    VIDI__TRY(vidi__read_recipe(reader, &set->memory, &set->recipe));
    VIDI__TRY(vidi__blame_data(vidi__recipe_take(&set->recipe, &set->memory, &(vidi_options)VIDI_OPTIONS_INIT)));
    VIDI__TRY(make_epochs(set, reader, epoch, &previous));
    if (set->now.filter->kind != set->recipe.kind || strcmp(set->now.hash->name, hash) != 0)
        return vidi__damaged("kind or hash are not those of the set");
    if (reader->left || piece->next != position_at(previous ? PREVIOUS : CONTENTS, 0))
        return vidi__damaged("the first piece does not end where it should");
    VIDI__TRY(vidi__alloc_zeroed(&set->memory, &set->arrival, sizeof *set->arrival, _Alignof(vidi__arrival)));
    *set->arrival = (vidi__arrival){.generation = piece->generation, .next = piece->next, .epoch = epoch};
    vidi__set_ready(set);
    return VIDI_OK;
}

static int begin_set(vidi_set **set, incoming *piece, const vidi_access *access)
{
    vidi_access mine;
    VIDI__TRY(vidi__access_take(&mine, access));
    if (mine.flags & VIDI_READ_ONLY)
        return vidi__fail(VIDI_EOPTION, "a new set cannot be read-only");
    VIDI__TRY(vidi__set_alloc(set, &mine));
    int code = read_head(*set, piece, &piece->frame.base);
    if (code < 0) {
        vidi_close(*set);
        *set = NULL;
    }
    return code;
}

static const vidi__epoch *epoch_of(const vidi_set *set, const incoming *piece)
{
    return section_of(piece->position) == PREVIOUS ? set->previous : &set->now;
}

/* There was no memory for all of a piece. Sets that store every add must get the rest of the same piece. */
static int check_repeated(vidi_set *set, const incoming *piece)
{
    vidi__arrival *arrival = set->arrival;
    const vidi__epoch *epoch = epoch_of(set, piece);
    if (!arrival->done || arrival->sum == piece->sum)
        return VIDI_OK;
    if (epoch && epoch->filter->stores_every_add)
        return vidi__fail(VIDI_EFORMAT, "another piece was added here, in part: repeat that one");
    arrival->done = 0;
    return VIDI_OK;
}

/* Returns true if this is the piece that the set awaits. */
static int check_place(vidi_set *set, const incoming *piece)
{
    vidi__arrival *arrival = set->arrival;
    if (!arrival)
        return vidi__fail(VIDI_EFORMAT, "the set is whole: no piece of it is missing");
    if (arrival->generation != piece->generation)
        return vidi__fail(VIDI_EFORMAT, "the piece is of another set, or of this one before something was removed");
    if (arrival->next != piece->position)
        return vidi__fail(VIDI_EFORMAT, "the pieces are not in order: this one was there before, or some are missing");
    if (arrival->epoch != set->now.number)
        return vidi__fail(VIDI_ECANNOT, "the set was rotated before all of its pieces were there");
    return check_repeated(set, piece);
}

static int read_records(vidi_set *set, const incoming *piece, vidi__run_in *run)
{
    uint64_t count, last, tally[VIDI__COUNTERS], before = set->history_count;
    double lost = 0;
    int code = VIDI_OK;
    VIDI__TRY(vidi__read_u64(run->reader, &count));
    if (before != (piece->position & IN_SECTION) || count > run->reader->left / VIDI__RECORD_BYTES)
        return vidi__damaged("the records of past epochs are out of order");
    for (uint64_t i = 0; i < count && code == VIDI_OK; i++) {
        vidi_epoch_stats past;
        code = vidi__read_record(run->reader, &past);
        if (code == VIDI_OK && run->apply)
            code = vidi__history_add(set, &past);
    }
    if (code < 0) {
        set->history_count = before;
        return code;
    }
    VIDI__TRY(vidi__read_u64(run->reader, &last));
    if (last != !piece->next)
        return vidi__damaged("the last piece does not say so");
    if (!last)
        return piece->next == position_at(RECORDS, before + count) || run->apply
                   ? VIDI_OK
                   : vidi__damaged("the records of past epochs are out of order");
    VIDI__TRY(vidi__read_counters(run->reader, tally, &lost));
    if (run->apply)
        vidi__take_counters(&set->now, tally, lost);
    return VIDI_OK;
}

static int read_section(vidi_set *set, const incoming *piece, vidi__run_in *run)
{
    unsigned section = section_of(piece->position);
    if (section == RECORDS)
        return read_records(set, piece, run);
    const vidi__epoch *epoch = epoch_of(set, piece);
    if (!epoch || !piece->next)
        return vidi__damaged("the piece ends where more must follow, or is of an epoch that is not there");
    run->key = vidi__epoch_key(epoch);
    return vidi__filter_load_run(epoch->filter, run);
}

/* Everything is checked before anything is added. */
static int add_piece(vidi_set *set, incoming *piece)
{
    vidi__arrival *arrival = set->arrival;
    vidi__reader begin = piece->frame.base;
    vidi__run_in run = {.reader = &piece->frame.base, .done = arrival->done};
    VIDI__TRY(read_section(set, piece, &run));
    VIDI__TRY(vidi__mapped_close(&piece->frame));
    piece->frame.base = begin;
    run.apply = true;
    int code = read_section(set, piece, &run);
    vidi__set_ready(set);
    arrival->done = code < 0 ? run.done : 0;
    arrival->sum = piece->sum;
    VIDI__TRY(code);
    arrival->next = piece->next;
    if (!arrival->next)
        vidi__arrival_free(set);
    return VIDI_OK;
}

static int continue_set(vidi_set *set, incoming *piece)
{
    VIDI__TRY(vidi__set_writable(set));
    vidi__lock_alone(set);
    int code = check_place(set, piece);
    if (code == VIDI_OK)
        code = vidi__blame_data(add_piece(set, piece));
    vidi__unlock(set);
    return code;
}

int vidi__piece_take(vidi_set *set, const void *bytes, size_t size)
{
    incoming piece;
    VIDI__TRY(open_piece(&piece, bytes, size));
    bool first = !set->now.filter;
    if (first && piece.position)
        return vidi__fail(VIDI_EFORMAT, NOT_THE_FIRST);
    VIDI__TRY(first ? read_head(set, &piece, &piece.frame.base) : continue_set(set, &piece));
    return piece.next ? 1 : 0;
}

int vidi_piece_size(const void *bytes, size_t size, uint64_t *length)
{
    vidi__frame_head head;
    if (!bytes || !length)
        return vidi__fail(VIDI_EARGUMENT, "bytes or length is NULL");
    if (size < VIDI_PIECE_HEAD)
        return vidi__fail(VIDI_EARGUMENT, "a piece tells its length in its first %d bytes", VIDI_PIECE_HEAD);
    VIDI__TRY(vidi__frame_check_head(bytes, &head));
    if (!head.length)
        return vidi__fail(VIDI_EFORMAT, NOT_A_PIECE);
    *length = head.length;
    return VIDI_OK;
}

int vidi_piece_read(vidi_set **set, const void *bytes, size_t size, const vidi_access *access, int *more)
{
    incoming piece;
    if (more)
        *more = 0;
    if (!set || (size && !bytes))
        return vidi__fail(VIDI_EARGUMENT, "set or bytes is NULL");
    VIDI__TRY(open_piece(&piece, bytes, size));
    if (piece.position && !*set)
        return vidi__fail(VIDI_EFORMAT, NOT_THE_FIRST);
    if (!piece.position && *set)
        return vidi__fail(VIDI_EFORMAT, "this is the first piece of a set, which makes a new one");
    VIDI__TRY(piece.position ? continue_set(*set, &piece) : begin_set(set, &piece, access));
    if (more)
        *more = piece.next != 0;
    return VIDI_OK;
}

/* ---- a set that was saved while its pieces came ---- */

int vidi_piece_state(const vidi_set *set, unsigned char state[VIDI_PIECE_STATE_BYTES])
{
    if (!set || !state)
        return vidi__fail(VIDI_EARGUMENT, "set or state is NULL");
    VIDI__TRY(vidi__set_here(set));
    vidi__lock_shared(set);
    const vidi__arrival *arrival = set->arrival;
    if (arrival) {
        const uint64_t numbers[] = {arrival->generation, arrival->next, arrival->epoch, arrival->done, arrival->sum};
        _Static_assert(sizeof numbers == VIDI_PIECE_STATE_BYTES, "the state is these numbers");
        for (size_t i = 0; i < VIDI__COUNT(numbers); i++)
            vidi__store64(state + 8 * i, numbers[i]);
    }
    vidi__unlock(set);
    return arrival ? VIDI_OK : vidi__fail(VIDI_EABSENT, "the set is whole: no piece of it is missing");
}

/* `done` and `sum` belong to a piece that is checked when it comes, like every other. */
static int resume(vidi_set *set, const vidi__arrival *state)
{
    if (set->persistence || set->arrival)
        return vidi__fail(VIDI_ECANNOT,
                          set->arrival ? "the set awaits a piece already" : "sets in folders do not come in pieces");
    if (section_of(state->next) == HEAD || state->next >> POSITION_BITS || state->epoch > set->now.number)
        return vidi__fail(VIDI_EARGUMENT, "this is not the state of a set that comes in pieces");
    VIDI__TRY(vidi__alloc(&set->memory, &set->arrival, sizeof *set->arrival, _Alignof(vidi__arrival)));
    *set->arrival = *state;
    return VIDI_OK;
}

int vidi_piece_resume(vidi_set *set, const unsigned char state[VIDI_PIECE_STATE_BYTES])
{
    if (!set || !state)
        return vidi__fail(VIDI_EARGUMENT, "set or state is NULL");
    const vidi__arrival mine = {.generation = vidi__load64(state),
                                .next = vidi__load64(state + 8),
                                .epoch = vidi__load64(state + 16),
                                .done = vidi__load64(state + 24),
                                .sum = vidi__load64(state + 32)};
    VIDI__TRY(vidi__set_writable(set));
    vidi__lock_alone(set);
    int code = resume(set, &mine);
    vidi__unlock(set);
    return code;
}
