"""OpenMetrics 1.0, read strictly."""
import math
import re

SAMPLE = re.compile(r'([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{((?:[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\[\\"n])*"(?:,(?!\}))?)*)\})? (\S+)')
LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\"n])*)"')
SUFFIXES = {"counter": ("_total", "_created"), "gauge": ("",), "histogram": ("_bucket", "_sum", "_count", "_created")}


class Wrong(Exception):
    pass


def need(good, what):
    if not good:
        raise Wrong(what)


def parse(text):
    """{(name, labels): value}; every rule that it breaks is an exception."""
    need(text.endswith("# EOF\n") and text.count("# EOF") == 1, "the end")
    samples, families, kind, family, helped = {}, {}, None, None, set()
    for line in text.split("\n")[:-2]:
        if line.startswith("# "):
            word, name, rest = line[2:].split(" ", 2)
            need(word in ("TYPE", "HELP", "UNIT"), f"a comment: {line}")
            if name != family:
                need(name not in families and word == "TYPE" and rest in SUFFIXES, f"a family comes once, with its type first: {line}")
                family, kind = name, rest
                families[name] = kind
            else:
                need(word != "TYPE" and (word, name) not in helped, f"twice: {line}")
                need("\n" not in rest and not re.search(r"\\(?![\\n\"])", rest), f"escapes: {line}")
            helped.add((word, name))
            continue
        found = SAMPLE.fullmatch(line)
        need(found, f"not a sample: {line}")
        name, labels, value = found.group(1), dict(LABEL.findall(found.group(2) or "")), float(found.group(3))
        need(family and name in {family + suffix for suffix in SUFFIXES[kind]}, f"of another family: {line}")
        need(len(labels) == len(LABEL.findall(found.group(2) or "")), f"a label twice: {line}")
        need(kind == "gauge" or value >= 0, f"below nothing: {line}")
        need(not math.isnan(value), f"no number: {line}")
        key = (name, tuple(sorted(labels.items())))
        need(key not in samples, f"a sample twice: {line}")
        samples[key] = value
    for name, kind in families.items():
        if kind == "histogram":
            check_histogram(name, samples)
    return samples


def check_histogram(family, samples):
    series = {}
    for (name, labels), value in samples.items():
        if name == family + "_bucket":
            rest = tuple(item for item in labels if item[0] != "le")
            series.setdefault(rest, []).append((float(dict(labels)["le"].replace("+Inf", "inf")), value))
        need(name != family + "_bucket" or re.fullmatch(r"\+Inf|[0-9.]+", dict(labels).get("le", "")), f"a bound: {labels}")
    for rest, buckets in series.items():
        need(buckets == sorted(buckets) and buckets[-1][0] == math.inf, f"buckets rise to +Inf: {rest}")
        need([v for _, v in buckets] == sorted(v for _, v in buckets), f"buckets add up: {rest}")
        need(samples[family + "_count", rest] == buckets[-1][1] and (family + "_sum", rest) in samples, f"count and sum: {rest}")
