"""compose.yaml, Dockerfile, Procfile, units and dashboard name commands, variables and metrics that exist."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.core.management import get_commands
from prometheus_client import Counter, Histogram

from hub.local.command_lines import PROGRAMS
from hub.metrics.database_state import DatabaseState
from tests.project.test_docs import first_column, section, text_of
from wire.metrics import definitions as metric_definitions

ROOT = Path(__file__).resolve().parents[2]
UNITS = sorted((ROOT / "deploy/systemd").iterdir())
SERVICES: dict[str, Any] = yaml.safe_load((ROOT / "compose.yaml").read_text())["services"]
HUB_SERVICES = {name: service for name, service in SERVICES.items() if service.get("image") == "affidavit"}
PYTHON_VARIABLES = {"PYTHONPATH", "PYTHONDONTWRITEBYTECODE"}  # Python reads these, not the hub
NAME = re.compile(r"affidavit_\w+")


def read_unit(path: Path) -> list[tuple[str, str]]:
    lines = (line.strip() for line in path.read_text().splitlines())
    return [tuple(line.split("=", 1)) for line in lines if "=" in line and not line.startswith("#")]


def list_command_lines() -> dict[str, list[str]]:
    """Return the arguments of `manage.py` in each command line, by the file and service of the command line."""
    lines = {f"compose.yaml {name}": service["command"] for name, service in HUB_SERVICES.items()}
    for line in text_of("Procfile").splitlines():
        name, _, command = line.partition(": ")
        lines[f"Procfile {name}"] = shlex.split(command.partition("manage.py ")[2])
    for unit in UNITS:
        for name, value in read_unit(unit):
            if name == "ExecStart":
                lines[unit.name] = shlex.split(value.partition("manage.py ")[2])
    lines["Dockerfile"] = json.loads(re.search(r"^CMD (.*)$", text_of("Dockerfile"), re.MULTILINE)[1])
    return lines


@pytest.mark.parametrize(("where", "command"), list_command_lines().items(), ids=lambda value: str(value))
def test_every_command_is_one_of_manage_py(where, command):
    assert command[0] in get_commands()
    assert command[0] in {"up", "prepare"} or command in [["run", name] for name in PROGRAMS]


@pytest.mark.parametrize("kind", ["compose.yaml ", "Procfile ", "affidavit-"])
def test_each_way_to_run_runs_the_preparation_and_every_process_once(kind):
    commands = [command for where, command in list_command_lines().items() if where.startswith(kind)]
    assert sorted(commands) == sorted([["prepare"], *(["run", name] for name in PROGRAMS)])


def test_every_variable_is_a_setting():
    variables = {name for service in HUB_SERVICES.values() for name in service["environment"]}
    for unit in UNITS:
        variables |= {value.partition("=")[0] for name, value in read_unit(unit) if name == "Environment"}
    for line in re.findall(r"^ENV (.*)$", text_of("Dockerfile"), re.MULTILINE):
        variables |= {item.partition("=")[0] for item in line.split()} - PYTHON_VARIABLES
    assert variables <= set(first_column(text_of("docs/settings.md"), "variable"))


def test_operating_md_lists_exactly_the_variables_that_compose_yaml_requires():
    text = re.sub(r"^ *#.*$", "", text_of("compose.yaml"), flags=re.MULTILINE)
    wanted = set(re.findall(r"\$\{(\w+):\?", text))
    example = section("docs/operating.md", "### In containers")
    assert set(re.findall(r"^(\w+)=", example, re.MULTILINE)) == wanted


def test_every_service_of_the_hub_reads_the_file_of_variables():
    assert HUB_SERVICES
    for service in HUB_SERVICES.values():
        assert service["env_file"] == ".env"
        assert "${DEFAULT_FROM_EMAIL:-" in service["environment"]["DEFAULT_FROM_EMAIL"]


def test_the_containers_of_the_hub_can_write_only_their_data():
    for service in HUB_SERVICES.values():
        assert service["read_only"]
        assert service["cap_drop"] == ["ALL"]
    assert re.search(r"^USER 10001$", text_of("Dockerfile"), re.MULTILINE)


def test_every_file_that_compose_yaml_mounts_exists():
    mounts = [mount.split(":")[0] for service in SERVICES.values() for mount in service.get("volumes", [])]
    files = [mount for mount in mounts if mount.startswith("./")]
    assert len(files) == 2
    assert [file for file in files if not (ROOT / file).is_file()] == []


def test_the_proxy_lets_requests_wait_while_the_web_server_restarts():
    caddyfile = text_of("deploy/Caddyfile")
    assert re.search(r"^\s*lb_try_duration 30s$", caddyfile, re.MULTILINE)
    assert "health_uri" not in caddyfile  # it would count the only web server as down for 30 s after each restart


def list_samples() -> dict[str, set[str]]:
    """Return the labels of each counter and histogram of /metrics, by the name that queries use."""
    samples: dict[str, set[str]] = {}
    for metric in vars(metric_definitions).values():
        if isinstance(metric, Counter):
            samples[f"{metric._name}_total"] = set(metric._labelnames)
        if isinstance(metric, Histogram):
            for ending, label in (("_bucket", {"le"}), ("_sum", set()), ("_count", set())):
                samples[metric._name + ending] = {*metric._labelnames, *label}
    return samples


@pytest.mark.django_db
def test_the_dashboard_uses_every_metric_and_only_existing_labels():
    samples = list_samples()
    samples |= {family.name: {"state"} for family in DatabaseState().collect()}
    panels = json.loads(text_of("deploy/grafana.json"))["panels"]
    queries = [target["expr"] for panel in panels for target in panel["targets"]]
    for query in queries:
        names = set(NAME.findall(query))
        assert names <= samples.keys(), query
        labels = {label.strip() for group in re.findall(r"by \(([^)]*)\)", query) for label in group.split(",")}
        labels |= set(re.findall(r"(\w+)=\"", query))
        assert labels <= set.union(*(samples[name] for name in names)), query
    families = {re.sub(r"_(bucket|sum|count)$", "", name) for name in samples}
    assert families == {re.sub(r"_(bucket|sum|count)$", "", name) for name in NAME.findall(" ".join(queries))}


@pytest.mark.django_db
def test_operating_md_lists_exactly_these_metrics():
    names = {re.sub(r"_(bucket|sum|count)$", "", name) for name in list_samples()}
    names |= {family.name for family in DatabaseState().collect()}
    listed = first_column(section("docs/operating.md", "## Metrics"), "metric")
    assert {name.partition("{")[0] for name in listed} == names


def test_the_example_for_prometheus_scrapes_metrics():
    (job,) = yaml.safe_load(text_of("deploy/prometheus.yml"))["scrape_configs"]
    assert (job["metrics_path"], list(job["authorization"])) == ("/metrics", ["credentials_file"])


@pytest.mark.django_db
def test_every_alert_uses_existing_metrics_and_the_existing_job():
    config = yaml.safe_load(text_of("deploy/prometheus.yml"))
    assert config["rule_files"] == ["alerts.yml"]
    (group,) = yaml.safe_load(text_of("deploy/alerts.yml"))["groups"]
    expressions = " ".join(rule["expr"] for rule in group["rules"])
    names = list_samples().keys() | {family.name for family in DatabaseState().collect()}
    assert set(NAME.findall(expressions)) <= names
    assert re.findall(r'job="(\w+)"', expressions) == [config["scrape_configs"][0]["job_name"]]


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd is not installed")
def test_systemd_finds_no_fault_in_the_units(tmp_path):
    for unit in UNITS:
        text = unit.read_text().replace("/opt/affidavit/.venv/bin/python", sys.executable)
        (tmp_path / unit.name).write_text(text.replace("/opt/affidavit", str(ROOT)))
    command = ["systemd-analyze", "verify", "--man=no", *map(str, sorted(tmp_path.iterdir()))]
    process = subprocess.run(command, capture_output=True, text=True)
    remarks = [line for line in process.stderr.splitlines() if "affidavit" in line]
    assert (process.returncode, remarks) == (0, [])


@pytest.mark.skipif(not shutil.which("dash"), reason="dash is not installed")
def test_the_script_of_the_database_image_is_plain_shell():
    subprocess.run(["dash", "-n", ROOT / "deploy/create-web-role.sh"], check=True)


def test_an_installation_builds_static_files_that_have_changed():
    """The units cannot write into the project's folder, so a start there cannot build them."""
    command = [
        "make",
        "--dry-run",
        f"--what-if={next((ROOT / 'static/css').iterdir()).relative_to(ROOT)}",
        ".venv/.run",
    ]
    assert "manage.py build_static" in subprocess.run(command, cwd=ROOT, capture_output=True, text=True).stdout


@pytest.mark.parametrize("ignoring", [".gitignore", ".dockerignore"])
@pytest.mark.parametrize("secret_file", [".env", "affidavit.backup", "bookshop.json", "traffic.har.gz"])
def test_files_with_secrets_that_the_documents_let_people_write_here_get_into_no_commit_and_no_image(
    secret_file, ignoring
):
    patterns = [line for line in text_of(ignoring).splitlines() if line and not line.startswith("#")]
    assert any(fnmatch(secret_file, pattern) for pattern in patterns)
