/* The URL functions of vidi.h: parsing a URL into its parts, and resolving references. */
#include "url/parse/url.h"

/* Stack space for a base URL; longer ones are allocated. */
#define BASE_BYTES 1024

/* For text that outgrows the stack and the caller's buffer. It is released before the call returns. */
static void scratch_memory(vidi__memory *memory)
{
    vidi__memory_init(memory, NULL, SIZE_MAX / 2); /* the limit is given, so the system is not asked for one */
}

static vidi_str part(const char *text, size_t begin, size_t end)
{
    return (vidi_str){text + begin, end - begin};
}

static vidi_str part_if(bool is_there, const char *text, size_t begin, size_t end)
{
    return is_there ? part(text, begin, end) : (vidi_str){NULL, 0};
}

/* Sets every field but the size. */
static void show(vidi_url *view, const vidi__url *url, const char *text)
{
    bool has_password = url->has_host && url->username_end < url->host_begin && text[url->username_end] == ':';
    view->href = part(text, 0, url->len);
    view->scheme = part(text, 0, url->scheme_end);
    view->username = part_if(url->has_host, text, url->scheme_end + 3, url->username_end);
    view->password = part_if(has_password, text, url->username_end + 1, url->host_begin - 1);
    view->host = part_if(url->has_host, text, url->host_begin, url->host_end);
    view->port = part_if(url->has_port, text, url->host_end + 1, url->authority_end);
    view->path = part(text, url->path_begin, url->path_end);
    view->query = part_if(url->has_query, text, url->path_end + 1, url->query_end);
    view->fragment = part_if(url->has_fragment, text, url->query_end + 1, url->len);
    view->host_kind = url->host_kind;
    view->port_number = url->has_port ? (int32_t)url->port : -1;
    view->flags =
        (vidi__url_is_special(url) ? VIDI_URL_IS_SPECIAL : 0U) | (url->opaque_path ? VIDI_URL_HAS_OPAQUE_PATH : 0U);
}

/* Hands the parts to the caller, whose struct is nearly always the same as ours: then nothing is copied. */
static int hand_out(vidi_url *theirs, const vidi__url *url, const char *text)
{
    vidi_url view;
    bool same = theirs->size == sizeof view;
    show(same ? theirs : &view, url, text);
    return same ? VIDI_OK : vidi__struct_out(theirs, &view, sizeof view, "vidi_url");
}

/* What callers get for text that is not a URL. */
static const vidi_url no_url = {.port_number = -1};

/* Parses into the caller's buffer. On entry *len is its room, on return the length needed, which may be more. */
static int parse_into(vidi__url *url, vidi_str input, const vidi__url *base, char *buffer, size_t *len,
                      vidi__memory *memory)
{
    size_t room = *len;
    vidi__buffer out = vidi__buffer_in(buffer, buffer ? room : 0, memory);
    int error = vidi__url_parse(url, input, base, false, &out);
    *len = error ? 0 : url->len;
    if (!error && out.grown) {
        if (buffer && url->len <= room)
            memcpy(buffer, out.at, url->len);
        else
            error = vidi__fail(VIDI_ELIMIT, "the URL takes %zu bytes and the buffer has %zu", url->len, room);
    }
    vidi__buffer_free(&out);
    return error;
}

int vidi__url_base_fails(int error)
{
    return error == VIDI__NOT_URL ? vidi__fail_in("the base is not a URL", VIDI_EARGUMENT) : error;
}

/* The same with an unparsed base; NULL: none. */
static int parse_against(vidi__url *url, vidi_str input, const vidi_str *base, char *buffer, size_t *len)
{
    vidi__memory memory;
    scratch_memory(&memory);
    if (!base)
        return parse_into(url, input, NULL, buffer, len, &memory);
    char room[BASE_BYTES];
    vidi__buffer base_text = vidi__buffer_in(room, sizeof room, &memory);
    vidi__url base_url;
    int error = vidi__url_parse(&base_url, *base, NULL, false, &base_text);
    if (error) {
        error = vidi__url_base_fails(error);
        *len = 0;
    } else {
        error = parse_into(url, input, &base_url, buffer, len, &memory);
    }
    vidi__buffer_free(&base_text);
    return error;
}

static int check_input(vidi_str input)
{
    if (!input.ptr && input.len)
        return vidi__fail(VIDI_EARGUMENT, "the URL is NULL, but its length is not 0");
    return VIDI_OK;
}

static int check_arguments(vidi_str input, const vidi_str *base, const size_t *len)
{
    VIDI__TRY(check_input(input));
    if (base)
        VIDI__TRY(check_input(*base));
    if (!len)
        return vidi__fail(VIDI_EARGUMENT, "the pointer to the length is NULL");
    return VIDI_OK;
}

static int check_parts(const vidi_url *url)
{
    return url ? VIDI_OK : vidi__fail(VIDI_EARGUMENT, "the pointer to the parts is NULL");
}

int vidi_url_parse(vidi_str input, const vidi_str *base, char *buffer, size_t *len, vidi_url *url)
{
    VIDI__TRY(check_arguments(input, base, len));
    VIDI__TRY(check_parts(url));
    VIDI__TRY(vidi__struct_out(url, &no_url, sizeof no_url, "vidi_url"));
    vidi__url parsed = {0};
    int error = parse_against(&parsed, input, base, buffer, len);
    if (error)
        return vidi__answer(error);
    return hand_out(url, &parsed, buffer);
}

int vidi_url_resolve(vidi_str base, vidi_str reference, char *buffer, size_t *len)
{
    VIDI__TRY(check_arguments(reference, &base, len));
    vidi__url parsed;
    return vidi__answer(parse_against(&parsed, reference, &base, buffer, len));
}

int vidi_url_view(vidi_str text, vidi_url *url)
{
    VIDI__TRY(check_input(text));
    VIDI__TRY(check_parts(url));
    vidi__url cut;
    int code = vidi__url_view(&cut, text);
    if (code == VIDI_OK)
        return hand_out(url, &cut, text.ptr);
    VIDI__TRY(vidi__struct_out(url, &no_url, sizeof no_url, "vidi_url"));
    return vidi__answer(code);
}
