/*
 * The output file: see jsonl_output.h. The database has two entries about it, output_note and output_digest.
 */
#include "crawler/crawl/jsonl_output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/files.h"

int output_note_read(crawl_db *from, output_note *note, uint64_t *digest)
{
    bytes text = {0};
    int64_t sum = 0;
    int error = db_get_text(from, "output_note", &text);

    if (error == VIDI_OK)
        error = db_get(from, "output_digest", &sum);
    if (error == VIDI_EABSENT)
        error = VIDI_OK;
    if (error == VIDI_OK)
        error = bytes_append(&text, "", 1);
    if (error == VIDI_OK && !output_note_parse(text.ptr, note))
        error = VIDI_EDAMAGED;
    *digest = (uint64_t)sum;
    bytes_free(&text);
    return error;
}

static int note_write(crawl_db *to, const output_note *note, uint64_t digest)
{
    char text[OUTPUT_NOTE_ROOM];

    output_note_print(note, text);
    int error = db_set_text(to, "output_note", (vidi_str){text, strlen(text)});
    return error ? error : db_set(to, "output_digest", (int64_t)digest);
}

/* ---- opening ---- */

static int code_of(output_result result)
{
    return result == OUTPUT_OK        ? VIDI_OK
           : result == OUTPUT_LOCKED  ? VIDI_EBUSY
           : result == OUTPUT_REFUSED ? VIDI_EEXIST
                                      : VIDI_EIO;
}

static int open_file(output *output, const char *path, const char *folder, crawl_db *from)
{
    output_terms terms = {.owner = "this crawl",
                          .folder = folder,
                          .or_else = ", or leave --jsonl out",
                          .unknown = "move it away, or name another file",
                          .lost = "they will be written again",
                          .copies = true,
                          .syncs = true};
    output_note had;
    int error = output_note_read(from, &had, &output->digest);

    if (error) {
        snprintf(output->file.why, sizeof output->file.why, "%s", db_error(from));
        return error;
    }
    bool is_new = access(path, F_OK) != 0;
    output_result result = output_file_open(&output->file, path, had.length == 0);
    if (result == OUTPUT_OK)
        result = output_file_resume(&output->file, &had, &terms);
    if (result == OUTPUT_OK && !output->file.known)
        output->digest = 0;
    int failed = result == OUTPUT_OK ? file_sync_folder_of(path) : 0;
    if (failed) {
        snprintf(output->file.why, sizeof output->file.why, "cannot sync the folder of %.1000s: %s", path,
                 strerrordesc_np(failed));
        result = OUTPUT_FAILED;
    }
    if (result != OUTPUT_OK && is_new && output->file.fd >= 0)
        unlink(path);
    return code_of(result);
}

int output_open(output *out, const char *path, const char *folder, crawl_db *from)
{
    struct stat about;

    *out = (output){.file = {.fd = -1}, .folder = folder};
    if (!path)
        return VIDI_OK;
    if (strcmp(path, "-") == 0) {
        out->file.fd = STDOUT_FILENO;
        out->is_stream = true;
        return VIDI_OK;
    }
    if (stat(path, &about) == 0 && !S_ISREG(about.st_mode) && !S_ISDIR(about.st_mode)) {
        out->file.fd = (int)TEMP_FAILURE_RETRY(open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY));
        out->is_stream = true;
        if (out->file.fd >= 0)
            return VIDI_OK;
        snprintf(out->file.why, sizeof out->file.why, "cannot write %.1000s: %s", path, strerrordesc_np(errno));
        return VIDI_EIO;
    }
    int error = open_file(out, path, folder, from);
    if (error)
        output_close(out);
    return error;
}

bool output_is_open(const output *output)
{
    return output->file.fd >= 0;
}

void output_close(output *output)
{
    if (output->file.fd == STDOUT_FILENO)
        output->file.fd = -1;
    output_file_close(&output->file);
}

/* ---- writing ---- */

static int write_failed(output *output)
{
    output->file.failed = errno;
    return errno == ENOSPC || errno == EDQUOT || errno == EFBIG ? VIDI_ELIMIT : VIDI_EIO;
}

int output_write(output *output, vidi_str lines)
{
    if (!output_is_open(output) || lines.len == 0)
        return VIDI_OK;
    size_t done = file_write(output->file.fd, lines.ptr, lines.len);
    if (done < lines.len) {
        int error = write_failed(output);
        if (!output->is_stream)
            (void)output_file_cut(&output->file, output->written, output->written + done);
        return error;
    }
    output->written += lines.len;
    output->digest = output->is_stream ? 0 : output_checksum(output->digest, lines.ptr, lines.len);
    return VIDI_OK;
}

int output_sync(output *output)
{
    if (!output_is_open(output) || output->is_stream || TEMP_FAILURE_RETRY(fdatasync(output->file.fd)) == 0)
        return VIDI_OK;
    return write_failed(output);
}

static int close_note(crawl_db *to)
{
    output_note had;
    uint64_t digest;
    int error = output_note_read(to, &had, &digest);

    if (error || !had.present || had.closed)
        return error;
    had.closed = true;
    return note_write(to, &had, digest);
}

static void name_inside_folder(const output *output, output_note *note)
{
    char folder[PATH_MAX];
    size_t n = realpath(output->folder, folder) ? strlen(folder) : 0;

    if (n > 0 && strncmp(note->path, folder, n) == 0 && note->path[n] == '/')
        memmove(note->path, note->path + n + 1, strlen(note->path) - n);
}

int output_commit(output *output, crawl_db *to, bool ends)
{
    uint64_t length = output->file.start + output->written;
    output_note note;

    if (!output_is_open(output) || output->is_stream)
        return close_note(to);
    if (output_file_check(&output->file, output->written) != OUTPUT_OK ||
        output_file_note(&output->file, length, ends, &note) != OUTPUT_OK)
        return VIDI_EDIFFERS;
    name_inside_folder(output, &note);
    output->file.length = length;
    return note_write(to, &note, output->digest);
}
