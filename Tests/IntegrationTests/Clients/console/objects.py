"""Objects of operations which the pages show: an upstream, an app with rules, a migration, a webhook, a capture, and a reason of failures."""

import gateway

UPSTREAM = "old-upmc"
ROLLED = "rolled"
MOVED = "moved"
MIGRATION = "leave-upmc"
# The number of samples that a gate needs (docs/migrating.md).
NEEDED = 200


def upstream(*apps: str) -> None:
    """A vendor's service that is never called, and apps with its binding."""
    gateway.need("PUT", f"/v1/credentials/{UPSTREAM}", {"kind": "upstream-upmc", "url": "https://push.example.com"}, key=gateway.ADMIN)
    for app in apps:
        settings = {
            "platforms": {"ios": {"topic": "com.example.shop", "production": "apple"}},
            "bindings": {"upmc": {"applicationId": f"com.example.{app}", "version": "5.1"}},
        }
        gateway.need("PUT", f"/v1/apps/{app}", settings, key=gateway.ADMIN)


def overlay(percent: int) -> dict:
    """Sends of a share of the users are served, and leave to APNs; the others are the vendor's."""
    rollout = {"percent": percent, "by": "user", "salt": "spring"}
    return {
        "calls": [{"kinds": ["send"], "rollout": rollout, "action": "serve"}, {"kinds": ["send"], "action": "proxy", "upstream": UPSTREAM}],
        "deliveries": [{"rollout": rollout, "paths": ["apns"]}, {"paths": [UPSTREAM]}],
    }


def migration() -> None:
    """A migration whose first step is over at once and has no samples."""
    upstream(MOVED)
    if gateway.call("GET", f"/v1/migrations/{MIGRATION}", key=gateway.ADMIN)[0] == 200:
        return
    later = {"failures": "<= 0.02", "p99": "<= 2s", "receipts": "none", "unknown": "<= 0.001"}
    plan = {
        "migration": {"id": MIGRATION, "app": MOVED, "from": UPSTREAM, "by": "user", "onGateFailure": "rollback"},
        "steps": [
            {"stage": "observe", "for": "1s", "gates": {"observed": ">= 0.999", "responses": ">= 0.99", "senders": ">= 1"}},
            {"stage": "serve", "for": "1d", "gates": {"optOuts": ">= 0", "devices": "<= 0.5%", "reach": ">= 0.995", "payload": "<= 0.001"}},
            {"stage": "rollout", "percent": 100, "for": "1d", "gates": later},
            {"stage": "hold", "for": "14d", "gates": {"failures": "<= 0.02"}},
            {"stage": "complete"},
        ],
    }
    gateway.need("POST", "/v1/migrations", plan, key=gateway.ADMIN)
    gateway.need("POST", f"/v1/migrations/{MIGRATION}/start", key=gateway.ADMIN)


def webhook() -> str:
    hook = {"url": "https://hooks.example.com/push", "active": False}
    known = gateway.need("GET", "/v1/webhooks", key=gateway.ADMIN)["webhooks"]
    return known[0]["id"] if known else gateway.need("POST", "/v1/webhooks", hook, key=gateway.ADMIN)["id"]


def capture() -> str:
    """A capture of the calls of a vendor's SDK, which is over."""
    recording = {"app": gateway.APP, "vendor": "rationalowl", "minutes": 60}
    started = gateway.need("POST", "/v1/captures", recording, key=gateway.ADMIN)["id"]
    gateway.need("POST", f"/v1/captures/{started}/stop", key=gateway.ADMIN)
    return started


def failure() -> str:
    """A reason of failed deliveries."""
    reason = "BadDeviceToken"
    name = "u-failed"
    device = {"app": gateway.APP, "platform": "ios", "environment": "production", "token": gateway.token(name), "key": name, "user": name}
    found = gateway.need("POST", "/v1/devices", device)["id"]
    gateway.script({"token": gateway.token(name), "status": 400, "reason": reason})
    body = {"app": gateway.APP, "to": {"devices": [found]}, "title": "실패하는 메시지", "body": "x"}
    gateway.settled(gateway.need("POST", "/v1/messages", body)["id"])
    return reason


def paths(seeded: dict | None = None) -> dict[str, str]:
    """One address of each page about an object, by the pattern of the page."""
    message = (seeded or gateway.seed())["message"]
    target = gateway.need("GET", f"/v1/messages/{message}/deliveries?limit=1")["deliveries"][0]
    migration()
    return {
        "messages/{message}": f"messages/{message}",
        "messages/{message}/deliveries": f"messages/{message}/deliveries",
        "messages/{message}/deliveries/{target}": f"messages/{message}/deliveries/{target['target']}",
        "compose/sent/{message}": f"compose/sent/{message}",
        "templates/{app}/{template}": f"templates/{gateway.APP}/winter",
        "failures/{reason}": f"failures/{failure()}",
        "devices/{device}": f"devices/{target['device']}",
        "devices/{device}/diagnosis": f"devices/{target['device']}/diagnosis",
        "users/{user}": f"users/{gateway.USERS[0]}",
        "groups/{group}": f"groups/{gateway.GROUP}",
        "apps/{app}": f"apps/{gateway.APP}",
        "apps/{app}/parity": f"apps/{MOVED}/parity",
        "apps/{app}/routes": f"apps/{MOVED}/routes",
        "migrations/{migration}": f"migrations/{MIGRATION}",
        "credentials/{credential}": "credentials/apple",
        "webhooks/{webhook}": f"webhooks/{webhook()}",
        "captures/{capture}": f"captures/{capture()}",
        "keys/{key}": "keys/backend",
    }
