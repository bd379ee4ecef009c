/* The archive's records, as an independent reader sees them (warc_reader.h), and opening it after a crash. */
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "crawler/archive/archive.h"
#include "crawler/archive/warc_reader.h"
#include "support/check.h"
#include "support/scratch.h"

enum { DATE = 1700000000 };
static const int64_t now = (int64_t)DATE * 1000 + 123; /* 2023-11-14T22:13:20.123Z */
static const char first_file[] = "vidi-00000.warc.gz";

static vidi_str str(const char *text)
{
    return (vidi_str){text, strlen(text)};
}

/* ---- writing ---- */

static archive *open_archive(const char *folder, archive_place end, uint64_t max_bytes)
{
    char why[256];
    archive *made;
    archive_options options = {.folder = folder,
                               .agent = "vidi/0 (+mailto:me@example.org)",
                               .contact = "mailto:me@example.org",
                               .max_bytes = max_bytes,
                               .end = end,
                               .date = now};
    int error = archive_open(&made, &options, why);
    check(error == VIDI_OK, "%d: %s", error, error ? why : "");
    return made;
}

static int open_error(const char *folder, archive_place end, char why[256])
{
    archive *made;
    archive_options options = {.folder = folder, .end = end, .date = now};
    int error = archive_open(&made, &options, why);

    assert_int_not_equal(error, VIDI_OK);
    assert_null(made);
    return error;
}

typedef struct written {
    uint32_t file;
    uint64_t offset;
    size_t response, all; /* lengths */
    unsigned char id[ARCHIVE_ID];
} written;

/* A page with some bytes that do not pack well. */
static written write_page(archive *into, archive_packer *packer, unsigned number, size_t body_length)
{
    char url[64], head[100], *body = malloc(body_length + 1), digest[38];
    bytes packed = {0};
    written at = {0};

    for (size_t i = 0, x = number + 1; i < body_length; i++, x = x * 6364136223846793005u + 1442695040888963407u)
        body[i] = (char)(x >> 56);
    snprintf(url, sizeof url, "https://example.org/%u", number);
    snprintf(head, sizeof head, "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\n\r\n", body_length);
    assert_int_equal(archive_digest((vidi_str){body, body_length}, digest), VIDI_OK);
    archive_exchange exchange = {.url = str(url),
                                 .date = now + number,
                                 .address = "192.0.2.1",
                                 .request = str("GET / HTTP/1.1\r\nHost: example.org\r\n\r\n"),
                                 .head = str(head),
                                 .body = {body, body_length},
                                 .digest = digest};
    assert_int_equal(archive_pack(packer, &exchange, &packed, &at.response, at.id), VIDI_OK);
    int error = archive_write(into, bytes_str(&packed), &at.file, &at.offset);
    check(error == VIDI_OK, "%s", archive_error(into));
    at.all = packed.len;
    bytes_free(&packed);
    free(body);
    return at;
}

static void write_pages(archive *into, unsigned from, unsigned to)
{
    archive_packer *packer = archive_packer_open();

    assert_non_null(packer);
    for (unsigned i = from; i < to; i++)
        write_page(into, packer, i, 10 + i % 50);
    archive_packer_close(packer);
    assert_int_equal(archive_sync(into), VIDI_OK);
}

/* ---- reading ---- */

typedef struct found {
    size_t records, responses;
    uint64_t offsets[1000];
    char last_response[64];
    bool pairs; /* each request follows the response that it names */
} found;

static void note(void *context, const warc_seen *record)
{
    found *into = context;

    into->offsets[into->records++ % 1000] = record->offset;
    if (warc_is(record, "WARC-Type", "response")) {
        into->responses++;
        snprintf(into->last_response, sizeof into->last_response, "%.63s", warc_value(record, "WARC-Record-ID"));
    }
    if (warc_is(record, "WARC-Type", "request") && !warc_is(record, "WARC-Concurrent-To", into->last_response))
        into->pairs = false;
}

static found read_file(const test_scratch *folder, const char *name)
{
    size_t length;
    unsigned char *data = test_file_load(folder, name, &length);
    found seen = {.pairs = true};
    uint64_t at;
    const char *why = warc_read(data, length, note, &seen, &at);

    check(!why, "%s at %llu: %s", name, (unsigned long long)at, why);
    assert_true(seen.pairs);
    free(data);
    return seen;
}

/* ---- records ---- */

static void look_at_all(void *context, const warc_seen *record)
{
    unsigned *number = context;

    if (*number == 0) {
        assert_true(warc_is(record, "WARC-Filename", first_file));
        const char *text = (const char *)record->block;
        for (size_t i = 0; i < 6; i++) {
            static const char *const lines[] = {
                "software: vidi/",
                "format: WARC File Format 1.1\r\n",
                "conformsTo: http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/\r\n",
                "robots: classic\r\n",
                "http-header-user-agent: vidi/0 (+mailto:me@example.org)\r\n",
                "operator: mailto:me@example.org\r\n"};
            assert_non_null(memmem(text, record->block_length, lines[i], strlen(lines[i])));
        }
    } else {
        char url[64];
        snprintf(url, sizeof url, "https://example.org/%u", (*number - 1) / 2);
        assert_string_equal(warc_value(record, "WARC-Target-URI"), url);
        assert_string_equal(warc_value(record, "WARC-IP-Address"), "192.0.2.1");
        assert_true(warc_is(record, "WARC-Type", *number % 2 ? "response" : "request"));
    }
    if (*number == 1)
        assert_string_equal(warc_value(record, "WARC-Date"), "2023-11-14T22:13:20.123Z");
    ++*number;
}

static void every_record_can_be_read_on_its_own(void **state)
{
    (void)state;
    enum { PAGES = 300 };
    static const size_t lengths[] = {0, 1, 100, 5000, 300000};
    test_scratch folder;
    written at[PAGES];
    size_t length;
    unsigned number = 0;
    uint64_t where;

    test_scratch_make(&folder);
    archive *archive = open_archive(folder.path, (archive_place){0}, 0);
    archive_packer *packer = archive_packer_open();
    for (unsigned i = 0; i < PAGES; i++)
        at[i] = write_page(archive, packer, i, lengths[i % (i < 200 ? 4 : 5)]);
    archive_packer_close(packer);
    assert_int_equal(archive_sync(archive), VIDI_OK);
    uint64_t end = archive_end(archive).length;
    archive_close(archive);

    unsigned char *data = test_file_load(&folder, first_file, &length);
    assert_int_equal(length, end);
    const char *why = warc_read(data, length, look_at_all, &number, &where);
    check(!why, "record %u: %s", number, why);
    assert_int_equal(number, 1 + 2 * PAGES);
    for (unsigned i = 0; i < PAGES; i++) {
        size_t used, plain_length;
        unsigned char *plain = warc_member(data + at[i].offset, at[i].response, &used, &plain_length);
        check(plain && used == at[i].response, "the response of page %u is not where it was said to be", i);
        free(plain);
        assert_int_equal(at[i].offset + at[i].all, i + 1 < PAGES ? at[i + 1].offset : end);
    }
    free(data);
    test_scratch_remove(&folder);
}

typedef void packs(archive_packer *packer, const archive_exchange *exchange, bytes *to);

static void pack_response(archive_packer *packer, const archive_exchange *exchange, bytes *to)
{
    unsigned char id[ARCHIVE_ID];
    size_t response;

    assert_int_equal(archive_pack(packer, exchange, to, &response, id), VIDI_OK);
}

/* Packs an exchange, and reads it after a warcinfo record. */
static void pack_and_read(packs *pack, const archive_exchange *exchange, warc_visit *visit, void *context)
{
    test_scratch folder;
    bytes packed = {0};
    uint32_t file;
    uint64_t offset, where;
    size_t length;

    test_scratch_make(&folder);
    archive *archive = open_archive(folder.path, (archive_place){0}, 0);
    archive_packer *packer = archive_packer_open();
    pack(packer, exchange, &packed);
    assert_int_equal(archive_write(archive, bytes_str(&packed), &file, &offset), VIDI_OK);
    assert_int_equal(archive_sync(archive), VIDI_OK);
    unsigned char *data = test_file_load(&folder, first_file, &length);
    const char *why = warc_read(data, length, visit, context, &where);
    check(!why, "%s", why);
    free(data);
    bytes_free(&packed);
    archive_packer_close(packer);
    archive_close(archive);
    test_scratch_remove(&folder);
}

static void look_for_injection(void *context, const warc_seen *record)
{
    assert_string_equal(warc_value(record, "X-Forged"), "");
    if (warc_is(record, "WARC-Type", "response")) {
        assert_string_equal(warc_value(record, "WARC-Target-URI"),
                            "http://h/%0D%0AX-Forged:%20yes%0D%0A%0D%0A%00%7F%C3%A4?a=%41");
        *(bool *)context = true;
    }
}

static void a_url_cannot_add_fields(void **state)
{
    (void)state;
    static const char url[] = "http://h/\r\nX-Forged: yes\r\n\r\n\0\x7F\xC3\xA4?a=%41";
    bool met = false;
    archive_exchange exchange = {
        .url = {url, sizeof url - 1}, .date = now, .head = str("HTTP/1.1 200 OK\r\n\r\n"), .body = str("x")};
    pack_and_read(pack_response, &exchange, look_for_injection, &met);
    assert_true(met);
}

static void look_for_warcinfo_lines(void *context, const warc_seen *record)
{
    (void)context;
    assert_null(memmem(record->block, record->block_length, "\r\nx-forged", 10));
    assert_non_null(memmem(record->block, record->block_length, "me  x-forged: 1\r\n", 17));
}

static void nor_can_a_contact(void **state)
{
    (void)state;
    test_scratch folder;
    char why[256];
    size_t length;
    uint64_t where;
    archive *archive;

    test_scratch_make(&folder);
    archive_options options = {.folder = folder.path, .agent = "a\nb", .contact = "me\r\nx-forged: 1", .date = now};
    assert_int_equal(archive_open(&archive, &options, why), VIDI_OK);
    assert_int_equal(archive_sync(archive), VIDI_OK);
    archive_close(archive);
    unsigned char *data = test_file_load(&folder, first_file, &length);
    assert_null(warc_read(data, length, look_for_warcinfo_lines, NULL, &where));
    free(data);
    test_scratch_remove(&folder);
}

static void look_for_absent_fields(void *context, const warc_seen *record)
{
    ++*(int *)context;
    if (!warc_is(record, "WARC-Type", "response"))
        return;
    assert_string_equal(warc_value(record, "WARC-IP-Address"), "");
    assert_string_equal(warc_value(record, "WARC-Payload-Digest"), "");
}

static void what_is_not_known_is_left_out(void **state)
{
    (void)state;
    int records = 0;
    archive_exchange exchange = {.url = str("http://h/"),
                                 .date = now,
                                 .head = str("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n"),
                                 .body = str("ten bytes.")};
    pack_and_read(pack_response, &exchange, look_for_absent_fields, &records);
    assert_int_equal(records, 2); /* warcinfo and response: no request was given */
}

static const unsigned char original_id[ARCHIVE_ID] = {1, 2, 3, 4, 5, 6, 0x47, 8, 0x89, 10, 11, 12, 13, 14, 15, 0xF0};

static void pack_revisit(archive_packer *packer, const archive_exchange *exchange, bytes *to)
{
    archive_original original = {.id = original_id, .url = str("https://example.org/ä"), .date = now};
    unsigned char id[ARCHIVE_ID];

    assert_int_equal(archive_id(packer, id), VIDI_OK);
    assert_int_equal(archive_pack_revisit(packer, exchange, id, &original, to), VIDI_OK);
}

typedef struct revisit {
    const char *profile, *type, *block;
    size_t records;
} revisit;

static void look_at_revisit(void *context, const warc_seen *record)
{
    revisit *expected = context;
    const struct {
        const char *name, *value;
    } fields[] = {
        {"WARC-Profile", expected->profile},
        {"Content-Type", expected->type},
        {"WARC-Target-URI", "https://example.org/copy"},
        {"WARC-Payload-Digest", "sha1:VGMT4NSHA2AWVOR6EVYXQUGCNSONBWE5"},
        {"WARC-Refers-To", "<urn:uuid:01020304-0506-4708-890a-0b0c0d0e0ff0>"},
        {"WARC-Refers-To-Target-URI", "https://example.org/%C3%A4"},
        {"WARC-Refers-To-Date", "2023-11-14T22:13:20Z"},
        {"WARC-Date", "2023-11-14T22:13:20.323Z"},
    };

    expected->records++;
    if (!warc_is(record, "WARC-Type", "revisit"))
        return;
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        assert_string_equal(warc_value(record, fields[i].name), fields[i].value);
    assert_int_equal(record->block_length, strlen(expected->block));
    assert_memory_equal(record->block, expected->block, record->block_length);
}

static void a_revisit_record_names_the_response_with_the_payload(void **state)
{
    (void)state;
    static const char profiles[] = "http://netpreserve.org/warc/1.1/revisit/";
    char profile[2][80];
    archive_exchange exchange = {.url = str("https://example.org/copy"),
                                 .date = now + 200,
                                 .head = str("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n"),
                                 .digest = "sha1:VGMT4NSHA2AWVOR6EVYXQUGCNSONBWE5"};

    snprintf(profile[0], sizeof profile[0], "%sidentical-payload-digest", profiles);
    snprintf(profile[1], sizeof profile[1], "%sserver-not-modified", profiles);
    revisit same = {.profile = profile[0], .type = "application/http;msgtype=response", .block = exchange.head.ptr};
    pack_and_read(pack_revisit, &exchange, look_at_revisit, &same);
    assert_int_equal(same.records, 2);
    exchange.head = str("");
    revisit unchanged = {.profile = profile[1], .type = "", .block = ""};
    pack_and_read(pack_revisit, &exchange, look_at_revisit, &unchanged);
    assert_int_equal(unchanged.records, 2);
}

static void the_digest_is_that_of_the_standard(void **state)
{
    (void)state;
    char digest[38];
    assert_int_equal(archive_digest(str(""), digest), VIDI_OK);
    assert_string_equal(digest, "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ");
    assert_int_equal(archive_digest(str("abc"), digest), VIDI_OK);
    assert_string_equal(digest, "sha1:VGMT4NSHA2AWVOR6EVYXQUGCNSONBWE5");
}

/* ---- files ---- */

static void a_full_file_is_followed_by_the_next(void **state)
{
    (void)state;
    enum { MOST = 4000, PAGES = 60 };
    test_scratch folder;
    uint32_t last_file = 0;
    uint64_t ends[PAGES] = {0};
    size_t responses = 0;

    test_scratch_make(&folder);
    archive *archive = open_archive(folder.path, (archive_place){0}, MOST);
    archive_packer *packer = archive_packer_open();
    for (unsigned i = 0; i < PAGES; i++) {
        written at = write_page(archive, packer, i, i == 30 ? 2 * MOST : 20);
        assert_true(at.file == last_file || at.file == last_file + 1);
        last_file = at.file;
        ends[at.file] = at.offset + at.all;
    }
    archive_packer_close(packer);
    assert_int_equal(archive_sync(archive), VIDI_OK);
    assert_true(last_file >= 5);
    assert_int_equal(archive_end(archive).file, last_file);
    archive_close(archive);
    unsigned above = 0;
    for (uint32_t file = 0; file <= last_file; file++) {
        char name[ARCHIVE_NAME_ROOM];
        size_t length;
        found seen = read_file(&folder, archive_name(file, name));
        free(test_file_load(&folder, name, &length));
        assert_int_equal(length, ends[file]);
        assert_true(length <= MOST || seen.responses == 1);
        above += length > MOST;
        responses += seen.responses;
    }
    assert_int_equal(above, 1);
    assert_int_equal(responses, PAGES);
    test_scratch_remove(&folder);
}

static void writing_goes_on_behind_the_committed_place(void **state)
{
    (void)state;
    test_scratch folder;
    size_t length;

    test_scratch_make(&folder);
    archive *archive = open_archive(folder.path, (archive_place){0}, 0);
    write_pages(archive, 0, 10);
    archive_place end = archive_end(archive);
    write_pages(archive, 10, 20); /* synced, but the database does not know */
    archive_close(archive);

    unsigned char *before = test_file_load(&folder, first_file, &length);
    assert_true(length > end.length);
    archive = open_archive(folder.path, end, 0);
    unsigned char *cut = test_file_load(&folder, first_file, &length);
    assert_int_equal(length, end.length);
    assert_memory_equal(before, cut, length);
    free(before);
    free(cut);
    write_pages(archive, 10, 15);
    archive_close(archive);
    assert_int_equal(read_file(&folder, first_file).responses, 15);
    test_scratch_remove(&folder);
}

/* Cuts the file off after every byte from the place where its last three records begin. */
static void a_crash_can_cut_the_file_off_anywhere_behind_that_place(void **state)
{
    (void)state;
    test_scratch folder;
    size_t length;
    char why[256];

    test_scratch_make(&folder);
    archive *archive = open_archive(folder.path, (archive_place){0}, 0);
    write_pages(archive, 0, 4);
    archive_place end = archive_end(archive);
    write_pages(archive, 4, 5);
    archive_close(archive);
    found all = read_file(&folder, first_file);
    assert_int_equal(all.records, 11);
    size_t from = all.offsets[all.records - 3]; /* the request of the last page that was committed */
    assert_true(from < end.length);
    unsigned char *data = test_file_load(&folder, first_file, &length);
    for (size_t cut = from; cut <= length; cut++) {
        size_t left;
        test_file_save(&folder, first_file, data, cut);
        if (cut < end.length) {
            assert_int_equal(open_error(folder.path, end, why), VIDI_EDAMAGED);
            assert_non_null(strstr(why, "vidi-00000.warc.gz"));
        } else {
            archive_close(open_archive(folder.path, end, 0));
        }
        unsigned char *now_there = test_file_load(&folder, first_file, &left);
        assert_int_equal(left, cut < end.length ? cut : end.length);
        assert_memory_equal(now_there, data, left);
        free(now_there);
    }
    free(data);
    test_scratch_remove(&folder);
}

static void files_that_were_never_committed_are_removed(void **state)
{
    (void)state;
    test_scratch folder;

    test_scratch_make(&folder);
    archive *archive = open_archive(folder.path, (archive_place){0}, 2000);
    write_pages(archive, 0, 5);
    archive_place end = archive_end(archive);
    write_pages(archive, 5, 30);
    assert_true(archive_end(archive).file > end.file + 2);
    archive_close(archive);
    test_file_save(&folder, "vidi-99999.warc.gz.txt", "mine", 4);
    test_file_save(&folder, "vidi-7.warc.gz", "mine", 4);
    archive = open_archive(folder.path, end, 2000);
    assert_int_equal(test_folder_count(folder.path, "vidi-0"), end.file + 1);
    assert_true(test_file_exists(&folder, "vidi-99999.warc.gz.txt") && test_file_exists(&folder, "vidi-7.warc.gz"));
    write_pages(archive, 5, 30);
    archive_close(archive);
    test_scratch_remove(&folder);
}

static void a_missing_file_is_damage_and_nothing_is_changed(void **state)
{
    (void)state;
    test_scratch folder;
    char why[256];

    test_scratch_make(&folder);
    archive *archive = open_archive(folder.path, (archive_place){0}, 2000);
    write_pages(archive, 0, 30);
    archive_place end = archive_end(archive);
    assert_true(end.file >= 3);
    write_pages(archive, 30, 60);
    archive_close(archive);
    size_t files = test_folder_count(folder.path, "vidi-");
    test_file_save(&folder, "vidi-00001.warc.gz", "", 0);
    assert_int_equal(open_error(folder.path, end, why), VIDI_EDAMAGED);
    assert_non_null(strstr(why, "vidi-00001.warc.gz is empty"));
    assert_int_equal(unlinkat(folder.handle, "vidi-00001.warc.gz", 0), 0);
    assert_int_equal(open_error(folder.path, end, why), VIDI_EDAMAGED);
    assert_non_null(strstr(why, "vidi-00001.warc.gz is missing"));
    assert_int_equal(test_folder_count(folder.path, "vidi-"), files - 1);
    end = (archive_place){0, 100000};
    assert_int_equal(open_error(folder.path, end, why), VIDI_EDAMAGED);
    assert_non_null(strstr(why, "vidi-00000.warc.gz has "));
    test_scratch_remove(&folder);
}

/* Without a database it is not known what was committed. */
static void a_new_archive_removes_nobodys_pages(void **state)
{
    (void)state;
    test_scratch folder;
    char why[256];
    size_t length;

    test_scratch_make(&folder);
    archive *archive = open_archive(folder.path, (archive_place){0}, 0);
    write_pages(archive, 0, 1);
    archive_close(archive);
    assert_int_equal(open_error(folder.path, (archive_place){0}, why), VIDI_EEXIST);
    assert_non_null(strstr(why, "vidi-00000.warc.gz"));
    assert_int_equal(read_file(&folder, first_file).responses, 1);

    /* What a crash leaves at the start is no page: a warcinfo record, or a part of it. */
    unsigned char *data = test_file_load(&folder, first_file, &length);
    size_t info = read_file(&folder, first_file).offsets[1];
    for (size_t cut = 0; cut <= info; cut++) {
        test_file_save(&folder, first_file, data, cut);
        archive_close(open_archive(folder.path, (archive_place){0}, 0));
    }
    test_file_save(&folder, first_file, "mine", 4);
    assert_int_equal(open_error(folder.path, (archive_place){0}, why), VIDI_EEXIST);
    free(data);
    test_scratch_remove(&folder);
}

static void links_are_not_followed(void **state)
{
    (void)state;
    test_scratch folder, elsewhere;
    char target[TEST_PATH], why[256];
    size_t length;
    static char mine[5000];

    test_scratch_make(&folder);
    test_scratch_make(&elsewhere);
    test_file_save(&elsewhere, "mine", mine, sizeof mine);
    test_path(target, elsewhere.path, "mine");
    assert_int_equal(symlinkat(target, folder.handle, first_file), 0);
    assert_int_equal(open_error(folder.path, (archive_place){0, 100}, why), VIDI_EDAMAGED);
    assert_non_null(strstr(why, "symbolic link"));
    assert_int_equal(open_error(folder.path, (archive_place){0}, why), VIDI_EDAMAGED);

    /* Nor where the next file will be made. */
    assert_int_equal(unlinkat(folder.handle, first_file, 0), 0);
    archive *archive = open_archive(folder.path, (archive_place){0}, 1);
    write_pages(archive, 0, 1);
    assert_int_equal(symlinkat(target, folder.handle, "vidi-00001.warc.gz"), 0);
    uint32_t file;
    uint64_t offset;
    assert_int_equal(archive_write(archive, str("packed"), &file, &offset), VIDI_EIO);
    assert_non_null(strstr(archive_error(archive), "vidi-00001.warc.gz"));
    archive_close(archive);
    free(test_file_load(&elsewhere, "mine", &length));
    assert_int_equal(length, sizeof mine);
    test_scratch_remove(&folder);
    test_scratch_remove(&elsewhere);
}

static void the_folder_is_made(void **state)
{
    (void)state;
    test_scratch folder;
    char path[TEST_PATH], why[256];

    test_scratch_make(&folder);
    test_path(path, folder.path, "archive");
    archive *archive = open_archive(path, (archive_place){0}, 0);
    write_pages(archive, 0, 1);
    archive_close(archive);
    assert_int_equal(test_folder_count(path, "vidi-00000"), 1);
    test_path(path, folder.path, "a/b");
    assert_int_equal(open_error(path, (archive_place){0}, why), VIDI_EIO);
    assert_non_null(strstr(why, path));
    test_folder_remove(folder.path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_record_can_be_read_on_its_own),
        cmocka_unit_test(a_url_cannot_add_fields),
        cmocka_unit_test(nor_can_a_contact),
        cmocka_unit_test(what_is_not_known_is_left_out),
        cmocka_unit_test(a_revisit_record_names_the_response_with_the_payload),
        cmocka_unit_test(the_digest_is_that_of_the_standard),
        cmocka_unit_test(a_full_file_is_followed_by_the_next),
        cmocka_unit_test(writing_goes_on_behind_the_committed_place),
        cmocka_unit_test(a_crash_can_cut_the_file_off_anywhere_behind_that_place),
        cmocka_unit_test(files_that_were_never_committed_are_removed),
        cmocka_unit_test(a_missing_file_is_damage_and_nothing_is_changed),
        cmocka_unit_test(a_new_archive_removes_nobodys_pages),
        cmocka_unit_test(links_are_not_followed),
        cmocka_unit_test(the_folder_is_made),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
