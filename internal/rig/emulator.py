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
{"moto": moto, "ministack": ministack}[sys.argv[1]](int(sys.argv[2]))
