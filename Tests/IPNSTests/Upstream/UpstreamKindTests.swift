import IPNS
import Model
import Testing

/// The kind of every documented call, and the targets that sends name. Both are written by hand from the contract.
struct UpstreamKindTests {
    /// All calls of the catalogue.
    static let kinds: [String: CallKind] = [
        "appRegist": .device, "updateConfig": .device,
        "recvReport": .receipt, "readReport": .receipt,
        "getConfig": .read, "getMsgs": .read, "getMsgDetail": .read, "polling": .read,
        "send": .send,
    ]

    private static func kind(
        _ path: String,
        _ body: JSON = ["APP_ID": "hr.mobile"],
        _ settings: BindingSettings = Mount.settings
    ) -> CallKind {
        Mount.adapter.kind(of: Mount.request(path, body), settings: settings)
    }

    @Test func everyCallOfTheCatalogueHasItsKind() throws {
        let calls = try #require(try Fixture.json("catalogue.json")["calls"]?.array).compactMap(\.string)
        #expect(Set(calls) == Set(Self.kinds.keys))
        #expect(Set(IPNSCall.allCases.map(\.rawValue)) == Set(Self.kinds.keys))
        for (name, kind) in Self.kinds {
            #expect(Self.kind("/ipns/\(name)") == kind, "\(name)")
            #expect(Self.kind("/ipns/v2/\(name.uppercased()).do") == kind, "\(name)")
        }
    }

    @Test func everyRouteOfACallHasTheKindOfTheCall() {
        for route in Mount.adapter.routes {
            guard case .exact(let path) = route.path else { continue }
            #expect(Self.kind(path) == Self.kinds[route.name], "\(path)")
        }
    }

    @Test func everyDocumentedRequestHasTheKindOfItsCall() throws {
        for request in try ConformanceTests.documented() {
            let kind = Mount.adapter.kind(of: request, settings: Mount.settings)
            #expect(kind == Self.kinds[request.route], "\(request.path)")
            #expect(Mount.adapter.appVersion(in: request) == nil)
        }
    }

    // docs/contracts/ipns.md#2.3: a call is found by a field, or by the set of its fields; a send only by its name.
    @Test func aCallWithoutADocumentedPathHasItsKindToo() {
        let id: JSONObject = ["APP_ID": "hr.mobile", "DEVICE_ID": "D1"]
        func with(_ fields: (String, JSON)...) -> JSON {
            .object(JSONObject(id.pairs.map { ($0.key, $0.value) } + fields))
        }
        #expect(Self.kind("/ipns/gw.do", with(("cmd", "readReport"))) == .receipt)
        #expect(Self.kind("/ipns", with(("MSG_ID", "1"))) == .receipt)
        #expect(Self.kind("/ipns", with()) == .read)
        #expect(Self.kind("/ipns", with(("PUSH_ID_TYPE", "@01"), ("PUSH_ID", ["E1"]), ("ALERT", "a"))) == .other)
        #expect(Self.kind("/ipns/gw.do", with(("FURTHER", "x"))) == .other)
    }

    @Test func aRequestThatCannotBeReadHasTheKindOfItsPath() {
        func kind(_ path: String) -> CallKind {
            Mount.adapter.kind(of: Mount.request(path, bytes: Array("{".utf8)), settings: Mount.settings)
        }
        #expect(kind("/ipns/send") == .send && kind("/ipns/reportReadResultToServer") == .receipt)
        for path in ["/ipns/nothing", "/ipns", "/index.html", "/", ""] { #expect(kind(path) == .other, "\(path)") }
    }

    // docs/contracts/ipns.md#2.3: the gateway reads such calls, so a rule finds them by their kind.
    @Test func theNamesOfABindingHaveTheKindsOfTheirCalls() {
        let names: JSON = ["ack_read": "readReport", "push_setting": "updateConfig"]
        let settings = BindingSettings(values: keyed(["operations": names, "fields": ["udid": "DEVICE_ID"]]))
        let body: JSON = ["APP_ID": "hr.mobile", "FURTHER": "x"]
        #expect(Self.kind("/ipns/ack_read.do", body, settings) == .receipt)
        #expect(Self.kind("/ipns/gw.do", ["APP_ID": "hr.mobile", "cmd": "pushSetting"], settings) == .device)
        #expect(Self.kind("/ipns", ["APP_ID": "hr.mobile", "UDID": "D1"], settings) == .read)
        #expect(Self.kind("/ipns/send", body, settings) == .send)
        #expect(Self.kind("/ipns/ack_read.do", body) == .other)
        let broken = Mount.request("/ipns/ack_read.do", bytes: Array("{".utf8))
        #expect(Mount.adapter.kind(of: broken, settings: settings) == .receipt)
        #expect(Mount.adapter.kind(of: broken, settings: Mount.settings) == .other)
    }

    // MARK: Named targets

    private static func named(_ type: JSON, _ ids: JSON, _ settings: BindingSettings = Mount.settings) -> NamedTargets {
        let body: JSON = ["APP_ID": "hr.mobile", "PUSH_ID_TYPE": type, "PUSH_ID": ids]
        return Mount.adapter.named(in: Mount.request("/ipns/send", body), settings: settings)
    }

    // docs/contracts/ipns.md#2.11
    @Test func aSendNamesDevicesAndHidesUsers() throws {
        let call = try #require(try Fixture.calls("send.txt").first)
        let named = Mount.adapter.named(in: Mount.request(call.path, call.request), settings: Mount.settings)
        #expect(named == .hidden)
        #expect(Self.named("@00", ["D1", "D2"]) == .targets([RolloutFacts(device: "D1"), RolloutFacts(device: "D2")]))
        #expect(Self.named("@01", "E1") == .hidden)
        for (type, ids) in [("@02", ["E1"]), ("@01", []), (1, ["E1"]), ("@01", [[]])] as [(JSON, JSON)] {
            #expect(Self.named(type, ids) == .audience)
        }
    }

    @Test func devicesAreNamedByTheKeyOfTheirRegistration() throws {
        let call = try #require(try Fixture.calls("appRegist.txt", ["9f2c…64hex": Fixture.token]).first)
        let commands = try Mount.commands(Mount.request(call.path, call.request))
        guard case .registration(.register(let device))? = commands.first else {
            Issue.record("no registration")
            return
        }
        let key = try #require(device.key?.rawValue)
        #expect(Self.named("@00", [.string(key)]) == .targets([RolloutFacts(device: key)]))
        #expect(device.user == "E12345")
    }

    @Test func theFieldsOfABindingAreRead() {
        let settings = BindingSettings(values: keyed(["fields": ["targets": "PUSH_ID"]]))
        let body: JSON = ["APP_ID": "hr.mobile", "PUSH_ID_TYPE": "@00", "TARGETS": ["D1"]]
        let request = Mount.request("/ipns/send", body)
        #expect(Mount.adapter.named(in: request, settings: settings) == .targets([RolloutFacts(device: "D1")]))
        #expect(Mount.adapter.named(in: request, settings: Mount.settings) == .audience)
    }

    @Test func otherCallsNameNobody() throws {
        for request in try ConformanceTests.documented() where request.route != "send" {
            #expect(Mount.adapter.named(in: request, settings: Mount.settings) == .audience, "\(request.path)")
        }
    }
}
