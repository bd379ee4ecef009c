/*
 * WACZ: a ZIP file of WARC files with their index, for players such as ReplayWeb.page. See export.h.
 *
 *   archive/vidi-00000.warc.gz, …    up to what the database has committed
 *   indexes/index.cdxj               as 'vidi crawl cdxj' prints it
 *   pages/pages.jsonl                HTML pages with their titles, for people to choose from
 *   datapackage.json                 names, lengths and digests of these
 *   datapackage-digest.json          its own digest
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/files.h"
#include "common/json.h"
#include "crawler/export/source.h"
#include "crawler/export/zip_writer.h"
#include "crawler/html/html.h"
#include "crawler/http/http.h"

enum {
    COPIED = 256 << 10,
    TITLE_ROOM = 1024,
    HASH_ROOM = 2 * EVP_MAX_MD_SIZE + 8,
    LINE_MOST = 1024 + 6 * TITLE_ROOM, /* bytes of a line of index or pages besides its URL, however it is escaped */
    URL_GROWTH = 12,                   /* how much longer a URL can get there: it stands there twice */
    PACKAGE_MOST = 1 << 30
};

typedef struct wacz {
    export_source source;
    zip_writer *zip;
    EVP_MD_CTX *sha256; /* of the entry that is being written */
    uint64_t length;    /* of the same */
    int error;          /* the first one in writing it */
    char hash[HASH_ROOM];
    bytes resources;     /* what datapackage.json says about the entries so far */
    json_writer listing; /* writes to them */
    uint64_t most;       /* an upper bound of the length of index and pages */
    bytes main_url, main_title;
    char main_date[40];
    bool main_is_seed;
    time_t now;
} wacz;

static const char html_pages[] = "SELECT id, url, type, date, kind = 'seed', file, offset, head_file, head_offset FROM "
                                 "stored WHERE file IS NOT NULL AND status = 200"
                                 " AND type IN ('text/html', 'application/xhtml+xml') ORDER BY id";

/* ---- entries ---- */

static void collect(void *to, const char *text, size_t n)
{
    bytes_append(to, text, n);
}

static int begin_entry(wacz *self, const char *path, uint64_t most)
{
    self->length = 0;
    self->error = zip_begin(self->zip, path, most);
    if (!self->error && !EVP_DigestInit_ex(self->sha256, EVP_sha256(), NULL))
        self->error = VIDI_EMEMORY;
    return self->error;
}

/* In the form that json_writer wants. */
static void put(void *context, const char *text, size_t n)
{
    wacz *self = context;

    if (!self->error)
        self->error = zip_put(self->zip, text, n);
    if (!self->error && !EVP_DigestUpdate(self->sha256, text, n))
        self->error = VIDI_EMEMORY;
    self->length += n;
}

static void read_hash(wacz *self)
{
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned length = 0;
    int at = snprintf(self->hash, sizeof self->hash, "sha256:");

    if (!EVP_DigestFinal_ex(self->sha256, digest, &length))
        self->error = VIDI_EMEMORY;
    for (unsigned i = 0; i < length; i++)
        at += snprintf(self->hash + at, sizeof self->hash - (size_t)at, "%02x", digest[i]);
}

/* Writes the sentence about an error in writing, if there was one. */
static int check_written(const wacz *self, int error)
{
    if (error == VIDI_EIO || error == VIDI_ELIMIT)
        return export_fail(&self->source, error, "cannot write %s: %s", self->source.options->to, strerror(errno));
    return error ? export_fail(&self->source, error, "%s", vidi_strerror(error)) : VIDI_OK;
}

static int end_entry(wacz *self)
{
    if (!self->error)
        self->error = zip_end(self->zip);
    if (!self->error)
        read_hash(self);
    self->source.result->bytes += self->length;
    return check_written(self, self->error);
}

/* Ends an entry that datapackage.json lists. */
static int end_resource(wacz *self, const char *name, const char *path)
{
    int error = end_entry(self);

    json_open(&self->listing, NULL, '{');
    json_add_string(&self->listing, "name", name);
    json_add_string(&self->listing, "path", path);
    json_add_string(&self->listing, "hash", self->hash);
    json_add_count(&self->listing, "bytes", self->length);
    json_close(&self->listing, '}');
    return error;
}

/* ---- archive ---- */

static int copy(wacz *self, int fd, const char *path, uint64_t length)
{
    char *some = malloc(COPIED);
    uint64_t at = 0;
    int error = some ? VIDI_OK : export_fail(&self->source, VIDI_EMEMORY, "%s", vidi_strerror(VIDI_EMEMORY));

    while (!error && !self->error && at < length) {
        ssize_t got = file_read_at(fd, some, length - at < COPIED ? (size_t)(length - at) : COPIED, at);
        if (got < 0)
            error = export_fail(&self->source, VIDI_EIO, "cannot read %s: %s", path, strerror(errno));
        else if (got == 0)
            error = export_fail(&self->source, VIDI_EDAMAGED, "%s is shorter than the database says", path);
        else
            put(self, some, (size_t)got);
        at += got > 0 ? (uint64_t)got : 0;
    }
    free(some);
    return error;
}

/* Full files are as long as they are; of the last one, only the committed part counts. */
static int copy_file(wacz *self, uint32_t number)
{
    const export_source *source = &self->source;
    char name[ARCHIVE_NAME_ROOM], path[ARCHIVE_NAME_ROOM + 16], *full;
    struct stat about;

    snprintf(path, sizeof path, "archive/%s", archive_name(number, name));
    if (asprintf(&full, "%s/%s", source->folder, name) < 0)
        return export_fail(source, VIDI_EMEMORY, "%s", vidi_strerror(VIDI_EMEMORY));
    int fd = (int)TEMP_FAILURE_RETRY(open(full, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)), error = VIDI_OK;
    if (fd < 0 || fstat(fd, &about) != 0)
        error = export_fail(source, errno == ENOENT ? VIDI_EDAMAGED : VIDI_EIO, "cannot read %s: %s", full,
                            strerror(errno));
    uint64_t length = error ? 0 : number == source->end.file ? source->end.length : (uint64_t)about.st_size;
    if (!error) {
        begin_entry(self, path, length);
        error = copy(self, fd, full, length);
    }
    if (!error)
        error = end_resource(self, name, path);
    if (fd >= 0)
        close(fd);
    free(full);
    return error;
}

static int copy_archive(wacz *self)
{
    archive_place end = self->source.end;
    int error = VIDI_OK;

    if (end.file == 0 && end.length == 0)
        return VIDI_OK;
    for (uint32_t i = 0; i <= end.file && !error; i++)
        error = copy_file(self, i);
    return error;
}

/* ---- index ---- */

static int find_most(wacz *self)
{
    sqlite3_stmt *row;
    int error = export_prepare(&self->source, &row,
                               "SELECT count(*), sum(length(url)) FROM main.outcomes o JOIN main.urls u ON u.id = o.id"
                               " WHERE file NOT NULL");

    if (!error && (error = export_step(&self->source, row)) == 1) {
        self->most = LINE_MOST * (sql_number(row, 0) + 1) + URL_GROWTH * sql_number(row, 1);
        error = VIDI_OK;
    }
    sqlite3_finalize(row);
    return error;
}

static int put_line(void *context, vidi_str text)
{
    wacz *self = context;

    put(self, text.ptr, text.len);
    self->source.result->records++;
    return self->error ? 1 : 0;
}

static int write_index(wacz *self)
{
    report *report = self->source.options->report;

    begin_entry(self, "indexes/index.cdxj", self->most);
    int error = report_cdxj(report, put_line, self);
    if (error < 0)
        return export_fail(&self->source, error, "%s", report_error(report));
    return end_resource(self, "index.cdxj", "indexes/index.cdxj");
}

/* ---- pages ---- */

static int read_title(const export_response *response, char *to, size_t *length)
{
    html_options options = {0};
    html_page *page;

    http_content_type(response->head, &options.charset);
    int error = html_page_open(&page, response->body, &options);

    *length = 0;
    if (error)
        return error == VIDI_ELIMIT ? VIDI_OK : error;
    *length = html_page_title(page, to, TITLE_ROOM);
    html_page_close(page);
    return VIDI_OK;
}

/* The first page, or the first seed if one is among the pages, is what a player opens. */
static int note_main(wacz *self, vidi_str url, const char *date, bool seed, vidi_str title)
{
    if (self->main_url.len > 0 && (self->main_is_seed || !seed))
        return VIDI_OK;
    self->main_is_seed = seed;
    self->main_url.len = self->main_title.len = 0;
    snprintf(self->main_date, sizeof self->main_date, "%s", date);
    int error = bytes_append_str(&self->main_url, url);
    return error ? error : bytes_append_str(&self->main_title, title);
}

static int write_page(wacz *self, sqlite3_stmt *row)
{
    char title[TITLE_ROOM];
    size_t length = 0;
    vidi_str url = sql_text(row, 1), date = sql_text(row, 3);
    bool seed = sqlite3_column_int(row, 4);
    json_writer json = {.put = put, .to = self};
    export_response response;

    if (!url.ptr || !date.ptr)
        return export_check(&self->source, VIDI_EMEMORY);
    int result = export_read(&self->source, url, row, 5, &response);
    if (result == 1)
        result = read_title(&response, title, &length);
    if (result == VIDI_OK)
        result = note_main(self, url, date.ptr, seed, (vidi_str){title, length});
    if (result)
        return export_check(&self->source, result);
    json_open(&json, NULL, '{');
    json_add_text(&json, "id", (const char *)sqlite3_column_text(row, 0), (size_t)sqlite3_column_bytes(row, 0));
    json_add_text(&json, "url", url.ptr, url.len);
    json_add_text(&json, "ts", date.ptr, date.len);
    if (length)
        json_add_text(&json, "title", title, length);
    if (seed)
        json_add_bool(&json, "seed", true);
    json_close(&json, '}');
    put(self, "\n", 1);
    self->source.result->pages++;
    return VIDI_OK;
}

static int write_pages(wacz *self)
{
    static const char head[] = "{\"format\":\"json-pages-1.0\",\"id\":\"pages\",\"title\":\"All Pages\"}\n";
    sqlite3_stmt *row;
    int error = export_prepare(&self->source, &row, html_pages);

    begin_entry(self, "pages/pages.jsonl", self->most);
    put(self, head, strlen(head));
    while (!error && !self->error && (error = export_step(&self->source, row)) == 1)
        error = write_page(self, row);
    sqlite3_finalize(row);
    return error ? error : end_resource(self, "pages.jsonl", "pages/pages.jsonl");
}

/* ---- the package ---- */

static void put_package(wacz *self)
{
    json_writer json = {.put = put, .to = self};
    char text[64];
    struct tm utc = {.tm_mday = 1};

    gmtime_r(&self->now, &utc);
    json_open(&json, NULL, '{');
    json_add_string(&json, "profile", "data-package");
    json_add_string(&json, "wacz_version", "1.1.1");
    snprintf(text, sizeof text, "vidi %s", vidi_version());
    json_add_string(&json, "software", text);
    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
    json_add_string(&json, "created", text);
    if (self->main_url.len) {
        bool has_title = self->main_title.len > 0;
        const bytes *title = has_title ? &self->main_title : &self->main_url;
        json_add_text(&json, "title", title->ptr, title->len);
        json_add_text(&json, "mainPageUrl", self->main_url.ptr, self->main_url.len);
        json_add_string(&json, "mainPageDate", self->main_date);
    }
    json_open(&json, "resources", '[');
    put(self, self->resources.ptr, self->resources.len);
    json_close(&json, ']');
    json_close(&json, '}');
    put(self, "\n", 1);
}

static int write_package(wacz *self)
{
    char hash[HASH_ROOM];
    json_writer json = {.put = put, .to = self};

    if (self->resources.failed)
        return export_fail(&self->source, VIDI_EMEMORY, "%s", vidi_strerror(VIDI_EMEMORY));
    begin_entry(self, "datapackage.json", PACKAGE_MOST);
    put_package(self);
    int error = end_entry(self);
    if (error)
        return error;
    snprintf(hash, sizeof hash, "%s", self->hash);
    begin_entry(self, "datapackage-digest.json", PACKAGE_MOST);
    json_open(&json, NULL, '{');
    json_add_string(&json, "path", "datapackage.json");
    json_add_string(&json, "hash", hash);
    json_close(&json, '}');
    put(self, "\n", 1);
    return end_entry(self);
}

static int write_all(wacz *self, int fd)
{
    self->now = time(NULL);
    self->sha256 = EVP_MD_CTX_new();
    self->listing = (json_writer){.put = collect, .to = &self->resources};
    int error = self->sha256 ? zip_open(&self->zip, fd, self->now) : VIDI_EMEMORY;

    if (error)
        return export_fail(&self->source, error, "%s", vidi_strerror(error));
    error = find_most(self);
    if (!error)
        error = copy_archive(self);
    if (!error)
        error = write_index(self);
    if (!error)
        error = write_pages(self);
    if (!error)
        error = write_package(self);
    if (!error)
        error = check_written(self, zip_finish(self->zip));
    if (!error && TEMP_FAILURE_RETRY(fsync(fd)) != 0)
        error = check_written(self, VIDI_EIO);
    return error;
}

/* ---- the file ---- */

/* Writes to NAME.new, which then takes the place of NAME. */
static int replace(wacz *self, const char *name)
{
    const export_source *source = &self->source;
    char *beside;
    int error = VIDI_OK;

    if (asprintf(&beside, "%s.new", name) < 0)
        return export_fail(source, VIDI_EMEMORY, "%s", vidi_strerror(VIDI_EMEMORY));
    unlink(beside); /* left by a process that was killed */
    int fd = (int)TEMP_FAILURE_RETRY(open(beside, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    bool made = fd >= 0;
    if (made)
        error = write_all(self, fd);
    if (!made || (close(fd) != 0 && !error) || (!error && rename(beside, name) != 0) ||
        (!error && (errno = file_sync_folder_of(name)) != 0))
        error = export_fail(source, VIDI_EIO, "cannot write %s: %s", name, strerror(errno));
    if (error && made)
        unlink(beside);
    free(beside);
    return error;
}

int export_wacz(const export_options *options, export_result *result, char *why)
{
    wacz self = {.error = VIDI_OK};
    struct stat about;
    bool exists = stat(options->to, &about) == 0;
    char *real = exists ? realpath(options->to, NULL) : NULL; /* a link stays a link */
    int error = export_source_open(&self.source, options, result, why);

    if (!error && exists && !S_ISREG(about.st_mode))
        error = export_fail(&self.source, VIDI_EEXIST, "%s is not a regular file", options->to);
    if (!error)
        error = replace(&self, real ? real : options->to);
    export_source_close(&self.source);
    zip_close(self.zip);
    EVP_MD_CTX_free(self.sha256);
    bytes_free(&self.resources);
    bytes_free(&self.main_url);
    bytes_free(&self.main_title);
    free(real);
    return error;
}
