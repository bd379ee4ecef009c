/*
 * Connects code that writes to a stream with code that reads from one, without the stream ever being in memory as a
 * whole. What fits into the buffer is written first and read then. Otherwise the writing side runs in a thread of its
 * own:
 *
 *     fill(writer)  ->  | block | block | block | block |  ->  drain(reader)
 *       a thread                  128 KiB                      the caller's thread
 */
#ifndef VIDI_BASE_PIPE_H
#define VIDI_BASE_PIPE_H

#include "base/stream.h"

/*
 * Runs both sides and returns when both have ended. The buffer comes from `memory`. `fill` may be called twice: it must
 * write the same both times. If one side fails, the other one's next call fails too, and the first error is returned
 * with its message. The reader is trusted (base/stream.h).
 */
typedef int vidi__pipe_fill(void *context, vidi__writer *writer);
typedef int vidi__pipe_drain(void *context, vidi__reader *reader);
int vidi__pipe_run(vidi__memory *memory, vidi__pipe_fill *fill, vidi__pipe_drain *drain, void *context);

#endif
