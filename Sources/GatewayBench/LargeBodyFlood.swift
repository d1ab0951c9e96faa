import CommandSupport
import NIOConcurrencyHelpers

/// Callers without a credential that send large JSON bodies, one after the other, all at the same time.
enum LargeBodyFlood {
    /// Twelve bodies at once, as in the audit of the edge.
    static let callers = 12
    /// The limit of the call is 10 MiB.
    static let bytes = 10_000_000
    /// The time for all callers to begin. Unit: seconds.
    private static let lead = 1

    /// One of the 200,000 texts of a body. The gateway permits 250,000 values, so it parses, keeps and frees all of them.
    private static let text = Array("\"".utf8) + [UInt8](repeating: UInt8(ascii: "a"), count: 47) + Array("\",".utf8)

    /// A list of numbers, which costs the most memory for its bytes and is refused at the limit of values; one long text; and many short ones.
    private static let bodies: [[UInt8]] = [
        Array("[".utf8) + Array(repeatElement(Array("1,".utf8), count: bytes / 2).joined()) + Array("1]".utf8),
        Array("{\"x\":\"".utf8) + [UInt8](repeating: UInt8(ascii: "a"), count: bytes) + Array("\"}".utf8),
        Array("{\"x\":[".utf8) + Array(repeatElement(text, count: bytes / text.count).joined()) + Array("0]}".utf8),
    ]

    /// Runs `body` while the callers send. Refused and broken calls are part of it.
    ///
    /// - Returns: the value, and how many bodies were read and answered.
    /// - Throws: the error of `body`; `StageFailure` if fewer bodies than callers were read: the value would say nothing about large bodies.
    static func during<Value: Sendable>(
        _ base: String,
        _ body: () async throws -> Value
    ) async throws -> (value: Value, count: Int) {
        let count = NIOLockedValueBox(0)
        let value = try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<callers {
                group.addTask {
                    let caller = HTTPCaller(base: base)
                    let body = bodies[number % bodies.count]
                    while !Task.isCancelled {
                        guard let answer = try? await caller.post("/msgClient/sendMsg", json: body) else { continue }
                        // Answers with another status are sent before the whole body is read.
                        if [200, 400].contains(answer.status) { count.withLockedValue { $0 += 1 } }
                    }
                    await caller.close()
                }
            }
            try await Task.sleep(for: .seconds(lead))
            let value = try await body()
            group.cancelAll()
            try await group.waitForAll()
            return value
        }
        let answered = count.withLockedValue { $0 }
        guard answered >= callers else { throw StageFailure("only \(answered) large bodies were read") }
        return (value, answered)
    }
}
