// SPDX-License-Identifier: MIT
/* Compresses a file in pieces and prints what zlib itself says of it. */
#include <stdio.h>
#include <stdlib.h>
#include <zlib.h>

int main(int argc, char **argv)
{
	static unsigned char in[4000], out[1 << 16];
	FILE *file = argc > 1 ? fopen(argv[1], "rb") : NULL;
	unsigned long sum = adler32(0, NULL, 0);
	unsigned int calls = 0;
	z_stream strm = { 0 };
	size_t n;
	int rc = Z_OK;

	if (!file || deflateInit(&strm, 6) != Z_OK)
		return 1;
	do {
		n = fread(in, 1, sizeof(in), file);
		strm.next_in = in;
		strm.avail_in = (unsigned int)n;
		do {
			strm.next_out = out;
			strm.avail_out = sizeof(out);
			rc = deflate(&strm, n < sizeof(in) ? Z_FINISH : Z_NO_FLUSH);
			calls++;
			sum = adler32(sum, out, (unsigned int)(sizeof(out) - strm.avail_out));
		} while (strm.avail_out == 0);
	} while (n == sizeof(in));
	printf("calls=%u last=%d in=%lu out=%lu sum=%lx\n", calls, rc, strm.total_in, strm.total_out, sum);
	deflateEnd(&strm);
	return rc == Z_STREAM_END ? 0 : 1;
}
