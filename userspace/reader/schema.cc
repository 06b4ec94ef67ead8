// SPDX-License-Identifier: MIT
// Reads the one-line JSON schema of an event and checks every number in it.
#include <fmt/format.h>
#include <gkhi/packet.h>
#include <algorithm>
#include <gkhi/reader/schema.hpp>
#include <nlohmann/json.hpp>
#define XXH_INLINE_ALL
#include <xxhash.h>

namespace gkhi::reader {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kTypes = "usopfegcb";
constexpr uint32_t kFixedArrayBytes = 16;  // larger ones are in the tail

bool IsName(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
}

// Takes numbers out of one JSON object; the first one that is missing or out of range is the error.
class Taker {
 public:
  Taker(const Json &object, std::string where) : object_(object), where_(std::move(where)) {}

  uint64_t Number(const char *key, uint64_t max) {
    auto it = object_.find(key);
    if (it == object_.end() || !it->is_number_integer()) {
      Fail(key,
           fmt::format("wanted an integer, found {}", it == object_.end() ? "nothing" : it->type_name()));
      return 0;
    }
    if (!it->is_number_unsigned() || it->get<uint64_t>() > max) {
      Fail(key, fmt::format("wanted 0 to {}, found {}", max, it->dump()));
      return 0;
    }
    return it->get<uint64_t>();
  }

  uint64_t NumberOr(const char *key, uint64_t max, uint64_t otherwise) {
    return object_.contains(key) ? Number(key, max) : otherwise;
  }

  std::string Text(const char *key) {
    auto it = object_.find(key);
    if (it == object_.end() || !it->is_string()) {
      Fail(key, fmt::format("wanted a string, found {}", it == object_.end() ? "nothing" : it->type_name()));
      return {};
    }
    return it->get<std::string>();
  }

  // As genevent lets them be; whatever is printed between a trace's names stays apart from them.
  std::string Name(const char *key) {
    std::string text = Text(key);
    if (error_.empty() && !IsName(text)) Fail(key, "wanted a name: letters, digits and '_'");
    return text;
  }

  std::string TextOr(const char *key) { return object_.contains(key) ? Text(key) : std::string(); }

  void Fail(const char *key, const std::string &what) {
    if (error_.empty()) error_ = fmt::format("{}: \"{}\": {}", where_, key, what);
  }

  const std::string &error() const { return error_; }

 private:
  const Json &object_;
  std::string where_;
  std::string error_;
};

uint64_t ParseLayout(Taker *take) {
  std::string text = take->Text("layout");
  if (text.size() < 3 || text.size() > 18 || text.compare(0, 2, "0x") != 0 ||
      text.find_first_not_of("0123456789abcdef", 2) != std::string::npos) {
    take->Fail("layout", fmt::format("wanted 0x and hexadecimal digits, found \"{}\"", text));
    return 0;
  }
  return std::stoull(text.substr(2), nullptr, 16);
}

bool SizeFits(const Field &f) {
  switch (f.type) {
    case GKHI_T_STRING:
    case GKHI_T_BINARY:
    case GKHI_T_BOOL:
      return f.size == 1;
    case GKHI_T_PTR:
      return f.size == 8;
    case GKHI_T_FLOAT:
      return f.size == 4 || f.size == 8;
    default:
      return f.size == 1 || f.size == 2 || f.size == 4 || f.size == 8;
  }
}

// Does the field stay inside the fixed part, and is it where the layout rules put it?
void CheckPlace(const Field &f, uint32_t fixed_bytes, Taker *take) {
  const bool counted =
      f.form == GKHI_FORM_SEQUENCE || (f.type == GKHI_T_BINARY && f.form == GKHI_FORM_SCALAR);
  if (f.form == GKHI_FORM_SCALAR && !f.is_string() && !counted && f.in_tail()) {
    return take->Fail("offset", "wanted a place in the fixed part, found none");
  }
  if ((counted || f.is_string()) && !f.in_tail()) {
    return take->Fail("offset", fmt::format("wanted {} (tail), found {}", GKHI_NO_OFFSET, f.offset));
  }
  if (counted != f.counted()) {
    return take->Fail("len_offset",
                      counted ? "wanted the place of the count, found none"
                              : fmt::format("wanted {} (none), found {}", GKHI_NO_OFFSET, f.len_offset));
  }
  if (counted && (f.len_offset % 4 || f.len_offset + 4u > fixed_bytes)) {
    return take->Fail("len_offset",
                      fmt::format("{} is not in the fixed part of {} bytes", f.len_offset, fixed_bytes));
  }
  const uint64_t bytes = uint64_t{f.size} * (f.form == GKHI_FORM_ARRAY ? f.max : 1);
  if (f.in_tail()) return;
  if (bytes > kFixedArrayBytes || f.offset % f.size || f.offset + bytes > fixed_bytes) {
    take->Fail("offset", fmt::format("{} bytes at {} are not in the fixed part of {} bytes", bytes, f.offset,
                                     fixed_bytes));
  }
}

void ParseEnumerators(const Json &object, Field *f, Taker *take) {
  auto it = object.find("enum");
  if (it == object.end() || it->is_null()) return;
  if (!it->is_array()) return take->Fail("enum", "wanted an array");
  for (const Json &pair : *it) {
    if (!pair.is_array() || pair.size() != 2 || !pair[0].is_string() || !pair[1].is_number_integer() ||
        !IsName(pair[0].get_ref<const std::string &>())) {
      return take->Fail("enum", fmt::format("wanted [name, value], found {}",
                                            pair.dump(-1, ' ', true, Json::error_handler_t::replace)));
    }
    f->enumerators.push_back({pair[0].get<std::string>(), pair[1].is_number_unsigned()
                                                              ? static_cast<int64_t>(pair[1].get<uint64_t>())
                                                              : pair[1].get<int64_t>()});
  }
}

Result<Field> ParseField(const Json &object, const std::string &event, uint32_t fixed_bytes) {
  if (!object.is_object()) return Error{fmt::format("{}: a field is not an object", event)};
  Field f;
  auto name = object.find("name");
  if (name != object.end() && name->is_string()) f.name = name->get<std::string>();
  Taker take(object, fmt::format("{}: field \"{}\"", event, f.name));
  if (f.name.empty()) take.Fail("name", "wanted a name");
  take.Name("name");
  const std::string type = take.Text("type");
  if (type.size() != 1 || kTypes.find(type[0]) == std::string_view::npos) {
    take.Fail("type", fmt::format("wanted one of \"{}\", found \"{}\"", kTypes, type));
  } else {
    f.type = type[0];
  }
  f.size = static_cast<uint8_t>(take.Number("size", 8));
  f.form = static_cast<uint8_t>(take.NumberOr("form", GKHI_FORM_SEQUENCE, GKHI_FORM_SCALAR));
  f.show = static_cast<uint8_t>(take.NumberOr("show", GKHI_SHOW_OCT, GKHI_SHOW_DEC));
  f.offset = static_cast<uint16_t>(take.NumberOr("offset", GKHI_NO_OFFSET, GKHI_NO_OFFSET));
  f.len_offset = static_cast<uint16_t>(take.NumberOr("len_offset", GKHI_NO_OFFSET, GKHI_NO_OFFSET));
  f.max = static_cast<uint32_t>(take.NumberOr("max", UINT32_MAX, 1));
  f.doc = take.TextOr("doc");
  auto is_signed = object.find("signed");
  f.is_signed = f.type == GKHI_T_INT ||
                (is_signed != object.end() && is_signed->is_boolean() && is_signed->get<bool>());
  ParseEnumerators(object, &f, &take);
  if (take.error().empty() && !SizeFits(f)) {
    take.Fail("size", fmt::format("{} does not fit type \"{}\"", f.size, f.type));
  }
  if (take.error().empty()) CheckPlace(f, fixed_bytes, &take);
  if (!take.error().empty()) return Error{take.error()};
  return f;
}

// What of a field decides how its bytes are read, as genevent hashes it.
std::string HashedType(const Field &f) {
  std::string element;
  switch (f.type) {
    case GKHI_T_UINT:
    case GKHI_T_INT:
      element = fmt::format("{}{}", f.is_signed ? 's' : 'u', f.size * 8);
      break;
    case GKHI_T_ENUM:
    case GKHI_T_FLAGS:
      element = fmt::format("{}:{}{}", f.type == GKHI_T_ENUM ? "enum" : "flags", f.is_signed ? 's' : 'u',
                            f.size * 8);
      break;
    case GKHI_T_BOOL:
      element = "bool";
      break;
    case GKHI_T_PTR:
      element = "ptr";
      break;
    case GKHI_T_FLOAT:
      element = fmt::format("f{}", f.size * 8);
      break;
    default:
      element = f.is_string() ? "string" : "binary";
  }
  if (f.form == GKHI_FORM_ARRAY) return fmt::format("{}[{}]", element, f.max);
  if (f.is_string() || f.type == GKHI_T_BINARY) return fmt::format("{} max {}", element, f.max);
  if (f.form == GKHI_FORM_SEQUENCE) return fmt::format("{}[] max {}", element, f.max);
  return element;
}

}  // namespace

uint64_t LayoutHash(const Event &event) {
  std::string text = fmt::format("gkhi layout 1\nevent {}\n", event.full_name);
  for (const Field &field : event.fields) text += fmt::format("field {} {}\n", field.name, HashedType(field));
  const uint64_t hash = XXH64(text.data(), text.size(), 0);
  return hash == 0 ? 1 : hash;
}

int Event::FieldIndex(std::string_view field) const {
  for (size_t i = 0; i < fields.size(); i++) {
    if (fields[i].name == field) return static_cast<int>(i);
  }
  return -1;
}

Result<Event> ParseEventJson(std::string_view text) {
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return Error{"schema: not a JSON object"};
  Event e;
  Taker take(json, "schema");
  e.id = static_cast<uint32_t>(take.Number("id", GKHI_ID_MAX));
  e.provider = take.Name("provider");
  e.name = take.Name("name");
  e.full_name = e.provider + ":" + e.name;
  e.layout = ParseLayout(&take);
  e.doc = take.TextOr("doc");
  e.message = take.TextOr("message");
  e.stability = static_cast<uint8_t>(take.NumberOr("stability", GKHI_STABLE, GKHI_PRIVATE));
  e.loglevel = static_cast<uint8_t>(take.NumberOr("loglevel", 7, 6));
  e.fixed_bytes = static_cast<uint32_t>(take.Number("fixed_words", UINT16_MAX)) * 8;
  if (e.id == 0) take.Fail("id", "0 is never given out");
  auto fields = json.find("fields");
  if (fields == json.end() || !fields->is_array()) take.Fail("fields", "wanted an array");
  if (!take.error().empty()) return Error{take.error()};
  for (const Json &object : *fields) {
    Result<Field> field = ParseField(object, e.full_name, e.fixed_bytes);
    if (!field) return Error{field.error()};
    e.n_tails += field->in_tail();
    e.fields.push_back(std::move(*field));
  }
  if (const uint64_t hash = LayoutHash(e); hash != e.layout) {
    return Error{fmt::format("{}: layout {:#018x}, but the fields here have {:#018x}: this is not its schema",
                             e.full_name, e.layout, hash)};
  }
  return e;
}

}  // namespace gkhi::reader
