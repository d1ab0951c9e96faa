import Model
import ServiceLifecycle

/// The calls of a webhook in the order of devices: the lanes of a page in parallel, the calls of a lane one after another.
struct LaneCalls: Sendable {
    /// How far a lane came.
    struct Outcome: Sendable {
        /// The number of events that the receiver confirmed, from the first on.
        var confirmed = 0
        /// The call that ended the lane early.
        var failure: CallOutcome?
    }

    let caller: any WebhookCaller
    let policy: WebhookPolicy
    let lease: WebhookLease
    let webhook: WebhookID
    let keys: [Signature.Key]

    /// Makes the calls of all lanes, whose offsets belong to a generation of the log, and returns their outcomes in the order of the lanes.
    func post(_ lanes: [[EventRecord]], of generation: String) async -> [Outcome] {
        await withTaskGroup(of: (Int, Outcome).self) { group in
            for (index, lane) in lanes.enumerated() {
                group.addTask { (index, await post(lane, of: generation)) }
            }
            var outcomes = [Outcome](repeating: Outcome(), count: lanes.count)
            for await (index, outcome) in group { outcomes[index] = outcome }
            return outcomes
        }
    }

    /// Makes the calls of one lane until one fails, the limit of calls is reached or the node shuts down.
    private func post(_ lane: [EventRecord], of generation: String) async -> Outcome {
        var outcome = Outcome()
        for number in 0..<max(1, policy.callsPerLane) {
            guard outcome.confirmed < lane.count, number == 0 || !Task.isShuttingDownGracefully else { break }
            let (body, count) = EventBody.write(
                lane[outcome.confirmed...].prefix(max(1, policy.eventsPerLaneCall)),
                of: generation,
                for: webhook,
                limitBytes: policy.laneBodyLimitBytes
            )
            let answer = await caller.post(
                WebhookCall(
                    url: lease.url,
                    contentType: EventBody.contentType,
                    body: body,
                    signature: Signature.of(body, at: lease.claimedAt, keys: keys),
                    keepsConnection: true
                )
            )
            guard answer == .accepted else {
                outcome.failure = answer
                break
            }
            outcome.confirmed += count
        }
        return outcome
    }
}
