// SPDX-License-Identifier: MIT
// The macro of one event.
//
// Its body declares one typed temporary per field (so that the compiler checks the arguments), then either
// runs through the pad with a record of where the temporaries live, or hands the frame to the stub. Which
// one, the hook's mode says.
#include "macro.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "ctext.hpp"
#include "emit.hpp"
#include "operands.hpp"
#include "writer.hpp"

namespace genevent {
namespace {

// Macro parameters that would replace a word of the macro's own body get an underscore.
bool IsBodyWord(const std::string &name) {
  static constexpr std::array<std::string_view, 33> kWords = {
      "and",      "and_eq",  "asm",       "bitand", "bitor",    "bool",  "char",   "compl",    "const",
      "do",       "double",  "else",      "for",    "goto",     "if",    "inline", "int16_t",  "int32_t",
      "int64_t",  "int8_t",  "not",       "not_eq", "or",       "or_eq", "sizeof", "uint16_t", "uint32_t",
      "uint64_t", "uint8_t", "uintptr_t", "void",   "volatile", "while"};
  return std::find(kWords.begin(), kWords.end(), name) != kWords.end() || name == "xor" || name == "xor_eq";
}

bool IsPointer(const Field &field) {
  return field.tail || field.form == Form::kArray;
}

std::string PointerType(const Field &field) {
  if (field.kind == Kind::kPtr) return "const volatile void *const *";
  return fmt::format("const {} *", CType(field));
}

std::string Temporary(const Field &field) {
  return fmt::format("gkhi_{}_", field.name);
}
std::string Helper(const Field &field, char suffix) {
  return fmt::format("gkhi_{}_{}", field.name, suffix);
}

void Declare(const Field &field, const std::vector<Parameter> &parameters, Shape shape, MacroWriter *out) {
  const std::string temporary = Temporary(field);
  const std::string argument = fmt::format("({})", parameters[0].name);
  if (field.kind == Kind::kFloat && !IsPointer(field)) {
    out->Line("double {} = {};", Helper(field, 'd'), argument);
    out->Line("uint64_t {};", temporary);
    return;
  }
  const std::string &type = parameters[0].type;
  out->Line("{}{}{} = {};", type, type.back() == '*' ? "" : " ", temporary, argument);
  if (!field.counted()) return;
  // A bare marker is in the hot path: its detour bounds the count.
  if (shape == Shape::kBare) {
    out->Line("uint32_t {} = (uint32_t)({});", Helper(field, 'n'), parameters[1].name);
  } else {
    out->Line("uint32_t {} = gkhi_count({}, {}, {});", Helper(field, 'n'), temporary, parameters[1].name,
              field.max);
  }
}

void DeclareAll(const Event &event, const Parameters &parameters, Shape shape, MacroWriter *out) {
  for (size_t i = 0; i < event.fields.size(); i++) Declare(event.fields[i], parameters[i], shape, out);
}

// Statements between the declarations and the record: pointers are laundered, doubles become bits.
void Prepare(const Event &event, MacroWriter *out) {
  for (const Field &field : event.fields) {
    const std::string temporary = Temporary(field);
    if (IsPointer(field)) {
      out->Line("{0} = ({1})gkhi_follow({0});", temporary, PointerType(field));
    } else if (field.kind == Kind::kFloat) {
      out->Line("__builtin_memcpy(&{}, &{}, 8);", temporary, Helper(field, 'd'));
    }
  }
}

char RecordType(const Field &field) {
  switch (field.kind) {
    case Kind::kString:
      return 'c';
    case Kind::kPtr:
      return 'p';
    case Kind::kFloat:
      return 'f';
    case Kind::kBool:
      return 'u';
    default:
      return field.is_signed ? 's' : 'u';
  }
}

std::vector<Operand> RecordOperands(const Event &event) {
  std::vector<Operand> out;
  for (const Field &field : event.fields) {
    Operand operand{
        .type = RecordType(field), .size = field.size, .name = field.name, .variable = Temporary(field)};
    operand.pointer = IsPointer(field);
    if (operand.pointer && field.kind != Kind::kString) operand.type = 'b';
    out.push_back(operand);
    if (field.counted()) {
      out.push_back({.type = 'u', .size = 4, .name = field.name + ".len", .variable = Helper(field, 'n')});
    }
  }
  return out;
}

// The value of a scalar as unsigned 64 bits without sign extension.
std::string Unsigned(const Field &field) {
  std::string temporary = Temporary(field);
  if (field.kind == Kind::kPtr) return fmt::format("(uint64_t)(uintptr_t){}", temporary);
  if (field.kind == Kind::kFloat) return temporary;
  if (field.is_signed && field.size < 8)
    return fmt::format("(uint64_t)(uint{}_t){}", field.size * 8, temporary);
  return fmt::format("(uint64_t){}", temporary);
}

void AddTerm(std::vector<std::string> *word, const std::string &value, uint32_t shift) {
  word->push_back(shift == 0 ? value : fmt::format("{} << {}", value, shift));
}

// An array of up to 16 bytes was copied to helper words; it may begin anywhere in a word of the frame.
void AddArray(const Field &field, std::vector<std::vector<std::string>> *words) {
  const uint32_t bytes = field.size * field.max;
  const uint32_t shift = field.offset % 8 * 8;
  for (uint32_t chunk = 0; chunk * 8 < bytes; chunk++) {
    const std::string value = fmt::format("{}[{}]", Helper(field, 'w'), chunk);
    const uint32_t word = field.offset / 8 + chunk;
    AddTerm(&words->at(word), value, shift);
    const uint32_t left = std::min(bytes - chunk * 8, 8u);
    if (shift + left * 8 > 64) words->at(word + 1).push_back(fmt::format("{} >> {}", value, 64 - shift));
  }
}

// The frame: fixed words, then one pointer per tail field.
std::vector<std::string> FrameWords(const Event &event) {
  std::vector<std::vector<std::string>> fixed(event.fixed_words);
  std::vector<std::string> tails;
  for (const Field &field : event.fields) {
    if (field.counted()) {
      AddTerm(&fixed[field.len_offset / 8], fmt::format("(uint64_t){}", Helper(field, 'n')),
              field.len_offset % 8 * 8);
    }
    if (field.tail) {
      tails.push_back(fmt::format("(uint64_t)(uintptr_t){}", Temporary(field)));
    } else if (field.form == Form::kArray) {
      AddArray(field, &fixed);
    } else {
      AddTerm(&fixed[field.offset / 8], Unsigned(field), field.offset % 8 * 8);
    }
  }
  std::vector<std::string> words;
  words.reserve(fixed.size() + tails.size());
  for (const auto &terms : fixed) words.push_back(fmt::format("{}", fmt::join(terms, " | ")));
  words.insert(words.end(), tails.begin(), tails.end());
  return words;
}

void WriteArgs(const std::string &head, const std::vector<std::string> &words, const std::string &tail,
               MacroWriter *out) {
  out->Line("{}{}", head, words.empty() ? tail : ",");
  for (size_t i = 0; i < words.size(); i++) out->Line("\t{}{}", words[i], i + 1 < words.size() ? "," : tail);
}

void WriteCall(const Model &model, const Event &event, MacroWriter *out) {
  for (const Field &field : event.fields) {
    if (field.form != Form::kArray || field.tail) continue;
    const bool two = field.size * field.max > 8;
    out->Line("uint64_t {}[{}] = {{ {} }};", Helper(field, 'w'), two ? 2 : 1, two ? "0, 0" : "0");
  }
  for (const Field &field : event.fields) {
    if (field.form != Form::kArray || field.tail) continue;
    out->Line("if ({})", Temporary(field));
    out->Line("\t__builtin_memcpy({}, {}, {});", Helper(field, 'w'), Temporary(field),
              field.size * field.max);
  }
  const std::vector<std::string> words = FrameWords(event);
  std::vector<std::string> pointers;
  for (const Field &field : event.fields) {
    if (field.tail) pointers.push_back(Temporary(field));
  }
  const Reads reads = MakeReads(pointers);
  if (reads.barrier) out->Line("__asm__ __volatile__(\"\" : : : \"memory\");");
  const std::string symbol = Symbol(model, event);
  if (words.size() <= 4) {
    WriteArgs(fmt::format("GKHI_CALL{}({}, {}", words.size(), symbol, reads.row), words, ");", out);
    return;
  }
  // A block of its own: kernel C wants declarations before statements.
  out->Open("{{");
  out->Line("uint64_t gkhi_frame[{}] = {{", words.size());
  for (const std::string &word : words) out->Line("\t{},", word);
  out->Line("}};");
  out->Line("GKHI_CALL_FRAME({}, {}, {}, gkhi_frame);", symbol, reads.row, words.size());
  out->Close("}}");
}

void WritePad(const Model &model, const Event &event, MacroWriter *out) {
  const PadOperands pad = AssignOperands(RecordOperands(event));
  if (!pad.block.empty()) {
    out->Line("uint64_t gkhi_block[{}] = {{", pad.block.size());
    for (const std::string &word : pad.block) out->Line("\t{},", word);
    out->Line("}};");
  }
  if (pad.barrier) out->Line("__asm__ __volatile__(\"\" : : : \"memory\");");
  out->Line("GKHI_PAD({}, \"{}:{}\", 0x{:08x}, 0x{:08x}, {}, {},", Symbol(model, event), model.provider,
            event.name, event.layout_hash & 0xffffffff, event.layout_hash >> 32, event.bare() ? 1 : 0,
            pad.arguments.size());
  if (pad.arguments.empty()) out->Line("\t\"\",");
  for (size_t i = 0; i < pad.arguments.size(); i++) {
    out->Line("\t{}{}", pad.arguments[i], i + 1 < pad.arguments.size() ? "" : ",");
  }
  for (size_t i = 0; i < pad.operands.size(); i++) {
    out->Line("\t{}{}", pad.operands[i], i + 1 < pad.operands.size() ? "," : pad.reads.empty() ? ");" : "");
  }
  if (pad.operands.empty()) out->Line("\t\"i\"(0));");
  if (!pad.reads.empty()) out->Line("\t{});", pad.reads);
}

}  // namespace

Parameters MakeParameters(const Event &event) {
  std::vector<std::string> taken;
  const auto unique = [&](std::string name) {
    if (IsBodyWord(name)) name += '_';
    while (std::find(taken.begin(), taken.end(), name) != taken.end()) name += '_';
    taken.push_back(name);
    return name;
  };
  Parameters out(event.fields.size());
  for (size_t i = 0; i < event.fields.size(); i++) {
    const Field &field = event.fields[i];
    out[i].push_back({unique(field.name), IsPointer(field) ? PointerType(field) : CType(field)});
  }
  for (size_t i = 0; i < event.fields.size(); i++) {
    if (event.fields[i].counted()) out[i].push_back({unique(event.fields[i].name + "_len"), "uint64_t"});
  }
  return out;
}

std::string NameList(const Parameters &parameters) {
  std::vector<std::string> words;
  for (const auto &group : parameters) {
    for (const Parameter &parameter : group) words.push_back(parameter.name);
  }
  return fmt::format("{}", fmt::join(words, ", "));
}

std::string TypeList(const Parameters &parameters) {
  std::vector<std::string> words;
  for (const auto &group : parameters) {
    for (const Parameter &parameter : group) words.push_back(parameter.type);
  }
  return words.empty() ? "void" : fmt::format("{}", fmt::join(words, ", "));
}

std::string HookMacro(const Model &model, const Event &event, Shape shape, const Parameters &parameters) {
  const std::string symbol = Symbol(model, event);
  MacroWriter out;
  out.Line("#define gkhi_{}({})", symbol, NameList(parameters));
  out.Line("do {{");
  out.Indent();
  if (shape == Shape::kBare) {
    DeclareAll(event, parameters, shape, &out);
    Prepare(event, &out);
    out.Line("gkhi_bare_{}();", symbol);
    WritePad(model, event, &out);
  } else {
    out.Open("if (__builtin_expect(gkhi_armed_{}(), 0)) {{", symbol);
    DeclareAll(event, parameters, shape, &out);
    Prepare(event, &out);
    out.Line("GKHI_ENTER();");
    if (shape == Shape::kHook) {
      out.Open("if (gkhi_to_pad_{}()) {{", symbol);
      WritePad(model, event, &out);
      out.Reopen("}} else {{");
    } else {
      out.Open("{{");
    }
    WriteCall(model, event, &out);
    out.Close("}}");
    out.Line("GKHI_LEAVE();");
    out.Close("}}");
  }
  out.Dedent();
  out.Line("}} while (0)");
  return out.Take();
}

}  // namespace genevent
