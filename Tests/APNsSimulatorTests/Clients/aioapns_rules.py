"""Sends pushes with aioapns, a third-party APNs client, unchanged: only its host, port and token lifetime are set, which are class attributes.

usage: aioapns_rules.py HOST PORT, then one JSON object per line on standard input:
{"client": {"key", "key_id", "team_id", "topic"} or {"client_cert", "topic"}, "token_ttl": 1800, "times": 1,
 "push": {"token", "message", "id", "ttl", "priority", "collapse", "type"}}.
Each line gets its own client and connection. The answer to its last push is one JSON object per line on standard output, or {"lost": true}.
Trust comes from SSL_CERT_FILE.
"""

import asyncio
import json
import sys
from types import SimpleNamespace


async def main() -> None:
    from aioapns import APNs, NotificationRequest
    from aioapns.connection import (
        APNsProductionClientProtocol,
        APNsTLSClientProtocol,
        JWTAuthorizationHeaderProvider,
    )

    APNsProductionClientProtocol.APNS_SERVER = sys.argv[1]
    APNsTLSClientProtocol.APNS_PORT = int(sys.argv[2])

    for line in sys.stdin:
        row = json.loads(line)
        JWTAuthorizationHeaderProvider.TOKEN_TTL = row.get("token_ttl", 1800)
        client = APNs(max_connections=1, max_connection_attempts=1, **row["client"])
        push = row["push"]
        answer = {"lost": True}
        for _ in range(row.get("times", 1)):
            request = NotificationRequest(
                device_token=push["token"],
                message=push["message"],
                notification_id=push.get("id"),
                time_to_live=push.get("ttl"),
                priority=push.get("priority"),
                collapse_key=push.get("collapse"),
                push_type=SimpleNamespace(value=push["type"]) if "type" in push else None,
            )
            try:
                result = await asyncio.wait_for(client.send_notification(request), 20)
                answer = {"status": int(result.status), "reason": result.description}
            except Exception:
                answer = {"lost": True}
        print(json.dumps(answer), flush=True)
        client.pool.close()


asyncio.run(main())
