// SPDX-License-Identifier: MIT
// Diagnostics of the pass: like the compiler's own, with the line and a caret, in the YAML and in the source.
#ifndef GKHI_CLANG_PLUGIN_REPORT_HPP
#define GKHI_CLANG_PLUGIN_REPORT_HPP

#include <string>

#include "config.hpp"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Module.h"

namespace gkhi {

enum class Severity { kError, kWarning, kNote };

class Reporter {
 public:
  explicit Reporter(llvm::Module &module) : module_(module) {}

  void AtYaml(const Provider &provider, Position position, Severity severity, const std::string &message);
  void AtSource(const llvm::DIFile *file, unsigned line, unsigned column, Severity severity,
                const std::string &message);

  // The file as it can be opened now: the debug information may name it as another directory sees it.
  std::string Find(const llvm::DIFile *file) const;

 private:
  void Report(const std::string &path, const std::string &shown, Position position, Severity severity,
              const std::string &message);

  llvm::Module &module_;
};

// The nearest of a set of names, to suggest it; "" when none is near.
class Nearest {
 public:
  explicit Nearest(llvm::StringRef wanted) : wanted_(wanted) {}
  void Offer(llvm::StringRef name);
  // "; did you mean 'x'?" or "".
  [[nodiscard]] std::string Hint() const;
  [[nodiscard]] const std::string &name() const { return best_; }

 private:
  llvm::StringRef wanted_;
  std::string best_;
  unsigned best_distance_ = ~0u;
};

}  // namespace gkhi

#endif
