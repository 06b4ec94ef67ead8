// SPDX-License-Identifier: MIT
// The specialised detour: one restartable sequence into a stream made by hand, compared with
// what the generic detour does with the same record; and what sends it the slow way.
#include <atomic>
#include <thread>

#include "detour_fast_util.hpp"

extern "C" {
extern char detour_loop_pad[];
void detour_loop(uint64_t a, uint64_t n);
}

// A loop round a pad with a in rbx and b = ~a in r12.
__asm__(
    ".text\n.globl detour_loop\ndetour_loop:\npush %rbx\npush %r12\nmov %rdi,%rbx\n1: mov %rbx,%r12\nnot "
    "%r12\n"
    ".p2align 3,,4\ndetour_loop_pad: .byte 0x0f,0x1f,0x44,0,0\n"
    "inc %rbx\ndec %rsi\njnz 1b\npop %r12\npop %rbx\nret\n");

namespace {

class Equal : public Fast {
 protected:
  // Through the fast sequence and, with a route without cpus, through the generic detour: the same words.
  void Both(Event &event, const std::vector<Argument> &arguments, gkhi_site_origin origin) {
    Ring ring;
    const unsigned words = event.words();
    SetHook(&ring, words);
    frame_words = words;
    Install(detour_probe_pad, Make(detour_probe_pad, event, arguments, origin));
    // A dirty buffer shows words that nobody wrote.
    memset(const_cast<char *>(ring.Data(cpu_)), 0xee, 4096);
    uint64_t before = dispatched;
    detour_probe();
    ExpectUndisturbed(origin == GKHI_ORIGIN_PASS);
    for (int again = 0; dispatched != before && again < 20; again++) {  // preempted just there: aborted
      before = dispatched;
      detour_probe();
    }
    ASSERT_EQ(dispatched, before) << "the slow way was taken";
    ASSERT_EQ(gkhi_commit_count(ring.cpu(cpu_)->commit), 1u);
    EXPECT_EQ(ring.Hits(), 1u);
    const uint64_t *fast = ring.Last(cpu_, 1 + words);
    EXPECT_EQ(fast[0] & 0xffff, 5u);
    ring.route()->n_cpus[GKHI_STREAM_COMPACT] = 0;
    detour_probe();
    ExpectUndisturbed(origin == GKHI_ORIGIN_PASS);
    ASSERT_EQ(dispatched, before + 1);
    for (unsigned i = 0; i < words; i++) EXPECT_EQ(fast[1 + i], frame[i]) << "word " << i;
  }
};

const char *kNames[4][16] = {{"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi", "r8", "r9", "r10",
                              "r11", "r12", "r13", "r14", "r15"},
                             {"eax", "ecx", "edx", "ebx", "esp", "ebp", "esi", "edi", "r8d", "r9d", "r10d",
                              "r11d", "r12d", "r13d", "r14d", "r15d"},
                             {"ax", "cx", "dx", "bx", "sp", "bp", "si", "di", "r8w", "r9w", "r10w", "r11w",
                              "r12w", "r13w", "r14w", "r15w"},
                             {"al", "cl", "dl", "bl", "spl", "bpl", "sil", "dil", "r8b", "r9b", "r10b",
                              "r11b", "r12b", "r13b", "r14b", "r15b"}};

TEST_F(Equal, RandomOperandsEqualTheGenericDetour) {
  static uint64_t memory[8];
  for (int round = 0; round < 1500; round++) {
    RandomState();
    for (uint64_t &m : memory) m = rng_();
    Event event;
    std::vector<Argument> arguments;
    std::vector<std::string> names;
    names.reserve(16);
    const int n = 1 + static_cast<int>(rng_() % 10);
    const int base = static_cast<int>(rng_() % 16);
    if (base != 4) detour_probe_in.r[base] = reinterpret_cast<uint64_t>(memory);
    for (int i = 0; i < n; i++) {
      const int log_load = static_cast<int>(rng_() % 4), log_size = static_cast<int>(rng_() % 4);
      const char type = rng_() % 2 ? 's' : 'u';
      names.push_back("f" + std::to_string(i));
      std::string location;
      switch (rng_() % 4) {
        case 0:
          location = std::string("%") + kNames[3 - log_load][rng_() % 16];
          if (location.find("sp") != std::string::npos) location = "$7";  // has a test of its own
          break;
        case 1:
          location = "$" + std::to_string(static_cast<int64_t>(rng_() >> rng_() % 60));
          break;
        case 2:
          location = base == 4 ? "-" + std::to_string(8 * (1 + rng_() % 16)) + "(%rsp)"
                               : std::to_string(8 * (rng_() % 8)) + "(%" + kNames[0][base] + ")";
          break;
        default:
          location = std::to_string(rng_() % 16) + "(%rip)";
      }
      const bool is_bool = rng_() % 8 == 0;
      event.Scalar(names.back().c_str(), is_bool ? 'o' : type, is_bool ? 1 : 1 << log_size);
      arguments.push_back({type, 1 << log_load, names.back(), location});
    }
    Both(event, arguments, rng_() % 2 ? GKHI_ORIGIN_PASS : GKHI_ORIGIN_MACRO);
    if (HasFailure()) {
      for (const Argument &a : arguments)
        printf("  %c%d %s %s\n", a.type, a.size, a.name.c_str(), a.location.c_str());
      break;
    }
  }
}

TEST_F(Equal, FloatsFromVectorRegisters) {
  for (int i = 0; i < 16; i++) {
    RandomState();
    Event event;
    event.Scalar("d", 'f', 8).Scalar("f", 'f', 4).Scalar("u", 'u', 4);
    Both(event,
         {{'f', 8, "d", "%xmm" + std::to_string(i)},
          {'f', 4, "f", "%xmm" + std::to_string(15 - i)},
          {'u', 4, "u", "%r8d"}},
         GKHI_ORIGIN_PASS);
  }
}

TEST_F(Equal, TheStackPointerItself) {
  RandomState();
  Event event;
  event.Scalar("sp", 'u', 8).Scalar("low", 'u', 4).Scalar("r", 'u', 4);
  Both(event, {{'u', 8, "sp", "%rsp"}, {'u', 4, "low", "%esp"}, {'u', 8, "r", "%rdi"}}, GKHI_ORIGIN_PASS);
  Both(event, {{'u', 8, "sp", "%rsp"}, {'u', 4, "low", "%esp"}, {'u', 8, "r", "%rdi"}}, GKHI_ORIGIN_MACRO);
}

TEST_F(Equal, NoFieldsAtAll) {
  RandomState();
  Event event;
  Both(event, {}, GKHI_ORIGIN_PASS);
}

// What the sequence cannot do goes through gkhi_dispatch(), with nothing committed.
TEST_F(Fast, TheSlowWaysOut) {
  Event event;
  event.Scalar("x", 'u', 8);
  Ring ring;
  SetHook(&ring, 1);
  frame_words = 1;
  RandomState();
  Install(detour_probe_pad, Make(detour_probe_pad, event, {{'u', 8, "x", "%rdi"}}, GKHI_ORIGIN_PASS));
  gkhi_ring_cpu *rc = ring.cpu(cpu_);
  const auto slow = [&] {
    const uint64_t before = dispatched, commit = rc->commit;
    frame[0] = 0;
    detour_probe();
    ExpectUndisturbed(true);
    EXPECT_EQ(rc->commit, commit);
    EXPECT_EQ(frame[0], detour_probe_in.r[7]);
    return dispatched - before;
  };
  rc->deadline = 0;
  EXPECT_EQ(slow(), 1u) << "packet too old";
  rc->deadline = ~0u;
  ring.route()->n_cpus[GKHI_STREAM_COMPACT] = static_cast<uint32_t>(cpu_);
  EXPECT_EQ(slow(), 1u) << "no stream for this cpu";
  ring.route()->n_cpus[GKHI_STREAM_COMPACT] = static_cast<uint32_t>(kCpus);
  rc->commit = kSubbuf - 16;  // the last word taken: 8 bytes are left, 16 wanted
  EXPECT_EQ(slow(), 1u) << "packet full";
  rc->commit = kSubbuf - 24;
  const uint64_t before = dispatched;
  detour_probe();
  EXPECT_EQ(dispatched, before) << "fits to the last byte";
  EXPECT_EQ(static_cast<uint32_t>(rc->commit), kSubbuf - 8);
}

// Four threads through one pad while they are moved from cpu to cpu; how many things were wrong.
uint64_t FaultsUnderMigration(Ring *ring) {
  const uint64_t slow_before = dispatched;
  constexpr int kThreads = 4;
  constexpr uint64_t kEach = 300000;
  std::atomic<bool> stop{false};
  std::atomic<int> finished{0};
  std::vector<std::thread> threads;
  for (uint64_t t = 0; t < kThreads; t++)
    threads.emplace_back([t, &stop, &finished] {
      for (uint64_t i = 0; i < kEach; i += 1000) {
        detour_loop(t << 32 | i, 1000);
        if (i % 7000 == 0) sched_yield();
      }
      finished++;
      while (!stop.load()) usleep(1000);  // the flipper still knows this thread
    });
  std::thread flipper([&] {  // threads are moved from outside, so also inside the sequence
    while (finished.load() < kThreads)
      for (auto &t : threads) {
        cpu_set_t set;
        CPU_ZERO(&set);
        CPU_SET(static_cast<unsigned>(rand()) % static_cast<unsigned>(sysconf(_SC_NPROCESSORS_ONLN)), &set);
        pthread_setaffinity_np(t.native_handle(), sizeof(set), &set);
      }
  });
  flipper.join();
  stop.store(true);
  for (auto &t : threads) t.join();
  const uint64_t slow = dispatched - slow_before;
  uint64_t faults = ring->Committed() + slow != kThreads * kEach;  // fast + slow = fired
  for (int cpu = 0; cpu < kCpus; cpu++) {
    uint64_t last = 0, n = gkhi_commit_count(ring->cpu(cpu)->commit);
    const uint64_t *record = reinterpret_cast<const uint64_t *>(ring->Data(cpu) + GKHI_PACKET_HEADER);
    for (uint64_t i = 0; i < n; i++, record += 3) {
      faults += (record[0] & 0xffff) != 5;
      faults += record[0] >> 16 < last;   // time went back
      faults += record[1] != ~record[2];  // torn
      last = record[0] >> 16;
    }
  }
  return faults;
}

TEST_F(Fast, StreamsAreCompleteUnderMigration) {
  sched_setaffinity(0, sizeof(all_), &all_);
  Ring ring(1u << 26);
  Event event;
  event.Scalar("a", 'u', 8).Scalar("b", 'u', 8);
  SetHook(&ring, 2);
  frame_words = 0;
  Install(detour_loop_pad,
          Make(detour_loop_pad, event, {{'u', 8, "a", "%rbx"}, {'u', 8, "b", "%r12"}}, GKHI_ORIGIN_PASS));
  EXPECT_EQ(FaultsUnderMigration(&ring), 0u);
}

TEST_F(Fast, NegativeControlASequenceThatIsNotArmedIsCaught) {
  sched_setaffinity(0, sizeof(all_), &all_);
  Event event;
  event.Scalar("a", 'u', 8).Scalar("b", 'u', 8);
  Ring first(1u << 26);
  SetHook(&first, 2);
  frame_words = 0;
  const void *entry =
      Make(detour_loop_pad, event, {{'u', 8, "b", "%r12"}, {'u', 8, "a", "%rbx"}}, GKHI_ORIGIN_PASS);
  // mov %rax,%fs:rseq_cs becomes nops
  const unsigned char store[] = {0x64, 0x48, 0x89, 0x04, 0x25};
  auto *code = static_cast<unsigned char *>(memmem(entry, 64, store, sizeof(store)));
  ASSERT_NE(code, nullptr);
  auto *page = reinterpret_cast<void *>(reinterpret_cast<uintptr_t>(code) & ~4095ul);
  ASSERT_EQ(mprotect(page, 8192, PROT_READ | PROT_WRITE | PROT_EXEC), 0);
  memset(code, 0x90, 9);
  mprotect(page, 8192, PROT_READ | PROT_EXEC);
  Install(detour_loop_pad, entry);
  uint64_t faults = 0;
  for (int attempt = 0; attempt < 20 && !faults; attempt++) {
    Ring ring(1u << 26);
    SetHook(&ring, 2);
    faults = FaultsUnderMigration(&ring);
  }
  EXPECT_NE(faults, 0u) << "an unprotected sequence went unnoticed: the test above proves nothing";
}

}  // namespace
