/*
 * parse - parse each line of a file of JSON: parse FILE.
 *
 * Prints its megabytes a second.  parse.cc does the same with simdjson, where that is
 * installed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yyjson.h>

#include "lanes.h"

int main(int argc, char **argv)
{
	size_t room = 0, bytes = 0;
	yyjson_doc *line;
	char *text = NULL;
	int64_t start_ns;
	ssize_t length;
	FILE *file;

	if (argc != 2)
		bench_die("usage: parse FILE");
	file = fopen(argv[1], "r");
	if (!file)
		bench_die("open '%s'", argv[1]);
	start_ns = bench_now_ns();
	while ((length = getline(&text, &room, file)) > 0) {
		line = yyjson_read(text, (size_t)length, 0);
		if (!line)
			bench_die("'%s' has a line that is not JSON", argv[1]);
		yyjson_doc_free(line);
		bytes += (size_t)length;
	}
	printf("mb_s %.1f\n", (double)bytes * 1e3 / (double)(bench_now_ns() - start_ns));
	free(text);
	fclose(file);
	return 0;
}
