import DatabaseSupport
import Foundation
import Model
import Testing

@testable import PostgresBackup

/// Encrypted files of backups, without a database.
@Suite struct BackupFileTests {
    private static let key = BackupKey(id: "00112233aabbccdd", secret: [UInt8](repeating: 9, count: 32))
    private static let salt = [UInt8](repeating: 7, count: 32)
    private static let header = BackupCipher.headerBytes
    private static let sealed = BackupCipher.sealedBytes

    /// The path of an encrypted file with this content, which is written in parts of `size`.
    private func file(_ content: [UInt8], partsOf size: Int = 50_000) async throws -> String {
        let path = try await TestCluster.scratchPath("backup")
        try Data().write(to: URL(filePath: path))
        let writer = try EncryptedWriter(path, Self.key, salt: Self.salt)
        for start in stride(from: 0, to: content.count, by: size) {
            try writer.add(Array(content[start..<min(start + size, content.count)]))
        }
        try writer.finish()
        return path
    }

    private func bytes(_ path: String) throws -> [UInt8] { Array(try Data(contentsOf: URL(filePath: path))) }

    private func content(_ path: String, _ keys: [BackupKey] = [Self.key]) throws(BackupError) -> [UInt8] {
        let reader = try EncryptedReader(path, keys)
        var content: [UInt8] = []
        while let chunk = try reader.next() { content += chunk }
        return content
    }

    /// The error of reading a file with these bytes.
    private func fault(_ bytes: [UInt8], _ keys: [BackupKey] = [Self.key]) async throws -> BackupError? {
        let path = try await TestCluster.scratchPath("changed-backup")
        try Data(bytes).write(to: URL(filePath: path))
        do throws(BackupError) {
            _ = try content(path, keys)
            return nil
        } catch {
            return error
        }
    }

    // At the ends of chunks, and in parts of other sizes than chunks.
    @Test(arguments: [0, 1, 65_535, 65_536, 65_537, 131_072, 200_000], [1000, 65_536, 300_000])
    func aFileIsReadAsItWasWritten(count: Int, part: Int) async throws {
        let content = (0..<count).map { UInt8($0 % 251) }
        let path = try await file(content, partsOf: part)
        #expect(EncryptedReader.isEncrypted(path))
        #expect(try self.content(path) == content)
        let chunks = max(1, (count + 65_535) / 65_536)
        #expect(try bytes(path).count == Self.header + count + 16 * chunks)
    }

    // Written by Python: `hmac` for the key of the file, AESGCM of the package `cryptography` for the chunks.
    @Test func theFormIsTheDocumentedOne() async throws {
        let one = try bytes(try await file(Array("hello".utf8)))
        #expect(Array(one.prefix(24)) == Array("PGWBAK0100112233aabbccdd".utf8))
        #expect(Array(one[24..<56]) == Self.salt)
        #expect(HexCoding.encode(Array(one.dropFirst(56))) == "99ed010bbf6cd8287bb06815153232faabc1e8904e")
        let two = try bytes(try await file([UInt8](repeating: 120, count: 65_536) + Array("z".utf8)))
        #expect(HexCoding.encode(Array(two.suffix(17))) == "0c42aa1546baa7a9d986a9d636e5df6842")
    }

    @Test func aWrongKeyIsNamed() async throws {
        let whole = try bytes(try await file(Array("hello".utf8)))
        let other = BackupKey(id: "ffeeddccbbaa9988", secret: Self.key.secret)
        let error = try #require(try await fault(whole, [other]))
        #expect(error.code == .key)
        #expect(error.description.contains("master key 00112233aabbccdd"), "\(error)")
        #expect(error.description.contains("ffeeddccbbaa9988"), "\(error)")
        // Another key with the same id, which only a damaged key file can have.
        let wrong = BackupKey(id: Self.key.id, secret: [UInt8](repeating: 8, count: 32))
        #expect(try await fault(whole, [wrong])?.code == .badFile)
    }

    @Test func everyChangeIsFound() async throws {
        let whole = try bytes(try await file((0..<200_000).map { UInt8($0 % 251) }))
        #expect(try await fault(whole) == nil)
        for place in [30, Self.header, Self.header + 70_000, whole.count - 1] {
            var changed = whole
            changed[place] ^= 1
            let error = try #require(try await fault(changed), "byte \(place)")
            #expect(error.code == .badFile && error.description.contains("damaged"), "\(error)")
        }
        // Two chunks exchanged, and one left out.
        let first = whole[Self.header..<Self.header + Self.sealed]
        let second = whole[Self.header + Self.sealed..<Self.header + 2 * Self.sealed]
        let rest = whole[(Self.header + 2 * Self.sealed)...]
        let head = whole.prefix(Self.header)
        #expect(try await fault(Array(head + second + first + rest))?.description.contains("damaged") == true)
        #expect(try await fault(Array(head + second + rest))?.description.contains("damaged") == true)
        #expect(try await fault(whole + whole.suffix(40))?.description.contains("damaged") == true)
        // Cut off within a chunk, after a chunk, and within the header.
        #expect(try await fault(Array(whole.dropLast(5)))?.description.contains("damaged or incomplete") == true)
        #expect(try await fault(Array(head + first))?.description.contains("was cut off after byte") == true)
        #expect(try await fault(Array(head))?.code == .badFile)
        #expect(try await fault(Array(whole.prefix(40)))?.description.contains("incomplete") == true)
    }

    @Test func otherFilesAreNotEncryptedOnes() async throws {
        let path = try await TestCluster.scratchPath("plain")
        #expect(!EncryptedReader.isEncrypted(path))
        for text in ["", "PGDMP and more", "PGWBAK"] {
            try Data(text.utf8).write(to: URL(filePath: path))
            #expect(!EncryptedReader.isEncrypted(path))
        }
    }
}
