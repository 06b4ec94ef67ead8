// SPDX-License-Identifier: MIT
// Writes the trace directory of the kernel from /dev/gkhi: packet by packet while a channel is written to, or
// what it holds at one moment.
//
// At every moment the directory is a valid trace of what was written so far: metadata is there before a
// packet needs it.
#ifndef GKHI_READER_KERNEL_WRITER_HPP
#define GKHI_READER_KERNEL_WRITER_HPP

#include <gkhi/data.h>
#include <gkhi/reader/trace_writer.hpp>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace gkhi::reader {

constexpr const char *kKernelDevices = "/dev/gkhi";

class KernelWriter {
 public:
  // The clock record that traces of this boot carry, for the kind of clock that the kernel uses.
  using ClockSource = std::function<Result<ClockRecord>(ClockKind)>;

  // @dir is made, with the metadata as of now in it.
  static Result<std::unique_ptr<KernelWriter>> Create(const std::string &devices, const ClockSource &clock,
                                                      const std::string &dir);
  ~KernelWriter();

  const std::string &dir() const { return dir_; }

  // Has @channel any streams? Those for people (printk) have none.
  bool HasData(const std::string &channel) const { return !StreamsOf(channel).empty(); }
  // Opens the streams of @channel. Where nothing is overwritten that makes it their one consumer.
  Status Open(const std::string &channel);
  // Writes all finished packets. Returns how many.
  Result<uint64_t> Drain();
  // Ends the open packets and writes what is left. Once, at the end.
  Status Finish();
  // The same for what is there at this moment, though writers go on.
  Status Snapshot();

  // What is in the files, plus what the kernel counted as lost up to now.
  WriterTotals totals() const;
  // Events written to the channels by now, read or not.
  uint64_t EventsFired() const;
  const std::vector<std::string> &problems() const { return problems_; }

 private:
  struct Stream {
    std::string name;  // of the file, "main_0"
    int device = -1;
    int file = -1;       // -1: nothing to write yet
    std::string bytes;   // read, not yet a whole packet
    std::string last;    // the packet written last
    uint64_t count = 0;  // events before it
    WriterTotals totals;
  };

  KernelWriter(std::string devices, std::string dir) : devices_(std::move(devices)), dir_(std::move(dir)) {}
  std::map<uint32_t, std::string> StreamsOf(const std::string &channel) const;
  Status ReadMetadata();
  Status WriteMetadata();
  Status End(unsigned long command);
  // Takes what there is into stream->bytes; false: nothing.
  Result<bool> Read(Stream *stream);
  Status WritePackets(Stream *stream, uint64_t *packets);
  Status WritePacket(Stream *stream, std::string_view packet);
  void CountLast(Stream *stream, const gkhi_packet *next);

  std::string devices_;
  std::string dir_;
  int metadata_file_ = -1;
  std::string raw_;  // metadata as the kernel gives it out
  size_t blocks_at_ = 0;
  TraceHead head_;
  Metadata metadata_;
  std::vector<Stream> streams_;
  std::vector<std::string> problems_;
};

}  // namespace gkhi::reader

#endif
