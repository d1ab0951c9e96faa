import Model
import NIOConcurrencyHelpers

/// The addresses of names that are called again and again. Each is looked up again after a while, by one caller; the others keep the last address until then, and also
/// while the name server does not answer.
///
/// The book checks no address: its callers do, at each call.
final class HostAddresses: Sendable {
    private struct Entry {
        var address: IPAddress
        /// When it is looked up again.
        var end: ContinuousClock.Instant
    }

    /// 1,024 names. Above this number the book starts again.
    private static let limit = 1024

    private let resolver: any HostResolver
    private let age: Duration
    private let entries = NIOLockedValueBox<[String: Entry]>([:])

    init(_ resolver: any HostResolver, age: Duration) {
        self.resolver = resolver
        self.age = age
    }

    /// The address of `host`; nil if it has none.
    func address(of host: String, within time: Duration) async -> IPAddress? {
        if let literal = IPAddress(host) { return literal }
        let known = entries.withLockedValue { entries -> IPAddress? in
            guard let entry = entries[host] else { return nil }
            guard entry.end <= .now else { return entry.address }
            // This caller looks it up; those that come meanwhile use the address.
            entries[host]?.end = .now + age
            return nil
        }
        if let known { return known }
        let found = await resolver.address(of: host, within: time)
        return entries.withLockedValue { entries in
            guard let found else { return entries[host]?.address }
            if entries.count >= Self.limit, entries[host] == nil { entries.removeAll() }
            entries[host] = Entry(address: found, end: .now + age)
            return found
        }
    }
}
