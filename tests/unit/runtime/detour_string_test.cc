// SPDX-License-Identifier: MIT
// The string of a fast detour: what lies in the stream is what the generic detour and the ring would have
// written, nothing of the program's is disturbed, and what does not fit goes the slow way with nothing
// committed.
#include <algorithm>
#include <atomic>
#include <thread>

#include "detour_fast_util.hpp"

namespace {

constexpr uint32_t kMax = 48;  // 6 words: 47 characters and a NUL

// A page with one behind it that nobody can read.
char *LastPage() {
  static char *page = [] {
    char *p =
        static_cast<char *>(mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    mprotect(p + 4096, 4096, PROT_NONE);
    return p;
  }();
  return page;
}

class FastString : public Fast {
 protected:
  void SetUp() override {
    Fast::SetUp();
    if (IsSkipped()) return;
    event_.Scalar("a", 'u', 8).String("text", kMax).Scalar("b", 'u', 4);
    SetHook(&ring_, 2);
    frame_words = 3;
    RandomState();
  }
  // Text may be anywhere in its page, its bytes all but NUL; behind it is rubbish.
  const char *Put(size_t length, size_t at) {
    for (size_t i = 0; i < 4096; i++) LastPage()[i] = static_cast<char>(1 + rng_() % 255);
    LastPage()[at + length] = 0;
    return LastPage() + at;
  }
  void InstallAt(const std::string &text, const std::string &a, const std::string &b,
                 gkhi_site_origin origin = GKHI_ORIGIN_MACRO) {
    Install(detour_probe_pad, Make(detour_probe_pad, event_,
                                   {{'u', 8, "a", a}, {'c', 1, "text", text}, {'u', 4, "b", b}}, origin));
  }
  // Runs the pad until it is not preempted in its sequence; how often it went the slow way in the end.
  uint64_t RunPad(bool slow) {
    uint64_t before = dispatched;
    for (int again = 0; again < 20; again++) {
      before = dispatched;
      detour_probe();
      ExpectUndisturbed(false);
      if ((dispatched != before) == slow) break;
    }
    return dispatched - before;
  }
  void ExpectRecord(const char *text, uint64_t a, uint32_t b) {
    const size_t words = strlen(text) / 8 + 1;
    std::vector<char> want(8 * words, 0);
    memcpy(want.data(), text, strlen(text));
    const uint64_t *record = ring_.Last(cpu_, static_cast<unsigned>(3 + words));
    EXPECT_EQ(record[0] & 0xffff, 5u);
    EXPECT_EQ(record[1], a);
    EXPECT_EQ(record[2], b);
    EXPECT_EQ(memcmp(record + 3, want.data(), want.size()), 0) << strlen(text) << " bytes";
  }
  void ExpectSlow(const std::string &what) {
    const uint64_t commit = ring_.cpu(cpu_)->commit;
    EXPECT_EQ(RunPad(true), 1u) << what;
    EXPECT_EQ(ring_.cpu(cpu_)->commit, commit) << what;
    EXPECT_EQ(frame[0], detour_probe_in.r[1]) << what;
  }

  Ring ring_;
  Event event_;
};

TEST_F(FastString, EveryLengthAtEveryPlaceOfItsPage) {
  InstallAt("%r9", "%rcx", "%r10d");
  memset(const_cast<char *>(ring_.Data(cpu_)), 0xee, kSubbuf);
  for (int round = 0; round < 4000; round++) {
    RandomState();
    const size_t length = rng_() % kMax, at = rng_() % (4096 - 64);
    const char *text = Put(length, at);
    detour_probe_in.r[9] = reinterpret_cast<uint64_t>(text);
    if (gkhi_commit_offset(ring_.cpu(cpu_)->commit) > kSubbuf - 256)
      ring_.cpu(cpu_)->commit = GKHI_PACKET_HEADER - 8;
    const uint64_t before = ring_.cpu(cpu_)->commit;
    ASSERT_EQ(RunPad(false), 0u) << length << " bytes at " << at;
    EXPECT_EQ(ring_.cpu(cpu_)->commit - before, gkhi_commit_step(static_cast<uint32_t>(3 + length / 8 + 1)));
    ExpectRecord(text, detour_probe_in.r[1], static_cast<uint32_t>(detour_probe_in.r[10]));
    if (HasFailure()) break;
  }
}

// Whatever the copy itself needs may be where the pointer and the other operands are.
TEST_F(FastString, OperandsInEveryRegister) {
  static const char *const kNames[16] = {"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi",
                                         "r8",  "r9",  "r10", "r11", "r12", "r13", "r14", "r15"};
  static uint64_t pointer;
  for (int text_in = 0; text_in < 16; text_in++)
    for (int a_in = 0; a_in < 16; a_in++) {
      if (text_in == 4 || a_in == 4) continue;
      RandomState();
      const char *text = Put(21, 100);
      pointer = reinterpret_cast<uint64_t>(text);
      detour_probe_in.r[text_in] = reinterpret_cast<uint64_t>(&pointer) - 24;
      InstallAt(std::string("24(%") + kNames[text_in] + ")", std::string("%") + kNames[a_in], "$7");
      ASSERT_EQ(RunPad(false), 0u) << kNames[text_in] << " " << kNames[a_in];
      ExpectRecord(text, detour_probe_in.r[a_in], 7);
      if (text_in == a_in) continue;
      detour_probe_in.r[text_in] = pointer;
      InstallAt(std::string("%") + kNames[text_in], std::string("%") + kNames[a_in], "$8");
      ASSERT_EQ(RunPad(false), 0u) << kNames[text_in] << " " << kNames[a_in];
      ExpectRecord(text, detour_probe_in.r[a_in], 8);
      if (HasFailure()) return;
    }
}

TEST_F(FastString, FloatsBesideIt) {
  for (int x = 0; x < 16; x++) {
    RandomState();
    Event event;
    event.String("text", kMax).Scalar("d", 'f', 8).Scalar("f", 'f', 4);
    detour_probe_in.r[8] = reinterpret_cast<uint64_t>(Put(17, 8));
    Install(detour_probe_pad, Make(detour_probe_pad, event,
                                   {{'c', 1, "text", "%r8"},
                                    {'f', 8, "d", "%xmm" + std::to_string(x)},
                                    {'f', 4, "f", "%xmm" + std::to_string(15 - x)}},
                                   GKHI_ORIGIN_MACRO));
    ASSERT_EQ(RunPad(false), 0u);
    uint64_t d;
    uint32_t f;
    memcpy(&d, detour_probe_in.xmm[x], 8);
    memcpy(&f, detour_probe_in.xmm[15 - x], 4);
    ExpectRecord(LastPage() + 8, d, f);
  }
}

TEST_F(FastString, TheSlowWaysOut) {
  InstallAt("%r9", "%rcx", "%r10d");
  detour_probe_in.r[9] = 0;
  ExpectSlow("NULL");
  EXPECT_EQ(frame[2], 0u);
  for (size_t length = kMax; length < kMax + 40; length++) {
    detour_probe_in.r[9] = reinterpret_cast<uint64_t>(Put(length, 64));
    ExpectSlow("too long: " + std::to_string(length));
    EXPECT_EQ(frame[2], detour_probe_in.r[9]);
  }
  for (size_t behind = 1; behind < 16; behind++) {
    detour_probe_in.r[9] = reinterpret_cast<uint64_t>(Put(behind - 1, 4096 - behind));
    ExpectSlow("16 bytes would reach into the next page: " + std::to_string(behind));
  }
  detour_probe_in.r[9] = reinterpret_cast<uint64_t>(Put(3, 64));
  ring_.cpu(cpu_)->deadline = 0;
  ExpectSlow("packet too old");
  ring_.cpu(cpu_)->deadline = ~0u;
  ring_.route()->n_cpus[GKHI_STREAM_COMPACT] = 0;
  ExpectSlow("another route");
}

// Nothing is ever stored behind the packet, whatever the string turns out to be.
TEST_F(FastString, StaysInItsPacket) {
  Ring two(2 * kSubbuf);
  SetHook(&two, 2);
  InstallAt("%r9", "%rcx", "%r10d");
  gkhi_ring_cpu *rc = two.cpu(cpu_);
  rc->subbuf_size = kSubbuf;
  for (uint32_t left = 8; left < 160; left += 8)
    for (size_t length = 0; length < kMax; length++) {
      memset(const_cast<char *>(two.Data(cpu_)) + kSubbuf, 0xee, 256);
      rc->commit = kSubbuf - 8 - left;
      detour_probe_in.r[9] = reinterpret_cast<uint64_t>(Put(length, 64));
      detour_probe();
      ASSERT_EQ(std::count(two.Data(cpu_) + kSubbuf, two.Data(cpu_) + kSubbuf + 256, '\xee'), 256)
          << left << " bytes left, " << length << " of string";
      ASSERT_LT(gkhi_commit_offset(rc->commit), kSubbuf);
    }
}

// The pass knows nothing of a pointer: it is asked for before it is followed.
TEST_F(FastString, APointerThatMayBeAnythingIsTheGenericDetours) {
  InstallAt("%r9", "%rcx", "%r10d", GKHI_ORIGIN_PASS);
  detour_probe_in.r[9] = reinterpret_cast<uint64_t>(LastPage() + 4096);
  const uint64_t before = operand_faults;
  ExpectSlow("unreadable");
  EXPECT_GT(operand_faults, before);
  EXPECT_STREQ(reinterpret_cast<const char *>(frame[2]), "(fault)");
}

TEST_F(FastString, StepsGoTheGenericWay) {
  static const char *text;
  text = Put(5, 64);
  detour_probe_in.r[9] = reinterpret_cast<uint64_t>(&text);
  InstallAt("%r9>0", "%rcx", "%r10d");
  ExpectSlow("a step");
  EXPECT_EQ(frame[2], reinterpret_cast<uint64_t>(text));
}

// The program changes the string while it is copied: a whole record with some length, its end where it says.
TEST_F(FastString, AStringThatIsChangedMeanwhile) {
  static char text[64] __attribute__((aligned(64)));
  std::atomic<bool> stop{false};
  memset(text, 'x', 40);
  detour_probe_in.r[9] = reinterpret_cast<uint64_t>(text);
  InstallAt("%r9", "%rcx", "%r10d");
  sched_setaffinity(0, sizeof(all_), &all_);
  std::thread writer([&] {
    for (unsigned i = 0; !stop.load(); i++) {
      __atomic_store_n(&text[i % 40], 0, __ATOMIC_RELAXED);
      __atomic_store_n(&text[i % 40], 'x', __ATOMIC_RELAXED);
    }
  });
  PinTo(cpu_);
  for (int i = 0; i < 20000; i++) {
    gkhi_ring_cpu *rc = ring_.cpu(cpu_);
    rc->commit = GKHI_PACKET_HEADER - 8;
    const uint64_t slow = dispatched;
    detour_probe();
    if (dispatched != slow) continue;
    const char *copy = ring_.Data(cpu_) + GKHI_PACKET_HEADER + 24;
    const size_t bytes = gkhi_commit_offset(rc->commit) + 8 - GKHI_PACKET_HEADER - 24;
    const size_t length = strnlen(copy, bytes);
    ASSERT_EQ(bytes, length / 8 * 8 + 8);
    ASSERT_EQ(std::count(copy, copy + length, 'x'), static_cast<long>(length));
    ASSERT_EQ(std::count(copy + length, copy + bytes, 0), static_cast<long>(bytes - length));
  }
  stop.store(true);
  writer.join();
}

}  // namespace
