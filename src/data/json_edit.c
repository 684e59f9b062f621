/* json_edit: a reader that knows where things are, and the edits themselves. */
#include "data/json_edit.h"

#include "data/json.h"

/* ---------------------------------------------------------------- reading -- */

/*
 * The reader goes through a text that is known to be JSON and ends with a NUL, so it checks
 * nothing.
 */

/* An object or array, and in it the item that was looked for. */
struct container {
	const char *open, *close; /* its brackets */
	const char *first;	  /* its first item; NULL: it is empty */
	const char *key;	  /* the item: its name, or in an array its value; NULL: none */
	const char *start, *end;  /* of its value */
	const char *before;	  /* behind the item before it; NULL: it is the first */
	const char *after;	  /* the item after it; NULL: it is the last */
	const char *twice;	  /* where the name comes a second time; NULL: nowhere */
};

/* Skip blanks and comments. */
static const char *skip_blanks(const char *at)
{
	for (;;) {
		at += strspn(at, " \t\r\n");
		if (strncmp(at, "//", 2) == 0)
			at += strcspn(at, "\r\n");
		else if (strncmp(at, "/*", 2) == 0)
			at = strstr(at + 2, "*/") + 2;
		else
			return at;
	}
}

static const char *skip_string(const char *at)
{
	for (at++; *at != '"'; at++)
		at += *at == '\\';
	return at + 1;
}

static const char *skip_value(const char *at)
{
	int depth = 0;

	do {
		at = skip_blanks(at);
		depth += (*at == '{' || *at == '[') - (*at == '}' || *at == ']');
		if (*at == '"')
			at = skip_string(at);
		else
			at += strchr("{}[],:", *at) ? 1 : strcspn(at, " \t\r\n{}[],:/");
	} while (depth > 0);
	return at;
}

/* Does a name in quotes, perhaps with escapes, stand for this name? */
static bool is_name(const char *key, struct roger_str name)
{
	RG_CLEANUP(rg_json_freep) struct rg_json *json = NULL;
	struct roger_str quoted = { key, (size_t)(skip_string(key) - key) };

	if (!memchr(quoted.data, '\\', quoted.length))
		return rg_str_equal((struct roger_str){ key + 1, quoted.length - 2 }, name);
	return rg_json_read(quoted, &json, NULL) == ROGER_OK &&
	       rg_str_equal(rg_json_str(rg_json_root(json)), name);
}

/*
 * Read an object or array from its bracket, and find in it the member of that name or, with a
 * mark, the first element whose text holds the mark.
 */
static struct container read_container(const char *at, struct roger_str name, struct roger_str mark)
{
	struct container found = { .open = at };
	const char *key, *start, *last = NULL;
	const bool named = *at == '{';
	bool is;

	for (at = skip_blanks(at + 1); *at != '}' && *at != ']';
	     at = skip_blanks(at + (*at == ','))) {
		/* Between a name and its value is a colon. */
		key = at;
		start = named ? skip_blanks(skip_blanks(skip_string(key)) + 1) : key;
		at = skip_value(start);
		is = mark.length
			     ? memmem(start, (size_t)(at - start), mark.data, mark.length) != NULL
			     : named && is_name(key, name);
		if (!found.first)
			found.first = key;
		if (found.key && !found.after)
			found.after = key;
		if (found.key && is && !mark.length)
			found.twice = key;
		if (!found.key && is) {
			found.key = key;
			found.start = start;
			found.end = at;
			found.before = last;
		}
		last = at;
		at = skip_blanks(at);
	}
	found.close = at;
	return found;
}

/* The deepest container that exists along a path, and the wanted item in it. */
struct place {
	struct container container;
	size_t step; /* how many names of the path lead to it */
};

static int fail_at(struct roger_str text, const char *at, struct roger_str name,
		   const char *expected, struct roger_err *err)
{
	return rg_fail(err, ROGER_EDATA, 0, "line %lld: %.*s%sexpected %s",
		       (long long)rg_str_line(text, (size_t)(at - text.data)), RG_STR_ARGS(name),
		       name.length ? ": " : "", expected);
}

/*
 * Find the item at the end of a path.  With a mark the path leads to an array, in which an element
 * that holds the mark is looked for.
 */
static int find_place(struct roger_str text, const struct roger_strs *path, struct roger_str mark,
		      struct place *ret_place, struct roger_err *err)
{
	const bool marked = mark.length != 0;
	RG_CLEANUP(rg_json_freep) struct rg_json *json = NULL;
	struct roger_str name = RG_STR("");
	struct place place = { 0 };
	const char *at;
	bool array;
	int r;

	*ret_place = place;
	if (rg_str_blank(text))
		return ROGER_OK;
	r = rg_json_read_lenient(text, &json, err);
	if (r < 0)
		return r;
	at = skip_blanks(text.data + (rg_str_begins(text, "\xef\xbb\xbf") ? 3 : 0));
	for (;; place.step++, at = place.container.start) {
		array = marked && place.step == path->count;
		if (*at != (array ? '[' : '{'))
			return fail_at(text, at, name, array ? "an array" : "an object", err);
		name = array ? RG_STR("") : path->items[place.step];
		place.container = read_container(at, name, array ? mark : RG_STR(""));
		/* A name that comes twice is refused, since programs disagree on which counts. */
		if (place.container.twice)
			return fail_at(text, place.container.twice, RG_STR(""), "each name once",
				       err);
		if (!place.container.key || place.step + !marked == path->count)
			break;
	}
	*ret_place = place;
	return ROGER_OK;
}

/* ------------------------------------------------------------------ edits -- */

/* Do two values say the same?  Not where one has comments: those are a person's. */
static bool is_same_value(struct roger_str a, struct roger_str b)
{
	RG_CLEANUP(rg_json_freep) struct rg_json *one = NULL;
	RG_CLEANUP(rg_json_freep) struct rg_json *other = NULL;

	return rg_json_read(a, &one, NULL) == ROGER_OK &&
	       rg_json_read(b, &other, NULL) == ROGER_OK &&
	       rg_json_hash(0, rg_json_root(one)) == rg_json_hash(0, rg_json_root(other));
}

/* The blanks before a place, from the last line end on. */
static struct roger_str blanks_before(struct roger_str text, const char *at)
{
	const char *start = at;

	while (start > text.data && strchr(" \t", start[-1]))
		start--;
	if (start == text.data || start[-1] != '\n')
		return (struct roger_str){ at, 0 };
	start -= start - 1 > text.data && start[-2] == '\r' ? 2 : 1;
	return (struct roger_str){ start, (size_t)(at - start) };
}

/* The line end and the indent of the line that a bracket is in. */
static struct roger_str indent_of(struct roger_str text, const char *at)
{
	while (at > text.data && at[-1] != '\n')
		at--;
	return at > text.data ? blanks_before(text, at + strspn(at, " \t")) : RG_STR("\n");
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
	const char *first = container->first, *inside = container->open + 1;
	struct roger_str outer = indent_of(text, container->open), indent;
	RG_CLEANUP(rg_buf_deinit) struct rg_buf inner = { .maximum = SIZE_MAX };

	*ret_edit =
		(struct rg_json_edit){ .offset = (size_t)((first ? first : inside) - text.data) };
	if (first) {
		indent = blanks_before(text, first);
		add_path(place, path, value, array, indent, out);
		rg_buf_add_char(out, ',');
		rg_buf_add_str(out, indent.length ? indent : RG_STR(" "));
		return;
	}
	rg_buf_printf(&inner, "%.*s  ", RG_STR_ARGS(outer));
	rg_buf_add_str(out, rg_buf_str(&inner));
	add_path(place, path, value, array, rg_buf_str(&inner), out);
	out->failed |= inner.failed;
	/* Keep what is between the brackets if it may be a comment. */
	if (memchr(inside, '/', (size_t)(container->close - inside)))
		return;
	ret_edit->length = (size_t)(container->close - inside);
	rg_buf_add_str(out, outer);
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
	if (place.container.key) {
		old = (struct roger_str){ place.container.start,
					  (size_t)(place.container.end - place.container.start) };
		if (is_same_value(old, value))
			return ROGER_OK;
		edit = (struct rg_json_edit){ (size_t)(old.data - into.data), old.length };
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
	const struct container *item;
	const char *from, *to;
	struct place place;
	int r;

	*ret_edit = (struct rg_json_edit){ 0 };
	r = find_place(text, path, mark, &place, err);
	item = &place.container;
	if (r < 0 || !item->key)
		return r;
	/* Cut the comma before the item, too; or the first item up to the next one; or the only
	 * item with all between the brackets. */
	from = item->before ? item->before : item->after ? item->key : item->open + 1;
	to = item->before ? item->end : item->after ? item->after : item->close;
	ret_edit->offset = (size_t)(from - text.data);
	ret_edit->length = (size_t)(to - from);
	return ROGER_OK;
}

int rg_json_edit_find(struct roger_str text, const struct roger_strs *path, struct roger_str mark,
		      struct roger_str *ret_value, struct roger_err *err)
{
	struct place place;
	int r = find_place(text, path, mark, &place, err);

	*ret_value = (struct roger_str){ 0 };
	if (place.container.key)
		*ret_value =
			(struct roger_str){ place.container.start,
					    (size_t)(place.container.end - place.container.start) };
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
