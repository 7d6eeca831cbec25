"""A fingerprint changes with what can change a result, and with nothing else."""

import ast
import hashlib
import importlib
import sys
import textwrap

import pytest

from marginbook.base import fingerprint as module
from marginbook.base.fingerprint import fingerprint

CACHED = (
    module._spec,
    module._source_file,
    module._content,
    module._tree,
    module._normalised,
    module._imports,
)


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package of two modules, one of which uses the other, that stands for marginbook."""
    monkeypatch.setattr(module, "PACKAGE", "toybook")
    monkeypatch.syspath_prepend(str(tmp_path))
    folder = tmp_path / "toybook"
    folder.mkdir()

    def write(**sources):
        for name, text in {"__init__": "", **sources}.items():
            (folder / f"{name}.py").write_text(textwrap.dedent(text))
        for name in [name for name in sys.modules if name.split(".")[0] == "toybook"]:
            del sys.modules[name]
        importlib.invalidate_caches()
        for cached in CACHED:
            cached.cache_clear()
        return fingerprint("toybook.a")

    yield write
    for cached in CACHED:
        cached.cache_clear()


A, B = "from .b import g\ndef f(x):\n    return g(x)\n", "def g(x):\n    return x + 1\n"


def test_comments_layout_and_docstrings_do_not_count(package):
    plain = package(a=A, b=B)
    dressed = package(
        a="# why\nfrom .b import g\n\ndef f(x):\n    '''Doc.'''\n    return g(  x )\n", b='"""M."""\n' + B
    )
    assert dressed == plain


def test_a_change_two_imports_away_counts_and_one_elsewhere_does_not(package):
    plain = package(a=A, b=B, c="x = 1")
    assert package(a=A, b=B, c="x = 2") == plain
    assert package(a=A, b=B.replace("1", "2"), c="x = 1") != plain


def test_functions_and_modules_are_named_the_same(package):
    package(a=A, b=B)
    a = importlib.import_module("toybook.a")
    assert fingerprint(a.f) == fingerprint(a) == fingerprint("toybook.a")


def test_normalised_source_still_parses(package):
    package(a='def f():\n    """Only a docstring."""\n', b="")
    ast.parse(module._normalised("toybook.a"))


# what versions of Python read, quote or print in different ways
SAMPLE = r"""
    'M.'
    import a.b as c
    from . import d
    SMALL, LARGE = -1e-300, 1e999
    WORDS = 'it''s "so" ' u'\u00e9\U0001fae8' '\n', b'\xff' b"'", 0x1F, 1_0.5, 2j, None, ...
    @c.d(x=1)
    @c
    class K(d.L, metaclass=c):
        "K."
        y: int = 3
    async def f(a, /, b: 'int' = 2, *args, c, d=None, **more) -> "list[str]":
        '''F.'''
        async with a as (x, y), b: await c
        return [z async for z in a if z], {**more, 'k': (yield)}, lambda *, q=1: q
    def g(v, w, r):
        f'not a docstring'
        s = f'a{v}' 'b' f"{w!r:>{r}.{v['k']}}" '' f'{{c}}' f'{v:}' f"{v=}" f'{ w = !s:^{r}}' f'{v=:}'
        t = rf'\d{v:%H\:%M}' + f'{f"{v}-{w}":*<9}' + f'{v:{{}}}' + f'{v:a{w}b}' f'' + f"\N{DIGIT ONE}'{v}"
        match s:
            case {'a': 1 | 2.5, **rest} if rest: pass
            case [K(x, y=None), *_, -1 + 2j] | ('q' 'r' as x): del x, rest
            case _: s[1:, ..., *t] = t
        try:
            s += (n := 1) < 2 <= 3
        except* (KeyError, d.E) as error:
            raise d from None
        else:
            global h
    def h():
        'Only this.'
"""


def test_versions_of_python_agree(package):
    """The number is what 3.11, 3.12 and 3.13 gave."""
    package(a=SAMPLE, b="")
    digest = hashlib.sha256(module._normalised("toybook.a").encode()).hexdigest()
    assert digest == "690ff52fcca5869433066b93fa17ac5921cee8d0a69798295bf01ecc8e497b1b"


@pytest.mark.parametrize(
    ("spelt", "same"),
    [
        ("x = f'{a}' 'b' 'c'", 'x = f"{a}bc"'),
        ("x = 'a' f'{b}' ''", "x = f'a{b}'"),
        ("x = f'{{{a:}'", "x = f'''{{{a}'''"),
        ("x = u'a' \"'\"", 'x = "a\'"'),
        ("def f():\n    'D.'", "def f(): pass"),
    ],
)
def test_spelling_does_not_count(package, spelt, same):
    assert package(a=spelt) == package(a=same)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("x = f'a{b}c'", "x = f'ac{b}'"),
        ("x = f'{a}{b}'", "x = f'{a}' '{b}'"),
        ("x = f'{a:>3}'", "x = f'{a:>4}'"),
        ("x = f'{a!r}'", "x = f'{a!s}'"),
        ("x = f'{a}'", "x = a"),
        ("x = 1", "x = 1.0"),
        ("x = True", "x = 1"),
        ("x = 'a'", "x = b'a'"),
        ("x = None", "x = 'None'"),
        ("def f(*, a=1, b): pass", "def f(*, a, b=1): pass"),
        ("x = {**a, 1: b}", "x = {1: a, **b}"),
        ("from .b import g", "from toybook.b import g"),
        ("def f():\n    return None", "def f():\n    pass"),
        ("if a:\n    b()\n    c()", "if a:\n    b()\nc()"),
        ("if a:\n    'kept'\n    b()", "if a:\n    b()"),
    ],
)
def test_meaning_counts(package, one, other):
    assert package(a=one) != package(a=other)


RAISES = """
def f(x):
    if x < 0:
        raise ValueError("{words}" f" {{x{how}}}")
    warnings.warn(f"{words} {{x}}", {category}, stacklevel=2)
    return g("{argument}")
"""


def test_words_of_errors_and_warnings_count_unless_they_are_not_asked_for(package):
    def hashes(words="low", how="", category="UserWarning", argument="mean"):
        text = RAISES.format(words=words, how=how, category=category, argument=argument)
        every = package(a="import warnings\nfrom .b import g\n" + text, b=B)
        return every, fingerprint("toybook.a", messages=False)

    every, silent = hashes()
    assert every != silent
    for said in ({"words": "too low"}, {"how": ":g"}):
        assert hashes(**said)[0] != every
        assert hashes(**said)[1] == silent
    for meant in ({"category": "RuntimeWarning"}, {"argument": "median"}):
        assert hashes(**meant)[1] != silent


def test_a_parser_that_another_thread_confused_is_asked_again(package, monkeypatch):
    plain = package(a=A, b=B)
    module._tree.cache_clear()
    parse, failures = ast.parse, [SystemError("AST constructor recursion depth mismatch")]

    def confused(*arguments, **options):
        if failures:
            raise failures.pop()
        return parse(*arguments, **options)

    monkeypatch.setattr(module.ast, "parse", confused)
    assert module._tree("toybook.a").body
    assert not failures
    assert fingerprint("toybook.a") == plain
