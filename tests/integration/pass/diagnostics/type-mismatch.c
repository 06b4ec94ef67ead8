// SPDX-License-Identifier: MIT
struct blob { char bytes[8]; };
void store(long size, unsigned flags, float ratio, struct blob *blob, char *name, int on)
{
	blob->bytes[0] = (char)(size + flags + (long)ratio + name[0] + on);
}
