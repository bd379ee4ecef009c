/*
 * The parameters of a kind: "name=value,name=value", parsed once, asked for by name, and complete: what nobody asked
 * for is an error that names it.
 *
 * Kinds that contain another kind take their own parameters first and hand the rest on; "inner." before a name hands it
 * on in any case. Text is never copied: the string must outlive the vidi__params.
 */
#ifndef VIDI_BASE_PARAMS_H
#define VIDI_BASE_PARAMS_H

#include "base/base.h"

#define VIDI__PARAMS_MAX 32

typedef struct vidi__param {
    vidi_str name, value;
    bool used;
} vidi__param;

typedef struct vidi__params {
    vidi__param list[VIDI__PARAMS_MAX];
    size_t count;
    const char *asked[VIDI__PARAMS_MAX]; /* names that were asked for, to be listed when one is not known */
    size_t asked_count;
} vidi__params;

/* text may be NULL. A name given twice is an error. */
int vidi__params_parse(vidi__params *params, const char *text);

/* Each leaves *value as it is if the name is not there; 1 if it was, 0 if not, negative if the value is no good. */
int vidi__params_u64(vidi__params *params, const char *name, uint64_t min, uint64_t max, uint64_t *value);
int vidi__params_double(vidi__params *params, const char *name, double min, double max, double *value);
/* choices is "off|on"; *value becomes the index of the one that was given. */
int vidi__params_choice(vidi__params *params, const char *name, const char *choices, unsigned *value);
int vidi__params_str(vidi__params *params, const char *name, vidi_str *value);

/* Names that are known although nobody asks for them now: for the list of vidi__params_done. */
void vidi__params_know(vidi__params *params, const char *name);

/* Is it given? Does not count as asking for it. */
bool vidi__params_has(const vidi__params *params, const char *name);

/* What nobody has asked for so far, as it stands. */
void vidi__params_left(const vidi__params *params, vidi__params *left);

/* What is left over, for an inner kind: unused ones as they are, "inner.x" as "x". All count as used afterwards. */
void vidi__params_rest(vidi__params *params, vidi__params *inner);

/* Adds "name=value,name=value" of all of them to the text, for a later parse. */
void vidi__params_format(const vidi__params *params, vidi__text *text);

/* The same for the parameters of an inner kind, with "inner." before names that the outer one ("F|eager") takes. */
void vidi__params_hand_on(const vidi__params *params, const char *taken, vidi__text *text);

/* VIDI_EOPTION if something was never asked for; lists what was. Names that are asked for must be literals. */
int vidi__params_done(const vidi__params *params);

/* The whole of text as a number, whatever the process's locale: "1e6", "0.25". NaN and infinities are refused. */
bool vidi__parse_double(vidi_str text, double *value);
bool vidi__parse_u64(vidi_str text, uint64_t *value);

#endif
