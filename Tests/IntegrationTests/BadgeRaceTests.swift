import Foundation
import Model
import NIOConcurrencyHelpers
import PostgresClient
import Testing

@testable import CommandSupport
@testable import Gateway

/// Badges under concurrent load over two nodes: sends, first and repeated reads, resets and updates. Each badge must
/// end at the calculated number.
@Suite(.serialized, .timeLimit(.minutes(30)))
struct BadgeRaceTests {
    /// 1,000 sends over all users. `SOAK_BADGE_SENDS` sets the size of the long run.
    static let sends = Soak.size("SOAK_BADGE_SENDS") ?? 1000
    private static let users = 8

    /// The push service is slow enough that pushes are in progress when a node is killed.
    private static let steady = ["--mode", "script", "--latency-ms", "50", "--max-streams", "10"]

    @Test(arguments: [0, 1])
    func concurrentSendsReadsResetsAndUpdatesEndAtTheRightBadge(kills: Int) async throws {
        let cluster = try Cluster(
            nodes: 2,
            arguments: kills > 0 ? ["--lease-seconds", "5"] : [],
            simulatorArguments: kills > 0 ? Self.steady : ["--mode", "accept"]
        )
        try await Soak.with(cluster) { cluster in
            try await cluster.world.applyUPMC()
            let nodes = LiveNodes(try (0..<2).map { UPMCCaller(base: try cluster.http($0).base) })
            // Of each user two devices: a message counts once for both.
            let phones = (0..<Self.users).map { user in
                (0..<2).map { _ in UPMCCaller.Phone(user: "user-\(user)") }
            }
            for phone in phones.flatMap(\.self) { try await nodes[0].register(phone) }

            // The even users are only sent to and read: their counters are exact sums. The odd ones are reset and updated meanwhile, and then set.
            let perUser = Self.sends / Self.users
            try await cluster.withDatabase { database in
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for (user, lane) in (0..<Self.users).flatMap({ user in (0..<2).map { (user, $0) } }) {
                        group.addTask {
                            try await Self.run(
                                nodes,
                                database,
                                phones[user],
                                sends: perUser / 2,
                                lane: lane,
                                isDisturbed: !user.isMultiple(of: 2)
                            )
                        }
                    }
                    if kills > 0 { group.addTask { try await Self.killAndRestart(cluster, nodes, database) } }
                    try await group.waitForAll()
                }
            }
            try await Self.drained(cluster)
            for user in 0..<Self.users where !user.isMultiple(of: 2) {
                let fields = phones[user][0].fields.merging(["BADGENO": "5"]) { $1 }
                #expect(try await nodes[1].call("rcv_init_badgeNo", fields).first?["BADGENO"] == "5")
                _ = try await Self.sendAndWait(nodes[0], cluster, phones[user], count: 3)
            }
            try await expectBadges(cluster, perUser: perUser, isExact: kills == 0)
            if kills > 0 { try await expectOneBadgePerPush(cluster, phones.flatMap(\.self)) }
        }
    }

    /// Expects the sent messages minus the read ones, once per message and user, or the value to which a counter was
    /// set, plus three.
    private func expectBadges(_ cluster: Cluster, perUser: Int, isExact: Bool) async throws {
        for user in 0..<Self.users {
            let holder = "'user:user-\(user)'"
            let right: Int
            if user.isMultiple(of: 2) {
                // A killed node may have accepted what it did not answer: the database knows.
                right = try await cluster.number(
                    """
                    SELECT count(DISTINCT d.message_id) - count(DISTINCT d.message_id) FILTER (WHERE d.read_at IS NOT NULL) AS number
                    FROM gateway.delivery d WHERE d.user_id = 'user-\(user)'
                    """
                )
                if isExact { #expect(right == 2 * (perUser / 2 - Self.readCount(perUser / 2))) }
            } else {
                right = 8
            }
            let seen = try await cluster.number("SELECT count AS number FROM gateway.badge WHERE holder = \(holder)")
            #expect(seen == right, "user \(user)")
        }
        let marks = try await cluster.number(
            "SELECT count(*) AS number FROM gateway.badge_mark WHERE badge IS NOT NULL"
        )
        let messages = try await cluster.number(
            "SELECT count(DISTINCT (message_id, user_id)) AS number FROM gateway.delivery"
        )
        #expect(marks == messages, "one per message and user")
        if isExact { #expect(marks == 2 * (perUser / 2) * Self.users + 3 * Self.users / 2) }
    }

    /// Pushes that are repeated under one `apns-id` must show the same number.
    private func expectOneBadgePerPush(_ cluster: Cluster, _ phones: [UPMCCaller.Phone]) async throws {
        var repeats = 0
        for phone in phones {
            let answer = try await cluster.world.control.call(
                "GET",
                "/_simulator/requests?token=\(phone.token)&limit=1000"
            )
            var badges: [String: JSON] = [:]
            for request in answer.json?["requests"]?.array ?? [] {
                let id = try #require(request["headers"]?["apns-id"]?.string)
                let badge = try #require(request["payload"]?["aps"]?["badge"])
                if let first = badges[id] {
                    repeats += 1
                    #expect(first == badge, "\(id)")
                }
                badges[id] = badge
            }
            #expect(!badges.isEmpty)
        }
        print("\(repeats) pushes were repeated, each with the badge of its first attempt")
    }

    /// Ends a node with SIGKILL when a third of the messages was counted, and starts it again.
    private static func killAndRestart(_ cluster: Cluster, _ nodes: LiveNodes, _ database: Database) async throws {
        let counted = Statement("SELECT count(*) AS number FROM gateway.badge_mark WHERE badge IS NOT NULL")
        try await eventually("a third is counted", within: .seconds(120), every: .milliseconds(5)) {
            try await database.engine.run(counted, tenant: nil).only().int("number") >= sends / 3
        }
        nodes.lose(1)
        try await cluster.killNode(1)
        let before = try await database.engine.run(counted, tenant: nil).only().int("number")
        try await eventually("the other node continues to count", within: .seconds(120), every: .milliseconds(5)) {
            try await database.engine.run(counted, tenant: nil).only().int("number") >= before + sends / 20
        }
        try await cluster.startNode(1)
        nodes.take(1, UPMCCaller(base: try cluster.http(1).base))
    }

    /// The number of read messages for a number of sends.
    private static func readCount(_ sends: Int) -> Int { (sends + 1) / 2 }

    /// Sends on either node, and reads every second message three times: on both devices, on both nodes, and again.
    private static func run(
        _ nodes: LiveNodes,
        _ database: Database,
        _ phones: [UPMCCaller.Phone],
        sends: Int,
        lane: Int,
        isDisturbed: Bool
    ) async throws {
        for index in 0..<sends {
            // No answer: the node was killed, and nobody knows whether it accepted.
            guard
                let number = try await nodes.once(
                    index + lane,
                    { try await $0.send(to: [phones[0].user], ["BADGENO": "1"]) }
                )
            else { continue }
            if index.isMultiple(of: 2) {
                try await firstRead(nodes, index, database, phones[lane], number)
                async let again = nodes.repeating(index + 1) { try await $0.read(phones[1 - lane], number, badge: -1) }
                async let repeated = nodes.repeating(index) { try await $0.read(phones[lane], number, badge: -1) }
                let codes = try await [again.code, repeated.code]
                try #require(codes == ["0000", "0000"])
            }
            guard isDisturbed else { continue }
            let holder = phones[index % 2].fields
            switch index % 4 {
            case 0: _ = try await nodes.once(0) { try await $0.read(phones[0], number, badge: 0) }
            case 1:
                let fields = holder.merging(["BADGENO": "\(index)"]) { $1 }
                _ = try await nodes.once(1) { try await $0.call("rcv_init_badgeNo", fields) }
            case 2: _ = try await nodes.once(1) { try await $0.read(phones[1], number, badge: 7) }
            default: break
            }
        }
    }

    /// Reads a message after it was counted for its user, which is when its pushes are sent: an app reads messages
    /// that it has displayed.
    private static func firstRead(
        _ nodes: LiveNodes,
        _ index: Int,
        _ database: Database,
        _ phone: UPMCCaller.Phone,
        _ number: String
    ) async throws {
        let counted = Statement(
            """
            SELECT count(*) AS number FROM gateway.message_ref r
            JOIN gateway.badge_mark k ON k.tenant_id = r.tenant_id AND k.message_id = r.message_id
            WHERE r.tenant_id = 'acme' AND r.app_id = 'upmc' AND r.ref = $1 AND k.badge IS NOT NULL
            """,
            [.text(number)]
        )
        try await eventually("message \(number) is counted", within: .seconds(60), every: .milliseconds(25)) {
            try await database.engine.run(counted, tenant: nil).only().int("number") > 0
        }
        let read = try await nodes.repeating(index) { try await $0.read(phone, number, badge: -1) }
        try #require(read.code == "0000")
    }

    private static func sendAndWait(
        _ node: UPMCCaller,
        _ cluster: Cluster,
        _ phones: [UPMCCaller.Phone],
        count: Int
    ) async throws {
        for _ in 0..<count { _ = try await node.send(to: [phones[0].user], ["BADGENO": "1"]) }
        try await drained(cluster)
    }

    /// Waits until the queue is empty.
    private static func drained(
        _ cluster: Cluster,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        try await eventually(
            "nothing is left to send",
            within: .seconds(120),
            every: .milliseconds(100),
            sourceLocation: sourceLocation
        ) {
            try await cluster.openSlices() == 0
        }
    }
}

/// The nodes by number while one of them may be killed. Its calls go to the other node until it is back.
private final class LiveNodes: Sendable {
    private let callers: NIOLockedValueBox<[UPMCCaller?]>
    /// The number of calls without an answer. Only a killed node may cause one.
    private let losses = NIOLockedValueBox(0)

    init(_ callers: [UPMCCaller]) { self.callers = NIOLockedValueBox(callers) }

    subscript(number: Int) -> UPMCCaller {
        callers.withLockedValue { $0[number % $0.count] ?? $0.compactMap(\.self)[0] }
    }

    func lose(_ number: Int) {
        losses.withLockedValue { $0 += 1 }
        callers.withLockedValue { $0[number] = nil }
    }

    func take(_ number: Int, _ caller: UPMCCaller) { callers.withLockedValue { $0[number] = caller } }

    /// Calls a node once. Returns nil if the node was killed before it answered.
    func once<Value: Sendable>(_ number: Int, _ call: (UPMCCaller) async throws -> Value) async throws -> Value? {
        do { return try await call(self[number]) } catch {
            guard losses.withLockedValue({ $0 > 0 }) else { throw error }
            return nil
        }
    }

    /// Repeats a call until it is answered, for calls that may be repeated.
    func repeating<Value: Sendable>(
        _ number: Int,
        sourceLocation: SourceLocation = #_sourceLocation,
        _ call: (UPMCCaller) async throws -> Value
    ) async throws -> Value {
        var attempt = -1
        return try await first("a node answers", every: .milliseconds(50), sourceLocation: sourceLocation) {
            attempt += 1
            return try await once(number + attempt, call)
        }
    }
}
