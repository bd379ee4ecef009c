/*
 * --junit: what a link check has found as JUnit's XML, which CI systems show. A test case for each URL that was asked
 * for, and one for each fragment that leads nowhere:
 *
 *     <testcase classname="example.org" name="https://example.org/gone" time="0.012">
 *     <failure message="404" type="broken">https://example.org/  "our history"
 *     </failure>
 *     </testcase>
 *
 * What may be there or not is a case that was skipped. The head has the numbers of all, which are known at the end only:
 * it has a fixed length, and is written last. The file is written beside its place, and renamed when it is complete.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "commands/crawl/crawl.h"
#include "common/files.h"
#include "common/utf8.h"

enum { HEAD = 320 };

static const char declaration[] = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n";

typedef struct junit {
    cli_out out;
    uint64_t tests, failures, skipped;
    double seconds;
    const char *end; /* of the test case that is open; NULL: none is */
} junit;

/* ---- XML ---- */

static const char *entity_of(uint32_t code)
{
    return code == '&' ? "&amp;" : code == '<' ? "&lt;" : code == '>' ? "&gt;" : code == '"' ? "&quot;" : NULL;
}

/* Servers choose the texts. What XML cannot have, or a terminal would act on, is replaced. */
static void put(junit *self, vidi_str text)
{
    for (size_t i = 0; i < text.len;) {
        size_t length = utf8_length(text.ptr + i, text.len - i);
        uint32_t code = length ? utf8_code(text.ptr + i, length) : 0;
        const char *entity = entity_of(code);
        if (!length || utf8_is_control(code) || (code & 0xFFFE) == 0xFFFE)
            cli_out_text(&self->out, "?");
        else if (entity)
            cli_out_text(&self->out, entity);
        else
            cli_out_bytes(&self->out, text.ptr + i, length);
        i += length ? length : 1;
    }
}

static void put_string(junit *self, const char *text)
{
    put(self, (vidi_str){text, strlen(text)});
}

/* ---- test cases ---- */

static void end_case(junit *self)
{
    if (self->end)
        cli_out_text(&self->out, self->end);
    self->end = NULL;
}

/* "example.org:8080" of "https://example.org:8080/a": CI systems group the cases by it. */
static vidi_str host_of(vidi_str url)
{
    const char *scheme = memmem(url.ptr, url.len, "://", 3);
    const char *from = scheme ? scheme + 3 : url.ptr, *end = url.ptr + url.len;
    const char *slash = memchr(from, '/', (size_t)(end - from));

    return (vidi_str){from, (size_t)((slash ? slash : end) - from)};
}

/* "404" or "timeout: no byte for 30 seconds" */
static void put_message(junit *self, const report_broken *url)
{
    if (url->status)
        cli_out_format(&self->out, "%d", url->status);
    if (url->reason) {
        cli_out_text(&self->out, url->status ? " " : "");
        put_string(self, url->reason);
    }
    if (url->error && *url->error) {
        cli_out_text(&self->out, ": ");
        put_string(self, url->error);
    }
}

static int put_case(void *context, const report_broken *url)
{
    junit *self = context;
    cli_out *out = &self->out;

    end_case(self);
    self->tests++;
    self->seconds += url->seconds;
    cli_out_text(out, "<testcase classname=\"");
    put(self, host_of(url->url));
    cli_out_text(out, "\" name=\"");
    put(self, url->url);
    cli_out_format(out, "\" time=\"%.3f\"", url->seconds);
    if (url->state == REPORT_FINE) {
        cli_out_text(out, "/>\n");
        return out->error ? 1 : 0;
    }
    bool failed = url->state == REPORT_BROKEN;
    self->failures += failed;
    self->skipped += !failed;
    cli_out_text(out, failed ? ">\n<failure message=\"" : ">\n<skipped message=\"");
    put_message(self, url);
    cli_out_text(out, failed ? "\" type=\"broken\">" : "\"/>\n</testcase>\n");
    self->end = failed ? "</failure>\n</testcase>\n" : NULL;
    return out->error ? 1 : 0;
}

static int put_referrer(void *context, const report_referrer *from)
{
    junit *self = context;

    put(self, from->page);
    if (from->text.len > 0) {
        cli_out_text(&self->out, "  &quot;");
        put(self, from->text);
        cli_out_text(&self->out, "&quot;");
    }
    if (from->through.ptr) {
        cli_out_text(&self->out, ", through ");
        put(self, from->through);
    }
    cli_out_text(&self->out, "\n");
    return self->out.error ? 1 : 0;
}

/* ---- the file ---- */

/* Spaces between attributes fill it up. */
static void make_head(const junit *self, char head[HEAD + 1])
{
    char text[HEAD];

    snprintf(text, sizeof text,
             "%s<testsuite name=\"vidi crawl --check\" tests=\"%llu\" failures=\"%llu\" errors=\"0\" skipped=\"%llu\""
             " time=\"%.3f\"",
             declaration, (unsigned long long)self->tests, (unsigned long long)self->failures,
             (unsigned long long)self->skipped, self->seconds);
    snprintf(head, HEAD + 1, "%-*.*s>\n", HEAD - 2, HEAD - 2, text);
}

static int write_all(const cli_crawl_account *account, int fd, const char *name)
{
    junit self = {.tests = 0};
    report_visitor visitor = {.broken = put_case, .referrer = put_referrer, .context = &self, .all = true};
    char head[HEAD + 1];

    cli_out_init(&self.out, fd);
    make_head(&self, head);
    cli_out_text(&self.out, head);
    int error = report_broken_links(account->report, &visitor);
    end_case(&self);
    cli_out_text(&self.out, "</testsuite>\n</testsuites>\n");
    int status = cli_out_flush(&self.out);
    free(self.out.buffer);
    make_head(&self, head);
    if (error < 0)
        return cli_error("%s", report_error(account->report));
    if (status == CLI_OK && (pwrite(fd, head, HEAD, 0) != HEAD || TEMP_FAILURE_RETRY(fsync(fd)) != 0))
        self.out.error = errno;
    return self.out.error ? cli_error("cannot write %s: %s", name, strerror(self.out.error)) : status;
}

int cli_crawl_junit_check(const char *name)
{
    struct stat about;
    char *folder = strdup(name), *slash = folder ? strrchr(folder, '/') : NULL;
    int status = CLI_OK;

    if (slash)
        slash[slash == folder] = 0;
    if (!folder)
        status = cli_error("out of memory");
    else if (stat(name, &about) == 0 && !S_ISREG(about.st_mode))
        status = cli_error("--junit: %s is not a regular file", name);
    else if (access(slash ? folder : ".", W_OK) != 0)
        status = cli_error("--junit: cannot write to the folder %s: %s", slash ? folder : ".", strerror(errno));
    free(folder);
    return status;
}

int cli_crawl_junit(const cli_crawl_account *account, const char *name)
{
    char *target = realpath(name, NULL), *beside; /* a link stays a link */
    int status = CLI_OK;

    if (asprintf(&beside, "%s.new", target ? target : name) < 0) {
        free(target);
        return cli_error("out of memory");
    }
    int fd = (int)TEMP_FAILURE_RETRY(open(beside, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666));
    if (fd >= 0)
        status = write_all(account, fd, name);
    if (fd < 0 || (close(fd) != 0 && status == CLI_OK) ||
        (status == CLI_OK && rename(beside, target ? target : name) != 0) ||
        (status == CLI_OK && (errno = file_sync_folder_of(name)) != 0))
        status = cli_error("cannot write %s: %s", name, strerror(errno));
    if (status != CLI_OK && fd >= 0)
        unlink(beside);
    free(beside);
    free(target);
    return status;
}
