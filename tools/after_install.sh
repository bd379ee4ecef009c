#!/bin/sh
# tools/after_install.sh DESTDIR PREFIX: tells the dynamic linker about the new library, or the user what to do.
set -eu
destdir=$1 prefix=$2
found=$(find "$destdir$prefix" -name libvidi.so.0 2>/dev/null | head -n 1)
folder=$(dirname "${found#"$destdir"}")
echo "installed vidi below $destdir$prefix"
[ -z "$destdir" ] || exit 0 # a package is being built; its own scripts do the rest

known() {
    /sbin/ldconfig -p 2>/dev/null | grep -qF "$folder/libvidi.so.0"
}

if [ "$(id -u)" = 0 ] && command -v /sbin/ldconfig >/dev/null; then
    /sbin/ldconfig
fi
if known; then
    exit 0
fi
echo "The dynamic linker does not search $folder. Programs that use the shared library need"
echo "    LD_LIBRARY_PATH=$folder"
case $prefix in
/usr | /usr/local) echo "or run once, as root: ldconfig" ;;
*) echo "or run once, as root: echo $folder > /etc/ld.so.conf.d/vidi.conf && ldconfig" ;;
esac
