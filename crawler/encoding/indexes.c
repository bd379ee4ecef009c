/*
 * Fills the indexes (indexes.h).
 */
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

#include "crawler/encoding/indexes.h"

size_t encoding_index_bytes(enum encoding_index_name name, uint32_t pointer, uint8_t *bytes)
{
    uint32_t row, cell;

    switch (name) {
    case ENCODING_INDEX_JIS0208: /* as Shift_JIS */
        row = pointer / 188;
        cell = pointer % 188;
        bytes[0] = (uint8_t)(row + (row < 0x1F ? 0x81 : 0xC1));
        bytes[1] = (uint8_t)(cell + (cell < 0x3F ? 0x40 : 0x41));
        return 2;
    case ENCODING_INDEX_JIS0212: /* as EUC-JP */
        bytes[0] = 0x8F;
        bytes[1] = (uint8_t)(pointer / 94 + 0xA1);
        bytes[2] = (uint8_t)(pointer % 94 + 0xA1);
        return 3;
    case ENCODING_INDEX_BIG5:
        cell = pointer % 157;
        bytes[0] = (uint8_t)(pointer / 157 + 0x81);
        bytes[1] = (uint8_t)(cell + (cell < 0x3F ? 0x40 : 0x62));
        return 2;
    case ENCODING_INDEX_EUC_KR:
        bytes[0] = (uint8_t)(pointer / 190 + 0x81);
        bytes[1] = (uint8_t)(pointer % 190 + 0x41);
        return 2;
    case ENCODING_INDEX_GB18030:
        cell = pointer % 190;
        bytes[0] = (uint8_t)(pointer / 190 + 0x81);
        bytes[1] = (uint8_t)(cell + (cell < 0x3F ? 0x40 : 0x41));
        return 2;
    default:
        bytes[0] = (uint8_t)(pointer / 12600 + 0x81);
        bytes[1] = (uint8_t)(pointer / 1260 % 10 + 0x30);
        bytes[2] = (uint8_t)(pointer / 10 % 126 + 0x81);
        bytes[3] = (uint8_t)(pointer % 10 + 0x30);
        return 4;
    }
}

#if VIDI_HAVE_ICU

#include <unicode/ucnv.h>

static encoding_index indexes[ENCODING_INDEX_COUNT]; /* about 290 KB each; memory only for those that are used */
static bool filled[ENCODING_INDEX_COUNT];

/* What one character's bytes stand for; 0: nothing, or more than one character. */
static uint32_t character_of(UConverter *converter, const uint8_t *bytes, size_t count)
{
    UChar units[4], *to = units;
    const char *from = (const char *)bytes;
    UErrorCode error = U_ZERO_ERROR;

    ucnv_resetToUnicode(converter);
    ucnv_toUnicode(converter, &to, units + 4, &from, from + count, NULL, true, &error);
    if (U_FAILURE(error))
        return 0;
    if (to - units == 2 && U16_IS_LEAD(units[0]))
        return (uint32_t)U16_GET_SUPPLEMENTARY(units[0], units[1]);
    return to - units == 1 ? units[0] : 0;
}

/* Only GB18030 has characters of private use in its index. */
static bool is_private(uint32_t code)
{
    return code >= 0xE000 && code <= 0xF8FF;
}

static void fill(enum encoding_index_name name, const char *converter_name, size_t size)
{
    UErrorCode error = U_ZERO_ERROR;
    UConverter *converter = ucnv_open(converter_name, &error);
    encoding_index *index = &indexes[name];
    bool private_too = name == ENCODING_INDEX_GB18030 || name == ENCODING_INDEX_GB18030_FOUR;

    ucnv_setToUCallBack(converter, UCNV_TO_U_CALLBACK_STOP, NULL, NULL, NULL, &error);
    for (uint32_t pointer = 0; U_SUCCESS(error) && pointer < size; pointer++) {
        uint8_t bytes[4];
        size_t count = encoding_index_bytes(name, pointer, bytes);
        uint32_t code = character_of(converter, bytes, count);
        if (is_private(code) && !private_too)
            code = 0;
        index->codes[pointer] = code;
        if (code < 0x10000 && !index->pointers[code])
            index->pointers[code] = (uint16_t)(pointer + 1);
    }
    index->size = size;
    index->pointers[0] = 0;
    filled[name] = U_SUCCESS(error);
    ucnv_close(converter);
}

static void fill_jis0208(void)
{
    fill(ENCODING_INDEX_JIS0208, "ibm-943_P15A-2003", 11280);
}

static void fill_jis0212(void)
{
    fill(ENCODING_INDEX_JIS0212, "euc-jp-2007", 7211); /* ICU's additions after that are not in the standard */
}

/*
 * ICU's converter maps some characters of Hong Kong's supplement to private use, because Unicode did not have them yet,
 * and lacks six characters that the standard has twice.
 */
static void add_to_big5(encoding_index *index)
{
    static const uint16_t strokes[] = {1099, 1100, 1101, 1102, 1103, 1105, 1108, 1109,
                                       1112, 1114, 1115, 1116, 1117, 1119, 1120, 11204}; /* from U+31C0 */
    static const uint16_t ideographs[] = {1730, 1772, 1779, 1812,  1814,  1816, 1821,
                                          1844, 1845, 1847, 11210, 11212, 1866, 1892}; /* from U+9FA6 */

    static const struct {
        uint16_t pointer, code;
    } others[] = {{1170, 0x23DA},  {1171, 0x23DB},  {10942, 0x5EF4}, {10946, 0x65E0},
                  {10948, 0x7676}, {10950, 0x96B6}, {10957, 0x3003}, {10958, 0x4EDD}};

    for (uint32_t i = 0; i < sizeof strokes / sizeof strokes[0]; i++)
        index->codes[strokes[i]] = 0x31C0 + i;
    for (uint32_t i = 0; i < sizeof ideographs / sizeof ideographs[0]; i++)
        index->codes[ideographs[i]] = 0x9FA6 + i;
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        index->codes[others[i].pointer] = others[i].code;
}

static void fill_big5(void)
{
    /* The index has these twice, and the standard's encoder uses the last. */
    static const uint16_t twice[] = {0x2550, 0x255E, 0x2561, 0x256A, 0x5341, 0x5345};
    encoding_index *index = &indexes[ENCODING_INDEX_BIG5];

    fill(ENCODING_INDEX_BIG5, "ibm-1375_P100-2008", 19782);
    add_to_big5(index);
    /* Rows 0x81 to 0xA0, Hong Kong's supplement, are decoded but never encoded. */
    memset(index->pointers, 0, sizeof index->pointers);
    for (uint32_t pointer = (0xA1 - 0x81) * 157; pointer < index->size; pointer++) {
        uint32_t code = index->codes[pointer];
        bool take = code && code < 0x10000 && !index->pointers[code];
        for (size_t i = 0; i < sizeof twice / sizeof twice[0]; i++)
            take |= code == twice[i];
        if (take)
            index->pointers[code] = (uint16_t)(pointer + 1);
    }
}

static void fill_euc_kr(void)
{
    fill(ENCODING_INDEX_EUC_KR, "windows-949-2000", 23940);
}

/*
 * China's standard of 2022 moved 18 pairs from private use to new characters; ICU does so from version 74 on. The
 * encoder still writes these pairs for the characters of private use, too. The last pair is a space, because pages use
 * it so.
 */
static void renew_gb18030(encoding_index *index)
{
    static const struct {
        uint16_t bytes, code;
    } changes[] = {{0xA6D9, 0xFE10}, {0xA6DA, 0xFE12}, {0xA6DB, 0xFE11}, {0xA6DC, 0xFE13}, {0xA6DD, 0xFE14},
                   {0xA6DE, 0xFE15}, {0xA6DF, 0xFE16}, {0xA6EC, 0xFE17}, {0xA6ED, 0xFE18}, {0xA6F3, 0xFE19},
                   {0xFE59, 0x9FB4}, {0xFE61, 0x9FB5}, {0xFE66, 0x9FB6}, {0xFE67, 0x9FB7}, {0xFE6D, 0x9FB8},
                   {0xFE7E, 0x9FB9}, {0xFE90, 0x9FBA}, {0xFEA0, 0x9FBB}, {0xA3A0, 0x3000}};

    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        uint32_t lead = changes[i].bytes >> 8, trail = changes[i].bytes & 0xFF;
        uint32_t pointer = (lead - 0x81) * 190 + trail - (trail < 0x7F ? 0x40 : 0x41);
        index->codes[pointer] = changes[i].code;
        if (!index->pointers[changes[i].code])
            index->pointers[changes[i].code] = (uint16_t)(pointer + 1);
    }
}

static void fill_gb18030(void)
{
    fill(ENCODING_INDEX_GB18030, "gb18030", 23940);
    renew_gb18030(&indexes[ENCODING_INDEX_GB18030]);
}

static void fill_gb18030_four(void)
{
    fill(ENCODING_INDEX_GB18030_FOUR, "gb18030", 39420);
}

const encoding_index *encoding_index_get(enum encoding_index_name name)
{
    static pthread_once_t once[ENCODING_INDEX_COUNT] = {PTHREAD_ONCE_INIT, PTHREAD_ONCE_INIT, PTHREAD_ONCE_INIT,
                                                        PTHREAD_ONCE_INIT, PTHREAD_ONCE_INIT, PTHREAD_ONCE_INIT};
    static void (*const fillers[ENCODING_INDEX_COUNT])(void) = {fill_jis0208, fill_jis0212, fill_big5,
                                                                fill_euc_kr,  fill_gb18030, fill_gb18030_four};

    pthread_once(&once[name], fillers[name]);
    return filled[name] ? &indexes[name] : NULL;
}

#else

const encoding_index *encoding_index_get(enum encoding_index_name name)
{
    (void)name;
    return NULL;
}

#endif
