package import Commands
package import Model
import NIOConcurrencyHelpers
package import Store

/// Writes the rows of audited reads before their answers leave. Calls of a tenant share transactions (`ReadAuditMachine`). Safe to call from any task.
package final class ReadAudit: Sendable {
    /// The rows of one call.
    struct Entry: Sendable {
        var actor: AuditActor
        var records: [AuditRecord]
    }

    /// The end of a call's wait.
    private enum Turn: Sendable {
        case written(Result<Void, StoreError>)
        /// The call writes its own rows and those of the others.
        case write([Waiter])
    }

    private struct Waiter: Sendable {
        var entry: Entry
        var continuation: CheckedContinuation<Turn, Never>
    }

    typealias Write = @Sendable (TenantID, [Entry]) async throws(StoreError) -> Void

    private let machine = NIOLockedValueBox(ReadAuditMachine<Waiter>())
    private let write: Write

    package convenience init(handler: CommandHandler) {
        self.init { (tenant, entries) async throws(StoreError) in
            try await handler.run(Self.request(entries), in: tenant)
        }
    }

    /// - Parameter write: writes the rows of some calls of a tenant in one transaction.
    init(write: @escaping Write) { self.write = write }

    /// Writes the rows of a call. Returns when they are on disk.
    ///
    /// - Throws: `StoreError`; `.unavailable` also when too many calls wait.
    package func note(_ records: [AuditRecord], by actor: AuditActor, in tenant: TenantID) async throws(StoreError) {
        // One statement per actor writes the rows of many calls, so each row names its call itself.
        let entry = Entry(actor: actor.unnamed, records: records.map { $0.of(actor.request) })
        let turn: Turn = await withCheckedContinuation { continuation in
            let arrival = machine.withLockedValue {
                $0.arrived(tenant, Waiter(entry: entry, continuation: continuation))
            }
            switch arrival {
            case .wait: break
            case .write: continuation.resume(returning: .write([]))
            case .refused:
                let error = StoreError(.unavailable, "too many audited reads wait")
                continuation.resume(returning: .written(.failure(error)))
            }
        }
        switch turn {
        case .written(let result): try result.get()
        case .write(let others): try await write(entry, others, in: tenant).get()
        }
    }

    /// Writes for this call and for others, and passes the turn on.
    private func write(_ own: Entry, _ others: [Waiter], in tenant: TenantID) async -> Result<Void, StoreError> {
        let (entries, write) = ([own] + others.map(\.entry), write)
        // A task of its own: when the caller of this call leaves, the others still need their rows.
        let result = await Task { () -> Result<Void, StoreError> in
            do throws(StoreError) {
                try await write(tenant, entries)
                return .success(())
            } catch {
                return .failure(error)
            }
        }.value
        for other in others { other.continuation.resume(returning: .written(result)) }
        var next = machine.withLockedValue { $0.ended(tenant) }
        if !next.isEmpty { next.removeFirst().continuation.resume(returning: .write(next)) }
        return result
    }

    /// One statement per actor, in one transaction.
    private static func request(_ entries: [Entry]) -> StoreRequest<Void> {
        var actors: [AuditActor] = []
        var records: [AuditActor: [AuditRecord]] = [:]
        for entry in entries {
            if records[entry.actor] == nil { actors.append(entry.actor) }
            records[entry.actor, default: []] += entry.records
        }
        return actors.reduce(StoreRequest.settled(())) { request, actor in
            request.adding(WriteAudit(records[actor] ?? [], by: actor))
        }
    }
}
