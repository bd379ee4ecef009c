#!/bin/bash
# A build prints nothing when it succeeds, and prints what is wrong when it fails.
# shellcheck source=tap.bash
. "$(dirname "$0")/tap.bash"

# A project of two files, built by the same script.
mkdir "$tmp/tools"
cp "$VIDI_SOURCE/tools/build.sh" "$tmp/tools"
cat >"$tmp/CMakeLists.txt" <<'CODE'
cmake_minimum_required(VERSION 3.25)
project(small LANGUAGES C)
add_executable(small one.c two.c)
target_compile_options(small PRIVATE -Wall)
CODE
cat >"$tmp/CMakePresets.json" <<'CODE'
{
    "version": 6,
    "configurePresets": [{ "name": "release", "generator": "Ninja", "binaryDir": "${sourceDir}/build" }],
    "buildPresets": [{ "name": "release", "configurePreset": "release" }]
}
CODE
echo 'int main(void) { return 0; }' >"$tmp/one.c"
echo 'int two(void) { return 2; }' >"$tmp/two.c"

is_quiet() {
    "$tmp/tools/build.sh" release >"$tmp/output" 2>&1 || return 1
    cat "$tmp/output"
    [ ! -s "$tmp/output" ] && [ -x "$tmp/build/small" ]
}

says() {
    "$tmp/tools/build.sh" release >"$tmp/output" 2>&1
    [ $? -eq "$1" ] && grep -qF "$2" "$tmp/output" && return
    cat "$tmp/output"
    return 1
}

check "the first build prints nothing" is_quiet
check "and so does a build with nothing to do" is_quiet
echo 'int two(void) { int unused; return 2; }' >"$tmp/two.c"
check "a warning is shown" says 0 "unused variable"
echo 'int two(void) { return wrong; }' >"$tmp/two.c"
check "an error is shown, and the build fails" says 1 "two.c:1:24: error"
echo 'add_executable(none none.c)' >>"$tmp/CMakeLists.txt"
check "so is an error of the configuration" says 1 "none.c"
finish
