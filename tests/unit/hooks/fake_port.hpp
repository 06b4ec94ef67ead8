// SPDX-License-Identifier: MIT
// fake_port.hpp - a world for the core to run in: memory that can fail, code that is an array of words,
// channels that remember, objects put together by hand; and the side of events, a thread running through a
// site.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

extern "C" {
#include "batch.h"
#include "internal.h"
}

namespace gkhi_test {

// One event as a channel got it.
struct Seen {
  std::string channel;
  uint32_t id;
  uint64_t word;
};

// The knobs and memories of the fake port. One for the process; Reset() between tests.
struct World {
  int fail_alloc_at =
      0;  // the nth allocation from now fails, and all behind it until this is changed; 0: none
  int fail_open_at = 0;  // the nth channel from now cannot be opened
  int open_error = -ENOSPC;
  int fail_declare_at = 0;
  int start_error = 0;
  std::set<const void *> read_only;  // places that cannot be patched
  std::set<const void *> strange;    // places that somebody else patched
  std::set<const void *> no_detour;  // pads without
  std::map<const void *, size_t> blocks;
  std::vector<std::string> log;
  std::vector<std::string> declared;                  // "name/id/class"
  std::vector<std::string> changed;                   // port_hook_changed
  std::vector<std::pair<uint32_t, uint64_t>> faults;  // slot and number
  std::vector<std::vector<const void *>> rounds;      // addresses of each port_patch()
  std::vector<std::string> open_channels;
  std::function<void()> in_synchronize;
  int synchronize_result = 0;
  int synchronized = 0;
  bool keep_seen = true;
  std::vector<Seen> seen;
  std::atomic<void (*)(const gkhi_channel *, uint32_t, const uint64_t *)> sink{nullptr};
  std::atomic<uint64_t> missed{0};   // mode said pad, and the pad did not jump
  std::shared_mutex sequences;       // held shared: inside a restartable sequence
  std::atomic<bool> restart{false};  // somebody waits for all sequences to end: none begins

  void Reset();
  [[nodiscard]] size_t LiveBytes() const;
};

extern World world;

// An object file's worth of hooks. Everything lies in one block, so that 32-bit distances reach.
class Object {
 public:
  explicit Object(size_t room = 1 << 20);
  ~Object();
  Object(const Object &) = delete;

  // Index of the hook. Layout 0: made from the name.
  int Hook(const std::string &name, uint64_t layout = 0, uint16_t flags = 0);
  int Key(int hook);
  int Pad(int hook, const std::string &file = "rx.c", uint32_t line = 10, const std::string &function = "",
          bool bare = false);
  // A pad's record without the pad: where a site is that loads the mode.
  int Place(int hook, const std::string &file, uint32_t line);
  void Event(const std::string &name, uint64_t layout = 0, uint8_t states = GKHI_HAS_STATIC | GKHI_HAS_MARKER,
             uint8_t default_state = GKHI_DISABLED, const char *channel = "main");
  void RawRecord(const void *bytes, size_t n);
  // A hook with a key, a pad and an event: the usual one.
  int Usual(const std::string &name);

  gkhi_module *Module();  // ready to be added
  void Leave();           // out of the core, if it is there
  static void LeaveAll();
  gkhi_hook *hook(int i) { return &hooks_[i]; }
  void *key_code(int i) { return &code_[key_codes_[static_cast<size_t>(i)]]; }
  void *pad_code(int i) { return &code_[pad_codes_[static_cast<size_t>(i)]]; }
  bool KeyJumps(int i);
  bool PadJumps(int i);

  // A thread runs through the site of @hook whose key and pad are the @nth of it.
  void Fire(int hook, uint64_t word, int nth = 0);
  void FireFrame(int hook, const uint64_t *frame, int nth = 0);
  void FireLoaded(int hook, uint64_t word);
  void FireBare(int pad, int hook, uint64_t word);

 private:
  void *Take(size_t n, size_t align);
  const char *String(const std::string &s);
  int Code();

  size_t room_, used_ = 0;
  char *block_;
  gkhi_hook *hooks_;
  gkhi_key *keys_;
  char *records_;
  gkhi_event *events_;
  std::atomic<const void *> *code_;
  int n_hooks_ = 0, n_keys_ = 0, n_events_ = 0, n_code_ = 0;
  size_t records_size_ = 0;
  std::vector<int> key_codes_, pad_codes_;
  std::vector<std::vector<int>> keys_of_, pads_of_;
  gkhi_module module_{};
};

uint64_t LayoutOf(const std::string &name);

// Run a batch under the control lock. The error text is kept.
struct BatchResult {
  int err;
  std::string error;
};
BatchResult Batch(std::string_view text, unsigned int flags = 0);

gkhi_hook_info Describe(const std::string &name, uint64_t layout = 0);
std::string StateOf(const std::string &name);  // "marker", "marker/static (why)"

void ResetCore();  // core_reset.cc

// A fresh world and an empty core; afterwards nothing may be left allocated.
class CoreTest : public testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;

  void Add(Object &object) { ASSERT_EQ(AddResult(object), 0); }
  int AddResult(Object &object);
  void Remove(Object &object);
};

}  // namespace gkhi_test
