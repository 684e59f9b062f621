"""Compare two headers: each struct of the older one must begin the newer one's, and
what was added must be a line of the table `grown` in api/roger.c."""
import re
import sys


def structs(path):
    text = re.sub(r"/\*.*?\*/", "", open(path).read(), flags=re.S)
    found = {}
    for name, body in re.findall(r"^struct (roger_\w+) \{\n(.*?)^\};", text, re.S | re.M):
        members = [" ".join(member.split()) for member in body.split(";") if member.strip()]
        found[name] = [member for line in members for member in each_of(line)]
    return found


def each_of(line):
    """`int64_t a, b` is two members."""
    first, *others = line.split(", ") if "(" not in line else [line]
    kind = first.rsplit(" ", 1)[0]
    return [first] + [f"{kind} {other}" for other in others]


older, newer, table = structs(sys.argv[1]), structs(sys.argv[2]), open(sys.argv[3]).read()
# Descriptions of verbs belong to the library: nobody else makes one.
known = {type_: member for type_, member in re.findall(r"GREW\((\w+), (?:\"[\w ]+\"|NULL), (\w+)\)", table)}
wrong = []
for name, members in older.items():
    now = newer.get(name, [])
    if now[: len(members)] != members:
        wrong.append(f"struct {name}: no longer begins as it did")
    elif len(now) > len(members):
        added = [member for member in now[len(members) :] if "padding_" not in member]
        first = re.search(r"(\w+)(\[\w*\])?$", added[0]).group(1)
        if known.pop(name, None) != first:
            wrong.append(f'struct {name} grew: GREW({name}, "record\'s name where it is in lists" or NULL, {first}) is missing')
    if name in ("roger_err", "roger_str", "roger_strs", "roger_field") and len(now) > len(members):
        wrong.append(f"struct {name} must not grow")
wrong += [f"GREW({name}, ...): it did not grow" for name in known]
print("\n".join(wrong))
sys.exit(bool(wrong))
