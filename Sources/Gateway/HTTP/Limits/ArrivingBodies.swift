import NIOConcurrencyHelpers

/// Limits the memory of small bodies that arrive in several parts, so that callers that send slowly cannot fill the memory of this node: each may hold
/// `LargeBodies.smallBytes` until `BodyReader.timeLimit`. A body that arrives in one part, which is nearly every one, needs nothing here.
package final class ArrivingBodies: Sendable {
    /// 64 MiB: 1,024 bodies of the largest size, many more of the usual one.
    package static let capacityBytes = 64 << 20
    /// 8 MiB of one address: many phones behind one address send bodies of few KiB at once.
    package static let addressBytes = 8 << 20
    /// 4 KiB: most bodies ask once.
    private static let leastBytes = 4 << 10

    /// The bodies of this process: its listeners share its memory.
    package static let ofNode = ArrivingBodies()

    /// The room of one body that is arriving.
    package struct Part: Sendable {
        package fileprivate(set) var bytes = 0
        /// Nil: of no address yet, or of one whose calls are not limited.
        fileprivate var address: LimitedName?

        package init() {}
    }

    private let room: NIOLockedValueBox<Room>

    package init(
        capacityBytes: Int = ArrivingBodies.capacityBytes,
        addressBytes: Int = ArrivingBodies.addressBytes
    ) {
        room = NIOLockedValueBox(Room(capacityBytes: capacityBytes, addressBytes: addressBytes))
    }

    package var heldBytes: Int { room.withLockedValue { $0.heldBytes } }

    /// Takes room for the bytes that have arrived and for as many more, because an array in memory grows by doubling.
    ///
    /// - Parameters:
    ///   - part: what the body holds already.
    ///   - count: the bytes that have arrived.
    ///   - most: the bytes that can arrive at most.
    ///   - address: the client's; nil if its calls are not limited. Such a body counts for the node only.
    /// - Returns: false if there is too little room.
    package func grow(_ part: inout Part, count: Int, most: Int, address: String?) -> Bool {
        guard count > part.bytes else { return true }
        let name = part.address ?? address.map { LimitedName.network($0) }
        part.address = name
        let bytes = max(count, min(most, max(Self.leastBytes, 2 * count)))
        guard room.withLockedValue({ $0.take(bytes - part.bytes, with: part.bytes, name) }) else { return false }
        part.bytes = bytes
        return true
    }

    package func end(_ part: inout Part) {
        guard part.bytes > 0 else { return }
        let (bytes, name) = (part.bytes, part.address)
        part.bytes = 0
        room.withLockedValue { $0.giveBack(bytes, name) }
    }

    private struct Room: Sendable {
        let capacityBytes: Int
        let addressBytes: Int
        var heldBytes = 0
        /// Of addresses that hold any, at most as many as there are connections.
        var ofAddresses: [LimitedName: Int] = [:]

        init(capacityBytes: Int, addressBytes: Int) {
            self.capacityBytes = capacityBytes
            self.addressBytes = addressBytes
        }

        /// An address always has room for one body, so that others cannot keep it out.
        mutating func take(_ bytes: Int, with held: Int, _ address: LimitedName?) -> Bool {
            let hasRoom = bytes <= capacityBytes - heldBytes
            if let address {
                let own = ofAddresses[address] ?? 0
                guard own == held || (hasRoom && bytes <= addressBytes - own) else { return false }
                ofAddresses[address] = own + bytes
            } else if !hasRoom {
                return false
            }
            heldBytes += bytes
            return true
        }

        mutating func giveBack(_ bytes: Int, _ address: LimitedName?) {
            heldBytes -= bytes
            guard let address else { return }
            let own = (ofAddresses[address] ?? 0) - bytes
            ofAddresses[address] = own > 0 ? own : nil
        }
    }
}
