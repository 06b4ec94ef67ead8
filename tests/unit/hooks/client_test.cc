// SPDX-License-Identifier: MIT
// Channels without hooks.
#include <cstring>

#include "fake_port.hpp"

extern "C" {
#include <gkhi/channel_api.h>
}

namespace gkhi_test {

// The fake ring's reserve: one slot. What was committed is kept as it would be in a packet.
extern uint64_t reserved[8192];
extern uint32_t reserved_id, reserved_words;
extern int reserve_failures;

class ClientTest : public CoreTest {
 protected:
  int Open(const char *what) {
    error_[0] = 0;
    return gkhi_channel_open(what, &channel_, error_, sizeof(error_));
  }
  gkhi_channel *channel_ = nullptr;
  char error_[500] = {};
};

TEST_F(ClientTest, WritesBytes) {
  ASSERT_EQ(Open("own subbuf_size=64K"), 0) << error_;
  EXPECT_EQ(world.declared, (std::vector<std::string>{"raw/1/0"}));
  EXPECT_EQ(gkhi_channel_write(channel_, "hello, world", 12), 0);
  EXPECT_EQ(reserved_id, Describe("gkhi:raw", 0x9c2622e3bd939695u).id);
  EXPECT_EQ(reserved_words, 3u);
  EXPECT_EQ(reserved[0], 12u);
  EXPECT_EQ(std::memcmp(&reserved[1], "hello, world\0\0\0\0", 16), 0) << "zeros up to a word";
  ASSERT_EQ(world.seen.size(), 1u);
  EXPECT_EQ(world.seen[0].channel, "own");
}

TEST_F(ClientTest, ReserveThenCommit) {
  ASSERT_EQ(Open("own"), 0);
  auto *p = static_cast<uint64_t *>(gkhi_channel_reserve(channel_, 8));
  ASSERT_TRUE(p);
  EXPECT_TRUE(world.seen.empty()) << "not before it is committed";
  *p = 77;
  gkhi_channel_commit(channel_, p);
  EXPECT_EQ(reserved[1], 77u);
  EXPECT_EQ(world.seen.size(), 1u);
}

TEST_F(ClientTest, NothingAtAll) {
  ASSERT_EQ(Open("own"), 0);
  EXPECT_EQ(gkhi_channel_write(channel_, nullptr, 0), 0);
  EXPECT_EQ(reserved_words, 1u);
  EXPECT_EQ(reserved[0], 0u);
}

TEST_F(ClientTest, NoRoom) {
  ASSERT_EQ(Open("own"), 0);
  reserve_failures = 1;
  EXPECT_EQ(gkhi_channel_write(channel_, "x", 1), -ENOBUFS);
  EXPECT_EQ(gkhi_channel_write(channel_, "x", 1), 0);
  EXPECT_EQ(gkhi_channel_reserve(channel_, GKHI_RAW_MAX + 1), nullptr);
}

TEST_F(ClientTest, AChannelInUseByTheProgramStays) {
  ASSERT_EQ(Open("own"), 0);
  EXPECT_EQ(Batch("channel own -").error,
            "batch:1:9: error: channel 'own' is in use by the program itself\n"
            "    channel own -\n"
            "            ^~~");
  ASSERT_EQ(gkhi_channel_close(channel_), 0);
  EXPECT_EQ(world.open_channels, (std::vector<std::string>{"own"})) << "what it holds can be read";
  EXPECT_EQ(Batch("channel own -").err, 0);
  EXPECT_TRUE(world.open_channels.empty());
}

TEST_F(ClientTest, Mistakes) {
  EXPECT_EQ(Open("own subbuf_size=1"), -EINVAL);
  EXPECT_STREQ(error_,
               "batch:1:25: error: subbuf_size '1'\n"
               "    channel own subbuf_size=1\n"
               "                            ^\n"
               "wanted a power of two from 4K to 64M");
  EXPECT_EQ(Open("own; * +static"), -EINVAL);
  EXPECT_STREQ(error_, "wanted the name and the options of one channel");
  EXPECT_EQ(Open(std::string(600, 'x').c_str()), -EINVAL);
  EXPECT_EQ(Open("log backend=printk"), -EOPNOTSUPP);
  EXPECT_STREQ(error_, "this backend takes the events of hooks only");
  EXPECT_EQ(Open("log -"), -EINVAL);
  EXPECT_STREQ(error_, "wanted a channel to open");
  EXPECT_EQ(gkhi_channel_open(nullptr, &channel_, nullptr, 0), -EINVAL);
  world.fail_declare_at = 1;
  EXPECT_EQ(Open("own"), -ENOSPC);
  EXPECT_STREQ(error_, "the metadata could not be written");
  const unsigned int index = port_read_lock();
  EXPECT_EQ(Open("own"), -EDEADLK);
  port_read_unlock(index);
}

TEST_F(ClientTest, InAForkedChildUntilItsChannelIsOpened) {
  ASSERT_EQ(Open("own"), 0);
  port_control_lock();
  gkhi_core_forked(false);
  port_control_unlock();
  EXPECT_EQ(gkhi_channel_write(channel_, "x", 1), -ENOBUFS);
  port_control_lock();
  gkhi_core_forked(true);
  port_control_unlock();
  EXPECT_EQ(gkhi_channel_write(channel_, "x", 1), 0);
}

}  // namespace gkhi_test
