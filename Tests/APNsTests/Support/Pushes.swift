import APNs
import Foundation
import Model
import Testing

/// A valid push to a token made from its slot.
func makePush(
    _ slot: Int,
    token: String? = nil,
    topic: String = "com.example.shop",
    environment: PushEnvironment = .production,
    payload: PushPayload = PushPayload(bytes: Array(#"{"aps":{"alert":"Hi"}}"#.utf8)),
    expiresAt: Timestamp? = nil
) -> Push {
    Push(
        slot: slot,
        token: DeviceToken(stored: token ?? testToken(slot)),
        environment: environment,
        topic: topic,
        id: PushID(UUID()),
        payload: payload,
        expiresAt: expiresAt
    )
}

/// 64 hex digits that end in `number`.
func testToken(_ number: Int) -> String {
    let digits = String(number, radix: 16)
    return String(repeating: "a", count: 64 - digits.count) + digits
}

/// Every completion of a stream, in the order of arrival.
func collect(_ stream: AsyncStream<[PushCompletion]>) async -> [PushCompletion] {
    var all: [PushCompletion] = []
    for await batch in stream { all += batch }
    return all
}

/// Sends like the engine: pushes that are returned unsent are sent again, up to five times. Prints the reason for
/// each return.
func sendUntilLeft(_ pushes: [Push], _ transport: APNsTransport) async -> [PushCompletion] {
    var all: [PushCompletion] = []
    var waiting = pushes
    for _ in 0..<5 where !waiting.isEmpty {
        let completions = await collect(transport.send(waiting, through: Peer.credential, deadline: .seconds(100)))
        let unsent = completions.filter { if case .unsent = $0.outcome { true } else { false } }
        for completion in unsent { print("push \(completion.slot) came back: \(completion.outcome)") }
        waiting = waiting.filter { push in unsent.contains { $0.slot == push.slot } }
        all += completions.filter { completion in !waiting.contains { $0.slot == completion.slot } }
    }
    return all
}

/// Records an issue unless each of `count` pushes completed exactly once. Prints only the wrong slots, not thousands
/// of correct ones.
func expectOncePerPush(_ completions: [PushCompletion], count: Int, at location: SourceLocation = #_sourceLocation) {
    var counts = Array(repeating: 0, count: count)
    for completion in completions where counts.indices.contains(completion.slot) { counts[completion.slot] += 1 }
    let missing = counts.indices.filter { counts[$0] == 0 }
    let doubled = counts.indices.filter { counts[$0] > 1 }
    #expect(missing.prefix(10) == [], sourceLocation: location)
    #expect(doubled.prefix(10) == [], sourceLocation: location)
    #expect(completions.count == count, sourceLocation: location)
}

extension [PushCompletion] {
    func outcome(_ slot: Int) -> Outcome? { first { $0.slot == slot }?.outcome }

    var acceptedCount: Int { filter { if case .accepted = $0.outcome { true } else { false } }.count }
    var indeterminateCount: Int { filter { if case .indeterminate = $0.outcome { true } else { false } }.count }

    func unsentCount(_ code: TransportError.Code) -> Int {
        filter { if case .unsent(let error) = $0.outcome { error.code == code } else { false } }.count
    }
}
