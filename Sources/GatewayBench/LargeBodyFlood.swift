import CommandSupport

/// Callers without a credential that send large JSON bodies, one after the other, all at the same time.
enum LargeBodyFlood {
    /// Twelve bodies at once, as in the audit of the edge.
    static let callers = 12
    /// The limit of the call is 10 MiB.
    static let bytes = 10_000_000
    /// The time for all callers to begin. Unit: seconds.
    private static let lead = 1

    /// A list of numbers, which costs the most memory for its bytes, and one long text.
    private static let bodies: [[UInt8]] = [
        Array("[".utf8) + Array(repeatElement(Array("1,".utf8), count: bytes / 2).joined()) + Array("1]".utf8),
        Array("{\"x\":\"".utf8) + [UInt8](repeating: UInt8(ascii: "a"), count: bytes) + Array("\"}".utf8),
    ]

    /// Runs `body` while the callers send. Refused and broken calls are part of it.
    static func during<Value: Sendable>(_ base: String, _ body: () async throws -> Value) async throws -> Value {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<callers {
                group.addTask {
                    let caller = HTTPCaller(base: base)
                    let body = bodies[number % bodies.count]
                    while !Task.isCancelled { _ = try? await caller.post("/msgClient/sendMsg", json: body) }
                    await caller.close()
                }
            }
            try await Task.sleep(for: .seconds(lead))
            let value = try await body()
            group.cancelAll()
            try await group.waitForAll()
            return value
        }
    }
}
