import CommandSupport
import Foundation
import Gateway
import Logging
import Model
import Observability
import PostgresClient

/// The cost of observing the same calls with parity and without, in one pair of turns.
struct ParityPair: Sendable, CustomStringConvertible {
    /// CPU time per call of the program that observes, and of PostgreSQL. Unit: microseconds.
    struct Turn: Sendable {
        var gateway: Double
        var postgres: Double
    }

    var with: Turn
    var without: Turn

    /// The program's CPU with parity, relative to without.
    var ratio: Double { with.gateway / without.gateway }
    /// The same with PostgreSQL's CPU.
    var ratioOfAll: Double { (with.gateway + with.postgres) / (without.gateway + without.postgres) }

    var description: String {
        String(
            format: "CPU µs per call: %.1f with parity, %.1f without, ratio %.3f; with PostgreSQL %.3f",
            with.gateway,
            without.gateway,
            ratio,
            ratioOfAll
        )
    }
}

/// The turns of `bench parity`: devices register, get a message, and report it, at a vendor whose answers the gateway observes.
struct ParityRun {
    let stage: BenchStage
    /// The devices of a turn; each makes three calls.
    let devices: Int

    private static let account = "a1b2c3d4-1111-4222-8333-444455556666"
    private static let service = "0123456789abcdef0123456789abcdef"
    private static let sender = "bench-sender"

    /// - Throws: `StageFailure` when a call was not stored.
    func measure(pairs: Int) async throws -> [ParityPair] {
        let logger = Logger(label: "bench") { JSONLogHandler(label: $0, level: .warning) }
        guard
            let trial = ObservationTrial(
                stage.database,
                tenant: BenchStage.tenant,
                app: BenchStage.app,
                vendor: .rationalOwl,
                logger: logger
            )
        else { throw StageFailure("calls of this dialect are not observed") }
        await trial.observe(trial.prepared(Self.enrolment), compares: false)
        var samples: [ParityPair] = []
        var first = 0
        func turn(compares: Bool) async throws -> ParityPair.Turn {
            defer { first += devices }
            return try await measure(trial, first..<first + devices, compares: compares)
        }
        // The first pair is a warm-up.
        for pair in 0...pairs {
            let (with, without) = try await AlternatingPair.measure(pair) { try await turn(compares: $0) }
            guard pair > 0 else { continue }
            let sample = ParityPair(with: with, without: without)
            samples.append(sample)
            Console.error("pair \(pair): \(sample)")
        }
        return samples
    }

    private func measure(
        _ trial: ObservationTrial,
        _ numbers: Range<Int>,
        compares: Bool
    ) async throws -> ParityPair.Turn {
        let calls = Self.calls(numbers).map(trial.prepared)
        let (own, others) = (ProcessUsage.cpuSeconds(getpid()), try stage.postgresCPU())
        for part in calls { await trial.observe(part, compares: compares) }
        let turn = ParityPair.Turn(
            gateway: (ProcessUsage.cpuSeconds(getpid()) - own) / Double(3 * devices) * 1e6,
            postgres: (try stage.postgresCPU() - others) / Double(3 * devices) * 1e6
        )
        let stored = try await stage.database.engine.run(
            Statement(
                "SELECT count(*) AS count FROM gateway.delivery d WHERE d.tenant_id = $1 AND d.read_at IS NOT NULL",
                [.text(BenchStage.tenant.rawValue)]
            ),
            tenant: nil
        )
        let count = try stored.only().int("count")
        guard count == numbers.upperBound else {
            throw StageFailure("only \(count) of \(numbers.upperBound) messages were reported")
        }
        return turn
    }

    // MARK: Calls

    /// The calls of devices, one kind after the other, so that a receipt follows the message of its device.
    static func calls(_ numbers: Range<Int>) -> [[ObservationTrial.Call]] {
        [numbers.map(registration), numbers.map(send), numbers.map(receipt)]
    }

    private static func answer(_ json: JSON) -> [UInt8] { JSONWriter.bytes(json) }

    private static func key(_ number: Int) -> JSON { .string(String(format: "%032x", number)) }

    private static func message(_ number: Int) -> JSON { .string(String(format: "%032x", (1 << 32) + number)) }

    /// The back end's own registration.
    static let enrolment = [
        ObservationTrial.Call(
            "/server/register/",
            ["serviceId": .string(service), "registerName": "bench", "privateNetwork": 1],
            answer: answer(["serverRegId": .string(sender), "channelServer": "gw.example.com:8006"])
        )
    ]

    private static func registration(_ number: Int) -> ObservationTrial.Call {
        ObservationTrial.Call(
            "/pushApp/installApp",
            [
                "cId": 303, "sId": .string(service), "aId": .string(account), "dt": 2, "dRId": key(number),
                "pn": .string(String(format: "010%08d", number)), "n": "홍길동",
                "tk": .string(String(format: "%064x", number)), "env": "prod",
            ],
            answer: answer([
                "cId": 303, "aId": .string(account), "rc": 1, "cmt": "정상처리", "usRid": .string(sender),
            ])
        )
    }

    private static func send(_ number: Int) -> ObservationTrial.Call {
        ObservationTrial.Call(
            "/msgClient/msgClientSendMsgByDeviceId",
            [
                "rId": .string(sender), "aId": .string(account), "ip": "203.0.113.10",
                "msg": ["title": "공지", "body": "공지사항입니다~"],
                "dest": ["t": 2, "tg": [["dId": key(number)]]],
            ],
            answer: answer(["mId": message(number)])
        )
    }

    private static func receipt(_ number: Int) -> ObservationTrial.Call {
        ObservationTrial.Call(
            "/pushApp/notiRead",
            [
                "cId": 311, "r": 1, "aId": .string(account), "dRId": key(number),
                "pn": .string(String(format: "010%08d", number)), "mId": message(number),
            ],
            answer: Array("ok".utf8)
        )
    }
}
