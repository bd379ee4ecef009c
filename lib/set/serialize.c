/*
 * A set as a stream of bytes. The frame of lib/frame/frame.h contains, one after the other:
 *
 *     text    name of the canonical form      text    patterns that were given for it, each with a line feed
 *     text    item hash             16 bytes key          u64 epoch          u64 member
 *     recipe: text kind, text params, u64 capacity, double error, double headroom, u64 flags
 *     u64     answered new, seen, invalid, asked, removed      double expected_lost
 *     u64     number of past epochs, and for each: u64 epoch, capacity, count, bytes, new, seen; double fp_end, lost
 *     u64     numbers of the first and the last file of the previous epoch, in the folder of a durable set; else 0
 *     u64     length of the note, and its bytes;      text   owner
 *     u64     1 if the previous epoch follows, else 0
 *     previous epoch: text item hash, u64 epoch, its counters as above, its filter as below
 *     filter: text kind, text params, u64 capacity, double error, u64 count, and what the kind writes
 *
 * A text is a u64 length followed by that many bytes. The recipe is what the user asked for; the next epoch is made
 * from it. The filter's own parameters are the exact ones that this epoch's filter was made with.
 */
#include "set/serialize.h"

#include <math.h>
#include <stdio.h>

#include "base/random.h"

/* Bytes of patterns that are read at a time. */
#define PIECE 4096

static int write_text(vidi__writer *writer, const char *text)
{
    return vidi__write_str(writer, (vidi_str){text, strlen(text)});
}

static int write_canon(vidi__writer *writer, const vidi_set *set)
{
    char room[PIECE];
    vidi__buffer patterns = vidi__buffer_in(room, sizeof room, &((vidi_set *)set)->memory);
    vidi__canon_patterns(set->canon, &patterns);
    int code = patterns.error;
    if (code == VIDI_OK)
        code = write_text(writer, vidi_canon_name(set->canon));
    if (code == VIDI_OK)
        code = vidi__write_str(writer, (vidi_str){patterns.at, patterns.len});
    vidi__buffer_free(&patterns);
    return code;
}

int vidi__write_identity(vidi__writer *writer, const vidi_set *set)
{
    VIDI__TRY(write_canon(writer, set));
    VIDI__TRY(write_text(writer, set->now.hash->name));
    VIDI__TRY(vidi__write(writer, set->key, sizeof set->key));
    VIDI__TRY(vidi__write_u64(writer, set->now.number));
    return vidi__write_u64(writer, set->member);
}

int vidi__write_recipe(vidi__writer *writer, const vidi__recipe *recipe)
{
    VIDI__TRY(write_text(writer, recipe->kind->name));
    VIDI__TRY(write_text(writer, vidi__recipe_params(recipe)));
    VIDI__TRY(vidi__write_u64(writer, recipe->capacity));
    VIDI__TRY(vidi__write_double(writer, recipe->error));
    VIDI__TRY(vidi__write_double(writer, recipe->headroom));
    return vidi__write_u64(writer, recipe->flags);
}

int vidi__write_counters(vidi__writer *writer, const vidi_set *set, const vidi__epoch *epoch)
{
    const vidi__counts counts = vidi__counts_of(set, epoch);
    VIDI__TRY(vidi__write_u64(writer, counts.fresh));
    VIDI__TRY(vidi__write_u64(writer, counts.seen));
    VIDI__TRY(vidi__write_u64(writer, counts.invalid));
    VIDI__TRY(vidi__write_u64(writer, counts.asked));
    VIDI__TRY(vidi__write_u64(writer, counts.removed));
    return vidi__write_double(writer, counts.lost);
}

int vidi__write_record(vidi__writer *writer, const vidi_epoch_stats *past)
{
    const uint64_t numbers[] = {past->epoch, past->capacity,     past->count,
                                past->bytes, past->answered_new, past->answered_seen};
    for (size_t i = 0; i < VIDI__COUNT(numbers); i++)
        VIDI__TRY(vidi__write_u64(writer, numbers[i]));
    VIDI__TRY(vidi__write_double(writer, past->fp_end));
    return vidi__write_double(writer, past->expected_lost);
}

static int write_history(vidi__writer *writer, const vidi_set *set)
{
    VIDI__TRY(vidi__write_u64(writer, set->history_count));
    for (uint64_t i = 0; i < set->history_count; i++)
        VIDI__TRY(vidi__write_record(writer, &set->history[i]));
    VIDI__TRY(vidi__write_u64(writer, set->previous_first));
    return vidi__write_u64(writer, set->previous_last);
}

static int write_note(vidi__writer *writer, const vidi__note *note)
{
    return vidi__write_str(writer, note ? (vidi_str){note->bytes, note->len} : VIDI__STR(""));
}

static int write_previous(vidi__writer *writer, const vidi_set *owner, const vidi__epoch *previous)
{
    VIDI__TRY(write_text(writer, previous->hash->name));
    VIDI__TRY(vidi__write_u64(writer, previous->number));
    VIDI__TRY(vidi__write_counters(writer, owner, previous));
    return vidi__set_intact(owner, vidi__filter_save(previous->filter, writer));
}

int vidi__set_write_to(const vidi_set *set, vidi__writer *writer, const vidi__contents *contents)
{
    VIDI__TRY(vidi__write_identity(writer, set));
    VIDI__TRY(vidi__write_recipe(writer, &set->recipe));
    VIDI__TRY(vidi__write_counters(writer, set, &set->now));
    VIDI__TRY(write_history(writer, set));
    VIDI__TRY(write_note(writer, contents->note));
    VIDI__TRY(write_note(writer, contents->owner));
    VIDI__TRY(vidi__write_u64(writer, contents->previous != NULL));
    if (contents->previous)
        VIDI__TRY(write_previous(writer, contents->previous_in, contents->previous));
    return vidi__filter_save(set->now.filter, writer);
}

int vidi__set_write(const vidi_set *set, vidi_sink sink, void *context, uint64_t generation,
                    const vidi__contents *contents)
{
    vidi__frame_writer *frame;
    vidi__memory *memory = &((vidi_set *)set)->memory;
    VIDI__TRY(vidi__alloc(memory, &frame, sizeof *frame, _Alignof(vidi__frame_writer)));
    int code = vidi__frame_begin(frame, memory, sink, context, (vidi__frame_head){generation, 0});
    if (code == VIDI_OK)
        code = vidi__set_intact(set, vidi__set_write_to(set, &frame->base, contents));
    if (code == VIDI_OK)
        code = vidi__frame_end(frame);
    vidi__frame_writer_free(frame);
    vidi__release(memory, frame, sizeof *frame, _Alignof(vidi__frame_writer));
    return code;
}

/* Finds what is written. The previous epoch may be a set of its own, which must be whole too. */
static int choose_contents(const vidi_set *set, unsigned flags, vidi__contents *contents)
{
    *contents = (vidi__contents){.note = NULL};
    VIDI__TRY(vidi__set_whole(set));
    if (!(flags & VIDI_WRITE_PREVIOUS))
        return VIDI_OK;
    contents->previous = vidi__set_previous(set, &contents->previous_in);
    return contents->previous ? vidi__set_whole(contents->previous_in) : VIDI_OK;
}

int vidi_write(const vidi_set *set, vidi_sink sink, void *context, unsigned flags)
{
    vidi__contents contents;
    uint64_t generation;
    if (!set || !sink)
        return vidi__fail(VIDI_EARGUMENT, "set or sink is NULL");
    if (flags & ~(unsigned)VIDI_WRITE_PREVIOUS)
        return vidi__fail(VIDI_EARGUMENT, "unknown flags %u", flags & ~(unsigned)VIDI_WRITE_PREVIOUS);
    VIDI__TRY(vidi__set_here(set));
    VIDI__TRY(vidi__random(&generation, sizeof generation));
    vidi__turn_begin(set);
    int code = vidi__lock_whole(set);
    if (code == VIDI_OK)
        code = choose_contents(set, flags, &contents);
    if (code == VIDI_OK)
        code = vidi__set_write(set, sink, context, generation, &contents);
    vidi__unlock(set);
    vidi__turn_end(set);
    return code;
}

/*
 * Reads a text and ends it with a zero byte. Memory grows with the bytes that arrive, not with the length that is
 * claimed.
 */
static int read_patterns(vidi__reader *reader, vidi__buffer *text)
{
    uint64_t len;
    VIDI__TRY(vidi__read_u64(reader, &len));
    if (len > VIDI__PATTERNS_BYTES)
        return vidi__damaged("the list of tracking parameters is too long");
    while (text->len < len) {
        size_t piece = len - text->len < PIECE ? (size_t)len - text->len : PIECE;
        if (!vidi__buffer_reserve(text, piece))
            return text->error;
        VIDI__TRY(vidi__read(reader, text->at + text->len, piece));
        text->len += piece;
    }
    if (len && memchr(text->at, 0, text->len))
        return vidi__damaged("the list of tracking parameters contains a zero byte");
    vidi__buffer_add_char(text, 0);
    return text->error;
}

/* Puts the set's form before the message that says why it cannot be made. */
static int form_unknown(const char *name)
{
    char where[VIDI__CANON_NAME + 64];
    vidi__text text = vidi__text_in(where, sizeof where);
    vidi__text_add(&text, "the set has canonical form \"%s\", which is not known here", name);
    return vidi__fail_in(where, VIDI_EFORMAT);
}

/* Makes the set's canonical form. Patterns are there if, and only if, the form's name contains a checksum of them. */
static int make_canon(vidi_set *set, const char *name, const vidi__buffer *patterns)
{
    vidi_canon *canon;
    bool given = strstr(name, ",tracking=");
    if (!given && patterns->len > 1)
        return vidi__damaged("there are tracking parameters that the canonical form does not know of");
    int code = vidi__canon_create(&canon, &set->memory, name, given ? patterns->at : NULL);
    if (code == VIDI_EDIFFERS)
        return vidi__damaged("the list of tracking parameters is not the one of the canonical form");
    if (code == VIDI_EOPTION)
        return form_unknown(name);
    VIDI__TRY(code);
    vidi__set_canon(set, canon);
    return strcmp(vidi_canon_name(canon), name) == 0 ? VIDI_OK : vidi__damaged("the canonical form has another name");
}

static int read_canon(vidi__reader *reader, vidi_set *set)
{
    char name[VIDI__CANON_NAME], room[PIECE];
    VIDI__TRY(vidi__read_text(reader, name, sizeof name));
    vidi__buffer patterns = vidi__buffer_in(room, sizeof room, &set->memory);
    int code = read_patterns(reader, &patterns);
    if (code == VIDI_OK)
        code = make_canon(set, name, &patterns);
    vidi__buffer_free(&patterns);
    return code;
}

int vidi__read_identity(vidi__reader *reader, vidi_set *set, char *hash, size_t hash_room, uint64_t *epoch)
{
    uint64_t member;
    VIDI__TRY(read_canon(reader, set));
    VIDI__TRY(vidi__read_text(reader, hash, hash_room));
    VIDI__TRY(vidi__read(reader, set->key, sizeof set->key));
    VIDI__TRY(vidi__read_u64(reader, epoch));
    VIDI__TRY(vidi__read_u64(reader, &member));
    if (member > UINT32_MAX || *epoch > UINT64_MAX / 2)
        return vidi__damaged("the number of the member or of the epoch is out of range");
    set->member = (uint32_t)member;
    return VIDI_OK;
}

int vidi__read_recipe(vidi__reader *reader, vidi__memory *memory, vidi__recipe *recipe)
{
    char kind[24], params[VIDI__USER_PARAMS_MAX];
    uint64_t flags;
    VIDI__TRY(vidi__read_text(reader, kind, sizeof kind));
    VIDI__TRY(vidi__read_text(reader, params, sizeof params));
    VIDI__TRY(vidi__recipe_set_params(recipe, memory, params));
    VIDI__TRY(vidi__read_u64(reader, &recipe->capacity));
    VIDI__TRY(vidi__read_double(reader, &recipe->error));
    VIDI__TRY(vidi__read_double(reader, &recipe->headroom));
    VIDI__TRY(vidi__read_u64(reader, &flags));
    recipe->kind = vidi__kind_find((vidi_str){kind, strlen(kind)});
    recipe->flags = (uint32_t)flags;
    if (!recipe->kind || flags > UINT32_MAX)
        return vidi__damaged("the kind or the flags are not known");
    if (!(recipe->error >= 0 && recipe->error < 1)) /* also not a number */
        return vidi__damaged("an error rate is out of range");
    return VIDI_OK;
}

int vidi__read_counters(vidi__reader *reader, uint64_t numbers[VIDI__COUNTERS], double *lost)
{
    for (int i = 0; i < VIDI__COUNTERS; i++)
        VIDI__TRY(vidi__read_u64(reader, &numbers[i]));
    VIDI__TRY(vidi__read_double(reader, lost));
    return *lost >= 0 && isfinite(*lost) ? VIDI_OK : vidi__damaged("the number of pages lost is out of range");
}

int vidi__read_record(vidi__reader *reader, vidi_epoch_stats *past)
{
    uint64_t numbers[6];
    *past = (vidi_epoch_stats){.size = sizeof *past};
    for (size_t i = 0; i < VIDI__COUNT(numbers); i++)
        VIDI__TRY(vidi__read_u64(reader, &numbers[i]));
    VIDI__TRY(vidi__read_double(reader, &past->fp_end));
    VIDI__TRY(vidi__read_double(reader, &past->expected_lost));
    if (!(past->fp_end >= 0 && past->fp_end <= 1 && past->expected_lost >= 0 && isfinite(past->expected_lost)))
        return vidi__damaged("the record of an epoch is out of range");
    past->epoch = numbers[0];
    past->capacity = numbers[1];
    past->count = numbers[2];
    past->bytes = numbers[3];
    past->answered_new = numbers[4];
    past->answered_seen = numbers[5];
    return VIDI_OK;
}

static int read_history(vidi__reader *reader, vidi_set *set)
{
    uint64_t count;
    VIDI__TRY(vidi__read_u64(reader, &count));
    for (uint64_t i = 0; i < count; i++) {
        vidi_epoch_stats past;
        VIDI__TRY(vidi__read_record(reader, &past));
        VIDI__TRY(vidi__history_add(set, &past));
    }
    VIDI__TRY(vidi__read_u64(reader, &set->previous_first));
    VIDI__TRY(vidi__read_u64(reader, &set->previous_last));
    return VIDI_OK;
}

static int read_note(vidi__reader *reader, vidi_set *set, size_t most, vidi__note **note)
{
    char bytes[VIDI_NOTE_MAX];
    uint64_t len;
    VIDI__TRY(vidi__read_u64(reader, &len));
    if (len > most)
        return vidi__damaged("the note or the owner's name is too long");
    VIDI__TRY(vidi__read(reader, bytes, len));
    return vidi__note_make(&set->memory, (vidi_str){bytes, (size_t)len}, note);
}

void vidi__take_counters(vidi__epoch *epoch, const uint64_t tally[VIDI__COUNTERS], double lost)
{
    atomic_fetch_add(&epoch->answered_new, tally[0]);
    atomic_fetch_add(&epoch->answered_seen, tally[1]);
    atomic_fetch_add(&epoch->answered_invalid, tally[2]);
    atomic_fetch_add(&epoch->asked, tally[3]);
    atomic_fetch_add(&epoch->removed, tally[4]);
    vidi__epoch_lose(epoch, lost);
}

/* Reads the previous epoch as the current one, and sets it aside. */
static int read_previous(vidi__reader *reader, vidi_set *set, uint64_t now)
{
    char hash[24], params[32];
    uint64_t number, tally[VIDI__COUNTERS] = {0};
    double lost = 0;
    VIDI__TRY(vidi__read_text(reader, hash, sizeof hash));
    VIDI__TRY(vidi__read_u64(reader, &number));
    VIDI__TRY(vidi__read_counters(reader, tally, &lost));
    if (number >= now)
        return vidi__damaged("the previous epoch is not before the current one");
    snprintf(params, sizeof params, "hash=%s", hash);
    VIDI__TRY(vidi__epoch_make(set, &(vidi__recipe){.params = params}, number, reader, &set->now));
    if (strcmp(set->now.hash->name, hash) != 0)
        return vidi__damaged("the hash is not that of the previous epoch");
    vidi__take_counters(&set->now, tally, lost);
    return vidi__set_keep_now(set);
}

/* Snapshots have none, because the folder keeps it in files of its own. */
static int read_previous_if_there(vidi__reader *reader, vidi_set *set, uint64_t now)
{
    uint64_t has_previous;
    VIDI__TRY(vidi__read_u64(reader, &has_previous));
    if (has_previous > 1)
        return vidi__damaged("it is not clear whether there is a previous epoch");
    if (has_previous && set->mapped)
        return vidi__fail(VIDI_EFORMAT, "a stream with a previous epoch cannot be mapped");
    return has_previous ? read_previous(reader, set, now) : VIDI_OK;
}

static int read_epoch(vidi__reader *reader, vidi_set *set, uint64_t number, const char *hash)
{
    uint64_t tally[VIDI__COUNTERS] = {0};
    double lost = 0;
    VIDI__TRY(vidi__read_counters(reader, tally, &lost));
    VIDI__TRY(read_history(reader, set));
    VIDI__TRY(read_note(reader, set, VIDI_NOTE_MAX, &set->note));
    VIDI__TRY(read_note(reader, set, VIDI_OWNER_ROOM - 1, &set->owner));
    VIDI__TRY(read_previous_if_there(reader, set, number));
    VIDI__TRY(vidi__epoch_make(set, &set->recipe, number, reader, &set->now));
    if (set->now.filter->kind != set->recipe.kind || strcmp(set->now.hash->name, hash) != 0)
        return vidi__damaged("kind or hash are not those of the set");
    vidi__take_counters(&set->now, tally, lost);
    vidi__set_ready(set);
    return VIDI_OK;
}

int vidi__set_read_from(vidi_set *set, vidi__reader *reader)
{
    char hash[24];
    uint64_t epoch = 0;
    VIDI__TRY(vidi__read_identity(reader, set, hash, sizeof hash, &epoch));
    VIDI__TRY(vidi__read_recipe(reader, &set->memory, &set->recipe));
    VIDI__TRY(vidi__blame_data(vidi__recipe_take(&set->recipe, &set->memory, &(vidi_options)VIDI_OPTIONS_INIT)));
    return vidi__blame_data(read_epoch(reader, set, epoch, hash));
}

/* Checks that the source ends with the stream. */
static int check_end(vidi_source source, void *context)
{
    char more;
    int64_t got = source(context, &more, 1);
    if (got < 0)
        return vidi__fail(VIDI_EIO, "the source failed after the end of the stream");
    return got ? vidi__damaged("there is unexpected data at the end") : VIDI_OK;
}

static int read_frame(vidi_set *set, vidi__frame_reader *frame)
{
    if (frame->head.length)
        return vidi__set_read_pieces(set, frame);
    VIDI__TRY(vidi__set_read_from(set, &frame->base));
    return vidi__frame_close(frame);
}

static int read_into(vidi_set *set, vidi_source source, void *context, uint64_t stream_bytes, bool ahead)
{
    vidi__frame_reader *frame;
    VIDI__TRY(vidi__alloc(&set->memory, &frame, sizeof *frame, _Alignof(vidi__frame_reader)));
    int code = vidi__frame_open(frame, &set->memory, source, context, stream_bytes);
    if (code == VIDI_OK && ahead)
        code = vidi__frame_read_ahead(frame);
    if (code == VIDI_OK)
        code = read_frame(set, frame);
    vidi__frame_reader_free(frame);
    vidi__release(&set->memory, frame, sizeof *frame, _Alignof(vidi__frame_reader));
    return code;
}

int vidi__set_read(vidi_set **set, vidi_source source, void *context, uint64_t stream_bytes, const vidi_access *access,
                   bool ahead)
{
    *set = NULL;
    VIDI__TRY(vidi__set_alloc(set, access));
    int code = read_into(*set, source, context, stream_bytes, ahead);
    if (code == VIDI_OK && access->flags & VIDI_READ_TO_END)
        code = check_end(source, context);
    if (code < 0) {
        vidi_close(*set);
        *set = NULL;
    }
    return code;
}
