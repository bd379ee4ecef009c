/*
 * Arguments of functions that take names: which object belongs to which name, and what a number or a text is in C.
 *
 * The limited interface has no parser for METH_FASTCALL, and the one for tuples takes longer than a canonical form.
 */
#ifndef VIDI_PYTHON_ARGUMENTS_H
#define VIDI_PYTHON_ARGUMENTS_H

#include "extension.h"

/* More names than any function has. */
#define VP_ARGUMENTS_MAX 24

/* A function with METH_KEYWORDS, for a PyMethodDef. */
#define VP_NAMED(function) ((PyCFunction)(void (*)(void))(function))

typedef struct vp_signature {
    const char *function;
    const char *const *names; /* those that may be given by position come first; NULL at the end */
    int needed;               /* number of arguments, the first ones, that must be given */
    int positional;           /* number of those that may be given by position */
} vp_signature;

/*
 * Puts the arguments in the order of the signature, which has at most VP_ARGUMENTS_MAX names: values[i] is borrowed,
 * and NULL if the argument was not given. False with a TypeError as Python's own functions raise it.
 */
bool vp_arguments(const vp_signature *signature, PyObject *const *args, Py_ssize_t count, PyObject *keywords,
                  PyObject **values);

/*
 * The same for functions that hand further keywords on, with METH_VARARGS | METH_KEYWORDS: *rest is a new dict with
 * those that the signature does not name.
 */
bool vp_arguments_and_rest(const vp_signature *signature, PyObject *args, PyObject *keywords, PyObject **values,
                           PyObject **rest);

/*
 * Each of these converts the argument called `name`. Returns false with an exception that names it. NULL, which is an
 * argument that was not given, leaves *value alone.
 */
/* An int, or a float that is a whole number, such as 1e9. */
bool vp_to_count(PyObject *object, const char *name, uint64_t *value);
/* A finite number that is not negative. */
bool vp_to_real(PyObject *object, const char *name, double *value);
/* Anything: its truth. */
bool vp_to_bool(PyObject *object, bool *value);
/* A str without NUL, borrowed from the object; None is NULL. */
bool vp_to_words(PyObject *object, const char *name, const char **value);

#endif
