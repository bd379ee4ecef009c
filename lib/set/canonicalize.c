/*
 * From a caller's batch to chunks in canonical form.
 *
 * All of this happens before the set's lock is taken. Most URLs are in canonical form already: then the chunk is the
 * caller's own array and nothing is copied. Otherwise the forms are written one after the other into one buffer on the
 * stack, and a chunk ends when that is full. Memory is allocated only for a URL that is too long for the buffer, and
 * such a URL ends its chunk too. So a batch needs no more memory than its longest URL alone, and whatever can fail
 * fails as it would in a loop over single URLs.
 */
#include "set/set.h"

#include "url/quick/is_canonical.h"

#define TEXT_BYTES (32 * 1024)

/* No canonical form begins with a zero byte, so this byte tells invalid lines from forms that need not be URLs. */
static const char invalid_prefix = 0;

/* A code beside those of vidi.h: this chunk has no room left for the URL, but the next one will. */
enum { CHUNK_ENDS = 1000 };

/* A chunk in which not every URL is in canonical form. */
typedef struct chunk {
    vidi__selection selection;
    size_t count;   /* entries that go on to the filter */
    size_t invalid; /* entries that are not URLs, whether they go on or not */
    vidi_str list[VIDI__HASHES_MAX];
    vidi__buffer text; /* forms that had to be written; it never moves, because the list points into it */
    char room[TEXT_BYTES];
} chunk;

/* How many of the URLs, from the first one on, are in canonical form already. */
static size_t count_canonical(const vidi_set *set, const vidi_str *urls, size_t n)
{
    size_t i = 0;
    if (set->output == VIDI__OUTPUT_BYTES)
        while (i < n && (urls[i].ptr || !urls[i].len))
            i++;
    else if (set->output == VIDI__OUTPUT_STANDARD)
        i = vidi__url_count_canonical(urls, n);
    else
        while (i < n && urls[i].ptr && vidi__canon_keeps(set->canon, urls[i]))
            i++;
    return i;
}

bool vidi__is_in_form(const vidi_set *set, vidi_str url)
{
    return count_canonical(set, &url, 1) == 1;
}

/*
 * Returns true if the chunk has room for this many more bytes. The first URL always fits; after one that needed memory
 * nothing does.
 */
static bool has_room(const chunk *self, size_t bytes)
{
    return !self->selection.taken || (!self->text.grown && bytes < self->text.room - self->text.len);
}

/* The canonical form of a URL; it is in self->text if it had to be written. */
static int make_form(chunk *self, const vidi_set *set, vidi_str url, vidi_str *form)
{
    vidi__buffer *text = &self->text;
    VIDI__TRY(vidi__items_check(url));
    if (!has_room(self, url.len < SIZE_MAX / 4 ? 4 * url.len : SIZE_MAX)) /* escapes take three bytes for one */
        return CHUNK_ENDS;
    vidi__buffer piece = vidi__buffer_in(text->at + text->len, text->room - text->len, text->memory);
    int code = vidi__canon_form(set->canon, url, &piece, form);
    if (code == VIDI_OK && !piece.grown)
        text->len += piece.len;
    else if (code == VIDI_OK)
        *text = piece; /* earlier forms stay where they are, in self->room */
    else
        vidi__buffer_free(&piece);
    return code;
}

/* The text that stands for a line that is not a URL and is kept. */
static int keep_invalid(chunk *self, const vidi_set *set, vidi_str line, vidi_str *form)
{
    vidi__buffer *text = &self->text;
    *form = line;
    if (set->output != VIDI__OUTPUT_KEY)
        return VIDI_OK; /* forms are URLs, so they never equal this line */
    if (!has_room(self, line.len))
        return CHUNK_ENDS;
    size_t begin = text->len;
    vidi__buffer_add(text, &invalid_prefix, 1);
    vidi__buffer_add(text, line.ptr, line.len);
    *form = (vidi_str){text->at + begin, text->len - begin};
    return text->error;
}

bool vidi__is_kept_line(const vidi_set *set, vidi_str *text)
{
    if (set->output == VIDI__OUTPUT_BYTES || vidi__is_in_form(set, *text))
        return false;
    if (set->output == VIDI__OUTPUT_KEY) {
        bool kept = text->len && text->ptr[0] == invalid_prefix;
        if (kept)
            *text = (vidi_str){text->ptr + 1, text->len - 1};
        return kept;
    }
    char room[2048];
    vidi__quiet quiet;
    vidi__buffer out = vidi__buffer_in(room, sizeof room, (vidi__memory *)&set->memory);
    vidi__quiet_begin(&quiet);
    int code = vidi__canon_form(set->canon, *text, &out, &(vidi_str){NULL, 0});
    vidi__quiet_end(&quiet, VIDI_OK);
    vidi__buffer_free(&out);
    return code == VIDI_INVALID || code == VIDI__NOT_URL;
}

static int take_invalid(chunk *self, const vidi_set *set, vidi_str line, vidi_str *form)
{
    if (set->invalid == VIDI_FAIL_INVALID)
        return VIDI__NOT_URL;
    if (set->invalid == VIDI_KEEP_INVALID)
        VIDI__TRY(keep_invalid(self, set, line, form));
    return VIDI_INVALID;
}

/* Fills the chunk with as many of n URLs as fit, of which the first `canonical` need no work. On error, with none. */
static int fill(chunk *self, const vidi_set *set, const vidi_str *urls, size_t n, size_t canonical)
{
    vidi__selection *selection = &self->selection;
    self->text = vidi__buffer_in(self->room, sizeof self->room, &((vidi_set *)set)->memory);
    self->count = selection->taken = canonical;
    self->invalid = selection->left_out = 0;
    if (canonical)
        memcpy(self->list, urls, canonical * sizeof *urls);
    for (; selection->taken < n; selection->taken++) {
        vidi_str form;
        int code = make_form(self, set, urls[selection->taken], &form);
        bool invalid = code == VIDI_INVALID;
        if (invalid)
            code = take_invalid(self, set, urls[selection->taken], &form);
        if (code < 0 || code == CHUNK_ENDS)
            return selection->taken ? VIDI_OK : code; /* the error comes up again at the head of the next chunk */
        if (invalid)
            selection->places[self->invalid++] = (uint16_t)selection->taken;
        if (!invalid || set->invalid == VIDI_KEEP_INVALID)
            self->list[self->count++] = form;
        else
            selection->left_out++;
    }
    return VIDI_OK;
}

void vidi__put_back(const vidi__selection *selection, const vidi__work *work)
{
    size_t left = selection->left_out, from = selection->taken - left;
    for (size_t i = selection->taken; left > 0;) { /* from the last to the first, so nothing is overwritten */
        bool left_out = selection->places[left - 1] == --i;
        left -= left_out;
        from -= !left_out;
        if (left_out)
            continue;
        work->verdicts[i] = work->verdicts[from];
        if (work->digests)
            work->digests[i] = work->digests[from];
        if (work->marks)
            work->marks[i] = work->marks[from];
    }
}

/* Answers VIDI_INVALID for the entries that were left out. */
static void answer_invalid(const vidi__selection *selection, const vidi__work *part)
{
    for (size_t i = 0; i < selection->left_out; i++) {
        part->verdicts[selection->places[i]] = VIDI_INVALID;
        if (part->digests)
            part->digests[selection->places[i]] = (vidi_digest){0, 0};
    }
}

/* Counts the invalid lines of the chunk that were dealt with. */
static void count_invalid(vidi_set *set, const chunk *self, const uint8_t *verdicts, _Atomic uint64_t *counter)
{
    uint64_t tried = 0;
    for (size_t i = 0; i < self->invalid; i++)
        tried += verdicts[self->selection.places[i]] != VIDI_UNTRIED;
    if (!tried || !counter)
        return;
    vidi__lock_shared(set);
    atomic_fetch_add_explicit(counter, tried, memory_order_relaxed);
    vidi__unlock(set);
}

/*
 * Not inlined: its frame is large, and most chunks do without it. Returns how many URLs it took in *n. Quiet about
 * lines that are not URLs, unless the call is about one alone.
 */
static __attribute__((noinline)) int run_mixed(vidi_set *set, const vidi__work *part, size_t *n, size_t canonical,
                                               vidi__chunk_fn *fn, _Atomic uint64_t *counter)
{
    chunk self;
    vidi__quiet quiet;
    vidi__quiet_begin(&quiet);
    int code = fill(&self, set, part->urls, *n, canonical);
    if (code == VIDI_OK) {
        vidi__work work = *part;
        work.urls = self.list;
        work.count = self.count;
        code = fn(set, &work);
        vidi__put_back(&self.selection, part);
        answer_invalid(&self.selection, part);
        count_invalid(set, &self, part->verdicts, counter);
    }
    *n = self.selection.taken;
    vidi__buffer_free(&self.text);
    return vidi__quiet_end(&quiet, code == VIDI_OK && part->single ? part->verdicts[0] : code);
}

int vidi__for_chunks(vidi_set *set, const vidi__work *batch, vidi__chunk_fn *fn, _Atomic uint64_t *counter)
{
    for (size_t done = 0, taken; done < batch->count; done += taken) {
        vidi__work part = vidi__work_part(batch, done, VIDI__HASHES_MAX);
        taken = part.count;
        size_t canonical = count_canonical(set, part.urls, taken);
        VIDI__TRY(canonical == taken ? fn(set, &part) : run_mixed(set, &part, &taken, canonical, fn, counter));
    }
    return VIDI_OK;
}

static __attribute__((noinline)) int run_single(vidi_set *set, vidi_str url, vidi__single_fn *fn, uint64_t *answer)
{
    chunk self;
    vidi__quiet quiet;
    vidi__quiet_begin(&quiet);
    int code = fill(&self, set, &url, 1, 0);
    if (code == VIDI_OK)
        code = self.count ? fn(set, self.list[0], answer) : VIDI_INVALID;
    vidi__buffer_free(&self.text);
    return vidi__quiet_end(&quiet, code);
}

int vidi__for_single(vidi_set *set, vidi_str url, vidi__single_fn *fn, uint64_t *answer)
{
    return vidi__is_canonical(set, url) ? fn(set, url, answer) : run_single(set, url, fn, answer);
}
