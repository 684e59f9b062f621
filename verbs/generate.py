#!/usr/bin/env python3
"""generate - from the texts of this folder what must exist before roger is compiled.

usage: generate.py FOLDER
       generate.py --layout [FILE...]

README.md says what the texts look like.  It writes into the folder roger.h (the public header, from
include/roger.h.in), verbs.h and verbs.c (records, names and verbs as tables), settings.h, names.js (for
the page), and API.md (the reference); or prints a sum of what the structs look like.  An error names the file and the line.
"""
import hashlib
import json
import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
HEADER = HERE.parent / "include/roger.h.in"
# In the order in which help, tools and the reference have their verbs.
ROOMS = ("mail", "keys", "runs", "edge", "proof", "care", "tools", "cli", "host")
KINDS = {
    "text": "struct roger_str", "name": "struct roger_str", "object": "struct roger_str", "members": "struct roger_str",
    "int": "int64_t", "time": "int64_t", "instant": "int64_t", "span": "int64_t", "bool": "bool", "texts": "struct roger_strs",
}
IN_MS = ("time", "instant", "span")
RESERVED = {"new", "for", "this", "class", "private", "public", "delete", "default", "operator", "template", "export"}


class Fault(Exception):
    pass


class Block:
    """An enum, a record, a request, a reply, options, a verb or a command: its head, and its lines."""

    def __init__(self, room, place, kind, name, rest):
        self.room, self.place, self.kind, self.name, self.rest = room, place, kind, name, rest
        self.lines = []

    def fail(self, what, place=None):
        raise Fault(f"{place or self.place}: {what}")


class Row:
    """A member of a record, or a value of an enum."""

    def __init__(self, place, name, kind="", words=(), help=""):
        self.place, self.name, self.kind = place, name, kind.rstrip("!~")
        self.help, *model = [words.strip() for words in (help + " ").split(" //")]
        self.model = model[0] if model else None
        self.words = [word for word in words if "=" not in word]
        self.given = dict(word.split("=", 1) for word in words if "=" in word)
        if kind.endswith("!"):
            self.words.append("required")
        if kind.endswith("~"):
            self.words.append("spare")
        self.inside = "inside" in self.words

    @property
    def member(self):
        """Its name in C: with the unit where it has one."""
        name = self.given.get("c", self.name.split(".")[-1])
        if self.kind in IN_MS and not name.endswith("_ms"):
            return name + "_ms"
        return name + "_" if name in RESERVED else name


def join(lines):
    """Lines with their numbers; a line that begins far in continues the one before."""
    for number, line in enumerate(lines, 1):
        if line.startswith("      ") and line.strip():
            yield number, None, line.strip()
        elif line.strip() and not line.startswith("#"):
            yield number, line.startswith(" "), line.strip()


def read(path):
    """The blocks of a file."""
    blocks, entries = [], []
    for number, within, text in join(path.read_text().splitlines()):
        if within is None:
            entries[-1][2] += " " + text
        else:
            entries.append([number, within, text])
    for number, within, text in entries:
        place = f"{path.name}:{number}"
        if within:
            if not blocks:
                raise Fault(f"{place}: expected the head of a block, at the left edge")
            blocks[-1].lines.append((place, text))
            continue
        head = re.match(r"(private )?(?:(enum|record|request|reply|options|verb|command) +([a-z0-9_]+)|(exits|settings))(.*)", text)
        if not head:
            raise Fault(f"{place}: expected enum, record, request, reply, options, verb or command and a name, exits or settings")
        block = Block(path.name, place, head[2] or head[4], head[3] or head[4], head[5])
        block.private = bool(head[1]) or block.kind == "options"
        blocks.append(block)
    return blocks


def quote(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


class Enum:
    def __init__(self, block):
        head = re.fullmatch(r" +([A-Z_]+)(?:: (.*))?", block.rest)
        if not head:
            block.fail("expected: enum NAME PREFIX_: what it is")
        self.block, self.name, self.prefix, self.about = block, block.name, head[1], head[2] or ""
        self.rows = []
        for place, text in block.lines:
            line = re.fullmatch(r"([a-z0-9_]+)(?: = (.+?))?(?: +\"([^\"]*)\")?(?: +(good|bad|doubtful|begun))?(?: +settles ((?: ?[a-z_]+)+?))?(?: +-- (.*))?", text)
            if not line:
                block.fail('expected: value [= its outside name] ["its words"] [good|bad|doubtful|begun] [settles VALUES] [-- what it means]', place)
            row = Row(place, line[1], help=line[6] or "")
            row.outside, row.tone, row.settles = line[2] or line[1], line[4], (line[5] or "").split()
            row.label = line[3] or row.outside.replace("_", " ")
            self.rows.append(row)
        for row in self.rows:
            for other in set(row.settles) - {row.name for row in self.rows}:
                block.fail(f"{row.name} settles '{other}', which is no value", row.place)
        self.id = f"enum {'rg' if block.private else 'roger'}_{self.name}"
        self.private, self.table = block.private, f"rg_{self.name}_names"
        own_words = any(row.label != row.outside.replace("_", " ") for row in self.rows)
        self.labels = f"rg_{self.name}_labels" if own_words else "NULL"


class Exits:
    """Errors, and the statuses with which a command ends."""

    def __init__(self, block):
        self.block, self.prefix = block, block.rest.split(":")[0].strip()
        self.rows = []
        for place, text in block.lines:
            line = re.fullmatch(r"([a-z]+) +(\d+) +(\S+) +(.+?)(?: -- (.*))?", text)
            if not line:
                block.fail("expected: name number name-in-JSON what help says [-- what it is]", place)
            self.rows.append([value if value != "-" else "" for value in line.groups("")])
        self.codes = {name.upper() for name, *_, about in self.rows if about}


class Settings:
    """What config.yaml may say."""

    KINDS = ("number", "span", "path", "file-name", "address", "recipients", "switch", "words", "names")
    UNITS = {"ms": 1, "s": 1000, "m": 60000, "h": 3600000, "d": 86400000}

    def __init__(self, block):
        self.block, self.rows = block, []
        for place, text in block.lines:
            line = re.fullmatch(r"(?:([a-z_]+)\.)?([a-z_]+) +(\S+) +(\S+) +(\S+) +([a-z_]+) +-- (.*)", text)
            if not line or line[3] not in self.KINDS:
                block.fail(f"expected: [section.]name kind default least..most name-in-C -- help; kinds are {', '.join(self.KINDS)}", place)
            bounds = line[5].split("..") if line[5] != "-" else ["0", "0"]
            if len(bounds) != 2 or (line[5] == "-") == (line[3] in ("number", "span")):
                block.fail(f"{line[2]}: expected least..most for a number or a span, else -", place)
            span = " to ".join("0" if bound == "0s" else bound for bound in bounds)
            about = f"{span}: {line[7]}" if line[3] == "span" and "RG_" not in span else line[7]
            self.rows.append((line[1] or "", line[2], line[3].upper().replace("-", "_"), line[6], *map(self.number, bounds),
                              "" if line[4] == "-" else line[4], about))

    def number(self, text):
        span = re.fullmatch(r"(\d+)(ms|[smhd])", text)
        return f"INT64_C({int(span[1]) * self.UNITS[span[2]]})" if span else text

    def header(self):
        rows = "".join(f" \\\n\tSETTING({quote(row[0])}, {quote(row[1])}, {', '.join(row[2:6])}, {quote(row[6])}, {quote(row[7])})" for row in self.rows)
        return f"""/* Made from verbs/ by generate.py: SETTING(section, name, kind, member of rg_config, least, most,
 * default, what it is for); bounds are of a NUMBER, and in ms of a SPAN. */
#define RG_SETTINGS(SETTING){rows}
"""


class Record:
    """A record, a request, a reply or options; a view has rows of another's struct."""

    def __init__(self, block):
        head = re.fullmatch(r'(?: "([^"]*)")?(?: = ([a-z_]+)(?:\(([a-z_ .*]*)\))?)?(?: file=(\w+))?(?:: (.*))?', block.rest)
        if not head:
            block.fail('expected: NAME ["title"] [= OTHER(members)] [file=camel] [: what it is]')
        self.block, self.kind, self.name, self.private = block, block.kind, block.name, block.private
        self.title = head[1] if head[1] is not None else self.name.replace("_", " ") if self.kind == "record" else self.name
        self.base, self.copied, self.camel, self.about = head[2], (head[3] or "").split(), head[4] == "camel", head[5] or ""
        self.rows = [self.row(place, text) for place, text in block.lines]
        self.rows_of_struct = self.rows
        suffix = "" if self.kind == "record" else "_" + self.kind
        self.id = self.name + suffix
        self.struct = ("rg_" if self.private else "roger_") + self.id
        self.table = f"rg_{self.id}_record"

    def row(self, place, text):
        line = re.fullmatch(r"([][\w.*]{1,60}|``) +(`[^`]+`|\S+)((?: +[a-z][^ ]{0,60})*)(?: +-- (.*))?", text)
        if not line:
            self.block.fail("expected: member kind [words] [-- help]", place)
        return Row(place, line[1], line[2], line[3].split(), line[4] or "")


class Verb:
    def __init__(self, block):
        head = re.fullmatch(r"(?:\(([a-z_]*)\))?(?: ([a-z_]+))?: (.*)", block.rest)
        if not head:
            block.fail("expected: verb NAME(request) reply: what it does")
        self.block, self.name, self.summary, self.command = block, block.name, head[3], block.kind == "command"
        self.request, self.reply = (head[1] or "empty"), head[2]
        self.options = Block(block.room, block.place, "options", block.name, "")
        self.options.private = True
        self.examples, self.flags, self.tool, self.loses, self.errors, self.places = [], [], "", "", [], {}
        for place, text in block.lines:
            if text.startswith("$ "):
                self.examples.append(text[2:])
            elif text.startswith("is "):
                self.flags += text.split()[1:]
                self.places.update(dict.fromkeys(text.split()[1:], place))
            elif text.startswith("loses "):
                self.loses = text[6:]
            elif text.startswith("option "):
                self.options.lines.append((place, text[7:]))
            elif text.startswith("tool "):
                self.tool = text[5:]
            elif re.match(r"fails [A-Z]+: ", text):
                self.errors.append(tuple(text[6:].split(": ", 1)))
                self.places[self.errors[-1][0]] = place
            else:
                block.fail("expected: $ example, option, is FLAGS, tool WORDS, loses WORDS, or fails CODE: why", place)


class House:
    """All blocks, with their names resolved."""

    def __init__(self, header, paths):
        self.header = header
        self.flags = {m[1].lower().replace("_", "-"): "ROGER_" + m[1] for m in re.finditer(r"ROGER_([A-Z_]+) = 1 << \d+", header)}
        self.enums, self.records, self.verbs = {}, {}, {}
        self.order = []
        for path in paths:
            for block in read(path):
                kinds = {"enum": Enum, "verb": Verb, "command": Verb, "exits": Exits, "settings": Settings}
                thing = kinds.get(block.kind, Record)(block)
                if block.kind in ("exits", "settings"):
                    setattr(self, block.kind, thing)
                    continue
                home = self.enums if isinstance(thing, Enum) else self.verbs if isinstance(thing, Verb) else self.records
                key = thing.id if isinstance(thing, Record) else thing.name
                if key in home:
                    block.fail(f"there is a {block.kind} '{key}' already, at {home[key].block.place}")
                home[key] = thing
                self.order.append(thing)
                if isinstance(thing, Verb) and thing.options.lines:
                    options = Record(thing.options)
                    self.records[options.id] = options
                    self.order.append(options)
        for record in self.records.values():
            self.resolve(record)
        for verb in self.verbs.values():
            self.check_verb(verb)

    def resolve(self, record):
        if record.base:
            suffix = "" if record.kind == "record" else "_" + record.kind
            base = self.records.get(record.base + suffix)
            if not base or base.base:
                record.block.fail(f"'{record.base}' is no {record.kind} with rows of its own")
            own = {row.name: row for row in record.rows}
            known = {row.name: row for row in base.rows}
            record.struct, record.shared = base.struct, True
            for name in record.copied:
                if name not in own and name not in known:
                    record.block.fail(f"'{base.name}' has no member '{name}'")
            record.rows = [own.pop(name, known.get(name)) for name in record.copied] if record.copied else list(record.rows)
            if record.copied and own:
                record.block.fail(f"'{next(iter(own))}' is not in the list of members")
        for row in record.rows:
            self.check_row(record, row)

    def check_row(self, record, row):
        for word in row.words:
            if word not in self.flags and word not in ("inside", "content"):
                record.block.fail(f"{row.name}: no word '{word}'", row.place)
        for word in row.given:
            if word not in ("file", "c", "was", "most", "value"):
                record.block.fail(f"{row.name}: expected file=, c=, was=, most= or value=, not {word}=", row.place)
        if record.kind == "options" and row.kind not in ("text", "bool"):
            record.block.fail(f"{row.name}: an option is text or bool", row.place)
        if row.kind.startswith("`"):
            if not row.inside:
                record.block.fail(f"{row.name}: a type of C is for members that are inside", row.place)
        elif row.kind.endswith("[]"):
            if row.kind[:-2] not in self.records:
                record.block.fail(f"{row.name}: there is no record '{row.kind[:-2]}'", row.place)
        elif row.kind not in KINDS and row.kind not in self.enums:
            record.block.fail(f"{row.name}: expected a kind ({', '.join(KINDS)}), an enum, or a record and []; not '{row.kind}'", row.place)

    def check_verb(self, verb):
        if verb.request + "_request" not in self.records:
            verb.block.fail(f"there is no request '{verb.request}'")
        if verb.reply and verb.reply + "_reply" not in self.records:
            verb.block.fail(f"there is no reply '{verb.reply}'")
        for flag in verb.flags:
            if flag not in self.flags:
                verb.block.fail(f"no flag '{flag}'", verb.places[flag])
        for code, _ in verb.errors:
            if code not in self.exits.codes:
                verb.block.fail(f"fails {code}: there is no such error; they are {', '.join(sorted(self.exits.codes))}", verb.places[code])

    # ------------------------------------------------------------------ C

    def type_of(self, row):
        if row.kind.startswith("`"):
            return row.kind.strip("`")
        if row.kind.endswith("[]"):
            return f"struct {self.records[row.kind[:-2]].struct}_list"
        return "int" if row.kind in self.enums else KINDS[row.kind]

    def remark(self, row):
        words = [self.enums[row.kind].id if row.kind in self.enums else "", row.help]
        return "; ".join(word for word in words if word)

    def struct(self, record):
        lines = comment(record.about) + [f"struct {record.struct} {{"]
        if record.kind == "reply":
            lines.append("\tvoid *memory; /* for roger_reply_free() */")
        for row in record.rows:
            kind = self.type_of(row)
            text = f"\t{kind}{'' if kind.endswith('*') else ' '}{row.member};"
            remark = self.remark(row)
            lines.append(text + (f" /* {remark} */" if remark else ""))
        lines.append("};")
        if record.id in self.listed:
            lines.append(f"ROGER_LIST({record.struct}_list, {record.struct});")
        return lines

    @property
    def listed(self):
        return {row.kind[:-2] for record in self.records.values() for row in record.rows if row.kind.endswith("[]")}

    def enum(self, enum):
        lines = comment(enum.about) + [f"{enum.id} {{"]
        for i, row in enumerate(enum.rows):
            lines.append(f"\t{enum.prefix}{row.name.upper()}{' = 1' if i == 0 else ''}," + (f" /* {row.help} */" if row.help else ""))
        return lines + ["};"]

    def structs(self, wanted):
        """Enums and structs in an order that C takes: what is listed comes first."""
        done, lines = set(), []

        def put(record):
            if record.id in done or record.base or not wanted(record):
                return
            done.add(record.id)
            for row in record.rows:
                if row.kind.endswith("[]"):
                    put(self.records[row.kind[:-2]])
            lines.extend(["", *self.struct(record)])

        for thing in self.order:
            if isinstance(thing, Enum) and wanted(thing):
                lines.extend(["", *self.enum(thing)])
            if isinstance(thing, Record):
                put(thing)
        return lines

    def prototype(self, verb, prefix, handle=True):
        request, reply = self.records[verb.request + "_request"].struct, self.records[verb.reply + "_reply"].struct
        first = "struct roger *roger, " if handle else ""
        return f"int {prefix}{verb.name}({first}const struct {request} *request, struct {reply} *ret_reply, struct roger_err *err)"

    def public(self, room_is):
        """The public header, with all structs and a function for each verb."""
        lines = self.structs(lambda thing: room_is(thing.block.room) and not getattr(thing, "private", False))
        functions = [f"", f"enum {{ ROGER_VERB_COUNT = {len(self.of_rooms(room_is))} }};"]
        for verb in self.of_rooms(room_is):
            functions += ["", *comment(verb.summary), "ROGER_API " + self.prototype(verb, "roger_", "no-workspace" not in verb.flags) + ";"]
        codes = "".join(f"\t{self.exits.prefix}{name.upper()} = -{number}, /* {about} */\n" for name, number, _, _, about in self.exits.rows if about)
        text = self.header.replace("@CODES@\n", codes).replace("@RECORDS@\n", "\n".join(lines[1:]) + "\n").replace("@VERBS@\n", "\n".join(functions[1:]) + "\n")
        return text.replace("/*@", "/*")

    def of_rooms(self, room_is):
        return [verb for verb in self.verbs.values() if room_is(verb.block.room) and not verb.command]

    def field(self, record, row):
        names, labels = (self.enums[row.kind].table, self.enums[row.kind].labels) if row.kind in self.enums else ("NULL", "NULL")
        of = "&" + self.records[row.kind[:-2]].table if row.kind.endswith("[]") else "NULL"
        kind = "ENUM" if row.kind in self.enums else "RECORDS" if row.kind.endswith("[]") else row.kind.upper()
        flags = " | ".join(self.flags[word] for word in row.words if word in self.flags) or "0"
        name = "" if row.kind == "members" and "." not in row.name else row.name
        file = row.given.get("file") or (camel(row.name) if record.camel and row.kind != "members" else name)
        was = quote(row.given["was"]) if "was" in row.given else "NULL"
        file = quote(file) if file != name else "NULL"
        value = quote(row.given["value"]) if "value" in row.given else "NULL"
        model = quote(row.model) if row.model is not None else "NULL"
        return f"\t{{ {quote(name)}, ROGER_{kind}, offsetof(struct {record.struct}, {row.member}), {flags}, {names}, {of},\n\t  {quote(row.help)}, {file}, {was}, {row.given.get('most', 0)}, {value}, {model}, {labels} }},"

    def tables(self, rooms, header, includes):
        """The source of some rooms: names, records, verbs."""
        head, body = [], []
        for thing in self.order:
            if not rooms(thing.block.room):
                continue
            if isinstance(thing, Enum):
                head.append(f"extern const char *const {thing.table}[]; /* \"\" first, then those of {thing.id} */")
                values = ", ".join(quote(row.outside) for row in thing.rows)
                body += ["", f"const char *const {thing.table}[] = {{ \"\", {values}, NULL }};"]
                if thing.labels != "NULL":
                    head.append(f"extern const char *const {thing.labels}[]; /* for people */")
                    body += [f"const char *const {thing.labels}[] = {{ \"\", {', '.join(quote(row.label) for row in thing.rows)}, NULL }};"]
                if any(row.tone for row in thing.rows):
                    head.append(f"extern const unsigned char rg_{thing.name}_tones[]; /* enum rg_tone; 0: none */")
                    tones = ", ".join(f"RG_TONE_{row.tone.upper()}" if row.tone else "0" for row in thing.rows)
                    body += ["", f"const unsigned char rg_{thing.name}_tones[] = {{ 0, {tones} }};"]
            elif isinstance(thing, Record):
                head.append(f"extern const struct roger_record {thing.table};")
                rows = [self.field(thing, row) for row in thing.rows if not row.inside]
                body += ["", f"static const struct roger_field {thing.id}_fields[] = {{", *rows, "\t{ 0 },", "};",
                         f"const struct roger_record {thing.table} = {{ {quote(thing.title)}, sizeof(struct {thing.struct}), {thing.id}_fields }};"]
        for verb in self.verbs.values():
            if rooms(verb.block.room):
                head.append(f"extern const struct roger_op rg_op_{verb.name};")
                body += self.op(verb)
                if not verb.command:
                    head.append(self.prototype(verb, "rg_verb_") + ";")
        if hasattr(self, "exits"):
            head += ["", "struct rg_exit {", "\tint status;", "\tconst char *code; /* in JSON; \"\": of no error */",
                     "\tconst char *meaning; /* of the status; \"\": no command ends with it */", "};", "extern const struct rg_exit rg_exits[]; /* up to one without texts */"]
            rows = "".join(f"\t{{ {number}, {quote(code)}, {quote(meaning)} }},\n" for _, number, code, meaning, _ in self.exits.rows)
            body += ["", "const struct rg_exit rg_exits[] = {", rows + "\t{ 0 },", "};"]
        private = self.structs(lambda thing: rooms(thing.block.room) and getattr(thing, "private", False))
        guard = "RG_" + header.upper().replace(".", "_")
        top = [f"/* Made from verbs/ by generate.py. */", f"#ifndef {guard}", f"#define {guard}", "", "#include <roger.h>"]
        return "\n".join(top + private + [""] + head + ["", "#endif", ""]), "\n".join(["/* Made from verbs/ by generate.py. */", f'#include "{header}"', *includes] + body + [""])

    def op(self, verb):
        reply = self.records.get(f"{verb.reply}_reply")
        request = self.records[verb.request + "_request"]
        flags = [self.flags[flag] for flag in verb.flags]
        lines = []
        if not verb.command:
            handle = "no-workspace" not in verb.flags
            lines += ["", f"static int call_{verb.name}(struct roger *roger, const void *request, void *reply, struct roger_err *err)",
                      "{", f"\treturn rg_verb_{verb.name}(roger, request, reply, err);", "}",
                      "", self.prototype(verb, "roger_", handle), "{",
                      f"\treturn roger_call({'roger' if handle else 'NULL'}, &rg_op_{verb.name}, request, ret_reply, err);", "}"]
        lines += ["", f"const struct roger_op rg_op_{verb.name} = {{", f"\t.name = {quote(verb.name)},", f"\t.summary = {quote(verb.summary)},"]
        lines += ["\t.examples =" + "".join("\n\t\t" + quote(example)[:-1] + '\\n"' for example in verb.examples) + ","] if verb.examples else ['\t.examples = "",']
        lines += [f"\t.flags = {' | '.join(flags) or '0'},", f"\t.request = &{request.table},"]
        lines += [f"\t.reply = &{reply.table},"] if reply else []
        lines += [f"\t.run = call_{verb.name},"] if not verb.command else []
        lines += [f"\t.tool = {quote(verb.tool)},"] if verb.tool else []
        numbers = {row[0].upper(): row[1] for row in self.exits.rows}
        errors = "".join(f"\n\t\t{quote(f'{numbers[code]} {why}')[:-1]}\\n\"" for code, why in verb.errors)
        lines += [f"\t.errors ={errors},"] if errors else []
        lines += [f"\t.options = &rg_{verb.name}_options_record,"] if verb.name + "_options" in self.records else []
        return lines + ["};"]

    def page(self):
        """What the page knows by name: verbs with the members of their requests, what they lose, and values with their words."""
        verbs = {verb.name: [row.name for row in self.records[verb.request + "_request"].rows if not row.inside] for verb in self.of_rooms(lambda room: True)}
        values = {name: {row.outside: row.label for row in enum.rows} for name, enum in self.enums.items()}
        tones = {name: {row.outside: row.tone for row in enum.rows if row.tone} for name, enum in self.enums.items() if any(row.tone for row in enum.rows)}
        losses = {verb.name: verb.loses for verb in self.verbs.values() if verb.loses}
        return "/* names - made from verbs/: verbs with the members of requests, what a verb loses, and values with their words and looks. */\n" + "".join(
            f"export const {name} = {json.dumps(value, separators=(',', ':'))};\n"
            for name, value in (("verbs", verbs), ("losses", losses), ("values", values), ("tones", tones)))

    def layout(self):
        """What the structs look like: another one is another library."""
        shape = "\n".join(f"{record.struct} {[(self.type_of(row), row.member) for row in record.rows]}" for record in self.records.values() if not record.base)
        shape += "".join(f"{enum.name} {[row.name for row in enum.rows]}" for enum in self.enums.values())
        shape += "".join(re.findall(r"^struct \w+ \{\n(?:.*\n)*?\};", re.sub(r"/\*(?:.|\n)*?\*/", "", self.header), re.M))
        return hashlib.sha256(shape.encode()).hexdigest()[:8]


    # ---------------------------------------------------------------- API.md

    def table(self, record):
        """The members of a request or a reply, as a table."""
        rows = [row for row in record.rows if not row.inside]
        if not rows:
            return []
        lines = ["| member | kind | |", "|---|---|---|"]
        for row in rows:
            kind = row.kind if row.kind not in self.enums else " or ".join(value.outside for value in self.enums[row.kind].rows)
            kind += ", required" if "required" in row.words else ""
            name = row.name if row.kind != "members" else "others"
            lines.append(f"| `{name}` | {kind} | {row.help.replace('|', '/')} |")
        return lines

    def reference(self, room_is):
        """The API reference: each verb with its members, then the records that they share."""
        lines = ["# The verbs", "", "Made from [verbs/](../verbs/README.md) by `script/manual`.  A member has the same name in C (`roger.h`), in JSON, over HTTP",
                 "and in MCP. Instants are RFC 3339 in JSON and ms since 1970 in C, where their names, and those of spans, end with `_ms`."]
        for verb in self.of_rooms(room_is):
            request, reply = self.records[verb.request + "_request"], self.records[verb.reply + "_reply"]
            lines += ["", f"## {verb.name}", "", verb.summary[0].upper() + verb.summary[1:] + ".", "", "```", *verb.examples, "```", "",
                      *self.table(request), "", f"It answers with `struct {reply.struct}`:", "", *self.table(reply)]
            lines += ["", *(f"- `ROGER_E{code}`: {why}" for code, why in verb.errors)] if verb.errors else []
        lines += ["", "# What can happen", "", "The kinds of events of `roger timeline`, and what each of them settles.", "", "| kind | what happened | settles |", "|---|---|---|"]
        lines += [f"| `{row.outside}` | {row.help} | {', '.join(row.settles)} |" for row in self.enums["event_kind"].rows]
        lines += ["", "# Errors and exit statuses", "", "Any verb may fail with wrong members (64, 65), without a workspace (66), for a caller who may not (77), and by the machine (69 to 75, 78); what else, stands above.", "",
                  "| code | status | in JSON | |", "|---|---|---|---|"]
        lines += [f"| {f'`{self.exits.prefix}{name.upper()}`' if about else ''} | {number} | {code} | {about or meaning} |" for name, number, code, meaning, about in self.exits.rows]
        lines += ["", "# The records in replies"]
        for name in sorted(self.listed):
            record = self.records[name]
            if record.kind == "record" and not record.private:
                lines += ["", f"## {name}", "", *([record.about, ""] if record.about else []), *self.table(record)]
        return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)) + "\n"


def camel(name):
    return re.sub(r"_([a-z])", lambda match: match[1].upper(), name)


def comment(text):
    """A comment of C, at most 96 columns wide."""
    if not text:
        return []
    lines, line = [], ""
    for word in text.split():
        if len(line) + len(word) > 90:
            lines, line = lines + [line], ""
        line += (" " if line else "") + word
    lines.append(line)
    if len(lines) == 1 and len(lines[0]) < 90:
        return [f"/* {lines[0]} */"]
    return ["/*", *(" * " + line for line in lines), " */"]


def main():
    if len(sys.argv) < 2 or (len(sys.argv) > 2 and sys.argv[1] != "--layout"):
        sys.exit(__doc__)
    try:
        house = House(HEADER.read_text(), [HERE / room for room in ROOMS])
    except Fault as fault:
        sys.exit(f"verbs/{fault}")
    anywhere = lambda room: True
    if sys.argv[1] == "--layout":
        return print(house.layout())
    verbs_h, verbs_c = house.tables(anywhere, "verbs.h", ['#include "base/limits.h"'])
    rows = "".join(f"\t&rg_op_{verb.name},\n" for verb in house.of_rooms(anywhere))
    verbs_c += f"\nconst struct roger_op *const rg_op_table[] = {{\n{rows}\tNULL,\n}};\n"
    out = {"roger.h": house.public(anywhere), "verbs.h": verbs_h, "verbs.c": verbs_c, "settings.h": house.settings.header(), "names.js": house.page(), "API.md": house.reference(anywhere)}
    for name, text in out.items():
        (Path(sys.argv[1]) / name).write_text(text)


if __name__ == "__main__":
    main()
