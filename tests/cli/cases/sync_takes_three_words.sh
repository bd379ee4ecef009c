for when in always everysec never; do
    echo http://$when.example/ | vidi -s st --sync $when
    echo "status $?"
done
echo http://x.example/ > in
try vidi -s st --sync often in
try vidi --sync always in
vidi has st <(printf '%s\n' http://always.example/ http://everysec.example/ http://never.example/)
