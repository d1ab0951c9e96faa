import Crypto
import CryptoExtras
import Foundation
import Logging
import Model
import SignedTokens
import TestKit
import Testing

@testable import Gateway
@testable import GatewayHTTP

/// Tokens by which an app's back end confirms the user of a registration.
struct UserTokenGateTests {
    private static let now = Timestamp(milliseconds: 1_790_000_000_000)
    private static let claims: JSONObject = [
        "sub": "kim", "iss": "login", "aud": "push", "exp": .int(1_790_000_600),
    ]
    private static let key = P256.Signing.PrivateKey()
    private static let rsa = try? _RSA.Signing.PrivateKey(keySize: .bits2048)

    private static func text(_ claims: JSONObject, _ algorithm: String) -> String {
        Data(#"{"alg":"\#(algorithm)"}"#.utf8).base64URL + "." + Data(JSONWriter.bytes(.object(claims))).base64URL
    }

    private static func token(
        _ change: JSONObject = [:],
        algorithm: String = "ES256",
        by key: P256.Signing.PrivateKey = key
    ) throws -> String {
        var claims = claims
        for (name, value) in change.pairs { claims[name] = value == .null ? nil : value }
        let text = text(claims, algorithm)
        return try text + "." + key.signature(for: Data(text.utf8)).rawRepresentation.base64URL
    }

    private static func rsaToken() throws -> String {
        let text = text(claims, "RS256")
        let signature = try #require(rsa).signature(
            for: SHA256.hash(data: Data(text.utf8)),
            padding: .insecurePKCS1v1_5
        )
        return text + "." + signature.rawRepresentation.base64URL
    }

    private static let rules = UserTokenRules(
        keys: ["no key", rsa?.publicKey.pemRepresentation ?? "", key.publicKey.pemRepresentation],
        issuer: "login",
        audience: "push"
    )

    private static let registration = DeviceRegistration(key: "k", platform: .ios, user: "kim")

    private func judge(
        _ token: String?,
        _ commands: [Command] = [.registration(.register(registration))],
        _ rules: UserTokenRules = rules
    ) throws -> UserTokenGate.Verdict {
        try #require(UserTokenGate(rules)).judge(commands, token, at: Self.now)
    }

    @Test func theRightTokenVouchesForEachKindOfRegistration() throws {
        var vouched = Self.registration
        vouched.assurance = .vouched
        let bare = DeviceRegistration(key: "k", platform: .ios)
        var enlisted = bare
        enlisted.assurance = .vouched
        let pairs: [(RegistrationCommand, RegistrationCommand)] = [
            (.register(Self.registration), .register(vouched)),
            (.enlist(bare, .set("kim")), .enlist(enlisted, .set("kim"))),
            (.assign(key: "k", .set("kim")), .assign(key: "k", .set("kim"), assurance: .vouched)),
        ]
        for token in [try Self.token(), try Self.rsaToken(), try Self.token(["aud": ["other", "push"]])] {
            for (command, proven) in pairs {
                #expect(try judge(token, [.registration(command)]) == .vouched([.registration(proven)]))
            }
        }
    }

    // The token of a user is not a proof of a phone, which another person may have.
    @Test func aTokenConfirmsAPhoneOnlyIfItNamesIt() throws {
        var claimed = Self.registration
        claimed.phone = "01012345678"
        var vouched = claimed
        vouched.assurance = .vouched
        let command = Command.registration(.register(claimed))
        for change in [
            [:], ["phone_number": "+82 10-1234-5679"], ["phone_number": .int(1_012_345_678)], ["phone_number": ""],
            ["phone_number": "999982 10-1234-5678"],
        ] as [JSONObject] {
            #expect(try judge(try Self.token(change), [command]) == .vouched([command]), "\(change)")
        }
        for number in ["+82 10-1234-5678", "010-1234-5678"] {
            let right = try judge(try Self.token(["phone_number": .string(number)]), [command])
            #expect(right == .vouched([.registration(.register(vouched))]), "\(number)")
        }
    }

    @Test func aCallWithoutATokenOrAUserIsLeftAsItIs() throws {
        for token in [nil, ""] { #expect(try judge(token) == .unproven) }
        let others: [Command] = [
            .registration(.register(DeviceRegistration(key: "k", platform: .ios))),
            .registration(.assign(key: "k", .clear)), .registration(.standing(key: "k")),
        ]
        #expect(try judge("nonsense", others) == .unproven)
        #expect(UserTokenGate(nil) == nil)
    }

    @Test func aWrongTokenIsAFailedProof() throws {
        let stranger = P256.Signing.PrivateKey()
        let wrong = [
            try Self.token(["sub": "lee"]), try Self.token(["iss": "other"]), try Self.token(["iss": .null]),
            try Self.token(["aud": "other"]), try Self.token(["aud": .null]), try Self.token(["exp": .null]),
            try Self.token(["exp": "soon"]), try Self.token(["nbf": .int(1_790_000_300)]),
            try Self.token(by: stranger), try Self.token(algorithm: "none"), try Self.token(algorithm: "HS256"),
            // A key of the other kind.
            try Self.token(algorithm: "RS256"), "a.b", "a.b.c", String(repeating: "a", count: 9000),
            String(try Self.token().dropLast(4)) + "AAAA",
        ]
        for token in wrong {
            guard case .refused(_, isFailure: true) = try judge(token) else {
                Issue.record("not refused: \(token.prefix(120))")
                continue
            }
        }
        guard
            case .refused(_, isFailure: true) = try judge(
                try Self.token(),
                [
                    .registration(.register(Self.registration)), .registration(.assign(key: "k", .set("lee"))),
                ]
            )
        else {
            Issue.record("a token for one of two users is not refused")
            return
        }
        let noKeys = UserTokenRules(keys: [], issuer: "login", audience: "push")
        #expect(
            try judge(try Self.token(), [.registration(.register(Self.registration))], noKeys)
                == .refused("user token: noKey", isFailure: true)
        )
    }

    // An app whose session has ended is not an attacker.
    @Test func anExpiredTokenIsRefusedAndNotCounted() throws {
        let expired = try Self.token(["exp": .int(1_789_999_999)])
        #expect(try judge(expired) == .refused("user token: expired", isFailure: false))
    }

    @Test func wrongTokensOfAnAddressAreFailedProofs() {
        let limits = VendorLimits(limiter: CallLimiter(CallLimitSettings(), logger: Logger(label: "t"), now: { 0 }))
        let free = CallLimitSettings().addressFailures
        let found = (0..<free + 3).map { _ in limits.failedToken(from: "198.51.100.1")?.limit }
        #expect(found.prefix(free + 1).allSatisfy { $0 == nil })
        #expect(found.suffix(2) == [.addressProofs, .addressProofs])
        #expect(limits.failedToken(from: "198.51.100.2") == nil)
    }

    @Test func anIssuerWhoseClockIsAheadIsAccepted() throws {
        guard case .vouched = try judge(try Self.token(["nbf": .int(1_790_000_030)])) else {
            Issue.record("not accepted")
            return
        }
    }

    @Test func aKeySetIsReadLikeAPEM() throws {
        let point = Self.key.publicKey.x963Representation
        let (x, y) = (point.dropFirst().prefix(32).base64URL, point.suffix(32).base64URL)
        let jwk: JSONObject = ["kty": "EC", "crv": "P-256", "x": .string(x), "y": .string(y)]
        #expect(TokenKey(jwk: jwk)?.pem == TokenKey(pem: Self.key.publicKey.pemRepresentation)?.pem)
        let parts = try #require(try Self.rsa?.publicKey.getKeyPrimitives())
        let rsa: JSONObject = [
            "kty": "RSA", "use": "sig", "n": .string(parts.modulus.base64URL),
            "e": .string(parts.publicExponent.base64URL),
        ]
        let pem = try #require(Self.rsa?.publicKey.pemRepresentation)
        #expect(TokenKey(jwk: rsa)?.pem == TokenKey(pem: pem)?.pem)
        var encryption = rsa
        encryption["use"] = "enc"
        var curve = jwk
        curve["crv"] = "P-384"
        for other in [encryption, curve, ["kty": "oct", "k": "AAAA"], [:]] as [JSONObject] {
            #expect(TokenKey(jwk: other) == nil)
        }
    }

    @Test func theRulesAreKeptInTheSettingsOfABinding() {
        let stored = BindingSettings(values: [UserTokenRules.settingsKey: Self.rules.json])
        #expect(UserTokenRules(stored) == Self.rules)
        #expect(UserTokenRules(.unbound) == nil)
    }
}
