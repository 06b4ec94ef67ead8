// SPDX-License-Identifier: MIT
// The verbs of gkhi, one line each, in the order of help.
#include "command.hpp"

namespace gkhi::cli {

const Command &CleanCommand();
const Command &ListCommand();
const Command &MapCommand();
const Command &RecordVerb();
const Command &ReportCommand();
const Command &SetCommand();
const Command &SnapshotCommand();
const Command &StatCommand();

const std::vector<const Command *> &Commands() {
  static const std::vector<const Command *> commands = {
      &ListCommand(),     &SetCommand(),    &StatCommand(), &RecordVerb(),
      &SnapshotCommand(), &ReportCommand(), &MapCommand(),  &CleanCommand(),
  };
  return commands;
}

const Command *FindCommand(std::string_view verb) {
  for (const Command *command : Commands()) {
    if (verb == command->verb) return command;
  }
  return nullptr;
}

}  // namespace gkhi::cli
