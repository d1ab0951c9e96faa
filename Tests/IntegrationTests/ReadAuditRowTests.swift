import EngineStore
import Foundation
import Logging
import Model
import NIOHTTP1
import PostgresClient
import Store
import Testing

@testable import CommandSupport
@testable import Gateway
@testable import NativeHTTP
@testable import Secrets

/// Reads of content and of people through the native API, and the rows of the audit that they leave, on real PostgreSQL.
@Suite(.serialized, .timeLimit(.minutes(10)))
struct ReadAuditRowTests {
    private func rows(_ stage: NativeStage, after position: Int) async throws -> [JSON] {
        let answer = try await stage.native(.GET, "/v1/audit?limit=1000&after=\(position)")
        return answer.json?["entries"]?.array ?? []
    }

    private func shape(_ row: JSON) -> String {
        let count = row["data"]?["count"]?.int.map { " \($0)" } ?? ""
        return "\(row["action"]?.string ?? "") \(row["subject"]?.string ?? "") "
            + "\(row["data"]?["operation"]?.string ?? "")\(count)"
    }

    /// The shapes of `rows`, with the pseudonyms of people numbered by first appearance: equal numbers are the same person.
    private func shapes(_ rows: [JSON]) -> [String] {
        var people: [Substring] = []
        return rows.map { row in
            shape(row).replacing(/~[0-9a-f]{32}/) { found in
                if !people.contains(found.output) { people.append(found.output) }
                return "~\(people.firstIndex(of: found.output) ?? -1)"
            }
        }
    }

    @Test func everyAuditedReadLeavesARowWithItsSubject() async throws {
        try await NativeStage.on { stage in
            let device = try await stage.register("phone-1", token: "aa01")
            let message = try await stage.send(to: "phone-1")
            let start = try await rows(stage, after: 0).count
            let reads: [(String, String)] = [
                ("/v1/messages?app=shop", "read app shop listMessages 1"),
                ("/v1/messages/\(message)", "read message \(message) showMessage 1"),
                ("/v1/messages/\(message)/deliveries", "read message \(message) listDeliveries 0"),
                ("/v1/devices?user=u-phone-1", "read user ~0 listDevices 1"),
                ("/v1/devices?user=nobody", "read user ~1 listDevices 0"),
                ("/v1/devices/\(device)", "read device \(device) showDevice 1"),
                ("/v1/devices/\(device)/inbox", "read device \(device) listDeviceInbox 0"),
                ("/v1/apps/shop/users", "read app shop listUsers 1"),
                ("/v1/apps/shop/users/u-phone-1", "read user ~0 showUser 1"),
                ("/v1/apps/shop/users/nobody", "read user ~1 showUser 0"),
                ("/v1/apps/shop/expected-users", "read app shop listExpectedUsers 0"),
            ]
            for (path, _) in reads { _ = try await stage.native(.GET, path, as: stage.readKey) }
            // Neither returns anybody.
            for path in ["/v1/apps", "/v1/analytics/funnel", "/v1/audit", "/v1/messages?state=x"] {
                _ = try await stage.native(.GET, path, as: stage.readKey)
            }
            let found = try await rows(stage, after: start)
            #expect(shapes(found) == reads.map(\.1))
            #expect(Set(found.map { $0["actor"]?.string }) == ["key:reader"])
            #expect(Set(found.prefix(1).compactMap { $0["data"]?["app"]?.string }) == ["shop"])
        }
    }

    // The stored rows have pseudonyms, and a read stores no name next to them: whoever asks for an erased user must not bring the name back.
    @Test func noStoredRowNamesAPerson() async throws {
        try await NativeStage.on { stage in
            // Pseudonyms and hashes are random hexadecimal digits: a shorter token occurs in them by chance.
            let token = "aa01bb02cc03dd04"
            try await stage.register("phone-1", token: token)
            let paths = ["user=u-phone-1", "phone=010-9876-5432", "key=phone-1", "token=\(token)"]
            for path in paths { _ = try await stage.native(.GET, "/v1/devices?\(path)", as: stage.readKey) }
            _ = try await stage.native(.GET, "/v1/apps/shop/users/u-phone-1", as: stage.readKey)
            let named = "t::text ~ 'phone-1|98765432|\(token)'"
            #expect(try await stage.count("gateway.audit t WHERE \(named)") == 0)
            #expect(try await stage.count("gateway.audit t WHERE action = 'read' AND subject ~ '^user ~'") == 2)
            for kind in ["phone", "device-key", "token"] {
                #expect(
                    try await stage.count("gateway.audit t WHERE subject ~ '^\(kind) ~[0-9a-f]{32}$'") == 1,
                    "\(kind)"
                )
            }
            #expect(try await stage.count("gateway.audit_subject t WHERE \(named)") == 0)
            // An act does name the user, until the erasure; a read after it changes nothing.
            _ = try await stage.native(.DELETE, "/v1/users/u-phone-1")
            _ = try await stage.native(.GET, "/v1/apps/shop/users/u-phone-1", as: stage.readKey)
            #expect(try await stage.count("gateway.audit t WHERE action = 'erase' AND subject ~ '^user ~'") == 1)
            #expect(try await stage.count("gateway.audit_subject t WHERE \(named)") == 0)
        }
    }

    // A reader of events polls: an empty page is not a row, and a page with events is one.
    @Test func onlyPagesWithEventsAreAudited() async throws {
        try await NativeStage.on { stage in
            let start = try await rows(stage, after: 0).count
            for _ in 0..<3 { _ = try await stage.native(.GET, "/v1/events?after=0", as: stage.readKey) }
            #expect(try await rows(stage, after: start).isEmpty)
            try await stage.register("phone-1", token: "aa01")
            let page = try await stage.native(.GET, "/v1/events?after=0", as: stage.readKey)
            try #require(page.status == 200 && !page.text.isEmpty)
            let found = try await rows(stage, after: start).filter { $0["action"]?.string == "read" }
            #expect(found.count == 1 && found[0]["data"]?["operation"] == "listEvents")
        }
    }

    // A read whose row cannot be written is refused, and says so; it never answers without one.
    @Test func aReadWithoutItsRowIsRefused() async throws {
        try await NativeStage.on { stage in
            let device = try await stage.register("phone-1", token: "aa01")
            let admin = try await PostgresConnection.connect(
                PostgresConfiguration(stage.database.adminConnectionString),
                logger: Logger(label: "test")
            )
            try await admin.script("REVOKE INSERT ON gateway.audit FROM gateway_call")
            let refused = try await stage.native(.GET, "/v1/devices/\(device)", as: stage.readKey)
            #expect(refused.status == 503 && !refused.text.contains("phone-1"), "\(refused.text)")
            #expect(try await stage.native(.GET, "/v1/apps", as: stage.readKey).status == 200)
            try await admin.script("GRANT INSERT ON gateway.audit TO gateway_call")
            #expect(try await stage.native(.GET, "/v1/devices/\(device)", as: stage.readKey).status == 200)
            await admin.close()
        }
    }

    @Test func manyConcurrentReadsAreAllAuditedInOneChain() async throws {
        try await NativeStage.on { stage in
            let device = try await stage.register("phone-1", token: "aa01")
            let start = try await rows(stage, after: 0).count
            try await withThrowingTaskGroup(of: Int.self) { group in
                for number in 0..<200 {
                    group.addTask {
                        try await stage.native(.GET, "/v1/devices/\(device)", as: stage.readKey, node: number % 2)
                            .status
                    }
                }
                for try await status in group { #expect(status == 200) }
            }
            #expect(try await rows(stage, after: start).count == 200)
            let reader = AuditReader(store: PostgresAuditStore(call: stage.database.call))
            let chain = try await reader.verify(NativeStage.tenant, after: nil, upTo: .max).0
            #expect(chain.faultCount == 0, "\(chain.faults)")
        }
    }
}
