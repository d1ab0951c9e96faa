import Model

/// Decides who writes the rows of audited reads: one call of a tenant at a time writes for all calls that wait.
///
/// The rows of a tenant are written one after the other in any case, because each contains the digest of the one before. While one transaction is on its way,
/// further calls of the tenant collect, and the next transaction writes all of their rows. So a busy tenant costs few transactions, and an idle one no delay.
///
/// It is pure, and generic over what represents a waiting call.
struct ReadAuditMachine<Waiting: Sendable>: Sendable {
    /// 4,000 waiting calls of the node, some hundred bytes each. Above it reads are refused: an answer without its row must not leave.
    static var waitingLimit: Int { 4000 }
    /// 1,000 of one tenant, so that its calls do not exclude those of others.
    static var tenantLimit: Int { 1000 }
    /// 256 calls per transaction: it holds the tenant's audit for some milliseconds, and acts wait for it.
    static var batchLimit: Int { 256 }

    enum Arrival: Sendable {
        /// The call writes its own rows now, and reports `ended` afterwards.
        case write
        /// The call waits for another one, which writes for it.
        case wait
        case refused
    }

    /// By tenant with a transaction on its way: the calls that wait.
    private var queues: [TenantID: [Waiting]] = [:]
    private(set) var waiting = 0

    /// A call has rows to write. `waiter` is stored if the answer is `wait`.
    mutating func arrived(_ tenant: TenantID, _ waiter: @autoclosure () -> Waiting) -> Arrival {
        guard let queue = queues[tenant] else {
            queues[tenant] = []
            return .write
        }
        guard waiting < Self.waitingLimit, queue.count < Self.tenantLimit else { return .refused }
        queues[tenant]?.append(waiter())
        waiting += 1
        return .wait
    }

    /// A transaction has ended. Returns the calls of the next one, of which the first writes; empty if none waits.
    mutating func ended(_ tenant: TenantID) -> [Waiting] {
        guard let queue = queues[tenant], !queue.isEmpty else {
            queues[tenant] = nil
            return []
        }
        let batch = Array(queue.prefix(Self.batchLimit))
        queues[tenant] = Array(queue.dropFirst(batch.count))
        waiting -= batch.count
        return batch
    }
}
