import Crypto
import CryptoExtras
import Foundation
import HTTPTypes
import Model
import TestKit
import Testing

@testable import Braze

/// The signed proof of a user's name (docs/contracts/braze.md#3.7).
struct SDKAuthenticationTests {
    private static let key = try? _RSA.Signing.PrivateKey(keySize: .bits2048)
    private static let other = try? _RSA.Signing.PrivateKey(keySize: .bits2048)
    private static let ends = Mount.now.seconds + 60

    private func settings(_ mode: String, _ keys: [_RSA.Signing.PrivateKey?] = [other, key]) -> BindingSettings {
        var settings = SDKTests.settings
        settings.values["authentication"] = .string(mode)
        settings.values["publicKeys"] = .array(keys.compactMap { $0.map { .string($0.publicKey.pemRepresentation) } })
        return settings
    }

    private static func token(_ claims: String, algorithm: String = "RS256", by key: _RSA.Signing.PrivateKey? = key)
        throws -> String
    {
        let text = Data(#"{"alg":"\#(algorithm)","typ":"JWT"}"#.utf8).base64URL + "." + Data(claims.utf8).base64URL
        let digest = SHA256.hash(data: Data(text.utf8))
        let signature = try #require(key).signature(for: digest, padding: .insecurePKCS1v1_5)
        return text + "." + signature.rawRepresentation.base64URL
    }

    private static func claims(_ user: String = "u-1", ends: Int64 = ends) -> String {
        #"{"sub":"\#(user)","exp":\#(ends),"aud":"ignored"}"#
    }

    private func request(_ token: String?, user: String = #","user_id":"u-1""#) -> VendorRequest {
        let body = #"{"device_id":"d","events":[{"name":"ss","time":1,"data":{}\#(user)}]}"#
        var request = SDKTests.request("/api/v3/data", body)
        if let name = HTTPField.Name("X-Braze-Auth-Signature") { request.headers[name] = token }
        return request
    }

    private func code(_ token: String?, _ settings: BindingSettings) -> Int64? {
        let answer = SDKTests.answer(request(token), settings: settings)
        let error = answer.json?["auth_error"]
        if error != nil {
            #expect(answer.status == (settings.values["authentication"] == "required" ? 401 : 201))
            #expect(error?["user_id"] == "u-1")
        }
        return error?["error_code"]?.int
    }

    // docs/contracts/braze.md#3.6 G.
    @Test func anExpiredProofIsRefusedAsDocumented() throws {
        let request = request(try Self.token(Self.claims(ends: Mount.now.seconds)))
        let answer = SDKTests.answer(request, settings: settings("required"))
        let example = try Fixture.message("sdk/expired.response.txt")
        #expect(answer.status == 401 && answer.text == example.body)
    }

    @Test(arguments: ["optional", "required"]) func everyFaultHasItsErrorCode(_ mode: String) throws {
        let settings = settings(mode)
        #expect(code(try Self.token(Self.claims()), settings) == nil)
        #expect(code(nil, settings) == 26 && code("", settings) == 26)
        for broken in ["x", "a.b", "e30.e30", "!.e30.e30", String(repeating: "a", count: 9000), "e30=.e30.e30"] {
            #expect(code(broken, settings) == 20, "\(broken.prefix(20))")
        }
        #expect(code(try Self.token(#"{"sub":"u-1"}"#), settings) == 10)
        #expect(code(try Self.token(Self.claims("u-2")), settings) == 21)
        #expect(code(try Self.token(Self.claims(ends: 1)), settings) == 22)
        for claims in ["[]", "x", #"{"exp":9999999999}"#, #"{"sub":7,"exp":9999999999}"#, #"{"sub":"u-1","exp":"x"}"#] {
            #expect(code(try Self.token(claims), settings) == 23, "\(claims)")
        }
        for algorithm in ["none", "HS256", "RS512", ""] {
            #expect(code(try Self.token(Self.claims(), algorithm: algorithm), settings) == 24)
        }
        #expect(code(try Self.token(Self.claims()), self.settings(mode, [])) == 25)
        let stranger = try _RSA.Signing.PrivateKey(keySize: .bits2048)
        #expect(code(try Self.token(Self.claims(), by: stranger), settings) == 27)
        // The signature covers exactly the claims.
        let parts = try Self.token(Self.claims()).split(separator: ".")
        let forged = "\(parts[0]).\(Data(Self.claims("u-9").utf8).base64URL).\(parts[2])"
        #expect(code(forged, settings) == 27)
    }

    @Test func anotherUsersDataIsNotCovered() throws {
        let users = #","user_id":"u-2"},{"name":"ss","time":2,"user_id":"u-1""#
        let answer = SDKTests.answer(
            request(try Self.token(Self.claims()), user: users),
            settings: settings("required")
        )
        #expect(answer.json?["auth_error"]?["error_code"] == 28)
    }

    @Test func anAnonymousUserNeedsNoProof() throws {
        #expect(SDKTests.answer(request(nil, user: ""), settings: settings("required")).status == 201)
        #expect(SDKTests.answer(request(nil), settings: settings("disabled")).text == "{}")
    }

    // MARK: The owner of a device

    private static let deviceToken = String(repeating: "0a1b2c3d", count: 8)

    private func device(of user: UserID?, isProven: Bool = true) -> IdentityStanding {
        IdentityStanding(
            state: .active,
            token: DeviceToken(apns: Self.deviceToken),
            user: user,
            attributes: isProven ? ["model": "iPhone15,2", SDKAuthentication.provenAttribute: true] : [:]
        )
    }

    /// The answer to a call about the device of `standing`, and the commands that it caused.
    private func change(
        _ fields: String,
        signed token: String?,
        _ standing: IdentityStanding?,
        path: String = "/api/v3/data",
        _ settings: BindingSettings
    ) -> (answer: VendorResponse, commands: [Command]) {
        var request = SDKTests.request(path, #"{"device_id":"d"\#(fields)}"#)
        if let name = HTTPField.Name("X-Braze-Auth-Signature") { request.headers[name] = token }
        var commands: [Command] = []
        let answer = SDKTests.answer(request, settings: settings, standing: standing) { command in
            commands.append(command)
            return Mount.reply(command)
        }
        return (answer, commands)
    }

    private static let otherToken = #","attributes":[{"push_token":"\#(String(repeating: "f", count: 64))"}]"#

    // docs/contracts/braze.md#3.7: the owner's proof is needed for every change of the device.
    @Test(arguments: [
        otherToken, #","attributes":[{"push_token":null}]"#, #","attributes":[{"push_subscribe":"unsubscribed"}]"#,
        #","device":{"ios_push_auth":"denied"}"#, #","events":[{"name":"pc","time":1,"data":{}}]"#, "",
    ]) func anUnsignedCallChangesNothingOnTheDeviceOfAProvenUser(_ fields: String) throws {
        let settings = settings("required")
        for path in ["/api/v3/data", "/api/v3/template", "/api/v3/content_cards/sync"] {
            let (answer, commands) = change(fields, signed: nil, device(of: "u-1"), path: path, settings)
            // The owner's name is not shown.
            #expect(answer.status == 401)
            #expect(answer.json == ["auth_error": ["error_code": 26, "reason": "MISSING_TOKEN"]])
            #expect(commands == [])
        }
        let signed = change(fields, signed: try Self.token(Self.claims()), device(of: "u-1"), settings)
        #expect(signed.answer.status == 201 && signed.commands != [])
    }

    @Test func aProofOfAnotherUserDoesNotTakeADevice() throws {
        let settings = settings("required")
        let named = #","attributes":[{"user_id":"u-2","push_token":"\#(Self.deviceToken)"}]"#
        let mismatch: JSON = ["auth_error": ["error_code": 21, "reason": "SUBJECT_MISMATCH", "user_id": "u-2"]]
        let refused = change(named, signed: try Self.token(Self.claims("u-2")), device(of: "u-1"), settings)
        #expect(refused.answer.status == 401 && refused.answer.json == mismatch && refused.commands == [])
        let unnamed = change(Self.otherToken, signed: try Self.token(Self.claims("u-2")), device(of: "u-1"), settings)
        #expect(unnamed.answer.status == 401 && unnamed.commands == [])
        #expect(unnamed.answer.json == ["auth_error": ["error_code": 21, "reason": "SUBJECT_MISMATCH"]])
        let expired = change("", signed: try Self.token(Self.claims(ends: 1)), device(of: "u-1"), settings)
        #expect(expired.answer.json?["auth_error"]?["error_code"] == 22 && expired.commands == [])
    }

    @Test func theDevicesTokenChangesTheUserWhereTheBindingAllowsIt() throws {
        var settings = settings("required")
        settings.values["switchByToken"] = true
        let proof = try Self.token(Self.claims("u-2"))
        let named = #","attributes":[{"user_id":"u-2","push_token":"\#(Self.deviceToken)"}]"#
        #expect(change(named, signed: proof, device(of: "u-1"), settings).answer.status == 201)
        for fields in [
            #","attributes":[{"user_id":"u-2","push_token":"\#(String(repeating: "f", count: 64))"}]"#,
            #","attributes":[{"user_id":"u-2"}]"#, #","attributes":[{"push_token":"\#(Self.deviceToken)"}]"#,
        ] {
            #expect(change(fields, signed: proof, device(of: "u-1"), settings).answer.status == 401, "\(fields)")
        }
    }

    @Test func aClaimedUserYieldsToAProof() throws {
        let settings = settings("required")
        let claimed = device(of: "u-1", isProven: false)
        let named = #","events":[{"name":"ss","time":1,"data":{},"user_id":"u-2"}]"#
        #expect(change(named, signed: try Self.token(Self.claims("u-2")), claimed, settings).answer.status == 201)
        #expect(change(Self.otherToken, signed: nil, claimed, settings).answer.status == 401, "an unsigned call")
        // Without a user, there is nothing to protect.
        for user in [nil, "alias:7"] as [UserID?] {
            #expect(change(Self.otherToken, signed: nil, device(of: user), settings).answer.status == 201)
        }
        for mode in ["disabled", "optional"] {
            let open = self.settings(mode)
            #expect(change(Self.otherToken, signed: nil, device(of: "u-1"), open).answer.status == 201)
        }
    }

    private func stored(_ commands: [Command]) -> DeviceRegistration? {
        for case .user(.track(let batch)) in commands {
            for patch in batch.patches { if let device = patch.devices.first { return device } }
        }
        return nil
    }

    @Test func aVerifiedCallProtectsTheDevice() throws {
        let named = #","device":{"$provenUser":true},"events":[{"name":"ss","time":1,"data":{},"user_id":"u-1"}]"#
        let proof = try Self.token(Self.claims())
        for (mode, token, isProven) in [
            ("required", proof, true), ("optional", proof, true), ("optional", nil, false), ("disabled", proof, false),
        ] as [(String, String?, Bool)] {
            let device = try #require(stored(change(named, signed: token, nil, settings(mode)).commands))
            #expect((device.attributes[SDKAuthentication.provenAttribute] == true) == isProven, "\(mode)")
        }
        // The write fails if another call changed the device after its owner was checked, and the device is read again.
        let standing = device(of: "u-1")
        let again = try #require(stored(change(named, signed: proof, standing, settings("required")).commands))
        #expect(again.expected == standing.attributes)
        let request = SDKTests.request("/api/v3/data", #"{"device_id":"d"}"#)
        let sequel = try Mount.adapter.sequel(to: [.refused(.outdated)], of: request, settings: settings("required"))
        #expect(sequel == [.registration(.standing(key: "d"))])
    }

    @Test func onlyValidKeysAreAccepted() throws {
        let keys = try #require(settings("required").values["publicKeys"])
        #expect(BrazeSettings.declared.problems(in: ["publicKeys": keys, "authentication": "required"]) == [])
        let four = JSON.array(Array(repeating: try #require(keys.array?.first), count: 4))
        for wrong in [four, ["x"], [1], "x"] as [JSON] {
            #expect(BrazeSettings.declared.problems(in: ["publicKeys": wrong]).count == 1)
        }
        #expect(BrazeSettings.declared.problems(in: ["authentication": "on"]).count == 1)
    }
}
