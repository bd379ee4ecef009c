/*
 * The parameters of a kind: "name=value,name=value". They are parsed once and read by name. A parameter that is never
 * read is an error whose message names it.
 *
 * A kind that contains another kind reads its own parameters first and passes the rest on; the prefix "inner." always
 * passes a parameter on. Text is never copied: the string must outlive the vidi__params.
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
    const char *asked[VIDI__PARAMS_MAX]; /* names that were read, to be listed if a name is unknown */
    size_t asked_count;
} vidi__params;

/* text may be NULL. A name that occurs twice is an error. */
int vidi__params_parse(vidi__params *params, const char *text);

/*
 * Each returns 1 if the parameter is given, 0 if not (then *value is unchanged), or an error if its value is invalid.
 */
int vidi__params_u64(vidi__params *params, const char *name, uint64_t min, uint64_t max, uint64_t *value);
int vidi__params_double(vidi__params *params, const char *name, double min, double max, double *value);
/* choices is "off|on"; *value becomes the index of the choice. */
int vidi__params_choice(vidi__params *params, const char *name, const char *choices, unsigned *value);
int vidi__params_str(vidi__params *params, const char *name, vidi_str *value);

/* Lists a name as known without reading it, for the message of vidi__params_done. */
void vidi__params_know(vidi__params *params, const char *name);

/* Returns true if the parameter is given; it still counts as unread. */
bool vidi__params_has(const vidi__params *params, const char *name);

/* The parameters that have not been read so far. */
void vidi__params_left(const vidi__params *params, vidi__params *left);

/*
 * The remaining parameters, for an inner kind: unread ones unchanged, "inner.x" as "x". All count as read afterwards.
 */
void vidi__params_rest(vidi__params *params, vidi__params *inner);

/* Appends all parameters as "name=value,name=value", to be parsed later. */
void vidi__params_format(const vidi__params *params, vidi__text *text);

/* The same for the parameters of an inner kind: names that the outer kind reads ("F|eager") get the prefix "inner.". */
void vidi__params_hand_on(const vidi__params *params, const char *taken, vidi__text *text);

/* VIDI_EOPTION if a parameter was never read; the message lists those that were. The names must be string literals. */
int vidi__params_done(const vidi__params *params);

/* Parses the whole text as a number, independently of the locale: "1e6", "0.25". Rejects NaN and infinities. */
bool vidi__parse_double(vidi_str text, double *value);
bool vidi__parse_u64(vidi_str text, uint64_t *value);

#endif
