/* The exceptions: a class for each error of the library. python/vidi/_errors.py defines them. */
#include "extension.h"

#include <string.h>

/* The names of the classes, at the place of their code: VIDI_EARGUMENT is -1. */
static const char *const names[] = {
    "Error",       "ArgumentError", "OptionError", "OutOfMemory", "LimitError",  "NotFoundError",
    "CannotError", "DiffersError",  "FormatError", "DiskError",   "KernelError", "ExistsError",
    "BusyError",   "DamagedError",  "RateError",   "OwnedError",
};

#define CLASSES (sizeof names / sizeof *names)

static PyObject *classes[CLASSES];
static PyObject *invalid_url, *absent, *closed, *forked, *server;

static bool take(PyObject *module, const char *name, PyObject **class)
{
    PyObject *found = PyObject_GetAttrString(module, name), *before = *class;
    if (!found)
        return false;
    *class = found;
    Py_XDECREF(before);
    return true;
}

/* Called again if the package is imported again: then the new classes are the ones that the program knows. */
bool vp_errors_init(void)
{
    PyObject *module = PyImport_ImportModule("vidi._errors");
    if (!module)
        return false;
    bool found = take(module, "InvalidURL", &invalid_url) && take(module, "AbsentError", &absent) &&
                 take(module, "ClosedError", &closed) && take(module, "ForkError", &forked) &&
                 take(module, "ServerError", &server);
    for (size_t i = 0; found && i < CLASSES; i++)
        found = take(module, names[i], &classes[i]);
    Py_DECREF(module);
    return found;
}

static PyObject *class_of(int error)
{
    if (error == VIDI_INVALID)
        return invalid_url;
    return error < 0 && -(long)error < (long)CLASSES ? classes[-error] : classes[0];
}

/* A sentence may contain bytes of the caller's that are not UTF-8, in a path for example. */
static PyObject *raise(PyObject *class, const char *sentence)
{
    PyObject *text = PyUnicode_DecodeUTF8(sentence, (Py_ssize_t)strlen(sentence), "backslashreplace");
    if (text) {
        PyErr_SetObject(class, text);
        Py_DECREF(text);
    }
    return NULL;
}

PyObject *vp_raise(int error)
{
    return error == VP_RAISED ? NULL : raise(class_of(error), vidi_message());
}

PyObject *vp_none(int error)
{
    return error < 0 ? vp_raise(error) : Py_NewRef(Py_None);
}

PyObject *vp_raise_on_server(int error)
{
    if (error == VP_RAISED)
        return NULL;
    return raise(error == VIDI_EIO ? server : class_of(error), vidi_cluster_message());
}

PyObject *vp_fail(const set_object *self, int error)
{
    if (error != VP_RAISED && error < VP_COPY_ERRORS)
        return vp_raise(error - VP_COPY_ERRORS);
    return self->is_on_server ? vp_raise_on_server(error) : vp_raise(error);
}

PyObject *vp_fail_or_none(const set_object *self, int error)
{
    return error < 0 ? vp_fail(self, error) : Py_NewRef(Py_None);
}

PyObject *vp_raise_absent(const set_object *self)
{
    return raise(absent, self->is_on_server ? vidi_cluster_message() : vidi_message());
}

PyObject *vp_raise_sentence(int error, const char *sentence)
{
    return raise(class_of(error), sentence);
}

PyObject *vp_raise_closed(void)
{
    return raise(closed, "the set is closed");
}

PyObject *vp_raise_forked(void)
{
    return raise(forked, "the set belongs to the parent process; open or make one in each process, after the fork");
}
