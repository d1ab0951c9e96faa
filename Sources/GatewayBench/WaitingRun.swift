import CommandSupport
import Foundation
import Model

/// Calls that wait for slow upstreams, and their memory.
struct WaitingRun {
    /// 250 per upstream: the limit is 256 in flight.
    static let perUpstream = 250
    /// 50 calls begin at a time, and then the next after 20 ms: queues of new connections are short.
    private static let batch = 50
    private static let pause = Duration.milliseconds(20)
    /// 8 s until all calls wait, and 2 s in which they wait: the gateway ends a call after 15 s.
    private static let arrival = Duration.seconds(8)
    private static let samples = 20
    private static let interval = Duration.milliseconds(100)

    /// The node that gets the calls.
    let process: Int32
    /// Its address.
    let base: String
    /// The upstreams' answers.
    let held: HeldAnswers

    private var total: Int { Self.perUpstream * ProxyApps.slowCount }

    /// The largest memory of the node while the calls wait, above that before. Unit: MiB.
    ///
    /// - Throws: `StageFailure` when not all calls wait, or when one is not answered by its upstream.
    func measure() async throws -> Double {
        try await HTTPCaller(base: base, tls: nil, connections: total).closing { try await waiting($0) }
    }

    private func waiting(_ caller: HTTPCaller) async throws -> Double {
        let before = ProcessUsage.residentMiB(process)
        held.hold()
        return try await withThrowingTaskGroup(of: Void.self) { group in
            do {
                for number in 0..<total {
                    let application = ProxyApps.slow[number % ProxyApps.slowCount]
                    group.addTask { try await Self.call(application, caller) }
                    if number % Self.batch == Self.batch - 1 { try await Task.sleep(for: Self.pause) }
                }
                try await arrive()
                var most = 0.0
                for _ in 0..<Self.samples {
                    most = max(most, ProcessUsage.residentMiB(process))
                    try await Task.sleep(for: Self.interval)
                }
                guard held.count >= total else { throw StageFailure("only \(held.count) of \(total) calls wait") }
                held.release()
                try await group.waitForAll()
                return most - before
            } catch {
                held.release()
                throw error
            }
        }
    }

    private func arrive() async throws {
        let end = ContinuousClock.now + Self.arrival
        while held.count < total {
            guard ContinuousClock.now < end else {
                throw StageFailure("only \(held.count) of \(total) calls reached the slow upstreams")
            }
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    private static func call(_ application: String, _ caller: HTTPCaller) async throws {
        let answer = try await caller.call("POST", ProxyApps.unknownPath, ["APP_ID": .string(application)])
        guard answer.status == 200, answer.text == ProxyApps.answer else {
            throw StageFailure("a call that waited was answered with \(answer.status) \(answer.text)")
        }
    }
}
