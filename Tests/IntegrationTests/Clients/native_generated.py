"""Generates a client of the native API from /openapi.json with openapi-python-client, then registers a device, sends to it, and reads the deliveries.

usage: native_generated.py BASE DIRECTORY, an API key in GATEWAY_KEY. Prints the number of generated operations and the delivery's state.
"""

import importlib
import json
import os
import pathlib
import subprocess
import sys
import time
import urllib.request


def generate(base: str, directory: pathlib.Path) -> int:
    """Writes the package `gateway_client` and returns the number of its operations."""
    document = directory / "openapi.json"
    with urllib.request.urlopen(base + "/openapi.json", timeout=10) as answer:
        document.write_bytes(answer.read())
    config = directory / "generator.json"
    config.write_text(json.dumps({"package_name_override": "gateway_client", "post_hooks": []}))
    command = [sys.executable, "-m", "openapi_python_client", "generate", "--path", str(document), "--meta", "none"]
    command += ["--config", str(config), "--output-path", str(directory / "gateway_client")]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        sys.exit(f"openapi-python-client: {result.stdout}{result.stderr}")
    sys.path.insert(0, str(directory))
    modules = [path for path in (directory / "gateway_client" / "api").glob("*/*.py") if path.name != "__init__.py"]
    return len(modules)


def main() -> None:
    base, directory = sys.argv[1], pathlib.Path(sys.argv[2])
    directory.mkdir(parents=True, exist_ok=True)
    count = generate(base, directory)
    client_module = importlib.import_module("gateway_client")
    models = importlib.import_module("gateway_client.models")
    client = client_module.AuthenticatedClient(base_url=base, token=os.environ["GATEWAY_KEY"])

    def operation(tag: str, name: str):
        return importlib.import_module(f"gateway_client.api.{tag}.{name}")

    token = "ab" * 32
    registration = models.RegisterDeviceRequest.from_dict(
        {"app": "shop", "platform": "ios", "environment": "production", "key": "generated-1", "token": token}
    )
    registered = operation("devices", "register_device").sync_detailed(client=client, body=registration)
    assert registered.status_code == 201, registered
    message = models.SendMessageRequest.from_dict({"app": "shop", "to": {"keys": ["generated-1"]}, "body": "Hello"})
    sent = operation("messages", "send_message").sync_detailed(client=client, body=message)
    assert sent.status_code == 202 and sent.parsed.recipients == 1, sent
    deliveries = []
    for _ in range(200):
        page = operation("messages", "list_deliveries").sync(str(sent.parsed.id), client=client)
        deliveries = page.deliveries
        if deliveries:
            break
        time.sleep(0.05)
    assert len(deliveries) == 1, deliveries
    delivery = deliveries[0]
    assert str(delivery.device) == str(registered.parsed.id), (delivery, registered.parsed)
    found = operation("devices", "list_devices").sync(client=client, key="generated-1")
    assert [str(device.id) for device in found.devices] == [str(registered.parsed.id)], found
    unknown = operation("messages", "show_message").sync_detailed("none", client=client)
    assert unknown.status_code == 404 and unknown.parsed.code == "PG-1005", unknown
    print(json.dumps({"operations": count, "state": str(delivery.state), "sentAt": delivery.sent_at.isoformat()}))


if __name__ == "__main__":
    main()
