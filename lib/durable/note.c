/*
 * The note: a few bytes of the caller's that are committed together with URLs.
 *
 * In the log the operations and their note are a bundle, which the note ends; replay.c explains how it is read. A
 * snapshot holds the note that was in force when it was begun.
 */
#include "durable/durable.h"

/* Appends the record that ends the bundle, for which room was reserved. */
static void append_note(vidi_set *set, vidi_str note, uint64_t operations, uint64_t *position)
{
    char head[VIDI__NOTE_HEAD];
    vidi__store64(head, set->durable->log->bundle.number);
    vidi__store64(head + 8, set->durable->log->bundle.attempt);
    vidi__store64(head + VIDI__RECORD_NUMBERS, operations);
    vidi__record_store_tally(set, head + VIDI__NOTE_HEAD - VIDI__RECORD_TALLY);
    const vidi_str pieces[] = {{head, sizeof head}, note};
    vidi__log_append(set->durable->log->log, VIDI__RECORD_NOTE, pieces, VIDI__COUNT(pieces), sizeof head + note.len,
                     position);
    atomic_fetch_add_explicit(&set->durable->log_bytes, sizeof head + note.len, memory_order_relaxed);
}

/* Logs the operations before `mark` and the note. On error the bundle has no end, so nothing is committed. */
static int log_bundle(vidi_set *set, uint64_t mark, vidi_str note, uint64_t *position)
{
    vidi__durable *durable = set->durable;
    vidi__log *log = durable->log->log;
    vidi__bundle *bundle = &durable->log->bundle;
    uint64_t operations = 0, bytes = VIDI__NOTE_HEAD + note.len;
    bundle->attempt++;
    VIDI__TRY(vidi__log_reserve(log, bytes)); /* so that the end of the bundle cannot fail */
    int code = durable->manual ? vidi__durable_log_bundle(set, mark, &operations, position) : VIDI_OK;
    if (code < 0) {
        vidi__log_unreserve(log, bytes);
        return code;
    }
    append_note(set, note, operations, position);
    *bundle = (vidi__bundle){bundle->number + 1, 0};
    return VIDI_OK;
}

/* Frees the old note, unless a snapshot that is being written needs it. */
static void replace_note(vidi_set *set, vidi__note *note)
{
    if (set->note != set->durable->frozen_note)
        vidi__note_free(&set->memory, set->note);
    set->note = note;
}

/* Exclusive lock. */
static int commit_note(vidi_set *set, uint64_t mark, vidi_str bytes, uint64_t *position)
{
    vidi__note *note;
    VIDI__TRY(vidi__durable_state(set));
    VIDI__TRY(vidi__commit_check(set, mark));
    VIDI__TRY(vidi__note_make(&set->memory, bytes, &note));
    int code = log_bundle(set, mark, bytes, position);
    if (code < 0)
        vidi__note_free(&set->memory, note);
    else
        replace_note(set, note);
    return code;
}

int vidi_commit_note(vidi_set *set, uint64_t mark, vidi_str note)
{
    vidi__pending pending = {0};
    if (!set || (note.len && !note.ptr))
        return vidi__fail(VIDI_EARGUMENT, "set or note is NULL");
    if (note.len > VIDI_NOTE_MAX)
        return vidi__fail(VIDI_ELIMIT, "a note of %zu bytes is too long; the limit is %d", note.len, VIDI_NOTE_MAX);
    if (!set->durable)
        return vidi__fail(VIDI_ECANNOT, "a set in memory has no note");
    VIDI__TRY(vidi__set_writable(set));
    vidi__lock_alone(set);
    int code = commit_note(set, mark, note, &pending.position);
    vidi__commit_logged(set, code, &pending);
    vidi__unlock(set);
    return vidi__commit_wait(set, code, &pending);
}

int vidi_note(const vidi_set *set, char *buffer, size_t *len)
{
    if (!set || !len || (*len && !buffer))
        return vidi__fail(VIDI_EARGUMENT, "set, buffer or len is NULL");
    VIDI__TRY(vidi__set_here(set));
    size_t room = *len;
    vidi__lock_shared(set);
    const vidi__note *note = set->durable ? set->note : NULL;
    *len = note ? note->len : 0;
    bool fits = *len <= room;
    if (note && fits)
        memcpy(buffer, note->bytes, note->len);
    vidi__unlock(set);
    return fits ? VIDI_OK : vidi__fail(VIDI_ELIMIT, "the note has %zu bytes, and there is room for %zu", *len, room);
}
