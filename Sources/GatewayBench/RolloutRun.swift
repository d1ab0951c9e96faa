import CommandSupport

/// Sends campaigns to everyone of two tenants in turn: one without rules, and one whose rules have a rollout.
struct RolloutRun {
    let stage: BenchStage
    /// Of each tenant.
    let devices: Int
    /// The key of the tenant with rules.
    let apiKey: String

    /// The CPU of the gateway and PostgreSQL with a rollout, relative to that without, by pair.
    ///
    /// - Throws: `StageFailure` when a campaign does not end, or not every device was reached.
    func measure(pairs: Int) async throws -> [Double] {
        var ratios: [Double] = []
        // The first pair is a warm-up: the first campaign grows files and caches.
        for pair in 0...pairs {
            let (with, without) = try await AlternatingPair.measure(pair) { try await cost(hasRollout: $0, pair) }
            guard pair > 0 else { continue }
            ratios.append(with / max(without, 0.001))
            Console.error("pair \(pair): \(Self.text(without)) per delivery, with a rollout \(Self.text(with))")
        }
        return ratios
    }

    private static func text(_ cost: Double) -> String { "\(BenchFigure.text(cost)) µs of CPU" }

    /// Microseconds per delivery.
    private func cost(hasRollout: Bool, _ number: Int) async throws -> Double {
        var run = BenchRun(stage: stage, devices: devices)
        if hasRollout {
            run.tenant = ProxyApps.tenant
            run.apiKey = apiKey
        }
        let sample = try await run.measure(number)
        return sample.gatewayMicroseconds + sample.postgresMicroseconds
    }
}
