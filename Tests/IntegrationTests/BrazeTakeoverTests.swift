import Crypto
import CryptoExtras
import Foundation
import Model
import NIOHTTP1
import TestKit
import Testing

@testable import CommandSupport

/// A stranger who knows the `device_id` of a user's device and the SDK key, which every copy of the app contains (H1), over real processes.
@Suite(.serialized, .timeLimit(.minutes(10)), .sharedWorld())
struct BrazeTakeoverTests {
    /// The proof that the app's back end gives to a user's device (docs/contracts/braze.md#3.7).
    private static func proof(of user: String, by key: _RSA.Signing.PrivateKey) throws -> String {
        let ends = Int(Date().timeIntervalSince1970) + 600
        let claims = #"{"sub":"\#(user)","exp":\#(ends)}"#
        let text = Data(#"{"alg":"RS256","typ":"JWT"}"#.utf8).base64URL + "." + Data(claims.utf8).base64URL
        let digest = SHA256.hash(data: Data(text.utf8))
        let signature = try key.signature(for: digest, padding: .insecurePKCS1v1_5)
        return text + "." + signature.rawRepresentation.base64URL
    }

    /// The body of a call that states a token, and perhaps a user, for the device.
    private static func body(_ token: Int, user: String? = nil) -> String {
        let named = user.map { #""user_id":"\#($0)","# } ?? ""
        return #"{"device_id":"owned","attributes":[{\#(named)"push_token":"\#(BrazeCaller.token(token))"}]}"#
    }

    private func send(_ braze: BrazeCaller) async throws {
        let message = #"{"external_user_ids":["owner"],"messages":{"apple_push":{"alert":"Your code is 4711"}}}"#
        let sent = try await braze.call("/messages/send", message)
        try #require(sent.status == 201, "\(sent.text)")
    }

    @Test func aStrangerDoesNotTakeTheDeviceOfAProvenUser() async throws {
        let braze = try BrazeCaller.current
        let key = try _RSA.Signing.PrivateKey(keySize: .bits2048)
        let pem = key.publicKey.pemRepresentation.replacing("\n", with: "\\n")
        try await braze.world.bindBraze(
            settings: #"sdkEnabled: true, authentication: required, publicKeys: ["\#(pem)"]"#
        )
        let (own, stolen) = (401, 402)
        let signed = try await braze.sdk(
            Self.body(own, user: "owner"),
            ["x-braze-auth-signature": try Self.proof(of: "owner", by: key)]
        )
        try #require(signed.status == 201, "\(signed.text)")

        // Without a proof, and with that of a user of the stranger's own.
        let unsigned = try await braze.sdk(Self.body(stolen))
        #expect(unsigned.status == 401, "\(unsigned.text)")
        let foreign = try Self.proof(of: "thief", by: key)
        for body in [Self.body(stolen, user: "thief"), Self.body(stolen)] {
            let refused = try await braze.sdk(body, ["x-braze-auth-signature": foreign])
            #expect(refused.status == 401, "\(refused.text)")
        }
        try await send(braze)
        _ = try await braze.push(own)
        #expect(try await braze.pushes(stolen).isEmpty)

        // The control: the same call without the setting takes the device.
        try await braze.world.bindBraze()
        let taken = try await braze.sdk(Self.body(stolen))
        #expect(taken.status == 201, "\(taken.text)")
        try await send(braze)
        _ = try await braze.push(stolen)
        #expect(try await braze.pushes(own).count == 1)
    }
}
