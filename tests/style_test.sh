#!/usr/bin/env bash
# The rules of the house that a machine can check, over every tracked file:
#   - C and C++ files are in the project's format (`./dev format` mends them);
#   - includes start at the root and point one way: frontend <- scheduler <- planner <- codegen <- driver;
#   - types that a whole program sees have one definition, on one line or many: a name in two folders is two types to
#     the linker as well, and two meanings to a reader where it is an alias;
#   - files lie in the project's folders;
#   - operators make constants by functions that keep to the limits;
#   - no type is named Context, Manager, Helper, Util or Base;
#   - no file names a package registry or a path of somebody's machine.
# Prints every offence; the exit status says whether there was one.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit
command -v clang-format >/dev/null || { echo "style_test.sh: not run: clang-format is not installed"; exit 77; }
status=0

# offences TITLE: the offending lines come on standard input.
offences() {
  local lines
  lines=$(cat)
  [[ -z $lines ]] && return
  printf '%s\n%s\n\n' "$1" "$lines"
  status=1
}

stages=(frontend scheduler planner codegen driver)
all=("${stages[@]}" models tests examples)

# The files under version control; in a copy that is no checkout, every file outside the build folders.
files=$(git ls-files 2>/dev/null)
[[ $files ]] || files=$(find . -type f -not -path './build*' -not -path './.git/*' -not -path '*/node_modules/*' | cut -c3-)
# sources FOLDER...: the C and C++ files in these folders.
sources() { grep -E "^($(IFS='|'; echo "$*"))/.*\.(c|cc|h)$" <<<"$files"; }
[[ $(sources frontend) ]] || { echo "style_test.sh: no sources found"; exit 1; }

offences "not in the project's format (./dev format):" < <(
  sources "${all[@]}" | xargs clang-format --dry-run -Werror 2>&1 | grep -E 'error:' | cut -d: -f1 | sort -u)

offences 'beside the folders of the project (generated, or in the wrong place):' < <(
  grep / <<<"$files" | grep -vE "^($(IFS='|'; echo "${all[*]}")|cmake|[.]ci)/" | cut -d/ -f1-2 | sort -u)

offences 'includes of the project start at its root:' < <(
  sources "${all[@]}" | xargs grep -nE '#include "' | grep -vE "#include \"($(IFS='|'; echo "${all[*]}"))/" |
    grep -vE '^(examples|tests/bare_metal)/')

for ((i = 0; i + 1 < ${#stages[@]}; i++)); do
  later=$(IFS='|'; echo "${stages[*]:i+1}")
  offences "${stages[i]} comes before these:" < <(
    sources "${stages[i]}" | xargs -r grep -nE "#include [\"<]($later|tests|models)/")
done

# Outside unnamed namespaces, by namespace. (Of functions the linker knows.)
offences 'types of one name (each program may hold one):' < <(
  sources "${all[@]}" | xargs awk '
    FNR == 1 { hidden = 0; room = "" }
    /^namespace \{/ { hidden = 1 }
    /^}  \/\/ namespace$/ { hidden = 0 }
    /^namespace [a-z_:]+ \{/ { room = $2 }
    !hidden && (/^(struct|class|enum) [A-Za-z_]+/ && (/\{/ || !/;$/) || /^using [A-Za-z_]+ =/) {
      name = $2 == "class" ? $3 : $2
      sub(/[^A-Za-z_0-9].*/, "", name)
      name = room "::" name
      if (name in first && first[name] != FILENAME) print name ": " first[name] ", " FILENAME
      else first[name] = FILENAME
    }')

# Files that lower operators make a constant by Lowering::table or listed, which count its bytes, or of a tensor that
# the model gives.
lowering=$(grep -lE '(Lowering& |Formula )[a-z]+[,;()]' $(sources frontend) | grep -vE '^frontend/lower\.(cc|h)$')
offences 'constants beside the limit of all (Lowering::table and listed have it):' < <(
  xargs grep -nE '^ .*\bValue( [a-z_]+)?[({]|make_shared<(const )?Value>|\bbytes\.resize|\bvector_value\(' <<<"$lowering")

offences 'a name that says nothing:' < <(
  sources "${all[@]}" | xargs grep -nE '(class|struct|enum) +[A-Za-z]*(Context|Manager|Helper|Util|Utils|Base)\b')

offences 'a package registry or a path of one machine:' < <(
  tr '\n' '\0' <<<"$files" | xargs -0 grep -nIE 'npmjs[.](org|com)|pypi[.]org|pythonhosted[.]|crates[.]io|golang[.]org|rubygems[.]|deb[.]debian|hub[.]docker|ghcr[.]io|/work[/]|/tmp[/]|/home[/]')

exit $status
