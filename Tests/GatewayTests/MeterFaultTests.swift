import Commands
import DatabaseSupport
import DeliveryEngine
import EngineStore
import Foundation
import Imports
import Migration
import MigrationStore
import Model
import NIOCore
import PostgresClient
import Routing
import Store
import Testing

@testable import Gateway

/// Gates that fail because of a fault of the outside world, measured on real PostgreSQL: the fault happens in the stores or in observed calls, and the test makes no
/// figure. `GateFaultTests` has what the machine does then, and `GateFaultRunTests` and `MigrationRunTests` have the other gates.
@Suite(.timeLimit(.minutes(10))) struct MeterFaultTests {
    /// A gate, and a cause that makes it fail.
    struct Fault: Sendable, CustomTestStringConvertible {
        var gate: MigrationGate
        var what: String
        /// The value before the cause; nil: none is known.
        var before: Double?
        /// The values with the fault, and without it.
        var bad: ClosedRange<Double>
        var good: ClosedRange<Double>
        /// Makes the cause, with the fault or without it.
        var cause: @Sendable (MeterStage, _ isFaulty: Bool) async throws -> Void

        var testDescription: String { "\(gate.metric.rawValue): \(what)" }
    }

    /// More than the 200 samples of a gate, and the part of them that a fault concerns.
    private static let count = 220
    private static let part = 22
    private static let tenth = 0.0999...0.1001
    private static let rest = 0.8999...0.9001

    static let faults = [
        Fault(
            gate: MigrationGate(.observed, 0.999),
            what: "registrations of a form that only the vendor knows",
            bad: rest,
            good: 1...1
        ) { stage, isFaulty in
            // 7 is not a documented platform.
            let calls = (0..<count).map { install($0, platform: isFaulty && $0 < part ? 7 : 2) }
            try await stage.observe(calls)
        },
        Fault(gate: MigrationGate(.senders, 1), what: "a back end without a proof", bad: rest, good: 1...1) {
            stage,
            isFaulty in
            let calls = (0..<count).map { number in
                let isStranger = isFaulty && number < part
                return send(number, to: ["d0"], "x", from: isStranger ? "203.0.113.9" : "10.1.2.3")
            }
            try await stage.observe(calls)
        },
        Fault(gate: MigrationGate(.reach, 0.995), what: "devices without a token", bad: rest, good: 1...1) {
            stage,
            isFaulty in
            try await stage.register(count, withoutToken: isFaulty ? part : 0)
            try await stage.observe([send(1, to: (0..<count).map { "d\($0)" }, "x")])
        },
        Fault(gate: MigrationGate(.payload, 0.001), what: "texts that do not fit", bad: tenth, good: 0...0) {
            stage,
            isFaulty in
            let long = String(repeating: "\"", count: 2000)
            try await stage.observe((0..<count).map { send($0, to: ["d0"], isFaulty && $0 < part ? long : "x") })
        },
        Fault(
            gate: MigrationGate(.backlog, 60),
            what: "a vendor that is down",
            before: 0,
            bad: 400...3600,
            good: 0...60
        ) { stage, isFaulty in try await forward(stage, secondsAgo: isFaulty ? 400 : 0) },
        Fault(gate: MigrationGate(.optOuts, 1), what: "an import without opt-outs", bad: 0...0, good: 2...2) {
            stage,
            isFaulty in
            let last = isFaulty ? "true" : "false"
            let rows = (0..<5).map { "d\($0),u\($0),\($0 < 3 ? "true" : last)\n" }
            try await importDevices("key,user,acceptsPush\n" + rows.joined(), stage)
        },
        Fault(gate: MigrationGate(.failures, 0.02), what: "a wrong topic", bad: tenth, good: 0...0) {
            stage,
            isFaulty in
            try await push(stage, to: try await stage.register(count), refusing: isFaulty ? part : 0)
        },
        Fault(gate: MigrationGate(.failures, 0.02), what: "texts that do not fit", bad: tenth, good: 0...0) {
            stage,
            isFaulty in
            let identities = try await stage.register(count)
            try await push(stage, to: identities, refusing: isFaulty ? part : 0, isMade: false)
        },
    ]

    private func made(_ fault: Fault, isFaulty: Bool) async throws -> MigrationVerdict {
        let stage = try await MeterStage.make(.rationalOwl, ["senderNetworks": ["10.0.0.0/8"]])
        let before = try await stage.verdict(fault.gate)
        if let value = fault.before {
            #expect(before == .passed(MigrationMeasurement(value, samples: 1)))
        } else {
            #expect(before == .missing(fault.gate.samples), "no data is not a success")
        }
        try await fault.cause(stage, isFaulty)
        return try await stage.verdict(fault.gate)
    }

    @Test(arguments: faults) func aFaultOfTheOutsideWorldFailsItsGate(_ fault: Fault) async throws {
        let failed = try await made(fault, isFaulty: true)
        guard case .failed(let measured) = failed else {
            Issue.record("\(failed)")
            return
        }
        #expect(fault.bad.contains(measured.value) && measured.samples >= fault.gate.samples, "\(measured)")
        try stops(fault.gate, measured)
    }

    /// The measured figure stops a migration within two evaluations, which says why. Without the gate the same figure passes.
    private func stops(_ gate: MigrationGate, _ measured: MigrationMeasurement) throws {
        let begin = Timestamp(seconds: 1_800_000_000)
        var state = MigrationState()
        (state.status, state.since) = (.running, begin)
        func evaluate(_ gates: [MigrationGate], _ state: MigrationState, _ seconds: Int64) throws -> MigrationState {
            let steps = [MigrationStep(.rollout(5000), gates: gates), MigrationStep(.hold)]
            let plan = MigrationPlan(
                id: "leave",
                app: "shop",
                upstream: MeterStage.upstream,
                unit: .device,
                onFailure: .rollback,
                steps: steps
            )
            let machine = MigrationMachine(plan, UpstreamFacts(vendor: .rationalOwl))
            let now = begin + .seconds(seconds)
            return try #require(machine.evaluate(state, [gate.metric: measured], now: now)).state
        }
        let first = try evaluate([gate], state, 30)
        #expect(first.status == .running && !first.isReady)
        let second = try evaluate([gate], first, 60)
        #expect(second.status == .rolledBack)
        let reason = "\(gate.metric.rawValue) failed: \(measured.value) of \(measured.samples) samples"
        #expect(second.reason?.hasPrefix(reason) == true, "\(second.reason ?? "-")")
        let control = try evaluate([], state, 60)
        #expect(control.status == .running && control.isReady)
    }

    // The control: the same cause without the fault.
    @Test(arguments: faults) func withoutTheFaultTheGatePasses(_ fault: Fault) async throws {
        let passed = try await made(fault, isFaulty: false)
        guard case .passed(let measured) = passed else {
            Issue.record("\(passed)")
            return
        }
        #expect(fault.good.contains(measured.value), "\(measured)")
    }

    // The app may have another dialect whose calls are proxied too. They say nothing about the vendor that it leaves, and must not fill its gates.
    @Test(arguments: [(.rationalOwl, 3), (.upmc, nil)] as [(Vendor, Int?)])
    func onlyCallsOfTheDialectThatTheAppLeavesCount(_ leaving: Vendor, _ samples: Int?) async throws {
        var stage = try await MeterStage.make(.rationalOwl, ["senderNetworks": ["10.0.0.0/8"]])
        stage.leaving = leaving
        try await stage.observe((0..<3).map { Self.install($0, platform: 2) })
        #expect(try await stage.figure(.observed)?.samples == samples)
    }

    @Test(arguments: [(.rationalOwl, true), (.native, true), (.upmc, false)] as [(Vendor, Bool)])
    func slowPushesOfTheVendorsMessagesAndNativeOnesCount(_ vendor: Vendor, _ counts: Bool) async throws {
        let stage = try await MeterStage.make(.rationalOwl, ["senderNetworks": ["10.0.0.0/8"]])
        var slow = LatencyHistogram()
        for _ in 0..<Self.count { slow.add(9000) }
        let quarter = QuarterRange(stage.since..<stage.since + .seconds(1)).from
        let admin = try await stage.stores.database.admin()
        _ = try await admin.query(
            """
            INSERT INTO gateway.latency (tenant_id, quarter, app_id, vendor, kind, histogram) VALUES (
                '\(stage.tenant)', \(quarter), '\(stage.scope.app)', '\(vendor)', 'delivery',
                '\\x\(HexCoding.encode(slow.encoded))')
            """
        )
        await admin.close()
        let verdict = try await stage.verdict(MigrationGate(.p99, 2))
        if counts {
            #expect(verdict.isFailure, "\(verdict)")
        } else {
            #expect(verdict == .missing(200))
        }
    }

    // In a small rollout the vendor makes most pushes, also those of native messages. They must neither fail the gate nor hide slow ones of the gateway.
    @Test func onlyPushesOfTheGatewayHaveATime() async throws {
        let stage = try await MeterStage.make(.rationalOwl, ["senderNetworks": ["10.0.0.0/8"]])
        let gate = MigrationGate(.p99, 2)
        let identities = try await stage.register(Self.count)
        try await stage.observe([Self.send(1, to: (0..<Self.count).map { "d\($0)" }, "x")])
        try await Self.push(stage, to: identities, over: "upstream:old", after: .seconds(9))
        let admin = try await stage.stores.database.admin()
        let theirs = try await admin.query(
            "SELECT count(*) AS n FROM gateway.delivery WHERE tenant_id = '\(stage.tenant)' AND transport LIKE '%:%'"
        )
        await admin.close()
        #expect(try theirs.only().int("n") == 2 * Self.count)
        try await stage.countEvents()
        #expect(try await stage.verdict(gate) == .missing(200))

        try await Self.push(stage, to: identities, after: .seconds(9))
        try await stage.countEvents()
        guard case .failed(let measured) = try await stage.verdict(gate) else {
            Issue.record("slow pushes of the gateway pass")
            return
        }
        #expect(measured.samples == Self.count && measured.value > 8, "\(measured)")
    }

    // `migration status` states this as the cost of a rollback now.
    @Test func aRollbackWaitsForTheCallsThatTheVendorHasNotReceived() async throws {
        let stage = try await MeterStage.make(.rationalOwl, ["senderNetworks": ["10.0.0.0/8"]])
        func waiting(for upstream: CredentialID = MeterStage.upstream) async throws -> WaitingCalls {
            try await stage.migrations.waitingCalls(for: upstream, in: stage.tenant)
        }
        #expect(try await waiting() == WaitingCalls())
        try await Self.forward(stage, secondsAgo: 400)
        let calls = try await waiting()
        #expect(calls.count == 1 && calls.oldest >= .seconds(400) && !calls.isFull, "\(calls)")
        #expect(try await waiting(for: "other") == WaitingCalls())
        let admin = try await stage.stores.database.admin()
        _ = try await admin.query(
            "UPDATE gateway.outbox_upstream SET is_full = true WHERE tenant_id = '\(stage.tenant)'"
        )
        await admin.close()
        #expect(try await waiting().isFull)
    }

    // MARK: Calls

    private static let account = "a1b2c3d4-1111-4222-8333-444455556666"

    /// A registration of an app of RationalOwl, which the vendor accepts.
    private static func install(_ number: Int, platform: Int) -> MeterStage.Call {
        let body: JSON = [
            "cId": 303, "aId": .string(account), "dt": .int(platform), "dRId": .string("d\(number)"),
            "tk": .string(String(format: "%064x", number + 1)), "env": "prod",
        ]
        let answer: JSON = ["cId": 303, "aId": .string(account), "rc": 1, "cmt": "정상처리", "usRid": "SVR"]
        return MeterStage.Call(path: "/pushApp/installApp", body: JSONWriter.bytes(body), answer: answer)
    }

    /// A send of a back end of RationalOwl, which the vendor accepts.
    static func send(
        _ number: Int,
        to devices: [String],
        _ text: String,
        from address: String = "10.1.2.3"
    ) -> MeterStage.Call {
        let targets = devices.map { JSON.object(["dId": .string($0)]) }
        let body: JSON = [
            "rId": "back-end", "aId": .string(account), "ip": "203.0.113.10",
            "msg": ["title": "공지", "body": .string(text)], "dest": ["t": 2, "tg": .array(targets)],
        ]
        return MeterStage.Call(
            path: "/msgClient/msgClientSendMsgByDeviceId",
            body: JSONWriter.bytes(body),
            address: address,
            answer: ["mId": .string(String(format: "%032x", number + 1))]
        )
    }

    // MARK: Other causes

    /// Answers a registration that its vendor receives later, and has not received for some time.
    private static func forward(_ stage: MeterStage, secondsAgo: Int) async throws {
        let request = try stage.request(install(0, platform: 2), at: stage.since)
        let commands = try stage.adapter.decode(request, settings: stage.settings)
        let call = ForwardedCall(
            request,
            app: stage.scope.app,
            vendor: stage.scope.vendor,
            upstream: MeterStage.upstream,
            kind: .device
        )
        let scope = CallScope(
            tenant: stage.tenant,
            app: stage.scope.app,
            vendor: stage.scope.vendor,
            settings: stage.settings
        )
        let forwarding = CallForwarding(call, about: ForwardedSubject(commands))
        let replies = await stage.handler.perform(commands, in: scope, forwarding: forwarding).replies
        guard case .registration(.registered)? = replies.first else {
            Issue.record("\(replies)")
            return
        }
        let admin = try await stage.stores.database.admin()
        let moved = try await admin.query(
            """
            UPDATE gateway.outbox SET called_at = called_at - interval '\(secondsAgo) seconds'
            WHERE tenant_id = '\(stage.tenant)' RETURNING 1 AS one
            """
        )
        await admin.close()
        #expect(try moved.only().int("one") == 1)
    }

    /// Imports a file as an operator does.
    private static func importDevices(_ file: String, _ stage: MeterStage) async throws {
        let imports = DeviceImports(
            handler: stage.handler,
            maintenance: PostgresMaintenance(engine: stage.stores.engine, node: stage.stores.node),
            identifiers: SystemIdentifiers(),
            clock: DatabaseClock()
        )
        let request = DeviceImports.Request(
            tenant: stage.tenant,
            scope: stage.scope,
            format: .csv,
            isDryRun: false,
            after: 0,
            actor: .key("ops"),
            repeatKey: nil,
            head: ""
        )
        let (body, bytes) = AsyncStream<ByteBuffer>.makeStream()
        bytes.yield(ByteBuffer(string: file))
        bytes.finish()
        let outcome = await imports.run(request, body: body) { report in
            #expect(report.progress.rejects.isEmpty)
            return KeptAnswer(status: 200)
        }
        guard case .done = outcome else {
            Issue.record("\(outcome)")
            return
        }
    }

    /// Sends a message to devices, of which the push service refuses the first ones, or the gateway itself if they are not made.
    private static func push(
        _ stage: MeterStage,
        to identities: [IdentityID],
        refusing refused: Int = 0,
        isMade: Bool = true,
        over transport: String = "apns",
        after delay: Duration = .zero
    ) async throws {
        let (stores, now) = (stage.stores, try await stage.stores.now())
        let slice = NewSlice(number: 0, work: .deliver, targets: identities.map { TargetID($0) })
        let message = NewMessage(
            id: MessageID(SystemIdentifiers().uuid(at: now)),
            scope: stage.scope,
            content: Content(body: "hello"),
            lane: .transactional,
            times: NewMessage.Times(acceptedAt: now, dueAt: now, expiresAt: now + .seconds(3600)),
            targets: NewMessage.Targets(recipients: identities.count, slices: [slice]),
            claim: NewMessage.Claim(node: stores.node, lease: .seconds(600))
        )
        try await stores.accept(message, in: stage.tenant)
        var lease = SliceLease(
            key: SliceKey(tenant: stage.tenant, message: message.id, number: 0),
            epoch: 1,
            lane: message.lane,
            dueDay: message.times.dueAt.day,
            work: .deliver,
            targets: slice.targets
        )
        let reason = isMade ? "DeviceTokenNotForTopic" : "tooLarge"
        let results = identities.enumerated().map { index, identity -> DeliveryResult in
            let isRefused = index < refused
            var attempt = DeliveryAttempt()
            if !isRefused || isMade {
                attempt = DeliveryAttempt(count: 1, transport: transport, transportID: UUID(), payloadBytes: 100)
            }
            return DeliveryResult(
                index: index,
                target: slice.targets[index],
                identity: identity,
                dialect: stage.scope.vendor,
                state: isRefused ? .failed : .sent,
                reason: isRefused ? reason : nil,
                attempt: attempt,
                at: now + delay
            )
        }
        for index in slice.targets.indices { lease.markDone(index) }
        let progress = SliceProgress(
            lease: lease,
            app: stage.scope.app,
            vendor: stage.scope.vendor,
            results: results,
            disposition: .finished
        )
        #expect(try await stores.delivery.record(progress, by: stores.node) == .recorded(identities.count))
    }
}
