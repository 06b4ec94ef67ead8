// SPDX-License-Identifier: MIT
// A cursor over the records of one stream, in order of time, which counts what it cannot read.
#ifndef GKHI_READER_STREAM_HPP
#define GKHI_READER_STREAM_HPP

#include <gkhi/reader/record.hpp>

#include <array>
#include <string>
#include <vector>

namespace gkhi::reader {

class StreamCursor {
 public:
  // All three must outlive the cursor and what it returns.
  StreamCursor(const Metadata &metadata, const StreamIndex &index, Bytes file);

  // The next record, or nullptr at the end. Valid until the next call.
  const Record *Next();

  // Index and decoding together; complete once Next() has returned nullptr.
  const Loss &loss() const { return loss_; }
  // Records returned so far.
  uint64_t events() const { return events_; }
  // What was wrong, with its place; the first few.
  const std::vector<std::string> &problems() const { return problems_; }

 private:
  bool OpenPacket();
  void ClosePacket();
  // Decodes the record at position_; false: the packet is damaged from here on.
  bool Decode();
  bool Damaged(const std::string &what);
  bool DecodeHeader(Bytes rest, uint32_t *id, size_t *header);

  const Metadata &metadata_;
  const StreamIndex &index_;
  Bytes file_;
  size_t packet_ = 0;  // of index_.packets; the one that is open, if open_
  bool open_ = false;
  uint64_t position_ = 0;  // in the file
  uint64_t content_end_ = 0;
  uint64_t last_ticks_ = 0;
  uint64_t in_packet_ = 0;     // records decoded of this packet
  size_t damaged_packet_ = 0;  // 1 + the last packet counted as damaged
  uint64_t events_ = 0;
  Record record_;
  std::vector<uint32_t> tails_;
  Loss loss_;
  std::vector<std::string> problems_;
};

}  // namespace gkhi::reader

#endif
