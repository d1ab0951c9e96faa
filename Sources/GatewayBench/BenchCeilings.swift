import APNs
import ApplePayload
import CommandSupport
import DeliveryEngine
import Foundation
import Gateway
import Model
import NIOConcurrencyHelpers

/// Measures upper bounds of the throughput on the same machine in the same run.
struct BenchCeilings {
    let stage: BenchStage
    /// The size of a batch equals that of a slice. Enough batches run at once to keep every stream busy.
    private static let batchCount = 500
    private static let senderCount = 4

    // MARK: The APNs core

    /// Measures the pushes per second of the core alone, with one payload, against the same server.
    ///
    /// - Throws: the error of the key or the network.
    func apnsCore(pushes total: Int) async throws -> Double {
        let key = CredentialKey(tenant: BenchStage.tenant, credential: "bench")
        let transport = try APNsTransport(tokens: SelfSignedTokens(clock: DatabaseClock()))
        let running = Task { await transport.run() }
        try transport.open(
            key,
            APNsCredential(
                teamID: StageMaterial.teamID,
                keyID: StageMaterial.keyID,
                privateKeyPEM: try bytes("AuthKey_\(StageMaterial.keyID).p8"),
                endpoint: try APNsEndpoint(url: "https://\(stage.peerAddress)"),
                trustRootsPEM: try bytes("simulator-ca.pem")
            )
        )
        let payload = try APNsPayload(Aps(alert: .detailed(AlertContent(body: "run 1")))).push()
        // The first batch opens the connections and is not counted.
        _ = await Self.send(Self.batchCount, over: transport, key, payload)
        let next = NIOLockedValueBox(0)
        let started = ContinuousClock.now
        let accepted = await withTaskGroup(of: Int.self) { group in
            for _ in 0..<Self.senderCount {
                group.addTask {
                    var accepted = 0
                    while true {
                        let count = next.withLockedValue { next in
                            defer { next += Self.batchCount }
                            return min(Self.batchCount, total - next)
                        }
                        guard count > 0 else { return accepted }
                        accepted += await Self.send(count, over: transport, key, payload)
                    }
                }
            }
            return await group.reduce(0, +)
        }
        let seconds = (ContinuousClock.now - started) / .seconds(1)
        await transport.shutdown(deadline: .seconds(1))
        await running.value
        guard accepted == total else {
            throw StageFailure("only \(accepted) of \(total) pushes of the core were accepted")
        }
        return Double(total) / seconds
    }

    private static func send(_ count: Int, over transport: APNsTransport, _ key: CredentialKey, _ payload: PushPayload)
        async -> Int
    {
        let identifiers = SystemIdentifiers()
        let pushes = (0..<count).map { slot in
            Push(
                slot: slot,
                token: DeviceToken(stored: identifiers.randomHex(byteCount: 32)),
                environment: .production,
                topic: StageMaterial.topic,
                id: PushID(UUID()),
                payload: payload,
                expiresAt: nil
            )
        }
        var accepted = 0
        for await batch in transport.send(pushes, through: key, deadline: .seconds(30)) {
            accepted += batch.count { if case .accepted = $0.outcome { true } else { false } }
        }
        return accepted
    }

    private func bytes(_ name: String) throws -> [UInt8] {
        Array(try Data(contentsOf: URL(fileURLWithPath: stage.material.path(name))))
    }

    // MARK: COPY

    /// Measures the rows per second of COPY: a row and an event per delivery, with the indexes of the delivery, and with the columns and indexes of an event
    /// log that has one row per event. So results stay comparable when the log changes.
    ///
    /// - Throws: `StageFailure` when `psql` is missing or fails.
    func copy(of count: Int) async throws -> Double {
        let files = (stage.material.path("delivery.copy"), stage.material.path("event.copy"))
        try await stage.psql(
            """
            \\copy (SELECT d.* FROM gateway.delivery d ORDER BY d.message_id DESC LIMIT \(count)) TO '\(files.0)' (FORMAT binary)
            \\copy (SELECT e.* FROM gateway.event e ORDER BY e.position DESC LIMIT \(count)) TO '\(files.1)' (FORMAT binary)
            CREATE SCHEMA bench;
            CREATE TABLE bench.delivery (LIKE gateway.delivery INCLUDING ALL) WITH (fillfactor = 75);
            CREATE TABLE bench.event (tenant_id text NOT NULL, position bigint NOT NULL, at timestamptz NOT NULL, kind text NOT NULL,
                app_id text NOT NULL, vendor text, sender_id text, message_id uuid, target_id uuid, due_day integer, data json,
                identity_id uuid, device_id uuid, PRIMARY KEY (tenant_id, position));
            CREATE INDEX ON bench.event (tenant_id, app_id, vendor, sender_id, position) WHERE sender_id IS NOT NULL;
            """
        )
        let started = ContinuousClock.now
        try await stage.psql(
            """
            \\copy bench.delivery FROM '\(files.0)' (FORMAT binary)
            \\copy bench.event FROM '\(files.1)' (FORMAT binary)
            """
        )
        return Double(count) / ((ContinuousClock.now - started) / .seconds(1))
    }
}
