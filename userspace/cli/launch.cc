// SPDX-License-Identifier: MIT
// fork, exec, signals.
#include "launch.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <gelf.h>
#include <gkhi/control.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

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
    std::string candidate = std::string(rest.substr(0, end)) + "/" + word;
    if (access(candidate.c_str(), X_OK) == 0) return candidate;
    if (end == rest.npos) return word;
    rest.remove_prefix(end + 1);
  }
}

struct ElfFile {
  explicit ElfFile(const std::string &path) : fd(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    elf_version(EV_CURRENT);
    if (fd >= 0) elf = elf_begin(fd, ELF_C_READ_MMAP, nullptr);
  }
  ~ElfFile() {
    elf_end(elf);
    if (fd >= 0) close(fd);
  }
  ElfFile(const ElfFile &) = delete;
  ElfFile &operator=(const ElfFile &) = delete;

  int fd;
  Elf *elf = nullptr;
};

// The note by which the runtime is found: it is linked in.
bool HasRuntimeNote(Elf_Data *notes) {
  const std::string_view ours(GKHI_NOTE_OWNER, sizeof(GKHI_NOTE_OWNER));
  GElf_Nhdr note;
  size_t name = 0;
  size_t descriptor = 0;
  for (size_t at = 0; (at = gelf_getnote(notes, at, &note, &name, &descriptor)) > 0;) {
    const std::string_view owner(static_cast<const char *>(notes->d_buf) + name, note.n_namesz);
    if (note.n_type == GKHI_NOTE_RUNTIME && owner == ours) return true;
  }
  return false;
}

bool NeedsRuntime(Elf *elf, const GElf_Shdr &section, Elf_Data *dynamic) {
  GElf_Dyn entry;
  for (int i = 0; gelf_getdyn(dynamic, i, &entry) != nullptr; i++) {
    const char *name =
        entry.d_tag == DT_NEEDED ? elf_strptr(elf, section.sh_link, entry.d_un.d_val) : nullptr;
    if (name != nullptr && std::strcmp(name, kLibrary) == 0) return true;
  }
  return false;
}

// The program brings the runtime: linked in, or as a library it was linked with.
bool HasRuntime(const std::string &path) {
  const ElfFile file(path);
  if (file.elf == nullptr || elf_kind(file.elf) != ELF_K_ELF) return false;
  for (Elf_Scn *scn = elf_nextscn(file.elf, nullptr); scn != nullptr; scn = elf_nextscn(file.elf, scn)) {
    GElf_Shdr section;
    if (gelf_getshdr(scn, &section) == nullptr) continue;
    if (section.sh_type != SHT_NOTE && section.sh_type != SHT_DYNAMIC) continue;
    Elf_Data *data = elf_getdata(scn, nullptr);
    if (data == nullptr) continue;
    if (section.sh_type == SHT_NOTE ? HasRuntimeNote(data) : NeedsRuntime(file.elf, section, data))
      return true;
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
  argv.reserve(copies.size() + 1);
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
