# The key is in the file, so a file that others may read deserves a warning.
urls a b | vidi --state s > /dev/null
(umask 022 && vidi export s > readable.vidi)
(umask 027 && vidi export s > group.vidi)
echo "-- no reason for one"
(umask 077 && vidi export s > mine.vidi)
(umask 022 && vidi export s named.vidi)
vidi export s | cat > piped.vidi
vidi export s > /dev/null
stat -c '%a %n' ./*.vidi
for file in readable group mine named piped; do
    vidi check $file.vidi
done
