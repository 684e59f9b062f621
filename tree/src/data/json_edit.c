/* json_edit: a reader that knows where things are, and the edits themselves. */
#include "data/json_edit.h"

#include "data/json.h"

enum { INDENT_MAX = 16 };

/* ---------------------------------------------------------------- reading -- */

/* In a text that is known to be JSON, so that nothing need be checked again. */
struct reader {
	struct roger_str text;
	size_t at;
};

/* A value, and what is around it in its object or array. */
struct item {
	size_t key;	       /* where the name starts; the value, in an array */
	size_t start;	       /* of the value */
	size_t end;	       /* after it */
	struct roger_str name; /* as written between its quotes */
};

/* An object or array, and the item that is wanted in it. */
struct container {
	size_t open;  /* its bracket */
	size_t close; /* its closing one */
	size_t first; /* where its first item starts; 0: it is empty */
	size_t last;  /* after its last item */
	size_t comma; /* after the comma that follows the last item; 0: none */
	size_t twice; /* where the wanted name comes a second time; 0: nowhere */
	bool found;
	struct item item;
	size_t before; /* after the item before the one found; 0: it is the first */
	size_t after;  /* where the next one starts; 0: it is the last */
};

static int fail(const struct reader *reader, const char *expected, struct roger_err *err)
{
	return rg_fail(err, ROGER_EDATA, 0, "line %lld: expected %s",
		       (long long)rg_str_line(reader->text, reader->at), expected);
}

static char peek(const struct reader *reader)
{
	return reader->at < reader->text.length ? reader->text.data[reader->at] : 0;
}

static bool is_among(const struct reader *reader, const char *chars)
{
	return peek(reader) && strchr(chars, peek(reader));
}

static bool take(struct reader *reader, const char *what)
{
	size_t length = strlen(what);

	if (reader->text.length - reader->at < length ||
	    memcmp(reader->text.data + reader->at, what, length) != 0)
		return false;
	reader->at += length;
	return true;
}

/* Blanks and comments. */
static void skip(struct reader *reader)
{
	for (;;)
		if (is_among(reader, " \t\r\n"))
			reader->at++;
		else if (take(reader, "//"))
			while (peek(reader) && peek(reader) != '\n')
				reader->at++;
		else if (take(reader, "/*"))
			while (peek(reader) && !take(reader, "*/"))
				reader->at++;
		else
			return;
}

/* A text without its quotes, as it is written. */
static struct roger_str read_text(struct reader *reader)
{
	size_t start = ++reader->at;

	for (; peek(reader) && peek(reader) != '"'; reader->at++)
		reader->at += peek(reader) == '\\';
	return (struct roger_str){ reader->text.data + start, reader->at++ - start };
}

static void skip_value(struct reader *reader)
{
	int depth = 0;

	do {
		skip(reader);
		if (peek(reader) == '"') {
			read_text(reader);
		} else if (is_among(reader, "{}[],:")) {
			depth += is_among(reader, "{[") - is_among(reader, "}]");
			reader->at++;
		} else {
			while (peek(reader) && !is_among(reader, " \t\r\n{}[],:/"))
				reader->at++;
		}
	} while (depth > 0 && peek(reader));
}

static struct item read_item(struct reader *reader, bool named)
{
	struct item item = { .key = reader->at };

	if (named) {
		item.name = read_text(reader);
		skip(reader);
		reader->at++; /* the colon */
		skip(reader);
	}
	item.start = reader->at;
	skip_value(reader);
	item.end = reader->at;
	return item;
}

/* What is wanted: a name, or an element whose text holds a mark. */
struct wish {
	struct roger_str name;
	struct roger_str mark;
};

/* Is a name as written, with its escapes, this name? */
static bool is_name(struct roger_str standing, struct roger_str name)
{
	RG_CLEANUP(rg_json_freep) struct rg_json *json = NULL;
	/* The quotes are around it. */
	struct roger_str quoted = { standing.data - 1, standing.length + 2 };

	if (!memchr(standing.data, '\\', standing.length))
		return rg_str_equal(standing, name);
	return rg_json_read(quoted, &json, NULL) == ROGER_OK &&
	       rg_str_equal(rg_json_str(rg_json_root(json)), name);
}

static bool is_wished(const struct reader *reader, const struct item *item, const struct wish *wish)
{
	if (wish->mark.length)
		return memmem(reader->text.data + item->start, item->end - item->start,
			      wish->mark.data, wish->mark.length);
	return wish->name.data && item->name.data && is_name(item->name, wish->name);
}

static void note_item(const struct reader *reader, const struct item *item, const struct wish *wish,
		      struct container *container)
{
	if (container->found && !container->after)
		container->after = item->key;
	if (container->found && wish->name.data && is_wished(reader, item, wish))
		container->twice = item->key;
	if (!container->found && is_wished(reader, item, wish)) {
		container->found = true;
		container->item = *item;
		container->before = container->last;
	}
	if (!container->first)
		container->first = item->key;
	container->last = item->end;
	container->comma = 0;
}

/* An object or array, from its bracket to after the closing one. */
static struct container read_container(struct reader *reader, const struct wish *wish)
{
	struct container container = { .open = reader->at };
	bool named = peek(reader) == '{';
	struct item item;

	for (reader->at++;;) {
		skip(reader);
		if (is_among(reader, "}]"))
			break;
		item = read_item(reader, named);
		note_item(reader, &item, wish, &container);
		skip(reader);
		if (take(reader, ","))
			container.comma = reader->at;
	}
	container.close = reader->at++;
	return container;
}

/* To the bracket of a whole text. */
static int read_whole(struct reader *reader, struct roger_err *err)
{
	struct roger_str rest;
	int r;

	take(reader, "\xef\xbb\xbf");
	rest = (struct roger_str){ reader->text.data + reader->at,
				   reader->text.length - reader->at };
	r = rg_json_check_lenient(rest, err);
	if (r < 0)
		return r;
	skip(reader);
	return peek(reader) == '{' ? ROGER_OK : fail(reader, "an object", err);
}

/* --------------------------------------------------------------- printing -- */

/* How the text is laid out around a container. */
struct layout {
	struct roger_str base; /* the indent of its line */
	struct roger_str unit; /* of one level more */
	const char *line_end;
	bool one_line;
};

static size_t line_start(struct roger_str text, size_t at)
{
	while (at > 0 && text.data[at - 1] != '\n')
		at--;
	return at;
}

/* The blanks that a line starts with. */
static struct roger_str indent_at(struct roger_str text, size_t at)
{
	struct roger_str indent = { text.data + at, 0 };

	while (at + indent.length < text.length &&
	       (indent.data[indent.length] == ' ' || indent.data[indent.length] == '\t'))
		indent.length++;
	return indent;
}

static struct roger_str unit_of(struct roger_str text, const struct container *container,
				struct roger_str base)
{
	struct roger_str inner = { 0 };
	const char *newline = memchr(text.data, '\n', text.length);

	if (container->first)
		inner = indent_at(text, line_start(text, container->first));
	if (inner.length > base.length && inner.length - base.length <= INDENT_MAX)
		return (struct roger_str){ inner.data + base.length, inner.length - base.length };
	if (newline)
		inner = indent_at(text, (size_t)(newline - text.data) + 1);
	return inner.length && inner.length <= INDENT_MAX ? inner : RG_STR("  ");
}

static struct layout layout_of(struct roger_str text, const struct container *container)
{
	const char *newline = memchr(text.data, '\n', text.length);
	size_t line = line_start(text, container->open);
	struct layout layout = { .base = indent_at(text, line) };

	layout.line_end = newline && newline > text.data && newline[-1] == '\r' ? "\r\n" : "\n";
	layout.one_line = container->first && line_start(text, container->first) == line;
	layout.unit = unit_of(text, container, layout.base);
	return layout;
}

static void print_break(const struct layout *layout, int level, struct rg_buf *out)
{
	if (layout->one_line)
		return;
	rg_buf_add_text(out, layout->line_end);
	rg_buf_add_str(out, layout->base);
	while (level-- > 0)
		rg_buf_add_str(out, layout->unit);
}

/* An array of plain values stays on its line. */
static bool is_flat(struct roger_str value, size_t at)
{
	for (at++; at < value.length && value.data[at] != ']'; at++)
		if (value.data[at] == '{' || value.data[at] == '[')
			return false;
	return true;
}

/* A value without blanks, laid out; level: of the line that it starts on. */
static void print_value(const struct layout *layout, struct roger_str value, int level,
			struct rg_buf *out)
{
	bool inside_text = false, flat = false;
	size_t i;

	for (i = 0; i < value.length; i++) {
		char c = value.data[i];

		if (inside_text) {
			rg_buf_add_char(out, c);
			if (c == '\\' && i + 1 < value.length)
				rg_buf_add_char(out, value.data[++i]);
			inside_text = c != '"';
			continue;
		}
		inside_text = c == '"';
		if (c == '}' || c == ']') {
			if (!flat && value.data[i - 1] != '{' && value.data[i - 1] != '[')
				print_break(layout, --level, out);
			flat = false;
		}
		rg_buf_add_char(out, c);
		if (c == ':' || (c == ',' && (flat || layout->one_line)))
			rg_buf_add_char(out, ' ');
		else if (c == '[' && is_flat(value, i))
			flat = true;
		else if ((c == '{' || c == '[') && value.data[i + 1] != '}')
			print_break(layout, ++level, out);
		else if (c == ',')
			print_break(layout, level, out);
	}
}

/* ------------------------------------------------------------------ edits -- */

/* Are two values equal except for white space? */
static bool is_same_value(struct roger_str a, struct roger_str b)
{
	bool inside_text = false, escaped = false;
	size_t i = 0, j = 0;

	for (;; i++, j++) {
		while (!inside_text && i < a.length && strchr(" \t\r\n", a.data[i]))
			i++;
		while (!inside_text && j < b.length && strchr(" \t\r\n", b.data[j]))
			j++;
		if (i == a.length || j == b.length)
			return i == a.length && j == b.length;
		if (a.data[i] != b.data[j])
			return false;
		if (a.data[i] == '"' && !escaped)
			inside_text = !inside_text;
		escaped = inside_text && a.data[i] == '\\' && !escaped;
	}
}

/* The deepest container that exists along a path, and the wanted item in it. */
struct place {
	struct container container;
	size_t step; /* how many names of the path lead to it */
};

static int check_kind(const struct reader *reader, struct roger_str name, bool array,
		      struct roger_err *err)
{
	if (peek(reader) == (array ? '[' : '{'))
		return ROGER_OK;
	return rg_fail(err, ROGER_EDATA, 0, "line %lld: %.*s: expected %s",
		       (long long)rg_str_line(reader->text, reader->at), RG_STR_ARGS(name),
		       array ? "an array" : "an object");
}

/*
 * With a mark the path leads to an array, in which an element that has it is looked for.
 * What is found is at the end of the path.
 */
static int find_place(struct roger_str text, const struct roger_strs *path, struct roger_str mark,
		      struct place *ret_place, struct roger_err *err)
{
	bool array = mark.length != 0, last = false;
	struct reader reader = { .text = text };
	struct place place = { 0 };
	struct wish wish;
	int r;

	r = read_whole(&reader, err);
	for (; r == ROGER_OK; place.step++, reader.at = place.container.item.start) {
		if (place.step)
			r = check_kind(&reader, path->items[place.step - 1],
				       array && place.step == path->count, err);
		if (r < 0)
			return r;
		last = place.step + !array == path->count;
		wish = place.step == path->count ? (struct wish){ .mark = mark }
						 : (struct wish){ .name = path->items[place.step] };
		place.container = read_container(&reader, &wish);
		/* Programs differ in which of the two counts. */
		if (place.container.twice) {
			reader.at = place.container.twice;
			return fail(&reader, "each name once", err);
		}
		if (last || !place.container.found)
			break;
	}
	*ret_place = place;
	return r;
}

/* A new item after the last one of a container. */
static void insert(struct roger_str text, const struct container *container, struct roger_str item,
		   struct rg_json_edit *ret_edit, struct rg_buf *out)
{
	struct layout layout = layout_of(text, container);

	*ret_edit = (struct rg_json_edit){ .offset = container->last };
	if (!container->last) {
		ret_edit->offset = container->open + 1;
		ret_edit->length = container->close - ret_edit->offset;
		/* A comment in there stays. */
		if (memchr(text.data + ret_edit->offset, '/', ret_edit->length))
			ret_edit->length = 0;
	} else if (container->comma) {
		ret_edit->offset = container->comma;
	} else {
		rg_buf_add_char(out, ',');
	}
	if (layout.one_line && container->last)
		rg_buf_add_char(out, ' ');
	print_break(&layout, 1, out);
	print_value(&layout, item, 1, out);
	if (!container->last && ret_edit->length + ret_edit->offset == container->close)
		print_break(&layout, 0, out);
}

static void replace(struct roger_str text, const struct place *place, struct roger_str value,
		    struct rg_json_edit *ret_edit, struct rg_buf *out)
{
	const struct item *item = &place->container.item;
	struct roger_str old = { text.data + item->start, item->end - item->start };
	struct layout layout = layout_of(text, &place->container);

	*ret_edit = (struct rg_json_edit){ .offset = item->start };
	if (is_same_value(old, value))
		return;
	ret_edit->length = old.length;
	print_value(&layout, value, 1, out);
}

/* "b":{"c":VALUE}: the value inside the missing part of the path. */
static void add_path(const struct place *place, const struct roger_strs *path,
		     struct roger_str value, bool array, struct rg_buf *item)
{
	size_t i;

	array = array && place->step < path->count;
	for (i = place->step; i < path->count; i++) {
		rg_buf_add_text(item, i > place->step ? "{" : "");
		rg_json_add_string(item, path->items[i]);
		rg_buf_add_char(item, ':');
	}
	rg_buf_add_text(item, array ? "[" : "");
	rg_buf_add_str(item, value);
	rg_buf_add_text(item, array ? "]" : "");
	for (i = place->step + 1; i < path->count; i++)
		rg_buf_add_char(item, '}');
}

int rg_json_edit_put(struct roger_str text, const struct roger_strs *path, struct roger_str value,
		     struct roger_str mark, struct rg_arena *arena, struct rg_json_edit *ret_edit,
		     struct roger_err *err)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf item = { .maximum = SIZE_MAX };
	RG_CLEANUP(rg_buf_deinit) struct rg_buf out = { .maximum = SIZE_MAX };
	struct roger_str into = rg_str_blank(text) ? RG_STR("{}\n") : text;
	struct rg_buf whole = { .maximum = SIZE_MAX };
	struct place place;
	int r;

	rg_assert(path->count);
	r = find_place(into, path, mark, &place, err);
	if (r < 0)
		return r;
	add_path(&place, path, value, mark.length, &item);
	if (item.failed)
		return rg_fail_memory(err);
	if (place.container.found)
		replace(into, &place, value, ret_edit, &out);
	else
		insert(into, &place.container, rg_buf_str(&item), ret_edit, &out);
	if (into.data == text.data)
		return rg_arena_keep(arena, &out, &ret_edit->text) ? ROGER_OK : rg_fail_memory(err);
	ret_edit->text = rg_buf_str(&out);
	rg_json_edit_apply(into, ret_edit, &whole);
	*ret_edit = (struct rg_json_edit){ .length = text.length };
	return rg_arena_keep(arena, &whole, &ret_edit->text) && !out.failed ? ROGER_OK
									    : rg_fail_memory(err);
}

int rg_json_edit_cut(struct roger_str text, const struct roger_strs *path, struct roger_str mark,
		     struct rg_json_edit *ret_edit, struct roger_err *err)
{
	const struct container *container;
	struct place place;
	int r;

	*ret_edit = (struct rg_json_edit){ 0 };
	if (rg_str_blank(text))
		return ROGER_OK;
	r = find_place(text, path, mark, &place, err);
	container = &place.container;
	if (r < 0 || !container->found)
		return r;
	/* With the comma before it; the first one, with all up to the next; the only one, whole. */
	ret_edit->offset = container->before  ? container->before
			   : container->after ? container->item.key
					      : container->open + 1;
	ret_edit->length = (container->before  ? container->item.end
			    : container->after ? container->after
					       : container->close) -
			   ret_edit->offset;
	return ROGER_OK;
}

int rg_json_edit_find(struct roger_str text, const struct roger_strs *path, struct roger_str mark,
		      struct roger_str *ret_value, struct roger_err *err)
{
	struct place place = { 0 };
	const struct item *item = &place.container.item;
	int r;

	*ret_value = (struct roger_str){ 0 };
	if (rg_str_blank(text))
		return ROGER_OK;
	r = find_place(text, path, mark, &place, err);
	if (r == ROGER_OK && place.container.found)
		*ret_value = (struct roger_str){ text.data + item->start, item->end - item->start };
	return r;
}

void rg_json_edit_apply(struct roger_str text, const struct rg_json_edit *edit, struct rg_buf *out)
{
	size_t end = edit->offset + edit->length;

	rg_assert(end <= text.length);
	rg_buf_add(out, text.data, edit->offset);
	rg_buf_add_str(out, edit->text);
	rg_buf_add(out, text.data + end, text.length - end);
}
