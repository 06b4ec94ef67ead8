// SPDX-License-Identifier: MIT
/* Release 2: a member renamed, a function gone, a call moved into another function, a statement rewritten. */
struct client {
	int fd;
	long input_bytes;
};

int parse(struct client *c, const char *line);
void account(struct client *c, int words);

static void note(struct client *c, int words)
{
	c->input_bytes = c->input_bytes + words;
	account(c, words);
}

int serve(struct client *c, const char *line)
{
	const char *at = line;
	int words = 1;

	for (; *at; at++)
		words += *at == ' ';
	note(c, words);
	return parse(c, line);
}
