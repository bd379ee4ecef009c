# Warnings, hardening and instrumentation for all targets of this project: link with `vidi_flags`.
include(CheckCCompilerFlag)
include(CheckPIESupported)
check_pie_supported(LANGUAGES C)
if(VIDI_STATIC) # objects are compiled as usual, so the programs run the same code
    set(CMAKE_C_LINK_OPTIONS_PIE -static -no-pie)
endif()

add_library(vidi_flags INTERFACE)

set(warnings
    -Wall -Wextra -Wconversion -Wsign-conversion -Wformat=2 -Wundef -Wvla
    -Wstrict-prototypes -Wmissing-prototypes -Wold-style-definition -Wpointer-arith -Wwrite-strings
    -Wimplicit-fallthrough)
if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
    list(APPEND warnings -Wshadow=local -Wlogical-op -Wduplicated-cond -Wduplicated-branches -Wjump-misses-init)
endif()
target_compile_options(vidi_flags INTERFACE ${warnings} $<$<BOOL:${VIDI_WERROR}>:-Werror>)

# Hardening. _FORTIFY_SOURCE works only in optimised builds, and interferes with the sanitizers, which are Debug builds.
target_compile_options(vidi_flags INTERFACE -fstack-protector-strong
    "$<$<CONFIG:Release,RelWithDebInfo,MinSizeRel>:-U_FORTIFY_SOURCE;-D_FORTIFY_SOURCE=2>")
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86|amd64|AMD64|i.86")
    set(processor_flags -fstack-clash-protection -fcf-protection)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
    set(processor_flags -fstack-clash-protection -mbranch-protection=standard)
endif()
foreach(flag ${processor_flags})
    string(MAKE_C_IDENTIFIER "have${flag}" have)
    check_c_compiler_flag(${flag} ${have})
    if(${have})
        target_compile_options(vidi_flags INTERFACE ${flag})
    endif()
endforeach()
target_link_options(vidi_flags INTERFACE LINKER:-z,relro,-z,now,-z,noexecstack)

if(VIDI_SANITIZE)
    set(sanitize -fsanitize=${VIDI_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
    target_compile_options(vidi_flags INTERFACE ${sanitize})
    target_link_options(vidi_flags INTERFACE ${sanitize})
endif()
if(VIDI_FUZZ)
    # libFuzzer's feedback. Only the fuzz targets are linked with its main().
    target_compile_options(vidi_flags INTERFACE -fsanitize=fuzzer-no-link)
    target_link_options(vidi_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()
if(VIDI_COVERAGE)
    target_compile_options(vidi_flags INTERFACE --coverage -fprofile-update=atomic)
    target_link_options(vidi_flags INTERFACE --coverage)
endif()
