// SPDX-License-Identifier: MIT
// The generic detour: what it reads, that it disturbs nothing, and what it refuses.
// gkhi_dispatch() is the test's own and keeps the frame.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <fstream>
#include <functional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "detour_probe.hpp"
#include "detour_util.hpp"

extern "C" {
#include "port_posix.h"

ptrdiff_t gkhi_rseq_offset;  // none: the generic detour alone
}

using detour_test::Argument;
using detour_test::Event;
using detour_test::Record;
using SitePatch = struct port_patch;

#ifndef PR_SET_MDWE
#define PR_SET_MDWE 65
#define PR_MDWE_REFUSE_EXEC_GAIN 1
#endif

namespace {

gkhi_hook hook;
unsigned frame_words;
uint64_t frame[64];
uint64_t dispatched;
uint64_t faults;

constexpr uint64_t kFlagsMask = 0x8d5;  // CF PF AF ZF SF OF

}  // namespace

// As the real one: no vector registers.
extern "C" __attribute__((target("general-regs-only"))) void gkhi_dispatch(gkhi_hook *,
                                                                           const uint64_t *from) {
  for (unsigned i = 0; i < frame_words; i++) frame[i] = from[i];
  dispatched++;
}
extern "C" __attribute__((target("general-regs-only"))) void gkhi_faulted(gkhi_hook *of, uint64_t n) {
  if (of == &hook) faults += n;
}

namespace {

struct Detour {
  int rc;
  gkhi_why why = GKHI_WHY_OK;
  const void *entry = nullptr;
};

Detour Make(Record &record, Event &event) {
  Detour d;
  d.rc = port_detour(record.get(), &hook, event.get(), &d.entry, &d.why);
  return d;
}

const void *installed;

void Install(void *pad, const void *entry) {
  SitePatch p = {pad, entry, installed, 0};
  ASSERT_EQ(port_patch(&p, 1), 0) << p.status;
  installed = entry;
}

void RandomState(std::mt19937_64 *rng) {
  for (uint64_t &r : detour_probe_in.r) r = (*rng)();
  detour_probe_in.flags = 0x202 | ((*rng)() & kFlagsMask);
  for (auto &x : detour_probe_in.xmm)
    for (uint8_t &b : x) b = static_cast<uint8_t>((*rng)());
  for (uint64_t &r : detour_probe_in.red) r = (*rng)();
}

void ExpectUndisturbed() {
  for (int i = 0; i < 16; i++) EXPECT_EQ(detour_probe_out.r[i], detour_probe_in.r[i]) << "register " << i;
  EXPECT_EQ(detour_probe_out.flags & kFlagsMask, detour_probe_in.flags & kFlagsMask);
  EXPECT_EQ(memcmp(detour_probe_out.xmm, detour_probe_in.xmm, sizeof(detour_probe_in.xmm)), 0);
  EXPECT_EQ(memcmp(detour_probe_out.red, detour_probe_in.red, sizeof(detour_probe_in.red)), 0);
}

// Runs the pad once with a detour for @arguments; the frame is in `frame` then.
void RunPad(Event &event, const std::vector<Argument> &arguments,
            gkhi_site_origin origin = GKHI_ORIGIN_PASS) {
  Record record(detour_probe_pad, arguments, origin);
  Detour d = Make(record, event);
  ASSERT_EQ(d.rc, 0);
  ASSERT_NO_FATAL_FAILURE(Install(detour_probe_pad, d.entry));
  frame_words = event.words();
  memset(frame, 0xee, sizeof(frame));
  const uint64_t before = dispatched;
  detour_probe();
  EXPECT_EQ(dispatched, before + 1);
  ExpectUndisturbed();
}

class Probe : public testing::Test {
 protected:
  void SetUp() override { RandomState(&rng_); }
  void TearDown() override { Install(detour_probe_pad, nullptr); }
  std::mt19937_64 rng_{42};
};

const char *kNames[16] = {"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi",
                          "r8",  "r9",  "r10", "r11", "r12", "r13", "r14", "r15"};

TEST_F(Probe, EveryRegisterIsReadAndKept) {
  for (int i = 0; i < 16; i++) {
    Event event;
    event.Scalar("x", 'u', 8);
    for (int round = 0; round < 20; round++) {
      RandomState(&rng_);
      RunPad(event, {{'u', 8, "x", std::string("%") + kNames[i]}});
      EXPECT_EQ(frame[0], detour_probe_in.r[i]) << kNames[i];
    }
  }
}

TEST_F(Probe, SixteenFieldsOfOneEvent) {
  Event event;
  std::vector<Argument> arguments;
  for (auto &name : kNames) {
    event.Scalar(name, 'u', 8);
    arguments.push_back({'u', 8, name, std::string("%") + name});
  }
  RunPad(event, arguments);
  EXPECT_EQ(memcmp(frame, detour_probe_in.r, sizeof(detour_probe_in.r)), 0);
}

TEST_F(Probe, WidthsPackIntoTheFixedPartAndTheRestIsZero) {
  Event event;
  event.Scalar("a", 'u', 1).Scalar("b", 'u', 2).Scalar("c", 'u', 4).Scalar("d", 's', 8).Scalar("e", 'o', 1);
  RunPad(event, {{'u', 1, "a", "%bl"},
                 {'u', 2, "b", "%cx"},
                 {'u', 4, "c", "%esi"},
                 {'s', 4, "d", "%edi"},
                 {'u', 4, "e", "%r9d"}});
  const auto &r = detour_probe_in.r;
  EXPECT_EQ(frame[0], (r[3] & 0xff) | (r[1] & 0xffff) << 16 | (r[6] & 0xffffffff) << 32);
  EXPECT_EQ(frame[1], static_cast<uint64_t>(static_cast<int64_t>(static_cast<int32_t>(r[7]))));
  EXPECT_EQ(frame[2], 1u);
}

TEST_F(Probe, ImmediatesHighBytesAndBitFields) {
  Event event;
  event.Scalar("i", 's', 8).Scalar("h", 'u', 8).Scalar("bits", 's', 4).Scalar("n", 'u', 2);
  detour_probe_in.r[2] = 0x1c0;  // bits 6, 7 and 8 of dx are set
  RunPad(event,
         {{'s', 4, "i", "$-5"}, {'u', 1, "h", "%ah"}, {'s', 4, "bits", "%edx#6:3"}, {'u', 2, "n", "65535"}});
  EXPECT_EQ(frame[0], ~0ull - 4);
  EXPECT_EQ(frame[1], detour_probe_in.r[0] >> 8 & 0xff);
  EXPECT_EQ(frame[2], 0xffffffffu | 0xffffull << 32);
}

TEST_F(Probe, FloatsFromVectorAndGeneralRegisters) {
  Event event;
  event.Scalar("a", 'f', 8).Scalar("b", 'f', 4).Scalar("c", 'f', 8);
  const double pi = 3.14159, e = 2.71828;
  const float half = 0.5f;
  memcpy(detour_probe_in.xmm[0], &pi, 8);
  memcpy(detour_probe_in.xmm[15], &half, 4);
  memcpy(&detour_probe_in.r[13], &e, 8);
  RunPad(event, {{'f', 8, "a", "%xmm0"}, {'f', 4, "b", "%xmm15"}, {'f', 8, "c", "%r13"}});
  double a, c;
  float b;
  memcpy(&a, &frame[0], 8);
  memcpy(&b, &frame[1], 4);
  memcpy(&c, &frame[2], 8);
  EXPECT_EQ(a, pi);
  EXPECT_EQ(b, half);
  EXPECT_EQ(c, e);
}

TEST_F(Probe, MemoryOnTheStackInTheRedZoneAndBehindThePad) {
  Event event;
  event.Scalar("red", 'u', 8).Scalar("deep", 'u', 8).Scalar("code", 'u', 4).Scalar("rbx", 'u', 8);
  static uint64_t memory[4] = {1, 2, 3, 4};
  detour_probe_in.r[3] = reinterpret_cast<uint64_t>(memory);
  RunPad(event, {{'u', 8, "red", "-8(%rsp)"},
                 {'u', 8, "deep", "-128(%rsp)"},
                 {'u', 4, "code", "0(%rip)"},
                 {'u', 8, "rbx", "16(%rbx)"}});
  EXPECT_EQ(frame[0], detour_probe_in.red[0]);
  EXPECT_EQ(frame[1], detour_probe_in.red[15]);
  EXPECT_EQ(memcmp(&frame[2], detour_probe_pad + 5, 4), 0);
  EXPECT_EQ(frame[3], 3u);
}

struct Node {
  Node *next;
  uint32_t value;
  char name[12];
};

TEST_F(Probe, ChainsAndStrings) {
  static Node second = {nullptr, 77, "second"}, first = {&second, 1, "first"};
  Event event;
  event.Scalar("value", 'u', 4).String("name", 16).String("own", 16);
  detour_probe_in.r[11] = reinterpret_cast<uint64_t>(&first);
  RunPad(event, {{'u', 4, "value", "%r11>0>8"}, {'c', 1, "name", "%r11>0+12"}, {'c', 1, "own", "%r11+12"}});
  EXPECT_EQ(frame[0], 77u);
  EXPECT_STREQ(reinterpret_cast<char *>(frame[1]), "second");
  EXPECT_STREQ(reinterpret_cast<char *>(frame[2]), "first");
  EXPECT_EQ(faults, 0u);
}

// Two pages, the second without any permission.
struct Edge {
  Edge() {
    pages =
        static_cast<char *>(mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    mprotect(pages + 4096, 4096, PROT_NONE);
    memset(pages, 'x', 4096);
  }
  ~Edge() { munmap(pages, 8192); }
  char *end() { return pages + 4096; }
  char *pages;
};

TEST_F(Probe, UnreadableIsZeroOrFaultAndCounted) {
  Edge edge;
  const uint64_t bad[] = {0,
                          8,
                          4095,
                          reinterpret_cast<uint64_t>(edge.end()),
                          reinterpret_cast<uint64_t>(edge.end()) - 3,
                          0x7fffffffe000,
                          0x800000000000,
                          0xffff800000000000,
                          0xffffffffffffffff,
                          0xfffffffffffffff9};
  Event event;
  event.Scalar("value", 'u', 4).String("name", 16).Scalar("after", 'u', 4);
  for (const uint64_t address : bad) {
    const uint64_t before = faults;
    detour_probe_in.r[6] = address;
    detour_probe_in.r[7] = 0x1234;
    RunPad(event, {{'u', 4, "value", "%rsi>0"}, {'c', 1, "name", "%rsi>0"}, {'u', 4, "after", "%edi"}});
    EXPECT_EQ(frame[0], 0x1234ull << 32) << std::hex << address;
    EXPECT_STREQ(reinterpret_cast<char *>(frame[1]), "(fault)");
    EXPECT_EQ(faults, before + 2);
  }
}

TEST_F(Probe, StringsEndAtTheirMaximumOrAtTheFault) {
  Edge edge;
  Event event;
  event.String("name", 16);
  detour_probe_in.r[6] = reinterpret_cast<uint64_t>(edge.end() - 16);  // 16 bytes, no NUL: just the maximum
  RunPad(event, {{'c', 1, "name", "%rsi"}});
  EXPECT_EQ(frame[0], detour_probe_in.r[6]);
  detour_probe_in.r[6] = reinterpret_cast<uint64_t>(edge.end() - 15);
  RunPad(event, {{'c', 1, "name", "%rsi"}});
  EXPECT_STREQ(reinterpret_cast<char *>(frame[0]), "(fault)");
  edge.end()[-1] = 0;
  RunPad(event, {{'c', 1, "name", "%rsi"}});
  EXPECT_EQ(frame[0], detour_probe_in.r[6]);
  detour_probe_in.r[6] = 0;
  RunPad(event, {{'c', 1, "name", "%rsi"}});
  EXPECT_EQ(frame[0], 0u) << "NULL is handed on as a stub does";
}

TEST_F(Probe, CountedBytesAndArrays) {
  static const uint32_t numbers[] = {10, 20, 30, 40, 50, 60};
  static const uint8_t address[4] = {127, 0, 0, 1};
  Event event;
  event.Sequence("seq", 4, 5).Binary("blob", 100).Array("ip", 1, 4).Array("big", 4, 6);
  detour_probe_in.r[1] = reinterpret_cast<uint64_t>(numbers);
  detour_probe_in.r[2] = reinterpret_cast<uint64_t>(address);
  detour_probe_in.r[3] = 9;  // more than the 5 that fit
  RunPad(event, {{'b', 4, "seq", "%rcx"},
                 {'u', 8, "seq.len", "%rbx"},
                 {'b', 1, "blob", "%rdx"},
                 {'u', 4, "blob.len", "$3"},
                 {'b', 1, "ip", "%rdx"},
                 {'b', 4, "big", "%rcx"}});
  EXPECT_EQ(frame[0], 5u | 3ull << 32);
  EXPECT_EQ(frame[1], 0x0100007fu);
  EXPECT_EQ(frame[2], detour_probe_in.r[1]);
  EXPECT_EQ(frame[3], detour_probe_in.r[2]);
  EXPECT_EQ(frame[4], detour_probe_in.r[1]);
}

TEST_F(Probe, UnreadableBytesAreNone) {
  Edge edge;
  Event event;
  event.Sequence("seq", 8, 4).Array("ip", 1, 4);
  detour_probe_in.r[1] = reinterpret_cast<uint64_t>(edge.end() - 8);
  const uint64_t before = faults;
  RunPad(event, {{'b', 8, "seq", "%rcx"}, {'u', 4, "seq.len", "$2"}, {'b', 1, "ip", "%rcx+6"}});
  EXPECT_EQ(frame[0], 0u);
  EXPECT_EQ(frame[1], 0u);
  EXPECT_EQ(faults, before + 2);
}

TEST_F(Probe, WhatTheProgramPassesIsReadAsAStubReadsIt) {
  Event event;
  event.String("name", 16);
  detour_probe_in.r[1] = 64;  // a stub would hand it on just so
  RunPad(event, {{'c', 1, "name", "%rcx"}}, GKHI_ORIGIN_MACRO);
  EXPECT_EQ(frame[0], 64u);
}

TEST(DetourMatch, WhatDoesNotFitIsRefused) {
  const struct {
    const char *what;
    std::vector<Argument> arguments;
  } cases[] = {
      {"an argument is missing", {{'u', 4, "x", "%eax"}}},
      {"one is too many", {{'u', 4, "x", "%eax"}, {'c', 1, "s", "%rbx"}, {'u', 4, "y", "%eax"}}},
      {"no such field", {{'u', 4, "z", "%eax"}, {'c', 1, "s", "%rbx"}}},
      {"the same twice", {{'u', 4, "x", "%eax"}, {'u', 4, "x", "%ebx"}}},
      {"a number for a string", {{'u', 4, "x", "%eax"}, {'p', 8, "s", "%rbx"}}},
      {"a string for a number", {{'c', 1, "x", "%rax"}, {'c', 1, "s", "%rbx"}}},
      {"a float for an integer", {{'f', 4, "x", "%xmm0"}, {'c', 1, "s", "%rbx"}}},
      {"a count for no sequence", {{'u', 4, "x.len", "%eax"}, {'c', 1, "s", "%rbx"}}},
      {"no register", {{'u', 4, "x", "%eaz"}, {'c', 1, "s", "%rbx"}}},
      {"a symbol", {{'u', 4, "x", "counter(%rip)"}, {'c', 1, "s", "%rbx"}}},
      {"a register that is not saved", {{'u', 4, "x", "%xmm16"}, {'c', 1, "s", "%rbx"}}},
      {"an odd size", {{'u', 3, "x", "%eax"}, {'c', 1, "s", "%rbx"}}},
  };
  Event event;
  event.Scalar("x", 'u', 4).String("s", 8);
  for (const auto &c : cases) {
    Record record(detour_probe_pad, c.arguments);
    const Detour d = Make(record, event);
    EXPECT_EQ(d.rc, -EINVAL) << c.what;
    EXPECT_EQ(d.why, GKHI_WHY_NO_DETOUR) << c.what;
  }
}

TEST(DetourMatch, DamagedRecordsAreRefused) {
  Event event;
  event.Scalar("x", 'u', 4).String("s", 8);
  const std::vector<Argument> good = {{'u', 4, "x", "%eax"}, {'c', 1, "s", "%rbx"}};
  Record whole(detour_probe_pad, good);
  EXPECT_EQ(Make(whole, event).rc, 0);
  for (uint32_t size = 0; size + 4 < whole.get()->size; size++) {
    Record record(detour_probe_pad, good);
    record.get()->size = size;
    EXPECT_EQ(Make(record, event).rc, -EINVAL) << size;
  }
  Record longer(detour_probe_pad, good);
  longer.get()->padlen = 4;
  EXPECT_EQ(Make(longer, event).rc, -EINVAL);
}

TEST(DetourMake, OncePerPadAndRecord) {
  Event event;
  event.Scalar("x", 'u', 4);
  Record record(detour_probe_pad, {{'u', 4, "x", "%eax"}}), other(detour_probe_pad, {{'u', 4, "x", "%ebx"}});
  const Detour first = Make(record, event), again = Make(record, event), third = Make(other, event);
  EXPECT_EQ(first.entry, again.entry);
  EXPECT_NE(first.entry, third.entry);
}

std::vector<std::string> DetourMaps() {
  std::ifstream maps("/proc/self/maps");
  std::vector<std::string> found;
  for (std::string line; std::getline(maps, line);)
    if (line.find("gkhi-detours") != std::string::npos) found.push_back(line);
  return found;
}

TEST(DetourMake, NoPageIsWritableAndExecutable) {
  Event event;
  event.Scalar("x", 'u', 4);
  Record record(detour_probe_pad, {{'u', 4, "x", "%eax"}});
  ASSERT_EQ(Make(record, event).rc, 0);
  const std::vector<std::string> maps = DetourMaps();
  EXPECT_EQ(maps.size(), 2u);
  for (const std::string &line : maps) EXPECT_EQ(line.find(" rwx"), std::string::npos) << line;
}

int InChild(const std::function<int()> &body) {
  const pid_t pid = fork();
  if (pid == 0) {
    alarm(60);
    _exit(body());
  }
  int status = 0;
  waitpid(pid, &status, 0);
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

// A new detour that works; 0, or where it failed.
int MakeAndRun(const char *location) {
  Event event;
  event.Scalar("x", 'u', 8);
  Record record(detour_probe_pad, {{'u', 8, "x", location}});
  const Detour d = Make(record, event);
  if (d.rc) return d.why == GKHI_WHY_NO_DETOUR ? 2 : 3;
  SitePatch p = {detour_probe_pad, d.entry, installed, 0};
  if (port_patch(&p, 1)) return 4;
  frame_words = 1;
  detour_probe();
  return frame[0] == 4711 ? 0 : 5;
}

TEST(DetourMake, MemoryDenyWriteExecute) {
  const int rc = InChild([] {
    if (prctl(PR_SET_MDWE, PR_MDWE_REFUSE_EXEC_GAIN, 0, 0, 0)) return 77;
    return MakeAndRun("$4711");
  });
  if (rc == 77) GTEST_SKIP() << "this kernel has no PR_SET_MDWE";
  EXPECT_EQ(rc, 0);
}

TEST(DetourMake, AFileSizeLimitKillsNobody) {
  EXPECT_EQ(InChild([] {
              const rlimit none = {0, 0};
              setrlimit(RLIMIT_FSIZE, &none);
              return MakeAndRun("$4711");
            }),
            0);
  const int rc = InChild([] {
    const rlimit none = {0, 0};
    setrlimit(RLIMIT_FSIZE, &none);
    if (prctl(PR_SET_MDWE, PR_MDWE_REFUSE_EXEC_GAIN, 0, 0, 0)) return 77;
    return MakeAndRun("$4711");
  });
  if (rc == 77) GTEST_SKIP() << "this kernel has no PR_SET_MDWE";
  EXPECT_EQ(rc, 2) << "neither way is open: a reason, not a crash";
}

TEST(DetourMake, ParentAndChildDoNotOverwriteEachOther) {
  Event event;
  event.Scalar("x", 'u', 8);
  Record before(detour_probe_pad, {{'u', 8, "x", "$1"}});
  ASSERT_EQ(Make(before, event).rc, 0);
  int ready[2], done[2];
  ASSERT_EQ(pipe(ready) | pipe(done), 0);
  char byte = 0;
  const pid_t pid = fork();
  if (pid == 0) {
    int rc = MakeAndRun("$4711");
    if (write(ready[1], &byte, 1) != 1 || read(done[0], &byte, 1) != 1) rc = 9;
    detour_probe();  // the parent has made one in between
    _exit(rc ? rc : frame[0] == 4711 ? 0 : 6);
  }
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  Record after(detour_probe_pad, {{'u', 8, "x", "$2"}});
  EXPECT_EQ(Make(after, event).rc, 0);
  ASSERT_EQ(write(done[1], &byte, 1), 1);
  int status = 0;
  waitpid(pid, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST(DetourMake, ThousandsOfThemEachDoItsOwn) {
  Event event;
  event.Scalar("x", 'u', 8);
  for (int i = 0; i < 3000; i++) {
    Record record(detour_probe_pad, {{'u', 8, "x", "$" + std::to_string(i)}});
    const Detour d = Make(record, event);
    ASSERT_EQ(d.rc, 0) << i;
    if (i % 100) continue;
    Install(detour_probe_pad, d.entry);
    frame_words = 1;
    detour_probe();
    ASSERT_EQ(frame[0], static_cast<uint64_t>(i));
  }
  Install(detour_probe_pad, nullptr);
}

}  // namespace
