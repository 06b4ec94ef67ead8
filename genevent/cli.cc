// SPDX-License-Identifier: MIT
// Verbs and options.
#include "cli.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <optional>

#include "compat.hpp"
#include "emit.hpp"
#include "files.hpp"
#include "front.hpp"
#include "version.hpp"

namespace genevent {
namespace {

constexpr int kUsage = 2;

constexpr char kIntroduction[] =
    R"(Turns event declarations in YAML into hooks, descriptors, trace metadata and documentation.

  $ cat netdemo.yaml
  provider: netdemo
  events:
    - name: rx
      doc: A frame left the receive ring.
      fields:
        - {name: len, type: u32, doc: bytes on the wire}
        - {name: dev, type: string, max: 16}
  $ genevent generate netdemo.yaml --header netdemo.h --source netdemo_events.c

netdemo.c includes netdemo.h and says, where a frame leaves the ring,

  gkhi_netdemo_rx(skb_len, dev_name);

and netdemo_events.c is linked to it. While the hook is off it costs one nop.
With CMake all of this is gkhi_add_provider(TARGET netdemo.yaml).)";

constexpr char kClosing[] =
    R"(FILE may be "-" for standard input. Errors are printed as compilers print them:

  netdemo.yaml:7:28: error: unknown type 'u33'
      7 |         - {name: len, type: u33}
        |                             ^
        = hint: did you mean 'u32'?

Exit status: 0 done; 1 the file has errors, or cannot be read or written; 2 usage.)";

struct Options {
  std::string file;
  std::string header;
  std::string source;
  std::string ctf;
  std::string doc;
  std::string sites;
  std::string depfile;
  std::string against;
  std::string out = "-";
  bool compare = false;
};

struct Input {
  Source source;
  Model model;
};

int Fail(const std::string &message) {
  fmt::print(stderr, "genevent: {}\n", message);
  return 1;
}

// Reads and checks a file; says what is wrong with it.
std::optional<Input> LoadFile(const std::string &path) {
  std::string text;
  const std::string failure = ReadFile(path, &text);
  if (!failure.empty()) {
    Fail(failure);
    return std::nullopt;
  }
  Source source(path == "-" ? "<stdin>" : path, text);
  Result<Checked> checked = Load(source);
  if (!checked.ok()) {
    fmt::print(stderr, "{}", Render(source, checked.errors()));
    return std::nullopt;
  }
  fmt::print(stderr, "{}", Render(source, checked.value().warnings));
  return Input{std::move(source), std::move(checked).value().model};
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

// How the pass, running anywhere, finds the event file.
std::string AbsolutePath(const std::string &path) {
  std::error_code error;
  const std::filesystem::path absolute = std::filesystem::absolute(path, error);
  return error ? path : absolute.lexically_normal().string();
}

struct Output {
  std::string path;
  std::string text;
};

std::vector<Output> MakeOutputs(const Model &model, const Options &options) {
  std::vector<Output> outputs;
  const auto add = [&](const std::string &path, auto emit) {
    if (!path.empty()) outputs.push_back({path, emit()});
  };
  add(options.header, [&] { return EmitHeader(model); });
  add(options.source, [&] { return EmitSource(model); });
  add(options.ctf, [&] { return EmitCtf(model); });
  add(options.doc, [&] { return EmitDoc(model); });
  add(options.sites, [&] { return EmitSites(model, AbsolutePath(options.file)); });
  return outputs;
}

int Generate(const Options &options) {
  if ((options.header + options.source + options.ctf + options.doc + options.sites).empty()) {
    fmt::print(stderr,
               "genevent: generate: nothing to write; wanted --header, --source, --ctf, --doc or --sites\n");
    return kUsage;
  }
  const std::optional<Input> input = LoadFile(options.file);
  if (!input) return 1;
  std::string targets;
  for (const Output &output : MakeOutputs(input->model, options)) {
    const std::string failure = WriteFile(output.path, output.text, options.compare);
    if (!failure.empty()) return Fail(failure);
    targets += MakePath(output.path) + " ";
  }
  if (options.depfile.empty()) return 0;
  targets.pop_back();
  const std::string rule = fmt::format("{}: {}\n", targets, MakePath(options.file));
  const std::string failure = WriteFile(options.depfile, rule, false);
  return failure.empty() ? 0 : Fail(failure);
}

int Check(const Options &options) {
  const std::optional<Input> input = LoadFile(options.file);
  if (!input) return 1;
  if (options.against.empty()) return 0;
  const std::optional<Input> old = LoadFile(options.against);
  if (!old) return 1;
  int status = 0;
  for (const Diagnostic &difference : Compare(old->model, input->model, options.against)) {
    fmt::print(stderr, "{}", Render(input->source, difference));
    if (difference.severity == Severity::kError) status = 1;
  }
  return status;
}

template <typename Emit>
int Print(const Options &options, Emit emit) {
  const std::optional<Input> input = LoadFile(options.file);
  if (!input) return 1;
  const std::string failure = WriteFile(options.out, emit(input->model), options.compare);
  return failure.empty() ? 0 : Fail(failure);
}

void AddFile(CLI::App *verb, Options *options) {
  verb->add_option("FILE", options->file, "event declarations")->required();
}

void AddCompare(CLI::App *verb, Options *options) {
  verb->add_flag("--cmp-out", options->compare, "leave outputs untouched that would not change");
}

CLI::App *AddPrinter(CLI::App *app, const char *name, const char *what, Options *options) {
  CLI::App *verb = app->add_subcommand(name, what);
  AddFile(verb, options);
  verb->add_option("--out,-o", options->out, "file to write instead of standard output");
  AddCompare(verb, options);
  return verb;
}

void AddGenerate(CLI::App *app, Options *options) {
  CLI::App *verb =
      app->add_subcommand("generate", "write the stub header, the descriptor source and others, at once");
  AddFile(verb, options);
  verb->add_option("--header", options->header, "stub header: what hooked sources include");
  verb->add_option("--source", options->source, "descriptor source (C): linked to them");
  verb->add_option("--ctf", options->ctf, "CTF 1.8 metadata");
  verb->add_option("--doc", options->doc, "Markdown reference");
  verb->add_option("--sites", options->sites, "sites header for the clang pass");
  verb->add_option("-M", options->depfile, "dependency file, for make and ninja");
  AddCompare(verb, options);
}

void AddCheck(CLI::App *app, Options *options) {
  CLI::App *verb = app->add_subcommand("check", "say what is wrong with a file, or with its changes");
  AddFile(verb, options);
  verb->add_option("--against", options->against,
                   "older version of FILE: which changes break those who use its events");
}

int Run(const CLI::App &app, const Options &options) {
  const std::string verb = app.get_subcommands().front()->get_name();
  if (verb == "generate") return Generate(options);
  if (verb == "check") return Check(options);
  if (verb == "ctf") return Print(options, EmitCtf);
  if (verb == "doc") return Print(options, EmitDoc);
  if (verb == "sites") {
    return Print(options, [&](const Model &model) { return EmitSites(model, AbsolutePath(options.file)); });
  }
  const std::string failure = WriteFile(options.out, EmitSchema(), options.compare);
  return failure.empty() ? 0 : Fail(failure);
}

// The parser would only say that there is no verb.
bool KnowsVerb(const CLI::App &app, const std::string &word) {
  std::vector<std::string> verbs;
  for (const CLI::App *verb : app.get_subcommands({})) verbs.push_back(verb->get_name());
  if (word.empty() || word[0] == '-' || std::find(verbs.begin(), verbs.end(), word) != verbs.end())
    return true;
  const std::string nearest = Nearest(word, verbs);
  fmt::print(stderr, "genevent: unknown verb '{}'; {}\n", word,
             nearest.empty() ? fmt::format("known: {}", fmt::join(verbs, ", "))
                             : fmt::format("did you mean '{}'?", nearest));
  return false;
}

}  // namespace

int Main(int argc, char **argv) {
  CLI::App app{kIntroduction, "genevent"};
  app.footer(kClosing);
  app.set_version_flag("--version", fmt::format("genevent {}", kVersion));
  app.require_subcommand(1);
  Options options;
  AddGenerate(&app, &options);
  AddCheck(&app, &options);
  AddPrinter(&app, "ctf", "print CTF 1.8 metadata", &options);
  AddPrinter(&app, "doc", "print a Markdown reference", &options);
  AddPrinter(&app, "sites", "print the sites header for the clang pass", &options);
  CLI::App *schema =
      app.add_subcommand("schema", "print the JSON Schema (draft-07) of event files, for editors");
  schema->add_option("--out,-o", options.out, "file to write instead of standard output");
  AddCompare(schema, &options);
  if (argc > 1 && !KnowsVerb(app, argv[1])) return kUsage;
  try {
    app.parse(argc, argv);
    return Run(app, options);
  } catch (const CLI::ParseError &error) {
    return app.exit(error) == 0 ? 0 : kUsage;
  }
}

}  // namespace genevent
