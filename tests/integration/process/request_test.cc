// SPDX-License-Identifier: MIT
// Requests: by ptrace, by the agent thread, by polling; directories; what is refused, in which words.
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <fstream>
#include <thread>

#include "attach.hpp"
#include "child.hpp"
#include "procfs.hpp"
#include "request.hpp"

namespace gkhi {
namespace {

using std::chrono::milliseconds;
using test::Child;
using test::Folder;

std::string Pid(const Child &child) {
  return "process " + std::to_string(child.pid());
}

class Request : public testing::Test {
 protected:
  void SetUp() override { setenv("GKHI_DIR", folder_.path().c_str(), 1); }
  void TearDown() override { unsetenv("GKHI_DIR"); }

  Folder folder_;
};

void AllowEverythingBySeccomp() {
  sock_filter allow[] = {{BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW}};
  sock_fprog program{1, allow};
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

// The magic comes last: until then the file is waited for, if there is a process that may be making it.
TEST_F(Request, AFileThatIsBeingMade) {
  const auto start = std::chrono::steady_clock::now();
  const std::string mine = folder_.path() + "/" + std::to_string(getpid()) + "-0";
  const std::string dead = folder_.path() + "/999999999-0";
  for (const std::string &dir : {mine, dead}) {
    ASSERT_EQ(mkdir(dir.c_str(), 0700), 0);
    std::ofstream(dir + "/control").flush();
  }
  auto process = Process::OpenDirectory(dead);
  ASSERT_FALSE(process);
  EXPECT_EQ(process.error().find(dead + "/control: found 0 bytes, wanted "), 0u) << process.error();
  EXPECT_LT(std::chrono::steady_clock::now() - start, milliseconds(900));

  process = Process::OpenDirectory(mine);
  ASSERT_FALSE(process);
  EXPECT_EQ(process.error(), mine + "/control: the process has not finished starting");

  std::thread maker([&] {
    gkhi_control control{};
    std::fstream file(mine + "/control", std::ios::in | std::ios::out | std::ios::binary);
    for (const uint64_t magic : {uint64_t{0}, uint64_t{GKHI_CONTROL_MAGIC}}) {
      std::this_thread::sleep_for(milliseconds(50));
      control.version = GKHI_CONTROL_VERSION;
      control.magic = magic;
      file.seekp(0).write(reinterpret_cast<const char *>(&control), sizeof(control)).flush();
    }
  });
  process = Process::OpenDirectory(mine);
  maker.join();
  EXPECT_TRUE(process) << process.error();
}

TEST_F(Request, MakesTheDirectoryOnFirstNeedAndItGoesWithTheProcess) {
  Child target({BUSY_TARGET, "-"}, {});
  ASSERT_TRUE(target.WaitFor("ready"));
  EXPECT_TRUE(folder_.List().empty());
  auto none = Process::Find(target.pid());
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error(),
            Pid(target) + ": it has no directory in " + folder_.path() + ": nobody asked it to trace yet");
  {
    auto process = Process::Open(target.pid());
    ASSERT_TRUE(process) << process.error();
    struct stat st;
    ASSERT_EQ(stat(process->dir().c_str(), &st), 0);
    EXPECT_EQ(st.st_mode & 07777, 0700u);
    EXPECT_EQ(process->control().pid, static_cast<uint32_t>(target.pid()));
    EXPECT_STREQ(process->control().comm, "process_busy_ta");
    EXPECT_EQ(strlen(process->control().boot_id), 36u);
    EXPECT_NE(process->control().clock_monotonic, 0u);
    EXPECT_TRUE(process->Alive());
    auto hooks = process->Hooks();
    ASSERT_TRUE(hooks) << hooks.error();
    EXPECT_TRUE(hooks->empty());
  }
  EXPECT_TRUE(Process::Find(target.pid()));
  EXPECT_EQ(target.Finish(), 0);
  EXPECT_TRUE(folder_.List().empty()) << "a directory that holds nothing stayed";
}

TEST_F(Request, KeepsTheDirectoryWhenAsked) {
  Child target({BUSY_TARGET, "-"}, {"GKHI=", "GKHI_KEEP=1"});
  ASSERT_TRUE(target.WaitFor("ready"));
  EXPECT_EQ(target.Finish(), 0);
  auto process = Process::Find(target.pid());
  ASSERT_TRUE(process) << process.error();
  EXPECT_EQ(process->control().ended, 1u);
  EXPECT_FALSE(process->Alive());
  auto reply = process->Run("length");
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error(), Pid(target) + ": it has ended");
  auto all = ListProcesses();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_FALSE(all[0].alive);
}

TEST_F(Request, KilledProcessStaysReadable) {
  Child target({BUSY_TARGET, "-"}, {"GKHI="});
  ASSERT_TRUE(target.WaitFor("ready"));
  kill(target.pid(), SIGKILL);
  target.Finish();
  auto process = Process::Find(target.pid());
  ASSERT_TRUE(process) << process.error();
  EXPECT_EQ(process->control().ended, 0u);
  EXPECT_FALSE(process->Alive());
}

TEST_F(Request, ErrorsComeBackWhole) {
  Child target({BUSY_TARGET, "-"}, {});
  ASSERT_TRUE(target.WaitFor("ready"));
  auto process = Process::Open(target.pid());
  ASSERT_TRUE(process) << process.error();
  auto reply = process->Run("fail");
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error(), "column 1: found 'fail', wanted a batch\nfail\n^");
}

TEST_F(Request, LongBatchesTravelByFile) {
  Child target({BUSY_TARGET, "-"}, {});
  ASSERT_TRUE(target.WaitFor("ready"));
  auto process = Process::Open(target.pid());
  ASSERT_TRUE(process) << process.error();
  for (size_t size : {4095u, 4096u, 4097u, 3'000'000u}) {
    auto reply = process->Run(std::string(size, '#'));
    ASSERT_TRUE(reply) << reply.error();
    EXPECT_NE(reply->find(" of " + std::to_string(size) + " bytes"), std::string::npos) << *reply;
  }
}

// Root may be asked to talk to a process whose owner prepared the folder.
TEST_F(Request, NothingIsWrittenThroughLinksOfTheFoldersOwner) {
  const std::string dir = folder_.path() + "/1-1";
  const std::string precious = folder_.path() + "/precious";
  std::ofstream(precious) << std::string(1 << 16, 'x');
  std::filesystem::create_directory(dir);
  std::filesystem::create_symlink(precious, dir + "/control");
  EXPECT_EQ(Process::OpenDirectory(dir).error(), dir + "/control: Too many levels of symbolic links");
  std::filesystem::remove(dir + "/control");
  ASSERT_EQ(mkfifo((dir + "/control").c_str(), 0600), 0);
  EXPECT_FALSE(Process::OpenDirectory(dir)) << "nor waits for a FIFO";

  Child target({BUSY_TARGET, "g"}, {});
  ASSERT_TRUE(target.WaitFor("ready"));
  auto process = Process::Open(target.pid());
  ASSERT_TRUE(process) << process.error();
  for (const bool hard : {false, true}) {
    const std::string fresh = process->dir() + "/request.new";
    hard ? std::filesystem::create_hard_link(precious, fresh)
         : std::filesystem::create_symlink(precious, fresh);
    auto reply = process->Run(std::string(5000, ' '));
    ASSERT_TRUE(reply) << reply.error();
    EXPECT_EQ(std::filesystem::file_size(precious), 1u << 16);
  }
  EXPECT_EQ(target.Finish(), 0) << target.output();
}

TEST_F(Request, AgentThreadAnswersWithoutPtrace) {
  // A tracer of its own shows that no ptrace is needed: there can be only one.
  Child target({BUSY_TARGET, "-"}, {"GKHI=", "GKHI_AGENT=thread"});
  ASSERT_TRUE(target.WaitFor("ready"));
  ASSERT_EQ(ptrace(PTRACE_SEIZE, target.pid(), 0, 0), 0);
  auto process = Process::Open(target.pid());
  ASSERT_TRUE(process) << process.error();
  EXPECT_EQ(process->control().agent, static_cast<uint32_t>(GKHI_AGENT_THREAD));
  for (int i = 0; i < 100; i++) {
    auto reply = process->Run("trash");
    ASSERT_TRUE(reply) << reply.error();
  }
}

TEST_F(Request, AnExecutedProgramHasADirectoryOfItsOwn) {
  Child target({"/bin/sh", "-c", "exec " BUSY_TARGET " -"}, {"GKHI=", "GKHI_KEEP=1"});
  ASSERT_TRUE(target.WaitFor("ready"));
  auto first = Process::Find(target.pid());
  ASSERT_TRUE(first) << first.error();
  // The same pid and start time, another program: by hand, as a directory that a program before the exec
  // left.
  std::filesystem::copy(first->dir(), first->dir() + ".7");
  auto still = Process::Find(target.pid());
  EXPECT_FALSE(still) << "found the directory of another program: " << still->dir();
}

TEST_F(Request, AZombieIsDead) {
  Child target({BUSY_TARGET, "-"}, {"GKHI=", "GKHI_KEEP=1"});
  ASSERT_TRUE(target.WaitFor("ready"));
  auto process = Process::Find(target.pid());
  ASSERT_TRUE(process) << process.error();
  EXPECT_TRUE(process->Alive());
  ASSERT_EQ(kill(target.pid(), SIGKILL), 0);
  siginfo_t ended;
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(target.pid()), &ended, WEXITED | WNOWAIT), 0);
  EXPECT_FALSE(process->Alive());
  auto buffers = Process::Find(target.pid());
  ASSERT_TRUE(buffers) << buffers.error();
  EXPECT_EQ(buffers->dir(), process->dir());
}

TEST_F(Request, AProcessWhoseMainThreadEndedIsNotDead) {
  const pid_t pid = fork();
  if (pid == 0) {
    std::thread([] { pause(); }).detach();
    syscall(SYS_exit, 0);  // of this thread alone, and no catch-all of gtest in its way
  }
  auto main_ended = [pid] {
    for (const ThreadState &thread : ListThreads(pid))
      if (thread.tid == pid && thread.state == 'Z') return true;
    return false;
  };
  for (int i = 0; i < 1000 && !main_ended(); i++) usleep(10'000);
  EXPECT_TRUE(main_ended());
  EXPECT_TRUE(ReadStartTime(pid));
  kill(pid, SIGKILL);
  waitpid(pid, nullptr, 0);
}

// ---------------------------------------------------------------- refusals

TEST_F(Request, NoSuchProcess) {
  auto process = Process::Open(0x3fffff);
  ASSERT_FALSE(process);
  EXPECT_EQ(process.error(), "process 4194303: no such process");
}

TEST_F(Request, NoRuntime) {
  Child target({"/bin/sleep", "100"}, {});
  usleep(50'000);
  auto process = Process::Open(target.pid());
  ASSERT_FALSE(process);
  EXPECT_EQ(process.error(),
            Pid(target) +
                ": no gkhi runtime in it: link the program with gkhi::gkhi, or start it with "
                "LD_PRELOAD=libgkhi.so.0");
}

TEST_F(Request, TracedAlready) {
  Child target({BUSY_TARGET, "-"}, {});
  ASSERT_TRUE(target.WaitFor("ready"));
  ASSERT_EQ(ptrace(PTRACE_SEIZE, target.pid(), 0, 0), 0);
  auto process = Process::Open(target.pid());
  ASSERT_FALSE(process);
  EXPECT_EQ(process.error(),
            Pid(target) + ": traced already by process " + std::to_string(getpid()) +
                " (a debugger, strace): end that first, or start it with GKHI_AGENT=thread or with "
                "GKHI=<batch>, or let it call gkhi_poll()");
}

TEST_F(Request, SeccompIsNotRisked) {
  Child target({BUSY_TARGET, "-"}, {}, AllowEverythingBySeccomp);
  ASSERT_TRUE(target.WaitFor("ready"));
  auto process = Process::Open(target.pid());
  ASSERT_FALSE(process);
  EXPECT_EQ(process.error(), Pid(target) +
                                 ": seccomp is active in it, so that a call might kill it: start it with "
                                 "GKHI_AGENT=thread or with GKHI=<batch>, or let it call gkhi_poll()");
}

TEST_F(Request, SeccompWithAgentThreadWorks) {
  Child target({BUSY_TARGET, "-"}, {"GKHI=", "GKHI_AGENT=thread"}, AllowEverythingBySeccomp);
  ASSERT_TRUE(target.WaitFor("ready"));
  auto process = Process::Open(target.pid());
  ASSERT_TRUE(process) << process.error();
  EXPECT_TRUE(process->Run("length"));
}

TEST_F(Request, OffIsOffWhoeverAsks) {
  Child target({BUSY_TARGET, "-"}, {"GKHI=off"});
  ASSERT_TRUE(target.WaitFor("ready"));
  auto process = Process::Open(target.pid());
  ASSERT_FALSE(process);
  EXPECT_EQ(process.error(), Pid(target) + ": GKHI=off in the environment of this program");
}

TEST_F(Request, AnotherUsersProcess) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root, to become somebody else";
  Child target({BUSY_TARGET, "-"}, {});
  ASSERT_TRUE(target.WaitFor("ready"));
  int out[2];
  ASSERT_EQ(pipe(out), 0);
  pid_t pid = fork();
  if (pid == 0) {
    if (setgid(65534) || setuid(65534)) _exit(1);
    auto process = Process::Open(target.pid());
    std::string text = process ? "opened" : process.error();
    _exit(write(out[1], text.data(), text.size()) < 0);
  }
  waitpid(pid, nullptr, 0);
  char text[512];
  ssize_t n = read(out[0], text, sizeof(text));
  EXPECT_EQ(std::string(text, n > 0 ? n : 0),
            Pid(target) + ": belongs to user 0, this is user 65534: run gkhi as that user or as root");
  close(out[0]);
  close(out[1]);
}

TEST_F(Request, StoppedByJobControl) {
  Child target({BUSY_TARGET, "-"}, {});
  ASSERT_TRUE(target.WaitFor("ready"));
  kill(target.pid(), SIGSTOP);
  usleep(50'000);
  auto process = Process::Open(target.pid(), milliseconds(200));
  ASSERT_FALSE(process);
  EXPECT_EQ(process.error(), Pid(target) + ": not done within 200 ms: no thread of it could be stopped");
  kill(target.pid(), SIGCONT);
  EXPECT_TRUE(Process::Open(target.pid()));
  // The kernel itself interrupts epoll_wait() by SIGSTOP and SIGCONT, of which the program may complain.
  EXPECT_TRUE(WIFEXITED(target.Finish()));
}

TEST_F(Request, AForeignFolderIsRefused) {
  chmod(folder_.path().c_str(), 0777);
  Child target({BUSY_TARGET, "-"}, {"GKHI="});
  ASSERT_TRUE(target.WaitFor("ready"));
  EXPECT_EQ(target.Finish(), 0);
  EXPECT_EQ(target.output(), "gkhi: hooks stay off: " + folder_.path() +
                                 ": is writable by others, wanted mode 0700\nready\nok\n");
}

TEST_F(Request, ASymbolicLinkIsRefused) {
  const std::string link = folder_.path() + "/link";
  ASSERT_EQ(symlink("/tmp", link.c_str()), 0);
  Child target({BUSY_TARGET, "-"}, {"GKHI=", "GKHI_DIR=" + link});
  EXPECT_EQ(target.Finish(), 0);
  EXPECT_EQ(target.output(), "gkhi: hooks stay off: " + link +
                                 ": found a symbolic link or a file, wanted a directory\nready\nok\n");
}

TEST_F(Request, AnotherUsersFolderIsRefused) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root, to give a folder away";
  ASSERT_EQ(chown(folder_.path().c_str(), 65534, 65534), 0);
  Child target({BUSY_TARGET, "-"}, {"GKHI="});
  EXPECT_EQ(target.Finish(), 0);
  EXPECT_EQ(target.output(),
            "gkhi: hooks stay off: " + folder_.path() + ": belongs to another user\nready\nok\n");
}

TEST_F(Request, ALongFolderIsRefused) {
  const std::string longest = folder_.path() + "/" + std::string(200, 'x');
  Child target({BUSY_TARGET, "-"}, {"GKHI=", "GKHI_DIR=" + longest});
  EXPECT_EQ(target.Finish(), 0);
  EXPECT_EQ(target.output(),
            "gkhi: hooks stay off: GKHI_DIR: path is too long, wanted at most 190 bytes\nready\nok\n");
}

TEST_F(Request, AnUnknownAgentIsNamed) {
  Child target({BUSY_TARGET, "-"}, {"GKHI=", "GKHI_AGENT=fork"});
  EXPECT_EQ(target.Finish(), 0);
  EXPECT_EQ(target.output(), "gkhi: GKHI_AGENT: found 'fork', wanted 'thread' or 'none'\nready\nok\n");
}

TEST_F(Request, AnErrorInTheEnvironmentIsOneLine) {
  Child target({BUSY_TARGET, "-"}, {"GKHI=fail"});
  EXPECT_EQ(target.Finish(), 0);
  EXPECT_EQ(target.output(), "gkhi: GKHI: column 1: found 'fail', wanted a batch\nready\nok\n");
}

}  // namespace
}  // namespace gkhi
