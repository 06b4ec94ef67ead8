// SPDX-License-Identifier: MIT
// Remote calls against programs that check themselves.
#include <gtest/gtest.h>
#include <sys/ptrace.h>

#include "attach.hpp"
#include "child.hpp"
#include "request.hpp"

namespace gkhi {
namespace {

using test::Child;
using test::Folder;

class Remote : public testing::Test {
 protected:
  void SetUp() override { setenv("GKHI_DIR", folder_.path().c_str(), 1); }
  void TearDown() override { unsetenv("GKHI_DIR"); }

  // `calls` batches, each of which leaves nothing in the thread's registers.
  void Trash(pid_t pid, int calls) {
    auto process = Process::Open(pid);
    ASSERT_TRUE(process) << process.error();
    for (int i = 0; i < calls; i++) {
      auto reply = process->Run("trash");
      ASSERT_TRUE(reply) << "call " << i << ": " << reply.error();
      ASSERT_EQ(*reply, "batch " + std::to_string(i + 1) + " of 5 bytes");
    }
  }
  void RunAgainst(const std::string &kinds, int calls) {
    Child target({BUSY_TARGET, kinds}, {});
    ASSERT_TRUE(target.WaitFor("ready")) << target.output();
    Trash(target.pid(), calls);
    EXPECT_EQ(target.Finish(), 0) << target.output();
    EXPECT_EQ(target.output(), "ready\nok\n");
  }

  Folder folder_;
};

TEST_F(Remote, GeneralRegistersSurvive) {
  RunAgainst("g", 500);
}
TEST_F(Remote, VectorRegistersSurvive) {
  RunAgainst("v", 500);
}
TEST_F(Remote, RoundingAndX87Survive) {
  RunAgainst("f", 500);
}
TEST_F(Remote, BlockedReadGoesOn) {
  RunAgainst("r", 500);
}
TEST_F(Remote, SleepGoesOn) {
  RunAgainst("n", 500);
}
TEST_F(Remote, FutexGoesOn) {
  RunAgainst("u", 500);
}
TEST_F(Remote, PollGoesOn) {
  RunAgainst("p", 500);
}
TEST_F(Remote, EpollGoesOn) {
  RunAgainst("e", 500);
}
TEST_F(Remote, ErrnoSurvives) {
  RunAgainst("o", 500);
}
TEST_F(Remote, QueuedSignalsArriveOnceAndInOrder) {
  RunAgainst("q", 500);
}
TEST_F(Remote, SigsuspendGoesOn) {
  RunAgainst("s", 500);
}
TEST_F(Remote, ForksGoOn) {
  RunAgainst("k", 500);
}
TEST_F(Remote, RestartableSequencesStartAgain) {
  RunAgainst("x", 500);
}
// What was found of the runtime may be gone when the thread has stopped: then it is looked for again.
TEST_F(Remote, ExecsGoOn) {
  Child target({BUSY_TARGET, "E300"}, {});
  int answered = 0;
  for (bool ended = false; !ended;) {
    auto reply = RemoteCall(target.pid(), GKHI_OP_OPEN);
    answered += reply && reply->result == 0;
    const std::string error = reply ? reply->error : reply.error();
    EXPECT_EQ(error.find("ptrace: "), std::string::npos) << error;
    EXPECT_EQ(error.find("crashed"), std::string::npos) << error;
    ended = error.find("ended") != std::string::npos || error.find("no such process") != std::string::npos;
  }
  EXPECT_GT(answered, 10);
  target.Finish();  // its status may have gone to the one who traced it, who was this process, too
  EXPECT_EQ(target.output(), "ok\n");
}

TEST_F(Remote, TenThousandCallsAgainstAllAtOnce) {
  RunAgainst("gvfrnupeoqskx", 10000);
}

}  // namespace
}  // namespace gkhi
