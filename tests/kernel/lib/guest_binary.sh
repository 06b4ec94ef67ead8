#!/bin/bash
# SPDX-License-Identifier: MIT
# Put a program and the shared libraries it needs into a folder that boot.sh -p takes into the guest:
#   guest_binary.sh PROGRAM OUTDIR
# There, OUTDIR/run-PROGRAM runs it.
set -euo pipefail
program=$1 out=$2
name=$(basename "$program")
mkdir -p "$out/lib"
cp "$program" "$out/$name"
ldd "$program" | awk '$2 == "=>" && $3 ~ "^/" { print $3 } $1 ~ "^/.*ld-linux" { print $1 }' | sort -u |
	xargs -I{} cp -L {} "$out/lib/"
cat >"$out/run-$name" <<'RUN'
#!/bin/sh
# The interpreter's path in the program is not there in the guest.
here=$(dirname "$0")
name=$(basename "$0")
exec "$here"/lib/ld-linux-x86-64.so.2 --library-path "$here/lib" "$here/${name#run-}" "$@"
RUN
chmod +x "$out/run-$name"
