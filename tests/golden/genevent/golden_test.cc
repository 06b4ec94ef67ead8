// SPDX-License-Identifier: MIT
// Golden files: what genevent writes, and what it says, byte for byte.
//
//   pass/NAME.yaml     -> NAME.h NAME.c NAME.ctf NAME.md NAME.sites.h
//   fail/NAME.yaml     -> NAME.err, the text on standard error
//   compat/NAME.yaml   -> NAME.err, compared with compat/base.yaml; the name says the outcome: ok-, warn-,
//   break-
//
// GKHI_UPDATE_GOLDEN=1 writes the expected files anew: read the difference before you commit it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "compat.hpp"
#include "emit.hpp"
#include "files.hpp"
#include "front.hpp"

namespace genevent {
namespace {

namespace fs = std::filesystem;

const char *const kRoot = GKHI_GOLDEN_DIR;

std::string Read(const fs::path &path) {
  std::string text;
  const std::string failure = ReadFile(path.string(), &text);
  EXPECT_EQ(failure, "");
  return text;
}

void ExpectGolden(const fs::path &path, const std::string &text) {
  if (std::getenv("GKHI_UPDATE_GOLDEN") != nullptr) {
    ASSERT_EQ(WriteFile(path.string(), text, true), "");
    return;
  }
  EXPECT_EQ(Read(path), text) << path;
}

std::vector<std::string> Fixtures(const std::string &folder) {
  std::vector<std::string> names;
  for (const auto &entry : fs::directory_iterator(fs::path(kRoot) / folder)) {
    if (entry.path().extension() == ".yaml") names.push_back(entry.path().stem());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string TestName(const testing::TestParamInfo<std::string> &info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

fs::path Place(const std::string &folder, const std::string &name, const char *extension) {
  return fs::path(kRoot) / folder / (name + extension);
}

class PassTest : public testing::TestWithParam<std::string> {};

TEST_P(PassTest, WritesTheGoldenFiles) {
  const std::string &name = GetParam();
  const Source source(name + ".yaml", Read(Place("pass", name, ".yaml")));
  Result<Checked> checked = Load(source);
  ASSERT_TRUE(checked.ok()) << Render(source, checked.errors());
  EXPECT_TRUE(checked.value().warnings.empty());
  const Model &model = checked.value().model;
  ExpectGolden(Place("pass", name, ".h"), EmitHeader(model));
  ExpectGolden(Place("pass", name, ".c"), EmitSource(model));
  ExpectGolden(Place("pass", name, ".ctf"), EmitCtf(model));
  ExpectGolden(Place("pass", name, ".md"), EmitDoc(model));
  ExpectGolden(Place("pass", name, ".sites.h"), EmitSites(model, name + ".yaml"));
}

INSTANTIATE_TEST_SUITE_P(Golden, PassTest, testing::ValuesIn(Fixtures("pass")), TestName);

class FailTest : public testing::TestWithParam<std::string> {};

TEST_P(FailTest, SaysWhatIsWrong) {
  const std::string &name = GetParam();
  const Source source(name + ".yaml", Read(Place("fail", name, ".yaml")));
  Result<Checked> checked = Load(source);
  ASSERT_FALSE(checked.ok());
  ASSERT_FALSE(checked.errors().empty());
  for (const Diagnostic &error : checked.errors()) EXPECT_EQ(error.severity, Severity::kError);
  ExpectGolden(Place("fail", name, ".err"), Render(source, checked.errors()));
}

INSTANTIATE_TEST_SUITE_P(Golden, FailTest, testing::ValuesIn(Fixtures("fail")), TestName);

class CompatTest : public testing::TestWithParam<std::string> {};

TEST_P(CompatTest, SaysWhichChangeBreaks) {
  const std::string &name = GetParam();
  const Source old_source("base.yaml", Read(Place("compat", "base", ".yaml")));
  const Source new_source(name + ".yaml", Read(Place("compat", name, ".yaml")));
  Result<Checked> before = Load(old_source);
  Result<Checked> after = Load(new_source);
  ASSERT_TRUE(before.ok());
  ASSERT_TRUE(after.ok()) << Render(new_source, after.errors());
  const Diagnostics found = Compare(before.value().model, after.value().model, "base.yaml");
  const auto count = [&](Severity severity) {
    return std::count_if(found.begin(), found.end(),
                         [&](const Diagnostic &d) { return d.severity == severity; });
  };
  EXPECT_EQ(count(Severity::kError) > 0, name.rfind("break-", 0) == 0);
  EXPECT_EQ(count(Severity::kWarning) > 0, name.rfind("warn-", 0) == 0);
  ExpectGolden(Place("compat", name, ".err"), Render(new_source, found));
}

INSTANTIATE_TEST_SUITE_P(Golden, CompatTest, testing::ValuesIn(Fixtures("compat")), TestName);

TEST(GoldenTest, HasFixturesForEveryTrap) {
  EXPECT_GE(Fixtures("fail").size(), 60u);
  EXPECT_GE(Fixtures("pass").size(), 6u);
}

// What genevent writes belongs to its user: a licence line only where the YAML asks for one.
TEST(GoldenTest, OnlyTheYamlNamesALicence) {
  const std::string rest = "events:\n  - {name: a, fields: [{name: x, type: u32}]}\n";
  Result<Checked> without = Load(Source("demo.yaml", "provider: demo\n" + rest));
  Result<Checked> with = Load(Source("demo.yaml", "provider: demo\nlicense: Apache-2.0\n" + rest));
  ASSERT_TRUE(without.ok() && with.ok());
  for (const auto emit : {EmitHeader, EmitSource}) {
    const std::string text = emit(without.value().model);
    EXPECT_EQ(text.find("SPDX"), std::string::npos);
    EXPECT_EQ(emit(with.value().model), "/* SPDX-License-Identifier: Apache-2.0 */\n" + text);
  }
}

// Adding a field touches that event's part of the header and of the source, nothing else.
TEST(GoldenTest, AFieldChangesOneHunk) {
  const std::string yaml =
      "provider: demo\nevents:\n"
      "  - name: a\n    fields: [{name: x, type: u32}]\n"
      "  - name: b\n    fields: [{name: x, type: u32}]\n"
      "  - name: c\n    fields: [{name: x, type: u32}]\n";
  std::string more = yaml;
  const std::string field = "  - name: b\n    fields: [{name: x, type: u32}";
  more.replace(more.find(field), field.size(), field + ", {name: y, type: string}");
  Result<Checked> before = Load(Source("demo.yaml", yaml));
  Result<Checked> after = Load(Source("demo.yaml", more));
  ASSERT_TRUE(before.ok() && after.ok());
  for (const auto emit : {EmitHeader, EmitSource}) {
    const std::string old_text = emit(before.value().model);
    const std::string new_text = emit(after.value().model);
    ASSERT_NE(old_text, new_text);
    const auto [left, right] = std::mismatch(old_text.begin(), old_text.end(), new_text.begin());
    const size_t begin = static_cast<size_t>(left - old_text.begin());
    size_t end = 0;
    while (old_text[old_text.size() - 1 - end] == new_text[new_text.size() - 1 - end]) end++;
    const std::string changed = old_text.substr(begin, old_text.size() - end - begin);
    EXPECT_EQ(changed.find("demo_a"), std::string::npos) << changed;
    EXPECT_EQ(changed.find("demo_c"), std::string::npos) << changed;
    EXPECT_NE((changed + old_text.substr(0, begin)).find("demo_b"), std::string::npos);
    static_cast<void>(right);
  }
}

}  // namespace
}  // namespace genevent
