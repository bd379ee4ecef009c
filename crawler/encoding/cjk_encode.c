/*
 * Encodes single characters in the encodings of Chinese, Japanese and Korean, as the Encoding Standard says (sections
 * 10 to 13). Their indexes must have been there when the page was decoded.
 */
#include "crawler/encoding/cjk.h"
#include "crawler/encoding/indexes.h"

static bool find_pointer(enum encoding_index_name name, uint32_t code, uint32_t *pointer)
{
    const encoding_index *index = encoding_index_get(name);

    if (!index || code >= 0x10000 || !index->pointers[code])
        return false;
    *pointer = index->pointers[code] - 1u;
    return true;
}

static size_t two(uint8_t *bytes, uint32_t first, uint32_t second)
{
    bytes[0] = (uint8_t)first;
    bytes[1] = (uint8_t)second;
    return 2;
}

static size_t one(uint8_t *bytes, uint32_t byte)
{
    bytes[0] = (uint8_t)byte;
    return 1;
}

/* The minus sign is written as the full-width one, as Windows does. */
static uint32_t japanese(uint32_t code)
{
    return code == 0x2212 ? 0xFF0D : code;
}

/* The index has some characters twice; Shift_JIS writes IBM's, not NEC's. */
static bool prefer_ibm(uint32_t code, uint32_t *pointer)
{
    const encoding_index *index = encoding_index_get(ENCODING_INDEX_JIS0208);

    if (*pointer < 8272 || *pointer > 8835)
        return true;
    for (uint32_t i = 10716; i < index->size; i++)
        if (index->codes[i] == code) {
            *pointer = i;
            return true;
        }
    return false;
}

static size_t encode_shift_jis(uint32_t code, uint8_t *bytes)
{
    uint32_t pointer;

    if (code == 0x80)
        return one(bytes, code);
    if (code == 0xA5 || code == 0x203E)
        return one(bytes, code == 0xA5 ? 0x5C : 0x7E);
    if (code >= 0xFF61 && code <= 0xFF9F)
        return one(bytes, code - 0xFF61 + 0xA1);
    code = japanese(code);
    if (!find_pointer(ENCODING_INDEX_JIS0208, code, &pointer) || !prefer_ibm(code, &pointer))
        return 0;
    return encoding_index_bytes(ENCODING_INDEX_JIS0208, pointer, bytes);
}

static size_t encode_euc_jp(uint32_t code, uint8_t *bytes)
{
    uint32_t pointer;

    if (code == 0xA5 || code == 0x203E)
        return one(bytes, code == 0xA5 ? 0x5C : 0x7E);
    if (code >= 0xFF61 && code <= 0xFF9F)
        return two(bytes, 0x8E, code - 0xFF61 + 0xA1);
    if (!find_pointer(ENCODING_INDEX_JIS0208, japanese(code), &pointer) || pointer >= 94 * 94)
        return 0;
    return two(bytes, pointer / 94 + 0xA1, pointer % 94 + 0xA1);
}

static size_t encode_indexed(enum encoding_index_name name, uint32_t code, uint8_t *bytes)
{
    uint32_t pointer;

    return find_pointer(name, code, &pointer) ? encoding_index_bytes(name, pointer, bytes) : 0;
}

static size_t encode_gb18030(bool gbk, uint32_t code, uint8_t *bytes)
{
    uint32_t pointer;

    if (code == 0xE5E5) /* its bytes are read as a space */
        return 0;
    if (gbk && code == 0x20AC)
        return one(bytes, 0x80);
    if (find_pointer(ENCODING_INDEX_GB18030, code, &pointer))
        return encoding_index_bytes(ENCODING_INDEX_GB18030, pointer, bytes);
    if (gbk)
        return 0;
    if (code >= 0x10000)
        pointer = code - 0x10000 + 189000;
    else if (!find_pointer(ENCODING_INDEX_GB18030_FOUR, code, &pointer))
        return 0;
    return encoding_index_bytes(ENCODING_INDEX_GB18030_FOUR, pointer, bytes);
}

/* ---- ISO-2022-JP ---- */

enum { ASCII, ROMAN, PAIRS };

static size_t switch_to(unsigned target, unsigned *state, uint8_t *bytes)
{
    static const char sequences[][3] = {"(B", "(J", "$B"};

    if (*state == target)
        return 0;
    *state = target;
    bytes[0] = 0x1B;
    return 1 + two(bytes + 1, (uint8_t)sequences[target][0], (uint8_t)sequences[target][1]);
}

/* Full-width characters for the half-width katakana from U+FF61 on, which ISO-2022-JP lacks. */
static const uint16_t katakana[] = {
    0x3002, 0x300C, 0x300D, 0x3001, 0x30FB, 0x30F2, 0x30A1, 0x30A3, 0x30A5, 0x30A7, 0x30A9, 0x30E3, 0x30E5,
    0x30E7, 0x30C3, 0x30FC, 0x30A2, 0x30A4, 0x30A6, 0x30A8, 0x30AA, 0x30AB, 0x30AD, 0x30AF, 0x30B1, 0x30B3,
    0x30B5, 0x30B7, 0x30B9, 0x30BB, 0x30BD, 0x30BF, 0x30C1, 0x30C4, 0x30C6, 0x30C8, 0x30CA, 0x30CB, 0x30CC,
    0x30CD, 0x30CE, 0x30CF, 0x30D2, 0x30D5, 0x30D8, 0x30DB, 0x30DE, 0x30DF, 0x30E0, 0x30E1, 0x30E2, 0x30E4,
    0x30E6, 0x30E8, 0x30E9, 0x30EA, 0x30EB, 0x30EC, 0x30ED, 0x30EF, 0x30F3, 0x309B, 0x309C,
};

static size_t encode_iso_2022_jp(uint32_t code, unsigned *state, uint8_t *bytes)
{
    uint32_t pointer;

    if (code == 0)
        return switch_to(ASCII, state, bytes);
    if (code == 0xA5 || code == 0x203E) {
        size_t n = switch_to(ROMAN, state, bytes);
        return n + one(bytes + n, code == 0xA5 ? 0x5C : 0x7E);
    }
    code = japanese(code);
    if (code >= 0xFF61 && code <= 0xFF9F)
        code = katakana[code - 0xFF61];
    if (!find_pointer(ENCODING_INDEX_JIS0208, code, &pointer) || pointer >= 94 * 94)
        return 0;
    size_t n = switch_to(PAIRS, state, bytes);
    return n + two(bytes + n, pointer / 94 + 0x21, pointer % 94 + 0x21);
}

size_t encoding_cjk_encode(const text_encoding *encoding, uint32_t code, unsigned *state, uint8_t *bytes)
{
    switch (encoding->kind) {
    case ENCODING_GBK:
    case ENCODING_GB18030:
        return encode_gb18030(encoding->kind == ENCODING_GBK, code, bytes);
    case ENCODING_BIG5:
        return encode_indexed(ENCODING_INDEX_BIG5, code, bytes);
    case ENCODING_EUC_JP:
        return encode_euc_jp(code, bytes);
    case ENCODING_ISO_2022_JP:
        return encode_iso_2022_jp(code, state, bytes);
    case ENCODING_SHIFT_JIS:
        return encode_shift_jis(code, bytes);
    default:
        return encode_indexed(ENCODING_INDEX_EUC_KR, code, bytes);
    }
}
