/*
 * See steady.h.
 */
#include "steady.h"

#include "server.h"

/*
 * Reckoned in microseconds, although the server tells its time in whole milliseconds: as long as nobody sets its clock,
 * both are then the same to the millisecond. The day is read first, so that a process that is stopped in between does
 * not take that time for a clock that was set forward.
 */
int64_t steady_now(void)
{
    static int64_t offset = INT64_MIN; /* the most that the server's clock was ever ahead of the monotonic one */
    int64_t day = server.Milliseconds() * 1000;
    int64_t elapsed = (int64_t)server.MonotonicMicroseconds();
    offset = offset > day - elapsed ? offset : day - elapsed;
    return (offset + elapsed) / 1000;
}
