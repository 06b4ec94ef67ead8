// SPDX-License-Identifier: MIT
#include "request.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <set>

#include "attach.hpp"
#include "procfs.hpp"

namespace gkhi {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// "<pid>-<starttime>[.image]"; false: not such a name.
bool ParseName(const char *name, ProcessDirectory *dir) {
  char *end = nullptr;
  if (*name < '1' || *name > '9') return false;
  dir->pid = static_cast<pid_t>(std::strtol(name, &end, 10));
  if (*end++ != '-' || *end < '0' || *end > '9') return false;
  dir->starttime = std::strtoull(end, &end, 10);
  dir->image = 0;
  if (*end == '.') dir->image = static_cast<uint32_t>(std::strtoul(end + 1, &end, 10));
  return *end == 0;
}

// Does the process map this control file? Only then is it the program that made it, and not one after an
// exec.
bool MapsControl(pid_t pid, const std::string &directory) {
  struct stat st;
  if (stat((directory + "/control").c_str(), &st)) return false;
  for (const Mapping &m : ReadMaps(pid)) {
    if (m.inode == st.st_ino && m.path.find("/control") != std::string::npos) return true;
  }
  return false;
}

bool IsAlive(const ProcessDirectory &dir) {
  auto starttime = ReadStartTime(dir.pid);
  if (!starttime || (dir.starttime && *starttime != dir.starttime)) return false;
  return MapsControl(dir.pid, dir.path);
}

void ListFolder(const std::string &folder, std::vector<ProcessDirectory> *all) {
  DIR *d = opendir(folder.c_str());
  if (!d) return;
  while (const dirent *entry = readdir(d)) {
    ProcessDirectory dir;
    if (!ParseName(entry->d_name, &dir)) continue;
    dir.path = folder + "/" + entry->d_name;
    if (access((dir.path + "/control").c_str(), R_OK)) continue;
    dir.alive = IsAlive(dir);
    all->push_back(std::move(dir));
  }
  closedir(d);
}

bool Older(const ProcessDirectory &a, const ProcessDirectory &b) {
  return std::tie(a.pid, a.starttime, a.image) < std::tie(b.pid, b.starttime, b.image);
}

void AddFolder(std::vector<std::string> *folders, std::string folder) {
  if (std::find(folders->begin(), folders->end(), folder) == folders->end())
    folders->push_back(std::move(folder));
}

// Where this process may have its directory: our folders, and those that its own environment and user name.
std::vector<std::string> FoldersOf(pid_t pid) {
  std::vector<std::string> folders = RuntimeFolders();
  auto dir = ReadEnvironment(pid, "GKHI_DIR");
  if (dir && !dir->empty() && (*dir)[0] == '/') AddFolder(&folders, *dir);
  auto runtime = ReadEnvironment(pid, "XDG_RUNTIME_DIR");
  if (runtime && !runtime->empty()) AddFolder(&folders, *runtime + "/gkhi");
  if (auto status = ReadStatus(pid)) AddFolder(&folders, "/dev/shm/gkhi-" + std::to_string(status->uid));
  return folders;
}

int Futex(const uint32_t *word, int op, uint32_t value, const timespec *timeout) {
  return static_cast<int>(syscall(SYS_futex, word, op, value, timeout, nullptr, 0));
}

uint32_t LoadAcquire(const uint32_t &word) {
  return __atomic_load_n(&word, __ATOMIC_ACQUIRE);
}

std::string ErrnoText(const std::string &what) {
  return what + ": " + std::strerror(errno);
}

// How long a program that has just begun to trace is waited for: its file is filled, its constructors run.
constexpr milliseconds kStarting{1000};

void Nap() {
  const timespec nap{0, 1'000'000};
  nanosleep(&nap, nullptr);
}

uint64_t Monotonic() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

}  // namespace

std::vector<std::string> RuntimeFolders() {
  std::vector<std::string> folders;
  if (const char *dir = std::getenv("GKHI_DIR"); dir && *dir) {
    folders.emplace_back(dir);
    return folders;
  }
  if (const char *runtime = std::getenv("XDG_RUNTIME_DIR"); runtime && *runtime)
    folders.push_back(std::string(runtime) + "/gkhi");
  AddFolder(&folders, "/dev/shm/gkhi-" + std::to_string(geteuid()));
  return folders;
}

std::vector<ProcessDirectory> ListProcesses() {
  std::vector<ProcessDirectory> all;
  for (const std::string &folder : RuntimeFolders()) ListFolder(folder, &all);
  std::sort(all.begin(), all.end(), Older);
  return all;
}

struct Process::Impl {
  std::string dir;
  pid_t pid = 0;
  int dir_fd = -1;  // whoever owns the folder may put another one in its place
  int fd = -1;
  gkhi_control *control = nullptr;
  size_t mapped = 0;

  ~Impl() {
    if (control) munmap(control, mapped);
    if (fd >= 0) close(fd);
    if (dir_fd >= 0) close(dir_fd);
  }
  Status Map(size_t size);
  const gkhi_control_hook *Table() const {
    return reinterpret_cast<const gkhi_control_hook *>(reinterpret_cast<const char *>(control) +
                                                       control->hooks_offset);
  }
  Status WriteBatch(std::string_view batch);
  bool WaitDone(uint32_t request, Clock::time_point until) const;
  Status Ask(uint32_t request, Clock::time_point deadline);
  Result<std::string> RunOnce(std::string_view batch, Clock::time_point deadline);
  bool AwaitMoreHooks(uint32_t seen) const;
  bool BeingMade() const;
  void Withdraw() { __atomic_store_n(&control->batch_size, 0, __ATOMIC_RELEASE); }
};

// Maps the first `size` bytes of the file, which must be there: behind its end is a SIGBUS.
Status Process::Impl::Map(size_t size) {
  struct stat st;
  if (fstat(fd, &st)) return Error{ErrnoText(dir + "/control")};
  if (static_cast<size_t>(st.st_size) < size)
    return Error{dir + "/control: found " + std::to_string(st.st_size) + " bytes, wanted " +
                 std::to_string(size)};
  const bool writable = (fcntl(fd, F_GETFL) & O_ACCMODE) == O_RDWR;
  void *at = mmap(nullptr, size, writable ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED, fd, 0);
  if (at == MAP_FAILED) return Error{ErrnoText(dir + "/control")};
  if (control) munmap(control, mapped);
  control = static_cast<gkhi_control *>(at);
  mapped = size;
  return Done{};
}

Process::Process(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Process::Process(Process &&) noexcept = default;
Process &Process::operator=(Process &&) noexcept = default;
Process::~Process() = default;

// There, and not yet what it will be: the magic comes last.
bool Process::Impl::BeingMade() const {
  struct stat st;
  uint64_t magic = 0;
  if (fstat(fd, &st) || !ReadStartTime(pid)) return false;
  return st.st_size == 0 || pread(fd, &magic, sizeof(magic), 0) != sizeof(magic) || magic == 0;
}

Result<Process> Process::OpenDirectory(const std::string &path) {
  auto impl = std::make_unique<Impl>();
  const std::string file = path + "/control";
  ProcessDirectory dir;
  impl->dir = path;
  if (ParseName(path.c_str() + path.find_last_of('/') + 1, &dir)) impl->pid = dir.pid;
  constexpr int kFlags = O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
  impl->dir_fd = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (impl->dir_fd < 0) return Error{ErrnoText(file)};
  impl->fd = openat(impl->dir_fd, "control", O_RDWR | kFlags);
  if (impl->fd < 0) impl->fd = openat(impl->dir_fd, "control", O_RDONLY | kFlags);
  if (impl->fd < 0) return Error{ErrnoText(file)};
  for (auto until = Clock::now() + kStarting; impl->pid && impl->BeingMade(); Nap())
    if (Clock::now() > until) return Error{file + ": the process has not finished starting"};
  if (auto status = impl->Map(sizeof(gkhi_control)); !status) return Error{status.error()};
  const gkhi_control &c = *impl->control;
  if (c.magic != GKHI_CONTROL_MAGIC) return Error{file + ": not a control file (wrong magic)"};
  if (c.version != GKHI_CONTROL_VERSION)
    return Error{file + ": found version " + std::to_string(c.version) + ", wanted " +
                 std::to_string(GKHI_CONTROL_VERSION)};
  if (!impl->pid) impl->pid = static_cast<pid_t>(c.pid);
  return Process(std::move(impl));
}

Result<Process> Process::Find(pid_t pid) {
  std::vector<ProcessDirectory> all;
  for (const std::string &folder : FoldersOf(pid)) ListFolder(folder, &all);
  std::sort(all.begin(), all.end(), Older);
  const ProcessDirectory *newest = nullptr;
  for (const ProcessDirectory &dir : all)
    if (dir.pid == pid) newest = &dir;
  // A live process that has not traced since its exec (or whose pid is used anew) is not those from before.
  if (newest && (newest->alive || !ReadStartTime(pid))) return OpenDirectory(newest->path);
  return Error{"process " + std::to_string(pid) + ": it has no directory in " + RuntimeFolders().front() +
               ": nobody asked it to trace yet"};
}

Result<Process> Process::Open(pid_t pid, milliseconds timeout) {
  if (auto found = Find(pid)) return found;
  auto reply = RemoteCall(pid, GKHI_OP_OPEN, timeout);
  if (!reply) return Error{reply.error()};
  if (reply->result)
    return Error{"process " + std::to_string(pid) + ": " +
                 (reply->error.empty() ? std::strerror(-reply->result) : reply->error)};
  // Its root directory may be another than ours: a container, a chroot.
  Result<Process> opened = OpenDirectory(reply->dir);
  if (!opened) opened = OpenDirectory("/proc/" + std::to_string(pid) + "/root" + reply->dir);
  if (opened) opened->impl_->pid = pid;
  return opened;
}

const std::string &Process::dir() const {
  return impl_->dir;
}
const gkhi_control &Process::control() const {
  return *impl_->control;
}

bool Process::Alive() const {
  auto starttime = ReadStartTime(impl_->pid);
  return starttime && (!impl_->control->starttime || *starttime == impl_->control->starttime) &&
         !impl_->control->ended;
}

Result<std::vector<gkhi_control_hook>> Process::Hooks() {
  const uint32_t n = LoadAcquire(impl_->control->n_hooks);
  const size_t size = impl_->control->hooks_offset + size_t{n} * sizeof(gkhi_control_hook);
  if (impl_->control->hooks_offset < sizeof(gkhi_control) || n > 16u << 20)
    return Error{impl_->dir + "/control: damaged head"};
  if (size > impl_->mapped) {
    if (auto status = impl_->Map(size); !status) return Error{status.error()};
  }
  const gkhi_control_hook *table = impl_->Table();
  return std::vector<gkhi_control_hook>(table, table + n);
}

// A call whose gkhi was killed may be reading the one before.
Status Process::Impl::WriteBatch(std::string_view batch) {
  Withdraw();
  if (batch.size() <= sizeof(control->batch)) {
    std::memcpy(control->batch, batch.data(), batch.size());
  } else {
    const std::string fresh = dir + "/request.new";
    unlinkat(dir_fd, "request.new", 0);  // of one that was killed
    int out = openat(dir_fd, "request.new", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (out < 0) return Error{ErrnoText(fresh)};
    size_t put = 0;
    while (put < batch.size()) {
      ssize_t n = write(out, batch.data() + put, batch.size() - put);
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) break;
      put += static_cast<size_t>(n);
    }
    Status status = Done{};
    if (put < batch.size()) status = Error{ErrnoText(fresh)};
    // The process may run as another user than root, who asks.
    struct stat st;
    if (fstat(fd, &st) == 0 && fchown(out, st.st_uid, st.st_gid) && st.st_uid != geteuid())
      status = Error{ErrnoText(fresh)};
    close(out);
    if (status && renameat(dir_fd, "request.new", dir_fd, "request")) status = Error{ErrnoText(fresh)};
    if (!status) {
      unlinkat(dir_fd, "request.new", 0);
      return status;
    }
  }
  __atomic_store_n(&control->batch_size, static_cast<uint32_t>(batch.size()), __ATOMIC_RELEASE);
  return Done{};
}

bool Process::Impl::WaitDone(uint32_t request, Clock::time_point until) const {
  for (;;) {
    const uint32_t done = LoadAcquire(control->done);
    if (done == request) return true;
    const auto left = std::chrono::duration_cast<milliseconds>(until - Clock::now()).count();
    if (left <= 0) return false;
    const timespec slice{0, std::min<long>(left, 50) * 1'000'000L};  // in slices: it may die meanwhile
    Futex(&control->done, FUTEX_WAIT, done, &slice);
    // A zombie has no maps: nobody will answer.
    if (LoadAcquire(control->done) != request && !MapsControl(pid, dir)) return false;
  }
}

Status Process::Impl::Ask(uint32_t request, Clock::time_point deadline) {
  const std::string who = "process " + std::to_string(pid);
  if (control->agent == GKHI_AGENT_THREAD) {
    Futex(&control->request, FUTEX_WAKE, INT_MAX, nullptr);
    if (WaitDone(request, deadline)) return Done{};
    return Error{who + ": its agent thread did not answer in time"};
  }
  if (control->agent == GKHI_AGENT_POLL) {
    const auto left = deadline - Clock::now();
    if (WaitDone(request, Clock::now() + left / 2)) return Done{};
  }
  const auto left = std::chrono::duration_cast<milliseconds>(deadline - Clock::now());
  auto reply = RemoteCall(pid, GKHI_OP_RUN, std::max(left, milliseconds(1)));
  if (LoadAcquire(control->done) == request) return Done{};
  if (!reply) return Error{reply.error()};
  return Error{who + ": it did not take the request: " + std::strerror(-reply->result)};
}

Result<std::string> Process::Impl::RunOnce(std::string_view batch, Clock::time_point deadline) {
  if (auto status = WriteBatch(batch); !status) return Error{status.error()};
  const uint32_t request = __atomic_add_fetch(&control->request, 1, __ATOMIC_ACQ_REL);
  auto status = Ask(request, deadline);
  const std::string reply(control->reply, strnlen(control->reply, sizeof(control->reply)));
  if (!status) {
    Withdraw();
    return Error{status.error()};
  }
  if (control->status) return Error{reply.empty() ? std::strerror(-control->status) : reply};
  return reply;
}

// An object's constructor makes rows of its hooks; how long after the file was made, nobody can tell.
bool Process::Impl::AwaitMoreHooks(uint32_t seen) const {
  constexpr auto kPatience = static_cast<uint64_t>(std::chrono::nanoseconds(kStarting).count());
  for (; Monotonic() - control->clock_monotonic < kPatience && ReadStartTime(pid); Nap())
    if (LoadAcquire(control->n_hooks) != seen) return true;
  return false;
}

Result<std::string> Process::Run(std::string_view batch, milliseconds timeout) {
  const gkhi_control *c = impl_->control;
  if (!Alive()) return Error{"process " + std::to_string(impl_->pid) + ": it has ended"};
  if ((fcntl(impl_->fd, F_GETFL) & O_ACCMODE) != O_RDWR)
    return Error{impl_->dir + "/control: it may be read only, wanted write too"};
  if (batch.size() > 16u << 20) return Error{"the batch has more than 16 MiB"};
  const Clock::time_point deadline = Clock::now() + timeout;
  for (; flock(impl_->fd, LOCK_EX | LOCK_NB); Nap()) {
    if (errno != EWOULDBLOCK && errno != EINTR) return Error{ErrnoText(impl_->dir + "/control")};
    if (Clock::now() > deadline) return Error{impl_->dir + "/control: another gkhi holds it"};
  }
  const bool starting = LoadAcquire(c->n_hooks) == 0;
  for (;;) {
    const uint32_t seen = LoadAcquire(c->n_hooks);
    Result<std::string> answer = impl_->RunOnce(batch, deadline);
    if (answer || !starting || c->status != -ENOENT || !impl_->AwaitMoreHooks(seen)) {
      flock(impl_->fd, LOCK_UN);
      return answer;
    }
  }
}

}  // namespace gkhi
