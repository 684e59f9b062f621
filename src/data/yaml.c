#include "data/yaml.h"

#include <yaml.h>

#include "base/limits.h"
#include "base/names.h"
#include "data/record.h"

struct reader {
	yaml_parser_t *parser;
	struct roger_str text;
	const char *file;
	struct rg_arena *arena;
	size_t node_count;
};

static int refuse_line(const struct reader *reader, size_t line, const char *why,
		       struct roger_err *err)
{
	return rg_fail(err, ROGER_EDATA, 0, "%s:%zu: %s", reader->file, line, why);
}

static size_t line_of(const yaml_event_t *event)
{
	return event->start_mark.line + 1;
}

static int not_yaml(const struct reader *reader, struct roger_err *err)
{
	const yaml_parser_t *parser = reader->parser;

	switch (parser->error) {
	case YAML_MEMORY_ERROR:
		return rg_fail_memory(err);
	case YAML_READER_ERROR:
		/* The decoder reads ahead of the marks, so its errors are placed by their byte. */
		return refuse_line(reader,
				   (size_t)rg_str_line(reader->text, parser->problem_offset),
				   parser->problem, err);
	default:
		return refuse_line(reader, parser->problem_mark.line + 1,
				   parser->problem ? parser->problem : "not YAML", err);
	}
}

/* Why an event is refused; NULL: it is not. */
static const char *forbidden_in(const yaml_event_t *event)
{
	const yaml_char_t *anchor = NULL, *tag = NULL;

	switch (event->type) {
	case YAML_SCALAR_EVENT:
		anchor = event->data.scalar.anchor;
		tag = event->data.scalar.tag;
		break;
	case YAML_SEQUENCE_START_EVENT:
		anchor = event->data.sequence_start.anchor;
		tag = event->data.sequence_start.tag;
		break;
	case YAML_MAPPING_START_EVENT:
		anchor = event->data.mapping_start.anchor;
		tag = event->data.mapping_start.tag;
		break;
	default:
		break;
	}
	return anchor || event->type == YAML_ALIAS_EVENT ? "anchors and aliases are not read"
	       : tag					 ? "tags are not read"
							 : NULL;
}

/* Replace the event by the next one. */
static int next_event(struct reader *reader, yaml_event_t *event, struct roger_err *err)
{
	yaml_event_delete(event);
	if (!yaml_parser_parse(reader->parser, event))
		return not_yaml(reader, err);
	if (forbidden_in(event))
		return refuse_line(reader, line_of(event), forbidden_in(event), err);
	return ROGER_OK;
}

static int add_node(struct reader *reader, size_t line, struct rg_yaml **ret_node,
		    struct roger_err *err)
{
	struct rg_yaml *node;

	if (++reader->node_count > RG_YAML_NODES_MAX)
		return refuse_line(reader, line, "too many values", err);
	node = rg_arena_get(reader->arena, sizeof *node);
	if (!node)
		return rg_fail_memory(err);
	node->line = line;
	*ret_node = node;
	return ROGER_OK;
}

static int copy_scalar(struct reader *reader, const yaml_event_t *event, struct roger_str *ret,
		       struct roger_err *err)
{
	struct roger_str text = { (const char *)event->data.scalar.value,
				  event->data.scalar.length };
	size_t chars;

	if (!rg_utf8_count(text, &chars))
		return refuse_line(reader, line_of(event), "expected UTF-8 without NUL", err);
	return rg_kept(rg_arena_copy(reader->arena, text, ret), err);
}

/* ----------------------------------------------------------------- tree -- */

/* Keys are named in error messages, so they must be printable. */
static bool is_printable(struct roger_str text)
{
	size_t at = 0;
	uint32_t c;

	while (at < text.length) {
		at += rg_utf8_next(text.data + at, text.length - at, &c);
		if (c < 0x20 || (c >= 0x7f && c < 0xa0))
			return false;
	}
	return true;
}

static int read_key(struct reader *reader, const yaml_event_t *event, struct rg_names *keys,
		    struct roger_str *ret_key, struct roger_err *err)
{
	int r;

	if (event->type != YAML_SCALAR_EVENT)
		return refuse_line(reader, line_of(event), "expected text as a key", err);
	r = copy_scalar(reader, event, ret_key, err);
	if (r < 0)
		return r;
	if (!is_printable(*ret_key))
		return refuse_line(reader, line_of(event), "a key holds a control character", err);
	if (rg_names_have(keys, *ret_key))
		return rg_fail(err, ROGER_EDATA, 0, "%s:%zu: '%.*s' comes twice", reader->file,
			       line_of(event), RG_STR_CUT(*ret_key));
	return rg_kept(rg_names_add(keys, *ret_key), err);
}

/* Read the node that starts with this event, which becomes its last one.  The depth is bounded. */
static int read_node(struct reader *reader, yaml_event_t *event, int depth, struct rg_yaml *node,
		     struct roger_err *err)
{
	const struct rg_yaml **link = &node->first;
	struct rg_yaml *item = NULL;
	struct rg_names keys = { .arena = reader->arena };
	struct roger_str key = { 0 };
	size_t line;
	int r;

	if (event->type == YAML_SCALAR_EVENT) {
		node->kind = RG_YAML_SCALAR;
		node->quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
		return copy_scalar(reader, event, &node->value, err);
	}
	if (depth > RG_YAML_DEPTH_MAX)
		return refuse_line(reader, line_of(event), "nested too deep", err);
	node->kind = event->type == YAML_MAPPING_START_EVENT ? RG_YAML_MAPPING : RG_YAML_LIST;
	for (;; *link = item, link = &item->next) {
		r = next_event(reader, event, err);
		if (r < 0 || event->type == YAML_MAPPING_END_EVENT ||
		    event->type == YAML_SEQUENCE_END_EVENT)
			return r;
		line = line_of(event);
		if (node->kind == RG_YAML_MAPPING) {
			r = read_key(reader, event, &keys, &key, err);
			if (r == ROGER_OK)
				r = next_event(reader, event, err);
		}
		if (r == ROGER_OK)
			r = add_node(reader, line, &item, err);
		if (r == ROGER_OK) {
			item->key = key;
			r = read_node(reader, event, depth + 1, item, err);
		}
		if (r < 0)
			return r;
	}
}

/* ---------------------------------------------------------- plain lines -- */

/* A mapping that is read line by line. */
struct members {
	struct rg_yaml *node;	     /* NULL: no mapping is open */
	const struct rg_yaml **link; /* to the next member */
	size_t indent;
	struct rg_names keys;
};

static bool is_word_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || c == '/' || c == '-' || c == '.';
}

static void cut_first(struct roger_str *rest, size_t length)
{
	rest->data += length;
	rest->length -= length;
}

static void skip_blanks(struct roger_str *rest)
{
	while (rest->length && *rest->data == ' ')
		cut_first(rest, 1);
}

/* Cut off the first word, if YAML reads it as the same word; else return an empty text. */
static struct roger_str cut_word(struct roger_str *rest)
{
	struct roger_str word = { rest->data, 0 };

	while (word.length < rest->length && is_word_char(word.data[word.length]))
		word.length++;
	if (word.length && (*word.data == '-' || *word.data == '.'))
		word.length = 0;
	cut_first(rest, word.length);
	return word;
}

/* Is there nothing more in a line but blanks and, after one, a comment? */
static bool ends_line(struct roger_str rest)
{
	const size_t length = rest.length;

	skip_blanks(&rest);
	return !rest.length || (*rest.data == '#' && rest.length < length);
}

static bool add_plain(struct reader *reader, struct members *to, struct roger_str key, size_t line,
		      struct rg_yaml **ret_node)
{
	if (add_node(reader, line, ret_node, NULL) < 0 ||
	    !rg_arena_copy(reader->arena, key, &(*ret_node)->key))
		return false;
	*to->link = *ret_node;
	to->link = &(*ret_node)->next;
	return true;
}

/* Read a word, or a list of words. */
static bool read_plain_value(struct reader *reader, struct roger_str rest, struct rg_yaml *node)
{
	struct members items = { .link = &node->first };
	struct rg_yaml *item = node;
	bool more = true, list;

	skip_blanks(&rest);
	list = rest.length && *rest.data == '[';
	cut_first(&rest, list);
	node->kind = list ? RG_YAML_LIST : RG_YAML_SCALAR;
	while (more) {
		skip_blanks(&rest);
		if (list && !add_plain(reader, &items, RG_STR(""), node->line, &item))
			return false;
		item->value = cut_word(&rest);
		if (!item->value.length || !rg_arena_copy(reader->arena, item->value, &item->value))
			return false;
		if (list)
			skip_blanks(&rest);
		more = list && rest.length && *rest.data == ',';
		cut_first(&rest, more);
	}
	if (list && (!rest.length || *rest.data != ']'))
		return false;
	cut_first(&rest, list);
	return ends_line(rest);
}

/* Read "KEY:", "KEY: WORD" or "KEY: [WORD, ...]" as a member. */
static bool read_plain_line(struct reader *reader, struct members *to, struct roger_str line,
			    size_t number, struct rg_yaml **ret_node)
{
	const struct roger_str key = cut_word(&line);

	if (!to->node || !key.length || !line.length || *line.data != ':' ||
	    rg_names_have(&to->keys, key) || !add_plain(reader, to, key, number, ret_node) ||
	    !rg_names_add(&to->keys, (*ret_node)->key))
		return false;
	to->node->kind = RG_YAML_MAPPING;
	(*ret_node)->value = RG_STR("");
	cut_first(&line, 1);
	return ends_line(line) || (*line.data == ' ' && read_plain_value(reader, line, *ret_node));
}

/* Make the root, unless the text has characters that end a line or a comment only in YAML. */
static bool begin_plain(struct reader *reader, size_t number, struct members *top)
{
	const struct roger_str text = reader->text;
	size_t chars;

	if (!rg_utf8_count(text, &chars) || chars < text.length ||
	    memchr(text.data, '\r', text.length) || add_node(reader, number, &top->node, NULL) < 0)
		return false;
	top->link = &top->node->first;
	return true;
}

/*
 * Read a text of such lines, below each other or below a key, and comments: most files are of
 * these, and libyaml takes twenty times as long for them.  False: it has anything else, or is
 * wrong, which libyaml is to say.
 */
static bool read_plain(struct reader *reader, const struct rg_yaml **ret_root)
{
	struct members top = { .keys.arena = reader->arena }, below = { 0 };
	struct roger_str text = reader->text, line;
	struct rg_yaml *node = NULL;
	size_t number = 0, indent;

	while (rg_str_next_line(&text, &line)) {
		number++;
		if (!line.length || *line.data == '#' || ends_line(line))
			continue;
		if (!top.node && !begin_plain(reader, number, &top))
			return false;
		indent = line.length;
		skip_blanks(&line);
		indent -= line.length;
		if (indent && !below.indent)
			below.indent = indent;
		if ((indent && indent != below.indent) ||
		    !read_plain_line(reader, indent ? &below : &top, line, number, &node))
			return false;
		if (!indent)
			below = (struct members){ .node = !node->first && !node->value.length
								  ? node
								  : NULL,
						  .link = &node->first,
						  .keys.arena = reader->arena };
	}
	*ret_root = top.node;
	return true;
}

/* ------------------------------------------------------------- document -- */

static int read_stream(struct reader *reader, struct rg_yaml **ret_root, struct roger_err *err)
{
	RG_CLEANUP(yaml_event_delete) yaml_event_t event = { 0 };
	int r;

	r = next_event(reader, &event, err); /* the start of the stream */
	if (r == ROGER_OK)
		r = next_event(reader, &event, err);
	if (r < 0 || event.type != YAML_DOCUMENT_START_EVENT)
		return r;
	r = next_event(reader, &event, err);
	if (r == ROGER_OK)
		r = add_node(reader, line_of(&event), ret_root, err);
	if (r == ROGER_OK)
		r = read_node(reader, &event, 1, *ret_root, err);
	if (r == ROGER_OK)
		r = next_event(reader, &event, err); /* the end of the document */
	if (r == ROGER_OK)
		r = next_event(reader, &event, err);
	if (r == ROGER_OK && event.type == YAML_DOCUMENT_START_EVENT)
		r = refuse_line(reader, line_of(&event), "a second document starts", err);
	return r;
}

int rg_yaml_read(struct roger_str text, const char *file, struct rg_arena *arena,
		 const struct rg_yaml **ret_root, struct roger_err *err)
{
	RG_CLEANUP(yaml_parser_delete) yaml_parser_t parser = { 0 };
	struct reader reader = { &parser, text, file, arena, 0 };
	struct rg_yaml *root = NULL;
	int r;

	if (read_plain(&reader, ret_root))
		return ROGER_OK;
	reader.node_count = 0;
	if (!yaml_parser_initialize(&parser))
		return rg_fail_memory(err);
	yaml_parser_set_input_string(&parser, (const unsigned char *)text.data, text.length);

	r = read_stream(&reader, &root, err);
	if (r < 0)
		return r;
	*ret_root = root;
	return ROGER_OK;
}

bool rg_yaml_is_null(const struct rg_yaml *node)
{
	static const char *const nulls[] = { "~", "null", "Null", "NULL", NULL };

	return node->kind == RG_YAML_SCALAR && !node->quoted && node->value.length <= 4 &&
	       (!node->value.length || rg_enum_find(nulls, node->value) >= 0);
}
