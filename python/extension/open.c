/* Making and opening sets: what the arguments of vidi.Set(...) say. */
#include "extension.h"

#include <string.h>

bool vp_path(PyObject *object, PyObject **path)
{
    *path = NULL;
    return !object || object == Py_None || PyUnicode_FSConverter(object, path);
}

int vp_set_init(PyObject *self, PyObject *args, PyObject *keywords)
{
    static const char *const names[] = {"path", NULL};
    vidi_options options = VIDI_OPTIONS_INIT;
    vidi_access access = VIDI_ACCESS_INIT;
    PyObject *path_object = NULL, *path;
    vidi_set *set;
    int error;

    if (!PyArg_ParseTupleAndKeywords(args, keywords, "|O:Set", (char **)names, &path_object) ||
        !vp_path(path_object, &path))
        return -1;
    options.path = path ? PyBytes_AsString(path) : NULL;
    options.access = &access;
    VP_RELEASED(error = options.path ? vidi_open_or_create(&set, &options) : vidi_create(&set, &options));
    bool done = error < 0 ? vp_raise_opening(error) != NULL : vp_adopt((set_object *)self, set, options.path, &access);
    Py_XDECREF(path);
    return done ? 0 : -1;
}
