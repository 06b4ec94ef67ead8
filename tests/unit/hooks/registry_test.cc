// SPDX-License-Identifier: MIT
// Names, layouts, ids, order, and what outlives an object.
#include <algorithm>

#include "fake_port.hpp"

namespace gkhi_test {

class RegistryTest : public CoreTest {};

static std::vector<std::string> Names() {
  std::vector<std::string> names;
  for (gkhi_hook_entry *e = gkhi_core_next(nullptr); e; e = gkhi_core_next(e)) {
    gkhi_hook_info info;
    gkhi_core_describe(e, &info);
    names.emplace_back(info.name);
  }
  return names;
}

TEST_F(RegistryTest, IdsAreGivenInOrderOfRegistration) {
  Object a, b;
  a.Usual("net:tx");
  a.Usual("net:rx");
  b.Usual("aaa:first");
  Add(a);
  Add(b);
  EXPECT_EQ(Describe("net:tx").id, 1u);
  EXPECT_EQ(Describe("net:rx").id, 2u);
  EXPECT_EQ(Describe("aaa:first").id, 3u);
  EXPECT_EQ(a.hook(1)->id, 2u);
  EXPECT_EQ(a.hook(1)->header, 2u);
  EXPECT_EQ(a.hook(1)->step, gkhi_commit_step(2));
}

TEST_F(RegistryTest, ListedByName) {
  Object a;
  a.Usual("net:tx");
  a.Usual("disk:read");
  a.Usual("net:rx");
  Add(a);
  EXPECT_EQ(Names(), (std::vector<std::string>{"disk:read", "net:rx", "net:tx"}));
  Object b;
  b.Usual("mem:map");
  Add(b);
  EXPECT_EQ(Names(), (std::vector<std::string>{"disk:read", "mem:map", "net:rx", "net:tx"}));
}

TEST_F(RegistryTest, TenThousandAreSortedAndFound) {
  Object a(16 << 20);
  std::vector<std::string> names;
  for (int i = 0; i < 10000; i++) {
    names.push_back("p" + std::to_string(i * 7919 % 10007) + ":e");
    a.Hook(names.back());
  }
  Add(a);
  std::sort(names.begin(), names.end());
  EXPECT_EQ(Names(), names);
  for (const std::string &name : names) ASSERT_STREQ(Describe(name).name, name.c_str());
}

TEST_F(RegistryTest, TheSameHookInTwoObjectsIsOneEntry) {
  Object a, b;
  a.Usual("net:rx");
  b.Usual("net:rx");
  Add(a);
  Add(b);
  EXPECT_EQ(Names().size(), 1u);
  EXPECT_EQ(Describe("net:rx").n_keys, 2u);
  EXPECT_EQ(Describe("net:rx").n_pads, 2u);
  EXPECT_EQ(b.hook(0)->id, 1u);
}

TEST_F(RegistryTest, AnotherLayoutIsAnotherEntry) {
  Object a, b;
  a.Usual("net:rx");
  b.Hook("net:rx", 77);
  b.Key(0);
  b.Event("net:rx", 77);
  Add(a);
  Add(b);
  EXPECT_EQ(Names(), (std::vector<std::string>{"net:rx", "net:rx"}));
  EXPECT_EQ(Describe("net:rx").id, 1u);
  EXPECT_EQ(Describe("net:rx", 77).id, 2u);
  EXPECT_EQ(Batch("net:rx=static").err, 0);
  EXPECT_TRUE(a.KeyJumps(0));
  EXPECT_TRUE(b.KeyJumps(0));
}

TEST_F(RegistryTest, AnIdIsKeptOverUnloadingAndNeverReused) {
  Object a, other;
  a.Usual("net:rx");
  other.Usual("net:tx");
  Add(a);
  Remove(a);
  EXPECT_TRUE(Describe("net:rx").gone);
  EXPECT_EQ(Describe("net:rx").n_keys, 0u);
  Add(other);
  EXPECT_EQ(Describe("net:tx").id, 2u);
  Object again;
  again.Usual("net:rx");
  Add(again);
  EXPECT_EQ(Describe("net:rx").id, 1u);
  EXPECT_FALSE(Describe("net:rx").gone);
}

TEST_F(RegistryTest, DescriptorsOutliveTheirObject) {
  {
    Object a;
    a.Usual("net:rx");
    Add(a);
    Remove(a);
  }
  const gkhi_event *event = Describe("net:rx").event;
  ASSERT_TRUE(event);
  EXPECT_STREQ(event->provider, "net");
  EXPECT_STREQ(event->name, "rx");
  EXPECT_STREQ(event->fields[0].name, "a");
  EXPECT_STREQ(event->ctf, "struct { u64 a; }");
  EXPECT_STREQ(event->default_channel, "main");
}

TEST_F(RegistryTest, CopiesHoldEnumeratorsAndMissingStrings) {
  const gkhi_enumerator values[] = {{"down", 0}, {"up", 1}};
  const gkhi_field fields[] = {
      {"state", GKHI_T_ENUM, 4, 0, 0, 0, GKHI_NO_OFFSET, 0, 2, values},
      {"name", GKHI_T_STRING, 1, 2, 0, GKHI_NO_OFFSET, GKHI_NO_OFFSET, 16, 0, nullptr},
  };
  gkhi_event event{};
  event.provider = "net";
  event.name = "link";
  event.fields = fields;
  event.n_fields = 2;
  gkhi_event *copy = gkhi_event_copy(&event);
  ASSERT_TRUE(copy);
  EXPECT_NE(copy->fields, fields);
  EXPECT_STREQ(copy->fields[0].enumerators[1].name, "up");
  EXPECT_NE(copy->fields[0].enumerators[1].name, values[1].name);
  EXPECT_EQ(copy->fields[0].enumerators[1].value, 1);
  EXPECT_STREQ(copy->fields[1].name, "name");
  EXPECT_EQ(copy->doc, nullptr);
  gkhi_event_copy_free(copy);
}

TEST_F(RegistryTest, AHookWithoutDescriptorAndADescriptorWithoutHookAreListed) {
  Object a;
  a.Hook("net:nodesc");
  a.Key(0);
  a.Event("net:nosite");
  Add(a);
  EXPECT_EQ(Names(), (std::vector<std::string>{"net:nodesc", "net:nosite"}));
  EXPECT_EQ(Batch("net:*=static").err, 0);
  EXPECT_EQ(StateOf("net:nodesc"), "static/disabled (no descriptor with this layout linked in)");
  EXPECT_EQ(StateOf("net:nosite"), "static/disabled (no site compiled in)");
}

TEST_F(RegistryTest, BoundsNamedTwiceCountOnce) {
  Object a;
  a.Usual("net:rx");
  Add(a);
  Add(a);
  EXPECT_EQ(Describe("net:rx").n_keys, 1u);
  Remove(a);
  EXPECT_FALSE(Describe("net:rx").gone);
  Remove(a);
  EXPECT_TRUE(Describe("net:rx").gone);
}

TEST_F(RegistryTest, AnObjectOfAnotherVersionIsRefused) {
  Object a;
  a.Usual("net:rx");
  a.Module();
  port_control_lock();
  gkhi_module *m = a.Module();
  m->abi = GKHI_ABI_VERSION + 1;
  EXPECT_EQ(gkhi_core_add(m), -EPROTO);
  port_control_unlock();
  EXPECT_TRUE(Names().empty());
}

TEST_F(RegistryTest, BrokenPartsAreLeftAsideAndToldOfOnce) {
  Object a;
  const int rx = a.Usual("net:rx");
  a.Hook("nocolon");
  const int stray = a.Hook("net:tx");
  a.Key(stray);
  gkhi_module *m = a.Module();
  auto *keys = static_cast<gkhi_key *>(const_cast<void *>(m->keys_start));
  keys[1].hook += 8;  // between two hooks
  ASSERT_EQ(AddResult(a), 0);
  EXPECT_EQ(Names(), (std::vector<std::string>{"net:rx", "net:tx"}));
  EXPECT_EQ(Describe("net:rx").n_keys, 1u);
  EXPECT_EQ(Describe("net:tx").n_keys, 0u);
  EXPECT_EQ(a.hook(rx)->stub, static_cast<const void *>(gkhi_stub_none));
  ASSERT_EQ(world.log.size(), 1u);
  EXPECT_EQ(world.log[0],
            "2 records, keys or hooks of an object are not as this runtime knows them: left alone");
}

TEST_F(RegistryTest, MoreEventsThanIds) {
  Object a(160 << 20);
  for (unsigned int i = 0; i < GKHI_ID_MAX + 2; i++) a.Hook("p:e" + std::to_string(i));
  a.Event("p:e" + std::to_string(GKHI_ID_MAX - 1));
  a.Event("p:e" + std::to_string(GKHI_ID_MAX));
  a.Key(GKHI_ID_MAX - 1);
  a.Key(GKHI_ID_MAX);
  Add(a);
  EXPECT_EQ(Describe("p:e" + std::to_string(GKHI_ID_MAX - 1)).id, GKHI_ID_MAX);
  EXPECT_EQ(Describe("p:e" + std::to_string(GKHI_ID_MAX)).id, 0u);
  ASSERT_EQ(Batch("p:e65533 p:e65534 +static").err, 0);
  EXPECT_EQ(StateOf("p:e65533"), "static");
  EXPECT_EQ(StateOf("p:e65534"), "static/disabled (more than 65534 events)");
}

TEST_F(RegistryTest, WhenMemoryFailsAnObjectIsAddedWholeOrNotAtAll) {
  for (int n = 1;; n++) {
    Object a;
    for (int i = 0; i < 100; i++) a.Usual("net:e" + std::to_string(i));
    world.fail_alloc_at = n;
    const int err = AddResult(a);
    world.fail_alloc_at = 0;
    if (!err) {
      std::printf("the object came in whole at allocation %d\n", n);
      EXPECT_EQ(Names().size(), 100u);
      break;
    }
    ASSERT_EQ(err, -ENOMEM);
    ASSERT_TRUE(Names().empty()) << "at allocation " << n;
    ASSERT_EQ(a.hook(0)->priv, nullptr);
    ASSERT_EQ(gkhi_core.objects, nullptr);
  }
}

}  // namespace gkhi_test
