"""The command line as a whole: help everywhere, exit codes, one line per error."""

import re

import click
import pytest

from marginbook.cli import COMMANDS, main, plain


def _commands(group: click.Group, path: tuple[str, ...] = ()):
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        yield (*path, name), command
        if isinstance(command, click.Group):
            yield from _commands(command, (*path, name))


@pytest.mark.parametrize("path", [path for path, _ in _commands(main)], ids=" ".join)
def test_every_command_has_help_with_an_example(cli, path):
    shown = cli(*path, "--help")
    assert shown.exit_code == 0
    assert re.search(r"^ *Examples?\b", shown.output, flags=re.MULTILINE)
    assert "marginbook " + path[0] in shown.output


@pytest.mark.parametrize("path", [(), *(path for path, _ in _commands(main))], ids=" ".join)
def test_every_option_has_help(path):
    command = dict(_commands(main)).get(path, main)
    options = [each for each in command.params if isinstance(each, click.Option)]
    assert [each.opts for each in options if not each.help] == []


def test_the_commands_are_those_of_the_contract():
    names = main.list_commands(click.Context(main))
    assert names == [
        "claims",
        "errata",
        "data",
        "experiment",
        "run",
        "book",
        "serve",
        "coursework",
        "slides",
        "trust",
        "new",
        "warmup",
        "guide",
    ]


def test_a_command_whose_extra_is_not_installed_says_so(cli, monkeypatch):
    monkeypatch.setitem(COMMANDS, "book", COMMANDS["book"]._replace(place="no_such_package:book"))
    shown = cli("book")
    assert shown.exit_code == 1
    assert "needs no_such_package; install it with: pip install 'marginbook[book]'" in shown.output


@pytest.mark.parametrize(
    "arguments",
    [
        ("nonsense",),
        ("claims", "drm/nothing"),
        ("experiment", "run", "drm/table-88"),
        ("run", "drm/none"),
        ("data", "fetch", "no-such-set"),
        ("coursework", "write", "no-such-room"),
        ("slides", "no-such-room"),
    ],
    ids=" ".join,
)
def test_wrong_usage_ends_with_2_and_says_what_to_do(cli, arguments):
    shown = cli(*arguments)
    assert shown.exit_code == 2
    assert "Traceback" not in shown.output
    assert shown.output.strip().splitlines()[-1].startswith("Error: ")


def test_version(cli):
    assert cli("--version").output.startswith("marginbook, version ")


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        ((), 1, "`marginbook` needs click, which is not installed: pip install"),
        (("claims",), 1, "`marginbook claims` needs click, which is not installed: pip install"),
        (("warmup", "now"), 2, "Error: `marginbook warmup` takes no argument, got now"),
        (("guide", "a", "b"), 2, "Error: `marginbook guide` takes the name of one estimator, got a b"),
        (("guide", "LDMClasifier"), 2, "Error: the guide has no section 'LDMClasifier'; did you mean LDMC"),
    ],
)
def test_without_click_wrong_usage_is_not_a_missing_package(capsys, arguments, code, told):
    with pytest.raises(SystemExit) as ended:
        plain.main(arguments)
    assert ended.value.code == code
    shown = capsys.readouterr()
    assert (shown.out, shown.err[: len(told)]) == ("", told)
