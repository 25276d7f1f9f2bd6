"""Runs an emulator on a listening socket that it inherits: emulator.py NAME PORT.

Standard input is a pipe whose other end the test process holds. It ends when that
process does, however it dies, and then this process and all its children end too.

For people, `emulator.py NAME PORT listen` opens 127.0.0.1:PORT itself, and ends when its
process group is sent SIGTERM.
"""

import contextvars
import os
import queue
import shutil
import signal
import socket
import sys
import tempfile
import threading

SOCKET = 3  # exec.Cmd's first extra file


# What the emulator leaves in the folder for temporary files goes with it.
folder = tempfile.mkdtemp(prefix="cronfence-")
os.environ["TMPDIR"] = tempfile.tempdir = folder


def end():
    shutil.rmtree(folder, ignore_errors=True)
    if os.getpgrp() == os.getpid():
        os.killpg(0, signal.SIGKILL)


def end_with_parent():
    os.read(0, 1)
    end()


def listen(port):
    os.setsid()  # outlives the shell that starts it, and leads the group that ends with it
    listener = socket.create_server(("127.0.0.1", port))
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # connections inherit it
    opened = listener.detach()
    if opened != SOCKET:
        os.dup2(opened, SOCKET)
        os.close(opened)


def moto(port):
    os.environ["MOTO_PORT"] = str(port)
    from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
    from werkzeug.serving import make_server

    app = DomainDispatcherApplication(create_backend_app)
    lock = threading.Lock()

    def one_at_a_time(environ, start_response):
        # A refused transaction puts back a copy of its table, and so takes back what other
        # threads wrote meanwhile. Connections still are served side by side: an idle one
        # must not keep the others out.
        with lock:
            return list(app(environ, start_response))

    make_server("127.0.0.1", port, one_at_a_time, threaded=True, fd=SOCKET).serve_forever()


def moto_steps(port):
    """moto that runs state machines; what their tasks invoke is answered at LAMBDA_ENDPOINT."""
    import boto3
    from botocore.config import Config
    from moto.core.config import default_user_config
    from moto.stepfunctions.models import StateMachine
    from moto.stepfunctions.parser.asl.component.common.error_name import custom_error_name
    from moto.stepfunctions.parser.asl.component.state.exec.state_task import lambda_eval_utils

    default_user_config["stepfunctions"] = {"execute_state_machine": True}
    # An execution gets a deep copy of its machine; from the second on that holds locks of
    # the executions before it, which cannot be copied.
    StateMachine.__deepcopy__ = lambda self, memo: self

    # A branch that fails with States.Timeout fails its Parallel with that name; moto would
    # refuse the name there, as in the Fail state that passes it on.
    custom_error_name.ILLEGAL_CUSTOM_ERROR_PREFIX = "\0"

    def functions(region, service, state_credentials=None):
        return boto3.client(
            service, region_name=region, endpoint_url=os.environ["LAMBDA_ENDPOINT"],
            aws_access_key_id="moto", aws_secret_access_key="secret",
            config=Config(parameter_validation=False, retries={"total_max_attempts": 1}),
        )

    lambda_eval_utils.boto_client_for = functions
    moto(port)


def ministack(port):
    os.environ["GATEWAY_PORT"] = str(port)
    os.environ["AWS_ENDPOINT_URL"] = f"http://127.0.0.1:{port}"  # for the functions it runs
    os.environ["LAMBDA_EXECUTOR"] = "local"  # without Docker
    os.environ["IOT_MTLS_ENABLED"] = "0"  # a listener on every address
    import asyncio

    from hypercorn.asyncio import serve
    from hypercorn.config import Config
    from ministack.app import app

    help_ministack()
    config = Config()
    config.bind = [f"fd://{SOCKET}"]
    asyncio.run(serve(app, config))


def help_ministack():
    """What ministack 1.5.33 does otherwise than AWS and the deployed example meets.

    A start of an execution that runs, with its name and input, is refused: the product
    takes that as it takes an answer that was lost. Also see the ticker, package ticker.
    """
    from ministack.services import scheduler, stepfunctions
    from ministack.services.cloudformation import provisioners

    # It fires schedules with context attributes such as <aws.scheduler.scheduled-time> left
    # as they stand; the ticker beside it fires them instead.
    scheduler.start_scheduler = lambda: None

    # It refuses alarms on metric math and on queries: they get a name and nothing else.
    alarm = provisioners._RESOURCE_HANDLERS["AWS::CloudWatch::Alarm"]
    create = alarm["create"]
    alarm["create"] = lambda logical_id, props, stack: (
        (props.get("AlarmName") or f"{stack}-{logical_id}", {}) if props.get("Metrics")
        else create(logical_id, props, stack))

    # A Parallel waits for all its branches. On AWS the first that fails ends it, and the
    # others go no further than the state they are in; so does the end of the execution.
    def run_branches(state, raw_input, execution, ctx):
        over = threading.Event()
        ended = queue.SimpleQueue()

        class BranchContext(dict):
            def __setitem__(self, key, value):
                if key == "State" and (over.is_set() or execution["status"] != "RUNNING"):
                    raise stepfunctions._ExecutionError("Cancelled", "")
                super().__setitem__(key, value)

        def run(number, branch):
            try:
                ended.put((number, stepfunctions._run_sub_machine(
                    branch["States"], branch["StartAt"], effective, execution, BranchContext(ctx)), None))
            except Exception as error:
                ended.put((number, None, error))

        effective = stepfunctions._apply_parameters(
            state, stepfunctions._apply_input_path(state, raw_input, ctx), ctx)
        results = [None] * len(state["Branches"])
        for number, branch in enumerate(state["Branches"]):
            # Each in a copy of the context: it holds the account and the Region.
            threading.Thread(target=contextvars.copy_context().run, args=(run, number, branch), daemon=True).start()
        for _ in results:
            number, results[number], error = ended.get()
            if error is not None:
                over.set()
                raise error
        result = stepfunctions._apply_result_selector(state, results)
        output = stepfunctions._apply_result_path(state, raw_input, result)
        return stepfunctions._apply_output_path(state, output, ctx), stepfunctions._next_or_end(state)

    stepfunctions._run_parallel_branches = run_branches

    # A state that fails after StopExecution makes an execution FAILED that was ABORTED.
    fail = stepfunctions._fail_execution
    stepfunctions._fail_execution = lambda execution, error, cause: (
        fail(execution, error, cause) if execution["status"] == "RUNNING" else None)


name, port = sys.argv[1], int(sys.argv[2])
if sys.argv[3:] == ["listen"]:
    listen(port)
else:
    threading.Thread(target=end_with_parent, daemon=True).start()
try:
    {"moto": moto, "moto-steps": moto_steps, "ministack": ministack}[name](port)
finally:  # it could not be started, or a signal asked it to stop
    end()
