// SPDX-License-Identifier: MIT
/*
 * host_loader.c - a program without hooks that loads a plugin with hooks (RTLD_LOCAL),
 * runs it, unloads it, several times. Prints "plugin fired=<events>".
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	uint64_t fired = 0;

	for (int i = 0; argc > 1 && i < 5; i++) {
		void *plugin = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
		void (*ticks)(uint64_t first, int n);

		if (!plugin) {
			printf("%s\n", dlerror());
			return 1;
		}
		*(void **)&ticks = dlsym(plugin, "plugin_ticks");
		ticks(fired, 1000);
		fired += 1000;
		dlclose(plugin);
		printf("loaded still: %d\n", dlopen(argv[1], RTLD_NOW | RTLD_NOLOAD) != NULL);
	}
	printf("plugin fired=%lu\n", fired);
	return 0;
}
