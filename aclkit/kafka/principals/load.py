"""``module:Class`` and its properties → a principal builder that cannot surprise its caller."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Final, TypeVar

from aclkit.errors import AclkitError, UsageError
from aclkit.kafka.principals.principal import KafkaPrincipal, PrincipalBuilder

T = TypeVar("T")

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class CheckedBuilder:
    """A builder of somebody else: what it raises or returns wrongly is a ``UsageError``.

    Attributes:
        name: ``module:Class``, for messages.
        builder: an instance of that class, configured.
    """

    name: str
    builder: PrincipalBuilder

    def build_principal(self, properties: Mapping[str, str]) -> KafkaPrincipal:
        """Build a principal from properties.

        Raises:
            UsageError: the builder refuses them, fails, or returns something else.
        """
        return self._checked(lambda: self.builder.build_principal(properties), dict(properties))

    def build_principal_from_name(self, name: str) -> KafkaPrincipal:
        """Build a principal from a name.

        Raises:
            UsageError: the builder refuses it, fails, or returns something else.
        """
        return self._checked(lambda: self.builder.build_principal_from_name(name), name)

    def _checked(self, build: Callable[[], KafkaPrincipal], given: object) -> KafkaPrincipal:
        built = _call(self.name, build)
        if not isinstance(built, KafkaPrincipal) or not _is_text(built):
            raise UsageError(
                f"The principal builder {self.name} must return a KafkaPrincipal of texts. For "
                f"{given!r} it returned {built!r}."
            )
        return built


def load_builder(name: str, properties: Mapping[str, str]) -> CheckedBuilder:
    """Import ``module:Class``, make one without arguments, and configure it.

    The module is looked for as Python looks for every module; nothing is read as code that the
    caller did not name.

    Raises:
        UsageError: no such form, module or class, no builder, or the builder refuses the
            properties; the message names which, and what was expected.
    """
    module_name, colon, class_name = name.partition(":")
    if not (colon and class_name.isidentifier() and _is_module_name(module_name)):
        raise UsageError(
            f"Invalid principal builder {name!r}: expected module:Class, for example "
            "aclkit.api:X500Builder"
        )
    module_name = _MOVED.get(module_name, module_name)
    found = getattr(_import(name, module_name), class_name, None)
    if not isinstance(found, type):
        raise UsageError(f"Principal builder {name}: the module {module_name} has no such class")
    missing = [method for method in _METHODS if not callable(getattr(found, method, None))]
    if missing:
        raise UsageError(f"Principal builder {name}: expected the methods {', '.join(missing)}")
    builder = _call(name, found)
    _call(name, lambda: builder.configure(dict(properties)))
    return CheckedBuilder(name, builder)


def parse_properties(texts: Iterable[str]) -> dict[str, str]:
    """Read ``k=v`` texts, each with one property; a value may hold anything, ``=`` and commas too.

    Raises:
        UsageError: a text without ``=`` or key, or a key given twice.

    >>> parse_properties(["rules=RULE:^CN=(.*?),.*$/$1/,DEFAULT"])
    {'rules': 'RULE:^CN=(.*?),.*$/$1/,DEFAULT'}
    """
    properties: dict[str, str] = {}
    for text in texts:
        key, equals, value = text.partition("=")
        key = key.strip()
        if not equals or not key:
            raise UsageError(f"Invalid property {text!r}: expected key=value")
        if key in properties:
            raise UsageError(f"The property {key} is passed twice")
        properties[key] = value
    return properties


def parse_principal_properties(text: str) -> dict[str, str]:
    r"""Read ``k=v,…``: KIP-111's properties of one principal; a comma in a value is ``\,``.

    Raises:
        UsageError: see ``parse_properties``.

    >>> parse_principal_properties(r"CN=Doe\, Jane,OU=ops")
    {'CN': 'Doe, Jane', 'OU': 'ops'}
    """
    parts, rest = [""], iter(text)
    for letter in rest:
        if letter == "\\":
            parts[-1] += next(rest, letter)
        elif letter == ",":
            parts.append("")
        else:
            parts[-1] += letter
    return parse_properties(parts)


def principal_of(text: str, builder: CheckedBuilder | None) -> KafkaPrincipal:
    """Read a principal that a person typed: ``type:name``, or what the builder makes of it.

    With a builder ``k=v,…`` are properties and everything else is a name.

    Raises:
        UsageError: the text has no colon, or the builder refuses it.
    """
    if builder is None:
        return KafkaPrincipal.parse(text)
    if "=" in text:
        return builder.build_principal(parse_principal_properties(text))
    return builder.build_principal_from_name(text)


_MOVED: Final = {"aclkit.principals": "aclkit.api"}
"""The former module of the package's own builders; command lines and schedules still use it."""

_METHODS: Final = ("configure", "build_principal", "build_principal_from_name")


def _import(name: str, module_name: str) -> object:
    try:
        return import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name is not None and f"{module_name}.".startswith(f"{error.name}."):
            raise UsageError(
                f"Principal builder {name}: the module {error.name} does not exist. Check that "
                "its folder is on PYTHONPATH."
            ) from None
        raise _own_fault(name, error) from error
    except Exception as error:
        raise _own_fault(name, error) from error


def _call(name: str, function: Callable[[], T]) -> T:
    try:
        return function()
    except AclkitError as error:
        raise type(error)(f"Principal builder {name}: {error}") from error
    except Exception as error:
        raise _own_fault(name, error) from error


def _own_fault(name: str, error: Exception) -> UsageError:
    log.debug("Principal builder %s failed", name, exc_info=error)
    return UsageError(f"Principal builder {name} failed: {type(error).__name__}: {error}")


def _is_module_name(text: str) -> bool:
    return all(part.isidentifier() for part in text.split("."))


def _is_text(built: KafkaPrincipal) -> bool:
    channel = built.channel_principal
    attributes = channel.attributes if channel else {}
    texts = [built.principal_type, built.name, *attributes.keys(), *attributes.values()]
    return all(isinstance(text, str) for text in texts)
