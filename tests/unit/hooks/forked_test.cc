// SPDX-License-Identifier: MIT
// The child of a fork: hooks as they were, channels of its own or none.
#include "fake_port.hpp"

namespace gkhi_test {

class ForkedTest : public CoreTest {
 protected:
  void SetUp() override {
    CoreTest::SetUp();
    rx_ = net_.Usual("net:rx");
    tx_ = net_.Usual("net:tx");
    Add(net_);
    ASSERT_EQ(Batch("channel a; channel b; net:rx=static channel=a; net:tx channel=b").err, 0);
    ASSERT_EQ(Batch("net:tx channel=a,b").err, 0);
  }

  int Forked(bool reopen) {
    port_control_lock();
    const int err = gkhi_core_forked(reopen);
    port_control_unlock();
    return err;
  }

  Object net_;
  int rx_ = 0, tx_ = 0;
};

TEST_F(ForkedTest, WithoutChannelsEventsAreCounted) {
  ASSERT_EQ(Batch("net:tx=marker").err, 0);
  EXPECT_EQ(Forked(false), 0);
  EXPECT_TRUE(world.open_channels.empty()) << "the parent's are left";
  net_.Fire(rx_, 1);
  net_.Fire(rx_, 2);
  net_.Fire(tx_, 3);
  EXPECT_TRUE(world.seen.empty());
  EXPECT_EQ(Describe("net:rx").lost, 2u);
  EXPECT_EQ(Describe("net:tx").lost, 1u);
  EXPECT_EQ(gkhi_core.entry[0]->lost[GKHI_LOST_NO_ROUTE], 2u);
  EXPECT_EQ(StateOf("net:rx"), "static (the channel could not be opened)");
}

TEST_F(ForkedTest, ChannelsOpenedAnew) {
  ASSERT_EQ(Batch("net:tx=marker").err, 0);
  world.declared.clear();
  EXPECT_EQ(Forked(true), 0);
  EXPECT_EQ(world.open_channels, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(StateOf("net:rx"), "static");
  EXPECT_EQ(StateOf("net:tx"), "marker");
  EXPECT_EQ(world.declared, (std::vector<std::string>{"rx/1/0", "tx/2/0"})) << "in the child's own metadata";
  net_.Fire(rx_, 1);
  net_.Fire(tx_, 2);
  EXPECT_EQ(world.seen.size(), 3u);
  EXPECT_EQ(Describe("net:rx").lost, 0u);
  EXPECT_EQ(gkhi_channel_find("a", 1)->users, 2u);
}

// The parent's rows and what they count are none of the child's.
TEST_F(ForkedTest, CountersAndSlotsBeginAnew) {
  gkhi_hook_entry *e = gkhi_core.entry[0];
  net_.Fire(rx_, 1);
  e->own_counters[0] = 7;
  e->own_counters[1] = 8;
  e->lost[GKHI_LOST_RATE] = 8;
  e->suppressed = 9;
  e->slot = 3;
  EXPECT_EQ(Forked(false), 0);
  EXPECT_EQ(Describe("net:rx").hits, 0u);
  EXPECT_EQ(Describe("net:rx").lost, 0u);
  EXPECT_EQ(e->lost[GKHI_LOST_RATE], 0u);
  EXPECT_EQ(e->suppressed, 0u);
  EXPECT_EQ(e->slot, 0u);
  net_.Fire(rx_, 2);
  e->slot = 1;
  EXPECT_EQ(Forked(true), 0);
  EXPECT_EQ(Describe("net:rx").lost, 1u) << "the child's own, before it had channels";
  EXPECT_EQ(e->slot, 1u);
}

TEST_F(ForkedTest, FirstNoneThenItsOwn) {
  ASSERT_EQ(Batch("net:tx=static").err, 0);
  EXPECT_EQ(Forked(false), 0);
  net_.Fire(rx_, 1);
  EXPECT_EQ(Forked(true), 0);
  net_.Fire(rx_, 2);
  net_.Fire(tx_, 3);
  EXPECT_EQ(world.seen.size(), 3u);
  EXPECT_EQ(Describe("net:rx").lost, 1u);
  EXPECT_EQ(StateOf("net:rx"), "static");
}

TEST_F(ForkedTest, AChannelThatCannotBeOpenedAgain) {
  ASSERT_EQ(Batch("net:tx=static").err, 0);
  world.fail_open_at = 2;
  EXPECT_EQ(Forked(true), -ENOSPC);
  net_.Fire(rx_, 1);
  net_.Fire(tx_, 2);
  EXPECT_EQ(world.seen.size(), 1u) << "rx has its channel";
  EXPECT_EQ(StateOf("net:rx"), "static");
  EXPECT_EQ(StateOf("net:tx"), "static (the channel could not be opened)");
  EXPECT_EQ(Describe("net:tx").lost, 1u);
  ASSERT_EQ(Batch("net:tx channel=a").err, 0) << "and can be sent elsewhere";
  net_.Fire(tx_, 3);
  EXPECT_EQ(world.seen.size(), 2u);
}

TEST_F(ForkedTest, SwitchingGoesOnInTheChild) {
  EXPECT_EQ(Forked(false), 0);
  ASSERT_EQ(Batch("net:rx -").err, 0);
  net_.Fire(rx_, 1);
  EXPECT_EQ(Describe("net:rx").lost, 0u) << "off is not lost";
  EXPECT_EQ(Forked(true), 0);
  ASSERT_EQ(Batch("net:rx=marker").err, 0);
  net_.Fire(rx_, 1);
  EXPECT_EQ(world.seen.size(), 1u);
}

// fork() in a handler that interrupted a slow path: what that path holds must stay.
TEST_F(ForkedTest, FromInsideAReadSection) {
  ASSERT_EQ(Batch("net:tx=static").err, 0);
  const unsigned int index = port_read_lock();
  EXPECT_EQ(Forked(false), 0);
  EXPECT_EQ(world.open_channels.size(), 2u) << "not closed under it";
  port_read_unlock(index);
  world.open_channels.clear();
  // the abandoned copies of the parent's routes
  for (auto it = world.blocks.begin(); it != world.blocks.end();) {
    const bool route = it->second == sizeof(gkhi_route) ||
                       it->second == sizeof(gkhi_route) + sizeof(gkhi_exit_list) + 2 * sizeof(gkhi_exit_slot);
    if (route) free(const_cast<void *>(it->first));
    it = route ? world.blocks.erase(it) : std::next(it);
  }
}

}  // namespace gkhi_test
