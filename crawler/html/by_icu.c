/*
 * The encodings of Chinese, Japanese and Korean, by ICU's converters, made to behave as the Encoding Standard says where
 * the two differ in more than single characters:
 *
 *   - A pair of bytes that means nothing becomes U+FFFD, and its second byte is read again if it is ASCII: so no pair
 *     swallows a quotation mark.
 *   - The encoders leave out what the standard leaves out: four bytes in GBK, the supplements of Hong Kong in Big5, and
 *     JIS X 0212 in EUC-JP.
 */
#include <stdlib.h>
#include <string.h>

#include "crawler/html/encoding.h"
#include "crawler/html/tokenizer.h"

#if VIDI_HAVE_ICU

#include <unicode/ucnv.h>
#include <unicode/ucnv_cb.h>

enum { PIVOT = 1024 };

/* ICU calls this for bytes that mean nothing. */
static void replace(const void *context, UConverterToUnicodeArgs *args, const char *bytes, int32_t length,
                    UConverterCallbackReason reason, UErrorCode *error)
{
    UChar text[2] = {0xFFFD};
    int32_t count = 1;

    (void)context;
    if (reason > UCNV_IRREGULAR)
        return; /* only a change of state */
    if (length > 1 && (unsigned char)bytes[length - 1] < 0x80)
        text[count++] = (UChar)bytes[length - 1];
    *error = U_ZERO_ERROR;
    ucnv_cbToUWriteUChars(args, text, count, 0, error);
}

static UConverter *open_converter(const html_encoding *encoding)
{
    UErrorCode error = U_ZERO_ERROR;
    UConverter *converter = ucnv_open(encoding->converter, &error);
    ucnv_setToUCallBack(converter, replace, NULL, NULL, NULL, &error);
    ucnv_setFromUCallBack(converter, UCNV_FROM_U_CALLBACK_STOP, NULL, NULL, NULL, &error);
    if (U_SUCCESS(error))
        return converter;
    ucnv_close(converter);
    return NULL;
}

bool html_icu_decode(const html_encoding *encoding, vidi_str bytes, char *to, size_t *len)
{
    UConverter *converter = open_converter(encoding);
    const char *at = bytes.ptr, *end = bytes.ptr + bytes.len;
    char *put = to;
    UChar lead = 0; /* the first half of a pair of surrogates */

    if (!converter)
        return false;
    for (bool more = true; more;) {
        UChar units[PIVOT], *unit = units;
        UErrorCode error = U_ZERO_ERROR;
        ucnv_toUnicode(converter, &unit, units + PIVOT, &at, end, NULL, true, &error);
        more = error == U_BUFFER_OVERFLOW_ERROR;
        for (const UChar *u = units; u < unit; u++) {
            if (U16_IS_LEAD(*u))
                lead = *u;
            else
                put += html_put_character(put, U16_IS_TRAIL(*u) ? (uint32_t)U16_GET_SUPPLEMENTARY(lead, *u) : *u);
        }
    }
    ucnv_close(converter);
    *len = (size_t)(put - to);
    return true;
}

static bool is_left_out(const html_encoding *encoding, const uint8_t *bytes, size_t count)
{
    switch (encoding->special) {
    case HTML_GBK:
        return count == 4;
    case HTML_BIG5:
        return bytes[0] < 0xA1;
    case HTML_EUC_JP:
        return bytes[0] == 0x8F;
    default:
        return false;
    }
}

size_t html_icu_encode(html_encoder *encoder, const html_encoding *encoding, uint32_t code, uint8_t *bytes)
{
    UChar units[2];
    int32_t count = 0;
    UErrorCode error = U_ZERO_ERROR;

    if (!encoder->converter)
        encoder->converter = open_converter(encoding);
    if (!encoder->converter) { /* the page was read as windows-1252 */
        return 0;
    }
    if (encoding->special == HTML_GBK && code == 0x20AC) {
        bytes[0] = 0x80;
        return 1;
    }
    U16_APPEND_UNSAFE(units, count, code);
    const UChar *from = units;
    char *to = (char *)bytes;
    ucnv_fromUnicode(encoder->converter, &to, (char *)bytes + 16, &from, units + count, NULL, false, &error);
    size_t len = (size_t)(to - (char *)bytes);
    if (U_FAILURE(error)) {
        if (encoding->special != HTML_STATEFUL)
            ucnv_resetFromUnicode(encoder->converter);
        return 0;
    }
    return is_left_out(encoding, bytes, len) ? 0 : len;
}

size_t html_icu_encode_end(html_encoder *encoder, uint8_t *bytes)
{
    const UChar none = 0, *from = &none;
    char *to = (char *)bytes;
    UErrorCode error = U_ZERO_ERROR;

    ucnv_fromUnicode(encoder->converter, &to, (char *)bytes + 16, &from, &none, NULL, true, &error);
    ucnv_resetFromUnicode(encoder->converter);
    return (size_t)(to - (char *)bytes);
}

void html_encoder_close(html_encoder *encoder)
{
    if (encoder->converter)
        ucnv_close(encoder->converter);
    encoder->converter = NULL;
}

#else

bool html_icu_decode(const html_encoding *encoding, vidi_str bytes, char *to, size_t *len)
{
    (void)encoding;
    (void)bytes;
    (void)to;
    *len = 0;
    return false;
}

size_t html_icu_encode(html_encoder *encoder, const html_encoding *encoding, uint32_t code, uint8_t *bytes)
{
    (void)encoder;
    (void)encoding;
    (void)code;
    (void)bytes;
    return 0;
}

size_t html_icu_encode_end(html_encoder *encoder, uint8_t *bytes)
{
    (void)encoder;
    (void)bytes;
    return 0;
}

void html_encoder_close(html_encoder *encoder)
{
    (void)encoder;
}

#endif
