/*
 * Notes beside output files: see note_file.h. The file has a line "set ID sure BYTES owner NAME", and then the note as
 * common/output_file.h prints it, to the end of the file. It is written under another name and renamed.
 */
#include "pipeline/output/note_file.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/files.h"

#define SUFFIX ".note"
#define NEW_SUFFIX ".new"

enum { HEAD_ROOM = CLI_NOTE_OWNER_ROOM + 80, TEXT_ROOM = HEAD_ROOM + OUTPUT_NOTE_ROOM };

int cli_note_file_init(cli_note_file *file, const char *output)
{
    file->path = NULL;
    return asprintf(&file->path, "%s" SUFFIX, output) < 0 ? cli_error("out of memory") : CLI_OK;
}

void cli_note_file_free(cli_note_file *file)
{
    free(file->path);
    file->path = NULL;
}

/* ---- reading ---- */

/* Takes a word and the number after it, and the space that ends the number. NULL if they are not there. */
static const char *take_number(const char *at, const char *word, int base, uint64_t *value)
{
    size_t length = strlen(word);
    char *end;

    if (!at || strncmp(at, word, length) != 0 || !isxdigit((unsigned char)at[length]))
        return NULL;
    errno = 0;
    *value = strtoull(at + length, &end, base);
    return errno == 0 && *end == ' ' ? end + 1 : NULL;
}

/* Takes the first line apart, and returns what follows it; NULL if it is not such a line. */
static const char *parse_head(const char *text, cli_noted *noted)
{
    const char *at = take_number(text, "set ", 16, &noted->set_id);
    size_t word = strlen("owner ");

    at = take_number(at, "sure ", 10, &noted->sure);
    const char *end = at && strncmp(at, "owner ", word) == 0 ? strchr(at, '\n') : NULL;
    if (!end || end <= at + word || (size_t)(end - at) - word >= sizeof noted->owner)
        return NULL;
    memcpy(noted->owner, at + word, (size_t)(end - at) - word);
    return end + 1;
}

int cli_note_file_read(const cli_note_file *file, cli_noted *noted)
{
    char text[TEXT_ROOM];
    int fd = (int)TEMP_FAILURE_RETRY(open(file->path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));

    *noted = (cli_noted){0};
    if (fd < 0)
        return errno == ENOENT ? CLI_OK : cli_error("cannot read %s: %s", file->path, strerror(errno));
    ssize_t got = file_read_at(fd, text, sizeof text - 1, 0);
    int error = errno;
    close(fd);
    if (got < 0)
        return cli_error("cannot read %s: %s", file->path, strerror(error));
    text[got] = 0;
    const char *note = parse_head(text, noted);
    if (note && output_note_parse(note, &noted->note) && noted->note.present && noted->sure <= noted->note.length)
        return CLI_OK;
    return cli_error("%s is not a note about an output file, and one would be written there; move it away, or name "
                     "another --output",
                     file->path);
}

/* ---- writing ---- */

static int cannot_write(const cli_note_file *file)
{
    return cli_error("cannot write %s: %s", file->path, strerror(errno));
}

static int write_new(const cli_note_file *file, const char *new_path, const char *text)
{
    int fd = (int)TEMP_FAILURE_RETRY(open(new_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
    size_t length = strlen(text);

    if (fd < 0)
        return cannot_write(file);
    bool written = file_write(fd, text, length) == length && (!file->syncs || TEMP_FAILURE_RETRY(fsync(fd)) == 0);
    int status = written ? CLI_OK : cannot_write(file);
    if (close(fd) != 0 && status == CLI_OK)
        status = cannot_write(file);
    return status;
}

int cli_note_file_write(const cli_note_file *file, const output_note *note)
{
    char text[TEXT_ROOM], *new_path;
    int head = snprintf(text, HEAD_ROOM, "set %016" PRIx64 " sure %" PRIu64 " owner %s\n", file->set_id, file->sure,
                        file->owner);

    if (head < 0 || head >= HEAD_ROOM)
        return cli_error("the name of this run's claims is too long");
    if (asprintf(&new_path, "%s" NEW_SUFFIX, file->path) < 0)
        return cli_error("out of memory");
    output_note_print(note, text + head);
    int status = write_new(file, new_path, text);
    if (status == CLI_OK && rename(new_path, file->path) != 0)
        status = cannot_write(file);
    if (status == CLI_OK && file->syncs && (errno = file_sync_folder_of(file->path)) != 0)
        status = cannot_write(file);
    free(new_path);
    return status;
}
