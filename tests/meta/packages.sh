#!/bin/bash
# make installs packages only if some are missing, says which, and installs none with VIDI_INSTALL=no. The programs that
# tools/packages calls are replaced: apt-get writes down its arguments.
# shellcheck source=tap.bash
. "$(dirname "$0")/tap.bash"

mkdir "$tmp/bin"
export PATH=$tmp/bin:$PATH
# program NAME LINE: replaces a program by a line of shell.
program() {
    printf '#!/bin/sh\n%s\n' "$2" >"$tmp/bin/$1"
    chmod +x "$tmp/bin/$1"
}

# run [NAME=VALUE]: calls it with these variables.
run() {
    rm -f "$tmp/called"
    env "$@" "$VIDI_SOURCE/tools/packages" build >"$tmp/output" 2>&1
    local status=$?
    cat "$tmp/output"
    return $status
}

# The last word of the command that it prints or runs.
command_line='apt-get install .* libdeflate-dev'

prints_nothing() {
    run && [ ! -s "$tmp/output" ] && [ ! -e "$tmp/called" ]
}

installs() {
    run && grep -q "^    $command_line" "$tmp/output" && grep -q "^${command_line#apt-get }" "$tmp/called"
}

only_says_so() {
    run VIDI_INSTALL=no && grep -q "^    $command_line" "$tmp/output" && [ ! -e "$tmp/called" ]
}

refuses() {
    ! run && grep -q "^    sudo $command_line" "$tmp/output" && [ ! -e "$tmp/called" ]
}

program apt-get "echo \"\$@\" >>'$tmp/called'"
program id 'echo 0'
program dpkg-query 'echo "ii "'
check "nothing is missing: nothing is printed or installed" prints_nothing
program dpkg-query 'exit 1'
check "missing packages are named and installed" installs
check "with VIDI_INSTALL=no they are only named" only_says_so
program id 'echo 1000'
program sudo 'exit 1'
check "without root and sudo, the command is printed and make fails" refuses
finish
