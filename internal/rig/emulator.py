"""Runs an emulator on a listening socket that it inherits: emulator.py NAME PORT.

Standard input is a pipe whose other end the test process holds. It ends when that
process does, however it dies, and then this process and all its children end too.
"""

import os
import signal
import sys
import threading

SOCKET = 3  # exec.Cmd's first extra file


def end_with_parent():
    os.read(0, 1)
    os.killpg(0, signal.SIGKILL)


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
    import asyncio

    from hypercorn.asyncio import serve
    from hypercorn.config import Config
    from ministack.app import app

    config = Config()
    config.bind = [f"fd://{SOCKET}"]
    asyncio.run(serve(app, config))


threading.Thread(target=end_with_parent, daemon=True).start()
{"moto": moto, "moto-steps": moto_steps, "ministack": ministack}[sys.argv[1]](int(sys.argv[2]))
