/*
 * The time that leases are measured by.
 *
 * A lease ends at a Unix time, so that snapshots and replicas can keep it. If the server's clock were asked whether that
 * time has come, a clock that is set back by an hour would make every lease an hour longer, and the pages of a worker
 * that died would wait for it.
 */
#ifndef REDIS_STEADY_H
#define REDIS_STEADY_H

#include <stdint.h>

/*
 * Unix time in milliseconds that never goes back, nor stands still. It follows the server's clock when that is set
 * forward; when it is set back, it runs on from where it was.
 */
int64_t steady_now(void);

#endif
