// SPDX-License-Identifier: MIT
#include "switch_ledger.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>

namespace gkhi_stress {

Letters Text(uint64_t lane, uint64_t seq) {
  const uint64_t check = Check(seq, lane);
  Letters t{};
  t.n = check % 21;
  for (size_t i = 0; i < t.n; i++) t.s[i] = static_cast<char>('a' + (check >> (i * 3) & 7) + i % 13);
  return t;
}

Ledger::Ledger(size_t lanes, size_t capacity)
    : lanes_(lanes), capacity_(capacity), fired_(lanes * capacity), count_(lanes) {}

void Ledger::Clear() {
  std::fill(fired_.begin(), fired_.end(), Fired{});
  std::fill(count_.begin(), count_.end(), 0);
  for (auto &c : configurations_) c.clear();
  verdict_ = {};
}

void Ledger::Configure(int group, size_t k, uint8_t channels) {
  auto &c = configurations_[group];
  if (c.size() <= k) c.resize(k + 1);
  c[k] = channels;
}

void Ledger::SetIds(const uint32_t (&ids)[kGroups][2]) {
  std::memcpy(ids_, ids, sizeof(ids_));
}

void Ledger::Fault(const std::string &what) {
  if (verdict_.faults++ == 0) verdict_.first_fault = what;
}

// ---------------------------------------------------------------------------------------------------------
// reading

void Ledger::Found(uint64_t lane, uint64_t seq, int group, int channel) {
  if (lane >= lanes_ || seq >= capacity_) {
    Fault(fmt::format("an event that nobody fired: lane {} seq {}", lane, seq));
    return;
  }
  Fired &f = At(lane, seq);
  // The ring orders this behind the thread's store, by a way that no sanitizer sees: the commit of the event.
  if (std::atomic_ref(f.group).load(std::memory_order_acquire) != group)
    Fault(fmt::format("lane {} seq {} came as group {}", lane, seq, group));
  if (f.found >> channel & 1) Fault(fmt::format("twice: lane {} seq {} in channel {}", lane, seq, channel));
  f.found |= static_cast<uint8_t>(1 << channel);
  verdict_.read++;
}

// One record; its length in words, 0 when what follows cannot be found.
size_t Ledger::ReadRecord(const uint64_t *words, size_t left, int channel) {
  const uint32_t id = words[0] & 0xffff;
  for (int group = 0; group < kGroups; group++) {
    if (id == ids_[group][0] && left >= 4) {
      if (words[3] == Check(words[1], words[2]))
        Found(words[1], words[2], group, channel);
      else
        Fault(fmt::format("torn: lane {} seq {}", words[1], words[2]));
      return 4;
    }
    if (id == ids_[group][1] && left >= 4) {
      const Letters text = Text(words[1], words[2]);
      const size_t n = text.n / 8 + 1;
      if (left < 3 + n) return 0;
      const char *got = reinterpret_cast<const char *>(words + 3);
      if (strnlen(got, n * 8) == text.n && std::memcmp(got, text.s, text.n) == 0)
        Found(words[1], words[2], group, channel);
      else
        Fault(fmt::format("torn: lane {} seq {}, its text is not '{}'", words[1], words[2], text.s));
      return 3 + n;
    }
  }
  Fault(fmt::format("no event {}", id));
  return 0;
}

void Ledger::ReadPacket(const char *packet, size_t bytes, int channel) {
  const auto *words = reinterpret_cast<const uint64_t *>(packet);
  size_t at = GKHI_PACKET_HEADER / 8;
  const size_t end = bytes / 8;
  while (at < end) {
    const size_t n = ReadRecord(words + at, end - at, channel);
    if (n == 0) return;
    at += n;
  }
}

uint64_t Ledger::Read(const std::string &path, int channel) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat st {};
  if (fd < 0 || fstat(fd, &st) != 0) {
    Fault(path + " cannot be read");
    return 0;
  }
  const auto size = static_cast<size_t>(st.st_size);
  auto *base = static_cast<const char *>(mmap(nullptr, size, PROT_READ, MAP_SHARED, fd, 0));
  close(fd);
  const auto *file = reinterpret_cast<const gkhi_ring_file *>(base);
  uint64_t lost = 0;
  for (uint32_t s = 0; s < file->n_streams; s++) {
    const char *stream = base + GKHI_RING_PAGE + s * file->stride;
    const auto *cpu = reinterpret_cast<const gkhi_ring_cpu *>(stream + file->cpu_offset);
    const char *data = stream + file->data_offset;
    const uint64_t open_seq = gkhi_commit_packet(cpu->commit);
    for (const uint64_t n : cpu->lost_by_reason) lost += n;
    for (uint64_t seq = 0; seq <= open_seq && seq < file->n_subbufs; seq++) {
      const char *packet = data + seq * file->subbuf_size;
      const auto *header = reinterpret_cast<const gkhi_packet *>(packet);
      if (header->magic != GKHI_CTF_MAGIC || header->packet_seq_num != seq) {
        Fault(fmt::format("{}: stream {} packet {} has no header", path, s, seq));
        continue;
      }
      const size_t bytes = seq == open_seq ? gkhi_commit_offset(cpu->commit) + 8 - seq * file->subbuf_size
                                           : header->content_size / 8;
      if (bytes <= file->subbuf_size)
        ReadPacket(packet, bytes, channel);
      else
        Fault(fmt::format("{}: stream {} packet {} of {} bytes", path, s, seq, bytes));
    }
  }
  munmap(const_cast<char *>(base), size);
  return lost;
}

// ---------------------------------------------------------------------------------------------------------
// judging

void Ledger::JudgeOne(size_t lane, size_t seq, const Fired &f) {
  const auto &configurations = configurations_[f.group];
  bool all_on = true, fits = false;
  int least = 99, most = 0;
  for (size_t k = f.before / 2; k <= (f.behind + 1) / 2 && k < configurations.size(); k++) {
    const uint8_t c = configurations[k];
    all_on = all_on && c != 0;
    if ((f.found & c) != f.found) continue;
    const int missing = std::popcount(static_cast<unsigned int>(c & ~f.found));
    fits = true;
    least = std::min(least, missing);
    most = std::max(most, missing);
  }
  verdict_.surely_on += all_on;
  if (!fits) {
    Fault(fmt::format("lane {} seq {} is in channels {:#b}, which is none of what it met: turns {} to {}",
                      lane, seq, f.found, f.before, f.behind));
    return;
  }
  verdict_.missing_least += static_cast<uint64_t>(least);
  verdict_.missing_most += static_cast<uint64_t>(most);
}

Verdict Ledger::Judge(uint64_t lost) {
  for (size_t lane = 0; lane < lanes_; lane++) {
    verdict_.fired += count_[lane];
    for (size_t seq = 0; seq < count_[lane]; seq++) JudgeOne(lane, seq, At(lane, seq));
    for (size_t seq = count_[lane]; seq < capacity_; seq++)
      if (At(lane, seq).found != 0)
        Fault(fmt::format("an event that nobody fired: lane {} seq {}", lane, seq));
  }
  if (verdict_.missing_least > lost)
    Fault(
        fmt::format("at least {} events are missing, {} were counted as lost", verdict_.missing_least, lost));
  if (verdict_.missing_most < lost)
    Fault(fmt::format("at most {} events are missing, {} were counted as lost", verdict_.missing_most, lost));
  return verdict_;
}

}  // namespace gkhi_stress
