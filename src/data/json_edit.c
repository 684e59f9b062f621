/* json_edit: a reader that knows where things are, and the edits themselves. */
#include "data/json_edit.h"

#include "data/json.h"

/* ---------------------------------------------------------------- reading -- */

/*
 * The reader goes through a text that is known to be JSON and ends with a NUL, so it checks
 * nothing.
 */

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
 * mark, the first element whose text holds the mark.  Returns where the name comes a second time.
 */
static const char *read_container(const char *at, struct roger_str name, struct roger_str mark,
				  struct rg_json_spot *spot)
{
	const char *key, *start, *last = NULL, *twice = NULL;
	const bool named = *at == '{';
	bool is;

	rg_assert(*at == '{' || *at == '[');
	spot->open = at;
	spot->first = spot->key = spot->before = spot->after = NULL;
	spot->value = (struct roger_str){ NULL, 0 };
	for (at = skip_blanks(at + 1); *at != '}' && *at != ']';
	     at = skip_blanks(at + (*at == ','))) {
		/* Between a name and its value is a colon. */
		key = at;
		start = named ? skip_blanks(skip_blanks(skip_string(key)) + 1) : key;
		at = skip_value(start);
		is = mark.length
			     ? memmem(start, (size_t)(at - start), mark.data, mark.length) != NULL
			     : named && is_name(key, name);
		if (!spot->first)
			spot->first = key;
		if (spot->key && !spot->after)
			spot->after = key;
		if (spot->key && is && !mark.length)
			twice = key;
		if (!spot->key && is) {
			spot->key = key;
			spot->value = (struct roger_str){ start, (size_t)(at - start) };
			spot->before = last;
		}
		last = at;
		at = skip_blanks(at);
	}
	spot->close = at;
	return twice;
}

static int fail_at(struct roger_str text, const char *at, struct roger_str name,
		   const char *expected, struct roger_err *err)
{
	return rg_fail(err, ROGER_EDATA, 0, "line %lld: %.*s%sexpected %s",
		       (long long)rg_str_line(text, (size_t)(at - text.data)), RG_STR_ARGS(name),
		       name.length ? ": " : "", expected);
}

int rg_json_spot_find(struct roger_str text, const struct roger_strs *path, struct roger_str mark,
		      struct rg_json_spot *ret_spot, struct roger_err *err)
{
	RG_CLEANUP(rg_json_freep) struct rg_json *json = NULL;
	struct rg_json_spot spot = { .text = text, .path = path, .array = mark.length != 0 };
	struct roger_str name = RG_STR("");
	const char *at, *twice;
	bool last;
	int r;

	rg_assert(path->count);
	*ret_spot = spot;
	if (rg_str_blank(text))
		return ROGER_OK;
	r = rg_json_read_lenient(text, &json, err);
	if (r < 0)
		return r;
	at = skip_blanks(text.data + (rg_str_begins(text, "\xef\xbb\xbf") ? 3 : 0));
	for (;; spot.step++, at = spot.value.data) {
		last = spot.array && spot.step == path->count;
		if (*at != (last ? '[' : '{'))
			return fail_at(text, at, name, last ? "an array" : "an object", err);
		name = last ? RG_STR("") : path->items[spot.step];
		twice = read_container(at, name, last ? mark : RG_STR(""), &spot);
		/* A name that comes twice is refused, since programs disagree on which counts. */
		if (twice)
			return fail_at(text, twice, RG_STR(""), "each name once", err);
		if (!spot.key || spot.step + !spot.array == path->count)
			break;
	}
	*ret_spot = spot;
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
static void add_path(const struct rg_json_spot *spot, struct roger_str value,
		     struct roger_str indent, struct rg_buf *out)
{
	const size_t missing = spot->path->count - spot->step;
	const size_t deepest = missing ? missing - !spot->array : 0;
	size_t i;

	for (i = 0; i < missing; i++) {
		rg_json_add_string(out, spot->path->items[spot->step + i]);
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
static struct rg_json_edit insert_item(const struct rg_json_spot *spot, struct roger_str value,
				       struct rg_buf *out)
{
	const char *inside = spot->open + 1;
	struct roger_str outer = indent_of(spot->text, spot->open), indent;
	struct rg_json_edit edit = { .offset = (size_t)(inside - spot->text.data) };
	RG_CLEANUP(rg_buf_deinit) struct rg_buf inner = { .maximum = SIZE_MAX };

	if (spot->first) {
		indent = blanks_before(spot->text, spot->first);
		add_path(spot, value, indent, out);
		rg_buf_add_char(out, ',');
		rg_buf_add_str(out, indent.length ? indent : RG_STR(" "));
		edit.offset = (size_t)(spot->first - spot->text.data);
		return edit;
	}
	rg_buf_printf(&inner, "%.*s  ", RG_STR_ARGS(outer));
	rg_buf_add_str(out, rg_buf_str(&inner));
	add_path(spot, value, rg_buf_str(&inner), out);
	out->failed |= inner.failed;
	/* Keep what is between the brackets if it may be a comment. */
	if (memchr(inside, '/', (size_t)(spot->close - inside)))
		return edit;
	rg_buf_add_str(out, outer);
	edit.length = (size_t)(spot->close - inside);
	return edit;
}

int rg_json_spot_put(const struct rg_json_spot *spot, struct roger_str value,
		     struct rg_arena *arena, struct rg_json_edit *ret_edit, struct roger_err *err)
{
	static const char object[] = "{}\n";
	struct rg_buf out = { .maximum = SIZE_MAX };
	struct rg_json_spot made = *spot;

	*ret_edit = (struct rg_json_edit){ 0 };
	if (spot->key && is_same_value(spot->value, value))
		return ROGER_OK;
	if (spot->key) {
		*ret_edit = (struct rg_json_edit){ (size_t)(spot->value.data - spot->text.data),
						   spot->value.length };
		rg_buf_add_str(&out, value);
	} else if (spot->open) {
		*ret_edit = insert_item(spot, value, &out);
	} else {
		/* All of an empty text becomes an object. */
		made.text = rg_str(object);
		made.open = object;
		made.close = object + 1;
		rg_buf_add_char(&out, '{');
		(void)insert_item(&made, value, &out);
		rg_buf_add_text(&out, object + 1);
		ret_edit->length = spot->text.length;
	}
	return rg_kept(rg_arena_keep(arena, &out, &ret_edit->text), err);
}

struct rg_json_edit rg_json_spot_cut(const struct rg_json_spot *spot)
{
	const char *from, *to;

	if (!spot->key)
		return (struct rg_json_edit){ 0 };
	/* Cut the comma before the item, too; or the first item up to the next one; or the only
	 * item with all between the brackets. */
	from = spot->before ? spot->before : spot->after ? spot->key : spot->open + 1;
	to = spot->before  ? spot->value.data + spot->value.length
	     : spot->after ? spot->after
			   : spot->close;
	return (struct rg_json_edit){ (size_t)(from - spot->text.data), (size_t)(to - from) };
}

void rg_json_edit_apply(struct roger_str text, const struct rg_json_edit *edit, struct rg_buf *out)
{
	size_t end = edit->offset + edit->length;

	rg_assert(end <= text.length);
	rg_buf_add(out, text.data, edit->offset);
	rg_buf_add_str(out, edit->text);
	rg_buf_add(out, text.data + end, text.length - end);
}
