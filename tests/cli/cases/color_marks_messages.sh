show() { "$@" 2>&1 | sed 's/\x1b/ESC/g'; }
show vidi --color always nofile
show vidi --color never nofile
show vidi --color auto nofile
show vidi --color sometimes nofile
