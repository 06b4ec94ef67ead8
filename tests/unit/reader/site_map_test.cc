// SPDX-License-Identifier: MIT
// The map of real ELF files, of damaged ones and of a process.
#include <elf.h>
#include <fcntl.h>
#include <gkhi/abi.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <gkhi/reader/site_map.hpp>
#include <random>
#include <sstream>

namespace gkhi::reader {
namespace {

// The files that CMakeLists.txt makes of site_map_fixture.c.
const std::string kDir = SITE_MAP_FIXTURES;

std::string ReadFile(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream bytes;
  bytes << file.rdbuf();
  return bytes.str();
}

SiteMap Load(const std::string &name) {
  Result<SiteMap> map = ReadSiteMap(kDir + "/" + name);
  EXPECT_TRUE(map.ok()) << (map.ok() ? "" : map.error());
  return map.ok() ? *map : SiteMap();
}

const Site *Find(const SiteMap &map, const std::string &event) {
  for (const Site &site : map.sites)
    if (site.event == event) return &site;
  return nullptr;
}

void ExpectFixture(const SiteMap &map, bool symbols) {
  ASSERT_EQ(map.sites.size(), 2u);
  const Site *bare = Find(map, "fix:bare"), *cold = Find(map, "fix:cold");
  ASSERT_TRUE(bare && cold);
  EXPECT_EQ(KindLetter(*bare), 'M');
  EXPECT_EQ(KindLetter(*cold), 'm');
  EXPECT_EQ(bare->layout, 0x2200000011u);
  EXPECT_EQ(bare->line, 19u);
  EXPECT_NE(bare->file.find("site_map_fixture.c"), std::string::npos);
  EXPECT_EQ(bare->container, symbols ? "fixture_bare" : "");
  EXPECT_EQ(bare->bytes, PadBytes::kNop);
  EXPECT_FALSE(bare->misaligned);
  ASSERT_EQ(bare->arguments.size(), 2u);
  EXPECT_EQ(bare->arguments[0].name, "n");
  EXPECT_EQ(bare->arguments[1].type, 'c');
  EXPECT_FALSE(bare->arguments[1].location.empty());
  EXPECT_EQ(cold->arguments.size(), 1u);
}

TEST(SiteMap, Relocatable) {
  const SiteMap map = Load("fixture.o");
  EXPECT_EQ(map.kind, ElfKind::kRelocatable);
  ExpectFixture(map, true);
}

TEST(SiteMap, Program) {
  const SiteMap map = Load("fixture");
  EXPECT_EQ(map.kind, ElfKind::kExecutable);
  EXPECT_EQ(map.build_id.size(), 40u);
  ExpectFixture(map, true);
  EXPECT_NE(map.sites[0].file_offset, 0u);
}

TEST(SiteMap, SharedLibrary) {
  const SiteMap map = Load("libfixture.so");
  EXPECT_EQ(map.kind, ElfKind::kShared);
  ExpectFixture(map, true);
}

TEST(SiteMap, StrippedProgramKeepsItsMap) {
  const SiteMap whole = Load("fixture"), map = Load("fixture.stripped");
  EXPECT_FALSE(map.has_symbols);
  ASSERT_EQ(map.sites.size(), whole.sites.size());
  for (size_t i = 0; i < map.sites.size(); i++) EXPECT_EQ(map.sites[i].address, whole.sites[i].address);
  EXPECT_EQ(map.build_id, whole.build_id);
}

TEST(SiteMap, CompressedModule) {
  for (const char *name : {"fixture.ko.xz", "fixture.ko.zst"}) ExpectFixture(Load(name), true);
}

// Built without patching: places, that nobody offers a probe at.
TEST(SiteMap, SitesThatLoadTheMode) {
  const SiteMap map = Load("libloading.so");
  ASSERT_EQ(map.sites.size(), 2u);
  const Site *cold = Find(map, "fix:cold");
  ASSERT_TRUE(cold);
  EXPECT_EQ(cold->bytes, PadBytes::kNone);
  EXPECT_EQ(KindLetter(*cold), 'm');
  EXPECT_EQ(cold->line, Find(Load("libfixture.so"), "fix:cold")->line);
  EXPECT_EQ(cold->container.substr(0, 12), "fixture_cold");
  EXPECT_FALSE(cold->misaligned);
  EXPECT_TRUE(cold->arguments.empty());
  EXPECT_NE(SiteMapText(map).find(" m- fix:cold fixture_cold"), std::string::npos) << SiteMapText(map);
  for (const ProbeFormat format : {ProbeFormat::kTracefs, ProbeFormat::kPerf, ProbeFormat::kBpftrace}) {
    const std::string text = ProbeText(map, format);
    EXPECT_NE(text.find(" fix:cold at "), std::string::npos) << text;
    EXPECT_NE(text.find(": no pad to place a probe at\n"), std::string::npos) << text;
    EXPECT_EQ(text.find("uprobe:"), std::string::npos);
    EXPECT_EQ(text.find("\np:"), std::string::npos);
    EXPECT_EQ(text.find("perf probe"), std::string::npos);
  }
}

TEST(SiteMap, FileWithoutSites) {
  Result<SiteMap> map = ReadSiteMap("/proc/self/exe");
  ASSERT_TRUE(map.ok()) << map.error();
  EXPECT_TRUE(map->sites.empty());
}

TEST(SiteMap, Text) {
  SiteMap map;
  map.path = "demo";
  map.build_id = "abcd";
  Site site;
  site.address = 0x1234;
  site.event = "zlib:match";
  site.container = "deflate_slow.constprop.0";
  site.container_offset = 0x140;
  site.function = "deflate_slow";
  site.file = "deflate.c";
  site.line = 2020;
  site.kind = GKHI_SITE_BEFORE_CALL;
  site.bare = true;
  site.layout = 0x1122334455667788;
  site.bytes = PadBytes::kNop;
  site.arguments = {{"head", 'u', 4, "%esi"}, {"start", 'u', 4, "%rbx>172"}};
  map.sites.push_back(site);
  site.event = "bad\x1b[31m name";
  site.container = "";
  site.bytes = PadBytes::kOther;
  map.sites.push_back(site);
  EXPECT_EQ(
      SiteMapText(map),
      "# gkhi map 1\n# file: demo  (executable)\n# build-id: abcd\n# sites: 2  events: 2\n"
      "# event bad?[31m?name layout 0x1122334455667788 sites 1\n"
      "# event zlib:match layout 0x1122334455667788 sites 1\n"
      "0000000000001234 B zlib:match deflate_slow.constprop.0+0x140 deflate.c:2020 head:u4@%esi "
      "start:u4@%rbx>172\n"
      "0000000000001234 B! bad?[31m?name - deflate.c:2020 src=deflate_slow head:u4@%esi start:u4@%rbx>172\n");
}

TEST(SiteMap, JsonSurvivesBytesThatAreNoText) {
  SiteMap map = Load("fixture");
  map.sites[0].event = "a\xff\x01\"b";
  const std::string json = SiteMapJson({map});
  EXPECT_NE(json.find("\\u0001\\\"b"), std::string::npos);
}

// -------------------------------------------------------------- probes for others

SiteMap ProbeMap(std::vector<SiteArgument> arguments) {
  SiteMap map;
  map.path = "/lib/z.so";
  Site site;
  site.address = 0x2000;
  site.file_offset = 0x1000;
  site.event = "z:m";
  site.arguments = std::move(arguments);
  map.sites.push_back(site);
  map.sites.push_back(site);
  map.sites[1].arguments.clear();
  return map;
}

const std::vector<SiteArgument> kArguments = {
    {"r", 'u', 4, "%esi"},      {"s", 's', 2, "%ax"},         {"c", 's', 4, "$-7"},
    {"m", 'u', 8, "-24(%rsp)"}, {"ch", 'u', 4, "%rbx>172>8"}, {"t", 'c', 1, "%rdi>16+4"},
    {"b", 'u', 4, "%r9>8#3:5"}, {"x", 'f', 8, "%xmm3"},       {"a", 'p', 8, "%rbx+8"}};

TEST(SiteMapProbes, Tracefs) {
  EXPECT_EQ(
      ProbeText(ProbeMap(kArguments), ProbeFormat::kTracefs),
      "# /lib/z.so: probes for other tools. Never while gkhi has the hook on: both would patch the pad.\n"
      "# left out, the kernel cannot read them: x a\n"
      "p:gkhi_z/m /lib/z.so:0x1000 r=%si:u32 s=%ax:s16 c=\\-7:s32 m=-24(%sp):u64 ch=+8(+172(%bx)):u32 "
      "t=+4(+16(%di)):string b=+8(%r9):b5@3/32\n"
      "p:gkhi_z/m_1 /lib/z.so:0x1000\n");
}

TEST(SiteMapProbes, Perf) {
  EXPECT_EQ(
      ProbeText(ProbeMap({{"r", 'u', 4, "%esi"}}), ProbeFormat::kPerf),
      "# /lib/z.so: probes for other tools. Never while gkhi has the hook on: both would patch the pad.\n"
      "perf probe -x /lib/z.so 'gkhi_z:m=0x2000 r=%si:u32'\n"
      "perf probe -x /lib/z.so 'gkhi_z:m_1=0x2000'\n");
}

TEST(SiteMapProbes, Bpftrace) {
  EXPECT_EQ(
      ProbeText(ProbeMap({kArguments[0], kArguments[4], kArguments[5], kArguments[6], kArguments[7]}),
                ProbeFormat::kBpftrace),
      "// /lib/z.so: probes for other tools. Never while gkhi has the hook on: both would patch the pad.\n"
      "// left out, bpftrace cannot read them: x\n"
      "uprobe:/lib/z.so:0x2000 { printf(\"z:m r=%llu ch=%llu t=%s b=%llu\\n\", (uint32)(reg(\"si\")), "
      "(uint32)(*(uint32*)(*(uint64*)(reg(\"bx\") + 172) + 8)), str(*(uint64*)(reg(\"di\") + 16) + 4), "
      "((*(uint32*)(reg(\"r9\") + 8)) >> 3) & 0x1f); }\n"
      "uprobe:/lib/z.so:0x2000 { printf(\"z:m\\n\"); }\n");
}

// What others run as root gets no code from a file that anybody may have made.
TEST(SiteMapProbes, NamesBringNoCode) {
  SiteMap map = ProbeMap({{"a\nb'c;", 'u', 4, "%esi"}, {"q\n\"", 'f', 8, "%xmm3"}});
  map.sites.pop_back();
  map.sites[0].event = "z'\n:m\\\"); system(\"id";
  EXPECT_EQ(
      ProbeText(map, ProbeFormat::kBpftrace),
      "// /lib/z.so: probes for other tools. Never while gkhi has the hook on: both would patch the pad.\n"
      "// left out, bpftrace cannot read them: q__\n"
      "uprobe:/lib/z.so:0x2000 { printf(\"z__:m_____system__id a_b_c_=%llu\\n\", (uint32)(reg(\"si\"))); "
      "}\n");
  EXPECT_EQ(
      ProbeText(map, ProbeFormat::kPerf),
      "# /lib/z.so: probes for other tools. Never while gkhi has the hook on: both would patch the pad.\n"
      "# left out, the kernel cannot read them: q__\n"
      "perf probe -x /lib/z.so 'gkhi_z__:m_____system__id=0x2000 a_b_c_=%si:u32'\n");
  map.kind = ElfKind::kRelocatable;
  map.sites[0].container = "f'; id; '";
  map.sites[0].section = ".text\n";
  EXPECT_EQ(
      ProbeText(map, ProbeFormat::kPerf),
      "# /lib/z.so: probes for other tools. Never while gkhi has the hook on: both would patch the pad.\n"
      "# z__:m_____system__id at .text\\x0a+0x2000: no symbol to place a probe at\n");
}

TEST(SiteMapProbes, NorDoPaths) {
  for (const std::string path : {"/l/z.so; id", "/l/$(id)", "/l/\n id", "-x", "/l/a b", "/l/\xc2\x9b", ""}) {
    for (const ProbeFormat format : {ProbeFormat::kTracefs, ProbeFormat::kBpftrace, ProbeFormat::kPerf}) {
      SiteMap map = ProbeMap({});
      map.path = path;
      const std::string text = ProbeText(map, format);
      EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2) << text;
      EXPECT_NE(text.find(" left out: a path that not every tool can take"), text.npos) << text;
    }
  }
  SiteMap map = ProbeMap({});
  map.path = "/l\xc3\xbc/z-1.0+x@y~,_.so";
  EXPECT_NE(ProbeText(map, ProbeFormat::kPerf).find("perf probe -x " + map.path + " '"), std::string::npos);
}

// ------------------------------------------------------------------------- check

TEST(SiteMapCheck, NamesWhatIsMissing) {
  const SiteMap map = Load("fixture");
  EXPECT_TRUE(CheckSites({map}, {"fix:bare", "fix:cold"}).empty());
  EXPECT_EQ(CheckSites({map}, {"fix:bare", "fix:gone"}),
            std::vector<std::string>{"event 'fix:gone' has no site"});
}

TEST(SiteMapCheck, NamesLayoutsThatDiffer) {
  SiteMap map = Load("fixture");
  map.sites[1].event = map.sites[0].event;
  map.sites[0].file = map.sites[1].file = "f.c";
  map.sites[0].layout = 1;
  map.sites[1].layout = 2;
  map.sites[0].line = map.sites[1].line = 9;
  const auto problems = CheckSites({map}, {});
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_EQ(problems[0], "event '" + map.sites[0].event +
                             "' has layout 0x1 at f.c:9 and 0x2 at f.c:9: built from different YAML");
}

TEST(SiteMapCheck, NamesASitesHeaderThatNobodyRead) {
  SiteMap map;
  map.path = "x.o";
  map.has_unplaced = true;
  EXPECT_EQ(CheckSites({map}, {}),
            std::vector<std::string>{"x.o: a sites header was compiled without the gkhi pass: use gkhi-cc"});
}

// ------------------------------------------------------------------------ damage

class Damaged : public testing::Test {
 protected:
  void SetUp() override {
    image_ = ReadFile(kDir + "/fixture");
    ASSERT_GT(image_.size(), sizeof(Elf64_Ehdr));
    gkhi_record head{};
    head.magic = GKHI_RECORD_MAGIC;
    head.version = GKHI_RECORD_VERSION;
    at_ = image_.find(std::string(reinterpret_cast<char *>(&head), 3));
    ASSERT_NE(at_, std::string::npos);
  }

  gkhi_record &record() { return *reinterpret_cast<gkhi_record *>(image_.data() + at_); }
  std::string ErrorOf() const {
    Result<SiteMap> map = ReadSiteMapFromImage(image_, "x");
    return map.ok() ? "" : map.error();
  }

  std::string image_;
  size_t at_ = 0;
};

TEST_F(Damaged, Version) {
  record().version = 9;
  EXPECT_EQ(ErrorOf(), "x: record at gkhi_sites+0x0: found version 9, wanted 1");
}

TEST_F(Damaged, Size) {
  for (const uint32_t size : {0u, 27u, 30u, 0x7fffffffu, 0xffffffffu}) {
    record().size = size;
    EXPECT_EQ(ErrorOf(), "x: record at gkhi_sites+0x0: its size " + std::to_string(size) + " is wrong");
  }
}

TEST_F(Damaged, Arguments) {
  record().nargs = 255;
  EXPECT_EQ(ErrorOf(), "x: record at gkhi_sites+0x0: it ends inside of an argument");
}

TEST_F(Damaged, Pad) {
  record().pad = 0x7fffff00;
  EXPECT_EQ(ErrorOf(), "x: record at gkhi_sites+0x0: its pad is outside of the code");
}

TEST_F(Damaged, OtherFiles) {
  EXPECT_EQ(ReadSiteMapFromImage("no elf at all", "x").error(), "x: not an ELF file");
  image_[EI_CLASS] = ELFCLASS32;
  EXPECT_FALSE(ErrorOf().empty());
  EXPECT_EQ(ReadSiteMap("/nowhere/at/all").error(), "/nowhere/at/all: No such file or directory");
  EXPECT_EQ(ReadSiteMap("/dev/null").error(), "/dev/null: cannot be read, or is empty");
  EXPECT_EQ(ReadSiteMapFromImage(ReadFile(kDir + "/fixture.ko.xz").substr(0, 200), "x").error(),
            "x: the xz data is damaged or truncated");
  EXPECT_EQ(ReadSiteMapFromImage(ReadFile(kDir + "/fixture.ko.zst").substr(0, 200), "x").error(),
            "x: the zstd data is damaged or truncated");
}

// No byte of a file may be trusted: every one of the small ones is changed, and every length tried.
TEST_F(Damaged, NeverCrashes) {
  std::mt19937 random(1);
  const std::string object = ReadFile(kDir + "/fixture.o");
  for (const std::string &whole : {object, image_}) {
    for (size_t n = 0; n < 4000; n++) {
      std::string copy = whole;
      for (int i = 0; i < 1 + static_cast<int>(n % 4); i++)
        copy[random() % copy.size()] = static_cast<char>(random());
      (void)ReadSiteMapFromImage(copy, "x");
    }
    for (size_t size = 0; size < whole.size(); size += 1 + whole.size() / 600)
      (void)ReadSiteMapFromImage(whole.substr(0, size), "x");
  }
}

// ----------------------------------------------------------------------- process

TEST(SiteMapProcess, AddressesAreThoseInTheProcess) {
  int in[2], out[2];
  ASSERT_EQ(pipe2(in, O_CLOEXEC), 0);
  ASSERT_EQ(pipe2(out, O_CLOEXEC), 0);
  const pid_t pid = fork();
  if (pid == 0) {
    dup2(in[0], 0);
    dup2(out[1], 1);
    execl((kDir + "/fixture").c_str(), "fixture", nullptr);
    _exit(1);
  }
  char byte = 0;
  ASSERT_EQ(read(out[0], &byte, 1), 1);
  Result<std::vector<SiteMap>> maps = ReadProcessSiteMaps(pid);
  const SiteMap file = Load("fixture");
  EXPECT_TRUE(maps.ok() && maps->size() == 1 && (*maps)[0].sites.size() == file.sites.size());
  if (maps.ok() && maps->size() == 1) {
    EXPECT_NE((*maps)[0].bias, 0u);
    for (size_t i = 0; i < file.sites.size(); i++) {
      EXPECT_EQ((*maps)[0].sites[i].address, file.sites[i].address + (*maps)[0].bias);
      EXPECT_EQ((*maps)[0].sites[i].bytes, PadBytes::kNop);
    }
  }
  close(in[1]);
  int status = 0;
  EXPECT_EQ(waitpid(pid, &status, 0), pid);
  EXPECT_EQ(status, 0);
  EXPECT_FALSE(ReadProcessSiteMaps(pid).ok());
}

}  // namespace
}  // namespace gkhi::reader
