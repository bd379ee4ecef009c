/* IP addresses as hosts: IPv4 in every spelling that browsers accept, and IPv6. */
#include "url/parse/percent.h"
#include "url/parse/url.h"

/* Larger than any number of an address; larger numbers are cut to this. */
#define TOO_LARGE (UINT64_C(1) << 32)

/* Reads "12", "0x1f" or "017"; "0x" is 0. False if the text is empty or not a number. */
static bool parse_number(vidi_str text, uint64_t *number)
{
    unsigned base = 10;
    if (text.len == 0)
        return false;
    if (text.len >= 2 && text.ptr[0] == '0') {
        base = (text.ptr[1] | 0x20) == 'x' ? 16 : 8;
        size_t prefix = base == 16 ? 2 : 1;
        text.ptr += prefix;
        text.len -= prefix;
    }
    *number = 0;
    for (size_t i = 0; i < text.len; i++) {
        unsigned digit = vidi__hex_value(text.ptr[i]);
        if (digit >= base)
            return false;
        *number = *number * base + digit;
        if (*number > TOO_LARGE)
            *number = TOO_LARGE;
    }
    return true;
}

/* The text without a dot at its end. */
static vidi_str without_last_dot(vidi_str host)
{
    if (host.len && host.ptr[host.len - 1] == '.')
        host.len--;
    return host;
}

bool vidi__url_ends_in_number(vidi_str host)
{
    host = without_last_dot(host);
    if (host.len == 0)
        return false;
    char end = host.ptr[host.len - 1];
    if (vidi__hex_value(end) > 15 && (end | 0x20) != 'x') /* rules out most top-level domains quickly */
        return false;
    const char *dot = memrchr(host.ptr, '.', host.len);
    vidi_str last = host;
    if (dot) {
        last.ptr = dot + 1;
        last.len = host.len - (size_t)(last.ptr - host.ptr);
    }
    if (last.len == 0 || !vidi__is_digit(last.ptr[0]))
        return false;
    uint64_t number;
    size_t digits = 0;
    while (digits < last.len && vidi__is_digit(last.ptr[digits]))
        digits++;
    return digits == last.len || parse_number(last, &number);
}

static int bad_ipv4(vidi_str host, const char *why)
{
    return vidi__fail(VIDI__NOT_URL, "the host \"%.*s\" ends in a number but is no IPv4 address: %s", VIDI__QUOTE(host),
                      why);
}

int vidi__url_ipv4(vidi_str host, uint32_t *address)
{
    vidi_str rest = without_last_dot(host);
    uint64_t parts[4];
    size_t n = 0;
    for (bool more = true; more; n++) {
        if (n == VIDI__COUNT(parts))
            return bad_ipv4(host, "it has more than four parts");
        const char *dot = rest.len ? memchr(rest.ptr, '.', rest.len) : NULL;
        more = dot;
        vidi_str part = {rest.ptr, dot ? (size_t)(dot - rest.ptr) : rest.len};
        if (!parse_number(part, &parts[n]))
            return bad_ipv4(host, "a part is not a number");
        if (more) {
            rest.ptr += part.len + 1;
            rest.len -= part.len + 1;
        }
    }
    /* The last number takes all the bytes that those before it leave. */
    uint64_t value = parts[n - 1];
    if (value >= UINT64_C(1) << 8 * (5 - n))
        return bad_ipv4(host, "its last part is too large");
    for (size_t i = 0; i + 1 < n; i++) {
        if (parts[i] > 255)
            return bad_ipv4(host, "a part is larger than 255");
        value += parts[i] << 8 * (3 - i);
    }
    *address = (uint32_t)value;
    return VIDI_OK;
}

void vidi__url_ipv4_add(vidi__buffer *out, uint32_t address)
{
    char text[16], *to = text;

    for (int shift = 24; shift >= 0; shift -= 8) {
        unsigned byte = address >> shift & 255;
        if (byte >= 100)
            *to++ = (char)('0' + byte / 100);
        if (byte >= 10)
            *to++ = (char)('0' + byte / 10 % 10);
        *to++ = (char)('0' + byte % 10);
        *to++ = '.';
    }
    vidi__buffer_add(out, text, (size_t)(to - text - 1));
}

/* The state of reading an IPv6 address: the text that is left, and the pieces so far. */
typedef struct ipv6 {
    const char *at, *end;
    uint16_t piece[8];
    unsigned count;
    unsigned gap; /* number of pieces before "::"; 8: there is no "::" */
} ipv6;

#define NO_GAP 8u

/* Reads the IPv4 address at the end, which makes two pieces: four numbers up to 255, without leading zeros. */
static const char *embedded_ipv4(ipv6 *ip)
{
    if (ip->count > 6)
        return "there is no room for the IPv4 address in it";
    for (unsigned n = 0; n < 4; n++) {
        if (n) {
            if (ip->at == ip->end || *ip->at != '.')
                return "the IPv4 address in it does not have four parts";
            ip->at++;
        }
        if (ip->at == ip->end || !vidi__is_digit(*ip->at))
            return "a part of the IPv4 address in it is not a number";
        unsigned value = 0, digits = 0;
        for (; ip->at < ip->end && vidi__is_digit(*ip->at); ip->at++, digits++) {
            if (digits && value == 0)
                return "a part of the IPv4 address in it begins with 0";
            value = value * 10 + (unsigned)(*ip->at - '0');
            if (value > 255)
                return "a part of the IPv4 address in it is larger than 255";
        }
        ip->piece[ip->count] = (uint16_t)((unsigned)ip->piece[ip->count] << 8 | value);
        if (n % 2)
            ip->count++;
    }
    return ip->at == ip->end ? NULL : "something follows the IPv4 address in it";
}

/* Reads one piece of up to four hexadecimal digits and the colon after it, or the IPv4 address at the end. */
static const char *read_piece(ipv6 *ip)
{
    const char *begin = ip->at;
    unsigned value = 0;
    while (ip->at < ip->end && ip->at - begin < 4 && vidi__hex_value(*ip->at) < 16)
        value = value << 4 | vidi__hex_value(*ip->at++);
    if (ip->at < ip->end && *ip->at == '.') {
        if (ip->at == begin)
            return "there is a dot where a number should be";
        ip->at = begin;
        return embedded_ipv4(ip);
    }
    if (ip->at < ip->end && *ip->at == ':') {
        if (++ip->at == ip->end)
            return "it ends in a single colon";
    } else if (ip->at < ip->end) {
        return "there is a character that does not belong, or a number of more than four digits";
    }
    ip->piece[ip->count++] = (uint16_t)value;
    return NULL;
}

static const char *read_ipv6(ipv6 *ip)
{
    if (ip->at < ip->end && *ip->at == ':') {
        if (ip->end - ip->at < 2 || ip->at[1] != ':')
            return "it begins with a single colon";
        ip->at += 2;
        ip->gap = 0;
        ip->count = 1; /* the gap stands for at least one piece; it is moved below */
    }
    while (ip->at < ip->end) {
        if (ip->count == 8)
            return "it has more than eight numbers";
        if (*ip->at == ':') {
            if (ip->gap != NO_GAP)
                return "it has \"::\" twice";
            ip->at++;
            ip->gap = ip->count++;
            continue;
        }
        const char *wrong = read_piece(ip);
        if (wrong)
            return wrong;
    }
    if (ip->gap == NO_GAP)
        return ip->count == 8 ? NULL : "it has fewer than eight numbers";
    /* Move the pieces after the gap to the end. */
    unsigned after = ip->count - ip->gap - 1;
    for (unsigned i = 0; i < after; i++) {
        uint16_t piece = ip->piece[ip->count - 1 - i];
        ip->piece[ip->count - 1 - i] = 0;
        ip->piece[7 - i] = piece;
    }
    return NULL;
}

/* Where the first of the longest runs of at least two zeros begins; 8 if there is none. */
static unsigned longest_zeros(const uint16_t *piece, unsigned *length)
{
    unsigned best = 8;
    *length = 1;
    for (unsigned i = 0; i < 8; i++) {
        unsigned n = 0;
        while (i + n < 8 && piece[i + n] == 0)
            n++;
        if (n > *length) {
            best = i;
            *length = n;
        }
    }
    return best;
}

static void add_ipv6(vidi__buffer *out, const uint16_t *piece)
{
    char text[48];
    vidi__text t = vidi__text_in(text, sizeof text);
    unsigned length, zeros = longest_zeros(piece, &length);
    vidi__text_add(&t, "[");
    for (unsigned i = 0; i < 8; i++) {
        if (i == zeros) {
            vidi__text_add(&t, i ? ":" : "::");
            i += length - 1;
            continue;
        }
        vidi__text_add(&t, i < 7 ? "%x:" : "%x", (unsigned)piece[i]);
    }
    vidi__text_add(&t, "]");
    vidi__buffer_add(out, t.at, t.len);
}

int vidi__url_ipv6(vidi__buffer *out, vidi_str text)
{
    ipv6 ip = {.at = text.ptr, .end = text.ptr + text.len, .gap = NO_GAP};
    const char *wrong = read_ipv6(&ip);
    if (wrong)
        return vidi__fail(VIDI__NOT_URL, "\"[%.*s]\" is not an IPv6 address: %s", VIDI__QUOTE(text), wrong);
    add_ipv6(out, ip.piece);
    return VIDI_OK;
}
