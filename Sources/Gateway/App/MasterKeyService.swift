import EngineStore
import Logging
import Model
import Observability
import Secrets
import ServiceLifecycle
import Store

/// Follows rotations of the master key: reads new keys, reports this node's keys to the other nodes, and seals with the key that the database names.
struct MasterKeyService: Service {
    /// 2 s: a rotation waits for each node twice.
    static let period = Duration.seconds(2)
    /// 10 s between two runs of `master.key.command`, which may ask a service with a limit.
    static let commandPeriod = Duration.seconds(10)

    let store: PostgresMasterKeyStore
    let source: MasterKeySource
    let ring: KeyRing
    let node: NodeID
    let logger: Logger

    /// The state between two checks.
    struct Memory {
        var commandRanAt: ContinuousClock.Instant?
        /// The last reported error: each is logged once, not every two seconds.
        var problem: String?
    }

    func run() async throws {
        await cancelWhenGracefulShutdown {
            var memory = Memory()
            while !Task.isCancelled {
                await follow(&memory)
                try? await Task.sleep(for: Self.period)
            }
        }
    }

    func follow(_ memory: inout Memory) async {
        do {
            // A file that cannot be used does not keep the node from following the database with the keys that it has.
            var fault: (any Error)?
            if case .file = source { do { try await read() } catch { fault = error } }
            let row = try await store.follow(node, having: ring.ids)
            guard let row else { return }
            let reported = ring.ids
            if isMissing(row.keyID) || isMissing(row.wanted), mayRunCommand(&memory) { try await read() }
            if row.keyID != ring.current.id, try ring.bind(to: row) {
                logger.notice("another master key seals", metadata: [LogKey.masterKey: "\(row.keyID)"])
            }
            if ring.ids != reported { _ = try await store.follow(node, having: ring.ids) }
            if let fault { throw fault }
            memory.problem = nil
        } catch {
            let text = "\(error)"
            guard text != memory.problem else { return }
            memory.problem = text
            logger.error("cannot compare the master keys with the database", metadata: [LogKey.error: "\(text)"])
        }
    }

    private func read() async throws {
        let keys = try await source.keys()
        if try ring.replace(keys) {
            logger.notice("master keys read", metadata: [LogKey.masterKey: "\(ring.ids.joined(separator: ", "))"])
        }
    }

    private func isMissing(_ id: String?) -> Bool {
        guard let id else { return false }
        return !ring.ids.contains(id)
    }

    private func mayRunCommand(_ memory: inout Memory) -> Bool {
        guard case .command = source else { return false }
        if let last = memory.commandRanAt, .now - last < Self.commandPeriod { return false }
        memory.commandRanAt = .now
        return true
    }
}
