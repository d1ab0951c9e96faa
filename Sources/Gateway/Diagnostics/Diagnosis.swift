import APNs
import EngineStore
import Model
package import Secrets

/// The checks behind `/readyz` and `doctor`.
package struct Diagnosis: Sendable {
    let database: Database
    let keyRing: KeyRing

    package init(database: Database, keyRing: KeyRing) {
        self.database = database
        self.keyRing = keyRing
    }

    /// The settings that invariant I1 requires; other values lose accepted messages in a power failure.
    private static let durable = ["fsync": "on", "full_page_writes": "on"]

    package func readiness() async -> Readiness {
        var checks: [Readiness.Check] = []
        do {
            let store = PostgresStatusStore(engine: database.engine)
            let settings = try await store.settings()
            checks.append(
                .init(
                    name: "database",
                    isFine: true,
                    isVital: true,
                    detail: database.isEmbedded
                        ? "embedded PostgreSQL \(settings["server_version"] ?? "?"): for evaluation and small installations"
                        : "PostgreSQL \(settings["server_version"] ?? "?")"
                )
            )
            checks += Self.durability(settings)
            let status = try await store.status()
            checks += Self.state(status)
            checks += await credentials(at: status.now)
        } catch {
            checks.append(.init(name: "database", isFine: false, isVital: true, detail: "\(error)"))
        }
        return Readiness(checks: checks)
    }

    private static func durability(_ settings: [String: String]) -> [Readiness.Check] {
        var wrong = durable.filter { settings[$0.key] != $0.value }.map { "\($0.key) is \(settings[$0.key] ?? "?")" }
        if settings["synchronous_commit"] == "off" { wrong.append("synchronous_commit is off") }
        return [
            .init(
                name: "durability",
                isFine: wrong.isEmpty,
                isVital: false,
                detail: wrong.isEmpty
                    ? "fsync, full_page_writes and synchronous_commit are on" : wrong.sorted().joined(separator: ", ")
            )
        ]
    }

    private static func state(_ status: StoreStatus) -> [Readiness.Check] {
        let stopped = status.stoppedCredentials.map { "\($0.key.tenant)/\($0.key.credential): \($0.reason)" }
        return [
            .init(
                name: "credentials accepted",
                isFine: stopped.isEmpty,
                isVital: false,
                detail: stopped.isEmpty ? "no push service refuses a credential" : stopped.joined(separator: "; ")
            ),
            .init(
                name: "partitions",
                isFine: status.defaultPartitionRows == 0,
                isVital: false,
                detail: status.defaultPartitionRows == 0
                    ? "every delivery is in the partition of its week"
                    : "\(status.defaultPartitionRows) deliveries are outside the prepared weekly partitions"
            ),
        ]
    }

    private static func words(of preflight: CredentialPreflight) -> String {
        let findings = preflight.findings.map(\.description).joined(separator: "; ")
        let expiry = preflight.daysToExpiry.map { "valid for \($0) days" } ?? "the key signs"
        return findings.isEmpty ? expiry : findings
    }

    private func credentials(at now: Timestamp) async -> [Readiness.Check] {
        let directory = PostgresDirectory(call: database.call, engine: database.engine)
        guard let stored = try? await directory.credentials(), let assignments = try? await directory.assignments()
        else { return [] }
        return stored.map { credential in
            let name = "credential \(credential.key.tenant)/\(credential.key.credential)"
            let uses = assignments.filter { $0.key == credential.key }
                .map { CredentialUse(topic: $0.topic, environment: $0.environment) }
            do {
                if try CredentialSecret.openUpstream(credential, with: keyRing) != nil {
                    return .init(name: name, isFine: true, isVital: false, detail: "an upstream; doctor calls it")
                }
                let preflight = try CredentialSecret.open(credential, with: keyRing).preflight(for: uses, at: now)
                return .init(
                    name: name,
                    isFine: preflight.isUsable,
                    isVital: false,
                    detail: Self.words(of: preflight)
                )
            } catch {
                return .init(name: name, isFine: false, isVital: false, detail: "\(error)")
            }
        }
    }
}
