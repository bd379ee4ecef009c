/*
 * An output file that a killed run has left: which file it must be, what is cut off, and what is on disk before that.
 * The system's calls are recorded where their order matters.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/output_file.h"
#include "support/check.h"
#include "support/runner.h"
#include "support/scratch.h"

#define COMMITTED "http://a/\nhttp://b/\n"
#define TAIL "http://c/\nhttp://torn"

static test_scratch folder;
static char path[TEST_PATH], calls[400]; /* in order: "sync NAME;", "cut NAME;" */

static void record(const char *what, int file)
{
    static const char *const names[] = {"out", "cut.1", "."};
    struct stat is, named;
    size_t len = strlen(calls);
    assert_int_equal(fstat(file, &is), 0);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (fstatat(folder.handle, names[i], &named, 0) == 0 && output_is_same(&is, &named))
            snprintf(calls + len, sizeof calls - len, "%s %s;", what, names[i]);
}

/* In the place of the C library's. */
int fsync(int file)
{
    record("sync", file);
    return (int)syscall(SYS_fsync, file);
}

int ftruncate(int file, off_t length)
{
    record("cut", file);
    return (int)syscall(SYS_ftruncate, file, length);
}

/* Writes the file anew, with another inode: the old one stays until the new one is there. */
static void save(const char *text)
{
    test_file_save(&folder, "new", text, strlen(text));
    assert_int_equal(renameat(folder.handle, "new", folder.handle, "out"), 0);
}

static void check_content(const char *name, const char *text)
{
    size_t bytes;
    unsigned char *content = test_file_load(&folder, name, &bytes);
    check(bytes == strlen(text) && memcmp(content, text, bytes) == 0, "%s has \"%.*s\"", name, (int)bytes,
          (char *)content);
    free(content);
}

/* The note that a run has committed for the first `length` bytes of the file, before it was killed. */
static output_note note_of(uint64_t length)
{
    output_file file;
    output_note note;
    assert_int_equal(output_file_open(&file, path, false), OUTPUT_OK);
    assert_int_equal(output_file_note(&file, length, false, &note), OUTPUT_OK);
    output_file_close(&file);
    return note;
}

/* The next run comes back to the file. */
static output_result resume(const output_note *note, bool copies, bool syncs)
{
    const output_terms terms = {.owner = "seen.vidi",
                                .folder = folder.path,
                                .or_else = "",
                                .unknown = "name another file",
                                .lost = "its URLs are new again",
                                .copies = copies,
                                .syncs = syncs};
    output_file file;
    assert_int_equal(output_file_open(&file, path, false), OUTPUT_OK);
    calls[0] = 0;
    output_result result = output_file_resume(&file, note, &terms);
    output_file_close(&file);
    return result;
}

/* Each test begins with an empty folder. */
static void begin(void **state)
{
    (void)state;
    test_scratch_empty(&folder);
}

static void what_a_killed_run_did_not_commit_is_cut_off(void **state)
{
    begin(state);
    save(COMMITTED TAIL);
    output_note note = note_of(strlen(COMMITTED));
    check(resume(&note, false, true) == OUTPUT_OK, "the file is refused");
    check_content("out", COMMITTED);
    check_content("cut.1", TAIL);
}

/* It may be the output of somebody else, or an older state of this one, and what follows the length is theirs. */
static void another_file_of_that_name_is_refused_and_left_alone(void **state)
{
    begin(state);
    save(COMMITTED TAIL);
    output_note note = note_of(strlen(COMMITTED));
    save(COMMITTED TAIL);
    check(resume(&note, false, true) == OUTPUT_REFUSED, "a file with another inode is taken");
    check_content("out", COMMITTED TAIL);
    check(!test_file_exists(&folder, "cut.1"), "something was cut off");
}

static void before_its_first_commit_a_run_owns_the_file_that_it_made_and_no_other(void **state)
{
    begin(state);
    save("");
    output_note note = note_of(0);
    save(COMMITTED);
    check(resume(&note, false, true) == OUTPUT_REFUSED, "a file that it did not make is taken");
    check(resume(&note, true, true) == OUTPUT_REFUSED, "a file that it did not make is taken for a copy");
    check_content("out", COMMITTED);
    note = note_of(0);
    check(resume(&note, false, true) == OUTPUT_OK, "its own file is refused");
    check_content("out", "");
    check_content("cut.1", COMMITTED);
}

static void a_copy_will_do_if_the_owner_says_so(void **state)
{
    begin(state);
    save(COMMITTED TAIL);
    output_note note = note_of(strlen(COMMITTED));
    save(COMMITTED TAIL);
    check(resume(&note, true, true) == OUTPUT_OK, "a copy is refused");
    check_content("out", COMMITTED);
}

/* A power failure must not take away both the end of the file and its copy. */
static void bytes_are_on_disk_elsewhere_before_they_are_cut_off(void **state)
{
    begin(state);
    save(COMMITTED TAIL);
    output_note note = note_of(strlen(COMMITTED));
    check(resume(&note, false, true) == OUTPUT_OK, "the file is refused");
    assert_string_equal(calls, "sync cut.1;sync .;cut out;sync out;");
}

static void nothing_is_synced_for_an_owner_that_never_syncs(void **state)
{
    begin(state);
    save(COMMITTED TAIL);
    output_note note = note_of(strlen(COMMITTED));
    check(resume(&note, false, false) == OUTPUT_OK, "the file is refused");
    assert_string_equal(calls, "cut out;");
}

int main(int argc, char **argv)
{
    test_scratch_make(&folder);
    test_path(path, folder.path, "out");
    test_add("what a killed run did not commit is cut off", what_a_killed_run_did_not_commit_is_cut_off, NULL);
    test_add("another file of that name is refused and left alone", another_file_of_that_name_is_refused_and_left_alone,
             NULL);
    test_add("before its first commit a run owns the file that it made and no other",
             before_its_first_commit_a_run_owns_the_file_that_it_made_and_no_other, NULL);
    test_add("a copy will do if the owner says so", a_copy_will_do_if_the_owner_says_so, NULL);
    test_add("bytes are on disk elsewhere before they are cut off", bytes_are_on_disk_elsewhere_before_they_are_cut_off,
             NULL);
    test_add("nothing is synced for an owner that never syncs", nothing_is_synced_for_an_owner_that_never_syncs, NULL);
    int result = test_run("common/output_file", argc, argv);
    test_scratch_remove(&folder);
    return result;
}
