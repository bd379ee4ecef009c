/* Sentences about failures may quote servers: nothing in them plays tricks with a terminal. */
#include "crawler/fetch/fetching.h"
#include "crawler/fetch/addresses.h"

static void check_sentence(const char *text, const char *want)
{
    char why[FETCH_WHY_ROOM];
    fetch_explain(why, "%s", text);
    assert_string_equal(why, want);
}

static void plain_text_stays_as_it_is(void **state)
{
    (void)state;
    check_sentence("", "");
    check_sentence("no alternative name matches 'example.org'", "no alternative name matches 'example.org'");
    check_sentence("Gr\xC3\xBC\xC3\x9F"
                   "e \xE6\x97\xA5\xE6\x9C\xAC \xF0\x9F\x98\x80",
                   "Gr\xC3\xBC\xC3\x9F"
                   "e \xE6\x97\xA5\xE6\x9C\xAC \xF0\x9F\x98\x80");
}

static void control_characters_are_replaced(void **state)
{
    (void)state;
    check_sentence("a\x1b[31mb\r\n\x07", "a [31mb   ");
    check_sentence("\x7f", "?");
    check_sentence("\xC2\x9B"
                   "1m",
                   "?1m");                            /* CSI of C1 */
    check_sentence("\xE2\x80\xA8\xE2\x80\xA9", "??"); /* separators of lines and paragraphs */
    check_sentence("\xE2\x80\xAE"
                   "gnp.exe",
                   "?gnp.exe");                                /* right-to-left override */
    check_sentence("\xE2\x81\xA6\xE2\x81\xA9\xD8\x9C", "???"); /* isolates, Arabic letter mark */
    check_sentence("\xE2\x80\x8E\xE2\x80\x8F", "??");          /* marks */
}

static void what_is_not_utf8_is_replaced(void **state)
{
    (void)state;
    check_sentence("\xFF\xFE"
                   "a",
                   "??a");
    check_sentence("\xC3", "?");
    check_sentence("\xE2\x80", "??");
    check_sentence("\xC0\xAF", "??");           /* overlong */
    check_sentence("\xC1\x9B", "??");           /* overlong: '[' */
    check_sentence("\xED\xA0\x80", "???");      /* a surrogate */
    check_sentence("\xF4\x90\x80\x80", "????"); /* beyond the last */
    check_sentence("\x9B"
                   "1m",
                   "?1m");
}

static void long_sentences_are_cut_off(void **state)
{
    (void)state;
    char text[1000], why[FETCH_WHY_ROOM];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    fetch_explain(why, "%s", text);
    assert_int_equal(strlen(why), FETCH_WHY_ROOM - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_text_stays_as_it_is),
        cmocka_unit_test(control_characters_are_replaced),
        cmocka_unit_test(what_is_not_utf8_is_replaced),
        cmocka_unit_test(long_sentences_are_cut_off),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
