// SPDX-License-Identifier: MIT
// Patching: threads run through 64 sites while they are switched a million times; the same
// harness catches byte-wise stores. And everything that must be refused.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <fstream>
#include <functional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <gkhi/hook.h>

extern "C" {
#include "port_posix.h"
}

#ifndef PR_SET_MDWE
#define PR_SET_MDWE 65
#define PR_MDWE_REFUSE_EXEC_GAIN 1
#endif

GKHI_DEFINE_HOOK(text_site, "text:site", 1, 2, 0)

extern "C" {
extern const gkhi_key __start_gkhi_keys[], __stop_gkhi_keys[];
extern char text_ten_thousand[];
}

namespace {

using SitePatch = struct port_patch;  // the function has the same name

constexpr int kSites = 64;
#ifdef __SANITIZE_THREAD__
constexpr uint64_t kSwitchesByFile = 10000;  // each is a system call, and the threads are slow
#else
constexpr uint64_t kSwitchesByFile = 100000;
#endif
constexpr int kMany = 10000;
constexpr int kManyStride = 80;

// 10 000 sites, 780 KiB of text.
__asm__(
    ".pushsection .text\n.balign 4096\ntext_ten_thousand:\n"
    ".rept 10000\n.byte 0x0f,0x1f,0x44,0,0\n.skip 75,0x90\n.endr\n.popsection\n");

#define SITE                             \
  if (gkhi_armed_text_site()) (*hits)++; \
  x = x * 3 + 1;
#define SITES4 SITE SITE SITE SITE
#define SITES16 SITES4 SITES4 SITES4 SITES4

__attribute__((noinline)) uint64_t RunSites(uint64_t x, uint64_t *hits) {
  SITES16 SITES16 SITES16 SITES16 return x;
}

uint64_t Expected(uint64_t x) {
  for (int i = 0; i < kSites; i++) x = x * 3 + 1;
  return x;
}

const char *Follow(const int32_t *field) {
  const char *base = reinterpret_cast<const char *>(field);
  __asm__("" : "+r"(base));
  return base + *field;
}

struct Site {
  char *code;
  const char *cold;
};

std::vector<Site> Sites() {
  std::vector<Site> sites;
  for (const gkhi_key *key = __start_gkhi_keys; key < __stop_gkhi_keys; key++)
    sites.push_back({const_cast<char *>(Follow(&key->code)), Follow(&key->target)});
  return sites;
}

std::vector<SitePatch> Patches(const std::vector<Site> &sites, bool on) {
  std::vector<SitePatch> patches;
  for (const Site &s : sites) patches.push_back({s.code, on ? s.cold : nullptr, s.cold, 0});
  return patches;
}

// Runs @body in a child, so that a crash there is a result. 0 fine, signal number, or exit code + 1000.
int InChild(const std::function<int()> &body) {
  const pid_t pid = fork();
  if (pid == 0) {
    signal(SIGSEGV, SIG_DFL);
    signal(SIGILL, SIG_DFL);
    signal(SIGBUS, SIG_DFL);
    signal(SIGTRAP, SIG_DFL);
    alarm(120);
    _exit(body());
  }
  int status = 0;
  waitpid(pid, &status, 0);
  if (WIFSIGNALED(status)) return WTERMSIG(status);
  return WEXITSTATUS(status) == 0 ? 0 : 1000 + WEXITSTATUS(status);
}

using Toggle = std::function<uint64_t(const std::vector<Site> &, uint64_t round)>;

// Two threads run the sites until @toggles switches are done; 0, or 7 when a result was wrong.
int Stress(uint64_t toggles, const Toggle &toggle) {
  const std::vector<Site> sites = Sites();
  std::atomic<bool> stop{false};
  std::atomic<int> bad{0};
  std::vector<std::thread> threads;
  for (uint64_t t = 0; t < 2; t++)
    threads.emplace_back([&, t] {
      uint64_t hits = 0;
      for (uint64_t x = t; !stop.load(std::memory_order_relaxed); x++)
        if (RunSites(x, &hits) != Expected(x)) bad.store(1);
    });
  uint64_t done = 0;
  for (uint64_t round = 0; done < toggles; round++) done += toggle(sites, round);
  stop.store(true);
  for (std::thread &t : threads) t.join();
  return bad.load() ? 7 : 0;
}

uint64_t ToggleByPatch(const std::vector<Site> &sites, uint64_t round) {
  std::vector<SitePatch> patches = Patches(sites, round % 2 == 0);
  if (round % 8 == 7) patches.resize(1 + round % sites.size());
  if (port_patch(patches.data(), patches.size()) != 0) _exit(8);
  return patches.size();
}

// What T1 forbids: the same bytes, one at a time.
uint64_t ToggleByBytes(const std::vector<Site> &sites, uint64_t round) {
  static bool writable = false;
  if (!writable) {
    for (const Site &s : sites)
      mprotect(reinterpret_cast<void *>(reinterpret_cast<uintptr_t>(s.code) & ~4095ul), 4096,
               PROT_READ | PROT_WRITE | PROT_EXEC);
    writable = true;
  }
  for (const Site &s : sites) {
    unsigned char bytes[5] = {0x0f, 0x1f, 0x44, 0, 0};
    if (round % 2 == 0) {
      const int32_t distance = static_cast<int32_t>(s.cold - (s.code + 5));
      bytes[0] = 0xe9;
      memcpy(bytes + 1, &distance, 4);
    }
    volatile unsigned char *code = reinterpret_cast<unsigned char *>(s.code);
    __asm__ volatile("" : "+r"(code));
    for (int i = 0; i < 5; i++) code[i] = bytes[i];
  }
  return sites.size();
}

TEST(Text, SixtyFourSitesAMillionSwitches) {
  EXPECT_EQ(InChild([] { return Stress(1000000, ToggleByPatch); }), 0);
}

TEST(Text, NegativeControlByteWiseStoresAreCaught) {
  // An attempt takes a hundredth of a second: on a busy machine many pass before a thread is at a site in
  // that time.
  using Clock = std::chrono::steady_clock;
  const Clock::time_point end = Clock::now() + std::chrono::seconds(60);
  int caught = 0;
  while (!caught && Clock::now() < end) caught = InChild([] { return Stress(2000000, ToggleByBytes); });
  EXPECT_NE(caught, 0) << "byte-wise patching went unnoticed: the stress above proves nothing";
}

TEST(Text, EverySiteJumpsWhenOnAndNotWhenOff) {
  const std::vector<Site> sites = Sites();
  ASSERT_EQ(sites.size(), size_t{kSites});
  uint64_t hits = 0;
  EXPECT_EQ(RunSites(3, &hits), Expected(3));
  EXPECT_EQ(hits, 0u);
  std::vector<SitePatch> on = Patches(sites, true), off = Patches(sites, false);
  for (int round = 0; round < 3; round++) {
    EXPECT_EQ(port_patch(on.data(), on.size()), 0);
    EXPECT_EQ(port_patch(on.data(), on.size()), 0) << "again is no change";
    EXPECT_EQ(RunSites(3, &hits), Expected(3));
    EXPECT_EQ(hits, uint64_t{kSites} * (round + 1));
    EXPECT_EQ(port_patch(off.data(), off.size()), 0);
    RunSites(3, &hits);
    EXPECT_EQ(hits, uint64_t{kSites} * (round + 1));
  }
}

std::string ExecutableMaps() {
  std::ifstream maps("/proc/self/maps");
  std::string all, line;
  while (std::getline(maps, line))
    if (line.find(" r-xp ") != std::string::npos || line.find(" rwxp ") != std::string::npos)
      all += line.substr(0, line.find(' ', line.find(' ') + 1)) + "\n";
  return all;
}

TEST(Text, ProtectionsAreAsBefore) {
  std::vector<SitePatch> on = Patches(Sites(), true), off = Patches(Sites(), false);
  port_patch(on.data(), on.size());
  port_patch(off.data(), off.size());
  const std::string before = ExecutableMaps();
  EXPECT_EQ(before.find("rwx"), std::string::npos);
  port_patch(on.data(), on.size());
  port_patch(off.data(), off.size());
  EXPECT_EQ(ExecutableMaps(), before);
}

// A page of code of our own: nop5 at 0, then ret.
struct CodePage {
  explicit CodePage(int prot = PROT_READ | PROT_WRITE | PROT_EXEC, int flags = MAP_PRIVATE | MAP_ANONYMOUS,
                    int fd = -1) {
    page = static_cast<unsigned char *>(mmap(nullptr, 4096, prot, flags, fd, 0));
  }
  ~CodePage() { munmap(page, 4096); }
  int Patch(size_t offset, const void *target, const void *ours = nullptr) {
    SitePatch p = {page + offset, target, ours, 0};
    const int failed = port_patch(&p, 1);
    EXPECT_EQ(failed, p.status != 0);
    return p.status;
  }
  unsigned char *page;
};

const unsigned char kNop5[] = {0x0f, 0x1f, 0x44, 0, 0};

TEST(Text, ForeignBytesAreLeftAlone) {
  const unsigned char foreign[][5] = {{0xcc, 0x1f, 0x44, 0, 0},  // a trap probe
                                      {0xe8, 1, 2, 3, 4},        // an optimised uprobe: a call
                                      {0xe9, 1, 2, 3, 4},        // a jump, not ours
                                      {0x0f, 0x7a, 0, 0, 0},     // what a detached uprobe leaves of our jump
                                      {0x90, 0x90, 0x90, 0x90, 0x90}};
  for (const auto &bytes : foreign) {
    for (const bool on : {true, false}) {
      CodePage code;
      memcpy(code.page, bytes, 5);
      EXPECT_EQ(code.Patch(0, on ? code.page + 64 : nullptr, code.page + 64), -EBUSY);
      EXPECT_EQ(memcmp(code.page, bytes, 5), 0);
    }
  }
}

TEST(Text, OurJumpThatSomebodyChangedIsNotOursAnyMore) {
  CodePage code;
  memcpy(code.page, kNop5, 5);
  ASSERT_EQ(code.Patch(0, code.page + 64), 0);
  EXPECT_EQ(code.page[0], 0xe9);
  EXPECT_EQ(code.Patch(0, code.page + 128), -EBUSY) << "not named as ours";
  EXPECT_EQ(code.Patch(0, code.page + 128, code.page + 64), 0) << "one of ours may be replaced by another";
  code.page[1] ^= 1;
  EXPECT_EQ(code.Patch(0, nullptr, code.page + 128), -EBUSY);
  code.page[1] ^= 1;
  EXPECT_EQ(code.Patch(0, nullptr, code.page + 128), 0);
  EXPECT_EQ(memcmp(code.page, kNop5, 5), 0);
}

TEST(Text, OneBadSiteDoesNotStopTheOthers) {
  CodePage code;
  for (size_t at : {0, 16, 32}) memcpy(code.page + at, kNop5, 5);
  code.page[16] = 0xcc;
  SitePatch patches[] = {{code.page, code.page + 64, nullptr, 0},
                         {code.page + 16, code.page + 64, nullptr, 0},
                         {code.page + 32, code.page + 64, nullptr, 0}};
  EXPECT_EQ(port_patch(patches, 3), 1);
  EXPECT_EQ(patches[0].status, 0);
  EXPECT_EQ(patches[1].status, -EBUSY);
  EXPECT_EQ(patches[2].status, 0);
  EXPECT_EQ(code.page[0], 0xe9);
  EXPECT_EQ(code.page[32], 0xe9);
}

TEST(Text, CrossingAndFarSitesAreRefused) {
  CodePage code;
  memcpy(code.page + 4, kNop5, 5);
  EXPECT_EQ(code.Patch(4, code.page), -EINVAL);
  memcpy(code.page + 16, kNop5, 5);
  EXPECT_EQ(code.Patch(16, code.page + (1ll << 32)), -ERANGE);
  EXPECT_EQ(code.Patch(16, code.page + 16 + 5 + INT32_MAX), 0);
  EXPECT_EQ(code.Patch(16, code.page + 16 + 5 + INT32_MAX + 1ll, code.page + 16 + 5 + INT32_MAX), -ERANGE);
  EXPECT_EQ(code.Patch(16, code.page + 16 + 5 + INT32_MIN, code.page + 16 + 5 + INT32_MAX), 0);
}

TEST(Text, NeighbouringBytesSurvive) {
  CodePage code;
  for (size_t offset = 0; offset < 4; offset++) {
    memset(code.page, 0xab, 16);
    memcpy(code.page + offset, kNop5, 5);
    ASSERT_EQ(code.Patch(offset, code.page + 64), 0);
    for (size_t i = 0; i < 16; i++)
      if (i < offset || i >= offset + 5) {
        EXPECT_EQ(code.page[i], 0xab) << offset << ' ' << i;
      }
    ASSERT_EQ(code.Patch(offset, nullptr, code.page + 64), 0);
    EXPECT_EQ(memcmp(code.page + offset, kNop5, 5), 0);
  }
}

TEST(Text, DataIsNotText) {
  CodePage code(PROT_READ | PROT_WRITE);
  memcpy(code.page, kNop5, 5);
  EXPECT_EQ(code.Patch(0, code.page + 64), -EACCES);
  EXPECT_EQ(memcmp(code.page, kNop5, 5), 0);
}

TEST(Text, TheFileBehindASharedMappingIsNeverWritten) {
  const int fd = memfd_create("text_test", 0);
  ASSERT_EQ(write(fd, kNop5, 5), 5);
  ASSERT_EQ(ftruncate(fd, 4096), 0);
  {
    CodePage code(PROT_READ | PROT_WRITE | PROT_EXEC, MAP_SHARED, fd);
    EXPECT_EQ(code.Patch(0, code.page + 64), -EACCES);
  }
  CodePage code(PROT_READ | PROT_EXEC, MAP_PRIVATE, fd);
  EXPECT_EQ(code.Patch(0, code.page + 64), 0);
  unsigned char bytes[5];
  ASSERT_EQ(pread(fd, bytes, 5, 0), 5);
  EXPECT_EQ(memcmp(bytes, kNop5, 5), 0);
  close(fd);
}

int ToggleTwice() {
  std::vector<SitePatch> on = Patches(Sites(), true), off = Patches(Sites(), false);
  uint64_t hits = 0;
  if (port_patch(on.data(), on.size())) return 2;
  if (RunSites(5, &hits) != Expected(5) || hits != kSites) return 3;
  if (port_patch(off.data(), off.size())) return 4;
  if (RunSites(5, &hits) != Expected(5) || hits != kSites) return 5;
  return 0;
}

TEST(Text, MemoryDenyWriteExecuteGoesThroughProcSelfMem) {
  const int rc = InChild([] {
    if (prctl(PR_SET_MDWE, PR_MDWE_REFUSE_EXEC_GAIN, 0, 0, 0) != 0) return 77;
    void *page = reinterpret_cast<void *>(reinterpret_cast<uintptr_t>(Sites()[0].code) & ~4095ul);
    if (mprotect(page, 4096, PROT_READ | PROT_WRITE | PROT_EXEC) == 0) return 78;
    return ToggleTwice();
  });
  if (rc == 1077) GTEST_SKIP() << "this kernel has no PR_SET_MDWE";
  EXPECT_EQ(rc, 0);
}

TEST(Text, MemoryDenyWriteExecuteUnderLoad) {
  const int rc = InChild([] {
    if (prctl(PR_SET_MDWE, PR_MDWE_REFUSE_EXEC_GAIN, 0, 0, 0) != 0) return 77;
    return Stress(kSwitchesByFile, ToggleByPatch);
  });
  if (rc == 1077) GTEST_SKIP() << "this kernel has no PR_SET_MDWE";
  EXPECT_EQ(rc, 0);
}

TEST(Text, RefusedWhereNothingCanWrite) {
  EXPECT_EQ(InChild([] {
              std::vector<SitePatch> on = Patches(Sites(), true);
              const rlimit none = {0, 0};
              setrlimit(RLIMIT_NOFILE, &none);  // neither maps nor mem can be opened
              if (port_patch(on.data(), on.size()) != kSites) return 2;
              for (const SitePatch &p : on)
                if (p.status != -EACCES) return 3;
              uint64_t hits = 0;
              return RunSites(5, &hits) == Expected(5) && hits == 0 ? 0 : 4;
            }),
            0);
}

TEST(Text, MoreMappingsThanOneRoundHolds) {
  // Alternating protections keep the kernel from merging them: 200 executable mappings, a site in each.
  constexpr size_t kMaps = 200;
  auto *area = static_cast<unsigned char *>(
      mmap(nullptr, kMaps * 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  std::vector<SitePatch> patches;
  for (size_t i = 0; i < kMaps; i++) {
    memcpy(area + i * 8192 + 8, kNop5, 5);
    ASSERT_EQ(mprotect(area + i * 8192, 4096, PROT_READ | PROT_EXEC), 0);
    patches.push_back({area + i * 8192 + 8, area + i * 8192 + 64, nullptr, 0});
  }
  std::shuffle(patches.begin(), patches.end(), std::mt19937(1));
  EXPECT_EQ(port_patch(patches.data(), patches.size()), 0);
  for (size_t i = 0; i < kMaps; i++) EXPECT_EQ(area[i * 8192 + 8], 0xe9) << i;
  munmap(area, kMaps * 8192);
}

// A batch as large as the one that `make bench` times: all of it is written, both ways.
TEST(Text, TenThousandSitesAtOnce) {
  std::vector<SitePatch> patches;
  for (bool on : {true, false, true, false}) {
    patches.clear();
    for (int i = 0; i < kMany; i++) {
      char *site = text_ten_thousand + i * kManyStride;
      patches.push_back({site, on ? site + 8 : nullptr, site + 8, 0});
    }
    ASSERT_EQ(port_patch(patches.data(), patches.size()), 0);
    const unsigned char jump[] = {0xe9, 3, 0, 0, 0};
    for (int i = 0; i < kMany; i++) {
      ASSERT_EQ(memcmp(text_ten_thousand + i * kManyStride, on ? jump : kNop5, 5), 0) << i;
      ASSERT_EQ(patches[i].status, 0) << i;
    }
  }
}

}  // namespace
