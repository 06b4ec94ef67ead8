// SPDX-License-Identifier: MIT
// Trace directories: one producer each, opened alone or as a folder of several and merged by time.
//
// Bounded memory: stream files are mapped, the index holds one entry per packet, the merge one record per
// stream.
#ifndef GKHI_READER_TRACE_HPP
#define GKHI_READER_TRACE_HPP

#include <gkhi/reader/mapped_file.hpp>
#include <gkhi/reader/stream.hpp>

#include <memory>
#include <string>
#include <vector>

namespace gkhi::reader {

struct Stream {
  std::string name;  // of the file
  MappedFile file;
  StreamIndex index;
};

// One producer: a directory with a file "metadata" and stream files.
class Trace {
 public:
  static Result<std::unique_ptr<Trace>> Open(const std::string &dir);

  const std::string &dir() const { return dir_; }
  const Metadata &metadata() const { return metadata_; }
  const std::vector<Stream> &streams() const { return streams_; }

 private:
  std::string dir_;
  Metadata metadata_;
  std::vector<Stream> streams_;
};

class TraceSet {
 public:
  // @dir is the directory of one producer, or holds directories of producers. An error: none could be opened.
  static Result<TraceSet> Open(const std::string &dir);

  const std::vector<std::unique_ptr<Trace>> &traces() const { return traces_; }
  // Producers that could not be opened, one text each; the others are there.
  const std::vector<std::string> &problems() const { return problems_; }
  // All producers share one clock record: ticks compare exactly.
  bool one_clock() const;

 private:
  std::vector<std::unique_ptr<Trace>> traces_;
  std::vector<std::string> problems_;
};

// A record and where it comes from.
struct MergedRecord {
  const Record *record = nullptr;
  const Trace *trace = nullptr;
};

// All records of all streams of all producers, by time; ties in order of producer, then stream.
class Merger {
 public:
  // @set must outlive it.
  explicit Merger(const TraceSet &set);

  // False at the end. Valid until the next call.
  bool Next(MergedRecord *out);

  // Complete once Next() has returned false.
  Loss loss() const;
  uint64_t events() const;
  std::vector<std::string> problems() const;

 private:
  struct Source {
    std::unique_ptr<StreamCursor> cursor;
    const Trace *trace;
    const Stream *stream;
    const Record *record;
    uint64_t key;
  };
  bool Advance(Source *source);
  bool Before(size_t a, size_t b) const;
  void SiftDown(size_t i);

  const TraceSet &set_;
  bool one_clock_;
  std::vector<Source> sources_;
  std::vector<size_t> heap_;  // indices into sources_
  bool started_ = false;
};

}  // namespace gkhi::reader

#endif
