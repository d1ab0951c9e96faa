import Model
import NIOConcurrencyHelpers

/// The addresses of names that are called again and again. Each is looked up again after a while, by one caller; the others keep the last address until then,
/// and also while the name server does not answer. Callers of a name without an address share one look-up, and its failure is kept for some seconds.
///
/// The book checks no address: its callers do, at each call.
final class HostAddresses: Sendable {
    private struct Entry {
        /// The last one that was found; nil: none.
        var address: IPAddress?
        /// When it is looked up again.
        var end: ContinuousClock.Instant
        /// The look-up in flight; nil: there is none.
        var lookup: Task<IPAddress?, Never>?
    }

    private enum Answer {
        case known(IPAddress?)
        case coming(Task<IPAddress?, Never>)
    }

    /// 1,024 names. Above this number the book starts again, and keeps only the look-ups in flight.
    private static let limit = 1024
    /// 5 s: a call to a name without an address must not ask the name server each time, and a name that was just created must work soon.
    private static let failureAge = Duration.seconds(5)

    private let resolver: any HostResolver
    private let age: Duration
    private let entries = NIOLockedValueBox<[String: Entry]>([:])

    init(_ resolver: any HostResolver, age: Duration) {
        self.resolver = resolver
        self.age = age
    }

    /// The address of `host`; nil if it has none, had none some seconds ago, or if too many names are looked up now.
    func address(of host: String, within time: Duration) async -> IPAddress? {
        if let literal = IPAddress(host) { return literal }
        let answer = entries.withLockedValue { entries -> Answer in
            if let entry = entries[host] {
                // This caller looks it up; those that come meanwhile use the address, or wait if there is none.
                if let lookup = entry.lookup { return entry.address == nil ? .coming(lookup) : .known(entry.address) }
                if entry.end > .now { return .known(entry.address) }
            } else if entries.count >= Self.limit {
                entries = entries.filter { $0.value.lookup != nil }
                guard entries.count < Self.limit else { return .known(nil) }
            }
            let lookup = Task { await self.lookUp(host, within: time) }
            entries[host] = Entry(address: entries[host]?.address, end: .now, lookup: lookup)
            return .coming(lookup)
        }
        switch answer {
        case .known(let address): return address
        case .coming(let lookup): return await lookup.value
        }
    }

    /// Asks the name server and notes its answer. The entry stays meanwhile.
    private func lookUp(_ host: String, within time: Duration) async -> IPAddress? {
        let found = await resolver.address(of: host, within: time)
        return entries.withLockedValue { entries in
            let address = found ?? entries[host]?.address
            entries[host] = Entry(address: address, end: .now + (address == nil ? Self.failureAge : age), lookup: nil)
            return address
        }
    }
}
