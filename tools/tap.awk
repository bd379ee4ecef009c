# Reads the output of one or more runs of `ctest -V`. Prints a line for each test, the output of those that failed, and
# at the end the sum of all TAP lines: "N passed, N failed, N skipped". The exit status is 1 if anything failed or
# nothing ran.
#
# Lines of a test begin with its number ("12: ok 3 - name"), and "4/20 Test #12: ... Passed" ends it. tools/test.sh
# prints "== NAME" before each run and "== NAME ended STATUS" after it.

# Keeps a test's output, except "ok" lines, until its result is known. The build's LastTest.log has all of it.
function remember(id, line) {
    if (++lines[id] <= 200)
        output[id] = output[id] "    " line "\n"
    else if (lines[id] == 201)
        output[id] = output[id] "    ... more in Testing/Temporary/LastTest.log of the build\n"
}

/^[0-9]+: / {
    id = $1 + 0
    line = substr($0, index($0, ": ") + 2)
    if (line ~ /^(Test command|Working Directory|Environment variables|Test timeout)/ || line ~ /^ [A-Z_]+=/)
        next # printed by ctest, not by the test
    if (line !~ /^ok [0-9]/ && line !~ /# *[Ss][Kk][Ii][Pp]/)
        remember(id, line)
    if (line ~ /^1\.\.0/)
        skipped_in[id]++
    else if (line ~ /^1\.\.[0-9]+/)
        planned[id] += substr(line, 4) + 0
    else if (line ~ /^(not )?ok [0-9].*# *[Ss][Kk][Ii][Pp]/) # cmocka prints "not ok 2 # SKIP name"
        skipped_in[id]++
    else if (line ~ /^ok [0-9]/)
        passed_in[id]++
    else if (line ~ /^(not ok [0-9]|Bail out!)/)
        failed_in[id]++
    next
}

/^ *[0-9]+\/[0-9]+ Test +#[0-9]+: / {
    id = $0
    sub(/^[^#]*#/, "", id)
    id += 0
    name = $0
    sub(/^[^#]*#[0-9]+: */, "", name)
    sub(/ .*/, "", name)
    seconds = $(NF - 1)
    fate = ""
    if ($0 !~ /   Passed /) { # crashed, timed out, not found, or exit code not 0
        fate = $0
        sub(/^[^#]*#[0-9]+: *[^ ]+ *\.*/, "", fate)
        sub(/:? +[0-9.]+ sec.*/, "", fate)
        gsub(/ *\*\*\*/, " ", fate)
        sub(/^ /, "", fate)
    }

    # Tests that were planned but never ran count as failed. So does a program that failed without a "not ok" line.
    reported = passed_in[id] + failed_in[id] + skipped_in[id]
    if (planned[id] > reported)
        failed_in[id] += planned[id] - reported
    if (!failed_in[id] && (fate || !reported)) {
        failed_in[id]++
        if (!fate)
            fate = "no TAP"
    }

    result = passed_in[id] + 0 " passed"
    if (failed_in[id])
        result = result ", " failed_in[id] " failed" (fate ? " (" fate ")" : "")
    if (skipped_in[id])
        result = result ", " skipped_in[id] " skipped"
    printf "%-32s %8s s   %s\n", name, seconds, result
    if (failed_in[id])
        printf "%s", output[id]
    fflush()

    passed += passed_in[id]
    failed += failed_in[id]
    skipped += skipped_in[id]
    ran++
    delete output[id]
    delete lines[id]
    delete planned[id]
    delete passed_in[id]
    delete failed_in[id]
    delete skipped_in[id]
    next
}

# A step of tools/lint.sh. Comments say why it failed. In the other runs, such lines are those of a test that failed: ctest
# prints them a second time, without the test's number.
part == "lint" && /^(not )?ok [0-9]+ - / {
    fine = $1 == "ok"
    name = $0
    sub(/^(not )?ok [0-9]+ - /, "", name)
    printf "%-44s   %s\n", name, fine ? "1 passed" : "1 failed"
    fflush()
    passed += fine
    failed += !fine
    ran++
    next
}

part == "lint" && /^# / {
    print "   " substr($0, 2)
    next
}

/^== .* ended [0-9]+$/ {
    if ($NF != 0 && failed == failed_before) { # not built, or ctest found nothing to run
        failed++
        print
    }
    failed_before = failed
    next
}

/^== / {
    part = $2
    print
    fflush()
}

END {
    if (!ran)
        failed++
    printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped
    exit failed > 0
}
