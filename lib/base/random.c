/* getrandom(2), continued after interruptions. */
#include "base/random.h"

#include <errno.h>
#include <sys/random.h>

int vidi__random(void *out, size_t bytes)
{
    unsigned char *at = out;
    while (bytes) {
        ssize_t got = getrandom(at, bytes, 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return vidi__fail(VIDI_ESYSTEM, "cannot create a random key: getrandom failed: %s", strerror(errno));
        at += got;
        bytes -= (size_t)got;
    }
    return VIDI_OK;
}
