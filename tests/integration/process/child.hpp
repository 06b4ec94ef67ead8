// SPDX-License-Identifier: MIT
// A child program of a test: its stdin and stdout are pipes, its folder is its own.
#ifndef GKHI_TESTS_PROCESS_CHILD_HPP
#define GKHI_TESTS_PROCESS_CHILD_HPP

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace gkhi::test {

// A folder that goes with its owner.
class Folder {
 public:
  Folder() {
    char name[] = "/dev/shm/gkhi-test-XXXXXX";
    path_ = mkdtemp(name);
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  const std::string &path() const { return path_; }
  // Names in it, or in a folder below it.
  std::vector<std::string> List(const std::string &below = "") const {
    std::vector<std::string> names;
    std::error_code ignored;
    for (auto &entry : std::filesystem::directory_iterator(path_ + "/" + below, ignored))
      names.push_back(entry.path().filename());
    return names;
  }

 private:
  std::string path_;
};

class Child {
 public:
  Child(std::vector<std::string> args, std::vector<std::string> environment,
        const std::function<void()> &before_exec = {}) {
    int in[2], out[2];
    if (pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC)) abort();
    pid_ = fork();
    if (pid_ == 0) {
      dup2(in[0], 0);
      dup2(out[1], 1);
      dup2(out[1], 2);
      for (auto &e : environment) putenv(strdup(e.c_str()));
      if (before_exec) before_exec();
      std::vector<char *> argv;
      for (auto &a : args) argv.push_back(a.data());
      argv.push_back(nullptr);
      execvp(argv[0], argv.data());
      _exit(127);
    }
    close(in[0]);
    close(out[1]);
    in_ = in[1];
    out_ = out[0];
  }
  ~Child() {
    if (pid_ > 0 && !reaped_) {
      kill(pid_, SIGKILL);
      waitpid(pid_, nullptr, 0);
    }
    CloseInput();
    close(out_);
  }
  Child(const Child &) = delete;
  Child &operator=(const Child &) = delete;

  pid_t pid() const { return pid_; }
  const std::string &output() const { return output_; }

  // Reads on until the output holds `text`; false after `seconds` or at its end.
  bool WaitFor(const std::string &text, int seconds = 20) {
    for (int turn = 0; turn < seconds * 20; turn++) {
      if (output_.find(text) != std::string::npos) return true;
      if (!ReadSome(50)) return output_.find(text) != std::string::npos;
    }
    return false;
  }
  void Send(const std::string &text) {
    if (write(in_, text.data(), text.size()) < 0) return;
  }
  void CloseInput() {
    if (in_ >= 0) close(in_);
    in_ = -1;
  }
  // The wait status, all output read; -1 after `seconds`.
  int Finish(int seconds = 30) {
    CloseInput();
    for (int turn = 0; turn < seconds * 20; turn++) {
      if (!ReadSome(50)) {
        int status = 0;
        if (waitpid(pid_, &status, 0) == pid_) {
          reaped_ = true;
          return status;
        }
        return -1;
      }
    }
    return -1;
  }

 private:
  // False: the end of the output.
  bool ReadSome(int ms) {
    pollfd pfd{out_, POLLIN, 0};
    if (poll(&pfd, 1, ms) <= 0) return true;
    char buf[4096];
    ssize_t n = read(out_, buf, sizeof(buf));
    if (n > 0) output_.append(buf, static_cast<size_t>(n));
    return n > 0;
  }

  pid_t pid_ = -1;
  int in_ = -1;
  int out_ = -1;
  bool reaped_ = false;
  std::string output_;
};

}  // namespace gkhi::test

#endif
