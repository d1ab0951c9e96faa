import Foundation
import Model
import Postgres
import Testing

@testable import Gateway

/// Badges under everything at once, over two nodes: sends, first and repeated reads, resets and updates. Each ends at the number that arithmetic gives.
@Suite(.serialized, .timeLimit(.minutes(30)))
struct BadgeRaceTests {
    /// 1,000 sends over all users; `SOAK_BADGE_SENDS` is the long run's.
    static let sends = Soak.size("SOAK_BADGE_SENDS") ?? 1000
    private static let users = 8

    @Test func concurrentSendsReadsResetsAndUpdatesEndAtTheRightBadge() async throws {
        try await Soak.with(Cluster(nodes: 2)) { cluster in
            try await cluster.world.applyUPMC()
            let nodes = try (0..<2).map { UPMCCaller(base: try cluster.http($0).base) }
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
                    try await group.waitForAll()
                }
            }
            try await Self.drained(cluster)
            for user in 0..<Self.users {
                if !user.isMultiple(of: 2) {
                    let fields = phones[user][0].fields.merging(["BADGENO": "5"]) { $1 }
                    #expect(try await nodes[1].call("rcv_init_badgeNo", fields).first?["BADGENO"] == "5")
                    _ = try await Self.sendAndWait(nodes[0], cluster, phones[user], count: 3)
                }
                // Sent minus the half that was read; or what it was set to and three more.
                let right = user.isMultiple(of: 2) ? 2 * (perUser / 2 - Self.readCount(perUser / 2)) : 8
                let seen = try await cluster.number(
                    "SELECT count AS number FROM gateway.badge WHERE holder = 'user:user-\(user)'"
                )
                #expect(seen == right, "user \(user)")
            }
            let marks = try await cluster.number(
                "SELECT count(*) AS number FROM gateway.badge_mark WHERE badge IS NOT NULL"
            )
            #expect(marks == 2 * (perUser / 2) * Self.users + 3 * Self.users / 2, "one per message and user")
        }
    }

    /// How many of so many sends are read.
    private static func readCount(_ sends: Int) -> Int { (sends + 1) / 2 }

    /// Sends on either node, and reads every second message three times: on both devices, on both nodes, and again.
    private static func run(
        _ nodes: [UPMCCaller],
        _ database: Database,
        _ phones: [UPMCCaller.Phone],
        sends: Int,
        lane: Int,
        isDisturbed: Bool
    ) async throws {
        for index in 0..<sends {
            let number = try await nodes[(index + lane) % 2].send(to: [phones[0].user], ["BADGENO": "1"])
            if index.isMultiple(of: 2) {
                try await firstRead(nodes[index % 2], database, phones[lane], number)
                async let again = nodes[(index + 1) % 2].read(phones[1 - lane], number, badge: -1)
                async let repeated = nodes[index % 2].read(phones[lane], number, badge: -1)
                let codes = try await [again.code, repeated.code]
                try #require(codes == ["0000", "0000"])
            }
            guard isDisturbed else { continue }
            let holder = phones[index % 2].fields
            switch index % 4 {
            case 0: _ = try await nodes[0].read(phones[0], number, badge: 0)
            case 1: _ = try await nodes[1].call("rcv_init_badgeNo", holder.merging(["BADGENO": "\(index)"]) { $1 })
            case 2: _ = try await nodes[1].read(phones[1], number, badge: 7)
            default: break
            }
        }
    }

    /// Reads once the message was counted for its user, which is when its pushes leave: an app reads what it was shown.
    private static func firstRead(
        _ node: UPMCCaller,
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
        for _ in 0..<4000 {
            if try await database.engine.run(counted, tenant: nil).only().int("number") > 0 { break }
            try await Task.sleep(for: .milliseconds(5))
        }
        let read = try await node.read(phone, number, badge: -1)
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

    /// Waits until nothing is left to send.
    private static func drained(_ cluster: Cluster) async throws {
        for _ in 0..<600 {
            if try await cluster.openSlices() == 0 { return }
            try await Task.sleep(for: .milliseconds(100))
        }
    }
}
