/* Files as the store sees them: they go on after what is no error, and say in a sentence what is one. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/file.h"
#include "support/check.h"
#include "support/disk.h"
#include "support/runner.h"

static test_scratch folder;

static void what_is_written_is_read(void **state)
{
    (void)state;
    vidi__file file;
    char back[5] = "";
    uint64_t bytes;
    assert_int_equal(vidi__file_open(&file, folder.handle, "a", O_RDWR | O_CREAT | O_EXCL), VIDI_OK);
    assert_int_equal(vidi__file_write(&file, "hello", 5), VIDI_OK);
    assert_int_equal(vidi__file_write(&file, "!", 0), VIDI_OK);
    assert_int_equal(vidi__file_sync(&file), VIDI_OK);
    assert_int_equal(vidi__file_read(&file, back, 4, 1), VIDI_OK);
    assert_string_equal(back, "ello");
    assert_int_equal(vidi__file_size(&file, &bytes), VIDI_OK);
    assert_int_equal(bytes, 5);
    const void *start;
    assert_int_equal(vidi__file_map(&file, bytes, &start), VIDI_OK);
    assert_memory_equal(start, "hello", 5);
    vidi__file_unmap(start, bytes);
    assert_int_equal(vidi__file_map(&file, 0, &start), VIDI_OK);
    assert_null(start);
    vidi__file_unmap(start, 0);
    assert_int_equal(vidi__file_map(&file, UINT64_MAX, &start), VIDI_ELIMIT);
    assert_int_equal(vidi__file_truncate(&file, 2), VIDI_OK);
    assert_int_equal(vidi__file_read(&file, back, 3, 0), VIDI_EFORMAT);
    assert_non_null(strstr(vidi_message(), "a is shorter"));
    assert_int_equal(vidi__file_close(&file), VIDI_OK);
    assert_int_equal(vidi__file_close(&file), VIDI_OK);
}

static void files_are_for_their_owner_alone(void **state)
{
    (void)state;
    vidi__file file;
    struct stat is;
    assert_int_equal(vidi__file_open(&file, folder.handle, "mine", O_RDWR | O_CREAT), VIDI_OK);
    assert_int_equal(fstat(file.handle, &is), 0);
    assert_int_equal(is.st_mode & 0777, VIDI__FILE_MODE);
    assert_true(fcntl(file.handle, F_GETFD) & FD_CLOEXEC);
    assert_int_equal(vidi__file_close(&file), VIDI_OK);
}

/* Links are not followed, and pipes, folders and devices are refused at once: a pipe without a reader would wait. */
static void only_regular_files_are_opened(void **state)
{
    (void)state;
    static const int flags[] = {O_RDONLY, O_RDWR, O_WRONLY, O_RDWR | O_CREAT, O_RDWR | O_APPEND};
    test_file_save(&folder, "target", "precious", 8);
    assert_int_equal(symlinkat("target", folder.handle, "link"), 0);
    assert_int_equal(symlinkat("nowhere", folder.handle, "dangling"), 0);
    assert_int_equal(mkfifoat(folder.handle, "pipe", 0600), 0);
    for (size_t i = 0; i < VIDI__COUNT(flags); i++) {
        static const char *const names[] = {"link", "dangling", "pipe", "."};
        for (size_t k = 0; k < VIDI__COUNT(names); k++) {
            vidi__file file;
            int code = vidi__file_open(&file, folder.handle, names[k], flags[i]);
            check(code == VIDI_EFORMAT && strstr(vidi_message(), names[k]), "%s, flags %d: %d, %s", names[k], flags[i],
                  code, vidi_message());
            assert_int_equal(file.handle, -1);
        }
    }
    assert_false(test_file_exists(&folder, "nowhere"));
    test_scratch_empty(&folder);
}

static void a_file_knows_its_links(void **state)
{
    (void)state;
    vidi__file file;
    vidi__file_state is;
    assert_int_equal(vidi__file_open(&file, folder.handle, "linked", O_RDWR | O_CREAT), VIDI_OK);
    assert_int_equal(vidi__file_stat(&file, &is), VIDI_OK);
    assert_true(is.regular && is.links == 1);
    assert_int_equal(linkat(folder.handle, "linked", folder.handle, "again", 0), 0);
    assert_int_equal(vidi__file_stat(&file, &is), VIDI_OK);
    assert_int_equal(is.links, 2);
    assert_int_equal(vidi__file_unlink(folder.handle, "linked"), VIDI_OK);
    assert_int_equal(vidi__file_unlink(folder.handle, "again"), VIDI_OK);
    assert_int_equal(vidi__file_stat(&file, &is), VIDI_OK);
    assert_int_equal(is.links, 0);
    vidi__file_close(&file);
}

static void names_change_and_vanish(void **state)
{
    (void)state;
    vidi__file file;
    test_file_save(&folder, "old", "x", 1);
    assert_int_equal(vidi__file_rename(folder.handle, "old", "new"), VIDI_OK);
    assert_int_equal(vidi__file_rename(folder.handle, "old", "newer"), VIDI_EIO);
    assert_non_null(strstr(vidi_message(), "old cannot be renamed to newer"));
    assert_int_equal(vidi__file_open(&file, folder.handle, "old", O_RDONLY), VIDI_EABSENT);
    assert_int_equal(file.handle, -1);
    assert_int_equal(vidi__file_unlink(folder.handle, "new"), VIDI_OK);
    assert_int_equal(vidi__file_unlink(folder.handle, "new"), VIDI_OK);
    assert_int_equal(vidi__file_open(&file, folder.handle, "new", O_RDONLY), VIDI_EABSENT);
}

typedef struct listing {
    int all, known, stop_at;
} listing;

static int count_name(void *context, const char *name)
{
    listing *list = context;
    list->all++;
    list->known += strcmp(name, "one") == 0 || strcmp(name, "two") == 0;
    return list->all == list->stop_at ? 17 : 0;
}

static void a_folder_is_listed_again_and_again(void **state)
{
    (void)state;
    test_file_save(&folder, "one", "", 0);
    test_file_save(&folder, "two", "", 0);
    for (int i = 0; i < 3; i++) {
        listing list = {0};
        assert_int_equal(vidi__system_now->list(folder.handle, count_name, &list), 0);
        assert_int_equal(list.all, 2);
        assert_int_equal(list.known, 2);
    }
    listing list = {.stop_at = 1};
    assert_int_equal(vidi__system_now->list(folder.handle, count_name, &list), 17);
    assert_int_equal(list.all, 1);
    assert_int_equal(vidi__system_now->list(-1, count_name, &list), -1);
    assert_int_equal(errno, EBADF);
}

static void a_lock_is_for_one(void **state)
{
    (void)state;
    vidi__file one, two;
    assert_int_equal(vidi__file_open(&one, folder.handle, "lock", O_RDWR | O_CREAT), VIDI_OK);
    assert_int_equal(vidi__file_open(&two, folder.handle, "lock", O_RDWR), VIDI_OK);
    assert_int_equal(vidi__system_now->lock(one.handle), 0);
    assert_int_equal(vidi__system_now->lock(two.handle), -1);
    assert_int_equal(errno, EWOULDBLOCK);
    vidi__file_close(&one);
    assert_int_equal(vidi__system_now->lock(two.handle), 0);
    vidi__file_close(&two);
}

/* Everything that a file goes through; the first code that is not VIDI_OK. */
static int life(vidi__file *file, char *back)
{
    uint64_t bytes;
    const void *start;
    VIDI__TRY(vidi__file_open(file, folder.handle, "life", O_RDWR | O_CREAT | O_TRUNC));
    VIDI__TRY(vidi__file_write(file, "0123456789", 10));
    VIDI__TRY(vidi__file_overwrite(file, "012345", 6, 0));
    VIDI__TRY(vidi__file_read(file, back, 10, 0));
    VIDI__TRY(vidi__file_size(file, &bytes));
    VIDI__TRY(vidi__file_map(file, bytes, &start));
    vidi__file_unmap(start, bytes);
    VIDI__TRY(vidi__file_truncate(file, 5));
    VIDI__TRY(vidi__file_sync(file));
    VIDI__TRY(vidi__file_close(file));
    VIDI__TRY(vidi__file_rename(folder.handle, "life", "lived"));
    return vidi__file_unlink(folder.handle, "lived");
}

static void interruptions_and_short_pieces_are_no_errors(void **state)
{
    (void)state;
    static const int kinds[] = {EINTR, DISK_SHORT};
    static const disk_call calls[] = {DISK_OPEN, DISK_WRITE, DISK_PREAD, DISK_PWRITE, DISK_TRUNCATE, DISK_CLOSE};
    for (size_t call = 0; call < VIDI__COUNT(calls); call++) {
        for (size_t kind = 0; kind < VIDI__COUNT(kinds); kind++) {
            char back[11] = "";
            vidi__file file;
            disk_begin(&folder);
            disk_fail(calls[call], 1, kinds[kind], 3);
            check(life(&file, back) == VIDI_OK, "call %d, error %d: %s", calls[call], kinds[kind], vidi_message());
            assert_string_equal(back, "0123456789");
            disk_end();
        }
    }
}

static void every_call_that_fails_is_told(void **state)
{
    (void)state;
    uint64_t n = 0, failed;
    do {
        char back[11] = "";
        vidi__file file;
        disk_begin(&folder);
        disk_fail(DISK_ANY, ++n, EIO, 1);
        int code = life(&file, back);
        failed = disk_failed();
        bool unmap = disk_calls(DISK_UNMAP) == 1 && n == 8;
        check(code == (failed && !unmap ? VIDI_EIO : VIDI_OK), "call %d: %d", (int)n, code);
        if (code != VIDI_OK)
            assert_non_null(strstr(vidi_message(), strerror(EIO)));
        vidi__file_close(&file);
        disk_end();
    } while (failed);
    assert_true(n > 10);
}

/* After EINTR nothing is lost. After any other error a second call that succeeds would prove nothing. */
static void a_sync_is_repeated_after_an_interruption_alone(void **state)
{
    (void)state;
    vidi__file file;
    disk_begin(&folder);
    assert_int_equal(vidi__file_open(&file, folder.handle, "sync", O_RDWR | O_CREAT), VIDI_OK);
    disk_fail(DISK_FSYNC, 1, EIO, 1);
    assert_int_equal(vidi__file_sync(&file), VIDI_EIO);
    assert_int_equal(disk_calls(DISK_FSYNC), 1);
    disk_fail(DISK_FSYNC, 1, EINTR, 3);
    assert_int_equal(vidi__file_sync(&file), VIDI_OK);
    assert_int_equal(disk_calls(DISK_FSYNC), 5);
    vidi__file_close(&file);
    disk_end();
}

/* ---- the disk that the other tests rely on ---- */

static bool holds(const test_scratch *in, const char *name, const char *text)
{
    size_t bytes;
    if (!test_file_exists(in, name))
        return false;
    unsigned char *data = test_file_load(in, name, &bytes);
    bool same = bytes == strlen(text) && memcmp(data, text, bytes) == 0;
    free(data);
    return same;
}

static void save_beside(const char *text, bool sync_file, bool sync_folder)
{
    vidi__file file, the_folder = {folder.handle, "folder"};
    assert_int_equal(vidi__file_open(&file, folder.handle, "new", O_RDWR | O_CREAT | O_TRUNC), VIDI_OK);
    assert_int_equal(vidi__file_write(&file, text, strlen(text)), VIDI_OK);
    if (sync_file)
        assert_int_equal(vidi__file_sync(&file), VIDI_OK);
    assert_int_equal(vidi__file_close(&file), VIDI_OK);
    assert_int_equal(vidi__file_rename(folder.handle, "new", "snapshot"), VIDI_OK);
    if (sync_folder)
        assert_int_equal(vidi__file_sync(&the_folder), VIDI_OK);
}

/* Over many power failures: is it always one of the two, and was each of them seen? */
static void outcomes(const char *a, const char *b, bool *only, bool *saw_a, bool *saw_b)
{
    test_scratch out;
    test_scratch_make(&out);
    *only = true;
    *saw_a = *saw_b = false;
    for (uint64_t seed = 0; seed < 200; seed++) {
        disk_crash_state(seed, &out);
        bool is_a = holds(&out, "snapshot", a), is_b = holds(&out, "snapshot", b);
        *only &= is_a || is_b;
        *saw_a |= is_a;
        *saw_b |= is_b;
    }
    test_scratch_remove(&out);
}

static void the_test_disk_loses_what_was_not_synced_and_only_that(void **state)
{
    (void)state;
    bool only, before, after;
    test_scratch_empty(&folder);
    test_file_save(&folder, "snapshot", "before", 6);

    disk_begin(&folder);
    save_beside("after", true, false);
    outcomes("before", "after", &only, &before, &after);
    assert_true(only && before && after);
    disk_end();

    test_file_save(&folder, "snapshot", "before", 6);
    disk_begin(&folder);
    save_beside("after", true, true);
    outcomes("before", "after", &only, &before, &after);
    assert_true(only && !before && after);
    disk_end();

    test_file_save(&folder, "snapshot", "before", 6);
    disk_begin(&folder);
    save_beside("after", false, true); /* the classic mistake: a name for bytes that are not there */
    outcomes("before", "after", &only, &before, &after);
    assert_true(!only && !before && after);
    disk_end();
    test_scratch_empty(&folder);
}

/* Overwriting a sector leaves the one or the other, and overwriting two leaves any mixture of whole sectors. */
static void the_test_disk_tears_what_is_overwritten_between_sectors(void **state)
{
    (void)state;
    test_scratch out;
    vidi__file file;
    static char before[1024], after[1024];
    bool mixed = false;
    memset(before, 'b', sizeof before);
    memset(after, 'a', sizeof after);
    test_scratch_make(&out);
    test_file_save(&folder, "end", before, sizeof before);
    disk_begin(&folder);
    assert_int_equal(vidi__file_open(&file, folder.handle, "end", O_RDWR), VIDI_OK);
    assert_int_equal(vidi__file_overwrite(&file, after, sizeof after, 0), VIDI_OK);
    for (uint64_t seed = 0; seed < 200; seed++) {
        size_t bytes;
        disk_crash_state(seed, &out);
        unsigned char *data = test_file_load(&out, "end", &bytes);
        assert_int_equal(bytes, sizeof before);
        for (size_t at = 0; at < bytes; at += 512)
            assert_true(memcmp(data + at, before, 512) == 0 || memcmp(data + at, after, 512) == 0);
        mixed |= data[0] != data[512];
        free(data);
    }
    assert_true(mixed);
    vidi__file_close(&file);
    disk_end();
    test_scratch_remove(&out);
    test_scratch_empty(&folder);
}

static void the_test_disk_does_not_make_up_for_a_failed_sync(void **state)
{
    (void)state;
    bool only, before, after;
    vidi__file file;
    test_file_save(&folder, "snapshot", "before", 6);
    disk_begin(&folder);
    assert_int_equal(vidi__file_open(&file, folder.handle, "snapshot", O_RDWR), VIDI_OK);
    assert_int_equal(vidi__file_write(&file, "after!", 6), VIDI_OK);
    disk_fail(DISK_FSYNC, 1, EIO, 1);
    assert_int_equal(vidi__file_sync(&file), VIDI_EIO);
    assert_int_equal(vidi__file_sync(&file), VIDI_OK);
    vidi__file_close(&file);
    outcomes("before", "after!", &only, &before, &after);
    assert_true(only && before && after);
    disk_end();
    test_scratch_empty(&folder);
}

int main(int argc, char **argv)
{
    test_scratch_make(&folder);
    test_add("what is written is read", what_is_written_is_read, NULL);
    test_add("files are for their owner alone", files_are_for_their_owner_alone, NULL);
    test_add("only regular files are opened", only_regular_files_are_opened, NULL);
    test_add("a file knows its links", a_file_knows_its_links, NULL);
    test_add("names change and vanish", names_change_and_vanish, NULL);
    test_scratch_empty(&folder);
    test_add("a lock is for one", a_lock_is_for_one, NULL);
    test_add("interruptions and short pieces are no errors", interruptions_and_short_pieces_are_no_errors, NULL);
    test_add("every call that fails is told", every_call_that_fails_is_told, NULL);
    test_add("a sync is repeated after an interruption alone", a_sync_is_repeated_after_an_interruption_alone, NULL);
    test_add("the test disk loses what was not synced and only that",
             the_test_disk_loses_what_was_not_synced_and_only_that, NULL);
    test_add("the test disk tears what is overwritten between sectors",
             the_test_disk_tears_what_is_overwritten_between_sectors, NULL);
    test_add("a folder is listed again and again", a_folder_is_listed_again_and_again, NULL);
    test_add("the test disk does not make up for a failed sync", the_test_disk_does_not_make_up_for_a_failed_sync,
             NULL);
    int result = test_run("store/file", argc, argv);
    test_scratch_remove(&folder);
    return result;
}
