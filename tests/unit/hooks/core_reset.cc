// SPDX-License-Identifier: MIT
// core_reset.cc - take the core apart, which nothing but a test ever does.
#include "fake_port.hpp"

namespace gkhi_test {

static void RemoveExits() {
  for (uint32_t i = 0; i < gkhi_core.n_entries; i++)
    while (gkhi_core.entry[i]->exits) gkhi_exit_unregister(gkhi_core.entry[i]->exits);
}

static void RemoveChannels() {
  for (uint32_t i = 0; i < gkhi_core.n_entries; i++) gkhi_core.entry[i]->routing = nullptr;
  for (gkhi_routing *r = gkhi_core.routings; r; r = r->next) r->users = 0;
  gkhi_routings_trim();
  while (gkhi_channel *ch = gkhi_core.channels) {
    gkhi_channel_unlist(ch);
    gkhi_channel_stop(ch);
    gkhi_channel_free(ch);
  }
}

static void RemoveLater() {
  while (gkhi_later *later = gkhi_core.later) {
    gkhi_core.later = later->next;
    port_free(later, sizeof(*later) + later->len);
  }
}

static void RemoveEntries() {
  gkhi_entries_pop(0);
  while (gkhi_provider *p = gkhi_core.providers) {
    gkhi_core.providers = p->next;
    port_free(p, sizeof(*p) + p->len + 1);
  }
  port_free(gkhi_core.bucket, gkhi_core.n_buckets * sizeof(*gkhi_core.bucket));
  port_free(gkhi_core.entry, gkhi_core.capacity * sizeof(*gkhi_core.entry));
}

void ResetCore() {
  world.synchronize_result = 0;
  world.in_synchronize = nullptr;
  RemoveExits();
  RemoveChannels();
  RemoveLater();
  RemoveEntries();
  gkhi_plan_release();
  gkhi_core = {};
}

}  // namespace gkhi_test
