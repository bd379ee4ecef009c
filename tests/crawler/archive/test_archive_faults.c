/*
 * An archive on a disk that fails. Every system call that changes something fails once: first the first, then the
 * second, and so on, until a run needs none that fails.
 *
 * A caller does here what the crawl does: it writes pages, syncs, commits the place, and tries again when the disk is
 * full. Whatever has failed, the file then holds exactly the pages of the commits, or, after a failed sync, opening
 * it at the last committed place brings that about.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "crawler/archive/archive.h"
#include "crawler/archive/warc_reader.h"
#include "support/check.h"
#include "support/scratch.h"

/* ---- the disk ---- */

typedef enum call { NONE, PWRITE, SHORT_PWRITE, FTRUNCATE, FDATASYNC, FSYNC, OPENAT, RENAMEAT2, CALLS } call;

static struct {
    call which;     /* that fails */
    long countdown; /* this many of them succeed before */
    long times;     /* that it fails in a row */
    long failed;    /* how often it did */
    int code;       /* errno */
    bool broken;    /* a sync has failed: nothing may be written any more */
    bool written_when_broken;
    bool unsynced[256]; /* by descriptor: something was written and not synced since the archive was opened */
} disk;

static void note_write(int file)
{
    check(file >= 0 && (size_t)file < sizeof disk.unsynced, "descriptor %d", file);
    disk.unsynced[file] = true;
}

static bool fails(call which)
{
    if (disk.broken && (which == PWRITE || which == FTRUNCATE))
        disk.written_when_broken = true;
    if (disk.which != which || disk.countdown-- > 0 || disk.failed == disk.times)
        return false;
    disk.failed++;
    disk.broken = which == FDATASYNC || which == FSYNC;
    errno = disk.code;
    return true;
}

/* The linker's names: what the archive calls, and what the C library has. */
ssize_t __wrap_pwrite(int file, const void *data, size_t n, off_t offset);
ssize_t __real_pwrite(int file, const void *data, size_t n, off_t offset);
int __wrap_ftruncate(int file, off_t length);
int __real_ftruncate(int file, off_t length);
int __wrap_fdatasync(int file);
int __wrap_fsync(int file);
int __wrap_openat(int folder, const char *name, int flags, ...);
int __real_openat(int folder, const char *name, int flags, ...);
int __wrap_renameat2(int from, const char *old, int to, const char *new, unsigned flags);
int __real_renameat2(int from, const char *old, int to, const char *new, unsigned flags);

ssize_t __wrap_pwrite(int file, const void *data, size_t n, off_t offset)
{
    if (fails(PWRITE))
        return -1;
    if (n > 1 && fails(SHORT_PWRITE)) { /* half of it, and the rest fails */
        disk.which = PWRITE;
        disk.countdown = 0;
        disk.times = 2;
        note_write(file);
        return __real_pwrite(file, data, n / 2, offset);
    }
    note_write(file);
    return __real_pwrite(file, data, n, offset);
}

int __wrap_ftruncate(int file, off_t length)
{
    return fails(FTRUNCATE) ? -1 : __real_ftruncate(file, length);
}

int __wrap_fdatasync(int file)
{
    if (fails(FDATASYNC))
        return -1;
    disk.unsynced[file] = false;
    return 0;
}

int __wrap_fsync(int file)
{
    (void)file;
    return fails(FSYNC) ? -1 : 0;
}

int __wrap_openat(int folder, const char *name, int flags, ...)
{
    va_list more;
    va_start(more, flags);
    unsigned mode = flags & O_CREAT ? va_arg(more, unsigned) : 0;
    va_end(more);
    return fails(OPENAT) ? -1 : __real_openat(folder, name, flags, mode);
}

int __wrap_renameat2(int from, const char *old, int to, const char *new, unsigned flags)
{
    return fails(RENAMEAT2) ? -1 : __real_renameat2(from, old, to, new, flags);
}

/* ---- the crawl ---- */

enum { BATCHES = 6, PAGES = 3, MOST = 700 << 10, SMALL = 100000, LARGE = 270000 };

typedef struct crawl_state {
    test_scratch folder;
    archive_place committed;
    unsigned batches; /* committed */
} crawl_state;

static int open_again(crawl_state *crawl, archive **archive)
{
    char why[256];
    archive_options options = {
        .folder = crawl->folder.path, .agent = "vidi", .max_bytes = MOST, .end = crawl->committed, .date = 1};

    why[0] = 0;
    int error = archive_open(archive, &options, why);
    assert_true(error ? why[0] != 0 && !*archive : *archive != NULL);
    if (!error && archive_end(*archive).length == 0)
        fail();
    return error;
}

/* Every second batch has pages that are larger than the archive's buffer. */
static void pack(archive_packer *packer, unsigned number, bytes *to)
{
    static char body[LARGE];
    char url[40], digest[38];
    unsigned char id[ARCHIVE_ID];
    size_t response, length = number / PAGES % 2 ? LARGE : SMALL;
    uint64_t x = number + 1;

    for (size_t i = 0; i < length; i++, x = x * 6364136223846793005u + 1442695040888963407u)
        body[i] = (char)(x >> 56);
    snprintf(url, sizeof url, "http://h/%u", number);
    assert_int_equal(archive_digest((vidi_str){body, length}, digest), VIDI_OK);
    archive_exchange exchange = {.url = {url, strlen(url)},
                                 .date = number,
                                 .head = {"HTTP/1.1 200 OK\r\n\r\n", 19},
                                 .body = {body, length},
                                 .digest = digest};
    assert_int_equal(archive_pack(packer, &exchange, to, &response, id), VIDI_OK);
}

/* The packed pages, made once. */
static bytes pages[BATCHES * PAGES];

static int pack_pages(void **state)
{
    (void)state;
    archive_packer *packer = archive_packer_open();
    assert_non_null(packer);
    for (unsigned i = 0; i < BATCHES * PAGES; i++)
        pack(packer, i, &pages[i]);
    archive_packer_close(packer);
    return 0;
}

static int free_pages(void **state)
{
    (void)state;
    for (unsigned i = 0; i < BATCHES * PAGES; i++)
        bytes_free(&pages[i]);
    return 0;
}

static bool same(archive_place a, archive_place b)
{
    return a.file == b.file && a.length == b.length;
}

/* Writes until it works. Only a full disk is tried again. */
static int write_again(archive *archive, vidi_str packed)
{
    uint32_t file;
    uint64_t offset;
    int error;

    do {
        archive_place before = archive_end(archive);
        error = archive_write(archive, packed, &file, &offset);
        archive_place after = archive_end(archive);
        if (error)
            check(same(before, after) || after.file == before.file + 1, "an error has moved the end");
        else
            check(file == after.file && offset + packed.len == after.length, "the place is wrong");
    } while (error == VIDI_ELIMIT);
    return error;
}

static int sync_again(archive *archive)
{
    int error;

    do
        error = archive_sync(archive);
    while (error == VIDI_ELIMIT);
    return error;
}

static int run_batch(crawl_state *crawl, archive *archive)
{
    int error = VIDI_OK;

    for (unsigned i = 0; i < PAGES && !error; i++)
        error = write_again(archive, bytes_str(&pages[crawl->batches * PAGES + i]));
    if (!error)
        error = sync_again(archive);
    if (!error) { /* also the files that have become full since the last batch are on disk */
        assert_null(memchr(disk.unsynced, true, sizeof disk.unsynced));
        crawl->committed = archive_end(archive);
        crawl->batches++;
    }
    return error;
}

/* After an error that stays, every call must fail, and nothing may be written. */
static void check_that_it_stays(archive *archive, int error)
{
    uint32_t file;
    uint64_t offset;

    if (error == VIDI_EIO && disk.broken) {
        assert_int_equal(archive_write(archive, (vidi_str){"x", 1}, &file, &offset), VIDI_EIO);
        assert_int_equal(archive_sync(archive), VIDI_EIO);
        assert_int_equal(archive_sync(archive), VIDI_EIO);
        assert_false(disk.written_when_broken);
    }
    assert_true(archive_error(archive)[0] != 0);
}

static void note(void *context, const warc_seen *record)
{
    unsigned *next = context;

    if (!warc_is(record, "WARC-Type", "response"))
        return;
    char url[40];
    snprintf(url, sizeof url, "http://h/%u", (*next)++);
    assert_string_equal(warc_value(record, "WARC-Target-URI"), url);
}

static void check_files(const crawl_state *crawl)
{
    unsigned pages = 0;

    for (uint32_t file = 0; file <= crawl->committed.file; file++) {
        char name[ARCHIVE_NAME_ROOM];
        size_t length;
        uint64_t at;
        unsigned char *data = test_file_load(&crawl->folder, archive_name(file, name), &length);
        const char *why = warc_read(data, length, note, &pages, &at);
        check(!why, "%s at %llu: %s", name, (unsigned long long)at, why);
        if (file == crawl->committed.file)
            assert_int_equal(length, crawl->committed.length);
        free(data);
    }
    assert_int_equal(pages, crawl->batches * PAGES);
    assert_int_equal(test_folder_count(crawl->folder.path, "vidi-"), crawl->committed.file + 1);
}

/* Two batches that no database knows of: the next opening must cut them off. */
static int run_uncommitted(crawl_state *crawl, archive *archive)
{
    crawl_state before = *crawl;
    int error = run_batch(crawl, archive);

    if (!error)
        error = run_batch(crawl, archive);
    crawl->committed = before.committed;
    crawl->batches = before.batches;
    return error;
}

static int run_batches(crawl_state *crawl, archive *archive, bool is_first)
{
    int error = sync_again(archive);

    if (!error && crawl->committed.length == 0)
        crawl->committed = archive_end(archive); /* before the first page, as archive.h asks */
    while (!error && crawl->batches < BATCHES) {
        if (is_first && crawl->batches == 2)
            return run_uncommitted(crawl, archive);
        error = run_batch(crawl, archive);
    }
    return error;
}

/* Crawls to the end, opening the archive again after every error. */
static void run(crawl_state *crawl)
{
    for (unsigned opened = 0; crawl->batches < BATCHES; opened++) {
        archive *archive = NULL;
        check(opened < 4, "it does not end");
        memset(disk.unsynced, 0, sizeof disk.unsynced);
        int error = open_again(crawl, &archive);
        if (archive)
            error = run_batches(crawl, archive, opened == 0);
        if (archive && error)
            check_that_it_stays(archive, error);
        disk.broken = false;
        archive_close(archive);
    }
}

static long run_with(call which, long at, int code)
{
    crawl_state crawl = {0};

    test_scratch_make(&crawl.folder);
    memset(&disk, 0, sizeof disk);
    disk.which = which;
    disk.countdown = at;
    disk.times = 1;
    disk.code = code;
    run(&crawl);
    long failed = disk.failed;
    memset(&disk, 0, sizeof disk);
    check_files(&crawl);
    test_scratch_remove(&crawl.folder);
    return failed;
}

static void every_call_may_fail_once(call which, int code, long least)
{
    long at = 0;

    while (run_with(which, at, code))
        at++;
    check(at >= least, "only %ld calls of kind %d", at, which);
}

static void no_failure_loses_a_page(void **state)
{
    (void)state;
    assert_int_equal(run_with(NONE, 0, 0), 0);
    every_call_may_fail_once(PWRITE, ENOSPC, 10);
    every_call_may_fail_once(PWRITE, EIO, 10);
    every_call_may_fail_once(PWRITE, EINTR, 10);
    every_call_may_fail_once(SHORT_PWRITE, ENOSPC, 10);
    every_call_may_fail_once(FDATASYNC, EIO, 6);
    every_call_may_fail_once(FDATASYNC, ENOSPC, 6);
    every_call_may_fail_once(FSYNC, EIO, 3);
    every_call_may_fail_once(OPENAT, ENOSPC, 5);
    every_call_may_fail_once(OPENAT, EMFILE, 5);
    every_call_may_fail_once(RENAMEAT2, EIO, 1);
    every_call_may_fail_once(FTRUNCATE, EIO, 1);
}

/* ---- a limit of the system ---- */

static uint64_t length_of(const test_scratch *folder, const char *name)
{
    struct stat there;
    assert_int_equal(fstatat(folder->handle, name, &there, 0), 0);
    return (uint64_t)there.st_size;
}

static void a_full_disk_cuts_the_file_back_and_writing_goes_on_later(void **state)
{
    (void)state;
    crawl_state crawl = {0};
    struct rlimit before, small;
    archive *archive;
    unsigned refused = 0;

    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    test_scratch_make(&crawl.folder);
    assert_int_equal(open_again(&crawl, &archive), VIDI_OK);
    assert_int_equal(archive_sync(archive), VIDI_OK);
    crawl.committed = archive_end(archive);
    small = before;
    for (unsigned page = 0; page < PAGES; page++) {
        uint32_t file;
        uint64_t offset;
        small.rlim_cur = crawl.committed.length + pages[page].len - 1; /* one byte too few */
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
        int error = archive_write(archive, bytes_str(&pages[page]), &file, &offset);
        assert_int_equal(error, VIDI_OK); /* it is in the buffer */
        for (int again = 0; again < 3; again++, refused++) {
            assert_int_equal(archive_sync(archive), VIDI_ELIMIT);
            assert_int_equal(length_of(&crawl.folder, "vidi-00000.warc.gz"), crawl.committed.length);
        }
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
        assert_int_equal(archive_sync(archive), VIDI_OK);
        crawl.committed = archive_end(archive);
    }
    crawl.batches = 1;
    assert_int_equal(refused, 3 * PAGES);
    archive_close(archive);
    check_files(&crawl);
    test_scratch_remove(&crawl.folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_failure_loses_a_page),
        cmocka_unit_test(a_full_disk_cuts_the_file_back_and_writing_goes_on_later),
    };
    return cmocka_run_group_tests(tests, pack_pages, free_pages);
}
