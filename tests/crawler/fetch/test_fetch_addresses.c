/* Networks and addresses as text, and which of them are public. */
#include "crawler/fetch/fetching.h"

static void networks_are_read(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        unsigned bits;
        const char *address;
    } cases[] = {
        {"127.0.0.0/8", 8, "127.0.0.0"},     {"10.1.2.3", 32, "10.1.2.3"}, {"0.0.0.0/0", 0, "0.0.0.0"},
        {"192.0.2.1/32", 32, "192.0.2.1"},   {"fd00::/8", 8, "fd00::"},    {"::1", 128, "::1"},
        {"2001:DB8::/32", 32, "2001:db8::"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[46];
        fetch_net net;
        check(fetch_net_parse(cases[i].text, &net), "%s", cases[i].text);
        check(net.bits == cases[i].bits, "%s", cases[i].text);
        assert_string_equal(fetch_address_text(&net.address, text), cases[i].address);
    }
}

static void what_is_not_a_network_is_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {"",
                                      "/",
                                      "/8",
                                      "127.0.0.0/",
                                      "127.0.0.0/33",
                                      "127.0.0.0/-1",
                                      "127.0/8",
                                      "127.1",
                                      "0x7f.0.0.1",
                                      "127.0.0.1/8 ",
                                      " 127.0.0.1",
                                      "::1/129",
                                      "[::1]",
                                      "localhost",
                                      "10.0.0.0/08x",
                                      "1.2.3.4/4294967304",
                                      "256.0.0.1",
                                      "fe80::1%lo",
                                      "1.2.3.4/8/8",
                                      "0127.0.0.1",
                                      "11111111111111111111111111111111111111111111111111111111"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        fetch_net net;
        check(!fetch_net_parse(bad[i], &net), "\"%s\" was taken for a network", bad[i]);
    }
}

static void check_has(const char *net, const char *address, bool has)
{
    fetch_net one = net_of(net);
    fetch_address two = address_of(address);
    check(fetch_net_has(&one, &two) == has, "%s in %s", address, net);
}

static void a_network_has_the_addresses_that_begin_like_it(void **state)
{
    (void)state;
    check_has("127.0.0.0/8", "127.255.255.255", true);
    check_has("127.0.0.0/8", "128.0.0.0", false);
    check_has("127.3.0.1/8", "127.0.0.1", true);
    check_has("172.16.0.0/12", "172.31.255.255", true);
    check_has("172.16.0.0/12", "172.32.0.0", false);
    check_has("10.1.2.3", "10.1.2.3", true);
    check_has("10.1.2.3", "10.1.2.2", false);
    check_has("0.0.0.0/0", "255.0.0.1", true);
    check_has("0.0.0.0/0", "::1", false);
    check_has("::/0", "::ffff:127.0.0.1", true);
    check_has("::/0", "127.0.0.1", false);
    check_has("127.0.0.0/8", "::ffff:127.0.0.1", false);
    check_has("fe80::/10", "febf::1", true);
    check_has("fe80::/10", "fec0::1", false);
    fetch_net none = {0};
    fetch_address no_address = {0};
    assert_false(fetch_net_has(&none, &no_address));
}

static void special_addresses_are_not_public(void **state)
{
    (void)state;
    /* The first and the last of each network. */
    static const char *const special[] = {
        "0.0.0.0",
        "0.255.255.255",
        "10.0.0.0",
        "10.255.255.255",
        "100.64.0.0",
        "100.127.255.255",
        "127.0.0.0",
        "127.255.255.255",
        "169.254.0.0",
        "169.254.169.254",
        "169.254.255.255",
        "172.16.0.0",
        "172.31.255.255",
        "192.0.0.0",
        "192.0.0.255",
        "192.0.2.0",
        "192.0.2.255",
        "192.88.99.1",
        "192.168.0.0",
        "192.168.255.255",
        "198.18.0.0",
        "198.19.255.255",
        "198.51.100.0",
        "198.51.100.255",
        "203.0.113.0",
        "203.0.113.255",
        "224.0.0.0",
        "239.255.255.255",
        "240.0.0.0",
        "255.255.255.255",
        "::",
        "::1",
        "::2",
        "::127.0.0.1",
        "::ffff:127.0.0.1",
        "::ffff:8.8.8.8",
        "::ffff:0:808:808",
        "64:ff9b::808:808",
        "64:ff9b::7f00:1",
        "64:ff9b:1::1",
        "100::1",
        "2001::1",
        "2001:0:1::1",
        "2001:2::1",
        "2001:10::1",
        "2001:20::1",
        "2001:1ff:ffff::1",
        "2001:db8::1",
        "2001:db8:ffff:ffff::1",
        "2002::1",
        "2002:7f00:1::1",
        "2002:808:808::1",
        "3fff::1",
        "3fff:fff::1",
        "4000::1",
        "5f00::1",
        "fc00::1",
        "fd12:3456::1",
        "fe80::1",
        "febf::1",
        "fec0::1",
        "ff02::1",
        "ff0e::1",
        "1fff::1",
    };
    for (size_t i = 0; i < sizeof special / sizeof special[0]; i++) {
        fetch_address one = address_of(special[i]);
        check(!fetch_address_is_public(&one), "%s was called public", special[i]);
    }
    fetch_address none = {0};
    assert_false(fetch_address_is_public(&none));
}

static void all_other_addresses_are_public(void **state)
{
    (void)state;
    static const char *const public[] = {
        "1.0.0.0",         "8.8.8.8",      "9.255.255.255",   "11.0.0.0",
        "100.63.255.255",  "100.128.0.0",  "126.0.0.1",       "128.0.0.0",
        "169.253.255.255", "169.255.0.0",  "172.15.255.255",  "172.32.0.0",
        "192.0.1.0",       "192.0.3.0",    "192.167.255.255", "192.169.0.0",
        "198.17.255.255",  "198.20.0.0",   "198.51.99.255",   "198.51.101.0",
        "203.0.112.255",   "203.0.114.0",  "223.255.255.255", "2001:200::1",
        "2001:db7::1",     "2001:db9::1",  "2003::1",         "2606:4700::1",
        "2a00:1450::1",    "3fff:1000::1", "2000::1",         "2001:4860:4860::8888",
    };
    for (size_t i = 0; i < sizeof public / sizeof public[0]; i++) {
        fetch_address one = address_of(public[i]);
        check(fetch_address_is_public(&one), "%s was not called public", public[i]);
    }
}

static void each_failure_has_a_reason(void **state)
{
    (void)state;
    assert_string_equal(fetch_reason(FETCH_FINE), "");
    assert_string_equal(fetch_reason(FETCH_NAME), "name");
    assert_string_equal(fetch_reason(FETCH_ADDRESS), "address");
    assert_string_equal(fetch_reason(FETCH_CONNECT), "connect");
    assert_string_equal(fetch_reason(FETCH_TLS), "tls");
    assert_string_equal(fetch_reason(FETCH_TIMEOUT), "timeout");
    assert_string_equal(fetch_reason(FETCH_BROKEN), "broken");
    assert_string_equal(fetch_reason(FETCH_LIMIT), "limit");
    assert_string_equal(fetch_reason(FETCH_MEMORY), "memory");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(networks_are_read),
        cmocka_unit_test(what_is_not_a_network_is_refused),
        cmocka_unit_test(a_network_has_the_addresses_that_begin_like_it),
        cmocka_unit_test(special_addresses_are_not_public),
        cmocka_unit_test(all_other_addresses_are_public),
        cmocka_unit_test(each_failure_has_a_reason),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
