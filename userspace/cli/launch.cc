// SPDX-License-Identifier: MIT
// fork, exec, signals.
#include "launch.hpp"

#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <gkhi/control.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <gkhi/reader/mapped_file.hpp>

namespace gkhi::cli {
namespace {

constexpr int kPassed[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGCONT, SIGWINCH, SIGALRM};
constexpr const char *kLibrary = "libgkhi.so.0";

sigset_t PassedSet() {
  sigset_t set;
  sigemptyset(&set);
  for (const int number : kPassed) sigaddset(&set, number);
  return set;
}

void SetEnvironment(const Environment &environment) {
  setenv("GKHI", environment.gkhi.c_str(), 1);
  setenv("GKHI_DIR", environment.dir.c_str(), 1);
  setenv("GKHI_KEEP", "1", 1);
  setenv("GKHI_AGENT", "thread", 1);
  if (environment.preload.empty()) return;
  const char *before = getenv("LD_PRELOAD");
  const std::string preload =
      before != nullptr && *before ? environment.preload + ":" + before : environment.preload;
  setenv("LD_PRELOAD", preload.c_str(), 1);
}

// The program behind a command word, as execvp() finds it.
std::string FindProgram(const std::string &word) {
  if (word.find('/') != word.npos) return word;
  const char *path = getenv("PATH");
  std::string_view rest = path != nullptr ? path : "/bin:/usr/bin";
  for (;;) {
    const size_t end = rest.find(':');
    const std::string candidate = std::string(rest.substr(0, end)) + "/" + word;
    if (access(candidate.c_str(), X_OK) == 0) return candidate;
    if (end == rest.npos) return word;
    rest.remove_prefix(end + 1);
  }
}

size_t RoundUp4(size_t n) {
  return (n + 3) & ~size_t{3};
}

// Is there a note of ours in the notes at @notes?
bool HasRuntimeNote(reader::Bytes notes) {
  while (notes.size() >= sizeof(Elf64_Nhdr)) {
    Elf64_Nhdr note;
    std::memcpy(&note, notes.data(), sizeof(note));
    const size_t size = sizeof(note) + RoundUp4(note.n_namesz) + RoundUp4(note.n_descsz);
    if (size > notes.size()) return false;
    const std::string_view owner(reinterpret_cast<const char *>(notes.data()) + sizeof(note), note.n_namesz);
    if (note.n_type == GKHI_NOTE_RUNTIME &&
        owner == std::string_view(GKHI_NOTE_OWNER, sizeof(GKHI_NOTE_OWNER)))
      return true;
    notes = notes.subspan(size);
  }
  return false;
}

// The runtime is linked into the program itself.
bool HasRuntime(const std::string &path) {
  Result<reader::MappedFile> file = reader::MappedFile::Open(path);
  if (!file || file->size() < sizeof(Elf64_Ehdr)) return false;
  Elf64_Ehdr head;
  std::memcpy(&head, file->data(), sizeof(head));
  if (std::memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_ident[EI_CLASS] != ELFCLASS64) return false;
  for (uint64_t i = 0; i < head.e_phnum; i++) {
    const uint64_t at = head.e_phoff + i * sizeof(Elf64_Phdr);
    if (at > file->size() || file->size() - at < sizeof(Elf64_Phdr)) return false;
    Elf64_Phdr segment;
    std::memcpy(&segment, file->data() + at, sizeof(segment));
    if (segment.p_type != PT_NOTE || segment.p_offset > file->size() ||
        file->size() - segment.p_offset < segment.p_filesz)
      continue;
    if (HasRuntimeNote(file->bytes().subspan(segment.p_offset, segment.p_filesz))) return true;
  }
  return false;
}

}  // namespace

SignalTaker::SignalTaker() {
  const sigset_t set = PassedSet();
  sigprocmask(SIG_BLOCK, &set, nullptr);
  fd_ = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

SignalTaker::~SignalTaker() {
  if (fd_ >= 0) close(fd_);
  const sigset_t set = PassedSet();
  sigprocmask(SIG_UNBLOCK, &set, nullptr);
}

std::optional<SignalTaker::Taken> SignalTaker::Next() {
  signalfd_siginfo info;
  if (read(fd_, &info, sizeof(info)) != sizeof(info)) return std::nullopt;
  return Taken{static_cast<int>(info.ssi_signo), info.ssi_code <= 0};
}

Result<Child> Child::Start(const std::vector<std::string> &command, const Environment &environment,
                           int *exit_code) {
  // The pipe closes when exec succeeds; else it brings errno.
  int report[2];
  if (pipe2(report, O_CLOEXEC) != 0) return Error{fmt::format("cannot make a pipe: {}", strerror(errno))};
  std::vector<std::string> copies = command;
  std::vector<char *> argv;
  for (std::string &word : copies) argv.push_back(word.data());
  argv.push_back(nullptr);
  Child child;
  child.pid_ = fork();
  if (child.pid_ < 0) return Error{fmt::format("cannot fork: {}", strerror(errno))};
  if (child.pid_ == 0) {
    const sigset_t set = PassedSet();
    sigprocmask(SIG_UNBLOCK, &set, nullptr);
    SetEnvironment(environment);
    execvp(argv[0], argv.data());
    const int error = errno;
    _exit(write(report[1], &error, sizeof(error)) == sizeof(error) ? 127 : 126);
  }
  close(report[1]);
  int error = 0;
  const bool failed = read(report[0], &error, sizeof(error)) == sizeof(error);
  close(report[0]);
  if (!failed) return child;
  waitpid(child.pid_, nullptr, 0);
  *exit_code = error == ENOENT ? 127 : 126;
  return Error{fmt::format("cannot run {}: {}", command[0], strerror(error))};
}

bool Child::Poll() {
  int status = 0;
  if (ended_ || waitpid(pid_, &status, WNOHANG) != pid_) return ended_;
  ended_ = true;
  exit_code_ = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  return true;
}

void Child::Signal(int number) const {
  if (!ended_) kill(pid_, number);
}

std::string PreloadFor(const std::string &program) {
  if (HasRuntime(FindProgram(program))) return "";
  std::error_code ec;
  const std::filesystem::path bin = std::filesystem::read_symlink("/proc/self/exe", ec).parent_path();
  for (const char *place : {"../lib", GKHI_LIBDIR}) {
    const std::filesystem::path library = std::filesystem::weakly_canonical(bin / place / kLibrary, ec);
    if (!ec && std::filesystem::exists(library, ec)) return library.string();
  }
  return "";
}

}  // namespace gkhi::cli
