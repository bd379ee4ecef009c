/*
 * Text is decoded and encoded as the Encoding Standard says.
 */
#include <stdlib.h>
#include <string.h>

#include "crawler/encoding/cjk.h"
#include "crawler/encoding/indexes.h"
#include "support/check.h"

#define BYTES(literal) ((vidi_str){literal, sizeof(literal) - 1})

static vidi_str text_of(const char *text)
{
    return (vidi_str){text, strlen(text)};
}

/* ---- labels ---- */

static void labels_are_the_standards(void **state)
{
    (void)state;
    static const struct {
        const char *label, *name;
    } cases[] = {{"utf8", "UTF-8"},
                 {"latin1", "windows-1252"},
                 {"ISO-8859-1", "windows-1252"},
                 {"ascii", "windows-1252"},
                 {"iso-8859-9", "windows-1254"},
                 {"GB2312", "GBK"},
                 {"\tx-sjis ", "Shift_JIS"},
                 {"ks_c_5601-1987", "EUC-KR"},
                 {"iso-2022-kr", "replacement"},
                 {"utf-16", "UTF-16LE"},
                 {"big5-hkscs", "Big5"},
                 {"cseucpkdfmtjapanese", "EUC-JP"},
                 {"tis-620", "windows-874"},
                 {"logical", "ISO-8859-8-I"},
                 {"x-user-defined", "x-user-defined"},
                 {"utf-7", NULL},
                 {"", NULL},
                 {"utf-8 utf-8", NULL},
                 {"utf", NULL},
                 {"utf-32", NULL},
                 {"cseucpkdfmtjapanesee", NULL}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const text_encoding *found = encoding_find(text_of(cases[i].label));
        const char *name = found ? found->name : NULL;
        check(name && cases[i].name ? strcmp(name, cases[i].name) == 0 : name == cases[i].name, "%s: %s",
              cases[i].label, name ? name : "none");
    }
}

/* ---- decoding ---- */

static bool has_icu(void)
{
    return encoding_index_get(ENCODING_INDEX_JIS0208) != NULL;
}

/* In a block of exactly its size, so that the sanitizer sees a read beyond the end. */
static void check_decoded(const char *label, vidi_str bytes, const char *want)
{
    encoding_text decoded;
    char *exact = malloc(bytes.len);
    memcpy(exact, bytes.ptr, bytes.len);
    assert_int_equal(encoding_decode(encoding_find(text_of(label)), (vidi_str){exact, bytes.len}, &decoded), VIDI_OK);
    check(decoded.bytes.len == strlen(want) && memcmp(decoded.bytes.ptr, want, strlen(want)) == 0,
          "%s: <%.*s> instead of <%s>", label, (int)decoded.bytes.len, decoded.bytes.ptr, want);
    encoding_text_free(&decoded);
    free(exact);
}

#define BAD "\xEF\xBF\xBD" /* U+FFFD */

static void unicode_is_decoded(void **state)
{
    (void)state;
    check_decoded("utf-8", BYTES("a\xC3\xBC\xE2\x82\xAC\xF0\x9F\x98\x80"), "a\xC3\xBC\xE2\x82\xAC\xF0\x9F\x98\x80");
    check_decoded("utf-8", BYTES("\xC0\x80|\xE2\x82|\xE2\x82"), BAD BAD "|" BAD "|" BAD);
    check_decoded("utf-8", BYTES("\xED\xA0\x80|\xF4\x90\x80\x80|\xF0\x9F\x98"),
                  BAD BAD BAD "|" BAD BAD BAD BAD "|" BAD);
    check_decoded("utf-8", BYTES("0123456789abcdef\xFFghijklmnop"), "0123456789abcdef" BAD "ghijklmnop");
    check_decoded("utf-16le", BYTES("a\0\xAC\x20\x3D\xD8\x00\xDE"), "a\xE2\x82\xAC\xF0\x9F\x98\x80");
    check_decoded("utf-16be", BYTES("\0a\x20\xAC\xD8\x3D\xDE\x00"), "a\xE2\x82\xAC\xF0\x9F\x98\x80");
    check_decoded("utf-16le",
                  BYTES("\x00\xDE\x3D\xD8"
                        "a\0b"),
                  BAD BAD "a" BAD);
    check_decoded("replacement", BYTES("<a href=x>"), BAD);
    check_decoded("replacement", BYTES(""), "");
}

static void single_bytes_are_decoded(void **state)
{
    (void)state;
    check_decoded("latin1", BYTES("\x80\x81\xE9"), "\xE2\x82\xAC\xC2\x81\xC3\xA9");
    check_decoded("windows-1251", BYTES("\xCF\xF0"), "\xD0\x9F\xD1\x80");
    check_decoded("koi8-u", BYTES("\xAE\xBE"), "\xD1\x9E\xD0\x8E");
    check_decoded("windows-1255", BYTES("\xCA\xD9"), "\xD6\xBA" BAD);
    check_decoded("iso-8859-16", BYTES("\xA4"), "\xE2\x82\xAC");
    check_decoded("windows-874", BYTES("\x85\x86\xDB"), "\xE2\x80\xA6\xC2\x86" BAD);
    check_decoded("x-user-defined", BYTES("a\x80\xFF"), "a\xEF\x9E\x80\xEF\x9F\xBF");
}

static void chinese_japanese_and_korean_are_decoded(void **state)
{
    (void)state;
    if (!has_icu())
        skip();
    check_decoded("shift_jis", BYTES("\x93\xFA\x96{\xB1\x80\x81\x60\xF0\x40"),
                  "\xE6\x97\xA5\xE6\x9C\xAC\xEF\xBD\xB1\xC2\x80\xEF\xBD\x9E\xEE\x80\x80");
    check_decoded("euc-jp", BYTES("\xC6\xFC\xCB\xDC\x8E\xB1\x8F\xB0\xA1\xA1\xC1"),
                  "\xE6\x97\xA5\xE6\x9C\xAC\xEF\xBD\xB1\xE4\xB8\x82\xEF\xBD\x9E");
    check_decoded("iso-2022-jp", BYTES("a\x1B$BF|K\\\x1B(Jb\\\x1B(I1\x1B(B~"),
                  "a\xE6\x97\xA5\xE6\x9C\xAC"
                  "b\xC2\xA5\xEF\xBD\xB1~");
    check_decoded("euc-kr", BYTES("\xC7\xD1\xB1\xDB\x81\x41"), "\xED\x95\x9C\xEA\xB8\x80\xEA\xB0\x82");
    check_decoded("big5", BYTES("\xA4\xA4\xA4\xE5\x88\x62\xA1\x45\x88\x40"),
                  "\xE4\xB8\xAD\xE6\x96\x87\xC3\x8A\xCC\x84\xE2\x80\xA7\xE3\x87\x80");
    check_decoded("gbk", BYTES("\xD6\xD0\xCE\xC4\x80\xA8\xBC"), "\xE4\xB8\xAD\xE6\x96\x87\xE2\x82\xAC\xE1\xB8\xBF");
    check_decoded("gbk", BYTES("\xA3\xA0\xA6\xD9\xFE\xA0"), "\xE3\x80\x80\xEF\xB8\x90\xE9\xBE\xBB");
    check_decoded("gb18030", BYTES("\x81\x30\x81\x30\x90\x30\x81\x30\x94\x39\xDA\x33"),
                  "\xC2\x80\xF0\x90\x80\x80\xF0\x9F\x92\xA9");
}

static void broken_pairs_swallow_no_ascii(void **state)
{
    (void)state;
    if (!has_icu())
        skip();
    static const char *const labels[] = {"shift_jis", "euc-jp", "euc-kr", "big5", "gbk", "gb18030"};
    for (size_t i = 0; i < sizeof labels / sizeof labels[0]; i++) {
        check_decoded(labels[i], BYTES("\xE0\">"), BAD "\">");
        check_decoded(labels[i], BYTES("<\xE0"), "<" BAD);
        check_decoded(labels[i], BYTES("\xFF<"), BAD "<");
    }
    check_decoded("big5", BYTES("\x81\x40"), BAD "@"); /* a pair that has no character */
    check_decoded("euc-kr", BYTES("\xC9\xA1"), BAD);   /* private use in Windows */
    check_decoded("euc-jp", BYTES("\x8F\xA1<\x8F\xA1"), BAD "<" BAD);
    check_decoded("euc-jp", BYTES("\x80\x9F\xA0"), BAD BAD BAD);
    check_decoded("shift_jis", BYTES("\xA0\xFD\x7F"), BAD BAD "\x7F");
    check_decoded("gb18030", BYTES("\x81\x30<"), BAD "0<");
    check_decoded("gb18030", BYTES("\x81\x30\x81<"), BAD "0" BAD "<");
    check_decoded("gb18030", BYTES("\x84\x32\xA4\x39<"), BAD "2" BAD "9<"); /* nothing has that number */
    check_decoded("gb18030", BYTES("\x84\x32\xA4\x39"), BAD "2" BAD);
    check_decoded("gb18030", BYTES("\x81\x30\x81"), BAD);
    check_decoded("iso-2022-jp", BYTES("\x1B$B\x1B(B<\x1B!\x80"), BAD "<" BAD "!" BAD);
    check_decoded("iso-2022-jp", BYTES("\x1B$BF"), BAD);
}

/* Every character of an index, encoded and decoded again, is itself, except where the standard writes another. */
static void encoding_undoes_decoding(void **state)
{
    (void)state;
    static const char *const labels[] = {"shift_jis", "euc-jp", "euc-kr", "big5", "gbk", "gb18030"};
    if (!has_icu())
        skip();
    for (size_t i = 0; i < sizeof labels / sizeof labels[0]; i++) {
        const text_encoding *encoding = encoding_find(text_of(labels[i]));
        size_t encoded = 0;
        for (uint32_t code = 0x80; code < 0x20000; code++) {
            uint8_t bytes[8];
            unsigned shift = 0;
            char want[4];
            encoding_text decoded;
            size_t len, count = encoding_cjk_encode(encoding, code, &shift, bytes);
            bool once_private = code >= 0xE78D && code <= 0xE864 && count == 2; /* a few in GB 18030 */
            if (count == 0 || code == 0xA5 || code == 0x203E || code == 0x2212 || once_private)
                continue;
            encoded++;
            len = utf8_put(want, code);
            encoding_decode(encoding, (vidi_str){(char *)bytes, count}, &decoded);
            check(decoded.bytes.len == len && memcmp(decoded.bytes.ptr, want, len) == 0, "%s: U+%04X", labels[i],
                  (unsigned)code);
            encoding_text_free(&decoded);
        }
        check(encoded > 7000, "%s: only %zu characters", labels[i], encoded);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(labels_are_the_standards),      cmocka_unit_test(unicode_is_decoded),
        cmocka_unit_test(single_bytes_are_decoded),      cmocka_unit_test(chinese_japanese_and_korean_are_decoded),
        cmocka_unit_test(broken_pairs_swallow_no_ascii), cmocka_unit_test(encoding_undoes_decoding),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
