"""Notification Hubs: installations and registrations of apps, sends of a back end by tags, directly, in a batch and scheduled, cancelling, telemetry."""

import base64
import hashlib
import hmac
import time
from datetime import timedelta
from urllib.parse import quote

from .script import Script

ATOM = (
    '<?xml version="1.0" encoding="utf-8"?><entry xmlns="http://www.w3.org/2005/Atom"><content type="application/xml"><{kind} '
    'xmlns="http://schemas.microsoft.com/netservices/2010/10/servicebus/connect" xmlns:i="http://www.w3.org/2001/XMLSchema-instance">{inner}</{kind}>'
    "</content></entry>"
)


def play(script: Script, settings: dict[str, str]) -> None:
    hub = settings.get("hub", "hub1")
    full = (settings.get("fullName", "DefaultFullSharedAccessSignature"), settings.get("fullKey", "ZmFrZS1rZXktZm9yLXRlc3RzLW9ubHktMDEyMzQ1Njc="))
    listen = (settings.get("listenName", "DefaultListenSharedAccessSignature"), settings.get("listenKey", "ZmFrZS1saXN0ZW4ta2V5LWZvci10ZXN0cy1vbmx5LTAxMjM="))
    one, two = script.uuid("installation one").lower(), script.uuid("installation two").lower()
    expiry = int(max(time.time(), script.at.timestamp())) + 1200

    def signed(rule: tuple[str, str], expires: int = expiry) -> str:
        resource = quote(f"http://{script.host.partition(':')[0]}/{hub}/".lower(), safe="").lower()
        signature = base64.b64encode(hmac.new(rule[1].encode(), f"{resource}\n{expires}".encode(), hashlib.sha256).digest()).decode()
        return f"SharedAccessSignature sr={resource}&sig={quote(signature, safe='')}&se={expires}&skn={rule[0]}"

    def call(name: str, method: str, path: str, body=None, rule: tuple[str, str] = full, version: str = "2017-04", more: str = "", **headers):
        own = {"Authorization": signed(rule)} | {k.replace("_", "-"): v for k, v in headers.items()}
        return script.call(name, method, f"/{hub}/{path}?api-version={version}{more}", own, body)

    def last(answer) -> str:
        return answer.header("location").partition("?")[0].rpartition("/")[2]

    script.call("shows no signature", "GET", f"/{hub}/installations/{one}?api-version=2020-06")
    call("shows a wrong signature", "GET", f"installations/{one}", rule=(full[0], "wrong"))
    script.call("shows an expired signature", "GET", f"/{hub}/installations/{one}?api-version=2020-06", {"Authorization": signed(full, 1_000_000_000)})
    template = {"news": {"body": '{"aps":{"alert":"$(title)"}}', "headers": {"apns-priority": "10"}}}
    app = {"installationId": one, "platform": "apns", "pushChannel": script.token("one").upper(), "userId": "u-1", "tags": ["seoul", "shop:vip"], "templates": template}
    call("installs", "PUT", f"installations/{one}", app, listen, "2020-06")
    call("refreshes the token", "PUT", f"installations/{one}", app | {"pushChannel": script.token("one again").upper()}, listen, "2020-06")
    call("installs a second device", "PUT", f"installations/{two}", {"installationId": two, "platform": "apns", "pushChannel": script.token("two"), "userId": "u-1"}, listen)
    call("installs a broken token", "PUT", f"installations/{two}", {"platform": "apns", "pushChannel": "zz"}, listen)
    call("reads the installation", "GET", f"installations/{one}", None, listen, "2020-06")
    call("reads an unknown installation", "GET", "installations/unknown", None, listen, "2020-06")
    steps = [{"op": "add", "path": "/tags", "value": "busan"}, {"op": "remove", "path": "/tags/seoul"}, {"op": "replace", "path": "/userId", "value": "u-2"}]
    call("changes the installation", "PATCH", f"installations/{one}", steps, full, "2020-06", Content_Type="application/json-patch+json")
    call("changes a wrong path", "PATCH", f"installations/{one}", [{"op": "add", "path": "/colour", "value": "red"}], full, "2020-06")

    number = last(call("asks for a registration id", "POST", "registrationids", None, listen))
    entry = {"Content_Type": "application/atom+xml;type=entry;charset=utf-8"}
    inner = f"<Tags>seoul,shop:vip</Tags><DeviceToken>{script.token('three').upper()}</DeviceToken>"
    body = ATOM.replace("{kind}", "AppleRegistrationDescription").replace("{inner}", inner)
    call("registers", "PUT", f"registrations/{number}", body, listen, **entry)
    call("refreshes the registration", "PUT", f"registrations/{number}", body.replace("seoul,", "busan,"), listen, If_Match="*", **entry)
    call("registers over another version", "PUT", f"registrations/{number}", body, listen, If_Match='"7"', **entry)
    inner = f"<Tags>seoul</Tags><DeviceToken>{script.token('four').upper()}</DeviceToken>"
    inner += '<BodyTemplate><![CDATA[{"aps":{"alert":"{ \'Hi \' + $(name:{friend}) }"}}]]></BodyTemplate><TemplateName>news</TemplateName>'
    body = ATOM.replace("{kind}", "AppleTemplateRegistrationDescription").replace("{inner}", inner)
    made = call("registers a template", "POST", "registrations", body, listen, **entry)
    other = made.header("content-location").partition("?")[0].rpartition("/")[2]
    call("reads the registration", "GET", f"registrations/{number}", None, listen)
    call("reads an unknown registration", "GET", "registrations/1-2-3", None, listen)
    call("finds by token", "GET", "registrations", None, listen, more=f"&$filter=deviceToken+eq+'{script.token('three').upper()}'")
    call("lists the first page", "GET", "registrations", None, full, more="&$top=2")
    call("lists by tag", "GET", "tags/seoul/registrations")

    native = {"ServiceBusNotification_Format": "apple", "Content_Type": "application/json;charset=utf-8"}
    alert = '{"aps":{"alert":"Sale today","sound":"default"}}'
    call("sends by tag", "POST", "messages/", alert, ServiceBusNotification_Tags="busan || shop:none", **native)
    call("sends to a user", "POST", "messages/", alert, ServiceBusNotification_Tags="$UserId:{u-1}", **native)
    nobody = last(call("sends to nobody", "POST", "messages/", alert, ServiceBusNotification_Tags="nowhere", **native))
    call("sends a wrong expression", "POST", "messages/", alert, ServiceBusNotification_Tags="seoul && && vip", **native)
    call("sends with the listen key", "POST", "messages/", alert, listen, **native)
    call("sends an unknown format", "POST", "messages/", alert, **(native | {"ServiceBusNotification_Format": "pigeon"}))
    call("sends directly", "POST", "messages/", alert, more="&direct", ServiceBusNotification_DeviceHandle=script.token("two"), **native)
    call("sends as a test", "POST", "messages/", alert, more="&test", ServiceBusNotification_Tags="$UserId:{u-1}", **native)
    call("sends by template", "POST", "messages/", {"name": "Mina", "title": "News"}, ServiceBusNotification_Tags="news", ServiceBusNotification_Format="template")
    parts = "--nh-batch-multipart-boundary\r\nContent-Type: application/json; charset=utf-8\r\nContent-Disposition: inline; name=notification\r\n\r\n" + alert
    parts += "\r\n--nh-batch-multipart-boundary\r\nContent-Type: application/json; charset=utf-8\r\nContent-Disposition: inline; name=devices\r\n\r\n"
    parts += f'["{script.token("one again")}","{script.token("three")}"]\r\n--nh-batch-multipart-boundary--'
    kind = {"ServiceBusNotification_Format": "apple", "Content_Type": 'multipart/mixed; boundary="nh-batch-multipart-boundary"'}
    call("sends a batch", "POST", "messages/$batch", parts, more="&direct", **kind)
    call("reads telemetry", "GET", f"messages/{nobody}", None, full, "2016-07")
    later, soon = ((script.at + delta).strftime("%Y-%m-%dT%H:%M:%S") for delta in (timedelta(hours=1), timedelta(minutes=1)))
    planned = last(call("schedules", "POST", "schedulednotifications", alert, ServiceBusNotification_Tags="busan", ServiceBusNotification_ScheduleTime=later, **native))
    call("schedules too soon", "POST", "schedulednotifications", alert, ServiceBusNotification_Tags="busan", ServiceBusNotification_ScheduleTime=soon, **native)
    call("cancels", "DELETE", f"schedulednotifications/{planned}")

    call("removes the registration", "DELETE", f"registrations/{number}", None, listen, If_Match="*")
    call("registers what is gone", "PUT", f"registrations/{number}", body, listen, **entry)
    call("removes the template", "DELETE", f"registrations/{other}", None, listen, If_Match="*")
    call("uninstalls", "DELETE", f"installations/{one}", None, listen)
    call("uninstalls again", "DELETE", f"installations/{one}", None, listen)
    script.call("calls another hub", "GET", "/hub9/installations/x?api-version=2020-06", {"Authorization": signed(full)})
