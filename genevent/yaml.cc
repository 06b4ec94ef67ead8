// SPDX-License-Identifier: MIT
// yaml-cpp's events -> YamlNode, with everything refused that two YAML readers would take differently.
#include "yaml.hpp"

#include <fmt/format.h>
#include <yaml-cpp/anchor.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <optional>
#include <sstream>
#include <unordered_map>

#include "scalar.hpp"

namespace genevent {
namespace {

constexpr size_t kMaxDepth = 16;
constexpr size_t kMaxBytes = 16u << 20;

Position At(const YAML::Mark &mark) {
  if (mark.line < 0 || mark.column < 0) return {};
  return {static_cast<uint32_t>(mark.line) + 1, static_cast<uint32_t>(mark.column) + 1};
}

// Builds the tree. Stops the parser by throwing Stop; nothing leaves ParseYaml as an exception.
class TreeBuilder final : public YAML::EventHandler {
 public:
  struct Stop {
    Diagnostic why;
  };

  explicit TreeBuilder(const Source &source) : source_(source) {}

  YamlNode Take() { return std::move(root_); }
  // What is wrong with the tree although the parser could go on. Its own errors, if any, explain more.
  [[nodiscard]] const std::optional<Diagnostic> &complaint() const { return complaint_; }

  void OnDocumentStart(const YAML::Mark & /*mark*/) override {}
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark &mark, YAML::anchor_t /*anchor*/) override { Add({.at = At(mark)}); }

  void OnAlias(const YAML::Mark &mark, YAML::anchor_t /*anchor*/) override {
    throw Stop{{.at = At(mark),
                .message = "an alias (*name); wanted the value itself",
                .hint = "repeat the value: event files have no anchors and aliases"}};
  }

  void OnAnchor(const YAML::Mark &mark, const std::string &name) override {
    throw Stop{{.at = At(mark),
                .message = fmt::format("an anchor (&{}); wanted a plain value", name),
                .hint = "repeat the value: event files have no anchors and aliases"}};
  }

  void OnScalar(const YAML::Mark &mark, const std::string &tag, YAML::anchor_t /*anchor*/,
                const std::string &value) override {
    RefuseTag(mark, tag);
    YamlNode node{.kind = YamlNode::Kind::kScalar, .at = At(mark), .text = value};
    node.quoted = tag == "!";
    if (node.quoted) CheckQuote(node.at);
    Add(std::move(node));
  }

  void OnSequenceStart(const YAML::Mark &mark, const std::string &tag, YAML::anchor_t /*anchor*/,
                       YAML::EmitterStyle::value /*style*/) override {
    Open(mark, tag, YamlNode::Kind::kSequence);
  }
  void OnSequenceEnd() override { Close(); }

  void OnMapStart(const YAML::Mark &mark, const std::string &tag, YAML::anchor_t /*anchor*/,
                  YAML::EmitterStyle::value /*style*/) override {
    Open(mark, tag, YamlNode::Kind::kMap);
  }
  void OnMapEnd() override { Close(); }

 private:
  struct Level {
    YamlNode node;
    std::unordered_map<std::string, Position> seen;
  };

  static void RefuseTag(const YAML::Mark &mark, const std::string &tag) {
    if (tag.empty() || tag == "?" || tag == "!") return;
    constexpr std::string_view kStandard = "tag:yaml.org,2002:";
    const bool standard = tag.compare(0, kStandard.size(), kStandard) == 0;
    const std::string shown = standard ? "!!" + tag.substr(kStandard.size()) : tag;
    throw Stop{{.at = At(mark),
                .message = fmt::format("a tag ({}); wanted a plain value", Printable(shown)),
                .hint = "leave the tag out: the type of each value is known from its key"}};
  }

  void Open(const YAML::Mark &mark, const std::string &tag, YamlNode::Kind kind) {
    RefuseTag(mark, tag);
    if (levels_.size() >= kMaxDepth) {
      throw Stop{{.at = At(mark), .message = fmt::format("nested more than {} levels deep", kMaxDepth)}};
    }
    levels_.push_back({.node = {.kind = kind, .at = At(mark)}, .seen = {}});
  }

  void Close() {
    YamlNode node = std::move(levels_.back().node);
    levels_.pop_back();
    Add(std::move(node));
  }

  static bool WantsKey(const Level &level) {
    return level.node.kind == YamlNode::Kind::kMap && level.node.keys.size() == level.node.items.size();
  }

  // The library takes the end of the file for a closing quote.
  void CheckQuote(Position at) const {
    const std::string &text = source_.text();
    size_t i = source_.Offset(at);
    const char quote = i < text.size() ? text[i] : '\0';
    if (quote != '"' && quote != '\'') return;  // a block scalar
    for (i++; i < text.size(); i++) {
      const bool doubled = quote == '\'' && text.compare(i, 2, "''") == 0;
      const bool escape = quote == '"' && text[i] == '\\';
      if (doubled || escape) {
        i++;
      } else if (text[i] == quote) {
        return;
      }
    }
    throw Stop{{.at = at, .message = "a quote without its partner"}};
  }

  void Add(YamlNode node) {
    if (levels_.empty()) {
      root_ = std::move(node);
      return;
    }
    Level &level = levels_.back();
    if (WantsKey(level)) {
      AddKey(level, std::move(node));
    } else if (node.kind == YamlNode::Kind::kNull && level.node.kind == YamlNode::Kind::kMap) {
      node.at = level.node.keys.back().at;  // the library's place of a missing value is somewhere behind it
      level.node.items.push_back(std::move(node));
    } else {
      level.node.items.push_back(std::move(node));
    }
  }

  void AddKey(Level &level, YamlNode key) {
    if (key.kind != YamlNode::Kind::kScalar && !complaint_) {
      complaint_ = Diagnostic{.at = key.at, .message = "a key that is not a single word; wanted a name"};
    }
    if (key.text == "<<" && !key.quoted) {
      throw Stop{{.at = key.at,
                  .message = "a merge key (<<); wanted the keys themselves",
                  .hint = "readers differ in what << does: repeat the keys"}};
    }
    const auto [before, fresh] = level.seen.emplace(key.text, key.at);
    if (!fresh && !complaint_) {
      throw Stop{{.at = key.at,
                  .message = fmt::format("duplicate key '{}'; the first is at {}:{}", Printable(key.text),
                                         before->second.line, before->second.column)}};
    }
    level.node.keys.push_back(std::move(key));
  }

  const Source &source_;
  std::vector<Level> levels_;
  std::optional<Diagnostic> complaint_;
  YamlNode root_;
};

Diagnostic BadByte(Position at, std::string message, std::string hint) {
  return {.at = at, .message = std::move(message), .hint = std::move(hint)};
}

// What the YAML library would accept, transcode or replace without a word.
bool CheckBytes(const std::string &text, Diagnostic *error) {
  const auto starts = [&](std::string_view prefix) { return text.compare(0, prefix.size(), prefix) == 0; };
  if (text.size() > kMaxBytes) {
    *error = BadByte({}, fmt::format("{} bytes; wanted at most {}", text.size(), kMaxBytes), "");
    return false;
  }
  if (starts("\xff\xfe") || starts("\xfe\xff") || starts(std::string_view("\0\0\xfe\xff", 4))) {
    *error = BadByte({1, 1}, "UTF-16 or UTF-32 text; wanted UTF-8", "save the file as UTF-8");
    return false;
  }
  if (starts("\xef\xbb\xbf")) {
    *error = BadByte({1, 1}, "a byte-order mark; wanted the file to start with text",
                     "save the file as UTF-8 without a byte-order mark");
    return false;
  }
  Position at{1, 1};
  bool indent = true;
  for (size_t i = 0; i < text.size();) {
    const size_t length = Utf8Length(text, i);
    const auto byte = static_cast<unsigned char>(text[i]);
    if (length == 0) {
      *error = BadByte(at, fmt::format("byte 0x{:02x} is not valid UTF-8", byte), "save the file as UTF-8");
      return false;
    }
    if (byte == '\t' && indent) {
      *error = BadByte(at, "a tab in the indentation; wanted spaces", "");
      return false;
    }
    if ((byte < 0x20 && byte != '\n' && byte != '\t') || byte == 0x7f) {
      *error = BadByte(at, fmt::format("control character 0x{:02x}; wanted text", byte),
                       byte == '\r' ? "end lines with LF or CRLF" : "");
      return false;
    }
    indent = byte == '\n' || (indent && byte == ' ');
    at = byte == '\n' ? Position{at.line + 1, 1}
                      : Position{at.line, at.column + static_cast<uint32_t>(length)};
    i += length;
  }
  return true;
}

// The library's own words, and a hint for the mistakes that event files invite.
Diagnostic Translate(const Source &source, const YAML::ParserException &error) {
  Diagnostic out{.at = At(error.mark), .message = fmt::format("not valid YAML: {}", error.msg)};
  const std::string_view line = source.Line(out.at.line);
  if (line.find("type:") != std::string_view::npos && line.find('[') != std::string_view::npos &&
      line.find('{') != std::string_view::npos) {
    out.hint = "inside {...} a type with brackets is quoted: type: \"u8[4]\"";
  } else if (line.find('\t') != std::string_view::npos) {
    out.hint = "there is a tab in this line; wanted spaces";
  } else if (error.msg == YAML::ErrorMsg::MAP_VALUE) {
    out.hint = "text with ': ' in it is quoted";
  } else if (error.msg == YAML::ErrorMsg::END_OF_SEQ || error.msg == YAML::ErrorMsg::END_OF_MAP) {
    out.hint = "lines of one map or sequence begin in the same column";
  }
  return out;
}

}  // namespace

const YamlNode *YamlNode::Find(std::string_view key) const {
  for (size_t i = 0; i < keys.size(); i++) {
    if (keys[i].text == key) return &items[i];
  }
  return nullptr;
}

std::string Describe(const YamlNode &node) {
  switch (node.kind) {
    case YamlNode::Kind::kNull:
      return "nothing";
    case YamlNode::Kind::kMap:
      return "a map";
    case YamlNode::Kind::kSequence:
      return "a sequence";
    case YamlNode::Kind::kScalar:
      break;
  }
  if (node.quoted) return fmt::format("the text \"{}\"", Printable(node.text));
  return fmt::format("{} '{}'", ScalarKind(node.text), Printable(node.text));
}

Result<YamlNode> ParseYaml(const Source &source) {
  Diagnostic error;
  if (!CheckBytes(source.text(), &error)) return error;
  std::istringstream stream(source.text());
  TreeBuilder builder(source);
  try {
    YAML::Parser parser(stream);
    if (!parser.HandleNextDocument(builder)) return Diagnostic{.at = {1, 1}, .message = "the file is empty"};
    if (builder.complaint()) return *builder.complaint();
    YamlNode root = builder.Take();
    TreeBuilder rest(source);
    if (parser.HandleNextDocument(rest)) {
      return Diagnostic{.at = rest.Take().at,
                        .message = "a second document; wanted one per file",
                        .hint = "one file declares one provider"};
    }
    return root;
  } catch (const TreeBuilder::Stop &stop) {
    return stop.why;
  } catch (const YAML::ParserException &exception) {
    return Translate(source, exception);
  } catch (const std::exception &exception) {
    return Diagnostic{.message = fmt::format("not valid YAML: {}", exception.what())};
  }
}

}  // namespace genevent
