// SPDX-License-Identifier: MIT
// Catches what a generated macro hands to its stub, without a runtime: hooks are switched on by hand, with a
// stub that copies the frame. For programs compiled with GKHI_NO_PATCHING.
#ifndef GKHI_TESTS_UNIT_GENEVENT_FRAME_CAPTURE_HPP_
#define GKHI_TESTS_UNIT_GENEVENT_FRAME_CAPTURE_HPP_

#include <gkhi/abi.h>

#include <cstdint>
#include <string>
#include <vector>

namespace frame_capture {

// The descriptor of "provider:event" that is linked into this program, nullptr when there is none.
const gkhi_event *FindEvent(const std::string &name);

// Switches the hook on and remembers how long its frame is.
void Arm(gkhi_hook *hook);
void Disarm(gkhi_hook *hook);

// Frames caught since the last call.
std::vector<std::vector<uint64_t>> TakeFrames();

// The payload that a backend makes of a frame: the rules of struct gkhi_field, spelled out once more.
std::string Payload(const gkhi_event &event, const std::vector<uint64_t> &frame);

}  // namespace frame_capture

#endif  // GKHI_TESTS_UNIT_GENEVENT_FRAME_CAPTURE_HPP_
