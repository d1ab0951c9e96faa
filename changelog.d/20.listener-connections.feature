The metrics `listener_connections_open` and `listener_connections_allowed`, with a panel, the alert `PushGatewayListenerFull` and its runbook.
