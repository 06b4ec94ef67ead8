// SPDX-License-Identifier: MIT
// Help made from the table of verbs.
#include <fmt/format.h>

#include "command.hpp"

namespace gkhi::cli {
namespace {

constexpr size_t kOptionColumn = 26;

std::string OptionLine(const Option &option) {
  std::string left = option.letter != 0 ? fmt::format("  -{}, ", option.letter) : "      ";
  left += fmt::format("--{}", option.name);
  if (option.value != nullptr) left += fmt::format(" {}", option.value);
  if (left.size() + 2 > kOptionColumn)
    return fmt::format("{}\n{:{}}{}\n", left, "", kOptionColumn, option.help);
  return fmt::format("{:<{}}{}\n", left, kOptionColumn, option.help);
}

}  // namespace

std::string HelpText(const Command &command) {
  std::string out = fmt::format("Usage: gkhi {} [OPTION]...{}{}\n\n{}\n", command.verb,
                                *command.operands ? " " : "", command.operands, command.description);
  out += "\nOptions:\n";
  for (const Option &option : command.options) out += OptionLine(option);
  out += OptionLine({'h', "help", nullptr, "show this text"});
  out += "\nExamples:\n";
  for (const Example &example : command.examples)
    out += fmt::format("  {}\n      {}\n", example.command, example.what);
  return out;
}

std::string OverviewText() {
  std::string out =
      "Usage: gkhi VERB [OPTION]... [ARG]...\n\n"
      "Switch the hooks of running programs, record what they say, read it later.\n\nVerbs:\n";
  for (const Command *command : Commands())
    out += fmt::format("  {:<12}{}\n", command->verb, command->summary);
  out +=
      "  help        explain a verb, with examples: gkhi help record\n"
      "  completion  print the shell completion: gkhi completion bash\n"
      "\nExit status: 0 done, 1 failed, 2 wrong usage, 3 events are missing and --strict was given;\n"
      "record gives the exit status of its command, 128 + N when signal N killed it.\n"
      "\nEnvironment:\n"
      "  GKHI        what to switch on when a program starts: GKHI='sqlite:*=static'\n"
      "  GKHI_DIR    where processes keep their buffers; else $XDG_RUNTIME_DIR/gkhi, else /dev/shm/gkhi-UID\n"
      "  GKHI_KEEP   keep the buffers of a program that ends normally\n"
      "  GKHI_AGENT  thread: the program switches itself, nobody has to stop it\n";
  return out;
}

}  // namespace gkhi::cli
