/*
 * Objects of the dataclasses in vidi/_stats.py and vidi/_plan.py, made from structs of the library.
 */
#ifndef VIDI_PYTHON_RECORDS_H
#define VIDI_PYTHON_RECORDS_H

#include "extension.h"

/*
 * Calls the class with this name, passing keyword arguments, which are described in the order of `format` as for
 * Py_BuildValue: "{s:K,s:d}" for example. NULL with an exception set.
 */
PyObject *vp_record(const char *module, const char *name, const char *format, ...);

/* The words for vidi_capability bits, as a frozenset: a new reference, for "N". */
PyObject *vp_can(uint32_t can);

/* The word for a vidi_fp_meaning. */
const char *vp_meaning(uint32_t fp_meaning);

#endif
