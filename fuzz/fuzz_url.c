/*
 * URLs as pages have them: a line with a base, then a reference, which may contain any byte. What vidi_url_parse writes
 * must parse to itself, and its parts must add up to the whole; so must resolved references. The canonical form of a
 * canonical form is itself, in every version and with any rules switched off or on. A view of a URL has its parts.
 */
#include <string.h>

#include "fuzz.h"
#include "vidi/url.h"

/* An accepted URL, in a block of exactly its size, so that the sanitizer detects overruns. */
typedef struct taken {
    vidi_url url;
    char *buffer;
} taken;

static bool same(vidi_str a, vidi_str b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

/* False if it is not a URL. Gets the length first, and tries a buffer that is one byte too small. */
static bool take(vidi_str input, const vidi_str *base, taken *out)
{
    size_t len = 0;
    *out = (taken){.url = {.size = sizeof out->url}};
    int result = vidi_url_parse(input, base, NULL, &len, &out->url);
    FUZZ_CHECK(result == VIDI_ELIMIT || result == VIDI_INVALID);
    FUZZ_CHECK(*vidi_message() && !out->url.href.ptr);
    if (result == VIDI_INVALID) {
        FUZZ_CHECK(len == 0);
        return false;
    }
    size_t need = len;
    out->buffer = malloc(need);
    FUZZ_CHECK(out->buffer);
    len = need - 1;
    FUZZ_CHECK(vidi_url_parse(input, base, out->buffer, &len, &out->url) == VIDI_ELIMIT && len == need);
    FUZZ_CHECK(vidi_url_parse(input, base, out->buffer, &len, &out->url) == VIDI_OK && len == need);
    FUZZ_CHECK(out->url.href.ptr == out->buffer && out->url.href.len == need);
    return true;
}

static void add(char *to, size_t *len, vidi_str part)
{
    if (part.len)
        memcpy(to + *len, part.ptr, part.len);
    *len += part.len;
}

/* Checks that a view of the URL has the same parts, at the same places. */
static void check_view(const taken *t)
{
    vidi_url view = {.size = sizeof view};
    FUZZ_CHECK(vidi_url_view(t->url.href, &view) == VIDI_OK);
    FUZZ_CHECK(memcmp(&view, &t->url, offsetof(vidi_url, flags) + sizeof view.flags) == 0);
}

/* A view of text that may not be a URL: each part lies in the text. */
static void check_any_view(vidi_str text)
{
    vidi_url view = {.size = sizeof view};
    int result = vidi_url_view(text, &view);
    FUZZ_CHECK(result == VIDI_OK || (result == VIDI_INVALID && *vidi_message() && !view.href.ptr));
    const vidi_str parts[] = {view.scheme, view.username, view.password, view.host,
                              view.port,   view.path,     view.query,    view.fragment};
    for (size_t i = 0; i < FUZZ_COUNT(parts); i++)
        FUZZ_CHECK(!parts[i].ptr || (parts[i].ptr >= text.ptr && parts[i].len <= text.len &&
                                     (size_t)(parts[i].ptr - text.ptr) <= text.len - parts[i].len));
}

/* Checks that the parts, joined by the rules of the standard's serialiser, give the whole URL. */
static void check_parts(const taken *t)
{
    static const vidi_str colon = FUZZ_STR(":"), slashes = FUZZ_STR("//"), sign = FUZZ_STR("@"), dot = FUZZ_STR("/."),
                          question = FUZZ_STR("?"), hash = FUZZ_STR("#"), none = {NULL, 0};
    const vidi_url *u = &t->url;
    bool two = u->path.len >= 2 && memcmp(u->path.ptr, "//", 2) == 0;
    bool named = u->username.len || u->password.len;
    const vidi_str parts[] = {
        u->scheme,
        colon,
        u->host.ptr ? slashes : none,
        u->username,
        u->password.len ? colon : none,
        u->password,
        named ? sign : none,
        u->host,
        u->port.ptr ? colon : none,
        u->port,
        !u->host.ptr && two && !(u->flags & VIDI_URL_HAS_OPAQUE_PATH) ? dot : none,
        u->path,
        u->query.ptr ? question : none,
        u->query,
        u->fragment.ptr ? hash : none,
        u->fragment,
    };
    size_t sum = 0, len = 0;
    for (size_t i = 0; i < FUZZ_COUNT(parts); i++)
        sum += parts[i].len;
    FUZZ_CHECK(sum == u->href.len);
    char *whole = malloc(sum);
    FUZZ_CHECK(whole);
    for (size_t i = 0; i < FUZZ_COUNT(parts); i++)
        add(whole, &len, parts[i]);
    FUZZ_CHECK(same((vidi_str){whole, len}, u->href));
    free(whole);
    for (size_t i = 0; i < u->href.len; i++)
        FUZZ_CHECK(u->href.ptr[i] >= 0x20 && u->href.ptr[i] < 0x7f);
}

static void check_same(const taken *a, const taken *b)
{
    FUZZ_CHECK(same(a->url.href, b->url.href));
    FUZZ_CHECK(same(a->url.host, b->url.host) && same(a->url.path, b->url.path) && same(a->url.port, b->url.port));
    FUZZ_CHECK(same(a->url.username, b->url.username) && same(a->url.password, b->url.password));
    FUZZ_CHECK(a->url.host_kind == b->url.host_kind && a->url.flags == b->url.flags);
    FUZZ_CHECK(a->url.port_number == b->url.port_number);
}

/* Checks that parsing the URL again gives the same, alone, against a base, and by an empty reference. */
static void check_itself(const taken *t, const vidi_str *base)
{
    taken again;
    FUZZ_CHECK(take(t->url.href, NULL, &again));
    check_same(t, &again);
    free(again.buffer);
    if (base) {
        FUZZ_CHECK(take(t->url.href, base, &again));
        check_same(t, &again);
        free(again.buffer);
    }
    bool took = take((vidi_str){NULL, 0}, &t->url.href, &again);
    FUZZ_CHECK(took == !(t->url.flags & VIDI_URL_HAS_OPAQUE_PATH));
    if (took) {
        size_t fragment = t->url.fragment.ptr ? t->url.fragment.len + 1 : 0;
        FUZZ_CHECK(same(again.url.href, (vidi_str){t->url.href.ptr, t->url.href.len - fragment}));
    }
    free(again.buffer);
}

/* ---- canonical forms ---- */

/* The first form keeps all that the others keep, so its output has the same canonical form. URLs come before keys. */
enum { URLS = 14, FORMS = 17 };
static const char *const forms[FORMS] = {"whatwg,+fragment",
                                         "whatwg",
                                         "crawl",
                                         "crawl,-empty",
                                         "crawl,-percent",
                                         "crawl,-slashes",
                                         "crawl,-session",
                                         "crawl,-tracking",
                                         "crawl,-index",
                                         "crawl,-percent,-slashes,-empty,-sort",
                                         "crawl,+www,+scheme,+slash,+fragment",
                                         "crawl,+slash,-slashes,-percent",
                                         "crawl,+slash,+scheme,-index,-session",
                                         "w3lib",
                                         "surt",
                                         "surt,-percent,-path,+scheme",
                                         "key=host"};
static vidi_canon *canons[FORMS];

/* The canonical form, in a block of its size; ptr is NULL if there is none. Checks that a smaller buffer is refused. */
static vidi_str canonical(const vidi_canon *canon, vidi_str input, const vidi_str *base)
{
    size_t len = 0;
    int result = vidi_url_canon(canon, input, base, NULL, &len);
    FUZZ_CHECK(result == VIDI_ELIMIT || result == VIDI_INVALID);
    if (result == VIDI_INVALID)
        return (vidi_str){NULL, 0};
    size_t need = len;
    char *buffer = malloc(need);
    FUZZ_CHECK(buffer && need);
    len = need - 1;
    FUZZ_CHECK(vidi_url_canon(canon, input, base, buffer, &len) == VIDI_ELIMIT && len == need);
    FUZZ_CHECK(vidi_url_canon(canon, input, base, buffer, &len) == VIDI_OK && len == need);
    return (vidi_str){buffer, need};
}

static void check_again(const vidi_canon *canon, vidi_str once)
{
    vidi_str twice = canonical(canon, once, NULL);
    FUZZ_CHECK(same(once, twice));
    free((char *)twice.ptr);
}

/* Follows the changes: each begins where the last one ended. */
typedef struct steps {
    char *text;
    size_t len;
} steps;

static int follow(void *context, const vidi_canon_change *step)
{
    steps *s = context;
    FUZZ_CHECK(*step->rule && !same(step->before, step->after));
    if (s->text)
        FUZZ_CHECK(same(step->before, (vidi_str){s->text, s->len}));
    free(s->text);
    s->text = malloc(step->after.len + 1);
    s->len = step->after.len;
    FUZZ_CHECK(s->text);
    memcpy(s->text, step->after.ptr, s->len);
    return 0;
}

static void check_steps(const vidi_canon *canon, vidi_str input, const vidi_str *base, vidi_str want)
{
    steps s = {NULL, 0};
    FUZZ_CHECK(vidi_url_explain(canon, input, base, follow, &s) == VIDI_OK);
    FUZZ_CHECK(same(s.text ? (vidi_str){s.text, s.len} : input, want));
    free(s.text);
}

static void check_form(size_t i, vidi_str input, const vidi_str *base, vidi_str plain)
{
    vidi_str once = canonical(canons[i], input, base);
    if (!once.ptr)
        return;
    check_steps(canons[i], input, base, once);
    if (i < URLS) {
        check_again(canons[i], once);
        check_again(canons[0], once);
    }
    vidi_str of_plain = canonical(canons[i], plain, NULL);
    FUZZ_CHECK(same(once, of_plain));
    free((char *)of_plain.ptr);
    free((char *)once.ptr);
}

static void check_canonical(vidi_str input, const vidi_str *base)
{
    for (size_t i = 0; i < FORMS; i++)
        if (!canons[i])
            FUZZ_CHECK(vidi_canon_create(&canons[i], forms[i], NULL, NULL) == VIDI_OK);
    vidi_str plain = canonical(canons[0], input, base);
    FUZZ_CHECK(plain.ptr);
    for (size_t i = 0; i < FORMS; i++)
        if (i == 0 || i >= URLS || i % 4 == input.len % 4) /* a quarter of the others, so that the fuzzer gets on */
            check_form(i, input, base, plain);
    free((char *)plain.ptr);
}

/* With a larger buffer, most URLs take a shorter path through the parser. It must give the same result. */
static void check_roomy(vidi_str input, const vidi_str *base, const taken *t)
{
    taken roomy = {.url = {.size = sizeof roomy.url}};
    size_t len = t->url.href.len + input.len + 64;
    roomy.buffer = malloc(len);
    FUZZ_CHECK(roomy.buffer && vidi_url_parse(input, base, roomy.buffer, &len, &roomy.url) == VIDI_OK);
    check_parts(&roomy);
    check_same(t, &roomy);
    free(roomy.buffer);
}

static void check_url(vidi_str input, const vidi_str *base)
{
    taken t;
    check_any_view(input);
    if (take(input, base, &t)) {
        check_view(&t);
        check_parts(&t);
        check_roomy(input, base, &t);
        check_itself(&t, base);
        check_canonical(input, base);
    }
    free(t.buffer);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;
    const char *line = size ? memchr(text, '\n', size) : NULL;
    size_t first = line ? (size_t)(line - text) : size;
    vidi_str base = {text, first}, reference = {text + first + 1, size - first - 1};
    check_url(base, NULL);
    taken t;
    if (line && take(base, NULL, &t)) {
        check_url(reference, NULL);
        check_url(reference, &base);
        check_url(reference, &t.url.href);
        free(t.buffer);
    }
    return 0;
}
