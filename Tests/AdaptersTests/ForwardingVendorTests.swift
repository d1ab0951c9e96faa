import Adapters
import HTTPTypes
import Model
import Testing

/// Which calls of each dialect may reach the vendor later, and what its answers mean.
@Suite struct ForwardingVendorTests {
    private func vendor(_ vendor: Vendor) throws -> any ForwardingVendor {
        try #require(VendorCatalog.product.byVendor[vendor] as? any ForwardingVendor)
    }

    private func request(
        _ path: String,
        _ body: String = "",
        route: String = "",
        method: HTTPRequest.Method = .post
    ) -> VendorRequest {
        VendorRequest(route: route, method: method, path: path, body: Array(body.utf8))
    }

    @Test(
        arguments: [
            ("/users/track", #"{"attributes":[{"external_id":"u","city":"Seoul"}]}"#, true),
            ("/users/track", #"{"attributes":[{"external_id":"u","visits":{"inc":1}}]}"#, false),
            ("/users/track", #"{"attributes":[{"external_id":"u","colors":{"add":["red"]}}]}"#, false),
            ("/users/track", #"{"attributes":[{"external_id":"u","pets":{"$add":[{"id":1}]}}]}"#, false),
            ("/users/track", #"{"events":[{"external_id":"u","name":"x","time":"2026-01-01T00:00:00Z"}]}"#, false),
            ("/users/track", #"{"attributes":[{"external_id":"u"}],"events":[]}"#, true),
            ("/users/track", "no JSON", false), ("/users/delete", #"{"external_ids":["u"]}"#, true),
            ("/subscription/status/set", "{}", true), ("/api/v3/data", "{}", true),
            ("/api/v3/content_cards/sync", "{}", false),
        ]
    )
    func brazeForwardsWhatMayBeRepeated(_ path: String, _ body: String, _ isForwarded: Bool) throws {
        #expect(try vendor(.braze).mayForward(request(path, body)) == isForwarded)
    }

    @Test func brazeShowsTheKeyOfTheCredentialForCallsOfBackEndsOnly() throws {
        let upstream = UpstreamSettings(vendor: .braze, secrets: ["restKey": "secret"])
        let track = try vendor(.braze).authorized(request("/users/track", "{}"), for: upstream)
        #expect(track.headers[.authorization] == "Bearer secret")
        let data = try vendor(.braze).authorized(request("/api/v3/data", "{}"), for: upstream)
        #expect(data.headers[.authorization] == nil)
    }

    @Test(
        arguments: [
            ("/shop/installations/1", true), ("/shop/Installations/1", true), ("/shop/registrations", false),
            ("/shop/registrations/7260336227650468927-4200236381151834034-1", true),
            ("/shop/Registrations/1/", true), ("/shop/registrationids", false), ("/shop", false),
        ]
    )
    func hubsForwardsWhatHasTheAppsIDOrTheVendors(_ path: String, _ isForwarded: Bool) throws {
        #expect(try vendor(.notificationHubs).mayForward(request(path, method: .put)) == isForwarded)
    }

    @Test(
        arguments: [
            ("rcv_register_service_and_user", false), ("new_rcv_register_service_and_user", true),
            ("rcv_register_usergroup", false), ("rcv_register_usergroup_user", false), ("asking_authorization", false),
            ("rcv_register_sent_ack", true), ("rcv_register_message", false),
        ]
    )
    func upmcForwardsWhatBothSidesKnow(_ name: String, _ isForwarded: Bool) throws {
        #expect(try vendor(.upmc).mayForward(request("/upmc/\(name).ctl")) == isForwarded)
    }

    @Test(arguments: [("installApp", true), ("notiRead", true), ("reqAuthNumber", false), ("deviceRegister", false)])
    func rationalOwlForwardsWhatBothSidesKnow(_ route: String, _ isForwarded: Bool) throws {
        #expect(try vendor(.rationalOwl).mayForward(request("/", route: route)) == isForwarded)
    }

    @Test(
        arguments: [
            ("upmc", #"{"HEADER":{"RESULT_CODE":"0000"}}"#, "accepted"),
            ("upmc", #"{"HEADER":{"RESULT_CODE":"500"}}"#, "failed"),
            ("upmc", #"{"HEADER":{"RESULT_CODE":"40100"}}"#, "credential"),
            ("upmc", #"{"HEADER":{"RESULT_CODE":"4400"}}"#, "refused"), ("upmc", "<html>", "failed"),
            ("ipns", #"{"RT":"0000"}"#, "accepted"), ("ipns", #"{"RT":"9999"}"#, "failed"),
            ("ipns", #"{"rtCode":"2003"}"#, "refused"), ("ipns", #"{"RT":"1400"}"#, "credential"),
            ("upmc", #"{"HEADER":{"RESULT_CODE":"-500"}}"#, "credential"), ("rationalowl", "<html>", "failed"),
            ("rationalowl", "", "failed"), ("rationalowl", #"{"rc":-1}"#, "failed"),
            ("rationalowl", #"{"rc":-1,"cmt":""}"#, "failed"), ("rationalowl", #"{"rc":-1,"cmt":"pn"}"#, "refused"),
            ("rationalowl", #"{"rc":1}"#, "accepted"),
            ("rationalowl", #"{"rc":-301}"#, "accepted"), ("rationalowl", #"{"rc":-201}"#, "refused"),
            ("rationalowl", "ok", "accepted"), ("braze", #"{"message":"success"}"#, "accepted"),
        ]
    )
    func aCodeBelow200IsUnderstood(_ name: String, _ body: String, _ meaning: String) throws {
        let verdict = try vendor(Vendor(rawValue: name)).verdict(
            of: VendorResponse(status: 200, body: Array(body.utf8))
        )
        switch verdict {
        case .accepted: #expect(meaning == "accepted")
        case .refused: #expect(meaning == "refused")
        case .credential: #expect(meaning == "credential")
        case .failed: #expect(meaning == "failed")
        case .busy, .canceled: Issue.record("not a meaning of an answer")
        }
    }

    /// One character of a text may have thousands of bytes, and a reason is logged.
    @Test(arguments: [("upmc", #"{"HEADER":{"RESULT_CODE":"?"}}"#), ("ipns", #"{"RT":"?"}"#)])
    func aStrangeCodeIsShownInAFewBytes(_ name: String, _ form: String) throws {
        let code = "5" + String(repeating: "\u{301}", count: 3000) + #"\u0000\n6"#
        let answer = VendorResponse(status: 200, body: Array(form.replacing("?", with: code).utf8))
        #expect(try vendor(Vendor(rawValue: name)).verdict(of: answer) == .refused("code 56"))
    }

    @Test(arguments: ["braze", "ipns", "notificationhubs", "rationalowl", "upmc"])
    func aRedirectIsAFailure(_ name: String) throws {
        let verdict = try vendor(Vendor(rawValue: name)).verdict(of: VendorResponse(status: 302))
        #expect(verdict == .failed("HTTP 302", after: nil))
    }

    /// A stored call contains no credential of the caller, and everything else.
    @Test(
        arguments: [
            ("braze", "/users/delete", #"{"api_key":"SECRET","external_ids":["u"]}"#, #"{"external_ids":["u"]}"#),
            ("braze", "/api/v3/data", #"{"api_key":"app","device_id":"d"}"#, #"{"api_key":"app","device_id":"d"}"#),
            ("rationalowl", "/", #"{"dRId":"d", "userToken":"SECRET"}"#, #"{"dRId":"d"}"#),
            ("rationalowl", "/", #"{"dRId":"d", "pn":"010"}"#, #"{"dRId":"d", "pn":"010"}"#),
            ("ipns", "/appRegist", #"{"DEVICE_ID":"d","user-token":"SECRET"}"#, #"{"DEVICE_ID":"d"}"#),
            ("ipns", "/appRegist", "DEVICE_ID=d%20&User_Token=SECRET&PUSH_YN=Y", "DEVICE_ID=d%20&PUSH_YN=Y"),
            ("upmc", "/upmc/rcv_register_user.ctl", "AUTHKEY=SECRET&CUID=u%26&USER%5FTOKEN=SECRET", "CUID=u%26"),
            ("upmc", "/upmc/rcv_register_user.ctl", "CUID=u", "CUID=u"),
        ]
    )
    func storedCallsContainNoCredentials(_ name: String, _ path: String, _ body: String, _ kept: String) throws {
        let adapter = try vendor(Vendor(rawValue: name))
        let stored = adapter.stored(request(path, body), settings: BindingSettings())
        #expect(String(decoding: stored.body, as: UTF8.self) == kept)
    }

    @Test(arguments: [("braze", "api_key"), ("ipns", "user_token"), ("rationalowl", "userToken"), ("upmc", "AUTHKEY")])
    func storedQueriesContainNoCredentials(_ name: String, _ field: String) throws {
        var call = request("/users/delete")
        call.query = "a=1%20&\(field)=SECRET&b"
        let stored = try vendor(Vendor(rawValue: name)).stored(call, settings: BindingSettings())
        #expect(stored.query == "a=1%20&b")
        call.query = "\(field)=SECRET"
        #expect(try vendor(Vendor(rawValue: name)).stored(call, settings: BindingSettings()).query == nil)
    }

    /// The binding's own name of the field.
    @Test func aRenamedUserTokenIsNotStored() throws {
        let names = JSON.pairs(["who": .string("USER_TOKEN")])
        let settings = BindingSettings(values: JSONObject([("fields", names)]))
        let call = request("/appRegist", #"{"WHO":"SECRET","PUSH_YN":"Y"}"#)
        #expect(try vendor(.ipns).stored(call, settings: settings).body == Array(#"{"PUSH_YN":"Y"}"#.utf8))
    }

    @Test func aMultipartFormLosesItsCredentials() throws {
        let parts = ["AUTHKEY": "SECRET", "CUID": "u 1"].sorted { $0.key < $1.key }.map { name, value in
            "--b\r\nContent-Disposition: form-data; name=\"\(name)\"\r\n\r\n\(value)\r\n"
        }
        var call = request("/upmc/rcv_register_user.ctl", parts.joined() + "--b--\r\n")
        call.headers[.contentType] = "multipart/form-data; boundary=b"
        let stored = try vendor(.upmc).stored(call, settings: BindingSettings())
        #expect(String(decoding: stored.body, as: UTF8.self) == "CUID=u%201")
        #expect(stored.headers[.contentType] == "application/x-www-form-urlencoded")
    }

    @Test func aQuotaOfHubsIsNoRefusedCredential() throws {
        let hubs = try vendor(.notificationHubs)
        #expect(hubs.verdict(of: VendorResponse(status: 403)) == .failed("HTTP 403", after: nil))
        #expect(hubs.verdict(of: VendorResponse(status: 401)) == .credential("HTTP 401"))
    }
}
