/// The large bodies that a node holds and those that wait for room. Pure.
///
/// The addresses take turns: the next body is that of the address which asked, or had a body admitted or ended, the longest time ago. The bodies of one address
/// are admitted in the order of their calls. An address that has used up its share of the room lets others pass. A body for which there is too little room lets
/// others pass until these have as many bytes as the room; then they wait for it. For bodies with many values, the same rules count values (`LargeBodies`).
package struct BodyQueue: Sendable {
    /// 256 calls wait for room: each holds its first bytes in memory (`LargeBodies.smallBytes`), 16 MiB in all.
    package static let waitingLimit = 256
    /// 64 calls of one address wait, a quarter of all, so that one address cannot take all places. A further one is refused at once.
    package static let addressWaitingLimit = 64

    package typealias Ticket = UInt64

    package enum Answer: Sendable, Hashable {
        case admitted(Ticket)
        /// `insteadOf`: a body that waits no longer, because its address had the most that waited, and no place was free.
        case waits(Ticket, insteadOf: Ticket? = nil)
        case refused
    }

    private struct Body: Sendable {
        var bytes: Int
        var address: LimitedName
        /// Bytes of the bodies that were admitted before this one although it was its turn.
        var passedBytes = 0
    }

    /// The bodies of one address.
    private struct Line: Sendable {
        var heldBytes = 0
        /// In the order of their calls.
        var waiting: [Ticket] = []
        /// When a body of the address was last admitted or ended. 0: never.
        var turn: UInt64 = 0
    }

    /// The bytes of all admitted bodies, except that a single body is always admitted.
    private let capacityBytes: Int
    private var admitted: [Ticket: Body] = [:]
    private var waiting: [Ticket: Body] = [:]
    /// Of the addresses with bodies, so that their number is bounded.
    private var lines: [LimitedName: Line] = [:]
    /// Counts calls and turns, so that both can be compared.
    private var last: UInt64 = 0
    package private(set) var admittedBytes = 0

    package init(capacityBytes: Int) { self.capacityBytes = capacityBytes }

    /// Asks for room for a body.
    package mutating func ask(bytes: Int, address: LimitedName) -> Answer {
        let ticket = number()
        let body = Body(bytes: max(0, bytes), address: address)
        let line = lines[address] ?? Line()
        if line.waiting.isEmpty, isWithinShare(body), fits(body) {
            let others = heads()
            if others.allSatisfy({ mayPass($0.body) }) {
                admit(ticket, body, before: others.map(\.ticket))
                return .admitted(ticket)
            }
        }
        guard line.waiting.count < Self.addressWaitingLimit else { return .refused }
        var other: Ticket?
        if waiting.count >= Self.waitingLimit {
            other = newestOfTheMost(atLeast: line.waiting.count + 2)
            guard let other else { return .refused }
            // It is not the first one of its address, so that nobody's turn changes.
            leave(other)
        }
        waiting[ticket] = body
        lines[address, default: Line()].waiting.append(ticket)
        return .waits(ticket, insteadOf: other)
    }

    /// Ends a body, or the wait for it. Returns the bodies that are admitted now.
    package mutating func end(_ ticket: Ticket) -> [Ticket] {
        if let body = admitted.removeValue(forKey: ticket) {
            admittedBytes -= body.bytes
            let turn = number()
            change(body.address) { line in
                line.heldBytes -= body.bytes
                line.turn = turn
            }
        } else {
            leave(ticket)
        }
        var started: [Ticket] = []
        while let next = admitNext() { started.append(next) }
        return started
    }

    package func isAdmitted(_ ticket: Ticket) -> Bool { admitted[ticket] != nil }

    package func isWaiting(_ ticket: Ticket) -> Bool { waiting[ticket] != nil }

    /// Whether a body waits whose address has not used up its share: others hold the room that it needs.
    package var isRoomWanted: Bool {
        lines.values.contains { line in
            guard let ticket = line.waiting.first, let body = waiting[ticket] else { return false }
            return isWithinShare(body)
        }
    }

    private mutating func number() -> UInt64 {
        last += 1
        return last
    }

    // MARK: Turns

    private struct Head {
        var ticket: Ticket
        var body: Body
        var turn: UInt64
    }

    /// The first waiting body of each address that has not used up its share, by turns. There are at most as many as calls that wait.
    private func heads() -> [Head] {
        guard !waiting.isEmpty else { return [] }
        let heads = lines.values.compactMap { line -> Head? in
            guard let ticket = line.waiting.first, let body = waiting[ticket], isWithinShare(body) else { return nil }
            return Head(ticket: ticket, body: body, turn: max(ticket, line.turn))
        }
        return heads.sorted { $0.turn < $1.turn }
    }

    private mutating func admitNext() -> Ticket? {
        var passed: [Ticket] = []
        for head in heads() {
            if fits(head.body) {
                leave(head.ticket)
                admit(head.ticket, head.body, before: passed)
                return head.ticket
            }
            guard mayPass(head.body) else { return nil }
            passed.append(head.ticket)
        }
        return nil
    }

    private mutating func admit(_ ticket: Ticket, _ body: Body, before others: [Ticket]) {
        for other in others { waiting[other]?.passedBytes += body.bytes }
        admitted[ticket] = body
        admittedBytes += body.bytes
        let turn = number()
        change(body.address) { line in
            line.heldBytes += body.bytes
            line.turn = turn
        }
    }

    private mutating func leave(_ ticket: Ticket) {
        guard let body = waiting.removeValue(forKey: ticket) else { return }
        change(body.address) { line in line.waiting.removeAll { $0 == ticket } }
    }

    /// The newest waiting body of the address with the most, if these are as many.
    private func newestOfTheMost(atLeast count: Int) -> Ticket? {
        let most = lines.values.map(\.waiting.count).max() ?? 0
        guard most >= count else { return nil }
        return lines.values.filter { $0.waiting.count == most }.compactMap(\.waiting.last).max()
    }

    private mutating func change(_ address: LimitedName, _ edit: (inout Line) -> Void) {
        var line = lines[address] ?? Line()
        edit(&line)
        lines[address] = line.heldBytes > 0 || !line.waiting.isEmpty ? line : nil
    }

    // MARK: Room

    private func fits(_ body: Body) -> Bool { admitted.isEmpty || body.bytes <= capacityBytes - admittedBytes }

    /// Half of the capacity, or one body.
    private func isWithinShare(_ body: Body) -> Bool {
        let own = lines[body.address]?.heldBytes ?? 0
        return own == 0 || body.bytes <= capacityBytes / 2 - own
    }

    /// Whether others may be admitted before a body that does not fit.
    private func mayPass(_ body: Body) -> Bool { body.passedBytes < capacityBytes }
}
