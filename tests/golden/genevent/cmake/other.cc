// SPDX-License-Identifier: MIT
#include "gkhi_demo.h"
#include "gkhi_second.h"

void Other() {
  gkhi_demo_tick(2);
  gkhi_second_tock();
}
