// SPDX-License-Identifier: MIT
// What a switch leaves behind in hooks, keys and pads, and what it says when a place will not be patched.
#include "fake_port.hpp"

namespace gkhi_test {

class SwitchTest : public CoreTest {
 protected:
  void SetUp() override {
    CoreTest::SetUp();
    rx_ = net_.Usual("net:rx");
    tx_ = net_.Usual("net:tx");
  }
  void TearDown() override { CoreTest::TearDown(); }

  gkhi_hook &rx() { return *net_.hook(rx_); }
  std::vector<uint64_t> Words() {
    std::vector<uint64_t> words;
    for (const Seen &s : world.seen) words.push_back(s.word);
    world.seen.clear();
    return words;
  }

  Object net_;
  int rx_ = 0, tx_ = 0;
};

using Words = std::vector<uint64_t>;

TEST_F(SwitchTest, OffUntilAsked) {
  Add(net_);
  EXPECT_EQ(StateOf("net:rx"), "disabled");
  EXPECT_EQ(rx().mode, GKHI_MODE_OFF);
  EXPECT_EQ(rx().stub, static_cast<const void *>(gkhi_stub_none));
  EXPECT_EQ(rx().route, &gkhi_route_off);
  net_.Fire(rx_, 1);
  EXPECT_TRUE(world.seen.empty());
  EXPECT_TRUE(world.open_channels.empty());
}

TEST_F(SwitchTest, DisabledToStatic) {
  Add(net_);
  ASSERT_EQ(Batch("net:rx +static").err, 0);
  EXPECT_EQ(StateOf("net:rx"), "static");
  EXPECT_TRUE(net_.KeyJumps(0));
  EXPECT_FALSE(net_.PadJumps(0));
  EXPECT_FALSE(net_.KeyJumps(1));
  EXPECT_EQ(rx().mode, GKHI_MODE_CALL);
  net_.Fire(rx_, 5);
  net_.Fire(tx_, 6);
  EXPECT_EQ(Words(), (std::vector<uint64_t>{5}));
}

TEST_F(SwitchTest, DisabledToMarker) {
  Add(net_);
  ASSERT_EQ(Batch("net:rx +marker").err, 0);
  EXPECT_EQ(StateOf("net:rx"), "marker");
  EXPECT_TRUE(net_.KeyJumps(0));
  EXPECT_TRUE(net_.PadJumps(0));
  EXPECT_EQ(rx().mode, GKHI_MODE_PAD);
  EXPECT_NE(rx().stub, static_cast<const void *>(gkhi_stub_none))
      << "who loaded CALL just before must be served";
  net_.Fire(rx_, 5);
  EXPECT_EQ(Words(), (std::vector<uint64_t>{5}));
}

TEST_F(SwitchTest, StaticToMarkerAndBackKeepsTheDetour) {
  Add(net_);
  ASSERT_EQ(Batch("net:rx +static").err, 0);
  ASSERT_EQ(Batch("net:rx +marker").err, 0);
  EXPECT_EQ(rx().mode, GKHI_MODE_PAD);
  ASSERT_EQ(Batch("net:rx +static").err, 0);
  EXPECT_EQ(rx().mode, GKHI_MODE_CALL);
  EXPECT_TRUE(net_.PadJumps(0));
  net_.Fire(rx_, 5);
  EXPECT_EQ(Words(), (std::vector<uint64_t>{5}));
}

TEST_F(SwitchTest, BackToDisabled) {
  Add(net_);
  for (const char *on : {"net:rx +static", "net:rx +marker"}) {
    ASSERT_EQ(Batch(on).err, 0);
    ASSERT_EQ(Batch("net:rx -").err, 0);
    EXPECT_EQ(StateOf("net:rx"), "disabled");
    EXPECT_FALSE(net_.KeyJumps(0));
    EXPECT_EQ(rx().mode, GKHI_MODE_OFF);
    EXPECT_EQ(rx().stub, static_cast<const void *>(gkhi_stub_none));
    EXPECT_EQ(rx().route, &gkhi_route_off);
    net_.Fire(rx_, 5);
    EXPECT_TRUE(world.seen.empty());
  }
  EXPECT_TRUE(net_.PadJumps(0)) << "a pad of a cold block is not taken away";
}

// A thread that loaded the mode and then slept finds code that does the right thing whatever the state is
// now.
TEST_F(SwitchTest, LateThreads) {
  Add(net_);
  const uint64_t frame = 9;
  ASSERT_EQ(Batch("net:rx +marker").err, 0);
  ASSERT_EQ(Batch("net:rx -").err, 0);
  gkhi_dispatch(&rx(), &frame);  // its detour: off
  EXPECT_TRUE(world.seen.empty());
  ASSERT_EQ(Batch("net:rx +static").err, 0);
  gkhi_dispatch(&rx(), &frame);  // its detour: on, once
  EXPECT_EQ(Words(), (std::vector<uint64_t>{9}));
}

TEST_F(SwitchTest, ManySitesOfAHook) {
  net_.Key(rx_);
  net_.Pad(rx_);
  net_.Key(rx_);
  net_.Pad(rx_);
  Add(net_);
  EXPECT_EQ(Describe("net:rx").n_keys, 3u);
  ASSERT_EQ(Batch("net:rx +marker").err, 0);
  for (const int nth : {0, 1, 2}) net_.Fire(rx_, static_cast<uint64_t>(nth), nth);
  EXPECT_EQ(Words(), (std::vector<uint64_t>{0, 1, 2}));
}

TEST_F(SwitchTest, PatchesComeInOneRoundInOrderOfAddress) {
  Add(net_);
  ASSERT_EQ(Batch("net:* +marker").err, 0);
  ASSERT_EQ(world.rounds.size(), 1u);
  EXPECT_EQ(world.rounds[0].size(), 4u);
  ASSERT_EQ(Batch("net:* -").err, 0);
  ASSERT_EQ(world.rounds.size(), 2u);
  EXPECT_EQ(world.rounds[1].size(), 2u);
  ASSERT_EQ(Batch("net:* -").err, 0);
  EXPECT_EQ(world.rounds.size(), 2u) << "nothing to patch, no round";
}

TEST_F(SwitchTest, SmallSetsAmongManyHooks) {
  Object many(8 << 20);
  for (int i = 0; i < 3000; i++) many.Usual("many:e" + std::to_string(i));
  Add(many);
  ASSERT_EQ(Batch("many:e1? many:e2999 +marker").err, 0);
  EXPECT_EQ(world.rounds[0].size(), 22u);
  ASSERT_EQ(Batch("many:* -").err, 0);
  ASSERT_EQ(Batch("many:* +static").err, 0);
  EXPECT_EQ(world.rounds.back().size(), 3000u);
  ASSERT_EQ(Batch("many:* -").err, 0);
}

// ------------------------------------------------------------------------------------- places that cannot be
// patched

TEST_F(SwitchTest, ReadOnlyText) {
  Add(net_);
  world.read_only = {net_.key_code(0)};
  ASSERT_EQ(Batch("net:* +static").err, 0);
  EXPECT_EQ(StateOf("net:rx"), "static/disabled (text is write-protected)");
  EXPECT_EQ(StateOf("net:tx"), "static");
  EXPECT_EQ(rx().route, &gkhi_route_off);
  EXPECT_EQ(rx().mode, GKHI_MODE_OFF);
  world.read_only.clear();
  ASSERT_EQ(Batch("net:* +static").err, 0) << "asking again tries again";
  EXPECT_EQ(StateOf("net:rx"), "static");
}

TEST_F(SwitchTest, SomebodyElsesKey) {
  net_.Key(rx_);
  net_.Pad(rx_);
  Add(net_);
  world.strange = {net_.key_code(0)};
  ASSERT_EQ(Batch("net:rx +static").err, 0);
  EXPECT_EQ(StateOf("net:rx"), "static (somebody else patched the site)") << "its other site works";
  EXPECT_FALSE(net_.KeyJumps(0));
  net_.Fire(rx_, 1, 0);
  net_.Fire(rx_, 2, 1);
  EXPECT_EQ(Words(), (std::vector<uint64_t>{2}));
}

TEST_F(SwitchTest, APadThatCannotBePatchedIsServedByTheCall) {
  net_.Key(rx_);
  net_.Pad(rx_);
  Add(net_);
  world.strange = {net_.pad_code(2)};
  ASSERT_EQ(Batch("net:rx +marker").err, 0);
  EXPECT_EQ(StateOf("net:rx"), "marker/static (somebody else patched the site)");
  EXPECT_EQ(rx().mode, GKHI_MODE_CALL);
  for (const int nth : {0, 1}) net_.Fire(rx_, static_cast<uint64_t>(nth), nth);
  EXPECT_EQ(Words(), (std::vector<uint64_t>{0, 1}));
}

TEST_F(SwitchTest, APadWithoutADetourIsServedByTheCall) {
  Add(net_);
  world.no_detour = {net_.pad_code(0)};
  ASSERT_EQ(Batch("net:* +marker").err, 0);
  EXPECT_EQ(StateOf("net:rx"),
            "marker/static (no detour: no room within 2 GiB, or an operand that cannot be read)");
  EXPECT_EQ(StateOf("net:tx"), "marker");
  net_.Fire(rx_, 7);
  EXPECT_EQ(Words(), (std::vector<uint64_t>{7}));
}

TEST_F(SwitchTest, AKeyThatCannotBeTakenBackLeadsToNothing) {
  Add(net_);
  ASSERT_EQ(Batch("net:rx +static").err, 0);
  world.read_only = {net_.key_code(0)};
  ASSERT_EQ(Batch("net:rx -").err, 0);
  EXPECT_EQ(StateOf("net:rx"), "disabled");
  EXPECT_TRUE(net_.KeyJumps(0));
  net_.Fire(rx_, 7);
  EXPECT_TRUE(world.seen.empty());
  world.read_only.clear();
  ASSERT_EQ(Batch("net:rx -").err, 0);
  EXPECT_FALSE(net_.KeyJumps(0));
}

// --------------------------------------------------------------------------------------------------- kinds
// of sites

TEST_F(SwitchTest, BareMarkers) {
  Object o;
  const int hook = o.Hook("bare:x", 0, GKHI_HOOK_F_BARE);
  const int pad = o.Pad(hook, "x.c", 3, "f", true);
  o.Event("bare:x", 0, GKHI_HAS_MARKER);
  Add(o);
  ASSERT_EQ(Batch("bare:x +static").err, 0);
  EXPECT_EQ(StateOf("bare:x"), "static/disabled (declared without static)");
  EXPECT_FALSE(o.PadJumps(pad));
  ASSERT_EQ(Batch("bare:x +marker").err, 0);
  EXPECT_EQ(StateOf("bare:x"), "marker");
  o.FireBare(pad, hook, 4);
  EXPECT_EQ(Words(), (std::vector<uint64_t>{4}));
  ASSERT_EQ(Batch("bare:x -").err, 0);
  EXPECT_FALSE(o.PadJumps(pad)) << "in the hot path: a nop again";
}

TEST_F(SwitchTest, ABarePadWithoutADetourIsOff) {
  Object o;
  const int hook = o.Hook("bare:x", 0, GKHI_HOOK_F_BARE);
  o.Pad(hook, "x.c", 3, "f", true);
  o.Event("bare:x", 0, GKHI_HAS_MARKER);
  Add(o);
  world.no_detour = {o.pad_code(0)};
  ASSERT_EQ(Batch("bare:x +marker").err, 0);
  EXPECT_EQ(StateOf("bare:x"),
            "marker/disabled (no detour: no room within 2 GiB, or an operand that cannot be read)");
}

TEST_F(SwitchTest, ABareMarkerDeclaredWithStaticHasNoStaticSite) {
  Object o;
  const int hook = o.Hook("bare:x");
  o.Pad(hook, "x.c", 3, "f", true);
  o.Event("bare:x");
  Add(o);
  ASSERT_EQ(Batch("bare:x +static").err, 0);
  EXPECT_EQ(StateOf("bare:x"), "static/disabled (declared without static)");
}

TEST_F(SwitchTest, FaultsOfOperandsAreToldOfTheHooksRow) {
  Object o;
  const int hook = o.Usual("net:rx");
  Add(o);
  gkhi_core.entry[0]->slot = 5;
  gkhi_faulted(o.hook(hook), 2);
  EXPECT_EQ(world.faults, (std::vector<std::pair<uint32_t, uint64_t>>{{5, 2}}));
  Remove(o);
  gkhi_faulted(o.hook(hook), 1);
  EXPECT_EQ(world.faults.size(), 1u) << "a hook that went";
}

TEST_F(SwitchTest, SitesThatLoadTheMode) {
  Object o;
  const int hook = o.Hook("load:x", 0, GKHI_HOOK_F_LOADED);
  const int place = o.Place(hook, "x.c", 3);
  o.Place(hook, "x.c", 5);
  o.Event("load:x");
  Add(o);
  EXPECT_EQ(Describe("load:x").n_pads, 0u);
  EXPECT_EQ(Describe("load:x").n_keys, 2u) << "sites, as a key for each would be";
  EXPECT_TRUE(world.log.empty());
  EXPECT_EQ(Batch("file x.c line 4 +static").err, -ENOENT);
  for (const char *state : {"load:x +static", "load:x +marker", "file x.c +static", "line 3 +marker"}) {
    ASSERT_EQ(Batch(state).err, 0);
    EXPECT_FALSE(o.PadJumps(place));
    EXPECT_EQ(StateOf("load:x"), strchr(state, '+') + 1);
    EXPECT_EQ(o.hook(hook)->mode, GKHI_MODE_CALL) << "there is no pad to run through";
    o.FireLoaded(hook, 8);
    EXPECT_EQ(Words(), (std::vector<uint64_t>{8}));
  }
  ASSERT_EQ(Batch("load:x -").err, 0);
  o.FireLoaded(hook, 8);
  EXPECT_TRUE(world.seen.empty());
  EXPECT_TRUE(world.rounds.empty()) << "nothing was patched";
}

TEST_F(SwitchTest, StatesThatWereNotDeclared) {
  Object o;
  const int hook = o.Hook("only:s");
  o.Key(hook);
  o.Event("only:s", 0, GKHI_HAS_STATIC);
  Add(o);
  ASSERT_EQ(Batch("only:s +marker").err, 0);
  EXPECT_EQ(StateOf("only:s"), "marker/disabled (declared without marker)");
  ASSERT_EQ(Batch("only:s +static").err, 0);
  EXPECT_EQ(StateOf("only:s"), "static");
}

// ---------------------------------------------------------------------------------------------- objects come
// and go

TEST_F(SwitchTest, AnObjectThatComesWhileTheHookIsOn) {
  Add(net_);
  ASSERT_EQ(Batch("net:rx +marker").err, 0);
  Object more;
  const int again = more.Usual("net:rx");
  Add(more);
  EXPECT_TRUE(more.PadJumps(0));
  more.Fire(again, 3);
  net_.Fire(rx_, 4);
  EXPECT_EQ(Words(), (std::vector<uint64_t>{3, 4}));
}

TEST_F(SwitchTest, AnObjectGoesWhileTheHookIsOn) {
  Object more;
  const int again = more.Usual("net:rx");
  Add(net_);
  Add(more);
  ASSERT_EQ(Batch("net:rx +static").err, 0);
  Remove(more);
  EXPECT_EQ(more.hook(again)->priv, nullptr);
  EXPECT_EQ(more.hook(again)->route, &gkhi_route_off);
  EXPECT_EQ(StateOf("net:rx"), "static");
  Remove(net_);
  EXPECT_EQ(StateOf("net:rx"), "static/disabled (no site compiled in)");
  EXPECT_EQ(gkhi_channel_find("main", 4)->users, 0u);
  Object back;
  const int rx = back.Usual("net:rx");
  Add(back);
  EXPECT_EQ(StateOf("net:rx"), "static") << "asked for is asked for";
  back.Fire(rx, 2);
  EXPECT_EQ(Words(), (std::vector<uint64_t>{2}));
}

TEST_F(SwitchTest, PadsOfAnotherObjectDoNotHoldThisOneBack) {
  Object more;
  const int again = more.Usual("net:rx");
  world.no_detour = {more.pad_code(0)};
  Add(net_);
  Add(more);
  ASSERT_EQ(Batch("net:rx +marker").err, 0);
  EXPECT_EQ(rx().mode, GKHI_MODE_PAD);
  EXPECT_EQ(more.hook(again)->mode, GKHI_MODE_CALL);
  EXPECT_EQ(StateOf("net:rx"), "marker (no detour: no room within 2 GiB, or an operand that cannot be read)");
}

// ----------------------------------------------------------------------------------------------------- and
// the rest

TEST_F(SwitchTest, MetadataComesBeforeTheFirstEventOfEachStreamClass) {
  Add(net_);
  ASSERT_EQ(Batch("net:rx +static").err, 0);
  EXPECT_EQ(world.declared, (std::vector<std::string>{"rx/1/0"}));
  ASSERT_EQ(Batch("net:rx -; net:rx +marker").err, 0);
  EXPECT_EQ(world.declared.size(), 1u);
  ASSERT_EQ(Batch("channel wide stream=wide; net:* +static channel=wide").err, 0);
  EXPECT_EQ(world.declared, (std::vector<std::string>{"rx/1/0", "rx/1/1", "tx/2/1"}));
  ASSERT_EQ(Batch("channel log backend=printk; net:* channel=log").err, 0);
  EXPECT_EQ(world.declared.size(), 3u) << "words for people need none";
}

TEST_F(SwitchTest, WhenMetadataCannotBeWrittenNothingChanges) {
  Add(net_);
  world.fail_declare_at = 2;
  const BatchResult r = Batch("net:* +static");
  EXPECT_EQ(r.err, -ENOSPC);
  EXPECT_EQ(r.error, "batch: error: the metadata could not be written\nno space left where the buffers are");
  EXPECT_EQ(StateOf("net:rx"), "disabled");
  EXPECT_FALSE(net_.KeyJumps(0));
  EXPECT_TRUE(world.open_channels.empty());
}

TEST_F(SwitchTest, ADispatchWhenOffOrUnknownDoesNothing) {
  const uint64_t frame = 1;
  gkhi_hook nobody{};
  gkhi_dispatch(&nobody, &frame);
  Add(net_);
  gkhi_dispatch(&rx(), &frame);
  EXPECT_TRUE(world.seen.empty());
  EXPECT_EQ(Describe("net:rx").lost, 0u) << "off is not lost";
}

// Whoever reads inside a read section while a switch waits for it sees the state before or after, never a
// mixture.
TEST_F(SwitchTest, TheGateHoldsTheWholeSetUntilTheFlip) {
  Add(net_);
  ASSERT_EQ(Batch("net:* +static").err, 0);
  int looked = 0;
  world.in_synchronize = [&] {
    looked++;
    EXPECT_EQ(rx().route, net_.hook(tx_)->route) << "both final when the grace period begins";
  };
  ASSERT_EQ(Batch("channel b; net:* channel=b").err, 0);
  EXPECT_GE(looked, 1);
}

}  // namespace gkhi_test
