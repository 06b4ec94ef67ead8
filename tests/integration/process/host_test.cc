// SPDX-License-Identifier: MIT
// A traced program behaves as an untraced one: same output, same end, same files. And what it fired is there.
#include <gkhi/abi.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "child.hpp"
#include "request.hpp"
#include "ring_check.hpp"

namespace gkhi {
namespace {

using test::Child;
using test::CountRings;
using test::Folder;
using test::RingCount;

const char kBatch[] = "GKHI=channel main subbuf_size=64K n_subbufs=8; host:* +static channel=main";
const char kBigBatch[] = "GKHI=channel main subbuf_size=1M n_subbufs=16; host:* +static channel=main";
const char kMarkerBatch[] = "GKHI=channel main subbuf_size=64K n_subbufs=8; host:* +marker channel=main";

struct Ending {
  int status = -1;
  std::string output;      // without gkhi's own lines
  std::string complaints;  // gkhi's own lines
};

struct Setting {
  std::vector<std::string> environment;
  std::function<void()> before_exec;
  std::vector<std::string> wrapper;
};

class Host : public testing::TestWithParam<const char *> {
 protected:
  std::string Program(const std::string &kind) { return HOST_PROGRAMS + kind; }
  const char *Kind() { return GetParam(); }

  Ending Run(const std::vector<std::string> &words, const Setting &setting, bool traced,
             const char *batch = kBatch) {
    Folder work;
    std::vector<std::string> environment = setting.environment;
    environment.push_back("GKHI_DIR=" + folder_.path());
    if (traced) environment.push_back(batch);
    if (std::string(Kind()) == "none") environment.push_back("LD_LIBRARY_PATH=" LIBRARY_DIR);
    std::vector<std::string> args = setting.wrapper;
    args.push_back(Program(Kind()));
    args.insert(args.end(), words.begin(), words.end());
    Child child(args, environment, [&] {
      if (chdir(work.path().c_str())) _exit(126);
      if (setting.before_exec) setting.before_exec();
    });
    Ending ending;
    ending.status = child.Finish(200);
    std::istringstream lines(child.output());
    for (std::string line; std::getline(lines, line);)
      (line.rfind("gkhi: ", 0) == 0 ? ending.complaints : ending.output) += line + "\n";
    return ending;
  }

  // The same with hooks off and on. Returns the latter.
  Ending Compare(const std::vector<std::string> &words, const Setting &setting = {},
                 const char *batch = kBatch) {
    Ending off = Run(words, setting, false);
    EXPECT_EQ(off.complaints, "");
    EXPECT_TRUE(folder_.List().empty()) << "files without a request";
    Ending on = Run(words, setting, true, batch);
    EXPECT_EQ(on.status, off.status);
    if (words[0] != "vfork" && words[0] != "handlers" && words[0] != "fork_threads") {
      EXPECT_EQ(on.output, off.output);
    }
    EXPECT_NE(on.output, "");
    return on;
  }

  // Of the "fired=" at the end of the output.
  static uint64_t Fired(const Ending &ending) {
    size_t at = ending.output.rfind("fired=");
    return at == std::string::npos ? 0 : std::stoull(ending.output.substr(at + 6));
  }

  RingCount ExpectAllThere(const Ending &on) {
    EXPECT_EQ(on.complaints, "");
    RingCount count = CountRings(folder_.path());
    EXPECT_EQ(count.committed + count.lost, Fired(on));
    EXPECT_EQ(count.torn, 0u);
    EXPECT_EQ(count.twice, 0u);
    EXPECT_EQ(count.backwards, 0u);
    EXPECT_EQ(count.bad_packets, 0u);
    return count;
  }
  void ExpectNoneLost(const Ending &on) { EXPECT_EQ(ExpectAllThere(on).lost, 0u); }

  Folder folder_;
};

// A static program loads no plugins, and valgrind does not replace functions of it.
class DynamicHost : public Host {};

// With more hooks than a table has rows for at first.
class CrowdedHost : public Host {};

const auto kName = [](auto &info) { return std::string(info.param); };
INSTANTIATE_TEST_SUITE_P(Process, Host, testing::Values("shared", "static", "none"), kName);
INSTANTIATE_TEST_SUITE_P(Process, CrowdedHost, testing::Values("crowd"), kName);
INSTANTIATE_TEST_SUITE_P(Process, DynamicHost, testing::Values("shared", "none"), kName);

TEST_P(Host, Plain) {
  ExpectNoneLost(Compare({"plain"}));
}
TEST_P(Host, Marker) {
  Ending on = Run({"plain"}, {}, true, kMarkerBatch);
  EXPECT_EQ(on.output, "plain fired=1000\n");
  ExpectNoneLost(on);
}
TEST_P(Host, Descriptors) {
  ExpectNoneLost(Compare({"descriptors"}));
}
TEST_P(Host, Threads) {
  ExpectNoneLost(Compare({"threads"}));
}
TEST_P(Host, SigtrapBlockedAndIgnored) {
  ExpectNoneLost(Compare({"sigtrap"}));
}
TEST_P(Host, ExitFromAThread) {
  ExpectNoneLost(Compare({"exit_thread"}));
}
TEST_P(Host, Abort) {
  ExpectNoneLost(Compare({"abort"}));
}
TEST_P(Host, Kill) {
  ExpectNoneLost(Compare({"kill"}));
}
TEST_P(Host, Spawn) {
  ExpectNoneLost(Compare({"spawn"}));
}
TEST_P(Host, Chdir) {
  ExpectNoneLost(Compare({"chdir"}));
}
TEST_P(Host, Limits) {
  ExpectNoneLost(Compare({"limits"}));
}
TEST_P(Host, Daemon) {
  ExpectNoneLost(Compare({"daemon"}));
}
TEST_P(Host, CloseRange) {
  ExpectNoneLost(Compare({"close_range"}));
}

TEST_P(Host, HandlersThatTrace) {
  Ending on = Compare({"handlers"});
  EXPECT_NE(on.output.find("signals came: 1"), std::string::npos);
  ExpectNoneLost(on);
}

TEST_P(Host, Fork) {
  Ending on = Compare({"fork"});
  ExpectNoneLost(on);
  // The parent, the child and the grandchild; the quiet child needed none.
  EXPECT_EQ(folder_.List().size(), 3u);
}

// Children make tables of their own, with all names, be there ever so many hooks.
TEST_P(CrowdedHost, ForkedChildrenListTheirHooks) {
  ExpectNoneLost(Run({"fork"}, {}, true, kBatch));
  const std::vector<std::string> names = folder_.List();
  ASSERT_EQ(names.size(), 3u);
  std::vector<std::vector<std::string>> tables;
  for (const std::string &name : names) {
    Result<Process> process = Process::OpenDirectory(folder_.path() + "/" + name);
    ASSERT_TRUE(process) << process.error();
    Result<std::vector<gkhi_control_hook>> hooks = process->Hooks();
    ASSERT_TRUE(hooks) << hooks.error();
    tables.emplace_back();
    for (const gkhi_control_hook &hook : *hooks) {
      tables.back().push_back(hook.name);
      if (hook.state != GKHI_DISABLED) {
        EXPECT_STREQ(hook.channels, "main") << hook.name;
      }
    }
    std::sort(tables.back().begin(), tables.back().end());
    EXPECT_EQ(tables.back(), tables.front());
    EXPECT_GT(tables.back().size(), 100u);
    EXPECT_NE(tables.back().front(), "");
  }
}

TEST_P(Host, ForkWithThreads) {
  Ending on = Compare({"fork_threads", "500"});
  EXPECT_NE(on.output.find("forks gone wrong: 0"), std::string::npos) << on.output;
  // Rings of children that died by _exit() stay, and all of them hold their own.
  ExpectNoneLost(on);
}

TEST_P(Host, VforkChildTracesAndExecs) {
  Ending on = Compare({"vfork", std::string(Kind()) == "shared" ? VFORKS : "1000"});
  EXPECT_NE(on.output.find("vforks gone wrong: 0"), std::string::npos) << on.output;
  RingCount count = CountRings(folder_.path());
  EXPECT_EQ(count.torn, 0u);
  EXPECT_EQ(count.twice, 0u);
  EXPECT_EQ(count.backwards, 0u);
  EXPECT_EQ(count.bad_packets, 0u);
  EXPECT_EQ(count.committed + count.lost, Fired(on));
  EXPECT_GT(count.fallback, 0u);
}

TEST_P(Host, VforkChildTracesByMarker) {
  Ending on = Compare({"vfork", "200"}, {}, kMarkerBatch);
  RingCount count = ExpectAllThere(on);
  EXPECT_GT(count.fallback, 0u);
}

TEST_P(Host, ForkByMarker) {
  ExpectNoneLost(Compare({"fork"}, {}, kMarkerBatch));
}

TEST_P(Host, MemoryDenyWriteExecute) {
  // Kernels before 6.3 do not know it; then both runs say so.
  Ending on = Compare({"mdwe"});
  ExpectNoneLost(on);
}

TEST_P(Host, UserNamespace) {
  Ending on = Compare({"userns"});
  EXPECT_EQ(on.output.rfind("unshare: 0", 0), 0u) << on.output;  // EINVAL in a process with a thread of ours
  ExpectNoneLost(on);
}

TEST_P(Host, Chroot) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root, to change the root directory";
  Ending on = Compare({"chroot"});
  // The child in the chroot cannot reach the folder: its events are lost, the program does not notice.
  RingCount count = CountRings(folder_.path());
  EXPECT_EQ(count.committed, Fired(on));
  EXPECT_EQ(count.torn, 0u);
}

TEST_P(Host, ExecKeepsBothImages) {
  Ending on = Compare({"exec", "500"});
  EXPECT_EQ(CountRings(folder_.path()).committed, 1500u);
  auto names = folder_.List();
  std::sort(names.begin(), names.end());
  ASSERT_EQ(names.size(), 2u);
  EXPECT_EQ(names[1], names[0] + ".1");
}

// ------------------------------------------------------------------ no sequences

TEST_P(Host, WithoutRestartableSequences) {
  Setting setting;
  setting.environment = {"GLIBC_TUNABLES=glibc.pthread.rseq=0"};
  RingCount count = ExpectAllThere(Compare({"threads"}, setting));
  EXPECT_EQ(count.fallback, count.read);
  EXPECT_GT(count.read, 0u);
}

TEST_P(DynamicHost, Valgrind) {
  Setting setting;
  setting.wrapper = {"valgrind", "-q", "--error-exitcode=99"};
  Ending on = Compare({"plain", "200"}, setting);
  EXPECT_EQ(on.status, 0) << on.output;
  RingCount count = ExpectAllThere(on);
  EXPECT_EQ(count.fallback, count.read);
}

// ------------------------------------------------------------------ forbidden

// Lets everything through but the system calls that switching needs.
void ForbidSwitching() {
  sock_filter code[] = {
      {BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(seccomp_data, nr)},
      {BPF_JMP | BPF_JEQ | BPF_K, 1, 0, SYS_membarrier},
      {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW},
      {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ERRNO | EPERM},
  };
  sock_fprog filter{sizeof(code) / sizeof(code[0]), code};
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter);
}

TEST_P(Host, SeccompWithoutMembarrier) {
  Setting setting;
  setting.before_exec = ForbidSwitching;
  Ending on = Compare({"plain"}, setting);
  EXPECT_EQ(on.complaints, "gkhi: hooks stay off: membarrier(2) is forbidden here (seccomp?)\n");
  EXPECT_EQ(CountRings(folder_.path()).committed, 0u);
}

TEST_P(Host, UnwritableFolder) {
  Setting setting;
  setting.environment = {"GKHI_DIR=/proc/nothing"};
  Ending off = Run({"plain"}, {}, false);
  // The later GKHI_DIR would win: so by a folder that cannot be made.
  std::ofstream(folder_.path() + "/file") << "x";
  Folder other;
  Child child({Program(Kind()), "plain"},
              {"GKHI_DIR=" + folder_.path() + "/file", kBatch, "LD_LIBRARY_PATH=" LIBRARY_DIR});
  EXPECT_EQ(child.Finish(), off.status);
  EXPECT_EQ(child.output(), "gkhi: hooks stay off: " + folder_.path() +
                                "/file: found a symbolic link or a file, wanted a directory\n" + off.output);
}

TEST_P(Host, MissingFolder) {
  Ending off = Run({"plain"}, {}, false);
  Child child({Program(Kind()), "plain"},
              {"GKHI_DIR=" + folder_.path() + "/a/b", kBatch, "LD_LIBRARY_PATH=" LIBRARY_DIR});
  EXPECT_EQ(child.Finish(), off.status);
  EXPECT_EQ(child.output(),
            "gkhi: hooks stay off: " + folder_.path() + "/a/b: No such file or directory\n" + off.output);
}

TEST_P(Host, FullDisk) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root, to mount a small tmpfs";
  // In a mount namespace of the child's own.
  Setting setting;
  const std::string mountpoint = folder_.path();
  setting.before_exec = [mountpoint] {
    if (unshare(CLONE_NEWNS) || mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) ||
        mount("small", mountpoint.c_str(), "tmpfs", 0, "size=256k,mode=0700"))
      _exit(125);
  };
  Ending on = Compare({"plain"}, setting);
  EXPECT_EQ(on.status, 0);
  EXPECT_EQ(
      on.complaints,
      "gkhi: GKHI: batch:1:9: error: channel 'main' could not be opened: no space left where the buffers "
      "are\n");
}

TEST_P(Host, LowFileSizeLimit) {
  Setting setting;
  setting.before_exec = [] {
    struct rlimit lim = {65536, 65536};
    setrlimit(RLIMIT_FSIZE, &lim);
  };
  Ending on = Compare({"plain"}, setting);
  EXPECT_EQ(std::count(on.complaints.begin(), on.complaints.end(), '\n'), 1) << on.complaints;
}

TEST_P(Host, LowAddressSpaceLimit) {
  Setting setting;
  setting.before_exec = [] {
    struct rlimit lim = {64 << 20, 64 << 20};
    setrlimit(RLIMIT_AS, &lim);
  };
  Ending on = Compare({"plain"}, setting, kBigBatch);
  EXPECT_EQ(on.complaints,
            "gkhi: GKHI: batch:1:9: error: channel 'main' could not be opened: out of memory\n");
}

TEST_P(Host, LowDescriptorLimit) {
  Setting setting;
  setting.before_exec = [] {
    struct rlimit lim = {4, 4};
    setrlimit(RLIMIT_NOFILE, &lim);
  };
  Ending on = Compare({"plain"}, setting);
  if (on.complaints.empty())
    ExpectNoneLost(on);
  else
    EXPECT_EQ(std::count(on.complaints.begin(), on.complaints.end(), '\n'), 1) << on.complaints;
}

TEST_P(Host, ClosedStandardDescriptors) {
  Setting setting;
  setting.before_exec = [] {
    dup2(1, 7);
    close(0);
    close(1);
    close(2);
  };
  // With stdout closed there is no output to compare: the descriptors speak for themselves.
  Ending off = Run({"close_range"}, setting, false);
  Ending on = Run({"close_range"}, setting, true);
  EXPECT_EQ(on.status, off.status);
  EXPECT_EQ(on.complaints, "");
}

// ------------------------------------------------------------------ who asks

TEST_P(Host, SetUserIdProgramsIgnoreTheEnvironment) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root, to make a set-user-ID program";
  const std::string copy = folder_.path() + "/setuid";
  std::filesystem::copy_file(Program(Kind()), copy);
  ASSERT_EQ(chown(copy.c_str(), 65534, 65534), 0);
  ASSERT_EQ(chmod(copy.c_str(), 04755), 0);
  ASSERT_EQ(chmod(folder_.path().c_str(), 0777), 0);
  Folder own;
  chmod(own.path().c_str(), 0777);
  Child child({copy, "plain"}, {"GKHI_DIR=" + own.path() + "/dir", kBatch});
  EXPECT_EQ(child.Finish(), 0);
  EXPECT_EQ(child.output(), "plain fired=1000\n");
  EXPECT_TRUE(own.List().empty());
}

TEST_P(Host, AgentThread) {
  Setting setting;
  setting.environment = {"GKHI_AGENT=thread"};
  ExpectNoneLost(Compare({"fork"}, setting));
}

TEST_P(Host, OffMeansNothing) {
  Ending on = Run({"plain"}, {}, true, "GKHI=off");
  EXPECT_EQ(on.output, "plain fired=1000\n");
  EXPECT_EQ(on.complaints, "");
  EXPECT_TRUE(folder_.List().empty());
}

TEST_P(Host, EveryErrorInTheBatchIsOneLine) {
  Ending on = Run({"plain"}, {}, true, "GKHI=host:* +sideways");
  EXPECT_EQ(on.output, "plain fired=1000\n");
  EXPECT_EQ(std::count(on.complaints.begin(), on.complaints.end(), '\n'), 1) << on.complaints;
  EXPECT_EQ(on.complaints.rfind("gkhi: GKHI: ", 0), 0u) << on.complaints;
}

TEST_P(Host, RemoteSwitching) {
  setenv("GKHI_DIR", folder_.path().c_str(), 1);
  // Without GKHI there is no runtime in the program that has none linked: preloaded, there is.
  std::vector<std::string> environment;
  if (std::string(Kind()) == "none") environment.push_back("LD_PRELOAD=" LIBRARY_DIR "/libgkhi.so.0");
  Child child({Program(Kind()), "wait"}, environment);
  ASSERT_TRUE(child.WaitFor("waiting"));
  auto process = Process::Open(child.pid());
  ASSERT_TRUE(process) << process.error();
  for (int i = 0; i < 200; i++) {
    auto on = process->Run(i & 1 ? "host:* +marker channel=main" : "host:* +static channel=main");
    ASSERT_TRUE(on) << on.error();
    child.Send("x");
    auto off = process->Run("host:* -");
    ASSERT_TRUE(off) << off.error();
  }
  auto bad = process->Run("host:no_such +static");
  ASSERT_FALSE(bad);
  EXPECT_NE(bad.error().find("no_such"), std::string::npos) << bad.error();
  auto hooks = process->Hooks();
  ASSERT_TRUE(hooks) << hooks.error();
  ASSERT_EQ(hooks->size(), 1u);
  EXPECT_STREQ((*hooks)[0].name, "host:tick");
  EXPECT_EQ((*hooks)[0].state, GKHI_DISABLED);
  EXPECT_EQ(child.Finish(), 0);
  unsetenv("GKHI_DIR");
}

TEST_P(DynamicHost, PluginLoadedLocally) {
  const std::string plugin = std::string(LIBRARY_DIR "/libprocess_plugin_") + Kind() + ".so";
  std::vector<std::string> environment = {"GKHI_DIR=" + folder_.path(), "LD_LIBRARY_PATH=" LIBRARY_DIR};
  Child off({Program("loader"), plugin}, environment);
  EXPECT_EQ(off.Finish(), 0);
  environment.push_back(kBatch);
  Child on({Program("loader"), plugin}, environment);
  EXPECT_EQ(on.Finish(), 0);
  EXPECT_EQ(on.output(), off.output());
  Ending ending;
  ending.output = on.output();
  ExpectNoneLost(ending);  // under one id, over all loads
}

TEST_P(Host, Poll) {
  Child child({Program(Kind()), "poll"},
              {"GKHI_DIR=" + folder_.path(), "GKHI=", "LD_LIBRARY_PATH=" LIBRARY_DIR});
  ASSERT_TRUE(child.WaitFor("polling")) << child.output();
  setenv("GKHI_DIR", folder_.path().c_str(), 1);
  auto process = Process::Find(child.pid());
  unsetenv("GKHI_DIR");
  ASSERT_TRUE(process) << process.error();
  EXPECT_EQ(process->control().agent, static_cast<uint32_t>(GKHI_AGENT_POLL));
  for (int i = 0; i < 50; i++) {
    auto reply = process->Run(i & 1 ? "host:* -" : "host:* +static channel=main");
    ASSERT_TRUE(reply) << reply.error();
  }
  child.CloseInput();
  EXPECT_EQ(child.Finish(), 0);
  EXPECT_NE(child.output().find("poll took 50 requests"), std::string::npos) << child.output();
}

TEST(NoRequest, NoSystemCallMore) {
  if (system("strace -V >/dev/null 2>&1")) GTEST_SKIP() << "needs strace";
  Folder folder;
  auto calls = [&](const std::string &program) {
    const std::string log = folder.path() + "/log";
    const std::string command = "strace -f -o " + log + " " + program + " plain 10 > /dev/null";
    EXPECT_EQ(system(command.c_str()), 0);
    std::ifstream in(log);
    std::string names, line;
    while (std::getline(in, line)) {
      size_t at = line.find(' ');
      names += line.substr(at + 1, line.find('(') - at - 1) + "\n";
    }
    return names;
  };
  unsetenv("GKHI");
  EXPECT_EQ(calls(HOST_PROGRAMS "static"), calls(HOST_PROGRAMS "bare"));
}

}  // namespace
}  // namespace gkhi
