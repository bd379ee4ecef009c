# What the program is built with, for the lab's reports: the compiler, and the libraries whose speed or results matter.
# Include it after the libraries were found.
set(libraries "")
foreach(pair "xxHash:${XXHASH_VERSION}" "OpenSSL:${CRYPTO_VERSION}" "ICU:${ICU_VERSION}" "libpsl:${PSL_VERSION}"
        "SQLite:${CRAWL_sqlite3_VERSION}")
    string(REGEX REPLACE ":.*" "" name ${pair})
    string(REGEX REPLACE "[^:]*:" "" version_found ${pair})
    if(NOT version_found STREQUAL "")
        list(APPEND libraries "${name} ${version_found}")
    endif()
endforeach()
list(JOIN libraries ", " libraries)
set(libraries_source ${PROJECT_BINARY_DIR}/libraries.c)
file(CONFIGURE OUTPUT ${libraries_source} @ONLY CONTENT
"/* Made by cmake/Libraries.cmake. */
extern const char *const cli_compiler;
extern const char *const cli_libraries;
const char *const cli_compiler = \"@CMAKE_C_COMPILER_ID@ @CMAKE_C_COMPILER_VERSION@, @CMAKE_BUILD_TYPE@\";
const char *const cli_libraries = \"@libraries@\";
")
