// SPDX-License-Identifier: MIT
// The capturing stub.
#include "frame_capture.hpp"

#include <algorithm>
#include <cstring>

extern "C" {
extern const gkhi_event __start_gkhi_events[] __attribute__((visibility("hidden")));
extern const gkhi_event __stop_gkhi_events[] __attribute__((visibility("hidden")));

void gkhi_test_stub();
__attribute__((target("general-regs-only"), no_sanitize("address", "thread", "undefined"))) void
gkhi_test_capture(const gkhi_hook *hook, const uint64_t *frame);
}

// As gkhi_hook.stub promises: rcx is the hook; on the stack its saved value, the return address, the frame.
// Every register but rflags is preserved.
__asm__(
    ".pushsection .text\n"
    ".globl gkhi_test_stub\n"
    ".type gkhi_test_stub,@function\n"
    "gkhi_test_stub:\n"
    "pushq %rax\npushq %rdx\npushq %rsi\npushq %rdi\npushq %r8\npushq %r9\npushq %r10\npushq %r11\npushq "
    "%rbp\n"
    "movq %rsp,%rbp\n"
    "movq %rcx,%rdi\n"
    "leaq 88(%rsp),%rsi\n"
    "andq $-16,%rsp\n"
    "call gkhi_test_capture\n"
    "movq %rbp,%rsp\n"
    "popq %rbp\npopq %r11\npopq %r10\npopq %r9\npopq %r8\npopq %rdi\npopq %rsi\npopq %rdx\npopq %rax\n"
    "popq %rcx\n"
    "ret\n"
    ".size gkhi_test_stub,.-gkhi_test_stub\n"
    ".popsection\n");

namespace {

constexpr size_t kMaxFrames = 64;
constexpr size_t kMaxWords = 64;

struct Slot {
  uint64_t words[kMaxWords];
  uint64_t n_words;
};

// How long the frame of a hook is.
struct Armed {
  const gkhi_hook *hook;
  uint64_t n_words;
};

Slot slots[kMaxFrames];
size_t n_frames;
Armed armed[kMaxFrames];
size_t n_armed;

}  // namespace

void gkhi_test_capture(const gkhi_hook *hook, const uint64_t *frame) {
  if (n_frames >= kMaxFrames) return;
  Slot *slot = &slots[n_frames++];
  slot->n_words = 0;
  for (size_t i = 0; i < n_armed; i++) {
    if (armed[i].hook == hook) slot->n_words = armed[i].n_words;
  }
  for (uint64_t i = 0; i < slot->n_words && i < kMaxWords; i++) slot->words[i] = frame[i];
}

namespace frame_capture {

const gkhi_event *FindEvent(const std::string &name) {
  for (const gkhi_event *event = __start_gkhi_events; event < __stop_gkhi_events; event++) {
    if (std::string(event->provider) + ":" + event->name == name) return event;
  }
  return nullptr;
}

void Arm(gkhi_hook *hook) {
  const char *name = reinterpret_cast<const char *>(&hook->name) + hook->name;
  const gkhi_event *event = FindEvent(name);
  bool known = false;
  for (size_t i = 0; i < n_armed; i++) known |= armed[i].hook == hook;
  if (!known) armed[n_armed++] = {hook, uint64_t{event->fixed_words} + event->n_tails};
  hook->stub = reinterpret_cast<void *>(gkhi_test_stub);
  __atomic_store_n(&hook->mode, GKHI_MODE_CALL, __ATOMIC_RELEASE);
}

void Disarm(gkhi_hook *hook) {
  __atomic_store_n(&hook->mode, GKHI_MODE_OFF, __ATOMIC_RELEASE);
}

std::vector<std::vector<uint64_t>> TakeFrames() {
  std::vector<std::vector<uint64_t>> out;
  for (size_t i = 0; i < n_frames; i++) out.emplace_back(slots[i].words, slots[i].words + slots[i].n_words);
  n_frames = 0;
  return out;
}

std::string Payload(const gkhi_event &event, const std::vector<uint64_t> &frame) {
  std::string out(reinterpret_cast<const char *>(frame.data()), event.fixed_words * 8u);
  size_t next = event.fixed_words;
  for (size_t i = 0; i < event.n_fields; i++) {
    const gkhi_field &field = event.fields[i];
    if (field.offset != GKHI_NO_OFFSET) continue;
    const auto *data = reinterpret_cast<const char *>(frame[next++]);
    uint32_t count = field.max;
    if (field.len_offset != GKHI_NO_OFFSET) std::memcpy(&count, out.data() + field.len_offset, 4);
    if (field.type == GKHI_T_STRING) {
      const char *text = data == nullptr ? "(null)" : data;
      out += std::string(text, strnlen(text, field.max - 1)) + '\0';
    } else if (data != nullptr) {
      out.append(data, size_t{count} * field.size);
    } else {
      out.append(size_t{count} * field.size, '\0');
    }
    out.resize((out.size() + 7) / 8 * 8);
  }
  return out;
}

}  // namespace frame_capture
