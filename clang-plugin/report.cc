// SPDX-License-Identifier: MIT
// Diagnostics of the pass.
#include "report.hpp"

#include "llvm/ADT/SmallString.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"

namespace gkhi {
namespace {

llvm::SourceMgr::DiagKind KindOf(Severity severity) {
  switch (severity) {
    case Severity::kError:
      return llvm::SourceMgr::DK_Error;
    case Severity::kWarning:
      return llvm::SourceMgr::DK_Warning;
    case Severity::kNote:
      return llvm::SourceMgr::DK_Note;
  }
  return llvm::SourceMgr::DK_Error;
}

// Offset of line:column; the end of the text when it has no such line.
size_t OffsetOf(llvm::StringRef text, Position position) {
  size_t offset = 0;
  for (unsigned line = 1; line < position.line; line++) {
    size_t newline = text.find('\n', offset);
    if (newline == llvm::StringRef::npos) return text.size();
    offset = newline + 1;
  }
  size_t end = text.find('\n', offset);
  if (end == llvm::StringRef::npos) end = text.size();
  size_t column = position.column ? position.column - 1 : 0;
  return std::min(offset + column, end);
}

}  // namespace

void Reporter::Report(const std::string &path, const std::string &shown, Position position, Severity severity,
                      const std::string &message) {
  std::unique_ptr<llvm::MemoryBuffer> buffer;
  auto file = llvm::MemoryBuffer::getFile(path);
  if (file)
    buffer = llvm::MemoryBuffer::getMemBufferCopy((*file)->getBuffer(), shown);
  else  // no line to show, but file and line are still named
    buffer = llvm::MemoryBuffer::getMemBufferCopy(std::string(position.line, '\n'), shown);
  llvm::StringRef text = buffer->getBuffer();
  auto where = llvm::SMLoc::getFromPointer(text.data() + OffsetOf(text, position));
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(buffer), llvm::SMLoc());
  llvm::SMDiagnostic diagnostic = sources.GetMessage(where, KindOf(severity), message);
  module_.getContext().diagnose(llvm::DiagnosticInfoSrcMgr(diagnostic, "", false));
}

void Reporter::AtYaml(const Provider &provider, Position position, Severity severity,
                      const std::string &message) {
  Report(provider.yaml, provider.yaml, position, severity, message);
}

std::string Reporter::Find(const llvm::DIFile *file) const {
  llvm::SmallString<256> path(file->getFilename());
  if (!llvm::sys::path::is_absolute(path)) {
    path = file->getDirectory();
    llvm::sys::path::append(path, file->getFilename());
  }
  if (llvm::sys::fs::exists(path)) return path.str().str();
  if (llvm::sys::fs::exists(file->getFilename())) return file->getFilename().str();
  llvm::StringRef source = module_.getSourceFileName();
  if (llvm::sys::path::filename(source) == llvm::sys::path::filename(path)) return source.str();
  return path.str().str();
}

void Reporter::AtSource(const llvm::DIFile *file, unsigned line, unsigned column, Severity severity,
                        const std::string &message) {
  Report(Find(file), file->getFilename().str(), {line, column}, severity, message);
}

void Nearest::Offer(llvm::StringRef name) {
  if (name.empty()) return;
  unsigned limit = 1 + wanted_.size() / 4;
  unsigned distance = wanted_.edit_distance(name, true, limit);
  if (distance > limit || distance >= best_distance_) return;
  best_distance_ = distance;
  best_ = name.str();
}

std::string Nearest::Hint() const {
  return best_.empty() ? "" : "; did you mean '" + best_ + "'?";
}

}  // namespace gkhi
