"""The configuration inside a plan: what makes a value, and which provider a resource uses. Pure.

A plan names, for each attribute, what its expression refers to. References are followed through
variables of modules, outputs of modules and ``for_each``. Locals are not part of a plan, so a
reference to one leads nowhere.
Source: Terraform's "JSON Output Format", "Expression Representation".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from aclkit.kafka.desired.terraform_kinds import as_list, as_mapping

_STEP: Final = re.compile(r'(?:^|\.)module\.([^.\[\]"]+)(\[(?:"(?:[^"\\]|\\.)*"|[0-9]+)\])?')
_TARGET: Final = re.compile(r'([^.\[\]"]+)\.([^.\[\]"]+)(\[(?:"(?:[^"\\]|\\.)*"|[0-9]+)\])?')
_MARK: Final = re.compile(r"[.\[]")
_LONGEST: Final = 2_000
"""Characters of a reference in which its beginnings are searched."""
_OWN_KEY: Final = frozenset(("each.key", "count.index"))
_MOST_STEPS: Final = 1_000
"""References that are followed for one value."""

Path = tuple[str, ...]
"""The instances of modules from the root to a module, each with its key."""


@dataclass(frozen=True, slots=True)
class _Scope:
    """Where an expression stands: in which module, and what ``each.key`` is there."""

    path: Path
    key: str
    each: tuple[str, ...]


def module_path(address: object) -> Path:
    """Split the address of a module.

    >>> module_path('module.team["a.b"].module.sa')
    ('team["a.b"]', 'sa')
    """
    if not isinstance(address, str):
        return ()
    return tuple(f"{name}{key or ''}" for name, key in _STEP.findall(address))


def key_text(index: object) -> str:
    """Write the key of an instance as addresses do, without its brackets; nothing for no key."""
    if isinstance(index, str):
        escaped = index.replace("\\", "\\\\").replace('"', '\\"')
        return f'"{escaped}"'
    return str(index) if isinstance(index, int) else ""


class Configuration:
    """The configuration of one plan, and the resources that the plan creates."""

    def __init__(self, plan: Mapping[str, object]) -> None:
        """Index what a plan creates; its configuration is indexed when it is needed."""
        configuration = as_mapping(plan.get("configuration"))
        self._root = as_mapping(configuration.get("root_module"))
        self._providers = as_mapping(configuration.get("provider_config"))
        self._resources: dict[Path, dict[tuple[str, str], Mapping[str, object]]] = {}
        self._created: dict[tuple[Path, str, str], dict[str, str]] = {}
        self._modules: dict[tuple[Path, str], dict[str, Path]] = {}
        for resource in as_list(plan.get("resource_changes")):
            self._add(as_mapping(resource))

    def _add(self, resource: Mapping[str, object]) -> None:
        path = module_path(resource.get("module_address"))
        for depth, step in enumerate(path):
            name, _, key = step.partition("[")
            found = self._modules.setdefault((path[:depth], name), {})
            found[key.removesuffix("]")] = path[: depth + 1]
        actions = as_list(as_mapping(resource.get("change")).get("actions"))
        if "create" not in actions or resource.get("mode", "managed") != "managed":
            return
        kind, name, address = (f"{resource.get(each)}" for each in ("type", "name", "address"))
        instances = self._created.setdefault((path, kind, name), {})
        instances[key_text(resource.get("index"))] = address

    def creator(
        self, resource: Mapping[str, object], expression: tuple[str | int, ...]
    ) -> str | None:
        """Return the address of the created resource that an attribute refers to.

        Where it can be several, it is the address of the resource itself, so that two values are
        not taken for one. None where no resource that the plan creates makes the value.
        """
        path = module_path(resource.get("module_address"))
        declared = self._declared(path, resource)
        scope = _Scope(path, key_text(resource.get("index")), _each(declared))
        value: object = as_mapping(declared.get("expressions"))
        for step in expression:
            value = as_mapping(value).get(step) if isinstance(step, str) else _nth(value, step)
        found = self._follow(scope, _references(value))
        return found.pop() if len(found) == 1 else f"{resource.get('address')}" if found else None

    def provider_key(self, resource: Mapping[str, object]) -> str:
        """Return which configuration of its provider a resource uses; empty if that is unknown.

        Old releases name a module's provider by the module even where the module inherits it.
        """
        path = module_path(resource.get("module_address"))
        key = self._declared(path, resource).get("provider_config_key")
        if not isinstance(key, str):
            return ""
        while ":" in key and key not in self._providers:
            module, _, name = key.rpartition(":")
            parent = module.rpartition(".module.")[0]
            key = f"{parent}:{name}" if parent else name
        return key

    def _declared(self, path: Path, resource: Mapping[str, object]) -> Mapping[str, object]:
        """Return the block of a resource."""
        names = tuple(step.partition("[")[0] for step in path)
        if names not in self._resources:
            self._resources[names] = {
                (f"{each.get('type')}", f"{each.get('name')}"): each
                for each in map(as_mapping, as_list(self._module(names).get("resources")))
                if each.get("mode", "managed") == "managed"
            }
        return self._resources[names].get(
            (f"{resource.get('type')}", f"{resource.get('name')}"), {}
        )

    def _module(self, names: Path) -> Mapping[str, object]:
        module = self._root
        for name in names:
            module = as_mapping(self._call_in(module, name).get("module"))
        return module

    def _call_in(self, module: Mapping[str, object], name: str) -> Mapping[str, object]:
        return as_mapping(as_mapping(module.get("module_calls")).get(name))

    def _follow(self, scope: _Scope, references: tuple[str, ...]) -> set[str]:
        """Return the created resources that references lead to; two are enough."""
        found: set[str] = set()
        todo, seen = [(scope, references)], {(scope, references)}
        while todo and len(found) < 2 and len(seen) <= _MOST_STEPS:
            here, names = todo.pop()
            own = not _OWN_KEY.isdisjoint(names)
            for name in _longest(names):
                found.update(self._created_as(here, name, own=own))
                new = [step for step in self._next(here, name, own=own) if step not in seen]
                seen.update(new)
                todo += new
        return found

    def _created_as(self, scope: _Scope, reference: str, *, own: bool) -> Iterable[str]:
        """Return the created instances of a resource that a reference can mean, at most two."""
        target = _TARGET.match(reference)
        if target is None or target[1] in ("data", "module", "var", "local", "each", "count"):
            return ()
        instances = self._created.get((scope.path, target[1], target[2]), {})
        key = _meant(target[3], scope.key if own else "", instances)
        if key is not None:
            return (instances[key],)
        # One key that exists and is not created: nothing of this reference is new.
        return (
            ()
            if target[3]
            else [address for address, _ in zip(instances.values(), "12", strict=False)]
        )

    def _next(
        self, scope: _Scope, reference: str, *, own: bool
    ) -> Iterator[tuple[_Scope, tuple[str, ...]]]:
        """Yield the expressions that a reference leads to."""
        if reference.startswith("each.value"):
            yield scope, (*scope.each, "each.key")
        elif reference.startswith("var.") and scope.path:
            yield self._argument(scope.path, reference.split(".")[1].partition("[")[0])
        elif reference.startswith("module."):
            yield from self._outputs(scope, reference, own=own)

    def _argument(self, path: Path, variable: str) -> tuple[_Scope, tuple[str, ...]]:
        """Return the expression that the parent passes to a variable of a module."""
        name, _, key = path[-1].partition("[")
        names = tuple(step.partition("[")[0] for step in path[:-1])
        call = self._call_in(self._module(names), name)
        value = as_mapping(call.get("expressions")).get(variable)
        return _Scope(path[:-1], key.removesuffix("]"), _each(call)), _references(value)

    def _outputs(
        self, scope: _Scope, reference: str, *, own: bool
    ) -> Iterator[tuple[_Scope, tuple[str, ...]]]:
        step = _STEP.match(reference)
        if step is None:
            return
        rest = reference[step.end() :].removeprefix(".")
        instances = self._modules.get((scope.path, step[1]), {})
        key = _meant(step[2], scope.key if own else "", instances)
        paths = [instances[key]] if key is not None else [] if step[2] else list(instances.values())
        names = tuple(each.partition("[")[0] for each in (*scope.path, step[1]))
        outputs = as_mapping(self._module(names).get("outputs"))
        wanted = re.split(r"[.\[]", rest, maxsplit=1)[0]
        for path in paths[:_MOST_STEPS]:
            for name in [wanted] if wanted else list(outputs):
                value = as_mapping(outputs.get(name)).get("expression")
                yield _Scope(path, "", ()), _references(value)


def _meant(written: str | None, own: str, instances: Mapping[str, object]) -> str | None:
    """Return the key of the instance that a reference means; None if several or none can be."""
    if written:
        key = written[1:-1]
        return key if key in instances else None
    if own in instances:
        return own
    return next(iter(instances)) if len(instances) == 1 else None


def _longest(references: tuple[str, ...]) -> Iterator[str]:
    """Yield references without those that only begin another one: Terraform lists both."""
    begins = {
        reference[: mark.start()]
        for reference in references
        for mark in _MARK.finditer(reference, 0, _LONGEST)
    }
    return (reference for reference in references if reference not in begins)


def _each(block: Mapping[str, object]) -> tuple[str, ...]:
    return _references(block.get("for_each_expression"))


def _references(expression: object) -> tuple[str, ...]:
    """Return the references of an expression, and of those inside it."""
    found, todo, steps = dict[str, None](), [expression], 0
    while todo and steps < _MOST_STEPS:
        value, steps = todo.pop(), steps + 1
        if isinstance(value, dict):
            names = as_list(value.get("references"))
            found.update(dict.fromkeys(name for name in names if isinstance(name, str)))
            todo += [
                inner
                for name, inner in value.items()
                if name not in ("references", "constant_value")
            ]
        elif isinstance(value, list):
            todo += value
    return tuple(found)


def _nth(value: object, at: int) -> object:
    values = as_list(value)
    return values[at] if at < len(values) else None
