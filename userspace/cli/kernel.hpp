// SPDX-License-Identifier: MIT
// The kernel as a producer: gkhi.ko's control device and its tree in sysfs.
#ifndef GKHI_CLI_KERNEL_HPP
#define GKHI_CLI_KERNEL_HPP

#include <gkhi/control.h>
#include <gkhi/reader/kernel_writer.hpp>

#include <memory>
#include <string>
#include <vector>

namespace gkhi::cli {

// Runs a batch in the kernel; the error is what the kernel says, with the batch and a caret.
Status RunKernelBatch(const std::string &batch);

// Name, state and channels of every hook that the kernel has now.
Result<std::vector<gkhi_control_hook>> KernelHooks();

// The names of the channels that the kernel has now.
std::vector<std::string> KernelChannels();

// It overwrites nothing: its packets are for one consumer.
bool KernelChannelIsManaged(const std::string &channel);

// A trace of the kernel in @output/kernel.
Result<std::unique_ptr<reader::KernelWriter>> KernelTrace(const std::string &output);

// Hooks of the kernel that go to a channel of our own for as long as this lives.
class KernelHooksOn {
 public:
  // @channel_statement makes the channel, @batch switches hooks on.
  static Result<KernelHooksOn> Switch(const std::string &channel, const std::string &channel_statement,
                                      const std::string &batch);
  KernelHooksOn(KernelHooksOn &&other) noexcept { *this = std::move(other); }
  KernelHooksOn &operator=(KernelHooksOn &&other) noexcept {
    std::swap(channel_, other.channel_);
    std::swap(before_, other.before_);
    std::swap(on_, other.on_);
    return *this;
  }
  ~KernelHooksOn();

  // Hooks as they were: nothing comes any more.
  Status TakeBack();
  // And the channel goes.
  Status Remove();

 private:
  KernelHooksOn() = default;
  std::string channel_;
  std::vector<gkhi_control_hook> before_;
  bool on_ = false;
};

}  // namespace gkhi::cli

#endif
