"""What is taken from manifests, and what is refused: everything that names a place, sets an option, or hides."""

from __future__ import annotations

import pytest

from infra.dependencies.plan import PythonPlan, python_plan
from tests.fakes.trees import Files

NAMED = '[project]\nname = "Thing"\n'


def planned(**files: str | None) -> PythonPlan:
    plan = python_plan(Files({name.replace("__", "/").replace("_", "."): text for name, text in files.items()}))
    assert plan is not None
    return plan


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("a\n", ["a"], id="bare"),
        pytest.param("A_b.C[x,Y] >=1, <2 ; python_version >= '3.8' # why\n", None, id="normal form"),
        pytest.param("# only words\n\n   \n", [], id="comments"),
        pytest.param("a>=1,\\\n <2\n", ["a<2,>=1"], id="continued"),
        pytest.param("a \\\n# b\nc\n", ["a", "c"], id="comment after a continuation"),
        pytest.param("\ufeffa\r\nb\r\n", ["a", "b"], id="BOM and CRLF"),
        pytest.param("a==1\na==1\n", ["a==1"], id="twice"),
        pytest.param("-e .\n-e ./\n.\n--editable=.\n", [], id="the project itself"),
        pytest.param("a", ["a"], id="no newline at the end"),
        pytest.param("a @ b\n", [], id="neither name nor place"),
    ],
)
def test_requirement_lines(text: str, expected: list[str] | None) -> None:
    found = list(planned(requirements_txt=text).requirements)
    assert found == (expected if expected is not None else ['a-b-c[Y,x]<2,>=1 ; python_version >= "3.8"'])


@pytest.mark.parametrize(
    ("line", "why"),
    [
        pytest.param("--index-url https://evil.test/simple", "an option", id="index"),
        pytest.param("-i https://evil.test/simple", "an option", id="index, short"),
        pytest.param("--extra-index-url=https://u:secret@evil.test/", "an option", id="extra index"),
        pytest.param("--find-links /etc", "an option", id="find-links"),
        pytest.param("--trusted-host evil.test", "an option", id="trusted host"),
        pytest.param("--no-binary :all:", "an option", id="source builds"),
        pytest.param("--pre", "an option", id="pre-releases"),
        pytest.param("a --global-option=--evil", "an option", id="option behind a name"),
        pytest.param("a --config-settings x=y", "an option", id="build settings"),
        pytest.param("-e ./pkg", "an editable path", id="editable path"),
        pytest.param("-e git+https://evil.test/x#egg=a", "an editable path", id="editable repository"),
        pytest.param("--editable=../other", "an editable path", id="editable outside"),
        pytest.param("git+https://evil.test/x", "version control", id="git"),
        pytest.param("git+ssh://git@evil.test/x@main", "version control", id="git over ssh"),
        pytest.param("a @ git+https://evil.test/x", "version control", id="name at git"),
        pytest.param("hg+http://evil.test/x", "version control", id="mercurial"),
        pytest.param("a @ https://evil.test/a-1-py3-none-any.whl", "a URL", id="name at URL"),
        pytest.param("https://evil.test/a-1-py3-none-any.whl", "a URL", id="URL"),
        pytest.param("a @ file:///etc/passwd", "a path", id="name at file"),
        pytest.param("file:///etc/passwd", "a URL", id="file URL"),
        pytest.param("./a-1.tar.gz", "a path", id="archive"),
        pytest.param("a-1-py3-none-any.whl", "a path", id="wheel"),
        pytest.param("../a", "a path", id="folder above"),
        pytest.param("/a", "a path", id="absolute folder"),
        pytest.param("~/a", "a path", id="home folder"),
        pytest.param("sub/folder", "a path", id="folder"),
        pytest.param("-r /etc/passwd", "leads out of the repository", id="include absolute"),
        pytest.param("-r ../../etc/passwd", "leads out of the repository", id="include above"),
        pytest.param("-r ~/.netrc", "leads out of the repository", id="include home"),
        pytest.param("-rhttps://evil.test/r.txt", "a URL", id="include URL"),
        pytest.param("-c missing.txt", "no such file in the repository", id="include of nothing"),
        pytest.param("-r requirements.txt", "includes itself, or files too deep", id="include itself"),
        pytest.param("a==${HOME}", "holds characters that no requirement has", id="variable"),
        pytest.param("a==`id`", "holds characters that no requirement has", id="backticks"),
        pytest.param("a\u200bb", "holds characters that no requirement has", id="zero width"),
        pytest.param("ａ", "holds characters that no requirement has", id="full width"),
        pytest.param("==1", "not a requirement", id="no name"),
        pytest.param("a" * 1001, "longer than 1,000 characters", id="long"),
    ],
)
def test_lines_that_are_refused(line: str, why: str) -> None:
    plan = planned(requirements_txt=f"{line}\ngood==1\n")
    assert "good==1" in plan.requirements
    assert why in {refusal.why for refusal in plan.refused}
    assert not any("evil" in one or "/" in one for one in plan.requirements)
    assert not any("secret" in str(refusal) for refusal in plan.refused)


def test_included_files_follow_the_same_rules() -> None:
    plan = planned(
        requirements__test_txt="-r base.txt\n-c ../limits.txt\npytest\n",
        requirements__base_txt="a\n--pre\n",
        limits_txt="b[x]==2\n",
    )
    assert (plan.requirements, plan.constraints) == (("a", "pytest"), ("b==2",))
    assert [str(one) for one in plan.refused] == ["requirements/base.txt: --pre (an option)"]


def test_hashes_are_kept_for_checking() -> None:
    good, odd = "a" * 64, "b" * 32
    plan = planned(
        requirements_txt=f"a==1 \\\n    --hash=sha256:{good} \\\n    --hash=md5:{odd}\nb==2 --hash=md5:{odd}\n"
    )
    assert plan.requirements == ("a==1", "b==2")
    assert plan.hashes == (("a", "1", (good,)),)
    assert "installed unchecked" in plan.refused[0].why


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        pytest.param({"requirements.txt": "a", "requirements-dev.txt": "b"}, ["a", "b"], id="main and dev"),
        pytest.param({"requirements-dev.txt": "b", "test-requirements.txt": "c"}, ["c"], id="test before dev"),
        pytest.param({"tests/requirements.txt": "c", "requirements/base.txt": "a"}, ["a", "c"], id="folders"),
        pytest.param({"docs/requirements.txt": "d", "notes.txt": "n", "requirements.txt": ""}, [], id="others"),
        pytest.param(
            {"pyproject.toml": NAMED + 'dependencies = ["a"]', "requirements.txt": "pinned==1"}, ["a"], id="own first"
        ),
        pytest.param(
            {"pyproject.toml": NAMED + 'dynamic = ["dependencies"]', "requirements.txt": "b"}, ["b"], id="dynamic"
        ),
        pytest.param(
            {
                "pyproject.toml": NAMED + 'dependencies = ["a"]\noptional-dependencies = '
                '{docs = ["d"], test = ["thing[x]", "t"], X = ["x"], dev = ["never"]}'
            },
            ["a", "t", "x"],
            id="extras, also of itself",
        ),
        pytest.param(
            {
                "pyproject.toml": NAMED + "[dependency-groups]\n"
                'Test = ["t", {include-group = "typing"}]\ntyping = ["m", {include-group = "test"}]\n'
            },
            ["t", "m"],
            id="groups, going round",
        ),
        pytest.param(
            {"pyproject.toml": NAMED, "requirements-dev.txt": "-e .[fast]\nb", "setup.cfg": ""},
            ["b"],
            id="no such extra",
        ),
        pytest.param(
            {"setup.cfg": "[options]\ninstall_requires =\n  a>=1\n  # no\n[options.extras_require]\ntests = t\n"},
            ["a>=1", "t"],
            id="setup.cfg",
        ),
        pytest.param(
            {
                "setup.py": "from setuptools import setup\nR=['a']\n"
                "setup(name='x', install_requires=R, tests_require=['t'])"
            },
            ["a", "t"],
            id="setup.py, literally",
        ),
        pytest.param(
            {
                "pyproject.toml": NAMED + 'dependencies = ["a"]\noptional-dependencies = {fast = ["f"], dev = ["no"]}',
                "tox.ini": "[testenv]\ndeps =\n  pytest\n  unit,py3: u ; python_version > '3'\n  docs: sphinx\n"
                "  -r{toxinidir}/more.txt\n  {posargs}\n  -rhttps://evil.test/x\nextras = unit: fast\n",
                "more.txt": "m",
            },
            ["pytest", 'u ; python_version > "3"', "m", "a", "f"],
            id="tox",
        ),
        pytest.param({"tox.ini": "[testenv]\ndeps = t", "tests/requirements.txt": "r"}, ["t", "r"], id="tox as well"),
        pytest.param({"setup.py": "setup(install_requires=open('/etc/passwd').read())"}, [], id="setup.py is not run"),
        pytest.param(
            {
                "pyproject.toml": '[tool.poetry]\nname = "x"\n[tool.poetry.dependencies]\npython = "^3.8"\n'
                'a = "^1.2"\nb = {version = "~2.1", extras = ["e"], python = "<3.12"}\nc = {git = "https://evil.test"}\n'
                'd = {version = "*", optional = true}\n[tool.poetry.group.test.dependencies]\nt = "^0.3"\n'
            },
            ["a<2,>=1.2", 'b[e]<2.2,>=2.1 ; python_version < "3.12"', "t<0.4,>=0.3"],
            id="poetry",
        ),
        pytest.param(
            {
                "pyproject.toml": NAMED + 'dependencies = ["a", "ours", "theirs"]\n[tool.uv.sources]\n'
                'Ours = {git = "https://evil.test"}\ntheirs = {index = "private"}\n'
            },
            ["a"],
            id="what uv takes from elsewhere is not asked of the index",
        ),
    ],
)
def test_which_manifests_count(files: dict[str, str | None], expected: list[str]) -> None:
    plan = python_plan(Files(files))
    assert plan is not None
    assert list(plan.requirements) == expected


@pytest.mark.parametrize(
    "files",
    [
        pytest.param({}, id="nothing"),
        pytest.param({"a.py": "", "tests/test_a.py": ""}, id="only code"),
        pytest.param({"tox.ini": "[flake8]\nmax = 1", "a.py": ""}, id="a tox.ini of other tools"),
        pytest.param({"pyproject.toml": "[tool.x]\ny = 1", "docs/requirements.txt": "x"}, id="tools only"),
    ],
)
def test_no_manifest_is_no_plan(files: dict[str, str | None]) -> None:
    plan = python_plan(Files(files))
    assert plan is None or (plan.requirements, plan.project) == ((), None)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("[project", id="not TOML"),
        pytest.param("a = " + "[" * 5_000 + "]" * 5_000, id="deep"),
        pytest.param('project = "x"', id="project is a text"),
        pytest.param("[project]\nname = 3\nversion = []\ndependencies = {}\nscripts = 4", id="wrong types"),
        pytest.param('[project]\nname = "x/../y"\ndependencies = [1, {}, "ok"]', id="odd members"),
        pytest.param('[project]\nname = "x"\ndependencies = ["a; x == \'1\\n--pre\'"]', id="newline in a marker"),
        pytest.param("[dependency-groups]\ntest = 5\ndev = [[]]", id="odd groups"),
        pytest.param("[tool.poetry]\ndependencies = {a = [[1]], b = 3, c = {version = {}}}", id="odd poetry"),
        pytest.param(None, id="binary"),
    ],
)
def test_odd_projects_are_no_trouble(text: str | None) -> None:
    plan = python_plan(Files({"pyproject.toml": text, "requirements.txt": "good"}))
    assert plan is not None
    assert set(plan.requirements) <= {"good", "ok"}
    assert all("\n" not in str(refusal) for refusal in plan.refused)


UV_LOCK = """
version = 1
[[package]]
name = "thing"
source = { editable = "." }
[[package]]
name = "a"
version = "1.1"
source = { registry = "https://index.test/simple" }
wheels = [{ url = "https://evil.test/a.whl", hash = "sha256:%s" }]
[[package]]
name = "fork"
version = "1"
[[package]]
name = "fork"
version = "2"
[[package]]
name = "ours"
version = "3"
source = { git = "https://evil.test/ours" }
""" % ("0" * 64)


def test_a_uv_lock_holds_versions_and_hashes() -> None:
    own = NAMED + 'dependencies = ["a", "ours", "fork"]\n'
    plan = planned(pyproject_toml=own, uv_lock=UV_LOCK, requirements_txt="exported==1")
    assert plan.requirements == ("a", "fork")
    assert plan.constraints == ("a==1.1",)
    assert plan.hashes == (("a", "1.1", ("0" * 64,)),)
    assert [str(one) for one in plan.refused] == ["pyproject.toml: ours (the lock takes it from version control)"]
    assert plan.sources == ("pyproject.toml", "uv.lock")


def test_a_poetry_lock_holds_versions_and_hashes() -> None:
    lock = (
        '[[package]]\nname = "a"\nversion = "1.2.3"\nfiles = [{file = "a.whl", hash = "sha256:' + "1" * 64 + '"}]\n'
        '[[package]]\nname = "p"\nversion = "1"\n[package.source]\ntype = "directory"\nurl = "../p"\n'
    )
    own = '[tool.poetry]\nname = "x"\n[tool.poetry.dependencies]\na = "*"\np = "*"\n'
    plan = planned(pyproject_toml=own, poetry_lock=lock)
    assert (plan.requirements, plan.constraints) == (("a",), ("a==1.2.3",))
    assert plan.hashes == (("a", "1.2.3", ("1" * 64,)),)
    assert "a path" in plan.refused[0].why


@pytest.mark.parametrize(
    ("text", "version"),
    [
        pytest.param('version = "1.2"', "1.2", id="written"),
        pytest.param('dynamic = ["version"]\n[tool.hatch.version]\npath = "src/thing/__init__.py"', "4.5", id="hatch"),
        pytest.param('[tool.setuptools.dynamic]\nversion = {attr = "thing.__version__"}', "4.5", id="attribute"),
        pytest.param('[tool.setuptools.dynamic]\nversion = {file = "VERSION"}', "7", id="file"),
        pytest.param('[tool.hatch.version]\npath = "/etc/passwd"', "4.5", id="outside, so where it usually is"),
        pytest.param('dynamic = ["version"]', "4.5", id="where it usually is"),
    ],
)
def test_the_projects_version(text: str, version: str) -> None:
    files = {"pyproject.toml": NAMED + text, "src/thing/__init__.py": '__version__ = "4.5"\n', "VERSION": "7\n"}
    plan = python_plan(Files(files))
    assert plan is not None
    assert plan.project is not None
    assert plan.project.version == version


def test_the_projects_entry_points() -> None:
    text = (
        NAMED
        + '[project.scripts]\nthing = "thing.cli:main"\nodd = 3\n[project.entry-points.pytest11]\nt = "thing.plugin"'
    )
    project = planned(pyproject_toml=text).project
    assert project is not None
    assert project.entry_points == (("console_scripts", "thing", "thing.cli:main"), ("pytest11", "t", "thing.plugin"))


@pytest.mark.parametrize(
    ("needs", "is_fine"),
    [
        pytest.param("", True, id="any"),
        pytest.param(">=3.8,<4", True, id="within"),
        pytest.param(">=3.13", False, id="newer"),
        pytest.param("<3", False, id="older"),
        pytest.param("three", True, id="not readable: left to pip"),
    ],
)
def test_the_python_that_a_project_is_for(needs: str, is_fine: bool) -> None:
    problem = planned(pyproject_toml=NAMED + f'requires-python = "{needs}"').python_problem("3.11.7")
    assert (problem is None) is is_fine


def test_many_lines_are_bounded() -> None:
    plan = planned(requirements_txt="".join(f"a{number}\n" for number in range(3_000)))
    assert len(plan.requirements) == 2_000
    assert len(plan.refused) + plan.left_out == 1_000
    assert len(plan.refused) == 40


def test_equal_manifests_make_equal_plans() -> None:
    first, second = planned(requirements_txt="a==1\n--pre"), planned(requirements_txt="A == 1 # x\n")
    assert first.canonical() == second.canonical()
    assert first.canonical() != planned(requirements_txt="a==2").canonical()
