// SPDX-License-Identifier: MIT
// The table of verbs: parsing, help and shell completion are all made from it.
//
// A verb is one file cmd_<verb>.cc with a function `const Command &<Verb>Command()`, one line in commands.cc
// and one in CMakeLists.txt.
#ifndef GKHI_CLI_COMMAND_HPP
#define GKHI_CLI_COMMAND_HPP

#include <gkhi/reader/result.hpp>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gkhi::cli {

// What every verb returns; `gkhi help` documents them.
enum ExitCode {
  kExitOk = 0,
  kExitFailure = 1,
  kExitUsage = 2,
  kExitLoss = 3,  // with --strict: events are missing
};

struct Option {
  char letter;        // 0: none
  const char *name;   // "output", without dashes
  const char *value;  // what the argument is called in help, "DIR"; nullptr: a flag
  const char *help;   // one sentence, no full stop
  const char *choices =
      nullptr;  // for shell completion: words with spaces between, or "<dir>", "<file>", "<pid>", "<hook>"
};

struct Example {
  const char *command;
  const char *what;
};

// The arguments of one call, checked against the options of its verb.
class Args {
 public:
  bool Has(std::string_view option) const { return values_.count(std::string(option)) != 0; }
  // The last one given.
  std::optional<std::string> Get(std::string_view option) const;
  std::vector<std::string> All(std::string_view option) const;
  const std::vector<std::string> &operands() const { return operands_; }

 private:
  friend Result<Args> ParseArgs(const struct Command &command, const std::vector<std::string> &words);
  std::map<std::string, std::vector<std::string>> values_;
  std::vector<std::string> operands_;
};

struct Command {
  const char *verb;
  const char *summary;      // one line in the list of verbs
  const char *operands;     // "[DIR]", "[--] CMD [ARG]..."
  const char *description;  // paragraphs
  std::vector<Option> options;
  std::vector<Example> examples;
  int (*run)(const Args &args);
  bool stop_at_operand = false;           // what follows the first operand belongs to another command
  const char *operand_choices = nullptr;  // as Option::choices
};

// All verbs, in the order of help.
const std::vector<const Command *> &Commands();

const Command *FindCommand(std::string_view verb);

// @words: what follows the verb. The error is a whole line that says what was found and what was wanted.
Result<Args> ParseArgs(const Command &command, const std::vector<std::string> &words);

// The word of @candidates that is nearest to @word, or "" when none is near.
std::string Nearest(std::string_view word, const std::vector<std::string> &candidates);

std::string HelpText(const Command &command);
std::string OverviewText();
std::string BashCompletion();

// "gkhi VERB: text" to stderr; returns kExitFailure, for `return Fail(...)`.
int Fail(std::string_view verb, std::string_view text);

}  // namespace gkhi::cli

#endif
