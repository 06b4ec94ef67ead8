// SPDX-License-Identifier: MIT
// Batches are text: statements with ";" or a newline between, "#" starts a comment.
#include "batch_text.hpp"

#include <fmt/format.h>
#include <gkhi/abi.h>

#include <algorithm>
#include <cstring>

namespace gkhi::cli {
namespace {

constexpr std::string_view kBlanks = " \t\r";
constexpr const char *kStates[] = {"disabled", "static", "marker"};

template <size_t N>
std::string Text(const char (&text)[N]) {
  return std::string(text, strnlen(text, N));
}

std::vector<std::string_view> Words(std::string_view text) {
  std::vector<std::string_view> words;
  for (size_t at = text.find_first_not_of(kBlanks); at != text.npos;
       at = text.find_first_not_of(kBlanks, at)) {
    const size_t end = std::min(text.find_first_of(kBlanks, at), text.size());
    words.push_back(text.substr(at, end - at));
    at = end;
  }
  return words;
}

// Where the first statement ends: before ";", a line end, or a "#" that begins a word.
size_t StatementEnd(std::string_view batch) {
  for (size_t i = 0; i < batch.size(); i++) {
    if (batch[i] == ';' || batch[i] == '\n') return i;
    if (batch[i] == '#' && (i == 0 || kBlanks.find(batch[i - 1]) != kBlanks.npos)) return i;
  }
  return batch.size();
}

// A statement about hooks, whose channel nobody has chosen.
bool WantsChannel(std::string_view statement) {
  const std::vector<std::string_view> words = Words(statement);
  if (words.empty() || words[0] == "channel") return false;
  return std::none_of(words.begin(), words.end(),
                      [](std::string_view word) { return word.substr(0, 8) == "channel="; });
}

// It only says which hooks: "provider:*".
bool WantsState(std::string_view statement) {
  const std::vector<std::string_view> words = Words(statement);
  return std::none_of(words.begin(), words.end(), [](std::string_view word) {
    return word[0] == '+' || word == "-" || word.find('=') != word.npos;
  });
}

bool Routes(const gkhi_control_hook &hook, std::string_view channel) {
  const std::string channels = "," + Text(hook.channels) + ",";
  return channels.find(fmt::format(",{},", channel)) != channels.npos;
}

}  // namespace

std::string RouteTo(std::string_view batch, std::string_view channel) {
  std::string out;
  while (!batch.empty()) {
    const size_t end = StatementEnd(batch);
    const std::string_view statement = batch.substr(0, end);
    const bool comment = end < batch.size() && batch[end] == '#';
    out += statement;
    if (WantsChannel(statement))
      out += fmt::format("{} channel={}{}", WantsState(statement) ? " +on" : "", channel, comment ? " " : "");
    batch.remove_prefix(end);
    // A comment goes on to the end of its line.
    const size_t rest = std::min(comment ? batch.find('\n') : 0, batch.size());
    out += batch.substr(0, std::min(rest + 1, batch.size()));
    batch.remove_prefix(std::min(rest + 1, batch.size()));
  }
  return out;
}

std::string TakeBack(const std::vector<gkhi_control_hook> &before, const std::vector<gkhi_control_hook> &now,
                     std::string_view channel) {
  std::string out;
  for (const gkhi_control_hook &hook : now) {
    if (!Routes(hook, channel) || hook.gone) continue;
    const auto old = std::find_if(before.begin(), before.end(), [&](const gkhi_control_hook &candidate) {
      return Text(candidate.name) == Text(hook.name) && candidate.layout == hook.layout;
    });
    const uint8_t state = old != before.end() && old->state < std::size(kStates) ? old->state : 0;
    out += fmt::format("{} +{}", Text(hook.name), kStates[state]);
    // One that is off forgets the channel when it goes.
    if (state != GKHI_DISABLED && old->channels[0] != 0)
      out += fmt::format(" channel={}", Text(old->channels));
    out += "; ";
  }
  return out;
}

}  // namespace gkhi::cli
