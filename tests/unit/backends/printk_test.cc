// SPDX-License-Identifier: MIT
// printk_test.cc - values as text against what the world says of them, and lines to every kind of sink.
#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "fake_port.h"

extern "C" {
struct gkhi_line {
  char *buf;
  size_t size;
  size_t len;
  bool cut;
};
void gkhi_line_f64(gkhi_line *line, uint64_t bits);
void gkhi_line_f32(gkhi_line *line, uint32_t bits);
void gkhi_line_value(gkhi_line *line, const gkhi_payload *payload, const gkhi_field *field, uint64_t pointer,
                     char format);
void gkhi_line_message(gkhi_line *line, const gkhi_payload *payload);
}

namespace {

template <typename Fn>
std::string Line(Fn fn) {
  char buf[512];
  gkhi_line line{buf, sizeof(buf), 0, false};
  fn(&line);
  return std::string(buf, line.len);
}

std::string F64(double d) {
  uint64_t bits;
  std::memcpy(&bits, &d, 8);
  return Line([&](gkhi_line *line) { gkhi_line_f64(line, bits); });
}

std::string F32(float f) {
  uint32_t bits;
  std::memcpy(&bits, &f, 4);
  return Line([&](gkhi_line *line) { gkhi_line_f32(line, bits); });
}

TEST(Float, CornersAreTheShortestText) {
  for (double d : {0.0,
                   -0.0,
                   1.0,
                   -1.0,
                   0.1,
                   0.3,
                   1e15,
                   1e16,
                   123456789012345678.0,
                   1e22,
                   1e23,
                   5e-324,
                   2.2250738585072014e-308,
                   2.225073858507201e-308,
                   1.7976931348623157e308,
                   0.0001,
                   0.00001,
                   9007199254740993.0,
                   4.5e15,
                   12.5,
                   std::ldexp(1.0, -1022),
                   std::ldexp(1.0, 970),
                   std::numeric_limits<double>::infinity(),
                   -std::numeric_limits<double>::infinity(),
                   std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_EQ(F64(d), fmt::format("{}", d));
  }
}

TEST(Float, RandomBitsAreTheShortestText) {
  std::mt19937_64 rng(20);
  for (int i = 0; i < 20000; i++) {
    const uint64_t bits = rng();
    double d;
    std::memcpy(&d, &bits, 8);
    if (!std::isnan(d)) {
      ASSERT_EQ(F64(d), fmt::format("{}", d)) << bits;
    }
    const uint32_t half = static_cast<uint32_t>(bits);
    float f;
    std::memcpy(&f, &half, 4);
    if (!std::isnan(f)) {
      ASSERT_EQ(F32(f), fmt::format("{}", f)) << half;
    }
    const double small = static_cast<double>(static_cast<int64_t>(bits % 2000000) - 1000000) / 100;
    ASSERT_EQ(F64(small), fmt::format("{}", small));
  }
}

class Values : public testing::Test {
 protected:
  std::string ShowBytes(gkhi_field field, const void *bytes, size_t n, char format = 0) {
    uint64_t frame[4] = {};
    std::memcpy(frame, bytes, n);
    const gkhi_event event{};
    const gkhi_payload payload{&event, 1, frame};
    return Line([&](gkhi_line *line) { gkhi_line_value(line, &payload, &field, 0, format); });
  }
  static gkhi_field Field(uint8_t type, uint8_t size, uint8_t show = GKHI_SHOW_DEC, uint32_t count = 0) {
    gkhi_field f{};
    f.name = "f";
    f.type = type;
    f.size = size;
    f.show = show;
    f.form = count != 0 ? GKHI_FORM_ARRAY : GKHI_FORM_SCALAR;
    f.max = count;
    f.len_offset = GKHI_NO_OFFSET;
    return f;
  }
  template <typename T>
  std::string Show(gkhi_field field, T value, char format = 0) {
    return ShowBytes(field, &value, sizeof(value), format);
  }
};

TEST_F(Values, Integers) {
  EXPECT_EQ(Show(Field('u', 8), uint64_t{0}), "0");
  EXPECT_EQ(Show(Field('u', 8), ~uint64_t{0}), "18446744073709551615");
  EXPECT_EQ(Show(Field('s', 8), std::numeric_limits<int64_t>::min()), "-9223372036854775808");
  EXPECT_EQ(Show(Field('s', 1), int8_t{-1}), "-1");
  EXPECT_EQ(Show(Field('s', 2), int16_t{-300}), "-300");
  EXPECT_EQ(Show(Field('u', 4, GKHI_SHOW_HEX), 0xdeadbeefu), "0xdeadbeef");
  EXPECT_EQ(Show(Field('u', 4, GKHI_SHOW_OCT), 0755u), "0755");
  EXPECT_EQ(Show(Field('u', 4, GKHI_SHOW_OCT), 0u), "0");
  EXPECT_EQ(Show(Field('u', 1, GKHI_SHOW_CHAR), 'A'), "'A'");
  EXPECT_EQ(Show(Field('u', 1, GKHI_SHOW_CHAR), '\''), "'\\''");
  EXPECT_EQ(Show(Field('s', 4), int32_t{-1}, 'x'), "0xffffffff");
  EXPECT_EQ(Show(Field('u', 4, GKHI_SHOW_HEX), 255u, 'd'), "255");
  EXPECT_EQ(Show(Field('o', 1), uint8_t{1}), "true");
  EXPECT_EQ(Show(Field('p', 8), uint64_t{0x7f00}), "0x7f00");
}

TEST_F(Values, EnumsAndFlags) {
  const gkhi_enumerator names[] = {{"down", 0}, {"up", 1}, {"broken", -1}};
  gkhi_field link = Field('e', 1);
  link.enumerators = names;
  link.n_enumerators = 3;
  EXPECT_EQ(Show(link, uint8_t{0}), "down");
  EXPECT_EQ(Show(link, uint8_t{255}), "broken");
  EXPECT_EQ(Show(link, uint8_t{7}), "7");
  const gkhi_enumerator bits[] = {{"READ", 1}, {"WRITE", 2}};
  gkhi_field flags = Field('g', 4);
  flags.enumerators = bits;
  flags.n_enumerators = 2;
  EXPECT_EQ(Show(flags, 3u), "READ|WRITE");
  EXPECT_EQ(Show(flags, 0x42u), "WRITE|0x40");
  EXPECT_EQ(Show(flags, 0x40u), "0x40");
  EXPECT_EQ(Show(flags, 0u), "0");
}

TEST_F(Values, AddressesAsInetNtopHasThem) {
  const uint8_t v4[4] = {192, 168, 0, 1};
  EXPECT_EQ(ShowBytes(Field('u', 1, GKHI_SHOW_IPV4, 4), v4, 4), "192.168.0.1");
  std::mt19937_64 rng(7);
  for (int i = 0; i < 20000; i++) {
    uint8_t v6[16] = {};
    // Mostly zeros, so that every way to shorten turns up.
    for (int g = 0; g < 8; g++) {
      const uint64_t r = rng();
      if (r % 3 == 0) v6[2 * g + 1] = static_cast<uint8_t>(r >> 8 & ((r >> 20 & 1) ? 0xff : 1));
      if (r % 9 == 0) v6[2 * g] = static_cast<uint8_t>(r >> 16);
      if (r % 31 == 0) v6[2 * g] = v6[2 * g + 1] = 0xff;
    }
    if (i % 5 == 0) std::memset(v6, 0, 10);
    char text[INET6_ADDRSTRLEN];
    inet_ntop(AF_INET6, v6, text, sizeof(text));
    ASSERT_EQ(ShowBytes(Field('u', 1, GKHI_SHOW_IPV6, 16), v6, 16), text);
  }
}

TEST_F(Values, MacUuidArraysAndText) {
  const uint8_t bytes[16] = {0xde, 0xad, 0xbe, 0xef, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  EXPECT_EQ(ShowBytes(Field('u', 1, GKHI_SHOW_MAC, 6), bytes, 6), "de:ad:be:ef:00:01");
  EXPECT_EQ(ShowBytes(Field('u', 1, GKHI_SHOW_UUID, 16), bytes, 16), "deadbeef-0001-0203-0405-060708090a0b");
  EXPECT_EQ(ShowBytes(Field('u', 2, GKHI_SHOW_DEC, 3), bytes, 6), "[44510,61374,256]");
  EXPECT_EQ(ShowBytes(Field('u', 1, GKHI_SHOW_CHAR, 8), "eth0\0xxx", 8), "eth0");
}

TEST_F(Values, Strings) {
  gkhi_field f = Field('c', 1);
  f.offset = GKHI_NO_OFFSET;
  f.max = 16;
  const gkhi_event event{};
  const uint64_t frame[1] = {};
  const gkhi_payload payload{&event, 1, frame};
  const auto show = [&](const char *s) {
    return Line([&](gkhi_line *l) { gkhi_line_value(l, &payload, &f, reinterpret_cast<uintptr_t>(s), 0); });
  };
  EXPECT_EQ(show("eth0"), "eth0");
  EXPECT_EQ(show(""), "\"\"");
  EXPECT_EQ(show("a b"), "\"a b\"");
  EXPECT_EQ(show("q\"\\\n\t\x01"), "\"q\\\"\\\\\\n\\t\\x01\"");
  EXPECT_EQ(show("0123456789abcdefgh"), "0123456789abcde");
  EXPECT_EQ(show(nullptr), "(null)");
}

// ------------------------------------------------------------------ the backend

class Printk : public testing::Test {
 protected:
  void SetUp() override {
    fake_port = {};
    fake_port.pid = 4711;
    char dir[] = "/tmp/gkhi-printk-XXXXXX";
    ASSERT_NE(mkdtemp(dir), nullptr);
    dir_ = dir;
    fields_[0].name = "len";
    fields_[0].type = GKHI_T_UINT;
    fields_[0].size = 4;
    fields_[0].len_offset = GKHI_NO_OFFSET;
    fields_[1].name = "dev";
    fields_[1].type = GKHI_T_STRING;
    fields_[1].size = 1;
    fields_[1].offset = fields_[1].len_offset = GKHI_NO_OFFSET;
    fields_[1].max = 2000;
    event_.provider = "netdemo";
    event_.name = "rx";
    event_.loglevel = 6;
    event_.message = "{{dev}}={dev} len={len} hex={len:x} none={nobody} {";
    event_.fields = fields_;
    event_.n_fields = 2;
    event_.fixed_words = 1;
    event_.n_tails = 1;
  }
  void TearDown() override {
    if (channel_.backend != nullptr) channel_.backend->close(&channel_);
    std::system(("rm -rf " + dir_).c_str());
    EXPECT_EQ(fake_port.n_alloc, 0u);
  }
  int Open(const std::string &target, uint32_t rate = 0) {
    const gkhi_backend *printk = gkhi_backend_find("printk");
    channel_ = {};
    std::strcpy(channel_.config.target, target.c_str());
    channel_.config.rate = rate;
    const int err = printk->open(&channel_);
    if (err == 0) channel_.backend = printk;
    return err;
  }
  int Write(uint64_t len, const char *dev) {
    const uint64_t frame[] = {len, reinterpret_cast<uintptr_t>(dev)};
    const gkhi_payload payload{&event_, 5, frame};
    errno = 4242;
    const int err = channel_.backend->write(&channel_, &payload);
    EXPECT_EQ(errno, 4242) << "errno is the host's";
    return err;
  }
  gkhi_channel_stats Stats() {
    gkhi_channel_stats stats;
    channel_.backend->stats(&channel_, &stats);
    return stats;
  }
  static std::string Content(const std::string &path) {
    std::stringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }

  std::string dir_;
  gkhi_field fields_[2] = {};
  gkhi_event event_{};
  gkhi_channel channel_{};
};

TEST_F(Printk, GoldenLine) {
  ASSERT_EQ(Open(dir_ + "/log"), 0);
  EXPECT_EQ(Write(60, "eth0"), 0);
  EXPECT_EQ(Write(61, "a b"), 0);
  EXPECT_EQ(Content(dir_ + "/log"),
            "netdemo:rx: {dev}=eth0 len=60 hex=0x3c none={nobody} {\n"
            "netdemo:rx: {dev}=\"a b\" len=61 hex=0x3d none={nobody} {\n");
  EXPECT_EQ(Stats().events, 2u);
}

// As gkhi report shows them: see the reader's tests of values.
TEST_F(Printk, NothingSteersTheTerminal) {
  const std::pair<const char *, const char *> cases[] = {
      {"gr\xc3\xbc\xc3\x9f\xe2\x82\xac\xf0\x9f\x98\x80", "gr\xc3\xbc\xc3\x9f\xe2\x82\xac\xf0\x9f\x98\x80"},
      {"\xc2\xa0", "\xc2\xa0"},
      {"a\x1b[2J", R"("a\x1b[2J")"},
      {"\x1b]0;t\x07", R"("\x1b]0;t\x07")"},
      {"a\r\n\tb\x7f", R"("a\x0d\n\tb\x7f")"},
      {"a\xc2\x9b", R"("a\xc2\x9b")"},
      {"\xc2\x80\xc2\x9f", R"("\xc2\x80\xc2\x9f")"},
      {"\x9b\xff", R"("\x9b\xff")"},
      {"\xc0\x9b \xe0\x82\x9b", R"("\xc0\x9b \xe0\x82\x9b")"},
      {"\xed\xa0\x80\xf4\x90\x80\x80", R"("\xed\xa0\x80\xf4\x90\x80\x80")"},
      {"\xe2\x82", R"("\xe2\x82")"},
  };
  ASSERT_EQ(Open(dir_ + "/log"), 0);
  std::string wanted;
  for (const auto &[text, shown] : cases) {
    EXPECT_EQ(Write(1, text), 0);
    wanted += fmt::format("netdemo:rx: {{dev}}={} len=1 hex=0x1 none={{nobody}} {{\n", shown);
  }
  EXPECT_EQ(Content(dir_ + "/log"), wanted);
}

TEST_F(Printk, CutLinesEndWithAWholeCharacter) {
  ASSERT_EQ(Open(dir_ + "/log"), 0);
  for (const std::string character : {"\xc3\xbc", "\xe2\x82\xac", "\xf0\x9f\x98\x80"}) {
    for (size_t before = 0; before < 4; before++) {
      std::string text(before, 'x');
      while (text.size() < 1900) text += character;
      EXPECT_EQ(Write(60, text.c_str()), 0);
      std::string line = Content(dir_ + "/log");
      line = line.substr(line.rfind('\n', line.size() - 2) + 1);
      EXPECT_LE(line.size(), 1024u);
      EXPECT_EQ(line.substr(line.size() - 4 - character.size()), character + "...\n");
      EXPECT_EQ((line.size() - before - sizeof("netdemo:rx: {dev}=...")) % character.size(), 0u);
    }
  }
}

TEST_F(Printk, LongLinesAreCutAndSaySo) {
  ASSERT_EQ(Open(dir_ + "/log"), 0);
  EXPECT_EQ(Write(60, std::string(1900, 'x').c_str()), 0);
  const std::string text = Content(dir_ + "/log");
  EXPECT_LE(text.size(), 1024u);
  EXPECT_EQ(text.substr(text.size() - 8), "xxxx...\n");
}

TEST_F(Printk, FilesAreAppendedTo) {
  std::ofstream(dir_ + "/log") << "before\n";
  ASSERT_EQ(Open(dir_ + "/log"), 0);
  EXPECT_EQ(Write(1, "eth0"), 0);
  EXPECT_EQ(Content(dir_ + "/log").substr(0, 18), "before\nnetdemo:rx:");
}

TEST_F(Printk, RateIsKeptAndTheNextLineTellsTheLoss) {
  ASSERT_EQ(Open(dir_ + "/log", 10), 0);
  int passed = 0;
  for (int i = 0; i < 100; i++) passed += Write(1, "eth0") == 0;
  EXPECT_GE(passed, 10);
  EXPECT_LE(passed, 12) << "a burst is one second's worth";
  EXPECT_EQ(Stats().lost[GKHI_LOST_RATE], 100u - passed);
  usleep(150000);
  EXPECT_EQ(Write(2, "eth0"), 0);
  const std::string text = Content(dir_ + "/log");
  EXPECT_NE(text.find(fmt::format(" [{} lost before]\n", 100 - passed)), std::string::npos) << text;
}

TEST_F(Printk, FullDiskIsCountedAsLoss) {
  if (access("/dev/full", W_OK) != 0) GTEST_SKIP() << "no /dev/full";
  ASSERT_EQ(Open("/dev/full"), 0);
  EXPECT_EQ(Write(1, "eth0"), -EIO);
  EXPECT_EQ(Stats().lost[GKHI_LOST_IO], 1u);
  EXPECT_EQ(Stats().events, 0u);
}

TEST_F(Printk, FileSizeLimitDoesNotKill) {
  ASSERT_EQ(Open(dir_ + "/log"), 0);
  rlimit old, tiny;
  getrlimit(RLIMIT_FSIZE, &old);
  tiny = old;
  tiny.rlim_cur = 10;
  setrlimit(RLIMIT_FSIZE, &tiny);
  const int first = Write(1, "eth0"), second = Write(1, "eth0");
  setrlimit(RLIMIT_FSIZE, &old);
  EXPECT_EQ(first, -EIO) << "a line that was cut by the kernel is a lost line";
  EXPECT_EQ(second, -EIO);
  EXPECT_EQ(Stats().lost[GKHI_LOST_IO], 2u);
}

TEST_F(Printk, ReaderThatWentAwayDoesNotKill) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const int saved = dup(STDERR_FILENO);
  dup2(ends[1], STDERR_FILENO);
  close(ends[1]);
  const int opened = Open("stderr");
  close(ends[0]);
  const int err = opened == 0 ? Write(1, "eth0") : opened;
  dup2(saved, STDERR_FILENO);
  close(saved);
  ASSERT_EQ(opened, 0);
  EXPECT_EQ(err, -EIO);
  sigset_t pending;
  sigpending(&pending);
  EXPECT_EQ(sigismember(&pending, SIGPIPE), 0) << "no signal is left behind";
}

// What nobody reads holds nobody up: the lines that fit are written, the others counted.
TEST_F(Printk, FullPipesDoNotBlock) {
  for (const bool fifo : {false, true}) {
    const std::string path = dir_ + "/fifo";
    int ends[2];
    if (fifo) {
      ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
      ends[0] = open(path.c_str(), O_RDONLY | O_NONBLOCK);
    } else {
      ASSERT_EQ(pipe(ends), 0);
    }
    const int saved = dup(STDERR_FILENO);
    if (!fifo) {
      dup2(ends[1], STDERR_FILENO);
      close(ends[1]);
    }
    const int opened = Open(fifo ? path : "stderr");
    dup2(saved, STDERR_FILENO);
    close(saved);
    ASSERT_EQ(opened, 0);
    alarm(20);  // of a test that hangs
    int written = 0;
    for (int i = 0; i < 2000; i++) written += Write(1, std::string(900, 'x').c_str()) == 0;
    EXPECT_GT(written, 10);
    EXPECT_LT(written, 2000);
    EXPECT_EQ(Stats().lost[GKHI_LOST_IO], 2000u - written);
    std::string text(1 << 20, 0);
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    ssize_t n = 0, got;
    while ((got = read(ends[0], text.data(), text.size())) > 0) n += got;
    EXPECT_GE(n, 900 * written) << "whole lines";
    EXPECT_EQ(Write(2, "eth0"), 0) << "there is room again";
    alarm(0);
    channel_.backend->close(&channel_);
    channel_.backend = nullptr;
    close(ends[0]);
  }
}

TEST_F(Printk, NothingGoesIntoAFileOfTheHosts) {
  ASSERT_EQ(Open(dir_ + "/log"), 0);
  for (int fd = 3; fd < 1024; fd++) close(fd);  // as daemons do
  std::vector<int> theirs;
  for (int i = 0; i < 300; i++)
    theirs.push_back(open((dir_ + "/precious").c_str(), O_CREAT | O_WRONLY, 0600));
  EXPECT_EQ(Write(1, "eth0"), -EIO);
  EXPECT_EQ(Content(dir_ + "/precious"), "");
  EXPECT_EQ(Stats().lost[GKHI_LOST_IO], 1u);
  channel_.backend->close(&channel_);
  channel_.backend = nullptr;
  for (int fd : theirs) {
    EXPECT_NE(fcntl(fd, F_GETFD), -1) << "a descriptor of the host's was closed";
    close(fd);
  }
}

TEST_F(Printk, SyslogDatagrams) {
  const std::string path = dir_ + "/log.socket";
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  std::strcpy(name.sun_path, path.c_str());
  EXPECT_EQ(Open("syslog:" + path), -ENOENT);
  int daemon = socket(AF_UNIX, SOCK_DGRAM, 0);
  ASSERT_EQ(bind(daemon, reinterpret_cast<sockaddr *>(&name), sizeof(name)), 0);
  ASSERT_EQ(Open("syslog:" + path), 0);
  event_.loglevel = 4;
  EXPECT_EQ(Write(60, "eth0"), 0);
  char text[2000];
  ssize_t n = recv(daemon, text, sizeof(text), MSG_DONTWAIT);
  ASSERT_GT(n, 0);
  std::ifstream comm_file("/proc/self/comm");
  std::string comm;
  std::getline(comm_file, comm);
  EXPECT_EQ(std::string(text, static_cast<size_t>(n)),
            fmt::format("<12>{}[4711]: netdemo:rx: {{dev}}=eth0 len=60 hex=0x3c none={{nobody}} {{", comm));
  // The daemon starts anew: one line is lost at most.
  close(daemon);
  unlink(path.c_str());
  EXPECT_EQ(Write(61, "eth0"), -EIO);
  daemon = socket(AF_UNIX, SOCK_DGRAM, 0);
  ASSERT_EQ(bind(daemon, reinterpret_cast<sockaddr *>(&name), sizeof(name)), 0);
  EXPECT_EQ(Write(62, "eth0"), 0);
  n = recv(daemon, text, sizeof(text), MSG_DONTWAIT);
  ASSERT_GT(n, 0);
  EXPECT_NE(std::string(text, static_cast<size_t>(n)).find("[1 lost before]"), std::string::npos);
  close(daemon);
}

TEST_F(Printk, BadTargets) {
  EXPECT_EQ(Open(dir_ + "/no/such/folder/log"), -ENOENT);
  EXPECT_EQ(Open("syslog:/" + std::string(150, 'x')), -ENAMETOOLONG);
  ASSERT_EQ(mkfifo((dir_ + "/fifo").c_str(), 0600), 0);
  EXPECT_EQ(Open(dir_ + "/fifo"), -ENXIO) << "nobody reads it: to wait for one would hold the host up";
}

}  // namespace
