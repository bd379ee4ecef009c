# vidi finds vidi-lab beside itself, in the folder for programs that others run, or in PATH, and says if there is none.
built=$(dirname "$(command -v vidi)")
mkdir -p bin libexec/vidi elsewhere
cp "$built/vidi" bin

without_built()
{
    PATH=elsewhere:/usr/bin:/bin bin/vidi "$@"
}

without_built lab list
echo "status $?"
for place in bin libexec/vidi elsewhere; do
    printf '#!/bin/sh\necho "%s has run: $*"\nexit 3\n' $place > $place/vidi-lab
    chmod 755 $place/vidi-lab
    without_built lab run 'a b' --csv
    echo "status $?"
    without_built help lab
    rm $place/vidi-lab
done
