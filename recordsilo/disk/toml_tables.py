"""Settings that people write as a table of TOML: which there are, of which kind each is (pure)."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

_SAID = {
    str: "a text", bool: "true or false", int: "a number", float: "a number",
    tuple: "a list of texts", dict: "a table of texts",
}  # fmt: skip


class SettingWrong(ValueError):
    """A setting is unknown, or its value is of another kind; the message says which."""


def check_names(table: Any, names: Iterable[str]) -> None:
    """Check that something is a table, and that it has no other names than these.

    Raises:
        SettingWrong: It is none, or has one.
    """
    if not isinstance(table, Mapping):
        raise SettingWrong("it is not a table")
    if unknown := sorted(table.keys() - set(names)):
        raise SettingWrong(f"there is no setting {unknown[0]!r}; there are {', '.join(names)}")


def checked(table: Any, kinds: Mapping[str, type]) -> dict[str, Any]:
    """Return the values of a table, each of the kind of its name.

    Args:
        table: As read.
        kinds: Name → ``str``, ``bool``, ``int``, ``float`` (also for a whole number), ``tuple`` of
            texts or ``dict`` of texts; all that there are, none of which need be given.

    Raises:
        SettingWrong: It is no table, or a name or a value is wrong.
    """
    check_names(table, kinds)
    return {name: _of_kind(name, value, kinds[name]) for name, value in table.items()}


def _of_kind(name: str, value: Any, kind: type) -> Any:
    if kind is tuple and isinstance(value, list) and _are_texts(value):
        return tuple(value)
    if kind is dict and isinstance(value, dict) and _are_texts(value.values()):
        return MappingProxyType(dict(value))
    if kind is float and type(value) in (int, float):
        return float(value)
    if type(value) is not kind or kind is dict:
        raise SettingWrong(f"{name} is {_SAID[kind]}")
    return value


def _are_texts(values: Iterable[Any]) -> bool:
    return all(isinstance(one, str) for one in values)


def kinds_of(usual: object, names: Iterable[str]) -> dict[str, type]:
    """Return the kind of each attribute of some settings; of None, a text.

    Args:
        usual: The settings by default.
        names: Of its attributes.
    """
    found = {name: getattr(usual, name) for name in names}
    return {
        name: str if value is None else dict if isinstance(value, Mapping) else type(value)
        for name, value in found.items()
    }


def as_toml(value: Any) -> Any:
    """Return the value of a setting as TOML can write it."""
    if isinstance(value, tuple):
        return list(value)
    return dict(value) if isinstance(value, Mapping) else value
