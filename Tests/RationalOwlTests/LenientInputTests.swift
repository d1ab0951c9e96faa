import Model
import RationalOwl
import Testing

/// The accepted deviations and their limits (docs/contracts/rationalowl.md#3, docs/contracts/rationalowl.md#16.12).
struct LenientInputTests {
    static let minimal = DocumentedRequestTests.commands["installApp/minimal-2025.request.json"]

    static func decode(
        _ path: String,
        _ body: String,
        headers: [String: String] = ["Content-Type": "application/json"],
        settings: BindingSettings = .unbound
    ) throws -> Command? {
        let request = Mount.request(path, headers: headers, body: Array(body.utf8))
        _ = try Mount.adapter.locate(request)
        return try Mount.adapter.decode(request, settings: settings).first
    }

    /// Every row of "lenient input" in docs/contracts/rationalowl.md#3 gives the same command as the documented
    /// request.
    @Test(arguments: [
        ("/pushApp/installApp", "application/json; charset=utf-8", #"{"aId":"A","dt":2,"dRId":"D"}"#),
        ("/pushApp/installApp/", "application/json", #"{"aId":"A","dt":2,"dRId":"D"}"#),
        ("/pushApp/installApp", "text/plain", #"{"aId":"A","dt":2,"dRId":"D"}"#),
        ("/pushApp/installApp", "", #"{"aId":"A","dt":2,"dRId":"D"}"#),
        ("/pushApp/installApp", "application/json", #"{"cId":"303","aId":"A","dt":"2","dRId":"D"}"#),
        ("/pushApp/installApp", "application/json", #"{"cId":312,"aId":"A","dt":2,"dRId":"D","more":[{}],"x":null}"#),
        (
            "/pushApp/installApp", "application/json",
            #"{"aId":"A","dt":2,"dRId":"D","pn":"","auId":"","n":"","tk":"","env":""}"#
        ),
        ("/pushApp/installApp", "application/json", #"{"aId":"A","dt":2,"dRId":"D","pn":null,"auId":null,"n":null}"#),
        ("/pushApp/installApp", "application/x-www-form-urlencoded", "cId=303&aId=A&dt=2&dRId=%44"),
        ("/pushApp/installApp", "application/x-www-form-urlencoded", #" {"aId":"A","dt":2,"dRId":"D"}"#),
    ])
    func theSameInstallationInManySpellings(path: String, contentType: String, body: String) throws {
        let command = try Self.decode(path, body, headers: contentType.isEmpty ? [:] : ["Content-Type": contentType])
        #expect(command == .registration(.register(DeviceRegistration(key: "D", platform: .ios))))
    }

    /// docs/contracts/rationalowl.md#3: "ints for strings (`pn: 1022221111`)".
    @Test func numbersAreAcceptedAsTexts() throws {
        let command = try Self.decode(
            "/pushApp/unregUser",
            #"{"aId":1,"pn":1022221111}"#,
            settings: BindingSettings(values: ["unregisterByPhone": true])
        )
        #expect(command == .registration(.unregister(.phone("1022221111"))))
    }

    /// docs/contracts/rationalowl.md#5.1: without `dt` the client's name decides; without both, the platform is
    /// missing.
    @Test func platformIsInferredFromTheClient() throws {
        let body = #"{"aId":"A","dRId":"D"}"#
        let android = try Self.decode("/pushApp/installApp", body, headers: ["User-Agent": "okhttp/4.9.1"])
        #expect(android == .registration(.register(DeviceRegistration(key: "D", platform: .android))))
        let ios = try Self.decode(
            "/pushApp/installApp",
            body,
            headers: ["User-Agent": "ums/1 CFNetwork/1568 Darwin/24.0"]
        )
        #expect(ios == .registration(.register(DeviceRegistration(key: "D", platform: .ios))))
        #expect(throws: AdapterError(.missing, field: "dt")) { try Self.decode("/pushApp/installApp", body) }
    }

    /// docs/contracts/rationalowl.md#5.1, with the gateway's extension: token and environment.
    @Test func installationMayCarryTheToken() throws {
        let body = #"{"aId":"A","dt":2,"dRId":"D","tk":"ABCDEF01","env":"prod"}"#
        let expected = DeviceRegistration(
            key: "D",
            platform: .ios,
            environment: .production,
            token: DeviceToken(apns: "abcdef01")
        )
        #expect(try Self.decode("/pushApp/installApp", body) == .registration(.register(expected)))
    }

    /// Each error names its field, in the vendor's spelling.
    @Test(arguments: [
        ("/pushApp/installApp", #"{"aId":"A","dt":2}"#, AdapterError.Code.missing, "dRId"),
        ("/pushApp/installApp", #"{"dt":2,"dRId":"D"}"#, .missing, "aId"),
        ("/pushApp/installApp", #"{"aId":"","dt":2,"dRId":"D"}"#, .missing, "aId"),
        ("/pushApp/installApp", #"{"aId":"A","dt":7,"dRId":"D"}"#, .invalid, "dt"),
        ("/pushApp/installApp", #"{"aId":"A","dt":0,"dRId":"D"}"#, .invalid, "dt"),
        ("/pushApp/installApp", #"{"aId":"A","dt":2,"dRId":{}}"#, .invalid, "dRId"),
        ("/pushApp/installApp", #"{"aId":"A","dt":2,"dRId":"D","pn":"1"}"#, .invalid, "pn"),
        ("/pushApp/installApp", #"{"aId":"A","dt":2,"dRId":"D","tk":"zz"}"#, .invalid, "tk"),
        ("/pushApp/installApp", #"{"aId":"A","dt":2,"dRId":"D","env":"moon"}"#, .invalid, "env"),
        ("/pushApp/installApp", #"{"aId":"A","dt":2,"dRId":"D","n":"a\u0000b"}"#, .invalid, "n"),
        ("/pushApp/unregUser", #"{"aId":"A"}"#, .missing, "dRId"),
        ("/pushApp/reqAuthNumber", #"{"aId":"A"}"#, .missing, "pn"),
        ("/pushApp/verifyAuthNumber", #"{"aId":"A","pn":"01022221111"}"#, .missing, "an"),
        ("/pushApp/msgInfo", #"{"aId":"A","dRId":"D"}"#, .missing, "mId"),
        ("/pushApp/msgInfo", #"{"aId":"A","mId":"M"}"#, .missing, "dRId"),
        ("/pushApp/imgData", #"{"aId":"A","mId":"M"}"#, .missing, "iId"),
        ("/ro/v1/device/state", #"{"sId":"S","dRId":"D","state":"asleep"}"#, .invalid, "state"),
        ("/ro/v1/device/token", #"{"sId":"S","dRId":"D"}"#, .missing, "tk"),
        ("/ro/v1/noti/delivered", #"{"sId":"S","dRId":"D","mId":"M","t":-1}"#, .invalid, "t"),
        ("/server/register", #"{"serviceId":"S"}"#, .missing, "registerName"),
        ("/msgClient/setCallbackUrl", #"{"aId":"A","rId":"R","url":"ftp://x"}"#, .invalid, "url"),
        ("/msgClient/setCallbackUrl", #"{"aId":"A","rId":"R","url":"https://"}"#, .invalid, "url"),
        ("/msgClient/setCallbackUrl", #"{"aId":"A","rId":"R"}"#, .missing, "url"),
    ])
    func aFaultNamesItsField(path: String, body: String, code: AdapterError.Code, field: String) throws {
        #expect(throws: AdapterError(code, field: field)) { try Self.decode(path, body) }
    }

    /// docs/contracts/rationalowl.md#3: JSON itself is not relaxed, also where the vendor's own examples are not JSON.
    @Test(arguments: ["", "{", "[]", "\"x\"", "{\"aId\":\"A\" \"dt\":2}", "{\"cId\":303, // command id\n}"])
    func brokenJSONIsUnreadable(body: String) throws {
        #expect(throws: AdapterError(.unreadable)) { try Self.decode("/pushApp/installApp", body) }
    }

    // The gateway counts such calls by their error (`calls_limited_total`).
    @Test func tooManyValuesAreNamedByTheError() {
        func isNamed(_ body: String) -> Bool? {
            do {
                _ = try Self.decode("/msgClient/sendMsg", body)
                return nil
            } catch { return (error as? AdapterError)?.hasTooManyValues }
        }
        let list = "[" + String(repeating: "1,", count: JSONParser.valueLimit) + "1]"
        #expect(isNamed(list) == true)
        #expect(isNamed("[1,") == false)
    }

    @Test(arguments: ["aId=%4", "aId=%zz", "aId=%ff"])
    func brokenFormIsUnreadable(body: String) throws {
        #expect(throws: AdapterError(.unreadable)) {
            try Self.decode("/pushApp/installApp", body, headers: ["Content-Type": "application/x-www-form-urlencoded"])
        }
    }

    /// A form may carry a send, with JSON inside its values.
    @Test func aFormMayCarryObjects() throws {
        let body = #"aId=A&rId=R&msg={"body":"b"}&dest=%7B%22t%22%3A1%7D"#
        let command = try Self.decode(
            "/msgClient/sendMsg",
            body,
            headers: ["Content-Type": "application/x-www-form-urlencoded"]
        )
        let expected = Submission(
            sender: "R",
            content: Content(body: "b"),
            audience: .everyone,
            timing: SubmissionTiming(timeToLive: .seconds(72 * 3600))
        )
        #expect(command == .submission(.submit(expected)))
    }

    /// docs/contracts/rationalowl.md#8.5: an empty URL removes the callback.
    @Test func anEmptyCallbackURLRemovesIt() throws {
        let command = try Self.decode("/msgClient/setCallbackUrl", #"{"aId":"A","rId":"R","url":""}"#)
        #expect(command == .sender(.setCallback("R", url: nil)))
    }

    /// docs/contracts/rationalowl.md#5.5: a missing or wrong field makes a read receipt an orphan, not an error.
    @Test(arguments: [#"{"aId":"A"}"#, #"{"aId":"A","dRId":[],"mId":{},"pn":"x"}"#])
    func aReceiptWithoutADeviceIsStillAReceipt(body: String) throws {
        let expected = Command.receipt(.report(.read, message: "", reporter: Reporter(key: nil), at: nil))
        #expect(try Self.decode("/pushApp/notiRead", body) == expected)
    }

    /// docs/contracts/rationalowl.md#5.1, strict mode: another service's id is answered -203.
    @Test func aForeignServiceIDIsRefusedOnlyWhenStrict() throws {
        let body = #"{"sId":"other","aId":"A","dt":2,"dRId":"D"}"#
        let values = keyed(["serviceId": "mine", "installApp.strictServiceId": true])
        #expect(try Self.decode("/pushApp/installApp", body) != nil)
        #expect(throws: AdapterError(.unauthorized, field: "sId")) {
            try Self.decode("/pushApp/installApp", body, settings: BindingSettings(values: values))
        }
    }
}
