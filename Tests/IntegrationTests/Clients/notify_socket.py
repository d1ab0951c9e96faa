"""The socket of a service manager (sd_notify(3)).

Usage: notify_socket.py SOCKET

Prints one JSON array per datagram: the lines of the report. Runs until it is killed.
"""

import json
import socket
import sys

receiver = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
receiver.bind(sys.argv[1])
print(json.dumps([]), flush=True)
while True:
    print(json.dumps(receiver.recv(65536).decode("utf-8").split("\n")), flush=True)
