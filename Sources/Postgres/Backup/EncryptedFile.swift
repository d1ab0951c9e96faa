import Foundation

/// Writes an encrypted backup. It holds at most one chunk and one part of the output.
final class EncryptedWriter {
    private let path: String
    private let file: FileHandle
    private let cipher: BackupCipher
    private var pending: [UInt8] = []
    private var number: UInt64 = 0

    /// - Parameters:
    ///   - path: an empty file.
    ///   - key: encrypts it.
    ///   - salt: makes the key of this file.
    /// - Throws: `badFile`.
    init(_ path: String, _ key: BackupKey, salt: [UInt8] = BackupCipher.randomSalt()) throws(BackupError) {
        guard let file = FileHandle(forWritingAtPath: path) else {
            throw BackupError(.badFile, "\(path) cannot be written")
        }
        self.path = path
        self.file = file
        cipher = BackupCipher(key, salt: salt)
        try write(cipher.header)
    }

    /// Writes the chunks that are complete. At least one byte is kept, because the last chunk is marked.
    ///
    /// - Throws: `badFile`.
    func add(_ part: [UInt8]) throws(BackupError) {
        pending += part
        while pending.count > BackupCipher.chunkBytes {
            let chunk = Array(pending.prefix(BackupCipher.chunkBytes))
            try write(cipher.seal(chunk, number, isLast: false))
            pending.removeFirst(BackupCipher.chunkBytes)
            number += 1
        }
    }

    /// Writes the last chunk, and waits until the file is on the disk.
    ///
    /// - Throws: `badFile`.
    func finish() throws(BackupError) {
        try write(cipher.seal(pending, number, isLast: true))
        do {
            try file.synchronize()
            try file.close()
        } catch {
            throw BackupError(.badFile, "\(path) cannot be written: \(error.localizedDescription)")
        }
    }

    private func write(_ bytes: [UInt8]) throws(BackupError) {
        do {
            try file.write(contentsOf: Data(bytes))
        } catch {
            throw BackupError(.badFile, "\(path) cannot be written: \(error.localizedDescription)")
        }
    }
}

/// Reads an encrypted backup, chunk by chunk. It holds two of them: only the following bytes show whether a chunk is the last one.
final class EncryptedReader {
    private let path: String
    private let file: FileHandle
    private let cipher: BackupCipher
    private var ahead: [UInt8]
    private var number: UInt64 = 0
    private var isAtEnd = false

    /// Whether the file begins like an encrypted backup. False for one that cannot be read.
    static func isEncrypted(_ path: String) -> Bool {
        guard let file = FileHandle(forReadingAtPath: path) else { return false }
        return (try? bytes(of: file, BackupCipher.magic.count, path)) == BackupCipher.magic
    }

    /// - Throws: `badFile`; `key` when none of the keys encrypted the file.
    init(_ path: String, _ keys: [BackupKey]) throws(BackupError) {
        guard let file = FileHandle(forReadingAtPath: path) else {
            throw BackupError(.badFile, "\(path) cannot be read")
        }
        let header = try Self.bytes(of: file, BackupCipher.headerBytes, path)
        guard header.count == BackupCipher.headerBytes else {
            throw BackupError(.badFile, "\(path) is incomplete: it ends within its header")
        }
        let id = BackupCipher.keyID(in: header)
        guard let key = keys.first(where: { $0.id == id }) else {
            let ours = keys.isEmpty ? "none" : keys.map(\.id).joined(separator: ", ")
            throw BackupError(
                .key,
                "\(path) is encrypted with master key \(id), and this command has \(ours): give it the master key of the gateway "
                    + "that was backed up (--master-key-file, --master-key-command)"
            )
        }
        self.path = path
        self.file = file
        cipher = BackupCipher(header: header, key)
        ahead = try Self.bytes(of: file, BackupCipher.sealedBytes, path)
    }

    /// The next chunk, which is as it was written; nil after the last one.
    ///
    /// - Throws: `badFile`.
    func next() throws(BackupError) -> [UInt8]? {
        guard !isAtEnd else { return nil }
        let sealed = ahead
        ahead = try Self.bytes(of: file, BackupCipher.sealedBytes, path)
        isAtEnd = ahead.isEmpty
        guard let chunk = cipher.open(sealed, number, isLast: isAtEnd) else { throw fault(sealed) }
        number += 1
        return chunk
    }

    /// Reads the file to its end.
    ///
    /// - Throws: `badFile` unless every byte is as it was written.
    func check() throws(BackupError) {
        while try next() != nil {}
    }

    private func fault(_ sealed: [UInt8]) -> BackupError {
        let place = BackupCipher.headerBytes + Int(number) * BackupCipher.sealedBytes
        if isAtEnd, cipher.open(sealed, number, isLast: false) != nil {
            return BackupError(.badFile, "\(path) is incomplete: it was cut off after byte \(place + sealed.count)")
        }
        let what = isAtEnd ? "damaged or incomplete" : "damaged"
        return BackupError(.badFile, "\(path) is \(what): the bytes from \(place) on are not those that were written")
    }

    private static func bytes(of file: FileHandle, _ count: Int, _ path: String) throws(BackupError) -> [UInt8] {
        var bytes: [UInt8] = []
        do {
            while bytes.count < count, let part = try file.read(upToCount: count - bytes.count), !part.isEmpty {
                bytes += part
            }
        } catch {
            throw BackupError(.badFile, "\(path) cannot be read: \(error.localizedDescription)")
        }
        return bytes
    }
}
