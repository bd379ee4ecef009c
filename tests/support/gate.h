/* A gate as it is while several threads share a set, with this thread inside: for tests of filters below the set. */
#ifndef TESTS_SUPPORT_GATE_H
#define TESTS_SUPPORT_GATE_H

#include "base/gate.h"
#include "support/check.h"

static inline void test_share(vidi__gate *gate, vidi__memory *memory)
{
    vidi__gate_init(gate);
    vidi__gate_close(gate);
    vidi__gate_give(gate, VIDI__GATE_SHARED);
    vidi__gate_open(gate);
    assert_non_null(vidi__gate_join(gate, memory));
}

#endif
