/*
 * Internationalised domains: Unicode's UTS 46 with the options that the URL Standard sets (CheckHyphens false,
 * CheckBidi true, CheckJoiners true, UseSTD3ASCIIRules false, Transitional_Processing false, VerifyDnsLength false), by
 * ICU.
 *
 * ICU's service always checks hyphens and lengths and reports them as bits of their own, which are not looked at here.
 * Opening it takes about a microsecond and some memory of ICU's own, so it is opened once a process and shared: it may
 * be used from any number of threads, and is never closed.
 *
 * Encoding a label takes ICU time that grows with the square of the label's length. Domains of more than 1,024 bytes
 * are therefore refused; the 253 characters that the DNS can resolve encode no more than that in any script.
 */
#include "url/parse/percent.h"
#include "url/parse/url.h"

#define DOMAIN_MAX 1024

#if VIDI_HAVE_ICU

#include <threads.h>
#include <unicode/uidna.h>

static UIDNA *service;
static once_flag service_once = ONCE_FLAG_INIT;

static void open_service(void)
{
    UErrorCode error = U_ZERO_ERROR;
    service = uidna_openUTS46(UIDNA_CHECK_BIDI | UIDNA_CHECK_CONTEXTJ | UIDNA_NONTRANSITIONAL_TO_ASCII |
                                  UIDNA_NONTRANSITIONAL_TO_UNICODE,
                              &error);
    if (U_FAILURE(error))
        service = NULL;
}

/* What the standard's options switch off. */
#define IGNORED                                                                                                        \
    (UIDNA_ERROR_EMPTY_LABEL | UIDNA_ERROR_LABEL_TOO_LONG | UIDNA_ERROR_DOMAIN_NAME_TOO_LONG |                         \
     UIDNA_ERROR_LEADING_HYPHEN | UIDNA_ERROR_TRAILING_HYPHEN | UIDNA_ERROR_HYPHEN_3_4)

static const char *reason(uint32_t errors)
{
    if (errors & UIDNA_ERROR_DISALLOWED)
        return "a character that no domain may have";
    if (errors & (UIDNA_ERROR_PUNYCODE | UIDNA_ERROR_INVALID_ACE_LABEL))
        return "a label beginning with xn-- that encodes nothing";
    if (errors & UIDNA_ERROR_LEADING_COMBINING_MARK)
        return "a label that begins with a combining mark";
    if (errors & UIDNA_ERROR_LABEL_HAS_DOT)
        return "a label that contains a dot";
    if (errors & UIDNA_ERROR_BIDI)
        return "writing directions that are mixed against the rules";
    if (errors & UIDNA_ERROR_CONTEXTJ)
        return "an invisible joiner where none may be";
    return "something that IDNA forbids";
}

int vidi__url_idna(vidi__buffer *out, vidi_str domain)
{
    call_once(&service_once, open_service);
    if (!service)
        return vidi__fail(VIDI_ESYSTEM, "ICU's tables for internationalised domains cannot be opened");
    if (domain.len > DOMAIN_MAX)
        return vidi__fail(VIDI__NOT_URL, "an internationalised host of %zu bytes is more than the %d that are taken",
                          domain.len, DOMAIN_MAX);
    UErrorCode error = U_ZERO_ERROR;
    UIDNAInfo info = UIDNA_INFO_INITIALIZER;
    for (int32_t need = (int32_t)domain.len + 256;; error = U_ZERO_ERROR) {
        if (!vidi__buffer_reserve(out, (size_t)need))
            return out->error;
        int32_t len =
            uidna_nameToASCII_UTF8(service, domain.ptr, (int32_t)domain.len, out->at + out->len, need, &info, &error);
        if (error == U_BUFFER_OVERFLOW_ERROR && len > need) {
            need = len;
            continue;
        }
        if (U_FAILURE(error))
            return vidi__fail(VIDI__NOT_URL, "the host \"%.*s\" has no ASCII form (ICU: %s)", VIDI__QUOTE(domain),
                              u_errorName(error));
        if (info.errors & ~(uint32_t)IGNORED)
            return vidi__fail(VIDI__NOT_URL, "the host \"%.*s\" has %s", VIDI__QUOTE(domain), reason(info.errors));
        out->len += (size_t)len;
        return VIDI_OK;
    }
}

#else

int vidi__url_idna(vidi__buffer *out, vidi_str domain)
{
    (void)out;
    return vidi__fail(VIDI__NOT_URL,
                      "the host \"%.*s\" is internationalised, which this build, made without ICU, cannot read",
                      VIDI__QUOTE(domain));
}

#endif
