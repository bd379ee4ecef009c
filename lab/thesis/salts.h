/*
 * Salts before or after the URL, and the hash functions themselves: what they cost, and what they lose. The thesis
 * joins salt and URL (section 1.5) without saying which comes first.
 */
#ifndef VIDI_LAB_THESIS_SALTS_H
#define VIDI_LAB_THESIS_SALTS_H

#include "lab/engine/study.h"

/* ---- salted hash values, one after the other: salted_values.c ---- */

enum { LAB_SALTED_URL_MAX = LAB_URL_ROOM };

typedef enum lab_salted_function { LAB_SALTED_JENKINS, LAB_SALTED_MURMUR2 } lab_salted_function;

typedef enum lab_salt_place {
    LAB_SALT_BEFORE,    /* salt and URL are hashed together for each salt */
    LAB_SALT_AFTER,     /* the same with URL and salt */
    LAB_SALT_AFTER_ONCE /* the URL is hashed once, and its state goes on with each salt */
} lab_salt_place;

/* The values of a URL of at most LAB_SALTED_URL_MAX bytes with each of k salts. */
void lab_salted_values(lab_salted_function function, lab_salt_place place, const unsigned char (*salts)[LAB_SALT_BYTES],
                       unsigned k, vidi_str url, uint32_t *values);

#endif
