/// The large bodies that a node holds and those that wait for room. Pure.
///
/// Bodies are admitted in the order of their calls, except that a body whose address has used up its share lets others pass.
package struct BodyQueue: Sendable {
    /// 256 calls wait for room; a further one is refused at once, because it would wait too long.
    package static let waitingLimit = 256

    package typealias Ticket = UInt64

    package enum Answer: Sendable, Hashable {
        case admitted(Ticket)
        case waits(Ticket)
        case refused
    }

    private struct Body: Sendable {
        var ticket: Ticket
        var bytes: Int
        var address: LimitedName
    }

    /// The bytes of all admitted bodies, except that a single body is always admitted.
    private let capacityBytes: Int
    private var admitted: [Ticket: Body] = [:]
    private var waiting: [Body] = []
    private var next: Ticket = 0

    package init(capacityBytes: Int) { self.capacityBytes = capacityBytes }

    package var admittedBytes: Int { admitted.values.reduce(0) { $0 + $1.bytes } }

    /// Asks for room for a body.
    package mutating func ask(bytes: Int, address: LimitedName) -> Answer {
        next += 1
        let body = Body(ticket: next, bytes: bytes, address: address)
        if waiting.isEmpty, fits(body), isWithinShare(body) {
            admitted[body.ticket] = body
            return .admitted(body.ticket)
        }
        guard waiting.count < Self.waitingLimit else { return .refused }
        waiting.append(body)
        // It may pass others whose addresses have used up their shares.
        return advance().contains(body.ticket) ? .admitted(body.ticket) : .waits(body.ticket)
    }

    /// Ends a body, or the wait for it. Returns the bodies that are admitted now.
    package mutating func end(_ ticket: Ticket) -> [Ticket] {
        if admitted.removeValue(forKey: ticket) == nil { waiting.removeAll { $0.ticket == ticket } }
        return advance()
    }

    package func isAdmitted(_ ticket: Ticket) -> Bool { admitted[ticket] != nil }

    package func isWaiting(_ ticket: Ticket) -> Bool { waiting.contains { $0.ticket == ticket } }

    private mutating func advance() -> [Ticket] {
        var started: [Ticket] = []
        var left: [Body] = []
        var isBlocked = false
        for body in waiting {
            if isBlocked || !isWithinShare(body) {
                left.append(body)
            } else if fits(body) {
                admitted[body.ticket] = body
                started.append(body.ticket)
            } else {
                // Smaller bodies do not pass a larger one, which would otherwise wait for ever.
                isBlocked = true
                left.append(body)
            }
        }
        waiting = left
        return started
    }

    private func fits(_ body: Body) -> Bool { admitted.isEmpty || admittedBytes + body.bytes <= capacityBytes }

    /// Half of the capacity, or one body.
    private func isWithinShare(_ body: Body) -> Bool {
        let own = admitted.values.reduce(0) { $0 + ($1.address == body.address ? $1.bytes : 0) }
        return own == 0 || own + body.bytes <= capacityBytes / 2
    }
}
