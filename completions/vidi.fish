# Completion of vidi for fish. Made by tools/completions.sh from the help texts; not to be changed by hand.

# Is it this command? The first word is one if it is its name; otherwise it is dedup.
function __vidi_is
    set -l words (commandline -opc)
    set -l command dedup
    if set -q words[2]; and contains -- $words[2] dedup has remove list canon plan kinds info top check rotate merge snapshot export import bench lab version help
        set command $words[2]
    end
    test $command = $argv[1]
end

function __vidi_begins
    test (count (commandline -opc)) -eq 1
end

complete -c vidi -n __vidi_begins -a dedup -d 'Print each URL the first time it is seen; the default command'
complete -c vidi -n __vidi_begins -a has -d 'Print which URLs a state has seen'
complete -c vidi -n __vidi_begins -a remove -d 'Remove URLs from a state'
complete -c vidi -n __vidi_begins -a list -d 'Print the URLs in a saved set'
complete -c vidi -n __vidi_begins -a canon -d 'Print the canonical form of each URL'
complete -c vidi -n __vidi_begins -a plan -d 'Compute what to use and what it costs in memory and pages lost'
complete -c vidi -n __vidi_begins -a kinds -d 'List the kinds of set and what each can do'
complete -c vidi -n __vidi_begins -a info -d 'Print what a saved set is, how full, and what it has cost'
complete -c vidi -n __vidi_begins -a top -d 'Watch a running vidi: rates, fill, memory, pages lost'
complete -c vidi -n __vidi_begins -a check -d 'Read every byte of a saved set and say whether all is well'
complete -c vidi -n __vidi_begins -a rotate -d 'Begin the next epoch of a saved set: empty, with new salts'
complete -c vidi -n __vidi_begins -a merge -d 'Merge saved sets into one'
complete -c vidi -n __vidi_begins -a snapshot -d 'Fold the log of a saved set into its snapshot'
complete -c vidi -n __vidi_begins -a export -d 'Write a saved set as one file, for backups and other machines'
complete -c vidi -n __vidi_begins -a import -d 'Make a saved set from an exported file'
complete -c vidi -n __vidi_begins -a bench -d 'Measure how fast each kind of set is on this machine'
complete -c vidi -n __vidi_begins -a lab -d 'Run the papers\' experiments again, beside theory'
complete -c vidi -n __vidi_begins -a version -d 'Print the version'
complete -c vidi -n __vidi_begins -a help -d 'Describe vidi or one of its commands'

complete -c vidi -n '__vidi_is dedup' -s s -l state -x -a '(__fish_complete_directories)' -d 'Remember the URLs in this folder, from run to run'
complete -c vidi -n '__vidi_is dedup' -l wait -d 'Wait while another process has the state locked'
complete -c vidi -n '__vidi_is dedup' -l like -x -a '(__fish_complete_directories)' -d 'Make it like another state, to merge them later'
complete -c vidi -n '__vidi_is dedup' -s n -l dry-run -d 'Print the same, but remember nothing'
complete -c vidi -n '__vidi_is dedup' -s D -l seen -d 'Print the repeats instead'
complete -c vidi -n '__vidi_is dedup' -s c -l count -d 'Print each URL at the end, with how often it was there'
complete -c vidi -n '__vidi_is dedup' -l print -x -a 'line url canonical verdict' -d 'What to print: line, url, canonical or verdict [line]'
complete -c vidi -n '__vidi_is dedup' -s z -l null -d 'Lines end in NUL, not in newlines; -0 is the same'
complete -c vidi -n '__vidi_is dedup' -s f -l field -x -d 'The URL is this field of the line, by number or name'
complete -c vidi -n '__vidi_is dedup' -s d -l delimiter -x -d 'What separates fields [a tab]'
complete -c vidi -n '__vidi_is dedup' -l header -d 'The first line of each file names its fields'
complete -c vidi -n '__vidi_is dedup' -l json-key -x -d 'The URL is the value of this key in a line of JSON'
complete -c vidi -n '__vidi_is dedup' -l canon -x -a 'none whatwg crawl surt key=host key=site' -d 'Canonical form [whatwg]'
complete -c vidi -n '__vidi_is dedup' -l key -x -a 'url host site' -d 'What is to be seen once: url, host or site [url]'
complete -c vidi -n '__vidi_is dedup' -l tracking -r -F -d 'List of tracking parameters for --canon crawl'
complete -c vidi -n '__vidi_is dedup' -l invalid -x -a 'keep drop fail' -d 'Lines that are no URLs: keep, drop or fail [keep]'
complete -c vidi -n '__vidi_is dedup' -l capacity -x -d 'Number of different URLs to expect'
complete -c vidi -n '__vidi_is dedup' -l lost -x -d 'Pages that may be lost; 0: none'
complete -c vidi -n '__vidi_is dedup' -l memory -x -d 'Memory for the set, like 500M, 2GiB or 2GB'
complete -c vidi -n '__vidi_is dedup' -l error -x -d 'Probability that a new URL is taken for seen [1e-6]'
complete -c vidi -n '__vidi_is dedup' -l kind -x -a 'fingerprint blocked scalable classic counting multilayer eigen spatial hashset sorted list' -d 'Kind of set to remember the URLs in'
complete -c vidi -n '__vidi_is dedup' -l param -x -d 'Parameter of the kind; may be given several times'
complete -c vidi -n '__vidi_is dedup' -l epoch -x -a 'new' -d 'Begin the state\'s next epoch first, with nothing seen'
complete -c vidi -n '__vidi_is dedup' -l sync -x -a 'always everysec never' -d 'State on disk: always, everysec or never [everysec]'
complete -c vidi -n '__vidi_is dedup' -l strict -d 'Exit with 3 if --capacity or --lost was exceeded'
complete -c vidi -n '__vidi_is dedup' -l threads -x -d 'Threads at most; 1 does all in one [3]'
complete -c vidi -n '__vidi_is dedup' -l line-buffered -d 'Never wait for more before writing'
complete -c vidi -n '__vidi_is dedup' -l stats -d 'Print statistics on standard error at the end'
complete -c vidi -n '__vidi_is dedup' -l json -d 'Print the statistics as one line of JSON'
complete -c vidi -n '__vidi_is dedup' -l progress -d 'Draw a line about the progress on standard error'
complete -c vidi -n '__vidi_is dedup' -s q -l quiet -d 'No progress and no warnings, only errors'
complete -c vidi -n '__vidi_is dedup' -l color -x -a 'auto always never' -d 'Colours on standard error: auto, always, never [auto]'
complete -c vidi -n '__vidi_is dedup' -l version -d 'Print the version'
complete -c vidi -n '__vidi_is dedup' -s h -l help -d 'Print help: -h a short one, --help all of it'

complete -c vidi -n '__vidi_is has' -s v -l invert -d 'Print the lines that were not seen'
complete -c vidi -n '__vidi_is has' -s q -l quiet -d 'Print nothing; the exit status tells'
complete -c vidi -n '__vidi_is has' -l print -x -a 'line url canonical verdict' -d 'What to print: line, url, canonical or verdict [line]'
complete -c vidi -n '__vidi_is has' -s z -l null -d 'Lines end in NUL, not in newlines; -0 is the same'
complete -c vidi -n '__vidi_is has' -s f -l field -x -d 'The URL is this field of the line, by number or name'
complete -c vidi -n '__vidi_is has' -s d -l delimiter -x -d 'What separates fields [a tab]'
complete -c vidi -n '__vidi_is has' -l header -d 'The first line of each file names its fields'
complete -c vidi -n '__vidi_is has' -l json-key -x -d 'The URL is the value of this key in a line of JSON'
complete -c vidi -n '__vidi_is has' -l invalid -x -a 'keep drop fail' -d 'Lines that are no URLs: keep, drop or fail [keep]'
complete -c vidi -n '__vidi_is has' -l threads -x -d 'Threads at most; 1 does all in one [3]'
complete -c vidi -n '__vidi_is has' -l line-buffered -d 'Never wait for more before writing'
complete -c vidi -n '__vidi_is has' -l stats -d 'Print statistics on standard error at the end'
complete -c vidi -n '__vidi_is has' -l json -d 'Print the statistics as one line of JSON'
complete -c vidi -n '__vidi_is has' -s h -l help -d 'Print help: -h a short one, --help all of it'

complete -c vidi -n '__vidi_is remove' -s z -l null -d 'Lines end in NUL, not in newlines; -0 is the same'
complete -c vidi -n '__vidi_is remove' -s f -l field -x -d 'The URL is this field of the line, by number or name'
complete -c vidi -n '__vidi_is remove' -s d -l delimiter -x -d 'What separates fields [a tab]'
complete -c vidi -n '__vidi_is remove' -l header -d 'The first line of each file names its fields'
complete -c vidi -n '__vidi_is remove' -l json-key -x -d 'The URL is the value of this key in a line of JSON'
complete -c vidi -n '__vidi_is remove' -l invalid -x -a 'keep drop fail' -d 'Lines that are no URLs: keep, drop or fail [keep]'
complete -c vidi -n '__vidi_is remove' -l wait -d 'Wait while another process has the state locked'
complete -c vidi -n '__vidi_is remove' -l stats -d 'Print statistics on standard error at the end'
complete -c vidi -n '__vidi_is remove' -l json -d 'Print the statistics as one line of JSON'
complete -c vidi -n '__vidi_is remove' -s q -l quiet -d 'Print no result and no warnings, only errors'
complete -c vidi -n '__vidi_is remove' -s h -l help -d 'Print help: -h a short one, --help all of it'

complete -c vidi -n '__vidi_is list' -l hashes -d 'Print hashes instead of URLs, in hexadecimal'
complete -c vidi -n '__vidi_is list' -l json -d 'Print a JSON object for each URL, with how often it was added'
complete -c vidi -n '__vidi_is list' -s z -l null -d 'Lines end in NUL, not in newlines; -0 is the same'
complete -c vidi -n '__vidi_is list' -s h -l help -d 'Print help: -h a short one, --help all of it'

complete -c vidi -n '__vidi_is canon' -l canon -x -a 'none whatwg crawl surt key=host key=site' -d 'Canonical form [whatwg]'
complete -c vidi -n '__vidi_is canon' -l tracking -r -F -d 'List of tracking parameters for --canon crawl'
complete -c vidi -n '__vidi_is canon' -l base -x -d 'Resolve relative lines against this URL'
complete -c vidi -n '__vidi_is canon' -l rules -d 'List all forms and their rules, and do nothing else'
complete -c vidi -n '__vidi_is canon' -l explain -d 'Print each line and what each rule made of it'
complete -c vidi -n '__vidi_is canon' -l json -d 'Print a JSON object for each line'
complete -c vidi -n '__vidi_is canon' -l invalid -x -a 'keep drop fail' -d 'Lines that are no URLs: keep, drop or fail [keep]'
complete -c vidi -n '__vidi_is canon' -l stats -d 'Print statistics on standard error at the end'
complete -c vidi -n '__vidi_is canon' -s h -l help -d 'Print help: -h a short one, --help all of it'

complete -c vidi -n '__vidi_is plan' -f
complete -c vidi -n '__vidi_is plan' -l urls -x -d 'Number of different URLs, like 1e9 or 100M'
complete -c vidi -n '__vidi_is plan' -l memory -x -d 'Memory at most, like 500M, 2GiB or 2GB'
complete -c vidi -n '__vidi_is plan' -l error -x -d 'Probability at most that a new URL is taken for seen'
complete -c vidi -n '__vidi_is plan' -l lost -x -d 'Pages lost at most, from empty to full [1]'
complete -c vidi -n '__vidi_is plan' -l k -x -d 'Positions per URL, for kinds that have them'
complete -c vidi -n '__vidi_is plan' -l multiplier -x -d 'M in bits = URLs * K * M'
complete -c vidi -n '__vidi_is plan' -l kind -x -a 'fingerprint blocked scalable classic counting multilayer eigen spatial hashset sorted list' -d 'This kind only; \'vidi kinds\' lists them'
complete -c vidi -n '__vidi_is plan' -l param -x -d 'Parameter of that kind; may be given several times'
complete -c vidi -n '__vidi_is plan' -l url-bytes -x -d 'Average length of a URL, for kinds storing URLs [80]'
complete -c vidi -n '__vidi_is plan' -l json -d 'Print an array of objects instead of a table'
complete -c vidi -n '__vidi_is plan' -l plot -d 'Draw pages lost against memory below the table'
complete -c vidi -n '__vidi_is plan' -l no-plot -d 'Do not draw'
complete -c vidi -n '__vidi_is plan' -l color -x -a 'auto always never' -d 'Colours of the plot: auto, always, never [auto]'
complete -c vidi -n '__vidi_is plan' -s h -l help -d 'Print help: -h a short one, --help all of it'

complete -c vidi -n '__vidi_is kinds' -f
complete -c vidi -n '__vidi_is kinds' -l json -d 'Print an array of objects instead of a table'
complete -c vidi -n '__vidi_is kinds' -s h -l help -d 'Print help: -h a short one, --help all of it'

complete -c vidi -n '__vidi_is info' -l json -d 'Print one JSON object instead of a table'
complete -c vidi -n '__vidi_is info' -s h -l help -d 'Print help: -h a short one, --help all of it'

complete -c vidi -n '__vidi_is top' -s s -l state -x -a '(__fish_complete_directories)' -d 'The state to look at; may also stand alone'
complete -c vidi -n '__vidi_is top' -l once -d 'Print one view and end'
complete -c vidi -n '__vidi_is top' -l json -d 'With --once: print one JSON object'
complete -c vidi -n '__vidi_is top' -l color -x -a 'auto always never' -d 'Colours: auto, always, never [auto]'
complete -c vidi -n '__vidi_is top' -s h -l help -d 'Print help: -h a short one, --help all of it'

complete -c vidi -n '__vidi_is check' -s q -l quiet -d 'Print nothing if all is well'
complete -c vidi -n '__vidi_is check' -s h -l help -d 'Print help: -h a short one, --help all of it'

complete -c vidi -n '__vidi_is rotate' -l kind -x -a 'fingerprint blocked scalable classic counting multilayer eigen spatial hashset sorted list' -d 'Kind of the next epoch\'s set [same]'
complete -c vidi -n '__vidi_is rotate' -l param -x -d 'Parameter of the kind; may be given several times'
complete -c vidi -n '__vidi_is rotate' -l capacity -x -d 'Number of different URLs to expect [last count * 1.25]'
complete -c vidi -n '__vidi_is rotate' -l error -x -d 'Probability that a new URL is taken for seen [same]'
complete -c vidi -n '__vidi_is rotate' -l keep-previous -d 'Keep the epoch that ends, for explicit questions'
complete -c vidi -n '__vidi_is rotate' -l wait -d 'Wait while another process has the state locked'
complete -c vidi -n '__vidi_is rotate' -s h -l help -d 'Print help: -h a short one, --help all of it'

complete -c vidi -n '__vidi_is merge' -l wait -d 'Wait while another process has OUT locked'
complete -c vidi -n '__vidi_is merge' -s h -l help -d 'Print help: -h a short one, --help all of it'

complete -c vidi -n '__vidi_is snapshot' -l wait -d 'Wait while another process has the state locked'
complete -c vidi -n '__vidi_is snapshot' -s h -l help -d 'Print help: -h a short one, --help all of it'

complete -c vidi -n '__vidi_is export' -s h -l help -d 'Print help: -h a short one, --help all of it'

complete -c vidi -n '__vidi_is import' -s h -l help -d 'Print help: -h a short one, --help all of it'

complete -c vidi -n '__vidi_is bench' -l urls -x -d 'Number of URLs at most, all in memory [2e6]'
complete -c vidi -n '__vidi_is bench' -l kind -x -a 'fingerprint blocked scalable classic counting multilayer eigen spatial hashset sorted list' -d 'This kind only; \'vidi kinds\' lists them'
complete -c vidi -n '__vidi_is bench' -l json -d 'Print one JSON object instead of a table'
complete -c vidi -n '__vidi_is bench' -s h -l help -d 'Print help: -h a short one, --help all of it'

complete -c vidi -n '__vidi_is lab' -f
complete -c vidi -n '__vidi_is lab' -l runs -x -d 'Runs, each with new URLs and new salts [100]'
complete -c vidi -n '__vidi_is lab' -l urls -x -d 'URLs that go in; as many others are asked [1e6]'
complete -c vidi -n '__vidi_is lab' -l seed -x -d 'What all URLs and salts follow from [1]'
complete -c vidi -n '__vidi_is lab' -l threads -x -d 'Runs at the same time [processors, at most 8]'
complete -c vidi -n '__vidi_is lab' -l corpus -r -F -d 'Real URLs from files, one a line, not synthetic ones'
complete -c vidi -n '__vidi_is lab' -l fresh -d 'Begin anew, whatever an interrupted command has kept'
complete -c vidi -n '__vidi_is lab' -l csv -d 'Print CSV: a line a cell, rates in per cent'
complete -c vidi -n '__vidi_is lab' -l json -d 'Print an array of objects'
complete -c vidi -n '__vidi_is lab' -l raw -d 'Print the counts of every run, as CSV'
complete -c vidi -n '__vidi_is lab' -s o -l output -r -F -d 'report: where it goes [standard output]'
complete -c vidi -n '__vidi_is lab' -l plots -x -a '(__fish_complete_directories)' -d 'report: also write each plot there, as ID.svg'
complete -c vidi -n '__vidi_is lab' -l run -x -d 'urls: of which run [1]'
complete -c vidi -n '__vidi_is lab' -l kind -x -a 'fingerprint blocked scalable classic counting multilayer eigen spatial hashset sorted list' -d 'cell: classic, spatial or counting [as --filters says]'
complete -c vidi -n '__vidi_is lab' -l hash -x -d 'cell: hash function; a+b for different ones [jenkins]'
complete -c vidi -n '__vidi_is lab' -l k -x -d 'cell: positions a URL [3]'
complete -c vidi -n '__vidi_is lab' -l multiplier -x -d 'cell: M in bits = URLs * K * M [2]'
complete -c vidi -n '__vidi_is lab' -l filters -x -d 'cell: filters side by side [1]'
complete -c vidi -n '__vidi_is lab' -l crawls -x -d 'cell: crawls, each with salts of its own [1]'
complete -c vidi -n '__vidi_is lab' -l incremental -d 'cell: ask each URL before it goes in'
complete -c vidi -n '__vidi_is lab' -l shuffled -d 'cell: incremental, later crawls in another order'
complete -c vidi -n '__vidi_is lab' -s h -l help -d 'Print help: -h a short one, --help all of it'

complete -c vidi -n '__vidi_is version' -f
complete -c vidi -n '__vidi_is version' -s h -l help -d 'Print help: -h a short one, --help all of it'

complete -c vidi -n '__vidi_is help' -x -a 'dedup has remove list canon plan kinds info top check rotate merge snapshot export import bench lab version help'
complete -c vidi -n '__vidi_is help' -s h -l help -d 'Print help: -h a short one, --help all of it'
