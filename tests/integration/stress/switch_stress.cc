// SPDX-License-Identifier: MIT
// switch_stress.cc - the whole library under fire: processes of many threads that fire from code and from
// signal handlers and hop between processors, while hooks are switched between all three states and channels
// are swapped, made and removed. switch_ledger.hpp has the argument by which every event is checked.
//
//   switch_stress            four processes, all at once
//   switch_stress_unarmed    the same with sequences that are not armed: it must be seen
//
// GKHI_STRESS_SWITCHES: switches of all processes together (100000).
#include <fmt/format.h>
#include <gkhi/gkhi.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <barrier>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "gkhi_switch.h"
#include "switch_ledger.hpp"

extern "C" {
#include "internal.h"
#include "process.h"
}

namespace gkhi_stress {
namespace {

constexpr int kProcesses = 4;
constexpr size_t kThreads = 64;
constexpr size_t kCapacity = 600;  // events of a lane in a round
constexpr int kSwitchesOfRound = 100;
#ifdef GKHI_TEST_UNARMED
constexpr bool kUnarmed = true;
#else
constexpr bool kUnarmed = false;
#endif

// Lanes: a thread's own, and behind them those of the handlers that run in it.
Ledger ledger(2 * kThreads, kCapacity);
std::atomic<uint32_t> turn[kGroups];
std::atomic<int> progress;  // switches done in this round
std::atomic<bool> over, all_over;
size_t next_seq[2 * kThreads];

struct Random {
  uint64_t state;
  uint64_t Next() {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state >> 11;
  }
};

// -----------------------------------------------------------------------------------------------------
// firing

__attribute__((noinline)) void FireGroup(int group, bool text, uint64_t lane, uint64_t seq,
                                         const char *words) {
  if (group == 0 && !text) gkhi_stress_tick0(lane, seq, Check(lane, seq));
  if (group == 0 && text) gkhi_stress_text0(lane, seq, words);
  if (group == 1 && !text) gkhi_stress_tick1(lane, seq, Check(lane, seq));
  if (group == 1 && text) gkhi_stress_text1(lane, seq, words);
}

void FireOne(size_t lane) {
  const size_t seq = next_seq[lane];
  if (seq >= kCapacity) return;
  const uint64_t dice = Check(lane + 1, seq);
  const int group = static_cast<int>(dice & 1);
  const Letters text = Text(lane, seq);
  Fired &f = ledger.At(lane, seq);
  // Released to whoever finds the event in a ring while others still fire (Ledger::Found).
  std::atomic_ref(f.group).store(static_cast<uint8_t>(group), std::memory_order_release);
  f.before = turn[group].load();
  FireGroup(group, dice >> 1 & 1, lane, seq, text.s);
  f.behind = turn[group].load();
  next_seq[lane] = seq + 1;
}

thread_local size_t this_lane = kThreads;

// Between rounds the ledger is read: whoever waits there must not fire.
void OnSignal(int) {
  if (this_lane < kThreads && !over) FireOne(kThreads + this_lane);
}

void HopToSomeProcessor(Random *random) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(random->Next() % static_cast<uint64_t>(sysconf(_SC_NPROCESSORS_ONLN)), &set);
  sched_setaffinity(0, sizeof(set), &set);
}

std::vector<pthread_t> handles(kThreads);

void FireThroughARound(size_t lane, Random *random) {
  while (!over.load(std::memory_order_relaxed)) {
    const size_t allowed = kCapacity * static_cast<size_t>(progress.load() + 1) / kSwitchesOfRound;
    if (next_seq[lane] >= allowed) {
      sched_yield();
      continue;
    }
    FireOne(lane);
    const uint64_t dice = random->Next();
    if (dice % 64 == 0) pthread_kill(handles[dice / 64 % kThreads], SIGUSR1);
    if (dice % 512 == 1) HopToSomeProcessor(random);
  }
}

// ---------------------------------------------------------------------------------------------------
// switching

void Must(const std::string &batch) {
  char error[1000];
  const int err = gkhi_control(batch.c_str(), error, sizeof(error));
  if (err == 0) return;
  fmt::print(stderr, "{}: {}\n{}\n", batch, err, error);
  std::_Exit(2);
}

// Channels of the round are 0 and 1; 2 comes and goes within it.
struct Round {
  int number;
  std::string name[3];
  size_t k[kGroups] = {};
  bool third = false;
  uint64_t lost = 0;
};

std::string File(const std::string &channel) {
  return std::string(gkhi_process.dir) + "/" + channel + ".ring";
}

std::string Channels(const Round &r, uint8_t mask) {
  std::string s;
  for (int c = 0; c < 3; c++)
    if (mask >> c & 1) s += (s.empty() ? "" : ",") + r.name[c];
  return s;
}

// One switch of some groups, at once, to the same state and channels.
void Switch(Round *r, int groups, const char *state, uint8_t mask, const std::string &in_front,
            const std::string &behind) {
  static const char *const kPatterns[4] = {"", "stress:*0", "stress:*1", "stress:*"};
  const bool off = std::strcmp(state, "disabled") == 0;
  std::string batch = in_front + kPatterns[groups] + " +" + state;
  if (!off) batch += " channel=" + Channels(*r, mask);
  for (int g = 0; g < kGroups; g++) {
    if (!(groups >> g & 1)) continue;
    ledger.Configure(g, ++r->k[g], off ? 0 : mask);
    turn[g].fetch_add(1);
  }
  Must(batch + behind);
  for (int g = 0; g < kGroups; g++)
    if (groups >> g & 1) turn[g].fetch_add(1);
}

void SwitchAtRandom(Round *r, Random *random) {
  static const char *const kStates[] = {"static", "marker", "disabled", "static", "marker"};
  static const uint8_t kMasks[] = {1, 2, 1, 2, 3};
  const uint64_t dice = random->Next();
  Switch(r, 1 + static_cast<int>(dice % 3), kStates[dice / 4 % 5], kMasks[dice / 32 % 5], "", "");
}

// A channel that is made, used, left and removed under fire; what it got is read when everybody has left it.
void SwitchThroughAThird(Round *r) {
  Switch(r, 3, "static", 4,
         fmt::format("channel {} mode=discard subbuf_size=256K n_subbufs=16; ", r->name[2]), "");
  usleep(200);
  Switch(r, 3, "marker", 1, "", "");
  r->lost += ledger.Read(File(r->name[2]), 2);
  Must(fmt::format("channel {} -", r->name[2]));
}

// The entries' own counters: no route, recursion.
uint64_t EntriesLost() {
  uint64_t lost = 0;
  for (gkhi_hook_entry *e = gkhi_core_next(nullptr); e; e = gkhi_core_next(e)) {
    gkhi_hook_info info;
    gkhi_core_describe(e, &info);
    lost += info.lost;
  }
  return lost;
}

void BeginRound(Round *r, bool cramped) {
  ledger.Clear();
  std::memset(next_seq, 0, sizeof(next_seq));
  const std::string size = cramped ? "subbuf_size=8K n_subbufs=4" : "subbuf_size=256K n_subbufs=16";
  std::string batch;
  for (int c = 0; c < 3; c++) r->name[c] = fmt::format("r{}{}", r->number, "abc"[c]);
  for (int c = 0; c < 2; c++) batch += fmt::format("channel {} mode=discard {}; ", r->name[c], size);
  batch += fmt::format("stress:* +static channel={}", r->name[0]);
  if (r->number > 0) batch += fmt::format("; channel r{0}a -; channel r{0}b -", r->number - 1);
  Must(batch);
  for (int g = 0; g < kGroups; g++) {
    turn[g] = 0;
    ledger.Configure(g, 0, 1);
  }
  progress = 0;
  over = false;
}

Verdict EndRound(Round *r, uint64_t lost_before) {
  for (size_t lane = 0; lane < 2 * kThreads; lane++) ledger.SetCount(lane, next_seq[lane]);
  return ledger.Judge(r->lost + EntriesLost() - lost_before);
}

// ------------------------------------------------------------------------------------------------- a process

struct Sum {
  uint64_t fired, read, surely_on, lost, faults, switches;
  char first_fault[200];
};

void Add(Sum *sum, const Verdict &v, uint64_t lost) {
  sum->fired += v.fired;
  sum->read += v.read;
  sum->surely_on += v.surely_on;
  sum->lost += lost;
  if (v.faults != 0 && sum->faults == 0) v.first_fault.copy(sum->first_fault, sizeof(sum->first_fault) - 1);
  sum->faults += v.faults;
}

void FindIds() {
  static const char *const kNames[kGroups][2] = {{"stress:tick0", "stress:text0"},
                                                 {"stress:tick1", "stress:text1"}};
  uint32_t ids[kGroups][2] = {};
  for (gkhi_hook_entry *e = gkhi_core_next(nullptr); e; e = gkhi_core_next(e)) {
    gkhi_hook_info info;
    gkhi_core_describe(e, &info);
    for (int g = 0; g < kGroups; g++)
      for (int text = 0; text < 2; text++)
        if (std::strcmp(info.name, kNames[g][text]) == 0) ids[g][text] = info.id;
  }
  ledger.SetIds(ids);
}

Sum RunProcess(uint64_t switches, uint64_t seed) {
  Sum sum{};
  Random random{seed * 77 + 5};
  struct sigaction action {};
  action.sa_handler = OnSignal;
  action.sa_flags = SA_RESTART;
  sigaction(SIGUSR1, &action, nullptr);
  Must("stress:* -");
  FindIds();
  std::barrier begin(kThreads + 1), end(kThreads + 1);
  std::vector<std::thread> threads;
  for (size_t lane = 0; lane < kThreads; lane++)
    threads.emplace_back([&, lane] {
      Random mine{seed * 1000 + lane + 1};
      handles[lane] = pthread_self();
      this_lane = lane;
      for (;;) {
        begin.arrive_and_wait();
        if (all_over) return;
        FireThroughARound(lane, &mine);
        end.arrive_and_wait();
      }
    });
  for (int number = 0; sum.switches < switches; number++) {
    Round r{};
    r.number = number;
    const uint64_t lost_before = EntriesLost();
    BeginRound(&r, number % 3 == 2);
    begin.arrive_and_wait();
    for (int i = 0; i < kSwitchesOfRound; i++) {
      SwitchAtRandom(&r, &random);
      progress = i;
    }
    SwitchThroughAThird(&r);
    over = true;
    end.arrive_and_wait();
    sum.switches += kSwitchesOfRound + 2;
    for (size_t lane = 0; lane < 2 * kThreads; lane++) ledger.SetCount(lane, next_seq[lane]);
    for (int c = 0; c < 2; c++) r.lost += ledger.Read(File(r.name[c]), c);
    const uint64_t lost = r.lost + EntriesLost() - lost_before;
    Add(&sum, EndRound(&r, lost_before), lost);
    if (kUnarmed && sum.faults > 0) break;
  }
  all_over = true;
  begin.arrive_and_wait();
  for (std::thread &t : threads) t.join();
  return sum;
}

uint64_t Switches() {
  const char *s = std::getenv("GKHI_STRESS_SWITCHES");
  return s ? std::strtoull(s, nullptr, 10) : 100000;
}

Sum Collect(int fd) {
  Sum sum{};
  if (read(fd, &sum, sizeof(sum)) != static_cast<ssize_t>(sizeof(sum))) {
    sum.faults = 1;
    std::strcpy(sum.first_fault, "a process did not come to its end");
  }
  return sum;
}

// False also for what a sanitizer found: no fault of an event, so not what the unarmed program looks for.
bool EndsWell(pid_t pid) {
  int status = 0;
  waitpid(pid, &status, 0);
  if (status != 0) fmt::print("process {} ended with status {:#x}\n", pid, status);
  return status == 0;
}

}  // namespace
}  // namespace gkhi_stress

int main() {
  using namespace gkhi_stress;
  const std::string dir =
      std::filesystem::temp_directory_path() / fmt::format("gkhi-switch-stress-{}", getpid());
  std::filesystem::create_directories(dir);
  setenv("GKHI_DIR", dir.c_str(), 1);
  int pipes[kProcesses][2];
  pid_t pids[kProcesses];
  for (int p = 0; p < kProcesses; p++) {
    if (pipe(pipes[p]) != 0) return 2;
    pids[p] = fork();
    if (pids[p] != 0) continue;
    const Sum sum = RunProcess(Switches() / kProcesses, static_cast<uint64_t>(p) + 1);
    if (write(pipes[p][1], &sum, sizeof(sum)) < 0) _exit(2);
    _exit(0);
  }
  Sum all{};
  bool end_well = true;
  for (int p = 0; p < kProcesses; p++) {
    close(pipes[p][1]);
    const Sum sum = Collect(pipes[p][0]);
    if (!EndsWell(pids[p])) end_well = false;
    all.fired += sum.fired;
    all.read += sum.read;
    all.surely_on += sum.surely_on;
    all.lost += sum.lost;
    all.switches += sum.switches;
    if (all.faults == 0) std::memcpy(all.first_fault, sum.first_fault, sizeof(all.first_fault));
    all.faults += sum.faults;
  }
  std::filesystem::remove_all(dir);
  fmt::print(
      "{} processes of {} threads, {} switches: {} fired, {} of them surely while on, {} read, {} counted "
      "lost, "
      "{} faults\n",
      kProcesses, kThreads, all.switches, all.fired, all.surely_on, all.read, all.lost, all.faults);
  if (all.faults != 0) fmt::print("the first: {}\n", all.first_fault);
  if (!end_well) return 1;
  if (kUnarmed) return all.faults == 0;
  return all.faults != 0 || all.surely_on == 0 || all.lost == 0;
}
