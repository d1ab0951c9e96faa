import HTTP2
import HTTP2Support
import TestKit

/// A client session and a peer in virtual time: bytes and requests in transit, and the rules for them.
///
/// The rules: every request ends exactly once, not after its deadline; "unsent" is reported only for requests that the peer did not
/// process; an answer is the peer's answer to this request. When a connection ends, another follows, until enough requests have ended.
final class ModelWorld {
    private var random: SplitMix
    private let start = ContinuousClock.now
    private var elapsed = Duration.zero
    private let head: HeaderBlock
    private let authorization: HeaderBlock

    private var client: Session
    private var peer: ModelPeer
    private var toPeer: [UInt8] = []
    private var toClient: [UInt8] = []
    /// The number of bytes that move at a time; 1 means single bytes.
    private var chunk = 65_536

    private var nextSlot: UInt64 = 1
    /// Deadlines of the requests that have not ended.
    private var outstanding: [UInt64: Duration] = [:]
    /// The earliest of these deadlines, or an earlier time.
    private var earliest: Duration?
    private(set) var endedCount = 0
    private(set) var connectionCount = 1
    /// The number of requests by outcome.
    private(set) var tally: [String: Int] = [:]
    /// The first few rule violations.
    private(set) var violations: [String] = []

    init(seed: UInt64) throws {
        random = SplitMix(state: seed)
        head = try HeaderBlock(
            method: "POST",
            authority: "example.com",
            fields: [(FieldName("apns-topic"), "com.example.shop")]
        )
        authorization = try HeaderBlock(fields: [(FieldName("authorization", indexing: .never), "bearer t")])
        (client, peer) = try ModelWorld.connect(&random)
    }

    private static func connect(_ random: inout SplitMix) throws -> (Session, ModelPeer) {
        var limits = HTTP2Limits()
        limits.maxConcurrentStreams = [1, 10, 100, 900].randomElement(using: &random) ?? 100
        limits.maxQueuedRequests = [0, 1, 10, 256].randomElement(using: &random) ?? 256
        if Int.random(in: 0..<10, using: &random) == 0 { limits.maxStreamsPerConnection = 50 }
        let initial = [1, 1, 100].randomElement(using: &random) ?? 1
        let client = try Session(limits: limits, initialStreamLimit: initial, collectedFields: [ModelRequest.echo])
        let limit = [1, 10, 100, 1_000].randomElement(using: &random) ?? 100
        return (client, try ModelPeer(initialLimit: initial, limit: limit))
    }

    /// Runs until this number of requests has ended, then ends the rest.
    func run(requests: Int) throws {
        while endedCount < requests, violations.isEmpty { try step() }
        endConnection(HTTP2Error(.closed))
        if !outstanding.isEmpty {
            broken("\(outstanding.count) requests never ended: \(outstanding.keys.sorted().prefix(5))")
        }
    }

    // MARK: One step

    private func step() throws {
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<20: submit()
        case 20..<40: write()
        case 40..<58: moveToPeer()
        case 58..<74: peer.act(&random)
        case 74..<90: moveToClient()
        case 90..<95: pass(.microseconds(Int.random(in: 1...20_000, using: &random)))
        case 95: pass(.milliseconds(Int.random(in: 100...3_000, using: &random)))
        case 96: chunk = [1, 10, 1_000, 65_536, 65_536, 65_536].randomElement(using: &random) ?? 1
        case 97: cancel()
        case 98: client.ping()
        default: try disturb()
        }
        collect()
        // A connection that can make no further progress is replaced by the next.
        if client.isFinished || (client.credits == 0 && client.openCount == 0 && client.queuedCount == 0 && isAtRest) {
            try reconnect(nil)
        }
    }

    /// True if nothing is in transit, so that no state changes without an event.
    private var isAtRest: Bool { toClient.isEmpty && toPeer.isEmpty && client.events.isEmpty && peer.streamCount > 0 }

    private func submit() {
        let room = client.credits
        // Sometimes more requests than the session has space for.
        let beyond = Int.random(in: 0..<20, using: &random) == 0 ? 3 : 0
        var batch = RequestBatch()
        for _ in 0..<(Int.random(in: 0...max(1, min(room, 60)), using: &random) + beyond) {
            let deadline = elapsed + .milliseconds(Int.random(in: 1...20_000, using: &random))
            let slot = nextSlot
            nextSlot += 1
            batch.append(slot: slot, head: head, deadline: start + deadline) { ModelRequest.write(slot, to: &$0) }
            outstanding[slot] = deadline
            earliest = earliest.map { min($0, deadline) } ?? deadline
        }
        client.enqueue(&batch)
    }

    private func write() {
        attempt { toPeer += try client.output(dispatched: authorization) }
    }

    private func moveToPeer() {
        let count = min(toPeer.count, chunk)
        peer.receive(toPeer.prefix(count))
        toPeer.removeFirst(count)
        toClient += peer.takeOutput()
        for violation in peer.violations { broken(violation) }
    }

    private func moveToClient() {
        toClient += peer.takeOutput()
        let count = min(toClient.count, chunk == 1 ? Int.random(in: 1...40, using: &random) : chunk)
        let bytes = Array(toClient.prefix(count))
        toClient.removeFirst(count)
        attempt {
            guard chunk == 1 else { return try client.receive(bytes) }
            for byte in bytes { try client.receive([byte]) }
        }
    }

    /// Lets time pass, with a stop at each deadline that the session reports, as its loop does.
    private func pass(_ duration: Duration) {
        let end = elapsed + duration
        for _ in 0..<100_000 {
            guard let next = client.nextDeadline, start.duration(to: next) <= end else {
                elapsed = end
                return collect()
            }
            elapsed = max(elapsed, start.duration(to: next))
            client.expire(at: start + elapsed)
            collect()
        }
        broken("the session's next deadline does not move")
    }

    private func cancel() {
        let slot = nextSlot - min(nextSlot - 1, UInt64.random(in: 1...50, using: &random))
        client.cancel([slot, slot + 1, slot + 1_000_000])
    }

    private func disturb() throws {
        switch Int.random(in: 0..<40, using: &random) {
        case 0: try reconnect(HTTP2Error(.connectionLost))
        case 1:
            // Half of the bytes in transit arrive, and the rest is lost.
            let half = Array(toClient.prefix(toClient.count / 2))
            attempt { try client.receive(half) }
            try reconnect(HTTP2Error(.connectionLost))
        case 2:
            let noise = (0..<20).map { _ in UInt8.random(in: 0...255, using: &random) }
            toClient += noise
        case 3: client.goAway()
        default: break
        }
    }

    /// Calls the session. If it fails, the session is notified, as by a connection. The next step opens another one.
    private func attempt(_ body: () throws -> Void) {
        do { try body() } catch let error as HTTP2Error {
            client.fail(error)
            isDead = true
        } catch { broken("\(error)") }
        collect()
        if isDead {
            isDead = false
            do { try reconnect(HTTP2Error(.connectionLost)) } catch { broken("\(error)") }
        }
    }

    private var isDead = false

    private func reconnect(_ error: HTTP2Error?) throws {
        endConnection(error ?? HTTP2Error(.protocolError))
        (client, peer) = try ModelWorld.connect(&random)
        (toPeer, toClient) = ([], [])
        connectionCount += 1
    }

    private func endConnection(_ error: HTTP2Error) {
        client.fail(error)
        collect()
        if !outstanding.isEmpty { broken("\(outstanding.count) requests outlived their connection") }
        outstanding = [:]
        earliest = nil
    }

    // MARK: The rules

    private func collect() {
        for completion in client.completions { check(completion) }
        client.completions = []
        client.events = []
        guard let earliest, earliest < elapsed else { return }
        if let late = outstanding.first(where: { $0.value < elapsed }) {
            broken("request \(late.key) was to end at \(late.value), and it is \(elapsed)")
        }
        self.earliest = outstanding.values.min()
    }

    private func check(_ completion: Completion) {
        guard outstanding.removeValue(forKey: completion.slot) != nil else {
            return broken("request \(completion.slot) ended again: \(describe(completion.result))")
        }
        endedCount += 1
        tally[describe(completion.result), default: 0] += 1
        let deed = peer.deeds[completion.slot]
        switch completion.result {
        case .success(let response):
            if deed?.status != response.status {
                broken("request \(completion.slot) got \(response.status), the peer said \(String(describing: deed))")
            }
            if response.value(ModelRequest.echo) != String(completion.slot) {
                broken("request \(completion.slot) got the answer of \(response.value(ModelRequest.echo) ?? "none")")
            }
        case .failure(let error):
            if error.isUnsent, deed?.isProcessed == true {
                broken("request \(completion.slot) was processed and called unsent: \(error)")
            }
        }
    }

    private func broken(_ rule: String) {
        if violations.count < 5 { violations.append(rule) }
    }
}
