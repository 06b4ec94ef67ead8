#!/bin/bash
# SPDX-License-Identifier: MIT
# Formatting, licences, spelling and static analysis. Prints every finding, then fails.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1

bad=0
note() { echo "lint: $*"; bad=1; }

mapfile -t files < <(git ls-files)
mapfile -t cxx < <(git ls-files '*.cc' '*.hpp' '*.cpp')
mapfile -t shell < <(git ls-files '*.sh' .ci/run)
mapfile -t yaml < <(git ls-files '*.yaml' '*.yml' | grep -v '^tests/golden/')

echo "== licences"
for f in "${files[@]}"; do
	case $f in
	*.md | *.json | *.txt | *.log | *.words | *.err | *.golden | *.expected | .gitignore | .editorconfig | .clang-* | LICENSE | COPYING) continue ;;
	tests/golden/* | tests/fuzz/*/* | *.patch) [[ $f == *CMakeLists.txt || $f == *.cc || $f == *.[ch] ]] || continue ;;
	esac
	want='MIT'
	case $f in
	tests/golden/genevent/pass/*.[ch] | tests/golden/genevent/compile/kernel*) want='.*' ;; # what the fixture asks for
	hooks/*.[ch] | hooks/*/*.h | backends/*.[ch] | backends/*/*.[ch] | backends/*/*.h) want='GPL-2.0-only OR MIT' ;;
	kmod/* | tests/kernel/modules/*) want='GPL-2.0-only' ;;
	esac
	head -3 "$f" | grep -q "SPDX-License-Identifier: $want\( \*/\)\?\( -->\)\?$" ||
		note "$f: first lines lack 'SPDX-License-Identifier: $want'"
done

echo "== formatting"
if [ ${#cxx[@]} != 0 ]; then
	clang-format --dry-run --Werror "${cxx[@]}" || bad=1
fi
git ls-files -z '*.c' '*.h' '*.cc' '*.hpp' '*.cpp' '*.S' '*.sh' '*.cmake' '*.md' |
	grep -zv '^tests/golden/' | xargs -0 grep -nE '[[:space:]]+$' && note "white space at the end of lines"

echo "== length: no file over 800 lines"
for f in "${files[@]}"; do
	case $f in *.c | *.h | *.cc | *.hpp | *.cpp | *.S) ;; *) continue ;; esac
	n=$(wc -l <"$f")
	[ "$n" -le 800 ] || note "$f: $n lines, wanted at most 800"
done

echo "== shell"
shellcheck -x "${shell[@]}" || bad=1

echo "== yaml"
if [ ${#yaml[@]} != 0 ]; then
	yamllint -d '{extends: relaxed, rules: {line-length: disable, braces: disable, commas: disable, colons: disable, indentation: disable}}' "${yaml[@]}" || bad=1
fi

echo "== spelling"
git ls-files -z '*.md' '*.c' '*.h' '*.cc' '*.hpp' '*.cpp' '*.sh' '*.yaml' | grep -zv '^tests/golden/' |
	xargs -0 codespell -q 3 -L "te,nd,ot,fo,creat,ser,als,mut,inout,parm,positionof,statics,lenght,ndoes,siz,dorp" || bad=1

echo "== cppcheck"
mapfile -t core < <(git ls-files 'hooks/*.c' 'backends/*.c' 'userspace/runtime/*.c')
cppcheck --quiet --error-exitcode=1 --inline-suppr --std=c11 --enable=warning,portability \
	--suppress=missingInclude --suppress=unknownMacro --suppress=syntaxError --suppress=preprocessorErrorDirective \
	-Ihooks/include -Ibackends/include -Iuserspace/runtime/include \
	"${core[@]}" || bad=1

echo "== clang-tidy"
if [ -f build/compile_commands.json ]; then
	git ls-files 'genevent/*.cc' |
		xargs -r -P "$(nproc)" -n 2 clang-tidy --quiet -p build 2>/dev/null || bad=1
else
	note "no build/compile_commands.json: run make first"
fi

[ $bad = 0 ] && echo "lint: clean"
exit $bad
