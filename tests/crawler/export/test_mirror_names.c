/*
 * Names of files for URLs: what a file system refuses is not in them, and browsers know what is in the file.
 */
#include <stdio.h>
#include <string.h>

#include "crawler/export/mirror_names.h"
#include "support/check.h"

static const char *name_of(const char *url, const char *type)
{
    static char text[2000];
    mirror_name name = {0};
    int error = mirror_name_make((vidi_str){url, strlen(url)}, type, &name);

    check(error == VIDI_OK, "%s: %d", url, error);
    snprintf(text, sizeof text, "%.*s%.*s%s", (int)name.folders.len, name.folders.ptr, (int)name.stem.len,
             name.stem.ptr, name.extension);
    mirror_name_free(&name);
    return text;
}

static void names_say_what_is_in_a_file(void **state)
{
    static const char *const cases[][3] = {
        {"https://example.org/", "text/html", "example.org/index.html"},
        {"https://example.org/a/", "text/html", "example.org/a/index.html"},
        {"https://example.org/a/b", "text/html", "example.org/a/b.html"},
        {"https://example.org/a/b.htm", "text/html", "example.org/a/b.htm"},
        {"https://example.org/a/b.HTML", "text/html", "example.org/a/b.html"},
        {"https://example.org/a/b.php", "text/html", "example.org/a/b.php.html"},
        {"https://example.org:8080/a/b?c=1", "text/html", "example.org+8080/a/b@c=1.html"},
        {"https://example.org/b.css?v=/3", "text/css", "example.org/b.css@v=%2F3.css"},
        {"https://example.org/b?", "text/html", "example.org/b@.html"},
        {"https://example.org/logo", "image/png", "example.org/logo.png"},
        {"https://example.org/logo.jpeg", "image/jpeg", "example.org/logo.jpeg"},
        {"https://example.org/README", "text/plain", "example.org/README.txt"},
        {"https://example.org/README.md", "text/plain", "example.org/README.md"},
        {"https://example.org/LICENSE", "application/octet-stream", "example.org/LICENSE"},
        {"https://example.org/x.tar.gz", "application/gzip", "example.org/x.tar.gz"},
        {"https://example.org/pic", "image/svg+xml", "example.org/pic.svg"},
        {"https://example.org/x", "application/xhtml+xml", "example.org/x.xhtml"},
        /* what is not HTML does not look like HTML */
        {"https://example.org/x.html", "text/plain", "example.org/x.html.txt"},
        {"https://example.org/x.html", "application/octet-stream", "example.org/x.html.bin"},
        {"https://example.org/x.svg", "image/png", "example.org/x.svg.png"},
        {"https://example.org/x?y.html", "application/octet-stream", "example.org/x@y.html.bin"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_string_equal(name_of(cases[i][0], cases[i][1]), cases[i][2]);
}

static void what_file_systems_refuse_is_not_in_a_name(void **state)
{
    static const char *const cases[][2] = {
        {"http://h/a:b*c", "h/a%3Ab%2Ac.html"},
        {"http://h/a|b'c", "h/a%7Cb%27c.html"},
        {"http://h/%2e%2e%2f", "h/%2e%2e%2f.html"},
        {"http://h/.git/config", "h/%2Egit/config.html"},
        {"http://h/..%2f..%2fetc/passwd", "h/%2E.%2f..%2fetc/passwd.html"},
        {"http://h/...", "h/%2E.%2E.html"},
        {"http://h/a./b", "h/a%2E/b.html"},
        {"http://h/con/NUL", "h/_con/_NUL.html"},
        {"http://h/aux.txt/com1.html", "h/_aux.txt/_com1.html"},
        {"http://h/common/console", "h/common/console.html"},
        {"http://h//a//b", "h/_/a/_/b.html"},
        {"http://[::1]/a", "%5B%3A%3A1%5D/a.html"},
        {"http://h/%C3%BC", "h/%C3%BC.html"},
        {"http://h/.vidi-mirror", "h/%2Evidi-mirror.html"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_string_equal(name_of(cases[i][0], "text/html"), cases[i][1]);
}

/* Every component of every URL that is made of these bytes. */
static void no_component_is_hidden_too_long_or_empty(void **state)
{
    static const char bytes[] = "/.%:?~a\\*Z2e@&= ";
    char url[300] = "http://h/";
    uint64_t seed = 1;

    (void)state;
    for (int round = 0; round < 20000; round++) {
        size_t length = 9;
        for (seed = seed * 6364136223846793005U + 1442695040888963407U; length < 9 + (seed >> 58); length++)
            url[length] = bytes[(seed >> (length % 50)) % (sizeof bytes - 1)];
        url[length] = 0;
        const char *name = name_of(url, "");
        check(strchr(name, '\\') == NULL && strchr(name, ':') == NULL && strchr(name, ' ') == NULL, "%s: %s", url,
              name);
        for (const char *at = name; at; at = strchr(at, '/') ? strchr(at, '/') + 1 : NULL) {
            size_t component = strcspn(at, "/");
            check(component > 0 && component <= MIRROR_COMPONENT && at[0] != '.', "%s: %s", url, name);
        }
    }
}

static void long_names_are_cut_off_and_stay_different(void **state)
{
    char url[5000], first[2000];

    (void)state;
    snprintf(url, sizeof url, "http://h/%0300d/%0300d?%0300d", 1, 2, 3);
    snprintf(first, sizeof first, "%s", name_of(url, "text/html"));
    check(strlen(first) < 250, "%s", first);
    snprintf(url, sizeof url, "http://h/%0300d/%0300d?%0300d", 1, 2, 4);
    assert_string_not_equal(name_of(url, "text/html"), first);
    /* deep paths, too */
    strcpy(url, "http://h");
    while (strlen(url) < 4000)
        strcat(url, "/folder");
    snprintf(first, sizeof first, "%s", name_of(url, "text/html"));
    check(strlen(first) < MIRROR_FOLDERS + MIRROR_COMPONENT, "%zu bytes", strlen(first));
    memcpy(url + 3000, "F", 1);
    assert_string_not_equal(name_of(url, "text/html"), first);
}

static void other_urls_have_no_name(void **state)
{
    mirror_name name = {0};

    (void)state;
    assert_int_equal(mirror_name_make((vidi_str){"mailto:a@b.c", 12}, "", &name), VIDI_INVALID);
    assert_int_equal(mirror_name_make((vidi_str){"file:///etc/passwd", 18}, "", &name), VIDI_INVALID);
    mirror_name_free(&name);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_say_what_is_in_a_file),
        cmocka_unit_test(what_file_systems_refuse_is_not_in_a_name),
        cmocka_unit_test(no_component_is_hidden_too_long_or_empty),
        cmocka_unit_test(long_names_are_cut_off_and_stay_different),
        cmocka_unit_test(other_urls_have_no_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
