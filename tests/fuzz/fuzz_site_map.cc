// SPDX-License-Identifier: MIT
// The map reader on hostile files: any bytes give a map or an error, and every way to print the map takes it.
#include <cstdint>
#include <cstdlib>
#include <gkhi/reader/site_map.hpp>

using gkhi::reader::ProbeFormat;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string image(reinterpret_cast<const char *>(data), size);
  const auto map = gkhi::reader::ReadSiteMapFromImage(std::move(image), "fuzz");
  if (!map) {
    if (map.error().empty()) abort();  // an error says what is wrong
    return 0;
  }
  size_t printed = gkhi::reader::SiteMapText(*map).size() + gkhi::reader::SiteMapJson({*map}).size();
  for (const ProbeFormat format : {ProbeFormat::kTracefs, ProbeFormat::kBpftrace, ProbeFormat::kPerf})
    printed += gkhi::reader::ProbeText(*map, format).size();
  (void)gkhi::reader::CheckSites({*map}, {"a:b"});
  return printed == 0;
}
