// SPDX-License-Identifier: MIT
// The bash completion, made from the table of verbs; docs/control.md says where it is installed.
#include <fmt/format.h>

#include "command.hpp"

namespace gkhi::cli {
namespace {

constexpr std::string_view kHead = R"(# SPDX-License-Identifier: MIT
# bash completion for gkhi, written by: gkhi completion bash
_gkhi_pids()
{
	gkhi list --raw --noheadings -o PID 2>/dev/null | sort -un
}

_gkhi_hooks()
{
	gkhi list --raw --noheadings -o HOOK 2>/dev/null | sort -u
}

_gkhi()
{
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} verb=${COMP_WORDS[1]} i

	COMPREPLY=()
	if ((COMP_CWORD == 1)); then
)";

constexpr std::string_view kTail = R"(	esac
}
complete -F _gkhi gkhi
)";

// The bash that fills COMPREPLY for a kind of word.
std::string Generate(const char *choices) {
  const std::string_view kind = choices != nullptr ? choices : "";
  if (kind.empty()) return "return";
  if (kind == "<dir>") return "mapfile -t COMPREPLY < <(compgen -d -- \"$cur\"); return";
  if (kind == "<file>") return "mapfile -t COMPREPLY < <(compgen -f -- \"$cur\"); return";
  if (kind == "<pid>") return "mapfile -t COMPREPLY < <(compgen -W \"$(_gkhi_pids)\" -- \"$cur\"); return";
  if (kind == "<hook>") return "mapfile -t COMPREPLY < <(compgen -W \"$(_gkhi_hooks)\" -- \"$cur\"); return";
  return fmt::format("mapfile -t COMPREPLY < <(compgen -W \"{}\" -- \"$cur\"); return", kind);
}

std::string CaseOf(const Command &command) {
  std::string values;
  std::string words = "--help";
  for (const Option &option : command.options) {
    words += fmt::format(" --{}", option.name);
    if (option.letter != 0) words += fmt::format(" -{}", option.letter);
    if (option.value == nullptr) continue;
    const std::string letter = option.letter != 0 ? fmt::format("|-{}", option.letter) : "";
    values += fmt::format("\t\t--{}{}) {} ;;\n", option.name, letter, Generate(option.choices));
  }
  std::string out = fmt::format("\t{})\n", command.verb);
  if (command.stop_at_operand) {
    // Behind "--" it is the other command's turn.
    out +=
        "\t\tfor ((i = 2; i < COMP_CWORD; i++)); do\n"
        "\t\t\tif [[ ${COMP_WORDS[i]} == -- ]]; then\n"
        "\t\t\t\tif declare -F _command_offset >/dev/null; then _command_offset $((i + 1)); fi\n"
        "\t\t\t\treturn\n\t\t\tfi\n\t\tdone\n";
  }
  if (!values.empty()) out += fmt::format("\t\tcase $prev in\n{}\t\tesac\n", values);
  out += fmt::format(
      "\t\tif [[ $cur == -* ]]; then\n\t\t\tmapfile -t COMPREPLY < <(compgen -W \"{}\" -- \"$cur\")\n",
      words);
  out += fmt::format("\t\t\treturn\n\t\tfi\n\t\t{}\n\t\t;;\n", Generate(command.operand_choices));
  return out;
}

}  // namespace

std::string BashCompletion() {
  std::string verbs = "help completion --version";
  std::string cases;
  for (const Command *command : Commands()) {
    verbs += fmt::format(" {}", command->verb);
    cases += CaseOf(*command);
  }
  const std::string choose =
      fmt::format("\t\tmapfile -t COMPREPLY < <(compgen -W \"{}\" -- \"$cur\")\n\t\treturn\n\tfi\n", verbs);
  return fmt::format(
      "{}{}\tcase $verb in\n{}\thelp) mapfile -t COMPREPLY < <(compgen -W \"{}\" -- \"$cur\") ;;\n"
      "\tcompletion) mapfile -t COMPREPLY < <(compgen -W \"bash\" -- \"$cur\") ;;\n{}",
      kHead, choose, cases, verbs, kTail);
}

}  // namespace gkhi::cli
