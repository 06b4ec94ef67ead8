// SPDX-License-Identifier: MIT
// Which events a YAML file declares. genevent judges such files; here only names are wanted.
#include "declared_events.hpp"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

namespace gkhi::cli {
namespace {

bool IsOptional(const YAML::Node &site) {
  return site["optional"] && site["optional"].as<bool>(false);
}

bool NeedsSite(const YAML::Node &event) {
  if (event["attach"]) return false;
  const YAML::Node site = event["site"];
  if (!site) return true;
  if (site.IsMap()) return !IsOptional(site);
  for (const YAML::Node &one : site)
    if (!IsOptional(one)) return true;
  return false;
}

std::vector<std::string> Names(const YAML::Node &file) {
  const std::string provider = file["provider"].as<std::string>();
  std::vector<std::string> names;
  for (const YAML::Node &event : file["events"])
    if (NeedsSite(event)) names.push_back(provider + ":" + event["name"].as<std::string>());
  return names;
}

bool IsYaml(const std::string &name) {
  return name.ends_with(".yaml") || name.ends_with(".yml");
}

std::vector<std::string> Split(const std::string &list) {
  std::vector<std::string> names;
  for (size_t at = 0; at <= list.size();) {
    const size_t comma = std::min(list.find(',', at), list.size());
    if (comma > at) names.push_back(list.substr(at, comma - at));
    at = comma + 1;
  }
  return names;
}

}  // namespace

Result<std::vector<std::string>> DeclaredEvents(const std::string &list) {
  if (!IsYaml(list)) return Split(list);
  try {
    return Names(YAML::LoadFile(list));
  } catch (const YAML::BadFile &) {
    return Error{fmt::format("{}: cannot be read", list)};
  } catch (const YAML::Exception &error) {
    return Error{
        fmt::format("{}:{}: not an event file ('genevent check' says why)", list, error.mark.line + 1)};
  }
}

}  // namespace gkhi::cli
