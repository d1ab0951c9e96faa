import APNsSimulator

/// The behavior of a peer during one part of a soak: faults of streams and of connections, one kind at a time.
struct SoakPlan: Sendable {
    let name: String
    var latency = Latency.uniform(.milliseconds(2), .milliseconds(40))
    var faults: [(ScriptSelector, Fault)] = []
    /// The statuses, each with the share of pushes that get it.
    var answers: [(status: Int, share: Double)] = []

    /// Its script, which lasts as long as the plan.
    func script(for duration: Duration) -> [ScriptedAnswer] {
        var entries: [ScriptedAnswer] = []
        for (selector, fault) in faults {
            var selector = selector
            selector.lifetime = duration
            entries.append(ScriptedAnswer(selector, fault: fault))
        }
        for (status, share) in answers {
            var entry = ScriptedAnswer(token: "*", status: status)
            entry.selector = ScriptSelector(share: share, lifetime: duration)
            entries.append(entry)
        }
        return entries
    }

    private static func some(_ share: Double, _ moment: ScriptSelector.Moment = .end) -> ScriptSelector {
        ScriptSelector(share: share, moment: moment)
    }

    private static func away(
        _ last: GoAwayFault.LastStream,
        _ ending: Fault.Ending,
        _ repetition: GoAwayFault.Repetition? = nil,
        text: String = GoAwayFault.json("Shutdown")
    ) -> Fault {
        .goingAway(GoAwayFault(debugText: text, lastStream: last, repetition: repetition, ending: ending))
    }

    /// Every fault of docs/simulator.md.
    static let all: [SoakPlan] = [
        SoakPlan(name: "no fault"),
        SoakPlan(
            name: "RST_STREAM",
            faults: [7, 2, 8, 1, 5].map { (some(0.01), .reset(code: $0)) } + [(some(0.01, .headers), .reset(code: 7))]
        ),
        SoakPlan(
            name: "GOAWAY",
            faults: [
                (some(0.001), away(.before, .close)), (some(0.001), away(.this, .drain)),
                (some(0.001), away(.before, .tcpReset)), (some(0.0005), away(.max, .close)),
                (some(0.0005), away(.zero, .close)), (some(0.001, .headers), away(.before, .drain)),
            ]
        ),
        SoakPlan(
            name: "GOAWAY twice",
            faults: [
                (some(0.001), away(.before, .close, .same)), (some(0.001), away(.before, .drain, .graceful)),
                (
                    some(0.001),
                    away(.this, .close, .graceful, text: "Maximum active streams violated for this endpoint.")
                ),
                (some(0.001), away(.before, .close, text: "")),
            ]
        ),
        SoakPlan(name: "silence", faults: [(some(0.002), .silence)]),
        SoakPlan(
            name: "half a frame",
            faults: [(some(0.0005), .half(then: .close)), (some(0.0005), .half(then: .tcpReset))]
        ),
        SoakPlan(
            name: "end of TCP",
            faults: [
                (some(0.0005), .close), (some(0.0005), .tcpReset), (some(0.0005, .headers), .tcpReset),
                (some(0.3, .accept), .close),
            ]
        ),
        SoakPlan(
            name: "TLS",
            faults: [
                (some(0.0005), .tlsAlert(code: nil)), (some(0.3, .accept), .tlsAlert(code: nil)),
                (some(0.3, .accept), .slowHandshake(.milliseconds(800))),
            ]
        ),
        SoakPlan(
            name: "SETTINGS",
            faults: [
                (
                    some(0.002),
                    .settings(
                        StreamLimitChange(streams: 1, restoredAfter: .milliseconds(300), refusesStreamsAbove: true)
                    )
                ),
                (some(0.002), .settings(StreamLimitChange(streams: 5, restoredAfter: .milliseconds(200)))),
            ]
        ),
        SoakPlan(name: "windows", faults: [(some(0.002), .starve(windowBytes: 0, until: .milliseconds(400)))]),
        SoakPlan(
            name: "half open",
            faults: [(some(0.0003), .freeze(until: nil)), (some(0.0005), .freeze(until: .seconds(1)))]
        ),
        SoakPlan(name: "shutdown", faults: [(some(0.001), .shutDown)]),
        SoakPlan(name: "bytes that are no frame", faults: [(some(0.0005), .raw(Array(repeating: 0xFF, count: 40)))]),
        SoakPlan(name: "storms", answers: [(429, 0.2), (503, 0.2), (500, 0.05), (410, 0.05)]),
        SoakPlan(
            name: "latencies",
            latency: .percentiles([
                .init(percent: 50, latency: .milliseconds(10)), .init(percent: 99, latency: .milliseconds(400)),
                .init(percent: 100, latency: .milliseconds(1_500)),
            ])
        ),
        SoakPlan(
            name: "everything",
            faults: [
                (some(0.005), .reset(code: 7)), (some(0.001), .reset(code: 2)), (some(0.0005), away(.before, .close)),
                (some(0.0005), .tcpReset), (some(0.0005), .silence), (some(0.2, .accept), .close),
                (some(0.001), .settings(StreamLimitChange(streams: 1, restoredAfter: .milliseconds(200)))),
            ],
            answers: [(429, 0.05), (503, 0.05)]
        ),
    ]
}
