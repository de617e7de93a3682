"""The package has one version, which the command line prints and every request carries."""

import platform
from importlib.metadata import PackageNotFoundError, version

import pytest
from support.scripted_hub import ScriptedHub, answer

import affidavit
from affidavit._cli import main
from affidavit._hub.api_keys import make_key
from affidavit._hub.transport import HttpTransport

USER_AGENT = f"affidavit/{affidavit.__version__} Python/{platform.python_version()}"


def test_the_version_is_that_of_the_installed_package():
    try:
        installed = version("affidavit")
    except PackageNotFoundError:
        pytest.skip("the package is not installed")
    assert affidavit.__version__ == installed


def test_the_command_line_tells_its_version(capsys):
    with pytest.raises(SystemExit) as exit_info:
        main(["--version"])
    assert exit_info.value.code == 0
    assert capsys.readouterr().out == f"affidavit {affidavit.__version__}\n"


def test_every_request_names_the_version_and_that_of_python():
    with ScriptedHub(answer(200, {})) as hub:
        transport = HttpTransport(hub.url)
        transport.post_json("/api/x", b"{}", {})
        transport.get_json("/api/x", {})
        transport.close()
    assert [request.headers["user-agent"] for request in hub.received] == [USER_AGENT] * 2


def test_a_pull_on_the_command_line_names_the_versions_too(tmp_path):
    with ScriptedHub(answer(200, {}, ETag='"v1"')) as hub:
        main(["catalog", "pull", str(tmp_path / "catalog.json"), "--hub", hub.url, "--key", make_key("gak_")])
    assert [request.headers["user-agent"] for request in hub.received] == [USER_AGENT]
