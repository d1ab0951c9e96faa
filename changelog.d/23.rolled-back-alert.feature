The alert `PushGatewayMigrationRolledBack` reports that a gate or an operator has rolled a migration back. With `onGateFailure: rollback`, no alert reported a failed gate.
