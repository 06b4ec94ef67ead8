// SPDX-License-Identifier: MIT
// Any bytes as an event file: an answer, never a crash; and what is accepted can be written, compared and
// read again.
//
//   fuzz_genevent -max_total_time=600 CORPUS tests/golden/genevent/pass tests/golden/genevent/fail
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "compat.hpp"
#include "emit.hpp"
#include "front.hpp"

namespace {

void Require(bool condition, const char *what) {
  if (condition) return;
  std::fprintf(stderr, "fuzz_genevent: %s\n", what);
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const genevent::Source source("fuzz.yaml", std::string_view(reinterpret_cast<const char *>(data), size));
  genevent::Result<genevent::Checked> checked = genevent::Load(source);
  if (!checked.ok()) {
    Require(!checked.errors().empty(), "refused without a reason");
    Require(!genevent::Render(source, checked.errors()).empty(), "an empty message");
    return 0;
  }
  const genevent::Model &model = checked.value().model;
  Require(!EmitHeader(model).empty() && !EmitSource(model).empty() && !EmitCtf(model).empty(),
          "an empty file");
  Require(!EmitDoc(model).empty() && !EmitSites(model, "fuzz.yaml").empty(), "an empty file");
  Require(genevent::Compare(model, model, "fuzz.yaml").empty(), "a file differs from itself");
  for (const genevent::Event &event : model.events) {
    const std::string json = EmitEventJson(model, event);
    Require(nlohmann::json::accept(json), "JSON that is none");
    Require(json.find("*/") == std::string::npos && json.find('\n') == std::string::npos,
            "JSON that leaves its comment");
  }
  return 0;
}
