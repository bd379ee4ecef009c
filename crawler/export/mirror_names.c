/*
 * Names of files for URLs: see mirror_names.h.
 */
#include "crawler/export/mirror_names.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/ascii.h"
#include "common/fnv.h"
#include "crawler/base/web_url.h"

/* ---- components ---- */

static bool is_kept(char c)
{
    return ascii_is_letter(c) || ascii_is_digit(c) || (c && strchr("-_.,;=@+~()!&$%", c));
}

/* Windows has devices of these names in every folder, whatever follows a dot. */
static bool is_device(const char *name, size_t n)
{
    static const char *const devices[] = {"con", "prn", "aux", "nul"};
    const char *dot = memchr(name, '.', n);
    size_t length = dot ? (size_t)(dot - name) : n;

    for (size_t i = 0; i < sizeof devices / sizeof devices[0]; i++)
        if (ascii_same(name, length, devices[i]))
            return true;
    return length == 4 && (ascii_same(name, 3, "com") || ascii_same(name, 3, "lpt")) && ascii_is_digit(name[3]);
}

/* A name that is too long keeps its beginning, and gets a checksum of the whole. */
static int shorten(bytes *to, size_t from)
{
    uint64_t sum = fnv_bytes(FNV_START, to->ptr + from, to->len - from);

    if (to->len - from <= MIRROR_STEM)
        return VIDI_OK;
    to->len = from + MIRROR_STEM - 17;
    return bytes_append_format(to, "~%016" PRIx64, sum);
}

/* Appends one component. */
static int put_component(bytes *to, vidi_str raw)
{
    size_t from = to->len;
    int error = VIDI_OK;

    if (raw.len == 0 || is_device(raw.ptr, raw.len))
        error = bytes_append(to, "_", 1);
    else if (raw.ptr[0] == '.') { /* hidden, or the folder itself, or the one above */
        error = bytes_append(to, "%2E", 3);
        raw = (vidi_str){raw.ptr + 1, raw.len - 1};
    }
    bool dot = raw.len > 0 && raw.ptr[raw.len - 1] == '.'; /* Windows drops it */
    if (!error)
        error = bytes_append_percent(to, raw.ptr, raw.len - dot, is_kept);
    if (!error && dot)
        error = bytes_append(to, "%2E", 3);
    return error ? error : shorten(to, from);
}

/* ---- extensions ---- */

typedef struct media {
    const char *type, *extension;
    const char *also; /* other extensions that a file of this type can have, with blanks around; NULL: any */
} media;

/* Browsers take the type of a file from its extension: where that matters, no other will do. */
static const media known[] = {
    {"text/html", ".html", " .htm "},
    {"application/xhtml+xml", ".xhtml", " .xht "},
    {"text/css", ".css", ""},
    {"text/javascript", ".js", " .mjs "},
    {"application/javascript", ".js", " .mjs "},
    {"application/x-javascript", ".js", " .mjs "},
    {"image/svg+xml", ".svg", ""},
    {"text/xml", ".xml", NULL},
    {"application/xml", ".xml", NULL},
    {"application/rss+xml", ".xml", NULL},
    {"application/atom+xml", ".xml", NULL},
    {"text/plain", ".txt", NULL},
    {"application/json", ".json", NULL},
    {"application/pdf", ".pdf", NULL},
    {"image/png", ".png", NULL},
    {"image/jpeg", ".jpg", NULL},
    {"image/gif", ".gif", NULL},
    {"image/webp", ".webp", NULL},
    {"image/avif", ".avif", NULL},
    {"image/x-icon", ".ico", NULL},
    {"image/vnd.microsoft.icon", ".ico", NULL},
    {"font/woff", ".woff", NULL},
    {"font/woff2", ".woff2", NULL},
    {"video/mp4", ".mp4", NULL},
    {"video/webm", ".webm", NULL},
    {"audio/mpeg", ".mp3", NULL},
    {NULL, ".bin", NULL},
};

/* Files that a browser would run scripts of: only what is of such a type gets such an extension. */
static const char active[] = " .html .htm .xhtml .xht .shtml .mht .mhtml .svg .js .mjs .css ";

static const media *find_media(const char *type)
{
    const media *found = known;

    while (found->type && strcmp(found->type, type) != 0)
        found++;
    return found;
}

static bool is_listed(const char *list, const char *extension)
{
    char word[32];

    snprintf(word, sizeof word, " %s ", extension);
    return strstr(list, word) != NULL;
}

/* The extension at the end of a segment, in lower case; empty: it has none. Returns its length. */
static size_t own_extension(vidi_str segment, char *to, size_t room)
{
    const char *dot = segment.len ? memrchr(segment.ptr, '.', segment.len) : NULL;
    size_t length = dot ? segment.len - (size_t)(dot - segment.ptr) : 0;

    to[0] = 0;
    if (length < 2 || length >= room || dot == segment.ptr)
        return 0;
    for (size_t i = 1; i < length; i++)
        if (!ascii_is_letter(dot[i]) && !ascii_is_digit(dot[i]))
            return 0;
    for (size_t i = 0; i < length; i++)
        to[i] = ascii_lower(dot[i]);
    to[length] = 0;
    return length;
}

/* True if a file of this type can have this extension. */
static bool fits(const media *media, const char *extension)
{
    if (!extension[0] || strcmp(media->extension, extension) == 0)
        return extension[0];
    return media->also ? is_listed(media->also, extension) : !is_listed(active, extension);
}

/* Chooses the extension; *cut is how much of the segment it replaces. */
static void choose_extension(vidi_str segment, const char *type, mirror_name *name, size_t *cut)
{
    char own[sizeof name->extension - 4];
    const media *media = find_media(type);
    size_t length = own_extension(segment, own, sizeof own);
    bool kept = fits(media, own);

    *cut = kept ? length : 0;
    /* Without a type, a name without an extension stays so. */
    snprintf(name->extension, sizeof name->extension, "%s",
             kept                      ? own
             : !media->type && !length ? ""
                                       : media->extension);
}

bool mirror_name_is_html(const char *path)
{
    const char *dot = strrchr(path, '.');

    return dot && is_listed(" .html .htm .xhtml .xht ", dot);
}

/* ---- the whole name ---- */

/* The host, and the port if it is not the scheme's default. */
static int put_host(const vidi_url *parts, bytes *to)
{
    int error = put_component(to, parts->host);

    if (!error && parts->port_number >= 0)
        error = bytes_append_format(to, "+%d", parts->port_number);
    return error ? error : bytes_append(to, "/", 1);
}

/* Puts the folders of a path. *segment is what is left of it. False in *whole: it was too deep. */
static int put_folders(vidi_str path, bytes *to, vidi_str *segment, bool *whole)
{
    const char *at = path.ptr + (path.len > 0), *end = path.ptr + path.len, *slash;
    int error = VIDI_OK;

    *whole = true;
    while (!error && (slash = memchr(at, '/', (size_t)(end - at)))) {
        if (to->len + MIRROR_STEM > MIRROR_FOLDERS)
            *whole = false;
        if (*whole)
            error = put_component(to, (vidi_str){at, (size_t)(slash - at)});
        if (*whole && !error)
            error = bytes_append(to, "/", 1);
        at = slash + 1;
    }
    *segment = (vidi_str){at, (size_t)(end - at)};
    return error;
}

/* Puts a segment without its extension, and the query. */
static int put_stem(vidi_str segment, vidi_str query, bytes *to)
{
    int error = segment.len ? put_component(to, segment) : bytes_append_text(to, "index");

    if (!error && query.ptr)
        error = bytes_append(to, "@", 1);
    if (!error && query.ptr)
        error = bytes_append_percent(to, query.ptr, query.len, is_kept);
    if (!error && to->ptr[to->len - 1] == '.') {
        to->len--;
        error = bytes_append(to, "%2E", 3);
    }
    return error ? error : shorten(to, 0);
}

int mirror_name_make(vidi_str url, const char *type, mirror_name *name)
{
    vidi_url parts;
    vidi_str segment;
    size_t cut;
    bool whole;

    name->folders.len = name->stem.len = 0;
    name->folders.failed = name->stem.failed = false;
    if (!web_url_view(url, &parts))
        return VIDI_INVALID;
    int error = put_host(&parts, &name->folders);
    if (!error)
        error = put_folders(parts.path, &name->folders, &segment, &whole);
    if (error)
        return error;
    choose_extension(segment, type, name, &cut);
    segment.len -= parts.query.ptr ? 0 : cut;
    error = put_stem(segment, parts.query, &name->stem);
    char own[sizeof name->extension];
    if (!error && !name->extension[0] && own_extension(bytes_str(&name->stem), own, sizeof own) &&
        is_listed(active, own)) /* a query ends like a page */
        snprintf(name->extension, sizeof name->extension, "%s", find_media("")->extension);
    if (!error && !whole) { /* what was left out of the folders must count */
        name->stem.len = name->stem.len > MIRROR_STEM - 17 ? MIRROR_STEM - 17 : name->stem.len;
        error = bytes_append_format(&name->stem, "~%016" PRIx64, fnv_bytes(FNV_START, url.ptr, url.len));
    }
    return error;
}

void mirror_name_free(mirror_name *name)
{
    bytes_free(&name->folders);
    bytes_free(&name->stem);
}
