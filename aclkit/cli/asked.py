"""A question as it is declared → the arguments and options of its command."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any, Final

import click

from aclkit.cli import completion
from aclkit.cli.options import F, option, together
from aclkit.questions.arguments import OF_ALL, Asked, Declared, Option, declared

_COMPLETES: Final[dict[str, Callable[..., list[str]]]] = {
    "finding": completion.complete_finding,
    "operation": completion.complete_operation,
    "principal": completion.complete_principal,
    "request": completion.complete_request,
    "resource": completion.complete_resource,
    "task": completion.complete_can,
}


def asks(
    question: type[Asked], complete: Callable[[dict[str, Any]], None] | None = None
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Give a command the arguments and options of a question; it gets them as one, ``asked``.

    Args:
        question: declares them.
        complete: completes what was given, or refuses it, where that takes more than one of them.
    """

    def gathering(command: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(command)
        def gathered(*args: Any, **given: Any) -> Any:  # noqa: ANN401 -- whatever the command takes
            if complete is not None:
                complete(given)
            own = {name: given.pop(name) for name in declared(question) if name in given}
            own = {name: value for name, value in own.items() if value is not None}
            return command(*args, asked=question(**own), **given)

        return gathered

    return together(options_of(question), gathering)


def options_of(question: type[Asked]) -> Callable[[F], F]:
    """Give a command the arguments and options of a question, each by its name."""
    return together(
        *(
            decorator
            for each in declared(question).values()
            if each.name not in OF_ALL
            for decorator in _params(each)
        )
    )


def _params(each: Declared) -> Iterator[Callable[[F], F]]:
    argument = each.argument
    if not argument.options:
        yield click.argument(
            each.name,
            required=each.is_required and not argument.may_lack,
            metavar=argument.metavar,
            shell_complete=_COMPLETES.get(argument.completes),
        )
    for one in argument.options:
        yield _option(each, one)


def _option(each: Declared, one: Option) -> Callable[[F], F]:
    """Return an option; where an argument has several that take a value, each has a name."""
    names, settings = one.names.split(), dict[str, Any](help=one.help, metavar=one.metavar)
    if one.value is not None:
        return click.option(*names, each.name, flag_value=one.value, **settings)
    valued = [other for other in each.argument.options if other.value is None]
    if len(valued) == 1:
        names.append(each.name)
    if each.type is bool:
        settings["is_flag"] = True
    elif each.choices:
        settings["type"] = click.Choice(each.choices)
    elif one.least is not None:
        settings["type"] = click.IntRange(min=one.least)
    if each.type is not bool and each.default is not None:
        settings["default"] = each.default
    make = option if one.is_setting else click.option
    return make(
        *names, multiple=one.is_repeatable,
        shell_complete=_COMPLETES.get(each.argument.completes), **settings,
    )  # fmt: skip
