import AnswerShapes
import Foundation
import GatewayHTTP
import HTTPTypes
import Model
import Testing

@testable import NativeHTTP

/// The declared operations of the native API, the document generated from them, and the pages that list them.
@Suite struct NativeOperationTests {
    private let operations = NativeOperations.all

    private func page(_ name: String) throws -> String {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        return try String(contentsOf: root.appending(path: "docs/\(name)"), encoding: .utf8)
    }

    @Test func idsAndRoutesAreUnique() {
        #expect(Set(operations.map(\.id)).count == operations.count)
        #expect(Set(operations.map { "\($0.method) \($0.path)" }).count == operations.count)
    }

    @Test func thePathDeclaresItsFieldsAndNoOthers() {
        for operation in operations {
            let fields = operation.inputs.filter { $0.place == .path }
            let names = operation.path.split(separator: "/").filter { $0.hasPrefix("{") }.map {
                String($0.dropFirst().dropLast())
            }
            #expect(Set(fields.map(\.name)) == Set(names), "\(operation.id)")
            #expect(!fields.contains { !$0.isRequired }, "\(operation.id)")
            let app = names.contains("app")
            #expect(!app || (operation.path + "/").hasPrefix("/v1/apps/{app}/"), "\(operation.path)")
        }
    }

    // A call could not distinguish two inputs of one name, and two schemas of one name would become one.
    @Test func namesAreUniqueInAnOperationAndSchemasInTheDocument() {
        var schemas: [String: JSONObject] = [:]
        for operation in operations {
            let names = operation.inputs.map { "\($0.place) \($0.name)" }
            #expect(Set(names).count == names.count, "\(operation.id)")
            let all = operation.inputs.map(\.schema) + operation.answers.map(\.schema)
            for (name, schema) in all.flatMap(\.components) + (operation.bodySchema?.components ?? [:]) {
                #expect(schemas[name] == nil || schemas[name] == schema, "\(name) of \(operation.id)")
                schemas[name] = schema
            }
        }
    }

    @Test func everyWriteWithoutItsOwnIdentityAcceptsARepeatKey() {
        // When repeated, these operations have the same result; webhooks and channels take no repeat key, and the secret of a new API key is not stored.
        let repeatable: Set<String> = [
            "updateUser", "changeConsents", "createGroup", "deleteGroup", "changeGroupMembers", "createCampaign",
            "putCampaign", "deleteCampaign", "createWebhook", "updateWebhook", "deleteWebhook", "replayWebhook",
            "rotateWebhookSecret",
            "stopCapture", "createChannel", "deleteChannel", "sendToChannel", "reportLiveActivityToken",
            "issueSharedAccessSignature", "challengeDevice", "provePossession", "createKey", "rotateKey", "deleteKey",
            "putCredential", "deleteCredential", "putApp", "deleteApp", "putRoutes", "rollbackRoutes",
            "planMigration", "startMigration", "advanceMigration", "pauseMigration", "resumeMigration",
            "rollbackMigration", "completeMigration",
            "putTemplate", "deleteTemplate",
        ]
        // Two reads have a body, because names of people must not be in URLs.
        for operation in operations where operation.method != .get && operation.scope != .read {
            let takesKey = operation.inputs.contains { $0.name == CommonInputs.repeatKeyName }
            #expect(takesKey != repeatable.contains(operation.id), "\(operation.id)")
            #expect(takesKey == operation.problems.contains(.conflict) || !takesKey, "\(operation.id)")
        }
    }

    @Test func everyListHasPages() {
        for operation in operations where operation.id.hasPrefix("list") {
            // A tenant has at most 20 webhooks and 10 captures, so these lists need no pages.
            guard !["listWebhooks", "listCaptures"].contains(operation.id) else { continue }
            let names = Set(operation.inputs.filter { $0.place == .query }.map(\.name))
            #expect(names.isSuperset(of: ["after", "limit"]), "\(operation.id)")
        }
    }

    // The page contains the table of `ProblemCode`, in its order.
    @Test func theErrorsPageIsTheTableOfCodes() throws {
        let lines = try page("errors.md").split(separator: "\n").filter { $0.hasPrefix("| PG-") }.map(String.init)
        let table = ProblemCode.allCases.map { code in
            "| \(code.rawValue) | \(code.status) | \(code.entry.meaning) | \(code.entry.advice) |"
        }
        #expect(lines == table, "docs/errors.md should be:\n\(table.joined(separator: "\n"))")
    }

    @Test func theNativeAPIPageListsTheOperations() throws {
        let lines = try page("native-api.md").split(separator: "\n").filter { $0.hasPrefix("| `/v1") }.map(String.init)
        let table = operations.map { operation in
            "| `\(operation.path)` | \(operation.method.rawValue) | `\(operation.id)` | \(operation.scope?.rawValue ?? "none") | \(operation.summary) |"
        }
        #expect(lines == table, "docs/native-api.md should be:\n\(table.joined(separator: "\n"))")
    }

    /// Reads without a row of the audit, each with the reason.
    private static let unaudited = [
        "listApps": "settings, no people",
        "showRoutes": "the same",
        "listRouteVersions": "the same",
        "listMigrations": "the same",
        "showMigration": "settings and counts",
        "testRoutes": "decisions about names of the call; nothing is looked up",
        "showParity": "counts, and masked answers and keys",
        "checkCredential": "findings about the credential of the call; nothing is stored",
        "listSenders": "settings of back ends, no people",
        "listGroups": "names and counts of groups, no members",
        "showGroup": "the same",
        "listCampaigns": "templates, which are addressed to nobody",
        "showCampaign": "the same",
        "listTemplates": "the same",
        "showTemplate": "the same",
        "listChannels": "channels of Apple, which have no members",
        "showChannel": "the same",
        "showFunnel": "counts",
        "showTimeseries": "counts",
        "showLosses": "counts",
        "showLatency": "counts",
        "showDeviceFigures": "counts",
        "showVersionCounts": "counts",
        "showCampaignCounts": "counts",
        "showHourCounts": "counts",
        "showVendors": "facts about vendors",
        "listWebhooks": "settings",
        "showWebhook": "settings",
        "listCaptures": "facts about captures, no calls",
        "showApp": "the same",
        "listKeys": "settings, no secrets",
        "showKey": "the same",
        "showCredential": "the same",
        "listCredentials": "the same",
        "showBindings": "the same",
        "showQueue": "counts",
        "listNodes": "processes",
        "showPosture": "settings, no secrets",
        "countAudience": "a count",
        "listAudit": "a reader that follows the audit would never reach its end",
    ]

    // An operation that reads must say what it leaves in the audit, so that a new one cannot return people unnoticed.
    @Test func everyReadIsAuditedOrHasAReason() {
        let reads = operations.filter { $0.method == .get || $0.scope == .read }
        for operation in reads {
            #expect(operation.audited.isRead != (Self.unaudited[operation.id] != nil), "\(operation.id)")
        }
        #expect(Set(Self.unaudited.keys).isSubset(of: reads.map(\.id)))
        #expect(operations.allSatisfy { $0.method == .get || $0.scope == .read || !$0.audited.isRead })
    }

    // Administrative acts write their rows in their own transactions.
    @Test func everyOperationOfAdministratorsIsAudited() {
        for operation in operations where operation.scope == .admin && operation.method != .get {
            #expect(operation.audited == .act, "\(operation.id)")
        }
    }

    @Test func theNativeAPIPageListsTheAuditedReads() throws {
        let names = operations.filter(\.audited.isRead).map { "`\($0.id)`" }.joined(separator: ", ")
        let text = try page("native-api.md").split(whereSeparator: \.isWhitespace).joined(separator: " ")
        #expect(
            text.contains("Audited reads: \(names)."),
            "docs/native-api.md should contain: Audited reads: \(names)."
        )
    }

    // Webhooks write events with the same function, so this is their schema too.
    @Test func anEventHasTheDeclaredMembers() {
        let event = EventRecord(
            offset: 1,
            at: Timestamp(milliseconds: 1_789_999_999_123),
            kind: "sent",
            app: "shop",
            vendor: .native,
            sender: "s",
            subject: EventSubject(
                message: MessageID(UUID()),
                target: TargetID(UUID()),
                identity: IdentityID(UUID()),
                device: DeviceID(UUID()),
                address: .phone("010")
            ),
            reason: "r",
            data: ["a": 1]
        )
        let declared = EventOperations.event.components["Event"]
        #expect(event.json.object?.keys == declared?["properties"]?.object?.keys)
        #expect(event.json["at"] == "2026-09-21T14:13:19.123Z")
    }

    // MARK: Kinds of inputs

    private func problem<Value>(_ kind: InputKind<Value>, _ json: JSON) -> String? {
        do throws(Problem) {
            _ = try kind.read(json, "x")
            return nil
        } catch { return "\(error.status) \(error.detail)" }
    }

    @Test func timesAreRFC3339TextOrMilliseconds() throws {
        let expected = Timestamp(milliseconds: 1_798_205_400_250)
        for json in [
            1_798_205_400_250, "2026-12-25T13:30:00.250Z", "2026-12-25T22:30:00.250+09:00",
        ] as [JSON] {
            #expect(try InputKind<Timestamp>.time.read(json, "x") == expected)
        }
        for json in ["tomorrow", -1, .number("1.5"), "2026-12-25", "2026-12-25T13:30:00", true, [:]] as [JSON] {
            #expect(problem(.time, json)?.hasPrefix("422 x: must be a time") == true, "\(JSONWriter.text(json))")
        }
    }

    @Test func limitsMatchTheirDeclarations() {
        let text = InputKind<String>.text(4, atLeast: 1)
        #expect(text.schema.json["maxLength"] == 4 && text.schema.json["minLength"] == 1)
        #expect(problem(text, "abcd") == nil)
        #expect(problem(text, "abcde") == "422 x: at most 4 bytes")
        #expect(problem(text, "") == "422 x: must not be empty")
        #expect(problem(text, 1) == "422 x: must be a string")
        let number = InputKind<Int>.integer(1...5)
        #expect(number.schema.json["minimum"] == 1 && number.schema.json["maximum"] == 5)
        #expect(problem(number, 5) == nil && problem(number, 6) == "422 x: must be an integer from 1 to 5")
        let list = InputKind<[String]>.list(.text(4), limit: 2)
        #expect(problem(list, ["a", "b"]) == nil && problem(list, ["a", "b", "c"]) == "422 x: at most 2 entries")
        #expect(problem(.flag, "true") == "422 x: must be true or false")
        #expect(problem(InputKind<Vendor>.vendor, "nobody")?.contains("must be one of") == true)
    }

    @Test func anUnknownMemberOfAnObjectIsNamed() {
        #expect(problem(.window, ["from": "0800", "to": "2200"]) == nil)
        #expect(problem(.window, ["from": "0800"]) == "422 x.to: is missing")
        let unknown: JSON = ["from": "0800", "to": "2200", "till": "x"]
        #expect(problem(.window, unknown) == "422 x.till: is not a known field")
    }
}
