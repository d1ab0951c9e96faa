"""Sends with notificationhubs-rest-python, a third-party client of Azure Notification Hubs, unchanged: only its connection string is set.

usage: hubs_rest.py HUB HANDLE, the connection string in HUB_CONNECTION; one JSON object per send on standard output.
Trust comes from REQUESTS_CA_BUNDLE.
"""

import contextlib
import datetime
import io
import json
import os
import re
import sys

from notificationhubs_rest_python.NotificationHub import AzureNotificationHub


def report(name: str, send) -> None:
    """Prints the result of one send: the status from the client, or its error."""
    try:
        status, headers = send()
        print(json.dumps({"name": name, "status": status, "schedule": headers.get("ServiceBusNotification-ScheduleTime")}))
    except Exception as error:
        print(json.dumps({"name": name, "error": str(error)}))


def main() -> None:
    hub, handle = sys.argv[1:3]
    connection = os.environ["HUB_CONNECTION"]
    client = AzureNotificationHub(connection, hub)

    def alert(text: str) -> dict:
        return {"aps": {"alert": text}}

    report("expression", lambda: client.send_apple_notification(False, alert("by expression"), tags="cseoul && !cbusan"))
    # The client joins a set of tags.
    report("set", lambda: client.send_apple_notification(False, alert("by set"), tags={"cseoul", "cbusan"}))
    report("direct", lambda: client.send_apple_notification(True, alert("direct"), device_handle=handle))
    report("template", lambda: client.send_template_notification({"title": "Sale", "count": "3"}, tags="cseoul"))
    report("nobody", lambda: client.send_apple_notification(False, alert("nobody"), tags="cnobody"))
    later = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(minutes=10)
    report("later", lambda: client.send_apple_notification(False, alert("later"), tags="cseoul", scheduled_time=later))
    report("laterTemplate", lambda: client.send_template_notification({"title": "x"}, tags="cseoul", scheduled_time=later))
    soon = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(minutes=3)
    report("soon", lambda: client.send_apple_notification(False, alert("soon"), tags="cseoul", scheduled_time=soon))
    report("syntax", lambda: client.send_apple_notification(False, alert("x"), tags="cseoul && && cbusan"))
    report("android", lambda: client.send_google_notification(False, {"data": {}}, tags="cseoul"))

    # The client keeps its settings in its class, so the last instance sets them for all.
    stranger = AzureNotificationHub(re.sub(r"SharedAccessKey=.*", "SharedAccessKey=another key altogether", connection), hub)
    report("stranger", lambda: stranger.send_apple_notification(False, alert("no"), tags="cseoul"))


main()
