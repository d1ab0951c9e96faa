import DeviceFiles
import EngineStore
import Foundation
import Model
import NIOHTTP1
import Store
import Testing

@testable import CommandSupport
@testable import Gateway
@testable import Imports

/// `POST /v1/apps/{app}/imports` over real HTTP.
@Suite(.serialized, .timeLimit(.minutes(10)))
struct NativeImportTests {
    private func post(
        _ stage: NativeStage,
        _ query: String,
        _ text: String,
        app: String = "shop",
        type: String = "text/csv",
        bearer: String? = nil
    ) async throws -> HTTPCaller.Answer {
        try await stage.call(
            .init(
                method: .POST,
                path: "/v1/apps/\(app)/imports?\(query)",
                body: Array(text.utf8),
                type: type,
                bearer: bearer
            )
        )
    }

    private func table(_ count: Int) -> String {
        "key,token,name\n"
            + (0..<count).map {
                $0 % 50 == 49 ? "k\($0),nohex,\n" : "k\($0),\(String(format: "%08x", $0)),\"n,\($0)\"\n"
            }
            .joined()
    }

    @Test func aBodyIsTakenInBatchesAndBadRowsAreTold() async throws {
        try await NativeStage.on { stage in
            let before = try await stage.audit().count
            let dry = try await post(stage, "vendor=rationalowl&dryRun=true", table(2000))
            #expect(dry.status == 200, "\(dry.text)")
            #expect(dry.json?["created"]?.int == 1960 && dry.json?["rejected"]?.int == 40)
            #expect(try await stage.count("gateway.device WHERE tenant_id = 'own'") == 0)
            #expect(try await stage.audit().count == before)

            let done = try await post(stage, "vendor=rationalowl", table(2000))
            #expect(done.status == 200, "\(done.text)")
            #expect(done.json?["created"]?.int == 1960 && done.json?["updated"]?.int == 0)
            #expect(done.json?["rejected"]?.int == 40 && done.json?["line"]?.int == 2001)
            let rejects = done.json?["rejects"]?.array ?? []
            #expect(rejects.compactMap { $0["line"]?.int } == (0..<40).map { 51 + $0 * 50 })
            #expect(rejects.first?["reason"]?.string?.hasPrefix("token") == true)
            #expect(
                try await stage.count("gateway.identity WHERE tenant_id = 'own' AND vendor = 'rationalowl'") == 1960
            )
            #expect(
                try await stage.audit(after: Int64(before)) == [
                    "key:backend import devices of app shop, rationalowl",
                    "key:backend imported devices of app shop, rationalowl",
                ]
            )
            let again = try await post(stage, "vendor=rationalowl", table(2000))
            #expect(again.json?["created"]?.int == 0 && again.json?["updated"]?.int == 0)
            #expect(again.json?["unchanged"]?.int == 1960 && again.json?["older"]?.int == 0)

            // The devices have registered after this time, so another user in the body is older.
            let late = "key,user\nk1,someone\n"
            let older = try await post(stage, "vendor=rationalowl&asOf=2020-01-02T03:04:05Z", late)
            #expect(older.json?["older"]?.int == 1 && older.json?["updated"]?.int == 0, "\(older.text)")
            let newer = try await post(stage, "vendor=rationalowl", late)
            #expect(newer.json?["older"]?.int == 0 && newer.json?["updated"]?.int == 1, "\(newer.text)")

            let lines = (0..<300).map { #"{"key":"j\#($0)","phone":\#($0)}"# }.joined(separator: "\n")
            let ndjson = try await post(stage, "", lines, type: "application/x-ndjson; charset=utf-8")
            #expect(ndjson.json?["created"]?.int == 300, "\(ndjson.text)")
        }
    }

    // The answer contains the line up to which all rows are committed. The same body continues after that line.
    @Test func aBrokenImportGoesOnBehindWhatIsCommitted() async throws {
        try await NativeStage.on { stage in
            let whole = table(1200)
            let broken = whole.split(separator: "\n", omittingEmptySubsequences: false).prefix(1101).joined(
                separator: "\n"
            )
            let first = try await post(stage, "", broken)
            #expect(first.json?["line"]?.int == 1101, "\(first.text)")
            let rest = try await post(stage, "after=1101", whole)
            #expect(rest.status == 200, "\(rest.text)")
            #expect(rest.json?["created"]?.int == 98 && rest.json?["rejected"]?.int == 2, "\(rest.text)")
            #expect(rest.json?["line"]?.int == 1201)
            #expect(try await stage.count("gateway.device WHERE tenant_id = 'own'") == 1176)
        }
    }

    @Test func rejectsAreBoundedAndLongLinesStopNothing() async throws {
        try await NativeStage.on { stage in
            let bad = String(repeating: "[]\n", count: 900)
            let long = "{\"key\":\"" + String(repeating: "x", count: RecordSplitter.limitBytes) + "\"}\n"
            let answer = try await post(stage, "format=ndjson", bad + long + #"{"key":"good"}"#)
            #expect(answer.status == 200, "\(answer.text.prefix(200))")
            #expect(answer.json?["rejected"]?.int == 901 && answer.json?["created"]?.int == 1)
            #expect(answer.json?["rejects"]?.array?.count == DeviceImports.listedRejects)
        }
    }

    @Test func anotherBodyUnderTheKeyOfAnImportIsRefusedBeforeARowIsTaken() async throws {
        try await NativeStage.on { stage in
            func send(_ text: String) async throws -> HTTPCaller.Answer {
                let call = NativeStage.Call(
                    method: .POST,
                    path: "/v1/apps/shop/imports",
                    body: Array(text.utf8),
                    type: "text/csv",
                    repeatKey: "list"
                )
                return try await stage.call(call)
            }
            let first = try await send("key\na\n")
            #expect(first.json?["created"]?.int == 1, "\(first.text)")
            let other = try await send("key\nb\n")
            #expect(other.status == 409, "\(other.text)")
            let taken = try await stage.count("gateway.identity WHERE tenant_id = 'own' AND key = 'b'")
            #expect(taken == 0)
        }
    }

    @Test func whatIsAskedWronglyIsSaid() async throws {
        try await NativeStage.on { stage in
            #expect(try await post(stage, "", "key\nk\n", app: "none").status == 404)
            for (query, type, status) in [
                ("app=shop", "text/csv", 422), ("dryRun=true&dryRun=true", "text/csv", 422),
                ("vendor=nobody", "text/csv", 422), ("", "text/plain", 422),
                ("format=xml", "text/csv", 422), ("dryRun=maybe", "text/csv", 422),
                ("after=-1", "text/csv", 422), ("asOf=yesterday", "text/csv", 422),
            ] {
                let answer = try await post(stage, query, "key\nk\n", type: type)
                #expect(answer.status == status, "\(query) \(type): \(answer.text)")
            }
            let headings = try await post(stage, "", "key,colour\nk,red\n")
            #expect(headings.status == 422 && headings.text.contains("colour"), "\(headings.text)")
            #expect(headings.json?["import"]?["line"]?.int == 0)
            #expect(try await post(stage, "", "key\nk\n", bearer: stage.readKey).status == 403)
            // An app of the same name of the other tenant is that tenant's: I6.
            #expect(try await post(stage, "", "key\nk\n", bearer: stage.otherKey).status == 200)
            #expect(try await stage.count("gateway.device WHERE tenant_id = 'own'") == 0)
            let empty = try await stage.native(.POST, "/v1/apps/shop/imports?format=csv")
            #expect(empty.status == 200 && empty.json?["line"]?.int == 0, "\(empty.text)")
        }
    }

    @Test func onlySoManyRunAtOnceOnANode() async throws {
        try await NativeStage.on { stage in
            let imports = DeviceImports(
                handler: stage.database.commands,
                maintenance: PostgresMaintenance(engine: stage.database.engine, node: "n"),
                identifiers: SystemIdentifiers(),
                clock: SystemTime()
            )
            var permits = (0..<DeviceImports.concurrentLimit).map { _ in imports.acquire() }
            #expect(permits.allSatisfy { $0 != nil } && imports.acquire() == nil)
            permits.removeLast()
            #expect(imports.acquire() != nil)
        }
    }

    private struct SystemTime: WallClock {
        func now() -> Timestamp { Timestamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1000)) }
    }
}
