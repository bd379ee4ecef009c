# Completion of vidi for bash. Made by tools/completions.sh from the help texts; not to be changed by hand.
# shellcheck shell=bash disable=SC2207

# The words of which one may be the value of an option; FILE and FOLDER stand for all there are.
_vidi_values() {
    case $1 in
    dedup:-s | dedup:--state) echo "FOLDER" ;;
    dedup:--like) echo "FOLDER" ;;
    dedup:--print) echo "line url canonical verdict" ;;
    dedup:-f | dedup:--field) echo "ANY" ;;
    dedup:-d | dedup:--delimiter) echo "ANY" ;;
    dedup:--json-key) echo "ANY" ;;
    dedup:--canon) echo "none whatwg crawl surt key=host key=site" ;;
    dedup:--key) echo "url host site" ;;
    dedup:--tracking) echo "FILE" ;;
    dedup:--invalid) echo "keep drop fail" ;;
    dedup:--capacity) echo "ANY" ;;
    dedup:--lost) echo "ANY" ;;
    dedup:--memory) echo "ANY" ;;
    dedup:--error) echo "ANY" ;;
    dedup:--kind) echo "fingerprint blocked scalable classic counting multilayer eigen spatial hashset sorted list" ;;
    dedup:--param) echo "ANY" ;;
    dedup:--epoch) echo "new" ;;
    dedup:--sync) echo "always everysec never" ;;
    dedup:--threads) echo "ANY" ;;
    dedup:--color) echo "auto always never" ;;
    has:--print) echo "line url canonical verdict" ;;
    has:-f | has:--field) echo "ANY" ;;
    has:-d | has:--delimiter) echo "ANY" ;;
    has:--json-key) echo "ANY" ;;
    has:--invalid) echo "keep drop fail" ;;
    has:--threads) echo "ANY" ;;
    remove:-f | remove:--field) echo "ANY" ;;
    remove:-d | remove:--delimiter) echo "ANY" ;;
    remove:--json-key) echo "ANY" ;;
    remove:--invalid) echo "keep drop fail" ;;
    canon:--canon) echo "none whatwg crawl surt key=host key=site" ;;
    canon:--tracking) echo "FILE" ;;
    canon:--base) echo "ANY" ;;
    canon:--invalid) echo "keep drop fail" ;;
    plan:--urls) echo "ANY" ;;
    plan:--memory) echo "ANY" ;;
    plan:--error) echo "ANY" ;;
    plan:--lost) echo "ANY" ;;
    plan:--k) echo "ANY" ;;
    plan:--multiplier) echo "ANY" ;;
    plan:--kind) echo "fingerprint blocked scalable classic counting multilayer eigen spatial hashset sorted list" ;;
    plan:--param) echo "ANY" ;;
    plan:--url-bytes) echo "ANY" ;;
    plan:--color) echo "auto always never" ;;
    top:-s | top:--state) echo "FOLDER" ;;
    top:--color) echo "auto always never" ;;
    rotate:--kind) echo "fingerprint blocked scalable classic counting multilayer eigen spatial hashset sorted list" ;;
    rotate:--param) echo "ANY" ;;
    rotate:--capacity) echo "ANY" ;;
    rotate:--error) echo "ANY" ;;
    bench:--urls) echo "ANY" ;;
    bench:--kind) echo "fingerprint blocked scalable classic counting multilayer eigen spatial hashset sorted list" ;;
    lab:--runs) echo "ANY" ;;
    lab:--urls) echo "ANY" ;;
    lab:--seed) echo "ANY" ;;
    lab:--threads) echo "ANY" ;;
    lab:--corpus) echo "FILE" ;;
    lab:-o | lab:--output) echo "FILE" ;;
    lab:--plots) echo "FOLDER" ;;
    lab:--run) echo "ANY" ;;
    lab:--kind) echo "fingerprint blocked scalable classic counting multilayer eigen spatial hashset sorted list" ;;
    lab:--hash) echo "ANY" ;;
    lab:--k) echo "ANY" ;;
    lab:--multiplier) echo "ANY" ;;
    lab:--filters) echo "ANY" ;;
    lab:--crawls) echo "ANY" ;;
    esac
}

_vidi_options() {
    case $1 in
    dedup)
        echo "-s --state --wait --like -n --dry-run -D --seen -c --count --print -z --null -f --field
            -d --delimiter --header --json-key --canon --key --tracking --invalid --capacity --lost --memory
            --error --kind --param --epoch --sync --strict --threads --line-buffered --stats --json
            --progress -q --quiet --color --version -h --help"
        ;;
    has)
        echo "-v --invert -q --quiet --print -z --null -f --field -d --delimiter --header --json-key --invalid
            --threads --line-buffered --stats --json -h --help"
        ;;
    remove)
        echo "-z --null -f --field -d --delimiter --header --json-key --invalid --wait --stats --json
            -q --quiet -h --help"
        ;;
    list)
        echo "--hashes --json -z --null -h --help"
        ;;
    canon)
        echo "--canon --tracking --base --rules --explain --json --invalid --stats -h --help"
        ;;
    plan)
        echo "--urls --memory --error --lost --k --multiplier --kind --param --url-bytes --json --plot
            --no-plot --color -h --help"
        ;;
    kinds)
        echo "--json -h --help"
        ;;
    info)
        echo "--json -h --help"
        ;;
    top)
        echo "-s --state --once --json --color -h --help"
        ;;
    check)
        echo "-q --quiet -h --help"
        ;;
    rotate)
        echo "--kind --param --capacity --error --keep-previous --wait -h --help"
        ;;
    merge)
        echo "--wait -h --help"
        ;;
    snapshot)
        echo "--wait -h --help"
        ;;
    export)
        echo "-h --help"
        ;;
    import)
        echo "-h --help"
        ;;
    bench)
        echo "--urls --kind --json -h --help"
        ;;
    lab)
        echo "--runs --urls --seed --threads --corpus --fresh --csv --json --raw -o --output --plots --run
            --kind --hash --k --multiplier --filters --crawls --incremental --shuffled -h --help"
        ;;
    version)
        echo "-h --help"
        ;;
    help)
        echo "-h --help"
        ;;
    esac
}

_vidi_operands() {
    case $1 in
    dedup) echo "FILE" ;;
    has) echo "FILE" ;;
    remove) echo "FILE" ;;
    list) echo "FILE" ;;
    canon) echo "FILE" ;;
    plan) echo "NONE" ;;
    kinds) echo "NONE" ;;
    info) echo "FILE" ;;
    top) echo "FILE" ;;
    check) echo "FILE" ;;
    rotate) echo "FILE" ;;
    merge) echo "FILE" ;;
    snapshot) echo "FILE" ;;
    export) echo "FILE" ;;
    import) echo "FILE" ;;
    bench) echo "FILE" ;;
    lab) echo "NONE" ;;
    version) echo "NONE" ;;
    help) echo "dedup has remove list canon plan kinds info top check rotate merge snapshot export import bench lab version help" ;;
    esac
}

_vidi() {
    local commands="dedup has remove list canon plan kinds info top check rotate merge snapshot export import bench lab version help"
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} command=dedup words
    COMPREPLY=()
    if [ "$COMP_CWORD" -gt 1 ] && [[ " $commands " == *" ${COMP_WORDS[1]} "* ]]; then
        command=${COMP_WORDS[1]}
    fi
    if [ "$cur" = = ]; then # --name=value is three words
        cur=
    elif [ "$prev" = = ] && [ "$COMP_CWORD" -gt 2 ]; then
        prev=${COMP_WORDS[COMP_CWORD - 2]}
    fi
    words=$(_vidi_values "$command:$prev")
    if [ -z "$words" ] && [[ $cur == -* ]]; then
        words=$(_vidi_options "$command")
    elif [ -z "$words" ]; then
        words=$(_vidi_operands "$command")
        if [ "$COMP_CWORD" -eq 1 ]; then
            COMPREPLY=($(compgen -W "$commands" -- "$cur"))
        fi
    fi
    case $words in
    ANY | NONE) ;;
    FILE)
        compopt -o filenames 2> /dev/null
        mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "$cur")
        ;;
    FOLDER)
        compopt -o filenames 2> /dev/null
        mapfile -t COMPREPLY < <(compgen -d -- "$cur")
        ;;
    *) COMPREPLY=($(compgen -W "$words" -- "$cur")) ;;
    esac
}

complete -F _vidi vidi
