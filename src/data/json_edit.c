/* json_edit: a reader that knows where things are, and the edits themselves. */
#include "data/json_edit.h"

#include "data/json.h"

/* ---------------------------------------------------------------- reading -- */

/* Reads a text that is known to be JSON, so it checks nothing. */
struct reader {
	struct roger_str text;
	size_t at;
};

/* An object or array, and in it the item that was looked for. */
struct container {
	size_t open;  /* its bracket */
	size_t close; /* its closing one */
	size_t first; /* where its first item starts; 0: it is empty */
	size_t twice; /* where the wanted name comes a second time; 0: nowhere */
	bool found;
	size_t key;	   /* where the wanted item starts: its name, or in an array its value */
	size_t start, end; /* of its value */
	size_t before;	   /* after the item before it; 0: it is the first */
	size_t after;	   /* where the next one starts; 0: it is the last */
};

static int fail_at(const struct reader *reader, const char *expected, struct roger_err *err)
{
	return rg_fail(err, ROGER_EDATA, 0, "line %lld: expected %s",
		       (long long)rg_str_line(reader->text, reader->at), expected);
}

static char peek_char(const struct reader *reader)
{
	return reader->at < reader->text.length ? reader->text.data[reader->at] : 0;
}

static bool is_among(const struct reader *reader, const char *chars)
{
	return peek_char(reader) && strchr(chars, peek_char(reader));
}

static bool take_text(struct reader *reader, const char *what)
{
	size_t length = strlen(what);

	if (reader->text.length - reader->at < length ||
	    memcmp(reader->text.data + reader->at, what, length) != 0)
		return false;
	reader->at += length;
	return true;
}

/* Skip blanks and comments. */
static void skip_blanks(struct reader *reader)
{
	for (;;)
		if (is_among(reader, " \t\r\n"))
			reader->at++;
		else if (take_text(reader, "//"))
			while (peek_char(reader) && peek_char(reader) != '\n')
				reader->at++;
		else if (take_text(reader, "/*"))
			while (peek_char(reader) && !take_text(reader, "*/"))
				reader->at++;
		else
			return;
}

/* Read a string; returns it as written, without its quotes. */
static struct roger_str read_text(struct reader *reader)
{
	size_t start = ++reader->at;

	for (; peek_char(reader) && peek_char(reader) != '"'; reader->at++)
		reader->at += peek_char(reader) == '\\';
	return (struct roger_str){ reader->text.data + start, reader->at++ - start };
}

static void skip_value(struct reader *reader)
{
	int depth = 0;

	do {
		skip_blanks(reader);
		if (peek_char(reader) == '"') {
			read_text(reader);
		} else if (is_among(reader, "{}[],:")) {
			depth += is_among(reader, "{[") - is_among(reader, "}]");
			reader->at++;
		} else {
			while (peek_char(reader) && !is_among(reader, " \t\r\n{}[],:/"))
				reader->at++;
		}
	} while (depth > 0 && peek_char(reader));
}

/* Does a name as written, perhaps with escapes, stand for this name? */
static bool is_name(struct roger_str standing, struct roger_str name)
{
	RG_CLEANUP(rg_json_freep) struct rg_json *json = NULL;
	/* Take in the quotes around it. */
	struct roger_str quoted = { standing.data - 1, standing.length + 2 };

	if (!memchr(standing.data, '\\', standing.length))
		return rg_str_equal(standing, name);
	return rg_json_read(quoted, &json, NULL) == ROGER_OK &&
	       rg_str_equal(rg_json_str(rg_json_root(json)), name);
}

/*
 * Read an object or array, up to behind its closing bracket, and find in it the member of that
 * name or, with a mark, the first element whose text holds the mark.
 */
static struct container read_container(struct reader *reader, struct roger_str wanted,
				       struct roger_str mark)
{
	struct container container = { .open = reader->at };
	struct roger_str name = { 0 };
	size_t key, start, last = 0;
	bool named = peek_char(reader) == '{', is;

	for (reader->at++, skip_blanks(reader); !is_among(reader, "}]"); skip_blanks(reader)) {
		key = reader->at;
		if (named) {
			name = read_text(reader);
			skip_blanks(reader);
			reader->at++; /* the colon */
			skip_blanks(reader);
		}
		start = reader->at;
		skip_value(reader);
		is = mark.length ? memmem(reader->text.data + start, reader->at - start, mark.data,
					  mark.length) != NULL
				 : named && is_name(name, wanted);
		container.first = container.first ? container.first : key;
		if (container.found && !container.after)
			container.after = key;
		if (container.found && is && !mark.length)
			container.twice = key;
		if (!container.found && is) {
			container.found = true;
			container.key = key;
			container.start = start;
			container.end = reader->at;
			container.before = last;
		}
		last = reader->at;
		skip_blanks(reader);
		take_text(reader, ",");
	}
	container.close = reader->at++;
	return container;
}

/* Check the whole text, and go to the bracket of its object. */
static int read_whole(struct reader *reader, struct roger_err *err)
{
	RG_CLEANUP(rg_json_freep) struct rg_json *json = NULL;
	int r = rg_json_read_lenient(reader->text, &json, err);

	if (r < 0)
		return r;
	take_text(reader, "\xef\xbb\xbf");
	skip_blanks(reader);
	return peek_char(reader) == '{' ? ROGER_OK : fail_at(reader, "an object", err);
}

/* ------------------------------------------------------------------ edits -- */

/* Do two values say the same?  Not where one has comments: those are a person's. */
static bool is_same_value(struct roger_str a, struct roger_str b)
{
	RG_CLEANUP(rg_json_freep) struct rg_json *one = NULL;
	RG_CLEANUP(rg_json_freep) struct rg_json *other = NULL;
	RG_CLEANUP(rg_buf_deinit) struct rg_buf says = { .maximum = SIZE_MAX };
	RG_CLEANUP(rg_buf_deinit) struct rg_buf said = { .maximum = SIZE_MAX };

	if (rg_json_read(a, &one, NULL) < 0 || rg_json_read(b, &other, NULL) < 0)
		return false;
	rg_json_print(rg_json_root(one), &says);
	rg_json_print(rg_json_root(other), &said);
	return !says.failed && rg_str_equal(rg_buf_str(&says), rg_buf_str(&said));
}

/* The deepest container that exists along a path, and the wanted item in it. */
struct place {
	struct container container;
	size_t step; /* how many names of the path lead to it */
};

/*
 * Find the item at the end of a path.  With a mark the path leads to an array, in which an element
 * that holds the mark is looked for.
 */
static int find_place(struct roger_str text, const struct roger_strs *path, struct roger_str mark,
		      struct place *ret_place, struct roger_err *err)
{
	const bool array = mark.length != 0;
	struct reader reader = { .text = text };
	struct place place = { 0 };
	bool at_mark;
	int r;

	r = read_whole(&reader, err);
	for (; r == ROGER_OK; place.step++, reader.at = place.container.start) {
		at_mark = array && place.step == path->count;
		if (place.step && peek_char(&reader) != (at_mark ? '[' : '{'))
			return rg_fail(err, ROGER_EDATA, 0, "line %lld: %.*s: expected %s",
				       (long long)rg_str_line(text, reader.at),
				       RG_STR_ARGS(path->items[place.step - 1]),
				       at_mark ? "an array" : "an object");
		place.container =
			read_container(&reader, at_mark ? RG_STR("") : path->items[place.step],
				       at_mark ? mark : RG_STR(""));
		/* A name that comes twice is refused, since programs disagree on which counts. */
		if (place.container.twice) {
			reader.at = place.container.twice;
			return fail_at(&reader, "each name once", err);
		}
		if (place.step + !array == path->count || !place.container.found)
			break;
	}
	*ret_place = place;
	return r;
}

/* The blanks before a place, from the last line end on. */
static struct roger_str blanks_before(struct roger_str text, size_t at)
{
	size_t start = at;

	while (start > 0 && strchr(" \t", text.data[start - 1]))
		start--;
	if (start > 0 && text.data[start - 1] == '\n')
		start -= 1 + (start > 1 && text.data[start - 2] == '\r');
	else
		start = at;
	return (struct roger_str){ text.data + start, at - start };
}

/* The line end and the indent of the line that a bracket is in. */
static struct roger_str indent_of(struct roger_str text, size_t at)
{
	const char *blanks;

	while (at > 0 && text.data[at - 1] != '\n')
		at--;
	for (blanks = text.data + at; *blanks == ' ' || *blanks == '\t'; blanks++)
		;
	return at ? blanks_before(text, (size_t)(blanks - text.data)) : RG_STR("\n");
}

static void add_break(struct roger_str indent, size_t level, struct rg_buf *out)
{
	if (indent.length)
		rg_buf_printf(out, "%.*s%*s", RG_STR_ARGS(indent), (int)level * 2, "");
}

/* Print the missing part of the path, and in it the value: "b": {"c": VALUE}, a line each. */
static void add_path(const struct place *place, const struct roger_strs *path,
		     struct roger_str value, bool array, struct roger_str indent,
		     struct rg_buf *out)
{
	const size_t missing = path->count - place->step;
	const size_t deepest = missing ? missing - !array : 0;
	size_t i;

	for (i = 0; i < missing; i++) {
		rg_json_add_string(out, path->items[place->step + i]);
		rg_buf_add_text(out, i < deepest ? (i + 1 < missing ? ": {" : ": [") : ": ");
		if (i < deepest)
			add_break(indent, i + 1, out);
	}
	rg_buf_add_str(out, value);
	for (i = deepest; i-- > 0;) {
		add_break(indent, i, out);
		rg_buf_add_char(out, i + 1 < missing ? '}' : ']');
	}
}

/* Insert an item before the first one of a container, with the same blanks before it. */
static void insert_item(struct roger_str text, const struct place *place,
			const struct roger_strs *path, struct roger_str value, bool array,
			struct rg_json_edit *ret_edit, struct rg_buf *out)
{
	const struct container *container = &place->container;
	struct roger_str outer = indent_of(text, container->open), indent = { 0 };
	RG_CLEANUP(rg_buf_deinit) struct rg_buf inner = { .maximum = SIZE_MAX };

	if (container->first) {
		indent = blanks_before(text, container->first);
		*ret_edit = (struct rg_json_edit){ .offset = container->first };
		add_path(place, path, value, array, indent, out);
		rg_buf_add_char(out, ',');
		rg_buf_add_str(out, indent.length ? indent : RG_STR(" "));
		return;
	}
	rg_buf_printf(&inner, "%.*s  ", RG_STR_ARGS(outer));
	*ret_edit = (struct rg_json_edit){ .offset = container->open + 1 };
	ret_edit->length = container->close - ret_edit->offset;
	rg_buf_add_str(out, rg_buf_str(&inner));
	add_path(place, path, value, array, rg_buf_str(&inner), out);
	/* Keep what is between the brackets if it may be a comment. */
	if (memchr(text.data + ret_edit->offset, '/', ret_edit->length))
		ret_edit->length = 0;
	else
		rg_buf_add_str(out, outer);
	out->failed |= inner.failed;
}

int rg_json_edit_put(struct roger_str text, const struct roger_strs *path, struct roger_str value,
		     struct roger_str mark, struct rg_arena *arena, struct rg_json_edit *ret_edit,
		     struct roger_err *err)
{
	struct roger_str into = rg_str_blank(text) ? RG_STR("{}\n") : text, old;
	struct rg_buf out = { .maximum = SIZE_MAX }, whole = { .maximum = SIZE_MAX };
	struct rg_json_edit edit;
	struct place place;
	int r;

	rg_assert(path->count);
	*ret_edit = (struct rg_json_edit){ 0 };
	r = find_place(into, path, mark, &place, err);
	if (r < 0)
		return r;
	if (place.container.found) {
		edit = (struct rg_json_edit){ .offset = place.container.start };
		edit.length = place.container.end - edit.offset;
		old = (struct roger_str){ into.data + edit.offset, edit.length };
		if (is_same_value(old, value))
			return ROGER_OK;
		rg_buf_add_str(&out, value);
	} else {
		insert_item(into, &place, path, value, mark.length, &edit, &out);
	}
	if (!rg_arena_keep(arena, &out, &edit.text))
		return rg_fail_memory(err);
	*ret_edit = edit;
	if (into.data == text.data)
		return ROGER_OK;
	rg_json_edit_apply(into, &edit, &whole);
	*ret_edit = (struct rg_json_edit){ .length = text.length };
	return rg_kept(rg_arena_keep(arena, &whole, &ret_edit->text), err);
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
	/* Cut the comma before the item, too; or the first item up to the next one; or the only
	 * item with all between the brackets. */
	ret_edit->offset = container->before  ? container->before
			   : container->after ? container->key
					      : container->open + 1;
	ret_edit->length = (container->before  ? container->end
			    : container->after ? container->after
					       : container->close) -
			   ret_edit->offset;
	return ROGER_OK;
}

int rg_json_edit_find(struct roger_str text, const struct roger_strs *path, struct roger_str mark,
		      struct roger_str *ret_value, struct roger_err *err)
{
	struct place place = { 0 };
	const struct container *found = &place.container;
	int r;

	*ret_value = (struct roger_str){ 0 };
	if (rg_str_blank(text))
		return ROGER_OK;
	r = find_place(text, path, mark, &place, err);
	if (r == ROGER_OK && place.container.found)
		*ret_value =
			(struct roger_str){ text.data + found->start, found->end - found->start };
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
