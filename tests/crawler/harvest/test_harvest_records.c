/*
 * What is archived of a response: the records, read again by a reader of its own, and what keeps a page out.
 */
#include "crawler/archive/warc_reader.h"
#include "crawler/harvest/responses.h"

/* Packs, and returns what was harvested. */
static harvest packed(const harvest_rules *rules, const frontier_url *url, const fetch_response *response)
{
    archive_packer *packer = archive_packer_open();
    harvest got;

    assert_non_null(packer);
    assert_int_equal(harvest_read(&got, rules, packer, url, response), VIDI_OK);
    archive_packer_close(packer);
    return got;
}

/* Unpacks a record and reads its fields. The caller frees *plain. */
static warc_seen *record_at(const bytes *records, size_t at, size_t *used, unsigned char **plain)
{
    size_t length;
    warc_seen *record = calloc(1, sizeof *record);
    *plain = warc_member((const unsigned char *)records->ptr + at, records->len - at, used, &length);
    assert_non_null(*plain);
    const char *why = warc_parse(record, *plain, length, false);
    check(!why, "%s", why);
    return record;
}

static bool block_is(const warc_seen *record, const char *expected)
{
    return record->block_length == strlen(expected) && memcmp(record->block, expected, record->block_length) == 0;
}

static void a_response_is_archived_as_sent_with_a_head_that_fits(void **state)
{
    (void)state;
    harvest_rules rules = usual_rules(NULL);
    rules.store = true;
    frontier_url url = page_at("http://h.org/d/page");
    fetch_response response =
        response_of(200, "Transfer-Encoding: chunked\r\n" HTML_TYPE "Content-Encoding: gzip\r\n", text_of("not gzip"));
    response.address = (fetch_address){{192, 0, 2, 7}, 4};
    harvest got = packed(&rules, &url, &response);
    assert_true(got.may_store && got.incomplete);

    unsigned char *plain;
    size_t used, more;
    warc_seen *record = record_at(&got.records, 0, &used, &plain);
    assert_int_equal(used, got.response_length);
    assert_true(warc_is(record, "WARC-Type", "response"));
    assert_true(warc_is(record, "WARC-Target-URI", "http://h.org/d/page"));
    assert_true(warc_is(record, "WARC-IP-Address", "192.0.2.7"));
    assert_true(warc_is(record, "WARC-Date", "2023-11-14T22:13:20.000Z"));
    assert_true(warc_is(record, "WARC-Payload-Digest", got.digest));
    assert_true(block_is(record, "HTTP/1.1 200 X\r\nContent-Length: 8\r\nContent-Type: text/html; charset=utf-8\r\n"
                                 "Content-Encoding: gzip\r\n\r\nnot gzip"));
    free(record);
    free(plain);
    record = record_at(&got.records, used, &more, &plain);
    assert_int_equal(used + more, got.records.len);
    assert_true(warc_is(record, "WARC-Type", "request"));
    assert_true(block_is(record, "GET / HTTP/1.1\r\nHost: h.org\r\n\r\n"));
    free(record);
    free(plain);
    harvest_free(&got);
    end_response(&response);
    end_rules(&rules);
}

static void every_status_is_archived_redirects_too(void **state)
{
    (void)state;
    static const int statuses[] = {200, 204, 301, 404, 500};
    harvest_rules rules = usual_rules(NULL);
    rules.store = true;
    frontier_url url = page_at("http://h.org/");
    for (size_t i = 0; i < sizeof statuses / sizeof statuses[0]; i++) {
        fetch_response response = response_of(statuses[i], "Location: /x\r\n", text_of(""));
        harvest got = packed(&rules, &url, &response);
        assert_true(got.may_store && got.response_length > 0 && got.records.len > got.response_length);
        assert_string_equal(got.digest, "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ");
        harvest_free(&got);
        end_response(&response);
    }
    end_rules(&rules);
}

static void noarchive_is_not_stored_wherever_it_is_said(void **state)
{
    (void)state;
    static const struct {
        const char *fields, *body;
        bool may_store;
    } cases[] = {
        {HTML_TYPE, "<p>", true},
        {HTML_TYPE, "<p><meta name=robots content='index, NoArchive'>", false},
        {HTML_TYPE "X-Robots-Tag: noarchive\r\n", "<p>", false},
        {HTML_TYPE "X-Robots-Tag: vidi: noarchive\r\n", "<p>", false},
        {HTML_TYPE "X-Robots-Tag: otherbot: noarchive\r\n", "<p>", true},
        {"Content-Type: image/png\r\nX-Robots-Tag: noarchive\r\n", "png", false},
        {"Content-Type: text/plain\r\n", "<meta name=robots content=noarchive>", true},
        {"", "<p><meta name=robots content=noarchive>", false},
        {HTML_TYPE "X-Robots-Tag: noindex, nofollow\r\n", "<meta name=robots content=none>", true},
    };
    harvest_rules rules = usual_rules(NULL);
    rules.store = true;
    frontier_url url = page_at("http://h.org/");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        fetch_response response = response_of(200, cases[i].fields, text_of(cases[i].body));
        harvest got = packed(&rules, &url, &response);
        check(got.may_store == cases[i].may_store && (got.records.len > 0) == cases[i].may_store, "%s %s",
              cases[i].fields, cases[i].body);
        assert_int_equal(strlen(got.digest), 37);
        harvest_free(&got);
        end_response(&response);
    }
    end_rules(&rules);
}

static void a_response_of_304_is_stored_unless_it_forbids_that(void **state)
{
    (void)state;
    static const struct {
        const char *stored, *fields;
        bool is_stored;
    } cases[] = {
        {"", "", true}, {"", "X-Robots-Tag: noarchive\r\n", false}, {"X-Robots-Tag: noarchive\r\n", "", false}};
    harvest_rules rules = usual_rules(NULL);
    rules.store = true;
    frontier_url url = page_at("http://h.org/");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char fields[80];
        snprintf(fields, sizeof fields, "ETag: \"2\"\r\n%s", cases[i].fields);
        fetch_response stored = response_of(200, cases[i].stored, text_of("<p>stored"));
        fetch_response response = response_of(304, fields, text_of(""));
        harvest got;
        response.address = (fetch_address){{192, 0, 2, 7}, 4};
        assert_int_equal(harvest_read(&got, &rules, NULL, &url, &stored), VIDI_OK);
        harvest_unchanged(&got, &rules, &response);
        assert_string_equal(got.etag, "\"2\"");
        assert_string_equal(got.address, "192.0.2.7");
        assert_int_equal(got.unchanged, cases[i].is_stored);
        assert_int_equal(got.records.len + got.head.len, 0);
        harvest_free(&got);
        end_response(&stored);
        end_response(&response);
    }
    end_rules(&rules);
}

static void nothing_is_packed_unless_it_is_to_be_stored(void **state)
{
    (void)state;
    harvest_rules rules = usual_rules(NULL);
    frontier_url url = page_at("http://h.org/");
    fetch_response response = response_of(200, HTML_TYPE, text_of("<p>"));
    harvest got = packed(&rules, &url, &response);
    assert_true(got.may_store && got.records.len == 0 && got.response_length == 0 && got.digest[0]);
    harvest_free(&got);
    end_response(&response);
    end_rules(&rules);
}

static void a_head_alone_has_no_digest(void **state)
{
    (void)state;
    harvest_rules rules = usual_rules(NULL);
    frontier_url url = {.url = text_of("http://o.org/"), .kind = FRONTIER_OUTSIDE};
    fetch_response response = response_of(200, HTML_TYPE "Content-Length: 5000\r\n", text_of(""));
    memcpy(response.sent.ptr, "HEAD", 4);
    response.sent.ptr[4] = ' ';
    harvest got = packed(&rules, &url, &response);
    assert_string_equal(got.type, "text/html");
    assert_int_equal(got.digest[0], 0);
    harvest_free(&got);
    end_response(&response);
    end_rules(&rules);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_response_is_archived_as_sent_with_a_head_that_fits),
        cmocka_unit_test(every_status_is_archived_redirects_too),
        cmocka_unit_test(noarchive_is_not_stored_wherever_it_is_said),
        cmocka_unit_test(a_response_of_304_is_stored_unless_it_forbids_that),
        cmocka_unit_test(nothing_is_packed_unless_it_is_to_be_stored),
        cmocka_unit_test(a_head_alone_has_no_digest),
    };
    return cmocka_run_group_tests_name("harvest_records", tests, NULL, NULL);
}
