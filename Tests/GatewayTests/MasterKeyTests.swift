import Foundation
import Model
import Testing

@testable import Gateway
@testable import Secrets

/// I7: secrets are sealed at rest.
struct MasterKeyTests {
    private func key(_ byte: UInt8) throws -> MasterKey { try MasterKey(bytes: [UInt8](repeating: byte, count: 32)) }

    private func ring(_ bytes: UInt8...) throws -> KeyRing { try KeyRing(bytes.map(key)) }

    @Test func sealedSecretOpensOnlyInItsContextWithItsKey() throws {
        let key = try key(1)
        let sealed = try key.seal(Array("secret".utf8), context: "credential/a/b")
        #expect(try key.open(sealed, context: "credential/a/b") == Array("secret".utf8))
        #expect(throws: MasterKeyError.self) { try key.open(sealed, context: "credential/a/c") }
        #expect(throws: MasterKeyError.self) { try self.key(2).open(sealed, context: "credential/a/b") }
        var damaged = sealed
        damaged[20] ^= 1
        #expect(throws: MasterKeyError.self) { try key.open(damaged, context: "credential/a/b") }
    }

    @Test func twoSealsOfOneSecretDiffer() throws {
        let key = try key(1)
        #expect(try key.seal([1, 2, 3], context: "x") != key.seal([1, 2, 3], context: "x"))
    }

    @Test func otherKeyHasOtherIdAndCheckValue() throws {
        #expect(try key(1).id != key(2).id)
        #expect(try key(1).checkValue != key(2).checkValue)
    }

    // Computed with: printf 'push-gateway sender\0t\0a\0rationalowl\0s\0' | openssl dgst -sha256 -mac hmac -macopt
    // hexkey:0101…01
    @Test func senderSecretIsDerivedFromItsNamesAndTheKey() throws {
        let secret = try ring(1).senderSecret("t", "a", .rationalOwl, "s")
        #expect(HexCoding.encode(secret) == "52f97c924cfb6c61a4f96180fcb3952467c4f656e9edcdf1e867cd28ddf8b354")
        #expect(try ring(1).senderSecret("t", "as", .rationalOwl, "") != secret)
        #expect(try ring(2).senderSecret("t", "a", .rationalOwl, "s") != secret)
    }

    @Test(arguments: [0, 1, 31, 33, 64])
    func keyOfAnotherLengthIsRefused(_ count: Int) {
        #expect(throws: MasterKeyError.self) { try MasterKey(bytes: [UInt8](repeating: 0, count: count)) }
    }

    @Test func theDataDirectoryIsPrivate() throws {
        let path = NSTemporaryDirectory() + "pgw-data-" + SystemIdentifiers().randomHex(byteCount: 4)
        defer { try? FileManager.default.removeItem(atPath: path) }
        func mode() throws -> Int? {
            try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        }
        try GatewayRuntime.prepare(path, passesOthers: false)
        #expect(try mode() == 0o700)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
        // The account of an embedded PostgreSQL only passes through.
        try GatewayRuntime.prepare(path, passesOthers: true)
        #expect(try mode() == 0o711)
        try GatewayRuntime.prepare(path, passesOthers: false)
        #expect(try mode() == 0o700)
    }

    @Test func keyFileIsCreatedOnceAndReadAgain() async throws {
        let path = NSTemporaryDirectory() + "pgw-key-" + SystemIdentifiers().randomHex(byteCount: 4)
        let source = MasterKeySource.file(path)
        await #expect(throws: MasterKeyError.self) { try await source.keys() }
        let made = try await source.keys(createIfMissing: true).map(\.id)
        #expect(made.count == 1)
        #expect(try await source.keys().map(\.id) == made)
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        for open in [0o640, 0o604, 0o620, 0o644, 0o666, 0o601] {
            try FileManager.default.setAttributes([.posixPermissions: open], ofItemAtPath: path)
            let error = await #expect(throws: MasterKeyError.self) { try await source.keys(createIfMissing: true) }
            #expect(error?.description.contains("chmod 600 '\(path)'") == true)
        }
        // A link is judged by the file that it leads to.
        let link = path + ".link"
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: path)
        await #expect(throws: MasterKeyError.self) { try await MasterKeySource.file(link).keys() }
        try FileManager.default.setAttributes([.posixPermissions: 0o400], ofItemAtPath: path)
        #expect(try await MasterKeySource.file(link).keys().map(\.id) == made)
        try FileManager.default.removeItem(atPath: link)
        try FileManager.default.removeItem(atPath: path)
    }
}
