// SPDX-License-Identifier: MIT
/* server.c - what docs/tasks/ trace: receives and sends for SERVER_SECONDS (default 1). Its arguments are ignored. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "gkhi_net.h"

void receive(uint32_t len);

int main(void)
{
	const char *seconds = getenv("SERVER_SECONDS");
	time_t end = time(NULL) + (seconds ? atoi(seconds) : 1);
	uint32_t len = 0;

	while (time(NULL) <= end) {
		receive(++len % 9000);
		gkhi_net_tx(len % 9000);
		usleep(500);
	}
	return 0;
}
