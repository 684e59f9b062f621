/*
 * parse - look at each member of each line of a file of JSON: parse FILE.
 *
 * Prints the megabytes a second of that, without reading the file.  With simdjson, on
 * demand; where that is not installed, parse.c does the same with yyjson.
 */
#include <simdjson.h>

#include <chrono>
#include <cstdio>
#include <string_view>

int main(int argc, char **argv)
{
	simdjson::ondemand::parser parser;
	simdjson::padded_string text;
	size_t bytes = 0;

	if (argc != 2)
		return 64;
	if (simdjson::padded_string::load(argv[1]).get(text))
		return 1;
	auto start = std::chrono::steady_clock::now();
	simdjson::ondemand::document_stream lines;
	if (parser.iterate_many(text, 1 << 20).get(lines))
		return 1;
	for (auto line : lines) {
		for (auto member : line.get_object()) {
			std::string_view name, value;
			if (member.unescaped_key().get(name) || member.value().raw_json_token().get(value))
				return 1;
			bytes += value.size() > 0;
		}
	}
	std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
	std::printf("mb_s %.1f\n", (double)text.size() / 1e6 / took.count());
	return bytes ? 0 : 1;
}
