The metrics `listener_connections_open` and `listener_connections_allowed` of each listener, with a panel, the alert `PushGatewayListenerFull` and its runbook.
