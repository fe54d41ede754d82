#!/bin/sh
# Makes a shared object to link against in place of the C library's own: the library's name, the versions and names of
# LIST, and nothing in them. A program that links against it asks for exactly these versions, whatever libc the
# toolchain has; one that needs another name does not link.
# usage: stub.sh LIST LIBRARY OUT.so COMPILER...
set -eu
list=$1 library=$2 out=$3
shift 3

names() { # of the library, a line each: name, version or "-", bytes of data or 0
    awk -v library="$library" '
        /^#/ || !NF { next }
        $1 == "library" { here = $2 == library; base = NF > 2 ? $3 : "-"; next }
        here { version = base; if (split($1, part, "@") == 2) version = part[2]; print part[1], version, $2 + 0 }' "$list"
}

versions() {
    names | sort -k2,2 -k1,1 | awk '
        $2 != last { if (last) print "};"; print ($2 == "-" ? "" : $2 " ") "{ global:"; last = $2 }
        { print "    " $1 ";" }
        END { print "    local: *;\n};" }'
}

bodies() {
    names | awk '
        { printf ".globl %s\n.type %s, %%%s\n", $1, $1, $3 ? "object" : "function" }
        $3 { printf ".data\n.balign 8\n.size %s, %d\n%s: .zero %d\n", $1, $3, $1, $3; next }
        { printf ".text\n.size %s, 4\n%s: .zero 4\n", $1, $1 }
        END { print ".section .note.GNU-stack,\"\",%progbits" }'
}

versions >"$out.map"
bodies >"$out.s"
"$@" -nostdlib -shared -Wl,-soname,"$library" -Wl,--version-script,"$out.map" -o "$out" "$out.s"
rm -f "$out.map" "$out.s"
