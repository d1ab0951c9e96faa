import DeliveryEngine
import EngineSupport
import Model
import Testing

/// The payloads of one slice: written once if no target changes them, never shared if a target may.
@Suite struct PayloadWriterTests {
    /// A payload that contains its target.
    private func bytes(of adapter: PlainAdapter, to targets: [TargetFacts]) throws -> [String] {
        let writer = PayloadWriter(adapters: [.rationalOwl: adapter])
        var shared = PayloadWriter.Shared()
        return try targets.map { target in
            let payload = try writer.payload(
                for: MachineBench.work(MachineBench.lease(1)).notification,
                to: target,
                settings: .unbound,
                sharing: &shared
            )
            return String(decoding: payload.bytes, as: UTF8.self)
        }
    }

    @Test func personalPayloadIsWrittenForEachTarget() throws {
        let adapter = PlainAdapter(isPersonal: true, namesTarget: true)
        #expect(
            try bytes(of: adapter, to: [MachineBench.facts(0), MachineBench.facts(1)]) == ["hello d0", "hello d1"]
        )
    }

    @Test func sharedPayloadIsWrittenOncePerPlatform() throws {
        let adapter = PlainAdapter(isPersonal: false, namesTarget: true)
        var android = MachineBench.facts(1)
        android.destination.platform = .android
        let targets = [MachineBench.facts(0), android, MachineBench.facts(2)]
        #expect(try bytes(of: adapter, to: targets) == ["hello d0", "hello d1", "hello d0"])
    }

    // Its format is Apple's, whatever SDK the app has.
    @Test func aLiveActivityIsWrittenInTheNativeFormat() throws {
        let vendor = PlainAdapter(isPersonal: true, namesTarget: true)
        let writer = PayloadWriter(adapters: [.rationalOwl: vendor, .native: PlainAdapter(isPersonal: false)]) {
            (adapter, notification, target, settings) throws(AdapterError) in
            let payload = try adapter.payload(for: notification, to: target, settings: settings)
            return PushPayload(bytes: payload.bytes, type: .liveActivity, priority: 5)
        }
        var notification = MachineBench.work(MachineBench.lease(1)).notification
        notification.content.activity = ActivityReference(.running, "match-7")
        var shared = PayloadWriter.Shared()
        let payloads = try [0, 1].map { index in
            try writer.payload(for: notification, to: MachineBench.facts(index), settings: .unbound, sharing: &shared)
        }
        #expect(payloads.allSatisfy { $0.type == .liveActivity && $0.priority == 5 })
        #expect(payloads[0] === payloads[1], "it is the same for each device")
        #expect(String(decoding: payloads[0].bytes, as: UTF8.self) == "hello")
    }

    @Test func refusalIsSharedToo() {
        let writer = PayloadWriter(adapters: [.rationalOwl: PlainAdapter(limitBytes: 1, isPersonal: false)])
        var shared = PayloadWriter.Shared()
        for index in 0..<2 {
            #expect(throws: PayloadProblem.payloadTooLarge) {
                try writer.payload(
                    for: MachineBench.work(MachineBench.lease(1)).notification,
                    to: MachineBench.facts(index),
                    settings: .unbound,
                    sharing: &shared
                )
            }
        }
    }
}
