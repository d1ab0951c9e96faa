import NIOConcurrencyHelpers
import NIOCore

/// The open connections: their numbers, the recorded state of each, and access to them from the control port.
final class ConnectionBook: Sendable {
    /// The state of one connection that the control port shows.
    struct Entry: Sendable {
        var number: Int
        var listener: ListenerKind
        var openStreams = 0
        var requests = 0
        var team: String?
        var certificate: String?
        var advertisedStreams = 0
    }

    private struct Contents: Sendable {
        var lastNumber = 0
        var open: [Int: (entry: Entry, channel: any Channel)] = [:]
        var isClosed = false
    }

    /// 4,096 connections. Apple allows thousands; without a limit, a client that leaks connections would use up our descriptors.
    static let largestCount = 4096

    private let contents = NIOLockedValueBox(Contents())

    /// Adds a connection and returns its number; nil if there are too many, or if the simulator stops.
    func add(_ channel: any Channel, listener: ListenerKind) -> Int? {
        contents.withLockedValue { contents in
            guard !contents.isClosed, contents.open.count < Self.largestCount else { return nil }
            contents.lastNumber += 1
            let number = contents.lastNumber
            contents.open[number] = (Entry(number: number, listener: listener), channel)
            return number
        }
    }

    func remove(_ number: Int) {
        contents.withLockedValue { _ = $0.open.removeValue(forKey: number) }
    }

    /// Changes the recorded state of a connection.
    func update(_ number: Int, _ change: (inout Entry) -> Void) {
        contents.withLockedValue { contents in
            guard var found = contents.open[number] else { return }
            change(&found.entry)
            contents.open[number] = found
        }
    }

    /// The recorded states of the open connections, sorted by number.
    var entries: [Entry] {
        contents.withLockedValue { $0.open.values.map(\.entry) }.sorted { $0.number < $1.number }
    }

    /// The channel of one connection, or the channels of all.
    func channels(_ number: Int?) -> [any Channel] {
        contents.withLockedValue { contents in
            guard let number else { return contents.open.values.map(\.channel) }
            return contents.open[number].map { [$0.channel] } ?? []
        }
    }

    /// Injects a fault at once, into one connection or into all; returns the number of connections.
    func play(_ fault: Fault, on number: Int?) -> Int {
        let open = channels(number)
        for channel in open { channel.pipeline.fireUserInboundEventTriggered(PushConnection.Play(fault: fault)) }
        return open.count
    }

    /// Stops accepting connections. Returns false if it was stopped already.
    func close() -> Bool {
        contents.withLockedValue { contents in
            defer { contents.isClosed = true }
            return !contents.isClosed
        }
    }
}
