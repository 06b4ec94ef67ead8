// SPDX-License-Identifier: MIT
// What people do without a tracer: fprintf of a line.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "sink.hpp"
#include "variant.hpp"

namespace gkhi::bench {

std::string WorkFile(const char *name) {
  const char *dir = std::getenv("BENCH_DIR");
  return std::string(dir != nullptr ? dir : "/tmp") + "/" + name;
}

namespace {

constexpr long kRewind = 1 << 24;  // bytes after which a file starts again: the disk shall not fill

__attribute__((noinline)) void PrintPairs(void *state, long n) {
  auto *file = static_cast<FILE *>(state);
  for (long i = 0; i < n; ++i) std::fprintf(file, "pair: a=%ld b=%ld\n", i, n);
  if (std::ftell(file) > kRewind) std::rewind(file);
}

Variant Printed(const char *name, const char *path, int mode, long slice) {
  Variant variant{.name = name, .run = PrintPairs, .slice = slice, .skip = {}};
  for (auto &state : variant.state) {
    FILE *file = std::fopen(path, "w");
    if (file == nullptr) {
      variant.skip = std::string("cannot write ") + path;
      return variant;
    }
    std::setvbuf(file, nullptr, mode, 1 << 16);
    state = file;
  }
  return variant;
}

}  // namespace

void AddPrinted(std::vector<Variant> &out) {
  const std::string path = WorkFile("fprintf.txt");
  out.push_back(Printed("fprintf_null", "/dev/null", _IOFBF, 400));
  out.push_back(Printed("fprintf_null_line", "/dev/null", _IOLBF, 200));
  out.push_back(Printed("fprintf_file", path.c_str(), _IOFBF, 400));
  out.push_back(Printed("fprintf_file_line", path.c_str(), _IOLBF, 200));
}

}  // namespace gkhi::bench
