#!/bin/bash
# Writes the completions for bash, zsh and fish, from what the program's help says: completions/vidi.bash, _vidi and
# vidi.fish. They are committed, and a test compares them with what this would write.
#
#   completions.sh VIDI FOLDER      VIDI is the program, FOLDER where the three files go
set -eu
export LC_ALL=C

vidi=${1:?usage: completions.sh VIDI FOLDER}
to=${2:?usage: completions.sh VIDI FOLDER}
mkdir -p "$to"

mapfile -t commands < <("$vidi" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p')
kinds=$("$vidi" kinds --json | grep -oE '"kind":"[a-z]+"' | cut -d'"' -f4 | tr '\n' ' ')
kinds=${kinds% }

# options COMMAND: a line for each option: letter, name, value, summary, with tabs between; '-' for what there is not.
options() {
    "$vidi" "$1" --help | awk '
        function out() {
            if (name == "")
                return
            sub(/^ +/, "", text)
            end = match(text, /\.( [A-Z'"'"']|$)/)
            print letter "\t" name "\t" value "\t" (end ? substr(text, 1, end - 1) : text)
            name = ""
        }
        /^Options:/ { inside = 1; next }
        inside && /^$/ { inside = 0 }
        !inside { next }
        /^  (-.,|   ) --/ {
            out()
            letter = substr($0, 3, 1) == "-" ? substr($0, 4, 1) : "-"
            split(substr($0, 7), words, " ")
            name = substr(words[1], 3)
            value = words[2] == "" ? "-" : words[2]
            text = ""
            next
        }
        { sub(/^ +/, ""); text = text " " $0 }
        END { out() }'
}

summary() {
    "$vidi" --help | sed -n "/^Commands:/,/^\$/s/^  $1  *//p"
}

# words COMMAND OPTION: what its value can be; FILE and FOLDER stand for all there are, nothing for anything.
words() {
    case $2 in
    state | like | plots) echo FOLDER ;;
    tracking | output | corpus) echo FILE ;;
    kind) echo "$kinds" ;;
    canon) echo "none whatwg crawl surt key=host key=site" ;;
    key) echo "url host site" ;;
    invalid) echo "keep drop fail" ;;
    print) echo "line url canonical verdict" ;;
    color) echo "auto always never" ;;
    sync) echo "always everysec never" ;;
    epoch) echo "new" ;;
    esac
}

# operands COMMAND: likewise, of what follows the options; NONE if there is nothing to follow.
operands() {
    case $("$vidi" "$1" --help | head -n 1) in
    *COMMAND\]) echo "${commands[*]}" ;;
    *FILE* | *STATE* | *OUT*) echo FILE ;;
    *) echo NONE ;;
    esac
}

note='Made by tools/completions.sh from the help texts; not to be changed by hand.'

bash_file() {
    local command letter name value text list
    cat <<CODE
# Completion of vidi for bash. $note
# shellcheck shell=bash disable=SC2207

# The words of which one may be the value of an option; FILE and FOLDER stand for all there are.
_vidi_values() {
    case \$1 in
CODE
    for command in "${commands[@]}"; do
        while IFS=$'\t' read -r letter name value text; do
            [ "$value" != - ] || continue
            [ "$letter" = - ] || printf '    %s:-%s | %s:--%s) echo "%s" ;;\n' "$command" "$letter" "$command" "$name" \
                "$(list=$(words "$command" "$name") && echo "${list:-ANY}")"
            [ "$letter" != - ] || printf '    %s:--%s) echo "%s" ;;\n' "$command" "$name" \
                "$(list=$(words "$command" "$name") && echo "${list:-ANY}")"
        done < <(options "$command")
    done
    cat <<'CODE'
    esac
}

_vidi_options() {
    case $1 in
CODE
    for command in "${commands[@]}"; do
        printf '    %s)\n        echo "' "$command"
        options "$command" | awk -F '\t' '{
            word = ($1 == "-" ? "" : "-" $1 " ") "--" $2
            if (n && length(line word) > 96) { printf "%s\n            ", line; line = "" }
            line = line (line == "" ? "" : " ") word
            n++
        }
        END { printf "%s\"\n        ;;\n", line }'
    done
    cat <<'CODE'
    esac
}

_vidi_operands() {
    case $1 in
CODE
    for command in "${commands[@]}"; do
        printf '    %s) echo "%s" ;;\n' "$command" "$(operands "$command")"
    done
    cat <<CODE
    esac
}

_vidi() {
    local commands="${commands[*]}"
CODE
    cat <<'CODE'
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
CODE
}

# What zsh takes for the value of an option, or for operands.
zsh_action() {
    case $1 in
    FILE) echo '_files' ;;
    FOLDER) echo '_files -/' ;;
    '') echo ' ' ;;
    *) echo "($1)" ;;
    esac
}

# In brackets, in single quotes, before colons.
zsh_quote() {
    sed -e "s/'/'\\\\''/g" -e 's/[][]/\\&/g' -e 's/:/\\:/g'
}

zsh_file() {
    local command letter name value text spec repeat rest
    cat <<CODE
#compdef vidi
# Completion of vidi for zsh. $note

_vidi() {
    local -a commands
    commands=(
CODE
    for command in "${commands[@]}"; do
        printf "        '%s:%s'\n" "$command" "$(summary "$command" | sed -e "s/'/'\\\\''/g" -e 's/:/\\:/g')"
    done
    cat <<'CODE'
    )
    local command=dedup
    if (( CURRENT > 2 )) && (( ${commands[(I)${words[2]}:*]} )); then
        command=$words[2]
        shift words
        (( CURRENT-- ))
    elif (( CURRENT == 2 )) && [[ $PREFIX != -* ]]; then
        _describe -t commands 'command' commands
    fi
    case $command in
CODE
    for command in "${commands[@]}"; do
        printf '    %s)\n        _arguments -s -S \\\n' "$command"
        while IFS=$'\t' read -r letter name value text; do
            text=$(zsh_quote <<< "$text")
            spec=''
            [ "$value" = - ] || spec=":$value:$(zsh_action "$(words "$command" "$name")")"
            repeat=''
            [ "$name" != param ] || repeat='*'
            if [ "$letter" != - ] && [ "$value" = - ]; then
                printf "            '(-%s --%s)'{-%s,--%s}'[%s]' \\\\\n" "$letter" "$name" "$letter" "$name" "$text"
            elif [ "$letter" != - ]; then
                printf "            '(-%s --%s)'{-%s+,--%s=}'[%s]%s' \\\\\n" "$letter" "$name" "$letter" "$name" "$text" \
                    "$spec"
            else
                printf "            '%s--%s%s[%s]%s' \\\\\n" "$repeat" "$name" "${spec:+=}" "$text" "$spec"
            fi
        done < <(options "$command")
        rest=$(operands "$command")
        case $rest in
        NONE) printf "            && return\n" ;;
        FILE) printf "            '*:file:_files' && return\n" ;;
        *) printf "            '1:command:(%s)' && return\n" "$rest" ;;
        esac
        printf '        ;;\n'
    done
    cat <<'CODE'
    esac
}

_vidi "$@"
CODE
}

fish_quote() {
    sed -e 's/\\/\\\\/g' -e "s/'/\\\\'/g"
}

fish_file() {
    local command letter name value text list line
    cat <<CODE
# Completion of vidi for fish. $note

# Is it this command? The first word is one if it is its name; otherwise it is dedup.
function __vidi_is
    set -l words (commandline -opc)
    set -l command dedup
    if set -q words[2]; and contains -- \$words[2] ${commands[*]}
        set command \$words[2]
    end
    test \$command = \$argv[1]
end

function __vidi_begins
    test (count (commandline -opc)) -eq 1
end

CODE
    for command in "${commands[@]}"; do
        printf "complete -c vidi -n __vidi_begins -a %s -d '%s'\n" "$command" "$(summary "$command" | fish_quote)"
    done
    for command in "${commands[@]}"; do
        printf '\n'
        case $(operands "$command") in
        NONE) printf "complete -c vidi -n '__vidi_is %s' -f\n" "$command" ;;
        FILE) ;;
        *) printf "complete -c vidi -n '__vidi_is %s' -x -a '%s'\n" "$command" "$(operands "$command")" ;;
        esac
        while IFS=$'\t' read -r letter name value text; do
            line="complete -c vidi -n '__vidi_is $command'"
            [ "$letter" = - ] || line+=" -s $letter"
            line+=" -l $name"
            list=$(words "$command" "$name")
            case $value:$list in
            -:*) ;;
            *:FILE) line+=' -r -F' ;;
            *:FOLDER) line+=" -x -a '(__fish_complete_directories)'" ;;
            *:) line+=' -x' ;;
            *) line+=" -x -a '$list'" ;;
            esac
            printf "%s -d '%s'\n" "$line" "$(fish_quote <<< "$text")"
        done < <(options "$command")
    done
}

bash_file > "$to/vidi.bash"
zsh_file > "$to/_vidi"
fish_file > "$to/vidi.fish"
