// SPDX-License-Identifier: MIT
// See process_files.hpp.
#include "process_files.hpp"

#include <gkhi/abi.h>
#include <gkhi/control.h>
#include <gkhi/ring.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <numeric>
#include <vector>

namespace gkhi::bench {
namespace {

std::vector<char> ReadAll(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

template <typename T>
bool ReadAt(const std::vector<char> &bytes, std::uint64_t offset, T &out) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) return false;
  std::memcpy(&out, bytes.data() + offset, sizeof(T));
  return true;
}

}  // namespace

std::string ProcessDirectory() {
  const char *root = std::getenv("GKHI_DIR");
  if (root == nullptr) return {};
  const std::string prefix = std::to_string(getpid()) + "-";
  std::error_code error;
  for (const auto &entry : std::filesystem::directory_iterator(root, error)) {
    if (entry.path().filename().string().rfind(prefix, 0) == 0) return entry.path().string();
  }
  return {};
}

std::optional<std::uint64_t> RingEvents(const std::string &channel) {
  std::ifstream file(ProcessDirectory() + "/" + channel + ".ring", std::ios::binary);
  gkhi_ring_file head{};
  if (!file.read(reinterpret_cast<char *>(&head), sizeof head) || head.magic != GKHI_RING_MAGIC)
    return std::nullopt;
  std::uint64_t events = 0;
  std::vector<std::uint64_t> hits(head.n_counters);
  for (std::uint32_t stream = 0; stream < head.n_streams; ++stream) {
    file.seekg(static_cast<std::streamoff>(GKHI_RING_PAGE + stream * head.stride + head.hits_offset));
    if (!file.read(reinterpret_cast<char *>(hits.data()),
                   static_cast<std::streamsize>(hits.size() * sizeof hits[0]))) {
      return std::nullopt;
    }
    events = std::accumulate(hits.begin(), hits.end(), events);
  }
  return events;
}

std::string EffectiveState(const std::string &name) {
  const auto bytes = ReadAll(ProcessDirectory() + "/control");
  gkhi_control control{};
  if (!ReadAt(bytes, 0, control) || control.magic != GKHI_CONTROL_MAGIC) return "no control file";
  for (std::uint32_t i = 0; i < control.n_hooks; ++i) {
    gkhi_control_hook hook{};
    if (!ReadAt(bytes, control.hooks_offset + i * sizeof hook, hook)) break;
    if (name != std::string(hook.name, strnlen(hook.name, sizeof hook.name))) continue;
    static constexpr const char *kStates[] = {"disabled", "static", "marker"};
    const std::string state = hook.effective <= GKHI_MARKER ? kStates[hook.effective] : "unknown";
    if (hook.why == GKHI_WHY_OK || hook.why == GKHI_WHY_OPTIMISED) return state;
    return state + " (reason " + std::to_string(hook.why) + ")";
  }
  return "not found";
}

}  // namespace gkhi::bench
