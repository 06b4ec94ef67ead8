// SPDX-License-Identifier: MIT
// Reading one map of an event file: each key is taken once with the type it must have; what is left over is
// unknown.
#ifndef GENEVENT_SCOPE_HPP_
#define GENEVENT_SCOPE_HPP_

#include <optional>
#include <string>
#include <vector>

#include "scalar.hpp"
#include "yaml.hpp"

namespace genevent {

// Collects what is wrong with a file.
class Report {
 public:
  void Error(Position at, std::string message, std::string hint = {});
  void Warning(Position at, std::string message, std::string hint = {});

  [[nodiscard]] bool failed() const { return !errors_.empty(); }
  [[nodiscard]] Diagnostics TakeErrors() { return std::move(errors_); }
  [[nodiscard]] Diagnostics TakeWarnings() { return std::move(warnings_); }

 private:
  Diagnostics errors_;
  Diagnostics warnings_;
};

// "did you mean 'x'?" or "known: a, b, c".
[[nodiscard]] std::string Suggest(const std::string &word, const std::vector<std::string> &names);

// A name as C, CTF and the command line can use it: lower case, digits, '_'.
[[nodiscard]] bool CheckName(const YamlNode &node, const std::string &what, Report *report);
// Text, quoted or certainly text to every YAML reader.
[[nodiscard]] std::optional<std::string> ReadText(const YamlNode &node, const std::string &what,
                                                  Report *report);
[[nodiscard]] std::optional<Integer> ReadInteger(const YamlNode &node, const std::string &what,
                                                 Report *report);

class Scope {
 public:
  // `what` names the map in messages: "event", "field 'len'".
  Scope(const YamlNode &node, std::string what, Report *report);

  [[nodiscard]] bool valid() const { return map_ != nullptr; }

  // The value of `key`, nullptr when absent. Every key that is legal here must be taken before Finish().
  const YamlNode *Take(const std::string &key);
  const YamlNode *Require(const std::string &key, const std::string &hint = {});

  std::optional<std::string> Text(const std::string &key);
  std::optional<std::string> Name(const std::string &key, bool required);
  std::optional<uint64_t> Unsigned(const std::string &key, uint64_t least, uint64_t most);
  std::optional<bool> Boolean(const std::string &key);
  // Index into `choices`.
  std::optional<size_t> Choice(const std::string &key, const std::vector<std::string> &choices);

  // Reports the keys that nobody took.
  void Finish();

 private:
  const YamlNode *map_ = nullptr;
  std::string what_;
  Report *report_;
  Position at_;
  std::vector<std::string> known_;
};

}  // namespace genevent

#endif  // GENEVENT_SCOPE_HPP_
