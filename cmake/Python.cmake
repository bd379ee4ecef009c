# The Python package. Target `vidi_python` puts it into the folder python/vidi of the build, from where it can be used:
# `PYTHONPATH=build/python python3 -c 'import vidi'`. Target `vidi_python_wheel` packs that folder together with the
# libraries that it needs (python/setup.py), and `vidi_python_venv` installs the wheel where the tests run. None of them
# belongs to target `all`: `make python` needs packages that `make` does not.
#
# Without Python's headers, VIDI_PYTHON_MISSING says why there is no package. VIDI_PYTHON_UNTESTED says why its tests
# cannot run: for that reason, or because Python lacks what packs, installs or runs them.
set(VIDI_PYTHON_MISSING "")
find_program(VIDI_PYTHON NAMES python3 PATHS /usr/bin NO_DEFAULT_PATH DOC "The Python that the package is built with")
set(asked "import importlib.util, sys, sysconfig"
    "sys.path.remove('')" # the working folder may have a folder called build
    "needs = ('setuptools', 'wheel', 'build', 'ensurepip', 'pytest')"
    "lacks = [name for name in needs if not importlib.util.find_spec(name)]"
    "print(sysconfig.get_path('include'), sysconfig.get_platform(), *lacks, sep='\;')")
list(JOIN asked "\n" asked)
if(VIDI_PYTHON AND NOT CMAKE_CROSSCOMPILING)
    execute_process(COMMAND ${VIDI_PYTHON} -B -c "${asked}" OUTPUT_VARIABLE answered OUTPUT_STRIP_TRAILING_WHITESPACE)
endif()
list(POP_FRONT answered python_headers python_platform)
list(JOIN answered ", " python_lacks)

file(GLOB extension_sources CONFIGURE_DEPENDS python/extension/*.c)
if(NOT VIDI_WITH_PYTHON)
    set(VIDI_PYTHON_MISSING "VIDI_WITH_PYTHON is off")
elseif(CMAKE_CROSSCOMPILING)
    set(VIDI_PYTHON_MISSING "this build is for another machine")
elseif(NOT VIDI_PYTHON)
    set(VIDI_PYTHON_MISSING "there is no /usr/bin/python3")
elseif(NOT EXISTS "${python_headers}/Python.h")
    set(VIDI_PYTHON_MISSING "there is no ${python_headers}/Python.h; Debian's package python3-dev has it")
elseif(NOT extension_sources)
    set(VIDI_PYTHON_MISSING "python/extension is empty")
endif()
set(VIDI_PYTHON_UNTESTED "${VIDI_PYTHON_MISSING}")
if(NOT VIDI_PYTHON_MISSING AND python_lacks)
    set(VIDI_PYTHON_UNTESTED "${VIDI_PYTHON} lacks ${python_lacks}")
    message(STATUS "The Python package is not tested: ${VIDI_PYTHON_UNTESTED}")
endif()
if(VIDI_PYTHON_MISSING)
    message(STATUS "No Python package: ${VIDI_PYTHON_MISSING}")
    add_custom_target(vidi_python_wheel VERBATIM COMMAND ${CMAKE_COMMAND} -E false
        COMMENT "The Python package cannot be built: ${VIDI_PYTHON_MISSING}")
    return()
endif()

set(python_folder ${PROJECT_BINARY_DIR}/python)

# ---- the package's own files ----

file(GLOB_RECURSE package_sources CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/python
    python/vidi/*.py python/vidi/*.pyi python/vidi/py.typed)
set(package_files "")
foreach(source ${package_sources})
    add_custom_command(OUTPUT ${python_folder}/${source} DEPENDS ${PROJECT_SOURCE_DIR}/python/${source}
        COMMAND ${CMAKE_COMMAND} -E copy ${PROJECT_SOURCE_DIR}/python/${source} ${python_folder}/${source} VERBATIM)
    list(APPEND package_files ${python_folder}/${source})
endforeach()
# A file that was renamed or removed must not stay in the package.
file(GLOB_RECURSE copies RELATIVE ${python_folder} ${python_folder}/vidi/*.py ${python_folder}/vidi/*.pyi)
list(REMOVE_ITEM copies ${package_sources})
foreach(copy ${copies})
    file(REMOVE ${python_folder}/${copy})
endforeach()
add_custom_target(vidi_python_files DEPENDS ${package_files})

# ---- the extension: uses only the public header of the library ----

# The wheel brings the libraries of the RPATH. It is a DT_RPATH, not a DT_RUNPATH, because only the former is searched also
# for what those libraries need in turn. libxxhash and libcrypto are linked in if there are static ones: they add 80 KB,
# and a libcrypto.so in the wheel would get in the way of the one that Python's own modules use.
add_library(vidi_python MODULE EXCLUDE_FROM_ALL ${extension_sources})
target_compile_definitions(vidi_python PRIVATE _GNU_SOURCE Py_LIMITED_API=0x030A0000) # as the tag cp310-abi3 says
target_include_directories(vidi_python PRIVATE include)
target_include_directories(vidi_python SYSTEM PRIVATE ${python_headers})
target_link_libraries(vidi_python PRIVATE vidi_flags $<TARGET_FILE:vidi_static> m Threads::Threads)
set(linked_in "")
foreach(library XXHASH CRYPTO ICU PSL)
    if(VIDI_WITH_${library})
        if(library MATCHES "XXHASH|CRYPTO")
            find_library(VIDI_STATIC_${library} NAMES lib${${library}_LIBRARIES}.a HINTS ${${library}_LIBRARY_DIRS})
            mark_as_advanced(VIDI_STATIC_${library})
        endif()
        if(VIDI_STATIC_${library})
            target_link_libraries(vidi_python PRIVATE ${VIDI_STATIC_${library}})
            string(APPEND linked_in "${VIDI_STATIC_${library}}\n")
        else()
            target_link_libraries(vidi_python PRIVATE PkgConfig::${library})
        endif()
    endif()
endforeach()
file(CONFIGURE OUTPUT ${python_folder}/linked_in.txt CONTENT "${linked_in}") # python/setup.py adds their licences
set(exports ${PROJECT_SOURCE_DIR}/python/extension/exports.map)
target_link_options(vidi_python PRIVATE LINKER:--version-script=${exports} LINKER:--disable-new-dtags)
set_target_properties(vidi_python PROPERTIES PREFIX "" OUTPUT_NAME _vidi SUFFIX .abi3.so LINK_DEPENDS ${exports}
    LIBRARY_OUTPUT_DIRECTORY ${python_folder}/vidi BUILD_RPATH "$ORIGIN/libraries")
add_dependencies(vidi_python vidi_static vidi_python_files)

# ---- the wheel, and the environment of the tests ----

string(REGEX REPLACE "[-.]" "_" python_platform "${python_platform}")
set(VIDI_WHEEL ${python_folder}/vidi-${PROJECT_VERSION}-cp310-abi3-${python_platform}.whl)
file(GLOB old_wheels ${python_folder}/*.whl)
list(REMOVE_ITEM old_wheels ${VIDI_WHEEL})
foreach(wheel ${old_wheels})
    file(REMOVE ${wheel})
endforeach()
set(packers ${PROJECT_SOURCE_DIR}/python/pyproject.toml ${PROJECT_SOURCE_DIR}/python/README.md ${PROJECT_SOURCE_DIR}/python/setup.py
    ${PROJECT_SOURCE_DIR}/python/carry.py ${PROJECT_SOURCE_DIR}/LICENSE)
set(quietly sh -c "\"$@\" >wheel.log 2>&1 || (cat wheel.log >&2 && false)" sh)
add_custom_command(OUTPUT ${VIDI_WHEEL} DEPENDS vidi_python ${package_files} ${packers}
    WORKING_DIRECTORY ${python_folder}
    COMMAND ${quietly} ${CMAKE_COMMAND} -E env VIDI_BUILD=${PROJECT_BINARY_DIR}
        ${VIDI_PYTHON} -B -m build --wheel --no-isolation --outdir ${python_folder} ${PROJECT_SOURCE_DIR}/python
    COMMENT "Packing the Python package" VERBATIM)
add_custom_target(vidi_python_wheel DEPENDS ${VIDI_WHEEL})

# --system-site-packages: Scrapy and pytest are Debian's.
set(VIDI_VENV ${python_folder}/venv)
add_custom_command(OUTPUT ${VIDI_VENV}/bin/python
    COMMAND ${VIDI_PYTHON} -m venv --clear --system-site-packages ${VIDI_VENV} VERBATIM)
add_custom_command(OUTPUT ${VIDI_VENV}/installed DEPENDS ${VIDI_VENV}/bin/python ${VIDI_WHEEL}
    COMMAND ${VIDI_VENV}/bin/python -m pip --quiet --disable-pip-version-check
        install --no-index --no-deps --force-reinstall ${VIDI_WHEEL}
    COMMAND ${CMAKE_COMMAND} -E touch ${VIDI_VENV}/installed
    COMMENT "Installing the Python package for the tests" VERBATIM)
add_custom_target(vidi_python_venv DEPENDS ${VIDI_VENV}/installed)
