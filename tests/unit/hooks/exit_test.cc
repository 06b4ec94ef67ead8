// SPDX-License-Identifier: MIT
// Exits: order, groups, exclusiveness, recursion, and that nobody runs in a handler that was taken away.
#include <chrono>
#include <thread>

#include "fake_port.hpp"

namespace gkhi_test {

static std::string *calls;            // letters of the handlers, in order of calling
static gkhi_exit_result answer[128];  // per letter

static gkhi_exit_result Note(void *context, const gkhi_event *event, const uint64_t *frame) {
  const char letter = *static_cast<const char *>(context);
  EXPECT_STREQ(event->name, "rx");
  EXPECT_EQ(frame[0], 5u);
  *calls += letter;
  return answer[static_cast<int>(letter)];
}

class ExitTest : public CoreTest {
 protected:
  void SetUp() override {
    CoreTest::SetUp();
    calls = &calls_;
    for (auto &a : answer) a = GKHI_CONTINUE;
    rx_ = net_.Usual("net:rx");
    Add(net_);
  }

  gkhi_exit *Register(const char *letter, uint32_t order, uint32_t group = 0,
                      const gkhi_module *owner = nullptr) {
    gkhi_exit_spec spec{};
    spec.hook = "net:rx";
    spec.handler = Note;
    spec.context = const_cast<char *>(letter);
    spec.order = order;
    spec.group = group;
    spec.owner = owner;
    gkhi_exit *exit = nullptr;
    EXPECT_EQ(gkhi_exit_register(&spec, &exit), 0);
    return exit;
  }

  gkhi_exit *Arm(const char *letter, uint32_t order) {
    gkhi_exit *exit = Register(letter, order);
    EXPECT_EQ(gkhi_exit_arm(exit), 0) << letter;
    return exit;
  }

  std::string Fire() {
    calls_.clear();
    world.seen.clear();
    net_.Fire(rx_, 5);
    for (size_t i = 0; i < world.seen.size(); i++) calls_ += "|";
    return calls_;
  }

  Object net_;
  int rx_ = 0;
  std::string calls_;
};

TEST_F(ExitTest, ARegisteredExitIsNotCalled) {
  Register("a", GKHI_EXIT_FIFO);
  ASSERT_EQ(Batch("net:rx=static").err, 0);
  EXPECT_EQ(Fire(), "|");
}

TEST_F(ExitTest, AnArmedExitIsCalledWhileTheHookIsOn) {
  gkhi_exit *exit = Arm("a", GKHI_EXIT_FIFO);
  EXPECT_EQ(Fire(), "") << "off";
  ASSERT_EQ(Batch("net:rx=static").err, 0);
  EXPECT_EQ(Fire(), "a|");
  ASSERT_EQ(gkhi_exit_disarm(exit), 0);
  EXPECT_EQ(Fire(), "|");
  ASSERT_EQ(gkhi_exit_arm(exit), 0);
  EXPECT_EQ(Fire(), "a|");
  ASSERT_EQ(Batch("net:rx=marker").err, 0);
  EXPECT_EQ(Fire(), "a|");
  ASSERT_EQ(Batch("net:rx=disabled").err, 0);
  EXPECT_EQ(Fire(), "");
}

TEST_F(ExitTest, WithAnExitThereIsNoFastRoute) {
  ASSERT_EQ(Batch("net:rx=static").err, 0);
  EXPECT_NE(static_cast<gkhi_route *>(net_.hook(rx_)->route)->n_cpus[0], 0u);
  gkhi_exit *exit = Arm("a", GKHI_EXIT_FIFO);
  EXPECT_EQ(static_cast<gkhi_route *>(net_.hook(rx_)->route)->n_cpus[0], 0u);
  ASSERT_EQ(gkhi_exit_unregister(exit), 0);
  EXPECT_NE(static_cast<gkhi_route *>(net_.hook(rx_)->route)->n_cpus[0], 0u);
}

TEST_F(ExitTest, Order) {
  ASSERT_EQ(Batch("channel log backend=printk; net:rx=static channel=main,log").err, 0);
  Arm("z", GKHI_EXIT_LAST);
  Arm("1", GKHI_EXIT_FIFO);
  Arm("x", GKHI_EXIT_LIFO);
  Arm("2", GKHI_EXIT_FIFO);
  Arm("y", GKHI_EXIT_LIFO);
  Arm("a", GKHI_EXIT_FIRST);
  EXPECT_EQ(Fire(), "ayx12z||");
  ASSERT_EQ(world.seen.size(), 2u);
  EXPECT_EQ(world.seen[0].channel, "main");
  EXPECT_EQ(world.seen[1].channel, "log");
}

TEST_F(ExitTest, TerminateStopsWhatIsBehind) {
  ASSERT_EQ(Batch("net:rx=static").err, 0);
  Arm("a", GKHI_EXIT_FIRST);
  Arm("b", GKHI_EXIT_FIFO);
  Arm("c", GKHI_EXIT_FIFO);
  Arm("z", GKHI_EXIT_LAST);
  answer[static_cast<int>('b')] = GKHI_TERMINATE;
  EXPECT_EQ(Fire(), "ab");
  EXPECT_EQ(gkhi_core.entry[0]->suppressed, 1u);
  answer[static_cast<int>('b')] = GKHI_CONTINUE;
  EXPECT_EQ(Fire(), "abcz|");
}

TEST_F(ExitTest, OneFirstAndOneLast) {
  Arm("a", GKHI_EXIT_FIRST);
  Arm("z", GKHI_EXIT_LAST);
  EXPECT_EQ(gkhi_exit_arm(Register("b", GKHI_EXIT_FIRST)), -EBUSY);
  EXPECT_EQ(gkhi_exit_arm(Register("y", GKHI_EXIT_LAST)), -EBUSY);
  ASSERT_EQ(Batch("net:rx=static").err, 0);
  EXPECT_EQ(Fire(), "az|");
}

TEST_F(ExitTest, AnExclusiveExitIsAlone) {
  ASSERT_EQ(Batch("net:rx=static").err, 0);
  gkhi_exit *other = Arm("a", GKHI_EXIT_FIFO);
  gkhi_exit *alone = Register("e", GKHI_EXIT_EXCLUSIVE);
  EXPECT_EQ(gkhi_exit_arm(alone), -EBUSY);
  EXPECT_EQ(Fire(), "a|") << "nothing changed";
  ASSERT_EQ(gkhi_exit_disarm(other), 0);
  ASSERT_EQ(gkhi_exit_arm(alone), 0);
  EXPECT_EQ(Fire(), "e") << "and no channel";
  EXPECT_EQ(gkhi_exit_arm(other), -EBUSY);
  ASSERT_EQ(gkhi_exit_disarm(alone), 0);
  EXPECT_EQ(Fire(), "|");
}

TEST_F(ExitTest, AGroupIsArmedWholeOrNotAtAll) {
  ASSERT_EQ(Batch("net:rx=static").err, 0);
  Register("1", GKHI_EXIT_FIFO, 7);
  Register("2", GKHI_EXIT_FIFO, 7);
  gkhi_exit *first = Register("3", GKHI_EXIT_FIRST, 7);
  gkhi_exit *in_the_way = Arm("a", GKHI_EXIT_FIRST);
  EXPECT_EQ(gkhi_exit_arm_group(7), -EBUSY);
  EXPECT_EQ(Fire(), "a|");
  ASSERT_EQ(gkhi_exit_unregister(in_the_way), 0);
  ASSERT_EQ(gkhi_exit_arm_group(7), 0);
  EXPECT_EQ(Fire(), "312|");
  ASSERT_EQ(gkhi_exit_disarm(first), 0);
  EXPECT_EQ(Fire(), "12|");
  ASSERT_EQ(gkhi_exit_disarm_group(7), 0);
  EXPECT_EQ(Fire(), "|");
  EXPECT_EQ(gkhi_exit_arm_group(8), -ENOENT);
  EXPECT_EQ(gkhi_exit_arm_group(0), -EINVAL);
}

TEST_F(ExitTest, RegistrationIsChecked) {
  gkhi_exit_spec spec{};
  gkhi_exit *exit = nullptr;
  EXPECT_EQ(gkhi_exit_register(&spec, &exit), -EINVAL) << "no hook";
  spec.hook = "net:rx";
  EXPECT_EQ(gkhi_exit_register(&spec, &exit), -EINVAL) << "no handler";
  spec.handler = Note;
  spec.order = 5;
  EXPECT_EQ(gkhi_exit_register(&spec, &exit), -EINVAL) << "no such order";
  spec.order = GKHI_EXIT_FIFO;
  spec.hook = "net:none";
  EXPECT_EQ(gkhi_exit_register(&spec, &exit), -ENOENT);
  spec.hook = "net:rx";
  spec.layout = 1;
  EXPECT_EQ(gkhi_exit_register(&spec, &exit), -ENOENT) << "written for another layout";
  Object other;
  other.Hook("net:rx", 77);
  Add(other);
  spec.layout = 0;
  EXPECT_EQ(gkhi_exit_register(&spec, &exit), -EINVAL) << "two layouts, none named";
  spec.layout = LayoutOf("net:rx");
  EXPECT_EQ(gkhi_exit_register(&spec, &exit), 0);
}

TEST_F(ExitTest, NotFromInsideAHandler) {
  gkhi_exit *exit = Register("a", GKHI_EXIT_FIFO);
  const unsigned int index = port_read_lock();
  gkhi_exit_spec spec{};
  spec.hook = "net:rx";
  spec.handler = Note;
  gkhi_exit *another = nullptr;
  EXPECT_EQ(gkhi_exit_register(&spec, &another), -EDEADLK);
  EXPECT_EQ(gkhi_exit_arm(exit), -EDEADLK);
  EXPECT_EQ(gkhi_exit_disarm(exit), -EDEADLK);
  EXPECT_EQ(gkhi_exit_unregister(exit), -EDEADLK);
  port_read_unlock(index);
}

static Object *inner_object;
static int inner_hook;

static gkhi_exit_result FireAgain(void *, const gkhi_event *, const uint64_t *) {
  *calls += "f";
  inner_object->Fire(inner_hook, 5);
  return GKHI_CONTINUE;
}

TEST_F(ExitTest, WhatFiresInsideAHandlerGoesToChannelsOnly) {
  inner_object = &net_;
  inner_hook = rx_;
  gkhi_exit_spec spec{};
  spec.hook = "net:rx";
  spec.handler = FireAgain;
  gkhi_exit *exit = nullptr;
  ASSERT_EQ(gkhi_exit_register(&spec, &exit), 0);
  ASSERT_EQ(gkhi_exit_arm(exit), 0);
  ASSERT_EQ(Batch("net:rx=static").err, 0);
  EXPECT_EQ(Fire(), "f||") << "both events are in the channel, the handler saw one";
  EXPECT_EQ(Describe("net:rx").lost, 1u);
  EXPECT_EQ(gkhi_core.entry[0]->lost[GKHI_LOST_RECURSION], 1u);
}

TEST_F(ExitTest, ExitsGoWithTheirOwner) {
  Object owner;
  owner.Usual("own:er");
  Add(owner);
  ASSERT_EQ(Batch("net:rx=static").err, 0);
  Register("a", GKHI_EXIT_FIFO, 3, owner.Module());
  Register("b", GKHI_EXIT_FIFO, 3);
  ASSERT_EQ(gkhi_exit_arm_group(3), 0);
  EXPECT_EQ(Fire(), "ab|");
  Remove(owner);
  EXPECT_EQ(Fire(), "b|");
}

// Its text is about to vanish: no lack of memory keeps a handler of it.
TEST_F(ExitTest, ExitsGoWithTheirOwnerThoughMemoryFails) {
  for (int n = 1; n < 4; n++) {
    Object owner;
    owner.Usual("own:er");
    Add(owner);
    ASSERT_EQ(Batch("net:rx=static").err, 0);
    gkhi_exit *mine = Arm("b", GKHI_EXIT_FIFO);
    Register("a", GKHI_EXIT_FIFO, 3, owner.Module());
    ASSERT_EQ(gkhi_exit_arm_group(3), 0);
    EXPECT_EQ(Fire(), "ba|");
    world.fail_alloc_at = n;
    Remove(owner);
    world.fail_alloc_at = 0;
    EXPECT_EQ(Fire(), "b|");
    EXPECT_EQ(gkhi_exit_unregister(mine), 0);
    EXPECT_EQ(Fire(), "|");
  }
}

TEST_F(ExitTest, HitsAreCountedWhereNoRingCountsThem) {
  ASSERT_EQ(Batch("channel log backend=printk; net:rx=static channel=log").err, 0);
  Fire();
  EXPECT_EQ(Describe("net:rx").hits, 1u);
  ASSERT_EQ(Batch("net:rx channel=main,log").err, 0);
  Fire();
  EXPECT_EQ(Describe("net:rx").hits, 1u) << "the ring has it";
  Arm("e", GKHI_EXIT_EXCLUSIVE);
  Fire();
  EXPECT_EQ(Describe("net:rx").hits, 2u);
}

TEST_F(ExitTest, CountersMayMoveToSharedMemory) {
  uint64_t shared[2] = {};
  ASSERT_EQ(Batch("channel log backend=printk; net:rx=static channel=log").err, 0);
  Fire();
  uint64_t **counters = Describe("net:rx").counters;
  shared[0] = (*counters)[0];
  __atomic_store_n(counters, &shared[0], __ATOMIC_RELEASE);
  Fire();
  EXPECT_EQ(shared[0], 2u);
  EXPECT_EQ(Describe("net:rx").hits, 2u);
}

// ------------------------------------------------------------------------------------------------ the grace
// period

struct Slow {
  std::atomic<bool> inside{false}, leave{false};
  std::atomic<bool> gone{false};
  std::atomic<int> after_gone{0};
};

static gkhi_exit_result SlowHandler(void *context, const gkhi_event *, const uint64_t *) {
  auto *slow = static_cast<Slow *>(context);
  if (slow->gone) slow->after_gone++;
  slow->inside = true;
  while (!slow->leave) std::this_thread::yield();
  if (slow->gone) slow->after_gone++;
  return GKHI_CONTINUE;
}

TEST_F(ExitTest, UnregisterWaitsForWhoIsInside) {
  Slow slow;
  gkhi_exit_spec spec{};
  spec.hook = "net:rx";
  spec.handler = SlowHandler;
  spec.context = &slow;
  gkhi_exit *exit = nullptr;
  ASSERT_EQ(gkhi_exit_register(&spec, &exit), 0);
  ASSERT_EQ(gkhi_exit_arm(exit), 0);
  ASSERT_EQ(Batch("net:rx=static").err, 0);
  world.keep_seen = false;
  std::thread caller([&] { net_.Fire(rx_, 5); });
  while (!slow.inside) std::this_thread::yield();
  std::thread remover([&] {
    EXPECT_EQ(gkhi_exit_unregister(exit), 0);
    slow.gone = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_FALSE(slow.gone) << "a thread is in the handler";
  slow.leave = true;
  caller.join();
  remover.join();
  EXPECT_TRUE(slow.gone);
  net_.Fire(rx_, 5);
  EXPECT_EQ(slow.after_gone, 0);
}

TEST_F(ExitTest, AReaderThatNeverLeavesIsReported) {
  ASSERT_EQ(Batch("net:rx=static").err, 0);
  gkhi_exit *exit = Arm("a", GKHI_EXIT_FIFO);
  world.synchronize_result = -ETIMEDOUT;
  EXPECT_EQ(gkhi_exit_disarm(exit), -ETIMEDOUT);
  world.synchronize_result = 0;
  EXPECT_EQ(Fire(), "|") << "disarmed all the same";
  // The list that the lost reader may hold is never freed: that is what is left.
  EXPECT_EQ(world.LiveBytes() > 0, true);
  for (auto it = world.blocks.begin(); it != world.blocks.end();) {
    const bool list = it->second == sizeof(gkhi_route) + sizeof(gkhi_exit_list) + 2 * sizeof(gkhi_exit_slot);
    if (list) free(const_cast<void *>(it->first));
    it = list ? world.blocks.erase(it) : std::next(it);
  }
}

TEST_F(ExitTest, WhenMemoryFailsNothingIsArmed) {
  ASSERT_EQ(Batch("net:rx=static").err, 0);
  gkhi_exit *exit = Register("a", GKHI_EXIT_FIFO);
  for (int n = 1;; n++) {
    world.fail_alloc_at = n;
    const int err = gkhi_exit_arm(exit);
    world.fail_alloc_at = 0;
    if (!err) {
      std::printf("armed at allocation %d\n", n);
      break;
    }
    ASSERT_EQ(err, -ENOMEM);
    ASSERT_EQ(Fire(), "|");
  }
  EXPECT_EQ(Fire(), "a|");
}

}  // namespace gkhi_test
