// SPDX-License-Identifier: MIT
// Verbs and options.
#include "cli.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <optional>

#include "emit.hpp"
#include "files.hpp"
#include "front.hpp"
#include "version.hpp"

namespace genevent {
namespace {

struct Options {
  std::string file;
  std::string header;
  std::string source;
  std::string depfile;
  bool compare = false;
};

int Fail(const std::string &message) {
  fmt::print(stderr, "genevent: {}\n", message);
  return 1;
}

// Reads and checks a file; says what is wrong with it.
std::optional<Model> LoadFile(const std::string &path) {
  std::string text;
  const std::string failure = ReadFile(path, &text);
  if (!failure.empty()) {
    Fail(failure);
    return std::nullopt;
  }
  const Source source(path == "-" ? "<stdin>" : path, text);
  Result<Checked> checked = Load(source);
  if (!checked.ok()) {
    fmt::print(stderr, "{}", Render(source, checked.errors()));
    return std::nullopt;
  }
  fmt::print(stderr, "{}", Render(source, checked.value().warnings));
  return std::move(checked).value().model;
}

// A path as make and ninja read it.
std::string MakePath(const std::string &path) {
  std::string out;
  for (const char c : path) {
    if (c == ' ' || c == '#') out += '\\';
    if (c == '$') out += '$';
    out += c;
  }
  return out;
}

int Generate(const Options &options) {
  if (options.header.empty() && options.source.empty()) {
    fmt::print(stderr, "genevent: generate: nothing to write; wanted --header, --source, or both\n");
    return 2;
  }
  const std::optional<Model> model = LoadFile(options.file);
  if (!model) return 1;
  std::string outputs;
  const auto write = [&](const std::string &path, const std::string &text) {
    if (path.empty()) return std::string();
    outputs += (outputs.empty() ? "" : " ") + MakePath(path);
    return WriteFile(path, text, options.compare);
  };
  std::string failure = write(options.header, EmitHeader(*model));
  if (failure.empty()) failure = write(options.source, EmitSource(*model));
  if (failure.empty() && !options.depfile.empty()) {
    failure = WriteFile(options.depfile, fmt::format("{}: {}\n", outputs, MakePath(options.file)), false);
  }
  return failure.empty() ? 0 : Fail(failure);
}

}  // namespace

int Main(int argc, char **argv) {
  CLI::App app{"Event declarations in YAML -> hooks, descriptors, trace metadata, documentation."};
  app.set_version_flag("--version", fmt::format("genevent {}", kVersion));
  app.require_subcommand(1);
  Options options;
  CLI::App *generate = app.add_subcommand("generate", "write the stub header and the descriptor source");
  generate->add_option("FILE", options.file, "event declarations")->required();
  generate->add_option("--header", options.header, "stub header to write");
  generate->add_option("--source", options.source, "descriptor source to write");
  generate->add_option("-M", options.depfile, "dependency file to write, for make and ninja");
  generate->add_flag("--cmp-out", options.compare, "leave outputs untouched that would not change");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    const int code = app.exit(error);
    return code == 0 ? 0 : 2;
  }
  return Generate(options);
}

}  // namespace genevent
