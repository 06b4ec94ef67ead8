// SPDX-License-Identifier: MIT
// Parts of the process side by themselves: texts, clock, processors, vDSO, files, metadata, stderr.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

extern "C" {
#include "clock.h"
#include "core.h"
#include "file.h"
#include "process.h"
#include "strbuf.h"
}

namespace {

std::string ReadAll(const std::string &path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

class Folder {
 public:
  Folder() {
    char name[] = "/tmp/gkhi-unit-XXXXXX";
    path_ = mkdtemp(name);
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  std::string operator/(const std::string &name) const { return path_ + "/" + name; }
  const std::string &path() const { return path_; }

 private:
  std::string path_;
};

// The exit status of `body` in a child: for what changes a whole process.
template <typename Body>
int InChild(Body body) {
  pid_t pid = fork();
  if (pid == 0) _exit(body());
  int status = -1;
  waitpid(pid, &status, 0);
  return status;
}

// ---------------------------------------------------------------------- texts

TEST(Strbuf, PutsTextTogether) {
  char buf[64];
  struct strbuf t = sb_into(buf, sizeof(buf));
  sb_str(&t, "a=");
  sb_dec(&t, 0);
  sb_char(&t, ' ');
  sb_dec(&t, UINT64_MAX);
  sb_char(&t, ' ');
  sb_hex(&t, 0xbeef, 8);
  EXPECT_STREQ(buf, "a=0 18446744073709551615 0000beef");
  EXPECT_FALSE(t.full);
}

TEST(Strbuf, CutsAtTheEndAndSaysSo) {
  char buf[8] = "xxxxxxx";
  struct strbuf t = sb_into(buf, 6);
  sb_str(&t, "0123");
  EXPECT_FALSE(t.full);
  sb_str(&t, "456");
  EXPECT_STREQ(buf, "01234");
  EXPECT_TRUE(t.full);
  EXPECT_EQ(buf[6], 'x');
}

TEST(Strbuf, ErrorsHaveTheWordsOfTheCLibrary) {
  for (int err : {EPERM, ENOENT, EACCES, EEXIST, ENOTDIR, EINVAL, EMFILE, ENFILE, EFBIG, ENOSPC, EROFS, ELOOP,
                  ENOMEM, EDQUOT, ENAMETOOLONG, EBUSY, EIO}) {
    char buf[64];
    struct strbuf t = sb_into(buf, sizeof(buf));
    sb_errno(&t, err);
    EXPECT_STREQ(buf, strerror(err));
  }
  char buf[64];
  struct strbuf t = sb_into(buf, sizeof(buf));
  sb_errno(&t, 4711);
  EXPECT_STREQ(buf, "errno 4711");
}

// ---------------------------------------------------------------------- clock

TEST(Clock, IsTheTscOnlyWhereTheKernelUsesIt) {
  EXPECT_EQ(gkhi_clock_choose(true, "tsc\n"), GKHI_CLOCK_TSC);
  EXPECT_EQ(gkhi_clock_choose(false, "tsc\n"), GKHI_CLOCK_MONOTONIC);
  EXPECT_EQ(gkhi_clock_choose(true, "tsc-early\n"), GKHI_CLOCK_MONOTONIC);
  EXPECT_EQ(gkhi_clock_choose(true, "hpet\n"), GKHI_CLOCK_MONOTONIC);
  EXPECT_EQ(gkhi_clock_choose(true, "kvm-clock\n"), GKHI_CLOCK_MONOTONIC);
  EXPECT_EQ(gkhi_clock_choose(true, ""), GKHI_CLOCK_MONOTONIC);
}

TEST(Clock, CountsPossibleProcessors) {
  EXPECT_EQ(gkhi_cpus_parse("0\n"), 1u);
  EXPECT_EQ(gkhi_cpus_parse("0-1\n"), 2u);
  EXPECT_EQ(gkhi_cpus_parse("0-3,8-11\n"), 12u);
  EXPECT_EQ(gkhi_cpus_parse("0,2,4"), 5u);
  for (const char *bad : {"", "\n", "x", "0-", "0-\n", "0,,1\n", "0;1\n", "-1\n", "0-99999\n"})
    EXPECT_EQ(gkhi_cpus_parse(bad), 0u) << bad;
}

TEST(Clock, RunsForwardAndAgreesWithTheKernels) {
  gkhi_clock_init();
  ASSERT_NE(port_clock_kind(), 0u);
  EXPECT_GE(port_n_cpus(), static_cast<unsigned>(sysconf(_SC_NPROCESSORS_CONF)));
  uint64_t last = port_clock();
  for (int i = 0; i < 100000; i++) {
    uint64_t now = port_clock();
    ASSERT_LE(last, now);
    last = now;
  }
  gkhi_control moment{};
  timespec before, after;
  clock_gettime(CLOCK_MONOTONIC, &before);
  gkhi_clock_moment(&moment);
  clock_gettime(CLOCK_MONOTONIC, &after);
  auto ns = [](timespec t) { return uint64_t(t.tv_sec) * 1000000000u + uint64_t(t.tv_nsec); };
  EXPECT_LE(ns(before), moment.clock_monotonic);
  EXPECT_LE(moment.clock_monotonic, ns(after));
}

TEST(Clock, MonotonicComesFromTheVdso) {
  auto gettime = reinterpret_cast<int (*)(clockid_t, timespec *)>(gkhi_vdso_find("__vdso_clock_gettime"));
  if (!gettime) GTEST_SKIP() << "this kernel gives no vDSO here (valgrind?)";
  timespec here, there;
  ASSERT_EQ(gettime(CLOCK_MONOTONIC, &here), 0);
  clock_gettime(CLOCK_MONOTONIC, &there);
  EXPECT_LT(there.tv_sec - here.tv_sec, 2);
  EXPECT_EQ(gkhi_vdso_find("__vdso_no_such"), nullptr);
}

TEST(Clock, MonotonicWhereTheTscIsNotTrusted) {
  const struct gkhi_clock_source keep = gkhi_clock_source;
  gkhi_clock_source.kind = GKHI_CLOCK_MONOTONIC;
  for (bool vdso : {true, false}) {
    if (!vdso) gkhi_clock_source.gettime = nullptr;
    timespec before, after;
    clock_gettime(CLOCK_MONOTONIC, &before);
    uint64_t now = port_clock();
    clock_gettime(CLOCK_MONOTONIC, &after);
    EXPECT_LE(uint64_t(before.tv_sec) * 1000000000u + uint64_t(before.tv_nsec), now);
    EXPECT_LE(now, uint64_t(after.tv_sec) * 1000000000u + uint64_t(after.tv_nsec));
  }
  gkhi_clock_source = keep;
}

// ---------------------------------------------------------------------- files

TEST(File, IsNeverDescriptorZeroToTwo) {
  EXPECT_EQ(InChild([] {
              close(0);
              close(1);
              close(2);
              int fd = file_open(AT_FDCWD, "/dev/null", O_RDWR, 0);
              if (fd < 3) return 1;
              if (!(fcntl(fd, F_GETFD) & FD_CLOEXEC)) return 2;
              for (int i = 0; i < 3; i++)
                if (fcntl(i, F_GETFD) != -1) return 3;  // the holes are holes again
              return 0;
            }),
            0);
}

TEST(File, HasItsSpace) {
  Folder folder;
  void *addr = nullptr;
  ASSERT_EQ(file_map_new((folder / "f").c_str(), 1 << 20, &addr), 0);
  memset(addr, 1, 1 << 20);
  struct stat st;
  ASSERT_EQ(stat((folder / "f").c_str(), &st), 0);
  EXPECT_EQ(st.st_size, 1 << 20);
  EXPECT_EQ(st.st_mode & 07777, 0600u);
  EXPECT_GE(st.st_blocks * 512, 1 << 20);
  void *more = nullptr;
  ASSERT_EQ(file_map_grown((folder / "f").c_str(), 1 << 20, 2 << 20, &more), 0);
  memset(more, 2, 1 << 20);
  EXPECT_EQ(file_map_new((folder / "f").c_str(), 4096, &addr), -EEXIST);
  ASSERT_EQ(file_cut((folder / "f").c_str(), 5), 0);
  EXPECT_EQ(ReadAll(folder / "f"), std::string(5, 1));
}

TEST(File, AsksTheSizeLimitBeforeTheSignalDoes) {
  Folder folder;
  EXPECT_EQ(InChild([&] {
              struct rlimit lim = {8192, 8192};
              void *addr;
              setrlimit(RLIMIT_FSIZE, &lim);
              if (file_map_new((folder / "small").c_str(), 8192, &addr)) return 1;
              return file_map_new((folder / "big").c_str(), 8193, &addr) == -EFBIG ? 0 : 2;
            }),
            0);  // not killed by SIGXFSZ
  EXPECT_FALSE(std::filesystem::exists(folder / "big"));
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // whose shadow fills the address space
TEST(File, LeavesAddressSpaceToTheProgram) {
  Folder folder;
  EXPECT_EQ(InChild([&] {
              struct rlimit lim = {1 << 30, 1 << 30};
              void *addr;
              setrlimit(RLIMIT_AS, &lim);
              if (file_map_new((folder / "small").c_str(), 1 << 20, &addr)) return 1;
              return file_map_new((folder / "big").c_str(), 512 << 20, &addr) == -ENOMEM ? 0 : 2;
            }),
            0);
  EXPECT_FALSE(std::filesystem::exists(folder / "big"));
}
#endif

TEST(File, LeavesNothingOnAFullDisk) {
  Folder folder;
  void *addr;
  // More than any disk has.
  EXPECT_NE(file_map_new((folder / "huge").c_str(), size_t{1} << 50, &addr), 0);
  EXPECT_FALSE(std::filesystem::exists(folder / "huge"));
}

// ---------------------------------------------------------------------- stderr

TEST(Log, WritesOneLineOnceAndOnlyToStderr) {
  Folder folder;
  int status = InChild([&] {
    int fd = open((folder / "err").c_str(), O_CREAT | O_RDWR, 0600);
    dup2(fd, 2);
    port_log("before: not known yet");
    gkhi_log_init();
    port_log("first\nsecond line of the same");
    port_log("first");
    port_log("other");
    int database = open((folder / "db").c_str(), O_CREAT | O_RDWR, 0600);
    dup2(database, 2);
    port_log("must not land in the database");
    return 0;
  });
  EXPECT_EQ(status, 0);
  EXPECT_EQ(ReadAll(folder / "err"), "gkhi: first\ngkhi: other\n");
  EXPECT_EQ(ReadAll(folder / "db"), "");
}

TEST(Log, SurvivesAPipeWithoutReader) {
  EXPECT_EQ(InChild([] {
              int fds[2];
              if (pipe(fds)) return 1;
              dup2(fds[1], 2);
              gkhi_log_init();
              close(fds[0]);
              port_log("nobody reads");
              sigset_t pending;
              sigpending(&pending);
              return sigismember(&pending, SIGPIPE) ? 2 : 0;
            }),
            0);
}

TEST(Log, DoesNotWaitForAFullPipe) {
  EXPECT_EQ(InChild([] {
              int fds[2];
              if (pipe(fds)) return 1;
              dup2(fds[1], 2);
              gkhi_log_init();
              fcntl(2, F_SETFL, O_NONBLOCK);
              char page[4096] = {};
              while (write(2, page, sizeof(page)) > 0) {
              }
              fcntl(2, F_SETFL, 0);
              alarm(5);
              port_log("no room");
              return 0;
            }),
            0);
}

TEST(Log, SurvivesTheFileSizeLimit) {
  Folder folder;
  EXPECT_EQ(InChild([&] {
              int fd = open((folder / "err").c_str(), O_CREAT | O_RDWR, 0600);
              struct rlimit lim = {4, 4};
              dup2(fd, 2);
              gkhi_log_init();
              setrlimit(RLIMIT_FSIZE, &lim);
              port_log("cut");
              port_log("not even begun");
              return 0;
            }),
            0);
}

// ---------------------------------------------------------------------- metadata

class Metadata : public testing::Test {
 protected:
  void SetUp() override {
    snprintf(gkhi_environment.dir, sizeof(gkhi_environment.dir), "%s", folder_.path().c_str());
    gkhi_environment.keep = false;
    event_.abi = GKHI_ABI_VERSION;
    event_.loglevel = 6;
    event_.layout = 0x0123456789abcdefu;
    event_.provider = "demo";
    event_.name = "tick";
    event_.json = R"({"provider":"demo","name":"tick","doc":"a */ in a text"})";
    event_.ctf = "struct { uint32_t n; struct { } align(64) _end; }";
  }
  void TearDown() override {
    gkhi_process_close();
    gkhi_process_forget();
  }
  std::string Text() {
    const gkhi_control &c = *gkhi_process.control;
    return ReadAll(std::string(gkhi_process.dir) + "/metadata").substr(0, c.metadata_size);
  }

  Folder folder_;
  gkhi_event event_{};
};

TEST_F(Metadata, IsThereWhenDeclareReturns) {
  ASSERT_EQ(port_event_declare(&event_, 5, GKHI_STREAM_COMPACT), 0);
  EXPECT_EQ(
      Text(),
      "/* gkhi-event {\"id\":5,\"provider\":\"demo\",\"name\":\"tick\","
      "\"doc\":\"a *\\/ in a text\"} */\n"
      "event { name = \"demo:tick\"; id = 5; stream_id = 0; loglevel = 6; fields := struct { uint32_t n; "
      "struct { } align(64) _end; }; };\n");
  EXPECT_EQ(gkhi_process.control->generation, 1u);
}

TEST_F(Metadata, OneBlockPerIdAndStreamClass) {
  for (int again = 0; again < 2; again++) {
    ASSERT_EQ(port_event_declare(&event_, 5, GKHI_STREAM_COMPACT), 0);
    ASSERT_EQ(port_event_declare(&event_, 5, GKHI_STREAM_WIDE), 0);
    ASSERT_EQ(port_event_declare(&event_, 6, GKHI_STREAM_COMPACT), 0);
  }
  EXPECT_EQ(gkhi_process.control->generation, 3u);
  std::string text = Text();
  EXPECT_NE(text.find("id = 5; stream_id = 0;"), std::string::npos);
  EXPECT_NE(text.find("id = 5; stream_id = 1;"), std::string::npos);
  EXPECT_NE(text.find("id = 6; stream_id = 0;"), std::string::npos);
}

TEST_F(Metadata, GrowsAndStaysWhole) {
  const std::string doc(3000, 'd');
  const std::string json = "{\"doc\":\"" + doc + "\"}";
  event_.json = json.c_str();
  for (uint32_t id = 1; id <= 500; id++) ASSERT_EQ(port_event_declare(&event_, id, GKHI_STREAM_COMPACT), 0);
  std::string text = Text();
  EXPECT_EQ(text.find('\0'), std::string::npos);
  size_t n = 0;
  for (size_t at = text.find("/* gkhi-event"); at != std::string::npos;
       at = text.find("/* gkhi-event", at + 1))
    n++;
  EXPECT_EQ(n, 500u);
  EXPECT_EQ(text.substr(text.size() - 6), "}; };\n");
}

TEST_F(Metadata, RefusesWhatReadersCannotTake) {
  EXPECT_EQ(port_event_declare(&event_, 0, GKHI_STREAM_COMPACT), -EINVAL);
  EXPECT_EQ(port_event_declare(&event_, 0xffff, GKHI_STREAM_COMPACT), -EINVAL);
  EXPECT_EQ(port_event_declare(&event_, 1, GKHI_N_STREAM_CLASSES), -EINVAL);
  EXPECT_EQ(gkhi_process.control, nullptr) << "made files for nothing";
}

TEST_F(Metadata, IsCutToItsSizeAtExit) {
  ASSERT_EQ(port_event_declare(&event_, 5, GKHI_STREAM_COMPACT), 0);
  const std::string file = std::string(gkhi_process.dir) + "/metadata";
  const uint64_t size = gkhi_process.control->metadata_size;
  gkhi_environment.keep = true;
  gkhi_process_close();
  EXPECT_EQ(std::filesystem::file_size(file), size);
  EXPECT_EQ(gkhi_process.control->ended, 1u);
  EXPECT_LT(port_event_declare(&event_, 6, GKHI_STREAM_COMPACT), 0);
  gkhi_process_forget();
}

TEST_F(Metadata, FilesOfChannelsComeAndGo) {
  void *addr = nullptr;
  ASSERT_EQ(port_shm_create("main.ring", 8192, &addr), 0);
  const std::string file = std::string(gkhi_process.dir) + "/main.ring";
  EXPECT_EQ(std::filesystem::file_size(file), 8192u);
  EXPECT_EQ(port_shm_create("main.ring", 8192, &addr), -EEXIST);
  EXPECT_EQ(port_shm_create("../main.ring", 8192, &addr), -EINVAL);
  EXPECT_EQ(port_shm_create(std::string(60, 'x').c_str(), 8192, &addr), -EINVAL);
  EXPECT_NE(port_shm_create("huge.ring", size_t{1} << 50, &addr), 0);
  EXPECT_FALSE(std::filesystem::exists(std::string(gkhi_process.dir) + "/huge.ring"));
  port_shm_remove("main.ring", addr, 8192);
  EXPECT_FALSE(std::filesystem::exists(file));
  const std::string dir = gkhi_process.dir;
  gkhi_process_close();
  EXPECT_FALSE(std::filesystem::exists(dir));
}

}  // namespace
