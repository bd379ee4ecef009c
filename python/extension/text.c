/* The text of a URL: str and bytes are the same URL if they have the same UTF-8. */
#include "extension.h"

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
    PyErr_Format(PyExc_TypeError, "a URL is a str or bytes, not %R", (PyObject *)Py_TYPE(object));
    return false;
}
