/*
 * Folders from which files are missing, as after a copy that was interrupted: every subset of a set's files, and every
 * subset with one more file that is cut off. Files are copied in whatever order a folder lists them, so these are all the
 * states that an interrupted copy can leave. And one wrong bit in each byte of a folder that was closed properly.
 *
 * Whatever is left, a writer finds everything that was committed, or refuses and changes nothing. A reader finds
 * everything, or says what is gone, or refuses. If the caller accepts the damage, the next opening finds none.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/base.h"
#include "store/file.h"
#include "support/access.h"
#include "support/check.h"
#include "support/env.h"
#include "support/runner.h"
#include "support/scratch.h"

enum { URLS = 36, MOST_FILES = 8 };

static test_scratch folder;
static struct {
    uint64_t states, whole, refused, told, accepted;
} shown;

typedef struct file {
    char name[40];
    unsigned char *bytes;
    size_t size;
} file;

/* A folder, and what its set says about each URL, in the current epoch and in the previous one. */
typedef struct sample {
    const char *what;
    file files[MOST_FILES];
    size_t count;
    int8_t answers[2 * URLS];
} sample;

static vidi_str url_at(size_t i)
{
    static char ring[8][64];
    static size_t turn;
    char *text = ring[turn++ % 8];
    int len = snprintf(text, 64, "https://h%zu.example/%zu/page", i % 5, i);
    return (vidi_str){text, (size_t)len};
}

static void ask(const vidi_set *set, int8_t answers[2 * URLS])
{
    for (size_t i = 0; i < URLS; i++) {
        answers[i] = (int8_t)vidi_has(set, url_at(i));
        answers[URLS + i] = (int8_t)vidi_has_previous(set, url_at(i));
    }
}

/* ---- folders ---- */

static void add(vidi_set *set, size_t first, size_t n)
{
    for (size_t i = first; i < first + n; i++)
        assert_int_equal(vidi_add(set, url_at(i)), VIDI_NEW);
}

static vidi_set *make(void)
{
    vidi_options options = VIDI_OPTIONS_INIT;
    vidi_set *set;
    options.kind = "hashset";
    options.path = folder.path;
    test_scratch_empty(&folder);
    check(vidi_create(&set, &options) == VIDI_OK, "%s", vidi_message());
    return set;
}

static vidi_set *make_one_log(void)
{
    vidi_set *set = make();
    add(set, 0, 20);
    return set;
}

static vidi_set *make_nothing(void)
{
    return make();
}

static vidi_set *make_after_a_snapshot(void)
{
    vidi_set *set = make_one_log();
    assert_int_equal(vidi_snapshot(set), VIDI_OK);
    add(set, 20, 5);
    return set;
}

static int no_rename_of_snapshots(int in, const char *from, const char *to)
{
    errno = ENOSPC;
    return strncmp(from, "set.", 4) == 0 ? -1 : vidi__system_real.rename(in, from, to);
}

/* A snapshot that fails leaves the old log and a new one. */
static vidi_set *make_two_logs(void)
{
    vidi__system hooked = vidi__system_real;
    vidi_set *set = make_one_log();
    hooked.rename = no_rename_of_snapshots;
    vidi__system_now = &hooked;
    assert_int_equal(vidi_snapshot(set), VIDI_EIO);
    vidi__system_now = &vidi__system_real;
    add(set, 20, 5);
    return set;
}

/* A crash has cut off the last write; the next process goes on in a new log. */
static vidi_set *make_a_torn_log_and_another(void)
{
    size_t size;
    vidi_close(make_one_log());
    unsigned char *bytes = test_file_load(&folder, "log.0000000000000001", &size);
    unsigned char *torn = calloc(size + 13, 1);
    memcpy(torn, bytes, size);
    test_file_save(&folder, "log.0000000000000001", torn, size + 13);
    free(torn);
    free(bytes);
    vidi_set *set;
    assert_int_equal(vidi_open(&set, folder.path, NULL), VIDI_OK);
    add(set, 20, 5);
    return set;
}

static vidi_set *make_a_previous_epoch(void)
{
    vidi_options next = VIDI_OPTIONS_INIT;
    vidi_set *set = make_one_log();
    next.flags = VIDI_KEEP_PREVIOUS;
    assert_int_equal(vidi_rotate(set, &next), VIDI_OK);
    add(set, 15, 10);
    return set;
}

static const struct way {
    const char *what;
    vidi_set *(*make)(void);
} ways[] = {
    {"nothing was added", make_nothing},
    {"one log", make_one_log},
    {"after a snapshot", make_after_a_snapshot},
    {"two logs", make_two_logs},
    {"a torn log and another", make_a_torn_log_and_another},
    {"a previous epoch", make_a_previous_epoch},
};

static int take_file(void *context, const char *name)
{
    sample *of = context;
    if (strcmp(name, "lock") == 0)
        return 0;
    file *next = &of->files[of->count++];
    assert_true(of->count <= MOST_FILES);
    snprintf(next->name, sizeof next->name, "%s", name);
    next->bytes = test_file_load(&folder, name, &next->size);
    return 0;
}

static void take_sample(sample *of, const struct way *from)
{
    vidi_set *set;
    *of = (sample){.what = from->what};
    vidi_close(from->make());
    assert_int_equal(test_open(&set, folder.path, VIDI_READ_ONLY), VIDI_OK);
    ask(set, of->answers);
    vidi_close(set);
    assert_int_equal(vidi__system_real.list(folder.handle, take_file, of), 0);
}

static void free_sample(sample *of)
{
    for (size_t i = 0; i < of->count; i++)
        free(of->files[i].bytes);
}

/* ---- one state ---- */

/* What is left of a folder: the files of a sample, each with this length, or not there at all. */
enum { ABSENT = -1 };
typedef struct state {
    const sample *of;
    long sizes[MOST_FILES];
    char how[120];
} state;

static void restore(const state *self)
{
    test_scratch_empty(&folder);
    for (size_t i = 0; i < self->of->count; i++)
        if (self->sizes[i] != ABSENT)
            test_file_save(&folder, self->of->files[i].name, self->of->files[i].bytes, (size_t)self->sizes[i]);
}

typedef struct looking {
    const state *at;
    size_t found;
} looking;

static int must_be_as_it_was(void *context, const char *name)
{
    looking *self = context;
    const state *at = self->at;
    if (strcmp(name, "lock") == 0)
        return 0;
    for (size_t i = 0; i < at->of->count; i++) {
        if (at->sizes[i] == ABSENT || strcmp(name, at->of->files[i].name) != 0)
            continue;
        size_t size;
        unsigned char *bytes = test_file_load(&folder, name, &size);
        bool same = size == (size_t)at->sizes[i] && memcmp(bytes, at->of->files[i].bytes, size) == 0;
        free(bytes);
        check(same, "%s, %s: %s was changed", at->of->what, at->how, name);
        self->found++;
        return 0;
    }
    check(false, "%s, %s: %s was made", at->of->what, at->how, name);
    return 0;
}

static void must_be_untouched(const state *self)
{
    looking look = {self, 0};
    size_t there = 0;
    for (size_t i = 0; i < self->of->count; i++)
        there += self->sizes[i] != ABSENT;
    assert_int_equal(vidi__system_real.list(folder.handle, must_be_as_it_was, &look), 0);
    check(look.found == there, "%s, %s: a file was removed", self->of->what, self->how);
}

static bool is_told(const vidi_set *set)
{
    vidi_recovery found = {.size = sizeof found};
    assert_int_equal(vidi_recovered(set, &found), VIDI_OK);
    return found.damaged_bytes || found.missing_files;
}

static bool has_everything(const state *self, const vidi_set *set)
{
    int8_t answers[2 * URLS];
    ask(set, answers);
    return memcmp(answers, self->of->answers, sizeof answers) == 0;
}

static void read_it(const state *self, unsigned flags)
{
    vidi_set *set;
    int code = test_open(&set, folder.path, VIDI_READ_ONLY | flags);
    if (code == VIDI_OK) {
        bool mapped = flags == 0 && vidi_verify(set) != VIDI_OK; /* a wrong snapshot that is mapped is found out so */
        bool told = is_told(set);
        check(mapped || told || has_everything(self, set), "%s, %s: a reader is not told", self->of->what, self->how);
        shown.told += told;
        vidi_close(set);
    } else {
        check(code == VIDI_EFORMAT || code == VIDI_EABSENT, "%s, %s: %d, %s", self->of->what, self->how, code,
              vidi_message());
    }
    must_be_untouched(self);
}

/* What was accepted is not damage any more. */
static void accept(const state *self)
{
    vidi_set *set;
    int8_t before[2 * URLS], after[2 * URLS];
    int code = test_open(&set, folder.path, VIDI_ACCEPT_DAMAGE);
    check(code == VIDI_OK && is_told(set), "%s, %s, accepted: %d, %s", self->of->what, self->how, code, vidi_message());
    ask(set, before);
    for (size_t i = 0; i < URLS;
         i++) { /* without the manifest and the snapshot in force, the previous epoch is all there is */
        bool added = self->of->answers[i] == VIDI_SEEN || self->of->answers[URLS + i] == VIDI_SEEN;
        check(before[i] != VIDI_SEEN || added, "%s, %s, accepted: URL %zu was never added", self->of->what, self->how,
              i);
    }
    vidi_close(set);
    code = vidi_open(&set, folder.path, NULL);
    check(code == VIDI_OK && !is_told(set), "%s, %s, after it was accepted: %d, %s", self->of->what, self->how, code,
          vidi_message());
    ask(set, after);
    assert_memory_equal(before, after, sizeof before);
    vidi_close(set);
    shown.accepted++;
}

static void write_to_it(const state *self)
{
    vidi_set *set;
    vidi_options options = VIDI_OPTIONS_INIT;
    options.path = folder.path;
    int code = vidi_open_or_create(&set, &options);
    if (code == VIDI_OK) {
        check(has_everything(self, set), "%s, %s: a writer finds less than everything", self->of->what, self->how);
        check(!is_told(set), "%s, %s: a writer goes on with damage", self->of->what, self->how);
        vidi_close(set);
        shown.whole++;
        return;
    }
    bool known = code == VIDI_EFORMAT || code == VIDI_EDAMAGED || code == VIDI_EEXIST;
    check(known && strlen(vidi_message()) > 4, "%s, %s: %d, %s", self->of->what, self->how, code, vidi_message());
    must_be_untouched(self);
    shown.refused++;
    if (code == VIDI_EDAMAGED)
        accept(self);
}

static void try_state(const state *self)
{
    shown.states++;
    restore(self);
    read_it(self, 0);
    read_it(self, VIDI_NO_MAP);
    write_to_it(self);
}

/* ---- all of them ---- */

static void set_subset(state *self, const sample *of, unsigned subset)
{
    self->of = of;
    for (size_t i = 0; i < of->count; i++)
        self->sizes[i] = subset & 1u << i ? (long)of->files[i].size : ABSENT;
    snprintf(self->how, sizeof self->how, "files %x", subset);
}

static void every_subset_of_the_files(void **context)
{
    sample of;
    state self;
    take_sample(&of, *context);
    for (unsigned subset = 1; subset < 1u << of.count; subset++) { /* without any file there is no set */
        set_subset(&self, &of, subset);
        try_state(&self);
    }
    set_subset(&self, &of, (1u << of.count) - 1);
    restore(&self);
    uint64_t whole = shown.whole;
    write_to_it(&self);
    assert_int_equal(shown.whole, whole + 1); /* all files make the set */
    free_sample(&of);
}

/* Each length in the long run; otherwise the first and last ones, and some between them. */
static size_t next_length(size_t length, size_t size)
{
    bool edge = length < 4 || length + 4 >= size || (length >= 60 && length < 68);
    return length + (test_long() || edge ? 1 : test_sanitized() ? 127 : 29);
}

static void every_copy_that_was_interrupted(void **context)
{
    sample of;
    state self;
    take_sample(&of, *context);
    for (unsigned subset = 0; subset < 1u << of.count; subset++)
        for (size_t i = 0; i < of.count; i++) {
            if (subset & 1u << i)
                continue;
            for (size_t length = 0; length < of.files[i].size; length = next_length(length, of.files[i].size)) {
                set_subset(&self, &of, subset);
                self.sizes[i] = (long)length;
                snprintf(self.how, sizeof self.how, "files %x and %zu bytes of %s", subset, length, of.files[i].name);
                try_state(&self);
            }
        }
    free_sample(&of);
}

static void every_wrong_bit(void **context)
{
    sample of;
    state self;
    take_sample(&of, *context);
    for (size_t i = 0; i < of.count; i++)
        for (size_t bit = 0; bit < 8 * of.files[i].size; bit += test_long() ? 1 : test_sanitized() ? 193 : 19) {
            set_subset(&self, &of, (1u << of.count) - 1);
            snprintf(self.how, sizeof self.how, "bit %zu of %s", bit, of.files[i].name);
            of.files[i].bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
            try_state(&self);
            of.files[i].bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
        }
    free_sample(&of);
}

static void totals(void **context)
{
    (void)context;
    print_message(
        "# %d states: writers found everything in %d, and refused %d; %d readers were told; %d were accepted\n",
        (int)shown.states, (int)shown.whole, (int)shown.refused, (int)shown.told, (int)shown.accepted);
    assert_true(shown.states == 0 || (shown.whole && shown.refused && shown.told && shown.accepted));
}

int main(int argc, char **argv)
{
    char name[120];
    test_scratch_make(&folder);
    for (size_t i = 0; i < VIDI__COUNT(ways); i++) {
        snprintf(name, sizeof name, "every subset of the files: %s", ways[i].what);
        test_add(name, every_subset_of_the_files, &ways[i]);
        snprintf(name, sizeof name, "every copy that was interrupted: %s", ways[i].what);
        test_add(name, every_copy_that_was_interrupted, &ways[i]);
        snprintf(name, sizeof name, "every wrong bit: %s", ways[i].what);
        test_add(name, every_wrong_bit, &ways[i]);
    }
    test_add("all sorts of states have come up", totals, NULL);
    int result = test_run("folder_damage", argc, argv);
    test_scratch_remove(&folder);
    return result;
}
