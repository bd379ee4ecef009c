/*
 * Sites: the registrable domain of a host, that is, the public suffix ("co.uk") and one label more, by libpsl and the
 * newest Public Suffix List on the machine.
 */
#include "url/canon/canon_rules.h"

/* More labels than any public suffix has. libpsl's time grows with their square, so it never gets more. */
#define LABELS_MAX 12
#define TAIL_MAX 1024

#if VIDI_HAVE_PSL

#include <libpsl.h>

int vidi__sites_open(void **sites)
{
    *sites = psl_latest(NULL);
    return *sites ? VIDI_OK : vidi__fail(VIDI_ECANNOT, "key=site needs a Public Suffix List, and there is none");
}

void vidi__sites_close(void *sites)
{
    psl_free(sites);
}

/* The last labels of the host, without a dot at the end. */
static vidi_str tail_of(vidi_str host)
{
    if (host.len && host.ptr[host.len - 1] == '.')
        host.len--;
    size_t begin = host.len;
    for (unsigned dots = 0; begin; begin--)
        if (host.ptr[begin - 1] == '.' && ++dots == LABELS_MAX)
            break;
    return (vidi_str){host.ptr + begin, host.len - begin};
}

vidi_str vidi__site_of(const void *sites, vidi_str host, uint32_t host_kind)
{
    if (host_kind != VIDI_URL_DOMAIN)
        return host;
    vidi_str tail = tail_of(host);
    char text[TAIL_MAX];
    const char *domain = NULL;
    if (tail.len < sizeof text) {
        memcpy(text, tail.ptr, tail.len);
        text[tail.len] = 0;
        domain = psl_registrable_domain(sites, text);
    }
    if (domain)
        return (vidi_str){tail.ptr + (domain - text), tail.len - (size_t)(domain - text)};
    return (vidi_str){host.ptr, (size_t)(tail.ptr + tail.len - host.ptr)};
}

#else

int vidi__sites_open(void **sites)
{
    *sites = NULL;
    return vidi__fail(VIDI_EOPTION, "key=site needs libpsl, which this build of vidi was made without");
}

void vidi__sites_close(void *sites)
{
    (void)sites;
}

vidi_str vidi__site_of(const void *sites, vidi_str host, uint32_t host_kind)
{
    (void)sites;
    (void)host_kind;
    return host;
}

#endif
