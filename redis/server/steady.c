/*
 * See steady.h.
 */
#include "steady.h"

#include "server.h"

int64_t steady_now(void)
{
    static int64_t offset = INT64_MIN; /* the most that the server's clock was ever ahead of the monotonic one */
    int64_t elapsed = (int64_t)(server.MonotonicMicroseconds() / 1000), ahead = server.Milliseconds() - elapsed;
    offset = offset > ahead ? offset : ahead;
    return offset + elapsed;
}
