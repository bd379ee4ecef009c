# Finds the optional libraries. Each has an option VIDI_WITH_NAME: with AUTO, a library that is not installed is left out,
# and a line says what vidi lacks without it; with ON it is an error; with OFF it is not searched for. Afterwards the
# option is ON or OFF, and PkgConfig::NAME can be linked with.
set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)
find_package(PkgConfig QUIET)

set(packages_found "")

# vidi_library(NAME WHAT PACKAGE...): PACKAGE is a name for pkg-config, with a version if one is needed.
macro(vidi_library name what)
    set(VIDI_WITH_${name} AUTO CACHE STRING "${what} (needs ${ARGN}): AUTO, ON or OFF")
    set_property(CACHE VIDI_WITH_${name} PROPERTY STRINGS AUTO ON OFF)
    if(VIDI_WITH_${name})
        if(${name} STREQUAL BZIP2) # some systems have no pkg-config file for it
            find_package(BZip2 QUIET)
        elseif(PkgConfig_FOUND)
            pkg_check_modules(${name} QUIET IMPORTED_TARGET ${ARGN})
        endif()
        if(${name}_FOUND)
            set(VIDI_WITH_${name} ON)
            list(APPEND packages_found ${ARGN})
        elseif(VIDI_WITH_${name} STREQUAL AUTO)
            message(STATUS "Without ${what}: ${ARGN} not found")
            set(VIDI_WITH_${name} OFF)
        else()
            message(FATAL_ERROR "VIDI_WITH_${name} is ON, but ${ARGN} was not found")
        endif()
    endif()
endmacro()

# The library's own. Those that are found are named in vidi.pc and in vidi-config.cmake.
vidi_library(XXHASH "the hash function xxh3" libxxhash)
vidi_library(CRYPTO "the hash functions md5 and sha1" libcrypto)
vidi_library(ICU "internationalised hosts in URLs" icu-uc)
vidi_library(PSL "registrable domains, for key=site" libpsl)
set(vidi_requires ${packages_found})
if(vidi_requires)
    pkg_check_modules(VIDI_REQUIRES REQUIRED QUIET IMPORTED_TARGET ${vidi_requires})
endif()
if(NOT VIDI_PROGRAMS)
    return()
endif()

# The programs'. libcurl is loaded at run time (crawler/fetch/libcurl.h), so only its headers are needed.
vidi_library(ZLIB "input compressed with gzip" zlib)
vidi_library(ZSTD "input and pages compressed with zstd" libzstd)
vidi_library(BROTLI "pages compressed with brotli" libbrotlidec)
vidi_library(LZMA "input compressed with xz" liblzma)
vidi_library(BZIP2 "input compressed with bzip2" libbz2)
vidi_library(CRAWL "the crawler, and a database in the lab" sqlite3>=3.35 libdeflate zlib libcrypto libcurl>=7.85)
if(VIDI_WITH_CRAWL)
    pkg_check_modules(CRAWL_LINKED REQUIRED QUIET IMPORTED_TARGET sqlite3>=3.35 libdeflate zlib libcrypto)
    pkg_check_modules(SQLITE REQUIRED QUIET IMPORTED_TARGET sqlite3>=3.35)
endif()
