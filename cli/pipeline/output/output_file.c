/*
 * The output file of a run: see output_file.h. common/output_file.h does the work; here are the set's note and the
 * messages.
 */
#include "pipeline/output/output_file.h"

#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/files.h"
#include "pipeline/state.h"
#include "ui/output.h"

/* ---- before anything is opened ---- */

int cli_output_check(const char *path, cli_words inputs)
{
    struct stat about, input;

    if (strcmp(path, "-") == 0)
        return cli_error("--output needs a file; leave it out to write to standard output");
    if (stat(path, &about) != 0) /* if it cannot be made, opening it will say so */
        return CLI_OK;
    if (S_ISDIR(about.st_mode))
        return cli_error("cannot write %s: it is a folder", path);
    if (!S_ISREG(about.st_mode))
        return cli_error("cannot write %s: --output takes regular files only; redirect with '> %s'", path, path);
    bool from_stdin = inputs.count == 0;
    for (size_t i = 0; i < inputs.count; i++) {
        bool dash = strcmp(inputs.list[i], "-") == 0;
        if (!dash && stat(inputs.list[i], &input) == 0 && output_is_same(&about, &input))
            return cli_error("cannot write %s: it is also an input file", path);
        from_stdin = from_stdin || dash;
    }
    if (from_stdin && fstat(STDIN_FILENO, &input) == 0 && output_is_same(&about, &input))
        return cli_error("cannot write %s: it is also standard input", path);
    return CLI_OK;
}

static int check_outside(const char *path, const char *state)
{
    char text[PATH_MAX];
    struct stat folder, set;

    if (snprintf(text, sizeof text, "%s", path) >= PATH_MAX)
        return cli_error("cannot write %s: %s", path, strerror(ENAMETOOLONG));
    if (stat(dirname(text), &folder) == 0 && stat(state, &set) == 0 && output_is_same(&folder, &set))
        return cli_error("cannot write %s: it is in the folder of the state; name a file elsewhere", path);
    return CLI_OK;
}

/* ---- opening and locking ---- */

/* Opens the file and locks it. With `wait`, waits while another process has it locked. */
static int open_locked(cli_output_file *file, const char *path, bool create, bool wait)
{
    bool told = false;
    int status = CLI_GO_ON;

    while (status == CLI_GO_ON) {
        output_result result = output_file_open(&file->base, path, create);
        if (result == OUTPUT_OK)
            return CLI_OK;
        if (result != OUTPUT_LOCKED)
            return cli_error("%s", file->base.why);
        if (!wait)
            return cli_error("%s; name another --output%s", file->base.why,
                             file->noted ? ", or wait for it with --wait" : "");
        if (!told)
            cli_warning("%s; waiting until it is free", file->base.why);
        told = true;
        status = cli_wait_a_moment();
    }
    return status;
}

int cli_output_replace(cli_output_file *file, const char *path)
{
    *file = (cli_output_file){.base = {.fd = -1}};
    int status = open_locked(file, path, true, false);
    if (status == CLI_OK && TEMP_FAILURE_RETRY(ftruncate(file->base.fd, 0)) != 0)
        return cli_error("cannot write %s: %s", path, strerror(errno));
    return status;
}

/* ---- the note ---- */

static int read_note(const vidi_set *set, const char *state, output_note *found)
{
    char text[VIDI_NOTE_MAX + 1];
    size_t length = VIDI_NOTE_MAX;
    int error = vidi_note(set, text, &length);

    *found = (output_note){0};
    if (error < 0)
        return cli_state_error(state, error);
    text[length] = 0;
    return output_note_parse(text, found)
               ? CLI_OK
               : cli_error("%s has a note that is not about an output file; use it without --output", state);
}

/* On a server, the note comes first. */
static int commit_note(cli_output_file *file, const cli_target *target, uint64_t mark, const output_note *note)
{
    char text[OUTPUT_NOTE_ROOM];

    if (target->away) {
        if (note->closed) /* everything was committed before */
            file->beside.sure = note->length;
        CLI_TRY(cli_note_file_write(&file->beside, note));
        CLI_TRY(cli_target_status(target, cli_target_commit_to(target, mark)));
        file->beside.sure = note->length;
        return CLI_OK;
    }
    output_note_print(note, text);
    return cli_library_status(vidi_commit_note(target->here, mark, (vidi_str){text, strlen(text)}));
}

int cli_output_commit(cli_output_file *file, const cli_target *target, uint64_t mark, uint64_t covered,
                      uint64_t written)
{
    uint64_t length = file->base.start + covered;
    output_note note;

    if (output_file_check(&file->base, written) != OUTPUT_OK)
        return cli_error("%s%s", file->base.why,
                         file->base.failed ? "" : "; what was not committed yet will be new again");
    if (output_file_note(&file->base, length, false, &note) != OUTPUT_OK)
        return cli_error("%s", file->base.why);
    CLI_TRY(commit_note(file, target, mark, &note));
    file->base.length = length;
    return CLI_OK;
}

int cli_output_finish(cli_output_file *file, const cli_target *target, uint64_t mark)
{
    struct stat about;
    output_note note;

    if (fstat(file->base.fd, &about) != 0 || (uint64_t)about.st_size != file->base.length)
        return CLI_OK; /* lines that are not committed are left, and the next run will cut them off */
    if (output_file_note(&file->base, file->base.length, true, &note) != OUTPUT_OK)
        return cli_error("%s", file->base.why);
    return commit_note(file, target, mark, &note);
}

int cli_output_commit_without(const cli_target *target, uint64_t mark)
{
    char text[VIDI_NOTE_MAX + 1];
    size_t length = VIDI_NOTE_MAX;
    output_note note;

    if (target->away)
        return cli_target_status(target, cli_target_commit_to(target, mark));
    int error = vidi_note(target->here, text, &length);
    text[error < 0 ? 0 : length] = 0;
    if (error == VIDI_OK && output_note_parse(text, &note) && note.present && !note.closed) {
        note.closed = true;
        return commit_note(NULL, target, mark, &note);
    }
    if (error == VIDI_OK)
        error = vidi_commit_to(target->here, mark);
    return cli_library_status(error);
}

/* ---- coming back to a file ---- */

/*
 * The first note, as soon as the file is known: if the run is killed before its first commit, the next one knows what
 * to cut off. The set is synced even if the user wants no syncs, because the log keeps records in memory for a moment,
 * and the note must have left this process before the first byte of output.
 */
static int note_beginning(cli_output_file *file, const cli_output_terms *terms)
{
    uint64_t mark;
    int failed = terms->syncs && TEMP_FAILURE_RETRY(fsync(file->base.fd)) != 0 ? errno : 0;

    if (terms->syncs && !failed)
        failed = file_sync_folder_of(file->base.path);
    if (failed)
        return cli_error("cannot sync %s: %s", file->base.path, strerror(failed));
    CLI_TRY(cli_target_status(terms->target, cli_target_mark(terms->target, &mark)));
    CLI_TRY(cli_output_commit(file, terms->target, mark, 0, 0));
    return cli_target_status(terms->target, cli_target_sync(terms->target));
}

/* Compares the open file, or the absence of one, with the note. */
static int resume(cli_output_file *file, const cli_output_terms *terms, const output_note *had, const char *folder)
{
    output_terms how = {.owner = terms->state,
                        .folder = folder,
                        .unknown = "move it away, or name another --output",
                        .lost = "their URLs are new again",
                        .fresh = terms->fresh ? "--output-new" : NULL,
                        .syncs = terms->syncs};

    how.or_else = file->base.fd < 0 ? ", or begin a new file with --output-new"
                                    : ", or move this one away and begin a new file with --output-new";
    if (output_file_resume(&file->base, had, &how) != OUTPUT_OK)
        return cli_error("%s", file->base.why);
    if (*file->base.why)
        cli_warning("%s", file->base.why);
    return CLI_OK;
}

static int resume_here(cli_output_file *file, const char *path, const cli_output_terms *terms)
{
    output_note had;

    CLI_TRY(check_outside(path, terms->state));
    CLI_TRY(read_note(terms->target->here, terms->state, &had));
    CLI_TRY(open_locked(file, path, terms->fresh || had.length == 0, terms->wait));
    CLI_TRY(resume(file, terms, &had, terms->state));
    return file->base.known && !had.closed ? CLI_OK : note_beginning(file, terms);
}

/* ---- the same for a set on a server ---- */

/* Reads the note beside the file; a new file has none. */
static int read_note_beside(const cli_output_file *file, const cli_output_terms *terms, cli_noted *noted)
{
    *noted = (cli_noted){0};
    if (terms->fresh)
        return CLI_OK;
    CLI_TRY(cli_note_file_read(&file->beside, noted));
    if (noted->note.present && noted->set_id != file->beside.set_id)
        return cli_error(
            "%s says that %s was written for another set than %s; name another --output, or move both away "
            "and begin a new file with --output-new",
            file->beside.path, file->base.path, terms->state);
    return CLI_OK;
}

/*
 * The run that wrote the note is dead, because the file is not locked. What is in the file is committed; what else that
 * run had claimed is new again at once.
 */
static int take_over(cli_output_file *file, const cli_output_terms *terms, const cli_noted *had)
{
    file->beside.sure = file->base.length;
    if (!file->base.known || had->note.closed)
        return CLI_OK;
    CLI_TRY(cli_recommit(file->base.fd, file->base.path, &terms->lines, had->sure, had->note.length,
                         terms->target->away, had->owner));
    return cli_target_status(terms->target, vidi_cluster_abandon(terms->target->away, had->owner, NULL));
}

static int identify_set(const cli_target *target, uint64_t *id)
{
    vidi_stats stats = {.size = sizeof stats};
    vidi_cluster_stats more;
    int error = cli_target_stat(target, &stats, &more);

    *id = more.set_id;
    return cli_target_status(target, error);
}

static int resume_away(cli_output_file *file, const char *path, const cli_output_terms *terms)
{
    char folder[PATH_MAX];
    cli_noted had;

    if (snprintf(folder, sizeof folder, "%s", path) >= PATH_MAX)
        return cli_error("cannot write %s: %s", path, strerror(ENAMETOOLONG));
    file->beside = (cli_note_file){.owner = terms->owner, .syncs = terms->syncs};
    CLI_TRY(cli_note_file_init(&file->beside, path));
    CLI_TRY(identify_set(terms->target, &file->beside.set_id));
    CLI_TRY(read_note_beside(file, terms, &had));
    CLI_TRY(open_locked(file, path, terms->fresh || had.note.length == 0, terms->wait));
    CLI_TRY(read_note_beside(file, terms, &had)); /* it may have changed before the file was locked */
    CLI_TRY(resume(file, terms, &had.note, dirname(folder)));
    CLI_TRY(take_over(file, terms, &had));
    return note_beginning(file, terms);
}

int cli_output_resume(cli_output_file *file, const char *path, const cli_output_terms *terms)
{
    *file = (cli_output_file){.base = {.path = path, .fd = -1}, .noted = true};
    return terms->target->away ? resume_away(file, path, terms) : resume_here(file, path, terms);
}

bool cli_output_cut(cli_output_file *file, uint64_t kept, uint64_t written)
{
    return output_file_cut(&file->base, kept, written);
}

void cli_output_close(cli_output_file *file)
{
    output_file_close(&file->base);
    cli_note_file_free(&file->beside);
}
