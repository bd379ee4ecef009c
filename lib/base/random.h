/* Random bytes from the operating system: for keys, not for simulations. */
#ifndef VIDI_BASE_RANDOM_H
#define VIDI_BASE_RANDOM_H

#include "base/base.h"

int vidi__random(void *out, size_t bytes);

#endif
