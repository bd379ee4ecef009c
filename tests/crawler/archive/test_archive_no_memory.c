/*
 * When memory runs out, packing and opening say so and change nothing. Every allocation fails once: first the first, then
 * the second, and so on, until a run needs none that fails.
 */
#include <stdlib.h>
#include <string.h>

#include "crawler/archive/archive.h"
#include "crawler/archive/warc_reader.h"
#include "crawler/scarce_memory.h"
#include "support/check.h"
#include "support/scratch.h"

/* As those in scarce_memory.h. */
char *__wrap_strdup(const char *text);
char *__real_strdup(const char *text);

char *__wrap_strdup(const char *text)
{
    return fails() ? NULL : __real_strdup(text);
}

static const archive_exchange exchange = {.url = {"http://h/\n", 10},
                                          .date = 1,
                                          .request = {"GET / HTTP/1.1\r\n\r\n", 18},
                                          .head = {"HTTP/1.1 200 OK\r\n\r\n", 19},
                                          .body = {"body", 4}};

static const archive_original original = {.id = (const unsigned char *)"0123456789abcdef", .url = {"http://h/", 9}};

static void packing_appends_all_or_nothing(void **state)
{
    (void)state;
    long at = 0, failed = 0;

    for (int error = VIDI_EMEMORY; error; at++) {
        bytes packed = {0};
        size_t response = 1;
        unsigned char id[ARCHIVE_ID];
        assert_int_equal(bytes_append_text(&packed, "before"), VIDI_OK);
        countdown = at;
        archive_packer *packer = archive_packer_open();
        error = packer ? archive_pack(packer, &exchange, &packed, &response, id) : VIDI_EMEMORY;
        size_t before = error ? 6 : packed.len;
        if (!error && (error = archive_pack_revisit(packer, &exchange, id, &original, &packed)))
            assert_int_equal(packed.len, before);
        countdown = -1;
        if (error) {
            assert_int_equal(error, VIDI_EMEMORY);
            assert_int_equal(packed.len, before);
            failed++;
            /* The packer still works. */
            packed.len = 6;
            if (packer)
                assert_int_equal(archive_pack(packer, &exchange, &packed, &response, id), VIDI_OK);
        }
        assert_true(packed.len == 6 || (packed.len > 6 + response && response > 100));
        assert_memory_equal(packed.ptr, "before", 6);
        bytes_free(&packed);
        archive_packer_close(packer);
    }
    assert_true(failed >= 5);
}

/* Opens an archive that can hold one page per file, and writes two. */
static int open_and_write(const char *folder, const bytes *page, archive_place *end)
{
    archive *archive;
    char why[256] = "";
    uint32_t file;
    uint64_t offset;
    archive_options options = {
        .folder = folder, .agent = "vidi", .contact = "me", .max_bytes = 1, .end = *end, .date = 1};
    int error = archive_open(&archive, &options, why);

    if (error) {
        assert_null(archive);
        assert_true(why[0] != 0);
        return error;
    }
    error = archive_sync(archive);
    if (!error)
        *end = archive_end(archive);
    for (int i = 0; i < 2 && !error; i++)
        error = archive_write(archive, bytes_str(page), &file, &offset);
    assert_true(!error || archive_error(archive)[0] != 0);
    if (!error)
        error = archive_sync(archive);
    if (!error)
        *end = archive_end(archive);
    archive_close(archive);
    return error;
}

static void opening_and_writing_say_so(void **state)
{
    (void)state;
    long at = 0;
    bytes page = {0};
    size_t response, length;
    unsigned char id[ARCHIVE_ID];
    uint64_t where;
    archive_packer *packer = archive_packer_open();

    assert_int_equal(archive_pack(packer, &exchange, &page, &response, id), VIDI_OK);
    archive_packer_close(packer);
    for (int error = VIDI_EMEMORY; error; at++) {
        test_scratch folder;
        archive_place end = {0};
        test_scratch_make(&folder);
        countdown = at;
        error = open_and_write(folder.path, &page, &end);
        countdown = -1;
        if (error) /* a folder that cannot be listed is VIDI_EIO, whatever the cause */
            assert_true(error == VIDI_EMEMORY || error == VIDI_EIO);
        assert_int_equal(error ? open_and_write(folder.path, &page, &end) : VIDI_OK, VIDI_OK);
        assert_true(end.file >= 1);
        unsigned char *data = test_file_load(&folder, "vidi-00001.warc.gz", &length);
        assert_null(warc_read(data, length, NULL, NULL, &where));
        free(data);
        test_scratch_remove(&folder);
    }
    assert_true(at > 8);
    bytes_free(&page);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(packing_appends_all_or_nothing),
        cmocka_unit_test(opening_and_writing_say_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
