"""Sends pushes with aioapns, a third-party APNs client, unchanged: only its host and port are set.

usage: aioapns_send.py HOST PORT KEY.p8 KEY_ID TEAM_ID TOPIC, then one JSON object per line on standard input:
{"token": "...", "message": {...}, "priority": 10, "push_type": "alert"}; one JSON object per answer on standard output.
Trust comes from SSL_CERT_FILE.
"""

import asyncio
import json
import sys


async def main() -> None:
    host, port, key, key_id, team_id, topic = sys.argv[1:7]

    from aioapns import APNs, NotificationRequest, PushType
    from aioapns.connection import APNsProductionClientProtocol, APNsTLSClientProtocol

    APNsProductionClientProtocol.APNS_SERVER = host
    APNsTLSClientProtocol.APNS_PORT = int(port)

    client = APNs(key=key, key_id=key_id, team_id=team_id, topic=topic, max_connection_attempts=1)
    for line in sys.stdin:
        push = json.loads(line)
        kind = push.get("push_type")
        request = NotificationRequest(
            device_token=push["token"],
            message=push["message"],
            priority=push.get("priority"),
            push_type=PushType(kind) if kind else None,
        )
        answer = await asyncio.wait_for(client.send_notification(request), 20)
        print(
            json.dumps(
                {
                    "id": request.notification_id,
                    "status": answer.status,
                    "reason": answer.description,
                    "timestamp": getattr(answer, "timestamp", None),
                }
            ),
            flush=True,
        )
    client.pool.close()


asyncio.run(main())
