/* A set with an owner is written to by that owner alone; everybody may read it, and copies belong to nobody. */
#include <string.h>

#include "support/check.h"
#include "support/folder.h"
#include "support/streams.h"
#include "vidi/transfer.h"

static const char *const programs[] = {NULL, "crawl", "crawler", "brawl"};
enum { PROGRAMS = sizeof programs / sizeof *programs };

static vidi_str url(const char *text)
{
    return (vidi_str){text, strlen(text)};
}

static vidi_access access_of(const char *owner, unsigned flags)
{
    vidi_access access = VIDI_ACCESS_INIT;
    access.owner = owner;
    access.flags = flags;
    return access;
}

static int open_as(const char *path, const char *owner, unsigned flags)
{
    vidi_set *set;
    vidi_access access = access_of(owner, flags);
    int code = vidi_open(&set, path, &access);
    check((code == VIDI_OK) == (set != NULL), "a set, or an error");
    vidi_close(set);
    return code;
}

static vidi_set *make(const char *path, const char *owner)
{
    vidi_set *set;
    vidi_options options = VIDI_OPTIONS_INIT;
    vidi_access access = access_of(owner, 0);
    options.path = path;
    options.access = &access;
    check(vidi_create(&set, &options) == VIDI_OK, "%s", vidi_message());
    return set;
}

/* Whoever is not the owner can read, and nothing else. */
static void must_belong_to(const char *path, const char *owner, const char *when)
{
    for (size_t i = 0; i < PROGRAMS; i++) {
        const char *who = programs[i];
        bool is = who == owner || (who && owner && strcmp(who, owner) == 0);
        int code = open_as(path, who, 0);
        check(code == (is ? VIDI_OK : VIDI_EOWNED), "%s: opened by %s: %d %s", when, who, code, vidi_message());
        check(is || !owner || strstr(vidi_message(), "belongs to 'crawl'"), "%s", vidi_message());
        check(open_as(path, who, VIDI_READ_ONLY) == VIDI_OK, "%s: read by %s: %s", when, who, vidi_message());
        check(open_as(path, who, VIDI_READ_ONLY | VIDI_NO_MAP) == VIDI_OK, "%s", vidi_message());
    }
}

static void only_the_owner_writes(void **state)
{
    (void)state;
    char path[TEST_PATH];
    test_folder_new(path, false);
    vidi_set *set = make(path, "crawl");
    check(vidi_add(set, url("http://a.example/")) == VIDI_NEW, "new");
    vidi_close(set);
    must_belong_to(path, "crawl", "a new set");

    vidi_access access = access_of("crawl", 0);
    check(vidi_open(&set, path, &access) == VIDI_OK && vidi_snapshot(set) == VIDI_OK, "%s", vidi_message());
    vidi_close(set);
    must_belong_to(path, "crawl", "after a snapshot");
    check(vidi_open(&set, path, &access) == VIDI_OK && vidi_rotate(set, NULL) == VIDI_OK, "%s", vidi_message());
    vidi_close(set);
    must_belong_to(path, "crawl", "after a rotation");
    test_folder_remove(path);
}

static void a_set_without_an_owner_is_everybodys(void **state)
{
    (void)state;
    char path[TEST_PATH];
    test_folder_new(path, false);
    vidi_close(make(path, NULL));
    must_belong_to(path, NULL, "without an owner");
    test_folder_remove(path);
}

static void copies_belong_to_nobody(void **state)
{
    (void)state;
    char path[TEST_PATH], other[TEST_PATH];
    test_stream stream = {0};
    test_folder_new(path, false);
    test_folder_new(other, false);
    vidi_set *set = make(path, "crawl"), *copy;
    check(vidi_write(set, test_stream_sink, &stream, 0) == VIDI_OK, "%s", vidi_message());
    check(vidi_read(&copy, test_stream_source, &stream, stream.size, other, NULL) == VIDI_OK, "%s", vidi_message());
    vidi_close(copy);
    vidi_close(set);
    must_belong_to(other, NULL, "an export");
    test_stream_free(&stream);
    test_folder_remove(path);
    test_folder_remove(other);
}

static void a_name_that_is_too_long_is_refused(void **state)
{
    (void)state;
    char path[TEST_PATH], name[VIDI_OWNER_ROOM + 1];
    test_folder_new(path, false);
    vidi_set *set;
    vidi_options options = VIDI_OPTIONS_INIT;
    memset(name, 'x', sizeof name);
    name[VIDI_OWNER_ROOM] = 0;
    vidi_access access = access_of(name, 0);
    options.path = path;
    options.access = &access;
    assert_int_equal(vidi_create(&set, &options), VIDI_EOPTION);
    name[VIDI_OWNER_ROOM - 1] = 0;
    assert_int_equal(vidi_create(&set, &options), VIDI_OK);
    vidi_close(set);
    assert_int_equal(open_as(path, name, 0), VIDI_OK);
    test_folder_remove(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_the_owner_writes),
        cmocka_unit_test(a_set_without_an_owner_is_everybodys),
        cmocka_unit_test(copies_belong_to_nobody),
        cmocka_unit_test(a_name_that_is_too_long_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
