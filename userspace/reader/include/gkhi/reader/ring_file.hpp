// SPDX-License-Identifier: MIT
// The reader's side of a ring in shared memory (gkhi/ring.h), whether its process lives or not.
//
//   call               against the writer        against other readers
//   CopyPacket, Last   any moment                any
//   Acknowledge        any moment                one consumer per ring
#ifndef GKHI_READER_RING_FILE_HPP
#define GKHI_READER_RING_FILE_HPP

#include <gkhi/packet.h>
#include <gkhi/ring.h>
#include <gkhi/reader/mapped_file.hpp>

#include <string>
#include <vector>

namespace gkhi::reader {

// The open packet of a stream at one moment.
struct OpenPacket {
  uint64_t sequence = 0;
  uint32_t sub_buffer = 0;
  uint64_t content = 0;  // bytes, header included
  uint32_t events = 0;
};

class RingFile {
 public:
  static Result<RingFile> Open(const std::string &path);
  // For a consumer: it acknowledges in the file.
  static Result<RingFile> OpenForConsumer(const std::string &path);

  const gkhi_ring_file &head() const { return head_; }
  std::string channel() const;
  uint32_t n_streams() const { return head_.n_streams; }
  // The cpu of stream @i, GKHI_CPU_NONE for the last one.
  uint32_t Cpu(uint32_t i) const { return i < head_.n_cpus ? i : GKHI_CPU_NONE; }

  OpenPacket Last(uint32_t stream) const;
  // The oldest packet that can still be read: neither overwritten, nor consumed, nor forgotten.
  uint64_t Oldest(uint32_t stream, uint64_t last) const;

  enum class Copied { kGone, kClosed, kOpen };
  // Appends packet @sequence, of @events records, to @out as it belongs on disk: header complete, nothing
  // behind the content. kGone, and nothing appended: the writer was faster and is writing over it. kOpen:
  // closed in the copy at its last committed event; its timestamp_end is the latest that there can be
  // (EndOpenPacket).
  Copied CopyPacket(uint32_t stream, uint64_t sequence, std::string *out, uint32_t *events) const;

  // Discard mode: all packets before @sequence are read. Only after OpenForConsumer().
  void Acknowledge(uint32_t stream, uint64_t sequence);
  // Says that a consumer waits (or no longer), and the word to wait on.
  void Attach(bool attached);
  uint32_t *ready_word();

  // Per-id counters: hits on the slow path, events lost.
  uint64_t Hits(uint32_t id) const { return Counter(id, head_.hits_offset); }
  uint64_t Lost(uint32_t id) const { return Counter(id, head_.lost_offset); }
  // Over all streams: events committed so far, and events not written by reason.
  uint64_t Events() const;
  std::vector<uint64_t> LostByReason() const;

 private:
  static Result<RingFile> Check(MappedFile file, const std::string &path);
  uint64_t Counter(uint32_t id, uint64_t offset) const;
  const gkhi_ring_cpu *Stream(uint32_t i) const;
  const std::byte *SubBuffer(uint32_t stream, uint32_t index) const;

  MappedFile file_;
  gkhi_ring_file head_{};  // a copy: what is in the file is not trusted twice
};

}  // namespace gkhi::reader

#endif
