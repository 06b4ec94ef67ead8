// SPDX-License-Identifier: MIT
// Places the hooks of a configuration in a module.
#ifndef GKHI_CLANG_PLUGIN_SITES_HPP
#define GKHI_CLANG_PLUGIN_SITES_HPP

#include "config.hpp"
#include "lower.hpp"
#include "places.hpp"
#include "report.hpp"

namespace gkhi {

class SitePlacer {
 public:
  SitePlacer(llvm::Module &module, Reporter &reporter) : module_(module), reporter_(reporter) {}
  void Place(const Provider &provider, const Event &event, const Site &site);

 private:
  // The functions that the site names; errors are reported.
  std::vector<llvm::Function *> Functions(const Provider &provider, const Event &event, const Site &site);
  void ReportNoFunction(const Provider &provider, const Event &event, const Site &site);
  bool MayBeProbed(const Provider &provider, const Event &event, const Site &site, llvm::Function &function);
  bool CheckFields(const Provider &provider, const Event &event, const Site &site);
  void Insert(const Provider &provider, const Event &event, const Site &site, const FunctionScope &scope,
              const struct Place &place);
  bool MakeArgument(const Provider &provider, const Event &event, const Field &field,
                    const SiteArgument &source, Evaluator &evaluator, const struct Place &place, Pad &pad);
  void NoteSource(const struct Place &place, const std::string &message);

  llvm::Module &module_;
  Reporter &reporter_;
};

// Makes a record's argument of a value; returns what is wrong, or "".
std::string FitField(const Field &field, const Operand &operand, RecordValue &argument);

}  // namespace gkhi

#endif
