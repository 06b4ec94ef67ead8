// SPDX-License-Identifier: MIT
// gkhi's own variants: one hook each, all on at once, in its state and channel.
#include <gkhi/gkhi.h>

#include <algorithm>
#include <array>
#include <string>

#include "hook_sites.h"
#include "process_files.hpp"
#include "sink.hpp"
#include "variant.hpp"

namespace gkhi::bench {
namespace {

struct Hook {
  const char *variant;
  VariantFn run;
  const char *state;    // it must really be in
  const char *channel;  // nullptr: none
  bool counted;         // the channel is a ring: what is fired must be in it
  long slice;
};

constexpr Hook kHooks[] = {
    {"pair_static", BenchPairStatic, "static", "main", true, 2000},
    {"pair_marker", BenchPairMarker, "marker", "main", true, 2000},
    {"pair_off", BenchPairOff, "disabled", nullptr, false, 2000},
    {"pair_noclock", BenchPairNoClock, "static", "noclock", true, 2000},
    {"pair_printk", BenchPairPrintk, "static", "log", false, 400},
    {"text_static", BenchTextStatic, "static", "main", true, 2000},
    {"text_marker", BenchTextMarker, "marker", "main", true, 2000},
};

// The same sizes as the floor's ring: four sub-buffers, 1 MiB a stream.
std::string Channel(const char *name) {
  const std::string channel = std::string("channel ") + name;
  if (channel == "channel log") return channel + " backend=printk rate=0 target=" + WorkFile("printk.txt");
  const std::string stream = channel == "channel noclock" ? " stream=noclock" : "";
  return channel + " backend=ring mode=overwrite subbuf_size=256K n_subbufs=4" + stream;
}

// One batch a hook, so that one that is refused takes no other with it. The error's first line, or nothing.
std::string SwitchOn(const Hook &hook) {
  if (hook.channel == nullptr) return {};
  const std::string batch = Channel(hook.channel) + "\nbench:" + hook.variant + " +" + hook.state +
                            " channel=" + hook.channel + "\n";
  std::array<char, 1024> error{};
  if (gkhi_control(batch.c_str(), error.data(), error.size()) == 0) return {};
  const std::string text = error.data();
  return "gkhi_control: " + text.substr(0, text.find('\n'));
}

// Why a variant does not do what its name says; empty: it does.
std::string WhyNot(const Hook &hook, void *state) {
  const std::string effective = EffectiveState(std::string("bench:") + hook.variant);
  if (effective != hook.state) return "hook is in state " + effective + ", wanted " + hook.state;
  if (!hook.counted) return {};
  constexpr long kEvents = 100;
  const auto before = RingEvents(hook.channel);
  hook.run(state, kEvents);
  const auto after = RingEvents(hook.channel);
  if (!before || !after) return std::string("cannot read the ring of channel ") + hook.channel;
  if (*after - *before == kEvents) return {};
  return "fired " + std::to_string(kEvents) + " events, found " + std::to_string(*after - *before) +
         " in the ring";
}

}  // namespace

void AddHooks(std::vector<Variant> &out) {
  static std::array<char, sizeof kText> text;
  std::copy(std::begin(kText), std::end(kText), text.begin());
  for (const Hook &hook : kHooks) {
    Variant variant{.name = hook.variant,
                    .run = hook.run,
                    .slice = hook.slice,
                    .state = {text.data(), text.data()},
                    .skip = {}};
    variant.skip = SwitchOn(hook);
    if (variant.skip.empty()) variant.skip = WhyNot(hook, text.data());
    out.push_back(variant);
  }
}

}  // namespace gkhi::bench
