// SPDX-License-Identifier: MIT
// Events and map records made at run time, for the tests of marker detours.
#ifndef GKHI_TESTS_UNIT_RUNTIME_DETOUR_UTIL_HPP_
#define GKHI_TESTS_UNIT_RUNTIME_DETOUR_UTIL_HPP_

#include <gkhi/abi.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace detour_test {

struct Argument {
  char type;
  int size;
  std::string name, location;
};

// A record lies within 2 GiB of its pad: take it from static storage.
class Record {
 public:
  Record(const void *pad, const std::vector<Argument> &arguments,
         gkhi_site_origin origin = GKHI_ORIGIN_PASS) {
    std::string text = std::string("test:event") + '\0' + "function" + '\0' + "file.c" + '\0';
    for (const Argument &a : arguments) {
      text += a.type;
      text += static_cast<char>(a.size);
      text += a.name + '\0' + a.location + '\0';
    }
    while (text.size() % 4) text += '\0';
    const size_t size = sizeof(gkhi_record) + text.size();
    head_ = reinterpret_cast<gkhi_record *>(Take(size));
    *head_ = {};
    head_->magic = GKHI_RECORD_MAGIC;
    head_->version = GKHI_RECORD_VERSION;
    head_->size = static_cast<uint32_t>(size);
    head_->pad =
        static_cast<int32_t>(reinterpret_cast<intptr_t>(pad) - reinterpret_cast<intptr_t>(&head_->pad));
    head_->padlen = GKHI_PAD_LEN;
    head_->nargs = static_cast<uint8_t>(arguments.size());
    head_->origin = origin;
    memcpy(head_ + 1, text.data(), text.size());
  }
  gkhi_record *get() { return head_; }

 private:
  static char *Take(size_t size) {
    alignas(8) static char storage[4 << 20];
    static size_t used = 0;
    char *p = storage + used;
    used += (size + 7) & ~size_t{7};
    return used <= sizeof(storage) ? p : nullptr;
  }
  gkhi_record *head_;
};

// An event with its fields laid out as gkhi/abi.h says.
class Event {
 public:
  Event &Scalar(const char *name, char type, int size) {
    return Fixed(name, type, size, GKHI_FORM_SCALAR, 1);
  }
  Event &Array(const char *name, int size, uint32_t n) {
    if (size * n <= 16) return Fixed(name, 'u', size, GKHI_FORM_ARRAY, n);
    return Tail(name, 'u', size, GKHI_FORM_ARRAY, n);
  }
  Event &String(const char *name, uint32_t max) {
    return Tail(name, GKHI_T_STRING, 1, GKHI_FORM_SCALAR, max);
  }
  Event &Binary(const char *name, uint32_t max) {
    return Counted(name, GKHI_T_BINARY, 1, GKHI_FORM_SCALAR, max);
  }
  Event &Sequence(const char *name, int size, uint32_t max) {
    return Counted(name, 'u', size, GKHI_FORM_SEQUENCE, max);
  }
  const gkhi_event *get() {
    event_ = {};
    event_.abi = GKHI_ABI_VERSION;
    event_.provider = "test";
    event_.name = "event";
    event_.layout = 1;
    event_.fields = fields_.data();
    event_.n_fields = static_cast<uint16_t>(fields_.size());
    event_.fixed_words = static_cast<uint16_t>((end_ + 7) / 8);
    event_.n_tails = tails_;
    return &event_;
  }
  uint16_t words() { return static_cast<uint16_t>((end_ + 7) / 8 + tails_); }

 private:
  uint16_t Take(int bytes, int align) {
    const int at = (end_ + align - 1) / align * align;
    end_ = at + bytes;
    return static_cast<uint16_t>(at);
  }
  Event &Add(const gkhi_field &f) {
    fields_.push_back(f);
    return *this;
  }
  gkhi_field Field(const char *name, int type, int size, int form, uint32_t max) {
    gkhi_field f{};
    f.name = name;
    f.type = static_cast<uint8_t>(type);
    f.size = static_cast<uint8_t>(size);
    f.form = static_cast<uint8_t>(form);
    f.max = max;
    f.offset = f.len_offset = GKHI_NO_OFFSET;
    return f;
  }
  Event &Fixed(const char *name, int type, int size, int form, uint32_t n) {
    gkhi_field f = Field(name, type, size, form, n);
    f.offset = Take(size * static_cast<int>(n), size);
    return Add(f);
  }
  Event &Tail(const char *name, int type, int size, int form, uint32_t max) {
    tails_++;
    return Add(Field(name, type, size, form, max));
  }
  Event &Counted(const char *name, int type, int size, int form, uint32_t max) {
    gkhi_field f = Field(name, type, size, form, max);
    f.len_offset = Take(4, 4);
    tails_++;
    return Add(f);
  }

  std::vector<gkhi_field> fields_;
  gkhi_event event_{};
  int end_ = 0;
  uint16_t tails_ = 0;
};

}  // namespace detour_test

#endif  // GKHI_TESTS_UNIT_RUNTIME_DETOUR_UTIL_HPP_
