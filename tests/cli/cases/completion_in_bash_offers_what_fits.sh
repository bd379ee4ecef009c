. "$VIDI_SOURCE/completions/vidi.bash"
compopt() { :; } # there is no line being edited

# What is offered for the last of the words.
offered()
{
    COMP_WORDS=(vidi "$@")
    COMP_CWORD=$#
    _vidi
    echo "vidi $*: ${COMPREPLY[*]}"
}

mkdir folder
touch file.txt
offered pl
offered plan --u
offered --see
offered --kind c
offered --kind = c
offered dedup --invalid =
offered plan --urls 1
offered top --col
offered top --color ''
offered -s f
offered --tracking f
offered f
offered info f
offered help ver
offered version ''
offered bench -
offered crawl re
offered crawl report f
offered crawl --scope ''
offered crawl --seeds f
