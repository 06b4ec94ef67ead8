#!/bin/bash
# SPDX-License-Identifier: MIT
# Write a program's worth of hooks: gen-many.sh OUT_DIR PROVIDERS EVENTS. Makes manyNN.yaml and manyNN.c, one site per hook, and
# many_list.h, which names their functions.
set -euo pipefail
out=$1 providers=$2 events=$3
mkdir -p "$out"
for ((p = 0; p < providers; p++)); do
	name=$(printf 'many%02d' "$p")
	{
		echo "# SPDX-License-Identifier: MIT"
		echo "provider: $name"
		echo "doc: Hooks by the thousand."
		echo "events:"
		for ((e = 0; e < events; e++)); do
			printf '  - name: e%04d\n    doc: One of many.\n' "$e"
			echo '    fields: [{name: a, type: u64, doc: first}, {name: b, type: u64, doc: second}]'
			echo '    message: "a={a} b={b}"'
		done
	} >"$out/$name.yaml.new"
	{
		echo "/* SPDX-License-Identifier: MIT */"
		echo "#include \"gkhi_$name.h\""
		for ((e = 0; e < events; e++)); do
			printf 'static __attribute__((noinline)) uint64_t f%04d(uint64_t x) { gkhi_%s_e%04d(x, x + %d); return x * 3 + 1; }\n' \
				"$e" "$name" "$e" "$e"
		done
		echo "uint64_t run_$name(uint64_t x);"
		echo "uint64_t run_$name(uint64_t x)"
		echo "{"
		for ((e = 0; e < events; e++)); do printf '\tx = f%04d(x);\n' "$e"; done
		echo "	return x;"
		echo "}"
	} >"$out/$name.c.new"
done
{
	echo "/* SPDX-License-Identifier: MIT */"
	echo "#define N_MANY $providers"
	for ((p = 0; p < providers; p++)); do printf 'uint64_t run_many%02d(uint64_t x);\n' "$p"; done
	echo "static uint64_t (*const many_list[N_MANY])(uint64_t) = {"
	for ((p = 0; p < providers; p++)); do printf '\trun_many%02d,\n' "$p"; done
	echo "};"
} >"$out/many_list.h.new"
for f in "$out"/*.new; do
	if cmp -s "$f" "${f%.new}"; then rm "$f"; else mv "$f" "${f%.new}"; fi
done
