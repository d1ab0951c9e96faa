package import Model
import NIOConcurrencyHelpers

/// A transport without a network: it answers by script, records its pushes, and can hold its answers.
///
/// Every push completes exactly once, as `PushTransport` requires; a held push completes on `release`. Without a script every push
/// is accepted.
package final class ScriptedTransport: PushTransport {
    /// One recorded push.
    package struct Sent: Sendable {
        package var push: Push
        package var credential: CredentialKey
    }

    private struct Held {
        var completions: [PushCompletion]
        var stream: AsyncStream<[PushCompletion]>.Continuation
    }

    private struct State {
        var scripts: [DeviceToken: [Outcome]] = [:]
        var fallback: (@Sendable (Push) -> Outcome)?
        var sent: [Sent] = []
        var isHolding = false
        var held: [Held] = []
        var inFlight = 0
        var maximumInFlight = 0
    }

    package let name: String
    /// The number of completions that are delivered together.
    private let batchSize: Int
    private let state = NIOLockedValueBox(State())
    private let asked = Tally()

    package init(name: String = "scripted", batchSize: Int = 64) {
        self.name = name
        self.batchSize = max(1, batchSize)
    }

    /// The outcomes of the next pushes to `token`, one each; the last one repeats.
    package func script(_ token: DeviceToken, _ outcomes: [Outcome]) {
        state.withLockedValue { $0.scripts[token] = outcomes }
    }

    /// Sets the outcome of pushes without a script.
    package func otherwise(_ outcome: @escaping @Sendable (Push) -> Outcome) {
        state.withLockedValue { $0.fallback = outcome }
    }

    /// Holds all following outcomes until `release`.
    package func hold() { state.withLockedValue { $0.isHolding = true } }

    /// Delivers the held outcomes and stops holding.
    package func release() {
        let held = state.withLockedValue { state in
            state.isHolding = false
            state.inFlight -= state.held.reduce(0) { $0 + $1.completions.count }
            defer { state.held = [] }
            return state.held
        }
        for one in held { answer(one) }
    }

    /// All pushes so far, in order.
    package var sent: [Sent] { state.withLockedValue { $0.sent } }

    /// The pushes to `token`, in order.
    package func pushes(to token: DeviceToken) -> [Push] { sent.map(\.push).filter { $0.token == token } }

    /// The maximum number of pushes that waited for their outcome at the same time.
    package var maximumInFlight: Int { state.withLockedValue { $0.maximumInFlight } }

    /// Returns after at least `count` pushes were sent.
    package func sends(atLeast count: Int) async { await asked.reaches(count) }

    package func send(
        _ batch: [Push],
        through credential: CredentialKey,
        deadline: Duration
    ) -> AsyncStream<[PushCompletion]> {
        let (stream, continuation) = AsyncStream.makeStream(of: [PushCompletion].self)
        let held = state.withLockedValue { state -> Held? in
            let completions = batch.map { PushCompletion(slot: $0.slot, outcome: Self.outcome(of: $0, &state)) }
            state.sent.append(contentsOf: batch.map { Sent(push: $0, credential: credential) })
            state.maximumInFlight = max(state.maximumInFlight, state.inFlight + batch.count)
            let held = Held(completions: completions, stream: continuation)
            guard state.isHolding else { return held }
            state.inFlight += batch.count
            state.held.append(held)
            return nil
        }
        if let held { answer(held) }
        asked.add(batch.count)
        return stream
    }

    package func drain() {}

    private static func outcome(of push: Push, _ state: inout State) -> Outcome {
        guard var script = state.scripts[push.token], let first = script.first else {
            return state.fallback?(push) ?? .accepted(TransportMessageID(push.id))
        }
        if script.count > 1 {
            script.removeFirst()
            state.scripts[push.token] = script
        }
        return first
    }

    private func answer(_ held: Held) {
        var rest = held.completions[...]
        while !rest.isEmpty {
            held.stream.yield(Array(rest.prefix(batchSize)))
            rest = rest.dropFirst(batchSize)
        }
        held.stream.finish()
    }
}
