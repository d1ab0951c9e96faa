"""Lets schemathesis call every operation of the native API with generated requests, valid and invalid, and check every answer against /openapi.json.

usage: native_fuzz.py BASE EXAMPLES, an API key in GATEWAY_KEY. EXAMPLES: random requests per operation, in addition to those that cover each field. Prints
the numbers of requests and of operations that were called, and the findings. Exit status 1: there are some.
"""

import json
import os
import re
import subprocess
import sys
import tempfile

BASE, EXAMPLES = sys.argv[1], int(sys.argv[2])

# Rules about several fields at once, such as "to is after from", have no form in JSON Schema: a request that breaks one gets 422. 410: offsets of the log
# that a caller has made up. 412: a version of the routes that is not the present one. 428: a change of a template without its version.
CONFIGURATION = """
[checks.positive_data_acceptance]
expected-statuses = ["2xx", "401", "403", "404", "409", "410", "412", "422", "428"]
"""

# `follow` keeps an answer open for five minutes. Python 3.11 counts the depth of syntax trees for all threads together, so that two workers that read the
# source of a lambda at once can end with a SystemError (https://github.com/python/cpython/issues/106905).
HOOKS = '''
import ast
import threading

import schemathesis

parse, parsing = ast.parse, threading.Lock()


def parse_alone(*arguments, **named):
    with parsing:
        return parse(*arguments, **named)


ast.parse = parse_alone


@schemathesis.hook
def before_call(context, case, kwargs):
    if case.query and case.query.get("follow") in (True, "true"):
        case.query = {name: value for name, value in case.query.items() if name != "follow"}

'''


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        for name, text in [("schemathesis.toml", CONFIGURATION), ("hooks.py", HOOKS)]:
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write(text)
        program = os.path.join(os.path.dirname(sys.executable), "schemathesis")
        command = [
            program, "run", BASE + "/openapi.json", "--header", "Authorization: Bearer " + os.environ["GATEWAY_KEY"], "--checks", "all",
            "--phases", "examples,coverage" + (",fuzzing" if EXAMPLES else ""), "--max-examples", str(max(1, EXAMPLES)), "--seed", "1", "--no-shrink", "--continue-on-failure",
            "--request-timeout", "30", "--workers", "2", "--no-color",
        ]
        environment = os.environ | {"SCHEMATHESIS_HOOKS": "hooks", "PYTHONPATH": folder}
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=900, check=False)
    text = done.stdout + done.stderr
    count = re.search(r"(\d+) generated", text)
    tested = re.search(r"Tested: (\d+)", text)
    numbers = {"requests": count, "operations": tested}
    print(json.dumps({name: int(found.group(1)) if found else 0 for name, found in numbers.items()}))
    if done.returncode != 0:
        print(text[-20000:])
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
