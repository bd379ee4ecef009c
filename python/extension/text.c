/* URLs as Python has them: str and bytes are the same URL if they have the same UTF-8. */
#include "extension.h"

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
    if (PyBytes_Check(object)) {
        text->ptr = PyBytes_AsString(object);
        text->len = (size_t)PyBytes_Size(object);
        return true;
    }
    return vp_refuse_type(object, "a URL", "a str or bytes");
}

bool vp_refuse_single(PyObject *urls)
{
    if (!PyUnicode_Check(urls) && !PyBytes_Check(urls))
        return true;
    PyErr_SetString(PyExc_TypeError, "an iterable of URLs is needed, not a single one");
    return false;
}
