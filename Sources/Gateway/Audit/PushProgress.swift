import Model

/// The rows that were written to a connection, and are not yet known to have arrived. It is pure: times are seconds from any fixed moment.
///
/// Syslog has no acknowledgements. The system closes a connection whose data the peer's system has not acknowledged for `AuditSyslogService.ackSeconds`. So rows
/// have arrived once the connection is still open a little longer than that after they were written. On a new connection, everything else is sent again.
struct PushProgress: Sendable {
    /// 1,000 pages that wait, 16 bytes each; then the next page waits.
    static let limit = 1000

    private struct Page: Sendable {
        var tenant: TenantID
        var position: Int64
        var at: Double
    }

    /// How long rows wait before they count as arrived. 0: they count at once, as on a datagram socket, where the system takes or refuses each.
    let confirmSeconds: Double
    private var pages: ArraySlice<Page> = []
    private var ends: [TenantID: Int64] = [:]

    init(confirmSeconds: Double) { self.confirmSeconds = confirmSeconds }

    var isFull: Bool { pages.count >= Self.limit }

    /// Where the next page of a tenant begins: behind what was written, or behind what is known to have arrived.
    func start(_ tenant: TenantID, after pushed: Int64) -> Int64 { max(pushed, ends[tenant] ?? 0) }

    mutating func written(_ tenant: TenantID, upTo position: Int64, at now: Double) {
        pages.append(Page(tenant: tenant, position: position, at: now))
        ends[tenant] = position
    }

    /// Removes and returns what has arrived by now: by tenant, the last position. Call it only while the connection is open.
    mutating func arrived(at now: Double) -> [TenantID: Int64] {
        var positions: [TenantID: Int64] = [:]
        while let page = pages.first, now - page.at >= confirmSeconds {
            positions[page.tenant] = page.position
            pages.removeFirst()
        }
        return positions
    }
}
