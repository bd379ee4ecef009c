/*
 * Hosts: domains, IP addresses, and the opaque hosts of schemes that are not special.
 *
 * Nearly every host is a domain in lower-case ASCII and is copied. Upper case, '%' and non-ASCII bytes need more work,
 * but only non-ASCII domains go through IDNA: since 2026 the standard leaves ASCII domains alone, even those with an
 * invalid "xn--…" label, because such sites exist and browsers open them.
 */
#include "url/parse/percent.h"
#include "url/parse/url.h"

#define SCRATCH_BYTES 512

static int forbidden(vidi_str host, char c)
{
    if (c > 0x20 && c < 0x7f)
        return vidi__fail(VIDI__NOT_URL, "the host \"%.*s\" must not contain '%c'", VIDI__QUOTE(host), c);
    return vidi__fail(VIDI__NOT_URL, "the host \"%.*s\" must not contain the byte 0x%02x", VIDI__QUOTE(host),
                      (unsigned)(unsigned char)c);
}

static int opaque_host(vidi__buffer *out, vidi_str host, bool raw, uint32_t *kind)
{
    size_t good = vidi__url_run(host.ptr, host.len, VIDI__SET_FORBIDDEN_HOST);
    if (good < host.len)
        return forbidden(host, host.ptr[good]);
    vidi__percent_encode(out, host.ptr, host.len, VIDI__SET_C0, raw);
    *kind = host.len ? VIDI_URL_OPAQUE_HOST : VIDI_URL_EMPTY_HOST;
    return VIDI_OK;
}

/* Checks the ASCII domain that begins at `begin` in out, and replaces it by an IPv4 address if it is one. */
static int finish_domain(vidi__buffer *out, size_t begin, vidi_str host, uint32_t *kind)
{
    if (out->error)
        return out->error;
    vidi_str domain = {out->at + begin, out->len - begin};
    if (domain.len == 0)
        return vidi__fail(VIDI__NOT_URL, "the host \"%.*s\" is empty when decoded", VIDI__QUOTE(host));
    *kind = VIDI_URL_DOMAIN;
    if (!vidi__url_ends_in_number(domain))
        return VIDI_OK;
    uint32_t address;
    VIDI__TRY(vidi__url_ipv4(domain, &address));
    *kind = VIDI_URL_IPV4;
    out->len = begin;
    vidi__url_ipv4_add(out, address);
    return VIDI_OK;
}

/* Adds an ASCII domain in lower case. */
static int ascii_domain(vidi__buffer *out, vidi_str domain)
{
    size_t good = vidi__url_run(domain.ptr, domain.len, VIDI__SET_FORBIDDEN_DOMAIN);
    if (good < domain.len)
        return forbidden(domain, domain.ptr[good]);
    if (!vidi__buffer_reserve(out, domain.len))
        return out->error;
    char *to = out->at + out->len;
    for (size_t i = 0; i < domain.len; i++) {
        unsigned char c = (unsigned char)domain.ptr[i];
        to[i] = (char)(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c);
    }
    out->len += domain.len;
    return VIDI_OK;
}

static int international_domain(vidi__buffer *out, vidi_str domain)
{
    size_t begin = out->len;
    VIDI__TRY(vidi__url_idna(out, domain));
    const char *ascii = out->at + begin;
    size_t good = vidi__url_run(ascii, out->len - begin, VIDI__SET_FORBIDDEN_DOMAIN | VIDI__SET_NOT_PLAIN);
    return good < out->len - begin ? forbidden(domain, ascii[good]) : VIDI_OK;
}

static int domain_to_ascii(vidi__buffer *out, vidi_str domain)
{
    return vidi__is_ascii(domain) ? ascii_domain(out, domain) : international_domain(out, domain);
}

/* Adds the host if it is a plain ASCII domain, as nearly every host is; returns false if it needs more work. */
static bool add_usual_domain(vidi__buffer *out, vidi_str host)
{
    if (!vidi__buffer_reserve(out, host.len))
        return false;
    char *to = out->at + out->len;
    unsigned sets = 0, all = 0;
    for (size_t i = 0; i < host.len; i++) {
        unsigned c = (unsigned char)host.ptr[i];
        sets |= vidi__url_sets[c];
        all |= c;
        to[i] = (char)(c | (unsigned)(c - 'A' < 26) << 5);
    }
    if (all >= 0x80 || sets & VIDI__SET_FORBIDDEN_DOMAIN)
        return false;
    out->len += host.len;
    return true;
}

static int special_host(vidi__buffer *out, vidi_str host, uint32_t *kind)
{
    size_t begin = out->len;
    if (add_usual_domain(out, host))
        return finish_domain(out, begin, host, kind);
    if (!memchr(host.ptr, '%', host.len)) {
        VIDI__TRY(domain_to_ascii(out, host));
        return finish_domain(out, begin, host, kind);
    }
    char room[SCRATCH_BYTES];
    vidi__buffer decoded = vidi__buffer_in(room, sizeof room, out->memory);
    vidi__percent_decode(&decoded, host.ptr, host.len);
    int error = decoded.error ? decoded.error : domain_to_ascii(out, (vidi_str){decoded.at, decoded.len});
    vidi__buffer_free(&decoded);
    return error ? error : finish_domain(out, begin, host, kind);
}

int vidi__url_host(vidi__buffer *out, vidi_str host, bool special, bool raw, uint32_t *kind)
{
    if (host.len && host.ptr[0] == '[') {
        if (host.ptr[host.len - 1] != ']')
            return vidi__fail(VIDI__NOT_URL, "the host \"%.*s\" has '[' without ']'", VIDI__QUOTE(host));
        *kind = VIDI_URL_IPV6;
        return vidi__url_ipv6(out, (vidi_str){host.ptr + 1, host.len - 2});
    }
    return special ? special_host(out, host, kind) : opaque_host(out, host, raw, kind);
}
