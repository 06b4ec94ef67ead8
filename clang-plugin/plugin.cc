// SPDX-License-Identifier: MIT
// The plugin: clang loads it with -fpass-plugin= and runs the pass before anything else, while every variable
// is still in memory and nothing is inlined.
#include <dlfcn.h>
#include <link.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "config.hpp"
#include "llvm/Config/llvm-config.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/PassManager.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Passes/PassPlugin.h"
#include "marked.hpp"
#include "report.hpp"
#include "sites.hpp"
#include "stress.hpp"

// The one datum of LLVM that not every release has: strong, an older LLVM could not load the plugin, and what
// it would say is the linker's, not ours.
#if LLVM_VERSION_MAJOR >= 19
__asm__(".weak _ZN4llvm9DbgMarker14EmptyDbgMarkerE");
#endif

namespace gkhi {
namespace {

class MarkerPass : public llvm::PassInfoMixin<MarkerPass> {
 public:
  static bool isRequired() { return true; }  // also at -O0 and in optnone functions

  llvm::PreservedAnalyses run(llvm::Module &module, llvm::ModuleAnalysisManager &) {
    Config config;
    bool changed = TakeConfig(module, config);
    Reporter reporter(module);
    SitePlacer placer(module, reporter);
    for (const Provider &provider : config.providers)
      for (const Event &event : provider.events)
        for (const Site &site : event.sites) placer.Place(provider, event, site);
    if (config.stress) changed |= PlaceEverywhere(module, config) != 0;
    changed |= TakeOverMarked(module) != 0;
    if (config.strip_debug == 1) changed |= llvm::StripDebugInfo(module);
    if (config.strip_debug == 2) changed |= llvm::stripNonLineTableDebugInfo(module);
    return changed ? llvm::PreservedAnalyses::none() : llvm::PreservedAnalyses::all();
  }
};

void AddCallbacks(llvm::PassBuilder &builder) {
  builder.registerPipelineStartEPCallback(
      [](llvm::ModulePassManager &manager, auto...) { manager.addPass(MarkerPass()); });
  builder.registerPipelineParsingCallback([](llvm::StringRef name, llvm::ModulePassManager &manager,
                                             llvm::ArrayRef<llvm::PassBuilder::PipelineElement>) {
    if (name != "gkhi") return false;
    manager.addPass(MarkerPass());
    return true;
  });
}

// ------------------------------------------------- which LLVM has loaded us
//
// The plugin interface has had version 1 in every release, while the classes behind it change: an LLVM
// that is not ours must be recognised before any of its classes is touched.

int FromLibraryName(struct dl_phdr_info *info, size_t, void *version) {
  const char *name = std::strstr(info->dlpi_name, "libLLVM");
  if (!name) return 0;
  while (*name && (*name < '0' || *name > '9')) name++;  // libLLVM-14.so.1, libLLVM.so.19.1
  *static_cast<unsigned *>(version) = static_cast<unsigned>(std::strtoul(name, nullptr, 10));
  return *static_cast<unsigned *>(version) != 0;
}

// 0: not known.
unsigned HostVersion() {
  using GetVersion = void (*)(unsigned *, unsigned *, unsigned *);
  unsigned major = 0, minor = 0, patch = 0;
  if (auto get = reinterpret_cast<GetVersion>(dlsym(RTLD_DEFAULT, "LLVMGetVersion"))) {
    get(&major, &minor, &patch);  // LLVM 16 and later
    return major;
  }
  dl_iterate_phdr(FromLibraryName, &major);
  return major;
}

}  // namespace
}  // namespace gkhi

extern "C" __attribute__((visibility("default"))) llvm::PassPluginLibraryInfo llvmGetPassPluginInfo() {
  unsigned host = gkhi::HostVersion();
  if (host && host != LLVM_VERSION_MAJOR) {
    std::fprintf(
        stderr,
        "gkhi: error: this gkhi-pass is built for LLVM %u, and the compiler that loads it is LLVM %u; "
        "use gkhi-pass-%u.so, or compile with gkhi-cc, which chooses it\n",
        static_cast<unsigned>(LLVM_VERSION_MAJOR), host, host);
    // An interface version that no LLVM has: the compiler refuses the plugin and stops.
    return {1000 + LLVM_VERSION_MAJOR, "gkhi", GKHI_VERSION, nullptr};
  }
  return {LLVM_PLUGIN_API_VERSION, "gkhi", GKHI_VERSION, gkhi::AddCallbacks};
}
