/*
 * A mirror to browse: see export.h.
 *
 * First, every stored page gets the name of a file, in the order in which pages were found. Then the files are written
 * one by one. What is known about names is in temporary tables of the database, so that memory does not grow with the
 * crawl.
 *
 *   mirror   id, key of the canonical URL, path of the file; of a redirect, the key of where it leads
 *   taken    paths in lower case: some file systems do not know the difference
 *   folders  a folder that URLs have, and what it is called, if a file or another folder had the name before
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/ascii.h"
#include "common/fnv.h"
#include "crawler/base/web_url.h"
#include "crawler/export/mirror_folder.h"
#include "crawler/export/mirror_names.h"
#include "crawler/export/rewrite.h"
#include "crawler/harvest/harvest.h"
#include "crawler/http/http.h"

enum { HOPS_MOST = 20, NUMBERED = 9 };

static const char make_tables[] =
    "CREATE TEMP TABLE mirror (id INTEGER PRIMARY KEY, key INTEGER NOT NULL, path TEXT NOT NULL, next INTEGER,"
    " seed INTEGER NOT NULL); CREATE INDEX temp.mirror_by_key ON mirror (key);"
    "CREATE TEMP TABLE taken (path TEXT PRIMARY KEY) WITHOUT ROWID;"
    "CREATE TEMP TABLE folders (wanted TEXT PRIMARY KEY, path TEXT NOT NULL) WITHOUT ROWID;";

static const char drop_tables[] = "DROP TABLE IF EXISTS temp.mirror; DROP TABLE IF EXISTS temp.taken;"
                                  "DROP TABLE IF EXISTS temp.folders;";

static const char stored_pages[] =
    "SELECT id, url, coalesce(type, ''), CASE WHEN status BETWEEN 300 AND 399 THEN redirect END, file, offset,"
    " head_file, head_offset, kind = 'seed' FROM stored WHERE (file IS NOT NULL AND status BETWEEN 200 AND 299) OR"
    " (status BETWEEN 300 AND 399 AND redirect IS NOT NULL) ORDER BY id";

static const char files[] = "SELECT m.path, m.next, p.url, p.file, p.offset, p.head_file, p.head_offset"
                            " FROM temp.mirror m CROSS JOIN stored p ON p.id = m.id ORDER BY m.id";

enum statement { TAKE, FOLDER_FIND, FOLDER_ADD, ADD, FIND, STATEMENTS };

static const char *const texts[STATEMENTS] = {
    [TAKE] = "INSERT OR IGNORE INTO taken VALUES (?1)",
    [FOLDER_FIND] = "SELECT path FROM folders WHERE wanted = ?1",
    [FOLDER_ADD] = "INSERT INTO folders VALUES (?1, ?2)",
    [ADD] = "INSERT INTO mirror VALUES (?1, ?2, ?3, ?4, ?5)",
    [FIND] = "SELECT path, next FROM mirror WHERE key = ?1 ORDER BY next IS NULL DESC, id DESC LIMIT 1",
};

typedef struct mirror {
    export_source source;
    mirror_folder folder;
    sqlite3_stmt *statements[STATEMENTS];
    url_keys *keys;
    mirror_name name;
    bytes path, folded, content, target;
    const char *own; /* path of the file that is being written */
} mirror;

static int no_memory(const mirror *self)
{
    return export_fail(&self->source, VIDI_EMEMORY, "%s", vidi_strerror(VIDI_EMEMORY));
}

/* ---- names that are free ---- */

/* True in *free if nothing had the path, which is now taken. */
static int take_path(mirror *self, bool *free)
{
    self->folded.len = 0;
    int error = bytes_append_str(&self->folded, bytes_str(&self->path));
    if (error)
        return no_memory(self);
    for (size_t i = 0; i < self->folded.len; i++)
        self->folded.ptr[i] = ascii_lower(self->folded.ptr[i]);
    sql_bind(self->statements[TAKE], SQL_VALUES(SQL_TEXT(bytes_str(&self->folded))));
    error = export_check(&self->source, sql_run(self->statements[TAKE]));
    *free = !error && sqlite3_changes(self->source.sqlite) > 0;
    return error;
}

/*
 * Appends a component to self->path that no other file or folder has: "a", then "a~2", "a~3", …; after a few of these,
 * with a checksum instead, so that a site with many names that are nearly the same costs no more.
 */
static int take_component(mirror *self, vidi_str stem, const char *extension)
{
    size_t before = self->path.len;
    bool free = false;
    int error = VIDI_OK;

    for (uint64_t i = 1; !free && !error; i++) {
        uint64_t sum = fnv_bytes(fnv_bytes(FNV_START, self->path.ptr, before), stem.ptr, stem.len);
        self->path.len = before;
        error = bytes_append_str(&self->path, stem);
        if (!error && i > NUMBERED)
            error = bytes_append_format(&self->path, "~%" PRIx64 "%s", sum + i, extension);
        else if (!error && i > 1)
            error = bytes_append_format(&self->path, "~%" PRIu64 "%s", i, extension);
        else if (!error)
            error = bytes_append_text(&self->path, extension);
        error = error ? no_memory(self) : take_path(self, &free);
    }
    return error;
}

/* Appends the folder to self->path, which has its parent: under the name that it has got before, or a new one. */
static int take_folder(mirror *self, vidi_str component)
{
    sqlite3_stmt *find = self->statements[FOLDER_FIND], *add = self->statements[FOLDER_ADD];
    bytes wanted = {0};
    int error = bytes_append_str(&wanted, bytes_str(&self->path));

    if (!error)
        error = bytes_append_str(&wanted, component);
    if (error)
        error = no_memory(self);
    sql_bind(find, SQL_VALUES(SQL_TEXT(bytes_str(&wanted))));
    int found = error ? error : export_step(&self->source, find);
    if (found == 1) {
        self->path.len = 0;
        error = bytes_append_str(&self->path, sql_text(find, 0)) ? no_memory(self) : VIDI_OK;
    } else if (found == 0) {
        error = take_component(self, component, "");
        sql_bind(add, SQL_VALUES(SQL_TEXT(bytes_str(&wanted)), SQL_TEXT(bytes_str(&self->path))));
        if (!error)
            error = export_check(&self->source, sql_run(add));
    } else
        error = found;
    sqlite3_reset(find);
    bytes_free(&wanted);
    return error ? error : bytes_append(&self->path, "/", 1);
}

/* Makes self->path out of self->name. */
static int take_name(mirror *self)
{
    const char *at = self->name.folders.ptr, *end = at + self->name.folders.len;
    int error = VIDI_OK;

    self->path.len = 0;
    while (!error && at < end) {
        const char *slash = memchr(at, '/', (size_t)(end - at));
        error = take_folder(self, (vidi_str){at, (size_t)(slash - at)});
        at = slash + 1;
    }
    if (!error)
        error = take_component(self, bytes_str(&self->name.stem), self->name.extension);
    return error ? error : bytes_reserve(&self->path, 1);
}

/* ---- all names ---- */

static int key_of(mirror *self, vidi_str url, uint64_t *key)
{
    const char *hash = memchr(url.ptr, '#', url.len);

    url.len = hash ? (size_t)(hash - url.ptr) : url.len;
    int error = url_keys_make(self->keys, &url, 1, key);
    return error == VIDI_INVALID || !error ? error : export_fail(&self->source, error, "%s", vidi_message());
}

/* If the server has not said what it is, the content tells. */
static int find_type(mirror *self, sqlite3_stmt *row, const char **type)
{
    export_response response;

    *type = sql_text(row, 2).ptr;
    if (strchr(*type, '/'))
        return VIDI_OK;
    int result = export_read(&self->source, sql_text(row, 1), row, 4, &response);
    if (result == 1 && harvest_looks_like_html(response.body))
        *type = "text/html";
    return result < 0 ? result : VIDI_OK;
}

static int name_page(mirror *self, sqlite3_stmt *row)
{
    vidi_str url = sql_text(row, 1), redirect = sql_text(row, 3);
    const char *type = "text/html"; /* of the small page that leads on */
    uint64_t key, next = 0;
    int error = redirect.ptr ? VIDI_OK : find_type(self, row, &type);

    if (!error && redirect.ptr)
        error = key_of(self, redirect, &next);
    if (!error)
        error = key_of(self, url, &key);
    if (!error)
        error = mirror_name_make(url, type, &self->name);
    if (error == VIDI_INVALID) /* not a URL of the web; or a redirect that leads nowhere */
        return VIDI_OK;
    if (!error)
        error = take_name(self);
    if (error)
        return error == VIDI_EMEMORY ? no_memory(self) : error;
    sql_bind(self->statements[ADD],
             SQL_VALUES(SQL_NUMBER(sql_number(row, 0)), SQL_NUMBER(key), SQL_TEXT(bytes_str(&self->path)),
                        redirect.ptr ? SQL_NUMBER(next) : SQL_NULL, SQL_NUMBER(sql_number(row, 8))));
    return export_check(&self->source, sql_run(self->statements[ADD]));
}

static int name_pages(mirror *self)
{
    sqlite3_stmt *row;
    int error = export_prepare(&self->source, &row, stored_pages);

    while (!error && (error = export_step(&self->source, row)) == 1)
        /* Without links that could lead there, a redirect needs no file. */
        error = sql_text(row, 3).ptr && !self->source.options->rewrite ? VIDI_OK : name_page(self, row);
    sqlite3_finalize(row);
    return error;
}

/* ---- links ---- */

/* Finds the file that a URL leads to, through redirects, into self->target. 1, 0: none is stored, or an error. */
static int find_file(mirror *self, uint64_t key)
{
    sqlite3_stmt *find = self->statements[FIND];
    int result = 0;

    for (int hops = 0; hops <= HOPS_MOST; hops++) {
        sql_bind(find, SQL_VALUES(SQL_NUMBER(key)));
        result = export_step(&self->source, find);
        if (result != 1)
            break;
        if (sqlite3_column_type(find, 1) == SQLITE_NULL) {
            self->target.len = 0;
            result = bytes_append_str(&self->target, sql_text(find, 0)) ? no_memory(self) : 1;
            sqlite3_reset(find);
            return result;
        }
        key = sql_number(find, 1);
        sqlite3_reset(find);
    }
    sqlite3_reset(find);
    return result < 0 ? result : 0;
}

static bool is_plain_in_links(char c)
{
    return ascii_is_letter(c) || ascii_is_digit(c) || (c && strchr("-_.~/=@+!$", c));
}

/* Appends how a link in the file `own` leads to self->target. */
static int put_relative(mirror *self, const char *own, bytes *to)
{
    vidi_str target = bytes_str(&self->target);
    size_t common = 0;
    int error = VIDI_OK;

    for (size_t i = 0; i < target.len && own[i] && own[i] == target.ptr[i]; i++)
        if (own[i] == '/')
            common = i + 1;
    for (const char *slash = strchr(own + common, '/'); slash && !error; slash = strchr(slash + 1, '/'))
        error = bytes_append_text(to, "../");
    return error ? error : bytes_append_percent(to, target.ptr + common, target.len - common, is_plain_in_links);
}

static bool is_same(vidi_str a, vidi_str b)
{
    return a.len == b.len && memcmp(a.ptr, b.ptr, a.len) == 0;
}

/* A link to another place of the page itself stays as it is, unless a base has made it lead elsewhere. */
static bool stays(const html_link *link, bool has_base)
{
    return !has_base && link->value.len > 0 && link->value.ptr[0] == '#';
}

/* For rewrite_options. */
static int choose(void *context, const html_link *link, bool has_base, bytes *to)
{
    mirror *self = context;
    vidi_url parts = {.size = sizeof parts};
    uint64_t key;
    size_t before = to->len;

    if (!link->url.ptr || stays(link, has_base) || vidi_url_view(link->url, &parts) != VIDI_OK || !is_web_url(&parts))
        return 0;
    /* A form needs a server, and a canonical URL is the one on the web. */
    bool goes_out = link->group == HTML_FORMS || link->flags & HTML_CANONICAL;
    int result = goes_out ? 0 : key_of(self, link->url, &key);
    if (result < 0)
        return result;
    if (!goes_out && result == VIDI_OK)
        result = find_file(self, key);
    if (result < 0)
        return result;
    if (goes_out || result != 1)
        return is_same(link->url, link->value) ? 0 : bytes_append_str(to, link->url) ? no_memory(self) : 1;
    int error = put_relative(self, self->own, to);
    if (!error && parts.fragment.ptr)
        error = bytes_append_format(to, "#%.*s", (int)parts.fragment.len, parts.fragment.ptr);
    vidi_str made = {to->ptr + before, to->len - before};
    return error ? no_memory(self) : is_same(made, link->value) ? 0 : 1;
}

/* ---- files ---- */

/* A page that leads on to self->target. */
static int make_redirect(mirror *self)
{
    bytes link = {0};
    int error = put_relative(self, self->own, &link);

    self->content.len = 0;
    if (!error)
        error =
            bytes_append_format(&self->content,
                                "<!DOCTYPE html>\n<meta charset=\"utf-8\">\n"
                                "<meta http-equiv=\"refresh\" content=\"0; url=%.*s\">\n<a href=\"%.*s\">%.*s</a>\n",
                                (int)link.len, link.ptr, (int)link.len, link.ptr, (int)link.len, link.ptr);
    bytes_free(&link);
    return error ? no_memory(self) : VIDI_OK;
}

/* Makes the content of a file. 1, 0: there is none to write, or an error. */
static int make_content(mirror *self, sqlite3_stmt *row, vidi_str *content)
{
    export_response response;
    vidi_str url = sql_text(row, 2);

    if (sqlite3_column_type(row, 1) != SQLITE_NULL) {
        int result = find_file(self, sql_number(row, 1));
        if (result == 1)
            result = make_redirect(self) == VIDI_OK ? 1 : VIDI_EMEMORY;
        self->source.result->redirects += result == 1;
        *content = bytes_str(&self->content);
        return result;
    }
    if (!url.ptr)
        return no_memory(self);
    int result = export_read(&self->source, url, row, 3, &response);
    if (result != 1)
        return result;
    *content = response.body;
    if (!self->source.options->rewrite || !mirror_name_is_html(self->own))
        return 1;
    rewrite_options options = {.url = url, .choose = choose, .context = self};
    http_content_type(response.head, &options.charset);
    self->content.len = 0;
    int error = rewrite_html(response.body, &options, &self->content);
    if (error == VIDI_OK)
        *content = bytes_str(&self->content);
    return error == VIDI_EMEMORY ? no_memory(self) : error == VIDI_OK || error == VIDI_ELIMIT ? 1 : error;
}

static int write_file(mirror *self, sqlite3_stmt *row)
{
    vidi_str content;
    export_result *result = self->source.result;

    self->own = sql_text(row, 0).ptr;
    if (!self->own)
        return no_memory(self);
    int made = make_content(self, row, &content);
    if (made != 1)
        return made;
    int error = mirror_folder_write(&self->folder, self->own, content);
    result->pages += !error;
    result->bytes += error ? 0 : content.len;
    return error;
}

static int write_files(mirror *self)
{
    sqlite3_stmt *row;
    int error = export_prepare(&self->source, &row, files);

    while (!error && (error = export_step(&self->source, row)) == 1)
        error = write_file(self, row);
    sqlite3_finalize(row);
    return error ? error : mirror_folder_sync(&self->folder);
}

/* The file to begin with: that of the first seed which has one. */
static int find_first(mirror *self)
{
    sqlite3_stmt *row;
    int error = export_prepare(&self->source, &row, "SELECT key FROM mirror ORDER BY seed DESC, id"), found = 0;

    while (!error && !found && (error = export_step(&self->source, row)) == 1) {
        found = find_file(self, sql_number(row, 0));
        error = found < 0 ? found : VIDI_OK;
    }
    if (found == 1)
        snprintf(self->source.result->first, sizeof self->source.result->first, "%.*s", (int)self->target.len,
                 self->target.ptr);
    sqlite3_finalize(row);
    return error;
}

/* ---- the mirror ---- */

static int prepare(mirror *self)
{
    report *report = self->source.options->report;
    int error = export_check(&self->source, sql_execute(self->source.sqlite, drop_tables));

    if (!error)
        error = export_check(&self->source, sql_execute(self->source.sqlite, make_tables));
    for (int i = 0; i < STATEMENTS && !error; i++)
        error = export_prepare(&self->source, &self->statements[i], texts[i]);
    if (!error && (error = report_keys(report, &self->keys)))
        export_fail(&self->source, error, "%s", report_error(report));
    return error;
}

static void close_all(mirror *self)
{
    for (int i = 0; i < STATEMENTS; i++)
        sqlite3_finalize(self->statements[i]);
    sql_execute(self->source.sqlite, drop_tables);
    mirror_folder_close(&self->folder);
    url_keys_close(self->keys);
    mirror_name_free(&self->name);
    bytes_free(&self->path);
    bytes_free(&self->folded);
    bytes_free(&self->content);
    bytes_free(&self->target);
    export_source_close(&self->source);
}

int export_mirror(const export_options *options, export_result *result, char *why)
{
    mirror self = {.folder = {.root = -1}};
    int error = export_source_open(&self.source, options, result, why);

    if (!error)
        error = mirror_folder_open(&self.folder, &self.source, options->to);
    if (!error)
        error = prepare(&self);
    if (!error)
        error = name_pages(&self);
    if (!error)
        error = write_files(&self);
    if (!error)
        error = find_first(&self);
    close_all(&self);
    return error;
}
