"""The YAML of study files and run files, read as plain data with the line of every value; nothing of it is ever run.

Plain scalars follow YAML 1.2, which is what people mean: ``1e-3`` is a number, ``on`` and ``no`` are text, and only
true and false are truth values (PyYAML by itself follows YAML 1.1).
"""

from __future__ import annotations

import re
from typing import Any

import yaml

MAX_VALUES = 20_000
_INT64 = 2**63
_TAG = "tag:yaml.org,2002:"
_NULL = r"(?:~|null|Null|NULL|)$"
_BOOL = r"(?:true|True|TRUE|false|False|FALSE)$"
_INT = r"[-+]?[0-9][0-9_]*$"
_FLOAT = (
    r"(?:[-+]?(?:\.[0-9]+|[0-9][0-9_]*(?:\.[0-9_]*)?)(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$"
)


class _Loader(yaml.SafeLoader):
    """Composes nodes and resolves their plain scalars as in YAML 1.2; nothing is constructed with it."""

    yaml_implicit_resolvers = {}  # noqa: RUF012  # PyYAML's own registry; emptied of the rules of YAML 1.1


class _Dumper(yaml.SafeDumper):
    """Quotes text that YAML 1.1 or 1.2 would take for something else, and writes every value out in full."""

    def ignore_aliases(self, data: Any) -> bool:
        del data
        return True


_Loader.add_implicit_resolver(f"{_TAG}null", re.compile(_NULL), ["~", "n", "N", ""])
_Loader.add_implicit_resolver(f"{_TAG}bool", re.compile(_BOOL), list("tTfF"))
for _class in (_Loader, _Dumper):
    _class.add_implicit_resolver(f"{_TAG}int", re.compile(_INT), list("-+0123456789"))
    _class.add_implicit_resolver(f"{_TAG}float", re.compile(_FLOAT), list("-+.0123456789"))


Path = tuple[str | int, ...]  # of a value: keys and list indices
Lines = dict[Path, int]


class YamlError(ValueError):
    """A text that is not the YAML we read.

    Args:
        line: from 1.
        path: of the value that is wrong; empty where it is the text itself.
        rule: that it breaks, without a subject.
    """

    def __init__(self, line: int, path: Path, rule: str) -> None:
        self.line, self.path, self.rule = line, path, rule
        super().__init__(f"line {line}: {dotted(path)}: {rule}" if path else f"line {line}: {rule}")


def dotted(path: Path) -> str:
    """A path of keys and list indices as messages name it: without the indices."""
    return ".".join(key for key in path if isinstance(key, str))


def read_yaml(text: str) -> tuple[Any, Lines]:
    """The value of a YAML text, and the line of each part of it by its path.

    Args:
        text: one YAML document; keys are taken as text. An empty one is None.

    Raises:
        YamlError: no YAML, a key given twice, a tag, more than `MAX_VALUES` values.
    """
    builder = _Builder()
    try:
        node = yaml.compose(text, Loader=_Loader)
        if node is None:
            return None, {(): 1}
        return builder.build(node, ()), builder.lines
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise YamlError(line, (), _in_plain_words(str(error.problem))) from None
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise YamlError(line, (), f"must be YAML, got the character {chr(error.character)!r}.") from None
    except RecursionError:
        raise YamlError(1, (), "must not be nested so deeply, or hold itself.") from None


_PLAIN_WORDS = {
    "found character '\\t' that cannot start any token": "must be indented with spaces, got a tab.",
    "mapping values are not allowed here": "must have one colon with a space after it, or text in quotes, got another.",
    "could not find expected ':'": "must be NAME: VALUE, got no colon.",
    "found unexpected end of stream": "must close every quote, got the end of the text.",
    "expected ',' or ']', but got '<stream end>'": "must close every [, got the end of the text.",
    "expected ',' or '}', but got '<stream end>'": "must close every {, got the end of the text.",
    "expected <block end>, but found '<block mapping start>'": "must be indented as the line before, got more spaces.",
    "expected <block end>, but found '<block sequence start>'": "must be indented as the line before, got more spaces.",
    "expected <block end>, but found '-'": "must be NAME: VALUE as the lines before, got an item of a list.",
    "expected <block end>, but found '?'": "must be an item of the list as the lines before, got NAME: VALUE.",
    "expected <block end>, but found '<scalar>'": "must end where its quotes or brackets end, got more after them.",
    "expected '<document start>', but found '<block mapping start>'": (
        "must be indented as the lines before, got fewer spaces."
    ),
}
_EXPECTED = re.compile(r"expected (',' or '.'), but got '(.*)'")


def _in_plain_words(problem: str) -> str:
    """What PyYAML says, as a rule."""
    if problem in _PLAIN_WORDS:
        return _PLAIN_WORDS[problem]
    found = _EXPECTED.fullmatch(problem)
    if found:
        return f"must have {found[1]} here, got {found[2]!r}."
    return f"must be YAML, got {problem}."


def dump_yaml(value: Any) -> str:
    """The value as YAML that reads back as itself; keys keep their order, innermost lists and mappings their line."""
    text: str = yaml.dump(
        value, Dumper=_Dumper, sort_keys=False, default_flow_style=None, width=120, allow_unicode=True
    )
    return text


_YAML = {"None": "null", "True": "true", "False": "false"}
_QUOTED_OR_PLAIN = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|\b(?:None|True|False)\b""")


def as_written(rule: str) -> str:
    """A broken rule with the value that was got as YAML has it: null, true and false where they are no text."""
    said, got, value = rule.partition("got ")
    return said + got + _QUOTED_OR_PLAIN.sub(lambda found: _YAML.get(found[0], found[0]), value)


class _Builder:
    """Turns nodes into plain data and notes their lines."""

    def __init__(self) -> None:
        self.lines: Lines = {}
        self._count = 0

    def build(self, node: yaml.Node, path: Path, line: int | None = None) -> Any:
        """The node's value; `line` is that of its key, where it has one."""
        line = line or node.start_mark.line + 1
        self.lines[path] = line
        self._count += 1
        if self._count > MAX_VALUES:
            raise YamlError(line, path, f"must hold at most {MAX_VALUES} values, aliases written out, got more.")
        self._check_tag(node, line, path)
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node, path)
        if isinstance(node, yaml.SequenceNode):
            return [self.build(item, (*path, index)) for index, item in enumerate(node.value)]
        try:
            return _scalar(node.tag.removeprefix(_TAG), node.value)
        except ValueError as error:
            raise YamlError(line, path, str(error)) from None

    def _mapping(self, node: yaml.MappingNode, path: Path) -> dict[str, Any]:
        values: dict[str, Any] = {}
        for key_node, value_node in node.value:
            line = key_node.start_mark.line + 1
            if not isinstance(key_node, yaml.ScalarNode):
                raise YamlError(line, path, "must have text for its keys, got a list or a mapping.")
            self._check_tag(key_node, line, path)
            key = key_node.value
            if key in values:
                raise YamlError(
                    line, (*path, key), f"must be given once, got it in line {self.lines[*path, key]} as well."
                )
            values[key] = self.build(value_node, (*path, key), line)
        return values

    def _check_tag(self, node: yaml.Node, line: int, path: Path) -> None:
        if isinstance(node, yaml.MappingNode):
            legal: tuple[str, ...] = ("map",)
        else:
            legal = ("seq",) if isinstance(node, yaml.SequenceNode) else ("null", "bool", "int", "float", "str")
        if node.tag not in [_TAG + kind for kind in legal]:
            why = "tags that run code are not read" if node.tag.startswith(f"{_TAG}python/") else "tags are not read"
            raise YamlError(line, path, f"{why}, got '{node.tag.replace(_TAG, '!!')}'.")


def _scalar(kind: str, text: str) -> Any:
    """The value of a scalar; a tag such as ``!!int`` may claim a kind that the text is not."""
    if kind == "str":
        return text
    pattern = {"null": _NULL, "bool": _BOOL, "int": _INT, "float": _FLOAT}[kind]
    if not re.match(pattern, text):
        raise ValueError(f"must be of the kind that its tag says, {kind}, got {text!r}.")
    if kind == "int":
        number = int(text.replace("_", "")) if len(text) < 30 else _INT64
        if not -_INT64 <= number < _INT64:
            raise ValueError(f"must be a number of 64 bits, got {text!r}.")
        return number
    if kind == "float":
        return float(text.replace("_", "").lower().replace(".inf", "inf").replace(".nan", "nan"))
    return text.lower() == "true" if kind == "bool" else None
