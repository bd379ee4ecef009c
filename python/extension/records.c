/*
 * See records.h.
 */
#include "records.h"

#include <stdarg.h>

static PyObject *class_of(const char *module, const char *name)
{
    PyObject *imported = PyImport_ImportModule(module);
    PyObject *class = imported ? PyObject_GetAttrString(imported, name) : NULL;
    Py_XDECREF(imported);
    return class;
}

PyObject *vp_record(const char *module, const char *name, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    PyObject *fields = Py_VaBuildValue(format, list);
    va_end(list);
    PyObject *class = fields ? class_of(module, name) : NULL;
    PyObject *none = class ? PyTuple_New(0) : NULL;
    PyObject *record = none ? PyObject_Call(class, none, fields) : NULL;
    Py_XDECREF(none);
    Py_XDECREF(class);
    Py_XDECREF(fields);
    return record;
}

PyObject *vp_can(uint32_t can)
{
    static const char *const words[] = {"delete", "count", "merge", "iterate", "grow", "concurrent"};
    PyObject *list = PyList_New(0);
    for (unsigned i = 0; list && i < sizeof words / sizeof *words; i++) {
        if (!(can >> i & 1))
            continue;
        PyObject *word = PyUnicode_FromString(words[i]);
        if (!word || PyList_Append(list, word) < 0)
            Py_CLEAR(list);
        Py_XDECREF(word);
    }
    PyObject *set = list ? PyFrozenSet_New(list) : NULL;
    Py_XDECREF(list);
    return set;
}

const char *vp_meaning(uint32_t fp_meaning)
{
    static const char *const words[] = {"exact", "at most", "estimate"};
    return fp_meaning < sizeof words / sizeof *words ? words[fp_meaning] : "estimate";
}
