/*
 * Canonical forms on their way into a set: URLs as they were found become what the filter is asked for.
 *
 * All of it happens before the set's lock is taken. Most URLs are in their form already, and nothing is copied then.
 * The forms of the others are written one after the other into one piece of the stack, and a chunk ends where that is
 * full: memory is allocated only for a URL that is too long for it, and ends the chunk too. So a batch needs no more
 * memory than its longest URL alone, and what can fail fails as it does in a loop over single URLs.
 */
#include "set/set.h"

#include "url/is_canonical.h"

/* What is kept though it is no URL, where forms need not be URLs: no form begins with a zero byte. */
static const char mark = 0;

/* A code beside those of vidi.h: no room, but there will be some in the next chunk. */
enum { CHUNK_ENDS = 1000 };

size_t vidi__forms_ready(const vidi_set *set, const vidi_str *urls, size_t n)
{
    size_t i = 0;
    if (set->output == VIDI__OUTPUT_BYTES)
        return n;
    if (set->output == VIDI__OUTPUT_STANDARD)
        while (i < n && urls[i].ptr && vidi__url_is_canonical(urls[i]))
            i++;
    else
        while (i < n && urls[i].ptr && vidi__canon_keeps(set->canon, urls[i]))
            i++;
    return i;
}

/* Has the chunk room for so many bytes more? The first URL has, and behind one that took memory of its own none has. */
static bool has_room(const vidi__forms *forms, size_t bytes)
{
    return !forms->taken || (!forms->text.grown && bytes < forms->text.room - forms->text.len);
}

/* The form of a URL, in forms->text if it has to be written. */
static int make_form(vidi__forms *forms, const vidi_set *set, vidi_str url, vidi_str *form)
{
    vidi__buffer *text = &forms->text;
    VIDI__TRY(vidi__items_check(url));
    if (!has_room(forms, url.len < SIZE_MAX / 4 ? 4 * url.len : SIZE_MAX)) /* escapes take three bytes for one */
        return CHUNK_ENDS;
    vidi__buffer piece = vidi__buffer_in(text->at + text->len, text->room - text->len, text->memory);
    int code = vidi__canon_form(set->canon, url, &piece, form);
    if (code == VIDI_OK && !piece.grown)
        text->len += piece.len;
    else if (code == VIDI_OK)
        *text = piece; /* what is written before it stays where it is, in forms->room */
    else
        vidi__buffer_free(&piece);
    return code;
}

/* What stands for bytes that are no URL. */
static int keep(vidi__forms *forms, const vidi_set *set, vidi_str url, vidi_str *form)
{
    vidi__buffer *text = &forms->text;
    *form = url;
    if (set->output != VIDI__OUTPUT_KEY)
        return VIDI_OK; /* forms are URLs, and this is none */
    if (!has_room(forms, url.len))
        return CHUNK_ENDS;
    size_t begin = text->len;
    vidi__buffer_add(text, &mark, 1);
    vidi__buffer_add(text, url.ptr, url.len);
    *form = (vidi_str){text->at + begin, text->len - begin};
    return text->error;
}

static int take_invalid(vidi__forms *forms, const vidi_set *set, vidi_str url, vidi_str *form)
{
    if (set->invalid == VIDI_FAIL_INVALID)
        return VIDI__NOT_URL;
    if (set->invalid == VIDI_KEEP_INVALID)
        VIDI__TRY(keep(forms, set, url, form));
    return VIDI_INVALID;
}

int vidi__forms_make(vidi__forms *forms, const vidi_set *set, const vidi_str *urls, size_t n, size_t ready)
{
    forms->text = vidi__buffer_in(forms->room, sizeof forms->room, &((vidi_set *)set)->memory);
    forms->count = forms->taken = ready;
    forms->invalid = 0;
    if (ready)
        memcpy(forms->list, urls, ready * sizeof *urls);
    for (; forms->taken < n; forms->taken++) {
        vidi_str form;
        int code = make_form(forms, set, urls[forms->taken], &form);
        bool invalid = code == VIDI_INVALID;
        if (invalid)
            code = take_invalid(forms, set, urls[forms->taken], &form);
        if (code < 0 || code == CHUNK_ENDS)
            return forms->taken ? VIDI_OK : code; /* what is wrong with it comes up again at the head of a chunk */
        if (invalid)
            forms->places[forms->invalid++] = (uint16_t)forms->taken;
        if (!invalid || set->invalid == VIDI_KEEP_INVALID)
            forms->list[forms->count++] = form;
    }
    return VIDI_OK;
}

void vidi__forms_free(vidi__forms *forms)
{
    vidi__buffer_free(&forms->text);
}

void vidi__forms_scatter(const vidi__forms *forms, const uint8_t *from, uint8_t *verdicts)
{
    size_t next = 0, place = 0;
    for (size_t i = 0; i < forms->taken; i++) {
        bool left_out = place < forms->invalid && forms->places[place] == i;
        verdicts[i] = left_out ? VIDI_INVALID : from[next];
        place += left_out;
        next += !left_out;
    }
}
