// SPDX-License-Identifier: MIT
// Opens trace directories and merges their streams with a heap of one record per stream.
#include <gkhi/reader/trace.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace gkhi::reader {
namespace {

namespace fs = std::filesystem;

// Regular files (or directories) in @dir, sorted; hidden ones left out.
Result<std::vector<std::string>> Entries(const std::string &dir, bool directories) {
  std::error_code ec;
  std::vector<std::string> names;
  for (fs::directory_iterator it(dir, ec), end; !ec && it != end; it.increment(ec)) {
    const std::string name = it->path().filename();
    std::error_code kind;
    if (name[0] != '.' && (directories ? it->is_directory(kind) : it->is_regular_file(kind)))
      names.push_back(name);
  }
  if (ec) return Error{fmt::format("cannot open {}: {}", dir, ec.message())};
  std::sort(names.begin(), names.end());
  return names;
}

bool HasMetadata(const std::string &dir) {
  std::error_code ec;
  return fs::is_regular_file(dir + "/metadata", ec);
}

}  // namespace

Result<std::unique_ptr<Trace>> Trace::Open(const std::string &dir) {
  auto trace = std::make_unique<Trace>();
  trace->dir_ = dir;
  Result<std::string> text = ReadFile(dir + "/metadata");
  if (!text) return Error{text.error()};
  Result<Metadata> metadata = ParseMetadata(*text);
  if (!metadata) return Error{fmt::format("{}/metadata: {}", dir, metadata.error())};
  trace->metadata_ = std::move(*metadata);
  Result<std::vector<std::string>> names = Entries(dir, false);
  if (!names) return Error{names.error()};
  for (const std::string &name : *names) {
    if (name == "metadata") continue;
    Result<MappedFile> file = MappedFile::Open(fmt::format("{}/{}", dir, name));
    if (!file) return Error{file.error()};
    Stream stream;
    stream.name = name;
    stream.file = std::move(*file);
    stream.index = IndexStream(stream.file.bytes(), trace->metadata_.head().uuid);
    trace->streams_.push_back(std::move(stream));
  }
  return trace;
}

Result<TraceSet> TraceSet::Open(const std::string &dir) {
  std::vector<std::string> dirs;
  if (HasMetadata(dir)) {
    dirs.push_back(dir);
  } else {
    Result<std::vector<std::string>> names = Entries(dir, true);
    if (!names) return Error{names.error()};
    for (const std::string &name : *names) {
      std::string one = fmt::format("{}/{}", dir, name);
      if (HasMetadata(one)) dirs.push_back(std::move(one));
    }
  }
  if (dirs.empty()) {
    return Error{fmt::format("{}: no trace: wanted a file \"metadata\" here or in a folder of it", dir)};
  }
  TraceSet set;
  for (const std::string &one : dirs) {
    Result<std::unique_ptr<Trace>> trace = Trace::Open(one);
    if (trace) {
      set.traces_.push_back(std::move(*trace));
    } else {
      set.problems_.push_back(trace.error());
    }
  }
  if (set.traces_.empty()) return Error{set.problems_[0]};
  return set;
}

bool TraceSet::one_clock() const {
  return std::all_of(traces_.begin(), traces_.end(), [&](const auto &trace) {
    return trace->metadata().head().clock == traces_[0]->metadata().head().clock;
  });
}

Merger::Merger(const TraceSet &set) : set_(set), one_clock_(set.one_clock()) {
  for (const auto &trace : set.traces()) {
    for (const Stream &stream : trace->streams()) {
      Source source{};
      source.cursor = std::make_unique<StreamCursor>(trace->metadata(), stream.index, stream.file.bytes());
      source.trace = trace.get();
      source.stream = &stream;
      sources_.push_back(std::move(source));
    }
  }
}

bool Merger::Advance(Source *source) {
  source->record = source->cursor->Next();
  if (source->record == nullptr) return false;
  // With one clock ticks are the exact order; else time as each clock tells it, biased into the unsigned.
  source->key =
      one_clock_
          ? source->record->ticks
          : static_cast<uint64_t>(source->trace->metadata().head().clock.ToRealtime(source->record->ticks)) ^
                (uint64_t{1} << 63);
  return true;
}

bool Merger::Before(size_t a, size_t b) const {
  return sources_[a].key != sources_[b].key ? sources_[a].key < sources_[b].key : a < b;
}

void Merger::SiftDown(size_t i) {
  for (;;) {
    size_t least = i;
    for (size_t child = 2 * i + 1; child <= 2 * i + 2 && child < heap_.size(); child++) {
      if (Before(heap_[child], heap_[least])) least = child;
    }
    if (least == i) return;
    std::swap(heap_[i], heap_[least]);
    i = least;
  }
}

bool Merger::Next(MergedRecord *out) {
  if (!started_) {
    started_ = true;
    for (size_t i = 0; i < sources_.size(); i++) {
      if (Advance(&sources_[i])) heap_.push_back(i);
    }
    for (size_t i = heap_.size(); i-- > 0;) SiftDown(i);
  } else if (!heap_.empty()) {
    if (!Advance(&sources_[heap_[0]])) {
      heap_[0] = heap_.back();
      heap_.pop_back();
    }
    SiftDown(0);
  }
  if (heap_.empty()) return false;
  const Source &source = sources_[heap_[0]];
  *out = {source.record, source.trace};
  return true;
}

Loss Merger::loss() const {
  Loss loss;
  for (const Source &source : sources_) loss.Add(source.cursor->loss());
  for (const auto &trace : set_.traces()) loss.discarded += trace->metadata().head().unrouted;
  return loss;
}

uint64_t Merger::events() const {
  uint64_t events = 0;
  for (const Source &source : sources_) events += source.cursor->events();
  return events;
}

std::vector<std::string> Merger::problems() const {
  std::vector<std::string> problems;
  for (const Source &source : sources_) {
    for (const std::string &text : source.cursor->problems()) {
      problems.push_back(fmt::format("{}/{}: {}", source.trace->dir(), source.stream->name, text));
    }
  }
  return problems;
}

}  // namespace gkhi::reader
