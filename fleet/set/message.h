/*
 * What vidi_cluster_message() tells: a sentence for each thread, about its last call that failed.
 */
#ifndef VIDI_FLEET_SET_MESSAGE_H
#define VIDI_FLEET_SET_MESSAGE_H

#include <stddef.h>

#include "vidi/cluster.h"

/* Keeps the sentence and returns the code. */
int cluster_fail(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The same with the sentence of vidi_message(), for a code that a function of vidi.h has returned. */
int cluster_fail_as_set(int code);

#define CLUSTER_TRY(call_)                                                                                             \
    do {                                                                                                               \
        int code_ = (call_);                                                                                           \
        if (code_ != VIDI_OK)                                                                                          \
            return code_;                                                                                              \
    } while (0)

#endif
