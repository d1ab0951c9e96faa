package import PostgresClient

/// A row of the audit as its digest covers it.
package struct AuditLink: Sendable, Hashable {
    package var position: Int64
    /// When the row was written, in microseconds since 1970.
    package var micros: Int64
    package var actor: String
    package var action: String
    /// The kind and name of the object; a pseudonym in place of a person's name.
    package var subject: String
    /// The stored text, unchanged.
    package var data: String?
    /// 32 bytes; nil in rows of programs that wrote no digests.
    package var hash: [UInt8]?

    package init(
        position: Int64,
        micros: Int64,
        actor: String,
        action: String,
        subject: String,
        data: String?,
        hash: [UInt8]?
    ) {
        self.position = position
        self.micros = micros
        self.actor = actor
        self.action = action
        self.subject = subject
        self.data = data
        self.hash = hash
    }

    /// The bytes that the digest covers after the digest of the row before: each field as `length in bytes:text`, separated by commas
    /// (`Schema/tables/audit.sql`).
    package var covered: [UInt8] {
        let fields = [String(position), String(micros), actor, action, subject, data ?? ""]
        return Array(fields.map { "\($0.utf8.count):\($0)" }.joined(separator: ",").utf8)
    }

    init(_ row: Row) throws(PostgresError) {
        position = try row.int64("position")
        micros = try row.int64("micros")
        actor = try row.text("actor")
        action = try row.text("action")
        subject = try row.text("subject")
        data = try row.optionalText("data")
        hash = try row.optionalBytes("hash")
    }
}

/// A signature under the digest of a row of the audit.
package struct AuditCheckpoint: Sendable, Hashable {
    package var position: Int64
    package var hash: [UInt8]
    /// When the row was written, in microseconds since 1970. Checkpoints of older programs do not sign it.
    package var micros: Int64
    /// The public key, 32 bytes (Ed25519).
    package var signer: [UInt8]
    package var signature: [UInt8]

    package init(position: Int64, hash: [UInt8], micros: Int64, signer: [UInt8], signature: [UInt8]) {
        self.position = position
        self.hash = hash
        self.micros = micros
        self.signer = signer
        self.signature = signature
    }

    package init(_ row: Row) throws(PostgresError) {
        position = try row.int64("position")
        hash = try row.bytes("hash")
        micros = try row.int64("micros")
        signer = try row.bytes("signer")
        signature = try row.bytes("signature")
    }
}
