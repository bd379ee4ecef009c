# Sourced by tests that run public suites from $VIDI_TESTDATA/conformance through a program, one line of TAP a suite.
#
# run_suites PROGRAM EXCEPTIONS SUITES: SUITES has a line NAME=FILE for each suite. PROGRAM is called with the name, the
# list of exceptions and a folder, and reads the data from standard input. Its last line is the summary; "absent" on a
# line of its own means that this build lacks what the suite needs. Ends the script.
#
# unpack FILE FOLDER: prints the data of a suite. A script may define its own, which may also leave files in FOLDER.
# shellcheck shell=bash

unpack() {
    case $1 in
    *.zst) zstd -dc "$1" ;;
    *) cat "$1" ;;
    esac
}

run_suites() {
    local program=$1 exceptions=$2 suites=$3 number=0 failed=0 entry suite file work
    work=$(mktemp -d) || exit 1
    # shellcheck disable=SC2064 # the folder is known now
    trap "rm -rf '$work'" EXIT
    echo "1..$(echo "$suites" | wc -l)"
    for entry in $suites; do
        number=$((number + 1))
        suite=${entry%%=*}
        file=${VIDI_TESTDATA:-}/conformance/${entry#*=}
        if [ -z "${VIDI_TESTDATA:-}" ] || [ ! -r "$file" ]; then
            echo "ok $number - $suite # SKIP no test data"
        elif ! unpack "$file" "$work" >"$work/data"; then
            echo "not ok $number - $suite cannot be unpacked"
            failed=1
        elif ! "$program" "$suite" "$exceptions" "$work" <"$work/data" >"$work/answer"; then
            echo "not ok $number - $suite: $(tail -n 1 "$work/answer")"
            head -n 40 "$work/answer" | sed 's/^/# /'
            failed=1
        elif grep -qx absent "$work/answer"; then
            echo "ok $number - $suite # SKIP this build has no ICU"
        else
            echo "ok $number - $suite: $(tail -n 1 "$work/answer")"
        fi
    done
    exit $failed
}
