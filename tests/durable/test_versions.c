/*
 * A later vidi may write another version of any of its files. Each is planted here with correct checksums, and must be
 * refused with a message that names both versions, not taken for damage. There never was a version 0, which is refused
 * in the same way. docs/FORMAT.md says how a version is added.
 */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/bits.h"
#include "durable/durable_cases.h"
#include "frame/frame.h"
#include "hash/sip.h"
#include "store/manifest.h"
#include "support/runner.h"

static const uint32_t versions[] = {0, 2};

#define COUNT(array) (sizeof(array) / sizeof *(array))

static uint64_t unkeyed(const unsigned char *bytes, size_t size)
{
    static const uint64_t no_key[2] = {0, 0};
    vidi_str all = {(const char *)bytes, size};
    return vidi__siphash(no_key, &all, 1, 1, 3).lo;
}

static void plant_in_set(unsigned char *bytes, uint32_t version)
{
    vidi__store32(bytes + 8, version);
    vidi__store64(bytes + 56, vidi__frame_sum(0, 0, bytes, 56));
}

static void plant_in_log(unsigned char *bytes, uint32_t version)
{
    vidi__store32(bytes + 8, version);
    vidi__store64(bytes + 56, unkeyed(bytes, 56));
}

static void plant_in_manifest(unsigned char *bytes, uint32_t version)
{
    for (int i = 0; i < VIDI__MANIFEST_COPIES; i++, bytes += VIDI__MANIFEST_BYTES) {
        vidi__store32(bytes + 8, version);
        vidi__store64(bytes + 504, unkeyed(bytes, 504));
    }
}

typedef struct planted {
    const char *name;
    size_t bytes;
    void (*plant)(unsigned char *bytes, uint32_t version);
} planted;

static const planted files[] = {{"set.0000000000000001", 64, plant_in_set},
                                {"log.0000000000000001", 64, plant_in_log},
                                {"manifest", 1024, plant_in_manifest}};

static void change(const char *path, const planted *which, uint32_t version)
{
    unsigned char bytes[1024];
    int file = open(path, O_RDWR);
    assert_true(file >= 0);
    assert_int_equal(pread(file, bytes, which->bytes, 0), which->bytes);
    which->plant(bytes, version);
    assert_int_equal(pwrite(file, bytes, which->bytes, 0), which->bytes);
    close(file);
}

static void must_be_refused(const char *path, uint32_t version)
{
    static const unsigned ways[] = {0, VIDI_READ_ONLY, VIDI_READ_ONLY | VIDI_NO_MAP, VIDI_ACCEPT_DAMAGE};
    char words[40];
    snprintf(words, sizeof words, "format version %u;", version);
    for (size_t i = 0; i < COUNT(ways); i++) {
        vidi_set *set = NULL;
        assert_int_equal(test_open(&set, path, ways[i]), VIDI_EFORMAT);
        check(strstr(vidi_message(), words) && strstr(vidi_message(), "knows version 1 alone"), "%s", vidi_message());
    }
}

static void another_version_is_refused_by_both_numbers(void **state)
{
    const planted *which = *state;
    char path[TEST_PATH];
    home at;
    home_make(&at, "hashset", NULL, 0);
    add_all(at.set, 0, 20, VIDI_NEW);
    vidi_close(at.set);
    at.set = NULL;
    test_path(path, at.path, which->name);
    for (size_t i = 0; i < COUNT(versions); i++) {
        change(path, which, versions[i]);
        must_be_refused(at.path, versions[i]);
    }
    home_end(&at);
}

int main(int argc, char **argv)
{
    char name[100];
    for (size_t i = 0; i < COUNT(files); i++) {
        snprintf(name, sizeof name, "another version is refused by both numbers: %s", files[i].name);
        test_add(name, another_version_is_refused_by_both_numbers, &files[i]);
    }
    return test_run("versions", argc, argv);
}
