/*
 * Addresses are read as vidi/cluster.h describes them, and never shown with their password.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/check.h"

#include "common/bytes.h"
#include "fleet/redis/address.h"
#include "fleet/redis/redis.h"

/* Everything in an address as one text. */
static char *describe(const address *address)
{
    static const char *const ways[] = {"tcp", "tls", "unix"};
    bytes text = {0};
    bytes_append_format(&text, "%s", ways[address->way]);
    for (size_t i = 0; i < address->count; i++)
        bytes_append_format(&text, " %s %u", address->hosts[i].name, (unsigned)address->hosts[i].port);
    bytes_append_format(&text, " user=%s password=%s name=%s", address->user ? address->user : "-",
                        address->password ? address->password : "-", address->set_name);
    bytes_append(&text, "", 1);
    return text.ptr;
}

static void addresses_are_read(void **state)
{
    static const struct {
        const char *text, *read;
    } cases[] = {
        {"redis://localhost/seen", "tcp localhost 6379 user=- password=- name=seen"},
        {"redis://10.0.0.1:7000/a.b_c:d-9", "tcp 10.0.0.1 7000 user=- password=- name=a.b_c:d-9"},
        {"rediss://a.example,b.example:1,c:65535/x", "tls a.example 6379 b.example 1 c 65535 user=- password=- name=x"},
        {"redis://[::1]/x", "tcp ::1 6379 user=- password=- name=x"},
        {"redis://[fe80::1]:7001,[::2]:7/x", "tcp fe80::1 7001 ::2 7 user=- password=- name=x"},
        {"redis://:secret@h/x", "tcp h 6379 user=- password=secret name=x"},
        {"redis://me:s%40%2F%3a%25@h/x", "tcp h 6379 user=me password=s@/:% name=x"},
        {"redis://m%65:a:b@h/x", "tcp h 6379 user=me password=a:b name=x"},
        {"redis://me:a@b@h/x", "tcp h 6379 user=me password=a@b name=x"},
        {"redis://:@h/x", "tcp h 6379 user=- password=- name=x"},
        {"redis+unix:///run/redis.sock/x", "unix /run/redis.sock 0 user=- password=- name=x"},
        {"redis+unix://me:p@/run/r@h/s/x", "unix /run/r@h/s 0 user=me password=p name=x"},
    };
    (void)state;
    unsetenv("VIDI_REDIS_PASSWORD");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        address address;
        char why[REDIS_WHY] = "";
        int error = address_read(&address, cases[i].text, why);
        check(error == VIDI_OK, "%s: %s", cases[i].text, why);
        char *read = describe(&address);
        check(strcmp(read, cases[i].read) == 0, "%s: %s", cases[i].text, read);
        free(read);
        address_free(&address);
        check(address_is(cases[i].text), "%s", cases[i].text);
    }
}

static void what_is_not_an_address_is_refused_with_a_sentence(void **state)
{
    static const struct {
        const char *text, *word;
    } cases[] = {
        {"", "begins with"},
        {"http://h/x", "begins with"},
        {"redis:/h/x", "begins with"},
        {"redis://h", "must end with '/'"},
        {"redis://h/", "name of the set"},
        {"redis://h/a/b", "no other '/'"},
        {"redis://h/a b", "letters, digits"},
        {"redis://h/a{b}", "letters, digits"},
        {"redis://h/\xc3\xa4", "letters, digits"},
        {"redis:///x", "''"},
        {"redis://h:0/x", "'h:0'"},
        {"redis://h:65536/x", "'h:65536'"},
        {"redis://h:x/x", "'h:x'"},
        {"redis://h:/x", "'h:'"},
        {"redis://h:123456789012345678901/x", "not a host"},
        {"redis://h,/x", "''"},
        {"redis://,h/x", "''"},
        {"redis://::1/x", "'::1'"},
        {"redis://[::1/x", "not a host"},
        {"redis://[::1]7/x", "not a host"},
        {"redis://[]/x", "not a host"},
        {"redis://a b/x", "not a host"},
        {"redis://secret@h/x", "':' stands before"},
        {"redis://me:@h/x", "VIDI_REDIS_PASSWORD"},
        {"redis://:a%00b@h/x", "%00"},
        {"redis+unix://path/x", "path of a socket"},
        {"redis+unix:///x", "socket's path"},
    };
    (void)state;
    unsetenv("VIDI_REDIS_PASSWORD");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        address address;
        char why[REDIS_WHY] = "";
        int error = address_read(&address, cases[i].text, why);
        check(error == VIDI_EOPTION, "%s: %d", cases[i].text, error);
        check(strstr(why, cases[i].word), "%s: %s", cases[i].text, why);
        check(!strstr(why, "secret"), "%s: %s", cases[i].text, why);
        address_free(&address); /* harmless */
    }
}

static void too_much_is_refused(void **state)
{
    bytes hosts = {0}, name = {0};
    address address;
    char why[REDIS_WHY];

    (void)state;
    bytes_append_text(&hosts, "redis://h");
    for (int i = 0; i < ADDRESS_HOSTS; i++)
        bytes_append_text(&hosts, ",h");
    bytes_append(&hosts, "/x", 3);
    assert_int_equal(address_read(&address, hosts.ptr, why), VIDI_EOPTION);
    assert_non_null(strstr(why, "too many hosts"));
    bytes_append_text(&name, "redis://h/");
    for (int i = 0; i <= ADDRESS_NAME; i++)
        bytes_append_text(&name, "x");
    bytes_append(&name, "", 1);
    assert_int_equal(address_read(&address, name.ptr, why), VIDI_EOPTION);
    assert_non_null(strstr(why, "too long"));
    bytes_free(&hosts);
    bytes_free(&name);
}

static void the_environment_gives_the_password_that_the_address_lacks(void **state)
{
    address address;
    char why[REDIS_WHY];

    (void)state;
    setenv("VIDI_REDIS_PASSWORD", "p%40", 1);
    assert_int_equal(address_read(&address, "redis://h/x", why), VIDI_OK);
    assert_string_equal(address.password, "p%40"); /* as it is */
    assert_null(address.user);
    address_free(&address);
    assert_int_equal(address_read(&address, "redis://me:@h/x", why), VIDI_OK);
    assert_string_equal(address.password, "p%40");
    assert_string_equal(address.user, "me");
    address_free(&address);
    assert_int_equal(address_read(&address, "redis://:own@h/x", why), VIDI_OK);
    assert_string_equal(address.password, "own");
    address_free(&address);
    setenv("VIDI_REDIS_PASSWORD", "", 1);
    assert_int_equal(address_read(&address, "redis://h/x", why), VIDI_OK);
    assert_null(address.password);
    address_free(&address);
    unsetenv("VIDI_REDIS_PASSWORD");
}

static void passwords_are_never_shown(void **state)
{
    static const struct {
        const char *text, *shown;
    } cases[] = {
        {"redis://h:1,i/x", "redis://h:1,i/x"},
        {"redis://me:secret@h/x", "redis://me@h/x"},
        {"redis://:secret@h/x", "redis://h/x"},
        {"redis://secret@h/x", "redis://h/x"}, /* is refused, but shown in the sentence */
        {"redis://me:se/secret@h/x", "redis://me@h/x"},
        {"redis://me:a@secret@h/x", "redis://me@h/x"},
        {"redis+unix://me:secret@/run/s/x", "redis+unix://me@/run/s/x"},
        {"redis+unix://me:se/secret@/run/s/x", "redis+unix://me@/run/s/x"},
        {"redis+unix:///run/a:b@c/s/x", "redis+unix:///run/a:b@c/s/x"},
        {"folder/name", "folder/name"},
    };
    char shown[VIDI_CLUSTER_ADDRESS_ROOM], text[2000] = "redis://:secret@";

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        address_show(cases[i].text, shown);
        check(strcmp(shown, cases[i].shown) == 0, "%s: %s", cases[i].text, shown);
    }
    memset(text + strlen(text), 'x', sizeof text - strlen(text) - 1);
    address_show(text, shown);
    assert_int_equal(strlen(shown), VIDI_CLUSTER_ADDRESS_ROOM - 1);
    assert_string_equal(shown + VIDI_CLUSTER_ADDRESS_ROOM - 5, "x...");
    assert_null(strstr(shown, "secret"));
    assert_false(address_is("folder/name"));
    assert_false(address_is("redis:x"));
    assert_false(address_is(NULL));
}

static void hosts_are_labelled_with_their_ports(void **state)
{
    char label[32];

    (void)state;
    address_label(label, sizeof label, "::1", 6379);
    assert_string_equal(label, "[::1]:6379");
    address_label(label, sizeof label, "h.example", 1);
    assert_string_equal(label, "h.example:1");
    address_label(label, sizeof label, "/run/s", 0);
    assert_string_equal(label, "/run/s");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses_are_read),
        cmocka_unit_test(what_is_not_an_address_is_refused_with_a_sentence),
        cmocka_unit_test(too_much_is_refused),
        cmocka_unit_test(the_environment_gives_the_password_that_the_address_lacks),
        cmocka_unit_test(passwords_are_never_shown),
        cmocka_unit_test(hosts_are_labelled_with_their_ports),
    };
    return cmocka_run_group_tests_name("addresses of cluster sets", tests, NULL, NULL);
}
