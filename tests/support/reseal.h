/* Correct checksums for a stream or a piece that was damaged on purpose, so that what reads its contents is tested. */
#ifndef TESTS_SUPPORT_RESEAL_H
#define TESTS_SUPPORT_RESEAL_H

#include <stddef.h>

/* Recomputes everything of the frame (docs/FORMAT.md) but the version. The size must be one that a frame can have. */
void test_reseal(unsigned char *bytes, size_t size);

#endif
