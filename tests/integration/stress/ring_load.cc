// SPDX-License-Identifier: MIT
#include "ring_load.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

extern "C" const void *port_stub(const gkhi_event *event, const gkhi_route *route);

namespace gkhi_stress {
namespace {

constexpr uint32_t kStringMax = 64;
constexpr uint16_t kFixedWords[kKinds] = {2, 4, 3, 2, 2};

size_t StringLength(uint64_t writer, uint64_t seq) {
  return Hash(writer, seq) % (kStringMax - 4);
}

// Text of writer and seq, with its NUL and the padding that the format asks for.
size_t MakeString(uint64_t writer, uint64_t seq, char text[kStringMax + 8]) {
  const size_t length = StringLength(writer, seq);
  std::memset(text, 0, kStringMax + 8);
  for (size_t i = 0; i < length; i++) text[i] = static_cast<char>('!' + (seq + i * (writer + 1)) % 90);
  return length;
}

uint32_t BlockWords(uint64_t writer, uint64_t seq) {
  return Hash(seq, writer) % kBlockMax;
}

gkhi_field Tail(uint8_t type, uint8_t size, uint8_t form, uint32_t max, uint16_t len_offset) {
  gkhi_field f{};
  f.name = "tail";
  f.type = type;
  f.size = size;
  f.form = form;
  f.offset = GKHI_NO_OFFSET;
  f.len_offset = len_offset;
  f.max = max;
  return f;
}

}  // namespace

Hooks::Hooks(gkhi_channel *channel) {
  const gkhi_field string = Tail(GKHI_T_STRING, 1, GKHI_FORM_SCALAR, kStringMax, GKHI_NO_OFFSET);
  fields_[kString] = {string};
  fields_[kTwoStrings] = {string, string};
  // Word 1 of a block is its sequence number and, above, how long it is.
  fields_[kBlock] = {Tail(GKHI_T_UINT, 8, GKHI_FORM_SEQUENCE, kBlockMax, 12)};
  for (uint32_t k = 0; k < kKinds; k++) {
    gkhi_event &e = events_[k];
    e.abi = GKHI_ABI_VERSION;
    e.provider = "stress";
    e.name = "event";
    e.fixed_words = kFixedWords[k];
    e.fields = fields_[k].data();
    e.n_fields = e.n_tails = static_cast<uint16_t>(fields_[k].size());
    fakes_[k] = {&e, nullptr};
    gkhi_hook &h = hooks_[k];
    h.stub = const_cast<void *>(port_stub(&e, channel->route));
    h.route = channel->route;
    h.step = gkhi_commit_step(1u + e.fixed_words);
    h.header = h.id = h.counter = static_cast<uint16_t>(k + 1);
    h.fixed_words = e.fixed_words;
    h.string_words = gkhi_event_string_words(&e);
    h.mode = GKHI_MODE_CALL;
    h.priv = &fakes_[k];
  }
}

void Hooks::Route(gkhi_channel *channel) {
  for (gkhi_hook &h : hooks_)
    __atomic_store_n(&h.route, static_cast<void *>(channel->route), __ATOMIC_RELEASE);
}

bool Hooks::Fire(Kind kind, uint64_t writer, uint64_t seq) {
  char text[kStringMax + 8];
  uint64_t block[kBlockMax];
  uint64_t frame[6] = {writer, seq};
  size_t words = kFixedWords[kind];
  switch (kind) {
    case kTwo:
      break;
    case kFour:
      frame[2] = Hash(writer, seq);
      frame[3] = Hash(seq, writer);
      break;
    case kString:
    case kTwoStrings:
      MakeString(writer, seq, text);
      frame[2] = kind == kString ? Hash(writer, seq) : reinterpret_cast<uintptr_t>(text);
      frame[3] = reinterpret_cast<uintptr_t>(text);
      words = 4;
      break;
    default: {
      const uint32_t n = BlockWords(writer, seq);
      for (uint32_t i = 0; i < n; i++) block[i] = Hash(writer + i, seq);
      frame[1] = seq | uint64_t{n} << 32;
      frame[2] = reinterpret_cast<uintptr_t>(block);
      words = 3;
    }
  }
  fake_dispatch_error = 0;
  if (!fake_site_call(&hooks_[kind], frame, words)) std::abort();  // a register was changed
  return fake_dispatch_error == 0;
}

Ledger::Ledger(size_t writers, size_t events_each)
    : seen_(writers, std::vector<uint64_t>((events_each + 63) / 64)), got_(writers) {}

void Ledger::Fault(const std::string &what) {
  if (faults_++ == 0) first_fault_ = what;
}

bool Ledger::CheckPayload(Kind kind, const uint64_t *payload, size_t left, size_t *used) {
  if (left < kFixedWords[kind]) return false;
  const uint64_t writer = payload[0], seq = payload[1] & 0xffffffff;
  *used = kFixedWords[kind];
  switch (kind) {
    case kTwo:
      return payload[1] == seq;
    case kFour:
      return payload[2] == Hash(writer, seq) && payload[3] == Hash(seq, writer);
    case kString:
    case kTwoStrings: {
      char text[kStringMax + 8];
      const size_t words = MakeString(writer, seq, text) / 8 + 1;
      const int copies = kind == kString ? 1 : 2;
      if (kind == kString && payload[2] != Hash(writer, seq)) return false;
      if (left < *used + copies * words) return false;
      for (int i = 0; i < copies; i++, *used += words)
        if (std::memcmp(payload + *used, text, words * 8) != 0) return false;
      return true;
    }
    default: {
      const uint32_t n = BlockWords(writer, seq);
      if (payload[1] >> 32 != n || left < 2 + n) return false;
      *used += n;
      for (uint32_t i = 0; i < n; i++)
        if (payload[2 + i] != Hash(writer + i, seq)) return false;
      return true;
    }
  }
}

bool Ledger::TakeRecord(const uint64_t *words, size_t left, size_t *used) {
  const uint32_t id = words[0] & 0xffff;
  if (id == 0 || id > kKinds) {
    Fault(fmt::format("id {} in {:#x}", id, words[0]));
    return false;
  }
  if (!CheckPayload(static_cast<Kind>(id - 1), words + 1, left - 1, used)) {
    Fault(fmt::format("torn event of kind {}: {:#x} {:#x}", id - 1, words[1], words[2]));
    return false;
  }
  *used += 1;
  const uint64_t writer = words[1], seq = words[2] & 0xffffffff;
  events_++;
  if (seen_.empty()) return true;
  if (writer >= seen_.size() || seq / 64 >= seen_[writer].size()) {
    Fault(fmt::format("writer {} never fired number {}", writer, seq));
    return false;
  }
  uint64_t &bits = seen_[writer][seq / 64];
  if (bits >> (seq % 64) & 1) Fault(fmt::format("number {} of writer {} came twice", seq, writer));
  bits |= 1ull << (seq % 64);
  got_[writer]++;
  return true;
}

void Ledger::Take(const gkhi_packet &header, const char *content, size_t bytes, uint32_t count) {
  const auto *words = reinterpret_cast<const uint64_t *>(content);
  const size_t n = bytes / 8;
  uint64_t time = header.timestamp_begin;
  uint32_t parsed = 0;
  for (size_t at = 0, used; at < n; at += used, parsed++) {
    const uint64_t stamp = words[at] >> 16, delta = (stamp - time) & ((1ull << GKHI_TIME_BITS) - 1);
    if (delta > GKHI_PACKET_MAX_TICKS) Fault("time went back inside a packet");
    time += delta;
    if (n - at < 3 || !TakeRecord(words + at, n - at, &used)) return;
  }
  if (parsed != count) Fault(fmt::format("{} events in a packet that says {}", parsed, count));
  if (header.timestamp_end < time) Fault("an event is later than its packet");
}

Consumer::Consumer(const void *file, Ledger *ledger)
    : file_(static_cast<const gkhi_ring_file *>(file)), ledger_(ledger) {
  const char *base = static_cast<const char *>(file) + GKHI_RING_PAGE;
  for (uint32_t i = 0; i < file_->n_streams; i++, base += file_->stride)
    streams_.push_back(
        {const_cast<gkhi_ring_cpu *>(reinterpret_cast<const gkhi_ring_cpu *>(base + file_->cpu_offset)),
         base + file_->data_offset});
}

gkhi_packet Consumer::HeaderOf(const Stream &s, uint64_t seq) const {
  gkhi_packet p;
  std::memcpy(&p, s.data + seq % file_->n_subbufs * file_->subbuf_size, sizeof(p));
  return p;
}

uint64_t Consumer::OpenSeq(const Stream &s, uint64_t *commit) const {
  *commit = __atomic_load_n(&s.cpu->commit, __ATOMIC_ACQUIRE);
  // In discard mode the open packet is less than n_subbufs beyond the tail, so its low 8 bits suffice.
  const uint64_t tail = s.cpu->tail;
  return tail + ((gkhi_commit_packet(*commit) - tail) & 0xff);
}

void Consumer::TakePacket(Stream *s, uint64_t seq, bool open, uint64_t commit) {
  gkhi_packet p = HeaderOf(*s, seq);
  uint64_t bytes = p.content_size / 8;
  uint32_t count = gkhi_commit_count(commit);
  if (open) {
    bytes = gkhi_commit_offset(commit) % file_->subbuf_size + 8;
    p.timestamp_end = ~uint64_t{0};
    p.events_discarded = s->cpu->discarded;
  } else {
    count = static_cast<uint32_t>(HeaderOf(*s, seq + 1).count_begin - p.count_begin);
  }
  if (p.magic != GKHI_CTF_MAGIC || p.packet_seq_num != seq || bytes < GKHI_PACKET_HEADER ||
      bytes > file_->subbuf_size)
    return ledger_->Fault(fmt::format("packet {}: header says {}, {} bytes", seq, p.packet_seq_num, bytes));
  if (p.timestamp_begin < s->last_end || p.timestamp_end < p.timestamp_begin)
    ledger_->Fault("packets overlap in time");
  if (p.events_discarded < s->last_discarded) ledger_->Fault("events_discarded went back");
  if (p.count_begin != s->count) ledger_->Fault("count_begin does not continue");
  s->last_end = p.timestamp_end;
  s->last_discarded = p.events_discarded;
  s->count += count;
  ledger_->Take(p, s->data + seq % file_->n_subbufs * file_->subbuf_size + GKHI_PACKET_HEADER,
                bytes - GKHI_PACKET_HEADER, count);
}

bool Consumer::Poll() {
  bool any = false;
  for (Stream &s : streams_) {
    uint64_t commit;
    const uint64_t open = OpenSeq(s, &commit);
    for (uint64_t seq = s.cpu->tail; seq < open; seq++, any = true) {
      TakePacket(&s, seq, false, 0);
      __atomic_store_n(&s.cpu->tail, seq + 1, __ATOMIC_RELEASE);
    }
  }
  return any;
}

void Consumer::Finish() {
  while (Poll()) {
  }
  for (Stream &s : streams_) {
    uint64_t commit;
    const uint64_t open = OpenSeq(s, &commit);
    TakePacket(&s, open, true, commit);
  }
}

uint64_t Consumer::Lost() const {
  uint64_t lost = 0;
  for (const Stream &s : streams_) lost += s.cpu->discarded;
  return lost;
}

void OpenRing(gkhi_channel *channel, uint32_t subbuf_size, uint32_t n_subbufs, uint32_t mode) {
  *channel = {};
  std::strcpy(channel->config.name, "stress");
  channel->config.subbuf_size = subbuf_size;
  channel->config.n_subbufs = n_subbufs;
  channel->config.mode = mode;
  fake_port.n_cpus = static_cast<uint32_t>(sysconf(_SC_NPROCESSORS_CONF));
  fake_port.clock_kind = 1;
  channel->backend = gkhi_backend_find("ring");
  if (channel->backend->open(channel) != 0) std::abort();
}

void CloseRing(gkhi_channel *channel) {
  channel->backend->close(channel);
}

uint64_t Scaled(uint64_t full, uint64_t share) {
  const char *how = std::getenv("GKHI_STRESS");
  return how != nullptr && std::strcmp(how, "full") == 0 ? full : share;
}

}  // namespace gkhi_stress
