// SPDX-License-Identifier: MIT
// What detour_probe.S runs a detour with, and what it finds behind it. For one source of a program.
#ifndef GKHI_TESTS_DETOUR_PROBE_HPP
#define GKHI_TESTS_DETOUR_PROBE_HPP

#include <cstdint>

extern "C" {
struct ProbeState {
  uint64_t r[16];
  uint64_t flags, unused;
  uint8_t xmm[16][16];
  uint64_t red[16];
};
ProbeState detour_probe_in, detour_probe_out;
extern char detour_probe_pad[];
void detour_probe(void);
}

#endif
