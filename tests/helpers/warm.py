"""``pcd`` in a process of its own that need not import anything first.

    done = warm.pcd("check", "net.prototxt", cwd=tmp_path)

A server has imported all verbs and computed nothing; it forks a process for each command, which
then is what ``python -m pycaffe_dist`` is: it has its own folder, environment, standard streams,
signals and end.  That the program itself starts, and what variables do that are read while it
starts, is tested by starting it.
"""

import atexit
import importlib
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import warnings

# These follow a program from its start.
WATCHED = ("COVERAGE_PROCESS_CONFIG", "COVERAGE_PROCESS_START")
TIMEOUT = 150
# What commands import only where a file or a net needs it.
LATE = ("numpy.random", "PIL.Image", "h5py", "lmdb", "crc32c", "pycaffe_dist.engines.onednn")
_servers = {}  # by process: a forked one has none


def pcd(*args, cwd=None, env=None, stdout=subprocess.PIPE, timeout=TIMEOUT):
    """As subprocess.run of ``python -m pycaffe_dist``, with texts of what it has said."""
    words = [str(arg) for arg in args]
    environment = dict(os.environ if env is None else env)
    if any(name in os.environ for name in WATCHED):
        command = [sys.executable, "-m", "pycaffe_dist", *words]
        streams = {"stdout": stdout, "stderr": subprocess.PIPE, "text": True}
        return subprocess.run(command, cwd=cwd, env=environment, timeout=timeout, **streams)
    request = {"args": words, "cwd": str(cwd or os.getcwd()), "env": environment}
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        handles = [out.fileno() if stdout == subprocess.PIPE else stdout, err.fileno()]
        code = _ask(request, handles, timeout)
        texts = []
        for file in (out, err):
            file.seek(0)
            texts.append(file.read())
    said = texts[0] if stdout == subprocess.PIPE else None
    return subprocess.CompletedProcess(["pcd", *words], code, said, texts[1])


def _ask(request, handles, timeout):
    connection = _servers.get(os.getpid()) or _start()
    connection.settimeout(timeout)
    data = json.dumps(request).encode()
    socket.send_fds(connection, [len(data).to_bytes(4, "big")], handles)
    connection.sendall(data)
    child = _number(connection)
    try:
        return _number(connection)
    except TimeoutError:
        os.kill(child, signal.SIGKILL)
        _number(connection)
        raise subprocess.TimeoutExpired(request["args"], timeout) from None


def _number(connection):
    data = connection.recv(8, socket.MSG_WAITALL)
    if not data:
        raise RuntimeError("the server of tests/helpers/warm.py has ended")
    return int.from_bytes(data, "big", signed=True)


def _start():
    ours, theirs = socket.socketpair()
    command = [sys.executable, __file__, str(theirs.fileno())]
    server = subprocess.Popen(command, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL)
    theirs.close()
    _servers[os.getpid()] = ours
    atexit.register(_stop, os.getpid(), ours, server)
    return ours


def _stop(owner, connection, server):
    if owner == os.getpid():
        connection.close()
        server.wait()


# -- the server ------------------------------------------------------------------------------------


def serve(connection):
    """Fork for each request; True in the child, which is to run the program."""
    while True:
        size, handles, *_ = socket.recv_fds(connection, 4, 2)
        if not size:
            return False
        data = connection.recv(int.from_bytes(size, "big"), socket.MSG_WAITALL)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # OpenBLAS has threads
            child = os.fork()
        if not child:
            connection.close()
            _become(json.loads(data), handles)
            return True
        for handle in handles:
            os.close(handle)
        connection.sendall(child.to_bytes(8, "big"))
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        connection.sendall(code.to_bytes(8, "big", signed=True))


def _become(request, handles):
    os.chdir(request["cwd"])
    os.environ.clear()
    os.environ.update(request["env"])
    for handle, number in zip(handles, (1, 2), strict=True):
        os.dup2(handle, number)
        os.close(handle)
    sys.argv = ["pcd", *request["args"]]
    sys.path[0] = os.getcwd()  # as -m has it


def _choose_the_first():
    """Of oneDNN's implementations, without measuring: as conftest.py does in its own process.

    The library itself is loaded by who computes, for it looks at the environment then.
    """
    from pycaffe_dist.engines.choice import Choices

    begin = Choices.__init__

    def first(self, *args, **settings):
        begin(self, *args, **settings)
        self.measuring = False

    Choices.__init__ = first


def main():
    from pycaffe_dist import cli

    for name in (*(f"pycaffe_dist.cli.{verb}" for verb in cli.VERBS), *LATE):
        importlib.import_module(name)
    _choose_the_first()
    if serve(socket.socket(fileno=int(sys.argv[1]))):
        sys.exit(cli.main())  # pycaffe_dist.__main__


if __name__ == "__main__":
    main()
