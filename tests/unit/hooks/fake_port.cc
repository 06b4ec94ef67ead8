// SPDX-License-Identifier: MIT
#include "fake_port.hpp"

#include <cstdlib>
#include <cstring>
#include <mutex>
#include <thread>

#include <gtest/gtest.h>

namespace gkhi_test {

World world;
uint64_t reserved[8192];
uint32_t reserved_id, reserved_words;
int reserve_failures;

void World::Reset() {
  fail_alloc_at = fail_open_at = fail_declare_at = start_error = synchronize_result = synchronized = 0;
  open_error = -ENOSPC;
  read_only.clear();
  strange.clear();
  no_detour.clear();
  log.clear();
  declared.clear();
  changed.clear();
  rounds.clear();
  open_channels.clear();
  seen.clear();
  faults.clear();
  in_synchronize = nullptr;
  keep_seen = true;
  sink = nullptr;
  missed = 0;
}

size_t World::LiveBytes() const {
  size_t n = 0;
  for (const auto &[block, size] : blocks) n += size;
  return n;
}

uint64_t LayoutOf(const std::string &name) {
  return std::hash<std::string>{}(name) | 1;
}

// ------------------------------------------------------------------------------------------------------- an
// object

static std::set<Object *> live;

Object::Object(size_t room) : room_(room), block_(static_cast<char *>(std::calloc(1, room))) {
  const size_t n = room / 1024;
  hooks_ = static_cast<gkhi_hook *>(Take(n * sizeof(gkhi_hook), 64));
  keys_ = static_cast<gkhi_key *>(Take(n * sizeof(gkhi_key), 16));
  code_ = static_cast<std::atomic<const void *> *>(Take(2 * n * sizeof(*code_), 8));
  events_ = static_cast<gkhi_event *>(Take(n * sizeof(gkhi_event), 8));
  records_ = static_cast<char *>(Take(n * 128, 8));
  live.insert(this);
}

void Object::Leave() {
  for (gkhi_object *o = gkhi_core.objects; o; o = o->next) {
    if (o->module.hooks_start != hooks_) continue;
    o->users = 1;
    world.fail_alloc_at = 0;
    port_control_lock();
    gkhi_core_remove(&module_);
    port_control_unlock();
    break;
  }
}

Object::~Object() {
  Leave();
  live.erase(this);
  std::free(block_);
}

void Object::LeaveAll() {
  for (Object *o : live) o->Leave();
}

void *Object::Take(size_t n, size_t align) {
  used_ = (used_ + align - 1) / align * align;
  char *p = block_ + used_;
  used_ += n;
  if (used_ > room_) std::abort();
  return p;
}

const char *Object::String(const std::string &s) {
  auto *p = static_cast<char *>(Take(s.size() + 1, 1));
  std::memcpy(p, s.c_str(), s.size() + 1);
  return p;
}

int Object::Code() {
  code_[n_code_].store(nullptr);
  return n_code_++;
}

static int32_t Distance(const void *to, const void *field) {
  return static_cast<int32_t>(static_cast<const char *>(to) - static_cast<const char *>(field));
}

int Object::Hook(const std::string &name, uint64_t layout, uint16_t flags) {
  gkhi_hook *h = &hooks_[n_hooks_];
  h->name = Distance(String(name), &h->name);
  h->layout = layout ? layout : LayoutOf(name);
  h->fixed_words = 1;
  h->flags = flags;
  keys_of_.emplace_back();
  pads_of_.emplace_back();
  return n_hooks_++;
}

int Object::Key(int hook) {
  gkhi_key *k = &keys_[n_keys_];
  const int code = Code();
  k->code = Distance(&code_[code], &k->code);
  k->target = Distance(&code_[code] + 1, &k->target);
  k->hook = Distance(&hooks_[hook], &k->hook);
  key_codes_.push_back(code);
  keys_of_[static_cast<size_t>(hook)].push_back(code);
  return n_keys_++;
}

int Object::Pad(int hook, const std::string &file, uint32_t line, const std::string &function, bool bare) {
  const gkhi_hook *h = &hooks_[hook];
  const std::string name = reinterpret_cast<const char *>(&h->name) + h->name;
  const int code = Code();
  auto *r = reinterpret_cast<gkhi_record *>(records_ + records_size_);
  std::string body = name + '\0' + function + '\0' + file + '\0';
  body.append("u\x08", 2).append("a", 2).append("%rax", 5);
  const size_t size = (sizeof(*r) + body.size() + 3) / 4 * 4;
  std::memcpy(r + 1, body.data(), body.size());
  *r = {.magic = GKHI_RECORD_MAGIC,
        .version = GKHI_RECORD_VERSION,
        .flags = static_cast<uint8_t>(bare ? GKHI_RECORD_BARE : 0),
        .size = static_cast<uint32_t>(size),
        .layout_lo = static_cast<uint32_t>(h->layout),
        .layout_hi = static_cast<uint32_t>(h->layout >> 32),
        .pad = Distance(&code_[code], &r->pad),
        .line = line,
        .padlen = GKHI_PAD_LEN,
        .nargs = 1,
        .kind = 0,
        .origin = 0};
  records_size_ += size;
  pad_codes_.push_back(code);
  pads_of_[static_cast<size_t>(hook)].push_back(code);
  return static_cast<int>(pad_codes_.size()) - 1;
}

int Object::Place(int hook, const std::string &file, uint32_t line) {
  auto *record = reinterpret_cast<gkhi_record *>(records_ + records_size_);
  const int pad = Pad(hook, file, line);
  record->padlen = 0;
  return pad;
}

void Object::RawRecord(const void *bytes, size_t n) {
  std::memcpy(records_ + records_size_, bytes, n);
  records_size_ += n;
}

void Object::Event(const std::string &name, uint64_t layout, uint8_t states, uint8_t default_state,
                   const char *channel) {
  const size_t colon = name.find(':');
  auto *field = static_cast<gkhi_field *>(Take(sizeof(gkhi_field), 8));
  *field = {.name = String("a"),
            .type = GKHI_T_UINT,
            .size = 8,
            .form = GKHI_FORM_SCALAR,
            .show = 0,
            .offset = 0,
            .len_offset = GKHI_NO_OFFSET,
            .max = 0,
            .n_enumerators = 0,
            .enumerators = nullptr};
  events_[n_events_++] = {.abi = GKHI_ABI_VERSION,
                          .states = states,
                          .stability = 0,
                          .default_state = default_state,
                          .loglevel = 6,
                          .layout = layout ? layout : LayoutOf(name),
                          .provider = String(name.substr(0, colon)),
                          .name = String(name.substr(colon + 1)),
                          .doc = String("A doc."),
                          .message = String("a={a}"),
                          .default_channel = channel ? String(channel) : nullptr,
                          .fields = field,
                          .n_fields = 1,
                          .fixed_words = 1,
                          .n_tails = 0,
                          .max_words = 1,
                          .json = String("{}"),
                          .ctf = String("struct { u64 a; }")};
}

int Object::Usual(const std::string &name) {
  const int hook = Hook(name);
  Key(hook);
  Pad(hook);
  Event(name);
  return hook;
}

gkhi_module *Object::Module() {
  module_.abi = GKHI_ABI_VERSION;
  module_.sites_start = records_;
  module_.sites_stop = records_ + records_size_;
  module_.keys_start = keys_;
  module_.keys_stop = keys_ + n_keys_;
  module_.hooks_start = hooks_;
  module_.hooks_stop = hooks_ + n_hooks_;
  module_.events_start = events_;
  module_.events_stop = events_ + n_events_;
  return &module_;
}

bool Object::KeyJumps(int i) {
  return code_[key_codes_[static_cast<size_t>(i)]].load() != nullptr;
}
bool Object::PadJumps(int i) {
  return code_[pad_codes_[static_cast<size_t>(i)]].load() != nullptr;
}

// -------------------------------------------------------------------------------------------- the side of
// events

static int FakeWrite(gkhi_channel *ch, const gkhi_payload *p) {
  if (auto *sink = world.sink.load()) sink(ch, p->id, p->frame);
  if (world.keep_seen) world.seen.push_back({ch->config.name, p->id, p->frame[0]});
  return 0;
}

// What a fast stub and a detour do alike: the route is loaded, and used, inside a sequence.
static void Record(gkhi_hook *hook, const uint64_t *frame) {
  while (world.restart.load()) std::this_thread::yield();
  {
    std::shared_lock<std::shared_mutex> sequence(world.sequences);
    auto *route = static_cast<gkhi_route *>(__atomic_load_n(&hook->route, __ATOMIC_ACQUIRE));
    if (route->n_cpus[0] != 0) {
      const gkhi_payload p = {nullptr, hook->id, frame};
      FakeWrite(route->channel, &p);
      return;
    }
  }
  gkhi_dispatch(hook, frame);
}

static void Call(gkhi_hook *hook, const uint64_t *frame) {
  const void *stub = __atomic_load_n(&hook->stub, __ATOMIC_ACQUIRE);
  if (stub != gkhi_stub_none) Record(hook, frame);
}

void Object::FireFrame(int hook, const uint64_t *frame, int nth) {
  const auto h = static_cast<size_t>(hook);
  const auto n = static_cast<size_t>(nth);
  if (!code_[keys_of_[h][n]].load(std::memory_order_acquire)) return;
  if (__atomic_load_n(&hooks_[hook].mode, __ATOMIC_ACQUIRE) != GKHI_MODE_PAD) {
    Call(&hooks_[hook], frame);
  } else if (code_[pads_of_[h][n]].load(std::memory_order_acquire)) {
    Record(&hooks_[hook], frame);
  } else {
    world.missed++;
  }
}

void Object::Fire(int hook, uint64_t word, int nth) {
  FireFrame(hook, &word, nth);
}

void Object::FireLoaded(int hook, uint64_t word) {
  if (__atomic_load_n(&hooks_[hook].mode, __ATOMIC_ACQUIRE) != GKHI_MODE_OFF) Call(&hooks_[hook], &word);
}

void Object::FireBare(int pad, int hook, uint64_t word) {
  if (PadJumps(pad)) Record(&hooks_[hook], &word);
}

// ---------------------------------------------------------------------------------------------------------
// helpers

BatchResult Batch(std::string_view text, unsigned int flags) {
  std::array<char, 2000> error{};
  port_control_lock();
  const int err = gkhi_batch_run(text.data(), text.size(), flags, error.data(), error.size());
  port_control_unlock();
  return {err, error.data()};
}

gkhi_hook_info Describe(const std::string &name, uint64_t layout) {
  gkhi_hook_info info{};
  const gkhi_hook_entry *e = gkhi_entry_find(name.c_str(), name.size(), layout ? layout : LayoutOf(name));
  if (e) gkhi_core_describe(e, &info);
  return info;
}

std::string StateOf(const std::string &name) {
  const gkhi_hook_info info = Describe(name);
  if (!info.name) return "no hook";
  std::string s = gkhi_state_name(info.state);
  if (info.effective != info.state) s += std::string("/") + gkhi_state_name(info.effective);
  if (info.why != GKHI_WHY_OK) s += std::string(" (") + gkhi_why_text(info.why) + ")";
  return s;
}

void CoreTest::SetUp() {
  world.Reset();
  ResetCore();
  ASSERT_TRUE(world.blocks.empty()) << "an earlier test left memory";
}

void CoreTest::TearDown() {
  world.fail_alloc_at = 0;
  world.in_synchronize = nullptr;
  Object::LeaveAll();
  ResetCore();
  EXPECT_EQ(world.LiveBytes(), 0u);
  EXPECT_TRUE(world.open_channels.empty());
  EXPECT_EQ(world.missed.load(), 0u);
}

int CoreTest::AddResult(Object &object) {
  port_control_lock();
  const int err = gkhi_core_add(object.Module());
  port_control_unlock();
  return err;
}

void CoreTest::Remove(Object &object) {
  port_control_lock();
  gkhi_core_remove(object.Module());
  port_control_unlock();
}

}  // namespace gkhi_test

// ------------------------------------------------------------------------------------------------------- the
// port

using gkhi_test::world;

extern "C" {

const char gkhi_stub_none[] = "none";
const char gkhi_stub_generic[] = "generic";

static bool Countdown(int *n) {
  return *n > 0 && --*n == 0;
}

void *port_alloc(size_t size) {
  if (world.fail_alloc_at == 1) return nullptr;
  if (world.fail_alloc_at > 1) world.fail_alloc_at--;
  void *p = std::calloc(1, size ? size : 1);
  world.blocks[p] = size;
  return p;
}

void port_free(void *p, size_t size) {
  if (!p) return;
  auto it = world.blocks.find(p);
  if (it == world.blocks.end())
    ADD_FAILURE() << "freed what was not allocated";
  else if (it->second != size)
    ADD_FAILURE() << "freed " << size << " bytes of " << it->second;
  if (it != world.blocks.end()) world.blocks.erase(it);
  std::free(p);
}

static std::mutex control;
void port_control_lock(void) {
  control.lock();
}
void port_control_unlock(void) {
  control.unlock();
}

int port_restart_sequences(void) {
  world.restart = true;
  world.sequences.lock();
  world.restart = false;
  world.sequences.unlock();
  return 0;
}

#include "port_read.h"

int port_synchronize(void) {
  world.synchronized++;
  if (world.in_synchronize) world.in_synchronize();
  port_restart_sequences();
  for (int pass = 0; pass < 2; pass++) {
    const unsigned int side = port_readers_flip();
    while (port_readers_of(side)) std::this_thread::yield();
  }
  return world.synchronize_result;
}

int port_start(const char **why) {
  *why = "there is no world";
  return world.start_error;
}

void port_call_saving_vectors(void (*fn)(void *, void *), void *a, void *b) {
  fn(a, b);
}

int port_patch(struct port_patch *patches, size_t n) {
  int failed = 0;
  std::vector<const void *> round;
  for (size_t i = 0; i < n; i++) {
    auto *cell = static_cast<std::atomic<const void *> *>(patches[i].addr);
    round.push_back(cell);
    EXPECT_TRUE(i == 0 || patches[i - 1].addr < patches[i].addr) << "not in order of address";
    EXPECT_TRUE(cell->load() == nullptr || cell->load() == patches[i].ours) << "not ours";
    patches[i].status = world.read_only.count(cell) ? -EACCES : world.strange.count(cell) ? -EBUSY : 0;
    if (patches[i].status)
      failed++;
    else
      cell->store(patches[i].target, std::memory_order_release);
  }
  world.rounds.push_back(std::move(round));
  return failed;
}

void port_sync_core(void) {}

int port_detour(const struct gkhi_record *record, struct gkhi_hook *, const struct gkhi_event *,
                const void **entry, enum gkhi_why *why) {
  const char *pad = reinterpret_cast<const char *>(&record->pad) + record->pad;
  if (world.no_detour.count(pad)) {
    *why = GKHI_WHY_NO_DETOUR;
    return -ERANGE;
  }
  *entry = pad + 1;
  return 0;
}

const void *port_stub(const struct gkhi_event *, const struct gkhi_route *) {
  return gkhi_stub_generic;
}

int port_event_declare(const struct gkhi_event *event, uint32_t id, uint32_t stream_class) {
  if (Countdown(&world.fail_declare_at)) return -ENOSPC;
  world.declared.push_back(std::string(event->name) + "/" + std::to_string(id) + "/" +
                           std::to_string(stream_class));
  return 0;
}

void port_hook_changed(struct gkhi_hook_entry *entry) {
  gkhi_hook_info info;
  gkhi_core_describe(entry, &info);
  if (world.keep_seen) world.changed.push_back(info.name);
}

void port_hook_switched(uint32_t, uint8_t, uint8_t, uint8_t) {}
void port_hook_faulted(uint32_t slot, uint64_t n) {
  world.faults.emplace_back(slot, n);
}
void port_channels_changed(void) {}
bool port_orphan;
void port_adopt(void) {
  port_orphan = false;
}
void port_log(const char *line) {
  world.log.emplace_back(line);
}
const char *port_module_name(const struct gkhi_module *) {
  return "/usr/lib/libfake.so.1";
}

const char *port_site_function(const struct gkhi_record *record, const void *) {
  return gkhi_record_function(record);
}

void port_site_functions_done(void) {}

// Channels: "ring" has a route that stubs use by themselves, "printk" does not and is not re-entrant.
static int FakeOpen(struct gkhi_channel *ch) {
  if (Countdown(&world.fail_open_at)) return world.open_error;
  if (!std::strcmp(ch->config.backend, "ring")) {
    auto *route = static_cast<gkhi_route *>(port_alloc(sizeof(gkhi_route)));
    if (!route) return -ENOMEM;
    route->n_cpus[0] = 1;
    route->channel = ch;
    ch->route = route;
  }
  world.open_channels.emplace_back(ch->config.name);
  return 0;
}

static void FakeClose(struct gkhi_channel *ch) {
  auto &open = world.open_channels;
  for (auto it = open.begin(); it != open.end(); ++it) {
    if (*it != ch->config.name) continue;
    open.erase(it);
    if (!std::strcmp(ch->config.backend, "ring")) port_free(ch->route, sizeof(gkhi_route));
    return;
  }
  ADD_FAILURE() << "closed what was not open: " << ch->config.name;
}

static void *FakeReserve(struct gkhi_channel *, uint32_t id, uint32_t words) {
  using namespace gkhi_test;
  if (reserve_failures > 0 && reserve_failures--) return nullptr;
  reserved_id = id;
  reserved_words = words;
  return reserved;
}

static void FakeCommit(struct gkhi_channel *ch, void *reservation) {
  using namespace gkhi_test;
  EXPECT_EQ(reservation, reserved);
  world.seen.push_back({ch->config.name, reserved_id, reserved[0]});
}

static const gkhi_backend fake_ring = {"ring",      0,          FakeOpen, FakeClose, gkhi_test::FakeWrite,
                                       FakeReserve, FakeCommit, nullptr,  nullptr,   nullptr};
static const gkhi_backend fake_printk = {"printk",
                                         GKHI_BACKEND_FOREIGN | GKHI_BACKEND_TEXT,
                                         FakeOpen,
                                         FakeClose,
                                         gkhi_test::FakeWrite,
                                         nullptr,
                                         nullptr,
                                         nullptr,
                                         nullptr,
                                         nullptr};

const struct gkhi_backend *gkhi_backend_find(const char *name) {
  if (!std::strcmp(name, "ring")) return &fake_ring;
  return std::strcmp(name, "printk") ? nullptr : &fake_printk;
}

}  // extern "C"
