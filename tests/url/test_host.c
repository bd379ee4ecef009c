/* Hosts: domains, addresses, opaque and internationalised ones. */
#include "href.h"

static void domains_are_decoded_and_lowered(void **state)
{
    (void)state;
    CHECK_HREFS(NULL, {"http://EXAMPLE.Com", "http://example.com/"}, {"http://%65x%41mple/", "http://example/"},
                {"http://a-b_c.d~/", "http://a-b_c.d~/"}, {"http://h./", "http://h./"},
                {"http://a..b/", "http://a..b/"}, {"http://xn--/", "http://xn--/"}, {"http://XN--0/", "http://xn--0/"},
                {"http://!$&'()*+,;=/", "http://!$&'()*+,;=/"}, {"http://%2E/", "http://./"});
}

static void forbidden_characters_are_refused(void **state)
{
    (void)state;
    static const char special[] = " #/<>?@[\\]^|%\x01\x1f\x7f";
    static const char other[] = "<>^| [\\]";
    for (const char *c = special; *c; c++) {
        char url[32];
        snprintf(url, sizeof url, "http://a%%%02xb/", (unsigned)*c);
        check(!href_of(url, NULL), "0x%02x in a domain is taken", (unsigned)*c);
    }
    for (const char *c = other; *c; c++) {
        char url[32];
        snprintf(url, sizeof url, "a://a%cb/", *c);
        check(!href_of(url, NULL), "0x%02x in an opaque host is taken", (unsigned)*c);
    }
    assert_null(href_of("http://a%00b/", NULL));
    assert_null(href_of("http://a%/", NULL));
    assert_null(href_of("http://a%4/", NULL));
    assert_non_null(strstr(vidi_message(), "must not contain '%'"));
}

static void opaque_hosts_stay_as_they_are(void **state)
{
    (void)state;
    CHECK_HREFS(NULL, {"a://HoSt/", "a://HoSt/"}, {"a://%41%zz/", "a://%41%zz/"}, {"a://\xc3\xa9/", "a://%C3%A9/"},
                {"a://1.2/", "a://1.2/"}, {"a://[::1]/", "a://[::1]/"}, {"a://[x]/", NULL}, {"a://\x01/", "a://%01/"});
}

static void ipv4_comes_in_many_spellings(void **state)
{
    (void)state;
    CHECK_HREFS(NULL, {"http://1.2.3.4", "http://1.2.3.4/"}, {"http://1.2.3.4.", "http://1.2.3.4/"},
                {"http://127.1/", "http://127.0.0.1/"}, {"http://1.2.772/", "http://1.2.3.4/"},
                {"http://0x7f.0.0.1/", "http://127.0.0.1/"}, {"http://0X7F000001", "http://127.0.0.1/"},
                {"http://017700000001/", "http://127.0.0.1/"}, {"http://2130706433/", "http://127.0.0.1/"},
                {"http://4294967295/", "http://255.255.255.255/"}, {"http://4294967296/", NULL},
                {"http://0x/", "http://0.0.0.0/"}, {"http://1.0x/", "http://1.0.0.0/"}, {"http://1.2.3.256/", NULL},
                {"http://256.1/", NULL}, {"http://1.16777216/", NULL}, {"http://1.16777215/", "http://1.255.255.255/"},
                {"http://1.2.3.4.5/", NULL}, {"http://1..2/", NULL}, {"http://a.1/", NULL}, {"http://a.09/", NULL},
                {"http://08/", NULL}, {"http://1.2.3.08/", NULL}, {"http://a.0xg/", "http://a.0xg/"},
                {"http://a.1b/", "http://a.1b/"}, {"http://1.a/", "http://1.a/"}, {"http://1../", "http://1../"},
                {"http://%31.1", "http://1.0.0.1/"}, {"http://99999999999999999999999/", NULL},
                {"http://0x00000000000000000000001/", "http://0.0.0.1/"});
}

static void ipv6_is_written_in_its_shortest_form(void **state)
{
    (void)state;
    CHECK_HREFS(NULL, {"http://[::]/", "http://[::]/"}, {"http://[0:0:0:0:0:0:0:1]/", "http://[::1]/"},
                {"http://[1:0:0:2:0:0:0:3]/", "http://[1:0:0:2::3]/"},
                {"http://[1:0:2:3:4:5:6:7]/", "http://[1:0:2:3:4:5:6:7]/"},
                {"http://[0:0:1:2:3:0:0:4]/", "http://[::1:2:3:0:0:4]/"}, {"http://[1::]/", "http://[1::]/"},
                {"http://[00AB::0Cd]/", "http://[ab::cd]/"}, {"http://[::1.2.3.4]/", "http://[::102:304]/"},
                {"http://[1:2:3:4:5:6:7.8.9.10]:80/", "http://[1:2:3:4:5:6:708:90a]/"},
                {"http://[::1]:81/", "http://[::1]:81/"}, {"http://[1:2:3:4:5:6:7::]/", "http://[1:2:3:4:5:6:7:0]/"},
                {"http://[::2:3:4:5:6:7:8]/", "http://[0:2:3:4:5:6:7:8]/"});
}

static void what_is_no_ipv6_address_is_refused(void **state)
{
    (void)state;
    CHECK_HREFS(NULL, {"http://[]/", NULL}, {"http://[:]/", NULL}, {"http://[1]/", NULL}, {"http://[:1]/", NULL},
                {"http://[1:]/", NULL}, {"http://[:::]/", NULL}, {"http://[1::2::3]/", NULL},
                {"http://[12345::]/", NULL}, {"http://[g::]/", NULL}, {"http://[1:2:3:4:5:6:7:8:9]/", NULL},
                {"http://[1:2:3:4:5:6:7:8::]/", NULL}, {"http://[1:2:3:4:5:6:7]/", NULL}, {"http://[::1.2.3]/", NULL},
                {"http://[::1.2.3.4.5]/", NULL}, {"http://[::1.2.3.256]/", NULL}, {"http://[::01.2.3.4]/", NULL},
                {"http://[::1.2.3.]/", NULL}, {"http://[::.1.2.3]/", NULL}, {"http://[1:2:3:4:5:6:7:1.2.3.4]/", NULL},
                {"http://[::1.2.3.4:5]/", NULL}, {"http://[::1%25eth0]/", NULL}, {"http://[::1", NULL},
                {"http://::1]/", NULL}, {"http://[::1]a/", NULL}, {"http://a[::1]/", NULL}, {"http://[::1]:x/", NULL},
                {"http://[1.2.3.4]/", NULL});
}

static void international_hosts_become_ascii(void **state)
{
    (void)state;
#if VIDI_HAVE_ICU
    CHECK_HREFS(NULL,
                {"http://B\xc3\xbc"
                 "cher.example/",
                 "http://xn--bcher-kva.example/"},
                {"http://b%C3%BCcher.example/", "http://xn--bcher-kva.example/"},
                {"http://stra\xc3\x9f"
                 "e/",
                 "http://xn--strae-oqa/"},
                {"http://a\xe3\x80\x82"
                 "b/",
                 "http://a.b/"},
                {"http://\xef\xbc\x91.\xef\xbc\x92/", "http://1.0.0.2/"},
                {"http://a\xc2\xad"
                 "b/",
                 "http://ab/"},
                {"http://\xc2\xad/", NULL}, {"http://\xef\xbc\x85\xef\xbc\x94\xef\xbc\x91/", NULL},
                {"http://\xff/", NULL}, {"http://%ff/", NULL},
                {"http://a\xe2\x80\x8d"
                 "b/",
                 NULL},
                {"http://\xcc\x80/", NULL},
                {"http://\xd7\x90"
                 "a/",
                 NULL},
                {"http://-\xc3\xbc-/", "http://xn-----xka/"}, {"http://ab--\xc3\xbc/", "http://xn--ab---3ra/"},
                {"http://\xc3\xbc..a/", "http://xn--tda..a/"}, {"http://xn--0.\xc3\xbc/", NULL},
                {"http://\xef\xbb\xbf"
                 "a/",
                 "http://a/"});
#else
    assert_null(href_of("http://b\xc3\xbc"
                        "cher.example/",
                        NULL));
    assert_non_null(strstr(vidi_message(), "without ICU"));
    assert_non_null(href_of("http://xn--bcher-kva.example/", NULL));
#endif
}

static void long_international_hosts_are_taken_up_to_a_limit(void **state)
{
    (void)state;
#if VIDI_HAVE_ICU
    char url[8192] = "http://";
    size_t len = strlen(url);
    for (int i = 0; i < 50; i++) /* more than a label of the DNS may have */
        len += (size_t)snprintf(url + len, sizeof url - len, "\xc3\xbc");
    const char *got = href_of(url, NULL);
    check(got && strlen(got) > 63, "%s", vidi_message());
    while (len < 1100)
        len += (size_t)snprintf(url + len, sizeof url - len, "\xc3\xbc.");
    assert_null(href_of(url, NULL));
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(domains_are_decoded_and_lowered),
        cmocka_unit_test(forbidden_characters_are_refused),
        cmocka_unit_test(opaque_hosts_stay_as_they_are),
        cmocka_unit_test(ipv4_comes_in_many_spellings),
        cmocka_unit_test(ipv6_is_written_in_its_shortest_form),
        cmocka_unit_test(what_is_no_ipv6_address_is_refused),
        cmocka_unit_test(international_hosts_become_ascii),
        cmocka_unit_test(long_international_hosts_are_taken_up_to_a_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
