import Foundation

/// A broadcast channel of one app.
package struct BroadcastChannel: Sendable, Equatable {
    /// Base64 of 16 bytes; Apple documents neither the length nor the alphabet.
    package var id: String

    /// Message storage policy 1: the newest message is stored. Policy 0 stores none, and its broadcasts require expiration 0.
    package var storesNewest: Bool

    /// Creates a channel.
    package init(id: String, storesNewest: Bool) {
        self.id = id
        self.storesNewest = storesNewest
    }
}

/// The channels of all apps. A pure value; its owner locks it.
struct ChannelBook: Sendable {
    /// 10,000 per app and environment (Apple, "Sending channel management requests to APNs").
    static let largestCountPerApp = 10_000

    /// 1,000 apps: with the limit above, about a gigabyte at most. It limits clients that invent bundle ids.
    static let largestAppCount = 1_000

    private struct App: Sendable {
        var channels: [String: BroadcastChannel] = [:]
        var order: [String] = []
    }

    private var apps: [String: App] = [:]

    func find(_ bundle: String, _ id: String) -> BroadcastChannel? { apps[bundle]?.channels[id] }

    mutating func create(_ bundle: String, storesNewest: Bool) -> BroadcastChannel? {
        guard apps[bundle] != nil || apps.count < Self.largestAppCount else { return nil }
        guard apps[bundle, default: App()].order.count < Self.largestCountPerApp else { return nil }
        let bytes = (0..<16).map { _ in UInt8.random(in: 0...255) }
        let channel = BroadcastChannel(id: Data(bytes).base64EncodedString(), storesNewest: storesNewest)
        apps[bundle, default: App()].channels[channel.id] = channel
        apps[bundle, default: App()].order.append(channel.id)
        return channel
    }

    mutating func delete(_ bundle: String, _ id: String) -> Bool {
        guard apps[bundle]?.channels.removeValue(forKey: id) != nil else { return false }
        apps[bundle]?.order.removeAll { $0 == id }
        if apps[bundle]?.order.isEmpty == true { apps[bundle] = nil }
        return true
    }

    func list(_ bundle: String) -> [String] { apps[bundle]?.order ?? [] }

    /// At most `limit` channels, sorted by app.
    func all(limit: Int) -> [(bundle: String, channel: BroadcastChannel)] {
        var found: [(String, BroadcastChannel)] = []
        for (bundle, app) in apps.sorted(by: { $0.key < $1.key }) {
            for id in app.order.prefix(limit - found.count) {
                if let channel = app.channels[id] { found.append((bundle, channel)) }
            }
            if found.count >= limit { break }
        }
        return found
    }
}
