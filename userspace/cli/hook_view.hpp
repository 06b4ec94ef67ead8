// SPDX-License-Identifier: MIT
// What `gkhi list` and `gkhi stat` show: the hook tables of processes with the counters of their rings.
#ifndef GKHI_CLI_HOOK_VIEW_HPP
#define GKHI_CLI_HOOK_VIEW_HPP

#include <gkhi/control.h>
#include <gkhi/reader/ring_file.hpp>

#include <string>
#include <vector>

#include "command.hpp"
#include "request.hpp"

namespace gkhi::cli {

struct HookView {
  std::string name;       // "provider:event"
  std::string state;      // asked for
  std::string effective;  // what it really is, with the reason in brackets when that differs
  std::string channels;
  std::string stability;
  uint32_t id = 0;
  uint32_t keys = 0;
  uint32_t pads = 0;
  uint64_t layout = 0;
  uint64_t hits = 0;
  uint64_t lost = 0;
  uint64_t faults = 0;  // operands that could not be read
  bool gone = false;
};

struct ChannelView {
  std::string name;
  std::string backend;
  std::string mode;    // overwrite, discard; "" for backends without
  std::string target;  // printk
  uint64_t size = 0;   // bytes per cpu
  uint64_t events = 0;
  uint64_t lost = 0;
  std::string reasons;  // "full 3, too big 1"
};

struct ProcessView {
  pid_t pid = 0;
  std::string comm;
  std::string dir;
  bool alive = false;
  std::vector<HookView> hooks;  // by name
  std::vector<ChannelView> channels;
};

// As the tables and rings say now.
Result<ProcessView> ViewProcess(Process *process);

// The processes that the options say: -p PID (made to open its directory when it has none), else all that
// have one. What could not be read is told on stderr, under @verb.
Result<std::vector<Process>> ChooseProcesses(const Args &args, const char *verb, bool dead_too);

// "12ab" is no pid.
Result<pid_t> ParsePid(const std::string &text);

}  // namespace gkhi::cli

#endif
