import CommandSupport
import Crypto
import Foundation
import Model
import TestKit
import Testing

/// Users that are confirmed by tokens of the app's back end, by the command line, and warnings about the defaults, over real processes.
@Suite(.serialized, .timeLimit(.minutes(10)))
struct UserTokenTests {
    private static let issuer = "https://login.example.com"

    private static func token(
        _ user: String,
        by key: P256.Signing.PrivateKey,
        endsIn seconds: Double = 600,
        phone: String? = nil
    ) throws -> String {
        let ends = Int(Date().timeIntervalSince1970 + seconds)
        let more = phone.map { #","phone_number":"\#($0)""# } ?? ""
        let claims = #"{"sub":"\#(user)","iss":"\#(issuer)","aud":"push","exp":\#(ends)\#(more)}"#
        let text = Data(#"{"alg":"ES256"}"#.utf8).base64URL + "." + Data(claims.utf8).base64URL
        return try text + "." + key.signature(for: Data(text.utf8)).rawRepresentation.base64URL
    }

    private static func push(_ digit: Character) -> String { String(repeating: digit, count: 64) }

    private static func first(_ list: JSON?) -> JSON? { list?.array?.first }

    /// The levels of the devices of a user, by key.
    private func levels(_ world: World, _ user: String) async throws -> [String: String] {
        let found = try await world.native("GET", "/v1/devices?app=shop&user=\(user)")
        let identities = (found.json?["devices"]?.array ?? []).flatMap { $0["identities"]?.array ?? [] }
        return Dictionary(
            identities.compactMap { identity in
                identity["key"]?.string.flatMap { key in identity["assurance"]?.string.map { (key, $0) } }
            }
        ) { first, _ in first }
    }

    private func provision(_ world: World, _ key: P256.Signing.PrivateKey?) async throws -> String {
        try Data((key?.publicKey.pemRepresentation ?? "").utf8).write(
            to: URL(filePath: world.material.path("user.pem"))
        )
        let plain = try String(contentsOfFile: world.material.path("tenants.yaml"), encoding: .utf8)
        let tokens =
            key == nil
            ? "" : "userTokens: { issuer: \(Self.issuer), audience: push, keys: [ { publicKeyFile: user.pem } ] }"
        let text = plain.replacing(
            "        bindings:\n",
            with: "        \(tokens)\n        bindings:\n",
            maxReplacements: 1
        )
        let bindings = "          ipns: { appId: hr.mobile }\n          upmc: { applicationId: com.example.app }\n"
        try (text + "\n" + bindings).write(
            toFile: world.material.path("tokens.yaml"),
            atomically: true,
            encoding: .utf8
        )
        let applied = try await world.apply("tokens.yaml")
        try #require(applied.status == 0, "\(applied.log)")
        return applied.log
    }

    private func ipns(_ world: World, _ key: String, _ digit: Character, _ user: String, token: String?) async throws
        -> String?
    {
        let body: JSON = [
            "APP_ID": "hr.mobile", "DEVICE_ID": .string(key), "USER_CN": .string(user),
            "PUSH_TOKEN": .string(Self.push(digit)),
        ]
        let headers = token.map { ["X-User-Token": $0] } ?? [:]
        return try await world.http.call("POST", "/ipns/appRegist", body, headers: headers).json?["RT"]?.string
    }

    @Test func aTokenOfTheBackEndVouchesForItsUserOnly() async throws {
        try await World.with { world in
            let (key, other) = (P256.Signing.PrivateKey(), P256.Signing.PrivateKey())
            _ = try await world.apply()
            let log = try await provision(world, key)
            #expect(log.contains("bindings.rationalowl: refused by default: ") && log.contains("(unregisterByPhone)"))
            try await eventually("the binding is served") {
                try await ipns(world, "first", "1", "first", token: nil) == "0000"
            }
            let right = try Self.token("kim", by: key)
            // The attack: another user's token, one by another key, and one that has expired.
            let wrong = [
                try Self.token("lee", by: key), try Self.token("kim", by: other),
                try Self.token("kim", by: key, endsIn: -5), "nonsense",
            ]
            for token in wrong { #expect(try await ipns(world, "stranger", "2", "kim", token: token) == "9999") }
            #expect(try await levels(world, "kim").isEmpty)
            #expect(try world.gatewayLog().contains("user token: subject"))
            #expect(try await ipns(world, "stranger", "2", "kim", token: nil) == "0000")
            #expect(try await ipns(world, "owner", "3", "kim", token: right) == "0000")
            #expect(try await levels(world, "kim") == ["stranger": "claimed", "owner": "vouched"])

            // The named fields of the dialects.
            let field: JSON = [
                "APP_ID": "hr.mobile", "DEVICE_ID": "field", "USER_CN": "kim", "PUSH_TOKEN": .string(Self.push("4")),
                "USER_TOKEN": .string(right),
            ]
            #expect(try await world.http.call("POST", "/ipns/appRegist", field).json?["RT"] == "0000")
            #expect(try await levels(world, "kim")["field"] == "vouched")
            let install: JSON = [
                "aId": .string(world.account), "sId": .string(world.service), "dRId": "owl-1", "dt": 2, "n": "kim",
                "pn": "01012345678", "auId": "kim", "tk": .string(Self.push("5")), "userToken": .string(right),
            ]
            let installed = try await world.http.call("POST", "/pushApp/installApp", install)
            #expect(installed.status == 200, "\(installed.text)")
            #expect(try await levels(world, "kim")["owl-1"] == "claimed", "the token names no phone: \(installed.text)")
            var named = try #require(install.object)
            named["userToken"] = .string(try Self.token("kim", by: key, phone: "+82 10-1234-5678"))
            let again = try await world.http.call("POST", "/pushApp/installApp", .object(named))
            #expect(try await levels(world, "kim")["owl-1"] == "vouched", "\(again.text)")
            let form = "APP_ID=com.example.app&CUID=kim&CNAME=Kim&PSID=\(Self.push("6"))&PNSID=APNS&DEVICE_ID=u1"
            for (call, user) in [("rcv_register_service", "lee"), ("rcv_register_user", "kim")] {
                let text = form.replacing("CUID=kim", with: "CUID=\(user)")
                func post(_ token: String) async throws -> HTTPCaller.Answer {
                    let body = Array("\(text)&USER_TOKEN=\(token)".utf8)
                    return try await world.http.post("/upmc/\(call).ctl", json: body)
                }
                let refused = try await post(try Self.token("nobody", by: key))
                #expect(refused.json?["HEADER"]?["RESULT_CODE"] == "40100", "\(refused.text)")
                let done = try await post(try Self.token(user, by: key))
                #expect(done.json?["HEADER"]?["RESULT_CODE"] == "0000", "\(done.text)")
                #expect(try await levels(world, user)["APNS:u1"] == "vouched", "\(call): \(done.text)")
            }

            // Without keys a token proves nothing, and is not looked at.
            _ = try await provision(world, nil)
            try await eventually("the keys are removed") {
                try await ipns(world, "stranger", "2", "kim", token: wrong[1]) == "0000"
            }
            #expect(try await ipns(world, "late", "7", "kim", token: right) == "0000")
            #expect(try await levels(world, "kim")["late"] == "claimed")
        }
    }

    @Test func anOperatorVouchesByTheCommandLine() async throws {
        try await World.with { world in
            _ = try await world.apply()
            _ = try await provision(world, nil)
            try await eventually("the binding is served") {
                try await ipns(world, "k1", "1", "kim", token: nil) == "0000"
            }
            let found = try await world.native("GET", "/v1/devices?app=shop&user=kim")
            let id = try #require(
                Self.first(Self.first(found.json?["devices"])?["identities"])?["id"]?.string,
                "\(found.text)"
            )
            let refused = try await world.command(["devices", "vouch", id, "--tenant", "acme", "--user", "lee"])
            #expect(refused.status != 0 && refused.log.contains("no such active identity"), "\(refused.log)")
            #expect(try await levels(world, "kim") == ["k1": "claimed"])
            let done = try await world.command(
                ["devices", "vouch", id, "--tenant", "acme", "--user", "kim", "--by", "ann"]
            )
            #expect(done.status == 0 && done.log.contains("vouched for kim (ipns, k1)"), "\(done.log)")
            #expect(try await levels(world, "kim") == ["k1": "vouched"])
            let events = try await world.native("GET", "/v1/events?kinds=vouched&limit=10").text
            #expect(events.contains(#""data":{"by":"backEnd"}"#) && events.contains(id), "\(events)")
        }
    }
}
