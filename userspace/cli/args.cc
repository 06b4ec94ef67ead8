// SPDX-License-Identifier: MIT
// Parses the words behind a verb with getopt_long, from the verb's own table.
#include <fmt/format.h>
#include <getopt.h>

#include <algorithm>
#include <cstdio>
#include <gkhi/reader/printable.hpp>

#include "command.hpp"

namespace gkhi::cli {
namespace {

constexpr int kFirstLong = 256;  // getopt values: index of the option + this

std::vector<std::string> LongNames(const Command &command) {
  std::vector<std::string> names;
  for (const Option &option : command.options) names.push_back(std::string("--") + option.name);
  names.emplace_back("--help");
  return names;
}

Error Unknown(const Command &command, const std::string &word) {
  const std::string near = Nearest(word.substr(0, word.find('=')), LongNames(command));
  return Error{fmt::format("gkhi {}: unknown option '{}'; {}see 'gkhi help {}'", command.verb, word,
                           near.empty() ? "" : fmt::format("did you mean '{}'? ", near), command.verb)};
}

// Options that take no argument and options of two verbs share letters: getopt gets both tables from ours.
struct GetoptTables {
  explicit GetoptTables(const Command &command) {
    letters = command.stop_at_operand ? "+:" : ":";
    for (size_t i = 0; i < command.options.size(); i++) {
      const Option &option = command.options[i];
      longs.push_back({option.name, option.value ? required_argument : no_argument, nullptr,
                       static_cast<int>(kFirstLong + i)});
      if (option.letter == 0) continue;
      letters += option.letter;
      if (option.value) letters += ':';
    }
    longs.push_back({nullptr, 0, nullptr, 0});
  }
  std::string letters;
  std::vector<option> longs;
};

const Option *ByGetopt(const Command &command, int c) {
  if (c >= kFirstLong) return &command.options[c - kFirstLong];
  for (const Option &option : command.options) {
    if (option.letter == c) return &option;
  }
  return nullptr;
}

// Edit distance, small words only.
size_t Distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); j++) row[j] = j;
  for (size_t i = 1; i <= a.size(); i++) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); j++) {
      const size_t above = row[j];
      row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1])});
      diagonal = above;
    }
  }
  return row[b.size()];
}

}  // namespace

int Fail(std::string_view verb, std::string_view text) {
  fmt::print(stderr, "gkhi {}: {}\n", verb, reader::Printable(text));
  return kExitFailure;
}

std::string Nearest(std::string_view word, const std::vector<std::string> &candidates) {
  std::string best;
  size_t least = std::max<size_t>(word.size() / 3, 1) + 1;
  for (const std::string &candidate : candidates) {
    const size_t distance = Distance(word, candidate);
    if (distance < least) {
      least = distance;
      best = candidate;
    }
  }
  return best;
}

std::optional<std::string> Args::Get(std::string_view option) const {
  auto it = values_.find(std::string(option));
  if (it == values_.end()) return std::nullopt;
  return it->second.back();
}

std::vector<std::string> Args::All(std::string_view option) const {
  auto it = values_.find(std::string(option));
  return it == values_.end() ? std::vector<std::string>() : it->second;
}

Result<Args> ParseArgs(const Command &command, const std::vector<std::string> &words) {
  const GetoptTables tables(command);
  std::string verb = command.verb;
  std::vector<std::string> copies = words;
  std::vector<char *> argv = {verb.data()};
  for (std::string &word : copies) argv.push_back(word.data());
  argv.push_back(nullptr);
  Args args;
  optind = 0;  // glibc: start anew
  opterr = 0;
  int c;
  const int argc = static_cast<int>(argv.size()) - 1;
  while ((c = getopt_long(argc, argv.data(), tables.letters.c_str(), tables.longs.data(), nullptr)) != -1) {
    const std::string word = optind > 0 && optind <= argc ? argv[optind - 1] : "";
    if (c == ':') {
      const Option *option = ByGetopt(command, optopt);
      return Error{fmt::format("gkhi {}: option '{}' wants an argument: {}", command.verb, word,
                               option != nullptr ? option->value : "VALUE")};
    }
    if (c == '?') {
      if (optopt >= kFirstLong) {
        return Error{fmt::format("gkhi {}: option '--{}' takes no argument, found '{}'", command.verb,
                                 ByGetopt(command, optopt)->name, word)};
      }
      return Unknown(command, optopt != 0 ? fmt::format("-{:c}", optopt) : word);
    }
    args.values_[ByGetopt(command, c)->name].emplace_back(optarg != nullptr ? optarg : "");
  }
  for (int i = optind; i < argc; i++) args.operands_.emplace_back(argv[i]);
  return args;
}

}  // namespace gkhi::cli
