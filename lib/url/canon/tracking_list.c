/*
 * Patterns for names of parameters, read once and matched often. Patterns are grouped by their first byte, so that a
 * name is compared with a handful of them. What follows a '*' is looked for at its first place, and when that turns out
 * wrong at the next: time is at most the product of the two lengths, and patterns are short.
 */
#include "url/canon/canon_rules.h"

#include <pthread.h>

#define PATTERN_MAX 200
#define PATTERNS_MAX 10000
#define FNV_OFFSET UINT64_C(0xcbf29ce484222325)

/* From data/tracking.txt, made by cmake/Tracking.cmake: patterns in lower case, and room for them in both orders. */
extern const char *const vidi__tracking_lines[];
extern vidi_str vidi__tracking_room[];
extern const size_t vidi__tracking_count;

/* The state of reading a list. The first of two passes counts, the second copies. */
typedef struct reader {
    vidi_str *list;
    char *text; /* where the text is copied to, in lower case; NULL: nowhere */
    size_t count, bytes;
    uint64_t digest;
} reader;

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static int add_pattern(reader *r, vidi_str pattern)
{
    if (pattern.len > PATTERN_MAX)
        return vidi__fail(VIDI_EOPTION, "the pattern \"%.*s…\" is longer than %d bytes", VIDI__QUOTE(pattern),
                          PATTERN_MAX);
    if (r->count == PATTERNS_MAX)
        return vidi__fail(VIDI_EOPTION, "there are more than %d patterns", PATTERNS_MAX);
    for (size_t i = 0; i < pattern.len; i++) {
        char c = vidi__lower(pattern.ptr[i]);
        if (is_blank(c) || c == '&' || c == '=')
            return vidi__fail(VIDI_EOPTION, "\"%.*s\" cannot be the name of a parameter", VIDI__QUOTE(pattern));
        r->digest = (r->digest ^ (unsigned char)c) * 0x100000001b3u; /* FNV-1a */
        if (r->text)
            r->text[r->bytes + i] = c;
    }
    r->digest = (r->digest ^ '\n') * 0x100000001b3u;
    if (r->list)
        r->list[r->count] = (vidi_str){r->text ? r->text + r->bytes : pattern.ptr, pattern.len};
    r->count++;
    r->bytes += pattern.len;
    return VIDI_OK;
}

static int add_builtin(reader *r)
{
    for (size_t i = 0; i < vidi__tracking_count; i++)
        VIDI__TRY(add_pattern(r, (vidi_str){vidi__tracking_lines[i], strlen(vidi__tracking_lines[i])}));
    return VIDI_OK;
}

static int read_list(reader *r, const char *text)
{
    while (*text) {
        vidi_str line = {text, strcspn(text, "\n")};
        text += line.len + (text[line.len] == '\n');
        while (line.len && is_blank(line.ptr[line.len - 1]))
            line.len--;
        for (; line.len && is_blank(line.ptr[0]); line.len--)
            line.ptr++;
        if (!line.len || line.ptr[0] == '#')
            continue;
        VIDI__TRY(vidi__str_is(line, "@builtin") ? add_builtin(r) : add_pattern(r, line));
    }
    return VIDI_OK;
}

/* Groups the patterns by their first byte, in the order in which they were given. */
static void group(vidi__globs *globs, const vidi_str *list)
{
    for (size_t i = 0; i < globs->count; i++)
        globs->first[(unsigned char)list[i].ptr[0] + 2]++;
    for (size_t b = 2; b < VIDI__COUNT(globs->first); b++)
        globs->first[b] += globs->first[b - 1];
    for (size_t i = 0; i < globs->count; i++)
        globs->list[globs->first[(unsigned char)list[i].ptr[0] + 1]++] = list[i];
}

int vidi__globs_make(vidi__form *form, vidi__memory *memory, const char *text)
{
    reader count = {.digest = FNV_OFFSET};
    VIDI__TRY(read_list(&count, text));
    size_t lists = 2 * count.count * sizeof(vidi_str);
    form->arena_bytes = lists + count.bytes;
    VIDI__TRY(vidi__alloc(memory, &form->arena, form->arena_bytes, _Alignof(vidi_str)));
    vidi__globs *globs = &form->tracking;
    globs->count = count.count;
    globs->digest = count.digest;
    if (!count.count)
        return VIDI_OK;
    globs->list = (vidi_str *)(void *)form->arena;
    reader copy = {.digest = FNV_OFFSET, .list = globs->list + count.count, .text = form->arena + lists};
    VIDI__TRY(read_list(&copy, text));
    group(globs, copy.list);
    return VIDI_OK;
}

static vidi__globs builtin;

static void make_builtin(void)
{
    reader copy = {.digest = FNV_OFFSET, .list = vidi__tracking_room + vidi__tracking_count};
    (void)add_builtin(&copy); /* the list is a part of the program, and a test reads it as a user's */
    builtin.list = vidi__tracking_room;
    builtin.count = copy.count;
    builtin.digest = copy.digest;
    group(&builtin, copy.list);
}

const vidi__globs *vidi__globs_builtin(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_builtin);
    return &builtin;
}

static bool matches(vidi_str pattern, vidi_str name)
{
    size_t p = 0, n = 0, star = SIZE_MAX, from = 0;
    while (n < name.len) {
        if (p < pattern.len && pattern.ptr[p] == '*') {
            star = p++;
            from = n;
        } else if (p < pattern.len && pattern.ptr[p] == vidi__lower(name.ptr[n])) {
            p++;
            n++;
        } else if (star != SIZE_MAX) {
            p = star + 1;
            n = ++from;
        } else {
            return false;
        }
    }
    while (p < pattern.len && pattern.ptr[p] == '*')
        p++;
    return p == pattern.len;
}

/* Returns true if they must be compared: the first bytes are the same, and the second ones rule out most patterns. */
static inline bool may_match(vidi_str pattern, vidi_str name)
{
    return pattern.len < 2 || pattern.ptr[1] == '*' || (name.len > 1 && vidi__lower(name.ptr[1]) == pattern.ptr[1]);
}

static bool match_group(const vidi__globs *globs, unsigned char first, vidi_str name)
{
    for (size_t i = globs->first[first]; i < globs->first[first + 1]; i++)
        if ((first == '*' || may_match(globs->list[i], name)) && matches(globs->list[i], name))
            return true;
    return false;
}

bool vidi__globs_match(const vidi__globs *globs, vidi_str name)
{
    return (name.len && match_group(globs, (unsigned char)vidi__lower(name.ptr[0]), name)) ||
           match_group(globs, '*', name);
}
