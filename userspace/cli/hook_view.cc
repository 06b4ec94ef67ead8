// SPDX-License-Identifier: MIT
// Reads hook tables and counters into values.
#include "hook_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <gkhi/reader/producer.hpp>

extern "C" {
const char *gkhi_state_name(enum gkhi_state state);
const char *gkhi_why_text(enum gkhi_why why);
}

namespace gkhi::cli {
namespace {

constexpr const char *kReasons[GKHI_N_LOST_REASONS] = {"full",     "contention", "too big", "recursion",
                                                       "no route", "rate",       "fault",   "io"};
constexpr const char *kStability[] = {"private", "evolving", "stable"};

template <size_t N>
std::string Text(const char (&text)[N]) {
  return std::string(text, strnlen(text, N));
}

std::string Effective(const gkhi_control_hook &hook) {
  const std::string state = gkhi_state_name(static_cast<gkhi_state>(hook.effective));
  const std::string why = gkhi_why_text(static_cast<gkhi_why>(hook.why));
  return why.empty() ? state : fmt::format("{} ({})", state, why);
}

std::string ReasonsText(const uint64_t *lost) {
  std::string out;
  for (size_t i = 0; i < GKHI_N_LOST_REASONS; i++) {
    if (lost[i] != 0) out += fmt::format("{}{} {}", out.empty() ? "" : ", ", kReasons[i], lost[i]);
  }
  return out;
}

HookView ViewHook(const gkhi_control_hook &hook, const std::vector<reader::RingFile> &rings) {
  HookView view;
  view.name = Text(hook.name);
  view.state = gkhi_state_name(static_cast<gkhi_state>(hook.state));
  view.effective = Effective(hook);
  view.channels = Text(hook.channels);
  view.stability = hook.stability < std::size(kStability) ? kStability[hook.stability] : "?";
  view.id = hook.id;
  view.keys = hook.n_keys;
  view.pads = hook.n_pads;
  view.layout = hook.layout;
  view.gone = hook.gone != 0;
  view.hits = hook.hits;
  view.lost = hook.lost;
  view.faults = hook.faults;
  for (const reader::RingFile &ring : rings) {
    if (hook.id == 0) break;
    view.hits += ring.Hits(hook.id);
    view.lost += ring.Lost(hook.id);
  }
  return view;
}

ChannelView ViewChannel(const gkhi_control_channel &channel, const std::vector<reader::RingFile> &rings) {
  ChannelView view;
  view.name = Text(channel.name);
  view.backend = Text(channel.backend);
  view.target = Text(channel.target);
  view.events = channel.events;
  uint64_t lost[GKHI_N_LOST_REASONS];
  std::copy(std::begin(channel.lost), std::end(channel.lost), lost);
  if (view.backend == "ring") {
    view.mode = channel.mode == GKHI_RING_DISCARD ? "discard" : "overwrite";
    view.size = uint64_t{channel.subbuf_size} * channel.n_subbufs;
  }
  for (const reader::RingFile &ring : rings) {
    if (ring.channel() != view.name) continue;
    // The file has the live counts.
    view.events = ring.Events();
    const std::vector<uint64_t> live = ring.LostByReason();
    std::copy(live.begin(), live.end(), lost);
  }
  for (const uint64_t n : lost) view.lost += n;
  view.reasons = ReasonsText(lost);
  return view;
}

}  // namespace

Result<pid_t> ParsePid(const std::string &text) {
  pid_t pid = 0;
  const auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), pid);
  if (ec != std::errc() || end != text.data() + text.size() || pid <= 0) {
    return Error{fmt::format("found '{}', wanted a process id", text)};
  }
  return pid;
}

Result<ProcessView> ViewProcess(Process *process) {
  // First: it may map the file anew.
  Result<std::vector<gkhi_control_hook>> hooks = process->Hooks();
  if (!hooks) return Error{hooks.error()};
  const gkhi_control &control = process->control();
  ProcessView view;
  view.pid = static_cast<pid_t>(control.pid);
  view.comm = Text(control.comm);
  view.dir = process->dir();
  view.alive = process->Alive();
  std::vector<reader::RingFile> rings;
  Result<reader::Producer> producer = reader::Producer::Open(process->dir());
  if (!producer) return Error{producer.error()};
  for (const std::string &path : producer->RingPaths()) {
    Result<reader::RingFile> ring = reader::RingFile::Open(path);
    if (ring) rings.push_back(std::move(*ring));  // else: it is being made, or just went
  }
  for (const gkhi_control_hook &hook : *hooks) view.hooks.push_back(ViewHook(hook, rings));
  std::stable_sort(view.hooks.begin(), view.hooks.end(),
                   [](const auto &a, const auto &b) { return a.name < b.name; });
  const uint32_t n = std::min<uint32_t>(control.n_channels, GKHI_CONTROL_CHANNELS);
  for (uint32_t i = 0; i < n; i++) {
    if (control.channels[i].name[0] != 0) view.channels.push_back(ViewChannel(control.channels[i], rings));
  }
  return view;
}

Result<std::vector<Process>> ChooseProcesses(const Args &args, const char *verb, bool dead_too) {
  std::vector<Process> chosen;
  for (const std::string &text : args.All("pid")) {
    Result<pid_t> pid = ParsePid(text);
    if (!pid) return Error{"--pid: " + pid.error()};
    Result<Process> process = Process::Open(*pid);
    if (!process && dead_too) {
      Result<Process> dead = Process::Find(*pid);
      if (dead) process = std::move(dead);
    }
    if (!process) return Error{process.error()};
    chosen.push_back(std::move(*process));
  }
  if (args.Has("pid")) return chosen;
  for (const ProcessDirectory &directory : ListProcesses()) {
    if (!directory.alive && !dead_too) continue;
    Result<Process> process = Process::OpenDirectory(directory.path);
    if (process) {
      chosen.push_back(std::move(*process));
    } else {
      Fail(verb, process.error());
    }
  }
  return chosen;
}

}  // namespace gkhi::cli
