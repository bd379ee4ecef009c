/*
 * ZIP files, read by a reader of the test's own: it finds entries through the central directory, and checks that local
 * headers, checksums and ZIP64 fields agree with it.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "crawler/export/zip_writer.h"
#include "support/check.h"
#include "support/scratch.h"
#include "vidi/vidi.h"

typedef struct archive_file {
    test_scratch folder;
    int fd;
    zip_writer *zip;
} archive_file;

static void begin(archive_file *file)
{
    char path[TEST_PATH];

    test_scratch_make(&file->folder);
    test_path(path, file->folder.path, "a.zip");
    file->fd = open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
    check(file->fd >= 0, "cannot make %s", path);
    assert_int_equal(zip_open(&file->zip, file->fd, 1700000001), VIDI_OK);
}

static void add(archive_file *file, const char *name, uint64_t most, const void *data, size_t n)
{
    assert_int_equal(zip_begin(file->zip, name, most), VIDI_OK);
    for (size_t at = 0; at < n; at += 70001)
        assert_int_equal(zip_put(file->zip, (const char *)data + at, n - at < 70001 ? n - at : 70001), VIDI_OK);
    assert_int_equal(zip_end(file->zip), VIDI_OK);
}

static void end(archive_file *file)
{
    zip_close(file->zip);
    close(file->fd);
    test_folder_remove(file->folder.path);
}

/* ---- the reader ---- */

static uint64_t number(const unsigned char *at, size_t n)
{
    uint64_t value = 0;

    for (size_t i = n; i > 0; i--)
        value = value << 8 | at[i - 1];
    return value;
}

typedef struct found {
    char name[64];
    uint64_t size, offset, data; /* offset: of the local header */
    uint32_t checksum;
} found;

static void get(const archive_file *file, void *to, size_t n, uint64_t offset)
{
    assert_int_equal(pread(file->fd, to, n, (off_t)offset), n);
}

/* Reads numbers of 8 bytes from a ZIP64 field where the header has only bits that are all 1. */
static void widen(const unsigned char *extra, size_t length, uint64_t **wide, size_t count)
{
    size_t at = 4;

    if (count == 0) {
        assert_int_equal(length, 0);
        return;
    }
    assert_int_equal(number(extra, 2), 1);
    assert_int_equal(number(extra + 2, 2), 8 * count);
    assert_int_equal(length, 4 + 8 * count);
    for (size_t i = 0; i < count; i++, at += 8)
        *wide[i] = number(extra + at, 8);
}

static size_t read_central(const unsigned char *at, found *entry)
{
    uint64_t packed, *wide[3];
    size_t name = number(at + 28, 2), extra = number(at + 30, 2), count = 0;

    assert_int_equal(number(at, 4), 0x02014b50);
    assert_int_equal(number(at + 10, 2), 0); /* stored */
    entry->checksum = (uint32_t)number(at + 16, 4);
    packed = number(at + 20, 4);
    entry->size = number(at + 24, 4);
    entry->offset = number(at + 42, 4);
    snprintf(entry->name, sizeof entry->name, "%.*s", (int)name, (const char *)at + 46);
    if (entry->size == 0xFFFFFFFF)
        wide[count++] = &entry->size;
    if (packed == 0xFFFFFFFF)
        wide[count++] = &packed;
    if (entry->offset == 0xFFFFFFFF)
        wide[count++] = &entry->offset;
    widen(at + 46 + name, extra, wide, count);
    assert_int_equal(packed, entry->size);
    /* Some readers believe that the data follows the name if there is no extra field here. */
    return 46 + name + extra + number(at + 32, 2);
}

static void read_local(const archive_file *file, found *entry, bool central_has_extra)
{
    unsigned char head[200];
    uint64_t size, packed, *wide[2];
    size_t count = 0;
    ssize_t got = pread(file->fd, head, sizeof head, (off_t)entry->offset);

    assert_true(got > 30 && number(head, 4) == 0x04034b50);
    size_t name = number(head + 26, 2), extra = number(head + 28, 2);
    assert_true(extra == 0 || central_has_extra);
    assert_int_equal(number(head + 14, 4), entry->checksum);
    packed = number(head + 18, 4);
    size = number(head + 22, 4);
    if (size == 0xFFFFFFFF)
        wide[count++] = &size;
    if (packed == 0xFFFFFFFF)
        wide[count++] = &packed;
    widen(head + 30 + name, extra, wide, count);
    assert_int_equal(size, entry->size);
    assert_memory_equal(head + 30, entry->name, name);
    entry->data = entry->offset + 30 + name + extra;
}

/* Reads all entries and verifies their checksums. Returns their number. */
static size_t read_all(const archive_file *file, found *entries, size_t room)
{
    struct stat about;
    unsigned char tail[22];

    assert_int_equal(fstat(file->fd, &about), 0);
    uint64_t at = (uint64_t)about.st_size - 22;
    get(file, tail, sizeof tail, at);
    assert_int_equal(number(tail, 4), 0x06054b50);
    uint64_t count = number(tail + 10, 2), size = number(tail + 12, 4), from = number(tail + 16, 4);
    if (count == 0xFFFF || size == 0xFFFFFFFF || from == 0xFFFFFFFF) {
        unsigned char locator[20], wide[56];
        get(file, locator, sizeof locator, at - 20);
        assert_int_equal(number(locator, 4), 0x07064b50);
        get(file, wide, sizeof wide, number(locator + 8, 8));
        assert_int_equal(number(wide, 4), 0x06064b50);
        count = number(wide + 32, 8);
        size = number(wide + 40, 8);
        from = number(wide + 48, 8);
    }
    unsigned char *all = malloc(size + 1), *next = all;
    get(file, all, size, from);
    for (size_t i = 0; i < count; i++) {
        found entry;
        bool has_extra = number(next + 30, 2) > 0;
        next += read_central(next, &entry);
        read_local(file, &entry, has_extra);
        unsigned char *data = malloc(entry.size + 1);
        get(file, data, entry.size, entry.data);
        assert_int_equal(crc32_z(0, data, entry.size), entry.checksum);
        free(data);
        if (i < room)
            entries[i] = entry;
    }
    assert_int_equal(next - all, size);
    free(all);
    return count;
}

/* ---- promises ---- */

static void what_was_put_in_comes_out(void **state)
{
    archive_file file;
    found entries[4];
    char *large = malloc(1000000), back[6];

    (void)state;
    for (size_t i = 0; i < 1000000; i++)
        large[i] = (char)(i * 31 + i / 1000);
    begin(&file);
    add(&file, "archive/a", 1000000, large, 1000000);
    add(&file, "empty", 0, "", 0);
    add(&file, "b", 5, "hello", 5);
    assert_int_equal(zip_finish(file.zip), VIDI_OK);
    assert_int_equal(read_all(&file, entries, 4), 3);
    assert_string_equal(entries[0].name, "archive/a");
    assert_int_equal(entries[0].size, 1000000);
    get(&file, back, 5, entries[2].data);
    assert_memory_equal(back, "hello", 5);
    free(large);
    end(&file);
}

static void an_entry_that_may_be_large_has_zip64_fields_in_both_headers(void **state)
{
    archive_file file;
    found entries[2];

    (void)state;
    begin(&file);
    add(&file, "index", UINT64_C(5) << 30, "line\n", 5);
    add(&file, "b", 5, "hello", 5);
    assert_int_equal(zip_finish(file.zip), VIDI_OK);
    assert_int_equal(read_all(&file, entries, 2), 2);
    assert_int_equal(entries[0].size, 5);
    assert_int_equal(entries[0].data, 30 + 5 + 20);
    end(&file);
}

static void more_than_65535_entries_are_counted(void **state)
{
    archive_file file;
    char name[16];

    (void)state;
    begin(&file);
    for (int i = 0; i < 66000; i++) {
        snprintf(name, sizeof name, "%d", i);
        add(&file, name, 1, "x", 1);
    }
    assert_int_equal(zip_finish(file.zip), VIDI_OK);
    assert_int_equal(read_all(&file, NULL, 0), 66000);
    end(&file);
}

/* The file is full of holes, so that this takes no room. */
static void entries_beyond_4_gib_are_found(void **state)
{
    static const uint64_t hole = (UINT64_C(4) << 30) + 12345;
    archive_file file;
    found entries[2];

    (void)state;
    begin(&file);
    zip_close(file.zip);
    assert_int_equal(lseek(file.fd, (off_t)hole, SEEK_SET), hole);
    assert_int_equal(zip_open(&file.zip, file.fd, 0), VIDI_OK);
    add(&file, "far", 5, "hello", 5);
    add(&file, "farther", UINT64_C(5) << 30, "hello", 5);
    assert_int_equal(zip_finish(file.zip), VIDI_OK);
    assert_int_equal(read_all(&file, entries, 2), 2);
    assert_int_equal(entries[0].offset, hole);
    end(&file);
}

static void a_full_disk_is_an_error(void **state)
{
    zip_writer *zip;
    int fd = open("/dev/full", O_RDWR);

    (void)state;
    if (fd < 0)
        skip();
    assert_int_equal(zip_open(&zip, fd, 0), VIDI_OK);
    assert_int_equal(zip_begin(zip, "a", 5), VIDI_OK);
    assert_int_equal(zip_put(zip, "hello", 5), VIDI_OK);
    assert_int_equal(zip_end(zip), VIDI_ELIMIT);
    zip_close(zip);
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_put_in_comes_out),
        cmocka_unit_test(an_entry_that_may_be_large_has_zip64_fields_in_both_headers),
        cmocka_unit_test(more_than_65535_entries_are_counted),
        cmocka_unit_test(entries_beyond_4_gib_are_found),
        cmocka_unit_test(a_full_disk_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
