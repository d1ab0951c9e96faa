import Model
import Testing

@testable import ConsoleOperations
@testable import PageParts
@testable import WebConsole

/// The pages of apps and bindings, and the request log.
struct AppsPageTests {
    private static func app(_ id: String, _ environments: [JSON], retiredAt: JSON = .null) -> JSON {
        let platform: JSON = ["platform": "ios", "topic": "com.example.shop", "environments": .array(environments)]
        return ["app": .string(id), "platforms": [platform], "retiredAt": retiredAt, "origin": "file"]
    }

    private func list(_ apps: [JSON]) throws -> Sentence {
        try OperationsStage.sentence(AppsPage(), ["apps": ["apps": .array(apps), "next": .null]])
    }

    @Test func theListNamesTheFirstAppThatCannotSend() throws {
        #expect(try list([]).mark == .idle)
        #expect(try list([Self.app("shop", ["production"])]).mark == .ok)
        let silent = try list([Self.app("shop", ["production"]), Self.app("web", [])])
        #expect(silent.mark == .warn && silent.link?.path == "apps/web")
        #expect(silent.text == "Without a credential, 1 of 2 apps cannot send: web.")
        // An app that was removed need not send.
        let removed = Self.app("old", [], retiredAt: "2026-11-01T00:00:00.000Z")
        #expect(try list([Self.app("shop", ["production"]), removed]).mark == .ok)
    }

    private func sentence(_ app: JSON, _ bindings: [JSON] = []) throws -> Sentence {
        let request = OperationsStage.request(path: ["app": "shop"])
        let bodies: [String: JSON] = ["app": app, "bindings": ["bindings": .array(bindings)]]
        return try OperationsStage.sentence(AppPage(), bodies, request)
    }

    @Test func anAppSaysWhetherItCanSend() throws {
        let open: JSON = ["vendor": "upmc", "settings": ["openSends": true]]
        #expect(try sentence(Self.app("shop", ["production"], retiredAt: "2026-11-01T00:00:00.000Z")).mark == .idle)
        #expect(try sentence(Self.app("shop", []), [open]).text.contains("no platform has a credential"))
        #expect(try sentence(Self.app("shop", ["production"]), [open]).text.hasPrefix("Anyone can send through UPMC"))
        #expect(try sentence(Self.app("shop", ["sandbox"])).text.contains("sandbox tokens only"))
        #expect(try sentence(Self.app("shop", ["production"])).text == "The app shop can send and has 0 bindings.")
    }

    // docs/vendors: the addresses under "Pointing an app here".
    @Test(
        arguments: [
            ("rationalowl", "https://push.example.com"), ("ipns", "https://push.example.com/ipns"),
            ("upmc", "https://push.example.com/upmc"), ("braze", "https://push.example.com"),
            ("notificationhubs", "Endpoint=sb://push.example.com/;SharedAccessKeyName=…;SharedAccessKey=…"),
        ]
    )
    func eachVendorHasItsAddress(_ vendor: String, _ address: String) throws {
        let connection = try #require(VendorConnection.of(vendor, host: "push.example.com", settings: nil))
        #expect(connection.lines.first?.value == address)
        #expect(
            VendorConnection.of(vendor, host: nil, settings: nil)?.lines.first?.value.contains("<your host>") == true
        )
    }

    @Test func anObjectOfTheFileNamesItsPlaceThere() throws {
        let request = OperationsStage.request(path: ["app": "shop"])
        let bodies = ["app": OperationsSamples.app, "bindings": OperationsSamples.bindings]
        let content = try AppPage().content(request, OperationsStage.answers(bodies))
        let texts = OperationsStage.texts(content)
        #expect(texts.contains { $0.contains("tenants[acme].apps[shop].bindings.upmc") })
        #expect(texts.contains { $0.contains("Change tenants[acme].apps[shop] in the file") })
        #expect(!texts.contains { $0.contains("bindings.braze") })
        // Only an app of the API can be deleted here.
        #expect(!texts.contains("apps/shop/delete"))
        let own = try AppPage().content(
            request,
            OperationsStage.answers(["app": ["app": "shop", "origin": "api"], "bindings": OperationsSamples.bindings])
        )
        #expect(OperationsStage.texts(own).contains("apps/shop/delete"))
    }

    @Test func aFormStartsACaptureOnce() throws {
        let request = OperationsStage.request()
        let fields = OperationsStage.fields([
            "app": "shop", "vendor": "upmc", "minutes": "5", "exchanges": "", "texts": "on", "once": "o-1",
        ])
        guard case .call(let call) = StartCaptureForm().submit(request, fields, Answers()) else {
            Issue.record("no call")
            return
        }
        #expect(call.method == .post && call.path == "captures" && call.once == "o-1")
        #expect(call.body == ["app": "shop", "vendor": "upmc", "minutes": 5, "texts": true])
        let wrong = OperationsStage.fields(["app": "shop", "vendor": "upmc", "minutes": "five"])
        guard case .invalid(let errors) = StartCaptureForm().submit(request, wrong, Answers()) else {
            Issue.record("no error")
            return
        }
        #expect(errors.errors.keys.sorted() == ["minutes"])
    }

    private func captured(_ outcomes: [String], state: String = "running") throws -> Sentence {
        let calls = outcomes.map { outcome -> JSON in
            ["sequence": 1, "outcome": .string(outcome), "path": "/x", "reason": "wrong AUTHKEY"]
        }
        let capture: JSON = ["state": .string(state), "page": .array(calls), "endsAt": "2026-11-23T05:15:00.000Z"]
        return try OperationsStage.sentence(CapturePage(), ["capture": capture])
    }

    @Test func aCaptureNamesRefusedCallsFirst() throws {
        #expect(try captured([]).text == "No call has arrived yet. The capture runs until Mon 23 Nov 14:15.")
        #expect(try captured([], state: "over").mark == .idle)
        #expect(try captured(["known"]).text == "The call shown was carried out.")
        #expect(try captured(["known", "unknown"]).mark == .warn)
        let refused = try captured(["known", "unknown", "refused"])
        #expect(refused.mark == .bad && refused.text.hasSuffix("First reason: wrong AUTHKEY"))
    }

    @Test func anOpenRowShowsBothSides() throws {
        let request = OperationsStage.request(path: ["capture": "c-1"], query: ["row": "1"])
        let content = try CapturePage().content(
            request,
            OperationsStage.answers(["capture": OperationsSamples.captureWithPage])
        )
        let texts = OperationsStage.texts(content)
        #expect(texts.contains("content-type: application/json\nauthorization: (hidden)"))
        #expect(texts.contains("{\"HEADER\":{}}"))
        #expect(CapturePage().export(OperationsStage.request(query: ["after": "7; DROP"]))?.query.count == 1)
    }
}
