"""When a process ends or is terminated, its reporters send what is unsent, for a bounded time, and log a loss once."""

import shutil
import signal
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from urllib.request import urlopen

import pytest
from support.ending_programs import Program, all_three, count_items, take_all
from support.scripted_hub import ScriptedHub, silent

FORK_ONLY = pytest.mark.skipif("fork" not in __import__("multiprocessing").get_all_start_methods(), reason="no fork")
WSGI = """
from affidavit.contrib.wsgi import WitnessMiddleware
def serve(environ, start_response):
    outcomes.report("c", "k")
    verifications.add("accepted", operation="GET /x")
    start_response("200 OK", [("Content-Type", "application/json")])
    return [b"{}"]
app = WitnessMiddleware(serve, witness)
"""
ASGI = """
async def serve(scope, receive, send):
    if scope["type"] == "lifespan":
        LIFESPAN
    outcomes.report("c", "k")
    verifications.add("accepted", operation="GET /x")
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"application/json")]})
    await send({"type": "http.response.body", "body": b"{}"})
"""
LIFESPAN = """
        while (message := await receive())["type"] != "lifespan.shutdown":
            await send({"type": message["type"] + ".complete"})
        outcomes.report("c", "k")
        await send({"type": "lifespan.shutdown.complete"})
        return
"""
NO_LIFESPAN = "raise ValueError(scope['type'])"
WITNESSED = """
from affidavit.contrib.asgi import WitnessMiddleware
app = WitnessMiddleware(serve, witness)
"""


@pytest.fixture
def hub():
    with ScriptedHub(take_all) as hub:
        yield hub


def run(hub, folder, script, *options):
    """Run a script to its end; return its exit status and what it logged."""
    with Program(hub, folder, ["app.py", *options], app=script) as program:
        return program.process.wait(60), program.log


def test_a_script_sends_its_reports_when_it_ends(hub, tmp_path):
    assert run(hub, tmp_path, "work(20)") == (0, "")
    assert count_items(hub) == all_three(20)


@pytest.mark.parametrize("activity", ["signal.pause()", "while True: work(0)", "time.sleep(60)", "witness.flush(60)"])
def test_a_terminated_script_still_ends_by_the_signal(hub, tmp_path, activity):
    script = f"import signal, time\nwork(20)\nprint('ready', flush=True)\n{activity}\ntime.sleep(60)"
    with Program(hub, tmp_path, ["app.py"], app=script) as program:
        program.wait_for("ready\n")
        assert program.terminate() == -signal.SIGTERM, program.log
        assert program.log == "ready\n"
    assert count_items(hub) == all_three(20)


def test_a_script_terminated_while_it_reports_loses_no_accepted_report(hub, tmp_path):
    script = """
accepted = 0
print("ready", flush=True)
while True:
    if outcomes.report("c", "k"):
        accepted += 1
        os.pwrite(1, b"%09d" % accepted, 6)
        if accepted % 100 == 0:
            outcomes.flush()
"""
    with Program(hub, tmp_path, ["app.py"], app=script) as program:
        program.wait_for("ready")
        time.sleep(1)
        assert program.terminate() == -signal.SIGTERM, program.log
        accepted = int(program.log.splitlines()[1][:9])
    assert accepted <= count_items(hub)["outcomes"] <= accepted + 1


def test_a_signal_handler_of_the_host_stays_installed(hub, tmp_path):
    script = """
import signal, time
def end(number, frame):
    print("own handler", flush=True)
    sys.exit(7)
signal.signal(signal.SIGTERM, end)
from affidavit import OutcomeReporter
OutcomeReporter(os.environ["KEY"], **where)
assert signal.getsignal(signal.SIGTERM) is end
work(20)
print("ready", flush=True)
time.sleep(60)
"""
    with Program(hub, tmp_path, ["app.py"], app=script) as program:
        program.wait_for("ready")
        assert program.terminate() == 7
        assert "own handler" in program.log
    assert count_items(hub) == all_three(20)


@FORK_ONLY
def test_a_child_of_os_fork_sends_its_own_reports(hub, tmp_path):
    script = """
work(2)
child = os.fork()
work(20 if child else 30)
if child: assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
"""
    assert run(hub, tmp_path, script) == (0, "")
    assert count_items(hub) == all_three(52)


@FORK_ONLY
@pytest.mark.parametrize("works", [True, False])
def test_a_child_of_a_fork_that_python_does_not_see_sends_its_own_reports(hub, tmp_path, works):
    script = f"""
from affidavit._hub import process_end
follow_fork, process_end._follow_fork = process_end._follow_fork, lambda: None  # uWSGI forks in C: no hook of os runs
work(2)
child = os.fork()
process_end._follow_fork = follow_fork
if child: work(20)
elif {works}: work(30)
if child: assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
"""
    assert run(hub, tmp_path, script) == (0, "")
    assert count_items(hub) == all_three(52 if works else 22)


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
@pytest.mark.parametrize("kind", ["process", "pool", "executor"])
def test_children_of_multiprocessing_send_their_reports(hub, tmp_path, method, kind):
    script = f"""
import multiprocessing
from concurrent.futures import ProcessPoolExecutor
if __name__ == "__main__":
    context = multiprocessing.get_context({method!r})
    if {kind!r} == "process":
        child = context.Process(target=work, args=(20,))
        child.start()
        child.join()
    elif {kind!r} == "pool":
        with context.Pool(1, maxtasksperchild=1) as pool:
            pool.map(work, [10, 10], chunksize=1)
            pool.close()
            pool.join()
    else:
        with ProcessPoolExecutor(1, mp_context=context) as executor:
            list(executor.map(work, [10, 10]))
"""
    assert run(hub, tmp_path, script) == (0, "")
    assert count_items(hub) == all_three(20)


@FORK_ONLY
def test_a_child_that_is_terminated_sends_its_reports(hub, tmp_path):
    # The child sleeps in short pieces: Python calls the handler of a signal that arrives just before a blocking call
    # only after the call, and this parent sends the signal at once.
    script = """
import multiprocessing, time
def go():
    work(20)
    ready.set()
    for _ in range(600):
        time.sleep(0.1)
context = multiprocessing.get_context("fork")
ready = context.Event()
child = context.Process(target=go)
child.start()
ready.wait()
child.terminate()
child.join()
assert child.exitcode == -15, child.exitcode
"""
    assert run(hub, tmp_path, script) == (0, "")
    assert count_items(hub) == all_three(20)


@pytest.mark.parametrize("options", [
    ["-k", "sync"], ["-k", "gthread", "--threads", "2"], ["-k", "sync", "--preload"],
    ["-k", "gevent"], ["-k", "gevent", "--preload"],
], ids=" ".join)  # fmt: skip
def test_workers_of_gunicorn_send_their_reports(hub, tmp_path, options):
    pytest.importorskip("gunicorn", reason="needs gunicorn")
    if "gevent" in options:
        pytest.importorskip("gevent", reason="needs gevent")
    with Program(hub, tmp_path, ["-m", "gunicorn", "-b", "127.0.0.1:PORT", *options, "app:app"], app=WSGI) as program:
        program.request(20)
        assert program.terminate() == 0, program.log
        assert "Traceback" not in program.log
        assert "affidavit" not in program.log
    assert count_items(hub) == all_three(20)


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize(("lifespan", "more"), [(LIFESPAN, 1), (NO_LIFESPAN, 0)])
def test_uvicorn_sends_the_reports_of_an_app_with_our_middleware(hub, tmp_path, lifespan, more, workers):
    pytest.importorskip("uvicorn", reason="needs uvicorn")
    app = ASGI.replace("LIFESPAN", lifespan.strip()) + WITNESSED
    command = ["-m", "uvicorn", "--port", "PORT", "--workers", str(workers), "app:app"]
    with Program(hub, tmp_path, command, app=app) as program:
        program.request(20)
        program.terminate()
        assert "Traceback" not in program.log
    assert count_items(hub) == {**all_three(20), "outcomes": 20 + more * workers}


def test_uvicorn_sends_the_reports_of_an_app_without_our_middleware(hub, tmp_path):
    pytest.importorskip("uvicorn", reason="needs uvicorn")
    app = ASGI.replace("LIFESPAN", NO_LIFESPAN) + "\napp = serve"
    with Program(hub, tmp_path, ["-m", "uvicorn", "--port", "PORT", "app:app"], app=app) as program:
        program.request(20)
        assert program.terminate() == -signal.SIGTERM
    assert count_items(hub) == {"outcomes": 20, "verifications": 20, "observations": 0}


def test_uvicorn_waits_for_an_unreachable_hub_no_longer_than_other_programs(tmp_path):
    pytest.importorskip("uvicorn", reason="needs uvicorn")
    app = ASGI.replace("LIFESPAN", LIFESPAN.strip()) + WITNESSED + "app = WitnessMiddleware(app, witness)"
    with Program("http://127.0.0.1:9", tmp_path, ["-m", "uvicorn", "--port", "PORT", "app:app"], app=app) as program:
        program.request(20)
        began = time.monotonic()
        program.terminate()
        assert time.monotonic() - began < 9  # 5 seconds at the signal, none at the end of each lifespan


def test_a_request_that_runs_when_uvicorn_gets_the_signal_does_not_wait_for_an_unreachable_hub(tmp_path):
    pytest.importorskip("uvicorn", reason="needs uvicorn")
    slow = 'if scope["path"] == "/slow":\n        await __import__("asyncio").sleep(1)\n    outcomes.report'
    app = ASGI.replace("outcomes.report", slow).replace("LIFESPAN", LIFESPAN.strip()) + WITNESSED
    # The handler of this package is before uvicorn's only if uvicorn imports the app late, as its workers do.
    command = ["-m", "uvicorn", "--port", "PORT", "--workers", "2", "app:app"]
    with Program("http://127.0.0.1:9", tmp_path, command, app=app) as program, ThreadPoolExecutor(1) as thread:
        program.request(20)
        answer = thread.submit(urlopen, f"http://127.0.0.1:{program.port}/slow", timeout=20)
        time.sleep(0.5)
        began = time.monotonic()
        program.process.send_signal(signal.SIGTERM)
        assert answer.result().status == 200
        assert time.monotonic() - began < 4
        program.process.wait(30)


@pytest.mark.parametrize("is_late", [False, True])
def test_workers_of_celery_that_end_after_each_task_send_their_reports(hub, tmp_path, is_late):
    pytest.importorskip("celery", reason="needs Celery")
    tasks = """
import logging, os
from celery import Celery
if not LATE:
    import app as program
celery = Celery("tasks", broker="filesystem://", broker_transport_options={
    "data_folder_in": "queue", "data_folder_out": "queue", "control_folder": "control",
})
@celery.task
def work():
    import app as program
    program.work()
    print("worked", flush=True)
"""
    for folder in ("queue", "control"):
        (tmp_path / folder).mkdir()
    (tmp_path / "tasks.py").write_text(tasks.replace("LATE", str(is_late)))
    command = ["-m", "celery", "-A", "tasks", "worker", "-c", "1", "--max-tasks-per-child=1", "-P", "prefork"]
    send = ["-c", "from tasks import work\nfor _ in range(3): work.delay()"]
    with Program(hub, tmp_path, send) as sender:
        assert sender.process.wait(30) == 0, sender.log
    with Program(hub, tmp_path, command) as program:
        deadline = time.monotonic() + 60
        while count_items(hub)["outcomes"] < 3 and time.monotonic() < deadline:
            time.sleep(0.1)
        assert program.terminate() == 0, program.log
    assert count_items(hub) == all_three(3), program.log


def test_process_1_of_a_container_keeps_reporting_after_a_signal_that_does_not_end_it(hub, tmp_path):
    if (
        shutil.which("unshare") is None
        or subprocess.run(["unshare", "--pid", "--fork", "true"], check=False).returncode
    ):
        pytest.skip("needs unshare, and the right to use it")
    script = """
import signal
assert os.getpid() == 1
for _ in range(2):
    work(10)
    os.kill(1, signal.SIGTERM)
print("alive", flush=True)
"""
    (tmp_path / "run.py").write_text(
        "import subprocess, sys\nsubprocess.run(['unshare', '--pid', '--fork', sys.executable, 'app.py'])"
    )
    with Program(hub, tmp_path, ["run.py"], app=script) as program:
        assert (program.process.wait(30), program.log) == (0, "alive\n")
    assert count_items(hub) == all_three(20)


@pytest.mark.parametrize("ending", ["pass", "os.kill(os.getpid(), 15)"])
def test_the_process_waits_a_few_seconds_for_a_silent_hub_and_logs_each_loss_once(tmp_path, ending):
    with ScriptedHub(silent(30)) as hub:
        began = time.monotonic()
        _, log = run(hub, tmp_path, f"work(20)\n{ending}")
        assert time.monotonic() - began < 12
    assert [line.partition(":")[0] for line in sorted(log.splitlines())] == [
        "20 outcomes were not reported",
        "20 requests were not reported", "20 verifications were not reported",
    ]  # fmt: skip


@pytest.mark.parametrize("ending", ["pass", "os.kill(os.getpid(), 15)", "in a child"])
def test_the_process_waits_a_few_seconds_for_an_unreachable_hub_and_logs_each_loss_once(tmp_path, ending):
    script = f"""
work(20)
{ending}
"""
    if ending == "in a child":
        script = """
import multiprocessing
child = multiprocessing.get_context("fork").Process(target=work, args=(20,))
child.start()
child.join()
"""
    began = time.monotonic()
    _, log = run("http://127.0.0.1:9", tmp_path, script)
    assert time.monotonic() - began < 12
    assert log.count("20 outcomes were not reported") == 1
    assert log.count("20 verifications were not reported") == 1
    assert log.count("20 requests were not reported") == 1
    assert len(log.splitlines()) <= 6, log
