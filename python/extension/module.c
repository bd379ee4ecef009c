/* The module vidi._vidi: the package vidi takes its names from here. */
#include "extension.h"

/* The classes and the counter of forks exist once in a process, so another interpreter would share them. */
static bool is_main_interpreter(void)
{
    if (PyInterpreterState_GetID(PyInterpreterState_Get()) == 0)
        return true;
    PyErr_SetString(PyExc_ImportError, "vidi works in the main interpreter only, not in sub-interpreters");
    return false;
}

static PyMethodDef close_all = {"_close_all", vp_close_all, METH_NOARGS, "Close all sets in folders."};

/* Sets that are still open at the end of the process are closed while threads and modules are all there. */
static bool close_at_exit(PyObject *module)
{
    static bool is_registered;
    PyObject *function = is_registered ? NULL : PyCFunction_New(&close_all, module);
    PyObject *atexit = function ? PyImport_ImportModule("atexit") : NULL;
    PyObject *done = atexit ? PyObject_CallMethod(atexit, "register", "O", function) : NULL;
    is_registered = is_registered || done;
    Py_XDECREF(done);
    Py_XDECREF(atexit);
    Py_XDECREF(function);
    return is_registered;
}

static PyObject *cpu(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(none))
{
    return PyUnicode_FromString(vidi_cpu());
}

static const PyMethodDef own_functions[] = {
    {"cpu", cpu, METH_NOARGS,
     "cpu($module, /)\n--\n\nReturn the instruction set in use, such as 'avx512'. The environment variable VIDI_CPU "
     "narrows it."},
    {0},
};

static bool add_functions(PyObject *module)
{
    static const PyMethodDef *const tables[] = {own_functions, vp_url_functions, vp_plan_functions, vp_meter_functions};
    for (size_t t = 0; t < sizeof tables / sizeof *tables; t++)
        if (PyModule_AddFunctions(module, (PyMethodDef *)tables[t]) < 0)
            return false;
    return true;
}

static int execute(PyObject *module)
{
    bool done = is_main_interpreter() && vp_errors_init() && vp_fork_init() && vp_iterate_init() && vp_new_init() &&
                vp_set_type_init(module) && add_functions(module) && close_at_exit(module);

    return done && PyModule_AddStringConstant(module, "version", vidi_version()) == 0 ? 0 : -1;
}

static PyModuleDef_Slot slots[] = {{Py_mod_exec, execute}, {0, NULL}};

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, .m_name = "vidi._vidi",
                                        .m_doc = "The C part of the package vidi.", .m_slots = slots};

PyMODINIT_FUNC PyInit__vidi(void);

PyMODINIT_FUNC PyInit__vidi(void)
{
    return PyModuleDef_Init(&definition);
}
