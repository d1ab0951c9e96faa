package import Metrics

/// The names of all metrics except the delivery engine's own (`EngineMetrics.Name`).
///
/// `docs/operations.md` explains each metric; a test compares the two, and the dashboards and alerts of `ops/` with both.
package enum MetricName: String, CaseIterable {
    // Calls.
    case vendorCalls = "vendor_calls_total"
    case nativeCalls = "native_calls_total"
    case callsLimited = "calls_limited_total"
    case quotaRefusals = "quota_refusals_total"
    case proofsRefused = "proofs_refused_total"
    case routesUnread = "routes_unread_total"
    case capturedExchanges = "captured_exchanges_total"
    case capturesDropped = "captured_exchanges_dropped_total"
    case traceSpans = "trace_spans_total"

    // Connections of clients.
    case listenerConnectionsOpen = "listener_connections_open"
    case listenerConnectionsAllowed = "listener_connections_allowed"

    // The web console.
    case consolePages = "console_pages_total"
    case consolePageSeconds = "console_page_seconds"
    case consoleSignIns = "console_sign_ins_total"
    case consoleLivePages = "console_live_pages"

    // Calls to upstreams.
    case upstreamCalls = "upstream_calls_total"
    case upstreamSeconds = "upstream_seconds"
    case upstreamRemembered = "upstream_remembered_total"
    case proxiedUnread = "proxied_unread_total"
    case observed = "observed_total"
    case observedLost = "observed_lost_total"
    case observedSends = "observed_sends_total"
    case parity = "parity_total"

    // Connections to Apple.
    case apnsReachable = "apns_reachable"
    case apnsConnections = "apns_connections"
    case apnsStreamsInUse = "apns_streams_in_use"
    case apnsStreamsAllowed = "apns_streams_allowed"
    case apnsWaiting = "apns_waiting"
    case apnsOldestWait = "apns_oldest_wait_milliseconds"
    case apnsDials = "apns_dials"
    case apnsHandshakes = "apns_handshakes"
    case apnsProviderTokens = "apns_provider_tokens"
    case apnsDialFailures = "apns_dial_failures"
    case apnsGoAways = "apns_goaways"

    // Credentials and tokens.
    case credentialDays = "credential_days_to_expiry"
    case refusedCredentials = "delivery_credentials_refused"
    case refusedTopics = "delivery_topics_refused"
    case doubtfulApps = "delivery_apps_doubtful"

    // The queue in the database: the same values on every node.
    case queueAge = "delivery_queue_age_seconds"
    case slicesDue = "delivery_slices_due"
    case slicesGivenUp = "delivery_slices_given_up"
    case nodesAlive = "delivery_nodes_alive"
    case credentialsStopped = "credentials_stopped"

    // Outgoing calls.
    case callbacks = "callbacks_total"
    case callbacksWaiting = "callbacks_waiting_total"
    case callbacksLag = "callbacks_lag_events"
    case callbacksLagSeconds = "callbacks_lag_seconds"
    case callbacksFailing = "callbacks_failing"
    case callbacksFailingSeconds = "callbacks_failing_seconds"
    case callbacksStopped = "callbacks_stopped"

    // Forwarded calls.
    case outboxCalls = "outbox_calls_total"
    case outboxLeftOut = "outbox_left_out_total"
    case outboxWaiting = "outbox_waiting"
    case outboxOldest = "outbox_oldest_seconds"
    case outboxFull = "outbox_full"

    // Migrations of apps from their vendors.
    case migrationsByStatus = "migrations_by_status"
    case migrationGateFailures = "migration_gate_failures_total"

    // The event reader.
    case readerLag = "analytics_lag_events"
    case readerLagSeconds = "analytics_lag_seconds"
    case readerLost = "analytics_lost_events"
    case readerSteps = "analytics_steps_total"

    // The database.
    case databaseConnections = "database_connections_open"
    case databaseWaiting = "database_waiting"
    case oldestTransaction = "database_oldest_transaction_seconds"
    case xminAge = "database_xmin_age"
    case seesAllSessions = "database_sees_all_sessions"
    case defaultPartitionRows = "database_default_partition_rows"
    case partitionWeeksAhead = "database_partition_weeks_ahead"
    case sampleAge = "database_sample_age_seconds"

    // Copies of the audit.
    case auditLagRows = "audit_copy_lag_rows"
    case auditLagSeconds = "audit_copy_lag_seconds"

    // Maintenance: set by the node that does it.
    case maintenanceRows = "maintenance_rows_total"
    case maintenanceFailures = "maintenance_failures_total"
    case maintenanceChangesWaiting = "maintenance_changes_waiting"
    case maintenanceUnfinished = "maintenance_unfinished"
    case maintenanceSeconds = "maintenance_round_seconds"
    case countsDrift = "counts_drift"

    /// A counter of this process.
    package func counter(_ labels: [(String, String)] = []) -> Counter { Counter(label: rawValue, dimensions: labels) }

    /// A histogram of times. The registry adds the unit to the name.
    package func timer(_ labels: [(String, String)]) -> Timer {
        Timer(label: rawValue.hasSuffix("_seconds") ? String(rawValue.dropLast(8)) : rawValue, dimensions: labels)
    }

    /// Adds to a counter, for events that are too rare to keep the counter.
    package func count(_ labels: [(String, String)], by count: Int = 1) { counter(labels).increment(by: count) }

    /// A gauge: a value that goes up and down.
    package func meter(_ labels: [(String, String)] = []) -> Meter { Meter(label: rawValue, dimensions: labels) }
}
