/*
 * `vidi crawl check`: a whole crawl has no faults, and each flipped bit in what it keeps is found, or changes nothing.
 *
 * Bits that change nothing, so that they may go unnoticed: what is left of the last byte of a packed record, and which
 * process has a set locked. The test proves it for each of them: the archive unpacks to the same bytes.
 *
 *   VIDI_TEST_SEED   the seed that a failure has printed: only that bit is flipped
 */
#include <dirent.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "crawler/crawl/crawl_state.h"
#include "crawler/site/crawling.h"
#include "crawler/site/worlds.h"
#include "support/env.h"
#include "support/random.h"
#include "support/runner.h"

enum { FLIPS = 40, LONG_FLIPS = 1500, FILES = 16 };

static struct {
    site *web;
    world_web whole;
    crawling crawl;
    char output[TEST_PATH];
    char first[500]; /* the first fault of the last check */
} town;

static int write_line(void *context, const crawl_outcome *outcome, bytes *to)
{
    (void)context;
    return bytes_append_format(to, "{\"url\":\"%.*s\",\"status\":%d}\n", (int)outcome->url.len, outcome->url.ptr,
                               outcome->row.status);
}

static void keep_first(void *context, const char *sentence)
{
    (void)context;
    if (!*town.first)
        snprintf(town.first, sizeof town.first, "%s", sentence);
}

static crawl_checked look(void)
{
    crawl_checked found;
    *town.first = 0;
    check(crawl_check(town.crawl.state, keep_first, NULL, &found) == VIDI_OK, "%s", vidi_message());
    check((found.faults > 0) == (*town.first != 0), "faults are told");
    return found;
}

/* ---- flipping ---- */

static void flip(const char *path, uint64_t bit)
{
    unsigned char byte;
    int fd = open(path, O_RDWR);
    check(fd >= 0 && pread(fd, &byte, 1, (off_t)(bit / 8)) == 1, "a byte of %s", path);
    byte ^= (unsigned char)(1U << bit % 8);
    check(pwrite(fd, &byte, 1, (off_t)(bit / 8)) == 1 && close(fd) == 0, "another byte");
}

static uint64_t size_of(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 ? (uint64_t)about.st_size : 0;
}

static bool is_harmless_never(const char *path)
{
    (void)path;
    return false;
}

/* Flips random bits of a file, one at a time. Each is found, or harmless. */
static void flips_are_found(const char *path, bool (*is_harmless)(const char *path), uint64_t salt)
{
    unsigned flips = test_long() ? LONG_FLIPS : test_sanitized() ? FLIPS / 4 : FLIPS, found = 0;
    const char *only = getenv("VIDI_TEST_SEED");
    uint64_t bits = 8 * size_of(path);
    if (bits == 0)
        return;
    for (unsigned i = 0; i < flips; i++) {
        test_random random = {only ? strtoull(only, NULL, 10) : salt + i};
        uint64_t seed = random.state, bit = test_below(&random, bits);
        flip(path, bit);
        bool is_found = look().faults > 0;
        check(is_found || is_harmless(path), "seed %llu: bit %llu of byte %llu of %s is flipped, and nothing is found",
              (unsigned long long)seed, (unsigned long long)(bit % 8), (unsigned long long)(bit / 8), path);
        found += is_found;
        flip(path, bit);
        if (only)
            break;
    }
    check(look().faults == 0, "%s", town.first);
    print_message("# %s: %u of %u flipped bits are found, the others change nothing\n", strrchr(path, '/') + 1, found,
                  flips);
}

/* ---- tests ---- */

static void a_whole_crawl_has_no_faults(void **state)
{
    (void)state;
    crawl_checked found = look();
    check(found.faults == 0, "%s", town.first);
    check(found.urls > 50 && found.records > 100 && found.line_bytes > 1000 && found.database_pages > 8 &&
              found.unchecked_pages == 0,
          "%llu URLs, %llu records, %llu bytes, %llu pages, %llu of them unchecked", (unsigned long long)found.urls,
          (unsigned long long)found.records, (unsigned long long)found.line_bytes,
          (unsigned long long)found.database_pages, (unsigned long long)found.unchecked_pages);
}

static void flipped_bits_of_the_database_are_found(void **state)
{
    char path[TEST_PATH];
    (void)state;
    test_path(path, town.crawl.state, "crawl.db");
    flips_are_found(path, is_harmless_never, 1000000);
}

static void flipped_bits_of_the_lines_are_found(void **state)
{
    (void)state;
    flips_are_found(town.output, is_harmless_never, 2000000);
}

/* Everything in the archive, unpacked. The caller frees. */
static char *unpacked(const char *path, size_t *length)
{
    size_t room = 8 << 20;
    char *text = malloc(room);
    gzFile file = gzopen(path, "rb");
    int got = gzread(file, text, (unsigned)room);
    gzclose(file);
    *length = got < 0 ? 0 : (size_t)got;
    return text;
}

static struct {
    char *text;
    size_t length;
} whole_archive;

static bool unpacks_to_the_same(const char *path)
{
    size_t length;
    char *text = unpacked(path, &length);
    bool same = length == whole_archive.length && memcmp(text, whole_archive.text, length) == 0;
    free(text);
    return same;
}

static void flipped_bits_of_the_archive_are_found(void **state)
{
    char path[TEST_PATH];
    (void)state;
    test_path(path, town.crawl.state, "archive/vidi-00000.warc.gz");
    whole_archive.text = unpacked(path, &whole_archive.length);
    check(whole_archive.length > 10000, "it is unpacked");
    flips_are_found(path, unpacks_to_the_same, 3000000);
    free(whole_archive.text);
}

/*
 * The number of the process that has the set locked; and `manifest`, of which one copy counts if the other was torn
 * (tests/durable/test_torn_manifest.c).
 */
static bool does_no_harm(const char *path)
{
    const char *name = strrchr(path, '/') + 1;
    return strcmp(name, "lock") == 0 || strcmp(name, "manifest") == 0;
}

static void flipped_bits_of_the_set_are_found(void **state)
{
    char folder[TEST_PATH], path[TEST_PATH];
    struct dirent *entry;
    (void)state;
    test_path(folder, town.crawl.state, "seen");
    DIR *files = opendir(folder);
    while ((entry = readdir(files)) != NULL)
        if (*entry->d_name != '.') {
            test_path(path, folder, entry->d_name);
            flips_are_found(path, does_no_harm, 4000000);
        }
    closedir(files);
}

/* Changes the database as a user could, with checksums that are right. */
static void change(const char *text)
{
    char path[TEST_PATH];
    sqlite3 *db = NULL;
    test_path(path, town.crawl.state, "crawl.db");
    check(sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, "vidi-checked") == SQLITE_OK &&
              sqlite3_exec(db, text, NULL, NULL, NULL) == SQLITE_OK,
          "%s: %s", text, sqlite3_errmsg(db));
    sqlite3_close(db);
}

static void rows_that_do_not_fit_are_found(void **state)
{
    static const struct {
        const char *change, *found;
    } faults[] = {
        {"DELETE FROM outcomes WHERE id = 20", "outcomes"},
        {"UPDATE urls SET url = url || 'x' WHERE id = 30", "seen: the URLs of 1 rows"},
        {"UPDATE outcomes SET digest = 'sha1:other' WHERE id = 10", "is not the one of"},
        {"UPDATE outcomes SET offset = offset + 1 WHERE id = 11", "is not in the database"},
        {"UPDATE totals SET bytes = bytes + 1", "bytes"},
        {"UPDATE meta SET value = value + 7 WHERE name = 'run'", "different"},
    };
    char path[TEST_PATH], command[4 * TEST_PATH];
    (void)state;
    test_path(path, town.crawl.state, "crawl.db");
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        snprintf(command, sizeof command, "cp '%s' '%s.kept'", path, path);
        check(system(command) == 0, "a copy");
        change(faults[i].change);
        crawl_checked found = look();
        check(found.faults > 0 && strstr(town.first, faults[i].found), "%s: %s", faults[i].change, town.first);
        snprintf(command, sizeof command, "cp '%s.kept' '%s'; rm '%s.kept'", path, path, path);
        check(system(command) == 0, "brought back");
    }
    check(look().faults == 0, "%s", town.first);
}

/* Another program that copies the log into the file leaves pages without a checksum: they are no faults. */
static void pages_that_others_wrote_have_no_checksum(void **state)
{
    char path[TEST_PATH];
    sqlite3 *writer = NULL, *other = NULL;
    (void)state;
    test_path(path, town.crawl.state, "crawl.db");
    check(sqlite3_open_v2(path, &writer, SQLITE_OPEN_READWRITE, "vidi-checked") == SQLITE_OK &&
              sqlite3_exec(writer, "PRAGMA wal_autocheckpoint = 0; UPDATE outcomes SET seconds = 1", NULL, NULL,
                           NULL) == SQLITE_OK,
          "%s", sqlite3_errmsg(writer));
    check(sqlite3_open(path, &other) == SQLITE_OK &&
              sqlite3_exec(other, "PRAGMA wal_checkpoint(TRUNCATE)", NULL, NULL, NULL) == SQLITE_OK,
          "%s", sqlite3_errmsg(other));
    sqlite3_close(other);
    sqlite3_close(writer);
    crawl_checked found = look();
    check(found.faults == 0 && found.unchecked_pages > 0, "%llu faults: %s", (unsigned long long)found.faults,
          town.first);
}

/* What a running crawl does while its database is being read: it syncs its set, and says so. */
static int sync_meanwhile(unsigned type, void *changed, void *statement, void *text)
{
    (void)type;
    (void)statement;
    if (strstr(text, "integrity_check") && !*(bool *)changed) {
        *(bool *)changed = true;
        change("UPDATE meta SET value = value + 1 WHERE name = 'synced_to'");
    }
    return 0;
}

static bool is_changed;

static int watch(sqlite3 *db)
{
    return sqlite3_trace_v2(db, SQLITE_TRACE_STMT, sync_meanwhile, &is_changed);
}

static void a_crawl_that_goes_on_meanwhile_has_no_faults(void **state)
{
    (void)state;
    sqlite3_auto_extension((void (*)(void))watch);
    crawl_checked found = look();
    sqlite3_reset_auto_extension();
    check(is_changed && found.faults == 0, "%s", town.first);
    check(look().faults > 0 && strstr(town.first, "older"), "a set that is behind is found otherwise: %s", town.first);
    change("UPDATE meta SET value = value - 1 WHERE name = 'synced_to'");
}

/* Lines in the folder of the crawl are those of a copy in the copy, and go with it when it is moved. */
static void lines_in_the_folder_go_with_it(void **state)
{
    crawling other;
    char lines[TEST_PATH], moved[TEST_PATH], command[4 * TEST_PATH];
    crawl_checked found;
    (void)state;
    crawling_begin(&other, town.whole.made, 2);
    test_path(lines, other.state, "lines");
    check(mkdir(other.state, 0700) == 0, "a folder");
    other.options.output = lines;
    other.options.line = write_line;
    crawling_must(&other, CRAWL_DONE);
    test_path(moved, other.folder, "copy");
    snprintf(command, sizeof command, "cp -R '%s' '%s'", other.state, moved);
    check(system(command) == 0, "a copy");
    test_path(lines, moved, "lines");
    flip(lines, 100);
    check(crawl_check(moved, keep_first, NULL, &found) == VIDI_OK && found.faults == 1, "the flipped bit is found");
    flip(lines, 100);
    snprintf(command, sizeof command, "rm -R '%s'", other.state);
    check(system(command) == 0 && crawl_check(moved, keep_first, NULL, &found) == VIDI_OK && found.faults == 0 &&
              found.line_bytes > 1000,
          "%s", town.first);
    crawling_end(&other);
}

static void a_crawl_is_for_its_owner_alone(void **state)
{
    struct stat about;
    char path[TEST_PATH];
    static const char *const names[] = {"", "seen", "archive", "crawl.db", "archive/vidi-00000.warc.gz"};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        test_path(path, town.crawl.state, names[i]);
        check(stat(path, &about) == 0 && (about.st_mode & 077) == 0, "%s has mode %o", path, about.st_mode & 0777);
    }
}

static int begin(void **state)
{
    (void)state;
    town.web = site_open(2);
    town.whole = (world_web){.hosts = 2, .pages = 70, .seed = 5};
    world_web_make(town.web, &town.whole);
    site_serve(town.web);
    crawling_begin(&town.crawl, town.whole.made, 2);
    test_path(town.output, town.crawl.folder, "lines");
    town.crawl.options.output = town.output;
    town.crawl.options.line = write_line;
    mode_t before = umask(0);
    crawling_must(&town.crawl, CRAWL_DONE);
    umask(before);
    return 0;
}

static int end(void **state)
{
    (void)state;
    crawling_end(&town.crawl);
    site_close(town.web);
    free(town.whole.made);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_whole_crawl_has_no_faults),
        cmocka_unit_test(a_crawl_is_for_its_owner_alone),
        cmocka_unit_test(flipped_bits_of_the_database_are_found),
        cmocka_unit_test(flipped_bits_of_the_lines_are_found),
        cmocka_unit_test(flipped_bits_of_the_archive_are_found),
        cmocka_unit_test(flipped_bits_of_the_set_are_found),
        cmocka_unit_test(rows_that_do_not_fit_are_found),
        cmocka_unit_test(a_crawl_that_goes_on_meanwhile_has_no_faults),
        cmocka_unit_test(lines_in_the_folder_go_with_it),
        cmocka_unit_test(pages_that_others_wrote_have_no_checksum),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
