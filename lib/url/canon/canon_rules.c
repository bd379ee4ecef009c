/* Operations that rules of several profiles share: filtering and sorting parameters, rewriting parts. */
#include "url/canon/canon_rules.h"
#include "url/parse/percent.h"

/* Up to this many parameters are sorted without allocating. */
#define FEW_PARAMETERS 64

void vidi__canon_work_drop_query(vidi__canon_work *work)
{
    work->out->len = work->url.path_end;
    work->url.has_query = false;
}

bool vidi__is_nocase(vidi_str text, const char *lower)
{
    size_t i = 0;
    while (i < text.len && lower[i] && vidi__lower(text.ptr[i]) == lower[i])
        i++;
    return i == text.len && !lower[i];
}

bool vidi__all_alnum(vidi_str text)
{
    for (size_t i = 0; i < text.len; i++)
        if (!vidi__is_alpha(text.ptr[i]) && !vidi__is_digit(text.ptr[i]))
            return false;
    return true;
}

/* Returns true if there is a "(", 24 letters and digits, and a ")" at i. */
static bool is_asp_group(vidi_str segment, size_t i)
{
    return segment.len - i >= 26 && segment.ptr[i] == '(' && segment.ptr[i + 25] == ')' &&
           vidi__all_alnum((vidi_str){segment.ptr + i + 1, 24});
}

bool vidi__is_asp_session(vidi_str segment)
{
    if (segment.len == 26)
        return is_asp_group(segment, 0);
    size_t groups = segment.len < 29 ? 0 : (segment.len - 2) / 27;
    if (!groups || segment.len != 27 * groups + 2 || segment.ptr[0] != '(' || segment.ptr[segment.len - 1] != ')')
        return false;
    for (size_t i = 1; i < segment.len - 1; i += 27)
        if (!vidi__is_alpha(segment.ptr[i]) || !is_asp_group(segment, i + 1))
            return false;
    return true;
}

/* ---- parameters ---- */

static size_t piece_len(const char *at, const char *end)
{
    const char *sign = at < end ? memchr(at, '&', (size_t)(end - at)) : NULL;
    return (size_t)((sign ? sign : end) - at);
}

/* Splits "name=value"; *has_value tells whether there is a '='. */
static vidi_str name_of(vidi_str piece, vidi_str *value, bool *has_value)
{
    const char *equals = piece.len ? memchr(piece.ptr, '=', piece.len) : NULL;
    size_t len = equals ? (size_t)(equals - piece.ptr) : piece.len;
    *has_value = equals;
    *value = equals ? (vidi_str){equals + 1, piece.len - len - 1} : (vidi_str){piece.ptr + len, 0};
    return (vidi_str){piece.ptr, len};
}

void vidi__canon_work_filter(vidi__canon_work *work, vidi__keep *keep, bool tail)
{
    if (!work->url.has_query)
        return;
    char *query = work->out->at + work->url.path_end + 1, *end = work->out->at + work->out->len;
    char *to = query, *kept_end = query;
    bool any = false;
    for (char *at = query;;) {
        vidi_str piece = {at, piece_len(at, end)}, value;
        bool has_value, last = at + piece.len == end;
        vidi_str name = name_of(piece, &value, &has_value);
        if (keep(work, name, has_value ? &value : NULL)) {
            if (any && !tail)
                *to++ = '&';
            if (to != piece.ptr)
                memmove(to, piece.ptr, piece.len);
            to += piece.len;
            if (tail && !last)
                *to++ = '&';
            any = true;
            kept_end = to;
        }
        if (last)
            break;
        at += piece.len + 1;
    }
    work->out->len = (size_t)(kept_end - work->out->at);
    if (!any)
        vidi__canon_work_drop_query(work);
}

static bool is_not_empty(const vidi__canon_work *work, vidi_str name, const vidi_str *value)
{
    (void)work;
    return name.len || value;
}

void vidi__canon_work_drop_empty(vidi__canon_work *work)
{
    vidi__canon_work_filter(work, is_not_empty, false);
}

typedef struct parameter {
    const char *at;
    size_t len, name_len; /* of the whole parameter, and of its name */
    uint64_t key; /* the name's first 8 bytes as a big-endian number, padded with zeros: it sorts like the name */
} parameter;

/* Takes the next byte off the text: as it is, or what it stands for. */
static unsigned char next_byte(vidi_str *text, vidi__sort_by by)
{
    int byte = (unsigned char)text->ptr[0], escaped = -1;
    if (by == VIDI__BY_MEANING)
        escaped = vidi__unescape(text->ptr, text->len);
    size_t len = escaped >= 0 ? 3 : 1;
    text->ptr += len;
    text->len -= len;
    if (escaped >= 0)
        return (unsigned char)escaped;
    return by == VIDI__BY_MEANING && byte == '+' ? ' ' : (unsigned char)byte;
}

static parameter read_parameter(const char *at, const char *end, vidi__sort_by by)
{
    parameter p = {.at = at, .len = piece_len(at, end)};
    const char *equals = p.len ? memchr(at, '=', p.len) : NULL;
    p.name_len = equals ? (size_t)(equals - at) : p.len;
    vidi_str name = {at, p.name_len};
    for (size_t i = 0; i < 8; i++)
        p.key = p.key << 8 | (name.len ? next_byte(&name, by) : 0);
    return p;
}

int vidi__compare_bytes(vidi_str a, vidi_str b)
{
    size_t both = a.len < b.len ? a.len : b.len;
    int order = both ? memcmp(a.ptr, b.ptr, both) : 0;
    return order ? order : (a.len > b.len) - (a.len < b.len);
}

static int compare_meaning(vidi_str a, vidi_str b)
{
    while (a.len && b.len) {
        unsigned char x = next_byte(&a, VIDI__BY_MEANING), y = next_byte(&b, VIDI__BY_MEANING);
        if (x != y)
            return x < y ? -1 : 1;
    }
    return (a.len > 0) - (b.len > 0);
}

static int compare(const parameter *a, const parameter *b, vidi__sort_by by)
{
    int (*texts)(vidi_str, vidi_str) = by == VIDI__BY_MEANING ? compare_meaning : vidi__compare_bytes;
    if (a->key !=
        b->key) /* the padding sorts first; a name with zero bytes at its end has the key of the name without */
        return a->key < b->key ? -1 : 1;
    int order = texts((vidi_str){a->at, a->name_len}, (vidi_str){b->at, b->name_len});
    if (order || by == VIDI__BY_NAME)
        return order;
    return texts((vidi_str){a->at + a->name_len, a->len - a->name_len},
                 (vidi_str){b->at + b->name_len, b->len - b->name_len});
}

/* The number of parameters; 0 if they are sorted already. */
static size_t count_unsorted(const char *query, const char *end, vidi__sort_by by)
{
    size_t count = 1;
    bool sorted = true;
    parameter last = read_parameter(query, end, by);
    while (last.at + last.len < end) {
        parameter next = read_parameter(last.at + last.len + 1, end, by);
        sorted = sorted && compare(&last, &next, by) <= 0;
        count++;
        last = next;
    }
    return sorted ? 0 : count;
}

/* Merge sort: merges runs of 1, 2, 4, … parameters between the two arrays, and returns the sorted one. */
static parameter *merge_sort(parameter *from, parameter *to, size_t count, vidi__sort_by by)
{
    for (size_t run = 1; run < count; run *= 2) {
        for (size_t begin = 0; begin < count; begin += 2 * run) {
            size_t a = begin, b = begin + run < count ? begin + run : count, middle = b;
            size_t end = count - b > run ? b + run : count;
            for (size_t i = begin; i < end; i++) {
                bool first = b == end || (a < middle && compare(&from[a], &from[b], by) <= 0);
                to[i] = first ? from[a++] : from[b++];
            }
        }
        parameter *swap = from;
        from = to;
        to = swap;
    }
    return from;
}

/* Sorts with room for twice the parameters, and a text buffer of the query's size. */
static void sort_in(vidi__canon_work *work, parameter *room, char *text, size_t count, vidi__sort_by by)
{
    char *query = work->out->at + work->url.path_end + 1, *end = work->out->at + work->out->len;
    const char *at = query;
    for (size_t i = 0; i < count; i++) {
        room[i] = read_parameter(at, end, by);
        at += room[i].len + 1;
    }
    parameter *sorted = merge_sort(room, room + count, count, by);
    char *to = text;
    for (size_t i = 0; i < count; i++) {
        if (i)
            *to++ = '&';
        memcpy(to, sorted[i].at, sorted[i].len);
        to += sorted[i].len;
    }
    memcpy(query, text, (size_t)(end - query));
}

void vidi__canon_work_sort(vidi__canon_work *work, vidi__sort_by by)
{
    if (!work->url.has_query)
        return;
    vidi__buffer *out = work->out;
    size_t begin = work->url.path_end + 1, bytes = out->len - begin;
    size_t count = count_unsorted(out->at + begin, out->at + out->len, by);
    if (!count)
        return;
    parameter few[2 * FEW_PARAMETERS];
    char text[1024];
    if (count <= FEW_PARAMETERS && bytes <= sizeof text) {
        sort_in(work, few, text, count, by);
        return;
    }
    char *room = NULL;
    uint64_t need = 2 * (uint64_t)count * sizeof *few + bytes;
    out->error = out->error ? out->error : vidi__alloc(out->memory, &room, need, _Alignof(parameter));
    if (!room)
        return;
    sort_in(work, (parameter *)(void *)room, room + 2 * count * sizeof *few, count, by);
    vidi__release(out->memory, room, need, _Alignof(parameter));
}

/* ---- parts ---- */

void vidi__canon_work_cut_host(vidi__canon_work *work, size_t bytes)
{
    vidi__buffer *out = work->out;
    vidi__url *url = &work->url;
    char *host = out->at + url->host_begin;
    memmove(host, host + bytes, out->len - url->host_begin - bytes);
    out->len -= bytes;
    url->host_end -= bytes;
    url->authority_end -= bytes;
    url->path_begin -= bytes;
    url->path_end -= bytes;
}

size_t vidi__canon_work_percents(const vidi__canon_work *work, size_t begin, size_t end)
{
    size_t more = 0;
    for (size_t i = begin; i < end; i++)
        more += work->out->at[i] == '%' ? 2 : 0;
    return more;
}

size_t vidi__canon_work_rewrite(vidi__canon_work *work, size_t begin, size_t end, size_t more, vidi__rewrite *rewrite)
{
    vidi__buffer *out = work->out;
    if (!more || !vidi__buffer_reserve(out, more))
        return end;
    char *at = out->at + begin;
    memmove(at + more, at, out->len - begin);
    size_t len = rewrite(at, at + more, end - begin);
    memmove(at + len, out->at + end + more, out->len - end);
    out->len = out->len - end + begin + len;
    return begin + len;
}

static size_t rewrite_escapes(vidi__canon_work *work, size_t begin, size_t end, vidi__rewrite *rewrite)
{
    return vidi__canon_work_rewrite(work, begin, end, vidi__canon_work_percents(work, begin, end), rewrite);
}

void vidi__canon_work_rewrite_both(vidi__canon_work *work, vidi__rewrite *rewrite)
{
    vidi__url *url = &work->url;
    url->path_end = rewrite_escapes(work, url->path_begin, url->path_end, rewrite);
    if (url->has_query)
        rewrite_escapes(work, url->path_end + 1, work->out->len, rewrite);
}

/* ---- escapes ---- */

char *vidi__escape(char *to, unsigned char byte)
{
    static const char digits[] = "0123456789ABCDEF";
    to[0] = '%';
    to[1] = digits[byte >> 4];
    to[2] = digits[byte & 15];
    return to + 3;
}

size_t vidi__normalise_escapes(char *to, const char *from, size_t len, bool (*is_decoded)(unsigned char byte))
{
    char *at = to;
    for (size_t i = 0; i < len; i++) {
        int byte = vidi__unescape(from + i, len - i);
        if (from[i] != '%') {
            *at++ = from[i];
        } else if (byte >= 0 && is_decoded((unsigned char)byte)) {
            *at++ = (char)byte;
        } else {
            at = vidi__escape(at, byte >= 0 ? (unsigned char)byte : '%');
        }
        i += byte >= 0 ? 2 : 0;
    }
    return (size_t)(at - to);
}
