// SPDX-License-Identifier: MIT
// gkhi: finds the verb and hands over.
#include <fmt/format.h>

#include <clocale>
#include <cstdio>

#include "command.hpp"

namespace gkhi::cli {

namespace {

int UnknownVerb(const std::string &verb) {
  std::vector<std::string> verbs = {"help", "completion"};
  for (const Command *command : Commands()) verbs.emplace_back(command->verb);
  const std::string near = Nearest(verb, verbs);
  fmt::print(stderr, "gkhi: unknown verb '{}'; {}see 'gkhi help'\n", verb,
             near.empty() ? "" : fmt::format("did you mean '{}'? ", near));
  return kExitUsage;
}

int Help(const std::vector<std::string> &words) {
  if (words.empty()) {
    fmt::print("{}", OverviewText());
    return kExitOk;
  }
  const Command *command = FindCommand(words[0]);
  if (command == nullptr) return UnknownVerb(words[0]);
  fmt::print("{}", HelpText(*command));
  return kExitOk;
}

int Completion(const std::vector<std::string> &words) {
  if (words.size() != 1 || words[0] != "bash") {
    fmt::print(stderr, "gkhi completion: found {}, wanted 'bash'\n",
               words.empty() ? "nothing" : "'" + words[0] + "'");
    return kExitUsage;
  }
  fmt::print("{}", BashCompletion());
  return kExitOk;
}

// --help counts only before operands: behind them it may belong to another command.
bool WantsHelp(const std::vector<std::string> &words) {
  for (const std::string &word : words) {
    if (word == "--help" || word == "-h") return true;
    if (word.empty() || word[0] != '-' || word == "--") return false;
  }
  return false;
}

int Run(std::vector<std::string> words) {
  if (words.empty()) {
    fmt::print(stderr, "{}", OverviewText());
    return kExitUsage;
  }
  const std::string verb = words[0];
  words.erase(words.begin());
  if (verb == "help" || verb == "--help" || verb == "-h") return Help(words);
  if (verb == "completion") return Completion(words);
  if (verb == "--version" || verb == "-V") {
    fmt::print("gkhi {}\n", GKHI_VERSION);
    return kExitOk;
  }
  const Command *command = FindCommand(verb);
  if (command == nullptr) return UnknownVerb(verb);
  if (WantsHelp(words)) return Help({verb});
  Result<Args> args = ParseArgs(*command, words);
  if (!args) {
    fmt::print(stderr, "{}\n", args.error());
    return kExitUsage;
  }
  return command->run(*args);
}

}  // namespace
}  // namespace gkhi::cli

int main(int argc, char **argv) {
  setlocale(LC_CTYPE, "");  // tables show the letters of the terminal's language
  return gkhi::cli::Run(std::vector<std::string>(argv + 1, argv + argc));
}
