/*
 * What is going on with a whole set: the text at the key {NAME}:state.
 *
 *     ready EPOCH
 *     rotating EPOCH NONCE CAPACITY ERROR KEEP     a rotation to EPOCH has begun, and may have been interrupted
 *     dropping                                     so has its removal
 *
 * A set without this key is being made. A rotation writes down what it intends before it does anything, so that whoever
 * comes next can finish it: all shards get the same capacity and error rate. The nonce tells the intent of one process
 * from an equal one of another.
 */
#ifndef VIDI_FLEET_SET_STATE_H
#define VIDI_FLEET_SET_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "vidi/vidi.h"

enum { STATE_ROOM = 160, STATE_NONCE = 16 };

typedef enum state_phase { STATE_READY, STATE_ROTATING, STATE_DROPPING } state_phase;

typedef struct state {
    state_phase phase;
    uint64_t epoch; /* READY: the epoch of all shards; ROTATING: the one that they are to have */
    /* ROTATING */
    char nonce[STATE_NONCE + 1];
    uint64_t capacity; /* of each shard; 0: each as its last count says */
    double error;      /* 0: as before */
    bool keep;         /* the epoch that ends is kept */
} state;

/* Writes the text and a zero byte. */
void state_write(const state *state, char text[STATE_ROOM]);

/* False if the text is not a state. */
bool state_read(state *state, vidi_str text);

#endif
