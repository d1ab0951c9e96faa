import Foundation
import Model
import Testing

@testable import ConsoleAdministration
@testable import PageParts
@testable import WebConsole

/// Accounts, nodes and the queue, the audit, and the security posture.
struct AdministrationPagesTests {
    // MARK: Accounts

    private static func accounts(_ roles: KeyValuePairs<String, String>) -> JSON {
        ["accounts": .array(roles.map { ["name": .string($0.key), "role": .string($0.value), "isSelf": false] })]
    }

    @Test func aRoleIsNotChangedTwiceByTwoPeople() throws {
        let form = ChangeRoleForm()
        let request = OperationsStage.request()
        func shown(_ accounts: JSON) throws -> FormFields {
            let content = try AccountsPage().content(request, OperationsStage.answers(["accounts": accounts]))
            let views = OperationsStage.all(FormView.self, in: content)
            let hidden = try #require(views.first { $0.path == "accounts/role" }).fields.filter(\.kind.isHidden)
            return FormFields(
                [FormFields.Field("name", .text("lee")), FormFields.Field("role", .text("auditor"))]
                    + hidden.map { FormFields.Field($0.name, .text($0.value)) }
            )
        }
        func isRefused(_ fields: FormFields, _ stored: JSON) -> Bool {
            form.submit(request, fields, OperationsStage.answers(["accounts": stored])).errors != nil
        }
        let before = Self.accounts(["kim": "owner", "lee": "analyst"])
        let opened = try shown(before)
        #expect(form.calls(request, opened, Answers()).map(\.path) == ["console/accounts"])
        #expect(!isRefused(opened, before))
        let changed = Self.accounts(["kim": "owner", "lee": "operator"])
        #expect(isRefused(opened, changed))
        #expect(!isRefused(try shown(changed), changed), "the page has shown the change")
        let seen: JSON = [
            "accounts": [
                ["name": "kim", "role": "owner", "seenAt": "2026-11-23T05:00:00.000Z"],
                ["name": "lee", "role": "analyst"],
            ]
        ]
        #expect(!isRefused(opened, seen), "the use of an account changes no role")
    }

    // MARK: Nodes

    private func sentence(
        node seenAt: String = "2026-11-23T05:05:02.000Z",
        lane: JSONObject = JSONObject(),
        held: [JSON] = []
    ) throws -> Sentence {
        var shown: JSONObject = ["lane": "bulk", "paused": false, "due": 0, "open": 0, "more": false]
        for (name, value) in lane.pairs { shown[name] = value }
        let nodes: JSON = ["nodes": [["node": "node-1", "seenAt": .string(seenAt)]], "next": .null]
        let queue: JSON = ["lanes": [.object(shown)], "heldBy": .array(held)]
        return try OperationsStage.sentence(NodesPage(), ["nodes": nodes, "queue": queue])
    }

    @Test func theQueueIsCalledEmptyOnlyWhileItIs() throws {
        #expect(try sentence().text == "1 node is running; the queue is empty.")
        let busy = try sentence(lane: ["due": 1200, "open": 1200, "oldestDueAt": "2026-11-23T05:03:07.000Z"])
        #expect(busy.text == "1 node is running; 1,200 slices are due, the oldest for 2 min.")
        let paused = try sentence(lane: ["paused": true, "due": 1200, "open": 10_000, "more": true])
        #expect(paused.text == "The lane Bulk is paused; 10,000+ slices are waiting." && paused.mark == .warn)
        #expect(try sentence(node: "2026-11-23T05:01:07.000Z").mark == .bad)
        let held = try sentence(held: [["credential": "apple", "slices": 3]])
        #expect(held.mark == .bad && held.link?.path == "credentials/apple")
    }

    @Test func aSilentNodeIsNamed() throws {
        let nodes: JSON = [
            "nodes": [
                ["node": "a", "seenAt": "2026-11-23T05:05:02.000Z"],
                ["node": "b", "seenAt": "2026-11-23T05:02:07.000Z"],
            ]
        ]
        let sentence = try OperationsStage.sentence(NodesPage(), ["nodes": nodes, "queue": OperationsSamples.queue])
        #expect(sentence.text == "The node b sent its last heartbeat 3 min ago. Check it.")
    }

    // MARK: Audit

    @Test func theAuditIsAskedForItsEndWithTheFiltersOfTheAddress() {
        let request = OperationsStage.request(query: ["actor": "account:kim", "action": "", "after": "41"])
        #expect(
            AuditPage().export(request)?.query == [
                .init("order", "newest"), .init("limit", "50"), .init("after", "41"), .init("actor", "account:kim"),
            ]
        )
        #expect(AuditPage().permission == .audit)
    }

    @Test func theAuditNamesItsLastActAndRefusedProofs() throws {
        let last = try OperationsStage.sentence(AuditPage(), ["audit": OperationsSamples.audit])
        #expect(last.text == "Last entry: Mon 23 Nov 14:00, kim (account), Changed, app shop")
        var entries = OperationsSamples.audit["entries"]?.array ?? []
        entries.append(["position": 40, "at": "2026-11-23T03:00:00.000Z", "actor": "gateway", "action": "refuse"])
        let refused = try OperationsStage.sentence(AuditPage(), ["audit": ["entries": .array(entries)]])
        #expect(refused.mark == .warn && refused.link?.query == [.init("action", "refuse")])
        let filtered = OperationsStage.request(query: ["subject": "app shop"])
        #expect(
            try OperationsStage.sentence(AuditPage(), ["audit": ["entries": []]], filtered).text.hasPrefix("No entry")
        )
        #expect(try OperationsStage.sentence(AuditPage(), ["audit": OperationsSamples.audit], filtered).mark == .info)
    }

    @Test func anOpenEntryShowsItsChanges() throws {
        let request = OperationsStage.request(query: ["row": "42"])
        let content = try AuditPage().content(request, OperationsStage.answers(["audit": OperationsSamples.audit]))
        #expect(OperationsStage.texts(content).contains("{\"from\":\"22:00\"}"))
        #expect(OperationsStage.texts(content).contains("account:kim"))
    }

    @Test(
        arguments: [
            ("account:kim", "kim (account)"), ("key:crm", "crm (API key)"), ("cli:0", "0 (command line)"),
            ("provisioning", "Provisioning file"), ("gateway", "Gateway"), ("other:x", "other:x"), ("", ""),
        ]
    )
    func actorsAreNamed(_ actor: String, _ name: String) {
        #expect(ActorName.of(actor).en == name)
    }

    @Test(
        arguments: [
            ("app shop", "앱 shop"), ("device key •••", "단말 키 •••"), ("device 7a", "단말 7a"), ("apps", "apps"),
            ("retention", "retention"), ("", ""),
        ]
    )
    func subjectsAreNamedInTheLanguageOfThePage(_ subject: String, _ name: String) {
        #expect(AuditText.subjectName(subject) == Text(ko: name, en: subject))
    }

    // MARK: Posture

    @Test func thePostureBeginsWithTheWorst() throws {
        let sentence = try OperationsStage.sentence(PosturePage(), ["posture": OperationsSamples.posture])
        #expect(
            sentence.text
                == "1 finding of level Medium. Close first: API key crm – scopes admin from every network."
        )
        #expect(try OperationsStage.sentence(PosturePage(), ["posture": ["findings": []]]).mark == .ok)
        let content = try PosturePage().content(
            OperationsStage.request(),
            OperationsStage.answers(["posture": OperationsSamples.posture])
        )
        let checks = OperationsStage.all(Check.self, in: content)
        #expect(checks.map { $0.link?.path } == ["keys/crm", nil])
        let chosen = try PosturePage().content(
            OperationsStage.request(query: ["level": "low"]),
            OperationsStage.answers(["posture": OperationsSamples.posture])
        )
        #expect(OperationsStage.all(Check.self, in: chosen).count == 1)
    }

    @Test(
        arguments: [
            ("listen is 0.0.0.0:8080, without TLS", "listen이 TLS 없이 0.0.0.0:8080에서 대기합니다"),
            ("openSends is true", "openSends: true"), ("userMoves is allow, the default", "userMoves: allow (기본값)"),
            ("limits.connections is off", "limits.connections: 꺼짐"),
            ("senderNetworks is not set", "senderNetworks: 설정하지 않음"),
            ("not used for 90 days", "90일 동안 사용하지 않았습니다"),
            (
                "its secret is 80 days old, and keys.age.days is 90",
                "비밀 값을 만든 지 80일이 지났습니다. 한도(keys.age.days)는 90일입니다."
            ),
            ("something new", "something new"),
        ]
    )
    func findingsAreTranslatedAroundTheirValues(_ english: String, _ korean: String) {
        #expect(PostureWords.finding(english) == Text(ko: korean, en: english))
    }

    // The sources of the findings are the authority: a new sentence needs its translation.
    @Test func everyRiskAndRemedyIsInKorean() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "Sources")
        let files = FileManager.default.enumerator(at: root, includingPropertiesForKeys: nil)
        var found: Set<String> = []
        while let file = files?.nextObject() as? URL {
            guard file.pathExtension == "swift" else { continue }
            let text = try String(contentsOf: file, encoding: .utf8)
            if file.lastPathComponent == "SecurityPosture.swift" {
                found.formUnion(text.matches(of: /"([A-Z][^"\\]*\.)"/).map { String($0.1) })
            }
            for risk in text.matches(of: /\.risky\(\s*\.\w+,\s*"([^"]+)",\s*remedy:\s*"([^"]+)"/) {
                found.insert(String(risk.1))
                found.insert(String(risk.2).replacing("\\(networksKey)", with: "senderNetworks"))
            }
        }
        #expect(found.count > 40)
        for sentence in found.sorted() { #expect(PostureWords.sentences[sentence] != nil, "\(sentence)") }
        for sentence in PostureWords.sentences.keys.sorted() {
            #expect(found.contains(sentence), "no finding says: \(sentence)")
        }
    }
}
