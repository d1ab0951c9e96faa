import Crypto
import CryptoExtras
import Foundation
import Model
import TestKit
import Testing

@testable import ConsoleHTTP
@testable import Gateway

/// Passwords and one-time codes of the console.
struct ConsoleSecretTests {
    private static let cheap = PasswordCost(rounds: 4, blockSize: 8, parallelism: 1)

    // RFC 7914 §12, third vector.
    @Test func theLibraryComputesTheVectorOfTheStandard() throws {
        let key = try KDF.Scrypt.deriveKey(
            from: Array("password".utf8),
            salt: Array("NaCl".utf8),
            outputByteCount: 64,
            rounds: 1024,
            blockSize: 8,
            parallelism: 16
        )
        let expected = """
            fdbabe1c9d3472007856e7190d01e9fe7c6ad7cbc8237830e77376634b373162\
            2eaf30d92e22a3886ff109279d9830dac727afb94a83ee6d8360cbdfa2cc0640
            """
        #expect(key == SymmetricKey(data: try #require(HexCoding.decode(expected))))
    }

    @Test func aStoredPasswordMatchesItselfOnly() throws {
        let hash = try PasswordHash(of: "a long password", cost: Self.cheap, identifiers: SystemIdentifiers())
        let stored = try #require(PasswordHash(stored: hash.description))
        #expect(stored == hash && stored.matches("a long password"))
        #expect(!stored.matches("a long passwore") && !stored.matches(""))
        let again = try PasswordHash(of: "a long password", cost: Self.cheap, identifiers: SystemIdentifiers())
        #expect(again.description != hash.description, "each has a salt of its own")
        #expect(!hash.description.contains("long"))
    }

    @Test func malformedRowsAreNotPasswords() throws {
        let good = try PasswordHash(of: "x", cost: Self.cheap, identifiers: SystemIdentifiers()).description
        var random = SplitMix(state: Fuzz.seed)
        for _ in 0..<2000 {
            var bytes = Array(good.utf8)
            bytes[Int.random(in: bytes.indices, using: &random)] = UInt8.random(in: 0x20...0x7E, using: &random)
            bytes = Array(bytes.prefix(Int.random(in: 0...bytes.count, using: &random)))
            _ = PasswordHash(stored: String(decoding: bytes, as: UTF8.self))
        }
        for text in ["", "scrypt$40$8$1$00$00", "scrypt$15$999$3$00$00", "md5$1$1$1$00$00", "scrypt$15$8$3$zz$00"] {
            #expect(PasswordHash(stored: text) == nil, "\(text)")
        }
    }

    /// Two are computed and sixteen wait; further ones are refused at once.
    @Test func aFloodOfSignInsIsRefused() async throws {
        // 2^15 rounds take longer than all tasks need to arrive.
        let work = try PasswordWork(
            cost: PasswordCost(rounds: 15, blockSize: 8, parallelism: 1),
            identifiers: SystemIdentifiers()
        )
        let outcomes = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<60 {
                group.addTask { (try? await work.matches("a password", nil)) != nil }
            }
            return await group.reduce(into: (done: 0, refused: 0)) { counts, isDone in
                if isDone { counts.done += 1 } else { counts.refused += 1 }
            }
        }
        #expect(outcomes.done >= PasswordWork.threads + PasswordWork.queued && outcomes.refused > 0, "\(outcomes)")
        #expect(try await !work.matches("a password", nil), "there is room again")
        await work.close()
        await #expect(throws: PasswordWork.Busy.self) { try await work.matches("a password", nil) }
    }

    @Test func anUnknownAccountMatchesNothing() async throws {
        let work = try PasswordWork(cost: Self.cheap, identifiers: SystemIdentifiers())
        let stored = try await work.hash("a long password")
        #expect(try await work.matches("a long password", stored))
        #expect(try await !work.matches("another password", stored))
        #expect(try await !work.matches("a long password", nil))
        #expect(try await !work.matches("a long password", "not a hash"))
        await work.close()
    }

    // RFC 6238, appendix B, SHA-1; the last six of eight digits.
    @Test(
        arguments: [
            (59, "287082"), (1_111_111_109, "081804"), (1_111_111_111, "050471"), (1_234_567_890, "005924"),
            (2_000_000_000, "279037"), (20_000_000_000, "353130"),
        ] as [(Int64, String)]
    )
    func theCodesAreThoseOfTheStandard(_ seconds: Int64, _ digits: String) {
        let code = OneTimeCode(secret: Array("12345678901234567890".utf8))
        let time = Timestamp(seconds: seconds)
        #expect(code.code(OneTimeCode.step(at: time)) == digits)
        #expect(code.step(of: digits, at: time) == OneTimeCode.step(at: time))
        #expect(code.step(of: " \(digits.prefix(3)) \(digits.suffix(3))", at: time) == OneTimeCode.step(at: time))
        #expect(code.step(of: digits, at: time + .seconds(30)) == OneTimeCode.step(at: time), "a slow clock")
        #expect(code.step(of: digits, at: time + .seconds(90)) == nil)
        for wrong in ["", "12345", "1234567", "abcdef", "٠٠٠٠٠٠", String(repeating: "1", count: 10_000)] {
            #expect(wrong == digits || code.step(of: wrong, at: time) == nil, "\(wrong.prefix(20))")
        }
    }

    @Test func secretsOfCodesDifferByAccountSaltAndKey() {
        let key = [UInt8](repeating: 1, count: 32)
        let one = OneTimeCode(key: key, account: "a", salt: [1]).text
        #expect(one == OneTimeCode(key: key, account: "a", salt: [1]).text)
        #expect(one != OneTimeCode(key: key, account: "b", salt: [1]).text)
        #expect(one != OneTimeCode(key: key, account: "a", salt: [2]).text)
        #expect(one != OneTimeCode(key: [UInt8](repeating: 2, count: 32), account: "a", salt: [1]).text)
    }

    // RFC 4648 §10.
    @Test(arguments: [
        ("", ""), ("f", "MY"), ("fo", "MZXQ"), ("foo", "MZXW6"), ("foob", "MZXW6YQ"), ("foobar", "MZXW6YTBOI"),
    ])
    func base32IsThatOfTheStandard(_ text: String, _ coded: String) {
        #expect(OneTimeCode.base32(Array(text.utf8)) == coded)
    }

    @Test(
        arguments: [
            "short", "password1234", "Password1234", "aaaaaaaaaaaa", "123456789012", "abcdefghijklm", "iloveyou12345",
            "kim.minsu-2026", "비밀번호", String(repeating: "ab", count: 600),
        ]
    )
    func commonPasswordsAreRefused(_ password: String) {
        #expect(PasswordRules.fault(password, name: "kim.minsu") != nil)
    }

    @Test(arguments: ["walnut orbit 41 teapot", "겨울 바다 기차 우산 사과나무", "t7#Lq9!vXw2&zR"])
    func longPasswordsAreAccepted(_ password: String) {
        #expect(PasswordRules.fault(password, name: "kim.minsu") == nil)
    }
}
