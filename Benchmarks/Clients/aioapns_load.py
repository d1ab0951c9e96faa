"""Sends pushes with aioapns, somebody else's APNs client, as fast as it can; only its host and port are set.

usage: aioapns_load.py HOST PORT KEY.p8 CONNECTIONS REQUESTS BODY_BYTES
Prints one line of JSON as apns-bench does. Trust comes from SSL_CERT_FILE.
"""

import asyncio
import json
import sys
import time
import uuid

# Enough to keep its connections busy; more only grows its queues.
TASKS_PER_CONNECTION = 200


async def main() -> None:
    host, port, key = sys.argv[1:4]
    connections, requests, body_bytes = (int(word) for word in sys.argv[4:7])

    from aioapns import APNs, NotificationRequest, PushType
    from aioapns.connection import APNsProductionClientProtocol, APNsTLSClientProtocol

    APNsProductionClientProtocol.APNS_SERVER = host
    APNsTLSClientProtocol.APNS_PORT = int(port)

    client = APNs(
        key=key,
        key_id="ABCDE12345",
        team_id="TEAM123456",
        topic="com.example.shop",
        max_connections=connections,
        max_connection_attempts=3,
    )
    # It writes a blank behind each colon and comma.
    alert = "x" * max(0, body_bytes - len(json.dumps({"aps": {"alert": ""}})))
    numbers = iter(range(requests))
    counts: dict[str, int] = {}

    async def work() -> None:
        for number in numbers:
            request = NotificationRequest(
                device_token=f"{number:064x}",
                message={"aps": {"alert": alert}},
                notification_id=str(uuid.uuid4()),
                priority=10,
                push_type=PushType.ALERT,
            )
            answer = await client.send_notification(request)
            counts[answer.status] = counts.get(answer.status, 0) + 1

    start = time.perf_counter()
    await asyncio.gather(*(work() for _ in range(TASKS_PER_CONNECTION * connections)))
    seconds = time.perf_counter() - start
    client.pool.close()
    accepted = counts.pop("200", 0)
    print(json.dumps({"accepted": accepted, "seconds": seconds, "perSecond": accepted / seconds, "others": counts}))


asyncio.run(main())
