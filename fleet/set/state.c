/*
 * States as text. See state.h.
 */
#include "state.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "record.h"

void state_write(const state *state, char text[STATE_ROOM])
{
    char error[RECORD_NUMBER];
    set_print_real(state->error, error);
    if (state->phase == STATE_READY)
        snprintf(text, STATE_ROOM, "ready %" PRIu64, state->epoch);
    else if (state->phase == STATE_ROTATING)
        snprintf(text, STATE_ROOM, "rotating %" PRIu64 " %s %" PRIu64 " %s %d", state->epoch, state->nonce,
                 state->capacity, error, state->keep);
    else
        snprintf(text, STATE_ROOM, "dropping");
}

/* Takes the next word; empty if there is none. */
static vidi_str next_word(vidi_str *text)
{
    const char *space = text->len ? memchr(text->ptr, ' ', text->len) : NULL;
    size_t len = space ? (size_t)(space - text->ptr) : text->len;
    vidi_str word = {text->ptr, len};
    len += space != NULL;
    *text = (vidi_str){text->ptr + len, text->len - len};
    return word;
}

static bool word_is(vidi_str word, const char *text)
{
    return word.len == strlen(text) && memcmp(word.ptr, text, word.len) == 0;
}

static bool read_intent(state *state, vidi_str *text)
{
    vidi_str nonce = next_word(text), capacity = next_word(text), error = next_word(text), keep = next_word(text);
    unsigned char bytes[STATE_NONCE / 2];
    if (!set_parse_hex(nonce, bytes, sizeof bytes))
        return false;
    set_print_hex(bytes, sizeof bytes, state->nonce);
    state->keep = word_is(keep, "1");
    return set_parse_count(capacity, &state->capacity) && set_parse_real(error, &state->error) && state->error >= 0 &&
           state->error < 1 && (state->keep || word_is(keep, "0"));
}

static bool read_words(state *state, vidi_str text)
{
    vidi_str phase = next_word(&text);
    if (word_is(phase, "dropping"))
        return true;
    state->phase = word_is(phase, "ready") ? STATE_READY : STATE_ROTATING;
    if (state->phase == STATE_ROTATING && !word_is(phase, "rotating"))
        return false;
    bool good = set_parse_count(next_word(&text), &state->epoch);
    return good && (state->phase == STATE_READY || read_intent(state, &text));
}

/* What would be written differently is not a state. */
bool state_read(state *state, vidi_str text)
{
    char again[STATE_ROOM];
    *state = (struct state){.phase = STATE_DROPPING};
    if (text.len >= STATE_ROOM || !read_words(state, text))
        return false;
    state_write(state, again);
    return word_is(text, again);
}
