/*
 * See arguments.h.
 */
#include "arguments.h"

#include <math.h>
#include <string.h>

static int find_name(const vp_signature *signature, PyObject *keyword)
{
    for (int i = 0; signature->names[i]; i++)
        if (PyUnicode_CompareWithASCIIString(keyword, signature->names[i]) == 0)
            return i;
    return -1;
}

static bool take_keywords(const vp_signature *signature, PyObject *const *args, PyObject *keywords, PyObject **values)
{
    Py_ssize_t count = keywords ? PyTuple_Size(keywords) : 0;
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *keyword = PyTuple_GetItem(keywords, i);
        int place = find_name(signature, keyword);
        if (place < 0) {
            PyErr_Format(PyExc_TypeError, "%s() got an unexpected keyword argument '%U'", signature->function, keyword);
            return false;
        }
        if (values[place]) {
            PyErr_Format(PyExc_TypeError, "%s() got multiple values for argument '%U'", signature->function, keyword);
            return false;
        }
        values[place] = args[i];
    }
    return true;
}

static bool take_positions(const vp_signature *signature, PyObject *const *args, Py_ssize_t count, PyObject **values)
{
    if (count > signature->positional) {
        PyErr_Format(PyExc_TypeError, "%s() takes at most %d positional argument%s (%zd given)", signature->function,
                     signature->positional, signature->positional == 1 ? "" : "s", count);
        return false;
    }
    for (int i = 0; signature->names[i]; i++)
        values[i] = i < count ? args[i] : NULL;
    return true;
}

static bool has_needed(const vp_signature *signature, PyObject **values)
{
    for (int i = 0; i < signature->needed; i++)
        if (!values[i]) {
            PyErr_Format(PyExc_TypeError, "%s() missing required argument: '%s'", signature->function,
                         signature->names[i]);
            return false;
        }
    return true;
}

bool vp_arguments(const vp_signature *signature, PyObject *const *args, Py_ssize_t count, PyObject *keywords,
                  PyObject **values)
{
    return take_positions(signature, args, count, values) && take_keywords(signature, args + count, keywords, values) &&
           has_needed(signature, values);
}

/* Moves the values that belong to names of the signature out of the dict; `keywords` still owns them. */
static bool take_own(const vp_signature *signature, PyObject *keywords, PyObject *rest, PyObject **values)
{
    for (int i = 0; signature->names[i]; i++) {
        PyObject *value = PyDict_GetItemString(keywords, signature->names[i]);
        if (!value)
            continue;
        if (values[i]) {
            PyErr_Format(PyExc_TypeError, "%s() got multiple values for argument '%s'", signature->function,
                         signature->names[i]);
            return false;
        }
        values[i] = value;
        if (PyDict_DelItemString(rest, signature->names[i]) < 0)
            return false;
    }
    return true;
}

bool vp_arguments_and_rest(const vp_signature *signature, PyObject *args, PyObject *keywords, PyObject **values,
                           PyObject **rest)
{
    PyObject *positions[VP_ARGUMENTS_MAX];
    Py_ssize_t count = PyTuple_Size(args);
    for (Py_ssize_t i = 0; i < count && i < signature->positional; i++)
        positions[i] = PyTuple_GetItem(args, i);
    if (!take_positions(signature, positions, count, values))
        return false;
    *rest = keywords ? PyDict_Copy(keywords) : PyDict_New();
    if (*rest && (!keywords || take_own(signature, keywords, *rest, values)) && has_needed(signature, values))
        return true;
    Py_CLEAR(*rest);
    return false;
}

/* ---- numbers ---- */

/* Replaces the exception, "an integer is required" for example, by one that names the argument. */
static bool refuse_value(PyObject *object, const char *name, const char *wanted)
{
    PyErr_Clear();
    PyErr_Format(PyExc_ValueError, "%s must be %s, not %R", name, wanted, object);
    return false;
}

static const char whole_number[] = "a whole number from 0 to 2**64 - 1";

static bool count_of_float(PyObject *object, const char *name, uint64_t *value)
{
    double number = PyFloat_AsDouble(object);
    if (!(number >= 0 && number < 0x1p64) || number != floor(number))
        return refuse_value(object, name, whole_number);
    *value = (uint64_t)number;
    return true;
}

bool vp_to_count(PyObject *object, const char *name, uint64_t *value)
{
    if (!object)
        return true;
    if (PyFloat_Check(object))
        return count_of_float(object, name, value);
    PyObject *index = PyNumber_Index(object);
    if (!index)
        return PyErr_ExceptionMatches(PyExc_TypeError) && vp_refuse_type(object, name, "a number");
    unsigned long long number = PyLong_AsUnsignedLongLong(index);
    Py_DECREF(index);
    if (number == (unsigned long long)-1 && PyErr_Occurred())
        return PyErr_ExceptionMatches(PyExc_OverflowError) && refuse_value(object, name, whole_number);
    *value = number;
    return true;
}

bool vp_to_real(PyObject *object, const char *name, double *value)
{
    if (!object)
        return true;
    double number = PyFloat_AsDouble(object);
    if (number == -1 && PyErr_Occurred()) {
        if (PyErr_ExceptionMatches(PyExc_TypeError))
            return vp_refuse_type(object, name, "a number");
        return PyErr_ExceptionMatches(PyExc_OverflowError) && refuse_value(object, name, "a finite number");
    }
    if (!(number >= 0) || isinf(number))
        return refuse_value(object, name, "a finite number that is not negative");
    *value = number;
    return true;
}

/* ---- others ---- */

bool vp_to_bool(PyObject *object, bool *value)
{
    int truth = object ? PyObject_IsTrue(object) : *value;
    *value = truth > 0;
    return truth >= 0;
}

bool vp_to_words(PyObject *object, const char *name, const char **value)
{
    if (!object)
        return true;
    *value = NULL;
    if (object == Py_None)
        return true;
    if (!PyUnicode_Check(object))
        return vp_refuse_type(object, name, "a str");
    Py_ssize_t length;
    const char *text = PyUnicode_AsUTF8AndSize(object, &length);
    if (!text)
        return false;
    if (strlen(text) != (size_t)length)
        return refuse_value(object, name, "a str without NUL");
    *value = text;
    return true;
}
