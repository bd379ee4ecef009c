/*
 * The standard's basic URL parser (section 4.4), organised by parts instead of states. Comments name the states that a
 * function stands for. Validation errors that the standard ignores are ignored; failures return VIDI__NOT_URL.
 *
 * Positions in out are stored as offsets. They are right only while every addition has succeeded, so code that goes
 * back to one checks out->error first.
 */
#include "url/parse/percent.h"
#include "url/parse/url.h"

#define SCRATCH_BYTES 1024

/* The input still to be read, and the destination. */
typedef struct parser {
    vidi__url *url;
    const vidi__url *base;
    vidi__buffer *out;
    const char *at, *end;     /* what is left of scheme, authority and path */
    vidi_str query, fragment; /* NULL: none */
    bool raw;                 /* bytes that are not UTF-8 are encoded as they are */
} parser;

static vidi_str rest(const parser *p)
{
    return (vidi_str){p->at, (size_t)(p->end - p->at)};
}

/* Returns true if the character at this distance is a slash, or a backslash that counts as one. */
static bool slash_at(const parser *p, size_t ahead)
{
    if ((size_t)(p->end - p->at) <= ahead)
        return false;
    char c = p->at[ahead];
    return c == '/' || (c == '\\' && vidi__url_is_special(p->url));
}

/* ---- schemes ---- */

static const struct {
    vidi_str name;
    uint32_t port;
} special[] = {
    [VIDI__SCHEME_HTTP] = {{"http", 4}, 80}, [VIDI__SCHEME_HTTPS] = {{"https", 5}, 443},
    [VIDI__SCHEME_WS] = {{"ws", 2}, 80},     [VIDI__SCHEME_WSS] = {{"wss", 3}, 443},
    [VIDI__SCHEME_FTP] = {{"ftp", 3}, 21},   [VIDI__SCHEME_FILE] = {{"file", 4}, UINT32_MAX},
};

vidi__scheme vidi__url_scheme(vidi_str name)
{
    for (size_t i = VIDI__SCHEME_HTTP; i < VIDI__COUNT(special); i++)
        if (special[i].name.len == name.len && memcmp(special[i].name.ptr, name.ptr, name.len) == 0)
            return (vidi__scheme)i;
    return VIDI__SCHEME_OTHER;
}

/* Scheme start and scheme state: if the input begins with a scheme, adds it with its colon and skips it. */
static bool take_scheme(parser *p)
{
    size_t len = 0, room = (size_t)(p->end - p->at);
    if (!room || !vidi__is_alpha(p->at[0]))
        return false;
    while (len < room && vidi__in_set(p->at[len], VIDI__SET_SCHEME))
        len++;
    if (len == room || p->at[len] != ':')
        return false;
    if (!vidi__buffer_reserve(p->out, len + 1))
        return true;
    for (size_t i = 0; i < len; i++) /* digits, '+', '-' and '.' already have this bit */
        p->out->at[i] = (char)(p->at[i] | 0x20);
    p->out->at[len] = ':';
    p->out->len = len + 1;
    p->url->scheme_end = len;
    p->url->scheme = vidi__url_scheme((vidi_str){p->out->at, len});
    p->at += len + 1;
    return true;
}

/* ---- parts copied from the base ---- */

static int copy_scheme(parser *p)
{
    p->out->len = 0;
    vidi__buffer_add(p->out, p->base->text, p->base->scheme_end + 1);
    p->url->scheme = p->base->scheme;
    p->url->scheme_end = p->base->scheme_end;
    return p->out->error;
}

static int copy_authority(parser *p)
{
    const vidi__url *base = p->base;
    p->out->len = 0;
    vidi__buffer_add(p->out, base->text, base->authority_end);
    *p->url = *base;
    p->url->path_begin = base->authority_end;
    p->url->opaque_path = p->url->has_query = p->url->has_fragment = false;
    return p->out->error;
}

static int copy_path(parser *p)
{
    VIDI__TRY(copy_authority(p));
    vidi__buffer_add(p->out, p->base->text + p->base->path_begin, p->base->path_end - p->base->path_begin);
    p->url->opaque_path = p->base->opaque_path;
    return p->out->error;
}

/* Copies the base's query for a reference that has neither path nor query. */
static void inherit_query(parser *p)
{
    if (!p->query.ptr && p->base->has_query) {
        p->url->path_end = p->out->len;
        p->url->has_query = true;
        vidi__buffer_add(p->out, p->base->text + p->base->path_end, p->base->query_end - p->base->path_end);
    }
}

/* ---- authority ---- */

static void begin_authority(parser *p)
{
    vidi__buffer_add(p->out, "//", 2);
    p->url->has_host = true;
    p->url->username_end = p->url->host_begin = p->out->len;
}

static void end_authority(parser *p)
{
    p->url->authority_end = p->url->path_begin = p->out->len;
}

/* Adds "user:password" and the '@', unless both are empty. */
static void add_credentials(parser *p, vidi_str text)
{
    const char *colon = text.len ? memchr(text.ptr, ':', text.len) : NULL;
    size_t name = colon ? (size_t)(colon - text.ptr) : text.len;
    vidi__percent_encode(p->out, text.ptr, name, VIDI__SET_USERINFO, p->raw);
    p->url->username_end = p->out->len;
    if (text.len > name + 1) {
        vidi__buffer_add_char(p->out, ':');
        vidi__percent_encode(p->out, colon + 1, text.len - name - 1, VIDI__SET_USERINFO, p->raw);
    }
    if (text.len > name + 1 || name)
        vidi__buffer_add_char(p->out, '@');
    p->url->host_begin = p->out->len;
}

/* Port state. */
static int add_port(parser *p, vidi_str text)
{
    uint32_t port = 0;
    for (size_t i = 0; i < text.len; i++) {
        if (!vidi__is_digit(text.ptr[i]))
            return vidi__fail(VIDI__NOT_URL, "the port \"%.*s\" is not a number", VIDI__QUOTE(text));
        port = port * 10 + (uint32_t)(text.ptr[i] - '0');
        if (port > 65535)
            return vidi__fail(VIDI__NOT_URL, "the port \"%.*s\" is larger than 65535", VIDI__QUOTE(text));
    }
    if (!text.len || (vidi__url_is_special(p->url) && special[p->url->scheme].port == port))
        return VIDI_OK;
    p->url->has_port = true;
    p->url->port = port;
    char digits[6];
    size_t first = sizeof digits;
    do
        digits[--first] = (char)('0' + port % 10);
    while ((port /= 10));
    digits[--first] = ':';
    vidi__buffer_add(p->out, digits + first, sizeof digits - first);
    return VIDI_OK;
}

/* The position of the colon before the port, the first one outside brackets; the end if there is none. */
static size_t find_port(vidi_str text)
{
    if (!text.len || !memchr(text.ptr, ':', text.len))
        return text.len;
    bool inside = false;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        if (c == ':' && !inside)
            return i;
        inside = c == '[' || (inside && c != ']');
    }
    return text.len;
}

/* Host state. */
static int add_host_and_port(parser *p, vidi_str text)
{
    size_t colon = find_port(text);
    vidi_str host = {text.ptr, colon};
    bool is_special = vidi__url_is_special(p->url);
    if (!host.len && (is_special || colon < text.len))
        return vidi__fail(VIDI__NOT_URL, "there is no host%s", colon < text.len ? " before the port" : "");
    VIDI__TRY(vidi__url_host(p->out, host, is_special, p->raw, &p->url->host_kind));
    p->url->host_end = p->out->len;
    return colon < text.len ? add_port(p, (vidi_str){text.ptr + colon + 1, text.len - colon - 1}) : VIDI_OK;
}

/* Authority state: from after the slashes up to the path. */
static int authority(parser *p)
{
    vidi_str text = rest(p);
    text.len = vidi__url_find2(text.ptr, text.len, '/', vidi__url_is_special(p->url) ? '\\' : '/');
    p->at += text.len;
    begin_authority(p);
    const char *sign = text.len ? memrchr(text.ptr, '@', text.len) : NULL;
    if (sign) {
        size_t len = (size_t)(sign - text.ptr);
        add_credentials(p, (vidi_str){text.ptr, len});
        text.ptr += len + 1;
        text.len -= len + 1;
        if (!text.len)
            return vidi__fail(VIDI__NOT_URL, "there is no host after the user name");
    }
    VIDI__TRY(add_host_and_port(p, text));
    end_authority(p);
    return VIDI_OK;
}

/* ---- path ---- */

/* Path state: adds the rest of the input, which begins after the slash. */
static int segments(parser *p)
{
    vidi__url_path(p->out, p->url->path_begin, p->url->scheme, rest(p), p->raw);
    return VIDI_OK;
}

/* Path start state. */
static int path_start(parser *p)
{
    if (p->at == p->end && !vidi__url_is_special(p->url))
        return VIDI_OK;
    if (slash_at(p, 0))
        p->at++;
    return segments(p);
}

/* Opaque path state. Of the spaces before a query or fragment, only the last one is encoded. */
static int opaque_path(parser *p)
{
    vidi_str text = rest(p);
    bool space = text.len && text.ptr[text.len - 1] == ' ';
    end_authority(p);
    p->url->opaque_path = true;
    vidi__percent_encode(p->out, text.ptr, text.len - space, VIDI__SET_C0, p->raw);
    if (space)
        vidi__buffer_add(p->out, "%20", 3);
    return VIDI_OK;
}

/* Special authority slashes state and special authority ignore slashes state. */
static int special_authority(parser *p)
{
    while (slash_at(p, 0))
        p->at++;
    VIDI__TRY(authority(p));
    return path_start(p);
}

static int other_authority(parser *p)
{
    p->at += 2;
    VIDI__TRY(authority(p));
    return path_start(p);
}

/* Relative state and relative slash state, with the base's scheme. */
static int relative(parser *p)
{
    p->url->scheme = p->base->scheme; /* decides whether a backslash counts as a slash */
    if (slash_at(p, 0) && slash_at(p, 1)) {
        VIDI__TRY(copy_scheme(p));
        return vidi__url_is_special(p->url) ? special_authority(p) : other_authority(p);
    }
    if (slash_at(p, 0)) {
        VIDI__TRY(copy_authority(p));
        p->at++;
        return segments(p);
    }
    VIDI__TRY(copy_path(p));
    if (p->at == p->end) {
        inherit_query(p);
        return VIDI_OK;
    }
    vidi__url_path_shorten(p->out, p->url->path_begin, p->url->scheme);
    return segments(p);
}

/* ---- file ---- */

static void begin_file(parser *p)
{
    p->out->len = 0;
    vidi__buffer_add(p->out, "file:", 5);
    p->url->scheme_end = 4;
    begin_authority(p);
    p->url->host_kind = VIDI_URL_EMPTY_HOST;
    p->url->host_end = p->out->len;
    end_authority(p);
}

/* File host state, after "file://". */
static int file_host(parser *p)
{
    p->at += 2;
    begin_file(p);
    vidi_str host = rest(p);
    host.len = vidi__url_find2(host.ptr, host.len, '/', '\\');
    if (vidi__url_is_drive(host))
        return segments(p);
    p->at += host.len;
    if (host.len) {
        size_t begin = p->out->len;
        VIDI__TRY(vidi__url_host(p->out, host, true, p->raw, &p->url->host_kind));
        if (vidi__str_is((vidi_str){p->out->at + begin, p->out->len - begin}, "localhost")) {
            p->out->len = begin;
            p->url->host_kind = VIDI_URL_EMPTY_HOST;
        }
        p->url->host_end = p->out->len;
        end_authority(p);
    }
    return path_start(p);
}

/* File slash state, after "file:/": host and drive come from the base. */
static int file_slash(parser *p, const vidi__url *base)
{
    p->at++;
    if (!base) {
        begin_file(p);
        return segments(p);
    }
    VIDI__TRY(copy_authority(p));
    vidi_str path = {base->text + base->path_begin, base->path_end - base->path_begin};
    bool drive =
        path.len >= 3 && vidi__is_alpha(path.ptr[1]) && path.ptr[2] == ':' && (path.len == 3 || path.ptr[3] == '/');
    if (drive && !vidi__url_begins_with_drive(rest(p)))
        vidi__buffer_add(p->out, path.ptr, 3);
    return segments(p);
}

/* File state. */
static int file(parser *p)
{
    const vidi__url *base = p->base && p->base->scheme == VIDI__SCHEME_FILE ? p->base : NULL;
    p->url->scheme = VIDI__SCHEME_FILE;
    if (slash_at(p, 0))
        return slash_at(p, 1) ? file_host(p) : file_slash(p, base);
    if (!base) {
        begin_file(p);
        return segments(p);
    }
    VIDI__TRY(copy_path(p));
    if (p->at == p->end) {
        inherit_query(p);
        return VIDI_OK;
    }
    if (vidi__url_begins_with_drive(rest(p)))
        p->out->len = p->url->path_begin;
    else
        vidi__url_path_shorten(p->out, p->url->path_begin, VIDI__SCHEME_FILE);
    return segments(p);
}

/* ---- the whole URL ---- */

/* The rest of the scheme state, after the colon. */
static int with_scheme(parser *p)
{
    bool one = p->at < p->end && p->at[0] == '/', two = one && p->end - p->at > 1 && p->at[1] == '/';
    if (p->url->scheme == VIDI__SCHEME_FILE)
        return file(p);
    if (vidi__url_is_special(p->url)) {
        bool same = p->base && p->base->scheme == p->url->scheme;
        return same && !two ? relative(p) : special_authority(p);
    }
    if (two)
        return other_authority(p);
    if (!one)
        return opaque_path(p);
    p->at++;
    end_authority(p);
    return segments(p);
}

/* No scheme state. */
static int without_scheme(parser *p)
{
    if (!p->base)
        return vidi__fail(VIDI__NOT_URL, "\"%.*s\" has no scheme, and there is no base to resolve it against",
                          VIDI__QUOTE(rest(p)));
    if (p->base->opaque_path) {
        if (p->at < p->end || p->query.ptr || !p->fragment.ptr)
            return vidi__fail(VIDI__NOT_URL, "\"%.*s\" cannot be resolved against the base, whose path is opaque",
                              VIDI__QUOTE(rest(p)));
        VIDI__TRY(copy_path(p));
        inherit_query(p);
        return VIDI_OK;
    }
    return p->base->scheme == VIDI__SCHEME_FILE ? file(p) : relative(p);
}

/* Adds query and fragment, and puts "/." before a path that would otherwise be read as a host. */
static void finish(parser *p)
{
    vidi__url *url = p->url;
    vidi__buffer *out = p->out;
    if (!url->has_query)
        url->path_end = out->len;
    const char *path = out->at + url->path_begin;
    if (!url->has_host && !url->opaque_path && url->path_end - url->path_begin >= 2 && path[0] == '/' &&
        path[1] == '/') {
        vidi__buffer_insert(out, url->path_begin, "/.", 2);
        url->path_begin += 2;
        url->path_end += 2;
    }
    if (p->query.ptr) {
        url->has_query = true;
        vidi__buffer_add_char(out, '?');
        vidi__percent_encode(out, p->query.ptr, p->query.len,
                             vidi__url_is_special(url) ? VIDI__SET_SPECIAL_QUERY : VIDI__SET_QUERY, p->raw);
    }
    url->query_end = out->len;
    if (p->fragment.ptr) {
        url->has_fragment = true;
        vidi__buffer_add_char(out, '#');
        vidi__percent_encode(out, p->fragment.ptr, p->fragment.len, VIDI__SET_FRAGMENT, p->raw);
    }
    url->text = out->at;
    url->len = out->len;
}

/* Parses input that is trimmed and has no tabs or newlines. p has everything but the input. */
static int parse_parts(parser *p, vidi_str input, vidi__url_cuts cuts)
{
    memset(p->url, 0, sizeof *p->url);
    p->at = input.ptr;
    size_t end = cuts.query < cuts.fragment ? cuts.query : cuts.fragment;
    p->end = input.ptr + end;
    if (cuts.query < cuts.fragment)
        p->query = (vidi_str){input.ptr + cuts.query + 1, cuts.fragment - cuts.query - 1};
    if (cuts.fragment < input.len)
        p->fragment = (vidi_str){input.ptr + cuts.fragment + 1, input.len - cuts.fragment - 1};
    VIDI__TRY(take_scheme(p) ? with_scheme(p) : without_scheme(p));
    if (!p->out->error)
        finish(p);
    return p->out->error;
}

/*
 * Copies the input without tabs and newlines. Bytes that are not UTF-8 are replaced here: if they were left, removing a
 * tab between two of them could make a valid sequence. raw: they are left, because each byte is encoded by itself.
 */
static void strip(vidi__buffer *to, vidi_str input, bool raw)
{
    for (size_t i = 0, bytes; i < input.len; i += bytes) {
        char c = input.ptr[i];
        bool valid = true;
        bytes = raw ? 1 : vidi__utf8_next(input.ptr + i, input.len - i, &valid);
        if (!valid)
            vidi__buffer_add(to, "\xef\xbf\xbd", 3);
        else if (c != '\t' && c != '\n' && c != '\r')
            vidi__buffer_add(to, input.ptr + i, bytes);
    }
}

static bool is_trimmed(char c)
{
    return (unsigned char)c <= 0x20;
}

int vidi__url_parse(vidi__url *url, vidi_str input, const vidi__url *base, bool raw, vidi__buffer *out)
{
    if (!input.len)
        input.ptr = ""; /* an empty input may be NULL */
    while (input.len && is_trimmed(input.ptr[input.len - 1]))
        input.len--;
    while (input.len && is_trimmed(input.ptr[0])) {
        input.ptr++;
        input.len--;
    }
    if (VIDI__LIKELY(vidi__url_parse_usual(url, input, raw, out)))
        return out->error;
    parser p = {.url = url, .base = base, .out = out, .raw = raw};
    vidi__url_cuts cuts = vidi__url_cut(input.ptr, input.len);
    if (VIDI__LIKELY(!cuts.tabs))
        return parse_parts(&p, input, cuts);
    char room[SCRATCH_BYTES];
    room[0] = 0;
    vidi__buffer stripped = vidi__buffer_in(room, sizeof room, out->memory);
    strip(&stripped, input, raw);
    vidi_str clean = {stripped.at, stripped.len};
    int error = stripped.error;
    if (!error)
        error = parse_parts(&p, clean, vidi__url_cut(clean.ptr, clean.len));
    vidi__buffer_free(&stripped);
    return error;
}
