import Crypto
import CryptoExtras
import Foundation
import HTTPTypes
import Model
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

    private static func base64(_ data: Data) -> String {
        data.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    private static func token(_ claims: String, algorithm: String = "RS256", by key: _RSA.Signing.PrivateKey? = key)
        throws -> String
    {
        let text = base64(Data(#"{"alg":"\#(algorithm)","typ":"JWT"}"#.utf8)) + "." + base64(Data(claims.utf8))
        let digest = SHA256.hash(data: Data(text.utf8))
        let signature = try #require(key).signature(for: digest, padding: .insecurePKCS1v1_5)
        return text + "." + base64(signature.rawRepresentation)
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
        let forged = "\(parts[0]).\(Self.base64(Data(Self.claims("u-9").utf8))).\(parts[2])"
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
