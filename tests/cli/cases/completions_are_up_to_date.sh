# What is committed is what the help texts give, and names every command and every option.
"$VIDI_SOURCE/tools/completions.sh" vidi made
for file in vidi.bash _vidi vidi.fish; do
    cmp "made/$file" "$VIDI_SOURCE/completions/$file" ||
        echo "run tools/completions.sh build/vidi completions, and look at what has changed"
done
for command in $(vidi --help | sed -n '/^Commands/,/^$/s/^  \([a-z]*\).*/\1/p'); do
    # The part of each file that is about the command.
    in_bash=$(sed -n "/^_vidi_options/,/^}/p" made/vidi.bash | sed -n "/^    $command)/,/;;/p")
    in_zsh=$(sed -n "/^    $command)\$/,/;;/p" made/_vidi)
    in_fish=$(grep "__vidi_is $command'" made/vidi.fish)
    grep -q "^complete -c vidi -n __vidi_begins -a $command " made/vidi.fish || echo "vidi.fish lacks $command"
    grep -q "^        '$command:" made/_vidi || echo "_vidi lacks $command"
    grep -qE "local commands=\"(.* )?$command[ \"]" made/vidi.bash || echo "vidi.bash lacks $command"
    for option in $(vidi $command --help | grep -oE '^ +(-[a-zA-Z], )?--[a-z-]+' | grep -oE -- '--[a-z-]+'); do
        [[ $in_bash =~ "$option"[[:space:]\"] ]] || echo "vidi.bash lacks $option of $command"
        [[ $in_zsh =~ "$option"[=\[}] ]] || echo "_vidi lacks $option of $command"
        [[ $in_fish =~ "-l ${option#--} " ]] || echo "vidi.fish lacks $option of $command"
    done
done
# Their shells can read them, those that are here.
bash -n made/vidi.bash
! command -v zsh > /dev/null || zsh -n made/_vidi
! command -v fish > /dev/null || fish -n made/vidi.fish
