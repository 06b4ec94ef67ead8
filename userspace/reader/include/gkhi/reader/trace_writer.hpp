// SPDX-License-Identifier: MIT
// Writes the trace directory of one process from its rings: at once (a snapshot), or packet by packet while
// it runs.
//
// At every moment the directory is a valid trace of what was written so far: metadata is there before a
// packet needs it.
#ifndef GKHI_READER_TRACE_WRITER_HPP
#define GKHI_READER_TRACE_WRITER_HPP

#include <gkhi/reader/producer.hpp>

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace gkhi::reader {

struct WriterTotals {
  uint64_t events = 0;
  uint64_t discarded = 0;    // counted by the producer
  uint64_t overwritten = 0;  // before they were read
  uint64_t packets = 0;
  uint64_t bytes = 0;
  uint64_t lost() const { return discarded + overwritten; }
  void Add(const WriterTotals &other);
};

// A futex that changes when a packet is finished, and its value before the last Drain().
struct ReadyWord {
  uint32_t *word;
  uint32_t seen;
};

// Puts timestamp_end of a packet that was copied open at its last record. An error names what could not be
// decoded; the packet then ends as late as it possibly can, which is valid too.
Status EndOpenPacket(const Metadata &metadata, uint32_t events, char *packet, size_t size);

class TraceWriter {
 public:
  // @dir is made, with the metadata as of now in it.
  static Result<std::unique_ptr<TraceWriter>> Create(Producer producer, const ClockRecord &clock,
                                                     const std::string &dir);
  ~TraceWriter();

  // Losses that were counted before now are somebody else's.
  void CountFromNow() { unrouted_before_ = producer_.Unrouted(); }

  const Producer &producer() const { return producer_; }
  const std::string &dir() const { return dir_; }

  // Opens rings that appeared since the last time: of @channel, or all when it is "". With @consume those in
  // discard mode are consumed: packets are acknowledged.
  void Refresh(bool consume, const std::string &channel);
  // Writes all finished packets of rings in discard mode. Returns how many packets.
  Result<uint64_t> Drain();
  // The rest: finished packets, overwrite rings, open packets. Once, at the end.
  Status Finish();

  // What is in the files, plus what the producer counted as lost up to now.
  WriterTotals totals() const;
  const std::vector<std::string> &problems() const { return problems_; }
  // Where a consumer can wait for packets.
  std::vector<ReadyWord> ready_words();
  // Events committed in the rings by now, read or not.
  uint64_t EventsFired() const;

 private:
  struct StreamState {
    uint64_t next = 0;       // packet to read
    uint64_t count = 0;      // events before it, read or not
    uint64_t discarded = 0;  // as the last packet written says
    int fd = -1;             // -1: nothing to write yet
  };
  struct Ring {
    RingFile file;
    bool consume = false;
    uint32_t seen_ready = 0;
    std::vector<StreamState> streams;
    WriterTotals totals;
  };

  TraceWriter(Producer producer, std::string dir) : producer_(std::move(producer)), dir_(std::move(dir)) {}
  Status WriteMetadata();
  Status DrainStream(Ring *ring, uint32_t stream, bool with_open, uint64_t *packets);
  // Writes buffer_, the copy of a packet of @events records.
  Status WritePacket(Ring *ring, uint32_t stream, bool open, uint32_t events);
  Status Append(Ring *ring, uint32_t stream);
  Status CloseOpenPacket(uint32_t events);

  Producer producer_;
  std::string dir_;
  TraceHead head_;
  uint64_t unrouted_before_ = 0;         // of the producer, when we came
  uint64_t metadata_size_ = UINT64_MAX;  // of the event blocks in the file
  Metadata metadata_;
  std::map<std::string, Ring> rings_;
  std::string buffer_;  // one packet
  std::vector<std::string> problems_;
};

// Copies everything the rings of the process hold into @dir. Any moment, alive or dead.
Result<WriterTotals> WriteSnapshot(const std::string &producer_dir, const ClockRecord &clock,
                                   const std::string &dir, std::vector<std::string> *problems);

}  // namespace gkhi::reader

#endif
