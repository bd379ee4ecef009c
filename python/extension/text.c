/*
 * URLs as Python has them. Two objects are the same URL if their text is the same in UTF-8.
 *
 * A str and bytes have a text that belongs to them. Of everything else a str or bytes is made first: a bytearray and a
 * memoryview may change while the GIL is released, and objects of other packages are asked for their text. Not every
 * object may be asked: str() of nearly anything gives some text, and a set with "None" and "<object at 0x7f…>" in it
 * would be wrong without a word. So an object must look like a URL: it has geturl(), as the results of urllib.parse
 * have, or an attribute `scheme` and a class with a __str__ of its own, as in yarl, httpx, furl, urllib3 and pydantic.
 */
#include "extension.h"

#include <math.h>

bool vp_refuse_type(PyObject *object, const char *name, const char *wanted)
{
    PyErr_Clear();
    PyObject *type = PyObject_GetAttrString((PyObject *)Py_TYPE(object), "__name__");
    if (type)
        PyErr_Format(PyExc_TypeError, "%s must be %s, not %S", name, wanted, type);
    Py_XDECREF(type);
    return false;
}

bool vp_text_of_any(PyObject *object, vidi_str *text)
{
    Py_ssize_t len;

    if (PyUnicode_Check(object)) {
        text->ptr = PyUnicode_AsUTF8AndSize(object, &len);
        text->len = (size_t)len;
        return text->ptr != NULL;
    }
    text->ptr = PyBytes_AsString(object);
    text->len = text->ptr ? (size_t)PyBytes_Size(object) : 0;
    return text->ptr != NULL;
}

/* ---- objects that are URLs ---- */

static bool has_own_str(PyObject *object)
{
    return PyType_GetSlot(Py_TYPE(object), Py_tp_str) != PyType_GetSlot(&PyBaseObject_Type, Py_tp_str);
}

/* An attribute. NULL if the object has none with this name; after any other failure, NULL with an exception. */
static PyObject *attribute(PyObject *object, const char *name)
{
    PyObject *value = PyObject_GetAttrString(object, name);
    if (!value && PyErr_ExceptionMatches(PyExc_AttributeError))
        PyErr_Clear();
    return value;
}

/* The text of an object that looks like a URL; NULL without an exception: it does not look like one. */
static PyObject *ask_for_text(PyObject *object)
{
    PyObject *geturl = attribute(object, "geturl");
    if (geturl || PyErr_Occurred()) {
        PyObject *text = geturl ? PyObject_CallNoArgs(geturl) : NULL;
        Py_XDECREF(geturl);
        return text;
    }
    PyObject *scheme = has_own_str(object) ? attribute(object, "scheme") : NULL;
    if (!scheme)
        return NULL;
    Py_DECREF(scheme);
    return PyObject_Str(object);
}

/* The same as a str or bytes of exactly that type, so that nothing of Python runs when it is dropped. */
static PyObject *text_of_object(PyObject *object)
{
    PyObject *text = PyType_Check(object) ? NULL : ask_for_text(object), *plain = NULL;
    if (text && PyUnicode_Check(text))
        plain = PyUnicode_FromObject(text);
    else if (text && PyBytes_CheckExact(text))
        plain = Py_NewRef(text);
    else if (!PyErr_Occurred())
        vp_refuse_type(text ? text : object, text ? "the text of a URL" : "a URL",
                       text ? "a str" : "a str, bytes or an object that is a URL");
    Py_XDECREF(text);
    return plain;
}

PyObject *vp_plain(PyObject *object)
{
    if (PyUnicode_Check(object) || PyBytes_Check(object))
        return Py_NewRef(object);
    if (!PyByteArray_Check(object) && !PyMemoryView_Check(object))
        return text_of_object(object);
    return PyBytes_FromObject(object);
}

bool vp_is_missing(PyObject *object)
{
    if (object == Py_None)
        return true;
    if (PyFloat_Check(object))
        return isnan(PyFloat_AsDouble(object));
    PyObject *name = PyObject_GetAttrString((PyObject *)Py_TYPE(object), "__name__");
    bool is_missing = name && (PyUnicode_CompareWithASCIIString(name, "NAType") == 0 ||
                               PyUnicode_CompareWithASCIIString(name, "NaTType") == 0);
    PyErr_Clear();
    Py_XDECREF(name);
    return is_missing;
}

bool vp_refuse_single(PyObject *urls)
{
    bool is_single =
        PyUnicode_Check(urls) || PyBytes_Check(urls) || PyByteArray_Check(urls) || PyMemoryView_Check(urls);
    if (!is_single && PyTuple_Check(urls) && !PyTuple_CheckExact(urls)) {
        PyObject *text = ask_for_text(urls); /* urllib.parse and urllib3 make tuples of URLs */
        if (!text && PyErr_Occurred())
            return false;
        is_single = text != NULL;
        Py_XDECREF(text);
    }
    if (is_single)
        PyErr_SetString(PyExc_TypeError, "an iterable of URLs is needed, not a single one");
    return !is_single;
}
