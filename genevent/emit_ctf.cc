// SPDX-License-Identifier: MIT
// A complete CTF 1.8 metadata file. A trace's own metadata is written by the tracer, which knows the ids;
// this one is for readers of the declarations alone, and for tests of the layout. The blocks are those of
// gkhi/packet.h.
#include <fmt/format.h>

#include "ctext.hpp"
#include "emit.hpp"

namespace genevent {
namespace {

constexpr char kHead[] = R"(
typealias integer { size = 8; align = 8; signed = false; } := uint8_t;
typealias integer { size = 32; align = 32; signed = false; } := uint32_t;
typealias integer { size = 64; align = 64; signed = false; } := uint64_t;

trace {
	major = 1;
	minor = 8;
	byte_order = le;
	packet.header := struct {
		uint32_t magic;
		uint8_t uuid[16];
		uint32_t stream_id;
	};
};

env {
	tracer_name = "gkhi";
};

clock {
	name = gkhi;
	freq = 1000000000;
};

typealias integer { size = 64; align = 64; signed = false; map = clock.gkhi.value; } := gkhi_time_t;

stream {
	id = 0;
	packet.context := struct {
		gkhi_time_t timestamp_begin;
		gkhi_time_t timestamp_end;
		uint64_t content_size;
		uint64_t packet_size;
		uint64_t packet_seq_num;
		uint64_t events_discarded;
		uint64_t count_begin;
		uint32_t cpu_id;
		uint32_t pid;
		uint32_t generation;
		uint32_t reserved;
	};
	event.header := struct {
		integer { size = 16; align = 64; signed = false; } id;
		integer { size = 48; align = 1; signed = false; map = clock.gkhi.value; } timestamp;
	};
};
)";

}  // namespace

std::string EmitCtf(const Model &model) {
  std::string text = "/* CTF 1.8 */\n" + FileHead(model, "CTF metadata") + kHead;
  for (size_t i = 0; i < model.events.size(); i++) {
    const Event &event = model.events[i];
    text += fmt::format("\n/* gkhi-event {{\"id\":{},{} */\n", i + 1, EmitEventJson(model, event).substr(1));
    text += fmt::format("event {{\n\tname = \"{}:{}\";\n\tid = {};\n\tstream_id = 0;\n\tloglevel = {};\n",
                        model.provider, event.name, i + 1, event.loglevel);
    text += fmt::format("\tfields := {};\n}};\n", EmitEventTsdl(model, event));
  }
  return text;
}

}  // namespace genevent
