/*
 * The Encoding Standard's encodings and their labels (section 4.2).
 */
#include <string.h>

#include "crawler/encoding/encoding.h"

#include "crawler/encoding/single_byte.inc"

/* The longest label is "cseucpkdfmtjapanese". */
enum { LABEL_MAX = 19 };

#define SINGLE_BYTE(name, table, labels)                                                                               \
    {                                                                                                                  \
        name, labels, ENCODING_SINGLE_BYTE, table                                                                      \
    }
#define OTHER(name, kind, labels)                                                                                      \
    {                                                                                                                  \
        name, labels, kind, NULL                                                                                       \
    }

static const text_encoding encodings[] = {
    OTHER("UTF-8", ENCODING_UTF_8, " unicode-1-1-utf-8 unicode11utf8 unicode20utf8 utf-8 utf8 x-unicode20utf8 "),
    SINGLE_BYTE("IBM866", ibm866, " 866 cp866 csibm866 ibm866 "),
    SINGLE_BYTE("ISO-8859-2", iso_8859_2,
                " csisolatin2 iso-8859-2 iso-ir-101 iso8859-2 iso88592 iso_8859-2 iso_8859-2:1987 l2 latin2 "),
    SINGLE_BYTE("ISO-8859-3", iso_8859_3,
                " csisolatin3 iso-8859-3 iso-ir-109 iso8859-3 iso88593 iso_8859-3 iso_8859-3:1988 l3 latin3 "),
    SINGLE_BYTE("ISO-8859-4", iso_8859_4,
                " csisolatin4 iso-8859-4 iso-ir-110 iso8859-4 iso88594 iso_8859-4 iso_8859-4:1988 l4 latin4 "),
    SINGLE_BYTE("ISO-8859-5", iso_8859_5,
                " csisolatincyrillic cyrillic iso-8859-5 iso-ir-144 iso8859-5 iso88595 iso_8859-5 iso_8859-5:1988 "),
    SINGLE_BYTE("ISO-8859-6", iso_8859_6,
                " arabic asmo-708 csiso88596e csiso88596i csisolatinarabic ecma-114 iso-8859-6 iso-8859-6-e "
                "iso-8859-6-i iso-ir-127 iso8859-6 iso88596 iso_8859-6 iso_8859-6:1987 "),
    SINGLE_BYTE("ISO-8859-7", iso_8859_7,
                " csisolatingreek ecma-118 elot_928 greek greek8 iso-8859-7 iso-ir-126 iso8859-7 iso88597 iso_8859-7 "
                "iso_8859-7:1987 sun_eu_greek "),
    SINGLE_BYTE("ISO-8859-8", iso_8859_8,
                " csiso88598e csisolatinhebrew hebrew iso-8859-8 iso-8859-8-e iso-ir-138 iso8859-8 iso88598 iso_8859-8 "
                "iso_8859-8:1988 visual "),
    SINGLE_BYTE("ISO-8859-8-I", iso_8859_8, " csiso88598i iso-8859-8-i logical "),
    SINGLE_BYTE("ISO-8859-10", iso_8859_10, " csisolatin6 iso-8859-10 iso-ir-157 iso8859-10 iso885910 l6 latin6 "),
    SINGLE_BYTE("ISO-8859-13", iso_8859_13, " iso-8859-13 iso8859-13 iso885913 "),
    SINGLE_BYTE("ISO-8859-14", iso_8859_14, " iso-8859-14 iso8859-14 iso885914 "),
    SINGLE_BYTE("ISO-8859-15", iso_8859_15, " csisolatin9 iso-8859-15 iso8859-15 iso885915 iso_8859-15 l9 "),
    SINGLE_BYTE("ISO-8859-16", iso_8859_16, " iso-8859-16 "),
    SINGLE_BYTE("KOI8-R", koi8_r, " cskoi8r koi koi8 koi8-r koi8_r "),
    SINGLE_BYTE("KOI8-U", koi8_u, " koi8-ru koi8-u "),
    SINGLE_BYTE("macintosh", macintosh, " csmacintosh mac macintosh x-mac-roman "),
    SINGLE_BYTE("windows-874", windows_874, " dos-874 iso-8859-11 iso8859-11 iso885911 tis-620 windows-874 "),
    SINGLE_BYTE("windows-1250", windows_1250, " cp1250 windows-1250 x-cp1250 "),
    SINGLE_BYTE("windows-1251", windows_1251, " cp1251 windows-1251 x-cp1251 "),
    SINGLE_BYTE("windows-1252", windows_1252,
                " ansi_x3.4-1968 ascii cp1252 cp819 csisolatin1 ibm819 iso-8859-1 iso-ir-100 iso8859-1 iso88591 "
                "iso_8859-1 iso_8859-1:1987 l1 latin1 us-ascii windows-1252 x-cp1252 "),
    SINGLE_BYTE("windows-1253", windows_1253, " cp1253 windows-1253 x-cp1253 "),
    SINGLE_BYTE("windows-1254", windows_1254,
                " cp1254 csisolatin5 iso-8859-9 iso-ir-148 iso8859-9 iso88599 iso_8859-9 iso_8859-9:1989 l5 latin5 "
                "windows-1254 x-cp1254 "),
    SINGLE_BYTE("windows-1255", windows_1255, " cp1255 windows-1255 x-cp1255 "),
    SINGLE_BYTE("windows-1256", windows_1256, " cp1256 windows-1256 x-cp1256 "),
    SINGLE_BYTE("windows-1257", windows_1257, " cp1257 windows-1257 x-cp1257 "),
    SINGLE_BYTE("windows-1258", windows_1258, " cp1258 windows-1258 x-cp1258 "),
    SINGLE_BYTE("x-mac-cyrillic", x_mac_cyrillic, " x-mac-cyrillic x-mac-ukrainian "),
    OTHER("GBK", ENCODING_GBK, " chinese csgb2312 csiso58gb231280 gb2312 gb_2312 gb_2312-80 gbk iso-ir-58 x-gbk "),
    OTHER("gb18030", ENCODING_GB18030, " gb18030 "),
    OTHER("Big5", ENCODING_BIG5, " big5 big5-hkscs cn-big5 csbig5 x-x-big5 "),
    OTHER("EUC-JP", ENCODING_EUC_JP, " cseucpkdfmtjapanese euc-jp x-euc-jp "),
    OTHER("ISO-2022-JP", ENCODING_ISO_2022_JP, " csiso2022jp iso-2022-jp "),
    OTHER("Shift_JIS", ENCODING_SHIFT_JIS, " csshiftjis ms932 ms_kanji shift-jis shift_jis sjis windows-31j x-sjis "),
    OTHER("EUC-KR", ENCODING_EUC_KR,
          " cseuckr csksc56011987 euc-kr iso-ir-149 korean ks_c_5601-1987 ks_c_5601-1989 ksc5601 ksc_5601 "
          "windows-949 "),
    OTHER("replacement", ENCODING_REPLACEMENT,
          " csiso2022kr hz-gb-2312 iso-2022-cn iso-2022-cn-ext iso-2022-kr replacement "),
    OTHER("UTF-16BE", ENCODING_UTF_16BE, " unicodefffe utf-16be "),
    OTHER("UTF-16LE", ENCODING_UTF_16LE, " csunicode iso-10646-ucs-2 ucs-2 unicode unicodefeff utf-16 utf-16le "),
    OTHER("x-user-defined", ENCODING_USER_DEFINED, " x-user-defined "),
};

const text_encoding *encoding_find(vidi_str label)
{
    char word[LABEL_MAX + 3] = " "; /* with a space on both sides, as in the lists */

    while (label.len && ascii_is_space(label.ptr[0])) {
        label.ptr++;
        label.len--;
    }
    while (label.len && ascii_is_space(label.ptr[label.len - 1]))
        label.len--;
    if (label.len == 0 || label.len > LABEL_MAX)
        return NULL;
    for (size_t i = 0; i < label.len; i++) {
        if (label.ptr[i] <= ' ')
            return NULL;
        word[i + 1] = ascii_lower(label.ptr[i]);
    }
    word[label.len + 1] = ' ';
    word[label.len + 2] = 0;
    for (size_t i = 0; i < sizeof encodings / sizeof encodings[0]; i++)
        if (strstr(encodings[i].labels, word))
            return &encodings[i];
    return NULL;
}

const text_encoding *encoding_by_mark(vidi_str bytes, size_t *mark)
{
    static const struct {
        const char *mark, *label;
    } marks[] = {{"\xEF\xBB\xBF", "utf-8"}, {"\xFE\xFF", "utf-16be"}, {"\xFF\xFE", "utf-16le"}};

    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++) {
        size_t n = strlen(marks[i].mark);
        if (bytes.len >= n && memcmp(bytes.ptr, marks[i].mark, n) == 0) {
            *mark = n;
            return encoding_find((vidi_str){marks[i].label, strlen(marks[i].label)});
        }
    }
    return NULL;
}
